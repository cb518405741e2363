"""`equal(left, right, rules)`: do rules make two terms equal, and by which steps?

Both terms enter one e-graph. The rules run in both directions until the terms are in one e-class,
until nothing new appears, or until a limit is reached. The proof forest of the e-graph then gives
the steps from one term to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from rewrite_engine.errors import PatternError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.equation import DirectedRule
from rewrite_engine.match.outline import deepest
from rewrite_engine.match.pattern import OpNode, holes
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.match.text import rule_text
from rewrite_engine.rewrite.egraph import EGraph
from rewrite_engine.rewrite.egraph.explanation import explained, opposite
from rewrite_engine.rewrite.egraph.explore import Explorer
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.saturate import directions
from rewrite_engine.rewrite.trace import brief


class EqualityStep(NamedTuple):
    """Step of a proof: a rule turned the whole term `before` into the whole term `after`."""

    rule: Rule
    before: Variable
    after: Variable


@dataclass(frozen=True)
class Equality:
    """Answer of `equal`; true if the terms were proved equal.

    steps: from the left term to the right one; empty if they are the same term, or not proved
    equal. stopped: `SATURATED` if the rules say no more about these terms, so that a false answer
    means that the equality does not follow from them; `BUDGET` if a limit was reached.
    """

    left: Variable
    right: Variable
    proved: bool
    steps: tuple[EqualityStep, ...]
    stopped: StopReason

    def __bool__(self) -> bool:
        return self.proved

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Rules that the proof uses, each once, in the order of their first use."""
        return tuple(dict.fromkeys([step.rule for step in self.steps]))

    def __str__(self) -> str:
        if not self.proved:
            why = (
                "does not follow from the rules"
                if self.stopped is StopReason.SATURATED
                else "was not proved within the budget"
            )
            return f"{_text(self.left)} == {_text(self.right)} {why}"
        names = [step.rule.name for step in self.steps]
        terms = [f"= {_text(step.after)}" for step in self.steps]
        width = max(map(len, terms), default=0)
        lines = [f"{t:{width}}  {name}" for t, name in zip(terms, names, strict=True)]
        return "\n".join([f"  {_text(self.left)}", *lines])

    __repr__ = __str__


def equal(
    left: Variable,
    right: Variable,
    rules: Rule | Iterable[Rule],
    *,
    both: bool = True,
    also: Iterable[Variable] = (),
    node_budget: int = 5_000,
    seconds: float = 10.0,
) -> Equality:
    """Return whether rules make two terms equal, with the steps of a proof.

    rules: data rules and equations; each is used in both directions, wherever its guards hold, so
    assumptions of its claim count as granted. both: False for data rules from left to right only:
    do both terms become one? also: more terms that a proof may lead through, where a rule from
    right to left has no place to begin, as in x = x * 1. node_budget: e-nodes that may be stored.
    seconds: time limit. A false answer with `stopped` `SATURATED` means that the equality does not
    follow from the rules; it may hold all the same. Errors that only one of the two terms raises do
    not count.

    Raises `PatternError` for anything but two variables, `TypeError` and `RuleError` for rules that
    an e-graph cannot use: node rewriters, and rules whose right side is computed.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.rules.equations import matmul_assoc
    >>> a, b, c = pt.matrices("a b c")
    >>> equal((a @ b) @ c, a @ (b @ c), matmul_assoc)
      a @ b @ c
    = a @ (b @ c)  equations/matmul_assoc.forward
    """
    for side in (left, right):
        if not isinstance(side, Variable):
            raise PatternError(f"equal takes two variables, not {side!r}")
    used = directions([rules] if isinstance(rules, Rule) else rules)
    used = tuple(_both_ways(used)) if both else used
    egraph = EGraph()
    enode = _planted(egraph, (left, right, *also))
    start, goal = enode[left], enode[right]

    def met() -> bool:
        return egraph.find(start) == egraph.find(goal)

    explorer = Explorer(egraph, used, node_budget, perf_counter() + seconds)
    stopped = explorer.run(met)
    steps = explained(egraph, start, goal) if met() else None
    at, found = left, list[EqualityStep]()
    for step in steps or ():
        found.append(EqualityStep(step.rule, at, egraph.var[step.whole]))
        at = egraph.var[step.whole]
    return Equality(left, right, met(), tuple(found), stopped)


def _both_ways(rules: Iterable[DataRule]) -> Iterator[DataRule]:
    """Yield rules, and the same from right to left where the right side has all variables."""
    for rule in rules:
        yield rule
        said = rule.lowered
        left, right = said.left, said.right
        one = not (isinstance(rule, DirectedRule) or said.others or said.defaults or said.written)
        if one and isinstance(right, OpNode) and {*holes(left)} == {*holes(right)}:
            back = said._replace(left=right, right=left)
            depth, text = deepest(right) + rule.nests, rule_text(back)
            yield opposite(rule).copied(lowered=back, text=text, depth=depth, turned=rule)


def _planted(egraph: EGraph, terms: Iterable[Variable]) -> dict[Variable, int]:
    """Add terms to an e-graph; return the e-node of each variable in them."""
    enode: dict[Variable, int] = {}

    def known(v: Variable) -> int:
        if v not in enode:
            enode[v] = egraph.leaf(v)
        return enode[v]

    for node in toposort(terms):
        children = tuple(map(known, node.inputs))
        for v in node.outputs:
            enode[v] = egraph.add(children, v)
    for v in terms:
        known(v)
    return enode


def _text(v: Any) -> str:
    return brief(v, depth=20)
