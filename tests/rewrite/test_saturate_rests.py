"""Equations with rests and operands that may be missing, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import Inexact, assumes, equation
from rewrite_engine.match.fact import fact, unknown
from rewrite_engine.match.fact import given as provided
from rewrite_engine.match.pattern import Prop, Rest
from rewrite_engine.rewrite import saturate
from rewrite_engine.rewrite.ac import flatten, regroup
from rewrite_engine.rewrite.cost import flops
from rewrite_engine.rewrite.egraph import explore, extract
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.rules.equations import common_factor
from tests.growth import by_lines
from tests.match.language import make as make_rule
from tests.match.language import x, y, z
from tests.match.test_equation import make
from tests.rewrite.graphs import total, values
from tests.rewrite.test_saturate import computed, numbers, run
from tests.toy import Scale, add, join, mul, neg, num, sin, sub


@equation(claim=assumes("fastmath"))
def collect(x: Inexact, a: Inexact = 1, b: Inexact = 1, rest: Rest = ()) -> Any:
    """Like terms beside others; a missing factor is 1."""
    return a * x + b * x + rest, (a + b) * x + rest


k, a, b, c, d = VECTORS = pt.vectors("k a b c d")

CASES: dict[str, tuple[list[Any], list[str]]] = {
    "two": ([a * k + k * b], ["(a + b) * k"]),
    "among others": ([pt.add(c, a * k, d, k * b)], ["(a + b) * k + c + d"]),
    "in nests": ([(c + a * k) + (d + k * b)], ["(a + b) * k + c + d"]),
    "all": ([pt.add(a * k, k * b, k * c, d * k)], ["(a + b + c + d) * k"]),
    "a factor is missing": ([a * k + k + b * k], ["(1.0 + a + b) * k"]),
    "backwards": ([(a + b) * k, a * k, b * k], ["a * k + b * k", "a * k", "b * k"]),
    "backwards among others": (
        [pt.add(c, (a + b) * k, d), a * k, b * k],
        ["a * k + b * k + c + d", "a * k", "b * k"],
    ),
    "1 is missing on the other side": ([(a + 1) * k, a * k], ["k + a * k", "a * k"]),
}


@pytest.mark.parametrize("case", CASES)
def test_in_both_directions(case: str) -> None:
    outputs, expected = CASES[case]
    graph = FunctionGraph(VECTORS, outputs)
    given = numbers(graph)
    plain = computed(graph, given)
    result, trace = run(graph, [collect])
    assert result.stopped is StopReason.SATURATED
    assert [brief(v, 9) for v in graph.outputs] == expected
    assert {r.rule for r in trace} <= {*collect.directions, flatten, regroup}
    for found, wanted in zip(computed(graph, given), plain, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@settings(max_examples=20)
@given(st.data())
def test_a_rest_at_the_root_finds_what_goes_without(data: Any) -> None:
    """Operands beside those that a left side names stay anyway."""

    @equation(claim=assumes("fastmath"))
    def factored(k: Inexact, x: Inexact, y: Inexact, rest: Rest = ()) -> Any:
        """The shipped one with its others named."""
        return k * x + k * y + rest, k * (x + y) + rest

    pairs = st.tuples(st.sampled_from(VECTORS), st.sampled_from(VECTORS))
    terms = [
        pt.mul(*pair) if data.draw(st.booleans()) else pair[0]
        for pair in data.draw(st.lists(pairs, min_size=2, max_size=5))
    ]
    costs = []
    for rule in (factored, common_factor):
        graph = FunctionGraph(VECTORS, [pt.add(*terms)])
        given = numbers(graph)
        plain = computed(graph, given)
        run(graph, [rule])
        np.testing.assert_allclose(computed(graph, given)[0], plain[0], atol=1e-12)
        costs.append(total(graph.apply_nodes, flops))
    assert costs[0] == costs[1]


def test_rests_of_factors() -> None:
    """Two rests in one left side, each of a sum or product of its own."""

    def factored(k: Inexact, xs: Rest, ys: Rest) -> Any:
        """Everything but one factor."""
        return pt.mul(k, xs) + pt.mul(k, ys), k * (pt.mul(xs) + pt.mul(ys))

    made = equation(factored, claim=assumes("fastmath"))
    graph = FunctionGraph(VECTORS, [pt.mul(a, k, b) + pt.mul(c, d, k)])
    given = numbers(graph)
    plain = computed(graph, given)
    result, _ = run(graph, [made])
    assert brief(graph.outputs[0], 9) == "k * (a * b + c * d)"
    assert result.firings == 1
    np.testing.assert_allclose(computed(graph, given)[0], plain[0])


def test_rests_in_an_order() -> None:
    def flat(xs: Rest, ys: Rest, zs: Rest) -> Any:
        return join(*xs, join(*ys), *zs) >> join(*xs, *ys, *zs)

    def scaled(f: Prop, xs: Rest, ys: Rest, a: Any, b: Any) -> Any:
        return join(*xs, Scale(f)(a), Scale(f)(b), *ys) >> join(*xs, Scale(f)(join(a, b)), *ys)

    made = [make_rule(flat), make_rule(scaled)]
    s = Scale(2.0)

    def scales(node: Any) -> float:
        return float(isinstance(node.op, Scale))

    graph = FunctionGraph([x, y, z], [join(neg(x), join(z, s(y)), s(x), sin(z))])
    before = values(graph)
    result, _ = run(graph, made, cost=scales)
    assert brief(graph.outputs[0], 9) == "join(-x, z, Scale{by=2.0}(join(y, x)), sin(z))"
    assert result.fired == {"test_saturate_rests/scaled": 1, "test_saturate_rests/flat": 1}
    assert values(graph) == before


def test_a_rest_that_occurs_in_an_order_is_compared_in_it() -> None:
    def same(xs: Rest) -> Any:
        return mul(sin(join(*xs)), neg(join(*xs))) >> neg(join(*xs))

    made = make_rule(same)
    alike = mul(sin(join(x, y)), neg(join(x, y)))
    other = mul(sin(join(x, y)), neg(join(y, x)))
    for term, firings in ((alike, 1), (other, 0)):
        assert SaturationOptimizer([made]).rewrite(FunctionGraph(None, [term])).firings == firings


def test_an_empty_rest_leaves_its_neighbour_alone() -> None:
    """A sum of one operand is that operand, also below the root."""

    def unfolded(a: Any, rest: Rest) -> Any:
        return sin(add(neg(a), rest)), join(a, add(rest, neg(a)))

    made = make(unfolded)
    graph = FunctionGraph(None, [join(x, neg(x)), sin(neg(x))])
    assert run(graph, [made])[0].firings == 1
    assert len({id(v) for v in graph.outputs}) == 1


def test_several_rests_of_one_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """They share its operands in every way; more ways than anybody wants are a budget."""

    def halves(xs: Rest, ys: Rest) -> Any:
        return sin(add(xs, ys)) >> join(add(xs), add(ys))

    def used(xs: Rest, ys: Rest) -> Any:
        return sin(add(xs, ys)) >> sub(add(xs), add(ys)), provided(are_not(xs))

    split = make_rule(halves)
    graph = FunctionGraph([x, y, z], [sin(add(x, y, z)), join(y, add(x, z))])
    run(graph, [split], cost=lambda node: float(node.op is sin))
    assert brief(graph.outputs[0], 9) == "join(y, x + z)"
    never = make_rule(used)
    graph = FunctionGraph(None, [sin(add(*[num(f"v{i}") for i in range(30)]))])
    with by_lines(monkeypatch, saturate, explore, extract) as clock:
        result, _ = run(graph, [never], seconds=0.2)
    assert (result.stopped, result.firings) == (StopReason.BUDGET, 0)
    assert clock() < 2


@fact
def are_not(xs: Any) -> Any:
    """Never so."""
    return unknown("no")
