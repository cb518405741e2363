"""Derivatives by quotients of differences, taken with so many digits that they are exact.

Comparisons, roundings and integers keep the values that they have at the point itself, so that a
branch which is not taken contributes nothing. Where there is a kink, nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from mpmath import mp, mpf

from fuzz.case import Case
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.judge import exact
from rewrite_engine.judge.noise import evaluate, reaches_far
from rewrite_engine.tensor import Elemwise

#: functions with kinks
KINKED = frozenset("abs maximum minimum clip".split())
#: results that change in jumps
JUMPING = frozenset("sign floor ceil trunc round floor_div".split())


def weights(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Numbers that tell elements apart."""
    return (1 + np.arange(int(np.prod(shape))) % 3).reshape(shape).astype(dtype)


class Differences:
    """Derivatives of the elements of a term, by differences with many digits."""

    def __init__(
        self, case: Case, term: Any, wrt: Sequence[Any], values: Mapping[Any, Any]
    ) -> None:
        self.case, self.term, self.wrt = case, term, wrt
        shape = values[term].shape
        self.weights = weights(shape, "float64") if term.type.ndim else np.ones(())
        self.frozen: dict[Any, Any] = {}
        self.doubts: list[Apply] = []  # what hangs by the last of all digits
        #: an infinity may be a choice, not the end of what is computed
        self.chooses = str(getattr(term.owner.op, "scalar_op", "")) == "switch" and any(
            isinstance(v, Constant) and np.isinf(v.data).any()
            for branch in term.owner.inputs[1:]
            for v in (branch, *(branch.owner.inputs if branch.owner is not None else ()))
        )
        self.values: dict[Any, Any] = {}
        self.kinked = [
            node.outputs[0]
            for node in case.nodes
            if str(getattr(node.op, "scalar_op", "")) in KINKED and node.outputs[0].type.kind == "f"
        ]

    def of(self, kind: str, surely: bool = False) -> list[Any]:
        """The true results: arrays of numbers, None where there is none. surely: with so many
        digits that nothing is lost where functions saturate.
        """
        found: list[Any] = []
        far = surely and reaches_far(evaluate([self.term], self.case.given))
        most = (8000, 400) if far else (1500, 400)
        for digits, step in (most,) if surely else ((200, 40), most):
            with mp.workdps(digits):
                found = getattr(self, kind)(mpf(10) ** -step)
                if surely:
                    nearer = getattr(self, kind)(mpf(10) ** -step / 3)
                    found = [_settled(a, b) for a, b in zip(found, nearer, strict=True)]
            if all(t is not None for a in found for t in np.ravel(a)):
                break
        return found

    def at(self, moves: Mapping[tuple[Any, Any], Any], doubts: Any = None) -> Any:
        """The elements of the term at a point moved away; None if they are not known."""
        given: dict[Any, Any] = {}
        for v, a in self.case.given.items():
            given[v] = exact.exact(a).copy() if v.type.kind == "f" else a
        for (v, place), move in moves.items():
            given[v][place] = given[v][place] + move
        return exact.evaluate([self.term], given, self.frozen, doubts, exact.settled)

    def base(self) -> Any:
        """The elements at the point itself; what jumps is kept from there."""
        self.frozen = {}
        self.doubts = []
        values = self.at({}, self.doubts)
        for node in self.case.nodes:
            jumps = str(getattr(node.op, "scalar_op", "")) in JUMPING
            if str(getattr(node.op, "scalar_op", "")) == "switch":
                condition = node.inputs[0]
                if condition in values:
                    self.frozen[node] = exact.truth_of(values[condition])
            for v in node.outputs:
                if v in values and (jumps or v.type.kind in "biu"):
                    self.frozen[v] = values[v]
        self.values = values
        return values.get(self.term) if self._agrees(values) and not self._ties(values) else None

    def _ties(self, values: Mapping[Any, Any]) -> bool:
        """Whether a number and both of its bounds are one: no choice among the three gradients is
        right whatever moves.
        """
        for node in self.case.nodes:
            if str(getattr(node.op, "scalar_op", "")) == "clip":
                x, low, high = [values.get(v, getattr(v, "data", np.nan)) for v in node.inputs]
                if np.any((x == low) & (low == high)):
                    return True
        return False

    def _touches(self) -> bool:
        """Whether an absolute value is that of 0: what is below says whether there is a kink."""
        return any(
            str(getattr(v.owner.op, "scalar_op", "")) == "abs" and np.any(self.values.get(v) == 0)
            for v in self.kinked
        )

    def _agrees(self, values: Mapping[Any, Any]) -> bool:
        """Whether comparisons and the like are known, and what they are in floating point."""
        if any(str(node.op) not in ("add", "sub") for node in self.doubts):
            return False
        found = evaluate([self.term], self.case.given)
        for node, taken in self.frozen.items():
            if isinstance(node, Apply) and node.inputs[0] in found:
                if not np.array_equal(found[node.inputs[0]] != 0, taken):
                    return False
        steps = [v for v in self.frozen if isinstance(v, Variable) and v in found]
        same = all(np.array_equal(found[v], np.asarray(values[v], found[v].dtype)) for v in steps)
        same = same and self._quotients(found) == self._quotients(values)
        return same and self._picks(found) == self._picks(values)

    def _quotients(self, values: Mapping[Any, Any]) -> list[Any]:
        """What is taken away where a remainder is left: as many times the divisor."""
        nodes = [n for n in self.case.nodes if str(getattr(n.op, "scalar_op", "")) == "mod"]
        found = []
        for node in nodes:
            sides = [values.get(v, getattr(v, "data", np.nan)) for v in node.inputs]
            times = exact.SCALAR["floor_div"](*map(exact.exact, sides))
            found += [str(n) for n in np.ravel(times)]
        return found

    def _picks(self, values: Mapping[Any, Any]) -> list[Any]:
        """Which operands are the largest, or the least, of several; infinity ties with infinity."""
        chosen = [v.owner for v in self.kinked if isinstance(v.owner.op, Elemwise)]
        nodes = [node for node in chosen if str(node.op) in exact.extreme]
        return [
            np.asarray(values.get(x, getattr(x, "data", np.nan)) == values[n.outputs[0]]).tolist()
            for n in nodes
            if n.outputs[0] in values
            for x in n.inputs
        ]

    def places(self) -> list[tuple[Any, Any]]:
        return [(v, at) for v in self.wrt for at in np.ndindex(self.case.given[v].shape)]

    def direction(self) -> dict[tuple[Any, Any], Any]:
        """The direction of second derivatives and of Jacobian-vector products."""
        moves: dict[tuple[Any, Any], Any] = {}
        for v in self.wrt:
            w = weights(self.case.given[v].shape, "float64")
            moves |= {(v, at): mpf(float(w[at])) for at in np.ndindex(w.shape)}
        return moves

    # --- kinds -----------------------------------------------------------------------------------

    def gradient(self, h: Any) -> list[Any]:
        base = self.base()
        return self._by_place(
            lambda place: None if base is None else self.summed(self.slope(base, {place: h}, h))
        )

    def idiom(self, h: Any) -> list[Any]:
        gradient = self.gradient(h)
        base = self.at({}).get(self.term)
        nothing = np.full(self.weights.shape, None)
        return [nothing if base is None else np.asarray(base, object), *gradient]

    def rop(self, h: Any) -> list[Any]:
        base = self.base()
        if base is None:
            return [np.full(self.weights.shape, None)]
        return [self.slope(base, {p: h * w for p, w in self.direction().items()}, h)]

    def second(self, h: Any) -> list[Any]:
        if any(t is None for a in self.gradient(h) for t in np.ravel(a)) or self._touches():
            return self._by_place(lambda place: None)  # there are kinks
        return self._by_place(lambda place: self.mixed(place, h))

    def _by_place(self, fn: Callable[[Any], Any]) -> list[Any]:
        found = {place: fn(place) for place in self.places()}
        result = []
        for v in self.wrt:
            array = np.full(self.case.given[v].shape, None, object)
            for at in np.ndindex(array.shape):
                array[at] = found[v, at]
            result.append(array)
        return result

    def slope(self, base: Any, moves: Mapping[Any, Any], h: Any) -> Any:
        """The derivatives of all elements along a move; None at kinks, also of what is inside."""
        up, down = self.at(moves), self.at({p: -m for p, m in moves.items()})
        nothing = np.full(np.shape(base), None)
        if self.term not in up or self.term not in down:
            return nothing
        if any(not np.isfinite(self.case.given[v][place]) for v, place in moves):
            return nothing
        for v in self.kinked:
            if None in np.ravel(self.quotients(down[v], self.values[v], up[v], h)):
                return nothing
        return self.quotients(down[self.term], base, up[self.term], h)

    def quotients(self, down: Any, base: Any, up: Any, h: Any) -> Any:
        """Derivatives by both sides; None where they differ, or nothing is defined."""

        def quotient(down: Any, base: Any, up: Any) -> Any:
            if base - base == 0 and abs(base) * mp.eps > mpf(10) ** -25 * h:
                return None  # what moves is lost beside it
            if down == base == up and (base - base == 0 or self.chooses):
                return mpf(0)
            if any(v - v != 0 for v in (down, base, up)):
                return None
            right, left = (up - base) / h, (base - down) / h
            if abs(right - left) > mpf(10) ** -15 * max(abs(right), abs(left)) + mpf(10) ** -25:
                return None
            return (right + left) / 2

        return np.asarray(np.frompyfunc(quotient, 3, 1)(down, base, up))

    def mixed(self, place: Any, h: Any) -> Any:
        """The derivative along the direction, and along one coordinate."""
        results = []
        for step in (h, h / 3):
            slopes = []
            for sign in (1, -1):
                move = {place: sign * step}
                centre = self.at(move).get(self.term)
                along = {p: step * w for p, w in self.direction().items()}
                up = self.at(_both(move, along)).get(self.term)
                down = self.at(_both(move, {p: -m for p, m in along.items()})).get(self.term)
                if centre is None or up is None or down is None:
                    return None
                slopes.append(self.summed(self.quotients(down, centre, up, step)))
            if None in slopes:
                return None
            results.append((slopes[0] - slopes[1]) / (2 * step))
        a, b = results
        return a if abs(a - b) <= mpf(10) ** -12 * max(abs(a), abs(b)) + mpf(10) ** -25 else None

    def summed(self, slopes: Any) -> Any:
        """The weighted sum of derivatives of elements."""
        found = list(np.ravel(np.asarray(slopes, object)))
        if any(s is None for s in found):
            return None
        return sum(
            (s * float(w) for s, w in zip(found, np.ravel(self.weights), strict=True)), mpf(0)
        )


def _settled(found: Any, nearer: Any) -> Any:
    """Numbers, None where they change as steps get smaller: a slope that has no end is none."""

    def settled(a: Any, b: Any) -> Any:
        apart = a is None or b is None or a - a != 0 or b - b != 0
        return a if apart or abs(a - b) <= abs(a) / 10**6 + mpf(10) ** -25 else None

    return np.asarray(np.frompyfunc(settled, 2, 1)(found, nearer), object)


def _both(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> dict[Any, Any]:
    return {p: a.get(p, 0) + b.get(p, 0) for p in {**a, **b}}
