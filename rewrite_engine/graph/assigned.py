"""`assigned_name`: the name that the user's program assigns the result of a call to, read from the
source line of the call: `w` in `w = shared(0.0)`.
"""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from itertools import islice
from textwrap import dedent
from typing import NamedTuple

from rewrite_engine.graph.origin import Origin

MAX_LINES = 20  # of a call that is looked at


class _Span(NamedTuple):
    """Position of a call in the source: lines, and the columns (in bytes) at which it begins and
    ends.
    """

    first: int
    last: int
    start: int
    end: int


@lru_cache(256)
def assigned_name(origin: Origin | None) -> str | None:
    """Return the variable or attribute that is assigned the result of the call at an origin; None
    if it is not assigned at once, or the source is unknown.
    """
    if origin is None or len(origin) != 2 or isinstance(origin[0], str):
        return None
    code, instruction = origin
    found = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    first, last, start, end = found
    if first is None or last is None or start is None or end is None or last - first > MAX_LINES:
        return None
    try:
        lines = [linecache.getline(code.co_filename, n) for n in range(first, last + 1)]
    except IndexError:  # doctest's `linecache`, for a line of an example that has gone
        return None
    margin = len(lines[0].encode()) - len(lines[0].lstrip().encode())
    span = _Span(1, last - first + 1, start - margin, end - (margin if first == last else 0))
    try:
        statements = ast.parse(dedent("".join([lines[0].lstrip(), *lines[1:]]))).body
    except SyntaxError:
        return None
    pairs = [pair for statement in statements for pair in _assignments(statement)]
    names = [_name(target) for target, value in pairs if _is_at(value, span)]
    return names[0] if names else None


def _assignments(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """Return the targets of a statement with their expressions; tuples are split into parts."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return [(statement.target, statement.value)]
    if not isinstance(statement, ast.Assign):
        return []
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return [(target, value)]
    starred = any(isinstance(one, ast.Starred) for one in (*target.elts, *value.elts))
    return [] if starred else list(zip(target.elts, value.elts, strict=False))


def _name(target: ast.expr) -> str | None:
    """Return the name of a target: `w`, also for `self.w`."""
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) else None


def _is_at(value: ast.expr, span: _Span) -> bool:
    """Return whether an expression is the call at a position."""
    return (value.lineno, value.end_lineno, value.col_offset) == span[:3] and (
        span.first != span.last or value.end_col_offset == span.end
    )
