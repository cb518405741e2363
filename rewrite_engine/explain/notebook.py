"""Display of a `Report` in a notebook: one output of one screen. A table of the functions; of each
what it computes before and after, as formulas, with the rules that mattered most; folded below, the
report as text and the page that replays it step by step (`page.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from rewrite_engine.errors import plural
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.phrase import (
    amounts,
    arrow,
    besides,
    claims_lines,
    cost_line,
    failures,
    family_notes,
    headline,
    place,
    time_line,
    values_lines,
    verdict_text,
)
from rewrite_engine.explain.story import Family
from rewrite_engine.explain.term import cut
from rewrite_engine.graph.html import bold, code, faint, first, folded, scrolled, table, whole
from rewrite_engine.printing.latex import latex
from rewrite_engine.printing.mathml import mathml

if TYPE_CHECKING:
    from rewrite_engine.explain.report import Report

MAX_FUNCTIONS, MAX_TOLD = 20, 4  # in the table; with formulas and rules
MAX_RULES = 12
MAX_TERM = 120  # characters of a term before and after
MAX_CHARACTERS, MAX_NODES = 800, 60  # of a formula
MAX_PAGE_BYTES = 1 << 21
HEADS = ("", "function", "compiled at", "nodes", "firings", "flops", "bytes", "values")
BAD = "color:#d0342c;font-weight:bold"


def report_as_html(report: Report) -> str:
    """Return what a notebook shows of a report."""
    functions = report.functions
    parts = [bold(headline(report))]
    parts += [f'<div style="{BAD}">{escape(text)}</div>' for text in failures(report)]
    if not functions:
        return whole(*parts)
    rows = (_row(f) for f in functions)
    parts.append(table(HEADS, first(rows, len(functions), MAX_FUNCTIONS)))
    for f in functions[:MAX_TOLD]:
        title = f"{f.record.index}. {f.name}: what happened"
        parts.append(folded(title, "".join(_function(f)), is_open=len(functions) == 1))
    parts += [folded("The report as text", code(report.text())), _page(report)]
    return whole(*parts)


def _row(f: FunctionReport) -> list[str]:
    """The line of a function in the table."""
    verdict, nodes = verdict_text(f), (f.cost_before.nodes, f.cost_after.nodes)
    texts = [f.record.index, f.name, place(f.record.place, short=True), arrow(*map(str, nodes))]
    texts += [len(f.steps), amounts(f, "flops"), amounts(f, "bytes")]
    style = "" if f.check.ok else f' style="{BAD}"'
    return [*[escape(str(text)) for text in texts], f"<span{style}>{escape(verdict)}</span>"]


def _function(f: FunctionReport) -> Iterator[str]:
    """A function before and after, and what came between."""
    for title, fgraph in (("as written", f.record.before), ("rewritten", f.record.after)):
        formula = mathml(latex(fgraph, MAX_CHARACTERS, MAX_NODES), annotated=False)
        yield faint(f"{title}, {plural(len(fgraph), 'node')}") + scrolled(formula, short=True)
    ranked = sorted(f.families, key=lambda one: one.weight, reverse=True)
    ranked = [one for one in ranked if one.kind == "rule"]
    if ranked:
        rows = (_rule(one) for one in ranked[:MAX_RULES])
        yield table(("", "before", "", "after", "rule"), rows, numbers=1)
    for text in [*besides(f, ranked[MAX_RULES:]), *_end(f)]:
        yield faint(text.strip())


def _rule(one: Family) -> list[str]:
    """The firings of a rule, the first one as an example."""
    change = one.steps[0].change
    sides = [
        f"<code>{escape(cut(side, MAX_TERM))}</code>" for side in (change.before, change.after)
    ]
    letters = escape(change.where())
    sides[0] += f"<br>{escape(change.of_graph)}" if change.of_graph else ""
    sides[0] += f"<br><small>where {letters}</small>" if letters else ""
    return [f"{len(one.steps)}×", sides[0], "→", sides[1], escape(next(family_notes(one)))]


def _end(f: FunctionReport) -> Iterator[str]:
    """Costs, times, values."""
    yield f"cost: {cost_line(f)}"
    yield f"time: {time_line(f)}"
    yield from values_lines(f)
    yield from claims_lines(f)


def _page(report: Report) -> str:
    """The page on which firings are replayed, in a frame of its own; nothing is loaded until it is
    unfolded.
    """
    text = report.html()
    if len(text) > MAX_PAGE_BYTES:
        size = len(text) >> 20
        return faint(f"Step by step: a page of {size} MB, which `report.html(file)` writes")
    frame = (
        f'<iframe srcdoc="{escape(text)}" loading="lazy" sandbox="allow-scripts" title="firings" '
        'style="width:100%;height:640px;border:1px solid #8884;border-radius:6px"></iframe>'
    )
    return folded(f"Step by step: {_firings(report.functions)}, with the graph", frame)


def _firings(functions: Sequence[FunctionReport]) -> str:
    return plural(sum([len(f.steps) for f in functions]), "firing")
