"""Reductions: factors that can be pulled out, and reductions of reductions."""

import numpy as np

from rewrite_engine.facts import bounded, finite, nonzero
from rewrite_engine.language import *
from rewrite_engine.rules.indexing.place import below
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.tensor import DimShuffle, LogSumExp, Max, Min, Sum
from rewrite_engine.tensor.reduce import All, Any_, Prod
from rewrite_engine.tensor.reduction import Reduction


def merged_axes(inner, outer):
    """Return the axes of one reduction that replaces `inner` and then `outer` (None: all axes)."""
    if inner is None or outer is None:
        return None
    if any(a < 0 for a in (*inner, *outer)):
        return False
    gone = sorted(inner)
    axes = set(inner)
    for a in outer:
        for g in gone:
            a += g <= a
        axes.add(a)
    return tuple(sorted(axes))


def once(cls, x, inner, outer):
    """Return `cls` over both sets of axes, or None if they cannot be merged."""
    axes = merged_axes(inner, outer)
    return None if axes is False else cls(axis=axes)(x)


@fact
def summable(x):
    """No sum of any number of elements of x overflows, and none is NaN."""
    bounds = bounded(x)
    if not bounds or x.type.kind != "f":
        return bounds or unknown("it is not real", blame=x)
    most = float(np.finfo(x.type.dtype).max) / 2**62
    return bounds if max(map(abs, bounds.value)) < most else unknown("it may be large", blame=x)


@summable.test
def has_small_numbers(value):
    """Return whether a sum of that many of the largest numbers stays finite."""
    most = float(np.finfo(value.dtype).max) if value.dtype.kind in "fc" else np.inf
    return bool((np.abs(value) < most / 2**62).all())


@fact
def summable_in_any_order(x):
    """No sum of elements of x overflows in between, in any order. Infinities and NaN are kept."""
    if x.type.dtype in ("float16", "float32", "complex64"):
        return because(f"sums of {x.type.dtype} are computed in double precision")
    return summable(x)


@summable_in_any_order.test
def is_added_in_wider_floats(value):
    """Return whether sums have a wider dtype, or numbers are small enough."""
    return value.dtype in ("float16", "float32", "complex64") or has_small_numbers(value)


@rule(phase="canonicalize", claim=assumes("fastmath", then=approx(ulps=8)))
def sum_of_sum(x: Inexact, inner: Prop, outer: Prop):
    """One pass over the data replaces two, if no sum overflows in another order.

    >>> n = itensor3("n")
    >>> rewritten(ftensor3("x").sum(axis=0).sum(axis=1)), rewritten(cos(n).sum(axis=0).sum(axis=1))
    (Sum{axis=(0, 2)}(x), Sum{axis=(0, 2)}(cos(n)))
    >>> rewritten(tensor3("x").sum(axis=0).sum(axis=1), including=["fastmath"])
    Sum{axis=(0, 2)}(x)
    """
    return Sum(axis=outer)(Sum(axis=inner)(x)) >> compute(
        lambda x, inner, outer: once(Sum, x, inner, outer)
    ), given(assuming(summable_in_any_order(x)))


def regroups_exactly(x):
    """Return whether a sum of x is the same in any order."""
    return x.type.regroups_exactly


@rule(phase="canonicalize", claim=exact)
def sum_of_sum_exactly(x, inner: Prop, outer: Prop):
    """One sum of integers replaces two: integers wrap around alike in any order.

    >>> rewritten(itensor3("x").sum(axis=0).sum(axis=1))
    Sum{axis=(0, 2)}(x)
    """
    return Sum(axis=outer)(Sum(axis=inner)(x)) >> compute(
        lambda x, inner, outer: once(Sum, x, inner, outer)
    ), given(regroups_exactly)


@rule(phase="canonicalize", claim=exact)
def max_of_max(x, inner: Prop, outer: Prop):
    """One pass over the data replaces two.

    >>> rewritten(tensor3("x").max(axis=0).max(axis=1))
    Max{axis=(0, 2)}(x)
    """
    return Max(axis=outer)(Max(axis=inner)(x)) >> compute(
        lambda x, inner, outer: once(Max, x, inner, outer)
    )


@rule(phase="canonicalize", claim=exact)
def min_of_min(x, inner: Prop, outer: Prop):
    """One pass over the data replaces two.

    >>> rewritten(tensor3("x").min(axis=0).min(axis=1))
    Min{axis=(0, 2)}(x)
    """
    return Min(axis=outer)(Min(axis=inner)(x)) >> compute(
        lambda x, inner, outer: once(Min, x, inner, outer)
    )


@rule(phase="canonicalize")
def sum_of_neg(x: Inexact, axis: Prop, keepdims: Prop):
    """One sign at the end replaces one per element (up to the sign of a zero sum).

    >>> rewritten((-matrix("x")).sum(axis=0))
    -Sum{axis=0}(x)
    """
    total = Sum(axis=axis, keepdims=keepdims)
    return total(-x) >> -total(x)


def adds_as_well(x, c):
    """Return whether a sum of x is as precise as a sum of terms with c."""
    return promote(x.type.dtype, c.type.dtype) == x.type.dtype


def stretches(x, c):
    """Return whether a constant is finite and makes no number smaller, so that no sum overflows
    without it.
    """
    return c.type.kind == "f" and 1 <= abs(c.number) < float("inf") and adds_as_well(x, c)


@rule(phase="canonicalize", claim=approx(ulps=8))
def sum_of_stretched(x: Float, c: ConstantNumber, axis: Prop, keepdims: Prop):
    """One product at the end replaces one per element.

    >>> rewritten((3 * matrix("x")).sum(axis=0))
    3.0 * Sum{axis=0}(x)
    """
    total = Sum(axis=axis, keepdims=keepdims)
    return total(c * x) >> c * total(x), given(stretches)


@rule(phase="canonicalize", claim=assumes("fastmath", then=approx(ulps=8)))
def sum_of_scaled(x: Inexact, c: Scalar, axis: Prop, keepdims: Prop):
    """One product at the end replaces one per element, if sum(x) does not overflow and c is finite.

    >>> c, x, n = scalar("c"), matrix("x"), imatrix("n")
    >>> rewritten((c * x).sum(axis=0), including=["fastmath"])
    c * Sum{axis=0}(x)
    >>> rewritten((tanh(n[0, 0]) * cos(n)).sum(axis=0))
    tanh(Subtensor{0, 0}(n)) * Sum{axis=0}(cos(n))
    """
    total = Sum(axis=axis, keepdims=keepdims)
    return total(c * x) >> c * total(x), given(adds_as_well, assuming(finite(c), summable(x)))


def constant_along(x, y, axis):
    """Return whether `y` has the rank and precision of `x`, and length 1 along all the axes."""
    if y.type.ndim != x.type.ndim or axis is None or not adds_as_well(x, y):
        return False
    return all(y.type.broadcastable[a] for a in axis)


@rule(phase="canonicalize", claim=assumes("fastmath", then=approx(ulps=8)))
def sum_of_quotient(x: Inexact, y: Inexact, axis: Prop):
    """One quotient per sum replaces one per element, if the divisor is constant along the sum.

    Requires that sum(x) does not overflow, and that y is finite and not 0, or no sum is empty.

    >>> n = imatrix("n")
    >>> rewritten((matrix("x") / col("y")).sum(axis=1, keepdims=True), including=["fastmath"])
    Sum{axis=1, keepdims}(x) / y
    >>> rewritten((cos(n) / (2 + sin(icol("m")))).sum(axis=1, keepdims=True))
    Sum{axis=1, keepdims}(cos(n)) / (2.0 + sin(m))
    """
    total = Sum(axis=axis, keepdims=True)
    proof = assuming(summable(x), finite(y), nonzero(y))
    return total(x / y) >> total(x) / y, given(constant_along, proof)


def over_ones(name, op, claim=exact):
    """Return a row of the table `OVER_ONES`."""

    def without_axes(x, axis, keepdims):
        axes = range(x.type.ndim) if axis is None else axis
        if not all(x.type.broadcastable[a] for a in axes):
            return None
        short = x if keepdims or not axes else x.squeeze(axis=tuple(axes))
        return short if op(axis=axis)(x).type.dtype == x.type.dtype else None

    example, shown = ("(col('x') > 0)", "x > 0.0") if op in (All, Any_) else ("col('x')", "x")
    return (
        f"{name}_over_ones",
        lambda x, axis, keepdims: op(axis=axis, keepdims=keepdims)(x) >> compute(without_axes),
        claim,
        "A reduction over axes of length 1, or over no axes, only drops dimensions.",
        f"{example}.{name}(axis=1) -> DropDims{{axes=[1]}}({shown})",
    )


#: (after this, a sum of -0.0 is -0.0, not 0.0)
OVER_ONES = table(
    "over_ones",
    over_ones("sum", Sum, refines),
    over_ones("prod", Prod, refines),
    over_ones("max", Max),
    over_ones("min", Min),
    over_ones("all", All),
    over_ones("any", Any_),
    phase="canonicalize",
    axis=Prop,
    keepdims=Prop,
)


def putting_back(axis, ndim):
    """Return the reordering that restores the dimensions reduced over `axis`, with length 1."""
    gone = range(ndim) if axis is None else [a % ndim for a in axis]
    kept = iter(range(ndim))
    return tuple(["x" if a in gone else next(kept) for a in range(ndim)])


@node_rewriter(
    [DimShuffle], phase="canonicalize", claim=exact, depth=2, when=below(Reduction, LogSumExp)
)
def reduction_put_back(fgraph, node):
    """Keep the dimensions in a reduction instead of dropping and restoring them.

    Not data: it holds for every reduction.

    >>> rewritten(matrix("x").max(axis=1)[:, None])
    Max{axis=1, keepdims}(x)
    """
    inner = node.inputs[0].owner
    if inner.op.keepdims:
        return None
    if fgraph is None or len(fgraph.get_clients(node.inputs[0])) != 1:
        return None
    x = inner.inputs[0]
    if node.op.new_order != putting_back(inner.op.axis, x.type.ndim):
        return None
    return inner.op.clone(keepdims=True)(x)
