"""Graphs as functions that JAX traces: `make_traceable`.

What is known while a graph is traced (lengths, and what is computed from them) stays an array of
NumPy, and is computed by `perform`; so lengths are known wherever they follow from shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rewrite_engine.errors import ShapeError, UntraceableError
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.link.failure import failed
from rewrite_engine.link.jax.funcify import is_known, jax_funcify, run_known, untraceable_error
from rewrite_engine.link.jax.runtime_checks import all_of, are_collected, collecting, require
from rewrite_engine.link.jax.state import is_state, words_of
from rewrite_engine.link.perform import runner
from rewrite_engine.link.plan import conditions, schedule
from rewrite_engine.tensor.flow.branches import IfElse
from rewrite_engine.tensor.op import TensorOp
from rewrite_engine.tensor.type import TensorType

MAX_KNOWN = 64  # elements of a value that is computed while tracing


class BranchValues:
    """Values of variables: of a graph, or of a branch in it. holds: conditions that are known in
    the branch, with what they are.
    """

    def __init__(self, values: dict[Variable, Any], outer: BranchValues | None = None) -> None:
        self.values, self.outer = values, outer
        self.holds: dict[Variable, bool] = {} if outer is None else dict(outer.holds)

    def __contains__(self, v: Variable) -> bool:
        scope: BranchValues | None = self
        while scope is not None:
            if v in scope.values:
                return True
            scope = scope.outer
        return False

    def __getitem__(self, v: Variable) -> Any:
        scope: BranchValues | None = self
        while scope is not None:
            if v in scope.values:
                return scope.values[v]
            scope = scope.outer
        raise KeyError(v)


def make_traceable(graph: FrozenGraph, lifted: Sequence[Constant] = ()) -> Callable[..., list[Any]]:
    """Return a function that JAX can trace: from values of the inputs of a graph to a list of the
    values of its outputs. lifted: constants whose values are passed after those of the inputs.

    Raises `UntraceableError` for an op whose result has a length that depends on values.
    """
    return TracedGraph(graph, lifted).run


class TracedGraph:
    """Graph whose nodes are called in turn, on arrays of JAX. What only one side of an `ifelse`
    needs is computed in a branch (`lax.cond`).
    """

    def __init__(self, graph: FrozenGraph, lifted: Sequence[Constant] = ()) -> None:
        self.graph, self.lifted = graph, lifted
        nodes = schedule(graph)
        where = conditions(nodes, graph.outputs)
        self.eager = [node for node in nodes if node not in where]
        self.functions = {n: jax_funcify(n.op, node=n) for n in nodes if not _chooses(n)}
        read = {v for node in nodes for v in node.inputs} | set(graph.outputs)
        self.constants = {v: _constant(v) for v in read if isinstance(v, Constant)}
        self._group(nodes, where)

    def _group(self, nodes: Sequence[Apply], where: Any) -> None:
        """Find the choices by one condition that are made together, and after which eager node
        the branches of each can be computed.
        """
        place = {node: i for i, node in enumerate(self.eager)}
        self.place, self.ready = place, dict[Apply, int]()
        self.groups: dict[Any, list[Apply]] = {}
        for node in nodes:
            before = [v.owner for v in node.inputs if v.owner is not None]
            known = [place[n] if n in place else self.ready[n] for n in before]
            self.ready[node] = max(known, default=-1)
            if _chooses(node):
                self.groups.setdefault((node.inputs[0], where.get(node)), []).append(node)
        self.group_of = {n: group for group in self.groups.values() for n in group}

    def run(self, *values: Any) -> list[Any]:
        """Return the values of the outputs."""
        given = [*self.graph.inputs, *self.lifted]
        scope = BranchValues(self.constants | dict(zip(given, values, strict=True)))
        for i, node in enumerate(self.eager):
            self.now = i
            self._step(node, scope)
        return [self._value(v, scope) for v in self.graph.outputs]

    def _value(self, v: Variable, scope: BranchValues) -> Any:
        """Return a value; what only branches need is computed first."""
        todo = [] if v in scope else [v.owner]
        while todo:
            node = todo[-1]
            assert node is not None
            needed = node.inputs[:1] if _chooses(node) else node.inputs
            missing = [u.owner for u in needed if u not in scope]
            todo += missing
            if not missing:
                todo.pop()
                if node.outputs[0] not in scope:
                    self._step(node, scope)
        return scope[v]

    def _step(self, node: Apply, scope: BranchValues) -> None:
        """Compute the outputs of a node."""
        if _chooses(node):
            self._choose(node, scope)
            return
        given = [self._value(v, scope) for v in node.inputs]
        try:
            if _is_small(node, given):
                found = run_known(node, runner(node), given)
            else:
                if isinstance(node.op, TensorOp):
                    node.op.check(node, given, is_known)
                found = self.functions[node](*given)
        except Exception as error:
            failed(error, node, [np.asarray(x) if is_known(x) else str(x) for x in given])
            raise
        results = (found,) if len(node.outputs) == 1 else found
        for v, x in zip(node.outputs, results, strict=True):
            scope.values[v] = in_type(v, x)

    def _choose(self, node: Apply, scope: BranchValues) -> None:
        """Compute an `ifelse`, and those by the same condition that can be computed by now."""
        if node.outputs[0] in scope:
            return
        c = node.inputs[0]
        value = scope[c]
        holds = bool(value) if is_known(value) else scope.holds.get(c)
        if holds is not None:
            scope.values[node.outputs[0]] = self._value(node.inputs[1 if holds else 2], scope)
            return
        ready = [
            n for n in self.group_of[node]
            if n is node or (self.ready[n] <= self.now and n.outputs[0] not in scope)
        ]  # fmt: skip
        asked = are_collected()

        def side(k: int) -> Callable[[], Any]:
            def computed() -> Any:
                inner = BranchValues({}, scope)
                inner.holds[c] = k == 1
                with collecting(asked) as found:
                    values = [self._value(n.inputs[k], inner) for n in ready]
                made = [jnp.asarray(in_type(n.outputs[0], x)) for n, x in zip(ready, values)]
                return made, all_of(found)

            return computed

        condition = jnp.asarray(value) != 0
        try:
            made, held = jax.lax.cond(condition, side(1), side(2))
        except (ShapeError, UntraceableError):
            made, held = jax.lax.cond(condition, *_one_of(side(1), side(2)))
        except TypeError as error:
            raise untraceable_error(node, "its branches have different shapes") from error
        require(lambda: held)
        scope.values.update(zip([n.outputs[0] for n in ready], made, strict=True))


def _one_of(*sides: Callable[[], Any]) -> list[Callable[[], Any]]:
    """Return branches one of which cannot be computed: it is an error if it is taken. Raises the
    error if there is no other one.
    """
    found, errors = list[Any](), list[Exception]()
    for side in sides:
        try:
            found.append(jax.eval_shape(side))
        except (ShapeError, UntraceableError) as error:
            found.append(None)
            errors.append(error)
    (shapes, *more) = [x for x in found if x is not None] or [None]
    if shapes is None or more:
        raise errors[0]

    def taken() -> Any:
        return [jnp.zeros(x.shape, x.dtype) for x in shapes[0]], jnp.asarray(False)

    return [taken if x is None else side for x, side in zip(found, sides, strict=True)]


def in_type(v: Variable, x: Any) -> Any:
    """Return a value in the dtype of a variable."""
    dtype = getattr(v.type, "numpy_dtype", None) if isinstance(v.type, TensorType) else None
    if dtype is None or getattr(x, "dtype", None) == dtype:
        return x
    return np.asarray(x, dtype) if is_known(x) else jnp.asarray(x, dtype)


def _constant(v: Constant) -> Any:
    return words_of(v.data) if is_state(v) else v.data


def _is_small(node: Apply, given: Sequence[Any]) -> bool:
    """Return whether a node is computed while tracing, from values that are known."""
    op = node.op
    if not isinstance(op, TensorOp) or hasattr(op, "fgraph") or any(map(is_state, node.inputs)):
        return False
    if not all(map(is_known, given)):
        return False
    if any([hasattr(x, "indptr") for x in given]):
        return True  # (a matrix that is known is a constant)
    if max(map(np.size, given), default=0) > MAX_KNOWN:
        return False
    return all([n is not None and n <= MAX_KNOWN for v in node.outputs for n in v.type.shape])


def _chooses(node: Apply) -> bool:
    return isinstance(node.op, IfElse)
