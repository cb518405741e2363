"""Every shipped data rule: compiled, interpreted and as a relation, it means the same."""

from __future__ import annotations

from typing import Any

import kanren
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.pattern import OpNode, subpatterns
from rewrite_engine.terms import etuplize
from rewrite_engine.terms.convert import from_term
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


def has_rest(rule: Any) -> bool:
    return any(isinstance(p, OpNode) and p.rests for p, _ in subpatterns(rule.left))


@by_rule
def test_the_relation_forwards(rule: Any) -> None:
    q = kanren.var()
    for term, _ in list(instances(rule, ["float64", "int64", "bool"], FEW))[:4]:
        compiled = rule.transform(None, term.owner)
        found = kanren.run(6, q, rule.goal(etuplize(term), q))
        answers = [t if isinstance(t, Variable) else from_term(t) for t in found]
        if compiled is None:
            assert answers == []
        else:
            assert any(same(compiled, a) for a in answers)


@by_rule
def test_the_relation_backwards(rule: Any) -> None:
    """What rewrites to the right side: the left side is among the answers."""
    if isinstance(rule.right, Compute) or has_rest(rule):
        return
    q = kanren.var()
    term, _ = next(
        (t, i)
        for t, i in instances(rule, ["float64", "bool"], FEW)
        if rule.transform(None, t.owner) is not None
    )
    result = rule.transform(None, term.owner)
    found = kanren.run(3, q, rule.goal(q, etuplize(result)))
    assert found
    closed = [from_term(t) for t in found if is_variable(t)]
    for before in closed:
        assert rule.transform(None, before.owner) is not None


def is_variable(term: Any) -> bool:
    from rewrite_engine.terms import logic_variables

    return not logic_variables(term) and isinstance(from_term(term), Variable)
