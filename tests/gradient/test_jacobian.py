"""Jacobians and Hessians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DisconnectedInputError, DTypeError
from rewrite_engine.gradient import grad, hessian, hessian_vector_product, jacobian
from rewrite_engine.gradient.verify import Evaluator, evaluate
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.tensor.type import TensorType
from tests.gradient.test_forward import FUNCTIONS

AT = np.array([1.0, 2.0, 3.0])


def known(n=3):
    """A vector of known length."""
    return TensorType("float64", (n,))("x")


def test_jacobian():
    x, y = known(), pt.dscalar("y")
    jx, jy = jacobian(x**2 * y, [x, y])
    assert jx.type.shape == (3, 3)
    got = evaluate([jx, jy], {x: AT, y: 2.0})
    np.testing.assert_allclose(got[0], np.diag(4 * AT))
    np.testing.assert_allclose(got[1], AT**2)


def test_jacobian_of_a_scalar_is_the_gradient():
    x = known()
    assert evaluate([jacobian((x**2).sum(), x)], {x: AT})[0].tolist() == [2, 4, 6]


def test_hessian():
    x = known()
    cost = (x**3).sum() + x[0] * x[1]
    got = evaluate([hessian(cost, x)], {x: AT})[0]
    want = np.diag(6 * AT)
    want[0, 1] = want[1, 0] = 1
    np.testing.assert_allclose(got, want)
    assert isinstance(hessian(cost, [x]), list)


def test_hessian_vector_product():
    x, p = pt.dvector("x"), pt.dvector("p")
    cost = (x**3).sum() + x[0] * x[1]
    got = evaluate([hessian_vector_product(cost, x, p)], {x: AT, p: [1.0, 1.0, 0.0]})[0]
    np.testing.assert_allclose(got, [7, 13, 0])
    y = pt.dvector("y")
    with pytest.raises(DisconnectedInputError):
        hessian_vector_product(cost, [x, y], [p, p])
    both = hessian_vector_product(cost, [x, y], [p, p], disconnected_inputs="ignore")
    assert [g.type for g in both] == [x.type, y.type]


def differences(f: Any, at: np.ndarray) -> np.ndarray:
    """d f[...] / d x[...] by central differences."""
    result, step = np.zeros(f(at).shape + at.shape), 1e-6
    for index in np.ndindex(at.shape):
        d = np.zeros_like(at)
        d[index] = step
        result[(..., *index)] = (f(at + d) - f(at - d)) / (2 * step)
    return result


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("case", range(len(FUNCTIONS)))
def test_any_rank_of_any_length(case: int, static: bool):
    f, shape = FUNCTIONS[case]
    x = TensorType("float64", shape if static else [None] * len(shape))("x")
    y, at = f(x), np.random.default_rng(1).normal(size=shape)
    first = grad(pt.sin(y).sum(), x)
    for derivative, of in ((jacobian(y, x), y), (hessian(pt.sin(y).sum(), x), first)):
        value = Evaluator([x], [of])
        want = differences(lambda a, value=value: value(a)[0], at)
        assert derivative.type.ndim == want.ndim
        got = evaluate([derivative], {x: at})[0]
        assert derivative.type.is_valid_value(got)
        np.testing.assert_allclose(got, want, atol=1e-6)


def test_elements_that_do_not_matter_have_the_slope_0():
    x = pt.dvector("x")
    got = evaluate([jacobian(pt.log(x), x), jacobian(pt.log(x)[1:], x)], {x: [0.0, 2.0]})
    assert got[0].tolist() == [[np.inf, 0], [0, 0.5]]
    assert got[1].tolist() == [[0, 0.5]]


def test_a_jacobian_is_no_larger_for_more_rows():
    few, many = known(3), known(1000)
    sizes = [len(toposort([jacobian(pt.exp(x) ** 2, x)])) for x in (few, many)]
    assert sizes[0] == sizes[1]


def test_empty_and_disconnected():
    x, y = pt.dmatrix("x"), pt.fvector("y")
    assert evaluate([jacobian(x**2, x)], {x: np.ones((0, 2))})[0].shape == (0, 2, 0, 2)
    with pytest.raises(DisconnectedInputError):
        jacobian(x**2, [x, y])
    j = jacobian(x**2, (x, y), disconnected_inputs="ignore", vectorize=True)[1]
    got = evaluate([j], {x: np.ones((3, 2)), y: np.ones(4, "float32")})[0]
    assert got.shape == (3, 2, 4)
    assert got.dtype == "float32"
    assert not got.any()


def test_only_the_gradient_left_it_out():
    x = known()
    assert rw.function([x], jacobian(2 * x, x))(AT).tolist() == np.diag([2.0] * 3).tolist()
    assert not rw.function([x], hessian((2 * x).sum(), x))(AT).any()


def test_errors():
    x = pt.dvector("x")
    with pytest.raises(DTypeError, match="tensor variable"):
        jacobian(1.0, x)
    with pytest.raises(DTypeError, match="complex"):
        jacobian(pt.zvector(), x)


def test_the_names_are_also_found_where_tensors_are():
    assert (pt.jacobian, pt.hessian, pt.grad) == (jacobian, hessian, grad)
    with pytest.raises(AttributeError, match="has no attribute 'gard'"):
        pt.gard
