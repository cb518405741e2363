"""Features of graphs under PyTensor's names: what they offer to a graph, and who may overwrite."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.databases import ShapeFeature
from rewrite_engine.compat.features import OpenDestroyHandler, ReplaceValidate, Supervisor
from rewrite_engine.compat.graphs import UnmergedGraph
from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import NoneConst


class Overwrite(Op):
    """Overwrites its first input; tolerate: whether the second may show the same memory."""

    __props__ = ("tolerate",)

    def __init__(self, tolerate: str = "") -> None:
        self.tolerate = tolerate
        self.destroy_map = {0: [0]}
        if tolerate:
            setattr(self, f"destroyhandler_tolerate_{tolerate}", [(0, 1)])

    def make_node(self, x: Any, y: Any) -> Apply:
        return Apply(self, [x, y], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        raise NotImplementedError


class View(Op):
    """Shows its input."""

    __props__ = ()
    view_map = {0: [0]}

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        raise NotImplementedError


def guarded(inputs: list[Any], output: Any) -> Any:
    fgraph = UnmergedGraph(inputs, [output], clone=False)
    fgraph.attach_feature(OpenDestroyHandler())
    return fgraph


def test_inputs_of_a_guarded_graph_may_be_overwritten() -> None:
    x, y = pt.vectors("x", "y")
    made = Overwrite()(x, y)
    fgraph = guarded([x, y], made)
    assert fgraph.consistent()
    assert fgraph.destroyers(x) == [made.owner]
    assert fgraph.has_destroyers([x, y])
    assert not fgraph.has_destroyers([y])
    fgraph.replace(y, View()(x))  # read through a view while it is overwritten
    assert not fgraph.consistent()


@pytest.mark.parametrize("first", [True, False])
def test_a_supervisor_protects_inputs(first: bool) -> None:
    x, y = pt.vectors("x", "y")
    fgraph = guarded([x, y], pt.add(x, y) if first else Overwrite()(x, y))
    fgraph.attach_feature(Supervisor([x]))
    if first:
        with pytest.raises(InconsistencyError, match="protects x"):
            fgraph.replace_validate(fgraph.outputs[0], Overwrite()(x, y))
        fgraph.replace_validate(fgraph.outputs[0], Overwrite()(y, x))
        assert fgraph.consistent()
    else:
        with pytest.raises(InconsistencyError, match="Supervisor forbids"):
            fgraph.validate()


def test_what_is_indestructible_stays() -> None:
    x, y = pt.vectors("x", "y")
    x.tag.indestructible = True
    assert not guarded([x, y], Overwrite()(View()(x), y)).consistent()


@pytest.mark.parametrize(
    ("tolerate", "second", "valid"),
    [
        ("", lambda x: x, False),
        ("same", lambda x: x, True),
        ("same", View(), False),
        ("aliased", lambda x: x, True),
        ("aliased", View(), True),
    ],
)
def test_ops_declare_what_may_show_the_memory_that_they_overwrite(
    tolerate: str, second: Callable[[Any], Any], valid: bool
) -> None:
    x = pt.vector("x")
    assert guarded([x], Overwrite(tolerate)(x, second(x))).consistent() is valid


def test_a_graph_goes_back_to_a_checkpoint() -> None:
    x = pt.vector("x")
    fgraph = UnmergedGraph([x], [pt.exp(x)], clone=False)
    before = fgraph.checkpoint()
    fgraph.replace(fgraph.outputs[0], pt.sin(x))
    assert str(fgraph.outputs[0].owner.op) == "sin"
    fgraph.revert(before)
    assert str(fgraph.outputs[0].owner.op) == "exp"


class Counter(Feature):
    """Offers a method to its graph."""

    provides = ("count",)

    def count(self, fgraph: Any, add: int = 0) -> int:
        return len(fgraph.apply_nodes) + add

    def on_notice(self, fgraph: Any, seen: list[Any]) -> str:
        seen.append(fgraph)
        return "noticed"


@pytest.mark.parametrize("kind", [Counter, OpenDestroyHandler, ReplaceValidate])
def test_a_feature_offers_methods_of_the_graph(kind: Any) -> None:
    x = pt.vector("x")
    fgraph = UnmergedGraph([x], [pt.exp(pt.sin(x))])
    if kind is Counter:
        with pytest.raises(AttributeError, match="count"):
            fgraph.count()
    fgraph.attach_feature(kind())
    for graph in (fgraph, pickle.loads(pickle.dumps(fgraph))):
        assert all(callable(getattr(graph, name)) for name in kind.provides)
        if kind is Counter:
            assert graph.count(add=1) == 3


def test_every_feature_is_called_by_name() -> None:
    x = pt.vector("x")
    fgraph = UnmergedGraph([x], [pt.exp(x)], [Feature(), Counter()])
    seen: list[Any] = []
    fgraph.execute_callbacks("on_notice", seen)
    assert seen == [fgraph]
    assert fgraph.collect_callbacks("on_notice", seen) == {fgraph.features[1]: "noticed"}


def test_lengths_of_narrow_integers_are_lengths() -> None:
    m, n = pt.iscalar("m"), pt.iscalar("n")
    x = pt.ones((m, n))
    fgraph = UnmergedGraph(None, [x], [ShapeFeature()], clone=False)
    lengths = fgraph.shape_feature.shape_tuple(x)
    assert [v.type.dtype for v in lengths] == ["int64", "int64"]
    assert [*rw.graph.graph_inputs(lengths)] == [m, n]
    assert rw.function([m, n], list(lengths))(2, 3) == [2, 3]
    assert fgraph.shape_feature.shape_tuple(NoneConst) is None
