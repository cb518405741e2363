"""Logarithms of products and sums of what overflows or underflows: each function that does has a
logarithm that does not, and they add up.

    log(exp(x)) = x                log(a * b) = log(a) + log(b)
    log(sigmoid(x)) = -softplus(-x)     log(a + b) = logaddexp(log(a), log(b))
    log(erfc(x)) = logerfc(x)      log(a - b) = logdiffexp(log(a), log(b))
"""

import math

import numpy as np

from rewrite_engine.rules.facts import nonneg, nonzero, positive
from rewrite_engine.rules.language import *
from rewrite_engine.rules.monomials.factor import ABOVE_ZERO, KNOWN, is_descended, summands
from rewrite_engine.rules.monomials.linear import (
    MANY,
    combined,
    cores,
    linear,
    number_of,
    times,
    widened,
)
from rewrite_engine.rules.monomials.part import takes_part, whole
from rewrite_engine.rules.monomials.product import Product, with_nans
from rewrite_engine.rules.monomials.saturation import (
    COMBINED,
    LEVELS,
    NESTS,
    fitting,
    may_spoil,
    spread,
)
from rewrite_engine.rules.monomials.step import (
    FAR,
    erfc_where_exp_grows,
    has_form,
    is_below_zero,
    is_bounded,
    is_extreme,
    logarithm_of,
    step,
)
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import (
    Softmax,
    Sum,
    abs,
    add,
    and_,
    cast,
    cosh,
    eq,
    erf,
    erfc,
    exp,
    expm1,
    gt,
    isinf,
    isnan,
    log,
    log1mexp,
    log1p,
    log2,
    logaddexp,
    logdiffexp,
    logerfc,
    lt,
    maximum,
    mul,
    neg,
    or_,
    pow,
    reciprocal,
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
from rewrite_engine.tensor.special import LogSumExp

#: the logarithm of a function; x(c) is c times its argument
LOGARITHMS = {
    exp: lambda x: x(),
    sigmoid: lambda x: -softplus(x(-1.0)),
    erfc: lambda x: logerfc(x()),
    cosh: lambda x: abs(x()) + log1p(0.5 * expm1(-2.0 * abs(x()))),
    expm1: lambda x: x() + log1mexp(x(-1.0)),
    sinh: lambda x: x() + log1mexp(x(-2.0)) - math.log(2.0),
    tanh: lambda x: log1mexp(x(-2.0)) - softplus(x(-2.0)),
}
#: the same of its opposite, for functions that have a sign
OPPOSITES = {
    expm1: lambda x: log1mexp(x()),
    sinh: lambda x: LOGARITHMS[sinh](lambda c=1.0: x(-c)),
    tanh: lambda x: LOGARITHMS[tanh](lambda c=1.0: x(-c)),
}


def log_of(v, depth=4):
    """The logarithm of a term made of what has a better one, as a term; None for others."""
    product = Product(v) if depth and v.type.kind == "f" else None
    if product is None or not product.fits:
        return None
    product.reduce(step)
    product.widen()
    number, parts, rest = product.number() * product.sign(), [], []
    for f in product.factors():
        sign = -1 if number < 0 and may_be_opposite(f) else 1
        found = log_of_factor(f, depth - 1, sign)
        number *= sign
        if found is None:
            rest.append(f)
        else:
            parts.append((f.power, found))
    others = log_of_rest(rest)
    if not parts or others is None or not 0 < number < math.inf:
        return None
    signed = [f for f in product.factors() if f not in rest and may_be_negative(f)]
    if len(signed) > 1 or (signed and not all(is_above_zero(f.base()) for f in rest)):
        return None  # two signs may cancel; 0 has none
    if number != 1:
        others.append((1.0, math.log(number)))
    return with_nans(weighted([*parts, *others]), [product])


def may_be_opposite(f):
    """Whether a factor may take the sign of a product."""
    if f.kind in OPPOSITES:
        return f.power == 1 or bool(sign_of(f))
    return f.power == 1 and f.kind is add


def may_be_negative(f):
    """Whether the logarithm of a factor may be NaN."""
    if f.kind is add:
        signs = [with_its_sign(s, t)[0] for s, t in signed_terms(f.term)]
        return min(signs) != max(signs) and not nonneg(f.term)
    if f.kind in ABOVE_ZERO:
        return False
    return not nonneg(f.term if f.kind is None else f.base())


def weighted(parts):
    """A sum of terms with their coefficients."""
    value = None
    for c, v in sorted(parts, key=lambda part: part[0] < 0):
        if c in (1, -1):
            value = v if value is None and c == 1 else -v if value is None else value + c * v
        else:
            value = c * v if value is None else value + c * v
    return value


def log_of_factor(f, depth, sign):
    """The logarithm of a factor (or its opposite), without its power, if there is a better one."""
    if f.kind in OPPOSITES and f.power != 1 and not sign_of(f):
        return None
    if f.kind in LOGARITHMS:
        return (LOGARITHMS if sign == 1 else OPPOSITES)[f.kind](f.written_argument)
    if f.kind is add:
        terms = [(sign * s, t) for s, t in signed_terms(f.term)]
        return log_of_sum(terms, depth, f.term.type.dtype)
    if f.kind is None and (f.power == 1 or has_logarithm(whole(f.term))):
        return log_of_other(f.term, depth)
    return None


def has_logarithm(v):
    """Whether a term is a softmax or a sum of exponentials, whose logarithm has a function."""
    return isinstance(v.head, Softmax) or (
        isinstance(v.head, Sum) and v.owner.inputs[0].head is exp
    )


def log_of_other(v, depth):
    """The same for what is no product."""
    if has_logarithm(v):
        return log(v)
    if v.head in (pow, sqr, sqrt):
        return log_of_power(v, depth) if v.type.kind == "f" else None  # (integers wrap around)
    if isinstance(v.head, Sum):
        (t,) = v.owner.inputs
        found = log_of(t, depth) if grows(t) and nonneg(t) else None
        total = LogSumExp(axis=v.head.axis, keepdims=v.head.keepdims)
        return None if found is None else total(cast(found, v.type.dtype))
    if v.head is switch:
        condition, *branches = v.owner.inputs
        found = [log_of_term(u, depth, v.type.dtype) for u in branches]
        if all(x is not None for x, _ in found) and any(known for _, known in found):
            return switch(condition, *[x for x, _ in found])
        return None
    return log_of_moved(v, depth) if moves(v.head) else None


def moves(op):
    """Whether an op takes the elements of its result from operands, wherever they stand there, or
    by their order: then so does the logarithm of it from theirs.
    """
    return op.__class__ is not tuple and bool(getattr(op, "moves_only", False) and op.elements)


def log_of_moved(v, depth):
    """The logarithm of what only moves elements: a view, a part, the largest, what is joined."""
    op, inputs = v.owner.op, list(v.owner.inputs)
    found = [log_of_term(u, depth, v.type.dtype) for u in inputs[op.elements]]
    if any(x is None or isinstance(x, float) for x, _ in found) or not any(k for _, k in found):
        return None
    inputs[op.elements] = [x for x, _ in found]
    new = op(*inputs)
    return new if len(v.owner.outputs) == 1 else new[v.index]


def log_of_power(v, depth):
    """The same of a power, or a root, of what is never below 0. (0 ** 0, 1 ** inf and 1 ** nan
    are 1.)
    """
    x, *y = v.owner.inputs
    if with_its_sign(1, x)[0] < 0 or may_be_below_zero(x):
        return None
    found, known = log_of_term(x, depth, v.type.dtype)
    c = number_of(y[0]) if y else {sqr: 2.0, sqrt: 0.5}[v.head]
    if found is None or isinstance(found, float) or (c is not None and not known):
        return None
    if c is not None:
        return c * found if c else None
    is_one = or_(eq(y[0], 0), and_(eq(found, 0), or_(isinf(y[0]), isnan(y[0]))))
    return switch(is_one, 0.0, y[0] * found)


def log_of_rest(rest):
    """The logarithm of the factors that have no better one, as parts of a sum; None where a sign is
    not known.
    """
    for f in rest:
        v = f.base()
        known = nonneg(v) if f.power > 0 or is_count(v) else is_above_zero(v)
        if f.kind in OPPOSITES or not known:
            return None
    return [(f.power, log(widened(f.base(), f.dtype))) for f in rest]


def is_above_zero(v):
    """Whether a term is more than 0, also where it might underflow."""
    return positive(v) and nonzero(v)


def is_count(v):
    """Whether a term is an integer, also as a float: it is not -0.0."""
    is_cast = isinstance(getattr(v.head, "scalar_op", None), Cast)
    return v.type.kind in "iu" or (is_cast and v.owner.inputs[0].type.kind in "iu")


# --- sums -----------------------------------------------------------------------------------------


def signed_terms(v):
    """The terms of a sum with their signs; exp(x) - 1 may be written as expm1(x)."""
    terms = []
    for s, t in summands(v):
        if t.head is expm1:
            terms += [(s, exp(t.owner.inputs[0])), (-s, 1.0)]
        else:
            terms.append((s, t))
    return terms


def log_of_term(t, depth, dtype):
    """The logarithm of a term of a sum, with the digits of a dtype, and whether it is better than
    what is written; None where its sign is not known, or an exponential is of integers that floats
    do not have.
    """
    number = t if isinstance(t, float) else number_of(t)
    if number is not None:
        return (math.log(number) if number > 0 else None), False
    found = log_of(t, depth)
    if found is not None:
        return found, True
    if t.head is exp:
        return None, False
    return (log(widened(t, dtype)) if nonneg(t) else None), False


def grows(t, depth=4):
    """Whether a term may overflow where its logarithm does not."""
    if isinstance(t, float) or t.type.kind != "f":
        return False
    if moves(t.head):
        return depth > 0 and any(grows(u, depth - 1) for u in t.owner.inputs[t.head.elements])
    product = Product(t)
    return product.fits and any(f.kind is exp for f in product.factors())


def log_of_sum(terms, depth, dtype):
    """The logarithm of a sum that overflows, or underflows as a whole, with the digits of a dtype;
    None for others.
    """
    if len(terms) > MANY:
        return None
    for kind, of in BETWEEN.items():
        if pair := two_of(kind, terms):
            return of(*pair, dtype)
    terms = [with_its_sign(s, t) for s, t in terms]
    if any(may_be_below_zero(t) for _, t in terms):
        return None  # it has no logarithm where the sum may have one
    found = [(s, *log_of_term(t, depth - 1, dtype)) for s, t in terms]
    if any(x is None for _, x, _ in found):
        return None
    wide = [(s, x if isinstance(x, float) else cast(x, dtype)) for s, x, _ in found]
    plus = [x for s, x in wide if s > 0]
    minus = [x for s, x in wide if s < 0]
    risky = any(grows(t) for _, t in terms) or all(known for _, _, known in found)
    if not plus or not any(known for _, _, known in found):
        return None
    if minus and len(terms) == 2 and isinstance(plus[0], float) and plus[0] == 0:
        return log_of_rest_of_one(next(t for s, t in terms if s < 0), minus[0])
    if not risky:
        return None
    return logdiffexp(log_sum(plus), log_sum(minus)) if minus else log_sum(plus)


def two_of(kind, terms):
    """The two factors of a kind, the first from above the other one, and the number before both,
    that a difference consists of; None for other sums.
    """
    if len(terms) != 2 or any(isinstance(t, float) or t.type.kind != "f" for _, t in terms):
        return None
    products = [Product(t) for _, t in terms]
    found = [p.factors() for p in products]
    if not all(p.fits and len(fs) == 1 for p, fs in zip(products, found, strict=True)):
        return None
    ((f,), (g,)) = found
    if not (f.kind is g.kind is kind and f.power == g.power == 1):
        return None
    c, d = [s * p.sign() * p.number() for (s, _), p in zip(terms, products, strict=True)]
    return (*((f, g) if c > 0 else (g, f)), max(c, d)) if c == -d else None


def log_between(above, below, number, dtype):
    """log(sigmoid(x) - sigmoid(y)), with all digits where both sigmoids are 0, or 1. It is -inf
    where both are equal, as they are written, unless x is above y.
    """
    above.dtype = below.dtype = dtype
    x, y = above.written_argument(), below.written_argument()
    rise = switch(gt(x, y), y - x, sigmoid(y) - sigmoid(x))
    value = log1mexp(rise) - softplus(above.written_argument(-1.0)) - softplus(y)
    return value if number == 1 else value + math.log(number)


def log_between_normal(above, below, number, dtype):
    """log(erfc(x) - erfc(y)), with all digits where both are 0, or 2 (as erfc(-y) - erfc(-x)), or
    nearly 1 (as erf(y) - erf(x)).
    """
    above.dtype = below.dtype = dtype
    x, y = above.written_argument(), below.written_argument()
    right = gt(x + y, 0.0)
    far = logdiffexp(logerfc(switch(right, x, -y)), logerfc(switch(right, y, -x)))
    near = math.log(2.0) * log2(erf(y) - erf(x))  # (of log there would be no end)
    value = switch(lt(abs(x) + abs(y), 1.0), near, far)
    return value if number == 1 else value + math.log(number)


BETWEEN = {
    sigmoid: log_between,
    erfc: log_between_normal,
    erf: lambda above, below, *rest: log_between_normal(below, above, *rest),
}


def log_of_rest_of_one(t, log_of_t):
    """log(1 - t) of what has a function for its rest, or is below 1 together with its logarithm;
    None for others.
    """
    if takes_part(t) and len(t.owner.outputs) == 1:
        inner, *others = t.owner.inputs
        found = log_of(inner)
        rest = None if found is None else log_of_rest_of_one(inner, found)
        return None if rest is None else t.head(rest, *others)
    product = Product(t)
    found, number = product.factors(), product.number() * product.sign()
    alone = found[0] if len(found) == 1 and found[0].power == 1 else None
    if alone is not None and alone.kind is erfc and number == 0.5:
        x = alone.written_argument(-1.0)  # where it is below 0 the rest is near 1
        return switch(lt(x, 0.0), log1mexp(log_of_t), logerfc(x) - math.log(2.0))
    if number != 1 or not all(f.kind in (exp, sigmoid) or f.base().head is pow for f in found):
        return None
    if alone is not None and alone.kind is sigmoid:
        return -softplus(alone.written_argument())
    return log1mexp(log_of_t)


def with_its_sign(s, t):
    """A term of a sum, without the sign of a number in it, or of a function whose sign is known."""
    if isinstance(t, float):
        return (s, t) if t > 0 else (-s, -t)
    product = Product(t) if t.type.kind == "f" else None
    if product is None or not product.fits:
        return s, t
    below_zero = sum(sign_of(f) < 0 for f in product.factors())
    return (-s, -t) if product.is_negated() != (below_zero % 2 == 1) else (s, t)


def sign_of(f):
    """The sign of a factor that may have any by its function; 0 where it is not known."""
    if f.kind not in OPPOSITES or f.power not in (1, -1):
        return 0
    return -1 if is_below_zero(f.argument) else int(is_below_zero(times(f.argument, -1.0)))


def may_be_below_zero(t):
    """Whether a term of a sum may have another sign than the one it is taken with."""
    product = Product(t) if not isinstance(t, float) and t.type.kind == "f" else None
    if product is None or not product.fits:
        return False
    return any(may_be_negative(f) and not sign_of(f) for f in product.factors())


def log_sum(logs):
    """logaddexp, of any number."""
    numbers = [x for x in logs if isinstance(x, float)]
    logs = [x for x in logs if not isinstance(x, float)]
    if not numbers:
        return logaddexp(*logs) if len(logs) > 1 else logs[0]
    number = float(np.logaddexp.reduce(numbers))
    if len(logs) == 1 and number == 0:
        return softplus(logs[0])
    return logaddexp(number, *logs) if logs else number


# --- rules ----------------------------------------------------------------------------------------

MADE_OF = KNOWN | {erf, mul, true_div, neg, reciprocal, add, sub, expm1, switch, sqr, sqrt, pow}


def may_be_made(op, seen, distinct):
    """Whether the operand may be made of what has a better logarithm."""
    head = seen[0][0] if seen[0].__class__ is tuple else seen[0]
    return head in MADE_OF or isinstance(head, Sum) or moves(head)


@node_rewriter([log], phase="stabilize", claim=COMBINED, depth=8, when=may_be_made)
def log_of_factors(fgraph, node):
    """The logarithm of what overflows or underflows need not: products, quotients, powers, sums and
    differences of exponentials, sigmoids and the like.

    Not data: they are nested in any way. (exp(x) and sigmoid(x) alone have rules of their own.)

    >>> x, y = vectors("x y")
    >>> rewritten(log(exp(x) + exp(y)), log(2 * exp(x) / sigmoid(y)))
    [logaddexp(x, y), 0.6931471805599453 + x + softplus(-y)]
    >>> rewritten(log(erfc(x)), log(exp(x) - exp(y)), log(1 - sigmoid(x) * sigmoid(y)))
    [logerfc(x), logdiffexp(x, y), log1mexp(-softplus(-y) - softplus(-x))]
    """
    x = node.inputs[0]
    return fitting(node.outputs[0], None if x.head in (exp, sigmoid) else log_of(x))


@node_rewriter([log1p], phase="stabilize", claim=COMBINED, depth=8, when=may_be_made)
def log1p_of_factors(fgraph, node):
    """The same for 1 + x.

    Not data: see `log_of_factors`.

    >>> x, y = vectors("x y")
    >>> rewritten(log1p(exp(x) + exp(y)), log1p(-sigmoid(x)))
    [logaddexp(0.0, x, y), -softplus(x)]
    """
    x = node.inputs[0]
    if x.type.kind != "f":
        return None
    found = log_of_one_plus(x)
    if found is None:
        found = log_of_sum([(1, 1.0), *signed_terms(x)], 4, x.type.dtype)
    return fitting(node.outputs[0], found)


def log_of_one_plus(x):
    """log(1 + x) where 1 + x is known; None elsewhere."""
    if x.head is expm1:
        return x.owner.inputs[0]
    if x.head is erf:
        return logerfc(-cast(x.owner.inputs[0], x.type.dtype))  # (integers wrap around)
    if x.head is not neg:
        return None
    u = x.owner.inputs[0]
    return logerfc(u.owner.inputs[0]) if u.head is erf else log_of(sub(1.0, u))


@node_rewriter([log1mexp], phase="specialize", claim=COMBINED, depth=8, when=may_be_made)
def log1mexp_of_small(fgraph, node):
    """log(1 - exp(-z)) is log(z) - z / 2 for a small z, which is never below 0: so
    log(1 - exp(-exp(x))) is finite where exp(x) underflows.

    Not data: what z is made of is read as in `log_of_factors`.

    >>> rewritten(log(1 - exp(-exp(vector("x")))))
    switch(x < -16.0, x - 0.5 * exp(x), log1mexp(-maximum(exp(x), 6e-08)))
    """
    (x,) = node.inputs
    if x.type.kind != "f":
        return None
    z = -x
    if with_its_sign(1, z)[0] < 0 or may_be_below_zero(z):
        return None
    found = log_of(z)
    if found is None:
        return None
    small = switch(lt(found, -16.0), found - 0.5 * z, log1mexp(-maximum(z, 6e-8)))
    return fitting(node.outputs[0], small)


@node_rewriter([mul, true_div], phase="specialize", claim=COMBINED, depth=8, when=may_spoil)
def quotients_by_logarithms(fgraph, node):
    """exp(x) over a sum that may overflow, or underflow as a whole, where the two do not cancel; so
    in the slopes of mixtures and of what lies between two cuts. Not earlier: what cancels needs no
    logarithm.

    Not data: see `log_of_factors`.

    >>> x, y, z = vectors("x y z")
    >>> rewritten(exp(x) / (exp(y) + exp(z)))
    exp(x - logaddexp(y, z))
    """
    (out,) = node.outputs
    if out.type.kind != "f" or not has_exponential(node):
        return None
    product = Product(out)
    if not product.fits:
        return None
    if product.reduce(by_logarithm):
        return fitting(out, with_nans(product.written(), [product]))
    return fitting(out, spread(product, step=by_logarithm))


def has_exponential(node):
    """Whether a product, or a sum in it, has a function that vanishes or overflows far out."""
    todo = [(v, 3, LEVELS) for v in node.inputs]
    for v, depth, levels in todo:
        if v.head in FAR or len(todo) > 8 * MANY:
            return True
        if depth and is_descended(v):
            todo += [(u, depth - 1, levels) for u in v.owner.inputs]
        elif levels and v.head in NESTS:
            todo += [(u, 3, levels - 1) for u in v.owner.inputs]
    return False


def by_logarithm(product, f, g):
    """A positive function over a sum, or times what was made of one, as an exponential; so
    exp(x) / expm1(exp(x)), where both may be 0, and exp(x) * erfc(y), where one is infinite.
    """
    if not has_form(g) or g.power <= 0:
        return False
    f.dtype = g.dtype = product.dtype
    if f.kind is expm1 and f.power == -1 and g.kind is exp and is_of_exp(f, g) and sign_of(f):
        sides = OPPOSITES if sign_of(f) < 0 else LOGARITHMS
        whole, f.slot.number = {sides[expm1](f.written_argument): -1.0}, f.slot.number * sign_of(f)
    elif f.kind is erfc and g.kind is exp and (f.power <= -1 or not is_bounded(g)):
        if f.power > 0 and not product.is_pure():
            return erfc_where_exp_grows(product, f, g)
        whole = logarithm_of([f])
    elif f.kind is add and f.power <= -1 and g.kind is exp and is_extreme(f.term):
        found = log_of_sum(signed_terms(f.term), 4, f.term.type.dtype)
        if found is None:
            return False
        whole = {found: f.power}
    elif f.kind is exp and any(map(is_log_of_sum, f.argument)):
        whole = times(f.argument, f.power)
    else:
        return False
    whole, lost = combined(whole, logarithm_of([g])), list(product.lost)
    product.change(f, 0.0)
    product.change(g, 1.0, whole, kind=exp)
    product.lost = lost  # it shows them
    return True


def is_of_exp(f, g):
    """Whether a function is one of exp(x), and an exponential goes with x."""
    inside = [v.owner.inputs[0] for v in cores(f.argument) if getattr(v, "head", None) is exp]
    return any(cores(linear(x)) & cores(g.argument) for x in inside if x.type.kind == "f")


def is_log_of_sum(v):
    """Whether a term of a linear form is the logarithm of a sum, or of a multiple of one."""
    head = getattr(v, "head", None)
    found = [v, *(v.owner.inputs if head in (add, sub, switch) else ())]
    found += [w for u in found[1:] if getattr(u, "head", None) is switch for w in u.owner.inputs]
    return any(getattr(u, "head", None) in (logaddexp, logdiffexp, log1mexp) for u in found)
