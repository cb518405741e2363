"""`find`: what a pattern may be, what it gives, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import PatternError, SearchBudgetError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import Inexact, Matrix, approx, exact, rule
from rewrite_engine.match.fact import given
from rewrite_engine.match.find import find
from rewrite_engine.match.pattern import Const, Prop, Rest
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.terms import etuplize
from rewrite_engine.terms.logic import LogicVariable
from tests.growth import exponent, lines
from tests.match.language import Positive, make, p, same, x, y, z
from tests.toy import Scale, add, const, divmod_, exp, join, log, mul, neg, num, sin, sub


def bindings(graph: Any, pattern: Any, **options: Any) -> list[dict[str, Any]]:
    return [m.bindings for m in find(graph, pattern, **options)]


def test_matches_come_in_topological_order() -> None:
    inner = log(sin(x))
    term = sub(log(exp(inner)), inner)
    found = list(find(term, lambda a: log(a)))
    assert [m.variable for m in found] == [inner, term.owner.inputs[0]]
    assert [m["a"] for m in found] == [sin_of(inner), exp_of(term)]
    assert found[0].node is inner.owner


def sin_of(inner: Any) -> Any:
    return inner.owner.inputs[0]


def exp_of(term: Any) -> Any:
    return term.owner.inputs[0].owner.inputs[0]


def test_a_rule_is_a_pattern_with_its_guards() -> None:
    twice = make(lambda a: neg(neg(a)) >> a)
    term = neg(neg(neg(x)))
    assert [m["a"] for m in find(term, twice)] == [x, term.owner.inputs[0].owner.inputs[0]]
    named = make(lambda a, b: (sub(a, b) >> a, given(lambda b: b.name == "y")))
    graph = join(sub(x, y), sub(y, x))
    assert bindings(graph, named) == [{"a": x, "b": y}]


def test_functions_are_read_like_rules() -> None:
    def scaled(a: Positive, k: Const, by: Prop) -> Any:
        return sub(Scale(by=by)(a), k)

    def whole(a: Positive) -> Any:
        return exp(a) >> a

    graph = join(sub(Scale(3.0)(p), const(2.0)), sub(Scale(3.0)(x), const(2.0)), exp(p), exp(x))
    (found,) = find(graph, scaled)
    assert (found["a"], found["by"]) == (p, 3.0)
    assert found["k"].data == 2.0
    assert bindings(graph, whole) == [{"a": p}]
    guarded = lambda a: (exp(a), given(lambda a: a is not p))
    assert bindings(graph, guarded) == [{"a": x}]


def test_terms_of_logic_variables_ops_and_classes() -> None:
    a = LogicVariable("a")
    graph = join(sin(x), sin(log(y)), Scale(2.0)(x), Scale(3.0)(y))
    assert [m["a"] for m in find(graph, sin(log(a)))] == [y]
    assert [m.node.inputs[0] for m in find(graph, log)] == [y]
    assert [m.node.op.by for m in find(graph, Scale)] == [2.0, 3.0]


def test_rests_and_what_is_left_alone() -> None:
    def rests(a: Any, xs: Rest, ys: Rest) -> Any:
        return join(*xs, sin(a), *ys)

    graph = join(x, sin(y), z, sin(x))
    assert bindings(graph, rests) == [{"a": y, "xs": (x,), "ys": (z, graph.owner.inputs[3])}]
    assert len(bindings(graph, rests, every=True)) == 2
    assert bindings(mul(x, y, x), lambda a: mul(a, a)) == [{"a": x, "*": (y,)}]
    assert bindings(mul(x, x), lambda a: mul(a, a)) == [{"a": x}]
    assert bindings(mul(x, y), lambda a: mul(a, a)) == []


def distributed(a: Any, b: Any, c: Any, rest: Rest) -> Any:
    return add(mul(a, b), mul(a, c), *rest)


def test_nests_are_looked_at_as_one_sum() -> None:
    for term in (
        add(add(z, mul(y, p)), mul(y, x)),
        add(mul(y, x), add(mul(y, p), z)),
        add(add(z, mul(y, p)), add(mul(y, x), exp(x))),
    ):
        (found,) = find(exp(term), distributed)
        assert found.node is term.owner
        assert (found["a"], {found["b"], found["c"]}) == (y, {x, p})
        assert z in found["rest"]
        assert bindings(FunctionGraph(None, [term], clone=False), distributed)
    twice = lambda a: add(a, a)
    assert bindings(add(x, add(y, x)), twice) == [{"a": x, "*": (y,)}]
    assert bindings(add(x, exp(add(y, x))), twice) == []


def test_what_others_need_is_not_opened() -> None:
    inner = add(y, x)
    assert bindings(join(add(x, inner), inner), lambda a: add(a, a)) == []
    assert bindings([add(x, inner), inner], lambda a: add(a, a)) == []


def test_long_nests_are_opened_once() -> None:
    term = exp(x)
    for i in range(20_000):
        term = add(sin(num(f"v{i}")), term)

    def search() -> None:
        assert bindings(term, lambda a, b: add(exp(a), log(b))) == []
        (found,) = find(add(log(y), term), lambda a, b: add(exp(a), log(b)))
        assert (found["a"], found["b"], len(found["*"])) == (x, y, 20_000)

    assert lines(search) < 1_000 * 20_000


def test_the_first_match_is_one_of_all_and_comes_first() -> None:
    terms = [mul(x, y, x, y), mul(sin(x), sin(y), z), mul(x, y)]
    for term in terms:
        for pattern in (lambda a: mul(a, a), lambda a, b: mul(sin(a), b)):
            every = bindings(term, pattern, every=True)
            assert [text(m) for m in bindings(term, pattern)] == [text(m) for m in every[:1]]


def text(found: dict[str, Any]) -> Any:
    """Bindings that can be compared (matching builds terms)."""
    return {k: [etuplize(u) for u in v] if k == "*" else etuplize(v) for k, v in found.items()}


def test_equal_terms_count_once_and_the_given_variables_come_back() -> None:
    a, b = log(sin(x)), log(sin(x))
    (found,) = find([a, b], log)
    assert found.variable is a
    term = add(exp(x), exp(x))  # two nodes, one term
    (found,) = find(term, lambda a: add(a, a))
    assert found.variable is term
    assert found["a"] is term.owner.inputs[0]
    (found,) = find(log(add(const(1.0), exp(x), exp(x))), lambda a: log(add(1, a)))
    assert same(found["a"], add(exp(x), exp(x)))
    graph = FunctionGraph([x], [term], clone=True)
    assert len(bindings(graph, exp)) == 1


def test_nodes_with_several_outputs_are_looked_into_but_match_nothing() -> None:
    first, second = divmod_(sin(x), y)
    assert bindings([log(first), second], lambda a: log(a)) == [{"a": first}]
    assert len(bindings(second, sin)) == 1


def test_a_rule_that_claims_exact_values_keeps_to_whole_sums() -> None:
    def square(a: Any) -> Any:
        """A square."""
        return a * a >> pt.sqr(a)

    v, w = pt.vectors("v w")
    term = pt.mul(v, w, v)
    assert list(rw.find(term, rule(square, claim=exact))) == []
    assert [m["a"] for m in rw.find(term, rule(square, claim=approx(4)))] == [v]


def test_tensors() -> None:
    def logs(a: Inexact, m: Matrix) -> Any:
        return pt.log(1 + a) + m

    v, m = pt.vector("v"), pt.matrix("m")
    f = FunctionGraph([v, m], [pt.exp(pt.log(1 + v) + m)], clone=False)
    (found,) = rw.find(f, logs)
    assert (found["a"], found["m"]) == (v, m)
    names = [m.node.op for m in rw.find(f, pt.exp)]
    assert names == [pt.exp]
    assert [len(list(rw.find(f, r))) for r in all_rules() if r.short_name == "log_of_one_plus"] == [
        1
    ]


def test_what_is_no_pattern_is_refused_with_its_line() -> None:
    with pytest.raises(PatternError, match=r"pattern \(.*test_find.py:\d+.*\n.*match everything"):
        find(x, lambda a: a)
    with pytest.raises(PatternError, match="takes 1 operands, not 2"):
        find(x, lambda a: sin(a, a))
    with pytest.raises(PatternError, match="is not a pattern"):
        find(x, 7)
    with pytest.raises(PatternError, match="not 'y'"):
        find([x, "y"], sin)


def test_budgets() -> None:
    term = join(*[sin(num(str(i))) for i in range(10)])
    with pytest.raises(SearchBudgetError, match=r"search for sin\(a\) used up .* 3 answers"):
        list(find(term, lambda a: sin(a), answers=3))
    assert len(bindings(term, sin, answers=3, on_budget="stop")) == 3
    assert len(bindings(term, sin, answers=10)) == 10
    with pytest.raises(SearchBudgetError, match="0 seconds"):
        list(find(term, sin, seconds=0))


def test_a_hundred_thousand_nodes() -> None:
    def search(n: int) -> Callable[[], None]:
        term = x
        for i in range(n // 2):
            term = log(exp(term)) if i % 10 else sin(sin(term))

        def found() -> None:
            matches = list(find(term, lambda a: log(exp(a))))
            assert len(matches) == n // 2 - (n // 2 + 9) // 10

        return found

    assert exponent(search, 3_000, 30_000) < 1.1
    search(100_000)()


@pytest.mark.parametrize("nothing", [3, None, [x, 4]])
def test_what_is_no_graph_is_an_error(nothing: Any) -> None:
    with pytest.raises(PatternError, match="find takes graphs and variables, not"):
        list(find(nothing, exp))
