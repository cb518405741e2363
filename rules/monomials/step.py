"""Identities between two factors: `(product, factor, factor)` -> whether one was applied."""

from rewrite_engine.graph.node import Variable
from rewrite_engine.rules.facts import nonneg, positive
from rewrite_engine.rules.monomials.factor import ABOVE_ZERO, KNOWN, Factor, known_factors, summands
from rewrite_engine.rules.monomials.linear import (
    MANY,
    Square,
    along,
    combined,
    cores,
    linear,
    squared,
    times,
    written,
)
from rewrite_engine.rules.monomials.part import is_softmax
from rewrite_engine.rules.monomials.product import Product
from rewrite_engine.rules.softmax import stands_beside
from rewrite_engine.tensor import (
    Softmax,
    Sum,
    add,
    cast,
    cosh,
    erfc,
    erfcx,
    exp,
    expm1,
    gt,
    log1p,
    logerfc,
    maximum,
    second,
    sigmoid,
    sinh,
    softplus,
    switch,
    tanh,
    true_div,
)
from rewrite_engine.tensor.special import ScaledExp


def cancel(product, f, g):
    """x / x is 1 for a positive x."""
    if f.kind is exp or f.power * g.power >= 0 or not f.is_like(g):
        return False
    if f.kind not in ABOVE_ZERO and (f.kind in KNOWN or not is_positive(f.term)):
        return False
    left = f.power + g.power
    if f.kind is add:  # here nothing takes its place
        product.lost.append({f.term: 1.0})
    product.change(f, left if f.power * left > 0 else 0.0)
    product.change(g, left if g.power * left > 0 else 0.0)
    return True


def is_positive(v):
    """Whether a term is above 0, or would be if it did not underflow."""
    return is_softmax(v) or positive(v)


def exp_exp(product, f, g):
    """exp(x) * exp(y) is exp(x + y)."""
    if f.kind is not exp or g.kind is not exp or not may_join(product, f, g):
        return False
    shared = cores(f.argument) & cores(g.argument)
    forms = [times(h.argument if shared else h.whole(), h.power) for h in (f, g)]
    total = combined(*forms)
    product.change(g, 0.0)
    product.change(f, 1.0 if total else 0.0, total or f.argument)
    whole = summed_argument(product, total)
    if whole is not None:
        f.argument = {whole: 1.0}
    # elsewhere in halves, one in the place of each: exp(x) (exp(y) / a) may be in range where
    # exp(x + y) is not
    f.other = g.slot if whole is None and not product.is_pure() else None
    return True


def summed_argument(product, total):
    """The argument of exponentials whose sum is in a factor, if it is that linear form."""
    todo = [h.term for h in product.factors() if h.term is not None]
    for v in todo:
        e = v.owner.inputs[0] if isinstance(v.head, Sum) else None
        if e is not None and e.head is exp:
            if not combined(linear(e.owner.inputs[0]) or {}, total, -1.0):
                return e.owner.inputs[0]
        elif v.owner is not None and len(todo) < MANY and is_stretched(v):
            todo += v.owner.inputs
    return None


def is_stretched(v):
    """Whether a term is a quotient, or one that is stretched."""
    return v.head is true_div or v.head is second or v.owner.op.moves_only


def softmax_whole(product, f, g):
    """exp(x) / sum(exp(x)) cancels with the softmax of x below the bar, also if both are scaled."""
    if f.kind is not None or not isinstance(f.term.head, Softmax) or f.power >= 0:
        return False
    x, axis = f.term.owner.inputs[0], f.term.head.axis
    scaled = g.kind is None and isinstance(g.term.head, ScaledExp) and g.term.owner.inputs[0] is x
    if g.power != 1 or not (scaled or (g.kind is exp and g.argument == {x: 1.0})):
        return False
    e = g.term if scaled else None
    whole = next((h for h in product.factors() if h.power < 0 and is_sum(h.term, x, axis, e)), None)
    if whole is None:
        return False
    lost = [*product.lost, {f.term: 1.0}]  # it is NaN where one of the others is
    product.change(g, 0.0)
    product.change(whole, whole.power + 1)
    product.change(f, f.power + 1)
    product.lost = lost
    return True


def is_sum(v, x, axis, scaled):
    """Whether a term is the sum of exp(x) along axes, or of a scaled one, and stands beside x."""
    if v is None or not isinstance(v.head, Sum) or v.head.axis != axis:
        return False
    e = v.owner.inputs[0]
    alike = e is scaled or (scaled is None and e.head is exp and e.owner.inputs[0] is x)
    return alike and stands_beside(x, axis, v.head.keepdims)


def may_join(product, f, g):
    """Whether two exponentials are better as one: not the halves of one, unless another factor
    spoils these.
    """
    if f.is_like(g) and f.power == g.power:
        others = [h for h in product.factors() if h is not f and h is not g]
        return any(
            (h.kind is exp and not h.is_like(f) and cores(h.argument) & cores(f.argument))
            or (h.kind is sigmoid and f.power * along(f.argument, h.argument) * h.power < 0)
            for h in others
        )
    if f.slot.v in cores(g.argument) or g.slot.v in cores(f.argument):
        return True  # exp(x) * exp(-exp(x))
    return bool(cores(f.argument) & cores(g.argument)) or same_pattern(f, g)


def same_pattern(f, g):
    """Whether two exponentials are stretched in the same way: else one of them is cheaper alone."""
    v, w = f.slot.v, g.slot.v
    return v is None or w is None or v.type.broadcastable == w.type.broadcastable


def exp_sigmoid(product, f, g):
    """exp(-u) * sigmoid(u) is sigmoid(-u). Not of exp(v - u), which may be moderate where exp(v) is
    not.
    """
    if f.kind is not exp or g.kind is not sigmoid:
        return False
    k = -f.power * along(f.argument, g.argument)
    if k * g.power <= 0 or cores(combined(times(f.argument, f.power), g.argument, k)):
        return False
    moved = min(k, g.power) if k > 0 else max(k, g.power)
    opposite = times(g.argument, -1.0)
    left = combined(times(f.argument, f.power), g.argument, moved)
    product.change(g, g.power - moved)
    product.change(f, 1.0 if left else 0.0, left or f.argument)
    product.put(g, Factor(sigmoid, opposite, moved))
    return True


def exp_in_sigmoid(product, f, g):
    """exp(x) * sigmoid(-exp(x)) is exp(x - softplus(exp(x)))."""
    if f.kind is not exp or g.kind is not sigmoid or f.power < 0 or g.power < 0:
        return False
    if f.slot.v not in cores(g.argument):
        return False
    whole, lost = logarithm_of([f, g]), list(product.lost)
    product.change(g, 0.0)
    product.change(f, 1.0, whole)
    product.lost = lost  # it shows them
    return True


def logarithm_of(factors):
    """The linear form of the logarithm of a product of factors that `has_form` names."""
    total = {}
    for f in factors:
        log = f.argument
        if f.kind is sigmoid:
            log = {softplus(f.written_argument(-1.0)): -1.0}
        elif f.kind is erfc:
            log = {logerfc(f.written_argument()): 1.0}
        elif f.kind is cosh:
            size = abs(f.written_argument())
            log = {size: 1.0, log1p(0.5 * expm1(-2.0 * size)): 1.0}
        total = combined(total, log, f.power)
    return total


#: what vanishes, or overflows, far out, and whose logarithm has a function
FAR = frozenset({exp, sigmoid, erfc, cosh})


def has_form(f):
    """Whether a factor is one of such a function."""
    return f.kind in FAR


def erfc_where_exp_grows(product, f, g):
    """exp(x) * erfc(y) is one exponential where x is above 0. Elsewhere both are small, and beside
    what is large, or infinite, they are taken one after the other.
    """
    x, lost = g.written_argument(g.power), list(product.lost)
    whole = combined(logarithm_of([f]), logarithm_of([g]))
    both = Factor(exp, whole, 1.0, dtype=product.dtype).written(1)
    term = switch(gt(x, 0.0), both, f.written(1))
    product.change(f, 0.0)
    product.put(f, Factor(None, {}, 1.0, term=term))
    product.change(g, 1.0, {maximum(-x, 0.0): -1.0})
    product.lost = lost  # it shows them
    return True


def sigmoid_sigmoid(product, f, g):
    """sigmoid(u) / sigmoid(-u) is exp(u)."""
    if f.kind is not sigmoid or g.kind is not sigmoid or not f.power > 0 > g.power:
        return False
    if combined(f.argument, g.argument):
        return False
    moved = min(f.power, -g.power)
    product.change(f, f.power - moved)
    product.change(g, g.power + moved)
    product.put(f, Factor(exp, times(f.argument, moved), 1.0))
    return True


def exp_erfc(product, f, g):
    """exp(u**2) * erfc(u) is erfcx(u)."""
    if f.kind is not exp or g.kind is not erfc:
        return False
    square = squared(g.argument)
    k = f.power * along(f.argument, square)
    if k * g.power <= 0 or k / g.power <= 0.5:  # else what is left would go as far
        return False
    left = combined(times(f.argument, f.power), square, -g.power)
    product.change(f, 1.0 if left else 0.0, left or f.argument)
    product.change(g, g.power, kind=erfcx)
    return True


def exp_expm1(product, f, g):
    """exp(u) / expm1(u) is -1 / expm1(-u). Not where u is below 0: nothing overflows there, and
    exp(x) * exp(-exp(x)) stays together.
    """
    if f.kind is not exp or g.kind is not expm1 or g.power != -1 or is_below_zero(g.argument):
        return False
    if f.power * along(f.argument, g.argument) < 1 - 1e-12:
        return False
    left = combined(times(f.argument, f.power), g.argument, -1.0)
    product.change(f, 1.0 if left else 0.0, left or f.argument)
    product.change(g, g.power, times(g.argument, -1.0))
    g.slot.number *= -1
    return True


def is_below_zero(parts):
    """Whether a linear form of squares, and terms that are never below 0, is never above it."""
    return all(
        c < 0 and (isinstance(key, Square) or (isinstance(key, Variable) and nonneg(key)))
        for key, c in parts.items()
    )


def expm1_sigmoid(product, f, g):
    """expm1(u) * sigmoid(-u) is tanh(u / 2)."""
    if f.kind is not expm1 or g.kind is not sigmoid or f.power * g.power <= 0:
        return False
    if combined(f.argument, g.argument) or abs(f.power) != 1 or abs(g.power) < 1:
        return False
    product.change(g, g.power - f.power)
    product.change(f, f.power, times(f.argument, 0.5), kind=tanh)
    return True


def sinh_cosh(product, f, g):
    """sinh(u) / cosh(u) is tanh(u)."""
    if f.kind is not sinh or g.kind is not cosh or f.power * g.power >= 0:
        return False
    sign = 1.0 if not combined(f.argument, g.argument, -1.0) else -1.0
    if sign == -1.0 and combined(f.argument, g.argument):
        return False
    moved = 1.0 if f.power > 0 else -1.0
    product.change(g, g.power + moved)
    product.change(f, f.power - moved)
    product.put(f, Factor(tanh, f.argument, moved))
    return True


def into_sum(product, f, g):
    """exp(x) / (exp(x) + exp(y)) is 1 / (1 + exp(y - x)); any factors of a term of the sum will
    do, if they are never 0 but by underflow.
    """
    if f.kind is not add or f.power > -1 or g.kind not in KNOWN or not is_extreme(f.term):
        return False
    for _, t in summands(f.term):
        inner = Product(t)
        wanted = [h for h in inner.factors() if h.kind in ABOVE_ZERO]
        if inner.fits and wanted and takes(product, wanted):
            new = divided(f.term, wanted)
            product.change(f, f.power + 1)
            found = known_factors(new) or ([Factor(add, {}, 1.0, term=new)], 1.0)
            for h in found[0]:
                h.power *= -1
            product.put(f, *found[0])
            return True
    return False


def is_extreme(v):
    """Whether a sum may overflow where its logarithm does not, or underflow as a whole."""
    products = [Product(t) for _, t in summands(v)]
    if not all(p.fits for p in products):
        return False
    if all(any(f.kind in KNOWN for f in p.factors()) for p in products):
        return True
    return any(f.kind is exp and not is_bounded(f) for p in products for f in p.factors())


def is_bounded(f):
    """Whether an exponential is known never to be more than 1."""
    parts = times(f.argument, f.power)
    return is_below_zero(parts) or any(
        is_below_zero(combined(parts, combined(linear(u), {v: 1.0}, -1.0), c))
        for v, c in parts.items()
        if c < 0 and getattr(v, "head", None) is maximum
        for u in v.owner.inputs
        if u.type.kind == "f"
    )


def takes(product, wanted):
    """Take factors out of a product, if it has them."""
    there = [f for f in product.factors() if f.kind in KNOWN]
    plan = []
    for h in wanted:
        found = next((f for f in there if covers(f, h)), None)
        if found is None:
            return False
        there.remove(found)
        plan.append((found, h))
    for f, h in plan:
        if f.kind is exp:
            left = combined(times(f.argument, f.power), times(h.argument, h.power), -1.0)
            product.change(f, 1.0 if left else 0.0, left or f.argument)
        else:
            product.change(f, f.power - h.power)
    return True


def covers(f, h):
    """Whether a factor can be divided by another without becoming larger."""
    if f.kind is not h.kind:
        return False
    if f.kind is exp:
        whole = times(f.argument, f.power)
        left = combined(whole, times(h.argument, h.power), -1.0)
        if left and is_bounded(f):
            return False  # what is left of exp(x - max(x, y)) may overflow
        return len(cores(left)) < len(cores(whole))
    return f.is_like(h) and f.power * h.power > 0 and f.power / h.power >= 1


def divided(v, wanted):
    """A sum over factors of one of its terms."""
    terms = []
    for sign, t in summands(v):
        extra = [Factor(h.kind, h.argument, -h.power) for h in wanted]
        product = Product(t, extra)
        product.reduce(simple_step)
        over_vanishing(product)
        product.lost.clear()
        terms.append((sign, product.written()))
    return total(terms)


def over_vanishing(product):
    """sigmoid(x) / sigmoid(y) by the logarithm, where both may vanish; so erfc(x) / erfc(y)."""
    found = [f for f in product.factors() if has_form(f)]
    if len({f.power > 0 for f in found if f.kind is not exp}) < 2:
        return
    whole = logarithm_of(found)
    for f in found:
        product.change(f, 0.0)
    product.change(found[0], 1.0, whole, kind=exp)


def total(terms):
    """The sum of terms with their signs."""
    plus = [t for sign, t in terms if sign > 0]
    minus = [t for sign, t in terms if sign < 0]
    if not plus:
        return -joined(minus)
    return joined(plus) - joined(minus) if minus else joined(plus)


def joined(terms):
    return add(*terms) if len(terms) > 1 else terms[0]


SIMPLE = (
    cancel, softmax_whole, exp_exp, exp_sigmoid, exp_in_sigmoid, sigmoid_sigmoid, exp_erfc,
    exp_expm1, expm1_sigmoid, sinh_cosh,
)  # fmt: skip


def simple_step(product, f, g):
    """One identity, without those of sums."""
    return any(one(product, f, g) for one in SIMPLE)


def step(product, f, g):
    """One identity."""
    return simple_step(product, f, g) or into_sum(product, f, g)


def near_step(product, f, g):
    """One identity, of exponentials only where they have something in common."""
    if f.kind is g.kind is exp and not cores(f.argument) & cores(g.argument):
        return False
    return step(product, f, g)


def sigmoid_expm1(product, f, g):
    """sigmoid(x) / expm1(softplus(x) - softplus(y)), where both may be 0, is 1 / (exp(u) - exp(v))
    with u = softplus(x) - softplus(y) and v = softplus(-x) - softplus(-y), where u - v = x - y. So
    the slope of log(sigmoid(-y) - sigmoid(-x)) has its digits at both ends.
    """
    if f.kind is not sigmoid or f.power < 1 or g.kind is not expm1 or g.power != -1:
        return False
    ends = {c: v.owner.inputs[0] for v, c in g.argument.items() if is_softplus(v)}
    if len(g.argument) != 2 or ends.keys() != {1.0, -1.0}:
        return False
    if combined(linear(ends[1.0]), f.argument, -1.0):
        return False
    u = written(g.argument, product.dtype)
    v = written({softplus(-x): c for c, x in ends.items()}, product.dtype)
    rise = written({ends[1.0]: 1.0, ends[-1.0]: -1.0}, product.dtype)
    rest = exp(maximum(u, v)) * expm1(-abs(rise)) * switch(gt(rise, 0.0), -1.0, 1.0)
    lost = list(product.lost)
    product.change(f, f.power - 1)
    product.change(g, 0.0)
    product.put(g, Factor(None, {}, -1.0, term=cast(rest, product.dtype)))
    product.lost = lost  # it shows them
    return True


def is_softplus(v):
    """Whether a term of a linear form is the softplus of floats."""
    return getattr(v, "head", None) is softplus and v.owner.inputs[0].type.kind == "f"
