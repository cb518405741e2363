"""Rules for determinants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.language import rewritten
from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.linalg import SingularMatrixError
from tests.rules.linalg.terms import Term, both, check_ops, check_slopes, check_value, variables

det = np.linalg.det


def sign(a: Any) -> Any:
    """Return the sign of a determinant."""
    return np.linalg.slogdet(a)[0]


def size(a: Any) -> Any:
    """Return the logarithm of a determinant."""
    return np.linalg.slogdet(a)[1]


def blocks(a: Any, c: Any, d: Any, lib: Any) -> Any:
    """Return a lower block triangle."""
    zero = 0 * lib.ones_like(c.T)
    top, low = [lib.concatenate(x, axis=1) for x in ((a, zero), (c, d))]
    return lib.concatenate((top, low), axis=0)


TERMS = (
    Term("log", lambda a: pt.log(pt.abs(linalg.det(a))), size, ("nn",), "Det", "SLogDet"),
    Term("sign", lambda a: pt.sign(linalg.det(a)), sign, ("nn",), "Det", "SLogDet", False),
    Term("log_of_gram", lambda a: pt.log(linalg.det(a @ a.T + pt.eye(a.shape[0]))),
         lambda a: size(a @ a.T + np.eye(len(a))), ("nn",), "Det", "SLogDet"),
    Term("det_of_transpose", lambda a: linalg.det(a.T), det, ("nn",), "DimShuffle", "Det"),
    Term("sign_of_transpose", lambda a: linalg.slogdet(a.T)[0], sign, ("nn",), "DimShuffle",
         "SLogDet", False),
    Term("log_of_transpose", lambda a: linalg.slogdet(a.T)[1], size, ("nn",), "DimShuffle",
         "SLogDet"),
    Term("det_of_inverse", lambda a: linalg.det(linalg.inv(a)), lambda a: 1 / det(a), ("nn",),
         "Det MatrixInverse", "SLogDet"),
    Term("log_of_inverse", lambda a: linalg.slogdet(linalg.inv(a))[1], lambda a: -size(a), ("nn",),
         "MatrixInverse", "SLogDet"),
    Term("sign_of_inverse", lambda a: linalg.slogdet(linalg.inv(a))[0],
         lambda a: sign(np.linalg.inv(a)), ("nn",),
         "MatrixInverse", "SLogDet", False),
    Term("det_of_lower", lambda a: linalg.det(pt.tril(a)), lambda a: np.prod(a.diagonal()), ("nn",),
         "Det", "Prod"),
    Term("log_of_upper", lambda a: linalg.slogdet(pt.triu(a))[1],
         lambda a: np.log(np.abs(a.diagonal())).sum(), ("nn",), "SLogDet", "Sum"),
    Term("sign_of_diagonal", lambda a: linalg.slogdet(pt.diag(a))[0],
         lambda a: np.prod(np.sign(a)), ("n",), "SLogDet IncDiagonal", "", False),
    Term("det_of_product", lambda a, b: linalg.det(a @ b), lambda a, b: det(a) * det(b),
         ("nn", "nn"), "Det Dot"),
    Term("log_of_product", lambda a, b: linalg.slogdet(a @ b)[1], lambda a, b: size(a) + size(b),
         ("nn", "nn"), "Dot"),
    Term("sign_of_product", lambda a, b: linalg.slogdet(a @ b)[0], lambda a, b: sign(a) * sign(b),
         ("nn", "nn"), "Dot", "", False),
    Term("log_of_multiple", lambda a: linalg.slogdet(-2 * a)[1], lambda a: size(-2 * a), ("nn",)),
    Term("sign_of_multiple", lambda a: linalg.slogdet(-2 * a)[0], lambda a: sign(-2 * a), ("nn",),
         "", "", False),
    Term("log_of_block_triangle", lambda a, b, c: linalg.slogdet(blocks(a, b, c, pt))[1],
         lambda a, b, c: size(a) + size(c), ("nn", "mn", "mm"), "Join"),
    Term("sign_of_block_triangle", lambda a, b, c: linalg.slogdet(blocks(a, b, c, pt))[0],
         lambda a, b, c: sign(a) * sign(c), ("nn", "mn", "mm"), "Join", "", False),
    Term("log_of_factor", lambda a: pt.log(pt.prod(pt.diagonal(linalg.cholesky(a @ a.T)))),
         lambda a: size(a @ a.T) / 2, ("nn",), "Prod"),
)  # fmt: skip
LENGTHS = [{"n": n, "m": m} for n, m in ((0, 2), (1, 1), (1, 3), (3, 0), (4, 3), (7, 7))]
#: terms whose values are not those of the formula for complex numbers
REAL = {"log_of_factor", "sign_of_diagonal", "log_of_gram"}


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_values(term: Term, is_static: bool) -> None:
    for lengths in LENGTHS:
        check_value(term, term.values("float64", **lengths), is_static)
    for dtype in ("float32", *(() if term.name in REAL else ("complex128",))):
        check_value(term, term.values(dtype, n=4, m=3), is_static)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_ops(term: Term) -> None:
    check_ops(term, term.values("float64", n=4, m=3))


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", [t for t in TERMS if t.slopes], ids=repr)
def test_slopes(term: Term, is_static: bool) -> None:
    check_slopes(term, term.values("float64", n=3, m=2), is_static)


def test_logarithms_of_determinants_that_overflow() -> None:
    a = pt.matrix("a")
    x = np.diag(np.full(300, 1e200))
    term = pt.log(linalg.det(a @ a.T))
    assert "Det" not in {type(n.op).__name__ for n in rw.function([a], term).fgraph.toposort()}
    np.testing.assert_allclose(rw.function([a], pt.log(linalg.det(a)))(x), 300 * np.log(1e200))
    np.testing.assert_allclose(
        rw.function([a], pt.log(pt.abs(linalg.det(a))))(-x), 300 * np.log(1e200)
    )


def test_numbers_are_taken_out_by_their_signs() -> None:
    a, c = pt.matrix("a"), pt.scalar("c")
    outputs = linalg.slogdet(c * a)
    assert repr(rewritten(linalg.slogdet(2 * a)[0])) == "SLogDet(a).sign"
    for n in (0, 1, 2, 3):
        x = np.random.default_rng(n).normal(size=(n, n))
        for number in (2.0, -2.0, 0.0):
            found, built, _ = both([a, c], outputs, (x, number))
            np.testing.assert_allclose(found[0], sign(number * x))
            np.testing.assert_allclose(found[1], size(number * x), rtol=1e-10)
            np.testing.assert_allclose(found[1], built[1], rtol=1e-10)
    empty = np.zeros((0, 0))
    assert [float(v) for v in rw.function([a, c], outputs)(empty, np.nan)] == [1.0, 0.0]


def test_a_number_of_a_wider_dtype_stays() -> None:
    a, c = pt.fmatrix("a"), pt.dscalar("c")
    x = np.random.default_rng(1).normal(size=(3, 3)).astype("float32")
    found, built, _ = both([a, c], linalg.slogdet(c * a), (x, 1.5))
    assert [v.dtype for v in found] == [v.dtype for v in built] == ["float64"] * 2
    np.testing.assert_allclose(found[1], size(1.5 * x.astype("float64")), rtol=1e-12)
    integers = pt.lmatrix("i")
    x = np.array([[2, 1], [0, 3]])
    found, built, _ = both([integers, c], linalg.slogdet(c * integers), (x, 1.5))
    np.testing.assert_allclose(found[1], built[1], rtol=1e-12)


def test_errors_are_kept() -> None:
    a, b = pt.matrices("a", "b")
    plain = rw.Mode(optimizer=None)
    x, y = np.ones((3, 2)), np.ones((2, 3))
    for term, values in (
        (linalg.det(linalg.inv(a)), (np.ones((2, 2)), x)),
        (linalg.slogdet(linalg.inv(a))[1], (np.ones((2, 2)), x)),
    ):
        for mode in (None, plain):
            with pytest.raises(SingularMatrixError):
                rw.function([a, b], term, mode=mode, on_unused_input="ignore")(*values)
    for term in (linalg.det(a), linalg.det(pt.tril(a)), linalg.slogdet(pt.triu(a))[0],
                 linalg.slogdet(pt.tril(a))[1], linalg.slogdet(2 * a)[1], linalg.det(a.T),
                 linalg.slogdet(a @ a)[1]):  # fmt: skip
        for mode in (None, plain):
            with pytest.raises(ShapeError):
                rw.function([a], term, mode=mode)(x)
    found, built, _ = both([a, b], linalg.slogdet(b @ a), (x, y))
    np.testing.assert_allclose(found, built)
    with pytest.raises(ShapeError):
        rw.function([a, b], linalg.slogdet(a @ b)[1])(np.eye(3), np.eye(2))


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_no_nan_is_lost(term: Term, is_static: bool) -> None:
    values = term.values("float64", n=3, m=2)
    for i, x in enumerate(values):
        changed = [v.copy() for v in values]
        changed[i][(1,) * x.ndim] = np.nan
        inputs = variables(changed, is_static)
        found, built, _ = both(inputs, term.write(*inputs), changed)
        assert np.isnan(built).all()
        assert np.isnan(found).all()


def test_the_determinant_of_a_precision_matrix_needs_no_check() -> None:
    a = pt.matrix("a")
    k = a @ a.T + pt.eye(3)
    x = np.random.default_rng(12).normal(size=(3, 3))
    wanted = -size(x @ x.T + np.eye(3))
    for term in (linalg.slogdet(linalg.inv(k))[1], pt.log(linalg.det(linalg.inv(k)))):
        found, built, f = both([a], term, (x,))
        assert not {"CheckAndRaise", "MatrixInverse", "Det"} & {
            type(node.op).__name__ for node in f.fgraph.toposort()
        }
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        np.testing.assert_allclose(found, built, rtol=1e-12)
    found, built, _ = both([a], linalg.det(linalg.inv(k)), (x,))
    np.testing.assert_allclose(found, np.exp(wanted), rtol=1e-12)
    np.testing.assert_allclose(found, built, rtol=1e-12)
    with pytest.raises(SingularMatrixError):
        rw.function([a], linalg.slogdet(linalg.inv(a))[1])(np.zeros((3, 3)))
