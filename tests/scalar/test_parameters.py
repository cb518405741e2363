"""Derivatives of special functions with respect to their parameters, and densities: small, large,
far out; against mpmath.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import rewrite_engine.tensor as pt
from rewrite_engine.errors import NullTypeGradError
from rewrite_engine.gradient import grad
from rewrite_engine.scalar import parameters


def error(name: str, at: Any, wanted: Any) -> float:
    with np.errstate(all="ignore"):
        (got,) = getattr(parameters, name)(*[np.array([v], "float64") for v in at])
    return float(abs(mp.mpf(float(got)) - wanted) / abs(wanted)) if wanted else abs(float(got))


def partial(of: Any, k: int, at: Any) -> Any:
    at = [mp.mpf(v) for v in at]
    return mp.diff(of, at, tuple([int(i == k) for i in range(len(at))]))


@pytest.mark.parametrize("k", [0.3, 1, 2.5, 9.9, 10, 50, 1e3])
def test_incomplete_gamma_function(k: float) -> None:
    with mp.workdps(50):
        for f in (0.5, 0.9, 1, 1.1, 2):
            x = k * f
            exact = mp.exp((k - 1) * mp.log(x) - x - mp.loggamma(k))
            if exact < 1e-290:
                continue
            assert error("gamma_density", (k, x), exact) < 1e-12, (k, x)
            ends = (0, x) if f < 1 else (x, mp.inf)
            slope = mp.diff(lambda q, e=ends: mp.gammainc(q, *e, regularized=True), mp.mpf(k))
            assert error("gammainc_dk", (k, x), slope if f < 1 else -slope) < 1e-11, (k, x)


def test_densities_with_large_parameters() -> None:
    with mp.workdps(50):
        for k in (1e4, 1e6, 1e8):
            for x in (k, k + np.sqrt(k), k - 3 * np.sqrt(k)):
                exact = mp.exp((mp.mpf(k) - 1) * mp.log(x) - mp.mpf(x) - mp.loggamma(k))
                assert error("gamma_density", (k, x), exact) < 1e-10, (k, x)
        for a, b in product((0.05, 3.3, 40, 1e5), repeat=2):
            x = a / (a + b)
            terms = (mp.mpf(a) - 1) * mp.log(x) + (mp.mpf(b) - 1) * mp.log(1 - mp.mpf(x))
            exact = mp.exp(terms - mp.log(mp.beta(a, b)))
            assert error("beta_density", (a, b, x), exact) < 1e-10, (a, b)


@pytest.mark.parametrize("a", [0.05, 0.7, 3.3, 10, 40])
def test_incomplete_beta_function(a: float) -> None:
    of = lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True)
    with mp.workdps(40):
        for b, x in product((0.05, 1, 10), (0.01, 0.3, 0.8)):
            for k, name in enumerate(("betainc_da", "betainc_db")):
                assert error(name, (a, b, x), partial(of, k, (a, b, x))) < 1e-9, (a, b, x)


@pytest.mark.parametrize("z", [-1e4, -2, -0.9, -1e-5, 1e-8, 0.5, 0.8, 0.999, 1 - 1e-9])
def test_hypergeometric_function(z: float) -> None:
    with mp.workdps(30):
        for a, b, c in [(0.5, 1.5, 2.5), (4.2, 6.1, 0.7), (-2.0, 3.3, 1.2), (3.0, -4.0, 2.5)]:
            for k, name in ((0, "hyp2f1_da"), (2, "hyp2f1_dc")):
                wanted = partial(mp.hyp2f1, k, (a, b, c, z))
                assert error(name, (a, b, c, z), wanted) < 1e-10, (a, b, c)


def test_arguments_beside_each_other_do_not_count() -> None:
    z = np.array([0.0, 0.3, 0.8, -0.7, -0.0, 0.999])
    at = [np.array(v) for v in (0.5, 1.5, 2.5)]
    for f in (parameters.hyp2f1_da, parameters.hyp2f1_dc):
        np.testing.assert_allclose(f(*at, z), [f(*at, v) for v in z], rtol=1e-12)


def test_hypergeometric_function_at_its_ends() -> None:
    with mp.workdps(30):
        at = (0.5, 0.7, 3.2, 1)
        for k, name in ((0, "hyp2f1_da"), (2, "hyp2f1_dc")):
            assert error(name, at, partial(mp.hyp2f1, k, at)) < 1e-10
    assert np.isnan(parameters.hyp2f1_da(*map(np.asarray, (1.0, 1.0, 1.5, 1.0))))
    assert np.isnan(parameters.hyp2f1_dc(*map(np.asarray, (1.0, 1.0, 1.5, 2.0))))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ends_and_outside_of_the_domain() -> None:
    k, x = np.array([2.0, 2.0, -1.0, 2.0]), np.array([0.0, np.inf, 1.0, -1.0])
    np.testing.assert_array_equal(parameters.gammainc_dk(k, x), [0, 0, np.nan, np.nan])
    x = np.array([0.0, 1.0, 1.5, np.nan])
    for name in ("betainc_da", "betainc_db"):
        found = getattr(parameters, name)(np.array(2.0), np.array(3.0), x)
        np.testing.assert_array_equal(found, [0, 0, np.nan, np.nan])
    assert np.isnan(parameters.betainc_da(np.array(-2.0), np.array(3.0), np.array(0.0)))
    assert parameters.gammainc_dk(np.ones((0, 3)), np.ones(3)).shape == (0, 3)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_polygamma_below_0(n: int) -> None:
    """All digits near a pole; the poles themselves are infinite on both sides or as from above."""
    near = [s * k for k in (1e-3, 1e-8, 1e-13, 1e-15, 1e-17, 1e-40) for s in (1, -1)]
    at = [*near, *[k + d for k in (-1, -3, -40) for d in near if k + d != k], -0.3, -2.3, -999.7]
    with mp.workdps(60):
        wanted = [float(mp.polygamma(n, mp.mpf(v))) for v in at]
    np.testing.assert_allclose(pt.polygamma(n, at).eval(), wanted, rtol=1e-12)
    pole = np.inf if n % 2 else -np.inf
    poles = [0.0, -1.0, -3.0, -1e4, -1e5, -1e20, -1e308, -np.inf]
    assert (pt.polygamma(n, poles).eval() == pole).all()
    assert (pt.polygamma(n, [np.inf]).eval() == 0).all()
    assert np.isnan(pt.polygamma(n, np.nan).eval())


def test_tri_gamma_and_the_gradient_of_psi_below_0() -> None:
    at = [-1e-8, -1e-13, -1e-15, -1e-17, -1 + 1e-12, -2 - 1e-9, -12345.678]
    with mp.workdps(60):
        wanted = [float(mp.polygamma(1, mp.mpf(v))) for v in at]
    x = pt.dvector("x")
    for f in (pt.tri_gamma(x), grad(pt.psi(x).sum(), x)):
        np.testing.assert_allclose(f.eval({x: at}), wanted, rtol=1e-11)
        assert (f.eval({x: [-4.0, -1e308, -np.inf]}) == np.inf).all()
    assert pt.tri_gamma(np.float32(-1e-15)).eval() == pytest.approx(1e30, rel=1e-6)


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda x: pt.jv(x, 2.0), "jv .* order of a Bessel function"),
        (lambda x: pt.polygamma(x, 2.0), "the order is a whole number"),
        (lambda x: pt.gammainc_dk(x, 2.0), "second derivative with respect to parameters"),
        (lambda x: pt.hyp2f1_dc(1.0, 2.0, x, 0.5), "second derivative with respect to parameters"),
    ],
)
def test_what_is_not_available_says_so(build: Any, why: str) -> None:
    x = pt.dscalar("x")
    with pytest.raises(NullTypeGradError, match=why):
        grad(build(x), x)


def test_other_inputs_have_their_gradients() -> None:
    v, x = pt.dscalars("v", "x")
    assert grad(pt.jv(v, x), x).eval({v: 0.0, x: 1.0}) == pytest.approx(-0.4400505857449335)
    second = grad(grad(pt.gammainc(v, x), v), x)
    with mp.workdps(30):
        of = lambda k, t: mp.gammainc(k, 0, t, regularized=True)
        wanted = float(mp.diff(of, (mp.mpf(1.5), mp.mpf(0.7)), (1, 1)))
    assert second.eval({v: 1.5, x: 0.7}) == pytest.approx(wanted, rel=1e-8)
