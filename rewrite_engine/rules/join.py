"""Joined arrays, and vectors built from numbers."""

from rewrite_engine.language import *
from rewrite_engine.tensor import DimShuffle, MakeVector, join


@rule(phase="canonicalize", claim=exact)
def join_of_join(axis: Prop, xs: Rest, ys: Rest, zs: Rest):
    """One copy of the data replaces two.

    >>> x, y, z = vectors("x y z")
    >>> rewritten(join(0, x, join(0, y, z)))
    Join{axis=0}(x, y, z)
    """
    return join(axis, *xs, join(axis, *ys), *zs) >> join(axis, *xs, *ys, *zs)


@rule(phase="canonicalize", claim=exact)
def join_of_one(axis: Prop, x):
    """Remove a join of a single array.

    >>> rewritten(Join(0)(vector("x")))
    x
    """
    return join(axis, x) >> x


@rule(phase="canonicalize", claim=exact)
def number_in_a_vector(x: Scalar, dtype: Prop):
    """Remove a vector of one number if only that number is read.

    >>> rewritten(MakeVector("bool")(scalar("x") > 0).all())
    x > 0.0
    """
    return DimShuffle(1, ())(MakeVector(dtype)(x)) >> x
