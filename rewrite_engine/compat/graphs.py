"""PyTensor's `FunctionGraph`, in which equal nodes stay apart until rules merge them; and its
walks, which find things in another order (PyMC gives seeds to generators in that order).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from rewrite_engine.compat.walks import walk
from rewrite_engine.compile.shared import SharedVariable
from rewrite_engine.graph import fgraph
from rewrite_engine.graph.node import Constant, Variable

__all__ = ["UnmergedGraph", "ancestors", "explicit_graph_inputs", "graph_inputs"]


def ancestors(
    graphs: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Iterator[Variable]:
    """Yield the variables and everything they are computed from, each once; the last ones first,
    and of a node the last input. The walk does not go past a variable in `blockers`.
    """
    stop = frozenset(blockers or ())

    def inputs(v: Variable) -> Iterable[Variable]:
        return () if v.owner is None or v in stop else v.owner.inputs

    return walk(graphs, inputs, bfs=False)


def graph_inputs(
    graphs: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Iterator[Variable]:
    """Yield the roots among them."""
    return (v for v in ancestors(graphs, blockers) if v.owner is None)


def explicit_graph_inputs(graph: Variable | Iterable[Variable]) -> Iterator[Variable]:
    """Yield the roots that have no value: neither constants nor shared variables."""
    several = [graph] if isinstance(graph, Variable) else graph
    roots = graph_inputs(several)
    return (v for v in roots if not isinstance(v, Constant | SharedVariable))


class _AnyGraph(type):
    """The type of a class of which every graph is an instance."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, fgraph.FunctionGraph)


class UnmergedGraph(fgraph.FunctionGraph, metaclass=_AnyGraph):
    """A graph that does not merge equal nodes by itself: a variable that is put in is the graph's
    own, and stays that. (The phase "merge" does it, with which `function` begins.)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"merging": False, **kwargs})
        self.merging = False
