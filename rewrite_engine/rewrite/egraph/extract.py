"""Extraction: the cheapest e-nodes for some e-classes of an `EGraph`. Shared terms count once, and
so do several outputs of one node.

The best choice with sharing is a hard problem. Three choices are compared: the original terms, the
cheapest as trees, and the cheapest by sets of e-classes; the best is then improved by changing one
e-class at a time. On a tie the original terms stay, so a graph changes only if that pays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from time import perf_counter
from typing import Any

from rewrite_engine.graph.node import build_node
from rewrite_engine.graph.postorder import postorder, same
from rewrite_engine.rewrite.cost import CostModel, price
from rewrite_engine.rewrite.egraph import EGraph

Choice = dict[int, int]  # e-class -> the e-node chosen for it

LARGEST = 500  # e-classes in a set
CHANGES = 200  # changes of one e-class that are tried at the end


class Extractor:
    """Chooser of e-nodes in one e-graph (nothing may be added to it meanwhile)."""

    def __init__(self, egraph: EGraph, model: CostModel) -> None:
        self.egraph = egraph
        self.price = [self._price(n, model) for n in range(len(egraph))]
        #: the e-classes of the children of each e-node
        self.below = [[egraph.find(k) for k in kids] for kids in egraph.children]
        #: what is paid for once: an e-node, or the node of which it is one output of several
        self.node = [self._node(n) for n in range(len(egraph))]
        self.outputs: dict[Any, Choice] = {}  # of such a node: e-classes -> e-nodes
        for n, node in enumerate(self.node):
            if node != n:
                self.outputs.setdefault(node, {})[egraph.find(n)] = n
        self.trees: Choice = {}

    def _price(self, n: int, model: CostModel) -> float:
        egraph, var = self.egraph, self.egraph.var[n]
        node = var.owner
        if egraph.head[n] is None or node is None:
            return 0.0
        types = [(egraph.representative(n) if v is var else v).type for v in node.outputs]
        kids = tuple([egraph.representative(k) for k in egraph.children[n]])
        return price(build_node(node.op, kids, tuple(types)), model)

    def _node(self, n: int) -> Any:
        node = self.egraph.var[n].owner
        if self.egraph.head[n] is None or node is None or len(node.outputs) == 1:
            return n
        return node.op, self.egraph.key(n)[1]

    def choose(self, roots: Sequence[int], original: int, until: float) -> Choice | None:
        """Return the best choice for the e-classes `roots`; None if none is better than the
        original terms: the first `original` e-nodes, all of them needed.
        """
        start = sum({self.node[n]: self.price[n] for n in range(original)}.values())
        own: Choice = {}
        for n in range(original):
            own.setdefault(self.egraph.find(n), n)
        self.trees = self._trees()
        best = min((own, self.trees, self._sets()), key=lambda choice: self.total(choice, roots))
        best = self._improved(best, roots, until)
        return best if self.total(best, roots) < start else None

    def total(self, choice: Choice, roots: Sequence[int]) -> float:
        """Return the total cost of the chosen e-nodes; infinite if one of them would need
        itself.
        """
        order = self.order(choice, roots)
        if order is None:
            return inf
        chosen = [choice[c] for c in order]
        return sum({self.node[n]: self.price[n] for n in chosen}.values())

    def order(self, choice: Choice, roots: Sequence[int]) -> list[int] | None:
        """Return the needed e-classes, operands first; None if one needs itself."""

        def below(c: int) -> list[int]:
            return self.below[choice[c]][::-1]

        try:
            out = list(postorder(reversed(roots), below, key=same))
        except KeyError:  # nothing is chosen for one
            return None
        place = {c: i for i, c in enumerate(out)}
        looped = any([place[k] >= i for i, c in enumerate(out) for k in below(c)])
        return None if looped else out

    # --- ways to choose --------------------------------------------------------------------------

    def _trees(self) -> Choice:
        """Return the cheapest e-node of each e-class, counting shared terms at each use."""
        cost: dict[int, float] = {}

        def better(n: int, c: int) -> bool:
            amount = self.price[n] + sum([cost.get(k, inf) for k in self.below[n]])
            if amount >= cost.get(c, inf):
                return False
            cost[c] = amount
            return True

        return self._cheapest(better)

    def _sets(self) -> Choice:
        """Return the e-node of each e-class whose set of e-classes is cheapest (only for e-classes
        that are not too deep: the sets of a deep graph are as large as the graph).
        """
        best: dict[int, tuple[float, dict[int, float]]] = {}

        def better(n: int, c: int) -> bool:
            needed: dict[int, float] = {}
            for k in self.below[n]:
                below = best.get(k)
                if below is None or c in below[1] or len(below[1]) > LARGEST:
                    return False
                needed |= below[1]
            needed[c] = self.price[n]
            amount = sum(needed.values())
            if amount >= best.get(c, (inf,))[0]:
                return False
            best[c] = amount, needed
            return True

        return self._cheapest(better)

    def _cheapest(self, better: Callable[[int, int], bool]) -> Choice:
        """Choose better e-nodes as long as their operands get cheaper."""
        egraph, choice = self.egraph, Choice()
        todo = deque(n for members in egraph.members.values() for n in members)
        waiting = set(todo)
        while todo:
            n = todo.popleft()
            waiting.discard(n)
            c = egraph.find(n)
            if not better(n, c):
                continue
            choice[c] = n
            for p in egraph.parents.get(c, ()):
                if p not in waiting:
                    waiting.add(p)
                    todo.append(p)
        return choice

    def _improved(self, best: Choice, roots: Sequence[int], until: float) -> Choice:
        """Change the e-node of one e-class at a time, or those of all outputs of a node, as long as
        that helps. Then follow changes of equal cost: two together may help.
        """
        choice, cost = best, self.total(best, roots)
        tries = CHANGES
        helped, ties = True, False
        while helped or not ties:
            helped, ties = False, not helped
            for c in self.order(choice, roots) or ():
                for n in self.egraph.members[c]:
                    if n == choice[c]:
                        continue
                    tries -= 1
                    if tries < 0 or perf_counter() > until:
                        return best
                    other = self.trees | choice | self.outputs.get(self.node[n], {}) | {c: n}
                    amount = self.total(other, roots)
                    if amount < cost or (ties and amount == cost):
                        choice = other
                    if amount < cost:
                        best, cost, helped = other, amount, True
        return best
