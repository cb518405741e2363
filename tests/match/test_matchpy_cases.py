"""Matching as the documentation and the tests of MatchPy (Krebber, Barthels) describe it.

How its notions map to ours. `x_` (one expression): a variable; in an associative-commutative op, a
variable that occurs once may take several operands, joined, as it does there. `x___` (any number):
`Rest`. `x__` (one or more): a variable and a rest. `_`: a variable that nobody else uses. A symbol
that must be itself: a sort. A constraint: a guard. `match` yields all substitutions: so does
`find(…, every=True)`; equal ones count once. Many-to-one: a `RuleSet`. In an associative op below
the root, a variable that occurs once takes one or more operands, too; one that occurs twice takes
one. Not ours: commutative ops with more than two operands that do not associate.
"""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.graph.replace import Shared
from rewrite_engine.match.fact import given
from rewrite_engine.match.pattern import Const, Rest
from rewrite_engine.match.ruleset import RuleSet
from tests.match.cases import a, answers, b, c, check, f, f2, fa, fac, fc, g
from tests.match.language import make


def is_a(v: Any) -> bool:
    return v is a


def is_b(v: Any) -> bool:
    return v is b


def is_c(v: Any) -> bool:
    return v is c


def one_rest(x: Rest) -> Any:
    return f(*x)


def two_rests(x: Rest, y: Rest) -> Any:
    return f(*x, *y)


def same_rests(x: Rest) -> Any:
    return f(*x, *x)


def around_b(x: Rest, k: is_b, y: Rest) -> Any:
    return f(*x, k, *y)


def around_b_same(x: Rest, k: is_b) -> Any:
    return f(*x, k, *x)


def around_a(x: Rest, k: is_a, y: Rest) -> Any:
    return f(*x, k, *y)


def in_the_middle(x: Rest, y: Any, z: Rest) -> Any:
    return f(*x, y, *z)


def plus(x: Any, xs: Rest) -> Any:
    return f(x, *xs)


def rest_and_inner(x: Rest, y: Rest) -> Any:
    return f(*x, f2(*y))


def rest_again_inside(x: Rest) -> Any:
    return f(*x, f2(*x))


def all_rests(wanted: str, *names: str) -> list[dict[str, Any]]:
    """Ways to split, written as in "a|bc": the operands of each rest."""
    letters = {"a": a, "b": b, "c": c}
    return [
        dict(zip(names, [tuple(letters[ch] for ch in part) for part in way.split("|")]))
        for way in wanted.split()
    ]


SYNTACTIC = [
    (f(a), lambda x: f(x), [dict(x=a)]),
    (f2(a), lambda x: f(x), []),
    (f(a, b), lambda x: f(x), []),
    (f(a, b), lambda x: f(x, x), []),
    (f(a, a), lambda x: f(x, x), [dict(x=a)]),
    (f(a, b), lambda x, y: f(x, y), [dict(x=a, y=b)]),
    (f(a), lambda x, y: f(x, y), []),
    (f(a, b, c), lambda x, y: f(x, y), []),
    (f(a, f2(b)), lambda x, y: f(x, y), [dict(x=a, y=f2(b))]),
    (f(a, f2(b)), lambda x, y: f(x, f2(y)), [dict(x=a, y=b)]),
    (f(a, f2(b)), lambda x: f(x, f2(x)), []),
    (f(a, f2(a)), lambda x: f(x, f2(x)), [dict(x=a)]),
    (f(f2(a), a), lambda x: f(f2(x), x), [dict(x=a)]),
    (f(f(a, b)), lambda x: f(x), [dict(x=f(a, b))]),
    (f(f(a, b)), lambda x, y: f(f(x, y)), [dict(x=a, y=b)]),
    (f2(a, b), lambda x, y: f(x, y), []),
]

SEQUENCES = [
    (f(a), one_rest, all_rests("a", "x")),
    (f(a, b), one_rest, all_rests("ab", "x")),
    (f2(a), one_rest, []),
    (f(a, b), same_rests, []),
    (f(a, a), same_rests, all_rests("a", "x")),
    (f(a, b, a, b), same_rests, all_rests("ab", "x")),
    (f(a, b, a, a), same_rests, []),
    (f(a, b), two_rests, all_rests("|ab a|b ab|", "x", "y")),
    (f(a, b, c), two_rests, all_rests("|abc a|bc ab|c abc|", "x", "y")),
    (f(a, a, a), around_b, []),
    (f(a, b, a, b), around_b, [dict(x=(a,), k=b, y=(a, b)), dict(x=(a, b, a), k=b, y=())]),
    (f(a, b, a), around_b_same, [dict(x=(a,), k=b)]),
    (f(a, b, a, a), around_b_same, []),
    (f(a, b, a, b, a, b, a), around_b_same, [dict(x=(a, b, a), k=b)]),
    (f(a), around_a, [dict(x=(), k=a, y=())]),
    (f(a, b, a), around_a, [dict(x=(), k=a, y=(b, a)), dict(x=(a, b), k=a, y=())]),
    (f(a, a, a), around_a,
     [dict(x=x, k=a, y=y) for x, y in [((), (a, a)), ((a,), (a,)), ((a, a), ())]]),
    (f(a, b, c), in_the_middle, [dict(x=(), y=a, z=(b, c)), dict(x=(a,), y=b, z=(c,)),
                                 dict(x=(a, b), y=c, z=())]),
    (f(a, b, c), plus, [dict(x=a, xs=(b, c))]),
    (f(a), plus, [dict(x=a, xs=())]),
    (f(a, f2(b)), rest_and_inner, [dict(x=(a,), y=(b,))]),
    (f(a, f2(a)), rest_again_inside, [dict(x=(a,))]),
    (f(a, f2(b)), rest_again_inside, []),
]  # fmt: skip


def with_optional(k: is_a, x: Const = 7) -> Any:
    return g(fac(k, x))


def any_rest(x: Any, rest: Rest) -> Any:
    return fac(g(x), *rest)


def both_rests(x: Rest, y: Rest) -> Any:
    return fac(*x, *y)


def one_rest_twice(x: Rest, y: Rest) -> Any:
    return fac(*x, *y, *x)


def rests_around(x: Rest, k: is_b, y: Rest) -> Any:
    return fac(*x, k, *y)


def b_and_any(k: is_b, x: Any) -> Any:
    return g(fac(k, x))


def a_and_pair(x: Any, k: is_a, y: Any) -> Any:
    return g(fac(x, k, y, y))


def b_and_pair(x: Any, k: is_b, y: Any) -> Any:
    return g(fac(x, k, y, y))


def in_a_row(x: Rest, y: Rest) -> Any:
    return g(fa(*x, *y))


def twice_in_a_row(x: Rest) -> Any:
    return g(fa(*x, *x))


def around_b_in_a_row(x: Rest, k: is_b, y: Rest) -> Any:
    return fa(*x, k, *y)


COMMUTATIVE = [
    (fc(a, b), lambda x: fc(x, x), []),
    (fc(a, a), lambda x: fc(x, x), [dict(x=a)]),
    (fc(g(a), g(b)), lambda x, y: fc(g(x), g(y)), [dict(x=a, y=b), dict(x=b, y=a)]),
    (fc(g(a), g(b)), lambda x: fc(g(x), g(x)), []),
    (fc(g(a), g(a)), lambda x: fc(g(x), g(x)), [dict(x=a)]),
    (fc(g(a), g(b)), lambda x, y: fc(g(x), y), [dict(x=a, y=g(b)), dict(x=b, y=g(a))]),
    (fc(g(a), g(a)), lambda x: fc(g(x), x), []),
    (fc(g(a), a), lambda x: fc(g(x), x), [dict(x=a)]),
    (fc(a, g(a)), lambda x: fc(g(x), x), [dict(x=a)]),
    (fc(g(a), a), lambda x, y: fc(g(x), g(y)), []),
    (f(f(a), fc(a, a)), lambda x: f(f(x), fc(x, x)), [dict(x=a)]),
]

#: those with an op around match all operands, as there; at the root of a pattern others are left
ASSOCIATIVE_COMMUTATIVE = [
    (g(fac(a, b, a, a, b)), lambda x, y: g(fac(x, x, x, y, y)), [dict(x=a, y=b)]),
    (g(fac(a, b, a, b)), lambda x, y: g(fac(x, x, y, y)), [dict(x=a, y=b), dict(x=b, y=a)]),
    (g(fac(a, b, a, b)), lambda x, y: g(fac(x, x, x, y, y)), []),
    (g(fac(a, b, a, b)), a_and_pair, [dict(x=a, k=a, y=b)]),
    (g(fac(a, b, b, b)), b_and_pair, [dict(x=a, k=b, y=b)]),
    (g(fac(a, a, b)), b_and_any, [dict(k=b, x=fac(a, a))]),
    (g(fac(a, b)), b_and_any, [dict(k=b, x=a)]),
    (f(b, fac(a, a)), lambda x: f(g(x), fac(x, x)), []),
    (fac(g(a), b, c), any_rest, [dict(x=a, rest=(b, c))]),
    (fac(g(a), b, g(c)), any_rest, [dict(x=a, rest=(b, g(c))), dict(x=c, rest=(g(a), b))]),
    (fac(a, b), both_rests, all_rests("|ab a|b b|a ab|", "x", "y")),
    (fac(a, a), both_rests, all_rests("|aa a|a aa|", "x", "y")),
    (fac(a, b, a), one_rest_twice, all_rests("|aba a|b", "x", "y")),
    (fac(a, b, c), rests_around, [w | {"k": b} for w in all_rests("|ac a|c c|a ac|", "x", "y")]),
    (g(fac(a, b)), with_optional, []),
    (g(a), with_optional, [dict(k=a, x=7)]),
    (f(f(fac(a, b)), fac(a, b)), lambda x: f(f(x), x), [dict(x=fac(a, b))]),
]


ASSOCIATIVE = [
    (g(fa(a, b, c)), lambda x, y: g(fa(x, y)), [dict(x=a, y=fa(b, c)), dict(x=fa(a, b), y=c)]),
    (g(fa(a, b, a)), lambda x, y: g(fa(x, y, x)), [dict(x=a, y=b)]),
    (g(fa(a, b, c, a)), lambda x, y: g(fa(x, y, x)), [dict(x=a, y=fa(b, c))]),
    (g(fa(a, b)), lambda x, y: g(fa(x, y, x)), []),
    (g(fa(a, b)), lambda x: g(x), [dict(x=fa(a, b))]),
    (g(fa(a, b, c)), in_a_row, all_rests("|abc a|bc ab|c abc|", "x", "y")),
    (g(fa(a, b, a, b)), twice_in_a_row, [dict(x=(a, b))]),
    (g(fa(a, b, c)), lambda x: g(fa(g(x), x)), []),
    (fa(a, a, b), lambda x: fa(x, x), [{"x": a, "*>": (b,)}]),
    (fa(c, a, a, b), lambda x: fa(x, x), [{"x": a, "<*": (c,), "*>": (b,)}]),
    (fa(g(a), b, g(c)), lambda x, y: fa(g(x), y), [{"x": a, "y": b, "*>": (g(c),)}]),
    (fa(a, b, c), lambda x, y: fa(x, y), [{"x": a, "y": b, "*>": (c,)},
                                          {"x": b, "y": c, "<*": (a,)}]),
    (fa(c, b, a), around_b_in_a_row, [dict(x=(c,), k=b, y=(a,))]),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "pattern", "wanted"), ASSOCIATIVE)
def test_associative(subject: Any, pattern: Any, wanted: Any) -> None:
    check(Shared()(subject), pattern, wanted)


@pytest.mark.parametrize(("subject", "pattern", "wanted"), SYNTACTIC)
def test_syntactic(subject: Any, pattern: Any, wanted: Any) -> None:
    check(subject, pattern, wanted)


@pytest.mark.parametrize(("subject", "pattern", "wanted"), SEQUENCES)
def test_sequence_variables(subject: Any, pattern: Any, wanted: Any) -> None:
    check(subject, pattern, wanted)


@pytest.mark.parametrize(("subject", "pattern", "wanted"), COMMUTATIVE)
def test_commutative(subject: Any, pattern: Any, wanted: Any) -> None:
    check(subject, pattern, wanted)


@pytest.mark.parametrize(("subject", "pattern", "wanted"), ASSOCIATIVE_COMMUTATIVE)
def test_associative_and_commutative(subject: Any, pattern: Any, wanted: Any) -> None:
    check(subject, pattern, wanted)


def test_no_such_thing_in_an_ordered_op() -> None:
    assert answers(f(a, a, b), lambda x, y: f(x, y)) == set()


def test_constraints() -> None:
    def wide(x: Rest, y: Any, z: Rest) -> Any:
        return f(*x, y, *z), given(lambda y: y in (b, c))

    check(f(a, b, a, c), wide, [dict(x=(a,), y=b, z=(a, c)), dict(x=(a, b, a), y=c, z=())])
    for verdict, wanted in ((True, [dict(x=a)]), (False, [])):
        says = {True: lambda x: True, False: lambda x: False}[verdict]
        check(f(a, a), lambda x: (f(x, x), given(says)), wanted)  # noqa: B023
        check(fc(a, a), lambda x: (fc(x, x), given(says)), wanted)  # noqa: B023
        check(f(a, fc(a, b)), lambda x, y: (f(x, fc(x, y)), given(says)),  # noqa: B023
              [w | {"y": b} for w in wanted])  # fmt: skip


def test_many_to_one() -> None:
    def first(k: is_a, x: Any) -> Any:
        return f(k, x) >> x

    def second(y: Any, k: is_b) -> Any:
        return f(y, k) >> y

    def third(y: Any, k: is_c) -> Any:
        return f(y, k) >> y

    rules = RuleSet([make(first), make(second), make(third)])
    node = f(a, b).owner
    found = {r.short_name: r.transform(None, node) for r in rules.dispatch.candidates(node)}
    assert {k: v for k, v in found.items() if v is not None} == {"first": b, "second": a}
