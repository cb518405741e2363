"""Derivatives of incomplete gamma and beta functions and of Gauss's hypergeometric function with
respect to their parameters.

The functions work on float64 arrays that broadcast, and return NaN outside of the domain.

Incomplete functions: differentiated under the integral sign, from the argument to that end of the
domain on whose side log(t) - psi(k) has one sign (the integral over the whole domain is 0), so that
nothing cancels. The integrals, over an exponential variable, are summed by the exp-sinh rule
(Takahasi, Mori, "Double exponential formulas for numerical integration", Publ. RIMS 9, 1974).
Densities with large parameters are computed around their modes (Loader, "Fast and accurate
computation of binomial probabilities", 2000).

The hypergeometric function: the power series, differentiated term by term, is continued from point
to point towards 1 by its differential equation (DLMF 15.10.1), for negative arguments after Pfaff's
transformation (DLMF 15.8.1), at 1 by Gauss's sum (DLMF 15.4.20).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

_LARGE = 10.0  #: from here on asymptotic series have all digits
_NEAR = 0.4  #: so near to a mode, logarithms are made of differences from it
_STEP = 0.05
_AT = np.arange(-4.5, 4.5, _STEP)
#: nodes and weights on (0, inf)
_NODES = np.exp(np.pi / 2 * np.sinh(_AT))
_WEIGHTS = _STEP * np.pi / 2 * np.cosh(_AT) * _NODES
_ROWS = 512  #: this many integrals at a time


def _integrals(f: Callable[..., Any], *columns: Any) -> Any:
    """Return the integral of f(u, *numbers) over u from 0 to infinity, for each row of numbers; the
    first number is the length over which f decays.
    """
    shape = np.broadcast_shapes(*[c.shape for c in columns])
    flat = [np.broadcast_to(c, shape).reshape(-1, 1) for c in columns]
    found = np.empty(flat[0].size)
    for start in range(0, found.size, _ROWS):
        scale, *rest = [c[start : start + _ROWS] for c in flat]
        found[start : start + _ROWS] = _sum(f(scale * _NODES, *rest) * _WEIGHTS) * scale[:, 0]
    return found.reshape(shape)


def _sum(terms: Any) -> Any:
    """Return sums along rows; a term with an exponential of 0 counts as 0."""
    return np.where(np.isfinite(terms), terms, 0.0).sum(axis=1)


# --- logarithms without cancellation --------------------------------------------------------------


def _log_less(d: Any) -> Any:
    """Return d - log1p(d), accurate for small d."""
    v = d / (2 + d)
    square, total = np.square(v), 0.0
    for j in range(25, 1, -2):
        total = (total + 1 / j) * square
    return v * (d - 2 * total)


def _stirling(k: Any) -> Any:
    """Return gammaln(k) minus Stirling's formula, for large k (DLMF 5.11.1)."""
    s = 1 / np.square(k)
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / k


def _log_less_psi(k: Any) -> Any:
    """Return log(k) - psi(k) (DLMF 5.11.2)."""
    s = 1 / np.square(k)
    tail = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s / 47.404)))))
    return np.where(k < _LARGE, np.log(k) - special.psi(k), 0.5 / k + tail)


def _psi_difference(a: Any, b: Any) -> Any:
    """Return psi(a + b) - psi(a), by the recurrence if a is small (DLMF 5.5.2)."""
    small, total = a < _LARGE, 0.0
    for j in range(10):
        total = total + b / ((a + j) * (a + b + j))
    a = np.where(small, a + 10, a)
    more = np.log1p(b / a) + _log_less_psi(a) - _log_less_psi(a + b)
    return np.where(small, more + total, more)


# --- the incomplete gamma function ----------------------------------------------------------------


def gamma_density(k: Any, x: Any) -> Any:
    """Return x**(k - 1) * exp(-x) / gamma(k)."""
    plain = np.exp(special.xlogy(k - 1, x) - x - special.gammaln(k))
    d = (x - k) / k
    near = np.sqrt(k / (2 * np.pi)) * np.exp(-k * _log_less(d) - _stirling(k)) / x
    found = np.where((k >= _LARGE) & (np.abs(d) < _NEAR), near, plain)
    return np.where((k > 0) & (x >= 0), np.where(x == np.inf, 0.0, found), np.nan)


def gammainc_dk(k: Any, x: Any) -> Any:
    """Return the derivative of the regularized lower incomplete gamma function with respect to
    k.
    """
    bracket = np.where(k < _LARGE, np.log(x) - special.psi(k), np.log(x / k) + _log_less_psi(k))

    def down(u: Any, k: Any, x: Any, bracket: Any) -> Any:
        """Integrand with t = x exp(-u)."""
        return np.exp(-k * u - x * np.expm1(-u)) * (bracket - u)

    def up(u: Any, k: Any, x: Any, bracket: Any) -> Any:
        """Integrand with t = x + u."""
        grown = np.log1p(u / x)
        return np.exp((k - 1) * grown - u) * (bracket + grown)

    lower = _integrals(down, 1 / (np.abs(x - k) + np.sqrt(x)), k, x, bracket) * x
    length = np.maximum(1, x / (np.abs(x - k + 1) + np.sqrt(k)))
    found = np.where(bracket < 0, lower, -_integrals(up, length, k, x, bracket))
    found = np.where((x == 0) | (x == np.inf), 0.0, found * gamma_density(k, x))
    return np.where((k > 0) & (x >= 0), found, np.nan)


# --- the incomplete beta function -----------------------------------------------------------------


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Return x**(a - 1) * (1 - x)**(b - 1) / beta(a, b)."""
    return _beta_density(a, b, x, 1 - x)


def _beta_density(a: Any, b: Any, x: Any, y: Any) -> Any:
    n = a + b
    powers = special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x)
    plain = np.exp(powers - _log_beta(np.minimum(a, b), np.maximum(a, b)))
    d, e = (x * n - a) / a, (y * n - b) / b
    exponent = a * _log_less(d) + b * _log_less(e) + _stirling(a) + _stirling(b) - _stirling(n)
    near = np.sqrt(a / n * b / (2 * np.pi)) * np.exp(-exponent) / (x * y)
    good = (np.minimum(a, b) >= _LARGE) & (np.maximum(np.abs(d), np.abs(e)) < _NEAR)
    return np.where(_proper(a, b, x), np.where(good, near, plain), np.nan)


def _log_beta(a: Any, b: Any) -> Any:
    """Return betaln(a, b), with an accurate gammaln(a + b) - gammaln(b) for large b."""
    n = a + b
    grown = (b - 0.5) * np.log1p(a / b) + a * np.log(n) - a + _stirling(n) - _stirling(b)
    return np.where(b >= _LARGE, special.gammaln(a) - grown, special.betaln(a, b))


def _proper(a: Any, b: Any, x: Any) -> Any:
    return (a > 0) & (b > 0) & (x >= 0) & (x <= 1)


def betainc_da(a: Any, b: Any, x: Any) -> Any:
    """Return the derivative of the regularized incomplete beta function with respect to a."""
    found = _by_first(a, b, x, 1 - x, np.log(x)) * beta_density(a, b, x)
    return np.where((x == 0) | (x == 1), 0.0, found) + 0 * beta_density(a, b, 0.5)


def betainc_db(a: Any, b: Any, x: Any) -> Any:
    """Return the derivative of the regularized incomplete beta function with respect to b."""
    found = -_by_first(b, a, 1 - x, x, np.log1p(-x)) * beta_density(a, b, x)
    return np.where((x == 0) | (x == 1), 0.0, found) + 0 * beta_density(a, b, 0.5)


def _by_first(a: Any, b: Any, x: Any, y: Any, log_x: Any) -> Any:
    """Return the derivative with respect to a, divided by the density; y is 1 - x."""
    grows = _psi_difference(a, b)

    def down(u: Any, a: Any, b: Any, x: Any, y: Any, bracket: Any) -> Any:
        """Integrand with t = x exp(-u)."""
        return np.exp((b - 1) * np.log1p(-x * np.expm1(-u) / y) - a * u) * (bracket - u)

    def up(u: Any, a: Any, b: Any, x: Any, y: Any, grows: Any) -> Any:
        """Integrand with 1 - t = y exp(-u)."""
        falls = np.exp((a - 1) * np.log1p(-y * np.expm1(-u) / x) - b * u)
        return falls * (np.log1p(-y * np.exp(-u)) + grows)

    lower = _integrals(down, _falls_over(b, a, y, x), a, b, x, y, log_x + grows) * x
    upper = _integrals(up, _falls_over(a, b, x, y), a, b, x, y, grows) * y
    return np.where(log_x + grows < 0, lower, -upper)


def _falls_over(a: Any, b: Any, x: Any, y: Any) -> Any:
    """Return the length in u over which (1 - y exp(-u))**(a - 1) * exp(-b u) decays."""
    slope, bend = (a - 1) * y / x - b, np.sqrt(np.maximum(a - 1, 0) * y) / x
    return np.maximum(1 / b, 1 / (np.abs(slope) + bend))


# --- the hypergeometric function ------------------------------------------------------------------


def hyp2f1_da(a: Any, b: Any, c: Any, z: Any) -> Any:
    """Return the derivative of hyp2f1 with respect to the first parameter."""
    below = z < 0
    second, at = np.where(below, c - b, b), np.where(below, z / (z - 1), z)
    value, slope = _continued(a, second, c, at, (1, 0, 0))
    pfaff = (slope - np.log1p(-z) * value) * np.exp(-a * np.log1p(-z))
    edge = special.psi(c - a) - special.psi(c - a - b)
    return np.where(below, pfaff, _at_one(a, b, c, z, edge, slope))


def hyp2f1_dc(a: Any, b: Any, c: Any, z: Any) -> Any:
    """Return the derivative of hyp2f1 with respect to the third parameter."""
    below = z < 0
    second, at = np.where(below, c - b, b), np.where(below, z / (z - 1), z)
    _, slope = _continued(a, second, c, at, (0, below.astype(float), 1))
    pfaff = slope * np.exp(-a * np.log1p(-z))
    edge = special.psi(c) + special.psi(c - a - b) - special.psi(c - a) - special.psi(c - b)
    return np.where(below, pfaff, _at_one(a, b, c, z, edge, slope))


def _at_one(a: Any, b: Any, c: Any, z: Any, edge: Any, inside: Any) -> Any:
    """Return the derivative at z = 1 from `edge`, a logarithmic derivative, if the series converges
    there.
    """
    one = np.where(c > a + b, edge * special.hyp2f1(a, b, c, 1.0), np.nan)
    return np.where(z < 1, inside, np.where(z == 1, one, np.nan))


def _continued(a: Any, b: Any, c: Any, z: Any, towards: tuple[Any, Any, Any]) -> tuple[Any, Any]:
    """Return the function at 0 <= z < 1, and its derivative in a direction of its parameters."""
    inside = (z >= 0) & (z < 1) & np.isfinite(a + b + c)
    a, b, c, z = np.broadcast_arrays(a, b, c, np.where(inside, z, 0.0))
    at = np.minimum(z, 0.5)
    state = _from_zero(a, b, c, at, towards)
    while (at < z).any():
        step = np.minimum(z - at, (1 - at) / 2)
        state = _from_point(a, b, c, at, step, towards, state)
        at = np.where(z - at <= (1 - at) / 2, z, at + step)
    return np.where(inside, state[0], np.nan), np.where(inside, state[2], np.nan)


_TERMS = 2000  #: what has not converged by then is NaN


def _from_zero(a: Any, b: Any, c: Any, z: Any, towards: Any) -> list[Any]:
    """Return the function, its derivative by z, and the derivatives of both in the direction."""
    da, db, dc = towards
    term, slope = np.ones_like(z), np.zeros_like(z)
    sums = [term, 0 * z, slope, 0 * z]
    for n in range(_TERMS):
        by = (c + n) * (n + 1)
        turn = da * (b + n) + db * (a + n) - (a + n) * (b + n) * dc / (c + n)
        slope = (slope * (a + n) * (b + n) + term * turn) / by
        term = term * (a + n) * (b + n) / by
        new = [term * z, (n + 1) * term, slope * z, (n + 1) * slope]
        term, slope = new[0], new[2]
        sums = [s + t for s, t in zip(sums, new, strict=True)]
        if _small(new, sums) and n > 3:
            return sums
    return [np.where(_ok(t, s), s, np.nan) for s, t in zip(sums, new, strict=True)]


def _from_point(
    a: Any, b: Any, c: Any, at: Any, step: Any, towards: Any, state: list[Any]
) -> list[Any]:
    """Continue the state from `at` to `at + step`, by Taylor series with coefficients from the
    differential equation.
    """
    da, db, dc = towards
    value, first, slope, mixed = state
    f, g = [value, first * step], [slope, mixed * step]
    sums = [value + f[1], first, slope + g[1], mixed]
    lead, q = np.where(step > 0, at * (1 - at), 1), c - (a + b + 1) * at
    for n in range(_TERMS):
        middle = (n + 1) * ((1 - 2 * at) * n + q)
        turned = (n + 1) * (dc - (da + db) * at) * f[1] * step
        turned = turned - (da * (n + b) + db * (n + a)) * f[0] * step**2
        by = -lead * (n + 2) * (n + 1)
        ends = (n + a) * (n + b) * step**2
        g = [g[1], (middle * g[1] * step - ends * g[0] + turned) / by]
        f = [f[1], (middle * f[1] * step - ends * f[0]) / by]
        per = np.where(step > 0, (n + 2) / np.where(step > 0, step, 1), 0.0)
        new = [f[1], f[1] * per, g[1], g[1] * per]
        sums = [s + t for s, t in zip(sums, new, strict=True)]
        if _small(new, sums) and n > 3:
            break
    return sums


def _small(new: Any, sums: Any) -> bool:
    return all([_ok(t, s).all() for t, s in zip(new, sums, strict=True)])


def _ok(term: Any, total: Any) -> Any:
    """Return whether a term is too small to change the total."""
    return ~(np.abs(term) > 1e-17 * np.abs(total)) | ~np.isfinite(total)
