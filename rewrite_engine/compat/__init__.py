"""Compatibility with programs written for PyTensor, Aesara or Theano, unchanged.

Import `rewrite_engine.compat.pytensor` (or `.aesara`, `.theano`) first; `import pytensor` then
finds the names of this library under those of the other one.
`python -m rewrite_engine.compat SCRIPT` does the same for a program. `table.py` defines where names
are looked up. Nothing is imitated: a missing name raises an error that says so, where it is first
used.

`missing.py` finds a program's missing names without running it; `nnet.py` has the functions of
`theano.tensor.nnet`.
"""

from __future__ import annotations

import dis
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from rewrite_engine.compat.samplers import install_sampler
from rewrite_engine.compat.table import (
    HIDING,
    HOMES,
    MODULES,
    MOVED,
    OLD_MODULES,
    OURS_ALONE,
    REASONS,
    RENAMED,
    VERSIONS,
    Row,
)
from rewrite_engine.config import config
from rewrite_engine.errors import NotHereError, OptionError, did_you_mean
from rewrite_engine.graph.intern import Interned
from rewrite_engine.tensor.numpy_calls import AS_OBJECTS

__all__ = ["PeerModule", "install", "is_missing", "not_here"]

KNOWN = frozenset(
    ".".join(path.split(".")[:depth])
    for path in (*HOMES, *MODULES)
    for depth in range(1, path.count(".") + 2)
) - {""}
IMPORT_FROM = dis.opmap["IMPORT_FROM"]


class PeerModule(ModuleType):
    """Module of another library, which offers the names of modules of this one.

    An unknown name is an `AttributeError`; a missing name that is imported
    (`from pytensor.tensor import tensorinv`) may be passed on, and raises when it is used.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, f"Names of `{name}`, as `rewrite_engine` has them.")
        self.__path__: list[str] = []
        self.__version__ = VERSIONS[name.partition(".")[0]]

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return dir(self)
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        path = self.__name__.partition(".")[2]
        try:
            value = lookup(path, name)
        except LookupError:
            if f"{path}.{name}".lstrip(".") in KNOWN:
                return import_module(f"{self.__name__}.{name}")
            frame = sys._getframe(1)
            imported = frame.f_code.co_code[frame.f_lasti] == IMPORT_FROM
            if not imported:
                raise AttributeError(self.why_not(name), name=name, obj=self) from None
            return not_here(partial(self.why_not, name))
        if self.__name__ in MOVED:
            what = f"{self.__name__} is deprecated: use {MOVED[self.__name__]}.{name}"
            warnings.warn(what, DeprecationWarning, stacklevel=2)
            return value
        setattr(self, name, value)
        return value

    def __reduce__(self) -> Any:
        """Pickle by name, so that a function that uses the module may be sent to another
        process.
        """
        return import_module, (self.__name__,)

    def __setattr__(self, name: str, value: Any) -> None:
        """Store a value, except for a submodule whose name means something else (`reshape`)."""
        path = self.__name__.partition(".")[2]
        module = isinstance(value, PeerModule)
        if not module or f"{path}.{name}" in HIDING or not is_there(path, name):
            super().__setattr__(name, value)

    def why_not(self, name: str) -> str:
        """Return the explanation for a missing name."""
        full = f"{self.__name__}.{name}"
        reason = next((REASONS[p] for p in parents(full.partition(".")[2]) if p in REASONS), None)
        return f"{full} is not in rewrite_engine{reason or did_you_mean(name, dir(self))}"

    def __dir__(self) -> list[str]:
        path = self.__name__.partition(".")[2]
        homes = [import_module(home) for home in homes_of(path)]
        names = [(home, name) for home in homes for name in dir(home) if name not in OURS_ALONE]
        found = {name for home, name in names if has(home, name)}
        found |= {row.rpartition(".")[2] for row in RENAMED if row.rpartition(".")[0] == path}
        return sorted(name for name in found if f"{path}.{name}" not in HIDING)


@cache
def canonical(path: str) -> str:
    """Return a module's path as PyTensor spells it."""
    for old in parents(path)[:-1]:
        if old in OLD_MODULES:
            return OLD_MODULES[old] + path[len(old) :]
    return path


def parents(path: str) -> list[str]:
    """Return a path and its parents, inner ones first: `a.b`, `a`, and `` for the library
    itself.
    """
    parts = path.split(".") if path else []
    return [".".join(parts[:depth]) for depth in range(len(parts), -1, -1)]


@cache
def homes_of(path: str) -> Sequence[str]:
    """Return the modules of this library that have the names of a foreign module."""
    return next(HOMES[one] for one in parents(canonical(path)) if one in HOMES)


def lookup(path: str, name: str) -> Any:
    """Return the counterpart of a module's name. Raises `LookupError`."""
    if path and f"{path}.{name}" in HIDING:  # (`pytensor.ifelse` is the function, too)
        raise LookupError(name)
    for one in parents(canonical(path)):
        row = RENAMED.get(f"{one}.{name}".lstrip("."))
        if row is not None:
            return value_of(row)
        if one in HOMES:
            break
    for home in homes_of(path):
        module = import_module(home)
        if has(module, name):
            return getattr(module, name)
    raise LookupError(name)


def value_of(row: Row) -> Any:
    """Return the counterpart that a row of the table names."""
    target, convert = (row, None) if isinstance(row, str) else row
    home, _, name = target.partition(":")
    value = getattr(import_module(home), name)
    return value if convert is None else convert(value)


def is_there(path: str, name: str) -> bool:
    """Return whether a module's name has a counterpart."""
    try:
        lookup(path, name)
    except LookupError:
        return False
    return True


def has(module: ModuleType, name: str) -> bool:
    """Return whether a module offers a name, and does not only import a module of that name."""
    value = None if name.startswith("_") else getattr(module, name, None)
    if value is None or isinstance(value, ModuleType):
        return False
    made_in = str(getattr(value, "__module__", None) or type(value).__module__)
    if made_in.startswith("rewrite_engine") or isinstance(value, int | float | str | tuple):
        return True
    return name in getattr(module, "__all__", ())  # (last: a package may have to look for them)


class _NotHere(Interned):
    """Metaclass of stand-ins for missing names, and of classes that inherit from them."""

    why: str | Callable[[], str]

    def __new__(mcs, name: str, bases: tuple[type, ...], space: dict[str, Any], **how: Any) -> Any:
        """Accept the class arguments that a missing base class would take."""
        return super().__new__(mcs, name, bases, space)

    def __init__(self, name: str, bases: tuple[type, ...], space: dict[str, Any], **how: Any):
        super().__init__(name, bases, space)

    def __getitem__(self, parameters: Any) -> Any:
        """Return the class itself for `Missing[int]` as a base."""
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self.error()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.error()

    def error(self) -> NotHereError:
        return NotHereError(self.why if isinstance(self.why, str) else self.why())


def not_here(why: str | Callable[[], str]) -> Any:
    """Return a stand-in for a missing name: a class without instances. It can be passed on, used in
    `isinstance` and inherited from; a call raises `NotHereError`. why: the text, or a function that
    returns it: most programs never use such a name, and finding a similar one takes time.
    """
    return _NotHere("NotHere", (), {"why": why})


def is_missing(value: Any) -> bool:
    """Return whether a value is the stand-in for a missing name."""
    return isinstance(value, _NotHere)


class PeerFinder(MetaPathFinder, Loader):
    """Finder of the foreign modules in the table."""

    def __init__(self, library: str) -> None:
        self.library = library

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a foreign module, if the table has it."""
        first, _, rest = fullname.partition(".")
        if first != self.library:
            return None
        if rest and rest not in KNOWN:
            raise ModuleNotFoundError(f"{fullname} is not in rewrite_engine", name=fullname)
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module whose names have no values yet."""
        return PeerModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has no code."""


def install(libraries: Iterable[str] = tuple(VERSIONS)) -> None:
    """Let `import pytensor` (or aesara, theano) find the names of this library.

    Also adopt four habits of those libraries: `np.atleast_1d(x)` is an array that holds the
    variable, new sparse values are matrices, methods that only dense matrices have convert sparse
    ones, and parameters of random draws are aligned. Raises `OptionError` if the library itself has
    been imported.
    """
    AS_OBJECTS.add("atleast_1d")
    config.sparse_values, config.sparse_methods = "matrix", "warn"
    config.random_parameters = "aligned"
    install_sampler()
    for library in libraries:
        if any(isinstance(f, PeerFinder) and f.library == library for f in sys.meta_path):
            continue
        if library in sys.modules:
            raise OptionError(
                f"{library} itself is imported: import rewrite_engine.compat.{library} first"
            )
        sys.meta_path.insert(0, PeerFinder(library))
