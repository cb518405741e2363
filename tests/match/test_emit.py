"""Compiled matchers: what they bind and make, each beside the term it is asked about."""

from __future__ import annotations

import inspect
import linecache
import math
import traceback
from typing import Any

import pytest

from rewrite_engine.graph.node import Variable
from rewrite_engine.match.decorate import compute
from rewrite_engine.match.emit import RuleEmitter
from rewrite_engine.match.fact import given
from rewrite_engine.match.find import find
from rewrite_engine.match.pattern import Const, Prop, Rest
from rewrite_engine.terms.convert import make as graph_tuple
from rewrite_engine.terms.logic import LogicVariable
from tests.match.language import Positive, ask, make, named_x, p, same, x, y, z
from tests.toy import Scale, ToyOp, add, const, divmod_, exp, join, log, mul, neg, num, sin, sub


def check(rule: Any, table: list[tuple[Variable, Variable | None]]) -> None:
    """The rule makes of each term on the left what stands beside it."""
    for term, expected in table:
        assert same(ask(rule, term), expected), term


def test_one_level() -> None:
    check(
        make(lambda a: neg(neg(a)) >> a),
        [
            (neg(neg(x)), x),
            (neg(neg(sin(x))), sin(x)),
            (neg(x), None),
            (neg(sin(neg(x))), None),
            (sin(x), None),
        ],
    )


def test_several_levels() -> None:
    check(
        make(lambda a, b: sub(log(exp(a)), sin(b)) >> add(a, exp(b))),
        [
            (sub(log(exp(x)), sin(y)), add(x, exp(y))),
            (sub(log(exp(x)), sin(x)), add(x, exp(x))),
            (sub(log(x), sin(y)), None),
            (sub(sin(y), log(exp(x))), None),
        ],
    )


def test_a_variable_that_occurs_twice() -> None:
    check(
        make(lambda a: sub(sin(a), exp(a)) >> a),
        [
            (sub(sin(x), exp(x)), x),
            (sub(sin(x), exp(y)), None),
            (sub(sin(log(x)), exp(log(x))), None),  # equal, but not one term: graphs merge them
        ],
    )
    shared = log(x)
    assert ask(make(lambda a: sub(sin(a), exp(a)) >> a), sub(sin(shared), exp(shared))) is shared


def test_both_orders_of_a_commutative_op() -> None:
    swap = make(lambda a, b: add(sin(a), b) >> sub(a, b))
    check(
        swap,
        [
            (add(sin(x), y), sub(x, y)),
            (add(y, sin(x)), sub(x, y)),
            (add(sin(x), sin(y)), sub(x, sin(y))),  # the given order comes first
            (add(x, y), None),
            (add(sin(x), y, z), sub(x, add(y, z))),  # a bare hole takes all that is left
        ],
    )
    check(make(lambda a, b: sub(sin(a), b) >> a), [(sub(y, sin(x)), None)])


def test_orders_inside_orders() -> None:
    inner = make(lambda a, b, c: add(mul(a, sin(b)), exp(c)) >> sub(sub(a, b), c))
    expected = sub(sub(x, y), z)
    check(
        inner,
        [
            (add(mul(x, sin(y)), exp(z)), expected),
            (add(mul(sin(y), x), exp(z)), expected),
            (add(exp(z), mul(x, sin(y))), expected),
            (add(exp(z), mul(sin(y), x)), expected),
            (add(exp(z), mul(x, y)), None),
        ],
    )


def test_an_order_is_given_up_when_a_guard_refuses() -> None:
    rule = make(lambda a, b: (add(a, b) >> a, given(lambda a: a.name == "y")))
    check(rule, [(add(x, y), y), (add(y, x), y), (add(x, z), None)])
    second = make(lambda a, b: add(a, b) >> compute(lambda a: a if a.name == "y" else None))
    check(second, [(add(x, y), y), (add(x, z), None)])


NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.5, math.inf, -math.inf, math.nan, 1e300, 5e-324]


@pytest.mark.parametrize("wanted", [*NUMBERS, 0, 1, 2, True, False])
def test_literals(wanted: Any) -> None:
    rule = make(lambda a: sub(a, wanted) >> a)
    for number in NUMBERS:
        term = sub(x, num.make_constant(number))
        hits = number == wanted or (number != number and wanted != wanted)
        if wanted == 0:
            hits = number == 0 and math.copysign(1, number) == math.copysign(1, wanted)
        if isinstance(wanted, bool):
            hits = False
        assert ask(rule, term) is (x if hits else None), (wanted, number)
    assert ask(rule, sub(x, y)) is None
    assert ask(rule, sub(x, sin(const(1.0)))) is None


def test_a_truth_value_is_no_number() -> None:
    class Flag(type(num)):
        __props__ = ("positive", "flag")
        flag = True

        def filter(self, value: Any, *_: Any, **__: Any) -> Any:
            return value

    true, one = Flag().make_constant(True), num.make_constant(1.0)
    assert ask(make(lambda a: sub(a, True) >> a), sub(x, true)) is x
    assert ask(make(lambda a: sub(a, True) >> a), sub(x, one)) is None
    assert ask(make(lambda a: sub(a, 1) >> a), sub(x, true)) is None


def test_numbers_on_the_right() -> None:
    zero = make(lambda a: sub(a, a) >> 0)
    check(zero, [(sub(x, x), num.make_constant(0.0)), (sub(x, y), None)])
    check(make(lambda a: sin(a) >> sub(a, 2)), [(sin(x), sub(x, const(2.0)))])


def test_an_op_without_operands_on_both_sides() -> None:
    empty = ToyOp("empty", 0)
    nothing = LogicVariable.pattern_type(graph_tuple((empty,)))
    check(
        make(lambda a: sub(nothing, a) >> neg(nothing)),
        [(sub(empty(), x), neg(empty())), (sub(x, empty()), None)],
    )


def test_parameters_of_ops() -> None:
    def parameter(a: Any, f: Prop) -> Any:
        return sin(Scale(by=f)(a)) >> Scale(by=f)(sin(a))

    check(
        make(parameter),
        [
            (sin(Scale(2.0)(x)), Scale(2.0)(sin(x))),
            (sin(Scale(-0.0)(x)), Scale(-0.0)(sin(x))),
            (sin(x), None),
        ],
    )

    def twice(a: Any, f: Prop) -> Any:
        return Scale(by=f)(Scale(by=f)(a)) >> a

    check(make(twice), [(Scale(2.0)(Scale(2.0)(x)), x), (Scale(2.0)(Scale(3.0)(x)), None)])
    check(make(lambda a: Scale(2.0)(a) >> a), [(Scale(2.0)(x), x), (Scale(3.0)(x), None)])


def test_a_computed_right_side_gets_parameters() -> None:
    def fused(a: Any, f: Prop, g: Prop) -> Any:
        return Scale(f)(Scale(g)(a)) >> compute(lambda a, f, g: Scale(f * g)(a) if f else None)

    check(
        make(fused),
        [(Scale(2.0)(Scale(3.0)(x)), Scale(6.0)(x)), (Scale(0.0)(Scale(3.0)(x)), None)],
    )


def test_only_the_very_class_of_an_op() -> None:
    class Wider(Scale):
        __props__ = ("by",)

    def rule(a: Any, f: Prop) -> Any:
        return Scale(f)(a) >> a

    made = make(rule)
    assert ask(made, Scale(2.0)(x)) is x
    assert ask(made, Wider(2.0)(x)) is None
    assert not made.considers(Wider(2.0))
    assert ask(make(lambda a: sin(Scale(2.0)(a)) >> a), sin(Wider(2.0)(x))) is None


def test_a_rest() -> None:
    def front(a: Any, xs: Rest) -> Any:
        return join(sin(a), *xs) >> add(a, *xs)

    check(
        make(front),
        [
            (join(sin(x), y, z), add(x, y, z)),
            (join(sin(x)), x),
            (join(y, sin(x)), None),
        ],
    )

    def back(a: Any, xs: Rest) -> Any:
        return join(*xs, sin(a)) >> add(a, *xs)

    check(make(back), [(join(y, z, sin(x)), add(x, y, z)), (join(sin(x)), x)])


def flat(xs: Rest, ys: Rest, zs: Rest) -> Any:
    return join(*xs, join(*ys), *zs) >> join(*xs, *ys, *zs)


flat_rule = make(flat)


def test_rests_anywhere() -> None:
    def middle(a: Any, b: Any, xs: Rest) -> Any:
        return join(exp(a), *xs, exp(b)) >> join(b, *xs, a)

    check(
        make(middle),
        [
            (join(exp(x), y, z, exp(z)), join(z, y, z, x)),
            (join(exp(x), exp(y)), join(y, x)),
            (join(exp(x)), None),
        ],
    )

    check(
        flat_rule,
        [
            (join(x, join(y, z), p), join(x, y, z, p)),
            (join(join(x)), join(x)),
            (join(join(x, y), join(z)), join(x, y, join(z))),  # few before many
            (join(x, y), None),
        ],
    )

    def same_rest(xs: Rest) -> Any:
        return sub(join(*xs), add(*xs)) >> mul(*xs)

    check(
        make(same_rest),
        [
            (sub(join(x, y), add(x, y)), mul(x, y)),
            (sub(join(x, y), add(y, x)), None),
            (sub(join(x, y), add(x)), None),
        ],
    )


def test_two_things_in_a_row() -> None:
    def pair(a: Any, b: Any, xs: Rest, ys: Rest) -> Any:
        return join(*xs, sin(a), sin(b), *ys) >> join(*xs, sin(add(a, b)), *ys)

    check(
        make(pair),
        [
            (join(x, sin(y), sin(z), p), join(x, sin(add(y, z)), p)),
            (join(sin(y), sin(z)), join(sin(add(y, z)))),
            (join(sin(y), x, sin(z)), None),
            (join(sin(y), x, sin(z), sin(p)), join(sin(y), x, sin(add(z, p)))),
        ],
    )


def test_sorts_and_predicates() -> None:
    def positive(a: Positive) -> Any:
        return log(exp(a)) >> a

    check(make(positive), [(log(exp(p)), p), (log(exp(x)), None), (log(exp(exp(x))), exp(x))])

    def predicate(a: named_x) -> Any:
        return sin(a) >> a

    check(make(predicate), [(sin(x), x), (sin(y), None)])

    def constant(a: Any, c: Const) -> Any:
        return add(a, c) >> sub(a, c)

    one = const(1.0)
    check(
        make(constant),
        [(add(x, one), sub(x, one)), (add(one, x), sub(x, one)), (add(x, y), None)],
    )


def test_a_node_with_several_outputs_is_no_term() -> None:
    quotient, remainder = divmod_(x, y)
    rule = make(lambda a: sin(a) >> a)
    assert ask(rule, sin(quotient)) is quotient
    assert rule.transform(None, remainder.owner) is None
    assert ask(make(lambda a, b: sin(sub(a, b)) >> a), sin(quotient)) is None


def test_the_source_can_be_read() -> None:
    rule = make(lambda a: add(sin(a), 1.0) >> sub(a, a))
    source = inspect.getsource(rule.apply)
    assert source.startswith("def match(fgraph, node):")
    assert "# test_emit/made: sin(a) + 1.0 -> a - a" in source
    assert linecache.getline("<rule test_emit/made>", 1).startswith("def match")


def test_a_traceback_names_the_rule() -> None:
    def explode(a: Any) -> Any:
        raise ZeroDivisionError("in a guard")

    rule = make(lambda a: (sin(a) >> a, given(explode)))
    with pytest.raises(ZeroDivisionError) as info:
        rule.apply(None, sin(x).owner)
    text = "".join(traceback.format_exception(info.value))
    assert 'File "<rule test_emit/made>"' in text
    assert "guard(" in text


NAMES = ["inputs", "node", "len", "lambda", "v1", "p2", "apply_op", "None", "r", "a b"]


def turned(one: Any, two: Any) -> Any:
    return make(lambda a: one(two(a)) >> two(one(a)))


def test_names_of_ops_do_not_clash() -> None:
    class Odd(Scale):
        __props__ = ("by",)

        def __str__(self) -> str:
            return NAMES[int(self.by)]

    ops = [Odd(float(i)) for i in range(len(NAMES))]
    for one, two in zip(ops, ops[1:] + ops[:1]):
        check(turned(one, two), [(one(two(x)), two(one(x)))])


def test_local_names_are_few() -> None:
    """Numbered anew for each rule: hundreds of locals would be slow. (Since Python 3.12 those of
    comprehensions count, too.)
    """
    rule = make(lambda a, b, c: add(mul(a, b), mul(a, c)) >> mul(a, add(b, c)))
    assert rule.apply.__code__.co_nlocals < 30
    source, _ = RuleEmitter(rule.lowered, rule.name, rule.text).emit()
    assert source.count("for ") <= 8


def test_more_operands_than_python_nests_loops() -> None:
    """20 loops in each other, and 100 levels of indentation, are what Python compiles."""

    def many(a: Any, rest: Rest) -> Any:
        tens = [mul(num_of(i), sin(add(a, num_of(i)))) for i in range(12)]
        return add(*tens, *rest) >> sub(a, add(0, *rest))

    def num_of(i: int) -> float:
        return float(i + 2)

    def deep(a: Any) -> Any:
        return nested(a) >> a

    def nested(a: Any) -> Any:
        for _ in range(55):
            a = sub(sin(a), 3.0)
        return a

    terms = [mul(sin(add(num_of(i), x)), num_of(i)) for i in range(12)]
    rule = make(many)
    check(
        rule,
        [
            (add(y, *terms, z), sub(x, add(0.0, y, z))),
            (add(*terms[::-1]), sub(x, 0.0)),
            (add(*terms[1:], y), None),
        ],
    )
    check(make(deep), [(nested(x), x), (sub(sin(nested(x)), 2.0), None)])
    assert [m["a"] for m in find([add(y, *terms)], rule)] == [x]
