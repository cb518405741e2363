"""Graphs computed with 400 digits, element by element: what floating point should have given."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import toposort

mp.dps = 400  # 1 + the smallest number is told from 1
NAN = mpf("nan")


def real(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, NaN where it is not real or not defined."""

    def safe(*xs: Any) -> Any:
        if any(x != x for x in xs):
            return NAN
        try:
            value = fn(*xs)
        except (ZeroDivisionError, ValueError, OverflowError):
            return NAN
        return NAN if isinstance(value, mpmath.mpc) else value

    return np.frompyfunc(safe, fn.__code__.co_argcount, 1)


def divide(x: Any, y: Any) -> Any:
    if y == 0:
        return NAN if x == 0 else mp.inf * mp.sign(x)
    return x / y


def exponential(x: Any) -> Any:
    return mp.exp(x)


def logarithm(x: Any) -> Any:
    return mp.log(x) if x else -mp.inf


def power(x: Any, y: Any) -> Any:
    return divide(mpf(1), x) if y == -1 else x**y


SCALAR: dict[str, Any] = {
    "add": lambda *xs: reduce(real(lambda a, b: a + b), xs),
    "mul": lambda *xs: reduce(real(lambda a, b: a * b), xs),
    "sub": real(lambda a, b: a - b),
    "true_div": real(divide),
    "neg": real(lambda a: -a),
    "abs": real(lambda a: abs(a)),
    "sqr": real(lambda a: a * a),
    "sqrt": real(lambda a: mp.sqrt(a)),
    "pow": real(power),
    "reciprocal": real(lambda a: divide(mpf(1), a)),
    "exp": real(exponential),
    "expm1": real(lambda a: mp.exp(a) - 1),
    "log": real(logarithm),
    "log1p": real(lambda a: logarithm(1 + a)),
    "sigmoid": real(lambda a: 1 / (1 + mp.exp(-a))),
    "second": lambda a, b: np.broadcast_arrays(a, b)[1],
}


def total(x: Any, op: Any) -> Any:
    return np.add.reduce(x, axis=op.axis, keepdims=op.keepdims, initial=mpf(0))


def exp_sum(x: Any, op: Any, keepdims: bool = True) -> Any:
    return np.add.reduce(SCALAR["exp"](x), axis=op.axis, keepdims=keepdims, initial=mpf(0))


ARRAY: dict[str, Any] = {
    "Sum": total,
    "Softmax": lambda x, op: SCALAR["true_div"](SCALAR["exp"](x), exp_sum(x, op)),
    "LogSoftmax": lambda x, op: x - SCALAR["log"](exp_sum(x, op)),
    "LogSumExp": lambda x, op: SCALAR["log"](exp_sum(x, op, op.keepdims)),
}


def reordered(x: Any, op: Any) -> Any:
    kept = [o for o in op.new_order if o != "x"]
    assert len(kept) == x.ndim
    turned = np.transpose(x, kept)
    return turned[tuple([None if o == "x" else slice(None) for o in op.new_order])]


ARRAY["DimShuffle"] = reordered


def exact(array: Any) -> Any:
    """An array of multi-precision numbers."""
    return np.frompyfunc(lambda v: mpf(float(v)), 1, 1)(np.asarray(array))


def reference(output: Variable, given: dict[Any, Any]) -> Any:
    """The value of a term; None where an op has no reference."""
    values = {v: np.asarray(exact(a), object) for v, a in given.items()}
    for node in toposort([output], list(given)):
        xs = [exact(v.data) if isinstance(v, Constant) else values[v] for v in node.inputs]
        scalar = SCALAR.get(str(node.op))
        array = ARRAY.get(type(node.op).__name__)
        if scalar is None and array is None:
            return None
        value = scalar(*xs) if scalar else array(xs[0], node.op)
        values[node.outputs[0]] = np.asarray(value, object)
    return values[output]


def errors(found: Any, wanted: Any) -> Any:
    """How far each number is off, in units in the last place of its dtype."""
    return np.array([error(f, w, found.dtype) for f, w in zip(found.flat, wanted.flat)])


def error(found: Any, wanted: Any, dtype: Any) -> float:
    if wanted != wanted or found != found:
        return 0.0 if wanted != wanted and found != found else np.inf
    limit = mpf(float(np.finfo(dtype).max))
    if not np.isfinite(found):
        return 0.0 if abs(wanted) > limit and (wanted > 0) == (found > 0) else np.inf
    if abs(wanted) > limit:
        return np.inf
    spacing = np.spacing(np.asarray(abs(float(wanted)), dtype))
    return float(abs(mpf(float(found)) - wanted) / mpf(float(spacing)))
