"""Products of matrices."""

from rewrite_engine.rules.language import *
from rewrite_engine.tensor import DimShuffle, dot


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
def dot_of_negs(a: Float, b: Float):
    """Two signs in a product cancel.

    >>> a, b = matrices("a b")
    >>> rewritten(dot(-a, -b))
    a @ b
    """
    return dot(-a, -b) >> dot(a, b)
