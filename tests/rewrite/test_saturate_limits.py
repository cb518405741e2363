"""Budgets of saturation, costs, and what is taken back."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.rewrite import saturate
from rewrite_engine.rewrite.extract import Extractor
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


def test_a_region_that_is_larger_than_the_budget_is_looked_at_in_parts() -> None:
    v = pt.vector("v")
    for i in range(60):
        a, b = pt.matrices(f"a{i} b{i}")
        v = (a @ b) @ v
    graph = FunctionGraph(None, [v])
    given = [x / 10 for x in numbers(graph)]
    plain = computed(graph, given)
    result, _ = run(graph, [matmul_assoc], node_budget=120)
    assert result.stopped is StopReason.BUDGET
    assert {node.outputs[0].type.ndim for node in graph.apply_nodes} == {1}
    np.testing.assert_allclose(computed(graph, given)[0], plain[0], rtol=1e-9)


@pytest.mark.parametrize("budget", [0, 1, 5, 50, 120, 333])
def test_no_more_terms_are_held_than_the_budget_allows(
    budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Save those that the graph has, and those that the steps at the end go through."""
    held: list[int] = []
    choose = Extractor.choose

    def counted(self: Extractor, *args: Any) -> Any:
        held.append(len(self.egraph))
        return choose(self, *args)

    monkeypatch.setattr(Extractor, "choose", counted)
    k, *xs = pt.vectors(*[f"x{i}" for i in range(9)])
    graph = FunctionGraph(None, [pt.add(*[k * x for x in xs])])
    result, _ = run(graph, [common_factor], node_budget=budget)
    assert all(n <= max(budget, 30) for n in held)
    assert (result.firings > 0) == (budget >= 50)
    assert result.stopped is StopReason.BUDGET


def test_what_is_settled_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One region needs many searches, the others one each."""
    k, *xs = pt.vectors(*[f"x{i}" for i in range(13)])
    rough = pt.add(*[k * x for x in xs])
    smooth = []
    for i in range(6):
        p, q = pt.vectors(f"p{i} q{i}")
        smooth.append(pt.exp(p * q) + q)
    looked: list[int] = []
    improve = saturate.Region.improve

    def counted(self: saturate.Region, *args: Any) -> Any:
        looked.append(len(self.nodes))
        return improve(self, *args)

    monkeypatch.setattr(saturate.Region, "improve", counted)
    run(FunctionGraph(None, [rough, *smooth]), [common_factor], node_budget=300)
    assert len(looked) - looked.count(2) > 3
    assert looked.count(2) <= 6 + 1  # and the product that is left of the first region
