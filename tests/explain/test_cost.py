"""Estimates of cost."""

from __future__ import annotations

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.explain import explain
from rewrite_engine.explain.cost import Cost, amount, cost_of, peak_of
from rewrite_engine.explain.evaluate import SeenShapes
from rewrite_engine.graph.fgraph import FunctionGraph
from tests import toy


def cost(*outputs, shapes=None):
    fgraph = FunctionGraph(None, list(outputs))
    seen = SeenShapes()
    seen.update({fgraph.memo[v]: s for v, s in (shapes or {}).items()})
    return cost_of(fgraph, seen)


def test_flops_and_bytes_of_an_elementwise_op_from_its_static_shape():
    x = pt.matrix("x", shape=(3, 4))
    assert cost(x + x) == Cost(nodes=1, flops=12, bytes=3 * 96)


def test_a_product_of_matrices_takes_two_flops_per_multiplication():
    a, b = pt.matrix("a", shape=(2, 3)), pt.matrix("b", shape=(3, 5))
    assert cost(a @ b).flops == 2 * 2 * 3 * 5


def test_shapes_that_were_seen_are_used_where_the_type_knows_none():
    x = pt.vector("x")
    y = pt.exp(x)
    assert cost(y, shapes={x: (10,), y: (10,)}) == Cost(nodes=1, flops=100, bytes=160)


def test_a_node_of_unknown_shape_is_left_out_and_counted():
    assert cost(pt.exp(pt.vector("x"))) == Cost(nodes=1, unsized=1)


def test_views_move_nothing():
    x = pt.matrix("x", shape=(3, 4))
    assert cost(x.T) == Cost(nodes=1)


def test_asking_for_a_shape_reads_nothing():
    x = pt.matrix("x", shape=(3, 4))
    assert cost(x.shape[0]).bytes < 96


def test_the_op_that_uses_only_the_shape_of_an_operand_does_not_read_it():
    x, y = pt.vector("x", shape=(100,)), pt.scalar("y")
    assert cost(pt.second(x, y)).bytes == 800 + 8


def test_ops_without_an_estimate_are_named():
    x = toy.num("x")
    assert cost(toy.sin(x)) == Cost(nodes=1, uncounted=("sin",))


def test_softmax_has_an_estimate():
    x = pt.matrix("x", shape=(2, 5))
    assert cost(pt.softmax(x, axis=1)).flops == 140


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0"), (999, "999"), (1000, "1 k"), (45_210, "45.2 k"), (999_900, "1 M"), (2.5e9, "2.5 G")],
)
def test_amounts_have_three_digits(n, text):
    assert amount(n) == text


def test_amounts_have_units():
    assert amount(1500, "B") == "1.5 kB"
    assert amount(12, "flop") == "12 flop"


def test_what_only_arranges_elements_needs_no_estimate():
    x, y, i = pt.vector("x", shape=(3,)), pt.vector("y", shape=(2,)), pt.constant([0, 2])
    arranged = [
        pt.join(0, x, y),
        pt.stack([x, x]),
        x[1:],
        x[i],
        x[i].set(y),
        pt.zeros(3),
        x[:, None],
    ]
    assert [cost(v).uncounted for v in arranged] == [()] * len(arranged)


def test_the_peak_of_memory_and_where_it_is():
    x = pt.vector("x", shape=(1000,))
    y = pt.exp(x)
    graph = FunctionGraph([x], [(y + pt.sin(y)).sum()])
    peak = peak_of(graph, {})
    assert peak.bytes == 4 * 8000
    assert str(peak.node.op) == "add"
    assert peak_of(FunctionGraph([x], [x]), {})[:2] == (8000, None)


@pytest.mark.on_vm
def test_views_and_what_works_in_place_take_no_memory():
    x = pt.vector("x", shape=(1000,))
    assert peak_of(FunctionGraph([x], [x[::-1]]), {}).bytes == 8000
    (f,) = explain(pt.sin(pt.exp(x))).functions
    assert (f.about.peak_before, f.about.peak_after) == (24000, 16000)
