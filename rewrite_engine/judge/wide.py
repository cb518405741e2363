"""Results of one node in 80-bit floats: where arrays are too large for many digits. They have 3.3
digits more than float64. Where the machine has no such floats, nothing is known (`NotKnown`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mpf

import rewrite_engine.tensor as pt
from rewrite_engine.graph.node import Apply
from rewrite_engine.judge.exact import MOVING, NotKnown
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.scalar.op import Cast

WIDE = np.longdouble
IS_WIDER = np.finfo(WIDE).nmant > np.finfo(np.float64).nmant


def _softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _sigmoid(x: Any) -> Any:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in (
        "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh "
        "cosh tanh arcsinh arccosh arctanh hypot floor ceil trunc sign cbrt fmod fmax fmin "
        "logaddexp2 copysign heaviside reciprocal"
    ).split()
} | {
    "sub": np.subtract,
    "true_div": np.divide,
    "floor_div": np.floor_divide,
    "mod": np.remainder,
    "neg": np.negative,
    "abs": np.abs,
    "sqr": np.square,
    "pow": np.power,
    "round": np.rint,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "identity": lambda x: x,
    "second": lambda x, y: np.broadcast_arrays(x, y)[1],
    "switch": lambda c, x, y: np.where(c != 0, x, y),
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "log1mexp": lambda x: np.log(-np.expm1(x)),
}
FOLDED = {
    "add": np.add, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "logaddexp": np.logaddexp,
}  # fmt: skip
TESTS = {
    "eq": np.equal, "neq": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "isnan": np.isnan, "isinf": np.isinf,
}  # fmt: skip
REDUCED: dict[type, Any] = {
    pt.Sum: np.add.reduce, pt.Prod: np.multiply.reduce, pt.Max: np.maximum.reduce,
    pt.Min: np.minimum.reduce,
}  # fmt: skip


def widened(a: Any) -> Any:
    """Return exact numbers as 80-bit floats (integers and booleans unchanged)."""
    if a.dtype != object:
        return a
    rest = np.frompyfunc(lambda x, h: float(x - h) if x - x == 0 == h - h else 0.0, 2, 1)
    with np.errstate(invalid="ignore"):
        high = np.asarray(np.frompyfunc(float, 1, 1)(a), np.float64)
        low = rest(a, high)
    return high.astype(WIDE) + np.asarray(low, np.float64).astype(WIDE)


def as_exact(a: Any) -> Any:
    """Return 80-bit floats as exact numbers."""
    with np.errstate(all="ignore"):
        high = a.astype(np.float64)
        low = np.where(np.isfinite(high), a - high.astype(WIDE), 0).astype(np.float64)
        found = np.frompyfunc(lambda h, r: mpf(float(h)) + float(r), 2, 1)(high, low)
    return np.asarray(found, object)


def results(node: Apply, inputs: Sequence[Any]) -> list[Any]:
    """Return the outputs of a node in 80-bit floats. Raises `NotKnown`."""
    if not IS_WIDER or any(v.type.kind == "c" for v in (*node.inputs, *node.outputs)):
        raise NotKnown
    op: Any = node.op
    given = [widened(a) for a in inputs]
    with np.errstate(all="ignore"):
        if isinstance(op, pt.Elemwise):
            return [np.asarray(x) for x in scalar_values(op.scalar_op, given, node.outputs)]
        if type(op) in REDUCED and node.outputs[0].type.kind == "f":
            axis = None if op.axis is None else tuple(op.axis)
            found = REDUCED[type(op)](given[0].astype(WIDE), axis=axis, keepdims=op.keepdims)
            return [np.asarray(found)]
        if isinstance(op, pt.CumOp) and node.outputs[0].type.kind == "f":
            step = np.add if op.mode == "add" else np.multiply
            return [step.accumulate(given[0].astype(WIDE), axis=op.axis)]
        if isinstance(op, pt.Dot | pt.MatMul):
            product = np.dot if isinstance(op, pt.Dot) else np.matmul
            return [np.asarray(product(*[a.astype(WIDE) for a in given]))]
        if isinstance(op, pt.Softmax | pt.LogSoftmax | pt.LogSumExp):
            return [_exponential(op, given[0].astype(WIDE))]
        if isinstance(op, MOVING):
            return _moved(node, given)
    raise NotKnown


def _moved(node: Apply, given: Sequence[Any]) -> list[Any]:
    parts = [
        a.astype(WIDE) if v.type.kind == "f" else a for a, v in zip(given, node.inputs, strict=True)
    ]
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    node.op.perform(node, parts, cells)
    return [np.asarray(cell[0]) for cell in cells]


def _exponential(op: Any, x: Any) -> Any:
    top = np.max(x, axis=op.axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(x - top)
    total = np.sum(e, axis=op.axis, keepdims=True)
    if isinstance(op, pt.Softmax):
        return e / total
    size = np.log(total) + top
    if isinstance(op, pt.LogSoftmax):
        return x - size
    return size if op.keepdims else np.squeeze(size, axis=op.axis)


def scalar_values(op: Any, given: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """Return the outputs of a scalar op for arrays. Raises `NotKnown`."""
    name, kind = str(op), outputs[0].type.kind
    if isinstance(op, Composite):
        return _composite(op, given)
    if isinstance(op, Cast):
        return [given[0].astype(WIDE if kind == "f" else outputs[0].type.dtype)]
    if name in TESTS:
        return [TESTS[name](*given)]
    if kind != "f":
        raise NotKnown
    if name in ("switch", "second"):  # (their first operand is no number of the result)
        return [FUNCTIONS[name](given[0], *[a.astype(WIDE) for a in given[1:]])]
    wide = [a.astype(WIDE) for a in given]
    if name in FOLDED:
        found = wide[0]
        for a in wide[1:]:
            found = FOLDED[name](found, a)
        return [found]
    if name not in FUNCTIONS:
        raise NotKnown
    return [FUNCTIONS[name](*wide)]


def _composite(op: Composite, given: Sequence[Any]) -> list[Any]:
    values: dict[Any, Any] = dict(zip(op.fgraph.inputs, given, strict=True))
    for node in op.fgraph.toposort():
        inputs = [values[v] if v in values else constant_data(v) for v in node.inputs]
        values.update(zip(node.outputs, scalar_values(node.op, inputs, node.outputs), strict=True))
    return [values[v] if v in values else constant_data(v) for v in op.fgraph.outputs]


def constant_data(v: Any) -> Any:
    """Return the value of a constant."""
    return np.asarray(v.data)
