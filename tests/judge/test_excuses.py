"""Each excuse forgives what it is for, and the same difference without its reason is found."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.judge.backward import BACKWARD_EXCUSES
from rewrite_engine.judge.difference import BothSides
from rewrite_engine.judge.digits import DIGIT_EXCUSES
from rewrite_engine.judge.excuses import EXCUSES
from rewrite_engine.judge.values import REFERENCE, TermValues
from rewrite_engine.judge.verdict import Broken, Verdict, judge
from rewrite_engine.match.claim import approx, backward, exact, refines
from rewrite_engine.tensor import Sum

x, y, z = pt.dscalars("x y z")
s = pt.fscalar("s")
v = pt.dvector("v")
m = pt.dmatrix("m")
c = pt.zscalar("c")
INF, NAN = np.inf, np.nan


@rw.as_op([pt.dscalar], [pt.dscalar])
def unknown(a: np.ndarray) -> np.ndarray:
    """Nobody knows its true values."""
    return a * 1.0


def verdict(
    term: Any,
    new: Any,
    values: dict[Any, Any],
    claim: Any = refines,
    strict: bool = True,
    **more: Any,
) -> Verdict:
    given = {v: np.asarray(a, v.type.dtype) for v, a in values.items()}
    left, right = TermValues(REFERENCE, given), TermValues(REFERENCE, given)
    sides = BothSides("rule", claim, term, new, **more)
    return judge(sides, given, left, left.value(term), right.value(new), strict)


class Row(NamedTuple):
    """An excuse, a difference that it forgives, and one that it does not, with how the claim is
    broken then. Each difference: the arguments of `verdict`.
    """

    name: str
    forgiven: tuple[Any, ...]
    broken: tuple[Any, ...]
    how: Broken
    options: dict[str, Any] = {}


LENIENT = {"strict": False}
STABLE = {"limits": True}
F = np.asfortranarray(np.random.default_rng(0).normal(size=(300, 400)))
LARGE, TINY = 1e308, 1e-310
inv, det, solve = pt.linalg.inv, pt.linalg.det, pt.linalg.solve
cholesky, slogdet = pt.linalg.cholesky, pt.linalg.slogdet
M, U = np.array([[2.0, 1, 0.3], [0.7, 3, 1], [0.1, 1, 4]]), np.array([1.0, -2, 0.7])
POOR = M * [1, 1, 1e-4] @ M  # of condition 1e5
POORER = M * [1, 1, 1e-9] @ M
NO_M = np.where(np.eye(3)[[1, 0, 2]] * [1, 0, 0], NAN, M)
NO_UPPER = np.where(np.triu(np.ones((3, 3)), 1), NAN, M)
ROWS = [
    Row("rounding", (pt.exp2(x), pt.exp(x * np.log(2)), {x: 7.3}, approx(4)),
        (pt.exp2(x), pt.exp(x * 0.6931), {x: 7.3}, approx(4)), Broken.ACCURACY),
    Row("complex infinity", (c + x, c - x * 1j, {c: complex(INF, 1), x: 1}),
        (c + x, c * x, {c: INF, x: 0}), Broken.NAN),
    Row("underflow", (x * 1.0, x - x, {x: TINY}), (x * 1.0, x - x, {x: 1e-300}), Broken.ACCURACY),
    Row("partial sum", ((x + y) + z, (x + z) + y, {x: LARGE, y: -LARGE, z: LARGE}, approx(1)),
        ((x + y) + z, (x + z) / (x * 0), {x: 1, y: -1, z: 1}, approx(1)), Broken.INFINITE,
        {"reorders": True}),
    Row("overflown sum", ((x + x) - (y + y), (x + x) - y - y, {x: LARGE, y: LARGE}, approx(1)),
        ((x - x) / (y - y), x / (y - y), {x: 1, y: 1}, approx(1)), Broken.NAN_LOST),
    Row("memory order", (Sum(axis=0)(m.T), Sum(axis=1)(m), {m: F}, exact),
        (Sum(axis=0)(m.T), 1.0001 * Sum(axis=1)(m), {m: F}, exact), Broken.BITS, LENIENT),
    Row("tie", (pt.argmax(pt.exp(v)), pt.argmax(v), {v: [0, 1e-30, -1]}),
        (pt.argmax(pt.exp(v)), pt.argmin(v), {v: [0, 1e-3, -1e-3]}), Broken.VALUES),
    Row("noise", ((x + 1e8) - 1e8, x, {x: 0.1}), ((x + 1e8) - 1e8, 2 * x, {x: 0.1}),
        Broken.ACCURACY, LENIENT),
    Row("granted", (unknown(x) - x, x - x + z, {x: 1, z: NAN}),
        (unknown(x) - x, x - x + z, {x: 1, z: 1}), Broken.ACCURACY,
        LENIENT | {"granted": "fastmath"}),
    Row("large numbers", (unknown(x) - x, (unknown(x) + y) - x, {x: LARGE / 2, y: LARGE * 1.5},
        approx(1)), (unknown(x) - x, (unknown(x) + y) / 0.0, {x: 1, y: 1}, approx(1)),
        Broken.INFINITE, LENIENT),
    Row("mended", (unknown(pt.exp(x)), y, {x: 1000, y: 7}), (unknown(x), y, {x: NAN, y: 7}),
        Broken.NAN_LOST, LENIENT),
    Row("overflow", (1 / unknown(pt.exp(x)), y, {x: 1000, y: 7}),
        (1 / unknown(pt.exp(x)), y, {x: 1, y: 7}), Broken.ACCURACY),
    Row("extreme numbers", (unknown(x) * 1.0, y, {x: 1e200, y: 7}, approx(1)),
        (unknown(x) * 1.0, y, {x: 1e2, y: 7}, approx(1)), Broken.ACCURACY),
    Row("overflow to NaN", (pt.exp(x) - unknown(pt.exp(x)), y, {x: 1000, y: 7}),
        (x - unknown(x), y, {x: INF, y: 7}), Broken.NAN_LOST),
    Row("nearer", ((x + 1e8) - 1e8, x, {x: 0.1}), ((x + 1e8) - 1e8, 2 * x, {x: 0.1}),
        Broken.ACCURACY),
    Row("true value", (pt.log(pt.exp(x)), x, {x: 1000}), (pt.log(pt.exp(x)), 2 * x, {x: 1000}),
        Broken.INFINITY),
    Row("no true value", (pt.log1p(-pt.exp(x)), pt.log(x - x - 1), {x: 1e-300}),
        (pt.log1p(-pt.exp(x)), pt.log(x), {x: -1}), Broken.NAN, STABLE),
    Row("lost infinity", (c * x, c + x, {c: INF, x: 0}), (c - c, c / 0, {c: 1}), Broken.INFINITE),
    Row("narrow step", (pt.exp(s) * z, y, {s: 100, z: 1, y: 7}, approx(1)),
        (pt.exp(x) * z, y, {x: 1000, z: 1, y: 7}, approx(1)), Broken.INFINITY),
    Row("subnormal step", (pt.log(x * x), pt.log((x * 8) * x) - np.log(8), {x: 1.49e-162}),
        (pt.log(x * x), pt.log((x * 8) * x) - np.log(4), {x: 1.49e-162}), Broken.INFINITY),
    Row("near the end", (x * 2, y, {x: LARGE, y: np.finfo("float64").max}, approx(8)),
        (x * 2, y, {x: LARGE, y: 1e300}, approx(8)), Broken.INFINITY),
    Row("near in norm", (inv(m) @ v, solve(m, v), {m: M, v: U}, backward(8)),
        (inv(m) @ v, -solve(m, v), {m: M, v: U}, backward(8)), Broken.ACCURACY, LENIENT),
    Row("small error", (inv(m) @ v, solve(m, v), {m: M, v: U}, backward(8)),
        (inv(m) @ v, solve(m.T, v), {m: M, v: U}, backward(8)), Broken.ACCURACY),
    Row("ill condition", (solve(m, v), solve(m.T @ m, m.T @ v), {m: POORER, v: U}, backward(8)),
        (solve(m, v), solve(m.T @ m, m.T @ v), {m: POOR, v: U}, backward(8)), Broken.ACCURACY),
    Row("no numbers", (pt.diag(v) @ m, v[:, None] * m, {m: NO_M, v: U}, backward(8)),
        (det(m), det(pt.switch(pt.isnan(m), 0, m)), {m: NO_M}, backward(8)), Broken.NAN_LOST),
    Row("no true number", (det(pt.diag(v)), pt.prod(v), {v: [0, NAN, 3]}, backward(8)),
        (cholesky(m), cholesky(m + 0 * m.T), {m: NO_UPPER}, backward(8)), Broken.NAN),
    Row("zeros", (pt.eye(3)[0] @ m, m[0], {m: NO_M}, backward(8)),
        (m.sum(axis=0), pt.switch(pt.isnan(m), 0, m).sum(axis=0), {m: NO_M}, backward(8)),
        Broken.NAN_LOST),
    Row("overflown matrix", (pt.log(det(m)), slogdet(m)[1], {m: 1e20 * np.eye(30)}, backward(8)),
        (pt.log(det(m)), slogdet(m)[1] + 1, {m: 1e20 * np.eye(30)}, backward(8)), Broken.INFINITY),
    Row("extreme matrix", (v @ v, x * x, {v: [LARGE], x: 7}, backward(8)),
        (v @ v, x * x, {v: [1], x: 7}, backward(8)), Broken.ACCURACY),
    Row("limit", (pt.sinh(x) / x, y, {x: 0, y: 1}), (pt.sinh(x) / x, y, {x: 0, y: 2}),
        Broken.NAN_LOST, STABLE),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_an_excuse_forgives_what_it_is_for(row: Row) -> None:
    found = verdict(*row.forgiven, **row.options)
    assert found.broken is None, found.why
    assert found.excuse is not None
    assert found.excuse.name == row.name
    assert found.excuse.reason


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_without_its_reason_the_claim_is_broken(row: Row) -> None:
    found = verdict(*row.broken, **row.options)
    assert found.broken == row.how, found
    assert found.why


def test_every_excuse_has_a_case() -> None:
    rare = {"few digits", "logarithm of nearly 0", "complex NaN"}  # by `tests/rules/test_claims.py`
    every = [row.name for row in (*EXCUSES, *BACKWARD_EXCUSES, *DIGIT_EXCUSES)]
    assert len(set(every)) == len(every)
    assert {row.name for row in ROWS} == {*every} - rare


@pytest.mark.parametrize(
    ("name", "is_mended"),
    [("rounding", False), ("underflow", False), ("overflown sum", True), ("nearer", True)],
)
def test_what_is_mended_changed_by_more_than_rounding(name: str, is_mended: bool) -> None:
    row = next(row for row in ROWS if row.name == name)
    assert verdict(*row.forgiven, **row.options).is_mended is is_mended
