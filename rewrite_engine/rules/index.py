"""Indexing that takes everything, or reads from a known result."""

from itertools import zip_longest

from rewrite_engine.facts import same_length
from rewrite_engine.facts.failure import dropping
from rewrite_engine.graph.node import Constant
from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rules.indexing.place import below
from rewrite_engine.tensor import (
    CheckedLength,
    DimShuffle,
    IncDiagonal,
    MakeVector,
    Shape,
    Shape_i,
    Subtensor,
    add,
    cast,
    second,
    sub,
)
from rewrite_engine.tensor.index.subtensor import order_of
from rewrite_engine.tensor.index.template import Slice


def takes_everything(x, index):
    """Return whether an index takes all of x."""
    entries = zip_longest(map(as_slice, index), x.type.shape, fillvalue=...)
    return all(takes_all(entry, n) for entry, n in entries)


@rule(phase="canonicalize", claim=exact)
def index_of_everything(x, index: Prop):
    """Remove an index that takes everything: x[:], or x[:3] of 3 rows.

    >>> rewritten(matrix("x", shape=(3, None))[:3, :])
    x
    """
    return Subtensor(index)(x) >> x, given(takes_everything)


def takes_all(entry, n):
    """Return whether an entry of an index takes all of a dimension, of known length or not."""
    if not isinstance(entry, slice):
        return entry is Ellipsis
    return entry == slice(None) or (n is not None and range(*entry.indices(n)) == range(n))


def reordered(x, index):
    """Return an index that only adds dimensions as a reordering; None for other indices."""
    order = order_of(index, x.type.ndim)
    return None if order is None else DimShuffle(x.type.ndim, order)(x)


@rule(phase="canonicalize", claim=exact)
def index_of_new_axes(x, index: Prop):
    """Write x[None] as a `DimShuffle`, which other rules match.

    >>> rewritten(Subtensor(("x",))(vector("x")))
    ExpandDims{axes=[0]}(x)
    """
    return Subtensor(index)(x) >> compute(reordered)


def only_item(x, index):
    """Return the element of x that a slice takes; None if it may take several."""
    entries = [as_slice(entry) for entry in index]
    if None in x.type.shape or len(entries) != 1 or not isinstance(entries[0], slice):
        return None
    taken = range(*entries[0].indices(x.type.shape[0]))
    return Subtensor((taken[0],))(x) if len(taken) == 1 else None


@rule(phase="canonicalize", claim=exact)
def item_of_slice(x: Vector, index: Prop):
    """Read the one element of a slice as a number.

    >>> rewritten(vector("x", shape=(3,))[1:2].squeeze())
    Subtensor{1}(x)
    """
    return DimShuffle(1, ())(Subtensor(index)(x)) >> compute(only_item)


def as_slice(entry):
    """Return an entry of an index template as a slice, if it stands for one."""
    return slice(*entry) if isinstance(entry, Slice) else entry


def item(fgraph, node, items, i):
    """Return one of the items; other lengths that may raise an error are still computed."""
    one, dtype = items[i], node.outputs[0].type.dtype
    others = [v for v in items if not dropping.errors_stay(fgraph, node, v, [one])]
    if not others or dtype != "int64" or any(v.type is not one.type for v in (one, *others)):
        return cast(one, dtype)
    return CheckedLength([1] * len(others), None)(one, *others)


@node_rewriter([Subtensor], phase="canonicalize", claim=exact, depth=2, when=below(MakeVector))
def item_of_vector(fgraph, node):
    """Replace an element of a vector built from numbers by that number. Not data: the others may be
    lengths that are compared.

    >>> x, y = scalars("x y")
    >>> rewritten(MakeVector("float64")(x, y)[1])
    y
    """
    inner, index = node.inputs[0].owner, node.op.idx_list
    if len(node.inputs) != 1:
        return None
    return item(fgraph, node, inner.inputs, index[0]) if [*map(type, index)] == [int] else None


def length_at(x, index):
    """Return the length that an index takes from a shape; None if it takes several."""
    return Shape_i(index[0] % x.type.ndim)(x) if [*map(type, index)] == [int] else None


@rule(phase="canonicalize", claim=exact)
def item_of_shape(x, index: Prop):
    """Compute one length instead of the whole shape.

    >>> rewritten(vector("x").shape[0])
    Shape_i{i=0}(x)
    """
    return Subtensor(index)(Shape()(x)) >> compute(length_at)


def diagonal_alone(v):
    """Return the term that is added to the main diagonal of square matrices of zeros; None if the
    term is not of this form.
    """
    if not isinstance(v.head, IncDiagonal) or v.head.set_instead_of_inc or v.head.offset:
        return None
    zeros, y = v.owner.inputs
    filled = zeros.owner.inputs[1] if zeros.head is second else zeros
    empty = isinstance(filled, Constant) and not filled.data.any()
    stretched = y.type.ndim < zeros.type.ndim - 1 or 1 in y.type.shape  # it fits any length
    return y if empty and not stretched and is_square(zeros) else None


def is_square(x):
    """Return whether matrices are known to have as many rows as columns."""
    return bool(same_length.ask(None, x, x.type.ndim - 2, x, x.type.ndim - 1))


def has_a_diagonal(op, seen, distinct):
    """Return whether a term is added to a diagonal."""
    return any(isinstance(head_of(s), IncDiagonal) for s in seen)


@node_rewriter(
    [add, sub], phase="specialize", claim=refines, depth=3, when=has_a_diagonal, keeps=None
)
def added_to_a_diagonal(fgraph, node):
    """Add to the diagonal of the other terms directly, without a matrix of zeros. Not data: all
    terms must be square, so that errors stay the same.

    >>> a, y = matrix("a", shape=(3, 3)), vector("y", shape=(3,))
    >>> rewritten(a + IncDiagonal()(zeros_like(a), y), a - IncDiagonal()(zeros_like(a), y))
    [IncDiagonal(a, y), IncDiagonal(a, -y)]
    """
    for i, v in enumerate(node.inputs):
        y, others = diagonal_alone(v), node.inputs[:i] + node.inputs[i + 1 :]
        if y is not None and all(x.type.ndim == v.type.ndim and is_square(x) for x in others):
            whole = others[0] if len(others) == 1 else add(*others)
            same = whole.type.dtype == v.type.dtype
            same = same and whole.type.broadcastable == v.type.broadcastable
            if same and dropping.errors_stay(fgraph, node, v.owner.inputs[0], [*others, y]):
                if node.op is sub:
                    whole, y = (whole, -cast(y, v.type.dtype)) if i else (-whole, y)
                return v.head(whole, y)
    return None
