"""The table of scalar ops; one entry describes an operation completely.

`tensor/math.py` lifts each of them to arrays. A gradient is a function `(m, g, z, *inputs)` per
input: `g` is the gradient of the output `z`, and `m` the namespace to build with; None means zero.
At a tie of `maximum`, `minimum` the operands that attain the extremum share the gradient equally;
`clip` gives all of it to `x` at a bound.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from rewrite_engine.scalar import matrices
from rewrite_engine.scalar.bounds import (
    difference,
    largest,
    modulus,
    negative,
    product,
    quotient,
    remainder,
    smallest,
    square,
    total,
)
from rewrite_engine.scalar.dtype import (
    dtype_name,
    float_dtype,
    promote,
    quotient_dtype,
)
from rewrite_engine.scalar.fold import copy_into
from rewrite_engine.scalar.op import Cast, ScalarOp, _float, _step, _unary
from rewrite_engine.scalar.parts import *  # noqa: F403
from rewrite_engine.scalar.special import *  # noqa: F403

_LN2, _LN10 = math.log(2.0), math.log(10.0)
_op = ScalarOp.define


# --- sums and products ----------------------------------------------------------------------


def _mul_grads(m: Any, g: Any, z: Any, *xs: Any) -> list[Any]:
    """Return gradients of a product: each is the product of all other operands, from prefix and
    suffix products.
    """
    after = [g]
    for x in reversed(xs[1:]):
        after.append(after[-1] * x)
    result, before = [after.pop()], None
    for x in xs[:-1]:
        before = x if before is None else before * x
        result.append(after.pop() * before)
    return result


_ac: Any = partial(dict, associative=True, commutative=True)
_moves: Any = {"moves_only": True}


def _positive_sum(f: Any, *xs: Any) -> Any:
    """Prove that a sum is positive: one summand is positive, none is negative."""
    best = f.any_of(f.positive, xs)
    return best and f.every("a sum with", f.nonneg, xs)


def _nonzero_sum(f: Any, *xs: Any) -> Any:
    return _above_zero(f, *xs) and f.every("a sum with a positive term", f.nonneg, xs)


def _above_zero(f: Any, *xs: Any) -> Any:
    """Prove that one operand is positive: neither 0 nor negative."""
    answer: Any = None
    for x in xs:
        if answer := f.every("above 0", f.nonneg, [x]) and f.every("not 0", f.nonzero, [x]):
            break
    return answer


def _shifted(f: Any, *xs: Any) -> Any:
    """Prove that adding constants is one-to-one, even if it wraps around, within one dtype."""
    many = [x for x in xs if not all(x.type.broadcastable)]
    if len(many) != 1 or any(x.type.dtype != xs[0].type.dtype for x in xs):
        return f.unknown("it is not one shifted array")
    return f.every("shifted", f.distinct, many)


def _squares(f: Any, *xs: Any) -> Any:
    """Prove that a product is nonnegative: every factor occurs twice, or none is negative."""
    if all(n % 2 == 0 for n in Counter(xs).values()):
        return f.because("a product of squares")
    return f.every("mul of", f.nonneg, xs)


def _nonneg_quotient(f: Any, x: Any, y: Any) -> Any:
    below = f.positive(y)
    return below and f.every("divided by a positive number", f.nonneg, [x])


def _finite_modulus(f: Any, x: Any) -> Any:
    if f.kind_of(x) == "c":
        return f.unknown("a modulus may overflow", blame=x)
    return f.every("abs of", f.finite, [x])


add = _op(
    "add", None, "add", lambda m, g, z, *xs: [g] * len(xs), **_ac(identity=0), **_moves,
    bounds=total, keeps="whole nonneg",
    implied={
        "positive": _positive_sum, "nonzero": _nonzero_sum, "distinct": _shifted,
    } | matrices.OF_SUMS,
)  # fmt: skip
mul = _op(
    "mul", None, "multiply", _mul_grads, **_ac(identity=1, absorbing=0), bounds=product,
    keeps="whole positive", implied={"nonneg": _squares} | matrices.OF_PRODUCTS,
    degree=lambda *xs: [1] * len(xs), aliases="multiply",
)  # fmt: skip
sub = _op(
    "sub", 2, "subtract", (lambda m, g, z, x, y: g, lambda m, g, z, x, y: -g), **_moves,
    bounds=difference, keeps="whole", aliases="subtract",
    implied={"distinct": _shifted} | matrices.OF_DIFFERENCES,
)  # fmt: skip
true_div = _op(
    "true_div",
    2,
    "true_divide",
    (lambda m, g, z, x, y: g / y, lambda m, g, z, x, y: -(g * z) / y),
    inner=quotient_dtype,
    cost=4,
    bounds=quotient,
    keeps="positive",
    implied={"nonneg": _nonneg_quotient} | matrices.OF_QUOTIENTS,
    degree=lambda x, y: [1, -1],
    aliases="true_divide divide",
)
floor_div = _op("floor_div", 2, "floor_divide", _step, cost=4, aliases="floor_divide int_div")
mod = _op(
    "mod",
    2,
    "remainder",
    (lambda m, g, z, x, y: g, lambda m, g, z, x, y: -(g * m.floor_div(x, y))),
    cost=4,
    bounds=remainder,
    aliases="remainder",
)
fmod = _op(
    "fmod", 2, "fmod",
    (lambda m, g, z, x, y: g, lambda m, g, z, x, y: -(g * m.trunc(m.true_div(x, y)))), cost=4,
)  # fmt: skip
neg = _unary(
    "neg", "negative", lambda m, g, z, x: -g, **_moves, bounds=negative, degree=lambda x: [1],
    keeps="finite whole nonzero distinct diagonal",
    implied=matrices.OF_NEGATIVES,
    aliases="negative",
)  # fmt: skip
abs = _unary(
    "abs", "absolute", lambda m, g, z, x: g * m.sign(x), idempotent=True, bounds=modulus,
    range="[0, inf)", keeps="whole nonzero",
    implied={"positive": "nonzero", "finite": _finite_modulus},
    aliases="abs_ absolute",
)  # fmt: skip
sign = _unary(
    "sign", "sign", _step, increasing=True, correctly_rounded=True, range="[-1, 1]", keeps="nonneg",
    implied={"whole": "finite"},
    aliases="sgn",
)  # fmt: skip
sqr = _unary(
    "sqr", "square", lambda m, g, z, x: g * 2 * x, bounds=square, range="[0, inf)", keeps="whole",
    implied={"positive": "nonzero"}, degree=lambda x: [2],
    aliases="square",
)  # fmt: skip
sqrt = _float(
    "sqrt", "sqrt", lambda m, g, z, x: g * 0.5 / z, cost=4, increasing=True,
    correctly_rounded=True, range="[0, inf)", keeps="positive", degree=lambda x: [0.5],
    domain="[0, inf)",
)  # fmt: skip
cbrt = _float(
    "cbrt", "cbrt", lambda m, g, z, x: g / (3 * m.sqr(z)), cost=10, increasing=True,
    keeps="finite nonneg",
)  # fmt: skip
reciprocal = _float(
    "reciprocal", "reciprocal", lambda m, g, z, x: -(g * m.sqr(z)), cost=4, keeps="positive",
    bounds=lambda dtype, a: quotient(dtype, (1, 1), a), implied={"nonzero": "finite"},
    degree=lambda x: [-1], aliases="inv",
)  # fmt: skip


def _pow_base(m: Any, g: Any, z: Any, x: Any, y: Any) -> Any:
    exponent = getattr(y, "number", None)
    if exponent == 0:
        return None
    if exponent in (2, 3):
        return g * y * (x if exponent == 2 else m.sqr(x))
    slope = g * y * m.pow(x, y - 1)
    if exponent is not None:
        return slope
    lost = m.and_(m.eq(y, 0), m.isnan(slope))  # 0 * 0**-1; elsewhere it depends on y at 0, too
    return m.switch(lost, 0.0, slope)


def _pow_exponent(m: Any, g: Any, z: Any, x: Any, y: Any) -> Any:
    return g * m.switch(m.eq(x, 0), 0.0, z * m.log(x))


def _positive_power(f: Any, x: Any, y: Any) -> Any:
    return f.every("a power of", f.positive, [x])


pow = _op(
    "pow", 2, "power", (_pow_base, _pow_exponent), cost=10, keeps="nonneg",
    implied={"positive": _positive_power},
    degree=lambda x, y: [getattr(y, "number", 0) or None, None],
    domain="(0, inf)", aliases="power",
)  # fmt: skip

# --- exponentials and logarithms ------------------------------------------------------------

_rising: Any = {"increasing": True, "cost": 10}
exp = _float("exp", "exp", lambda m, g, z, x: g * z, range="(0, inf)", **_rising)
exp2 = _float("exp2", "exp2", lambda m, g, z, x: g * z * _LN2, range="(0, inf)", **_rising)
expm1 = _float(
    "expm1", "expm1", lambda m, g, z, x: g * m.exp(x), range="(-1, inf)", keeps="nonneg", **_rising
)
log = _float("log", "log", lambda m, g, z, x: g / x, **_rising, domain="(0, inf)")
log2 = _float("log2", "log2", lambda m, g, z, x: g / x * (1 / _LN2), **_rising, domain="(0, inf)")
log10 = _float(
    "log10", "log10", lambda m, g, z, x: g / x * (1 / _LN10), **_rising, domain="(0, inf)"
)
log1p = _float(
    "log1p", "log1p", lambda m, g, z, x: g / (x + 1), keeps="nonneg", **_rising, domain="(-1, inf)"
)


def _logaddexp_grads(m: Any, g: Any, z: Any, *xs: Any) -> list[Any]:
    """Return each operand's share, computed from differences of operands: x - z would lose
    digits.
    """
    if len(xs) == 1:
        return [g]
    if len(xs) == 2:
        return [g * m.sigmoid(xs[0] - xs[1]), g * m.sigmoid(xs[1] - xs[0])]
    top = m.maximum(*xs)
    parts = [m.exp(x - top) for x in xs]
    return [g * part / m.add(*parts) for part in parts]


logaddexp = _op(
    "logaddexp", None, "logaddexp", _logaddexp_grads, cost=20, inner=float_dtype, keeps="finite",
    **_ac(identity=-math.inf),
)  # fmt: skip


def _log1mexp(x: Any, out: Any = None) -> Any:
    """Return log(1 - exp(x)) for x < 0, by the accurate branch (Mächler 2012)."""
    with np.errstate(all="ignore"):
        result = np.where(x > -_LN2, np.log(-np.expm1(x)), np.log1p(-np.exp(x)))
    return result if out is None else copy_into(result, out)


def _logdiffexp(x: Any, y: Any, out: Any = None) -> Any:
    """Return log(exp(x) - exp(y)) for x >= y, else NaN; -inf if the exponentials round to equal
    numbers.
    """
    with np.errstate(all="ignore"):
        result = np.asarray(x + _log1mexp(np.subtract(y, x)))
        if np.isnan(result).any():
            lost = np.isnan(result) & (np.exp(x) - np.exp(y) == 0)
            result = np.where(lost, np.array(-np.inf, result.dtype), result)
    return result if out is None else copy_into(result, out)


def _softplus(x: Any, out: Any = None) -> Any:
    return np.logaddexp(x, np.zeros((), x.dtype), out=out)


logaddexp2 = _op(
    "logaddexp2", 2, "logaddexp2", (
        lambda m, g, z, x, y: g * m.sigmoid((x - y) * _LN2),
        lambda m, g, z, x, y: g * m.sigmoid((y - x) * _LN2),
    ), cost=20, inner=float_dtype, keeps="finite", commutative=True,
)  # fmt: skip
logdiffexp = _op(
    "logdiffexp", 2, grad=(
        lambda m, g, z, x, y: g * m.exp(x - z),
        lambda m, g, z, x, y: -(g * m.exp(y - z)),
    ), compute=_logdiffexp, cost=20, dtypes=lambda *d: logaddexp.result_dtypes(d)[0],
    inner=float_dtype,
)  # fmt: skip
log1mexp = _op(
    "log1mexp", 1, grad=(
        lambda m, g, z, x: -(g * m.exp(x)) / m.switch(m.eq(x, 0), 0.0, -m.expm1(x)),
    ),
    compute=_log1mexp, cost=20,
    dtypes=lambda x: log.result_dtypes((x,))[0], inner=float_dtype,
    domain="(-inf, 0)",
)  # fmt: skip
softplus = _op(
    "softplus", 1, grad=(lambda m, g, z, x: g * m.sigmoid(x),), compute=_softplus, cost=20,
    dtypes=lambda x: logaddexp.result_dtypes((x, x))[0], inner=float_dtype,
    increasing=True, range="(0, inf)", keeps="finite",
    aliases="log1pexp",
)  # fmt: skip
sigmoid = _float(
    "sigmoid", "scipy.special.expit", lambda m, g, z, x: g * z * m.sigmoid(-x), range="(0, 1)",
    **_rising,
    aliases="expit",
)  # fmt: skip
# --- trigonometry ---------------------------------------------------------------------------

sin = _float("sin", "sin", lambda m, g, z, x: g * m.cos(x), cost=10, range="[-1, 1]")
cos = _float("cos", "cos", lambda m, g, z, x: -(g * m.sin(x)), cost=10, range="[-1, 1]")
tan = _float("tan", "tan", lambda m, g, z, x: g * (m.sqr(z) + 1), cost=10)


def _one_minus_square(x: Any) -> Any:
    """Return 1 - x**2, accurate near -1 and 1."""
    return (1 - x) * (1 + x)


arcsin = _float(
    "arcsin",
    "arcsin",
    lambda m, g, z, x: g / m.sqrt(_one_minus_square(x)),
    cost=10,
    domain="[-1, 1]",
)
arccos = _float(
    "arccos",
    "arccos",
    lambda m, g, z, x: -g / m.sqrt(_one_minus_square(x)),
    cost=10,
    domain="[-1, 1]",
)
arctan = _float(
    "arctan", "arctan", lambda m, g, z, x: g / (m.sqr(x) + 1), range="(-1.5708, 1.5708)",
    keeps="nonneg", **_rising,
)  # fmt: skip
#: sqrt(x**2 + y**2), which does not overflow on the way; flat at 0, as `abs`
hypot = _op(
    "hypot", 2, "hypot", (
        lambda m, g, z, x, y: m.switch(m.eq(z, 0), 0.0, g * (x / z)),
        lambda m, g, z, x, y: m.switch(m.eq(z, 0), 0.0, g * (y / z)),
    ), inner=float_dtype, cost=10, commutative=True,
)  # fmt: skip
arctan2 = _op(
    "arctan2", 2, "arctan2", (
        lambda m, g, z, y, x: g * (x / m.hypot(x, y)) / m.hypot(x, y),
        lambda m, g, z, y, x: -(g * (y / m.hypot(x, y))) / m.hypot(x, y),
    ), inner=float_dtype, cost=10, range="[-3.1416, 3.1416]",
)  # fmt: skip
sinh = _float("sinh", "sinh", lambda m, g, z, x: g * m.cosh(x), keeps="nonneg", **_rising)
cosh = _float("cosh", "cosh", lambda m, g, z, x: g * m.sinh(x), cost=10, range="[1, inf)")


def _arcsinh_grad(m: Any, g: Any, z: Any, x: Any) -> Any:
    if z.type.dtype.startswith("complex"):
        return g / m.sqrt(m.sqr(x) + 1)
    return g / m.hypot(x, 1.0)


def _arccosh_grad(m: Any, g: Any, z: Any, x: Any) -> Any:
    return g / m.sqrt(x + 1) / m.sqrt(x - 1)


def _tanh_grad(m: Any, g: Any, z: Any, x: Any) -> Any:
    if z.type.dtype.startswith("complex"):
        return g * (1 - m.sqr(z))
    return g * m.sech2(x)


tanh = _float(
    "tanh", "tanh", _tanh_grad, range="(-1, 1)", keeps="nonneg", **_rising,
)  # fmt: skip
arcsinh = _float("arcsinh", "arcsinh", _arcsinh_grad, keeps="finite nonneg", **_rising)
arccosh = _float("arccosh", "arccosh", _arccosh_grad, cost=10, domain="[1, inf)")
arctanh = _float(
    "arctanh", "arctanh", lambda m, g, z, x: g / _one_minus_square(x), cost=10, domain="(-1, 1)"
)

# --- order and choice -----------------------------------------------------------------------


def _extremum_grads(beyond: str, m: Any, g: Any, z: Any, *xs: Any) -> list[Any]:
    """Return equal shares for the operands that attain the extremum; all operands attain a NaN.

    beyond: the comparison that holds for operands that do not attain it.
    """
    if len(xs) == 1:
        return [g]
    out_of = getattr(m, beyond)
    if len(xs) == 2:
        x, y = xs
        share = m.switch(m.eq(x, y), g * 0.5, g)
        return [m.switch(out_of(x, y), 0.0, share), m.switch(out_of(y, x), 0.0, share)]
    missed = [out_of(x, z) for x in xs]
    share = g / (len(xs) - m.add(*[m.cast(b, g.type.dtype) for b in missed]))
    return [m.switch(b, 0.0, share) for b in missed]


# Where low > high the result is high, as NumPy has it.
def _clip(x: Any, low: Any, high: Any, out: Any = None) -> Any:
    return np.minimum(np.maximum(x, low), high, out=out)


def _switch(condition: Any, x: Any, y: Any, out: Any = None) -> Any:
    result = np.where(condition, x, y)
    return result if out is None else copy_into(result, out)


def _second(shape_giver: Any, x: Any, out: Any = None) -> Any:
    shape = np.broadcast_shapes(np.shape(shape_giver), np.shape(x))
    return copy_into(np.broadcast_to(x, shape), out)


def _identity(x: Any, out: Any = None) -> Any:
    return copy_into(x, out)


_chooses: Any = {"elements": slice(None), **_moves}
maximum = _op(
    "maximum",
    None,
    "maximum",
    partial(_extremum_grads, "lt"),
    **_ac(idempotent=True, identity=-math.inf),
    **_chooses,
    bounds=largest,
    implied={
        "positive": lambda f, *xs: f.any_of(f.positive, xs),
        "nonneg": lambda f, *xs: f.any_of(f.nonneg, xs),
        "nonzero": _above_zero,
    },
)
minimum = _op(
    "minimum",
    None,
    "minimum",
    partial(_extremum_grads, "gt"),
    **_ac(idempotent=True, identity=math.inf),
    **_chooses,
    bounds=smallest,
)


def _known_extremum_grads(beyond: str, m: Any, g: Any, z: Any, x: Any, y: Any) -> list[Any]:
    """Return equal shares for the operands that attain the extremum; a NaN gets no share."""
    share, out_of = m.switch(m.eq(x, y), g * 0.5, g), getattr(m, beyond)
    lost = [m.or_(out_of(a, b), m.isnan(a)) for a, b in ((x, y), (y, x))]
    return [m.switch(where, 0.0, share) for where in lost]


_known: Any = {"commutative": True, "idempotent": True, "elements": slice(None)}
fmax = _op("fmax", 2, "fmax", partial(_known_extremum_grads, "lt"), **_known)
fmin = _op("fmin", 2, "fmin", partial(_known_extremum_grads, "gt"), **_known)
clip = _op(
    "clip", 3, grad=(
        lambda m, g, z, x, low, high: m.switch(m.or_(m.lt(x, low), m.gt(x, high)), 0.0, g),
        lambda m, g, z, x, low, high: m.switch(m.and_(m.lt(x, low), m.le(low, high)), g, 0.0),
        lambda m, g, z, x, low, high: m.switch(m.gt(m.maximum(x, low), high), g, 0.0),
    ), compute=_clip, inner=promote, **_chooses,
)  # fmt: skip
switch = _op(
    "switch", 3, grad=(
        _step,
        lambda m, g, z, condition, x, y: m.switch(condition, g, 0.0),
        lambda m, g, z, condition, x, y: m.switch(condition, 0.0, g),
    ), compute=_switch, dtypes=lambda condition, x, y: promote(x, y), free=(0,), **_moves,
    elements=slice(1, None),
)  # fmt: skip
#: second(x, y): y in the shape of x
second = _op(
    "second", 2, grad=(_step, lambda m, g, z, x, y: g), compute=_second, dtypes=lambda x, y: y,
    free=(0,), shape_only=(0,), **_moves, elements=slice(1, None),
    aliases="fill",
)  # fmt: skip
identity = _op(
    "identity", 1, grad=(lambda m, g, z, x: g,), compute=_identity, dtypes=lambda x: x,
    **_chooses,
    aliases="tensor_copy",
)  # fmt: skip

eq = _op("eq", 2, "equal", _step, commutative=True, aliases="equal")
neq = _op("neq", 2, "not_equal", _step, commutative=True, aliases="not_equal")
lt = _op("lt", 2, "less", _step, aliases="less")
le = _op("le", 2, "less_equal", _step, aliases="less_equal")
gt = _op("gt", 2, "greater", _step, aliases="greater")
ge = _op("ge", 2, "greater_equal", _step, aliases="greater_equal")

# --- rounding -------------------------------------------------------------------------------


def _round_dtype(x: str) -> str:
    return float_dtype(x) if x == "bool" else x


def _round(x: Any, out: Any = None) -> Any:
    return copy_into(x, out) if x.dtype.kind in "iu" else np.rint(x, out=out)


_rounding: Any = {
    "increasing": True, "correctly_rounded": True, "keeps": "finite nonneg",
    "implied": {"whole": "finite"},
}  # fmt: skip
floor = _unary("floor", "floor", _step, **_rounding)
ceil = _unary("ceil", "ceil", _step, **_rounding)
trunc = _unary("trunc", "trunc", _step, **_rounding)
#: to the nearest integer, ties to even
round = _op(
    "round",
    1,
    grad=_step,
    compute=_round,
    inner=_round_dtype,
    **_rounding,
    aliases="round_half_to_even",
)


def _round_away(x: Any, out: Any = None) -> Any:
    if x.dtype.kind in "iu":
        return copy_into(x, out)
    whole = np.trunc(x)
    more = np.where(np.abs(x - whole) >= 0.5, np.copysign(np.ones((), x.dtype), x), whole * 0)
    return np.add(whole, np.where(np.isinf(x), 0, more), out=out)


#: to the nearest integer, ties away from 0
round_half_away_from_zero = _op(
    "round_half_away_from_zero", 1, grad=_step, compute=_round_away, inner=_round_dtype,
    dtypes=lambda x: trunc.result_dtypes((_round_dtype(x),))[0], **_rounding,
)  # fmt: skip


def cast(x: Any, dtype: Any) -> Any:
    """Return a scalar variable converted to another dtype, or the variable itself if it has that
    dtype. Raise `DTypeError`.
    """
    name = dtype_name(dtype)
    return x if x.type.dtype == name else Cast(name)(x)


def lift(op: ScalarOp) -> ScalarOp:
    """Return the function that applies `op` in this namespace: the op itself (`tensor.math.lift`
    returns an `Elemwise`).
    """
    return op


globals()["__all__"] = ["cast"] + [
    name for name, value in vars().items() if isinstance(value, ScalarOp)
]
