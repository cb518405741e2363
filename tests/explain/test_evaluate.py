"""What explain compares with: graphs evaluated node by node."""

from __future__ import annotations

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.evaluate import walk
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import held
from rewrite_engine.link.linker import bodies


def test_graphs_inside_ops_are_evaluated_node_by_node_too() -> None:
    """What generated code gives is compared with this, so it must not be what that gives."""
    x = pt.vector("x")
    op = rw.OpFromGraph([x], [pt.tanh(x) + 1])
    graph = FunctionGraph([x], [op(x) * 2])
    outputs, _, _ = walk(graph, [np.zeros(3)])
    np.testing.assert_array_equal(outputs[0], np.full(3, 2.0))
    (inner,) = held(graph)
    assert [linker.name for linker in bodies(inner)] == ["py"]
