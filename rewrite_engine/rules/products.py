"""Sums, traces and chains of products of matrices, and products that are written as sums.

A product is only regrouped if nothing else uses it, and if ranks or known lengths show that the
other order costs less. Rules that hold for any shapes, in both directions, are equations
(`equations.py`).
"""

from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.index import is_square
from rewrite_engine.rules.indexing.place import (
    WHOLE,
    after_comparing,
    below,
    comparisons,
    count_uses,
    taken,
)
from rewrite_engine.rules.shape import length
from rewrite_engine.tensor import (
    Alloc,
    Diagonal,
    DimShuffle,
    Dot,
    MatMul,
    Sum,
    add,
    alloc,
    dot,
    eq,
    expand_dims,
    ifelse,
    matmul,
    mul,
    sub,
    tensordot,
)
from rewrite_engine.tensor.elemwise import Elemwise


def is_plain_sum(op):
    """Return whether a sum has the usual dtypes."""
    return op.dtype is None and op.acc_dtype is None


# --- sums and traces of products ------------------------------------------------------------------


@node_rewriter([Sum], phase="specialize", claim=backward(4), depth=2, when=below(Dot, MatMul))
def sum_of_product(fgraph, node):
    """Sum up the rows or columns of the factors before they are multiplied. Not data: the axes
    decide which factor is summed up.

    >>> a, b = matrices("a b")
    >>> rewritten((a @ b).sum(axis=0), (b @ a).sum())
    [Sum{axis=0}(a) @ b, Sum{axis=0}(b) @ Sum{axis=1}(a)]
    """
    product, op = node.inputs[0], node.op
    a, b = product.owner.inputs
    axes, ndim = op.axes(product.type.ndim), product.type.ndim
    if a.type.ndim < 2 or b.type.ndim < 2 or not set(axes) <= {ndim - 2, ndim - 1}:
        return None
    if not axes or not adds_alike(product) or not is_plain_sum(op):
        return None
    if count_uses(fgraph, product) > 1:
        return None
    if ndim == 2 and not op.keepdims:
        a = Sum(axis=0)(a) if 0 in axes else a
        b = Sum(axis=1)(b) if 1 in axes else b
        return fitting(node.outputs[0], dot(a, b))
    a = Sum(axis=a.type.ndim - 2, keepdims=True)(a) if ndim - 2 in axes else a
    b = Sum(axis=b.type.ndim - 1, keepdims=True)(b) if ndim - 1 in axes else b
    result = product.owner.op(a, b)
    return fitting(node.outputs[0], result if op.keepdims else result.squeeze(axis=axes))


def adds_alike(product):
    """Return whether a product, its factors and sums of them have one dtype."""
    dtypes = {v.type.dtype for v in (product, *product.owner.inputs)}
    return len(dtypes) == 1 and product.type.kind in "fc"


def is_turned(v):
    """Return whether a matrix is written as a transposed one."""
    return isinstance(v.head, DimShuffle) and v.head.new_order == (1, 0)


def cut_to_square(a, b, product, offset=0):
    """Return the rows of one factor, and the columns of the other, that make up a diagonal."""
    if not offset and is_square(product):
        return a, b
    a, b = a[max(0, -offset) :], b[:, max(0, offset) :]
    return a[: b.shape[1]], b[:, : a.shape[0]]


def adds_elements(diagonal):
    """Return whether a trace is the sum of the products of elements of two arrays in the order in
    which they lie in memory.
    """
    product = diagonal.owner.inputs[0]
    if not isinstance(product.head, Dot) or diagonal.type.ndim != 1 or diagonal.head.offset:
        return False
    a, b = product.owner.inputs
    return is_turned(a) != is_turned(b) and adds_alike(product)


@node_rewriter([Sum], phase="specialize", claim=backward(4), depth=3, when=below(Diagonal))
def trace_of_turned_product(fgraph, node):
    """Compute a trace without the product. Not data: one of the factors is transposed.

    >>> a, b = matrix("a", shape=(3, 4)), matrix("b", shape=(3, 4))
    >>> rewritten(trace(a.T @ b), trace(a @ b.T))
    [Reshape{-1}(a) @ Reshape{-1}(b), Reshape{-1}(a) @ Reshape{-1}(b)]
    """
    (diagonal,) = node.inputs
    if not adds_elements(diagonal) or not is_plain_sum(node.op) or node.op.axes(1) != (0,):
        return None
    product = diagonal.owner.inputs[0]
    if node.op.keepdims or max(count_uses(fgraph, diagonal), count_uses(fgraph, product)) > 1:
        return None
    groups = comparisons(fgraph, product.owner, {(0, 1)})
    if groups is None:
        return None
    (entry,) = after_comparing([WHOLE], groups, product.owner.op, whole=0) if groups else [WHOLE]
    left, right = product.owner.inputs

    def all_elements(a, b):
        a, b = (a.T, b) if is_turned(left) else (a, b.T)
        return dot(a.flatten(), taken(b.flatten(), [entry]))

    whole = all_elements(left, right)
    if not is_square(product):
        whole = ifelse(
            eq(length(left, 0), length(right, 1)),
            whole,
            all_elements(*cut_to_square(left, right, product)),
        )
    return fitting(node.outputs[0], whole)


@node_rewriter([Diagonal], phase="specialize", claim=backward(4), depth=2, when=below(Dot, MatMul))
def diagonal_of_product(fgraph, node):
    """Compute only the diagonal of a product. Not data: the product may not be square, and the
    diagonal not the main one.

    >>> a, b = matrix("a", shape=(3, 4)), matrix("b", shape=(4, 3))
    >>> rewritten(diag(a @ b))
    DropDims{axes=[1, 2]}(MatMul(ExpandDims{axes=[1]}(a), DimShuffle{order=[1,0,x]}(b)))
    """
    product, op, (out,) = node.inputs[0], node.op, node.outputs
    ndim, clients = product.type.ndim, () if fgraph is None else fgraph.users.get(out, ())
    if ndim < 2 or not adds_alike(product) or count_uses(fgraph, product) > 1:
        return None
    if adds_elements(out) and len(clients) == 1 and isinstance(next(iter(clients)).op, Sum):
        return None
    if {*op.axes(ndim)} != {ndim - 2, ndim - 1} or (
        ndim > 2 and (op.offset or not is_square(product))
    ):
        return None
    offset = op.offset if op.axes(ndim) == (ndim - 2, ndim - 1) else -op.offset
    a, b = product.owner.inputs
    if ndim > 2:
        return fitting(out, row_products(a, b.mT))
    by_columns = is_turned(a) and not is_turned(b)
    a, b = cut_to_square(a, b, product, offset)
    if not by_columns:
        return fitting(out, row_products(a, b.T))
    groups = comparisons(fgraph, product.owner, {(0, 1)})
    if groups is None:
        return None
    entries = [WHOLE, WHOLE]
    entries = after_comparing(entries, groups, product.owner.op, whole=0) if groups else entries
    return fitting(out, Sum(axis=0)(a.T * taken(b, entries)))


def row_products(a, b):
    """Return the products of the rows of two arrays of matrices."""
    return matmul(expand_dims(a, -2), expand_dims(b, -1)).squeeze((-2, -1))


# --- chains ---------------------------------------------------------------------------------------


def is_thin(v):
    """Return whether a factor is a vector, or a matrix of one row or column."""
    return v.type.ndim == 1 or True in v.type.broadcastable


def cost(*factors):
    """Return the cost of multiplying these shapes from the left to the right, and from the right to
    the left; None if a length is unknown.
    """
    (n, k), (_, m), (_, p) = factors
    if None in (n, k, m, p):
        return None
    return n * m * (k + p), k * p * (m + n)


def shape_of(v, left):
    """Return the shape of a factor as a matrix. left: a vector is a row."""
    return v.type.shape if v.type.ndim == 2 else (1, *v.type.shape) if left else (*v.type.shape, 1)


def has_product(op, seen, distinct):
    """Return whether an operand is a product."""
    return any(isinstance(head_of(s), Dot) for s in seen)


@node_rewriter([Dot], phase="specialize", claim=backward(4), depth=2, when=has_product)
def chain_of_products(fgraph, node):
    """Multiply a chain of matrices from the end with a vector, or in the order that is known to
    cost less. Not data: ranks and lengths decide.

    >>> a, b, v = matrix("a"), matrix("b"), vector("v")
    >>> rewritten(a @ b @ v, v @ (b @ a))
    [a @ (b @ v), v @ b @ a]
    """
    left, right = node.inputs
    for product, from_right in ((left, True), (right, False)):
        if not isinstance(product.head, Dot) or count_uses(fgraph, product) > 1:
            continue
        if is_given(fgraph, product):
            continue
        a, b, c = (*product.owner.inputs, right) if from_right else (left, *product.owner.inputs)
        if b.type.ndim != 2 or len({v.type.dtype for v in (a, b, c)}) > 1:
            continue
        if b.type.kind in "fc" and pays_to_regroup(a, b, c, from_right):
            made = dot(a, dot(b, c)) if from_right else dot(dot(a, b), c)
            return fitting(node.outputs[0], made)
    return None


def is_given(fgraph, product):
    """Return whether factors are given to the graph of an op: in a loop, their product may be the
    same in all steps, and is computed once then.
    """
    is_inner = fgraph is not None and fgraph.is_inner
    return is_inner and all([v.owner is None for v in product.owner.inputs])


def pays_to_regroup(a, b, c, from_right):
    """Return whether a (b c) costs less than (a b) c, or the other way round."""
    found = cost(shape_of(a, True), b.type.shape, shape_of(c, False))
    if found is not None:
        return found[1] < found[0] if from_right else found[0] < found[1]
    end, other = (c, a) if from_right else (a, c)
    if b.type.broadcastable != (False, False) or is_thin(other):
        return False
    return end.type.ndim == 1 or end.type.broadcastable[1 if from_right else 0]


def has_sum_and_vector(op, seen, distinct):
    """Return whether an operand is a sum."""
    return any(head_of(s) is add for s in seen)


@node_rewriter([Dot], phase="specialize", claim=backward(4), depth=2, when=has_sum_and_vector)
def turned_sum_times_vector(fgraph, node):
    """Multiply a matrix and a transposed one with a vector, one after the other: their sum would
    read one of them by columns. Not data: the sum may be on either side.

    >>> a, v = matrix("a"), vector("v")
    >>> rewritten((a + a.T) @ v)
    a @ v + Transpose{axes=[1, 0]}(a) @ v
    """
    for side, (total, v) in enumerate((node.inputs, node.inputs[::-1])):
        if total.head is not add or v.type.ndim != 1 or len(total.owner.inputs) != 2:
            continue
        a, b = total.owner.inputs
        if is_turned(a) == is_turned(b) or not same_ones(a, b) or count_uses(fgraph, total) > 1:
            continue
        if len({w.type.dtype for w in (a, b, v)}) > 1 or a.type.kind not in "fc":
            continue
        parts = [dot(v, w) if side else dot(w, v) for w in (a, b)]
        return fitting(node.outputs[0], add(*parts))
    return None


def has_fill(op, seen, distinct):
    """Return whether an operand is a filled array."""
    return any(isinstance(head_of(s), Alloc) for s in seen)


def repeated_part(v, axis):
    """Return the vector that a filled matrix repeats along an axis; None for other terms."""
    if not isinstance(v.head, Alloc) or v.type.ndim != 2 or v.type.broadcastable[axis]:
        return None
    part, *lengths = v.owner.inputs
    if part.type.ndim == 2:
        part = part.squeeze(axis) if part.type.broadcastable[axis] else None
    elif part.type.ndim == 1 and axis == 1:
        return None
    return None if part is None else alloc(part, lengths[1 - axis])


@node_rewriter([Dot], phase="specialize", claim=backward(4), depth=2, when=has_fill)
def product_with_equal_rows(fgraph, node):
    """Compute one row of a product if all rows of the left factor are equal, or one column.

    Not data: the filled matrix may be on either side.

    >>> rewritten(ones((lscalar("n"), 3)) @ matrix("b", shape=(3, 3)))
    Alloc([1. 1. 1.] @ b, n, 3)
    """
    a, b = node.inputs
    row, column = repeated_part(a, 0), repeated_part(b, 1)
    if row is not None:
        shape = [a.owner.inputs[1], *[length(b, d) for d in range(1, b.type.ndim)]]
        return fitting(node.outputs[0], alloc(dot(row, b), *shape))
    if column is None:
        return None
    shape = [*[length(a, d) for d in range(a.type.ndim - 1)], b.owner.inputs[2]]
    return fitting(node.outputs[0], alloc(expand_dims(dot(a, column), -1), *shape))


def has_two_products(op, seen, distinct):
    """Return whether two operands are products."""
    return len(seen) == 2 and all(isinstance(head_of(s), Dot) for s in seen)


@node_rewriter([add, sub], phase="specialize", claim=backward(4), depth=2, when=has_two_products)
def common_matrix(fgraph, node):
    """One product replaces two with the same factor. Not data: the factor may be on either side,
    and nothing else may use the products.

    >>> a, x, y = matrix("a"), vector("x"), vector("y")
    >>> rewritten(a @ x + a @ y, x @ a - y @ a)
    [a @ (x + y), (x - y) @ a]
    """
    (a, x), (b, y) = [v.owner.inputs for v in node.inputs]
    if any([count_uses(fgraph, v) > 1 for v in node.inputs]):
        return None
    if not all(map(adds_alike, node.inputs)):
        return None
    if a is b and a.type.ndim == 2 and same_ones(x, y):
        return fitting(node.outputs[0], dot(a, node.op(x, y)))
    if x is y and x.type.ndim == 2 and same_ones(a, b):
        return fitting(node.outputs[0], dot(node.op(a, b), x))
    return None


def same_ones(x, y):
    """Return whether two arrays have one rank, and length 1 in the same dimensions."""
    return x.type.broadcastable == y.type.broadcastable


# --- products that are written as sums ------------------------------------------------------------


@node_rewriter(
    [Sum], phase="specialize", claim=approx(ulps=8), depth=2, tags=["reorder"],
    when=lambda op, seen, distinct: head_of(seen[0]) is mul,
)  # fmt: skip
def sum_of_elementwise_product(fgraph, node):
    """Use a product of matrices or vectors for a sum of products of their elements, without the
    array of these. Not data: dimensions of length 1 decide which product it is.

    >>> a, b, v = matrix("a"), matrix("b"), vector("v")
    >>> rewritten((a * v).sum(axis=1), (a[:, :, None] * b[None]).sum(axis=1), (v * v[::-1]).sum())
    [a @ v, a @ b, v @ Subtensor{::-1}(v)]
    """
    x, op = node.inputs[0], node.op
    if x.type.dtype != "float64" or not is_plain_sum(op) or op.keepdims:
        return None
    if count_uses(fgraph, x) > 1 or any(v.type.dtype != x.type.dtype for v in x.owner.inputs):
        return None
    sides = two_factors(x)
    result = None if sides is None else contracted(fgraph, x, sides, op.axes(x.type.ndim))
    return None if result is None else fitting(node.outputs[0], result)


def two_factors(x):
    """Return a product as two factors, the last operand and the product of the others (in their
    order: it overflows as before), each with the dimensions whose length is not 1; None if the
    others have different ones.
    """
    *others, last = [(dimensions_of(v, x.type.ndim), v) for v in x.owner.inputs]
    kinds = {own for own, _ in others if own}
    if len(kinds) != 1 or not last[0]:
        return None
    (first,) = kinds
    if first == last[0] and len(first) > 1 and any(map(is_fused, x.owner.inputs)):
        return None
    factors = [v for _, v in others]
    sides = (first, factors), (last[0], [last[1]])
    return sides if len(first) >= len(last[0]) else sides[::-1]


def dimensions_of(v, ndim):
    """Return the dimensions of a result in which an operand has a length other than 1."""
    more = ndim - v.type.ndim
    return tuple([more + d for d, one in enumerate(v.type.broadcastable) if not one])


def is_fused(v):
    """Return whether a linker computes a term element by element, without an array of it."""
    return isinstance(v.head, Elemwise)


def contracted(fgraph, x, sides, axes):
    """Return the sum over axes of a product of two factors as a product of matrices; None if it is
    not one.
    """
    (left, _), (right, _) = sides
    over = [d for d in left if d in right and d in axes]
    batch = [d for d in left if d in right and d not in axes]
    if not over or set(over) != set(axes):
        return None
    if any(d not in left and d not in right for d in range(x.type.ndim)):
        return None
    a, b = [without_ones(x, own, factors) for own, factors in sides]
    if not batch and over == [*left] == [*right] and len(over) > 1:
        return of_all_elements(fgraph, x, a, b)
    if batch and {*left, *right} == {*over, *batch}:
        return None  # many products of vectors: a loop over the elements is as fast
    if batch:
        return batched(x, a, b, sides, over, batch)
    kept = [d for own in (left, right) for d in own if d not in over]
    places = [[own.index(d) for d in over] for own in (left, right)]
    return in_order(multiplied(a, b, *places), kept)


def in_order(result, dims):
    """Return a result whose dimensions are those of the product, sorted."""
    order = [dims.index(d) for d in sorted(dims)]
    return result if order == [*range(len(dims))] else result.dimshuffle(*order)


def of_all_elements(fgraph, x, a, b):
    """Return the sum of the products of all elements of two arrays of equal shape; None if an error
    may be lost.
    """
    places = {(k, d) for k, v in enumerate(x.owner.inputs) for d in range(v.type.ndim)}
    groups = comparisons(fgraph, x.owner, places)
    if groups is None:
        return None
    if is_turned(a) and is_turned(b):
        a, b = a.T, b.T  # (as they lie in memory)
    (entry,) = after_comparing([WHOLE], groups, x.owner.op, whole=0) if groups else [WHOLE]
    return dot(a.flatten(), taken(b.flatten(), [entry]))


def batched(x, a, b, sides, over, batch):
    """Return a product of matrices for each place in dimensions that both factors keep; None if it
    is not one.
    """
    (left, _), (right, _) = sides
    rows = [d for d in left if d not in right]
    columns = [d for d in right if d not in left]
    if len(over) > 1 or len(rows) > 1 or len(columns) > 1:
        return None
    if not rows and not columns and (over[0] < x.type.ndim - 1 or is_turned(a) or is_turned(b)):
        return None  # (elements far from each other in memory)
    a = a.dimshuffle(
        *map(left.index, batch), *(map(left.index, rows) if rows else "x"), left.index(over[0])
    )
    b = b.dimshuffle(
        *map(right.index, batch),
        right.index(over[0]),
        *(map(right.index, columns) if columns else "x"),
    )
    result = matmul(a, b)
    gone = [-2] * (not rows) + [-1] * (not columns)
    return in_order(result.squeeze(gone) if gone else result, [*batch, *rows, *columns])


def arranged(v, own, order):
    """Return an array with its dimensions in an order of the product's, and new ones."""
    return v.dimshuffle(*["x" if d == "x" else own.index(d) for d in order])


def without_ones(x, own, factors):
    """Return the product of some factors, without dimensions of length 1."""
    short = []
    for v in factors:
        more = x.type.ndim - v.type.ndim
        kept = [d - more for d in own] if not all(v.type.broadcastable) else []
        short.append(v if kept == [*range(v.type.ndim)] else v.dimshuffle(*kept))
    return short[0] if len(short) == 1 else mul(*short)


def multiplied(a, b, left, right):
    """Return the sum of products over pairs of dimensions."""
    if a.type.ndim > 2 or b.type.ndim > 2 or len(left) > 1:
        return tensordot(a, b, [left, right])
    if left != [a.type.ndim - 1]:
        a = DimShuffle(2, (1, 0))(a)
    if right != [0]:
        b = DimShuffle(2, (1, 0))(b)
    return dot(a, b)
