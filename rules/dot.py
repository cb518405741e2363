"""Products of matrices, and equations."""

from rewrite_engine.rules.language import *
from rewrite_engine.tensor import DimShuffle, dot, neg
from rewrite_engine.tensor.linalg import Solve, SolveTriangular, SolveTridiagonal


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


@rule(phase="specialize", claim=exact)
def minus_dot_of_neg(a, b: Float, c: Float):
    """So do that of a product and that of a difference.

    >>> a, b, c = matrices("a b c")
    >>> rewritten(a - dot(-b, c))
    a + b @ c
    """
    return a - dot(-b, c) >> a + dot(b, c)


@node_rewriter(
    [DimShuffle, Solve, SolveTriangular, SolveTridiagonal], phase="specialize", claim=exact, depth=2
)
def linear_in_neg(fgraph, node):
    """The sign of floats goes outside, where it may meet another: that of a right side is that of
    the solution. Not data: it is the same for several ops, with any parameters.

    >>> a, b = matrices("a b")
    >>> rewritten(Solve()(a, -b), 1 - (-exp(b)).T)
    [-Solve(a, b), 1.0 + Transpose{axes=[1, 0]}(exp(b))]
    """
    *others, x = node.inputs
    if x.head is not neg or x.type.kind not in "fc":
        return None
    return -node.op(*others, x.owner.inputs[0])
