"""Quotients of gamma functions, and sums of their logarithms: both parts overflow, or lose all
digits, long before the quotient does. If the arguments differ by a number, the quotient is a
product or a Pochhammer symbol; three gamma functions may be a beta function.

Formulas: NIST Digital Library of Mathematical Functions, 5.5.1, 5.2.5, 5.12.1.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from rewrite_engine.facts import finite, nonneg, positive
from rewrite_engine.gradient import zero_grad
from rewrite_engine.language import *
from rewrite_engine.rules.powers.forms import ONE, combined, linear, product_of, written
from rewrite_engine.rules.powers.power import Power
from rewrite_engine.rules.powers.read import summands
from rewrite_engine.rules.powers.spell import Spelling
from rewrite_engine.rules.removable import MENDS
from rewrite_engine.tensor import (
    abs,
    add,
    and_,
    beta,
    betaln,
    binom,
    eq,
    exp,
    gamma,
    gammaln,
    ge,
    log,
    lt,
    mul,
    neg,
    or_,
    poch,
    reciprocal,
    sub,
    switch,
    true_div,
)

MAX_STEPS = 8  # by which arguments may differ
ALL_POLES_BELOW = -(2.0**53)  # numbers without a fraction


class GammaPart(NamedTuple):
    """A factor that replaces gamma functions. log: a function that makes its logarithm."""

    term: object
    power: int
    log: Callable


def joined(above, below, dtype):
    """Return parts that replace some of the gamma functions of a quotient, and the others; None if
    there are none. above, below: arguments.
    """
    for up, down, sign in ((above, below, 1), (below, above, -1)):
        for c in down:
            for i, a in enumerate(up):
                for b in up[:i]:
                    parts = of_beta(a, b, c, sign, dtype)
                    if parts:
                        rest = without(up, a, b), without(down, c)
                        return parts, *(rest if sign > 0 else rest[::-1])
    for a in above:
        for b in below:
            parts = of_pair(a, b, dtype)
            if parts:
                return parts, without(above, a), without(below, b)
    return None


def without(arguments, *used):
    """Return a list without some of its items, each once."""
    rest = list(arguments)
    for a in used:
        rest.remove(a)
    return rest


def number_between(a, b):
    """Return the number by which two linear forms differ; None if there is none, or 0."""
    c = combined(a, b, -1.0)
    return c[ONE] if list(c) == [ONE] else None


def of_beta(a, b, c, sign, dtype):
    """Return gamma(a) gamma(b) / gamma(c), or its reciprocal, as parts, if c is a + b or 1 less."""
    whole = combined(combined(linear(a), linear(b)), linear(c), -1.0)
    if whole and (list(whole) != [ONE] or whole[ONE] != 1):
        return None
    if whole and sign < 0:
        return [binomial_part(a, b, c, dtype)]
    parts = [GammaPart(beta(a, b), sign, lambda: betaln(a, b))]
    return parts + [GammaPart(c, sign, lambda: log(abs(c)))] if whole else parts


def binomial_part(a, b, c, dtype):
    """Return gamma(c) / gamma(a) / gamma(b), for c = a + b - 1, as a binomial coefficient."""
    a, b = sorted([a, b], key=lambda v: len(linear(v)))
    n, k = [written(combined(linear(v), {ONE: -1.0}), dtype) for v in (c, a)]
    return GammaPart(binom(n, k), 1, lambda: -(betaln(a, b) + log(abs(c))))


def of_pair(a, b, dtype):
    """Return gamma(a) / gamma(b) as parts, if a - b is a number other than 0."""
    n = number_between(linear(a), linear(b))
    if not n or math.fabs(n) > MAX_STEPS:
        return None
    if linear(b if n > 0 else a).get(ONE, 0.0) < 0:
        return None  # a difference may be rounded to a pole
    if n != int(n):
        return [GammaPart(poch(b, n), 1, lambda: log_of_poch(b, n))]
    first = linear(b if n > 0 else a)
    steps = [
        written(combined(first, {ONE: float(i)} if i else {}), dtype)
        for i in range(int(math.fabs(n)))
    ]
    return [GammaPart(t, 1 if n > 0 else -1, lambda t=t: log(abs(t))) for t in steps]


def log_of_poch(b, n):
    """Return log(|gamma(b + n) / gamma(b)|), also where the quotient is subnormal."""
    return log(abs(poch(b + 1.0, n))) + (log(abs(b)) - log(abs(b + n)))


def replaced(above, below, dtype):
    """Return all parts for a quotient of gamma functions, and the arguments of the others."""
    parts = []
    while found := joined(above, below, dtype):
        parts, above, below = parts + found[0], found[1], found[2]
    return parts, above, below


def arguments_of(counts, dtype):
    """Return the arguments of gamma functions above and below, [..., ...], each as often as it
    occurs; None if they occur too often.
    """
    if any(q != int(q) or math.fabs(q) > 4 for q in counts.values()):
        return None
    if any(v.type.dtype != dtype for v in counts):
        return None
    return [[v for v, q in counts.items() if q * s > 0 for _ in range(int(q * s))] for s in (1, -1)]


def is_inside(arguments):
    """Return a term for whether arguments are finite and not below 0; None if all are known to be.
    Of arguments that differ by numbers, the smallest decides.
    """
    tests, seen = [], []
    for v in sorted(arguments, key=lambda v: linear(v).get(ONE, 0.0)):
        form = linear(v)
        if any(not rest or list(rest) == [ONE] for rest in [combined(form, u, -1.0) for u in seen]):
            continue
        seen.append(form)
        tests += [] if nonneg(v) else [ge(v, 0.0)]
        tests += [] if finite(v) else [lt(v, math.inf)]
    return None if not tests else and_(*tests) if len(tests) > 1 else tests[0]


def joined_quotient(node):
    """Return a quotient without gamma functions that can be joined; the same with all of them, for
    arguments of any sign; and the arguments. None if there are none.
    """
    out = node.outputs[0]
    if out.type.kind != "f":
        return None
    number, powers = product_of(out)
    counts = {v.owner.inputs[0]: q for v, q in powers.items() if v.head is gamma}
    sides = arguments_of(counts, out.type.dtype)
    parts, *rest = ([],) if sides is None else replaced(*sides, out.type.dtype)
    if not parts:
        return None
    others = {v: q for v, q in powers.items() if v.head is not gamma}
    found = [(part.term, part.power) for part in parts]
    found += [(gamma(v), s) for s, side in zip((1, -1), rest, strict=True) for v in side]
    new = dict(others)
    for v, q in found:
        new[v] = new.get(v, 0) + q
    new = {v: q for v, q in new.items() if q}
    above = [gamma(v) for v in sides[0]]
    below = [reciprocal(gamma(v)) for v in sides[1]]
    factors = [*above, *below]
    if others or number != 1:
        factors.append(Spelling(Power(number, others=others)).term(out.type.dtype))
    made = Spelling(Power(number, others=new)).term(out.type.dtype)
    return made, mul(*factors), [v for side in sides for v in side]


def may_have_gamma(op, seen, distinct):
    """Return whether both sides of a quotient may have gamma functions."""
    heads = [s[0] if s.__class__ is tuple else s for s in seen]
    return all(head in (gamma, mul, true_div) for head in heads) and gamma in heads


@node_rewriter(
    [true_div], phase="stabilize", claim=approx(1 << 12), depth=4, when=may_have_gamma, tags=[MENDS]
)
def quotient_of_gammas(fgraph, node):
    """Gamma functions overflow when their quotient does not. Not data: their arguments are
    compared as sums. (At poles, and of infinities, the value is that of the quotient as written.)

    >>> a = 2 + sin(ivector("n"))
    >>> rewritten(gamma(a + 1) / gamma(a), gamma(a + 0.5) / gamma(a))
    [2.0 + sin(n), poch(2.0 + sin(n), 0.5)]
    """
    found = joined_quotient(node)
    if found is None:
        return None
    new, as_written, arguments = found
    inside = is_inside(arguments)
    if inside is not None:
        inside = or_(inside, eq(new, as_written))
        new = new * switch(inside, 1.0, zero_grad(as_written / new))
    return typed(new, node.outputs[0])


def typed(new, out):
    """Return a term, if it has the type of another one."""
    return new if out.type.yields_to(new.type) else None


def have_gammaln(op, seen, distinct):
    """Return whether a sum may have two logarithms of gamma functions."""
    heads = [s[0] if s.__class__ is tuple else s for s in seen]
    return gammaln in heads and (distinct or len(heads) > 2)


@node_rewriter(
    [add, sub], phase="stabilize", claim=approx(1 << 12), depth=4, when=have_gammaln, tags=[MENDS]
)
def sum_of_gammalns(fgraph, node):
    """The logarithms of gamma functions are large when their difference is not. Not data: their
    arguments are compared as sums. (At poles, below 0, differences of them have no value.)

    >>> a, x = 2 + sin(ivector("n")), vector("x")
    >>> rewritten(gammaln(a + 1) - gammaln(a), gammaln(x + 1) - gammaln(x))
    [log(2.0 + sin(n)), gammaln(x + 1.0) - gammaln(x)]
    """
    out = node.outputs[0]
    if out.type.kind != "f":
        return None
    counts, others = {}, []
    for s, t in summands(out):
        if t.head is gammaln:
            v = t.owner.inputs[0]
            counts[v] = counts.get(v, 0) + s
        else:
            others.append((s, t))
    sides = arguments_of(counts, out.type.dtype)
    if sides is None or not all(map(nonneg, sides[1])):
        return None
    parts, *rest = replaced(*sides, out.type.dtype)
    if not parts:
        return None
    terms = [(part.power, part.log()) for part in parts]
    terms += [(s, gammaln(v)) for s, side in zip((1, -1), rest) for v in side]
    new = sum_of([*others, *terms])
    return new if out.type.yields_to(new.type) else None


def sum_of(terms):
    """Return a sum of terms with signs."""
    above, below = [[t for s, t in terms if s == sign] for sign in (1, -1)]
    new = add(*above) if len(above) > 1 else above[0] if above else None
    for t in below:
        new = neg(t) if new is None else new - t
    return new


@rule(phase="specialize")
def exp_of_gammaln(x: Float):
    """The exponential of a large logarithm loses digits. (Below 0, gamma functions have signs. This
    runs late, since a root of the exponential may be in range when that of the function is not.)

    >>> rewritten(exp(gammaln(1 + vector("x") ** 2)))
    gamma(1.0 + sqr(x))
    """
    return exp(gammaln(x)) >> gamma(x), given(positive(x))
