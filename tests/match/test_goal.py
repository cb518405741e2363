"""Data rules as relations: backwards with sums, rests and missing operands, and composed."""

from __future__ import annotations

from typing import Any

import pytest
from etuples import etuple
from kanren import eq, lall, membero, var
from kanren.core import conde
from kanren.graph import reduceo, walko

import rewrite_engine.tensor as pt
from rewrite_engine.errors import SearchBudgetError
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.pattern import Rest
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.terms import GraphTuple, etuplize, logic_variables, unify
from rewrite_engine.terms.convert import from_term
from rewrite_engine.terms.logic import LogicVariable
from rewrite_engine.terms.search import run
from tests.match.language import make, named_x, same, x, y, z
from tests.match.test_emit import flat_rule
from tests.match.test_missing import scaled
from tests.toy import add, const, exp, join, log, mul, neg, num, sin, sub

q = var()


def before(rule: Any, after: Variable, n: int = 0) -> list[Any]:
    """What rewrites to a term, as the relation says."""
    return [from_term(t) for t in run(n, q, rule.goal(q, etuplize(after)), answers=500)]


def among(term: Variable, found: list[Any]) -> bool:
    return any(isinstance(f, Variable) and same(f, term) for f in found)


def test_equal_answers_are_given_once() -> None:
    halves = make(lambda a: add(a, a) >> sin(a))
    assert [str(etuplize(v)) for v in run(0, q, halves.goal(add(x, x), q))] == ["e(sin, x)"]
    either = make(lambda a, b: sub(a, add(a, b)) >> neg(b))
    assert len(run(0, q, either.goal(sub(x, add(x, x)), q))) == 1
    assert len(run(0, q, either.goal(sub(x, add(x, y)), q))) == 1
    some = make(lambda a, b: mul(sin(a), sin(b)) >> sin(mul(a, b)))
    assert len(run(0, q, some.goal(mul(sin(x), sin(y), z), q))) == 1  # in either order


def test_rests_run_both_ways() -> None:
    (found,) = run(0, q, flat_rule.goal(etuplize(join(x, join(y))), q))
    assert same(found if isinstance(found, Variable) else from_term(found), join(x, y))
    found = before(flat_rule, join(x, y))
    assert len(found) == 6  # where the inner one begins and ends
    for term in (join(x, join(y)), join(join(x), y), join(join(x, y)), join(x, join(), y)):
        assert among(term, found)


def test_sums_run_backwards_in_any_order() -> None:
    logs = make(lambda a, b: add(log(a), log(b)) >> log(mul(a, b)))
    found = before(logs, log(mul(x, y)))
    assert among(add(log(x), log(y)), found)
    assert among(add(log(y), log(x)), found)
    assert before(logs, log(sub(x, y))) == []


def test_operands_that_a_rule_leaves_alone_come_back() -> None:
    square = make(lambda a: mul(a, a) >> exp(a))
    found = before(square, mul(exp(x), y, z))
    assert among(mul(x, x, y, z), found)
    assert not among(mul(x, x), found)
    assert [v.owner.op for v in before(square, exp(x))] == [mul]
    differs = make(lambda a, b: add(sin(a), log(b)) >> add(a, b))
    assert among(add(sin(x), log(y), z), before(differs, add(x, y, z)))


def test_an_operand_that_stands_for_several() -> None:
    rule = make(lambda a: log(add(1, a)) >> sin(a))
    found = before(rule, sin(add(x, y)))
    assert among(log(add(const(1.0), x, y)), found)
    assert among(log(add(const(1.0), add(x, y))), found)


def test_a_rest_of_a_sum() -> None:
    rule = make(two_and_rest)
    assert among(add(log(x), exp(y), z), before(rule, join(sub(x, y), z)))
    assert among(add(log(x), exp(y)), before(rule, join(sub(x, y))))
    gone = make(lost)
    assert among(mul(const(0.0), x), before(gone, sin(x)))  # of what is lost, there is least


def two_and_rest(a: Any, b: Any, rest: Rest) -> Any:
    return add(log(a), exp(b), *rest) >> join(sub(a, b), *rest)


def lost(a: Any, rest: Rest) -> Any:
    return mul(0.0, a, *rest) >> sin(a)


def test_what_only_the_left_side_knows_stays_free() -> None:
    rule = make(lambda a, b: sub(mul(a, sin(b)), mul(a, sin(b))) >> exp(a))
    (first, *_) = run(0, q, rule.goal(q, etuplize(exp(x))))
    (free,) = logic_variables(first)
    assert free.name == "b"
    assert unify(first, etuplize(sub(mul(x, sin(y)), mul(x, sin(y))))) is not False


def test_sorts_and_guards_hold_backwards() -> None:
    def only_x(a: named_x, b: Any) -> Any:
        return add(sin(a), b) >> sub(a, b)

    assert among(add(sin(x), y), before(make(only_x), sub(x, y)))
    assert before(make(only_x), sub(y, x)) == []


def test_equal_operands_need_not_be_the_same_object() -> None:
    rule = make(lambda a: add(a, a) >> sin(a))
    found = run(0, q, rule.goal(etuple(add, etuple(exp, x), etuple(exp, x)), q))
    assert {str(from_term(t)) for t in found} == {"sin.0"}
    back = make(lambda a: add(sin(a), log(a)) >> sub(a, a))
    assert among(add(sin(exp(x)), log(exp(x))), before(back, sub(exp(x), exp(x))))


def test_both_sides_may_have_free_variables() -> None:
    a, b = LogicVariable("a"), LogicVariable("b")
    logs = make(lambda a, b: add(log(a), log(b)) >> log(mul(a, b)))
    found = run(0, (a, q), logs.goal(etuple(add, etuple(log, x), a), q))
    assert (etuple(log, found[0][1][1][2]), found[0][1]) == (
        found[0][0],
        etuple(log, etuple(mul, x, found[0][1][1][2])),
    )
    term = etuple(join, a, etuple(join, b, y))
    assert etuple(join, a, b, y) in run(0, q, flat_rule.goal(term, q), answers=100)
    found = run(0, q, make(scaled).goal(etuple(add, a, etuple(exp, y)), q), answers=100)
    assert any(len(t) == 4 and t[1] == 1 for t in found)  # the missing factor


def test_open_terms_may_share_what_they_are_made_of() -> None:
    deep: Any = x
    for _ in range(60):
        deep = exp(mul(deep, deep))
    shared = etuplize(deep, holes={x: LogicVariable("a")})
    found = next(run(None, q, flat_rule.goal(GraphTuple((join, shared, etuplize(join(y)))), q)))
    assert found[:2] == (join, shared)


def test_relations_compose() -> None:
    twice = make(lambda a: neg(neg(a)) >> a)
    logs = make(lambda a, b: add(log(a), log(b)) >> log(mul(a, b)))
    term = etuplize(add(log(x), log(y), log(z)))
    ends = run(2, q, reduceo(logs.goal, term, q), seconds=30)
    assert any(same(from_term(t), log(mul(mul(x, y), z))) for t in ends) or any(
        same(from_term(t), log(mul(x, y, z))) for t in ends
    )
    inside = run(1, q, walko(logs.goal, etuplize(sin(add(log(x), log(y)))), q))
    assert same(from_term(inside[0]), sin(log(mul(x, y))))
    either = lambda s, t: conde([twice.goal(s, t)], [logs.goal(s, t)])
    assert run(1, q, either(etuplize(neg(neg(x))), q)) == (x,)
    both = run(0, q, membero(q, (x, y)), logs.goal(term, etuple(log, q)))
    assert both == ()
    picked = lall(membero(q, (x, y, z)), twice.goal(etuple(neg, etuple(neg, q)), y))
    assert run(0, q, picked) == (y,)


def test_expanding_with_reduceo() -> None:
    logs = make(lambda a, b: add(log(a), log(b)) >> log(mul(a, b)))
    found = run(1, q, reduceo(logs.goal, q, etuplize(log(mul(x, y)))), seconds=30)
    assert among(add(log(x), log(y)), [from_term(t) for t in found])
    with pytest.raises(SearchBudgetError):
        run(0, q, reduceo(logs.goal, q, etuplize(log(mul(x, y)))), seconds=0.1)


def test_walking_backwards() -> None:
    logs = make(lambda a, b: add(log(a), log(b)) >> log(mul(a, b)))
    after = etuplize(sin(log(mul(x, y))))
    found = run(4, q, walko(logs.goal, q, after), seconds=30, answers=50)
    assert among(sin(add(log(x), log(y))), [from_term(t) for t in found if not logic_variables(t)])


def test_shipped_rules_compose() -> None:
    rules = all_rules()
    v = pt.vector("v")
    one_of = lambda s, t: conde(*[[rules[n].goal(s, t)] for n in ("log1p_of_exp", "log_of_exp")])
    assert run(1, q, one_of(etuplize(pt.log(pt.exp(v))), q)) == (v,)
    (found,) = run(1, q, one_of(q, etuplize(pt.softplus(v))))
    assert same(from_term(found), pt.log1p(pt.exp(v)))
    goal = rules["log_of_one_plus"].goal
    found = run(2, q, goal(q, etuplize(pt.log1p(v))))
    assert {str(from_term(t).owner.op) for t in found} == {"log"}


def distributed(a: Any, b: Any, c: Any, rest: Rest) -> Any:
    return add(mul(a, b), mul(a, c), *rest) >> add(mul(a, add(b, c)), *rest)


def test_an_empty_rest_of_a_sum_leaves_one_operand() -> None:
    rule = make(distributed)
    found = before(rule, mul(x, add(y, z)))
    assert among(add(mul(x, y), mul(x, z)), found)
    assert {len(t.owner.inputs) for t in found} == {2}
    for term in found:
        assert same(rule.interpreted(None, term.owner), mul(x, add(y, z)))
    assert among(add(mul(x, y), mul(x, z), exp(x)), before(rule, add(mul(x, add(y, z)), exp(x))))


def of_one(a: Any, rest: Rest) -> Any:
    return add(sin(a), *rest) >> add(exp(a), *rest)


def test_no_sum_of_one_operand_is_made() -> None:
    assert before(make(of_one), exp(x)) == []
    assert among(add(sin(x), y), before(make(of_one), add(exp(x), y)))


def test_answers_come_once() -> None:
    pair = make(lambda a, b, c: add(mul(a, b), mul(a, c)) >> mul(a, add(b, c)))
    for rule in (make(distributed), pair):
        for after in (mul(x, add(y, z)), mul(x, add(y, z, exp(x))), add(mul(x, add(y, z)), y)):
            found = run(0, q, rule.goal(q, etuplize(after)))
            assert found
            assert len(set(found)) == len(set(map(str, map(etuplize_all, found)))) == len(found)


def etuplize_all(term: Any) -> Any:
    """The term with no variable in it that something computes."""
    return etuplize(from_term(term))


@pytest.mark.parametrize("thing", [sin, "s", [1], (1, 2), num, None])
def test_variables_stand_for_terms_only(thing: Any) -> None:
    log_of_exp = make(lambda a: log(exp(a)) >> a)
    rests = make(lambda a, b: log(exp(add(a, b))) >> a)
    for rule in (log_of_exp, rests):
        assert run(0, q, rule.goal(q, thing)) == ()
    assert run(0, q, log_of_exp.goal(etuple(log, etuple(exp, thing)), q)) == ()
    assert run(0, q, log_of_exp.goal(q, 2.0)) == (etuple(log, etuple(exp, 2.0)),)


def test_walking_leaves_operators_alone() -> None:
    log_of_exp = make(lambda a: log(exp(a)) >> a)
    found = run(5, q, walko(log_of_exp.goal, q, etuplize(sin(x))), answers=50)
    assert among(sin(log(exp(x))), [from_term(t) for t in found])


def test_terms_that_no_graph_can_have_are_related_to_nothing() -> None:
    logs = make(lambda a, b: add(log(a), log(b)) >> log(mul(a, b)))
    assert run(0, q, logs.goal(etuple(sub, x), q)) == ()
    assert run(0, q, logs.goal(q, etuple(log, etuple(sub, x)))) == ()
    assert run(0, q, logs.goal(x, q), eq(q, y)) == ()
