"""Reductions of functions, and differences of sums: what can be computed after a reduction, and
variances.
"""

import numpy as np

from rewrite_engine.facts import bounded, finite
from rewrite_engine.facts import length as known_length
from rewrite_engine.facts.arrays import length_read
from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.indexing.place import count_uses
from rewrite_engine.rules.products import is_plain_sum
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import (
    All,
    CumOp,
    Max,
    Min,
    Prod,
    Subtensor,
    Sum,
    arcsinh,
    arctan,
    cast,
    cbrt,
    erf,
    exp,
    expm1,
    ifelse,
    isfinite,
    mul,
    neg,
    sigmoid,
    sinh,
    softplus,
    sqr,
    tanh,
    true_div,
)
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.index.template import Slice
from rewrite_engine.tensor.reshape import as_many


def of_extremum(name, function, reduce, after):
    """Return a row of the table `OF_EXTREMA`. after: the reduction that is taken first."""
    kind, shown = reduce.__name__.lower(), after.__name__
    example = f"-{shown}(x)" if function is neg else f"{name}({shown}(x))"
    return (
        f"{kind}_of_{name}",
        lambda x, axis, keepdims: (
            reduce(axis=axis, keepdims=keepdims)(function(x))
            >> function(after(axis=axis, keepdims=keepdims)(x))
        ),
        refines,
        "A monotone function of one extremum replaces a function of each element (NaN stays NaN).",
        f"{name}(vector('x')).{kind}() -> {example}",
    )


#: functions that increase, and have a value for every number
INCREASING = {
    "exp": exp, "expm1": expm1, "tanh": tanh, "sigmoid": sigmoid, "softplus": softplus,
    "arctan": arctan, "sinh": sinh, "arcsinh": arcsinh, "cbrt": cbrt, "erf": erf,
}  # fmt: skip

OF_EXTREMA = table(
    "of_extrema",
    *[of_extremum(name, f, r, r) for name, f in INCREASING.items() for r in (Max, Min)],
    of_extremum("neg", neg, Max, Min),
    of_extremum("neg", neg, Min, Max),
    phase="specialize",
    x=Float,
    axis=Prop,
    keepdims=Prop,
)


@fact
def small(x):
    """The exponential of each element is a normal number, far from overflow."""
    if x.type.dtype != "float64":
        return unknown("it is no float64", blame=x)
    bounds = bounded(x)
    if not bounds:
        return bounds
    return bounds if max(map(abs, bounds.value)) < 700 else unknown("it may be large", blame=x)


@small.test
def has_normal_exponentials(value):
    """Return whether the exponential of each element is a normal number."""
    return bool((np.abs(value) < 700).all())


@rule(
    phase="specialize",
    claim=assumes("fastmath", then=approx(ulps=1 << 10)),
    tags=["reorder"],
)
def prod_of_exp(x: Float, axis: Prop, keepdims: Prop):
    """One exponential replaces one of each element, if no exponential is extreme. (The exponential
    of a sum is off by up to half the sum, in units in the last place.)

    >>> rewritten(prod(exp(sin(ivector("n"))))), rewritten(prod(exp(vector("y"))))
    (exp(Sum(sin(n))), Prod(exp(y)))
    >>> rewritten(prod(exp(vector("y"))), including=["fastmath"])
    exp(Sum(y))
    """
    product = Prod(axis=axis, keepdims=keepdims)
    total = Sum(axis=axis, keepdims=keepdims)
    return product(exp(x)) >> exp(total(x)), given(assuming(small(x)))


# --- variances ------------------------------------------------------------------------------------


def counts(x, axis, n):
    """Return whether a number is known to be the number of elements along the axes."""
    axes = range(x.type.ndim) if axis is None else axis
    if all(x.type.broadcastable[a] for a in axes):
        return False
    while isinstance(n.head, Elemwise) and isinstance(n.head.scalar_op, Cast):
        n = n.owner.inputs[0]
    factors = n.owner.inputs if n.head is mul else [n]
    read = [length_read(f) for f in factors]
    whole = [int(k) if isinstance(k, int | float) and k == int(k) else k for k in read]
    return bool(as_many([known_length(x, a).value for a in axes], whole))


def mean_square_deviation(x, axis, n):
    """Return the mean of squared deviations from the mean."""
    mean = Sum(axis=axis, keepdims=True)(x) / n
    return Sum(axis=axis)(sqr(x - mean)) / n


@rule(phase="canonicalize", claim=approx(ulps=8), ends=at_most(1))
def variance_by_squares(x: Float, axis: Prop, n: Scalar):
    """Compute a variance from deviations: the difference of mean square and squared mean loses all
    digits if the mean is large.

    >>> x = vector("x")
    >>> rewritten(sqr(x).mean() - sqr(x.mean()), excluding=["sum_of_squares"])
    Sum(sqr(x - Sum{keepdims}(x) / Cast{float64}(Shape_i{i=0}(x)))) / Cast{float64}(Shape_i{i=0}(x))
    """
    total = Sum(axis=axis)
    return total(sqr(x)) / n - sqr(total(x) / n) >> compute(mean_square_deviation), given(counts)


# --- running sums, and factors --------------------------------------------------------------------


def later_elements(x, axis, above, below):
    """Return the elements whose running sums are subtracted from the next ones; None for other
    differences.
    """
    before = (Slice(),) * axis
    if above != (*before, Slice(1)) or below != (*before, Slice(None, -1)):
        return None
    return cast(Subtensor(above)(x), CumOp(axis=axis)(x).type.dtype)


@rule(phase="canonicalize", claim=assumes("fastmath", then=refines))
def difference_of_running_sums(x, axis: Prop, above: Prop, below: Prop):
    """The differences of running sums are the elements, if these are finite.

    >>> rewritten(diff(cumsum(lvector("n")))), rewritten(diff(cumsum(cos(ivector("k")))))
    (Subtensor{1:}(n), Subtensor{1:}(cos(k)))
    """
    running = CumOp(axis=axis, mode="add")
    left = Subtensor(above)(running(x)) - Subtensor(below)(running(x))
    return left >> compute(later_elements), given(assuming(finite(x)))


def is_scaled(op, seen, distinct):
    """Return whether an operand is a product or a quotient."""
    return head_of(seen[0]) in (mul, true_div)


@node_rewriter([Sum], phase="specialize", claim=backward(4), depth=2, when=is_scaled)
def factor_of_sum(fgraph, node):
    """Multiply the sums of a matrix with what is constant along them, instead of each element. If a
    result is not finite, the sum is computed as written.

    Not data: the factor may be on either side, or the divisor.

    >>> rewritten((matrix("a") * vector("v")[:, None]).sum(axis=1))
    ifelse(All(isfinite(Sum{axis=1}(a) * v)), Sum{axis=1}(a) * v,
           Sum{axis=1, acc_dtype=float64}(a * ExpandDims{axes=[1]}(v)))
    """
    x, op, out = node.inputs[0], node.op, node.outputs[0]
    axes = op.axes(x.type.ndim)
    if op.keepdims or not is_plain_sum(op):
        return None
    if any(v.type.dtype != "float64" for v in (x, *x.owner.inputs)):
        return None
    if x.type.ndim < 2 or count_uses(fgraph, x) > 1 or len(x.owner.inputs) != 2:
        return None
    for k in range(x.head is true_div, 2):
        factor, whole = x.owner.inputs[k], x.owner.inputs[1 - k]
        if not can_leave(x, factor, whole, axes):
            continue
        operands = [without_axes(factor, x.type.ndim, axes), op(whole)]
        fast = fitting(out, x.head(*(operands if k == 0 else operands[::-1])))
        if fast is not None:  # (the same sum, in a form that no rule splits again)
            as_written = Sum(axis=op.axis, acc_dtype=x.type.dtype)(x)
            return ifelse(All()(isfinite(fast)), fast, as_written)
    return None


def can_leave(x, factor, whole, axes):
    """Return whether a factor is constant along the axes of an array that is in memory anyway."""
    if factor.head is CONSTANT and factor.number == 0:
        return False  # (such a product stands for the NaNs of an array)
    more = x.type.ndim - factor.type.ndim
    constant = all(a < more or factor.type.broadcastable[a - more] for a in axes)
    dense = not any(x.type.broadcastable[a] for a in axes) and whole.type.ndim == x.type.ndim
    dense = dense and not any(whole.type.broadcastable[a] for a in axes)
    return constant and dense and not isinstance(whole.head, Elemwise)


def without_axes(v, ndim, axes):
    """Return a factor without the dimensions of a sum."""
    more = ndim - v.type.ndim
    kept = [d for d in range(ndim) if d not in axes and d >= more]
    order = [d - more for d in kept]
    return v if order == [*range(v.type.ndim)] else v.dimshuffle(*order)
