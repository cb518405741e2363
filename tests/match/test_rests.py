"""Several rests in one pattern: of sums and products, which share what is left, and in order."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from rewrite_engine.errors import RuleError, SearchBudgetError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.explain import diagnose
from rewrite_engine.match.fact import given
from rewrite_engine.match.find import find
from rewrite_engine.match.pattern import Rest
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.terms import etuplize
from rewrite_engine.terms.convert import from_term
from rewrite_engine.terms.logic import LogicVariable
from rewrite_engine.terms.search import run
from tests.match.language import ask, make, merged, p, same, x, y, z
from tests.toy import add, exp, join, log, mul, num, sin, sub


def two_rests(a: Any, xs: Rest, ys: Rest) -> Any:
    return add(sin(a), *xs, *ys) >> join(a, join(7.0, *xs), join(7.0, *ys))


def each_its_own(a: Any, xs: Rest, ys: Rest) -> Any:
    return add(mul(log(a), *xs), mul(exp(a), *ys)) >> join(a, join(7.0, *xs), join(7.0, *ys))


def twice_in_one(xs: Rest, ys: Rest) -> Any:
    return log(add(*xs, *ys, *xs)) >> join(join(7.0, *xs), join(7.0, *ys))


def known_from_elsewhere(xs: Rest, ys: Rest) -> Any:
    return sub(mul(1, *xs), add(*xs, *ys)) >> join(7.0, *ys)


def in_order(k: Any, xs: Rest, ys: Rest, zs: Rest) -> Any:
    return join(k, *xs, join(k, *ys), *zs) >> join(k, *xs, *ys, *zs)


SEVERAL = [
    (make(two_rests), add(y, sin(x), z), join(x, join(7.0), join(7.0, y, z))),
    (make(two_rests), add(y, z), None),
    (make(each_its_own), add(mul(exp(x), y, z), mul(z, log(x))),
     join(x, join(7.0, z), join(7.0, y, z))),
    (make(each_its_own), add(mul(exp(x), y, z), mul(z, log(y))), None),
    (make(twice_in_one), log(add(x, y, x)), join(join(7.0), join(7.0, x, y, x))),
    (make(known_from_elsewhere), sub(mul(z, 1, y), add(y, x, z)), join(7.0, x)),
    (make(known_from_elsewhere), sub(mul(z, 1, z), add(y, x, z)), None),
    (make(in_order), join(x, y, join(x, z, z), y), join(x, y, z, z, y)),
    (make(in_order), join(x, join(y, z), y, join(x)), join(x, join(y, z), y)),
    (make(in_order), join(x, y, join(y, z)), None),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "term", "expected"), SEVERAL, ids=lambda c: str(c))
def test_several_rests(rule: Any, term: Any, expected: Any) -> None:
    node, q = merged(term).owner, LogicVariable("q")
    expected = expected if expected is None else merged(expected)
    for found in (rule.transform(None, node), rule.interpreted(None, node)):
        assert same(found, expected)
    answers = [from_term(t) for t in run(0, q, rule.goal(etuplize(node.outputs[0]), q))]
    assert any(same(t, expected) for t in answers) == (expected is not None)


def shared(term: Any, pattern: Any) -> list[str]:
    """What two rests take in each match, in order."""
    return [
        "|".join("".join(v.name for v in m[rest]) for rest in ("xs", "ys"))
        for m in find(term, pattern, every=True)
    ]


def test_rests_share_what_is_left_in_every_way_few_before_many() -> None:
    def pattern(a: Any, xs: Rest, ys: Rest) -> Any:
        return add(sin(a), *xs, *ys)

    def halves(a: Any, xs: Rest, ys: Rest) -> Any:
        return add(sin(a), *xs, *xs, *ys)

    ways = ["|xyz", "x|yz", "y|xz", "z|xy", "xy|z", "xz|y", "yz|x", "xyz|"]
    assert shared(add(x, sin(p), y, z), pattern) == ways
    assert shared(add(x, sin(p), y, x), pattern) == ["|xyx", "x|yx", "y|xx", "xy|x", "xx|y", "xyx|"]
    assert shared(add(x, sin(p), y, x, y, z), halves) == ["|xyxyz", "x|yyz", "y|xxz", "xy|z"]
    few = find(add(sin(p), *[num(f"x{i}") for i in range(40)]), pattern, every=True)
    assert [len(m["xs"]) for m in islice(few, 50)] == [0] + [1] * 40 + [2] * 9


def test_rests_that_occur_more_often_choose_first() -> None:
    """Of distinct operands they can take none: there is one way, and it is found at once."""

    def pattern(xs: Rest, ys: Rest) -> Any:
        return log(add(*xs, *ys, *ys))

    def thrice(xs: Rest, ys: Rest) -> Any:
        return log(add(*xs, *xs, *xs, *ys, *ys))

    many = [num(f"x{i}") for i in range(40)]
    (found,) = find(log(add(*many)), pattern, every=True)
    assert (found["xs"], found["ys"]) == (tuple(many), ())
    assert shared(log(add(x, y, x)), pattern) == ["xyx|", "y|x"]
    assert shared(log(add(x, x, x, x, x, y, y)), thrice) == ["x|xy"]


def test_the_first_way_that_the_guards_take() -> None:
    def logs(xs: Rest, ys: Rest) -> Any:
        """The logarithms are joined."""
        left = exp(add(*xs, *ys))
        return left >> mul(join(*xs), exp(add(*ys))), given(
            lambda xs: len(xs) > 1 and all(v.head is log for v in xs),
            lambda ys: all(v.head is not log for v in ys),
        )

    term = merged(exp(add(x, log(y), z, log(x), log(z))))
    expected = merged(mul(join(log(y), log(x), log(z)), exp(add(x, z))))
    assert same(ask(make(logs), term), expected)
    assert ask(make(logs), merged(exp(add(log(x), y, z)))) is None


def test_ways_without_end_are_an_error() -> None:
    def none(xs: Rest, ys: Rest) -> Any:
        return log(add(*xs, *ys)) >> sub(add(*xs), add(*ys)), given(lambda xs: False)

    rule = make(none)
    term = log(add(*[num(f"x{i}") for i in range(40)]))
    with pytest.raises(SearchBudgetError, match="in more than 100,000 ways"):
        rule.transform(None, term.owner)
    with pytest.raises(SearchBudgetError, match="in more than 100,000 ways"):
        rule.interpreted(None, term.owner)
    assert "in more than 100,000 ways" in diagnose(rule, term.owner).reason
    fgraph = FunctionGraph(None, [term], clone=True)
    with pytest.raises(RuleError, match=r"test_rests/none (.|\n)*100,000 ways"):
        EquilibriumOptimizer([rule]).rewrite(fgraph)
    assert fgraph.outputs[0].owner.op is log
