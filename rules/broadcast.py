"""`second(x, y)` (y in the shape of x) and what makes it unnecessary."""

from rewrite_engine.rules.facts import same_shape
from rewrite_engine.rules.language import *
from rewrite_engine.tensor import second


@rule(phase="canonicalize", claim=exact)
def second_in_product(x: Float, y: Float):
    """The product has the shape of x anyway.

    >>> x, y = vector("x"), scalar("y")
    >>> rewritten(second(x, y) * x)
    y * x
    """
    return second(x, y) * x >> y * x


@rule(phase="canonicalize", claim=exact)
def second_in_sum(x: Float, y: Float):
    """The sum has the shape of x anyway.

    >>> x, y = vector("x"), scalar("y")
    >>> rewritten(second(x, y) + x)
    y + x
    """
    return second(x, y) + x >> y + x


@rule(phase="canonicalize", claim=exact)
def second_of_itself(x):
    """x in its own shape.

    >>> x = vector("x")
    >>> rewritten(second(x, x))
    x
    """
    return second(x, x) >> x


@rule(phase="canonicalize", claim=exact)
def second_of_second(x, y):
    """What is filled and filled again.

    >>> x, y = vector("x"), scalar("y")
    >>> rewritten(second(x, second(x, y)))
    second(x, y)
    """
    return second(x, second(x, y)) >> second(x, y)


@rule(phase="canonicalize", claim=exact)
def second_like_scalar(x: Scalar, y: Scalar):
    """0-dimensional things have one shape.

    >>> rewritten(second(scalar("x"), scalar("y")))
    y
    """
    return second(x, y) >> y


@node_rewriter([second], phase="canonicalize", claim=exact, keeps=operands_kept)
def second_of_known_shape(fgraph, node):
    """Where static shapes say that y fills x already, y is enough. Not data: it looks at types
    only.

    >>> x, y = tensor(shape=(1, 3), dtype="float64"), tensor("y", shape=(1, 3), dtype="float64")
    >>> rewritten(second(x, y))
    y
    """
    y, out = node.inputs[1], node.outputs[0]
    if None in out.type.shape or y.type is not out.type:
        return None
    return y


@rule(phase="canonicalize", claim=assumes("shape_unsafe", then=exact))
def second_of_same_shape(x, y):
    """y has the shape of x already; if not, the shapes may not fit, which is an error that is lost.

    >>> x, y = matrices("x y")
    >>> rewritten(second(x, exp(x))), rewritten(second(x, exp(y)))
    (exp(x), second(x, exp(y)))
    >>> rewritten(second(x, exp(y)), including=["shape_unsafe"])
    exp(y)
    """
    return second(x, y) >> y, given(assuming(same_shape(x, y)))
