"""Derivatives of scalar ops against mpmath: ordinary, tiny, large and saturated arguments, ends of
domains and poles. (Those of every op at ordinary arguments: `tests/scalar/test_table.py`.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.scalar import ops as table

GRID = {
    "float64": [
        0.0, 5e-324, 1e-310, 1e-300, 1e-160, 1e-16, 1e-8, 1e-3, 0.1, 0.5, 0.7, 1 - 1e-10,
        1 - 2**-53, 1.0, 1 + 1e-10, 1.5, 3.0, 5.5, 10.0, 20.0, 37.0, 100.0, 300.0, 370.0, 700.0,
        709.0,
        745.0, 1e4, 1e8, 1e16, 1e154, 1e200, 1.7e308,
    ],
    "float32": [
        0.0, 1e-45, 1e-40, 1e-30, 1e-18, 1e-7, 1e-3, 0.1, 0.5, 0.7, 1 - 2**-24, 1.0, 1 + 2**-22,
        1.5, 3.0, 5.5, 9.0, 16.0, 40.0, 80.0, 88.0, 103.0, 1e4, 1e7, 1e18, 1e25, 3e38,
    ],
}  # fmt: skip
PAIRS = {
    "float64": [0.0, 1e-300, 1e-160, 1e-3, 0.5, 1.0, 2.0, 30.0, 700.0, 1e5, 1e160, 1e300],
    "float32": [0.0, 1e-38, 1e-20, 1e-3, 0.5, 1.0, 2.0, 30.0, 80.0, 1e5, 1e20, 1e38],
}
TINY = mp.mpf(10) ** -2000
ROOT_PI = mp.sqrt(mp.pi)


#: derivative, and how much an ulp of the argument may matter
UNARY: dict[str, tuple[Any, Any]] = {
    "neg": (lambda x: mp.mpf(-1), 0),
    "identity": (lambda x: mp.mpf(1), 0),
    "sqr": (lambda x: 2 * x, 0),
    "abs": (mp.sign, 0),
    "sqrt": (lambda x: 1 / (2 * mp.sqrt(x)), 0),
    "reciprocal": (lambda x: -1 / x**2, 0),
    "exp": (mp.exp, 0),
    "exp2": (lambda x: mp.log(2) * 2**x, 0),
    "expm1": (mp.exp, 0),
    "log": (lambda x: 1 / x, 0),
    "log2": (lambda x: 1 / (x * mp.log(2)), 0),
    "log10": (lambda x: 1 / (x * mp.log(10)), 0),
    "log1p": (lambda x: 1 / (1 + x), 0),
    "log1mexp": (lambda x: mp.exp(x) / mp.expm1(x), 0),
    "softplus": (lambda x: 1 / (1 + mp.exp(-x)), 0),
    "sigmoid": (lambda x: 1 / ((1 + mp.exp(-x)) * (1 + mp.exp(x))), 0),
    "erf": (lambda x: 2 / ROOT_PI * mp.exp(-x * x), lambda x: x * x),
    "erfc": (lambda x: -2 / ROOT_PI * mp.exp(-x * x), lambda x: x * x),
    "sin": (mp.cos, 0),
    "cos": (lambda x: -mp.sin(x), 0),
    "tan": (lambda x: mp.sec(x) ** 2, 0),
    "arcsin": (lambda x: 1 / mp.sqrt((1 - x) * (1 + x)), 0),
    "arccos": (lambda x: -1 / mp.sqrt((1 - x) * (1 + x)), 0),
    "arctan": (lambda x: 1 / (1 + x * x), 0),
    "sinh": (mp.cosh, 0),
    "cosh": (mp.sinh, 0),
    # 1 - tanh(x)**2, absolutely as accurate as tanh: its tail is not worth another function
    "tanh": (lambda x: mp.sech(x) ** 2, lambda x: mp.cosh(x) ** 2),
    "arcsinh": (lambda x: 1 / mp.sqrt(1 + x * x), 0),
    "arccosh": (lambda x: 1 / mp.sqrt((x - 1) * (x + 1)), 0),
    "arctanh": (lambda x: 1 / ((1 - x) * (1 + x)), 0),
}
BINARY: dict[str, tuple[Any, Any]] = {
    "sub": ((lambda x, y: mp.mpf(1), lambda x, y: mp.mpf(-1)), None),
    "mul": ((lambda x, y: y, lambda x, y: x), None),
    "true_div": ((lambda x, y: 1 / y, lambda x, y: -x / y**2), lambda x, y: y != 0),
    "logaddexp": (
        (lambda x, y: 1 / (1 + mp.exp(y - x)), lambda x, y: 1 / (1 + mp.exp(x - y))),
        None,
    ),
    "hypot": (
        (lambda x, y: x / mp.sqrt(x * x + y * y), lambda x, y: y / mp.sqrt(x * x + y * y)),
        lambda x, y: x != 0 or y != 0,
    ),
    "arctan2": (
        (lambda x, y: y / (x * x + y * y), lambda x, y: -x / (x * x + y * y)),
        lambda x, y: x != 0 or y != 0,
    ),
}


def domain_of(name: str) -> Callable[[Any], bool]:
    """Where a function has a slope: inside of the domain that it declares."""
    low, high, *_ = getattr(table, name).domain[0]
    return lambda x: low < x < high


def limit(derivative: Any, domain: Any, *at: Any) -> Any:
    """The derivative; at a pole the infinity on the side of the domain, None where it has two."""
    try:
        return derivative(*at)
    except ZeroDivisionError:
        pass
    found = set()
    for step in (TINY, -TINY):
        near = [at[0] + step, *at[1:]]
        if domain is None or domain(*near):
            found.add(mp.sign(derivative(*near)) * mp.inf)
    return found.pop() if len(found) == 1 else None


def close(got: Any, wanted: Any, dtype: str, allowed: float) -> bool:
    """Whether a number is the nearest of its dtype, within some units."""
    info = np.finfo(dtype)
    if abs(wanted) > info.max:
        return bool(got == np.sign(float(mp.sign(wanted))) * np.inf or abs(got) > info.max / 2)
    error = abs(mp.mpf(float(got)) - wanted) if np.isfinite(got) else mp.inf
    unit = max(abs(wanted) * mp.mpf(float(info.eps)), mp.mpf(float(info.smallest_subnormal)))
    if abs(wanted) < float(info.tiny):
        unit = mp.mpf(float(info.tiny))  # may be flushed
    if abs(wanted) * 4 > info.max:
        return bool(error <= allowed * unit or np.isinf(got))
    return bool(error <= allowed * unit)


@pytest.mark.parametrize("dtype", list(GRID))
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: str):
    derivative, sensitive = UNARY[name]
    domain = domain_of(name)
    at = [s * v for v in GRID[dtype] for s in (1, -1)]
    if name == "exp2":
        at = [v for v in at if abs(v) < 1e16]
    x = pt.vector("x", dtype=dtype)
    values = np.array(at, dtype)
    g = grad(getattr(pt, name)(x).sum(), x)
    with np.errstate(all="ignore"):
        plain = evaluate([g], {x: values})[0]
        compiled = rw.function([x], g)(values)
    if name == "tanh":
        plain = compiled  # 1 - tanh(x)**2 has its digits from a rule
    with mp.workdps(400):
        for v, *found in zip(values, plain, compiled, strict=True):
            p = mp.mpf(float(v))
            edge = domain is not None and not domain(p)
            if edge and not any(domain(p + s * TINY) for s in (1, -1)):
                continue
            wanted = limit(derivative, domain, p)
            pole = wanted is None or mp.isinf(wanted)
            if pole and v == 0 and np.signbit(v) and name != "log1mexp":
                continue  # of the two signs of zero, one says from where
            for got in found:
                if wanted is None:
                    assert np.isinf(got), (v, found)
                    continue
                units = 16 + (float(sensitive(p)) if callable(sensitive) and abs(v) < 1e3 else 0)
                assert close(got, wanted, dtype, units), (v, found, mp.nstr(wanted, 17))


@pytest.mark.parametrize("dtype", list(PAIRS))
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, dtype: str):
    derivatives, domain = BINARY[name]
    at = np.array([s * v for v in PAIRS[dtype] for s in (1, -1)], dtype)
    first, second = [a.ravel() for a in np.meshgrid(at, at)]
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    gs = grad(getattr(pt, name)(x, y).sum(), [x, y])
    with np.errstate(all="ignore"):
        plain = evaluate(gs, {x: first, y: second})
        compiled = rw.function([x, y], gs, on_unused_input="ignore")(first, second)
    with mp.workdps(60):
        for k, derivative in enumerate(derivatives):
            for i, (a, b) in enumerate(zip(first, second, strict=True)):
                p, q = mp.mpf(float(a)), mp.mpf(float(b))
                if domain is not None and not domain(p, q):
                    continue
                wanted = derivative(p, q)
                units = 16 + (min(abs(float(p - q)), 1e4) if name == "logaddexp" else 0)
                for got in (plain[k][i], compiled[k][i]):
                    assert close(got, wanted, dtype, units), (k, a, b, got, mp.nstr(wanted, 17))


@pytest.mark.parametrize("name", sorted(set(UNARY) - {"abs", "reciprocal"}))
def test_second_derivatives_saturate_too(name: str):
    """Nothing that overflows on the way spoils a second derivative inside of the domain."""
    domain = domain_of(name)
    at = [s * v for v in GRID["float64"] for s in (1, -1)]
    if name == "exp2":
        at = [v for v in at if abs(v) < 1e16]
    x = pt.dvector("x")
    g = grad(grad(getattr(pt, name)(x).sum(), x).sum(), x, disconnected_inputs="ignore")
    with np.errstate(all="ignore"):
        plain = evaluate([g], {x: at})[0]
    for v, got in zip(at, plain, strict=True):
        if domain is None or domain(v):
            assert not np.isnan(got), (v, got)


def test_logaddexp_of_many():
    xs = pt.dvectors(*"abcd")
    at = [np.array(v) for v in ([1e5, 0.0], [1e5 + 1, -700], [-3.0, 710], [1e5 - 2, 709])]
    got = evaluate(grad(pt.logaddexp(*xs).sum(), list(xs)), dict(zip(xs, at, strict=True)))
    with mp.workdps(60):
        for i in range(2):
            weights = [mp.exp(mp.mpf(float(a[i]))) for a in at]
            for g, w in zip(got, weights, strict=True):
                assert close(g[i], w / mp.fsum(weights), "float64", 16)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
@pytest.mark.parametrize("name", ["arctan", "sigmoid", "erf", "arcsinh", "tan", "exp", "log1p"])
def test_of_integers(name: str, dtype: str):
    """Integers are numbers that happen to be whole: nothing wraps around."""
    n, x = pt.vector("n", dtype=dtype), pt.dvector("x")
    at = np.array([0, 1, 5, 12, 100])
    scale = pt.dscalar("scale")
    of_n = grad((scale * getattr(pt, name)(n)).sum(), n)
    of_x = grad((scale * getattr(pt, name)(x)).sum(), x)
    got, wanted = evaluate([of_n, of_x], {n: at.astype(dtype), x: at.astype(float), scale: 1.0})
    if name == "exp" and dtype != "int64":
        at_most = 3  # the value itself is narrow
        got, wanted = got[:at_most], wanted[:at_most]
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-30)


def test_equal_operands():
    """The argument of a sigmoid in the gradient is nothing at all."""
    x = pt.dvector("x")
    for function, slope in [
        (lambda v: pt.exp(pt.logaddexp(v, v)), lambda v: 2 * np.exp(v)),
        (lambda v: pt.exp(-pt.sqr(v - v)) * pt.sigmoid(v - v) * v, lambda v: 0.5 + 0 * v),
        (lambda v: pt.hypot(v, v), lambda v: np.sqrt(2) * np.sign(v)),
    ]:
        g = grad(function(x).sum(), x)
        at = np.array([1.0, 0, -2])
        np.testing.assert_allclose(rw.function([x], g)(at), slope(at), atol=1e-15)
        np.testing.assert_allclose(evaluate([g], {x: at})[0], slope(at), atol=1e-15)


@pytest.mark.parametrize("x", [0.0, 5e-324, 0.25, 3.0, np.inf])
def test_powers_with_exponent_0_depend_on_it(x: float) -> None:
    """x**y at y = 0: flat in x, and 1/x is how its slope there grows with y."""
    a, b = pt.dscalars("a", "b")
    first = rw.grad(pt.pow(a, b), a)
    mixed = rw.grad(first, b)
    found = rw.function([a, b], [first, mixed], mode=rw.Mode(optimizer=None))(x, 0.0)
    assert found[0] == 0
    if x in (0.25, 3.0):
        np.testing.assert_allclose(found[1], 1 / x, rtol=1e-15)


@pytest.mark.parametrize("at", [2.0, 800.0, -800.0])
def test_products_with_what_is_stretched(at: float) -> None:
    """The sum of n / x is the sum of n, over x: a factor that overflows, or vanishes, cancels."""
    s, x, m = pt.dscalar("s"), pt.dvector("x"), pt.dmatrix("m")
    given = {s: at, x: np.array([0.0, at, 2.0]), m: np.full((2, 3), -3.0)}
    sigma, p = pt.exp(s), pt.sigmoid(x)
    slopes = {
        3.0: (pt.log(sigma * pt.exp(x)), s),
        2.0: (pt.log(-pt.exp(x) * m), x),
        6.0: (pt.log(pt.exp(x) ** 3 * pt.exp(m)), x),
        -3.0: (pt.log(1 / sigma * x**2 * pt.exp(m[0])), s),
    }
    for slope, (term, v) in slopes.items():
        got = rw.function([*given], grad(term.sum(), v), on_unused_input="ignore")(*given.values())
        np.testing.assert_allclose(got, slope, rtol=1e-14)
    f = rw.function([*given], grad(pt.log(m * m / p).sum(), x), on_unused_input="ignore")
    got = f(*given.values())
    np.testing.assert_allclose(got, -2 / (1 + np.exp(np.array([0.0, at, 2.0]))), rtol=1e-14)


def test_a_normal_density_far_out() -> None:
    """-((y - mu) / exp(s))**2 / 2 - log(exp(s)): as far as exp(-2 s) goes."""
    s, mu, y = pt.dscalar("s"), pt.dscalar("mu"), pt.dvector("y")
    density = (-(((y - mu) / pt.exp(s)) ** 2) / 2 - pt.log(pt.exp(s))).sum()
    f = rw.function([s, mu, y], grad(density, [s, mu]))
    for at, first, second in [(800.0, -2.0, 0.0), (-300.0, 5 * np.exp(600.0), 3 * np.exp(600.0))]:
        got = f(at, 1.0, [2.0, 3.0])
        np.testing.assert_allclose(got, [first, second], rtol=1e-12)
