"""Notebook views of a mode and of a profile, composed of the pieces in `graph/html.py`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import RewriteEngineError, plural
from rewrite_engine.graph.html import bold, code, faint, folded, table, whole
from rewrite_engine.match.ruleset import RuleSet

if TYPE_CHECKING:
    from rewrite_engine.compile.mode import Mode
    from rewrite_engine.compile.profiling import ProfileStats

MAX_ROWS = 10  # of a table of a profile


def mode_as_html(mode: Mode) -> str:
    """Return the notebook view of a mode: its expression, its linker, and its phases with their
    rules.
    """
    try:
        optimizer = mode.optimizer
    except RewriteEngineError as error:  # (as `function` will)
        return whole(code(repr(mode)), faint(str(error)))
    parts = getattr(optimizer, "parts", None if optimizer is None else (optimizer,))
    if parts is None:
        return whole(code(repr(mode)), faint(f"linker {mode.linker}; the graph is not rewritten"))
    rows = [[escape(part.name), *_rules(part)] for part in parts]
    name = getattr(mode.linker, "name", mode.linker)
    title = f"linker {name} · {plural(len(rows), 'phase')}, in order"
    return whole(code(repr(mode)), faint(title), table(("phase", "rules", ""), rows))


def _rules(part: Any) -> list[str]:
    """Return how many rules a driver has, and their names."""
    rules = list(getattr(part, "rules", ()))
    if not rules:
        return ["", ""]
    names = ", ".join([getattr(rule, "short_name", str(rule)) for rule in RuleSet(rules)])
    return [str(len(rules)), folded("names", f'<div style="max-width:50em">{escape(names)}</div>')]


def profile_as_html(stats: ProfileStats) -> str:
    """Return the notebook view of a profile: the output of `summary`, as tables."""
    title, *lines = stats.head()
    parts = [bold(title), *map(faint, lines)]
    for k, one in enumerate(stats.tables(MAX_ROWS, MAX_ROWS)):
        rows = [[*map(escape, row), *[""] * (len(one.heads) - len(row))] for row in one.rows]
        shown = table(one.heads, rows, one.numbers)
        parts.append(folded(f"by {one.what}", shown, is_open=k == 0))
    return whole(*parts)
