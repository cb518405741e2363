"""Rules for inverses and linear equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.facts import symmetric
from rewrite_engine.language import rewritten
from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.linalg import SingularMatrixError
from tests.rules.linalg.terms import (
    Term,
    both,
    check_ops,
    check_slopes,
    check_value,
    variables,
)

inv = np.linalg.inv
TERMS = (
    Term("inverse_times_matrix", lambda a, b: linalg.inv(a) @ b, lambda a, b: inv(a) @ b,
         ("nn", "nm"), "MatrixInverse", "Solve"),
    Term("inverse_times_vector", lambda a, b: linalg.inv(a) @ b, lambda a, b: inv(a) @ b,
         ("nn", "n"), "MatrixInverse", "Solve"),
    Term("matrix_times_inverse", lambda a, b: b @ linalg.inv(a), lambda a, b: b @ inv(a),
         ("nn", "mn"), "MatrixInverse", "Solve"),
    Term("vector_times_inverse", lambda a, b: b @ linalg.inv(a), lambda a, b: b @ inv(a),
         ("nn", "n"), "MatrixInverse", "Solve"),
    Term("multiple_of_inverse", lambda a, b: (3 * linalg.inv(a)) @ b,
         lambda a, b: 3 * inv(a) @ b, ("nn", "nm"), "MatrixInverse", "Solve"),
    Term("negative_inverse", lambda a, b: b @ -linalg.inv(a), lambda a, b: -b @ inv(a),
         ("nn", "mn"), "MatrixInverse", "Solve"),
    Term("negative_inverse_times_vector", lambda a, b: -linalg.inv(a) @ b,
         lambda a, b: -inv(a) @ b, ("nn", "n"), "MatrixInverse", "Solve"),
    Term("transposed_inverse", lambda a, b: linalg.inv(a).T @ b, lambda a, b: inv(a).T @ b,
         ("nn", "nm"), "MatrixInverse", "Solve"),
    Term("sandwich", lambda a, b: b @ linalg.inv(a) @ b, lambda a, b: b @ inv(a) @ b, ("nn", "n"),
         "MatrixInverse", "Solve"),
    Term("solutions_times_vector", lambda a, b, c: linalg.solve(a, b) @ c,
         lambda a, b, c: inv(a) @ b @ c, ("nn", "nm", "m"), "", "Solve"),
    Term("vector_times_solutions", lambda a, b, c: c @ linalg.solve(a, b),
         lambda a, b, c: c @ inv(a) @ b, ("nn", "nm", "n"), "", "Solve"),
    Term("turned_solutions_times_vector", lambda a, b, c: linalg.solve(a, b).T @ c,
         lambda a, b, c: b.T @ inv(a).T @ c, ("nn", "nm", "n"), "", "Solve"),
    Term("vector_times_turned_solutions", lambda a, b, c: c @ linalg.solve(a, b).T,
         lambda a, b, c: c @ b.T @ inv(a).T, ("nn", "nm", "m"), "", "Solve"),
    Term("substitutions_times_vector",
         lambda a, b, c: linalg.solve_triangular(pt.tril(a), b, lower=True) @ c,
         lambda a, b, c: inv(np.tril(a)) @ b @ c, ("nn", "nm", "m"), "", "SolveTriangular"),
    Term("turned_triangle", lambda a, b: linalg.solve_triangular(a.T, b, lower=True),
         lambda a, b: inv(np.triu(a)).T @ b, ("nn", "nm"), "DimShuffle", "SolveTriangular"),
    Term("diagonal", lambda a, b: linalg.solve(pt.diag(a), b), lambda a, b: b / a[:, None],
         ("n", "nm"), "Solve IncDiagonal"),
    Term("inverse_of_diagonal", lambda a: linalg.inv(pt.diag(a)), lambda a: np.diag(1 / a),
         ("n",), "MatrixInverse", "IncDiagonal"),
    Term("lower", lambda a, b: linalg.solve(pt.tril(a), b), lambda a, b: inv(np.tril(a)) @ b,
         ("nn", "nm"), "Solve", "SolveTriangular"),
    Term("upper", lambda a, b: linalg.solve(pt.triu(a), b), lambda a, b: inv(np.triu(a)) @ b,
         ("nn", "nm"), "Solve", "SolveTriangular"),
    Term("inverse_of_lower", lambda a: linalg.inv(pt.tril(a)), lambda a: inv(np.tril(a)), ("nn",),
         "MatrixInverse", "SolveTriangular"),
    Term("inverse_of_upper", lambda a: linalg.inv(pt.triu(a)), lambda a: inv(np.triu(a)), ("nn",),
         "MatrixInverse", "SolveTriangular"),
    Term("substitution_of_diagonal",
         lambda a, b: linalg.solve_triangular(pt.diag(a), b, lower=True),
         lambda a, b: b / a[:, None], ("n", "nm"), "SolveTriangular IncDiagonal"),
    Term("unit_matrix", lambda a: linalg.solve(a, pt.eye(a.shape[0], dtype=a.type.dtype)), inv,
         ("nn",), "Solve", "MatrixInverse"),
    Term("product", lambda a, b, c: linalg.solve(a @ b, c), lambda a, b, c: inv(a @ b) @ c,
         ("nn", "nn", "nm"), "Dot"),
)  # fmt: skip
LENGTHS = [{"n": n, "m": m} for n, m in ((0, 2), (1, 1), (1, 3), (3, 0), (3, 1), (4, 3), (7, 7))]


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_values(term: Term, is_static: bool) -> None:
    for lengths in LENGTHS:
        check_value(term, term.values("float64", **lengths), is_static)
    for dtype in ("float32", "complex128"):
        check_value(term, term.values(dtype, n=4, m=3), is_static)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_ops(term: Term) -> None:
    check_ops(term, term.values("float64", n=4, m=3))


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_slopes(term: Term, is_static: bool) -> None:
    check_slopes(term, term.values("float64", n=3, m=2), is_static)


def orthogonal(a: Any) -> Any:
    """Return an orthogonal matrix."""
    return linalg.qr(a, mode="complete")[0]


def test_facts_decide_of_equations() -> None:
    a, b = pt.matrices("a", "b")
    x = np.random.default_rng(1).normal(size=(4, 4))
    y = np.random.default_rng(2).normal(size=(4, 3))
    q, k = orthogonal(a), a @ a.T + pt.eye(4)
    for term, wanted in (
        (linalg.solve(q, b), np.linalg.qr(x)[0].T @ y),
        (linalg.inv(q) @ b, np.linalg.qr(x)[0].T @ y),
        (linalg.inv(q), np.linalg.qr(x)[0].T),
        (linalg.inv(linalg.inv(k)), x @ x.T + np.eye(4)),
        (linalg.solve(linalg.inv(k), b), (x @ x.T + np.eye(4)) @ y),
        (
            linalg.solve(linalg.inv(linalg.cholesky(k)), b),
            np.linalg.cholesky(x @ x.T + np.eye(4)) @ y,
        ),
    ):
        found, built, f = both([a, b], term, (x, y))
        left = {type(node.op).__name__ for node in f.fgraph.toposort()}
        assert not left & {"Solve", "MatrixInverse", "FactorSolve"}
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found, built, rtol=1e-10, atol=1e-12)


def test_a_complex_orthogonal_matrix_keeps_its_equations() -> None:
    a, b = pt.zmatrices("a", "b")
    rng = np.random.default_rng(3)
    x, y = [rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)) for _ in range(2)]
    found, built, _ = both([a, b], linalg.solve(orthogonal(a), b), (x, y))
    np.testing.assert_allclose(found, np.linalg.solve(np.linalg.qr(x)[0], y), rtol=1e-10)
    np.testing.assert_allclose(found, built, rtol=1e-10)


def test_symmetric_matrices_need_no_transpose() -> None:
    r, v = pt.matrix("r", shape=(3, 3)), pt.vector("v")
    k = r + r.T
    assert repr(rewritten(linalg.inv(k).T)) == repr(rewritten(linalg.inv(k)))
    assert repr(rewritten(v @ linalg.inv(k))) == repr(rewritten(linalg.inv(k) @ v))
    x, y = np.random.default_rng(4).normal(size=(3, 3)), np.ones(3)
    found, built, _ = both([r, v], v @ linalg.inv(k), (x, y))
    np.testing.assert_allclose(found, y @ inv(x + x.T), rtol=1e-10)
    np.testing.assert_allclose(found, built, rtol=1e-10)


def test_declared_symmetric_matrices_are_their_transposes() -> None:
    x, v, r = pt.matrix("x"), pt.vector("v"), pt.matrix("r")
    k = rw.assume(x, symmetric)
    for term, text in (
        (k.T @ v, "x @ v"), (v @ k, "x @ v"), (r @ k.T, "r @ x"), (v @ x, "v @ x"),
        (pt.exp(x).T, "Transpose{axes=[1, 0]}(exp(x))"), (v @ k @ r, "x @ v @ r"),
    ):  # fmt: skip
        assert repr(rewritten(term)) == text
    form = v @ k @ v
    assert repr(rewritten(rw.grad(form, v))) == "2.0 * (x @ v)"
    a, y = np.random.default_rng(4).normal(size=(3, 3)), np.array([1.0, -2.0, 0.5])
    found, built, _ = both([x, v], rw.grad(form, [v, x]), (a + a.T, y))
    np.testing.assert_allclose(found[0], 2 * (a + a.T) @ y, rtol=1e-12)
    for one, other in zip(found, built, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    f = rw.function([x, v], k.T @ v)
    with pytest.raises(ShapeError):
        f(a, np.ones(4))


def test_the_inverse_of_a_solution_keeps_errors() -> None:
    """A matrix that may be singular is checked."""
    a, b = pt.matrices("a", "b")
    k = a @ a.T + pt.eye(3)
    assert "SLogDet(a).sign != 0.0" in repr(rewritten(linalg.inv(linalg.solve(a, b))))
    assert repr(rewritten(linalg.inv(linalg.solve(k, b)))).startswith("Solve(b, ")
    with pytest.raises(SingularMatrixError):
        rw.function([a, b], linalg.inv(linalg.solve(a, b)))(np.ones((3, 3)), np.eye(3))
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    found, built, f = both([a, b], linalg.inv(linalg.solve(k, b)), (x, y))
    assert "MatrixInverse" not in {type(node.op).__name__ for node in f.fgraph.toposort()}
    np.testing.assert_allclose(found, inv(y) @ (x @ x.T + np.eye(3)), rtol=1e-10)
    np.testing.assert_allclose(found, built, rtol=1e-10)
    with pytest.raises(SingularMatrixError):
        f(x, np.zeros((3, 3)))


@pytest.mark.parametrize(
    "term",
    [t for t in TERMS if t.name not in ("turned_triangle", "product")],
    ids=repr,
)
def test_singular_matrices_are_errors(term: Term) -> None:
    values = term.values("float64", n=3, m=2)
    values[0] = np.zeros_like(values[0])
    inputs = variables(values, False)
    for mode in (None, "fast_compile", rw.Mode(optimizer=None)):
        f = rw.function(inputs, term.write(*inputs), mode=mode)
        with pytest.raises(SingularMatrixError):
            f(*values)


@pytest.mark.parametrize(("shape", "other"), [((3, 2), (3, 3)), ((3, 3), (3, 2))])
def test_factors_of_a_singular_or_rectangular_product(shape: Any, other: Any) -> None:
    """Lengths decide when the function is called; what does not fit is an error, as before."""
    a, b, c = pt.matrices("a", "b", "c")
    f = rw.function([a, b, c], linalg.solve(a @ b, c))
    rng = np.random.default_rng(7)
    if shape[1] != other[0]:
        with pytest.raises(ShapeError):
            f(rng.normal(size=shape), rng.normal(size=other), np.ones((3, 1)))
        return
    with pytest.raises(ShapeError):
        f(rng.normal(size=shape), rng.normal(size=other), np.ones((3, 1)))


def test_the_product_of_rectangular_factors_is_solved_whole() -> None:
    a, b, c = pt.matrices("a", "b", "c")
    rng = np.random.default_rng(8)
    x, y, z = rng.normal(size=(3, 5)), rng.normal(size=(5, 3)), rng.normal(size=(3, 2))
    found, built, _ = both([a, b, c], linalg.inv(a @ b) @ c, (x, y, z))
    np.testing.assert_allclose(found, np.linalg.solve(x @ y, z), rtol=1e-10)
    np.testing.assert_allclose(found, built, rtol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_no_nan_is_lost(term: Term, bad: float) -> None:
    """Where the graph as built has a NaN, the rewritten one has a NaN or an infinity."""
    values = term.values("float64", n=3, m=2)
    for i, x in enumerate(values):
        changed = [v.copy() for v in values]
        changed[i][(1,) * x.ndim] = bad
        inputs = variables(changed, False)
        found, built, _ = both(inputs, term.write(*inputs), changed)
        if np.isnan(built).any() and np.isnan(bad):
            assert not np.isfinite(found).all()
