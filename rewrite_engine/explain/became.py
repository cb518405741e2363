"""What became of a node of the graph as it was built (`became`): the question that `why.py`
answers, the other way round.
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
    """What became of a node: the firings that replaced it, in order. end: the variable that stands
    in its place now; None: it is not in the rewritten graph. taken: the firing that consumed it
    as a part of a larger term.
    """

    node: Apply
    steps: tuple[RecordedFiring, ...]
    end: Variable | None
    taken: RecordedFiring | None = None

    @property
    def term(self) -> str:
        """The node's term, as it was written."""
        return term_text(self.node)

    @property
    def text(self) -> str:
        """What became of it, in words."""
        if self.end is not None:
            same = not self.steps and "it stays: "
            return f"{same or 'it became '}{term_text(self.end)}"
        if self.taken is not None:
            rule = f"#{self.taken.number} {self.taken.rule_name}"
            return f"it is gone: {rule} took it up, {self.taken.change.term}"
        return "it is gone: nothing that is computed needs it any more"


def became(record: FunctionRecord, node: Apply) -> Fate:
    """Follow a node of the graph as built to the rewritten one. (One that was merged is followed by
    the node that it was found equal to.)
    """
    if node not in record.before:
        return _became_inside(record, node)
    here = node.outputs[0]
    known = {old: new for new, old in record.before.memo.items()}
    v: Variable = known.get(here, here)
    there = {out for one in record.after.apply_nodes for out in one.outputs}
    there |= set(record.after.inputs) | set(record.after.outputs)
    steps: list[RecordedFiring] = []
    for step in record.steps:
        if step.old is v:
            steps.append(step)
            v = step.new
    if v in there or (v.owner is None and steps):
        return Fate(node, tuple(steps), v)
    last = steps[-1].number if steps else 0
    used = [s for s in record.steps if s.number > last and v.owner in s.change.used]
    return Fate(node, tuple(steps), None, used[-1] if used else None)


def _became_inside(record: FunctionRecord, node: Apply) -> Fate:
    """The same of a node inside of an op, of which rules rewrote a copy: origins tell what was made
    of it.
    """
    steps = tuple([s for s in record.steps if s.graph and _made_of(s.old.owner, node)])
    graphs = [op.fgraph for op in inner_ops(held(record.after))]
    last = [n for graph in graphs for n in graph.toposort() if _made_of(n, node)]
    end = last[-1].outputs[0] if last else None
    return Fate(node, steps, end)


def _made_of(one: Apply | None, node: Apply) -> bool:
    """Whether rules made one node of another, or it is a copy of that."""
    if one is None or one.origin is None:
        return False
    return any(origin is node.origin for origin in in_order([one.origin]))
