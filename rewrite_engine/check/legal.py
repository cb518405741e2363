"""What a graph may not have after a phase: what a shipped rule of that phase, or of one whose rules
go on in it, rewrites.

The spec is the rules' own left sides and guards: of all data rules that assume nothing. With
`config.check_phases` each graph is held to it; the fuzzer does the same. So is told what keeps a
rule from being tried, a later rule that undoes a form, and a mode without a rule that others rely
on. It holds until a phase chooses by a cost (`saturate`), or changes ops (`inplace`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from rewrite_engine.errors import IllegalGraphError, RewriteEngineError
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.match.rule import DataRule
from rewrite_engine.pipeline.phases import PHASES, all_rules
from rewrite_engine.rewrite.trace import brief

#: the phases that promise a form
HELD = ("canonicalize", "loops", "stabilize", "specialize", "factorize")


@lru_cache(maxsize=64)
def held(phases: tuple[str, ...]) -> tuple[DataRule, ...]:
    """Return the rules that must not match after the last of these phases."""
    last = next(p for p in PHASES if p.name == phases[-1])
    names = {last.name, *({*last.also, last.again} & {*phases})}
    found = [r for r in all_rules() if isinstance(r, DataRule) and r.phase in names]
    return tuple([r for r in found if r.needs_grant is None])


@lru_cache(maxsize=10_000)
def held_at(phases: tuple[str, ...], op: Any) -> tuple[DataRule, ...]:
    """Return the rules that must not match at nodes with an op."""
    return tuple([rule for rule in held(phases) if rule.considers(op)])


def check_legal(fgraph: FrozenGraph, phases: Sequence[str]) -> None:
    """Raise `IllegalGraphError` for a term that a graph may not have after the last of these
    phases, which have run in this order.
    """
    last = phases[-1]
    if last not in HELD or "saturate" in phases:
        return
    done = tuple(phases)
    for node in fgraph.toposort():
        for rule in held_at(done, node.op):
            if _applies(rule, fgraph, node):
                term = brief(node.outputs[rule.left.place or 0])
                what = f"after the phase {last!r} the graph has {term}, which {rule.phase!r}"
                why = f"is to rewrite ({rule.name}: {rule.text})"
                raise IllegalGraphError(f"{what} {why}")


def _applies(rule: DataRule, fgraph: Any, node: Apply) -> bool:
    """Whether a rule would rewrite a node."""
    old = node.outputs[rule.left.place or 0]
    try:
        new = rule.transform(fgraph, node)
        if not isinstance(new, Variable):
            return isinstance(new, list | tuple)  # of all outputs
        return new is not old and rule.accept(old, new)
    except RewriteEngineError:  # the engine leaves such a term alone
        return False
