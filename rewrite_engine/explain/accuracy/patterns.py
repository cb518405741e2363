"""Rules that replace terms which lose digits, as suggestions for the user. The table
with both sides in words is `ADVICE` in `advice.py`, which tries them; no mode applies them.

They assume ordinary numbers: for others the better term may overflow or be undefined, which a
report sees, as it runs it on the inputs at hand.
"""

from __future__ import annotations

import rewrite_engine.tensor as pt
from rewrite_engine.language import Float, Matrix, Prop, Vector, assumes, compute, rule


def centred(x, m, axis):
    """Return x without its mean along axes; m: the number of elements."""
    return x - pt.sum(x, axis=axis, keepdims=True) / m


def products_of_centred(x, y, axis, keepdims, n):
    """Return the mean product of two arrays without their means."""
    return pt.sum(centred(x, n, axis) * centred(y, n, axis), axis=axis, keepdims=keepdims) / n


@rule(claim=assumes("these_inputs"))
def square_of_power(x: Float):
    """One form of squares for the rules below."""
    return x**2 >> pt.sqr(x)


@rule(claim=assumes("these_inputs"))
def square_of_product(x: Float):
    """One form of squares for the rules below."""
    return x * x >> pt.sqr(x)


@rule(claim=assumes("these_inputs"))
def difference_of_sum(x: Float, y: Float):
    """One form of differences for the rules below."""
    return x + (-y) >> x - y


@rule(claim=assumes("these_inputs"))
def variance_by_squares(x: Float, axis: Prop, keepdims: Prop, n, m):
    """Two large numbers cancel; subtract the mean before you square."""
    total = pt.Sum(axis=axis, keepdims=keepdims)
    return total(pt.sqr(x)) / n - pt.sqr(total(x) / m) >> compute(
        lambda x, axis, keepdims, n, m: products_of_centred(x, x, axis, keepdims, n)
    )


@rule(claim=assumes("these_inputs"))
def covariance_by_products(x: Float, y: Float, axis: Prop, keepdims: Prop, n, m, k):
    """Two large numbers cancel; subtract the means before you multiply."""
    total = pt.Sum(axis=axis, keepdims=keepdims)
    return total(x * y) / n - (total(x) / m) * (total(y) / k) >> compute(
        lambda x, y, axis, keepdims, n, m, k: products_of_centred(x, y, axis, keepdims, n)
    )


@rule(claim=assumes("these_inputs"))
def log_of_determinant(a: Matrix):
    """The determinant overflows, or is 0, where its logarithm is an ordinary number; for a
    covariance matrix, 2 log(diag(cholesky(a))).sum() is faster.
    """
    return pt.log(pt.linalg.Det()(a)) >> compute(lambda a: pt.linalg.slogdet(a)[1])


@rule(claim=assumes("these_inputs"))
def log_of_absolute_determinant(a: Matrix):
    """The determinant overflows, or is 0, where its logarithm is an ordinary number."""
    return pt.log(abs(pt.linalg.Det()(a))) >> compute(lambda a: pt.linalg.slogdet(a)[1])


@rule(claim=assumes("these_inputs"))
def softmax_by_exponentials(x: Float, axis: Prop):
    """The exponentials overflow, or all are 0."""
    return pt.exp(x) / pt.Sum(axis=axis, keepdims=True)(pt.exp(x)) >> pt.Softmax(axis)(x)


@rule(claim=assumes("these_inputs"))
def log_of_summed_exponentials(x: Float, axis: Prop, keepdims: Prop):
    """The exponentials overflow, or all are 0."""
    return pt.log(pt.Sum(axis=axis, keepdims=keepdims)(pt.exp(x))) >> compute(
        lambda x, axis, keepdims: pt.logsumexp(x, axis=axis, keepdims=keepdims)
    )


@rule(claim=assumes("these_inputs"))
def one_minus_cosine(x: Float):
    """1 and the cosine of a small angle cancel."""
    return 1 - pt.cos(x) >> 2 * pt.sqr(pt.sin(x / 2))


@rule(claim=assumes("these_inputs"))
def root_of_squares(x: Float, y: Float):
    """The squares overflow, or are 0."""
    return pt.sqrt(pt.sqr(x) + pt.sqr(y)) >> pt.hypot(x, y)


@rule(claim=assumes("these_inputs"))
def log_of_one_plus(x: Float):
    """The sum keeps few digits of a small x."""
    return pt.log(1 + x) >> pt.log1p(x)


@rule(claim=assumes("these_inputs"))
def exponential_minus_one(x: Float):
    """The exponential of a small x and 1 cancel."""
    return pt.exp(x) - 1 >> pt.expm1(x)


@rule(claim=assumes("these_inputs"))
def difference_of_exponentials(x: Float, y: Float):
    """The exponentials of two near numbers cancel."""
    return pt.exp(x) - pt.exp(y) >> pt.exp(y) * pt.expm1(x - y)


@rule(claim=assumes("these_inputs"))
def difference_of_logarithms(x: Float, y: Float):
    """The logarithms of two near numbers cancel."""
    return pt.log(x) - pt.log(y) >> pt.log1p((x - y) / y)


@rule(claim=assumes("these_inputs"))
def difference_of_roots(x: Float, y: Float):
    """The roots of two near numbers cancel."""
    return pt.sqrt(x) - pt.sqrt(y) >> (x - y) / (pt.sqrt(x) + pt.sqrt(y))


@rule(claim=assumes("these_inputs"))
def root_minus_number(x: Float, y: Float):
    """The root of y² + x and y cancel if x is small, as in the formula for quadratic equations."""
    return pt.sqrt(pt.sqr(y) + x) - y >> x / (pt.sqrt(pt.sqr(y) + x) + y)


@rule(claim=assumes("these_inputs"))
def root_of_difference_minus_number(x: Float, y: Float):
    """The root of y² - x and y cancel if x is small, as in the formula for quadratic equations."""
    return pt.sqrt(pt.sqr(y) - x) - y >> -x / (pt.sqrt(pt.sqr(y) - x) + y)


@rule(claim=assumes("these_inputs"))
def difference_of_squares(x: Float, y: Float):
    """The squares of two near numbers cancel, with their rounding errors."""
    return pt.sqr(x) - pt.sqr(y) >> (x - y) * (x + y)


@rule(claim=assumes("these_inputs"))
def one_minus_tanh(x: Float):
    """1 and the tanh of a large number cancel."""
    return 1 - pt.tanh(x) >> 2 * pt.sigmoid(-2 * x)


@rule(claim=assumes("these_inputs"))
def one_minus_erf(x: Float):
    """1 and erf of a large number cancel."""
    return 1 - pt.erf(x) >> pt.erfc(x)


@rule(claim=assumes("these_inputs"))
def log_of_product(x: Float, axis: Prop, keepdims: Prop):
    """The product overflows, or is 0, where its logarithm is an ordinary number."""
    return pt.log(pt.Prod(axis=axis, keepdims=keepdims)(x)) >> pt.Sum(axis=axis, keepdims=keepdims)(
        pt.log(x)
    )


@rule(claim=assumes("these_inputs"))
def product_with_inverse(a: Matrix, b: Matrix):
    """The inverse has errors that a solution of the equations does not have."""
    return pt.Dot()(pt.linalg.MatrixInverse()(a), b) >> compute(lambda a, b: pt.linalg.solve(a, b))


@rule(claim=assumes("these_inputs"))
def normal_equations(a: Matrix, b: Vector):
    """The product of a matrix with its transpose has the square of its condition number."""
    right = pt.expand_dims(pt.Dot()(a.T, b), 1)
    return pt.linalg.Solve()(pt.Dot()(a.T, a), right) >> compute(
        lambda a, b: pt.expand_dims(pt.linalg.lstsq(a, b)[0], 1)
    )
