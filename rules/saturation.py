"""What overflows or underflows on the way, where the result does not: products and quotients of
exponentials, sigmoids and the like, as gradients of densities have them. (Their logarithms:
`rules/logarithm.py`.)

One mechanism instead of a rule for each pair: a product is taken as powers of known factors
(`rules/monomial.py`), which are combined where they would spoil each other.
"""

from rewrite_engine.rules.facts import positive
from rewrite_engine.rules.language import *
from rewrite_engine.rules.monomial import (
    ABOVE_ZERO,
    DESCENDED,
    KNOWN,
    MANY,
    Factor,
    Product,
    along,
    combined,
    cores,
    has_known,
    known_factors,
    squared,
    summands,
    times,
    with_nans,
)
from rewrite_engine.tensor import (
    add,
    cast,
    cosh,
    erfc,
    erfcx,
    exp,
    expm1,
    mul,
    sigmoid,
    sinh,
    sub,
    switch,
    tanh,
    true_div,
)

#: exp(x + y) is off by up to |x + y| / 2 units
COMBINED = approx(ulps=1 << 10)


# --- steps: identities between two factors --------------------------------------------------------


def cancel(product, f, g):
    """x / x is 1 for a positive x."""
    if f.kind is exp or f.power * g.power >= 0 or not f.is_like(g):
        return False
    if f.kind not in ABOVE_ZERO and (f.kind in KNOWN or not positive(f.term)):
        return False
    left = f.power + g.power
    product.change(f, left if f.power * left > 0 else 0.0)
    product.change(g, left if g.power * left > 0 else 0.0)
    return True


def exp_exp(product, f, g):
    """exp(x) * exp(y) is exp(x + y)."""
    if f.kind is not exp or g.kind is not exp:
        return False
    x, y = times(f.argument, f.power), times(g.argument, g.power)
    total = combined(x, y)
    if not cores(x) & cores(y) and not same_pattern(f, g):
        return False
    product.change(g, 0.0)
    product.change(f, 1.0 if total else 0.0, total or f.argument)
    return True


def same_pattern(f, g):
    """Whether two exponentials are stretched in the same way: else one of them is cheaper alone."""
    v, w = f.slot.v, g.slot.v
    return v is None or w is None or v.type.broadcastable == w.type.broadcastable


def exp_sigmoid(product, f, g):
    """exp(-u) * sigmoid(u) is sigmoid(-u)."""
    if f.kind is not exp or g.kind is not sigmoid:
        return False
    k = -f.power * along(f.argument, g.argument)
    if k * g.power <= 0:
        return False
    moved = min(k, g.power) if k > 0 else max(k, g.power)
    opposite = times(g.argument, -1.0)
    left = combined(times(f.argument, f.power), g.argument, moved)
    product.change(g, g.power - moved)
    product.change(f, 1.0 if left else 0.0, left or f.argument)
    product.put(g, Factor(sigmoid, opposite, moved))
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
    if k * g.power <= 0 or k / g.power < 1 - 1e-12:
        return False
    left = combined(times(f.argument, f.power), square, -g.power)
    product.change(f, 1.0 if left else 0.0, left or f.argument)
    product.change(g, g.power, kind=erfcx)
    return True


def exp_expm1(product, f, g):
    """exp(u) / expm1(u) is -1 / expm1(-u)."""
    if f.kind is not exp or g.kind is not expm1 or g.power != -1:
        return False
    if f.power * along(f.argument, g.argument) < 1 - 1e-12:
        return False
    left = combined(times(f.argument, f.power), g.argument, -1.0)
    product.change(f, 1.0 if left else 0.0, left or f.argument)
    product.change(g, g.power, times(g.argument, -1.0))
    g.slot.number *= -1
    return True


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
    do.
    """
    if f.kind is not add or f.power > -1 or g.kind not in KNOWN or not is_extreme(f.term):
        return False
    for _, t in summands(f.term):
        inner = Product(t)
        wanted = [h for h in inner.factors() if h.kind in KNOWN]
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
    return any(f.kind is exp for p in products for f in p.factors())


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
        return len(cores(left)) < len(cores(whole))
    return f.is_like(h) and f.power * h.power > 0 and f.power / h.power >= 1


def divided(v, wanted):
    """A sum over factors of one of its terms."""
    terms = []
    for sign, t in summands(v):
        extra = [Factor(h.kind, h.argument, -h.power) for h in wanted]
        product = Product(t, extra)
        product.reduce(simple_step)
        product.lost.clear()
        terms.append((sign, product.written()))
    return total(terms)


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
    cancel, exp_exp, exp_sigmoid, sigmoid_sigmoid, exp_erfc, exp_expm1, expm1_sigmoid, sinh_cosh
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


# --- products -------------------------------------------------------------------------------------

MAY_SPOIL = KNOWN | DESCENDED | {switch}


def may_spoil(op, seen, distinct):
    """Whether there may be factors, or terms of a sum, that spoil each other."""
    heads = {s[0] if s.__class__ is tuple else s for s in seen}
    return bool(heads & MAY_SPOIL) or (op is true_div and bool(heads & {add, sub}))


def promising(node):
    """Whether a look at the product is worth it: two factors of which one is known, or a quotient
    below a sum.
    """
    todo, known, seen, again = list(node.inputs), 0, set(), False
    for v in todo:
        if len(todo) > 4 * MANY:
            return False
        if v.head in DESCENDED:
            todo += v.owner.inputs
        elif v.head in KNOWN:
            known += 1
        elif v.head in (add, sub, switch):
            known += any(has_hint(u) for u in v.owner.inputs)
        again = again or (v in seen and v.head is not CONSTANT)
        seen.add(v)
    return known > 0 or again


def has_hint(v, depth=4):
    """Whether there may be something known, or a quotient, in a term of a sum."""
    if v.head in KNOWN or v.head is true_div:
        return True
    return bool(depth and v.head in DESCENDED) and any(
        has_hint(u, depth - 1) for u in v.owner.inputs
    )


@node_rewriter([mul, true_div], phase="stabilize", claim=COMBINED, depth=8, when=may_spoil)
def combine_factors(fgraph, node):
    """Factors that overflow or underflow, while their product need not: exp(x) exp(y),
    exp(-x) sigmoid(x), exp(x) / (exp(x) + exp(y)), exp(-x**2) / erfc(x), p / p; also where one of
    them is in the terms of a sum, as in (a / p - b) p.

    Not data: they stand anywhere in the product, above or below bars, in any number.

    >>> x, y, a = vectors("x y a")
    >>> rewritten(sigmoid(x) * exp(-x), exp(x) / (1 + exp(x)))
    [sigmoid(-x), sigmoid(x)]
    >>> rewritten(exp(x) / (exp(x) + exp(y)), exp(-sqr(x)) / erfc(x))
    [sigmoid(x - y), 1.0 / erfcx(x)]
    >>> rewritten((a / sigmoid(x) - y) * sigmoid(x))
    a - y * sigmoid(x)
    """
    out = node.outputs[0]
    if out.type.kind != "f" or not promising(node):
        return None
    product = Product(out)
    if not product.fits:
        return None
    if product.reduce(step) or product.shows_again():
        return fitting(out, with_nans(product.written(), [product]))
    return fitting(out, spread(product))


def fitting(out, new):
    """The term, if its type is what is wanted but for a narrower dtype."""
    if new is None:
        return None
    new = cast(new, out.type.dtype)
    return new if out.type.yields_to(new.type) else None


def spread(product):
    """The product with one of its sums, or choices, multiplied out, where this takes away factors
    in some term.
    """
    for slot in product.slots:
        v = slot.v
        if slot.side != 1 or slot.changed or v.head not in (add, sub, switch):
            continue
        condition, terms = branches(v)
        if len(terms) > MANY or not any(is_steep(t) for _, t in terms):
            continue
        parts = [multiplied(product, slot, t) for _, t in terms]
        if not any(part.changed() for part in parts):
            continue
        if condition is not None:
            return switch(condition, *[with_nans(part.written(), [part]) for part in parts])
        signs = [sign for sign, _ in terms]
        value = total(list(zip(signs, [part.written() for part in parts], strict=True)))
        return with_nans(value, parts)
    return None


def branches(v):
    """The condition of a choice, and what is chosen from; or None, and the terms of a sum."""
    if v.head is switch:
        condition, x, y = v.owner.inputs
        return condition, [(1, x), (1, y)]
    return None, summands(v)


def is_steep(v):
    """Whether a term has something below a bar, or an exponential."""
    product = Product(v) if v.type.kind == "f" else None
    if product is None or not product.fits:
        return False
    return any(f.power < 0 or f.kind is exp for f in product.factors())


def multiplied(product, slot, t):
    """The product with a term where a slot is, reduced."""
    old, slot.v = slot.v, t
    raw = product._written(product.tree)
    slot.v = old
    new = Product(raw)
    if new.fits and is_steep(t):
        new.reduce(near_step)
    return new


# --- sums -----------------------------------------------------------------------------------------


def may_be_left(op, seen, distinct):
    """Whether terms of a sum may be what is left of a whole."""
    heads = {s[0] if s.__class__ is tuple else s for s in seen}
    return bool(heads & (KNOWN | DESCENDED))


@node_rewriter([add, sub], phase="stabilize", claim=COMBINED, depth=8, when=may_be_left)
def combine_terms(fgraph, node):
    """a - a * sigmoid(x) is a * sigmoid(-x), also where a has other factors of the kind.

    Not data: what the quotient of two terms is has to be found out.

    >>> x, a = vectors("x a")
    >>> rewritten(a - a * sigmoid(x), a * exp(x) - sigmoid(x) * a)
    [a * sigmoid(-x), a * exp(x) * sigmoid(x)]
    """
    out = node.outputs[0]
    terms = summands(out)
    if out.type.kind != "f" or len(terms) > MANY or not any(has_known(t) for _, t in terms):
        return None
    products = [(sign, Product(t)) for sign, t in terms if t.type.kind == "f"]
    if len(products) < len(terms) or not all(p.fits for _, p in products):
        return None
    products = [pair for sign, p in products for pair in multiplied_out(sign, p)]
    found = len(products) <= 2 * MANY and paired(products)
    return fitting(out, total([(s, p.written()) for s, p in products])) if found else None


def multiplied_out(sign, product):
    """A term of a sum as several, if it has a sum itself."""
    for slot in product.slots:
        if slot.side == 1 and slot.v.head in (add, sub) and product.is_known():
            parts = [(sign * s, multiplied(product, slot, t)) for s, t in summands(slot.v)]
            if len(parts) <= MANY and all(p.fits for _, p in parts):
                return parts
    return [(sign, product)]


def paired(products):
    """Join terms in a list as long as it goes; whether it did."""
    done = False
    while (found := pair_of(products)) is not None:
        i, j, new = found
        products[i] = (products[i][0], new)
        del products[j]
        done = True
    return done


def pair_of(products):
    """Two terms, and what is left of the first."""
    for i, (s, a) in enumerate(products):
        for j, (t, b) in enumerate(products):
            if s * a.sign() * t * b.sign() < 0 and b.is_known():
                new = left_over(a, b)
                if new is not None:
                    return i, j, new
    return None


def left_over(a, b):
    """a - b, up to signs, if b is a * sigmoid(x); else None."""
    fa, fb = a.factors(), b.factors()
    for f in [f for f in fa if f.kind not in KNOWN]:
        twin = next((g for g in fb if g.is_like(f) and g.power == f.power), None)
        if twin is None:
            return None
        fa.remove(f)
        fb.remove(twin)
    if any(f.kind not in KNOWN for f in fb) or a.number() != b.number():
        return None
    ratio = [Factor(f.kind, f.argument, f.power) for f in fb]
    ratio += [Factor(f.kind, f.argument, -f.power) for f in fa]
    quotient = Product(None, ratio, dtype=a.dtype)
    quotient.reduce(simple_step)
    found = quotient.factors()
    if len(found) != 1 or found[0].kind is not sigmoid or found[0].power != 1:
        return None
    rest = Product(a.written(), [Factor(sigmoid, times(found[0].argument, -1.0), 1.0)])
    rest.reduce(simple_step)
    return rest
