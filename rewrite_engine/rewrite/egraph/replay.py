"""Replay: from a choice of e-nodes to the rewritten graph. Each variable of a region whose e-class
has a new term is rewritten by the steps that lead to it, each a rule's firing.

Variables are processed in turn, clients before their inputs. The goal for a variable goes down only
to the next variables that the result also uses: these have their own turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.postorder import postorder, same
from rewrite_engine.match.explain import Diagnosis
from rewrite_engine.rewrite.egraph import EGraph, output_of
from rewrite_engine.rewrite.egraph.explanation import ProofStep, explained, within
from rewrite_engine.rewrite.egraph.extract import Choice
from rewrite_engine.rewrite.step import is_used
from rewrite_engine.rewrite.trace import asked_for_tries

DONE = Diagnosis(True)


class LosesError(Exception):
    """Raised when a step would drop a term that may fail."""


class Replay:
    """Replay of steps that brings one graph to the chosen terms. fired: how often each rule
    fired.
    """

    def __init__(self, fgraph: FunctionGraph, egraph: EGraph, choice: Choice) -> None:
        self.fgraph = fgraph
        self.egraph = egraph
        self.choice = choice
        self.tries = asked_for_tries(fgraph)
        self.fired: dict[str, int] = {}
        self.anchor: dict[int, int] = {}  # e-class -> the e-node that the graph has for it
        self.now: dict[int, Variable] = {}  # e-node -> the graph's variable that took its place

    def run(self, region: Sequence[tuple[Variable, int]], roots: Sequence[int]) -> None:
        """Rewrite a region. region: variables with their e-nodes, operands first. roots: the
        e-classes wanted.
        """
        find = self.egraph.find
        needed = set(postorder(roots, self._children, key=same))  # of the result
        turn = [(v, n) for v, n in reversed(region) if find(n) in needed]
        for _, n in turn:
            self.anchor.setdefault(find(n), n)
        for v, n in turn:
            self._lead(v, n)

    def _lead(self, v: Variable, n: int) -> None:
        """Rewrite one variable to the chosen term of its e-class."""
        goal = self._goal(self.egraph.find(n))
        if goal != n and is_used(self.fgraph, v):
            steps = explained(self.egraph, n, goal)
            if steps is None:
                return
            for step in steps:
                v = self._fire(v, step)
        self.now[n] = v

    def _goal(self, c: int) -> int:
        """Return the chosen term of an e-class, on the terms that the graph has or will have for
        others.
        """
        egraph = self.egraph
        done: dict[int, int] = {}

        def below(d: int) -> list[int]:
            return [k for k in self._children(d) if k not in self.anchor]

        for d in postorder([c], below, key=same):
            children = [done[k] if k in done else self.anchor[k] for k in self._children(d)]
            chosen = self.choice[d]
            done[d] = within(egraph, chosen, children) if children else chosen
        return done[c]

    def _children(self, c: int) -> list[int]:
        """Return the children of the chosen term of an e-class."""
        return [self.egraph.find(k) for k in self.egraph.children[self.choice[c]]]

    def _fire(self, old: Variable, step: ProofStep) -> Variable:
        """Replace `old` by the term that a step leads to; return the graph's variable for it.

        Raises `LosesError` if an error would be lost.
        """
        new = self._made(step.whole)
        fgraph, tries, node = self.fgraph, self.tries, old.owner
        if new is old:
            return old
        if step.rule.keeps is not None:  # (a rule with one output)
            left, right = self._made(step.left), self._made(step.right)
            if not step.rule.keeps(fgraph, left.owner, right):
                raise LosesError
        if tries is not None:
            tries.visit(fgraph, node, ())  # type: ignore[arg-type]
        own: Variable = fgraph.replace(old, new, step.rule)
        if own is old:
            return old
        if tries is not None:  # the rule may have been used inside of the node's term
            tries.tried(step.rule, node, "fired", DONE, 0.0)  # type: ignore[arg-type]
        self.fired[step.rule.name] = self.fired.get(step.rule.name, 0) + 1
        return own

    def _made(self, n: int) -> Variable:
        """Build the variable of an e-node, on the present graph."""
        egraph = self.egraph
        made: dict[int, Variable] = {}

        def below(m: int) -> Sequence[int]:
            return egraph.children[m] if self._known(m) is None else ()

        for m in postorder([n], below, key=same):
            known = self._known(m)
            if known is None:
                known = output_of(egraph.head[m], [made[k] for k in egraph.children[m]])
            made[m] = known
        return made[n]

    def _known(self, n: int) -> Variable | None:
        """Return the graph's present or earlier variable for an e-node, or None."""
        if n in self.now:
            return self.now[n]
        var = self.egraph.var[n]
        return var if self.egraph.head[n] is None or var in self.fgraph.users else None
