"""An index of an elementwise op, a reduction or a product becomes an index of its operands."""

from rewrite_engine.language import *
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.indexing.place import (
    WHOLE,
    after_comparing,
    before,
    below,
    comparisons,
    count_uses,
    entries_of,
    is_only_read,
    is_whole,
    keeps_length,
    taken,
    takes_some,
    with_new,
)
from rewrite_engine.tensor import DimShuffle, Dot, MatMul, Subtensor, dot, expand_dims, matmul
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.op import with_parameters
from rewrite_engine.tensor.reduction import AlongAxes
from rewrite_engine.tensor.running import AlongOneAxis


def aligned(own, entries, ones):
    """Return the entries for an operand that broadcasts to the indexed array, and the dimensions
    that they shorten. own, ones: where the operand, and the array, have length 1.
    """
    result, places, more = [], [], len(entries) - len(own)
    for d, one in enumerate(own):
        e = entries[more + d]
        if one and not ones[more + d]:
            e = WHOLE if isinstance(e, slice) else 0
        elif not is_whole(e):
            places.append(d)
        result.append(e)
    return result, places


def of_operands(fgraph, node, entries):
    """Return the operands of an op with broadcasting at an index of its result; None if errors may
    be lost.
    """
    inner, ones = node.inputs[0].owner, node.inputs[0].type.broadcastable
    found = [aligned(v.type.broadcastable, entries, ones) for v in inner.inputs]
    places = {(k, d) for k, (_, shortened) in enumerate(found) for d in shortened}
    groups = comparisons(fgraph, inner, places)
    entries = None if groups is None else after_comparing(entries, groups, inner.op)
    if entries is None:
        return None
    return [taken(v, aligned(v.type.broadcastable, entries, ones)[0]) for v in inner.inputs]


@node_rewriter([Subtensor], phase="specialize", depth=2, when=below(Elemwise))
def index_of_elementwise(fgraph, node):
    """Read the operands of an elementwise op, instead of a few elements of its result.

    Not data: it holds for every elementwise op and every index.

    >>> rewritten(exp(matrix("x"))[0])
    exp(Subtensor{0}(x))
    """
    x, out = node.inputs[0], node.outputs[0]
    entries, new = entries_of(node)
    if len(x.owner.outputs) > 1 or not (is_only_read(fgraph, x) or turns_back(fgraph, x, entries)):
        return None
    operands = of_operands(fgraph, node, entries)
    return None if operands is None else fitting(out, with_new(x.owner.op(*operands), new))


def turns_back(fgraph, x, entries):
    """Return whether an index reverses an array that is computed of reversed ones alone."""
    if count_uses(fgraph, x) > 1 or not all(map(keeps_length, entries)):
        return False
    for v in x.owner.inputs:
        own = [e for e, one in zip(entries[x.type.ndim - v.type.ndim :], v.type.broadcastable)
               if not one]  # fmt: skip
        if all(map(is_whole, own)):
            continue
        if not isinstance(v.head, Subtensor) or entries_of(v.owner)[1]:
            return False
        inner = zip(entries_of(v.owner)[0], entries[x.type.ndim - v.type.ndim :])
        if any(e != reversed_ and not is_whole(reversed_) for e, reversed_ in inner):
            return False
    return True


def reordered(entries, order, ndim):
    """Return the entries of the array below a reordering, and the order of the result; None if a
    new dimension is sliced.
    """
    inner, result = [WHOLE] * ndim, []
    for e, o in zip(entries, order, strict=True):
        if o != "x":
            inner[o] = e
        elif not is_whole(e) and e not in (0, -1):
            return None, None
        if isinstance(e, slice):
            result.append(o)
    kept = [o for o in range(ndim) if isinstance(inner[o], slice)]
    return inner, [o if o == "x" else kept.index(o) for o in result]


@node_rewriter([Subtensor], phase="specialize", claim=exact, depth=2, when=below(DimShuffle))
def index_of_reordered(fgraph, node):
    """Read a computed array before its dimensions are reordered. Not data: the order is a
    parameter.

    >>> rewritten(exp(matrix("x")).T[0])
    exp(Subtensor{:, 0}(x))
    """
    op, v = node.inputs[0].owner.op, node.inputs[0].owner.inputs[0]
    entries, new = entries_of(node)
    if any(not isinstance(e, int | slice) and o == "x" for e, o in zip(entries, op.new_order)):
        return None
    inner, order = reordered(entries, op.new_order, v.type.ndim)
    if inner is None:
        return None
    same = order == [*range(sum(isinstance(e, slice) for e in inner))]
    if v.owner is None and not same:
        return None
    part = taken(v, inner)
    part = part if same else DimShuffle(part.type.ndim, order)(part)
    return fitting(node.outputs[0], with_new(part, new))


def along_axes(op, entries, ndim, keepdims):
    """Return the entries of the array that a reduction reads, its axes there, and whether it keeps
    its dimensions; None if the index reads a reduced dimension otherwise.
    """
    axes, inner = op.axes(ndim), []
    kept = iter(entries)
    reduced = []
    for d in range(ndim):
        if d in axes and not keepdims:
            inner.append(WHOLE)
            continue
        e = next(kept)
        if d in axes:
            reduced.append(e)
            e = WHOLE
        inner.append(e)
    if not keepdims:
        return inner, False
    if all(map(is_whole, reduced)):
        return inner, True
    return (inner, False) if all(isinstance(e, int) for e in reduced) else None


@node_rewriter(
    [Subtensor], phase="specialize", claim=approx(ulps=8), depth=2, when=below(AlongAxes),
    tags=["reorder"],
)  # fmt: skip
def index_of_reduction(fgraph, node):
    """Reduce only the rows that are read. Not data: it holds for every reduction, and for ops like
    softmax along other dimensions.

    >>> rewritten(matrix("x").sum(axis=1)[0])
    Sum(Subtensor{0}(x))
    """
    x = node.inputs[0]
    (v,), op = x.owner.inputs, x.owner.op
    entries, new = entries_of(node)
    if len(x.owner.outputs) > 1 or not is_only_read(fgraph, x):
        return None
    may_fail = getattr(op, "needs_elements", False) and not op.is_total(x.owner)
    if may_fail and not all(map(takes_some, entries)):
        return None  # (a maximum of no rows does not fail)
    whole = x.type.ndim == v.type.ndim
    found = along_axes(op, entries, v.type.ndim, whole)
    if found is None or (whole and not hasattr(op, "keepdims") and not found[1]):
        return None
    inner, keepdims = found
    axes = tuple([before(inner, a) for a in op.axes(v.type.ndim)])
    changes = {"keepdims": keepdims} if hasattr(op, "keepdims") else {}
    return fitting(node.outputs[0], with_new(op.clone(axis=axes, **changes)(taken(v, inner)), new))


@node_rewriter([Subtensor], phase="specialize", depth=2, when=below(AlongOneAxis))
def index_along_another_axis(fgraph, node):
    """Sort, or sum up, only the rows that are read. Not data: it holds for every op along an axis.

    >>> rewritten(sort(matrix("x"), axis=1)[0])
    SortOp{axis=0}(Subtensor{0}(x))
    """
    x = node.inputs[0]
    (v,), op = x.owner.inputs, x.owner.op
    entries, new = entries_of(node)
    if not is_whole(entries[op.axis]) or not is_only_read(fgraph, x):
        return None
    made = with_parameters(op, axis=before(entries, op.axis))(taken(v, entries))
    return fitting(node.outputs[0], with_new(made, new))


@node_rewriter(
    [Subtensor], phase="specialize", claim=approx(ulps=8), depth=2, when=below(Dot),
    tags=["reorder"],
)  # fmt: skip
def index_of_dot(fgraph, node):
    """Multiply only the rows and columns that are read. Not data: it holds for every index.

    >>> a, b = matrices("a b")
    >>> rewritten((a @ b)[2, 3], (a @ b)[:5])
    [Subtensor{2}(a) @ Subtensor{:, 3}(b), Subtensor{:5}(a) @ b]
    """
    x = node.inputs[0]
    a, b = x.owner.inputs
    entries, new = entries_of(node)
    if not is_only_read(fgraph, x):
        return None
    rows, columns = entries[: a.type.ndim - 1], entries[a.type.ndim - 1 :]
    product = x.owner.op(taken(a, [*rows, WHOLE]), taken(b, [WHOLE, *columns]))
    return fitting(node.outputs[0], with_new(product, new))


def of_factors(product, entries):
    """Return the entries for both factors of a batch of products, and the places of batch
    dimensions that they shorten.
    """
    batch, (row, column) = entries[:-2], entries[-2:]
    ones, sides, places = product.outputs[0].type.broadcastable[:-2], [], set()
    for k, (v, end) in enumerate(zip(product.inputs, [[row, WHOLE], [WHOLE, column]])):
        n = v.type.ndim - 2
        found, shortened = aligned(v.type.broadcastable[:n], batch, ones)
        sides.append([*found, *end])
        places |= {(k, d) for d in shortened}
    return sides, places


@node_rewriter(
    [Subtensor], phase="specialize", claim=approx(ulps=8), depth=2, when=below(MatMul),
    tags=["reorder"],
)  # fmt: skip
def index_of_matmul(fgraph, node):
    """Multiply only those matrices of a batch, and those rows and columns of them, that are read.

    Not data: it holds for every index.

    >>> rewritten((tensor3("a") @ matrix("b"))[0])
    Subtensor{0}(a) @ b
    """
    x = node.inputs[0]
    entries, new = entries_of(node)
    if not is_only_read(fgraph, x):
        return None
    _, places = of_factors(x.owner, entries)
    groups = comparisons(fgraph, x.owner, places)
    entries = None if groups is None else after_comparing(entries, groups, x.owner.op)
    if entries is None:
        return None
    sides, _ = of_factors(x.owner, entries)
    a, b = [taken(v, side) for v, side in zip(x.owner.inputs, sides, strict=True)]
    row, column = entries[-2:]
    if not any(isinstance(e, slice) for e in entries[:-2]):
        return fitting(node.outputs[0], with_new(dot(a, b), new))
    gone = [-2] * (not isinstance(row, slice)) + [-1] * (not isinstance(column, slice))
    a = expand_dims(a, -2) if -2 in gone else a
    b = expand_dims(b, -1) if -1 in gone else b
    product = matmul(a, b)
    return fitting(node.outputs[0], with_new(product.squeeze(gone) if gone else product, new))
