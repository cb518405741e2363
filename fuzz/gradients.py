"""Gradients, second derivatives and Jacobian-vector products against exact ones (`differences.py`),
at moderate arguments and where functions saturate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from random import Random
from typing import Any

import numpy as np
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz import elementwise, motifs, steps
from fuzz.case import Case
from fuzz.deviation import Deviation
from fuzz.differences import Differences, weights
from fuzz.generate import grow
from fuzz.graphs import DEFAULT
from fuzz.pool import Crash, Pool
from rewrite_engine.errors import (
    DisconnectedInputError,
    MethodNotDefined,
    NullTypeGradError,
    RewriteEngineError,
)
from rewrite_engine.gradient import Rop
from rewrite_engine.gradient.walk import takes_partial
from rewrite_engine.judge import exact
from rewrite_engine.judge.noise import MENDED, Values, evaluate, last_unit, spread
from rewrite_engine.judge.whole import adds, size_of
from rewrite_engine.tensor.special import ScaledExp

SAMPLES = 12
LOST = "gradient lost where the value is right"
INF = mpf("inf")
MOST = 8  # elements of inputs
MOODS = ("plain", "saturated", "wide", "few")
STEPS: dict[Any, float] = {
    elementwise.unary: 8, elementwise.binary: 8, elementwise.nary: 3, elementwise.nest: 4,
    elementwise.switch: 3, elementwise.clip: 1,
    steps.reduction: 4, steps.cumulate: 1, steps.exponential: 3, steps.product: 2,
    steps.dimshuffle: 2, steps.reshape: 1, steps.index: 2, steps.take: 1, steps.write: 4,
    steps.join: 2, motifs.softmaxes: 4, motifs.sigmoids: 6, motifs.logs_of_sums: 4,
    motifs.guarded: 6, motifs.losses: 4, motifs.cancelling: 2, motifs.reductions: 2,
    motifs.left_side: 3,
}  # fmt: skip


def random_case(rng: Random) -> Case:
    """A term to be differentiated: floats, few elements."""
    while True:
        dtype = rng.choice(("float64", "float64", "float32"))
        mood = rng.choices(MOODS, (0.5, 0.3, 0.1, 0.1))[0]
        sizes = (2, *rng.choice(((2, 2), (1, 3), (3, 2), (2, 3), (3, 1))))
        p = Pool(rng, [dtype], mood, sizes, moods=MOODS)
        for _ in range(rng.choice((1, 1, 2))):
            p.leaf()
        grow(p, rng.choice((1, 2, 2, 3, 4, 5)), STEPS)
        kinds = "fi" if rng.random() < 0.04 else "f"  # a cost of integers has gradient 0
        made = [v for v in p.terms if v.owner is not None and v.type.kind in kinds]
        if not made:
            continue
        case = Case.of([made[-1]], p.given)
        if 0 < sum(a.size for v, a in case.given.items() if v.type.kind == "f") <= MOST:
            return case


@dataclass
class Checker:
    """Checks derivatives of one kind: "gradient", "second", "rop"; or "idiom": the term, too, and
    wherever they exist.
    """

    kind: str = "gradient"
    regrouped: bool = False  # whether sums may be added up in another order

    @property
    def as_it_is(self) -> bool:
        """Whether the term is not to be shrunk: it would be no idiom any more."""
        return self.kind == "idiom"

    def __call__(self, case: Case, mode: Any = DEFAULT) -> Deviation | None:
        """What is wrong in a mode."""
        try:
            target, truth = self.target(case)
        except Crash as error:
            return Deviation("building raises", str(error))
        if target is None:
            return None
        try:
            found = target.compile(mode)()
        except Exception as error:
            return Deviation(f"raises {type(error).__name__}", str(error))
        finding = Judge(self, case, target, truth()).compare(found)
        if finding is None:
            return None
        return Judge(self, case, target, truth(True), self.nearby(case)).compare(found)

    def tester(self, case: Case) -> tuple[Case, Callable[[Any], bool]]:
        """The graph to look at, and whether values of it are wrong."""
        target, truth = self.target(case)
        assert target is not None
        judge = Judge(self, case, target, truth(True), self.nearby(case))

        def is_wrong(found: Any) -> bool:
            return isinstance(found, Exception) or judge.compare(found) is not None

        return target, is_wrong

    def nearby(self, case: Case) -> Callable[[], list[list[Any]]]:
        """What computes the true derivatives at inputs that are a few units away."""

        def truths() -> list[list[Any]]:
            moved = (Case(case.inputs, case.outputs, given) for given in _moved(case.given))
            return [self.target(one)[1](True) for one in moved]

        return truths

    def target(self, case: Case) -> tuple[Case | None, Callable[..., list[Any]]]:
        """A case with derivatives as outputs, and what computes those that are true. None where
        there are none. Raises `Crash` where they cannot be built.
        """
        (term,) = case.outputs
        wrt = [v for v in case.inputs if v.type.kind == "f"]
        values = evaluate([term], case.given)
        if not wrt or not np.size(values[term]) or term.owner is None:
            return None, list
        if any(isinstance(node.op, ScaledExp) for node in case.nodes):  # a factor is left open,
            return None, list  # which has a slope, too
        try:
            outputs = getattr(self, "_" + self.kind)(term, wrt, case)
        except (NullTypeGradError, DisconnectedInputError, MethodNotDefined):
            return None, list
        except Exception as error:
            raise Crash(f"{type(error).__name__}: {error}") from error
        differences = Differences(case, term, wrt, values)
        return Case(case.inputs, outputs, case.given), partial(differences.of, self.kind)

    def _gradient(self, term: Any, wrt: Any, case: Case) -> list[Any]:
        return list(rw.grad(self.cost(term, case), wrt, disconnected_inputs="ignore"))

    def _idiom(self, term: Any, wrt: Any, case: Case) -> list[Any]:
        return [term, *self._gradient(term, wrt, case)]

    def cost(self, term: Any, case: Case) -> Any:
        """A weighted sum of the elements."""
        shape = evaluate([term], case.given)[term].shape
        return (term * weights(shape, term.type.dtype)).sum() if term.type.ndim else term

    def _second(self, term: Any, wrt: Any, case: Case) -> list[Any]:
        first = self._gradient(term, wrt, case)
        parts = [
            (g * weights(case.given[v].shape, v.type.dtype)).sum()
            for g, v in zip(first, wrt, strict=True)
        ]
        return list(rw.grad(sum(parts[1:], parts[0]), wrt, disconnected_inputs="ignore"))

    def _rop(self, term: Any, wrt: Any, case: Case) -> list[Any]:
        points = [pt.constant(weights(case.given[v].shape, v.type.dtype)) for v in wrt]
        return [Rop(term, wrt, points)]


class Judge:
    """Compares derivatives with true ones."""

    def __init__(
        self,
        checker: Checker,
        case: Case,
        target: Case,
        truth: list[Any],
        nearby: Callable[[], list[list[Any]]] = list,
    ) -> None:
        self.kind, self.regrouped = checker.kind, checker.regrouped
        self.case, self.target, self.truth = case, target, truth
        self.nearby = nearby
        self.singular = False
        self._noise: Any = None

    @cached_property
    def values(self) -> Values:
        """What the reference gives for each step to the value."""
        return evaluate(self.case.outputs, self.case.given)

    def compare(self, found: Sequence[Any]) -> Deviation | None:
        """The worst of what is wrong."""
        worst = None
        for i, (v, f, t) in enumerate(zip(self.target.outputs, found, self.truth, strict=True)):
            f = np.asarray(f)
            if f.dtype != v.type.numpy_dtype or f.shape != t.shape:
                return Deviation("form", f"{f.dtype}{f.shape}, not {v.type.dtype}{t.shape}")
            for at in np.ndindex(f.shape):
                one = None if t[at] is None else self.element(i, at, f[at], t[at])
                if one is not None and (worst is None or one.severity > worst.severity):
                    worst = one
        return worst

    def element(self, i: int, at: Any, f: Any, t: Any) -> Deviation | None:
        """What is wrong with a number."""
        info = np.finfo(f.dtype)
        if abs(t) > 0.99 * float(info.max) or t - t != 0:
            return None
        text = f"derivative {i}{list(at)}: {f!r}, not {exact.shown(t)}"
        if not np.isfinite(f):
            if self.around(i, at) == np.inf:
                return None  # it is not determined whether it is
            kind = self.excuse()
            return None if kind is None else Deviation(kind, text)
        apart = float(abs(mpf(float(f)) - t))
        unit = float(last_unit(np.asarray(float(t), f.dtype)))
        if apart <= max(64 * unit, 1e-36):  # (what a kink of the slope makes of a difference)
            return None
        cancels = self.kind in ("second", "idiom") and abs(t) < mpf(10) ** -300
        if cancels and apart <= float(info.eps) * max(16.0, self.largest_added):
            return None  # what is left of numbers that cancel
        if self.overflows and apart <= min(4 * float(info.eps), 1e-6 * abs(float(t))):
            return None  # so here: the noise of what overflows as it is written says nothing of it
        around = self.around(i, at)
        if around is not None and apart <= max(50 * around, 64 * unit):
            return None
        vanishes = (
            self.kind != "idiom" and abs(t) < float(info.tiny) ** 0.5
        )  # so do products of such numbers, on the way
        lost = around is None or vanishes or self.overflows
        if lost and apart > max(
            MENDED[f.dtype.name] * unit, 200 * float(info.eps) * (not vanishes)
        ):
            kind = None if self.is_near(i, at, f) else self.excuse()
            return None if kind is None else Deviation(kind, text)
        if around is None or self.is_near(i, at, f):
            return None
        return Deviation("gradient wrong", text, apart / max(around, unit))

    @cached_property
    def truths_nearby(self) -> list[list[Any]]:
        """The true derivatives at inputs that are a few units away."""
        return self.nearby()

    def is_near(self, i: int, at: Any, f: Any) -> bool:
        """Whether a number lies among the derivatives at inputs a few units away: nobody who
        computes with these digits can tell it from the true one.
        """
        found = [truth[i][at] for truth in self.truths_nearby]
        known = [t for t in found if t is not None]
        return bool(known) and min(known) <= mpf(float(f)) <= max(known)

    @property
    def overflows(self) -> bool:
        """Whether something on the way to the value is not finite."""
        floats = [a for v, a in self.values.items() if v.type.kind == "f"]
        return not all(np.isfinite(a).all() for a in floats)

    @cached_property
    def largest_added(self) -> float:
        """The largest of the numbers that are added up to derivatives, up to 1,000."""
        values = evaluate(self.target.outputs, self.target.given)
        added = [v for n in self.target.nodes if adds(n) for v in n.inputs]
        sizes = [float(size_of(values[v])) for v in added if v in values]
        return min(max(sizes, default=0.0), 1e3)

    def around(self, i: int, at: Any) -> float | None:
        """How much a derivative moves under noise: without end where it is not always finite, None
        where it never is.
        """
        if self._noise is None:
            outputs, given = self.target.outputs, self.target.given
            self._noise = spread(outputs, given, SAMPLES, regrouped=self.regrouped) or []
        values: Any = np.array([s[i][at] for s in self._noise], np.longdouble)
        finite = np.isfinite(values)
        if not finite.any():
            return None
        return float(values.max() - values.min()) if finite.all() else np.inf

    def excuse(self) -> str | None:
        """What to call a derivative that is not finite; None if it may be so: functions were used
        where they over- or underflow, or where they have no slope, and the value is lost, too.
        """
        if self.kind == "idiom":
            return "not stabilised"
        edges = self.edges()
        if any(self.stretches_over_nothing(node) for node in self.case.nodes):
            return None  # the slope of what is stretched over nothing is 0, and is multiplied
        if any(self.is_taken(v, bad) for v, bad in self.infinite()):
            return None  # a slope that is 0 is multiplied with it
        if not any(self.is_taken(v, bad) for v, bad in edges):
            ends = any(self.is_mixed(v) for v, _ in edges)
            return LOST if ends else "gradient not finite"
        try:
            found = self.case.compile(DEFAULT)()[0]
        except RewriteEngineError:
            return None
        lost = self.kind != "second" and np.isfinite(found).all() and not self.singular
        return LOST if lost else None

    def is_mixed(self, v: Any) -> bool:
        """Whether something is made of it that mixes elements and multiplies: what is known of
        branches that are not taken ends there (decision 25).
        """
        made = {v}
        for node in self.case.nodes:
            if made & {*node.inputs}:
                made |= {*node.outputs}
                passes = isinstance(node.op, pt.Elemwise) or node.op.moves_only
                if not passes and not takes_partial(node.op):
                    return True
        return False

    def infinite(self) -> list[tuple[Any, np.ndarray]]:
        """Variables that are infinite in places, without an overflow: inputs, and operands of
        sums and products.
        """
        with mp.workdps(60):
            true = exact.evaluate(self.case.outputs, self.case.given)
        names = ("mul", "true_div", "add", "sub")
        operands = [v for n in self.case.nodes if str(n.op) in names for v in n.inputs]
        known = [*self.case.given, *operands]
        floats = [v for v in known if v in self.values and v in true and v.type.kind == "f"]
        found = [(v, np.asarray(abs(true[v]) == INF, bool)) for v in floats]
        return [(v, bad) for v, bad in found if bad.any()]

    def edges(self) -> list[tuple[Any, np.ndarray]]:
        """Variables with the places where they are not moderate, or have no slope."""
        values = self.values
        found = []
        with mp.workdps(1200):
            true = exact.evaluate(self.case.outputs, self.case.given)
        for node in self.case.nodes:
            out, name = node.outputs[0], str(getattr(node.op, "scalar_op", ""))
            if out.type.kind != "f":
                continue
            bad = ~_moderate(values[out])
            if out in true:  # what is infinite by itself is no accident, a zero may be one
                bad |= (values[out] == 0) & exact.truth_of(true[out])
                bad &= ~np.asarray(true[out] == values[out].astype(object), bool)
            known = [true.get(v, getattr(v, "data", None)) for v in node.inputs]
            if name in SINGULAR and not any(a is None for a in known):
                edge = np.broadcast_to(np.asarray(SINGULAR[name](*known), bool), bad.shape)
                self.singular |= bool(edge.any())
                bad = bad | edge
            if bad.any():
                found.append((out, bad))
        return found

    def stretches_over_nothing(self, node: Any) -> bool:
        """Whether a value is stretched over a place without elements."""
        known = [self.values[v] for v in (*node.inputs, *node.outputs) if v in self.values]
        if any(not a.size for a in known):
            return True
        if not isinstance(node.op, pt.IncSubtensor | pt.AdvancedIncSubtensor):
            return False
        part = node.op.take(node.inputs[0], node.inputs[2:])
        return not evaluate([part], self.case.given)[part].size

    def is_taken(self, v: Any, bad: np.ndarray) -> bool:
        """Whether the values at some places change the result."""
        (out,) = self.case.outputs
        for other in (np.nan, 1.234):
            value = np.where(bad, other, self.values[v]).astype(v.type.dtype)
            after = evaluate([out], {**self.case.given, v: value})[out]
            if not np.array_equal(self.values[out], after, equal_nan=True):
                return True
        return out is v or any(self.is_taken(*u) for u in self.hidden_by_zeros(v, bad))

    def hidden_by_zeros(self, v: Any, bad: np.ndarray) -> list[tuple[Any, np.ndarray]]:
        """Products of the values at some places and 0, which they are slopes of."""
        found = []
        for node in self.case.nodes:
            if v in node.inputs and str(node.op) in ("mul", "true_div"):
                others = [
                    self.values.get(u, getattr(u, "data", 1)) for u in node.inputs if u is not v
                ]
                zero = np.any(np.broadcast_arrays(bad & False, *[a == 0 for a in others]), axis=0)
                found.append((node.outputs[0], bad & zero))
        return [(u, where) for u, where in found if where.any()]


def _moved(given: Mapping[Any, Any]) -> Iterator[dict[Any, Any]]:
    """Inputs whose floats are up to four units in the last place away, up and down."""
    for sample in range(6):
        dice = np.random.default_rng(sample)
        moved = {}
        for v, a in given.items():
            if v.type.kind == "f":
                away = dice.integers(-4, 5, np.shape(a)) if sample > 1 else 8 * sample - 4
                a = np.where(np.isfinite(a), a + away * last_unit(a), a).astype(a.dtype)
            moved[v] = a
        yield moved


#: where functions have no slope, or none that is finite
SINGULAR: dict[str, Callable[..., Any]] = {
    "sqrt": lambda a, *_: abs(a) < mpf(10) ** -1100,
    "pow": lambda a, *_: a <= 0,
    "log": lambda a, *_: abs(a) < mpf(10) ** -1100,
    "log2": lambda a, *_: abs(a) < mpf(10) ** -1100,
    "log10": lambda a, *_: abs(a) < mpf(10) ** -1100,
    "reciprocal": lambda a, *_: a == 0,
    "true_div": lambda a, b: b == 0,
    "arctan2": lambda a, b: ((a == 0) & (b == 0)) | (abs(a) == INF) | (abs(b) == INF),
    "arcsin": lambda a, *_: abs(a) == 1,
    "arccos": lambda a, *_: abs(a) == 1,
    "arccosh": lambda a, *_: a == 1,
}


def _moderate(a: np.ndarray) -> np.ndarray:
    """Where numbers are neither too large nor too small to be squared a few times."""
    size = np.abs(a.astype("float64"))
    small = {"float64": 1e-60, "float32": 1e-9, "float16": 1e-2}[a.dtype.name]
    return (size == 0) | ((size > small) & (size < 1 / small))
