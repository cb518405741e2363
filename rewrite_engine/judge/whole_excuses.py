"""Verdicts on the results of a whole graph that rules of all kinds have rewritten (`judge_whole`),
and the excuses of differences there. Requires mpmath.

Steps of the graph may have been mended, so a result may be what the graph gives with other steps:
as with noise, or with the true values of some steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from mpmath import mpf

from rewrite_engine.fork import cached_property
from rewrite_engine.judge import exact, partly
from rewrite_engine.judge.noise import last_unit
from rewrite_engine.judge.verdict import Broken, Verdict
from rewrite_engine.judge.whole import WholeGraph, close, is_among, largest, number

REACH = 20  # a difference of so many times what noise makes is still rounding
BETTER = 4  # how many times as far from the truth a result may be as the graph as it is written


@dataclass
class WholeElement:
    """One element of a result. i: the number of the result; w: what the graph gives as it is
    written; f: what was found; noise: what it gives under noise.
    """

    graph: WholeGraph
    i: int
    place: Any
    w: Any
    f: Any
    noise: Any

    @cached_property
    def _true(self) -> tuple[Any, list[Any]]:
        truth = self.graph.true(self.i, self.place)
        return truth, list(self.graph.doubts)

    @property
    def truth(self) -> Any:
        """The true value; None if it is not known."""
        return self._true[0]

    @property
    def doubts(self) -> list[Any]:
        """The nodes by whose last digit the true value hangs."""
        return self._true[1]

    @property
    def has_truth(self) -> bool:
        """Whether the true value is a finite number."""
        return self.truth is not None and self.truth - self.truth == 0

    @cached_property
    def is_integer(self) -> bool:
        return self.w.dtype.kind in "biu"

    @cached_property
    def is_finite(self) -> bool:
        """Whether both are finite numbers."""
        return bool(np.isfinite(self.w) and np.isfinite(self.f))

    @cached_property
    def around(self) -> float:
        """How much noise moves the result, at least a unit in the last place."""
        w, f, kind = self.w, self.f, wide(self.w)
        with np.errstate(all="ignore"):
            unit = float(last_unit(np.maximum(np.abs(w), np.abs(f)).astype(real_dtype(w))))
            return max(float(np.abs(self.noise.astype(kind) - kind(w)).max()), unit)

    @cached_property
    def apart(self) -> float:
        """How far the two are apart."""
        kind = wide(self.w)
        with np.errstate(all="ignore"):
            return float(np.abs(kind(self.f) - kind(self.w)))


class WholeExcuse(NamedTuple):
    """A way in which a difference of a whole graph is forgiven. results: of which it is asked."""

    name: str
    reason: str
    results: str
    forgives: Callable[[WholeElement], bool]


def _is_undetermined(r: WholeElement) -> bool:
    return bool(class_of(r.noise) - {*class_of(np.array([r.w]))})


def _is_complex_infinity(r: WholeElement) -> bool:
    w, f = r.w, r.f
    return w.dtype.kind == "c" and not (np.isfinite(w) and (np.isfinite(f) or abs(w) < edge(w)))


def _is_noise(r: WholeElement) -> bool:
    if r.is_integer:
        return bool((r.noise != r.w).any())
    return r.apart <= REACH * r.around


def _is_doubtful(r: WholeElement) -> bool:
    """Whether a comparison, or what is left of a difference, hangs by the last digit."""
    return bool(np.isfinite(r.w)) and bool(r.doubts)


def _is_true(r: WholeElement) -> bool:
    if r.is_integer:
        return bool(r.truth == int(r.f))
    if not r.is_finite:
        finite = np.isfinite(r.f) or np.isnan(r.w)
        return not np.isfinite(r.w) and bool(finite) and r.graph.near(r.truth, r.f)
    if not r.has_truth:
        return False
    off, tiny = abs(mpf(float(r.f)) - r.truth), float(np.finfo(r.w.dtype).tiny)
    if off <= BETTER * abs(mpf(float(r.w)) - r.truth):
        return True
    return bool(off <= max(REACH * r.around, tiny if abs(r.truth) < tiny else 0.0))


def _is_regrouped(r: WholeElement) -> bool:
    """Whether a partial sum of another order may overflow, or has."""
    graph = r.graph
    if not graph.regrouped or (r.is_finite and not r.is_integer):
        return False
    if r.is_integer or not np.isfinite(r.f):
        overflown = not r.is_integer and np.isnan(r.w) and np.isinf(r.f) and r.has_truth
        return bool(overflown) or graph.may_overflow()
    if not np.isnan(r.w) or not r.has_truth:
        return False
    slack = 64 * float(np.finfo(r.f.dtype).eps) * graph.largest_added
    return bool(abs(mpf(float(r.f)) - r.truth) <= slack)


def _overflows_in_exponent(r: WholeElement) -> bool:
    return not np.isfinite(r.f) and r.graph.may_overflow(r.graph.in_exponents)


def _is_too_large(r: WholeElement) -> bool:
    lost = np.isfinite(r.w) and not np.isfinite(r.f) and r.truth is not None
    return bool(lost and abs(r.truth) > 0.99 * largest(r.w))


def _has_no_truth(r: WholeElement) -> bool:
    lost = np.isfinite(r.w) and not np.isfinite(r.f) and r.truth is not None
    return bool(lost and r.truth != r.truth and r.graph.is_moderate)


def _is_led(r: WholeElement) -> bool:
    """Whether a number is what the graph gives as it is written once some steps are mended."""
    out, graph = r.graph.results[r.i], r.graph
    if r.f.dtype.kind == "c":  # of which there are no exact values
        return is_among(r.f, [[sample[r.i][r.place] for sample in run] for run in graph.beside])
    return any(
        partly.is_among(r.f, [number(values[out], r.place) for values in run if out in values])
        for run in graph.partly()
    )


def _is_unknown(r: WholeElement) -> bool:
    return r.graph.is_unknown and not r.has_truth


ALL, INFINITE = "all", "not both finite"
WHOLE_EXCUSES: tuple[WholeExcuse, ...] = (
    WholeExcuse("undetermined", "noise decides whether it is finite, infinite or NaN", ALL,
                _is_undetermined),
    WholeExcuse("complex infinity", "which part of a complex number is infinite, or NaN, is not "
                "promised", "complex numbers", _is_complex_infinity),
    WholeExcuse("noise", "noise in the steps moves it as far", "integers and finite numbers",
                lambda r: r.is_finite and _is_noise(r)),
    WholeExcuse("doubts", "a comparison, or a difference, hangs by the last of all digits",
                "what is finite as it is written", _is_doubtful),
    WholeExcuse("true value", "it is the true value, or no farther from it", ALL, _is_true),
    WholeExcuse("partial sum", "a partial sum of another order overflows",
                "integers, and floats that are not finite", _is_regrouped),
    WholeExcuse("sum in an exponent", "sums in exponentials may overflow in another order",
                INFINITE, _overflows_in_exponent),
    WholeExcuse("too large", "the true value is too large for the dtype", INFINITE, _is_too_large),
    WholeExcuse("no true value", "there is a number only because digits were lost", INFINITE,
                _has_no_truth),
    WholeExcuse("mended steps", "the graph as it is written gives it once some steps are mended",
                ALL, _is_led),
    WholeExcuse("unknown step", "nothing is known of a step that is not finite", ALL, _is_unknown),
)  # fmt: skip


def judge_whole(graph: WholeGraph, found: Sequence[Any]) -> Verdict:
    """Compare what a function gives for the results of a graph with what the graph gives as it is
    written; return the worst verdict. Where something is wrong, it is compared again with as many
    digits as there are.
    """
    worst: Verdict | None = None
    for i, (v, w, f) in enumerate(zip(graph.results, graph.wanted, found, strict=True)):
        wrong = form(v, w, f)
        if wrong is not None:
            return Verdict(Broken.SHAPE, f"output {i}: {wrong}", output=i, severity=np.inf)
        good = close(f, w)
        for one in () if good.all() else _wrong_elements(graph, i, good, f):
            if worst is None or one.severity > worst.severity:
                worst = one
    if worst is None or graph.surely:
        return worst or Verdict()
    again = WholeGraph(graph.results, graph.given, graph.wanted, graph.regrouped, surely=True)
    return judge_whole(again, found)


def form(v: Any, wanted: np.ndarray, found: Any) -> str | None:
    """Return what is wrong with dtype and shape."""
    if not isinstance(found, np.ndarray):
        return f"no array: {type(found)}"
    if found.dtype != v.type.numpy_dtype or found.dtype != wanted.dtype:
        return f"{found.dtype}, not {wanted.dtype}; the type is {v.type}"
    if found.shape != wanted.shape:
        return f"{found.shape}, not {wanted.shape}"
    if any(s is not None and s != n for s, n in zip(v.type.shape, found.shape, strict=True)):
        return f"{found.shape}, but the type is {v.type}"
    return None


def _wrong_elements(graph: WholeGraph, i: int, good: Any, f: Any) -> list[Verdict]:
    """Return the verdicts on the elements of a result that nothing excuses."""
    if not graph.noise:
        return []
    w, samples = graph.wanted[i], np.array([s[i] for s in graph.noise])
    wrong = []
    for at in np.argwhere(~good):
        place = tuple(at)
        r = WholeElement(graph, i, place, w[place], f[place], samples[(slice(None), *place)])
        verdict = judge_element(r)
        wrong += [verdict] if verdict.broken else []
    return wrong


def judge_element(r: WholeElement) -> Verdict:
    """Return the verdict on an element that differs."""
    excuse = next((row for row in WHOLE_EXCUSES if row.forgives(r)), None)
    if excuse is not None:
        return Verdict(excuse=excuse)
    truth = "?" if r.truth is None else exact.shown(r.truth)
    why = f"output {r.i}{list(map(int, r.place))}: {r.f!r}, not {r.w!r} (true: {truth})"
    how, severity = _how(r)
    if r.graph.is_from_limit(r.i, r.place, r.f):  # NaN that became the limit was compared as that
        how, severity = (Broken.VALUES if np.isfinite(r.w) else how), 0.0
    return Verdict(how, why, None, None, r.w, r.f, truth, r.place, output=r.i, severity=severity)


def _how(r: WholeElement) -> tuple[Broken, float]:
    """Return how a result is wrong; in units of what noise does, 0 if a rule that stabilises may do
    so.
    """
    graph = r.graph
    if r.is_integer:
        return Broken.VALUES, 0.0 if graph.is_saturated and graph.has_poles else np.inf
    if r.is_finite:
        apart = float(abs(mpf(float(r.f)) - r.truth)) if r.has_truth else r.apart
        saturated = graph.is_saturated and graph.has_poles
        return Broken.ACCURACY, 0.0 if saturated else apart / r.around
    if np.isfinite(r.w):
        return Broken.INFINITE, np.inf
    how = Broken.NAN_LOST if np.isnan(r.w) else Broken.INFINITY
    lost = r.truth is not None and not r.has_truth  # or there are too few digits
    unsure = lost and (r.doubts or (r.f == r.f and graph.is_steep))
    unsure = unsure or (r.f == r.f and graph.is_saturated)
    return how, 0.0 if unsure else np.inf


def class_of(values: np.ndarray) -> set[str]:
    """Return which of NaN, +inf, -inf and finite numbers occur."""
    if values.dtype.kind == "c":
        return {"finite" if np.isfinite(v) else "not" for v in values}
    return {"nan" if v != v else str(v) if np.isinf(v) else "finite" for v in values}


def edge(x: Any) -> float:
    """What sums of products of complex numbers overflow beyond, in some orders."""
    return largest(x) / 8


def real_dtype(x: Any) -> Any:
    return np.finfo(x.dtype).dtype


def wide(x: Any) -> Any:
    return np.clongdouble if x.dtype.kind == "c" else np.longdouble
