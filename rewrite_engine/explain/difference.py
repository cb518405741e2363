"""How two reports differ (`differences`): from one with other rules or in another mode, for which
each function is rewritten again from the graph as it was built; from one that was saved before,
perhaps by another version of the library; and two saved ones from each other. The records of both
are compared (`model.py`, `final.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from time import perf_counter
from typing import Any

from rewrite_engine.compile import get_mode
from rewrite_engine.compile.mode import Mode
from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain.final import FinalGraph, final_graphs
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.record import DetailedTrace, FunctionRecord
from rewrite_engine.explain.report import Report, is_saved

MAX_COMPARED_LINES = 8  # of a graph that is compared line by line, too


@dataclass(frozen=True, slots=True)
class LineDifference:
    """Terms at a line of code that only one graph computes. less, more: the ops of the first graph
    and of the second, with their numbers. terms: one of each.
    """

    line: str
    less: Counter[str]
    more: Counter[str]
    terms: tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class FunctionDifference:
    """Difference of one function in two reports; None if one of them has no such function.

    rules: how often each rule fired, where that differs. places: what is computed in one graph
    only. outputs: the names of those that are computed differently. lines: of formulas, `-` before
    those of the first and `+` before those of the second, if the graphs are small.
    """

    name: str
    old: FunctionReport | None
    new: FunctionReport | None
    rules: dict[str, tuple[int, int]]
    places: tuple[LineDifference, ...]
    outputs: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def alike(self) -> bool:
        """Whether both compute the same values, by the same rules."""
        both = self.old is not None and self.new is not None
        return both and not (self.rules or self.places or self.outputs)


@dataclass(frozen=True, slots=True)
class Differences:
    """Difference of two reports. titles: what they are called."""

    titles: tuple[str, str]
    functions: tuple[FunctionDifference, ...]


def differences(report: Report, names: str) -> Differences:
    """Compare a report with another one. names: a file that --json wrote (the older one), a mode,
    or rules and phases to leave out, separated by commas. Raises `UnknownNameError`, and
    `InputError` for a file that is no report.
    """
    if is_saved(names):
        return compared(Report.read(names), report)
    records, title = [], names
    for f in report.functions:
        mode, title = _other(f.record.mode, names)
        records.append(again(f.record, mode))
    return compared(report, Report(records, title=title))


def _other(mode: Mode, names: str) -> tuple[Mode, str]:
    try:
        return get_mode(names), names
    except (UnknownNameError, ValueError):
        parts = [name.strip() for name in names.split(",") if name.strip()]
        other = mode.excluding(*parts)
        assert other.optimizer is not None  # looks the names up
        return other, f"without {', '.join(parts)}"


def again(record: FunctionRecord, mode: Mode) -> FunctionRecord:
    """Record a function again with other rules, without linking it."""
    graph, trace, start = record.before.clone(), DetailedTrace(), perf_counter()
    before = graph.clone()
    if mode.optimizer is not None:
        mode.optimizer.rewrite(graph, trace=trace)
    seconds = {"build": 0.0, "rewrite": perf_counter() - start, "link": 0.0}
    return replace(record, before=before, after=graph, mode=mode, trace=trace, seconds=seconds)


def compared(old: Report, new: Report) -> Differences:
    """Compare two reports, function by function; functions of one name in their order."""
    rest: dict[str, list[FunctionReport]] = {}
    for f in new.functions:
        rest.setdefault(f.name, []).append(f)
    found = []
    for f in old.functions:
        others = rest.get(f.name)
        found.append(_difference(f, others.pop(0)) if others else _only(f, None))
    found += [_only(None, f) for left in rest.values() for f in left]
    return Differences(_titles(old, new), tuple(found))


def _titles(old: Report, new: Report) -> tuple[str, str]:
    """Return the titles of reports, with the versions that differ."""
    titles = []
    for one, other in ((old, new), (new, old)):
        own = [
            f"{k} {v}" for k, v in one.about.versions.items() if other.about.versions.get(k) != v
        ]
        titles.append(f"{one.title} ({', '.join(own)})" if own else one.title)
    return titles[0], titles[1]


def _only(old: FunctionReport | None, new: FunctionReport | None) -> FunctionDifference:
    name = (old or new).name  # type: ignore[union-attr]
    return FunctionDifference(name, old, new, {}, (), (), ())


def _difference(old: FunctionReport, new: FunctionReport) -> FunctionDifference:
    a, b = (Counter([firing.rule for firing in f.firings]) for f in (old, new))
    rules = {name: (a[name], b[name]) for name in sorted({*a, *b}) if a[name] != b[name]}
    known: dict[Any, int] = {}
    left, right = _keyed(old, known), _keyed(new, known)
    places: list[LineDifference] = []
    for name in [name for name in left if name in right]:
        for one, other in zip(left[name], right[name], strict=False):
            places += _places(name, one, other)
    ends = [[keys[v] for v in graph.outputs] for [(graph, keys)] in (left[""], right[""])]
    own = right[""][0][0].line
    names = zip(own.output_names, *ends, strict=False)
    outputs = tuple([name for name, x, y in names if x != y])
    texts = old.about.formulas_after, new.about.formulas_after
    lines: Sequence[str] = ()
    if outputs and max(map(len, texts)) <= MAX_COMPARED_LINES:
        lines = [*unified_diff(*texts, n=1, lineterm="")][2:]
    return FunctionDifference(new.name, old, new, rules, tuple(places), outputs, tuple(lines))


#: a graph, and a number for each of its variables
Keyed = tuple[FinalGraph, dict[int, int]]


def _keyed(f: FunctionReport, known: dict[Any, int]) -> dict[str, list[Keyed]]:
    """Return the graphs of a function by the op that holds them ("": its own), inner ones first."""
    found: dict[str, list[Keyed]] = {}
    inside: dict[str, tuple[int, ...]] = {}
    for graph in final_graphs(f):
        name, keys = graph.line.inside or "", graph.keys(known, inside)
        found.setdefault(name, []).append((graph, keys))
        inside[name] = inside.get(name, ()) + tuple([keys[v] for v in graph.outputs])
    return found


def _places(inside: str, *pair: Keyed) -> Iterator[LineDifference]:
    """Yield what only one graph has, by line. Terms that differ only in their operands have a
    counterpart in both.
    """
    sides: list[dict[tuple[str, str], list[int]]] = []
    for (graph, own), (_, others) in zip(pair, pair[::-1], strict=True):
        there, nodes = set(others.values()), graph.line.nodes
        found: dict[tuple[str, str], list[int]] = {}
        for node in graph.order:
            out = nodes[node].outputs[0]
            if own[out] not in there:
                found.setdefault((graph.place(node), graph.ops[node]), []).append(out)
        sides.append(found)
    left, right = sides
    lines: dict[str, list[tuple[str, int]]] = {}
    for line, op in [*left, *[key for key in right if key not in left]]:
        n = len(right.get((line, op), ())) - len(left.get((line, op), ()))
        if n:
            lines.setdefault(line, []).append((op, n))
    for line, changes in lines.items():
        less = Counter({op: -n for op, n in changes if n < 0})
        more = Counter({op: n for op, n in changes if n > 0})
        terms = [
            graph.text(side[line, next(iter(ops))][0]) if ops else None
            for (graph, _), side, ops in zip(pair, sides, (less, more), strict=True)
        ]
        line = f"{line}, inside of {inside}" if inside else line
        yield LineDifference(line, less, more, (terms[0], terms[1]))
