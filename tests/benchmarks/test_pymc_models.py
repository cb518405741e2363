"""How nodes and operations are counted, and when a figure is met. (The models are not run.)"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks import pymc_models
from benchmarks.pymc_models.cases import GRAPHS, LOSSES, THIRTEEN, some_values
from benchmarks.pymc_models.counts import nodes
from benchmarks.pymc_models.libraries import counting
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.scalar.type import ScalarType

AS_BUILT = rw.Mode(optimizer=None)


def sizes(inputs: list[Any], output: Any, *values: Any) -> tuple[int, int]:
    """Nodes and operations as built."""
    f, eye = rw.function(inputs, output, mode=AS_BUILT), counting()
    eye.compile(f.fgraph)(*map(np.array, values))
    return nodes(f.fgraph), eye.total


def test_elements_are_counted_once_for_each_operand_after_the_first() -> None:
    x, y = pt.dvectors("x", "y")
    assert sizes([x, y], pt.add(x, y, x), np.ones(5), np.ones(5)) == (1, 10)
    assert sizes([x], pt.exp(x).sum(), np.ones(5)) == (2, 10)


def test_products_and_views() -> None:
    a, x = pt.dmatrix("a"), pt.dvector("x")
    assert sizes([a, x], pt.dot(a, x), np.ones((3, 4)), np.ones(4)) == (1, 24)
    assert sizes([a], pt.dot(a, a.T), np.ones((3, 4))) == (2, 72)


def test_a_loop_counts_its_nodes_once_and_its_operations_each_time() -> None:
    x = pt.dvector("x")
    last = rw.scan(lambda y: pt.exp(y) + 1, outputs_info=[x], n_steps=7, return_updates=False)
    assert sizes([x], last, np.ones(3))[1] == 7 * 2 * 3


def test_composed_scalars_count_as_what_they_hold() -> None:
    u = ScalarType("float64")("u")
    both = pt.Elemwise(Composite([u], [rw.scalar.exp(u) * u]))
    x = pt.dvector("x")
    assert nodes(FunctionGraph([x], [both(x)])) == 2


def test_there_are_thirteen_graphs_with_values() -> None:
    assert len(THIRTEEN) == len(set(THIRTEEN)) == 13
    for build, _ in GRAPHS.values():
        inputs, outputs = build(pt, rw.grad, 4)
        found = rw.function(inputs, outputs, mode=AS_BUILT)(*some_values(inputs))
        assert all(np.isfinite(v).all() for v in found)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_the_same_compiled(name: str) -> None:
    inputs, outputs, values = LOSSES[name](rw, pt)
    found, wanted = [rw.function(inputs, outputs, mode=m)(*values) for m in (None, AS_BUILT)]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_targets() -> None:
    mine = {
        "nodes": 10, "operations": 50, "value": 1.0, "nodes as built": 12,
        "operations as built": 49, "nodes plain": 11, "operations plain": 50,
        "compile default": 10.0, "compile plain": 8.0, "call default": 11.2, "call plain": 10.0,
    }  # fmt: skip
    other = {"nodes": 10, "operations": 60, "value": 1.0 + 1e-8, "compile default": 130.0}
    title = THIRTEEN[0]
    met = {row.name.partition(": ")[2]: row.met for row in pymc_models.rows(title, mine, other)}
    assert met == {
        "nodes": True, "operations": False, "compile": True, "stabilisation": None, "call": False,
    }  # fmt: skip
    alone = {row.name.partition(": ")[2]: row.met for row in pymc_models.rows(title, mine, {})}
    assert alone["nodes"] is alone["compile"] is None
