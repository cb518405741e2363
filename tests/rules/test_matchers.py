"""Every shipped data rule: compiled, interpreted and as a relation, it means the same."""

from __future__ import annotations

from typing import Any

import kanren
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import Shared
from rewrite_engine.match.build import guards_hold, instantiate
from rewrite_engine.match.interpret import match_root
from rewrite_engine.match.lower import Compute
from rewrite_engine.terms import etuplize, logic_variables, unify
from rewrite_engine.terms.convert import from_term
from rewrite_engine.terms.search import run
from tests.match.language import same
from tests.rules.instances import RULES, SHAPES, instances

by_rule = pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
FEW = [SHAPES[i] for i in (1, 2, 4, 5, 8)]


def agree(rule: Any, node: Any) -> Any:
    compiled, interpreted = rule.transform(None, node), rule.interpreted(None, node)
    assert same(compiled, interpreted)
    return compiled


@by_rule
def test_the_left_side_matches_what_is_built_from_it(rule: Any) -> None:
    fired = 0
    for term, _ in instances(rule, ["float64", "int8", "bool"], FEW):
        new = agree(rule, term.owner)
        fired += new is not None
    assert fired


@by_rule
def test_near_misses(rule: Any) -> None:
    """With one operand negated, wrapped or changed, the two ways of matching still agree."""
    for term, _ in list(instances(rule, ["float64", "int64"], FEW))[:6]:
        inputs = term.owner.inputs
        for i, v in enumerate(inputs):
            for change in (lambda v: v + 1, lambda v: -v, lambda v: pt.constant(0.0), pt.exp):
                try:
                    near = term.owner.op(*inputs[:i], change(v), *inputs[i + 1 :])
                except (TypeError, ValueError):
                    continue
                agree(rule, near.owner)


@by_rule
def test_every_other_rule_agrees_with_itself_on_these_terms(rule: Any) -> None:
    for term, _ in list(instances(rule, ["float64"], FEW))[:3]:
        for node in FunctionGraph(None, [term]).toposort():
            for other in RULES:
                if other.considers(node.op):
                    agree(other, node)


@by_rule
def test_the_relation_forwards(rule: Any) -> None:
    q = kanren.var()
    for term, _ in list(instances(rule, ["float64", "int64", "bool"], FEW))[:4]:
        compiled = rule.transform(None, term.owner)
        found = run(6, q, rule.goal(etuplize(term), q))
        answers = [t if isinstance(t, Variable) else from_term(t) for t in found]
        if compiled is None:
            assert answers == []
        else:
            assert any(same(compiled, a) for a in answers)


@by_rule
def test_the_relation_backwards(rule: Any) -> None:
    """What rewrites to the right side: the term that made it is among the answers, and whatever
    else is there rewrites to it too."""
    if isinstance(rule.right, Compute):
        return
    q = kanren.var()
    for term, _ in fired(rule)[:3]:
        result = rule.transform(None, term.owner)
        found = run(40, q, rule.goal(q, etuplize(result)))
        assert any(comes_from(term, answer) for answer in found), found
        for before in filter(is_variable, found):
            assert rewrites(rule, before, result)


def fired(rule: Any) -> list[Any]:
    """Terms that the rule rewrites to another one."""
    return [
        pair
        for pair in instances(rule, ["float64", "int64", "bool"], FEW)
        if rule.transform(None, pair[0].owner) is not None
    ]


def comes_from(term: Variable, answer: Any) -> bool:
    """Whether a term is an answer, whatever stands for the free variables of that."""
    if logic_variables(answer):
        return unify(answer, etuplize(term)) is not False
    return is_variable(answer) and same(from_term(answer), term)


def rewrites(rule: Any, before: Any, after: Variable) -> bool:
    """Whether one of the matches of a rule makes one term of another (or one that is not well
    typed, which no graph can have)."""
    node = Shared()(from_term(before)).owner
    for bound in match_root(rule.left, node, rule.lowered.exact):
        made = instantiate(rule.right, bound, node) if guards_hold(rule.guards, bound) else None
        if made is not None and same(made, after):
            return True
    return False


def is_variable(term: Any) -> bool:
    """Whether a graph can be built of an answer."""
    if logic_variables(term):
        return False
    try:
        return isinstance(from_term(term), Variable)
    except (RewriteEngineError, TypeError):
        return False
