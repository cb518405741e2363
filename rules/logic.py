"""Truth values and choices."""

from rewrite_engine.rules.language import *
from rewrite_engine.tensor import invert, switch


@rule(phase="canonicalize", claim=exact)
def invert_of_invert(x):
    """Two negations cancel, bit by bit.

    >>> rewritten(~~bvector("x"))
    x
    """
    return invert(invert(x)) >> x


@rule(phase="canonicalize", claim=exact)
def switch_of_same(condition, x):
    """Both ways lead to the same place.

    >>> x = vector("x")
    >>> rewritten(switch(x > 0, x, x))
    x
    """
    return switch(condition, x, x) >> x


@rule(phase="canonicalize", claim=exact)
def switch_on_true(x, y):
    """The condition is known.

    >>> rewritten(switch(constant(True), vector("x"), 0))
    x
    """
    return switch(True, x, y) >> x


@rule(phase="canonicalize", claim=exact)
def switch_on_false(x, y):
    """The condition is known.

    >>> rewritten(switch(constant(False), 0, vector("y")))
    y
    """
    return switch(False, x, y) >> y


@rule(phase="canonicalize", claim=exact)
def switch_in_then(condition, x, y, z):
    """The same question has the same answer.

    >>> x = vector("x")
    >>> rewritten(switch(x > 0, switch(x > 0, x, 1.0), 2.0))
    switch(x > 0.0, x, 2.0)
    """
    return switch(condition, switch(condition, x, y), z) >> switch(condition, x, z)


@rule(phase="canonicalize", claim=exact)
def switch_in_else(condition, x, y, z):
    """The same question has the same answer.

    >>> x = vector("x")
    >>> rewritten(switch(x > 0, x, switch(x > 0, 1.0, 2.0)))
    switch(x > 0.0, x, 2.0)
    """
    return switch(condition, x, switch(condition, y, z)) >> switch(condition, x, z)
