"""How good what saturation finds is, where the optimum is known; and what each cost is for."""

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
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.rewrite.cost import CALL, bytes_moved, flops, total
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.rules.equations import common_factor, matmul_assoc
from rewrite_engine.rules.pipeline import equations
from tests.rewrite.test_saturate import best_order, chain, computed, numbers, run

Sum = tuple[str, ...]  # each a product, its letters the factors


@cache
def fewest(terms: Sum) -> int:
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
    assert total(graph.apply_nodes, flops) < 0.95 * before
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
