"""Whether values keep a claim (`rewrite_engine/match/claim.py`): the one place that says it, for
`check`, DebugMode and `explain`. (The fuzzer asks about whole graphs: `whole_excuses.py`.)

`judge` compares the values of both sides of a step; `judge_terms` computes them first. A difference
is forgiven by the rows of `excuses.py`; what no row forgives breaks the claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.backward import BACKWARD_EXCUSES, is_singular_by_rounding, norms
from rewrite_engine.judge.backward import true_value as true_of_matrices
from rewrite_engine.judge.difference import (
    HAS_DIGITS,
    BothSides,
    Difference,
    DifferentElement,
    places,
    state,
)
from rewrite_engine.judge.excuses import (
    DIGITS,
    EXCUSES,
    LOST,
    NOISE,
    NORMS,
    SAME_VALUES,
    THE_LIMIT,
    UNKNOWN,
    VALUES,
    Excuse,
    applies,
    is_moderate,
)
from rewrite_engine.judge.noise import is_nan, last_unit
from rewrite_engine.judge.values import REFERENCE, NoValue, TermValues
from rewrite_engine.terms.print import brief

if HAS_DIGITS:
    from rewrite_engine.judge.digits import (
        DIGIT_EXCUSES,
        limit,
        text,
        true_value,
        truth,
        unit_size,
        units_off,
    )
else:
    DIGIT_EXCUSES, true_value = (), None


class Broken(StrEnum):
    """How a claim is broken."""

    ERROR_LOST = "an error is lost"
    ERROR_NEW = "an error is new"
    SHAPE = "another dtype or shape"
    TYPE = "a type that does not fit"
    BITS = "other bits"
    VALUES = "other values"
    NAN = "a number becomes NaN"
    NAN_LOST = LOST
    LIMIT = f"{LOST}, {THE_LIMIT}"
    INFINITE = "what is finite becomes infinite"
    INFINITY = "what is infinite becomes something else"
    ACCURACY = "values differ by more than rounding does"
    DRAWS = "another distribution"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a step. broken: how the claim is broken; None if it is kept. why: the same in
    words, with figures. excuse: the last one that was needed, if values differ. units: how far the
    worst element is off, in units in the last place, where that is known. left, right, true: the
    values there, at a place in arrays that are computed from `given`. ran: whether the left side
    has a value. is_known: whether it is known what the right side should be. growth: how many times
    the left side's error the error is, in the norm of the result (of rules that claim `backward`).
    severity, output: of whole graphs (`whole_excuses.py`): the difference in units of what noise
    does, and the number of the result.
    """

    broken: Broken | None = None
    why: str = ""
    excuse: Any = None
    units: float | None = None
    left: Any = None
    right: Any = None
    true: str | None = None
    at: Any = None
    given: Mapping[Any, Any] | None = None
    ran: bool = True
    is_known: bool = True
    growth: float = 0.0
    severity: float = 0.0
    output: int = 0

    @property
    def is_mended(self) -> bool:
        """Whether values changed, legitimately, by more than rounding."""
        excuse = self.excuse
        return self.broken is None and excuse is not None and excuse.name not in SAME_VALUES


KEPT = Verdict()
NOT_RUN = Verdict(ran=False)


def judge_terms(sides: BothSides, given: Mapping[Any, Any]) -> Verdict:
    """Compute both sides on values of their inputs, and compare them strictly. Raises
    `ModuleNotFoundError` if mpmath is not installed: nobody knows what is right then.
    """
    if not HAS_DIGITS:
        why = 'true values need mpmath: pip install "rewrite-engine[check]"'
        raise ModuleNotFoundError(why, name="mpmath")
    left, right = [
        TermValues(REFERENCE, {v: v.type.filter(a) for v, a in given.items()}) for _ in range(2)
    ]
    a, b = _value(left, sides.term), _value(right, sides.new)
    if isinstance(a, Exception):
        unknown = isinstance(b, Exception) or sides.granted == "shape_unsafe"
        if unknown or is_by_extremes(a, given) or is_by_rounding(a, sides, sides.new, given):
            return NOT_RUN
        why = f"{Broken.ERROR_LOST}: {a!r}"
        return Verdict(Broken.ERROR_LOST, why, given=given, ran=False)
    if isinstance(b, Exception):
        if is_by_extremes(b, given) or is_by_rounding(b, sides, sides.term, given):
            return KEPT
        return Verdict(Broken.ERROR_NEW, f"{Broken.ERROR_NEW}: {b!r}", given=given)
    if not is_permitted(sides.term, left):
        return NOT_RUN
    return judge(sides, given, left, a, b)


def _value(values: TermValues, term: Variable) -> Any:
    try:
        return values.value(term)
    except NoValue as failure:
        return failure.__cause__ if isinstance(failure.__cause__, Exception) else failure


def is_by_extremes(error: Exception, given: Mapping[Any, Any]) -> bool:
    """Whether a decomposition failed on inputs with NaN, infinities or extreme numbers. LAPACK then
    does not converge, or refuses them; of `2 * a` it may, and of `a` not, which no rule can mend.
    """
    floats = [x for x in map(np.asarray, given.values()) if x.dtype.kind in "fc"]
    return isinstance(error, np.linalg.LinAlgError) and not all(map(is_moderate, floats))


def is_by_rounding(
    error: Exception, sides: BothSides, other: Variable, given: Mapping[Any, Any]
) -> bool:
    """Whether one side of a rule of linear algebra finds a matrix singular, and the other side does
    not because of its last places.
    """
    claims = sides.promise.kind == "backward" and isinstance(error, np.linalg.LinAlgError)
    return claims and is_singular_by_rounding(other, given)


def is_permitted(term: Variable, values: TermValues) -> bool:
    """Whether operands that have to be triangular are."""
    for node in toposort([term]):
        for i in getattr(node.op, "triangular", ()):
            v = node.inputs[i]
            a = v.data if isinstance(v, Constant) else values.values[v]
            if a.ndim == 2 and np.triu(a, 1).any():
                return False
    return True


def judge(
    sides: BothSides,
    given: Mapping[Any, Any],
    values: TermValues,
    a: Any,
    b: Any,
    strict: bool = True,
) -> Verdict:
    """Compare the values of both sides. given: values of the variables that both are computed from;
    values: those of the left side. strict: whether only what is known to be right is forgiven: in
    a check of a rule; otherwise in calls of programs, where noise has the first word.
    """
    arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and not a.dtype.hasobject
    if not arrays:
        tag = sides.term._tag
        own = None if tag is None else getattr(tag, "values_eq_approx", None)
        try:
            good = bool((own or sides.term.type.values_eq_approx)(a, b))
        except Exception:  # of a type whose values cannot be compared
            good = True
        return KEPT if good else Verdict(Broken.VALUES, str(Broken.VALUES), left=a, right=b)
    if a.dtype != b.dtype or a.shape != b.shape:
        forms = (a.dtype, a.shape), (b.dtype, b.shape)
        return Verdict(Broken.SHAPE, str(Broken.SHAPE), left=forms[0], right=forms[1], given=given)
    if strict and not sides.term.type.is_super(sides.new.type):
        return Verdict(Broken.TYPE, str(Broken.TYPE), given=given)
    with np.errstate(all="ignore"):
        d = Difference(sides, given, values, a, b, true_value)
        return ExcuseSearch(d, strict).verdict() if np.any(d.wrong) else KEPT


STRICT_ORDER = (VALUES, NORMS, DIGITS, NOISE, UNKNOWN)
LENIENT_ORDER = (VALUES, NORMS, NOISE, DIGITS, UNKNOWN)


class ExcuseSearch:
    """Looks for excuses of a difference. left: the places that nothing excuses so far."""

    def __init__(self, difference: Difference, strict: bool) -> None:
        self.d, self.strict = difference, strict
        self.left = np.array(difference.wrong)
        self.excuse: Excuse | None = None

    def verdict(self) -> Verdict:
        """Return the verdict on the difference."""
        d, is_float = self.d, self.d.a.dtype.kind in "fc"
        if self.strict and d.claim.kind == "exact":
            return self.broken()
        rows = [e for e in (*EXCUSES, *BACKWARD_EXCUSES, *DIGIT_EXCUSES) if applies(e, d)]
        rows = [e for e in rows if not (self.strict and e.lenient) and (is_float or e.integers)]
        if self.strict and not is_float:
            rows = [e for e in rows if e.evidence == VALUES]
        for evidence in STRICT_ORDER if self.strict else LENIENT_ORDER:
            if evidence == DIGITS:
                if not is_float or not d.has_digits:
                    continue
                self.thin()
            for row in [e for e in rows if e.evidence == evidence]:
                self.forgive(row)
                if not np.any(self.left):
                    return Verdict(excuse=self.excuse)
        return self.broken()

    def thin(self) -> None:
        """Keep a few places of each kind of difference, but all kinds."""
        kinds = 3 * state(self.d.a) + state(self.d.b)
        some = np.zeros(self.left.shape, bool)
        for place in places(self.left, kinds):
            some[place] = True
        self.left = some

    def forgive(self, row: Excuse) -> None:
        """Let a row forgive what it may."""
        left = self.left
        if row.evidence == UNKNOWN or (self.strict and row.evidence == NOISE):
            left = left & self.unknown
        if not np.any(left):
            return
        found = left & row.forgives(self.d, left)
        if np.any(found):
            self.excuse = row
            self.left = self.left & ~found

    @property
    def unknown(self) -> Any:
        """Where the true value is not known."""
        if self.d.a.dtype.kind not in "fc" or not self.d.has_digits:
            return self.left
        found = np.zeros(self.left.shape, bool)
        for at in np.argwhere(self.left):
            place = tuple(at) if self.left.ndim else ()
            found[place] = self.d.element(place).t is None
        return found

    def broken(self) -> Verdict:
        """Return the verdict on what is left."""
        d, left = self.d, self.left
        if d.claim.kind == "exact" or d.a.dtype.kind not in "fc":
            how = Broken.BITS if d.claim.kind == "exact" else Broken.VALUES
            return Verdict(how, str(how), left=d.a[left][:4], right=d.b[left][:4], given=d.given)
        self.thin()
        place = next(iter(places(self.left, 3 * state(d.a) + state(d.b))))
        e = d.element(place)
        if d.claim.kind == "backward" and np.isfinite(e.a) and np.isfinite(e.b):
            return _beyond_norm(e)
        how, why, units = _how(e)
        true = None if e.t is None else text(e.t)
        known = e.t is not None
        return Verdict(how, why, None, units, e.a, e.b, true, e.at, e.given, is_known=known)


def _beyond_norm(e: DifferentElement) -> Verdict:
    """Return the verdict on an error that is too large in the norm of the result."""
    found = norms(e.whole)
    off, was, most = [
        float(np.max(x / np.maximum(found.size * found.unit, np.finfo(float).tiny), initial=0))
        for x in (found.right, np.maximum(found.left, found.noise), found.allowed)
    ]
    why = f"off by {off:.3g} units of the largest element, was {was:.3g}, allowed are {most:.3g}"
    known = true_of_matrices(e.whole)
    true = None if known is None else text(np.asarray(known[e.place], object).item())
    return Verdict(
        Broken.ACCURACY, why, None, off, e.a, e.b, true, e.place, e.given, growth=found.growth
    )


def _how(e: DifferentElement) -> tuple[Broken, str, float | None]:
    """How one element breaks the claim."""
    if is_nan(e.b):
        return Broken.NAN, str(Broken.NAN), None
    if is_nan(e.a):
        why = (e.whole.has_digits and limit(e)) or LOST
        return Broken.LIMIT if why == Broken.LIMIT else Broken.NAN_LOST, why, None
    if np.isinf(e.a):
        return Broken.INFINITY, str(Broken.INFINITY), None
    if np.isinf(e.b):
        return Broken.INFINITE, str(Broken.INFINITE), None
    t = truth(e) if e.whole.has_digits else None
    if t is not None and t != t:
        return Broken.ACCURACY, "a number where the true value is none", None
    if t is not None:
        off, was = [units_off(x, t, unit_size(e)) for x in (e.b, e.a)]
        return Broken.ACCURACY, f"off by {off:.3g} units, was {was:.3g}", off
    unit = float(last_unit(np.maximum(np.abs(e.a), e.size).astype(e.a.real.dtype)))
    off = float(np.abs(e.b - e.a)) / unit
    return Broken.ACCURACY, f"off by {off:.3g} units", off


def case_text(sides: BothSides, verdict: Verdict) -> str:
    """Return the case that breaks a claim in some lines: both sides, inputs, values."""
    lines = [f"    {brief(sides.term, 20)} : {sides.term.type}"]
    lines.append(f"    {brief(sides.new, 20)} : {sides.new.type}")
    given = verdict.given or {}
    lines += [f"    {v} {v.type} = {np.asarray(a).tolist()}" for v, a in given.items()]
    values = (verdict.left, verdict.right, verdict.true, verdict.at)
    named = zip(("left", "right", "truth", "at"), values, strict=True)
    shown = [(name, value) for name, value in named if value is not None]
    lines += [f"    {name}: {value}" for name, value in shown]
    return "\n".join(lines)
