"""Checks of an op's declarations about results (`TensorOp.shapes`, `infer_shape`, `bounds`,
`limits`, `implied`, `elements`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import InvalidValueError, MethodNotDefined, ShapeError
from rewrite_engine.graph.node import Apply, Constant, Variable, copied
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.facts import constant_of, holds
from rewrite_engine.link.debug.told import error_at, shown
from rewrite_engine.link.forms import is_replaced
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.perform import runner
from rewrite_engine.match.fact import Fact, because
from rewrite_engine.pipeline.assumptions import SHIPPED
from rewrite_engine.scalar.bounds import rounded
from rewrite_engine.tensor.constant import weak_constant
from rewrite_engine.tensor.op import TensorOp

MOST = 1 << 16  # elements that are looked up one by one


def lengths_fit(node: Apply, given: Sequence[Any]) -> None:
    """Raise the op's error if lengths that must be equal differ, as other linkers do."""
    if isinstance(node.op, TensorOp):
        node.op.check(node, given)


def check_shapes(node: Apply, given: Sequence[Any], found: Sequence[Any], linker: Linker) -> None:
    """Raise `InvalidValueError` for a shape that contradicts the op. linker: runs ops that
    `debug_perform` replaces.
    """
    op = node.op
    expected: Sequence[Any]
    if isinstance(op, TensorOp):
        expected, by = op.checked(node, given), "shape rule"
    elif type(op).infer_shape is not Op.infer_shape and op.read_if is None:
        expected, by = _inferred(node, given, linker), "infer_shape"
    else:
        return
    for o, (v, value, shape) in enumerate(zip(node.outputs, found, expected, strict=True)):
        own = np.shape(value)
        if shape is None or all([n is None or n == k for n, k in zip(shape, own, strict=False)]):
            continue
        what = f"output {o} has shape {own}; by its {by} it has {shape}".replace("None", "?")
        raise error_at(InvalidValueError, what, node, given, r=v, v=value)


def _inferred(node: Apply, given: Sequence[Any], linker: Linker) -> Sequence[Any]:
    """Return the result of `infer_shape` for the outputs, as numbers; None for unspecified ones."""
    nothing = [None] * len(node.outputs)
    shapes = [
        tuple([weak_constant(n, "int64") for n in np.shape(x)])
        if v.type.ndim is not NO_RANK
        else ()
        for v, x in zip(node.inputs, given, strict=True)
    ]
    try:
        said = node.op.infer_shape(None, node, shapes)
    except (MethodNotDefined, NotImplementedError, ShapeError):
        return nothing
    except Exception as error:
        what = f"its infer_shape raises {type(error).__name__}: {error}"
        raise error_at(InvalidValueError, what, node, given) from error
    asked = [n for shape in said if shape is not None for n in shape if isinstance(n, Variable)]
    values: dict[Variable, Any] = dict(zip(node.inputs, given, strict=True))
    for one in toposort(asked, node.inputs):
        run = linker.runner(one) if is_replaced(one.op) else runner(one)
        results = run(*[_value(v, values) for v in one.inputs])
        values.update(zip(one.outputs, results if len(one.outputs) > 1 else (results,)))

    def number(n: Any) -> Any:
        return int(_value(n, values)) if isinstance(n, Variable) else n

    return [None if shape is None else tuple(map(number, shape)) for shape in said]


def _value(v: Variable, values: dict[Variable, Any]) -> Any:
    return v.data if isinstance(v, Constant) else values[v]


# --- values ---------------------------------------------------------------------------------------


def check_promises(node: Apply, given: Sequence[Any], found: Sequence[Any]) -> None:
    """Raise `InvalidValueError` for values of the first output that contradict the op's
    declarations, for operands with these values.
    """
    op, value = node.op, found[0] if found else None
    silent = not op.implied and op.elements is None and type(op).bounds is Op.bounds
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufc":
        return
    if silent and op.limits is None:
        return
    why = _beyond(node, given, value) or _implied(node, given, value) or _strange(op, given, value)
    if why:
        lines = [f"its values: {shown(value)}"]
        what = f"output 0 violates a declaration of the op: {why}"
        raise error_at(InvalidValueError, what, node, given, lines, r=node.outputs[0], v=value)


def _beyond(node: Apply, given: Sequence[Any], value: Any) -> str | None:
    """Describe the violated bounds, if elements are beyond them."""
    if value.dtype.kind == "c" or not value.size:
        return None
    known = dict(zip(node.inputs, given, strict=True))
    ends = rounded(node.op.bounds(node, lambda v: _ends(known[v])), value.dtype)
    if ends is None or ((ends[0] <= value) & (value <= ends[1])).all():
        return None
    return f"all elements are numbers between {ends[0]:.6g} and {ends[1]:.6g} (range, bounds)"


def _ends(x: Any) -> Any:
    """Return the smallest and the largest element, if all are numbers."""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "biuf":
        return None
    low, high = (x.min().item(), x.max().item()) if x.size else (0, 0)
    return (low, high) if low - low == 0 == high - high else None


def _implied(node: Apply, given: Sequence[Any], value: Any) -> str | None:
    """Describe a fact that the op implies and that does not hold, if there is one."""
    out = node.outputs[0]
    for name in node.op.implied:
        fact = SHIPPED.get(name)
        if not isinstance(fact, Fact) or not fact.unary or fact.takes_value:
            continue
        if holds(fact, [out], because("?"), lambda v: value) is not False:
            continue  # nearly always
        own = copied(node, tuple(map(constant_of, node.inputs, given))).outputs[0]
        if answer := fact(own):
            return f"{name}, {answer} (range, keeps, implied)"
    return None


def _strange(op: Op, given: Sequence[Any], value: Any) -> str | None:
    """Describe elements that come from no operand, if the op declares that there are none."""
    if op.elements is None or value.size > MOST:
        return None
    operands = [np.ravel(x) for x in given[op.elements] if isinstance(x, np.ndarray)]
    if any([not np.can_cast(x.dtype, value.dtype, "safe") for x in operands]):
        return None
    there = np.concatenate([x.astype(value.dtype) for x in operands]) if operands else value[:0]
    known = np.isin(value, there) | ((value != value) & (there != there).any())
    return None if known.all() else "each element is one of an operand (elements)"
