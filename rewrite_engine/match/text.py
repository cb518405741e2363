"""Rules as text: `log(1 + x) -> log1p(x), given nonneg(x)`."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

from rewrite_engine.errors import DuplicateRuleError, source_line
from rewrite_engine.graph.op import ATOM, LOWEST, output_text
from rewrite_engine.match.ac import AFTER, BEFORE
from rewrite_engine.match.lower import Compute, Lowered
from rewrite_engine.match.pattern import ALL, Hole, Literal, OpClass, OpNode
from rewrite_engine.terms.print import Call, Token, write, written

ENDS = (BEFORE, AFTER)  # of operands that a left side leaves alone: nobody wrote these


def rule_text(rule: Lowered) -> str:
    """Return a rule as one line."""
    right = rule.written or rule.right
    computed = isinstance(right, Compute)
    shown = f"compute({', '.join(right.names)})" if computed else pattern_text(right)
    given = ", given " + " and ".join(g.text for g in rule.guards) if rule.guards else ""
    return f"{pattern_text(rule.left)} -> {shown}{given}"


def pattern_text(pattern: Any, outer: int = LOWEST) -> str:
    """Return a pattern, or those of several outputs, in the usual notation."""
    if isinstance(pattern, tuple):
        return f"({', '.join(map(pattern_text, pattern))})"
    return write(pattern, outer=outer)


@written.register(Hole)
def _(hole: Hole, outer: int, call: Call) -> Sequence[Token]:
    return [f"*{hole.name}" if hole.rest else hole.name]


@written.register(Literal)
def _(literal: Literal, outer: int, call: Call) -> Sequence[Token]:
    return written(literal.value, outer, call)


@written.register(OpNode)
def _(pattern: OpNode, outer: int, call: Call) -> Sequence[Token]:
    op = _class_text(pattern.op) if isinstance(pattern.op, OpClass) else pattern.op
    one = pattern.index is not None and pattern.index != ALL
    which = output_text(pattern.operator, pattern.index) if one else ""
    args = [a for a in pattern.args if getattr(a, "name", None) not in ENDS]
    return [*call(op, args, ATOM if one else outer), which]


def _class_text(op: OpClass) -> str:
    """Return a class of ops as text, without parameters that its author may omit, such as
    `dtype=None`.
    """
    props = [
        f"{name}={p.name if isinstance(p, Hole) else repr(p)}"
        for name, p in op.props
        if isinstance(p, Hole) or p not in op.usual(name)
    ]
    return f"{op.cls.__name__}({', '.join(props)})"


def refuse_twice(rule: Any, before: Any) -> None:
    """Raise an error for the second of two rules of one name in a file. before: the earlier owner
    of the name (a module that is reloaded after an edit has rules that no longer exist).
    """
    where = getattr(before, "where", None)
    file, line = where if isinstance(where, tuple) else (None, 0)
    if file != rule.where[0] or line == rule.where[1] or rule.fn.__qualname__ != rule.short_name:
        return
    linecache.checkcache(file)
    code = (text.split() for text in linecache.getlines(file)[line - 1 :])
    words = next((words for words in code if words[:1] == ["def"]), [])
    if words[1:] and words[1].partition("(")[0] == rule.short_name:
        why = f"is the second rule of this name here; the first is at {source_line(file, line)}"
        raise DuplicateRuleError(why)
