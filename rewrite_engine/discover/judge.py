"""`Judge` rewrites terms by all shipped rules, and measures the results: how often each is wrong at
far samples, and what it costs. True values have many digits (`rewrite_engine/judge/truth.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.errors import MissingPackageError

try:
    from mpmath import mp
except ImportError as error:
    what = "the search for rules compares values of many digits"
    raise MissingPackageError(f'{what}: pip install "rewrite-engine[check]"') from error

from rewrite_engine.discover.grow import PlainRunner, price_of
from rewrite_engine.discover.space import Facts, Sample, Space
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.replace import first_of_equal, rebuilt
from rewrite_engine.graph.traverse import ancestors, toposort
from rewrite_engine.judge import truth
from rewrite_engine.judge.exact import NotKnown, exact
from rewrite_engine.judge.noise import NoisyRunner, noises
from rewrite_engine.judge.values import NoValue, TermValues
from rewrite_engine.language import rewritten_graph

MOST_ELEMENTS = 10**6  # of a value at one sample
MANY_DIGITS, SOME_DIGITS = 25, 12  # of true values that are one; with rounded numbers
AT_ONCE = 250  # terms that are rewritten in one graph
DIGITS = 400  # of true values: exp(-800) beside 1 takes 350
PERCENT = 0.05  # differences of prices below do not count
NEAR = 1e-8  # relative error of a value that is right
LEAST, GREATEST = 1e-300, 1e300  # absolute values that a double may miss


class Judged(NamedTuple):
    """A term as it is computed today. form: after all rules; wrong: the elements of the far samples
    at which it is wrong, by their numbers, or the samples, if arrays are judged as a whole; price:
    flops, with a little for each call; nodes: the number of nodes of the form.
    """

    form: Variable
    wrong: frozenset[int]
    price: float
    nodes: int = 0

    @property
    def rank(self) -> tuple[int, int, int]:
        """Sort key, smaller for a better term. Prices that differ by some percent are equal: fewer
        nodes decide.
        """
        level = round(math.log(max(self.price, 1.0)) / PERCENT)
        return len(self.wrong), level, self.nodes


class ExactRunner:
    """Runs nodes with many digits. Raises `NoValue` for an op without an exact meaning."""

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        try:
            with np.errstate(all="ignore"):
                return truth.results(node, [as_exact(a) for a in given])
        except (NotKnown, ArithmeticError, ValueError, TypeError) as error:
            raise NoValue from error

    plain = run

    def body(self, op: Any) -> Callable[..., Any]:
        raise NoValue


def as_exact(a: Any) -> Any:
    """Return an array of floats as numbers with many digits; other arrays are their own."""
    return exact(a) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a


class Judge:
    """Judge of the terms of a space. excluding: names of shipped rules to do without."""

    def __init__(self, space: Space, excluding: Sequence[str] = ()) -> None:
        self.space, self.excluding = space, tuple(excluding)
        self.others: dict[Any, Judge] = {}
        self.far = space.far(space.variables)
        self.truths = [
            TermValues(ExactRunner(), {v: as_exact(a) for v, a in given.items()})
            for given in self.far
        ]

    def under(self, facts: Facts) -> Judge:
        """Return the judge of the same terms where other facts of variables are known."""
        key = tuple([(v, tuple(some)) for v, some in facts.items()])
        if key not in self.others:
            self.others[key] = Judge(replace(self.space, variables=facts), self.excluding)
        return self.others[key]

    def today(self, terms: Iterable[Variable], rules: Iterable[Any] = ()) -> list[Judged]:
        """Return what terms are after all shipped rules, and more."""
        found: list[Judged] = []
        rules = list(rules)
        left = iter(terms)
        while some := list(islice(left, AT_ONCE)):
            forms = self.rewritten(some, rules)
            values = [TermValues(PlainRunner(), dict(far)) for far in self.far]
            for term, form in zip(some, forms, strict=True):
                wrong, nodes = self.wrong(term, form, values), len(toposort([form]))
                found.append(Judged(form, wrong, price_of(form), nodes))
        return found

    def rewritten(self, terms: Sequence[Variable], rules: Sequence[Any]) -> list[Variable]:
        """Return what terms are after all rules. Each has its own variables in their graph: rules
        would keep a part that several terms have.
        """
        given, own = list[Variable](), dict[Variable, Variable]()
        for term in terms:
            fresh = {v: v.type(v.name) for v in self.space.variables}
            own.update({w: v for v, w in fresh.items()})
            facts = {fresh[v]: some for v, some in self.space.variables.items()}
            given += with_facts(rebuilt([term], fresh, True), facts)
        found = rewritten_graph(given, rules=rules, excluding=self.excluding).outputs
        return with_shared_parts(rebuilt(found, own, True))

    def wrong(self, term: Variable, form: Variable, values: Sequence[TermValues]) -> frozenset[int]:
        """Return the elements of far samples at which a form of a term is wrong. Of an elementwise
        term without a true value: at which it has no value, or rounding in its steps moves it.
        """
        found, start = set[int](), 0
        for k, (true, computed) in enumerate(zip(self.truths, values, strict=True)):
            right, value = self.true_value(term, true), value_or_none(computed, form)
            if right is not None:
                found |= {start + i for i in wrong_in(value, right, self.space.pointwise)}
            elif self.space.pointwise:
                moved = [value_or_none(noisy, form) for noisy in self.noisy[k]]
                found |= {start + i for i in unsteady(value, moved)}
            start += MOST_ELEMENTS
        return frozenset(found)

    @cached_property
    def noisy(self) -> list[list[TermValues]]:
        """Values at each far sample where each result of a node is moved by a unit."""
        return [
            [TermValues(NoisyRunner(PlainRunner(), dice), dict(given)) for dice in noises()]
            for given in self.far
        ]

    def true_value(self, term: Variable, at: TermValues) -> Any:
        """Return the true value of a term at a far sample; None if it is not known."""
        with mp.workdps(DIGITS):
            return value_or_none(at, term)

    def same(self, left: Variable, right: Variable) -> bool:
        """Return whether two terms have one true value at all far samples that both have one at.

        The true value of an op without an exact meaning is not known; its terms are compared as
        they are computed, where all variables are 0, 1 or -1.
        """
        compared = known = 0
        for at in self.truths:
            a, b = self.true_value(left, at), self.true_value(right, at)
            if a is None or b is None:
                continue
            known += 1
            if self.space.pointwise:
                a, b = np.broadcast_arrays(a, b)
            if np.shape(a) != np.shape(b):
                return False
            some = SOME_DIGITS if has_rounded(left) or has_rounded(right) else MANY_DIGITS
            pairs = [*zip(np.ravel(a), np.ravel(b), strict=True)]
            with mp.workdps(DIGITS):
                rest = 0 if self.space.pointwise else rest_of(pairs)
                found = [near(x, y, some, rest) for x, y in pairs]
            if not all([x is not False for x in found]):
                return False
            compared += sum(x is True for x in found)
        if not known and self.space.pointwise:
            return all([self.same_at_ends(left, right, given) for given in self.far])
        return compared > 1 or not known

    def same_at_ends(self, left: Variable, right: Variable, given: Sample) -> bool:
        """Return whether two terms are computed alike where all variables of a sample are 0, 1 or
        -1, and both are finite.
        """
        values = TermValues(PlainRunner(), dict(given))
        a, b = [value_or_none(values, v) for v in (left, right)]
        if a is None or b is None:
            return True
        ends = np.logical_and.reduce([np.isin(x, (-1.0, 0.0, 1.0)) for x in given.values()])
        compared = ends & np.isfinite(a) & np.isfinite(b)
        a, b = [np.broadcast_to(x, compared.shape)[compared] for x in (a, b)]
        return bool(np.allclose(a, b, rtol=NEAR, atol=NEAR))


def with_shared_parts(terms: Sequence[Variable]) -> list[Variable]:
    """Return terms in which equal parts are one, so that each has its value computed once."""
    return rebuilt(terms, first_of_equal(toposort(terms)), True)


def with_facts(terms: Sequence[Variable], facts: Facts) -> list[Variable]:
    """Return terms on variables that are declared to have facts."""
    marks = {
        v: Assume(tuple([(one, None) for one in some]))(v) for v, some in facts.items() if some
    }
    return rebuilt(terms, marks, True) if marks else list(terms)


def value_or_none(values: TermValues, v: Variable) -> Any:
    """Return a value; None if there is none."""
    try:
        return values.value(v)
    except NoValue:
        return None


def rest_of(pairs: Sequence[tuple[Any, Any]]) -> Any:
    """Return what sums of the elements of an array may leave where they cancel."""
    sizes = [abs(x) for pair in pairs for x in pair if mp.isfinite(x)]
    return max(sizes, default=mp.mpf(0)) * mp.mpf(10) ** (-DIGITS // 2)


def near(x: Any, y: Any, digits: int, rest: Any = 0) -> bool | None:
    """Return whether two true numbers are one; None if one of them is no number in the range of
    doubles. rest: differences that do not count.
    """
    if not (mp.isfinite(x) and mp.isfinite(y)):
        return None
    size = max(abs(x), abs(y))
    if size > GREATEST or 0 < size < LEAST:
        return None
    return bool(abs(x - y) <= max(size * mp.mpf(10) ** -digits, rest))


def unsteady(value: Any, moved: Sequence[Any]) -> list[int]:
    """Return the elements of a value that are not finite, or differ from values under noise."""
    if value is None or any([a is None for a in moved]):
        return []
    every = np.array(np.broadcast_arrays(value, *moved), dtype="float64")
    with np.errstate(all="ignore"):
        gap = np.abs(every - every[0]).max(axis=0)
        steady = gap <= np.maximum(NEAR * np.abs(every[0]), LEAST)
    return [int(i) for i in np.flatnonzero(~steady)]


def has_rounded(term: Variable) -> bool:
    """Whether a term has a number that is rounded, such as log(2)."""
    constants = [v for v in ancestors([term]) if isinstance(v, Constant)]
    numbers = [v.data for v in constants if getattr(v.type, "kind", "") == "f"]
    return any([bool((a * 1024.0 % 1 != 0).any()) for a in map(np.asarray, numbers)])


def wrong_in(value: Any, true: Any, pointwise: bool) -> list[int]:
    """Return which elements of a value are wrong; [0] for an array with a wrong element, if they
    depend on each other. What is out of the range of doubles does not count.
    """
    flat = np.array([float(t) for t in np.ravel(true)])
    found = np.full(len(flat), np.nan) if value is None else np.asarray(np.ravel(value), float)
    if len(found) not in (1, len(flat)):
        return [*range(len(flat) if pointwise else 1)]
    size = np.abs(flat)
    counts = (size <= GREATEST) & ~((size > 0) & (size < LEAST))
    scale = size if pointwise else size[np.isfinite(size)].max(initial=0)
    with np.errstate(all="ignore"):
        right = np.abs(found - flat) <= np.maximum(NEAR * scale, LEAST)
    wrong = [int(i) for i in np.flatnonzero(counts & ~right)]
    return wrong if pointwise else [0][: len(wrong)]
