"""Strategies: rules and drivers combined into larger ones.

At one node, a strategy is a rule like any other: it belongs to rule sets, the same index finds it,
and reports attribute its changes to the rules it is made of.

    first(a, b)           the first that applies (also `a`, if it applies with no effect)
    seq(a, b)             a, then b at the result of a; both, or nothing
    try_(a)               a, or nothing at all: never fails
    repeat(a)             a as long as it applies
    where(condition, a)   a, if condition(fgraph, node)

`phase=...` names the phase of the pipeline that uses it; the default is the phase of the first part
that has one.

In a graph, a strategy is a driver:

    topdown(a), bottomup(a)        every node once; the result of a rule is not visited again
    innermost(a), outermost(a)     until nothing applies, the lowest or the highest node first
    seq(d, e), repeat(d), try_(d)  drivers in turn; until nothing fires; with the graph restored
                                   if d fails

They return `EquilibriumOptimizer`, `WalkingOptimizer` and `SequentialOptimizer`. The loop of all
drivers is in `rewrite/run.py`; strategies at a node are in `node.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import Fixpoint, GraphRewriter, SequentialOptimizer, TryOptimizer
from rewrite_engine.rewrite.equilibrium import (
    EquilibriumOptimizer,
    OutermostOptimizer,
    WalkingOptimizer,
)
from rewrite_engine.rewrite.strategies.node import First, Repeat, Seq, Strategy, Try, Where

__all__ = [
    "Strategy", "bottomup", "first", "innermost", "outermost", "repeat", "seq", "topdown", "try_",
    "where",
]  # fmt: skip


def rules_in(parts: Iterable[Any]) -> Iterator[Rule]:
    """Yield the rules among the parts, and the rules of rule sets."""
    for part in parts:
        if isinstance(part, Rule):
            yield part
        elif isinstance(part, RuleSet | list | tuple):
            yield from rules_in(part)
        elif isinstance(part, GraphRewriter):
            raise TypeError(f"{part!r} is a driver; expected only rules and strategies of rules")
        else:
            raise TypeError(f"{part!r} is neither a rule, nor a strategy, nor a set of rules")


def innermost(
    *parts: Any, name: str = "innermost", budget: RunBudget | None = None
) -> GraphRewriter:
    """Return a driver that applies rules until none applies, to a term after all its parts."""
    return EquilibriumOptimizer(rules_in(parts), name, budget=budget)


def outermost(
    *parts: Any, name: str = "outermost", budget: RunBudget | None = None
) -> GraphRewriter:
    """Return a driver that applies rules until none applies, to a term before its parts: terms that
    a rule drops are never processed.
    """
    return OutermostOptimizer(rules_in(parts), name, budget=budget)


def topdown(*parts: Any, name: str = "topdown", budget: RunBudget | None = None) -> GraphRewriter:
    """Return a driver that tries rules once at each node, from the outputs on."""
    return WalkingOptimizer(rules_in(parts), "out_to_in", name, budget)


def bottomup(*parts: Any, name: str = "bottomup", budget: RunBudget | None = None) -> GraphRewriter:
    """Return a driver that tries rules once at each node, from the inputs on."""
    return WalkingOptimizer(rules_in(parts), "in_to_out", name, budget)


def first(*rules: Rule, phase: str | None = None) -> Strategy:
    """Return a strategy that applies the first of some rules that matches."""
    return First(*rules_in(rules), phase=phase)


def seq(*parts: Any, phase: str | None = None) -> Any:
    """Return a strategy that applies rules one after the other, each at the result of the one
    before (all, or none); or a driver that runs drivers one after the other.
    """
    if parts and all(isinstance(p, GraphRewriter) for p in parts):
        _refuse_phase("seq", phase)
        return SequentialOptimizer(parts, f"seq({', '.join(p.name for p in parts)})")
    return Seq(*rules_in(parts), phase=phase)


def one_of(given: Any) -> Rule:
    """Return a rule unchanged; for several, such as a rule set, the first that applies."""
    rules = list(rules_in([given]))
    return rules[0] if len(rules) == 1 else First(*rules)


def _refuse_phase(word: str, phase: str | None) -> None:
    """Raise an error if a driver gets a phase: a phase consists of drivers, not the reverse."""
    if phase is not None:
        raise TypeError(f"{word}(..., phase={phase!r}): only strategies of rules have a phase")


def try_(part: Any, *, phase: str | None = None) -> Any:
    """Return a strategy that applies a rule, or nothing if it does not match; or a driver whose
    failure is undone.
    """
    if isinstance(part, GraphRewriter):
        _refuse_phase("try_", phase)
        return TryOptimizer(part)
    return Try(one_of(part), phase=phase)


def repeat(part: Any, budget: RunBudget | None = None, *, phase: str | None = None) -> Any:
    """Return a strategy that applies a rule as long as it matches; or a driver that repeats until
    nothing fires (budget: of all turns).
    """
    if isinstance(part, GraphRewriter):
        _refuse_phase("repeat", phase)
        return Fixpoint(part, budget)
    return Repeat(one_of(part), phase=phase)


def where(
    condition: Callable[[Any, Apply], Any], rule: Rule, *, phase: str | None = None
) -> Strategy:
    """Return a strategy that applies a rule at nodes for which `condition(fgraph, node)` holds."""
    if not callable(condition):
        raise TypeError(f"where takes a function of (fgraph, node), not {condition!r}")
    return Where(condition, one_of(rule), phase=phase)
