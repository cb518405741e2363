"""From classes of equal terms to few rules: `propose` finds better sides, `Chooser` makes rules of
them, one by one, and drops what the shipped rules and those before it imply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, count
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine import facts, hooks, language
from rewrite_engine.discover.arithmetic import Arithmetic, agree
from rewrite_engine.discover.grow import EnumeratedTerm, Enumeration, PlainRunner, silent
from rewrite_engine.discover.judge import AT_ONCE, Judge, Judged, value_or_none, with_facts
from rewrite_engine.discover.proof import detours, on_numbers
from rewrite_engine.discover.space import Facts, Space
from rewrite_engine.errors import PatternError, RewriteEngineError
from rewrite_engine.facts import same_dtype
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import CONSTANT, Constant, Variable
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.graph.traverse import ancestors, toposort
from rewrite_engine.judge.noise import NoisyRunner, noises, within
from rewrite_engine.judge.values import TermValues
from rewrite_engine.language import rule_of
from rewrite_engine.match.claim import Claim, refines
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.equal import equal

CHEAPER = 1.25  # times, at least, or nothing is gained
AT_ALL = 1.02  # the same of a term with fewer nodes
DRAWS = range(100, 112)  # seeds of samples of other lengths, at which a proposal must hold
NODES, SECONDS = 400, 0.25  # of a proof that a proposal follows from others
HARD_NODES, HARD_SECONDS = 8_000, 5.0  # of a proof that an accepted one does
RESERVED = {"pt", *language.__all__, *facts.__all__}  # names that the source of a pack imports
CLOSE = 1e-7  # relative difference of values that are equal


class Proposal(NamedTuple):
    """A term, and a better one of its class."""

    left: EnumeratedTerm
    right: EnumeratedTerm
    before: Judged
    after: Judged

    @property
    def sides(self) -> list[Variable]:
        """The two terms of a rule: a number on the right has the shape of the left side."""
        left, right = self.plain
        if right.head is CONSTANT and right.type.ndim < left.type.ndim:
            right = pt.second(self.left.leaves[0], right)
        return [left, right]

    @property
    def plain(self) -> list[Variable]:
        """The two terms of one dtype; the right one may be a number."""
        left, right = self.left.variable, self.right.variable
        if isinstance(right, Constant):
            right = pt.constant(right.data.astype(left.type.dtype))
        return [left, right]

    @property
    def mended(self) -> int:
        """At how many elements the right side alone is right."""
        return len(self.before.wrong - self.after.wrong)

    def pays(self, saving: float) -> bool:
        """Whether the right side is nowhere worse, and mends something, or saves that much, or an
        op or a view, also in what the rules make of it.
        """
        if self.after.wrong - self.before.wrong:
            return False
        smaller = self.right.size < self.left.size and self.after.nodes < self.before.nodes
        if self.mended or (smaller and self.after.price <= self.before.price):
            return True
        return self.saving > saving

    @property
    def saving(self) -> float:
        """How many times cheaper the right side is."""
        return self.before.price / max(self.after.price, 1.0)


@dataclass(frozen=True)
class FoundRule:
    """A rule that was found, made of a proposal. guards: facts under which it holds. one_dtype:
    whether all variables must have one dtype.
    """

    rule: DataRule
    proposal: Proposal
    guards: Facts
    one_dtype: bool = False

    @cached_property
    def law(self) -> DataRule:
        """The rule for proofs: also of numbers, where the right side may be one."""
        plain = self.proposal.plain
        return self.rule if plain[1].owner is not None else law_of(plain, self.guards)

    @property
    def is_equation(self) -> bool:
        """Whether neither side is better: the rule has no phase."""
        return not self.rule.phase


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
    terms: Enumeration,
    judge: Judge,
    most: int = 6_000,
    saving: float = CHEAPER,
    equations: bool = False,
    told: Callable[[str], Any] = silent,
) -> list[Proposal]:
    """Return terms with a better one in their class, small and general ones first. most: how many
    terms are judged. saving: how many times cheaper a term must be that mends nothing. equations:
    propose terms that are as good as the first of their class, too. told: is called with a line on
    how far it is.
    """
    space = terms.space
    classes = [some for some in terms.equal if any([t.is_about(space.about) for t in some])]
    members = sorted([t for some in classes for t in some], key=lambda t: t.size)[:most]
    now: dict[EnumeratedTerm, Judged] = {}
    for start in range(0, len(members), AT_ONCE):
        told(f"{start} of {len(members)} terms judged")
        some = members[start : start + AT_ONCE]
        now.update(zip(some, judge.today([t.variable for t in some]), strict=True))
    found: list[Proposal] = []
    ops = ops_of(terms)
    for some in classes:
        known = [t for t in some if t in now]
        for left in known:
            if left.size and is_in_order(left.leaves, space):
                found += better(left, known, now, saving, ops)
        if equations:
            taken = {p.left for p in found}
            found += [p for p in as_good(known, now, space) if p.left not in taken]
    wanted = [p for p in found if any([t.is_about(space.about) for t in p[:2]])]
    return sorted(wanted, key=order_of)


def better(
    left: EnumeratedTerm,
    known: Sequence[EnumeratedTerm],
    now: dict[EnumeratedTerm, Judged],
    saving: float,
    ops: Container[Any],
) -> Iterator[Proposal]:
    """Yield the best term for a left side, if it is better. ops: those of the space."""
    fit = [t for t in known if t is not left and set(t.leaves) <= set(left.leaves)]
    if not fit:
        return
    fit = [t for t in fit if not now[t].wrong - now[left].wrong] or fit
    right = min(fit, key=lambda t: (*now[t].rank, t.size))
    one = Proposal(left, simplest(right, now[right], ops), now[left], now[right])
    same = equal_computations([one.before.form], [one.after.form])
    if one.pays(saving) and not same:
        yield one


def ops_of(terms: Enumeration) -> set[Any]:
    """Return the ops of all terms in classes of several."""
    every = [t.variable for some in terms.equal for t in some]
    return {node.op for node in toposort(every)}


def is_written_in(term: Variable, ops: Container[Any]) -> bool:
    """Whether a term consists of ops of a space, so that a person may write it."""
    return all([node.op in ops for node in toposort([term])])


def simplest(term: EnumeratedTerm, judged: Judged, ops: Container[Any]) -> EnumeratedTerm:
    """Return a term, or what the rules make of it, if that is smaller: half of x is found as
    log(sqrt(exp(x))) where there is no number 0.5.
    """
    form, size = judged.form, len(toposort([judged.form]))
    least = min(term.size, len(toposort([term.variable])))  # (parts may be shared)
    smaller = size < least and is_written_in(form, ops)
    return replace(term, variable=form, size=size, text="") if smaller else term


def as_good(
    known: Sequence[EnumeratedTerm], now: dict[EnumeratedTerm, Judged], space: Space
) -> Iterator[Proposal]:
    """Yield the first term of a class for each other one with the same variables."""
    right = known[0] if known else None
    for left in known[1:]:
        if right is None or set(right.leaves) != set(left.leaves):
            continue
        one = Proposal(left, right, now[left], now[right])
        same = equal_computations([one.before.form], [one.after.form])
        if not same and is_in_order([*right.leaves, *left.leaves], space):
            yield one


def is_in_order(leaves: Iterable[Variable], space: Space) -> bool:
    """Whether variables of one kind occur in the order of the space: others are the same term by
    other names.
    """
    occurring = [*dict.fromkeys(leaves)]
    for same in space.kinds():
        own = [v for v in occurring if v in same]
        if own != same[: len(own)]:
            return False
    return True


class Chooser:
    """Run of a choice. seconds: time limit. rules: those that are known besides the shipped.
    equations: list the laws of an algebra, without what follows from them by any proof; else rules,
    without what others do in a phase.
    """

    def __init__(
        self, judge: Judge, seconds: float, rules: Sequence[Any] = (), equations: bool = False
    ) -> None:
        self.judge, self.space, self.given = judge, judge.space, list(rules)
        self.equations = equations
        self.until = perf_counter() + seconds
        self.choice = ChosenRules()
        self.arithmetic = Arithmetic(self.space)
        self.spellings: list[list[Any]] = []  # values of the left side of each accepted rule
        self.in_part: list[DataRule] = []  # rules that hold somewhere only, or never fire
        self.ops: set[Any] = set()  # of the proposals
        self.numbers = {v: v.type.clone(shape=())(v.name) for v in self.space.variables}

    @property
    def rules(self) -> list[Any]:
        """Rules that are known, and run in a phase."""
        return [*self.given, *[one.rule for one in self.choice.accepted if not one.is_equation]]

    @property
    def known(self) -> list[Any]:
        """Rules and equations that are known, for proofs."""
        found = [rule for one in self.choice.accepted for rule in (one.rule, one.law)]
        return [*self.given, *dict.fromkeys(found)]

    def follows(self, one: Proposal, rules: Sequence[Any], hard: bool = False) -> bool:
        """Whether a proposal is proved by rules; of elementwise terms, for numbers. Rules run from
        left to right, as in a phase; in an algebra both ways. hard: try proofs that lead through
        larger terms.
        """
        if not rules:
            return False
        left, right = self.for_proofs(one)
        more = [*detours([left, right], rules)] if hard else []
        nodes, seconds = (HARD_NODES, HARD_SECONDS) if hard else (NODES, SECONDS)
        return bool(
            equal(
                left,
                right,
                rules,
                both=self.equations,
                also=more,
                node_budget=nodes,
                seconds=seconds,
            )
        )

    def for_proofs(self, one: Proposal) -> list[Variable]:
        """Return both sides, on numbers instead of arrays, if all ops take numbers."""
        if self.space.pointwise:
            with suppress(RewriteEngineError, TypeError):
                return on_numbers(with_facts(one.plain, self.space.variables), self.numbers)
        return with_facts(one.sides, self.space.variables)

    def run(
        self, proposals: Sequence[Proposal], told: Callable[[str], Any] = silent
    ) -> ChosenRules:
        """Make rules of proposals, in their order."""
        self.ops = {n.op for n in toposort([v for one in proposals for v in one.plain])}
        for i, one in enumerate(proposals):
            told(f"{i} of {len(proposals)} better terms tried")
            if perf_counter() > self.until:
                self.choice.left = len(proposals) - i
                break
            self.take(one)
        self.reduce()
        return self.choice

    def reduce(self) -> None:
        """Drop what follows from the other rules, the last ones in their order first."""
        for one in sorted(self.choice.accepted, key=lambda one: order_of(one.proposal))[::-1]:
            if perf_counter() > self.until:
                return
            rest = [rule for rule in self.known if rule not in (one.law, one.rule)]
            if self.follows(one.proposal, rest, hard=self.equations):
                self.choice.accepted.remove(one)
                self.choice.counts["derived"] += 1

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
                self.in_part.append(law_of(one.plain, self.space.variables))
            return
        judge = self.judge if guards == self.space.variables else self.judge.under(guards)
        if not judge.same(one.left.variable, one.right.variable):
            choice.refuse(one, "the true values differ far out")
            return
        self.accept(one, guards, value)

    def accept(self, one: Proposal, guards: Facts, value: Any, again: bool = True) -> None:
        """Make a rule of a proposal, in the first phase in which it does what it is for. again: if
        there is none, make one of what the known rules make of the left side.
        """
        why, rule = "", None
        for phase in phases_for(one):
            try:
                rule = self.made(one, guards, phase)
            except RewriteEngineError as error:
                self.choice.refuse(one, " ".join(str(error).split()))
                return
            why = self.trial(one, rule) if phase else ""
            if not why:
                self.choice.accepted.append(FoundRule(rule, one, guards))
                renamed = self.arithmetic.renamed(one.left.variable)
                self.spellings.append([*map(self.arithmetic.value, renamed)])
                return
        known = self.of_known(one) if again else None
        if known is not None:
            self.accept(known, guards, value, again=False)
            return
        if rule is not None:
            self.in_part.append(rule)
        self.choice.refuse(one, why)

    def of_known(self, one: Proposal) -> Proposal | None:
        """Return a proposal for what the known rules make of the left side, if it pays."""
        (before,) = self.judge.today([one.left.variable], self.rules)
        form, size = before.form, len(toposort([before.form]))
        if size > one.left.size or equal_computations([form], [one.left.variable]):
            return None
        if not (is_written_in(form, self.ops) and {*one.right.leaves} <= {*ancestors([form])}):
            return None
        left = replace(one.left, variable=form, size=size, text="")
        known = one._replace(left=left, before=before)
        return known if known.pays(CHEAPER) else None

    def implied(self, one: Proposal) -> str:
        """Return what a proposal follows from; "" if it says something new."""
        if self.follows(one, self.known) or self.is_made_equal(one):
            return "derived"
        if self.in_part and self.follows(one, [*self.known, *self.in_part]):
            return "cases of what holds in part or never fires"
        return ""

    def is_made_equal(self, one: Proposal) -> bool:
        """Whether all phases with the known rules make one term of both sides."""
        accepted = self.choice.accepted
        while running := [i for i, known in enumerate(accepted) if not known.is_equation]:
            try:
                left, right = self.forms(one, self.rules)
                return equal_computations([left], [right])
            except RewriteEngineError as error:
                last = accepted.pop(running[-1])
                del self.spellings[running[-1]]
                self.choice.refuse(last.proposal, " ".join(str(error).split()))
        return False

    def made(self, one: Proposal, guards: Facts, phase: str | None) -> DataRule:
        """Return the rule of a proposal, under a name that is not taken. Raises `RuleError`."""
        taken = {rule.short_name for rule in self.known} | RESERVED
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
        return [j.form for j in self.judge.today(one.sides, rules)]


def order_of(one: Proposal) -> tuple[int, ...]:
    """Return a key by which small, flat and general proposals come first."""
    left, right = one.left, one.right
    return left.size, depth(left.variable), -len(left.leaves), right.size, -one.mended


def depth(term: Variable) -> int:
    """Return the number of ops on the longest path to a leaf."""
    found: dict[Variable, int] = {}
    for node in toposort([term]):
        found.update(dict.fromkeys(node.outputs, 1 + max([found.get(v, 0) for v in node.inputs])))
    return found.get(term, 0)


def found_rule(
    one: Proposal,
    guards: Facts,
    phase: str | None,
    claim: Claim = refines,
    name: str = "",
    one_dtype: bool = False,
) -> DataRule:
    """Return the rule of a proposal. Raises `RuleError`."""
    left, right = with_facts(one.sides, guards)
    where = None
    if one_dtype:
        names = ", ".join([str(v.name) for v in one.left.leaves])
        where = eval(f"lambda {names}: same_dtype({names})", {"same_dtype": same_dtype})
    rule = rule_of(left, right, where=where, name=name, phase=phase, claim=claim)
    if isinstance(rule.right, Compute):
        raise rule.error(PatternError, "lengths or dtypes decide what the right side is")
    return rule


def law_of(sides: Sequence[Variable], guards: Facts) -> DataRule:
    """Return a rule without a phase. Raises `RuleError`."""
    return rule_of(*with_facts(sides, guards))


def phases_for(one: Proposal) -> tuple[str | None, ...]:
    """Return the phases in which a rule is tried, in order; for an equation, none."""
    if not one.pays(AT_ALL):
        return (None,)
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
        a, b = [value_or_none(TermValues(PlainRunner(), given), t.variable) for t in one[:2]]
        if a is None and b is None:
            continue
        if a is None or b is None:
            return False
        if space.pointwise:  # (a number stands for an array of it)
            a, b = np.broadcast_arrays(a, b)
        if not are_equal(a, b, space.pointwise, partial(under_noise, one, given)):
            return False
        compared += 1
    return compared > 0


def are_equal(a: Any, b: Any, pointwise: bool, samples: Callable[[], Any]) -> bool:
    """Whether two values are equal, up to rounding. samples: makes values of both under noise, for
    what is a difference of large parts and has few digits.
    """
    if not isinstance(a, np.ndarray | np.number) or a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)
    if np.shape(a) != np.shape(b):
        return False
    if not pointwise:
        sizes = np.abs(np.asarray(a))
        rest = CLOSE * sizes[~np.isnan(sizes)].max(initial=1e-300)
        return bool(np.allclose(a, b, rtol=CLOSE, atol=rest, equal_nan=True))
    same = np.isclose(a, b, rtol=CLOSE, atol=0, equal_nan=True)
    if not same.all():
        of_a, of_b = samples()
        same = same | within(a, b, of_a) | within(b, a, of_b)
    return bool(same.all())


def under_noise(one: Proposal, given: Mapping[Variable, Any]) -> list[list[Any]]:
    """Return values of both sides where each result of a node is moved by a unit."""
    found: list[list[Any]] = [[], []]
    for dice in noises():
        values = TermValues(NoisyRunner(PlainRunner(), dice), dict(given))
        for samples, term in zip(found, one[:2], strict=True):
            samples.append(value_or_none(values, term.variable))
    return found
