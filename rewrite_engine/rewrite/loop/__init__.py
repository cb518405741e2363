"""Rules that do not come to an end: `Lines` and `Rows` (what goes on at one place), and periods.
How much may happen is in `rewrite/budget.py`, what an error tells in `story.py`.

Every firing happens at a node that an earlier firing made, or at one of the graph as it came. All
that comes of one such node is a *line*; its firings are counted. The count of a loop grows without
end, wherever it is and whether it is deep or broad, and however large the graph is; that of honest
work grows only while it looks at nodes that the line has not made. Of every thousand firings of a
line some are looked at: where the same rules fire at the same terms again and again it is a loop,
and no budget has to run out. Once something is wrong, terms are numbered until they come again, and
one turn is noted as text.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.traverse import toposort

EVERY = 1024  # after so many firings of a line it is looked at,
WINDOW = 64  # and so many of its firings are compared
NEWS = 8  # that look at other nodes for the first time are enough to go on
LONGEST = 100_000  # firings that are compared after the end of a budget


class Lines:
    """Who comes of whom. of: the line of a node that a firing made: `[firings, news]`, shared by
    all of it. news: how many firings, of those looked at, saw nodes of others for the first time.
    """

    def __init__(self) -> None:
        self.of: dict[Apply, list[int]] = {}
        self.seen: set[Apply] = set()

    def sees(self, line: list[int] | None, node: Apply, levels: int) -> None:
        """A rule looks at a node of a line, and so many levels below it."""
        if line is None or levels < 1:
            return
        of, seen, news = self.of, self.seen, False
        layer = [node]
        for _ in range(levels):
            layer = [v.owner for n in layer for v in n.inputs if v.owner is not None]
            for one in layer:
                if one not in seen and of.get(one) is not line:
                    seen.add(one)
                    news = True
            del layer[1000:]
        line[1] += news

    def goes_on(self, line: list[int], every: int) -> None:
        """A line was looked at: what gets to see more and more of the graph goes on."""
        if line[1] >= NEWS:
            line[0] -= every
        line[1] = 0

    def forget(self, level: Mapping[Apply, int]) -> None:
        """Only nodes of the graph matter."""
        self.of = {node: line for node, line in self.of.items() if node in level}
        self.seen = {node for node in self.seen if node in level}

    def longest(self, own: list[int] | None) -> list[int]:
        """The line to suspect: the longest, or one's own if it is not much shorter."""
        found = max(self.of.values(), key=lambda line: line[0], default=[0, 0])
        return own if own is not None and 4 * own[0] >= found[0] else found


class Rows:
    """Looks for rows of firings, each at what the last one made, in which the same rules fire at
    the same terms.

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

    def number_of(self, key: Any) -> int:
        """The number of a term or firing."""
        return self.table.setdefault(key, len(self.table))

    def number_all(self, made: Iterable[Apply]) -> None:
        """Number the terms of nodes that were made."""
        for new in made:
            index = self.number_of(self.key(new))
            for out in new.outputs:
                self.number[out] = index

    def fired(self, rule: Any, key: tuple[Any, ...], node: Apply, made: Iterable[Apply]) -> None:
        """Add a firing to the row that led to a node."""
        if len(self.table) > LONGEST:
            self.__init__()  # type: ignore[misc]
        link = ((rule.name, key), self.links.pop(node, None))
        self.number_all(made)
        for new in made:
            self.links[new] = link

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


def turn_of(done: Sequence[tuple[Any, Any]], known: set[Variable]) -> int | None:
    """After how many steps the same terms come again; the same rules, if the terms do not. known:
    variables that no step has made.
    """
    rows, keys = Rows(), list[Any]()
    for rule, new in done:
        made = toposort([new], known) if isinstance(new, Variable) else []
        rows.number_all(made)
        known.update(out for node in made for out in node.outputs)
        keys.append((rule.name, rows.number.get(new, new) if made else new))
    return period(keys) or whole_period([rule.name for rule, _ in done])
