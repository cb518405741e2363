"""Everything that happens to a graph between `function(...)` and the VM, in order.

A phase is the rules that name it (`@rule(phase=...)`), under a driver that runs them to a fixed
point. The packs are tried in the order of `PACKS`, their rules in source order. Packs are imported
when the first graph is rewritten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from rewrite_engine.errors import UnknownNameError
from rewrite_engine.match.query import Query
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.driver import GraphRewriter, MergeOptimizer, SequentialOptimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.inplace import InplaceOptimizer

PACKS = (
    "rewrite_engine.rewrite.fold",
    "rewrite_engine.rules.cast",
    "rewrite_engine.rules.algebra",
    "rewrite_engine.rules.logic",
    "rewrite_engine.rules.exp_log",
    "rewrite_engine.rules.softmax",
    "rewrite_engine.rules.reduce",
    "rewrite_engine.rules.shape",
    "rewrite_engine.rules.broadcast",
    "rewrite_engine.rules.index",
    "rewrite_engine.rules.join",
    "rewrite_engine.rules.dot",
)

#: packs of equations; they are imported when a query includes "saturate"
EQUATIONS = ("rewrite_engine.rules.equations",)


def saturation(rules: RuleSet, name: str) -> GraphRewriter:
    """The driver of the phase that has to be asked for (imported when it is)."""
    from rewrite_engine.rewrite.saturate import SaturationOptimizer

    return SaturationOptimizer(rules, name)


@dataclass(frozen=True, slots=True)
class Phase:
    """A step of the pipeline. driver: makes a `GraphRewriter` from the phase's rules and its name.
    also: earlier phases whose rules are used again, because this one makes terms that are not in
    their normal form. on_request: only for queries that include the phase's name.
    """

    name: str
    driver: Callable[[RuleSet, str], GraphRewriter]
    also: tuple[str, ...] = ()
    on_request: bool = False

    def rules(self, chosen: RuleSet) -> RuleSet:
        """The rules of this phase, its own first."""
        return sum((chosen.phase(name) for name in self.also), chosen.phase(self.name))

    def wanted(self, query: Query) -> bool:
        """Whether a query leaves the phase in."""
        if self.on_request and self.name not in query.include:
            return False
        return self.name not in query.exclude


PHASES = (
    Phase("merge", lambda rules, name: MergeOptimizer(name)),
    Phase("canonicalize", EquilibriumOptimizer),
    Phase("stabilize", EquilibriumOptimizer, also=("canonicalize",)),
    Phase("saturate", saturation, on_request=True),
    Phase("specialize", EquilibriumOptimizer),
    Phase("inplace", lambda rules, name: InplaceOptimizer(name)),
)

#: names a query may use that no rule has: what drivers do, and assumptions a user may grant
KNOWN = frozenset({p.name for p in PHASES}) | {"fastmath", "shape_unsafe"}


@cache
def all_rules() -> RuleSet:
    """Every shipped rule."""
    return RuleSet.of(*[import_module(name) for name in PACKS])


@cache
def equations() -> RuleSet:
    """Every shipped equation."""
    return RuleSet.of(*[import_module(name) for name in EQUATIONS])


@cache
def optimizer(query: Query | None = None, extra: RuleSet | None = None) -> SequentialOptimizer:
    """The phases, with the rules that a query selects (default: all that need no leave).

    extra: rules to use beside the shipped ones. Raises `UnknownNameError` for a name that nothing
    has.
    """
    query = query or Query()
    rules = all_rules() + (extra or RuleSet())
    if "saturate" in query.include:
        rules += equations()
    check_names(query, rules)
    chosen = rules.query(query)
    parts = [
        phase.driver(phase.rules(chosen), phase.name) for phase in PHASES if phase.wanted(query)
    ]
    return SequentialOptimizer(parts, "pipeline")


def check_names(query: Query, rules: RuleSet) -> None:
    """Refuse a query that names what does not exist: a typing error would silently change
    nothing.
    """
    unknown = query.mentioned - rules.names - KNOWN
    if not unknown or not (unknown := unknown - equations().names):
        return
    from difflib import get_close_matches

    name = min(unknown)
    close: list[Any] = get_close_matches(name, [*rules.names, *KNOWN])
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise UnknownNameError(f"no rule, pack, phase, tag or claim is called {name!r}{hint}")
