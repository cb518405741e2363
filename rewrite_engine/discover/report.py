"""Reports of `discover`: records of texts and numbers, which print as lines, JSON and HTML, and are
read again after an interruption.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from rewrite_engine.discover.choose import FoundRule
from rewrite_engine.discover.gain import Gain
from rewrite_engine.discover.propose import Proposal
from rewrite_engine.discover.source import (
    conditions_of,
    facts_of,
    imports_of,
    pack_source,
    rule_source,
    text_of,
)
from rewrite_engine.graph.html import bold, browser_page, code, faint, folded, table, whole
from rewrite_engine.printing.latex import latex
from rewrite_engine.printing.mathml import mathml

MOST = 200  # refusals in HTML


@dataclass(frozen=True)
class RuleRecord:
    """A rule that was found. left, right: source of its sides. conditions: of its guards. facts:
    names of facts that its source imports; imports: lines that import an author's ops. formulas:
    its sides as MathML. met: functions of the corpus in which its left side occurs; None without a
    corpus.
    """

    name: str
    left: str
    right: str
    conditions: Sequence[str]
    claim: str
    phase: str | None
    gain: Gain
    formulas: tuple[str, str]
    source: str
    facts: Sequence[str]
    imports: Sequence[str]
    met: int | None = None

    def __str__(self) -> str:
        given = f", given {' and '.join(self.conditions)}" if self.conditions else ""
        sign = ">>" if self.phase else "=="
        met = "" if self.met is None else f"; met in {self.met}"
        return f"{self.left} {sign} {self.right}{given}: {self.gain} ({self.claim}){met}"


@dataclass(frozen=True)
class RefusedRecord:
    """A pair of terms that makes no rule. why: the reason. formulas: both as MathML."""

    left: str
    right: str
    why: str
    formulas: tuple[str, str]

    def __str__(self) -> str:
        return f"{self.left} >> {self.right}: {self.why}"


@dataclass(frozen=True)
class SpaceRecord:
    """Result of the search in a space. facts: of its variables. terms, classes: how many there are.
    wrong, costlier: how many terms another one of their class is better than, as it is right more
    often, or cheaper only. counts: proposals that say nothing new, by the reason. left: proposals
    that were not looked at. stopped: why not all terms were made, or "". unused: why a function
    made no term, by its name.
    """

    name: str
    facts: Sequence[str]
    terms: int
    classes: int
    wrong: int
    costlier: int
    counts: dict[str, int]
    left: int
    stopped: str
    unused: dict[str, str]
    seconds: float
    rules: Sequence[RuleRecord] = field(default_factory=list)
    refused: Sequence[RefusedRecord] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The name, and the facts in brackets."""
        return f"{self.name} ({', '.join(self.facts)})" if self.facts else self.name

    @property
    def summary(self) -> str:
        """One line on what was done."""
        counts = [f"{n} {why}" for why, n in sorted(self.counts.items())]
        counts += [f"{len(self.refused)} refused"] if self.refused else []
        counts += [f"{self.left} not looked at"] if self.left else []
        stopped = f" ({self.stopped})" if self.stopped else ""
        return (
            f"{self.title}: {self.terms} terms{stopped}, {self.classes} classes; of "
            f"{self.wrong + self.costlier} a better one is known ({self.wrong} wrong, "
            f"{self.costlier} costlier): {len(self.rules)} rules"
            f"{''.join(f', {c}' for c in counts)}; {self.seconds:.0f} s"
        )

    def __str__(self) -> str:
        lines = [self.summary]
        lines += [f"  {name} made no term: {why}" for name, why in self.unused.items()]
        lines += [f"  {one}" for one in self.rules]
        return "\n".join(lines)


def rule_record(one: FoundRule, gain: Gain) -> RuleRecord:
    """Return the record of a rule."""
    return RuleRecord(
        one.rule.short_name,
        text_of(one.proposal.left),
        text_of(one.proposal.right),
        conditions_of(one),
        str(one.rule.claim),
        one.rule.phase or None,
        gain,
        formulas_of(one.proposal),
        rule_source(one, gain),
        facts_of(one),
        imports_of(one.proposal),
    )


def refused_record(one: Proposal, why: str) -> RefusedRecord:
    """Return the record of a refusal."""
    return RefusedRecord(text_of(one.left), text_of(one.right), why, formulas_of(one))


def formulas_of(one: Proposal) -> tuple[str, str]:
    """Return both sides as MathML."""
    left, right = [mathml(latex(t.variable)) for t in one[:2]]
    return left, right


def pack_of(rules: Sequence[RuleRecord]) -> str:
    """Return the source of a pack. A comment says how often a rule is met, if there is a corpus."""
    sources = [
        r.source if r.met is None else f"# met in {r.met} of the functions\n{r.source}"
        for r in rules
    ]
    facts, imports = [[x for r in rules for x in getattr(r, name)] for name in ("facts", "imports")]
    return pack_source(sources, facts, imports)


# --- JSON -----------------------------------------------------------------------------------------


def as_json(records: Iterable[SpaceRecord]) -> str:
    """Return records as JSON text, which `from_json` reads."""
    return json.dumps({"spaces": [asdict(one) for one in records]}, indent=1)


def from_json(text: str) -> list[SpaceRecord]:
    """Return the records of JSON text. Raises `ValueError`, `KeyError` or `TypeError` for other
    text.
    """
    return [_space(one) for one in json.loads(text)["spaces"]]


def _space(data: dict[str, Any]) -> SpaceRecord:
    rules = [RuleRecord(**one | {"gain": Gain(**one["gain"])}) for one in data["rules"]]
    refused = [RefusedRecord(**one) for one in data["refused"]]
    return SpaceRecord(**data | {"rules": rules, "refused": refused})


# --- HTML -----------------------------------------------------------------------------------------


def page(records: Sequence[SpaceRecord]) -> str:
    """Return a page for the browser."""
    title = "Rules that were found"
    return browser_page(title, f"<h1>{title}</h1>{as_html(records)}")


def as_html(records: Iterable[SpaceRecord]) -> str:
    """Return records as HTML, for notebooks and pages."""
    return whole(*[part for one in records for part in _parts(one)])


def _parts(one: SpaceRecord) -> Iterator[str]:
    """Yield the HTML of a space."""
    yield bold(one.title)
    yield faint(one.summary.removeprefix(f"{one.title}: "))
    for name, why in one.unused.items():
        yield faint(f"{name} made no term: {why}")
    if one.rules:
        yield table(("", "", "", "given", "gain", "claim", "met"), map(_row, one.rules))
        yield folded("source", code("\n".join([rule.source for rule in one.rules])))
    if one.refused:
        rows = [(*_sides(r.formulas), escape(r.why)) for r in one.refused[:MOST]]
        more = f", {MOST} shown" if len(one.refused) > MOST else ""
        yield folded(f"{len(one.refused)} refused{more}", table(("", "", "", "reason"), rows))


def _row(rule: RuleRecord) -> Sequence[str]:
    texts = (", ".join(rule.conditions), str(rule.gain), rule.claim)
    met = "" if rule.met is None else str(rule.met)
    return *_sides(rule.formulas, "→" if rule.phase else "="), *map(escape, texts), met


def _sides(formulas: Sequence[str], sign: str = "→") -> tuple[str, str, str]:
    return formulas[0], sign, formulas[1]
