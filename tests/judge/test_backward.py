"""Rules of linear algebra that keep `backward(n)`, and such that do not, on matrices of known
condition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.check.draw import Draw
from rewrite_engine.judge.difference import BothSides
from rewrite_engine.judge.verdict import Broken, Verdict, judge_terms
from rewrite_engine.match.claim import backward
from rewrite_engine.tensor.linalg import (
    cholesky,
    det,
    eigh,
    inv,
    lstsq,
    pinv,
    slogdet,
    solve,
    svd,
)

rng = np.random.default_rng(0)


def of_condition(condition: float, *shape: int, dtype: str = "float64") -> np.ndarray:
    """A random matrix with singular values from 1 down."""
    draw = Draw([], 0, False)
    left, right = [draw.orthogonal((n, n), dtype) for n in shape]
    k = min(shape)
    values = condition ** -np.linspace(0, 1, k)
    return ((left[:, :k] * values) @ right[:k]).astype(dtype)


a, b, c = pt.dmatrices("a b c")
f, g = pt.fmatrices("f g")
z = pt.zmatrix("z")
n = pt.lmatrix("n")
t, s = pt.dtensor3("t"), pt.dtensor3("s")
u = pt.dvector("u")
A, B = of_condition(1e4, 4, 4), rng.normal(size=(4, 3))
TALL, RIGHT = of_condition(1e4, 6, 4), rng.normal(size=(6, 3))
F, G = of_condition(200, 4, 4, dtype="float32"), rng.normal(size=(4, 2)).astype("float32")
Z = of_condition(50, 4, 4, dtype="complex128")
MANY, SIDES = np.stack([A, 1e8 * A]), np.stack([B, B])
V = np.array([0.3, -2.0, 7.0])
SCALE = pt.constant(np.array([1, 1.1]))[:, None, None]
SINGULAR = np.array([[1.0, 2, 3], [4, 5, 6], [1, 2, 3]])
NEARLY = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])
THREEFOLD, TURNED = np.array([[1.0, 2], [3, 6]]), np.array([[0.1, 0.7], [0.3, -0.2]])


def verdict(term: Any, new: Any, given: dict[Any, Any], growth: int = 8) -> Verdict:
    with np.errstate(all="ignore"):
        return judge_terms(BothSides("rule", backward(growth), term, new), given)


KEPT = {
    "solution": (inv(a) @ b, solve(a, b), {a: A, b: B}),
    "in single precision": (inv(f) @ g, solve(f, g), {f: F, g: G}),
    "complex": (inv(z) @ b, solve(z, b), {z: Z, b: B}),
    "integers": (inv(n) @ b, solve(n, b), {n: np.array([[1, 2], [3, 4]]), b: B[:2]}),
    "batch": (inv(t) @ s, solve(t, s), {t: MANY, s: SIDES}),
    "empty": (inv(a) @ b, solve(a, b), {a: np.zeros((0, 0)), b: np.zeros((0, 2))}),
    "logarithm of a determinant": (pt.log(abs(det(a))), slogdet(a)[1], {a: A}),
    "determinant of a diagonal": (det(pt.diag(u)), pt.prod(u), {u: V}),
    "large determinant": (det(pt.diag(u)), pt.prod(u), {u: [1e200, 1e200, 1e-300]}),
    "diagonal factor": (pt.diag(u) @ a, u[:, None] * a, {u: V, a: B}),
    "inverse of a transpose": (inv(a.T), inv(a).T, {a: A}),
    "inverse of a product": (inv(a @ b), inv(b) @ inv(a), {a: A, b: of_condition(10, 4, 4)}),
    "order of products": ((a @ b) @ u, a @ (b @ u), {a: A, b: B, u: V}),
    "diagonal with an infinity": (inv(pt.diag(u)), pt.diag(1 / u), {u: [1, np.inf, 3]}),
    "eigenvalues": (eigh(a)[0], -eigh(-a)[0][::-1], {a: A @ A.T + np.eye(4)}),
    "both are singular": (inv(a) @ b, solve(a, b), {a: SINGULAR, b: B[:3]}),
    "whole numbers, singular but for rounding": (
        inv(n.T) @ b, inv(n).T @ b, {n: np.array(NEARLY, int), b: B[:3]}),
    "singular but for rounding": (inv(a.T), inv(a).T, {a: NEARLY}),
    "zeros hide that it is singular": (
        solve(a @ b, c), solve(b, solve(a, c)), {a: THREEFOLD, b: TURNED, c: np.zeros((2, 1))},
    ),
}  # fmt: skip
FALSE = {
    "sign": (inv(a) @ b, -solve(a, b), {a: A, b: B}, Broken.ACCURACY),
    "transpose": (inv(a) @ b, solve(a.T, b), {a: A, b: B}, Broken.ACCURACY),
    "complex transpose": (inv(z) @ b, solve(z.T, b), {z: Z, b: B}, Broken.ACCURACY),
    "one matrix of a batch": (inv(t) @ s, solve(t, s) * SCALE, {t: MANY, s: SIDES},
                              Broken.ACCURACY),
    "squared condition": (lstsq(a, b)[0], solve(a.T @ a, a.T @ b), {a: TALL, b: RIGHT},
                          Broken.ACCURACY),
    "squared condition of a pseudo-inverse": (
        pinv(a) @ b, solve(a.T @ a, a.T @ b), {a: TALL, b: RIGHT}, Broken.ACCURACY),
    "squared singular values": (
        1 / svd(a)[1], 1 / pt.sqrt(eigh(a.T @ a)[0][::-1]), {a: A}, Broken.ACCURACY),
    "order of eigenvalues": (eigh(a)[0], eigh(a)[0][::-1], {a: A @ A.T}, Broken.ACCURACY),
    "singular matrix": (inv(a) @ b, pinv(a) @ b, {a: SINGULAR, b: B[:3]}, Broken.ERROR_LOST),
    "singular matrix that is new": (pinv(a) @ b, inv(a) @ b, {a: SINGULAR, b: B[:3]},
                                    Broken.ERROR_NEW),
    "lost NaN": (det(a), det(pt.switch(pt.isnan(a), 0, a)),
                 {a: np.where(np.eye(4), np.nan, A)}, Broken.NAN_LOST),
    "new NaN": (cholesky(a), cholesky(a + 0 * a.T),
                {a: np.where(np.triu(np.ones((3, 3)), 1), np.nan, 3 * np.eye(3))}, Broken.NAN),
    "overflow": (det(pt.diag(u)), pt.exp(pt.log(u).sum() * 1.1), {u: [1e80, 1e80, 1e50]},
                 Broken.ACCURACY),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_is_right_is_kept(name: str) -> None:
    found = verdict(*KEPT[name])
    assert found.broken is None, found.why


@pytest.mark.parametrize("name", FALSE)
def test_what_is_wrong_is_found(name: str) -> None:
    term, new, given, how = FALSE[name]
    found = verdict(term, new, given)
    assert found.broken == how, found
    assert found.why


def test_the_verdict_says_by_how_much() -> None:
    term, new, given, _ = FALSE["squared condition"]
    found = verdict(term, new, given)
    assert 8 < found.growth < 1e6
    assert verdict(term, new, given, int(found.growth) + 1).broken is None


def test_single_precision_has_its_own_units() -> None:
    term, new, given = solve(f, g), solve(f.T @ f, f.T @ g), {f: F, g: G}
    assert verdict(term, new, given, 2).broken == Broken.ACCURACY
    assert verdict(term, new, given, 50).broken is None


def test_a_matrix_of_no_moderate_condition_says_nothing() -> None:
    poor = of_condition(1e9, 4, 4)
    found = verdict(solve(a, b), solve(a.T @ a, a.T @ b), {a: poor, b: B})
    assert found.excuse.name == "ill condition"
