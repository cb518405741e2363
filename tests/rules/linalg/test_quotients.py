"""Inverses of inverses and of solutions, their determinants, and those of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import hilbert

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.linalg import SingularMatrixError
from tests.rules.linalg.terms import Term, both, check_ops, check_slopes, check_value

inv, solve = np.linalg.inv, np.linalg.solve


def sign(a: Any) -> Any:
    """Return the sign of a determinant."""
    return np.linalg.slogdet(a)[0]


def size(a: Any) -> Any:
    """Return the logarithm of a determinant."""
    return np.linalg.slogdet(a)[1]


TERMS = (
    Term("inverse_of_inverse", lambda a: linalg.inv(linalg.inv(a)), lambda a: a, ("nn",),
         "MatrixInverse"),
    Term("solution_with_inverse", lambda a, b: linalg.solve(linalg.inv(a), b), lambda a, b: a @ b,
         ("nn", "nm"), "MatrixInverse Solve", "Dot"),
    Term("inverse_of_solution", lambda a, b: linalg.inv(linalg.solve(a, b)),
         lambda a, b: solve(b, a), ("nn", "nn"), "MatrixInverse", "Solve"),
    Term("log_of_solution", lambda a, b: linalg.slogdet(linalg.solve(a, b))[1],
         lambda a, b: size(b) - size(a), ("nn", "nn"), "Solve", "SLogDet"),
    Term("log_of_quotient", lambda a, b: linalg.slogdet(linalg.inv(a) @ b)[1],
         lambda a, b: size(b) - size(a), ("nn", "nn"), "MatrixInverse", "SLogDet"),
    Term("sign_of_solution", lambda a, b: linalg.slogdet(linalg.solve(a, b))[0],
         lambda a, b: sign(a) * sign(b), ("nn", "nn"), "Solve", "SLogDet", False),
    Term("log_of_exponential", lambda a: linalg.slogdet(linalg.expm(a))[1],
         lambda a: np.trace(a).real, ("nn",), "Expm SLogDet", "Sum"),
    Term("log_of_det_of_exponential", lambda a: pt.log(linalg.det(linalg.expm(a))), np.trace,
         ("nn",), "Expm Det", "Sum"),
)  # fmt: skip
LENGTHS = [{"n": n, "m": m} for n, m in ((0, 2), (1, 1), (3, 0), (4, 3))]
#: terms whose rules are for real numbers
REAL = {"sign_of_solution", "log_of_exponential", "log_of_det_of_exponential"}


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_values(term: Term, is_static: bool) -> None:
    for lengths in LENGTHS:
        check_value(term, term.values("float64", **lengths), is_static)
    for dtype in ("float32", *(() if term.name in REAL else ("complex128",))):
        check_value(term, term.values(dtype, n=3, m=2), is_static)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_ops(term: Term) -> None:
    check_ops(term, term.values("float64", n=4, m=3))


@pytest.mark.parametrize("term", [t for t in TERMS if t.slopes], ids=repr)
def test_slopes(term: Term) -> None:
    check_slopes(term, term.values("float64", n=3, m=2), False)


@pytest.mark.parametrize("name", [t.name for t in TERMS if "exponential" not in t.name])
def test_a_singular_matrix_stays_an_error(name: str) -> None:
    (term,) = [t for t in TERMS if t.name == name]
    vs = pt.matrices("a", "b")[: len(term.shapes)]
    f = rw.function(vs, term.write(*vs))
    with pytest.raises(SingularMatrixError):
        f(*[np.ones((2, 2)), np.eye(2)][: len(vs)])


def test_a_solution_that_is_no_square_has_no_determinant() -> None:
    a, b = pt.matrices("a", "b")
    f = rw.function([a, b], linalg.slogdet(linalg.solve(a, b))[1])
    with pytest.raises(ShapeError):
        f(np.eye(3), np.ones((3, 2)))
    g = rw.function([a], linalg.slogdet(linalg.expm(a))[1])
    with pytest.raises(ShapeError):
        g(np.ones((3, 2)))


def test_what_rounding_loses_is_kept() -> None:
    """Two inverses of a matrix of condition 5e11 lose ten digits; the rules lose none."""
    a, b = pt.matrices("a", "b")
    x = hilbert(9)
    found, built, _ = both([a], linalg.inv(linalg.inv(a)), (x,))
    np.testing.assert_array_equal(found, x)
    assert np.abs(built - x).max() > 1e-7
    far = -1000 * np.eye(3)
    assert rw.function([a], pt.log(linalg.det(linalg.expm(a))))(far) == -3000
    found, built, _ = both([a, b], linalg.slogdet(linalg.solve(a, b))[1], (1e-200 * x, 1e200 * x))
    np.testing.assert_allclose(found, 9 * 400 * np.log(10))
    assert not np.isclose(built, found)
