"""What scalar ops mean, in the words of mpmath: one line per op. Their values and gradients are
compared with it (`test_table.py`).
"""

from __future__ import annotations

from typing import Any

from mpmath import mp

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
    "gammaln": mp.loggamma,
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
}


def _bits(of: Any, xs: Any) -> int:
    result = int(xs[0])
    for x in xs[1:]:
        result = of(result, int(x))
    return result
