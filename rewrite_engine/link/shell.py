"""Shell: from a `Program` to one generated Python function, around the body that a linker writes.

The text is: parts of the body if it is long; then the function itself, with the user's parameter
names, inline checks of the arguments, one read of every state, the body in one `try`, and the new
states stored by consecutive statements without a call in between, so that all of them are stored or
none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import deepcopy
from threading import Lock
from types import FunctionType
from typing import Any

import numpy as np

from rewrite_engine.fork import free_after_fork
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.link.arguments import accept, own, refusal, unknown_argument
from rewrite_engine.link.code import Chunk, Code
from rewrite_engine.link.failure import ErrorReporter
from rewrite_engine.link.names import Names, identifier, parameter_names
from rewrite_engine.link.program import MISSING, Argument, Cell, Linked, Program
from rewrite_engine.link.quiet import QUIET, enter, leave, undo
from rewrite_engine.link.source import define, file_name, publish
from rewrite_engine.scalar.type import ScalarType

_LOCALS = ("_live", "_workspace", "_token", "_error", "_tick", "_named")
_FREE_THREADED = not getattr(sys, "_is_gil_enabled", lambda: True)()
_state_lock = free_after_fork(Lock())


class Text:
    """Lines of text with the node that each belongs to."""

    def __init__(self, report: ErrorReporter) -> None:
        self.lines: list[str] = []
        self.about = report.about

    def add(self, lines: Sequence[str], depth: int, about: Sequence[Any] | None = None) -> None:
        space = "    " * depth
        self.lines += [space + line for line in lines]
        self.about += [None] * len(lines) if about is None else about

    def since(self, start: int) -> str:
        return "\n".join(self.lines[start:]) + "\n"


class Shell:
    """Writer of the functions of a program. large: writes the second one, which is called with
    checked values. reporter: the class that explains errors.
    """

    reporter = ErrorReporter

    def __init__(self, program: Program, code: Code, trust: bool, large: bool = False) -> None:
        self.program, self.code = program, code
        self.trust, self.large = trust, large
        self.name = identifier(program.name, "function") + ("_large" if large else "")
        self.filename = file_name(self.name)
        self.report = self.reporter(program.name, self.filename, code.nodes)
        self.parameters = parameter_names([a.name for a in self._arguments()], _LOCALS)
        self.names = Names([*self.parameters, *_LOCALS], "rewrite_engine.generated")
        self.places = self._places()
        self.given = list(self.places.values())
        self.body = code.body(self.names, self.places, large)
        if code.ticks is not None:
            code.ticks.stamp(self.body)
        self.text = Text(self.report)

    def link(self) -> Linked:
        """Return the function, its text and how it runs."""
        call, text = self.write()
        return Linked(call, text, self.code.free, list(self.code.nodes))

    def _arguments(self) -> list[Argument]:
        return [a for a in self.program.inputs if isinstance(a, Argument)]

    def _places(self) -> dict[Variable, str]:
        parameters = iter(self.parameters)
        places = {}
        for v, source in zip(self.code.inputs, self.program.inputs, strict=True):
            if isinstance(source, Argument):
                places[v] = next(parameters)
            else:
                places[v] = self.names.local(identifier(source.name, "state"))
        return places

    def write(self) -> tuple[FunctionType, str]:
        """Compile everything; return the function and its text."""
        for k, chunk in enumerate(self.body.chunks):
            if len(self.body.chunks) > 1:
                self._part(k, chunk)
        call = self._function()
        text = self.text.since(0)
        publish(self.filename, text, call)
        return call, text

    def _function(self) -> FunctionType:
        """Write and compile the function itself."""
        prologue, epilogue, last = self._results()
        start = len(self.text.lines)
        self._header()
        self._main(prologue, epilogue, last)
        call = self._define(start)
        call.__defaults__ = None if self.large else (MISSING,) * len(self.parameters)
        call.__doc__ = f"Generated for the function {self.program.name!r}."
        return call

    def _define(self, start: int) -> FunctionType:
        """Return the function whose text begins at a line."""
        return define(self.text.since(start), start + 1, self.filename, self.names.globals)

    # --- parts --------------------------------------------------------------------------------

    def _part(self, k: int, chunk: Chunk) -> None:
        """Write and compile one part: it takes its inputs out of a dict, so that nothing else holds
        them, and leaves there what others will use.
        """
        text, start = self.text, len(self.text.lines)
        text.add([f"def {self._part_name(k)}(_live{self._carried_names()}):"], 0)
        text.add([f"{name} = _live[{name!r}]" for name in chunk.reads], 1)
        text.add([f"{name} = _live.pop({name!r})" for name in chunk.takes], 1)
        text.add(chunk.lines, 1, chunk.about)
        text.add([f"_live[{name!r}] = {name}" for name in chunk.leaves], 1)
        text.add(["", ""], 0)
        self.names.globals[self._part_name(k)] = self._define(start)

    def _carried_names(self) -> str:
        """Return the names that parts see, as the end of a list."""
        return "".join([f", {name}" for name in self.body.carried])

    def _part_name(self, k: int) -> str:
        return f"{self.name}_part_{k}"

    # --- the function -------------------------------------------------------------------------

    def _header(self) -> None:
        """Write the signature, the checks of the arguments and the reads of the state."""
        text, names = self.text, self.names
        if self.large:
            text.add([f"def {self.name}({', '.join(self.given)}):"], 0)
            return
        missing = names.add(MISSING, "MISSING")
        called = {a.name: p for a, p in zip(self._arguments(), self.parameters) if a.name}
        renamed = {name: p for name, p in called.items() if name != p}
        named = ["**_named"] * bool(renamed)
        parameters = ", ".join([f"{p}={missing}" for p in self.parameters] + named)
        text.add([f"def {self.name}({parameters}):"], 0)
        if renamed:
            text.add([f"{p} = _named.pop({name!r}, {p})" for name, p in renamed.items()], 1)
            unknown = names.add(unknown_argument, "unknown_argument")
            text.add([f"if _named: {unknown}({self.name!r}, _named)"], 1)
        sources = list(zip(self.code.inputs, self.program.inputs, strict=True))
        arguments = [(v, a) for v, a in sources if isinstance(a, Argument)]
        for i, (v, argument) in enumerate(arguments):
            text.add(self._check(i, self.places[v], argument), 1)
        cells = [(v, c) for v, c in sources if isinstance(c, Cell)]
        reads = [
            f"{self.places[v]} = {names.add(c, (c.name or 'state') + '_cell')}.{self.code.state}"
            for v, c in cells
        ]
        text.add(self._lock_lines(reads), 1)
        text.add(self._own(arguments), 1)
        text.add(self._guard(), 1)

    def _check(self, i: int, name: str, argument: Argument) -> list[str]:
        slow = accept(self.program.name, i, argument)
        call = f"{name} = {self.names.add(slow, 'accept_' + name)}({name})"
        if self.trust:
            return [f"if {name} is {self.names.add(MISSING, 'MISSING')}: {call}"]
        condition = refusal(argument.type, name, self.names)
        return [call if condition is None else f"if {condition}: {call}"]

    def _own(self, arguments: list[tuple[Variable, Argument]]) -> list[str]:
        """Write copies of the caller's arrays that will be overwritten, if they cannot be."""
        code, places = self.code, self.places
        if not any([argument.mutable for _, argument in arguments]):
            return []
        destroyed = code.storages.destroyed()
        lines = []
        for v, argument in arguments:
            if argument.mutable and id(code.storages.of(v)) in destroyed:
                others = "".join([f", {name}" for w, name in places.items() if w is not v])
                lines.append(f"{places[v]} = {self.names.add(own, 'own')}({places[v]}{others})")
        return lines

    def _guard(self) -> list[str]:
        """Write the call of the second function, if that is better; it is written on first use."""
        condition = self.code.large_if(self.places)
        if not condition:
            return []
        name = self.names.local("large")
        namespace = self.names.globals

        def large(*values: Any) -> Any:
            namespace[name] = self.second().write()[0]
            return namespace[name](*values)

        namespace[name] = large
        return [f"if {condition}: return {name}({', '.join(self.given)})"]

    def second(self) -> Shell:
        """Writer of the second function."""
        return Shell(self.program, self.code, self.trust, True)

    def _main(self, prologue: list[str], epilogue: list[str], last: str) -> None:
        """Write the body, and the code after it."""
        text, add = self.text, self.names.add
        runs = bool(self.body.chunks[0].lines or prologue)
        quiet = self.body.warns and runs
        text.add(self.body.opening, 1)
        if quiet:
            text.add(["_token = None"], 1)
        if runs:
            text.add(["try:"], 1)
            if quiet:
                text.add([f"_token = {add(enter, 'enter')}({add(QUIET, 'QUIET')})"], 2)
            self._steps()
            text.add(prologue, 2)
            text.add(["except BaseException as _error:"], 1)
            text.add([f"{add(undo, 'undo')}(_token)"] if quiet else [], 2)
            text.add([f"{add(self.report, 'report')}(_error)", "raise"], 2)
        if quiet:
            text.add([f"{add(leave, 'leave')}(_token)"], 1)
        text.add(self.body.closing, 1)
        text.add(self._lock_lines(epilogue), 1)
        text.add([f"return {last}"], 1)

    def _steps(self, depth: int = 2) -> None:
        chunks = self.body.chunks
        if len(chunks) == 1:
            self.text.add(chunks[0].lines, depth, chunks[0].about)
            return
        arguments = sorted(self.body.arguments)
        lines = [f"_live = {{{', '.join([f'{a!r}: {a}' for a in arguments])}}}"]
        lines += [f"{self._part_name(k)}(_live{self._carried_names()})" for k in range(len(chunks))]
        lines += [f"{r} = _live.pop({r!r})" for r in sorted(self.body.left)]
        self.text.add(lines, depth)

    def _lock_lines(self, lines: list[str]) -> list[str]:
        """Return statements that must happen together: without a call in between nothing interrupts
        them, unless there is no global interpreter lock.
        """
        if not _FREE_THREADED or not lines:
            return lines
        lock = self.names.add(_state_lock, "state_lock")
        return [f"with {lock}:"] + ["    " + line for line in lines]

    # --- results ------------------------------------------------------------------------------

    def _results(self) -> tuple[list[str], list[str], str]:
        """Return (statements that prepare results and states, the stores, the returned
        expression).
        """
        program, outputs, prologue = self.program, self.code.outputs, list[str]()
        given: dict[int, bool] = {}
        epilogue = []
        for i, cell in program.updates:
            storage = self.code.storages.of(outputs[i])
            alone = storage.ours and id(storage) not in given
            value = self._place(outputs[i], alone, prologue)
            if alone:
                given[id(storage)] = True
            name = self.names.add(cell, (cell.name or "state") + "_cell")
            epilogue.append(f"{name}.{self.code.state} = {value}")
        destroyed = self.code.storages.destroyed() if self.code.storages.borrowed else set[int]()
        results = []
        for i in range(program.n_results):
            alone = self._may_leave(outputs[i], i in program.borrowed, given, destroyed)
            results.append(self._place(outputs[i], alone, prologue))
        return prologue, epilogue, self._pack(results)

    def _may_leave(
        self, v: Variable, borrowed: bool, given: dict[int, bool], destroyed: set[int]
    ) -> bool:
        """Return whether a result may be returned without a copy: others see its memory only if
        they agreed, and it did. given: the storages that already left the function, and whether
        others may see them.
        """
        storage = self.code.storages.of(v)
        donated = storage.borrowed and id(storage) in destroyed  # the caller gave it away
        free = storage.ours or donated or (storage.borrowed and borrowed)
        if id(storage) in given:
            return free and borrowed and given[id(storage)]
        if free:
            given[id(storage)] = borrowed
        return free

    def _pack(self, results: list[str]) -> str:
        packing = self.program.packing
        if packing == "none":
            return "None"
        if packing == "single":
            return results[0]
        if packing == "list":
            return f"[{', '.join(results)}]"
        pairs = [f"{key!r}: {result}" for key, result in zip(packing, results, strict=True)]
        return f"{{{', '.join(pairs)}}}"

    def _place(self, v: Variable, alone: bool, prologue: list[str]) -> str:
        """Return a name for a value that leaves the function, copied unless `alone`."""
        name = self.body.refer(v)
        expression = self._leaving(v, name, not alone)
        if expression == name:
            return name
        register = self.body.register()
        prologue.append(f"{register} = {expression}")
        return register

    def _leaving(self, v: Variable, name: str, shared: bool) -> str:
        ndim = v.type.ndim
        if isinstance(v.type, ScalarType):
            return f"{self.names.add(v.type.filter, 'number')}({name})"
        if ndim == 0:
            form = "array" if isinstance(v, Constant) else self.body.form.get(v, "array")
            if shared:
                return f"{self.names.add(np.array, 'array')}({name})"
            return name if form == "array" else f"{self.names.add(np.asarray, 'asarray')}({name})"
        if not shared:
            return name
        if ndim is not NO_RANK:
            return f"{name}.copy()"
        return f"{self.names.add(deepcopy, 'deepcopy')}({name})"
