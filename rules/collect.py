"""Like terms in sums, powers of one base in products."""

from collections import Counter
from math import isfinite

import numpy as np

from rewrite_engine.match.ac import joined
from rewrite_engine.match.outline import content
from rewrite_engine.rules.facts import nonneg
from rewrite_engine.rules.language import *
from rewrite_engine.tensor import add, constant, mul, neg, sqr, sqrt


@rule(phase="canonicalize", claim=exact)
def add_to_itself(x: Real):
    """One operand is read once.

    >>> x = vector("x")
    >>> rewritten(x + x)
    2.0 * x
    """
    return x + x >> 2 * x


def factors(v):
    """(number, operands): `v` as a number times a product of operands."""
    if v.head is neg:
        return -1, v.owner.inputs
    if v.head is mul:
        operands = v.owner.inputs
        numbers = [u for u in operands if u.head is CONSTANT and u.number is not None]
        if len(numbers) == 1:
            i = operands.index(numbers[0])
            return numbers[0].number, operands[:i] + operands[i + 1 :]
    return 1, (v,)


def term(number, operands, dtype):
    """A number times operands, in a dtype; None where the number does not fit into it. (1 stays
    where it is the only operand of that dtype.)
    """
    value = np.asarray(number).astype(dtype)
    if value.dtype.kind in "fc" and not isfinite(abs(value)):
        return None
    if number == 1 and any(v.type.dtype == dtype for v in operands):
        return mul(*operands) if len(operands) > 1 else operands[0]
    return mul(constant(value, dtype=dtype), *operands)


def may_be_alike(op, seen, distinct):
    """Whether two operands may have the same factors."""
    return not distinct or mul in seen or neg in seen


@node_rewriter(
    [add], phase="canonicalize", claim=approx(ulps=8), tags=["reorder"], when=may_be_alike
)
def like_terms(fgraph, node):
    """Terms with the same factors are one term; a missing number is 1. (8 units per operand. Not of
    complex numbers: 2 * z is NaN where z + z is infinite.)

    Not data: a table finds like terms among thousands.

    >>> x, y = vectors("x y")
    >>> rewritten(2 * x + y + 3 * x - y * -1 + x)
    2.0 * y + 6.0 * x
    """
    parts = [v.owner.inputs for v in node.inputs if v.head is mul or v.head is neg]
    seen = [*node.inputs, *[u for part in parts for u in part if u.head is not CONSTANT]]
    if len(set(seen)) == len(seen):
        return None  # nothing occurs twice
    dtype = node.outputs[0].type.dtype
    found = {}
    for v in node.inputs:
        number, operands = factors(v) if v.type.dtype == dtype else (1, (v,))
        found.setdefault(tuple(sorted(operands, key=id)), []).append((number, operands, v))
    if len(found) == len(node.inputs) or node.outputs[0].type.kind in "bc":
        return None
    terms = []
    for same in found.values():
        number, operands, v = same[0]
        terms.append(v if len(same) == 1 else term(sum(n for n, _, _ in same), operands, dtype))
    if any(t is None for t in terms):
        return None
    return add(*sorted(terms, key=content)) if len(terms) > 1 else terms[0]


def may_be_twice(op, seen, distinct):
    """Whether an operand may be there twice."""
    return not distinct


@node_rewriter([mul], phase="canonicalize", claim=exact, when=may_be_twice)
def repeated_factors(fgraph, node):
    """A power of integers, whose products are exact in any order: squares of squares.

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


@rule(phase="canonicalize", claim=assumes("fastmath"))
def power_times_power(x: Real, a: FloatConstant, b: FloatConstant):
    """One power instead of two, where none of them overflows or underflows.

    >>> x = vector("x")
    >>> rewritten(x**3.5 * x**1.5, including=["fastmath"])
    x ** 5.0
    """
    return x**a * x**b >> x ** (a + b)


@rule(phase="canonicalize", claim=assumes("fastmath"))
def power_times_base(x: Real, a: FloatConstant):
    """The same where one of the powers is the first.

    >>> x = vector("x")
    >>> rewritten(x**2.5 * x, including=["fastmath"])
    x ** 3.5
    """
    return x**a * x >> x ** (a + 1)


@rule(phase="canonicalize")
def sqr_of_sqrt(x: Real):
    """A root and its square; the sign has to be known.

    >>> rewritten(sqr(sqrt(exp(vector("x")))))
    exp(x)
    """
    return sqr(sqrt(x)) >> x, given(nonneg(x))
