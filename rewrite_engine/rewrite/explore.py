"""Rules on an `EGraph`: find every place where a side of an equation matches, and add the other.

In rounds: first all matches, then their right sides, then congruence. Only classes that have
changed, and those above them as far as rules look down, are looked at again. Sorts and guards are
asked of the variable that knows most of a class; a right side that cannot be built, or whose type
does not fit, is no instance of the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.match.build import ask
from rewrite_engine.match.emit import literal_like
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, subpatterns
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.egraph import EGraph, Link
from rewrite_engine.rewrite.result import StopReason

Bound = dict[str, Any]  # variables of a rule -> a term, or a parameter of an op
Tree = Any  # what a pattern matched: a term, or (op, trees)


class Limits(NamedTuple):
    """terms: how many there may be. until: the time (`perf_counter`) at which to stop."""

    terms: int
    until: float


class Match(NamedTuple):
    """A rule, the class where it matches, what its variables stand for, and the term it matched."""

    rule: DataRule
    bound: Bound
    tree: Tree


class Explorer:
    """Runs rules on one e-graph."""

    def __init__(self, egraph: EGraph, rules: Sequence[DataRule], limits: Limits) -> None:
        self.egraph = egraph
        self.rules = tuple(rules)
        self.limits = limits
        self.params = [_parameters(rule) for rule in self.rules]
        self.depth = max([rule.depth for rule in self.rules], default=0)
        self.rounds = 0
        self._by_op: dict[Any, list[int]] = {}
        self._seen: set[Any] = set()

    def run(self) -> StopReason:
        """Go on until nothing new comes, or a limit is reached."""
        egraph = self.egraph
        egraph.rebuild()
        while egraph.touched:
            self.rounds += 1
            found = self._matches(self._changed())
            for i, match in enumerate(found):
                if len(egraph) >= self.limits.terms or (i % 32 == 0 and self._late()):
                    egraph.rebuild()
                    return StopReason.BUDGET
                self._add(match)
            egraph.rebuild()
            if self._late():
                return StopReason.BUDGET
        return StopReason.SATURATED

    def _late(self) -> bool:
        return perf_counter() > self.limits.until

    def _changed(self) -> list[int]:
        """The classes at which a rule may see something new."""
        egraph = self.egraph
        layer = {egraph.find(c) for c in egraph.touched}
        egraph.touched = {}
        found = set(layer)
        for _ in range(self.depth):
            layer = {egraph.find(p) for c in layer for p in egraph.parents(c)} - found
            found |= layer
        return sorted(found)

    # --- matching --------------------------------------------------------------------------------

    def _matches(self, classes: Sequence[int]) -> list[Match]:
        found: list[Match] = []
        ops = self.egraph.op
        for c in classes:
            if self._late():
                break
            for t in self.egraph.members(c):
                for n in self._rules_at(ops[t]):
                    found += self._new_matches(n, c, t)
        return found

    def _rules_at(self, op: Any) -> list[int]:
        if op is None:
            return []
        found = self._by_op.get(op)
        if found is None:
            found = [n for n, rule in enumerate(self.rules) if rule.left.fits(op)]
            self._by_op[op] = found
        return found

    def _new_matches(self, n: int, c: int, t: int) -> Iterator[Match]:
        rule, params, find = self.rules[n], self.params[n], self.egraph.find
        for bound, tree in self._at(rule.left, t, {}):
            key = (n, c, *[v if k in params else find(v) for k, v in bound.items()])
            if key not in self._seen and self._guards_hold(rule, params, bound):
                self._seen.add(key)
                yield Match(rule, bound, tree)

    def _guards_hold(self, rule: DataRule, params: set[str], bound: Bound) -> bool:
        if not rule.guards:
            return True
        speaker = self.egraph.speaker
        asked = {k: v if k in params else speaker(v) for k, v in bound.items()}
        return all(ask(guard, asked) for guard in rule.guards)

    def _at(self, pattern: OpNode, t: int, bound: Bound) -> Iterator[tuple[Bound, Tree]]:
        """How a pattern matches a term, whose op fits."""
        op, kids = self.egraph.op[t], self.egraph.kids[t]
        if len(kids) != len(pattern.args):
            return
        inner = bind_parameters(pattern, op, bound)
        if inner is None:
            return
        for args in (pattern.args, pattern.args[::-1]) if pattern.swaps else (pattern.args,):
            for found, trees in self._operands(args, kids, inner):
                yield found, t if trees == kids else (op, trees)

    def _operands(
        self, patterns: Sequence[Any], kids: Sequence[int], bound: Bound
    ) -> Iterator[tuple[Bound, tuple[Tree, ...]]]:
        if not patterns:
            yield bound, ()
            return
        for found, tree in self._operand(patterns[0], kids[0], bound):
            for all_bound, trees in self._operands(patterns[1:], kids[1:], found):
                yield all_bound, (tree, *trees)

    def _operand(self, pattern: Any, k: int, bound: Bound) -> Iterator[tuple[Bound, Tree]]:
        egraph = self.egraph
        if isinstance(pattern, Hole):
            name = pattern.name
            if name in bound:
                if egraph.find(bound[name]) == egraph.find(k):
                    yield bound, k
            elif pattern.sort(egraph.speaker(k)):
                yield bound | {name: k}, k
        elif isinstance(pattern, Literal):
            if pattern.holds(egraph.speaker(k)):
                yield bound, k
        else:
            for t in egraph.members(egraph.find(k)):
                if egraph.op[t] is not None and pattern.fits(egraph.op[t]):
                    yield from self._at(pattern, t, bound)

    # --- adding ----------------------------------------------------------------------------------

    def _add(self, match: Match) -> None:
        """Add the right side of a match, equal to what matched."""
        sides = self._sides(match)
        if sides is not None:
            self.egraph.union(*sides, match.rule)

    def links_of(self, c: int) -> list[Link]:
        """Where rules lead from a term of a class to another of which it is known already that
        it is equal."""
        egraph = self.egraph
        found: list[Link] = []
        for t in list(egraph.members(c)):
            matches = [m for n in self._rules_at(egraph.op[t]) for m in self._new_matches(n, c, t)]
            for match in matches:
                sides = self._sides(match)
                if sides is not None and egraph.find(sides[0]) == egraph.find(sides[1]):
                    found.append((*sides, match.rule))
        return found

    def _sides(self, match: Match) -> tuple[int, int] | None:
        """Both terms of a match; None if there is no such right side."""
        egraph = self.egraph
        try:
            left = self._planted(match.tree)
            right = self._built(match.rule.right, match.bound, left)
        except (TypeError, ValueError):
            return None  # shapes or dtypes do not fit
        if left is None or right is None:
            return None
        old, new = egraph.speaker(left).type, egraph.speaker(right).type
        return (left, right) if old is new or old.yields_to(new) else None

    def _planted(self, tree: Tree) -> int | None:
        """The very term that matched, of which only an equal one may be there."""
        if isinstance(tree, int):
            return tree
        op, trees = tree
        return self.made(op, [self._planted(x) for x in trees])

    def _built(self, pattern: Any, bound: Bound, left: int | None) -> int | None:
        if isinstance(pattern, Hole):
            found: int = bound[pattern.name]
            return found
        if isinstance(pattern, Literal) and left is not None:
            node = self.egraph.var[left].owner
            constant = None if node is None else literal_like(node, pattern.value)
            return None if constant is None else self.egraph.leaf(constant)
        kids = [a.value if isinstance(a, Literal) else self._term(a, bound) for a in pattern.args]
        op = pattern.op
        if isinstance(op, OpClass):
            op = op.cls(**{n: bound[p.name] if isinstance(p, Hole) else p for n, p in op.props})
        literals = [isinstance(a, Literal) for a in pattern.args]
        return self.made(op, kids, literals if any(literals) else None)

    def _term(self, pattern: Any, bound: Bound) -> int | None:
        return self._built(pattern, bound, None)

    def made(
        self, op: Any, kids: Sequence[Any], literals: Sequence[bool] | None = None
    ) -> int | None:
        """The term of an op on terms (and numbers, where `literals` says so); None where the op
        wants something done to its operands first."""
        egraph = self.egraph
        if None in kids:
            return None
        if literals is None:
            known = egraph.known(op, tuple(kids))
            if known is not None:
                return known
            literals = [False] * len(kids)
        operands = [k if number else egraph.var[k] for k, number in zip(kids, literals)]
        node = op.make_node(*operands)
        if len(node.outputs) != 1:
            return None
        terms = [self._operand_of(v, operands, kids) for v in node.inputs]
        if None in terms or len(terms) != len(kids):
            return None
        return egraph.term(node.op, tuple(terms), node.outputs[0])  # type: ignore[arg-type]

    def _operand_of(self, v: Variable, operands: Sequence[Any], kids: Sequence[Any]) -> int | None:
        for given, k in zip(operands, kids, strict=True):
            if given is v:
                return int(k)
        return self.egraph.leaf(v) if isinstance(v, Constant) else None


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


def _parameters(rule: DataRule) -> set[str]:
    """The variables of a rule that stand for parameters of ops."""
    return {
        value.name
        for p, _ in subpatterns(rule.left)
        if isinstance(p, OpNode) and isinstance(p.op, OpClass)
        for _, value in p.op.props
        if isinstance(value, Hole)
    }
