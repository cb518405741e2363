"""Graphs as flat columns: pickling and deep copying, at any depth, with nothing lost."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import pytest

from rewrite_engine.compat.features import ReplaceValidate
from rewrite_engine.errors import ReadOnlyError
from rewrite_engine.graph import columns
from rewrite_engine.graph.columns import from_columns, to_columns
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Projection
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.graph.traverse import toposort
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
    return FunctionGraph([x, p, num("unused")], [mul(r, q), p, r], updates={1: 0})


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
    assert other.updates == {1: 0}
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
    assert other.destroy_handler is not fgraph.destroy_handler
    assert other.destroy_handler.mutable == {other.inputs[0]}


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


# --- variables and nodes alone --------------------------------------------------------------------


ALONE = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda v: pickle.loads(pickle.dumps(v)),
    "pickle in Python": lambda v: pickle.loads(pickle._dumps(v)),
    "protocol 0": lambda v: pickle.loads(pickle.dumps(v, 0)),
}


@pytest.mark.parametrize("copied", ALONE.values(), ids=ALONE)
def test_variables_of_any_depth(copied: Any) -> None:
    x = num("x")
    deep = x
    for _ in range(3_000):
        deep = sin(deep)
    for what in (deep, deep.owner, [deep, deep.owner.inputs[0]]):
        again = copied(what)
        assert type(again) is type(what)
    assert again[0].owner.inputs[0] is again[1]
    assert len(toposort(again)) == 3_000
    assert not columns.row_of.known


@pytest.mark.parametrize("copied", ALONE.values(), ids=ALONE)
def test_what_variables_have_in_common_stays_one(copied: Any) -> None:
    x, y = num("x"), num("y")
    a = add(x, y)
    b, c = divmod_(a, x)
    d = mul(b, c, const(2.0))
    a.name, d.tag.itself, b.owner.tag.note = "a", d, "n"
    one = copied({"x": x, "a": a, "c": c, "d": d, "node": b.owner})
    assert one["d"].owner.inputs[:2] == one["node"].outputs
    assert one["c"] is one["node"].outputs[1]
    assert one["node"].inputs == (one["a"], one["x"])
    assert one["a"].name == "a"
    assert one["d"].tag.itself is one["d"]
    assert one["node"].tag.note == "n"
    assert one["d"].head is mul
    assert one["c"].head is Projection(divmod_, 1)
    assert one["a"].owner.where() == a.owner.where()
    assert one["x"] is not x


def test_a_shallow_copy_is_another_variable_of_the_same_inputs() -> None:
    x = num("x")
    y = sin(x)
    z = copy.copy(y)
    assert z is not y
    assert z.owner is not y.owner
    assert z.owner.inputs == (x,)
    assert copy.copy(y.owner).inputs == (x,)
    assert copy.copy(x).type is x.type


@pytest.mark.parametrize("name", ["data", "value"])
def test_the_value_of_a_constant_cannot_be_set(name: str) -> None:
    c = const(2.0)
    with pytest.raises(ReadOnlyError, match="cannot be changed: make another constant"):
        setattr(c, name, 3.0)
    assert c.data == 2.0
    again = pickle.loads(pickle.dumps(c))
    assert (again.data, again.number) == (2.0, 2.0)
