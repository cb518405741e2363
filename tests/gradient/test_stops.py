"""Functions that change or stop gradients."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DisconnectedInputError, NullTypeGradError, OptionError
from rewrite_engine.gradient import (
    Rop,
    disconnected_grad,
    grad,
    grad_clip,
    grad_not_implemented,
    grad_scale,
    grad_undefined,
    undefined_grad,
    zero_grad,
)
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op


@pytest.mark.parametrize(
    "stop",
    [
        disconnected_grad,
        zero_grad,
        undefined_grad,
        lambda x: grad_clip(x, -1, 1),
        lambda x: grad_scale(x, 2),
    ],
)
def test_values_pass(stop):
    x = pt.dvector("x")
    array = np.arange(3.0)
    y = stop(x)
    assert evaluate([y], {x: array})[0] is array
    assert y.type is x.type
    assert stop(x).owner.op is y.owner.op
    assert y.owner.op.infer_shape(None, y.owner, [("n",)]) == [("n",)]


def test_disconnected_grad():
    x = pt.dscalar("x")
    with pytest.raises(DisconnectedInputError):
        grad(disconnected_grad(x) ** 2, x)
    assert evaluate([grad(disconnected_grad(x) * x, x)], {x: 3.0})[0] == 3


def test_zero_grad():
    x = pt.dscalar("x")
    assert evaluate([grad(zero_grad(x) ** 2, x)], {x: 3.0})[0] == 0
    assert evaluate([grad(zero_grad(x) * x, x)], {x: 3.0})[0] == 3
    v = pt.dscalar("v")
    assert evaluate([Rop(zero_grad(x) * x, x, v)], {x: 3.0, v: 1.0})[0] == 3


def test_undefined_grad():
    x, v = pt.dscalars("x", "v")
    with pytest.raises(NullTypeGradError, match="UndefinedGrad"):
        grad(undefined_grad(x) ** 2, x)
    with pytest.raises(NullTypeGradError, match="UndefinedGrad"):
        Rop(undefined_grad(x) ** 2, x, v)
    for null in grad_undefined, grad_not_implemented:
        with pytest.raises(NullTypeGradError, match="has no values; it is null because"):
            rw.function([x], null(pt.add, 0, x), on_unused_input="ignore")


def test_grad_clip_and_scale():
    x = pt.dvector("x")
    g = grad((grad_clip(x, -1, 2) * np.array([-5.0, 0.5, 5.0])).sum(), x)
    assert evaluate([g], {x: np.zeros(3)})[0].tolist() == [-1, 0.5, 2]
    g = grad((grad_scale(x, -3) ** 2).sum(), x)
    assert evaluate([g], {x: np.ones(3)})[0].tolist() == [-6, -6, -6]
    with pytest.raises(OptionError, match="must be below the upper bound"):
        grad_clip(x, 1, 0)


@pytest.mark.parametrize("by_rule", [False, True])
def test_forward_derivatives_of_clipped_and_scaled_gradients(by_rule):
    """What is clipped is what flows back, not what flows forward."""
    x, v = pt.dvectors("x", "v")
    at = {x: np.ones(3), v: np.array([4.0, 5, 6])}
    for f, want in [
        (grad_clip(x, -1, 1), [4, 5, 6]),
        (grad_clip(x, 0, 1) * x, [8, 10, 12]),
        (grad_clip(x, 1, 2), [0, 0, 0]),
        (grad_scale(x, 3) + x, [16, 20, 24]),
    ]:
        assert evaluate([Rop(f, x, v, use_op_rop_implementation=by_rule)], at)[0].tolist() == want


class Clipped(Op):
    """The input; what flows back is clipped."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].copy()

    def grad(self, inputs, output_gradients):
        return [pt.clip(output_gradients[0], -1, 1)]


def test_forward_derivatives_by_a_gradient_that_is_not_linear():
    x, v = pt.dvectors("x", "v")
    found = Rop(Clipped()(x), x, v)
    assert evaluate([found], {x: np.ones(3) * 7, v: np.array([4.0, 5, 6])})[0].tolist() == [4, 5, 6]
