"""Matching of operands of associative ops: the common part of pattern, interpreter and emitter.

An AC pattern is matched against all operands of a node, in any order. Its fixed operands
(everything but bare holes) take one operand each. The remaining operands go to the rest holes, or,
joined by the op, to the one bare hole that occurs nowhere else (the *collector*); a whole rule
whose left side has neither leaves them alone and puts them back next to its result. Alternatives
are tried in the order of the node's operands, so the first match is the same in the interpreter, in
compiled code and in every process. Several rests share the remaining operands in every way
(`rests.py`).

The operands of an op that is associative but not commutative have an order. A left side matches any
adjacent ones, and leaves those before and after them alone: `lower.extended` gives it a rest at
both ends. Below the root, a bare hole that occurs once takes one or more operands (`run_of`).

This module also defines a nest `a + (b + c)`, and its operands; the rules that open nests are in
`rewrite/ac.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rewrite_engine.graph.node import CONSTANT, Apply, Variable, build_variable
from rewrite_engine.match.pattern import Graph, Hole, Literal, OpNode, subpatterns

EXTRA = "*"  # the name under which the operands that a left side leaves alone are bound
BEFORE, AFTER = "<*", "*>"  # the same where operands have an order: on both sides


class Plan(NamedTuple):
    """Plan for how an AC pattern takes operands. fixed: patterns for one operand each, in the order
    in which they are tried. rests: the holes that take the remaining operands, with the number of
    occurrences of each, most frequent first. collector: the bare hole that takes them, if any.
    ordered: whether a rest also belongs to an op with ordered operands, so that its order matters
    everywhere.
    """

    fixed: tuple[Any, ...]
    rests: dict[Hole, int]
    collector: Hole | None
    ordered: bool = False

    @property
    def wanted(self) -> int:
        """Number of operands that must exist."""
        return len(self.fixed) + (self.collector is not None)

    def leaves(self, pattern: OpNode, left: OpNode) -> bool:
        """Return whether the pattern, as the whole left side, leaves other operands alone."""
        return pattern is left and not self.rests and self.collector is None


def is_associative(pattern: Any) -> bool:
    """Return whether a pattern is an op whose nests are one op on all operands."""
    if not isinstance(pattern, OpNode) or isinstance(pattern.op, Variable):
        return False
    return bool(getattr(pattern.op, "associative", False))


def is_ac(pattern: Any) -> bool:
    """Return whether a pattern is an op whose operands are matched in any order and number."""
    return is_associative(pattern) and bool(getattr(pattern.op, "commutative", False))


def plan(pattern: OpNode, left: OpNode) -> Plan:
    """Sort the operands of an AC pattern within a left side: cheap tests before expensive ones."""
    parts = [p for p, _ in subpatterns(left)]
    rests = Counter([pattern.args[i] for i in pattern.rests])
    bare = [a for a in pattern.args if isinstance(a, Hole) and not a.sort.constant]
    #: the last of those that occur only here may stand for several operands at once
    alone = [] if rests else [a for a in bare if parts.count(a) == 1]
    collector = alone[-1] if alone else None
    others = [
        a for i, a in enumerate(pattern.args) if i not in pattern.rests and a is not collector
    ]
    whole = [p for p in parts if isinstance(p, OpNode) and not is_ac(p)]
    ordered = any(isinstance(a, Hole) and a in rests for p in whole for a in p.args)
    return Plan(tuple(sorted(others, key=_cost)), dict(rests.most_common()), collector, ordered)


def _cost(pattern: Any) -> int:
    """Return the cost of a pattern: constants are tried before ops, and ops before variables that
    may stand for anything.
    """
    if isinstance(pattern, Literal) or (isinstance(pattern, Hole) and pattern.sort.constant):
        return 0
    return 1 if isinstance(pattern, OpNode) else 2


def spliced(op: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the operands, with nested operands of the same associative op in place of it."""
    if not op.associative:
        return args
    result: list[Any] = []
    for a in args:
        result.extend(a.args if isinstance(a, OpNode) and a.op is op else [a])
    return tuple(result)


def joined(op: Any, operands: Sequence[Any]) -> Any:
    """Return one term for operands of an AC op: the operand itself if there is one."""
    return operands[0] if len(operands) == 1 else op(*operands)


def same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Return whether operands are the same in any order."""
    return a == b or (len(a) == len(b) and Counter(a) == Counter(b))


def may_regroup(exact: bool, variable: Any) -> bool:
    """Return whether a rule may match some of the operands: an exact one regroups no sums of
    floats.
    """
    return not exact or bool(variable.type.regroups_exactly)


def keeps_dtype(whole: Variable, *groups: Sequence[Variable]) -> bool:
    """Return whether an op computes each of several groups of the operands of `whole` as it
    computes all of them. Operands of an integer product are converted first: a narrower group alone
    would wrap.
    """
    parts = [group for group in groups if group]
    like = whole.type.computes_like
    return len(parts) < 2 or all(len(g) < 2 or any(like(v.type) for v in g) for g in parts)


def stands_alone(out: Variable, exact: bool, start: int, end: int) -> bool:
    """Return whether adjacent operands may be a term of their own. exact: see `may_regroup`."""
    inputs = out.owner.inputs  # type: ignore[union-attr]
    if end - start < 2 or end - start == len(inputs):
        return True
    return may_regroup(exact, out) and keeps_dtype(out, inputs[start:end], inputs[:1])


def run_of(out: Variable, exact: bool, start: int, end: int) -> Any:
    """Return adjacent operands of `out` as one term; None if they may not be one."""
    node: Any = out.owner
    alone = stands_alone(out, exact, start, end)
    return joined(node.op, node.inputs[start:end]) if alone else None


def without(operands: Sequence[Any], taken: Container[int]) -> tuple[Any, ...]:
    """Return the operands at the other positions, in order."""
    return tuple([v for i, v in enumerate(operands) if i not in taken])


def apply_weak(op: Any, args: Sequence[Any]) -> Any:
    """Apply an op to terms and Python numbers. Numbers alone stay a number, so that it takes the
    precision of the other operands; an associative op with one operand left is that operand.
    """
    if len(args) == 1 and op.associative:
        return args[0]
    if not any(isinstance(a, Variable) for a in args) and hasattr(op, "on_numbers"):
        return op.on_numbers(*args)
    return op(*args)


def put_back(op: Any, term: Any, extra: Sequence[Any]) -> Any:
    """Combine the result of a rule with the operands that its left side left alone."""
    if term is None or not extra:
        return term
    return op(term, *extra)


def positions(inputs: Sequence[Any]) -> dict[Any, list[tuple[int, Any]]]:
    """Return {operand: its places} and {(op, input of an operand that the op computes): its
    places}.
    """
    index: dict[Any, list[tuple[int, Any]]] = {}
    for i, v in enumerate(inputs):
        index.setdefault(v, []).append((i, v))
        if v.owner is not None:
            for u in dict.fromkeys(v.owner.inputs):
                index.setdefault((v.head, u), []).append((i, v))
    return index


def same_node(a: Apply, b: Apply) -> bool:
    """Return whether two nodes are one, or will be after merging."""
    return a is b or (a.op is b.op and a.inputs == b.inputs)


# --- nests ----------------------------------------------------------------------------------------


class Uses:
    """Clients among nodes outside any graph: the part of a `FunctionGraph` that this module
    reads.
    """

    def __init__(self, nodes: Iterable[Apply], outputs: Iterable[Variable]) -> None:
        self.out_uses = set(outputs)
        self.users: dict[Variable, dict[Apply, None]] = {}
        for node in nodes:
            for out in node.outputs:
                self.users.setdefault(out, {})
            for v in node.inputs:
                self.users.setdefault(v, {})[node] = None

    def present_inputs(self, node: Apply) -> Sequence[Variable]:
        """Return the inputs of a node."""
        return node.inputs


def is_joined_to(fgraph: Graph | Uses, v: Variable, op: Any, type_: Any) -> bool:
    """Return whether `v` is computed by the same op, has the extent of the result it goes into, and
    is used nowhere else, so that its operands can replace it.
    """
    if v.head is not op or not (v.type is type_ or v.type.is_super(type_)):
        return False
    if fgraph is not None and (len(fgraph.users[v]) != 1 or v in fgraph.out_uses):
        return False
    return not all_constant(v.owner)


def all_constant(node: Any) -> bool:
    """Return whether a node will be folded."""
    for v in node.inputs:  # noqa: SIM110  (faster: the first one nearly always decides)
        if v.head is not CONSTANT:
            return False
    return True


def is_inside(fgraph: Graph | Uses, node: Apply, anywhere: bool) -> bool:
    """Return whether a node is an inner one of a nest: the whole nest is opened at its root."""
    out = node.outputs[0]
    if fgraph is None or len(users := fgraph.users[out]) != 1:
        return False
    (client,) = users
    if not is_joined_to(fgraph, out, client.op, client.outputs[0].type):
        return False
    if anywhere and len(client.inputs) > 4:
        return True
    inputs = fgraph.present_inputs(client)
    return (anywhere or inputs[0] is out) and (len(inputs) > 4 or inputs.count(out) == 1)


def leaves(fgraph: Graph | Uses, node: Apply, anywhere: bool = True) -> Iterator[Variable]:
    """Yield the operands of the nest in order; anywhere: not only of the first operand,
    `(a + b) + c`.
    """
    op, type_ = node.op, node.outputs[0].type
    opens = True
    stack = [iter(node.inputs)]
    twice = repeated(node.inputs)
    while stack:
        v = next(stack[-1], None)
        if v is None:
            stack.pop()
        elif not opens or v in twice or not is_joined_to(fgraph, v, op, type_):
            opens = anywhere
            yield v
        else:
            inner = v.owner.inputs
            twice |= repeated(inner)
            stack.append(iter(inner))


def repeated(operands: Sequence[Variable]) -> set[Variable]:
    """Return the operands that occur more than once."""
    if len(set(operands)) == len(operands):
        return set()
    return {v for v, n in Counter(operands).items() if n > 1}


def as_one(uses: Graph | Uses, node: Apply) -> Apply | None:
    """Return the node with the operands of the whole nest, if it is the root of one."""
    op, out = node.op, node.outputs[0]
    if not any([v.head is op for v in node.inputs]) or is_inside(uses, node, anywhere=True):
        return None
    operands = tuple(leaves(uses, node))
    if len(operands) == len(node.inputs):
        return None
    whole: Apply | None = build_variable(op, operands, out.type, node.origin).owner
    return whole
