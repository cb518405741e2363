"""Losses written with a naive softmax: values and gradients at logits where exp overflows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product as product_of
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import log_softmax, logsumexp, softmax

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import Rop, verify_grad
from rewrite_engine.judge.reference import DIGITS, errors
from rewrite_engine.language import rewritten
from rewrite_engine.tensor.special import LogSumExp, Softmax, SoftmaxAndLog

mp.dps = DIGITS

LOGITS = np.array([[1000.0, -1000.0, 1000.0], [0.5, -0.25, 1.0]])
ONE_HOT = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def naive(z: Any) -> Any:
    """The textbook softmax of the rows."""
    return pt.exp(z) / pt.exp(z).sum(axis=1, keepdims=True)


def shared(z: Any) -> Any:
    """The same, with one exponential."""
    e = pt.exp(z)
    return e / e.sum(axis=1, keepdims=True)


def naive_log_from_difference(z: Any) -> Any:
    return z - pt.log(pt.exp(z).sum(axis=1, keepdims=True))


LOSSES: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "summed": (lambda z, y: -(y * pt.log(naive(z))).sum(), 1.0),
    "summed, one exponential": (lambda z, y: -(y * pt.log(shared(z))).sum(), 1.0),
    "mean, one exponential": (lambda z, y: (y * pt.log(shared(z))).mean(), -1 / 6),
    "summed, sign inside": (lambda z, y: (-y * pt.log(naive(z))).sum(), 1.0),
    "positive": (lambda z, y: (y * pt.log(naive(z))).sum(), -1.0),
    "mean over all": (lambda z, y: -(y * pt.log(naive(z))).mean(), 1 / 6),
    "rows summed, then their mean": (lambda z, y: -(y * pt.log(naive(z))).sum(axis=1).mean(), 0.5),
    "as a difference": (lambda z, y: -(y * naive_log_from_difference(z)).sum(), 1.0),
}


@pytest.mark.parametrize("name", LOSSES)
def test_cross_entropy_and_its_gradient_are_finite_and_right(name: str) -> None:
    spelling, factor = LOSSES[name]
    z, y = pt.matrix("z"), pt.matrix("y")
    loss = spelling(z, y)
    value, slope = rw.function([z, y], [loss, rw.grad(loss, z)])(LOGITS, ONE_HOT)
    np.testing.assert_array_equal(rw.function([z, y], rw.grad(loss, z))(LOGITS, ONE_HOT), slope)
    expected = -(ONE_HOT * log_softmax(LOGITS, axis=1)).sum()
    np.testing.assert_allclose(value, factor * expected, rtol=1e-14)
    np.testing.assert_allclose(slope, factor * (softmax(LOGITS, axis=1) - ONE_HOT), atol=1e-15)


def test_a_difference_turned_around_is_computed_once() -> None:
    """Negative and positive logarithms of probabilities cancel as they did."""
    z = pt.matrix("z")
    logs = naive_log_from_difference(z)
    f = rw.function([z], [-logs, -logs + logs])
    negative, nothing = f(LOGITS)
    np.testing.assert_array_equal(negative, -log_softmax(LOGITS, axis=1))
    np.testing.assert_array_equal(nothing, np.zeros_like(LOGITS))


def test_squared_error_of_probabilities() -> None:
    z, y = pt.matrix("z"), pt.matrix("y")
    loss = ((naive(z) - y) ** 2).sum()
    slope = rw.function([z, y], rw.grad(loss, z))(LOGITS, ONE_HOT)
    p = softmax(LOGITS, axis=1)
    by_p = 2 * (p - ONE_HOT)
    np.testing.assert_allclose(
        slope, p * (by_p - (by_p * p).sum(axis=1, keepdims=True)), atol=1e-15
    )


def test_a_numerator_of_smaller_rank() -> None:
    z, v = pt.matrix("z"), pt.vector("v")
    s = pt.exp(z).sum(axis=1, keepdims=True)
    term = (v / s).sum(axis=1, keepdims=True) * pt.exp(z)
    row = np.array([0.5, 2.0, -1.0])
    expected = row.sum() * softmax(LOGITS, axis=1)
    np.testing.assert_allclose(rw.function([z, v], term)(LOGITS, row), expected, rtol=1e-14)


# --- the same values where nothing overflows, the true ones where it does -------------------------

SUMS: dict[str, Callable[[Any], Any]] = {
    "keepdims": lambda e: e.sum(axis=1, keepdims=True),
    "new axis": lambda e: e.sum(axis=1)[:, None],
    "dimshuffle": lambda e: e.sum(axis=-1).dimshuffle(0, "x"),
}

#: of e = exp(z), its sum, and y
PRODUCTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "softmax": lambda e, s, y: e / s,
    "product": lambda e, s, y: y / s * e,
    "denominator": lambda e, s, y: (y / s).sum(axis=1, keepdims=True) * e,
    "both": lambda e, s, y: (y / s + pt.second(e, (y / s).sum(axis=1, keepdims=True))) * e,
    "cancels": lambda e, s, y: y / (e / s) * (e / s),
    "cancels in a product": lambda e, s, y: y / (e / s) / s * e,
    "sum of columns": lambda e, s, y: y.sum(axis=1, keepdims=True) / s * e,
}


def true_values(product: str, z: Any, y: Any) -> Any:
    """With 50 digits."""
    result = np.empty(z.shape, object)
    for i, (row, ys) in enumerate(zip(z.tolist(), y.tolist(), strict=True)):
        e, ys = [mp.exp(v) for v in row], [mpf(v) for v in ys]
        p = [v / sum(e) for v in e]
        weights = {
            "softmax": [1] * len(p),
            "product": ys,
            "both": [v + sum(ys) for v in ys],
            "cancels": [v / q for v, q in zip(ys, p, strict=True)],
        }
        weights["cancels in a product"] = weights["cancels"]
        ws = weights.get(product, [sum(ys)] * len(p))
        result[i] = [w * q for w, q in zip(ws, p, strict=True)]
    return result


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("total", SUMS)
@pytest.mark.parametrize("product", PRODUCTS)
def test_no_value_is_lost(product: str, total: str, dtype: str) -> None:
    z, y = pt.matrix("z", dtype=dtype), pt.matrix("y", dtype=dtype)
    e = pt.exp(z)
    term = PRODUCTS[product](e, SUMS[total](e), y)
    new = rw.function([z, y], term, on_unused_input="ignore")
    plain = rw.Mode("py", optimizer=None)
    old = rw.function([z, y], term, on_unused_input="ignore", mode=plain)
    rng = np.random.default_rng(len(product))
    info = np.finfo(dtype)
    large = np.log(float(info.max))
    for logits, numbers in product_of(
        [
            [-0.8 * large, 0.45 * large, 1.0],
            [5.0, 5.0, 4.0],
            [2 * large, -300.0, 0.5],
            [-2e3, -2e3],
        ],
        [[1.0, -2.0, 0.5], [0.4 * info.max, 0.3 * info.max], [info.tiny**0.8, info.max**0.8]],
    ):
        zs = rng.choice(np.array(logits).astype(dtype), (5, 3))
        ys = rng.choice(np.array(numbers, "float64").astype(dtype), (5, 3))
        true = true_values(product, zs, ys)
        found, was = new(zs, ys), old(zs, ys)
        assert found.dtype == dtype
        within = np.abs(true) < 0.99 * float(info.max)
        wrong, before = errors(found, true), errors(was, true)
        wrong[np.abs(true.ravel()) < float(info.tiny)] = 0  # it may underflow
        bad = (wrong > np.maximum(32, 4 * before)) & within.ravel()
        assert not bad.any(), (zs, ys, found, was, true)
        seen = np.isfinite(was) & within
        assert np.isfinite(found[seen]).all(), (zs, ys, found, was)


@pytest.mark.parametrize("of", ["int64", "float64"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("product", ["product", "denominator", "both", "sum of columns"])
def test_nothing_is_lost_that_a_wider_factor_has_room_for(
    product: str, dtype: str, of: str
) -> None:
    """Where the exponentials are in range as they are; and where they are not, no NaN."""
    z, y = pt.matrix("z", dtype=dtype), pt.matrix("y", dtype=of)
    e = pt.exp(z)
    term = PRODUCTS[product](e, e.sum(axis=1, keepdims=True), y)
    assert term.type.dtype == "float64"
    large = np.log(float(np.finfo(dtype).max))
    ys = np.array([[3, 2], [3, 2]], of)
    for logits in ([-0.4 * large, 0.95 * large], [-0.4 * large, 3 * large]):
        zs = np.array([logits, [0.5, 1.0]], dtype)
        true = true_values(product, zs, ys)
        found = rw.function([z, y], term)(zs, ys)
        rtol = 64 * float(np.finfo(dtype).eps)
        np.testing.assert_allclose(found, true.astype("float64"), rtol=rtol)


def test_small_probabilities_of_large_numbers() -> None:
    z, y = pt.fmatrix("z"), pt.fmatrix("y")
    s = pt.exp(z).sum(axis=1, keepdims=True)
    found = rw.function([z, y], y / s * pt.exp(z))(*np.float32([[[-70, 40]], [[1e30, 1]]]))
    np.testing.assert_allclose(found, [[1.6889119e-18, 1.0]], rtol=1e-5)


def test_what_is_nan_stays_nan() -> None:
    z, y = pt.matrix("z"), pt.matrix("y")
    for product in PRODUCTS.values():
        e = pt.exp(z)
        term = product(e, e.sum(axis=1, keepdims=True), y)
        found = rw.function([z, y], term, on_unused_input="ignore")(
            [[np.nan, 1.0], [0.5, 1.0]], [[1.0, 2.0], [3.0, 4.0]]
        )
        assert np.isnan(found[0]).all()
        assert np.isfinite(found[1]).all()
    p = pt.softmax(z, axis=1)
    for term in (y / p * p, p * (y / p - 1), rw.grad((y * pt.log(p)).sum(), z)):
        found = rw.function([z, y], term)([[np.nan, 1.0]], [[1.0, 2.0]])
        assert np.isnan(found).all()


def test_no_test_for_nan_is_left_where_another_term_shows_it() -> None:
    z, y = pt.matrix("z"), pt.matrix("y")
    for probabilities in (naive(z), shared(z), pt.softmax(z, axis=1)):
        f = rw.function([z, y], rw.grad(-(y * pt.log(probabilities)).sum(), z))
        assert not [node for node in f.fgraph.toposort() if node.op in (pt.isnan, pt.switch)]


@pytest.mark.parametrize("probabilities", [naive, shared, lambda z: pt.softmax(z, axis=1)])
def test_the_log_probability_of_a_label(probabilities: Callable[[Any], Any]) -> None:
    z, label = pt.matrix("z"), pt.lvector("label")
    p = probabilities(z)
    logits = np.array([[-17.0, 745.0, -745.0], [745.0, 0.5, -1000.0]])
    one_hot = np.eye(3)[[0, 2]]
    picked = p[pt.arange(label.shape[0]), label]
    first = p[:, 0]
    for loss, where in (
        (-pt.log(picked).mean() * 2, one_hot),
        (-pt.log(first).sum(), np.eye(3)[:1]),
    ):
        f = rw.function([z, label], [loss, rw.grad(loss, z)], on_unused_input="ignore")
        value, slope = f(logits, [0, 2])
        np.testing.assert_allclose(value, -(where * log_softmax(logits, axis=1)).sum(), rtol=1e-14)
        np.testing.assert_allclose(slope, softmax(logits, axis=1) - where, atol=1e-15)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_the_softmax_of_a_vector_with_one_exponential(axis: int | None, keepdims: bool) -> None:
    z, i = pt.vector("z"), pt.lscalar("i")
    e = pt.exp(z)
    p = e / e.sum(axis=axis, keepdims=keepdims)
    weights = np.array([1.0, 2.0, 3.0])
    for values in ([1000.0, 0.5, -745.0], [745.0, 0.0, -1000.0], [0.5, -0.25, 1.0]):
        true = softmax(values)
        wanted = {
            (p * weights).sum(): true * (weights - (weights * true).sum()),
            (pt.log(p) * weights).sum(): weights - 6 * true,
            pt.log(p).mean(): 1 / 3 - true,
            pt.log(p)[1]: np.eye(3)[1] - true,
            pt.log(p[1]): np.eye(3)[1] - true,
            -2 * pt.log(p[i]): 2 * true - 2 * np.eye(3)[1],
            pt.log(p[np.array([1, 0])]).sum(): np.eye(3)[0] + np.eye(3)[1] - 2 * true,
        }
        for loss, slope in wanted.items():
            f = rw.function([z, i], rw.grad(loss, z), on_unused_input="ignore")
            np.testing.assert_allclose(f(values, 1), slope, atol=1e-15)


#: means of y under the weights exp(x), along the rows or of all, as people write them
MEANS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "of weights": lambda e, y, total: total(e / total(e) * y),
    "product first": lambda e, y, total: total(y * e / total(e)),
    "sums first": lambda e, y, total: total(y * e) / total(e),
    "reciprocal": lambda e, y, total: total(pt.reciprocal(total(e)) * e * y),
    "chosen": lambda e, y, total: total(pt.switch(y > 5, 0.0, y * e / total(e))),
    "at an index": lambda e, y, total: pt.concatenate(
        [(e / total(e))[:, :1] * y[:, :1], (e / total(e) * y)[:, 1:]], axis=1
    ).sum(axis=1, keepdims=True),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("axis", [1, None])
@pytest.mark.parametrize("name", MEANS)
def test_means_under_weights_whose_logarithms_are_known(
    name: str, axis: int | None, dtype: str
) -> None:
    x, y = pt.matrices("x y", dtype=dtype)
    mean = MEANS[name](pt.exp(x), y, lambda v: v.sum(axis=axis, keepdims=True))
    f = rw.function([x, y], [mean, *rw.grad(mean.sum(), [x, y])])
    a, b = (
        np.array([[1000, 999, -1000], [0.5, -0.25, -100]], dtype),
        np.array([[1, 2, 3], [4, 5, -1.0]], dtype),
    )
    p = softmax(a.astype("float64"), axis=axis)
    m = (p * b).sum(axis=axis, keepdims=True)
    if name == "at an index":  # its rows are added up
        p, m = p + 0 * m, (p * b).sum(axis=1, keepdims=True)
    rtol = 1e-5 if dtype == "float32" else 1e-12
    value, by_x, by_y = f(a, b)
    np.testing.assert_allclose(value, m, rtol=rtol)
    whole = (p * b).sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(by_x, p * (b - whole), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(by_y, p, rtol=rtol, atol=1e-30)


#: the same of what is known of rows: how sums are put beside, products of matrices, transposes
SPELLINGS: dict[str, Callable[[Any, Any], Any]] = {
    "put back": lambda e, v: (e / e.sum(axis=1)[:, None]) @ v,
    "product first": lambda e, v: (e @ v) / e.sum(axis=1, keepdims=True),
    "turned": lambda e, v: (e.T / e.sum(axis=1)).T @ v,
    "turned twice": lambda e, v: ((e.T / e.sum(axis=1)) * 2.0).T @ (v / 2.0),
    "means": lambda e, v: (e @ v) / e.mean(axis=1)[:, None] / e.shape[1],
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SPELLINGS)
def test_attention(name: str, dtype: str) -> None:
    x, v = pt.matrices("x v", dtype=dtype)
    out = SPELLINGS[name](pt.exp(x), v)
    f = rw.function([x, v], [out, *rw.grad(out[:, 0].sum(), [x, v])])
    a = np.array([[1000, 999, -1000], [0.5, -0.25, -100]], dtype)
    b = np.array([[1, 2], [3, -4], [5, 6]], dtype)
    p = softmax(a.astype("float64"), axis=1)
    rtol = 1e-5 if dtype == "float32" else 1e-12
    value, by_x, by_v = f(a, b)
    np.testing.assert_allclose(value, p @ b, rtol=rtol)
    np.testing.assert_allclose(by_x, p * (b[:, 0] - (p @ b)[:, :1]), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(by_v, p.T @ np.array([[1.0, 0], [1.0, 0]]), rtol=rtol, atol=1e-40)


def test_scales_of_other_rows_do_not_cancel() -> None:
    x, v, n = pt.matrix("x"), pt.matrix("v"), pt.imatrix("n")
    e = pt.exp(x)
    for term in (
        n / e.sum(axis=1, keepdims=True),
        2 / e.sum(axis=1, keepdims=True),
        e / e.sum(axis=1),
        v * e / e.sum(axis=0)[:, None],
        (v * e).sum(axis=0) / e.sum(axis=1),
        e @ (v / e.sum(axis=1)[:, None]),
        e.T @ (v / e.sum(axis=1)),
        e / (e.sum(axis=1, keepdims=True) + 1),
        e * e / e.sum(axis=1, keepdims=True),
    ):
        assert "Scaled" not in str(rewritten(term))
    assert "Scaled" in str(rewritten(n * e / e.sum(axis=1, keepdims=True)))
    assert "Scaled" in str(rewritten(e.T @ (v / e.sum(axis=1)[:, None])))


def test_the_logarithm_of_a_mean_of_exponentials() -> None:
    x, y = pt.vectors("x y")
    terms = pt.log(pt.exp(x).mean()), pt.log(pt.exp(x).sum() / pt.exp(y).sum())
    f = rw.function([x, y], [*terms, rw.grad(terms[0], x)])
    a, b = np.array([1000.0, 999, -1000]), np.array([-1000.0, -999])
    mean, ratio, slope = f(a, b)
    np.testing.assert_allclose(mean, logsumexp(a) - np.log(3), rtol=1e-14)
    np.testing.assert_allclose(ratio, logsumexp(a) - logsumexp(b), rtol=1e-14)
    np.testing.assert_allclose(slope, softmax(a), rtol=1e-14)


@pytest.mark.parametrize("x", [88.0, 60.0, -88.0])
def test_there_is_room_for_what_is_weighted(x: float) -> None:
    """3 exp(88) is infinite in float32, and 1 / exp(88) has lost digits."""
    z, y = pt.fvector("z"), pt.fvector("y")
    e = pt.exp(z)
    means = [(y * e).sum() / e.sum(), (y / e.sum() * e).sum(), Rop(pt.log(e.sum()), z, y)]
    found = rw.function([z, y], means)(np.float32([x, x]), np.float32([5.0, 1.0]))
    np.testing.assert_allclose(found, 3.0, rtol=1e-6)


def test_a_term_made_of_several_results() -> None:
    """Products of one sum of exponentials, cumulated, and differentiated twice."""
    x = pt.vector("x")
    total = pt.exp(x).sum().reshape((-1,)).cumprod()[0]
    second = rw.grad(rw.grad(total, x).sum(), x)
    np.testing.assert_allclose(rw.function([x], second)([0.0, 1.0]), np.exp([0.0, 1.0]))


OF_PROBABILITIES: dict[str, Callable[..., Any]] = {
    "focal loss": lambda p, q, log, sqrt: (1 - p) ** 2 * log(p),
    "logarithm of a square": lambda p, q, log, sqrt: log(p**2),
    "logarithm of a cube": lambda p, q, log, sqrt: log(p**3),
    "root": lambda p, q, log, sqrt: sqrt(p),
    "power": lambda p, q, log, sqrt: p**0.25,
    "divergence": lambda p, q, log, sqrt: p * log(p / q),
    "logarithm of a ratio": lambda p, q, log, sqrt: log(p / q**2),
}


def by_hand(x: Any) -> Any:
    e = pt.exp(x)
    return e / e.sum()


def softmax_exactly(x: Any) -> Any:
    e = np.array([mp.exp(t) for t in x])
    return e / sum(e)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", OF_PROBABILITIES)
@pytest.mark.parametrize("logits", [(0.0, 100.0, -30.0), (900.0, -900.0, 3.0), (1.0, 2.0, 3.0)])
def test_functions_of_probabilities(logits: Any, name: str, dtype: str) -> None:
    """A softmax by hand and what is computed of it: values, and gradients by differences. (The root
    of a probability that underflows has no slope: it is infinite at 0.)
    """
    if name in ("root", "power") and logits != (1.0, 2.0, 3.0):
        logits = (0.0, 30.0, -30.0)
    fn, weights, z = OF_PROBABILITIES[name], np.array([1.0, 2.0, 3.0]), np.array([0.5, -1, 2])
    x = pt.tensor("x", dtype=dtype, shape=(None,))
    q = by_hand(pt.constant(z.astype(dtype)))
    cost = (weights.astype(dtype) * fn(by_hand(x), q, pt.log, pt.sqrt)).sum()
    value, slope = rw.function([x], [cost, rw.grad(cost, x)])(np.array(logits, dtype))

    with mp.workdps(2500):
        functions = [np.frompyfunc(f, 1, 1) for f in (mp.log, mp.sqrt)]
        q = softmax_exactly([mpf(t) for t in z])

        def exactly(*x: Any) -> Any:
            return sum(weights * fn(softmax_exactly(x), q, *functions))

        point, h = [mpf(t) for t in logits], mpf(10) ** -1000
        wanted = [
            float((exactly(*up) - exactly(*down)) / (2 * h))
            for k in range(3)
            for up, down in [[[t + s * h * (i == k) for i, t in enumerate(point)] for s in (1, -1)]]
        ]
        total = float(exactly(*point))
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(value, total, rtol=100 * eps)
    np.testing.assert_allclose(slope, wanted, rtol=300 * eps, atol=30 * eps)


RTOL = {"float64": 1e-12, "float32": 1e-5}
#: functions of a softmax, and their derivatives along t
PUSHED: dict[str, tuple[Any, Any]] = {
    "softmax": (lambda p: p, lambda p, left: p * left),
    "logarithm": (pt.log, lambda p, left: left),
    "square": (pt.sqr, lambda p, left: 2 * p**2 * left),
    "entropy": (lambda p: p * pt.log(p), None),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("spelling", ["op", "by hand"])
@pytest.mark.parametrize("name", PUSHED)
def test_forward_derivatives_where_a_softmax_underflows(
    name: str, spelling: str, dtype: str
) -> None:
    """A slope of log(p) is what p cancels with, which was 0 / 0 or without its first term."""
    make, slope = PUSHED[name]
    x, t = pt.matrices("x t", dtype=dtype)
    e = pt.exp(x)
    p = pt.softmax(x, axis=1) if spelling == "op" else e / e.sum(axis=1, keepdims=True)
    values = np.array([[0.0, 1, 745], [800, 0, -800], [3, 2, 1]], dtype)
    along = np.array([[1.0, 2, 3], [-1, 5, 2], [0.5, 1, -2]], dtype)
    found = rw.function([x, t], Rop(make(p), x, t))(values, along)
    true = softmax(values.astype("float64"), axis=1)
    left = along - (true * along).sum(axis=1, keepdims=True)
    log = log_softmax(values.astype("float64"), axis=1)
    wanted = true * (log + 1) * left if slope is None else slope(true, left)
    np.testing.assert_allclose(found, wanted, rtol=RTOL[dtype], atol=1e-7)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("keepdims", [True, False])
def test_exponentials_of_a_mixture_and_its_slope_are_computed_once(
    dtype: str, keepdims: bool
) -> None:
    x = pt.matrix("x", dtype=dtype)
    loss = pt.logsumexp(x, axis=1, keepdims=keepdims)
    f = rw.function([x], [loss, rw.grad(loss.sum(), x)])
    assert [str(n.op) for n in f.fgraph.toposort() if len(n.outputs) == 2] == [
        "SoftmaxAndLog{axis=(1,)}"
    ]
    assert not any(isinstance(n.op, Softmax | LogSumExp) for n in f.fgraph.toposort())
    at = np.array([[0.5, -1, 2], [800, 801, -800], [-np.inf, 0, -745]], dtype)
    eps = float(np.finfo(dtype).eps)
    found, slope = f(at)
    wanted = logsumexp(at.astype("float64"), axis=1, keepdims=keepdims)
    np.testing.assert_allclose(found, wanted, rtol=4 * eps, atol=1e-300)
    np.testing.assert_allclose(slope, softmax(at.astype("float64"), 1), rtol=1e3 * eps, atol=1e-45)


def test_exponentials_of_a_loss_of_classes_are_computed_once() -> None:
    x, y = pt.dmatrix("x"), pt.lvector("y")
    loss = -pt.log_softmax(x, axis=1)[pt.arange(3), y].sum()
    f = rw.function([x, y], [loss, rw.grad(loss, x)])
    kinds = [type(n.op).__name__ for n in f.fgraph.toposort()]
    assert kinds.count("SoftmaxAndLog") == 1
    assert not {"Softmax", "LogSoftmax"} & set(kinds)
    at, labels = np.array([[0.5, -1, 2], [800, 801, -800], [1, 0, -2]]), np.array([2, 0, 1])
    found, slope = f(at, labels)
    shares = softmax(at, 1)
    np.testing.assert_allclose(found, -(log_softmax(at, 1)[range(3), labels]).sum(), rtol=1e-14)
    np.testing.assert_allclose(slope, shares - np.eye(3)[labels], rtol=1e-13, atol=1e-300)


def test_softmax_and_log_along_other_axes_stay_two() -> None:
    x = pt.dmatrix("x")
    f = rw.function([x], [pt.softmax(x, axis=0), pt.logsumexp(x, axis=1)])
    assert sorted(type(n.op).__name__ for n in f.fgraph.toposort()) == ["LogSumExp", "Softmax"]


@pytest.mark.parametrize("whole", [True, False])
def test_slopes_of_softmax_and_log(whole: bool) -> None:
    both = SoftmaxAndLog(1, whole)
    verify_grad(lambda x: sum((v**2).sum() for v in both(x)), [np.eye(2, 3)])
