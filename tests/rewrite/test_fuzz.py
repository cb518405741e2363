"""Random graphs under random rules: every invariant holds after every run, and values stay."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import note, settings
from hypothesis import strategies as st

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.lower import Lowered
from rewrite_engine.match.pattern import Hole, holes
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.trace import Trace, brief
from tests.match.random_rules import instances, op_nodes, variables, with_sides
from tests.rewrite.graphs import SOUND, graphs, values
from tests.toy import sub

pytestmark = pytest.mark.usefixtures("checked_graphs")


def check(graph: FunctionGraph) -> None:
    graph.check_integrity()
    assert gc.isenabled()
    assert graph.worklist is None
    assert set(toposort(graph.outputs)) == set(graph.apply_nodes)


@settings(max_examples=150)
@over(graphs(), st.lists(st.sampled_from(SOUND), min_size=1, unique=True), st.booleans())
def test_values_stay(graph: FunctionGraph, rules: Any, traced: bool) -> None:
    before = values(graph)
    note(f"{[brief(v, 30) for v in graph.outputs]} by {rules}")
    trace = Trace(terms=True) if traced else None
    driver = EquilibriumOptimizer(rules)
    result = driver.rewrite(graph, trace)
    check(graph)
    assert values(graph) == pytest.approx(before, rel=1e-9, abs=1e-9)
    assert driver.rewrite(graph).firings == 0
    assert trace is None or len(trace) == result.firings
    for node in graph.apply_nodes:  # nothing was missed
        for rule in rules:
            found = rule.transform(graph, node)
            assert found is None or found is node.outputs[0] or not fits(found, node), rule


def fits(new: Any, node: Any) -> bool:
    """Whether a proposed term may stand there, and is not there already."""
    return bool(node.outputs[0].type.is_super(new.type)) and not is_there(new, node)


def is_there(new: Any, node: Any) -> bool:
    return new.owner is not None and (new.owner.op, new.owner.inputs) == (node.op, node.inputs)


@settings(max_examples=80)
@over(graphs(), st.lists(st.sampled_from(SOUND), min_size=1, unique=True))
def test_walks_keep_values_too(graph: FunctionGraph, rules: Any) -> None:
    before = values(graph)
    for order in ("in_to_out", "out_to_in"):
        WalkingOptimizer(rules, order).rewrite(graph)
        check(graph)
        assert values(graph) == pytest.approx(before, rel=1e-9, abs=1e-9)


@st.composite
def shrinking(draw: Any) -> DataRule:
    """A random rule whose right side is one of its variables: it always makes terms smaller."""
    left = draw(op_nodes(3).filter(lambda p: any(is_term(h) for h in holes(p).values())))
    right = draw(st.sampled_from([h for h in holes(left).values() if is_term(h)]))
    return with_sides(Lowered(left, right, ()))


def is_term(hole: Hole) -> bool:
    return not hole.rest and hole.name != "f"


@st.composite
def systems(draw: Any) -> tuple[FunctionGraph, list[DataRule]]:
    """Random rules, and a graph in which their left sides occur."""
    rules = draw(st.lists(shrinking(), min_size=1, max_size=4))
    for i, rule in enumerate(rules):
        rule.name = f"random/rule{i}"
    parts = [draw(instances(r.left)) for r in rules] + [draw(variables())]
    return FunctionGraph(None, [*parts, sub(parts[0], parts[-1])]), rules


@settings(max_examples=150)
@over(systems())
def test_any_rules_leave_a_consistent_graph(system: Any) -> None:
    graph, rules = system
    note(f"{[brief(v, 30) for v in graph.outputs]} by {rules}")
    driver = EquilibriumOptimizer(rules)
    size = len(graph)
    driver.rewrite(graph)
    check(graph)
    assert len(graph) <= size
    assert driver.rewrite(graph).firings == 0
    WalkingOptimizer(rules, "out_to_in").rewrite(graph)
    check(graph)


@settings(max_examples=50)
@over(systems())
def test_compiled_and_interpreted_rules_rewrite_alike(system: Any) -> None:
    graph, rules = system
    twin = graph.clone()
    slow = [with_sides(r.lowered) for r in rules]
    for rule, other in zip(rules, slow, strict=True):
        other.name = rule.name
        other.__dict__["apply"] = other.interpreted
    one = EquilibriumOptimizer(rules).rewrite(graph)
    two = EquilibriumOptimizer(slow).rewrite(twin)
    assert one.fired == two.fired
    assert [brief(v, 40) for v in graph.outputs] == [brief(v, 40) for v in twin.outputs]
