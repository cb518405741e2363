"""Linear algebra. Rules ask for the names of ops, so that modules are loaded only for graphs that
use them.
"""

from rewrite_engine.language import *
from rewrite_engine.rules.powers.read import signed_term
from rewrite_engine.tensor import (
    Diagonal,
    DimShuffle,
    Dot,
    IncDiagonal,
    constant,
    mul,
    reciprocal,
    true_div,
)


def is_gradient_of_factor(op):
    """Return whether an op is `CholeskyGradient`."""
    return type(op).__name__ == "CholeskyGradient"


@node_rewriter(
    [is_gradient_of_factor],
    phase="specialize",
    claim=approx(ulps=64),
    tags=["reorder"],
    depth=6,
    keeps=None,
)
def gradient_of_normal_density(fgraph, node):
    """The gradient of a normal log density needs fewer products of matrices. With L.T @ v = z,
    Φ(L.T @ v @ z.T) is that of z @ z.T and gives v @ v.T, and Φ(L.T / diagonal(L)) is half of the
    identity and gives the inverse. Not data: ops that may not be loaded.

    >>> from rewrite_engine.tensor.linalg import CholeskyGradient, SolveTriangular
    >>> low, z = tril(tanh(matrix("L"))) + 4 * eye(4), matrix("z")
    >>> v = SolveTriangular(lower=True, transpose=True)(low, z)
    >>> rewritten(CholeskyGradient()(low, IncDiagonal()(dot(v, z.T), 2 / Diagonal()(low))))
    CovarianceGradient(..., 1.0, 2.0)
    """
    low, g = node.inputs
    is_sum = type(g.head) is IncDiagonal and not (g.head.set_instead_of_inc or g.head.offset)
    if not is_sum or g.type.kind == "c":
        return None
    product, line = g.owner.inputs
    sign, v = solved_and_given(*signed_term(product), low)
    number = over_diagonal(*signed_term(line), low)
    if v is None or number is None:
        return None
    from rewrite_engine.tensor.linalg.decomposition import CovarianceGradient

    return CovarianceGradient()(low, v, constant(float(sign), dtype=low.type.dtype), number)


def solved_and_given(sign, product, low):
    """Return the sign and the v of v @ z.T with low.T @ v = z; None for other products."""
    if type(product.head) is not Dot and not is_outer(product):
        return sign, None
    (sign_of_v, v), (sign_of_z, turned) = map(signed_term, product.owner.inputs)
    is_turned = isinstance(turned.head, DimShuffle) and turned.head.new_order == (1, 0)
    z, op = turned.owner.inputs[0] if is_turned else None, v.head
    is_solved = type(op).__name__ == "SolveTriangular" and v.owner.inputs == (low, z)
    fits = is_solved and op.lower and op.transpose and not op.unit_diagonal
    return sign * sign_of_v * sign_of_z, v if fits else None


def is_outer(x):
    """Return whether a term is a column times a row."""
    factors = x.owner.inputs if x.head is mul else ()
    return [v.type.broadcastable for v in factors] == [(False, True), (True, False)]


def over_diagonal(sign, line, low):
    """Return the number of number / diagonal(low); None for other vectors."""
    if line.head is reciprocal:
        top, below = constant(1.0, dtype=line.type.dtype), line.owner.inputs[0]
    elif line.head is true_div:
        top, below = line.owner.inputs
    else:
        return None
    is_diagonal = below.head == Diagonal() and below.owner.inputs == (low,)
    if not is_diagonal or not all(top.type.broadcastable):
        return None
    number = top.dimshuffle()
    return -number if sign < 0 else number
