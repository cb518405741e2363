"""Conditions of nodes: which nodes run only if a branch is taken (`Op.read_if`), and an order in
which that is known.

A node used only in branches need not run if none of them is taken. For a graph in running order,
one pass from the last node to the first finds this; a linker then only skips nodes. Nodes are moved
only behind the conditions they depend on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush

from rewrite_engine.graph.node import Apply, Constant, Variable

#: variables, and whether they are other than 0: all have to be so. In an order in which each one is
#: known where those in front of it are as they have to be
Way = tuple[tuple[Variable, bool], ...]
#: where a node runs: where one of these holds. If there is none, it never runs
Conditions = tuple[Way, ...]
MAX_NESTED_CONDITIONS = (
    50  # conditions of one way; what is nested deeper runs where the outer ones hold
)
MAX_WAYS = 20  # ways to one node; of more, what they have in common counts

#: a condition, by its number, and whether it holds
Sides = frozenset[tuple[int, bool]]
Ways = frozenset[Sides]
ALWAYS: Ways = frozenset([frozenset()])
NEVER: Ways = frozenset()


def conditions(nodes: Sequence[Apply], outputs: Sequence[Variable]) -> dict[Apply, Conditions]:
    """Return where nodes must run, for those that need not always. nodes: in running order. Takes
    linear time.
    """
    if not any([node.op.read_if is not None for node in nodes]):
        return {}
    place = {v: i for i, node in enumerate(nodes) for v in node.outputs}
    found: dict[Apply, Conditions] = {}
    needs = _Needs(outputs)
    asked = needs.asked
    for i in range(len(nodes) - 1, -1, -1):
        own = needs.of(nodes[i])
        if own != ALWAYS:  # what has to come early may not know its condition yet
            known = [[(c, ok) for c, ok in way if place.get(asked[c], -1) < i] for way in own]
            own = _one_of(map(frozenset, known))
        if own != ALWAYS:
            ways = [sorted(way, key=lambda one: (place.get(asked[one[0]], -1), one)) for way in own]
            ways.sort(key=lambda way: (len(way), way))
            found[nodes[i]] = (*[tuple([(asked[c], ok) for c, ok in way]) for way in ways],)
            for way in ways:  # each condition is asked where those in front of it hold
                for k, (c, _) in enumerate(way):
                    needs.add(asked[c], frozenset([frozenset(way[:k])]))
        needs.add_inputs(nodes[i], own)
    return found


def known_first(
    nodes: list[Apply], before: Mapping[Apply, Sequence[Apply]], outputs: Sequence[Variable]
) -> list[Apply]:
    """Return nodes in an order in which the conditions of a node are known when it runs, as far as
    possible; otherwise the order stays. Takes nearly linear time.

    nodes: in a possible order. before: nodes that must come before others, in addition to those
    that they are computed from.
    """
    if not any([node.op.read_if is not None for node in nodes]):
        return nodes
    place = {v: i for i, node in enumerate(nodes) for v in node.outputs}
    needs = _Needs(outputs)
    wishes: dict[int, set[int]] = {}
    fits = True
    for i in range(len(nodes) - 1, -1, -1):
        own = needs.of(nodes[i])
        positions = {place.get(needs.asked[c], -1) for way in own for c, _ in way} - {-1}
        if positions:  # also of conditions that are known by now: what is moved stays behind them
            wishes[i] = positions
            fits = fits and max(positions) < i
        needs.add_inputs(nodes[i], own)
    return nodes if fits else _sort(nodes, before, wishes)


def _sort(
    nodes: list[Apply], before: Mapping[Apply, Sequence[Apply]], wishes: Mapping[int, set[int]]
) -> list[Apply]:
    """Return the nodes in their order, but each one after those that it needs, and if possible
    after those in `wishes`.
    """
    place = {node: i for i, node in enumerate(nodes)}
    missing: list[set[int]] = []
    users: list[list[int]] = [[] for _ in nodes]
    wishing: list[list[int]] = [[] for _ in nodes]
    wished = [set(wishes.get(i, ())) for i in range(len(nodes))]
    for i, node in enumerate(nodes):
        makers = [v.owner for v in node.inputs if v.owner is not None]
        missing.append({place[n] for n in (*makers, *before.get(node, ()))})
        for k in missing[i]:
            users[k].append(i)
        for k in wished[i]:
            wishing[k].append(i)
    ready = [i for i, some in enumerate(missing) if not some and not wished[i]]
    waiting = [i for i, some in enumerate(missing) if not some and wished[i]]
    order: list[int] = []
    done: set[int] = set()
    while ready or waiting:
        i = heappop(ready or waiting)
        if i in done:
            continue
        done.add(i)
        order.append(i)
        for k in users[i]:
            missing[k].discard(i)
            if not missing[k]:
                heappush(waiting if wished[k] else ready, k)
        for k in wishing[i]:
            wished[k].discard(i)
            if not wished[k] and not missing[k]:
                heappush(ready, k)
    return [nodes[i] for i in order]


# --- ways ---------------------------------------------------------------------------------------


class _Needs:
    """Record of where variables are needed, as far as their users are known.

    asked: the conditions, by number.
    """

    def __init__(self, outputs: Sequence[Variable]) -> None:
        self.ways = dict.fromkeys(outputs, ALWAYS)
        self.asked: list[Variable] = []
        self.numbers: dict[Variable, int] = {}

    def of(self, node: Apply) -> Ways:
        """Return where a node is needed."""
        uses = [self.ways[v] for v in node.outputs if v in self.ways]
        own = uses[0] if uses else ALWAYS
        for use in uses[1:]:
            own = _either(own, use)
        return own

    def add(self, v: Variable, here: Ways) -> None:
        """Record one use of a variable."""
        before = self.ways.get(v)
        self.ways[v] = here if before is None else _either(before, here)

    def add_inputs(self, node: Apply, own: Ways) -> None:
        """Record where a node reads its inputs, if it runs where `own` says."""
        reads = None if node.op.read_if is None else node.op.read_if(node)
        for k, v in enumerate(node.inputs):
            side = None if reads is None else reads[k]
            if side is None:
                self.add(v, own)
                continue
            c, holds = node.inputs[side[0]], side[1]
            if isinstance(c, Constant):
                self.add(v, own if bool(c.data) is holds else NEVER)
                continue
            number = self.numbers.setdefault(c, len(self.asked))
            if number == len(self.asked):
                self.asked.append(c)
            open_ = [way for way in own if (number, not holds) not in way]
            more = [
                way | {(number, holds)} if len(way) < MAX_NESTED_CONDITIONS else way
                for way in open_
            ]
            self.add(v, _one_of(more))


def _either(a: Ways, b: Ways) -> Ways:
    """Return where one of two conditions holds."""
    if a >= b:
        return a
    return b if a <= b else _one_of(a | b)


def _one_of(ways: Iterable[Sides]) -> Ways:
    """Simplify ways: drop those that others contain, and merge two that differ in the outcome of
    one condition.
    """
    found: set[Sides] = set()
    todo = sorted(ways, key=len, reverse=True)
    while todo:
        way = todo.pop()
        if any([other <= way for other in found]):
            continue
        for other in found:
            apart = way ^ other
            if len(apart) == 2 and len({c for c, _ in apart}) == 1:
                todo.append(way & other)
                break
        else:
            found = {other for other in found if not way <= other} | {way}
            if len(found) > MAX_WAYS:
                return frozenset([frozenset.intersection(*found, *todo)])
    return frozenset(found)
