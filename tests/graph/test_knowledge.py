"""What facts said is remembered with the graph, and dropped exactly when something it rests on
changes.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st

from rewrite_engine.errors import FactError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import History
from rewrite_engine.graph.knowledge import current
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.match.fact import because, every, fact, given, unknown
from rewrite_engine.match.rule import NodeRewriter
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from tests.match.language import make, x, y
from tests.toy import Scale, add, const, exp, log, mul, neg, num, sin, sub

asked: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    asked.clear()


@fact
def above(v: Any) -> Any:
    """v > 0, by what it is computed from (as if logarithms were)."""
    asked.append(v)
    if v.head is CONSTANT:
        return because("a constant") if v.data > 0 else unknown("a constant below", v)
    if v.head is log:
        return because("a result of log")
    if v.head in (add, mul):
        return every(f"by {v.head}", above, v.owner.inputs)
    return unknown("its sign is not known", v)


def graph(*outputs: Any, features: Any = ()) -> FunctionGraph:
    return FunctionGraph(None, list(outputs), clone=False, features=features)


def count(v: Any) -> int:
    return sum(a is v for a in asked)


def test_an_answer_is_kept_and_used_again() -> None:
    inner = add(log(x), log(y))
    outer = mul(inner, inner)
    fgraph = graph(outer)
    assert above.ask(fgraph, outer)
    assert [count(v) for v in (outer, inner)] == [1, 1]
    assert above.ask(fgraph, outer) is above.ask(fgraph, outer)
    assert above.ask(fgraph, inner)
    assert len(asked) == 4
    assert above(outer)  # of no graph: nothing is remembered
    assert len(asked) == 8


def test_a_change_drops_what_rests_on_it_and_nothing_else() -> None:
    left, right = add(log(x), log(y)), mul(log(y), const(2.0))
    top = add(left, right)
    fgraph = graph(top, left, right)
    assert above.ask(fgraph, top)
    fgraph.replace(left.owner.inputs[0], sin(x))
    asked.clear()
    answer = above.ask(fgraph, top)
    assert not answer
    assert answer.blame is left.owner.inputs[0]
    assert [count(v) for v in (top, left, right)] == [1, 1, 0]
    assert above.ask(fgraph, right)
    assert not count(right)


def test_what_was_not_known_may_become_known() -> None:
    top = add(sin(x), log(y))
    fgraph = graph(top)
    assert not above.ask(fgraph, top)
    fgraph.replace(top.owner.inputs[0], log(x))
    assert above.ask(fgraph, top)


def test_a_more_precise_type_drops_answers() -> None:
    @fact
    def typed(v: Any) -> Any:
        if v.owner and v.owner.op is add:
            return every("operands", typed, v.owner.inputs)
        return because("its type") if v.type.positive else unknown("its type", v)

    inner = sin(num("v"))
    top = add(inner, const(2.0))
    fgraph = graph(top)
    assert not typed.ask(fgraph, top)
    fgraph._refine(inner, const(1.0).type)
    fgraph.flush()
    assert typed.ask(fgraph, top)
    assert typed.ask(fgraph, inner)


def test_going_back_in_history_drops_answers() -> None:
    history = History()
    top = add(log(x), log(y))
    fgraph = graph(top, features=[history])
    assert above.ask(fgraph, top)
    start = history.checkpoint()
    fgraph.replace(top.owner.inputs[0], sin(x))
    assert not above.ask(fgraph, top)
    history.revert(fgraph, start)
    assert above.ask(fgraph, fgraph.outputs[0])


def test_nodes_that_leave_take_their_answers_along() -> None:
    top = add(log(x), mul(log(y), const(2.0)))
    fgraph = graph(top, x)
    assert above.ask(fgraph, top)
    fgraph.replace(top, sin(x))
    known = fgraph.facts
    assert not known.answers
    assert not known.about
    assert not known.users
    assert not known.grounds


def test_a_fact_that_looks_deeper_says_how_deep() -> None:
    @fact(depth=2)
    def of_log(v: Any) -> Any:
        asked.append(v)
        inner = v.owner and v.owner.inputs[0].owner
        return because("a log inside") if inner and inner.op is log else unknown("no log")

    inner = sin(log(x))
    top = exp(inner)
    fgraph = graph(top)
    assert not of_log.ask(fgraph, top)
    assert of_log.ask(fgraph, inner)
    fgraph.replace(inner.owner.inputs[0], exp(x))
    assert not of_log.ask(fgraph, inner)
    fgraph.replace(inner, log(x))
    assert of_log.ask(fgraph, top)
    asked.clear()
    assert of_log.ask(fgraph, top)
    assert not asked


def test_a_fact_about_clients_is_asked_each_time() -> None:
    @fact
    def used_once(fgraph: Any, v: Any) -> Any:
        asked.append(v)
        n = len(fgraph.get_clients(v)) if fgraph else 0
        return because("one client") if n == 1 else unknown(f"{n} clients")

    @fact
    def lonely(v: Any) -> Any:
        return used_once(v)

    e = log(x)
    fgraph = graph(sin(e), add(e, y))
    assert not lonely.ask(fgraph, e)
    fgraph.replace(fgraph.outputs[0], sin(x))
    assert lonely.ask(fgraph, e)
    assert used_once.ask(fgraph, e)
    assert not used_once(e)
    assert len(asked) == 4


def test_terms_of_no_graph_are_not_kept() -> None:
    fgraph = graph(log(x))
    assert above.ask(fgraph, add(log(x), log(x)))
    assert not fgraph.facts.answers


def test_numbers_among_the_arguments_are_told_apart() -> None:
    @fact
    def same_sign(v: Any, number: Any) -> Any:
        return because("minus") if str(number).startswith("-") else unknown("plus")

    fgraph = graph(log(x))
    assert not same_sign.ask(fgraph, x, 0.0)
    assert same_sign.ask(fgraph, x, -0.0)
    assert not same_sign.ask(fgraph, x, {"no": "key"})


def test_chains_of_any_length() -> None:
    v: Any = log(x)
    first = v
    for _ in range(100_000):
        v = add(v, const(1.0))
    assert above(v)
    for _ in range(80_000):
        v = v.owner.inputs[0]
    fgraph = graph(v)
    assert "by add (by add" in str(above.ask(fgraph, v))
    assert "…" in str(above.ask(fgraph, v))
    fgraph.replace(first, sin(x))
    assert not fgraph.facts.answers.keys() - {(above, c) for c in fgraph.constants.values()}
    refusal = above.ask(fgraph, fgraph.outputs[0])
    assert not refusal
    assert refusal.blame.owner.op is sin


def test_what_is_shared_is_asked_once() -> None:
    v: Any = log(x)
    for _ in range(200):
        v = mul(v, v)
    assert above(v)
    assert len(asked) < 3 * 200


def test_many_deep_operands() -> None:
    def chain(i: int) -> Any:
        v: Any = log(num(f"x{i}"))
        for _ in range(60):
            v = mul(v, const(i + 2.0))
        return v

    assert above(add(*[chain(i) for i in range(300)]))
    assert len(asked) < 4 * 300 * 62


def test_a_circle_is_an_error() -> None:
    @fact
    def hen(v: Any) -> Any:
        return egg(v)

    @fact
    def egg(v: Any) -> Any:
        return hen(v)

    with pytest.raises(FactError, match="in a circle: hen asks egg asks hen"):
        hen(x)
    fgraph = graph(log(x))
    with pytest.raises(FactError, match="circle"):
        egg.ask(fgraph, x)
    assert not fgraph.facts.answers


def test_a_fact_that_raises_leaves_nothing_behind() -> None:
    @fact
    def broken(v: Any) -> Any:
        if v.head is sin:
            raise ValueError("no")
        return broken(v.owner.inputs[0]) if v.owner else because("a root")

    fgraph = graph(log(sin(x)))
    with pytest.raises(ValueError, match="no"):
        broken.ask(fgraph, fgraph.outputs[0])
    assert above.ask(fgraph, fgraph.outputs[0])
    assert set(fgraph.facts.answers) == {(above, fgraph.outputs[0])}


def test_cases_extend_a_fact() -> None:
    @fact
    def small(v: Any) -> Any:
        return because("a constant") if v.head is CONSTANT else unknown("who knows", v)

    @small.case(sin)
    def _sine(v: Any) -> Any:
        return because("a sine")

    @small.case(add, type(add))
    def _any_toy(v: Any) -> Any:
        return every("all operands", small, v.owner.inputs)

    @small.case(neg)
    def _no_opinion(v: Any) -> Any:
        return None

    assert str(small(add(sin(x), const(1.0)))) == ("because all operands (a sine), (a constant)")
    assert small(neg(sin(x)))
    assert str(small(neg(x))) == "who knows (x)"


def test_a_rule_is_tried_again_when_its_guard_may_hold() -> None:
    """The change comes late, and is far below of what the pattern looks at."""
    guarded = make(lambda a: (log(exp(a)) >> neg(a), given(above(a))))
    doubt = sin(x)
    deep = add(mul(add(doubt, log(x)), log(y)), const(2.0))

    def settle_doubt(fgraph: Any, node: Any) -> Any:
        """Not data: it changes what is far below."""
        return {doubt: log(y)} if doubt in fgraph.users else None

    late = NodeRewriter(settle_doubt, tracks=[Scale])
    fgraph = graph(log(exp(deep)), Scale(2.0)(sin(sin(sin(sin(sin(sin(deep))))))))
    result = EquilibriumOptimizer(RuleSet([guarded, late])).rewrite(fgraph)
    assert list(result.fired.values()) == [1, 1]
    assert next(iter(result.fired)).endswith("settle_doubt")
    assert fgraph.outputs[0].owner.op is neg


def test_only_those_who_asked_are_visited_again() -> None:
    """A variable with many users; one rule asks about it at few of them."""
    guarded = make(lambda a: (log(exp(a)) >> neg(a), given(above(a))))
    doubt = sin(x)
    hub = add(doubt, log(y))
    users = [Scale(float(i))(hub) for i in range(2, 200)]

    def settle_doubt(fgraph: Any, node: Any) -> Any:
        """Not data: it changes what is far below."""
        return {doubt: log(y)} if doubt in fgraph.users else None

    late = NodeRewriter(settle_doubt, tracks=[sub])
    last = sub(sin(sin(sin(sin(hub)))), x)
    fgraph = graph(log(exp(hub)), last, *users)
    result = EquilibriumOptimizer(RuleSet([guarded, late])).rewrite(fgraph)
    assert sorted(result.fired.values()) == [1, 1]
    assert result.visits < len(users) + 40  # not twice as many
    assert not fgraph.facts.waiting
    assert not fgraph.facts.waits


def test_who_waits_is_forgotten_when_it_leaves() -> None:
    guarded = make(lambda a: (log(exp(a)) >> neg(a), given(above(a))))

    def leaves(fgraph: Any, node: Any) -> Any:
        """Not data: a test."""
        return sin(node.inputs[0])

    gone = NodeRewriter(leaves, tracks=[log])
    fgraph = graph(log(exp(x)))
    EquilibriumOptimizer(RuleSet([guarded])).rewrite(fgraph)
    assert list(fgraph.facts.waits) == [fgraph.outputs[0].owner]
    EquilibriumOptimizer(RuleSet([guarded, gone])).rewrite(fgraph)
    assert not fgraph.facts.waits


OPS = [sin, log, neg, add, mul, sub]


def pick(data: Any, terms: list[Any]) -> Any:
    return terms[data.draw(st.integers(0, len(terms) - 1))]


def a_term(data: Any, terms: list[Any]) -> Any:
    op = data.draw(st.sampled_from(OPS))
    return op(*[pick(data, terms) for _ in range(op.nin or 2)])


@settings(max_examples=60, deadline=None)
@generated(st.data())
def test_what_is_kept_is_never_stale(data: Any) -> None:
    """After each change, every answer that is kept is what the fact says anew."""
    terms: list[Any] = [x, y, const(1.0), const(-1.0)]  # constants are of a type of their own
    for _ in range(data.draw(st.integers(4, 14))):
        terms.append(a_term(data, terms))
    history = History()
    fgraph = FunctionGraph([x, y], terms[-3:], clone=False, features=[history])
    start = history.checkpoint()
    for _ in range(data.draw(st.integers(1, 6))):
        for v in list(fgraph.users):
            answer = above.ask(fgraph, v)
            assert bool(answer) == bool(above(v))
            assert str(answer) == str(above(v))
        kind = data.draw(st.integers(0, 4))
        if kind == 0:
            history.revert(fgraph, start)
            continue
        live = [v for v in fgraph.users if v.owner is not None and v.type is num]
        old = pick(data, live) if live else None
        below = [v for v in fgraph.users if old is not None and not uses(v, old)]
        if below:
            fgraph.replace(old, a_term(data, below) if kind > 1 else pick(data, below))
        fresh = {key: str(key[0](*key[1:])) for key in fgraph.facts.answers}
        assert {k: str(a) for k, a in fgraph.facts.answers.items()} == fresh
    fgraph.check_integrity()


def uses(v: Any, old: Any) -> bool:
    """Whether v is old, or computed from it."""
    stack = [v]
    while stack:
        v = stack.pop()
        if v is old:
            return True
        stack.extend(v.owner.inputs if v.owner else ())
    return False


def test_a_graph_that_an_interrupted_run_has_left_is_not_asked(monkeypatch: Any) -> None:
    @fact
    def in_a_graph(fgraph: Any, v: Any) -> Any:
        return unknown("no graph") if fgraph is None else because("a graph")

    e = log(x)
    fgraph = graph(sin(e))
    monkeypatch.setattr(current, "fgraph", fgraph)
    assert not in_a_graph(e)
    monkeypatch.setattr(fgraph, "worklist", object())
    assert in_a_graph(e)
