"""A second reader of plans beside the VM: a linker that runs each node by its `perform`, puts the
result where the plan says, and counts bytes; and the same figures from the plan alone.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from math import prod
from typing import Any

import numpy as np

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.link import ExecutionPlan, Linker, Traits, failed, plan_of
from rewrite_engine.link.plan import DEFAULT, LengthCheck, NodePlan


@dataclass(frozen=True, slots=True)
class Bytes:
    """allocated: of all arrays that were made. peak: of those there at a time, as the most."""

    allocated: int
    peak: int


@singledispatch
def anywhere(op: Any, node: Apply) -> Traits:
    """Every result that is no view is written into memory that is given: that of any input."""
    if op.view_map or op.destroy_map:
        return DEFAULT
    return Traits(fresh=True, into=tuple(range(len(node.inputs))), keep=True, inline=True)


# --- from the plan alone ------------------------------------------------------------------------


def lengths_of(plan: ExecutionPlan, shapes: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """The lengths of dimensions, from the shapes of the inputs."""
    found: dict[int, int] = {}
    for v, shape in zip(plan.inputs, shapes, strict=True):
        found.update(zip(plan.dims.roots(v), shape, strict=True))
    return found


def size(plan: ExecutionPlan, v: Variable, lengths: Mapping[int, int]) -> int:
    """The bytes of an array. Raises `KeyError` where a length is not told."""
    known = [plan.dims.length_of(a) for a in plan.dims.roots(v)]
    told = [lengths[a] if n is None else n for a, n in zip(plan.dims.roots(v), known, strict=True)]
    return int(prod(told)) * v.type.numpy_dtype.itemsize


def bytes_of(plan: ExecutionPlan, lengths: Mapping[int, int]) -> Bytes:
    """What a call allocates. Nothing runs."""
    allocated = peak = alive = 0
    ends: dict[int, int] = {}  # by position: the bytes that are free behind it
    for i, step in enumerate(plan.steps):
        for v in step.new:
            n = size(plan, v, lengths)
            last = plan.storages.of(v).last
            allocated, alive = allocated + n, alive + n
            ends[last] = ends.get(last, 0) + n
        peak = max(peak, alive)
        alive -= ends.pop(i, 0)
    return Bytes(allocated, peak)


def kept_bytes(plan: ExecutionPlan, lengths: Mapping[int, int]) -> list[int]:
    """The bytes of each buffer that may be kept between calls."""
    return [size(plan, v, lengths) for v in plan.slots]


# --- running ------------------------------------------------------------------------------------


class CountingLinker(Linker):
    """plan, lengths, counted: of the last call."""

    name = "counting"
    plan: ExecutionPlan
    lengths: dict[int, int]
    counted: Bytes

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        plan = plan_of(fgraph, anywhere)
        runners = [self.runner(node) for node in plan.nodes]

        def run(*values: Any) -> list[Any]:
            call = Call(plan, values)
            for step, runner in zip(plan.steps, runners, strict=True):
                call.step(step, runner)
            self.plan, self.lengths = plan, call.lengths
            self.counted = Bytes(call.allocated, call.peak)
            return [call.value(v) for v in plan.outputs]

        return run


class Call:
    """One run of a plan. lengths: what each dimension was; one that has two lengths is an error."""

    def __init__(self, plan: ExecutionPlan, values: Sequence[Any]) -> None:
        self.plan, self.values = plan, dict(zip(plan.inputs, values, strict=True))
        self.lengths = lengths_of(plan, list(map(np.shape, values)))
        self.allocated = self.peak = self.alive = 0

    def value(self, v: Variable) -> Any:
        """The value of a variable; None where it was not computed."""
        return v.data if isinstance(v, Constant) else self.values.get(v)

    def put(self, v: Variable, value: Any) -> None:
        """Note a value and its lengths."""
        self.values[v] = value
        for a, n in zip(self.plan.dims.roots(v), np.shape(value), strict=True):
            known = self.plan.dims.length_of(a)
            assert self.lengths.setdefault(a, n if known is None else known) == n, (v, n)

    def step(self, step: NodePlan, runner: Callable[..., Any]) -> None:
        """Run one node, if its conditions hold; let go of what is not read again."""
        where = self.plan.conditions.get(step.node)
        if where is None or any(map(self.holds, where)):
            given = [self.value(v) for v in step.node.inputs]
            try:
                for check in step.checks:
                    compare(check, given)
                found = runner(*given)
            except Exception as error:
                failed(error, step.node, given)
                raise
            several = (found,) if len(step.node.outputs) == 1 else found
            for k, (v, result) in enumerate(zip(step.node.outputs, several, strict=True)):
                self.put(v, self.placed(step, k, result))
        for v in step.dies:
            self.values.pop(v, None)

    def holds(self, way: Any) -> bool:
        return all([bool(self.value(c)) is ok for c, ok in way])

    def placed(self, step: NodePlan, k: int, result: Any) -> Any:
        """A result in the memory where the plan wants it."""
        v = step.node.outputs[k]
        if k == 0 and step.into is not None:
            memory = self.value(step.node.inputs[step.into])
        elif v in step.new:
            memory = self.allocate(np.shape(result), v.type.numpy_dtype)
        else:
            return result
        assert (memory.shape, memory.dtype) == (np.shape(result), v.type.numpy_dtype)
        memory[...] = result
        return memory

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array. It is counted until nobody holds it any more."""
        memory = np.empty(shape, dtype)
        self.allocated += memory.nbytes
        self.alive += memory.nbytes
        self.peak = max(self.peak, self.alive)
        weakref.finalize(memory, self.release, memory.nbytes)
        return memory

    def release(self, n: int) -> None:
        self.alive -= n


def compare(check: LengthCheck, given: Sequence[Any]) -> None:
    """Raise `ValueError` where the lengths differ."""
    own = given[check.i].shape[check.axis]
    other = check.length if check.other is None else given[check.other].shape[check.other_axis]
    if own != other:
        raise ValueError(f"lengths {own} and {other}")
