"""What scalar ops mean, in the words of mpmath: one line per op. Their values and gradients are
compared with it (`test_table.py`).
"""

from __future__ import annotations

import math
from typing import Any

from mpmath import mp
from scipy import special

MEANS: dict[str, Any] = {
    "add": lambda *xs: mp.fsum(xs),
    "mul": lambda *xs: mp.fprod(xs),
    "sub": lambda x, y: x - y,
    "true_div": lambda x, y: x / y,
    "floor_div": lambda x, y: mp.floor(x / y),
    "mod": lambda x, y: x - y * mp.floor(x / y),
    "neg": lambda x: -x,
    "abs": lambda x: abs(x),
    "sign": mp.sign,
    "sqr": lambda x: x * x,
    "sqrt": mp.sqrt,
    "reciprocal": lambda x: 1 / x,
    "pow": lambda x, y: x**y,
    "exp": mp.exp,
    "exp2": lambda x: mp.mpf(2) ** x,
    "expm1": mp.expm1,
    "log": mp.log,
    "log2": lambda x: mp.log(x, 2),
    "log10": mp.log10,
    "log1p": mp.log1p,
    "logaddexp": lambda *xs: mp.log(mp.fsum(map(mp.exp, xs))),
    "logdiffexp": lambda x, y: mp.log(mp.exp(x) - mp.exp(y)),
    "log1mexp": lambda x: mp.log(-mp.expm1(x)),
    "softplus": lambda x: mp.log1p(mp.exp(x)),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "logerfc": lambda x: mp.log(mp.erfc(x)),
    "log_odds": lambda x: mp.log(x / (1 - x)),
    "log_ndtr": lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2),
    "gammaln": mp.loggamma,
    "i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
    "i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
    "psi_difference": lambda x, k: mp.digamma(x + k) - mp.digamma(x),
    "gammasgn": lambda x: mp.sign(mp.gamma(x)),
    "betaln": lambda x, y: mp.log(mp.beta(x, y)),
    "psi": mp.digamma,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "arcsin": mp.asin,
    "arccos": mp.acos,
    "arctan": mp.atan,
    "hypot": mp.hypot,
    "arctan2": mp.atan2,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "sech2": lambda x: 1 / mp.cosh(x) ** 2,
    "logcosh": lambda x: mp.log(mp.cosh(x)),
    "arcsinh": mp.asinh,
    "arccosh": mp.acosh,
    "arctanh": mp.atanh,
    "maximum": lambda *xs: max(xs),
    "minimum": lambda *xs: min(xs),
    "clip": lambda x, low, high: min(max(x, low), high),
    "switch": lambda condition, x, y: x if condition else y,
    "second": lambda x, y: y,
    "identity": lambda x: x,
    "eq": lambda x, y: x == y,
    "neq": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "isnan": mp.isnan,
    "isinf": mp.isinf,
    "and_": lambda *xs: _bits(int.__and__, xs),
    "or_": lambda *xs: _bits(int.__or__, xs),
    "xor": lambda *xs: _bits(int.__xor__, xs),
    "invert": lambda x: ~int(x),
    "floor": mp.floor,
    "ceil": mp.ceil,
    "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)),
    "round": mp.nint,
    "round_half_away_from_zero": lambda x: mp.sign(x) * mp.floor(abs(x) + mp.mpf(0.5)),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "fmod": lambda x, y: x - y * mp.sign(x / y) * mp.floor(abs(x / y)),
    "fmax": max,
    "fmin": min,
    "logaddexp2": lambda x, y: mp.log(mp.mpf(2) ** x + mp.mpf(2) ** y, 2),
    "left_shift": lambda x, k: int(x) << int(k),
    "right_shift": lambda x, k: int(x) >> int(k),
    "bitwise_count": lambda x: abs(int(x)).bit_count(),
    "gcd": lambda x, y: math.gcd(int(x), int(y)),
    "lcm": lambda x, y: math.lcm(int(x), int(y)),
    "isfinite": mp.isfinite,
    "signbit": lambda x: x < 0,
    "copysign": lambda x, y: abs(x) * (1 if y >= 0 else -1),
    "nextafter": lambda x, y: x,  # up to rounding
    "heaviside": lambda x, y: y if x == 0 else int(x > 0),
    "ldexp": lambda x, i: x * mp.mpf(2) ** mp.floor(i),
    "frexp_mantissa": lambda x: mp.frexp(x)[0],
    "frexp_exponent": lambda x: mp.frexp(x)[1],
    "real": lambda x: x,
    "imag": lambda x: x * 0,
    "conj": lambda x: x,
    "angle": lambda x: mp.pi if x < 0 else mp.mpf(0),
    "complex": lambda x, y: mp.mpc(x, y),
    "complex_from_polar": lambda r, theta: r * mp.expj(theta),
    "erfinv": mp.erfinv,
    "erfcinv": lambda x: mp.erfinv(1 - x),
    "ndtri_exp": lambda y: mp.sqrt(2) * mp.erfinv(2 * mp.exp(y) - 1),
    "owens_t": lambda h, a: _owens_t(h, a),
    "gamma": mp.gamma,
    "polygamma": lambda n, x: mp.polygamma(int(n), x),
    "tri_gamma": lambda x: mp.polygamma(1, x),
    "beta": mp.beta,
    "poch": lambda x, k: mp.gamma(x + k) / mp.gamma(x),
    "xlogy": lambda x, y: x * mp.log(y),
    "xlog1py": lambda x, y: x * mp.log1p(y),
    "gammainc": lambda k, x: mp.gammainc(k, 0, x, regularized=True),
    "gammaincc": lambda k, x: mp.gammainc(k, x, regularized=True),
    "gammaincinv": lambda k, p: _quantile("gammaincinv", k, p),
    "gammainccinv": lambda k, q: _quantile("gammainccinv", k, q),
    "gamma_density": lambda k, x: x ** (k - 1) * mp.exp(-x) / mp.gamma(k),
    "gammainc_dk": lambda k, x: _slope(MEANS["gammainc"], 0, k, x),
    "betainc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    "betaincinv": lambda a, b, p: _quantile("betaincinv", a, b, p),
    "beta_density": lambda a, b, x: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b),
    "betainc_da": lambda a, b, x: _slope(MEANS["betainc"], 0, a, b, x),
    "betainc_db": lambda a, b, x: _slope(MEANS["betainc"], 1, a, b, x),
    "j0": mp.j0,
    "j1": mp.j1,
    "jv": mp.besselj,
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "iv": mp.besseli,
    "ive": lambda v, x: mp.besseli(v, x) * mp.exp(-abs(x)),
    "kv": mp.besselk,
    "kve": lambda v, x: mp.besselk(v, x) * mp.exp(x),
    "hyp2f1": mp.hyp2f1,
    "hyp2f1_da": lambda a, b, c, z: _slope(mp.hyp2f1, 0, a, b, c, z),
    "hyp2f1_dc": lambda a, b, c, z: _slope(mp.hyp2f1, 2, a, b, c, z),
}


def _slope(of: Any, k: int, *at: Any) -> Any:
    """A partial derivative."""
    return mp.diff(of, at, tuple([int(i == k) for i in range(len(at))]))


def _owens_t(h: Any, a: Any) -> Any:
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi)


def _quantile(name: str, *at: Any) -> Any:
    """Where a distribution function has a value: near to what SciPy says."""
    of, (*parameters, p) = MEANS[name.removesuffix("inv")], at
    start = float(getattr(special, name)(*map(float, at)))
    if not 0 < start < math.inf:
        raise ValueError
    return mp.findroot(lambda x: of(*parameters, x) - p, (start, start * (1 - 1e-9)), tol=1e-60)


def _bits(of: Any, xs: Any) -> int:
    result = int(xs[0])
    for x in xs[1:]:
        result = of(result, int(x))
    return result
