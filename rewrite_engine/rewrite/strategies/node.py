"""Strategies at one node: rules made of rules. Their constructors are in `__init__.py`.

A strategy computes the results of its parts one after the other, and only the last term enters the
graph (`Derived`, `rewrite/step.py`): if a part fails, nothing needs to be removed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from operator import is_
from types import FrameType
from typing import Any

from rewrite_engine.errors import PatternError, RuleLoopError
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.order import Worklist
from rewrite_engine.graph.origin import origin_line, user_origin
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.claim import Claim
from rewrite_engine.match.explain import Diagnosis
from rewrite_engine.match.fact import Unknown
from rewrite_engine.match.pattern import Graph
from rewrite_engine.match.rule import DataRule, Rule, RuleOfRules
from rewrite_engine.match.ruleset import parts_of
from rewrite_engine.rewrite.loop import Cycle, Lineage, operands_of
from rewrite_engine.rewrite.result import RuleStats
from rewrite_engine.rewrite.step import Derived, default_of, unfit

MOST = 10_000  # steps of a `repeat`,
OPERANDS = 1_000_000  # and operands of the terms that they make, beyond those there were,
FEW = 12  # counted after so many
LAST = "in {} that can only be the last step"
KINDS = ("exact", "refines", "approx", "backward", "assumes")

Steps = list[tuple[Rule, Any]]


class Strategy(RuleOfRules):
    """Rule made of rules. parts: those that may act, in order; leading: those that may act first.

    `steps(fgraph, node)` returns the results of the parts, one after the other; None if it fails,
    nothing if it succeeds without effect. A part after the first is applied to a term that is not
    in the graph yet, so it must not read its clients.
    """

    word = ""
    fails = True  # whether it may fail

    def __init__(self, *parts: Rule, phase: str | None = None) -> None:
        if not parts:
            raise ValueError(f"{self.word}() needs at least one rule")
        self.parts = parts
        self.module = _asked_by()
        self.name = self.short_name = self.text
        self.pack = parts[0].pack
        self.doc = f"{self.word}: {'; '.join(p.doc.partition(chr(10))[0] for p in parts)}"
        self.where = origin_line(user_origin()) or parts[0].where
        self.phase = phase or next((p.phase for p in parts if p.phase), None)
        self.with_phase = f'{self.word}(..., phase="canonicalize")'
        self.claim: Claim = max((p.claim for p in parts), key=lambda c: KINDS.index(c.kind))
        self.tags = frozenset({self.phase} if self.phase else ()).union(*[p.tags for p in parts])
        self.fn = self.steps

    @property
    def text(self) -> str:  # type: ignore[override]
        return f"{self.word}({', '.join([p.name for p in self.parts])})"

    @property
    def unnamed(self) -> bool:
        """True if its name is composed of the names of its parts."""
        return "(" in self.short_name

    def named(self, pack: str) -> None:
        super().named(pack)
        if self.unnamed:
            self.name = self.short_name = self.text

    def steps(self, fgraph: Graph, node: Apply) -> Steps | None:
        """Return the results of the parts at a node."""
        raise NotImplementedError

    def stopped(self, fgraph: Graph, node: Apply) -> tuple[Rule, Apply | None] | str | None:
        """Return the later part that fails, and at which node; or why no part is tried."""
        return None

    def apply(self, fgraph: Graph, node: Apply) -> Any:
        steps = self.steps(fgraph, node)
        return Derived(steps) if steps else None

    def transform(self, fgraph: Graph, node: Apply) -> Any:
        """Return the result of the last part at a node, or None."""
        found = super().transform(fgraph, node)
        return found.steps[-1][1] if isinstance(found, Derived) else found

    def under(self, granted: Any) -> Rule:
        parts = tuple([p.under(granted) for p in self.parts])
        if all(map(is_, parts, self.parts)):
            return self
        new: Strategy = self.copied(parts=parts)
        new.fn = new.steps
        return new

    # --- what dispatch asks ----------------------------------------------------------------------

    @property
    def leading(self) -> Sequence[Rule]:
        return self.parts

    @property
    def needs_grant(self) -> str | None:
        return next(filter(None, (p.needs_grant for p in self.parts)), None)

    @property
    def names(self) -> frozenset[str]:
        own = {self.name, self.short_name, self.pack, self.word}
        return self.tags.union(own, *[p.names for p in self.parts])

    @cached_property
    def depth(self) -> int:
        return max(p.depth for p in self.parts)


def _asked_by() -> str:
    """Return the name of the module that makes a strategy."""
    frame: FrameType | None = sys._getframe(2)
    own = __name__.rpartition(".")[0]
    while frame is not None and frame.f_globals.get("__name__", "").startswith(own):
        frame = frame.f_back
    return "" if frame is None else frame.f_globals.get("__name__", "")


NO_WORK = Worklist()


def work_on(fgraph: Graph) -> Worklist:
    """Return the worklist of the driver that works on a graph; an empty one if there is none."""
    return getattr(fgraph, "worklist", None) or NO_WORK


def steps_of(part: Rule, fgraph: Graph, node: Apply) -> Steps | None:
    """Return the steps of one part at a node."""
    if not part.is_for(node):
        return None if getattr(part, "fails", True) else []
    if isinstance(part, Strategy):
        return part.steps(fgraph, node)
    work = work_on(fgraph)
    if work.asked is None:
        return proposed(part, fgraph, node, work.tally)[0]
    found: Steps | None = work.asked(part, node, partial(proposed, part, fgraph, node, work.tally))
    return found


def proposed(part: Rule, fgraph: Graph, node: Apply, tally: Any) -> tuple[Steps | None, str, Any]:
    """Return the step that a rule proposes, if the type fits; the verdict on it, and why. tally:
    statistics of each rule, if they are counted.
    """
    new = part.apply(fgraph, node)
    if new.__class__ in (list, tuple, dict):
        new = alone(new, node)
    if new is None or new is False or new.__class__ is Unknown:
        return None, "failed", None if new is False else new
    stats = RuleStats() if tally is None else tally[part.name]
    stats.matches += 1
    if isinstance(new, Variable):
        old = default_of(node, part)
        if new is old:
            return [], "failed", None
        if new.type is not old.type and not part.accept(old, new):
            stats.refused += 1
            return None, "refused", unfit(old, new)
    return [(part, new)], "fired", None


def alone(new: Any, node: Apply) -> Any:
    """Return the result in a rule's list or dict, if it is for the one output of a node."""
    if len(new) != 1 or len(node.outputs) != 1:
        return new
    if new.__class__ is not dict:
        return new[0]
    return new.get(node.outputs[0], new)


class First(Strategy):
    """Strategy that applies the first part that succeeds."""

    word = "first"

    def steps(self, fgraph: Graph, node: Apply) -> Steps | None:
        for part in self.parts:
            found = steps_of(part, fgraph, node)
            if found is not None:
                return found
        return None


class Seq(Strategy):
    """Strategy that applies each part at the result of the one before."""

    word = "seq"

    def __init__(self, *parts: Rule, phase: str | None = None) -> None:
        super().__init__(*parts, phase=phase)
        self.fails = any(getattr(p, "fails", True) for p in parts)
        for p in (*parts[:-1], *parts_of(parts[:-1])):
            if isinstance(p, DataRule) and not p.single:
                what = f"{p.name} replaces outputs of an op that has several"
                raise TypeError(f"{what}: {LAST.format('seq')}")

    @property
    def leading(self) -> Sequence[Rule]:
        fails = [getattr(p, "fails", True) for p in self.parts]
        return self.parts[: fails.index(True) + 1] if True in fails else self.parts

    @cached_property
    def depth(self) -> int:
        return sum(p.depth + 1 for p in self.parts) - 1

    #: (a part may look at what another one lets through from below)
    interior: dict[Any, int] = {}

    def turn(self, fgraph: Graph, node: Apply) -> Iterator[tuple[Rule, Apply | None, Steps | None]]:
        """Yield parts in turn, each with its node and its steps, up to one that fails."""
        here: Apply | None = node
        found: Steps | None = []
        for part in self.parts:
            if found and not isinstance(found[-1][1], Variable):
                rule, new = found[-1]
                raise rule.error(PatternError, f"returns {new!r}: {LAST.format(self.name)}")
            found = None if here is None else steps_of(part, fgraph, here)
            fails = found is None and getattr(part, "fails", True)
            yield part, here, None if fails else found or []
            if fails:
                return
            here = place_of(found[-1][1]) if found else here

    def steps(self, fgraph: Graph, node: Apply) -> Steps | None:
        done: Steps = []
        tries = work_on(fgraph).tries
        start = 0 if tries is None else tries.inside
        for part, here, found in self.turn(fgraph, node):
            if found is not None:
                done += found
                continue
            if tries is not None:  # what was done comes to nothing
                if here is not None and not part.is_for(here):
                    tries.within(part, here, "failed", None, 0.0, ruled_out=True)
                tries.undo(start, self.name)
            return None
        return done

    def stopped(self, fgraph: Graph, node: Apply) -> tuple[Rule, Apply | None] | str | None:
        turn = self.turn(fgraph, node)
        return next(((part, here) for part, here, found in turn if found is None), None)


def place_of(new: Any) -> Apply | None:
    """Return the node at which a strategy continues after a step: the node of the new term, if it
    has one output.
    """
    owner = new.owner if isinstance(new, Variable) else None
    return owner if owner is not None and len(owner.outputs) == 1 else None


class Try(Strategy):
    """Strategy that applies its part, or nothing."""

    word = "try_"
    fails = False

    def steps(self, fgraph: Graph, node: Apply) -> Steps | None:
        return steps_of(self.parts[0], fgraph, node) or []


class Repeat(Strategy):
    """Strategy that applies its part repeatedly to the result, until it fails or has no effect."""

    word = "repeat"
    fails = False

    def steps(self, fgraph: Graph, node: Apply) -> Steps | None:
        done: Steps = []
        here: Apply | None = node
        room, seen = OPERANDS + 100 * len(node.inputs), set[Apply]()
        there: Container[Apply] = () if fgraph is None else fgraph.apply_nodes
        while here is not None:
            found = steps_of(self.parts[0], fgraph, here)
            if not found:
                break
            done += found
            here = place_of(found[-1][1])
            room -= operands_of(here, there, seen) if len(done) > FEW else 0
            if len(done) > MOST or room < 0:
                raise self.endless(fgraph, node, done)
        return done

    def endless(self, fgraph: Graph, node: Apply, done: Steps) -> RuleLoopError:
        """Return the error for a part that always applies."""
        known = {*getattr(fgraph, "clients", ()), *node.inputs}
        lineage: Lineage = [len(done), 0, None]
        cycle = Cycle(self.name, f"it went on for {len(done)} steps", None, lineage, (0, 0))
        cycle.sure = True
        here: Apply | None = node
        for rule, new in done:
            assert here is not None
            cycle.note(here, [(rule, new)], 0, lineage)
            here = place_of(new)
            made = [] if here is None else toposort(here.outputs, known)
            known.update(out for one in made for out in one.outputs)
            if cycle.taken(made, lineage):
                break
        return cycle.error()


class Where(Strategy):
    """Strategy that applies its part under a condition on the node."""

    word = "where"

    def __init__(
        self, condition: Callable[[Any, Apply], Any], part: Rule, *, phase: str | None = None
    ) -> None:
        self.condition = condition
        self.what = getattr(condition, "__name__", str(condition))
        self.refusal = f"its condition {self.what} does not hold"
        super().__init__(part, phase=phase)

    @property
    def text(self) -> str:  # type: ignore[override]
        return f"where({self.what}, {self.parts[0].name})"

    def steps(self, fgraph: Graph, node: Apply) -> Steps | None:
        if self.condition(fgraph, node):
            return steps_of(self.parts[0], fgraph, node)
        tries = work_on(fgraph).tries
        if tries is not None:
            no = Diagnosis(False, self.what, self.refusal)
            tries.within(self, node, "failed", no, 0.0)
        return None

    def stopped(self, fgraph: Graph, node: Apply) -> str | None:
        return None if self.condition(fgraph, node) else self.refusal
