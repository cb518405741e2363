"""History of a graph for users: `History` (go back) and `FullHistory` (step back and forth).
Recording and undoing changes is in `journal.py`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rewrite_engine.graph.journal import PUT_BACK, Journal, Leave, State
from rewrite_engine.graph.memory import exchanged
from rewrite_engine.graph.node import Apply, Variable

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph
    from rewrite_engine.graph.op import Op

#: what others call a journal
History = Journal


@dataclass(frozen=True, slots=True)
class Replacement:
    """Record of one replacement. reason: usually the rule. before, after: the terms, as text if the
    history uses text, else as variables. at: position in the journal at which it begins.
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
    """History that steps through the states of its graph.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.compile import get_mode
    >>> from rewrite_engine.graph.fgraph import FunctionGraph
    >>> from rewrite_engine.rewrite.trace import brief
    >>> x = pt.vector("x")
    >>> fgraph, history = FunctionGraph([x], [pt.log(1 + pt.exp(x))]), FullHistory(text=brief)
    >>> fgraph.attach_feature(history)
    >>> result = get_mode().optimizer.rewrite(fgraph)    # or any other change of the graph
    >>> for step in history:
    ...     print(step)
    1. log(1.0 + exp(x)) → log1p(exp(x))  (exp_log/log_of_one_plus)
    2. log1p(exp(x)) → softplus(x)  (exp_log/log1p_of_exp)
    >>> history.goto(0) is fgraph, fgraph.outputs        # the graph itself, in its first state
    (True, [log(1.0 + exp(x))])
    >>> history.forward().outputs
    [log1p(exp(x))]

    text: formats a variable when a step is recorded (`rewrite_engine.rewrite.trace.brief`).
    State 0 is the first state, state n the state after n replacements; in between, equal nodes that
    a driver had not found yet may be separate. Changing the graph in an earlier state deletes all
    later states.
    """

    def __init__(self, text: Callable[[Variable], str] | None = None) -> None:
        super().__init__()
        self.text = text
        self.steps: list[Replacement] = []
        self.fgraph: FunctionGraph | None = None

    @property
    def position(self) -> int:
        """Number of steps that lead to the present state."""
        return len(self.steps) if self.here is None else self._steps_before(self.here)

    def _steps_before(self, position: int) -> int:
        return bisect_left(self.steps, position, key=attrgetter("at"))

    def back(self, n: int = 1) -> FunctionGraph:
        """Go n steps back; return the graph."""
        return self.goto(self.position - n)

    def forward(self, n: int = 1) -> FunctionGraph:
        """Go n steps forward; return the graph."""
        return self.goto(self.position + n)

    def goto(self, n: int) -> FunctionGraph:
        """Return the graph in the state after n steps. Raises `IndexError`."""
        if not 0 <= n <= len(self.steps):
            raise IndexError(f"there is no state {n}; the states are 0 to {len(self.steps)}")
        if self.fgraph is None:
            raise IndexError("this history is not attached to a graph yet")
        self.fgraph.flush()  # (that may be noted)
        self.move(self.fgraph, self.steps[n].at if n < len(self.steps) else self.end)
        return self.fgraph

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Replacement]:
        return iter(self.steps)

    def __getitem__(self, i: int) -> Replacement:
        return self.steps[i]

    # --- noting ----------------------------------------------------------------------------------

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph

    def cut(self, position: int) -> None:
        super().cut(position)
        del self.steps[self._steps_before(position) :]

    def step(self, reason: Any, before: Any, after: Any) -> None:
        """Begin a step at the last entry."""
        at, number = self.end - 1, len(self.steps) + 1
        self.steps.append(Replacement(number, reason, before, after, at))

    def shown(self, *terms: Any) -> list[Any]:
        """Format terms for a step."""
        return [*terms] if self.text is None else [*map(self.text, terms)]

    def on_redirect(
        self, fgraph: FunctionGraph, old: Any, new: Any, clients: Any, reason: Any
    ) -> None:
        shown = [] if reason == "merge" else self.shown(old, new)
        super().on_redirect(fgraph, old, new, clients, reason)
        if shown:
            self.step(reason, *shown)

    def on_exchange(self, fgraph: FunctionGraph, node: Apply, op: Op, reason: Any) -> None:
        self.note(Leave(node, node.inputs, node.op, reason))
        self.step(reason, *self.shown(*exchanged(node, op)))

    def on_restore(self, fgraph: FunctionGraph, before: State, after: State) -> None:
        super().on_restore(fgraph, before, after)
        if not self.moving:
            self.step(PUT_BACK, "the graph", "the graph as it was before")
