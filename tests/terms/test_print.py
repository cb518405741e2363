"""Terms as text."""

from __future__ import annotations

from typing import Any

import pytest
from etuples import etuple as e

from rewrite_engine.terms import LogicVariable, PatternTerm, etuple_text, etuplize, term_text
from rewrite_engine.terms.expression import GraphTuple
from tests.toy import Scale, add, const, log, mul, neg, num, sub

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
