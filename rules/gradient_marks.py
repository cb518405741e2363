"""Marks that change gradients (`zero_grad`, `grad_clip`, …): once a graph is rewritten, its
gradients have been taken.
"""

from rewrite_engine.rules.language import *


def marks_gradients(op):
    """Whether an op is nothing but its input, to all but gradients (`gradient/stops.py`)."""
    return getattr(op, "marks_gradients", False)


@node_rewriter([marks_gradients], phase="canonicalize", claim=exact)
def gradient_mark(fgraph, node):
    """The value behind a mark is that in front of it. Not data: one rule for several ops, which are
    loaded with the gradients.

    >>> from rewrite_engine.gradient import grad_clip, zero_grad
    >>> x = vector("x")
    >>> rewritten(log(exp(zero_grad(x))) + grad_clip(x, -1, 1))
    2.0 * x
    """
    return node.inputs[0]
