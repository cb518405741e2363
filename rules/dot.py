"""Products of matrices."""

from rewrite_engine.rules.language import *
from rewrite_engine.tensor import DimShuffle, Sum, dot, neg, sqr
from rewrite_engine.tensor.op import Odd


@rule(phase="canonicalize", claim=approx(ulps=8))
def transpose_of_dot(a: Matrix, b: Matrix):
    """Transposing the factors costs nothing; transposing the product makes what follows slow.

    >>> a, b = matrices("a b")
    >>> rewritten(dot(a, b).T)
    Transpose{axes=[1, 0]}(b) @ Transpose{axes=[1, 0]}(a)
    """
    turn = DimShuffle(2, (1, 0))
    return turn(dot(a, b)) >> dot(turn(b), turn(a))


@rule(phase="canonicalize")
def dot_of_negs(a: Inexact, b: Inexact):
    """Two signs in a product cancel.

    >>> a, b = matrices("a b")
    >>> rewritten(dot(-a, -b))
    a @ b
    """
    return dot(-a, -b) >> dot(a, b)


def in_double(x):
    """Whether sums of such numbers have no more digits than they."""
    return x.type.dtype == "float64"


@rule(phase="specialize", claim=approx(ulps=8), tags=["reorder"])
def sum_of_squares(x: Vector):
    """One call instead of two, and no array of squares. (No part of a sum of squares is larger than
    the whole, in any order.)

    >>> x = vector("x")
    >>> rewritten(sqr(x - 1).sum()), rewritten((fvector("x") ** 2).sum())
    ((x - 1.0) @ (x - 1.0), Sum(sqr(x)))
    """
    return Sum()(sqr(x)) >> dot(x, x), given(in_double)


@rule(phase="specialize")
def minus_dot_of_neg(a, b: Inexact, c: Inexact):
    """So do that of a product and that of a difference.

    >>> a, b, c = matrices("a b c")
    >>> rewritten(a - dot(-b, c))
    a + b @ c
    """
    return a - dot(-b, c) >> a + dot(b, c)


@rule(phase="specialize", overlaps="there is one sign less, and one is left at most")
def neg_of_dot_of_neg(a: Inexact, b: Inexact):
    """And a sign before the product.

    >>> a, b = matrices("a b")
    >>> rewritten(-dot(-a, b))
    a @ b
    """
    return -dot(-a, b) >> dot(a, b)


@node_rewriter([Odd], phase="specialize", depth=2)
def odd_of_neg(fgraph, node):
    """The sign of floats goes outside, where it may meet another. Not data: ops of several classes.

    >>> rewritten(1 - (-exp(matrix("x"))).T)
    1.0 + Transpose{axes=[1, 0]}(exp(x))
    """
    *others, x = node.inputs
    if x.head is not neg or x.type.kind not in "fc":
        return None
    return -node.op(*others, *x.owner.inputs)
