"""Comparisons of positions as masks: `arange(n) < k` selects the first elements, `eq(arange(n), i)`
one. A sum over such a mask, or a product with it, reads only what the mask selects.

In a product, the zeros of a mask stand for "not this element", as those of a unit matrix do: a NaN
that meets them is left out.
"""

from typing import NamedTuple

from rewrite_engine.facts import length as known_length
from rewrite_engine.facts import same_length
from rewrite_engine.facts.arrays import length_read
from rewrite_engine.facts.failure import dropping
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.diagonals import is_unit_matrix, takes_rows
from rewrite_engine.rules.indexing.place import WHOLE, before, count_uses, operands_stay, taken
from rewrite_engine.rules.indexing.running import is_number
from rewrite_engine.rules.products import is_plain_sum
from rewrite_engine.rules.shape import length
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import (
    ARange,
    CheckedIndex,
    DimShuffle,
    Dot,
    SpecifyShape,
    Sum,
    arange,
    cast,
    clip,
    eq,
    expand_dims,
    ge,
    gt,
    le,
    lt,
    mul,
    switch,
)
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.index.gather import AdvancedSubtensor
from rewrite_engine.tensor.shape import CheckedLength

TURNED = {eq: eq, lt: gt, le: ge, gt: lt, ge: le}
OPPOSITE = {lt: ge, ge: lt, le: gt, gt: le}


class Mask(NamedTuple):
    """Elements of a dimension, by a comparison of their positions with a number. axis: the
    dimension, counted from the end (-1: the last one).
    """

    axis: int
    compare: object
    number: object
    length: object


def mask_of(v):
    """Return the `Mask` that a term is, also as numbers 0 and 1; None for other terms."""
    while isinstance(v.head, Elemwise) and isinstance(v.head.scalar_op, Cast):
        v = v.owner.inputs[0]
    if v.head not in TURNED:
        return None
    (a, b), compare = v.owner.inputs, v.head
    if range_of(a) is None:
        a, b, compare = b, a, TURNED[compare]
    found, k = range_of(a), number_below(b)
    if found is None or k is None:
        return None
    return Mask(a.type.broadcastable.index(False) - a.type.ndim, compare, k, found)


def range_of(v):
    """Return the length of a range from 0 in steps of 1 along some dimension; None for other
    terms.
    """
    if isinstance(v.head, DimShuffle) and v.type.broadcastable.count(False) == 1:
        v = v.owner.inputs[0]
    if not isinstance(v.head, ARange) or v.type.dtype != "int64" or all(v.type.broadcastable):
        return None
    start, stop, step = v.owner.inputs
    return stop if is_number(start, 0) and is_number(step, 1) else None


def number_below(v):
    """Return the integer that is repeated to be compared; None for other terms."""
    if isinstance(v.head, DimShuffle):
        v = v.owner.inputs[0]
    return v if v.type.ndim == 0 and v.type.kind in "iu" and v.type.dtype != "uint64" else None


def spans(fgraph, mask, x):
    """Return whether a mask has as many elements as the dimension of an array that it selects."""
    axis = mask.axis + x.type.ndim
    if axis < 0 or x.type.broadcastable[axis]:
        return False
    wanted = length_read(mask.length)
    return wanted is not None and known_length.ask(fgraph, x, axis).value == wanted


def selected(mask, x):
    """Return the entry of an index that selects the elements of a dimension."""
    k, n = cast(mask.number, "int64"), length(x, mask.axis + x.type.ndim)
    if mask.compare is eq and isinstance(mask.number.head, CheckedIndex):
        return k
    starts = mask.compare in (eq, ge, gt)
    stops = mask.compare in (eq, le, lt)
    if k.head is CONSTANT and k.number >= 0:
        first, past = k.number, k.number + 1
    else:
        first, past = clip(k, 0, n), clip(k, -1, n - 1) + 1
    if mask.compare is gt:
        first = past
    if mask.compare is lt:
        past = first
    return slice(first if starts else None, past if stops else None)


def sum_of_selected(op, mask, x):
    """Return the sum of the selected elements of an array along the axes of a sum."""
    axis, entry = mask.axis + x.type.ndim, selected(mask, x)
    axes = op.axes(x.type.ndim)
    if op.keepdims and not isinstance(entry, slice):
        entry = slice(entry, entry + 1)
    entries = [entry if d == axis else WHOLE for d in range(x.type.ndim)]
    part = taken(x, entries)
    over = [before(entries, d) for d in axes if isinstance(entry, slice) or d != axis]
    return Sum(axis=over, keepdims=op.keepdims)(part) if over else part


def adds(op, x, mask):
    """Return whether a sum is over the dimension of a mask."""
    return is_plain_sum(op) and mask.axis + x.type.ndim in op.axes(x.type.ndim)


@node_rewriter(
    [Sum], phase="specialize", claim=approx(ulps=8), depth=4, tags=["reorder"],
    keeps=operands_stay,
    when=lambda op, seen, distinct: head_of(seen[0]) is switch,
)  # fmt: skip
def sum_of_chosen(fgraph, node):
    """Sum up the elements that a comparison of positions chooses. Not data: the comparison may be
    written in ten ways.

    >>> x, k = vector("x"), lscalar("k")
    >>> rewritten(switch(arange(x.shape[0]) < 5, x, 0).sum(), switch(eq(arange(9), 4), 0, 2).sum())
    [Sum(Subtensor{:5}(x)), 16]
    """
    whole, op = node.inputs[0], node.op
    condition, x, other = whole.owner.inputs
    mask = mask_of(condition)
    if mask is None or count_uses(fgraph, whole) > 1:
        return None
    if is_number_0(x) and mask.compare in OPPOSITE:
        x, other, mask = other, x, mask._replace(compare=OPPOSITE[mask.compare])
    if not is_number_0(other) or not adds(op, whole, mask) or not spans(fgraph, mask, x):
        return None
    if x.type.broadcastable != whole.type.broadcastable:
        return None
    return fitting(node.outputs[0], sum_of_selected(op, mask, cast(x, whole.type.dtype)))


def is_number_0(v):
    """Return whether a term is the constant 0, in any shape."""
    return v.head is CONSTANT and all(v.type.broadcastable) and v.number == 0


@node_rewriter(
    [Sum], phase="specialize", claim=backward(4), depth=4, keeps=operands_stay,
    when=lambda op, seen, distinct: head_of(seen[0]) is mul,
)  # fmt: skip
def sum_of_products_with_mask(fgraph, node):
    """Sum up the elements that a factor 0 or 1 by position selects. Not data: the mask may be any
    factor.

    >>> x, k = vector("x"), lscalar("k")
    >>> rewritten((eq(arange(x.shape[0]), 2) * x).sum(), (x * (arange(x.shape[0]) < 5)).sum())
    [Sum(Subtensor{2:3}(x)), Sum(Subtensor{:5}(x))]
    """
    whole, op = node.inputs[0], node.op
    masks = [mask_of(v) for v in whole.owner.inputs]
    if masks.count(None) != len(masks) - 1 or count_uses(fgraph, whole) > 1:
        return None
    mask = next(m for m in masks if m is not None)
    rest = [v for v, m in zip(whole.owner.inputs, masks, strict=True) if m is None]
    x = mul(*rest) if len(rest) > 1 else rest[0]
    if x.type.broadcastable != whole.type.broadcastable or x.type.dtype != whole.type.dtype:
        return None
    if not adds(op, whole, mask) or not spans(fgraph, mask, x):
        return None
    return fitting(node.outputs[0], sum_of_selected(op, mask, x))


def others_stay(fgraph, node, new):
    """Return whether errors of the factors are kept; a position that is out of range is an error of
    the new index, too.
    """
    kept = [v.owner.inputs[1] if is_one_hot(v) else v for v in node.inputs[0].owner.inputs]
    return dropping.all_stay(fgraph, node, kept, [new])


@node_rewriter(
    [Sum], phase="specialize", claim=backward(4), depth=3, keeps=others_stay,
    when=lambda op, seen, distinct: head_of(seen[0]) is mul,
)  # fmt: skip
def sum_of_products_with_one_hot(fgraph, node):
    """Read one element of each row where rows of a unit matrix are factors. Not data: they may be
    any factor.

    >>> z, t = matrix("z"), lvector("t")
    >>> rewritten((eye(z.shape[1])[t] * z).sum(axis=1))
    AdvancedSubtensor{i, i}(z, ARange{dtype='int64'}(0, CheckedLength(...), 1), t)
    """
    whole, op = node.inputs[0], node.op
    units = [v for v in whole.owner.inputs if is_one_hot(v)]
    if len(units) != 1 or whole.type.ndim != 2 or not is_plain_sum(op):
        return None
    if 1 not in op.axes(2) or count_uses(fgraph, whole) > 1:
        return None
    rest = [v for v in whole.owner.inputs if v is not units[0]]
    x, (unit, places) = mul(*rest) if len(rest) > 1 else rest[0], units[0].owner.inputs
    if x.type.broadcastable != whole.type.broadcastable or x.type.dtype != whole.type.dtype:
        return None
    if not same_length.ask(fgraph, unit, 0, x, 1):
        return None
    found = x[rows_beside(x, places), places]
    if found.type.shape != whole.type.shape[:1]:
        found = SpecifyShape(whole.type.shape[:1])(found)
    found = found.sum() if 0 in op.axes(2) else found
    ones = [1] if found.type.ndim else [0, 1]
    return fitting(node.outputs[0], expand_dims(found, ones) if op.keepdims else found)


def rows_beside(x, places):
    """Return the positions of all rows of a matrix, which has as many as there are places."""
    rows, wanted = length(x, 0), length(places, 0)
    if x.type.shape[0] is None or x.type.shape[0] != places.type.shape[0]:
        rows = CheckedLength((2,), mul)(rows, rows, cast(wanted, "int64"))
    return arange(rows)


def is_one_hot(v):
    """Return whether a term is rows of a unit matrix, by a vector of positions."""
    return (
        isinstance(v.head, AdvancedSubtensor)
        and len(v.owner.inputs) == 2
        and v.owner.inputs[0].type.ndim == 2
        and v.owner.inputs[1].type.ndim == 1
        and v.owner.inputs[1].type.kind in "iu"
        and takes_rows(v.head.idx_list)
        and is_unit_matrix(v.owner.inputs[0])
    )


def factors_stay(fgraph, node, new):
    """Return whether errors of the factors are kept; the rule compares the lengths itself."""
    return dropping.all_stay(fgraph, node, node.inputs, [new])


@node_rewriter(
    [Dot], phase="specialize", claim=backward(4), depth=4, keeps=factors_stay,
    when=lambda op, seen, distinct: any(is_comparison(head_of(s)) for s in seen),
)  # fmt: skip
def product_with_mask(fgraph, node):
    """Read the rows, columns or elements that a mask by position selects, instead of multiplying
    all with 0 or 1. Not data: the mask may be on either side.

    >>> a, v, i = matrix("a"), vector("v"), lscalar("i")
    >>> rewritten(eq(arange(a.shape[0]), 2) @ a, a @ eye(a.shape[1])[:, 3])
    [Sum{axis=0}(Subtensor{2:3}(a)), Subtensor{:, i}(a, CheckedIndex(3, Shape_i{i=1}(a)))]
    """
    a, b = node.inputs
    for mask, x, axis in ((mask_of(a), b, 0), (mask_of(b), a, -1)):
        if mask is None or x.type.dtype != node.outputs[0].type.dtype or x.type.ndim > 2:
            continue
        mask = mask._replace(axis=axis if axis else -x.type.ndim)
        if (a if x is b else b).type.ndim == 1 and spans(fgraph, mask, x):
            return fitting(node.outputs[0], sum_of_selected(Sum(axis=[axis]), mask, x))
    return None


def is_comparison(op):
    """Return whether an op may make a mask, as truths or as numbers."""
    return op in TURNED or (isinstance(op, Elemwise) and isinstance(op.scalar_op, Cast))
