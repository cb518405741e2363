"""Equal terms become one, outside of a graph."""

from __future__ import annotations

from rewrite_engine.graph.replace import Shared
from tests.match.language import x, y
from tests.toy import add, const, divmod_, log, sin, sub


def test_equal_terms_are_one_and_others_are_themselves() -> None:
    shared = Shared()
    a, b = sin(sub(x, y)), sin(sub(x, y))
    assert shared(a) is a
    assert shared(b) is a
    assert shared(sin(y)) is not a
    assert shared(add(const(2.0), x)) is shared(add(const(2.0), x))
    assert shared(add(const(2.0), x)) is not shared(add(const(3.0), x))


def test_what_is_above_equal_terms_is_copied() -> None:
    term = sub(log(x), log(x))
    own = Shared()(term)
    assert own is not term
    assert own.owner.inputs[0] is own.owner.inputs[1] is term.owner.inputs[0]
    assert term.owner.inputs[0] is not term.owner.inputs[1]  # the given one is left alone


def test_copies_remember_whose_they_are() -> None:
    shared, term = Shared(), sin(sub(log(x), log(x)))
    own = shared(term)
    assert shared.first[own] is term
    assert shared.first[own.owner.inputs[0]] is term.owner.inputs[0]


def test_each_output_is_the_same_one() -> None:
    shared = Shared()
    (a, b), (c, d) = divmod_(x, y), divmod_(x, y)
    assert shared(a) is shared(c) is a
    assert shared(d) is shared(b) is b


def test_a_deep_term() -> None:
    a, b = x, x
    for _ in range(20_000):
        a, b = sin(a), sin(b)
    shared = Shared()
    assert shared(a) is shared(b)
