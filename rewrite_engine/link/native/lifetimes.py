"""`Lifetimes`: which statements run, and how long each value must stay in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rewrite_engine.link.native.values import Group, NativeCall, NativeValue, Node, Scope, View

END = 1 << 60  # behind all statements


class Lifetimes:
    """Lifetimes of the values of a region, computed from the last statement to the first.

    statements: in the order in which they run. loops: inner ones first. results: values that stay.
    kept: values whose statements run although they have no readers. last: the position of the last
    statement that reads each value in memory.
    """

    def __init__(
        self, statements: Sequence[Group | NativeCall], loops: Sequence[Scope],
        results: Iterable[NativeValue], kept: Iterable[NativeValue],
    ) -> None:  # fmt: skip
        self.last: dict[NativeValue, int] = dict.fromkeys(results, END)
        self._nodes: dict[Group, list[Node]] = {}
        for value in kept:
            self._read(value, value.at)
        for s in reversed(statements):
            for view in self._reads(s):
                self._read(view.value, s.at)
        for loop in loops:  # what a later step reads has to stay
            for value, at in self.last.items():
                if value.at <= loop.start < at < loop.end:
                    self.last[value] = loop.end

    def _reads(self, s: Group | NativeCall) -> list[View]:
        """Return the values that a statement reads from memory, if it runs."""
        if isinstance(s, NativeCall):
            return list(s.reads) if self.stored(s.value) else []
        views = [item.view for node in self.nodes(s) for item in node.items]
        return [v for v in views if isinstance(v, View) and s.inside(v) is None]

    def _read(self, value: NativeValue, at: int) -> None:
        self.last[value] = max(self.last.get(value, -1), at)
        if value.part_of is not None:
            self._read(value.part_of[0], at)

    def stored(self, value: NativeValue) -> bool:
        """Return whether a value must be in memory, or in the memory of the value it is part of."""
        whole = value.part_of
        return value in self.last or (whole is not None and whole[0] in self.last)

    def nodes(self, group: Group) -> list[Node]:
        """Return the nodes of a group that are needed, in order. (Known once all later statements
        have been looked at.)
        """
        known = self._nodes.get(group)
        if known is not None:
            return known
        needed = {r.source for r in group.reduced if r.value in self.last}
        found = []
        for node in reversed(group.nodes):
            if node.value in needed or self.stored(node.value):
                found.append(node)
                inside = [group.inside(item.view) for item in node.items]
                needed.update([v for v in inside if v is not None])
        self._nodes[group] = found[::-1]
        return self._nodes[group]

    def runs(self, s: Group | NativeCall) -> bool:
        """Return whether a statement runs."""
        return self.stored(s.value) if isinstance(s, NativeCall) else bool(self.nodes(s))

    def writes(self, s: Group | NativeCall) -> list[NativeValue]:
        """Return the values that a statement writes to memory."""
        if isinstance(s, NativeCall):
            return [s.value, *s.changes]
        found = [node.value for node in self.nodes(s) if self.stored(node.value)]
        return found + [r.value for r in s.reduced if r.value in self.last]
