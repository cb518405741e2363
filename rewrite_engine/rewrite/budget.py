"""Rules that do not come to an end: `RunBudget` (how much may happen), `Rows` (which terms come
again), `Story` (what the error tells).

Every firing happens at a node that an earlier firing made, or at one of the graph as it came. The
number of firings in such a row is the *depth* of a firing: that of a loop grows without end, that
of honest work seldom reaches a thousand, however large the graph is. Deep rows are looked at from
time to time: where the same rules fire at the same terms again and again it is a loop, and no
budget has to run out. The terms are noted as text only once it is known that something is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

from rewrite_engine.config import config
from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.rewrite.step import Derived
from rewrite_engine.terms.print import (
    Token,
    constant_text,
    leaf_tokens,
    operator_text,
    tokens,
    write,
)

EVERY = 1024  # at multiples of this depth a row of firings is looked at,
WINDOW = 64  # and so many of its firings are compared
STORY = 400  # firings that are noted as text after a budget has run out
LONG = 16  # firings in a row after the end of a budget that are taken for a loop
SHOWN = 12  # of a story without a period
AGAIN = "the same terms come again and again"
TEXT, DEPTH, WIDTH = 120, 5, 12  # characters, levels and operands of a term that are shown


@dataclass(frozen=True, slots=True)
class RunBudget:
    """What one run of a driver may use up. None: a default, which is fixed before the run starts,
    by the number of nodes that the graph has then. What the rules make does not raise it.

    firings: of all rules together (10 for each node, and 10,000). depth: firings in a row, each at
    what the one before made (1 for each node, and 10,000). per_rule: firings of each rule (no
    limit). nodes: by how many the graph may grow (2 for each node, and 100,000). Where `firings`
    is given, depth and nodes are at least that, and ten times that. seconds: of time (no limit).
    on_budget: "raise" a `RuleLoopError` and leave the graph as it was before the run, or "stop" and
    keep what is done (None: `config.on_budget`).
    """

    firings: int | None = None
    depth: int | None = None
    per_rule: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    on_budget: str | None = None

    def __post_init__(self) -> None:
        if self.on_budget not in (None, "raise", "stop"):
            raise ValueError(f"on_budget is 'raise' or 'stop', not {self.on_budget!r}")
        for name in ("firings", "depth", "per_rule", "nodes", "seconds"):
            limit = getattr(self, name)
            kind = int | float if name == "seconds" else int
            if limit is None:
                continue
            if not isinstance(limit, kind) or isinstance(limit, bool):
                what = "a number" if name == "seconds" else "a whole number"
                raise TypeError(f"a budget of {name} is {what} or None, not {limit!r}")
            if not limit >= 0:
                raise ValueError(f"a budget of {name} is not less than 0, but {limit!r} is")

    def fitted(self, n: int) -> RunBudget:
        """The budget with its defaults, for a graph of n nodes."""
        given = self.firings or 0  # who sets this knows how long rows may get
        return replace(
            self,
            firings=10_000 + 10 * n if self.firings is None else self.firings,
            depth=max(10_000 + n, given) if self.depth is None else self.depth,
            nodes=max(100_000 + 2 * n, 10 * given) if self.nodes is None else self.nodes,
            on_budget=self.on_budget or config.on_budget,
        )


class Account:
    """The budget of a repetition: what its turns, each a run of its own, may use up together.

    It takes the place of what a run would begin with: rows of firings, and a story, go on from one
    turn to the next. Turns are expensive, so rows are looked at from their beginning.
    """

    every, window = 16, 16

    def __init__(self, name: str, budget: RunBudget, n: int, outer: Account | None) -> None:
        self.name = name
        self.budget = limit = budget.fitted(n)
        self.left = limit.firings or 0
        self.largest = n + (limit.nodes or 0)
        self.deadline = inf if limit.seconds is None else perf_counter() + limit.seconds
        self.visits = inf if budget.firings else 2_000_000 + 200 * n
        self.outer = outer
        if outer is not None:  # what is around it lasts no longer
            self.left = min(self.left, outer.left)
            self.largest = min(self.largest, outer.largest)
            self.deadline = min(self.deadline, outer.deadline)
        self.fired: dict[str, int] = {}
        self.depth: dict[Apply, int] = {}
        self.rows = Rows()
        self.story: Story | None = None

    def spend(self, fired: Mapping[str, int], visits: int) -> None:
        """A turn is over."""
        self.visits -= visits
        for name, n in fired.items():
            self.fired[name] = self.fired.get(name, 0) + n
            self.left -= n
        if self.outer is not None:
            self.outer.spend(fired, visits)


class Event(NamedTuple):
    """One firing of a story. nodes: how many the graph had before it."""

    rule: str
    before: str
    after: str
    nodes: int
    ours: bool  # whether it happened at what the suspected row of firings made


class Story:
    """The firings after a budget has run out, with their terms: shows the cycle."""

    def __init__(
        self, phase: str, why: str, rule: Any, row: Iterable[Apply], growth: tuple[int, int]
    ) -> None:
        self.phase = phase
        self.why = why
        self.sure = why == AGAIN
        self.first = [] if rule is None else [rule.name]
        self.row = set(row)
        self.growth = growth
        self.events: list[Event] = []
        self.last = 0  # where what was noted last begins

    def note(self, node: Apply, rule: Any, new: Any, nodes: int) -> None:
        """A rule proposes something at a node of a graph that has so many."""
        before = text_of(node.outputs[0]) if node.outputs else str(node.op)
        self.last = len(self.events)
        for inner, made in new.steps if isinstance(new, Derived) else [(rule, new)]:
            after = text_of(made)
            self.events.append(Event(inner.name, before, after, nodes, node in self.row))
            before = after

    def taken(self, node: Apply, made: Iterable[Apply]) -> bool:
        """The proposal was taken, and made nodes; whether the story is long enough."""
        if node in self.row:
            self.row.update(made)
        n = len(self.events)
        if self.sure and n >= 8 and not n & (n - 1):  # where one turn is enough, stop soon
            return period([(e.rule, e.before, e.nodes) for e in self.events]) is not None
        return n >= STORY

    def drop(self) -> None:
        """The proposal changed nothing."""
        del self.events[self.last :]

    def error(self) -> RuleLoopError:
        """The error that tells it."""
        ours = [e for e in self.events if e.ours]
        events = ours if len(ours) > 1 else self.events
        turn = period([(e.rule, e.before, e.nodes) for e in events])
        head = "one turn of the cycle:"
        if turn is None:
            turn = period([e.rule for e in events])
            head = "one turn, after which the same rules go on with other terms:"
        shown = events[-turn:] if turn else events[-SHOWN:]
        if turn is None:
            turn, head = len(events), "the last firings, in which no period was found:"
        rules = list(dict.fromkeys(e.rule for e in events[-turn:])) if turn else self.first
        if self.sure or len(ours) >= LONG or not events:
            lines = [
                f"the phase {self.phase} does not come to an end: {self.why}",
                f"    the rules of the cycle: {', '.join(rules) or 'none that fired'}",
            ]
        else:  # there may be much to do, and no loop
            head = "the firings for which nothing was left:"
            lines = [
                f"the phase {self.phase} is not done, but {self.why}",
                f"    the rules that go on: {', '.join(rules)}; a `RunBudget` may allow them more",
            ]
        if shown:
            lines += [f"    {head}", *[f"        {e.rule}: {e.before} → {e.after}" for e in shown]]
        lines += self._grown(events, turn)
        error = RuleLoopError("\n".join(lines))
        error.rules = tuple(rules)
        error.turn = tuple((e.rule, e.before, e.after) for e in shown)
        return error

    def _grown(self, events: Sequence[Event], turn: int) -> list[str]:
        """How the graph grows from turn to turn, if it does."""
        before, now = self.growth
        if now <= before:
            return []
        sizes = [e.nodes for e in events[:: max(turn, 1)]][:4]
        if len(sizes) > 2 and sizes[0] < sizes[1] < sizes[2]:
            steps = f"; nodes turn by turn: {', '.join(map(str, sizes))}, …"
        else:
            steps = ""
        return [f"    the graph grew from {before} to {now} nodes{steps}"]


def period(keys: Sequence[Any]) -> int | None:
    """After how many items at its end a sequence repeats; None if it does not."""
    n = len(keys)
    last = keys[-1] if keys else None
    for p in range(1, n // 2 + 1):
        if keys[n - 1 - p] == last and keys[n - p :] == keys[n - 2 * p : n - p]:
            return p
    return None


def text_of(v: Any) -> str:
    """A term as text of limited length and depth; its own name does not hide it. Of what a rule
    returned for several outputs: all terms.
    """
    if isinstance(v, Mapping):
        pairs = [(text_of(old), text_of(new)) for old, new in v.items()]
        return ", ".join(f"{new} for {old}" for old, new in pairs)
    if isinstance(v, list | tuple):
        return ", ".join(text_of(new) for new in v if new is not None)
    return write((v, DEPTH), _expand, TEXT)


def _expand(item: Any, outer: int) -> Sequence[Token]:
    v, depth = item
    if not isinstance(v, Variable):
        return [str(v)[:TEXT]]
    if v.owner is None or (v.name is not None and depth < DEPTH):
        text = v.name or (constant_text(v) if isinstance(v, Constant) else f"<{v.type}>")
        return leaf_tokens(text, outer)
    if not depth:
        return ["…"]
    args = [(x, depth - 1) for x in v.owner.inputs[:WIDTH]]
    if len(v.owner.inputs) > WIDTH:
        args.append(("…", 0))
    return tokens(operator_text(v.owner.op), args, outer)


class Rows:
    """Looks for rows of firings in which the same rules fire at the same terms.

    A term is known by a number: equal terms on the same variables have the same one, also when the
    nodes are not the same (the earlier ones have left the graph).
    """

    def __init__(self) -> None:
        self.number: dict[Variable, int] = {}
        self.table: dict[Any, int] = {}
        self.links: dict[Apply, tuple[Any, Any]] = {}  # node -> (firing, the one before it)

    def key(self, node: Apply) -> tuple[Any, ...]:
        """What a node computes, of variables and numbered terms."""
        number = self.number
        return (node.op, *[number.get(v, v) for v in node.inputs])

    def fired(self, rule: Any, key: tuple[Any, ...], node: Apply, made: Iterable[Apply]) -> None:
        """Add a firing to the row that led to a node."""
        if len(self.table) > 100_000:
            self.__init__()  # type: ignore[misc]
        link = ((rule.name, key), self.links.pop(node, None))
        for new in made:
            self.links[new] = link
            index = self.table.setdefault(self.key(new), len(self.table))
            for out in new.outputs:
                self.number[out] = index

    def repeats(self, made: Iterable[Apply]) -> bool:
        """Whether the row that led to these nodes goes round in a circle, three times at least."""
        for node in made:
            row: list[Any] = []
            link = self.links.get(node)
            while link is not None and len(row) < EVERY:
                row.append(link[0])
                link = link[1]
            turn = period(row[::-1])
            return turn is not None and row[:turn] == row[2 * turn : 3 * turn]
        return False
