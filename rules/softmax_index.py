"""Some elements of a softmax: the logarithm of the probability of a label, `log(p[i])`, and its
gradient. Each rule is there for basic indices, and for those in arrays.
"""

from functools import partial, update_wrapper
from inspect import signature

from rewrite_engine.match.ruleset import Table
from rewrite_engine.rules.facts import same_dtype
from rewrite_engine.rules.language import *
from rewrite_engine.rules.monomials.linear import MANY
from rewrite_engine.rules.softmax import of_all, same_slices, stands_beside, unless_nan
from rewrite_engine.tensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    DimShuffle,
    IncSubtensor,
    Subtensor,
    Sum,
    add,
    exp,
    log,
    neg,
    second,
    sub,
    true_div,
)
from rewrite_engine.tensor.gather import increments
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


def same_rank(z, x):
    """Whether a term has the shape of x, if their lengths fit."""
    return z.type.broadcastable == x.type.broadcastable


def all_zero(z, x):
    """Whether a term is zeros in the shape of x (if their lengths fit)."""
    if z.head is not second or not same_rank(z, x):
        return False
    return getattr(z.owner.inputs[1], "number", None) == 0


def is_scattered(z, x):
    """The same, perhaps with something added at other indices."""
    return all_zero(increments(z, MANY)[1], x)


def is_divided(z, y):
    """Whether what is added at one of the indices is a quotient, or a sum of such."""
    todo = [y, *[v for _, v, _ in increments(z, MANY)[0]]]
    for v in todo:
        if v.head is true_div:
            return True
        if v.head in (add, sub, neg, second) and len(todo) < MANY:
            todo += v.owner.inputs
    return False


def is_apart(z, x):
    """Whether (z + y) * x may be z * x + y * x: where z is 0, or x no infinity (of which a y that
    is 0 would make NaN).
    """
    return all_zero(z, x) or (same_rank(z, x) and isinstance(x.head, Softmax))


def is_over(y, p):
    """Whether a term is divided by a part of a softmax, which cancels. (It is NaN as a whole.)"""
    if y.head is not true_div or not isinstance(p.owner.inputs[0].head, Softmax):
        return False
    below = y.owner.inputs[1]
    return below.head == p.head and below.owner.inputs == p.owner.inputs


def multiplied(z, x):
    """z * x, with x at the index of what is added there."""
    added, base = increments(z, MANY)
    is_zero = all_zero(base, x)
    found = base if is_zero else base * x
    for op, y, i in reversed(added):
        part = op.take(x, i)
        found = op(found, second(part, y.owner.inputs[0]) if is_over(y, part) else y * part, *i)
    return unless_nan(x, found) if is_zero else found


@at_both
def product_at_index(ops, z: Real, y: Real, x: Real, template: Prop, i: Rest):
    """What is divided at an index meets there what it is multiplied with: so in the gradient of
    log(p[i]), also where p[i] underflows to 0.

    >>> x, y = vector("x"), scalar("y")
    >>> p = softmax(x)
    >>> rewritten(inc_subtensor(zeros_like(p)[2], y / p[2]) * p)
    switch(isnan(Softmax{axis=None}(x)), Softmax{axis=None}(x),
        IncSubtensor{2}(second(Softmax{axis=None}(x), 0.0),
        second(Subtensor{2}(Softmax{axis=None}(x)), y)))
    >>> e, i, y = exp(x), ivector("i"), vector("y")
    >>> rewritten(AdvancedIncSubtensor(("i",))(zeros_like(x), y / e[i], i) * e)
    switch(isnan(exp(x)), exp(x), AdvancedIncSubtensor{i}(second(x, 0.0),
        switch(isnan(AdvancedSubtensor{i}(x, i)), AdvancedSubtensor{i}(x, i), y), i))
    """

    def added(z, y, template, i):
        return ops[1](idx_list=template, set_instead_of_inc=False)(z, y, *i)

    right = compute(lambda z, y, x, template, i: multiplied(added(z, y, template, i), x))
    return added(z, y, template, i) * x >> right, given(is_apart, is_divided, same_dtype(x, y, z))


@at_both
def softmax_cancels_at_index_in_product(
    ops, z: Real, y: Real, x: Real, axis: Prop, keepdims: Prop, template: Prop, i: Rest
):
    """It meets a softmax that is written out, too.

    >>> x, y = vector("x"), scalar("y")
    >>> e = exp(x)
    >>> rewritten(inc_subtensor(zeros_like(x)[2], y / (e / e.sum())[2]) / e.sum() * e)
    switch(isnan(Softmax{axis=None}(x)), Softmax{axis=None}(x), IncSubtensor{2}(second(x, 0.0),
        second(Subtensor{2}(Softmax{axis=None}(x)), y)))
    >>> x, y, i = vector("x"), vector("y"), ivector("i")
    >>> e = exp(x)
    >>> there = AdvancedIncSubtensor(("i",))(zeros_like(x), y / (e / e.sum())[i], i)
    >>> rewritten(there / e.sum() * e)
    switch(isnan(Softmax{axis=None}(x)), Softmax{axis=None}(x),
        AdvancedIncSubtensor{i}(second(x, 0.0),
        second(AdvancedSubtensor{i}(Softmax{axis=None}(x), i), y), i))
    """
    there = ops[1](idx_list=template, set_instead_of_inc=False)(z, y, *i)
    left = there / Sum(axis=axis, keepdims=keepdims)(exp(x)) * exp(x)
    right = there * Softmax(axis=axis)(x)
    return left >> right, given(stands_beside, is_scattered, is_divided, same_dtype(x, y, z))


def is_over_sum(z, x):
    """Whether all to which something is added is divided by a sum of exponentials of x, so that
    their scale cancels.
    """
    todo = [increments(z, MANY)[1]]
    while todo:
        v = todo.pop()
        if v.head is second or isinstance(v.head, DimShuffle | Sum):
            todo.append(v.owner.inputs[-1])
        elif v.head is add or v.head is neg:
            todo += v.owner.inputs
        elif v.head is not true_div or not is_sum_of_exp(v.owner.inputs[1], x):
            return False
    return True


def is_sum_of_exp(v, x):
    e = v.owner.inputs[0] if isinstance(v.head, Sum) else v
    return e is not v and e.head is exp and e.owner.inputs[0] is x


@at_both(claim=approx(ulps=8))
def softmax_cancels_at_index(
    ops, z: Real, y: Real, x: Real, axis: Prop, keepdims: Prop, template: Prop, i: Rest
):
    """The same where numerator and denominator were written with one exponential.

    >>> x, y = vector("x"), scalar("y")
    >>> e = exp(x)
    >>> s = e.sum()
    >>> rewritten(inc_subtensor(second(e, 1 / s)[2], y / (e / s)[2] / s) * e)
    IncSubtensor{2}(1.0 / Sum(ScaledExp{axis=None}(x)) * ScaledExp{axis=None}(x),
        switch(isnan(Subtensor{2}(ScaledExp{axis=None}(x))),
        Subtensor{2}(ScaledExp{axis=None}(x)), y))
    >>> i, y = ivector("i"), vector("y")
    >>> rewritten(AdvancedIncSubtensor(("i",))(second(e, 1 / s), y / (e / s)[i] / s, i) * e)
    AdvancedIncSubtensor{i}(1.0 / Sum(ScaledExp{axis=None}(x)) * ScaledExp{axis=None}(x),
        switch(isnan(AdvancedSubtensor{i}(ScaledExp{axis=None}(x), i)),
        AdvancedSubtensor{i}(ScaledExp{axis=None}(x), i), y), i)
    """
    take, write = ops
    at, add_at = take(idx_list=template), write(idx_list=template, set_instead_of_inc=False)
    e, p, total = exp(x), at(Softmax(axis=axis)(x), *i), Sum(axis=axis, keepdims=keepdims)
    right = add_at(z * e, unless_nan(at(ScaledExp(axis=axis)(x), *i), y), *i)
    left = add_at(z, y / p / total(e), *i) * e
    return left >> right, given(is_number, same_rank, is_over_sum, same_dtype(x, y, z))


@at_both(claim=approx(ulps=8))
def softmax_gradient_of_log_at_index(
    ops, z: Real, y: Real, v, x: Real, axis: Prop, keepdims: Prop, template: Prop, i: Rest
):
    """What comes through numerator and denominator of log(p[i]), where the sum keeps its rank.

    >>> x, v, y = vector("x"), vector("v"), scalar("y")
    >>> e = exp(x)
    >>> s = e.sum(keepdims=True)
    >>> there = inc_subtensor(zeros_like(x)[0], y / (e / s)[0])
    >>> rewritten((there / s + second(e, (v / s).sum(keepdims=True))) * e)
    switch(isnan(Softmax{axis=None}(x)), Softmax{axis=None}(x), IncSubtensor{0}(second(x, 0.0),
        second(Subtensor{0}(Softmax{axis=None}(x)), y)))
        + Sum{keepdims}(v / Sum{keepdims}(ScaledExp{axis=None}(x))) * ScaledExp{axis=None}(x)
    >>> x, v, y, i = vector("x"), vector("v"), vector("y"), ivector("i")
    >>> e = exp(x)
    >>> s = e.sum(keepdims=True)
    >>> there = AdvancedIncSubtensor(("i",))(zeros_like(x), y / (e / s)[i], i)
    >>> rewritten((there / s + second(e, (v / s).sum(keepdims=True))) * e)
    switch(isnan(Softmax{axis=None}(x)), Softmax{axis=None}(x),
        AdvancedIncSubtensor{i}(second(x, 0.0),
        second(AdvancedSubtensor{i}(Softmax{axis=None}(x), i), y), i))
        + Sum{keepdims}(v / Sum{keepdims}(ScaledExp{axis=None}(x))) * ScaledExp{axis=None}(x)
    """
    e, scaled, p = exp(x), ScaledExp(axis=axis)(x), Softmax(axis=axis)(x)
    outer, total = Sum(axis=axis, keepdims=True), Sum(axis=axis, keepdims=keepdims)
    there = ops[1](idx_list=template, set_instead_of_inc=False)(z, y, *i)
    left = (there / total(e) + second(e, outer(v / total(e)))) * e
    right = there * p + outer(v / total(scaled)) * scaled
    return left >> right, given(
        is_scattered, is_divided, stands_beside, same_slices, same_dtype(x, y, z)
    )
