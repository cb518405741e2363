"""`Run`: the common loop of all drivers that apply rules.

A driver defines the order in which nodes are visited. At each node, the loop tries the rules that
may match, inserts the result of the first, and counts. Budgets are in `budget.py`, the detection of
loops in `loop.py`; one replacement is made, or refused, in `step.py`. The subclass that counts and
times every try, on request, is in `watched.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from operator import is_
from typing import Any

from rewrite_engine.errors import CycleError, InconsistencyError, RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.journal import Journal, Retype
from rewrite_engine.graph.knowledge import current
from rewrite_engine.graph.memory import NoDestroyHandler
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.order import Worklist
from rewrite_engine.graph.origin import REFUSED
from rewrite_engine.match.dispatch import Candidates
from rewrite_engine.match.emit import Function
from rewrite_engine.match.fact import Unknown
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import Account, RunBudget
from rewrite_engine.rewrite.loop import Stop, text_of
from rewrite_engine.rewrite.result import Result, Rollback, StopReason
from rewrite_engine.rewrite.step import Derived, Refusal, Steps, applying, default_of, enact, fail

Called = list[tuple[Rule, Function]]


class Run(Worklist):
    """Run of rules over one graph. Subclasses define the `order` of visits.

    hit: whether a rule fired at the node visited last (the order resets it). reason: why the last
    match was not inserted. kept: nodes that still exist after a rule replaced them. asks: whether
    there are features that may refuse a replacement (`Feature.on_validate`); it is then undone, and
    is not tried again on the same inputs (refused).
    """

    def __init__(
        self, fgraph: FunctionGraph, rules: RuleSet, budget: RunBudget, result: Result
    ) -> None:
        super().__init__()
        self.fgraph, self.dispatch = fgraph, rules.dispatch
        self.result, self.tally = result, result.tally
        self.frees = fgraph.owns_nodes and not fgraph.features
        self.level: dict[Apply, int] = fgraph.order.level
        self.hit = False
        self.journal = Journal()
        self.refused: dict[tuple[Apply, Any], tuple[tuple[Any, ...], Exception]] = {}
        self.asks = bool(fgraph.on_validate)
        self.account = Account(result, budget, fgraph)
        self.before = Rollback(fgraph, result)
        self.reason: Any = None
        self.kept: set[tuple[Apply, Rule]] = set()

    def order(self) -> Iterator[Apply]:
        """Yield nodes to visit."""
        raise NotImplementedError

    def execute(self) -> None:
        """Visit nodes until there are no more, or the budget is used up."""
        fgraph, result, account, error = self.fgraph, self.result, self.account, None
        outer, current.fgraph = current.fgraph, fgraph
        current.evaluation = None  # (one may be left of a run that was interrupted)
        try:
            with self.before:
                try:
                    if self.asks:
                        fgraph.attach_feature(self.journal)
                    fgraph.worklist = self
                    self.go(self.order())
                    if account.cycle is not None and account.outer is None:
                        error = account.cycle.error()
                except Stop as stop:
                    error = stop.error
                finally:
                    fgraph.worklist = fgraph.order.raised = None
                    account.close()
                    fgraph.flush()
                if account.cycle is not None and account.cycle.sure:
                    result.stopped = StopReason.LOOP
                elif error is not None:
                    result.stopped = StopReason.BUDGET if account.cycle else StopReason.LOOP
                    result.note = account.cycle.why if account.cycle else str(error)
                if error is not None and account.budget.on_budget == "raise":
                    raise error from None
        finally:
            try:
                fgraph.worklist = fgraph.order.raised = None  # (again, where this was interrupted)
                fgraph.remove_feature(self.journal)
            finally:
                current.fgraph = outer

    def go(self, order: Iterable[Apply]) -> None:
        """Apply the first matching rule at each node."""
        fgraph, account, candidates = self.fgraph, self.account, self.dispatch.candidates
        known: dict[Candidates, Called] = {}
        visits, last, idle = 0, 0, account.idle
        for visits, node in enumerate(account.in_time(order), 1):
            rules = candidates(node)
            if not rules:
                continue
            if visits - last > idle:
                idle = account.still_idle(visits - last)
            if rules not in known:
                known[rules] = self.called(rules)
            for rule, apply in known[rules]:
                try:
                    new = apply(fgraph, node)
                    hit = new is not None and new is not False and self.take(node, rule, new)
                except Exception as error:
                    hit = False
                    self.fail(node, rule, error)
                if hit:
                    last = visits
                    break
        self.result.visits += visits

    def called(self, rules: Candidates) -> Called:
        """Return the function to call for each of some rules."""
        return [(rule, rule.apply) for rule in rules]

    # --- one match -------------------------------------------------------------------------------

    def take(self, node: Apply, rule: Rule, new: Any) -> bool:
        """Insert the result of a rule, and count; False if the graph does not change."""
        if new.__class__ is Unknown:  # it says why it proposes nothing
            self.reason = new
            return False
        if self.before.taken is None:
            self.before.take()
        level, fresh = self.level, self.fresh
        size = len(level)
        fresh.clear()
        self.tally[rule.name].matches += 1
        steps = new.steps if new.__class__ is Derived else ((rule, new),)
        self.account.before(node, rule, steps)
        if not self.put(node, rule, new, steps):
            return False
        self.hit = True
        stats = self.result.fire(steps)
        made = len(fresh)
        stats.created += made
        stats.dropped += size - len(level) + made
        if node in level:  # what replaces it is made from it: if that goes on, it is a loop
            if (node, rule) in self.kept and not fresh and len(level) == size:
                self.endless(node, rule)
            self.kept.add((node, rule))
            self.fgraph.schedule(node)
        self.account.after(node, rule, fresh, len(steps))
        return True

    def put(self, node: Apply, rule: Rule, new: Any, steps: Steps) -> bool:
        """Make a replacement; False if the graph does not change, and `reason` says why."""
        old, plain = node.outputs[0], len(node.outputs) == 1 and not self.asks
        try:
            if plain and getattr(new, "type", None) is old.type:  # by far the most
                return self.fgraph.replace(old, new, rule) is not old
            return self.put_or_not(node, rule, new, steps)
        except NoDestroyHandler:  # from here on it is watched what is overwritten, nothing is freed
            self.frees, self.asks = False, True
            self.fgraph.watch()
            self.fgraph.attach_feature(self.journal)
            return self.put(node, rule, new, steps)
        except Refusal as refusal:
            self.reason, name = refusal, refusal.feature
            self.tally[steps[-1][0].name].refused += 1
            if name is not None:
                self.result.refusals[name] = self.result.refusals.get(name, 0) + 1
            return False

    def put_or_not(self, node: Apply, rule: Rule, new: Any, steps: Steps) -> bool:
        """Make a replacement, unless a feature refuses it."""
        known = self.refused.get((node, rule))
        if known is not None and all(map(is_, known[0], node.inputs)):
            self.reason = known[1]  # (it is counted)
            if isinstance(self.reason, InconsistencyError):
                raise self.reason
            return False
        fgraph, fresh, inputs = self.fgraph, self.fresh, node.inputs
        if self.asks:
            fgraph.flush()
            self.journal.cut(0)
        before = len(fresh)
        changed = False
        with applying(fgraph, node, rule, new) as application:
            try:
                changed = enact(fgraph, node, rule, steps)
                self.ask(fresh[before:])
                application.done = True
            except (Refusal, InconsistencyError) as no:
                if getattr(no, "feature", self) is not None:
                    self.refused[node, rule] = inputs, no
                raise
            finally:
                if changed and not application.done:
                    self.take_back(node, rule, steps[-1][1], fresh[before:])
        return changed

    def ask(self, came: Iterable[Apply]) -> None:
        """Let the features check new nodes. A `DestroyHandler` is used only while something is
        overwritten; if it is strict, a rule that overwrites a protected value has failed.
        """
        fgraph, handler = self.fgraph, self.fgraph.destroy_handler
        for check in fgraph.on_validate:
            feature = getattr(check, "__self__", check)
            if feature is handler and handler.is_idle():
                continue
            fgraph.flush()
            try:
                check(fgraph)
            except InconsistencyError as error:
                strict = feature is handler and handler.strict
                if strict and not handler.broken.keys().isdisjoint(came):
                    raise  # what the rule itself wants to overwrite
                raise Refusal(str(error), type(feature).__name__) from error

    def take_back(self, node: Apply, rule: Rule, new: Any, came: Collection[Apply]) -> None:
        """Undo the last replacement. If one new node replaced one output, it is replaced back,
        which costs its clients; otherwise the journal is undone, which costs the graph.
        """
        fgraph = self.fgraph
        fgraph.flush()
        if isinstance(new, Variable) and new.owner in came and new in fgraph.users:
            old = default_of(node, rule)
            retyped = any([type(entry) is Retype for entry in self.journal.entries])
            if new.type is old.type and not retyped:
                fgraph.replace(new, old, REFUSED)
                fgraph.flush()
                return
        self.journal.revert(fgraph)

    def fail(self, node: Apply, rule: Rule, error: Exception) -> None:
        """Handle a rule that raised, or proposed an invalid replacement."""
        if isinstance(error, CycleError) and (node, rule) in self.kept:
            self.endless(node, rule)
        if isinstance(error, RuleLoopError):
            raise Stop(error)
        self.tally[rule.name].errors += 1
        fail(rule, node, error)

    def endless(self, node: Apply, rule: Rule) -> None:
        """Handle a rule whose result contained the replaced term twice in a row."""
        term = text_of(node.outputs[0])
        what = f"turns {term} into a term that contains it, again and again: exclude or guard it"
        with suppress(Exception):  # it is shown if it can be made a second time
            new = rule.apply(self.fgraph, node)
            made = new.steps[-1][1] if isinstance(new, Derived) else new
            what += f"\n        {term} → {text_of(made)}"
        error = rule.error(RuleLoopError, what)
        assert isinstance(error, RuleLoopError)
        error.rules = (rule.name,)
        raise Stop(error)
