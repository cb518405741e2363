"""`Factor`, one factorisation for several uses, and the ops on its outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.tensor.linalg import SingularMatrixError
from rewrite_engine.tensor.linalg.factor import (
    NO_PIVOT,
    Factor,
    FactorInverse,
    FactorSLogDet,
    FactorSolve,
)

DTYPES = ("float64", "float32", "complex128", "complex64")
RNG = np.random.default_rng(11)


def value(dtype: str, *shape: int) -> Any:
    found = RNG.normal(size=shape)
    return (found + 1j * RNG.normal(size=shape) if "complex" in dtype else found).astype(dtype)


def computed(a: Any, b: Any) -> list[Any]:
    """Return all that is computed from the factor of a matrix (or many)."""
    x, y = [
        pt.tensor(dtype=v.dtype.name, shape=[1 if n == 1 else None for n in v.shape])
        for v in (a, b)
    ]
    factor = Factor().lifted(x)
    outputs = [op.lifted(*factor, y) for op in (FactorSolve(), FactorSolve(transposed=True))]
    outputs += [FactorInverse().lifted(*factor), *FactorSLogDet().lifted(*factor), factor[1]]
    return rw.function([x, y], outputs)(a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("definite", [False, True])
@pytest.mark.parametrize("shape", [(0, 2), (1, 1), (2, 0), (3, 2), (70, 3)])
def test_one_matrix(shape: Any, definite: bool, dtype: str) -> None:
    n, m = shape
    a, b = value(dtype, n, n), value(dtype, n, m)
    a = a @ a.T.conj() + n * np.eye(n, dtype=dtype) if definite else a + n * np.eye(n, dtype=dtype)
    a = (a + a.T) / 2 if definite and "complex" not in dtype else a
    found = computed(a, b)
    sign, size = np.linalg.slogdet(a)
    wanted = [np.linalg.solve(a, b), np.linalg.solve(a.T, b), np.linalg.inv(a), sign, size]
    close = {"rtol": 1e-3, "atol": 1e-4} if dtype in ("float32", "complex64") else {"rtol": 1e-9}
    for x, y in zip(found, wanted, strict=False):
        np.testing.assert_allclose(x, y, **{"atol": 1e-10, **close})
        assert np.asarray(x).real.dtype == a.real.dtype
    by_cholesky = n > 0 and found[5][0] == NO_PIVOT
    assert by_cholesky == (n > 0 and definite and "complex" not in dtype) or n == 1


def test_arrays_of_matrices() -> None:
    a, b = value("float64", 4, 3, 3) + 3 * np.eye(3), value("float64", 4, 3, 2)
    a[1] = a[1] @ a[1].T
    found = computed(a, b)
    np.testing.assert_allclose(found[0], np.linalg.solve(a, b), rtol=1e-10)
    np.testing.assert_allclose(found[1], np.linalg.solve(a.swapaxes(1, 2), b))
    np.testing.assert_allclose(found[2], np.linalg.inv(a), rtol=1e-9)
    np.testing.assert_allclose(found[4], np.linalg.slogdet(a)[1], rtol=1e-10)
    one = computed(a[:1], b)
    np.testing.assert_allclose(one[0], np.linalg.solve(a[:1], b), rtol=1e-10)
    none = computed(a[:0], b[:0])
    assert [x.shape for x in none[:5]] == [(0, 3, 2), (0, 3, 2), (0, 3, 3), (0,), (0,)]


def test_signs_count_swaps() -> None:
    a = np.eye(4)[[1, 2, 3, 0]]
    assert [float(x) for x in computed(a, np.eye(4))[3:5]] == [-1.0, 0.0]
    assert [float(x) for x in computed(-np.eye(3), np.eye(3))[3:5]] == [-1.0, 0.0]


@pytest.mark.parametrize("a", [np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 0, 2])])
def test_singular_matrices(a: Any) -> None:
    x, y = pt.dmatrices("x", "y")
    factor = Factor()(x)
    for out in (FactorSolve()(*factor, y), FactorInverse()(*factor)):
        with pytest.raises(SingularMatrixError, match="singular"):
            rw.function([x, y], out, on_unused_input="ignore")(a, np.ones((3, 2)))
    sign, size = rw.function([x], FactorSLogDet()(*factor))(a)
    assert (sign, size) == (0, -np.inf)


def test_lengths_that_do_not_fit() -> None:
    x, y = pt.dmatrices("x", "y")
    factor = Factor()(x)
    with pytest.raises(ShapeError):
        rw.function([x], factor)(np.ones((3, 2)))
    with pytest.raises(ShapeError):
        rw.function([x, y], FactorSolve()(*factor, y))(np.eye(3), np.ones((2, 2)))


def test_nan() -> None:
    a = np.eye(3)
    a[0, 1] = np.nan
    found = computed(a, np.ones((3, 1)))
    assert all([np.isnan(x).any() for x in found[:5]])


def test_no_gradient() -> None:
    """Rules use these ops after gradients were taken."""
    x = pt.dmatrix("x")
    out = FactorInverse()(*Factor()(x)).sum()
    with pytest.raises(
        rw.errors.RewriteEngineError, match="gradients are taken of the ops that this"
    ):
        rw.grad(out, x)
