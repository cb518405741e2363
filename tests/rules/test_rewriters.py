"""Node rewriters: what each makes, and that values, dtypes and shapes stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.query import Query
from rewrite_engine.pipeline.phases import all_rules, optimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import DimShuffle, Elemwise, MakeVector, Shape, Shape_i, SpecifyShape
from tests.tensor.evaluate import evaluate

x, m, v = pt.vector("x"), pt.matrix("m"), pt.vector("v")
i8, i64 = pt.vector("i8", dtype="int8"), pt.vector("i64", dtype="int64")
row, fixed = pt.row("row"), pt.matrix("fixed", shape=(2, 3))
t3 = pt.tensor3("t3")
v3, n8 = pt.vector("v3", shape=(3,)), pt.scalar("n8", dtype="int8")
GIVEN = {
    x: np.array([1.5, -0.0, np.nan]),
    m: np.arange(6.0).reshape(2, 3),
    v: np.array([2.0, 3.0, -1.0]),
    v3: np.array([2.0, 3.0, -1.0]),
    n8: np.array(-3, "int8"),
    i8: np.array([-128, 3], "int8"),
    i64: np.array([2**62 + 1, -1]),
    row: np.array([[1.0, -0.0, 2.0]]),
    fixed: np.ones((2, 3)),
    t3: np.arange(24.0).reshape(2, 3, 4),
}
one = SpecifyShape((1, 1))(m[:1, :1])
#: rule, term, what it becomes (None: it is left alone)
CASES: list[tuple[str, Any, str | None]] = [
    ("cast_to_same", Elemwise(Cast("float64"))(x), "x"),
    ("cast_to_same", pt.cast(i8, "int64"), None),
    ("cast_of_cast", pt.cast(pt.cast(i8, "int64"), "float64"), "Cast{float64}(i8)"),
    ("cast_of_cast", pt.cast(pt.cast(i64, "int8"), "float64"), None),
    ("cast_of_cast", pt.cast(pt.cast(i64, "float64"), "int64"), None),
    ("cast_of_cast", pt.cast(pt.cast(i8, "int16"), "int8"), "i8"),
    ("index_of_everything", m[:, :], "m"),
    ("index_of_everything", m[...], "m"),
    ("index_of_everything", m[:, 1:], None),
    ("index_of_everything", m[::-1], None),
    ("item_of_shape", m.shape[0], "Shape_i{i=0}(m)"),
    ("item_of_shape", m.shape[-1], "Shape_i{i=1}(m)"),
    ("item_of_shape", m.shape[1:], None),
    ("item_of_vector", pt.stack([pt.sum(x), v3[1]])[1], "Subtensor{1}(v3)"),
    ("item_of_vector", pt.stack([x[0], v3[1]])[1], None),  # x[0] may be out of range
    (
        "item_of_vector",
        MakeVector("int64")(i8.sum(), i64[0])[0],
        "CheckedLength(Sum(i8), Subtensor{0}(i64))",
    ),
    ("item_of_vector", MakeVector("int64")(n8, i64.max())[1], "Max(i64)"),
    ("item_of_vector", MakeVector("int64")(n8, Shape_i(0)(x))[0], "Cast{int64}(n8)"),
    ("max_over_ones", row.max(axis=0, keepdims=True), "row"),
    ("sum_over_ones", row.sum(axis=0), "DropDims{axes=[0]}(row)"),
    ("sum_over_ones", row.sum(axis=1), None),
    ("sum_over_ones", row.sum(), None),
    ("sum_over_ones", pt.cast(row, "int8").sum(axis=0), None),  # sums in int64
    ("shape_of_known", fixed.shape, "[2 3]"),
    ("shape_of_known", m.shape, None),
    ("length_of_known", Shape_i(1)(fixed), "3"),
    ("length_of_known", Shape_i(1)(row), None),
    ("length_by_inference", Shape_i(0)(x + 1), "Shape_i{i=0}(x)"),
    ("length_by_inference", Shape_i(1)(m.T), "Shape_i{i=0}(m)"),
    ("length_by_inference", Shape_i(0)(m.sum(axis=0)), "Shape_i{i=1}(m)"),
    ("length_by_inference", Shape_i(0)(x), None),
    ("shape_by_inference", Shape()(x + 1), "MakeVector(Shape_i{i=0}(x))"),
    ("shape_by_inference", Shape()(x), None),
    ("dimshuffle_of_nothing", DimShuffle(2, (0, 1))(m), "m"),
    ("dimshuffle_of_nothing", m.T, None),
    ("dimshuffle_that_is_undone", (1 / m.T).T, "1.0 / m"),
    ("dimshuffle_that_is_undone", pt.sin(m.T - pt.exp(fixed).T).T, "sin(m - exp(fixed))"),
    ("dimshuffle_that_is_undone", pt.sin(m.T + pt.constant([1.0, 2.0])).T, None),
    ("dimshuffle_that_is_undone", pt.sin(x + 1).dimshuffle("x", 0), None),
    ("dimshuffle_that_is_undone", (m - one.squeeze()).dimshuffle(1, "x", 0), None),
    ("specified_shape_known", SpecifyShape((2, None))(fixed), "fixed"),
    ("specified_shape_known", SpecifyShape((2, None))(m), None),
    ("second_of_one_element", pt.second(fixed, [[3.0]]), "second(fixed, 3.0)"),
    ("second_of_one_element", pt.second(fixed, row), None),
    ("second_of_known_shape", pt.second(pt.exp(fixed), fixed), "fixed"),
    ("second_of_known_shape", pt.second(fixed, row), None),
]


@pytest.mark.parametrize(("name", "term", "text"), CASES)
def test_what_a_rewriter_makes(name: str, term: Any, text: str | None) -> None:
    rule = all_rules()[name]
    graph = FunctionGraph(list(GIVEN), [term])
    result = EquilibriumOptimizer([rule]).rewrite(graph)
    graph.check_integrity()
    assert (result.firings > 0) == (text is not None)
    if text is not None:
        assert brief(graph.outputs[0]) == text
    same_values(term, graph)


@pytest.mark.parametrize(
    ("shape_x", "shape_y", "whole"),
    [((2, 3), (2, 3), True), ((1, 3), (2, 3), True), ((None, 3), (2, 3), False),
     ((3,), (2, 3), True), ((2, 3), (1, 3), False), ((None, 3), (1, 3), False),
     ((None,), (), False), ((2, 3), (3,), False), ((None, 3), (None, 3), False)],
)  # fmt: skip
def test_what_is_whole_already_is_not_filled(shape_x: Any, shape_y: Any, whole: bool) -> None:
    """And nothing is proposed that does not fit, which would be refused at every visit."""
    x, y = pt.tensor("x", shape=shape_x), pt.tensor("y", shape=shape_y)
    graph = FunctionGraph([x, y], [pt.second(x, y)])
    result = EquilibriumOptimizer([all_rules()["second_of_known_shape"]]).rewrite(graph)
    assert (graph.outputs[0] is graph.inputs[1]) is whole
    assert all(stats.refused == 0 for stats in result.rules.values())
    values = [np.ones([n or 2 for n in shape]) for shape in (shape_x, shape_y)]
    given = dict(zip(graph.inputs, values, strict=True))
    assert evaluate(graph.outputs[0], given).shape == np.broadcast_shapes(
        *[v.shape for v in values]
    )


def same_values(term: Any, graph: FunctionGraph) -> None:
    given = dict(zip(graph.inputs, GIVEN.values(), strict=True))
    before, after = evaluate(term, GIVEN), evaluate(graph.outputs[0], given)
    assert before.dtype == after.dtype
    np.testing.assert_array_equal(before, after)
    assert before.shape == after.shape


SHAPED = [
    x + v, m.T, m @ m.T, t3.sum(axis=(0, 2)), pt.join(0, x, v), x[1:], x[::-2], m[0],
    m.reshape((3, 2)), t3.dimshuffle(2, "x", 0, 1), pt.alloc(x, 4, 3), m[1, ::2],
    pt.switch(x > 0, v, 1.0), m + row,
    pt.stack([x, v]), pt.zeros_like(m), m.flatten(), pt.eye(3), pt.arange(i8[1], 9), t3.max(axis=1),
    pt.exp(m).sum(axis=1, keepdims=True), pt.concatenate([m, row]), pt.set_subtensor(x[:2], 0.0),
    pt.dot(m, x), pt.cumsum(m, axis=0), pt.argmax(m, axis=1), row.T, pt.softmax(m, axis=1),
    pt.logsumexp(m, axis=0), pt.cast(m, "float32"), m[pt.constant([1, 0, 1])], x.dimshuffle(0, "x"),
]  # fmt: skip


@pytest.mark.parametrize("term", SHAPED, ids=lambda t: str(t.owner.op))
def test_shapes_are_inferred_rightly(term: Any) -> None:
    """The shape of every op, by inference and by looking."""
    outputs = [term.shape, *[Shape_i(k)(term) for k in range(term.type.ndim)]]
    for wanted in outputs:
        graph = FunctionGraph(list(GIVEN), [wanted])
        optimizer(Query().excluding("inplace")).rewrite(graph)
        same_values(wanted, graph)
