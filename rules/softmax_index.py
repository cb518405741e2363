"""Some elements of a softmax: the logarithm of the probability of a label, `log(p[i])`, and its
gradient. Each rule is there for basic indices, and for those in arrays.
"""

from functools import partial, update_wrapper
from inspect import signature

from rewrite_engine.match.ruleset import Table
from rewrite_engine.rules.facts import same_dtype
from rewrite_engine.rules.language import *
from rewrite_engine.rules.softmax import of_all, puts_back, same_slices, stands_beside, unless_nan
from rewrite_engine.tensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    DimShuffle,
    IncSubtensor,
    Subtensor,
    Sum,
    exp,
    log,
    second,
)
from rewrite_engine.tensor.special import LogSoftmax, ScaledExp, Softmax

#: the ops that take what an index names, by name, and those that write there
KINDS = {
    "_at_index": (Subtensor, IncSubtensor),
    "_at_indices": (AdvancedSubtensor, AdvancedIncSubtensor),
}


def at_both(fn=None, **options):
    """Make two rules, `…_at_index…` and `…_at_indices…`, of a function of the ops of a kind of
    indices and of the variables. options: those of `@rule`.
    """
    if fn is None:
        return partial(at_both, **options)
    made = []
    for kind, ops in KINDS.items():
        one = update_wrapper(partial(fn, ops), fn)
        one.__name__ = fn.__name__.replace("_at_index", kind)
        one.__signature__ = signature(partial(fn, ops))
        made.append(rule(one, phase="stabilize", **options))
    return Table(made)


@at_both
def log_of_softmax_at_index(ops, x: Real, axis: Prop, template: Prop, i: Rest):
    """A probability underflows to 0; its logarithm need not.

    >>> x = vector("x")
    >>> rewritten(log(softmax(x)[-1]))
    Subtensor{-1}(LogSoftmax{axis=None}(x))
    >>> x, i = matrix("x"), ivector("i")
    >>> rewritten(log(softmax(x, axis=1)[i, i]))
    AdvancedSubtensor{i, i}(LogSoftmax{axis=(1,)}(x), i, i)
    """
    at = ops[0](idx_list=template)
    return log(at(Softmax(axis=axis)(x), *i)) >> at(LogSoftmax(axis=axis)(x), *i)


def is_number(x, axis, keepdims):
    """Whether a sum over `axis` is one number, beside whatever it stands."""
    return of_all(x, axis) and not keepdims


@at_both
def softmax_at_index_cancels(ops, y, x: Real, axis: Prop, keepdims: Prop, template: Prop, i: Rest):
    """(y / p[i]) / sum(exp(x)) * exp(x)[i], the gradient of log(p[i]), also where p[i] underflows.

    >>> x, y = vector("x"), scalar("y")
    >>> e = exp(x)
    >>> rewritten(y / (e / e.sum())[2] / e.sum() * e[2])
    switch(isnan(Subtensor{2}(ScaledExp{axis=None}(x))), Subtensor{2}(ScaledExp{axis=None}(x)), y)
    >>> x, y, i = vector("x"), vector("y"), ivector("i")
    >>> e = exp(x)
    >>> rewritten(y / (e / e.sum())[i] / e.sum() * e[i])
    switch(isnan(AdvancedSubtensor{i}(ScaledExp{axis=None}(x), i)),
        AdvancedSubtensor{i}(ScaledExp{axis=None}(x), i), y)
    """
    at, e = ops[0](idx_list=template), exp(x)
    s, p = Sum(axis=axis, keepdims=keepdims)(e), at(Softmax(axis=axis)(x), *i)
    right = unless_nan(at(ScaledExp(axis=axis)(x), *i), y)
    return (y / p / s) * at(e, *i) >> right, given(is_number)


def all_zero(zeros, x):
    """Whether a term is zeros in the shape of x (if their lengths fit)."""
    if zeros.head is not second or zeros.type.broadcastable != x.type.broadcastable:
        return False
    return getattr(zeros.owner.inputs[1], "number", None) == 0


def scattered(ops, template, zeros, y, p, x, i):
    """Zeros with y / p[i] added at i, and with y (in the shape of x[i]) added there."""
    take, write = ops
    at, add_at = take(idx_list=template), write(idx_list=template, set_instead_of_inc=False)
    return add_at(zeros, y / at(p, *i), *i), add_at(zeros, second(at(x, *i), y), *i)


@at_both
def softmax_cancels_at_index(
    ops, zeros: Real, y: Real, x: Real, axis: Prop, template: Prop, i: Rest
):
    """The gradient of log(p[i]), also where p[i] underflows to 0.

    >>> x, y = vector("x"), scalar("y")
    >>> p = softmax(x)
    >>> rewritten(inc_subtensor(zeros_like(p)[2], y / p[2]) * p)
    switch(isnan(Softmax{axis=None}(x)), Softmax{axis=None}(x),
        IncSubtensor{2}(second(Softmax{axis=None}(x), 0.0), second(Subtensor{2}(x), y)))
    >>> x, y, i = vector("x"), vector("y"), ivector("i")
    >>> p = softmax(x)
    >>> rewritten(AdvancedIncSubtensor(("i",))(zeros_like(p), y / p[i], i) * p)
    switch(isnan(Softmax{axis=None}(x)), Softmax{axis=None}(x),
        AdvancedIncSubtensor{i}(second(Softmax{axis=None}(x), 0.0),
        second(AdvancedSubtensor{i}(x, i), y), i))
    """
    p = Softmax(axis=axis)(x)
    there, right = scattered(ops, template, zeros, y, p, x, i)
    return there * p >> unless_nan(p, right), given(all_zero)


@at_both
def softmax_cancels_at_index_in_product(
    ops, zeros: Real, y: Real, x: Real, axis: Prop, keepdims: Prop, template: Prop, i: Rest
):
    """The same where the softmax is written out.

    >>> x, y = vector("x"), scalar("y")
    >>> e = exp(x)
    >>> rewritten(inc_subtensor(zeros_like(x)[2], y / (e / e.sum())[2]) / e.sum() * e)
    switch(isnan(ScaledExp{axis=None}(x)), ScaledExp{axis=None}(x),
        IncSubtensor{2}(second(x, 0.0), second(Subtensor{2}(x), y)))
    >>> x, y, i = vector("x"), vector("y"), ivector("i")
    >>> e = exp(x)
    >>> there = AdvancedIncSubtensor(("i",))(zeros_like(x), y / (e / e.sum())[i], i)
    >>> rewritten(there / e.sum() * e)
    switch(isnan(ScaledExp{axis=None}(x)), ScaledExp{axis=None}(x),
        AdvancedIncSubtensor{i}(second(x, 0.0), second(AdvancedSubtensor{i}(x, i), y), i))
    """
    p = Softmax(axis=axis)(x)
    there, right = scattered(ops, template, zeros, y, p, x, i)
    left = there / Sum(axis=axis, keepdims=keepdims)(exp(x)) * exp(x)
    return left >> unless_nan(ScaledExp(axis=axis)(x), right), given(stands_beside, all_zero)


def is_of_all(x, axis):
    """Whether a sum over `axis` is one number."""
    return of_all(x, axis)


def is_put_back(w, x, axis, n, order):
    """Whether w, of the rank of the sum, is given that of x."""
    return puts_back(x, w, axis, n, order)


@rule(phase="stabilize")
def softmax_cancels_at_index_in_gradient(
    y: Real, w: Real, x: Real, axis: Prop, n: Prop, order: Prop, template: Prop, i: Rest
):
    """The same where numerator and denominator were written with one exponential.

    >>> x, y, w = vector("x"), scalar("y"), scalar("w")
    >>> e = exp(x)
    >>> s = e.sum()
    >>> rewritten(inc_subtensor(second(e, (w / s)[None])[2], y / (e / s)[2] / s) * e)
    IncSubtensor{2}(ExpandDims{axes=[0]}(w / Sum(ScaledExp{axis=None}(x)))
        * ScaledExp{axis=None}(x), second(Subtensor{2}(x), y))
    """
    e, at = exp(x), Subtensor(idx_list=template)
    add_at = IncSubtensor(idx_list=template, set_instead_of_inc=False)
    p, total, turn = at(Softmax(axis=axis)(x), *i), Sum(axis=axis), DimShuffle(n, order)
    left = add_at(second(e, turn(w / total(e))), y / p / total(e), *i) * e
    scaled = ScaledExp(axis=axis)(x)
    right = add_at(turn(w / total(scaled)) * scaled, second(at(x, *i), y), *i)
    return left >> right, given(is_of_all, is_put_back)


@rule(phase="stabilize")
def softmax_cancels_at_indices_in_gradient(
    y: Real, v: Real, x: Real, axis: Prop, keepdims: Prop, template: Prop, i: Rest
):
    """The same for indices in arrays.

    >>> x, y, v, i = vector("x"), vector("y"), vector("v"), ivector("i")
    >>> e = exp(x)
    >>> s = e.sum()
    >>> outer = second(e, (v / s).sum(keepdims=True))
    >>> rewritten(AdvancedIncSubtensor(("i",))(outer, y / (e / s)[i] / s, i) * e)
    AdvancedIncSubtensor{i}(Sum{keepdims}(v / Sum(ScaledExp{axis=None}(x)))
        * ScaledExp{axis=None}(x), second(AdvancedSubtensor{i}(x, i), y), i)
    """
    e, at = exp(x), AdvancedSubtensor(idx_list=template)
    add_at = AdvancedIncSubtensor(idx_list=template, set_instead_of_inc=False)
    p, scaled = at(Softmax(axis=axis)(x), *i), ScaledExp(axis=axis)(x)
    outer, total = Sum(axis=axis, keepdims=True), Sum(axis=axis, keepdims=keepdims)
    left = add_at(second(e, outer(v / total(e))), y / p / total(e), *i) * e
    right = add_at(outer(v / total(scaled)) * scaled, second(at(x, *i), y), *i)
    return left >> right, given(is_number, same_slices)


@at_both(claim=approx(ulps=8))
def softmax_gradient_of_log_at_index(
    ops, zeros: Real, y: Real, v, x: Real, axis: Prop, keepdims: Prop, template: Prop, i: Rest
):
    """What comes through numerator and denominator of log(p[i]), with one exponential.

    >>> x, v, y = vector("x"), vector("v"), scalar("y")
    >>> e = exp(x)
    >>> s = e.sum(keepdims=True)
    >>> there = inc_subtensor(zeros_like(x)[0], y / (e / s)[0])
    >>> rewritten((there / s + second(e, (v / s).sum(keepdims=True))) * e)
    IncSubtensor{0}(second(x, 0.0), second(Subtensor{0}(x), y))
        + Sum{keepdims}(v / Sum{keepdims}(ScaledExp{axis=None}(x))) * ScaledExp{axis=None}(x)
    >>> x, v, y, i = vector("x"), vector("v"), vector("y"), ivector("i")
    >>> e = exp(x)
    >>> s = e.sum(keepdims=True)
    >>> there = AdvancedIncSubtensor(("i",))(zeros_like(x), y / (e / s)[i], i)
    >>> rewritten((there / s + second(e, (v / s).sum(keepdims=True))) * e)
    AdvancedIncSubtensor{i}(second(x, 0.0), second(AdvancedSubtensor{i}(x, i), y), i)
        + Sum{keepdims}(v / Sum{keepdims}(ScaledExp{axis=None}(x))) * ScaledExp{axis=None}(x)
    """
    p = Softmax(axis=axis)(x)
    outer, total, e = Sum(axis=axis, keepdims=True), Sum(axis=axis, keepdims=keepdims), exp(x)
    scaled = ScaledExp(axis=axis)(x)
    there, right = scattered(ops, template, zeros, y, p, x, i)
    left = (there / total(e) + second(e, outer(v / total(e)))) * e
    right = right + outer(v / total(scaled)) * scaled
    return left >> right, given(stands_beside, same_slices, all_zero, same_dtype(x, y, zeros))
