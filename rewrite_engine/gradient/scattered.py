"""Scattered gradients: zeros with values added at one index or a few, such as gradients of
`f(x)[i]`.

They are partial gradients without a condition. Only the elements at the index are differentiated
(`gradient/elementwise.py`), so the cost depends on the indexed part, and zeros are multiplied with
nothing. See docs/decisions/0025-masked-gradients.md.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.gradient.partial import Partial, condition, is_zero, read, writer
from rewrite_engine.graph.node import Constant
from rewrite_engine.tensor.creation import zeros_like
from rewrite_engine.tensor.dimshuffle import squeeze
from rewrite_engine.tensor.index.gather import BaseInc, increments
from rewrite_engine.tensor.math import cast, mul, neg, neq, or_

FEW = 8  # indices whose gradients are computed each by itself


def is_scattered(g: Any) -> bool:
    """Return whether a gradient consists of zeros with values added at one index or a few."""
    found, zeros = increments(unscaled(g)[0], FEW)
    return bool(found) and is_zero(zeros)


def is_written(g: Any) -> bool:
    """Return whether a gradient consists of zeros with values added at an index, without further
    factors.
    """
    return isinstance(g.owner and g.owner.op, BaseInc) and is_scattered(g)


def links_of(g: Any) -> list[tuple[Any, Any, Any]]:
    """Return the additions at indices that form a scattered gradient: (op, value, index) in turn.

    The sum may be multiplied by at most `FEW` numbers. Returns an empty list for other gradients,
    or for more than `FEW` indices.
    """
    g, factors = unscaled(g)
    found, zeros = increments(g, FEW)
    if not is_zero(zeros):
        return []
    numbers = [squeeze(v) for v in factors]
    return [
        (op, mul(value, *numbers) if numbers else value, places)
        for op, value, places in found[::-1]
    ]


def unscaled(g: Any) -> tuple[Any, list[Any]]:
    """Return a gradient as an array and the numbers that multiply it; -1 if it is negated."""
    factors: list[Any] = []
    while len(factors) < FEW and g.owner is not None and g.owner.op in (mul, neg):
        arrays = [v for v in g.owner.inputs if not all(v.type.broadcastable)]
        if len(arrays) != 1:
            break
        factors += [v for v in g.owner.inputs if v is not arrays[0]] or [-1.0]
        g = arrays[0]
    return g, factors


def takes_all(g: Any) -> bool:
    """Return whether a scattered gradient is known to cover all elements, by a constant index
    vector.
    """
    (length, *rest) = g.type.shape or (None,)
    for _, _, places in links_of(g):
        at = places[0] if len(places) == 1 and not rest else None
        if isinstance(at, Constant) and at.type.kind in "iu" and at.type.ndim == 1:
            if length is not None and len(set((at.data % length).tolist())) == length:
                return True
    return False


def written_out(g: Any) -> Any:
    """Return the gradient with an explicit condition for its scattered part."""
    if isinstance(g, Partial) or not is_scattered(g):
        return g
    return Partial(g, written(zeros_like(g, dtype="bool"), g), clean=True)


def written(where: Any, g: Any) -> Any:
    """Return a condition that is also true where a scattered gradient has values."""
    for op, value, places in links_of(g):
        inner = read(value)
        if not isinstance(inner, Partial):
            where = writer(op)(where, True, *places)
        else:  # (a place may be named twice, and count once)
            zeros = zeros_like(where, dtype="int64")
            where = or_(where, neq(op(zeros, cast(condition(inner), "int64"), *places), 0))
    return where
