"""`export`: a compiled function as a file that other programs run without this library."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from rewrite_engine.compile.callable import Function
from rewrite_engine.compile.mode import Mode
from rewrite_engine.errors import (
    CompileError,
    InputError,
    NoCompilerError,
    OptionError,
    ShapeError,
    describe,
    message,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import clone_replace
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.program import Argument, Cell
from rewrite_engine.pipeline.phases import rewrite_graph
from rewrite_engine.tensor.constant import constant
from rewrite_engine.tensor.type import TensorType

LIBRARIES, OBJECTS = (".so", ".dylib"), (".o",)
Shapes = Mapping[str, Sequence[int]] | Sequence[Sequence[int]] | None


def export(
    function: Function[Any], path: str | os.PathLike[str], shapes: Shapes = None,
    *, name: str | None = None, platforms: Sequence[str] = ("cpu", "cuda", "tpu"),
) -> None:  # fmt: skip
    """Write a compiled function to a file that runs without this library.

    The suffix of the path says for whom: ".so" (or ".dylib") for C, a shared library, and ".o" an
    object file, each with a header beside it, both machine code for this processor without Python;
    any other one for JAX, StableHLO that `jax.export.deserialize(content).call(…)` runs in a
    process that has JAX alone.

    shapes: the shape of each argument, by its name or in order; arguments whose types tell all
    lengths need none. Shared variables become constants, with the values that they have now. name:
    of the function in C; by default that of the function. platforms: of StableHLO. Raises
    `OptionError` for a function with updates, `ShapeError` for lengths that are not given,
    `UntraceableError` for what the target cannot run, `NoCompilerError` without a C compiler for a
    shared library, and `MissingPackageError` without JAX.

    >>> import ctypes
    >>> import numpy as np
    >>> import rewrite_engine as rw, rewrite_engine.tensor as pt
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path, x = Path(mkdtemp()) / "total.so", pt.dvector("x")
    >>> rw.export(rw.function([x], pt.exp(x).sum(), name="total"), path, shapes={"x": (2,)})
    >>> print(path.with_suffix(".h").read_text().splitlines()[-2])
    int32_t total(const double *x, double *result0);
    >>> total, found = ctypes.CDLL(path).total, np.zeros(())
    >>> total(np.zeros(2).ctypes, found.ctypes), found
    (0, array(2.))
    """
    if not isinstance(function, Function):
        raise OptionError(f"export takes a compiled function, not {describe(function)}")
    if function.program.updates:
        what = f"{function.program.name} cannot be exported: it updates shared variables"
        raise OptionError(message(what, hint="return the new values, and let the caller keep them"))
    target = Path(path)
    called = name or function.program.name
    if target.suffix in (*LIBRARIES, *OBJECTS):
        _as_c(function, target, shapes, called)
    else:
        target.write_bytes(_as_stablehlo(function, shapes, called, platforms))


def _in_mode(function: Function[Any], linker: str) -> Function[Any]:
    """Return the function as another linker has it rewritten."""
    if function.mode.linker == linker or function.written is None:
        return function
    return function.written.compile(Mode(linker=linker))


def _shapes(function: Function[Any], shapes: Shapes) -> list[tuple[int, ...]]:
    """Return the shape of each argument. Raises `ShapeError`, `InputError`."""
    arguments = function.inputs
    if isinstance(shapes, Mapping):
        names = [a.name for a in arguments]
        unknown = [name for name in shapes if name not in names]
        if unknown:
            raise InputError(f"no argument is called {unknown[0]!r}; there are {names}")
        given: list[Any] = [shapes.get(name) for name in names if True]  # type: ignore[arg-type]
    else:
        given = [None] * len(arguments) if shapes is None else list(shapes)
        if len(given) != len(arguments):
            raise ShapeError(f"{len(given)} shapes for {len(arguments)} arguments")
    return [_shape(a, known) for a, known in zip(arguments, given, strict=True)]


def _shape(argument: Argument, given: Any) -> tuple[int, ...]:
    """Return the shape of an argument, from its type and what is given."""
    static = getattr(argument.type, "shape", None)
    if static is None:
        raise ShapeError(f"argument {argument.name} of type {argument.type} cannot be exported")
    found = tuple(static if given is None else map(int, given))
    told = f"argument {argument.name or ''} of type {argument.type}"
    if len(found) != len(static) or any([k not in (None, n) for n, k in zip(found, static)]):
        raise ShapeError(f"{told} cannot have the shape {found}")
    if None in found:
        hint = f'shapes={{"{argument.name or "x"}": (3, 4)}}'
        raise ShapeError(message(f"{told}: its lengths must be given", hint=hint))
    return found


# --- for JAX ------------------------------------------------------------------------------------


def _as_stablehlo(
    function: Function[Any], shapes: Shapes, name: str, platforms: Sequence[str]
) -> bytes:
    from rewrite_engine.link.jax.linker import needing_jax

    with needing_jax():
        from rewrite_engine.link.jax.export import stablehlo

    f = _in_mode(function, "jax")
    given = {i: a.value for i, a in enumerate(f.program.inputs) if isinstance(a, Cell)}
    wanted = _shapes(f, shapes)
    return stablehlo(f.fgraph, given, wanted, f.program.packing == "single", platforms, name)


# --- for C --------------------------------------------------------------------------------------


def _as_c(function: Function[Any], target: Path, shapes: Shapes, name: str) -> None:
    from rewrite_engine.link.native.standalone import standalone  # (needs llvmlite)

    f = _in_mode(function, "native")
    found = standalone(_static(f, _shapes(f, shapes)), name)
    target.with_suffix(".h").write_text(found.header)
    if target.suffix in OBJECTS:
        target.write_bytes(found.code)
        return
    compiler = which("cc") or which("gcc") or which("clang")
    if compiler is None:
        hint = 'export to ".o", which needs none, and link it yourself'
        raise NoCompilerError(message("a shared library needs a C compiler", hint=hint))
    with TemporaryDirectory() as folder:
        code = Path(folder) / "code.o"
        code.write_bytes(found.code)
        libraries = ["-llapack", "-lblas"] if found.routines else []
        command = [compiler, "-shared", "-o", os.fspath(target), os.fspath(code), *libraries, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        needs = f" (it calls LAPACK: {', '.join(found.routines)})" if found.routines else ""
        raise CompileError(f"{compiler} cannot link {target.name}{needs}:\n{done.stderr}")


def _static(f: Function[Any], shapes: Sequence[Sequence[int]]) -> FunctionGraph:
    """Return the graph of a function whose types tell all lengths, without shared variables."""
    sources = zip(f.fgraph.inputs, f.program.inputs, strict=True)
    known, arguments, rest = dict[Variable, Variable](), list[Variable](), iter(shapes)
    for v, source in sources:
        if isinstance(source, Cell):
            known[v] = constant(source.value)
            continue
        known[v] = TensorType(v.type.dtype, next(rest))(v.name)  # type: ignore[attr-defined]
        arguments.append(known[v])
    outputs = rewrite_graph(clone_replace(f.fgraph.outputs, known), Linker.phases)
    return FunctionGraph(arguments, outputs, clone=True)
