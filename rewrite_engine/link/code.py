"""What a linker makes of a graph, as the shell that surrounds it sees it (`shell.py`).

`Code` knows the nodes in running order, and who shares memory with whom: by that the shell decides
what may leave the function as it is, and what has to be copied. `Body` is the text between the
reads of the arguments and the stores of the results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.link.names import Names, register_prefix

if TYPE_CHECKING:
    from rewrite_engine.link.ticks import Ticks


@dataclass(slots=True)
class Storage:
    """Memory that some variables show. ours: allocated by this call. lent: whoever has it agreed
    that results may show it. last: the position of the last node that reads it.
    """

    ours: bool
    lent: bool = False
    last: int = -1
    parent: Storage | None = None
    slot: int | None = None  # a kept buffer, by its place in the workspace

    def root(self) -> Storage:
        found = self
        while found.parent is not None:
            if found.parent.parent is not None:
                found.parent = found.parent.parent
            found = found.parent
        return found


@dataclass(slots=True)
class Block:
    """Consecutive lines. about: for each line the node's position and the names its inputs have
    there. reads, takes, leaves: what it uses of the arguments, and of the registers that earlier
    blocks left; the registers it leaves to later ones. A block knows of those that it uses, not of
    all that are alive, so that the text of many blocks grows with the graph."""

    lines: list[str] = field(default_factory=list)
    about: list[tuple[int, tuple[str, ...]] | None] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    takes: list[str] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)


class Body:
    """The text that computes the outputs of a graph.

    blocks: its lines, in parts if there are many. place: where the variables alive at this point
    are. form: of 0-d values "array", or what may be a NumPy scalar. opening, closing: lines before
    and after. carried: names that all parts see. warns: whether floating-point flags may be set.
    """

    opening: Sequence[str] = ()
    closing: Sequence[str] = ()
    carried: Sequence[str] = ()
    warns = False

    def __init__(self, names: Names, places: dict[Variable, str]) -> None:
        self.names = names
        self.place = dict(places)
        self.prefix = register_prefix(places.values())
        self.form: dict[Variable, str] = {}
        self.free: dict[str, None] = {}  # registers nobody uses, the latest last
        self.registers: set[str] = set()
        self.arguments = frozenset(places.values())
        self.left: set[str] = set()  # registers that blocks left and none has taken yet
        self.blocks = [Block()]

    def register(self) -> str:
        """Return a register that nobody uses."""
        if self.free:
            return self.free.popitem()[0]
        name = f"{self.prefix}{len(self.registers)}"
        self.registers.add(name)
        return name

    def refer(self, v: Variable) -> str:
        """The expression for a variable: a register, a parameter, or a constant's global name."""
        found = self.place.get(v)
        if found is None:
            assert isinstance(v, Constant), v  # whatever else is alive has a place
            return self.names.add(v.data, v.name or "c")
        return found


class Code:
    """A graph that is ready to run; a linker defines `body`. lent: the inputs of which results may
    show the memory. scalars: inputs that come as NumPy scalars. ticks: where nodes leave their
    times.
    """

    scalars: Collection[Variable] = ()
    ticks: Ticks | None = None

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        nodes: Sequence[Apply],
        lent: Collection[Variable] = (),
    ) -> None:
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.nodes = nodes
        self.lent = lent
        self.storages: dict[Variable, Storage] = {}

    def body(self, names: Names, places: dict[Variable, str], large: bool) -> Body:
        """The text that computes the outputs. places: the names of the inputs. large: for the
        second function (see `large_if`).
        """
        raise NotImplementedError

    def large_if(self, places: dict[Variable, str]) -> str:
        """A condition under which a second function, written when it is needed first, takes over;
        "" if there is none.
        """
        return ""

    def free(self) -> None:
        """Drop what is kept between calls."""

    # --- who shares memory --------------------------------------------------------------------

    def storage(self, v: Variable) -> Storage:
        """The storage of a variable; a root's is not ours."""
        found = self.storages.get(v)
        if found is None:
            found = self.storages[v] = Storage(ours=False, lent=v in self.lent)
        return found if found.parent is None else found.root()

    def find_storages(self, copies: Collection[Apply] = ()) -> None:
        """Follow memory through the nodes. copies: those that copy what they could show."""
        storages = self.storages
        showing: dict[object, list[tuple[int, ...]]] = {}  # by op, for each output
        for node in self.nodes:
            op = node.op
            if not (op.view_map or op.destroy_map) or node in copies:
                for out in node.outputs:
                    storages[out] = Storage(True)
                continue
            found = showing.get(op)
            if found is None:
                found = showing[op] = [tuple(shown(node, i)) for i in range(len(node.outputs))]
            for out, places in zip(node.outputs, found, strict=True):
                storages[out] = self.storage(node.inputs[places[0]]) if places else Storage(True)
                for k in places[1:]:
                    self.join(out, node.inputs[k])

    def join(self, a: Variable, b: Variable) -> None:
        """Note that two variables show the same memory."""
        x, y = self.storage(a), self.storage(b)
        if x is not y:
            x.parent = y
            y.lent = (y.ours or y.lent) and (x.ours or x.lent)
            y.ours = y.ours and x.ours
            y.last = max(x.last, y.last)

    def destroyed(self) -> set[int]:
        """The storages (by `id`) that a node overwrites because its op says so."""
        return {
            id(self.storage(node.inputs[i]))
            for node in self.nodes
            if node.op.destroy_map
            for i in node.op.destroys
        }


def shown(node: Apply, i: int) -> Iterable[int]:
    """The inputs whose memory output `i` may show."""
    op = node.op
    return {*op.view_map.get(i, ()), *op.destroy_map.get(i, ())}
