"""Arithmetic modulo 17, done in two ways that are compared: an expression as it is, and expanded
into sums or taken apart step by step; a formula, and a tree of as many sums.

The value of an expression's exponent is taken modulo 17, too, which is wrong for powers: the two
ways agree on 2**n only where 2**n and 2**(n % 17) do. So the answer depends on n.
"""

from __future__ import annotations

from benchmarks.rec.language import (
    Program,
    constants,
    false,
    ground,
    numeral,
    rules,
    s,
    symbols,
    true,
    zero,
)
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.fact import given

succ, pred, value, stepwise, expand, taken_apart = symbols(
    1, "succ pred value stepwise expand taken_apart"
)
compared_expanded, compared_stepwise, compared_trees = symbols(
    1, "compared_expanded compared_stepwise compared_trees"
)
formula, label, last, leaf, e_succ = symbols(1, "formula label last leaf e_succ")
eq, succ_by, plus, times, power, build = symbols(2, "eq succ_by plus times power build")
e_plus, e_times, e_power, left_done = symbols(2, "e_plus e_times e_power left_done")
(right_done,) = symbols(3, "right_done")
left_labelled, labelled, node = symbols(4, "left_labelled labelled node")
(right_labelled,) = symbols(5, "right_labelled")
(e_zero,) = constants("e_zero")

SIXTEEN = s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(zero))))))))))))))))
E_ONE = e_succ(e_zero)


@rules
def modulo(m, n):
    """Sums, products and powers by counting, modulo 17."""
    return (
        eq(zero, zero) >> true,
        eq(zero, s(n)) >> false,
        eq(s(n), zero) >> false,
        eq(s(m), s(n)) >> eq(m, n),
        succ(n) >> succ_by(eq(n, SIXTEEN), n),
        succ_by(true, n) >> zero,
        succ_by(false, n) >> s(n),
        pred(zero) >> SIXTEEN,
        pred(s(n)) >> n,
        plus(m, zero) >> m,
        plus(m, s(n)) >> succ(plus(m, n)),
        times(m, zero) >> zero,
        times(m, s(n)) >> plus(m, times(m, n)),
        power(m, zero) >> succ(zero),
        power(m, s(n)) >> times(m, power(m, n)),
    )


@rules
def values(x, y):
    """The value of an expression."""
    return (
        value(e_zero) >> zero,
        value(e_succ(x)) >> succ(value(x)),
        value(e_plus(x, y)) >> plus(value(x), value(y)),
        value(e_times(x, y)) >> times(value(x), value(y)),
        value(e_power(x, y)) >> power(value(x), value(y)),
    )


@rules
def expanding(x, y, z):
    """Expressions into sums of ones."""
    return (
        compared_expanded(x) >> eq(value(x), value(expand(x))),
        expand(e_zero) >> e_zero,
        expand(e_succ(x)) >> e_plus(E_ONE, x),
        expand(e_plus(x, y)) >> e_plus(expand(x), expand(y)),
        expand(e_times(x, e_zero)) >> e_zero,
        expand(e_times(x, E_ONE)) >> expand(x),
        expand(e_times(x, e_plus(y, z))) >> expand(e_plus(e_times(x, y), e_times(x, z))),
        expand(e_times(x, e_times(y, z))) >> expand(e_times(x, expand(e_times(y, z)))),
        expand(e_times(x, e_power(y, z))) >> expand(e_times(x, expand(e_power(y, z)))),
        expand(e_power(x, e_zero)) >> E_ONE,
        expand(e_power(x, E_ONE)) >> expand(x),
        (
            expand(e_power(x, e_succ(y))) >> expand(e_power(x, expand(e_succ(y)))),
            given(lambda y: y.owner.op is not e_zero.op),
        ),
        expand(e_power(x, e_plus(y, z))) >> expand(e_times(e_power(x, y), e_power(x, z))),
        expand(e_power(x, e_times(y, z))) >> expand(e_power(x, expand(e_times(y, z)))),
        expand(e_power(x, e_power(y, z))) >> expand(e_power(x, expand(e_power(y, z)))),
    )


@rules
def stepping(x, y, z):
    """The value of an expression, taken apart step by step."""
    return (
        compared_stepwise(x) >> eq(value(x), stepwise(x)),
        stepwise(e_zero) >> zero,
        stepwise(e_succ(x)) >> succ(stepwise(x)),
        stepwise(e_plus(x, y)) >> plus(stepwise(x), stepwise(y)),
        stepwise(e_times(x, e_zero)) >> zero,
        stepwise(e_times(x, e_succ(y))) >> stepwise(e_plus(e_times(x, y), x)),
        stepwise(e_times(x, e_plus(y, z))) >> stepwise(e_plus(e_times(x, y), e_times(x, z))),
        stepwise(e_times(x, e_times(y, z))) >> stepwise(e_times(e_times(x, y), z)),
        stepwise(e_times(x, e_power(y, z))) >> stepwise(e_times(x, taken_apart(e_power(y, z)))),
        stepwise(e_power(x, e_zero)) >> succ(zero),
        stepwise(e_power(x, e_succ(y))) >> stepwise(e_times(e_power(x, y), x)),
        stepwise(e_power(x, e_plus(y, z))) >> stepwise(e_times(e_power(x, y), e_power(x, z))),
        stepwise(e_power(x, e_times(y, z))) >> stepwise(e_power(e_power(x, y), z)),
        stepwise(e_power(x, e_power(y, z))) >> stepwise(e_power(x, taken_apart(e_power(y, z)))),
        taken_apart(e_power(x, e_zero)) >> E_ONE,
        taken_apart(e_power(x, e_succ(y))) >> e_times(e_power(x, y), x),
        taken_apart(e_power(x, e_plus(y, z))) >> e_times(e_power(x, y), e_power(x, z)),
        taken_apart(e_power(x, e_times(y, z))) >> taken_apart(e_power(e_power(x, y), z)),
        taken_apart(e_power(x, e_power(y, z)))
        >> taken_apart(e_power(x, taken_apart(e_power(y, z)))),
    )


@rules
def trees(n, m, a, b, left, right):
    """A tree of 2**n leaves 0, 1, 2, …; its nodes have the sum of what is below, and the last."""
    two = s(s(zero))
    return (
        compared_trees(n) >> eq(formula(n), label(build(n, zero))),
        formula(n) >> times(power(two, pred(n)), pred(power(two, n))),
        label(leaf(n)) >> n,
        label(node(n, m, left, right)) >> n,
        last(leaf(n)) >> n,
        last(node(n, m, left, right)) >> m,
        build(zero, m) >> leaf(m),
        build(s(n), m) >> left_done(n, build(n, m)),
        left_done(n, left) >> left_labelled(n, left, last(left), label(left)),
        left_labelled(n, left, m, a) >> right_done(a, left, build(n, succ(m))),
        right_done(a, left, right) >> right_labelled(a, left, right, label(right), last(right)),
        right_labelled(a, left, right, b, m) >> labelled(m, left, right, plus(a, b)),
        labelled(m, left, right, n) >> node(n, m, left, right),
    )


def two_to_the(n: int) -> Variable:
    """The expression 2**n."""
    exponent = ground(e_zero)
    for _ in range(n):
        exponent = e_succ(exponent)
    return e_power(e_succ(ground(E_ONE)), exponent)


def agreed(yes: bool) -> Variable:
    """A truth value."""
    return ground(true if yes else false)


def powers_agree(n: int) -> Variable:
    """Whether 2**n is what it is with an exponent modulo 17."""
    return agreed(pow(2, n % 17, 17) == pow(2, n, 17))


PROGRAMS = (
    Program(
        "expand",
        modulo + values + expanding,
        size=19,
        small=5,
        ask=lambda n: compared_expanded(two_to_the(n)),
        answer=powers_agree,
    ),
    Program(
        "stepwise",
        modulo + values + stepping,
        size=10,
        small=5,
        ask=lambda n: compared_stepwise(two_to_the(n)),
        answer=powers_agree,
    ),
    Program(
        "tree",
        modulo + trees,
        size=10,
        small=4,
        ask=lambda n: compared_trees(numeral(n)),
        answer=lambda n: agreed(2 ** (n - 1) * (2**n - 1) % 17 == sum(range(2**n)) % 17),
    ),
)
