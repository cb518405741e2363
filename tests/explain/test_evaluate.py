"""What explain compares with: graphs evaluated node by node."""

from __future__ import annotations

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.cost import cost_of
from rewrite_engine.explain.evaluate import walk
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import held
from rewrite_engine.link.linker import bodies
from rewrite_engine.link.py import PyLinker


def test_graphs_inside_ops_are_evaluated_node_by_node_too(monkeypatch) -> None:
    """What generated code gives is compared with this, so it must not be what that gives."""
    x = pt.vector("x")
    op = rw.OpFromGraph([x], [pt.tanh(x) + 1])
    graph = FunctionGraph([x], [op(x) * 2])
    names = []
    plain = PyLinker.compile

    def compile_(self, fgraph):
        names.append((self.name, len(fgraph)))
        return plain(self, fgraph)

    monkeypatch.setattr(PyLinker, "compile", compile_)
    outputs, shapes, _ = walk(graph, [np.zeros(3)])
    np.testing.assert_array_equal(outputs[0], np.full(3, 2.0))
    assert names == [("py", 2), ("py", 2)]
    (inner,) = held(graph)
    assert not bodies(inner)
    assert shapes.inside == {inner: 3 * 11}


def test_the_operations_of_a_loop_are_those_of_its_steps() -> None:
    x = pt.vector("x")
    ys, _ = rw.scan(lambda a, b: a * b + 1, sequences=[x], outputs_info=[pt.constant(1.0)])
    graph = FunctionGraph([x], [ys])
    _, shapes, _ = walk(graph, [np.ones(7)])
    [flops] = shapes.inside.values()
    assert flops == 7 * 2
    assert cost_of(graph, shapes).flops >= 14
    assert cost_of(graph, shapes).uncounted == ()
