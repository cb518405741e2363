"""Graphs as flat columns: pickling and deep copying, at any depth, with nothing lost."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import pytest

from rewrite_engine.graph.columns import from_columns, to_columns
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import ReplaceValidate
from rewrite_engine.graph.replace import equal_computations
from tests.graph.test_traverse import DEEP, chain
from tests.toy import Scale, add, const, divmod_, exp, mul, num, overwrite, pos, sin

WAYS = [
    lambda g: pickle.loads(pickle.dumps(g)),
    copy.deepcopy,
    lambda g: from_columns(to_columns(g)),
    lambda g: from_columns(pickle.loads(pickle.dumps(to_columns(g)))),
]


def example() -> FunctionGraph:
    x, p = num("x"), pos("p")
    q, r = divmod_(Scale(2.0)(x), add(p, 2.0))
    r.name, r.tag.note, r.owner.tag.note = "r", [1], {"a": 2}
    return FunctionGraph([x, p, num("unused")], [mul(r, q), p, r], update_mapping={1: 0})


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_lost(way: Any) -> None:
    fgraph = example()
    other = way(fgraph)
    other.check_integrity()
    assert equal_computations(fgraph.outputs, other.outputs, fgraph.inputs, other.inputs)
    assert [v.name for v in other.inputs] == ["x", "p", "unused"]
    assert len(other) == len(fgraph)
    r = other.outputs[2]
    assert (r.name, r.tag.note, r.owner.tag.note, r.index) == ("r", [1], {"a": 2}, 1)
    assert other.update_mapping == {1: 0}
    lines = [[n.where() for n in g.toposort()] for g in (fgraph, other)]
    assert lines[0] == lines[1]
    assert all(line is not None for line in lines[0])


@pytest.mark.parametrize("way", WAYS)
def test_the_new_graph_is_independent_and_alive(way: Any) -> None:
    fgraph = example()
    other = way(fgraph)
    shared = set(fgraph.variables) & set(other.variables)
    assert not [v for v in shared if v.owner]
    other.replace(other.outputs[0], exp(other.inputs[0]))
    other.check_integrity()
    fgraph.check_integrity()
    assert fgraph.outputs[0].owner.op is mul


def test_copies_share_no_root_either() -> None:
    fgraph = example()
    for other in (copy.deepcopy(fgraph), pickle.loads(pickle.dumps(fgraph))):
        assert not set(fgraph.variables) & set(other.variables)


@pytest.mark.parametrize("way", WAYS)
def test_types_more_precise_than_the_ops_say_are_kept(way: Any) -> None:
    x, p = num("x"), pos("p")
    fgraph = FunctionGraph([x, p], [add(sin(x), p)])
    fgraph.outputs[0].owner.inputs[0].type = pos
    assert [n.out.type for n in way(fgraph).toposort()] == [pos, num]


@pytest.mark.parametrize("way", WAYS)
def test_depth_is_no_problem(way: Any) -> None:
    assert sys.getrecursionlimit() < DEEP // 10
    x = num("x")
    other = way(FunctionGraph([x], [chain(x, DEEP)]))
    assert len(other) == DEEP
    assert other.toposort()[0].inputs == (other.inputs[0],)


def test_a_row_costs_few_bytes() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [chain(x, 10_000)])
    assert len(pickle.dumps(fgraph)) < 50 * 10_000


@pytest.mark.parametrize("way", WAYS)
def test_features_come_along_as_clones(way: Any) -> None:
    x = num("x")
    w = overwrite(x)
    features = [DestroyHandler([x]), ReplaceValidate()]
    fgraph = FunctionGraph([x], [w, const(2.0)], features)
    other = way(fgraph)
    assert {type(f) for f in other.features} >= {DestroyHandler, ReplaceValidate}
    assert len(other.features) == len(fgraph.features)
    other.validate()
    assert other.guard is not fgraph.guard
    assert other.guard.mutable == {other.inputs[0]}


def test_equal_nodes_that_were_kept_apart_stay_apart() -> None:
    x = num("x")
    w = overwrite(sin(x))
    fgraph = FunctionGraph([x], [w], [DestroyHandler()], clone=False)
    fgraph.replace_validate(w, add(w, sin(x)))
    other = copy.deepcopy(fgraph)
    other.validate()
    assert len(other) == len(fgraph) == 4


def test_roots_elsewhere_in_a_pickle_stay_the_same() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [sin(x)], clone=False)
    other, root = pickle.loads(pickle.dumps((fgraph, x)))
    assert other.inputs[0] is root


def test_a_subclass_stays_one() -> None:
    fgraph = _Sub([], [const(1.0)])
    assert type(copy.deepcopy(fgraph)) is _Sub


class _Sub(FunctionGraph):
    pass
