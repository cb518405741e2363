"""Models as people write them, where exponentials overflow: values, gradients, training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import Rop
from rewrite_engine.language import rewritten
from rewrite_engine.rules.powers import read

Z = np.array([0, 1e-8, -1e-8, 0.5, -0.5, 3.25, -3.25, 20, -20, 40, -40, 100, -100, 1000, -1000.0])
LABELS = np.resize([0, 1, 1, 0, 1], len(Z))

PROBABILITY: dict[str, Callable[[Any], Any]] = {
    "1 / (1 + exp(-z))": lambda z: 1 / (1 + pt.exp(-z)),
    "sigmoid": pt.sigmoid,
    "exp(z) / (1 + exp(z))": lambda z: pt.exp(z) / (1 + pt.exp(z)),
    "e / (1 + e)": lambda z: (e := pt.exp(z)) / (1 + e),
    "reciprocal": lambda z: pt.reciprocal(pt.exp(-z) + 1.0),
    "power": lambda z: (1 + pt.exp(-z)) ** -1,
    "tanh": lambda z: 0.5 * (1 + pt.tanh(0.5 * z)),
    "of two": lambda z: pt.exp(z / 2) / (pt.exp(z / 2) + pt.exp(-z / 2)),
}
LOSS: dict[str, Callable[[Any, Any], Any]] = {
    "difference": lambda p, y: -y * pt.log(p) - (1 - y) * pt.log(1 - p),
    "sum": lambda p, y: -(y * pt.log(p) + (1 - y) * pt.log(1 - p)),
    "log1p": lambda p, y: -y * pt.log(p) - (1 - y) * pt.log1p(-p),
    "choice": lambda p, y: pt.switch(pt.eq(y, 1), -pt.log(p), -pt.log(1 - p)),
    "inner choice": lambda p, y: -pt.log(pt.switch(pt.eq(y, 1), p, 1 - p)),
}


def value_and_slope(term: Any, inputs: list[Any], values: list[Any]) -> list[Any]:
    """A term and the gradient of its sum by the first input."""
    f = rw.function(inputs, [term, rw.grad(term.sum(), inputs[0])])
    return f(*values)


def close(found: Any, wanted: Any, dtype: str, scale: float = 1.0) -> None:
    """As near as the dtype allows."""
    eps = scale * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(found, wanted, rtol=20 * eps, atol=4 * eps)


@pytest.mark.parametrize(
    "dtypes", ["float64 int64", "float64 float64", "float32 float32", "float32 bool"]
)
@pytest.mark.parametrize("loss", LOSS)
@pytest.mark.parametrize("probability", PROBABILITY)
def test_logistic_regression(probability: str, loss: str, dtypes: str) -> None:
    dtype, of_labels = dtypes.split()
    z, y = pt.vector("z", dtype=dtype), pt.vector("y", dtype=of_labels)
    given = y if of_labels != "bool" else pt.cast(y, dtype)
    term = LOSS[loss](PROBABILITY[probability](z), given)
    value, slope = value_and_slope(term, [z, y], [Z.astype(dtype), LABELS.astype(of_labels)])
    close(value, np.logaddexp(0, np.where(LABELS, -Z, Z)), dtype)
    close(slope, special.expit(Z) - LABELS, dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("probability", ["exp(z) / (1 + exp(z))", "e / (1 + e)", "sigmoid"])
def test_one_half_of_a_loss(probability: str, dtype: str) -> None:
    z, y = pt.vectors("z y", dtype=dtype)
    p = PROBABILITY[probability](z)
    for term, wanted in (
        (-(1 - y) * pt.log(1 - p), (1 - LABELS) * special.expit(Z)),
        (-y * pt.log(p), -LABELS * special.expit(-Z)),
    ):
        _, slope = value_and_slope(term, [z, y], [Z.astype(dtype), LABELS.astype(dtype)])
        close(slope, wanted, dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("loss", LOSS)
def test_a_predictor_that_is_written_twice(loss: str, dtype: str) -> None:
    """The gradients along both ways are one before they go through the product and the sum."""
    a, w, y = pt.matrix("a", dtype=dtype), pt.vector("w", dtype=dtype), pt.vector("y")
    b = pt.scalar("b", dtype=dtype)
    p = pt.exp(a @ w + b) / (1 + pt.exp(a @ w + b))
    f = rw.function([a, w, b, y], rw.grad(LOSS[loss](p, y).sum(), [w, b]))
    data, labels = np.array([[1000, 0], [-1000, 1], [3, 2]], dtype), np.array([0.0, 1, 1])
    residual = special.expit(data @ [1.0, 1] + 0.5) - labels
    found = f(data, np.ones(2, dtype), np.asarray(0.5, dtype), labels)
    for value, wanted in zip(found, [data.T @ residual, residual.sum()], strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-5 if dtype == "float32" else 1e-12)


#: what functions lack to a number, in one order and in the other: (theirs, the same without a loss)
LACKING: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "1 - sigmoid": (lambda z: 1 - pt.sigmoid(z), lambda z: special.expit(-z)),
    "1 - erf": (lambda z: 1 - pt.erf(z), special.erfc),
    "1 + erf": (lambda z: 1 + pt.erf(z), lambda z: special.erfc(-z)),
    "1 - normal cdf": (lambda z: 1 - 0.5 * (1 + pt.erf(z)), lambda z: 0.5 * special.erfc(z)),
    "2 - erfc": (lambda z: 2 - pt.erfc(z), lambda z: special.erfc(-z)),
    "1 - erfc": (lambda z: 1 - pt.erfc(z), special.erf),
    "1 - exp": (lambda z: 1 - pt.exp(z), lambda z: -np.expm1(z)),
    "1 - 2 sigmoid": (lambda z: 1 - 2 * pt.sigmoid(z), lambda z: -np.tanh(z / 2)),
}
MULTIPLES: dict[str, Callable[[Any], Any]] = {
    "itself": lambda v: v,
    "its opposite": lambda v: -v,
    "six": lambda v: 6 * v,
    "half": lambda v: v / -2,
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("multiple", MULTIPLES)
@pytest.mark.parametrize("name", LACKING)
def test_what_lacks_to_a_number_has_its_digits(name: str, multiple: str, dtype: str) -> None:
    make, true = LACKING[name]
    z = pt.vector("z", dtype=dtype)
    values = np.array([-12.0, -3, -1e-6, 1e-6, 3, 9], dtype)
    found = rw.function([z], MULTIPLES[multiple](make(z)))(values)
    wanted, info = MULTIPLES[multiple](true(values.astype("float64"))), np.finfo(dtype)
    np.testing.assert_allclose(found, wanted, rtol=200 * info.eps, atol=info.tiny)


def test_the_logarithm_of_what_a_power_lacks_to_one() -> None:
    x = pt.dvector("x")
    log = pt.log(1 - pt.sqr(pt.sigmoid(x) * pt.exp(-x)))
    f = rw.function([x], [log, rw.grad(log.sum(), x), Rop(log, x, pt.ones_like(x))])
    at = np.array([-700.0, -40, 1, 700])
    wanted = special.log_expit(at) + np.log1p(special.expit(-at))
    slope = special.expit(-at) * (1 - special.expit(at) / (1 + special.expit(-at)))
    for found, true in zip(f(at), [wanted, slope, slope], strict=True):
        np.testing.assert_allclose(found, true, rtol=1e-12, atol=1e-290)


@pytest.mark.parametrize(
    ("make", "true"),
    [
        (lambda z, y: y - y * pt.erf(z), lambda z, y: y * special.erfc(z)),
        (lambda z, y: 6 * y - 3 * y * pt.erfc(z), lambda z, y: 3 * y * special.erfc(-z)),
        (lambda z, y: y * pt.exp(z) - y, lambda z, y: y * np.expm1(z)),
        (lambda z, y: pt.tanh(z) * y * 2 - y * 2, lambda z, y: -4 * y * special.expit(-2 * z)),
        (lambda z, y: (1 - pt.erf(z)) / (pt.erf(z) - 1) * y, lambda z, y: -y),
    ],
)
def test_what_lacks_to_a_multiple(make: Any, true: Any) -> None:
    z, y = pt.dvectors("z y")
    given = np.array([-12.0, -1e-6, 1e-6, 3, 9]), np.array([1.0, -2, 3, 1e-3, 0.3])
    np.testing.assert_allclose(rw.function([z, y], make(z, y))(*given), true(*given), rtol=1e-13)


NORMAL: dict[str, Callable[[Any], Any]] = {
    "erf": lambda z: 0.5 * (1 + pt.erf(z / 2**0.5)),
    "parts": lambda z: 0.5 + 0.5 * pt.erf(z * 0.5**0.5),
    "erfc": lambda z: 0.5 * pt.erfc(-z / 2**0.5),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("loss", ["difference", "sum", "log1p", "choice"])
@pytest.mark.parametrize("probability", NORMAL)
def test_probit_regression(probability: str, loss: str, dtype: str) -> None:
    z, y = pt.vector("z", dtype=dtype), pt.vector("y", dtype=dtype)
    term = LOSS[loss](NORMAL[probability](z), y)
    value, slope = value_and_slope(term, [z, y], [Z.astype(dtype), LABELS.astype(dtype)])
    signed = np.where(LABELS, Z, -Z)
    close(value, -special.log_ndtr(signed), dtype, 10)
    ratio = np.exp(stats.norm.logpdf(signed[:-2]) - special.log_ndtr(signed[:-2]))
    close(slope[:-2], np.where(LABELS, -1, 1)[:-2] * ratio, dtype, 1e4)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("probability", ["1 / (1 + exp(-z))", "sigmoid", "exp(z) / (1 + exp(z))"])
def test_training_stays_finite(probability: str, dtype: str) -> None:
    """Steps that are far too long: logits of thousands after the first one."""
    rng = np.random.default_rng(0)
    data = (rng.normal(size=(60, 3)) * 30).astype(dtype)
    target = (data @ [1, -2, 0.5] > 0).astype(dtype)
    x, y = pt.matrix("x", dtype=dtype), pt.vector("y", dtype=dtype)
    w, b = rw.shared(np.zeros(3, dtype)), rw.shared(np.zeros((), dtype))
    p = PROBABILITY[probability](x @ w + b)
    loss = (-y * pt.log(p) - (1 - y) * pt.log(1 - p)).mean() + 1e-3 * (w**2).sum()
    steps = [(v, pt.cast(v - 10.0 * rw.grad(loss, v), dtype)) for v in (w, b)]
    train = rw.function([x, y], loss, updates=steps)
    losses = [float(train(data, target)) for _ in range(100)]
    assert np.isfinite(losses).all()
    assert np.isfinite(w.get_value()).all()
    assert min(losses) <= losses[0]


x, y, a = pt.vectors("x y a")
FINITE: dict[str, tuple[Any, list[Any], Any, Any]] = {
    "log1p(-sigmoid(x))": (pt.log1p(-pt.sigmoid(x)), [800.0], -800.0, -1.0),
    "log(erfc(x))": (pt.log(pt.erfc(x)), [40.0], -1604.2615566532736, -80.02498439935778),
    "log of three": (
        pt.log(pt.exp(x) + pt.exp(y) + pt.exp(x - y)), [1000.0, 999.0], 1000.3132616875183,
        0.7310585786300049,
    ),
    "log of a difference": (
        pt.log(pt.exp(x) - pt.exp(y)), [1000.0, 999.0], 999.5413248546129, 1.5819767068693265,
    ),
    "sigmoid(x) * exp(-x)": (pt.sigmoid(x) * pt.exp(-x), [-1000.0], 1.0, 0.0),
    "log(ones + exp(x))": (pt.log(pt.ones_like(x) + pt.exp(x)), [1000.0], 1000.0, 1.0),
    "log([1.] + exp(x))": (pt.log(np.ones(1) + pt.exp(x)), [1000.0], 1000.0, 1.0),
    "log(1 - exp(-x))": (pt.log(1 - pt.exp(-x)), [1e-20], -46.051701859880914, 1e20),
    "log(tanh(x))": (pt.log(pt.tanh(x)), [1.5], np.log(np.tanh(1.5)), 2 / np.sinh(3.0)),
    "log(cosh(x))": (pt.log(pt.cosh(x)), [-1000.0], 999.3068528194401, -1.0),
    "log(sinh(x))": (pt.log(pt.sinh(x)), [1000.0], 999.3068528194401, 1.0),
    "log(expm1(x))": (pt.log(pt.expm1(x)), [1000.0], 1000.0, 1.0),
    "log(1 - tanh(x)**2)": (pt.log(1 - pt.tanh(x) ** 2), [500.0], -998.6137056388801, -2.0),
    "exp(x) / exp(y)": (pt.exp(x) / pt.exp(y), [1000.0, 999.0], np.e, np.e),
    "exp(x) * exp(y)": (pt.exp(x) * pt.exp(y), [1000.0, -1000.0], 1.0, 1.0),
    "sqrt(exp(x))": (pt.sqrt(pt.exp(x)), [1000.0], np.exp(500.0), np.exp(500.0) / 2),
    "log(exp(x)**2)": (pt.log(pt.exp(x) ** 2), [1000.0], 2000.0, 2.0),
    "logit of sigmoid": (pt.log(pt.sigmoid(x) / (1 - pt.sigmoid(x))), [-900.0], -900.0, 1.0),
    "weights with signs": (pt.log(2 * pt.exp(x) - pt.exp(y)), [1000.0, 1000.0], 1000.0, 2.0),
    "tanh with exponentials": (
        (pt.exp(x) - pt.exp(-x)) / (pt.exp(x) + pt.exp(-x)), [-1000.0], -1.0, 0.0,
    ),
    "a mixture of normals": (
        pt.log(0.5 * pt.exp(-0.5 * (x - 1) ** 2) + 0.5 * pt.exp(-0.5 * (x + 1) ** 2)), [-100.0],
        -4901.1931471805599, 99.0,
    ),
    "negative binomial": (
        3 * pt.log(pt.exp(x) / (pt.exp(x) + 2)) + 2 * pt.log(2 / (pt.exp(x) + 2)), [1000.0],
        -1998.6137056388801, -2.0,
    ),
    "survival of some": (
        pt.log(0.3 + 0.7 * pt.exp(-pt.exp(x))), [1000.0], np.log(0.3), 0.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FINITE)
def test_what_is_finite_is_found(name: str) -> None:
    term, at, value, slope = FINITE[name]
    inputs = [v for v in (x, y) if v in rw.graph.traverse.graph_inputs([term])]
    found = value_and_slope(term, inputs, [np.array([v]) for v in at])
    np.testing.assert_allclose([found[0][0], found[1][0]], [value, slope], rtol=1e-12)


def test_nan_stays() -> None:
    """What cancels may have been NaN."""
    p = 1 / (1 + pt.exp(-y))
    loss = -x * pt.log(p) - (1 - x) * pt.log(1 - p)
    terms = [
        x / pt.exp(y) * pt.exp(y),
        (x / pt.sigmoid(y) - 2) * pt.sigmoid(y),
        x / (1 + pt.exp(y)) * pt.exp(y),
        x / (pt.exp(x) + pt.exp(y)) * (pt.exp(x) + pt.exp(y)),
        pt.log(pt.exp(y) / pt.exp(y)),
        pt.exp(x) * pt.exp(y - x),
        loss,
        rw.grad(loss.sum(), y),
    ]
    for term in terms:
        inputs = [v for v in (x, y) if v in rw.graph.traverse.graph_inputs([term])]
        values = [np.array([0.5, 0.5]) if v is x else np.array([np.nan, 0.25]) for v in inputs]
        found = rw.function(inputs, term)(*values)
        assert np.isnan(found).tolist() == [True, False], rewritten(term)
    assert np.isnan(rw.function([x], pt.log(pt.reciprocal(pt.sqrt(x))))([-0.0, 1.0])).tolist() == [
        True, False
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "large", "small"), [("float32", 1e22, 1e-25), ("float16", 6e4, 2e-3)]
)
def test_numbers_that_a_dtype_does_not_have_are_not_taken_together(
    dtype: str, large: float, small: float
) -> None:
    """The square of the small one is 0, that of the large one infinite."""
    v = pt.vector("v", dtype=dtype)
    c = np.dtype(dtype).type(small)
    u = large * small
    wanted = {
        pt.log(pt.exp(pt.sqr(v * c)) * pt.exp(v * c)): u * u + u,
        pt.log(pt.exp(v * c * c) * pt.exp(v * c)): u * small + u,
        pt.log(pt.exp(-pt.sqr(v * c)) / pt.sigmoid(v * c)): np.log1p(np.exp(-u)) - u * u,
    }
    for term, value in wanted.items():
        found = rw.function([v], term)(np.array([large], dtype))
        np.testing.assert_allclose(found, [value], rtol=100 * np.finfo(dtype).eps)


def test_products_in_arguments_stay_in_their_order() -> None:
    """x / y * y / z is not x * y / (y * z), which overflows where it does not."""
    z = pt.vector("z")
    v = x / y * y / z
    f = rw.function([x, y, z], [pt.sigmoid(v) * pt.exp(-v), pt.sigmoid(2 * v) / pt.exp(v)])
    found = f(np.array([2.0]), np.array([-1.6e308]), np.array([2.0]))
    wanted = [[1 / (1 + np.e)], [np.exp(1) / (1 + np.exp(2))]]
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert str(rewritten(pt.sigmoid(v) * pt.exp(-v))) == "sigmoid(-(x / y * y / z))"


def test_a_sign_that_is_not_known_is_left_alone() -> None:
    assert str(rewritten(pt.log(pt.exp(x) * y))) == "x + log(y)"  # one sign: that of the product
    for term in (pt.log(x * y), pt.log(x / y), pt.log(pt.exp(x) + y)):
        assert "log(" in str(rewritten(term))
        assert "+ log" not in str(rewritten(term))


def test_factors_in_between_stay_in_their_order() -> None:
    """Nothing overflows on the way that did not before."""
    z, u, v = pt.vectors("z u v")
    f = rw.function([x, y, z, u, v], x / pt.exp(y) * z * u * v * pt.exp(y))
    given = [1e200, 460.0, 1e200, 1e-150, 1e-150]
    np.testing.assert_allclose(f(*[np.array([g]) for g in given]), 1e100, rtol=1e-10)


@pytest.mark.parametrize("outer", [pt.sigmoid, pt.erfc, lambda v: pt.exp(pt.sqr(v)), pt.exp])
def test_an_argument_that_is_0_is_no_multiple(outer: Any) -> None:
    x, y = pt.vectors("x y")
    for other in (pt.exp(-y), pt.sigmoid(y - y), pt.erfc(x)):
        term = outer(x - x) * other
        f = rw.function([x, y], term, on_unused_input="ignore")
        plain = rw.function(
            [x, y], term, mode=rw.Mode("py", optimizer=None), on_unused_input="ignore"
        )
        np.testing.assert_allclose(f([0.5, -2.0], [1.0, 3.0]), plain([0.5, -2.0], [1.0, 3.0]))


def test_arguments_are_computed_in_the_dtype_of_the_whole():
    x, y = pt.dvector("x"), pt.tensor("y", dtype="float16", shape=(None,))
    narrow = y * pt.constant(np.array(-0.552))
    for term in (pt.log(pt.sqr(x) / pt.exp(narrow)), pt.log(pt.exp(narrow - x) * x)):
        plain = rw.function([x, y], term, mode=rw.Mode("py", optimizer=None))
        given = np.array([1.0]), np.array([1.0], "float16")
        np.testing.assert_allclose(rw.function([x, y], term)(*given), plain(*given), rtol=1e-14)


SIGNED: dict[str, Callable[[Any, Any], Any]] = {
    "-z * y": lambda z, y: -z * y,
    "z * -y": lambda z, y: z * -y,
    "-(z * y)": lambda z, y: -(z * y),
    "-1 * z * y": lambda z, y: -1 * z * y,
    "(-z / 2) * (2 * y)": lambda z, y: (-z / 2) * (2 * y),
    "-z / y": lambda z, y: -z / y,
    "y * dot(-X, w)": lambda z, y: -y * pt.dot(pt.eye(len(Z)), z),
}
LOGISTIC: dict[str, Callable[[Any], Any]] = {
    "log(1 + exp)": lambda u: pt.log(1 + pt.exp(u)),
    "log1p(exp)": lambda u: pt.log1p(pt.exp(u)),
    "-log(sigmoid)": lambda u: -pt.log(pt.sigmoid(-u)),
    "-log(1 / (1 + exp))": lambda u: -pt.log(1 / (1 + pt.exp(u))),
}


@pytest.mark.parametrize("loss", LOGISTIC)
@pytest.mark.parametrize("argument", SIGNED)
def test_labels_that_are_signs(argument: str, loss: str) -> None:
    """Where the minus stands in a product does not matter."""
    z, y = pt.vectors("z y")
    signs = 2.0 * LABELS - 1
    value, slope = value_and_slope(LOGISTIC[loss](SIGNED[argument](z, y)), [z, y], [Z, signs])
    close(value, np.logaddexp(0, -Z * signs), "float64")
    close(slope, -signs * special.expit(-Z * signs), "float64")


@pytest.mark.parametrize("loss", LOGISTIC)
@pytest.mark.parametrize("argument", SIGNED)
def test_labels_that_are_constants(argument: str, loss: str) -> None:
    """Signs are folded into an array of constants wherever it stands."""
    z, signs = pt.vector("z"), 1.0 - 2.0 * LABELS
    y = pt.constant(signs)
    for u, s in ((SIGNED[argument](z, y), signs), (z * y, -signs), (3.0 + z * y, -signs)):
        value, slope = value_and_slope(LOGISTIC[loss](u), [z], [Z])
        number = 3.0 * (u.owner.op is pt.add)
        close(value, np.logaddexp(0, number - Z * s), "float64")
        close(slope, -s * special.expit(number - Z * s), "float64")


def test_a_difference_of_large_numbers_stays_one() -> None:
    """exp(x) exp(exp(x) - exp(x)) is exp(x): beside 1e17, x would be lost."""
    x, y = pt.vectors("x y")
    big = pt.maximum(pt.exp(x), y)
    found = rw.function([x, y], pt.exp(x) * pt.exp(pt.exp(x) - big))([40.0, 1.0], [0.0, 1.0])
    np.testing.assert_allclose(found, np.exp([40.0, 1.0]), rtol=1e-13)


@pytest.mark.parametrize("step", [
    lambda t, x: pt.exp(t) * x + t,
    lambda t, x: t - t * pt.sigmoid(x),
])  # fmt: skip
def test_long_chains_of_sums_take_linear_work(
    step: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0
    first = read.power_record.fn

    def counted(v: Any) -> Any:
        nonlocal made
        made += 1
        return first(v)

    monkeypatch.setattr(read.power_record, "fn", counted)
    counts = []
    for n in (40, 160):
        x, y = pt.vectors("x y")
        t = y
        for _ in range(n):
            t = step(t, x)
        made = 0
        rw.function([x, y], t)
        counts.append(made)
    assert 0 < counts[1] < 5 * counts[0]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8"])
def test_functions_of_integers(dtype: str) -> None:
    n = pt.tensor("n", dtype=dtype, shape=(None,))
    rest = 1 - pt.sqr(pt.tanh(n))
    f = rw.function([n], [rest * pt.exp(n), pt.log1p(-pt.sqr(pt.tanh(n)))])
    product, log = f(np.array([0, 1, 2], dtype))
    wanted = 1 / np.cosh([0.0, 1.0, 2.0]) ** 2
    np.testing.assert_allclose(product, wanted * np.exp([0, 1, 2]), rtol=1e-5)
    np.testing.assert_allclose(log, np.log(wanted), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8", "uint8"])
def test_exponentials_of_integers_are_those_of_floats(dtype: str) -> None:
    n = pt.tensor("n", dtype=dtype, shape=(None,))
    f = rw.function([n], [pt.log(pt.exp(n)), pt.log(3 * pt.exp(n)), 1 / (1 + pt.exp(n))])
    largest = float(np.iinfo(dtype).max)
    found = f(np.array([0, 2, np.iinfo(dtype).max], dtype))
    kind = found[0].dtype
    assert kind == ("float32" if dtype.endswith("int8") else "float64")
    np.testing.assert_allclose(found[0], np.array([0, 2, largest], kind))
    np.testing.assert_allclose(found[1], np.log(3) + np.array([0, 2, largest]), rtol=1e-6)
    np.testing.assert_allclose(
        found[2], special.expit([-0.0, -2.0, -largest]), rtol=1e-6, atol=1e-38
    )


OF_ANY_SIGN: dict[str, Callable[[Any], Any]] = {
    "1 - exp": lambda x: 1 - pt.exp(x),
    "exp - 2": lambda x: pt.exp(x) - 2,
    "expm1": pt.expm1,
    "tanh": pt.tanh,
    "sinh": pt.sinh,
    "switch": lambda x: pt.switch(x > 0, -pt.exp(x), pt.exp(x)),
    "count": lambda x: pt.switch(x > 0, 0.0, 2.0),
    "exp": pt.exp,
}


@pytest.mark.parametrize("second", OF_ANY_SIGN)
@pytest.mark.parametrize("first", list(OF_ANY_SIGN)[:-2])
def test_a_logarithm_of_factors_of_which_several_have_a_sign(first: str, second: str) -> None:
    """Two signs cancel; 0 has none, whatever is beside it."""
    x, y = pt.vectors("x", "y")
    values = (
        np.array([-2.0, -1.0, 0.0, 1.0, 2.0]).repeat(5),
        np.array([-2.0, -1.0, 0.0, 1.0, 2] * 5),
    )
    term = OF_ANY_SIGN[first](x) * OF_ANY_SIGN[second](y)
    terms = [term, OF_ANY_SIGN[first](x) / pt.exp(y)]
    f = rw.function([x, y], [pt.log(t) for t in terms])
    plain = rw.function([x, y], terms, mode=rw.Mode(optimizer=None))
    for found, product in zip(f(*values), plain(*values), strict=True):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(found, np.log(product), rtol=1e-9, atol=1e-15)


def test_a_logarithm_of_a_sum_keeps_the_digits_of_its_widest_term() -> None:
    x = pt.fscalar("x")
    term = pt.log(pt.exp(x) + np.exp(np.float64(8.924418933)))
    found = rw.function([x], term)(np.float32(0.0))
    assert found.dtype == "float64"
    np.testing.assert_allclose(found, np.log(1 + np.exp(8.924418933)), rtol=1e-14)


WEIGHTS: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda w: pt.constant([0.3, 0.2, 0.5]),
    "absolute": abs,
    "squares": pt.sqr,
    "softmax": pt.softmax,
    "by hand": lambda w: pt.exp(w) / pt.exp(w).sum(),
    "sigmoid": pt.sigmoid,
    "rates": lambda w: pt.exp(-0.5 * w**2) / pt.exp(w),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "sizes", [(1.0, -2.0, 3.0), (1000.0, -1000.0, 998.0), (-800.0, -900.0, -805)]
)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_logarithms_of_mixtures(weights: str, sizes: Any, dtype: str) -> None:
    """log(sum(w * exp(x))) for weights that are not negative, and its gradients."""
    x, w = (pt.tensor(name, dtype=dtype, shape=(None,)) for name in "xw")
    factor = WEIGHTS[weights](w).astype(dtype)
    cost = pt.log((factor * pt.exp(x)).sum())
    slopes = rw.grad(cost, [x, w], disconnected_inputs="ignore")
    f = rw.function([x, w], [cost, *slopes, factor])
    values = np.array([0.5, -1.0, 2.0], dtype)
    value, by_x, by_w, b = f(np.array(sizes, dtype), values)
    eps = float(np.finfo(dtype).eps)
    a = np.array(sizes, np.longdouble)
    wanted = special.logsumexp(a + np.log(b.astype(np.longdouble)))
    np.testing.assert_allclose(value, wanted, rtol=16 * eps)
    shares = np.exp(a + np.log(b.astype(np.longdouble)) - wanted)
    np.testing.assert_allclose(by_x, shares, rtol=2000 * eps, atol=8 * eps)
    if weights in ("absolute", "squares"):
        slope = {"absolute": np.sign(values), "squares": 2 * values}[weights]
        np.testing.assert_allclose(by_w, shares / b * slope, rtol=2000 * eps, atol=8 * eps)


@pytest.mark.parametrize("top", [0.0, 1000.0])
def test_the_slope_of_a_mixture_with_weights_of_any_sign(top: float) -> None:
    x, w = pt.vectors("x", "w")
    cost = pt.log((w * pt.exp(x)).sum())
    f = rw.function([x, w], rw.grad(cost, [x, w]))
    by_x, by_w = f([top, top - 1, top - 2], [1.0, -0.5, 2.0])
    e = np.exp([0.0, -1.0, -2.0])
    total = (e * [1.0, -0.5, 2.0]).sum()
    np.testing.assert_allclose(by_x, e * [1.0, -0.5, 2.0] / total)
    np.testing.assert_allclose(by_w, e / total)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("weights", [np.ones(1), np.ones(4), np.array([1.0, 2.0, 3.0, 4.0])])
def test_the_slope_of_a_sigmoid_by_hand(weights: Any, dtype: str) -> None:
    x = pt.vector("x", dtype=dtype)
    p = pt.exp(x) / (1 + pt.exp(x))
    for cost in (p * weights.astype(dtype)).sum(), p.sum(), -p.sum(), (2 * p).sum():
        slope = rw.function([x], rw.grad(cost, x))(np.array([745.0, 3, -3, -745], dtype))
        assert np.isfinite(slope).all()
    values = special.expit([3.0, -3.0])
    np.testing.assert_allclose(slope[[1, 2]], 2 * values * values[::-1], rtol=1e-5)
    assert abs(slope[[0, 3]]).max() < 1e-30


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "by_hand",
    [
        lambda x: (pt.exp(2 * x) - 1) / (pt.exp(2 * x) + 1),
        lambda x: (pt.exp(x) - pt.exp(-x)) / (pt.exp(x) + pt.exp(-x)),
        lambda x: 2 / (1 + pt.exp(-2 * x)) - 1,
    ],
)
def test_a_tangent_by_hand(by_hand: Any, dtype: str) -> None:
    x = pt.vector("x", dtype=dtype)
    y = by_hand(x)
    value, slope = rw.function([x], [y, rw.grad(y.sum(), x)])(np.array([-500, -1, 0.5, 500], dtype))
    np.testing.assert_allclose(value, np.tanh([-500, -1, 0.5, 500]), rtol=1e-6)
    np.testing.assert_allclose(slope, 1 / np.cosh([-500, -1, 0.5, 500]) ** 2, rtol=1e-5, atol=1e-38)


def test_a_difference_over_itself_is_not_multiplied_out() -> None:
    """Nearly equal numbers cancel above and below the bar alike."""
    x, y = pt.scalars("x", "y")
    for e in pt.exp(y), pt.sqrt(pt.exp(y)), pt.sqr(pt.exp(y)):
        value = rw.function([y], e)(5.0)
        quotient = rw.function([x, y], (x - e) / (x - e))
        assert quotient(value * (1 + 1e-13), 5.0) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda x, n: pt.log(pt.sigmoid(x) * n),
        lambda x, n: pt.log(pt.exp(x) / n),
        lambda x, n: pt.log(pt.sqrt(n * pt.exp(x))),
        lambda x, n: pt.log1p(n * pt.exp(x)),
        lambda x, n: pt.log(n * pt.exp(x) + n),
        lambda x, n: pt.log((n * pt.exp(x)).sum()),
        lambda x, n: pt.log(pt.switch(x > 0, n * pt.exp(x), n)),
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "bool", "float32"])
def test_logarithms_of_narrower_factors_have_the_digits_of_the_product(
    make: Any, dtype: str
) -> None:
    """log(n) of a small integer is a float32."""
    x, n = pt.dvector("x"), pt.scalar("n", dtype=dtype)
    given, factor = np.array([-0.5, 0.0, 2.0]), np.array(1 if dtype == "bool" else 101, dtype)
    wide = pt.dscalar("n")
    found = rw.function([x, n], make(x, n))(given, factor)
    wanted = rw.function([x, wide], make(x, wide), mode="fast_compile")(given, float(factor))
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
