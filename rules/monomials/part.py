"""Views and parts: what is taken from an array by an index, a view, a cut. A function of a part is
the part of the function, so a product may be read on beyond it.
"""

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.rules.facts import fits, same_shape
from rewrite_engine.rules.shape import composed
from rewrite_engine.tensor import (
    AdvancedSubtensor,
    DimShuffle,
    Join,
    Reshape,
    Softmax,
    Split,
    Subtensor,
    add,
    mul,
    neg,
    reciprocal,
    sub,
    true_div,
)

PARTS = (Subtensor, AdvancedSubtensor, Reshape, DimShuffle, Split)
ARITHMETIC = frozenset({add, sub, neg, mul, true_div, reciprocal})
MOST = 12  # operands of a sum or a product that is taken in parts


def takes_part(v):
    """Whether a term is a view of another one, or a part."""
    return v.owner is not None and isinstance(v.owner.op, PARTS)


def whole(v):
    """What a part is taken of; a term itself for others."""
    while takes_part(v):
        v = v.owner.inputs[0]
    return v


def is_softmax(v):
    """Whether a term is a softmax, or a part of one."""
    return isinstance(whole(v).head, Softmax)


def lifted(v, heads, of=None):
    """f(x[i]) for f(x)[i], of some functions and operators; v itself for others. of: operators have
    to be of such functions, or what is taken was put together, or ordered, from what is wanted.
    """
    moves, u = [], v
    while takes_part(u) and len(moves) < 4:
        moves.append(u)
        u = u.owner.inputs[0]
    if not moves or u.head not in heads or len(u.owner.inputs) > MOST:
        return v
    inputs = u.owner.inputs
    known = of is None or is_made_of(u, heads, of)
    if not keeps_shape(u) or not (known or is_undone(u, moves[-1])):
        return v
    for move in reversed(moves):
        inputs = [part_of(x, move) if x.type.ndim else x for x in inputs]
    return u.head(*inputs)


def is_made_of(v, heads, of, depth=3):
    """Whether operators have numbers, and some functions, for operands only."""
    if v.head is CONSTANT or v.head in of:
        return True
    below = v.owner.inputs if depth and v.head in heads else (None,)
    return all(x is not None and is_made_of(x, heads, of, depth - 1) for x in below)


def keeps_shape(v):
    """Whether all operands have the shape of the result, or are numbers."""
    ones = v.type.broadcastable
    return all(not x.type.ndim or x.type.broadcastable == ones for x in v.owner.inputs)


def is_undone(v, move, depth=3):
    """Whether a part of what an arithmetic term is made of is undone by taking it."""
    if undoing(v, move) is not None:
        return True
    if not depth or v.head not in ARITHMETIC or not keeps_shape(v):
        return False
    return any(is_undone(x, move, depth - 1) for x in v.owner.inputs if x.type.ndim)


def part_of(x, move):
    """The same part of x; what x was made of, where this undoes it."""
    before = undoing(x, move)
    return taken(x, move) if before is None else before


def taken(x, move):
    """The same part of x, as a term."""
    new = move.owner.op(x, *move.owner.inputs[1:])
    return new if len(move.owner.outputs) == 1 else new[move.index]


def undoing(x, move):
    """The part of x, where this undoes what made x; None elsewhere."""
    op, made = move.owner.op, None if x.owner is None else x.owner.op
    if isinstance(op, DimShuffle) and isinstance(made, DimShuffle):
        return composed(x.owner.inputs[0], made.new_order, op.new_order)
    if isinstance(op, Reshape) and isinstance(made, Reshape) and fits(x):
        before, back = x.owner.inputs[0], taken(x, move)
        if before.type.ndim == back.type.ndim and (back.type.ndim == 1 or same_shape(before, back)):
            return before
    if isinstance(op, Split) and isinstance(made, Join) and made.axis == op.axis and fits(x):
        wanted = taken(x, move).owner.outputs
        pieces = list(zip(x.owner.inputs, wanted, strict=False))
        if len(wanted) == len(x.owner.inputs) and all(
            y.type.dtype == x.type.dtype and same_shape(y, z) for y, z in pieces
        ):
            return x.owner.inputs[move.index]
    return None
