"""`Function`: what `function` returns. Calling it runs generated code directly; it can be copied
and pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import Signature, signature
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from rewrite_engine import hooks
from rewrite_engine.compile.checks import Checks
from rewrite_engine.compile.mode import Mode
from rewrite_engine.config import config
from rewrite_engine.errors import (
    InputError,
    NoSuchInputError,
    OptionError,
    UpdateTypeError,
    describe,
    did_you_mean,
    plural,
)
from rewrite_engine.graph.display import Displayed
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.link.linker import get_linker
from rewrite_engine.link.program import MISSING, Argument, Asked, Cell, Linked, Program, plain

if TYPE_CHECKING:
    from rewrite_engine.compile.function import WrittenGraph
    from rewrite_engine.compile.profiling import ProfileStats


class Function(Displayed, partial):  # type: ignore[type-arg]
    """A compiled function.

    Arguments are taken by position or by the names of the variables. It may be called from
    several threads at once. A call that fails leaves the shared variables as they were. It is a
    `partial`, because that is the cheapest object in Python that can be called and carry
    attributes.

    fgraph: the rewritten graph. name. mode. program: what was linked. profile: a `ProfileStats`, or
    None. written: the graph as the program wrote it, for `explain`; None of a function that was
    unpickled.
    """

    program: Program
    mode: Mode
    name: str | None
    profile: ProfileStats | None
    written: WrittenGraph | None
    _linked: Linked
    _trust: bool
    _checks: Checks | None

    def __new__(
        cls,
        program: Program,
        mode: Mode,
        name: str | None = None,
        trust: bool = False,
        checks: Checks | None = None,
        profile: ProfileStats | None = None,
    ) -> Function:
        linker = get_linker(mode.linker)
        start = perf_counter()
        if profile is not None:
            linker = linker.profiled(profile.ticks)
        linked = linker.link(program, trust=trust)
        call = linked.call if checks is None else checks.before(linked.call)
        if profile is not None:
            call = profile.around(call)
            profile.linked(perf_counter() - start)
        self = super().__new__(cls, call)
        self._checks = checks
        self.program = program
        self.mode = mode
        self.name = name
        self.profile = profile
        self.written = None
        self._linked = linked
        self._trust = trust
        return self

    # --- looking ------------------------------------------------------------------------------

    @property
    def fgraph(self) -> FunctionGraph:
        """The rewritten graph."""
        return self.program.fgraph

    @property
    def maker(self) -> Maker:
        """What it was made of: `f.maker.fgraph` is how older code writes `f.fgraph`."""
        states = {v.container: v for v in self.program.shared}
        pairs = zip(self.program.inputs, self.fgraph.inputs, strict=True)
        inputs = [Input(states.get(a, v), a.name) for a, v in pairs]
        return Maker(self.fgraph, inputs, self.outputs, self.mode, get_linker(self.mode.linker))

    @property
    def source(self) -> str:
        """The text of the generated code."""
        return self._linked.source

    @property
    def __signature__(self) -> Signature:
        """The arguments by name, as `inspect.signature` and consoles ask for them."""
        return signature(self._linked.python or self._linked.call)

    @property
    def inputs(self) -> list[Argument]:
        """The arguments: type, name, default, …"""
        return [a for a in self.program.inputs if isinstance(a, Argument)]

    @property
    def outputs(self) -> list[Variable]:
        """The results' variables in the rewritten graph."""
        return self.fgraph.outputs[: self.program.n_results]

    @property
    def nodes(self) -> list[Any]:
        """The nodes in the order in which they run."""
        return self._linked.nodes

    def get_shared(self) -> list[Any]:
        """The shared variables that the function reads or writes."""
        return list(self.program.shared)

    @property
    def input_storage(self) -> list[Cell]:
        """Per input, states included, the cell with its value: that of a shared variable, or an
        argument's default. (An argument without one has a cell that nobody reads.)
        """
        inputs = self.program.inputs
        return [
            a if isinstance(a, Cell) else a.default or Cell(a.type, None, a.name) for a in inputs
        ]

    @property
    def output_storage(self) -> list[Cell]:
        """Per output of the graph a cell: that of what is updated; of results, which are not kept,
        one that nobody reads or writes.
        """
        results = [Cell(v.type, None, v.name) for v in self.outputs]
        return [*results, *[cell for _, cell in self.program.updates]]

    @property
    def storage_map(self) -> dict[Variable, list[Any]]:
        """Of the inputs that have a value between calls, states and defaults, that value in a list:
        what `dprint(f, print_storage=True)` shows. (What nodes compute is not kept.)
        """
        cells = zip(self.fgraph.inputs, self.input_storage, strict=True)
        return {v: [cell.value] for v, cell in cells if cell.value is not None}

    @property
    def unpack_single(self) -> bool:
        """Whether a single result is returned as it is, not in a list."""
        return self.program.packing == "single"

    @property
    def return_none(self) -> bool:
        """Whether there are no results."""
        return self.program.packing == "none"

    @property
    def vm(self) -> Linked:
        """What runs: its `nodes`, in their order, and its `source`."""
        return self._linked

    def dprint(self, **options: Any) -> Any:
        """Print the rewritten graph as a tree; options as of `dprint`."""
        return hooks.dprint(self, **options)

    def __repr__(self) -> str:
        names = ", ".join(a.name or str(a.type) for a in self.inputs)
        called = f"{self.program.name}({names}), {plural(len(self.fgraph), 'node')}"
        return f"<Function {called}: {hooks.short(self.fgraph.outputs)}>"

    # --- changing -----------------------------------------------------------------------------

    def __getitem__(self, item: Any) -> Any:
        """Return the value that an input has between calls, its default or that of a shared
        variable: `f[x]`, `f["x"]`. Raises `NoSuchInputError` for an input that has none.
        """
        value = self._cell(item)[1].value
        if value is MISSING:
            raise NoSuchInputError(f"{self.program.name}: the input {item!r} has no value so far")
        return value

    def __setitem__(self, item: Any, value: Any) -> None:
        """Give an input another value for the calls to come. Raises `NoSuchInputError`, and what
        the type of the input raises.
        """
        argument, cell = self._cell(item)
        strict, downcast = argument.strict, argument.allow_downcast
        converted = plain(cell.type.filter(value, strict=strict, allow_downcast=downcast))
        if converted is value and hasattr(value, "copy") and not getattr(argument, "borrow", False):
            converted = value.copy()
        cell.value = converted

    def _cell(self, item: Any) -> tuple[Argument | Cell, Cell]:
        """An input, by its variable or name, and where its value is kept. Raises
        `NoSuchInputError`.
        """
        item = getattr(item, "variable", item)  # (of an `In`)
        pairs = zip(self.program.inputs, self.program.variables, strict=True)
        if isinstance(item, str):
            found = [a for a, _ in pairs if a.name == item]
        else:
            found = [a for a, v in pairs if v is item or getattr(item, "container", None) is a]
        if len(found) != 1:
            names = [a.name for a in self.program.inputs if a.name]
            what = "several inputs are called" if found else "there is no input"
            hint = "" if found or not isinstance(item, str) else did_you_mean(item, names)
            raise NoSuchInputError(f"{self.program.name}: {what} {item!r}{hint}")
        cell = found[0] if isinstance(found[0], Cell) else found[0].default
        if cell is None:
            what = (
                f"the input {item!r} has no value between calls; In({item}, value=…) gives it one"
            )
            raise NoSuchInputError(f"{self.program.name}: {what}")
        return found[0], cell

    @property
    def trust_input(self) -> bool:
        """Whether arguments are taken as they are. Set it to True only where all are arrays of
        the right types.
        """
        return self._trust

    @trust_input.setter
    def trust_input(self, value: bool) -> None:
        if bool(value) == self._trust:
            return
        new = Function(self.program, self.mode, self.name, bool(value), self._checks, self.profile)
        new.written = self.written
        partial.__setstate__(self, (new.func, (), {}, new.__dict__))  # type: ignore[attr-defined]

    def free(self) -> None:
        """Drop the buffers that are kept between calls."""
        self._linked.free()

    # --- copying ------------------------------------------------------------------------------

    def copy(
        self,
        share_memory: bool = False,
        swap: Mapping[Any, Any] | None = None,
        delete_updates: bool = False,
        name: str | None = None,
        profile: Any = None,
    ) -> Function:
        """Return another function of the same graph.

        swap: {shared variable: shared variable to use instead}, of the same types
        (`UpdateTypeError`). delete_updates: leave out the updates. Shared variables that are not
        swapped are the same for both. share_memory: whether both may compute in the same memory,
        which they never do. profile: as of `function`; a function that is profiled has copies that
        are, with counts of their own.
        """
        program = with_states(self.program, swap or {})
        if delete_updates:
            program = program._replace(updates=())
        outputs = list(range(program.n_results)) + [i for i, _ in program.updates]
        fgraph = program.fgraph.clone()
        if delete_updates:
            features = [feature.clone() for feature in fgraph.features]
            results = [fgraph.outputs[i] for i in outputs]
            fgraph = FunctionGraph(fgraph.inputs, results, features, clone=False)
        new = program._replace(fgraph=fgraph, name=name or program.name)
        checks = None if self._checks is None else self._checks.copy(swap or {})
        if profile is None and self.profile is not None:
            profile = self.profile.message or True
        stats = profile_of(profile, name or self.name)
        made = Function(new, self.mode, name or self.name, self._trust, checks, stats)
        if self.written is not None:
            made.written = self.written.copy(swap or {}, delete_updates, name)
        return made

    def __copy__(self) -> Function:
        return self.copy()

    def __reduce__(self) -> Any:
        # (unpickled by calling it: the graph was kept, the code is made again)
        parts = (self.program, self.mode, self.name, self._trust, self._checks)
        return Function, parts if self.profile is None else (*parts, self.profile)


def with_states(program: Program, swap: Mapping[Any, Any]) -> Program:
    """Return a program with other shared variables in the place of some (see `Function.copy`)."""
    cells = _swapped(program, swap)
    return program._replace(
        inputs=tuple([_with_cell(a, cells) for a in program.inputs]),
        updates=tuple([(i, cells.get(c, c)) for i, c in program.updates]),
        shared=tuple([swap.get(v, v) for v in program.shared]),
        asked=tuple([Asked(swap.get(v, v)) for v in program.variables]),
    )


def _with_cell(a: Argument | Cell, cells: dict[Cell, Cell]) -> Argument | Cell:
    if isinstance(a, Cell):
        return cells.get(a, a)
    if a.default is not None and a.default in cells:
        return a._replace(default=cells[a.default])
    return a


def _swapped(program: Program, swap: Mapping[Any, Any]) -> dict[Cell, Cell]:
    """Read `swap` as {cell: cell}."""
    own = {c for c in program.inputs if isinstance(c, Cell)} | {c for _, c in program.updates}
    cells: dict[Cell, Cell] = {}
    for old, new in swap.items():
        if getattr(old, "container", None) not in own:
            raise InputError(f"{old!r} is not a shared variable of the function {program.name!r}")
        if not hasattr(new, "container"):
            raise InputError(
                f"{new!r} is not a shared variable: it cannot take the place of {old!r}"
            )
        if old.type != new.type:
            raise UpdateTypeError(
                f"cannot swap {old!r} of type {old.type} for {new!r} of type {new.type}"
            )
        cells[old.container] = new.container
    return cells


def profile_of(asked: Any, name: str | None) -> ProfileStats | None:
    """What `function` and `copy` are asked for as `profile`. Raises `OptionError`."""
    asked = config.profile if asked is None else asked
    if asked is False:
        return None
    from rewrite_engine.compile.profiling import ProfileStats  # (few functions are profiled)

    if isinstance(asked, ProfileStats):
        return asked
    if asked is not True and not isinstance(asked, str):
        what = "profile is True, False, a text or a ProfileStats"
        raise OptionError(f"{what}, not {describe(asked)}")
    return ProfileStats(message=name if asked is True else asked)


class Input(NamedTuple):
    """An input of a function. variable: a shared variable itself; of an argument, the variable in
    the rewritten graph.
    """

    variable: Variable
    name: str | None


class Maker(NamedTuple):
    """What a function was made of, as programs written for PyTensor look at it."""

    fgraph: FunctionGraph
    inputs: list[Input]
    outputs: list[Variable]
    mode: Mode
    linker: Any


Observer = Callable[[Function, FunctionGraph | None, Any, dict[str, float]], None]
