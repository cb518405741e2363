"""Right sides made by the interpreter: what `match/emit.py` compiles, done step by step; and which
nodes a firing consumes (`consumer`), for the origin of what it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewrite_engine.errors import PatternError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import Origin, plainly
from rewrite_engine.match.ac import EXTRA, all_constant, apply_weak, is_ac, put_back
from rewrite_engine.match.emit import Function, as_term, literal_like
from rewrite_engine.match.lower import Compute, Condition
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, subpatterns

SEVERAL = "patterns speak of those with one; others are for a @node_rewriter"

Bindings = dict[str, Any]
Consumer = Callable[[Apply, Origin | None, Any], Origin | None]
Keeps = Callable[[Any, Apply, Any], Any]  # of a graph, a node, and what may take its place


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
        return pattern.operand
    args: list[Any] = []
    for a in pattern.args:
        value = build(a, bound)
        args.extend(value) if isinstance(a, Hole) and a.rest else args.append(value)
    op = pattern.op
    if isinstance(op, OpClass):
        op = op.cls(**{n: bound[p.name] if isinstance(p, Hole) else p for n, p in op.props})
    if any(isinstance(a, list) for a in args):
        raise PatternError(f"{op} of an op with several outputs: {SEVERAL}")
    return apply_weak(op, args)


# --- functions that are asked more ---------------------------------------------------------------


def careful(apply: Function, keeps: Keeps | None) -> Function:
    """A rule's function that proposes nothing by which an error of the term would be lost: then it
    says why not.
    """
    if keeps is None:
        return apply

    def checked(fgraph: Any, node: Apply) -> Any:
        new = apply(fgraph, node)
        if not isinstance(new, Variable):
            return new
        return keeps(fgraph, node, new) and new

    return checked


def on_constants(fn: Function) -> Function:
    """`fn`, where all inputs are constants (dispatch looks at the first few only)."""

    def apply(fgraph: Any, node: Apply) -> Any:
        return fn(fgraph, node) if all_constant(node) else None

    return apply


# --- what a firing consumes ----------------------------------------------------------------------


def consumer(left: OpNode) -> Consumer:
    """The function that makes the origin of what takes the place of a node where a rule fires. It
    gets the node, what takes its place already had as its origin (or None), and the rule.

    It is called at every firing, so the most common shape of left sides has one of its own. Where
    operands may stand in any order, those with an op that the pattern looks for count as consumed.
    """
    found = [(p, depth) for p, depth in subpatterns(left) if depth and isinstance(p, OpNode)]
    if not found:
        return plainly
    inner = [i for i, a in enumerate(left.args) if isinstance(a, OpNode)]
    if len(found) == len(inner) == 1 and not (is_ac(left) or left.swaps or left.rests):
        return _one(inner[0])
    heads = {p.op.cls if isinstance(p.op, OpClass) else p.op for p, _ in found}
    return _any(frozenset(heads), max(depth for _, depth in found))


def _one(i: int) -> Consumer:
    """For a left side with one op inside, at a fixed place."""

    def consumed(node: Apply, was: Origin | None, rule: Any) -> Origin:
        origin = node.origin
        own = origin if was is None else was
        place = own if own is None or len(own) == 2 else own[0]
        try:
            operand = node.inputs[i].owner
        except IndexError:  # the rule fired inside of the node's term (`rewrite/replay.py`)
            operand = None
        return place, rule, origin, None if operand is None else operand.origin, was

    return consumed


def _any(heads: frozenset[Any], depth: int) -> Consumer:
    """For any other: operands with these heads, as deep as the left side looks."""

    def consumed(node: Apply, was: Origin | None, rule: Any) -> Origin:
        found: list[Any] = [*plainly(node, was, rule)]  # type: ignore[misc]
        level = [node]
        for _ in range(depth):
            below: list[Apply] = []
            for parent in level:
                for v in parent.inputs:
                    if v.head in heads or type(v.head) in heads:
                        below.append(v.owner)
                        found.append(v.owner.origin)
            level = below
        return tuple(found)

    return consumed
