"""Rules on an `EGraph`: find every place where a side of an equation matches, and add the other.

In rounds: first all matches (`rewrite/ematch.py`), then their right sides, then congruence. Only
classes that have changed, and those above them as far as rules look down, are looked at again. A
right side that cannot be built, or whose type does not fit, is no instance of the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.match.ac import EXTRA, is_ac
from rewrite_engine.match.emit import literal_like
from rewrite_engine.match.pattern import Hole, Literal, OpClass
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.ac import flatten, regroup
from rewrite_engine.rewrite.egraph import EGraph, Link
from rewrite_engine.rewrite.ematch import Bound, Joined, LeftSide, Tree, Weak
from rewrite_engine.rewrite.result import StopReason

Made = int | Weak | None  # a term, a number, or nothing: there is no such term

FEW = 1_000  # matches that are looked for in a round in any case

#: the rules that say that a sum in a sum is one sum
NESTS = (flatten, regroup)


class Limits(NamedTuple):
    """terms: how many there may be. until: the time (`perf_counter`) at which to stop."""

    terms: int
    until: float


class Match(NamedTuple):
    """A rule, the class where it matches, what its variables stand for, and the term it matched."""

    rule: Any
    bound: Bound
    tree: Tree


class Explorer:
    """Runs rules on one e-graph."""

    def __init__(self, egraph: EGraph, rules: Sequence[DataRule], limits: Limits) -> None:
        self.egraph = egraph
        self.rules = tuple(rules)
        self.limits = limits
        self.sides = [LeftSide(egraph, rule) for rule in self.rules]
        self.nests = {p.op for side in self.sides for p in side.plans}
        self.exact = all(rule.lowered.exact for rule in self.rules)
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
            room = self.limits.terms - len(egraph)
            some = list(islice(self._matches(self._changed()), 2 * room + FEW))
            for i, match in enumerate(some):
                if len(egraph) >= self.limits.terms or (i % 32 == 0 and self._late()):
                    egraph.rebuild()
                    return StopReason.BUDGET
                self._add(match)
            egraph.rebuild()
            if self._late() or len(some) == 2 * room + FEW:
                return StopReason.BUDGET
        return StopReason.SATURATED

    def flatten(self) -> None:
        """Add the one sum for every sum in a sum, nothing else (for who matches elsewhere)."""
        egraph = self.egraph
        for t in range(len(egraph)):  # what is added here is flat
            flat = t
            while True:
                found = next(self._nested(egraph.find(flat), flat), None)
                if found is None:
                    break
                self._add(found)
                flat = egraph.links[-1][1]
        egraph.rebuild()

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

    def _matches(self, classes: Sequence[int]) -> Iterator[Match]:
        ops = self.egraph.op
        for c in classes:
            for t in self.egraph.members(c):
                if self._late():
                    return
                for n in self._rules_at(ops[t]):
                    yield from self._new_matches(n, c, t)
                yield from self._nested(c, t)

    def _nested(self, c: int, t: int) -> Iterator[Match]:
        """Where an operand of an AC op is equal to a term of the same op, these are one sum."""
        egraph = self.egraph
        op, kids = egraph.op[t], egraph.kids[t]
        exactly = egraph.var[t].type.regroups_exactly
        if op not in self.nests or (self.exact and not exactly):
            return
        for i, k in enumerate(kids):
            inner = egraph.find(k)
            for m in egraph.members(inner) if inner != c else ():
                if egraph.op[m] is op:
                    flat = (*kids[:i], *egraph.kids[m], *kids[i + 1 :])
                    key = (c, *sorted(map(egraph.find, flat)))
                    if key not in self._seen:
                        self._seen.add(key)
                        rule = flatten if exactly or not i else regroup
                        yield Match(rule, {EXTRA: flat}, (op, (*kids[:i], m, *kids[i + 1 :])))

    def _rules_at(self, op: Any) -> list[int]:
        if op is None:
            return []
        found = self._by_op.get(op)
        if found is None:
            found = [n for n, rule in enumerate(self.rules) if rule.left.fits(op)]
            self._by_op[op] = found
        return found

    def _new_matches(self, n: int, c: int, t: int) -> Iterator[Match]:
        side = self.sides[n]
        for bound, tree in side.at(side.left, t, {}):
            key = (n, c, *side.key(bound))
            if key not in self._seen and side.guards_hold(bound):
                self._seen.add(key)
                yield Match(self.rules[n], bound, tree)

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
            matches += self._nested(c, t)
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
            right = None if left is None else self._right(match, left)
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

    def _right(self, match: Match, left: int) -> int | None:
        """The term of a rule's right side, beside the operands that its left side left alone."""
        egraph, bound = self.egraph, match.bound
        if match.rule in NESTS:
            return self.made(egraph.op[left], bound[EXTRA])
        right = self._built(match.rule.right, bound)
        if isinstance(right, Weak):
            constant = literal_like(egraph.var[left].owner, right.value)  # type: ignore[arg-type]
            right = None if constant is None else egraph.leaf(constant)
        if right is None or EXTRA not in bound:
            return right
        return self.made(egraph.op[left], [right, *bound[EXTRA]])

    def _built(self, pattern: Any, bound: Bound) -> Made:
        if isinstance(pattern, Literal):
            return Weak(pattern.value)
        if isinstance(pattern, Hole):
            value = bound[pattern.name]
            return self.made(*value) if isinstance(value, Joined) else value
        kids: list[Any] = []
        for a in pattern.args:
            rest = isinstance(a, Hole) and a.rest
            kids += bound[a.name] if rest else [self._built(a, bound)]
        op = pattern.op
        if isinstance(op, OpClass):
            op = op.cls(**{n: bound[p.name] if isinstance(p, Hole) else p for n, p in op.props})
        if len(kids) == 1 and is_ac(pattern):
            one: Made = kids[0]
            return one
        if all(isinstance(k, Weak) for k in kids) and hasattr(op, "on_numbers"):
            return Weak(op.on_numbers(*[k.value for k in kids]))
        return self.made(op, kids)

    def made(self, op: Any, kids: Sequence[Any]) -> int | None:
        """The term of an op on terms and numbers; None where the op wants something done to its
        operands first."""
        egraph = self.egraph
        if None in kids:
            return None
        weak = [isinstance(k, Weak) for k in kids]
        if not any(weak):
            known = egraph.known(op, tuple(kids))
            if known is not None:
                return known
        pairs = zip(kids, weak, strict=True)
        operands = [k.value if number else egraph.var[k] for k, number in pairs]
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
