"""Forms of special functions as people write them: far from 0, near 0, and where terms cancel.

The points of each argument are arrays; of forms of rows, matrices. `near` are moderate points, and
`far` those where intermediate values overflow, underflow or cancel. A result is right if it agrees
with the true value, in value and slope. By hand are the functions that an expert calls instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import log, pi
from scipy import special as sc

from benchmarks.forms.form import Form

LN2, LN10, SQRT2 = np.log(2), np.log(10), np.sqrt(2)

ROWS = ([[0.1, -0.7, 1.3], [2.0, 2.0, -1.0]],)
FAR_ROWS = ([[1000.0, 990.0, -1000.0], [-800.0, -801.0, -805.0], [0.0, -60.0, 5.0]],)
FAR_ROWS_2 = ([[1200.0, 1190.0, -1200.0], [-1100.0, -1101.0, -1105.0], [0.0, -60.0, 5.0]],)
LINE = ([-2.5, -0.3, 0.4, 1.7],)
FAR_LINE = ([-1000.0, -745.0, -40.0, -1e-9, 1e-9, 40.0, 745.0, 1000.0],)
PAIRS = ([0.3, -1.2, 2.0], [0.1, -2.5, 1.9])
FAR_PAIRS = ([1000.0, -900.0, 3.0, 0.0], [999.0, -901.0, -800.0, -50.0])
RIGHT = ([0.2, 0.9, 1.7, 6.0],)
UNIT = ([0.1, 0.45, 0.8],)
SMALL = ([1e-12, -1e-12, 1e-5, -1e-5, 1e-3, 0.0],)
LABELS = np.array([[0.0, 1.0, 0.0]])


def log_complement(x: Any) -> Any:
    """Return log(1 - exp(-x)) of positive numbers, near 0 and far out."""
    return np.where(x < LN2, np.log(-np.expm1(-x)), np.log1p(-np.exp(-x)))


SOFTMAX = [
    Form("softmax", "PRML, the softmax of rows",
         lambda pt, x: pt.exp(x) / pt.exp(x).sum(axis=1, keepdims=True),
         lambda x: sc.softmax(x, axis=1), near=ROWS, far=FAR_ROWS),
    Form("softmax_new_axis", "programs: a softmax of rows by a new axis",
         lambda pt, x: pt.exp(x) / pt.sum(pt.exp(x), axis=1)[:, None],
         lambda x: sc.softmax(x, axis=1), near=ROWS, far=FAR_ROWS),
    Form("softmax_base_two", "programs: a softmax in base 2",
         lambda pt, x: 2.0**x / (2.0**x).sum(axis=1, keepdims=True),
         lambda x: sc.softmax(LN2 * x, axis=1), near=ROWS, far=FAR_ROWS_2),
    Form("log_softmax", "PML, logits less the log of a sum",
         lambda pt, x: x - pt.log(pt.exp(x).sum(axis=1, keepdims=True)),
         lambda x: sc.log_softmax(x, axis=1), near=ROWS, far=FAR_ROWS),
    Form("log_of_softmax", "PRML, the log of a softmax",
         lambda pt, x: pt.log(pt.exp(x) / pt.exp(x).sum(axis=1)[:, None]),
         lambda x: sc.log_softmax(x, axis=1), near=ROWS, far=FAR_ROWS),
    Form("cross_entropy", "PRML, the cross entropy of one-hot labels",
         lambda pt, x: -(LABELS * pt.log(
             pt.exp(x) / pt.exp(x).sum(axis=1, keepdims=True))).sum(axis=1),
         lambda x: -sc.log_softmax(x, axis=1)[:, 1], near=ROWS, far=FAR_ROWS),
    Form("entropy_of_softmax", "PML, the entropy of a softmax",
         lambda pt, x: -(pt.exp(x) / pt.exp(x).sum(axis=1, keepdims=True) * pt.log(
             pt.exp(x) / pt.exp(x).sum(axis=1, keepdims=True))).sum(axis=1),
         lambda x: sc.entr(sc.softmax(x, axis=1)).sum(axis=1), near=ROWS, far=FAR_ROWS),
    Form("logsumexp", "PML, the log of a sum of exponentials",
         lambda pt, x: pt.log(pt.sum(pt.exp(x), axis=1)),
         lambda x: sc.logsumexp(x, axis=1), near=ROWS, far=FAR_ROWS),
    Form("log_add", "PML, the sum of two numbers in logs",
         lambda pt, a, b: pt.log(pt.exp(a) + pt.exp(b)),
         lambda a, b: np.logaddexp(a, b), near=PAIRS, far=FAR_PAIRS),
    Form("log_subtract", "PML, the difference of two numbers in logs",
         lambda pt, a, b: pt.log(pt.exp(a) - pt.exp(b)),
         lambda a, b: a + log_complement(a - b), near=PAIRS, far=FAR_PAIRS),
    Form("log_mixture", "PRML, the log density of a mixture of two",
         lambda pt, a, b: pt.log(0.3 * pt.exp(a) + 0.7 * pt.exp(b)),
         lambda a, b: np.logaddexp(a + log(0.3), b + log(0.7)), near=PAIRS, far=FAR_PAIRS),
]  # fmt: skip

LOGISTIC = [
    Form("logistic", "PRML, the logistic function",
         lambda pt, x: 1 / (1 + pt.exp(-x)), lambda x: sc.expit(x), near=LINE, far=FAR_LINE),
    Form("softplus", "PML, softplus",
         lambda pt, x: pt.log(1 + pt.exp(x)),
         lambda x: np.logaddexp(0, x), near=LINE, far=FAR_LINE),
    Form("log_logistic", "PML, the log of the logistic function",
         lambda pt, x: pt.log(1 / (1 + pt.exp(-x))),
         lambda x: sc.log_expit(x), near=LINE, far=FAR_LINE),
    Form("log_not_logistic", "PML, the log of 1 less a logistic function",
         lambda pt, x: pt.log(1 - 1 / (1 + pt.exp(-x))),
         lambda x: sc.log_expit(-x), near=LINE, far=FAR_LINE),
    Form("binary_cross_entropy", "PRML, the loss of a label of 0.25",
         lambda pt, x: -(0.25 * pt.log(1 / (1 + pt.exp(-x)))
                         + 0.75 * pt.log(1 - 1 / (1 + pt.exp(-x)))),
         lambda x: np.logaddexp(0, x) - 0.25 * x, near=LINE, far=FAR_LINE),
    Form("negative_softplus", "programs: a number less its softplus",
         lambda pt, x: x - pt.log(1 + pt.exp(x)),
         lambda x: sc.log_expit(x), near=LINE, far=FAR_LINE),
    Form("softplus_of_negative", "programs: a number and the softplus of its negative",
         lambda pt, x: x + pt.softplus(-x),
         lambda x: np.logaddexp(0, x), near=LINE, far=FAR_LINE),
    Form("exp_of_softplus", "programs: the exponential of a softplus of the negative",
         lambda pt, x: pt.exp(-pt.softplus(-x)),
         lambda x: sc.expit(x), near=LINE, far=FAR_LINE),
    Form("mish", "PML, the activation mish",
         lambda pt, x: x * pt.tanh(pt.log(1 + pt.exp(x))),
         lambda x: x * np.tanh(np.logaddexp(0, x)), near=LINE, far=FAR_LINE),
    Form("logit", "ESL, the log odds, at the ends of the interval",
         lambda pt, p: pt.log(p / (1 - p)), lambda p: sc.logit(p), near=UNIT,
         far=([1e-300, 1e-17, 0.5 + 1e-9, 1 - 1e-12],)),
    Form("inverse_softplus", "PML, the inverse of softplus",
         lambda pt, y: pt.log(pt.exp(y) - 1),
         lambda y: y + log_complement(y), near=RIGHT, far=([1e-12, 1e-300, 40.0, 1000.0],)),
    Form("log_complement", "PML, the log of 1 less an exponential",
         lambda pt, x: pt.log(1 - pt.exp(-x)),
         lambda x: log_complement(x), near=RIGHT, far=([1e-12, 1e-300, 40.0, 1000.0],)),
    Form("complementary_log_log", "ESL, the inverse of the complementary log-log link",
         lambda pt, x: 1 - pt.exp(-pt.exp(x)),
         lambda x: -np.expm1(-np.exp(x)), near=LINE, far=([-700.0, -40.0, -1e-9, 6.0, 1000.0],)),
]  # fmt: skip

BASES = [
    Form("log_add_base_two", "programs: a sum of two numbers in binary logs",
         lambda pt, a, b: pt.log2(2.0**a + 2.0**b),
         lambda a, b: np.logaddexp2(a, b), near=PAIRS,
         far=([2000.0, -1900.0, 3.0], [1999.0, -1901.0, -800.0])),
    Form("softplus_base_ten", "programs: softplus in base ten",
         lambda pt, x: pt.log10(1 + 10.0**x),
         lambda x: np.logaddexp(0, LN10 * x) / LN10, near=LINE,
         far=([-320.0, -20.0, 20.0, 400.0],)),
    Form("log_of_power", "programs: the log of a power of a constant",
         lambda pt, x: pt.log(3.0**x), lambda x: x * log(3.0), near=LINE, far=FAR_LINE),
    Form("decibels", "programs: a gain in decibels, less 1",
         lambda pt, x: 10.0 ** (x / 10.0) - 1,
         lambda x: np.expm1(x * LN10 / 10.0), near=LINE, far=([-1e-12, 1e-12, 1e-5, 400.0],)),
]  # fmt: skip

HYPERBOLIC = [
    Form("tanh_by_exp", "PML, the hyperbolic tangent by exponentials",
         lambda pt, x: (pt.exp(x) - pt.exp(-x)) / (pt.exp(x) + pt.exp(-x)),
         lambda x: np.tanh(x), near=LINE, far=FAR_LINE),
    Form("slope_of_tanh", "PML, the slope of an activation",
         lambda pt, x: 1 - pt.tanh(x) ** 2,
         lambda x: 1 / np.cosh(x) ** 2, near=LINE, far=([-300.0, -40.0, 1e-9, 40.0, 350.0],)),
    Form("log_cosh", "programs: a smooth absolute error",
         lambda pt, x: pt.log(pt.cosh(x)),
         lambda x: np.where(np.abs(x) < 1, np.log1p(2 * np.sinh(x / 2) ** 2),
                            np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))) - LN2),
         near=LINE, far=([-1000.0, -40.0, -1e-5, 1e-9, 1000.0],)),
    Form("arcsinh_by_log", "programs: the inverse of sinh",
         lambda pt, x: pt.log(x + pt.sqrt(x**2 + 1)),
         lambda x: np.arcsinh(x), near=LINE, far=([-1e10, -1e200, -1e-12, 1e-12, 1e200],)),
    Form("fisher", "ESL, the transform of a correlation",
         lambda pt, r: 0.5 * pt.log((1 + r) / (1 - r)),
         lambda r: np.arctanh(r), near=([-0.6, 0.2, 0.8],),
         far=([-1e-12, 1e-12, 1 - 1e-12, -1 + 1e-12],)),
]  # fmt: skip

GAMMA = [
    Form("gamma_ratio", "PML, a ratio of gamma functions",
         lambda pt, x: pt.gamma(x + 0.5) / pt.gamma(x),
         lambda x: sc.poch(x, 0.5), near=RIGHT, far=([200.0, 1e4],)),
    Form("log_gamma", "textbooks: the log of the gamma function",
         lambda pt, x: pt.log(pt.gamma(x)), lambda x: sc.gammaln(x), near=RIGHT,
         far=([200.0, 1e4, 1e100],)),
    Form("beta_function", "textbooks: the beta function by three gamma functions",
         lambda pt, a, b: pt.gamma(a) * pt.gamma(b) / pt.gamma(a + b),
         lambda a, b: sc.beta(a, b), near=([0.5, 2.0, 3.5], [1.5, 0.7, 4.0]),
         far=([200.0, 150.0, 0.5], [3.0, 100.0, 500.0])),
    Form("binomial", "textbooks: a binomial coefficient by factorials",
         lambda pt, n, k: pt.gamma(n + 1) / (pt.gamma(k + 1) * pt.gamma(n - k + 1)),
         lambda n, k: sc.binom(n, k), near=([5.0, 10.0], [2.0, 3.5]),
         far=([300.0, 1000.0], [4.0, 500.0])),
    Form("student_normaliser", "PRML, the log density of Student's t",
         lambda pt, v, x: pt.log(pt.gamma((v + 1) / 2) / (pt.sqrt(v * pi) * pt.gamma(v / 2)))
         - (v + 1) / 2 * pt.log(1 + x**2 / v),
         lambda v, x: sc.gammaln((v + 1) / 2) - sc.gammaln(v / 2) - 0.5 * np.log(v * pi)
         - (v + 1) / 2 * np.log1p(x**2 / v),
         near=([3.0, 8.0], [0.7, -2.0]), far=([500.0, 1e4], [0.5, 1e3])),
    Form("poisson", "textbooks: the log probability of a Poisson variable",
         lambda pt, m, k: pt.log(m**k * pt.exp(-m) / pt.gamma(k + 1)),
         lambda m, k: sc.xlogy(k, m) - m - sc.gammaln(k + 1),
         near=([1.5, 4.0], [2.0, 3.0]), far=([800.0, 1e3, 0.01], [810.0, 900.0, 300.0])),
    Form("negative_binomial", "textbooks: the log probability of a negative binomial variable",
         lambda pt, r, p, k: pt.log(pt.gamma(k + r) / (pt.gamma(r) * pt.gamma(k + 1))
                                    * p**r * (1 - p) ** k),
         lambda r, p, k: sc.gammaln(k + r) - sc.gammaln(r) - sc.gammaln(k + 1)
         + sc.xlogy(r, p) + sc.xlog1py(k, -p),
         near=([2.5, 4.0], [0.3, 0.6], [3.0, 5.0]),
         far=([200.0, 3.0], [0.3, 0.01], [500.0, 900.0])),
    Form("beta_binomial", "textbooks: a ratio of beta functions in logs",
         lambda pt, a, b, k: pt.log(
             pt.gamma(k + a) * pt.gamma(300.0 - k + b) / pt.gamma(300.0 + a + b)
             / (pt.gamma(a) * pt.gamma(b) / pt.gamma(a + b))),
         lambda a, b, k: sc.betaln(k + a, 300.0 - k + b) - sc.betaln(a, b),
         near=([2.5, 40.0], [1.5, 60.0], [160.0, 165.0]),
         far=([2.0, 100.0], [3.0, 200.0], [20.0, 299.0])),
    Form("dirichlet", "PRML, the log normaliser of a Dirichlet distribution",
         lambda pt, a: pt.log(pt.gamma(a.sum(axis=1)) / pt.prod(pt.gamma(a), axis=1)),
         lambda a: sc.gammaln(a.sum(axis=1)) - sc.gammaln(a).sum(axis=1),
         near=([[0.5, 2.0, 1.3], [3.0, 1.0, 4.0]],), far=([[200.0, 150.0, 3.0]],)),
    Form("von_mises", "PML, the log density of a von Mises distribution",
         lambda pt, k, x: k * pt.cos(x) - pt.log(2 * pi * pt.i0(k)),
         lambda k, x: k * (np.cos(x) - 1) - np.log(2 * pi * sc.i0e(k)),
         near=([0.5, 3.0], [0.3, -1.0]), far=([800.0, 5e3], [0.1, 0.02])),
    Form("bessel_ratio", "PML, the mean length of a von Mises distribution",
         lambda pt, k: pt.i1(k) / pt.i0(k),
         lambda k: sc.i1e(k) / sc.i0e(k), near=RIGHT, far=([800.0, 1e4],)),
    Form("log_bessel_k", "GP, the log of a Bessel function far out",
         lambda pt, x: pt.log(pt.kv(1.5, x)),
         lambda x: np.log(sc.kve(1.5, x)) - x, near=RIGHT, far=([700.0, 2e3],)),
]  # fmt: skip

QUOTIENTS = [
    Form("sine_quotient", "programs: the sine of x over x",
         lambda pt, x: pt.sin(x) / x, lambda x: np.sinc(x / pi), near=LINE, far=SMALL),
    Form("exprel", "textbooks: an exponential less 1, over x",
         lambda pt, x: (pt.exp(x) - 1) / x, lambda x: sc.exprel(x), near=LINE, far=SMALL),
    Form("log_quotient", "textbooks: the log of 1 + x, over x",
         lambda pt, x: pt.log(1 + x) / x,
         lambda x: np.where(x == 0, 1.0, np.log1p(x) / np.where(x == 0, 1.0, x)),
         near=([-0.3, 0.4, 1.7],), far=SMALL),
    Form("cosine_quotient", "textbooks: 1 less a cosine, over the square",
         lambda pt, x: (1 - pt.cos(x)) / x**2,
         lambda x: 0.5 * np.sinc(x / (2 * pi)) ** 2, near=LINE, far=SMALL),
    Form("bernoulli", "programs: x over an exponential less 1",
         lambda pt, x: x / (pt.exp(x) - 1), lambda x: 1 / sc.exprel(x), near=LINE, far=SMALL),
]  # fmt: skip

CANCELLING = [
    Form("roots", "textbooks of numerics: a difference of roots",
         lambda pt, x: pt.sqrt(x + 1) - pt.sqrt(x),
         lambda x: 1 / (np.sqrt(x + 1) + np.sqrt(x)), near=RIGHT, far=([1e8, 1e16, 1e100],)),
    Form("logs", "textbooks of numerics: a difference of logs",
         lambda pt, x: pt.log(x + 1) - pt.log(x),
         lambda x: np.log1p(1 / x), near=RIGHT, far=([1e8, 1e16, 1e100],)),
    Form("hypotenuse", "textbooks of numerics: the root of a sum of squares",
         lambda pt, a, b: pt.sqrt(a**2 + b**2),
         lambda a, b: np.hypot(a, b), near=PAIRS,
         far=([1e200, -1e-200, 3e180], [2e200, 1e-199, 1.0])),
    Form("root_less_one", "textbooks of numerics: the root of 1 + a square, less 1",
         lambda pt, x: pt.sqrt(1 + x**2) - 1,
         lambda x: x * (x / (np.hypot(1, x) + 1)), near=LINE, far=([1e-9, -1e-5, 1e200],)),
]  # fmt: skip

OTHERS = [
    Form("x_log_x", "textbooks: an entropy term",
         lambda pt, x: -x * pt.log(x), lambda x: sc.entr(x), near=RIGHT, far=([1e-300, 1e300],)),
    Form("absolute", "programs: an absolute value by a maximum and a sign",
         lambda pt, x: pt.maximum(x, -x) + x * pt.sign(x),
         lambda x: 2 * np.abs(x), near=LINE, far=FAR_LINE),
    Form("log_normal_cdf", "PRML, the log of the normal distribution function",
         lambda pt, x: pt.log(0.5 * (1 + pt.erf(x / SQRT2))),
         lambda x: sc.log_ndtr(x), near=LINE, far=([-40.0, -10.0, 9.0],)),
    Form("mills", "PML, the hazard of a normal distribution",
         lambda pt, x: pt.exp(-(x**2) / 2) / np.sqrt(2 * pi) / (1 - 0.5 * (1 + pt.erf(x / SQRT2))),
         lambda x: np.sqrt(2 / pi) / sc.erfcx(x / SQRT2), near=LINE, far=([9.0, 40.0, -10.0],)),
    Form("square_of_norm", "programs: the square of a norm of rows",
         lambda pt, x: pt.sqrt((x**2).sum(axis=1)) ** 2,
         lambda x: (x * x).sum(axis=1), near=ROWS, far=([[0.0, 0.0, 0.0], [1e-170, 0.0, 1e-3]],)),
    Form("square_of_deviation", "programs: the square of a standard deviation of rows",
         lambda pt, x: pt.sqrt(((x - x.mean(axis=1, keepdims=True)) ** 2).mean(axis=1)) ** 2,
         lambda x: x.var(axis=1), near=ROWS, far=([[2.0, 2.0, 2.0], [1e-3, 0.0, 2e-3]],)),
]  # fmt: skip

FORMS = [*SOFTMAX, *LOGISTIC, *BASES, *HYPERBOLIC, *GAMMA, *QUOTIENTS, *CANCELLING, *OTHERS]
