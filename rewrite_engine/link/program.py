"""A linker's input (`Program`) and output (`Linked`): the same for all ways of running.

A program is a rewritten `FunctionGraph` with the sources of its values (arguments and cells) and
their destinations (results and updates). Nothing here runs anything; the linkers are the sibling
folders, found by `link.linker(name)`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.scalar.dtype import refuse_masked


class Missing:
    """Type of `MISSING`: the value of an argument that was not passed."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING = Missing()


class Cell:
    """Place that keeps a value between calls: the state of a shared variable, or an argument's
    default. strict, allow_downcast: how new values of a shared variable are converted.

    A running function reads `value` once, when it starts, and writes it once, when everything is
    computed.
    """

    __slots__ = ("type", "value", "name", "strict", "allow_downcast", "__weakref__")

    def __init__(
        self,
        type: Any,
        value: Any,
        name: str | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
    ) -> None:
        self.type: Any = type
        self.value: Any = value
        self.name: str | None = name
        self.strict: bool = strict
        self.allow_downcast: bool | None = allow_downcast

    #: `value` itself, where a subclass has the value in another place, too
    held: Any

    @property
    def data(self) -> Any:
        """Value itself, not a copy."""
        return self.value

    def copied(self) -> Any:
        """Return a copy of the value."""
        return copied(self.value)

    @property
    def storage(self) -> list[Any]:
        """Value in a list, for code that expects a storage list (writing to it changes nothing)."""
        return [self.value]

    def __repr__(self) -> str:
        return f"<{self.name or 'cell'} of type {self.type}>"


Cell.held = Cell.__dict__["value"]  # (the slot)


class Argument(NamedTuple):
    """Argument of a function.

    name: keyword and printed name, or None. default: the source of its value if it is not passed.
    strict, allow_downcast: as in `Type.filter`. mutable: the function may overwrite the value.
    borrow: borrowed results may share the caller's memory.
    """

    type: Any
    name: str | None = None
    default: Cell | None = None
    strict: bool = False
    allow_downcast: bool | None = None
    mutable: bool = False
    borrow: bool = False


class Asked:
    """User's variable of an input, as long as the user holds it; a copy knows none."""

    __slots__ = ("find",)

    def __init__(self, variable: Any = None) -> None:
        self.find: Callable[[], Any] = (lambda: None) if variable is None else ref(variable)

    def __reduce__(self) -> Any:
        return Asked, ()


class Program(NamedTuple):
    """Graph to run, with its inputs and results.

    inputs: one per `fgraph.inputs`, an `Argument` or a `Cell` to read. n_results: the first outputs
    of the graph are results, the others are new states. packing: "none", "single", "list", or the
    keys of a dict. borrowed: results that may share memory that others see. updates: {output
    position: cell to store it in}. shared: the user's shared variables, in the order of their cells
    among the inputs. asked: the user's variables of all inputs.
    """

    fgraph: FunctionGraph
    inputs: tuple[Argument | Cell, ...]
    name: str = "function"
    n_results: int = 1
    packing: str | tuple[Any, ...] = "list"
    borrowed: frozenset[int] = frozenset()
    updates: tuple[tuple[int, Cell], ...] = ()
    shared: tuple[Any, ...] = ()
    asked: tuple[Asked, ...] = ()

    @property
    def variables(self) -> list[Any]:
        """User's variables of all inputs, None for one that the user no longer holds."""
        found = [one.find() for one in self.asked]
        return found + [None] * (len(self.inputs) - len(found))


class Linked(NamedTuple):
    """Program that can be called.

    call: the function. source: its text. free: releases the buffers it keeps between calls. nodes:
    in running order. python: the function of that text, if `call` is another one.
    """

    call: Callable[..., Any]
    source: str
    free: Callable[[], None]
    nodes: list[Apply]
    python: Callable[..., Any] | None = None


def copied(value: Any) -> Any:
    """Return a copy of a value."""
    return value.copy() if isinstance(value, np.ndarray) else deepcopy(value)


def plain(value: Any) -> Any:
    """Return an array of a subclass as an array; the code calls NumPy with nothing else.

    Raises `DTypeError` for a masked array with masked elements, whose mask would be lost.
    """
    if type(value) is np.ndarray or not isinstance(value, np.ndarray):
        return value
    refuse_masked(value)
    return np.asarray(value)
