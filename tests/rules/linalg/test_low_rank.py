"""Rules for diagonal matrices plus products of few columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.linalg import SingularMatrixError
from tests.rules.linalg.terms import Term, both, check_slopes, check_value, names, variables

inv = np.linalg.inv


def size(a: Any) -> Any:
    """Return the logarithm of a determinant."""
    return np.linalg.slogdet(a)[1]


def whole(d: Any, u: Any) -> Any:
    """Return the matrix of values."""
    return np.diag(d) + u @ u.T


def written(d: Any, u: Any) -> Any:
    """Return the matrix of variables."""
    return pt.diag(d) + u @ u.T


TERMS = (
    Term("solution", lambda d, u, b: linalg.solve(written(d, u), b),
         lambda d, u, b: inv(whole(d, u)) @ b, ("n", "nk", "nm")),
    Term("vector", lambda d, u, b: linalg.inv(written(d, u)) @ b,
         lambda d, u, b: inv(whole(d, u)) @ b, ("n", "nk", "n")),
    Term("form", lambda d, u, b: b @ linalg.inv(written(d, u)) @ b,
         lambda d, u, b: b @ inv(whole(d, u)) @ b, ("n", "nk", "n")),
    Term("difference", lambda d, u, b: linalg.solve(pt.diag(d) - 0.01 * u @ u.T, b),
         lambda d, u, b: inv(np.diag(d) - 0.01 * u @ u.T) @ b, ("n", "nk", "nm")),
    Term("two_factors", lambda d, u, v, b: linalg.solve(pt.diag(d) + u @ v, b),
         lambda d, u, v, b: inv(np.diag(d) + u @ v) @ b, ("n", "nk", "kn", "nm")),
    Term("inverse", lambda d, u: linalg.inv(written(d, u)), lambda d, u: inv(whole(d, u)),
         ("n", "nk")),
    Term("outer", lambda d, u, b: linalg.solve(pt.diag(d) + pt.outer(u, u), b),
         lambda d, u, b: inv(np.diag(d) + np.outer(u, u)) @ b, ("n", "n", "nm")),
    Term("multiple_of_eye", lambda u, b: linalg.solve(2 * pt.eye(u.shape[0]) + u @ u.T, b),
         lambda u, b: inv(2 * np.eye(len(u)) + u @ u.T) @ b, ("nk", "nm")),
    Term("log", lambda d, u: linalg.slogdet(written(d, u))[1], lambda d, u: size(whole(d, u)),
         ("n", "nk")),
    Term("sign", lambda d, u: linalg.slogdet(written(d, u))[0],
         lambda d, u: np.linalg.slogdet(whole(d, u))[0], ("n", "nk"), "", "", False),
    Term("det", lambda d, u: linalg.det(written(d, u)), lambda d, u: np.linalg.det(whole(d, u)),
         ("n", "nk")),
)  # fmt: skip
#: the number of columns is below, at and above half of the rows
LENGTHS = [(0, 0), (0, 1), (1, 0), (1, 1), (5, 0), (5, 1), (5, 2), (5, 3), (5, 5), (5, 7), (30, 2)]


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_values(term: Term, is_static: bool) -> None:
    for n, k in LENGTHS:
        check_value(term, term.values("float64", n=n, k=k, m=2), is_static)
    for dtype in ("float32", "complex128"):
        check_value(term, term.values(dtype, n=7, k=2, m=2), is_static)


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", [t for t in TERMS if t.slopes], ids=repr)
def test_slopes(term: Term, is_static: bool) -> None:
    check_slopes(term, term.values("float64", n=5, k=1, m=2), is_static)


def factorised(term: Term, **lengths: int) -> list[Any]:
    """Return the matrices that are factorised in a call (compiled with shapes)."""
    inputs = variables(term.values("float64", **lengths), True)
    f = rw.function(inputs, term.write(*inputs), mode=rw.Mode(linker="py"))
    return [
        node.inputs[0].type.shape
        for node in f.fgraph.toposort()
        if type(node.op).__name__ in ("Solve", "MatrixInverse", "SLogDet", "Factor", "Det")
    ]


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_only_a_small_matrix_is_factorised_if_there_are_few_columns(term: Term) -> None:
    found = factorised(term, n=9, k=2, m=2)
    if term.name == "outer":  # (for one column, a quotient of numbers)
        assert found == [(9, 9)]
        return
    assert (2, 2) in found
    assert {*factorised(term, n=9, k=6, m=2)} == {(9, 9)}


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_small_numbers_on_the_diagonal_lose_no_digits(term: Term) -> None:
    """A diagonal with a 0, or a very small number, is not divided by."""
    if "n" not in term.shapes:
        return
    for small in (0.0, 1e-14):
        values = term.values("float64", n=6, k=1, m=2)
        values[0][2] = small
        inputs = variables(values, False)
        found, _, _ = both(inputs, term.write(*inputs), values)
        np.testing.assert_allclose(found, term.wanted(*values), rtol=1e-7, atol=1e-9)


def test_errors_and_nan_are_kept() -> None:
    d, u, b = pt.vector("d"), pt.matrix("u"), pt.matrix("b")
    term = linalg.solve(written(d, u), b)
    assert "Solve" in names(rw.function([d, u, b], term))
    zero = np.zeros((6, 1))
    for mode in (None, rw.Mode(optimizer=None)):
        f = rw.function([d, u, b], term, mode=mode)
        with pytest.raises(SingularMatrixError):
            f(np.array([1.0, 1, 1, 1, 1, 0]), zero, np.ones((6, 2)))
        with pytest.raises(rw.errors.ShapeError):
            f(np.ones(6), np.ones((5, 1)), np.ones((6, 2)))
        with pytest.raises(rw.errors.ShapeError):
            f(np.ones(6), zero, np.ones((5, 2)))
    for i in range(3):
        values = [np.ones(6), np.ones((6, 1)), np.ones((6, 2))]
        values[i][(1,) * values[i].ndim if i != 1 else (1, 0)] = np.nan
        found, built, _ = both([d, u, b], term, values)
        assert np.isnan(built).any()
        assert np.isnan(found).any()
