"""Rules that do not come to an end: `Lineages` (what goes on at one place), and periods.
How much may happen is in `rewrite/budget.py`, what an error tells in `cycle.py`.

Every firing happens at a node that an earlier firing made, or at one of the graph as it came. All
that comes of one such node is a *lineage*; its firings are counted. The count of a loop grows
without end, wherever it is and whether it is deep or broad, and however large the graph is; that of
honest work grows only while it looks at nodes that the lineage has not made. Of every thousand
firings of a lineage some are looked at: where the same rules fire at the same terms again and again
it is a loop, and no budget has to run out. Terms are numbered for that: equal terms on the same
variables have the same number, also when the nodes are not the same (the earlier ones have left the
graph).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from rewrite_engine.graph.node import Apply, Variable

EVERY = 1024  # after so many firings of a lineage it is looked at,
WINDOW = 64  # and so many of its firings are compared
NEWS = 8  # that look at other nodes for the first time are enough to go on
LONGEST = 100_000  # firings that are compared after the end of a budget

#: the firings of a lineage; how many of those looked at saw nodes of others for the first time; the
#: numbers of those that are compared. The nodes of the lineage share it.
Lineage = list[Any]


class Numbering:
    """Numbers of terms, and of firings."""

    def __init__(self) -> None:
        self.number: dict[Variable, int] = {}
        self.table: dict[Any, int] = {}

    def key(self, node: Apply) -> tuple[Any, ...]:
        """What a node computes, of variables and numbered terms."""
        number = self.number
        return (node.op, *[number.get(v, v) for v in node.inputs])

    def number_of(self, key: Any) -> int:
        """The number of a term or firing."""
        return self.table.setdefault(key, len(self.table))

    def number_all(self, made: Iterable[Apply]) -> tuple[int, ...]:
        """Number the terms of nodes that were made."""
        found = []
        for new in made:
            index = self.number_of(self.key(new))
            found.append(index)
            for out in new.outputs:
                self.number[out] = index
        return tuple(found)


class Lineages:
    """Who comes of whom. of: the lineage of a node that a firing made."""

    def __init__(self) -> None:
        self.of: dict[Apply, Lineage] = {}
        self.seen: set[Apply] = set()
        self.numbers = Numbering()

    def sees(self, lineage: Lineage | None, node: Apply, levels: int) -> None:
        """A rule looks at a node of a lineage, and so many levels below it."""
        if lineage is None or levels < 1:
            return
        of, seen, news = self.of, self.seen, False
        layer = [node]
        for _ in range(levels):
            layer = [v.owner for n in layer for v in n.inputs if v.owner is not None]
            for one in layer:
                if one not in seen and of.get(one) is not lineage:
                    seen.add(one)
                    news = True
            del layer[1000:]
        lineage[1] += news

    def fired(self, lineage: Lineage, firing: Any, made: Sequence[Apply]) -> None:
        """Compare a firing, which made nodes. (One that makes none is not part of a loop.)"""
        if len(self.numbers.table) > LONGEST:
            self.numbers = Numbering()
        numbers = self.numbers.number_all(made)
        if made:
            lineage[2] = lineage[2] or []
            lineage[2].append(self.numbers.number_of((firing, numbers)))
        else:
            lineage[2] = None

    def goes_on(self, lineage: Lineage, every: int, window: int) -> bool:
        """A lineage was looked at: False if the firings that were compared go round in a circle,
        three times at least. What gets to see more and more of the graph goes on.
        """
        row = (lineage[2] or [])[-EVERY:]
        turn = period(row)
        if turn is not None and 3 * turn <= len(row) and row[-3 * turn : -2 * turn] == row[-turn:]:
            return False
        if lineage[1] >= NEWS:
            lineage[0] -= every
        lineage[1] = 0
        lineage[2] = row if window == every else None  # (what comes next does not follow on it)
        return True

    def forget(self, level: Mapping[Apply, int]) -> None:
        """Only nodes of the graph matter."""
        self.of = {node: lineage for node, lineage in self.of.items() if node in level}
        self.seen = {node for node in self.seen if node in level}

    def longest(self, own: Lineage | None) -> Lineage:
        """The lineage to suspect: the longest, or one's own if it is not much shorter."""
        found = max(self.of.values(), key=lambda one: one[0], default=[0, 0, None])
        return own if own is not None and 4 * own[0] >= found[0] else found


def operands_of(node: Apply | None, there: Container[Apply], seen: set[Apply]) -> int:
    """How many operands the nodes of a term have that were not there before, and not seen."""
    count, todo = 0, [node]
    while todo:
        one = todo.pop()
        if one is not None and one not in seen and one not in there:
            seen.add(one)
            count += len(one.inputs)
            todo += [v.owner for v in one.inputs]
    return count


def period(keys: Sequence[Any]) -> int | None:
    """After how many items at its end a sequence repeats; None if it does not."""
    n = len(keys)
    last = keys[-1] if keys else None
    for p in range(1, n // 2 + 1):
        if keys[n - 1 - p] == last and keys[n - p :] == keys[n - 2 * p : n - p]:
            return p
    return None


def whole_period(keys: Sequence[Any]) -> int | None:
    """After how many items all of a sequence repeats, twice at least (Knuth, Morris, Pratt)."""
    border = [0] * len(keys)
    k = 0
    for i in range(1, len(keys)):
        while k and keys[i] != keys[k]:
            k = border[k - 1]
        k += keys[i] == keys[k]
        border[i] = k
    p = len(keys) - k
    return p if keys and 2 * p <= len(keys) else None
