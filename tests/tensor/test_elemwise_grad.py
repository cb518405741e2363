"""Gradients of elementwise ops: values against differences, shapes, dtypes, disconnection."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.gradient import grad
from rewrite_engine.graph.null import disconnected, is_disconnected, is_null
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.scalar import ScalarOp, ops
from rewrite_engine.tensor.elemwise import Elemwise
from tests.tensor.evaluate import evaluate, numeric_gradient

DERIVED = [v for v in vars(ops).values() if isinstance(v, ScalarOp) and v.gradient]
DISCRETE = {"isnan", "isinf", "isfinite", "signbit", "invert", "bitwise_count", "frexp_exponent"}
DERIVED = [op for op in DERIVED if op.name not in DISCRETE | {"second", "ldexp"}]


def check_gradient(op, arity, shapes):
    domain = op.scalar_op.domain[0]
    low = min(max(0.0, domain.low), domain.high - 1)  # where the domain leaves us near 0
    low, high = low + 0.15, low + 0.85
    rng = np.random.default_rng(7)
    values = [rng.uniform(low, high, size=s) for s in shapes]
    inputs = [pt.TensorType("float64", [1 if n == 1 else None for n in s])() for s in shapes]
    out = op(*inputs)
    g = out.type("g")
    weights = rng.normal(size=np.broadcast_shapes(*shapes))
    grads = op.L_op(inputs, [out], [g])
    wanted = numeric_gradient(lambda *args: evaluate(out, dict(zip(inputs, args))), values, weights)
    for x, dx, want in zip(inputs, grads, wanted, strict=True):
        assert dx.type is x.type
        got = evaluate(dx, {g: weights, **dict(zip(inputs, values))})
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    return inputs, out


@pytest.mark.parametrize("op", [op for op in DERIVED if op.nin == 1], ids=str)
def test_unary_gradients(op):
    check_gradient(Elemwise(op), 1, [(3,)])


MANY = [op for op in DERIVED if op.nin in (2, None) and op.gradient is not ops._step]
MANY = [
    op
    for op in MANY
    if callable(op.gradient) or not any(hasattr(rule, "why") for rule in op.gradient)
]


@pytest.mark.parametrize("op", [op for op in MANY if op.name != "logdiffexp"], ids=str)
@pytest.mark.parametrize("shapes", [[(3,), (3,)], [(2, 3), (1, 3)], [(3,), (2, 1)], [(), (2, 2)]])
def test_binary_gradients(op, shapes):
    check_gradient(Elemwise(op), 2, shapes)


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "logaddexp"])
def test_variadic_gradients(name):
    check_gradient(getattr(pt, name), 4, [(3,), (), (2, 3), (2, 1)])


def test_ternary_gradients():
    x, low, high, g = pt.vector("x"), pt.scalar("l"), pt.scalar("h"), pt.vector("g")
    grads = pt.clip.L_op([x, low, high], [pt.clip(x, low, high)], [g])
    given = {x: [1.0, 2, 3, 4], low: 1.5, high: 3.5, g: [1.0, 10, 100, 1000]}
    assert [evaluate(d, given).tolist() for d in grads] == [[0, 10, 100, 0], 1, 1000]
    c = pt.bvector("c")
    grads = pt.switch.L_op([c, x, low], [pt.switch(c, x, low)], [g])
    given[c] = np.array([1, 0, 1, 0], "int8")
    assert [evaluate(d, given).tolist() for d in grads] == [[0] * 4, [1, 0, 100, 0], 1010]


def test_product_gradients_are_linear_in_the_operands():
    counts = []
    for n in (20, 40):
        xs = pt.vectors(n)
        z = pt.mul(*xs)
        counts.append(len(toposort(pt.mul.L_op(xs, [z], [z]), [*xs, z])))
    assert counts[1] < 2.2 * counts[0]


def test_power_gradients_at_zero():
    x, n = pt.vector("x"), pt.vector("n")
    one = pt.vector("g")
    z = x**n
    dx, dn = pt.pow.L_op([x, n], [z], [one])
    given = {x: [0.0, 0.0, 2.0], n: [0.0, 2.0, 0.0], one: np.ones(3)}
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(evaluate(dx, given), [0, 0, 0])
        np.testing.assert_allclose(evaluate(dn, given), [0, 0, np.log(2)])
    dx, _ = pt.pow.L_op((x**2).owner.inputs, [x**2], [one])
    assert evaluate(dx, {x: [3.0], one: [1.0]}).tolist() == [6.0]


def test_gradients_of_integers():
    n, x, g = pt.lvector("n"), pt.fvector("x"), pt.vector("g")
    z = n * x
    dn, dx = pt.mul.L_op([n, x], [z], [g])
    assert (dn.dtype, dx.dtype) == ("float64", "float32")
    assert evaluate(dn, {n: [1, 2], x: np.float32([3, 4]), g: [1.0, 1.0]}).tolist() == [3, 4]
    (dx,) = pt.cast(n, "float64").owner.op.L_op([n], [pt.cast(n, "float64")], [g])
    assert dx is g
    (dx,) = pt.neg.L_op([n], [-n], [g])
    assert evaluate(dx, {n: [1, 2], g: [1.0, 1.0]}).tolist() == [0, 0]
    assert dx.dtype == "float64"
    to_int = pt.cast(x, "int64").owner.op
    (dx,) = to_int.L_op([x], [to_int(x)], [g])
    assert evaluate(dx, {x: np.float32([1.5])}).tolist() == [0]


def test_disconnected_and_unknown_gradients():
    x, y = pt.vectors("x y")
    grads = pt.mul.L_op([x, y], [x * y], [disconnected()])
    assert all(map(is_disconnected, grads))
    dx, dy = pt.second.L_op([x, y], [pt.second(x, y)], [y])
    assert is_disconnected(dx)
    assert dy is y
    assert pt.second.connection_pattern(pt.second(x, y).owner) == [[False], [True]]
    assert pt.mul.connection_pattern((x * y).owner) == [[True], [True]]
    dv, dx = pt.jv.L_op([x, y], [pt.jv(x, y)], [y])
    assert is_null(dv)
    assert "not implemented: the derivative with respect to the order" in dv.type.why_null
    assert dx.type is y.type


def test_only_wanted_gradients_are_built():
    x = pt.vector("x")
    node = (x**2).owner
    grads = pt.pow.input_gradients(node.inputs, node.outputs, [pt.vector()], [0])
    assert len(grads) == 1


def test_r_op():
    x, y, v = pt.matrix("x"), pt.vector("y"), pt.vector("v")
    a, b, d = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([3.0, 5.0]), np.array([1.0, -1.0])
    (jv,) = pt.mul.R_op([x, y], [None, v])
    assert evaluate(jv, {x: a, y: b, v: d}).tolist() == (a * d).tolist()
    (jv,) = pt.add.R_op([x, y], [None, v])
    assert evaluate(jv, {x: a, y: b, v: d}).shape == (2, 2)
    assert pt.mul.R_op([x, y], [None, None]) == [None]


def test_clip_with_bounds_in_the_wrong_order_is_the_upper_bound():
    x, low, high = pt.vectors("x", "low", "high")
    y = pt.clip(x, low, high)
    given = {x: np.array([0.0, 2.0, 5.0]), low: np.full(3, 3.0), high: np.full(3, 1.0)}
    np.testing.assert_array_equal(evaluate(y, given), np.clip(*given.values()))
    slopes = [evaluate(g, given).tolist() for g in grad(y.sum(), [x, low, high])]
    assert slopes == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]
