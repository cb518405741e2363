"""Budgets of saturation, costs, and what is taken back."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.rewrite import saturate
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.rules.equations import common_factor, matmul_assoc
from tests.rewrite.test_saturate import chain, computed, numbers, run


def test_where_the_budget_is_used_up_the_search_goes_on_from_the_best_found() -> None:
    """A sum of 12 multiples has millions of partly factored forms."""
    xs = pt.vectors(*[f"x{i}" for i in range(12)])
    k = pt.vector("k")
    graph = FunctionGraph([k, *xs], [pt.add(*[k * x for x in xs])])
    given = numbers(graph)
    plain = computed(graph, given)
    result, _ = run(graph, [common_factor], node_budget=300)
    assert sorted(str(node.op) for node in graph.apply_nodes) == ["add", "mul"]
    assert result.stopped is StopReason.BUDGET
    np.testing.assert_allclose(computed(graph, given)[0], plain[0])


def test_what_is_no_cost() -> None:
    a, b, c = [pt.matrix(name, shape=(3, 3)) for name in "abc"]

    def broken(node: Any) -> float:
        return 1 / 0

    with pytest.raises(TypeError, match="a cost is a function of a node, .* not 'flopz'"):
        SaturationOptimizer([matmul_assoc], cost="flopz")  # type: ignore[arg-type]
    for cost, error in ((lambda node: None, ValueError), (broken, ZeroDivisionError)):
        graph = FunctionGraph([a, b, c], [a @ b @ c])
        with pytest.raises(error) as caught:
            SaturationOptimizer([matmul_assoc], cost=cost).rewrite(graph)
        assert "dot" in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


def test_seconds_are_kept_however_many_matches_there_are() -> None:
    k, *xs = pt.vectors(*[f"x{i}" for i in range(31)])
    graph = FunctionGraph(None, [pt.add(*[k * x for x in xs])])
    start = time.perf_counter()
    result = SaturationOptimizer([common_factor], seconds=0.3).rewrite(graph)
    assert result.stopped is StopReason.BUDGET
    assert time.perf_counter() - start < 2  # it was 9, for a budget of 1


def test_what_is_taken_back_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that do not pay in the end are undone, and are in no trace."""
    monkeypatch.setattr(saturate.Balance, "on_import", lambda self, fgraph, node, reason: None)
    monkeypatch.setattr(saturate.Balance, "on_prune", lambda self, fgraph, node, reason: None)
    factors, product = chain([1, 9, 1, 9, 1])
    graph = FunctionGraph(factors, [product])
    before = brief(product, 9)
    result, trace = run(graph, [matmul_assoc])
    assert (result.firings, len(trace), list(trace)) == (0, 0, [])
    assert brief(graph.outputs[0], 9) == before
