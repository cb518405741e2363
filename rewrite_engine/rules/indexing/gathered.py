"""An index by arrays of an elementwise op becomes an index of its operands."""

from math import prod

from rewrite_engine.language import *
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.indexing.place import (
    ASSUMED_LENGTH,
    MAX_SHARE,
    below,
    comparisons,
    count,
    count_uses,
    entries_of,
)
from rewrite_engine.tensor import AdvancedSubtensor, Subtensor
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.index.template import INPUT


@node_rewriter([AdvancedSubtensor], phase="specialize", depth=2, when=below(Elemwise))
def gather_of_elementwise(fgraph, node):
    """Read the operands of an elementwise op, instead of a few elements of its result.

    Not data: it holds for every elementwise op.

    >>> x, i = matrix("x"), lvector("i")
    >>> rewritten(exp(x)[i[:5]], exp(vector("v"))[i])
    [exp(AdvancedSubtensor{i}(x, Subtensor{:5}(i))), AdvancedSubtensor{i}(exp(v), i)]
    """
    x, *arrays = node.inputs
    if set(node.op.idx_list) != {INPUT} or any(v.type.kind == "b" for v in arrays):
        return None
    if len(x.owner.outputs) > 1 or count_uses(fgraph, x) > 1 or not is_selective(x, arrays):
        return None
    operands, places = [], set()
    for k, v in enumerate(x.owner.inputs):
        more = x.type.ndim - v.type.ndim
        if more >= len(arrays):  # it has none of the dimensions
            operands.append(v)
            continue
        if more or any(v.type.broadcastable[: len(arrays)]):
            return None
        places |= {(k, d) for d in range(len(arrays))}
        operands.append(node.op(v, *arrays))
    if comparisons(fgraph, x.owner, places) != []:
        return None
    return fitting(node.outputs[0], x.owner.op(*operands))


def is_selective(x, arrays):
    """Return whether arrays of indices read few elements, if unknown lengths are equal."""
    rank = max([v.type.ndim for v in arrays])
    read = [max([at_most(v, d - rank) for v in arrays]) for d in range(rank)]
    have = [ASSUMED_LENGTH if n is None else n for n in x.type.shape[: len(arrays)]]
    return prod(read) <= MAX_SHARE * prod(have)


def at_most(v, d):
    """Return how long a dimension of an index array, counted from the end, probably is."""
    if -d > v.type.ndim:
        return 1
    if v.type.shape[d] is not None:
        return v.type.shape[d]
    if isinstance(v.head, Subtensor) and v.type.ndim == 1:
        return max([count(e, ASSUMED_LENGTH) for e in entries_of(v.owner)[0]])
    return ASSUMED_LENGTH
