"""`History`, `ReplaceValidate`, and the `replace_validate` family: back to exactly what was."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.compat.features import ReplaceValidate
from rewrite_engine.errors import (
    CycleError,
    InconsistencyError,
    MissingInputError,
    TypeMismatchError,
)
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import History
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.order import Worklist
from tests.toy import add, const, divmod_, exp, log, mul, neg, num, overwrite, pos, sin

x, y, p = num("x"), num("y"), pos("p")


def graph(*outputs: Variable) -> tuple[FunctionGraph, History]:
    history = History()
    return FunctionGraph([x, y, p], outputs, [history], clone=False), history


def state(fgraph: FunctionGraph) -> Any:
    """Everything that a revert has to bring back."""
    fgraph.check_integrity()
    nodes = {node: node.inputs for node in fgraph.apply_nodes}
    return nodes, list(fgraph.outputs), {v: v.type for v in fgraph.variables}


class Forbids(Feature):
    """Finds a graph with this op invalid."""

    def __init__(self, op: Any) -> None:
        self.op = op

    def on_validate(self, fgraph: FunctionGraph) -> None:
        if any(node.op is self.op for node in fgraph.apply_nodes):
            raise InconsistencyError(f"no {self.op} here")


def test_any_earlier_state_can_be_returned_to() -> None:
    a = sin(x)
    fgraph, history = graph(exp(a), a, add(a, 2.0, y))
    states = []
    for old, new in ((a, neg(y)), (y, log(x)), (x, const(4.0)), (fgraph.outputs[2], p)):
        states.append((history.checkpoint(), state(fgraph)))
        fgraph.replace(old, new)
    for name, before in reversed(states):
        history.revert(fgraph, name)
        assert state(fgraph) == before
    fgraph.replace(a, log(a))
    history.revert(fgraph, states[0][0])
    assert state(fgraph) == states[0][1]


def test_several_steps_are_undone_at_once() -> None:
    a = sin(x)
    fgraph, history = graph(exp(a), neg(a))
    before = state(fgraph)
    for new in (log(a), y, x, p):
        fgraph.replace(fgraph.outputs[1], new)
        fgraph.replace(x, y)
    history.revert(fgraph)
    assert state(fgraph) == before


def test_merged_nodes_are_separate_again() -> None:
    fgraph, history = graph(exp(neg(sin(x))), exp(neg(sin(y))), *divmod_(x, p), *divmod_(y, p))
    before = state(fgraph)
    fgraph.replace(x, y)
    assert len(fgraph) == 4
    history.revert(fgraph)
    assert state(fgraph) == before
    assert len(fgraph) == 8


def test_types_come_back() -> None:
    fgraph, history = graph(mul(add(x, p), p))
    before = state(fgraph)
    fgraph.replace(x, p)
    assert fgraph.outputs[0].type is pos
    history.revert(fgraph)
    assert fgraph.outputs[0].type is num
    assert state(fgraph) == before


def test_constants_come_back() -> None:
    fgraph, history = graph(add(x, 2.0), mul(x, 3.0), const(5.0))
    before = state(fgraph)
    fgraph.replace(fgraph.outputs[0], x)
    fgraph.replace(fgraph.outputs[2], const(7.0))
    fgraph.replace(x, const(2.0))
    history.revert(fgraph)
    assert state(fgraph) == before
    assert sorted(c.data for c in fgraph.constants.values()) == [2.0, 3.0, 5.0]


def test_a_node_that_left_and_came_back_changed_is_as_it_was() -> None:
    """Coming back, exp(sin(x)) was put on another sin(x), whose input is then undone."""
    a, b = sin(x), sin(y)
    top = exp(a)
    fgraph, history = graph(top, neg(b), p)
    before = state(fgraph)
    fgraph.replace(top, p)
    fgraph.replace(y, x)
    fgraph.replace(p, top)
    assert top.owner.inputs == (b,)
    history.revert(fgraph)
    assert state(fgraph) == before
    assert top.owner.inputs == (a,)


def test_what_waits_is_settled_before_going_back() -> None:
    fgraph, history = graph(exp(sin(x)), log(neg(sin(x))))
    before = state(fgraph)
    fgraph.worklist = Worklist()
    fgraph.replace(x, y)
    fgraph.replace(fgraph.outputs[1], y)
    history.revert(fgraph)
    assert state(fgraph) == before
    assert not fgraph.dirty
    assert fgraph.worklist.queued <= set(fgraph.apply_nodes)
    assert fgraph.worklist.queued <= {node for _, _, node in fgraph.worklist.heap}


def test_a_driver_visits_what_is_there_again_and_keeps_its_containers() -> None:
    fgraph, history = graph(exp(sin(x)))
    worklist = fgraph.worklist = Worklist()
    heap = worklist.heap
    level, table, clients, dirty = fgraph.order.level, fgraph.table, fgraph.users, fgraph.dirty
    fgraph.replace(fgraph.outputs[0], p)
    fgraph.flush()
    assert fgraph.worklist.queued == set()
    history.revert(fgraph)
    assert fgraph.worklist.queued == set(fgraph.apply_nodes)
    assert fgraph.worklist is worklist
    assert worklist.heap is heap
    assert (fgraph.order.level, fgraph.table) == (level, table)
    assert fgraph.order.level is level
    assert fgraph.users is clients
    assert fgraph.dirty is dirty


def test_other_features_hear_of_nodes_that_leave_and_come() -> None:
    heard = []

    class Listens(Feature):
        def on_import(self, fgraph: Any, node: Any, reason: Any) -> None:
            heard.append(("in", str(node.op), reason))

        def on_prune(self, fgraph: Any, node: Any, reason: Any) -> None:
            heard.append(("out", str(node.op), reason))

        def on_restore(self, fgraph: Any, before: Any, after: Any) -> None:
            heard.append("restore")

    fgraph, history = graph(exp(sin(x)))
    fgraph.replace(fgraph.outputs[0].owner.inputs[0], neg(x))
    fgraph.attach_feature(Listens())
    history.revert(fgraph)
    assert heard == [("out", "neg", "restore"), ("in", "sin", "restore"), "restore"]


def test_going_back_without_changes_costs_nothing() -> None:
    fgraph, history = graph(exp(sin(x)))
    with pytest.raises(CycleError):
        fgraph.replace(fgraph.outputs[0].owner.inputs[0], log(fgraph.outputs[0]))
    fgraph.restore = lambda *args: pytest.fail("nothing to restore")  # type: ignore[method-assign]
    history.revert(fgraph)


def test_equal_nodes_that_were_kept_apart_are_so_again() -> None:
    w = overwrite(sin(x))
    fgraph, history = graph(w)
    fgraph.attach_feature(DestroyHandler())
    fgraph.replace(w, add(w, sin(x)))
    before = state(fgraph)
    name = history.checkpoint()
    fgraph.replace(w, x)
    history.revert(fgraph, name)
    assert state(fgraph) == before
    fgraph.validate()


# --- replace, or leave everything as it was ------------------------------------------------------


@pytest.mark.parametrize("features", [[], [ReplaceValidate()]])
def test_what_a_feature_refuses_is_undone(features: list[Feature]) -> None:
    fgraph = FunctionGraph([x, y, p], [exp(sin(x)), sin(x)], [*features, Forbids(neg)], clone=False)
    before = state(fgraph)
    with pytest.raises(InconsistencyError, match="no neg here"):
        fgraph.replace_validate(x, neg(y))
    assert state(fgraph) == before
    with pytest.raises(InconsistencyError, match="no neg here"):
        fgraph.replace_all_validate([(x, y), (y, p), (fgraph.outputs[0], exp(neg(x)))])
    assert state(fgraph) == before
    fgraph.replace_validate(x, y)
    assert fgraph.inputs[0] in fgraph
    assert len(fgraph.features) == len(features) + 1


@pytest.mark.parametrize(
    ("pairs", "error"),
    [
        (lambda a, b: [(a, y), (b, log(exp(num("z"))))], MissingInputError),
        (lambda a, b: [(x, y), (a, log(b))], CycleError),
        (lambda a, b: [(a, y), (p, x)], TypeMismatchError),
    ],
)
def test_errors_in_the_middle_undo_what_was_done(pairs: Any, error: type[Exception]) -> None:
    a = sin(x)
    b = neg(a)
    fgraph, _ = graph(b, a, add(p, p))
    before = state(fgraph)
    with pytest.raises(error):
        fgraph.replace_all_validate(pairs(a, b))
    assert state(fgraph) == before


def test_all_or_none_with_variables_that_must_go() -> None:
    a = sin(x)
    fgraph, _ = graph(neg(a), a)
    before = state(fgraph)
    with pytest.raises(InconsistencyError, match=r"sin\(\w+\) should have left the graph \(test\)"):
        fgraph.replace_all_validate_remove([(fgraph.outputs[0], y)], [a], reason="test")
    assert state(fgraph) == before
    fgraph.replace_all_validate_remove([(a, y)], [a])
    assert a not in fgraph


def test_replace_validate_works_below_a_history_of_ones_own() -> None:
    fgraph, history = graph(exp(sin(x)))
    before = state(fgraph)
    fgraph.attach_feature(forbids := Forbids(neg))
    fgraph.replace(x, y)
    with pytest.raises(InconsistencyError):
        fgraph.replace_validate(y, neg(p))
    fgraph.remove_feature(forbids)
    fgraph.replace(y, neg(p))
    history.revert(fgraph)
    assert state(fgraph) == before


def test_replace_validate_as_a_feature_names_states() -> None:
    feature = ReplaceValidate()
    fgraph = FunctionGraph([x, y, p], [sin(x)], [feature], clone=False)
    before = state(fgraph)
    name = feature.checkpoint(fgraph)
    fgraph.replace(x, y)
    assert feature.consistent(fgraph)
    fgraph.attach_feature(Forbids(sin))
    assert not feature.consistent(fgraph)
    feature.revert(fgraph, name)
    assert state(fgraph) == before


def test_one_replace_validate_is_enough() -> None:
    fgraph = FunctionGraph([x], [sin(x)], [ReplaceValidate(), ReplaceValidate()])
    assert [type(f) for f in fgraph.features].count(ReplaceValidate) == 1
    fgraph.remove_feature(next(f for f in fgraph.features if isinstance(f, ReplaceValidate)))
    assert fgraph.features == []


def test_names_and_origins_come_back() -> None:
    named, other = sin(num("u")), neg(num("v"))
    named.name = "n"
    graph = FunctionGraph(None, [exp(named), log(other)], clone=True)
    was, now = [v.owner.inputs[0] for v in graph.outputs]
    before = now.owner.origin
    with pytest.raises(InconsistencyError):
        graph.replace_all_validate_remove([(was, now)], [now], "a rule")
    assert (was.name, now.name) == ("n", None)
    assert now.owner.origin is before
