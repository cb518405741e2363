"""PyTensor's linkers with their own arguments: `PerformLinker`, which runs node by node,
`VMLinker`, and `DualLinker`, which compares both. `Mode(linker=…)` takes them, and
`linker.accept(fgraph).make_thunk()` makes a function of a graph that is not rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from rewrite_engine.errors import refuse_options
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.link import vm
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.program import Argument, Program
from rewrite_engine.link.py import PyLinker

__all__ = ["Container", "DualLinker", "PerformLinker", "VMLinkerOfOthers"]


class Container:
    """Holder of a variable's value, which must have the variable's type. storage: list with the
    value.
    """

    def __init__(
        self,
        r: Any,
        storage: list[Any] | None = None,
        *,
        readonly: bool = False,
        strict: bool = False,
        allow_downcast: bool | None = None,
        name: str | None = None,
    ) -> None:
        self.type = r.type if isinstance(r, Variable) else r
        self.storage = [None] if storage is None else storage
        self.readonly, self.strict, self.allow_downcast = readonly, strict, allow_downcast
        self.name = getattr(r, "name", None) if name is None else name

    @property
    def data(self) -> Any:
        """The value, or None."""
        return self.storage[0]

    @data.setter
    def data(self, value: Any) -> None:
        if self.readonly:
            raise AttributeError(f"the container {self.name or ''} is read-only")
        options: dict[str, Any] = {"strict": True} if self.strict else {}
        if self.allow_downcast is not None and not self.strict:
            options["allow_downcast"] = self.allow_downcast
        self.storage[0] = None if value is None else self.type.filter(value, **options)

    value = data


class _Accepts(Linker):
    """Linker that compiles a graph without a `Mode`."""

    fgraph: FunctionGraph | None = None

    def accept(self, fgraph: FunctionGraph, no_recycling: Any = None, profile: Any = None) -> Any:
        """Return this linker for a graph."""
        new = copy(self)
        new.fgraph = fgraph
        return new

    def make_thunk(
        self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None
    ) -> tuple[Callable[[], None], list[Container], list[Container]]:
        """Return a function without arguments, and the containers that it reads and fills.

        input_storage, output_storage: lists with one value each, one for each input or output;
        storage_map: {variable: list}.
        """
        fgraph = self._accepted()
        call, known = program_of(self, fgraph), storage_map or {}
        inputs, outputs = [
            [
                Container(v, known.get(v) if cells is None else cells[i])
                for i, v in enumerate(variables)
            ]
            for cells, variables in (
                (input_storage, fgraph.inputs),
                (output_storage, fgraph.outputs),
            )
        ]

        def thunk() -> None:
            for place, value in zip(outputs, call(*[one.data for one in inputs]), strict=True):
                place.storage[0] = value

        return thunk, inputs, outputs

    def make_function(self, unpack_single: bool = True) -> Callable[..., Any]:
        """Return a function of the graph's inputs. unpack_single: return a single
        result without a list.
        """
        fgraph = self._accepted()
        call, single = program_of(self, fgraph), unpack_single and len(fgraph.outputs) == 1
        return lambda *values: call(*values)[0] if single else list(call(*values))

    def _accepted(self) -> FunctionGraph:
        """Return the graph of this linker. Raises `ValueError` if it has none."""
        if self.fgraph is None:
            raise ValueError("the linker has no graph: accept(fgraph) gives it one")
        return self.fgraph


def program_of(linker: Linker, fgraph: FunctionGraph) -> Callable[..., Any]:
    """Return the function that a linker makes of an unchanged graph; it returns a list."""
    arguments = tuple([Argument(v.type, v.name) for v in fgraph.inputs])
    return linker.link(Program(fgraph, arguments, n_results=len(fgraph.outputs))).call


class PerformLinker(_Accepts, PyLinker):
    """Linker that runs node by node, by `perform`. Two options have no effect: when values are
    released, and the order of independent nodes.
    """

    def __init__(self, allow_gc: bool | None = None, schedule: Any = None) -> None:
        refuse_options("PerformLinker", "the plan determines the order", schedule=schedule)


class DualLinker(PerformLinker):
    """Linker that runs a graph node by node and as one function, and compares the results.

    checker: function of two results, called for each output; raises an error if they differ.
    """

    def __init__(self, checker: Any = None, schedule: Any = None) -> None:
        super().__init__(schedule=schedule)
        self.checker = checker or compare

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        by_node, at_once = super().compile(fgraph), program_of(vm.LINKER, fgraph)

        def run(*values: Any) -> Sequence[Any]:
            found = by_node(*values)
            for one, other in zip(found, at_once(*values), strict=True):
                self.checker(one, other)
            return found

        return run


def compare(x: Any, y: Any) -> None:
    """Raise `ValueError` for values that are not equal."""
    if not np.array_equal(x, y):
        raise ValueError(f"two ways of running a graph return {x!r} and {y!r}")


class VMLinkerOfOthers(_Accepts, vm.LINKER.__class__):  # type: ignore[misc,name-defined]
    """Linker that makes one Python function for all nodes. Two options have no effect: when values
    are released, and whether branches are lazy (they are).
    """

    def __init__(
        self,
        allow_gc: bool | None = None,
        use_cloop: bool = False,
        callback: None = None,
        callback_input: None = None,
        lazy: bool | None = None,
        schedule: None = None,
        c_thunks: bool | None = None,
        allow_partial_eval: bool | None = None,
    ) -> None:
        why = "MonitorMode calls a function at each node, and the plan determines the order"
        asked = {"callback": callback, "callback_input": callback_input, "schedule": schedule}
        refuse_options("VMLinker", why, **asked)
