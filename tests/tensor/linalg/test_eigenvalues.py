"""Eigenvalues, generalised and complex ones, `schur`, `qz`, `qr` with pivots: values and errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import NDimError, NullTypeGradError, ShapeError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.type import TensorType
from tests.tensor.linalg.test_linalg import ALL, BATCHES, agree, definite, each, floats, general

L = pt.linalg
DTYPES = ("float64", "float32", "int8", "complex128", "complex64")


def close(found: Any, wanted: Any) -> None:
    rtol = 2e-4 if wanted.dtype in ("float32", "complex64") else 1e-9
    np.testing.assert_allclose(found, wanted, rtol, rtol * 10)


def layouts(a: Any) -> Any:
    return (a, np.asarray(a, order="F"), np.repeat(a, 2, -1)[..., ::2])


# --- eig ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("dtype", ALL)
def test_eigenvalues_are_complex(dtype: str, batch: Any) -> None:
    for n in (3, 1, 0):
        a = general(batch, n, dtype)
        wide = np.result_type(floats(a).dtype, "complex64")
        for x in layouts(a):
            v = TensorType(dtype, (None,) * a.ndim)()
            w, vectors = L.eig(v)
            assert (w.type.dtype, vectors.type.dtype) == (wide, wide)
            values, at = evaluate([w, vectors], {v: x})
            assert (values.shape, at.shape) == (a.shape[:-1], a.shape)
            close(floats(a).astype(wide) @ at, at * values[..., None, :])
    assert L.eig(pt.tensor3(shape=(4, 2, 2))).eigenvalues.type.shape == (4, 2)


def test_eigenvalues_of_a_matrix_that_is_no_diagonal() -> None:
    found = L.eig([[1.0, 1], [0, 1]])
    np.testing.assert_allclose(found.eigenvalues.eval(), [1, 1])


@pytest.mark.parametrize("batch", [(), (2,)])
def test_gradients_of_complex_eigenvalues(batch: Any) -> None:
    a = general(batch, 3, "float64", 4) / 3

    def of(a: Any) -> Any:
        w = L.eig(a).eigenvalues
        return pt.sin(pt.real(w)) + pt.imag(w) ** 2 + pt.real(w * w * (1 + 2j))

    verify_grad(of, [a])
    verify_grad(lambda x, y: of(pt.complex(x, y)), [a, np.cos(a)])


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gradients_of_eigenvectors(n: int, seed: int) -> None:
    a, b = np.random.default_rng(seed).normal(size=(2, n, n))

    def of(a: Any) -> Any:
        w, v = L.eig(a)
        of_vectors = pt.sin(pt.real(v * v)) + pt.imag(v * v) ** 3  # LAPACK's sign may jump
        return of_vectors.sum() + pt.real(w * w * (1 + 2j)).sum()

    verify_grad(of, [a])
    verify_grad(of, [np.stack([a, b])])
    verify_grad(lambda x, y: of(pt.complex(x, y)), [a, b])
    verify_grad(lambda a: grad(of(a), a), [a[:3, :3]])


def test_gradients_of_what_a_phase_does_not_change() -> None:
    a = pt.matrix("a")
    v = L.eig(a).eigenvectors
    found = grad((pt.real(v) ** 2 + pt.imag(v) ** 2)[0, 0], a)
    turn = np.array([[0.0, -1.0], [4.0, 0.0]])  # |v[0, 0]|**2 = b / (b + c) of [[0, -b], [c, 0]]
    np.testing.assert_allclose(found.eval({a: turn})[[0, 1], [1, 0]], [-4 / 25, -1 / 25])


def test_gradients_that_are_not_there() -> None:
    a = pt.matrix("a")
    with pytest.raises(NullTypeGradError, match="Schur"):
        grad(L.schur(a).T.sum(), a)
    with pytest.raises(NullTypeGradError, match="QZ"):
        grad(L.qz(a, np.eye(2))[0].sum(), a)


# --- the generalised problem ----------------------------------------------------------------------


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_generalised_eigenvalues(dtype: str, batch: Any, lower: bool) -> None:
    for n in (3, 1):
        a, b = general(batch, n, dtype), definite((), n, dtype)
        b = b + np.triu(np.ones_like(b), 1) * (1 if lower else 0)  # what is not read
        values = each(lambda a, b: scipy.linalg.eigh(a, b, lower=lower, eigvals_only=True))
        for x, y in zip(layouts(a), layouts(b), strict=True):
            inputs = [TensorType(dtype, (None,) * v.ndim)() for v in (x, y)]
            w = L.eigvalsh(*inputs, lower=lower)
            wanted = values(floats(a), floats(b)) if a.size else np.empty((*batch, n))
            agree(w, inputs, [x, y], wanted.astype(floats(a).real.dtype), n == 3 and x is a)
        found = L.eigh(*inputs, UPLO="L" if lower else "U")
        w, v = evaluate(found, dict(zip(inputs, (a, b), strict=True)))
        even, form = _read(floats(a), lower), _read(floats(b), lower)
        close(even @ v, form @ v * w[..., None, :])
        close(v.mT.conj() @ form @ v, np.broadcast_to(np.eye(n), v.shape).astype(v.dtype))


def _read(x: Any, lower: bool) -> Any:
    part = np.tril(x, -1) if lower else np.triu(x, 1)
    return part + part.mT.conj() + np.real(x) * np.eye(x.shape[-1], dtype=x.real.dtype)


@pytest.mark.parametrize("lower", [True, False])
def test_gradients_of_generalised_eigenvalues(lower: bool) -> None:
    a, b = general((), 3, "float64") / 5, definite((), 3, "float64") / 40

    def of(a: Any, b: Any) -> Any:
        w, v = L.eigh(a, b, lower=lower)
        return pt.sin(w).sum() + (v**2 * [1.0, 2.0, 3.0]).sum()

    verify_grad(of, [a, b])
    verify_grad(lambda a, b: grad(of(a, b), b), [a, b])
    both = np.stack([a, 2 * a])
    verify_grad(lambda a, b: L.eigvalsh(a, b, lower), [both, b])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("pair", [False, True])
def test_gradients_of_equal_eigenvalues(pair: bool, dtype: str) -> None:
    """Of what does not tell them apart; of its powers they are known."""
    rotated = np.linalg.qr(general((), 4, dtype))[0]
    a = (rotated * [2.0, 2.0, 2.0, 3.0]) @ rotated.T.conj()
    x, y = pt.tensor("x", shape=(4, 4), dtype=dtype), pt.dmatrix("y")
    cost = (L.eigvalsh(x, y if pair else None) ** 3).sum()
    values = {x: a, **({y: 2 * np.eye(4)} if pair else {})}
    found = evaluate([grad(cost, v) for v in values], values)
    scale = 8 if pair else 1  # of (a, 2 I) they are half as large; both triangles in the one
    powers = [3 * a @ a / scale, *([-3 / 2 * (a @ a @ a).real / scale] if pair else [])]
    for got, whole in zip(found, powers, strict=True):
        np.testing.assert_allclose(
            got, 2 * np.tril(whole, -1) + np.diag(np.diag(whole)), atol=1e-12
        )
    v = L.eigh(x).eigenvectors
    assert np.isnan(grad(pt.real(v[0, 0]), x).eval({x: 2.0 * np.eye(4, dtype=dtype)})).any()


def test_gradients_of_an_ill_conditioned_problem() -> None:
    """Against mpmath: the slope of each eigenvalue of (a, b), along a direction of b."""
    import mpmath

    n = 4
    hilbert = [[1 / (i + j + 1) for j in range(n)] for i in range(n)]
    a, b = np.diag(np.arange(1.0, n + 1)), np.array(hilbert)
    with mpmath.workdps(60):
        shift = mpmath.mpf(10) ** -20

        def values(step: Any) -> Any:
            low = mpmath.cholesky(mpmath.matrix(b.tolist()) + step * mpmath.eye(n)) ** -1
            return sorted(mpmath.eigsy(low * mpmath.matrix(a.tolist()) * low.T, eigvals_only=True))

        pairs = zip(values(shift), values(-shift), strict=True)
        wanted = [float((above - below) / (2 * shift)) for above, below in pairs]
    t = pt.scalar("t")
    w = L.eigvalsh(a, b + t * np.eye(n))
    found = [grad(w[k], t).eval({t: 0.0}) for k in range(n)]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


# --- schur ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("dtype", ALL)
def test_schur(dtype: str, batch: Any) -> None:
    outputs, sorts = ("real", "complex"), (None, "lhp", "rhp", "iuc", "ouc")
    for output, sort, n in itertools.product(outputs, sorts, (3, 1, 0)):
        a = general(batch, n, dtype) - np.asarray(6 * np.eye(n), dtype)
        v = TensorType(dtype, (None,) * a.ndim)()
        t, z = L.schur(v, output, sort)
        wide = floats(a).dtype if output == "real" else np.result_type(floats(a), "complex64")
        assert (t.type.dtype, z.type.dtype) == (wide, wide)
        if a.size:
            run = each(lambda a, o=output, s=sort: scipy.linalg.schur(a, o, sort=s)[0])
            agree(t, [v], [a], run(floats(a)).astype(wide))
        upper, turn = evaluate([t, z], {v: a})
        assert upper.shape == turn.shape == a.shape
        close(turn @ upper @ turn.mT.conj(), floats(a).astype(wide))


def test_schur_of_nan_is_nan() -> None:
    a = np.stack([np.eye(2), np.full((2, 2), np.nan)])
    found = L.schur(a).T.eval()
    np.testing.assert_array_equal(found, a)


# --- qz -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("dtype", ALL)
def test_qz(dtype: str, batch: Any) -> None:
    sorts = (None, "lhp", "rhp", "iuc", "ouc")
    for output, sort, n in itertools.product(("real", "complex"), sorts, (3, 1, 0)):
        a, b = general(batch, n, dtype), general((), n, dtype, 3)
        xs = [TensorType(dtype, (None,) * x.ndim)() for x in (a, b)]
        parts = L.ordqz(*xs, sort, output)
        wide = floats(a).dtype if output == "real" else np.result_type(floats(a), "complex64")
        kinds = [wide, wide, np.result_type(wide, "complex64"), wide, wide, wide]
        assert [v.type.dtype for v in parts] == kinds
        given = {xs[0]: np.asarray(a, order="F"), xs[1]: np.repeat(b, 2, -1)[..., ::2]}
        aa, bb, alpha, beta, q, z = evaluate(parts, given)
        assert aa.shape == bb.shape == q.shape == z.shape == a.shape
        assert alpha.shape == beta.shape == a.shape[:-1]
        close(q @ aa @ z.mT.conj(), floats(a).astype(wide))
        close(q @ bb @ z.mT.conj(), np.broadcast_to(floats(b), a.shape).astype(wide))
        w, low = alpha / beta, np.arange(n)[:, None] > np.arange(n)
        assert not (np.abs(bb) * low).max(initial=0) > 1e-4
        first = {"lhp": w.real < 0, "rhp": w.real > 0, "iuc": abs(w) < 1, "ouc": abs(w) > 1}
        if sort:
            assert (np.diff(first[sort].astype(int), axis=-1) <= 0).all()
        few = evaluate(L.qz(*xs, output, sort), given)
        for got, want in zip(few, (aa, bb, q, z), strict=True):
            np.testing.assert_array_equal(got, want)


def test_qz_of_nan_is_nan() -> None:
    found = L.qz([[np.nan, 1], [1, 1]], np.eye(2))
    assert all(np.isnan(x.eval()).all() for x in found)


# --- qr with pivots -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "economic", "r", "complete", "reduced"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (1, 1), (3, 0)], ids=str)
def test_qr_with_pivots(shape: Any, mode: str) -> None:
    theirs = {"complete": "full", "reduced": "economic"}.get(mode, mode)
    for batch, dtype in itertools.product(BATCHES, ALL):
        rng = np.random.default_rng(3)
        a = rng.integers(-9, 9, (*batch, *shape)).astype(dtype)
        v = TensorType(dtype, (None,) * a.ndim)()
        parts = L.qr(v, mode, pivoting=True)
        assert (len(parts), parts[-1].type.dtype) == (2 if mode == "r" else 3, "int32")
        for x in layouts(a):
            *found, order = evaluate(parts, {v: x})
            r = found[-1]
            if r.size:
                wanted = each(lambda a: scipy.linalg.qr(a, mode=theirs, pivoting=True)[-2])
                wanted = wanted(floats(a))
                assert (r.dtype, r.shape) == (wanted.dtype, wanted.shape)
                close(np.abs(r), np.abs(wanted))
            taken = np.take_along_axis(floats(a), order[..., None, :].astype(int), -1)
            if mode != "r":
                close(found[0] @ r, taken)
    assert L.qr(pt.matrix(shape=(4, 2)), "economic", pivoting=True)[0].type.shape == (4, 2)


def test_gradients_of_qr_with_pivots() -> None:
    a = np.random.default_rng(8).normal(size=(4, 3))
    for at in (a, np.stack([a, a[::-1]]), a[:2], a[:3]):
        verify_grad(lambda a: pt.sin(L.qr(a, "economic", pivoting=True)[1]), [at])
        verify_grad(lambda a: pt.sin(L.qr(a, "economic", pivoting=True)[0]), [at])


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, True])
def test_what_is_not_found(compiled: bool) -> None:
    def run(out: Any, given: Any) -> Any:
        inputs, values = [*given], [*given.values()]
        return rw.function(inputs, out)(*values) if compiled else evaluate([out], given)

    a = pt.matrix("a")
    with pytest.raises(L.SingularMatrixError, match=r"not positive definite[\s\S]*test_eigenval"):
        run(L.eigvalsh(np.eye(2), a), {a: -np.eye(2)})
    with pytest.raises(L.SingularMatrixError, match=r"\(shape \(2, 2\)\)[\s\S]*test_eigenval"):
        run(L.eig(a).eigenvalues, {a: np.full((2, 2), np.nan)})
    assert np.isnan(run(L.schur(a).Z, {a: np.full((2, 2), np.nan)})).all()


@pytest.mark.parametrize(("error", "what", "build"), [
    (ShapeError, "shape", lambda: L.eig(pt.matrix(shape=(2, 3)))),
    (NDimError, "takes an array of 2 dimensions", lambda: L.eig(pt.vector())),
    (ShapeError, "shape", lambda: L.eigh(np.eye(2), np.eye(3))),
    (NDimError, "takes an array of 2 dimensions", lambda: L.eigh(np.eye(2), 1.0)),
    (NDimError, "takes an array of 2 dimensions", lambda: L.qr(pt.vector(), pivoting=True)),
    (ValueError, "output is", lambda: L.schur(np.eye(2), "whole")),
    (ValueError, "sort is", lambda: L.schur(np.eye(2), sort="up")),
    (ValueError, "output is", lambda: L.qz(np.eye(2), np.eye(2), "whole")),
    (ValueError, "sort is", lambda: L.ordqz(np.eye(2), np.eye(2), "up")),
    (ShapeError, "do not fit", lambda: L.qz(np.eye(2), np.eye(3))),
    (ShapeError, "shape", lambda: L.schur(pt.matrix(shape=(2, 3)))),
])  # fmt: skip
def test_bad_arguments(error: Any, what: str, build: Any) -> None:
    with pytest.raises(error, match=what):
        build()


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (4, 2, 3)])
def test_numbers_that_describe_matrices(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(3).normal(size=shape)
    x = pt.tensor("x", dtype="float64", shape=(None,) * len(shape))
    low = a.copy()
    low[..., -1, :] = low[..., 0, :]
    pairs = [
        (pt.linalg.svdvals(x), np.linalg.svdvals),
        (pt.linalg.cond(x), np.linalg.cond),
        (pt.linalg.cond(x, -2), lambda v: np.linalg.cond(v, -2)),
        (pt.linalg.matrix_rank(x), np.linalg.matrix_rank),
        (pt.linalg.matrix_rank(x, tol=0.5), lambda v: np.linalg.matrix_rank(v, tol=0.5)),
        (pt.linalg.matrix_rank(x, rtol=1e-3), lambda v: np.linalg.matrix_rank(v, rtol=1e-3)),
        (pt.linalg.matrix_norm(x, ord="nuc"), lambda v: np.linalg.matrix_norm(v, ord="nuc")),
        (pt.linalg.matrix_norm(x, keepdims=True),
         lambda v: np.linalg.matrix_norm(v, keepdims=True)),
        (pt.linalg.vector_norm(x), np.linalg.vector_norm),
        (pt.linalg.vector_norm(x, axis=-1, ord=3),
         lambda v: np.linalg.vector_norm(v, axis=-1, ord=3)),
    ]  # fmt: skip
    f = rw.function([x], [ours for ours, _ in pairs])
    for value in (a, low):
        for got, (_, wanted) in zip(f(value), pairs, strict=True):
            expected = wanted(value)
            if np.max(expected) < 1e12:  # (where there is no inverse, rounding decides)
                np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def test_condition_by_other_norms_and_products_of_several() -> None:
    a = np.random.default_rng(4).normal(size=(3, 3))
    for p in (1, np.inf, "fro"):
        np.testing.assert_allclose(pt.linalg.cond(a, p).eval(), np.linalg.cond(a, p))
    several = [a[0], a, a.T, a[1]]
    np.testing.assert_allclose(pt.linalg.multi_dot(several).eval(), np.linalg.multi_dot(several))
    values = np.sort_complex(pt.linalg.eigvals(a).eval())
    np.testing.assert_allclose(values, np.sort_complex(np.linalg.eigvals(a)))
