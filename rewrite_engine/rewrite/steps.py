"""From one term of an `EGraph` to an equal one, rule by rule.

There are several ways to find the steps; the one that takes fewest is used. One reads the reasons
of the unions, in their order in time: it always comes to an end, and may go a long way round. The
others look for a short path over all places where a rule led from one term of a class to another;
they may not find any. In all of them, a union by congruence stands for the steps between the
operands, done inside of the term, and what a path goes through twice is cut out.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from rewrite_engine.rewrite.egraph import EGraph, Reason

LIMIT = 2_000  # steps for one term; more are of use to nobody
PATIENCE = 300_000  # how many links are looked at to find a short path


class Step(NamedTuple):
    """A rule led from term `left` to term `right`; the whole has become `term`."""

    term: int
    rule: Any
    left: int
    right: int


Edge = tuple[int, int, Reason]
Way = tuple[Edge, Any] | None  # the last edge, and the way before it


class Backwards:
    """A rule with one direction, used against it: what it says of two terms is true both ways."""

    def __init__(self, rule: Any) -> None:
        self.rule = rule
        self.name = f"{rule.name} (backwards)"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rule, name)

    def __repr__(self) -> str:
        return f"{self.rule} (backwards)"


class Guide:
    """Finds steps in one e-graph, when all rules have been run."""

    def __init__(self, egraph: EGraph) -> None:
        self.egraph = egraph
        self.links: dict[Any, list[Edge]] = {}  # by what the first term is congruent to
        self.exact: dict[int, list[Edge]] = {}  # by the first term itself
        self.looked = 0
        for left, right, rule in egraph.links:
            reason = Reason(rule, left, right)
            for edge in ((left, right, reason), (right, left, reason)):
                self.links.setdefault(egraph.key(edge[0]), []).append(edge)
                self.exact.setdefault(edge[0], []).append(edge)

    def steps(self, start: int, goal: int) -> list[Step] | None:
        """The steps from a term to an equal one; None if they are more than `LIMIT`."""
        self.looked = 0
        plans = (self._direct, self._past, self._short)
        found = [self._steps(start, goal, plan) for plan in plans]
        return min([f for f in found if f is not None], key=len, default=None)

    def _past(self, a: int, b: int) -> list[Edge]:
        return _path(self.egraph, a, b)

    def _steps(
        self, start: int, goal: int, plan: Callable[[int, int], list[Edge]]
    ) -> list[Step] | None:
        """The steps by a way to plan them; None if it goes round in circles, or on for too long."""
        done: dict[tuple[int, int], list[Step]] = {}
        planned: dict[tuple[int, int], list[Edge]] = {}
        stack = [(start, goal)]
        while stack:
            pair = stack[-1]
            if pair in done:
                stack.pop()
                continue
            edges = planned.get(pair)
            if edges is None:
                edges = planned[pair] = plan(*pair)
                missing = self._missing(edges, done)
                if any(p in planned for p in missing):  # a circle: go round another way
                    edges = planned[pair] = self._past(*pair)
                    missing = self._missing(edges, done)
                    if any(p in planned for p in missing):
                        return None
                stack.extend(missing)
                continue
            found = _assembled(self.egraph, pair[0], edges, done)
            if found is None:
                return None
            done[pair] = found
            stack.pop()
        return done[start, goal]

    def _missing(
        self, edges: list[Edge], done: dict[tuple[int, int], list[Step]]
    ) -> list[tuple[int, int]]:
        return [p for e in edges for p in _below(self.egraph, e) if p not in done]

    def _direct(self, a: int, b: int) -> list[Edge]:
        """The shortest path on which rules apply to the whole term; any other where there is
        none."""
        came: dict[int, Edge | None] = {a: None}
        layer = [a]
        while layer and b not in came:
            reached = [e for s in layer for e in self.exact.get(s, ())]
            layer = []
            for edge in reached:
                if edge[1] not in came:
                    came[edge[1]] = edge
                    layer.append(edge[1])
        if b not in came:
            return self._past(a, b)
        way: list[Edge] = []
        while (link := came[b]) is not None:
            way.append(link)
            b = link[0]
        return way[::-1]

    def _short(self, a: int, b: int) -> list[Edge]:
        """The unions on a short path between two terms: Dijkstra's over what terms are congruent
        to, of which the first one reached stands for all. The steps between operands are
        estimated."""
        egraph, goal = self.egraph, self.egraph.key(b)
        tie = count()
        heap: list[tuple[int, int, int, Way]] = [(0, next(tie), a, None)]
        done: set[Any] = set()
        while heap:
            cost, _, s, way = heappop(heap)
            if s == b:
                return _unwound(way)
            key = egraph.key(s)
            if key in done:
                continue
            done.add(key)
            if key == goal:
                step = (s, b, egraph.congruence(s, b))
                heappush(heap, (cost + self._apart(s, b), next(tie), b, (step, way)))
            links = self.links.get(key, ())
            self.looked += len(links)
            if self.looked > PATIENCE:
                break
            for x, y, reason in links:
                if egraph.key(y) in done:
                    continue
                there = way if x == s else ((s, x, egraph.congruence(s, x)), way)
                far = cost + self._apart(s, x) + 1
                heappush(heap, (far, next(tie), y, ((x, y, reason), there)))
        return self._past(a, b)

    def _apart(self, s: int, t: int, depth: int = 3) -> int:
        """About how many steps there are between the operands of two congruent terms."""
        if s == t:
            return 0
        egraph = self.egraph
        there = egraph.opposite_kids(s, t, egraph.congruence(s, t))
        apart = 0
        for x, y in zip(egraph.kids[s], there, strict=True):
            if x == y:
                continue
            if depth and egraph.key(x) == egraph.key(y):
                apart += self._apart(x, y, depth - 1)
            else:
                apart += 1
        return apart


def _unwound(way: Way) -> list[Edge]:
    out: list[Edge] = []
    while way is not None:
        out.append(way[0])
        way = way[1]
    return out[::-1]


def _path(egraph: EGraph, a: int, b: int) -> list[Edge]:
    """The unions between two terms of one tree of reasons."""
    place = {a: 0}
    up: list[Edge] = []
    at = a
    while (link := egraph.why[at]) is not None:
        up.append((at, link[0], link[1]))
        at = link[0]
        place[at] = len(up)
    down: list[Edge] = []
    at = b
    while at not in place:
        link = egraph.why[at]
        assert link is not None, "the terms are not equal"
        down.append((link[0], at, link[1]))
        at = link[0]
    return up[: place[at]] + down[::-1]


def _below(egraph: EGraph, edge: Edge) -> list[tuple[int, int]]:
    """The pairs of operands that have to be led over for a union by congruence."""
    s, t, reason = edge
    if reason.rule is not None:
        return []
    there = egraph.opposite_kids(s, t, reason)
    return [(x, y) for x, y in zip(egraph.kids[s], there, strict=True) if x != y]


def _assembled(
    egraph: EGraph, start: int, edges: list[Edge], done: dict[tuple[int, int], list[Step]]
) -> list[Step] | None:
    out: list[Step] = []
    seen = {start: 0}  # a term that was reached -> after how many steps
    for s, t, reason in edges:
        if reason.rule is not None:
            rule = reason.rule if reason.left == s else opposite(reason.rule)
            _add(out, seen, Step(t, rule, s, t))
            continue
        kids = list(egraph.kids[s])
        there = egraph.opposite_kids(s, t, reason)
        for i, (x, y) in enumerate(zip(egraph.kids[s], there, strict=True)):
            for step in done[x, y] if x != y else ():
                kids[i] = step.term
                _add(out, seen, step._replace(term=within(egraph, s, kids)))
        if len(out) > LIMIT:
            return None
    return out


def _add(out: list[Step], seen: dict[int, int], step: Step) -> None:
    """Add a step; if it leads to where we have been, drop the way round."""
    back = seen.get(step.term)
    if back is None:
        out.append(step)
        seen[step.term] = len(out)
        return
    for dropped in out[back:]:
        seen.pop(dropped.term, None)
    del out[back:]


def within(egraph: EGraph, t: int, kids: list[int]) -> int:
    """The term `t` with other (equal) operands."""
    known = egraph.known(egraph.op[t], tuple(kids))
    if known is not None:
        return known
    node = egraph.op[t].make_node(*[egraph.var[k] for k in kids])
    return egraph.term(egraph.op[t], tuple(kids), node.outputs[0])


def opposite(rule: Any) -> Any:
    """The other direction of an equation's rule."""
    equation = getattr(rule, "equation", None)
    if equation is None or equation.backward is None:
        return Backwards(rule)
    return equation.backward if rule is equation.forward else equation.forward
