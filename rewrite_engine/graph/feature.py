"""`Feature`: an object that watches a `FunctionGraph`, or adds methods to it, from outside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rewrite_engine.graph.node import Apply, Variable

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph
    from rewrite_engine.graph.journal import State
    from rewrite_engine.graph.op import Op


class AlreadyThere(Exception):
    """Raised by `on_attach` if the graph has a feature of this kind: `attach_feature` then does
    nothing.
    """


class Feature:
    """Base class of all features. Override only the methods you need: others cost nothing.

    Changes are announced when they reach an edge: a replacement is announced by one
    `on_change_input` per client, at the latest when the graph is next settled.

    times: whether drivers count and time every try of a rule while this feature is attached.
    """

    times = False

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Called when attached. May raise `AlreadyThere`, and may add methods to the graph."""

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Called when removed. Undoes what `on_attach` added."""

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Called after a node has entered the graph."""

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Called after a node has left the graph."""

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        old: Variable,
        new: Variable,
        reason: Any,
    ) -> None:
        """Called after `node.inputs[i]` (for a node `Output(k)`: `fgraph.outputs[k]`) has
        changed.
        """

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        """Called before the type of a variable becomes more precise."""

    def on_replace(self, fgraph: FunctionGraph, old: Variable, new: Variable, reason: Any) -> None:
        """Called first when `old` is replaced by `new`, which may be new to the graph or already in
        it. If this changes anything, `on_redirect` follows.
        """

    def on_redirect(
        self,
        fgraph: FunctionGraph,
        old: Variable,
        new: Variable,
        clients: Sequence[Apply],
        reason: Any,
    ) -> None:
        """Called when `new` replaces `old` in these clients, before any of them changes (they are
        settled later). reason: "merge" if two nodes turn out to be equal.
        """

    def on_validate(self, fgraph: FunctionGraph) -> None:
        """Raise `InconsistencyError` if the graph violates the invariant that this
        feature guards.
        """

    def on_exchange(self, fgraph: FunctionGraph, node: Apply, op: Op, reason: Any) -> None:
        """Called before a node gets another op that computes the same value and overwrites an
        input. `on_prune` and `on_import` follow: the node leaves and enters again with its new op.
        """

    def on_restore(self, fgraph: FunctionGraph, before: State, after: State) -> None:
        """Called after the whole graph was put back into an earlier state (see `Journal`). before,
        after: the changed parts of the graph.
        """

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        """Return extra constraints on the order: {node: nodes that must run before it}."""
        return {}

    # --- what drivers tell -----------------------------------------------------------------------

    def on_begin(self, fgraph: FunctionGraph, driver: Any) -> None:
        """Called before a driver, or a part of one, works on the graph."""

    def on_end(self, fgraph: FunctionGraph, result: Any) -> None:
        """Called after a driver, or a part of one, has worked on the graph. result: its name and
        its changes.
        """

    def on_apply(self, fgraph: FunctionGraph, node: Apply, rule: Any, result: Any) -> None:
        """Called before several replacements are made together because a rule returned `result` for
        a node: several outputs, or the steps of a strategy, only the last of which is inserted.
        """

    def on_applied(self, fgraph: FunctionGraph, done: bool) -> None:
        """Called after the replacements that `on_apply` announced. done: True if they stay;
        otherwise they were, or will be, undone.
        """

    def on_take_back(self, fgraph: FunctionGraph, mark: Any, by: str, why: str) -> None:
        """Called when a driver (by) has returned the graph to a `mark`."""

    def mark(self) -> Any:
        """Return an identifier of the present state, for `on_take_back`."""

    def on_inner(self, fgraph: FunctionGraph, inner: FunctionGraph, place: str | None) -> None:
        """Called before and after work on the graph inside an op. place: the op's name before the
        work; None after it.
        """

    def clone(self) -> Feature:
        """Return a feature for a copy of the graph (whose `memo` maps this graph's variables to its
        own).
        """
        return type(self)()


CALLBACKS = (
    "on_replace",
    "on_exchange",
    "on_apply",
    "on_applied",
    "on_import",
    "on_prune",
    "on_change_input",
    "on_change_type",
    "on_redirect",
    "on_validate",
)


@lru_cache(maxsize=256)
def heard_by(kind: type[Any]) -> tuple[str, ...]:
    """Return the callbacks that features of a class override."""
    own = [name for name in CALLBACKS if getattr(kind, name, None) is not None]
    return tuple([name for name in own if getattr(kind, name) is not getattr(Feature, name)])
