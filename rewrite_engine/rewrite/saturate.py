"""`SaturationOptimizer`: collects all equal forms of a region, chooses the cheapest, and performs
the steps that lead to it like any other rewriting.

A region is computed by ops that occur in the equations and is connected by such ops; everything
else stays unchanged and is a leaf of the region. The graph is changed only if the chosen terms are
cheaper than the original ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter
from typing import Any

from rewrite_engine.errors import CycleError, RuleError, TypeMismatchError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.journal import Journal
from rewrite_engine.graph.node import CONSTANT, Apply, Variable
from rewrite_engine.graph.postorder import postorder
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.pattern import OpNode, subpatterns
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.rewrite.cost import CostModel, flops, price
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.egraph import EGraph
from rewrite_engine.rewrite.egraph.explore import Explorer
from rewrite_engine.rewrite.egraph.extract import Choice, Extractor
from rewrite_engine.rewrite.egraph.replay import LosesError, Replay
from rewrite_engine.rewrite.result import Result, StopReason

#: what a replacement that turns out to be impossible raises
IMPOSSIBLE = (CycleError, TypeMismatchError, LosesError)

DEARER = "the steps cannot be done after all, or do not make the graph cheaper"

SHORT = 8  # short searches come first, of such a part of the budget: many find more than a long one
FEWEST = 100  # e-nodes of a short search

#: nodes up to which regions are joined that only use the same variables
SMALL = 100


class SaturationOptimizer(GraphRewriter):
    """Driver that chooses among all terms that equations prove equal.

    rules: equations, and data rules (used as equations with one direction). cost: a function from a
    node to a number, such as `flops` or `bytes_moved` (default: the preference of most equations,
    else `flops`). node_budget: e-nodes stored at once for one region; a region of more than a
    quarter as many nodes is processed in parts. seconds: time for all of them. If a limit is
    reached, the best result so far is used, and the search starts from there, as long as that pays;
    if the limit is then reached again, or there were parts, `Result.stopped` is BUDGET.
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
        wishes = [w for rule in given if (w := getattr(rule, "prefer", None)) is not None]
        self.cost = cost or max(wishes, key=wishes.count, default=flops)
        if not callable(self.cost):
            raise TypeError(f"a cost must be a function of a node, such as flops, not {cost!r}")
        for what, amount in (("node_budget", node_budget), ("seconds", seconds)):
            if not isinstance(amount, int | float) or not amount >= 0:
                raise ValueError(f"{what} must be a number >= 0, not {amount!r}")
        self.node_budget = node_budget
        self.seconds = seconds

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        Saturation(self, fgraph, result).run()


def directions(rules: Iterable[Rule]) -> tuple[DataRule, ...]:
    """Return the data rules of equations and rules. Raises `RuleError` for a side that is not a
    term of values.
    """
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
            raise rule.error(RuleError, "a computed right side cannot be stored in an e-graph")
        for p in [p for side in (rule.left, rule.right) for p, _ in subpatterns(side)]:
            if isinstance(p, OpNode) and getattr(p.op, "destroy_map", None):
                what = f"an equation must be about values, but {p.op} overwrites an input"
                raise rule.error(RuleError, what)
    return tuple(found)


def regions(fgraph: FunctionGraph, rules: Sequence[DataRule]) -> list[list[Apply]]:
    """Return the nodes that equations mention, by connected regions, operands first. Small regions
    that use the same variable count as connected: terms of one may be useful in the other.
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
    """Yield the parts of a region that are processed one by one. shifted: across the previous
    cuts.
    """
    if len(region) <= largest:
        yield region
        return
    inside = set(region)

    def below(node: Apply) -> list[Apply]:
        return [v.owner for v in reversed(node.inputs) if v.owner in inside]

    order = list(postorder(reversed(region), below))  # each near to where it is first used
    start = -(largest // 2) if shifted else 0
    for i in range(start, len(order), largest):
        yield order[max(i, 0) : i + largest]


def _join(region: dict[Apply, list[Apply]], a: Apply, b: Apply, limit: int | None = None) -> None:
    """Merge the regions of two nodes, unless the result would have more than `limit` nodes."""
    small, large = sorted((region[a], region[b]), key=len)
    if small is large or (limit is not None and len(small) + len(large) > limit):
        return
    large += small
    for node in small:
        region[node] = large


@dataclass(slots=True)
class Saturation:
    """Run of a `SaturationOptimizer` on a graph. settled: parts without further improvements -> why
    the search stopped.
    """

    driver: SaturationOptimizer
    fgraph: FunctionGraph
    result: Result
    settled: dict[frozenset[Apply], StopReason] = field(default_factory=dict)

    def run(self) -> None:
        """Search with a part of the budget as long as that helps, and then with all of it."""
        until, budget = perf_counter() + self.driver.seconds, self.driver.node_budget
        for nodes in (budget // SHORT, budget):
            if nodes >= FEWEST or nodes == budget:
                self._search(nodes, until)
                if self.result.stopped is StopReason.SATURATED:
                    return

    def _search(self, most: int, until: float) -> None:
        """Improve all regions as long as that helps, with at most `most` e-nodes at once."""
        known, result = self.settled, self.result
        self.settled = {k: why for k, why in known.items() if why is StopReason.SATURATED}
        largest = max(most // 4, 1)  # the rest is for what is equal
        again, passes = True, 0
        while again:
            again = False
            result.stopped = StopReason.SATURATED
            for region in regions(self.fgraph, self.driver.rules):
                parts = list(pieces(region, largest, shifted=passes % 2 == 1))
                if len(parts) > 1:
                    result.stopped = StopReason.BUDGET
                    again |= passes == 0
                for part in parts:
                    again |= self._improve(part, most, until)
            passes += 1
            again = again and perf_counter() < until

    def _improve(self, part: list[Apply], most: int, until: float) -> bool:
        """Improve a part of a region; return whether to do that again."""
        alive = [node for node in part if node in self.fgraph.apply_nodes]
        key, before = frozenset(alive), self.result.firings
        stopped = self.settled.get(key)
        if stopped is None:
            region = Region(self.fgraph, alive)
            stopped, choice = region.search(self.driver, most, until)
            if choice is not None:
                self._replay(region, choice)
            self.result.visits += len(alive)
            if self.result.firings == before:
                self.settled[key] = stopped
        if stopped is StopReason.BUDGET:
            self.result.stopped = StopReason.BUDGET
        return stopped is StopReason.BUDGET and self.result.firings > before

    def _replay(self, region: Region, choice: Choice) -> None:
        """Perform the steps; undo them if the graph does not get cheaper after all."""
        fgraph, marks = self.fgraph, self.fgraph.marks()
        journal, balance = Journal(), Balance(self.driver.cost)
        fgraph.flush()
        fgraph.attach_feature(journal)
        fgraph.attach_feature(balance)
        replay = Replay(fgraph, region.egraph, choice)
        worse = True
        try:
            replay.run([(v, region.enode[v]) for v in region.outputs], region.roots)
            worse = balance.change >= 0
        except IMPOSSIBLE:
            pass
        finally:
            fgraph.remove_feature(balance)
            if worse:
                journal.revert(fgraph)
                fgraph.take_back(marks, self.driver.name, DEARER)
            fgraph.remove_feature(journal)
        if not worse:
            for name, n in replay.fired.items():
                self.result.count(name, n)


class Region:
    """Region of a graph, or a part of one, as an e-graph. enode: the e-node of each of its
    variables; outputs: its results, operands first.
    """

    def __init__(self, fgraph: FunctionGraph, nodes: list[Apply]) -> None:
        self.fgraph = fgraph
        self.nodes = set(nodes)
        self.outputs: list[Variable] = [v for node in nodes for v in node.outputs]
        self.egraph = EGraph(fgraph)
        self.enode: dict[Variable, int] = {}
        for node in nodes:
            for v in node.inputs:
                if v not in self.enode:
                    self.enode[v] = self.egraph.leaf(v)
            children = tuple([self.enode[v] for v in node.inputs])
            for v in node.outputs:
                self.enode[v] = self.egraph.add(children, v)

    def search(
        self, driver: SaturationOptimizer, most: int, until: float
    ) -> tuple[StopReason, Choice | None]:
        """Return why the search stopped, and the cheapest equal terms if they are cheaper than the
        present ones.
        """
        before = len(self.egraph)
        stopped = Explorer(self.egraph, driver.rules, most, until).run()
        if not self.egraph.unions:
            return stopped, None
        return stopped, Extractor(self.egraph, driver.cost).choose(self.roots, before, until)

    @property
    def roots(self) -> list[int]:
        """Return the e-classes of results that are used outside."""
        fgraph, inside = self.fgraph, self.nodes
        used = [
            v
            for v in self.outputs
            if v in fgraph.out_uses or any(c not in inside for c in fgraph.users[v])
        ]
        return list({self.egraph.find(self.enode[v]): None for v in used})


class Balance(Feature):
    """Feature that sums up how much more expensive a graph has become."""

    def __init__(self, model: CostModel) -> None:
        self.model = model
        self.change = 0.0
        self.known: dict[Apply, float] = {}

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.known[node] = cost = price(node, self.model)
        self.change += cost

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.change -= self.known.pop(node) if node in self.known else price(node, self.model)
