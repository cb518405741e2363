"""Conversions between dtypes that change nothing."""

import numpy as np

from rewrite_engine.rules.language import *
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import Elemwise, cast


def cast_dtype(op):
    """The dtype an op converts to, or None if it is no conversion."""
    if not isinstance(op, Elemwise) or not isinstance(op.scalar_op, Cast) or op.inplace_pattern:
        return None
    return op.scalar_op.dtype


@node_rewriter([cast_dtype], phase="canonicalize", claim=exact)
def cast_to_same(fgraph, node):
    """A conversion to the dtype that is there. Not data: the dtype is a parameter of the scalar op
    inside.

    >>> x = vector("x")
    >>> rewritten(Elemwise(Cast("float64"))(x))
    x
    """
    return node.inputs[0] if cast_dtype(node.op) == node.inputs[0].type.dtype else None


@node_rewriter([cast_dtype], phase="canonicalize", claim=exact, depth=2)
def cast_of_cast(fgraph, node):
    """A detour through a wider dtype. Not data: the dtype is a parameter of the scalar op inside.

    >>> rewritten(cast(cast(ivector("x"), "int64"), "float64"))
    Cast{float64}(x)
    """
    dtype = cast_dtype(node.op)
    inner = node.inputs[0].owner
    if inner is None or cast_dtype(inner.op) is None:
        return None
    x = inner.inputs[0]
    return cast(x, dtype) if np.can_cast(x.type.dtype, cast_dtype(inner.op), "safe") else None
