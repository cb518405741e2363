"""`Function`: the callable that `function` returns. A call runs generated code directly; a function
can be copied and pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from inspect import Signature, signature
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from rewrite_engine import hooks
from rewrite_engine.compile import pickle_cache
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

R = TypeVar("R")  # what a call returns


class Function(Displayed, partial[R]):
    """Callable that runs a compiled graph.

    Pass arguments by position or by the names of the variables. Several threads may call it at
    once. A call that fails leaves the shared variables unchanged. The class derives from `partial`,
    the cheapest Python object that can be called and carry attributes.

    Attributes: `fgraph`, the rewritten graph; `name`; `mode`; `program`, the linked program;
    `profile`, a `ProfileStats` or None; `written`, the graph as the user built it, which `explain`
    uses (None after unpickling).
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
    ) -> Self:
        linker = get_linker(mode.linker)
        start = perf_counter()
        if profile is not None:
            linker = linker.profiled(profile.ticks)
        linked = linker.link(program, trust=trust)
        if mode.wait:
            linker.settle()
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
        """Rewritten graph of the function."""
        return self.program.fgraph

    @property
    def maker(self) -> Maker:
        """Parts that the function was made of. Older code writes `f.maker.fgraph` for
        `f.fgraph`.
        """
        states = {v.container: v for v in self.program.shared}
        pairs = zip(self.program.inputs, self.fgraph.inputs, strict=True)
        inputs = [Input(states.get(a, v), a.name) for a, v in pairs]
        return Maker(self.fgraph, inputs, self.outputs, self.mode, get_linker(self.mode.linker))

    @property
    def source(self) -> str:
        """Text of the generated code."""
        return self._linked.source

    @property
    def __signature__(self) -> Signature:
        """Signature of the arguments by name, for `inspect.signature` and consoles."""
        return signature(self._linked.python or self._linked.call)

    @property
    def inputs(self) -> list[Argument]:
        """Arguments of the function, each with its type, name and default."""
        return [a for a in self.program.inputs if isinstance(a, Argument)]

    @property
    def outputs(self) -> list[Variable]:
        """Variables of the results in the rewritten graph."""
        return self.fgraph.outputs[: self.program.n_results]

    @property
    def nodes(self) -> list[Any]:
        """Nodes of the rewritten graph, in the order in which they run."""
        return self._linked.nodes

    def get_shared(self) -> list[Any]:
        """Return the shared variables that the function reads or writes."""
        return list(self.program.shared)

    @property
    def input_storage(self) -> list[Cell]:
        """Cell with the value of each input, states included: the value of a shared variable, or
        the default of an argument. The cell of an argument without a default is never read.
        """
        inputs = self.program.inputs
        return [
            a if isinstance(a, Cell) else a.default or Cell(a.type, None, a.name) for a in inputs
        ]

    @property
    def output_storage(self) -> list[Cell]:
        """Cell of each output of the graph: the updated cell of a state. Results are not stored
        between calls, so their cells are never read or written.
        """
        results = [Cell(v.type, None, v.name) for v in self.outputs]
        return [*results, *[cell for _, cell in self.program.updates]]

    @property
    def storage_map(self) -> dict[Variable, list[Any]]:
        """Values that inputs have between calls (states and defaults), each in a list, as
        `dprint(f, print_storage=True)` shows them. Values computed by nodes are not stored.
        """
        cells = zip(self.fgraph.inputs, self.input_storage, strict=True)
        return {v: [cell.value] for v, cell in cells if cell.value is not None}

    @property
    def unpack_single(self) -> bool:
        """True if the function returns a single result directly, not in a list."""
        return self.program.packing == "single"

    @property
    def return_none(self) -> bool:
        """True if the function has no results."""
        return self.program.packing == "none"

    @property
    def vm(self) -> Linked:
        """Linked code of the function, with its `nodes` in order and its `source`."""
        return self._linked

    def dprint(self, **options: Any) -> Any:
        """Print the rewritten graph as a tree. Takes the options of `dprint`."""
        return hooks.dprint(self, **options)

    def __repr__(self) -> str:
        names = ", ".join(a.name or str(a.type) for a in self.inputs)
        called = f"{self.program.name}({names}), {plural(len(self.fgraph), 'node')}"
        return f"<Function {called}: {hooks.short(self.fgraph.outputs)}>"

    # --- changing -----------------------------------------------------------------------------

    def __getitem__(self, item: Any) -> Any:
        """Return the value that an input has between calls, its default or the value of a shared
        variable: `f[x]`, `f["x"]`. Raises `NoSuchInputError` for an input without such a value.
        """
        value = self._cell(item)[1].value
        if value is MISSING:
            raise NoSuchInputError(f"{self.program.name}: the input {item!r} has no value yet")
        return value

    def __setitem__(self, item: Any, value: Any) -> None:
        """Set the value of an input for future calls. Raises `NoSuchInputError`, and the errors of
        the input's type for an unsuitable value.
        """
        argument, cell = self._cell(item)
        strict, downcast = argument.strict, argument.allow_downcast
        converted = plain(cell.type.filter(value, strict=strict, allow_downcast=downcast))
        if converted is value and hasattr(value, "copy") and not getattr(argument, "borrow", False):
            converted = value.copy()
        cell.value = converted

    def _cell(self, item: Any) -> tuple[Argument | Cell, Cell]:
        """Return the input with this variable or name, and the cell of its value. Raises
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
        """True if arguments are used without conversion or checks. Set it to True only if all
        arguments are arrays of the right types.
        """
        return self._trust

    @trust_input.setter
    def trust_input(self, value: bool) -> None:
        if bool(value) == self._trust:
            return
        mode, name, checks = self.mode, self.name, self._checks
        new: Any = Function(self.program, mode, name, bool(value), checks, self.profile)
        new.written = self.written
        partial.__setstate__(self, (new.func, (), {}, new.__dict__))  # type: ignore[attr-defined]

    def free(self) -> None:
        """Release the buffers that the function keeps between calls."""
        self._linked.free()

    # --- copying ------------------------------------------------------------------------------

    def copy(
        self,
        share_memory: bool = False,
        swap: Mapping[Any, Any] | None = None,
        delete_updates: bool = False,
        name: str | None = None,
        profile: Any = None,
    ) -> Function[R]:
        """Return another function of the same graph.

        swap: {shared variable: replacement}, of the same types (`UpdateTypeError`). delete_updates:
        leave out the updates. Both functions use the same shared variables, except swapped ones.
        share_memory: accepted for compatibility; the functions never compute in the same memory.
        profile: as for `function`; copies of a profiled function are profiled too, with counts of
        their own.
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
        made: Function[R] = Function(new, self.mode, name or self.name, self._trust, checks, stats)
        if self.written is not None:
            made.written = self.written.copy(swap or {}, delete_updates, name)
        return made

    def __copy__(self) -> Function[R]:
        return self.copy()

    def _parts(self) -> tuple[Any, ...]:
        parts = (self.program, self.mode, self.name, self._trust, self._checks)
        return parts if self.profile is None else (*parts, self.profile)

    def __reduce__(self) -> Any:
        """Return how the function is made again from its graph. A function without state is found
        again in a process that has unpickled it before (`pickle_cache.py`).
        """
        parts = self._parts()
        has_state = self.profile is not None or any([_has_cell(a) for a in self.program.inputs])
        return (Function, parts) if has_state else pickle_cache.reduce_function(Function, parts)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(*deepcopy(self._parts(), memo))


def _has_cell(source: Argument | Cell) -> bool:
    return isinstance(source, Cell) or source.default is not None


def with_states(program: Program, swap: Mapping[Any, Any]) -> Program:
    """Return a program in which other shared variables replace some (see `Function.copy`)."""
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
    """Convert `swap` to {cell: cell}."""
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
    """Return the `ProfileStats` for the `profile` argument of `function` or `copy`; None to count
    nothing. Raises `OptionError`.
    """
    asked = config.profile if asked is None else asked
    if asked is False:
        return None
    from rewrite_engine.compile.profiling import ProfileStats  # (few functions are profiled)

    if isinstance(asked, ProfileStats):
        return asked
    if asked is not True and not isinstance(asked, str):
        what = "profile must be True, False, a text or a ProfileStats"
        raise OptionError(f"{what}, not {describe(asked)}")
    return ProfileStats(message=name if asked is True else asked)


class Input(NamedTuple):
    """Input of a function. variable: the shared variable itself, or the variable of an argument in
    the rewritten graph.
    """

    variable: Variable
    name: str | None


class Maker(NamedTuple):
    """Parts that a function was made of, as programs written for PyTensor read them."""

    fgraph: FunctionGraph
    inputs: list[Input]
    outputs: list[Variable]
    mode: Mode
    linker: Any


Observer = Callable[[Function, FunctionGraph | None, Any, dict[str, float]], None]
