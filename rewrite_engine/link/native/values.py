"""What a region computes: values, views of them, and the groups of nodes that one loop computes.

Lengths are products of a number and words of the frame, so that what is equal is seen without
knowing them. Axes of length 1 are no axes here: a value has none, and a view steps along none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rewrite_engine.graph.node import Apply

#: a number, and the words of the frame it is multiplied with, sorted
Length = tuple[int, tuple[int, ...]]
ONE: Length = (1, ())
Steps = tuple[Length | None, ...]
#: writes the value of a node, of its operands (the text is a `Assembler`)
Write = Callable[[Any, list[str]], str]


def times(*lengths: Length) -> Length:
    """The product of lengths."""
    number, words = 1, list[int]()
    for n, more in lengths:
        number *= n
        words += more
    return (number, tuple(sorted(words))) if number else (0, ())


def in_order(shape: Sequence[Length]) -> tuple[Length, ...]:
    """The steps, in elements, of an array in C order."""
    steps = [ONE]
    for n in shape[:0:-1]:
        steps.append(times(n, steps[-1]))
    return tuple(steps[::-1]) if shape else ()


class Scope:
    """Statements that run equally often: all outside of loops, or the step of one loop.

    parent: the scope that contains the loop; None outside of loops. start, end: positions of the
    statements before the first step and after each step. back: the word with the number of table
    entries from the end of a step to its start. steps: the word with the number of steps. spaces:
    positions of the groups over each space.
    """

    def __init__(self, parent: Scope | None = None, back: int = 0, steps: int = 0) -> None:
        self.parent, self.back, self.steps = parent, back, steps
        self.start, self.end = -1, -1
        self.spaces: dict[tuple[Length, ...], list[int]] = {}


class NativeValue:
    """Numbers of one kind, in C order if they are in memory.

    at: the position of the statement that computes it; -1: it is there. word: where the frame has
    its address. part_of: (value, steps, offset): it lies in the memory of another value. loop: the
    loop whose end writes this memory again after each step; None for memory that is written once.
    """

    __slots__ = ("kind", "shape", "at", "word", "part_of", "group", "loop")

    def __init__(self, kind: str, shape: tuple[Length, ...], at: int = -1) -> None:
        self.kind, self.shape, self.at = kind, shape, at
        self.word: int | None = None
        self.part_of: tuple[NativeValue, Steps, int | None] | None = None
        self.group: Group | None = None  # of one that a loop computes element by element
        self.loop: Scope | None = None


class View(NamedTuple):
    """A value as a variable shows it. steps: for each axis of the variable, in elements; None: it
    has one element, or all are the same. offset: the word that tells how many elements are in
    front.
    """

    value: NativeValue
    steps: Steps
    offset: int | None = None


class Number(NamedTuple):
    """A constant."""

    value: Any
    kind: str


class Item(NamedTuple):
    """One operand of a node in a group: a view along the axes of the group, or a number."""

    view: View | Number
    kind: str


class Node(NamedTuple):
    """An elementwise node: `write(text, operands)` gives its value. scope: where the graph computes
    it. heavy: it calls a function. about: the node of the graph that it computes, or a part of it.
    """

    value: NativeValue
    items: tuple[Item, ...]
    write: Write
    scope: Scope
    heavy: bool = False
    about: Apply | None = None


class Reduced(NamedTuple):
    """A reduction of a node's value. axes: of the group, that are reduced. name: of the scalar
    op. scope: where the graph computes it. about: as of `Node`.
    """

    value: NativeValue
    source: NativeValue
    axes: frozenset[int]
    name: str
    scope: Scope
    about: Apply | None = None


class Group:
    """Nodes that one nest of loops computes, and reductions of them."""

    def __init__(self, at: int, space: tuple[Length, ...]) -> None:
        self.at, self.space = at, space
        self.nodes: list[Node] = []
        self.reduced: list[Reduced] = []
        self.own: dict[NativeValue, Node] = {}

    def inside(self, view: View | Number) -> NativeValue | None:
        """The value of the group that an operand is, element for element."""
        if isinstance(view, Number) or view.value not in self.own or view.offset is not None:
            return None
        return view.value if view.steps == in_order(self.space) else None


class NativeCall(NamedTuple):
    """A statement that is no loop over elements: `write(kernel)` writes it. scope: where the graph
    computes it. refuses: it may end in a call of the VM's function. changes: other values whose
    memory it writes. about: as of `Node`.
    """

    at: int
    value: NativeValue
    reads: tuple[View, ...]
    write: Callable[[Any], None]
    scope: Scope
    refuses: bool = True
    changes: tuple[NativeValue, ...] = ()
    about: Apply | None = None


def without_ones(shape: Sequence[Length]) -> tuple[Length, ...]:
    """The lengths of the axes that a value has."""
    return tuple([n for n in shape if n != ONE])


def view_of(value: NativeValue, shape: Sequence[Length]) -> View:
    """A value as a variable of this shape shows it."""
    steps = iter(in_order(value.shape))
    return View(value, tuple([None if n == ONE else next(steps) for n in shape]))
