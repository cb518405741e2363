"""Journal of a graph: each change with its reason, and the way to undo it.

A journal records changes as they happen: a replacement moves clients and outputs from one variable
to another, nodes leave, types become more precise, the whole graph is put back. Each entry can be
undone on a `State` (a graph at some time), so that recording costs a tuple or two per change;
redoing means undoing less from the last state. Bringing the graph into a state takes in its nodes
anew: linear in the graph, which is acceptable for a rare operation.

Users of the journal: `replace_all_validate` (all or nothing), drivers that take back changes
refused by a feature, `History` and `FullHistory` (`history.py`), and the past of a trace
(`rewrite/trace/places.py`). To go back to one earlier graph, not by steps, a state alone is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rewrite_engine.errors import NotRemovedError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.replace import substitute

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph

NONE: dict[Apply, tuple[Variable, ...]] = {}
#: the reason that features hear for nodes that leave and come where a graph is put back
PUT_BACK = "restore"
#: what a state knows of nodes and variables: where it keeps that, and their attribute
KEPT = {"inputs": "inputs", "ops": "op", "origins": "origin", "types": "type", "names": "name"}


class State:
    """State of a graph at some time, or the parts of it that changed since. inputs: the inputs of
    nodes, as replacements have left them.
    """

    __slots__ = ("outputs", *KEPT)

    inputs: dict[Apply, tuple[Variable, ...]]
    ops: dict[Apply, Any]
    origins: dict[Apply, Any]
    types: dict[Variable, Any]
    names: dict[Variable, str | None]

    def __init__(self, outputs: Sequence[Variable]) -> None:
        self.outputs = list(outputs)
        for kept in KEPT:
            setattr(self, kept, {})

    @classmethod
    def noted(
        cls, fgraph: FunctionGraph, gone: Iterable[Apply] = (), whole: bool = True
    ) -> Callable[[], State]:
        """Record the state of a graph, and of nodes that have left it (0.3 µs a node; a third of
        that without names, types and origins). Returns a function that makes the state.
        """
        nodes, dirty = [*fgraph.apply_nodes, *gone], [*fgraph.dirty]
        told = nodes if whole else []
        made = [*chain.from_iterable(map(attrgetter("outputs"), told))]
        things: list[list[Any]] = [nodes, nodes, told, made, made]
        values = [[*map(attrgetter(name), of)] for name, of in zip(KEPT.values(), things)]
        present, outputs = [fgraph.present_inputs(node) for node in dirty], list(fgraph.outputs)

        def make() -> State:
            state = cls(outputs)
            for kept, of, found in zip(KEPT, things, values):
                getattr(state, kept).update(zip(of, found, strict=True))
            state.inputs.update(zip(dirty, present, strict=True))
            return state

        return make

    def before(self, fgraph: FunctionGraph) -> State:
        """Return the present state of the parts that this state describes."""
        state = State(fgraph.outputs)
        for kept, name in KEPT.items():
            setattr(state, kept, {one: getattr(one, name) for one in getattr(self, kept)})
        return state

    def put_back(self) -> None:
        """Restore the nodes and variables that the state describes."""
        for kept, name in KEPT.items():
            for one, value in getattr(self, kept).items():
                setattr(one, name, value)
        for node in self.inputs:
            for v in node.outputs:  # nodes that left may be taken apart
                v.owner = node
        for node, op in self.ops.items():
            node.set_op(op)


class Redirect(NamedTuple):
    """Entry for a variable that replaced another, in clients and in outputs at these places. both:
    the inputs of clients that had both variables. named: whether the new variable got its name from
    this. origin: the previous origin of its node.
    """

    old: Variable
    new: Variable
    reason: Any
    clients: Sequence[Apply]
    both: Mapping[Apply, tuple[Variable, ...]]
    places: Sequence[int]
    named: bool
    origin: Any

    def undo(self, state: State, fgraph: FunctionGraph) -> None:
        """Undo the redirection in a state."""
        old, new, both, inputs = self.old, self.new, self.both, state.inputs
        for c in self.clients:
            now = inputs.get(c) or fgraph.present_inputs(c)
            inputs[c] = both.get(c) or substitute(now, [(new, old)])
        for i in self.places:
            state.outputs[i] = old
        if self.named:
            state.names[new] = None
        if new.owner is not None:
            state.origins[new.owner] = self.origin


class Leave(NamedTuple):
    """Entry for a node that left, or got another op."""

    node: Apply
    inputs: tuple[Variable, ...]
    op: Any
    reason: Any

    def undo(self, state: State, fgraph: FunctionGraph) -> None:
        """Undo the removal in a state."""
        state.inputs[self.node], state.ops[self.node] = self.inputs, self.op


class Retype(NamedTuple):
    """Entry for a variable whose type became more precise."""

    var: Variable
    type: Any

    def undo(self, state: State, fgraph: FunctionGraph) -> None:
        """Undo the change of type in a state."""
        state.types[self.var] = self.type


class Restore(NamedTuple):
    """Entry for a graph that was put back as a whole, or changed unrecorded. It holds the previous
    state.
    """

    before: State

    def undo(self, state: State, fgraph: FunctionGraph) -> None:
        """Undo the change by returning the previous state."""
        state.outputs[:] = self.before.outputs
        for kept in KEPT:
            getattr(state, kept).update(getattr(self.before, kept))


Entry = Redirect | Leave | Retype | Restore
_entry: Any = tuple.__new__  # (a class of named tuples, and its fields: half the time)


class Journal(Feature):
    """Feature that records changes of its graph and goes back: `revert(...)` permanently,
    `move(...)` back and forth. A position is the number of entries that lead to it; both methods
    raise `IndexError` for a position that was deleted or never existed.

    entries: the entries that are still stored. here: the position of the graph after `move`; the
    next change deletes the later entries.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.forgotten = 0
        self.here: int | None = None
        self.latest: Callable[[], State] | None = None  # the last state, since `move` left it
        self.moving = False  # whether it is this that changes the graph

    @property
    def end(self) -> int:
        """Position after all recorded entries."""
        return self.forgotten + len(self.entries)

    # --- noting ----------------------------------------------------------------------------------

    def note(self, entry: Entry) -> None:
        """Append an entry at the present position."""
        if self.here is not None:
            self.cut(self.here)
        self.entries.append(entry)

    def cut(self, position: int) -> None:
        """Delete the entries after a position."""
        del self.entries[position - self.forgotten :]
        self.here = self.latest = None

    def on_redirect(
        self, fgraph: FunctionGraph, old: Any, new: Any, clients: Any, reason: Any
    ) -> None:
        there, maker, both = fgraph.users[new], new.owner, NONE
        if there and not there.keys().isdisjoint(clients):
            both = {c: fgraph.present_inputs(c) for c in clients if c in there}
        places = tuple(fgraph.out_uses[old]) if old in fgraph.out_uses else ()
        named = new.name is None and maker is not None and old.name is not None
        origin = None if maker is None else maker.origin
        self.note(_entry(Redirect, (old, new, reason, clients, both, places, named, origin)))

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        if reason is not PUT_BACK:
            if self.here is not None:
                self.cut(self.here)
            self.entries.append(_entry(Leave, (node, node.inputs, node.op, reason)))

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        self.note(Retype(var, old))

    def on_restore(self, fgraph: FunctionGraph, before: State, after: State) -> None:
        if not self.moving:
            self.note(Restore(before))

    def forget(self, position: int) -> None:
        """Delete the entries before a position."""
        del self.entries[: position - self.forgotten]
        self.forgotten = position

    # --- going back ------------------------------------------------------------------------------

    def checkpoint(self, fgraph: FunctionGraph | None = None) -> int:
        """Return the position of the present state; if the graph is passed, settle it first."""
        if fgraph is not None:
            fgraph.flush()
        return self.end if self.here is None else self.here

    def revert(self, fgraph: FunctionGraph, checkpoint: int = 0) -> None:
        """Return the graph to the checkpoint and delete the later entries."""
        self._check(checkpoint)
        self.cut(self.checkpoint(fgraph))
        entries = self.entries[checkpoint - self.forgotten :]
        if any([type(e) is not Leave or e.node.op is not e.op for e in entries]):
            self._restore(fgraph, self.undone(fgraph, State(fgraph.outputs), checkpoint))
        self.cut(checkpoint)

    def move(self, fgraph: FunctionGraph, position: int) -> None:
        """Bring the graph into the state at an earlier or later position."""
        self._check(position)
        if position == self.checkpoint(fgraph):
            return
        left = [entry.node for entry in self.entries if type(entry) is Leave]
        latest = self.latest or State.noted(fgraph, left)
        self._restore(fgraph, self.undone(fgraph, latest(), position))
        self.here, self.latest = position, latest

    def _check(self, position: int) -> None:
        if not self.forgotten <= position <= self.end:
            raise IndexError(f"no state {position}; the states are {self.forgotten} to {self.end}")

    def _restore(self, fgraph: FunctionGraph, state: State) -> None:
        self.moving = True
        try:
            fgraph.restore(state)
        finally:
            self.moving = False

    def undone(self, fgraph: FunctionGraph, state: State, position: int) -> State:
        """Return the state at a position, computed from the last state."""
        for entry in reversed(self.entries[position - self.forgotten :]):
            entry.undo(state, fgraph)
        return state


def replace_all_validate(
    fgraph: FunctionGraph,
    pairs: Iterable[tuple[Variable, Variable]] | Mapping[Variable, Variable],
    reason: Any = None,
    absent: Iterable[Variable] = (),
) -> None:
    """Replace all pairs and validate, or change nothing: on any error the graph is restored and the
    error is raised. (A method of `FunctionGraph`.)

    absent: variables that must not be in the graph afterwards (else `NotRemovedError`).
    """
    journal = Journal()
    fgraph.attach_feature(journal)
    try:
        fgraph.replace_all(pairs, reason)
        fgraph.validate()
        for v in absent:
            if v in fgraph.users:
                raise NotRemovedError(f"{v!r} should have left the graph ({reason})")
    except BaseException:
        journal.revert(fgraph)
        raise
    finally:
        fgraph.remove_feature(journal)
