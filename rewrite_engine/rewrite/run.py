"""The one loop of all drivers that apply rules: `Run`.

A driver says in which order nodes are visited; at each, the loop tries the rules that may match,
puts in what the first of them makes, counts, and keeps to the budget. What goes round in circles is
recognised in `rewrite/loop`; one replacement is made, or refused, in `rewrite/step.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import Any

from rewrite_engine.errors import CycleError, RuleLoopError
from rewrite_engine.graph.memory import Unguarded
from rewrite_engine.graph.node import Apply
from rewrite_engine.match.dispatch import Candidates
from rewrite_engine.match.fact import Unknown
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import Account, RunBudget, used_up
from rewrite_engine.rewrite.loop import EVERY, WINDOW, Lines, Rows
from rewrite_engine.rewrite.loop.story import AGAIN, LONG, Stop, Story, text_of
from rewrite_engine.rewrite.result import Result, RuleStats, StopReason, Trial, WayBack
from rewrite_engine.rewrite.step import Derived, Referee, Refusal, fail, fire, made_by, put
from rewrite_engine.rewrite.trace import Trace


class Run:
    """One run of rules over one graph.

    hit: whether a rule fired at the node that was visited last (the order sets it back). last:
    whether what stops the run comes after a firing.
    """

    def __init__(
        self, fgraph: Any, rules: RuleSet, budget: RunBudget, trace: Trace | None, result: Result
    ) -> None:
        self.fgraph, self.dispatch = fgraph, rules.dispatch
        self.trace, self.result = trace, result
        self.level: dict[Apply, int] = fgraph.order.level
        self.fresh: list[Apply] = []  # the nodes that came in at the last firing
        self.hit = self.last = False
        self.referee = Referee(fgraph) if fgraph.on_validate else None
        self.careful = self.referee is not None
        self.attempts = bool(getattr(trace, "attempts", False))
        self.reason: Any = None  # why the last match was not put in
        self.kept: set[tuple[Apply, Rule]] = set()  # nodes still there after a rule replaced them
        self.trials: dict[Candidates, list[Trial]] = {}
        self.lines, self.rows = Lines(), Rows()
        self.story: Story | None = None
        self.budget = fitted = budget.fitted(len(fgraph), len(fgraph.clients))
        self.left: int = fitted.firings or 0
        self.lot, self.tick = 1, 0  # firings from one check to the next, and how many are left
        self.per_rule: float = inf if fitted.per_rule is None else fitted.per_rule
        self.deepest: int = fitted.depth or 0
        self.wary = self.deepest < EVERY  # whether every firing is looked at
        self.largest: int = len(fgraph) + (fitted.nodes or 0)
        self.operands, self.room = 0, fitted.operands or 0  # of what rules make; how many may be
        self.patience = 10_000 + 20 * len(fgraph)  # visits without a firing
        self.deadline = inf if fitted.seconds is None else perf_counter() + fitted.seconds
        self.every, self.deep = EVERY, EVERY - WINDOW
        self.account: Account | None = fgraph.account
        if self.account is not None:
            self.join(self.account)
        self.wary |= self.left <= 0 or self.per_rule < inf

    def join(self, account: Account) -> None:
        """Go on with what the turns before have left."""
        limit = account.budget
        self.every, self.deep = account.every, account.every - account.window
        self.lines, self.rows, self.story = account.lines, account.rows, account.story
        self.left = min(self.left, account.left)
        self.per_rule = min(self.per_rule, inf if limit.per_rule is None else limit.per_rule)
        self.deepest = min(self.deepest, limit.depth or 0)
        self.largest, self.room = min(self.largest, account.largest), min(self.room, account.room)
        self.deadline = min(self.deadline, account.deadline)
        self.wary = True
        how = "stop" if limit.on_budget == "stop" else self.budget.on_budget
        self.budget = replace(limit, on_budget=how)

    def execute(self, order: Iterable[Apply]) -> None:
        """Visit nodes until there are no more, or the budget is used up. What interrupts the run
        (Ctrl-C) leaves the graph as it was before, as a loop does.
        """
        fgraph, self.before = self.fgraph, WayBack(self.fgraph, self.result, self.trace)
        try:
            try:
                self.before.open()
                if self.referee is not None:
                    self.referee.enter()
                fgraph.fresh, fgraph.tally = self.fresh, self.result.tally
                fgraph.tries = self.trace if self.attempts else None
                self.go(order)
                fgraph.agenda = None
                fgraph.flush()
                if self.story is not None and self.account is None:
                    raise Stop(self.story.error())
            except Stop as stop:
                self.over(stop.error)
            else:
                self.leave()
        except BaseException as error:  # a rule's Exception has changed nothing
            self.leave(None if isinstance(error, Exception) else error)  # (again, if need be)
            raise

    def over(self, error: RuleLoopError | None) -> None:
        """The run was stopped before its end."""
        if self.story is not None and self.story.sure:
            self.result.stopped = StopReason.LOOP
        failed = error is not None and self.budget.on_budget == "raise"
        self.leave(error if failed else None)
        if failed:
            raise error from None  # type: ignore[misc]

    def leave(self, error: BaseException | None = None) -> None:
        """Let go of the graph. error: why it goes back to what it was before the run."""
        fgraph = self.fgraph
        fgraph.agenda = fgraph.fresh = fgraph.tally = fgraph.tries = None
        self.result.forget_untried()
        account, self.account = self.account, None
        if account is not None:
            account.story = self.story
            account.spend(self.result.fired, self.result.visits, self.operands)
        fgraph.lets_go = False
        fgraph.queued.clear()
        if error is not None:
            self.before.go(error)
        fgraph.flush()
        if self.referee is not None:
            self.referee.leave()
        self.before.close()

    def go(self, order: Iterable[Apply]) -> None:
        """The loop: at each node the first rule that applies is taken."""
        fgraph, trace, attempts = self.fgraph, self.trace, self.attempts
        candidates, clock, known = self.dispatch.candidates, perf_counter, self.trials
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
            if rules not in known:
                known[rules] = self.result.trials(rules)
            for rule, apply, stats in known[rules]:
                stats.calls += 1
                try:
                    new = apply(fgraph, node)
                    hit = new is not None and new is not False and self.take(node, rule, new, stats)
                except Exception as error:
                    hit = False
                    self.fail(node, rule, error, stats, clock() - then)
                except Stop:
                    if attempts and self.last:
                        self.tell(node, rule, True, clock() - then)
                    raise
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
        level, fresh, lines = self.level, self.fresh, self.lines.of
        fresh.clear()
        if not self.before.taken:
            self.before.take()
        size, line = len(level), lines.get(node)
        n = 1 if line is None else line[0] + 1
        stats.matches += 1
        looked = n % self.every >= self.deep or self.wary
        key = self.look(node, rule, new, n, stats) if looked else None
        if new.__class__ is Derived:
            stats = self.result.tally.setdefault(new.steps[-1][0].name, RuleStats())
        if not self.swap(node, rule, new, stats):
            if self.story is not None:  # the graph did not change: not part of any story
                self.story.drop()
            return False
        self.hit = True
        if stats.firings:
            stats.firings += 1
        else:
            self.result.fire((new.steps[-1][0] if new.__class__ is Derived else rule).name)
        if fresh:
            stats.created, line = stats.created + len(fresh), line or [1, 0]
            for made in fresh:
                lines[made] = line
                self.operands += len(made.inputs)
        stats.dropped += size - len(level) + len(fresh)
        if node in level:
            line = self.remain(node, rule, line, size)
        elif n > 1:
            lines.pop(node, None)
        if line is not None:
            line[0] = n
        self.tick -= 1
        if self.tick < 0 or looked or self.operands > self.room:
            self.check(node, rule, line, key)
        return True

    def swap(self, node: Apply, rule: Rule, new: Any, stats: RuleStats) -> bool:
        """Make a replacement; False if the graph does not change."""
        old = node.outputs[0]
        try:
            if self.careful or len(node.outputs) > 1 or getattr(new, "type", None) is not old.type:
                return self.put(node, rule, new, stats)
            if self.trace is None:
                return self.fgraph.replace(old, new, rule) is not old
            return fire(self.fgraph, node, old, rule, new, self.trace)
        except Unguarded:
            self.referee, self.careful = Referee.called_in(self.fgraph, self.referee), True
            return self.put(node, rule, new, stats)

    def put(self, node: Apply, rule: Rule, new: Any, stats: RuleStats) -> bool:
        """Make a replacement that needs care: under a trace, with features that may refuse, of
        several outputs, of another type.
        """
        if new.__class__ is Unknown:  # it says why it proposes nothing
            self.reason = new
            stats.matches -= 1
            return False
        then = perf_counter()
        try:
            if self.referee is None:
                fired = put(self.fgraph, node, rule, new, self.trace)
            else:
                fired = self.referee.put(node, rule, new, self.trace)
            if fired and new.__class__ is Derived:
                self.steps_taken(new)
            return fired
        except Refusal as refusal:
            self.reason, name = refusal, refusal.feature
            if not refusal.told:
                stats.refused += 1
                if name is not None:
                    self.result.refusals[name] = self.result.refusals.get(name, 0) + 1
            refusal.told = True
            return False
        finally:
            if new.__class__ is Derived:  # it is the inner rule that took the time
                took = perf_counter() - then
                stats.seconds += took
                self.result.tally[rule.name].seconds -= took

    def steps_taken(self, new: Derived) -> None:
        """Note all but the last step of a strategy: each is a firing."""
        for rule, _ in new.steps[:-1]:
            self.result.fire(rule.name)
        self.left -= self.lot - 1 - self.tick + len(new.steps) - 1
        self.lot, self.tick = 1, 0

    def remain(self, node: Apply, rule: Rule, line: list[int] | None, size: int) -> list[int]:
        """What replaces a node is made from it: if that goes on, it is a loop."""
        fgraph = self.fgraph
        if (node, rule) in self.kept and not self.fresh and len(fgraph) == size:
            self.endless(node, rule)
        self.lines.of[node] = line = [1, 0] if line is None else line
        self.kept.add((node, rule))
        fgraph.schedule(node)
        return line

    def fail(
        self, node: Apply, rule: Rule, error: Exception, stats: RuleStats, seconds: float
    ) -> None:
        """A rule raised, or proposed what cannot be put in."""
        if isinstance(error, CycleError) and (node, rule) in self.kept:
            self.endless(node, rule)
        if self.attempts:
            self.trace.tried(rule, node, "error", error, seconds)  # type: ignore[union-attr]
        if isinstance(error, RuleLoopError):
            self.result.note, self.result.stopped = str(error), StopReason.LOOP
            raise Stop(error)
        stats.errors += 1
        self.reason = error
        fail(rule, node, error)

    def tell(self, node: Apply, rule: Rule, hit: bool, seconds: float) -> None:
        """Let the trace know of one try (errors are known already)."""
        reason, self.reason = self.reason, None
        if hit:
            self.trace.tried(rule, node, "fired", None, seconds)  # type: ignore[union-attr]
        elif reason is None or isinstance(reason, Refusal | Unknown):
            verdict = "refused" if isinstance(reason, Refusal) else "failed"
            self.trace.tried(rule, node, verdict, reason, seconds)  # type: ignore[union-attr]

    # --- budgets ---------------------------------------------------------------------------------

    def look(self, node: Apply, rule: Rule, new: Any, n: int, stats: RuleStats) -> Any:
        """Before a firing that is one of those looked at, that a budget may forbid, or that is part
        of a story: note its terms, or their key. n: its number in its line.
        """
        limit, line, self.last = self.budget, self.lines.of.get(node), False
        if new.__class__ is Unknown:
            return None
        if self.story is None and self.left <= 0:
            self.stop(f"its budget of {limit.firings} firings is used up", rule, line)
        elif self.story is None and self.per_rule < inf:
            spent = used_up(rule, new, self.per_rule, self.spent)
            if spent is not None:
                self.stop(f"{spent.name} has used up its {limit.per_rule} firings", spent, line)
        if self.story is not None:
            return self.story.note(node, rule, new, len(self.level), line)
        if n % self.every < self.deep:
            return None
        self.lines.sees(line, node, rule.depth)
        return self.rows.key(node)

    def check(self, node: Apply, rule: Rule, line: list[int] | None, key: Any) -> None:
        """After such a firing, and after every lot of them: is a budget used up, is it a loop?"""
        limit, fresh, level, self.last = self.budget, self.fresh, self.level, True
        n = 1 if line is None else line[0]
        self.left -= self.lot - 1 - self.tick
        if self.story is not None:
            if self.story.taken(key, fresh, line) or 4 * self.operands > 5 * self.room:
                raise Stop(self.story.error())
        elif n > self.deepest:
            self.stop(f"more than {limit.depth} firings at what came of one node", rule, line)
        elif len(level) > self.largest:
            self.stop(f"the graph grew by more than {limit.nodes} nodes", rule, line)
        elif self.operands > self.room:
            self.stop(f"its rules made more than {limit.operands} operands", rule, line)
        elif key is not None:
            self.rows.fired(rule, key, node, fresh)
            if n % self.every == self.every - 1:
                self.turn(rule, line)
        if len(self.lines.of) > 2 * len(level) + 4096:
            self.lines.forget(level)
        self.lot = max(1, min(256, self.left, (self.largest - len(level)) // 8))
        self.tick = self.lot - 1
        self.wary |= self.left <= 0  # the next firing would be one too many

    def turn(self, rule: Rule, line: list[int] | None) -> None:
        """A line was looked at for a while: does it go round in a circle, or get on?"""
        if self.rows.repeats(self.fresh):
            self.stop(AGAIN, rule, line)
        elif line is not None:
            self.lines.goes_on(line, self.every)
            self.wary |= line[0] + self.every > self.deepest

    def spent(self, rule: Rule) -> int:
        """Firings of a rule, in a repetition also those of the turns before."""
        stats = self.result.tally.get(rule.name)
        before = 0 if self.account is None else self.account.fired.get(rule.name, 0)
        return before + (0 if stats is None else stats.firings)

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
        elif self.story.count < LONG and perf_counter() < self.deadline + 1:  # a slow machine
            return perf_counter() + 0.01, self.patience
        raise Stop(self.story.error())  # type: ignore[union-attr]

    def stop(self, why: str, rule: Rule | None = None, line: list[int] | None = None) -> None:
        """Stop the run, or let the story of what is going on begin."""
        self.result.note = why
        self.result.stopped = StopReason.LOOP if why == AGAIN else StopReason.BUDGET
        if self.budget.on_budget == "stop":
            raise Stop
        growth = self.result.nodes_before, len(self.level)
        name = self.result.name if self.account is None else self.account.name
        self.story = Story(name, why, rule, self.lines.longest(line), growth)
        self.wary = True

    def endless(self, node: Apply, rule: Rule) -> None:
        """A rule's right side contains what it replaces, and it has done so twice."""
        term = text_of(node.outputs[0])
        what = f"makes of {term} a term that contains it, again and again: exclude it, or guard it"
        with suppress(Exception):  # it is shown if it can be made a second time
            what += f"\n        {term} → {text_of(made_by(rule.apply(self.fgraph, node)))}"
        error = rule.error(RuleLoopError, what)
        assert isinstance(error, RuleLoopError)
        error.rules = (rule.name,)
        self.result.note, self.result.stopped = str(error), StopReason.LOOP
        raise Stop(error)
