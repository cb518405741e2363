"""Graphs computed with 400 digits, element by element: what floating point should have given."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.tensor import Elemwise

DIGITS = 400  # 1 + the smallest number is told from 1
NAN = mpf("nan")


def real(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, NaN where it is not defined, nor real of real numbers."""

    def safe(*xs: Any) -> Any:
        if any(x != x for x in xs):
            return NAN
        try:
            value = fn(*xs)
        except (ZeroDivisionError, ValueError, OverflowError, TypeError):
            return NAN
        real = not any(isinstance(x, mpmath.mpc) for x in xs)
        return NAN if real and isinstance(value, mpmath.mpc) else value

    return np.frompyfunc(safe, fn.__code__.co_argcount, 1)


@lru_cache(maxsize=10_000, typed=True)  # (1 and 1 + 0j are equal)
def exponential(x: Any) -> Any:
    """(Of large numbers it takes long, and special values come again and again.)"""
    return mp.exp(x)


def expm1(x: Any) -> Any:
    return mp.expm1(x) if abs(x) < 1 else exponential(x) - 1


def softplus(x: Any) -> Any:
    return mp.log1p(exponential(x)) if x < 0 else logarithm(1 + exponential(x))


def divide(x: Any, y: Any) -> Any:
    if y == 0:
        return NAN if x == 0 else mp.inf * mp.sign(x)
    return x / y


def logarithm(x: Any) -> Any:
    return mp.log(x) if x else -mp.inf


def power(x: Any, y: Any) -> Any:
    return divide(mpf(1), x) if y == -1 else x**y


def erfc(x: Any) -> Any:
    """mpmath's, and what it comes to where that gives up."""
    if abs(x) < 1e50 or mp.isinf(x):
        return mp.erfc(x)
    return exponential(-x * x) / x / mp.sqrt(mp.pi) if x > 0 else mpf(2)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + exponential(-x))


SCALAR: dict[str, Any] = {
    "add": lambda *xs: reduce(real(lambda a, b: a + b), xs),
    "mul": lambda *xs: reduce(real(lambda a, b: a * b), xs),
    "maximum": lambda *xs: reduce(real(lambda a, b: max(a, b)), xs),
    "minimum": lambda *xs: reduce(real(lambda a, b: min(a, b)), xs),
    "logaddexp": lambda *xs: reduce(
        real(lambda a, b: logarithm(exponential(a) + exponential(b))), xs
    ),
    "sub": real(lambda a, b: a - b),
    "true_div": real(divide),
    "neg": real(lambda a: -a),
    "abs": real(lambda a: abs(a)),
    "sqr": real(lambda a: a * a),
    "sqrt": real(lambda a: mp.sqrt(a)),
    "pow": real(power),
    "reciprocal": real(lambda a: divide(mpf(1), a)),
    "exp": real(lambda a: exponential(a)),
    "expm1": real(expm1),
    "log": real(logarithm),
    "log1p": real(lambda a: logarithm(1 + a)),
    "sigmoid": real(sigmoid),
    "erf": real(lambda a: mp.erf(a)),
    "erfc": real(lambda a: erfc(a)),
    "logerfc": real(lambda a: logarithm(erfc(a))),
    "square": real(lambda a: a * a),
    "softplus": real(softplus),
    "log1mexp": real(lambda a: logarithm(1 - exponential(a))),
    "sin": real(lambda a: mp.sin(a)),
    "cos": real(lambda a: mp.cos(a)),
    "tanh": real(lambda a: mp.tanh(a)),
    "isnan": np.frompyfunc(lambda a: a != a, 1, 1),
    "second": lambda a, b: np.broadcast_arrays(a, b)[1],
    "switch": lambda c, a, b: np.where(np.asarray(c, bool), a, b),
}


def total(x: Any, op: Any) -> Any:
    return np.add.reduce(x, axis=op.axis, keepdims=op.keepdims, initial=mpf(0))


def exp_sum(x: Any, op: Any, keepdims: bool = True) -> Any:
    options = {"axis": op.axis, "keepdims": keepdims, "initial": mpf(0)}
    return np.add.reduce(SCALAR["exp"](x), **options)


ARRAY: dict[str, Any] = {
    "Sum": total,
    "ScaledExp": lambda x, op: SCALAR["exp"](x),  # in quotients, where a factor cancels
    "Softmax": lambda x, op: SCALAR["true_div"](SCALAR["exp"](x), exp_sum(x, op)),
    "LogSoftmax": lambda x, op: x - SCALAR["log"](exp_sum(x, op)),
    "LogSumExp": lambda x, op: SCALAR["log"](exp_sum(x, op, op.keepdims)),
    "Dot": lambda a, b, op: total_of_products(a, b),
    "MatMul": lambda a, b, op: total_of_products(a, b),
}
#: ops that only move elements around do that to any
MOVES = ("DimShuffle", "DropDims", "Reshape", "Subtensor", "Join", "MakeVector", "Alloc")
#: so do these, at the integers that are their operands from this one on
AT_INDEX = {"AdvancedSubtensor": 1, "IncSubtensor": 2, "AdvancedIncSubtensor": 2}


def total_of_products(a: Any, b: Any) -> Any:
    products = SCALAR["mul"](a[..., :, None], b[..., None, :, :] if b.ndim > 1 else b[:, None])
    return np.add.reduce(products, axis=-2, initial=mpf(0))[..., 0 if b.ndim < 2 else slice(None)]


WHOLE = np.frompyfunc(lambda v: mpf(int(v)), 1, 1)
REAL = np.frompyfunc(lambda v: mpf(float(v)), 1, 1)
COMPLEX = np.frompyfunc(lambda v: mpmath.mpc(complex(v)), 1, 1)


def exact(array: Any) -> Any:
    """An array of multi-precision numbers."""
    a = np.asarray(array)
    convert = WHOLE if a.dtype.kind in "biu" else COMPLEX if a.dtype.kind == "c" else REAL
    return np.asarray(convert(a), object)


@mp.workdps(DIGITS)
def reference(output: Variable, given: dict[Any, Any], found: dict[Any, Any] | None = None) -> Any:
    """The value of a term; None where an op has no reference. found: computed values, which are
    taken for what is an integer or a boolean.
    """
    values = {v: a if a.dtype == object else exact(a) for v, a in given.items()}
    for node in toposort([output], list(given)):
        (out,) = node.outputs
        if found is not None and out.type.kind in "biu":
            values[out] = exact(found[out])
            continue
        xs = [exact(v.data) if isinstance(v, Constant) else values[v] for v in node.inputs]
        value = _value(node, xs)
        if value is None:
            return None
        values[out] = np.asarray(value, object)
    return values[output] if output in values else exact(output.data)  # type: ignore[attr-defined]


def _value(node: Any, xs: list[Any]) -> Any:
    op = node.op
    name = type(op).__name__
    if str(op) in SCALAR:
        return SCALAR[str(op)](*xs)
    if isinstance(op, Elemwise):
        return xs[0] if str(op).startswith(("Cast{float", "Cast{complex")) else None
    if name in ARRAY:
        return ARRAY[name](*xs, op)
    if name in AT_INDEX:
        first = AT_INDEX[name]
        xs = [*xs[:first], *[np.asarray(x, int) for x in xs[first:]]]
    if name in MOVES or name in AT_INDEX:
        cells = [[None] for _ in node.outputs]
        op.perform(node, xs, cells)
        return cells[0][0]
    return None


@mp.workdps(DIGITS)
def errors(found: Any, wanted: Any) -> Any:
    """How far each number is off, in units in the last place of its dtype."""
    return np.array([error(f, w, found.dtype) for f, w in zip(found.flat, wanted.flat)])


@mp.workdps(DIGITS)
def error(found: Any, wanted: Any, dtype: Any) -> float:
    """The same of one number. What is a little larger than the largest number may be infinite."""
    if wanted != wanted or found != found:
        return 0.0 if wanted != wanted and found != found else np.inf
    largest = mpf(float(np.finfo(dtype).max))
    if mp.isinf(wanted) or not np.isfinite(found):
        limit = largest * (1 - 8 * mpf(float(np.finfo(dtype).eps)))
        far = not np.isfinite(found) and abs(wanted) > limit and (wanted > 0) == (found > 0)
        return 0.0 if far else np.inf
    spacing = np.spacing(np.asarray(abs(float(min(abs(wanted), largest))), dtype))
    return float(abs(mpf(float(found)) - wanted) / mpf(float(spacing)))
