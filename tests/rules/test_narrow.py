"""Integers of several dtypes in one sum or product: rules change no value.

Operands are converted to the dtype of the whole first, so a part of them alone may wrap where the
whole does not.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import note, settings
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine import language
from rewrite_engine.compile.function import function
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.claim import exact
from rewrite_engine.match.fact import given
from rewrite_engine.match.pattern import Rest
from rewrite_engine.rewrite import ac
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.trace import brief
from tests.match.language import ask


def number(v: Any) -> bool:
    """(The square of a boolean is a number.)"""
    return v.type.dtype != "bool"


def squared(a: number) -> Any:  # type: ignore[valid-type]
    """A square."""
    return a * a >> pt.sqr(a)


def bits_of_a_sum(a: Any, b: Any) -> Any:
    """The operands that are left are one."""
    return pt.bitwise_not(a + b) >> -1 - a - b


def grouped(a: Any, xs: Rest, ys: Rest) -> Any:
    """Two sums of one."""
    return pt.add(a, *xs, *ys) >> a - pt.neg(pt.add(*xs)) - pt.neg(pt.add(*ys)), given(
        lambda xs, ys: len(xs) == len(ys) == 2
    )


SQUARED, BITS, GROUPED = [language.rule(f, claim=exact) for f in (squared, bits_of_a_sum, grouped)]
a8, b8 = pt.vector("a", dtype="int8"), pt.vector("b", dtype="int8")
c32, d32 = pt.ivectors("c d")


@pytest.mark.parametrize(
    ("rule", "term", "expected"),
    [
        (SQUARED, pt.mul(a8, a8, b8), "sqr(a) * b"),
        (SQUARED, pt.mul(c32, c32, a8, b8), "sqr(c) * a * b"),
        (SQUARED, pt.mul(a8, a8, c32), None),
        (BITS, pt.bitwise_not(pt.add(a8, c32, d32)), "-1 - a - (c + d)"),
        (BITS, pt.bitwise_not(pt.add(c32, a8, b8)), "-1 - a - (c + b)"),
        (GROUPED, pt.add(c32, d32, a8, c32, b8), "c - -(d + a) - -(c + b)"),
        (GROUPED, pt.add(c32, a8, c32, a8, b8), "a - -(c + a) - -(c + b)"),
        (GROUPED, pt.add(c32, a8, b8, a8, b8), None),
    ],
    ids=str,
)
def test_a_part_that_would_be_narrower_is_no_match(rule: Any, term: Any, expected: Any) -> None:
    found = ask(rule, term)
    assert (None if found is None else brief(found)) == expected
    if found is not None:
        values = {v: VALUES[v.type.dtype] for v in (a8, b8, c32, d32)}
        assert np.array_equal(expect(found, values), expect(term, values))


def test_a_square_in_a_wider_product_keeps_its_value() -> None:
    fgraph = FunctionGraph([a8, c32], [pt.mul(a8, a8, c32)])
    EquilibriumOptimizer([SQUARED]).rewrite(fgraph)
    values = np.array([100, -7], "int8"), np.array([3, 4], "int32")
    value = fgraph.outputs[0].eval(dict(zip(fgraph.inputs, values, strict=True)))
    assert value.tolist() == [30_000, 196]
    assert fgraph.outputs[0].owner.op is pt.mul


def test_narrow_constants_are_not_joined_alone() -> None:
    hundred, three = pt.constant(np.int8(100)), pt.constant(np.int8(3))
    product = pt.mul(hundred, c32, three)
    assert ask_rule(ac.join_constants, product) is None
    assert function([c32], product)([7]).tolist() == [2100]
    nested = pt.mul(hundred, c32) * three
    assert function([c32], nested)([7]).tolist() == [2100]
    wrapped = hundred * (three * a8)
    assert function([a8], wrapped)([1]).tolist() == [44]
    wide = pt.constant(np.int32(100)) * (three * a8)
    assert function([a8], [wide, three * a8])([100])[0].tolist() == [4400]


def ask_rule(rule: Any, term: Any) -> Any:
    return rule.transform(None, term.owner)


def test_true_is_one_bit_of_an_integer_and_all_of_a_boolean() -> None:
    yes, flag = pt.constant(True), pt.vector("f", dtype="bool")
    assert ask_rule(ac.drop_identity, pt.bitwise_and(a8, yes)) is None
    assert ask_rule(ac.drop_identity, pt.bitwise_and(flag, yes)) is flag
    assert ask_rule(ac.absorb, pt.bitwise_or(a8, yes)) is None
    assert function([a8], pt.bitwise_and(a8, yes))([2, 3]).tolist() == [0, 1]


# --- random terms ---------------------------------------------------------------------------------

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "int64"]
OPS = {
    pt.add: np.add,
    pt.mul: np.multiply,
    pt.maximum: np.maximum,
    pt.bitwise_and: np.bitwise_and,
    pt.bitwise_or: np.bitwise_or,
    pt.bitwise_xor: np.bitwise_xor,
    pt.neg: np.negative,
    pt.sub: np.subtract,
    pt.bitwise_not: np.bitwise_not,
    pt.sqr: np.square,
}


def some(dtype: str) -> Any:
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    spread = np.random.default_rng(7).integers(low, high, 5, "int64", endpoint=True)
    return spread.astype(dtype)


VALUES = {dtype: some(dtype) for dtype in DTYPES}
INPUTS = [pt.vector(f"{dtype}_{i}", dtype=dtype) for dtype in DTYPES for i in range(2)]
HERE = {v: np.roll(VALUES[v.type.dtype], i % 2) for i, v in enumerate(INPUTS)}
NUMBERS = [pt.constant(np.asarray(n).astype(d)) for d in DTYPES for n in (0, 1, 2, 3, 100)]


def expect(term: Any, values: Any) -> Any:
    """The value of a term by NumPy: all operands are converted to the dtype of the result."""
    if term.owner is None:
        return values[term] if term in values else np.asarray(term.data)
    dtype, fn = term.type.dtype, OPS.get(term.owner.op)
    parts = [np.asarray(expect(v, values)) for v in term.owner.inputs]
    if fn is None:  # a number in the rank of what it meets
        return parts[0]
    parts = [part.astype(dtype) for part in parts]
    return reduce(fn, parts) if len(parts) > 1 else fn(parts[0])


def nested(inner: Any) -> Any:
    several = st.sampled_from([pt.add, pt.mul, pt.mul, *list(OPS)[2:6]])
    many = st.lists(inner, min_size=2, max_size=4)
    one = inner.filter(lambda v: v.type.dtype != "bool")
    again = st.builds(lambda op, vs: op(*vs, vs[0]), several, many)
    return st.one_of(
        st.builds(lambda op, vs: op(*vs), several, many),
        again,
        one.map(pt.neg),
        one.map(pt.sqr),
    )


TERMS = st.recursive(
    st.sampled_from(INPUTS) | st.sampled_from(INPUTS) | st.sampled_from(NUMBERS),
    nested,
    max_leaves=7,
)


@settings(max_examples=100)
@over(TERMS)
def test_all_rules_leave_the_values_of_mixed_integers(term: Any) -> None:
    note(brief(term))
    wanted = expect(term, HERE)
    found = function(INPUTS, term, on_unused_input="ignore")(*HERE.values())
    assert found.dtype == wanted.dtype
    assert np.array_equal(found, np.broadcast_to(wanted, found.shape))


@settings(max_examples=100)
@over(TERMS)
def test_exact_rules_of_many_operands_leave_them(term: Any) -> None:
    note(brief(term))
    wanted = expect(term, HERE)
    fgraph = FunctionGraph(INPUTS, [term], clone=True)
    EquilibriumOptimizer([SQUARED, ac.flatten, ac.join_constants]).rewrite(fgraph)
    found = expect(fgraph.outputs[0], dict(zip(fgraph.inputs, HERE.values(), strict=True)))
    assert np.array_equal(found, np.broadcast_to(wanted, found.shape))
