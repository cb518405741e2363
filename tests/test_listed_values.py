"""Values that once were wrong, as they were reported: each in the default mode, and unrewritten
where that is right, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import erfcx, log_expit

import rewrite_engine as rw
import rewrite_engine.tensor as pt

Row = tuple[Any, Any, Any, Any]  # variables, term, their values, what is right
ROWS: dict[str, Callable[[], Row]] = {}
INF, NAN = np.inf, np.nan


def row(build: Callable[[], Row]) -> Callable[[], Row]:
    ROWS[build.__name__] = build
    return build


def numbers(*dtypes: str) -> list[Any]:
    return [pt.scalar(name, dtype=d) for name, d in zip("abcd", dtypes, strict=False)]


def check(build: Callable[[], Row], mode: Any) -> None:
    variables, term, given, right = build()
    found = rw.function(variables, term, mode=mode, on_unused_input="ignore")(*given)
    many = term if isinstance(term, list) else [term]
    for v, f, r in zip(
        many,
        found if isinstance(term, list) else [found],
        right if isinstance(term, list) else [right],
        strict=True,
    ):
        f = np.asarray(f)
        assert f.dtype == v.type.numpy_dtype
        assert f.shape == np.shape(r)
        rtol = {"float16": 2e-3, "float32": 1e-5}.get(f.dtype.name, 1e-11)
        np.testing.assert_allclose(f.astype("float64"), r, rtol=rtol)


# --- dtypes ---------------------------------------------------------------------------------------

SMALL = [100, 100, 1]


@row
def sum_of_int8_and_int64() -> Row:
    a, b, n = numbers("int8", "int8", "int64")
    return [a, b, n], [(a + n) + b, pt.add(a, b, n), pt.mul(a, b, n)], SMALL, [201, 201, 10000]


@row
def sum_of_float32_and_float64() -> Row:
    a, d, b = numbers("float32", "float64", "float32")
    big = np.float32(3e38)
    return [a, d, b], (a + d) + b, [big, 1.0, big], 2 * float(big)


@row
def logaddexp_of_int8() -> Row:
    a, b, d = numbers("int8", "int8", "float64")
    return [a, b, d], pt.logaddexp(a, b, d), [100, 100, 1.0], 100 + np.log(2)


@row
def clip_with_wider_bounds() -> Row:
    x, lo = pt.vector("x", dtype="int8"), pt.scalar("lo", dtype="int8")
    hi, f = pt.scalar("hi", dtype="int64"), pt.scalar("f", dtype="float64")
    terms = [pt.clip(x, lo, hi), pt.clip(x, f, hi), pt.clip(x[0], lo, hi), pt.clip(lo, f, hi)]
    given = [[100, -100], 5, 1000, -0.5]
    return [x, lo, hi, f], terms, given, [[100, 5], [100.0, -0.5], 100, 5.0]


@row
def clip_with_bounds_in_the_wrong_order() -> Row:
    x = pt.vector("x")
    return [x], pt.clip(x, 2.0, 1.0), [[0.0, 1.5, 3.0]], np.clip([0.0, 1.5, 3.0], 2.0, 1.0)


@row
def mean_as_int8() -> Row:
    x = pt.vector("x")
    return [x], x.mean(dtype="int8"), [[1.5, 2.5]], np.mean([1.5, 2.5], dtype="int8")


@row
def floats_of_integers() -> Row:
    b, h, i, n = numbers("int8", "int16", "int32", "int64")
    f32 = [pt.exp(b), pt.reciprocal(b), pt.sqrt(h)]
    assert [v.type.dtype for v in f32] == ["float32"] * 3
    f64 = [pt.exp(i), pt.reciprocal(n)]
    assert [v.type.dtype for v in f64] == ["float64"] * 2
    return [b, h, i, n], f32 + f64, [2, 9, 1, 4], [np.exp(2.0), 0.5, 3.0, np.e, 0.25]


@row
def sums_accumulate_in_float64() -> Row:
    x = pt.fvector("x")
    many = np.array([1, 1e8, -1e8], "float32")
    return [x], [x.sum(), x.mean()], [many], [1.0, 1 / 3]


@row
def products_accumulate_in_float64() -> Row:
    x = pt.fvector("x")
    return [x], x.prod(), [np.array([1e30, 1e30, 1e-30, 1e-30], "float32")], 1.0


# --- rules: overflow, NaN, digits -----------------------------------------------------------------


@row
def sum_of_sum() -> Row:
    m = pt.matrix("m")
    return [m], m.sum(axis=0).sum(), [[[1e308, 1e308], [-1e308, -1e308]]], 0.0


@row
def softmax_times_large() -> Row:
    x, v = pt.vector("x", dtype="float16"), pt.vector("v", dtype="float16")
    e = pt.exp(x)
    given = [np.array([5, 5], "float16"), np.array([4e4, 4e4], "float16")]
    half = [2e4, 2e4]
    return (
        [x, v],
        [v * (e / e.sum()), (v * e) / e.sum() * 0, v / e.sum() * e],
        given,
        [half, [NAN, NAN], half],
    )


@row
def softmax_times_large_float32() -> Row:
    x, v = pt.fvector("x"), pt.fvector("v")
    e = pt.exp(x)
    given = [np.array([0, 0], "float32"), np.array([3e38, 3e38], "float32")]
    return [x, v], [v * (e / e.sum()), v / e.sum() * e], given, [[1.5e38] * 2] * 2


@row
def quotient_by_sum_keeps_small_values() -> Row:
    x, y = pt.fvector("x"), pt.fvector("y")
    e = pt.exp(x)
    given = [np.array([-70, 40], "float32"), np.array([1e30, 1], "float32")]
    total = np.exp(-70.0) + np.exp(40.0)
    right = [1e30 * np.exp(-70.0) / total, np.exp(40.0) / total]
    return [x, y], y / e.sum() * e, given, right


@row
def nan_stays_in_factors() -> Row:
    x, y = pt.vectors("x", "y")
    p = pt.exp(y) / pt.exp(y).sum()
    terms = [x / pt.exp(y) * pt.exp(y), x / p * p, x / pt.softmax(y) * pt.softmax(y)]
    return [x, y], terms, [[1.0, 2.0], [NAN, NAN]], [[NAN, NAN]] * 3


@row
def nan_stays_in_like_terms() -> Row:
    x = pt.vector("x")
    return [x], [2 * x + 0 * x, x + 0 * x], [[INF, -INF, 1.0]], [[NAN, NAN, 2.0], [NAN, NAN, 1.0]]


@row
def logarithm_of_reciprocal_root() -> Row:
    x = pt.dscalar("x")
    return [x], pt.log(pt.reciprocal(pt.sqrt(x))), [-0.0], NAN


@row
def constants_in_float16() -> Row:
    h = pt.scalar("h", dtype="float16")
    term = h * np.float16(1e-4) * np.float16(1e-3)
    return [h], term, [1000.0], float(np.float16(1e-4)) * float(np.float16(1e-3)) * 1000


# --- gradients ------------------------------------------------------------------------------------


@row
def gradients_at_ties() -> Row:
    s = pt.dscalar("s")
    terms = [rw.grad(f(s, s), s) for f in (pt.maximum, pt.minimum)]
    return [s], terms, [1.5], [1.0, 1.0]


@row
def gradients_of_branches_not_taken() -> Row:
    x = pt.vector("x")
    root = pt.switch(x >= 0, -pt.sqrt(x), 0)
    density = pt.switch(x > 0, pt.log(x) - x, -INF)
    terms = [rw.grad(t.sum(), x) for t in (root, density)]
    return [x], terms, [[-1.0, 0.0, 4.0][::2]], [[0.0, -0.25], [0.0, -0.75]]


@row
def gradient_of_a_density_at_0() -> Row:
    x = pt.dscalar("x")
    density = pt.switch(x > 0, pt.log(x) - x, -INF)
    return [x], rw.grad(density, x), [0.0], 0.0


@row
def gradient_of_a_number_written_thrice() -> Row:
    b, z = pt.vector("b"), pt.dscalar("z")
    return [b, z], rw.grad(b[[0, 0, 0]].set(z).sum(), z), [[1.0, 2.0], 3.0], 1.0


@row
def second_gradient_of_prod_with_a_zero() -> Row:
    x = pt.vector("x")
    first = rw.grad(x.prod(), x)
    return (
        [x],
        rw.grad((first * np.array([1.0, 2.0, 3.0])).sum(), x),
        [[0.0, 1.0, 2.0]],
        [7.0, 2 * 0.0 + 1 * 2.0 + 0.0, 1 * 1.0],
    )


@row
def gradient_of_log1mexp_at_0() -> Row:
    s = pt.dscalar("s")
    return [s], rw.grad(pt.log1mexp(s), s), [0.0], -INF


@row
def rop_of_an_array_set_by_an_integer() -> Row:
    x = pt.fvector("x")
    v = pt.fvector("v")
    given = [np.array([1, 2], "float32"), np.array([3, 4], "float32")]
    return [x, v], rw.gradient.Rop(x[0].set(1), x, v), given, [0.0, 4.0]


@row
def cost_of_integers() -> Row:
    x = pt.vector("x")
    return [x], rw.grad(pt.argmax(x), x, disconnected_inputs="ignore"), [[1.0, 2.0]], [0.0, 0.0]


# --- saturation -----------------------------------------------------------------------------------


def sigmoids(x: Any) -> list[Any]:
    return [1 / (1 + pt.exp(-x)), pt.sigmoid(x), pt.exp(x) / (1 + pt.exp(x))]


def cross_entropy(dtype: str) -> Row:
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    given = [np.array([1000, -1000, 0.5, 30], dtype), np.array([0, 1, 1, 0], dtype)]
    z, t = (g.astype("float64") for g in given)
    losses = [(-y * pt.log(p) - (1 - y) * pt.log(1 - p)).sum() for p in sigmoids(x)]
    right = -(t * log_expit(z) + (1 - t) * log_expit(-z)).sum()
    slope = np.exp(log_expit(z)) - t
    slope = np.where(t == 1, -np.exp(log_expit(-z)), slope)
    return [x, y], losses + [rw.grad(v, x) for v in losses], given, [right] * 3 + [slope] * 3


@row
def cross_entropy_float64() -> Row:
    return cross_entropy("float64")


@row
def cross_entropy_float32() -> Row:
    return cross_entropy("float32")


@row
def log1p_of_minus_sigmoid() -> Row:
    x = pt.vector("x")
    term = pt.log1p(-pt.sigmoid(x))
    given = np.array([1000.0, 40.0, -1000.0])
    slope = -np.exp(log_expit(given))
    return [x], [term, rw.grad(term.sum(), x)], [given], [log_expit(-given), slope]


@row
def log_of_erfc() -> Row:
    x = pt.vector("x")
    term = pt.log(pt.erfc(x))
    given = np.array([30.0, 1.0, -3.0])
    right = np.log(erfcx(given)) - given**2
    slope = -2 / np.sqrt(np.pi) / erfcx(given)
    return [x], [term, rw.grad(term.sum(), x)], [given], [right, slope]


@row
def logs_of_exponentials() -> Row:
    x, y = pt.dscalars("x", "y")
    terms = [
        pt.log(pt.exp(x) + pt.exp(y) + pt.exp(x - y)),
        pt.log(pt.exp(x) - pt.exp(y)),
        pt.sigmoid(-x) * pt.exp(x),
        pt.log(np.ones(1) + pt.exp(x)),
    ]
    d = [1000.0, 998.0]
    top = 1000 + np.log1p(np.exp(-2.0) + np.exp(-998.0))
    return [x, y], terms, d, [top, 1000 + np.log(-np.expm1(-2.0)), 1.0, [1000.0]]


@row
def sigmoid_times_exponential() -> Row:
    x = pt.vector("x")
    given = [[-1000.0, 3.0]]
    return [x], pt.sigmoid(x) * pt.exp(-x), given, [1.0, np.exp(-3.0) / (1 + np.exp(-3.0))]


@row
def logs_of_ones_and() -> Row:
    x = pt.vector("x")
    n = x.shape[0]
    terms = [pt.log(pt.ones(n) + pt.exp(x)), pt.log([1.0] + x)]
    given = np.array([1e-20, 2e-18])
    return [x], terms, [given], [np.log(2) * np.ones(2), given]


@row
def log_of_ones_and_a_large_exponential() -> Row:
    x = pt.vector("x")
    return [x], pt.log(pt.ones(x.shape[0]) + pt.exp(x)), [[1000.0, -100.0]], [1000, np.exp(-100.0)]


#: right only when they are rewritten
SATURATED = {
    cross_entropy_float64, cross_entropy_float32, log1p_of_minus_sigmoid, log_of_erfc,
    logs_of_exponentials, sigmoid_times_exponential, logs_of_ones_and,
    log_of_ones_and_a_large_exponential,
}  # fmt: skip
UNREWRITTEN = [name for name, build in ROWS.items() if build not in SATURATED]


@pytest.mark.parametrize("name", ROWS)
def test_values_in_the_default_mode(name: str) -> None:
    check(ROWS[name], None)


@pytest.mark.parametrize("name", UNREWRITTEN)
def test_values_unrewritten(name: str) -> None:
    check(ROWS[name], rw.Mode(optimizer=None))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spelling", [0, 1, 2])
def test_logistic_regression_by_hand_trains(dtype: str, spelling: int) -> None:
    rng = np.random.default_rng(0)
    data = (rng.normal(size=(200, 3)) * 300).astype(dtype)
    labels = (data @ np.array([1, -2, 0.5]) > 0).astype(dtype)
    x, y = pt.matrix("x", dtype=dtype), pt.vector("y", dtype=dtype)
    w = rw.shared(np.zeros(3, dtype), "w")
    b = rw.shared(np.zeros((), dtype), "b")
    p = sigmoids(x @ w + b)[spelling]
    cost = (-y * pt.log(p) - (1 - y) * pt.log(1 - p)).mean()
    slopes = rw.grad(cost, [w, b])
    updates = [(v, pt.cast(v - np.asarray(0.1, dtype) * g, dtype)) for v, g in zip([w, b], slopes)]
    step = rw.function([x, y], cost, updates=updates)
    costs = [float(step(data, labels)) for _ in range(50)]
    assert np.isfinite(costs).all()
    assert costs[-1] < costs[0]
    assert np.isfinite(w.get_value()).all()


# --- errors ---------------------------------------------------------------------------------------

FAILING: dict[str, Callable[[Any, Any], Any]] = {
    "switch": lambda x, y: pt.switch(y > 0, x, x),
    "second": lambda x, y: pt.second(x - y, x),
    "shape of a sum": lambda x, y: (x + y).shape[0],
    "shape of rows": lambda x, y: pt.join(0, x[None], y[None]).shape,
    "reshape": lambda x, y: y.reshape((2, -1)).reshape((-1,)),
}


@pytest.mark.parametrize("mode", [None, rw.Mode(optimizer=None)], ids=["default", "unrewritten"])
@pytest.mark.parametrize("name", FAILING)
def test_what_fails_goes_on_failing(name: str, mode: Any) -> None:
    x, y = pt.vectors("x", "y")
    f = rw.function([x, y], FAILING[name](x, y), mode=mode, on_unused_input="ignore")
    with pytest.raises(rw.errors.RewriteEngineError):
        f(np.ones(2), np.ones(3))


def test_a_python_bool_is_no_condition() -> None:
    x = pt.vector("x")
    with pytest.raises(rw.errors.ForeignObjectError, match="Python bool"):
        pt.switch(x == 1, x, 0.0)
