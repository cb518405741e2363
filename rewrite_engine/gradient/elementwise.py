"""Partial and scattered gradients through elementwise ops.

The condition of the output gradient is passed on with the op's own condition. For a scattered
gradient only the elements at the index are computed, if the operands have the shape of the result.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from rewrite_engine.gradient.partial import Partial, condition, full, is_zero, read, under
from rewrite_engine.gradient.scattered import is_scattered, links_of, takes_all, written_out
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import is_disconnected, is_null
from rewrite_engine.tensor.creation import zeros_like
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.elemwise_grad import (
    SELECTS,
    in_dtype_of,
    partials,
    summed_to,
    zero_gradient,
)
from rewrite_engine.tensor.math import add, mul, neg, sub
from rewrite_engine.tensor.reduce import Any_, sum_to
from rewrite_engine.tensor.type import TensorType


def inputs_to_pull(node: Apply, g: Any, inputs: list[int]) -> list[int] | None:
    """Return the inputs of an elementwise op to which conditions and indices are passed on.

    The gradients of the other inputs are computed by the op from `g`. None: the op computes all.
    """
    if isinstance(g, Partial):
        return inputs
    if not is_scattered(g):
        return inputs if node.op in SELECTS else None
    if node.op in (add, sub, neg):
        return []  # zeros stay zeros
    numbers = [i for i, v in enumerate(node.inputs) if all(v.type.broadcastable)]
    if node.op is not mul or len(numbers) < len(node.inputs) - 1:
        return inputs
    # they have the sum of what is taken, since what is not may be infinite
    return [] if takes_all(g) else [i for i in inputs if i in numbers]


def pull_elementwise(
    op: Elemwise,
    inputs: Sequence[Any],
    out: Any,
    g: Any,
    wanted: Sequence[int],
    kept: Container[Variable] = (),
) -> dict[int, Any]:
    """Return the gradients of the wanted inputs, under the condition of the output gradient and
    their own.

    kept: the variables for which a condition matters.
    """
    value = g.value if isinstance(g, Partial) else g
    some = [i for i in wanted if i not in op.scalar_op.shape_only]
    if is_scattered(value) and (g is value or g.clean) and _is_aligned(inputs, out):
        return _pull_scattered(op, inputs, out, value, some)
    if op in SELECTS or _are_stretched(inputs, out) or (
        any([inputs[i] in kept for i in some]) and _is_part(g)
    ):  # fmt: skip
        g = written_out(g)
        value = g.value if isinstance(g, Partial) else g
    result = {}
    for i, part in partials(op, inputs, [out], [value], some).items():
        if part is None or is_null(part):
            result[i] = zero_gradient(inputs[i]) if part is None else part
            continue
        result[i] = _fitted(inputs[i], under(g, part), inputs[i] in kept)
    return result


def _is_part(g: Any) -> bool:
    """Return whether a gradient is scattered and omits some of the elements added at the index."""
    links = [] if isinstance(g, Partial) else links_of(g)
    return any(isinstance(read(value), Partial) for _, value, _ in links)


def _are_stretched(inputs: Sequence[Any], out: Any) -> bool:
    """Return whether all operands are broadcast, so that excluded elements are multiplied."""
    return not any([v.type.broadcastable == out.type.broadcastable for v in inputs])


def _is_aligned(inputs: Sequence[Any], out: Any) -> bool:
    """Return whether all operands have the shape of the result, or are numbers."""
    ones = out.type.broadcastable
    return all(v.type.broadcastable == ones or v.type.ndim == 0 for v in inputs)


def _pull_scattered(
    op: Elemwise, inputs: Sequence[Any], out: Any, g: Any, wanted: Sequence[int]
) -> dict[int, Any]:
    """Return the input gradients for a scattered output gradient, computed only at its indices."""
    result: dict[int, Any] = {}
    for at, value, index in links_of(g):
        taken = [at.take(v, index) if v.type.ndim else v for v in inputs]
        there = at.take(out, index)
        for i, part in pull_elementwise(op, taken, there, read(value), wanted).items():
            t, x, before = full(part), inputs[i], result.get(i)
            if is_null(t) or is_disconnected(t):
                result[i] = t
            elif not x.type.ndim:
                result[i] = t if before is None else before + t
            else:
                zero = zeros_like(x, dtype=t.type.dtype) if before is None else before
                result[i] = zero if is_zero(t) else at(zero, t, *index)
    return result


def _fitted(x: Any, g: Any, keep: bool) -> Any:
    """Give a gradient the shape and dtype of its input."""
    if not isinstance(g, Partial):
        return in_dtype_of(x, summed_to(g, x.type))
    if g.type.ndim == x.type.ndim and _same_ones(g.type, x.type):
        return g.of(in_dtype_of(x, g.value))
    value = in_dtype_of(x, sum_to(full(g), x.type))
    return value if not keep else Partial(value, sum_to(condition(g), x.type, Any_), clean=True)


def _same_ones(have: TensorType, want: TensorType) -> bool:
    """Return whether `sum_to` changes nothing."""
    return all(w != 1 or h == 1 for h, w in zip(have.shape, want.shape, strict=True))
