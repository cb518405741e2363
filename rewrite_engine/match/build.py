"""Right sides made by the interpreter: what `match/emit.py` compiles, done step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.match.ac import EXTRA, apply_weak, put_back
from rewrite_engine.match.emit import as_term, literal_like
from rewrite_engine.match.lower import Compute, Condition
from rewrite_engine.match.pattern import Hole, Literal, OpClass

Bindings = dict[str, Any]


def guards_hold(guards: Sequence[Condition], bound: Bindings, fgraph: Any = None) -> bool:
    """Whether all guards hold for these bindings; cheap ones are asked first."""
    return all(ask(guard, bound, fgraph) for guard in sorted(guards, key=lambda g: g.cost))


def ask(guard: Condition, bound: Bindings, fgraph: Any = None) -> Any:
    """What a guard says of these bindings: something true, or a reason that is false.

    fgraph: the graph they are of; it remembers what facts say.
    """
    values = [bound[a.name] if isinstance(a, Hole) else a for a in guard.args]
    return guard.fn(*values) if guard.fact is None else guard.fact.ask(fgraph, *values)


def instantiate(right: Any, bound: Bindings, node: Apply) -> Any:
    """Make the term of a right side; None where a computed one refuses."""
    if isinstance(right, Compute):
        term = right.fn(*[bound[n] for n in right.names])
    elif isinstance(right, Literal):
        term = literal_like(node, right.value)
    else:
        term = as_term(node, build(right, bound))
    return put_back(node.op, term, bound[EXTRA]) if bound.get(EXTRA) else term


def build(pattern: Any, bound: Bindings) -> Any:
    """Make the term of a pattern whose holes are all bound."""
    if isinstance(pattern, Hole):
        return bound[pattern.name]
    if isinstance(pattern, Literal):
        return pattern.value
    args: list[Any] = []
    for a in pattern.args:
        value = build(a, bound)
        args.extend(value) if isinstance(a, Hole) and a.rest else args.append(value)
    op = pattern.op
    if isinstance(op, OpClass):
        op = op.cls(**{n: bound[p.name] if isinstance(p, Hole) else p for n, p in op.props})
    return apply_weak(op, args)
