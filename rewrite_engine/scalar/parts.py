"""Table of scalar ops on the parts of numbers: bits, signs, exponents, real and imaginary parts.

The entries are written as in `scalar/ops.py`, which also has their names. The gradient of a complex
number is the derivative with respect to its real part, plus i times the derivative with respect to
its imaginary part.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rewrite_engine.scalar.dtype import KIND, float_dtype
from rewrite_engine.scalar.fold import copy_into
from rewrite_engine.scalar.op import ScalarOp, _step, _unary

_op = ScalarOp.define
_ac: Any = {"associative": True, "commutative": True}

# --- bits and divisors of integers --------------------------------------------------------------

and_ = _op(
    "and_", None, "bitwise_and", _step, **_ac, idempotent=True, identity=-1, absorbing=0,
    aliases="bitwise_and",
)  # fmt: skip
or_ = _op(
    "or_", None, "bitwise_or", _step, **_ac, idempotent=True, identity=0, absorbing=-1,
    aliases="bitwise_or",
)  # fmt: skip
xor = _op("xor", None, "bitwise_xor", _step, **_ac, identity=0, aliases="bitwise_xor")
invert = _unary("invert", "invert", _step, aliases="bitwise_not bitwise_invert")
_shift: Any = {"domain": ("(-inf, inf)", "[0, 6]")}
left_shift = _op("left_shift", 2, "left_shift", _step, aliases="bitwise_left_shift", **_shift)
right_shift = _op("right_shift", 2, "right_shift", _step, aliases="bitwise_right_shift", **_shift)
#: how many bits of the absolute value are 1
bitwise_count = _unary("bitwise_count", "bitwise_count", _step)
gcd = _op("gcd", 2, "gcd", _step, commutative=True, cost=20)
lcm = _op("lcm", 2, "lcm", _step, commutative=True, cost=20)

# --- floats ------------------------------------------------------------------------------------

isnan = _unary("isnan", "isnan", _step)
isinf = _unary("isinf", "isinf", _step)
isfinite = _unary("isfinite", "isfinite", _step)
signbit = _unary("signbit", "signbit", _step)
#: the absolute value of x, with the sign of y
copysign = _op(
    "copysign", 2, "copysign", (
        lambda m, g, z, x, y: g * m.sign(x) * m.copysign(1.0, y), _step,
    ), inner=float_dtype, keeps="finite",
)  # fmt: skip
#: the number beside x, on the side of y; its slope is that of x
nextafter = _op(
    "nextafter", 2, "nextafter", (lambda m, g, z, x, y: g, _step), inner=float_dtype
)  # fmt: skip
#: 0 below 0, 1 above, y at 0
heaviside = _op(
    "heaviside", 2, "heaviside", (
        _step, lambda m, g, z, x, y: m.switch(m.eq(x, 0), g, 0.0),
    ), inner=float_dtype, keeps="nonneg",
)  # fmt: skip


def _ldexp(x: Any, i: Any, out: Any = None) -> Any:
    x = np.asarray(x)
    return np.ldexp(x.astype(float_dtype(x.dtype.name), copy=False), i.astype(np.int64), out=out)


def _ldexp_dtype(x: str, i: str) -> str:
    if KIND[x] == "c" or KIND[i] not in "biu":
        raise TypeError("the first operand must be a float, the second an integer")
    return float_dtype(x)


#: x * 2**i
ldexp = _op(
    "ldexp", 2, grad=(lambda m, g, z, x, i: m.ldexp(g, i), _step), compute=_ldexp,
    dtypes=_ldexp_dtype, free=(1,), domain=("(-inf, inf)", "[-4, 4]"),
)  # fmt: skip


def _frexp(part: int, x: Any, out: Any = None) -> Any:
    x = np.asarray(x)
    return copy_into(np.frexp(x.astype(float_dtype(x.dtype.name), copy=False))[part], out)


#: x is frexp_mantissa(x) * 2**frexp_exponent(x)
frexp_mantissa = _op(
    "frexp_mantissa", 1,
    grad=(lambda m, g, z, x: m.ldexp(g, m.neg(m.frexp_exponent(x))),), compute=partial(_frexp, 0),
    dtypes=lambda x: np.frexp.resolve_dtypes((np.dtype(float_dtype(x)), None, None))[1].name,
)  # fmt: skip
frexp_exponent = _op(
    "frexp_exponent", 1, grad=_step, compute=partial(_frexp, 1),
    dtypes=lambda x: np.frexp.resolve_dtypes((np.dtype(float_dtype(x)), None, None))[2].name,
)  # fmt: skip

# --- complex numbers ----------------------------------------------------------------------------

_REAL = {"complex64": "float32", "complex128": "float64"}
_apart: Any = {"holomorphic": False}


def _parts_dtype(*dtypes: str) -> str:
    """Return the complex dtype of two real parts."""
    found = float_dtype(*dtypes)
    if KIND[found] == "c":
        raise TypeError("the operands must be real numbers")
    return "complex128" if found == "float64" else "complex64"


def _put_together(x: Any, y: Any, out: Any = None) -> Any:
    if out is None:
        shape = np.broadcast_shapes(np.shape(x), np.shape(y))
        out = np.empty(shape, _parts_dtype(x.dtype.name, y.dtype.name))
    out.real, out.imag = x, y
    return out


def _polar(r: Any, theta: Any, out: Any = None) -> Any:
    dtype = _REAL[_parts_dtype(r.dtype.name, theta.dtype.name)]
    r, theta = np.asarray(r, dtype), np.asarray(theta, dtype)
    return _put_together(np.asarray(r * np.cos(theta)), np.asarray(r * np.sin(theta)), out)


def _angle(x: Any, out: Any = None) -> Any:
    x = np.asarray(x)
    x = x.astype(float_dtype(x.dtype.name), copy=False)
    return np.arctan2(x.imag, x.real, out=out)


def _is_complex(x: Any) -> bool:
    return bool(x.type.dtype in _REAL)


def _angle_grad(m: Any, g: Any, z: Any, x: Any) -> Any:
    if not _is_complex(x):
        return None
    size = m.abs(x)
    return m.complex(-(g * (m.imag(x) / size)) / size, g * (m.real(x) / size) / size)


real = _op(
    "real", 1, grad=(lambda m, g, z, x: m.complex(g, 0.0) if _is_complex(x) else g,),
    compute=lambda x, out=None: copy_into(x.real, out), dtypes=lambda x: _REAL.get(x, x), **_apart,
)  # fmt: skip
imag = _op(
    "imag", 1, grad=(lambda m, g, z, x: m.complex(0.0, g) if _is_complex(x) else None,),
    compute=lambda x, out=None: copy_into(x.imag, out), dtypes=lambda x: _REAL.get(x, x), **_apart,
)  # fmt: skip
conj = _unary("conj", "conjugate", lambda m, g, z, x: m.conj(g), aliases="conjugate", **_apart)
angle = _op(
    "angle", 1, grad=(_angle_grad,), compute=_angle, range="[-3.1416, 3.1416]",
    dtypes=lambda x: _REAL.get(float_dtype(x), float_dtype(x)), cost=10, **_apart,
)  # fmt: skip
#: x + 1j * y
complex = _op(
    "complex", 2, grad=(lambda m, g, z, x, y: m.real(g), lambda m, g, z, x, y: m.imag(g)),
    compute=_put_together, dtypes=_parts_dtype, **_apart,
)  # fmt: skip
#: r * exp(1j * theta)
complex_from_polar = _op(
    "complex_from_polar", 2, grad=(
        lambda m, g, z, r, t: m.real(g) * m.cos(t) + m.imag(g) * m.sin(t),
        lambda m, g, z, r, t: m.imag(g) * m.real(z) - m.real(g) * m.imag(z),
    ), compute=_polar, dtypes=_parts_dtype, cost=20, **_apart,
)  # fmt: skip
