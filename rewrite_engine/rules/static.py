"""Elements that a mask selects, without their number: rules for linkers that have to know all
lengths before a call (phase "static", on request).

`x[mask]` has a length that depends on values. What is reduced over it, or written back where the
mask is true, has not.
"""

from rewrite_engine.facts import same_shape
from rewrite_engine.language import *
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.tensor import AdvancedSubtensor, All, Any_, Prod, Sum, add, switch
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor
from rewrite_engine.tensor.index.template import INPUT

WHERE = (INPUT,)
chosen = AdvancedSubtensor(WHERE)


def is_mask_of(x, mask):
    """Return whether a mask tells of each element of an array whether it is chosen. (If their
    lengths may differ, `x[mask]` may be an error, and an empty mask is none.)
    """
    return mask.type.kind == "b" and bool(same_shape(x, mask))


def fits_rank(x, keepdims):
    """Return whether a reduction of all elements has the rank that one of a vector has."""
    return x.type.ndim == 1 or not keepdims


@rule(phase="static", claim=approx(ulps=8))
def sum_of_chosen(x: Number, mask: Bool, keepdims: Prop):
    """Add zeros for the other elements.

    >>> x = vector("x")
    >>> rewritten(x[x > 0].sum(), including=["static"])
    Sum(switch(x > 0.0, x, 0.0))
    """
    total = Sum(keepdims=keepdims)
    return total(chosen(x, mask)) >> total(switch(mask, x, 0)), given(is_mask_of, fits_rank)


@rule(phase="static", claim=approx(ulps=8))
def product_of_chosen(x: Number, mask: Bool):
    """Multiply by ones for the other elements.

    >>> x = vector("x")
    >>> rewritten(prod(x[x > 0]), including=["static"])
    Prod(switch(x > 0.0, x, 1.0))
    """
    return Prod()(chosen(x, mask)) >> Prod()(switch(mask, x, 1)), given(is_mask_of)


@rule(phase="static")
def all_of_chosen(x: Bool, mask: Bool):
    """Whether all chosen elements hold: the others do.

    >>> x = vector("x")
    >>> rewritten(all((x < 3)[x > 0]), including=["static"])
    All(~(x > 0.0) | (x < 3.0))
    """
    return All()(chosen(x, mask)) >> All()(~mask | x), given(is_mask_of)


@rule(phase="static")
def any_of_chosen(x: Bool, mask: Bool):
    """Whether any chosen element holds: the others do not.

    >>> x = vector("x")
    >>> rewritten(any((x < 3)[x > 0]), including=["static"])
    Any((x < 3.0) & (x > 0.0))
    """
    return Any_()(chosen(x, mask)) >> Any_()(x & mask), given(is_mask_of)


@node_rewriter([AdvancedIncSubtensor], phase="static")
def write_of_chosen(fgraph, node):
    """Write elements where they were read, or add them there.

    Not data: the lengths of what is written are those of the mask, which only the op compares.

    >>> x = vector("x")
    >>> mask = x > 0
    >>> rewritten(set_subtensor(x[mask], exp(x)[mask]), including=["static"])
    switch(x > 0.0, exp(x), x)
    >>> rewritten(inc_subtensor(x[mask], exp(x)[mask]), including=["static"])
    switch(x > 0.0, x + exp(x), x)
    """
    x, y, *masks = node.inputs
    if y.head != chosen or y.owner.inputs[1:] != (*masks,) or not is_mask_of(x, *masks):
        return None
    read = y.owner.inputs[0]
    if not is_mask_of(read, *masks):
        return None
    new = read if node.op.set_instead_of_inc else add(x, read)
    return fitting(node.outputs[0], switch(*masks, new, x))


@node_rewriter([Elemwise], phase="static")
def elementwise_of_chosen(fgraph, node):
    """Compute an elementwise op before elements are chosen, so that a reduction finds the mask.

    Not data: it holds for every elementwise op, and any number of operands.

    >>> x = vector("x")
    >>> mask = x > 0
    >>> rewritten((exp(x[mask]) * sin(x)[mask]).sum(), including=["static"])
    Sum(switch(x > 0.0, exp(x) * sin(x), 0.0))
    """
    operands, masks = [], set()
    for v in node.inputs:
        if v.head == chosen and is_mask_of(*v.owner.inputs):
            x, mask = v.owner.inputs
            operands.append(x)
            masks.add(mask)
        elif v.type.ndim <= 1 and all(v.type.broadcastable):
            operands.append(v if v.type.ndim == 0 else v.dimshuffle())
        else:
            return None
    if len(masks) != 1 or len(node.outputs) > 1:
        return None
    return fitting(node.outputs[0], chosen(node.op(*operands), *masks))
