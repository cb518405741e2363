"""Written by `scripts/stubs`; do not edit. Elementwise functions."""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec

from rewrite_engine.graph.node import Variable
from rewrite_engine.tensor.annotation import DTypeLike, TensorLike
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.variable import TensorVariable

P = ParamSpec("P")

class ElementwiseFunction(Elemwise, Generic[P]):
    def __call__(  # type: ignore[override]
        self, *operands: P.args, **options: P.kwargs
    ) -> TensorVariable: ...

def _lifted(function: Callable[P, TensorVariable]) -> ElementwiseFunction[P]: ...

lift = Elemwise

def cast(x: TensorLike, dtype: DTypeLike) -> TensorVariable:
    """Return `x` converted to another dtype, or itself if it has that dtype.

    Raises `DTypeError` for an unknown dtype, and from complex to real.
    """

def conjugated(x: Any) -> TensorVariable: ...
def as_gradient_of(x: Variable, g: Any) -> TensorVariable: ...

@_lifted
def and_(*operands: TensorLike, name: str | None = None) -> TensorVariable:
    """Return the bitwise AND of integers, or the logical AND of booleans.

    Works element by element; operands broadcast.

    Domain (as tested): integers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64; refuses float32, float64, complex128 (DTypeError).
    Other names: bitwise_and.

    >>> import rewrite_engine.tensor as pt
    >>> pt.and_([6, 12], [3, 10]).eval()
    array([2, 8])
    """

bitwise_and = and_
"""Return the bitwise AND of integers, or the logical AND of booleans. Another name of `and_`."""

@_lifted
def or_(*operands: TensorLike, name: str | None = None) -> TensorVariable:
    """Return the bitwise OR of integers, or the logical OR of booleans.

    Works element by element; operands broadcast.

    Domain (as tested): integers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64; refuses float32, float64, complex128 (DTypeError).
    Other names: bitwise_or.

    >>> import rewrite_engine.tensor as pt
    >>> pt.or_([6, 12], [3, 10]).eval()
    array([ 7, 14])
    """

bitwise_or = or_
"""Return the bitwise OR of integers, or the logical OR of booleans. Another name of `or_`."""

@_lifted
def xor(*operands: TensorLike, name: str | None = None) -> TensorVariable:
    """Return the bitwise exclusive OR of integers, or that of booleans.

    Works element by element; operands broadcast.

    Domain (as tested): integers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64; refuses float32, float64, complex128 (DTypeError).
    Other names: bitwise_xor.

    >>> import rewrite_engine.tensor as pt
    >>> pt.xor([6, 12], [3, 10]).eval()
    array([5, 6])
    """

bitwise_xor = xor
"""Return the bitwise exclusive OR of integers, or that of booleans. Another name of `xor`."""

@_lifted
def invert(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the bitwise complement of an integer, or the negation of a boolean.

    Works element by element; the shape is that of the operand.

    Domain (as tested): integers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64; refuses float32, float64, complex128 (DTypeError).
    Other names: bitwise_not, bitwise_invert.

    >>> import rewrite_engine.tensor as pt
    >>> pt.invert([6, 12]).eval()
    array([ -7, -13])
    """

bitwise_not = invert
"""Return the bitwise complement of an integer, or the negation of a boolean. Another name of `invert`."""

bitwise_invert = invert
"""Return the bitwise complement of an integer, or the negation of a boolean. Another name of `invert`."""

@_lifted
def left_shift(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x with its bits shifted y places to the left: x * 2**y.

    Works element by element; operands broadcast.

    Domain (as tested): y in [0, 6].
    Range: no bounds are declared.
    Dtypes: keeps int64; converts bool to int8; refuses float32, float64, complex128
        (DTypeError).
    Other names: bitwise_left_shift.

    >>> import rewrite_engine.tensor as pt
    >>> pt.left_shift([1, 6], [3, 2]).eval()
    array([ 8, 24])
    """

bitwise_left_shift = left_shift
"""Return x with its bits shifted y places to the left: x * 2**y. Another name of `left_shift`."""

@_lifted
def right_shift(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x with its bits shifted y places to the right: x // 2**y.

    Works element by element; operands broadcast.

    Domain (as tested): y in [0, 6].
    Range: no bounds are declared.
    Dtypes: keeps int64; converts bool to int8; refuses float32, float64, complex128
        (DTypeError).
    Other names: bitwise_right_shift.

    >>> import rewrite_engine.tensor as pt
    >>> pt.right_shift([8, 6], [3, 1]).eval()
    array([1, 3])
    """

bitwise_right_shift = right_shift
"""Return x with its bits shifted y places to the right: x // 2**y. Another name of `right_shift`."""

@_lifted
def bitwise_count(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the number of bits of |x| that are 1.

    Works element by element; the shape is that of the operand.

    Domain (as tested): integers.
    Range: no bounds are declared.
    Dtypes: converts bool to uint8, int64 to uint8; refuses float32, float64, complex128
        (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.bitwise_count([6, 12]).eval()
    array([2, 2], dtype=uint8)
    """

@_lifted
def gcd(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the greatest common divisor of two integers.

    Works element by element; operands broadcast.

    Domain (as tested): integers.
    Range: no bounds are declared.
    Dtypes: keeps int64; refuses bool, float32, float64, complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.gcd([6, 12], [4, 18]).eval()
    array([2, 6])
    """

@_lifted
def lcm(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the least common multiple of two integers.

    Works element by element; operands broadcast.

    Domain (as tested): integers.
    Range: no bounds are declared.
    Dtypes: keeps int64; refuses bool, float32, float64, complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.lcm([6, 12], [4, 18]).eval()
    array([12, 36])
    """

@_lifted
def isnan(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether x is NaN.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool, complex128
        to bool.

    >>> import rewrite_engine.tensor as pt
    >>> pt.isnan([1.0, pt.nan]).eval()
    array([False,  True])
    """

@_lifted
def isinf(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether x is infinite, with either sign.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool, complex128
        to bool.

    >>> import rewrite_engine.tensor as pt
    >>> pt.isinf([1.0, -pt.inf]).eval()
    array([False,  True])
    """

@_lifted
def isfinite(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether x is neither infinite nor NaN.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool, complex128
        to bool.

    >>> import rewrite_engine.tensor as pt
    >>> pt.isfinite([1.0, pt.nan]).eval()
    array([ True, False])
    """

@_lifted
def signbit(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether the sign bit of x is set; it is for -0.0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.signbit([-1.5, 0.5]).eval()
    array([ True, False])
    """

@_lifted
def copysign(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return |x| with the sign of y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.copysign([-1.5, 0.5], [2.0, 1.5]).eval()
    array([1.5, 0.5])
    """

@_lifted
def nextafter(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the next representable number after x in the direction of y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.nextafter([-1.5, 0.5], [2.0, 1.5]).eval()
    array([-1.5,  0.5])
    """

@_lifted
def heaviside(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return 0 where x < 0, 1 where x > 0, and y where x is 0.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.heaviside([-2.0, 0.0, 3.0], 0.5).eval()
    array([0. , 0.5, 1. ])
    """

@_lifted
def ldexp(x: TensorLike, i: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x * 2**i for a float x and an integer i.

    Works element by element; operands broadcast.

    Domain (as tested): i in [-4, 4].
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.ldexp([0.5, 3.0], [1, 4]).eval()
    array([ 1., 48.])
    """

@_lifted
def frexp_mantissa(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return m of x = m * 2**e with 0.5 <= |m| < 1, or 0 for 0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.frexp_mantissa([0.75, 12.0]).eval()
    array([0.75, 0.75])
    """

@_lifted
def frexp_exponent(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the integer e of x = m * 2**e with 0.5 <= |m| < 1, or 0 for 0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: converts bool to int32, int64 to int32, float32 to int32, float64 to int32;
        refuses complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.frexp_exponent([0.75, 12.0]).eval()
    array([0, 4], dtype=int32)
    """

@_lifted
def real(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the real part.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64; converts complex128 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.real([1.0 + 2.0j, 3.0]).eval()
    array([1., 3.])
    """

@_lifted
def imag(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the imaginary part.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64; converts complex128 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.imag([1.0 + 2.0j, 3.0]).eval()
    array([2., 0.])
    """

@_lifted
def conj(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the complex conjugate; a real number unchanged.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps int64, float32, float64, complex128; converts bool to int8.
    Other names: conjugate.

    >>> import rewrite_engine.tensor as pt
    >>> pt.conj([1.0 + 2.0j, 3.0]).eval()
    array([1.-2.j, 3.-0.j])
    """

conjugate = conj
"""Return the complex conjugate; a real number unchanged. Another name of `conj`."""

@_lifted
def angle(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the argument of a complex number, in radians.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [-3.1416, 3.1416].
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64, complex128
        to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.angle([1.0j, -1.0]).eval()
    array([1.57079633, 3.14159265])
    """

@_lifted
def complex(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x + 1j * y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: converts bool to complex64, int64 to complex128, float32 to complex64, float64
        to complex128; refuses complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.complex([1.0, 0.0], [2.0, -1.0]).eval()
    array([1.+2.j, 0.-1.j])
    """

@_lifted
def complex_from_polar(r: TensorLike, t: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return r * exp(1j * theta).

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: converts bool to complex64, int64 to complex128, float32 to complex64, float64
        to complex128; refuses complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.complex_from_polar([1.0, 2.0], [0.0, 0.5]).eval()
    array([1.        +0.j        , 1.75516512+0.95885108j])
    """

@_lifted
def sech2(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return 1 - tanh(x)**2, the slope of tanh, which does not underflow early.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (0, 1].
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.sech2([-1.5, 0.5]).eval()
    array([0.18070664, 0.78644773])
    """

@_lifted
def logcosh(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return log(cosh(x)) without overflow.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.logcosh([-1.5, 0.5]).eval()
    array([0.85544017, 0.12011451])
    """

@_lifted
def erf(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the error function 2 / sqrt(pi) * integral of exp(-t**2) from 0 to x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (-1, 1).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.erf([-1.5, 0.5]).eval()
    array([-0.96610515,  0.52049988])
    """

@_lifted
def erfc(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the complementary error function 1 - erf(x), accurate for large x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (0, 2).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.erfc([-1.5, 0.5]).eval()
    array([1.96610515, 0.47950012])
    """

@_lifted
def erfcx(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the scaled complementary error function exp(x**2) * erfc(x).

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.erfcx([-1.5, 0.5]).eval()
    array([18.65388626,  0.61569034])
    """

@_lifted
def logerfc(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return log(erfc(x)) without underflow for large x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.logerfc([-1.5, 0.5]).eval()
    array([ 0.6760545 , -0.73501113])
    """

@_lifted
def erfinv(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse of the error function: the y with erf(y) = x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (-1, 1).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.erfinv([-0.5, 0.5]).eval()
    array([-0.47693628,  0.47693628])
    """

@_lifted
def erfcinv(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse of erfc: the y with erfc(y) = x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (0, 2).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.erfcinv([0.5, 1.5]).eval()
    array([ 0.47693628, -0.47693628])
    """

@_lifted
def log_ndtr(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the logarithm of the standard normal distribution function at x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (-inf, 0).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.log_ndtr([-1.5, 0.5]).eval()
    array([-2.7059444 , -0.36894642])
    """

@_lifted
def ndtri_exp(y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the quantile of the standard normal distribution at exp(x).

    Works element by element; the shape is that of the operand.

    Domain (as tested): y in (-inf, 0).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.ndtri_exp([-2.0, -0.5]).eval()
    array([-1.10151963,  0.27028802])
    """

@_lifted
def owens_t(h: TensorLike, a: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return Owen's T function of h and a.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: [-0.25, 0.25].
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.owens_t([-1.5, 0.5], [2.0, 1.5]).eval()
    array([0.03338325, 0.12958398])
    """

@_lifted
def gamma(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the gamma function; gamma(n + 1) is n! for a whole number n >= 0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.gamma([0.5, 1.5]).eval()
    array([1.77245385, 0.88622693])
    """

@_lifted
def gammaln(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return log(|gamma(x)|) without overflow.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.gammaln([0.5, 1.5]).eval()
    array([ 0.57236494, -0.12078224])
    """

@_lifted
def gammasgn(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the sign of gamma(x).

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.gammasgn([-1.5, 0.5]).eval()
    array([1., 1.])
    """

@_lifted
def psi(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the digamma function, the derivative of log(gamma(x)).

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.
    Other names: digamma.

    >>> import rewrite_engine.tensor as pt
    >>> pt.psi([0.5, 1.5]).eval()
    array([-1.96351003,  0.03648997])
    """

digamma = psi
"""Return the digamma function, the derivative of log(gamma(x)). Another name of `psi`."""

@_lifted
def polygamma(n: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the n-th derivative of the digamma function at x.

    Works element by element; operands broadcast.

    Domain (as tested): n in [1, 6], x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.polygamma(1, [0.5, 2.0]).eval()
    array([4.9348022 , 0.64493407])
    """

@_lifted
def tri_gamma(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the trigamma function, the derivative of the digamma function.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (0, inf).
    Range: (0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.tri_gamma([0.5, 1.5]).eval()
    array([4.9348022, 0.9348022])
    """

@_lifted
def psi_difference(x: TensorLike, k: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return psi(x + k) - psi(x), which keeps its digits for a large x.

    Works element by element; operands broadcast.

    Domain (as tested): x in (0, inf), k in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.psi_difference([0.5, 1.5], [1.0, 1.25]).eval()
    array([2.        , 0.78241105])
    """

@_lifted
def beta(a: TensorLike, b: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the beta function gamma(a) * gamma(b) / gamma(a + b).

    Works element by element; operands broadcast.

    Domain (as tested): a in (0, inf), b in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.beta([0.5, 1.5], [1.0, 1.25]).eval()
    array([2.        , 0.49943953])
    """

@_lifted
def betaln(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the logarithm of the beta function without overflow.

    Works element by element; operands broadcast.

    Domain (as tested): x in (0, inf), y in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.betaln([0.5, 1.5], [1.0, 1.25]).eval()
    array([ 0.69314718, -0.69426874])
    """

@_lifted
def poch(x: TensorLike, k: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the Pochhammer symbol gamma(x + k) / gamma(x).

    Works element by element; operands broadcast.

    Domain (as tested): x in (0, inf), k in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.poch([0.5, 1.5], [1.0, 1.25]).eval()
    array([0.5       , 1.81483926])
    """

@_lifted
def log_odds(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return log(x / (1 - x)), which keeps its digits near 1/2.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (0, 1).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.log_odds([0.25, 0.75]).eval()
    array([-1.09861229,  1.09861229])
    """

@_lifted
def xlogy(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x * log(y), and 0 where x is 0.

    Works element by element; operands broadcast.

    Domain (as tested): y in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.xlogy([-1.5, 0.5], [1.0, 1.25]).eval()
    array([-0.        ,  0.11157178])
    """

@_lifted
def xlog1py(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x * log(1 + y), and 0 where x is 0.

    Works element by element; operands broadcast.

    Domain (as tested): y in (-1, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.xlog1py([-1.5, 0.5], [0.0, 0.25]).eval()
    array([-0.        ,  0.11157178])
    """

@_lifted
def gamma_density(k: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the gamma density x**(k - 1) * exp(-x) / gamma(k).

    Works element by element; operands broadcast.

    Domain (as tested): k in (0, inf), x in (0, inf).
    Range: [0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.gamma_density([0.5, 1.5], [1.0, 1.25]).eval()
    array([0.20755375, 0.36144479])
    """

@_lifted
def gammainc_dk(k: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the derivative of gammainc with respect to k.

    Works element by element; operands broadcast.

    Domain (as tested): k in (0, inf), x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.gammainc_dk([0.5, 1.5], [1.0, 1.25]).eval()
    array([-0.38983726, -0.36724533])
    """

@_lifted
def gammainc(k: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the regularized lower incomplete gamma function P(k, x).

    Works element by element; operands broadcast.

    Domain (as tested): k in (0, inf), x in (0, inf).
    Range: [0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.gammainc([0.5, 1.5], [1.0, 1.25]).eval()
    array([0.84270079, 0.52470892])
    """

@_lifted
def gammaincc(k: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the regularized upper incomplete gamma function Q(k, x) = 1 - P(k, x).

    Works element by element; operands broadcast.

    Domain (as tested): k in (0, inf), x in (0, inf).
    Range: [0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.gammaincc([0.5, 1.5], [1.0, 1.25]).eval()
    array([0.15729921, 0.47529108])
    """

@_lifted
def gammaincinv(k: TensorLike, p: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse of gammainc in x: the x with P(k, x) = p.

    Works element by element; operands broadcast.

    Domain (as tested): k in (0, inf), p in (0, 1).
    Range: [0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.gammaincinv([0.5, 1.5], [0.5, 0.625]).eval()
    array([0.22746821, 1.55491358])
    """

@_lifted
def gammainccinv(k: TensorLike, p: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse of gammaincc in x: the x with Q(k, x) = p.

    Works element by element; operands broadcast.

    Domain (as tested): k in (0, inf), p in (0, 1).
    Range: [0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.gammainccinv([0.5, 1.5], [0.5, 0.625]).eval()
    array([0.22746821, 0.87699052])
    """

@_lifted
def beta_density(a: TensorLike, b: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the beta density x**(a - 1) * (1 - x)**(b - 1) / beta(a, b).

    Works element by element; operands broadcast.

    Domain (as tested): a in (0, inf), b in (0, inf), x in (0, 1).
    Range: [0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.beta_density([0.5, 1.5], [1.0, 1.25], [0.25, 0.75]).eval()
    array([1.        , 1.22611927])
    """

@_lifted
def betainc_da(a: TensorLike, b: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the derivative of betainc with respect to a.

    Works element by element; operands broadcast.

    Domain (as tested): a in (0, inf), b in (0, inf), x in (0, 1).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.betainc_da([0.5, 1.5], [1.0, 1.25], [0.25, 0.75]).eval()
    array([-0.69314718, -0.16616347])
    """

@_lifted
def betainc_db(a: TensorLike, b: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the derivative of betainc with respect to b.

    Works element by element; operands broadcast.

    Domain (as tested): a in (0, inf), b in (0, inf), x in (0, 1).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.betainc_db([0.5, 1.5], [1.0, 1.25], [0.25, 0.75]).eval()
    array([0.26162407, 0.30675727])
    """

@_lifted
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the regularized incomplete beta function I(a, b, x).

    Works element by element; operands broadcast.

    Domain (as tested): a in (0, inf), b in (0, inf), x in (0, 1).
    Range: [0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.betainc([0.5, 1.5], [1.0, 1.25], [0.25, 0.75]).eval()
    array([0.5       , 0.73744805])
    """

@_lifted
def betaincinv(a: TensorLike, b: TensorLike, p: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse of betainc in x: the x with I(a, b, x) = p.

    Works element by element; operands broadcast.

    Domain (as tested): a in (0, inf), b in (0, inf), p in (0, 1).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.betaincinv([0.5, 1.5], [1.0, 1.25], [0.25, 0.75]).eval()
    array([0.0625    , 0.76025554])
    """

@_lifted
def j0(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the Bessel function of the first kind of order 0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [-1, 1].
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.j0([-1.5, 0.5]).eval()
    array([0.51182767, 0.93846981])
    """

@_lifted
def j1(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the Bessel function of the first kind of order 1.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [-1, 1].
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.j1([-1.5, 0.5]).eval()
    array([-0.55793651,  0.24226846])
    """

@_lifted
def i0(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the modified Bessel function of the first kind of order 0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.i0([-1.5, 0.5]).eval()
    array([1.64672319, 1.06348337])
    """

@_lifted
def i1(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the modified Bessel function of the first kind of order 1.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.i1([-1.5, 0.5]).eval()
    array([-0.98166643,  0.25789431])
    """

@_lifted
def i0e(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return exp(-|x|) * i0(x), which does not overflow.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (0, 1].
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.i0e([-1.5, 0.5]).eval()
    array([0.36743361, 0.64503527])
    """

@_lifted
def i1e(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return exp(-|x|) * i1(x), which does not overflow.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.i1e([-1.5, 0.5]).eval()
    array([-0.21903939,  0.1564208 ])
    """

@_lifted
def jv(v: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the Bessel function of the first kind of real order v.

    Works element by element; operands broadcast.

    Domain (as tested): v in (0, inf), x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.jv([0.5, 1.5], [1.0, 1.25]).eval()
    array([0.67139671, 0.31676434])
    """

@_lifted
def iv(v: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the modified Bessel function of the first kind of real order v.

    Works element by element; operands broadcast.

    Domain (as tested): v in (0, inf), x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.iv([0.5, 1.5], [1.0, 1.25]).eval()
    array([0.93767489, 0.43310584])
    """

@_lifted
def ive(v: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return iv(v, x) * exp(-|x|), which does not overflow.

    Works element by element; operands broadcast.

    Domain (as tested): v in (0, inf), x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.ive([0.5, 1.5], [1.0, 1.25]).eval()
    array([0.34495131, 0.1240869 ])
    """

@_lifted
def kv(v: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the modified Bessel function of the second kind of real order v.

    Works element by element; operands broadcast.

    Domain (as tested): v in (0, inf), x in (0, inf).
    Range: (0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).
    Other names: kn.

    >>> import rewrite_engine.tensor as pt
    >>> pt.kv([0.5, 1.5], [1.0, 1.25]).eval()
    array([0.4610685 , 0.57810847])
    """

kn = kv
"""Return the modified Bessel function of the second kind of real order v. Another name of `kv`."""

@_lifted
def kve(v: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return kv(v, x) * exp(x), which does not underflow.

    Works element by element; operands broadcast.

    Domain (as tested): v in (0, inf), x in (0, inf).
    Range: (0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.kve([0.5, 1.5], [1.0, 1.25]).eval()
    array([1.25331414, 2.01779684])
    """

@_lifted
def hyp2f1_da(a: TensorLike, b: TensorLike, c: TensorLike, z: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the derivative of hyp2f1 with respect to a.

    Works element by element; operands broadcast.

    Domain (as tested): a in (0, inf), b in (0, inf), c in (0, inf), z in (-1, 1).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.hyp2f1_da([0.5, 1.5], [1.0, 1.25], [0.5, 1.5], [0.0, 0.25]).eval()
    array([0.        , 0.34828588])
    """

@_lifted
def hyp2f1_dc(a: TensorLike, b: TensorLike, c: TensorLike, z: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the derivative of hyp2f1 with respect to c.

    Works element by element; operands broadcast.

    Domain (as tested): a in (0, inf), b in (0, inf), c in (0, inf), z in (-1, 1).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.hyp2f1_dc([0.5, 1.5], [1.0, 1.25], [0.5, 1.5], [0.0, 0.25]).eval()
    array([ 0.        , -0.34828588])
    """

@_lifted
def hyp2f1(a: TensorLike, b: TensorLike, c: TensorLike, z: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the Gauss hypergeometric function 2F1(a, b; c; z).

    Works element by element; operands broadcast.

    Domain (as tested): a in (0, inf), b in (0, inf), c in (0, inf), z in (-1, 1).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.hyp2f1([0.5, 1.5], [1.0, 1.25], [0.5, 1.5], [0.0, 0.25]).eval()
    array([1.        , 1.43275991])
    """

@_lifted
def add(*operands: TensorLike, name: str | None = None) -> TensorVariable:
    """Return the sum of all operands.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.

    >>> import rewrite_engine.tensor as pt
    >>> pt.add([-1.5, 0.5], [2.0, 1.5]).eval()
    array([0.5, 2. ])
    """

@_lifted
def mul(*operands: TensorLike, name: str | None = None) -> TensorVariable:
    """Return the product of all operands.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.
    Other names: multiply.

    >>> import rewrite_engine.tensor as pt
    >>> pt.mul([-1.5, 0.5], [2.0, 1.5]).eval()
    array([-3.  ,  0.75])
    """

multiply = mul
"""Return the product of all operands. Another name of `mul`."""

@_lifted
def sub(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the difference x - y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps int64, float32, float64, complex128; refuses bool (DTypeError).
    Other names: subtract.

    >>> import rewrite_engine.tensor as pt
    >>> pt.sub([-1.5, 0.5], [2.0, 1.5]).eval()
    array([-3.5, -1. ])
    """

subtract = sub
"""Return the difference x - y. Another name of `sub`."""

@_lifted
def true_div(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the quotient x / y as a float.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float64, int64 to float64.
    Other names: true_divide, divide.

    >>> import rewrite_engine.tensor as pt
    >>> pt.true_div([-1.5, 0.5], [2.0, 1.5]).eval()
    array([-0.75      ,  0.33333333])
    """

true_divide = true_div
"""Return the quotient x / y as a float. Another name of `true_div`."""

divide = true_div
"""Return the quotient x / y as a float. Another name of `true_div`."""

@_lifted
def floor_div(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the quotient x / y, rounded down.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps int64, float32, float64; converts bool to int8; refuses complex128
        (DTypeError).
    Other names: floor_divide, int_div.

    >>> import rewrite_engine.tensor as pt
    >>> pt.floor_div([-1.5, 0.5], [2.0, 1.5]).eval()
    array([-1.,  0.])
    """

floor_divide = floor_div
"""Return the quotient x / y, rounded down. Another name of `floor_div`."""

int_div = floor_div
"""Return the quotient x / y, rounded down. Another name of `floor_div`."""

@_lifted
def mod(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the remainder of x / y rounded down, which has the sign of y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps int64, float32, float64; converts bool to int8; refuses complex128
        (DTypeError).
    Other names: remainder.

    >>> import rewrite_engine.tensor as pt
    >>> pt.mod([-1.5, 0.5], [2.0, 1.5]).eval()
    array([0.5, 0.5])
    """

remainder = mod
"""Return the remainder of x / y rounded down, which has the sign of y. Another name of `mod`."""

@_lifted
def fmod(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the remainder of x / y rounded towards 0, which has the sign of x.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps int64, float32, float64; converts bool to int8; refuses complex128
        (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.fmod([-1.5, 0.5], [2.0, 1.5]).eval()
    array([-1.5,  0.5])
    """

@_lifted
def neg(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the negative of x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps int64, float32, float64, complex128; refuses bool (DTypeError).
    Other names: negative.

    >>> import rewrite_engine.tensor as pt
    >>> pt.neg([-1.5, 0.5]).eval()
    array([ 1.5, -0.5])
    """

negative = neg
"""Return the negative of x. Another name of `neg`."""

@_lifted
def abs(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the absolute value; of a complex number, its modulus.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [0, inf).
    Dtypes: keeps bool, int64, float32, float64; converts complex128 to float64.
    Other names: abs_, absolute.

    >>> import rewrite_engine.tensor as pt
    >>> pt.abs([-1.5, 0.5]).eval()
    array([1.5, 0.5])
    """

abs_ = abs
"""Return the absolute value; of a complex number, its modulus. Another name of `abs`."""

absolute = abs
"""Return the absolute value; of a complex number, its modulus. Another name of `abs`."""

@_lifted
def sign(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return -1, 0 or 1 by the sign of x; of a complex number, x / |x|.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [-1, 1].
    Dtypes: keeps int64, float32, float64, complex128; refuses bool (DTypeError).
    Other names: sgn.

    >>> import rewrite_engine.tensor as pt
    >>> pt.sign([-1.5, 0.5]).eval()
    array([-1.,  1.])
    """

sgn = sign
"""Return -1, 0 or 1 by the sign of x; of a complex number, x / |x|. Another name of `sign`."""

@_lifted
def sqr(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the square x * x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [0, inf).
    Dtypes: keeps int64, float32, float64, complex128; converts bool to int8.
    Other names: square.

    >>> import rewrite_engine.tensor as pt
    >>> pt.sqr([-1.5, 0.5]).eval()
    array([2.25, 0.25])
    """

square = sqr
"""Return the square x * x. Another name of `sqr`."""

@_lifted
def sqrt(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the square root; NaN below 0 for real numbers.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in [0, inf).
    Range: [0, inf).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.sqrt([0.5, 1.5]).eval()
    array([0.70710678, 1.22474487])
    """

@_lifted
def cbrt(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the real cube root.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.cbrt([-1.5, 0.5]).eval()
    array([-1.14471424,  0.79370053])
    """

@_lifted
def reciprocal(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return 1 / x as a float.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.
    Other names: inv.

    >>> import rewrite_engine.tensor as pt
    >>> pt.reciprocal([-1.5, 0.5]).eval()
    array([-0.66666667,  2.        ])
    """

inv = reciprocal
"""Return 1 / x as a float. Another name of `reciprocal`."""

@_lifted
def pow(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x to the power y.

    Works element by element; operands broadcast.

    Domain (as tested): x in (0, inf), y in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps int64, float32, float64, complex128; converts bool to int8.
    Other names: power.

    >>> import rewrite_engine.tensor as pt
    >>> pt.pow([0.5, 1.5], [1.0, 1.25]).eval()
    array([0.5       , 1.66002288])
    """

power = pow
"""Return x to the power y. Another name of `pow`."""

@_lifted
def exp(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return e to the power x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (0, inf).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.exp([-1.5, 0.5]).eval()
    array([0.22313016, 1.64872127])
    """

@_lifted
def exp2(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return 2 to the power x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (0, inf).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.exp2([-1.5, 0.5]).eval()
    array([0.35355339, 1.41421356])
    """

@_lifted
def expm1(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return exp(x) - 1, accurate near 0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (-1, inf).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.expm1([-1.5, 0.5]).eval()
    array([-0.77686984,  0.64872127])
    """

@_lifted
def log(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the natural logarithm; -inf at 0, NaN below for real numbers.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.log([0.5, 1.5]).eval()
    array([-0.69314718,  0.40546511])
    """

@_lifted
def log2(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the logarithm to base 2; -inf at 0, NaN below.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.log2([0.5, 1.5]).eval()
    array([-1.       ,  0.5849625])
    """

@_lifted
def log10(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the logarithm to base 10; -inf at 0, NaN below.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (0, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.log10([0.5, 1.5]).eval()
    array([-0.30103   ,  0.17609126])
    """

@_lifted
def log1p(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return log(1 + x), accurate near 0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (-1, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.log1p([-0.5, 0.5]).eval()
    array([-0.69314718,  0.40546511])
    """

@_lifted
def logaddexp(*operands: TensorLike, name: str | None = None) -> TensorVariable:
    """Return the logarithm of the sum of the exponentials, without overflow.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.logaddexp([0.0, 1000.0], [1.0, 1000.0]).eval()
    array([   1.31326169, 1000.69314718])
    """

@_lifted
def logaddexp2(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return log2(2**x + 2**y) without overflow.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.logaddexp2([-1.5, 0.5], [2.0, 1.5]).eval()
    array([2.12219342, 2.0849625 ])
    """

@_lifted
def logdiffexp(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return log(exp(x) - exp(y)) for x >= y without overflow; NaN for x < y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.logdiffexp([2.0, 1000.0], [1.0, 999.0]).eval()
    array([  1.54132485, 999.54132485])
    """

@_lifted
def log1mexp(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return log(1 - exp(x)) for x < 0, with all digits.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (-inf, 0).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.log1mexp([-2.0, -0.5]).eval()
    array([-0.14541346, -0.93275213])
    """

@_lifted
def softplus(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return log(1 + exp(x)) without overflow.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (0, inf).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).
    Other names: log1pexp.

    >>> import rewrite_engine.tensor as pt
    >>> pt.softplus([0.0, 1000.0]).eval()
    array([6.93147181e-01, 1.00000000e+03])
    """

log1pexp = softplus
"""Return log(1 + exp(x)) without overflow. Another name of `softplus`."""

@_lifted
def sigmoid(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the logistic function 1 / (1 + exp(-x)).

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (0, 1).
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).
    Other names: expit.

    >>> import rewrite_engine.tensor as pt
    >>> pt.sigmoid([-1.5, 0.5]).eval()
    array([0.18242552, 0.62245933])
    """

expit = sigmoid
"""Return the logistic function 1 / (1 + exp(-x)). Another name of `sigmoid`."""

@_lifted
def sin(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the sine of an angle in radians.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [-1, 1].
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.sin([-1.5, 0.5]).eval()
    array([-0.99749499,  0.47942554])
    """

@_lifted
def cos(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the cosine of an angle in radians.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [-1, 1].
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.cos([-1.5, 0.5]).eval()
    array([0.0707372 , 0.87758256])
    """

@_lifted
def tan(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the tangent of an angle in radians.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.tan([-1.5, 0.5]).eval()
    array([-14.10141995,   0.54630249])
    """

@_lifted
def arcsin(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1] for real numbers.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in [-1, 1].
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.arcsin([-0.5, 0.5]).eval()
    array([-0.52359878,  0.52359878])
    """

@_lifted
def arccos(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse cosine, in [0, pi]; NaN outside [-1, 1] for real numbers.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in [-1, 1].
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.arccos([-0.5, 0.5]).eval()
    array([2.0943951 , 1.04719755])
    """

@_lifted
def arctan(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse tangent, in [-pi/2, pi/2].

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (-1.5708, 1.5708).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.arctan([-1.5, 0.5]).eval()
    array([-0.98279372,  0.46364761])
    """

@_lifted
def hypot(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return sqrt(x**2 + y**2) without overflow.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.hypot([-1.5, 0.5], [2.0, 1.5]).eval()
    array([2.5       , 1.58113883])
    """

@_lifted
def arctan2(y: TensorLike, x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the angle of the point (x, y) from the positive x axis; y comes first.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: [-3.1416, 3.1416].
    Dtypes: keeps float32, float64; converts bool to float32, int64 to float64; refuses
        complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.arctan2([-1.5, 0.5], [2.0, 1.5]).eval()
    array([-0.64350111,  0.32175055])
    """

@_lifted
def sinh(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the hyperbolic sine.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.sinh([-1.5, 0.5]).eval()
    array([-2.12927946,  0.52109531])
    """

@_lifted
def cosh(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the hyperbolic cosine.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: [1, inf).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.cosh([-1.5, 0.5]).eval()
    array([2.35240962, 1.12762597])
    """

@_lifted
def tanh(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the hyperbolic tangent.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: (-1, 1).
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.tanh([-1.5, 0.5]).eval()
    array([-0.90514825,  0.46211716])
    """

@_lifted
def arcsinh(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse hyperbolic sine.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.arcsinh([-1.5, 0.5]).eval()
    array([-1.19476322,  0.48121183])
    """

@_lifted
def arccosh(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse hyperbolic cosine; NaN below 1 for real numbers.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in [1, inf).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.arccosh([1.0, 2.0]).eval()
    array([0.       , 1.3169579])
    """

@_lifted
def arctanh(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the inverse hyperbolic tangent; NaN outside [-1, 1] for real numbers.

    Works element by element; the shape is that of the operand.

    Domain (as tested): x in (-1, 1).
    Range: no bounds are declared.
    Dtypes: keeps float32, float64, complex128; converts bool to float32, int64 to float64.

    >>> import rewrite_engine.tensor as pt
    >>> pt.arctanh([-0.5, 0.5]).eval()
    array([-0.54930614,  0.54930614])
    """

@_lifted
def maximum(*operands: TensorLike, name: str | None = None) -> TensorVariable:
    """Return the largest operand; NaN if one of them is NaN.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.

    >>> import rewrite_engine.tensor as pt
    >>> pt.maximum([-1.5, 0.5], [2.0, 1.5]).eval()
    array([2. , 1.5])
    """

@_lifted
def minimum(*operands: TensorLike, name: str | None = None) -> TensorVariable:
    """Return the smallest operand; NaN if one of them is NaN.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.

    >>> import rewrite_engine.tensor as pt
    >>> pt.minimum([-1.5, 0.5], [2.0, 1.5]).eval()
    array([-1.5,  0.5])
    """

@_lifted
def fmax(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the larger operand; if one of them is NaN, the other.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.

    >>> import rewrite_engine.tensor as pt
    >>> pt.fmax([1.0, pt.nan], [2.0, 3.0]).eval()
    array([2., 3.])
    """

@_lifted
def fmin(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the smaller operand; if one of them is NaN, the other.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.

    >>> import rewrite_engine.tensor as pt
    >>> pt.fmin([1.0, pt.nan], [2.0, 3.0]).eval()
    array([1., 3.])
    """

@_lifted
def clip(x: TensorLike, low: TensorLike, high: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x, or the bound that it is beyond; `high` where low > high.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.

    >>> import rewrite_engine.tensor as pt
    >>> pt.clip([-1.5, 0.5, 3.0], 0.0, 1.0).eval()
    array([0. , 0.5, 1. ])
    """

@_lifted
def switch(condition: TensorLike, x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x where the condition is not 0, else y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.

    >>> import rewrite_engine.tensor as pt
    >>> pt.switch([True, False], [1.0, 2.0], 0.0).eval()
    array([1., 0.])
    """

@_lifted
def second(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return y in the shape that x and y broadcast to.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.
    Other names: fill.

    >>> import rewrite_engine.tensor as pt
    >>> pt.second([1.0, 2.0], 3.0).eval()
    array([3., 3.])
    """

fill = second
"""Return y in the shape that x and y broadcast to. Another name of `second`."""

@_lifted
def identity(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return a copy of x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64, complex128.
    Other names: tensor_copy.

    >>> import rewrite_engine.tensor as pt
    >>> pt.identity([-1.5, 0.5]).eval()
    array([-1.5,  0.5])
    """

tensor_copy = identity
"""Return a copy of x. Another name of `identity`."""

@_lifted
def eq(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether x equals y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool, complex128
        to bool.
    Other names: equal.

    >>> import rewrite_engine.tensor as pt
    >>> pt.eq([1.0, 2.0], [1.0, 3.0]).eval()
    array([ True, False])
    """

equal = eq
"""Return whether x equals y. Another name of `eq`."""

@_lifted
def neq(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether x differs from y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool, complex128
        to bool.
    Other names: not_equal.

    >>> import rewrite_engine.tensor as pt
    >>> pt.neq([1.0, 2.0], [1.0, 3.0]).eval()
    array([False,  True])
    """

not_equal = neq
"""Return whether x differs from y. Another name of `neq`."""

@_lifted
def lt(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether x < y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool, complex128
        to bool.
    Other names: less.

    >>> import rewrite_engine.tensor as pt
    >>> pt.lt([-1.5, 0.5], [2.0, 1.5]).eval()
    array([ True,  True])
    """

less = lt
"""Return whether x < y. Another name of `lt`."""

@_lifted
def le(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether x <= y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool, complex128
        to bool.
    Other names: less_equal.

    >>> import rewrite_engine.tensor as pt
    >>> pt.le([-1.5, 0.5], [2.0, 1.5]).eval()
    array([ True,  True])
    """

less_equal = le
"""Return whether x <= y. Another name of `le`."""

@_lifted
def gt(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether x > y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool, complex128
        to bool.
    Other names: greater.

    >>> import rewrite_engine.tensor as pt
    >>> pt.gt([-1.5, 0.5], [2.0, 1.5]).eval()
    array([False, False])
    """

greater = gt
"""Return whether x > y. Another name of `gt`."""

@_lifted
def ge(x: TensorLike, y: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return whether x >= y.

    Works element by element; operands broadcast.

    Domain (as tested): all real numbers.
    Range: True or False.
    Dtypes: keeps bool; converts int64 to bool, float32 to bool, float64 to bool, complex128
        to bool.
    Other names: greater_equal.

    >>> import rewrite_engine.tensor as pt
    >>> pt.ge([-1.5, 0.5], [2.0, 1.5]).eval()
    array([False, False])
    """

greater_equal = ge
"""Return whether x >= y. Another name of `ge`."""

@_lifted
def floor(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the largest whole number that is not above x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64; refuses complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.floor([-1.5, 0.5]).eval()
    array([-2.,  0.])
    """

@_lifted
def ceil(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return the smallest whole number that is not below x.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64; refuses complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.ceil([-1.5, 0.5]).eval()
    array([-1.,  1.])
    """

@_lifted
def trunc(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x rounded to a whole number towards 0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps bool, int64, float32, float64; refuses complex128 (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.trunc([-1.5, 0.5]).eval()
    array([-1.,  0.])
    """

@_lifted
def round(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x rounded to the nearest whole number, ties to the even one.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps int64, float32, float64, complex128; converts bool to float32.
    Other names: round_half_to_even.

    >>> import rewrite_engine.tensor as pt
    >>> pt.round([0.5, 1.5, 2.4]).eval()
    array([0., 2., 2.])
    """

round_half_to_even = round
"""Return x rounded to the nearest whole number, ties to the even one. Another name of `round`."""

@_lifted
def round_half_away_from_zero(x: TensorLike, /, *, name: str | None = None) -> TensorVariable:
    """Return x rounded to the nearest whole number, ties away from 0.

    Works element by element; the shape is that of the operand.

    Domain (as tested): all real numbers.
    Range: no bounds are declared.
    Dtypes: keeps int64, float32, float64; converts bool to float32; refuses complex128
        (DTypeError).

    >>> import rewrite_engine.tensor as pt
    >>> pt.round_half_away_from_zero([0.5, 1.5, 2.4]).eval()
    array([1., 2., 2.])
    """
