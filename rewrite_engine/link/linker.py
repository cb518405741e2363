"""`Linker`: a way of running graphs, and the registry of linkers by name.

A linker declares the phases of rewriting for its graphs, and makes a function of a graph's values.
The shell (`shell.py`) handles arguments, cells, updates, results and the texts of errors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rewrite_engine import hooks
from rewrite_engine.errors import (
    ForeignObjectError,
    UnknownNameError,
    UntraceableError,
    describe,
    message,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import HasInnerGraph, inner_ops
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.code import Body, Code
from rewrite_engine.link.names import Names
from rewrite_engine.link.perform import runner
from rewrite_engine.link.plan import Storages, schedule
from rewrite_engine.link.program import Argument, Cell, Linked, Program
from rewrite_engine.link.shell import Shell

if TYPE_CHECKING:
    from rewrite_engine.link.ticks import Ticks


class Linker:
    """Way of running graphs. A subclass has a `name` and defines `compile`.

    phases: the phases of `pipeline/phases.py` for its graphs (a mode can include others). Without
    "inplace", no op overwrites an input unless the user built it so. includes: phases on request
    that its graphs need. reference: use `perform` even
    for nodes with native code. profile: function that returns the record of `ticks`.
    """

    name = ""
    phases: tuple[str, ...] = (
        "merge", "inner", "canonicalize", "loops", "stabilize", "specialize", "factorize",
    )  # fmt: skip
    includes: tuple[str, ...] = ()
    reference = False
    profile: Callable[[FunctionGraph, Sequence[Apply]], Ticks] | None = None
    own: dict[Any, dict[Linker, Linked]]  # of one that is profiled, for `kept`

    def watching(self, optimizer: Any) -> Any:
        """Return the object that rewrites the linker's graphs in place of an optimizer: the
        optimizer, or one that records its work.
        """
        return optimizer

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        """Return a function of the values of the graph's inputs that returns one value for each of
        its outputs.

        Several threads may call it. It must overwrite nothing, and its results may share the memory
        of inputs, of constants and of each other only where ops declare it (`schedule` gives a safe
        order). If a node raises an error, call `failed(error, node, values)` to record it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define compile")

    def refuses(self, node: Apply) -> str | None:
        """Return why the linker cannot run a node; None if it can. For linkers that know it before
        the first call: `check` raises the error when a function is made.
        """

    def check(self, fgraph: FunctionGraph) -> None:
        """Raise `UntraceableError` for a node that the linker refuses."""
        if type(self).refuses is Linker.refuses:
            return
        for node in fgraph.toposort():
            why = self.refuses(node)
            if why is not None:
                what = f"the linker {self.name!r} cannot run this: {why}"
                text = message(what, op=node.op, inputs=node.inputs, where=node.where())
                raise UntraceableError(text)

    def told(self, nodes: Sequence[Apply]) -> str:
        """Return a remark for `explain` on how these linked nodes run; "" for none."""
        return ""

    def settle(self) -> None:
        """Wait until functions run the code that they will keep, where better code follows the
        first.
        """

    def profiled(self, profile: Callable[[FunctionGraph, Sequence[Apply]], Ticks]) -> Linker:
        """Return this linker with another `profile`."""
        new = copy(self)
        new.profile, new.own = profile, {}
        return new

    def ticks(self, fgraph: FunctionGraph, nodes: Sequence[Apply]) -> Ticks | None:
        """Return the record for the times of nodes, in running order; None if they are not
        profiled. (A linker that ignores it does not time nodes.)
        """
        return None if self.profile is None else self.profile(fgraph, nodes)

    def runner(self, node: Apply) -> Callable[..., Any]:
        """Return a function of the values of a node's inputs: the output's value, or several of
        them. It runs the op's `perform`, or its own thunk; an op that runs a graph gets the
        function of that graph from this linker.
        """
        op = node.op
        if not isinstance(op, HasInnerGraph) or op.runs is None:
            return runner(node, self.reference)
        if op.mode is not None:
            return hooks.compiled_apart(node)  # type: ignore[no-any-return]
        return op.runs(node, self.body(op))

    def body(self, op: Any) -> Callable[..., Any]:
        """Return the function that `linked_body` makes for an op, made once. The ops inside are
        linked first, one after the other.
        """
        if self not in self.kept(op):
            for one in inner_ops([op]):
                if one.runs is not None and one.mode is None and self not in self.kept(one):
                    self.kept(one)[self] = self.linked_body(one)
        return self.kept(op)[self].call

    def kept(self, op: Any) -> dict[Linker, Linked]:
        """Return the cache for functions of the graph inside an op: on the op, for general use; for
        profiled ones on their linker, of which there is one for each function.
        """
        return bodies(op) if self.profile is None else self.own.setdefault(op, {})

    def linked_body(self, op: Any) -> Linked:
        """Return the function of the graph inside an op: from the values of its inputs to the
        output's value, or a list of several.
        """
        return self.link(whole(op), trust=True)

    def code(self, fgraph: FunctionGraph, borrowed: Collection[Variable]) -> Code:
        """Prepare the graph, for linkers that write text of their own. borrowed: the inputs whose
        memory results may share.
        """
        self.check(fgraph)
        return Compiled(fgraph, borrowed, self.compile(fgraph))

    def link(self, program: Program, *, trust: bool = False) -> Linked:
        """Return the function of a program. trust: arguments are of the right types, and are not
        checked.
        """
        return Shell(program, self.code_of(program), trust).link()

    def code_of(self, program: Program) -> Code:
        """Prepare the graph of a program."""
        sources = zip(program.fgraph.inputs, program.inputs, strict=True)
        borrowed = {v for v, source in sources if isinstance(source, Cell) or source.borrow}
        return self.code(program.fgraph, borrowed)


def bodies(op: Any) -> dict[Linker, Linked]:
    """Return the functions that linkers made of the graph inside an op."""
    return op.__dict__.setdefault("_bodies", {})  # type: ignore[no-any-return]


def whole(op: Any) -> Program:
    """Return the program that computes the graph inside an op."""
    graph = op.fgraph
    away = [i in op.given_away for i in range(len(graph.inputs))]
    arguments = tuple(
        [Argument(v.type, v.name, mutable=m, borrow=m) for v, m in zip(graph.inputs, away)]
    )
    n = len(graph.outputs)
    return Program(graph, arguments, str(op), n, "single" if n == 1 else "list")


class Compiled(Code):
    """Graph that a Python function computes."""

    def __init__(
        self,
        fgraph: FunctionGraph,
        borrowed: Collection[Variable],
        run: Callable[..., Sequence[Any]],
    ) -> None:
        super().__init__(fgraph.inputs, fgraph.outputs, Storages(schedule(fgraph), borrowed))
        self.run = run

    def body(self, names: Names, places: dict[Variable, str], large: bool) -> Body:
        body = Body(names, places)
        body.warns = True
        chunk = body.chunks[0]
        registers = [body.register() for _ in self.outputs]
        body.place.update(zip(self.outputs, registers, strict=True))
        body.form.update((v, "any") for v in self.outputs)
        if registers:
            given = ", ".join([places[v] for v in self.inputs])
            chunk.lines.append(f"{', '.join(registers)}, = {names.add(self.run, 'run')}({given})")
            chunk.about.append(None)
        return body


#: the linkers by name, or the module that has one as `LINKER`, imported when it is asked for
LINKERS: dict[str, Linker | str] = {
    "vm": "rewrite_engine.link.vm",
    "py": "rewrite_engine.link.py",
    "c": "rewrite_engine.link.c.linker",
    "native": "rewrite_engine.link.native",
    "jax": "rewrite_engine.link.jax",
    "nanguardmode": "rewrite_engine.link.watch",
    "debugmode": "rewrite_engine.link.debug",
}


@cache
def has_llvmlite() -> bool:
    """Return whether llvmlite is installed, which the linker "native" needs."""
    try:
        return find_spec("llvmlite") is not None
    except ImportError:  # a finder may also reject it by an error
        return False


def register_linker(linker: Linker) -> Linker:
    """Let `Mode(linker=name)` find a linker; it replaces one of the same name.

    Raises `ForeignObjectError` for an object that is not a linker, or has no name.
    """
    if not isinstance(linker, Linker) or not linker.name:
        raise ForeignObjectError(f"expected a Linker with a name, got {describe(linker)}")
    LINKERS[linker.name.casefold()] = linker
    return linker


def get_linker(name: str | Linker) -> Linker:
    """Return the linker with a name (a linker is returned unchanged). Raises `UnknownNameError`."""
    if isinstance(name, Linker):
        return name
    found = LINKERS.get(name)
    if found is None:
        raise UnknownNameError(f"no linker is called {name!r}; use one of {', '.join(LINKERS)}")
    if isinstance(found, str):
        found = LINKERS[name] = import_module(found).LINKER
    return found  # type: ignore[return-value]
