"""Composite: building, equality, flattening, values, gradient, printing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import ForeignObjectError, MissingInputError
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.printing import debugprint
from rewrite_engine.scalar import Composite, ScalarType, ops
from rewrite_engine.tensor import Elemwise
from tests.tensor.evaluate import evaluate, numeric_gradient

f64 = ScalarType("float64")


def softplus_like():
    x, y = f64("x"), f64("y")
    e = ops.exp(x)
    return Composite([x, y], [e / (e + 1) * y])


def test_equal_structure_is_one_object():
    c = softplus_like()
    assert c is softplus_like()
    assert pickle.loads(pickle.dumps(c)) is c
    x, y = f64("x"), f64("y")
    assert Composite([x, y], [x - y]) is not Composite([x, y], [y - x])
    assert Composite([x], [x + 1]) is not Composite([x], [x + 2])
    assert Composite([x], [x * 0.0]) is not Composite([x], [x * -0.0])


def test_prints():
    assert str(softplus_like()) == ("Composite{t0 = exp(i0), mul(true_div(t0, add(t0, 1.0)), i1)}")


def test_equal_steps_are_merged():
    x = f64("x")
    assert len(Composite([x], [ops.exp(x) + ops.exp(x)]).steps) == 2


def test_values():
    c = pt.Elemwise(softplus_like())
    x, y = pt.matrix("x"), pt.vector("y")
    z = c(x, y)
    assert z.type.shape == (None, None)
    a, b = np.random.default_rng(0).normal(size=(3, 4)), np.arange(4.0)
    np.testing.assert_allclose(evaluate(z, {x: a, y: b}), np.exp(a) / (np.exp(a) + 1) * b)


def test_several_outputs_have_the_full_shape():
    x, y = f64("x"), f64("y")
    c = pt.Elemwise(Composite([x, y], [x + y, ops.exp(y)]))
    a, b = pt.matrix("a"), pt.row("b")
    p, q = c(a, b)
    assert p.type is q.type
    got = evaluate(q, {a: np.zeros((3, 2)), b: np.ones((1, 2))})
    np.testing.assert_array_equal(got, np.full((3, 2), np.e))


def test_nested_composites_are_flattened():
    x, y = f64("x"), f64("y")
    inner = Composite([x, y], [x * y, ops.exp(x)])
    p, q = inner(x, ops.sin(y))
    outer = Composite([x, y], [p + q])
    assert outer is Composite([x, y], [x * ops.sin(y) + ops.exp(x)])


def test_dtypes_follow_the_steps():
    x = ScalarType("float32")("x")
    c = Composite([x], [ops.lt(x, 0.5), ops.cast(x, "int8"), x * 2])
    assert c.result_dtypes(("float32",)) == ("bool", "int8", "float32")
    assert [v.type.dtype for v in c.to_graph(("float32",))[1]] == ["bool", "int8", "float32"]


def test_gradient():
    x, y = f64("x"), f64("y")
    op = pt.Elemwise(Composite([x, y], [ops.tanh(x * y) * x + ops.log(y), ops.lt(x, y)]))
    a, b = pt.matrix("a"), pt.row("b")
    node = op.make_node(a, b)
    g = pt.matrix("g")
    from rewrite_engine.graph.null import disconnected

    da, db = op.L_op([a, b], node.outputs, [g, disconnected()])
    assert (da.type.shape, db.type.shape) == ((None, None), (1, None))
    rng = np.random.default_rng(1)
    values = [rng.normal(size=(3, 2)), rng.uniform(1, 2, size=(1, 2))]
    weights = rng.normal(size=(3, 2))
    given = {a: values[0], b: values[1], g: weights}
    want = numeric_gradient(lambda p, q: np.tanh(p * q) * p + np.log(q), values, weights)
    np.testing.assert_allclose(evaluate(da, given), want[0], atol=1e-7)
    np.testing.assert_allclose(evaluate(db, given), want[1], atol=1e-7)


def test_long_programs():
    x = v = f64("x")
    for _ in range(20_000):
        v = ops.sin(v)
    c = Composite([x], [v])
    assert len(c.steps) == 20_000
    assert str(c) == "Composite{1 inputs, 20000 steps, 1 outputs}"
    assert c.result_dtypes(("float64",)) == ("float64",)


def test_bad_graphs():
    x, y = f64("x"), f64("y")
    with pytest.raises(MissingInputError, match="y"):
        Composite([x], [x + y])
    with pytest.raises(ForeignObjectError):
        Composite([pt.scalar("s")], [x])


def test_outputs_share_no_memory():
    x, y = f64("x"), f64("y")
    c = Composite([x, y], [x, x + y, x + y, x])
    a, b = np.arange(3.0), np.ones(3)
    outs = c.impl_all(a, b)
    assert not any(np.may_share_memory(p, a) for p in outs)
    assert len({p.__array_interface__["data"][0] for p in outs}) == 4
    first, last = Composite([x, y], [x + y, x]).impl_all(a, b, outs=[a, None])
    assert first is a
    assert last.tolist() == [0, 1, 2]


def test_its_graph_is_that_of_the_steps() -> None:
    x, n = ScalarType("float32")("x"), ScalarType("int8")("n")
    op = Composite([x, n], [ops.exp(x) * n, n])
    assert isinstance(op, HasInnerGraph)
    assert [v.type.dtype for v in op.inner_inputs] == ["float32", "int8"]
    assert [str(node.op) for node in op.fgraph.toposort()] == ["exp", "mul"]
    assert op.inner_outputs[1] is op.inner_inputs[1]
    assert op.clone(op.fgraph.clone()) is op is op.clone()
    read = pickle.loads(pickle.dumps(op))
    assert read is op
    a, b = pt.vector("a", dtype="float32"), pt.vector("b", dtype="int8")
    assert "Inner graphs:" in debugprint(Elemwise(op)(a, b), file="str")
