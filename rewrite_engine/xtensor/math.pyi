"""Written by `scripts/stubs`; do not edit. Functions of arrays with named dimensions."""

from collections.abc import Sequence
from typing import Any

from rewrite_engine.tensor.annotation import TensorLike
from rewrite_engine.xtensor.variable import XTensorVariable

def cast(x: Any, dtype: Any) -> XTensorVariable:
    """Convert to another dtype."""

def softmax(x: Any, dim: Any=None) -> XTensorVariable:
    """Return exp(x) / sum(exp(x)), summed along dimensions (by default all). Raise `DimsError`."""

def logsumexp(x: Any, dim: Any=None) -> XTensorVariable:
    """Return log(sum(exp(x))) along dimensions (by default all). Raise `DimsError`."""

def dot(x: Any, y: Any, dim: str | Sequence[str] | Any=None) -> XTensorVariable:
    """Return the sum of products of two operands aligned by names.

    dim: the dimensions to sum over; by default those that both have; `...`: all. A named dimension
    that only one operand has is summed, too. Raises `DimsError` for a dimension that neither has,
    `BroadcastError` if lengths differ.

    >>> from rewrite_engine.xtensor import xtensor
    >>> x, w = xtensor("x", dims=("row", "a")), xtensor("w", dims=("a", "b"))
    >>> dot(x, w).dims, dot(x, w, dim="row").dims, dot(x, w, dim=...).dims
    (('row', 'b'), ('a', 'b'), ())
    """

def abs(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the absolute value; of a complex number, its modulus."""

def add(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the sum of all operands."""

def and_(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the bitwise AND of integers, or the logical AND of booleans."""

def angle(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the argument of a complex number, in radians."""

def arccos(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse cosine, in [0, pi]; NaN outside [-1, 1] for real numbers."""

def arccosh(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse hyperbolic cosine; NaN below 1 for real numbers."""

def arcsin(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1] for real numbers."""

def arcsinh(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse hyperbolic sine."""

def arctan(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse tangent, in [-pi/2, pi/2]."""

def arctan2(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the angle of the point (x, y) from the positive x axis; y comes first."""

def arctanh(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse hyperbolic tangent; NaN outside [-1, 1] for real numbers."""

def betainc(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the regularized incomplete beta function I(a, b, x)."""

def betaincinv(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse of betainc in x: the x with I(a, b, x) = p."""

def bitwise_and(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the bitwise AND of integers, or the logical AND of booleans."""

def bitwise_invert(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the bitwise complement of an integer, or the negation of a boolean."""

def bitwise_not(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the bitwise complement of an integer, or the negation of a boolean."""

def bitwise_or(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the bitwise OR of integers, or the logical OR of booleans."""

def bitwise_xor(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the bitwise exclusive OR of integers, or that of booleans."""

def ceil(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the smallest whole number that is not below x."""

def clip(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return x, or the bound that it is beyond; `high` where low > high."""

def complex(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return x + 1j * y."""

def conj(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the complex conjugate; a real number unchanged."""

def conjugate(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the complex conjugate; a real number unchanged."""

def cos(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the cosine of an angle in radians."""

def cosh(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the hyperbolic cosine."""

def deg2rad(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Convert degrees to radians."""

def divmod(*operands: TensorLike, **options: Any) -> tuple[XTensorVariable, ...]:
    """Return `floor_div(x, y)` and `mod(x, y)`."""

def eq(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x equals y."""

def equal(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x equals y."""

def erf(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the error function 2 / sqrt(pi) * integral of exp(-t**2) from 0 to x."""

def erfc(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the complementary error function 1 - erf(x), accurate for large x."""

def erfcinv(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse of erfc: the y with erfc(y) = x."""

def erfcx(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the scaled complementary error function exp(x**2) * erfc(x)."""

def erfinv(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse of the error function: the y with erf(y) = x."""

def exp(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return e to the power x."""

def exp2(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return 2 to the power x."""

def expit(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the logistic function 1 / (1 + exp(-x))."""

def expm1(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return exp(x) - 1, accurate near 0."""

def floor(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the largest whole number that is not above x."""

def floor_div(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the quotient x / y, rounded down."""

def floor_divide(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the quotient x / y, rounded down."""

def gamma(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the gamma function; gamma(n + 1) is n! for a whole number n >= 0."""

def gammainc(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the regularized lower incomplete gamma function P(k, x)."""

def gammaincc(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the regularized upper incomplete gamma function Q(k, x) = 1 - P(k, x)."""

def gammainccinv(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse of gammaincc in x: the x with Q(k, x) = p."""

def gammaincinv(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the inverse of gammainc in x: the x with P(k, x) = p."""

def gammal(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the lower incomplete gamma function: the integral of t**(k - 1) * exp(-t) from 0
    to x.
    """

def gammaln(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return log(|gamma(x)|) without overflow."""

def gammau(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the upper incomplete gamma function: the integral of t**(k - 1) * exp(-t) from x to
    infinity.
    """

def ge(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x >= y."""

def greater(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x > y."""

def greater_equal(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x >= y."""

def gt(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x > y."""

def hyp2f1(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the Gauss hypergeometric function 2F1(a, b; c; z)."""

def i0(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the modified Bessel function of the first kind of order 0."""

def i1(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the modified Bessel function of the first kind of order 1."""

def identity(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return a copy of x."""

def imag(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the imaginary part."""

def int_div(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the quotient x / y, rounded down."""

def invert(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the bitwise complement of an integer, or the negation of a boolean."""

def isfinite(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x is neither infinite nor NaN."""

def isinf(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x is infinite, with either sign."""

def isnan(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x is NaN."""

def iv(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the modified Bessel function of the first kind of real order v."""

def ive(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return iv(v, x) * exp(-|x|), which does not overflow."""

def j0(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the Bessel function of the first kind of order 0."""

def j1(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the Bessel function of the first kind of order 1."""

def jv(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the Bessel function of the first kind of real order v."""

def kve(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return kv(v, x) * exp(x), which does not underflow."""

def le(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x <= y."""

def less(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x < y."""

def less_equal(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x <= y."""

def log(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the natural logarithm; -inf at 0, NaN below for real numbers."""

def log10(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the logarithm to base 10; -inf at 0, NaN below."""

def log1mexp(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return log(1 - exp(x)) for x < 0, with all digits."""

def log1p(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return log(1 + x), accurate near 0."""

def log2(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the logarithm to base 2; -inf at 0, NaN below."""

def logical_and(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether both x and y are nonzero, element by element."""

def logical_not(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x is 0, element by element."""

def logical_or(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x or y is nonzero, element by element."""

def logical_xor(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether exactly one of x and y is nonzero, element by element."""

def logit(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return log(x / (1 - x))."""

def lt(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x < y."""

def maximum(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the largest operand; NaN if one of them is NaN."""

def minimum(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the smallest operand; NaN if one of them is NaN."""

def mod(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the remainder of x / y rounded down, which has the sign of y."""

def mul(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the product of all operands."""

def multiply(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the product of all operands."""

def ndtri_exp(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the quantile of the standard normal distribution at exp(x)."""

def neg(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the negative of x."""

def negative(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the negative of x."""

def neq(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x differs from y."""

def not_equal(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return whether x differs from y."""

def or_(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the bitwise OR of integers, or the logical OR of booleans."""

def owens_t(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return Owen's T function of h and a."""

def polygamma(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the n-th derivative of the digamma function at x."""

def pow(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return x to the power y."""

def power(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return x to the power y."""

def psi(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the digamma function, the derivative of log(gamma(x))."""

def rad2deg(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Convert radians to degrees."""

def real(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the real part."""

def reciprocal(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return 1 / x as a float."""

def round(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return `a` rounded to the nearest integer, in the dtype of `a`."""

def second(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return y in the shape that x and y broadcast to."""

def sigmoid(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the logistic function 1 / (1 + exp(-x))."""

def sign(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return -1, 0 or 1 by the sign of x; of a complex number, x / |x|."""

def sin(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the sine of an angle in radians."""

def sinh(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the hyperbolic sine."""

def softplus(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return log(1 + exp(x)) without overflow."""

def sqr(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the square x * x."""

def sqrt(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the square root; NaN below 0 for real numbers."""

def square(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the square x * x."""

def sub(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the difference x - y."""

def subtract(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the difference x - y."""

def switch(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return x where the condition is not 0, else y."""

def tan(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the tangent of an angle in radians."""

def tanh(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the hyperbolic tangent."""

def tri_gamma(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the trigamma function, the derivative of the digamma function."""

def true_div(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the quotient x / y as a float."""

def true_divide(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the quotient x / y as a float."""

def trunc(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return x rounded to a whole number towards 0."""

def where(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return `ift` where the condition is not 0, else `iff`; with a condition alone, its `nonzero`."""

def xlogy(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return x * log(y), and 0 where x is 0."""

def xor(*operands: TensorLike, **options: Any) -> XTensorVariable:
    """Return the bitwise exclusive OR of integers, or that of booleans."""
