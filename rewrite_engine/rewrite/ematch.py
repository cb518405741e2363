"""Left sides of rules on the terms of an `EGraph`: every way in which one matches.

A variable of the rule is bound to a term (by number), to several operands at once (`Joined`, a
tuple), to a number that stands for a missing operand (`Weak`), or to a parameter of an op. Sorts
are asked of the variable that tells most of a class. Associative-commutative ops are matched as
everywhere (`match/ac.py`): some of many operands, the others stay beside the result; so no equation
has to reorder or regroup operands, which would make about 3ⁿ terms of n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rewrite_engine.graph.node import Variable
from rewrite_engine.match.ac import (
    EXTRA,
    Plan,
    Tries,
    is_ac,
    keeps_dtype,
    may_regroup,
    plan,
    shares,
    without,
)
from rewrite_engine.match.build import ask
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, subpatterns
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.egraph import EGraph, Kids

Bound = dict[str, Any]
Tree = Any  # what a pattern matched: a term, or (op, trees)
Way = tuple[Bound, Tree]


class Joined(NamedTuple):
    """Operands of an AC op that one variable stands for. They become a term of their own only if
    the rule matches."""

    op: Any
    kids: Kids


class Weak(NamedTuple):
    """A number that has no dtype yet."""

    value: Any


class LeftSide:
    """The left side of one rule on one e-graph."""

    def __init__(self, egraph: EGraph, rule: DataRule) -> None:
        self.egraph = egraph
        self.rule = rule
        self.left = rule.left
        self.parameters = parameters(rule)
        self.plans: dict[OpNode, Plan] = {
            p: plan(p, rule.left) for p, _ in subpatterns(rule.left) if is_ac(p)
        }
        self._joined: dict[Joined, Variable | None] = {}

    def key(self, bound: Bound) -> tuple[Any, ...]:
        """What two matches have in common iff their variables stand for equal terms."""
        find = self.egraph.find
        return tuple([v if k in self.parameters else _key(v, find) for k, v in bound.items()])

    def guards_hold(self, bound: Bound) -> bool:
        """Ask the rule's guards of the variables of what its variables stand for."""
        if not self.rule.guards:
            return True
        asked = {k: v if k in self.parameters else self.shown(v) for k, v in bound.items()}
        return None not in asked.values() and all(ask(g, asked) for g in self.rule.guards)

    def shown(self, value: Any) -> Any:
        """The graph variable (or variables, or number) for what a variable of the rule stands for;
        None if there is no such term."""
        if isinstance(value, Weak):
            return value.value
        if isinstance(value, Joined):
            if value not in self._joined:
                self._joined[value] = self._variable(value)
            return self._joined[value]
        speaker = self.egraph.speaker
        return speaker(value) if isinstance(value, int) else tuple(map(speaker, value))

    def _variable(self, joined: Joined) -> Variable | None:
        try:
            node = joined.op.make_node(*[self.egraph.speaker(k) for k in joined.kids])
        except (TypeError, ValueError):
            return None
        found: Variable = node.outputs[0]
        return found

    # --- patterns --------------------------------------------------------------------------------

    def at(self, pattern: OpNode, t: int, bound: Bound) -> Iterator[Way]:
        """How a pattern matches a term, whose op fits."""
        op, kids = self.egraph.op[t], self.egraph.kids[t]
        inner = bind_parameters(pattern, op, bound)
        if inner is None:
            return
        if pattern in self.plans:
            yield from self.in_any_order(pattern, t, inner)
        elif len(kids) == len(pattern.args):
            for args in (pattern.args, pattern.args[::-1]) if pattern.swaps else (pattern.args,):
                for found, trees in self.operands(args, kids, inner):
                    yield found, t if trees == kids else (op, trees)

    def operands(
        self, patterns: Sequence[Any], kids: Sequence[int], bound: Bound
    ) -> Iterator[tuple[Bound, tuple[Tree, ...]]]:
        """How patterns match operands, one each."""
        if not patterns:
            yield bound, ()
            return
        for found, tree in self.operand(patterns[0], kids[0], bound):
            for all_bound, trees in self.operands(patterns[1:], kids[1:], found):
                yield all_bound, (tree, *trees)

    def operand(self, pattern: Any, k: int, bound: Bound) -> Iterator[Way]:
        """How a pattern matches the class of an operand."""
        egraph = self.egraph
        if isinstance(pattern, Hole):
            inner = self.bind(pattern, k, bound)
            if inner is not None:
                yield inner, k
        elif isinstance(pattern, Literal):
            if pattern.holds(egraph.speaker(k)):
                yield bound, k
        else:
            for t in egraph.members(egraph.find(k)):
                if egraph.op[t] is not None and pattern.fits(egraph.op[t]):
                    yield from self.at(pattern, t, bound)
            yield from self.missing(pattern, k, bound)

    def missing(self, pattern: OpNode, k: int, bound: Bound) -> Iterator[Way]:
        """How what is left of an op matches where its operand with a default is missing."""
        hole = pattern.default
        if hole is None or hole.name in bound:
            return
        (other,) = [a for a in pattern.args if a is not hole]
        yield from self.operand(other, k, bound | {hole.name: Weak(hole.default)})

    def bind(self, hole: Hole, value: Any, bound: Bound) -> Bound | None:
        """Let a variable stand for something; None if it may not."""
        if hole.name in bound:
            find = self.egraph.find
            return bound if _key(bound[hole.name], find) == _key(value, find) else None
        shown = self.shown(value)
        fits = shown is not None and (hole.rest or hole.sort(shown))
        return bound | {hole.name: value} if fits else None

    def in_any_order(self, pattern: OpNode, t: int, bound: Bound) -> Iterator[Way]:
        """How an AC pattern matches a term: some operands, and something for those left."""
        taking, op, kids = self.plans[pattern], self.egraph.op[t], self.egraph.kids[t]
        wanted, whole = taking.wanted, self.egraph.var[t]
        more = taking.rests or taking.collector or taking.leaves(pattern, self.left)
        if len(kids) < wanted or (len(kids) > wanted and not more):
            return
        exact = self.rule.lowered.exact and not taking.rests
        if not may_regroup(len(kids), wanted, exact, whole):
            return
        for found, trees in self.assigned(taking.fixed, kids, bound, {}):
            left = without(kids, tuple(trees))
            taken = [self.egraph.speaker(kids[i]) for i in trees]
            others = [self.egraph.speaker(k) for k in (left if taking.collector else left[:1])]
            if not keeps_dtype(whole, taken, others):
                continue
            for inner in self.with_others(taking, op, left, found):
                planted = tuple([trees.get(i, k) for i, k in enumerate(kids)])
                yield inner, t if planted == kids else (op, planted)

    def with_others(self, taking: Plan, op: Any, left: Kids, bound: Bound) -> Iterator[Bound]:
        """Bind the operands that no pattern took."""
        if taking.rests:
            yield from self.with_rests(taking, left, bound)
        elif taking.collector is not None:
            value = left[0] if len(left) == 1 else Joined(op, left)
            inner = self.bind(taking.collector, value, bound)
            if inner is not None:
                yield inner
        else:
            yield bound | {EXTRA: left} if left else bound

    def with_rests(self, taking: Plan, left: Kids, bound: Bound) -> Iterator[Bound]:
        """Let rests take the operands that are left; those of equal terms are equal."""
        find = self.egraph.find
        free = {hole.name: n for hole, n in taking.rests.items() if hole.name not in bound}
        known = [
            tuple(map(find, bound[hole.name]))
            for hole, n in taking.rests.items()
            for _ in range(n)
            if hole.name in bound
        ]
        here = tuple(map(find, left))
        for some in shares(here, known, tuple(free.values()), False, Tries()):
            yield bound | dict(zip(free, some, strict=True))

    def assigned(
        self, fixed: Sequence[Any], kids: Kids, bound: Bound, trees: dict[int, Tree]
    ) -> Iterator[tuple[Bound, dict[int, Tree]]]:
        """The ways in which patterns take one operand each; the trees by the operand's place."""
        if not fixed:
            yield bound, trees
            return
        for i, k in enumerate(kids):
            if i in trees:
                continue
            for found, tree in self.operand(fixed[0], k, bound):
                yield from self.assigned(fixed[1:], kids, found, trees | {i: tree})


def _key(value: Any, find: Any) -> Any:
    """A value with classes for terms; several terms have no order (they are operands of AC ops)."""
    if isinstance(value, int):
        return find(value)
    if isinstance(value, Weak):
        return value
    if isinstance(value, Joined):
        return value.op, tuple(sorted(map(find, value.kids)))
    return tuple(sorted(map(find, value)))


def bind_parameters(pattern: OpNode, op: Any, bound: Bound) -> Bound | None:
    """Match the parameters of an op; None if they do not fit."""
    if not isinstance(pattern.op, OpClass):
        return bound
    for name, wanted in pattern.op.props:
        value = getattr(op, name)
        if not isinstance(wanted, Hole):
            if value != wanted:
                return None
        elif bound.get(wanted.name, value) != value:
            return None
        else:
            bound = bound | {wanted.name: value}
    return bound


def parameters(rule: DataRule) -> set[str]:
    """The variables of a rule that stand for parameters of ops."""
    return {
        value.name
        for p, _ in subpatterns(rule.left)
        if isinstance(p, OpNode) and isinstance(p.op, OpClass)
        for _, value in p.op.props
        if isinstance(value, Hole)
    }
