"""`suggestions`: cheaper or safer terms for small subterms of a graph. Nothing is applied.

    subterms.py    the subterms of the graph, each once
    regime.py      the space whose terms a subterm is compared with
    better.py      whether one of them is better than the subterm
    digits.py      how many digits of a value are right
    suggestion.py  the answer, as text and JSON

A term is better if it has the values of the subterm at samples, and its true values at far points,
and if after all rules it has more right digits there, or a lower cost. At the end each suggestion
is tried in the whole graph: what makes no difference there is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from rewrite_engine.discover.arithmetic import ARITHMETIC
from rewrite_engine.discover.better import (
    Candidate,
    RegimeComparison,
    cost_of,
    forms_of,
    is_better,
    measured,
    pays,
)
from rewrite_engine.discover.grow import EnumeratedTerm, Grower
from rewrite_engine.discover.regime import Regime, regimes
from rewrite_engine.discover.space import Facts
from rewrite_engine.discover.subterms import Subterm, SubtermPlace, is_own, key_of_term, subterms
from rewrite_engine.discover.suggestion import Suggestions, TermSuggestion, suggestion_of
from rewrite_engine.errors import InputError, RewriteEngineError
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import equal_computations, rebuilt
from rewrite_engine.language import rewritten_graph

__all__ = ["TermSuggestion", "Suggestions", "suggestions"]

SMALL, LARGE = 2, 3  # the largest number of ops of the terms that a subterm is compared with
MAX_TERMS = 30_000  # of one enumeration
MAX_MEMBERS = 40  # of the terms of one value that are judged, the smallest
AT_ONCE = 20  # subterms that are judged at once
COLLECT = 0.3  # part of the time in which subterms are collected
SEARCH = 0.8  # part of the time; the rest is for trials in the whole graph
LARGER = 0.25  # part of the time for terms of `LARGE` ops

#: why better terms are no suggestions
NO_CHANGE = "the rules make the same of the whole graph"
NOT_CHEAPER = "cheaper alone, but not in the whole graph"
NO_TIME = "not tried in the whole graph, for lack of time"
OTHER_TYPE = "of another type than the subterm"


def suggestions(
    outputs: Variable | Sequence[Variable], seconds: float = 60.0, rules: Iterable[Any] = ()
) -> Suggestions:
    """Return better terms for small subterms of a graph.

    outputs: the graph, one variable or several. seconds: time limit, of everything. rules: applied
    besides the shipped ones. Raises `InputError` for other things.
    """
    graph = [outputs] if isinstance(outputs, Variable) else list(outputs)
    if not all([isinstance(v, Variable) for v in graph]):
        raise InputError(f"suggestions takes variables of a graph, not {outputs!r}")
    if not seconds > 0:
        raise InputError(f"seconds must be a positive number, not {seconds!r}")
    return Searcher(graph, seconds, list(rules)).run()


class Searcher:
    """Run of a search for better terms."""

    def __init__(self, outputs: list[Variable], seconds: float, rules: list[Any]) -> None:
        self.start, self.seconds, self.rules = perf_counter(), seconds, rules
        self.until = self.start + SEARCH * seconds
        self.graph = subterms(outputs, self.start + COLLECT * seconds)
        own = {s for s in self.graph.found if any(is_own(n.op) for n in s.nodes)}
        wanted = [s for s in self.graph.found if s.size > 1 or s in own]
        self.wanted = sorted(wanted, key=lambda s: -functions_of(s))
        self.terms = 0
        self.looked_at: set[Subterm] = set()
        self.better: dict[Subterm, Candidate] = {}
        self.left_out: Counter[str] = Counter()

    def run(self) -> Suggestions:
        """Search with what is known, then with signs assumed, then among larger terms."""
        self.compare(self.wanted, SMALL, False)
        special = [s for s in self.wanted if functions_of(s)]
        self.compare(special, SMALL, True)
        self.until = min(self.until, perf_counter() + LARGER * self.seconds)
        self.compare([s for s in special if len(s.leaves) == 1], LARGE, False)
        found = self.chosen()
        found.sort(key=lambda c: (len(c.needed), -c.mended, c.after.cost - c.before.cost))
        return Suggestions(
            tuple(self.in_graph(found)),
            looked_at=len(self.looked_at),
            subterms=len(self.wanted),
            terms=self.terms,
            left_out=dict(self.left_out),
            inside=self.graph.inside,
            unfit=self.graph.unfit,
            skipped=self.graph.skipped,
            limit=self.seconds,
            seconds=perf_counter() - self.start,
        )

    # --- better terms -----------------------------------------------------------------------------

    def compare(self, some: Sequence[Subterm], size: int, is_assumed: bool) -> None:
        """Compare subterms for which nothing is found yet with the terms of up to a size."""
        rest = [s for s in some if s not in self.better]
        for one in regimes(rest, self.graph.own, is_assumed):
            if perf_counter() > self.until:
                return
            self.search(replace(one, space=replace(one.space, size=size)))

    def search(self, regime: Regime) -> None:
        """Look for better terms in one regime."""
        grower = Grower(regime.space, MAX_TERMS, self.until)
        self.terms += grower.run().tried
        comparison, members = RegimeComparison(regime, self.rules), regime.members
        for i in range(0, len(members), AT_ONCE):
            some = {one: equal_terms(grower, one) for one in members[i : i + AT_ONCE]}
            if perf_counter() > self.until:
                return
            comparison.rewrite(some)
            for one, found in some.items():
                if perf_counter() > self.until:
                    return
                best = comparison.best(one, found)
                self.looked_at.add(one)
                if best is not None:
                    self.better[one] = best

    # --- in the graph -----------------------------------------------------------------------------

    def chosen(self) -> list[Candidate]:
        """Return the suggestions that say more than others, for subterms with common nodes."""
        small_first = sorted(self.better.values(), key=lambda c: c.subterm.size)
        dropped: set[Subterm] = set()
        for i, large in enumerate(small_first):
            for small in small_first[:i]:
                if small.subterm not in dropped and len(small.needed) <= len(large.needed):
                    dropped |= self.idle_one(large, small)
        return [c for c in small_first if c.subterm not in dropped]

    def idle_one(self, large: Candidate, small: Candidate) -> set[Subterm]:
        """Return which of two suggestions says nothing more, if one is for a part of the other."""
        place = large.subterm.places[0]
        inner = [p for p in small.subterm.places if p.nodes < place.nodes]
        if not inner:
            return set()
        term = partly(large.subterm, place, small, inner[0])
        form = forms_of([term], large.judge, self.rules)[term]
        both = measured(form, large.truth, large.judge)
        if len(large.needed) > len(small.needed) or not is_better(large.after, both):
            return set() if pays(both, large.after) else {large.subterm}
        return {small.subterm} if covers(large, small) else set()

    def in_graph(self, found: Sequence[Candidate]) -> Iterator[TermSuggestion]:
        """Yield the suggestions that make a difference to the whole graph."""
        if not found:
            return
        end, start = self.start + self.seconds, perf_counter()
        before = self.rewritten(self.graph.outputs)
        took = perf_counter() - start
        for i, one in enumerate(found):
            if i and perf_counter() + took > end:
                self.left_out[NO_TIME] += len(found) - i
                return
            why = self.idle(one, before)
            if why:
                self.left_out[why] += 1
            else:
                yield suggestion_of(one)

    def idle(self, one: Candidate, before: list[Variable]) -> str:
        """Return why a suggestion makes no difference to the whole graph; "" if it makes one."""
        terms = {p.root: at_place(one, p, one.needed) for p in one.subterm.places}
        pairs = {root: term for root, term in terms.items() if fits(term, root)}
        if not pairs:
            return OTHER_TYPE
        try:
            after = self.rewritten(rebuilt(self.graph.outputs, pairs, False))
        except RewriteEngineError as error:
            return f"the graph with it fails: {type(error).__name__}"
        if equal_computations(before, after):
            return NO_CHANGE
        if not one.mended and cost_of(before) <= cost_of(after):
            return NOT_CHEAPER
        return ""

    def rewritten(self, outputs: list[Variable]) -> list[Variable]:
        """Return a graph after all rules."""
        return list(rewritten_graph(outputs, rules=self.rules).outputs)


# --- terms ----------------------------------------------------------------------------------------


def functions_of(one: Subterm) -> int:
    """Return how many ops of a subterm are no sums, products or quotients."""
    return len([n for n in one.nodes if str(getattr(n.op, "scalar_op", "")) not in ARITHMETIC])


def equal_terms(grower: Grower, one: Subterm) -> list[EnumeratedTerm]:
    """Return the enumerated terms that have the values of a subterm, the smallest first."""
    values = grower.found(one.term)
    key = None if values is None else grower.key(one.term, values)
    mine = key_of_term(one.term)
    found = [] if key is None else grower.by_key.get(key, [])
    return [t for t in found if key_of_term(t.variable) != mine][:MAX_MEMBERS]


def at_place(one: Candidate, place: SubtermPlace, needed: Facts | None = None) -> Variable:
    """Return the better term on the variables of a place. needed: facts that are declared there."""
    leaves = dict(zip(one.subterm.leaves, place.leaves, strict=True))
    for v, facts in (needed or {}).items():
        leaves[v] = Assume(tuple([(fact, None) for fact in facts]))(leaves[v])
    (term,) = rebuilt([one.right.variable], leaves, False)
    dtype = place.root.type.dtype
    return term if term.type.dtype == dtype else term.astype(dtype)  # type: ignore[attr-defined]


def partly(one: Subterm, place: SubtermPlace, other: Candidate, inner: SubtermPlace) -> Variable:
    """Return a subterm in which the suggestion for a part of it is applied."""
    (whole,) = rebuilt([place.root], {inner.root: at_place(other, inner)}, False)
    return rebuilt([whole], dict(zip(place.leaves, one.leaves, strict=True)), False)[0]


def covers(large: Candidate, small: Candidate) -> bool:
    """Whether all places of one subterm are parts of places of another."""
    whole = [p.nodes for p in large.subterm.places]
    return all([any([q.nodes < nodes for nodes in whole]) for q in small.subterm.places])


def fits(term: Variable, root: Variable) -> bool:
    """Whether a term may take the place of another."""
    return bool(term.type.dtype == root.type.dtype and term.type.ndim == root.type.ndim)
