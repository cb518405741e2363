"""The dynamic order: honoured edges, refused cycles, the cost of a change."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewrite_engine.errors import CycleError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.order import GAP, Order
from tests.growth import lines
from tests.toy import add, num, sin


class Edges:
    """An order of nodes whose edges are given one by one. `brute` answers by searching."""

    def __init__(self, n: int) -> None:
        self.after: dict[Apply, list[Apply]] = {}
        self.order = Order(lambda node: self.after[node])
        self.visits = 0
        self.nodes = [sin(num()).owner for _ in range(n)]
        for node in self.nodes:
            self.after[node] = []
            self.order.insert(node, GAP)

    def require(self, edges: list[tuple[Apply, Apply]]) -> None:
        if self.order.conflict(edges) is not None:
            raise CycleError

    def add(self, i: int, j: int) -> None:
        self.require([(self.nodes[i], self.nodes[j])])
        self.after[self.nodes[i]].append(self.nodes[j])

    def reaches(self, start: Apply, goals: set[Apply]) -> bool:
        stack, seen = [start], set()
        while stack:
            node = stack.pop()
            if node in goals:
                return True
            if node not in seen:
                seen.add(node)
                stack += [*self.after[node], *self.order.extra.get(node, ())]
        return False

    def check(self) -> None:
        level = self.order.level
        for node in self.nodes:
            for other in [*self.after[node], *self.order.extra.get(node, ())]:
                assert level[node] < level[other]


def fuzz(seed: int) -> int:
    """Random edges, ordinary and extra, several at once: accepted iff no cycle; refused ones
    change nothing.
    """
    rng = random.Random(seed)
    graph = Edges(rng.randrange(2, 25))
    refused = 0
    for _ in range(60):
        one, many = rng.choice(graph.nodes), rng.sample(graph.nodes, rng.randrange(1, 3))
        forward = rng.random() < 0.5
        edges = [(one, other) if forward else (other, one) for other in many]
        cyclic = any(graph.reaches(after, {before}) for before, after in edges)
        levels = dict(graph.order.level)
        try:
            if rng.random() < 0.3:
                graph.order.add_edges(edges)
            else:
                graph.require(edges)
                for before, after in edges:
                    graph.after[before].append(after)
        except CycleError:
            assert cyclic
            assert graph.order.level == levels
            refused += 1
        else:
            assert not cyclic
        graph.check()
        if rng.random() < 0.1:
            graph.order.remove_edges(
                [(b, a) for b, afters in graph.order.extra.items() for a in afters][:1]
            )
    return refused


@given(st.integers(0, 1 << 30))
def test_edges_are_accepted_unless_they_close_a_cycle(seed: int) -> None:
    fuzz(seed)


def test_the_fuzz_meets_both_outcomes() -> None:
    counts = [fuzz(seed) for seed in range(20)]
    assert 0 < sum(counts) < 20 * 60


def test_a_node_is_placed_above_its_inputs() -> None:
    x = num("x")
    order = Order(lambda node: ())
    a, b = sin(x), sin(x)
    c = add(a, b)
    assert order.insert(a.owner, GAP) == GAP
    assert order.insert(b.owner) == 1
    assert order.insert(c.owner) == GAP + 1


def test_an_edge_to_itself_is_a_cycle() -> None:
    graph = Edges(1)
    with pytest.raises(CycleError, match="sin would depend on itself"):
        graph.order.add_edges([(graph.nodes[0], graph.nodes[0])])


def test_removed_edges_bind_no_more() -> None:
    graph = Edges(2)
    a, b = graph.nodes
    graph.order.add_edges([(a, b)])
    with pytest.raises(CycleError):
        graph.order.add_edges([(b, a)])
    graph.order.remove_edges([(a, b), (a, b)])
    assert not graph.order.extra
    graph.order.add_edges([(b, a)])
    assert graph.order.level[b] < graph.order.level[a]


def test_a_removed_node_is_forgotten() -> None:
    graph = Edges(2)
    a, b = graph.nodes
    graph.order.add_edges([(a, b)])
    graph.order.remove_edges([(a, b)])
    del graph.order.level[a]
    assert a not in graph.order.level
    assert not graph.order.extra


def ladder(n: int) -> Edges:
    """Diamonds on top of each other: 2**n paths."""
    graph = Edges(3 * n + 2)
    for i in range(0, 3 * n, 3):
        for side in (i + 1, i + 2):
            graph.add(i, side)
            graph.add(side, i + 3)
    return graph


def test_diamonds_are_raised_once_each() -> None:
    n = 2_000
    graph = ladder(n)
    asked = 0
    above = graph.order.above

    def counting(node: Apply) -> list[Apply]:
        nonlocal asked
        asked += 1
        return list(above(node))

    graph.order.above = counting
    last = len(graph.nodes) - 1
    graph.order.level[graph.nodes[last]] = 10**12
    graph.add(last, 0)
    assert asked == 3 * n + 1
    graph.check()
    with pytest.raises(CycleError):
        graph.add(3 * n, 0)


def test_an_edge_that_holds_already_costs_nothing() -> None:
    n = 88_000
    graph = Edges(n)
    for i, node in enumerate(graph.nodes):
        graph.order.level[node] = (i + 1) * GAP
    for i in range(n - 1):
        graph.after[graph.nodes[i]].append(graph.nodes[i + 1])
    graph.order.above = lambda node: pytest.fail("nothing has to be visited")

    def require() -> None:
        for a, b in pairwise(graph.nodes):
            graph.require([(a, b)])

    assert lines(require) < 40 * n


def test_a_raise_costs_the_affected_region_only() -> None:
    """New nodes that go between two old ones fit into the gap: nothing above is touched."""
    n = 88_000
    graph = Edges(n)
    for i, node in enumerate(graph.nodes):
        graph.order.level[node] = (i + 1) * GAP
    for i in range(n - 1):
        graph.after[graph.nodes[i]].append(graph.nodes[i + 1])
    new = sin(num()).owner
    graph.after[new] = [graph.nodes[1]]
    graph.order.level[new] = GAP + 1
    before = dict(graph.order.level)
    graph.require([(graph.nodes[0], new), (new, graph.nodes[1])][:1])
    assert graph.order.level == before


def test_a_chain_that_grows_at_its_bottom_is_not_moved_each_time() -> None:
    """As s(s(… x + y)) does where the rule is (a + 1) + b = (a + b) + 1: what was made last gets
    something below it, again and again.
    """
    n = 5_000
    graph = Edges(n)
    asked = 0

    def counting(node: Apply) -> list[Apply]:
        nonlocal asked
        asked += 1
        return graph.after[node]

    graph.order.above = counting
    bottom, *chain = graph.nodes
    for upper, lower in pairwise(chain):
        graph.order.level[lower] = graph.order.level[bottom] + 1
        graph.require([(bottom, lower)])
        graph.after[bottom] = [lower]
        graph.require([(lower, upper)])
        graph.after[lower] = [upper]
    assert asked < 10 * n
    graph.after[bottom] = []
    graph.check()


@given(st.lists(st.integers(1, 4), max_size=40) | st.lists(st.integers(1, 99), max_size=40))
def test_arranged_by_level_and_then_as_they_came(levels: list[int]) -> None:
    order = Order(lambda node: ())
    nodes = [sin(num()).owner for _ in levels]
    for node, level in zip(nodes, levels, strict=True):
        order.level[node] = level
    places = sorted(range(len(levels)), key=lambda i: (levels[i], i))
    assert order.arranged() == ([nodes[i] for i in places], [levels[i] for i in places])
