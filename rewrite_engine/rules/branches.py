"""Branches (`ifelse`): only one of the two is computed."""

from rewrite_engine.language import *
from rewrite_engine.tensor.flow.branches import ifelse


@rule(phase="canonicalize", claim=exact)
def ifelse_of_same(c: Scalar, x):
    """Both branches give the same result.

    >>> x = vector("x")
    >>> rewritten(ifelse(scalar("c"), log(exp(x)), x))
    x
    """
    return ifelse(c, x, x) >> x


@rule(phase="canonicalize", claim=exact)
def ifelse_on_true(x, y):
    """A condition that is constant selects the first branch.

    >>> rewritten(ifelse(constant(2), vector("x"), vector("y")))
    x
    """
    return ifelse(True, x, y) >> x


@rule(phase="canonicalize", claim=exact)
def ifelse_on_false(x, y):
    """A condition that is constant selects the second branch.

    >>> rewritten(ifelse(constant(0), vector("x"), vector("y")))
    y
    """
    return ifelse(False, x, y) >> y


@rule(phase="canonicalize", claim=exact)
def ifelse_in_then(c: Scalar, x, y, z):
    """Inside the first branch, the same condition is true.

    >>> c, x = scalar("c"), vector("x")
    >>> rewritten(ifelse(c, ifelse(c, x, -x), exp(x)))
    ifelse(c, x, exp(x))
    """
    return ifelse(c, ifelse(c, x, y), z) >> ifelse(c, x, z)


@rule(phase="canonicalize", claim=exact)
def ifelse_in_else(c: Scalar, x, y, z):
    """Inside the second branch, the same condition is false.

    >>> c, x = scalar("c"), vector("x")
    >>> rewritten(ifelse(c, exp(x), ifelse(c, -x, x)))
    ifelse(c, exp(x), x)
    """
    return ifelse(c, x, ifelse(c, y, z)) >> ifelse(c, x, z)
