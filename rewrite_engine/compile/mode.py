"""`Mode`: the choice of the rules that improve a graph and the linker that runs it.

    Mode("fast_run")                              all rules
    Mode("fast_compile")                          only rules that make the graph small
    Mode(linker="py")                             run by `perform`, node by node
    Mode("DebugMode")                             node by node, with checks (`compile/debug.py`)
    Mode("fast_run").excluding("inplace")         leave out by tag, or by a rule's name
    Mode("fast_run") + my_rule                    add a rule
    Mode(optimizer=None)                          the graph as it was built

The rules are in `rules/`, their order in `pipeline/phases.py`; a mode only holds the query and the
additional rules.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any, Never

from rewrite_engine.config import config
from rewrite_engine.errors import (
    OptionError,
    UnknownNameError,
    describe,
    refuse_options,
    refuse_unknown,
)
from rewrite_engine.link.linker import LINKERS, Linker, get_linker, has_llvmlite
from rewrite_engine.match.query import Query

if TYPE_CHECKING:
    from rewrite_engine.match.rule import Rule
    from rewrite_engine.match.ruleset import Addition, RuleSet
    from rewrite_engine.pipeline.phases import PlacedDriver
    from rewrite_engine.rewrite.driver import GraphRewriter

DEFAULT = "default"  # the optimizer that the pipeline makes for the query
AUTO = "auto"  # the linker of `config.linker`

#: named modes → their query
MODES = {
    "fast_run": Query(),
    "fast_compile": Query(exclude=frozenset({"specialize", "factorize", "inplace"})),
}
#: what the field calls them by number
LEVELS = {"o1": "fast_compile", "o2": "fast_run", "o3": "fast_run", "o4": "fast_run"}
#: linkers of the field that run what they have compiled, and the rest in Python: as "vm" does
VIRTUAL_MACHINES = frozenset({"c|py", "c|py_nogc", "cvm", "cvm_nogc", "vm_nogc"})
COMPILERS = frozenset({"numba"})  # and one that compiles all: the usual one here
#: what the field has, and is not here yet
PLANNED = frozenset({"dask", "mlx", "pytorch"})
#: other names of linkers
ALIASES = {"debug_mode": "debugmode"}


class Mode:
    """A linker and an optimizer.

    linker: the name of a linker or of a mode (case does not matter), or a linker; "auto" (the
    default) uses `config.linker`.

    optimizer: "default" for the pipeline with this mode's query; the name of a mode or a phase,
    or a `Query`, for the pipeline with that query; None (or "None") for no rewriting; or an object
    with `rewrite(fgraph, trace=None)`.

    db: the database that answers the query (None: the pipeline). A query that includes phases, but
    not "fast_run", selects only these phases.

    wait: whether a function is returned when its machine code is optimised. Otherwise it may first
    run code that is slower and computes the same bits.

    A mode is immutable. Raises `UnknownNameError`, and `OptionError` for an unknown option and for
    a db without a method `query`.

    >>> Mode("FAST_RUN").excluding("inplace")
    Mode('fast_run').excluding('inplace')
    """

    additions: tuple[Addition, ...] = ()
    steps: tuple[PlacedDriver, ...] = ()

    def __init__(
        self,
        linker: str | Linker | None = None,
        optimizer: Any = DEFAULT,
        query: Query | None = None,
        db: Any = None,
        wait: bool = False,
        **unknown: Never,
    ) -> None:
        if unknown:
            refuse_unknown("Mode", unknown, signature(Mode).parameters)
        if db is not None and not hasattr(db, "query"):
            raise OptionError(f"the db of a mode needs a method `query`; {describe(db)} has none")
        self.wait = wait
        self.linker: str | Linker  # a linker itself, of modes that make theirs
        self.name, chosen = _names(linker or AUTO)
        #: the mode whose usual linker this is; None: it was named
        self.usual_of = self.name if chosen == AUTO == config.linker else None
        self.linker = usual_linker(self.name) if chosen == AUTO else chosen
        self._optimizer: Any = DEFAULT
        if isinstance(optimizer, str) and optimizer.casefold() == "none":
            optimizer = None
        if isinstance(optimizer, str) and _is_phase(optimizer):
            optimizer = Query(include=frozenset({optimizer}))
        if isinstance(optimizer, str) and optimizer != DEFAULT:
            self.name = LEVELS.get(optimizer, optimizer).casefold()
            if self.name not in MODES:
                known = ", ".join(MODES)
                raise UnknownNameError(f"no optimizer is called {optimizer!r}; use one of {known}")
        elif isinstance(optimizer, Query):
            query = query or optimizer
        elif optimizer is None or hasattr(optimizer, "rewrite"):
            self._optimizer = optimizer
        elif optimizer != DEFAULT:
            what = f"an optimizer must be a name, a Query or a driver, not {describe(optimizer)}"
            raise UnknownNameError(what)
        self.query = query or MODES[self.name]
        if db is not None and self._optimizer == DEFAULT:
            self._optimizer = db.query(self.query)
        self.only = bool(self.query.include) and _names_phases(self.query)

    @property
    def optimizer(self) -> Any:
        """Optimizer that rewrites the graph: an object with `rewrite(fgraph,
        trace=None)`, or None.
        """
        linker = get_linker(self.linker)
        if self._optimizer != DEFAULT:
            return None if self._optimizer is None else linker.watching(self._optimizer)
        from rewrite_engine.pipeline.phases import optimizer

        only = self.only and "fast_run" not in self.query.include
        phases = () if only else linker.phases
        query = self.query if only else _with(self.query, linker.includes)
        return linker.watching(optimizer(query, self.additions, phases=phases, steps=self.steps))

    @property
    def provided_optimizer(self) -> Any:
        """Query or optimizer that the mode was made of; if there is none, a query that selects only
        merging.
        """
        if self._optimizer is None:
            return Query(include=frozenset({"merge"}))
        return self.query if self._optimizer == DEFAULT else self._optimizer

    @property
    def rules(self) -> RuleSet:
        """Rules known to the mode, including those that its query leaves out."""
        from rewrite_engine.match.ruleset import RuleSet
        from rewrite_engine.pipeline.phases import known_rules

        if self._optimizer == DEFAULT:
            return known_rules(self.query, self.additions)
        parts = getattr(self._optimizer, "parts", (self._optimizer,))
        own = {rule.name: rule for part in parts for rule in getattr(part, "rules", ())}
        return RuleSet(own.values())

    def _with(self, query: Query, *more: Addition) -> Mode:
        if self._optimizer is not None and self._optimizer != DEFAULT:
            raise ValueError(f"{self!r} has its own optimizer: select rules in that optimizer")
        new = copy(self)
        new.query, new.additions = query, self.additions + more
        return new

    def adding(
        self,
        *rules: Rule | RuleSet | Iterable[Rule] | GraphRewriter,
        overwrite: bool = False,
        before: str | None = None,
        after: str | None = None,
    ) -> Mode:
        """Return a mode with additional rules; `mode + rules` is short for it.

        The rules come last, or before (after) the named rules. overwrite: the rules replace those
        of the same names. A driver runs after all phases, or before a named one:
        `mode.adding(driver, before="canonicalize")`.

        Raises `PatternError` for a rule without a phase and `ValueError` for a mode with an
        optimizer of its own. When a graph is rewritten, raises `DuplicateRuleError` and
        `UnknownNameError`, and `PatternError` for a rule whose phase needs to be included
        (`including("saturate")`) and is not.
        """
        from rewrite_engine.match.ruleset import Addition, RuleSet

        if self._optimizer != DEFAULT:
            raise ValueError(f"{self!r} has its own optimizer: add rules to that optimizer")
        drivers = [one for one in rules if hasattr(one, "rewrite")]
        others: Any = [one for one in rules if one not in drivers]
        if drivers:
            mode = self._running(drivers, before, overwrite=overwrite, after=after)
            return mode.adding(*others) if others else mode
        new = RuleSet().adding(*others)
        for rule in new:
            if rule.phase is None:
                raise rule.without_phase()
        return self._with(self.query, Addition(new, overwrite, before, after))

    def _running(self, drivers: Iterable[Any], before: str | None, **unknown: Any) -> Mode:
        from rewrite_engine.pipeline.phases import PlacedDriver, check_place

        refuse_options("adding", "a driver runs before a phase, or after all of them", **unknown)
        check_place(before)
        new = copy(self)
        new.steps += tuple([PlacedDriver(driver, before) for driver in drivers])
        return new

    def register(self, *rules: Any, **options: Any) -> Mode:
        """Add rules, under the field's usual name for `adding`: `(driver, 1.5)` is a driver and its
        position.
        """
        from rewrite_engine import hooks

        placed = [one for one in rules if isinstance(one, tuple)]
        mode = self
        for driver, position in placed:
            mode = mode.adding(hooks.as_driver(driver), before=hooks.phase_at(position))
        others = [one for one in rules if one not in placed]
        return mode.adding(*others, **options) if others else mode

    def __add__(self, rules: Rule | RuleSet | Iterable[Rule] | GraphRewriter) -> Mode:
        return self.adding(rules)

    def including(self, *tags: Any) -> Mode:
        """Return a mode that also has rules that are off by default, by tags such as "fastmath" or
        "shape_unsafe".
        """
        return self._with(self.query.including(*tags))

    def excluding(self, *tags: Any) -> Mode:
        """Return a mode without some rules: by tag, claim, pack or name, or the rule itself."""
        return self._with(self.query.excluding(*tags))

    def requiring(self, *tags: Any) -> Mode:
        """Return a mode with only the rules that have all these tags."""
        return self._with(self.query.requiring(*tags))

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, without a linker chosen automatically for this machine: the
        machine that loads the mode chooses its own.
        """
        state = dict(vars(self))
        if self.usual_of is not None and self.linker in ("native", "vm"):
            del state["linker"]
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        if "linker" not in state:
            self.linker = usual_linker(state["usual_of"])

    def __copy__(self) -> Mode:
        new = object.__new__(type(self))
        vars(new).update(vars(self))
        return new

    def __repr__(self) -> str:
        said = [] if self.linker == "vm" else [f"linker={self.linker!r}"]
        if self._optimizer != DEFAULT or self.only:
            said.append(f"optimizer={self.query if self.only else self._optimizer!r}")
        elif not said:
            said.append(repr(self.name))
        elif self.name != "fast_run":
            said.append(f"optimizer={self.name!r}")
        said += ["wait=True"] if self.wait else []
        text = f"Mode({', '.join(said)})"
        for rules, *how in self.additions:
            options = [
                f", {name}={value!r}"
                for name, value in zip(("overwrite", "before", "after"), how, strict=True)
                if value
            ]
            text += f".adding({', '.join(rules.by_name)}{''.join(options)})"
        for step in self.steps:
            where = "" if step.before is None else f", before={step.before!r}"
            text += f".adding({step.driver}{where})"
        return text if self.only else text + self.query.calls(MODES[self.name])

    def _repr_html_(self) -> str:
        from rewrite_engine.compile.notebook import mode_as_html

        return mode_as_html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mode):
            return NotImplemented
        return self._parts() == other._parts()

    def _parts(self) -> tuple[Any, ...]:
        own = self._optimizer, self.additions, self.steps
        return self.linker, self.query, self.only, self.wait, *own

    def __hash__(self) -> int:
        return hash((self.linker, self.query, self.additions))


def _is_phase(name: str) -> bool:
    """Return whether an optimizer's name names one phase, which is then the whole pipeline."""
    if name in MODES or name in LEVELS or name == DEFAULT:
        return False
    return _names_phases(Query(include=frozenset({name})))


def _with(query: Query, phases: Sequence[str]) -> Query:
    """Return a query with further phases, except those that it excludes."""
    more = [phase for phase in phases if phase not in query.exclude]
    return query.including(*more) if more else query


def _names_phases(query: Query) -> bool:
    """Return whether the query of a mode names the phases that it selects."""
    from rewrite_engine.pipeline.phases import NAMES

    return "fast_run" not in query.include and not query.include.isdisjoint(NAMES)


def usual_linker(mode: str = "fast_run") -> str:
    """Return the linker of a mode that names none: "native" where available, unless the mode should
    compile fast.
    """
    if config.linker != AUTO:
        return config.linker
    return "native" if mode == "fast_run" and is_native_usual() else "vm"


@cache
def is_native_usual() -> bool:
    """Return whether llvmlite is installed, with a Python and a processor on which native code is
    tested.
    """
    python = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info < (3, 14)
    threads = "t" in getattr(sys, "abiflags", "")  # (a build without the GIL)
    here = hasattr(os, "uname") and (sys.platform, os.uname().machine) in TESTED
    return python and not threads and here and has_llvmlite()


#: where native code is tested: AArch64 under emulation (`scripts/arm`)
TESTED = (("linux", "x86_64"), ("linux", "aarch64"))


def _names(linker: Any) -> tuple[str, str | Linker]:
    """Return the names of the mode and the linker for the `linker` argument; a linker object is
    returned unchanged, and `AUTO` uses `config.linker`.
    """
    if isinstance(linker, Linker):
        return "fast_run", linker
    key = linker.casefold() if isinstance(linker, str) else None
    key = ALIASES.get(key or "", key)
    if key in MODES:
        return key, AUTO
    if key in LINKERS:
        return "fast_run", key
    if key == AUTO or key in COMPILERS:
        return "fast_run", AUTO
    if key in VIRTUAL_MACHINES:
        return "fast_run", "vm"
    why = f"no mode or linker is called {linker!r}"
    if key is None:
        why = f"a linker must be a name (see `register_linker`), not {describe(linker)}"
    elif key in PLANNED:
        why = f"{linker!r} is not available"
    known = f"modes: {', '.join(MODES)}; linkers: {', '.join(LINKERS)}"
    raise UnknownNameError(f"{why}; {known}")


def get_mode(mode: Any = None) -> Mode:
    """Return the mode for an argument: a `Mode`, a name, or None for `config.mode`."""
    if mode is None:
        mode = config.mode
    if isinstance(mode, Mode):
        return mode
    if not isinstance(mode, str):
        raise UnknownNameError(f"a mode must be a Mode or a name, not {describe(mode)}")
    return Mode(mode)


get_default_mode = get_mode  # as the field calls it without an argument
