"""Exponentials whose scale cancels. In a quotient with a sum of exponentials, a factor that is
constant along the axes of the sum cancels, so `ScaledExp(x)` may replace `exp(x)`.

One mechanism covers softmax, weighted means and their gradients, in any notation. Each term has a
degree in the scale: exp(x) has 1, and so do sums of it; products add degrees, quotients subtract
them. Terms of degree 0 may be scaled. (`softmax.py` recognises a whole softmax.)
"""

from typing import Any, NamedTuple

from rewrite_engine.language import *
from rewrite_engine.rules.powers.forms import widened
from rewrite_engine.tensor import (
    DimShuffle,
    Dot,
    MatMul,
    Sum,
    add,
    exp,
    isnan,
    mul,
    reciprocal,
    second,
    sqr,
    sqrt,
    sub,
    switch,
    true_div,
)
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.special import ScaledExp

MAX_SEARCHED_LEVELS = 12  # levels of a term that are read
MAX_SEARCHED_TERMS = 100  # terms among which a sum is searched


class Scaled(NamedTuple):
    """Result of scaling a term. degree: None for zeros, which have any degree in a sum. dims: for
    each dimension, the dimension of x along which the scale differs, or None if the scale is
    constant. shows: whether each element is NaN if one of the elements that are scaled with it is,
    as for `ScaledExp`.
    """

    term: Any
    degree: float | None = 0
    dims: tuple[int | None, ...] = ()
    shows: bool = False

    def beside(self, ndim):
        """Return the dimensions as they are aligned in a broadcast result."""
        return (None,) * (ndim - len(self.dims)) + self.dims


class Scale:
    """Rewriting of terms when exp(x) is scaled along axes."""

    def __init__(self, x, axis, small, dtype, keep_nan=False):
        """small: the sum is in the denominator. dtype: of the results computed from exp(x), which a
        scale makes smaller: nothing that fits into this dtype may be lost. keep_nan: use exp(x)
        itself if there is a NaN along the axes.
        """
        n = x.type.ndim
        axes = range(n) if axis is None else [a % n for a in axis]
        dims = tuple([None if d in axes else d for d in range(n)])
        wide = widened(x, dtype)
        scaled = ScaledExp(axis=axis, small=small)(wide)
        if keep_nan:
            scaled = switch(isnan(scaled), exp(wide), scaled)
        self.x, self.axis, self.whole = x, axis, Scaled(scaled, 1, dims)
        self.known = {}

    def of(self, v, depth=MAX_SEARCHED_LEVELS):
        """Return the result of scaling a term; a term that cannot be analysed stays unchanged."""
        if v.head is exp and v.owner.inputs[0] is self.x:
            return self.whole
        if v.owner is None or not depth:
            return Scaled(v, None if v.head is CONSTANT and v.number == 0 else 0)
        if v not in self.known:
            self.known[v] = self.made(v, depth)
        return self.known[v]

    def made(self, v, depth):
        """Return the result of scaling the output of a node."""
        parts = [self.of(u, depth - 1) if u.type.kind == "f" else Scaled(u) for u in v.owner.inputs]
        degree = degree_of(v.owner.op, parts)
        if degree is NotImplemented or not any(u.type.kind == "f" for u in v.owner.inputs):
            return Scaled(v)
        dims = dims_of(v, parts) if any(part.degree for part in parts) else ()
        new = [part.term for part in parts]
        if all(u is w for u, w in zip(v.owner.inputs, new, strict=True)):
            return Scaled(v, degree)
        if dims is None:
            return Scaled(v)
        is_whole = isinstance(v.head, Sum) and v.head.axis == self.axis and new == [self.whole.term]
        made = v.owner.op(*new)
        made = made if len(v.owner.outputs) == 1 else made[v.index]
        return Scaled(made, degree, dims, is_whole or is_shown(v.owner.op, parts))


def degree_of(op, parts):
    """Return the degree of the result of an op; NotImplemented if it has none."""
    degrees = [part.degree for part in parts]
    if op is second:  # the first has nothing but its shape in it
        return degrees[1]
    if op is mul or isinstance(op, Dot | MatMul):
        return sum([d or 0 for d in degrees])
    if op is true_div or op is reciprocal:
        below = degrees[-1]
        if below is None:
            return NotImplemented
        above = degrees[0] if op is true_div else 0
        return (above or 0) - below
    if op is sqr or op is sqrt:
        return degrees[0] and degrees[0] * (2 if op is sqr else 0.5)
    if not op.moves_only:
        return NotImplemented
    several = {part.degree for part in parts if part.term.type.kind == "f"} - {None}
    return NotImplemented if len(several) > 1 else next(iter(several), None)


def is_shown(op, parts):
    """Return whether the result of an op shows the NaNs of one of its operands."""
    found = [part.shows for part in parts if part.term.type.kind == "f"]
    if op is mul or op is add or op is sub or op is true_div or isinstance(op, Dot | MatMul):
        return any(found)
    return found[-1] if op is second else all(found)


def dims_of(v, parts):
    """Return the dimensions of the result of an op on scaled terms; None if it mixes elements with
    different scales.
    """
    op, n = v.owner.op, v.type.ndim
    scaled = [part for part in parts if part.degree]
    if isinstance(op, Elemwise):
        found = {part.beside(n) for part in scaled}
        return found.pop() if len(found) == 1 else None
    first = scaled[0].dims
    if isinstance(op, Sum):
        gone = range(len(first)) if op.axis is None else [a % len(first) for a in op.axis]
        if any(first[a] is not None for a in gone):
            return None
        kept = [
            None if d in gone else first[d]
            for d in range(len(first))
            if op.keepdims or d not in gone
        ]
        return tuple(kept)
    if isinstance(op, DimShuffle):
        return tuple([None if d == "x" else first[d] for d in op.new_order])
    if not any(d is not None for part in scaled for d in part.dims):
        return (None,) * n  # a single scale goes anywhere
    return product_dims(*parts) if isinstance(op, Dot) else None


def product_dims(a, b):
    """Return the dimensions of a product of scaled vectors or matrices. None if it mixes elements
    with different scales: the scales must cancel in each term, or one must be constant.
    """
    rows, over = (a.dims[:-1], a.dims[-1]) if a.degree else ((None,) * (a.term.type.ndim - 1), None)
    columns, under = (
        (b.dims[1:], b.dims[0]) if b.degree else ((None,) * (b.term.type.ndim - 1), None)
    )
    dims = rows + columns
    if over is not None or under is not None:
        cancels = over == under and a.degree + b.degree == 0
        return dims if cancels and not any(d is not None for d in dims) else None
    return None if a.degree and b.degree else dims


def sums_of_exponentials(v):
    """Return the sums of exponentials in a term: (x, axis)."""
    seen, found = {v}, {}
    for u in (queue := [v]):
        inside = exponentials_in(u.owner.inputs[0]) if isinstance(u.head, Sum) else []
        found |= dict.fromkeys([(x, u.head.axis) for x in inside])
        if inside:
            continue
        if u.owner is not None and u.type.kind == "f" and len(queue) < MAX_SEARCHED_TERMS:
            queue += [w for w in u.owner.inputs if w not in seen]
            seen.update(u.owner.inputs)
    return found


def exponentials_in(v):
    """Return the arguments of the exponentials in the numerator of a product."""
    todo = [v]
    for u in todo:
        if (u.head is mul or u.head is true_div) and len(todo) < MAX_SEARCHED_TERMS:
            todo += u.owner.inputs if u.head is mul else u.owner.inputs[:1]
    found = [u.owner.inputs[0] for u in todo if u.head is exp]
    return [x for x in found if x.type.kind == "f" and x.type.ndim == v.type.ndim]


def may_be_scaled(op, seen, distinct):
    """Return whether there may be an exponential in the numerator, and a sum in the denominator."""
    heads = [s[0] if s.__class__ is tuple else s for s in seen]
    if op is mul:
        return exp in heads
    if isinstance(op, Dot):
        return true_div in heads
    return isinstance(heads[1], Sum | DimShuffle) or heads[1] is true_div


@node_rewriter(
    [mul, true_div, Dot],
    phase="stabilize",
    claim=approx(ulps=8),
    depth=8,
    when=may_be_scaled,
)
def exponentials_are_scaled(fgraph, node):
    """Avoid inf / inf in weighted means with known log weights, and in gradients of softmax.

    Not data: the sum of exponentials may be anywhere in the denominators.

    >>> x, y = vectors("x y")
    >>> rewritten(y * exp(x) / exp(x).sum())
    y * ScaledExp{axis=None, small}(x) / Sum(ScaledExp{axis=None, small}(x))
    >>> rewritten((y * exp(x)).sum() / exp(x).sum())
    y @ ScaledExp{axis=None, small}(x) / Sum(ScaledExp{axis=None, small}(x))
    """
    out = node.outputs[0]
    small = out.head is true_div
    dtype = out.type.dtype
    for x, axis in sums_of_exponentials(out) if out.type.kind == "f" else ():
        new = Scale(x, axis, small, dtype).of(out)
        if new.degree == 0 and new.term is not out and new.term.type.dtype == dtype:
            if new.shows:
                return new.term
            return Scale(x, axis, small, dtype, keep_nan=True).of(out).term
    return None
