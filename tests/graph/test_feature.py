"""Features: which callbacks are called, with what, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.errors import CycleError, ForeignObjectError, InconsistencyError
from rewrite_engine.graph.feature import AlreadyThere, Feature, heard_by
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.op import Output
from rewrite_engine.graph.order import Worklist
from tests.toy import add, exp, log, neg, num, pos, sin


class Log(Feature):
    """Notes everything that it is told."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.heard.append("attach")

    def on_detach(self, fgraph: FunctionGraph) -> None:
        self.heard.append("detach")

    def on_import(self, fgraph: FunctionGraph, node: Any, reason: Any) -> None:
        assert node in fgraph
        self.heard.append(("import", str(node), reason))

    def on_prune(self, fgraph: FunctionGraph, node: Any, reason: Any) -> None:
        assert node not in fgraph
        self.heard.append(("prune", str(node), reason))

    def on_change_input(
        self, fgraph: FunctionGraph, node: Any, i: int, old: Any, new: Any, reason: Any
    ) -> None:
        output = isinstance(node.op, Output)
        assert (fgraph.outputs[node.op.idx] if output else node.inputs[i]) is new
        self.heard.append(("change", str(node), i, str(old), str(new), reason))

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        assert var.type is old
        self.heard.append(("type", str(var), str(old), str(new)))

    def on_validate(self, fgraph: FunctionGraph) -> None:
        self.heard.append("validate")


def watched(*outputs: Variable) -> tuple[FunctionGraph, Log]:
    fgraph = FunctionGraph(None, outputs, clone=False)
    fgraph.attach_feature(feature := Log())
    feature.heard.clear()
    return fgraph, feature


def test_a_replacement_is_told_import_output_prune_edge() -> None:
    x = num("x")
    a = sin(x)
    fgraph, feature = watched(exp(a), a)
    fgraph.replace(a, neg(log(x)), reason="why")
    assert feature.heard == [
        ("import", "log(x)", "why"),
        ("import", "neg(log.0)", "why"),
        ("change", "output[1](neg.0)", 0, "sin.0", "neg.0", "why"),
        ("prune", "sin(x)", "why"),
        ("change", "exp(neg.0)", 0, "sin.0", "neg.0", "replace"),
    ]


def test_each_edge_is_told_once() -> None:
    x, y = num("x"), num("y")
    fgraph, feature = watched(add(x, y, x))
    fgraph.replace(x, y)
    assert feature.heard == [
        ("change", "add(y, y, y)", 0, "x", "y", "replace"),
        ("change", "add(y, y, y)", 2, "x", "y", "replace"),
    ]


def test_merges_and_types_are_told() -> None:
    x, p = num("x"), pos("p")
    fgraph, feature = watched(add(x, p), add(p, p), neg(add(x, p)))
    fgraph.replace(x, p)
    assert feature.heard == [
        ("change", "add(p, p)", 0, "x", "p", "replace"),
        ("change", "output[0](add.0)", 0, "add.0", "add.0", "merge"),
        ("prune", "add(p, p)", "merge"),
        ("change", "neg(add.0)", 0, "add.0", "add.0", "replace"),
    ]
    x = num("x")
    fgraph, feature = watched(add(x, p))
    fgraph.replace(x, p)
    assert feature.heard[-1] == ("type", "add.0", "Num", "Pos")


def test_a_refused_replacement_ends_as_it_began() -> None:
    x = num("x")
    a = sin(x)
    fgraph, feature = watched(exp(a))
    with pytest.raises(CycleError):
        fgraph.replace(a, log(fgraph.outputs[0]), reason="why")
    assert feature.heard == [
        ("import", "log(exp.0)", "why"),
        ("prune", "log(exp.0)", "refused replacement"),
    ]


def test_with_a_driver_edges_are_told_when_they_are_settled() -> None:
    x, y = num("x"), num("y")
    fgraph, feature = watched(exp(sin(x)), y)
    fgraph.worklist = Worklist()
    fgraph.replace(x, y)
    assert feature.heard == []
    fgraph.flush()
    assert feature.heard == [("change", "sin(y)", 0, "x", "y", "replace")]


def test_features_are_told_in_the_order_of_attachment() -> None:
    told = []

    class Named(Feature):
        def __init__(self, name: str) -> None:
            self.name = name

        def on_import(self, fgraph: Any, node: Any, reason: Any) -> None:
            told.append(self.name)

    x = num("x")
    fgraph = FunctionGraph([x], [sin(x)], [Named("a"), Named("b")], clone=False)
    fgraph.replace(x, exp(x))
    assert told == ["a", "b"]


def test_attaching_and_removing() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [sin(x)], clone=False)
    feature = Log()
    fgraph.attach_feature(feature)
    fgraph.attach_feature(feature)
    fgraph.validate()
    fgraph.remove_feature(feature)
    fgraph.remove_feature(feature)
    fgraph.replace(x, exp(x))
    fgraph.validate()
    assert feature.heard == ["attach", "validate", "detach"]


def test_a_feature_may_say_that_its_kind_is_there() -> None:
    class Single(Log):
        def on_attach(self, fgraph: FunctionGraph) -> None:
            if any(isinstance(f, Single) for f in fgraph.features):
                raise AlreadyThere

    x = num("x")
    first, second = Single(), Single()
    fgraph = FunctionGraph([x], [sin(x)], [first, second], clone=False)
    assert fgraph.features == [first]
    fgraph.replace(x, exp(x))
    assert second.heard == []


def test_validation_asks_all_and_lets_the_error_pass() -> None:
    class Refuses(Feature):
        def on_validate(self, fgraph: FunctionGraph) -> None:
            raise InconsistencyError("no")

    x = num("x")
    fgraph = FunctionGraph([x], [sin(x)], [Refuses()])
    with pytest.raises(InconsistencyError, match="no"):
        fgraph.validate()


def test_what_is_not_overridden_is_not_called() -> None:
    class Nothing(Feature):
        pass

    class Duck:
        """Not even a `Feature`."""

        def on_prune(self, fgraph: Any, node: Any, reason: Any) -> None:
            pass

    assert heard_by(Nothing) == ()
    assert "on_import" in heard_by(Log)
    assert heard_by(Duck) == ("on_prune",)
    fgraph = FunctionGraph([], [], [Nothing()])
    assert fgraph.on_import == fgraph.on_prune == fgraph.on_change_input == fgraph.on_validate == []


def test_orderings_are_collected_and_honoured() -> None:
    x = num("x")
    a, b = sin(x).owner, exp(x).owner

    class Orders(Feature):
        def orderings(self, fgraph: FunctionGraph) -> Any:
            return {a: [b]}

    fgraph = FunctionGraph([x], [a.out, b.out], [Orders(), Orders(), Log()], clone=False)
    assert fgraph.orderings() == {a: [b, b]}
    assert fgraph.toposort() == [b, a]


def test_a_clone_is_a_new_feature_of_the_class() -> None:
    assert type(Log().clone()) is Log


def test_attaching_settles_what_waits() -> None:
    x, y = num("x"), num("y")
    fgraph = FunctionGraph([x, y], [sin(x)], clone=False)
    fgraph.worklist = Worklist()
    fgraph.replace(x, y)
    feature = Log()
    fgraph.attach_feature(feature)
    fgraph.flush()
    assert feature.heard == ["attach"]


def test_what_is_no_feature_is_refused() -> None:
    x = num("x")
    with pytest.raises(ForeignObjectError, match="only a Feature .* not bool True"):
        FunctionGraph([x], [exp(x)]).attach_feature(True)  # type: ignore[arg-type]
