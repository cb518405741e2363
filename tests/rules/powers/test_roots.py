"""Logarithms of powers with fractional exponents, of roots, and of terms with unknown signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.tensor import linalg

X = np.array([1e-300, 0.3, 2.5, 1e300, np.inf, 0.0, -2.5, np.nan])

CASES: list[Any] = [
    (lambda x: pt.log(x**0.5), "0.5 * log(x)", lambda x: 0.5 * np.log(x)),
    (lambda x: pt.log(x**1.5), "1.5 * log(x)", lambda x: 1.5 * np.log(x)),
    (lambda x: pt.log(1 / x**0.5), "-0.5 * log(x)", lambda x: -0.5 * np.log(x)),
    (lambda x: pt.log(1 / pt.sqrt(pt.exp(-x))), "0.5 * x", lambda x: 0.5 * x),
]


@pytest.mark.parametrize("case", CASES)
def test_one_logarithm_of_a_fractional_power(case: Any) -> None:
    make, text, right = case
    x = pt.vector("x")
    f = rw.function([x], make(x))
    assert rw.pp(f.fgraph) == text
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(f(X), right(X), rtol=1e-14)


@pytest.mark.parametrize("power", [0.5, -0.5, 1.5])
def test_fractional_powers_of_gamma_functions(power: float) -> None:
    x = pt.vector("x")
    at = np.array([200.0, 0.5, -0.5, -1.5])
    roots = [pt.gamma(x) ** power]
    if power != 1.5:
        roots.append(pt.sqrt(pt.gamma(x)) if power > 0 else 1 / pt.sqrt(pt.gamma(x)))
    for root in roots:
        f = rw.function([x], pt.log(root))
        assert rw.pp(f.fgraph) == f"{power} * (gammaln(x) + log(gammasgn(x)))"
        wanted = power * np.where(special.gammasgn(at) > 0, special.gammaln(at), np.nan)
        np.testing.assert_allclose(f(at), wanted, rtol=1e-14)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_determinant_whose_root_is_taken_or_that_has_a_factor(sign: float) -> None:
    k, x, y = pt.matrix("k"), pt.scalar("x"), pt.scalar("y")
    root = [1 / pt.sqrt(linalg.det(k)), linalg.det(k) ** -0.5]
    product = [x * linalg.det(k), x * y * linalg.det(k)]
    f = rw.function([k, x, y], [pt.log(v) for v in (*root, *product)], on_unused_input="ignore")
    assert "Det(" not in rw.pp(f.fgraph).replace("SLogDet(", "")
    large = np.diag([1e200, 1e200 * sign, 3.0])
    log = np.log(3.0) + 400 * np.log(10.0)
    found = f(large, 2.0 * sign, 1.0)
    np.testing.assert_allclose(found[2:], log + np.log(2.0), rtol=1e-14)
    np.testing.assert_allclose(found[:2], -0.5 * log if sign > 0 else np.nan, rtol=1e-14)
    assert np.isnan(f(large, -2.0 * sign, 1.0)[2])


def test_the_sign_of_a_product_decides_if_no_factor_has_a_known_one() -> None:
    x, y = pt.vectors("x y")
    f = rw.function([x, y], pt.log(x * pt.gamma(y)))
    assert rw.pp(f.fgraph) == "gammaln(y) + log(x * gammasgn(y))"
    np.testing.assert_allclose(
        f([2.0, -2.0, -2.0], [200.0, 200.0, -0.5]),
        np.array([special.gammaln(200.0), np.nan, special.gammaln(-0.5)]) + np.log(2.0),
    )


def test_the_normal_distribution_function_is_one_op() -> None:
    x = pt.vector("x")
    cost = pt.log(0.5 * pt.erfc(-x / np.sqrt(2)))
    f = rw.function([x], [cost, rw.grad(cost.sum(), x)])
    assert "log_ndtr(x)" in rw.pp(f.fgraph)
    at = np.array([-1e5, -40.0, -1.0, 0.0, 1.0, 8.0])
    value, slope = f(at)
    np.testing.assert_allclose(value, special.log_ndtr(at), rtol=1e-13)
    ratio = np.sqrt(2 / np.pi) / special.erfcx(-at / np.sqrt(2))
    np.testing.assert_allclose(slope, ratio, rtol=1e-13)


@pytest.mark.parametrize(
    ("make", "text", "right"),
    [
        (lambda x: 1 - pt.exp(-pt.exp(x)), "-expm1(-exp(x))", lambda x: -np.expm1(-np.exp(x))),
        (lambda x: pt.exp(-pt.exp(x)) - 1, "expm1(-exp(x))", lambda x: np.expm1(-np.exp(x))),
        (lambda x: 1 - pt.exp(-(x**2)), "-expm1(-sqr(x))", lambda x: -np.expm1(-np.square(x))),
    ],
)
def test_exponentials_that_cannot_overflow_keep_the_digits_of_their_rest(
    make: Any, text: str, right: Any
) -> None:
    x = pt.vector("x")
    f = rw.function([x], make(x))
    assert rw.pp(f.fgraph) == text
    at = np.array([-700.0, -40.0, -1e-9, 0.5, 6.0, 1000.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(f(at), right(at), rtol=1e-14)
