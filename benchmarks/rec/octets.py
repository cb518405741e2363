"""Products of octets, bit by bit: the ops of a step have as many operands as bits are on their way
(17 for a sum). The published questions are the products of the multiples of 5, one each; here some
of them are asked together, as a list.
"""

from __future__ import annotations

from benchmarks.rec.language import (
    Program,
    Symbol,
    constants,
    false,
    ground,
    listed,
    rules,
    symbols,
    true,
)
from rewrite_engine.graph.node import Variable

off, on, nought, unit, nothing = constants("off on nought unit nothing")
flipped, sum_only = symbols(1, "flipped sum_only")
all_of, conj, disj, xor, eq, eq_octet, eq_half, half, octet_sum = symbols(
    2, "all_of conj disj xor eq eq_octet eq_half half octet_sum"
)
add, multiply, added = symbols(2, "add multiply added")
digit, carry, add_with, shifted_in = symbols(3, "digit carry add_with shifted_in")
(tested,) = symbols(4, "tested")
(octet,) = symbols(8, "octet")
#: what is left to add of k bits, and to multiply from bit k on
ADD = tuple(Symbol(f"add_{k}", 2 * k + 1 + 8 - k) for k in range(9))
MULTIPLY = tuple(Symbol(f"multiply_{k}", 8 - k + 3) for k in range(9))
LEFT = tuple(Symbol(f"left_{k}", 1) for k in range(8))
RIGHT = tuple(Symbol(f"right_{k}", 1) for k in range(8))


@rules
def bits(x, y, z, b):
    """Logic of bits, and their equality."""
    return (
        all_of(false, b) >> false,
        all_of(true, b) >> b,
        flipped(off) >> on,
        flipped(on) >> off,
        conj(x, off) >> off,
        conj(x, on) >> x,
        disj(x, off) >> x,
        disj(x, on) >> on,
        xor(x, off) >> x,
        xor(x, on) >> flipped(x),
        eq(off, off) >> true,
        eq(off, on) >> false,
        eq(on, off) >> false,
        eq(on, on) >> true,
        digit(x, y, z) >> xor(xor(x, y), z),
        carry(x, y, z) >> disj(conj(conj(x, y), flipped(z)), conj(disj(x, y), z)),
    )


@rules
def octets(x1, x2, x3, x4, x5, x6, x7, x8, y1, y2, y3, y4, y5, y6, y7, y8, o, p, q, r):
    """Octets: equality, shifts and products."""
    x, y = (x1, x2, x3, x4, x5, x6, x7, x8), (y1, y2, y3, y4, y5, y6, y7, y8)
    equal = eq(x8, y8)
    for one, other in zip(x[6::-1], y[6::-1], strict=True):
        equal = all_of(eq(one, other), equal)
    return (
        nought >> octet(*[off] * 8),
        unit >> octet(*[off] * 7, on),
        nothing >> half(nought, nought),
        eq_octet(octet(*x), octet(*y)) >> equal,
        eq_half(half(o, p), half(q, r)) >> all_of(eq_octet(o, q), eq_octet(p, r)),
        *[LEFT[k](octet(*x)) >> octet(*x[k:], *[off] * k) for k in range(1, 8)],
        *[RIGHT[k](octet(*x)) >> octet(*[off] * k, *x[:-k]) for k in range(1, 8)],
        multiply(octet(*x), o) >> MULTIPLY[1](*x, o, nothing),
        *[MULTIPLY[k](off, *x[k:], o, p) >> MULTIPLY[k + 1](*x[k:], o, p) for k in range(1, 8)],
        *[
            MULTIPLY[k](on, *x[k:], o, p)
            >> MULTIPLY[k + 1](*x[k:], o, shifted_in(p, RIGHT[k](o), LEFT[8 - k](o)))
            for k in range(1, 8)
        ],
        MULTIPLY[8](off, o, p) >> p,
        MULTIPLY[8](on, o, p) >> shifted_in(p, nought, o),
        shifted_in(half(o, p), q, r) >> added(add(o, q), add_with(p, r, off)),
        added(o, octet_sum(off, p)) >> half(o, p),
        added(o, octet_sum(on, p)) >> half(add(o, unit), p),
        tested(o, p, q, r)
        >> all_of(eq_half(multiply(o, p), half(q, r)), eq_half(multiply(p, o), half(q, r))),
    )


@rules
def octet_sums(
    x1, x2, x3, x4, x5, x6, x7, x8, y1, y2, y3, y4, y5, y6, y7, y8,
    z1, z2, z3, z4, z5, z6, z7, z8, c, o, p,
):  # fmt: skip
    """Sums of octets, from the lowest bit up."""
    x, y = (x1, x2, x3, x4, x5, x6, x7, x8), (y1, y2, y3, y4, y5, y6, y7, y8)
    z = (z1, z2, z3, z4, z5, z6, z7, z8)
    pairs = [bit for both in zip(x, y, strict=True) for bit in both]
    steps = []
    for k in range(8, 0, -1):
        here = (x[k - 1], y[k - 1], c)
        done = (*pairs[: 2 * k - 2], carry(*here), digit(*here), *z[k:])
        steps.append(ADD[k](*pairs[: 2 * k], c, *z[k:]) >> ADD[k - 1](*done))
    return (
        add_with(octet(*x), octet(*y), c) >> ADD[8](*pairs, c),
        *steps,
        ADD[0](c, *z) >> octet_sum(c, octet(*z)),
        sum_only(octet_sum(c, o)) >> o,
        add(o, p) >> sum_only(add_with(o, p, off)),
    )


def as_octet(n: int) -> Variable:
    """The octet n."""
    return octet(*[ground(on if n >> k & 1 else off) for k in range(7, -1, -1)])


def asked(n: int) -> Variable:
    """The products of the largest n multiples of 5, each with the half that it should be."""
    numbers = range(255, 255 - 5 * n, -5)
    return listed(
        [tested(*map(as_octet, (a, b, a * b >> 8, a * b & 255))) for a in numbers for b in numbers]
    )


PROGRAMS = (
    Program(
        "octets",
        bits + octets + octet_sums,
        size=8,
        small=1,
        ask=asked,
        answer=lambda n: listed([ground(true)] * n**2),
    ),
)
