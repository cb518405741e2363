"""`walko` and `reduceo` without recursion: the answers of miniKanren's own, at any depth."""

from __future__ import annotations

from functools import partial
from typing import Any

import kanren.graph
import pytest
from etuples import etuple
from hypothesis import given, settings
from hypothesis import strategies as st
from kanren import conde, eq, var

from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import Shared
from rewrite_engine.terms import etuplize
from rewrite_engine.terms.convert import from_term
from rewrite_engine.terms.relations import reduceo, walko
from rewrite_engine.terms.search import run
from tests.match.language import make
from tests.toy import add, const, exp, log, neg, num, sin, sub

x, y = num("x"), num("y")
q, r = var(), var()
undo = make(lambda a: log(exp(a)) >> a).goal
twice = make(lambda a: neg(neg(a)) >> a).goal


def either(a: Any, b: Any) -> Any:
    return conde([undo(a, b)], [twice(a, b)])


def shown(answers: Any) -> list[str]:
    return [str(etuplize(from_term(t))) for t in answers]


def test_a_step_at_each_place_those_further_out_first() -> None:
    term = log(exp(add(neg(neg(x)), log(exp(y)))))
    assert shown(run(0, q, walko(either, term, q))) == [
        "e(add, e(neg, e(neg, x)), e(log, e(exp, y)))",
        "e(log, e(exp, e(add, x, e(log, e(exp, y)))))",
        "e(log, e(exp, e(add, e(neg, e(neg, x)), y)))",
    ]
    assert run(0, q, walko(either, sin(x), q)) == ()


def test_a_part_that_occurs_twice_is_replaced_in_both_places() -> None:
    part = log(exp(x))
    assert shown(run(0, q, walko(undo, sub(part, neg(part)), q))) == ["e(sub, x, e(neg, x))"]


def test_backwards_from_what_is_known() -> None:
    assert shown(run(0, q, walko(undo, q, sin(x)))) == [
        "e(log, e(exp, e(sin, x)))",
        "e(sin, e(log, e(exp, x)))",
    ]
    found = shown(run(3, q, reduceo(undo, q, x)))
    assert found[0] == "e(log, e(exp, x))"
    assert found[1] == "e(log, e(exp, e(log, e(exp, x))))"
    assert len(set(found)) == 3


def test_as_a_check() -> None:
    term = sin(log(exp(x)))
    assert run(0, q, walko(undo, term, sin(x)), eq(q, 1)) == (1,)
    assert run(0, q, walko(undo, term, sin(y)), eq(q, 1)) == ()
    assert run(0, q, reduceo(partial(walko, undo), term, sin(x)), eq(q, 1)) == (1,)


def test_the_normal_form_comes_first_and_each_answer_once() -> None:
    term = add(log(exp(log(exp(x)))), neg(neg(y)))
    found = shown(run(0, q, reduceo(partial(walko, either), term, q)))
    assert found[0] == "e(add, x, y)"
    assert len(found) == len(set(found)) == 5
    own = run(0, q, kanren.graph.reduceo(partial(kanren.graph.walko, either), term, q))
    assert set(shown(own)) >= {found[0]}


def test_terms_with_something_open_in_them() -> None:
    def loose(a: Any, b: Any) -> Any:
        """Anything becomes a sum with something."""
        return conde([eq(a, x), eq(b, etuple(add, x, r))])

    (found,) = run(0, q, walko(loose, sin(neg(x)), q), eq(r, y))
    assert shown([found]) == ["e(sin, e(neg, e(add, x, y)))"]

    def once(a: Any, b: Any) -> Any:
        return conde([eq(a, x), eq(b, etuple(add, y, r))])

    (found,) = run(1, q, reduceo(partial(walko, once), sin(x), q), eq(r, 2.0))
    assert shown([found]) == ["e(sin, e(add, y, 2.0))"]


def test_what_is_related_need_not_be_well_typed() -> None:
    def odd(a: Any, b: Any) -> Any:
        return conde([eq(b, etuple(sin, "no number"))], [eq(b, y)])

    assert shown(run(0, q, walko(odd, sin(x), q))) == ["y", "e(sin, y)"]


def test_where_both_are_open_it_is_the_relation_of_minikanren() -> None:
    mine, own = (run(2, (q, r), w(undo, q, r)) for w in (walko, kanren.graph.walko))
    assert len(mine) == len(own) == 2


def deep(n: int, inside: Variable, *ops: Any) -> Variable:
    for i in range(n):
        inside = ops[i % len(ops)](inside)
    return inside


@pytest.mark.parametrize("n", [100, 1000])
def test_any_depth(n: int) -> None:
    found = run(1, q, reduceo(partial(walko, undo), sin(deep(n, x, exp, log)), q), seconds=60)
    assert shown(found) == ["e(sin, x)"]
    inside = deep(n, log(exp(x)), sin, neg)
    (found,) = run(0, q, walko(undo, inside, q), seconds=60)
    assert Shared()(from_term(found)) is not inside
    shared = Shared()
    assert shared(from_term(found)) is shared(deep(n, x, sin, neg))
    assert len(run(20, q, walko(undo, q, deep(n, x, sin)), seconds=60)) == 20


@settings(max_examples=40)
@given(st.recursive(st.sampled_from([x, y, const(2.0)]), lambda inner: st.one_of(
    st.builds(lambda op, a: op(a), st.sampled_from([exp, log, neg]), inner),
    st.builds(sub, inner, inner)), max_leaves=6))  # fmt: skip
def test_the_same_normal_forms_as_minikanren(term: Variable) -> None:
    mine = run(1, q, reduceo(partial(walko, either), term, q), seconds=60)
    own = run(1, q, kanren.graph.reduceo(partial(kanren.graph.walko, either), term, q), seconds=60)
    steps = run(1, q, walko(either, term, q))
    assert bool(mine) == bool(steps)
    if term.owner is not None and own:
        shared = Shared()
        (a,), (b,) = mine or (term,), own
        assert run(1, q, walko(either, a, q)) == ()
        if not run(1, q, kanren.graph.walko(either, b, q)):
            assert shared(from_term(a)) is shared(from_term(b))
