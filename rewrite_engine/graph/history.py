"""`History` (undo), `ReplaceValidate` (replace, or leave the graph as it was), and `Snapshot` (the
whole graph, for going back whatever happens).

A history notes which inputs and types changed, which variables took the name of another or come
from elsewhere now, and the inputs of nodes that leave (such a node may be changed when it is used
again), so noting costs a tuple or two per change. Going back puts what was noted in place and lets
the graph take in its nodes anew: linear in the graph, which is fine for what should be rare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph.feature import AlreadyThere, Feature
from rewrite_engine.graph.node import Apply, Variable

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph

#: (node or "output", input index, what was there), (node that left, None, its inputs), (variable,
#: None, its type), ("name", None, a variable that had none) or ("origin", None, (node, its origin))
Change = tuple[Any, int | None, Any]


def takes_name(new: Variable, old: Variable) -> bool:
    """Whether a variable is about to get the name of the one that it replaces."""
    return new.name is None and new.owner is not None and old.name is not None


class History(Feature):
    """Remembers every changed edge: `checkpoint()` names the present state, `revert(...)` goes
    back to it.
    """

    def __init__(self) -> None:
        self.log: list[Change] = []

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply | str,
        i: int,
        old: Variable,
        new: Variable,
        reason: Any,
    ) -> None:
        self.log.append((node, i, old))

    def on_redirect(
        self,
        fgraph: FunctionGraph,
        old: Variable,
        new: Variable,
        clients: Sequence[Apply],
        reason: Any,
    ) -> None:
        if takes_name(new, old):
            self.log.append(("name", None, new))
        if new.owner is not None:
            self.log.append(("origin", None, (new.owner, new.owner.origin)))

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        self.log.append((var, None, old))

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.log.append((node, None, node.inputs))

    def checkpoint(self, fgraph: FunctionGraph | None = None) -> int:
        """Name the present state, of the graph settled if it is given."""
        if fgraph is not None:
            fgraph.flush()
        return len(self.log)

    def revert(self, fgraph: FunctionGraph, checkpoint: int = 0) -> None:
        """Put the graph back into the state of the checkpoint."""
        fgraph.flush()
        inputs: dict[Apply, list[Variable]] = {}
        outputs = list(fgraph.outputs)
        types: dict[Variable, Any] = {}
        changed = False
        for what, i, old in reversed(self.log[checkpoint:]):
            if isinstance(what, Variable):
                types[what] = old
            elif what == "name":
                old.name = None
                continue
            elif what == "origin":
                old[0].origin = old[1]
                continue
            elif i is None:
                inputs[what] = list(old)
                continue
            elif what == "output":
                outputs[i] = old
            else:
                inputs.setdefault(what, list(what.inputs))[i] = old
            changed = True
        del self.log[checkpoint:]
        if changed:  # else nodes came and went only
            fgraph.restore(inputs, outputs, types)
            del self.log[checkpoint:]


class ReplaceValidate(History):
    """A `History` that a graph has once, and that tells whether it is `consistent()`.

    `FunctionGraph.replace_validate` works without it (it then keeps a history for that one call).
    """

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if any(isinstance(f, ReplaceValidate) for f in fgraph.features):
            raise AlreadyThere

    def consistent(self, fgraph: FunctionGraph) -> bool:
        """Whether all features find the graph valid."""
        try:
            fgraph.validate()
        except InconsistencyError:
            return False
        return True


class Snapshot:
    """What is needed to bring a graph back: nodes with their inputs, origins and
    names, outputs, types.

    Taking one is linear in the graph (0.2 µs a node), so it is taken just before the first change
    (`take`). It survives that nodes which leave are taken apart (`Worklist.frees`).
    """

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph
        self.taken = False
        self.types: dict[Variable, Any] = {}

    def open(self) -> None:
        """Note types that change, from here to `close`."""
        self.fgraph.flush()
        self.fgraph.on_change_type.append(self.note_type)

    def take(self) -> Snapshot:
        """Note how the graph is now; return self."""
        self.nodes = nodes = list(self.fgraph.apply_nodes)
        self.inputs = [*map(attrgetter("inputs"), nodes)]
        self.origins = [*map(attrgetter("origin"), nodes)]
        self.outputs = list(self.fgraph.outputs)
        made = chain.from_iterable(map(attrgetter("outputs"), nodes))
        self.named = {v: v.name for v in made if v.name is not None}
        self.taken = True  # at last: whatever interrupts finds all of it, or nothing
        return self

    def note_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        """A type becomes more precise."""
        self.types.setdefault(var, old)

    def close(self) -> None:
        """Note nothing more."""
        if self.note_type in self.fgraph.on_change_type:
            self.fgraph.on_change_type.remove(self.note_type)

    def restore(self) -> None:
        """Bring the graph back, the same nodes and all (as it is, if nothing was to be noted)."""
        if not self.taken:
            return
        named = self.named
        inputs = dict(zip(self.nodes, self.inputs, strict=True))
        for node, origin in zip(self.nodes, self.origins, strict=True):
            node.origin = origin
            for v in node.outputs:
                v.owner = node
                v.name = named.get(v)
        self.fgraph.restore(inputs, self.outputs, self.types)


def replace_validate(
    fgraph: FunctionGraph,
    pairs: Iterable[tuple[Variable, Variable]] | Mapping[Variable, Variable],
    reason: Any = None,
    gone: Iterable[Variable] = (),
) -> None:
    """Replace all pairs and validate; on any error the graph is as it was before, and the error is
    raised.

    gone: variables that must not be in the graph afterwards (else `InconsistencyError`).
    """
    history: History | None = next(
        (f for f in fgraph.features if isinstance(f, ReplaceValidate)), None
    )
    keep = history is not None
    history = history or History()
    fgraph.flush()
    if not keep:
        fgraph.attach_feature(history)
    start = history.checkpoint()
    try:
        fgraph.replace_all(pairs, reason)
        fgraph.validate()
        for v in gone:
            if v in fgraph.clients:
                raise InconsistencyError(f"{v!r} should have left the graph ({reason})")
    except BaseException:
        history.revert(fgraph, start)
        raise
    finally:
        if not keep:
            fgraph.remove_feature(history)
