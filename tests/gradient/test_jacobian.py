"""Jacobians and Hessians."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, GradientError, NDimError
from rewrite_engine.gradient import grad, hessian, hessian_vector_product, jacobian
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.type import TensorType

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


def test_errors():
    x = pt.dvector("x")
    with pytest.raises(GradientError, match=r"not known while[\s\S]*specify_shape"):
        jacobian(x**2, x)
    with pytest.raises(NDimError, match="at most 1 dimension"):
        jacobian(pt.dmatrix(), x)
    with pytest.raises(DTypeError, match="tensor variable"):
        jacobian(1.0, x)
    with pytest.raises(NDimError, match="must be vectors"):
        hessian(x.sum(), pt.dscalar())


def test_the_names_are_also_found_where_tensors_are():
    assert (pt.jacobian, pt.hessian, pt.grad) == (jacobian, hessian, grad)
    with pytest.raises(AttributeError, match="has no attribute 'gard'"):
        pt.gard
