"""The backend `egglog` finds what the native one finds, and its results are replayed by rules."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import MissingExtraError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.pattern import Prop
from rewrite_engine.rewrite.cost import flops, total
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.rules.equations import matmul_assoc
from rewrite_engine.rules.language import Const, Float, Tensor, equation
from rewrite_engine.rules.language import given as provided
from rewrite_engine.rules.pipeline import equations
from tests.match import test_equation as toys
from tests.match.language import x, y, z
from tests.rewrite.graphs import values
from tests.rewrite.test_saturate import FACTORED, best_order, chain, computed, factor, numbers, run
from tests.rules.test_equations import random_term
from tests.toy import Scale, add, join, mul, neg, sub

installed = pytest.mark.skipif(find_spec("egglog") is None, reason="needs the extra egraph")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "egglog", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rewrite-engine\[egraph\]'"):
        SaturationOptimizer([matmul_assoc], backend="egglog")
    SaturationOptimizer([matmul_assoc])


@installed
@pytest.mark.parametrize("n", [3, 6, 12, 18])
def test_chains_get_the_best_order(n: int) -> None:
    sizes = [int(s) for s in np.random.default_rng(n).integers(1, 40, n + 1)]
    factors, product = chain(sizes)
    graph = FunctionGraph(factors, [product])
    given = numbers(graph)
    plain = computed(graph, given)
    result, trace = run(graph, [matmul_assoc], backend="egglog")
    assert result.stopped is StopReason.SATURATED
    assert sum(flops(node) for node in graph.apply_nodes) == best_order(sizes)
    assert {r.rule_name for r in trace} <= {rule.name for rule in matmul_assoc.directions}
    np.testing.assert_allclose(computed(graph, given)[0], plain[0], rtol=1e-8)


@installed
@pytest.mark.parametrize("case", FACTORED)
def test_operands_in_any_number_and_order(case: str) -> None:
    factor(case, backend="egglog")


@installed
@pytest.mark.parametrize("seed", range(12))
def test_random_terms(seed: int) -> None:
    inputs, root = random_term(seed)
    outputs = [root, root.sum(axis=0)]
    graph = FunctionGraph(inputs, outputs)
    before, given = total(graph.apply_nodes, flops), numbers(graph)
    plain = computed(graph, given)
    result, _ = run(graph, equations(), backend="egglog", node_budget=3_000, seconds=5)
    after = total(graph.apply_nodes, flops)
    assert after <= before
    assert (after < before) == bool(result.firings)
    for found, expected in zip(computed(graph, given), plain, strict=True):
        scale = 1 + np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)


@installed
def test_sorts_and_guards_are_asked() -> None:
    ints = pt.imatrix("a") @ pt.imatrix("b") @ pt.ivector("v")
    m, v, w = pt.matrix("m"), pt.vector("v"), pt.matrix("w")
    graph = FunctionGraph(None, [ints, m @ v + m @ w])
    assert not run(graph, equations(), backend="egglog")[0].firings


@installed
def test_parameters_and_commuting_operands() -> None:
    def scaled(a, b, by: Prop) -> Any:
        return Scale(by=by)(a) + Scale(by=by)(b), Scale(by=by)(a + b)

    rules = [toys.make(scaled), toys.make(lambda a, b, c: (a * b + a * c, a * (b + c)))]
    rules[0].name, rules[0].forward.name = "test/scaled", "test/scaled.forward"
    graph = FunctionGraph([x, y, z], [add(Scale(3.0)(mul(x, y)), Scale(3.0)(mul(z, x)))])
    before = values(graph)
    run(graph, rules, backend="egglog")
    assert len(graph) == 3
    assert values(graph) == pytest.approx(before)


@installed
def test_a_budget() -> None:
    factors, product = chain([1 + (7 * i) % 11 for i in range(31)])
    graph = FunctionGraph(factors, [product])
    before = total(graph.apply_nodes, flops)
    result, _ = run(graph, [matmul_assoc], backend="egglog", node_budget=200)
    assert result.stopped is StopReason.BUDGET
    assert total(graph.apply_nodes, flops) <= before


@installed
def test_sums_of_any_number_of_operands() -> None:
    """Wider than any pattern, so matched here; what is inside of them goes over."""
    k, *xs = pt.vectors(*[f"x{i}" for i in range(21)])
    m, a, b = pt.matrices("m a b")
    others = pt.add(*[pt.sin(x) for x in xs])
    graph = FunctionGraph(None, [others + (k * xs[3] + k * xs[7]), m @ a + m @ b])
    given = numbers(graph)
    plain = computed(graph, given)
    result, _ = run(graph, equations(), backend="egglog")
    assert result.stopped is StopReason.SATURATED
    assert sorted(str(n.op) for n in graph.apply_nodes if str(n.op) in ("mul", "dot")) == [
        "dot",
        "mul",
    ]
    for found, wanted in zip(computed(graph, given), plain, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@installed
def test_guards_that_need_more_than_kinds() -> None:
    """Lengths are no part of a kind: equal ones are found here."""
    x, y = pt.vector("x", shape=(7,)), pt.vector("y", shape=(7,))
    for v, joined in ((y, True), (pt.vector("z"), False)):
        graph = FunctionGraph(None, [x.sum() + v.sum(), pt.exp((x + v).sum()) if joined else x])
        assert bool(run(graph, equations(), backend="egglog")[0].firings) == joined


def is_long(v: Any) -> bool:
    """A predicate of a user's, as a sort."""
    return bool(v.type.shape[0] > 5)


@installed
def test_sorts_and_guards_that_need_more_than_kinds() -> None:
    def by_constant(a: Float, k: Const) -> Any:
        """A number."""
        return pt.sinh(a * k), pt.sinh(a) * k

    def by_length(a: Float, k: Tensor[7]) -> Any:
        """A length."""
        return pt.sinh(a * k), pt.sinh(a) * k

    def by_predicate(a: Float, k: is_long) -> Any:  # type: ignore[valid-type]
        """What a user asks."""
        return pt.sinh(a * k), pt.sinh(a) * k

    def by_guard(a: Float, k: Float) -> Any:
        """The same as a guard, which raises where the length is not known."""
        return pt.sinh(a * k), pt.sinh(a) * k, provided(lambda k: k.type.shape[0] > 5)

    x, y = pt.vector("x", shape=(7,)), pt.vector("y", shape=(7,))
    for fn, k in ((by_constant, 2.0), (by_length, y), (by_predicate, y), (by_guard, y)):
        graph = FunctionGraph(None, [pt.sinh(x * k), pt.sinh(x) * k])
        assert run(graph, [equation(fn)], backend="egglog")[0].firings == 1


@installed
def test_many_ops() -> None:
    """Their names over there are none of egglog's own (the 65th was f64)."""
    nested = toys.make(lambda a: (neg(join(a, a)), join(neg(a), neg(a))))
    swapped = toys.make(lambda a, b: (neg(sub(a, b)), sub(b, a)))
    swapped.forward.name, swapped.backward.name = "test/swapped", "test/back"
    graph = FunctionGraph(None, [neg(sub(x, y)), *[join(*[x] * n, y) for n in range(1, 80)]])
    assert run(graph, [nested, swapped], backend="egglog")[0].firings == 1


@installed
def test_numbers() -> None:
    rule = toys.make(lambda a: (add(a, a), mul(2, a)))
    graph = FunctionGraph(None, [neg(mul(x, 2)), neg(add(x, x))])
    assert run(graph, [rule], backend="egglog")[0].firings == 1
    assert len(graph) == 2


@installed
def test_a_deep_term() -> None:
    term = x
    for i in range(1_500):
        term = neg(sub(term, y)) if i % 2 else neg(term)
    rule = toys.make(lambda a, b: (neg(sub(a, b)), sub(b, a)))
    graph = FunctionGraph([x, y], [term])
    run(graph, [rule], backend="egglog", seconds=20)
    assert brief(graph.outputs[0], 1).startswith("y - ")
