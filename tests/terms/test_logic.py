"""Logic variables and patterns."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import unification
from etuples import etuple as e

from rewrite_engine import hooks
from rewrite_engine.errors import PatternError
from rewrite_engine.terms import (
    GraphTuple,
    LogicVariable,
    PatternTerm,
    logic_variables,
    nth,
    pattern_classes,
    reify,
    unify,
)
from tests.toy import Scale, add, divmod_, exp, join, log, mul, neg, num, sub


class Operators:
    """As those of tensors: they only call ops."""

    def __add__(self, other: Any) -> Any:
        return add(self, other)

    def __radd__(self, other: Any) -> Any:
        return add(other, self)

    def __sub__(self, other: Any) -> Any:
        return sub(self, other)

    def __neg__(self) -> Any:
        return neg(self)

    def __lt__(self, other: Any) -> Any:
        return join(self, other)

    def __gt__(self, other: Any) -> Any:
        return join(other, self)

    def __getitem__(self, index: Any) -> Any:
        return join(self, index)

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the equality of terms is not for a mixin to change")

    __hash__ = None  # type: ignore[assignment]


Logic, Pattern = pattern_classes(Operators)


def test_variables_of_one_name_are_different() -> None:
    x, y = LogicVariable("x"), LogicVariable("x")
    assert x != y
    assert x == x
    assert len({x, y}) == 2
    assert repr(x) == "x"
    assert x != unification.var("x")
    assert unification.isvar(x)
    assert copy.deepcopy(x) is x


def test_a_plain_variable_is_not_an_instance() -> None:
    assert not isinstance(unification.var("x"), LogicVariable)
    assert isinstance(LogicVariable("x"), unification.Var)
    assert not isinstance(LogicVariable("x"), Logic)


def test_an_op_on_a_logic_variable_gives_a_pattern() -> None:
    q, x = LogicVariable("q"), num("x")
    p = log(add(1, q, x))
    assert isinstance(p, PatternTerm)
    assert p.etuple == e(log, e(add, 1, q, x))
    assert isinstance(p.etuple, GraphTuple)
    assert (p.op, p.args) == (log, (e(add, 1, q, x),))


def test_sub_patterns_are_shared() -> None:
    p = log(LogicVariable("q"))
    assert add(p, p).args[0] is p.etuple


def test_equality_is_structural() -> None:
    q = LogicVariable("q")
    assert log(q) == log(q)
    assert hash(log(q)) == hash(log(q))
    assert log(q) == e(log, q)
    assert log(q) != log(LogicVariable("q"))
    assert log(q) != q
    assert log(q) != 1


def test_operators_come_from_a_mixin() -> None:
    x, y = Logic("x"), Logic("y")
    p = 1 + x - log(y)
    assert type(p) is Pattern
    assert type(log(exp(x))) is Pattern
    assert p == sub(add(1, x), log(y))
    assert (-x)[0] == join(neg(x), 0)
    assert repr(-(x + 1)) == "-(x + 1)"
    assert x == x
    assert {x: 1}[x] == 1


def test_evaluating_an_open_term_gives_a_pattern_with_operators() -> None:
    x = Logic("x")
    p = e(log, e(exp, x))
    assert type(GraphTuple(p).evaled_obj) is Pattern
    assert type(GraphTuple((log, unification.var())).evaled_obj) is PatternTerm


def test_without_a_mixin_there_are_no_operators() -> None:
    with pytest.raises(TypeError):
        LogicVariable("x") + 1  # type: ignore[operator]


def test_truth_is_refused() -> None:
    x, y, z = Logic("x"), Logic("y"), Logic("z")
    for ask in (lambda: bool(x), lambda: x < y < z, lambda: (x + y) and z, lambda: not log(x)):
        with pytest.raises(PatternError, match=r"neither true nor false.*\n.*and_"):
            ask()


def test_the_rule_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    x = LogicVariable("x")
    monkeypatch.setattr(hooks, "rule_body", lambda left, right: (left, right))
    assert log(exp(x)) >> x == (log(exp(x)), x)
    assert sub(x, x) >> 0 == (sub(x, x), 0)
    with pytest.raises(PatternError, match="left side"):
        0 >> x


def test_what_is_not_a_term_is_refused_with_its_own_words() -> None:
    class Rule:
        __not_a_term__ = "put parentheses around the left side"

    x = Logic("x")
    with pytest.raises(PatternError, match="put parentheses"):
        _ = x < Rule()
    with pytest.raises(PatternError, match="put parentheses"):
        x + Rule()


def test_only_a_rest_can_be_unpacked() -> None:
    x, rest = Logic("x"), Logic("xs", rest=True)
    assert join(x, *rest).args == (x, rest)
    with pytest.raises(PatternError, match="x cannot be unpacked"):
        join(*x)
    with pytest.raises(PatternError, match=r"log\(x\) cannot be unpacked"):
        join(*log(x))


def test_variables_in_a_term_from_left_to_right() -> None:
    x, y, z = (LogicVariable(c) for c in "xyz")
    assert logic_variables(add(y, log(x), mul(y, z))) == [y, x, z]
    assert logic_variables(e(e(Scale, z), x)) == [z, x]
    assert logic_variables((1, [x], slice(y, None))) == [x, y]
    assert logic_variables(log(num("x"))) == []


def test_reify_keeps_open_patterns_and_what_does_not_change() -> None:
    x, y = LogicVariable("x"), LogicVariable("y")
    p = add(log(x), log(y))
    assert reify(p, {}) is p
    q = reify(p, {x: num("v")})
    assert isinstance(q, PatternTerm)
    assert q.args[1] is p.args[1]
    assert reify(x, {x: log(y)}) == log(y)


def test_nth_of_a_pattern() -> None:
    x = LogicVariable("x")
    p = nth(1, PatternTerm(e(divmod_, x, 2)))
    assert p == e(nth, 1, e(divmod_, x, 2))
    assert repr(p) == "DivMod(x, 2)[1]"


def test_a_class_of_ops_with_an_open_parameter() -> None:
    q, x = Logic("q"), Logic("x")
    p = Scale(q)(x)
    assert type(p) is Pattern
    assert p == e(e(Scale, q), x)
    assert repr(p) == "Scale(q)(x)"
    v = num("v")
    assert unify(p, Scale(2.0)(v)) == {q: 2.0, x: v}
    assert reify(p, {q: 2.0, x: v}).owner.op is Scale(2.0)
