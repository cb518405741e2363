"""Which rules of a phase may apply to a node: one dictionary look-up.

The key is the node's op and what computes its first inputs (an op, `CONSTANT`, or None for an
input). The candidates for a key are found by asking every rule once whether it `fits`, in the order
of the set, and remembered; so adding rules does not slow a miss, and the order in which rules are
tried is the order in which they stand in the set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rewrite_engine.graph.node import CONSTANT, Apply
from rewrite_engine.match.rule import Rule

LOOKED_AT = 3  # how many inputs are part of the key
LIMIT = 20_000  # keys kept; graphs with more different ones (huge op parameters) start anew

Candidates = tuple[Rule, ...]


class ByNumber:
    """Candidates that differ by the value of one constant input."""

    __slots__ = ("position", "rules", "table")

    def __init__(self, position: int, rules: Candidates) -> None:
        self.position = position
        self.rules = rules
        self.table: dict[Any, Candidates] = {}

    def get(self, inputs: tuple[Any, ...]) -> Candidates:
        """The rules that may match constants with the number that is there."""
        number = inputs[self.position].number
        found = self.table.get(number)
        if found is not None:
            return found
        heads = [v.head for v in inputs]
        numbers = [v.number if v.head is CONSTANT else None for v in inputs]
        result = tuple([r for r in self.rules if r.fits(heads, numbers)])
        if len(self.table) < LIMIT and number == number:
            self.table[number] = result
        return result


class Dispatch:
    """Candidates per node for an ordered collection of rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self.table: dict[tuple[Any, ...], Candidates | ByNumber] = {}
        self.by_op: dict[Any, Candidates] = {}
        self._reach: dict[Any, int] = {}
        self._blind = max(
            [r.depth - 1 for r in self.rules if r.roots() is None or not r.interior()], default=0
        )
        self.candidates: Callable[[Apply], Candidates] = self._make()

    def rules_for(self, op: Any) -> Candidates:
        """The rules that may apply at an op, whatever its inputs."""
        found = self.by_op.get(op)
        if found is None:
            found = self.by_op[op] = tuple([r for r in self.rules if r.considers(op)])
        return found

    def reach(self, op: Any) -> int:
        """How many levels above a node with this op a rule may look down at it (0: nobody looks
        past clients).
        """
        found = self._reach.get(op)
        if found is None:
            found = self._blind
            for rule in self.rules:
                for inner, depth in rule.interior().items():
                    if depth > found and (
                        op is inner or (isinstance(inner, type) and isinstance(op, inner))
                    ):
                        found = depth
            self._reach[op] = found
        return found

    def fill(self, key: tuple[Any, ...], node: Apply) -> Candidates | ByNumber:
        """Find the candidates for a key that is seen for the first time."""
        if len(self.table) >= LIMIT:
            self.table.clear()
        heads = [v.head for v in node.inputs]
        whole = len(heads) <= LOOKED_AT or (node.op.commutative and node.op.associative)
        found = [r for r in self.rules_for(node.op) if not whole or r.fits(heads)]
        if len(node.outputs) != 1:
            found = [r for r in found if not r.single]
        constants = [i for i, head in enumerate(heads) if head is CONSTANT]
        result: Candidates | ByNumber = tuple(found)
        if len(heads) == 2 and len(constants) == 1 and any(r.reads_numbers for r in found):
            result = ByNumber(constants[0], tuple(found))
        self.table[key] = result
        return result

    def _make(self) -> Callable[[Apply], Candidates]:
        get = self.table.get
        fill = self.fill

        def candidates(node: Apply) -> Candidates:
            """The rules worth trying at a node, in order."""
            inputs = node.inputs
            n = len(inputs)
            if n == 1:
                key: tuple[Any, ...] = (node.op, inputs[0].head)
            elif n == 2:
                key = (node.op, inputs[0].head, inputs[1].head)
            elif node.op.commutative and node.op.associative:
                key = (node.op, n > 2, frozenset([v.head for v in inputs]))
            else:
                key = (node.op, n, *[v.head for v in inputs[:LOOKED_AT]])
            found = get(key)
            if found is None:
                found = fill(key, node)
            if found.__class__ is tuple:
                return found
            return found.get(inputs)  # type: ignore[union-attr]

        return candidates
