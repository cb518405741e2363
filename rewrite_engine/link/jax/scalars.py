"""Elementwise ops: by the name of their ufunc, or by a formula here; others run on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from typing import Any

import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
from jax import lax

from rewrite_engine.link.jax.funcify import call_host, is_known, jax_funcify
from rewrite_engine.link.perform import runner
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.scalar.op import Cast, ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.type import TensorType


def _log1mexp(x: Any) -> Any:
    """Return log(1 - exp(x)) as Mächler (2012) computes it."""
    small = x > -np.log(2)
    return jnp.where(small, jnp.log(-jnp.expm1(x)), jnp.log1p(-jnp.exp(x)))


def _logdiffexp(x: Any, y: Any) -> Any:
    found = x + _log1mexp(jnp.where(y == -jnp.inf, -jnp.inf, y - x))
    return jnp.where((x == y) & (x < jnp.inf), -jnp.inf, found)


def _switch(c: Any, x: Any, y: Any) -> Any:
    return jnp.where(c != 0, x, y)


def _second(x: Any, y: Any) -> Any:
    return jnp.broadcast_to(y, jnp.broadcast_shapes(np.shape(x), np.shape(y)))


def _away_from_zero(x: Any) -> Any:
    whole = jnp.trunc(x)
    return jnp.where(jnp.abs(x - whole) >= 0.5, whole + jnp.sign(x), whole)


def _sign(x: Any) -> Any:
    return jnp.where(jnp.isnan(x), x, jnp.sign(x)) if x.dtype.kind == "f" else jnp.sign(x)


def _logcosh(x: Any) -> Any:
    far = jnp.abs(x)
    near = jnp.log1p(2 * jnp.sinh(jnp.minimum(far, 1) / 2) ** 2)
    return jnp.where(far < 1, near, far + jnp.log1p(jnp.exp(-2 * far)) - np.log(2))


def _log_ndtr(x: Any) -> Any:
    """Return JAX's function, but for positive numbers, where it has few digits."""
    return jnp.where(x > 0, jnp.log1p(-special.ndtr(-jnp.abs(x))), special.log_ndtr(x))


def _psi(x: Any) -> Any:
    return jnp.where(x == 0, -jnp.copysign(jnp.inf, x), special.digamma(x))


def _tri_gamma(x: Any) -> Any:
    return jnp.where(x == jnp.inf, 0.0, special.polygamma(1, x))


def _gammaln(x: Any) -> Any:
    return jnp.where(x == -jnp.inf, x, special.gammaln(x))


#: coefficients of 1/x, 1/x**3, … in log(gamma(x)) - ((x - 1/2) log(x) - x + log(2 pi)/2), for
#: x >= 8 (Abramowitz & Stegun 6.1.42)
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)


def _stirling_rest(x: Any) -> Any:
    found = jnp.zeros_like(x)
    for c in reversed(STIRLING):
        found = found / (x * x) + c
    return found / x


def _betaln(a: Any, b: Any) -> Any:
    """Return the logarithm of the beta function by differences that do not cancel, as in Didonato &
    Morris, ACM TOMS 18 (1992), section 3. (JAX's function has 6 digits.)
    """
    p, q = jnp.minimum(a, b), jnp.maximum(a, b)
    far = jnp.clip(q, 8, jnp.finfo(q.dtype).max)
    rest = _stirling_rest(far)
    one = jnp.where(p < 8, p, 1.0)
    whole = one + far
    some = special.gammaln(one) + one - one * jnp.log(far) - (whole - 0.5) * jnp.log1p(one / far)
    some = some + rest - _stirling_rest(whole)
    both = jnp.clip(p, 8, jnp.finfo(q.dtype).max)
    whole = both / far
    large = (both - 0.5) * (jnp.log(whole) - jnp.log1p(whole)) - far * jnp.log1p(whole)
    large = large + (np.log(2 * np.pi) - jnp.log(far)) / 2
    large = large + _stirling_rest(both) + rest - _stirling_rest(both + far)
    near = special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)
    found = jnp.where((q < 8) | (p < 0), near, jnp.where(p < 8, some, large))
    found = jnp.where((q == jnp.inf) & (p >= 0), -jnp.inf, found)
    return jnp.where(p == 0, jnp.inf, jnp.where(jnp.isnan(p + q), jnp.nan, found))


def _floor_div(x: Any, y: Any) -> Any:
    """Return the quotient; of integers by 0 it is 0, as NumPy has it."""
    if x.dtype.kind == "f":
        return jnp.floor_divide(x, y)
    return jnp.where(y == 0, 0, jnp.floor_divide(x, jnp.where(y == 0, 1, y)))


LARGE = 1e10


def _gammainc(f: Callable[..., Any], sign: int, a: Any, x: Any) -> Any:
    """Return JAX's function, which does not end if both numbers are very large: for large ones,
    what a normal distribution gives.
    """
    large = (a > LARGE) & (x > LARGE)
    near = f(jnp.where(large, 1.0, a), jnp.where(large, 1.0, x))
    far = special.ndtr(sign * (x - a) / jnp.sqrt(a))
    far = jnp.where(a == jnp.inf, jnp.where(x == jnp.inf, jnp.nan, 0.5 - sign / 2), far)
    near = jnp.where((a == jnp.inf) & (x >= 0), 0.5 - sign / 2, near)
    return jnp.where(large, far, jnp.where((a == 0) & (x > 0), 0.5 + sign / 2, near))


#: functions of arrays that have no ufunc of that name in JAX, or a worse one
BY_HAND: dict[str, Callable[..., Any]] = {
    "psi": _psi, "tri_gamma": _tri_gamma, "floor_div": _floor_div, "gammaln": _gammaln,
    "gammainc": partial(_gammainc, special.gammainc, 1), "log_ndtr": _log_ndtr,
    "gammaincc": partial(_gammainc, special.gammaincc, -1), "betaln": _betaln,
    "softplus": lambda x: jnp.logaddexp(x, 0.0), "sigmoid": special.expit, "switch": _switch,
    "second": _second, "identity": lambda x: x, "log1mexp": _log1mexp, "logdiffexp": _logdiffexp,
    "clip": lambda x, a, b: jnp.minimum(jnp.maximum(x, a), b), "round": jnp.round, "sign": _sign,
    "complex": lambda x, y: lax.complex(*jnp.broadcast_arrays(x * 1.0, y * 1.0)), "real": jnp.real,
    "imag": jnp.imag, "angle": jnp.angle, "xor": jnp.bitwise_xor, "cbrt": jnp.cbrt,
    "sech2": lambda x: 1 / jnp.cosh(x) ** 2, "frexp_mantissa": lambda x: jnp.frexp(x)[0],
    "frexp_exponent": lambda x: jnp.frexp(x)[1], "round_half_away_from_zero": _away_from_zero,
    "logcosh": _logcosh,
}  # fmt: skip
#: functions that JAX does not have, or not to the last digits
ON_HOST = frozenset(
    [
        "j0",
        "j1",
        "jv",
        "iv",
        "ive",
        "kv",
        "kve",
        "i0",
        "i1",
        "i0e",
        "i1e",
        "hyp2f1",
        "owens_t",
        "erfcx",
        "erfinv",
        "erfcinv",
        "logerfc",
        "beta",
        "binom",
        "poch",
        "ldexp",
    ]
)
#: functions that are computed in float64 for float32, as SciPy does
IN_DOUBLE = frozenset(
    [
        "gamma",
        "gammaln",
        "psi",
        "tri_gamma",
        "polygamma",
        "betaln",
        "gammainc",
        "gammaincc",
        "betainc",
        "log_ndtr",
    ]
)


@cache
def function_of(op: ScalarOp) -> Callable[..., Any] | None:
    """Return the function of arrays of JAX for a scalar op; None: it runs on the host."""
    if op.name in ON_HOST and op.listed:
        return None
    if op.name in BY_HAND and op.listed:
        return BY_HAND[op.name]
    if isinstance(op, Cast):
        return partial(_cast, op.dtype)
    home, _, name = (op.function or "").rpartition(".")
    return getattr(jnp if home in ("", "numpy") else special, name, None) if name else None


def _cast(dtype: str, x: Any) -> Any:
    if dtype == "bool":
        return x != 0
    x = jnp.real(x) if jnp.iscomplexobj(x) and np.dtype(dtype).kind != "c" else x
    return x.astype(dtype)


def elementwise(op: ScalarOp, arrays: Sequence[Any]) -> list[Any]:
    """Return the results of a scalar op on arrays."""
    if not isinstance(op, Composite):
        return [_one(op, arrays)]
    values = [*arrays, *map(jnp.asarray, op.constant_values())]
    for inner, places in op.steps:
        values.append(_one(inner, [values[k] for k in places]))
    return [values[k] for k in op.out_refs]


def _one(op: ScalarOp, arrays: Sequence[Any]) -> Any:
    """Return the result of a scalar op that is not composed, computed in the dtypes of its
    loop.
    """
    dtypes = tuple([np.dtype(x.dtype).name for x in arrays])
    (wanted,) = op.result_dtypes(dtypes)
    f = function_of(op)
    if f is None:
        return _host(op, arrays, wanted)
    loops = _loop_dtypes(op, dtypes)
    if op.name in IN_DOUBLE and op.listed:
        loops = ["float64" if np.dtype(d).kind == "f" else d for d in loops]
    xs = [jnp.asarray(x, d) for x, d in zip(arrays, loops, strict=True)]
    folds = op.nin is None and op.name != "identity"
    return jnp.asarray(reduce(f, xs) if folds else f(*xs), wanted)


def _loop_dtypes(op: ScalarOp, dtypes: tuple[str, ...]) -> Sequence[Any]:
    """Return the dtypes to which NumPy converts operands."""
    inner, ufunc = op.inner_dtype(dtypes), op.ufunc
    if inner is not None:
        return [inner] * len(dtypes)
    if ufunc is None or ufunc.nin != len(dtypes) or op.dtypes is not None:
        return dtypes
    wanted = tuple(map(np.dtype, dtypes))
    return ufunc.resolve_dtypes((*wanted, *[None] * ufunc.nout))[: ufunc.nin]


def _host(op: ScalarOp, arrays: Sequence[Any], dtype: str) -> Any:
    """Return the result of a scalar op that NumPy computes."""
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    inputs = [TensorType(x.dtype.name, (None,) * np.ndim(x))() for x in arrays]
    run = runner(Elemwise(op).make_node(*inputs))
    return call_host(op, run, [(TensorType(dtype, shape), shape)], arrays, each=True)


@jax_funcify.register(Elemwise)
def _(op: Elemwise, node: Any = None, **options: Any) -> Callable[..., Any]:
    def call(*arrays: Any) -> Any:
        given = [np.asarray(x) if is_known(x) else x for x in arrays]
        found = elementwise(op.scalar_op, given)
        return found[0] if op.nout == 1 else found

    return call
