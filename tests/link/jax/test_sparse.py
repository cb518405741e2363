"""Sparse matrices by JAX: products, sums and elements of constants and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import rewrite_engine as rw
import rewrite_engine.sparse as rs
import rewrite_engine.tensor as pt
from rewrite_engine.errors import UntraceableError

A = scipy.sparse.random(6, 5, 0.4, "csr", random_state=0)
X, Y, M = np.linspace(-1, 2, 5), np.linspace(0, 1, 6), np.sin(np.arange(10.0)).reshape(5, 2)
x, y, m, s = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m"), rs.csr_matrix("s")
a, c = rs.as_sparse_variable(A), rs.as_sparse_variable(A.tocsc())
D = pt.dvector("d")
DATA = np.cos(np.arange(A.nnz))


CASES: dict[str, Any] = {
    "matrix vector": ([x], rs.dot(a, x), [X]),
    "vector matrix": ([y], rs.dot(y, a), [Y]),
    "matrix matrix": ([m], rs.dot(c, m), [M]),
    "gradient": ([x], rw.grad(pt.sqr(rs.dot(a, x)).sum(), x), [X]),
    "quadratic form": ([x], pt.dot(x, rs.dot(rs.true_dot(c.T, a), x)), [X]),
    "argument": ([s, x], rs.structured_dot(s, x), [A, X]),
    "elements": ([D, x], rs.dot(rs.with_data(a, pt.exp(D)), x), [DATA, X]),
    "gradient of elements": (
        [D, x], rw.grad(pt.sqr(rs.structured_dot(rs.with_data(a, D), x)).sum(), D), [DATA, X],
    ),
    "sums": ([D], [rs.sp_sum(rs.with_data(a, D), axis=k) for k in (None, 0, 1)], [DATA]),
    "dense": ([D], rs.dense_from_sparse(rs.with_data(c, D)), [DATA]),
    "transpose": ([D, y], rs.dot(rs.transpose(rs.with_data(a, D)), y), [DATA, Y]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    inputs, outputs, values = CASES[name]
    found = rw.function(inputs, outputs, mode="jax")(*values)
    wanted = rw.function(inputs, outputs, mode="vm")(*values)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, list) else [(found, wanted)]
    for got, want in pairs:
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


def test_results_are_dense() -> None:
    with pytest.raises(UntraceableError, match="sparse matrix"):
        rw.function([s], s * 2.0, mode="jax")(A)
