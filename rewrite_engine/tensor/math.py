"""The elementwise functions on tensors: every scalar op of `scalar/ops.py`, lifted.

Each is an `Elemwise` instance, so rules can compare and match them. Reductions are in
`tensor/reduce.py`.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.scalar import ops as scalar
from rewrite_engine.scalar.dtype import dtype_name
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor.constant import as_tensor_variable, refuse_truth
from rewrite_engine.tensor.elemwise import Elemwise

__all__ = [
    "cast", "isclose", "logit", "add", "sub", "subtract", "mul", "multiply", "true_div",
    "true_divide", "divide", "floor_div", "floor_divide", "int_div", "mod", "remainder", "pow",
    "power", "neg", "negative", "abs", "abs_", "absolute", "sign", "sgn", "sqr", "square", "sqrt",
    "reciprocal", "inv", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "log1mexp",
    "logaddexp", "logdiffexp", "softplus", "sigmoid", "expit", "erf", "erfc", "erfcx", "logerfc",
    "gammaln", "psi", "digamma", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2",
    "hypot", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "maximum", "minimum", "clip",
    "switch", "where", "second", "fill", "identity", "tensor_copy", "eq", "equal", "neq",
    "not_equal", "lt", "less", "le", "less_equal", "gt", "greater", "ge", "greater_equal",
    "isnan", "isinf", "and_", "bitwise_and", "or_", "bitwise_or", "xor", "bitwise_xor", "invert",
    "bitwise_not", "floor", "ceil", "trunc", "round", "round_half_to_even",
]  # fmt: skip

lift = Elemwise

add = lift(scalar.add)
sub = subtract = lift(scalar.sub)
mul = multiply = lift(scalar.mul)
true_div = true_divide = divide = lift(scalar.true_div)
floor_div = floor_divide = int_div = lift(scalar.floor_div)
mod = remainder = lift(scalar.mod)
pow = power = lift(scalar.pow)
neg = negative = lift(scalar.neg)
abs = abs_ = absolute = lift(scalar.abs)
sign = sgn = lift(scalar.sign)
sqr = square = lift(scalar.sqr)
sqrt = lift(scalar.sqrt)
reciprocal = inv = lift(scalar.reciprocal)

exp = lift(scalar.exp)
exp2 = lift(scalar.exp2)
expm1 = lift(scalar.expm1)
log = lift(scalar.log)
log2 = lift(scalar.log2)
log10 = lift(scalar.log10)
log1p = lift(scalar.log1p)
log1mexp = lift(scalar.log1mexp)
logaddexp = lift(scalar.logaddexp)
logdiffexp = lift(scalar.logdiffexp)
softplus = lift(scalar.softplus)
sigmoid = expit = lift(scalar.sigmoid)
erf = lift(scalar.erf)
erfc = lift(scalar.erfc)
erfcx = lift(scalar.erfcx)
logerfc = lift(scalar.logerfc)
gammaln = lift(scalar.gammaln)
psi = digamma = lift(scalar.psi)

sin = lift(scalar.sin)
cos = lift(scalar.cos)
tan = lift(scalar.tan)
arcsin = lift(scalar.arcsin)
arccos = lift(scalar.arccos)
arctan = lift(scalar.arctan)
arctan2 = lift(scalar.arctan2)
hypot = lift(scalar.hypot)
sinh = lift(scalar.sinh)
cosh = lift(scalar.cosh)
tanh = lift(scalar.tanh)
arcsinh = lift(scalar.arcsinh)
arccosh = lift(scalar.arccosh)
arctanh = lift(scalar.arctanh)

add.undone_by = (sub, neg)
mul.undone_by = (true_div, reciprocal)

maximum = lift(scalar.maximum)
minimum = lift(scalar.minimum)
clip = lift(scalar.clip)
switch = where = lift(scalar.switch)
second = fill = lift(scalar.second)
identity = tensor_copy = lift(scalar.identity)

eq = equal = lift(scalar.eq)
neq = not_equal = lift(scalar.neq)
lt = less = lift(scalar.lt)
le = less_equal = lift(scalar.le)
gt = greater = lift(scalar.gt)
ge = greater_equal = lift(scalar.ge)
isnan = lift(scalar.isnan)
isinf = lift(scalar.isinf)

and_ = bitwise_and = lift(scalar.and_)
or_ = bitwise_or = lift(scalar.or_)
xor = bitwise_xor = lift(scalar.xor)
invert = bitwise_not = lift(scalar.invert)

floor = lift(scalar.floor)
ceil = lift(scalar.ceil)
trunc = lift(scalar.trunc)
round = round_half_to_even = lift(scalar.round)


def cast(x: Any, dtype: Any) -> Any:
    """Return `x` converted to another dtype, or itself if it has that dtype.

    Raises `DTypeError` for an unknown dtype, and from complex to real.
    """
    name = dtype_name(dtype)
    refuse_truth(x, "cast")
    x = as_tensor_variable(x)
    if getattr(getattr(x, "type", None), "dtype", None) == name:
        return x
    return lift(Cast(name))(x)


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Elementwise |a - b| <= atol + rtol |b|; infinities equal themselves, NaN only if
    `equal_nan`.
    """
    close = or_(le(abs(sub(a, b)), add(atol, mul(rtol, abs(b)))), eq(a, b))
    infinite = and_(or_(isinf(a), isinf(b)), neq(a, b))
    close = and_(close, invert(infinite))
    return or_(close, and_(isnan(a), isnan(b))) if equal_nan else close


def logit(x: Any) -> Any:
    """log(x / (1 - x))."""
    return log(true_div(x, sub(1, x)))
