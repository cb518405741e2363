"""The past of a graph: `State` (a graph at some time), `History` (what has changed, to go back),
`FullHistory` (every step, back and forth) and `replace_all_validate` (all, or nothing).

A history keeps what changes, as it changes: a replacement moves clients and outputs from one
variable to another, nodes leave, types become more precise, the graph is put back as a whole. Each
entry can be undone on a `State`, so that noting costs a tuple or two per change; what is to be done
again is the last state with less undone. Bringing the graph into a state lets it take in its nodes
anew: linear in the graph, which is fine for what should be rare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import NotRemovedError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.memory import exchanged
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.replace import substitute

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph
    from rewrite_engine.graph.op import Op

REDIRECT, LEAVE, TYPE, RESTORE = range(4)
NONE: dict[Apply, tuple[Variable, ...]] = {}
#: the reason that features hear for nodes that leave and come where a graph is put back
PUT_BACK = "restore"


#: what a state knows of nodes and variables: where it keeps that, and their attribute
KEPT = {"inputs": "inputs", "ops": "op", "origins": "origin", "types": "type", "names": "name"}


class State:
    """A graph at some time; or, of that, what has changed since. inputs: of nodes, as replacements
    have left them.
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
        """Note the state that a graph, and nodes that have left it, are in (0.3 µs a node; a third
        of that without names, types and origins); what is returned makes it.
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
        """What the graph is now, where this state says something of it."""
        state = State(fgraph.outputs)
        for kept, name in KEPT.items():
            setattr(state, kept, {one: getattr(one, name) for one in getattr(self, kept)})
        return state

    def put_back(self) -> None:
        """Give nodes and variables what the state says of them."""
        for kept, name in KEPT.items():
            for one, value in getattr(self, kept).items():
                setattr(one, name, value)
        for node in self.inputs:
            for v in node.outputs:  # nodes that left may be taken apart
                v.owner = node
        for node, op in self.ops.items():
            node.set_op(op)

    def undo(self, fgraph: FunctionGraph, kind: int, what: Any, *values: Any) -> None:
        """Go back by one entry of a history."""
        if kind == REDIRECT:
            new, clients, both, places, named, origin = values
            for c in clients:
                now = self.inputs.get(c) or fgraph.present_inputs(c)
                self.inputs[c] = both.get(c) or substitute(now, [(new, what)])
            for i in places:
                self.outputs[i] = what
            if named:
                self.names[new] = None
            if new.owner is not None:
                self.origins[new.owner] = origin
        elif kind == LEAVE:
            self.inputs[what], self.ops[what] = values
        elif kind == TYPE:
            self.types[what] = values[0]
        elif kind == RESTORE:
            self.outputs[:] = what.outputs
            for kept in KEPT:
                getattr(self, kept).update(getattr(what, kept))


class History(Feature):
    """Remembers changes: `checkpoint()` names the present state, `revert(...)` goes back to it."""

    def __init__(self) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.note: Callable[[tuple[Any, ...]], None] = self.log.append

    def on_redirect(
        self, fgraph: FunctionGraph, old: Any, new: Any, clients: Any, reason: Any
    ) -> None:
        there, maker, both = fgraph.users[new], new.owner, NONE
        if there and not there.keys().isdisjoint(clients):
            both = {c: fgraph.present_inputs(c) for c in clients if c in there}
        places = tuple(fgraph.out_uses[old]) if old in fgraph.out_uses else ()
        named = new.name is None and maker is not None and old.name is not None
        origin = None if maker is None else maker.origin
        self.note((REDIRECT, old, new, clients, both, places, named, origin))

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        if reason is not PUT_BACK:
            self.note((LEAVE, node, node.inputs, node.op))

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        self.note((TYPE, var, old, new))

    def on_restore(self, fgraph: FunctionGraph, before: State, after: State) -> None:
        self.note((RESTORE, before, after))

    def checkpoint(self, fgraph: FunctionGraph | None = None) -> int:
        """Name the present state, of the graph settled if it is given."""
        if fgraph is not None:
            fgraph.flush()
        return len(self.log)

    def revert(self, fgraph: FunctionGraph, checkpoint: int = 0) -> None:
        """Put the graph back into the state of the checkpoint."""
        fgraph.flush()
        entries = self.log[checkpoint:]
        if any(kind != LEAVE or what.op is not more[-1] for kind, what, *more in entries):
            fgraph.restore(self.undone(fgraph, State(fgraph.outputs), checkpoint))
        del self.log[checkpoint:]

    def undone(self, fgraph: FunctionGraph, state: State, end: int) -> State:
        """The state of the graph after so many entries, made of that after all of them."""
        for entry in reversed(self.log[end:]):
            state.undo(fgraph, *entry)
        return state


def replace_all_validate(
    fgraph: FunctionGraph,
    pairs: Iterable[tuple[Variable, Variable]] | Mapping[Variable, Variable],
    reason: Any = None,
    absent: Iterable[Variable] = (),
) -> None:
    """Replace all pairs and validate, or none: on any error the graph is as it was before, and the
    error is raised. (A method of `FunctionGraph`.)

    absent: variables that must not be in the graph afterwards (else `NotRemovedError`).
    """
    history = History()
    fgraph.attach_feature(history)
    try:
        fgraph.replace_all(pairs, reason)
        fgraph.validate()
        for v in absent:
            if v in fgraph.users:
                raise NotRemovedError(f"{v!r} should have left the graph ({reason})")
    except BaseException:
        history.revert(fgraph)
        raise
    finally:
        fgraph.remove_feature(history)


@dataclass(frozen=True, slots=True)
class Replacement:
    """One replacement. reason: the rule, as a rule. before, after: the terms as text if the history
    takes text, else variables. at: where in the log it begins.
    """

    number: int
    reason: Any
    before: Any
    after: Any
    at: int

    def __str__(self) -> str:
        name = getattr(self.reason, "name", self.reason)
        return f"{self.number}. {self.before} → {self.after}  ({name})"


class FullHistory(History):
    """Steps through the states of the graph that it is attached to.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.compile import get_mode
    >>> from rewrite_engine.graph.fgraph import FunctionGraph
    >>> from rewrite_engine.rewrite.trace import brief
    >>> x = pt.vector("x")
    >>> fgraph, history = FunctionGraph([x], [pt.log(1 + pt.exp(x))]), FullHistory(text=brief)
    >>> fgraph.attach_feature(history)
    >>> result = get_mode().optimizer.rewrite(fgraph)    # or whatever else changes the graph
    >>> for step in history:
    ...     print(step)
    1. log(1.0 + exp(x)) → log1p(exp(x))  (exp_log/log_of_one_plus)
    2. log1p(exp(x)) → softplus(x)  (exp_log/log1p_of_exp)
    >>> history.goto(0) is fgraph, fgraph.outputs        # the graph itself is as it was
    (True, [log.0])
    >>> history.forward().outputs
    [log1p.0]

    text: writes a variable, when a step is made (`rewrite_engine.rewrite.trace.brief`). State 0 is
    the graph as it was, state n the graph after n replacements; in between, equal nodes may stand
    apart that a driver had not found equal yet. If the graph is changed while it is in an earlier
    state, what came after that state is forgotten.
    """

    def __init__(self, text: Callable[[Variable], str] | None = None) -> None:
        super().__init__()
        self.text = text
        self.steps: list[Replacement] = []
        self.position = 0
        self.latest: Callable[[], State] | None = None  # while the graph is in an earlier one
        self.moving = False  # whether it is this that changes the graph
        self.note = self.note_here
        self.fgraph: FunctionGraph | None = None

    def back(self, n: int = 1) -> FunctionGraph:
        """Go n steps back; return the graph."""
        return self.goto(self.position - n)

    def forward(self, n: int = 1) -> FunctionGraph:
        """Go n steps forward; return the graph."""
        return self.goto(self.position + n)

    def goto(self, n: int) -> FunctionGraph:
        """Bring the graph into the state after n steps, and return it. Raises `IndexError`."""
        if not 0 <= n <= len(self.steps):
            raise IndexError(f"there is no state {n}: there are 0 to {len(self.steps)}")
        fgraph = self.fgraph
        if fgraph is None:
            raise IndexError("this history is attached to no graph yet")
        fgraph.flush()
        if n == self.position:
            return fgraph
        if self.latest is None:
            left = [what for kind, what, *_ in self.log if kind == LEAVE]
            self.latest = State.noted(fgraph, left)
        self.moving = True
        try:
            fgraph.restore(self.undone(fgraph, self.latest(), self._end(n)))
        finally:
            self.moving = False
        self.position = n
        return fgraph

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Replacement]:
        return iter(self.steps)

    def __getitem__(self, i: int) -> Replacement:
        return self.steps[i]

    def _end(self, n: int) -> int:
        """How much of the log belongs to the first n steps."""
        return self.steps[n].at if n < len(self.steps) else len(self.log)

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph

    def note_here(self, entry: tuple[Any, ...]) -> None:
        """Add an entry to what has led here."""
        del self.log[self._end(self.position) :], self.steps[self.position :]
        self.latest = None
        self.log.append(entry)

    def step(self, reason: Any, before: Any, after: Any) -> None:
        """The last entry begins a step."""
        self.position = n = len(self.steps) + 1
        self.steps.append(Replacement(n, reason, before, after, len(self.log) - 1))

    def shown(self, *terms: Any) -> list[Any]:
        """Terms as steps show them."""
        return [*terms] if self.text is None else [*map(self.text, terms)]

    def on_redirect(
        self, fgraph: FunctionGraph, old: Any, new: Any, clients: Any, reason: Any
    ) -> None:
        shown = [] if reason == "merge" else self.shown(old, new)
        super().on_redirect(fgraph, old, new, clients, reason)
        if shown:
            self.step(reason, *shown)

    def on_exchange(self, fgraph: FunctionGraph, node: Apply, op: Op, reason: Any) -> None:
        self.note((LEAVE, node, node.inputs, node.op))
        self.step(reason, *self.shown(*exchanged(node, op)))

    def on_restore(self, fgraph: FunctionGraph, before: State, after: State) -> None:
        if self.moving:
            return
        super().on_restore(fgraph, before, after)
        self.step(PUT_BACK, "the graph", "the graph as it was before")
