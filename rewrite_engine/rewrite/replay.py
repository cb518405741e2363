"""From a choice of terms to rewritten graph: for every variable of a region whose class has a new
term, the steps from the one to the other, each a rule's firing.

Variables are taken in turn, clients before what they use. The goal for a variable goes down only to
the next variables that the result is made of as well: these have their own turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.node import Variable
from rewrite_engine.match.explain import Diagnosis
from rewrite_engine.rewrite.egraph import EGraph
from rewrite_engine.rewrite.extract import Choice
from rewrite_engine.rewrite.step import is_used
from rewrite_engine.rewrite.steps import Guide, Step, within
from rewrite_engine.rewrite.trace import Trace

DONE = Diagnosis(True)


class Replay:
    """Brings one graph to the chosen terms. fired: how often each rule fired."""

    def __init__(self, fgraph: Any, egraph: EGraph, choice: Choice, trace: Trace | None) -> None:
        self.fgraph = fgraph
        self.egraph = egraph
        self.choice = choice
        self.trace = trace
        self.guide = Guide(egraph)
        self.fired: dict[str, int] = {}
        self.anchor: dict[int, int] = {}  # class -> the term that the graph has for it
        self.now: dict[int, Variable] = {}  # term -> the graph's variable that took its place

    def go(self, region: Sequence[tuple[Variable, int]], roots: Sequence[Variable]) -> None:
        """region: variables with their terms, operands first."""
        egraph = self.egraph
        term = dict(region)
        needed = self._needed([term[v] for v in roots])
        turn = [(v, t) for v, t in reversed(region) if egraph.find(t) in needed]
        for _, t in turn:
            self.anchor.setdefault(egraph.find(t), t)
        for v, t in turn:
            self._lead(v, t)

    def _needed(self, roots: Sequence[int]) -> set[int]:
        """The classes that the result is made of."""
        egraph, found = self.egraph, set[int]()
        stack = [egraph.find(t) for t in roots]
        while stack:
            c = stack.pop()
            if c not in found:
                found.add(c)
                stack += [egraph.find(k) for k in egraph.kids[self.choice[c]]]
        return found

    def _lead(self, v: Variable, t: int) -> None:
        """Bring one variable to the chosen term of its class."""
        goal = self._goal(self.egraph.find(t))
        if goal == t or not is_used(self.fgraph, v):
            self.now[t] = v
            return
        todo = self.guide.steps(t, goal)
        if todo is None:
            return
        for step in todo:
            v = self._fire(v, step)
        self.now[t] = v

    def _goal(self, c: int) -> int:
        """The chosen term of a class, on the terms that the graph has or will have for others."""
        egraph = self.egraph
        done: dict[int, int] = {}
        stack = [c]
        while stack:
            d = stack[-1]
            below = [egraph.find(k) for k in egraph.kids[self.choice[d]]]
            missing = [k for k in below if k not in done and k not in self.anchor]
            if missing:
                stack += missing
                continue
            stack.pop()
            kids = [done[k] if k in done else self.anchor[k] for k in below]
            chosen = self.choice[d]
            done[d] = within(egraph, chosen, kids) if kids else chosen
        return done[c]

    def _fire(self, old: Variable, step: Step) -> Variable:
        """Put the term that a step led to in the place of `old`; the graph's variable for it."""
        new = self._made(step.term)
        fgraph, trace, node = self.fgraph, self.trace, old.owner
        if new is old:
            return old
        if trace is not None:
            if trace.attempts:
                trace.visit(fgraph, node, ())  # type: ignore[arg-type]
            trace.about(node, new, old)  # type: ignore[arg-type]
        own: Variable = fgraph.replace(old, new, step.rule)
        if own is old:
            return old
        if trace is not None:
            trace.fired(step.rule, own)
            if trace.attempts:  # the rule may have been used inside of the node's term
                trace.tried(step.rule, node, "fired", DONE, 0.0)  # type: ignore[arg-type]
        self.fired[step.rule.name] = self.fired.get(step.rule.name, 0) + 1
        return own

    def _made(self, t: int) -> Variable:
        """The variable of a term, on the graph as it is now."""
        egraph = self.egraph
        made: dict[int, Variable] = {}
        stack = [t]
        while stack:
            s = stack[-1]
            if s in made:
                stack.pop()
                continue
            known = self._known(s)
            if known is not None:
                made[s] = known
                continue
            missing = [k for k in egraph.kids[s] if k not in made]
            if missing:
                stack += missing
                continue
            node = egraph.op[s].make_node(*[made[k] for k in egraph.kids[s]])
            made[s] = node.outputs[0]
        return made[t]

    def _known(self, t: int) -> Variable | None:
        """The graph's variable for a term, if it has one, or had one."""
        if t in self.now:
            return self.now[t]
        var = self.egraph.var[t]
        return var if self.egraph.op[t] is None or var in self.fgraph.clients else None
