"""Saturation where the optimum is known, what costs are for, budgets, and what is taken back."""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks import graphs
from rewrite_engine.errors import RuleRaisedError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import Const, Inexact, Tensor, equation
from rewrite_engine.language import given as provided
from rewrite_engine.pipeline.phases import equations
from rewrite_engine.rewrite import saturate
from rewrite_engine.rewrite.cost import CALL, bytes_moved, flops
from rewrite_engine.rewrite.egraph import explore, extract
from rewrite_engine.rewrite.egraph.extract import Extractor
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.rules.equations import common_factor, common_left_matrix, matmul_assoc
from tests.growth import by_lines
from tests.rewrite.graphs import total
from tests.rewrite.test_saturate import best_order, chain, computed, numbers, run


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

    with pytest.raises(TypeError, match="a cost must be a function of a node, .* not 'flopz'"):
        SaturationOptimizer([matmul_assoc], cost="flopz")  # type: ignore[arg-type]
    for cost, error in ((lambda node: None, ValueError), (broken, ZeroDivisionError)):
        graph = FunctionGraph([a, b, c], [a @ b @ c])
        with pytest.raises(error) as caught:
            SaturationOptimizer([matmul_assoc], cost=cost).rewrite(graph)
        assert "dot" in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


def test_what_is_no_budget() -> None:
    for options in ({"node_budget": -5}, {"seconds": "1"}, {"seconds": float("nan")}):
        with pytest.raises(ValueError, match=r"(node_budget|seconds) must be a number >= 0, not "):
            SaturationOptimizer(matmul_assoc, **options)  # type: ignore[arg-type]


def test_a_guard_that_raises_is_told_with_its_rule() -> None:
    def wrong(a: Inexact, b: Inexact) -> Any:
        """Its guard has a slip."""
        return pt.sinh(a * b), pt.sinh(a) * b, provided(lambda a: a.shpe)

    v, w = pt.vectors("v w")
    graph = FunctionGraph(None, [pt.sinh(v * w)])
    with pytest.raises(RuleRaisedError, match="rule test_saturate_limits/wrong.*\n.*shpe"):
        SaturationOptimizer(equation(wrong)).rewrite(graph)
    graph.check_integrity()


def test_seconds_are_kept_however_many_matches_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    k, *xs = pt.vectors(*[f"x{i}" for i in range(31)])
    graph = FunctionGraph(None, [pt.add(*[k * x for x in xs])])
    with by_lines(monkeypatch, saturate, explore, extract) as clock:
        result = SaturationOptimizer([common_factor], seconds=0.3).rewrite(graph)
    assert result.stopped is StopReason.BUDGET
    assert clock() < 2  # it was 9, for a budget of 1


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
    search = saturate.Region.search

    def counted(self: saturate.Region, *args: Any) -> Any:
        looked.append(len(self.nodes))
        return search(self, *args)

    monkeypatch.setattr(saturate.Region, "search", counted)
    run(FunctionGraph(None, [rough, *smooth]), [common_factor], node_budget=300)
    assert len(looked) - looked.count(2) > 3
    assert looked.count(2) <= 6 + 1  # and the product that is left of the first region


Terms = tuple[str, ...]  # each a product, its letters the factors


@cache
def fewest(terms: Terms) -> int:
    """The fewest additions and multiplications for a sum of products, of all ways to take common
    factors out, nothing shared."""
    found = sum(len(t) - 1 for t in terms) + len(terms) - 1
    for k in {x for t in terms for x in t if len(terms) > 1}:
        having = [i for i, t in enumerate(terms) if k in t and len(t) > 1]
        for n in range(2, len(having) + 1):
            for some in combinations(having, n):
                inner = tuple(sorted(terms[i].replace(k, "", 1) for i in some))
                rest = tuple(t for i, t in enumerate(terms) if i not in some)
                found = min(found, 1 + fewest(inner) + (1 + fewest(rest) if rest else 0))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_sums_of_products_are_factored_as_well_as_can_be(seed: int) -> None:
    rng = random.Random(seed)
    terms = tuple(sorted({"".join(rng.sample("abcde", rng.choice([2, 2, 3]))) for _ in range(6)}))
    named = {x: pt.vector(x, shape=(64,)) for x in "abcde"}
    whole = pt.add(*[pt.mul(*[named[x] for x in t]) for t in terms])
    graph = FunctionGraph(list(named.values()), [whole])
    given = numbers(graph)
    plain = computed(graph, given)
    run(graph, [common_factor])
    nodes = len(graph) * CALL
    assert total(graph.apply_nodes, flops) - nodes <= 64 * fewest(tuple(map(canonical, terms)))
    np.testing.assert_allclose(computed(graph, given)[0], plain[0], rtol=1e-9, atol=1e-9)


def canonical(term: str) -> str:
    return "".join(sorted(term))


@pytest.mark.parametrize("n", [25, 40])
def test_long_chains_get_the_best_order(n: int) -> None:
    sizes = [int(s) for s in np.random.default_rng(n).integers(1, 100, n + 1)]
    graph = FunctionGraph(None, [chain(sizes)[1]])
    run(graph, [matmul_assoc])
    assert sum(flops(node) for node in graph.apply_nodes) == best_order(sizes)


@pytest.mark.parametrize("n", [3, 9])
def test_changes_that_only_pay_together(n: int) -> None:
    """Each sum multiplied out alone costs what it saves; all of them save a third of the rest."""
    k, *xs = [pt.matrix(f"m{i}", shape=(50, 50)) for i in range(n + 1)]
    sums = [k @ (xs[i] + xs[(i + 1) % n]) for i in range(n)]
    graph = FunctionGraph([k, *xs], [*sums, *[k @ x for x in xs[::3]]])
    given = numbers(graph)
    plain = computed(graph, given)
    run(graph, [common_left_matrix])
    assert [str(node.op) for node in graph.apply_nodes].count("dot") == n
    for found, wanted in zip(computed(graph, given), plain, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_several_at_once_in_one_graph() -> None:
    """A vector at the end of products, a trace, common factors, and a sum over a product: each as
    if it were alone."""
    a, b, c = [pt.matrix(name, shape=(30, 30)) for name in "abc"]
    v, k, w = [pt.vector(name, shape=(30,)) for name in "vkw"]
    outputs = [
        pt.tanh(a @ b @ c @ v),
        pt.trace(b @ c) * 2,
        k * v + pt.exp(w) + k * w,
        (a @ c).sum(axis=0) + v,
    ]
    alone = 0.0
    for out in outputs:
        graph = FunctionGraph(None, [out])
        SaturationOptimizer(equations()).rewrite(graph)
        alone += total(graph.apply_nodes, flops)
    graph = FunctionGraph([a, b, c, v, k, w], outputs)
    given = numbers(graph)
    plain = computed(graph, given)
    run(graph, equations())
    assert total(graph.apply_nodes, flops) <= alone
    assert not [n for n in graph.apply_nodes if str(n.op) == "dot" and n.outputs[0].type.ndim == 2]
    for found, wanted in zip(computed(graph, given), plain, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_a_gradient_as_it_comes_from_grad() -> None:
    """`large_fuseable(4)`: the terms of the gradient have factors in common."""
    inputs, outputs = graphs.large_fuseable(pt, rw.grad, 4)
    graph = FunctionGraph(inputs, outputs)
    before = total(graph.apply_nodes, flops)
    given = [np.array(1.7), np.linspace(-1, 1, 4)]
    plain = computed(graph, given)
    run(graph, equations(), seconds=20)
    assert total(graph.apply_nodes, flops) < 214 < before
    for found, wanted in zip(computed(graph, given), plain, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_each_cost_chooses_what_it_says() -> None:
    """(a @ b) @ c has more multiplications, a @ (b @ c) a larger result in between."""

    def wide(node: Any) -> float:
        return float(node.outputs[0].type.shape[-1] == 10)

    sizes = [10, 3, 10, 50]
    for cost, wanted in ((flops, "m0 @ (m1 @ m2)"), (bytes_moved, "m0 @ m1 @ m2")):
        for start in range(2):
            (a, b, c), product = chain(sizes)
            graph = FunctionGraph(None, [a @ (b @ c) if start else product])
            run(graph, [matmul_assoc], cost=cost)
            assert brief(graph.outputs[0]) == wanted
    graph = FunctionGraph(None, [chain(sizes)[1]])
    run(graph, [matmul_assoc], cost=wide)
    assert brief(graph.outputs[0]) == "m0 @ (m1 @ m2)"


def is_long(v: Any) -> bool:
    """A predicate of a user's, as a sort."""
    return bool(v.type.shape[0] > 5)


def by_constant(a: Inexact, k: Const) -> Any:
    """A number."""
    return pt.sinh(a * k), pt.sinh(a) * k


def by_length(a: Inexact, k: Tensor[7]) -> Any:
    """A length."""
    return pt.sinh(a * k), pt.sinh(a) * k


def by_predicate(a: Inexact, k: is_long) -> Any:  # type: ignore[valid-type]
    """What a user asks."""
    return pt.sinh(a * k), pt.sinh(a) * k


def by_guard(a: Inexact, k: Inexact) -> Any:
    """The same as a guard."""
    return pt.sinh(a * k), pt.sinh(a) * k, provided(lambda k: k.type.shape[0] > 5)


@pytest.mark.parametrize("fn", [by_constant, by_length, by_predicate, by_guard])
def test_sorts_and_guards_are_asked(fn: Any) -> None:
    """Of either factor: products commute."""
    x, y, short, other = [
        pt.vector(n, shape=(k,)) for n, k in zip("xyst", (7, 7, 1, 1), strict=True)
    ]
    fitting: Any = (x, 2.0) if fn is by_constant else (x, y)
    for (a, k), firings in ((fitting, 1), ((short, other), 0)):
        graph = FunctionGraph(None, [pt.sinh(a * k), pt.sinh(a) * k])
        assert run(graph, [equation(fn)])[0].firings == firings


def test_what_lengths_and_dtypes_forbid_is_left() -> None:
    ints = pt.imatrix("a") @ pt.imatrix("b") @ pt.ivector("v")
    m, v, w = pt.matrix("m"), pt.vector("v"), pt.matrix("w")
    x, z = pt.vector("x", shape=(7,)), pt.vector("z")
    graph = FunctionGraph(None, [ints, m @ v + m @ w, x.sum() + z.sum()])
    assert not run(graph, equations())[0].firings


def test_a_common_factor_in_a_sum_of_many_operands() -> None:
    k, *xs = pt.vectors(*[f"x{i}" for i in range(21)])
    m, a, b = pt.matrices("m a b")
    others = pt.add(*[pt.sin(x) for x in xs])
    graph = FunctionGraph(None, [others + (k * xs[3] + k * xs[7]), m @ a + m @ b])
    given = numbers(graph)
    plain = computed(graph, given)
    result, _ = run(graph, equations())
    assert result.stopped is StopReason.SATURATED
    kept = sorted(str(n.op) for n in graph.apply_nodes if str(n.op) in ("mul", "dot"))
    assert kept == ["dot", "mul"]
    for found, wanted in zip(computed(graph, given), plain, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
