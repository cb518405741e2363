"""Saturation of ops with several outputs: each is matched, chosen and replaced like any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op
from rewrite_engine.language import Matrix, equation, rule
from rewrite_engine.match.pattern import Prop
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rewrite.trace import Trace, brief
from tests.match.language import make as make_rule
from tests.match.language import x, y, z
from tests.match.test_equation import make
from tests.match.test_outputs import Pair, Scaled, Svd
from tests.rewrite.graphs import terms, total, values
from tests.rewrite.test_saturate import EQUATIONS, computed, run
from tests.toy import add, mul, neg, num, sin, sub


class Three(Op):
    """Sum, difference and product of two numbers."""

    __props__ = ("by",)
    itypes = (num, num)
    otypes = (num, num, num)
    output_names = ("total", "apart", "times")

    def __init__(self, by: str = "") -> None:
        self.by = by

    def __str__(self) -> str:
        return "Three"

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        a, b = inputs
        for cell, value in zip(output_storage, (a + b, a - b, a * b), strict=True):
            cell[0] = value


three = Three()
ALONE = (add, sub, mul)
COSTS = {three: 5.0, add: 2.0, sub: 2.0, mul: 2.0, neg: 1.0, sin: 1.0}


def cost(node: Any) -> float:
    return COSTS.get(node.op, 1.0)


def parts() -> list[Any]:
    """Three equations: each output is what the op for it alone computes."""
    made = [
        make(lambda a, b: (three(a, b).total, add(a, b))),
        make(lambda a, b: (three(a, b).apart, sub(a, b))),
        make(lambda a, b: (three(a, b)[2], mul(a, b))),
    ]
    for name, one in zip(("total", "apart", "times"), made, strict=True):
        one.name, one.forward.name, one.backward.name = name, f"{name}.forward", f"{name}.backward"
    return made


def saturated(outputs: list[Any], rules: Any, **options: Any) -> tuple[FunctionGraph, Any]:
    graph = FunctionGraph([x, y, z], outputs)
    before = values(graph)
    result, _ = run(graph, rules, **{"cost": cost, **options})
    assert values(graph) == pytest.approx(before)
    assert result.stopped is StopReason.SATURATED
    return graph, result


@pytest.mark.parametrize("i", range(3))
def test_an_output_that_is_used_alone_is_computed_alone(i: int) -> None:
    graph, result = saturated([sin(three(x, y)[i])], parts())
    assert graph.outputs[0].owner.inputs[0].owner.op is ALONE[i]
    assert result.firings == 1


@pytest.mark.parametrize("i", range(3))
def test_an_output_of_a_node_that_is_needed_anyway_costs_nothing(i: int) -> None:
    others = [out for k, out in enumerate(three(x, y)) if k != i]
    graph, result = saturated([*others, ALONE[i](x, y)], [parts()[i]])
    (node,) = graph.apply_nodes
    assert node.op is three
    assert result.firings == 1
    assert sorted(v.index for v in graph.outputs) == [0, 1, 2]


def test_a_node_is_paid_for_once_however_many_outputs_are_used() -> None:
    """5 for all, 2 for each alone."""
    graph, _ = saturated([add(x, y), sub(x, y), mul(x, y)], parts())
    assert [node.op for node in graph.apply_nodes] == [three]
    graph, result = saturated(list(three(x, y)), parts())
    assert (len(graph), result.firings) == (1, 0)
    graph, _ = saturated(list(three(x, y))[:2], parts())
    assert {node.op for node in graph.apply_nodes} == {add, sub}
    graph, result = saturated([add(x, y), mul(x, y)], parts())
    assert (len(graph), result.firings) == (2, 0)


def test_outputs_of_equal_operands_are_equal() -> None:
    """By congruence: the nodes of which they are outputs become one."""
    gone = make_rule(lambda a: neg(neg(a)) >> a)
    total, apart, _ = three(neg(neg(x)), y)
    times = three(x, y).times
    graph, _ = saturated([total, apart, times], [gone, make(lambda a, b: (three(a, b)[1], a - b))])
    (node,) = graph.apply_nodes
    assert (node.op, node.inputs) == (three, tuple(graph.inputs[:2]))


def test_one_rule_for_all_outputs() -> None:
    swapped = make_rule(
        lambda a, b: three(neg(a), neg(b)) >> (
            neg(three(a, b).total), neg(three(a, b).apart), three(a, b).times
        )
    )  # fmt: skip
    graph, result = saturated(list(three(neg(x), neg(y))), [swapped], cost=lambda node: 1.0)
    assert result.firings == 0  # 3 nodes either way
    graph, result = saturated(list(three(neg(x), neg(y)))[1:], [swapped])
    assert [brief(v, 9) for v in graph.outputs] == ["-Three(x, y).apart", "Three(x, y).times"]
    assert result.firings == 2


def test_an_equation_between_all_outputs_of_two_ops() -> None:
    """Either op, as it is the cheaper one; where only one output is used, too."""
    both = make(lambda a, b: (three(a, b), Three("other")(a, b)))
    for used in ([0, 1, 2], [1]):
        for op in (three, Three("other")):
            graph, result = saturated(
                [op(x, y)[i] for i in used], [both], cost=lambda node: float(node.op is three)
            )
            assert [node.op for node in graph.apply_nodes] == [Three("other")]
            assert result.firings == len(used) * (op is three)


def test_patterns_below_the_root_and_two_outputs_of_one_node() -> None:
    whole = make_rule(lambda a, b: add(three(a, b).total, three(a, b).apart) >> add(a, a))
    graph, _ = saturated([add(three(x, y).apart, three(x, y).total)], [whole])
    assert brief(graph.outputs[0]) == "x + x"
    two = [add(three(x, y).total, three(x, z).apart), add(three(x, y).total, three(x, y).times)]
    assert saturated(two, [whole])[1].firings == 0


def test_a_default_output_and_parameters() -> None:
    pair = Pair()
    second = make(lambda a, b: (pair(a, b), sub(a, b)))

    def signed(a: Any, b: Any, by: Prop) -> Any:
        return Scaled(by)(neg(a), b).rest, neg(Scaled(by)(a, b).rest)

    rest = make(signed)
    second.name, second.forward.name, second.backward.name = "second", "forth", "back"
    first = pair.make_node(x, y).outputs[0]
    outputs = [sin(pair(x, y)), first, Scaled(3.0)(neg(z), y).rest, Scaled(3.0)(z, y).quotient]
    graph = FunctionGraph([x, y, z], outputs)
    result, _ = run(graph, [second, rest])
    assert [brief(v, 9) for v in graph.outputs] == [
        "sin(Pair(x, y)[1])", "Pair(x, y)[0]",
        "-Scaled{by=3.0}(z, y).rest", "Scaled{by=3.0}(z, y).quotient",
    ]  # fmt: skip
    assert result.firings == 1
    alone = FunctionGraph([x, y], [sin(pair(x, y))])
    assert run(alone, [second], cost=lambda node: float(node.op is pair))[0].firings == 1
    assert brief(alone.outputs[0]) == "sin(x - y)"


def test_singular_values_of_a_transpose() -> None:
    """With the vectors of the matrix itself at hand, its values are there, too."""
    svd = Svd()

    @equation
    def transposed(a: Matrix) -> Any:
        """A matrix has the singular values of its transpose."""
        return svd(a.T).S, svd(a).S

    @rule
    def twice(a: Matrix) -> Any:
        """So there are not ever more transposes."""
        return a.T.T >> a

    m = pt.matrix("m", shape=(4, 3))
    for outputs, nodes, firings in (
        ([svd(m.T).S, svd(m).U], 1, 1),
        ([svd(m.T).S], 1, 1),
        ([svd(m.T).S, svd(m.T).U], 2, 0),
        ([svd(m).S, svd(m.T).U, svd(m.T).Vh], 2, 1),
    ):
        graph = FunctionGraph([m], outputs)
        given = [np.random.default_rng(0).normal(size=(4, 3))]
        plain = computed(graph, given)
        result, trace = run(graph, [transposed, twice])
        assert (len(graph), result.firings) == (nodes, firings)
        assert {r.rule for r in trace} <= set(transposed.directions)
        assert result.stopped is StopReason.SATURATED
        for found, wanted in zip(computed(graph, given), plain, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-12)


@settings(max_examples=30)
@given(st.lists(terms(), min_size=3, max_size=3))
def test_random_graphs_keep_their_values(found: list[Any]) -> None:
    a, b, c = found
    total_, apart, _ = three(a, b)
    graph = FunctionGraph([x, y, z], [add(apart, c), total_, sub(a, b), three(b, c)[2]])
    before, cost_before = values(graph), total(graph.apply_nodes, cost)
    result, _ = run(graph, [*EQUATIONS, *parts()], cost=cost, node_budget=400, seconds=1)
    cost_after = total(graph.apply_nodes, cost)
    assert cost_after <= cost_before
    assert (cost_after < cost_before) == bool(result.firings)
    for now, then in zip(values(graph), before, strict=True):
        assert num.values_eq_approx(now, then) or abs(now - then) < 1e-9


def test_what_was_used_is_told_with_its_output() -> None:
    trace = Trace(terms=True, attempts=True)
    graph = FunctionGraph([x, y, z], [sin(three(x, y).times)])
    SaturationOptimizer(parts(), cost=cost).rewrite(graph, trace)
    (firing,) = trace
    assert (firing.before, firing.after) == ("Three(x, y).times", "x * y")
    assert firing.rule_name == "times.forward"
    assert [(a.rule_name, a.verdict) for a in trace.tries] == [("times.forward", "fired")]
