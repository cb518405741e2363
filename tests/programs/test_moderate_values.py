"""Quotients and logs of sums and differences of exponentials, which rules rewrite for arguments far
out: at moderate values they are what they were, and far out what they should be. The judge is
mpmath, with 60 digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

import rewrite_engine as rw
import rewrite_engine.tensor as pt

AS_BUILT = rw.Mode(linker="py", optimizer=None)
DIGITS = 60


class Exact:
    """The words of `rewrite_engine.tensor` that are used here, of mpmath's numbers."""

    exp, erfc, log1p = staticmethod(mp.exp), staticmethod(mp.erfc), staticmethod(mp.log1p)
    abs = staticmethod(mp.fabs)

    @staticmethod
    def sigmoid(x: Any) -> Any:
        return 1 / (1 + mp.exp(-x))


def built(of: Callable[..., Any], point: Any, dtype: str) -> tuple[list[Any], Any]:
    """Variables for a point, and the formula of them."""
    inputs = [pt.scalar(dtype=dtype) for _ in point]
    return inputs, of(pt, *inputs)


def value_of(of: Callable[..., Any], point: Any, dtype: str = "float64") -> Any:
    """The value of a formula."""
    inputs, out = built(of, point, dtype)
    return rw.function(inputs, out)(*point)


def slopes_of(of: Callable[..., Any], point: Any, dtype: str = "float64") -> Any:
    """The slopes of a formula, compiled without its value; with it they are the same."""
    inputs, out = built(of, point, dtype)
    slopes = rw.grad(out, inputs)
    alone = rw.function(inputs, slopes, on_unused_input="ignore")(*point)
    _, *beside = rw.function(inputs, [out, *slopes])(*point)
    rtol, atol = (1e-5, 1e-38) if dtype == "float32" else (1e-9, 0)
    np.testing.assert_allclose(beside, alone, rtol=rtol, atol=atol)
    return alone


def exact(of: Callable[..., Any], point: Any) -> tuple[float, list[float]]:
    """The same by mpmath."""
    with mp.workdps(DIGITS):
        xs = [mp.mpf(float(x)) for x in point]
        slopes = []
        for i, x in enumerate(xs):
            f = lambda z, i=i: of(Exact, *xs[:i], z, *xs[i + 1 :])
            slopes.append(float(mp.diff(f, x)))
        return float(of(Exact, *xs)), slopes


# --- moderate values ------------------------------------------------------------------------------


def difference(m: Any, t: Any, a: Any, b: Any) -> Any:
    return m.exp(t) / (m.exp(a) - m.exp(b))


def less_two(m: Any, t: Any, a: Any) -> Any:
    return m.exp(t) / (m.exp(a) - 2)


def drug(m: Any, dose: Any, volume: Any, t: Any, log_ka: Any, log_ke: Any) -> Any:
    """How much of a drug is in the blood after a time: taken up at one rate, lost at another."""
    ka, ke = m.exp(log_ka), m.exp(log_ke)
    return dose * ka / (volume * (ka - ke)) * (m.exp(-ke * t) - m.exp(-ka * t))


def sigmoids(m: Any, t: Any, a: Any, b: Any) -> Any:
    return m.exp(t) / (m.sigmoid(a) - m.sigmoid(b))


def slope_by_sigmoids(m: Any, x: Any, a: Any, b: Any) -> Any:
    return x * m.sigmoid(a) / (m.sigmoid(a) - m.sigmoid(b))


def tails(m: Any, t: Any, a: Any, b: Any) -> Any:
    return m.exp(t) / (m.erfc(a) - m.erfc(b))


def share_of_tails(m: Any, a: Any, b: Any) -> Any:
    return m.erfc(a) / (m.erfc(a) - m.erfc(b))


def size(m: Any, t: Any, a: Any, c: Any) -> Any:
    return m.exp(t) / (m.exp(a) - m.abs(c))


def sizes(m: Any, t: Any, c: Any, d: Any) -> Any:
    return m.exp(t) / (m.abs(c) - m.abs(d))


def square(m: Any, t: Any, a: Any, c: Any) -> Any:
    return m.exp(t) / (m.exp(a) - c**2)


def squares(m: Any, t: Any, c: Any, d: Any) -> Any:
    return m.exp(t) / (c**2 - d**2)


def log_of_difference(m: Any, a: Any, b: Any) -> Any:
    return m.log1p(m.exp(a) - m.exp(b))


def log_of_sum(m: Any, a: Any, x: Any) -> Any:
    return m.log1p(m.exp(a) + x)


MODERATE: list[tuple[Callable[..., Any], list[tuple[float, ...]]]] = [
    (difference, [(1.0, 0.3, 0.5), (1.0, 0.5, 0.3), (-2.0, 1.5, -0.7)]),
    (less_two, [(1.0, 0.3), (1.0, 0.9)]),
    (drug, [(4.0, 2.0, 1.5, 0.4, -1.0), (4.0, 2.0, 0.3, -1.0, 0.4), (1.0, 30.0, 8.0, 0.1, -2.0)]),
    (sigmoids, [(1.0, 0.3, 0.5), (1.0, 2.0, -1.0)]),
    (slope_by_sigmoids, [(1.0, 0.3, 0.5), (-1.0, 2.0, -1.0)]),
    (tails, [(1.0, 0.3, 0.5), (1.0, 1.2, -0.4)]),
    (share_of_tails, [(0.3, 0.5), (1.2, -0.4)]),
    (size, [(1.0, 0.3, 2.5), (1.0, 0.3, -2.5), (1.0, 1.3, 0.2)]),
    (sizes, [(1.0, 0.3, -0.5), (1.0, -2.0, 0.5)]),
    (square, [(1.0, 0.3, 1.5), (1.0, 0.3, -1.5), (1.0, 1.3, 0.2)]),
    (squares, [(1.0, 0.3, -0.5), (1.0, -2.0, 0.5)]),
    (log_of_difference, [(0.3, -0.5), (1.0, 0.2), (20.0, 20.0), (40.0, 40.0)]),
    (log_of_sum, [(0.3, 1.5), (-3.0, 0.2), (-3.0, -0.5)]),
]
CASES = [
    pytest.param(of, point, id=f"{of.__name__}-{','.join(map(str, point))}")
    for of, points in MODERATE
    for point in points
]


@pytest.mark.parametrize(("of", "point"), CASES)
def test_the_value(of: Callable[..., Any], point: tuple[float, ...]) -> None:
    np.testing.assert_allclose(value_of(of, point), exact(of, point)[0], rtol=1e-10)


@pytest.mark.parametrize(("of", "point"), CASES)
def test_the_slopes(of: Callable[..., Any], point: tuple[float, ...]) -> None:
    np.testing.assert_allclose(slopes_of(of, point), exact(of, point)[1], rtol=1e-9, atol=1e-14)


def test_the_number_of_a_difference_of_exponentials() -> None:
    assert value_of(difference, (1.0, 0.3, 0.5)) == pytest.approx(-9.0954, rel=1e-5)


def test_a_drug_at_many_times() -> None:
    """The squared distance of a curve from what was measured, by the logs of both rates."""
    t, y = pt.dvectors("t", "y")
    log_ka, log_ke = pt.dscalars("log_ka", "log_ke")
    curve = drug(pt, 4.0, 2.0, t, log_ka, log_ke)
    loss = ((curve - y) ** 2).sum()
    inputs = [t, y, log_ka, log_ke]
    outputs = [loss, *rw.grad(loss, [log_ka, log_ke])]
    times = np.array([0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
    values = [times, np.exp(-times), 0.4, -1.0]
    wanted = rw.function(inputs, outputs, mode=AS_BUILT)(*values)
    for found, other in zip(rw.function(inputs, outputs)(*values), wanted, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-10)


# --- far out --------------------------------------------------------------------------------------


def share_of_three(m: Any, a: Any, x: Any, b: Any) -> Any:
    return m.exp(a) / (m.exp(a) + x + b)


def share_of_two(m: Any, w: Any, x: Any) -> Any:
    return m.exp(w) / (m.exp(w) + x)


def over_a_tail(m: Any, a: Any, w: Any, x: Any) -> Any:
    return (x + m.exp(w)) / m.erfc(a)


def test_a_share_that_is_nothing() -> None:
    point = (-800.0, 3.0, -1.0)
    assert value_of(share_of_three, point) == 0.0
    assert slopes_of(share_of_three, point) == [0.0, 0.0, 0.0]


def test_a_share_that_is_everything() -> None:
    point = (-710.0, 0.0)
    np.testing.assert_allclose(value_of(share_of_two, point), 1.0, rtol=1e-12)
    np.testing.assert_allclose(slopes_of(share_of_two, point)[0], 0.0, atol=1e-12)


def test_what_is_divided_by_a_tail_keeps_its_sign() -> None:
    assert value_of(over_a_tail, (800.0, -2.0, -2.0)) == -np.inf


@pytest.mark.parametrize("x", [0.0, 0.5, 2.0, -0.5, -2.0])
def test_slopes_in_single_precision(x: float) -> None:
    """At -90 an exponential is smaller than the smallest normal number of float32."""
    point = np.float32(-90.0), np.float32(x)
    slopes = slopes_of(log_of_sum, point, "float32")
    wanted = [1 / (1 + x) * np.exp(-90.0), 1 / (1 + x)]
    np.testing.assert_allclose(slopes, wanted, rtol=1e-6, atol=1e-38)


def mixture(x: Any, w: Any, mu: Any, sd: Any) -> Any:
    """The log density of numbers that have a mixture of normal distributions; without the constant
    of a normal density.
    """
    p = pt.exp(w) / pt.exp(w).sum()
    each = pt.exp(-0.5 * ((x[:, None] - mu[None, :]) / sd[None, :]) ** 2)
    return pt.log((p[None, :] * each / sd[None, :]).sum(axis=1)).sum()


def exact_mixture(x: float, w: Any, mu: Any, log_sd: Any) -> Any:
    terms = zip(w, mu, log_sd, strict=True)
    parts = [mp.exp(v - s - ((x - m) / mp.exp(s)) ** 2 / 2) for v, m, s in terms]
    return mp.log(sum(parts) / sum(map(mp.exp, w)))


@pytest.mark.parametrize("at", [500.0, 50.0, 3.0, -200.0])
def test_a_mixture_by_its_log_scales(at: float) -> None:
    x, w, mu, log_sd = inputs = pt.dvectors("x", "w", "mu", "log_sd")
    density = mixture(x, w, mu, pt.exp(log_sd))
    f = rw.function(list(inputs), [density, rw.grad(density, log_sd)])
    point = [0.0, 1.0], [-1.0, 1.0], [0.0, 0.0]
    found, slopes = f([at], *point)
    with mp.workdps(DIGITS):
        w, mu, sd = [list(map(mp.mpf, row)) for row in point]
        wanted = float(exact_mixture(at, w, mu, sd))
        by_first = mp.diff(lambda s: exact_mixture(at, w, mu, [s, sd[1]]), 0)
        by_second = mp.diff(lambda s: exact_mixture(at, w, mu, [sd[0], s]), 0)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    np.testing.assert_allclose(slopes, [float(by_first), float(by_second)], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("at", [50.0, 3.0, -200.0])
def test_a_mixture_by_its_scales(at: float) -> None:
    inputs = pt.dvectors("x", "w", "mu", "sd")
    density = rw.function(list(inputs), mixture(*inputs))
    w, mu, sd = np.array([0.0, 1.0]), np.array([-1.0, 1.0]), np.array([1.0, 1.0])
    each = w - np.logaddexp(*w) + stats.norm.logpdf(at, mu, sd) + 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(density([at], w, mu, sd), np.logaddexp(*each), rtol=1e-9)


@pytest.mark.parametrize("a", [-2.0, 0.3, 1.5])
@pytest.mark.parametrize("power", [2, 4, 2.0])
def test_an_even_power_of_what_may_be_below_0(a: float, power: float) -> None:
    """log((exp(a) - 2)**2) has a slope where exp(a) is below 2, too."""
    x = pt.dscalar("x")
    log = pt.log((pt.exp(x) - 2.0) ** power)
    value, slope = rw.function([x], [log, rw.grad(log, x)])(a)
    below = np.exp(a) - 2
    np.testing.assert_allclose(value, power * np.log(abs(below)), rtol=1e-13)
    np.testing.assert_allclose(slope, power * np.exp(a) / below, rtol=1e-13)
