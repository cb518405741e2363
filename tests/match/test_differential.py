"""Random rules on random terms: compiled, interpreted and as a relation, a rule means the same."""

from __future__ import annotations

from typing import Any

import kanren
import pytest
from hypothesis import given as over
from hypothesis import note, settings
from hypothesis import strategies as st
from kanren.graph import reduceo

from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.match.ac import AFTER, BEFORE, is_ac
from rewrite_engine.match.build import instantiate
from rewrite_engine.match.fact import because, given, unknown
from rewrite_engine.match.interpret import match_root
from rewrite_engine.match.lower import Condition
from rewrite_engine.match.pattern import Hole, OpNode, Rest, holes, subpatterns
from rewrite_engine.terms import etuplize, logic_variables
from rewrite_engine.terms.convert import from_term
from rewrite_engine.terms.search import run
from tests.match.language import KEEP, make, merged, same, x, y
from tests.match.random_rules import cat, guarded, instances, rules, variables
from tests.toy import add, const, exp, join, log, neg, num, sin, sub


@pytest.fixture(autouse=True)
def _forget() -> Any:
    yield
    KEEP.clear()


@st.composite
def pairs(draw: Any) -> tuple[Any, Apply]:
    rule = draw(rules())
    terms = instances(rule.left) | variables()
    term = draw(terms.filter(lambda v: v.owner is not None))
    return rule, merged(term).owner


def text(result: Any) -> Any:
    if isinstance(result, tuple):
        return [*map(text, result)]
    return None if result is None else repr(etuplize(result))


def target(rule: Any, node: Any) -> Any:
    """The output of a node that a rule speaks of, if it does; else any."""
    return rule.left.target(node) or node.outputs[0]


def made(rule: Any, node: Any, result: Any) -> Any:
    """What takes the place of that output."""
    return result[target(rule, node).index] if isinstance(result, tuple) else result


@settings(max_examples=300)
@over(pairs())
def test_interpreted_and_compiled_agree(pair: Any) -> None:
    rule, node = pair
    note(f"{rule.text}   at   {etuplize(node.outputs[0])}")
    compiled, interpreted = rule.transform(None, node), rule.interpreted(None, node)
    assert text(compiled) == text(interpreted)
    assert same(compiled, interpreted)


@settings(max_examples=150)
@over(pairs(), st.lists(st.booleans(), min_size=8, max_size=8))
def test_they_take_the_same_match_when_a_guard_refuses_some(pair: Any, verdicts: Any) -> None:
    """A guard that accepts only one of the possible bindings: both get there, in any order."""
    rule, node = pair
    found = list(match_root(rule.left, node))
    names = [h for h in rule.lowered.left.args if isinstance(h, Hole)]
    if not found or not names:
        return
    for wanted in found[:4]:
        guards = tuple(
            [
                Condition(lambda v, w=wanted[h.name]: v == w or alike(v, w), (h,), "is it")
                for h in names
            ]
        )
        chosen = guarded(rule, guards)
        results = chosen.transform(None, node), chosen.interpreted(None, node)
        assert results[0] is not None
        assert same(*results)


@settings(max_examples=150)
@over(pairs(), st.data())
def test_they_ask_the_same_guards_in_the_same_order(pair: Any, data: Any) -> None:
    """Guards of any cost, about any variables, some of which do not hold; a trace asks as the
    interpreter does.
    """
    rule, node = pair
    names = sorted({*holes(rule.left)} - {BEFORE, AFTER})  # (no author has a name for these)
    if not names:
        return
    heard: list[Any] = []
    guards = []
    for i in range(data.draw(st.integers(1, 4))):
        some = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
        wants, cost = data.draw(st.integers(0, 3)), data.draw(st.sampled_from([None, 0, 1, 2, 10]))

        def said(*values: Any, i: int = i, wants: int = wants) -> Any:
            heard.append((i, *map(text_of_value, values)))
            return because("so") if len(str(heard[-1])) % 4 != wants else unknown("not so")

        asked = None if cost is None else Heard(said, cost)
        guards.append(Condition(said, tuple(map(Hole, some)), f"guard {i}", asked))
    chosen = guarded(rule, tuple(guards))
    compiled = chosen.transform(None, node), heard.copy()
    heard.clear()
    interpreted = chosen.interpreted(None, node), heard.copy()
    heard.clear()
    note(f"{rule.text}   at   {etuplize(node.outputs[0])}")
    assert same(compiled[0], interpreted[0])
    parts = [part for part, _ in subpatterns(rule.left) if isinstance(part, OpNode)]
    if any(is_ac(part) or part.rests for part in parts):  # compiled, ways are left out
        more = iter(dict.fromkeys(interpreted[1]))
        assert all(one in more for one in dict.fromkeys(compiled[1]))
    else:
        assert compiled[1] == interpreted[1]


class Heard:
    """A fact that is not remembered."""

    name = "heard"

    def __init__(self, fn: Any, cost: int) -> None:
        self.fn, self.cost = fn, cost

    def ask(self, fgraph: Any, *args: Any) -> Any:
        return self.fn(*args)

    def at(self, fgraph: Any, node: Any, *args: Any) -> Any:
        return self.fn(*args)


def text_of_value(v: Any) -> str:
    if isinstance(v, tuple):
        return str([text_of_value(a) for a in v])
    return repr(etuplize(v)) if isinstance(v, Variable) else repr(v)


def alike(v: Any, w: Any) -> bool:
    """Whether two terms, which matching may have built, are equal."""
    return isinstance(v, Variable) and isinstance(w, Variable) and same(v, w)


def answers(rule: Any, term: Any, n: int = 20) -> list[Any]:
    q = kanren.var()
    return list(kanren.run(n, q, rule.goal(etuplize(term), q)))


@settings(max_examples=120)
@over(pairs())
def test_the_relation_agrees_with_both(pair: Any) -> None:
    rule, node = pair
    term = target(rule, node)
    compiled = made(rule, node, rule.transform(None, node))
    found = [from_term(t) for t in answers(rule, term)]
    note(f"{rule.text}   at   {etuplize(term)}: {compiled}, {found}")
    if compiled is None:
        assert found == []
        return
    assert any(same(compiled, merged(t)) for t in found)


def every_match(rule: Any, node: Any) -> list[Any]:
    """All matches, with the numbers of missing operands."""
    ways = rule.lowered.ways
    return [rule.lowered.defaults | b for way in ways for b in match_root(way.left, node)]


@settings(max_examples=60)
@over(pairs())
def test_each_answer_of_the_relation_is_a_match(pair: Any) -> None:
    rule, node = pair
    ways = every_match(rule, node)
    if len(ways) > 20:  # that many answers are not asked for
        return
    shown = {made_of(rule, b, node) for b in ways}
    found = {unordered(merged(from_term(t))) for t in answers(rule, target(rule, node))}
    assert found == shown


@settings(max_examples=80)
@over(pairs(), st.data())
def test_all_three_ask_the_same_guards(pair: Any, data: Any) -> None:
    """A guard on all that was bound, which allows one of the matches."""
    rule, node = pair
    ways = every_match(rule, node)
    if not ways or len(ways) > 20:
        return
    chosen, names = data.draw(st.sampled_from(ways)), list(holes(rule.left))
    wanted = [told(chosen[n]) for n in names]
    if not names:
        return
    guard = Condition(
        lambda *values: [told(v) for v in values] == wanted,
        tuple(holes(rule.left).values()),
        "the chosen one",
    )
    asked = guarded(rule, (guard,))
    compiled, interpreted = asked.transform(None, node), asked.interpreted(None, node)
    assert compiled is not None
    assert same(compiled, interpreted)
    found = {unordered(merged(from_term(t))) for t in answers(asked, target(rule, node))}
    assert unordered(merged(made(rule, node, compiled))) in found
    allowed = {made_of(rule, w, node) for w in ways if [told(w[n]) for n in names] == wanted}
    assert found == allowed


def told(value: Any) -> Any:
    """What stands for a variable, as text."""
    if isinstance(value, tuple):
        return [told(v) for v in value]
    if isinstance(value, Constant):  # (the default of a missing operand is a number)
        return value.data
    return repr(etuplize(value)) if isinstance(value, Variable) else value


def made_of(rule: Any, bound: Any, node: Any) -> Any:
    result = instantiate(rule.right, bound, node, rule.left.place)
    return unordered(merged(made(rule, node, result)))


# --- backwards --------------------------------------------------------------------------------


def test_a_rule_runs_backwards() -> None:
    q = kanren.var()
    twice = make(lambda a: neg(neg(a)) >> a)
    (found,) = kanren.run(3, q, twice.goal(q, etuplize(sin(x))))
    assert same(from_term(found), neg(neg(sin(x))))
    pair = make(lambda a, b: sub(log(a), log(b)) >> log(sub(a, b)))
    (found,) = kanren.run(3, q, pair.goal(q, etuplize(log(sub(x, y)))))
    assert same(from_term(found), sub(log(x), log(y)))
    assert kanren.run(3, q, pair.goal(q, etuplize(log(x)))) == ()


def test_both_orders_come_out_backwards() -> None:
    q = kanren.var()
    rule = make(lambda a, b: add(sin(a), b) >> sub(a, b))
    found = [from_term(t) for t in kanren.run(0, q, rule.goal(q, etuplize(sub(x, y))))]
    assert len(found) == 2
    assert same(found[0], add(sin(x), y))
    assert same(found[1], add(y, sin(x)))


def test_backwards_an_empty_rest_leaves_what_is_one_term_of_the_op() -> None:
    q = kanren.var()

    def around(a: Any, r: Rest) -> Any:
        return sin(cat(*r, a, *r)) >> join(7.0, *r, a)

    rule = make(around)
    (found,) = kanren.run(0, q, rule.goal(q, etuplize(join(7.0, cat(x, y)))))
    assert same(from_term(found), sin(cat(x, y)))
    assert kanren.run(0, q, rule.goal(q, etuplize(join(7.0, x)))) == ()  # cat(x) is no term
    (found,) = kanren.run(0, q, rule.goal(q, etuplize(join(7.0, y, x))))
    assert same(from_term(found), sin(cat(y, x, y)))


def test_guards_and_sorts_hold_in_relations() -> None:
    q = kanren.var()
    rule = make(lambda a, b: (sub(a, b) >> a, given(lambda b: b.name == "y")))
    assert kanren.run(0, q, rule.goal(etuplize(sub(x, y)), q)) == (x,)
    assert kanren.run(0, q, rule.goal(etuplize(sub(y, x)), q)) == ()


def test_numbers_in_relations() -> None:
    q = kanren.var()
    rule = make(lambda a: add(a, 1) >> exp(a))
    assert len(kanren.run(0, q, rule.goal(etuplize(add(x, const(1.0))), q))) == 1
    assert kanren.run(0, q, rule.goal(etuplize(add(x, const(2.0))), q)) == ()
    (found,) = kanren.run(1, q, rule.goal(q, etuplize(exp(x))))
    assert same(from_term(found), add(x, const(1.0)))
    zero = make(lambda a: add(a, 0) >> a)
    assert kanren.run(0, q, zero.goal(etuplize(add(x, num.make_constant(-0.0))), q)) == ()
    assert kanren.run(0, q, zero.goal(etuplize(add(x, num.make_constant(0.0))), q)) == (x,)


def test_a_relation_composes() -> None:
    q = kanren.var()
    twice = make(lambda a: neg(neg(a)) >> a)
    term = etuplize(neg(neg(neg(neg(x)))))
    found = kanren.run(2, q, reduceo(twice.goal, term, q))
    assert x in found


@settings(max_examples=150)
@over(pairs())
def test_backwards_from_an_answer_the_term_is_found(pair: Any) -> None:
    """The right sides of random rules show all that was bound, so there is a way back."""
    rule, node = pair
    result = made(rule, node, rule.transform(None, node))
    if result is None or len(node.inputs) > 5:
        return
    wanted = unordered(target(rule, node))
    note(f"{rule.text}   at   {etuplize(node.outputs[0])}   makes   {etuplize(result)}")
    q = kanren.var()
    found = run(None, q, rule.goal(q, etuplize(merged(result))), answers=5000, seconds=60)
    terms = (from_term(t) for t in found if not logic_variables(t))
    assert any(unordered(t) == wanted for t in terms)


def unordered(v: Variable) -> Any:
    """A term in which operands that are taken in any order have none, and nests are flat."""
    if v.owner is None:
        return repr(v.number) if isinstance(v, Constant) else v
    op, parts = v.owner.op, [unordered(i) for i in v.owner.inputs]
    if v.head is not op:
        return (v.head, *parts)
    if not getattr(op, "associative", False):
        return (op, *(sorted(parts, key=repr) if op.commutative else parts))
    flat = [x for p in parts for x in (p[1] if isinstance(p, tuple) and p[0] is op else [p])]
    return op, tuple(sorted(flat, key=repr) if op.commutative else flat)
