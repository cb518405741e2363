"""Every try of a rule is recorded: what was tried, what came of it, and why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import settings

from rewrite_engine.config import config
from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import compute, node_rewriter
from rewrite_engine.match.explain import diagnose
from rewrite_engine.match.fact import because, fact, given, unknown
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.strategies import first, innermost, outermost, topdown
from rewrite_engine.rewrite.trace import Trace, brief
from rewrite_engine.rewrite.trace.records import schema
from tests.match.language import x, y
from tests.rewrite.graphs import SOUND, graphs, named
from tests.rewrite.schema import problems
from tests.toy import exp, log, mul, neg, sin, sub


@fact
def is_x(v):
    return because("its name") if v.name == "x" else unknown("it is not x", v)


def traced(term: Any, *rules: Any, features: Any = (), **options: Any) -> Trace:
    trace = Trace(attempts=True, **options)
    EquilibriumOptimizer(rules).rewrite(FunctionGraph([x, y], [term], features), trace)
    return trace


def told(trace: Trace) -> list[tuple[str, str, str]]:
    return [(a.term, a.verdict, a.part) for a in trace.tries]


def test_a_rule_that_fires_tells_bindings_and_evidence() -> None:
    rule = named("only_x", lambda a: (sin(neg(a)) >> neg(sin(a)), given(is_x(a))))
    trace = traced(sin(neg(x)), rule)
    fired = trace.tries[0]
    assert (fired.verdict, fired.term, fired.rule, fired.firing) == ("fired", "sin(-x)", rule, 1)
    assert fired.bindings == {"a": "x"}
    assert fired.evidence == ("is_x(a): because its name",)
    assert fired.took > 0
    assert fired.node.op is sin
    assert str(fired) == f"sin(-x): {rule.name} fired"


def test_a_guard_that_does_not_hold() -> None:
    rule = named("only_x", lambda a: (sin(neg(a)) >> neg(sin(a)), given(is_x(a))))
    (attempt,) = traced(sin(neg(y)), rule).tries
    assert (attempt.verdict, attempt.part) == ("failed", "is_x(a)")
    assert attempt.reason == "the left side matches; guard is_x(a): it is not x: y"
    assert attempt.bindings == {"a": "y"}
    assert not attempt.ruled_out


def test_rules_that_the_index_ruled_out_are_attempts_too() -> None:
    rule = named("undone", lambda a: log(exp(a)) >> a)
    (attempt,) = traced(log(sin(x)), rule).tries
    assert attempt.ruled_out
    assert (attempt.verdict, attempt.part) == ("failed", "exp(a)")
    assert attempt.reason == "`exp(a)`: sin(x) is computed by sin"
    assert attempt.took == 0


def test_deeper_than_the_index_looks() -> None:
    rule = named("deep", lambda a: log(exp(sin(neg(a)))) >> a)
    assert told(traced(log(exp(sin(exp(x)))), rule)) == [("log(exp(sin(exp(x))))", "failed", "-a")]


def test_right_sides_that_decline_and_functions() -> None:
    @node_rewriter([sin])
    def waits(fgraph: Any, node: Any) -> Any:
        """Waits."""

    declines = named("declines", lambda a: sin(a) >> compute(lambda a: None))
    same = named("same", lambda a: sin(a) >> compute(lambda a: sin(a)))
    trace = traced(sin(x), declines, waits, same)
    assert told(trace) == [
        ("sin(x)", "failed", "right side"),
        ("sin(x)", "failed", "function"),
        ("sin(x)", "failed", "right side"),
    ]
    assert "its docstring says: Waits." in trace.tries[1].reason
    assert "nothing would change" in trace.tries[2].reason


def test_what_is_refused_says_by_whom() -> None:
    class NoNeg(Feature):
        """Wants none."""

        def on_validate(self, fgraph: Any) -> None:
            if any(node.op is neg for node in fgraph.apply_nodes):
                raise InconsistencyError("there is a neg")

    negates = named("negates", lambda a: sin(a) >> neg(a))
    widens = named("widens", lambda a: exp(a) >> a)
    trace = traced(sub(sin(x), exp(y)), negates, widens, features=[NoNeg()])
    assert {(a.term, a.verdict, a.part) for a in trace.tries} == {
        ("sin(x)", "refused", "NoNeg"),
        ("exp(y)", "refused", "type"),
    }
    assert {a.reason for a in trace.tries if a.part == "NoNeg"} == {"NoNeg: there is a neg"}


def test_a_rule_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    @node_rewriter([sin])
    def breaks(fgraph: Any, node: Any) -> Any:
        """A test."""
        raise RuntimeError("no")

    monkeypatch.setattr(config, "on_rule_error", "warn")
    with pytest.warns(UserWarning, match="no"):
        (attempt,) = traced(sin(x), breaks).tries
    assert (attempt.verdict, attempt.reason) == ("error", "RuntimeError: no")


def test_a_ring_buffer() -> None:
    term = x
    for _ in range(20):
        term = sin(term)
    rule = named("undone", lambda a: sin(exp(a)) >> a)
    trace = traced(term, rule, size=5)
    assert [a.number for a in trace.tries] == [16, 17, 18, 19, 20]
    assert trace.tried_count == 20


def test_nothing_of_it_without_being_asked() -> None:
    trace = Trace()
    EquilibriumOptimizer(SOUND).rewrite(FunctionGraph([x], [neg(neg(x))]), trace)
    assert (len(trace), len(trace.tries)) == (1, 0)


@settings(max_examples=60)
@over(graphs())
def test_attempts_change_nothing_and_agree_with_the_firings(graph: FunctionGraph) -> None:
    for driver in (EquilibriumOptimizer(SOUND), WalkingOptimizer(SOUND)):
        plain, trace = Trace(terms=True), Trace(terms=True, attempts=True)
        driver.rewrite(graph.clone(), plain)
        driver.rewrite(graph.clone(), trace)
        assert [(f.rule, f.before, f.after) for f in plain] == [
            (f.rule, f.before, f.after) for f in trace
        ]
        assert [f.rule for f in trace] == [a.rule for a in trace.tries if a.verdict == "fired"]
        assert all(a.reason and a.part for a in trace.tries if a.verdict != "fired")


@settings(max_examples=40)
@over(graphs())
def test_every_line_is_as_the_schema_says(graph: FunctionGraph) -> None:
    trace = Trace(terms=True, attempts=True)
    EquilibriumOptimizer(SOUND).rewrite(graph, trace)
    lines = [json.loads(text) for text in trace.lines()]
    assert [p for line in lines for p in problems(line, schema())] == []
    assert [line["number"] for line in lines if line["kind"] == "firing"] == [
        f.number for f in trace
    ]
    assert sum(line["kind"] == "attempt" for line in lines) == len(trace.tries)
    assert lines[-1]["kind"] == "phase"


def test_the_check_of_the_schema_finds_something() -> None:
    (line, *_) = [json.loads(text) for text in traced(mul(sin(x), sin(y)), *SOUND).lines()]
    assert list(problems(line, schema())) == []
    for change in ({"verdict": "lost"}, {"number": 0}, {"more": 1}, {"term": None}):
        assert list(problems(line | change, schema()))
    assert list(problems({k: v for k, v in line.items() if k != "reason"}, schema()))


def test_rules_in_python_say_why_they_do_not_apply() -> None:
    """With what facts say no with; without a trace it is a None."""

    @node_rewriter(sin)
    def small(fgraph, node):
        """The general reason."""
        (v,) = node.inputs
        return log(v) if v.owner is None else unknown("its operand is computed", v)

    for driver in (innermost(small), innermost(first(small)), outermost(small), topdown(small)):
        graph, trace = FunctionGraph([x, y], [sin(x), sin(exp(y))]), Trace(attempts=True)
        result = driver.rewrite(graph, trace)
        assert result.fired == {small.name: 1}
        assert [brief(v) for v in graph.outputs] == ["log(x)", "sin(exp(y))"]
        assert result.rules[small.name].matches == 1
        told = [a.reason for a in trace.tries if a.verdict == "failed" and a.rule is small]
        want = "the rule's function declines: its operand is computed: exp(y)"
        assert told == [want] * len(told)
        assert diagnose(small, sin(exp(y)).owner).reason == want
    budget = RunBudget(firings=1, per_rule=1)
    assert innermost(small, budget=budget).rewrite(FunctionGraph([x], [sin(exp(x))])).firings == 0
