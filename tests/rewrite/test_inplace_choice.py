"""Which nodes work in place: never wrongly, hardly fewer than possible, at a cost linear in the
graph.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.order import Order
from rewrite_engine.rewrite.inplace import InplaceOptimizer, _before_conditions
from rewrite_engine.rewrite.reachability import Paths, Search
from rewrite_engine.rewrite.trace import Trace
from tests.cells import Cell, best, either, legal, random_graph, run, same
from tests.toy import add, num, view

work, fixed = Cell(), Cell(able=False)


def insert(fgraph: FunctionGraph, mutable: Any = ()) -> int:
    """Insert, check what must hold, and return how many nodes work in place now."""
    want = run(fgraph, in_place=False)
    fgraph.attach_feature(DestroyHandler(mutable))
    result = InplaceOptimizer().rewrite(fgraph)
    fgraph.check_integrity()
    fgraph.validate()
    assert run(fgraph, in_place=True) == want
    into = {n: n.op.into for n in fgraph.apply_nodes if getattr(n.op, "into", None) is not None}
    assert len(into) == result.firings
    assert legal(fgraph, into, set(mutable))
    assert InplaceOptimizer().rewrite(fgraph).firings == 0
    return result.firings


@given(st.integers(0, 1 << 30))
def test_random_graphs_keep_their_values(seed: int) -> None:
    rng = random.Random(seed)
    fgraph = random_graph(rng, 30)
    insert(fgraph, fgraph.inputs[: rng.randrange(3)])


def test_hardly_fewer_than_an_exhaustive_search_finds() -> None:
    found = possible = 0
    for seed in range(300):
        fgraph = random_graph(random.Random(seed), 12)
        mutable = fgraph.inputs[1:]
        most = best(fgraph, set(mutable))
        here = insert(fgraph, mutable)
        assert here <= most
        found, possible = found + here, possible + most
    assert possible > 200
    assert found >= 0.985 * possible


def test_a_reader_that_is_not_the_latest_is_moved_behind_the_others() -> None:
    x = num("x")
    value = fixed(x)
    long = value
    for _ in range(5):
        long = fixed(long, value)
    fgraph = FunctionGraph([x], [work(value), fixed(long, value)])
    assert insert(fgraph) == 1
    order = fgraph.toposort()
    assert order[-1] is fgraph.outputs[0].owner


def test_a_reader_that_others_need_is_not_the_last() -> None:
    x = num("x")
    value = fixed(x)
    first = work(value)
    fgraph = FunctionGraph([x], [fixed(fixed(fixed(first)), value)])
    assert insert(fgraph) == 0


def test_a_value_goes_to_who_has_no_other() -> None:
    x = num("x")
    a, b = fixed(x), fixed(x, x)
    fgraph = FunctionGraph([x], [work(a, b), work(a)])
    assert insert(fgraph) == 2


def test_what_shows_either_of_two_values() -> None:
    x = num("x")
    a, b = fixed(x), fixed(x, x)
    shown = either(a, b)
    assert insert(FunctionGraph([x], [work(shown)])) == 1
    assert insert(FunctionGraph([x], [work(shown), fixed(a), fixed(b)])) == 1
    assert insert(FunctionGraph([x], [work(shown), b])) == 0
    assert insert(FunctionGraph([x], [work(shown), fixed(b, work(shown))])) == 0
    both = FunctionGraph([x], [fixed(shown), work(a), work(b)])
    assert insert(both) == 2
    assert both.toposort()[0].op is fixed


def test_a_view_that_may_copy_is_a_view() -> None:
    x = num("x")
    value = fixed(x)
    assert insert(FunctionGraph([x], [work(same(value)), value])) == 0
    assert insert(FunctionGraph([x], [work(same(value)), same(value)])) == 0
    assert insert(FunctionGraph([x], [work(value, same(value))])) == 0
    assert insert(FunctionGraph([x], [work(same(value)), fixed(value)])) == 1


def test_a_version_that_does_more_than_it_was_asked_for_is_not_used() -> None:
    class Other(Cell):
        """A version that overwrites more, or shows more."""

        __props__ = ("destroys_more",)

        def __init__(self, destroys_more: bool) -> None:
            super().__init__(True, 0)
            self.destroys_more = destroys_more
            if destroys_more:
                self.destroy_map = {0: [0], None: [1]}
            else:
                self.view_map = {0: [1]}

    class Base(Cell):
        __props__ = ("more",)

        def __init__(self, more: bool) -> None:
            super().__init__()
            self.more = more

        def inplace_on_inputs(self, allowed: Any, node: Any = None) -> Any:
            return Other(self.more)

    x = num("x")
    for op in (Base(True), Base(False)):
        fgraph = FunctionGraph([x], [op(fixed(x), fixed(x, x))])
        assert InplaceOptimizer().rewrite(fgraph).firings == 0


# --- what a trace tells ---------------------------------------------------------------------------


def test_every_attempt_and_who_is_in_the_way() -> None:
    x, m = num("x"), num("m")
    a, b, c = fixed(x), fixed(x, x), fixed(x, m)
    d = fixed(m, x)
    named = {
        "input": work(x),
        "twice": work(a, view(a)),
        "output": work(view(b)),
        "late": work(c),
        "taken": work(d),
    }
    outputs = [*named.values(), b, fixed(named["late"], c), work(d, x)]
    fgraph = FunctionGraph([x, m], outputs, [DestroyHandler([m])])
    trace = Trace(attempts=True)
    InplaceOptimizer().rewrite(fgraph, trace)
    told = [(t.verdict, t.part, t.reason) for t in trace.tries]
    fired = [t for t in trace.tries if t.verdict == "fired"]
    assert len(fired) == len(trace) > 0
    reasons = "\n".join(reason for verdict, _, reason in told if verdict == "refused")
    assert all(part == "DestroyHandler" for verdict, part, _ in told if verdict == "refused")
    assert "input 0: x is an input that is not mutable" in reasons
    assert "input 0: it reads the memory of input 0 through input 1 too" in reasons
    assert "is an output of the graph" in reasons
    assert "must run after it: Cell{able=False, into=None}(" in reasons
    assert "is already overwritten by Cell{able=True, into=None}(" in reasons
    assert "test_inplace_choice.py" in reasons


def test_without_a_trace_of_attempts_nobody_asks_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr("rewrite_engine.rewrite.inplace.Choice.reason", fail)
    x = num("x")
    fgraph = FunctionGraph([x], [work(fixed(x)), work(x)])
    assert InplaceOptimizer().rewrite(fgraph, Trace()).firings == 1


# --- what it costs --------------------------------------------------------------------------------


def chain_and_back(n: int) -> list[Any]:
    """Every value of a chain is read again, in reverse, by what cannot overwrite it."""
    v, values = fixed(num("x")), []
    for _ in range(n):
        values.append(v)
        v = work(v)
    outputs = []
    for value in reversed(values):
        v = work(v)
        outputs.append(fixed(value, v))
    return outputs


def chain_and_sum(n: int) -> list[Any]:
    """As before, and each value's reader that could be last is summed along the chain."""
    v, total = fixed(num("x")), fixed(num("y"))
    values, outputs = [], []
    for _ in range(n):
        values.append(v)
        total = fixed(work(v), total)
        v = fixed(v, v)
    for value in reversed(values):
        v = work(v)
        outputs.append(fixed(value, v))
    return [*outputs, total]


def hub(n: int) -> list[Any]:
    """One value that many read, each of which the last needs."""
    value = v = fixed(num("x"))
    for _ in range(n):
        v = work(v, value)
    return [fixed(v, value)]


def views(n: int) -> list[Any]:
    v, outputs = fixed(num("x")), []
    for _ in range(n):
        v = view(v)
        outputs.append(work(v))
    return outputs


def wide(n: int) -> list[Any]:
    """One node with many operands, each of which can be overwritten and can overwrite."""
    x = num("x")
    return [add(*[work(fixed(x, num(f"y{i}"))) for i in range(n)])]


def ladder(n: int) -> list[Any]:
    a, b = fixed(num("x")), fixed(num("y"))
    rungs = []
    for _ in range(n):
        rungs.append((a, b))
        a, b = work(a, b), work(b, a)
    for pair in reversed(rungs):
        a = work(a)
        b = fixed(b, fixed(a, *pair))
    return [b]


@pytest.mark.parametrize("family", [chain_and_back, chain_and_sum, hub, views, wide, ladder])
def test_the_work_is_linear(family: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: nodes that searches visit, and that the order visits or places."""
    count = 0
    search, above, conflict = Search.is_followed, Order.successors, Order.conflict

    def counted_search(self: Any, reader: Apply) -> bool:
        nonlocal count
        before = len(self.known)
        followed = search(self, reader)
        count += len(self.known) - before + 1
        return followed

    def counted_above(self: Any, node: Apply) -> Any:
        nonlocal count
        count += 1
        return above(self, node)

    def counted_conflict(self: Any, edges: Any) -> Any:
        nonlocal count
        edges = list(edges)
        count += len(edges)
        return conflict(self, edges)

    monkeypatch.setattr(Search, "is_followed", counted_search)
    monkeypatch.setattr(Order, "successors", counted_above)
    monkeypatch.setattr(Order, "conflict", counted_conflict)
    costs = []
    for n in (250, 1000):
        fgraph = FunctionGraph(None, family(n))
        count = 0
        InplaceOptimizer().rewrite(fgraph)
        fgraph.validate()
        costs.append(count)
    assert costs[1] <= 4.6 * max(costs[0], 250)


def test_searches_answer_as_reachability_does() -> None:
    for seed in range(300):
        fgraph = random_graph(random.Random(seed), 25)
        nodes = fgraph.toposort()
        after: dict[Apply, set[Apply]] = {}
        for node in reversed(nodes):
            clients = {c for out in node.outputs for c in fgraph.users[out]}
            after[node] = clients.union(*[after[c] for c in clients])
        for v in fgraph.variables:
            readers = list(fgraph.users[v])
            search = Search(Paths(fgraph), readers) if readers else None
            for reader in random.Random(seed).sample(readers, len(readers)):
                assert search is not None
                assert search.is_followed(reader) == bool(after[reader] & set(readers))


def test_nodes_of_conditions_are_known() -> None:
    """What conditions are computed from runs in all branches: readers of a value in a branch are
    not put before it.
    """
    import rewrite_engine as rw
    import rewrite_engine.tensor as pt

    x, n = pt.vector("x"), pt.lscalar("n")
    shared = pt.exp(x)
    summed, in_branch = pt.sort(shared).sum(), pt.cumsum(shared)
    out = pt.ifelse(pt.lt(summed, n), in_branch.sum(), shared[0])
    graph = FunctionGraph([x, n], [out])
    early = {type(node.op).__name__ for node in _before_conditions(graph.toposort())}
    assert {"Sort", "CAReduce", "Sum"} & early
    assert "CumOp" not in early
    assert not {type(in_branch.owner.op).__name__} & early
    assert rw.function([x, n], out, mode="vm")([0.0, 0.0], 3) == 3.0
