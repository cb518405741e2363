"""Constant folding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import BroadcastError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Constant
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.fold import constant_folding
from rewrite_engine.rewrite.trace import brief
from tests.match.language import x
from tests.toy import Overwrite, Scale, add, const, divmod_, exp, join, log, mul, num, sin


def folded(*outputs: Any, inputs: Any = None) -> FunctionGraph:
    graph = FunctionGraph(inputs, outputs)
    driver = EquilibriumOptimizer([constant_folding])
    driver.rewrite(graph)
    graph.check_integrity()
    assert driver.rewrite(graph).firings == 0
    return graph


def test_what_depends_on_no_input_is_computed() -> None:
    graph = folded(add(x, sin(exp(const(1.0)))), inputs=[x])
    (node,) = graph.apply_nodes
    value = next(v for v in node.inputs if isinstance(v, Constant))
    assert value.data == math.sin(math.exp(1.0))
    assert value.type is num


def test_several_outputs() -> None:
    graph = folded(*divmod_(const(7.0), const(2.0)))
    assert [v.data for v in graph.outputs] == [3.0, 1.0]


def test_many_operands() -> None:
    one = const(1.0)
    graph = folded(join(one, one, one, const(9.0)), join(one, one, one, x), inputs=[x])
    assert graph.outputs[0].data == 9.0
    assert brief(graph.outputs[1]) == "join(1.0, 1.0, 1.0, x)"


def test_an_error_is_left_for_the_run() -> None:
    graph = folded(log(num.make_constant(-1.0)), mul(x, log(num.make_constant(0.0))), inputs=[x])
    assert len(graph) == 3


def test_an_op_may_refuse() -> None:
    class Random(Scale):
        __props__ = ("by",)

        def do_constant_folding(self, fgraph: Any, node: Any) -> bool:
            return False

    assert len(folded(Random(2.0)(const(1.0)))) == 1


def test_an_op_that_overwrites_is_left_alone() -> None:
    assert constant_folding(None, Overwrite()(const(1.0)).owner) is None


def test_a_large_result_is_not_made_from_small_things() -> None:
    large = pt.alloc(pt.constant(1.0), 1000, 1000)
    assert len(folded(large)) > 0
    assert len(folded(pt.alloc(pt.constant(1.0), 10, 10))) == 0
    config.fold_limit = 100
    assert len(folded(pt.alloc(pt.constant(1.0), 10, 10))) > 0


def test_a_large_result_from_large_things_is_made() -> None:
    config.fold_limit = 100
    data = np.arange(1000.0)
    graph = folded(pt.exp(pt.constant(data)))
    assert isinstance(graph.outputs[0], Constant)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(graph.outputs[0].data, np.exp(data))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool", "complex128"])
def test_dtype_and_shape_are_kept(dtype: str) -> None:
    value = pt.constant(np.zeros((2, 0, 1), dtype))
    result = folded(pt.eq(value, value), pt.abs(value)).outputs
    assert result[0].data.dtype == bool
    assert result[1].data.dtype == np.abs(value.data).dtype
    assert all(v.data.shape == (2, 0, 1) for v in result)
    assert all(not v.data.flags.writeable for v in result)


def test_a_length_of_1_that_comes_to_light_does_not_broadcast() -> None:
    """What the type did not tell is an error, also where the value would tell it."""
    part = pt.eye(2, 3)[: pt.eye(2, 3).shape[0] // 2]
    assert part.type.shape == (None, 3)
    for mode in (None, rw.Mode(optimizer=None)):
        f = rw.function([], part + part.T, mode=mode)
        with pytest.raises(BroadcastError):
            f()
        np.testing.assert_array_equal(rw.function([], 2 * part, mode=mode)(), [[2, 0, 0]])
    one = pt.constant(2) // 2
    x = pt.tensor("x", shape=(2, 3))
    for made in (x[:one], pt.zeros((one, 3)), pt.repeat(x[:1], one, axis=0), x[pt.arange(one)]):
        f = rw.function([x], made + pt.ones((3, 1)), on_unused_input="ignore")
        with pytest.raises(BroadcastError):
            f(np.ones((2, 3)))
    whole = pt.eye(2, 3)[: pt.eye(2, 3).shape[0]]
    assert not rw.function([], 2 * whole).fgraph.toposort()
