"""What strategies may be made of, and what their parts may return."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.errors import PatternError
from rewrite_engine.match.claim import assumes
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.fact import assuming, fact, given, unknown
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.strategies import first, innermost, repeat, seq, try_, where
from tests.match import language
from tests.match.language import rule, x
from tests.rewrite.test_strategies import after, f, f_g, g, g_h, h, h_k, k
from tests.toy import divmod_, sub


def rewriter(form: Any) -> Any:
    @node_rewriter([f])
    def f_to_g(fgraph, node):
        """Not data: it returns what rules may return, in every form."""
        return form(node.outputs[0], g(node.inputs[0]))

    return f_to_g


FORMS: dict[str, Any] = {
    "a variable": lambda old, new: new,
    "a list": lambda old, new: [new],
    "a tuple": lambda old, new: (new,),
    "a mapping": lambda old, new: {old: new},
}


@pytest.mark.parametrize("form", FORMS)
def test_strategies_go_on_at_what_a_rule_returns(form: str) -> None:
    rule = rewriter(FORMS[form])
    assert after(seq(rule, g_h, h_k), f(x)) == "k(x)"
    assert after(repeat(first(rule, g_h, h_k)), f(x)) == "k(x)"
    assert after(try_(seq(rule, h_k)), f(x)) == "f(x)"


@pytest.mark.parametrize("several", [[h_k, f_g], (h_k, f_g), RuleSet([h_k, f_g])], ids=type)
def test_of_several_rules_the_first_that_applies(several: Any) -> None:
    assert after(try_(several), f(x)) == "g(x)"
    assert after(repeat(several), h(f(x))) == "k(g(x))"
    assert after(where(lambda fgraph, node: node.op is f, several), h(f(x))) == "h(g(x))"
    assert after(seq(try_(several), g_h), f(x)) == "h(x)"
    assert try_(several).parts[0].parts == (h_k, f_g)


def test_no_rules_are_no_strategy() -> None:
    for make in (try_, repeat, lambda none: where(lambda fgraph, node: True, none)):
        with pytest.raises(ValueError, match="needs at least one rule"):
            make([])
    assert after(try_(f_g), k(x)) == "k(x)"


def test_the_phase_of_a_strategy() -> None:
    rule_in = {name: node_rewriter([f], phase=name)(f_to_itself) for name in ("one", "two")}
    idle = node_rewriter([f])(f_to_itself)
    assert first(idle).phase is None
    assert seq(idle, rule_in["two"], rule_in["one"]).phase == "two"
    for make in (first, seq, try_, repeat, lambda r, phase: where(lambda *a: True, r, phase=phase)):
        whole = make(rule_in["one"], phase="three")
        assert whole.phase == "three"
        assert {"one", "three"} <= whole.tags
    for make in (seq, try_, repeat):
        with pytest.raises(TypeError, match="only strategies of rules have a phase"):
            make(innermost(f_g), phase="three")


def f_to_itself(fgraph, node):
    """Not data: never applies."""


def test_a_strategy_stays_itself_where_assumptions_are_granted() -> None:
    @fact
    def never(v: Any) -> Any:
        return unknown("nobody knows")

    @rule(claim=assumes("fastmath"))
    def if_known(a):
        """Where it is proved, or granted."""
        return f(a) >> a, given(assuming(never(a)))

    whole = where(lambda *a: True, if_known, phase="three")
    trusted = whole.under({"fastmath"})
    assert trusted is not whole
    assert (trusted.phase, trusted.name, trusted.where) == ("three", whole.name, whole.where)
    assert after(whole, f(x)) == "f(x)"
    assert after(trusted, f(x)) == "x"


def test_what_replaces_one_of_several_outputs_comes_last() -> None:
    both = language.make(lambda a, b: divmod_(a, b) >> (sub(a, b), sub(b, a)))
    one = language.make(lambda a, b: divmod_(a, b)[0] >> sub(a, b))
    later = language.make(lambda a, b: sub(a, b) >> sub(b, a))
    for head in (both, one, try_(both)):
        with pytest.raises(TypeError, match="made replaces outputs of an op.*only be the last"):
            seq(head, later)
    assert seq(try_(later), both).parts[1] is both


@pytest.mark.parametrize("several", [list, tuple, dict])
def test_a_step_that_returns_several_and_is_not_the_last_is_an_error(several: Any) -> None:
    @node_rewriter([divmod_])
    def split(fgraph, node):
        """Not data: it returns what rules may return, in every form."""
        a, b = node.inputs
        new = [sub(a, b), sub(b, a)]
        return dict(zip(node.outputs, new, strict=True)) if several is dict else several(new)

    later = language.make(lambda a, b: sub(a, b) >> sub(b, a))
    one, other = divmod_(x, x)
    for strategy in (seq(split, later), seq(try_(split), try_(later)), seq(seq(split), later)):
        with pytest.raises(PatternError, match="can only be the last step"):
            after(strategy, sub(one, other))
    assert after(seq(try_(later), split), sub(one, other)) == "x - x - (x - x)"
