"""Reports of drivers: why they stopped, what each rule did, and where the time went."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.journal import State
from rewrite_engine.rewrite.step import Steps

if TYPE_CHECKING:
    from rewrite_engine.rewrite.budget import Account


class StopReason(enum.Enum):
    """Reason why a driver stopped."""

    SATURATED = "nothing more to do"
    PASSED = "one pass is done"
    BUDGET = "the budget is used up"
    LOOP = "the same terms come again and again"  # (`AGAIN` in rewrite/budget.py)
    FAILED = "a rule failed"


@dataclass(slots=True)
class RuleStats:
    """Statistics of one rule in a run.

    calls: nodes at which it was tried (counted if `Feature.times` is set). matches: how often it
    proposed a replacement. firings: how often the graph accepted it. taken_back: how often an
    accepted one was undone later. refused: how often the graph refused it because of its type or a
    feature. errors: how often it raised (with `config.on_rule_error` "warn"). created, dropped:
    nodes that entered and left the graph at its firings. loading: seconds of tries that loaded
    modules, as the first of a process may (counted like calls). seconds: spent in other tries,
    matching and replacing (counted like calls). A strategy has calls, matches, and the seconds not
    spent in its rules: its firings are counted for them, and the nodes that it creates for the last
    of them.
    """

    calls: int = 0
    matches: int = 0
    firings: int = 0
    taken_back: int = 0
    refused: int = 0
    errors: int = 0
    created: int = 0
    dropped: int = 0
    loading: float = 0.0
    seconds: float = 0.0


class Tally(dict[str, RuleStats]):
    """Statistics of each rule, by its name."""

    def __missing__(self, name: str) -> RuleStats:
        self[name] = stats = RuleStats()
        return stats


COLUMNS = tuple(f.name for f in fields(RuleStats))
COUNTS = COLUMNS[:-2]
SAID = 200  # characters of an error, for each firing that it takes back
HEADINGS = {"firings": "fired", "taken_back": "taken back", "created": "new", "dropped": "gone"}


@dataclass(slots=True)
class Result:
    """Report of one run of a driver.

    tally: statistics of each rule, by its name. refusals: how often a feature refused a firing, by
    the feature's class. parts: the reports of its parts. note: more on why it stopped.
    taken_back_by: the driver that restored the graph, if one did. place: the op whose graph it was,
    if it was an inner one (its phases are called "canonicalize in f"). within: the rest of the
    budget of a repetition around it, while it runs.
    """

    name: str
    stopped: StopReason = StopReason.SATURATED
    tally: Tally = field(default_factory=Tally)
    refusals: dict[str, int] = field(default_factory=dict)
    visits: int = 0
    merged: int = 0
    nodes_before: int = 0
    nodes_after: int = 0
    seconds: float = 0.0
    parts: list[Result] = field(default_factory=list)
    note: str = ""
    taken_back_by: str | None = None
    place: str = ""
    within: Account | None = field(default=None, repr=False)

    @property
    def rules(self) -> dict[str, RuleStats]:
        """Return the statistics of each rule, by its name; of all parts together if there are
        any.
        """
        if not self.parts:
            return dict(self.tally)
        total = Tally()
        for leaf in self.leaves():
            for name, stats in leaf.tally.items():
                whole = total[name]
                for column in COLUMNS:
                    setattr(whole, column, getattr(whole, column) + getattr(stats, column))
        return dict(total)

    def stop_as_parts(self) -> None:
        """Stop with the worst reason of the parts."""
        ends = {part.stopped for part in self.parts}
        worst = (StopReason.LOOP, StopReason.BUDGET, StopReason.FAILED, StopReason.PASSED)
        self.stopped = next((r for r in worst if r in ends), StopReason.SATURATED)

    @property
    def fired(self) -> dict[str, int]:
        """Return the firings per rule name, of the rules that fired."""
        return {name: stats.firings for name, stats in self.rules.items() if stats.firings}

    @property
    def firings(self) -> int:
        """Number of firings of all rules."""
        return sum(s.firings for leaf in self.leaves() for s in leaf.tally.values())

    @property
    def loading(self) -> float:
        """Seconds of tries that loaded modules, as a first use of an op may (in `seconds`, too)."""
        return sum(s.loading for leaf in self.leaves() for s in leaf.tally.values())

    @property
    def taken_back(self) -> int:
        """Number of firings that were undone when the graph was restored."""
        return sum(s.taken_back for leaf in self.leaves() for s in leaf.tally.values())

    def take_back(self, by: str) -> None:
        """Record that a driver has restored the graph."""
        for leaf in self.leaves():
            if leaf.firings:
                leaf.taken_back_by = by
            for stats in leaf.tally.values():
                stats.taken_back += stats.firings
                stats.firings = stats.created = stats.dropped = 0

    def count(self, name: str, firings: int = 1) -> None:
        """Record firings of something outside the common loop of the drivers."""
        stats = self.tally[name]
        stats.calls += firings
        stats.matches += firings
        stats.firings += firings

    def fire(self, steps: Steps) -> RuleStats:
        """Record that rules fired; return the statistics of the last of them. Reports name rules in
        the order in which they first fired.
        """
        tally = self.tally
        for rule, _ in steps:
            stats = tally.get(rule.name) or RuleStats()
            if not stats.firings:
                tally.pop(rule.name, None)
                tally[rule.name] = stats
            stats.firings += 1
        return stats

    def leaves(self) -> Iterator[Result]:
        """Yield the reports without parts, in order."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    def __str__(self) -> str:
        back = f" ({self.taken_back} more taken back)" if self.taken_back else ""
        return (
            f"{self.name}: {self.firings} firings{back}, "
            f"{self.nodes_before} -> {self.nodes_after} nodes, "
            f"{self.seconds * 1e3:.2f} ms, {self.stopped.name}"
        )

    def table(self, most: int = 20, columns: Sequence[str] = COUNTS) -> Any:
        """Return a `rich` table: each phase, and in it the rules that were tried, the most
        expensive first, at most `most`. columns: of `COLUMNS`; a column of zeros is left out.
        """
        from rich import box
        from rich.table import Table
        from rich.text import Text

        every = self.rules.values()
        shown = [c for c in columns if any(getattr(stats, c) for stats in every)]
        table = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold",
            title=Text(str(self)),
        )  # fmt: skip
        table.add_column("rule", overflow="fold")
        loaded = any([stats.loading for stats in every])
        times = ("ms", "ms loading") if loaded else ("ms",)
        for name in (*[HEADINGS.get(c, c) for c in shown], *times):
            table.add_column(name, justify="right")
        for leaf in self.leaves():
            if self.parts:
                head = Text.assemble((leaf.name, "bold"), f": {leaf.stopped.value}")
                table.add_row(head, *[""] * len(shown), f"{leaf.seconds * 1e3:.2f}")
            ranked = sorted(leaf.tally.items(), key=lambda item: -item[1].seconds)
            for rule, stats in ranked[:most]:
                counts = [str(getattr(stats, c) or "") for c in shown]
                took = f"{stats.seconds * 1e3:.2f}" if stats.calls else ""
                first = [f"{stats.loading * 1e3:.2f}" if stats.loading else ""] * loaded
                table.add_row(Text(f"  {rule}"), *counts, took, *first)
            if len(ranked) > most:
                table.add_row(f"  … {len(ranked) - most} more rules")
            for feature, n in leaf.refusals.items():
                table.add_row(f"  refused by {feature}: {n}")
        return table

    def __rich__(self) -> Any:
        return self.table()


class Rollback:
    """Way back to the start of a driver, prepared when `take` is called: for the graph, the counts,
    and the records of the graph's features since this object was made.

    Recording the state is linear in the graph, so it is done just before the first change. Its
    block goes back if rules do not end in it, or it is interrupted (Ctrl-C); a rule that fails has
    changed nothing.
    """

    def __init__(self, fgraph: FunctionGraph, result: Result) -> None:
        fgraph.flush()
        self.fgraph, self.result, self.marks = fgraph, result, fgraph.marks()
        self.taken: Callable[[], State] | None = None

    def take(self) -> None:
        """Record the present state of the graph."""
        self.taken = State.noted(self.fgraph)

    def __enter__(self) -> Rollback:
        return self

    def __exit__(self, kind: object, why: BaseException | None, *where: object) -> None:
        if isinstance(why, RuleLoopError) or not isinstance(why, Exception | None):
            try:
                self.restore(why)
            except BaseException as error:  # interrupted
                self.restore(error)
                raise

    def restore(self, why: object) -> None:
        """Restore the recorded state. why: what went wrong; only the beginning of the text is
        stored.
        """
        if self.taken is not None:
            self.fgraph.restore(self.taken())
        by = self.result.name
        self.result.take_back(by)
        said = " ".join([line.strip() for line in str(why).split("\n", 2)[:2]])
        self.fgraph.take_back(self.marks, by, said[:SAID] or type(why).__name__)
