"""Values of a graph in floats: all of them, or again with some replaced."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.accuracy.computed import Floats

x, y = pt.dvectors("x y")


def test_all_values_of_a_graph():
    y = pt.exp(x)
    z = y + 1
    values = Floats().evaluate([z], {x: np.array([0.0])})
    assert [values[v].tolist() for v in (x, y, z)] == [[0.0], [1.0], [2.0]]


def test_constants_and_inputs_as_outputs():
    c = pt.as_tensor(2.0)
    values = Floats().evaluate([c, x], {x: np.ones(1)})
    assert values[c] == 2
    assert values[x] == [1]


def test_inputs_that_a_node_overwrites_are_copied():
    f = rw.function([rw.In(x, mutable=True)], pt.exp(x), mode=rw.Mode("vm"))
    graph = f.fgraph
    assert any(node.op.destroy_map for node in graph.apply_nodes)
    given = np.array([1.0, 2.0])
    values = Floats().evaluate(graph.outputs, {graph.inputs[0]: given})
    np.testing.assert_allclose(values[graph.outputs[0]], np.exp([1.0, 2.0]))
    assert given.tolist() == [1.0, 2.0]


def test_errors_of_nodes_are_raised():
    with pytest.raises(IndexError):
        Floats().evaluate([x[5]], {x: np.zeros(2)})


def test_a_branch_that_is_not_taken_has_no_values():
    bad = x[5]
    good = pt.exp(x[0])
    out = rw.ifelse(x[0] > 0, good, bad + x[0])
    values = Floats().evaluate([out], {x: np.ones(2)})
    assert values[out] == np.e
    assert bad not in values
    assert Floats().again([out], values, {good: np.array(3.0)}) == [3]


def test_only_what_depends_on_a_change_runs_again():
    a, b = pt.exp(x), pt.log(y)
    out = a * b
    floats = Floats()
    values = floats.evaluate([out], {x: np.zeros(1), y: np.ones(1) * np.e})
    floats.runners.pop(b.owner)
    assert floats.again([out], values, {a: np.array([5.0])})[0] == pytest.approx(5)
    assert b.owner not in floats.runners


def test_outputs_that_do_not_depend_on_a_change():
    out = pt.exp(x)
    values = Floats().evaluate([out], {x: np.zeros(1)})
    assert Floats().again([out], values, {})[0] == 1
