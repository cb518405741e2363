"""Rules for diagonals of matrices, and for diagonal matrices in products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.language import rewritten
from tests.rules.linalg.terms import Term, both, check_ops, check_slopes, check_value, variables

TERMS = (
    Term("diagonal_that_was_set", lambda a: pt.diagonal(pt.diag(a)), lambda a: a, ("n",),
         "Diagonal IncDiagonal"),
    Term("columns_of_diagonal_matrix", lambda a: pt.diag(a).sum(axis=0), lambda a: a, ("n",),
         "Sum IncDiagonal"),
    Term("rows_of_diagonal_matrix", lambda a: pt.diag(pt.exp(a)).sum(axis=1), lambda a: np.exp(a),
         ("n",), "Sum IncDiagonal"),
    Term("diagonal_of_transpose", lambda a: pt.diagonal(a.T), lambda a: a.diagonal(), ("nm",),
         "DimShuffle", "Diagonal"),
    Term("diagonal_of_eye", lambda a: pt.diagonal(pt.eye(a.shape[0])) * a, lambda a: a, ("n",),
         "Eye Diagonal"),
    Term("diagonal_of_tril", lambda a: pt.diagonal(pt.tril(a)), lambda a: a.diagonal(), ("nm",),
         "Tri", "Diagonal"),
    Term("diagonal_of_elements", lambda a: pt.diagonal(pt.exp(a) * 2 + a),
         lambda a: 2 * np.exp(a.diagonal()) + a.diagonal(), ("nm",), "", "Diagonal"),
    Term("trace_of_elements", lambda a: pt.linalg.trace(a * a), lambda a: (a.diagonal() ** 2).sum(),
         ("nn",), "", "Diagonal"),
    Term("diagonal_times_matrix", lambda a, b: pt.diag(a) @ b, lambda a, b: a[:, None] * b,
         ("n", "nm"), "Dot IncDiagonal"),
    Term("matrix_times_diagonal", lambda a, b: b @ pt.diag(a), lambda a, b: b * a,
         ("n", "mn"), "Dot IncDiagonal"),
    Term("diagonal_times_vector", lambda a, b: pt.diag(a) @ b, lambda a, b: a * b,
         ("n", "n"), "Dot IncDiagonal"),
    Term("vector_times_diagonal", lambda a, b: b @ pt.diag(a), lambda a, b: a * b,
         ("n", "n"), "Dot IncDiagonal"),
    Term("form_with_diagonal", lambda a, b: b.T @ pt.diag(a) @ b,
         lambda a, b: b.T @ (a[:, None] * b), ("n", "nm"), "IncDiagonal", "Dot"),
    Term("masked_eye", lambda a, b: (b * pt.eye(b.shape[0])) @ a, lambda a, b: b.diagonal() * a,
         ("n", "nn"), "Dot"),
    Term("scaled_columns_times_vector", lambda a, b, c: (a * b) @ c, lambda a, b, c: (a * b) @ c,
         ("mn", "n", "n"), "", "Dot"),
    Term("scaled_rows_times_vector", lambda a, b, c: (b[:, None] * a) @ c,
         lambda a, b, c: (b[:, None] * a) @ c, ("nm", "n", "m"), "", "Dot"),
    Term("vector_times_scaled_rows", lambda a, b, c: c @ (b[:, None] * a),
         lambda a, b, c: c @ (b[:, None] * a), ("nm", "n", "n"), "", "Dot"),
    Term("vector_times_scaled_columns", lambda a, b, c: c @ (a * b),
         lambda a, b, c: c @ (a * b), ("mn", "n", "m"), "", "Dot"),
    Term("multiple_times_vector", lambda a, b, c: (c.sum() * a) @ b,
         lambda a, b, c: (c.sum() * a) @ b, ("mn", "n", "n"), "", "Dot"),
    Term("vector_times_multiple", lambda a, b, c: b @ (c.sum() * a),
         lambda a, b, c: b @ (c.sum() * a), ("nm", "n", "n"), "", "Dot"),
    Term("outer_product_times_vector", lambda a, b, c: pt.outer(a, b) @ c,
         lambda a, b, c: np.outer(a, b) @ c, ("n", "m", "m"), "", "Dot"),
    Term("outer_product_times_matrix", lambda a, b, c: pt.outer(a, b) @ c,
         lambda a, b, c: np.outer(a, b) @ c, ("n", "m", "mn"), "", "Dot"),
    Term("vector_times_outer_product", lambda a, b, c: c @ pt.outer(a, b),
         lambda a, b, c: c @ np.outer(a, b), ("n", "m", "n"), "", "Dot"),
    Term("matrix_times_outer_product", lambda a, b, c: c @ pt.outer(a, b),
         lambda a, b, c: c @ np.outer(a, b), ("n", "m", "mn"), "", "Dot"),
)  # fmt: skip
SHAPES = [(0, 2), (2, 0), (1, 1), (1, 3), (3, 1), (3, 2), (4, 6)]


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_values(term: Term, is_static: bool) -> None:
    for n, m in SHAPES:
        check_value(term, term.values("float64", n=n, m=m), is_static)
    for dtype in ("float32", "complex128"):
        check_value(term, term.values(dtype, n=4, m=3), is_static)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_ops(term: Term) -> None:
    check_ops(term, term.values("float64", n=4, m=3), ["Tri", "Eye"])


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_slopes(term: Term, is_static: bool) -> None:
    check_slopes(term, term.values("float64", n=3, m=2), is_static)


@pytest.mark.parametrize("term", [t for t in TERMS if t.name != "diagonal_of_eye"], ids=repr)
def test_what_the_graph_as_built_propagates_is_not_lost(term: Term) -> None:
    """A NaN stays a NaN somewhere; elements that are not on a diagonal are not read."""
    values = term.values("float64", n=3, m=2)
    for i, x in enumerate(values):
        changed = [v.copy() for v in values]
        changed[i][(1,) * x.ndim] = np.nan
        inputs = variables(changed, False)
        found, built, _ = both(inputs, term.write(*inputs), changed)
        assert np.isnan(found).any() == np.isnan(built).any()


def test_matrix_matrix_products_keep_their_scales() -> None:
    """Scaling the columns of a matrix costs less than the product."""
    a, b, u = pt.matrix("a"), pt.matrix("b"), pt.vector("u")
    assert repr(rewritten((a * u) @ b)) == "a * u @ b"


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("index", [[], [2], [1, 0, 2], [2, 2, -1, 0]])
def test_chosen_rows(index: list[int], is_static: bool) -> None:
    p = pt.lvector("p")
    x = np.random.default_rng(1).normal(size=(3, 3))
    bad = x.copy()
    bad[1, 2] = np.nan
    a = pt.tensor("a", dtype="float64", shape=x.shape if is_static else (None, None))
    rows, columns = pt.eye(a.shape[0])[p], pt.eye(a.shape[1])[p]
    for term, choose in ((rows @ a, lambda v: v[index]), (a @ columns.T, lambda v: v[:, index]),
                         (rows @ a[:, 2], lambda v: v[index, 2])):  # fmt: skip
        found, built, _ = both([a, p], term, (x, index))
        np.testing.assert_allclose(found, choose(x), rtol=1e-15)
        np.testing.assert_allclose(built, choose(x), rtol=1e-15)
        found, built, _ = both([a, p], term, (bad, index))  # (0 * NaN is left out)
        np.testing.assert_array_equal(found, choose(bad))
        assert (np.isnan(found) <= np.isnan(built)).all()
        f = rw.function([a, p], term)
        for wrong in ([3], [-4]):
            with pytest.raises(IndexError):
                f(x, wrong)


def test_errors_are_kept() -> None:
    u, a, v = pt.vector("u"), pt.matrix("a"), pt.vector("v")
    for term, values in (
        (pt.diag(u) @ a, (np.ones(3), np.ones((2, 2)), np.ones(3))),
        (pt.diag(u) @ a, (np.ones(1), np.ones((2, 2)), np.ones(3))),
        (pt.diag(u) @ a, (np.ones(2), np.ones((1, 2)), np.ones(3))),
        (a @ pt.diag(u), (np.ones(1), np.ones((2, 2)), np.ones(3))),
        (pt.diag(u) @ v, (np.ones(1), np.ones((2, 2)), np.ones(3))),
        ((a * u) @ v, (np.ones(2), np.ones((2, 2)), np.ones(1))),
        (pt.outer(u, v) @ a, (np.ones(2), np.ones((2, 2)), np.ones(1))),
        (a @ pt.outer(u, v), (np.ones(1), np.ones((2, 2)), np.ones(2))),
        (pt.diagonal(a * pt.outer(u, v)), (np.ones(2), np.ones((3, 3)), np.ones(3))),
    ):
        for mode in (None, rw.Mode(optimizer=None)):
            with pytest.raises(ShapeError):
                rw.function([u, a, v], term, mode=mode, on_unused_input="ignore")(*values)


def test_integers_and_mixed_dtypes() -> None:
    i, v, a = pt.lvector("i"), pt.fvector("v"), pt.matrix("a")
    x, y = np.array([1, 2, 3]), np.array([0.5, 1, 2], "float32")
    z: Any = np.random.default_rng(2).normal(size=(3, 3))
    for term, wanted in (
        (pt.diag(i) @ a, np.diag(x) @ z), (pt.diag(v) @ a, np.diag(y) @ z),
        (pt.diag(i) @ pt.diag(i), np.diag(x) @ np.diag(x)), (pt.diag(i) @ v, np.diag(x) @ y),
        ((a * i) @ v, (z * x) @ y), (pt.diagonal(pt.diag(i) * a), x * z.diagonal()),
    ):  # fmt: skip
        found, built, _ = both([i, v, a], term, (x, y, z))
        assert found.dtype == built.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        np.testing.assert_allclose(found, built, rtol=1e-6)


def test_products_of_integers_wrap() -> None:
    """A product of integers is computed where it is written: there it wraps."""
    i, j = pt.bvectors("i", "j")
    a, b, v, c = pt.matrix("a"), pt.bmatrix("b"), pt.vector("v"), pt.bscalar("c")
    values = (
        np.array([100, 3, -7], "int8"), np.array([50, -3, 100], "int8"),
        np.arange(9.0).reshape(3, 3) - 2, (14 * np.arange(9)).reshape(3, 3).astype("int8"),
        np.array([1.0, 2.0, 3.0]), np.int8(3),
    )  # fmt: skip
    for term in (
        pt.outer(i, j) @ v, a @ pt.outer(i, j), (b * i) @ v, (i[:, None] * b) @ v, v @ (b * i),
        v @ (i[:, None] * b), (c * b) @ v, v @ (c * b), (c * b) @ a, (i * b * v) @ v,
    ):  # fmt: skip
        found, built, _ = both([i, j, a, b, v, c], term, values)
        np.testing.assert_allclose(found, built, rtol=1e-12)
    assert repr(rewritten((a * i) @ v)) == "a @ (i * v)"


def test_a_diagonal_beside_the_only_element_is_empty() -> None:
    m = pt.tensor(dtype="float64", shape=(1, 1))
    f = rw.function([m], pt.diagonal(pt.sqr(m), -1))
    assert f([[2.0]]).shape == (0,)
    assert rw.function([m], pt.diagonal(pt.sqr(m)))([[2.0]]) == [4.0]
