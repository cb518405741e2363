"""The one loop of all drivers that apply rules: `Run`, and `Snapshot` for going back.

A driver says in which order nodes are visited; at each, the loop tries the rules that may match,
puts in what the first of them makes, counts, and keeps to the budget. What goes round in circles is
recognised in `rewrite/budget.py`; one replacement is made, or refused, in `rewrite/step.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import Any

from rewrite_engine.errors import CycleError, RuleLoopError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import (
    AGAIN,
    EVERY,
    WINDOW,
    Account,
    Rows,
    RunBudget,
    Story,
    text_of,
)
from rewrite_engine.rewrite.result import Result, RuleStats, StopReason
from rewrite_engine.rewrite.step import Derived, Referee, Refusal, fail, fire, made_by, put
from rewrite_engine.rewrite.trace import Trace

DEEP = EVERY - WINDOW


class Snapshot:
    """What is needed to bring a graph back: nodes with their inputs, origins and
    names, outputs, types.

    Taking one is linear in the graph, but cheap (0.2 µs a node). It survives that nodes which leave
    are taken apart (`FunctionGraph.lets_go`).
    """

    def __init__(self, fgraph: Any) -> None:
        self.fgraph = fgraph
        self.nodes = list(fgraph.apply_nodes)
        self.inputs = [(node.inputs, node.origin) for node in self.nodes]
        self.outputs = list(fgraph.outputs)
        self.named = {v: v.name for node in self.nodes for v in node.outputs if v.name is not None}
        self.types: dict[Variable, Any] = {}
        fgraph.on_change_type.append(self.note_type)

    def note_type(self, fgraph: Any, var: Variable, old: Any, new: Any) -> None:
        """A type becomes more precise."""
        self.types.setdefault(var, old)

    def close(self) -> None:
        """Note nothing more."""
        self.fgraph.on_change_type.remove(self.note_type)

    def restore(self) -> None:
        """Bring the graph back, the same nodes and all."""
        named = self.named
        inputs: dict[Apply, Any] = {}
        for node, (own, origin) in zip(self.nodes, self.inputs, strict=True):
            inputs[node], node.origin = own, origin
            for v in node.outputs:
                v.owner = node
                v.name = named.get(v)
        self.fgraph.restore(inputs, self.outputs, self.types)


class Run:
    """One run of rules over one graph.

    hit: whether a rule fired at the node that was visited last (the order sets it back).
    """

    def __init__(
        self,
        fgraph: Any,
        rules: RuleSet,
        budget: RunBudget,
        trace: Trace | None,
        result: Result,
    ) -> None:
        self.fgraph = fgraph
        self.dispatch = rules.dispatch
        self.trace = trace
        self.result = result
        self.level: dict[Apply, int] = fgraph.order.level
        self.fresh: list[Apply] = []  # the nodes that came in at the last firing
        self.hit = False
        self.referee = Referee.of(fgraph)
        self.careful = self.referee is not None
        self.attempts = bool(getattr(trace, "attempts", False))
        self.reason: Any = None  # why the last match was not put in
        self.kept: set[tuple[Apply, Rule]] = set()  # nodes still there after a rule replaced them
        self.depth: dict[Apply, int] = {}  # of the firing that made a node
        self.rows = Rows()
        self.story: Story | None = None
        self.budget = fitted = budget.fitted(len(fgraph))
        self.left: int = fitted.firings or 0
        self.lot, self.tick = 1, 0  # firings from one check to the next, and how many are left
        self.per_rule: float = inf if fitted.per_rule is None else fitted.per_rule
        self.deepest: int = fitted.depth or 0
        self.alarm = min(DEEP, self.deepest)  # from this depth on, firings are looked at
        self.largest: int = len(fgraph) + (fitted.nodes or 0)
        self.patience = 10_000 + 20 * len(fgraph)  # visits without a firing
        self.deadline = inf if fitted.seconds is None else perf_counter() + fitted.seconds
        self.every, self.deep = EVERY, DEEP
        self.account: Account | None = fgraph.account
        if self.account is not None:
            self.join(self.account)
        if self.left <= 0 or self.per_rule < inf:
            self.alarm = 0

    def join(self, account: Account) -> None:
        """Go on with what the turns before have left."""
        limit = account.budget
        self.every, self.deep = account.every, account.every - account.window
        self.depth, self.rows, self.story = account.depth, account.rows, account.story
        self.left = min(self.left, account.left)
        self.per_rule = inf if limit.per_rule is None else limit.per_rule
        if self.budget.per_rule is not None:
            self.per_rule = min(self.per_rule, self.budget.per_rule)
        self.deepest = min(self.deepest, limit.depth or 0)
        self.largest = min(self.largest, account.largest)
        self.deadline = min(self.deadline, account.deadline)
        self.alarm = 0
        self.budget = replace(limit, on_budget=self.budget.on_budget)
        if limit.on_budget == "stop":
            self.budget = limit

    def execute(self, order: Iterable[Apply]) -> None:
        """Visit nodes until there are no more, or the budget is used up."""
        fgraph = self.fgraph
        snapshot = Snapshot(fgraph) if self.budget.on_budget == "raise" else None
        fgraph.fresh = self.fresh
        error: RuleLoopError | None = None
        try:
            self.go(order)
            if self.story is not None and self.account is None:
                error = self.story.error()
        except Stop as stop:
            error = stop.error
        finally:
            fgraph.agenda = fgraph.fresh = None
            if self.account is not None:
                self.account.story, self.account.depth = self.story, self.depth
                self.account.spend(self.result.fired, self.result.visits)
            fgraph.lets_go = False
            fgraph.queued.clear()
            fgraph.flush()
            if self.referee is not None:
                self.referee.leave()
            if snapshot is not None:
                snapshot.close()
        if error is not None and snapshot is not None:
            snapshot.restore()
            raise error

    def go(self, order: Iterable[Apply]) -> None:
        """The loop: at each node the first rule that applies is taken."""
        fgraph, trace, tally, attempts = self.fgraph, self.trace, self.result.tally, self.attempts
        candidates, clock, known = self.dispatch.candidates, perf_counter, tally.get
        visits, last, deadline, patience = 0, 0, self.deadline, self.patience
        for visits, node in enumerate(order, 1):
            rules = candidates(node)
            if attempts:
                all_rules = self.dispatch.rules_for(node.op).rules
                trace.visit(fgraph, node, rules, all_rules)  # type: ignore[union-attr]
            if not rules:
                continue
            then = clock()
            if then > deadline or visits - last > patience:
                deadline, patience = self.late(visits - last)
            for rule in rules:
                stats = known(rule.name) or tally.setdefault(rule.name, RuleStats())
                stats.calls += 1
                try:
                    new = rule.apply(fgraph, node)
                    hit = new is not None and new is not False and self.take(node, rule, new, stats)
                except Exception as error:
                    hit = False
                    self.fail(node, rule, error, stats, clock() - then)
                now = clock()
                stats.seconds += now - then
                if attempts:
                    self.tell(node, rule, hit, now - then)
                then = now
                if hit:
                    last = visits
                    break
        self.result.visits = visits

    # --- one match -------------------------------------------------------------------------------

    def take(self, node: Apply, rule: Rule, new: Any, stats: RuleStats) -> bool:
        """Put in what a rule proposes; False if the graph does not change."""
        level, fresh, depths = self.level, self.fresh, self.depth
        fresh.clear()
        size = len(level)
        depth = depths.get(node, 0) + 1
        stats.matches += 1
        key = self.look(node, rule, new, depth, stats) if depth >= self.alarm else None
        old = node.outputs[0]
        if self.careful or len(node.outputs) > 1 or getattr(new, "type", None) is not old.type:
            fired = self.put(node, rule, new, stats)
        elif self.trace is None:
            fired = self.fgraph.replace(old, new, rule) is not old
        else:
            fired = fire(self.fgraph, node, old, rule, new, self.trace)
        if not fired:
            return self.unmoved()
        self.hit = True
        if stats.firings:
            stats.firings += 1
        else:
            self.count(rule, new)
        made = size - len(level)
        if fresh:
            stats.created += len(fresh)
            made += len(fresh)
            for one in fresh:
                depths[one] = depth
        stats.dropped += made
        if node in level:
            self.remain(node, rule, depth, size)
        elif depth > 1:
            del depths[node]
        self.tick -= 1
        if self.tick < 0 or depth >= self.alarm:
            self.check(node, rule, depth, stats, key)
        return True

    def unmoved(self) -> bool:
        """The graph did not change: not part of any story."""
        if self.story is not None:
            self.story.drop()
        return False

    def count(self, rule: Rule, new: Any) -> None:
        """Note a first firing; of a strategy always those of the rules that it is made of."""
        if new.__class__ is Derived:
            for inner, _ in new.steps:
                self.result.count(inner.name)
            return
        tally = self.result.tally  # reports name rules in the order in which they first fired
        tally[rule.name] = stats = tally.pop(rule.name)
        stats.firings += 1

    def put(self, node: Apply, rule: Rule, new: Any, stats: RuleStats) -> bool:
        """Make a replacement that needs care: under a trace, with features that may refuse, of
        several outputs, of another type.
        """
        try:
            if self.referee is not None:
                return self.referee.put(node, rule, new, self.trace)
            return put(self.fgraph, node, rule, new, self.trace)
        except Refusal as refusal:
            self.reason, name = refusal, refusal.feature
            if not refusal.told:
                stats.refused += 1
                if name is not None:
                    self.result.refusals[name] = self.result.refusals.get(name, 0) + 1
            refusal.told = True
            return False

    def remain(self, node: Apply, rule: Rule, depth: int, size: int) -> None:
        """What replaces a node is made from it: if that goes on, it is a loop."""
        fgraph = self.fgraph
        if (node, rule) in self.kept and not self.fresh and len(fgraph) == size:
            self.endless(node, rule)
        self.depth[node] = depth
        self.kept.add((node, rule))
        fgraph.schedule(node)

    def fail(
        self, node: Apply, rule: Rule, error: Exception, stats: RuleStats, seconds: float
    ) -> None:
        """A rule raised, or proposed what cannot be put in."""
        if isinstance(error, CycleError) and (node, rule) in self.kept:
            self.endless(node, rule)
        if isinstance(error, RuleLoopError):
            raise Stop(error)
        stats.errors += 1
        self.reason = error
        if self.attempts:
            self.trace.tried(rule, node, "error", error, seconds)  # type: ignore[union-attr]
        fail(rule, node, error)

    def tell(self, node: Apply, rule: Rule, hit: bool, seconds: float) -> None:
        """Let the trace know of one try (errors are known already)."""
        reason, self.reason = self.reason, None
        if hit:
            self.trace.tried(rule, node, "fired", None, seconds)  # type: ignore[union-attr]
        elif reason is None or isinstance(reason, Refusal):
            verdict = "failed" if reason is None else "refused"
            self.trace.tried(rule, node, verdict, reason, seconds)  # type: ignore[union-attr]

    # --- budgets ---------------------------------------------------------------------------------

    def look(self, node: Apply, rule: Rule, new: Any, depth: int, stats: RuleStats) -> Any:
        """Before a firing that is deep, that a budget may forbid, or that is part of a story: note
        its terms, or their key.
        """
        limit = self.budget
        if self.story is None and self.left <= 0:
            self.stop(f"its budget of {limit.firings} firings is used up", rule, node)
        elif self.story is None and stats.firings + self.before(rule) >= self.per_rule:
            self.stop(f"{rule.name} has used up its {limit.per_rule} firings", rule, node)
        if self.story is not None:
            self.story.note(node, rule, new, len(self.level))
        return self.rows.key(node) if depth % self.every >= self.deep else None

    def check(self, node: Apply, rule: Rule, depth: int, stats: RuleStats, key: Any) -> None:
        """After such a firing, and after every lot of them: is a budget used up, is it a loop?"""
        limit, fresh = self.budget, self.fresh
        self.left -= self.lot - 1 - self.tick
        if self.story is not None:
            if self.story.taken(node, fresh):
                raise Stop(self.story.error())
        elif depth > self.deepest:
            self.stop(
                f"more than {limit.depth} firings in a row, each at what the last made", rule, node
            )
        elif len(self.level) > self.largest:
            self.stop(f"the graph grew by more than {limit.nodes} nodes", rule, node)
        elif key is not None:
            self.rows.fired(rule, key, node, fresh)
            if depth % self.every == self.every - 1 and self.rows.repeats(fresh):
                self.stop(AGAIN, rule, node)
        if len(self.depth) > 2 * len(self.level) + 4096:
            self.depth = {one: n for one, n in self.depth.items() if one in self.level}
        room = (self.largest - len(self.level)) // 8
        self.lot = max(1, min(256, self.left, room))
        self.tick = self.lot - 1
        if self.left <= 0:  # the next firing would be one too many
            self.alarm = 0

    def before(self, rule: Rule) -> int:
        """Firings of a rule in the turns before, in a repetition."""
        return 0 if self.account is None else self.account.fired.get(rule.name, 0)

    def late(self, idle: int) -> tuple[float, int]:
        """Out of time; or nothing fires, and yet nodes are to be visited again and again. Returns
        the new limits, if it goes on.
        """
        self.patience = max(self.patience, 10_000 + 20 * len(self.fgraph))
        if idle > self.patience:
            self.stop("nodes change again and again though no rule fires")
        elif perf_counter() <= self.deadline:
            return self.deadline, self.patience
        elif self.story is None:
            self.stop(f"the {self.budget.seconds} seconds it has are over")
            self.deadline += 0.05 * (self.budget.seconds or 0) + 0.01  # to see what is going on
            return self.deadline, self.patience
        assert self.story is not None
        raise Stop(self.story.error())

    def stop(self, why: str, rule: Rule | None = None, node: Apply | None = None) -> None:
        """Stop the run, or let the story of what is going on begin."""
        self.result.note = why
        again = why == AGAIN
        self.result.stopped = StopReason.LOOP if again else StopReason.BUDGET
        if self.budget.on_budget == "stop":
            raise Stop
        growth = self.result.nodes_before, len(self.level)
        row = [] if node is None else [node, *self.fresh]
        name = self.result.name if self.account is None else self.account.name
        self.story = Story(name, why, rule, row, growth)
        self.alarm = 0

    def endless(self, node: Apply, rule: Rule) -> None:
        """A rule's right side contains what it replaces, and it has done so twice."""
        term = text_of(node.outputs[0])
        what = f"makes of {term} a term that contains it, again and again"
        with suppress(Exception):  # it is shown if it can be made a second time
            what += f"\n        {term} → {text_of(made_by(rule.apply(self.fgraph, node)))}"
        error = rule.error(RuleLoopError, what)
        assert isinstance(error, RuleLoopError)
        error.rules = (rule.name,)
        self.result.note, self.result.stopped = str(error), StopReason.LOOP
        raise Stop(error)


class Stop(BaseException):
    """The run is over before its end. (No `Exception`, so that it is not taken for a rule's.)"""

    def __init__(self, error: RuleLoopError | None = None) -> None:
        self.error = error
