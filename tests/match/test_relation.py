"""Rules made of miniKanren relations."""

from __future__ import annotations

from typing import Any

from kanren import eq
from kanren.core import conde, lall

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import relation
from rewrite_engine.match.relation import KanrenRelationSub
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.terms.logic import LogicVariable
from tests.match.language import p, x, y
from tests.toy import add, exp, log, mul, sin, sub


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


def test_a_limit_of_answers() -> None:
    limited = type(ambiguous)(ambiguous.fn, limit=2)
    assert limited.transform(None, sub(x, y).owner) is None


def test_relations_in_a_driver() -> None:
    graph = FunctionGraph(None, [sin(log(exp(log(exp(x)))))])
    result = EquilibriumOptimizer([log_exp]).rewrite(graph)
    assert result.fired == {log_exp.name: 2}
    assert graph.outputs[0].owner.inputs[0] is graph.inputs[0]
    graph.check_integrity()


def test_the_constructor_the_field_knows() -> None:
    def distribute(term: Any, result: Any) -> Any:
        a, b = LogicVariable("a"), LogicVariable("b")
        return lall(eq(term, sub(a, b)), conde([eq(result, add(a, b))], [eq(result, mul(a, b))]))

    node = sub(x, y).owner
    assert KanrenRelationSub(distribute).transform(None, node).owner.op is add
    last = KanrenRelationSub(distribute, results_filter=lambda found: list(found)[-1])
    assert last.transform(None, node).owner.op is mul
    never = KanrenRelationSub(distribute, node_filter=lambda node: False)
    assert never.transform(None, node) is None
    assert distribute.__doc__ == "A relation given as a function."
