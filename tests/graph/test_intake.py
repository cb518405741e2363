"""Copying a user's graph in: one copy of equal nodes, and the user's own left as it is."""

from __future__ import annotations

from rewrite_engine.graph.fgraph import FunctionGraph
from tests.toy import add, exp, num


def test_equal_nodes_are_one_copy_and_the_users_stay_two() -> None:
    x = num("x")
    a, b = exp(x), exp(x)
    b.name = "named"
    out = add(a, b)
    memo: dict = {}
    fgraph = FunctionGraph([x], [out], memo=memo)
    assert len(fgraph) == 2
    assert memo[a] is memo[b]
    assert memo[a].name == "named"
    assert memo[a].owner.origin is a.owner.origin
    assert out.owner.inputs == (a, b)
    assert a.owner.inputs == (x,)
    fgraph.check_integrity()


def test_equal_nodes_stay_apart_where_the_graph_does_not_merge() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [add(exp(x), exp(x))], merging=False)
    assert len(fgraph) == 3


def test_scratch_pads_are_copied() -> None:
    x = num("x")
    out = exp(x)
    out.tag.mine = [1]
    out.owner.tag.also = 2
    memo: dict = {}
    FunctionGraph([x], [out], memo=memo)
    copy = memo[out]
    assert copy is not out
    assert copy.tag.mine == [1]
    assert copy.owner.tag.also == 2
    copy.tag.mine = None
    assert out.tag.mine == [1]
