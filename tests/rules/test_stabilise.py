"""Formulas as people write them, where rounding or overflow would ruin them: against 400 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import special

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import grad
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.judge.exact import exact
from rewrite_engine.judge.reference import DIGITS, errors
from rewrite_engine.pipeline.phases import optimizer
from tests.rewrite.test_inplace import run

mp.dps = DIGITS

x = pt.vector("x")
TINY = np.array([1e-300, 1e-30, -1e-30, 1e-17, -1e-17, 1e-12, -3e-9, 1e-5, -0.01, 0.3])
WIDE = np.array([-1000.0, -700.5, -50.3, -3.25, -1e-10, 0.0, 1e-10, 2.5, 47.1, 700.3, 1000.0])
BELOW = np.array([-1e-300, -1e-20, -1e-9, -0.3, -0.6931, -0.7, -5.5, -40.2, -700.1])


def rewritten(inputs: list[Any], outputs: list[Any], values: list[Any]) -> list[Any]:
    """The outputs after the whole pipeline."""
    graph = FunctionGraph(inputs, outputs)
    optimizer().rewrite(graph)
    graph.check_integrity()
    with np.errstate(all="ignore"):
        return [np.asarray(v) for v in run(graph, [v.copy() for v in values])]


def log1p(v: Any) -> Any:
    return mp.log(1 + v)


def sigmoid(v: Any) -> Any:
    return 1 / (1 + mp.exp(-v))


def softplus(v: Any) -> Any:
    return mp.log(1 + mp.exp(v))


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Any]] = {
    "log(1 + x)": (lambda v: pt.log(1 + v), log1p, TINY),
    "log(x + 1)": (lambda v: pt.log(v + 1.0), log1p, TINY),
    "log(1 - x)": (lambda v: pt.log(1 - v), lambda v: log1p(-v), TINY),
    "exp(x) - 1": (lambda v: pt.exp(v) - 1, lambda v: mp.exp(v) - 1, TINY),
    "1 - exp(x)": (lambda v: 1 - pt.exp(v), lambda v: 1 - mp.exp(v), TINY),
    "log(1 + exp(x))": (lambda v: pt.log(1 + pt.exp(v)), softplus, WIDE),
    "log(1 + exp(-x))": (lambda v: pt.log(1 + pt.exp(-v)), lambda v: softplus(-v), WIDE),
    "log(1 - exp(x))": (lambda v: pt.log(1 - pt.exp(v)), lambda v: log1p(-mp.exp(v)), BELOW),
    "1 / (1 + exp(-x))": (lambda v: 1 / (1 + pt.exp(-v)), sigmoid, WIDE),
    "1 / (1 + exp(x))": (lambda v: 1 / (1 + pt.exp(v)), lambda v: sigmoid(-v), WIDE),
    "exp(x) / (1 + exp(x))": (lambda v: pt.exp(v) / (1 + pt.exp(v)), sigmoid, WIDE),
    "1 - sigmoid(x)": (lambda v: 1 - pt.sigmoid(v), lambda v: sigmoid(-v), WIDE),
    "log(sigmoid(x))": (lambda v: pt.log(pt.sigmoid(v)), lambda v: -softplus(-v), WIDE),
    "log(1 - sigmoid(x))": (lambda v: pt.log(1 - pt.sigmoid(v)), lambda v: -softplus(v), WIDE),
    "log(1/(1+exp(-x)))": (lambda v: pt.log(1 / (1 + pt.exp(-v))), lambda v: -softplus(-v), WIDE),
    "log(exp(x))": (lambda v: pt.log(pt.exp(v)), lambda v: v, WIDE),
    "sqrt(x**2)": (lambda v: pt.sqrt(v**2), abs, np.array([1e-200, -1e200, 0.5])),
    "log(exp(x) + exp(-x))": (
        lambda v: pt.log(pt.exp(v) + pt.exp(-v)),
        lambda v: mp.log(mp.exp(v) + mp.exp(-v)),
        WIDE,
    ),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_accuracy(name: str, dtype: str) -> None:
    term, truth, values = CASES[name]
    v = pt.vector("v", dtype=dtype)
    with np.errstate(all="ignore"):
        values = values.astype(dtype)
    values = values[np.abs(values) > 0] if values is not WIDE else values
    (found,) = rewritten([v], [term(v)], [values])
    assert found.dtype == dtype
    wanted = np.array([truth(mpf(float(a))) for a in values], object)
    normal = np.array([abs(w) > np.finfo(dtype).tiny or w == 0 for w in wanted])
    assert errors(found[normal], wanted[normal]).max() <= 4


def matrix(scale: float) -> Any:
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(3, 4)) * scale, [[1000.0, -1000.0, 999.0, 0.0]]])


m, t = pt.matrix("m"), pt.matrix("t")
SOFTMAX: dict[str, Callable[[Any], Any]] = {
    "written": lambda z: pt.exp(z) / pt.exp(z).sum(axis=1, keepdims=True),
    "op": lambda z: pt.softmax(z, axis=1),
    "shifted": lambda z: (
        pt.exp(z - z.max(axis=1, keepdims=True))
        / pt.exp(z - z.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
    ),
}


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("name", SOFTMAX)
def test_softmax(name: str, scale: float) -> None:
    values = matrix(scale)
    (found,) = rewritten([m], [SOFTMAX[name](m)], [values])
    wanted = special.softmax(values, axis=1)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("name", ["written", "op"])
def test_log_of_softmax_and_its_gradient(name: str, scale: float) -> None:
    values = matrix(scale)
    target = np.eye(4)[[0, 3, 1, 1]]
    loss = -(t * pt.log(SOFTMAX[name](m))).sum()
    value, slope = rewritten([m, t], [loss, grad(loss, m)], [values, target])
    np.testing.assert_allclose(value, -(target * special.log_softmax(values, axis=1)).sum(), 1e-14)
    np.testing.assert_allclose(slope, special.softmax(values, axis=1) - target, atol=1e-14)


@pytest.mark.parametrize("name", ["written", "op"])
def test_the_gradient_of_one_log_probability(name: str) -> None:
    values = matrix(500.0)
    picked = pt.log(SOFTMAX[name](m))[3, 1]
    value, slope = rewritten([m], [picked, grad(picked, m)], [values])
    assert value == pytest.approx(-2000.3132616875182, rel=1e-15)
    wanted = np.zeros_like(values)
    wanted[3] = [0, 1, 0, 0] - special.softmax(values[3])
    np.testing.assert_allclose(slope, wanted, atol=1e-15)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_log_of_a_sum_of_exponentials(axis: Any, keepdims: bool) -> None:
    values = matrix(900.0)
    term = pt.log(pt.exp(m).sum(axis=axis, keepdims=keepdims))
    value, slope = rewritten([m], [term, grad(term.sum(), m)], [values])
    wanted = special.logsumexp(values, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(value, wanted, rtol=1e-15)
    np.testing.assert_allclose(slope, special.softmax(values, axis=axis), atol=1e-12)


def test_gradients_of_stable_forms_are_stable() -> None:
    for term, wanted in (
        (pt.log(1 + pt.exp(x)), special.expit(WIDE)),
        (pt.log(pt.sigmoid(x)), special.expit(-WIDE)),
        (1 / (1 + pt.exp(-x)), special.expit(WIDE) * special.expit(-WIDE)),
    ):
        (slope,) = rewritten([x], [grad(term.sum(), x)], [WIDE])
        np.testing.assert_allclose(slope, wanted, rtol=1e-12, atol=1e-300)


def test_softmax_of_a_vector_and_its_gradients() -> None:
    p = pt.exp(x) / pt.exp(x).sum()
    loss = -pt.log(p)[0]
    wide = WIDE[::-1].copy()
    found = rewritten([x], [p, loss, grad(loss, x), grad(p[1], x)], [WIDE])
    wanted = special.softmax(WIDE)
    unit = np.eye(len(WIDE))
    slopes = [wanted - unit[0], wanted[1] * (unit[1] - wanted)]
    for value, right in zip(found, [wanted, 2000.0, *slopes], strict=True):
        np.testing.assert_allclose(value, right, rtol=1e-14, atol=1e-300)
    (turned,) = rewritten([x], [p], [wide])
    np.testing.assert_allclose(turned, wanted[::-1], rtol=1e-14)


def test_what_is_not_rewritten_is_nan() -> None:
    """The formulas themselves overflow: without the rules these tests would fail."""
    graph = FunctionGraph([m], [pt.log(SOFTMAX["written"](m))])
    with np.errstate(all="ignore"):
        (naive,) = run(graph, [matrix(1000.0)])
    assert not np.isfinite(naive).all()
    assert exact(1.0) == 1


@pytest.mark.parametrize("number", [4e-309, -4e-309, 1e308])
def test_numbers_whose_powers_are_no_numbers(number: float) -> None:
    x = pt.dscalar("x")
    for term in (pt.log1mexp(-pt.softplus(x) / abs(number)), pt.log(pt.exp(x) / number * x)):
        f, plain = [rw.function([x], term, mode=mode) for mode in (None, rw.Mode(optimizer=None))]
        np.testing.assert_allclose(f(-720.0), plain(-720.0), rtol=1e-12)


@pytest.mark.parametrize(
    "formula",
    [lambda x, y: pt.log(pt.exp(x) / pt.sigmoid(y + 1)),
     lambda x, y: pt.log(2 * pt.exp(x) / pt.sigmoid(y + x)),
     lambda x, y: pt.log(pt.exp(x) * (1 + pt.exp(-1 - y)))],
)  # fmt: skip
def test_logarithms_that_are_infinite_stay_so(formula: Any) -> None:
    """No two infinities are subtracted that the formula has not."""
    x, y = pt.dvectors("x y")
    ends = np.array([np.inf, np.inf, 1.0, 700.0]), np.array([np.inf, 3.0, np.inf, np.inf])
    (found,) = rewritten([x, y], [formula(x, y)], list(ends))
    assert found.tolist()[:2] == [np.inf, np.inf]
    assert np.isfinite(found[2:]).all()


@pytest.mark.parametrize(
    "shared",
    [lambda x, e: pt.erfc(x), lambda x, e: pt.exp(-(x**2)), lambda x, e: grad(e.sum(), x)],
    ids=["erfc", "exp", "gradient"],
)
def test_factors_with_other_readers_combine_if_their_product_is_nan(shared: Any) -> None:
    """The hazard of a normal distribution far out, in a function that also needs its parts."""
    hazard = pt.exp(-(x**2)) / pt.erfc(x)
    at = np.array([-30.0, 0.0, 5.0, 30.0, 800.0])
    f = rw.function([x], [hazard, shared(x, hazard)])
    assert "erfcx" in rw.pp(f)
    found, other = f(at)
    np.testing.assert_allclose(found, 1 / special.erfcx(at), rtol=1e-13)
    if other[-1]:  # the slope: 2 e (e / sqrt(pi) - x), by the derivative of erfcx
        slope = 2 / special.erfcx(at[:-1]) * (1 / special.erfcx(at[:-1]) / np.pi**0.5 - at[:-1])
        np.testing.assert_allclose(other[:-1], slope, rtol=1e-9)
        np.testing.assert_allclose(other[-1], np.pi**0.5, rtol=1e-5)


def test_factors_with_other_readers_stay_if_nothing_overflows() -> None:
    """A combined function would be computed in addition to the others, and gain nothing."""
    y = pt.vector("y")
    f = rw.function([x, y], [pt.exp(x) * pt.exp(y), pt.exp(x), pt.exp(y)], mode="vm")
    assert [str(n.op) for n in f.fgraph.toposort()].count("exp") == 2
