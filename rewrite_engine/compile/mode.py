"""`Mode`: which rules improve a graph, and which linker runs it.

    Mode("fast_run")                              everything
    Mode("fast_compile")                          only what makes the graph small
    Mode("fast_run").excluding("inplace")         by tag, or by a rule's name
    Mode(optimizer=None)                          the graph as it was built

The rules themselves are in `rules/`, their order in `rules/pipeline.py`; a mode only holds the
query.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.config import config
from rewrite_engine.errors import UnknownNameError, describe
from rewrite_engine.link import LINKERS
from rewrite_engine.match.query import Query

DEFAULT = "default"  # the optimizer that the pipeline makes for the query

#: named modes → their query
MODES = {
    "fast_run": Query(),
    "fast_compile": Query(exclude=frozenset({"specialize", "inplace"})),
}


class Mode:
    """A linker and an optimizer.

    linker: a linker's name, or the name of a mode (case does not matter). optimizer: "default"
    for the pipeline with this mode's query, None for no rewriting, or an object with
    `rewrite(fgraph, trace=None)`. Immutable. Raises `UnknownNameError`.

    >>> Mode("FAST_RUN").excluding("inplace")
    Mode('fast_run').excluding('inplace')
    """

    def __init__(
        self, linker: str = "vm", optimizer: Any = DEFAULT, query: Query | None = None
    ) -> None:
        key = str(linker).casefold()
        if key in MODES:
            self.name, self.linker, found = key, "vm", MODES[key]
        elif key in LINKERS:
            self.name, self.linker, found = "fast_run", key, Query()
        else:
            raise UnknownNameError(
                f"no mode or linker is called {linker!r}; modes: {', '.join(MODES)}; "
                f"linkers: {', '.join(LINKERS)}"
            )
        if isinstance(optimizer, str) and optimizer != DEFAULT:
            if optimizer.casefold() not in MODES:
                raise UnknownNameError(
                    f"no optimizer is called {optimizer!r}; there are {', '.join(MODES)}"
                )
            self.name = optimizer.casefold()
            found, optimizer = MODES[self.name], DEFAULT
        self._optimizer = optimizer
        self.query = found if query is None else query

    @property
    def optimizer(self) -> Any:
        """What rewrites the graph: an object with `rewrite(fgraph, trace=None)`, or None."""
        if self._optimizer != DEFAULT:
            return self._optimizer
        from rewrite_engine.rules.pipeline import optimizer

        return optimizer(self.query)

    def _with(self, query: Query) -> Mode:
        new = Mode(self.linker, self._optimizer, query)
        new.name = self.name
        return new

    def including(self, *tags: Any) -> Mode:
        """Grant what is off by default, such as "fastmath" or "shape_unsafe"."""
        return self._with(self.query.including(*tags))

    def excluding(self, *tags: Any) -> Mode:
        """Leave out rules by tag, claim or name."""
        return self._with(self.query.excluding(*tags))

    def requiring(self, *tags: Any) -> Mode:
        """Keep only rules that have all these tags."""
        return self._with(self.query.requiring(*tags))

    def __repr__(self) -> str:
        text = (
            f"Mode({self.name!r}"
            if self._optimizer == DEFAULT
            else f"Mode(optimizer={self._optimizer!r}"
        )
        text += f", linker={self.linker!r})" if self.linker != "vm" else ")"
        start = MODES.get(self.name, Query())
        for verb, now, then in (
            ("including", self.query.include, start.include),
            ("excluding", self.query.exclude, start.exclude),
            ("requiring", self.query.require, start.require),
        ):
            if now - then:
                text += f".{verb}({', '.join(map(repr, sorted(now - then)))})"
        return text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mode):
            return NotImplemented
        mine = (self.linker, self.query, self._optimizer)
        return mine == (other.linker, other.query, other._optimizer)

    def __hash__(self) -> int:
        return hash((self.linker, self.query))


def get_mode(mode: Any = None) -> Mode:
    """Return the mode for an argument: a `Mode`, a name, or None for `config.mode`."""
    if mode is None:
        mode = config.mode
    if isinstance(mode, Mode):
        return mode
    if not isinstance(mode, str):
        raise UnknownNameError(f"a mode is a Mode or a name, not {describe(mode)}")
    return Mode(mode)
