"""`expand`: terms that rewrite to a given one."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
from kanren import eq, lall
from kanren.core import conde

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import PatternError, SearchBudgetError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter, relation
from rewrite_engine.match.pattern import Rest
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.expand import expand
from rewrite_engine.terms.logic import LogicVariable
from tests.match.language import make, same, x, y, z
from tests.match.test_equation import make as equation_of
from tests.toy import add, exp, join, log, mul, neg, sin, sub


def named(fn: Any, name: str) -> Any:
    fn.__name__ = name
    return make(fn)


twice = named(lambda a: neg(neg(a)) >> a, "twice")
logs = named(lambda a, b: add(log(a), log(b)) >> log(mul(a, b)), "logs")
log_exp = named(lambda a: log(exp(a)) >> a, "log_exp")


def among(term: Any, found: list[Any]) -> bool:
    return any(same(term, f) for f in found)


def test_at_the_root_and_inside_fewest_steps_first() -> None:
    found = expand(sin(x), twice, 3)
    assert same(found[0], neg(neg(sin(x))))
    assert same(found[1], sin(neg(neg(x))))
    steps = [len(FunctionGraph(None, [t]).toposort()) for t in expand(sin(x), twice, 12)]
    assert steps[:2] == [3, 3]
    assert set(steps[2:5]) == {5}


def test_each_result_rewrites_to_the_term() -> None:
    term = sin(log(mul(x, y)))
    rules = RuleSet([twice, logs, log_exp])
    found = expand(term, rules, 40)
    assert len(found) == 40
    assert len({id(t) for t in found}) == 40
    assert among(sin(add(log(x), log(y))), found)
    for before in found:
        graph = FunctionGraph(None, [before])
        EquilibriumOptimizer(rules).rewrite(graph)
        assert same(graph.outputs[0], term)


def test_fewer_if_there_are_no_more() -> None:
    assert expand(sin(x), logs, 5) == []
    found = expand(log(mul(x, y)), logs, 5)
    assert 1 <= len(found) <= 2  # (sums of two numbers may come in two orders)
    assert expand(x, [], 3) == []


def test_shared_parts_change_everywhere() -> None:
    shared = sin(x)
    found = expand(sub(shared, exp(shared)), log_exp, 20)
    inner = log(exp(sin(x)))
    assert among(sub(inner, exp(inner)), found)
    assert not among(sub(inner, exp(sin(x))), found)


def flat(xs: Rest, ys: Rest, zs: Rest) -> Any:
    """join in join."""
    return join(*xs, join(*ys), *zs) >> join(*xs, *ys, *zs)


def test_rests_and_operands_left_alone() -> None:
    assert among(join(x, join(y, z)), expand(join(x, y, z), make(flat), 20))
    square = make(lambda a: mul(a, a) >> exp(a))
    assert among(mul(x, x, y), expand(mul(exp(x), y), square, 20))


def distributed(a: Any, b: Any, c: Any, rest: Rest) -> Any:
    """Of sums."""
    return add(mul(a, b), mul(a, c), *rest) >> add(mul(a, add(b, c)), *rest)


def test_an_empty_rest_and_a_variable_that_stands_for_several() -> None:
    assert among(add(mul(x, y), mul(x, z)), expand(mul(x, add(y, z)), make(distributed), 5))
    pair = make(lambda a, b, c: add(mul(a, b), mul(a, c)) >> mul(a, add(b, c)))
    found = expand(mul(x, add(y, z, exp(y))), pair, 20)
    assert among(add(mul(x, y), mul(x, add(z, exp(y)))), found)
    assert len(set(found)) == len(found)


def test_a_type_that_does_not_fit_is_no_answer() -> None:
    to_exp = named(lambda a: sin(sin(a)) >> exp(a), "to_exp")
    assert among(sin(sin(x)), expand(exp(x), to_exp, 3))
    to_num = named(lambda a: exp(exp(a)) >> sin(a), "to_num")  # of a wider type: it never applies
    assert expand(sin(x), to_num, 3) == []


def test_what_the_rules_leave_open_is_no_answer() -> None:
    lost = named(lambda a, b: sub(mul(a, sin(b)), mul(a, sin(b))) >> exp(a), "lost")
    assert expand(exp(x), lost, 3) == []


def test_relations_run_backwards_too() -> None:
    @relation(tracks=[log])
    def log_of_exp(term, result):
        """log(exp(k)) is k."""
        k = LogicVariable("k")
        return lall(eq(term, log(exp(k))), eq(result, k))

    assert same(expand(x, log_of_exp, 1)[0], log(exp(x)))

    @relation()
    def forever(term, result):
        """Finds nothing and does not stop."""
        return lall(eq(term, LogicVariable("n")), conde([eq(result, i)] for i in count()))

    with pytest.raises(SearchBudgetError, match=r"2 terms that rewrite to x used up .* 0\.05 sec"):
        expand(x, forever, 2, seconds=0.05)
    assert expand(x, forever, 2, seconds=0.05, on_budget="stop") == []


def test_equations_go_both_ways() -> None:
    factor = equation_of(lambda a, b, c: (a * b + a * c, a * (b + c)))
    apart, together = add(mul(x, y), mul(x, z)), mul(x, add(y, z))
    assert among(apart, expand(together, [factor], 1))
    assert among(together, expand(apart, factor, 5))


def test_node_rewriters_have_no_way_back() -> None:
    @node_rewriter([sin])
    def nothing(fgraph, node):
        """Not data: a test."""

    with pytest.raises(PatternError, match="run backwards"):
        expand(sin(x), nothing)
    assert len(expand(sin(x), [nothing, twice], 2)) == 2


def test_tensors_keep_their_values() -> None:
    v = pt.vector("v")
    term = pt.log1p(pt.exp(v))
    found = rw.expand(term, all_rules().phase("stabilize"), 5)
    assert any(t.owner.op is pt.log for t in found)
    value = np.array([0.5, -1.0])
    for before in found:
        assert before.type is term.type
        np.testing.assert_allclose(before.eval({v: value}), np.log1p(np.exp(value)))


def test_a_long_term() -> None:
    term = x
    for _ in range(3000):
        term = sin(term)
    (found,) = expand(term, twice, 1, seconds=60)
    assert found.owner.op is neg


def test_what_cannot_be_expanded() -> None:
    for term, rules in ((3, twice), ([x], twice), (x, None), (x, 3), (x, [twice, 3])):
        with pytest.raises(PatternError, match="expand "):
            expand(term, rules)  # type: ignore[arg-type]
