"""Sums of what has a logarithm only where it is above 0, and what is 0 somewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.rules.powers.read import summands

exp, log = pt.exp, pt.log

#: of x, a and b: each has terms that change their sign with x
CHANGING: dict[str, Callable[[Any, Any, Any], Any]] = {
    "1 - exp": lambda x, a, b: (1 - exp(x)) * exp(a) + exp(b),
    "expm1": lambda x, a, b: pt.expm1(x) * exp(a) + exp(b),
    "tanh": lambda x, a, b: 1 - exp(a) * pt.tanh(x),
    "sinh": lambda x, a, b: exp(a) * pt.sinh(x) + exp(b + 2),
    "difference": lambda x, a, b: (exp(x) - exp(-x)) * exp(a) + exp(b + 3),
    "sigmoids": lambda x, a, b: (pt.sigmoid(x) - pt.sigmoid(-x)) * exp(a) + exp(b),
}
#: the same of terms whose sign is known
KNOWN: dict[str, Callable[[Any, Any, Any], Any]] = {
    "cloglog": lambda x, a, b: (1 - exp(-exp(x))) * exp(a) + exp(-exp(x)) * exp(b),
    "mixture": lambda x, a, b: (
        (1 - exp(-exp(x))) * exp(-0.5 * a**2) + (1 - (1 - exp(-exp(x)))) * exp(-0.5 * b**2)
    ),
    "tanh": lambda x, a, b: exp(b) + exp(a) * pt.tanh(exp(x)),
}
#: the same of terms that may be 0, where their logarithm has no slope
MAYBE_0: dict[str, Callable[[Any, Any, Any], Any]] = {
    "expm1": lambda x, a, b: exp(b) - exp(a) * pt.expm1(-(x**2)),
    "survival": lambda x, a, b: exp(b) + exp(a) * (1 - exp(-abs(x))),
    "weights": lambda x, a, b: x**2 * exp(a) + exp(b),
    "rest of a square": lambda x, a, b: 1 - (pt.tanh(x) / (2 + a)) ** 2,
    "squares": lambda x, a, b: exp(b) + exp(a) * pt.expm1(x) ** 2 + exp(a) * pt.erf(x) ** 2,
    "a weight and a number": lambda x, a, b: 1 + abs(x) * exp(a - b),
}
PLAIN = rw.Mode(optimizer=None, linker="py")


def both_ways(term: Any, inputs: list[Any], values: list[Any]) -> Any:
    """A logarithm and its gradients: as rewritten, and as they are written."""
    outputs = [term, *rw.grad(term.sum(), inputs, disconnected_inputs="ignore")]
    for mode in (None, PLAIN):
        yield rw.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*values)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CHANGING)
def test_a_term_that_may_be_negative_is_not_the_exponential_of_its_logarithm(
    name: str, dtype: str
) -> None:
    inputs = list(pt.vectors("x a b", dtype=dtype))
    values = [np.array(v, dtype) for v in ([-1, -0.5, 0, 0.25, 0.5], [-1.0] * 5, [1.0] * 5)]
    found, wanted = both_ways(log(CHANGING[name](*inputs)), inputs, values)
    for a, b in zip(found, wanted, strict=True):
        assert np.isfinite(b).all()
        np.testing.assert_allclose(a, b, *((1e-12, 1e-15) if dtype == "float64" else (1e-5, 1e-6)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", KNOWN)
def test_a_term_of_known_sign_is(name: str, dtype: str) -> None:
    inputs = list(pt.vectors("x a b", dtype=dtype))
    values = [np.array(v, dtype) for v in ([-1, -0.5, 0.25, 2], [-1, 0.5, 1, 2], [1, -1, 0.5, 0])]
    found, wanted = both_ways(log(KNOWN[name](*inputs)), inputs, values)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, *((1e-12, 1e-15) if dtype == "float64" else (1e-5, 1e-6)))
    far = [np.array(v, dtype) for v in ([2.0, 2.0], [-1000.0, -1000.0], [-1000.0, -1000.0])]
    value, *slopes = next(both_ways(log(KNOWN[name](*inputs)), inputs, far))
    assert np.isfinite(value).all()
    assert all(np.isfinite(slope).all() for slope in slopes)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MAYBE_0)
def test_a_term_that_may_be_0_has_a_slope_there(name: str, dtype: str) -> None:
    inputs = list(pt.vectors("x a b", dtype=dtype))
    values = [np.array(v, dtype) for v in ([0, 0, -0.5, 2], [-1, 0.5, 1, 2], [1, -1, 0.5, 0])]
    found, wanted = both_ways(log(MAYBE_0[name](*inputs)), inputs, values)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, *((1e-12, 1e-15) if dtype == "float64" else (1e-5, 1e-6)))


@pytest.mark.parametrize(
    "root",
    [
        lambda x: pt.sqrt(pt.expm1(x) ** -2) * pt.expm1(x),
        lambda x: pt.sqrt(pt.tanh(x) ** 2) / pt.tanh(x),
        lambda x: pt.sqrt(pt.sqr(1 - exp(x))) * exp(-x),
        lambda x: (pt.erf(x) ** 2) ** 0.5 * pt.erfc(x) * exp(x**2),
    ],
)
def test_the_root_of_a_square_has_no_sign(root: Any) -> None:
    x = pt.vector("x")
    found, wanted = both_ways(root(x), [x], [np.array([-2.0, -0.3, 0.4, 1.5])])
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_rest_of_an_exponential_above_one_has_no_logarithm(sign: float) -> None:
    x = pt.vector("x")
    found = rw.function([x], pt.log1p(-pt.exp(sign * pt.tanh(x))))(np.array([-5.0, 0.0, 5.0]))
    wanted = np.array([np.log1p(-np.exp(-np.tanh(5.0))), -np.inf, np.nan])[:: int(sign)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_sum_of_one_operand() -> None:
    x, a = pt.vectors("x", "a")
    one = pt.add(x)
    assert (summands(one), summands(a - one)) == ([(1, x)], [(1, a), (-1, x)])
    f = rw.function([x, a], a - a * pt.sigmoid(one))
    np.testing.assert_allclose(f([40.0], [2.0]), 2 * np.exp(-40.0), rtol=1e-12)


@pytest.mark.parametrize("base", [-2.0, -1.0, 0.0])
def test_powers_of_numbers_that_are_not_above_zero(base: float) -> None:
    x = pt.vector("x")
    f = rw.function([x], pt.log(pt.constant(base) ** x))
    with np.errstate(all="ignore"):
        expected = np.log(base ** np.array([0.0, 2.0, 4.0, 3.0]))
    assert np.allclose(f([0.0, 2.0, 4.0, 3.0]), expected, equal_nan=True)
