"""Like terms in sums, and powers of one base in products."""

from collections import Counter
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.facts import finite
from rewrite_engine.language import *
from rewrite_engine.match.ac import joined
from rewrite_engine.match.outline import content, head_of
from rewrite_engine.rules.algebra import root_undone
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.tensor import add, constant, mul, neg, reciprocal, sqr, sqrt


@rule(phase="canonicalize", claim=exact)
def add_to_itself(x: Float):
    """A multiple by 2 reads its operand once instead of twice.

    >>> x = vector("x")
    >>> rewritten(x + x)
    2.0 * x
    """
    return x + x >> 2 * x


class Factors(NamedTuple):
    """A number times a product of operands. safe: whether the product without the number is
    computed anyway, or is at least 1/8 of a computed product.
    """

    number: Any
    operands: tuple[Any, ...]
    safe: bool = True


def factors(v):
    """Return `v` as a number times a product of operands."""
    if v.head is neg:
        return Factors(-1, v.owner.inputs)
    if v.head is mul:
        operands = v.owner.inputs
        numbers = [u for u in operands if u.head is CONSTANT and u.number is not None]
        if len(numbers) == 1:
            i, number = operands.index(numbers[0]), numbers[0].number
            few = len(operands) < 4 and 1 <= abs(number) <= 8
            safe = len(operands) == 2 or i == len(operands) - 1 or few
            return Factors(number, operands[:i] + operands[i + 1 :], safe)
    return Factors(1, (v,))


def term(number, operands, dtype):
    """Return a number times operands, in a dtype; None if the number does not fit into it. (A
    factor 1 is kept if it is the only operand of that dtype.)
    """
    if dtype[0] in "iu":
        number = wrapped(number, np.iinfo(dtype))
    value = np.asarray(number).astype(dtype)
    if value.dtype.kind in "fc" and not isfinite(abs(value)):
        return None
    product = joined(mul, operands)
    if number == 1 and any(v.type.dtype == dtype for v in operands):
        return product
    return mul(constant(value, dtype=dtype), product)


def wrapped(number, limits):
    """Return an integer wrapped around to the number of bits given by the limits."""
    return (number - limits.min) % (limits.max - limits.min + 1) + limits.min


def may_be_alike(op, seen, distinct):
    """Return whether two operands may have the same factors; a constant has none."""
    heads = {head_of(s) for s in seen}
    with_number = distinct and CONSTANT in heads
    return not distinct or (not with_number and bool(heads & {mul, neg}))


def may_be_joined(parts, type_, trusted):
    """Return whether terms with the same factors may be summed: no infinity is subtracted from
    another, and no new product is computed unless its operands are finite.
    """
    if trusted or type_.regroups_exactly:
        return True
    if not all(part.safe for part in parts):
        return False
    above = {part.number > 0 for part in parts if part.number}
    if len(above) == 1 and all(part.number for part in parts):
        return True
    return all(finite(v) for v in parts[0].operands)


def collected(node, trusted):
    """Return the sum with one term for all terms with the same factors; None if there are none."""
    parts = [v.owner.inputs for v in node.inputs if v.head is mul or v.head is neg]
    seen = [*node.inputs, *[u for part in parts for u in part if u.head is not CONSTANT]]
    out = node.outputs[0].type
    if len(set(seen)) == len(seen) or out.kind in "bc":
        return None  # nothing occurs twice
    found = {}
    for v in node.inputs:
        part = factors(v) if v.type.dtype == out.dtype else Factors(1, (v,))
        found.setdefault(product_of(part.operands, out, trusted), []).append((part, v))
    if len(found) == len(node.inputs):
        return None
    terms = []
    for same in found.values():
        parts = [part for part, _ in same]
        if len(same) > 1 and may_be_joined(parts, out, trusted):
            terms.append(term(sum(p.number for p in parts), parts[0].operands, out.dtype))
        else:
            terms += [v for _, v in same]
    if len(terms) == len(node.inputs) or any(t is None for t in terms):
        return None
    return add(*sorted(terms, key=content)) if len(terms) > 1 else terms[0]


def product_of(operands, type_, trusted):
    """Return a key for equal products; products of three or more floats are equal only in one
    order.
    """
    anyhow = trusted or type_.regroups_exactly or len(operands) < 3
    return tuple(sorted(operands, key=id)) if anyhow else operands


@node_rewriter(
    [add], phase="canonicalize", claim=approx(ulps=8), tags=["reorder"], when=may_be_alike
)
def like_terms(fgraph, node):
    """One term replaces several with the same factors; a missing number is 1. (8 units per
    operand.)

    The numbers must have one sign, or the factors must be known to be finite, as inf - inf is NaN.
    Complex numbers are excluded: 2 * z is NaN when z + z is infinite. Not data: a table finds like
    terms among thousands.

    >>> x, y, n = vector("x"), vector("y"), ivector("n")
    >>> rewritten(2 * x + y + 3 * x - y * -1 + x)
    2.0 * y + 6.0 * x
    >>> rewritten(3 * x + -2 * x), rewritten(3 * sin(n) + -2 * sin(n))
    (3.0 * x + -2.0 * x, sin(n))
    """
    return collected(node, trusted=False)


@node_rewriter(
    [add],
    phase="canonicalize",
    claim=assumes("fastmath", then=approx(ulps=8)),
    tags=["reorder"],
    when=may_be_alike,
)
def like_terms_of_numbers(fgraph, node):
    """One term replaces several with the same factors, with numbers of any sign, if values are
    finite.

    Not data: a table finds like terms among thousands.

    >>> x, y = vectors("x y")
    >>> rewritten(-2 * x + y + 4 * x, including=["fastmath"])
    y + 2.0 * x
    """
    return collected(node, trusted=True)


def may_be_twice(op, seen, distinct):
    """Return whether an operand may occur twice."""
    return not distinct


@node_rewriter([mul], phase="canonicalize", claim=exact, when=may_be_twice)
def repeated_factors(fgraph, node):
    """Repeated squares compute a power of integers, whose products are exact in any order.

    Not data: all operands are collected at once.

    >>> i = ivector("i")
    >>> rewritten(mul(i, i, i, i, i, i))
    sqr(i) * sqr(sqr(i))
    """
    out, inputs = node.outputs[0].type, node.inputs
    if not out.regroups_exactly or out.dtype == "bool":
        return None
    powers = [v for v in inputs if v.head is not CONSTANT and v.type.dtype == out.dtype]
    if len(set(powers)) == len(powers):
        return None
    counts = Counter(inputs)
    squares = {v.owner.inputs[0]: v for v in inputs if v.head is sqr}
    for v in (todo := list(dict.fromkeys(powers))):
        pairs, counts[v] = divmod(counts[v], 2)
        if pairs:
            square = squares[v] if v in squares else sqr(v)
            counts[square] += pairs
            todo.append(square)
    return joined(mul, sorted(counts.elements(), key=content))


def is_exact(dtype, *numbers):
    """Return whether a sum of numbers is exact."""
    if None in numbers or not all(map(isfinite, numbers)):
        return False
    total = sum(np.asarray(n, dtype) for n in numbers)
    from fractions import Fraction  # (loads `decimal`)

    return isfinite(total) and Fraction(float(total)) == sum(map(Fraction, numbers))


def exact_sum(a, b):
    """Return whether the sum of two exponents is exact: its rounding error would be multiplied by
    log(x).
    """
    real = a.type.kind == b.type.kind == "f"
    return real and is_exact(promote(a.type.dtype, b.type.dtype), a.number, b.number)


def exact_successor(a):
    """Return whether the sum of an exponent and 1 is exact."""
    return a.type.kind == "f" and is_exact(a.type.dtype, a.number, 1)


@rule(phase="canonicalize", claim=assumes("fastmath"))
def power_times_power(x: Float, a: InexactConstant, b: InexactConstant):
    """One power replaces two, if neither of them overflows or underflows.

    >>> x = vector("x")
    >>> rewritten(x**3.5 * x**1.5, including=["fastmath"])
    x ** 5.0
    """
    return x**a * x**b >> x ** (a + b), given(exact_sum)


@rule(phase="canonicalize", claim=assumes("fastmath"))
def power_times_base(x: Float, a: InexactConstant):
    """One power replaces a power and its base, if neither overflows nor underflows.

    >>> x = vector("x")
    >>> rewritten(x**2.5 * x, including=["fastmath"])
    x ** 3.5
    """
    return x**a * x >> x ** (a + 1), given(exact_successor)


@rule(
    phase="canonicalize",
    tags=["mends_gradients"],
    overlaps="a root around it is NaN at the same numbers",
)
def sqr_of_sqrt(x: Float):
    """A square undoes a root; the slope as written is 0 times infinity at 0. Below 0 it is NaN.

    >>> rewritten(sqr(sqrt(exp(vector("x")))), sqrt(vector("x")) ** 2)
    [exp(x), switch(x < 0.0, nan, x)]
    """
    return sqr(sqrt(x)) >> compute(root_undone)


ROOTS = table(
    "base_over_root",
    (
        "over_own_root", lambda x: x / sqrt(x) >> sqrt(x), refines,
        "One root takes the place of a root and a quotient, which is NaN at 0.",
        """(x := vector("x")) / sqrt(x) -> sqrt(x)""",
    ),
    (
        "times_reciprocal_of_own_root", lambda x: x * reciprocal(sqrt(x)) >> sqrt(x), refines,
        "One root takes the place of a root and a product, which is NaN at 0.",
        """(x := vector("x")) * reciprocal(sqrt(x)) -> sqrt(x)""",
    ),
    phase="stabilize", x=Float,
)  # fmt: skip
