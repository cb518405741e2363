"""`Suggestions`: the answer of `suggest.py`, as text and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine import hooks
from rewrite_engine.discover.choose import found_rule
from rewrite_engine.discover.digits import FULL, number_text
from rewrite_engine.discover.source import term_source
from rewrite_engine.discover.space import Facts
from rewrite_engine.discover.subterms import stripped
from rewrite_engine.errors import plural
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.origin import Line, forward_line
from rewrite_engine.graph.replace import rebuilt
from rewrite_engine.match.rule import DataRule

if TYPE_CHECKING:
    from rewrite_engine.discover.better import Candidate

SCHEMA = 1  # version of `as_dict`
MAX_LINES = 4  # of the user's code, that are printed
MAX_FORMULA = 60  # characters of what a letter stands for
LETTERS = "abcdefghijklmnopqrstuvw"


@dataclass(frozen=True, slots=True)
class TermSuggestion:
    """Better term for a subterm.

    found, write: the subterm and the better term, as source. letters: formulas that the names in it
    stand for at the first place, if they are no inputs. lines: the user's lines that built the
    subterm, at a number of `places`. in_gradient: whether a gradient built it, of a term at these
    lines. known: facts of the variables that both need to be equal, which are known; assume:
    declarations that they need besides. point: values of the variables at which digits are
    compared, with the `true` value, and the `today` and `then` computed ones; digits_before,
    digits_after: how many of their digits are right (None: no true value is known). mended: the
    number of compared points, of `points`, at which the better term has more right digits.
    flops_before, flops_after: for each element. All this is after all rules, and in float64.
    """

    found: str
    write: str
    letters: Mapping[str, str]
    lines: tuple[Line, ...]
    places: int
    in_gradient: bool
    known: tuple[str, ...]
    assume: tuple[str, ...]
    point: Mapping[str, float]
    true: str
    today: str
    then: str
    digits_before: float | None
    digits_after: float | None
    mended: int
    points: int
    flops_before: float
    flops_after: float
    candidate: Candidate = field(repr=False, compare=False)

    def rule(self, phase: str = "canonicalize") -> DataRule:
        """Return the suggestion as a rule, for a mode: `rw.Mode() + one.rule()`. It has a guard for
        each fact that the two terms need. Raises `RuleError` if it is no rule.
        """
        return found_rule(self.candidate.proposal, self.candidate.guards, phase)

    def as_dict(self) -> dict[str, Any]:
        """Return the suggestion as data for JSON."""
        names = [name for name in self.__slots__ if name != "candidate"]
        data = {name: getattr(self, name) for name in names}
        return data | {"letters": dict(self.letters), "point": dict(self.point)}

    def __str__(self) -> str:
        return "\n".join(suggestion_lines(self))


@dataclass(frozen=True)
class Suggestions:
    """Answer of `suggestions`: better terms for parts of a graph.

    found: the suggestions, the best first. looked_at: the number of subterms that were compared, of
    `subterms`; terms: the number of terms they were compared with. left_out: how many better terms
    are no suggestions, and why. inside: the number of ops whose inner graphs were not looked at,
    such as loops. unfit: the number of subterms of other numbers than floats. skipped: the number
    of ops whose subterms were not even collected, for lack of time. limit: the seconds that were
    allowed; seconds: that it took.
    """

    found: tuple[TermSuggestion, ...]
    looked_at: int
    subterms: int
    terms: int
    left_out: Mapping[str, int]
    inside: int
    unfit: int
    skipped: int
    limit: float
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as data for JSON."""
        data = {name: getattr(self, name) for name in self.__dataclass_fields__}
        found = [one.as_dict() for one in self.found]
        return {"kind": "suggestions", "version": SCHEMA} | data | {"found": found}

    def to_json(self, file: Any = None) -> str:
        """Return `as_dict` as JSON text, and write it to a file if a path is given."""
        text = json.dumps(self.as_dict(), indent=1)
        if file is not None:
            Path(file).write_text(text, encoding="utf-8")
        return text

    def text(self, title: str = "") -> str:
        """Return the answer as text. title: what was looked at."""
        n = plural(len(self.found), "suggestion") if self.found else "nothing to suggest"
        lines = [f"{title}: {n}" if title else n]
        for i, one in enumerate(self.found, 1):
            lines += [
                "",
                *[f"{'' if k else f'{i}.':<3} {t}" for k, t in enumerate(suggestion_lines(one))],
            ]
        return "\n".join([*lines, "", *self.basis()])

    def basis(self) -> Iterator[str]:
        """Yield what the answer rests on, and what was not looked at."""
        many = f"{self.looked_at} of {self.subterms}"
        yield f"{many} subterms were compared with {self.terms:,} terms in {self.seconds:.0f} s."
        left = self.subterms - self.looked_at
        if left:
            some = plural(left, "subterm")
            yield f"Not looked at: {some}, as the limit of {self.limit:g} s was reached."
        if self.skipped:
            yield f"Not looked at: the subterms of {plural(self.skipped, 'op')}, for lack of time."
        if self.inside:
            yield f"Not looked at: graphs inside {plural(self.inside, 'op')}, such as loops."
        if self.unfit:
            yield f"Not looked at: {plural(self.unfit, 'subterm')} of other types."
        for why, n in self.left_out.items():
            yield f"Left out: {plural(n, 'better term')}, {why}."
        if self.found:
            yield "Nothing is applied. Values were compared; nothing was proved."

    def __str__(self) -> str:
        return self.text()


def suggestion_lines(one: TermSuggestion) -> Iterator[str]:
    """Yield a suggestion as lines."""
    where = ", ".join([place for place in map(place_text, one.lines[:MAX_LINES]) if place])
    more = f" and {len(one.lines) - MAX_LINES} more" if len(one.lines) > MAX_LINES else ""
    more += f" ({one.places} places)" if one.places > len(one.lines) else ""
    within = "in the gradient of " if one.in_gradient else ""
    yield f"{within}{where}{more}: {one.found}" if where else one.found
    yield f"write  {one.write}"
    for name, text in one.letters.items():
        yield f"where  {name} = {text}"
    if one.known:
        yield f"given  {', '.join(one.known)}, which is known"
    if one.assume:
        yield f"if     no element is negative; declare it: {', '.join(one.assume)}"
    yield from digit_lines(one)
    before, after = [f"{n:.0f}" for n in (one.flops_before, one.flops_after)]
    yield f"flops  {before} → {after} for each element"


def digit_lines(one: TermSuggestion) -> Iterator[str]:
    """Yield the digits of both terms, as lines."""
    if one.digits_before is None or one.digits_after is None:
        yield "digits not measured, as the true value is unknown"
        return
    at = ", ".join([f"{name} = {value:g}" for name, value in one.point.items()])
    before, after = [f"{n:.0f}" for n in (one.digits_before, one.digits_after)]
    digits = f"digits {before} → {after} of {FULL:.0f} at {at}"
    if not one.mended:
        yield f"{digits}, where the value is {one.true}"
        return
    more = f", and more at {one.mended} of {one.points} points" if one.mended > 1 else ""
    yield digits + more
    yield f"       today {one.today}, then {one.then}; the value is {one.true}"


def place_text(line: Line) -> str:
    """Return a line of the user's code as text: from the working directory, if it is inside."""
    name = os.path.relpath(line[0]) if os.path.isabs(line[0]) else line[0]
    return f"{line[0] if name.startswith(os.pardir) else name}:{line[1]}"


def suggestion_of(c: Candidate) -> TermSuggestion:
    """Return a candidate as a suggestion, in the names of the graph."""
    names, letters = named_leaves(c.subterm.places[0].leaves)
    own = dict(zip(c.subterm.leaves, names, strict=True))
    shown = {v: pt.vector(name) for v, name in own.items()}
    found, write = map(source_of, rebuilt([c.left.variable, c.right.variable], shown, True))
    owners = [p.root.owner for p in c.subterm.places]
    nodes = [node for node in owners if node is not None]
    forward = [forward_line(n.origin) for n in nodes]
    lines = dict.fromkeys([f or n.where() for f, n in zip(forward, nodes, strict=True)])
    return TermSuggestion(
        found, write, letters,
        tuple([line for line in lines if line is not None]), len(nodes),
        None not in forward,
        fact_texts(c.known, own, "{fact}({name})"),
        fact_texts(c.needed, own, "rw.assume({name}, {fact}=True)"),
        **measured_fields(c, own),
        mended=c.mended, points=len(c.before.digits), flops_before=c.before.cost,
        flops_after=c.after.cost, candidate=c,
    )  # fmt: skip


def source_of(term: Variable) -> str:
    """Return a term as source; as a formula, if an author's op has no source."""
    try:
        return term_source(term)
    except Exception:  # (a constructor of theirs that takes other arguments)
        return str(hooks.short(term))


def measured_fields(c: Candidate, names: Mapping[Variable, str]) -> dict[str, Any]:
    """Return the fields about the far point that shows the gain best: among those with the largest
    gain, the one of the most ordinary size.
    """
    far = c.judge.far
    given = {v: np.concatenate([some[v] for some in far]) for v in names} if far else {}
    i = example(c, given)
    if i is None:
        empty = {"digits_before": None, "digits_after": None}
        return {"point": {}, "true": "", "today": "", "then": "", **empty}
    a, b = c.before, c.after
    values = ["none" if m.values is None else f"{m.values[i]:.16g}" for m in (a, b)]
    return {
        "point": {name: float(given[v][i]) for v, name in names.items()},
        "true": number_text(c.truth[i]),
        "today": values[0],
        "then": values[1],
        "digits_before": float(a.digits[i]),
        "digits_after": float(b.digits[i]),
    }


def example(c: Candidate, given: Mapping[Variable, Any]) -> int | None:
    """Return the number of the far point that shows a gain; None if nothing is known at any."""
    gain = c.after.digits - c.before.digits
    if not gain.size or np.isnan(gain).all():
        return None
    extreme = sum([np.abs(np.log10(np.abs(a) + 1e-300)) for a in given.values()])
    rank = np.where(np.isnan(gain), -np.inf, np.round(gain) if c.mended else 0.0)
    best = np.flatnonzero(rank == rank.max())
    signs = sum([(a < 0).astype(float) for a in given.values()])
    return int(min(best, key=lambda i: (extreme[i], signs[i])))


def named_leaves(leaves: Sequence[Variable]) -> tuple[list[str], dict[str, str]]:
    """Return names of variables, and the formulas of those that have none: these get letters."""
    own = [str(v.name or "") for v in map(stripped, leaves)]
    free = [c for c in LETTERS if c not in own]
    names, letters = [], {}
    for v, name in zip(leaves, own, strict=True):
        is_input = stripped(v).owner is None and name.isidentifier() and name not in names
        names.append(name if is_input else free.pop(0))
        if not is_input:
            letters[names[-1]] = str(hooks.short(stripped(v), limit=MAX_FORMULA))
    return names, letters


def fact_texts(facts: Facts, names: Mapping[Variable, str], text: str) -> tuple[str, ...]:
    """Return facts of variables as text."""
    return tuple(
        [text.format(fact=f.name, name=names[v]) for v, some in facts.items() for f in some]
    )
