"""From classes of equal terms to few rules: `propose` finds better sides, `Chooser` makes rules of
them, one by one, and drops what the shipped rules and those before it imply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations, count
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine import hooks
from rewrite_engine.discover.arithmetic import Arithmetic, agree
from rewrite_engine.discover.grow import EnumeratedTerm, Enumeration, PlainRunner
from rewrite_engine.discover.judge import Judge, Judged, value_or_none, with_facts
from rewrite_engine.discover.space import Facts, Space
from rewrite_engine.errors import PatternError, RewriteEngineError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.judge.values import TermValues
from rewrite_engine.language import rule_of
from rewrite_engine.match.claim import Claim, refines
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.equal import equal

CHEAPER = 1.25  # times, at least, or nothing is gained
AT_ALL = 1.02  # the same of a term with fewer ops
DRAWS = range(100, 112)  # seeds of samples of other lengths, at which a proposal must hold
NODES, SECONDS = 400, 0.25  # of a proof that a proposal follows from others
CLOSE = 1e-7  # relative difference of values that are equal


class Proposal(NamedTuple):
    """A term, and a better one of its class."""

    left: EnumeratedTerm
    right: EnumeratedTerm
    before: Judged
    after: Judged

    @property
    def mended(self) -> int:
        """At how many elements the right side alone is right."""
        return len(self.before.wrong - self.after.wrong)

    def pays(self, saving: float) -> bool:
        """Whether the right side is nowhere worse, and mends something, or saves that much, or an
        op, or a view.
        """
        if self.after.wrong - self.before.wrong:
            return False
        smaller = self.right.size < self.left.size
        fewer = smaller and self.after.nodes < self.before.nodes
        if self.mended or (fewer and self.after.price <= self.before.price):
            return True
        return self.saving > (AT_ALL if smaller else saving)

    @property
    def saving(self) -> float:
        """How many times cheaper the right side is."""
        return self.before.price / max(self.after.price, 1.0)


@dataclass(frozen=True)
class FoundRule:
    """A rule that was found: made of a proposal, with the facts that are its guards."""

    rule: DataRule
    proposal: Proposal
    guards: Facts

    @property
    def conditions(self) -> list[str]:
        """Guards as they are written."""
        return [f"{fact.name}({v})" for v, facts in self.guards.items() for fact in facts]


@dataclass
class ChosenRules:
    """Rules that were accepted. refused: proposals that make no rule, with the reason. counts: how
    many say nothing new, and why. left: how many were not looked at.
    """

    accepted: list[FoundRule] = field(default_factory=list)
    refused: list[tuple[Proposal, str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    left: int = 0

    def refuse(self, one: Proposal, why: str) -> None:
        """Record why a proposal makes no rule."""
        self.refused.append((one, why))


def propose(
    terms: Enumeration, judge: Judge, most: int = 6_000, saving: float = CHEAPER
) -> list[Proposal]:
    """Return terms with a better one in their class, small and general ones first. most: how many
    terms are judged. saving: how many times cheaper a term must be that mends nothing.
    """
    space = terms.space
    members = sorted([t for some in terms.equal for t in some], key=lambda t: t.size)[:most]
    judged = judge.today([t.variable for t in members])
    now = dict(zip(members, judged, strict=True))
    found: list[Proposal] = []
    for some in terms.equal:
        known = [t for t in some if t in now]
        for left in known:
            if left.size and is_in_order(left, space):
                found += better(left, known, now, saving)
    return sorted(found, key=lambda p: (p.left.size, p.right.size, -len(p.left.leaves), -p.mended))


def better(
    left: EnumeratedTerm,
    known: Sequence[EnumeratedTerm],
    now: dict[EnumeratedTerm, Judged],
    saving: float,
) -> Iterator[Proposal]:
    """Yield the best term for a left side, if it is better."""
    fit = [t for t in known if t is not left and set(t.leaves) <= set(left.leaves)]
    if not fit:
        return
    fit = [t for t in fit if not now[t].wrong - now[left].wrong] or fit
    right = min(fit, key=lambda t: (*now[t].rank, t.size))
    one = Proposal(left, right, now[left], now[right])
    same = equal_computations([one.before.form], [one.after.form])
    if one.pays(saving) and not same:
        yield one


def is_in_order(term: EnumeratedTerm, space: Space) -> bool:
    """Whether variables of one kind occur in the order of the space: others are the same term by
    other names.
    """
    for same in space.kinds():
        own = [v for v in term.leaves if v in same]
        if own != same[: len(own)]:
            return False
    return True


class Chooser:
    """Run of a choice. seconds: time limit. rules: those that are known besides the shipped."""

    def __init__(self, judge: Judge, seconds: float, rules: Sequence[Any] = ()) -> None:
        self.judge, self.space, self.given = judge, judge.space, list(rules)
        self.until = perf_counter() + seconds
        self.choice = ChosenRules()
        self.arithmetic = Arithmetic(self.space)
        self.spellings: list[list[Any]] = []  # values of the left side of each accepted rule
        self.in_part: list[DataRule] = []  # rules that hold somewhere only, or never fire

    @property
    def rules(self) -> list[Any]:
        """Rules that are known."""
        return [*self.given, *[one.rule for one in self.choice.accepted]]

    def run(self, proposals: Sequence[Proposal]) -> ChosenRules:
        """Make rules of proposals, in their order."""
        for i, one in enumerate(proposals):
            if perf_counter() > self.until:
                self.choice.left = len(proposals) - i
                break
            self.take(one)
        return self.choice

    def take(self, one: Proposal) -> None:
        """Accept a proposal as a rule, or say why not."""
        choice, value = self.choice, self.arithmetic.value(one.left.variable)
        if agree(value, self.arithmetic.value(one.right.variable)):
            choice.counts["arithmetic"] += 1
            return
        if any([agree(value, other) for values in self.spellings for other in values]):
            choice.counts["other spellings"] += 1
            return
        why = self.implied(one)
        if why:
            choice.counts[why] += 1
            return
        guards = weakest(self.space, one)
        if guards is None:
            choice.refuse(one, "it does not hold at other samples")
            with suppress(RewriteEngineError):
                self.in_part.append(self.made(one, self.space.variables, "specialize"))
            return
        judge = self.judge if guards == self.space.variables else self.judge.under(guards)
        if not judge.same(one.left.variable, one.right.variable):
            choice.refuse(one, "the true values differ far out")
            return
        self.accept(one, guards, value)

    def accept(self, one: Proposal, guards: Facts, value: Any) -> None:
        """Make a rule of a proposal, in the first phase in which it does what it is for."""
        why, rule = "", None
        for phase in phases_for(one):
            try:
                rule = self.made(one, guards, phase)
            except RewriteEngineError as error:
                self.choice.refuse(one, " ".join(str(error).split()))
                return
            why = self.trial(one, rule)
            if not why:
                self.choice.accepted.append(FoundRule(rule, one, guards))
                renamed = self.arithmetic.renamed(one.left.variable)
                self.spellings.append([*map(self.arithmetic.value, renamed)])
                return
        if rule is not None:
            self.in_part.append(rule)
        self.choice.refuse(one, why)

    def implied(self, one: Proposal) -> str:
        """Return what a proposal follows from; "" if it says something new."""
        both = [one.left.variable, one.right.variable]
        left, right = with_facts(both, self.space.variables)
        if self.rules and equal(left, right, self.rules, node_budget=NODES, seconds=SECONDS):
            return "derived"
        if self.is_made_equal(one):
            return "derived"
        known = [*self.rules, *self.in_part]
        if self.in_part and equal(left, right, known, node_budget=NODES, seconds=SECONDS):
            return "cases of what holds in part or never fires"
        return ""

    def is_made_equal(self, one: Proposal) -> bool:
        """Whether all phases with the known rules make one term of both sides."""
        while self.choice.accepted:
            try:
                left, right = self.forms(one, self.rules)
                return equal_computations([left], [right])
            except RewriteEngineError as error:
                last = self.choice.accepted.pop()
                self.spellings.pop()
                self.choice.refuse(last.proposal, " ".join(str(error).split()))
        return False

    def made(self, one: Proposal, guards: Facts, phase: str) -> DataRule:
        """Return the rule of a proposal, under a name that is not taken. Raises `RuleError`."""
        taken = {known.rule.short_name for known in self.choice.accepted}
        rule = found_rule(one, guards, phase)
        if rule.short_name not in taken:
            return rule
        names = (f"{rule.short_name}_{n}" for n in count(2))
        return found_rule(one, guards, phase, name=next(n for n in names if n not in taken))

    def trial(self, one: Proposal, rule: DataRule) -> str:
        """Return why a rule does not do what it is for; "" if it does."""
        try:
            left, right = self.forms(one, [*self.rules, rule])
        except RewriteEngineError as error:
            return " ".join(str(error).split())
        if equal_computations([left], [right]):
            return ""
        texts = hooks.short(left), hooks.short(right)
        return f"in the phase {rule.phase} the left side becomes {texts[0]}, the right {texts[1]}"

    def forms(self, one: Proposal, rules: Sequence[Any]) -> list[Variable]:
        """Return what both sides are after all shipped rules and others. Raises `RuleError`s."""
        return [j.form for j in self.judge.today([one.left.variable, one.right.variable], rules)]


def found_rule(
    one: Proposal, guards: Facts, phase: str, claim: Claim = refines, name: str = ""
) -> DataRule:
    """Return the rule of a proposal. Raises `RuleError`."""
    left, right = with_facts([one.left.variable, one.right.variable], guards)
    rule = rule_of(left, right, name=name, phase=phase, claim=claim)
    if isinstance(rule.right, Compute):
        raise rule.error(PatternError, "lengths or dtypes decide what the right side is")
    return rule


def phases_for(one: Proposal) -> tuple[str, ...]:
    """Return the phases in which a rule is tried, in order."""
    if one.mended > 0:
        return "stabilize", "canonicalize", "specialize"
    return "canonicalize", "stabilize", "specialize"


def weakest(space: Space, one: Proposal) -> Facts | None:
    """Return the weakest facts of variables under which both sides have equal values; None if they
    differ in any case.
    """
    every = [(v, fact) for v in one.left.leaves for fact in space.variables[v]]
    for n in range(len(every) + 1):
        for chosen in combinations(every, n):
            facts = {v: tuple([f for w, f in chosen if w is v]) for v in space.variables}
            if holds(space, one, facts):
                return facts
    return None


def holds(space: Space, one: Proposal, facts: Facts) -> bool:
    """Whether both sides have equal values at new samples of variables with these facts."""
    compared = 0
    for seed in DRAWS:
        try:
            given = dict(space.draw(seed, facts))
        except (ValueError, ArithmeticError):
            continue
        values = TermValues(PlainRunner(), given)
        a, b = [value_or_none(values, t.variable) for t in (one.left, one.right)]
        if a is None and b is None:
            continue
        if a is None or b is None or not are_equal(a, b, space.pointwise):
            return False
        compared += 1
    return compared > 0


def are_equal(a: Any, b: Any, pointwise: bool) -> bool:
    """Whether two values are equal, up to rounding."""
    if not isinstance(a, np.ndarray | np.number) or a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)
    if pointwise:  # (a number stands for an array of it)
        a, b = np.broadcast_arrays(a, b)
    if np.shape(a) != np.shape(b):
        return False
    largest = 1e-300 if pointwise else np.max(np.abs(a[~np.isnan(a)]), initial=1e-300)
    return bool(np.allclose(a, b, rtol=CLOSE, atol=CLOSE * largest, equal_nan=True))
