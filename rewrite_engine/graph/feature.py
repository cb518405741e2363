"""`Feature`: something that watches a `FunctionGraph`, or adds abilities to it, from outside."""

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
    """Raised by `on_attach` where one of the kind is there: `attach_feature` then does nothing."""


class Feature:
    """Base of all features. Override what you need: what is not overridden costs nothing.

    Changes are announced when they reach an edge: a replacement is announced by one
    `on_change_input` per client, at the latest when the graph is next settled.

    times: whether drivers are to count every try of a rule, and to take its time, while this is
    there.
    """

    times = False

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
        node: Apply,
        i: int,
        old: Variable,
        new: Variable,
        reason: Any,
    ) -> None:
        """Called after `node.inputs[i]` (for a node `Output(k)`: `fgraph.outputs[k]`) was
        changed.
        """

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        """Called before the type of a variable becomes more precise."""

    def on_replace(self, fgraph: FunctionGraph, old: Variable, new: Variable, reason: Any) -> None:
        """Called first when somebody replaces `old` by `new`, which is not in the graph yet, or was
        there. If that changes anything, `on_redirect` follows.
        """

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

    def on_exchange(self, fgraph: FunctionGraph, node: Apply, op: Op, reason: Any) -> None:
        """Called before a node gets another op, which computes the same, and overwrites an input.
        `on_prune` and `on_import` follow: the node leaves, and comes in as what it is then.
        """

    def on_restore(self, fgraph: FunctionGraph, before: State, after: State) -> None:
        """Called after the graph was put back into an earlier state as a whole (see `Journal`);
        before, after: what was changed by that.
        """

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        """Extra constraints on the order: {node: nodes that must run before it}."""
        return {}

    # --- what drivers tell -----------------------------------------------------------------------

    def on_begin(self, fgraph: FunctionGraph, driver: Any) -> None:
        """Called before a driver, or a part of one, works on the graph."""

    def on_end(self, fgraph: FunctionGraph, result: Any) -> None:
        """Called after it has; result: what it has done, and what it is called."""

    def on_apply(self, fgraph: FunctionGraph, node: Apply, rule: Any, result: Any) -> None:
        """Called before several replacements are made in one go, since a rule returned `result`
        for a node: several outputs, or the steps of a strategy, only the last of which is put in.
        """

    def on_applied(self, fgraph: FunctionGraph, done: bool) -> None:
        """Called after that. done: whether it stays; else all of it was, or will be, undone."""

    def on_take_back(self, fgraph: FunctionGraph, mark: Any, by: str, why: str) -> None:
        """Called when a driver (by) has put the graph back to where it was at a `mark`."""

    def mark(self) -> Any:
        """What names the present state, for `on_take_back`."""

    def on_inner(self, fgraph: FunctionGraph, inner: FunctionGraph, place: str | None) -> None:
        """Called before the graph inside an op is worked on, and after that. place: the op's name;
        None: it is done.
        """

    def clone(self) -> Feature:
        """A feature for a copy of the graph (whose `memo` maps this one's variables to its own)."""
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
    """The callbacks in which features of a class do something."""
    own = [name for name in CALLBACKS if getattr(kind, name, None) is not None]
    return tuple([name for name in own if getattr(kind, name) is not getattr(Feature, name)])
