"""From proposals to few rules: `Chooser` makes rules of them, one by one, and drops what the
shipped rules and those before it imply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from time import perf_counter
from typing import Any

from rewrite_engine import facts, hooks, language
from rewrite_engine.discover.arithmetic import Arithmetic, agree
from rewrite_engine.discover.equality import weakest
from rewrite_engine.discover.grow import silent
from rewrite_engine.discover.judge import Judge, with_facts
from rewrite_engine.discover.proof import detours, on_numbers
from rewrite_engine.discover.propose import CHEAPER, Proposal, is_written_in, order_of
from rewrite_engine.discover.space import Facts
from rewrite_engine.errors import PatternError, RewriteEngineError
from rewrite_engine.facts import same_dtype
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.graph.traverse import ancestors, toposort
from rewrite_engine.language import rule_of
from rewrite_engine.match.claim import Claim, refines
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.equal import equal

NODES, SECONDS = 400, 0.25  # of a proof that a proposal follows from others
HARD_NODES, HARD_SECONDS = 8_000, 5.0  # of a proof that an accepted one does
RESERVED = {"pt", *language.__all__, *facts.__all__}  # names that the source of a pack imports
AT_ALL = 1.02  # the same of a term with fewer nodes


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
        given = [rule for rule in self.given if rule.phase and not isinstance(rule, Equation)]
        return [*given, *[one.rule for one in self.choice.accepted if not one.is_equation]]

    @property
    def known(self) -> list[Any]:
        """Rules and equations that are known, for proofs."""
        found = [rule for one in self.choice.accepted for rule in (one.rule, one.law)]
        return [*filter(is_data, self.given), *dict.fromkeys(found)]

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
        try:
            (before,) = self.judge.today([one.left.variable], self.rules)
        except RewriteEngineError:  # (rules that do not end with each other)
            return None
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


def is_data(rule: Any) -> bool:
    """Whether a rule can be used in a proof."""
    if isinstance(rule, Equation):
        return True
    return isinstance(rule, DataRule) and not isinstance(rule.right, Compute)


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
