"""Marks that change gradients (`zero_grad`, `grad_clip`, …): gradients have been taken before a
graph is rewritten.
"""

from rewrite_engine.language import *


def marks_gradients(op):
    """Return whether an op returns its input and only changes gradients (`gradient/stops.py`)."""
    return getattr(op, "marks_gradients", False)


@node_rewriter([marks_gradients], phase="canonicalize", claim=exact)
def gradient_mark(fgraph, node):
    """Remove a mark that changes only gradients, as its value is its input. Not data: one rule for
    several ops, which are loaded with the gradients.

    >>> from rewrite_engine.gradient import grad_clip, zero_grad
    >>> x = vector("x")
    >>> rewritten(log(exp(zero_grad(x))) + grad_clip(x, -1, 1))
    2.0 * x
    """
    return node.inputs[0]
