"""Shapes and views. Known shapes become constants; others are computed without the term itself.
Views of views are merged.
"""

from functools import cache

from rewrite_engine.errors import MethodNotDefined
from rewrite_engine.facts import length as known_length
from rewrite_engine.facts.failure import dropping
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.op import checked_shapes
from rewrite_engine.language import *
from rewrite_engine.match.build import apply_op
from rewrite_engine.tensor import (
    CheckedLength,
    DimShuffle,
    MakeVector,
    Reshape,
    Shape,
    Shape_i,
    SpecifyShape,
    cast,
    constant,
    second,
    shape_i,
)
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.reshape import as_many

length_op = cache(Shape_i)


def length(v, i):
    """Return the length of a dimension like `shape_i`, but faster; `i` counts from the front."""
    known = v.type.shape[i]
    return apply_op(length_op(i), (v,)) if known is None else shape_i(v, i)


def dims_of(fgraph, variable, lengths=length):
    """Return the dimensions of a variable, computed from those of its operands; None if the op does
    not support this.
    """
    node = variable.owner
    shapes = [tuple(lengths(v, i) for i in range(v.type.ndim or 0)) for v in node.inputs]
    try:
        found = node.op.infer_shape(fgraph, node, shapes)
    except MethodNotDefined:
        return None
    return checked_shapes(node, found)[variable.index]


@node_rewriter([Shape], phase="canonicalize", claim=exact, keeps=dropping.lengths_kept)
def shape_of_known(fgraph, node):
    """A static shape is a constant. Not data: it reads types only.

    >>> rewritten(matrix("x", shape=(2, 3)).shape)
    [2 3]
    """
    dims = node.inputs[0].type.shape
    return None if None in dims else constant(list(dims), dtype="int64")


@node_rewriter([Shape_i], phase="canonicalize", claim=exact, keeps=dropping.lengths_kept)
def length_of_known(fgraph, node):
    """A static length is a constant. Not data: it reads types only.

    >>> rewritten(Shape_i(1)(matrix("x", shape=(2, 3))))
    3
    """
    n = node.inputs[0].type.shape[node.op.i]
    return None if n is None else constant(n, dtype="int64")


@node_rewriter([Shape_i], phase="canonicalize", claim=exact, keeps=dropping.lengths_kept)
def length_by_inference(fgraph, node):
    """The length of a result follows from the lengths of its operands, without computing it.

    Not data: every op has its own formula (`Op.infer_shape`).

    >>> rewritten(Shape_i(0)(vector("x") + 1))
    Shape_i{i=0}(x)
    """
    x = node.inputs[0]
    if x.owner is None:
        return None
    far = length_far_below(fgraph, x, node.op.i)
    if far is not None and dropping.lengths_kept(fgraph, node, far):
        return far
    dims = dims_of(fgraph, x)
    n = None if dims is None else dims[node.op.i]
    return None if n is None else cast(n, "int64")


def length_far_below(fgraph, x, i):
    """Return the length of the variable furthest down that has the same length; None if that is no
    more than a level away.
    """
    found = known_length.ask(fgraph, x, i).value
    if not isinstance(found, tuple) or not isinstance(found[0], Variable):
        return None
    return None if found[0] is x or found[0] in x.owner.inputs else length(*found)


@node_rewriter([Shape], phase="canonicalize", claim=exact, keeps=dropping.lengths_kept)
def shape_by_inference(fgraph, node):
    """The shape of a result follows from the shapes of its operands, without computing it.

    Not data: every op has its own formula (`Op.infer_shape`).

    >>> rewritten((vector("x") + 1).shape)
    MakeVector(Shape_i{i=0}(x))
    """
    x = node.inputs[0]
    if x.owner is None or x.type.ndim == 0:
        return None
    dims = dims_of(fgraph, x)
    return None if dims is None else MakeVector("int64")(*dims)


def compared_lengths(fgraph, node):
    """Return the groups of lengths that must be equal for a node to succeed, without those that are
    known to be equal; None if it may fail for another reason.
    """
    groups = node.op.equal_lengths(node)
    if groups is None:
        return None
    found = []
    for group in groups:
        terms = {}
        for member in group:
            if not isinstance(member, tuple):
                terms.setdefault(member, constant(member, dtype="int64"))
                continue
            v, i = node.inputs[member[0]], member[1]
            n = known_length.ask(fgraph, v, i).value
            if n not in terms:
                terms[n] = length(*(n if isinstance(n, tuple) else (v, i)))
        found.append([*terms.values()])
    return [group for group in found if len(group) > 1]


def with_operands(fgraph, node, n, groups, needed):
    """Return the groups, and one more for each operand of a node whose errors would otherwise be
    lost.
    """
    there = [n, *[v for group in groups for v in group]]
    for v in needed.owner.inputs:
        if dropping.errors_stay(fgraph, node, v, there):
            continue
        free = [i for i, known in enumerate(v.type.shape) if known is None]
        if not free:
            return None
        groups.append([length(v, free[0])])
        there += groups[-1]
    return groups


@node_rewriter([Shape_i], phase="canonicalize", claim=exact)
def length_and_checks(fgraph, node):
    """The length of a term is computed without the term, with the comparisons of lengths that the
    term makes.

    Not data: every op has its own comparisons (`Op.equal_lengths`).

    >>> x, y = vectors("x y")
    >>> rewritten(Shape_i(0)(x + y))
    CheckedLength(Shape_i{i=0}(x), Shape_i{i=0}(x), Shape_i{i=0}(y))
    """
    x = node.inputs[0]
    dims = None if x.owner is None else dims_of(fgraph, x)
    groups = None if dims is None else compared_lengths(fgraph, x.owner)
    if groups is None:
        return None
    n = dims[node.op.i]
    groups = with_operands(fgraph, node, n, groups, x)
    if groups is None:
        return unknown("an operand may raise an error", blame=x)
    op = CheckedLength([len(group) for group in groups], x.owner.op)
    return op(n, *[v for group in groups for v in group])


@node_rewriter([CheckedLength], phase="canonicalize", claim=exact)
def length_without_checks(fgraph, node):
    """Lengths that are the same variable need no comparison. Not data: any number of operands.

    >>> n = vector("x").shape[0]
    >>> rewritten(CheckedLength([2], None)(n, n, n))
    Shape_i{i=0}(x)
    """
    inputs = node.inputs
    holds = all(inputs[i] is inputs[j] for i, j in node.op.pairs())
    return inputs[0] if holds and max(node.op.groups) > 1 else None


@node_rewriter([Shape], phase="canonicalize", claim=exact, keeps=dropping.lengths_kept)
def shape_as_lengths(fgraph, node):
    """Compute a shape length by length, so that each one can be inferred and checked.

    Not data: it reads the rank.

    >>> x, y = vectors("x y")
    >>> rewritten((x + y).shape[0])
    CheckedLength(Shape_i{i=0}(x), Shape_i{i=0}(x), Shape_i{i=0}(y))
    """
    x = node.inputs[0]
    if x.owner is None or x.type.ndim == 0 or x.owner.op.equal_lengths(x.owner) is None:
        return None
    lengths = [length(x, i) for i in range(x.type.ndim)]
    if None not in x.type.shape:  # one of them has the checks
        lengths[0] = apply_op(length_op(0), (x,))
    return MakeVector("int64")(*lengths)


def may_fit(x, outer):
    """Return whether x may have as many elements as the shape; if it cannot, the first reshape
    fails.
    """
    return as_many(x.type.shape, outer) is not False


@rule(phase="canonicalize", claim=exact)
def reshape_of_reshape(x, inner: Prop, outer: Prop):
    """The last of two reshapes gives the result, if the first one fits.

    >>> rewritten(matrix("x").reshape((-1,)).reshape((2, -1)))
    Reshape{2, -1}(x)
    >>> rewritten(vector("x").reshape((2, -1)).reshape((-1,)))
    Reshape{-1}(Reshape{2, -1}(x))
    """
    return Reshape(shape=outer)(Reshape(shape=inner)(x)) >> Reshape(shape=outer)(x), given(may_fit)


def without_ones(x, shape):
    """Return a reordering that gives x a shape that differs by dimensions of length 1; None if it
    differs otherwise.
    """
    wanted = Reshape(shape)(x).type.shape
    long = [i for i, n in enumerate(x.type.shape) if n != 1]
    if None in x.type.shape or [x.type.shape[i] for i in long] != [n for n in wanted if n != 1]:
        return None
    kept = iter(long)
    order = tuple(["x" if n == 1 else next(kept) for n in wanted])
    return x if order == tuple(range(x.type.ndim)) else DimShuffle(x.type.ndim, order)(x)


@rule(phase="canonicalize", claim=exact)
def reshape_by_ones(x, shape: Prop):
    """Write a reshape that only adds or drops dimensions of length 1 as a `DimShuffle`, which other
    rules match. (The shape must be static: a computed length may not fit.)

    >>> x = vector("x", shape=(1,))
    >>> rewritten(x.reshape(())), rewritten(Reshape((3,))(vector("y", shape=(3,))))
    (DropDims{axes=[0]}(x), y)
    """
    return Reshape(shape)(x) >> compute(without_ones)


@rule(phase="canonicalize", claim=exact)
def flattened_vector(x: Vector):
    """Remove a flattening of a vector.

    >>> rewritten(exp(Reshape((-1,))(vector("x"))))
    exp(x)
    """
    return Reshape((-1,))(x) >> x


def in_turn(inner, outer):
    """Return the order of two reorderings."""
    return tuple(["x" if o == "x" else inner[o] for o in outer])


def changes_nothing(x, order):
    """Return whether an order leaves x unchanged: each dimension stays, or a new one of length 1
    replaces one of length 1.
    """
    shape = x.type.shape
    return len(order) == len(shape) and all(
        o == i or (o == "x" and shape[i] == 1) for i, o in enumerate(order)
    )


def composed(x, inner, outer):
    """Return one `DimShuffle` for two, or x if they cancel."""
    order = in_turn(inner, outer)
    return x if order == tuple(range(x.type.ndim)) else DimShuffle(x.type.ndim, order)(x)


@rule(phase="canonicalize", claim=exact)
def dimshuffle_of_dimshuffle(x, n: Prop, m: Prop, inner: Prop, outer: Prop):
    """One reordering, or none, replaces two.

    >>> rewritten(matrix("x").T.T)
    x
    """
    return DimShuffle(input_ndim=m, new_order=outer)(
        DimShuffle(input_ndim=n, new_order=inner)(x)
    ) >> compute(lambda x, inner, outer: composed(x, inner, outer))


@node_rewriter([DimShuffle], phase="stabilize", claim=exact, depth=2)
def dimshuffle_that_is_undone(fgraph, node):
    """Move a reordering into an elementwise op if it undoes another one there, so that terms can
    cancel.

    Not data: it holds for every elementwise op.

    >>> x = matrix("x")
    >>> rewritten((1 / exp(x).T).T * exp(x))
    switch(isnan(x), x, 1.0)
    """
    (v,), op = node.inputs, node.op
    if not is_undone_in(fgraph, op, v, 4):
        return None
    inputs = []
    for u in v.owner.inputs:
        moved = u.type.ndim == v.type.ndim  # the others are numbers
        inputs.append(u.owner.inputs[0] if undoes(op, u) else op(u) if moved else u)
    return v.owner.op(*inputs)


def is_undone_in(fgraph, op, v, depth):
    """Return whether a reordering is undone in an operand of elementwise ops that have no other
    use.
    """
    if not depth or not isinstance(v.head, Elemwise) or v.head is second or v.owner.op.nout > 1:
        return False
    if fgraph is not None and (v in fgraph.out_uses or len(fgraph.users.get(v, ())) > 1):
        return False
    if any(u.type.ndim not in (0, v.type.ndim) for u in v.owner.inputs):
        return False
    return any(undoes(op, u) or is_undone_in(fgraph, op, u, depth - 1) for u in v.owner.inputs)


def undoes(op, u):
    """Return whether an op restores the order before the reordering u."""
    if not isinstance(u.head, DimShuffle) or u.type.ndim != op.input_ndim:
        return False
    return changes_nothing(u.owner.inputs[0], in_turn(u.head.new_order, op.new_order))


@rule(phase="canonicalize", claim=exact)
def dimshuffle_of_nothing(x, n: Prop, order: Prop):
    """Remove a reordering that changes nothing, or replaces a dimension of length 1 by another one.

    >>> rewritten(DimShuffle(2, (0, 1))(matrix("x"))), rewritten(col("y").squeeze(1)[:, None])
    (x, y)
    """
    return DimShuffle(n, order)(x) >> x, given(changes_nothing)


def claims_nothing(x, shape):
    """Return whether a type already has the lengths of a shape."""
    return all(n is None or n == have for n, have in zip(shape, x.type.shape, strict=True))


@rule(phase="canonicalize", claim=exact)
def specified_shape_known(x, shape: Prop):
    """Remove a shape declaration that the type already contains.

    >>> rewritten(SpecifyShape((3,))(vector("x", shape=(3,))))
    x
    """
    return SpecifyShape(shape)(x) >> x, given(claims_nothing)
