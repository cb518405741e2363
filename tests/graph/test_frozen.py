"""`FrozenGraph`: what can be read of any graph; only a `FunctionGraph` has mutators."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from rewrite_engine.errors import MissingInputError, ReadOnlyError
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph, changeable
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.inner import InnerGraph
from tests.toy import add, exp, neg, num, sin

MUTATORS = {
    *("replace", "replace_all", "change_node_input", "exchange", "restore"),
    *("replace_validate", "replace_all_validate", "replace_all_validate_remove"),
    *("add_input", "add_output", "remove_input", "remove_output"),
}
#: what else a graph that can be changed has: who watches, and how a driver works on it
OTHERS = {
    *("attach_feature", "remove_feature", "watch", "marks", "take_back"),
    *("clone", "clone_get_equiv", "reorders"),
}


def test_a_frozen_graph_is_read() -> None:
    x, y = num("x"), num("y")
    a = sin(x)
    graph = FrozenGraph([x, y], [exp(a), neg(sin(x)), x, add(y, 1.0)])
    graph.check_integrity()
    assert [str(node.op) for node in graph.toposort()] == ["sin", "add", "exp", "neg"]
    assert (graph.merged, len(graph), graph.inputs[0] in graph, x in graph) == (1, 4, True, False)
    (shared,) = [node for node in graph.apply_nodes if str(node.op) == "sin"]
    assert [str(node.op) for node, _ in graph.get_clients(shared.outputs[0])] == ["exp", "neg"]
    assert graph.clients[shared.outputs[0]] == graph.get_clients(shared.outputs[0])
    with pytest.raises(MissingInputError):
        FrozenGraph([x], [y])


def test_a_frozen_graph_is_pickled_and_copied() -> None:
    x, y = num("x"), num("y")
    graph = FrozenGraph([x, y], [add(x, sin(y))])
    again = pickle.loads(pickle.dumps(graph))
    assert (type(again), str(again.outputs[0].owner)) == (FrozenGraph, str(graph.outputs[0].owner))
    copy, memo = changeable(graph)
    copy.replace(copy.outputs[0], copy.inputs[0])
    assert (type(copy), copy.outputs) == (FunctionGraph, [memo[graph.inputs[0]]])
    assert len(graph) == 2


def test_features_know_a_frozen_graph_from_the_start() -> None:
    x = num("x")
    guard = DestroyHandler([x], strict=True)
    graph = FrozenGraph([x], [sin(x)], [guard])
    assert graph.features == [guard]
    assert graph.destroy_handler is guard
    assert guard.mutable == set(graph.inputs)
    graph.validate()


def test_only_a_graph_that_can_be_changed_has_mutators() -> None:
    assert not [name for name in MUTATORS if hasattr(FrozenGraph, name)]
    public = {name for name in vars(FunctionGraph) if not name.startswith("_")}
    assert public - OTHERS == MUTATORS
    page = Path(__file__).parents[2] / "docs" / "inner_graphs.md"
    for text in (FunctionGraph.__doc__ or "", page.read_text(encoding="utf-8")):
        assert [name for name in MUTATORS if f"`{name}`" not in text] == []


def test_the_graph_of_an_op_says_why_it_has_no_mutators() -> None:
    x = num("x")
    graph = InnerGraph([x], [sin(x)])
    for name in MUTATORS:
        with pytest.raises(ReadOnlyError, match="cannot be changed"):
            getattr(graph, name)
    with pytest.raises(AttributeError, match="'InnerGraph' object has no attribute 'inptus'$"):
        _ = graph.inptus
