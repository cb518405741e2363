"""Terms as text."""

from __future__ import annotations

from typing import Any

import pytest
from etuples import etuple as e

from rewrite_engine.terms import LogicVariable, PatternTerm, etuple_text, etuplize, term_text
from rewrite_engine.terms.convert import GraphTuple
from rewrite_engine.terms.print import brief, write
from tests.match.language import make
from tests.toy import Scale, ToyOp, add, const, divmod_, log, mul, neg, num, sub

a, b, c = (LogicVariable(s) for s in "abc")


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (log(add(1, a)), "log(1 + a)"),
        (add(a, b, c), "a + b + c"),
        (add(a, add(b, c)), "a + (b + c)"),
        (sub(sub(a, b), sub(b, c)), "a - b - (b - c)"),
        (mul(add(a, b), neg(c)), "(a + b) * -c"),
        (neg(add(a, b)), "-(a + b)"),
        (neg(neg(a)), "--a"),
        (neg(mul(a, b)), "-(a * b)"),
        (e("pow", neg(a), 2), "(-a) ** 2"),
        (neg(PatternTerm(e("pow", a, 2))), "-a ** 2"),
        (e("pow", -1, e("pow", a, -2)), "(-1) ** a ** -2"),
        (e("pow", e("pow", a, b), c), "(a ** b) ** c"),
        (e("true_div", a, mul(b, c).etuple), "a / (b * c)"),
        (e("lt", add(a, b).etuple, e("lt", b, c)), "a + b < (b < c)"),
        (e("and_", e("lt", a, b), c), "(a < b) & c"),
        (e("dot", a, e("dot", b, c)), "a @ (b @ c)"),
        (e("f", a, key=b), "f(a, key=b)"),
        (e(e(Scale, a), b), "Scale(a)(b)"),
        (e(), "e()"),
        (PatternTerm(e(Scale(2.0), a)), "Scale{by=2.0}(a)"),
        (a, "a"),
    ],
)
def test_ordinary_notation(term: Any, text: str) -> None:
    assert term_text(term) == text


def test_repr_of_patterns_and_terms() -> None:
    x = num("x")
    assert repr(log(add(1, a))) == str(log(add(1, a))) == "log(1 + a)"
    assert repr(etuplize(log(add(const(1.5), x)))) == "e(log, e(add, 1.5, x))"
    assert etuple_text(e(Scale, "s", key=a)) == "e(Scale, 's', key=a)"


def test_text_is_cut() -> None:
    t: Any = a
    for _ in range(200):
        t = GraphTuple((add, t, t))
    assert term_text(t, limit=20) == "a + a + (a + a) + (a…"[:20] + "…"


def test_one_writer_for_graphs_terms_and_patterns() -> None:
    x, y = num("x"), num("y")
    term = add(log(mul(x, -2.0)), divmod_(x, y)[1])
    text = "log(x * -2.0) + DivMod(x, y)[1]"
    assert write(term) == write(etuplize(term)) == write(term.owner) == text
    assert write(etuplize(term, shallow=True)) == text
    assert write(term, depth=1) == "… + …"
    assert write(term, limit=6) == "log(x …"
    assert write(add(x, y, x, y), width=2) == "x + y + … 2 more"
    assert write(term, name=lambda v: "A" if v is term.owner.inputs[0] else v.name) == (
        "A + DivMod(x, y)[1]"
    )


def test_a_negative_number_is_a_sign_applied_to_a_number() -> None:
    power = ToyOp("pow", 2)
    x = num("x")
    assert write(power(const(-2.0), power(x, const(-2.0)))) == "(-2.0) ** x ** -2.0"
    assert brief(power(const(-2.0), x)) == "(-2.0) ** x"
    rule = make(lambda a: power(-1, a) >> power(a, -1))
    assert rule.text == "(-1) ** a -> a ** -1"


def test_a_term_of_many_operands_is_cut() -> None:
    assert len(brief(add(*[num(f"x{i}") for i in range(5000)]))) < 2100


def test_deep_terms_are_written_without_recursion() -> None:
    term = num("x")
    for _ in range(20_000):
        term = neg(term)
    assert write(term) == "-" * 20_000 + "x"
