"""Functions of inverse functions, odd and even functions, and identities that no other rule makes:
the term, and its values against many digits, near the ends of the domain and far out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check import assert_rewrites
from rewrite_engine.gradient import grad
from rewrite_engine.language import rewritten

Formula = Callable[[Any], Any]
x, y = pt.vectors("x y")
NAN, INF = float("nan"), float("inf")
WIDE = [
    -1e5,
    -800.0,
    -40.0,
    -3.25,
    -1.0,
    -0.5,
    -1e-9,
    0.0,
    1e-300,
    1e-9,
    0.3,
    1.0,
    19.5,
    745.0,
    1e5,
]
ANGLES = [-1e5, -3.25, -1.0, -1e-9, 1e-300, 1e-9, 0.3, 1.5, 19.5, 1e5]
WITHIN = [-1.0, -1 + 1e-12, -0.5, -1e-9, 0.0, 1e-300, 1e-9, 0.3, 1 - 1e-15, 1.0]
ABOVE = [1e-300, 1e-20, 1e-9, 0.3, 1.0, 2.5, 47.0, 170.0]


def same(v: Any) -> Any:
    return v


def root_within(v: Any) -> Any:
    return mp.sqrt((1 - v) * (1 + v))


#: (formula, what it becomes, its value, points)
CASES: dict[str, tuple[Formula, str, Formula, list[float]]] = {
    "arcsinh of sinh": (lambda v: pt.arcsinh(pt.sinh(v)), "x", same, WIDE),
    "arctanh of tanh": (lambda v: pt.arctanh(pt.tanh(v)), "x", same, WIDE),
    "sinh of arcsinh": (lambda v: pt.sinh(pt.arcsinh(v)), "x", same, [*WIDE, 1e300, -1e300]),
    "log odds of sigmoid": (lambda v: pt.log_odds(pt.sigmoid(v)), "x", same, WIDE),
    "sin of arcsin": (
        lambda v: pt.sin(pt.arcsin(v)), "switch(abs(x) > 1.0, nan, x)", same, WITHIN,
    ),
    "cos of arccos": (
        lambda v: pt.cos(pt.arccos(v)), "switch(abs(x) > 1.0, nan, x)", same, WITHIN,
    ),
    "tanh of arctanh": (
        lambda v: pt.tanh(pt.arctanh(v)), "switch(abs(x) > 1.0, nan, x)", same, WITHIN,
    ),
    "erf of erfinv": (
        lambda v: pt.erf(pt.erfinv(v)), "switch(abs(x) > 1.0, nan, x)", same, WITHIN,
    ),
    "cosh of arccosh": (
        lambda v: pt.cosh(pt.arccosh(v)), "switch(x < 1.0, nan, x)", same, [1.0, 1.5, 1e300],
    ),
    "expm1 of log1p": (
        lambda v: pt.expm1(pt.log1p(v)), "switch(x < -1.0, nan, x)", same, [*WITHIN, 1e300],
    ),
    "exp of log1p": (
        lambda v: pt.exp(pt.log1p(v)), "1.0 + switch(x < -1.0, nan, x)", lambda v: 1 + v,
        [*WITHIN, 1e300],
    ),
    "expm1 of log": (
        lambda v: pt.expm1(pt.log(v)), "switch(x < 0.0, nan, x) - 1.0", lambda v: v - 1,
        [0.0, *ABOVE, 1e300],
    ),
    "exp2 of log2": (
        lambda v: pt.exp2(pt.log2(v)), "switch(x < 0.0, nan, x)", same, [0.0, *ABOVE, 1e300],
    ),
    "power of log10": (
        lambda v: 10.0 ** pt.log10(v), "switch(x < 0.0, nan, x)", same, [0.0, *ABOVE, 1e300],
    ),
    "softplus of log": (
        lambda v: pt.softplus(pt.log(v)), "log1p(switch(x < 0.0, nan, x))", mp.log1p,
        [0.0, *ABOVE, 1e300],
    ),
    "exp of logerfc": (
        lambda v: pt.exp(pt.logerfc(v)), "erfc(x)", mp.erfc, [-30.0, -1.0, 0.0, 0.4, 5.0, 26.0],
    ),
    "cos of arcsin": (
        lambda v: pt.cos(pt.arcsin(v)), "sqrt((1.0 - x) * (1.0 + x))", root_within, WITHIN,
    ),
    "sin of arccos": (
        lambda v: pt.sin(pt.arccos(v)), "sqrt((1.0 - x) * (1.0 + x))", root_within, WITHIN,
    ),
    "cos of arctan": (
        lambda v: pt.cos(pt.arctan(v)), "1.0 / hypot(x, 1.0)", lambda v: 1 / mp.sqrt(1 + v * v),
        [*WIDE, 1e200],
    ),
    "sin of arctan": (
        lambda v: pt.sin(pt.arctan(v)), "switch(isinf(x), sign(x), x / hypot(x, 1.0))",
        lambda v: v / mp.sqrt(1 + v * v), [*WIDE, 1e200],
    ),
    "tanh of arcsinh": (
        lambda v: pt.tanh(pt.arcsinh(v)), "switch(isinf(x), sign(x), x / hypot(x, 1.0))",
        lambda v: v / mp.sqrt(1 + v * v), [*WIDE, 1e200],
    ),
    "cosh of arcsinh": (
        lambda v: pt.cosh(pt.arcsinh(v)), "hypot(x, 1.0)", lambda v: mp.sqrt(1 + v * v),
        [*WIDE, 1e300, -1e300],
    ),
    "sinh of arccosh": (
        lambda v: pt.sinh(pt.arccosh(v)), "sqrt(x - 1.0) * sqrt(x + 1.0)",
        lambda v: mp.sqrt(v - 1) * mp.sqrt(v + 1), [1.0, 1 + 1e-12, 1.5, 1e5, 1e300],
    ),
    "cosh of arctanh": (
        lambda v: pt.cosh(pt.arctanh(v)), "1.0 / sqrt((1.0 - x) * (1.0 + x))",
        lambda v: 1 / root_within(v), WITHIN[1:-1],
    ),
    "sinh of arctanh": (
        lambda v: pt.sinh(pt.arctanh(v)), "x / sqrt((1.0 - x) * (1.0 + x))",
        lambda v: v / root_within(v), WITHIN[1:-1],
    ),
    "sine over cosine": (lambda v: pt.sin(v) / pt.cos(v), "tan(x)", mp.tan, ANGLES),
    "cosine over sine": (lambda v: pt.cos(v) / pt.sin(v), "1.0 / tan(x)", mp.cot, ANGLES),
    "cosine times tangent": (lambda v: pt.cos(v) * pt.tan(v), "sin(x)", mp.sin, ANGLES),
    "squares of sine and cosine": (
        lambda v: pt.sin(v) ** 2 + pt.cos(v) ** 2, "switch(isfinite(x), 1.0, nan)",
        lambda v: mpf(1), ANGLES,
    ),
    "cosh of the opposite": (lambda v: pt.cosh(-v), "cosh(x)", mp.cosh, [-3.0, 0.0, 1e-9, 700.0]),
    "cos of the modulus": (lambda v: pt.cos(pt.abs(v)), "cos(x)", mp.cos, ANGLES),
    "square of sinh and 1": (
        lambda v: pt.sqrt(pt.sinh(v) ** 2 + 1), "cosh(x)", mp.cosh, [-700.0, -1e-9, 0.0, 3.0],
    ),
    "square of cosh less 1": (
        lambda v: pt.cosh(v) ** 2 - 1, "sqr(sinh(x))", lambda v: mp.sinh(v) ** 2,
        [-300.0, -1e-9, 0.0, 1e-100, 3.0],
    ),
    "1 less the square of cosh": (
        lambda v: 1 - pt.cosh(v) ** 2, "-sqr(sinh(x))", lambda v: -(mp.sinh(v) ** 2),
        [-300.0, -1e-9, 0.0, 1e-100, 3.0],
    ),
    "square of cos less 1": (
        lambda v: pt.cos(v) ** 2 - 1, "-sqr(sin(x))", lambda v: -(mp.sin(v) ** 2), ANGLES[:3],
    ),
    "square of sin less 1": (
        lambda v: pt.sin(v) ** 2 - 1, "-sqr(cos(x))", lambda v: -(mp.cos(v) ** 2), [1.5707963, 9.0],
    ),
    "1 less sech2": (
        lambda v: 1 - pt.sech2(v), "sqr(tanh(x))", lambda v: mp.tanh(v) ** 2,
        [-300.0, -1e-9, 0.0, 1e-100, 3.0],
    ),
    "modulus by >": (lambda v: pt.switch(v > 0, v, -v), "abs(x)", abs, WIDE),
    "modulus by >=": (lambda v: pt.switch(v >= 0, v, -v), "abs(x)", abs, WIDE),
    "modulus by <": (lambda v: pt.switch(v < 0, -v, v), "abs(x)", abs, WIDE),
    "modulus by <=": (lambda v: pt.switch(v <= 0, -v, v), "abs(x)", abs, WIDE),
    "over the root": (lambda v: v / pt.sqrt(v), "sqrt(x)", mp.sqrt, [*ABOVE, 1e300]),
    "times the reciprocal root": (
        lambda v: v * pt.reciprocal(pt.sqrt(v)), "sqrt(x)", mp.sqrt, [*ABOVE, 1e300],
    ),
    "1 over exp": (
        lambda v: 1 / pt.exp(v), "exp(-x)", lambda v: mp.exp(-v), [-709.0, -1.0, 0.0, 700.0, 740.0],
    ),
    "reciprocal of exp": (
        lambda v: pt.reciprocal(pt.exp(v)), "exp(-x)", lambda v: mp.exp(-v), [-709.0, 0.0, 700.0],
    ),
    "log of 1 over a square": (
        lambda v: pt.log(1 / v**2), "-2.0 * log(abs(x))", lambda v: -2 * mp.log(abs(v)),
        [-1e300, -3.0, 1e-300, 1e-160],
    ),
    "log1p less 1": (lambda v: pt.log1p(v - 1), "log(x)", mp.log, [*ABOVE, 1e300]),
    "log odds of exp": (
        lambda v: pt.log_odds(pt.exp(v)), "x - log1mexp(x)", lambda v: v - mp.log(-mp.expm1(v)),
        [-1e5, -800.0, -40.0, -0.3, -1e-9, -1e-300],
    ),
    "exp of -softplus": (
        lambda v: pt.exp(-pt.softplus(v)), "sigmoid(-x)", lambda v: 1 / (1 + mp.exp(v)),
        [-1e5, -40.0, -1.0, 0.0, 3.0, 700.0],
    ),
    "expm1 of -softplus": (
        lambda v: pt.expm1(-pt.softplus(v)), "-sigmoid(x)", lambda v: -1 / (1 + mp.exp(-v)),
        [-700.0, -40.0, -1.0, 0.0, 3.0, 1e5],
    ),
    "log1mexp of -softplus": (
        lambda v: pt.log1mexp(-pt.softplus(v)), "-softplus(-x)",
        lambda v: -mp.log(1 + mp.exp(-v)), [-1e5, -800.0, -40.0, 0.0, 3.0, 30.0, 700.0],
    ),
    "log of sigmoid less x": (
        lambda v: pt.log(pt.sigmoid(v)) - v, "-softplus(x)", lambda v: -mp.log(1 + mp.exp(v)),
        [-700.0, -40.0, 0.0, 3.0, 800.0, 1e5],
    ),
    "exp of gammaln": (
        lambda v: pt.exp(pt.gammaln(1 + v**2)), "gamma(1.0 + sqr(x))",
        lambda v: mp.gamma(1 + v * v), [-12.0, -1e-9, 0.0, 0.5, 3.0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_terms(name: str) -> None:
    formula, wanted, _, _ = CASES[name]
    assert_rewrites(formula(x), wanted)


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    formula, _, truth, points = CASES[name]
    found = rw.function([x], formula(x))(np.array(points))
    with mp.workdps(700):
        wanted = np.array([float(truth(mpf(p))) for p in points])
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-320)


#: formulas whose values are NaN at some points, written or rewritten
OUTSIDE: dict[str, tuple[Formula, list[float]]] = {
    "sin of arcsin": (lambda v: pt.sin(pt.arcsin(v)), [-INF, -2.0, 1.5, INF, NAN]),
    "cos of arccos": (lambda v: pt.cos(pt.arccos(v)), [-INF, -2.0, 1.5, INF, NAN]),
    "tanh of arctanh": (lambda v: pt.tanh(pt.arctanh(v)), [-INF, -2.0, 1.5, INF, NAN]),
    "erf of erfinv": (lambda v: pt.erf(pt.erfinv(v)), [-INF, -2.0, 1.5, INF, NAN]),
    "cosh of arccosh": (lambda v: pt.cosh(pt.arccosh(v)), [-INF, -2.0, 0.5, NAN]),
    "sinh of arccosh": (lambda v: pt.sinh(pt.arccosh(v)), [-INF, -2.0, 0.5, NAN]),
    "cos of arcsin": (lambda v: pt.cos(pt.arcsin(v)), [-INF, -2.0, 1.5, 1e200, INF, NAN]),
    "sinh of arctanh": (lambda v: pt.sinh(pt.arctanh(v)), [-INF, -2.0, 1.5, 1e200, INF, NAN]),
    "expm1 of log1p": (lambda v: pt.expm1(pt.log1p(v)), [-INF, -2.0, NAN]),
    "exp of log1p": (lambda v: pt.exp(pt.log1p(v)), [-INF, -2.0, NAN]),
    "expm1 of log": (lambda v: pt.expm1(pt.log(v)), [-INF, -2.0, NAN]),
    "softplus of log": (lambda v: pt.softplus(pt.log(v)), [-INF, -0.5, NAN]),
    "log odds of exp": (lambda v: pt.log_odds(pt.exp(v)), [0.5, 800.0, NAN]),
    "over the root": (lambda v: v / pt.sqrt(v), [-INF, -2.0, NAN]),
    "squares": (lambda v: pt.sin(v) ** 2 + pt.cos(v) ** 2, [-INF, INF, NAN]),
    "modulus": (lambda v: pt.switch(v > 0, v, -v), [NAN]),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_numbers_outside_the_domain_are_nan(name: str) -> None:
    formula, points = OUTSIDE[name]
    assert np.isnan(rw.function([x], formula(x))(np.array(points))).all()


#: values of infinities
ENDS: dict[str, tuple[Formula, list[float], list[float]]] = {
    "arcsinh of sinh": (lambda v: pt.arcsinh(pt.sinh(v)), [-INF, INF], [-INF, INF]),
    "sin of arctan": (lambda v: pt.sin(pt.arctan(v)), [-INF, INF], [-1.0, 1.0]),
    "cos of arctan": (lambda v: pt.cos(pt.arctan(v)), [-INF, INF], [0.0, 0.0]),
    "cosh of arcsinh": (lambda v: pt.cosh(pt.arcsinh(v)), [-INF, INF], [INF, INF]),
    "cosh of arctanh": (lambda v: pt.cosh(pt.arctanh(v)), [-1.0, 1.0], [INF, INF]),
    "exp of log1p": (lambda v: pt.exp(pt.log1p(v)), [-1.0, INF], [0.0, INF]),
    "1 over exp": (lambda v: 1 / pt.exp(v), [-INF, INF], [INF, 0.0]),
    "over the root": (lambda v: v / pt.sqrt(v), [0.0, INF], [0.0, INF]),
    "log odds of exp": (lambda v: pt.log_odds(pt.exp(v)), [-INF, 0.0], [-INF, INF]),
}


@pytest.mark.parametrize("name", ENDS)
def test_values_at_the_ends(name: str) -> None:
    formula, points, wanted = ENDS[name]
    found = rw.function([x], formula(x))(np.array(points))
    np.testing.assert_allclose(found, wanted, atol=1e-16)


ODD = [
    "sin", "tan", "sinh", "tanh", "arcsin", "arctan", "arctanh", "erf", "erfinv", "cbrt",
    "sign",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_the_sign_of_an_odd_function_moves_outside(name: str) -> None:
    function = getattr(pt, name)
    assert_rewrites(function(-x), f"-{name}(x)")
    assert_rewrites(-function(-x), f"{name}(x)")
    assert_rewrites(y - function(-x), f"y + {name}(x)")
    points = np.array([-0.7, -1e-300, -0.0, 0.0, 1e-9, 0.9])
    found = rw.function([x], function(-x))(points)
    np.testing.assert_array_equal(found, rw.function([x], function(x))(-points))


def test_two_numbers_and_their_extrema() -> None:
    larger, smaller = pt.maximum(x, y), pt.minimum(x, y)
    assert_rewrites(larger + smaller, "x + y")
    assert_rewrites(larger - smaller, "abs(x - y)")
    assert_rewrites(larger - pt.minimum(x, 1.0), None)
    a = np.array([-1.0, 2.5, INF, -INF, NAN, 1e300, 0.1])
    b = np.array([3.0, 2.5, 1.0, 1.0, 1.0, -1e300, 0.3])
    total, spread = rw.function([x, y], [larger + smaller, larger - smaller])(a, b)
    np.testing.assert_array_equal(total, np.maximum(a, b) + np.minimum(a, b))
    np.testing.assert_array_equal(spread, np.maximum(a, b) - np.minimum(a, b))


def test_a_sum_with_an_exponential_less_1() -> None:
    term = x + pt.exp(y) - 1
    assert_rewrites(term, "expm1(y) + x")
    a, b = np.array([1e-20, 3.0, -1e-9, 0.0]), np.array([1e-18, -40.0, 1e-9, 700.0])
    with mp.workdps(60):
        wanted = [float(mpf(p) + mp.expm1(mpf(q))) for p, q in zip(a, b, strict=True)]
    np.testing.assert_allclose(rw.function([x, y], term)(a, b), wanted, rtol=1e-12, atol=1e-24)


@pytest.mark.parametrize(
    "formula",
    [
        lambda v: pt.gammaln(v) + pt.log(v),
        lambda v: pt.psi(v) + 1 / v,
        lambda v: pt.exp(pt.gammaln(v)),
        lambda v: pt.log(1 / v),
        lambda v: pt.sqr(pt.sin(v)) + pt.sqr(pt.cos(2 * v)),
        lambda v: pt.sin(v) / pt.cos(v + 1),
        lambda v: pt.switch(v > 1, v, -v),
        lambda v: pt.arccosh(pt.cosh(v)),
        lambda v: pt.tan(pt.arctan(v)),
    ],
)
def test_terms_that_stay(formula: Formula) -> None:
    assert_rewrites(formula(x), None)


#: forms without a difference, or without an overflow, that earlier phases need
KEPT: dict[str, tuple[Formula, Formula, list[float]]] = {
    "1 - cos(arcsin)": (
        lambda v: 1 - pt.cos(pt.arcsin(v)), lambda v: 1 - root_within(v), [1e-9, 1e-100, 0.5],
    ),
    "1 - cos(arccos) ** 2": (
        lambda v: 1 - pt.cos(pt.arccos(v)) ** 2, lambda v: 1 - v * v, [1 - 1e-15, 0.5],
    ),
    "cosh(arctanh) - 1": (
        lambda v: pt.cosh(pt.arctanh(v)) - 1, lambda v: 1 / root_within(v) - 1, [1e-9, 0.5],
    ),
    "root of exp(logerfc)": (
        lambda v: pt.sqrt(pt.exp(pt.logerfc(v))), lambda v: mp.sqrt(mp.erfc(v)), [1.0, 30.0],
    ),
    "root of exp(gammaln)": (
        lambda v: pt.sqrt(pt.exp(pt.gammaln(1 + v**2))), lambda v: mp.sqrt(mp.gamma(1 + v * v)),
        [1.0, 14.0],
    ),
    "root of exp(-softplus)": (
        lambda v: pt.sqrt(pt.exp(-pt.softplus(v))), lambda v: 1 / mp.sqrt(1 + mp.exp(v)),
        [1.0, 1000.0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_other_rules_come_first(name: str) -> None:
    formula, truth, points = KEPT[name]
    found = rw.function([x], formula(x))(np.array(points))
    with mp.workdps(400):
        wanted = [float(truth(mpf(p))) for p in points]
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize(
    ("formula", "slope"),
    [
        (lambda v: pt.arcsinh(pt.sinh(v)), lambda v: 1),
        (lambda v: pt.arctanh(pt.tanh(v)), lambda v: 1),
        (lambda v: pt.log_odds(pt.sigmoid(v)), lambda v: 1),
        (lambda v: pt.cosh(v) ** 2 - 1, lambda v: mp.sinh(2 * v)),
    ],
)
def test_slopes_far_out(formula: Formula, slope: Formula) -> None:
    points = np.array([-300.0, -1e-9, 0.5, 100.0, 300.0])
    found = rw.function([x], grad(formula(x).sum(), x))(points)
    with mp.workdps(60):
        wanted = [float(slope(mpf(p))) for p in points]
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_an_exponential_with_another_use_stays() -> None:
    """A quotient is cheaper than one more exponential."""
    x = pt.vector("x")
    term = 2 * pt.exp(x) + 1 / pt.exp(x)
    assert str(rewritten(term)) == "2.0 * exp(x) + 1.0 / exp(x)"
    given = [-3.0, 0.0, 2.5]
    value = rw.function([x], term)(given)
    np.testing.assert_allclose(value, 2 * np.exp(given) + np.exp(np.negative(given)), rtol=1e-14)
