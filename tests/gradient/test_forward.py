"""`Rop`, and its agreement with `Lop`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    DisconnectedInputError,
    GradientError,
    MethodNotDefined,
    NullTypeGradError,
    TypeMismatchError,
)
from rewrite_engine.gradient import (
    Lop,
    Rop,
    disconnected_grad,
    grad_clip,
    grad_undefined,
    pushforward,
    zero_grad,
)
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.null import DisconnectedType
from rewrite_engine.graph.op import Op
from rewrite_engine.tensor.type import TensorType

RNG = np.random.default_rng(0)

FUNCTIONS = [
    (lambda x: x**2, (3,)),
    (lambda x: pt.exp(x) * x.sum(), (3,)),
    (lambda x: x.T, (2, 3)),
    (lambda x: pt.reshape(x, (3, 2)), (2, 3)),
    (lambda x: pt.flatten(x)[1:], (2, 3)),
    (lambda x: x[0].set(x[1] ** 2), (2, 3)),
    (lambda x: x[0].inc(x[1] ** 2), (2, 3)),
    (lambda x: x[[0, 1, 1]], (2, 3)),
    (lambda x: x[[0, 1, 1]].inc(1.0) * x, (2, 3)),
    (lambda x: pt.join(1, x, 2 * x, pt.ones((2, 1))), (2, 3)),
    (lambda x: pt.split(x**2, [1, 1])[1], (2, 3)),
    (lambda x: pt.stack([x[0, 0], x[1, 1] ** 2, 1.0]), (2, 3)),
    (lambda x: pt.dot(x, x.T), (2, 3)),
    (lambda x: pt.matmul(x[None], x.T), (2, 3)),
    (lambda x: x.sum(axis=0) * x.mean(), (2, 3)),
    (lambda x: x.max(axis=1), (2, 3)),
    (lambda x: pt.prod(x, axis=1), (2, 3)),
    (lambda x: pt.cumsum(x), (4,)),
    (lambda x: x + x[0], (2, 3)),
    (lambda x: pt.alloc(x[0, 0], 3) * x[0], (2, 3)),
    (lambda x: pt.specify_shape(x, (2, 3)) ** 2, (2, 3)),
    (lambda x: pt.switch(x > 0, x, -2 * x), (2, 3)),
    (lambda x: pt.signal.convolve1d(x, x), (3,)),  # an operand is the other one,
    (lambda x: pt.signal.convolve1d(x, pt.exp(x)), (3,)),  # or computed from it
    (lambda x: pt.linalg.solve_sylvester(x + 9 * pt.eye(2), x.T, x * x), (2, 2)),
]


@pytest.mark.parametrize("case", range(len(FUNCTIONS)))
def test_agrees_with_differences_and_with_lop(case):
    f, shape = FUNCTIONS[case]
    x, v = (TensorType("float64", [None] * len(shape))(n) for n in "xv")
    at, direction = RNG.normal(size=shape), RNG.normal(size=shape)
    y = f(x)
    product = Rop(y, x, v)
    assert product.type.dtype == y.type.dtype
    assert product.type.ndim == y.type.ndim
    got = evaluate([product], {x: at, v: direction})[0]
    h = 1e-6
    high, low = (evaluate([y], {x: at + s * direction})[0] for s in (h, -h))
    np.testing.assert_allclose(got, (high - low) / (2 * h), atol=1e-6)
    u = y.type("u")
    weight = RNG.normal(size=got.shape)
    back = evaluate([Lop(y, x, u)], {x: at, u: weight})[0]
    np.testing.assert_allclose((got * weight).sum(), (back * direction).sum())


class Cube(Op):
    """x³ without an R_op."""

    __props__ = ()

    def infer_types(self, types: Any) -> Any:
        return types

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] ** 3

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        return [3 * inputs[0] ** 2 * output_gradients[0]]


class Nowhere(Cube):
    """x³ whose gradient is undefined."""

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        return [grad_undefined(self, 0, inputs[0])]


class Silent(Cube):
    """x³ whose R_op says nothing."""

    def R_op(self, inputs: Any, eval_points: Any) -> Any:
        return [None]


class SilentNowhere(Silent):
    """x³ whose R_op says nothing, and whose gradient is undefined."""

    L_op = Nowhere.L_op


class Still(Cube):
    """x³ whose pushforward says that nothing moves."""

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Any:
        return [DisconnectedType()()]


class WrongNumber(Cube):
    """x³ with too many tangents."""

    def R_op(self, inputs: Any, eval_points: Any) -> Any:
        return [eval_points[0], eval_points[0]]


def test_an_op_without_r_op_is_differentiated_backwards_twice():
    x, v = pt.dvector("x"), pt.dvector("v")
    out = Rop(Cube()(x) * 2, x, v)
    got = evaluate([out], {x: [1.0, 2.0], v: [1.0, 0.5]})[0]
    assert got.tolist() == [6, 12]
    with pytest.raises(MethodNotDefined, match=r"Cube defines no R_op[\s\S]*test_forward.py"):
        Rop(Cube()(x) * 2, x, v, use_op_rop_implementation=True)


def test_an_r_op_that_says_nothing_is_not_zeros() -> None:
    x, v = pt.dvector("x"), pt.dvector("v")
    values = {x: [1.0, 2.0], v: [1.0, 0.5]}
    assert evaluate([Rop(Silent()(x) * 2, x, v)], values)[0].tolist() == [6, 12]
    assert evaluate([Rop(Still()(x) + x, x, v)], values)[0].tolist() == [1, 0.5]
    with pytest.raises(NullTypeGradError, match=r"SilentNowhere[\s\S]*test_forward.py"):
        Rop(SilentNowhere()(x) + x, x, v)
    with pytest.raises(ValueError, match=r"Silent: its R_op returns no derivative of output 0"):
        Rop(Silent()(x) + x, x, v, use_op_rop_implementation=True)
    for stop in zero_grad(x), disconnected_grad(x), grad_clip(x, 1.0, 2.0):
        found = Rop(stop + 2 * x, x, v, use_op_rop_implementation=True)
        assert evaluate([found], values)[0].tolist() == [2, 1]


def test_several():
    x, y, v, w = pt.dscalars("x", "y", "v", "w")
    a, b = Rop([x * y, x**2], [x, y], [v, w])
    got = evaluate([a, b], {x: 2.0, y: 3.0, v: 1.0, w: 10.0})
    assert [float(g) for g in got] == [23, 4]
    assert Rop(x, x, v) is v
    named = pushforward(f=x * y, wrt=[x], tangents=[v], use_op_pushforward=True)
    assert evaluate([named], {y: 3.0, v: 2.0})[0] == 6


def test_integers_pass_on_zeros():
    x, v = pt.dvector("x"), pt.dvector("v")
    out = Rop(pt.cast(x, "int64") * x, x, v)
    assert evaluate([out], {x: [1.5], v: [1.0]})[0].tolist() == [1]


def test_disconnected():
    x, y, v = pt.dscalars("x", "y", "v")
    with pytest.raises(DisconnectedInputError, match="y of type"):
        Rop(y, x, v)
    zero = Rop(y * 2, x, v, disconnected_outputs="ignore")
    assert evaluate([zero], {y: 1.0})[0] == 0
    options = {"disconnected_outputs": "ignore"}
    assert Rop(y, x, v, return_disconnected="none", **options) is None
    with pytest.warns(UserWarning, match="y of type"):
        Rop(y, x, v, disconnected_outputs="warn")
    kept = Rop(y, x, v, return_disconnected="disconnected", **options)
    assert isinstance(kept.type, DisconnectedType)


def test_errors():
    x, v = pt.dscalars("x", "v")
    with pytest.raises(TypeMismatchError, match="1 wrt and 2 eval_points"):
        Rop(x, x, [v, v])
    with pytest.raises(NullTypeGradError, match=r"Nowhere[\s\S]*test_forward.py"):
        Rop(Nowhere()(x), x, v)
    with pytest.raises(GradientError, match=r"WrongNumber: its R_op must return 1"):
        Rop(WrongNumber()(x), x, v)


def test_a_long_chain():
    x, v = pt.dscalars("x", "v")
    y = x
    for _ in range(100_000):
        y = pt.sin(y)
    assert Rop(y, x, v).type == y.type


def test_what_has_no_derivative_is_told() -> None:
    x = pt.dvector("x")
    with pytest.raises(NullTypeGradError, match=r"jv[\s\S]*test_forward.py"):
        Rop(pt.jv(x, 2.0), x, x)
