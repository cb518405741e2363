"""Terms read as powers: each once, from the powers of its operands."""

import math

from rewrite_engine.facts import nonneg
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.match.fact import because, fact
from rewrite_engine.rules.powers.forms import (
    MAX_FORM_TERMS,
    ONE,
    is_moderate,
    linear,
    number_of,
    signed,
    times,
    unwidened,
)
from rewrite_engine.rules.powers.power import TABLE, InOrder, Power, of_form, split, times_power
from rewrite_engine.rules.powers.rays import along_one_ray, beside_erf
from rewrite_engine.tensor import (
    abs,
    add,
    erf,
    exp,
    exp2,
    i0,
    i0e,
    i1,
    i1e,
    iv,
    ive,
    kv,
    kve,
    mul,
    neg,
    pow,
    reciprocal,
    sqr,
    sqrt,
    sub,
    true_div,
)

MAX_FACTORED_TERMS = 6  # terms of a sum that is read as a product
PRODUCTS = frozenset({mul, true_div, neg, reciprocal, sqr, sqrt, pow})
SUMS = frozenset({add, sub})


#: Bessel functions as exp(|x|), or exp(-x), times the same without this factor
SCALED = {
    i0: lambda x: ({size(x).value: 1.0}, i0e(x)),
    i1: lambda x: ({size(x).value: 1.0}, i1e(x)),
    iv: lambda v, x: ({size(x).value: 1.0}, order_scaled(v, x)),
    kv: lambda v, x: ({x: -1.0}, kve(v, x)),
}
REMAINDERS = frozenset({i0e, i1e, ive, kve})


@fact
def size(x):
    """The modulus of a term, made once, so that it is equal to itself (`Evidence.value`)."""
    return because("it is a modulus", value=x if nonneg(x) else abs(x))


def order_scaled(v, x):
    """Return ive(v, x)."""
    return {0: i0e, 1: i1e}.get(number_of(v), lambda x: ive(v, x))(x)


def is_scaled(v):
    """Return whether a term is a Bessel function of a number in its own dtype."""
    return v.head in SCALED and all(u.type.dtype == v.type.dtype for u in v.owner.inputs[-1:])


def exponent(v):
    """Return the argument of an exponential in any base, exp(x), exp2(x) or c**x, as a linear form
    in base e; None for others.
    """
    if v.head is exp or v.head is exp2:
        base, x = (1.0 if v.head is exp else math.log(2.0)), v.owner.inputs[0]
    elif v.head is pow and is_exponential(v):
        base, x = math.log(number_of(v.owner.inputs[0])), v.owner.inputs[1]
    elif v.head in SCALED:
        return SCALED[v.head](*v.owner.inputs)[0]
    else:
        return None
    form = linear(x) if x.type.dtype == v.type.dtype else {unwidened(x): 1.0}
    return times(form, base)


def is_exponential(v):
    """Return whether a power is a number above 0, other than 1, with a variable exponent."""
    base, x = v.owner.inputs
    number = number_of(base)
    return number is not None and 0 < number != 1 and x.head is not CONSTANT and x.type.kind == "f"


def is_function(v):
    """Return whether a term is one of the functions that are read as powers of t = exp(u)."""
    if v.head is pow:
        return v.type.kind == "f" and is_exponential(v)
    return v.head in TABLE or (v.head in SCALED and is_scaled(v))


def power(v):
    """Return a float as a `Power`. Made once per term; must not be changed."""
    return power_record(v).value


@fact(depth=2)
def power_record(v):
    """Exponents of a product (`Evidence.value`)."""
    found = read(v) if v.type.kind == "f" else None
    if found is None or found.size > MAX_FORM_TERMS or not is_moderate(found.number, v.type.dtype):
        found = opaque(v)
    return because("it is a product of powers", value=found)


def is_itself(p, v):
    """Return whether the power of a term is only the term itself."""
    return p.others.get(unwidened(v)) == 1 and not (p.is_known or len(p.others) > 1)


def opaque(v):
    """Return the power of a term that is not analysed further."""
    if v.type.kind == "f" and v.head is CONSTANT:
        v, sign = signed(v)
        return Power(sign, others={v: 1})
    return Power(others={unwidened(v): 1})


def read(v):
    """Return a term as a power; None if it is none."""
    head = v.head
    if head is pow and is_exponential(v):
        u = exponent(v)
        return of_form(u, 1) if any(key is not ONE for key in u) else None
    if head in PRODUCTS:
        return read_product(v)
    if head in SCALED and is_scaled(v):
        form, rest = SCALED[head](*v.owner.inputs)
        return Power(form=form, others={rest: 1}, functions=1)
    if head in TABLE:
        x = v.owner.inputs[0]
        u = linear(x) if x.type.dtype == v.type.dtype else {x: 1.0}
        return TABLE[head](u) if any(key is not ONE for key in u) else None
    if head in SUMS:
        return total(v)
    number = number_of(v)
    return Power(number) if number else None


def read_product(v):
    """Return a product, a quotient, or a power (`x ** c`) as a power; None if it is none."""
    head, inputs = v.head, v.owner.inputs
    if head is mul:
        whole = Power()
        for u in inputs:
            whole = times_power(whole, operand(u, v))
        return split(whole)
    first = operand(inputs[0], v)
    if head is true_div:
        return split(times_power(first, operand(inputs[1], v).raised(-1)))
    if head is neg:
        return first._replace(number=-first.number)
    if head is reciprocal:
        return first.raised(-1)
    p = {sqr: 2, sqrt: 0.5}.get(head) or number_of(inputs[1])
    if not p or not is_fine(first, p):
        return None
    return first.raised(int(p) if p == int(p) else p)


def is_fine(base, p):
    """Return whether a power of this product may be taken."""
    if math.fabs(p) > MAX_FORM_TERMS:
        return False
    if p == int(p):
        return True
    has_sign = any(f.kind == -1 or f.kind is erf for f in base.factors)  # sqrt(x**2) is not x
    return base.is_known and base.number > 0 and not base.others and not has_sign


def operand(u, v):
    """Return the power of an operand of v; an operand in a narrower dtype is a variable."""
    number = number_of(u)
    if number:
        return Power(number)
    return power(u) if u.type.dtype == v.type.dtype else Power(others={unwidened(u): 1})


# --- sums -----------------------------------------------------------------------------------------


def summands(v):
    """Return the terms of a sum with their signs, including nested sums (except in large ones)."""
    terms, todo = [], [(1, v)]
    while todo:
        s, u = todo.pop()
        if u.head is neg:
            todo.append((-s, u.owner.inputs[0]))
        elif u.head in SUMS and (u is v or u.type.dtype == v.type.dtype):
            signs = [s, *[-s if u.head is sub else s] * (len(u.owner.inputs) - 1)]
            todo += [*zip(signs, u.owner.inputs, strict=True)][::-1]
        else:
            terms.append((s, u))
        if len(terms) + len(todo) > MAX_FORM_TERMS:
            return summands_at_top(v)
    return terms


def summands_at_top(v):
    """Return the terms of a sum itself."""
    if v.head is neg:
        return [(-s, u) for s, u in summands_at_top(v.owner.inputs[0])]
    first, *rest = v.owner.inputs
    return [(1, first), *[(-1 if v.head is sub else 1, u) for u in rest]]


def signed_term(v):
    """Return a sign, and the term without it."""
    return (-1, v.owner.inputs[0]) if v.head is neg else (1, v)


def total(v):
    """Return a sum as a power, if it is one; None for others."""
    terms = summands(v)
    if len(terms) > MAX_FACTORED_TERMS or any(t.type.kind != "f" for _, t in terms):
        return None
    powers = [operand(t, v) for _, t in terms]
    if not any(p.is_known for p in powers):
        return None
    powers = [p._replace(number=s * p.number) for (s, _), p in zip(terms, powers, strict=True)]
    found = None
    if len(powers) == 2:
        a, b = powers
        found = beside_erf(a, b) or beside_erf(b, a)
    found = found or along_one_ray(powers)
    if found is None:
        return None
    lost = InOrder(key for p in (found, *powers) for key in p.lost)
    return found._replace(lost=lost, functions=sum(p.functions for p in powers))
