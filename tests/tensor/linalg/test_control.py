"""Equations of Sylvester, Lyapunov and Riccati; least squares; equations of tensors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, NDimError, ShapeError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.type import TensorType
from tests.tensor.linalg.test_linalg import ALL, BATCHES, agree, each, floats, general, rhs

L = pt.linalg
S = scipy.linalg


def stable(batch: Any, n: int, dtype: str) -> Any:
    """Matrices whose eigenvalues have real parts below 0, and are no 0 and 1."""
    return (-general(batch, n, dtype)).astype(dtype)


def even(n: int, dtype: str) -> Any:
    return (3 * np.eye(n) + np.ones((n, n))).astype(dtype)


def lyapunov(method: str) -> Any:
    return (
        lambda a, q: L.solve_discrete_lyapunov(a, q, method),
        each(lambda a, q: S.solve_discrete_lyapunov(a, q, "direct")),
        lambda batch, n, dtype: [general(batch, n, dtype), rhs((), n, dtype, n)],
    )


#: what it is, ours, SciPy's, what it is of
CASES: list[tuple[str, Any, Any, Any]] = [
    ("sylvester", L.solve_sylvester, each(S.solve_sylvester),
     lambda batch, n, dtype: [stable(batch, n, dtype), stable((), 2, dtype), rhs((), n, dtype)]),
    ("sylvester batches", L.solve_sylvester, each(S.solve_sylvester),
     lambda batch, n, dtype: [stable((), n, dtype), stable(batch, 2, dtype),
                              rhs(batch, n, dtype)]),
    ("continuous lyapunov", L.solve_continuous_lyapunov, each(S.solve_continuous_lyapunov),
     lambda batch, n, dtype: [stable(batch, n, dtype), rhs((), n, dtype, n)]),
    ("direct", *lyapunov("direct")), ("bilinear", *lyapunov("bilinear")),
    ("riccati", L.solve_discrete_are, each(S.solve_discrete_are),
     lambda batch, n, dtype: [general(batch, n, dtype), rhs((), n, dtype) + np.eye(
         n, 2, dtype=dtype), even(n, dtype), even(2, dtype)]),
    ("least squares", lambda a, b: L.lstsq(a, b)[0], each(lambda a, b: np.linalg.lstsq(a, b)[0]),
     lambda batch, n, dtype: [general(batch, n, dtype)[..., :2], rhs((), n, dtype)]),
    ("least x", lambda a, b: L.lstsq(a, b)[0], each(lambda a, b: np.linalg.lstsq(a, b)[0]),
     lambda batch, n, dtype: [general(batch, n, dtype)[..., :1, :], rhs(batch, 1, dtype)]),
    ("singular values", lambda a, b: L.lstsq(a, b)[3],
     each(lambda a, b: np.linalg.lstsq(a, b)[3]),
     lambda batch, n, dtype: [general(batch, n, dtype)[..., :2], rhs((), n, dtype)]),
]  # fmt: skip
of_all = pytest.mark.parametrize(("ours", "theirs", "make"), [c[1:] for c in CASES],
                                 ids=[c[0] for c in CASES])  # fmt: skip


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@of_all
def test_values(ours: Any, theirs: Any, make: Any, batch: Any) -> None:
    for dtype, n in itertools.product(ALL, (3, 1)):
        values = make(batch, n, dtype)
        wanted = theirs(*map(floats, values))
        if wanted is not None:
            kind = floats(values[0]).dtype
            wanted = wanted.astype(
                kind if wanted.dtype.kind == kind.kind else kind.type().real.dtype
            )
        for layout in range(3):
            xs = [(x, np.asarray(x, order="F"), np.repeat(x, 2, -1)[..., ::2])[layout]
                  for x in values]  # fmt: skip
            inputs = [TensorType(dtype, (None,) * x.ndim)() for x in xs]
            agree(ours(*inputs), inputs, xs, wanted, dtype == "float32" and layout == n - 1 == 0)
        known = [TensorType(dtype, x.shape)() for x in values]
        if wanted is not None:
            assert ours(*known).type.shape == wanted.shape


def test_empty() -> None:
    none = np.ones((0, 0))
    assert L.solve_sylvester(none, np.eye(2), np.ones((0, 2))).eval().shape == (0, 2)
    for method in ("direct", "bilinear"):
        assert L.solve_discrete_lyapunov(none, none, method).eval().shape == (0, 0)
    assert L.lstsq(np.ones((0, 2)), np.ones((0, 3)))[0].eval().tolist() == np.zeros((2, 3)).tolist()
    assert L.lstsq(np.ones((3, 0)), np.ones(3))[0].eval().shape == (0,)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3), (3, 1)], ids=str)
@pytest.mark.parametrize("deficient", [False, True])
def test_all_that_least_squares_tells(shape: Any, deficient: bool) -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(-5, 5, shape) + 3 * np.eye(*shape)
    a = np.ones(shape) * np.arange(1, shape[0] + 1)[:, None] if deficient else a
    x, y = pt.matrix("x"), pt.matrix("y")
    for b in (rng.normal(size=(shape[0], 3)), rng.normal(size=shape[0])):
        y = TensorType("float64", (None,) * b.ndim)("y")
        parts = (None, 1e-3, 0.9) if deficient else (None, -1, 1e-3, 0.9, 0, 2.0)
        for rcond in parts:  # (no digits tell what is as small as rounding leaves it)
            wanted = np.linalg.lstsq(a, b, rcond)
            for found in (evaluate(L.lstsq(x, y, rcond), {x: a, y: b}),
                          rw.function([x, y], L.lstsq(x, y, rcond))(a, b)):  # fmt: skip
                for got, want in zip(found, wanted, strict=True):
                    assert got.shape == np.shape(want)
                    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
    part = pt.scalar("part")
    assert L.lstsq(x, y, part)[2].eval({x: np.diag([1, 0.1]), y: [1.0, 2], part: 0.5}) == 1


def test_what_least_squares_tells_may_be_overwritten_and_has_the_whole_batch() -> None:
    x, y = pt.matrix("x"), pt.tensor3("y")
    _, _, rank, s = L.lstsq(x, y)
    f = rw.function([x, y], [rank * 2, s * 2.0])
    twice, values = f([[3.0, 0.0], [0.0, 4.0]], np.ones((5, 2, 1)))
    assert twice.tolist() == [4] * 5
    np.testing.assert_allclose(values, [[8.0, 6.0]] * 5)


def test_sums_of_squares_of_a_batch() -> None:
    a, b = general((3,), 3, "float64")[..., :2], rhs((), 3, "float64")
    rest = L.lstsq(a, b)[1].eval()
    wanted = each(lambda a, b: np.linalg.lstsq(a, b)[1])(a, b[None])
    np.testing.assert_allclose(rest, wanted)


# --- tensors --------------------------------------------------------------------------------------


def test_inverses_of_tensors() -> None:
    rng = np.random.default_rng(6)
    for shape, ind in [((4, 6, 8, 3), 2), ((24, 8, 3), 1), ((2, 2), 1), ((1, 1, 1), 2)]:
        for dtype in ("float64", "float32", "complex128"):
            a = rng.normal(size=shape).astype(dtype)
            for known in (shape, (None,) * len(shape)):
                x = TensorType(dtype, known)()
                agree(L.tensorinv(x, ind), [x], [a], np.linalg.tensorinv(a, ind))
    assert L.tensorinv(pt.tensor4(shape=(4, 6, 8, 3))).type.shape == (8, 3, 4, 6)
    verify_grad(lambda a: L.tensorinv(a, 1), [rng.normal(size=(4, 2, 2))])


def test_equations_of_tensors() -> None:
    rng = np.random.default_rng(6)
    cases = [((2, 3, 6), (2, 3), None), ((2, 6, 3), (2, 3), (1,)), ((3, 2, 6), (6,), (1, 0)),
             ((2, 2), (2,), None), ((4, 2, 2), (4,), None)]  # fmt: skip
    for shape, of_b, axes in cases:
        for dtype in ("float64", "int64", "complex128"):
            a, b = (rng.normal(size=shape) * 9).astype(dtype), np.ones(of_b, dtype)
            for known in (True, False):
                xs = [TensorType(dtype, v.shape if known else (None,) * v.ndim)() for v in (a, b)]
                wanted = np.linalg.tensorsolve(floats(a), floats(b), axes)
                agree(L.tensorsolve(*xs, axes), xs, [a, b], wanted)
    verify_grad(lambda a, b: L.tensorsolve(a, b), [rng.normal(size=(2, 3, 6)), np.ones((2, 3))])


# --- derivatives ----------------------------------------------------------------------------------

A, Q = general((), 3, "float64") / 5, np.random.default_rng(1).normal(size=(3, 3))
SMALL = A[:2, :2] / 3


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize(("f", "at"), [
    (L.solve_sylvester, [A, SMALL, Q[:, :2]]), (L.solve_continuous_lyapunov, [A, Q]),
    (lambda a, q: L.solve_discrete_lyapunov(a, q, "direct"), [SMALL, Q[:2, :2]]),
    (L.solve_discrete_lyapunov, [A / 3, Q]),
    (L.solve_discrete_are, [A, Q[:, :2], even(3, "float64"), even(2, "float64") / 3]),
    (lambda a, b: pt.sin(L.lstsq(a, b)[0]).sum() + L.lstsq(a, b)[1].sum(), [A[:, :2], Q]),
    (lambda a, b: L.lstsq(a, b)[0], [A[:2], Q[:2]]),
    (lambda a, b: L.lstsq(a, b)[0], [A, Q[0]]),
    (lambda a, b: L.lstsq(a, b)[3], [A[:, :2], Q]),
], ids=["sylvester", "lyapunov", "direct", "bilinear", "riccati", "tall", "wide", "vector",
        "singular values"])  # fmt: skip
def test_gradients(f: Any, at: Any, batch: bool) -> None:
    if batch:
        if at[-1].ndim == 1:
            return
        at = [np.stack([at[0], at[0] * 0.9]), *at[1:]]
    verify_grad(f, at)
    verify_grad(lambda *xs: grad(pt.sin(f(*xs)).sum(), xs[0]), at)


@pytest.mark.parametrize("k", range(4))
def test_gradients_of_complex_matrices(k: int) -> None:
    def of(x: Any, y: Any) -> Any:
        z = pt.complex(x, y)
        found = [
            lambda: L.solve_sylvester(z, z + np.eye(3), Q + 1j),
            lambda: L.lstsq(z[:, :2], Q + 2j)[0],
            lambda: L.solve_discrete_lyapunov(z / 9, Q * 1j), lambda: L.solve_discrete_are(
                z, z[:, :2] + 1, even(3, "float64"), even(2, "complex128")),
        ][k]()  # fmt: skip
        return pt.abs(found)

    verify_grad(of, [A, Q / 3])


def test_slopes_of_least_squares_where_it_is_ill_conditioned() -> None:
    """Against mpmath: the slope along a direction, from equations in 60 digits."""
    import mpmath

    a = 1 / (np.arange(6)[:, None] + np.arange(4) + 1.0)
    b, move = np.cos(np.arange(6.0)), np.sin(np.arange(24.0)).reshape(6, 4) / 100

    def x(t: Any) -> Any:
        at = mpmath.matrix(a.tolist()) + t * mpmath.matrix(move.tolist())
        return mpmath.lu_solve(at.T * at, at.T * mpmath.matrix(b.tolist()))

    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -20
        wanted = [float(v) for v in (x(step) - x(-step)) / (2 * step)]
    t = pt.scalar("t")
    found = L.lstsq(a + t * move, b)[0]
    got = [grad(found[k], t).eval({t: 0.0}) for k in range(4)]
    np.testing.assert_allclose(got, wanted, rtol=1e-7)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("f", [
    lambda a: L.solve_sylvester(a, -a, np.ones((2, 2))),
    lambda a: L.solve_discrete_lyapunov(a, np.eye(2), "direct"),
    lambda a: L.solve_discrete_lyapunov(-a, np.eye(2)),
    lambda a: L.solve_discrete_are(2 * a, 0 * a, np.eye(2), np.eye(2)),
    lambda a: L.tensorinv(0 * a, 1), lambda a: L.tensorsolve(0 * a, [1.0, 2.0]),
])  # fmt: skip
def test_singular_equations(f: Any, compiled: bool) -> None:
    a = pt.matrix("a")
    out = f(a)
    with pytest.raises(L.SingularMatrixError, match=r"singular[\s\S]*test_control\.py"):
        rw.function([a], out)(np.eye(2)) if compiled else evaluate([out], {a: np.eye(2)})


def test_nan_makes_nan() -> None:
    nan = np.full((2, 2), np.nan)
    one = np.eye(2)
    for f in (lambda a: L.solve_sylvester(a, one, one), lambda a: L.solve_discrete_lyapunov(a, one),
              lambda a: L.solve_discrete_are(a, one, one, one)):  # fmt: skip
        assert np.isnan(f(nan).eval()).all()
    with pytest.raises(L.SingularMatrixError, match="numbers that are not finite"):
        L.lstsq(nan, one)[0].eval()


@pytest.mark.parametrize(("error", "what", "build"), [
    (ShapeError, "do not fit", lambda: L.solve_sylvester(np.eye(2), np.eye(3), np.eye(2))),
    (ShapeError, "do not fit", lambda: L.solve_continuous_lyapunov(np.eye(2), np.eye(3))),
    (ShapeError, "do not fit", lambda: L.solve_discrete_lyapunov(np.eye(2), np.eye(3))),
    (ShapeError, "do not fit", lambda: L.solve_discrete_lyapunov(np.eye(2), np.eye(3), "direct")),
    (ShapeError, "do not fit",
     lambda: L.solve_discrete_are(np.eye(2), np.eye(3), np.eye(2), np.eye(3))),
    (NDimError, "takes an array of 2", lambda: L.solve_sylvester(1.0, np.eye(3), np.eye(2))),
    (NDimError, "takes matrices", lambda: L.solve_discrete_lyapunov([1.0], np.eye(3))),
    (ValueError, 'method is "direct"', lambda: L.solve_discrete_lyapunov([[1.0]], [[1.0]], "no")),
    (ShapeError, "do not fit", lambda: L.lstsq(np.eye(2), np.ones(3))),
    (NDimError, "takes matrices", lambda: L.lstsq(np.ones(3), np.ones(3))),
    (ValueError, "ind is 1 or more", lambda: L.tensorinv(np.eye(2), 0)),
    (ShapeError, "shape", lambda: L.tensorinv(np.ones((2, 3)), 1)),
    (NDimError, "more dimensions", lambda: L.tensorsolve(np.eye(2), np.eye(2))),
    (ShapeError, "fit", lambda: L.tensorsolve(np.eye(2), np.ones(3))),
    (AxisError, "axis", lambda: L.tensorsolve(np.eye(2), np.ones(2), (2,))),
])  # fmt: skip
def test_bad_arguments(error: Any, what: str, build: Any) -> None:
    with pytest.raises(error, match=what):
        build()
