"""Lowering of ops that run along an axis element by element: cumulative sums and products,
recurrences, positions of extrema.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.instructions import convert, test_of
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.reductions import not_empty, without
from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.scalars import write as scalar
from rewrite_engine.link.native.text import KINDS, LLVM_TYPE, NUMBER_CLASS
from rewrite_engine.link.native.values import ONE, NativeValue, Position, in_order, view_of
from rewrite_engine.link.native.walk import in_memory, step, write_loops
from rewrite_engine.scalar import ops as scalars
from rewrite_engine.tensor.running import CumOp, Recurrence
from rewrite_engine.tensor.statistics.moments import Argmax, Argmin


@native.register(CumOp)
@native.register(Recurrence)
@native.register(Argmax)
def _(op: Any, node: Apply) -> str | None:
    dtypes = {v.type.dtype for v in (*node.inputs, *node.outputs)}
    same = not isinstance(op, Recurrence) or (len(dtypes) == 1 and node.inputs[0].type.kind == "f")
    return None if same else "arrays of several dtypes"


@lower.register(CumOp)
def _(op: CumOp, node: Apply, plan: RegionPlan) -> None:
    own, kind = [KINDS[v.type.dtype] for v in (node.inputs[0], node.outputs[0])]
    name = scalars.add if op.mode == "add" else scalars.mul

    def more(t: Any, so_far: str, xs: list[str]) -> str:
        return scalar(name, t, kind, (so_far, convert(t, xs[0], own, kind)))

    def first(t: Any, xs: list[str]) -> str:
        return convert(t, xs[0], own, kind)

    _along(op.axis, node, plan, first, more)


@lower.register(Recurrence)
def _(op: Recurrence, node: Apply, plan: RegionPlan) -> None:
    kind = KINDS[node.outputs[0].type.dtype]

    def more(t: Any, so_far: str, xs: list[str]) -> str:
        return str(t.bin("fadd", t.bin("fmul", xs[0], so_far, kind), xs[1], kind))

    _along(op.axis, node, plan, lambda t, xs: xs[1], more)


def _along(
    axis: int, node: Apply, plan: RegionPlan, first: Callable[..., str], more: Callable[..., str]
) -> None:
    """Compute each element of the result from the one before it and those of the inputs:
    `first(text, elements)`, then `more(text, the one before, elements)`.
    """
    out = node.outputs[0]
    shape, kind = plan.shape(out), KINDS[out.type.dtype]
    views = [in_memory(plan, v) for v in node.inputs]
    others = [a for a in range(len(shape)) if a != axis]

    def write(t: Any, value: NativeValue) -> None:
        all_ = [*views, view_of(value, shape)]
        n = t.length(shape[axis])

        def sequence(at: list[str]) -> None:
            def one(i: str, kept: list[str]) -> list[str]:
                places = [step(t, p, i, v.steps[axis], v.value.kind) for p, v in zip(at, all_)]
                xs = [t.load_one(p, v.value.kind) for p, v in zip(places[:-1], views)]
                begun = t.new(f"icmp eq i64 {i}, 0")
                found = t.select(begun, first(t, xs), more(t, kept[0], xs), kind)
                t.store_one(found, places[-1], kind)
                return [found]

            t.loop("0", n, "1", one, [(LLVM_TYPE[kind], t.constant(0, kind))])

        steps = [[v.steps[a] for a in others] for v in all_]
        start = [t.address(v.value, v.offset) for v in all_]
        write_loops(t, [shape[a] for a in others], all_, steps, start, sequence)

    plan.of[out] = plan.call(shape, kind, views, write, refuses=False)


@lower.register(Argmax)
def _(op: Argmax, node: Apply, plan: RegionPlan) -> None:
    """Return the least position of an element that is the extremum. Positions count the elements of
    the axes together, the last axis the fastest.
    """
    x, out = node.inputs[0], node.outputs[0]
    kind, given, shape, axes = KINDS[x.type.dtype], plan.get(x), plan.shape(x), op.axes(x.type.ndim)
    not_empty(plan, shape, axes)
    name = "minimum" if isinstance(op, Argmin) else "maximum"
    best = plan.reduce(given, shape, axes, name, kind)
    steps = in_order([shape[a] for a in axes])

    def place(t: Any, xs: list[str]) -> str:
        value, extremum, *indices = xs
        found = t.compare(test_of("eq", kind), value, extremum, kind)
        if NUMBER_CLASS[kind] == "d":
            found = t.bin("or", found, t.compare("uno", value, value, kind), "b")
        at = t.constant(0, "i")
        for i, n in zip(indices, steps, strict=True):
            far = i if n == ONE else t.bin("mul", i, t.spread(t.length(n), "i"), "i")
            at = t.bin("add", at, far, "i")
        return str(t.select(found, at, t.constant(np.iinfo("int64").max, "i"), "i"))

    at = plan.elementwise([given, best, *map(Position, axes)], shape, "i", place)
    first = plan.reduce(at, shape, axes, "minimum", "i")
    plan.of[out] = first if op.keepdims else without(first, axes)
