"""`RunBudget`: limits for one run of a driver; `Account`: what is left of them.

While rules fire, numbers are counted down. At some firings of a lineage, and when a number is used
up, an account inspects the firings; `rewrite/loop.py` distinguishes loops from long work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.match.rule import Rule
from rewrite_engine.rewrite.loop import AGAIN, EVERY, LONG, WINDOW, Cycle, Lineage, Lineages, Stop
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.step import Steps


@dataclass(frozen=True, slots=True)
class RunBudget:
    """Limits for one run of a driver. None: a default, fixed before the run from the present number
    of nodes; nodes made by rules do not raise it.

    firings: of all rules together (10 for each node, and 10,000). depth: firings at one node and at
    its descendants (10,000; firings that reach more and more of the graph do not count). per_rule:
    firings of each rule, also in strategies (no limit). nodes: growth of the graph (2 for each
    node, and 100,000). operands: operands of nodes made by rules (100 for each variable, and
    1,000,000: a sum may grow without end and stay one node). If `firings` is set, depth, nodes and
    operands are at least 1, 10 and 100 times as large. seconds: time (no limit). on_budget: "raise"
    a `RuleLoopError` and restore the graph as it was before the run, or "stop" and keep the changes
    (None: `config.on_budget`).
    """

    firings: int | None = None
    depth: int | None = None
    per_rule: int | None = None
    nodes: int | None = None
    operands: int | None = None
    seconds: float | None = None
    on_budget: str | None = None

    def __post_init__(self) -> None:
        if self.on_budget not in (None, "raise", "stop"):
            raise ValueError(f"on_budget must be 'raise' or 'stop', not {self.on_budget!r}")
        for name in ("firings", "depth", "per_rule", "nodes", "operands", "seconds"):
            limit = getattr(self, name)
            what = "a number" if name == "seconds" else "a whole number"
            kind = int | float if name == "seconds" else int
            if not isinstance(limit, kind | None) or isinstance(limit, bool):
                raise TypeError(f"a budget of {name} must be {what} or None, not {limit!r}")
            if limit is not None and not limit >= 0:
                raise ValueError(f"a budget of {name} must be 0 or more, not {limit!r}")

    @staticmethod
    def of(budget: RunBudget | None) -> RunBudget:
        """Return a given budget, or the default one."""
        if budget is None:
            return RunBudget()
        if not isinstance(budget, RunBudget):
            raise TypeError(f"a budget must be RunBudget(firings=...) or None, not {budget!r}")
        return budget

    def fitted(self, n: int, variables: int = 0) -> RunBudget:
        """Return the budget with its defaults for a graph of `n` nodes and this many variables."""
        given = self.firings or 0  # who sets this knows how long rows may get
        most = max(1_000_000 + 100 * variables, 100 * given)
        return RunBudget(
            10_000 + 10 * n if self.firings is None else self.firings,
            max(10_000, given) if self.depth is None else self.depth,
            self.per_rule,
            max(100_000 + 2 * n, 10 * given) if self.nodes is None else self.nodes,
            most if self.operands is None else self.operands,
            self.seconds,
            self.on_budget or config.on_budget,
        )


class Account:
    """Remainder of a budget: for one run, or (turns) for all turns of a repetition, each a run with
    an account within this one. Turns are expensive, so lineages are inspected from their beginning,
    and continue from one turn to the next.

    watching: whether every firing is inspected; looks: whether this one is. due: the value of
    `left` at which to inspect next. lineage, number: the lineage of the node at which a rule fires,
    and the index of the firing in it. firing: the key that is compared.
    """

    def __init__(
        self,
        result: Result,
        budget: RunBudget,
        fgraph: FunctionGraph,
        turns: bool = False,
    ) -> None:
        n, outer = len(fgraph), result.within
        self.result, self.fgraph, self.outer, self.name = result, fgraph, outer, result.name
        self.budget = limit = budget.fitted(n, len(fgraph.users))
        self.left = limit.firings or 0
        self.depth = limit.depth or 0
        self.per_rule: float = inf if limit.per_rule is None else limit.per_rule
        self.largest = n + (limit.nodes or 0)
        self.operands = limit.operands or 0
        self.deadline = inf if limit.seconds is None else perf_counter() + limit.seconds
        self.visits = inf if budget.firings else 2_000_000 + 200 * n  # of all turns
        self.idle = 10_000 + 20 * n  # visits without a firing
        self.fired: dict[str, int] = {}  # in the turns before
        self.lineages = Lineages()
        self.every, self.window = (16, 16) if turns else (EVERY, WINDOW)
        self.cycle: Cycle | None = None
        if outer is not None:
            self.within(outer, turns)
        self.quiet = self.every - self.window
        self.watching = self.depth < self.every or self.left <= 0 or self.per_rule < inf
        self.watching |= outer is not None
        self.given = self.operands
        self.due = self.left
        self.looks, self.number = False, 0
        self.lineage: Lineage | None = None
        self.firing: tuple[Any, ...] | None = None

    def within(self, outer: Account, turns: bool) -> None:
        """Limit this account by an outer one; as one of its turns, also continue its lineages."""
        for name in ("left", "largest", "operands", "deadline"):
            setattr(self, name, min(getattr(self, name), getattr(outer, name)))
        if turns:
            return
        self.name, self.fired, self.every = outer.name, outer.fired, outer.every
        self.window, self.lineages, self.cycle = outer.window, outer.lineages, outer.cycle
        self.per_rule, self.depth = min(self.per_rule, outer.per_rule), min(self.depth, outer.depth)
        how = "stop" if outer.budget.on_budget == "stop" else self.budget.on_budget
        self.budget = replace(outer.budget, on_budget=how)

    def spend(self, fired: Mapping[str, int], visits: int, operands: int) -> None:
        """Subtract a finished turn."""
        self.visits -= visits
        self.operands -= operands
        for name, n in fired.items():
            self.fired[name] = self.fired.get(name, 0) + n
            self.left -= n
        if self.outer is not None:
            self.outer.spend(fired, visits, operands)

    def close(self) -> None:
        """Finish the account at the end of the run."""
        if self.outer is not None:
            self.outer.cycle = self.cycle
            self.outer.spend(self.result.fired, self.result.visits, self.given - self.operands)

    # --- firings that are looked at --------------------------------------------------------------

    def before(self, node: Apply, rule: Rule, steps: Steps) -> None:
        """Check that a rule may fire, and record the key of the firing if it will be compared."""
        self.lineage = lineage = self.lineages.of.get(node)
        self.number = 1 if lineage is None else lineage[0] + 1
        compared = self.number % self.every >= self.quiet
        self.looks, self.firing = self.watching or compared, None
        if not self.looks:
            return
        if self.cycle is None and self.left <= 0:
            self.stop(f"its budget of {self.budget.firings} firings is used up", rule, lineage)
        elif self.cycle is None and self.per_rule < inf and (spent := self.spent(steps)):
            why = f"{spent.name} has used up its {self.budget.per_rule} firings"
            self.stop(why, spent, lineage)
        if self.cycle is not None:
            self.cycle.note(node, steps, len(self.fgraph), lineage)
        elif compared:
            self.lineages.sees(lineage, node, rule.depth)
            self.firing = rule.name, self.lineages.numbers.key(node)

    def after(self, node: Apply, rule: Rule, fresh: Sequence[Apply], steps: int) -> None:
        """Count a firing of some steps, which made nodes, and look for loops when due."""
        of, lineage, number = self.lineages.of, self.lineage, self.number
        if node in self.fgraph.order.level:
            of[node] = lineage = lineage or [0, 0, None]
        elif number > 1:
            of.pop(node, None)
        if fresh:
            lineage = lineage or [0, 0, None]
            for made in fresh:
                of[made] = lineage
                self.operands -= len(made.inputs)
        if lineage is not None:
            lineage[0] = number
        self.left -= steps
        if self.looks or self.left <= self.due or self.operands < 0:
            self.check(rule, lineage, fresh)

    def check(self, rule: Rule, lineage: Lineage | None, fresh: Sequence[Apply]) -> None:
        """Check whether a budget is used up, or a loop was found."""
        limit, n, firing = self.budget, len(self.fgraph), self.firing
        if self.cycle is not None:
            if self.cycle.taken(fresh, lineage) or -4 * self.operands > self.given:
                raise Stop(self.cycle.error())
        elif lineage is not None and lineage[0] > self.depth:
            self.stop(f"more than {limit.depth} firings at descendants of one node", rule, lineage)
        elif n > self.largest:
            self.stop(f"the graph grew by more than {limit.nodes} nodes", rule, lineage)
        elif self.operands < 0:
            self.stop(f"its rules made more than {limit.operands} operands", rule, lineage)
        elif firing is not None and lineage is not None:
            self.lineages.fired(lineage, firing, fresh)
            if lineage[0] % self.every == self.every - 1:
                if not self.lineages.goes_on(lineage, self.every, self.window):
                    self.stop(AGAIN, rule, lineage)
                self.watching |= lineage[0] + self.every > self.depth
        if len(self.lineages.of) > 2 * n + 4096:
            self.lineages.forget(self.fgraph.order.level)
        self.due = self.left - max(1, min(256, self.left, (self.largest - n) // 8))
        self.watching |= self.left <= 0  # the next firing would be one too many

    def spent(self, steps: Steps) -> Rule | None:
        """Return the rule that would exceed its number of firings with these steps, or None."""
        asked, tally = Counter([rule.name for rule, _ in steps]), self.result.tally
        for rule, _ in steps:
            now = tally[rule.name].firings if rule.name in tally else 0
            if self.fired.get(rule.name, 0) + now + asked[rule.name] > self.per_rule:
                return rule
        return None

    def in_time(self, order: Iterable[Apply]) -> Iterable[Apply]:
        """Yield the nodes to visit until the time is over; the clock is read only if there is a
        limit.
        """
        return order if self.deadline == inf else self.timed(order)

    def timed(self, order: Iterable[Apply]) -> Iterator[Apply]:
        """Yield the nodes until the time is over, and then a bit longer, to find what is going
        on.
        """
        deadline = self.deadline
        for node in order:
            if perf_counter() > deadline:
                deadline = self.late()
            yield node

    def late(self) -> float:
        """Handle the end of the time. Returns the new limit, if the run continues."""
        if perf_counter() <= self.deadline:
            return self.deadline
        if self.cycle is None:
            self.stop(f"its budget of {self.budget.seconds} seconds is used up")
            self.deadline += 0.05 * (self.budget.seconds or 0) + 0.01
            return self.deadline
        if self.cycle.count < LONG and perf_counter() < self.deadline + 1:  # a slow machine
            return perf_counter() + 0.01
        raise Stop(self.cycle.error())

    def still_idle(self, visits: int) -> int:
        """Handle many visits without a firing. Returns the new limit, if the run continues."""
        self.idle = max(self.idle, 10_000 + 20 * len(self.fgraph))
        if visits <= self.idle:
            return self.idle
        self.stop("nodes change again and again although no rule fires")
        raise Stop(self.cycle.error())  # type: ignore[union-attr]

    def stop(self, why: str, rule: Rule | None = None, lineage: Lineage | None = None) -> None:
        """End the run, or search for the cycle from here on."""
        self.result.note = why
        self.result.stopped = StopReason.LOOP if why == AGAIN else StopReason.BUDGET
        if self.budget.on_budget == "stop":
            raise Stop
        growth = self.result.nodes_before, len(self.fgraph)
        what, suspect = f"the phase {self.name}", self.lineages.longest(lineage)
        self.cycle = Cycle(what, why, rule, suspect, growth)
        self.watching = True
