"""Rules made of miniKanren relations."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
from etuples import etuple
from kanren import eq, membero
from kanren.constraints import neq
from kanren.core import Zzz, conde, lall
from kanren.core import run as kanren_run
from kanren.graph import reduceo, walko

import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    PatternError,
    RelationBudgetError,
    RuleError,
    RuleTypeError,
    SearchBudgetError,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Constant
from rewrite_engine.match.decorate import relation
from rewrite_engine.match.relation import KanrenRelationSub
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.terms import budget, etuplize
from rewrite_engine.terms.budget import Budget
from rewrite_engine.terms.logic import LogicVariable
from rewrite_engine.terms.search import run
from tests.match.language import p, same, x, y
from tests.toy import add, divmod_, exp, log, mul, neg, num, pos, sin, sub


@relation(tracks=[log])
def log_exp(term, result):
    """log(exp(k)) is k."""
    k = LogicVariable("k")
    return lall(eq(term, log(exp(k))), eq(result, k))


@relation()
def ambiguous(term, result):
    """sub(a, b) is related to several terms."""
    a, b = LogicVariable("a"), LogicVariable("b")
    return lall(
        eq(term, sub(a, b)),
        conde(
            [eq(result, term)],
            [eq(result, LogicVariable("free"))],
            [eq(result, add(b, a))],
            [eq(result, mul(a, b))],
        ),
    )


def test_the_first_closed_answer_that_changes_something() -> None:
    assert log_exp.transform(None, log(exp(x)).owner) is x
    assert log_exp.transform(None, log(x).owner) is None
    assert log_exp.transform(None, sin(x).owner) is None
    found = ambiguous.transform(None, sub(x, y).owner)
    assert found.owner.op is add
    assert found.owner.inputs == (y, x)


def test_an_answer_of_another_type_is_passed_over() -> None:
    @relation()
    def wider(term, result):
        """exp(p) is related to a wider type first."""
        k = LogicVariable("k")
        return lall(eq(term, exp(k)), conde([eq(result, sin(k))], [eq(result, exp(exp(k)))]))

    assert wider.transform(None, exp(p).owner).owner.op is exp


def test_relations_in_a_driver() -> None:
    graph = FunctionGraph(None, [sin(log(exp(log(exp(x)))))])
    result = EquilibriumOptimizer([log_exp]).rewrite(graph)
    assert result.fired == {log_exp.name: 2}
    assert graph.outputs[0].owner.inputs[0] is graph.inputs[0]
    graph.check_integrity()


# --- what an answer may be ------------------------------------------------------------------------


def answering(*answers: Any, **options: Any) -> KanrenRelationSub:
    """A rule whose relation has these answers for any term."""
    return KanrenRelationSub(
        lambda term, result: conde(*[[eq(result, a)] for a in answers]), **options
    )


def test_a_bare_variable_and_an_input_of_the_graph() -> None:
    @relation(tracks=[sub])
    def first(term, result):
        """Take the first operand."""
        a, b = LogicVariable("a"), LogicVariable("b")
        return lall(eq(term, sub(a, b)), eq(result, a))

    assert first.transform(None, sub(x, y).owner) is x
    graph = FunctionGraph([x, y], [sub(x, y)], clone=False)
    EquilibriumOptimizer([first]).rewrite(graph)
    assert graph.outputs == [graph.inputs[0]]
    graph.check_integrity()


def test_numbers_take_the_type_of_what_they_replace() -> None:
    found = answering(2).transform(None, sub(x, y).owner)
    assert isinstance(found, Constant)
    assert found.data == 2.0
    assert found.type is num
    negative = answering(-2.0, 3.0).transform(None, exp(x).owner)  # exp(x) is positive
    assert negative.data == 3.0
    assert negative.type is pos
    assert answering(2).transform(None, pt.exp(pt.vector("v")).owner) is None
    scalar = answering(2).transform(None, pt.exp(pt.fscalar("s")).owner)
    assert (scalar.type.dtype, scalar.data) == ("float32", 2.0)


def test_nodes_with_several_outputs() -> None:
    @relation(tracks=[divmod_])
    def swapped(term, result):
        """A tuple of terms, one for each output."""
        a, b = LogicVariable("a"), LogicVariable("b")
        return lall(eq(term, divmod_(a, b)), eq(result, (sub(a, b), neg(b))))

    node = divmod_(x, y)[0].owner
    found = swapped.transform(None, node)
    assert [v.owner.op for v in found] == [sub, neg]
    graph = FunctionGraph([x, y], list(node.outputs), clone=False)
    result = EquilibriumOptimizer([swapped]).rewrite(graph)
    assert result.fired == {swapped.name: 1}
    assert [v.owner.op for v in graph.outputs] == [sub, neg]
    graph.check_integrity()


def test_what_else_may_stand_for_several_outputs() -> None:
    node = divmod_(x, y)[0].owner
    first, second = node.outputs
    assert answering([x, None]).transform(None, node) == [x, second]
    whole = answering(etuple(divmod_, y, x)).transform(None, node)
    assert whole[0].owner.op is divmod_
    assert whole[0].owner.inputs == (y, x)
    assert answering((x, 1.0)).transform(None, node)[1].data == 1.0
    for nothing in (x, (x,), (x, y, x), (first, second), (None, None), etuplize(node)):
        assert answering(nothing).transform(None, node) is None
    assert answering((x,)).transform(None, sin(x).owner) is x
    assert answering((x, y)).transform(None, sin(x).owner) is None


def test_answers_that_change_nothing_or_cannot_be_built_are_passed_over() -> None:
    again = etuple(sub, x, y)  # an equal term, but not the same object
    unbuildable = etuple(sub, x)
    rule = answering(again, unbuildable, LogicVariable("free"), y)
    assert rule.transform(None, sub(x, y).owner) is y
    ill_typed = etuple(pt.dot, pt.tensor3("t"), pt.scalar("s"))
    v = pt.vector("v")
    assert answering(ill_typed, v).transform(None, pt.exp(v).owner) is v


def test_what_is_no_goal_is_an_error() -> None:
    @relation(tracks=[sin])
    def no_goal(term: Any, result: Any) -> Any:
        """Returns a number."""
        return 5

    with pytest.raises(PatternError, match=r"no_goal.*\n.*must return a goal.*not 5"):
        no_goal.transform(None, sin(x).owner)


def test_an_answer_that_is_no_term_is_an_error() -> None:
    with pytest.raises(PatternError, match=r"relation.*test_relation.py:\d+.*\n.*answer 'text'"):
        answering("text", name="relation").transform(None, sin(x).owner)
    with pytest.raises(PatternError, match="cannot be called"):
        answering(etuple(1, x)).transform(None, sin(x).owner)


def test_types_that_do_not_fit() -> None:
    node = exp(x).owner  # of the narrower type
    assert answering(x, exp(p)).transform(None, node).owner.op is exp
    chosen = answering(x, results_filter=lambda found: next(found))
    graph = FunctionGraph([x], [exp(x)], clone=False)
    assert EquilibriumOptimizer([chosen]).rewrite(graph).fired == {}
    wrong = answering(pt.vector("v"), results_filter=lambda found: next(found))
    with pytest.raises(RuleTypeError, match="changes the type"):
        EquilibriumOptimizer([wrong]).rewrite(FunctionGraph([x], [exp(x)], clone=False))


# --- budgets --------------------------------------------------------------------------------------


def forever(term: Any, result: Any) -> Any:
    """Finds nothing and does not stop."""
    return lall(eq(result, LogicVariable("n")), conde([eq(term, i)] for i in count()))


def countless(term: Any, result: Any) -> Any:
    """Answers of the wrong type, without end."""
    return conde([eq(result, -float(i + 1))] for i in count())


def test_a_relation_that_diverges_is_stopped() -> None:
    rule = KanrenRelationSub(forever, budget=Budget(seconds=0.05))
    with pytest.raises(RelationBudgetError, match=r"0\.05 seconds, in which it found 0 answers"):
        rule.transform(None, sin(x).owner)
    patient = KanrenRelationSub(forever, budget=Budget(seconds=0.05, on_budget="stop"))
    assert patient.transform(None, sin(x).owner) is None


def test_running_out_names_the_relation_the_term_and_the_lines() -> None:
    graph = FunctionGraph([x], [exp(sin(x))], clone=False)
    rule = KanrenRelationSub(countless, tracks=[exp], budget=Budget(answers=7))
    with pytest.raises(RelationBudgetError) as caught:
        EquilibriumOptimizer([rule]).rewrite(graph)
    told = str(caught.value)
    assert "rule test_relation/countless (" in told
    assert "test_relation.py:" in told
    assert "used up its budget of 7 answers, and there are more" in told
    assert "at exp(sin(x))" in told
    assert "FunctionGraph([x], [exp(sin(x))]" in told  # the user's line
    assert isinstance(caught.value, RuleError | TimeoutError)
    assert [str(n.op) for n in graph.toposort()] == ["sin", "exp"]


def test_what_was_found_counts_when_it_may_stop() -> None:
    budget = Budget(answers=3, on_budget="stop")
    rule = KanrenRelationSub(countless, results_filter=lambda f: list(f)[-1], budget=budget)
    assert rule.transform(None, sin(x).owner).data == -3.0
    assert KanrenRelationSub(countless, budget=budget).transform(None, exp(x).owner) is None
    assert KanrenRelationSub(countless).transform(None, sin(x).owner).data == -1.0


def test_a_goal_that_calls_itself_without_end() -> None:
    def loop(term: Any, result: Any) -> Any:
        return conde([Zzz(loop, term, result)])

    with pytest.raises(RelationBudgetError, match="its goals are nested too deep"):
        KanrenRelationSub(loop).transform(None, sin(x).owner)


def test_a_search_with_constraints_is_watched_too() -> None:
    a = LogicVariable("a")
    assert run(0, a, neq(a, x), membero(a, (x, y))) == (y,)
    with pytest.raises(SearchBudgetError, match="0 answers"):
        run(1, a, neq(a, x), forever(x, a), seconds=0.05)


def test_constraints_of_one_branch_are_not_those_of_another() -> None:
    a = LogicVariable("a")
    either = conde([neq(a, x), membero(a, (x, y))], [eq(a, x)])
    assert set(run(0, a, either)) == {x, y}
    assert set(kanren_run(0, a, either)) == {x, y}


def test_run_takes_as_many_as_asked_for() -> None:
    a = LogicVariable("a")
    numbers = countless(x, a)
    assert run(2, a, numbers) == (-1.0, -2.0)
    assert run(0, a, numbers, answers=2, on_budget="stop") == (-1.0, -2.0)
    assert next(run(None, a, numbers)) == -1.0
    with pytest.raises(SearchBudgetError, match="2 answers, and there are more"):
        run(0, a, numbers, answers=2)
    with pytest.raises(ValueError, match="on_budget"):
        run(0, a, numbers, on_budget="explode")
    with pytest.raises(ValueError, match="seconds must be a nonnegative number or None"):
        run(0, a, numbers, seconds="x")


@pytest.mark.filterwarnings(  # what stops a search may come while a weak reference is cleared
    "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_a_search_is_watched_in_any_thread() -> None:
    def search() -> Any:
        return run(1, LogicVariable("a"), forever(x, y), seconds=0.05, on_budget="stop")

    with ThreadPoolExecutor(2) as pool:
        assert [f.result() for f in [pool.submit(search) for _ in range(2)]] == [(), ()]


def test_time_between_answers_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(budget, "perf_counter", lambda: now[0])
    a = LogicVariable("a")
    found = run(None, a, countless(x, a), seconds=0.2)
    for _ in range(3):
        next(found)
        now[0] += 0.1
    assert next(found) == -4.0


# --- the constructor the field knows --------------------------------------------------------------


def test_the_constructor_the_field_knows() -> None:
    def distribute(term: Any, result: Any) -> Any:
        a, b = LogicVariable("a"), LogicVariable("b")
        return lall(eq(term, sub(a, b)), conde([eq(result, add(a, b))], [eq(result, mul(a, b))]))

    node = sub(x, y).owner
    assert KanrenRelationSub(distribute).transform(None, node).owner.op is add
    last = KanrenRelationSub(distribute, results_filter=lambda found: list(found)[-1])
    assert last.transform(None, node).owner.op is mul
    lazy = KanrenRelationSub(distribute, lambda found: (v for v in found if v.owner.op is mul))
    assert lazy.transform(None, node).owner.op is mul
    never = KanrenRelationSub(distribute, node_filter=lambda node: False)
    assert never.transform(None, node) is None
    nothing = KanrenRelationSub(distribute, results_filter=lambda found: None)
    assert nothing.transform(None, node) is None


def test_any_callable_is_a_relation() -> None:
    class Both:
        """An object that can be called."""

        def __call__(self, term: Any, result: Any) -> Any:
            return eq(result, x)

    deep = KanrenRelationSub(partial(reduceo, log_exp.goal), name="deep")
    assert deep.short_name == "deep"
    assert deep.transform(None, log(exp(log(exp(x)))).owner) is x
    assert KanrenRelationSub(Both()).name == "test_relation/Both"
    assert KanrenRelationSub(Both()).transform(None, sin(x).owner) is x
    walks = KanrenRelationSub(partial(walko, log_exp.goal), name="walks")
    found = walks.transform(None, sin(log(exp(x))).owner)
    assert same(found, sin(x))


def test_a_number_of_numpy_is_a_number() -> None:
    s = pt.scalar("s")

    @relation(tracks=[pt.sin])
    def three(term, result):
        """Always 3."""
        return eq(result, np.float64(3.0))

    graph = FunctionGraph([s], [pt.sin(s)])
    EquilibriumOptimizer([three]).rewrite(graph)
    assert graph.outputs[0].number == 3.0


def test_a_budget_is_a_budget() -> None:
    with pytest.raises(PatternError, match="has the budget 5: write Budget"):
        relation(budget=5)(log_exp.fn)  # type: ignore[arg-type]
