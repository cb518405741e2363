"""Logarithms of what is reordered, taken in part, joined: the elements are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.language import rewritten

WAYS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda v: v.T,
    "new axis": lambda v: v[:, None],
    "reversed": lambda v: v[::-1, 1:],
    "row": lambda v: v[0],
    "column": lambda v: v[:, 1],
    "taken": lambda v: v[np.array([1, 0, 1])],
    "flat": lambda v: v.flatten(),
    "largest": lambda v: v.max(axis=1),
    "least of a part": lambda v: v[:, :2].min(axis=0),
}
CHOOSING = ["largest", "least of a part"]
#: a function of x, and the logarithm of it
FUNCTIONS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "exp": (pt.exp, lambda x: x),
    "odds": (lambda x: pt.exp(x) / (1 + pt.exp(x)), lambda x: -np.logaddexp(0, -x)),
    "product": (
        lambda x: 3 * pt.exp(x) * pt.sigmoid(x),
        lambda x: x - np.logaddexp(0, -x) + np.log(3),
    ),
}
GIVEN = np.array([[-800.0, -3.0, 0.5], [2.0, 700.0, 800.0]])


def times_taken(way: str) -> Any:
    """How often each element is taken."""
    numbers = WAYS[way](np.arange(GIVEN.size).reshape(GIVEN.shape))
    return np.bincount(numbers.ravel(), minlength=GIVEN.size).reshape(GIVEN.shape)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("way", WAYS)
def test_logarithms_of_what_is_moved(way: str, function: str, dtype: str) -> None:
    x = pt.matrix("x", dtype=dtype)
    made, logarithm = FUNCTIONS[function]
    term = pt.log(WAYS[way](made(x)))
    wanted = WAYS[way](logarithm(GIVEN))
    np.testing.assert_allclose(
        rw.function([x], term)(GIVEN.astype(dtype)), wanted, rtol=1e-6, atol=1e-38
    )
    if way not in CHOOSING:
        slope = rw.function([x], rw.grad(term.sum(), x))(GIVEN.astype(dtype))
        true = 1.0 if function == "exp" else 1 / (1 + np.exp(GIVEN.clip(-700, 700)))
        true = (true + (function == "product")) * times_taken(way)
        np.testing.assert_allclose(slope, true, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("way", [way for way in WAYS if way not in CHOOSING])
def test_rests_of_probabilities_that_are_moved(way: str) -> None:
    x = pt.matrix("x")
    term = pt.log(1 - WAYS[way](pt.sigmoid(x)))
    wanted = WAYS[way](-np.logaddexp(0, GIVEN))
    np.testing.assert_allclose(rw.function([x], term)(GIVEN), wanted, rtol=1e-12)
    slope = rw.function([x], rw.grad(term.sum(), x))(GIVEN)
    true = -times_taken(way) / (1 + np.exp(-GIVEN.clip(-700)))
    np.testing.assert_allclose(slope, true, rtol=1e-12, atol=1e-300)


def test_sums_and_what_is_joined() -> None:
    x, one = pt.matrix("x"), pt.tensor("one", shape=(1,))
    joined = rw.function([x], pt.log(pt.concatenate([pt.exp(x), pt.exp(-x)])))
    np.testing.assert_allclose(joined(GIVEN), np.concatenate([GIVEN, -GIVEN]))
    summed = rw.function([x], pt.log(pt.exp(x).T.sum(axis=0)))
    np.testing.assert_allclose(summed(GIVEN), np.logaddexp.reduce(GIVEN, axis=1))
    total = pt.log(pt.exp(one).sum())
    f = rw.function([one], [total, rw.grad(total, one)])
    for given in (-1000.0, -745.0, 0.5, 800.0):
        value, slope = f([given])
        assert (value, slope) == (given, 1.0)


def test_gradients_of_what_is_joined() -> None:
    x = pt.vector("x")
    given = np.array([-800.0, -2.0, 0.5, 800.0])
    below, above = 1 / (1 + np.exp(given.clip(-700, 700))), 1 / (1 + np.exp(-given.clip(-700)))
    p, q = pt.sigmoid(x), 1 / (1 + pt.exp(-x))
    costs = [
        (pt.log(pt.concatenate([p, q])), 2 * below),
        (pt.log(1 - pt.concatenate([p, q])), -2 * above),
        (pt.log(pt.stack([p, 1 - p], axis=1)), below - above),
        (pt.log(pt.stack([1 - q, q])), below - above),
    ]
    for cost, slope in costs:
        found = rw.function([x], rw.grad(cost.sum(), x))(given)
        np.testing.assert_allclose(found, slope, rtol=1e-12, atol=1e-300)


def test_errors_of_what_is_reshaped_back() -> None:
    """A length that does not fit is still an error, wherever the slope does not need it."""
    x = pt.vector("x")
    f = rw.function([x], rw.grad(pt.log(pt.sigmoid(x).reshape((2, 2))).sum(), x))
    with pytest.raises(rw.errors.ShapeError):
        f(np.zeros(5))


def test_terms() -> None:
    x, y = pt.matrix("x"), pt.matrix("y")
    assert repr(rewritten(pt.log(pt.exp(x).T))) == repr(rewritten(x.T))
    assert repr(rewritten(pt.log1p(pt.exp(x)[0]))) == "softplus(Subtensor{0}(x))"
    no_better = pt.log((x + y).T)
    assert repr(rewritten(no_better)) == "log(Transpose{axes=[1, 0]}(x + y))"
    undone = (pt.sin(x.T) * 2).T * y
    assert "Transpose" not in repr(rewritten(undone))
    twice = pt.sin(x.T)  # it would be computed twice
    assert "Transpose" in repr(rewritten(twice, twice.T * y)[1])
