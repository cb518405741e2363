"""What people write who come from other libraries works, or is refused with what to write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import graph
from rewrite_engine.errors import MethodNotDefined
from rewrite_engine.gradient import Lop, Rop, grad
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.op import Op
from rewrite_engine.language import Inexact, Matrix, Rest, rule
from rewrite_engine.rewrite.driver import GraphRewriter, SequentialOptimizer, graph_rewriter
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.trace import brief


@rule
def no_sine(a: Inexact) -> Any:
    """(For tests.)"""
    return pt.sin(a) >> pt.tanh(a)


x, m = pt.vector("x"), pt.matrix("m")


# --- drivers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", [WalkingOptimizer, EquilibriumOptimizer])
def test_a_driver_of_one_rule(driver: Any) -> None:
    graph = FunctionGraph(None, [pt.sin(x) + 1])
    assert driver(no_sine).rewrite(graph).firings == 1
    assert brief(graph.outputs[0]) == "tanh(x) + 1.0"


def test_a_rule_where_the_order_stands() -> None:
    with pytest.raises(ValueError, match='the order must be "in_to_out" or "out_to_in"'):
        WalkingOptimizer(no_sine, no_sine)  # type: ignore[arg-type]


def test_a_function_is_a_driver() -> None:
    @graph_rewriter
    def no_cosine(fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            if node.op is pt.cos:
                fgraph.replace(node.outputs[0], pt.tanh(node.inputs[0]))

    assert brief(rw.rewrite_graph(pt.cos(x), (), no_cosine)) == "tanh(x)"
    assert no_cosine.name == "no_cosine"
    f = rw.function([x], pt.cos(x) + 1, mode=rw.Mode(optimizer=no_cosine))
    assert [str(node.op) for node in f.fgraph.toposort()] == ["tanh", "add"]


def test_graphs_have_the_names_that_are_imported() -> None:
    assert set(dir(graph)) >= set(graph._HOMES)
    for name in graph._HOMES:
        assert getattr(graph, name).__name__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        graph.nothing


class Upwards(GraphRewriter):
    """A driver as in Aesara."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def add_requirements(self, fgraph: Any) -> None:
        self.seen.append("asked")

    def apply(self, fgraph: Any) -> None:
        self.seen.append("applied")
        for node in fgraph.toposort():
            if node.op is pt.sin:
                fgraph.replace(node.outputs[0], pt.tanh(node.inputs[0]))


def test_a_driver_that_defines_apply() -> None:
    driver = Upwards()
    graph = FunctionGraph(None, [pt.sin(x)])
    result = SequentialOptimizer([driver]).rewrite(graph)
    assert brief(graph.outputs[0]) == "tanh(x)"
    assert driver.seen == ["asked", "applied"]
    assert [part.name for part in result.parts] == ["Upwards"]


def test_a_driver_that_defines_nothing() -> None:
    class Idle(GraphRewriter):
        pass

    with pytest.raises(MethodNotDefined, match="Idle defines neither run"):
        Idle().rewrite(FunctionGraph(None, [pt.sin(x)]))


# --- ops ------------------------------------------------------------------------------------------


class Twice(Op):
    """An op as in Aesara, or as in PyTensor 3."""

    __props__ = ()

    def make_node(self, v: Any) -> Any:
        v = pt.as_tensor_variable(v)
        return rw.Apply(self, [v], [v.type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = np.asarray(2 * inputs[0])

    def infer_shape(self, node: Any, shapes: Any) -> Any:
        return [shapes[0]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [2 * cotangents[0]]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Any:
        assert outputs[0].owner.op is self
        return [2 * tangents[0]]


def test_an_older_infer_shape() -> None:
    mode = rw.Mode().including("shape_unsafe")  # an op of others may fail
    f = rw.function([m], Twice()(pt.exp(m)).shape, mode=mode)
    assert not any(isinstance(node.op, Twice) for node in f.fgraph.toposort())
    assert list(f(np.ones((2, 3)))) == [2, 3]

    class Thrice(Twice):
        def infer_shape(self, node: Any, shapes: Any) -> Any:
            return super().infer_shape(None, node, shapes)

    assert list(rw.function([m], Thrice()(m).shape, mode=mode)(np.ones((2, 3)))) == [2, 3]


def test_pullback_and_pushforward() -> None:
    y = Twice()(pt.exp(x))
    assert np.allclose(grad(y.sum(), x).eval({x: [0.0, 1.0]}), [2, 2 * np.e])
    assert np.allclose(Rop(y, x, pt.ones_like(x)).eval({x: [0.0, 1.0]}), [2, 2 * np.e])
    assert np.allclose(Lop(y, x, pt.ones_like(x)).eval({x: [0.0, 1.0]}), [2, 2 * np.e])


@pytest.mark.parametrize("op", [pt.exp, Twice()], ids=["of the library", "of a user"])
def test_derivatives_of_an_op_are_asked_for_by_these_names(op: Any) -> None:
    y = op(x)
    g, t = pt.dvector("g"), pt.dvector("t")
    (back,) = op.pullback([x], [y], [g])
    (forth,) = op.pushforward([x], [y], [t])
    given = {x: [0.0], g: [3.0], t: [5.0]}
    slope = 1.0 if op is pt.exp else 2.0
    assert back.eval(given, on_unused_input="ignore") == 3 * slope
    assert forth.eval(given, on_unused_input="ignore") == 5 * slope


def test_what_is_not_there_is_disconnected() -> None:
    (nothing,) = pt.exp.pushforward([x], [pt.exp(x)], [disconnected()])
    assert is_disconnected(nothing)


# --- find -----------------------------------------------------------------------------------------


def test_find_with_typed_functions() -> None:
    def in_rows(a: Matrix, rest: Rest) -> Any:
        return pt.exp(a).sum(axis=-1) + rest

    def named(a: "Matrix"):  # type: ignore[no-untyped-def]  # noqa: UP037
        return pt.exp(a)

    assert [found["a"] for found in rw.find(pt.exp(m).sum(axis=1) + x, in_rows)] == [m]
    assert [found["a"] for found in rw.find(pt.exp(m) + pt.exp(x), named)] == [m]


def test_types_as_sorts() -> None:
    @rule
    def mean_of(a: pt.dmatrix, b: Inexact):  # type: ignore[no-untyped-def, valid-type]
        """(For tests.)"""
        return pt.exp(a).mean(axis=-1) * b >> pt.tanh(a).mean(axis=-1) * b

    single = pt.fmatrix("f")
    assert mean_of.transform(None, (pt.exp(m).mean(axis=1) * x).owner) is not None
    assert mean_of.transform(None, (pt.exp(single).mean(axis=1) * x).owner) is None

    @rule
    def constants(a: pt.TensorVariable, c: pt.TensorConstant):  # type: ignore[no-untyped-def]
        """(For tests.)"""
        return pt.sin(a) * c >> pt.tanh(a) * c

    assert constants.transform(None, (pt.sin(x) * 3).owner) is not None
    assert constants.transform(None, (pt.sin(x) * x).owner) is None


# --- arguments by name ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("diagonal", {"a": m, "offset": 1}),
        ("trace", {"a": m}),
        ("dot", {"a": m, "b": m}),
        ("matmul", {"x1": m, "x2": m}),
        ("expand_dims", {"a": m, "axis": 0}),
        ("moveaxis", {"a": m, "source": 0, "destination": 1}),
        ("swapaxes", {"a": m, "axis1": 0, "axis2": 1}),
        ("ones_like", {"a": m}),
        ("zeros_like", {"a": m, "dtype": "int8"}),
        ("full_like", {"a": m, "fill_value": 2.0}),
        ("empty_like", {"prototype": m}),
        ("round", {"a": m}),
        ("iround", {"a": m}),
    ],
)
def test_arguments_have_the_names_of_numpy(name: str, given: dict[str, Any]) -> None:
    function = getattr(pt, name)
    assert function(**given).type == function(*given.values()).type


def test_arguments_of_methods_have_the_names_of_numpy() -> None:
    assert brief(x.clip(a_min=0.0, a_max=1.0)) == brief(pt.clip(x, 0.0, 1.0))
    assert m.dot(b=x).type == pt.dot(m, x).type
