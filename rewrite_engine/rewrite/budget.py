"""`RunBudget`: how much may happen in one run of a driver; `Account`: in all turns of a repetition.

How loops are told from work that takes long is in `rewrite/loop`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.match.rule import Rule
from rewrite_engine.rewrite.loop import Lines, Rows
from rewrite_engine.rewrite.loop.story import Story
from rewrite_engine.rewrite.step import Derived


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
            kind = int | float if name == "seconds" else int
            if limit is None:
                continue
            if not isinstance(limit, kind) or isinstance(limit, bool):
                what = "a number" if name == "seconds" else "a whole number"
                raise TypeError(f"a budget of {name} is {what} or None, not {limit!r}")
            if not limit >= 0:
                raise ValueError(f"a budget of {name} is not less than 0, but {limit!r} is")

    @staticmethod
    def of(budget: RunBudget | None, firings: int | None = None) -> RunBudget:
        """A budget that was given, or the default one (with so many firings)."""
        if budget is None:
            return RunBudget(firings)
        if not isinstance(budget, RunBudget):
            raise TypeError(f"a budget is RunBudget(firings=...) or None, not {budget!r}")
        return budget

    def fitted(self, n: int, variables: int = 0) -> RunBudget:
        """The budget with its defaults, for a graph of n nodes and so many variables."""
        given = self.firings or 0  # who sets this knows how long rows may get
        most = max(1_000_000 + 100 * variables, 100 * given)
        return replace(
            self,
            firings=10_000 + 10 * n if self.firings is None else self.firings,
            depth=max(10_000, given) if self.depth is None else self.depth,
            nodes=max(100_000 + 2 * n, 10 * given) if self.nodes is None else self.nodes,
            operands=most if self.operands is None else self.operands,
            on_budget=self.on_budget or config.on_budget,
        )


class Account:
    """The budget of a repetition: what its turns, each a run of its own, may use up together.

    It takes the place of what a run would begin with: rows of firings, and a story, go on from one
    turn to the next. Turns are expensive, so rows are looked at from their beginning.
    """

    every, window = 16, 16

    def __init__(self, name: str, budget: RunBudget, fgraph: Any, outer: Account | None) -> None:
        n = len(fgraph)
        self.name = name
        self.budget = limit = budget.fitted(n, len(fgraph.clients))
        self.left = limit.firings or 0
        self.largest = n + (limit.nodes or 0)
        self.room = limit.operands or 0
        self.deadline = inf if limit.seconds is None else perf_counter() + limit.seconds
        self.visits = inf if budget.firings else 2_000_000 + 200 * n
        self.outer = outer
        if outer is not None:  # what is around it lasts no longer
            self.left = min(self.left, outer.left)
            self.largest = min(self.largest, outer.largest)
            self.room = min(self.room, outer.room)
            self.deadline = min(self.deadline, outer.deadline)
        self.fired: dict[str, int] = {}
        self.lines = Lines()
        self.rows = Rows()
        self.story: Story | None = None

    def spend(self, fired: Mapping[str, int], visits: int, operands: int) -> None:
        """A turn is over."""
        self.visits -= visits
        self.room -= operands
        for name, n in fired.items():
            self.fired[name] = self.fired.get(name, 0) + n
            self.left -= n
        if self.outer is not None:
            self.outer.spend(fired, visits, operands)


def used_up(rule: Rule, new: Any, most: float, spent: Callable[[Rule], int]) -> Rule | None:
    """The rule that would fire more often than it may, if what is proposed was taken."""
    steps = new.steps if new.__class__ is Derived else ((rule, new),)
    asked: dict[str, int] = {}
    for inner, _ in steps:
        asked[inner.name] = n = asked.get(inner.name, 0) + 1
        if n + spent(inner) > most:
            return inner
    return None
