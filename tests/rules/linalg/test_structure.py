"""Rules for Kronecker products and for blocks along a diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.language import rewritten
from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.linalg import SingularMatrixError
from rewrite_engine.tensor.product.blocks import BlockDiag, Kron
from tests.rules.linalg.terms import (
    PLAIN,
    Term,
    both,
    check_ops,
    check_slopes,
    check_value,
    names,
    variables,
)

inv, kron = np.linalg.inv, np.kron
stack = scipy.linalg.block_diag


def size(a: Any) -> Any:
    """Return the logarithm of a determinant."""
    return np.linalg.slogdet(a)[1]


def sign(a: Any) -> Any:
    """Return the sign of a determinant."""
    return np.linalg.slogdet(a)[0]


def known_factor(a: Any, b: Any) -> Any:
    """Return the Cholesky factor of a Kronecker product of positive definite matrices."""
    return linalg.cholesky(pt.kron(a @ a.T + pt.eye(3), b @ b.T + pt.eye(2)))


#: (vectors to multiply have the letters p and q, for n * m and n + m elements)
TERMS = (
    Term("kron_times_matrix", lambda a, b, c: pt.kron(a, b) @ c, lambda a, b, c: kron(a, b) @ c,
         ("kn", "lm", "pk")),
    Term("kron_times_vector", lambda a, b, c: pt.kron(a, b) @ c, lambda a, b, c: kron(a, b) @ c,
         ("kn", "lm", "p")),
    Term("matrix_times_kron", lambda a, b, c: c @ pt.kron(a, b), lambda a, b, c: c @ kron(a, b),
         ("nk", "ml", "kp")),
    Term("vector_times_kron", lambda a, b, c: c @ pt.kron(a, b), lambda a, b, c: c @ kron(a, b),
         ("nk", "ml", "p")),
    Term("turned_kron_times_vector", lambda a, b, c: pt.kron(a, b).T @ c,
         lambda a, b, c: kron(a, b).T @ c, ("nk", "ml", "p")),
    Term("inverse_of_kron_times_vector", lambda a, b, c: linalg.inv(pt.kron(a, b)) @ c,
         lambda a, b, c: inv(kron(a, b)) @ c, ("nn", "mm", "p"), "MatrixInverse", "Solve"),
    Term("inverse_of_kron", lambda a, b: linalg.inv(pt.kron(a, b)),
         lambda a, b: inv(kron(a, b)), ("nn", "mm"), "", "MatrixInverse"),
    Term("solution_of_kron", lambda a, b, c: linalg.solve(pt.kron(a, b), c),
         lambda a, b, c: np.linalg.solve(kron(a, b), c), ("nn", "mm", "pk")),
    Term("log_of_kron", lambda a, b: linalg.slogdet(pt.kron(a, b))[1],
         lambda a, b: size(kron(a, b)), ("nn", "mm"), "Reshape"),
    Term("sign_of_kron", lambda a, b: linalg.slogdet(pt.kron(a, -b))[0],
         lambda a, b: sign(kron(a, -b)), ("nn", "mm"), "Reshape", "", False),
    Term("det_of_kron", lambda a, b: linalg.det(pt.kron(a, b)),
         lambda a, b: np.linalg.det(kron(a, b)), ("nn", "mm"), "Det"),
    Term("diagonal_of_kron", lambda a, b: pt.diagonal(pt.kron(a, b)),
         lambda a, b: kron(a, b).diagonal(), ("nn", "mm")),
    Term("trace_of_kron", lambda a, b: linalg.trace(pt.kron(a, b)),
         lambda a, b: np.trace(kron(a, b)), ("nn", "mm")),
    Term("blocks_times_vector", lambda a, b, c: linalg.block_diag(a, b) @ c,
         lambda a, b, c: stack(a, b) @ c, ("kn", "lm", "q"), "IncSubtensor", "Join"),
    Term("blocks_times_matrix", lambda a, b, c: linalg.block_diag(a, b) @ c,
         lambda a, b, c: stack(a, b) @ c, ("kn", "lm", "qk"), "IncSubtensor", "Join"),
    Term("vector_times_blocks", lambda a, b, c: c @ linalg.block_diag(a, b),
         lambda a, b, c: c @ stack(a, b), ("nk", "ml", "q"), "IncSubtensor", "Join"),
    Term("matrix_times_turned_blocks", lambda a, b, c: c @ linalg.block_diag(a, b).T,
         lambda a, b, c: c @ stack(a, b).T, ("kn", "lm", "kq"), "IncSubtensor", "Join"),
    Term("solution_of_blocks", lambda a, b, c: linalg.solve(linalg.block_diag(a, b), c),
         lambda a, b, c: np.linalg.solve(stack(a, b), c), ("nn", "mm", "qk"), "IncSubtensor"),
    Term("inverse_of_blocks", lambda a, b: linalg.inv(linalg.block_diag(a, b)),
         lambda a, b: inv(stack(a, b)), ("nn", "mm"), "", "MatrixInverse"),
    Term("log_of_blocks", lambda a, b: linalg.slogdet(linalg.block_diag(a, b))[1],
         lambda a, b: size(stack(a, b)), ("nn", "mm"), "IncSubtensor"),
    Term("sign_of_blocks", lambda a, b: linalg.slogdet(linalg.block_diag(a, -b))[0],
         lambda a, b: sign(stack(a, -b)), ("nn", "mm"), "IncSubtensor", "", False),
    Term("det_of_blocks", lambda a, b: linalg.det(linalg.block_diag(a, b)),
         lambda a, b: np.linalg.det(stack(a, b)), ("nn", "mm"), "Det IncSubtensor"),
)  # fmt: skip
SHAPES = [(1, 1), (2, 1), (1, 3), (3, 2), (4, 4), (0, 2), (2, 0)]


def lengths(n: int, m: int) -> dict[str, int]:
    """Return the lengths of all letters."""
    return {"n": n, "m": m, "k": 3, "l": 2, "p": n * m, "q": n + m}


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_values(term: Term, is_static: bool) -> None:
    for shape in SHAPES:
        check_value(term, term.values("float64", **lengths(*shape)), is_static)
    for dtype in ("float32", "complex128"):
        check_value(term, term.values(dtype, **lengths(3, 2)), is_static)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_ops(term: Term) -> None:
    values, late = term.values("float64", **lengths(4, 2)), ("Reshape", "IncSubtensor")
    check_ops(term, values, late)
    inputs = variables(values, True)
    for make in (Kron, BlockDiag):  # (a matrix that is left is written with others of these)
        if make.__name__ in names(rw.function(inputs, term.write(*inputs), mode=PLAIN)):
            left = rw.function(inputs, make().written_out(*inputs[:2]), on_unused_input="ignore")
            assert names(left) & set(late)


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", [t for t in TERMS if t.slopes], ids=repr)
def test_slopes(term: Term, is_static: bool) -> None:
    check_slopes(term, term.values("float64", **lengths(3, 2)), is_static)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_no_nan_is_lost(term: Term) -> None:
    values = term.values("float64", **lengths(3, 2))
    for i, x in enumerate(values):
        changed = [v.copy() for v in values]
        changed[i][(1,) * x.ndim] = np.nan
        inputs = variables(changed, False)
        found, built, _ = both(inputs, term.write(*inputs), changed)
        if np.isnan(built).any():
            assert np.isnan(found).any()


def test_products_of_products() -> None:
    a, b, c, d = [pt.matrix(name, shape=(3, 3)) for name in "abcd"]
    term = pt.kron(a, b) @ pt.kron(c, d)
    assert repr(rewritten(term)) == repr(rewritten(pt.kron(a @ c, b @ d)))
    values = [np.random.default_rng(k).normal(size=(3, 3)) for k in range(4)]
    found, built, _ = both([a, b, c, d], term, values)
    np.testing.assert_allclose(found, kron(*values[:2]) @ kron(*values[2:]), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found, built, rtol=1e-10, atol=1e-12)


def test_factors() -> None:
    a, b, v = pt.matrix("a"), pt.matrix("b"), pt.vector("v")
    x, y = [np.random.default_rng(n).normal(size=(n, n)) for n in (3, 2)]
    whole = kron(x @ x.T + np.eye(3), y @ y.T + np.eye(2))
    for term, wanted in (
        (known_factor(a, b) @ v, np.linalg.cholesky(whole) @ np.arange(6.0)),
        (linalg.solve_triangular(known_factor(a, b), v, lower=True),
         np.linalg.solve(np.linalg.cholesky(whole), np.arange(6.0))),
    ):  # fmt: skip
        found, built, f = both([a, b, v], term, (x, y, np.arange(6.0)))
        rows = [n.outputs[0].type.shape for n in f.fgraph.toposort() if "Cholesky" in str(n.op)]
        assert sorted(rows) == [(2, 2), (3, 3)]
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found, built, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("make", [pt.kron, linalg.block_diag])
def test_what_is_not_square_is_computed_whole(make: Any) -> None:
    """Kronecker products and blocks of rectangles may be square: then they are singular."""
    a, b, c = pt.matrices("a", "b", "c")
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(3, 2)), rng.normal(size=(2, 3))
    z = np.ones((len(x) * len(y) if make is pt.kron else 5, 2))
    plain = rw.Mode(linker="py", optimizer=None)
    options = {"on_unused_input": "ignore"}
    for term in (linalg.solve(make(a, b), c), linalg.inv(make(a, b)) @ c):
        found = [outcome(rw.function([a, b, c], term, mode=m, **options), x, y, z)
                 for m in (None, plain)]  # fmt: skip
        assert found[0] == found[1]
    found, built, _ = both([a, b], linalg.det(make(a, b)), (x, y))
    np.testing.assert_allclose([found, built], 0, atol=1e-12)
    with pytest.raises(ShapeError):
        rw.function([a, b], linalg.slogdet(make(a, b))[1])(x, y[:, :2])


def outcome(f: Any, *values: Any) -> Any:
    """Return the error of a call; of a result, whether it has digits."""
    try:
        return bool((np.abs(f(*values)) < 1e6).all())
    except SingularMatrixError:
        return SingularMatrixError


def test_errors_are_kept() -> None:
    a, b, c = pt.matrices("a", "b", "c")
    x, y, z = np.eye(3), np.eye(2), np.ones((7, 2))
    for term in (pt.kron(a, b) @ c, linalg.block_diag(a, b) @ c, c.T @ pt.kron(a, b),
                 linalg.solve(pt.kron(a, b), c), linalg.solve(linalg.block_diag(a, b), c),
                 c.T @ linalg.block_diag(a, b)):  # fmt: skip
        for mode in (None, rw.Mode(optimizer=None)):
            with pytest.raises(ShapeError):
                rw.function([a, b, c], term, mode=mode)(x, y, z)
    zero = np.zeros((2, 2))
    for term in (linalg.inv(pt.kron(a, b)), linalg.inv(linalg.block_diag(a, b))):
        for mode in (None, rw.Mode(optimizer=None)):
            with pytest.raises(SingularMatrixError):
                rw.function([a, b], term, mode=mode)(x, zero)
