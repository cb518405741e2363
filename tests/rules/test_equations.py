"""The shipped equations: examples, values, and that they stay off until they are asked for."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check.example import OPTIONS, names_of
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import all_rules, equations, optimizer
from rewrite_engine.rewrite.cost import flops
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rewrite.trace import Trace, brief
from tests.rewrite.graphs import total

SHIPPED: list[Any] = list(equations())
by_equation = pytest.mark.parametrize("equation", SHIPPED, ids=lambda e: e.name)


@by_equation
def test_the_example_is_right(equation: Equation) -> None:
    names = names_of(equation, RuleSet())
    test = doctest.DocTestParser().get_doctest(equation.doc, names, equation.name, None, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(test, out=report.append)
    assert runner.tries
    assert not runner.failures, "".join(report)


def random_term(seed: int) -> tuple[list[Any], Any]:
    """A random matrix-valued term of sums, products and factors, of known shapes."""
    random = np.random.default_rng(seed)
    sizes = [int(n) for n in random.integers(1, 6, 3)]
    leaves: dict[tuple[int, int], list[Any]] = {}
    k = pt.scalar("k")

    def leaf(n: int, m: int) -> Any:
        known = leaves.setdefault((n, m), [])
        if len(known) < 2:
            known.append(pt.matrix(f"m{n}_{m}_{len(known)}", shape=(n, m)))
        return known[int(random.integers(len(known)))]

    def term(n: int, m: int, depth: int) -> Any:
        if depth == 0:
            return leaf(n, m)
        match int(random.integers(6)):
            case 0 | 1:
                inner = sizes[int(random.integers(3))]
                return term(n, inner, depth - 1) @ term(inner, m, depth - 1)
            case 2:
                return term(n, m, depth - 1) + term(n, m, depth - 1)
            case 3:
                return k * term(n, m, depth - 1)
            case 4:
                return term(m, n, depth - 1).T
            case _:
                return leaf(n, m) * term(n, m, depth - 1) + leaf(n, m) * term(n, m, depth - 1)

    root = term(sizes[0], sizes[1], 4)
    return [k, *[v for vs in leaves.values() for v in vs]], root


@pytest.mark.parametrize("seed", range(40))
def test_random_terms_keep_their_values_and_get_cheaper(seed: int) -> None:
    inputs, root = random_term(seed)
    outputs = [root, root.sum(axis=0), root.sum()]
    graph = FunctionGraph(inputs, outputs)
    before = total(graph.apply_nodes, flops)
    driver = SaturationOptimizer(equations(), node_budget=2_000, seconds=2)
    trace = Trace(terms=True)
    result = driver.rewrite(graph, trace)
    graph.check_integrity()
    after = total(graph.apply_nodes, flops)
    assert after <= before
    assert (after < before) == bool(result.firings) == bool(len(trace))
    random = np.random.default_rng(seed)
    values = [random.normal(size=v.type.shape) for v in inputs]
    plain = rw.Mode("py", optimizer=None)
    expected = rw.function(inputs, outputs, mode=plain, on_unused_input="ignore")(*values)
    found = rw.function(graph.inputs, graph.outputs, mode=plain, on_unused_input="ignore")(*values)
    for e, f in zip(expected, found, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-9, atol=1e-9 * (1 + np.abs(e).max()))


@by_equation
def test_both_directions_are_ordinary_rules(equation: Equation) -> None:
    for rule in equation.directions:
        assert rule.claim is equation.claim
        assert rule.name in equation.names
        assert equation.name in rule.names


def test_off_until_asked_for() -> None:
    k, a, b = pt.scalar("k"), pt.matrix("a", shape=(9, 5)), pt.matrix("b", shape=(5, 2))
    assert not [r for r in all_rules() if isinstance(r, Equation)]
    assert "saturate" not in [part.name for part in optimizer()]
    f = rw.function([k, a, b], (k * a) @ b)
    assert f.fgraph.outputs[0].owner.inputs[0].owner is not None
    mode = rw.Mode("fast_run").including("saturate", "fastmath")
    g = rw.function([k, a, b], (k * a) @ b, mode=mode)
    assert g.fgraph.outputs[0].owner.inputs[0].owner is None
    rng = np.random.default_rng(0)
    values = rng.normal(), rng.normal(size=(9, 5)), rng.normal(size=(5, 2))
    np.testing.assert_allclose(g(*values), f(*values), rtol=1e-12)


def test_equations_obey_queries() -> None:
    k, a, b = pt.scalar("k"), pt.matrix("a", shape=(9, 5)), pt.matrix("b", shape=(5, 2))
    asked = rw.Mode("fast_run").including("saturate")
    for mode in (asked, asked.including("fastmath").excluding("scaled_left_factor")):
        f = rw.function([k, a, b], (k * a) @ b, mode=mode)
        assert f.fgraph.outputs[0].owner.inputs[0].owner is not None


def test_integers_and_mixed_dtypes_are_left_alone() -> None:
    a, b, v = pt.imatrix("a"), pt.imatrix("b"), pt.ivector("v")
    mixed = pt.fmatrix("m") @ pt.fmatrix("n") @ pt.dvector("w")
    graph = FunctionGraph(None, [a @ b @ v, a * b + a * a, (a @ b).sum(), mixed])
    assert not SaturationOptimizer(equations()).rewrite(graph).firings


def test_a_sum_is_not_distributed_where_operands_are_stretched() -> None:
    """m @ v + m @ w: a vector and a matrix are combined with other dimensions on the two sides."""
    m, v, w = pt.matrix("m"), pt.vector("v"), pt.matrix("w")
    graph = FunctionGraph(None, [m @ v + m @ w])
    assert not SaturationOptimizer(equations()).rewrite(graph).firings


def test_sums_of_unknown_lengths_are_not_joined() -> None:
    x, y = pt.vectors("x y")
    graph = FunctionGraph(None, [x.sum() + y.sum()])
    assert not SaturationOptimizer(equations()).rewrite(graph).firings


def test_a_trace_needs_no_product() -> None:
    a, b = pt.matrix("a", shape=(30, 20)), pt.matrix("b", shape=(20, 30))
    graph = FunctionGraph([a, b], [pt.trace(a @ b)])
    before = total(graph.apply_nodes, flops)
    assert SaturationOptimizer(equations()).rewrite(graph).fired == {
        "equations/trace_of_product.forward": 1
    }
    assert brief(graph.outputs[0]) == "Sum(a * Transpose{axes=[1, 0]}(b))"
    assert total(graph.apply_nodes, flops) < before / 10
    f = rw.function([a, b], pt.trace(a @ b), mode="fast_run")
    g = rw.function(graph.inputs, graph.outputs[0])
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 20)), rng.normal(size=(20, 30))
    np.testing.assert_allclose(g(*values), f(*values), rtol=1e-12)
    np.testing.assert_allclose(f(*values), np.trace(values[0] @ values[1]), rtol=1e-12)
