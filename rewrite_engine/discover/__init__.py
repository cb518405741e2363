"""Rules that are found: `discover` lists equalities between small terms that are true, that the
rules there are do not make, and that would pay.

    space.py       what terms are made of; subjects.py: the shipped spaces
    grow.py        all terms of a space, in classes of equal values
    judge.py       how often a term is wrong today, and what it costs
    propose.py     pairs of equal terms of which one is better
    equality.py    whether a pair is equal at new samples, and under which facts
    proof.py       what helps to prove that a rule follows from others
    choose.py      rules of these pairs, without what follows from others
    arithmetic.py  terms that are one sum or product in other spellings
    claims.py      which claim a rule keeps
    gain.py        what a rule gains: digits, flops
    corpus.py      how often its left side is met
    source.py      the rules as a pack; report.py: as lines, JSON and HTML
    kept.py        a folder with finished spaces

Values are compared, not proved: read what was found, check it (`rewrite_engine.check`), and take
what a user may write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from rewrite_engine.discover.choose import Chooser, ChosenRules, FoundRule
from rewrite_engine.discover.claims import OF_ARRAYS, OF_NUMBERS, with_claim
from rewrite_engine.discover.corpus import Corpus, corpus_of
from rewrite_engine.discover.gain import gain_of
from rewrite_engine.discover.grow import grow, silent
from rewrite_engine.discover.judge import Judge
from rewrite_engine.discover.kept import KeptSpaces
from rewrite_engine.discover.propose import propose
from rewrite_engine.discover.report import (
    RuleRecord,
    SpaceRecord,
    as_html,
    as_json,
    pack_of,
    page,
    refused_record,
    rule_record,
)
from rewrite_engine.discover.space import Space, TermMaker, maker
from rewrite_engine.discover.subjects import SUBJECTS
from rewrite_engine.errors import UnknownNameError, did_you_mean
from rewrite_engine.match.claim import Claim, refines

__all__ = [
    "Corpus",
    "Discovery",
    "RuleRecord",
    "Space",
    "SpaceRecord",
    "TermMaker",
    "corpus_of",
    "discover",
    "maker",
]


@dataclass
class Discovery:
    """Answer of `discover`. spaces: what was found in each. rules: the rules, for a mode, as in
    `Mode() + discovery.rules[0]`. found: the same with the terms that they were made of, without
    those that were read from a folder. stopped: why it ended early, or "".
    """

    spaces: list[SpaceRecord] = field(default_factory=list)
    rules: list[Any] = field(default_factory=list)
    found: list[FoundRule] = field(default_factory=list)
    stopped: str = ""

    @property
    def records(self) -> list[RuleRecord]:
        """Records of all rules; those that are met most often first, if there is a corpus."""
        return sorted([r for one in self.spaces for r in one.rules], key=lambda r: -(r.met or 0))

    def source(self) -> str:
        """Return a pack with the rules, to be read and cut by a person."""
        return pack_of(self.records)

    def json(self) -> str:
        """Return all that is known, as JSON."""
        return as_json(self.spaces)

    def html(self) -> str:
        """Return a page for the browser, with formulas."""
        return page(self.spaces)

    def _repr_html_(self) -> str:
        return as_html(self.spaces)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.spaces), *([self.stopped] if self.stopped else [])])


def discover(
    *what: str | Space,
    size: int | None = None,
    terms: int = 100_000,
    seconds: float = 60.0,
    rules: Iterable[Any] = (),
    excluding: Iterable[str] = (),
    claims: bool = True,
    equations: bool = False,
    corpus: Corpus | None = None,
    keep: Path | str | None = None,
    told: Callable[[str], Any] = silent,
) -> Discovery:
    """Return rules that are missing, by subjects or spaces.

    what: names of shipped spaces (`SUBJECTS`), or spaces of your own. size: the largest number of
    ops of a term, instead of that of the spaces. terms, seconds: limits, of each space. rules: that
    are known besides the shipped ones. excluding: names of shipped rules or packs that are not
    known. claims: check each rule, and give it the strongest claim that it keeps. equations: list
    what holds between terms that are as good as each other, too, as in an algebra of your ops.
    corpus: functions in which left sides are counted; the rules that are met most often come first.
    keep: a folder in which each finished space is kept; those that are there with the same options,
    functions and rules are read, so that an interrupted search continues. told: is called with
    lines on how far it is. Ctrl-C ends the search with the spaces that are finished. Raises
    `UnknownNameError`.
    """
    known, result = list(rules), Discovery()
    options = SearchOptions(size, terms, seconds, sorted(excluding), claims, equations)
    limits = options._asdict() | {"rules": sorted(map(str, known))}
    folder = None if keep is None else KeptSpaces(Path(keep), limits)
    spaces = [one if size is None else replace(one, size=size) for one in _spaces(what)]
    for space in spaces:
        read = folder.read(space) if folder else None
        if read is None:
            search = SpaceSearch(space, options, told)
            try:
                record, found = search.run(known)
            except KeyboardInterrupt:
                result.stopped = f"interrupted in {search.title}"
                break
            read = record, [one.rule for one in found]
            result.found += found
            if folder:
                folder.write(space, record)
        result.spaces.append(read[0] if corpus is None else with_uses(*read, corpus))
        result.rules += read[1]
        known += [rule.copied(claim=refines) for rule in read[1]]  # (whatever they assume)
    return result


class SearchOptions(NamedTuple):
    """Options of a search: see `discover`."""

    size: int | None
    terms: int
    seconds: float
    excluding: Sequence[str]
    claims: bool
    equations: bool


class SpaceSearch:
    """Search in one space. told: is called with lines on how far it is."""

    def __init__(
        self, space: Space, options: SearchOptions, told: Callable[[str], Any] = silent
    ) -> None:
        self.space, self.options, self.told = space, options, told
        self.facts = sorted({f.name for some in space.variables.values() for f in some})
        self.title = f"{space.name} ({', '.join(self.facts)})" if self.facts else space.name

    def say(self, line: str) -> None:
        """Report how far it is."""
        self.told(f"{self.title}: {line}")

    def run(self, known: Sequence[Any]) -> tuple[SpaceRecord, list[FoundRule]]:
        """Return the record of the space, and its rules. known: other rules."""
        options, start = self.options, perf_counter()
        judge = Judge(self.space, options.excluding)
        grown = grow(self.space, options.terms, options.seconds, self.say)
        proposals = propose(grown, judge, equations=options.equations, told=self.say)
        chooser = Chooser(judge, options.seconds, known, options.equations)
        choice = chooser.run(proposals, self.say)
        if options.claims:
            keep_right(choice, OF_NUMBERS if self.space.pointwise else OF_ARRAYS)
        found = choice.accepted
        gains = [gain_of(one.proposal, judge) for one in found]
        wrong = sum([one.mended > 0 for one in proposals])
        record = SpaceRecord(
            name=self.space.name,
            facts=self.facts,
            terms=grown.tried,
            classes=len(grown.classes),
            wrong=wrong,
            costlier=sum([one.mended <= 0 and one.saving > 1 for one in proposals]),
            counts=dict(choice.counts),
            left=choice.left,
            stopped=grown.stopped,
            unused=grown.unused,
            rules=[rule_record(one, gain) for one, gain in zip(found, gains, strict=True)],
            refused=[refused_record(*one) for one in choice.refused],
            seconds=perf_counter() - start,
        )
        return record, found


def with_uses(record: SpaceRecord, rules: Sequence[Any], corpus: Corpus) -> SpaceRecord:
    """Return a record whose rules are in the order of how often they are met."""
    met = {rule.short_name: corpus.met(rule) for rule in rules}
    counted = [replace(one, met=met.get(one.name)) for one in record.rules]
    return replace(record, rules=sorted(counted, key=lambda one: -(one.met or 0)))


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
