"""Terms that grow wider for ever, and stay one node."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.pattern import Rest
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.strategies import innermost, outermost, repeat, topdown
from rewrite_engine.rewrite.trace import brief
from tests.match.language import make, x, y
from tests.toy import ToyOp, add, exp, mul, sin

f = ToyOp("f", 1)


def one_more(a: Any, rest: Rest) -> Any:
    return add(a, *rest) >> add(a, a, *rest)


def twice_as_many(a: Any, rest: Rest) -> Any:
    return add(a, *rest) >> add(a, *rest, *rest)


def inside(a: Any, rest: Rest) -> Any:
    return sin(add(a, *rest)) >> sin(add(mul(a, a), *rest, *rest))


def without(a: Any, b: Any, rest: Rest) -> Any:
    return add(f(a), f(b), *rest) >> add(a, b, *rest)


def beside(a: Any, b: Any, rest: Rest) -> Any:
    return mul(a, add(b, *rest)) >> mul(a, a, add(b, *rest, *rest))


RULES = {
    "one more": (make(one_more), add(x, y)),
    "twice as many": (make(twice_as_many), add(x, y)),
    "inside": (make(inside), sin(add(x, y))),
    "beside": (make(beside), mul(x, add(x, y))),
}
DRIVERS = {
    "innermost": innermost,
    "outermost": outermost,
    "repeated": lambda rule: repeat(topdown(rule)),
    "repeated at a node": lambda rule: topdown(repeat(rule)),
}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", RULES)
def test_a_term_that_grows_wider_is_stopped(name: str, driver: str) -> None:
    rule, term = RULES[name]
    graph = FunctionGraph([x, y], [term])
    before = brief(graph.outputs[0])
    with pytest.raises(RuleLoopError) as info:
        DRIVERS[driver](rule).rewrite(graph)
    assert rule.name in info.value.rules
    assert rule.name in str(info.value)
    assert "→" in str(info.value)
    assert brief(graph.outputs[0]) == before
    graph.check_integrity()


def test_operands_have_a_budget() -> None:
    rule, term = RULES["one more"]
    graph = FunctionGraph([x, y], [term])
    result = innermost(rule, budget=RunBudget(operands=100, on_budget="stop")).rewrite(graph)
    assert result.stopped is StopReason.BUDGET
    assert "more than 100 operands" in result.note
    assert result.firings == 12  # 3 + 4 + … + 14 operands are more than 100


def test_many_operands_at_once_are_no_loop() -> None:
    """As wide as the graph is, and half as many firings."""
    rule = make(without)
    term = add(*[f(sin(x)) if i % 2 else f(exp(y)) for i in range(800)])
    graph = FunctionGraph([x, y], [term])
    assert innermost(rule).rewrite(graph).firings == 400
    assert innermost(repeat(rule)).rewrite(FunctionGraph([x, y], [term])).firings == 400


@pytest.mark.parametrize(
    ("given", "variables", "operands"), [(None, 7, 1_000_700), (10**6, 7, 10**8)]
)
def test_the_budget_of_operands(given: Any, variables: int, operands: int) -> None:
    assert RunBudget(firings=given).fitted(3, variables).operands == operands
