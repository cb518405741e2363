"""Evaluation of a graph exactly, next to its computed values: also inside loops and other ops that
hold graphs, step by step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from mpmath import mp

import rewrite_engine.tensor as pt
from rewrite_engine.explain.accuracy.computed import Floats
from rewrite_engine.explain.accuracy.error import ValuePair
from rewrite_engine.explain.accuracy.sample import Sampling
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge import exact, truth, wide
from rewrite_engine.judge.exact import NAN, NotKnown
from rewrite_engine.judge.values import TermValues
from rewrite_engine.loops.op import Scan

#: (node, values of its inputs, of its outputs, the ops that hold it)
Watcher = Callable[[Apply, Sequence[ValuePair], Sequence[ValuePair], tuple[Apply, ...]], None]
Both = dict[Variable, ValuePair]


def ignore(node: Apply, inputs: Any, outputs: Any, path: Any) -> None:
    """Watch none of the nodes."""


class Lockstep:
    """Evaluates a graph exactly with a number of digits.

    plan: elements and nodes to compute. watch: called for each node that was computed. taken: names
    of ops whose results are those that they compute in floats, and why. diverged:
    loops of which the exact one would end after another number of steps.
    """

    def __init__(self, plan: Sampling, digits: int, watch: Watcher = ignore) -> None:
        self.plan, self.digits, self.watch = plan, digits, watch
        self.floats = Floats()
        self.taken: Counter[tuple[str, str]] = Counter()
        self.diverged: Counter[str] = Counter()

    def run(
        self,
        outputs: Sequence[Variable],
        values: Mapping[Variable, Any],
        moved: Mapping[Variable, Callable[[ValuePair], Any]] | None = None,
    ) -> Both:
        """Return exact and computed values. values: the computed ones of all variables. moved: a
        function that returns other exact values of an input.
        """
        nodes = toposort(list(outputs))
        leaves = {v for node in nodes for v in node.inputs} | set(outputs)
        given = {v: values[v] for v in leaves if v.owner is None and v in values}
        with mp.workdps(self.digits), np.errstate(all="ignore"):
            both = {v: self._leaf(v, a) for v, a in given.items()}
            for v, move in (moved or {}).items():
                if v in both:
                    both[v].true = move(both[v])
            return self._graph(outputs, both, values, ())

    def _leaf(self, v: Variable, a: Any) -> ValuePair:
        """Return a value that is exact as given."""
        if v.type.kind not in "fc" or not isinstance(a, np.ndarray):
            return ValuePair(a, a)
        mask = self.plan.masks.get(v)
        if v in self.plan.wide:
            return ValuePair(a, a.astype(wide.WIDE))
        if mask is None:
            return ValuePair(a, exact.exact(a))
        true = np.full(a.shape, NAN, object)
        true[mask] = exact.exact(a[mask])
        return ValuePair(a, true, mask)

    def _graph(
        self,
        outputs: Sequence[Variable],
        given: Both,
        known: Mapping[Variable, Any],
        path: tuple[Apply, ...],
    ) -> Both:
        """Evaluate a graph. known: computed values that are known already."""
        both: Both = dict(given)
        nodes = toposort(list(outputs), list(given))
        last = {} if path else {v: node for node in nodes for v in node.inputs}
        for node in nodes:
            floats = {v: both[v].computed for v in node.inputs if v in both}
            read = TermValues(self.floats, floats).read(node)
            if any(isinstance(v, Variable) and self._is_missing(v, both) for v in read):
                continue  # (of a branch that is not taken)
            inputs = [self._value(v, both) for v in node.inputs]
            if path:
                computed = self.floats.run(node, [x.computed for x in inputs])
            elif all(v in known for v in node.outputs):
                computed = [known[v] for v in node.outputs]
            else:
                continue
            found = self._node(node, inputs, computed, path)
            self.watch(node, inputs, found, path)
            both.update(zip(node.outputs, found, strict=True))
            for v in node.inputs:  # free what nothing reads any more
                if last.get(v) is node and v not in outputs:
                    both.pop(v, None)
        for v in outputs:
            if isinstance(v, Constant):
                both[v] = self._value(v, both)
        return both

    def _is_missing(self, v: Variable, both: Both) -> bool:
        return v not in both and not isinstance(v, Constant)

    def _value(self, v: Variable, both: Both) -> ValuePair:
        if not isinstance(v, Constant):
            return both.get(v) or ValuePair(None, None)
        found = both.get(v)
        if found is None:
            found = both[v] = self._leaf(v, v.data)
        return found

    # --- one node ------------------------------------------------------------------------------

    def _node(
        self, node: Apply, inputs: Sequence[ValuePair], computed: Sequence[Any], path: Any
    ) -> list[ValuePair]:
        op: Any = node.op
        try:
            if isinstance(op, Scan):
                return self._loop(node, inputs, computed, path)
            if isinstance(op, HasInnerGraph) and op.runs_once:
                return self._inner(node, inputs, computed, path)
            true = self._true(node, inputs, computed)
        except (NotKnown, ValueError, TypeError, IndexError, OverflowError, ArithmeticError):
            true = self._taken(node, inputs, computed)
        masks = [self.plan.masks.get(v) for v in node.outputs]
        return [ValuePair(*three) for three in zip(computed, true, masks, strict=True)]

    def _true(self, node: Apply, inputs: Sequence[ValuePair], computed: Sequence[Any]) -> list[Any]:
        given = [x.true for x in inputs]
        if node in self.plan.wide or any(is_large_wide(a) for a in given):
            return wide.results(node, given)
        given = [wide.as_exact(a) if is_wide(a) else a for a in given]
        mask = self.plan.masks.get(node.outputs[0])
        if mask is None or not isinstance(node.op, pt.Elemwise):
            return truth.results(node, given, computed)
        chosen = [np.broadcast_to(a, mask.shape)[mask] for a in given]
        found = []
        for part in truth.results(node, chosen):
            whole = np.full(mask.shape, NAN if part.dtype == object else 0, part.dtype)
            whole[mask] = part
            found.append(whole)
        return found

    def _taken(
        self, node: Apply, inputs: Sequence[ValuePair], computed: Sequence[Any]
    ) -> list[Any]:
        """Return what the op computes, on the nearest floats."""
        kinds = [v.type.kind for v in node.outputs]
        try:
            given = [nearest(x.true, v) for x, v in zip(inputs, node.inputs, strict=True)]
            found = self.floats.run(node, given)
        except Exception:
            found = list(computed)
        if any(kind in "fc" for kind in kinds):
            why = "large arrays" if node in self.plan.wide else "no exact meaning"
            self.taken[str(node.op), why] += 1
        return [
            exact.exact(a) if kind in "fc" and isinstance(a, np.ndarray) else a
            for a, kind in zip(found, kinds, strict=True)
        ]

    # --- ops that hold graphs ------------------------------------------------------------------

    def _inner(
        self, node: Apply, inputs: Sequence[ValuePair], computed: Sequence[Any], path: Any
    ) -> list[ValuePair]:
        op: Any = node.op
        given = dict(zip(op.inner_inputs, map(as_numbers, inputs), strict=True))
        both = self._graph(op.inner_outputs, given, {}, (*path, node))
        found = [self._value(v, both).true for v in op.inner_outputs]
        return [ValuePair(a, true) for a, true in zip(computed, found, strict=True)]

    def _loop(
        self, node: Apply, inputs: Sequence[ValuePair], computed: Sequence[Any], path: Any
    ) -> list[ValuePair]:
        op: Any = node.op
        steps, *rest = inputs
        n = int(steps.computed)
        if not n or node in self.plan.wide:
            raise NotKnown
        sequences, carried, shared = op.parts(list(map(as_numbers, rest)))
        rows: list[list[ValuePair]] = [[] for _ in op.results]
        for t in range(n):
            slices = [ValuePair(x.computed[t, ...], at(x.true, t)) for x in sequences]
            given = dict(zip(op.inner_inputs, [*slices, *carried, *shared], strict=True))
            both = self._graph(op.inner_outputs, given, {}, (*path, node))
            found = [self._value(v, both) for v in op.inner_outputs]
            carried = found[: op.carried]
            for row, one in zip(rows, found[op.carried :], strict=False):
                row.append(one)
            if op.until and bool(found[-1].computed) != bool(found[-1].true):
                self.diverged[str(op)] += 1
            if op.until and found[-1].computed:
                break
        whole = [np.stack([np.asarray(one.true) for one in row]) for row in rows]
        true = [*[one.true for one in carried], *whole]
        true += [np.asarray(computed[-1])] * op.until
        return [ValuePair(a, b) for a, b in zip(computed, true, strict=True)]


def at(a: Any, t: int) -> Any:
    """Return a row of an array, as an array."""
    return np.asarray(a[t, ...])


def as_numbers(x: ValuePair) -> ValuePair:
    """Return a value with exact numbers in the place of 80-bit floats."""
    return ValuePair(x.computed, wide.as_exact(x.true), x.mask) if is_wide(x.true) else x


def is_wide(a: Any) -> bool:
    """Return whether an array consists of 80-bit floats."""
    return isinstance(a, np.ndarray) and a.dtype == wide.WIDE


MAX_CONVERTED = 10_000  # 80-bit floats that are converted to numbers of many digits


def is_large_wide(a: Any) -> bool:
    """Return whether an array has too many 80-bit floats to compute with many digits."""
    return is_wide(a) and a.size > MAX_CONVERTED


def nearest(a: Any, v: Variable) -> Any:
    """Return the nearest values in the dtype of a variable."""
    if is_wide(a):
        return a.astype(v.type.dtype)
    return truth.narrowed(a, v)
