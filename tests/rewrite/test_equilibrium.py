"""Rules to a fixed point: what is visited again, what has no end, what a node rewriter may do."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from rewrite_engine.errors import PatternError, RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.rule import NodeRewriter
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.trace import Trace
from tests.match.language import Positive, p, x, y, z
from tests.rewrite.graphs import SOUND, named, shown, values
from tests.toy import DivMod, Scale, add, const, divmod_, exp, log, mul, neg, num, sin, sub

neg_neg = named("neg_neg", lambda a: neg(neg(a)) >> a)


def rewritten(rules: Any, *outputs: Any, **options: Any) -> FunctionGraph:
    """The graph after the rules, checked; a second run must find nothing to do."""
    graph = FunctionGraph(None, outputs)
    driver = EquilibriumOptimizer(rules, **options)
    driver.rewrite(graph)
    graph.check_integrity()
    again = driver.rewrite(graph)
    assert again.fired == {}
    assert again.stopped is StopReason.SATURATED
    return graph


def test_until_nothing_applies() -> None:
    term = x
    for _ in range(10):
        term = neg(term)
    assert shown(rewritten([neg_neg], term)) == "x"
    assert shown(rewritten([neg_neg], neg(term))) == "-x"


def test_what_a_rule_makes_is_rewritten_too() -> None:
    rules = [
        named("log_exp", lambda a: log(exp(a)) >> a),
        named("sin_log", lambda a: sin(log(a)) >> log(sin(a))),
        named("log_sin", lambda a: log(sin(exp(a))) >> exp(a)),
    ]
    assert shown(rewritten(rules, sin(log(exp(log(exp(x))))))) == "sin(x)"
    assert shown(rewritten(rules, sin(log(x)))) == "log(sin(x))"


def test_other_rules_go_on_where_something_has_changed() -> None:
    again = RuleSet([neg_neg, named("sin_sin", lambda a: sin(sin(a)) >> neg(a))])
    own = named("log_log", lambda a: log(log(a)) >> sin(a))
    graph = rewritten([own], neg(neg(y)), neg(sin(log(log(x)))), again=again)
    assert shown(graph) == "--y; x"
    graph = rewritten([own], sin(sin(y)), sin(neg(neg(log(log(x))))), again=again)
    assert shown(graph) == "sin(sin(y)); -x"


def test_the_first_rule_in_order_wins() -> None:
    one = named("one", lambda a: sin(a) >> log(a))
    two = named("two", lambda a: sin(a) >> exp(a))
    assert shown(rewritten([one, two], sin(x))) == "log(x)"
    assert shown(rewritten([two, one], sin(x))) == "exp(x)"


def test_results_say_what_happened() -> None:
    graph = FunctionGraph([x, y], [neg(neg(x)), sub(neg(neg(y)), y)])
    result = EquilibriumOptimizer([neg_neg], "phase").rewrite(graph)
    assert result.name == "phase"
    assert result.fired == {neg_neg.name: 2}
    assert result.firings == 2
    assert (result.nodes_before, result.nodes_after) == (5, 1)
    assert result.stopped is StopReason.SATURATED
    assert result.seconds > 0
    assert result.visits >= 5
    assert str(result).startswith("phase: 2 firings, 5 -> 1 nodes, ")


# --- visiting again ---------------------------------------------------------------------------


def chain(depth: int, bottom: Any) -> Any:
    for _ in range(depth):
        bottom = exp(bottom)
    return bottom


def change_below(var: Any, new: Any) -> NodeRewriter:
    """At the top, once: replace something far below."""
    done: list[Any] = []

    @node_rewriter([mul])
    def change(fgraph, node):
        """Changes what is far below."""
        if done:
            return None
        done.append(1)
        old = next(v for v in fgraph.variables if v.owner and v.owner.op is var)
        return {old: new(old)}

    return change


@pytest.mark.parametrize("depth", range(7))
def test_a_change_far_below_is_seen_by_a_deep_pattern(depth: int) -> None:
    """The root was visited long ago when the bottom of its pattern appears."""
    deep = named("deep", lambda a: sin(chain(depth, neg(a))) >> a)
    late = change_below(log, lambda old: neg(old.owner.inputs[0]))
    graph = rewritten([deep, late], mul(sin(chain(depth, log(x))), y))
    assert shown(graph) == "x * y"


@pytest.mark.parametrize("depth", range(6))
def test_a_change_in_the_middle_is_seen(depth: int) -> None:
    """What changes is neither root nor bottom, and what is above it is not in the pattern's ops."""
    deep = named("deep", lambda a: sin(chain(depth, neg(chain(2, neg(a))))) >> a)
    late = change_below(log, lambda old: neg(old.owner.inputs[0]))
    graph = rewritten([deep, late], mul(sin(chain(depth, log(chain(2, neg(x))))), y))
    assert shown(graph) == "x * y"


@pytest.mark.parametrize("depth", range(1, 6))
def test_a_change_is_seen_by_a_rewriter_that_looks_deep(depth: int) -> None:
    @node_rewriter([sin], depth=depth)
    def looks(fgraph, node):
        """Looks `depth` levels down for a negation."""
        v = node.inputs[0]
        for _ in range(depth - 1):
            v = v.owner.inputs[0]
        return v.owner.inputs[0] if v.owner is not None and v.owner.op is neg else None

    late = change_below(log, lambda old: neg(old.owner.inputs[0]))
    graph = rewritten([looks, late], mul(sin(chain(depth - 1, log(x))), y))
    assert shown(graph) == "x * y"


def test_a_change_that_makes_two_operands_equal() -> None:
    same = named("same", lambda a: sin(sub(exp(a), a)) >> a)
    late = change_below(log, lambda old: old.owner.inputs[0])
    assert shown(rewritten([same, late], mul(sin(sub(exp(x), log(x))), y))) == "x * y"


def test_merging_below_makes_a_pattern_match() -> None:
    gone = named("gone", lambda a: sub(a, a) >> 0)
    graph = rewritten([neg_neg, gone], sub(sin(neg(neg(x))), sin(x)))
    assert shown(graph) == "0.0"


def test_a_more_precise_type_below_makes_a_sort_match() -> None:
    def log_positive(a: Positive):
        return log(add(a, 1)) >> a

    late = change_below(neg, lambda old: p_input(old))

    def p_input(old: Any) -> Any:
        return exp(old.owner.inputs[0])

    graph = rewritten([named("log_positive", log_positive), late], mul(log(add(neg(x), 1)), y))
    assert shown(graph) == "exp(x) * y"


# --- node rewriters ---------------------------------------------------------------------------


def test_several_outputs() -> None:
    @node_rewriter([DivMod])
    def plain(fgraph, node):
        """divmod(a, 1)."""
        a, b = node.inputs
        return [a, sub(a, a)] if getattr(b, "data", 0) == 1 else None

    quotient, rest = divmod_(x, const(1.0))
    other, _ = divmod_(x, y)
    graph = rewritten([plain], quotient, rest, other)
    assert shown(graph) == "x; x - x; DivMod(x, y)[0]"


def test_some_outputs_only() -> None:
    calls = []

    @node_rewriter([DivMod])
    def first(fgraph, node):
        """Replaces the first output; the second keeps the node alive."""
        calls.append(node)
        return [sub(*node.inputs), None]

    graph = rewritten([first], *divmod_(x, y))
    assert graph.outputs[0].owner.op is sub
    assert isinstance(graph.outputs[1].owner.op, DivMod)
    assert len(calls) <= 4


def test_one_variable_for_a_node_with_several_outputs() -> None:
    @node_rewriter([DivMod])
    def lone(fgraph, node):
        """Does not say which output it replaces, and the op has no default one."""
        return sub(*node.inputs)

    _, rest = divmod_(x, y)
    with pytest.raises(PatternError, match="returns one variable for the 2 outputs of DivMod"):
        rewritten([lone], rest)


def test_a_dict_replaces_anything() -> None:
    @node_rewriter([sin])
    def pull(fgraph, node):
        """sin(neg(a)): the negation becomes a logarithm wherever it is used."""
        inner = node.inputs[0]
        if inner.owner is None or inner.owner.op is not neg:
            return None
        return {inner: log(inner.owner.inputs[0]), "remove": [inner]}

    shared = neg(x)
    assert shown(rewritten([pull], sin(shared), exp(shared))) == "sin(log(x)); exp(log(x))"


def test_returning_what_is_there_changes_nothing() -> None:
    @node_rewriter([sin])
    def same(fgraph, node):
        """Returns its own output."""
        return node.outputs[0]

    @node_rewriter([exp])
    def equal(fgraph, node):
        """Returns an equal node."""
        return exp(node.inputs[0])

    @node_rewriter([log])
    def false(fgraph, node):
        """Returns False."""
        return False

    graph = FunctionGraph(None, [sin(exp(log(x)))])
    assert EquilibriumOptimizer([same, equal, false]).rewrite(graph).fired == {}


# --- loops ------------------------------------------------------------------------------------


LOOPS = {
    "undo": [
        named("there", lambda a, b: sub(a, b) >> add(a, neg(b))),
        named("back", lambda a, b: add(a, neg(b)) >> sub(a, b)),
    ],
    "grow": [named("grow", lambda a: sin(a) >> sin(sin(a)))],
    "contain": [named("contain", lambda a: sin(a) >> exp(sin(a)))],
    "contain_deep": [named("deep", lambda a: sin(log(a)) >> exp(neg(sin(log(a)))))],
    "swap": [named("swap", lambda a, b: sub(a, b) >> sub(b, a))],
    "wrap": [
        named("wrap", lambda a: neg(a) >> sin(neg(neg(a)))),
    ],
}


@pytest.mark.parametrize("rules", LOOPS.values(), ids=LOOPS)
def test_rules_without_an_end_are_named(rules: Any) -> None:
    outputs = [sub(x, y), sin(log(x)), add(x, y), neg(x)]
    graph = FunctionGraph([x, y], outputs)
    enabled = gc.isenabled()
    with pytest.raises(RuleLoopError) as info:
        EquilibriumOptimizer(rules, "phase", budget=RunBudget(300)).rewrite(graph)
    text = str(info.value)
    assert "the phase phase does not come to an end" in text or "again and again" in text
    for rule in rules:
        assert rule.name in text
    assert "→" in text or "makes" in text
    assert len(text) < 4000
    graph.check_integrity()
    assert gc.isenabled() == enabled
    assert graph.worklist is None


def test_the_default_budget_grows_with_the_graph() -> None:
    term = x
    for _ in range(400):
        term = neg(neg(neg(term)))
    assert rewritten([neg_neg], term) is not None
    loop = LOOPS["undo"]
    with pytest.raises(RuleLoopError):
        EquilibriumOptimizer(loop).rewrite(FunctionGraph(None, [sub(x, y)]))


def test_a_budget_that_is_just_enough() -> None:
    graph = FunctionGraph(None, [neg(neg(neg(neg(x))))])
    assert EquilibriumOptimizer([neg_neg], budget=RunBudget(3)).rewrite(graph).firings == 2
    graph = FunctionGraph(None, [neg(neg(neg(neg(x))))])
    with pytest.raises(RuleLoopError, match="neg_neg"):
        EquilibriumOptimizer([neg_neg], budget=RunBudget(1)).rewrite(graph)
    graph.check_integrity()


# --- more -------------------------------------------------------------------------------------


def test_watched_and_unwatched_runs_agree() -> None:
    outputs = [mul(neg(sub(x, y)), add(neg(neg(z)), 0)), sin(neg(Scale(2.0)(Scale(1.0)(x))))]
    plain, traced = FunctionGraph([x, y, z], outputs), FunctionGraph([x, y, z], outputs)
    trace = Trace()
    one = EquilibriumOptimizer(SOUND).rewrite(plain)
    two = EquilibriumOptimizer(SOUND).rewrite(traced, trace)
    assert shown(plain) == shown(traced)
    assert one.fired == two.fired
    assert len(trace) == one.firings
    assert values(plain) == pytest.approx(values(FunctionGraph([x, y, z], outputs)))


def test_a_long_chain_is_no_problem() -> None:
    term = x
    for _ in range(5_000):
        term = sin(neg(neg(term)))
    graph = FunctionGraph([x], [term])
    result = EquilibriumOptimizer([neg_neg]).rewrite(graph)
    assert result.firings == 5_000
    assert len(graph) == 5_000
    assert result.visits < 40_000
    graph.check_integrity()


def test_inputs_and_constants_can_be_outputs() -> None:
    one = const(1.0)
    graph = rewritten([neg_neg], x, one, neg(neg(one)), neg(neg(x)))
    assert graph.outputs[0] is graph.outputs[3]
    assert graph.outputs[1] is graph.outputs[2]
    assert p.type is not num


def test_nodes_that_leave_are_let_go_of_unless_somebody_watches() -> None:
    rule = named("log_exp", lambda a: log(exp(a)) >> a)
    for trace, kept in ((None, False), (Trace(), True)):
        graph = FunctionGraph([x], [sin(log(exp(x)))])
        old = graph.outputs[0].owner.inputs[0]
        EquilibriumOptimizer([rule]).rewrite(graph, trace)
        assert (old.owner is not None) == kept
    mine = sin(log(exp(x)))
    graph = FunctionGraph([x], [mine], clone=False)
    below = mine.owner.inputs[0]
    EquilibriumOptimizer([rule]).rewrite(graph)
    assert below.owner is not None
