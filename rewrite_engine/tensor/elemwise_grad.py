"""Gradients of `Elemwise`: the scalar op's partial derivatives, summed back to the shapes of the
inputs. Formulas of scalar ops, as expressions of arrays.

The gradient of an integer input is computed as if it were a float (in floatX); an integer output
passes on no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.null import disconnected, grad_not_implemented, is_disconnected, is_null
from rewrite_engine.graph.traverse import graph_inputs
from rewrite_engine.scalar.dtype import DISCRETE, is_number
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor import math as m
from rewrite_engine.tensor.constant import as_tensor_variable, of_value, weak_constant
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.reduce import sum_to

#: ops that choose elements: what their gradients exclude is read from the form `switch(c, g, 0)`
SELECTS = frozenset([m.switch, m.maximum, m.minimum, m.clip])


def gradient_dtype(dtype: str) -> str:
    """Return the dtype of the gradient of a variable with this dtype: never an integer."""
    return config.floatX if dtype in DISCRETE else dtype


def zero_gradient(x: Any) -> Any:
    """Return a gradient of zeros for `x`."""
    return m.second(x, weak_constant(0.0, gradient_dtype(x.type.dtype)))


def input_gradients(
    op: Elemwise,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    gs: Sequence[Variable],
    wanted: Sequence[int],
) -> list[Variable]:
    """Return the gradients of the wanted inputs (see `Elemwise.input_gradients`)."""
    unread = op.scalar_op.shape_only
    if all(is_disconnected(g) for g in gs):
        return [disconnected() for _ in wanted]
    parts = partials(op, inputs, outputs, gs, [i for i in wanted if i not in unread])
    return [disconnected() if i in unread else _fitted(inputs[i], parts[i]) for i in wanted]


def partials(
    op: Elemwise,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    gs: Sequence[Any],
    wanted: Sequence[int],
) -> dict[int, Any]:
    """Return the scalar op's part of each gradient: None for zero, a null variable if the op
    declares none.
    """
    live = [
        None if is_disconnected(g) or z.type.dtype in DISCRETE else g
        for g, z in zip(gs, outputs, strict=True)
    ]
    if all(g is None for g in live):
        return dict.fromkeys(wanted)
    found = dict.fromkeys(_without_slope(op, inputs, wanted))
    if len(found) == len(wanted):
        return found
    wanted = [i for i in wanted if i not in found]
    inputs = _as_floats(op, inputs, outputs)
    g, filled = _number(op, inputs, outputs, live[0])
    found |= _of_logarithm(op, inputs, outputs[0], g)
    wanted = [i for i in wanted if i not in found]
    if filled is not None:
        live = [as_number(g) if g.type.ndim == 0 else g]
    try:
        parts = dict(zip(wanted, op.scalar_op.pullback(m, live, outputs, inputs, wanted)))
        return found | (parts if filled is None else _refilled(parts, inputs, outputs[0], filled))
    except NotImplementedError as error:
        if len(wanted) == 1:
            return {i: grad_not_implemented(op, i, inputs[i], str(error)) for i in wanted}
    return {i: partials(op, inputs, outputs, gs, [i])[i] for i in wanted}


class GradientNumber:
    """An output gradient that is a number, in the formula of an op: a constant multiple of a 0-d
    term (None: of 1). What is known when the gradient is built is computed then.
    """

    __slots__ = ("value", "dtype", "term")

    def __init__(self, value: float, dtype: str, term: Any = None) -> None:
        self.value, self.dtype, self.term = float(value), dtype, term

    def __neg__(self) -> GradientNumber:
        return GradientNumber(-self.value, self.dtype, self.term)

    def __mul__(self, other: Any) -> Any:
        factor = self._beside(other)
        if factor is not None:
            return GradientNumber(self.value * factor, self.dtype, self.term)
        if abs(self.value) != 1 or other.type.dtype != self.dtype:
            return m.mul(self.variable(), other)
        product = other if self.term is None else m.mul(self.term, other)
        return product if self.value == 1 else m.neg(product)  # (a sign meets others outside)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        divisor = self._beside(other)
        if divisor:
            return GradientNumber(self.value / divisor, self.dtype, self.term)
        return m.true_div(self.variable(), other)

    def _beside(self, other: Any) -> float | None:
        """Return the value of another number whose dtype does not widen this one."""
        if is_number_in(other, self.dtype):
            return float(other.element)
        return None if isinstance(other, Variable) else float(other)

    def variable(self) -> Any:
        """Return the number as a variable."""
        if self.term is not None and self.value == 1:
            return self.term
        constant = weak_constant(self.value, self.dtype)
        return constant if self.term is None else m.mul(constant, self.term)


@of_value.register
def _(x: GradientNumber, *_: Any) -> Any:
    return x.variable()


def as_number(g: Any) -> GradientNumber:
    """Return a 0-d float as a number."""
    dtype = g.type.dtype
    if is_number_in(g, dtype):
        return GradientNumber(g.element, dtype)
    if g.head is m.neg:
        return GradientNumber(-1.0, dtype, g.owner.inputs[0])
    if g.head is m.mul and len(g.owner.inputs) == 2:
        factor, term = g.owner.inputs
        if is_number_in(factor, dtype) and term.type.ndim == 0 and term.type.dtype == dtype:
            return GradientNumber(factor.element, dtype, term)
    return GradientNumber(1.0, dtype, g)


def is_number_in(x: Any, dtype: str) -> bool:
    """Return whether a term is a constant number of a dtype."""
    return isinstance(x, Constant) and x.type.ndim == 0 and x.type.dtype == dtype


def _number(op: Elemwise, inputs: Sequence[Any], outputs: Sequence[Any], g: Any) -> tuple[Any, Any]:
    """Return the number that an output gradient repeats in the shape of the result, and the term
    that has this shape; the gradient and None if there is none, or if the shape is that of several
    operands whose lengths must be compared.

    The gradients of the operands are computed from the number, so nothing is filled whose shape
    comes from another factor.
    """
    z = outputs[0]
    if g is None or op in SELECTS or len(outputs) > 1 or z.type.kind != "f":
        return g, None
    if not op.scalar_op.multiplies:
        return g, None
    ones = z.type.broadcastable
    if all(ones):
        return g, z if is_number_in(g, z.type.dtype) else None
    if g.owner is None or g.owner.op is not m.second or g.type.dtype != z.type.dtype:
        return g, None
    filled, number = g.owner.inputs
    alike = [x for x in inputs if x.type.broadcastable == ones]
    others = [x for x in inputs if x.type.broadcastable != ones]
    if not alike or not all([all(x.type.broadcastable) for x in (*others, number)]):
        return g, None
    first, shape = alike[0], z.type.shape
    sure = None not in shape and all([x.type.shape == shape for x in (filled, *alike)])
    if not sure and (len(alike) > 1 or (filled is not z and filled is not first)):
        return g, None
    return number, filled


def _refilled(parts: dict[int, Any], inputs: Sequence[Any], z: Any, filled: Any) -> dict[int, Any]:
    """Return the parts of a gradient that were computed from a number, in the shape of the result:
    that of the operand itself, if it is the same.
    """
    ones = z.type.broadcastable
    for i, part in parts.items():
        if part is None or (isinstance(part, Variable) and is_null(part)):
            continue
        part = part.variable() if isinstance(part, GradientNumber) else part
        if part.type.broadcastable != ones:
            x = inputs[i]
            own = x if x.type.shape == z.type.shape else z
            part = m.second(own if x.type.broadcastable == ones else filled, part)
        parts[i] = part
    return parts


def _without_slope(op: Elemwise, inputs: Sequence[Any], wanted: Sequence[int]) -> list[int]:
    """Return the operands on which the result does not depend, as the other factor, or the
    dividend, is the constant 0.

    Their gradient is 0 for any output gradient, including infinities and NaNs.
    """
    if op is m.mul:
        noughts = [i for i, x in enumerate(inputs) if _is_nought(x)]
        return [i for i in wanted if any([k != i for k in noughts])]
    return [1] if op is m.true_div and 1 in wanted and _is_nought(inputs[0]) else []


def _is_nought(x: Any) -> bool:
    """Return whether a term is obviously 0: a constant, possibly moved, or the difference of equal
    terms.
    """
    node = x.owner
    while node is not None and node.op.moves_only and len(node.inputs) == 1:
        x, node = node.inputs[0], node.inputs[0].owner
    if node is None:
        return isinstance(x, Constant) and bool(x.element == 0)
    return node.op is m.sub and isinstance(node.inputs[0], Constant) and _same(*node.inputs)


def _same(x: Any, y: Any) -> bool:
    return isinstance(y, Constant) and x.element == y.element is not None


def quotient(g: Any) -> tuple[Any, Any]:
    """Return the numerator in a gradient, in the dtype of the whole quotient, and the denominator;
    else (None, None).
    """
    if g is None or g.owner is None or g.owner.op is not m.true_div:
        return None, None
    n, below = g.owner.inputs
    return (n, below) if n.type.dtype == g.type.dtype else (None, None)


def _of_logarithm(op: Elemwise, xs: Sequence[Any], z: Any, g: Any) -> dict[int, Any]:
    """Return the parts n / x of a gradient n / z (the gradient of log(z)) for the operands of a
    product of powers.

    The product of the other factors cancels against z; either may be 0, or overflow.
    """
    degree, (n, below) = op.scalar_op.degree, quotient(g)
    if degree is None or below is not z or z.type.kind != "f":
        return {}
    if op is m.pow and getattr(xs[1], "number", None) is None:
        return _of_power(xs[0], xs[1], z, n)
    found = {}
    for i, (x, power) in enumerate(zip(xs, degree(*xs), strict=True)):
        if power is None or x.type.kind != "f":
            continue
        share = n if power == 1 else n * power
        part = share / x
        alike = part.type.broadcastable == z.type.broadcastable
        found[i] = part if alike else m.second(z, share) / x
    return found


def _of_power(x: Any, y: Any, z: Any, n: Any) -> dict[int, Any]:
    """Return the parts of a gradient n / z for z = x ** y with any y. (x ** 0 is 1 for every x.)"""
    found = {}
    if x.type.kind == "f":
        found[0] = m.switch(m.eq(y, 0), 0.0, n * y / x)
    if y.type.kind == "f":
        found[1] = m.second(z, n) * m.log(x)
    return found


def _as_floats(op: Elemwise, inputs: Sequence[Any], outputs: Sequence[Any]) -> Sequence[Any]:
    """Return the inputs, with integers in the dtype of the result: a derivative must not wrap
    around.
    """
    dtype = outputs[0].type.dtype
    if dtype in DISCRETE or all([x.type.dtype not in DISCRETE for x in inputs]):
        return inputs
    kept = op.scalar_op.free
    return [
        x
        if i in kept or x.type.dtype not in DISCRETE or isinstance(x, Constant)
        else m.cast(x, dtype)
        for i, x in enumerate(inputs)
    ]


def _fitted(x: Any, part: Any) -> Any:
    """Give a partial gradient the shape and dtype of its input."""
    if part is None:
        return zero_gradient(x)
    return part if is_null(part) else in_dtype_of(x, summed_to(part, x.type))


def summed_to(g: Any, type_: Any) -> Any:
    """Return the sum of a gradient over the dimensions along which an operand was broadcast.

    The sum of n / x is computed as the sum of n, over x, if x has none of these dimensions. The sum
    of one number is a product, if it is known of how many.
    """
    if g.type.kind == "f" and g.head is m.second and all(type_.broadcastable):
        number, count = g.owner.inputs[1], prod([n or 0 for n in g.type.shape])
        if number.type.ndim == 0 and count:
            if is_number_in(number, g.type.dtype):
                found = weak_constant(float(number.element) * count, g.type.dtype)
            else:
                found = number * float(count)
            return found.dimshuffle(*["x"] * type_.ndim) if type_.ndim else found
    n, below = quotient(g)
    ones = g.type.broadcastable
    if below is None or type_.broadcastable == ones or n.type.broadcastable != ones:
        return sum_to(g, type_)
    if below.type.broadcastable != type_.broadcastable:
        return sum_to(g, type_)
    return sum_to(n, type_) / below


def in_dtype_of(x: Any, g: Any) -> Any:
    """Convert a gradient to the dtype that the gradient of `x` has."""
    dtype = gradient_dtype(x.type.dtype)
    return g if g.type.dtype == dtype else m.cast(g, dtype)


def forward_gradients(op: Elemwise, inputs: Sequence[Variable], points: Sequence[Any]) -> list[Any]:
    """Return Jacobian-vector products (see `Elemwise.R_op`); None if no input has a tangent."""
    outputs = op.make_node(*inputs).outputs
    inputs = _as_floats(op, inputs, outputs)
    moved = [i for i, v in enumerate(points) if v is not None and not is_disconnected(v)]
    return [
        _forward(op, inputs, outputs, k, [(i, points[i]) for i in moved]) for k in range(op.nout)
    ]


def _forward(
    op: Elemwise,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    k: int,
    moved: Sequence[tuple[int, Any]],
) -> Any:
    total = None
    for i, v in moved:
        part = _pushed(op.scalar_op, k, outputs, inputs, i, v)
        if part is not None:
            total = part if total is None else m.add(total, part)
    if total is None or total.type.broadcastable == outputs[k].type.broadcastable:
        return total
    return m.second(outputs[k], total)


def _pushed(op: Any, k: int, outputs: Sequence[Any], inputs: Sequence[Any], i: int, v: Any) -> Any:
    """Return the derivative of output k along a tangent of input i (None: zero)."""
    z = outputs[k]

    def pull(g: Any, rule: Any = op.pullback) -> Any:
        return rule(m, [g if out is z else None for out in outputs], outputs, inputs, [i])[0]

    def part(unit: Any) -> Any:
        slope = pull(m.second(z, m.cast(unit, z.type.dtype)))
        return m.second(z, 0.0) if slope is None else m.real(m.conj(slope) * v)

    if "c" not in (z.type.kind, inputs[i].type.kind):
        return pull(v)
    if z.type.kind == "c":  # a product with the derivative, or each part by its gradient
        return pull(v, op.products) if op.holomorphic else m.complex(part(1), part(1j))
    return part(1)


def formula(op: ScalarOp, inputs: Sequence[Any]) -> Any:
    """Return the formula of a scalar op on arrays, in the shape that all of them broadcast to.

    Inputs are converted to the dtype in which the op computes.
    """
    assert op.formula is not None
    inner = op.inner_dtype([x.type.dtype for x in inputs])
    own = inputs if inner is None else [m.cast(x, inner) for x in inputs]
    result = op.formula(m, *own)
    if not isinstance(result, Variable | np.generic | np.ndarray) and not is_number(result):
        return result  # (what asked refuses it)
    result = as_tensor_variable(result)
    used = {*graph_inputs([result])}
    for x in [x for x in inputs if x not in used]:
        result = m.second(x, result)
    return result
