"""Kernels of a compiled function as text: the loop, the ops in it with the rules that lowered them,
what it reads and writes, and its machine code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rewrite_engine.errors import plural
from rewrite_engine.link.native.library import Kernel, module_text
from rewrite_engine.link.native.loops import KernelText, write_group
from rewrite_engine.link.native.op import NativeRegion
from rewrite_engine.link.native.scalars import Lowering, lowering_of, op_called, write_converted
from rewrite_engine.link.native.text import DTYPES, SIZE
from rewrite_engine.link.native.timing import computed_by, names_of
from rewrite_engine.link.native.values import (
    Group,
    Item,
    Length,
    NativeCall,
    NativeValue,
    Node,
    Number,
    Position,
    Reduced,
    View,
)
from rewrite_engine.rules.lowering import FUNCTIONS

AXES = "ijklmn"  # names of the axes of a loop
_DIRECTIVES = (
    ".file",
    ".globl",
    ".p2align",
    ".size",
    ".text",
    ".type",
    ".section",
    ".cfi",
    ".addrsig",
)


class KernelListing:
    """Kernel of a function: `str` describes its loop. number: counted from 1 in the function.
    operations, read_bytes: for each element of the loop.
    """

    def __init__(self, names: RegionNames, number: int, statement: Group | NativeCall) -> None:
        self.names, self.number, self.statement = names, number, statement
        self.plan, self.live = names.region.plan, names.region.plan.lifetimes
        self.nodes = self.live.nodes(statement) if isinstance(statement, Group) else []
        self.operations = self.bytes = 0
        self.rules: dict[str, int] = {}
        self._body = list(self._lines())

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @property
    def title(self) -> str:
        """Return the ops that it computes."""
        stored = set(self.live.writes(self.statement)) | self.live.last.keys()
        return names_of(computed_by(self.statement, self.nodes, stored)) or "copy"

    def lines(self) -> list[str]:
        """Return the lines of the description."""
        found = [f"kernel {self.number}: {self.title}", *[f"  {line}" for line in self._body]]
        if isinstance(self.statement, Group) and self.statement.space:
            work = f"{plural(self.operations, 'operation')}, {plural(self.bytes, 'byte')}"
            found.append(f"  for each element: {work}")
        if self.rules:
            rules = ", ".join(
                [name + (f" {n}×" if n > 1 else "") for name, n in self.rules.items()]
            )
            found.append(f"  lowered by {rules}")
        return found

    def llvm(self) -> str:
        """Return the text of the kernel in LLVM's language."""
        unit = self._kernel().unit()
        return module_text([unit], self.plan.machine)

    def assembly(self) -> str:
        """Return the optimised machine code of the kernel, as a processor's manual writes it."""
        lines = self.plan.machine.assembly(self.llvm()).splitlines()
        return "\n".join([line for line in lines if not line.strip().startswith(_DIRECTIVES)])

    def _text(self) -> KernelText:
        s = self.statement
        if isinstance(s, Group):
            stored = set(self.live.writes(s))
            return write_group(self.plan, self.plan.machine, s, stored, self.nodes)
        t = KernelText(self.plan, self.plan.machine, 1)
        t.current_label = "go"
        s.write(t, s.value)  # type: ignore[call-arg]
        return t

    def _kernel(self) -> Kernel:
        return self._text().kernel()[0]

    # --- the description ------------------------------------------------------------------------

    def _lines(self) -> Iterator[str]:
        s = self.statement
        if isinstance(s, NativeCall):
            about = "a copy" if s.about is None else str(s.about.op)
            reads = ", ".join([self.names.of(v.value) for v in s.reads])
            yield f"{self.names.of(s.value)} = {about}({reads})"
            return
        text = self._text()
        yield self._head(s, text)
        loaded: set[View] = set()
        for node in self.nodes:
            yield f"  {self.names.of(node.value)} = {self._value(s, node, loaded)}"
        stored = [v for v in self.live.writes(s) if v in s.own]
        for v in stored:
            yield f"  store {self.names.of(v)}{_index(len(s.space) * [True])}"
            self.bytes += SIZE[v.kind]
        for r in s.reduced:
            if r.value in self.live.last:
                yield f"  {self._reduction(s, r)}"
                self.operations += 1

    def _head(self, s: Group, text: KernelText) -> str:
        if not s.space:
            return "once:"
        ranges = [f"{a} in range({self.names.length(n)})" for a, n in zip(AXES, s.space)]
        several = f"{text.width} elements at a time" if text.width > 1 else "one by one"
        shared = ", shared by threads if it is long" if text.around is not None else ""
        return f"for {', '.join(ranges)}, {several}{shared}:"

    def _value(self, s: Group, node: Node, loaded: set[View]) -> str:
        """The op of a node and its operands."""
        operands = ", ".join([self._operand(s, item, loaded) for item in node.items])
        write: Any = node.write
        given: Any = getattr(write, "given", ())
        if getattr(write, "function", None) is not write_converted:
            name = getattr(write, "function", write).__name__.strip("_")
            if name == "same" or (name == "converted" and given[0] == given[1]):
                return operands
            if name == "converted":
                name, given = DTYPES[given[1]], ()
            if name != "unit" or given[0] not in FUNCTIONS:
                self.operations += 1
                return f"{name}({', '.join([operands, *map(str, given)])})"
            given = (op_called(given[0]), node.value.kind, (), ())
        op, kind, _, numbers = given
        found = lowering_of(op, kind, numbers)
        self.operations += found.operations
        for rule in found.rules:
            self.rules[rule] = self.rules.get(rule, 0) + 1
        return f"{op}({operands}){_note(found)}"

    def _operand(self, s: Group, item: Item, loaded: set[View]) -> str:
        v = item.view
        if isinstance(v, Number):
            return f"{v.value:g}" if isinstance(v.value, float) else str(v.value)
        if isinstance(v, Position):
            return AXES[v.axis]
        if s.inside(v) is not None:
            return self.names.of(v.value)
        if v not in loaded and v.steps and v.steps[-1] is not None:
            self.bytes += SIZE[v.value.kind]
        loaded.add(v)
        return self.names.of(v.value) + _index([step is not None for step in v.steps])

    def _reduction(self, s: Group, r: Reduced) -> str:
        kept = [k not in r.axes for k in range(len(s.space))]
        over = ", ".join([AXES[k] for k in sorted(r.axes)])
        name, source = self.names.of(r.value), self.names.of(r.source)
        return f"{name}{_index(kept)} = {r.name} of {source} over {over}"


class RegionNames:
    """RegionNames of the values and lengths of a region."""

    def __init__(self, region: NativeRegion) -> None:
        self.region = region
        self._of: dict[NativeValue, str] = {}
        self._lengths: dict[Length, str] = {}
        for v in region.takes:
            known = region.plan.of.get(v)
            name = v.name or f"argument {len(self._of)}"
            if isinstance(known, View):
                self._of[known.value] = name
            for axis, n in enumerate(region.plan.known_shape(v) or ()):
                if n[1]:
                    self._lengths.setdefault(n, f"{name}.shape[{axis}]")
        for k, v in enumerate(region.gives):
            known = region.plan.of.get(v)
            if isinstance(known, View):
                self._of.setdefault(known.value, v.name or f"result {k}")

    def of(self, value: NativeValue) -> str:
        """Return the name of a value; new ones are t1, t2, …"""
        return self._of.setdefault(value, f"t{sum(n[0] == 't' for n in self._of.values()) + 1}")

    def length(self, n: Length) -> str:
        """Return a length as an expression."""
        number, words = n
        if n in self._lengths or not words:
            return self._lengths.get(n, str(number))
        parts = [self._lengths.get((1, (word,)), "?") for word in words]
        return " * ".join([*([] if number == 1 else [str(number)]), *parts])


def _index(moves: Sequence[bool]) -> str:
    """The index of an element, by the axes along which it moves."""
    found = ", ".join([axis for axis, there in zip(AXES, moves) if there])
    return f"[{found}]" if found else ""


def _note(found: Lowering) -> str:
    if found.called:
        return f"  # calls {found.called}: {plural(found.operations, 'operation')}"
    return f"  # {plural(found.operations, 'operation')}" if found.rules else ""


def kernels_of(regions: Sequence[NativeRegion]) -> list[KernelListing]:
    """Return the kernels of regions, in the order in which they run."""
    found: list[KernelListing] = []
    for region in regions:
        names = RegionNames(region)
        for s in region.plan.statements:
            if region.plan.lifetimes.runs(s):
                found.append(KernelListing(names, len(found) + 1, s))
    return found
