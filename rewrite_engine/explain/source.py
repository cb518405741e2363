"""Sources that the command runs: a script, a module, lines of code, or one term."""

from __future__ import annotations

import argparse
import ast
import linecache
import os
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from rewrite_engine import hooks
from rewrite_engine.compile import function
from rewrite_engine.errors import InputError, UnknownNameError, did_you_mean
from rewrite_engine.gradient import grad

#: `x: float64[3, ?]`
_VARIABLE = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*(\w+)\s*(?:\[(.*)\])?\s*$")


class Runnable(NamedTuple):
    """Program to run. title: its name in the report. file: the name of its code, in tracebacks."""

    title: str
    file: str
    run: Callable[[], Any]


def source_of(options: argparse.Namespace) -> Runnable:
    """Return what the options name. Raises `InputError`."""
    given = [options.module, options.code, options.expr]
    if options.compat:
        hooks.install()
    if all(one is None for one in given):
        return _script(options)
    args = [] if options.script is None else [options.script, *options.args]
    if options.module is not None:
        return Runnable(
            f"-m {options.module}", options.module, lambda: _module(options.module, args)
        )
    if options.code is not None:
        return Runnable("-c", "<code>", lambda: _code("<code>", options.code, args))
    variables = dict(map(declared_variable, options.var))
    code = _parsed(options.expr)
    return Runnable(options.expr, "<term>", lambda: _term(options.expr, code, variables))


def _script(options: argparse.Namespace) -> Runnable:
    if options.script is None:
        raise InputError("name a SCRIPT, or say -m MODULE, -c CODE or --expr TERM")
    if not Path(options.script).is_file():
        raise InputError(f"there is no script {options.script!r}")
    return Runnable(options.script, options.script, lambda: _file(options.script, options.args))


def _file(script: str, args: list[str]) -> None:
    sys.argv = [script, *(args[1:] if args[:1] == ["--"] else args)]
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(os.path.abspath(script), run_name="__main__")


def _module(name: str, args: list[str]) -> None:
    sys.argv = [name, *args]
    if not sys.flags.safe_path:
        sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _code(file: str, text: str, args: list[str], names: dict[str, Any] | None = None) -> None:
    """Run lines; they are shown in tracebacks and reports."""
    sys.argv = ["-c", *args]
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), {"__name__": "__main__"} | (names or {}))


def _parsed(text: str) -> CodeType:
    """Return the code of a term. Raises `InputError` for other text and unknown functions."""
    import rewrite_engine.tensor as pt

    try:
        tree = ast.parse(text, "<term>", "eval")
    except SyntaxError as error:
        raise InputError(f"--expr: {text!r} is no term of Python: {error.msg}") from None
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for name in [one.id for one in called if isinstance(one, ast.Name)]:
        if name != "grad" and not hasattr(pt, name):
            hint = did_you_mean(name, dir(pt))
            raise InputError(f"--expr: {name} is no function of rewrite_engine.tensor{hint}")
    return compile(tree, "<term>", "eval")


def _term(text: str, code: CodeType, variables: dict[str, Any]) -> None:
    """Compile one term of the functions of `rewrite_engine.tensor`."""
    import rewrite_engine.tensor as pt

    for name in code.co_names:
        if name not in variables and not hasattr(pt, name) and name not in ("pt", "grad"):
            variables[name] = pt.dvector(name)
    known = {name: getattr(pt, name) for name in code.co_names if hasattr(pt, name)}
    names = known | variables | {"pt": pt, "grad": grad}
    lines = f"result = {text}\n"
    inputs = [v for name, v in variables.items() if name in code.co_names]
    _code("<term>", lines + "f(inputs, result, name='term')", [], names | {
        "f": function, "inputs": inputs,
    })  # fmt: skip


def declared_variable(text: str) -> tuple[str, Any]:
    """Make a variable from a declaration such as `x: float64[3, ?]`. Raises `InputError`.

    >>> declared_variable("x: float32[3, ?]")[1].type
    TensorType(float32, (3, None))
    """
    import rewrite_engine.tensor as pt

    match = _VARIABLE.match(text)
    if match is None:
        raise InputError(f"--var is NAME: DTYPE[LENGTHS], as in 'x: float64[3, ?]', not {text!r}")
    name, dtype, inside = match.groups()
    lengths = [part.strip() for part in inside.split(",")] if inside else []
    if not all(part == "?" or part.isdigit() for part in lengths):
        raise InputError(f"--var: a length is a number or ?: {text!r}")
    shape = [None if part == "?" else int(part) for part in lengths]
    try:
        return name, pt.tensor(name, dtype=dtype, shape=shape)
    except (TypeError, ValueError) as error:
        raise InputError(f"--var: {text!r}: {error}") from None


def number(text: str) -> int:
    """Read the number of a firing. Raises `UnknownNameError`."""
    if not text.removeprefix("#").isdigit():
        raise UnknownNameError(f"a firing is called by its number, not {text!r}")
    return int(text.removeprefix("#"))
