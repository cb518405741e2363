"""Values of a region, views of them, and the groups of nodes that one loop computes.

A length is a product of a number and words of the frame, so equal lengths are recognised without
their numbers. Axes of length 1 are omitted: a value has none, and a view has no step along them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rewrite_engine.graph.node import Apply

#: a number, and the words of the frame it is multiplied with, sorted
Length = tuple[int, tuple[int, ...]]
ONE: Length = (1, ())
Steps = tuple[Length | None, ...]


class ElementWriter(NamedTuple):
    """`Write` that is equal to others that write the same: `function(text, operands, *given)`."""

    function: Callable[..., str]
    given: tuple[Any, ...] = ()

    def __call__(self, t: Any, xs: list[str]) -> str:
        return self.function(t, xs, *self.given)


#: writes the value of a node, of its operands (the text is a `Assembler`)
Write = Callable[[Any, list[str]], str] | ElementWriter


def times(*lengths: Length) -> Length:
    """Return the product of lengths."""
    number, words = 1, list[int]()
    for n, more in lengths:
        number *= n
        words += more
    return (number, tuple(sorted(words))) if number else (0, ())


def in_order(shape: Sequence[Length]) -> tuple[Length, ...]:
    """Return the steps, in elements, of an array in C order."""
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

    at: the position of the statement that computes it; -1: it exists before. word: where the frame
    has its address. part_of: (value, steps, offset): it is in the memory of another value. loop:
    the loop whose end writes this memory again after each step; None for memory that is written
    once.
    """

    __slots__ = ("kind", "shape", "at", "word", "part_of", "group", "loop")

    def __init__(self, kind: str, shape: tuple[Length, ...], at: int = -1) -> None:
        self.kind, self.shape, self.at = kind, shape, at
        self.word: int | None = None
        self.part_of: tuple[NativeValue, Steps, int | None] | None = None
        self.group: Group | None = None  # of one that a loop computes element by element
        self.loop: Scope | None = None


class View(NamedTuple):
    """Value as a variable shows it. steps: in elements, for each axis of the variable; None: the
    axis has one element, or all are the same. offset: the word with the number of elements before
    the first.
    """

    value: NativeValue
    steps: Steps
    offset: int | None = None


class Number(NamedTuple):
    """Constant number of a kind."""

    value: Any
    kind: str


class Position(NamedTuple):
    """Index of an element along an axis: of an array, or in an `Item` of a group."""

    axis: int


class Item(NamedTuple):
    """Operand of a node in a group: a view along the axes of the group, or what is in no memory."""

    view: View | Number | Position
    kind: str


class Node(NamedTuple):
    """Elementwise node; `write(text, operands)` returns its value. scope: the statements that the
    graph computes it with. calls_function: whether it calls a function. about: the node of the
    graph that it belongs to.
    """

    value: NativeValue
    items: tuple[Item, ...]
    write: Write
    scope: Scope
    calls_function: bool = False
    about: Apply | None = None


class Reduced(NamedTuple):
    """Reduction of a node's value. axes: the reduced axes of the group. name: of the scalar op.
    scope, about: as of `Node`.
    """

    value: NativeValue
    source: NativeValue
    axes: frozenset[int]
    name: str
    scope: Scope
    about: Apply | None = None


class Group:
    """Nodes that one loop nest computes, and reductions of them."""

    def __init__(self, at: int, space: tuple[Length, ...]) -> None:
        self.at, self.space, self.steps = at, space, in_order(space)
        self.nodes: list[Node] = []
        self.reduced: list[Reduced] = []
        self.own: dict[NativeValue, Node] = {}

    def inside(self, view: View | Number | Position) -> NativeValue | None:
        """Return the value of the group that an operand equals, element for element."""
        if not isinstance(view, View) or view.value not in self.own or view.offset is not None:
            return None
        return view.value if view.steps == self.steps else None


class NativeCall(NamedTuple):
    """Statement that is not a loop over elements; `write(kernel)` writes it. scope, about: as of
    `Node`. refuses: whether it may fall back to the VM. changes: other values whose memory it
    writes.
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
    """Return the lengths of the axes that a value has."""
    return tuple([n for n in shape if n != ONE])


def view_of(value: NativeValue, shape: Sequence[Length]) -> View:
    """Return a value as a variable of this shape shows it."""
    steps = iter(in_order(value.shape))
    return View(value, tuple([None if n == ONE else next(steps) for n in shape]))
