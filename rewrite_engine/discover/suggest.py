"""`suggestions`: cheaper or safer terms for small subterms of a graph. Nothing is applied.

    subterms.py    the subterms of the graph, each once
    regime.py      the space whose terms a subterm is compared with
    digits.py      how many digits of a value are right
    suggestion.py  the answer, as text and JSON

A term is better if it has the values of the subterm at samples, its true values at far points, and,
after all shipped rules, more right digits there, or a lower cost. At the end each suggestion is
tried in the whole graph: what makes no difference there is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.discover.arithmetic import Arithmetic, agree
from rewrite_engine.discover.choose import CHEAPER, Proposal, weakest
from rewrite_engine.discover.digits import right_digits
from rewrite_engine.discover.grow import EnumeratedTerm, Grower, PlainRunner
from rewrite_engine.discover.judge import Judge, Judged, value_or_none, with_facts
from rewrite_engine.discover.regime import Regime, regimes
from rewrite_engine.discover.space import Facts
from rewrite_engine.discover.subterms import Place, Subterm, is_own, key_of_term, subterms
from rewrite_engine.discover.suggestion import Suggestion, Suggestions, suggestion_of
from rewrite_engine.errors import InputError, RewriteEngineError
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import equal_computations, rebuilt
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.values import TermValues
from rewrite_engine.language import rewritten_graph
from rewrite_engine.rewrite.cost import flops, price

SIZES = (2, 3)  # the largest number of ops of the terms that are compared, one after the other
MAX_TERMS = 30_000  # of one enumeration
MAX_MEMBERS = 40  # of the terms of one value that are judged, the smallest
AT_ONCE = 20  # subterms that are judged at once
SEARCH = 0.8  # part of the time; the rest is for trials in the whole graph
GOOD, LOST = 12.0, 3.0  # right digits that are enough; a loss that counts
MIN_SAVED = 1.0  # flops an element: a term that saves no more gains nothing
LENGTH = 100  # of a vector of unspecified length, as `rewrite/cost.py` counts

#: why better terms are no suggestions
NO_CHANGE = "the rules make the same of the whole graph"
NOT_CHEAPER = "cheaper alone, but not in the whole graph"
NO_TIME = "not tried in the whole graph, for lack of time"


class Measured(NamedTuple):
    """Form of a term after all rules: its values and right digits at the far points, and its flops
    for each element.
    """

    form: Variable
    values: Any
    digits: Any
    cost: float


class Candidate(NamedTuple):
    """Better term for a subterm. guards: the facts under which both are equal, of all variables;
    needed: those of them that must be declared. truth: the true values at the far points.
    """

    subterm: Subterm
    proposal: Proposal
    before: Measured
    after: Measured
    guards: Facts
    needed: Facts
    judge: Judge
    truth: Any

    @property
    def left(self) -> EnumeratedTerm:
        """The subterm."""
        return self.proposal.left

    @property
    def right(self) -> EnumeratedTerm:
        """The better term."""
        return self.proposal.right

    @property
    def known(self) -> Facts:
        """The guards that are known."""
        return {v: () if v in self.needed else f for v, f in self.guards.items()}

    @property
    def mended(self) -> int:
        """At how many far points the better term has more right digits."""
        return int(mended(self.before, self.after).sum())


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
        self.graph = subterms(outputs)
        own = {s for s in self.graph.found if any(is_own(n.op) for n in s.nodes)}
        self.wanted = [s for s in self.graph.found if s.size > 1 or s in own]
        self.terms = 0
        self.looked_at: set[Subterm] = set()
        self.better: dict[Subterm, Candidate] = {}
        self.dropped: Counter[str] = Counter()

    def run(self) -> Suggestions:
        """Search in all regimes: first with what is known, then with signs assumed."""
        for size, is_assumed in product(SIZES, (False, True)):
            left = [s for s in self.wanted if s not in self.better]
            for one in regimes(left, self.graph.own, is_assumed):
                if perf_counter() > self.until:
                    break
                self.search(replace(one, space=replace(one.space, size=size)))
        found = [c for c in self.better.values() if self.adds(c)]
        found.sort(key=lambda c: (len(c.needed), -c.mended, c.after.cost - c.before.cost))
        return Suggestions(
            tuple(self.in_graph(found)),
            looked_at=len(self.looked_at),
            subterms=len(self.wanted),
            terms=self.terms,
            dropped=dict(self.dropped),
            inside=self.graph.inside,
            unfit=self.graph.unfit,
            limit=self.seconds,
            seconds=perf_counter() - self.start,
        )

    # --- better terms -----------------------------------------------------------------------------

    def search(self, regime: Regime) -> None:
        """Look for better terms in one regime."""
        grower = Grower(regime.space, MAX_TERMS, self.until)
        self.terms += grower.run().tried
        judge, members = Judge(regime.space), regime.members
        for i in range(0, len(members), AT_ONCE):
            some = {one: equal_terms(grower, one) for one in members[i : i + AT_ONCE]}
            if perf_counter() > self.until or not self.judge(some, regime, judge):
                return
            if regime.space.size == SIZES[0] and not regime.is_assumed:
                self.looked_at.update(some)

    def judge(
        self, some: dict[Subterm, list[EnumeratedTerm]], regime: Regime, judge: Judge
    ) -> bool:
        """Take the best of the terms that have the values of each subterm, if it is better. Return
        whether there was time for all.
        """
        facts = regime.space.variables
        terms = dict.fromkeys([t.variable for found in some.values() for t in found])
        forms = self.forms(terms, facts)
        mine = [one.term for one, found in some.items() if found or regime.is_assumed]
        today = self.forms(mine, regime.known)
        if regime.is_assumed:
            forms |= self.forms(mine, facts)
        for one, found in some.items():
            if perf_counter() > self.until:
                return False
            if one.term not in today:
                continue
            left = EnumeratedTerm(one.term, one.size, one.leaves)
            known = [left, *found] if regime.is_assumed else found
            self.take(one, known, today[one.term], forms, regime, judge)
        return True

    def take(
        self,
        one: Subterm,
        known: list[EnumeratedTerm],
        today: Variable,
        forms: dict[Variable, Variable],
        regime: Regime,
        judge: Judge,
    ) -> None:
        """Take the best term for one subterm, if it is better."""
        truth = first_truth([one.term, *[t.variable for t in known]], judge)
        before = measured(today, truth, judge)
        found = [(measured(forms[t.variable], truth, judge), t) for t in known]
        found = [(m, t) for m, t in found if pays(before, m)]
        found.sort(key=lambda pair: (-right_points(pair[0]), pair[0].cost, pair[1].size))
        left = EnumeratedTerm(one.term, one.size, one.leaves)
        for after, right in found[:3]:
            proposal = Proposal(left, right, _judged(before), _judged(after))
            guards = guards_of(proposal, regime)
            if guards is None or not judge.same(one.term, right.variable):
                continue
            if not mended(before, after).any() and is_respelled(proposal, judge):
                continue
            needed = {v: f for v, f in guards.items() if f and not regime.known[v]}
            self.better[one] = Candidate(one, proposal, before, after, guards, needed, judge, truth)
            return

    def forms(self, terms: Iterable[Variable], facts: Facts) -> dict[Variable, Variable]:
        """Return what terms are after all rules, by the terms."""
        terms = list(terms)
        if not terms:
            return {}
        found = rewritten_graph(with_facts(terms, facts), rules=self.rules).outputs
        return dict(zip(terms, found, strict=True))

    # --- in the graph -----------------------------------------------------------------------------

    def adds(self, c: Candidate) -> bool:
        """Whether a suggestion is better than those for parts of its subterm."""
        place = c.subterm.places[0]
        for other in self.better.values():
            inner = [p for p in other.subterm.places if p.nodes < place.nodes]
            if inner and len(other.needed) <= len(c.needed):
                term = self.partly(c.subterm, place, other, inner[0])
                form = self.forms([term], c.judge.space.variables)[term]
                if not pays(measured(form, c.truth, c.judge), c.after):
                    return False
        return True

    def partly(self, one: Subterm, place: Place, other: Candidate, inner: Place) -> Variable:
        """Return a subterm in which the suggestion for a part of it is applied."""
        part = at_place(other, inner)
        (whole,) = rebuilt([place.root], {inner.root: part}, False)
        back = dict(zip(place.leaves, one.leaves, strict=True))
        return rebuilt([whole], back, False)[0]

    def in_graph(self, found: Sequence[Candidate]) -> Iterator[Suggestion]:
        """Yield the suggestions that make a difference to the whole graph."""
        if not found:
            return
        end, start = self.start + self.seconds, perf_counter()
        before = self.rewritten(self.graph.outputs)
        took = perf_counter() - start
        for i, one in enumerate(found):
            if i and perf_counter() + took > end:
                self.dropped[NO_TIME] += len(found) - i
                return
            why = self.idle(one, before)
            if why:
                self.dropped[why] += 1
            else:
                yield suggestion_of(one)

    def idle(self, one: Candidate, before: list[Variable]) -> str:
        """Return why a suggestion makes no difference to the whole graph; "" if it makes one."""
        places = [p for p in one.subterm.places if fits(at_place(one, p), p.root)]
        if not places:
            return "of another type than the subterm"
        pairs = {p.root: at_place(one, p, one.needed) for p in places}
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


def equal_terms(grower: Grower, one: Subterm) -> list[EnumeratedTerm]:
    """Return the enumerated terms that have the values of a subterm, the smallest first."""
    values = grower.found(one.term)
    key = None if values is None else grower.key(one.term, values)
    mine = key_of_term(one.term)
    found = [] if key is None else grower.by_key.get(key, [])
    return [t for t in found if key_of_term(t.variable) != mine][:MAX_MEMBERS]


def first_truth(terms: Iterable[Variable], judge: Judge) -> Any:
    """Return the true values of equal terms at the far points; None if none is known."""
    for term in terms:
        found = [judge.true_value(term, at) for at in judge.truths]
        if found and None not in [x if x is None else 0 for x in found]:
            return np.concatenate([*map(np.ravel, found)])
    return None


def measured(form: Variable, truth: Any, judge: Judge) -> Measured:
    """Return the values, digits and cost of a form."""
    found = [value_or_none(TermValues(PlainRunner(), dict(far)), form) for far in judge.far]
    values = None
    if found and not any([a is None for a in found]):
        lengths = [len(next(iter(far.values()))) for far in judge.far]
        values = np.concatenate(
            [np.broadcast_to(a, n) for a, n in zip(found, lengths, strict=True)]
        )
    digits = np.array([]) if truth is None else right_digits(values, truth)
    return Measured(form, values, digits, cost_of([form]))


def cost_of(forms: Sequence[Variable]) -> float:
    """Return the flops of terms for each element, each node once."""
    return sum([price(node, flops) for node in toposort(forms)], 0.0) / LENGTH


def mended(before: Measured, after: Measured) -> Any:
    """Return at which points one form has lost digits that another has."""
    return (before.digits < GOOD) & (after.digits >= before.digits + LOST)


def right_points(one: Measured) -> int:
    """Return at how many points a form has enough digits."""
    return int((one.digits >= GOOD).sum())


def pays(before: Measured, after: Measured) -> bool:
    """Whether a form is nowhere worse than another, and mends something, or saves much."""
    if mended(after, before).any():
        return False
    saved = before.cost - after.cost
    cheaper = saved > MIN_SAVED and before.cost >= CHEAPER * after.cost
    return bool(mended(before, after).any()) or cheaper


def guards_of(proposal: Proposal, regime: Regime) -> Facts | None:
    """Return the facts under which a proposal holds, of all variables; None if it does not. If
    facts are assumed, some of these are among them: without them it was not found.
    """
    space, known = regime.space, regime.known
    if proposal.left.variable is proposal.right.variable:
        return space.variables
    guards = weakest(space, proposal)
    if guards is None or not regime.is_assumed:
        return guards
    return guards if any([f and not known[v] for v, f in guards.items()]) else space.variables


def is_respelled(proposal: Proposal, judge: Judge) -> bool:
    """Whether both sides are one sum or product in two spellings."""
    value = Arithmetic(judge.space).value
    same = proposal.left.variable is proposal.right.variable
    return not same and agree(value(proposal.left.variable), value(proposal.right.variable))


def at_place(one: Candidate, place: Place, needed: Facts | None = None) -> Variable:
    """Return the better term on the variables of a place. needed: facts that are declared there."""
    leaves = dict(zip(one.subterm.leaves, place.leaves, strict=True))
    for v, facts in (needed or {}).items():
        leaves[v] = Assume(tuple([(fact, None) for fact in facts]))(leaves[v])
    (term,) = rebuilt([one.right.variable], leaves, False)
    dtype = place.root.type.dtype
    return term if term.type.dtype == dtype else term.astype(dtype)  # type: ignore[attr-defined]


def fits(term: Variable, root: Variable) -> bool:
    """Whether a term may take the place of another."""
    return bool(term.type.dtype == root.type.dtype and term.type.ndim == root.type.ndim)


def _judged(one: Measured) -> Judged:
    wrong = frozenset(np.flatnonzero(one.digits < GOOD).tolist())
    return Judged(one.form, wrong, one.cost * LENGTH)
