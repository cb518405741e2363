"""One factorisation per matrix, and Cholesky factors that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.linalg import Cholesky, SingularMatrixError
from rewrite_engine.tensor.linalg.factor import Factor
from tests.rules.linalg.terms import Term, both, check_slopes, check_value, names, variables

inv, size = np.linalg.inv, lambda a: np.linalg.slogdet(a)[1]
TERMS = (
    Term("form_and_log", lambda a, b: b @ linalg.inv(a) @ b + linalg.slogdet(a)[1],
         lambda a, b: b @ inv(a) @ b + size(a), ("nn", "n")),
    Term("two_sides", lambda a, b, c: linalg.solve(a, b) + linalg.solve(a.T, b) @ c,
         lambda a, b, c: inv(a) @ b + inv(a).T @ b @ c, ("nn", "nm", "mm")),
    Term("one_below_another", lambda a, b: linalg.solve(a, linalg.solve(a, b)),
         lambda a, b: inv(a) @ inv(a) @ b, ("nn", "nm")),
    Term("one_below_another_turned", lambda a, b: linalg.solve(a.T, linalg.solve(a, b)),
         lambda a, b: inv(a).T @ inv(a) @ b, ("nn", "nm")),
    Term("inverse_and_log", lambda a: linalg.inv(a) * linalg.slogdet(a)[1],
         lambda a: inv(a) * size(a), ("nn",)),
    Term("inverse_of_transpose", lambda a: linalg.inv(a.T) + linalg.inv(a),
         lambda a: inv(a.T) + inv(a), ("nn",)),
    Term("definite", lambda a, b: b @ linalg.inv(a @ a.T) @ b + pt.log(linalg.det(a @ a.T)),
         lambda a, b: b @ inv(a @ a.T) @ b + size(a @ a.T), ("nn", "n")),
)  # fmt: skip


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_values(term: Term, is_static: bool) -> None:
    for n, m in ((0, 2), (1, 1), (3, 0), (4, 3), (70, 2)):
        check_value(term, term.values("float64", n=n, m=m), is_static)
    for dtype in ("float32", *(("complex128",) if term.name != "definite" else ())):
        check_value(term, term.values(dtype, n=4, m=3), is_static)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_slopes(term: Term) -> None:
    check_slopes(term, term.values("float64", n=3, m=2), False)


@pytest.mark.parametrize("term", [t for t in TERMS if t.name != "definite"], ids=repr)
def test_one_factor(term: Term) -> None:
    inputs = variables(term.values("float64", n=4, m=3), False)
    f = rw.function(inputs, term.write(*inputs))
    assert sum([isinstance(node.op, Factor) for node in f.fgraph.toposort()]) == 1
    assert not names(f) & {"Solve", "MatrixInverse", "SLogDet"}
    left = rw.function(inputs, term.write(*inputs), mode=rw.Mode().excluding("factorize"))
    assert not names(left) & {"Factor"}
    assert names(left) & {"Solve", "MatrixInverse", "SLogDet"}


def test_slopes_share_the_factor_of_their_cost() -> None:
    """The cost, and gradients by the matrix and the right side."""
    a, b = pt.matrix("a"), pt.vector("b")
    cost = b @ linalg.inv(a) @ b + linalg.slogdet(a)[1]
    f = rw.function([a, b], [cost, *rw.grad(cost, [a, b])])
    assert sum([isinstance(node.op, Factor) for node in f.fgraph.toposort()]) == 1


def test_what_is_used_once_is_left() -> None:
    a, b = pt.matrices("a", "b")
    assert "Factor" not in names(rw.function([a, b], linalg.solve(a, b)))
    assert "Factor" not in names(rw.function([a, b], linalg.solve(a, b) + linalg.solve(b, a)))


def test_a_matrix_of_lower_precision_keeps_its_equations() -> None:
    """The factor of a matrix has the precision of the matrix; other terms may need more."""
    a, b = pt.fmatrix("a"), pt.dmatrix("b")
    i = pt.lmatrix("i")
    rng = np.random.default_rng(1)
    x, y = (rng.normal(size=(3, 3)) + 5 * np.eye(3)).astype("float32"), rng.normal(size=(3, 2))
    term = [linalg.solve(a, b), linalg.solve(a, b + 1)]
    found, _, _ = both([a, b], term, (x, y))
    np.testing.assert_allclose(found[0], np.linalg.solve(x.astype("float64"), y), rtol=1e-13)
    z = np.array([[2, 1, 0], [0, 3, 1], [1, 0, 4]])
    found, built, _ = both([i, b], [linalg.solve(i, b), linalg.slogdet(i)[1]], (z, y))
    np.testing.assert_allclose(found[0], built[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], np.log(np.linalg.det(z)), rtol=1e-13)


def test_errors_are_kept() -> None:
    a, b = pt.matrices("a", "b")
    term = [linalg.solve(a, b), linalg.slogdet(a)[1]]
    for mode in (None, rw.Mode(optimizer=None)):
        f = rw.function([a, b], term, mode=mode)
        with pytest.raises(SingularMatrixError):
            f(np.zeros((3, 3)), np.ones((3, 1)))
        with pytest.raises(rw.errors.ShapeError):
            f(np.ones((3, 2)), np.ones((3, 1)))
        with pytest.raises(rw.errors.ShapeError):
            f(np.eye(3), np.ones((2, 1)))
    logs = rw.function([a], [linalg.slogdet(a)[1], linalg.slogdet(a.T)[0]])
    assert [float(x) for x in logs(np.zeros((3, 3)))] == [-np.inf, 0.0]


def test_nan_is_kept() -> None:
    a, b = pt.matrices("a", "b")
    term = [linalg.solve(a, b), *linalg.slogdet(a)]
    for n in (3, 70):
        for i in range(2):
            values: list[Any] = [np.eye(n) * 3, np.ones((n, 2))]
            values[i][1, 1] = np.nan
            found, built, _ = both([a, b], term, values)
            for one, other in zip(found, built, strict=True):
                assert np.isnan(one).any() == np.isnan(other).any()


def covariance(a: Any, lib: Any) -> Any:
    """Return a positive definite matrix."""
    return a @ a.T + lib.eye(3)


low = linalg.cholesky
#: terms of a covariance matrix k that are k
OF_CHOLESKY = {
    "lower": lambda k: low(k) @ low(k).T,
    "upper": lambda k: low(k, lower=False).T @ low(k, lower=False),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_CHOLESKY)
def test_a_cholesky_factor_times_its_transpose(name: str) -> None:
    a = pt.matrix("a")
    x = np.random.default_rng(13).normal(size=(3, 3))
    found, built, f = both([a], OF_CHOLESKY[name](covariance(a, pt)), (x,))
    assert "Cholesky" not in names(f)
    np.testing.assert_allclose(found, covariance(x, np), rtol=1e-10)
    np.testing.assert_allclose(found, built, rtol=1e-10, atol=1e-13)
    assert np.isnan(f(np.full((3, 3), np.nan))).any()
    assert "Cholesky" in names(rw.function([a], OF_CHOLESKY[name](a)))


@pytest.mark.parametrize("name", OF_CHOLESKY)
def test_slopes_of_a_cholesky_factor_times_its_transpose(name: str) -> None:
    """Gradients are those of the factor, which reads one triangle."""
    a, b = pt.matrices("a", "b")
    cost = pt.sqr(OF_CHOLESKY[name](covariance(a, pt)) @ b).sum()
    rng = np.random.default_rng(14)
    values = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    found, built, _ = both([a, b], rw.grad(cost, [a, b]), values)
    for one, other in zip(found, built, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("error", ["nan", "raise"])
def test_the_factor_of_a_diagonal_matrix(lower: bool, error: str) -> None:
    u, y = pt.vectors("u", "y")
    factor = Cholesky(lower=lower, on_error=error)(pt.diag(pt.exp(u)))
    x, z = np.array([0.5, -2.0, 3.0]), np.array([1.0, 2.0, -1.0])
    root = np.exp(0.5 * x)
    for term, value in (
        (factor, np.diag(root)),
        (pt.diagonal(factor), root),
        (linalg.solve_triangular(factor, y, lower=lower), z / root),
    ):
        found, built, f = both([u, y], term, (x, z))
        # (a triangle that may be NaN is no diagonal matrix)
        assert bool(names(f) & {"Cholesky", "SolveTriangular"}) == (
            term is factor and error == "nan"
        )
        np.testing.assert_allclose(found, value, rtol=1e-14)
        np.testing.assert_allclose(found, built, rtol=1e-14)


@pytest.mark.parametrize("numbers", [(1.0, -2.0), (0.0, 2.0), (np.nan, 1.0)])
def test_a_diagonal_matrix_without_a_factor(numbers: tuple[float, float]) -> None:
    """One number that is not positive is an error, or NaN in the triangle."""
    u, y = pt.vectors("u", "y")
    values = np.array(numbers), np.ones(2)
    for take in (lambda c: c, pt.diagonal, lambda c: linalg.solve_triangular(c, y, lower=True)):
        found, built, _ = both([u, y], take(low(pt.diag(u))), values)
        np.testing.assert_array_equal(found, built)
        assert np.isnan(np.diagonal(found) if found.ndim == 2 else found).all()
        f = rw.function(
            [u, y], take(Cholesky(on_error="raise")(pt.diag(u))), on_unused_input="ignore"
        )
        assert "Cholesky" not in names(f)
        with pytest.raises(SingularMatrixError, match="not positive definite"):
            f(*values)


def test_a_normal_density_with_a_diagonal_covariance_needs_no_matrix() -> None:
    x, u = pt.vectors("x", "u")
    k = pt.diag(pt.exp(u))
    solved = linalg.solve_triangular(low(k), x, lower=True)
    density = -0.5 * solved @ solved - pt.log(pt.diagonal(low(k))).sum()
    values = np.array([0.3, -1.0, 2.0]), np.array([0.1, 0.7, -0.4])
    found, built, f = both([x, u], density, values)
    assert not names(f) & {"Cholesky", "SolveTriangular", "IncDiagonal"}
    exact = -0.5 * (values[0] ** 2 / np.exp(values[1])).sum() - 0.5 * values[1].sum()
    np.testing.assert_allclose(found, exact, rtol=1e-13)
    np.testing.assert_allclose(found, built, rtol=1e-13)
