"""Rules as text: `log(1 + x) -> log1p(x), given nonneg(x)`."""

from __future__ import annotations

from inspect import signature
from typing import Any

from rewrite_engine.match.lower import Compute, Lowered
from rewrite_engine.match.pattern import Hole, Literal, OpClass
from rewrite_engine.terms.print import LOWEST, tokens


def rule_text(rule: Lowered) -> str:
    """A rule in one line."""
    right = rule.right
    shown = (
        f"compute({', '.join(right.names)})" if isinstance(right, Compute) else pattern_text(right)
    )
    text = f"{pattern_text(rule.left)} -> {shown}"
    if rule.guards:
        text += ", given " + " and ".join(g.text for g in rule.guards)
    return text


def pattern_text(pattern: Any, outer: int = LOWEST) -> str:
    """A pattern in the usual notation. (Patterns are small: recursion is fine here.)"""
    if isinstance(pattern, Hole):
        return f"*{pattern.name}" if pattern.rest else pattern.name
    if isinstance(pattern, Literal):
        return repr(pattern.value)
    op = pattern.op
    name = _class_text(op) if isinstance(op, OpClass) else str(op)
    return "".join(
        t if isinstance(t, str) else pattern_text(*t) for t in tokens(name, pattern.args, outer)
    )


def _class_text(op: OpClass) -> str:
    """A class of ops; what its author may leave out, `dtype=None` say, is left out."""
    cls: Any = op.cls
    usual = signature(cls.__init__).parameters
    props = [
        f"{name}={p.name if isinstance(p, Hole) else repr(p)}"
        for name, p in op.props
        if isinstance(p, Hole) or name not in usual or usual[name].default != p
    ]
    return f"{op.cls.__name__}({', '.join(props)})"
