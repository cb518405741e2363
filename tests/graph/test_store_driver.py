"""`FunctionGraph` with a driver: replacements wait in `dirty`, nodes to visit in its `Worklist`."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rewrite_engine.errors import CycleError, MissingInputError
from rewrite_engine.graph.order import Worklist
from rewrite_engine.graph.replace import substitute
from tests.graph.test_store import computes, graph, p, x, y
from tests.growth import lines
from tests.toy import add, exp, log, neg, num, sin, sub


def test_a_driver_settles_nodes_when_it_visits_them() -> None:
    a = sin(x)
    b = exp(a)
    c = neg(b)
    fgraph = graph(c)
    fgraph.worklist = Worklist()
    fgraph.replace(a, y)
    assert list(fgraph.dirty) == [b.owner]
    assert fgraph.worklist.queued == {b.owner}
    assert b.owner.inputs == (a,)
    assert fgraph.present_inputs(b.owner) == (y,)
    assert fgraph.get_clients(y) == [(b.owner, 0)]
    assert fgraph.get_clients(x) == []
    assert fgraph.settle(b.owner)
    assert b.owner.inputs == (y,)
    assert not fgraph.dirty


def test_settle_says_whether_the_node_is_still_there() -> None:
    a, b = exp(x), exp(y)
    fgraph = graph(a, neg(b))
    fgraph.worklist = Worklist()
    fgraph.replace(y, x)
    assert not fgraph.settle(b.owner)
    assert b.owner not in fgraph
    assert fgraph.worklist.queued == {fgraph.outputs[1].owner}
    assert computes(fgraph, exp(x), neg(exp(x)))


def test_new_nodes_are_queued_and_dead_ones_are_not() -> None:
    a = sin(x)
    fgraph = graph(exp(a))
    fgraph.worklist = Worklist()
    new = fgraph.replace(a, neg(log(x)))
    own = {new.owner, new.owner.inputs[0].owner, fgraph.outputs[0].owner}
    assert fgraph.worklist.queued == own
    fgraph.replace(new, x)
    assert fgraph.worklist.queued == {fgraph.outputs[0].owner}


def test_flushing_leaves_the_worklist_of_the_driver_consistent() -> None:
    a, b = sin(x), sin(y)
    fgraph = graph(exp(a), exp(b), neg(b))
    fgraph.worklist = Worklist()
    fgraph.replace(x, y)
    fgraph.flush()
    assert not fgraph.dirty
    assert fgraph.worklist.queued <= set(fgraph.apply_nodes)
    assert fgraph.worklist.queued <= {node for _, _, node in fgraph.worklist.heap}
    assert computes(fgraph, exp(b), exp(b), neg(b))


def test_a_refused_replacement_leaves_no_node_queued() -> None:
    a = sin(x)
    fgraph = graph(exp(a))
    fgraph.worklist = Worklist()
    with pytest.raises(CycleError):
        fgraph.replace(a, log(fgraph.outputs[0]))
    with pytest.raises(MissingInputError):
        fgraph.replace(a, add(neg(x), num("z")))
    assert fgraph.worklist.queued == set()
    assert not fgraph.dirty


def test_a_waiting_node_is_not_found_under_its_old_inputs() -> None:
    """neg(x) waits to become neg(exp(y)); a new neg(x) is another node."""
    fgraph = graph(neg(x), sin(p), x)
    fgraph.worklist = Worklist()
    fgraph.replace(fgraph.outputs[0].owner.inputs[0], exp(y))
    fgraph.replace(fgraph.outputs[1], neg(x))
    assert computes(fgraph, neg(exp(y)), neg(x), exp(y))


def test_replacements_may_be_undone_before_they_are_settled() -> None:
    fgraph = graph(sub(x, y))
    fgraph.worklist = Worklist()
    for old, new in ((x, p), (y, x), (x, y)):
        fgraph.replace(old, new)
    assert computes(fgraph, sub(p, y))


def test_a_dirty_node_is_pruned_with_its_present_inputs() -> None:
    a, b = sin(x), log(y)
    fgraph = graph(exp(a), neg(b))
    fgraph.worklist = Worklist()
    fgraph.replace(a, b)
    fgraph.replace(fgraph.outputs[0], p)
    assert not fgraph.dirty
    assert computes(fgraph, p, neg(log(y)))


def test_substitution_applies_replacements_in_order() -> None:
    a, b, c = num("a"), num("b"), num("c")
    assert substitute((a, b), [(a, b), (b, c)]) == (c, c)
    assert substitute((a, b), [(b, c), (a, b)]) == (b, c)
    assert substitute((a, b), [(a, b), (b, a)]) == (a, a)
    assert substitute((a, b), [(None, None), (a, c)]) == (c, b)
    assert substitute((a,), [(None, None)]) == (a,)


def test_substitution_is_linear() -> None:
    many = [num() for _ in range(20_000)]
    result: list[object] = []
    todo = list(pairwise(many))
    assert lines(lambda: result.extend(substitute(tuple(many), todo))) < 20 * len(many)
    assert set(result) == {many[-1]}
