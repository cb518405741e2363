"""Logarithms of products and sums that overflow or underflow. Each function at risk has a
logarithm in range, and these logarithms are combined.

    log(exp(x)) = x                     log(a * b) = log(a) + log(b)
    log(sigmoid(x)) = -softplus(-x)     log(a + b) = logaddexp(log(a), log(b))
    log(erfc(x)) = logerfc(x)           log(a - b) = logdiffexp(log(a), log(b))

A logarithm is taken only of terms that are known not to be below 0, and of one other factor if the
original term has a logarithm. The logarithm of a term is read once, from those of its operands.
"""

import math
from functools import partial

import numpy as np

from rewrite_engine.facts import nonneg, nonzero, positive
from rewrite_engine.gradient import zero_grad
from rewrite_engine.graph.node import Variable
from rewrite_engine.language import *
from rewrite_engine.rules.powers.differences import log_of_difference, log_of_rest
from rewrite_engine.rules.powers.forms import (
    MAX_FORM_TERMS,
    added,
    combined,
    is_other_width,
    number_of,
    squared,
    widened,
    written,
)
from rewrite_engine.rules.powers.known_logs import (
    KNOWN,
    LOG_OF_0,
    Log,
    as_float,
    is_above_zero,
    of_number,
    product_of_signs,
    weighted,
)
from rewrite_engine.rules.powers.power import Power
from rewrite_engine.rules.powers.products import showing, with_nans
from rewrite_engine.rules.powers.rays import is_rounded_integer
from rewrite_engine.rules.powers.read import SUMS, is_itself, power, summands
from rewrite_engine.rules.powers.spell import Spelling, is_below_zero
from rewrite_engine.tensor import (
    Max,
    Prod,
    Softmax,
    Sum,
    abs,
    and_,
    eq,
    erf,
    erfcx,
    exp,
    expm1,
    gt,
    isinf,
    isnan,
    log,
    log1mexp,
    logaddexp,
    logcosh,
    logdiffexp,
    logerfc,
    maximum,
    minimum,
    or_,
    pow,
    second,
    softplus,
    sqrt,
    sub,
    switch,
)
from rewrite_engine.tensor import sign as pt_sign
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp

#: largest arguments of exponentials that stay in the range of a dtype
MAX_EXPONENT = {"float64": 700.0, "float32": 85.0, "float16": 9.0}


def log_of(v, sign=1):
    """Return the `Log` of a float, or of its opposite; None if its sign is not known."""
    number = number_of(v)
    if number is not None:
        return of_number(sign * number) if sign * number > 0 else None
    if v.type.kind != "f":
        return log_if_positive(v) if sign > 0 else None
    return log_record(v, sign).value


@fact(depth=3)
def log_record(v, sign):
    """Properties of a logarithm (`Evidence.value`)."""
    return because("it is the logarithm of a term", value=read_log(v, sign))


def log_if_positive(v):
    """Return the logarithm as written, if its sign is known."""
    return Log(lambda: log(v), strict=is_above_zero(v)) if nonneg(v) else None


def read_log(v, sign):
    """Return the logarithm of a term that is never below 0."""
    p = power(v)
    if is_itself(p, v):
        found = log_of_other(v) if sign > 0 else log_of_opposite(v)
    else:
        found = log_of_power(p._replace(number=sign * p.number), v.type.dtype)
    return log_if_positive(v) if found is None and sign > 0 else found


# --- products -------------------------------------------------------------------------------------


def log_of_power(p, dtype, alone=False):
    """Return the logarithm of a product. alone: the term is a logarithm of this product, which need
    not be above 0, so the sign of one factor may be unknown.
    """
    known, unknown = log_of_others(p.others, dtype)
    odd = [f for f, q in p.factors.items() if (f.kind == -1 or f.kind is erf) and q % 2]
    signs = [x.sign for _, x in known if x.sign is not None]
    doubtful = len(odd) + bool(unknown) + sum([not (x.certain or x.sign) for _, x in known])
    if doubtful > 1 or (p.number < 0 and not (odd or unknown or signs)) or (odd and signs):
        return None
    may_be_0 = [f for f, q in p.factors.items() if q > 0 and (f.kind == -1 or f.kind is erf)]
    strict = all(x.strict for _, x in known) and all(map(is_never_one, may_be_0))
    if doubtful and not all(x.strict or x.sign for _, x in known):
        return None  # 0 has no sign
    certain = not (doubtful or signs) or (len(odd) == 1 and has_sign(odd[0], p.number))
    if unknown and not alone:
        return None
    is_better = p.form or any(f.kind is not erf for f in p.factors)
    if not is_better and not any(x.better for _, x in known):
        return None
    vanishes = bool(p.form) or any(f.kind != -1 for f in p.factors)
    vanishes = vanishes or any(x.vanishes for _, x in known)
    make = partial(log_of_product, p, known, unknown, dtype)
    sign = None if unknown or not signs else partial(product_of_signs, p.number, signs)
    return Log(make, True, vanishes, None, certain, strict, sign)


def log_of_product(p, known, unknown, dtype):
    """Return the term for the logarithm of a product."""
    p, parts = without_cosh(p, dtype)
    parts += log_of_exponentials(p, dtype) or log_of_functions(p, dtype)
    parts += [(c, x.make()) for c, x in known]
    if unknown:
        parts.append(log_of_unknown(p.number, known, unknown, dtype))
    if math.fabs(p.number) != 1:
        parts.append((1.0, math.log(math.fabs(p.number))))
    value = as_float(weighted(parts), dtype)
    return with_nans(value, p.lost, showing([value])) if p.lost else value


def log_of_unknown(number, known, unknown, dtype):
    """Return the logarithm of the factors with unknown sign, with the signs of all others, as
    (coefficient, term).
    """
    signs = [x.sign for _, x in known if x.sign is not None]
    powers = {q for _, q in unknown}
    outer = powers.pop() if len(powers) == 1 else 1.0
    factors = {v: q / outer if q % 1 else int(q / outer) for v, q in unknown}
    own = Spelling(Power(others=factors)).term(dtype)
    own = own * product_of_signs(number, signs) if signs else -own if number < 0 else own
    return outer, log(own)


def without_cosh(p, dtype):
    """Return a power without t**-k (1 + t**2k) = 2 cosh(k u), and the logarithms of these factors:
    [(coefficient, term)].
    """
    parts = []
    for f, q in p.factors.items():
        rest = combined(p.form, f.form(0.5 * q)) if f.kind == 1 else p.form
        if rest is not p.form and not any(key in rest for key, _ in f.ray):
            parts.append((float(q), logcosh(written(f.form(0.5), dtype))))
            p = p._replace(number=p.number * 2.0**q, form=rest, factors=added(p.factors, {f: -q}))
    return p, parts


def log_of_others(others, dtype):
    """Return the logarithms of the other factors, [(power, Log)], and the factors with unknown
    sign, [(factor, power)].
    """
    known, unknown = [], []
    for v, q in others.items():
        x = log_of(widened(v, dtype))
        if x is not None and q % 2 == 0 and x.sign is not None:
            x = x._replace(sign=None, certain=True)  # no power of it is below 0
        if x is not None and q % 2 == 0 and not x.certain:
            x = None  # it may be below 0, and its power is not
        if x is not None and x.sign is not None and q % 1:
            x = None  # such a power of a negative number is NaN
        if x is not None and (q > 0 or x.better or is_above_zero(v)):
            known.append((float(q), x))
        elif q % 2 == 0:
            known.append(
                (float(q), Log(partial(log_of_size, v, dtype), strict=q < 0 or bool(nonzero(v))))
            )
        else:
            unknown.append((widened(v, dtype), float(q)))
    return known, unknown


def log_of_size(v, dtype):
    """Return the logarithm of |v|."""
    return log(abs(widened(v, dtype)))


def is_never_one(f):
    """Return whether exp(u) of a factor 1 - exp(u) is known not to be 1, except by rounding."""
    return f.kind == -1 and all(isinstance(key, Variable) and positive(key) for key, _ in f.ray)


def has_sign(f, number):
    """Return whether number * (1 - exp(u)) is known not to be below 0."""
    if f.kind is erf:
        return False
    return bool(is_below_zero(f.form(1.0 if number > 0 else -1.0)))


def log_of_exponentials(p, dtype):
    """Return the logarithm of exp(x) + exp(y) or exp(x) - exp(y), if the known part is one."""
    ((f, q), *more) = p.factors.items() or [(None, 0)]
    if more or q != 1 or not f.on_ray:
        return []
    whole = combined(p.form, f.form())
    if not p.form or not whole or max(len(p.form), len(whole)) >= len(f.ray):
        return []  # (parts that cancel in neither may be two infinities)
    a, b = written(p.form, dtype), written(whole, dtype)
    if f.kind == 1:
        return [(1.0, logaddexp(a, b))]
    return [(1.0, logdiffexp(a, b) if p.number > 0 else logdiffexp(b, a))]


def log_of_functions(p, dtype):
    """Return the logarithms of the known part of a product: [(coefficient, term)]."""
    form, parts = p.form, []
    for f, q in p.factors.items():
        u = written(f.form(), dtype) if f.on_ray else written(dict(f.ray), dtype)
        if f.kind is erf:
            v = erf(u) if p.number > 0 else -erf(u)
            parts.append((float(q), log(v) if q % 2 else log(abs(v))))
        elif f.kind == 1:
            parts.append((float(q), softplus(u)))
        elif f.kind is erfcx:  # log(erfcx(u)) is log(erfc(u)) + u**2
            form = combined(form, squared(dict(f.ray)), q)
            parts.append((float(q), logerfc(u)))
        elif q % 2 == 0:
            parts += [(float(q), maximum(u, 0.0)), (float(q), log1mexp(-abs(u)))]
        elif p.number > 0:
            parts.append((float(q), log1mexp(u)))
        else:
            form = combined(form, f.form(), q)
            parts.append((float(q), log1mexp(-u)))
    form, parts = softplus_turned(form, parts, p, dtype)
    return [(1.0, written(form, dtype)), *parts] if form else parts


def softplus_turned(form, parts, p, dtype):
    """Replace u - softplus(u) by -softplus(-u)."""
    for i, (f, q) in enumerate(p.factors.items()):
        if f.kind != 1:
            continue
        left = combined(form, f.form(), q)
        if sum(map(math.fabs, left.values())) < sum(map(math.fabs, form.values())):
            form = left
            parts[i] = (float(q), softplus(written(f.form(-1.0), dtype)))
    return form, parts


# --- what is no product ---------------------------------------------------------------------------


def log_of_other(v):
    """Return the logarithm of a term that is no product, if it is better than as written."""
    head = v.head
    if isinstance(head, Softmax):
        return Log(lambda: LogSoftmax(axis=head.axis)(v.owner.inputs[0]), True, True)
    if isinstance(head, Sum):
        return log_of_sum_along_axes(v)
    if isinstance(head, Prod):
        return log_of_product_along_axes(v)
    if head in SUMS:
        return log_of_whole_sum(v, summands(v))
    if head is switch:
        return joined_logs(v, v.owner.inputs[1:], lambda *found: switch(v.owner.inputs[0], *found))
    if head is pow or head is sqrt:
        return log_of_any_power(v)
    if head in KNOWN:
        return KNOWN[head](*v.owner.inputs)
    if head is abs:
        return log_of_modulus(v.owner.inputs[0])
    if is_other_width(v):
        inner = log_of(v.owner.inputs[0])
        return inner if inner is not None and inner.better else None
    return log_of_moved(v) if moves(head) else None


def log_of_modulus(x):
    """Return the logarithm of |x|: that of x if it is known wherever x is below 0, too; half of
    that of its square, whose factors are above 0, if x is a product.
    """
    found, p = log_of(x), power(x)
    if found is not None and found.better and (found.certain or found.sign):
        return found._replace(sign=None, certain=True)
    if found is not None and found.of_modulus is not None:
        return Log(found.of_modulus, True, True)
    if is_itself(p, x):
        return None
    twice = log_of_power(p.raised(2.0), x.type.dtype)
    if twice is None or not twice.better:
        return None
    return twice._replace(make=partial(log_of_multiple, 0.5, twice, x.type.dtype))


def log_of_opposite(v):
    """Return the logarithm of the opposite of a sum."""
    if v.head in SUMS:
        return log_of_whole_sum(v, [(-s, t) for s, t in summands(v)])
    return None


def log_of_whole_sum(v, terms):
    """Return the logarithm of a sum, or of its opposite, given by its terms."""
    found = log_of_sum(terms, v.type.dtype)
    if found is None or found.certain or terms[0][0] != summands(v)[0][0]:
        return found
    return found._replace(certain=bool(nonneg(v)))


def moves(op):
    """Return whether an op selects the elements of its result from operands, by position or by
    order: then its logarithm can be taken from theirs.
    """
    return op.__class__ is not tuple and bool(getattr(op, "moves_only", False) and op.elements)


def log_of_moved(v):
    """Return the logarithm of the result of an op that only moves elements: a view, a part, the
    largest, a join.
    """
    return joined_logs(v, v.owner.inputs[v.owner.op.elements], moved(v))


def moved(v):
    """Return a function that applies the same op to other elements."""
    op, inputs = v.owner.op, v.owner.inputs

    def made(*found):
        operands = list(inputs)
        operands[op.elements] = found
        new = op(*operands)
        return new if len(v.owner.outputs) == 1 else new[v.index]

    return made


def joined_logs(v, operands, made):
    """Return the logarithm of an op whose elements come from several operands."""
    dtype = v.type.dtype
    found = [LOG_OF_0 if number_of(u) == 0 else log_of(widened(u, dtype)) for u in operands]
    if any(x is None for x in found) or not any(x.better for x in found):
        return None
    certain = all(x.certain for x in found)

    def make():
        terms = [x.term(dtype) for x in found]
        pairs = zip(operands, terms, strict=True)
        return made(*[t if t.type.ndim == u.type.ndim else second(u, t) for u, t in pairs])

    strict = all(x.strict for x in found)
    return Log(make, True, any(x.vanishes for x in found), certain=certain, strict=strict)


def log_of_any_power(v):
    """Return the logarithm of a power. A power with a fractional number as exponent is NaN if the
    base is below 0, as the logarithm of the base is.
    """
    x, number = v.owner.inputs[0], 0.5 if v.head is sqrt else number_of(v.owner.inputs[1])
    if is_sign(x) or x.type.dtype != v.type.dtype:
        return None
    if number is None or number % 1 == 0:
        return log_of_signed_power(v, number)
    found = log_of(x)
    if v.head is sqrt and (found is None or not found.better):
        return None  # (it has a rule of its own)
    found = found or Log(lambda: log(x), strict=False)
    make = partial(log_of_multiple, number, found, v.type.dtype)
    return Log(make, True, True, strict=found.strict)


def is_sign(x):
    """Return whether all elements are known to be signs: no base of a power is simpler."""
    return x.head is pt_sign or (x.head is CONSTANT and bool((x.data == np.sign(x.data)).all()))


def log_of_multiple(number, found, dtype):
    """Return a number times a logarithm."""
    return number * found.term(dtype)


def log_of_signed_power(v, number):
    """Return the logarithm of a power; of a base that may be below 0, that of its modulus. (0 ** 0,
    1 ** inf and 1 ** nan are 1.)
    """
    x, y = v.owner.inputs
    found, sign = log_of(x), None
    if y.type.kind != "f":
        return None
    if found is None or not found.certain:
        found, sign = Log(lambda: log(abs(x)), strict=False), lambda: pow(pt_sign(x), y)

    def make():
        term = found.term(v.type.dtype)
        if number:
            return number * term
        zero, one = and_(eq(y, 0), is_not_finite(term)), and_(eq(term, 0), is_not_finite(y))
        return switch(or_(zero, one), 0.0, y * term)

    return Log(make, True, True, certain=sign is None, strict=found.strict, sign=sign)


def is_not_finite(v):
    """Return whether elements are infinite, or NaN."""
    return or_(isinf(v), isnan(v))


def log_of_product_along_axes(v):
    """Return the logarithm of a product along axes of terms whose logarithms are known."""
    (t,), op, dtype = v.owner.inputs, v.head, v.type.dtype
    x = log_of(t) if t.type.kind == "f" and t.type.dtype == dtype else None
    if x is None or not (x.better and (x.certain or x.sign)):
        return None
    total, product = [cls(axis=op.axis, keepdims=op.keepdims) for cls in (Sum, Prod)]

    def filled(term):
        term = as_float(term, dtype)
        return term if term.type.broadcastable == t.type.broadcastable else second(t, term)

    sign = x.sign and (lambda: product(filled(x.sign())))
    return x._replace(make=lambda: total(filled(x.make())), number=None, sign=sign, vanishes=True)


def log_of_sum_along_axes(v):
    """Return the logarithm of a sum along axes of terms that may vanish or overflow."""
    (t,), op, dtype = v.owner.inputs, v.head, v.type.dtype
    x = log_of(t) if t.type.kind == "f" else None
    if x is None or not (x.better and x.vanishes and x.certain and x.strict):
        return None
    total = LogSumExp(axis=op.axis, keepdims=op.keepdims)

    def make():
        inner = x.term(dtype)
        return total(
            inner if inner.type.broadcastable == t.type.broadcastable else second(t, inner)
        )

    return Log(make, True, True)


def log_of_scaled_sum(v):
    """Return the logarithm of a sum along axes of exponentials with weights of any sign. If all of
    them vanish, or one overflows, they are scaled by the largest.
    """
    (t,), op, dtype = v.owner.inputs, v.head, v.type.dtype
    p = power(t) if t.type.dtype == dtype else None
    if p is None or not p.form or p.factors:
        return None
    m = written(p.form, dtype)
    if m.type.broadcastable != t.type.broadcastable:
        return None
    top = Max(axis=op.axis, keepdims=True)(m)
    shift = zero_grad(switch(gt(abs(top), MAX_EXPONENT[dtype]), top, 0.0))
    weights = Spelling(p._replace(form={})).term(dtype)
    total = Sum(axis=op.axis, keepdims=op.keepdims)
    scale = shift if op.keepdims else Max(axis=op.axis)(shift)
    return Log(lambda: scale + log(total(weights * exp(m - shift))), True, True, certain=False)


# --- sums -----------------------------------------------------------------------------------------


def log_of_sum(terms, dtype):
    """Return the logarithm of a sum that overflows, or underflows as a whole; None for others. For
    a difference it is not certain.
    """
    terms = [pair for s, t in terms for pair in opened(s, t)]
    if len(terms) > MAX_FORM_TERMS:
        return None
    if len(terms) == 2 and (between := log_of_difference(terms, dtype)) is not None:
        return Log(between, True, True, certain=False)
    plus, minus = [], []
    for s, t in terms:
        sign, x = log_with_sign(t, dtype)
        if x is None:
            return None
        (plus if s * sign > 0 else minus).append((t, x))
    if not plus or (minus and (len(terms) > 2 or any(has_rounded(t) for _, t in terms))):
        return None
    found = [x for _, x in (*plus, *minus)]
    if not any(x.better for x in found) or not all(x.strict for x in found):
        return None
    if minus:
        return log_of_two(plus[0][1], *minus[0], dtype)
    vanishes = all(x.vanishes for x in found)
    if not vanishes and not any(x.vanishes and grows(t) for t, x in plus):
        return None
    return Log(lambda: log_sum(found, dtype), True, vanishes)


def log_of_two(x, b, y, dtype):
    """Return the logarithm of a difference."""
    if x.number == 0:
        if moves(b.head):
            rests = [sub(1.0, u) for u in b.owner.inputs[b.head.elements]]
            return joined_logs(b, rests, moved(b))
        return Log(lambda: log_of_rest(b, y.term(dtype), dtype), True, True, certain=False)
    if not (x.vanishes or y.vanishes):
        return None
    of_modulus = partial(log_of_distance, x, y, dtype)
    make = partial(log_of_rise, x, y, dtype)
    return Log(make, True, True, certain=False, of_modulus=of_modulus)


def log_of_rise(x, y, dtype):
    """Return the logarithm of a difference that is above 0."""
    return logdiffexp(x.term(dtype), y.term(dtype))


def log_of_distance(x, y, dtype):
    """Return the logarithm of the modulus of a difference."""
    a, b = x.term(dtype), y.term(dtype)
    return logdiffexp(maximum(a, b), minimum(a, b))


def has_rounded(t):
    """Return whether a term is an exponential of integers that floats do not represent."""
    is_float = not isinstance(t, float) and t.type.kind == "f"
    return is_float and any(map(is_rounded_integer, power(t).form))


def opened(s, t):
    """Write expm1(x) as exp(x) - 1."""
    if not isinstance(t, float) and t.head is expm1:
        return [(s, exp(t.owner.inputs[0])), (-s, 1.0)]
    return [(s, t)]


def log_with_sign(t, dtype):
    """Return the sign of a term, and the `Log` of it without the sign; None if it is not known."""
    number = t if isinstance(t, float) else number_of(t)
    if number is not None:
        return (
            (1, of_number(number)) if number > 0 else (-1, of_number(-number) if number else None)
        )
    if t.head in SUMS and t.type.kind == "f" and is_itself(power(t), t):
        return 1, log_if_positive(t)  # a sum in a sum is left unchanged: it is computed anyway
    t = widened(t, dtype)
    for sign in (1, -1):
        x = log_of(t, sign)
        if x is not None and x.certain:
            return sign, x
    return 1, None


def grows(t):
    """Return whether a term may overflow when its logarithm does not."""
    if isinstance(t, float) or t.type.kind != "f":
        return False
    p = power(t)
    if p.is_known and any(a.function is exp and a.risk for a in Spelling(p).atoms):
        return True
    return any(v.owner is not None and moves(v.head) for v in p.others)


def log_sum(logs, dtype):
    """Return logaddexp of any number of terms."""
    numbers = [x.number for x in logs if x.number is not None]
    terms = [x.term(dtype) for x in logs if x.number is None]
    if not numbers:
        return logaddexp(*terms) if len(terms) > 1 else terms[0]
    number = float(np.logaddexp.reduce(numbers))
    if len(terms) == 1 and number == 0:
        return softplus(terms[0])
    return logaddexp(number, *terms) if terms else number
