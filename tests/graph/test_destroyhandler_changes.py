"""`DestroyHandler`: views of several values, what changes cost, and random changes on real memory:
refused exactly where they would be wrong.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op
from rewrite_engine.rewrite.driver import MergeOptimizer
from tests.cells import Cell, either, legal, random_graph, run, same
from tests.graph.test_destroyhandler import drain, graph, refused
from tests.toy import add, const, exp, log, neg, num, overwrite, sin, view


def test_what_shows_either_of_two_values_keeps_both() -> None:
    x = num("x")
    y, z = sin(x), log(x)
    refused(graph([x], [overwrite(y), either(y, z)]), "an output shares its memory: Either")
    refused(graph([x], [overwrite(z), either(y, z)]), "an output shares its memory: Either")
    refused(graph([x], [overwrite(either(y, z)), z]), "is an output of the graph")
    refused(graph([x], [overwrite(either(y, x))]), "x is an input that is not mutable")
    refused(graph([x], [overwrite(either(y, const(2.0)))]), "is a constant")


def test_readers_of_either_value_run_before_who_overwrites_what_shows_both() -> None:
    x = num("x")
    y, z = sin(x), log(x)
    w, readers = overwrite(either(y, z)), [neg(y), exp(z), add(view(z), x)]
    fgraph = graph([x], [w, *readers])
    fgraph.validate()
    assert set(fgraph.orderings()[w.owner]) == {r.owner for r in readers}
    assert fgraph.toposort()[-1] is w.owner
    y, z = sin(x), log(x)
    refused(graph([x], [add(z, overwrite(either(y, z)))]), "must run after it: add")


def test_overwriting_one_value_leaves_the_other_alone() -> None:
    x = num("x")
    y, z = sin(x), log(x)
    w, late = overwrite(y), exp(z)
    fgraph = graph([x], [add(neg(either(y, z)), late, w), z])
    fgraph.validate()
    assert late.owner not in fgraph.orderings()[w.owner]


class MaybeThere(Op):
    """Overwrites its input; the result may be there or elsewhere."""

    __props__ = ()
    destroy_map = {None: [0]}
    view_map = {0: [0]}
    itypes, otypes = (num,), (num,)


def test_a_result_that_may_be_in_what_is_overwritten_is_a_new_value() -> None:
    x = num("x")
    y = sin(x)
    w = MaybeThere()(y)
    reader, second = neg(w), overwrite(w)
    fgraph = graph([x], [reader, second, exp(y)])
    fgraph.validate()
    assert fgraph.orderings()[second.owner] == [reader.owner]


def test_messages_name_who_is_in_the_way_and_where_it_was_built() -> None:
    x = num("x")
    y = sin(x)
    refused(
        graph([x], [add(y, overwrite(y))]),
        r"Overwrite: cannot overwrite input 0: another reader of sin\(x\) must run after it: "
        r"add\(sin.0, Overwrite.0\) \(.*test_destroyhandler_changes\.py:\d+: graph(?s:.*)input 0: "
        r"sin\(x\) of type Num(?s:.*)built at .*test_destroyhandler_changes\.py",
    )
    y = sin(x)
    refused(graph([x], [overwrite(y), drain(y)]), r"overwritten by \w+\(sin.0\) \(.*test_destroy")
    y = sin(x)
    refused(graph([x], [neg(x), view(y), overwrite(y)]), "View.0, output 1 of the graph")


# --- changes ------------------------------------------------------------------------------------


def test_an_output_that_comes_to_show_what_is_overwritten_is_seen() -> None:
    x = num("x")
    y, z = sin(x), log(x)
    shown = view(view(z))
    fgraph = graph([x], [overwrite(y), shown, either(z, z)])
    fgraph.validate()
    with pytest.raises(InconsistencyError, match="an output shares its memory"):
        fgraph.replace_validate(z, y)
    fgraph.validate()
    fgraph.check_integrity()


def test_equal_values_that_come_with_their_destroyers_stay_apart() -> None:
    x = num("x")
    fgraph = graph([x], [neg(x)])
    fgraph.replace_validate(fgraph.outputs[0], add(overwrite(sin(x)), overwrite(view(sin(x)))))
    assert [node.op for node in fgraph.toposort()].count(sin) == 2
    fgraph.check_integrity()


def count_calls(monkeypatch: pytest.MonkeyPatch, name: str) -> list[int]:
    """Count the calls of a method of the handler."""
    count = [0]
    method = getattr(DestroyHandler, name)

    def counted(self: Any, *args: Any) -> Any:
        count[0] += 1
        return method(self, *args)

    monkeypatch.setattr(DestroyHandler, name, counted)
    return count


def test_equal_values_that_are_overwritten_are_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, n = num("x"), 10_000
    fgraph = FunctionGraph([x], [overwrite(sin(x)) for _ in range(n)], [DestroyHandler()])
    count = count_calls(monkeypatch, "may_merge")
    MergeOptimizer().rewrite(fgraph)
    assert count[0] <= n  # each once, against one other
    for i in range(0, n, 2):
        fgraph.replace(fgraph.outputs[i], neg(fgraph.outputs[i]))
    fgraph.flush()
    assert count[0] <= n
    fgraph.replace(x, fgraph.inputs[0])
    fgraph.validate()
    assert [node.op for node in fgraph.toposort()].count(sin) == n
    assert count[0] <= n


def test_changes_near_a_hub_cost_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    x, n = num("x"), 2_000
    hub = sin(x)
    v = hub
    readers = []
    for _ in range(n):
        v = view(v)
        readers.append(neg(v))
    w = overwrite(hub)
    fgraph = graph([x], [w, *readers])
    fgraph.validate()
    walks, settled = count_calls(monkeypatch, "who_sees"), count_calls(monkeypatch, "_settle")
    for reader in readers:
        fgraph.replace(reader, exp(reader.owner.inputs[0]))
    fgraph.validate()
    assert walks[0] == 0
    assert settled[0] <= 2 * n
    assert len(fgraph.orderings()[w.owner]) == n
    assert all(node.op is exp for node in fgraph.orderings()[w.owner])
    fgraph.check_integrity()


def test_a_view_that_moves_takes_its_readers_along() -> None:
    x = num("x")
    y, z = sin(x), log(x)
    low = view(view(y))
    reader, other = neg(view(low)), exp(low)
    over_y, over_z = overwrite(y), overwrite(z)
    fgraph = graph([x], [over_y, over_z, reader, other])
    fgraph.validate()
    assert fgraph.orderings() == {over_y.owner: [other.owner, reader.owner]}
    fgraph.replace(low.owner.inputs[0], view(z))
    fgraph.validate()
    assert fgraph.orderings() == {over_z.owner: [other.owner, reader.owner]}
    fgraph.check_integrity()


# --- random changes ------------------------------------------------------------------------------


def guarded(rng: random.Random) -> FunctionGraph:
    """A random graph whose input 1 may be overwritten."""
    fgraph = random_graph(rng, 14)
    fgraph.attach_feature(DestroyHandler([fgraph.inputs[1]]))
    return fgraph


def overwritten(fgraph: FunctionGraph) -> dict[Apply, int]:
    return {n: n.op.into for n in fgraph.apply_nodes if getattr(n.op, "into", None) is not None}


def sound(fgraph: FunctionGraph) -> None:
    """What has to hold after a change that was accepted or undone."""
    fgraph.check_integrity()
    fgraph.validate()
    assert legal(fgraph, overwritten(fgraph), fgraph.destroy_handler.mutable)
    assert run(fgraph, in_place=True) == run(fgraph, in_place=False)


def try_in_place(seed: int) -> int:
    """Let random nodes work in place, one after the other; return how many may."""
    rng = random.Random(seed)
    fgraph = guarded(rng)
    want, accepted = run(fgraph, in_place=False), 0
    for _ in range(12):
        pure = [n for n in fgraph.toposort() if isinstance(n.op, Cell) and n.op.into is None]
        if not pure:
            break
        node = rng.choice(pure)
        into = rng.randrange(len(node.inputs))
        allowed = legal(fgraph, {**overwritten(fgraph), node: into}, fgraph.destroy_handler.mutable)
        why = fgraph.destroy_handler.refusal(fgraph, node, into)
        assert (why is None) == allowed
        try:
            fgraph.replace_validate(node.outputs[0], Cell(node.op.able, into)(*node.inputs))
        except InconsistencyError:
            assert not allowed
        else:
            assert allowed
            accepted += 1
        sound(fgraph)
        assert run(fgraph, in_place=True) == want
    return accepted


@given(st.integers(0, 1 << 30))
def test_random_in_place_work_is_refused_exactly_where_it_would_be_wrong(seed: int) -> None:
    try_in_place(seed)


def try_changes(seed: int) -> None:
    """Work in place and replace, in turns: what is accepted computes the right thing."""
    rng = random.Random(seed)
    fgraph = guarded(rng)
    for _ in range(15):
        if not len(fgraph):
            return
        node = rng.choice(fgraph.toposort())
        old, live = node.outputs[0], list(fgraph.users)
        kind = rng.randrange(5)
        if kind == 0 and isinstance(node.op, Cell):
            new = Cell(True, rng.choice([None, *range(len(node.inputs))]))(*node.inputs)
        elif kind == 1:
            new = rng.choice(live)
        elif kind == 2:
            new = same(rng.choice(live))
        elif kind == 3:
            new = either(rng.choice(live), rng.choice(live))
        else:
            new = Cell(True, rng.choice([None, None, 0, 1]))(rng.choice(live), rng.choice(live))
        state = {n: n.inputs for n in fgraph.apply_nodes}, list(fgraph.outputs)
        try:
            fgraph.replace_validate(old, new)
        except InconsistencyError:
            assert state == ({n: n.inputs for n in fgraph.apply_nodes}, fgraph.outputs)
        sound(fgraph)


@given(st.integers(0, 1 << 30))
def test_random_changes_of_graphs_that_work_in_place(seed: int) -> None:
    try_changes(seed)
