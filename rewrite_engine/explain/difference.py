"""How rewritten graphs differ where other rules are used: each function is compiled again from the
graph as it was built, and the two results are compared line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

from rewrite_engine.compile import get_mode
from rewrite_engine.compile.mode import Mode
from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.report import Report
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.printing.formula import Formula


@dataclass(frozen=True, slots=True)
class Difference:
    """Of one function. nodes: with the rules it has, and with the others. lines: of formulas, `-`
    before those of the function as it is, `+` before those with the other rules.
    """

    function: FunctionReport
    other: str
    nodes: tuple[int, int]
    lines: tuple[str, ...]


def differences(report: Report, names: str) -> list[Difference]:
    """Compare all functions with what another mode makes of them. names: a mode, or what is left
    out, with commas. Raises `UnknownNameError`.
    """
    found = []
    for f in report.functions:
        mode, told = _other(f.record.mode, names)
        graph = f.record.before.clone()
        if mode.optimizer is not None:
            mode.optimizer.rewrite(graph)
        old, new = [[*_lines(g, f.outputs)] for g in (f.record.after, graph)]
        lines = tuple(unified_diff(old, new, n=1, lineterm=""))
        found.append(Difference(f, told, (len(f.record.after), len(graph)), lines[2:]))
    return found


def _other(mode: Mode, names: str) -> tuple[Mode, str]:
    try:
        return get_mode(names), names
    except (UnknownNameError, ValueError):
        parts = [name.strip() for name in names.split(",") if name.strip()]
        other = mode.excluding(*parts)
        assert other.optimizer is not None  # looks the names up
        return other, f"without {', '.join(parts)}"


def _lines(graph: FunctionGraph, names: tuple[str, ...]) -> Iterator[str]:
    """A graph, output by output, each part written out where it is not shared by much."""
    formula = Formula(graph.outputs)
    yield from formula.definitions(None)
    for node, name in formula.names.items():
        yield f"{name} = {formula.text(node, None)}"
    for name, v in zip(names, graph.outputs, strict=True):
        yield f"{name}: {formula.text(v, None)}"
