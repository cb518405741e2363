"""Choosing terms: for some classes of an `EGraph` the cheapest terms together, what they share
counted once.

The best choice with sharing is a hard problem. Three choices are compared: the terms there were,
the cheapest as trees, and the cheapest by sets of classes; the best is then improved by changing
one class at a time. On a tie the terms that came first are kept, so a graph is changed only if that
pays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from math import inf
from time import perf_counter

from rewrite_engine.graph.node import build_node
from rewrite_engine.rewrite.cost import CostModel, price
from rewrite_engine.rewrite.egraph import EGraph

Choice = dict[int, int]  # class -> the term chosen for it

LARGEST = 500  # classes in a set
CHANGES = 200  # changes of one class that are tried at the end


class Extractor:
    """Chooses terms of one e-graph (nothing may be added to it meanwhile)."""

    def __init__(self, egraph: EGraph, model: CostModel) -> None:
        self.egraph = egraph
        self.price = [self._price(t, model) for t in range(len(egraph))]
        self.trees: Choice = {}

    def _price(self, t: int, model: CostModel) -> float:
        egraph = self.egraph
        if egraph.op[t] is None:
            return 0.0
        kids = tuple([egraph.speaker(k) for k in egraph.kids[t]])
        return price(build_node(egraph.op[t], kids, (egraph.speaker(t).type,)), model)

    def choose(self, roots: Sequence[int], original: int, until: float) -> Choice | None:
        """The best choice for the classes `roots`; None if none is better than the terms there
        were: the first `original` ones, all of them needed.
        """
        start = sum(self.price[:original])
        found: Choice = {}
        for t in range(original):
            found.setdefault(self.egraph.find(t), t)
        cost = self.total(found, roots)
        self.trees = self._trees()
        for choice in (self.trees, self._sets()):
            amount = self.total(choice, roots)
            if amount < cost:
                found, cost = choice, amount
        found, cost = self._improved(found, cost, roots, until)
        return found if cost < start else None

    def total(self, choice: Choice, roots: Iterable[int]) -> float:
        """What the chosen terms cost together; infinite if one of them would need itself."""
        order = self.order(choice, roots)
        return inf if order is None else sum(self.price[choice[c]] for c in order)

    def order(self, choice: Choice, roots: Iterable[int]) -> list[int] | None:
        """The classes that are needed, operands first; None if one needs itself."""
        egraph, state = self.egraph, dict[int, bool]()  # True: done
        out: list[int] = []
        stack = list(roots)
        while stack:
            c = stack[-1]
            if c in state:
                stack.pop()
                if not state[c]:
                    state[c] = True
                    out.append(c)
                continue
            if c not in choice:
                return None
            state[c] = False
            for k in {egraph.find(k) for k in egraph.kids[choice[c]]}:
                if k not in state:
                    stack.append(k)
                elif not state[k]:
                    return None
        return out

    # --- ways to choose --------------------------------------------------------------------------

    def _trees(self) -> Choice:
        """The cheapest term of each class, what is shared counted as often as it is used."""
        cost: dict[int, float] = {}
        choice: Choice = {}

        def consider(t: int, c: int) -> bool:
            kids = [cost.get(self.egraph.find(k), inf) for k in self.egraph.kids[t]]
            amount = self.price[t] + sum(kids)
            if amount >= cost.get(c, inf):
                return False
            cost[c], choice[c] = amount, t
            return True

        self._spread(consider)
        return choice

    def _sets(self) -> Choice:
        """The term of each class whose set of classes is cheapest (of those classes only that are
        not too deep: the sets of a deep graph are as large as the graph)."""
        best: dict[int, tuple[float, dict[int, float]]] = {}
        choice: Choice = {}

        def consider(t: int, c: int) -> bool:
            needed: dict[int, float] = {}
            for k in {self.egraph.find(k) for k in self.egraph.kids[t]}:
                below = best.get(k)
                if below is None or c in below[1] or len(below[1]) > LARGEST:
                    return False
                needed |= below[1]
            needed[c] = self.price[t]
            amount = sum(needed.values())
            if amount >= best.get(c, (inf,))[0]:
                return False
            best[c], choice[c] = (amount, needed), t
            return True

        self._spread(consider)
        return choice

    def _spread(self, consider: Callable[[int, int], bool]) -> None:
        """Consider terms again as long as their operands get cheaper."""
        egraph = self.egraph
        todo = deque(t for c in egraph.classes() for t in egraph.members(c))
        waiting = set(todo)
        while todo:
            t = todo.popleft()
            waiting.discard(t)
            c = egraph.find(t)
            if not consider(t, c):
                continue
            for p in egraph.parents(c):
                if p not in waiting:
                    waiting.add(p)
                    todo.append(p)

    def _improved(
        self, choice: Choice, cost: float, roots: Sequence[int], until: float
    ) -> tuple[Choice, float]:
        """Change the term of one class at a time while that helps."""
        tries = CHANGES
        again = True
        while again:
            again = False
            for c in self.order(choice, roots) or ():
                for t in self.egraph.members(c):
                    if t == choice[c]:
                        continue
                    tries -= 1
                    if tries < 0 or perf_counter() > until:
                        return choice, cost
                    other = self.trees | choice | {c: t}
                    amount = self.total(other, roots)
                    if amount < cost:
                        choice, cost, again = other, amount, True
        return choice, cost
