"""Softplus, log(1 + exp(x)), next to its argument: sums that lose their digits far out."""

from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rules.powers.forms import (
    MAX_FORM_TERMS,
    combined,
    linear,
    times,
    written,
)
from rewrite_engine.rules.powers.read import summands
from rewrite_engine.rules.removable import MENDS
from rewrite_engine.tensor import add, exp, expm1, log1mexp, neg, sigmoid, softplus, sub


@rule(phase="stabilize", claim=approx(1 << 10), overlaps="two functions cancel")
def exp_of_softplus(x: Float):
    """The logarithm is undone by the exponential.

    >>> rewritten(exp(softplus(vector("x"))))
    1.0 + exp(x)
    """
    return exp(softplus(x)) >> 1 + exp(x)


@rule(phase="stabilize", claim=approx(1 << 10), overlaps="two functions cancel")
def expm1_of_softplus(x: Float):
    """The logarithm is undone by the exponential.

    >>> rewritten(expm1(softplus(vector("x"))))
    exp(x)
    """
    return expm1(softplus(x)) >> exp(x)


@rule(phase="specialize")
def exp_of_negative_softplus(x: Float):
    """The logarithm of a sigmoid is undone by the exponential. This runs late, since a root of the
    exponential may be in range when that of the sigmoid is not.

    >>> rewritten(exp(-softplus(-vector("x"))))
    sigmoid(x)
    """
    return exp(-softplus(x)) >> sigmoid(-x)


@rule(phase="stabilize")
def expm1_of_negative_softplus(x: Float):
    """The logarithm of a sigmoid is undone by the exponential; the opposite sigmoid is left.

    >>> rewritten(1 - exp(-softplus(vector("x"))))
    sigmoid(x)
    """
    return expm1(-softplus(x)) >> -sigmoid(x)


@rule(phase="stabilize")
def log1mexp_of_negative_softplus(x: Float):
    """The rest of a sigmoid to 1 is a sigmoid; softplus(x) may underflow when its logarithm does
    not.

    >>> rewritten(log1mexp(-softplus(vector("x"))))
    -softplus(-x)
    """
    return log1mexp(-softplus(x)) >> -softplus(-x)


def may_have_softplus(op, seen, distinct):
    """Return whether a term of a sum is a softplus, with any sign."""
    return any(is_softplus(s) for s in seen)


def is_softplus(s):
    """Return whether the outline of a term may be that of a softplus, or of a negative one."""
    if head_of(s) is not neg:
        return head_of(s) is softplus
    is_deep = s.__class__ is tuple  # (else the operand is not known yet)
    return not is_deep or head_of(s[1][0]) is softplus


def signed_softplus(terms):
    """Return the softplus terms as [(sign, argument)], and the other terms."""
    found, others = [], []
    for s, t in terms:
        if t.head is softplus:
            found.append((s, t.owner.inputs[0]))
        else:
            others.append((s, t))
    return found, others


def joined(found, rest):
    """Return softplus terms and a linear form with opposite arguments joined: softplus(u) - u is
    softplus(-u). None if there are none.
    """
    for i, (s, u) in enumerate(found):
        form = linear(u)
        for j, (r, v) in enumerate(found[:i]):
            if r == -s and not combined(form, linear(v)):
                left = [pair for k, pair in enumerate(found) if k not in (i, j)]
                return left, combined(rest, form, s)
        new = combined(rest, form, s)
        if form and not any(key in new for key in form) and all(key in rest for key in form):
            turned = [*found]
            turned[i] = (s, written(times(form, -1.0), u.type.dtype))
            return turned, new
    return None


@node_rewriter(
    [add, sub],
    phase="stabilize",
    claim=approx(1 << 10),
    depth=4,
    when=may_have_softplus,
    tags=[MENDS],
)
def softplus_beside_argument(fgraph, node):
    """The two terms of x - softplus(x) cancel far out; log(sigmoid(x)) keeps the digits. Not data:
    the argument is compared as a sum.

    >>> x = vector("x")
    >>> rewritten(x - softplus(x), 2 * x + softplus(-2 * x), softplus(x) - softplus(-x))
    [-softplus(-x), softplus(2.0 * x), x]
    >>> rewritten(log(sigmoid(x)) - x)
    -softplus(x)
    """
    out = node.outputs[0]
    dtype, terms = out.type.dtype, summands(out)
    if any(t.type.dtype != dtype for _, t in terms) or len(terms) > MAX_FORM_TERMS:
        return None
    found, others = signed_softplus(terms)
    if not found or any(u.type.dtype != dtype for _, u in found):
        return None
    rest = {}
    for s, t in others:
        rest = combined(rest, linear(t), s)
    new = joined(found, rest)
    if new is None or (new[1] and new[0]):  # beside others, infinities would have other results
        return None
    term = written(new[1], dtype) if new[1] else None
    for s, u in sorted(new[0], key=lambda pair: pair[0] < 0):
        own = softplus(u)
        if term is None:
            term = own if s > 0 else -own
        else:
            term = term + own if s > 0 else term - own
    return term if term is not None and out.type.yields_to(term.type) else None
