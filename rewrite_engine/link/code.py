"""A linker's result for a graph, as the surrounding shell sees it (`shell.py`).

`Code` knows the nodes in running order, and which variables share memory (`link/plan/storage.py`):
the shell uses this to decide which values may leave the function directly, and which must be
copied. `Body` is the text between the reads of the arguments and the stores of the results.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.link.names import Names, register_prefix
from rewrite_engine.link.plan import Storages

if TYPE_CHECKING:
    from rewrite_engine.link.ticks import Ticks


@dataclass(slots=True)
class Chunk:
    """Consecutive lines. about: for each line the node's position and the names of its inputs
    there. reads, takes, leaves: the arguments it reads, the registers from earlier chunks that it
    reads, and the registers it leaves to later ones. A chunk lists only those that it uses, not all
    that are alive, so that the text of many chunks grows with the graph.
    """

    lines: list[str] = field(default_factory=list)
    about: list[tuple[int, tuple[str, ...]] | None] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    takes: list[str] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)


class Body:
    """Text that computes the outputs of a graph.

    chunks: its lines, in parts if there are many. given: the names of the inputs; place: the names
    of the variables alive at this point. form: for 0-d values "array", or the form that may be a
    NumPy scalar. opening, closing: lines before and after. carried: names that all parts see.
    warns: whether floating-point flags may be set.
    """

    opening: Sequence[str] = ()
    closing: Sequence[str] = ()
    carried: Sequence[str] = ()
    warns = False

    def __init__(self, names: Names, places: dict[Variable, str]) -> None:
        self.names = names
        self.place = dict(places)
        self.given = places
        self.made: dict[int, str] = {}  # where each node's outputs are, behind its lines
        self.prefix = register_prefix(places.values())
        self.form: dict[Variable, str] = {}
        self.free: dict[str, None] = {}  # registers nobody uses, the latest last
        self.registers: set[str] = set()
        self.arguments = frozenset(places.values())
        self.left: set[str] = set()  # registers that chunks left and none has taken yet
        self.chunks = [Chunk()]

    def register(self) -> str:
        """Return an unused register."""
        if self.free:
            return self.free.popitem()[0]
        name = f"{self.prefix}{len(self.registers)}"
        self.registers.add(name)
        return name

    def refer(self, v: Variable) -> str:
        """Return the expression for a variable: a register, a parameter, or a constant's global
        name.
        """
        found = self.place.get(v)
        if found is None:
            assert isinstance(v, Constant), v  # whatever else is alive has a place
            return self.names.add(v.data, v.name or "c")
        return found


class Code:
    """Graph that is ready to run; a linker defines `body`. scalars: inputs that arrive as NumPy
    scalars. ticks: the record for the times of nodes. state: the attribute of a cell that is read
    and written.
    """

    scalars: Collection[Variable] = ()
    ticks: Ticks | None = None
    state: Literal["value", "held"] = "value"

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], storages: Storages
    ) -> None:
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.nodes, self.storages = storages.nodes, storages

    def body(self, names: Names, places: dict[Variable, str], large: bool) -> Body:
        """Return the text that computes the outputs. places: the names of the inputs. large: for
        the second function (see `large_if`).
        """
        raise NotImplementedError

    def large_if(self, places: dict[Variable, str]) -> str:
        """Return a condition under which a second function, written on first use, takes over; "" if
        there is none.
        """
        return ""

    def free(self) -> None:
        """Release the memory kept between calls."""
