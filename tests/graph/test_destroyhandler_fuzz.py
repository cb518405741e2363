"""Random in-place work, run on real memory: refused exactly where it would be wrong."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from tests.cells import Cell, either, legal, random_graph, run, same


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
    assert legal(fgraph, overwritten(fgraph), fgraph.guard.mutable)
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
        allowed = legal(fgraph, {**overwritten(fgraph), node: into}, fgraph.guard.mutable)
        why = fgraph.guard.refusal(fgraph, node, into)
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
        old, live = node.outputs[0], list(fgraph.clients)
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
