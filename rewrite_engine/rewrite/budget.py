"""`RunBudget`: how much may happen in one run of a driver; `Account`: what is left of it.

While rules fire, numbers are counted down. At some firings of a lineage, and when a number has run
out, an account looks at what fires: how loops are told from work that takes long is in
`rewrite/loop.py`.
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
    """What one run of a driver may use up. None: a default, which is fixed before the run starts,
    by the number of nodes that the graph has then. What the rules make does not raise it.

    firings: of all rules together (10 for each node, and 10,000). depth: firings at one node and at
    all that comes of it (10,000; not counted are those that get to see more and more of the graph).
    per_rule: firings of each rule, also in strategies (no limit). nodes: by how many the graph may
    grow (2 for each node, and 100,000). operands: how many the nodes have that rules make (100 for
    each variable, and 1,000,000: a sum may grow for ever and be one node). Where `firings` is
    given, depth, nodes and operands are at least that, 10 times and 100 times that. seconds: of
    time (no limit).
    on_budget: "raise" a `RuleLoopError` and leave the graph as it was before the run, or "stop" and
    keep what is done (None: `config.on_budget`).
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
            raise ValueError(f"on_budget is 'raise' or 'stop', not {self.on_budget!r}")
        for name in ("firings", "depth", "per_rule", "nodes", "operands", "seconds"):
            limit = getattr(self, name)
            what = "a number" if name == "seconds" else "a whole number"
            kind = int | float if name == "seconds" else int
            if not isinstance(limit, kind | None) or isinstance(limit, bool):
                raise TypeError(f"a budget of {name} is {what} or None, not {limit!r}")
            if limit is not None and not limit >= 0:
                raise ValueError(f"a budget of {name} is not less than 0, but {limit!r} is")

    @staticmethod
    def of(budget: RunBudget | None) -> RunBudget:
        """A budget that was given, or the default one."""
        if budget is None:
            return RunBudget()
        if not isinstance(budget, RunBudget):
            raise TypeError(f"a budget is RunBudget(firings=...) or None, not {budget!r}")
        return budget

    def fitted(self, n: int, variables: int = 0) -> RunBudget:
        """The budget with its defaults, for a graph of n nodes and so many variables."""
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
    """What is left of a budget: for one run, or (turns) for all turns of a repetition, each a run
    with an account within that one's. Turns are expensive, so lineages are looked at from their
    beginning, and go on from one turn to the next.

    watching: whether every firing is looked at; looks: whether this one is. due: what is `left`
    when the next must be. lineage, number: of the node at which a rule fires, and of that firing in
    it. firing: what is compared.
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
        """Last no longer than what is around it; as one of its turns, go on with what it has."""
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
        """A turn is over."""
        self.visits -= visits
        self.operands -= operands
        for name, n in fired.items():
            self.fired[name] = self.fired.get(name, 0) + n
            self.left -= n
        if self.outer is not None:
            self.outer.spend(fired, visits, operands)

    def close(self) -> None:
        """The run is over."""
        if self.outer is not None:
            self.outer.cycle = self.cycle
            self.outer.spend(self.result.fired, self.result.visits, self.given - self.operands)

    # --- firings that are looked at --------------------------------------------------------------

    def before(self, node: Apply, rule: Rule, steps: Steps) -> None:
        """Before a firing: may it be? If it is to be compared, note what it is known by."""
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
        """After a firing of so many steps, which made nodes: count; look for loops when due."""
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
        """Is a budget used up, is it a loop?"""
        limit, n, firing = self.budget, len(self.fgraph), self.firing
        if self.cycle is not None:
            if self.cycle.taken(fresh, lineage) or -4 * self.operands > self.given:
                raise Stop(self.cycle.error())
        elif lineage is not None and lineage[0] > self.depth:
            self.stop(f"more than {limit.depth} firings at what came of one node", rule, lineage)
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
        """The rule that would fire more often than it may, if what is proposed was taken."""
        asked, tally = Counter([rule.name for rule, _ in steps]), self.result.tally
        for rule, _ in steps:
            now = tally[rule.name].firings if rule.name in tally else 0
            if self.fired.get(rule.name, 0) + now + asked[rule.name] > self.per_rule:
                return rule
        return None

    def in_time(self, order: Iterable[Apply]) -> Iterable[Apply]:
        """The nodes to visit, while there is time; the clock is looked at if there is a limit."""
        return order if self.deadline == inf else self.timed(order)

    def timed(self, order: Iterable[Apply]) -> Iterator[Apply]:
        """Yield the nodes while there is time, and then a bit longer, to see what is going on."""
        deadline = self.deadline
        for node in order:
            if perf_counter() > deadline:
                deadline = self.late()
            yield node

    def late(self) -> float:
        """Time is over. Returns the new limit, if it goes on."""
        if perf_counter() <= self.deadline:
            return self.deadline
        if self.cycle is None:
            self.stop(f"the {self.budget.seconds} seconds it has are over")
            self.deadline += 0.05 * (self.budget.seconds or 0) + 0.01
            return self.deadline
        if self.cycle.count < LONG and perf_counter() < self.deadline + 1:  # a slow machine
            return perf_counter() + 0.01
        raise Stop(self.cycle.error())

    def still_idle(self, visits: int) -> int:
        """So many visits, and nothing fires. Returns the new limit, if it goes on."""
        self.idle = max(self.idle, 10_000 + 20 * len(self.fgraph))
        if visits <= self.idle:
            return self.idle
        self.stop("nodes change again and again though no rule fires")
        raise Stop(self.cycle.error())  # type: ignore[union-attr]

    def stop(self, why: str, rule: Rule | None = None, lineage: Lineage | None = None) -> None:
        """End the run; or look for the cycle from here on."""
        self.result.note = why
        self.result.stopped = StopReason.LOOP if why == AGAIN else StopReason.BUDGET
        if self.budget.on_budget == "stop":
            raise Stop
        growth = self.result.nodes_before, len(self.fgraph)
        what, suspect = f"the phase {self.name}", self.lineages.longest(lineage)
        self.cycle = Cycle(what, why, rule, suspect, growth)
        self.watching = True
