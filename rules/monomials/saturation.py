"""What overflows or underflows on the way, where the result does not: products and quotients of
exponentials, sigmoids and the like, as gradients of densities have them. (Their logarithms:
`logarithm.py`.)

One mechanism instead of a rule for each pair: a product is taken as powers of known factors
(`rules/monomials/step.py`), which are combined where they would spoil each other.
"""

from functools import partial

from rewrite_engine.rules.facts import same_shape
from rewrite_engine.rules.facts_failure import errors_stay
from rewrite_engine.rules.language import *
from rewrite_engine.rules.monomials.factor import (
    BELOW_ONE,
    DESCENDED,
    KNOWN,
    Factor,
    has_known,
    is_descended,
    summands,
)
from rewrite_engine.rules.monomials.linear import (
    MANY,
    SIGNED,
    factors_of,
    number_of,
    times,
)
from rewrite_engine.rules.monomials.part import is_softmax, takes_part
from rewrite_engine.rules.monomials.product import Product, with_nans
from rewrite_engine.rules.monomials.step import near_step, sigmoid_expm1, simple_step, step, total
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.tensor import (
    Softmax,
    add,
    cast,
    erf,
    erfc,
    exp,
    expm1,
    mul,
    neg,
    pow,
    second,
    sigmoid,
    softplus,
    sqr,
    sub,
    switch,
    tanh,
    true_div,
)
from rewrite_engine.tensor.special import ScaledExp

#: exp(x + y) is off by up to |x + y| / 2 units
COMBINED = approx(ulps=1 << 10)


NESTS = frozenset({add, sub, switch})
LEVELS = 2  # of sums and choices in each other that are looked into
TURNS = 12  # how often what came of one term may be taken up again
NESTED = DESCENDED | NESTS
MAY_SPOIL = KNOWN | NESTED


def may_spoil(op, seen, distinct):
    """Whether there may be factors, or terms of a sum, that spoil each other."""
    heads = [s[0] if s.__class__ is tuple else s for s in seen]
    if len(heads) == 2 and CONSTANT in heads:  # a single factor, if it is no product itself
        return not NESTED.isdisjoint(heads)
    return not MAY_SPOIL.isdisjoint(heads)


def promising(node):
    """Whether a look at the product is worth it: two factors of which one is known, or a quotient
    below a sum.
    """
    todo, known, seen, again = list(node.inputs), 0, set(), False
    for v in todo:
        if len(todo) > 4 * MANY:
            return False
        if is_descended(v):
            todo += v.owner.inputs
        elif takes_part(v):
            todo.append(v.owner.inputs[0])
        elif v.head in KNOWN - BELOW_ONE or isinstance(v.head, ScaledExp | Softmax):
            known += 1
        elif v.head in NESTS:
            known += any(has_hint(u) for u in v.owner.inputs)
        again = again or (v in seen and v.head is not CONSTANT)
        seen.add(v)
    return known > 0 or again


def has_hint(v, depth=4):
    """Whether there may be something known, or a quotient, in a term of a sum."""
    if v.head in KNOWN - BELOW_ONE or v.head is true_div:
        return True
    if depth and takes_part(v):
        return has_hint(v.owner.inputs[0], depth - 1)
    return bool(depth and is_descended(v)) and any(has_hint(u, depth - 1) for u in v.owner.inputs)


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
    (out,) = node.outputs
    return settled(out, factors_combined(out))


def factors_combined(out):
    """A product with all that is done to it at once; None if there is nothing to do."""
    if out.type.kind != "f" or not promising(out.owner):
        return None
    product = Product(out)
    if not product.fits:
        return None
    before = product.measure()
    if product.reduce(step) or product.shows_again():
        new = with_nans(product.written(), [product])
        return fitting(out, new) if Product(new).measure() < before else None
    return fitting(out, spread(product))


@node_rewriter([mul, true_div], phase="specialize", claim=COMBINED, depth=8, when=may_spoil)
def slope_between_sigmoids(fgraph, node):
    """The slope of log(sigmoid(x) - sigmoid(y)) where both are 0, or 1. Not earlier: what else may
    cancel is found beside sigmoid(-x).

    Not data: see `combine_factors`.

    >>> x, y = vectors("x y")
    >>> rewritten(sigmoid(x) / expm1(softplus(x) - softplus(y)))
    1.0 / (exp(maximum(softplus(x) - softplus(y), softplus(-x) - softplus(-y)))
    * expm1(-abs(x - y)) * switch(x - y > 0.0, -1.0, 1.0))
    """
    (out,) = node.outputs
    if out.type.kind != "f" or not any(has_known(v, {expm1}, 8) for v in node.inputs):
        return None
    product = Product(out)
    if not product.fits or not product.reduce(sigmoid_expm1):
        return None
    return fitting(out, with_nans(product.written(), [product]))


def settled(out, new):
    """What is made of a product or a sum, if this comes to an end: if what is made of the result,
    and so on, is left alone after a few turns. What other rules make of signs, numbers, brackets
    and the order of terms does not change how a term is read, so it is left alone then, too.
    """
    if new is None:
        return None
    old, todo, turns = set(below([out])), [new], 0
    for v in todo:
        again = combined_once(v)
        turns += again is not None
        if v is out or turns > TURNS or len(todo) > 8 * MANY:
            return None
        found = [again] if again is not None else v.owner.inputs if v.head in CARRY else []
        todo += [u for u in found if u is out or u not in old]
    return new


def below(todo):
    """The terms of which a term is made by arithmetic: the nearest."""
    for v in todo:
        if v.head in CARRY | DESCENDED and len(todo) < 16 * MANY:
            todo += v.owner.inputs
    return todo


CARRY = frozenset({neg, add, sub, switch})


def combined_once(v):
    """What the two rules make of a term; None for what they leave alone."""
    if v.head is mul or v.head is true_div:
        return factors_combined(v)
    return terms_combined(v) if v.head is add or v.head is sub else None


def fitting(out, new):
    """The term, if its type is what is wanted but for a narrower dtype."""
    if new is None:
        return None
    new = cast(new, out.type.dtype)
    return new if out.type.yields_to(new.type) else None


def spread(product, depth=LEVELS, step=near_step):
    """The product with one of its sums, or choices, multiplied out, where steps take away factors
    in some term; those in it too, so many levels down.
    """
    for slot in product.slots:
        v = slot.v
        if slot.side != 1 or slot.changed or v.head not in NESTS:
            continue
        condition, terms = branches(v)
        if len(terms) > MANY or not any(is_steep(t, depth - 1) for _, t in terms):
            continue
        if any(f.power < 0 and f.term is v for f in product.factors()):
            continue  # what cancels in it cancels below the bar, too
        parts = [multiplied(product, slot, t, depth - 1, step) for _, t in terms]
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
        return condition, [(1, cast(u, v.type.dtype)) for u in (x, y)]
    return None, summands(v)


def is_steep(v, depth):
    """Whether a term has something below a bar, an exponential, or a softmax."""
    if v.head in NESTS:
        return depth > 0 and any(is_steep(t, depth - 1) for _, t in branches(v)[1])
    product = Product(v) if v.type.kind == "f" else None
    if product is None or not product.fits:
        return False
    return any(
        f.power < 0
        or (f.slot.side < 0 and f.slot.v.head in (pow, sqr))
        or f.kind is exp
        or (f.kind is None and is_softmax(f.term))
        for f in product.factors()
    )


def multiplied(product, slot, t, depth=LEVELS, step=near_step):
    """The product with a term where a slot is, reduced."""
    new = Product(with_leaf(product, slot, t))
    new.lost += product.lost
    if new.fits and is_steep(t, depth) and not new.reduce(step):
        chosen = spread(new, depth, step)
        if chosen is not None:
            lost, new = new.lost, Product(chosen)
            new.touched = True
            new.lost += lost
    return new


# --- sums -----------------------------------------------------------------------------------------


def may_be_left(op, seen, distinct):
    """Whether terms of a sum may be what is left of a whole."""
    heads = {s[0] if s.__class__ is tuple else s for s in seen}
    return bool(heads & (KNOWN | DESCENDED | {switch}))


@node_rewriter([add, sub], phase="stabilize", claim=COMBINED, depth=8, when=may_be_left)
def combine_terms(fgraph, node):
    """a - a * sigmoid(x) is a * sigmoid(-x), also where a has other factors of the kind; so do
    other functions keep the digits of what they lack to a number.

    Not data: what the quotient of two terms is has to be found out.

    >>> x, a = vectors("x a")
    >>> rewritten(a - a * sigmoid(x), a * exp(x) - sigmoid(x) * a)
    [a * sigmoid(-x), a * exp(x) * sigmoid(x)]
    >>> rewritten(sigmoid(x) - sigmoid(x) * tanh(x))
    sigmoid(x) * 2.0 * sigmoid(-2.0 * x)
    >>> rewritten(1 - erf(x), 3 * a * erfc(x) - 6 * a)
    [erfc(x), -3.0 * a * erfc(-x)]
    """
    (out,) = node.outputs
    return settled(out, terms_combined(out))


def terms_combined(out):
    """The same for a sum."""
    terms = summands(out)
    if out.type.kind != "f" or len(terms) > MANY:
        return None
    if lacks_another(terms) or not any(may_pair(t) for _, t in terms):
        return None
    products = [(sign, Product(t)) for sign, t in terms if t.type.kind == "f"]
    if len(products) < len(terms) or not all(p.fits for _, p in products):
        return None
    parts = [p for _, p in products]
    chosen = by_choice(products)
    if chosen is not None:
        return fitting(out, chosen)
    apart = [pair for sign, p in products for pair in multiplied_out(sign, p)]
    found = joined_pairs(products) or joined_pairs(apart, bounded=True)
    if found is None and not any(p.shows(lost) for p in parts for q in parts for lost in q.lost):
        return None
    products = found or products
    value = total([(s, p.written()) for s, p in products])
    return fitting(out, with_nans(value, [p for _, p in products]))


def may_pair(t):
    """Whether a term may be what another is reduced by (see `left_over`), or holds a choice."""
    return t.head is switch or has_known(t, KNOWN)


def lacks_another(terms):
    """Whether a sum is that of a number and a multiple of something of which it leaves no rest."""
    if len(terms) != 2:
        return False
    (s, number), (t, v) = terms if terms[0][1].head is CONSTANT else reversed(terms)
    c = number_of(number)
    if c is None or v.head is CONSTANT or v.head is switch:
        return False
    above, below, multiple = factors_of(v) if v.head in SIGNED else ([v], [], 1.0)
    rests = REST_OF.get(above[0].head, RESTS) if len(above) == 1 and not below else RESTS
    return not multiple or s * c / (t * multiple) not in rests


def by_choice(products):
    """A sum whose terms all choose by the same condition, as one choice."""
    slots = [
        next((x for x in p.slots if x.v.head is switch and x.side == 1), None) for _, p in products
    ]
    if len(slots) < 2 or None in slots or len({x.v.owner.inputs[0] for x in slots}) > 1:
        return None
    sums = []
    for branch in (1, 2):
        terms = []
        for (sign, p), slot in zip(products, slots, strict=True):
            v = cast(slot.v.owner.inputs[branch], slot.v.type.dtype)
            terms.append((sign, with_leaf(p, slot, v)))
        sums.append(total(terms))
    if len({x.v for x in slots}) == 1 and all(combined_once(v) is None for v in sums):
        return None  # nothing comes of it but work that is done twice
    return with_nans(switch(slots[0].v.owner.inputs[0], *sums), [p for _, p in products])


def with_leaf(product, slot, v):
    """The product with another term where a slot is."""
    old, slot.v = slot.v, v
    value = product.written()
    slot.v = old
    return value


def multiplied_out(sign, product):
    """A term of a sum as several, if it has a sum itself."""
    for slot in product.slots:
        if slot.side == 1 and slot.v.head in (add, sub) and product.is_known():
            parts = [(sign * s, multiplied(product, slot, t)) for s, t in summands(slot.v)]
            if len(parts) <= MANY and all(p.fits for _, p in parts):
                return parts
    return [(sign, product)]


def joined_pairs(products, bounded=False):
    """Terms, joined as long as it goes; None if there is nothing to join. bounded: as `pair_of`."""
    if len(products) > 2 * MANY:
        return None
    old, products = products, list(products)
    while (found := pair_of(products, bounded)) is not None:
        i, j, new = found
        products[i] = (products[i][0], new)
        del products[j]
    return products if len(products) < len(old) else None


def pair_of(products, bounded):
    """Two terms, and what is left of the first. bounded: only of functions that are: the rest may
    cancel with what is left of a product that was multiplied out, as in y + (1 - y) exp(x).
    """
    for i, (s, a) in enumerate(products):
        for j, (t, b) in enumerate(products):
            if i != j and b.is_known():
                new = left_over(a, b, s * a.sign() * t * b.sign(), bounded)
                if new is not None:
                    return i, j, new
    return None


#: {f: {c: (g, k, n)}}: c + f(u) is c n g(k u), and has all the digits of g
REST_OF = {
    sigmoid: {-1: (sigmoid, -1.0, 1.0), -0.5: (tanh, 0.5, -1.0)},
    tanh: {-1: (sigmoid, -2.0, 2.0), 1: (sigmoid, 2.0, 2.0)},
    erf: {-1: (erfc, 1.0, 1.0), 1: (erfc, -1.0, 1.0)},
    erfc: {-2: (erfc, -1.0, 0.5), -1: (erf, 1.0, 1.0)},
    exp: {-1: (expm1, 1.0, -1.0)},
}
RESTS = {c for known in REST_OF.values() for c in known}


def rest_of(share, c, dtype):
    """What 1 + share / c is: a factor and the number before it; of others None."""
    if share.power == 1 and c in REST_OF.get(share.kind, {}):
        kind, scale, number = REST_OF[share.kind][c]
        return Factor(kind, times(share.argument, scale), 1.0, dtype=dtype), number
    if share.kind is sigmoid and share.power > 0 and c == -1:  # a power by its logarithm
        opposite = softplus(share.written_argument(-1.0))
        return Factor(expm1, {opposite: -share.power}, 1.0, dtype=dtype), -1.0
    return None, 0.0


def left_over(a, b, ratio, bounded):
    """a + ratio * b, up to signs, if it is a - a * sigmoid(x), or the like; else None."""
    fa, fb = a.factors(), b.factors()
    own, ratio = a.number(), ratio * b.number()
    for f in list(fa):
        known = ((g, g.times(f)) for g in fb if g.power == f.power)
        twin, c = next(((g, c) for g, c in known if c), (None, 0.0))
        if twin is None and f.kind in KNOWN:
            continue
        fa.remove(f)
        if twin is not None:
            ratio *= c**f.power
            fb.remove(twin)
        elif f.term.head is second and number_of(f.term.owner.inputs[1]):
            own *= number_of(f.term.owner.inputs[1]) ** f.power  # it stays, for its shape
        else:
            return None
    if any(f.kind not in KNOWN for f in fb) or not ratio:
        return None
    parts = [Factor(f.kind, f.argument, f.power) for f in fb]
    parts += [Factor(f.kind, f.argument, -f.power) for f in fa]
    quotient = Product(None, parts, dtype=a.dtype)
    quotient.reduce(simple_step)
    found = quotient.factors()
    share = found[0] if len(found) == 1 else None
    if share is None or (share.kind is exp and (fa or bounded)):
        return None
    factor, number = rest_of(share, own / ratio, promote(a.dtype, b.dtype))
    if factor is None:
        return None
    rest = Product(a.written(), [factor], dtype=factor.dtype)
    rest.extra[0].number = number
    rest.lost += a.lost + b.lost + quotient.lost
    rest.reduce(simple_step)
    return rest


# --- choices --------------------------------------------------------------------------------------


def may_ask_again(op, seen, distinct):
    """Whether something may be computed in a branch."""
    return bool({s[0] if s.__class__ is tuple else s for s in seen} & ASKED_IN)


ASKED_IN = frozenset({mul, true_div, neg, add, sub})


@node_rewriter([switch], phase="stabilize", claim=exact, depth=8, when=may_ask_again)
def choice_in_branch(fgraph, node):
    """The same question has the same answer: the gradient of log(switch(...)) asks twice.

    Not data: the inner choice stands anywhere in the branch.

    >>> c, x, y = bvector("c"), vector("x"), vector("y")
    >>> rewritten(switch(c, y / switch(c, x, -x), 0.0), switch(c, 0.0, 2 - y / switch(c, -x, x)))
    [switch(c, y / x, 0.0), switch(c, 0.0, 2.0 - y / x)]
    """
    condition, *branches = node.inputs
    stays = partial(may_be_dropped, fgraph, node)
    new = [answered(v, condition, i, stays, 6, {}) for i, v in enumerate(branches)]
    if all(v is w for v, w in zip(branches, new, strict=True)):
        return None
    return fitting(node.outputs[0], switch(condition, *new))


def answered(v, condition, i, stays, depth, known):
    """A term with its choices by this condition made, for the i-th branch. stays: whether nothing
    is lost with what is not chosen. known: what was made of terms, so many levels deep.
    """
    if (v, depth) in known:
        return known[v, depth]
    made = v
    if v.head is switch and v.owner.inputs[0] is condition:
        found, other = v.owner.inputs[1 + i], v.owner.inputs[2 - i]
        made = found if stays(other, found) else v
    elif depth and v.head in ASKED_IN:
        inputs = [answered(u, condition, i, stays, depth - 1, known) for u in v.owner.inputs]
        same = all(u is w for u, w in zip(inputs, v.owner.inputs, strict=True))
        made = v if same else v.owner.op(*inputs)
    known[v, depth] = made
    return made


def may_be_dropped(fgraph, node, v, kept):
    """Whether a term may go without a loss of digits, or of an error."""
    if v.type.dtype != kept.type.dtype:
        return False
    fits = all(v.type.broadcastable) or same_shape(v, kept)
    return bool(fits) and bool(errors_stay(fgraph, node, v, (kept,)))
