"""Fates of nodes of the graph as built (`became`): the inverse of the question that `why.py`
answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from rewrite_engine.explain.record import FunctionRecord, RecordedFiring
from rewrite_engine.explain.term import term_text
from rewrite_engine.graph.inner import held, inner_ops
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import in_order


@dataclass(frozen=True, slots=True)
class Fate:
    """Fate of a node: the firings that replaced it, in order. end: the variable that stands
    in its place now; None: it is not in the rewritten graph. taken: the firing that consumed it
    as a part of a larger term.
    """

    node: Apply
    steps: tuple[RecordedFiring, ...]
    end: Variable | None
    taken: RecordedFiring | None = None

    @property
    def term(self) -> str:
        """Term of the node, as written."""
        return term_text(self.node)

    @property
    def text(self) -> str:
        """Description of the fate in words."""
        if self.end is not None:
            same = not self.steps and "it stays: "
            return f"{same or 'it became '}{term_text(self.end)}"
        if self.taken is not None:
            rule = f"#{self.taken.number} {self.taken.rule_name}"
            return f"it is gone: {rule} took it up, {self.taken.change.term}"
        return "it is gone: nothing that is computed needs it any more"


class Fates:
    """Follows nodes of the graph as built to the rewritten one. (One that was merged is followed by
    the node that it was found equal to.)
    """

    def __init__(self, record: FunctionRecord) -> None:
        self.record = record
        self.now = {old: new for new, old in record.before.memo.items()}
        after = record.after
        self.there = {out for one in after.apply_nodes for out in one.outputs}
        self.there |= set(after.inputs) | set(after.outputs)

    def of(self, node: Apply) -> Fate:
        """Return the fate of a node."""
        if node not in self.record.before:
            return _became_inside(self.record, node)
        trace, here = self.record.trace, node.outputs[0]
        v: Variable = self.now.get(here, here)
        steps: list[RecordedFiring] = []
        last = 0
        while step := next((s for s in trace.replaced_by.get(v, ()) if s.number > last), None):
            steps.append(step)
            v, last = step.new, step.number
        if v in self.there or (v.owner is None and steps):
            return Fate(node, tuple(steps), v)
        used = [s for s in trace.taken_by.get(v.owner, ()) if s.number > last] if v.owner else []
        return Fate(node, tuple(steps), None, used[-1] if used else None)


def _became_inside(record: FunctionRecord, node: Apply) -> Fate:
    """Return the fate of a node inside of an op. Rules rewrote a copy of it: origins lead to what
    they made.
    """
    steps = tuple([s for s in record.steps if s.graph and _made_of(s.old.owner, node)])
    graphs = [op.fgraph for op in inner_ops(held(record.after))]
    last = [n for graph in graphs for n in graph.toposort() if _made_of(n, node)]
    end = last[-1].outputs[0] if last else None
    return Fate(node, steps, end)


def _made_of(one: Apply | None, node: Apply) -> bool:
    """Return whether rules made one node of another, or it is a copy of that."""
    if one is None or one.origin is None:
        return False
    return any(origin is node.origin for origin in in_order([one.origin]))
