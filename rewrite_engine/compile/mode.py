"""`Mode`: which rules improve a graph, and which linker runs it.

    Mode("fast_run")                              everything
    Mode("fast_compile")                          only what makes the graph small
    Mode(linker="py")                             run by `perform`, node by node
    Mode("DebugMode")                             so, and all of it checked (`compile/debug.py`)
    Mode("fast_run").excluding("inplace")         by tag, or by a rule's name
    Mode("fast_run") + my_rule                    beside the others
    Mode(optimizer=None)                          the graph as it was built

The rules themselves are in `rules/`, their order in `rules/pipeline.py`; a mode only holds the
query, and what it adds.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any

from rewrite_engine.config import config
from rewrite_engine.errors import UnknownNameError, describe, refuse_options
from rewrite_engine.link.linker import LINKERS, get_linker
from rewrite_engine.match.query import Query

if TYPE_CHECKING:
    from rewrite_engine.link.linker import Linker
    from rewrite_engine.match.rule import Rule
    from rewrite_engine.match.ruleset import Addition, RuleSet

DEFAULT = "default"  # the optimizer that the pipeline makes for the query

#: named modes → their query
MODES = {
    "fast_run": Query(),
    "fast_compile": Query(exclude=frozenset({"specialize", "inplace"})),
}
#: linkers of the field that run what they have compiled, and the rest in Python: as "vm" does
VIRTUAL_MACHINES = frozenset({"c|py", "c|py_nogc", "cvm", "cvm_nogc", "vm_nogc"})
#: what the field has, and is not here yet
PLANNED = frozenset({"dask", "jax", "mlx", "numba", "pytorch"})
#: other names of linkers
ALIASES = {"debug_mode": "debugmode"}


class Mode:
    """A linker and an optimizer.

    linker: a linker's name, or the name of a mode (case does not matter). optimizer: "default" for
    the pipeline with this mode's query, the name of a mode or a `Query` for the pipeline with that
    one, None (or "None") for no rewriting, or an object with `rewrite(fgraph, trace=None)`. A query
    that includes phases, and not "fast_run", asks for these phases only. Immutable. Raises
    `UnknownNameError`, `OptionError` for a db: a mode uses the rules of the pipeline.

    >>> Mode("FAST_RUN").excluding("inplace")
    Mode('fast_run').excluding('inplace')
    """

    def __init__(
        self,
        linker: str | None = None,
        optimizer: Any = DEFAULT,
        query: Query | None = None,
        db: None = None,
    ) -> None:
        refuse_options("Mode", "rules are those of the pipeline; use mode.adding(rules)", db=db)
        self.linker: str | Linker  # a linker itself, of modes that make theirs
        self.name, self.linker = _names(linker or usual_linker())
        self._optimizer: Any = DEFAULT
        if isinstance(optimizer, str) and optimizer.casefold() == "none":
            optimizer = None
        if isinstance(optimizer, str) and optimizer != DEFAULT:
            self.name = optimizer.casefold()
            if self.name not in MODES:
                what = f"no optimizer is called {optimizer!r}; there are {', '.join(MODES)}"
                raise UnknownNameError(what)
        elif isinstance(optimizer, Query):
            query = query or optimizer
        elif optimizer is None or hasattr(optimizer, "rewrite"):
            self._optimizer = optimizer
        elif optimizer != DEFAULT:
            what = f"an optimizer is a name, a Query or a driver, not {describe(optimizer)}"
            raise UnknownNameError(what)
        self.query = query or MODES[self.name]
        self.only = bool(self.query.include) and _names_phases(self.query)
        self.additions: tuple[Addition, ...] = ()

    @property
    def optimizer(self) -> Any:
        """What rewrites the graph: an object with `rewrite(fgraph, trace=None)`, or None."""
        linker = get_linker(self.linker)
        if self._optimizer != DEFAULT:
            return None if self._optimizer is None else linker.watching(self._optimizer)
        from rewrite_engine.rules.pipeline import optimizer

        only = self.only and "fast_run" not in self.query.include
        phases = () if only else linker.phases
        return linker.watching(optimizer(self.query, self.additions, phases=phases))

    @property
    def provided_optimizer(self) -> Any:
        """What the mode was made of: its query, or an optimizer of its own."""
        return self.query if self._optimizer == DEFAULT else self._optimizer

    @property
    def rules(self) -> RuleSet:
        """Every rule the mode knows, also those that its query leaves out."""
        from rewrite_engine.match.ruleset import RuleSet
        from rewrite_engine.rules.pipeline import known_rules

        if self._optimizer == DEFAULT:
            return known_rules(self.query, self.additions)
        parts = getattr(self._optimizer, "parts", (self._optimizer,))
        own = {rule.name: rule for part in parts for rule in getattr(part, "rules", ())}
        return RuleSet(own.values())

    def _with(self, query: Query, *more: Addition) -> Mode:
        if self._optimizer is not None and self._optimizer != DEFAULT:
            raise ValueError(f"{self!r} has an optimizer of its own: choose the rules there")
        new = copy(self)
        new.query, new.additions = query, self.additions + more
        return new

    def adding(
        self,
        *rules: Rule | RuleSet | Iterable[Rule],
        overwrite: bool = False,
        before: str | None = None,
        after: str | None = None,
    ) -> Mode:
        """Use more rules; `mode + rules` is short for it. They come last, or before (after) the
        rules that have a name; overwrite: in the place of those that have the same names.

        Raises `PatternError` for a rule without a phase and `ValueError` for a mode that has an
        optimizer of its own; `DuplicateRuleError` and `UnknownNameError` when a graph is rewritten,
        and `PatternError` if a rule's phase has to be asked for (`including("saturate")`) and is
        not.
        """
        from rewrite_engine.match.ruleset import Addition, RuleSet

        if self._optimizer != DEFAULT:
            raise ValueError(f"{self!r} has an optimizer of its own: give that the rules")
        new = RuleSet().adding(*rules)
        for rule in new:
            if rule.phase is None:
                raise rule.without_phase()
        return self._with(self.query, Addition(new, overwrite, before, after))

    register = adding  # as the field calls it

    def __add__(self, rules: Rule | RuleSet | Iterable[Rule]) -> Mode:
        return self.adding(rules)

    def including(self, *tags: Any) -> Mode:
        """Grant what is off by default, such as "fastmath" or "shape_unsafe"."""
        return self._with(self.query.including(*tags))

    def excluding(self, *tags: Any) -> Mode:
        """Leave out rules: by tag, claim, pack or name, or the rule itself."""
        return self._with(self.query.excluding(*tags))

    def requiring(self, *tags: Any) -> Mode:
        """Keep only rules that have all these tags."""
        return self._with(self.query.requiring(*tags))

    def __repr__(self) -> str:
        said = [] if self.linker == "vm" else [f"linker={self.linker!r}"]
        if self._optimizer != DEFAULT or self.only:
            said.append(f"optimizer={self.query if self.only else self._optimizer!r}")
        elif not said:
            said.append(repr(self.name))
        elif self.name != "fast_run":
            said.append(f"optimizer={self.name!r}")
        text = f"Mode({', '.join(said)})"
        for rules, *how in self.additions:
            options = [
                f", {name}={value!r}"
                for name, value in zip(("overwrite", "before", "after"), how, strict=True)
                if value
            ]
            text += f".adding({', '.join(rules.by_name)}{''.join(options)})"
        return text if self.only else text + self.query.calls(MODES[self.name])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mode):
            return NotImplemented
        mine = (self.linker, self.query, self.only, self._optimizer, self.additions)
        its = (other.linker, other.query, other.only, other._optimizer, other.additions)
        return mine == its

    def __hash__(self) -> int:
        return hash((self.linker, self.query, self.additions))


def _names_phases(query: Query) -> bool:
    """Whether a query that a mode is made of names the phases it wants."""
    from rewrite_engine.rules.pipeline import NAMES

    return "fast_run" not in query.include and not query.include.isdisjoint(NAMES)


def usual_linker() -> str:
    """The linker of a mode that names none."""
    return "vm" if config.linker == "auto" else config.linker


def _names(linker: Any) -> tuple[str, str]:
    """The names of the mode and the linker that a name stands for."""
    key = linker.casefold() if isinstance(linker, str) else None
    key = ALIASES.get(key or "", key)
    if key in MODES:
        return key, usual_linker()
    if key in LINKERS:
        return "fast_run", key
    if key in VIRTUAL_MACHINES:
        return "fast_run", "vm"
    why = f"no mode or linker is called {linker!r}"
    if key is None:
        why = f"a linker is given by its name (see `register_linker`), not {describe(linker)}"
    elif key in PLANNED:
        why = f"there is no {linker!r} yet"
    known = f"modes: {', '.join(MODES)}; linkers: {', '.join(LINKERS)}"
    raise UnknownNameError(f"{why}; {known}")


def get_mode(mode: Any = None) -> Mode:
    """Return the mode for an argument: a `Mode`, a name, or None for `config.mode`."""
    if mode is None:
        mode = config.mode
    if isinstance(mode, Mode):
        return mode
    if not isinstance(mode, str):
        raise UnknownNameError(f"a mode is a Mode or a name, not {describe(mode)}")
    return Mode(mode)


get_default_mode = get_mode  # as the field calls it without an argument
