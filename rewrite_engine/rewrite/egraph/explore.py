"""Rules on an `EGraph`: find every place where a side of an equation matches, and add the other
side.

Work proceeds in rounds: first all matches (`ematch.py`), then their right sides, then congruence.
Only changed e-classes, and those above them within the depth of rules, are tried again. A right
side that cannot be built, or whose type does not fit, is no instance of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import Any

from rewrite_engine.graph.node import Constant, Projection
from rewrite_engine.match.ac import EXTRA
from rewrite_engine.match.build import as_term, build
from rewrite_engine.match.interpret import Bindings
from rewrite_engine.match.pattern import OpNode
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.ac import flatten, regroup
from rewrite_engine.rewrite.egraph import EGraph, output_of
from rewrite_engine.rewrite.egraph.ematch import EMatcher, Joined, Place, Tree
from rewrite_engine.rewrite.result import StopReason

Made = Place | Any  # an e-node, a number that has no dtype yet, or None: there is no such term

FEW = 1_000  # matches that are looked for in a round in any case


#: a rule and its right side, what its variables stand for, and the term it matched
Instance = tuple[Any, Any, Bindings, Tree]


class Full(Exception):
    """Raised when the limit of e-nodes is reached."""


class Explorer:
    """Runner of rules on one e-graph. most: the limit of e-nodes. until: the time (`perf_counter`)
    at which to stop.
    """

    def __init__(self, egraph: EGraph, rules: Sequence[DataRule], most: int, until: float) -> None:
        self.egraph, self.most, self.until = egraph, most, until
        self.matchers = [
            EMatcher(egraph, rule, part) for rule in rules for part in rule.lowered.parts
        ]
        self.nests = {p.op for matcher in self.matchers for p in matcher.sums}
        self.exact = all(rule.lowered.exact for rule in rules)
        self.depth = max([rule.depth for rule in rules], default=0)
        self._by_head: dict[Any, list[EMatcher]] = {}
        self._seen: set[Any] = set()

    def run(self, done: Callable[[], bool] = lambda: False) -> StopReason:
        """Run until nothing new is found, a limit is reached, or `done` is true after a round."""
        self.egraph.rebuild()
        while self.egraph.changed and not done():
            if not self._round():
                return StopReason.BUDGET
        cut = any(matcher.cut for matcher in self.matchers)
        return StopReason.BUDGET if cut else StopReason.SATURATED

    def _round(self) -> bool:
        """Process the changed e-classes, and add equal terms; False if a limit was reached."""
        most = 2 * max(self.most - len(self.egraph), 0) + FEW
        some = list(islice(self._matches(self._changed()), most))
        try:
            for i, instance in enumerate(some):
                if i % 32 == 0 and self._late():
                    raise Full
                self._add(*instance)
        except Full:
            return False
        finally:
            self.egraph.rebuild()
        return not self._late() and len(some) < most

    def _late(self) -> bool:
        return perf_counter() > self.until

    def _changed(self) -> list[int]:
        """Return the e-classes at which a rule may find something new."""
        egraph = self.egraph
        layer = {egraph.find(c) for c in egraph.changed}
        egraph.changed = {}
        found = set(layer)
        for _ in range(self.depth):
            layer = {egraph.find(p) for c in layer for p in egraph.parents.get(c, ())} - found
            found |= layer
        return sorted(found)

    # --- matching --------------------------------------------------------------------------------

    def _matches(self, classes: Sequence[int]) -> Iterator[Instance]:
        for c in classes:
            for n in self.egraph.members[c]:
                if self._late():
                    return
                head = self.egraph.head[n]
                if head not in self._by_head:
                    self._by_head[head] = [m for m in self.matchers if m.fits(n)]
                for matcher in self._by_head[head]:
                    yield from self._new(matcher, c, n)
                yield from self._nested(c, n)

    def _new(self, matcher: EMatcher, c: int, n: int) -> Iterator[Instance]:
        """Yield the new matches of a rule at an e-node."""
        for i, bound in enumerate(matcher.ways(n)):
            if i % 64 == 63 and self._late():
                return
            key = (matcher, c, *matcher.signature(bound))
            if key not in self._seen and matcher.guards_hold(bound):
                self._seen.add(key)
                yield matcher.rule, matcher.right, bound, matcher.tree(bound)

    def _nested(self, c: int, n: int) -> Iterator[Instance]:
        """Yield flattenings: if an operand of an AC op equals a term of the same op, these are one
        sum.
        """
        egraph = self.egraph
        head, kids = egraph.head[n], egraph.children[n]
        exactly = egraph.var[n].type.regroups_exactly
        if head not in self.nests or (self.exact and not exactly):
            return
        for i, k in enumerate(kids):
            inner = egraph.find(k)
            for m in egraph.members[inner] if inner != c else ():
                if egraph.head[m] is head:
                    flat = (*kids[:i], *egraph.children[m], *kids[i + 1 :])
                    key = (c, *sorted(map(egraph.find, flat)))
                    if key not in self._seen:
                        self._seen.add(key)
                        rule = flatten if exactly or not i else regroup
                        tree = head, (*kids[:i], m, *kids[i + 1 :])
                        yield rule, None, {EXTRA: tuple(map(Place, flat))}, tree

    # --- adding ----------------------------------------------------------------------------------

    def _add(self, rule: Any, right_side: Any, bound: Bindings, tree: Tree) -> None:
        """Add the right side of a match, if it exists, as equal to the matched term."""
        egraph = self.egraph
        try:
            left = self._planted(tree)
            right = None if left is None else self._right(right_side, bound, left.n)
        except (TypeError, ValueError):
            return  # shapes or dtypes do not fit
        if left is None or right is None:
            return
        old, new = egraph.representative(left.n).type, egraph.representative(right.n).type
        if old is new or old.yields_to(new):
            egraph.union(left.n, right.n, rule)

    def _planted(self, tree: Tree) -> Place | None:
        """Return the place of the exact term that matched, of which only an equal one may exist."""
        if isinstance(tree, int):
            return Place(tree)
        head, trees = tree
        return self.made(head, [self._planted(x) for x in trees])

    def _right(self, side: Any, bound: Bindings, left: int) -> Place | None:
        """Return the right side of a rule, combined with the operands that its left side left
        over.
        """
        egraph, beside = self.egraph, bound.get(EXTRA, ())
        if side is None:
            return self.made(egraph.head[left], beside)
        right = self._whole(build(side, bound, self._applied))
        if right is not None and not isinstance(right, Place):
            v: Any = egraph.var[left]
            constant = as_term(v.owner, right, v.index)
            right = None if constant is None else Place(egraph.leaf(constant))
        return self.made(egraph.head[left], [right, *beside]) if beside else right

    def _whole(self, made: Any) -> Made:
        return self.made(*made) if isinstance(made, Joined) else made

    def _applied(self, pattern: OpNode, op: Any, args: Sequence[Any]) -> Made:
        """Apply an op of a right side to its operands."""
        kids = [*map(self._whole, args)]
        if len(kids) == 1 and op.associative:
            return kids[0]
        if hasattr(op, "on_numbers") and not any(k is None or isinstance(k, Place) for k in kids):
            return op.on_numbers(*kids)
        return self.made(op if pattern.index is None else Projection(op, pattern.index), kids)

    def made(self, head: Any, kids: Sequence[Made]) -> Place | None:
        """Return the e-node of a head on e-nodes and numbers; None if the op must first convert its
        operands. Raises `Full`.
        """
        egraph = self.egraph
        if None in kids:
            return None
        given = [k.n if isinstance(k, Place) else None for k in kids]
        if None not in given:
            known = egraph.known(head, tuple(given))  # type: ignore[arg-type]
            if known is not None:
                return Place(known)
        if len(egraph) >= self.most:
            raise Full
        operands = [k if n is None else egraph.var[n] for k, n in zip(kids, given, strict=True)]
        out = output_of(head, operands)
        own = {id(v): n for v, n in zip(operands, given, strict=True) if n is not None}
        inputs = out.owner.inputs
        if len(inputs) != len(kids):
            return None
        if not all(id(v) in own or isinstance(v, Constant) for v in inputs):
            return None
        nodes = [own[id(v)] if id(v) in own else egraph.leaf(v) for v in inputs]
        return Place(egraph.add(tuple(nodes), out))
