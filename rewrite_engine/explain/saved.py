"""Reports as their JSON lines have them (`read`, `of_report`): what can be compared with another
report, of today or of another version (`difference.py`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rewrite_engine.errors import InputError
from rewrite_engine.rewrite.trace.lines import VERSION

Record = dict[str, Any]
#: where an op works, which is no part of what it computes
_MEMORY = re.compile(r"\{inplace[^}]*\}|[;,] ?inplace[^;,}]*|inplace[;,] ?")
DEEP = 3  # levels of a term in passing


@dataclass(frozen=True, eq=False)
class SavedFunction:
    """One function of a report. about: its line. firings: theirs. graph: its own graph. inner:
    those inside of its ops.
    """

    about: Record
    firings: tuple[Record, ...]
    graph: Record
    inner: tuple[Record, ...] = ()

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(self.about["function"])

    @cached_property
    def rules(self) -> Counter[str]:
        """Number of firings of each rule."""
        return Counter([one["rule"] for one in self.firings])

    @cached_property
    def rewritten(self) -> SavedGraph:
        """The graph after the last firing."""
        return SavedGraph.after(self.graph)

    @cached_property
    def inside(self) -> list[SavedGraph]:
        """The graphs inside of ops, as rewritten; those in others first."""
        return [SavedGraph.after(graph) for graph in reversed(self.inner)]


@dataclass(frozen=True, eq=False)
class SavedGraph:
    """A graph at a time. inputs, ops: of each node that there ever was, by its number."""

    record: Record
    inputs: list[list[int]]
    ops: list[str]
    outputs: list[int]

    @classmethod
    def after(cls, graph: Record) -> SavedGraph:
        """A graph after its last change."""
        inputs = [node["inputs"] for node in graph["nodes"]]
        ops = [node["op"] for node in graph["nodes"]]
        outputs = graph["outputs"]
        for change in graph["changes"]:
            for number, new in change["nodes"].items():
                inputs[int(number)], ops[int(number)] = new["inputs"], new["op"]
            outputs = change["outputs"] or outputs
        return cls(graph, inputs, [_MEMORY.sub("", op) for op in ops], outputs)

    @cached_property
    def order(self) -> list[int]:
        """The nodes that are there, operands first."""
        variables, done, found = self.record["variables"], set[int](), list[int]()
        stack = [variables[v]["node"] for v in self.outputs]
        while stack:
            node = stack[-1]
            if node is None or node in done:
                stack.pop()
                continue
            todo = [n for v in self.inputs[node] if (n := variables[v]["node"]) is not None]
            todo = [n for n in todo if n not in done]
            if todo:
                stack += todo
                continue
            stack.pop()
            done.add(node)
            found.append(node)
        return found

    def keys(self, known: dict[Any, int], inside: Mapping[str, Any]) -> dict[int, int]:
        """A number for each variable, the same for equal terms. known: those of other graphs.
        inside: what ops compute that hold a graph, by their names.
        """
        variables, nodes, keys = self.record["variables"], self.record["nodes"], dict[int, int]()

        def key(v: int) -> int:
            if v not in keys:  # a root
                one = variables[v]
                keys[v] = known.setdefault((one["kind"], one["text"], one["type"]), len(known))
            return keys[v]

        for node in self.order:
            operands = [key(v) for v in self.inputs[node]]
            operands = sorted(operands) if nodes[node]["commutative"] else operands
            for i, v in enumerate(nodes[node]["outputs"]):
                op = self.ops[node]
                term = op, inside.get(op), i, tuple(operands)
                keys[v] = known.setdefault(term, len(known))
        for v in self.outputs:
            key(v)
        return keys

    def text(self, v: int, depth: int = DEEP) -> str:
        """A term in a few words: calls of ops."""
        one = self.record["variables"][v]
        if one["name"] or one["node"] is None:
            return str(one["name"] or one["text"])
        if not depth:
            return "…"
        operands = [self.text(x, depth - 1) for x in self.inputs[one["node"]]]
        return f"{self.ops[one['node']]}({', '.join(operands)})"

    def place(self, node: int) -> str:
        """The line that a node is due to: of a node of a gradient that of the forward node."""
        row = self.record["nodes"][node]
        line = row["forward"] or row["line"]
        if line is None or line[0].startswith("<frozen"):  # nobody's line
            return ""
        return f"{Path(line[0]).name}:{line[1]}"


@dataclass(frozen=True, slots=True)
class SavedReport:
    """title: how it is called. versions: of the library, of Python, of NumPy."""

    title: str
    versions: Mapping[str, str]
    functions: list[SavedFunction]


def of_lines(lines: Iterable[str], title: str) -> SavedReport:
    """Build a report from its JSON lines. Raises `InputError` for other text."""
    versions: Mapping[str, str] = {}
    about: dict[int, Record] = {}
    firings: dict[int, list[Record]] = {}
    graphs: dict[int, Record] = {}
    inner: dict[int, list[Record]] = {}
    for record in _records(lines, title):
        kind, k = record["kind"], record["function_index"]
        if kind == "report":
            versions = record["versions"]
        elif kind == "firing":
            firings.setdefault(k, []).append(record)
        elif kind == "function":
            about[k] = record
        elif kind == "graph" and record["inside"] is None:
            graphs[k] = record
        elif kind == "graph" and record["graph"] is None:  # (as it is in the end)
            inner.setdefault(k, []).append(record)
    if not versions or about.keys() != graphs.keys():
        raise InputError(f"{title} is no complete report: write it with --json, without --rule")
    functions = [
        SavedFunction(about[k], tuple(firings.get(k, ())), graphs[k], tuple(inner.get(k, ())))
        for k in about
    ]
    return SavedReport(title, versions, functions)


def _records(lines: Iterable[str], title: str) -> Iterator[Record]:
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
            found = record["kind"], record["version"], record["function_index"]
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{title}, line {number}: it is no line of a report ({error!r})"
            ) from None
        if found[1] != VERSION:
            raise InputError(f"{title}, line {number}: it is of version {found[1]}, not {VERSION}")
        yield record


def read(path: str) -> SavedReport:
    """Read the report in a file. Raises `InputError` and `OSError`."""
    text = Path(path).read_text(encoding="utf-8")
    return of_lines(text.splitlines(), Path(path).name)
