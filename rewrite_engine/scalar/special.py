"""Table of special functions computed by SciPy.

The entries are written as in `scalar/ops.py`, which also has their names. Derivatives with respect
to parameters (the k of `gammainc`, the a of `hyp2f1`) are separate ops, computed in
`scalar/parameters.py`. Formulas are from the NIST Digital Library of Mathematical Functions (DLMF),
cited by number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.scalar.fold import copy_into
from rewrite_engine.scalar.op import ScalarOp, _float, _step

_SQRT_PI = math.sqrt(math.pi)
_TWO_BY_SQRT_PI = 2 / _SQRT_PI


def _function(name: str, nin: int, grads: tuple[Any, ...], **options: Any) -> ScalarOp:
    """Define a function of several numbers that SciPy has under the same name."""
    options = {"cost": 60, "inner": float_dtype} | options
    return ScalarOp.define(name, nin, f"scipy.special.{name}", grads, **options)


def _without(why: str) -> Any:
    """Return a gradient that raises `NotImplementedError`, for a derivative that is not
    available.
    """

    def refuse(*args: Any) -> Any:
        raise NotImplementedError(why)

    refuse.why = why  # type: ignore[attr-defined]
    return refuse


# --- hyperbolic functions -----------------------------------------------------------------------


def _sech2(m: Any, x: Any) -> Any:
    e = m.exp(m.abs(x) * -2)
    return m.minimum(e * 4 / m.sqr(e + 1), 1.0)


def _logcosh(m: Any, x: Any) -> Any:
    """Return log(1 + (cosh(x) - 1)), where cosh(x) - 1 = q**2 / (2 (1 + q)) for q = expm1(x)."""
    size = m.abs(x)
    q = m.expm1(m.minimum(size, 1.0))
    far = size + (m.log1p(m.exp(size * -2)) - math.log(2.0))
    return m.switch(m.gt(size, 1.0), far, m.log1p(m.sqr(q) / ((q + 1) * 2)))


def _by_formula(formula: Callable[..., Any], *arrays: Any, out: Any = None) -> Any:
    """Compute the formula of an op with NumPy."""
    dtype = _real_dtype(*[np.asarray(x).dtype.name for x in arrays])
    with np.errstate(all="ignore"):
        found = np.asarray(
            formula(_FormulaFunctions, *[np.asarray(x, dtype) for x in arrays]), dtype
        )
    return copy_into(found, out)


class _FormulaFunctions:
    """The functions of formulas, on arrays."""

    abs, gt, minimum, switch, sqr = np.abs, np.greater, np.minimum, np.where, np.square
    lt, exp, expm1, log, log1p = np.less, np.exp, np.expm1, np.log, np.log1p

    @staticmethod
    def psi(x: Any) -> Any:
        return psi.impl(x)


def _own(name: str, formula: Callable[..., Any], grad: Any, **options: Any) -> ScalarOp:
    """Define a function of real numbers by a formula."""
    return ScalarOp.define(
        name, 1, grad=(grad,), compute=partial(_by_formula, formula), formula=formula,
        dtypes=lambda x: _real_dtype(x), inner=lambda *d: _real_dtype(*d), **options,
    )  # fmt: skip


#: 1 - tanh(x)**2
sech2 = _own(
    "sech2", _sech2, lambda m, g, z, x: g * z * m.tanh(x) * -2, cost=14, range="(0, 1]",
)  # fmt: skip
logcosh = _own(
    "logcosh", _logcosh, lambda m, g, z, x: g * m.tanh(x), cost=25, range="[0, inf)", keeps="finite"
)

# --- error functions ----------------------------------------------------------------------------

erf = _float(
    "erf", "scipy.special.erf", lambda m, g, z, x: g * _TWO_BY_SQRT_PI * m.exp(-m.sqr(x)), cost=20,
    increasing=True, range="(-1, 1)", keeps="nonneg",
)  # fmt: skip
erfc = _float(
    "erfc", "scipy.special.erfc", lambda m, g, z, x: g * -_TWO_BY_SQRT_PI * m.exp(-m.sqr(x)),
    cost=20, range="(0, 2)",
)  # fmt: skip


#: beyond it, eight terms of a series are exact
_ERFCX_FAR = 14.0


def _erfcx_grad(m: Any, g: Any, z: Any, x: Any) -> Any:
    """Return the gradient 2 x erfcx(x) - 2 / sqrt(pi); for large x, where the terms cancel, its
    series (DLMF 7.12.1).
    """
    u = 0.5 / m.sqr(m.maximum(x, _ERFCX_FAR))
    series: Any = 1.0
    for k in range(17, 1, -2):
        series = 1.0 - k * u * series
    far = -_TWO_BY_SQRT_PI * u * series
    slope = m.switch(m.gt(x, _ERFCX_FAR), far, 2 * x * z - _TWO_BY_SQRT_PI)
    return m.switch(m.and_(m.eq(g, 0.0), m.isinf(slope)), 0.0, g * slope)  # of 1 / erfcx(x)


#: exp(x**2) * erfc(x)
erfcx = _float("erfcx", "scipy.special.erfcx", _erfcx_grad, cost=20)


def _logerfc(x: Any, out: Any = None) -> Any:
    """Return log(erfc(x)). erfc underflows for large x; erfcx(x) = exp(x**2) erfc(x) does not."""
    with np.errstate(all="ignore"):
        below = np.log1p(-erf.impl(x))
        result = np.where(x > 0.5, np.log(erfcx.impl(x)) - np.square(x, dtype=below.dtype), below)
    return result if out is None else copy_into(result, out)


def _as_sum(*dtypes: str) -> str:
    """Return the dtype of a sum of values of erfc."""
    wide = np.dtype(erfc.result_dtypes(dtypes)[0])
    return np.logaddexp.resolve_dtypes((wide, wide, None))[-1].name


logerfc = ScalarOp.define(
    "logerfc", 1, grad=(lambda m, g, z, x: g * -_TWO_BY_SQRT_PI / m.erfcx(x),), compute=_logerfc,
    cost=30, dtypes=_as_sum, inner=float_dtype,
)  # fmt: skip
erfinv = _float(
    "erfinv", "scipy.special.erfinv", lambda m, g, z, x: g * (_SQRT_PI / 2) * m.exp(m.sqr(z)),
    cost=30, increasing=True, keeps="nonneg", domain="(-1, 1)",
)  # fmt: skip
erfcinv = _float(
    "erfcinv", "scipy.special.erfcinv", lambda m, g, z, x: -(g * (_SQRT_PI / 2) * m.exp(m.sqr(z))),
    cost=30, domain="(0, 2)",
)  # fmt: skip
#: the logarithm of the normal distribution function, log(erfc(-x / sqrt(2)) / 2)
log_ndtr = _float(
    "log_ndtr", "scipy.special.log_ndtr",
    lambda m, g, z, x: g * math.sqrt(2 / math.pi) / m.erfcx(x * -math.sqrt(0.5)),
    cost=30, increasing=True, range="(-inf, 0)",
)  # fmt: skip
#: the x whose normal distribution function is exp(y)
ndtri_exp = _float(
    "ndtri_exp", "scipy.special.ndtri_exp",
    lambda m, g, z, y: g * math.sqrt(math.pi / 2) * m.erfcx(z * -math.sqrt(0.5)),
    cost=40, increasing=True, domain="(-inf, 0)",
)  # fmt: skip
#: Owen's T
owens_t = _function("owens_t", 2, (
    lambda m, g, z, h, a:
        g * -math.sqrt(0.125 / math.pi) * m.exp(m.sqr(h) * -0.5) * m.erf(a * h * math.sqrt(0.5)),
    lambda m, g, z, h, a:
        g * (0.5 / math.pi) * m.exp(m.sqr(m.hypot(h, a * h)) * -0.5) / m.sqr(m.hypot(1.0, a)),
), range="[-0.25, 0.25]", cost=100)  # fmt: skip

# --- gamma and beta functions -------------------------------------------------------------------

gamma = _float(
    "gamma", "scipy.special.gamma", lambda m, g, z, x: g * z * m.psi(x), cost=40, domain="(0, inf)"
)
gammaln = _float(
    "gammaln", "scipy.special.gammaln", lambda m, g, z, x: g * m.psi(x), cost=40, domain="(0, inf)"
)
#: 1 where gamma is positive, and -1 where it is negative
gammasgn = _float("gammasgn", "scipy.special.gammasgn", _step, cost=4)
psi = _float(
    "psi", "scipy.special.psi", lambda m, g, z, x: g * m.tri_gamma(x), cost=40, domain="(0, inf)",
    aliases="digamma",
)  # fmt: skip


def _real_dtype(*dtypes: str) -> str:
    """Return the dtype of a function that exists only for float32 and float64."""
    return erfinv.result_dtypes((float_dtype(*dtypes),))[0]


def _polygamma_dtype(n: str, x: str) -> str:
    _real_dtype(n)  # the order is a real number, too
    return _real_dtype(x)


def _polygamma(n: Any, x: Any, out: Any = None) -> Any:
    """Return the n-th derivative of psi, by Hurwitz's zeta function (DLMF 5.15.2, 25.11.12).

    For negative x it takes |x| steps; n = 1 uses reflection instead (5.15.6). Negative integers are
    poles, as are numbers too large to have a fraction, and -inf.
    """
    from scipy import special

    order, at = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(x, np.float64))
    with np.errstate(all="ignore"):
        pole = (at < 0) & (np.floor(at) == at)
        turned = (at < 0) & (order == 1) & ~pole
        steps = np.where(turned, 1 - at, np.where(pole, 0, np.where(at < -1e4, np.nan, at)))
        found = special.gamma(order + 1) * special.zeta(order + 1, steps)
        found = np.where(order % 2 == 0, -found, found)
        sine = np.sin(np.pi * (at - np.round(at)))
        found = np.where(turned, np.square(np.pi / sine) - found, found)
        found = np.where(order == 0, special.psi(x), found)
    found = np.where((order >= 0) & (order == np.floor(order)), found, np.nan)
    return copy_into(found.astype(_real_dtype(x.dtype.name)), out)


polygamma = ScalarOp.define("polygamma", 2, grad=(
    _without("the order is a whole number"),
    lambda m, g, z, n, x: g * m.polygamma(n + 1, x),
), compute=_polygamma, dtypes=_polygamma_dtype, free=(0,), cost=60,
   domain=("[1, 6]", "(0, inf)"))  # fmt: skip
tri_gamma = ScalarOp.define(
    "tri_gamma", 1, grad=(lambda m, g, z, x: g * m.polygamma(2, x),), cost=60,
    compute=lambda x, out=None: _polygamma(1, x, out), dtypes=_real_dtype, domain="(0, inf)",
    range="(0, inf)",
)  # fmt: skip


def _psi_rise(m: Any, x: Any, k: Any) -> Any:
    """Return psi(x + k) - psi(x) by steps to larger numbers (DLMF 5.5.2), and the series there
    (5.11.2), each without a difference of large terms.
    """
    y, found = x + k, 0.0
    for j in range(_PSI_STEPS):
        found = found + k / (x + j) / (y + j)
    x, y = x + _PSI_STEPS, y + _PSI_STEPS
    u, v = 1 / m.sqr(x), 1 / m.sqr(y)
    series, less, total, power = m.log1p(k / x) + k / x / y * 0.5, k * (x + y) * u * v, 1.0, v
    for b in _PSI_SERIES:  # u**n - v**n is (u - v) * total
        series = series + less * total * b
        total, power = u * total + power, power * v
    return found + series


def _psi_difference(m: Any, x: Any, k: Any) -> Any:
    """Return psi(x + k) - psi(x), without loss of digits if both numbers are above 0."""
    good = m.gt(m.minimum(x, x + k), 0.0)
    return m.switch(good, _psi_rise(m, m.abs(x), k), m.psi(x + k) - m.psi(x))


_PSI_STEPS = 10
_PSI_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)  # of 1 / x**2
#: psi(x + k) - psi(x)
psi_difference = ScalarOp.define("psi_difference", 2, grad=(
    lambda m, g, z, x, k: g * (m.tri_gamma(x + k) - m.tri_gamma(x)),
    lambda m, g, z, x, k: g * m.tri_gamma(x + k),
), compute=partial(_by_formula, _psi_difference), formula=_psi_difference, dtypes=_real_dtype,
   inner=_real_dtype, cost=90, domain="(0, inf)")  # fmt: skip
beta = _function("beta", 2, (
    lambda m, g, z, a, b: -(g * z * m.psi_difference(a, b)),
    lambda m, g, z, a, b: -(g * z * m.psi_difference(b, a)),
), commutative=True, domain="(0, inf)")  # fmt: skip
#: gamma(n + 1) / gamma(k + 1) / gamma(n - k + 1)
binom = _function("binom", 2, (
    lambda m, g, z, n, k: g * z * m.psi_difference(n - k + 1.0, k),
    lambda m, g, z, n, k: g * z * m.psi_difference(k + 1.0, n - k - k),
))  # fmt: skip
betaln = _function("betaln", 2, (
    lambda m, g, z, x, y: -(g * m.psi_difference(x, y)),
    lambda m, g, z, x, y: -(g * m.psi_difference(y, x)),
), commutative=True, domain="(0, inf)")  # fmt: skip
#: gamma(x + k) / gamma(x)
poch = _function("poch", 2, (
    lambda m, g, z, x, k: g * z * m.psi_difference(x, k),
    lambda m, g, z, x, k: g * z * m.psi(x + k),
), domain="(0, inf)")  # fmt: skip


def _log_odds(m: Any, x: Any) -> Any:
    """Return log(x / (1 - x)); above 1/4, where 2 x - 1 is exact, by the distance from 1/2."""
    far, near = m.log(x / (1.0 - x)), m.log1p((2.0 * x - 1.0) / (1.0 - x))
    return m.switch(m.lt(x, 0.25), far, near)


#: log(x / (1 - x))
log_odds = ScalarOp.define(
    "log_odds", 1, grad=(lambda m, g, z, x: g / (x * (1.0 - x)),),
    compute=partial(_by_formula, _log_odds), formula=_log_odds, dtypes=_real_dtype,
    inner=_real_dtype, cost=25, domain="(0, 1)",
)  # fmt: skip
#: x * log(y), 0 where x is 0
xlogy = _function("xlogy", 2, (
    lambda m, g, z, x, y: g * m.log(y),
    lambda m, g, z, x, y: m.switch(m.eq(x, 0), 0.0, g * (x / y)),
), cost=12, domain=("(-inf, inf)", "(0, inf)"))  # fmt: skip
#: x * log(1 + y), 0 where x is 0
xlog1py = _function("xlog1py", 2, (
    lambda m, g, z, x, y: g * m.log1p(y),
    lambda m, g, z, x, y: m.switch(m.eq(x, 0), 0.0, g * (x / (1 + y))),
), cost=12, domain=("(-inf, inf)", "(-1, inf)"))  # fmt: skip

# --- incomplete gamma and beta functions --------------------------------------------------------

_TWICE = "a second derivative with respect to parameters"


def _of_parameters(name: str, nin: int, grads: tuple[Any, ...], **options: Any) -> ScalarOp:
    """Define an op for a function of `scalar/parameters.py`, which computes in float64."""

    def compute(*arrays: Any, out: Any = None) -> Any:
        from rewrite_engine.scalar import parameters

        with np.errstate(all="ignore"):
            found = getattr(parameters, name)(*[np.asarray(x, np.float64) for x in arrays])
        return copy_into(found.astype(_real_dtype(*[x.dtype.name for x in arrays])), out)

    return ScalarOp.define(
        name, nin, grad=grads, compute=compute, dtypes=_real_dtype, cost=400, **options
    )


#: the density of the gamma distribution: x**(k - 1) * exp(-x) / gamma(k)
gamma_density = _of_parameters("gamma_density", 2, (
    lambda m, g, z, k, x: g * z * (m.log(x) - m.psi(k)),
    lambda m, g, z, k, x: g * z * ((k - 1) / x - 1),
), domain="(0, inf)", range="[0, inf)")  # fmt: skip
#: the derivative of gammainc with respect to k
gammainc_dk = _of_parameters("gammainc_dk", 2, (
    _without(_TWICE),
    lambda m, g, z, k, x: g * m.gamma_density(k, x) * (m.log(x) - m.psi(k)),
), domain="(0, inf)")  # fmt: skip


def _gamma_quantile(m: Any, g: Any, z: Any, k: Any, p: Any) -> Any:
    """Return the gradient of a gamma quantile, by the implicit function theorem."""
    return -(g * m.gammainc_dk(k, z) / m.gamma_density(k, z))


_probability: Any = {"cost": 200, "domain": ("(0, inf)", "(0, 1)"), "range": "[0, inf)"}
gammainc = _function("gammainc", 2, (
    lambda m, g, z, k, x: g * m.gammainc_dk(k, x),
    lambda m, g, z, k, x: g * m.gamma_density(k, x),
), domain="(0, inf)", range="[0, inf)")  # fmt: skip
gammaincc = _function("gammaincc", 2, (
    lambda m, g, z, k, x: -(g * m.gammainc_dk(k, x)),
    lambda m, g, z, k, x: -(g * m.gamma_density(k, x)),
), domain="(0, inf)", range="[0, inf)")  # fmt: skip
gammaincinv = _function("gammaincinv", 2, (
    _gamma_quantile, lambda m, g, z, k, p: g / m.gamma_density(k, z),
), **_probability)  # fmt: skip
gammainccinv = _function("gammainccinv", 2, (
    _gamma_quantile, lambda m, g, z, k, p: -(g / m.gamma_density(k, z)),
), **_probability)  # fmt: skip

_unit: Any = {"domain": ("(0, inf)", "(0, inf)", "(0, 1)")}
#: the density of the beta distribution: x**(a - 1) * (1 - x)**(b - 1) / beta(a, b)
beta_density = _of_parameters("beta_density", 3, (
    lambda m, g, z, a, b, x: g * z * (m.log(x) + (m.psi(a + b) - m.psi(a))),
    lambda m, g, z, a, b, x: g * z * (m.log1p(-x) + (m.psi(a + b) - m.psi(b))),
    lambda m, g, z, a, b, x: g * z * ((a - 1) / x - (b - 1) / (1 - x)),
), range="[0, inf)", **_unit)  # fmt: skip
#: the derivatives of betainc with respect to a and b
betainc_da = _of_parameters("betainc_da", 3, (
    _without(_TWICE), _without(_TWICE),
    lambda m, g, z, a, b, x:
        g * m.beta_density(a, b, x) * (m.log(x) + (m.psi(a + b) - m.psi(a))),
), **_unit)  # fmt: skip
betainc_db = _of_parameters("betainc_db", 3, (
    _without(_TWICE), _without(_TWICE),
    lambda m, g, z, a, b, x:
        g * m.beta_density(a, b, x) * (m.log1p(-x) + (m.psi(a + b) - m.psi(b))),
), **_unit)  # fmt: skip
betainc = _function("betainc", 3, (
    lambda m, g, z, a, b, x: g * m.betainc_da(a, b, x),
    lambda m, g, z, a, b, x: g * m.betainc_db(a, b, x),
    lambda m, g, z, a, b, x: g * m.beta_density(a, b, x),
), range="[0, inf)", **_unit)  # fmt: skip
betaincinv = _function("betaincinv", 3, (
    lambda m, g, z, a, b, p: -(g * m.betainc_da(a, b, z) / m.beta_density(a, b, z)),
    lambda m, g, z, a, b, p: -(g * m.betainc_db(a, b, z) / m.beta_density(a, b, z)),
    lambda m, g, z, a, b, p: g / m.beta_density(a, b, z),
), cost=200, **_unit)  # fmt: skip

# --- Bessel functions (DLMF 10.6.1, 10.29.1) ----------------------------------------------------

_order = _without("the derivative with respect to the order of a Bessel function")
_bessel: Any = partial(_float, cost=40)


def _with_order(name: str, slope: Callable[..., Any], **options: Any) -> ScalarOp:
    """Define a Bessel function whose order has no gradient. slope: (f, m, z, v, x), where f is the
    function itself.
    """
    grad = lambda m, g, z, v, x: g * slope(getattr(m, name), m, z, v, x)
    return _function(name, 2, (_order, grad), cost=100, **options)


j0 = _bessel("j0", "scipy.special.j0", lambda m, g, z, x: -(g * m.j1(x)), range="[-1, 1]")
j1 = _bessel(
    "j1", "scipy.special.j1", lambda m, g, z, x: g * 0.5 * (m.j0(x) - m.jv(2, x)), range="[-1, 1]"
)
i0 = _bessel("i0", "scipy.special.i0", lambda m, g, z, x: g * m.i1(x), range="(0, inf)")
i1 = _bessel(
    "i1", "scipy.special.i1", lambda m, g, z, x: g * 0.5 * (m.i0(x) + m.iv(2, x)), keeps="nonneg"
)
#: i0 and i1, times exp(-abs(x))
i0e = _bessel(
    "i0e", "scipy.special.i0e", lambda m, g, z, x: g * (m.i1e(x) - z * m.sign(x)), range="(0, 1]"
)
i1e = _bessel(
    "i1e", "scipy.special.i1e",
    lambda m, g, z, x: g * (0.5 * (m.i0e(x) + m.ive(2, x)) - z * m.sign(x)), keeps="nonneg",
)  # fmt: skip
jv = _with_order("jv", lambda f, m, z, v, x: 0.5 * (f(v - 1, x) - f(v + 1, x)), domain="(0, inf)")
iv = _with_order("iv", lambda f, m, z, v, x: 0.5 * (f(v - 1, x) + f(v + 1, x)), domain="(0, inf)")
#: iv, times exp(-abs(x))
ive = _with_order(
    "ive", lambda f, m, z, v, x: 0.5 * (f(v - 1, x) + f(v + 1, x)) - z * m.sign(x),
    domain="(0, inf)",
)  # fmt: skip
kv = _with_order(
    "kv", lambda f, m, z, v, x: -0.5 * (f(v - 1, x) + f(v + 1, x)), domain="(0, inf)",
    range="(0, inf)", aliases="kn",
)  # fmt: skip
#: kv, times exp(x); of two infinities its slope has that of the higher order
kve = _with_order(
    "kve",
    lambda f, m, z, v, x: m.switch(m.isinf(z), 0.0, z) - 0.5 * (f(v - 1, x) + f(v + 1, x)),
    domain="(0, inf)", range="(0, inf)",
)  # fmt: skip

# --- the hypergeometric function (DLMF 15.5.1) --------------------------------------------------

_disc: Any = {"domain": ("(0, inf)", "(0, inf)", "(0, inf)", "(-1, 1)")}
#: the derivatives of hyp2f1 with respect to a and c
hyp2f1_da = _of_parameters("hyp2f1_da", 4, (
    _without(_TWICE), _without(_TWICE), _without(_TWICE),
    lambda m, g, y, a, b, c, z: g * (b / c) * (
        m.hyp2f1(a + 1, b + 1, c + 1, z) + a * m.hyp2f1_da(a + 1, b + 1, c + 1, z)
    ),
), **_disc)  # fmt: skip
hyp2f1_dc = _of_parameters("hyp2f1_dc", 4, (
    _without(_TWICE), _without(_TWICE), _without(_TWICE),
    lambda m, g, y, a, b, c, z: g * (a * b / c) * (
        m.hyp2f1_dc(a + 1, b + 1, c + 1, z) - m.hyp2f1(a + 1, b + 1, c + 1, z) / c
    ),
), **_disc)  # fmt: skip
hyp2f1 = _function("hyp2f1", 4, (
    lambda m, g, y, a, b, c, z: g * m.hyp2f1_da(a, b, c, z),
    lambda m, g, y, a, b, c, z: g * m.hyp2f1_da(b, a, c, z),
    lambda m, g, y, a, b, c, z: g * m.hyp2f1_dc(a, b, c, z),
    lambda m, g, y, a, b, c, z: g * (a * b / c) * m.hyp2f1(a + 1, b + 1, c + 1, z),
), **_disc)  # fmt: skip
