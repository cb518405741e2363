"""Integers, as the contract of `Op.grad` has them (its five examples); mixed dtypes; sources."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    DisconnectedInputError,
    DTypeError,
    NullTypeGradError,
    UnusedInputError,
)
from rewrite_engine.gradient import Lop, Rop, grad, grad_undefined, jacobian, sources
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.op import Op

# --- the five examples ------------------------------------------------------------------------


def test_a_product_of_integers_is_flat():
    x, y = pt.lvectors("x", "y")
    got = evaluate(grad(pt.dot(x, y), [x, y]), {x: [1, 2], y: [3, 4]})
    assert [g.tolist() for g in got] == [[0, 0], [0, 0]]
    assert all(g.dtype == "float64" for g in got)


def test_an_integer_factor_has_the_gradient_of_a_float():
    x, y = pt.dvector("x"), pt.lvector("y")
    got = evaluate(grad(pt.dot(x, y), [x, y]), {x: [0.5, 2], y: [3, 4]})
    assert [g.tolist() for g in got] == [[3, 4], [0.5, 2]]


class ArgmaxAlong(Op):
    """The argmax along an axis that is an input."""

    __props__ = ()

    def infer_types(self, types: Any) -> Any:
        return [types[0].clone(dtype="int64", shape=types[0].shape[1:])]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.argmax(inputs[0], axis=int(inputs[1]))

    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        zeros = pt.zeros_like(inputs[0])
        return [zeros, grad_undefined(self, 1, inputs[1], "no fraction of an axis")]


def test_argmax_is_flat_and_undefined_for_the_axis():
    x, y = pt.dmatrix("x"), pt.lscalar("y")
    cost = ArgmaxAlong()(x, y).sum()
    assert not evaluate([grad(cost, x)], {x: np.eye(2)})[0].any()
    with pytest.raises(NullTypeGradError, match="no fraction of an axis"):
        grad(cost, y)


def test_a_length_is_disconnected():
    x, y = pt.dscalar("x"), pt.lscalar("y")
    cost = pt.alloc(x, y).sum()
    assert evaluate([grad(cost, x)], {x: 2.0, y: 5})[0] == 5
    with pytest.raises(DisconnectedInputError):
        grad(cost, y)


def test_casts():
    x = pt.dscalar("x")
    y = x.astype("int64")
    cost = 0.5 * y.astype("float64")
    gx, gy = evaluate(grad(cost, [x, y]), {x: 2.5})
    assert (gx, gy) == (0, 0.5)


# --- costs of integers and booleans -----------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64"])
def test_a_cost_of_integers_is_flat(dtype: str):
    x, n, z = pt.dvector("x"), pt.lvector("n"), pt.dvector("z")
    cost = (pt.floor(x) * n).sum().astype(dtype)
    gx, gn = evaluate(grad(cost, [x, n]), {x: [1.5, 2], n: [1, 2]})
    assert gx.tolist() == [0, 0] == gn.tolist()
    assert gx.dtype == gn.dtype == "float64"
    with pytest.raises(DisconnectedInputError):
        grad(cost, z)
    with pytest.raises(DisconnectedInputError):
        grad(x.shape[0].astype(dtype), x)
    assert not evaluate([grad(cost, z, disconnected_inputs="ignore")], {z: [1.0]})[0].any()


def test_other_costs_of_integers():
    x = pt.dvector("x")
    for cost in (pt.argmax(x), pt.any(x > 1), (x > 1).sum(), x.astype("int32")[0]):
        assert evaluate([grad(cost, x)], {x: [1.5, 2]})[0].tolist() == [0, 0]
    y = pt.tensor("y", dtype="float64", shape=(2,))
    assert not evaluate([jacobian(y.astype("int64"), y)], {y: [1.5, 2]})[0].any()
    with pytest.raises(DTypeError):
        grad(pt.zscalar("c"), x)


# --- mixed dtypes, both ways ------------------------------------------------------------------

i8, b, f4, f8 = "int8", "bool", "float32", "float64"
MIXED = {
    "set by an integer": (lambda x, n: x[1:].set(3), f4, i8),
    "set by integers": (lambda x, n: x[:].set(n), f4, i8),
    "inc by booleans": (lambda x, n: x[:].inc(n), f4, b),
    "gather and inc": (lambda x, n: x[[0, 0, 1]].inc(n), f4, i8),
    "gather and set": (lambda x, n: x[[0, 0, 1]].set(n), f4, i8),
    "scatter a narrower float": (lambda x, n: n[[0, 2, 2]].set(x), f4, f8),
    "joined": (lambda x, n: pt.join(0, x, n), f4, i8),
    "joined floats": (lambda x, n: pt.join(0, x, n), f4, f8),
    "stacked": (lambda x, n: pt.stack([x, n]), f4, i8),
    "vector of scalars": (lambda x, n: pt.stack([x[0], n[1]]), f4, i8),
    "dot": (lambda x, n: pt.dot(x, n), f4, i8),
    "outer": (lambda x, n: pt.outer(x, n), f4, i8),
    "pow": (lambda x, n: x**n, f4, i8),
    "switch": (lambda x, n: pt.switch(n, x, n), f4, i8),
    "clip": (lambda x, n: pt.clip(x, n, n + 1), f4, i8),
    "maximum": (lambda x, n: pt.maximum(x, n, 2), f4, i8),
    "quotient": (lambda x, n: x / (n + 5), f4, i8),
    "sum with a dtype": (lambda x, n: (x * n).sum(dtype="float64"), f4, i8),
    "prod with a dtype": (lambda x, n: (x + n).prod(dtype="float32"), f8, i8),
    "prod of integers": (lambda x, n: x * n.prod(), f4, i8),
    "mean of integers": (lambda x, n: x + n.mean(), f4, i8),
    "variance": (lambda x, n: pt.var(x * n), f4, i8),
    "running product": (lambda x, n: pt.cumprod(x) + pt.cumsum(n), f4, i8),
    "softmax": (lambda x, n: pt.softmax(x + n), f4, i8),
    "split": (lambda x, n: pt.split(x * n, [1, 2], 2)[1], f4, i8),
    "reshape": (lambda x, n: (x + n).reshape((3, 1)), f4, b),
    "broadcast": (lambda x, n: x[:, None] * n[None, :], f4, i8),
    "allocated": (lambda x, n: pt.alloc(x + n, 2, 3), f4, i8),
    "largest": (lambda x, n: pt.max(x + n), f4, i8),
    "diagonal": (lambda x, n: pt.diagonal(pt.outer(x, n)), f4, i8),
    "arctan2": (lambda x, n: pt.arctan2(x, n + 3), f4, i8),
    "expm1": (lambda x, n: pt.expm1(n) * x, f4, i8),
}


@pytest.mark.parametrize("name", MIXED)
def test_both_ways_agree(name: str):
    """<w, J v> is the same read from the left and from the right, for each input."""
    function, one, other = MIXED[name]
    x, n = pt.vector("x", dtype=one), pt.vector("n", dtype=other)
    out = function(x, n)
    at = {x: np.array([0.5, 1.5, 2.5], one), n: np.array([1, 0, 1], other)}
    rng = np.random.default_rng(0)
    shape = evaluate([out], at)[0].shape
    w = pt.constant(rng.normal(size=shape), dtype=out.type.dtype)
    for v in (x, n):
        direction = pt.constant(rng.normal(size=3), dtype=one)
        left = Lop(out, v, w, disconnected_inputs="ignore")
        right = Rop(out, v, direction, disconnected_outputs="ignore")
        assert left.type.dtype == (v.type.dtype if v is x or other == f8 else "float64")
        assert right.type.dtype == out.type.dtype
        gx, moved = evaluate([left, right], at)
        assert gx.shape == (3,)
        assert moved.shape == shape
        np.testing.assert_allclose(
            (gx * direction.data).sum(), (moved * w.data).sum(), rtol=2e-5, atol=1e-6
        )


# --- what a gradient was made of --------------------------------------------------------------


def test_inputs_that_only_a_gradient_left_out():
    x, y = pt.dvectors("x", "y")
    s, t = pt.dscalars("s", "t")
    assert rw.function([x, y], grad(pt.dot(x, y), y))([1.0, 2], [3.0, 4]).tolist() == [1, 2]
    assert rw.function([x, y], 2 * grad((x + y).sum(), y))([1.0], [3.0]).tolist() == [2]
    assert rw.function([s, t], grad(s + t, s))(1.0, 2.0) == 1
    assert rw.function([s, t], grad(grad(s * s * t, s), s) / t)(1.0, 2.0) == 2
    assert rw.function([s, t], Rop(s + t, s, pt.constant(3.0)))(1.0, 2.0) == 3
    assert rw.function([s, t], Lop(s + t, s, pt.constant(3.0) * 1))(1.0, 2.0) == 3


def test_inputs_that_nothing_uses():
    x, y = pt.dvectors("x", "y")
    s = pt.dscalar("s")
    grad(s * 2 + 1, s)
    with pytest.raises(UnusedInputError, match="input 1"):
        rw.function([x, y], grad(x.sum(), x))
    with pytest.raises(UnusedInputError):
        rw.function([s], pt.constant(2.0))
    with pytest.raises(UnusedInputError):
        rw.function([x, s], x)


def test_it_is_forgotten_with_the_gradient():
    gc.collect()
    x, y = pt.dvectors("x", "y")
    g = grad(pt.dot(x, y), y)
    count = len(sources._sources)
    del g
    gc.collect()
    assert len(sources._sources) < count
