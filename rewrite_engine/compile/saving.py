"""`save` and `load`: compiled functions in one file that states its kind, versions and
requirements.

A file is a line of JSON (`Header`), then a pickle. The header is read and checked before any part
of the pickle runs. Not here: the pickling of functions (`callable.py`) and of graphs
(`graph/columns.py`).
"""

from __future__ import annotations

import json
import os
import pickle
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from pickletools import genops
from tempfile import NamedTemporaryFile
from typing import Any

from rewrite_engine.compile import pickle_cache
from rewrite_engine.compile.callable import Function
from rewrite_engine.errors import LoadError, SaveError, describe

FORMAT = 1  # of files; a newer one is refused
MAX_HEADER_BYTES = 1 << 20
KIND = "rewrite_engine functions"

#: what is there where the library is, as its needs and Python's own modules are
PRESENT = frozenset({"rewrite_engine", "numpy", "scipy", *sys.stdlib_module_names})
TEXTS = frozenset({"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"})  # of a pickle


@dataclass(frozen=True)
class Header:
    """First line of a file.

    kind: distinguishes such files from others. format: version of the file format. version, python,
    numpy: versions used to write the file. functions: their names. needs: {module: its names that
    the pickle uses}, except for modules of the library. digest: SHA-256 of the pickle.
    """

    kind: str
    format: int
    version: str
    python: str
    numpy: str
    functions: tuple[str, ...]
    needs: dict[str, list[str]]
    digest: str


def save(functions: Any, path: str | os.PathLike[str]) -> None:
    """Write compiled functions to a file that `load` reads.

    functions: a `Function`, or a list, tuple or dict of them; functions that share variables still
    do after loading. An existing file is replaced only once the new one is complete. Raises
    `SaveError` for anything else, for an op or a value that cannot be pickled, and for one defined
    in `__main__`; `OSError` if the file cannot be written.

    >>> import rewrite_engine as rw, rewrite_engine.tensor as pt
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path, x = Path(mkdtemp()) / "total.rw", pt.vector("x")
    >>> rw.save(rw.function([x], pt.exp(x).sum(), name="total"), path)
    >>> rw.load(path)([0.0, 0.0])
    array(2.)
    """
    found = list(_functions(functions))
    try:
        with pickle_cache.in_one_piece():
            content = pickle.dumps(functions, protocol=5)
    except Exception as error:
        told = ", ".join([f.program.name for f in found])
        hint = "an op made of a lambda or a local function needs a function defined in a module"
        raise SaveError(f"{told} cannot be saved: {error}; {hint}") from error
    needs = _needs(content)
    if "__main__" in needs:
        told, own = ", ".join([f.program.name for f in found]), ", ".join(needs["__main__"])
        why = "the module __main__, which other programs cannot import; define them in a module"
        raise SaveError(f"{told} cannot be saved: these names are defined in {why}: {own}")
    header = Header(
        KIND, FORMAT, _version("rewrite-engine"), platform.python_version(), _version("numpy"),
        tuple([f.program.name for f in found]), needs, sha256(content).hexdigest(),
    )  # fmt: skip
    line = json.dumps(asdict(header)).encode() + b"\n"
    try:
        _replace(Path(path), line + content)
    except OSError as error:  # (it may name the temporary file)
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _replace(target: Path, content: bytes) -> None:
    """Replace a file once the new content is completely written to a temporary one."""
    with NamedTemporaryFile(dir=target.parent, delete=False) as file:
        try:
            file.write(content)
            file.close()
            os.replace(file.name, target)
        except BaseException:
            file.close()
            Path(file.name).unlink(missing_ok=True)
            raise


def load(path: str | os.PathLike[str]) -> Any:
    """Read a file that `save` wrote: a function, or a list, tuple or dict of functions.

    A function whose mode names no linker takes this machine's default: native code if llvmlite is
    installed, else the VM. Raises `LoadError`, before anything runs, for a file of another kind, a
    newer format, a wrong digest, or a missing module; also if the pickle needs a name that a module
    does not have.

    **Never load a file from somebody you do not trust**: a pickle can run any code.
    """
    header, content = _read(Path(path))
    if sha256(content).hexdigest() != header.digest:
        raise LoadError(f"{path} is damaged: its contents do not match the digest in its header")
    missing = [name for name in header.needs if not _exists(name)]
    if missing:
        needed = "; ".join([f"{name} ({', '.join(header.needs[name])})" for name in missing])
        raise LoadError(f"{path} needs modules that are not installed here: {needed}")
    try:
        return pickle.loads(content)
    except Exception as error:
        raise LoadError(
            f"{path} cannot be loaded: {type(error).__name__}: {error}; it was saved with "
            f"rewrite_engine {header.version}, NumPy {header.numpy}, Python {header.python}; "
            f"installed here: {_version('rewrite-engine')}, {_version('numpy')}, "
            f"{platform.python_version()}"
        ) from error


def read_header(path: str | os.PathLike[str]) -> Header:
    """Return the header of a file without loading the rest. Raises `LoadError`."""
    return _read(Path(path))[0]


def _read(path: Path) -> tuple[Header, bytes]:
    """Return the header and the pickle of a file, after checking its kind and format."""
    with path.open("rb") as file:
        line, content = file.readline(MAX_HEADER_BYTES), file.read()
    try:
        fields = json.loads(line)
        known = fields["kind"] == KIND
    except (ValueError, TypeError, KeyError):
        known = False
    if not known:
        raise LoadError(f"{path} was not written by rewrite_engine.save")
    if fields["format"] > FORMAT:
        raise LoadError(
            f"{path} was saved by rewrite_engine {fields['version']} in format {fields['format']};"
            f" rewrite_engine {_version('rewrite-engine')} reads up to format {FORMAT}"
        )
    return Header(**{**fields, "functions": tuple(fields["functions"])}), content


def _functions(given: Any) -> Iterator[Function[Any]]:
    """Yield the functions of a collection. Raises `SaveError`."""
    each = list(given.values()) if isinstance(given, dict) else given
    if isinstance(given, Function):
        each = [given]
    if not isinstance(each, (list, tuple)) or not each:
        raise SaveError(f"save takes compiled functions, not {describe(given)}")
    for f in each:
        if not isinstance(f, Function):
            raise SaveError(f"save takes compiled functions, not {describe(f)}")
        yield f


def _needs(content: bytes) -> dict[str, list[str]]:
    """Return the foreign modules that a pickle names, with the names it takes from each."""
    found: dict[str, list[str]] = {}
    memo, texts = list[Any](), list[Any]()
    for code, argument, _ in genops(content):
        if code.name == "MEMOIZE":
            memo.append(texts[-1])
        elif code.name in ("BINGET", "LONG_BINGET"):
            texts.append(memo[int(argument or 0)])
        elif code.name == "STACK_GLOBAL":
            module, name = texts[-2:]
            own = found.setdefault(module, [])
            own += [name] * (name not in own)
            texts.append(None)
        else:  # (a text, or what is none)
            texts.append(argument if code.name in TEXTS else None)
    return {m: names for m, names in found.items() if m.partition(".")[0] not in PRESENT}


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:  # run from the sources
        return "0+unknown"
