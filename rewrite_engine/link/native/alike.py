"""Texts of groups that are found again: two groups that differ only in their words have one text.

Writing the text of a group takes most of the time of building a region. A group is described by a
key in which words of the frame, values and constants are numbered in the order in which they are
met. The text is a function of the key; which words it reads, and in which order, is kept with it
as their roles: the length, the constant or the address that is to be in the word.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from rewrite_engine.link.native.kernel_text import KernelText, is_inline
from rewrite_engine.link.native.library import Kernel
from rewrite_engine.link.native.loops import write_group
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.native.values import (
    ElementWriter,
    Group,
    Length,
    NativeValue,
    Node,
    Number,
    View,
)

MAX_KNOWN = 4096  # texts


class NoKey(Exception):
    """Raised for a group with a part that has no description."""


class Description:
    """Key of a group, and what its numbers stand for. words, values, numbers: in order."""

    def __init__(
        self, machine: Machine, group: Group, stored: Collection[NativeValue], live: Sequence[Node]
    ) -> None:
        self.words: dict[int, int] = {}
        self.values: dict[NativeValue, int] = {}
        self.numbers: dict[float, int] = {}
        self.group, self.stored = group, stored
        self.own = {node.value: i for i, node in enumerate(live)}
        space = tuple(map(self.length, group.space))
        nodes = tuple([self.node(node) for node in live])
        reduced = tuple([
            (self.own[r.source], r.axes, r.name, self.value(r.value))
            for r in group.reduced if r.value in stored
        ])  # fmt: skip
        self.key = (machine, space, nodes, reduced)

    def word(self, word: int) -> int:
        return self.words.setdefault(word, len(self.words))

    def length(self, n: Length | None) -> Any:
        return None if n is None else (n[0], tuple(sorted(map(self.word, n[1]))))

    def value(self, value: NativeValue) -> Any:
        """Describe a value in memory."""
        known = value in self.values
        number = self.values.setdefault(value, len(self.values))
        if known:
            return number
        part = None
        if value.part_of is not None:
            whole, steps, offset = value.part_of
            part = self.value(whole), tuple(map(self.length, steps)), self.offset(offset)
        return number, value.kind, part

    def offset(self, offset: int | None) -> int | None:
        return None if offset is None else self.word(offset)

    def node(self, node: Node) -> Any:
        write: Any = node.write
        if isinstance(write, FunctionType):
            if write.__closure__ is not None or write.__defaults__ or write.__kwdefaults__:
                raise NoKey
            write = write.__code__
        elif not isinstance(write, ElementWriter):
            raise NoKey
        items = tuple([self.operand(item.view, item.kind) for item in node.items])
        store = self.value(node.value) if node.value in self.stored else None
        return write, node.value.kind, node.calls_function, items, store

    def operand(self, v: Any, kind: str) -> Any:
        if isinstance(v, Number):
            if is_inline(v):
                return "inline", kind, v.kind, v.value, str(v.value)
            number = self.numbers.setdefault(v.value, len(self.numbers))
            return "number", kind, v.kind, number
        if not isinstance(v, View):
            return "index", kind, v.axis
        own = self.group.inside(v)
        if own is not None:
            return "own", kind, self.own[own]
        steps = tuple(map(self.length, v.steps))
        return "value", kind, self.value(v.value), steps, self.offset(v.offset)


class Known(NamedTuple):
    """Text of a kernel, and the roles of the words that it reads."""

    kernel: Kernel
    roles: tuple[Any, ...]


class Found(NamedTuple):
    """Kernel of a group. touched: values whose addresses it takes."""

    text: Kernel
    words: list[int]
    touched: set[NativeValue]

    def kernel(self) -> tuple[Kernel, list[int]]:
        """Return the kernel and the words that it takes."""
        return self.text, self.words


_known: dict[Any, Known] = {}


def group_kernel(
    region: Any, machine: Machine, group: Group, stored: set[NativeValue], live: Sequence[Node]
) -> KernelText | Found:
    """Return the kernel of a group: known, or written now."""
    try:
        about = Description(machine, group, stored, live)
        known = _known.get(about.key)
    except (NoKey, TypeError):  # (a part that has no hash)
        return write_group(region, machine, group, stored, live)
    if known is not None:
        found = _read(region, known, about)
        if found is not None:
            return found
    text = write_group(region, machine, group, stored, live)
    roles = [_role(text.roles.get(word, ()), about) for word in text.words]
    if None not in roles and known is None:
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        _known[about.key] = Known(text.kernel()[0], tuple(roles))
    return text


def _role(found: Collection[Any], about: Description) -> Any:
    """Describe what a word is for; None if it has no role, or several."""
    if len(found) != 1:
        return None
    ((name, what),) = found
    if name == "fresh":
        return name, 0
    if name == "length":
        words = [about.words.get(word) for word in what[1]]
        return None if None in words else (name, (what[0], tuple(words)))
    table: Any = {"value": about.values, "number": about.numbers, "word": about.words}[name]
    number = table.get(what)
    return None if number is None else (name, number)


def _read(region: Any, known: Known, about: Description) -> Found | None:
    """Return a known kernel with the words of a group; None if two of them are one word here."""
    words, values, numbers = list(about.words), list(about.values), list(about.numbers)
    found: list[int] = []
    for name, what in known.roles:
        if name == "length":
            n, of = what
            found.append(region.word_of((n, tuple(sorted([words[i] for i in of])))))
        elif name == "number":
            found.append(region.constant_word(numbers[what]))
        elif name == "word":
            found.append(words[what])
        elif name == "fresh":
            found.append(region.new_word())
        else:
            found.append(region.place_of(values[what]))
    if len(set(found)) < len(found):
        return None
    return Found(known.kernel, found, set(values))
