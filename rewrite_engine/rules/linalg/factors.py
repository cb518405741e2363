"""One factorisation per matrix: where a matrix is used in equations, an inverse or a determinant
more than once, with its transpose, too.
"""

from rewrite_engine.language import *
from rewrite_engine.tensor import DimShuffle
from rewrite_engine.tensor.linalg import MatrixInverse, SLogDet, Solve
from rewrite_engine.tensor.linalg.factor import Factor, FactorInverse, FactorSLogDet, FactorSolve

USES = (Solve, MatrixInverse, SLogDet)


@node_rewriter([Solve, MatrixInverse, SLogDet], phase="factorize", claim=backward(16), depth=2)
def one_factorisation(fgraph, node):
    """Factorise a matrix once for all equations, inverses and determinants. Not data: it is about
    several nodes.

    >>> k, y = matrix("k"), vector("y")
    >>> rewritten(y @ linalg.inv(k) @ y + linalg.slogdet(k)[1])
    DropDims{...}(FactorSolve{...}(Factor(k).factor, ...)) @ y + FactorSLogDet(...)...
    """
    if fgraph is None:
        return None
    matrix, _ = as_written(node.inputs[0])
    users = uses_of(fgraph, matrix)
    if len(users) < 2:
        return None
    factor, pivots = Factor()(matrix)
    results = {}
    for one, turned in users:
        results.update(zip(one.outputs, from_factor(one, turned, factor, pivots), strict=True))
    return results


def as_written(v):
    """Return a matrix, and whether a term is its transpose."""
    if isinstance(v.head, DimShuffle) and v.head.new_order == (1, 0):
        return v.owner.inputs[0], True
    return v, False


def uses_of(fgraph, matrix):
    """Return the nodes that factorise a matrix, each with whether it takes the transpose."""
    found = [(one, False) for one in fgraph.users[matrix] if factorises(one, matrix)]
    for one in fgraph.users[matrix]:
        turned = one.outputs[0]
        if as_written(turned) == (matrix, True):
            found += [(user, True) for user in fgraph.users[turned] if factorises(user, turned)]
    return found


def factorises(node, matrix):
    """Return whether a node factorises a matrix, its first input. (Determinants of single
    precision are computed in double precision.)
    """
    if type(node.op) not in USES or node.inputs[0] is not matrix:
        return False
    return not isinstance(node.op, SLogDet) or matrix.type.dtype in ("float64", "complex128")


def from_factor(node, turned, factor, pivots):
    """Return the outputs of a node, from the factor of its matrix or, if turned, of the transpose
    of it.
    """
    if isinstance(node.op, Solve):
        return [FactorSolve(turned)(factor, pivots, node.inputs[1])]
    if isinstance(node.op, SLogDet):
        return FactorSLogDet()(factor, pivots)
    inverse = FactorInverse()(factor, pivots)
    return [inverse.T if turned else inverse]
