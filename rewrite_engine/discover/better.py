"""Whether one term is better than another of the same value: `RegimeComparison`, of the subterms
of one regime with enumerated terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.discover.arithmetic import Arithmetic, agree
from rewrite_engine.discover.digits import right_digits
from rewrite_engine.discover.equality import holds, weakest
from rewrite_engine.discover.grow import EnumeratedTerm, PlainRunner, price_of
from rewrite_engine.discover.judge import Judge, Judged, value_or_none
from rewrite_engine.discover.propose import CHEAPER, Proposal
from rewrite_engine.discover.regime import Regime
from rewrite_engine.discover.space import Facts
from rewrite_engine.discover.subterms import Subterm
from rewrite_engine.graph.node import Variable
from rewrite_engine.judge.values import TermValues

MAX_TRIALS = 3  # of the terms that are better than a subterm, how many are checked
GOOD, LOST = 12.0, 3.0  # right digits that are enough; a loss that counts
MIN_SAVED = 3.0  # flops an element, at least (a quotient counts 4), or nothing is gained
LENGTH = 100  # of a vector of unspecified length, as `rewrite/cost.py` counts


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
        """The subterm that a better term is known for."""
        return self.proposal.left

    @property
    def right(self) -> EnumeratedTerm:
        """The better term for the subterm."""
        return self.proposal.right

    @property
    def known(self) -> Facts:
        """The guards that are known."""
        return {v: () if v in self.needed else f for v, f in self.guards.items()}

    @property
    def mended(self) -> int:
        """At how many far points the better term has more right digits."""
        return int(mended(self.before, self.after).sum())


class RegimeComparison:
    """Comparison of the subterms of a regime with terms of equal values. today: the forms of the
    subterms, with the facts that are known; forms: those of all terms, in the regime.
    """

    def __init__(self, regime: Regime, rules: Sequence[Any]) -> None:
        self.regime, self.rules = regime, rules
        self.judge = Judge(regime.space)
        self.today: dict[Variable, Variable] = {}
        self.forms: dict[Variable, Variable] = {}

    def rewrite(self, some: Mapping[Subterm, list[EnumeratedTerm]]) -> None:
        """Rewrite subterms and the terms they are compared with."""
        mine = [one.term for one, found in some.items() if found or self.regime.is_assumed]
        terms = dict.fromkeys([t.variable for found in some.values() for t in found])
        self.today |= forms_of(mine, self.judge.under(self.regime.known), self.rules)
        self.forms |= forms_of([*terms, *mine], self.judge, self.rules)

    def best(self, one: Subterm, found: Sequence[EnumeratedTerm]) -> Candidate | None:
        """Return the best of the terms with the values of a subterm, if it is better."""
        if one.term not in self.today:
            return None
        judge, left = self.judge, EnumeratedTerm(one.term, one.size, one.leaves)
        terms = [left, *found] if self.regime.is_assumed else found
        truth = first_truth([one.term, *[t.variable for t in terms]], judge)
        before = measured(self.today[one.term], truth, judge)
        ranked = [(measured(self.forms[t.variable], truth, judge), t) for t in terms]
        ranked = [(m, t) for m, t in ranked if pays(before, m)]
        ranked.sort(key=lambda pair: (-right_points(pair[0]), pair[0].cost, pair[1].size))
        for after, right in ranked[:MAX_TRIALS]:
            proposal = Proposal(left, right, _judged(before), _judged(after))
            guards = self.guards(proposal)
            if guards is None or not judge.same(one.term, right.variable):
                continue
            if self.is_respelled(proposal):
                return None
            needed = {v: f for v, f in guards.items() if f and not self.regime.known[v]}
            return Candidate(one, proposal, before, after, guards, needed, judge, truth)
        return None

    def guards(self, proposal: Proposal) -> Facts | None:
        """Return the facts under which a proposal holds, of all variables; None if it does not."""
        if not self.regime.is_assumed:
            return weakest(self.regime.space, proposal)
        facts = self.regime.space.variables
        if not holds(self.regime.space, proposal, facts):
            return None
        chosen = next((f for f in self.assumptions() if self.is_better(proposal, f)), facts)
        known = weakest(replace(self.regime.space, variables=chosen), proposal) or chosen
        return {v: f if self.regime.known[v] else chosen[v] for v, f in known.items()}

    def assumptions(self) -> Iterable[Facts]:
        """Yield facts of variables that assume less than those of the space, few first."""
        facts, known = self.regime.space.variables, self.regime.known
        assumed = [v for v, f in facts.items() if f and not known[v]]
        for n in range(1, len(assumed)):
            for chosen in combinations(assumed, n):
                yield {v: facts[v] if v in chosen else known[v] for v in facts}

    def is_better(self, proposal: Proposal, facts: Facts) -> bool:
        """Whether the right side of a proposal is also better where less is assumed."""
        left, right = proposal.left.variable, proposal.right.variable
        judge = self.judge.under(facts)
        truth = first_truth([left, right], judge)
        before = measured(self.today[left], truth, judge)
        after = measured(forms_of([right], judge, self.rules)[right], truth, judge)
        return (
            pays(before, after) and holds(judge.space, proposal, facts) and judge.same(left, right)
        )

    def is_respelled(self, proposal: Proposal) -> bool:
        """Whether both sides are one sum or product in two spellings."""
        left, right = proposal.left.variable, proposal.right.variable
        value = Arithmetic(self.regime.space).value
        return left is not right and agree(value(left), value(right))


def forms_of(
    terms: Iterable[Variable], judge: Judge, rules: Sequence[Any]
) -> dict[Variable, Variable]:
    """Return what terms are after all rules, each by itself, by the terms."""
    terms = list(terms)
    return dict(zip(terms, judge.rewritten(terms, rules), strict=True)) if terms else {}


def first_truth(terms: Iterable[Variable], judge: Judge) -> Any:
    """Return the true values of equal terms at the far points; None if none is known."""
    for term in terms:
        found = [judge.true_value(term, at) for at in judge.truths]
        if found and not any([x is None for x in found]):
            return np.concatenate([*map(np.ravel, found)])
    return None


def measured(form: Variable, truth: Any, judge: Judge) -> Measured:
    """Return the values, digits and cost of a form."""
    found = [value_or_none(TermValues(PlainRunner(), dict(far)), form) for far in judge.far]
    values = None
    if found and not any([a is None for a in found]):
        lengths = [len(next(iter(far.values()))) for far in judge.far]
        parts = [np.broadcast_to(a, n) for a, n in zip(found, lengths, strict=True)]
        values = np.concatenate(parts)
    digits = np.array([]) if truth is None else right_digits(values, truth)
    return Measured(form, values, digits, cost_of([form]))


def cost_of(forms: Sequence[Variable]) -> float:
    """Return the flops of terms for each element, each node once."""
    return price_of(*forms) / LENGTH


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
    cheaper = saved >= MIN_SAVED and before.cost >= CHEAPER * after.cost
    return bool(mended(before, after).any()) or cheaper


def is_better(one: Measured, other: Measured) -> bool:
    """Whether a form is nowhere worse than another, and takes at least an op less."""
    return one.cost + 0.5 < other.cost and not mended(one, other).any()


def _judged(one: Measured) -> Judged:
    wrong = frozenset(np.flatnonzero(one.digits < GOOD).tolist())
    return Judged(one.form, wrong, one.cost * LENGTH)
