"""Rules for linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import grad

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.5], [0.5, -0.5, 2.0]])


def density(x: Any, a: Any, number: Any) -> Any:
    """Of columns of numbers, but for what does not depend on `a`."""
    low = pt.linalg.cholesky(a)
    z = pt.linalg.solve_triangular(low, x, lower=True)
    return -0.5 * (z**2).sum() - number * pt.log(pt.diagonal(low)).sum()


def wanted(x: Any, sign: float, number: float) -> np.ndarray:
    """The gradient for the lower triangle: both triangles together."""
    inverse = np.linalg.inv(A)
    x = x.reshape(3, -1)
    half = np.tri(3) - 0.5 * np.eye(3)
    return half * sign * (inverse @ x @ x.T @ inverse - number * inverse)


def compiled(x: Any, sign: int, number: Any, *more: Any) -> Any:
    a = pt.dmatrix("a")
    return rw.function([x, a, *more], grad(sign * density(x, a, number), a))


def names(f: Any) -> set[str]:
    return {type(node.op).__name__ for node in f.fgraph.toposort()}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("number", [1, 2.5, None])
@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 2)])
def test_the_gradient_of_a_normal_density(shape: Any, number: Any, sign: int) -> None:
    x, value = pt.tensor("x", shape=(None,) * len(shape)), np.arange(np.prod(shape)) - 1.5
    value = value.reshape(shape)
    more = [] if number else [pt.dscalar("n")]
    f = compiled(x, sign, number or more[0], *more)
    assert "CovarianceGradient" in names(f)
    assert not {"CholeskyGradient", "IncDiagonal"} & names(f)
    found = f(value, A, *[np.array(4.0)] * len(more))
    np.testing.assert_allclose(found, wanted(value, sign, number or 4.0), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    "gradient",
    [
        lambda low, z, y: pt.linalg.cholesky(y @ y.T) @ z @ z.T,  # nothing is solved
        lambda low, z, y: pt.linalg.solve_triangular(low, z, trans=1, lower=True) @ y.T,
        lambda low, z, y: pt.linalg.solve_triangular(low, z, trans=0, lower=True) @ z.T,
        lambda low, z, y: pt.linalg.solve_triangular(y @ y.T, z, trans=1, lower=True) @ z.T,
    ],
)
def test_what_is_no_gradient_of_a_normal_density(gradient: Any) -> None:
    from rewrite_engine.tensor.index.diagonals import IncDiagonal

    z, y, a = pt.dmatrix("z"), pt.dmatrix("y"), pt.dmatrix("a")
    low = pt.linalg.cholesky(a)
    g = IncDiagonal()(gradient(low, z, y), 2.0 / pt.diagonal(low))
    out = pt.linalg.CholeskyGradient()(low, g)
    values = np.arange(9.0).reshape(3, 3) + 3 * np.eye(3), A + np.eye(3), A
    f = rw.function([z, y, a], out, on_unused_input="ignore")
    assert "CovarianceGradient" not in names(f)
    plain = rw.Mode(linker="py", optimizer=None)
    as_written = rw.function([z, y, a], out, mode=plain, on_unused_input="ignore")
    np.testing.assert_allclose(f(*values), as_written(*values), rtol=1e-12)


def test_a_second_derivative_is_that_of_what_was_written() -> None:
    a, x = pt.dmatrix("a"), pt.dvector("x")
    value = np.array([1.0, -2.0, 0.5])
    g = grad(density(x, a, 1.0), a)
    f = rw.function([x, a], grad((g**2).sum(), [x, a]))
    as_written = rw.function([x, a], grad((g**2).sum(), [x, a]), mode=rw.Mode(optimizer=None))
    for found, want in zip(f(value, A), as_written(value, A), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-12)


def test_no_covariance() -> None:
    """A matrix that is not positive definite has a gradient of NaN, as it has without the rule."""
    x = pt.dvector("x")
    assert np.isnan(compiled(x, 1, 1.0)(np.ones(3), -A)).all()
