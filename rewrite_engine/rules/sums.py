"""Reductions of functions, and differences of sums: what can be computed after a reduction, and
variances.
"""

import math

import numpy as np

from rewrite_engine.facts import bounded, finite, nonneg, positive
from rewrite_engine.facts import length as known_length
from rewrite_engine.facts.arrays import length_read
from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.indexing.place import count_uses
from rewrite_engine.rules.products import is_plain_sum
from rewrite_engine.rules.shape import length
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import (
    All,
    CumOp,
    Max,
    Min,
    Prod,
    Subtensor,
    Sum,
    add,
    arcsinh,
    arctan,
    cast,
    cbrt,
    erf,
    exp,
    expm1,
    ifelse,
    isfinite,
    log,
    log2,
    log10,
    mul,
    neg,
    sigmoid,
    sinh,
    softplus,
    sqr,
    sqrt,
    sub,
    switch,
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


def of_monotone(row, greatest, least):
    """Return the rows of a table for both extrema of each function that increases, and of the
    negative, which changes one into the other. row: a function of the name of the function, the
    function, what is computed of it, and what is computed of its argument instead.
    """
    names = INCREASING.items()
    increasing = [row(name, f, kind, kind) for name, f in names for kind in (greatest, least)]
    return [*increasing, row("neg", neg, greatest, least), row("neg", neg, least, greatest)]


OF_EXTREMA = table(
    "of_extrema",
    *of_monotone(of_extremum, Max, Min),
    phase="specialize",
    x=Float,
    axis=Prop,
    keepdims=Prop,
)


def of_nonneg_extremum(name, function, reduce):
    """Return a row of the table `OF_NONNEG_EXTREMA`."""
    kind = reduce.__name__.lower()
    return (
        f"{kind}_of_{name}",
        lambda x, axis, keepdims: (
            reduce(axis=axis, keepdims=keepdims)(function(x))
            >> function(reduce(axis=axis, keepdims=keepdims)(x)),
            given(nonneg(x)),
        ),
        refines,
        "A monotone function of one extremum replaces a function of each element (NaN stays NaN).",
        f"{name}(abs(vector('x'))).{kind}() -> {name}({reduce.__name__}(abs(x)))",
    )


#: functions that increase from 0 on, and have no value below
INCREASING_FROM_ZERO = {"log": log, "log2": log2, "log10": log10, "sqrt": sqrt}

OF_NONNEG_EXTREMA = table(
    "of_nonneg_extrema",
    *[of_nonneg_extremum(*f, kind) for f in INCREASING_FROM_ZERO.items() for kind in (Max, Min)],
    phase="specialize",
    x=Float,
    axis=Prop,
    keepdims=Prop,
)


def is_negative(c):
    """Return whether a number is known, and below 0."""
    return c.head is CONSTANT and c.type.kind == "f" and c.number < 0


def of_moved(name, sides, example, *conditions):
    """Return a row of the table `OF_MOVED`. sides: a function of both extrema, x and a number.
    conditions: functions of the number that return guards; it must also be finite.
    """

    def both_sides(x, c, axis, keepdims):
        extrema = Max(axis=axis, keepdims=keepdims), Min(axis=axis, keepdims=keepdims)
        guards = [condition(c) for condition in conditions]
        return sides(*extrema, x, c), given(*guards, assuming(finite(c)))

    why = "A number moves an extremum; it need not move each element."
    return name, both_sides, assumes("fastmath", then=refines), why, example


OF_MOVED = table(
    "of_moved_extrema",
    of_moved("max_of_moved", lambda most, least, x, c: most(x + c) >> most(x) + c,
             "(vector('x') + 2).max() -> Max(x) + 2.0"),
    of_moved("min_of_moved", lambda most, least, x, c: least(x + c) >> least(x) + c,
             "(vector('x') + 2).min() -> Min(x) + 2.0"),
    of_moved("max_of_moved_back", lambda most, least, x, c: most(x - c) >> most(x) - c,
             "(vector('x') - 2).max() -> Max(x) - 2.0"),
    of_moved("min_of_moved_back", lambda most, least, x, c: least(x - c) >> least(x) - c,
             "(vector('x') - 2).min() -> Min(x) - 2.0"),
    of_moved("max_of_distance", lambda most, least, x, c: most(c - x) >> c - least(x),
             "(2 - vector('x')).max() -> 2.0 - Min(x)"),
    of_moved("min_of_distance", lambda most, least, x, c: least(c - x) >> c - most(x),
             "(2 - vector('x')).min() -> 2.0 - Max(x)"),
    of_moved("max_of_multiple", lambda most, least, x, c: most(c * x) >> c * most(x),
             "(2 * vector('x')).max() -> 2.0 * Max(x)", positive),
    of_moved("min_of_multiple", lambda most, least, x, c: least(c * x) >> c * least(x),
             "(2 * vector('x')).min() -> 2.0 * Min(x)", positive),
    of_moved("max_of_negative_multiple", lambda most, least, x, c: most(c * x) >> c * least(x),
             "(-2 * vector('x')).max() -> -2.0 * Min(x)", lambda c: is_negative),
    of_moved("min_of_negative_multiple", lambda most, least, x, c: least(c * x) >> c * most(x),
             "(-2 * vector('x')).min() -> -2.0 * Max(x)", lambda c: is_negative),
    phase="specialize",
    x=Float,
    c=Scalar,
    axis=Prop,
    keepdims=Prop,
)  # fmt: skip

OF_QUOTIENTS = table(
    "of_moved_extrema",
    of_moved("max_of_quotient", lambda most, least, x, c: most(x / c) >> most(x) / c,
             "(vector('x') / 3).max() -> Max(x) / 3.0", positive),
    of_moved("min_of_quotient", lambda most, least, x, c: least(x / c) >> least(x) / c,
             "(vector('x') / 3).min() -> Min(x) / 3.0", positive),
    phase="specialize",
    overlaps={"constants/quotient_over_constant": "one quotient is of a single number"},
    x=Float,
    c=Scalar,
    axis=Prop,
    keepdims=Prop,
)  # fmt: skip


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


def finite_elements(x, axis, above, below):
    """Return the elements; NaN where a running sum is not finite."""
    later = later_elements(x, axis, above, below)
    if later is None:
        return None
    sums = Subtensor(below)(CumOp(axis=axis)(x))
    return ifelse(isfinite(Sum()(x)), later, switch(isfinite(sums), later, math.nan))


@rule(phase="canonicalize", claim=refines)
def difference_of_finite_sums(x, axis: Prop, above: Prop, below: Prop):
    """The differences of running sums are the elements, if these are finite.

    >>> rewritten(diff(cumsum(lvector("n")))), rewritten(diff(cumsum(cos(ivector("k")))))
    (Subtensor{1:}(n), Subtensor{1:}(cos(k)))
    """
    running = CumOp(axis=axis, mode="add")
    left = Subtensor(above)(running(x)) - Subtensor(below)(running(x))
    return left >> compute(later_elements), given(finite(x))


@rule(phase="canonicalize", claim=approx(ulps=8), tags=["reorder"], ends=at_most(1))
def difference_of_running_sums(x: Inexact, axis: Prop, above: Prop, below: Prop):
    """The differences of running sums are the elements, as long as these are finite.

    >>> rewritten(diff(cumsum(vector("x"))))
    ifelse(isfinite(Sum(x)), Subtensor{1:}(x),
           switch(isfinite(Subtensor{:-1}(CumOp{axis=0, mode='add'}(x))), Subtensor{1:}(x), nan))
    """
    running = CumOp(axis=axis, mode="add")
    left = Subtensor(above)(running(x)) - Subtensor(below)(running(x))
    return left >> compute(finite_elements)


def is_scaled(op, seen, distinct):
    """Return whether an operand is a product or a quotient."""
    return head_of(seen[0]) in (mul, true_div)


@node_rewriter([Sum], phase="specialize", claim=backward(4), depth=2, when=is_scaled)
def factor_of_sum(fgraph, node):
    """Multiply sums of the factors, if each axis belongs to one of them, instead of summing up
    products. If a result is not finite, the sum is computed as written.

    Not data: the axes decide which factors are summed up together.

    >>> rewritten((matrix("a") * vector("v")[:, None]).sum(axis=1))
    ifelse(All(isfinite(Sum{axis=1}(a) * v)), Sum{axis=1}(a) * v,
           Sum{axis=1, acc_dtype=float64}(a * ExpandDims{axes=[1]}(v)))
    >>> rewritten(outer(vector("u"), vector("v")).sum())
    ifelse(isfinite(Sum(u) * Sum(v)), Sum(u) * Sum(v),
           Sum{acc_dtype=float64}(ExpandDims{axes=[1]}(u) * ExpandDims{axes=[0]}(v)))
    """
    x, op = node.inputs[0], node.op
    if x.type.ndim < 2 or not is_plain_sum(op) or count_uses(fgraph, x) > 1:
        return None
    if any(v.type.dtype != "float64" for v in (x, *x.owner.inputs)):
        return None
    axes, factors = op.axes(x.type.ndim), factors_of(fgraph, x)
    groups = by_axes(factors, x.type.ndim, axes) if x.head is mul else [[v] for v in factors]
    if x.head is true_div and varying(factors[1], x.type.ndim) & {*axes}:
        return None
    if any(x.type.broadcastable[a] for a in axes) or not pays_to_split(x, groups, axes):
        return None
    sums = [summed(mul(*group) if len(group) > 1 else group[0], x, op) for group in groups]
    return if_finite(node, x.head(*sums))


def if_finite(node, fast):
    """Return the faster form of a sum if its results are finite, else the sum as written, in a form
    that no rule splits again.
    """
    (x,), op = node.inputs, node.op
    if fitting(node.outputs[0], fast) is None:
        return None
    as_written = Sum(axis=op.axis, keepdims=op.keepdims, acc_dtype=x.type.dtype)(x)
    is_finite = isfinite(fast)
    return ifelse(All()(is_finite) if fast.type.ndim else is_finite, fast, as_written)


def is_sum(op, seen, distinct):
    """Return whether an operand is a sum or a difference."""
    return head_of(seen[0]) in (add, sub)


@node_rewriter([Sum], phase="specialize", claim=backward(4), depth=2, when=is_sum)
def sum_of_outer_sum(fgraph, node):
    """Sum up the terms of a sum that is larger than all of them, instead of all their sums. If a
    result is not finite, the sum is computed as written.

    Not data: the axes decide which term is summed up, and which one is repeated.

    >>> u, v = vector("u", shape=(3,)), vector("v", shape=(4,))
    >>> rewritten((u[:, None] + v).sum())
    ifelse(isfinite(Sum(u) * 4.0 + Sum(v) * 3.0), Sum(u) * 4.0 + Sum(v) * 3.0,
           Sum{acc_dtype=float64}(ExpandDims{axes=[1]}(u) + v))
    """
    x, op = node.inputs[0], node.op
    if x.type.ndim < 2 or not is_plain_sum(op) or count_uses(fgraph, x) > 1:
        return None
    if any(v.type.dtype != "float64" for v in (x, *x.owner.inputs)):
        return None
    whole, axes = varying(x, x.type.ndim), {*op.axes(x.type.ndim)}
    own = [varying(v, x.type.ndim) for v in x.owner.inputs]
    if whole in own or not axes <= whole or not all([axes & dims for dims in own]):
        return None
    totals = []
    for v, dims in zip(x.owner.inputs, own, strict=True):
        repeats = [cast(length(x, d), "float64") for d in sorted(axes - dims)]
        totals.append(mul(summed(v, x, op), *repeats) if repeats else summed(v, x, op))
    return if_finite(node, x.head(*totals))


def varying(v, ndim):
    """Return the dimensions of a result of some rank in which an operand has several elements."""
    more = ndim - v.type.ndim
    return {more + d for d, one in enumerate(v.type.broadcastable) if not one}


def factors_of(fgraph, x):
    """Return the factors of a product from the left to the right, as they are multiplied."""
    first, *rest = x.owner.inputs
    while x.head is mul and first.head is mul and count_uses(fgraph, first) == 1:
        first, *more = first.owner.inputs
        rest = [*more, *rest]
    return [first, *rest]


def by_axes(factors, ndim, axes):
    """Return the factors of a product in groups: those that vary along common axes of a sum."""
    groups = []
    for v in factors:
        own = varying(v, ndim) & {*axes}
        met = [g for g in groups if g[0] & own]
        first = met[0] if met else (set(), [])
        if not met:
            groups.append(first)
        for g in met[1:]:
            first[1].extend(g[1])
            groups = [h for h in groups if h is not g]
        first[0].update(own, *[g[0] for g in met])
        first[1].append(v)
    return [factors for _, factors in groups]


def pays_to_split(x, groups, axes):
    """Return whether sums of groups of factors read less than the product has, or an array that is
    in memory anyway. (A product with 0 stands for the NaNs of an array.)
    """
    if len(groups) < 2 or any(v.head is CONSTANT and v.number == 0 for v in x.owner.inputs):
        return False
    whole = varying(x, x.type.ndim)
    for group in groups:
        own = [varying(v, x.type.ndim) for v in group]
        if set().union(*own) != whole or not set().union(*own) & {*axes}:
            continue
        full = [v for v, dims in zip(group, own, strict=True) if dims == whole]
        if len(full) == len(group) > 1 or any(isinstance(v.head, Elemwise) for v in full):
            return False
    return True


def summed(v, x, op):
    """Return a factor summed up along its own axes of a sum, without the others."""
    more, axes = x.type.ndim - v.type.ndim, op.axes(x.type.ndim)
    over = varying(v, x.type.ndim) & {*axes}
    dims = [d for d in range(more, x.type.ndim) if op.keepdims or d in over or d not in axes]
    if not op.keepdims:
        later = [d for d in dims if d not in over and not v.type.broadcastable[d - more]]
        first = min([d for d in range(x.type.ndim) if x.type.broadcastable[d]] + later, default=99)
        dims = [d for d in dims if d in over or d >= first]
    if len(dims) < v.type.ndim:
        v = v.dimshuffle(*[d - more for d in dims])
    at = tuple([k for k, d in enumerate(dims) if d in over])
    return Sum(axis=at, keepdims=op.keepdims)(v) if at else v
