"""PyTensor's features of graphs: features that offer methods of the graph (`provides`), and its
`DestroyHandler`, which lets ops overwrite unprotected inputs of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph import destroyhandler
from rewrite_engine.graph.feature import AlreadyThere, Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import History
from rewrite_engine.graph.memory import Roots, memory_of
from rewrite_engine.graph.node import Apply, Variable

__all__ = ["OpenDestroyHandler", "ReplaceValidate", "Supervisor", "add_supervisor_to_fgraph"]


def provided(features: Iterable[Any], graph: FunctionGraph, name: str) -> Callable[..., Any] | None:
    """Return the method of that name that one of the features offers to its graph, or None.

    The last feature that offers it wins.
    """
    for feature in reversed([*features]):
        if name in getattr(feature, "provides", ()):
            return partial(getattr(feature, name), graph)
    return None


def is_consistent(fgraph: FunctionGraph) -> bool:
    """Return whether all features of a graph find it valid."""
    try:
        fgraph.validate()
    except InconsistencyError:
        return False
    return True


class ReplaceValidate(History):
    """A `History` that a graph has once, and that tells whether it is `consistent()`.

    `FunctionGraph.replace_validate` works without it.
    """

    provides = (
        *("checkpoint", "revert", "consistent", "validate"),
        *("replace_validate", "replace_all_validate", "replace_all_validate_remove"),
    )

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if any(isinstance(f, ReplaceValidate) for f in fgraph.features):
            raise AlreadyThere

    def consistent(self, fgraph: FunctionGraph) -> bool:
        """Return whether all features find the graph valid."""
        return is_consistent(fgraph)

    def validate(self, fgraph: FunctionGraph) -> None:
        """Ask all features of the graph. Raises `InconsistencyError`."""
        fgraph.validate()

    def replace_validate(
        self, fgraph: FunctionGraph, old: Variable, new: Variable, reason: Any = None
    ) -> None:
        """Replace a variable and validate, or leave the graph unchanged."""
        fgraph.replace_validate(old, new, reason)

    def replace_all_validate(self, fgraph: FunctionGraph, pairs: Any, reason: Any = None) -> None:
        """Replace all pairs and validate, or leave the graph unchanged."""
        fgraph.replace_all_validate(pairs, reason)

    def replace_all_validate_remove(
        self, fgraph: FunctionGraph, pairs: Any, remove: Iterable[Variable], reason: Any = None
    ) -> None:
        """Replace all pairs and validate, or leave the graph unchanged if one of `remove` stays."""
        fgraph.replace_all_validate_remove(pairs, remove, reason)


class OpenDestroyHandler(destroyhandler.DestroyHandler):
    """Guards in-place operations. Inputs of the graph may be overwritten, unless their
    `tag.indestructible` is True or a `Supervisor` protects them.

    An op may declare pairs of inputs (one that it overwrites, another that may show the same
    memory): `destroyhandler_tolerate_aliased`, or for one variable `destroyhandler_tolerate_same`.
    The arguments of the constructor have no effect.
    """

    provides = ("destroyers", "has_destroyers", "get_destroyers_of")

    def __init__(self, do_imports_on_attach: bool = True, algo: str | None = None) -> None:
        super().__init__()
        self.watched: Sequence[Any] = ()  # the features of the graph

    def clone(self) -> OpenDestroyHandler:
        return OpenDestroyHandler()

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.watched = fgraph.features
        super().on_attach(fgraph)

    def owner_refusal(self, root: Variable, node: Apply | None = None) -> str | None:
        if getattr(root.tag, "indestructible", False):
            return f"{root!r} is indestructible"
        if any([root in f.protected for f in self.watched if isinstance(f, Supervisor)]):
            return f"a Supervisor protects {root!r}"
        if root.owner is None:
            self.mutable.add(root)  # (not of effect for a constant)
        return super().owner_refusal(root, node)

    def tolerates(self, node: Apply, i: int, j: int) -> bool:
        op: Any = node.op
        same = node.inputs[i] is node.inputs[j]
        aliased = (i, j) in getattr(op, "destroyhandler_tolerate_aliased", ())
        return aliased or (same and (i, j) in getattr(op, "destroyhandler_tolerate_same", ()))

    def destroyers(self, fgraph: FunctionGraph, var: Variable) -> list[Apply]:
        """Return the nodes that overwrite the memory that a variable shows."""
        fgraph.flush()
        found = [self.destroyer[root] for root in self.roots(var) if root in self.destroyer]
        broken = [node for node in self.broken if self._shares(node, self.roots(var))]
        return [*dict.fromkeys(found + broken)]

    get_destroyers_of = destroyers

    def has_destroyers(self, fgraph: FunctionGraph, protected: Iterable[Variable]) -> bool:
        """Return whether a node overwrites one of these variables."""
        return any([bool(self.destroyers(fgraph, v)) for v in protected])

    def _shares(self, node: Apply, roots: Roots) -> bool:
        inputs = [node.inputs[i] for i in memory_of(node.op).destroyed]
        return any([root in roots for v in inputs for root in self.roots(v)])


class Supervisor(Feature):
    """Makes a graph invalid while a node overwrites one of its protected inputs."""

    def __init__(self, protected: Collection[Variable]) -> None:
        self.protected = list(protected)
        self.fgraph: FunctionGraph | None = None

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if self.fgraph is not None and self.fgraph is not fgraph:
            raise ValueError("this Supervisor watches another graph already")
        self.fgraph = fgraph

    def on_validate(self, fgraph: FunctionGraph) -> None:
        handler = fgraph.destroy_handler
        for v in self.protected if isinstance(handler, OpenDestroyHandler) else ():
            if handler.destroyers(fgraph, v):
                raise InconsistencyError(f"{v!r} is overwritten, which a Supervisor forbids")

    def clone(self) -> Supervisor:
        return Supervisor(self.protected)


def add_supervisor_to_fgraph(
    fgraph: FunctionGraph, input_specs: Iterable[Any], accept_inplace: bool = False
) -> None:
    """Attach a `Supervisor` that protects the inputs of a graph that are neither `mutable` nor
    updated.

    accept_inplace: whether a graph that overwrites something already is taken. Raises `TypeError`.
    """
    overwrites = [node for node in fgraph.apply_nodes if node.op.destroy_map]
    if overwrites and not accept_inplace:
        raise TypeError(f"the graph overwrites inputs already: {overwrites[0]}")
    specs = zip(fgraph.inputs, input_specs, strict=True)
    protected = [v for v, spec in specs if not (spec.mutable or spec.update is not None)]
    fgraph.attach_feature(OpenDestroyHandler())
    fgraph.attach_feature(Supervisor(protected))
