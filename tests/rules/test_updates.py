"""Rules for sums of a matrix and a product of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.language import rewritten
from rewrite_engine.rules.updates import low_rank_update
from tests.rules.linalg.terms import Term, both, check_slopes, check_value, variables

TERMS = (
    Term("sum_times_vector", lambda a, u, v, x: (a + u @ v) @ x, lambda a, u, v, x: (a + u @ v) @ x,
         ("nm", "nk", "km", "m")),
    Term("vector_times_sum", lambda a, u, v, x: x @ (a + u @ v), lambda a, u, v, x: x @ (a + u @ v),
         ("nm", "nk", "km", "n")),
    Term("difference_times_vector", lambda a, u, v, x: (a - u @ v) @ x,
         lambda a, u, v, x: (a - u @ v) @ x, ("nm", "nk", "km", "m")),
    Term("product_minus_matrix", lambda a, u, v, x: (u @ v - a) @ x,
         lambda a, u, v, x: (u @ v - a) @ x, ("nm", "nk", "km", "m")),
    Term("outer", lambda a, u, v, x: (a + pt.outer(u, v)) @ x,
         lambda a, u, v, x: (a + np.outer(u, v)) @ x, ("nm", "n", "m", "m")),
    Term("projection", lambda u, a: (pt.eye(a.shape[0]) - u @ u.T) @ a,
         lambda u, a: a - u @ u.T @ a, ("nk", "nm")),
    Term("projection_of_rows", lambda u, a: a @ (pt.eye(a.shape[1]) - u @ u.T),
         lambda u, a: a - a @ u @ u.T, ("nk", "mn")),
    Term("diagonal_and_product", lambda d, u, a: (pt.diag(d) + u @ u.T) @ a,
         lambda d, u, a: (np.diag(d) + u @ u.T) @ a, ("n", "nk", "nm")),
    Term("three_terms", lambda a, b, u, v, x: (a + u @ v - b) @ x,
         lambda a, b, u, v, x: (a + u @ v - b) @ x, ("nm", "nm", "nk", "km", "m")),
    Term("all_elements", lambda a, x: (a + 2.0) @ x, lambda a, x: (a + 2) @ x, ("nm", "m")),
)  # fmt: skip


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_values(term: Term, is_static: bool) -> None:
    for n, m, k in ((0, 2, 1), (2, 0, 1), (2, 3, 0), (1, 1, 1), (1, 3, 2), (3, 1, 2), (5, 4, 2)):
        check_value(term, term.values("float64", n=n, m=m, k=k), is_static)
    for dtype in ("float32", "complex128"):
        check_value(term, term.values(dtype, n=4, m=3, k=2), is_static)


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_slopes(term: Term, is_static: bool) -> None:
    check_slopes(term, term.values("float64", n=4, m=3, k=2), is_static)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_no_product_of_matrices_is_left(term: Term) -> None:
    """No product has a matrix with as many rows and columns as the sum."""
    if term.name == "all_elements":
        return
    values = term.values("float64", n=7, m=6, k=2)
    inputs = variables(values, True)
    f = rw.function(inputs, term.write(*inputs), mode="vm")
    products = [n.outputs[0].type.shape for n in f.fgraph.toposort() if "Dot" in str(n.op)]
    assert not {(7, 7), (6, 6)} & {*products}
    if values[-1].ndim == 1:
        assert all([len(shape) == 1 for shape in products])


def test_a_product_that_is_used_elsewhere_stays() -> None:
    a, u, v = pt.matrices("a", "u", "v")
    x = pt.vector("x")
    product = u @ v
    assert "u @ v" in repr(rewritten((a + product) @ x, product * 2))


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_no_nan_is_lost(term: Term) -> None:
    values = term.values("float64", n=4, m=3, k=2)
    for i, x in enumerate(values):
        changed = [v.copy() for v in values]
        changed[i][(1,) * x.ndim] = np.nan
        inputs = variables(changed, False)
        found, built, _ = both(inputs, term.write(*inputs), changed)
        assert np.isnan(built).any()
        assert np.isnan(found).any()


def test_errors_are_kept() -> None:
    a, u, v, x = pt.matrix("a"), pt.matrix("u"), pt.matrix("v"), pt.vector("x")
    right: list[Any] = [np.ones((4, 3)), np.ones((4, 2)), np.ones((2, 3)), np.ones(3)]
    for i, shape in ((0, (1, 3)), (0, (4, 1)), (1, (1, 2)), (1, (4, 1)), (2, (1, 3)), (2, (2, 1)),
                     (3, (1,))):  # fmt: skip
        values = [*right]
        values[i] = np.ones(shape)
        for mode in (None, rw.Mode(optimizer=None)):
            with pytest.raises(ShapeError):
                rw.function([a, u, v, x], (a + u @ v) @ x, mode=mode)(*values)


def test_what_is_an_update() -> None:
    d, u, a = pt.vector("d"), pt.matrix("u"), pt.matrix("a")
    assert low_rank_update(pt.diag(d) + u @ u.T)
    assert low_rank_update(pt.eye(3) - u @ u.T)
    assert not low_rank_update(a + u @ u.T)
    assert not low_rank_update(pt.diag(d) + u @ u.T + u @ a)
    assert not low_rank_update(pt.diag(d) * 2)
