"""Conversions that change nothing, between dtypes, and between numbers and 0-d tensors."""

import numpy as np

from rewrite_engine.language import *
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import Elemwise, cast
from rewrite_engine.tensor.numbers import (
    ScalarFromTensor,
    TensorFromScalar,
)

BOTH_WAYS = {TensorFromScalar, ScalarFromTensor}


def cast_dtype(op):
    """Return the dtype that an op converts to, or None if it is no conversion."""
    if not isinstance(op, Elemwise) or not isinstance(op.scalar_op, Cast) or op.inplace_pattern:
        return None
    return op.scalar_op.dtype


@node_rewriter([cast_dtype], phase="canonicalize", claim=exact)
def cast_to_same(fgraph, node):
    """Remove a conversion to the dtype that the term already has. Not data: the dtype is a
    parameter of the scalar op inside.

    >>> x = vector("x")
    >>> rewritten(Elemwise(Cast("float64"))(x))
    x
    """
    return node.inputs[0] if cast_dtype(node.op) == node.inputs[0].type.dtype else None


def keeps_values(narrow, wide):
    """Return whether one dtype represents every value of another. (NumPy calls int64 to float64
    safe, which it is not.)
    """
    narrow, wide = np.dtype(narrow), np.dtype(wide)
    if narrow.kind in "iu" and wide.kind in "fc" and 8 * narrow.itemsize > np.finfo(wide).nmant:
        return False
    return np.can_cast(narrow, wide, "safe")


@node_rewriter([cast_dtype], phase="canonicalize", claim=exact, depth=2)
def cast_of_cast(fgraph, node):
    """Skip a conversion to a wider dtype in between. Not data: the dtype is a parameter of the
    scalar op inside.

    >>> rewritten(cast(cast(ivector("x"), "int64"), "float64"))
    Cast{float64}(x)
    """
    dtype = cast_dtype(node.op)
    inner = node.inputs[0].owner
    if inner is None or cast_dtype(inner.op) is None:
        return None
    x = inner.inputs[0]
    return cast(x, dtype) if keeps_values(x.type.dtype, cast_dtype(inner.op)) else None


@node_rewriter([TensorFromScalar, ScalarFromTensor], phase="canonicalize", claim=exact, depth=2)
def number_and_back(fgraph, node):
    """Remove a conversion from a number to a 0-d tensor and back, or the reverse. Not data: one of
    the two types is no tensor type.

    >>> x = scalar("x")
    >>> rewritten(tensor_from_scalar(scalar_from_tensor(x)))
    x
    """
    inner = node.inputs[0].owner
    undoes = inner is not None and {type(node.op), type(inner.op)} == BOTH_WAYS
    return inner.inputs[0] if undoes else None
