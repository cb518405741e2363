"""What each rule did, and what it may do: counted alike by every driver and strategy."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.rewrite import driver, watched
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.strategies import (
    bottomup,
    first,
    innermost,
    outermost,
    repeat,
    seq,
    topdown,
    try_,
    where,
)
from rewrite_engine.rewrite.watched import Stopwatch
from tests.match.language import x, y
from tests.rewrite.graphs import f, f_g, g, g_h, h, k, named, shown
from tests.toy import Scale, exp, sin

NOW = [0.0]


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    """Time passes in `slow`, and hardly where somebody looks at the clock."""

    def clock():
        NOW[0] += 1e-6
        return NOW[0]

    for module in (driver, watched):
        monkeypatch.setattr(module, "perf_counter", clock)


@node_rewriter([f, g, h, k])
def slow(fgraph, node):
    """Takes time, and declines."""
    NOW[0] += 0.002


to_num = named("to_num", lambda a: exp(a) >> g(a))  # positive to any number: refused

COUNTED = {
    "innermost": lambda *rules: innermost(*rules),
    "outermost": lambda *rules: outermost(*rules),
    "topdown": lambda *rules: repeat(topdown(*rules)),
    "bottomup": lambda *rules: repeat(bottomup(*rules)),
    "first": lambda *rules: innermost(first(*rules)),
    "one by one": lambda *rules: innermost(*[seq(rule) for rule in rules]),
    "try": lambda *rules: innermost(*[try_(rule) for rule in rules]),
    "where": lambda *rules: innermost(*[where(lambda fgraph, node: True, r) for r in rules]),
    "repeat": lambda *rules: innermost(repeat(first(*rules))),
    "nested": lambda *rules: innermost(first(seq(try_(first(*rules[:2])), rules[2]), *rules)),
    "try driver": lambda *rules: try_(seq(innermost(*rules))),
}


@pytest.mark.parametrize("make", COUNTED.values(), ids=COUNTED)
def test_every_driver_and_strategy_counts_what_each_rule_does(make: Any) -> None:
    graph = FunctionGraph([x, y], [sin(f(x)), exp(f(y)), f(f(x))])
    size = len(graph)
    result = make(slow, f_g, g_h, to_num).rewrite(graph, Stopwatch())
    assert shown(graph) == "sin(h(x)); exp(h(y)); h(h(x))"
    rules = result.rules
    assert [rules[r.name].firings for r in (f_g, g_h, to_num, slow)] == [3, 3, 0, 0]
    assert result.firings == 6
    assert rules[f_g.name].matches >= 3
    assert rules[to_num.name].refused == rules[to_num.name].matches >= 1
    own = [rules[r.name] for r in (slow, f_g, g_h, to_num)]
    assert all(stats.calls >= stats.matches >= stats.firings + stats.refused for stats in own)
    assert rules[slow.name].calls >= 3
    assert 0.002 * rules[slow.name].calls <= rules[slow.name].seconds <= result.seconds
    total = [sum(getattr(s, what) for s in rules.values()) for what in ("created", "dropped")]
    assert total[0] - total[1] + result.merged >= len(graph) - size
    assert total[0] >= 3
    for name, stats in rules.items():
        assert stats.seconds >= -1e-4
        if name not in {r.name for r in (slow, f_g, g_h, to_num)}:
            assert stats.firings == stats.created == stats.dropped == stats.refused == 0
            assert stats.seconds < rules[slow.name].seconds
    assert sum(s.seconds for s in rules.values()) <= result.seconds


@pytest.mark.parametrize("make", COUNTED.values(), ids=COUNTED)
def test_tries_are_counted_where_somebody_asks(make: Any) -> None:
    plain, timed = [FunctionGraph([x, y], [sin(f(x)), exp(f(y)), f(f(x))]) for _ in range(2)]
    before = make(slow, f_g, g_h, to_num).rewrite(plain).rules
    after = make(slow, f_g, g_h, to_num).rewrite(timed, Stopwatch()).rules
    assert shown(plain) == shown(timed)
    assert all(stats.calls == stats.seconds == 0 for stats in before.values())
    assert after.keys() - before.keys() >= {slow.name}
    done = [
        [(s.matches, s.firings, s.refused, s.created, s.dropped) for s in map(rules.get, before)]
        for rules in (before, after)
    ]
    assert done[0] == done[1]


@pytest.mark.parametrize("n", [0, 1, 3, 7])
def test_budgets_count_the_rules_inside_strategies(n: int) -> None:
    terms = [sin(f(Scale(float(i))(x))) for i in range(20)]
    for strategy in (first(f_g), seq(f_g, g_h), repeat(first(f_g, g_h)), try_(seq(f_g))):
        for limit in (RunBudget(per_rule=n, on_budget="stop"), RunBudget(n, on_budget="stop")):
            graph = FunctionGraph([x], terms)
            result = innermost(strategy, budget=limit).rewrite(graph)
            assert result.stopped is StopReason.BUDGET
            if limit.per_rule is not None:
                assert result.fired.get(f_g.name, 0) == n
            else:
                assert n <= result.firings <= n + 1  # (what is done in one go is done whole)
        with pytest.raises(RuleLoopError, match=f"{f_g.name} has used up its {n} firings"):
            innermost(strategy, budget=RunBudget(per_rule=n)).rewrite(FunctionGraph([x], terms))
