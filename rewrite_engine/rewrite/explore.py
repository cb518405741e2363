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
from rewrite_engine.graph.number import same_number
from rewrite_engine.match.ac import EXTRA, is_associative
from rewrite_engine.match.emit import literal_like
from rewrite_engine.match.lower import sound_side
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.ac import flatten, regroup
from rewrite_engine.rewrite.egraph import EGraph
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


class Full(Exception):
    """There are as many terms as there may be."""


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
        #: right sides in which an operand is left out where it is its default
        self.rights = {
            rule: sound_side(rule.right, getattr(rule, "direction", "") == "backward")
            for rule in self.rules
        }
        self.nests = {p.op for side in self.sides for p in side.sums}
        self.exact = all(rule.lowered.exact for rule in self.rules)
        self.depth = max([rule.depth for rule in self.rules], default=0)
        self._by_op: dict[Any, list[int]] = {}
        self._seen: set[Any] = set()

    def run(self) -> StopReason:
        """Go on until nothing new comes, or a limit is reached."""
        self.egraph.rebuild()
        while self.egraph.touched:
            if not self._round():
                return StopReason.BUDGET
        cut = any(side.cut for side in self.sides)
        return StopReason.BUDGET if cut else StopReason.SATURATED

    def _round(self) -> bool:
        """Look at what has changed, and add what is equal; False if a limit was reached."""
        most = 2 * max(self.limits.terms - len(self.egraph), 0) + FEW
        some = list(islice(self._matches(self._changed()), most))
        try:
            for i, match in enumerate(some):
                if i % 32 == 0 and self.late():
                    raise Full
                self._add(match)
        except Full:
            return False
        finally:
            self.egraph.rebuild()
        return not self.late() and len(some) < most

    def late(self) -> bool:
        """Whether the time is used up."""
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
                if self.late():
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
            found = [n for n, side in enumerate(self.sides) if side.fits(op)]
            self._by_op[op] = found
        return found

    def _new_matches(self, n: int, c: int, t: int) -> Iterator[Match]:
        side = self.sides[n]
        for i, (bound, tree) in enumerate(side.everywhere(t)):
            if i % 64 == 63 and self.late():
                return
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
        right = self._built(self.rights[match.rule], bound)
        if isinstance(right, Weak):
            constant = literal_like(egraph.var[left].owner, right.value)  # type: ignore[arg-type]
            right = None if constant is None else egraph.leaf(constant)
        if right is None or EXTRA not in bound:
            return right
        return self.made(egraph.op[left], [right, *bound[EXTRA]])

    def _built(self, pattern: Any, bound: Bound) -> Made:
        if isinstance(pattern, Literal):
            return Weak(pattern.operand)
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
        alone = self._without_default(pattern, kids)
        if alone is not None:
            return alone
        if len(kids) == 1 and is_associative(pattern):
            one: Made = kids[0]
            return one
        if all(isinstance(k, Weak) for k in kids) and hasattr(op, "on_numbers"):
            return Weak(op.on_numbers(*[k.value for k in kids]))
        return self.made(op, kids)

    def _without_default(self, pattern: OpNode, kids: Sequence[Any]) -> Made:
        """The other operand, where the one with a default is that number, and no dtype is lost."""
        if pattern.default is None:
            return None
        i = pattern.args.index(pattern.default)
        given, other = kids[i], kids[1 - i]
        if isinstance(other, Weak) or None in kids:
            return None
        egraph = self.egraph
        v = given.value if isinstance(given, Weak) else egraph.speaker(given)
        number = v if isinstance(given, Weak) else getattr(v, "number", None)
        if not same_number(number, pattern.default.default):
            return None
        whole = pattern.op.make_node(*[v if k is given else egraph.speaker(k) for k in kids])
        return other if whole.outputs[0].type is egraph.speaker(other).type else None

    def made(self, op: Any, kids: Sequence[Any]) -> int | None:
        """The term of an op on terms and numbers; None where the op wants something done to its
        operands first. Raises `Full`."""
        egraph = self.egraph
        if None in kids:
            return None
        weak = [isinstance(k, Weak) for k in kids]
        if not any(weak):
            known = egraph.known(op, tuple(kids))
            if known is not None:
                return known
        if len(egraph) >= self.limits.terms:
            raise Full
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
