"""Features that guard: what they refuse is taken back, and counted under their name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewrite_engine.errors import InconsistencyError, RuleRaisedError
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.strategies import innermost, outermost, repeat, seq, topdown
from rewrite_engine.rewrite.trace import Trace, brief
from tests.match.language import x, y
from tests.rewrite.graphs import SOUND, f, f_g, g, g_h, graphs, h, named, shape, values
from tests.toy import DivMod, divmod_, exp, mul, neg, overwrite, sin, sub


class No(Feature):
    """Refuses an op."""

    def __init__(self, op: Any) -> None:
        self.op = op
        self.asked = 0

    def on_validate(self, fgraph: FunctionGraph) -> None:
        self.asked += 1
        if any(node.op is self.op for node in fgraph.apply_nodes):
            raise InconsistencyError(f"there is {self.op}")


DRIVERS = {"innermost": innermost, "outermost": outermost, "topdown": topdown}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
def test_what_a_feature_refuses_is_taken_back(driver: Any, traced: bool) -> None:
    term = f(sin(x))
    term.name = "mine"
    graph = FunctionGraph([x, y], [sub(term, y), exp(neg(term)), neg(neg(y))], [No(g)])
    rules = [f_g, named("neg_neg", lambda a: neg(neg(a)) >> a)]
    trace = Trace() if traced else None
    before = {
        node: (node.inputs, [(v.name, v.type, v.owner) for v in node.outputs])
        for node in graph.apply_nodes
        if node.op is not neg
    }
    result = driver(*rules).rewrite(graph, trace)
    graph.check_integrity()
    assert brief(graph.outputs[0]) == "mine - y"
    assert graph.outputs[2] is graph.inputs[1]
    for node, what in before.items():  # the very nodes
        assert node in graph
        assert (node.inputs, [(v.name, v.type, v.owner) for v in node.outputs]) == what
    assert result.fired == {rules[1].name: 1}
    assert result.rules[f_g.name].refused >= 1
    assert result.refusals == {"No": result.rules[f_g.name].refused}
    if trace is not None:
        assert [t.rule_name for t in trace] == [rules[1].name]
    assert len(graph.features) == 1


def test_the_next_rule_gets_its_chance() -> None:
    f_h = named("f_h", lambda a: f(a) >> h(a))
    graph = FunctionGraph([x], [sin(f(x))], [No(g)])
    result = innermost(f_g, f_h).rewrite(graph)
    assert brief(graph.outputs[0]) == "sin(h(x))"
    assert result.rules[f_g.name].refused == 1
    assert result.rules[f_h.name].firings == 1


def test_a_merge_is_taken_back_too() -> None:
    """The new term is there already: clients become equal, and were two before."""
    terms = [sin(f(x)), sin(g(x)), exp(sin(f(x))), sub(sin(g(x)), sin(f(x)))]
    graph = FunctionGraph([x, y], terms, [One(6)])
    before = shape(graph)
    assert len(graph) == 6
    result = innermost(f_g).rewrite(graph)
    graph.check_integrity()
    assert shape(graph) == before
    assert result.refusals == {"One": 1}


class One(Feature):
    """Wants exactly so many nodes."""

    def __init__(self, count: int) -> None:
        self.count = count

    def on_validate(self, fgraph: FunctionGraph) -> None:
        if len(fgraph) != self.count:
            raise InconsistencyError("the number of nodes changed")


def test_types_come_back() -> None:
    to_exp = named("to_exp", lambda a: f(a) >> exp(a))
    graph = FunctionGraph([x], [mul(f(x), exp(x)), neg(x)])

    class Precise(Feature):
        def on_validate(self, fgraph: FunctionGraph) -> None:
            if any(v.type.positive for v in fgraph.variables if v.owner and v.owner.op is mul):
                raise InconsistencyError("too precise")

    graph.attach_feature(Precise())
    before = shape(graph)
    result = innermost(to_exp).rewrite(graph)
    assert shape(graph) == before
    assert result.refusals == {"Precise": 1}
    graph.check_integrity()


def test_several_outputs_are_taken_back() -> None:
    @node_rewriter([DivMod])
    def both(fgraph, node):
        """Two new terms at once."""
        a, b = node.inputs
        return [g(a), h(b)]

    for refused in (g, h):
        graph = FunctionGraph([x, y], [*divmod_(x, y), sin(divmod_(x, y)[0])], [No(refused)])
        before = shape(graph)
        result = innermost(both).rewrite(graph)
        assert shape(graph) == before
        assert result.refusals == {"No": 1}
        graph.check_integrity()


def test_a_strategy_is_refused_as_a_whole() -> None:
    strategy = seq(f_g, g_h)
    for traced in (None, Trace()):
        graph = FunctionGraph([x], [sin(f(x))], [No(h)])
        result = innermost(strategy).rewrite(graph, traced)
        assert brief(graph.outputs[0]) == "sin(f(x))"
        assert result.refusals == {"No": 1}
        graph = FunctionGraph([x], [sin(f(x))], [No(g)])  # never in the graph
        innermost(strategy).rewrite(graph, traced)
        assert brief(graph.outputs[0]) == "sin(h(x))"


def test_attempts_tell_who_refused() -> None:
    trace = Trace(attempts=True)
    graph = FunctionGraph([x], [sin(f(x))], [No(g)])
    innermost(f_g).rewrite(graph, trace)
    refused = [t for t in trace.tries if t.verdict == "refused"]
    assert len(refused) >= 1
    assert refused[0].rule is f_g
    assert "No: there is g" in refused[0].reason


def test_another_error_of_a_feature_is_an_error() -> None:
    class Breaks(Feature):
        def on_validate(self, fgraph: FunctionGraph) -> None:
            if any(node.op is g for node in fgraph.apply_nodes):
                raise ZeroDivisionError

    graph = FunctionGraph([x], [sin(f(x))], [Breaks()])
    with pytest.raises(RuleRaisedError, match="ZeroDivisionError"):
        innermost(f_g).rewrite(graph)
    assert brief(graph.outputs[0]) == "sin(f(x))"
    graph.check_integrity()


def test_rules_that_overwrite_are_guarded_by_the_handler() -> None:
    @node_rewriter([f])
    def in_place(fgraph, node):
        """Overwrites its operand."""
        return overwrite(node.inputs[0])

    shared = neg(x)
    graph = FunctionGraph([x, y], [f(shared), sin(shared), f(neg(y)), f(x)], [DestroyHandler()])
    result = innermost(in_place).rewrite(graph)
    assert [v.owner.op is overwrite for v in graph.outputs] == [True, False, True, False]
    assert result.refusals == {"DestroyHandler": 1}
    assert result.firings == 2
    graph.validate()
    graph.check_integrity()


def test_the_handler_is_not_asked_where_nothing_is_overwritten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked(self: Any, fgraph: Any) -> None:
        raise AssertionError

    graph = FunctionGraph([x], [sin(f(x))], [DestroyHandler()])
    monkeypatch.setattr(DestroyHandler, "on_validate", asked)
    assert innermost(f_g).rewrite(graph).firings == 1


def test_refusals_cost_their_place_not_the_graph() -> None:
    """A refused replacement of one node by a new one is undone at its clients."""
    terms = [sin(exp(f(mul(x, y, *[x] * i)))) for i in range(2, 300)]
    graph = FunctionGraph([x, y], terms, [No(g)])
    restored = []
    graph.restore = lambda *a: restored.append(a)
    result = innermost(f_g).rewrite(graph)
    assert result.refusals == {"No": len(terms)}
    assert not restored
    assert result.stopped is StopReason.SATURATED


@settings(max_examples=50, deadline=None)
@given(graphs(), st.sampled_from([neg, sub, sin, mul]))
def test_values_and_invariants_under_refusals(graph: FunctionGraph, op: Any) -> None:
    """Whatever is refused, the graph stays sound and keeps its values."""
    before = values(graph)

    class Fewer(Feature):
        """Does not want more of an op."""

        most = sum(node.op is op for node in graph.apply_nodes)

        def on_validate(self, fgraph: FunctionGraph) -> None:
            if sum(node.op is op for node in fgraph.apply_nodes) > self.most:
                raise InconsistencyError("too many")

    graph.attach_feature(Fewer())
    for driver in (innermost(SOUND), outermost(SOUND), repeat(topdown(SOUND))):
        driver.rewrite(graph)
        graph.check_integrity()
        graph.validate()
        assert values(graph) == pytest.approx(before, rel=1e-6, abs=1e-6)
