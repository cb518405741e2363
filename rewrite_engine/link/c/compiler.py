"""C++ compiler of the machine: from a text to a module in a file."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.errors import CompileError, NoCompilerError
from rewrite_engine.link.c.source import CSource

MAX_MESSAGE_LINES = 40  # lines of a compiler's messages in an error
COMPILER_FLAGS = ("-O3", "-w", "-fvisibility=hidden", "-fno-strict-aliasing", "-fwrapv")
MESSAGE_PLACE = re.compile(r"^([^:\s]+):(\d+):\d*:? ")


def has_compiler() -> bool:
    """Return whether there is a compiler: `config.cxx` is the command, or "" for none."""
    return bool(config.cxx)


def compiler() -> tuple[str, ...]:
    """Return the command, with its path. Raises `NoCompilerError`."""
    words = shlex.split(config.cxx)
    if not words:
        raise NoCompilerError(
            "there is no C++ compiler: CXX, CC and the compiler of Python are not usable, and g++, "
            "clang++ and c++ are not in PATH (or config.cxx is '')"
        )
    path = shutil.which(words[0])
    if path is None:
        raise NoCompilerError(f"the C++ compiler {words[0]!r} (config.cxx, CXX or CC) is not found")
    return (path, *words[1:])


def command(source: CSource, file: str, out: str) -> list[str]:
    """Return the command that compiles a text in a file."""
    own = [*COMPILER_FLAGS, *shlex.split(config.gcc__cxxflags), *source.arguments]
    folders = [np.get_include(), *_python_headers(), *source.header_dirs]
    words = [*compiler(), *_link_arguments(), *[flag for flag in own if flag not in source.without]]
    words += [f"-I{folder}" for folder in folders]
    words += ["-o", out, file]
    for folder in source.lib_dirs:
        words += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    return words + [f"-l{name}" for name in source.libraries]


def identity(source: CSource) -> tuple[str, ...]:
    """Return what a module depends on besides its text: the compiler, its arguments, Python and
    NumPy.
    """
    words = command(source, "", "")
    stat = os.stat(words[0])
    found = [*words, f"{stat.st_mtime_ns} {stat.st_size}", sys.version, np.__version__]
    if any(["native" in word for word in words]):
        found.append(_processor())
    return tuple(found)


def compile_module(source: CSource, folder: Path) -> Path:
    """Compile a text to a file in a folder. Raises `CompileError`, `NoCompilerError`."""
    file, out = folder / "node.cpp", folder / "node.so"
    file.write_text(source.text, encoding="utf-8")
    words = command(source, str(file), str(out))
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise NoCompilerError(f"the C++ compiler {words[0]!r} does not run: {error}") from error
    if done.returncode or not out.exists():
        raise rejection(source, words, done.stderr + done.stdout, done.returncode)
    return out


def rejection(source: CSource, words: Sequence[str], said: str, status: int) -> CompileError:
    """Return the error for a compiler's message, with the lines that it mentions."""
    lines: list[str] = []
    for line in said.splitlines():
        lines.append(line)
        found = MESSAGE_PLACE.match(line)
        text = found and line_of(source.text, found[1], int(found[2]))
        if text:
            lines.append(f"    | {text}")
    if len(lines) > MAX_MESSAGE_LINES:
        lines[MAX_MESSAGE_LINES:] = [f"… {len(lines) - MAX_MESSAGE_LINES} more lines"]
    text = "\n".join(lines) or f"it ended with status {status} and no message"
    error = CompileError(f"the compiler rejects the C code\n{text}\n{shlex.join(words)}")
    error.source = source.text
    return error


def line_of(text: str, section: str, number: int) -> str:
    """Return a line of a named part of a text (`#line 1 "name"`); "" if there is none."""
    begin = text.find(f'#line 1 "{section}"\n')
    if begin < 0:
        return ""
    lines = text[begin:].split("\n")
    return lines[number].strip() if 0 < number < len(lines) else ""


@cache
def supports(cxx: str, flag: str, program: str) -> bool:
    """Return whether the compiler (`config.cxx`) accepts an argument, for a small program."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "try.cpp"
        file.write_text(program, encoding="utf-8")
        words = [*compiler(), flag, str(file), "-o", str(Path(folder) / "try")]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0


@cache
def _link_arguments() -> tuple[str, ...]:
    """Return the arguments with which setuptools links Python modules, after the compiler's
    name.
    """
    linker = shlex.split(sysconfig.get_config_var("LDSHARED") or "cc -shared")[1:]
    return (*linker, *shlex.split(sysconfig.get_config_var("CCSHARED") or "-fPIC"))


@cache
def _python_headers() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(dict.fromkeys([paths["include"], paths["platinclude"]]))


@cache
def _processor() -> str:
    """Return a description of this processor, on which its code depends."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        import platform

        return platform.processor() or platform.machine()
    wanted = ("flags", "model name", "Features", "CPU part")
    return "\n".join(dict.fromkeys([line for line in lines if line.startswith(wanted)]))
