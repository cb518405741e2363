"""`second(x, y)` (y in the shape of x), and rules that remove it."""

from rewrite_engine.errors import ShapeError
from rewrite_engine.facts import finite, nonneg, same_shape
from rewrite_engine.facts.arrays import is_same_length
from rewrite_engine.facts.failure import dropping
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.shape import length
from rewrite_engine.tensor import (
    Alloc,
    DimShuffle,
    Shape_i,
    Sum,
    alloc,
    cast,
    mul,
    second,
    shape_padleft,
    switch,
)
from rewrite_engine.tensor.creation import filling
from rewrite_engine.tensor.elemwise import Elemwise


@rule(phase="canonicalize", claim=exact)
def second_in_product(x: Inexact, y: Inexact):
    """The other factor already gives the product the shape of x.

    >>> x, y = vector("x"), scalar("y")
    >>> rewritten(second(x, y) * x)
    y * x
    """
    return second(x, y) * x >> y * x


@rule(phase="canonicalize", claim=exact)
def second_in_sum(x: Inexact, y: Inexact):
    """The other term already gives the sum the shape of x.

    >>> x, y = vector("x"), scalar("y")
    >>> rewritten(second(x, y) + x)
    y + x
    """
    return second(x, y) + x >> y + x


@rule(phase="canonicalize", claim=exact)
def second_of_itself(x):
    """A variable already has its own shape.

    >>> x = vector("x")
    >>> rewritten(second(x, x))
    x
    """
    return second(x, x) >> x


@rule(phase="canonicalize", claim=exact)
def second_of_second(x, y):
    """A second fill with the same shape changes nothing.

    >>> x, y = vector("x"), scalar("y")
    >>> rewritten(second(x, second(x, y)))
    second(x, y)
    """
    return second(x, second(x, y)) >> second(x, y)


@rule(phase="canonicalize", claim=exact)
def second_like_scalar(x: Scalar, y: Scalar):
    """All 0-dimensional arrays have the same shape.

    >>> rewritten(second(scalar("x"), scalar("y")))
    y
    """
    return second(x, y) >> y


def has_whole_shape(x, y):
    """Return whether y has the broadcast shape of x and y, and its lengths are known."""
    of_x, of_y = x.type.shape[::-1], y.type.shape[::-1]
    if None in of_y or len(of_x) > len(of_y):
        return False
    return all([n in (1, m) for n, m in zip(of_x, of_y, strict=False)])


@rule(phase="canonicalize", claim=exact)
def second_of_known_shape(x, y):
    """Remove a fill if static shapes show that y already has the shape of x.

    >>> x, y = tensor(shape=(1, 3), dtype="float64"), tensor("y", shape=(1, 3), dtype="float64")
    >>> rewritten(second(x, y))
    y
    """
    return second(x, y) >> y, given(has_whole_shape)


def is_length(v, k, have, wanted):
    """Return whether a length is that of dimension k of v."""
    if wanted.head is CONSTANT:
        return have is not None and have == wanted.number
    return (
        isinstance(wanted.head, Shape_i) and wanted.owner.op.i == k and wanted.owner.inputs[0] is v
    )


@node_rewriter([Alloc], phase="canonicalize", claim=exact)
def alloc_of_known_shape(fgraph, node):
    """Remove a broadcast to the lengths that the array already has. Not data: any number of
    lengths.

    >>> x, y = tensor("x", shape=(3,), dtype="float64"), vector("y")
    >>> rewritten(alloc(x, 3), alloc(y, y.shape[0]))
    [x, y]
    """
    v, *lengths = node.inputs
    if v.type.broadcastable != node.outputs[0].type.broadcastable:
        return None
    pairs = enumerate(zip(v.type.shape, lengths, strict=True))
    return v if all(is_length(v, k, have, wanted) for k, (have, wanted) in pairs) else None


def of_number(x, y):
    """Return x filled with the number of a constant; None if it is already a number, or may stretch
    x.
    """
    if not y.type.ndim or set(y.type.shape) != {1} or x.type.ndim < y.type.ndim:
        return None
    return second(x, y.data.reshape(()))


@rule(phase="canonicalize", claim=exact, ends=at_most(1))
def second_of_one_element(x, y: Const):
    """A fill with a 0-d constant lets constants meet as numbers.

    >>> rewritten(second(vector("x"), [3.0]) * 2)
    second(x, 6.0)
    """
    return second(x, y) >> compute(of_number)


@rule(phase="canonicalize", claim=assumes("shape_unsafe", then=exact))
def second_of_same_shape(x, y):
    """Remove a fill with an array of the same shape; if the shapes may differ, the error would be
    lost.

    >>> x, y = matrices("x y")
    >>> rewritten(second(x, exp(x))), rewritten(second(x, exp(y)))
    (exp(x), second(x, exp(y)))
    >>> rewritten(second(x, exp(y)), including=["shape_unsafe"])
    exp(y)
    """
    return second(x, y) >> y, given(assuming(same_shape(x, y)))


# --- late: patterns of gradients have what is spread ----------------------------------------------


def is_fill(head):
    """Return whether an op fills a shape."""
    return head is second or isinstance(head, Alloc)


def among_filled(op, seen, distinct):
    """Return whether an operand of an op of one output is filled; for another fill, only its value
    counts.
    """
    return getattr(op, "nout", 1) == 1 and any(
        is_fill(head_of(s)) for s in (seen[1:] if op is second else seen)
    )


def is_covered(v, others):
    """Return whether the others have each length of v, except lengths of 1, at the same place."""
    places = [-k for k, one in enumerate(reversed(v.type.broadcastable), 1) if not one]
    return all(
        any(
            w.type.ndim is not NO_RANK and -k <= w.type.ndim and is_same_length(v, k, w, k)
            for w in others
        )
        for k in places
    )


def stretches_alike(y, v):
    """Return whether the type of y has length 1 wherever v has, so that nothing is stretched."""
    ends = zip(reversed(y.type.broadcastable), reversed(v.type.broadcastable), strict=False)
    return all(one or not wanted for one, wanted in ends)


def fill_errors_stay(fgraph, node, v, new):
    """Return whether errors of a shape's operands are kept, when only its lengths are compared."""
    x, y = v.owner.inputs[0], filling(v)
    number = v.head is second and all(y.type.broadcastable)
    return dropping.errors_stay(fgraph, node, x if number else v, new.owner.inputs, new)


@node_rewriter([Elemwise], phase="specialize", claim=exact, depth=2, when=among_filled, keeps=None)
def second_beside_its_shape(fgraph, node):
    """Remove a fill if other operands give the shape. Not data: it holds for every elementwise op.

    >>> x, y = vector("x"), scalar("y")
    >>> rewritten(second(exp(x), y) * sin(x))
    y * sin(x)
    """
    operands, bare = list(node.inputs), None
    for i in range(node.op is second, len(operands)):
        v, others = operands[i], operands[:i] + operands[i + 1 :]
        y = filling(v)
        if y is None or not stretches_alike(y, v) or not is_covered(v, others):
            continue
        new = node.op(*operands[:i], y, *operands[i + 1 :])
        if fill_errors_stay(fgraph, node, v, new):
            operands[i], bare = y, new
    return None if bare is None else fitting(node.outputs[0], bare)


def refilled(v, y, order=None):
    """Return y in the shape that v fills, or in that shape with reordered dimensions."""
    x, *lengths = v.owner.inputs
    if v.head is second:
        if order is not None:  # (the other may have more dimensions, of length 1)
            x = DimShuffle(v.type.ndim, order)(shape_padleft(x, v.type.ndim - x.type.ndim))
        return second(x, y)
    if order is not None:
        lengths = [1 if o == "x" else lengths[o] for o in order]
    return alloc(y, *lengths)


@node_rewriter([Elemwise], phase="specialize", claim=exact, depth=2, when=among_filled, keeps=None)
def second_outside(fgraph, node):
    """Compute a value that all elements share once, and fill the shape afterwards. Not data: it
    holds for every elementwise op.

    >>> x, y = vector("x"), scalar("y")
    >>> rewritten(sin(second(x, y)))
    second(x, sin(y))
    """
    ones = node.outputs[0].type.broadcastable
    whole = [v for v in node.inputs if v.type.broadcastable == ones]
    operands = [filling(v) if v in whole else v for v in node.inputs]
    if node.op is second or len(whole) != 1 or None in operands or not node.op.is_total(node):
        return None  # (an array without elements has no error)
    if any(v.type.broadcastable == ones for v in operands):
        return None
    try:
        return fitting(node.outputs[0], refilled(whole[0], node.op(*operands)))
    except ShapeError:  # the lengths are known: the call will raise it
        return None


@node_rewriter([DimShuffle], phase="specialize", claim=exact, depth=2, when=among_filled)
def dimshuffle_of_second(fgraph, node):
    """A number that fills a shape is the same in any order of dimensions. Not data: the order is a
    parameter.

    >>> x, y = matrix("x"), scalar("y")
    >>> rewritten(second(x.T, y).T)
    Alloc(y, Shape_i{i=0}(x), Shape_i{i=1}(x))
    """
    (v,), op = node.inputs, node.op
    y = filling(v)
    if not all(y.type.broadcastable):
        return None
    if any(not v.type.broadcastable[a] for a in range(v.type.ndim) if a not in op.new_order):
        return None
    return fitting(node.outputs[0], refilled(v, y.dimshuffle(), op.new_order))


def only_for_its_shape(fgraph, x):
    """Return whether the values computed by the node of x are unused."""
    for out in x.owner.outputs if fgraph is not None and x.owner in fgraph else ():
        if out in fgraph.out_uses:
            return False
        for client in fgraph.users[out]:
            filled = client.op is second and client.inputs[1] is not out
            if not filled and not isinstance(client.op, Shape_i):
                return False
    return True


@node_rewriter([second], phase="specialize", claim=exact)
def second_of_computed(fgraph, node):
    """Avoid computing a term only for its shape: an operand has that shape, or its lengths are
    inferred.

    Not data: every op has its own formula.

    >>> x, y, z = vector("x"), vector("y"), scalar("z")
    >>> rewritten(second(exp(x) * 2, z)), rewritten(second(x + y, z))
    (second(x, z), Alloc(z, CheckedLength(Shape_i{i=0}(x), Shape_i{i=0}(x), Shape_i{i=0}(y))))
    """
    (x, y), out = node.inputs, node.outputs[0]
    if x.owner is None or not only_for_its_shape(fgraph, x):
        return None
    ones = x.type.broadcastable
    tensors = [v for v in x.owner.inputs if v.type.kind != "?"]
    fitting_types = [v for v in tensors if v.type.broadcastable == ones]
    alike = [v for v in fitting_types if is_covered(x, [v])]
    new = fitting(out, second(alike[0], y)) if alike else None
    if new is not None and dropping.operands_kept(fgraph, node, new):
        return new
    if not all(y.type.broadcastable) or x.owner.op.equal_lengths(x.owner) is None:
        return unknown("it is computed anyway: it may fail, or y is not a number", x)
    more = max(0, y.type.ndim - x.type.ndim)
    new = alloc(y.dimshuffle() if more else y, *[length(x, k) for k in range(x.type.ndim)])
    new = shape_padleft(new, more) if more else new
    checked = None in x.type.shape or dropping.operands_kept(fgraph, node, new)
    return fitting(out, new) if checked else checked


def filled_length(v, a):
    """Return the length of a dimension of a filled array; a fill with lengths has it as operand."""
    return length(v, a) if v.head is second else cast(v.owner.inputs[1 + a], "int64")


@node_rewriter([Sum], phase="specialize", claim=approx(ulps=8), depth=2, when=among_filled)
def sum_of_second(fgraph, node):
    """A product replaces a sum of equal terms. If there may be no terms, and the value may be
    infinite, the sum is chosen to be 0. Not data: the axes decide which lengths count.

    >>> x, y, z = tensor(shape=(2, 3), dtype="float64"), scalar("y"), vector("z")
    >>> rewritten(second(x, y).sum(), second(z, 0.5).sum())
    [6.0 * y, Cast{float64}(Shape_i{i=0}(z)) * 0.5]
    >>> rewritten(alloc(y, z.shape[0]).sum())
    switch(Shape_i{i=0}(z), Cast{float64}(Shape_i{i=0}(z)) * y, 0.0)
    """
    filled, op, out = node.inputs[0], node.op, node.outputs[0]
    y, ones, axes = filling(filled), filled.type.broadcastable, op.axes(filled.type.ndim)
    if out.type.dtype not in ("float32", "float64"):
        return None
    y = y.dimshuffle(*["x"] * (len(ones) - y.type.ndim), *range(y.type.ndim))
    spread = tuple([one or a in axes for a, one in enumerate(ones)])
    if y.type.broadcastable != spread or (op.dtype, op.acc_dtype) != (None, None):
        return None
    lengths = [filled_length(filled, a) for a in axes if not ones[a]]
    sure = all(n.head is CONSTANT and n.number for n in lengths)
    if not lengths:
        return None
    count = lengths[0] if len(lengths) == 1 else mul(*lengths)
    total = cast(count, out.type.dtype) * op(y)
    total = total if sure or finite.ask(fgraph, y) else switch(count, total, 0.0)
    if filled.head is second or all(y.type.broadcastable):
        return fitting(out, total)
    if op.keepdims or not all([nonneg.ask(fgraph, n) for n in lengths]):
        return None  # (the value may not fit: that is checked by a fill of the sums)
    kept = [n for d, n in enumerate(filled.owner.inputs[1:]) if d not in axes]
    return fitting(out, alloc(total, *kept))
