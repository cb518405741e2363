"""`SaturationOptimizer`: all equal forms of a region are held at once, the cheapest one is chosen,
and the steps that lead to it are done like any other rewriting.

A region is what is computed by ops that occur in the equations and is connected by such ops; what
else there is stays as it is and is a leaf of the region. The graph is changed only if the chosen
terms are cheaper than what was there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from time import perf_counter
from typing import Any

from rewrite_engine.errors import CycleError, RuleError, TypeMismatchError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.history import History
from rewrite_engine.graph.node import CONSTANT, Apply, Variable
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.pattern import OpNode, subpatterns
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.rewrite.cost import CostModel, flops, price
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.egraph import EGraph
from rewrite_engine.rewrite.egraph.explore import Explorer, Limits
from rewrite_engine.rewrite.egraph.extract import Choice, Extractor
from rewrite_engine.rewrite.egraph.replay import Replay
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.trace import Trace

#: what a replacement that turns out to be impossible raises
IMPOSSIBLE = (CycleError, TypeMismatchError)

DEARER = "it cannot be done after all, or the graph does not get cheaper by it"

#: parts in which nothing more was found -> why the search stopped
Settled = dict[frozenset[Apply], StopReason]

SHORT = 8  # short searches come first, of such a part of the budget: many find more than a long one
FEWEST = 100  # e-nodes of a short search

#: nodes up to which regions are joined that only use the same variables
SMALL = 100


class SaturationOptimizer(GraphRewriter):
    """Choose among all terms that equations prove equal.

    rules: equations, and data rules (used as equations with one direction). cost: a function from
    a node to a number, such as `flops` or `bytes_moved` (default: what the equations prefer, else
    `flops`). node_budget: e-nodes held at once for one region; a region of more than a quarter as
    many nodes is looked at in parts. seconds: time for all of them. If one is used up, the best
    that was found is taken, and the search starts from there, as long as that pays; if it is still
    used up then, or there were parts, `Result.stopped` is BUDGET.
    """

    def __init__(
        self,
        rules: Rule | Iterable[Rule],
        name: str = "saturate",
        *,
        cost: CostModel | None = None,
        node_budget: int = 2_000,
        seconds: float = 10.0,
    ) -> None:
        super().__init__(name)
        given = [rules] if isinstance(rules, Rule) else list(rules)
        self.rules = directions(given)
        self.cost = cost or preferred(given)
        if not callable(self.cost):
            raise TypeError(f"a cost is a function of a node, such as flops, not {cost!r}")
        for what, amount in (("node_budget", node_budget), ("seconds", seconds)):
            if not isinstance(amount, int | float) or not amount >= 0:
                raise ValueError(f"{what} must be a number >= 0, not {amount!r}")
        self.node_budget = node_budget
        self.seconds = seconds

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        until = perf_counter() + self.seconds
        settled: Settled = {}
        for nodes in (self.node_budget // SHORT, self.node_budget):
            if nodes < FEWEST and nodes < self.node_budget:
                continue
            settled = {key: why for key, why in settled.items() if why is StopReason.SATURATED}
            self._search(fgraph, Limits(nodes, until), settled, trace, result)
            if result.stopped is StopReason.SATURATED:
                return

    def _search(
        self, fgraph: Any, limits: Limits, settled: Settled, trace: Trace | None, result: Result
    ) -> None:
        """Improve all regions as long as that helps, with so many e-nodes at once."""
        largest = max(limits.nodes // 4, 1)  # the rest is for what is equal
        again, passes = True, 0
        while again:
            again = False
            result.stopped = StopReason.SATURATED
            for region in regions(fgraph, self.rules):
                parts = list(pieces(region, largest, shifted=passes % 2 == 1))
                if len(parts) > 1:
                    result.stopped = StopReason.BUDGET
                    again |= passes == 0
                for part in parts:
                    again |= self._improve(fgraph, part, limits, settled, trace, result)
            passes += 1
            again = again and perf_counter() < limits.until

    def _improve(
        self,
        fgraph: Any,
        part: list[Apply],
        limits: Limits,
        settled: Settled,
        trace: Trace | None,
        result: Result,
    ) -> bool:
        """Improve a part of a region; whether that should be done again."""
        alive = [node for node in part if node in fgraph.apply_nodes]
        key, before = frozenset(alive), result.firings
        stopped = settled.get(key)
        if stopped is None:
            region = Region(fgraph, alive, self.cost, limits)
            stopped = region.improve(self.rules, self.name, trace, result)
            result.visits += len(alive)
            if result.firings == before:
                settled[key] = stopped
        if stopped is StopReason.BUDGET:
            result.stopped = StopReason.BUDGET
        return stopped is StopReason.BUDGET and result.firings > before


def directions(rules: Iterable[Rule]) -> tuple[DataRule, ...]:
    """The data rules of equations and rules. Raises a `RuleError` for what does not speak of
    values, or computes a side."""
    found: list[DataRule] = []
    for rule in rules:
        if isinstance(rule, Equation):
            found += rule.directions
        elif isinstance(rule, DataRule):
            found.append(rule)
        else:
            raise TypeError(f"{rule!r} is neither an equation nor a data rule")
    for rule in found:
        if isinstance(rule.right, Compute):
            raise rule.error(RuleError, "a computed right side is no term that can be held")
        for p in [p for side in (rule.left, rule.right) for p, _ in subpatterns(side)]:
            if isinstance(p, OpNode) and getattr(p.op, "destroy_map", None):
                what = f"equations speak of values; {p.op} overwrites an input, it is no value"
                raise rule.error(RuleError, what)
    return tuple(found)


def preferred(rules: Iterable[Rule]) -> CostModel:
    """The cost that most equations prefer; `flops` where none says."""
    wishes = [getattr(rule, "prefer", None) for rule in rules]
    known = [w for w in wishes if w is not None]
    return max(known, key=known.count) if known else flops


def regions(fgraph: Any, rules: Sequence[DataRule]) -> list[list[Apply]]:
    """The nodes that equations speak of, by connected regions, operands first. Small regions that
    use the same variable count as connected: what is in one may be of use in the other.
    """
    sides = [side for rule in rules for side in (rule.left, rule.right)]
    patterns = [p for side in sides for p, _ in subpatterns(side) if isinstance(p, OpNode)]
    spoken = cache(lambda op: any(p.fits(op) for p in patterns))
    region: dict[Apply, list[Apply]] = {}
    users: dict[Variable, Apply] = {}  # of what is not computed in a region
    order = [node for node in fgraph.toposort() if not node.op.destroy_map and spoken(node.op)]
    for node in order:
        region[node] = [node]
        for v in node.inputs:
            if v.owner in region:
                _join(region, node, v.owner)
            elif v.head is not CONSTANT:
                _join(region, node, users.setdefault(v, node), SMALL)
    place = {node: i for i, node in enumerate(order)}
    found = {id(nodes): nodes for nodes in region.values()}.values()
    return [
        sorted(nodes, key=place.__getitem__)
        for nodes in found
        if any(rule.left.fits(node.op) for node in nodes for rule in rules)
    ]


def pieces(region: list[Apply], largest: int, shifted: bool) -> Iterator[list[Apply]]:
    """Yield the parts of a region that are looked at one by one. shifted: what was cut apart is
    together."""
    if len(region) <= largest:
        yield region
        return
    order = _near_their_users(region)
    start = -(largest // 2) if shifted else 0
    for i in range(start, len(order), largest):
        yield order[max(i, 0) : i + largest]


def _near_their_users(region: list[Apply]) -> list[Apply]:
    """The nodes, operands first, each as near as can be to where it is first used."""
    inside, done = set(region), dict[Apply, None]()
    for root in reversed(region):
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [v.owner for v in node.inputs if v.owner in inside and v.owner not in done]
            if missing:
                stack += missing
                continue
            done[stack.pop()] = None
    return list(done)


def _join(region: dict[Apply, list[Apply]], a: Apply, b: Apply, limit: int | None = None) -> None:
    """Make one region of those of two nodes, unless it would have more than `limit` nodes."""
    small, large = sorted((region[a], region[b]), key=len)
    if small is large or (limit is not None and len(small) + len(large) > limit):
        return
    large += small
    for node in small:
        region[node] = large


class Region:
    """One region of a graph."""

    def __init__(self, fgraph: Any, nodes: list[Apply], cost: CostModel, limits: Limits) -> None:
        self.fgraph = fgraph
        self.nodes = nodes
        self.cost = cost
        self.limits = limits
        self.egraph = EGraph(fgraph)
        self.enode: dict[Variable, int] = {}
        for node in nodes:
            for v in node.inputs:
                if v not in self.enode:
                    self.enode[v] = self.egraph.leaf(v)
            children = tuple([self.enode[v] for v in node.inputs])
            for v in node.outputs:
                self.enode[v] = self.egraph.add(children, v)

    def improve(
        self, rules: Sequence[DataRule], name: str, trace: Trace | None, result: Result
    ) -> StopReason:
        """Find a cheaper form, and bring the graph there. name: of the driver."""
        egraph = self.egraph
        before = len(egraph)
        stopped = Explorer(egraph, rules, self.limits).run()
        if egraph.unions:
            roots = list({egraph.find(self.enode[v]): None for v in self._used_outside()})
            choice = Extractor(egraph, self.cost).choose(roots, before, self.limits.until)
            if choice is not None:
                self._replay(choice, roots, name, trace, result)
        return stopped

    def _used_outside(self) -> list[Variable]:
        inside, fgraph = set(self.nodes), self.fgraph
        return [
            v
            for node in self.nodes
            for v in node.outputs
            if v in fgraph.out_uses or any(c not in inside for c in fgraph.clients[v])
        ]

    def _replay(
        self, choice: Choice, roots: list[int], name: str, trace: Trace | None, result: Result
    ) -> None:
        """Do the steps; if the graph does not get cheaper by them after all, take them back."""
        fgraph = self.fgraph
        history, balance = History(), Balance(self.cost)
        fgraph.flush()
        fgraph.attach_feature(history)
        fgraph.attach_feature(balance)
        start, told = history.checkpoint(), (0, 0) if trace is None else trace.mark()
        replay = Replay(fgraph, self.egraph, choice, trace)
        worse = True
        try:
            replay.go([(v, self.enode[v]) for node in self.nodes for v in node.outputs], roots)
            worse = balance.change >= 0
        except IMPOSSIBLE:
            pass
        finally:
            fgraph.remove_feature(balance)
            if worse:
                history.revert(fgraph, start)
                if trace is not None:
                    trace.take_back(told, name, DEARER)
            fgraph.remove_feature(history)
        if not worse:
            for rule_name, n in replay.fired.items():
                result.count(rule_name, n)


class Balance(Feature):
    """How much dearer a graph has become."""

    def __init__(self, model: CostModel) -> None:
        self.model = model
        self.change = 0.0
        self.known: dict[Apply, float] = {}

    def on_import(self, fgraph: Any, node: Apply, reason: Any) -> None:
        self.known[node] = cost = price(node, self.model)
        self.change += cost

    def on_prune(self, fgraph: Any, node: Apply, reason: Any) -> None:
        known = self.known.pop(node, None)
        self.change -= price(node, self.model) if known is None else known
