"""One factorisation per matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.linalg import SingularMatrixError
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
