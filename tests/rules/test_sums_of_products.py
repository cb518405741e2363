"""Sums of products that are products of sums, traces, and sums of transposed matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.language import rewritten

u, v, w = pt.vectors("u v w")
a, b = pt.matrices("a b")
t = pt.tensor3("t")
c = pt.scalar("c")
n, k = pt.lscalars("n k")
s = pt.matrix("s", shape=(5, 5))
s2 = pt.matrix("s2", shape=(5, 5))
f = pt.fmatrix("f")

ROWS = "DropDims{axes=[1, 2]}(MatMul(ExpandDims{axes=[1]}(s), ExpandDims{axes=[2]}(s2)))"

rng = np.random.default_rng(46)
VALUES: dict[Any, Any] = {
    u: rng.normal(size=5),
    v: rng.normal(size=5),
    w: rng.normal(size=5),
    a: rng.normal(size=(5, 5)),
    b: rng.normal(size=(5, 5)),
    t: rng.normal(size=(5, 5, 5)),
    c: np.array(1.5),
    s: rng.normal(size=(5, 5)),
    s2: rng.normal(size=(5, 5)),
    f: rng.normal(size=(5, 5)).astype("float32"),
}


def fast(term: Any) -> str:
    """Return what is computed if the result is finite."""
    text = str(rewritten(term))
    if not text.startswith("ifelse("):
        return text
    return text.partition("isfinite(")[2].partition("), ")[0].removesuffix(")")


SPLIT = [
    (pt.outer(u, v).sum(), "Sum(u) * Sum(v"),
    (pt.outer(u, v).sum(axis=0), "Sum(u) * v"),
    (pt.outer(u, v).sum(axis=-1), "u * Sum(v)"),
    ((pt.exp(u)[:, None] * pt.sin(v)).sum(), "Sum(exp(u)) * Sum(sin(v)"),
    ((u[:, None, None] * v[:, None] * w).sum(axis=(0, 2)), "Sum(u) * v * Sum(w)"),
    ((u[:, None] / v).sum(axis=0), "Sum(u) / v"),
    ((a * v[:, None]).sum(axis=1), "Sum{axis=1}(a) * v"),
    ((a * pt.exp(u)[:, None] * pt.exp(v)).sum(axis=1), "a @ exp(v) * exp(u)"),
    ((t * a).sum(axis=0), "Sum{axis=0}(t) * a"),
]
KEPT = [
    (a * v[:, None]).sum(axis=1, keepdims=True),
    (u[:, None] * v).sum(keepdims=True),
    (u[:, None] / v).sum(),
    (pt.exp(a) * v[:, None]).sum(axis=1),
    (t * a).sum(axis=(0, 2)),
    pt.trace(a.T @ b),
    pt.trace(b @ a.T),
    pt.trace(a @ b),
    pt.trace(a.T @ b.T),
    pt.trace((a - b).T @ (a - b)),
    pt.trace(f.T @ f),
    pt.trace(a[:, :3].T @ b),
    pt.trace(a[:2].T @ b[:2, :4]),
    pt.diag(a @ b @ a.T),
    pt.diag(a.T @ b, 1),
    pt.diag(a.T @ b, -2),
    pt.diag(a[:, :3].T @ b),
    pt.diag(f.T @ f),
    pt.diag(a.T @ b.T),
    (a.T * b.T).sum(),
    (a.T * b.T).sum(axis=1),
    (t * a).sum(axis=1),
    pt.diagonal(t @ pt.swapaxes(t, 1, 2), axis1=1, axis2=2),
    pt.diagonal(t @ pt.swapaxes(t, 1, 2), axis1=2, axis2=1),
    pt.diagonal(t @ a, axis1=0, axis2=2),
    0.5 * (a + a.T) @ v,
    v @ (a + b.T),
    (a + a.T) @ b,
    (f + f.T) @ f[0],
    pt.linalg.norm(a),
    pt.ones((3, 5)) @ a,
    pt.full((a.shape[0], 5), c) @ v,
    a @ pt.full((5, 4), c),
    v @ pt.alloc(w[:, None], 5, 4),
    pt.alloc(w, 5, 5) @ a,
    a @ pt.alloc(w, 5, 5),
    a @ pt.ones((5, a.shape[0])) @ b,
    (pt.eye(a.shape[0]) - pt.ones((a.shape[0], a.shape[0])) / a.shape[0]) @ a,
    (a.T**2).sum(),
    (f**2).sum(),
]


def assert_as_written(term: Any, values: dict[Any, Any], rtol: float = 1e-12) -> None:
    """Check that a rewritten term has the value of the term as it is written."""
    results = [
        rw.function([*values], term, mode=rw.Mode("vm", passes), on_unused_input="ignore")
        for passes in ("fast_run", None)
    ]
    found, wanted = [g(*values.values()) for g in results]
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    tolerance = 1e-5 if term.type.dtype == "float32" else rtol
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("term", "text"), SPLIT, ids=str)
def test_each_factor_is_summed_up_alone(term: Any, text: str) -> None:
    assert fast(term) == text
    assert_as_written(term, VALUES)


@pytest.mark.parametrize("term", KEPT, ids=str)
def test_values_are_those_of_the_written_term(term: Any) -> None:
    assert_as_written(term, VALUES)


@pytest.mark.parametrize("bad", [np.inf, np.nan, 1e300, 0.0, -0.0])
@pytest.mark.parametrize("term", [term for term, _ in SPLIT], ids=str)
def test_sums_that_are_not_finite_are_computed_as_written(term: Any, bad: float) -> None:
    values = {x: np.array(value) for x, value in VALUES.items()}
    for x in (u, v):
        values[x][1] = bad
        assert_as_written(term, values)


def test_empty_sums_of_products() -> None:
    values = {**VALUES, u: np.zeros(0)}
    assert_as_written(pt.outer(u, v).sum(), values)
    assert_as_written(pt.outer(u, v).sum(), {**values, v: np.array([np.inf] * 5)})
    assert_as_written(pt.trace(a.T @ b), {**VALUES, a: np.zeros((0, 5)), b: np.zeros((0, 5))})


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (pt.trace(s.T @ s), "Reshape{-1}(s) @ Reshape{-1}(s)"),
        (pt.trace(pt.exp(s) @ s.T), "Reshape{-1}(exp(s)) @ Reshape{-1}(s)"),
        ((a + a.T) @ v, "a @ v + Transpose{axes=[1, 0]}(a) @ v"),
        (v @ (a.T + b), "v @ Transpose{axes=[1, 0]}(a) + v @ b"),
        ((a + b) @ v, "(a + b) @ v"),
        (pt.sqr(a).sum(), "Reshape{-1}(a) @ Reshape{-1}(a)"),
        (pt.sqr(a - b).sum(), "Sum(sqr(a - b))"),
        ((s.T * s2.T).sum(), "Reshape{-1}(s) @ Reshape{-1}(s2)"),
        ((s * s2).sum(axis=0), "Sum{axis=0}(s * s2)"),
        (
            (s.T * s2.T).sum(axis=1),
            "Sum{axis=1}(Transpose{axes=[1, 0]}(s) * Transpose{axes=[1, 0]}(s2))",
        ),
        ((s * s2).sum(axis=1), "Sum{axis=1}(s * s2)"),
        (pt.diag(s @ s2.T), ROWS),
        (pt.ones((n, k)) @ s, "Alloc(Alloc(1.0, k) @ s, n, 5)"),
        (s @ pt.ones((k, n)), "Alloc(ExpandDims{axes=[1]}(s @ Alloc(1.0, k)), 5, n)"),
        (pt.ones((1, k)) @ s, "Alloc(1.0, 1, k) @ s"),
        (pt.diag(s.T @ s2), "Sum{axis=0}(s * s2)"),
    ],
    ids=str,
)
def test_products_with_transposed_matrices(term: Any, text: str) -> None:
    assert str(rewritten(term)) == text


def test_a_product_that_is_used_again_is_not_computed_twice() -> None:
    product = a.T @ b
    assert "Diagonal(" in str(rewritten(pt.trace(product), product)[0])
    total = a + a.T
    assert str(rewritten(total @ v, total)[0]) == "(a + Transpose{axes=[1, 0]}(a)) @ v"


@pytest.mark.parametrize(
    ("term", "values"),
    [
        (pt.trace(a.T @ b), {a: np.ones((3, 5)), b: np.ones((4, 5))}),
        (pt.trace(a @ b.T), {a: np.ones((0, 3)), b: np.ones((0, 4))}),
        ((a + a.T) @ v, {a: np.ones((3, 4)), v: np.ones(4)}),
        ((a * v[:, None]).sum(axis=1), {a: np.ones((3, 4)), v: np.ones(4)}),
        (pt.diag(a.T @ b), {a: np.ones((3, 5)), b: np.ones((4, 5))}),
        (pt.ones((3, 4)) @ a, {a: np.ones((3, 4))}),
        (a @ pt.ones((3, 4)), {a: np.ones((3, 4))}),
        ((a.T * b.T).sum(), {a: np.ones((3, 5)), b: np.ones((5, 3))}),
        (pt.diagonal(t @ a, axis1=1, axis2=2), {t: np.ones((2, 3, 4)), a: np.ones((3, 3))}),
    ],
    ids=str,
)
@pytest.mark.parametrize("passes", ["fast_run", None])
def test_errors_are_kept(term: Any, values: dict[Any, Any], passes: str | None) -> None:
    function = rw.function([*values], term, mode=rw.Mode("vm", passes))
    with pytest.raises(RewriteEngineError):
        function(*values.values())
