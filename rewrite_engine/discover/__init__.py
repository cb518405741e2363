"""Rules that are found: `discover` lists equalities between small terms that are true, that the
rules there are do not make, and that would pay.

    space.py       what terms are made of; subjects.py: the shipped spaces
    grow.py        all terms of a space, in classes of equal values
    judge.py       how often a term is wrong today, and what it costs
    choose.py      rules for the terms that another one of their class is better than
    arithmetic.py  terms that are one sum or product in other spellings
    claims.py      which claim a rule keeps
    source.py      the rules as a pack

Values are compared, not proved: read what was found, check it (`rewrite_engine.check`), and take
what a user may write.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from rewrite_engine.discover.choose import Chooser, ChosenRules, FoundRule, propose
from rewrite_engine.discover.claims import OF_ARRAYS, OF_NUMBERS, with_claim
from rewrite_engine.discover.grow import Enumeration, grow
from rewrite_engine.discover.judge import Judge
from rewrite_engine.discover.source import gain_of, pack_source, text_of
from rewrite_engine.discover.space import Space, TermMaker, maker
from rewrite_engine.discover.subjects import SUBJECTS
from rewrite_engine.errors import UnknownNameError, did_you_mean
from rewrite_engine.match.claim import Claim

__all__ = ["Discovery", "TermMaker", "Space", "SpaceReport", "discover", "maker"]


@dataclass(frozen=True)
class SpaceReport:
    """Result for one space. terms: the enumerated terms, in classes of equal values. better: the
    number of terms for which their class has a better one. choice: the rules. seconds: the time.
    """

    terms: Enumeration
    better: int
    choice: ChosenRules
    seconds: float

    def __str__(self) -> str:
        choice, space = self.choice, self.terms.space
        facts = {f.name for some in space.variables.values() for f in some}
        known = f" ({', '.join(sorted(facts))})" if facts else ""
        counts = [f"{n} {why}" for why, n in sorted(choice.counts.items())]
        counts += [f"{len(choice.refused)} refused"] if choice.refused else []
        counts += [f"{choice.left} not looked at"] if choice.left else []
        stopped = f" ({self.terms.stopped})" if self.terms.stopped else ""
        unused = [f"\n  {name} made no term: {why}" for name, why in self.terms.unused.items()]
        return (
            f"{space.name}{known}: {self.terms.tried} terms{stopped}, {len(self.terms.classes)} "
            f"classes, {self.better} with a better term: {len(choice.accepted)} rules"
            f"{''.join(f', {c}' for c in counts)}; {self.seconds:.0f} s"
            f"{''.join(unused)}"
        )


@dataclass
class Discovery:
    """Answer of `discover`. spaces: what was found in each."""

    spaces: list[SpaceReport] = field(default_factory=list)

    @property
    def found(self) -> list[FoundRule]:
        """Rules that were found, in the order of the spaces, small ones first."""
        return [one for report in self.spaces for one in report.choice.accepted]

    @property
    def rules(self) -> list[Any]:
        """The rules, for a mode: `Mode() + discovery.rules[0]`."""
        return [one.rule for one in self.found]

    def source(self) -> str:
        """Return a pack with the rules, to be read and cut by a person."""
        return pack_source(self.found)

    def __str__(self) -> str:
        lines = list[str]()
        for report in self.spaces:
            lines.append(str(report))
            lines += [f"  {line_of(one)}" for one in report.choice.accepted]
        return "\n".join(lines)


def line_of(one: FoundRule) -> str:
    """Return a rule on one line, with what it gains."""
    p = one.proposal
    gain = gain_of(p)
    given = f", given {' and '.join(one.conditions)}" if one.conditions else ""
    sides = f"{text_of(p.left)} >> {text_of(p.right)}"
    return f"{sides}{given}: {gain} ({one.rule.claim})"


def discover(
    *what: str | Space,
    size: int | None = None,
    terms: int = 100_000,
    seconds: float = 60.0,
    rules: Iterable[Any] = (),
    claims: bool = True,
) -> Discovery:
    """Return rules that are missing, by subjects or spaces.

    what: names of shipped spaces (`SUBJECTS`), or spaces of your own. size: the largest number of
    ops of a term, instead of that of the spaces. terms, seconds: limits, of each space. rules: that
    are known besides the shipped ones. claims: check each rule, and give it the strongest claim
    that it keeps. Raises `UnknownNameError`.
    """
    known, result = list(rules), Discovery()
    for space in _spaces(what):
        start = perf_counter()
        space = space if size is None else replace(space, size=size)
        grown = grow(space, terms, seconds)
        judge = Judge(space)
        proposals = propose(grown, judge)
        choice = Chooser(judge, seconds, known).run(proposals)
        if claims:
            keep_right(choice, OF_NUMBERS if space.pointwise else OF_ARRAYS)
        known += [one.rule for one in choice.accepted]
        result.spaces.append(SpaceReport(grown, len(proposals), choice, perf_counter() - start))
    return result


def keep_right(choice: ChosenRules, claims: Sequence[Claim]) -> None:
    """Give each accepted rule its claim; refuse those that keep none."""
    accepted, choice.accepted = choice.accepted, []
    for one in accepted:
        kept, why = with_claim(one, claims)
        if kept is None:
            choice.refuse(one.proposal, why)
        else:
            choice.accepted.append(kept)


def _spaces(what: Sequence[str | Space]) -> Iterable[Space]:
    """Yield the spaces that were asked for."""
    for one in what:
        if isinstance(one, Space):
            yield one
        elif one in SUBJECTS:
            yield from SUBJECTS[one]()
        else:
            raise UnknownNameError(f"no space is called {one!r}{did_you_mean(one, SUBJECTS)}")
