"""`@equation`: two sides without a direction, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kanren
import pytest

from rewrite_engine.errors import PatternError, RuleError, UnboundVariableError
from rewrite_engine.match.claim import approx
from rewrite_engine.match.decorate import compute
from rewrite_engine.match.equation import Equation, equation
from rewrite_engine.match.fact import because, fact, given, unknown
from rewrite_engine.match.pattern import Prop, Rest
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.terms import etuplize
from rewrite_engine.terms.convert import from_term
from rewrite_engine.terms.logic import LogicVariable
from tests.match.language import Positive, ToyVariable, ask, p, q, same, x, y, z
from tests.toy import Scale, add, exp, log, mul, sin, sub


def make(fn: Callable[..., Any], doc: str = "An equation made by a test.", **options: Any) -> Any:
    fn.__doc__ = doc
    fn.__name__ = "made"
    return equation(variable=ToyVariable, **options)(fn)


@fact
def known_positive(a: Any) -> Any:
    """Told by the type."""
    return because("its type says so") if a.type.positive else unknown("no idea")


factor = make(lambda a, b, c: (a * b + a * c, a * (b + c)), claim=approx(2), tags=["factor"])


def test_what_an_equation_is() -> None:
    assert repr(factor) == "test_equation/made: a * b + a * c == a * (b + c)"
    assert factor.phase == "saturate"
    assert factor.claim == approx(2)
    assert factor.prefer is None
    assert {"saturate", "factor", "approx", "made", "test_equation/made"} <= factor.names
    assert factor.where[0].endswith("test_equation.py")


def test_parentheses_show_the_order_of_a_chain() -> None:
    chain = make(lambda a, b, c: ((a - b) - c, a - (b + c)))
    assert repr(chain) == "test_equation/made: (a - b) - c == a - (b + c)"


def test_the_two_directions_are_data_rules() -> None:
    there, back = factor.forward, factor.backward
    assert repr(there) == "test_equation/made.forward: a * b + a * c -> a * (b + c)"
    assert repr(back) == "test_equation/made.backward: a * (b + c) -> a * b + a * c"
    for rule in (there, back):
        assert isinstance(rule, DataRule)
        assert rule.claim is factor.claim
        assert rule.equation is factor
        assert factor.name in rule.names
    apart, together = add(mul(x, y), mul(x, z)), mul(x, add(y, z))
    assert same(ask(there, apart), together)
    assert same(ask(back, together), apart)
    assert ask(there, together) is None
    assert ask(back, apart) is None


def test_either_direction_by_apply_and_by_relation() -> None:
    apart, together = add(mul(x, y), mul(x, z)), mul(x, add(y, z))
    assert same(factor.transform(None, apart.owner), together)
    assert same(factor.transform(None, together.owner), apart)
    assert factor.transform(None, sin(x).owner) is None
    answer = LogicVariable("q")
    for term, wanted in ((apart, together), (together, apart)):
        found = kanren.run(0, answer, factor.goal(etuplize(term), answer))
        assert any(same(from_term(f), wanted) for f in found)


def test_guards_and_sorts_count_in_both_directions() -> None:
    logs = make(
        lambda a, b: (log(a * b), log(a) + log(b), given(known_positive(a), known_positive(b)))
    )
    assert repr(logs).endswith("given known_positive(a) and known_positive(b)")
    assert ask(logs.forward, log(mul(p, q))) is not None
    assert ask(logs.forward, log(mul(p, x))) is None
    assert ask(logs.backward, add(log(p), log(q))) is not None
    assert ask(logs.backward, add(log(p), log(x))) is None

    def sorted_logs(a: Positive, b: Positive):  # type: ignore[valid-type]
        return log(a * b), log(a) + log(b)

    assert ask(make(sorted_logs).backward, add(log(p), log(x))) is None


def test_parameters_of_ops() -> None:
    def scaled(a, b, by: Prop):
        return Scale(by=by)(a) + Scale(by=by)(b), Scale(by=by)(a + b)

    both = make(scaled)
    term = Scale(3.0)(add(x, y))
    assert same(ask(both.backward, term), add(Scale(3.0)(x), Scale(3.0)(y)))
    assert ask(both.forward, add(Scale(3.0)(x), Scale(2.0)(y))) is None


def test_in_sets_and_queries() -> None:
    chosen = RuleSet([factor])
    assert list(chosen.phase("saturate")) == [factor]
    assert not len(chosen.excluding("made"))
    assert not len(chosen.excluding(approx))
    assert list(chosen.requiring("factor")) == [factor]
    assert isinstance(chosen["made"], Equation)


def fails(fn: Callable[..., Any], part: str, cls: type[RuleError] = PatternError, **opts: Any):
    with pytest.raises(cls) as info:
        make(fn, **opts)
    text = str(info.value)
    assert text.startswith(f"rule test_equation/made ({__file__}:{fn.__code__.co_firstlineno}")
    assert part in text


def test_variables_that_one_side_does_not_bind() -> None:
    cls = UnboundVariableError
    fails(lambda a, b: (sin(a), add(a, b)), "the right side uses b", cls)
    fails(lambda a, b: (sub(a, b), sin(a)), "the left side uses b, which the right", cls)
    fails(
        lambda a, b: (sin(a), exp(a), given(known_positive(b))),
        "the guard known_positive(b) uses b",
        cls,
    )
    fails(lambda a, b: (sin(a), exp(a)), "the parameter b does not occur")


def test_sides_that_are_none() -> None:
    fails(lambda a: (a, sin(a)), "the left side a is not an op")
    fails(lambda a: (sin(a), a), "the right side a is not an op: it would match everything; with")
    fails(lambda a: sin(a), "must return `left, right`")
    fails(lambda a: sin(a) >> exp(a), "has a direction")
    fails(lambda a: (sin(a) >> exp(a), given(known_positive(a))), "has a direction")
    fails(lambda a: (sin(a), compute(lambda a: a)), "a computed side")
    fails(lambda a: (sin(a), exp(a), sin(a)), "has two sides and `given(...)`")

    def sums(xs: Rest):
        return sin(add(xs)), add(xs)

    fails(sums, "add(*xs) would match everything, as a sum of one")
    fails(lambda a=1: (sin(a), exp(a)), "an operand with a default needs one other")


def test_a_rest_is_in_both_directions() -> None:
    def factored(a, b, c, rest: Rest):
        return a * b + a * c + rest, a * (b + c) + rest

    both = make(factored)
    assert repr(both) == "test_equation/made: a * b + a * c + *rest == a * (b + c) + *rest"
    apart, together = add(x, mul(y, x), mul(z, x)), add(mul(x, add(y, z)), x)
    assert same(ask(both.forward, apart), together)
    assert same(ask(both.backward, together), add(mul(x, y), mul(x, z), x))


def test_other_mistakes() -> None:
    fails(lambda a: (sin(a), exp(a)), "a function of a node, such as flops", prefer="flops")
    with pytest.raises(PatternError, match="has no docstring"):
        make(lambda a: (sin(a), exp(a)), doc="")


def test_both_sides_the_same() -> None:
    """What matching knows by itself would only make work."""
    for sides in (
        lambda x, y: (add(x, y), add(y, x)),
        lambda x, y, z: (add(add(x, y), z), add(x, add(y, z))),
        lambda x, y: (sin(mul(x, y)), sin(mul(y, x))),
    ):
        sides.__doc__ = "Nothing new."
        with pytest.raises(PatternError, match="both sides are the same"):
            Equation(sides)


@pytest.mark.parametrize("more", [(), (given(lambda a: True),)])
def test_equality_of_patterns_is_no_equation(more: tuple[Any, ...]) -> None:
    fails(lambda a: (sin(a) == a, *more) if more else sin(a) == a, "return both sides")
