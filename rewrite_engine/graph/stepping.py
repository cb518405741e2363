"""`FullHistory`: every state that a graph has been in, to step through back and forth.

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

`History` (`graph/history.py`) is for undoing: it keeps less and cannot go forward. Here each
replacement is a step, and what is kept are the replacements themselves, since a driver settles
clients later, several replacements at a time. A jump is linear in the graph and in what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.history import takes_name
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.replace import Pending, substitute

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph

Inputs = dict[Apply, tuple[Variable, ...]]
Contents = tuple[Inputs, list[Variable], dict[Variable, Any]]


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


class FullHistory(Feature):
    """Steps through the states of the graph that it is attached to.

    text: writes a variable, when a step is made (`rewrite_engine.rewrite.trace.brief`). State 0 is
    the graph as it was, state n the graph after n steps. In between, equal nodes may stand apart
    that a driver had not found equal yet. If the graph is changed while it is in an earlier state,
    what came after that state is forgotten.
    """

    def __init__(self, text: Callable[[Variable], str] | None = None) -> None:
        self.text = text
        self.steps: list[Replacement] = []
        self.position = 0
        self.log: list[tuple[Any, ...]] = []
        self.first: Contents = {}, [], {}
        self.fgraph: Any = None
        self.moving = False

    # --- stepping --------------------------------------------------------------------------------

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
        self.fgraph.flush()
        self.moving = True
        try:
            self._rename(self._end(n))
            self.fgraph.restore(*self._state(self._end(n)))
        finally:
            self.moving = False
        self.position = n
        return self.fgraph  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Replacement]:
        return iter(self.steps)

    def __getitem__(self, i: int) -> Replacement:
        return self.steps[i]

    def _end(self, n: int) -> int:
        """How much of the log belongs to the first n steps."""
        return self.steps[n].at if n < len(self.steps) else len(self.log)

    def _rename(self, end: int) -> None:
        """Give variables the names that they have after the first entries of the log."""
        for i, (kind, what, *_) in enumerate(self.log):
            if kind == "name":
                variable, name = what
                variable.name = name if i < end else None

    def _state(self, end: int) -> Contents:
        """Inputs, outputs and types after the first entries of the log."""
        inputs, outputs, types = dict(self.first[0]), list(self.first[1]), dict(self.first[2])
        pending: dict[Apply, Pending] = {}
        for kind, what, *values in self.log[:end]:
            if kind == "redirect":
                for client in what:
                    pending.setdefault(client, []).append((values[0], values[1]))
            elif kind == "enter":
                inputs[what] = values[0]
                pending.pop(what, None)
            elif kind == "output":
                outputs[what] = values[0]
            elif kind == "type":
                types[what] = values[0]
            elif kind == "state":
                (inputs, outputs, types), pending = [x.copy() for x in what], {}
        for node, changes in pending.items():
            inputs[node] = substitute(inputs[node], changes)
        return inputs, outputs, types

    # --- listening -------------------------------------------------------------------------------

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph
        self.first = self._snapshot()

    def _snapshot(self) -> Contents:
        fgraph, types = self.fgraph, self.first[2]
        inputs = {node: node.inputs for node in fgraph.apply_nodes}
        return inputs, list(fgraph.outputs), {v: v.type for v in types}

    def _note(self, *entry: Any) -> None:
        if self.moving:
            return
        if self.position < len(self.steps):
            del self.log[self._end(self.position) :], self.steps[self.position :]
        self.log.append(entry)

    def _step(self, reason: Any, before: Any, after: Any) -> None:
        step = Replacement(len(self.steps) + 1, reason, before, after, len(self.log) - 1)
        self.steps.append(step)
        self.position = len(self.steps)

    def on_redirect(
        self,
        fgraph: FunctionGraph,
        old: Variable,
        new: Variable,
        clients: Sequence[Apply],
        reason: Any,
    ) -> None:
        shown = (old, new)
        if self.text is not None and reason != "merge" and not self.moving:
            shown = self.text(old), self.text(new)  # type: ignore[assignment]
        self._note("redirect", tuple(clients), old, new)
        if reason != "merge" and not self.moving:
            self._step(reason, *shown)
        if takes_name(new, old):
            self._note("name", (new, old.name))

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self._note("enter", node, node.inputs)

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply | str,
        i: int,
        old: Variable,
        new: Variable,
        reason: Any,
    ) -> None:
        if node == "output":
            self._note("output", i, new)

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        self.first[2].setdefault(var, old)
        self._note("type", var, new)

    def on_restore(self, fgraph: FunctionGraph) -> None:
        if not self.moving:
            self._note("state", self._snapshot())
            self._step("restore", "the graph", "the graph as it was before")
