"""`FinalGraph`: a graph of a report after its last change, as its line says (`snapshot.py`), to
compare it with the graph of another report (`difference.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.fork import cached_property
from rewrite_engine.rewrite.trace.records import GraphLine

#: where an op works, which is no part of what it computes
_MEMORY = re.compile(r"\{inplace[^}]*\}|[;,] ?inplace[^;,}]*|inplace[;,] ?")
PASSING_LEVELS = 3  # of a term in passing


@dataclass(frozen=True, eq=False)
class FinalGraph:
    """A graph after its last change. inputs, ops: of each node that there ever was, by number."""

    line: GraphLine
    inputs: list[list[int]]
    ops: list[str]
    outputs: list[int]

    @classmethod
    def of(cls, line: GraphLine) -> FinalGraph:
        """Build the graph from its line."""
        inputs = [node.inputs for node in line.nodes]
        ops = [node.op for node in line.nodes]
        outputs = line.outputs
        for change in line.changes:
            for number, new in change.nodes.items():
                inputs[int(number)], ops[int(number)] = new.inputs, new.op
            outputs = change.outputs or outputs
        return cls(line, inputs, [_MEMORY.sub("", op) for op in ops], outputs)

    @cached_property
    def order(self) -> list[int]:
        """Nodes that the outputs need, operands first."""
        variables, done, found = self.line.variables, set[int](), list[int]()
        stack = [variables[v].node for v in self.outputs]
        while stack:
            node = stack[-1]
            if node is None or node in done:
                stack.pop()
                continue
            todo = [n for v in self.inputs[node] if (n := variables[v].node) is not None]
            todo = [n for n in todo if n not in done]
            if todo:
                stack += todo
                continue
            stack.pop()
            done.add(node)
            found.append(node)
        return found

    def keys(self, known: dict[Any, int], inside: Mapping[str, Any]) -> dict[int, int]:
        """Return a number for each variable, the same for equal terms. known: those of other
        graphs. inside: what ops compute that hold a graph, by their names.
        """
        variables, nodes, keys = self.line.variables, self.line.nodes, dict[int, int]()

        def key(v: int) -> int:
            if v not in keys:  # a root
                one = variables[v]
                keys[v] = known.setdefault((one.kind, one.text, one.type), len(known))
            return keys[v]

        for node in self.order:
            operands = [key(v) for v in self.inputs[node]]
            operands = sorted(operands) if nodes[node].commutative else operands
            for i, v in enumerate(nodes[node].outputs):
                op = self.ops[node]
                term = op, inside.get(op), i, tuple(operands)
                keys[v] = known.setdefault(term, len(known))
        for v in self.outputs:
            key(v)
        return keys

    def text(self, v: int, depth: int = PASSING_LEVELS) -> str:
        """Return a term in a few words: calls of ops."""
        one = self.line.variables[v]
        if one.name or one.node is None:
            return str(one.name or one.text)
        if not depth:
            return "…"
        operands = [self.text(x, depth - 1) for x in self.inputs[one.node]]
        return f"{self.ops[one.node]}({', '.join(operands)})"

    def place(self, node: int) -> str:
        """Return the user's line behind a node; for a node of a gradient, that of the forward
        node.
        """
        row = self.line.nodes[node]
        line = row.forward or row.line
        if line is None or line[0].startswith("<frozen"):  # nobody's line
            return ""
        return f"{Path(line[0]).name}:{line[1]}"


def final_graphs(f: FunctionReport) -> list[FinalGraph]:
    """Return the rewritten graphs of a function: those inside of ops, those in others first; its
    own graph last.
    """
    inner = [one for one in f.graphs if one.inside is not None and one.graph is None]
    own = next(one for one in f.graphs if one.inside is None)
    return [FinalGraph.of(one) for one in (*reversed(inner), own)]
