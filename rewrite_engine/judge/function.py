"""Exact meanings of further elementwise functions, by mpmath (the common ones: `exact.SCALAR`).

They are slower than those of `exact.py`, so checks of rules and the fuzzer do not use them; the
report of accuracy does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp, mpf
from scipy import special

from rewrite_engine.judge.exact import INF, real

EXTRA_DIGITS = 10  # of a quantile's search: beyond those of its result
START_STEP = 1e-9  # relative distance of the two starting points of a search


def _largest(x: Any, y: Any) -> Any:
    return y if x != x else x if y != y else max(x, y)


def _smallest(x: Any, y: Any) -> Any:
    return y if x != x else x if y != y else min(x, y)


def _remainder(x: Any, y: Any) -> Any:
    """Return the remainder with the sign of x."""
    return x - y * mp.sign(x / y) * mp.floor(abs(x / y))


def _scaled_erfc(x: Any) -> Any:
    """Return exp(x²) erfc(x); far out, where erfc has no digits left, its asymptotic series."""
    if x < 1e5:
        return mp.exp(x * x) * mp.erfc(x)
    return (1 - 1 / (2 * x * x) + 3 / (4 * x**4)) / (x * mp.sqrt(mp.pi))


def _inverse_erf(x: Any) -> Any:
    return mp.sign(x) * INF if abs(x) == 1 else mp.erfinv(x)


def _inverse_erfc(x: Any) -> Any:
    if x in (0, 2):
        return INF * (1 - x)
    with mp.workdps(mp.dps + _zeros(min(x, 2 - x))):
        found = mp.erfinv(1 - x)
    return +found


def _normal_quantile_of_log(y: Any) -> Any:
    with mp.workdps(mp.dps + _zeros(mp.exp(y)) + _zeros(-mp.expm1(y))):
        found = mp.sqrt(2) * mp.erfinv(2 * mp.exp(y) - 1)
    return +found


def _zeros(x: Any) -> int:
    """Return how many zeros a number has after its point: as many digits a difference from 1
    loses.
    """
    return max(0, -int(mp.log10(x))) if x > 0 else 0


def _owens_t(h: Any, a: Any) -> Any:
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi)


def _lower_gamma(k: Any, x: Any) -> Any:
    return mpf(1) if x == INF else mp.gammainc(k, 0, x, regularized=True)


def _upper_gamma(k: Any, x: Any) -> Any:
    return mpf(0) if x == INF else mp.gammainc(k, x, regularized=True)


def _beta_share(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def _slope(of: Callable[..., Any], k: int, *at: Any) -> Any:
    """Return a partial derivative."""
    return mp.diff(of, at, tuple([int(i == k) for i in range(len(at))]))


def _quantile(name: str, of: Callable[..., Any], *at: Any) -> Any:
    """Return where a distribution function has a value, near to SciPy's answer."""
    *parameters, p = at
    start = float(getattr(special, name)(*map(float, at)))
    if not 0 < start < math.inf:
        return mpf(start)
    tolerance = mpf(10) ** (-2 * mp.dps + EXTRA_DIGITS)
    pair = (mpf(start), mpf(start) * (1 - START_STEP))
    return mp.findroot(lambda x: of(*parameters, x) - p, pair, tol=tolerance)


def _power_of_two_sum(x: Any, y: Any) -> Any:
    return x if x == y == -INF else max(x, y) + mp.log1p(mpf(2) ** -abs(x - y)) / mp.ln2


FUNCTIONS: dict[str, Any] = {
    "fmod": real(_remainder),
    "logaddexp2": real(_power_of_two_sum),
    "round_half_away_from_zero": real(lambda x: mp.sign(x) * mp.floor(abs(x) + mpf(0.5))),
    "copysign": real(lambda x, y: abs(x) * (1 if y >= 0 else -1)),
    "heaviside": real(lambda x, y: y if x == 0 else mpf(int(x > 0))),
    "ldexp": real(lambda x, i: x * mpf(2) ** mp.floor(i)),
    "real": real(lambda x: mp.re(x)),
    "imag": real(lambda x: mp.im(x)),
    "conj": real(lambda x: mp.conj(x)),
    "angle": real(lambda x: mp.arg(x)),
    "complex": np.frompyfunc(mp.mpc, 2, 1),
    "complex_from_polar": np.frompyfunc(lambda r, t: r * mp.expj(t), 2, 1),
    "erfcx": real(_scaled_erfc),
    "erfinv": real(_inverse_erf),
    "erfcinv": real(_inverse_erfc),
    "ndtri_exp": real(_normal_quantile_of_log),
    "owens_t": real(_owens_t),
    "polygamma": real(lambda n, x: mp.polygamma(int(n), x)),
    "tri_gamma": real(lambda x: mp.polygamma(1, x)),
    "gamma_density": real(lambda k, x: x ** (k - 1) * mp.exp(-x) / mp.gamma(k)),
    "gammainc": real(_lower_gamma),
    "gammaincc": real(_upper_gamma),
    "gammainc_dk": real(lambda k, x: _slope(_lower_gamma, 0, k, x)),
    "gammaincinv": real(lambda k, p: _quantile("gammaincinv", _lower_gamma, k, p)),
    "gammainccinv": real(lambda k, q: _quantile("gammainccinv", _upper_gamma, k, q)),
    "beta_density": real(lambda a, b, x: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)),
    "betainc": real(_beta_share),
    "betainc_da": real(lambda a, b, x: _slope(_beta_share, 0, a, b, x)),
    "betainc_db": real(lambda a, b, x: _slope(_beta_share, 1, a, b, x)),
    "betaincinv": real(lambda a, b, p: _quantile("betaincinv", _beta_share, a, b, p)),
    "j0": real(lambda x: mp.j0(x)),
    "j1": real(lambda x: mp.j1(x)),
    "jv": real(lambda v, x: mp.besselj(v, x)),
    "hyp2f1": real(lambda a, b, c, z: mp.hyp2f1(a, b, c, z)),
    "hyp2f1_da": real(lambda a, b, c, z: _slope(mp.hyp2f1, 0, a, b, c, z)),
    "hyp2f1_dc": real(lambda a, b, c, z: _slope(mp.hyp2f1, 2, a, b, c, z)),
}
#: functions of which NaN is an ordinary argument: the other one is the result
IGNORES_NAN: dict[str, Callable[[Any, Any], Any]] = {"fmax": _largest, "fmin": _smallest}
#: microseconds for one number with 50 digits; of others: `COMMON_COST`
COST: dict[str, float] = {
    "exp": 6, "log": 8, "log1p": 10, "expm1": 8, "log2": 8, "log10": 8, "exp2": 8, "pow": 10,
    "sqrt": 3, "sin": 10, "cos": 10, "tan": 15, "arcsin": 15, "arccos": 15, "arctan": 12,
    "arctan2": 15, "sinh": 12, "cosh": 12, "tanh": 12, "sigmoid": 12, "softplus": 20,
    "logaddexp": 25, "log1mexp": 20, "erf": 60, "erfc": 80, "logerfc": 90, "erfcx": 100,
    "log_ndtr": 90,
    "gammaln": 60, "gamma": 40, "psi": 60, "tri_gamma": 150, "polygamma": 200, "beta": 100,
    "betaln": 200, "erfinv": 1000, "erfcinv": 1500, "ndtri_exp": 1500, "gammainc": 600,
    "gammaincc": 600, "betainc": 1000, "gammainc_dk": 3000, "betainc_da": 4000,
    "betainc_db": 4000, "gammaincinv": 5000, "gammainccinv": 5000, "betaincinv": 8000,
    "hyp2f1": 1000, "hyp2f1_da": 4000, "hyp2f1_dc": 4000, "owens_t": 5000, "j0": 100, "j1": 100,
    "jv": 300, "i0": 100, "i1": 100, "iv": 300, "ive": 300, "kv": 600, "kve": 600,
}  # fmt: skip
COMMON_COST = 1.5


def defined(name: str) -> bool:
    """Return whether a function has an exact meaning here."""
    return name in FUNCTIONS or name in IGNORES_NAN


def value_of(name: str, inputs: Sequence[Any]) -> Any:
    """Return a function's values for arrays of exact numbers. Raises `KeyError`."""
    if name in IGNORES_NAN:
        return np.frompyfunc(IGNORES_NAN[name], 2, 1)(*inputs)
    return FUNCTIONS[name](*inputs)
