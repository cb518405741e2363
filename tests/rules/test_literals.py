"""A number in a pattern: which constants it matches, by every way of matching."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import kanren
import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.language import rule
from rewrite_engine.match.dispatch import Dispatch
from rewrite_engine.rewrite.egraph import EGraph
from rewrite_engine.rewrite.egraph.ematch import EMatcher
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.terms import etuplize
from rewrite_engine.terms.logic import LogicVariable

SHAPES = {
    "op": lambda n, x: pt.pow(x, n),
    "ac": lambda n, x: n * x,
    "inner": lambda n, x: pt.exp(pt.pow(x, n)),
    "inner ac": lambda n, x: pt.exp(n + x),
}


def made(number: Any, form: str = "ac") -> Any:
    def to_sinh(x: Any) -> Any:
        """(For tests.)"""
        return SHAPES[form](number, x) >> pt.sinh(x)

    return rule(to_sinh)


def verdicts(one: Any, term: Any) -> set[bool]:
    """What each way of matching says: compiled, interpreted, as a relation, among equals, found by
    the index among many rules.
    """
    node = term.owner
    egraph = EGraph()
    numbered: dict[Any, int] = {}
    for inner in toposort([term]):
        for v in inner.inputs:
            if v.owner is None:
                numbered[v] = egraph.leaf(v)
        children = tuple([numbered[v] for v in inner.inputs])
        numbered[inner.out] = egraph.add(children, inner.out)
    matcher = EMatcher(egraph, one, one.lowered)
    q = LogicVariable("q")
    many = [made(n + 100) for n in range(12)]
    found = next(iter(rw.find(term, one)), None)
    results = [
        one.transform(None, node),
        one.interpreted(None, node),
        next(iter(kanren.run(1, q, one.goal(etuplize(term), q))), None),
        next(matcher.ways(numbered[term]), None),
        found,
        one.transform(None, node) if one in Dispatch([*many, one]).candidates(node) else None,
    ]
    return {r is not None for r in results}


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("number", [0.1, 1 / 3, 0.5, 1, 2, -3, 0, 1e-3, 2**30 + 1, 12345.678])
def test_a_number_is_that_number_rounded(number: float, dtype: str, form: str) -> None:
    with np.errstate(all="ignore"):
        constant = pt.constant(np.asarray(number, dtype))
    x = TensorType(dtype, (None,))("x")
    if not np.isfinite(constant.data):
        return
    term = SHAPES[form](constant, x)
    assert verdicts(made(number, form), term) == {True}
    other = pt.constant(np.nextafter(constant.data.real, np.asarray(10, constant.data.real.dtype)))
    assert verdicts(made(number, form), SHAPES[form](other, x)) == {False}


@pytest.mark.parametrize(
    ("number", "value", "same"),
    [
        (0, np.float32(-0.0), False), (-0.0, np.float32(-0.0), True), (0.0, np.int8(0), True),
        (nan, np.float32(nan), True), (nan, np.float32(1), False), (inf, np.float16(inf), True),
        (1e300, np.float32(inf), False), (1e-300, np.float32(0), False), (1, np.bool_(True), False),
        (True, np.bool_(True), True), (2.5, np.int64(2), False), (2.0, np.int64(2), True),
        (300, np.int8(44), False), (0.1, np.float64(np.float32(0.1)), False),
        (np.float32(0.1), np.float32(0.1), True), (0, np.complex64(0), True),
    ],
)  # fmt: skip
def test_what_is_the_same_number(number: Any, value: Any, same: bool) -> None:
    x = pt.vector("x")
    term = pt.switch(pt.exp(x) > 0, x, pt.constant(value))

    @rule
    def chosen(a: Any, b: Any):  # type: ignore[no-untyped-def]
        """(For tests.)"""
        return pt.switch(a, b, number) >> pt.second(a, b)

    left = [chosen.transform(None, term.owner), chosen.interpreted(None, term.owner)]
    assert [one is not None for one in left] == [same, same]


X3, XN, X1 = (TensorType("float32", shape)("x") for shape in ((3,), (None,), (1,)))
M = TensorType("float32", (None, 3))("m")


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize(
    ("shape", "x", "same"),
    [
        ((3,), X3, True), ((1,), X3, True), ((1,), XN, True), ((1,), X1, True), ((3,), XN, False),
        ((3,), X1, False), ((1, 1), XN, False), ((3,), M, True), ((2, 3), M, False),
        ((1, 3), M, True), ((0,), XN, False),
    ],
)  # fmt: skip
def test_arrays_that_are_filled_with_a_number(form: str, shape: Any, x: Any, same: bool) -> None:
    """Where the shape of the array is one that the others have anyway."""
    constant = pt.constant(np.full(shape, 0.1, "float32"))
    assert verdicts(made(0.1, form), SHAPES[form](constant, x)) == {same}


def test_arrays_of_several_numbers_are_none() -> None:
    for values in ([0.1, 0.1, 0.2], [0.2, 0.1, 0.1], [0.1, 0.2, 0.1]):
        constant = pt.constant(np.array(values, "float32"))
        assert verdicts(made(0.1), constant * X3) == {False}
    for values in ([0.0, -0.0, 0.0], [-0.0, -0.0, 0.0]):
        assert verdicts(made(0), pt.constant(np.array(values, "float32")) * X3) == {False}
    assert verdicts(made(nan), pt.constant(np.full(3, nan, "float32")) * X3) == {True}


def test_an_index_is_no_number_of_an_array() -> None:
    """Only ops on elements take an array as the number that fills it."""

    @rule
    def joined(x: Any):  # type: ignore[no-untyped-def]
        """(For tests.)"""
        return pt.dot(x, 2) >> pt.sinh(x)

    node = pt.dot(X3, np.full(3, 2, "float32")).owner
    assert joined.transform(None, node) is None


def test_a_shape_is_not_lost_below() -> None:
    """What drops an operand of a sum must not change how many are summed."""

    @rule(phase="canonicalize")
    def of_product(x: Any):  # type: ignore[no-untyped-def]
        """(For tests.)"""
        return pt.Sum()(1 * x) >> pt.Sum()(x)

    ones = np.ones(3, "float32")
    for x, value in ((X1, [2.0]), (X3, [1.0, 2.0, 3.0])):
        f = rw.function([x], pt.sum(x * ones), mode=rw.Mode() + of_product)
        assert f(np.array(value, "float32")) == np.sum(np.array(value, "float32") * ones)
    with pytest.raises(rw.errors.RewriteEngineError):
        rw.function([XN], pt.sum(XN * ones), mode=rw.Mode() + of_product)(np.ones(1, "float32"))


@settings(max_examples=200)
@over(
    st.floats(allow_nan=False, width=64),
    st.sampled_from(["float16", "float32", "float64"]),
)
def test_what_an_expression_is_built_of_is_what_a_pattern_matches(
    number: float, dtype: str
) -> None:
    x = TensorType(dtype, (None,))("x")
    with np.errstate(all="ignore"):
        term = pt.maximum(x, number)
    constant = term.owner.inputs[1]
    kept = np.isfinite(constant.data) == np.isfinite(number) and (constant.data == 0) == (
        number == 0
    )

    @rule
    def bounded(a: Any):  # type: ignore[no-untyped-def]
        """(For tests.)"""
        return pt.maximum(a, number) >> pt.sinh(a)

    assert (bounded.transform(None, term.owner) is not None) == bool(kept)
    assert (bounded.interpreted(None, term.owner) is not None) == bool(kept)
    assert (bounded in Dispatch([bounded]).candidates(term.owner)) or not kept


@pytest.mark.parametrize(
    ("x", "array", "dropped"),
    [(X3, np.zeros(3), True), (XN, np.zeros(3), False), (X3, np.zeros((2, 3)), False),
     (XN, np.zeros(1), True), (XN, np.zeros((1, 1)), False), (X1, np.zeros(3), False)],
)  # fmt: skip
def test_zeros_in_a_sum_are_dropped_where_they_give_no_shape(
    x: Any, array: Any, dropped: bool
) -> None:
    f = rw.function([x], x + array.astype("float32"))
    assert (not f.fgraph.toposort()) == dropped
    assert f.fgraph.outputs[0].type is (x + array.astype("float32")).type
