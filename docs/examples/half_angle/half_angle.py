"""Functions of half an angle: a pack of two rules, used wherever the distribution is installed."""

import rewrite_engine.tensor as pt
from rewrite_engine.language import *


@rule(phase="stabilize", claim=refines, overlaps="the square has all digits, also in a logarithm")
def one_more_cos(x: Float):
    """1 + cos(x) loses every digit near π.

    >>> rewritten(1 + pt.cos(pt.vector("x")))
    2.0 * sqr(cos(x * 0.5))
    """
    return 1 + pt.cos(x) >> 2 * pt.sqr(pt.cos(x / 2))


@rule(phase="canonicalize", claim=approx(ulps=4))
def tan_of_quotient(x: Float):
    """One function call instead of two and a division.

    >>> x = pt.vector("x")
    >>> rewritten(pt.sin(x) / pt.cos(x))
    tan(x)
    """
    return pt.sin(x) / pt.cos(x) >> pt.tan(x)
