"""Gradients of logarithms of products: each factor's share needs no product of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax

import rewrite_engine as rw
import rewrite_engine.tensor as pt

PART: dict[str, Callable[[Any], Any]] = {
    "by hand": lambda z: 1 / (1 + pt.exp(-z)),
    "sigmoid": pt.sigmoid,
    "twice": lambda z: pt.exp(z) / (1 + pt.exp(z)),
}


@pytest.mark.parametrize("size", [1.0, 40.0, 800.0, -800.0])
@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("part", PART)
def test_broken_sticks(part: str, count: int, size: float) -> None:
    v = pt.vector("v")
    rest: Any = 1
    weights = []
    for i in range(count):
        b = PART[part](v[i])
        weights.append(b * rest)
        rest = rest * (1 - b)
    slope = rw.function([v], rw.grad(sum(pt.log(w) for w in weights), v))
    for x in (np.full(count, size), np.linspace(-size, size, count)):
        wanted = expit(-x) - (count - 1 - np.arange(count)) * expit(x)
        np.testing.assert_allclose(slope(x), wanted, rtol=1e-9)


def test_shares_of_powers() -> None:
    x, y = pt.vectors("x y")
    term = pt.log(-(x**3) * y / (pt.sqrt(-y) * pt.sqr(x)))
    slopes = [rw.grad(term.sum(), v) for v in (x, y)]
    at = np.array([1e-200, 2.0]), np.array([-1e-150, -3.0])
    plain = rw.Mode(linker="py", optimizer=None)
    for mode in (plain, None):
        found = rw.function([x, y], slopes, mode=mode)(*at)
        np.testing.assert_allclose(found, (1 / at[0], 0.5 / at[1]), rtol=1e-12)


def test_what_is_divided_has_the_digits_of_the_gradient() -> None:
    x, y = pt.vectors("x y")
    n = pt.tensor("n", dtype="int8", shape=(None,))
    square, twice = pt.sqr(x), x * x
    slope = rw.grad(None, x, known_grads={square: n / square})
    assert rw.function([x, n], slope)([2.0], np.int8([100])) == 100.0
    both = rw.Lop([twice * y, twice + y], x, [n / (twice * y), n / twice])
    found = rw.function([x, y, n], both)([2.0], [5.0], np.int8([100]))
    np.testing.assert_allclose(found, 2 * 100 / 2.0 + 100 / 4.0 * 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_that_underflow(dtype: str) -> None:
    x, y, z = pt.vectors("x y z", dtype=dtype)
    slope = rw.grad((pt.log(x * y * z) + pt.log(x * y)).sum(), x)
    f = rw.function([x, y, z], slope, mode=rw.Mode(linker="py", optimizer=None))
    tiny = np.array([float(np.finfo(dtype).tiny)], dtype)
    np.testing.assert_allclose(f(np.array([4.0], dtype), tiny, tiny), [0.5], rtol=1e-6)


def test_powers_that_underflow() -> None:
    x, y = pt.vectors("x y")
    slopes = rw.function([x, y], rw.grad(pt.log(x**y).sum(), [x, y]))([1e-200, 2.0], [3.0, 0.0])
    np.testing.assert_allclose(slopes, [[3e200, 0.0], np.log([1e-200, 2.0])], rtol=1e-12)


def test_a_product_that_is_written_twice() -> None:
    """1 / z overflows for what is smaller than any normal number."""
    x, y, z = pt.vectors("x y z")
    slope = rw.grad((pt.log(x * y) * z + pt.log(2 * (x * y))).sum(), x)
    found = rw.function([x, y, z], slope)([4.0], [1e-310], [3.0])
    np.testing.assert_allclose(found, [1.0], rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("labels", [[0.0, 0.0], [1.0, 0.0], [2.0, -3.0]])
def test_cross_entropies_whose_labels_are_constants(labels: list[float], dtype: str) -> None:
    x = pt.vector("x", dtype=dtype)
    y = np.array(labels, dtype)
    once = pt.exp(x)
    for below in (once, pt.exp(x)):
        term = -(pt.constant(y) * pt.log(once / below.sum())).sum()
        slope = rw.function([x], rw.grad(term, x))(np.array([11.0, 1000.0], dtype))
        np.testing.assert_allclose(slope, np.array([0.0, 1.0]) * y.sum() - y)
    zero = rw.function([x], 0.0 / pt.exp(x).sum() * pt.exp(x))
    assert not zero(np.array([11.0, 1000.0], dtype)).any()


def by_hand(z: Any) -> Any:
    return pt.exp(z) / pt.exp(z).sum()


def by_hand_in_rank(z: Any) -> Any:
    return pt.exp(z) / pt.exp(z).sum(axis=0, keepdims=True)


#: what is added up of the logarithms of probabilities, and how often each is
SEVERAL: dict[str, tuple[Callable[[Any], Any], list[int]]] = {
    "one": (lambda p: pt.log(p[0]), [1, 0, 0]),
    "two": (lambda p: pt.log(p[0]) + pt.log(p[2]), [1, 0, 1]),
    "all": (lambda p: pt.log(p[2]) + pt.log(p[0]) + pt.log(p[-2]), [1, 1, 1]),
    "one twice": (lambda p: pt.log(p[0]) - pt.log(p[2]) + pt.log(p[0]), [2, 0, -1]),
    "a product": (lambda p: pt.log(p[0] * p[2]), [1, 0, 1]),
    "of logarithms": (lambda p: pt.log(p)[0] + pt.log(p)[2], [1, 0, 1]),
    "a slice": (lambda p: pt.log(p[:2]).sum() + pt.log(p[0]), [2, 1, 0]),
    "an array": (lambda p: pt.log(p[[0, 2, 2]]).sum() + pt.log(p[0]), [2, 0, 2]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("what", SEVERAL)
@pytest.mark.parametrize("make", [by_hand, by_hand_in_rank, pt.softmax])
def test_several_probabilities(make: Callable[[Any], Any], what: str, dtype: str) -> None:
    z = pt.tensor("z", dtype=dtype, shape=(None,))
    cost, counts = SEVERAL[what]
    slope = rw.function([z], rw.grad(cost(make(z)), z))
    tolerance = 1e-12 if dtype == "float64" else 3e-6
    for x in ([0.3, -0.2, 1.0], [-800.0, 800.0, 790.0], [90.0, -300.0, 0.0], [1e4, 1e4, -1e4]):
        wanted = counts - np.sum(counts) * softmax(np.array(x))
        np.testing.assert_allclose(slope(np.array(x, dtype)), wanted, atol=5 * tolerance)


def test_several_signs() -> None:
    """Logistic regression, written element by element."""
    z = pt.vector("z")
    for part in PART.values():
        p = part(z)
        slope = rw.function([z], rw.grad(pt.log(p[0]) + pt.log(1 - p[1]) + pt.log(p[2]), z))
        for x in np.array([[0.0, 1.0, 2.0], [-800.0, 800.0, 40.0], [700.0, -700.0, -40.0]]):
            np.testing.assert_allclose(slope(x), expit(-x * [1, -1, 1]) * [1, -1, 1], rtol=1e-12)


def test_rows_and_elements() -> None:
    z, i = pt.matrix("z"), pt.lvector("i")
    for p in (pt.softmax(z, axis=1), pt.exp(z) / pt.exp(z).sum(axis=1, keepdims=True)):
        cost = pt.log(p[pt.arange(2), i]).sum() + pt.log(p[0, 2])
        slope = rw.function([z, i], rw.grad(cost, z))
        x, counts = np.array([[-800.0, 800, 790], [0, 800, -800]]), np.array([[1, 0, 1], [0, 0, 1]])
        wanted = counts - counts.sum(axis=1, keepdims=True) * softmax(x, axis=1)
        np.testing.assert_allclose(slope(x, [0, 2]), wanted, atol=1e-12)


def test_many_elements_cost_what_they_did() -> None:
    """More than a few are carried as one array: the gradient grows with their number alone."""
    x = pt.vector("x")
    sizes = []
    for n in (50, 100, 200):
        y = x
        for _ in range(n):
            y = pt.tanh(y * 1.1)
        slope = rw.grad(sum(pt.sqr(y[i]) for i in range(n)), x)
        sizes.append(len(list(rw.graph.traverse.ancestors([slope]))))
    assert sizes[2] - sizes[1] < 2.5 * (sizes[1] - sizes[0])


def test_divergence_of_probabilities() -> None:
    z = pt.vector("z")
    for p in (pt.softmax(z), pt.exp(z) / pt.exp(z).sum()):
        ratio = pt.log(p[0] / p[1])
        found = rw.function([z], [ratio, rw.grad(ratio, z)])([800.0, -800.0, 0.0])
        np.testing.assert_allclose(found[0], 1600.0)
        np.testing.assert_allclose(found[1], [1.0, -1.0, 0.0])
    p = pt.softmax(z)
    cost = p[0] * pt.log(p[0] / p[1])
    both = rw.function([z], [cost, rw.grad(cost, z)])
    for x in np.array([[800.0, -800.0, 0.0], [0.0, 800.0, 0.0], [0.3, -0.2, 1.0]]):
        q, log_q = softmax(x), log_softmax(x)
        g = np.array([q[0] * (log_q[0] - log_q[1] + 1), -q[0], 0.0])  # times q
        value, slope = both(x)
        np.testing.assert_allclose(value, q[0] * (log_q[0] - log_q[1]), atol=1e-12)
        np.testing.assert_allclose(slope, g - q * g.sum(), atol=1e-12)


#: logarithms of what has exp(s) in it, for a number s or one for each row; their slopes by s
STRETCHED: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "a sum": (lambda s, x: pt.log(pt.exp(s) + pt.exp(x)), lambda s, x: expit(s - x)),
    "three terms": (
        lambda s, x: pt.log(pt.exp(s) + pt.exp(x) + 1),
        lambda s, x: np.exp(s - np.logaddexp(s, np.logaddexp(x, 0))),
    ),
    "a difference": (
        lambda s, x: pt.log(pt.exp(s) - pt.exp(x)),
        lambda s, x: -1 / np.expm1(x - s),
    ),
    "a product": (lambda s, x: pt.log(1 + pt.exp(s) * pt.exp(x)), lambda s, x: expit(s + x)),
    "a quotient": (
        lambda s, x: pt.log(2 + pt.exp(s) / x**2),
        lambda s, x: 1 / (1 + 2 * x**2 * np.exp(-s)),
    ),
}


@pytest.mark.parametrize("what", STRETCHED)
@pytest.mark.parametrize("s", [3.0, 745.0, 1e4])
def test_slopes_of_what_is_stretched(what: str, s: float) -> None:
    log, wanted = STRETCHED[what]
    x, w = (
        np.array([[2.0, -2.0, -1.0], [0.5, 1.0, -3.0]]),
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    )
    number, rows, columns, z = pt.scalar("s"), pt.vector("r"), pt.col("c"), pt.matrix("z")
    parts = w * wanted(s, x)
    found = rw.function([number, z], rw.grad((log(number, z) * w).sum(), number))(s, x)
    np.testing.assert_allclose(found, parts.sum(), rtol=1e-12)
    found = rw.function([rows, z], rw.grad((log(rows[:, None], z) * w).sum(), rows))([s, s], x)
    np.testing.assert_allclose(found, parts.sum(axis=1), rtol=1e-12)
    found = rw.function([columns, z], rw.grad((log(columns, z) * w).sum(), columns))([[s], [s]], x)
    np.testing.assert_allclose(found, parts.sum(axis=1, keepdims=True), rtol=1e-12)


def test_an_infinite_slope_beside_one_that_vanishes() -> None:
    """What is added twice at an element is one number there: (0 + 1) * inf is no NaN."""
    x, r = pt.matrix("x"), pt.vector("r")
    m = pt.exp(x) * r[:, None]
    slope = rw.function([x, r], rw.grad(pt.log(m[0]).sum() + m[0, 1], x))
    assert slope([[0.0, 800.0]], [2.0])[0, 1] == np.inf


def test_what_is_divided_by_a_sum_that_is_held() -> None:
    z = pt.vector("z")
    e = pt.exp(z)
    total = e.sum()
    p = e / total
    for cost, wanted in ((pt.log(p[2]), [0, 0, 1]), (pt.log(p[2]) + pt.log(p[0]), [1, 0, 1])):
        slope = rw.function([z], rw.grad(cost, z, consider_constant=[total]))
        np.testing.assert_allclose(slope([-800.0, 800.0, -790.0]), wanted)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_sums_of_quotients_beside_exponentials_of_any_rank(
    rank: int, axis: Any, keepdims: bool
) -> None:
    x = np.array([[2.0, -2.0], [0.5, 1.0]])
    q, s = pt.matrix("q"), pt.tensor("s", dtype="float64", shape=(None,) * rank)
    at = np.array([[0.25, 3.0], [2.0, -1.0]])[(0,) * (2 - rank)]
    e, inside = pt.exp(s), np.exp(at)
    for below, value in ((1, 1), (e + pt.exp(q), inside + np.exp(x))):
        total = (q / below).sum(axis=axis, keepdims=keepdims) * e
        wanted = (x / value).sum(axis=axis, keepdims=keepdims) * inside
        np.testing.assert_allclose(rw.function([q, s], total)(x, at), wanted)
