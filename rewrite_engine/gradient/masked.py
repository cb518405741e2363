"""Gradients that are zero in places because a branch was not taken there.

`switch`, `maximum` and `clip` give the gradient zero to what they leave out. Such a zero is no
factor: multiplied with an infinite or undefined derivative it would become NaN. So the walk
(`gradient/walk.py`) carries value and mask side by side (`Masked`), multiplies only the value, and
puts the zeros in last. What an index takes needs no mask: only there is anything multiplied. See
docs/decisions/0025-masked-gradients.md.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.null import is_disconnected, is_null
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor.creation import Alloc, ones_like, zeros_like
from rewrite_engine.tensor.dimshuffle import squeeze
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.elemwise_grad import in_dtype_of, partials, summed_to, zero_gradient
from rewrite_engine.tensor.gather import AdvancedIncSubtensor, BaseInc, increments
from rewrite_engine.tensor.index import IncSubtensor
from rewrite_engine.tensor.joins import Join
from rewrite_engine.tensor.math import (
    and_,
    cast,
    clip,
    invert,
    maximum,
    minimum,
    mul,
    neg,
    neq,
    or_,
    second,
    switch,
)
from rewrite_engine.tensor.reduce import Any_, sum_to
from rewrite_engine.tensor.type import TensorType

FEW = 8  # indices whose gradients are computed each by itself
_WRITES = frozenset([IncSubtensor, AdvancedIncSubtensor, Join])
_SELECTS = frozenset([switch, maximum, minimum, clip])


@dataclass(frozen=True, slots=True)
class Masked:
    """The gradient that is `value` where the condition `where` is `taken`, and 0 elsewhere.

    clean: `value` itself has the zeros. covers: a condition that holds nowhere else.
    """

    value: Any
    where: Any
    taken: bool = True
    clean: bool = False
    covers: Any = None

    @property
    def type(self) -> Any:
        """The type of the gradient."""
        return self.value.type

    def is_whole(self) -> bool:
        """Whether all elements are masked or none, whatever their number."""
        return all(self.where.type.broadcastable)

    def of(self, value: Any) -> Masked:
        """Another value behind the same mask."""
        return Masked(value, self.where, self.taken)


def full(g: Any) -> Any:
    """The gradient as one variable."""
    if not isinstance(g, Masked):
        return g
    if g.clean:
        return g.value
    return switch(g.where, g.value, 0.0) if g.taken else switch(g.where, 0.0, g.value)


def condition(g: Masked) -> Any:
    """A boolean variable that is true where the value counts."""
    where = g.where if g.where.type.dtype == "bool" else neq(g.where, 0)
    return where if g.taken else invert(where)


def both(g: Any, h: Any) -> Any:
    """`h`, and zero also where `g` is."""
    if not isinstance(g, Masked):
        return h
    if not isinstance(h, Masked):
        return g.of(h)
    if h.where is g.where and h.taken == g.taken:
        return h
    return Masked(h.value, and_(condition(g), condition(h)))


def total(terms: Sequence[Any], add_up: Any, keep: bool) -> Any:
    """The sum of terms: masked where all of them are; at indices where all are zero but there.

    keep: whether it matters where terms at several indices, or with masks, are zero.
    """
    masked = [t for t in terms if isinstance(t, Masked)]
    scattered = [t for t in terms if not isinstance(t, Masked) and is_scattered(t)]
    if len(scattered) == len(terms) and len({t.type.dtype for t in terms}) == 1:
        added: dict[Any, list[Any]] = {}
        for op, value, places in [link for t in terms for link in links_of(t)]:
            added.setdefault((op, *places), []).append(value)
        if len(added) <= FEW:
            _, g = increments(_unscaled(terms[0])[0], FEW)
            if g.type.dtype != terms[0].type.dtype:
                g = zeros_like(g, dtype=terms[0].type.dtype)
            for (op, *places), values in added.items():
                g = op(g, values[0] if len(values) == 1 else add_up(values), *places)
            return g
    if scattered and keep and len(masked) + len(scattered) == len(terms):
        return _masked_beside(scattered, total(masked, add_up, keep) if masked else None, add_up)
    if scattered or len(masked) < len(terms):
        return add_up([full(t) for t in terms])
    masks = {(t.where, t.taken) for t in terms}
    if len(masks) == 1:
        first = terms[0]
        value = add_up([t.value for t in terms])
        return Masked(value, first.where, first.taken, all(t.clean for t in terms))
    value = add_up([full(t) for t in terms])
    if any((where, not taken) in masks for where, taken in masks):
        return value  # somewhere one of the two branches is taken: everywhere
    covered = {(t.covers, True) for t in terms}
    known = {(t.where, t.taken): t for t in terms}
    known = {mask: t for mask, t in known.items() if mask not in covered}
    parts = [condition(t) for t in known.values()]
    where = parts[0] if len(parts) == 1 else or_(*parts)
    return Masked(value, where, clean=True)


def _masked_beside(scattered: Sequence[Any], rest: Any, add_up: Any) -> Any:
    """The sum of terms that are zero but at indices, and of another that is perhaps masked."""
    value = add_up([*scattered, *([] if rest is None else [full(rest)])])
    if rest is None:
        where = zeros_like(value, dtype="bool")
    elif isinstance(rest, Masked):
        where = condition(rest)
        if where.type.broadcastable != value.type.broadcastable:
            where = second(value, where)
    else:
        return value
    for t in scattered:
        where = _written(where, t)
    return Masked(value, where, clean=True)


# --- masks by the form of a gradient ------------------------------------------------------------


def is_zero(g: Any) -> bool:
    """Whether a gradient is zero by its form: a constant of zeros, or one spread over a shape."""
    if g.owner is not None:
        op = g.owner.op
        if op is second:
            g = g.owner.inputs[1]
        elif isinstance(op, Alloc):
            g = g.owner.inputs[0]
    return isinstance(g, Constant) and g.data.size <= 1024 and not np.any(g.data)


def links_of(g: Any) -> list[tuple[Any, Any, Any]]:
    """What is added at indices to zeros, one after the other: the ops that add it, what, and where.
    All of it may be multiplied by numbers, at most `FEW`. None for other gradients, or at more than
    `FEW` indices.
    """
    g, factors = _unscaled(g)
    found, zeros = increments(g, FEW)
    if not is_zero(zeros):
        return []
    numbers = [squeeze(v) for v in factors]
    return [
        (op, mul(value, *numbers) if numbers else value, places)
        for op, value, places in found[::-1]
    ]


def _unscaled(g: Any) -> tuple[Any, list[Any]]:
    """A gradient as an array and the numbers that it is multiplied by; -1 if it is negated."""
    factors: list[Any] = []
    while len(factors) < FEW and g.owner is not None and g.owner.op in (mul, neg):
        arrays = [v for v in g.owner.inputs if not all(v.type.broadcastable)]
        if len(arrays) != 1:
            break
        factors += [v for v in g.owner.inputs if v is not arrays[0]] or [-1.0]
        g = arrays[0]
    return g, factors


def is_scattered(g: Any) -> bool:
    """Whether a gradient is zeros with something added at an index, or at a few."""
    found, zeros = increments(_unscaled(g)[0], FEW)
    return bool(found) and is_zero(zeros)


def is_written(g: Any) -> bool:
    """Whether a gradient is zeros with something added at an index, and multiplied by nothing."""
    return isinstance(g.owner and g.owner.op, BaseInc) and is_scattered(g)


def takes_all(g: Any) -> bool:
    """Whether a scattered gradient is known to have something added to each of its elements: at a
    constant vector of indices that names all of them.
    """
    (length, *rest) = g.type.shape or (None,)
    for _, _, places in links_of(g):
        at = places[0] if len(places) == 1 and not rest else None
        if isinstance(at, Constant) and at.type.kind in "iu" and at.type.ndim == 1:
            if length is not None and len(set((at.data % length).tolist())) == length:
                return True
    return False


def read(g: Any) -> Any:
    """The gradient as value and mask, if its outermost op leaves something out; else itself."""
    if isinstance(g, Masked) or g.owner is None:
        return g
    op, inputs = g.owner.op, g.owner.inputs
    if op is switch:
        return _read_switch(g, *inputs)
    if op.__class__ is not Elemwise and op.__class__ not in _WRITES:
        return g
    if isinstance(op, Elemwise):
        if not isinstance(op.scalar_op, Cast):
            return g
        inner = read(inputs[0])
        if not isinstance(inner, Masked):
            return g
        return Masked(op(inner.value), inner.where, inner.taken, inner.clean)
    if isinstance(op, IncSubtensor | AdvancedIncSubtensor) and is_zero(inputs[1]):
        if not op.set_instead_of_inc:
            return g
        ones = ones_like(g, dtype="bool")
        return Masked(g, _writer(op)(ones, False, *inputs[2:]), clean=True)
    if isinstance(op, Join) and any(map(is_zero, inputs)):
        pieces = [(zeros_like if is_zero(x) else ones_like)(x, dtype="bool") for x in inputs]
        return Masked(g, op(*pieces), clean=True)
    return g


def written_out(g: Any) -> Any:
    """The gradient with a mask also where it is scattered, for those who cannot see that."""
    if isinstance(g, Masked) or not is_scattered(g):
        return g
    return Masked(g, _written(zeros_like(g, dtype="bool"), g), clean=True)


def _written(where: Any, g: Any) -> Any:
    """A condition that is also true where a scattered gradient is not left out."""
    for op, value, places in links_of(g):
        inner = read(value)
        if not isinstance(inner, Masked):
            where = _writer(op)(where, True, *places)
        else:  # (a place may be named twice, and count once)
            zeros = zeros_like(where, dtype="int64")
            where = or_(where, neq(op(zeros, cast(condition(inner), "int64"), *places), 0))
    return where


def _read_switch(g: Any, where: Any, x: Any, y: Any) -> Any:
    """The mask of `switch(where, x, y)`, of which one branch is zero."""
    if is_zero(y):
        value, taken = x, True
    elif is_zero(x):
        value, taken = y, False
    else:
        return g
    inner = read(value) if value.owner is not None and value.owner.op is switch else value
    mask = Masked(value, where, taken)
    found = both(mask, inner)
    value = cast(found.value, g.type.dtype)
    if value.type.broadcastable != g.type.broadcastable:
        value = second(g, value)
    return found.of(value)


def _writer(op: Any) -> Any:
    return type(op)(op.idx_list, set_instead_of_inc=True)


# --- through ops ---------------------------------------------------------------------------------


def reach(op: Any, inputs: Sequence[int]) -> int:
    """How far masks of a variable matter that `op` computes: 0 nowhere, 1 if all of it is masked, 2
    always.

    They matter where the gradient is multiplied, by this op or (for one that only passes gradients
    on) by those of its inputs, whose reach is given.
    """
    if op.moves_only:
        return max(inputs)
    return 2 if isinstance(op, Elemwise) or takes_masks(op) else 1


def takes_masks(op: Any) -> bool:
    """Whether an op's `input_gradients(inputs, outputs, gradients, wanted, kept)` takes `Masked`
    gradients. What it returns is read by its form; only that for the inputs `kept` need have masks.
    """
    return getattr(op, "takes_masks", False)


def selects(op: Any) -> bool:
    """Whether the gradients of an elementwise op are masked."""
    return op in _SELECTS


def pull_elementwise(
    op: Elemwise,
    inputs: Sequence[Any],
    out: Any,
    g: Any,
    wanted: Sequence[int],
    kept: Container[Variable] = (),
) -> dict[int, Any]:
    """The gradients of the wanted inputs, with the mask of the result's gradient and their own.

    kept: the variables for which a mask matters.
    """
    value = g.value if isinstance(g, Masked) else g
    some = [i for i in wanted if i not in op.scalar_op.shape_only]
    if is_scattered(value) and (g is value or g.clean) and _is_aligned(inputs, out):
        return _pull_scattered(op, inputs, out, value, some)
    matters = _are_stretched(inputs, out) or (
        any([inputs[i] in kept for i in some]) and _is_part(g)
    )
    if selects(op) or matters:
        g = written_out(g)
        value = g.value if isinstance(g, Masked) else g
    result = {}
    for i, part in partials(op, inputs, [out], [value], some).items():
        if part is None or is_null(part):
            result[i] = zero_gradient(inputs[i]) if part is None else part
            continue
        result[i] = _fitted(inputs[i], both(g, read(part)), inputs[i] in kept)
    return result


def _is_part(g: Any) -> bool:
    """Whether a gradient is scattered, and of what is added at the index some is left out."""
    links = [] if isinstance(g, Masked) else links_of(g)
    return any(isinstance(read(value), Masked) for _, value, _ in links)


def _are_stretched(inputs: Sequence[Any], out: Any) -> bool:
    """Whether all operands are stretched, so that elements that are not taken are multiplied."""
    return not any([v.type.broadcastable == out.type.broadcastable for v in inputs])


def _is_aligned(inputs: Sequence[Any], out: Any) -> bool:
    """Whether all operands have the shape of the result, or are numbers."""
    ones = out.type.broadcastable
    return all(v.type.broadcastable == ones or v.type.ndim == 0 for v in inputs)


def _pull_scattered(
    op: Elemwise, inputs: Sequence[Any], out: Any, g: Any, wanted: Sequence[int]
) -> dict[int, Any]:
    """The gradients where that of the result is zeros, and something added at indices: only the
    elements there are computed with.
    """
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
    if not isinstance(g, Masked):
        return in_dtype_of(x, summed_to(g, x.type))
    if g.type.ndim == x.type.ndim and _same_ones(g.type, x.type):
        return g.of(in_dtype_of(x, g.value))
    value = in_dtype_of(x, sum_to(full(g), x.type))
    if not keep:
        return value
    aligned = g.type.ndim == x.type.ndim or all(x.type.broadcastable)
    where = sum_to(condition(g), x.type, Any_)
    covers = g.where if g.taken and aligned and where is not g.where else None
    return Masked(value, where, clean=True, covers=covers)


def _same_ones(have: TensorType, want: TensorType) -> bool:
    """Whether `sum_to` has nothing to do."""
    return all(w != 1 or h == 1 for h, w in zip(have.shape, want.shape, strict=True))
