"""`Feature`: something that watches a `FunctionGraph`, or adds abilities to it, from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.graph.node import Apply, Variable

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph


class AlreadyThere(Exception):
    """Raised by `on_attach` when a feature of this kind is attached already; `attach_feature`
    then does nothing.
    """


class Feature:
    """Base of all features. Override what you need: what is not overridden costs nothing.

    Changes are announced when they reach an edge: a replacement is announced by one
    `on_change_input` per client, at the latest when the graph is next settled.
    """

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Called when attached; may raise `AlreadyThere`, and may add methods to the graph."""

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Called when removed; undoes what `on_attach` added."""

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Called after a node has entered the graph."""

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Called after a node has left the graph."""

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply | str,
        i: int,
        old: Variable,
        new: Variable,
        reason: Any,
    ) -> None:
        """Called after `node.inputs[i]` (or, for the node "output", `fgraph.outputs[i]`) was
        changed.
        """

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        """Called before the type of a variable becomes more precise."""

    def on_redirect(
        self,
        fgraph: FunctionGraph,
        old: Variable,
        new: Variable,
        clients: Sequence[Apply],
        reason: Any,
    ) -> None:
        """Called when `new` takes the place of `old` in these clients, before any of them changes
        (they are settled later). reason: "merge" where two nodes turn out to be equal.
        """

    def on_validate(self, fgraph: FunctionGraph) -> None:
        """Raise `InconsistencyError` if the graph is not what this feature guards."""

    def on_restore(self, fgraph: FunctionGraph) -> None:
        """Called after the graph was put back into an earlier state as a whole (see `History`)."""

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        """Extra constraints on the order: {node: nodes that must run before it}."""
        return {}

    def clone(self) -> Feature:
        """A feature for a copy of the graph (whose `memo` maps this graph's variables to its
        own).
        """
        return type(self)()


CALLBACKS = (
    "on_import",
    "on_prune",
    "on_change_input",
    "on_change_type",
    "on_redirect",
    "on_validate",
)


def overridden(feature: Feature, name: str) -> bool:
    """Whether a feature does something in this callback."""
    method = getattr(type(feature), name, None)
    return method is not None and method is not getattr(Feature, name)
