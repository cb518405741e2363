"""Operands of the two sides of a step, on which both are computed."""

import rewrite_engine.tensor as pt
from rewrite_engine.judge.values import cone_of, leaves_of

x, y, z = pt.vectors("x", "y", "z")


def leaves(term, new):
    """Return the operands of a term and of what replaces it."""
    return leaves_of([*cone_of(term, new), *cone_of(new, term)])


def test_an_operand_that_both_sides_have_is_a_leaf():
    shared = pt.sin(x)
    assert leaves(pt.log(pt.exp(shared)), shared * 1.0)[0] is shared


def test_an_operand_that_is_computed_from_others_is_no_leaf():
    """The left side reads a difference, which the right side has in one of its branches."""
    gap = pt.erf(x) - pt.erf(y)
    new = pt.switch(x < y, pt.log2(gap), pt.logdiffexp(x, y))
    found = leaves(pt.log(gap), new)
    assert gap not in found
    assert {x, y} <= {*found}


def test_what_is_missing_for_such_an_operand_becomes_one():
    other = pt.sin(z)
    gap = pt.erf(x) * other
    found = leaves(pt.log(gap), pt.log2(gap) + x)
    assert gap not in found
    assert {x, other} <= {*found}
    assert z not in found


def test_a_chain_of_such_operands_ends_at_those_that_are_free():
    first = pt.exp(x)
    second = pt.sin(first) + y
    found = leaves(pt.log(second), pt.log2(second) + first * x)
    assert first not in found
    assert second not in found
    assert {x, y} <= {*found}
