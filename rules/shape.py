"""Shapes: known ones become constants, others are computed without what they are the shape of;
views of views.
"""

from functools import cache

from rewrite_engine.errors import MethodNotDefined
from rewrite_engine.match.emit import apply_op
from rewrite_engine.rules.language import *
from rewrite_engine.tensor import (
    DimShuffle,
    MakeVector,
    Reshape,
    Shape,
    Shape_i,
    SpecifyShape,
    constant,
    shape_i,
)

length_op = cache(Shape_i)


def length(v, i):
    """The length of a dimension, as `shape_i` gives it; cheaper, for `i` counted from the front."""
    known = v.type.shape[i]
    return apply_op(length_op(i), (v,)) if known is None else shape_i(v, i)


def dims_of(fgraph, variable, lengths=length):
    """The dimensions of a variable, from those of what it is computed from; None where the op
    does not say.
    """
    node = variable.owner
    shapes = [tuple(lengths(v, i) for i in range(getattr(v.type, "ndim", 0))) for v in node.inputs]
    try:
        return node.op.infer_shape(fgraph, node, shapes)[variable.index]
    except MethodNotDefined:
        return None


@node_rewriter([Shape], phase="canonicalize", claim=exact)
def shape_of_known(fgraph, node):
    """A static shape is a constant. Not data: it looks at types only.

    >>> rewritten(matrix("x", shape=(2, 3)).shape)
    [2 3]
    """
    dims = node.inputs[0].type.shape
    return None if None in dims else constant(list(dims), dtype="int64")


@node_rewriter([Shape_i], phase="canonicalize", claim=exact)
def length_of_known(fgraph, node):
    """A static length is a constant. Not data: it looks at types only.

    >>> rewritten(Shape_i(1)(matrix("x", shape=(2, 3))))
    3
    """
    n = node.inputs[0].type.shape[node.op.i]
    return None if n is None else constant(n, dtype="int64")


@node_rewriter([Shape_i], phase="canonicalize", claim=refines)
def length_by_inference(fgraph, node):
    """The length of a result follows from those of the operands, without computing it.

    Not data: every op says for itself how (`Op.infer_shape`).

    >>> rewritten(Shape_i(0)(vector("x") + 1))
    Shape_i{i=0}(x)
    """
    x = node.inputs[0]
    if x.owner is None:
        return None
    dims = dims_of(fgraph, x)
    return None if dims is None else dims[node.op.i]


@node_rewriter([Shape], phase="canonicalize", claim=refines)
def shape_by_inference(fgraph, node):
    """The shape of a result follows from those of the operands, without computing it.

    Not data: every op says for itself how (`Op.infer_shape`).

    >>> rewritten((vector("x") + 1).shape)
    MakeVector(Shape_i{i=0}(x))
    """
    x = node.inputs[0]
    if x.owner is None or x.type.ndim == 0:
        return None
    dims = dims_of(fgraph, x)
    return None if dims is None else MakeVector("int64")(*dims)


@rule(phase="canonicalize", claim=exact)
def reshape_of_reshape(x, inner: Prop, outer: Prop):
    """Only the last shape counts.

    >>> rewritten(matrix("x").reshape((-1,)).reshape((2, -1)))
    Reshape{2, -1}(x)
    """
    return Reshape(shape=outer)(Reshape(shape=inner)(x)) >> Reshape(shape=outer)(x)


def composed(x, inner, outer):
    """One `DimShuffle` for two, or nothing for one that changes nothing."""
    order = tuple("x" if o == "x" else inner[o] for o in outer)
    return x if order == tuple(range(x.type.ndim)) else DimShuffle(x.type.ndim, order)(x)


@rule(phase="canonicalize", claim=exact)
def dimshuffle_of_dimshuffle(x, n: Prop, m: Prop, inner: Prop, outer: Prop):
    """Two reorderings are one, or none.

    >>> rewritten(matrix("x").T.T)
    x
    """
    return DimShuffle(input_ndim=m, new_order=outer)(
        DimShuffle(input_ndim=n, new_order=inner)(x)
    ) >> compute(lambda x, inner, outer: composed(x, inner, outer))


@node_rewriter([DimShuffle], phase="canonicalize", claim=exact)
def dimshuffle_of_nothing(fgraph, node):
    """A reordering that keeps the order, or puts a dimension of length 1 where it took it away.

    Not data: it looks at the op's parameter only.

    >>> rewritten(DimShuffle(2, (0, 1))(matrix("x"))), rewritten(col("y").squeeze(1)[:, None])
    (x, y)
    """
    order = enumerate(node.op.new_order)
    same = len(node.op.new_order) == node.op.input_ndim
    return node.inputs[0] if same and all(o in (i, "x") for i, o in order) else None


@node_rewriter([SpecifyShape], phase="canonicalize", claim=exact)
def specified_shape_known(fgraph, node):
    """A claim that the type already makes. Not data: it looks at types only.

    >>> rewritten(SpecifyShape((3,))(vector("x", shape=(3,))))
    x
    """
    op, x = node.op, node.inputs[0]
    known = all(
        claim is None or claim == have for claim, have in zip(op.shape, x.type.shape, strict=True)
    )
    return x if known else None
