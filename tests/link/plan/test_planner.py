"""What a plan lets a linker overwrite, and what it must not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Projection
from rewrite_engine.graph.op import Op
from rewrite_engine.link.plan import FRESH, Dims, Traits, axes, plan_of
from rewrite_engine.link.vm import traits
from rewrite_engine.rewrite.inplace import InplaceOptimizer
from rewrite_engine.rewrite.trace import Trace
from tests.link.reference import link

x, y = pt.vector("x"), pt.vector("y")
m = pt.matrix("m")


def overwritten(inputs: list[Any], outputs: list[Any]) -> list[int | None]:
    """Where results go, if code can do what the VM's can."""
    return [step.into for step in plan_of(FunctionGraph(inputs, outputs), traits).steps]


def test_only_own_memory_is_overwritten() -> None:
    assert overwritten([x], [pt.sin(x)]) == [None]
    assert overwritten([x], [pt.sin(pt.cos(x))]) == [None, 0]


def test_a_value_that_is_read_later_is_not() -> None:
    a = pt.sin(x)
    assert overwritten([x], [pt.exp(a) + a]) == [None, None, 0]
    assert overwritten([x], [a, pt.exp(a)]) == [None, None]


def test_neither_is_one_of_which_a_view_is_read_later() -> None:
    a = pt.sin(m)
    out = pt.exp(a)[0] + a[0]
    assert None in overwritten([m], [out])[:3]
    value = np.arange(4.0).reshape(2, 2)
    want = np.exp(np.sin(value))[0] + np.sin(value)[0]
    np.testing.assert_allclose(link([m], out).call(value), want)


def test_nor_views_of_arguments() -> None:
    assert overwritten([m], [pt.sin(m[0])]) == [None, None]
    assert overwritten([m], [pt.sin(m.T)]) == [None, None]


def test_nor_one_of_another_dtype_or_shape() -> None:
    a = pt.sin(x)
    assert overwritten([x, y], [pt.lt(a, 0.5)]) == [None, None]
    assert overwritten([x], [pt.sin(x).dimshuffle("x", 0) + pt.zeros((3, 1))])[-1] is None
    row = pt.tensor(dtype="float64", shape=(1, None))
    assert overwritten([row, m], [pt.sin(row) + m]) == [None, None]


def test_after_the_check_shapes_are_known_to_be_equal() -> None:
    assert overwritten([x, y], [x + pt.sin(y)]) == [None, 1]


class Halves(Op):
    """The whole and the broken part of each element; in place, one of them takes the operand's
    memory.
    """

    __props__ = ("place",)
    output_names = ("whole", "broken")

    def __init__(self, place: int | None = None) -> None:
        self.place = place
        self.destroy_map = {} if place is None else {place: [0]}

    def infer_types(self, types: Any) -> Any:
        return [*types, *types]

    def inplace_on_inputs(self, allowed: Any, node: Any = None) -> Any:
        return Halves(1) if 0 in allowed else None

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        (a,) = inputs
        outs: list[Any] = [None, None]
        if self.place is not None:
            outs[self.place] = a
        whole, broken = np.trunc(a), a - np.trunc(a)
        for cell, out, value in zip(output_storage, outs, (whole, broken), strict=True):
            if out is not None:
                out[...] = value
            cell[0] = value if out is None else out


class FreshHalves(Halves):
    """The same; the VM knows that what it returns is new."""

    __props__ = ()

    def __init__(self) -> None:
        super().__init__()


@axes.register
def _(op: Halves, node: Any, dims: Dims) -> Any:
    for out in node.outputs:
        dims.set(out, dims.of(node.inputs[0]))
    return ()


@traits.register
def _(op: FreshHalves, node: Any) -> Traits:
    return FRESH


def test_each_new_output_may_be_overwritten() -> None:
    value = np.array([1.5, -2.25, 3.0])
    for i in 0, 1:
        part = FreshHalves()(x)[i]
        assert overwritten([x], [pt.sin(part)]) == [None, 0]
        assert overwritten([x], [pt.sin(part), part]) == [None, None]
        assert overwritten([x], [pt.sin(Halves()(x)[i])]) == [None, None]
        want = np.sin([np.trunc(value), value - np.trunc(value)][i])
        np.testing.assert_array_equal(link([x], pt.sin(part)).call(value), want)
    both = FreshHalves()(x)
    assert overwritten([x], [pt.sin(both.whole) + pt.cos(both.broken)])[1:] == [0, 0, 0]


@pytest.mark.parametrize("place", [0, 1])
def test_an_output_that_lives_in_an_operand_may_be_overwritten(place: int) -> None:
    parts = Halves(place)(pt.cos(x))
    assert overwritten([x], [pt.sin(parts[place])]) == [None, 0 if place == 0 else None, 0]
    assert overwritten([x], [pt.sin(parts[1 - place])])[2] is None
    value = np.array([1.5, -2.25, 3.0])
    want = np.sin([np.trunc(np.cos(value)), np.cos(value) - np.trunc(np.cos(value))][place])
    np.testing.assert_array_equal(link([x], pt.sin(parts[place])).call(value), want)


def test_in_place_into_the_second_output() -> None:
    graph = FunctionGraph([x], [pt.exp(Halves()(pt.cos(x)).broken)])
    trace = Trace(terms=True)
    InplaceOptimizer().rewrite(graph, trace=trace)
    graph.check_integrity()
    before = {firing.before for firing in trace.records}
    assert "Halves{place=None}(cos(x)).broken" in before
    node = graph.outputs[0].owner.inputs[0].owner
    assert (node.op, node.outputs[1].head) == (Halves(1), Projection(Halves(1), 1))


def test_exchanged_nodes_have_the_heads_of_their_ops() -> None:
    graph = FunctionGraph([x], [pt.exp(Halves()(pt.cos(x)).broken)])
    graph.owns_nodes = True
    InplaceOptimizer().rewrite(graph)
    node = graph.outputs[0].owner.inputs[0].owner
    assert [v.head for v in node.outputs] == [Projection(Halves(1), i) for i in (0, 1)]
