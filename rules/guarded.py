"""Guarded gradients: what cancels or is stabilised in a product shall do so behind a `switch`, too.

The gradient of `switch(c, log(p), 0)` is `switch(c, y / p, 0)`, and goes on to be multiplied with p
(`gradient/masked.py` says why the zero stands outside).
"""

from rewrite_engine.rules.facts import same_dtype
from rewrite_engine.rules.language import *
from rewrite_engine.tensor import invert, switch
from rewrite_engine.tensor.special import Softmax


@rule(phase="stabilize", claim=exact)
def quotient_in_else(c: Bool, x, y):
    """The rules below know one form.

    >>> x, y = matrices("x y")
    >>> rewritten(switch(y > 0, 0.0, x / y))
    switch(~(y > 0.0), x / y, 0.0)
    """
    return switch(c, 0, x / y) >> switch(invert(c), x / y, 0)


@rule(phase="stabilize", claim=exact)
def softmax_into_switch(c, x, y, z, v: Real, axis: Prop):
    """A probability meets the quotient that it cancels.

    >>> x, y = matrices("x y")
    >>> p = softmax(x, axis=1)
    >>> rewritten(switch(y > 0, y / p, 0) * p)
    switch(y > 0.0, switch(isnan(Softmax{axis=(1,)}(x)), Softmax{axis=(1,)}(x), y),
        0.0 * Softmax{axis=(1,)}(x))
    """
    p = Softmax(axis=axis)(v)
    return switch(c, x / y, z) * p >> switch(c, x / y * p, z * p), given(same_dtype(x, y, z))
