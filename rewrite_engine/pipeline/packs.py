"""Packs of installed distributions, found by entry points, and rule files.

A distribution with rules declares them in its `pyproject.toml`:

    [project.entry-points."rewrite_engine.rules"]
    physics = "my_package.rewrites"        # or "my_package.rewrites:RULES"

The value is a module (its rules and strategies, in source order, or its `RULES`), a `RuleSet`, a
rule, several in a list, or a function that returns one of these. A pack is imported when the first
graph is rewritten, but not if a query excludes its name. `pipeline/phases.py` uses the rules.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, NamedTuple

from rewrite_engine.errors import PackError, RuleError, source_line
from rewrite_engine.match.mistakes import collecting_errors
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet, parts_of
from rewrite_engine.pipeline.lint import unreached, warn_of

GROUP = "rewrite_engine.rules"


class Pack(NamedTuple):
    """An entry point of the group. name: of the entry point; distribution: that declares it."""

    name: str
    distribution: str
    version: str
    entry: Any

    @property
    def names(self) -> frozenset[str]:
        """Return the names by which a query excludes the pack, before it is imported."""
        return frozenset({self.name, self.distribution})

    @property
    def hint(self) -> str:
        """Return a hint how to exclude the pack."""
        alone = [pack.name for pack in installed()].count(self.name) == 1
        return f"exclude it: Mode(...).excluding({self.name if alone else self.distribution!r})"

    def __str__(self) -> str:
        return (
            f"the pack {self.name!r} of the distribution {self.distribution} {self.version} "
            f"({GROUP}: {self.name} = {self.entry.value})"
        )

    def load(self) -> RuleSet:
        """Return the rules of the pack; their tags include the pack's names. Raises `PackError`."""
        return _load(self)


@cache
def _load(pack: Pack) -> RuleSet:
    try:
        with collecting_errors():
            rules = _read_rules(pack.entry.load())
    except Exception as error:
        raise PackError(f"{pack} cannot be loaded\n{_describe(error)}\n    {pack.hint}") from error
    named = {one.name for one in installed()}
    for rule in [*parts_of(rules), *rules]:
        if rule.pack not in named and not rule.module.startswith("rewrite_engine."):
            rule.named(pack.name)  # it was written elsewhere
    for rule in rules:
        rule.tags |= pack.names
    return RuleSet(rules)  # by these names


def _read_rules(given: Any) -> RuleSet:
    """Return the rules that an entry point stands for."""
    if callable(given) and not isinstance(given, Rule):
        given = given()
    rules = (
        _read_module(given)
        if isinstance(given, ModuleType)
        else _as_set(given, "an entry point must be a module or a RuleSet, or return one")
    )
    if not len(rules):
        raise ValueError(f"{given!r} defines no rules (imported rules do not count)")
    return rules


def _read_module(module: ModuleType) -> RuleSet:
    """Return `RULES` of a module; else all rules that it defines."""
    own = RuleSet.of(module)  # (this also names its strategies)
    if "RULES" not in vars(module):
        warn_of(unreached(own))
        return own
    return _as_set(vars(module)["RULES"], "RULES must be a RuleSet or a list of rules")


def _as_set(given: Any, wanted: str) -> RuleSet:
    """Return rules, or a single one, as a set by their current names."""
    if isinstance(given, Rule):
        return RuleSet([given])
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise TypeError(f"{wanted}, not {given!r}")
    return RuleSet(given)


# --- finding them -----------------------------------------------------------------------------


@cache
def installed() -> tuple[Pack, ...]:
    """Return the packs of all installed distributions, by name. The search runs once."""
    if not _is_mentioned():
        return ()
    from importlib.metadata import entry_points

    packs = []
    for entry in entry_points(group=GROUP):
        dist = entry.dist
        name, version = (dist.name, dist.version) if dist is not None else ("?", "")
        packs.append(Pack(entry.name, name, version, entry))
    return tuple(sorted(packs, key=lambda pack: (pack.name, pack.distribution)))


def entry_of(module: str) -> str | None:
    """Return the name of the entry point for a module, or for its nearest package."""
    results: dict[str, str] = {}
    for pack in installed():
        results.setdefault(pack.entry.module, pack.name)
    while module:
        if module in results:
            return results[module]
        module = module.rpartition(".")[0]
    return None


def _is_mentioned() -> bool:
    """Return whether any distribution may have packs.

    `importlib.metadata` takes some 50 ms to import; reading the few files that may contain the
    group's name takes 1 or 2 ms. The result is undecided for distributions that are stored in
    another way.
    """
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    if any(getattr(finder, "__name__", "") != "PathFinder" for finder in finders):
        return True
    name = GROUP.encode()
    for place in sys.path:
        try:
            for path in _entry_point_files(place or "."):
                with open(path, "rb") as file:
                    if name in file.read():
                        return True
        except NotADirectoryError:  # an archive
            return True
        except OSError:
            continue
    return False


def _entry_point_files(place: str) -> Iterator[str]:
    """Yield the files with entry points of the distributions in a folder."""
    with os.scandir(place) as entries:
        names = [entry.name for entry in entries]
    for name in names:
        if name.lower().endswith((".dist-info", ".egg-info")) or name.lower() == "egg-info":
            path = os.path.join(place, name, "entry_points.txt")
            if os.path.isfile(path):
                yield path


# --- rule files -------------------------------------------------------------------------------


def load_rules(path: str | os.PathLike[str]) -> RuleSet:
    """Return the rules of a Python file: `Mode("fast_run") + load_rules("my_rules.py")`.

    They are its `RULES` (a `RuleSet` or a list of rules), else all rules and strategies that it
    defines, in source order, without rules that have no phase and are parts of these strategies.
    The file's name is the name of the pack: `my_rules/a_rule`. Loading it again returns the same
    rules, unless it has changed. Raises `OSError` if it cannot be read, a `RuleError` with its line
    for a wrong rule, and `PackError` for any other error in it.
    """
    rules = load_file(path)[1]
    if not len(rules):
        what = f"the rule file {os.path.abspath(path)} defines no rules"
        raise PackError(f"{what} (imported rules do not count)")
    return rules


def load_file(path: str | os.PathLike[str]) -> tuple[ModuleType, RuleSet]:
    """Return the module of a rule file, and its rules, which may be none. Raises the errors of
    `load_rules`.
    """
    path = os.path.abspath(path)
    state = os.stat(path)
    return _load_file(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=256)
def _load_file(path: str, changed: int, size: int) -> tuple[ModuleType, RuleSet]:
    linecache.checkcache(path)
    stem = os.path.splitext(os.path.basename(path))[0].replace(".", "_")
    module = ModuleType(f"rule_files.{stem}")
    module.__file__ = path
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module  # as for any module while it runs
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        with collecting_errors():
            exec(code, vars(module))
            rules = _read_module(module)
    except BaseException as error:
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before
        if not isinstance(error, Exception) or isinstance(error, RuleError | OSError):
            raise
        text = f"the rule file {path} cannot be loaded\n{_describe(error, path)}"
        raise PackError(text) from error
    return module, rules


def _describe(error: Exception, path: str | None = None) -> str:
    """Return an error with the last line of the file that raised it."""
    text = f"{type(error).__name__}: {error}".replace("\n", "\n    ")
    if isinstance(error, SyntaxError):
        return f"    {text}"
    import traceback  # (takes a while, and is seldom needed)

    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    own = [f for f in frames if f.filename == path or (path is None and f.filename != __file__)]
    if not own or isinstance(error, RuleError):
        return f"    {text}"
    return f"    {source_line(own[-1].filename, own[-1].lineno or 0)}\n    {text}"
