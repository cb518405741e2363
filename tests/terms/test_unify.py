"""Unification and reification on graphs."""

from __future__ import annotations

from typing import Any

import pytest
import unification
from etuples import etuple as e
from hypothesis import given
from hypothesis import strategies as st
from unification import var

from rewrite_engine.errors import PatternError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.terms import (
    GraphTuple,
    LogicVariable,
    PatternTerm,
    etuplize,
    literal_matches,
    logic_variables,
    nth,
    reify,
    unify,
)
from tests.terms.test_convert import dags
from tests.toy import Scale, add, const, divmod_, exp, log, mul, neg, num, pos, sin, sub

x, y = num("x"), num("y")
p, q = LogicVariable("p"), LogicVariable("q")


@given(dags(), st.data())
def test_a_pattern_made_of_a_graph_unifies_with_it(v: Any, data: Any) -> None:
    """Holes get what was there, and reifying gives the graph back."""
    below = [w for w in ancestors([v]) if w is not v]
    places = data.draw(st.lists(st.sampled_from(below), max_size=3, unique_by=id))
    holes = {w: LogicVariable(f"h{i}") for i, w in enumerate(places)}
    pattern = etuplize(v, holes=holes)
    s = unify(pattern, v)
    assert s is not False
    assert all(s[h] is w or etuplize(s[h]) == etuplize(w) for w, h in holes.items() if h in s)
    assert set(s) == set(logic_variables(pattern))
    again = reify(pattern, s)
    assert equal_computations([getattr(again, "evaled_obj", again)], [v])


@given(dags(), dags())
def test_variables_terms_and_comparison_agree(v: Any, w: Any) -> None:
    s, t = etuplize(v), etuplize(w)
    same = unify(v, w) is not False
    assert same == (unify(s, t) is not False) == (unify(s, w) is not False)
    assert same == (unify(w, v) is not False)
    assert unify(v, v) == {}


@given(dags(), dags())
def test_unification_and_ours_are_one(v: Any, w: Any) -> None:
    a, b = etuplize(v, holes={x: p}), etuplize(w, holes={x: q})
    assert unification.unify(a, b, {}) == unify(a, b)
    assert (unification.unify(e(sin, a), e(sin, w)) is False) == (unify(a, w) is False)


@given(dags(), dags(), st.data())
def test_a_unifier_makes_terms_equal(v: Any, w: Any, data: Any) -> None:
    """Both sides open; with the occurs check a unifier always reifies."""

    def opened(u: Any) -> Any:
        roots = [r for r in ancestors([u]) if r.owner is None]
        return etuplize(u, holes={r: data.draw(st.sampled_from([p, q])) for r in roots})

    a, b = opened(v), opened(w)
    s = unify(a, b, occurs_check=True)
    if s is not False:
        assert reify(a, s) == reify(b, s)


def test_bindings_are_the_variables_of_the_graph() -> None:
    inner = exp(x)
    assert unify(log(add(1, q)), log(add(1, inner))) == {q: inner}
    assert unify(log(add(inner, q)), log(add(1, inner))) is False
    assert unify(add(q, q), add(inner, inner)) == {q: inner}
    assert unify(add(q, q), add(x, y)) is False


def test_equal_nodes_are_equal() -> None:
    assert unify(add(q, q), add(exp(x), exp(x))) is not False
    assert unify(exp(x), exp(x)) == {}
    assert unify(exp(x), exp(y)) is False
    assert unify(x, y) is False


def test_the_argument_is_not_changed() -> None:
    s = {p: 1}
    assert unify(log(q), log(x), s) == {p: 1, q: x}
    assert s == {p: 1}
    assert unify(p, 2, s) is False
    assert unify(add(p, q), add(1, x), s)[q] is x


def test_a_node_is_compared_by_op_and_inputs() -> None:
    assert unify(log(q), log(x).owner) == {q: x}
    assert unify(e(log, q), log(x).owner) == {q: x}


def test_parameters_of_an_op_can_be_open() -> None:
    r = LogicVariable("r")
    v = Scale(2.0)(x)
    assert unify(e(e(Scale, q), p), v) == {q: 2.0, p: x}
    assert unify(e(q, p), v) == {q: Scale(2.0), p: x}
    assert unify(e(e(q, r), p), v) == {q: Scale, r: 2.0, p: x}
    assert unify(e(Scale, q), Scale(2.0)) == {q: 2.0}
    assert unification.unify(e(Scale, q), Scale(2.0), {}) == {q: 2.0}
    assert unify(e(e(Scale, 3.0), p), v) is False
    term = GraphTuple((GraphTuple((Scale, q)), x))
    assert reify(term, {q: 2.0}).evaled_obj.owner.op is Scale(2.0)


def test_outputs_of_a_node() -> None:
    d = divmod_(x, y)
    assert unify(nth(1, PatternTerm(e(divmod_, p, q))), d[1]) == {p: x, q: y}
    assert unify(nth(1, PatternTerm(e(divmod_, p, q))), d[0]) is False
    assert unify(d[0], d[1]) is False


def test_constants_are_compared_by_content() -> None:
    assert unify(const(2.0), const(2.0)) == {}
    assert unify(const(2.0), const(3.0)) is False
    assert unify(log(const(2.0)), log(2.0)) == {}
    assert unify(add(q, q), add(2.0, 2.0)) is not False
    assert unify(log(x), log(2.0)) is False


@pytest.mark.parametrize(
    ("literal", "value", "same"),
    [
        (1, 1.0, True), (1.0, 1.0, True), (True, 1.0, False), (2, 1.0, False), (0, 0.0, True),
        (0, -0.0, False), (-0.0, -0.0, True), (float("nan"), float("nan"), True), ("1", 1.0, True),
        ("one", 1.0, False), (None, 1.0, False), (1 + 0j, 1.0, True),
    ],
)  # fmt: skip
def test_literals_and_constants(literal: Any, value: float, same: bool) -> None:
    constant = num.make_constant(value)
    assert literal_matches(literal, constant) is same
    if not isinstance(literal, str):
        assert (unify(literal, constant) == {}) is same
        assert (unification.unify(e(log, literal), log(constant), {}) == {}) is same


def test_a_typed_variable_takes_only_its_type() -> None:
    t = LogicVariable("t", pos)
    assert unify(log(t), log(exp(x))) is not False
    assert unify(log(t), log(x)) is False
    assert unification.unify(t, exp(x), {}) is not False
    assert unification.unify(t, x, {}) is False
    assert unification.unify(x, t, {}) is False
    assert unify(t, etuplize(log(x))) is False
    assert unify(t, log) is False
    assert unify(LogicVariable("u", num), exp(x)) is not False


def test_both_sides_open() -> None:
    s = unify(sub(p, log(q)), sub(exp(q), log(x)))
    assert reify(sub(p, q), s).owner.inputs[1] is x
    assert reify(p, s).evaled_obj.owner.op is exp


def test_occurs_check() -> None:
    assert unify(q, log(q)) is not False
    assert unify(q, log(q), occurs_check=True) is False
    assert unify(q, q, occurs_check=True) == {}
    assert unify(sub(p, q), sub(log(q), log(p)), occurs_check=True) is False
    assert unify(sub(p, q), sub(log(q), log(x)), occurs_check=True) is not False
    with pytest.raises(PatternError, match="q stands for a term that contains it"):
        reify(q, {q: log(q)})


def test_a_circular_substitution_does_not_hang() -> None:
    s = unify(q, log(q))
    assert unify(q, log(log(q)), s) is not False


def test_reify() -> None:
    v = reify(log(add(q, 1)), {q: x})
    assert isinstance(v, Variable)
    assert v.owner.inputs[0].owner.inputs[0] is x
    assert isinstance(reify(log(add(p, q)), {q: x}), PatternTerm)
    assert reify(q, {q: log(p), p: x}).owner.inputs[0] is x
    assert reify(q, {q: 3}) == 3
    assert reify((q, [p], slice(q, None)), {q: 3, p: x}) == (3, [x], slice(3, None))
    assert unification.reify(log(q), {q: x}).owner.inputs == (x,)
    assert unification.reify((1, log(q)), {q: x})[1].owner.inputs == (x,)
    assert reify({1: q}, {q: x}) == {1: x}


def test_reified_etuples_stay_terms_and_keep_what_they_can() -> None:
    closed = etuplize(exp(x))
    term = GraphTuple((add, closed, q))
    new = reify(term, {q: y})
    assert isinstance(new, GraphTuple)
    assert new[1] is closed
    assert new.evaled_obj.owner.inputs == (closed.evaled_obj, y)
    assert reify(term, {}) is term


def test_groundness_as_kanren_sees_it() -> None:
    from unification.core import isground, unground_lvars

    assert not isground(log(q), {})
    assert isground(log(q), {q: x})
    assert isground(etuplize(log(x)), {})
    assert unground_lvars(add(p, log(q)).etuple, {p: x}) == {q}


def tower(leaf: Any, n: int = 60) -> Any:
    for _ in range(n):
        leaf = add(leaf, leaf)
    return leaf


def test_shared_terms_are_linear() -> None:
    a, b = tower(x), tower(x)
    open_a, open_b = tower(p), tower(q)
    assert unify(a, b) == {}
    assert unify(a, sin(b)) is False
    assert unify(open_a, b) == {p: x}
    assert unify(open_a, open_b) == {p: q}
    assert unification.unify(open_a, b, {}) == {p: x}
    assert unify(reify(open_a, {p: x}), a) == {}
    assert len(logic_variables(open_a)) == 1
    assert unify(open_a, open_b, occurs_check=True) == {p: q}


def test_the_same_term_with_different_sharing() -> None:
    """m copies of each level against n copies: no product of the two."""

    def copies(n: int, depth: int) -> Any:
        row = [x] * n
        for _ in range(depth):
            row = [add(row[i], row[(i + 1) % n]) for i in range(n)]
        return row[0]

    assert unify(copies(7, 60), copies(5, 60)) == {}


def test_deep_terms() -> None:
    n = 100_000

    def chain(v: Any) -> Any:
        for _ in range(n):
            v = neg(v)
        return v

    a, b, open_a = chain(x), chain(x), chain(q)
    assert unify(a, b) == {}
    assert unify(open_a, a, occurs_check=True) == {q: x}
    assert unification.unify(open_a, a, {}) == {q: x}
    made = reify(open_a, {q: x})
    assert unify(made, a) == {}
    assert unification.reify(open_a, {q: y}).type == num
    assert reify(open_a, {}) is open_a
    assert len(repr(open_a)) < 3_000


def test_plain_logic_variables_work_too() -> None:
    v = var()
    assert unify(e(log, v), log(x)) == {v: x}
    assert unification.unify(log(v) if False else e(mul, v, v), mul(x, x), {}) == {v: x}
    with unification.variables("anything"):
        assert unify(e(log, "anything"), log(x)) == {"anything": x}
