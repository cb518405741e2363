"""Outputs of a graph as uses of variables, as other libraries read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rewrite_engine.graph.node import Apply, Variable, build_node
from rewrite_engine.graph.op import Op

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph


class Output(Op):
    """What uses output `idx` of a graph. Its nodes are no part of the graph: they are made when
    somebody asks who uses a variable.
    """

    __props__ = ("idx",)

    def __init__(self, idx: int) -> None:
        self.idx = idx

    def __str__(self) -> str:
        return f"output[{self.idx}]"


def output_node(idx: int, var: Variable) -> Apply:
    """The node of which output `idx`, this variable, is the only input."""
    return build_node(Output(idx), (var,), (), None)


class Clients(Mapping[Variable, list[tuple[Apply, int]]]):
    """`FunctionGraph.clients`: {variable: where it is used}."""

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph

    def __getitem__(self, var: Variable) -> list[tuple[Apply, int]]:
        return self.fgraph.get_clients(var)

    def __contains__(self, var: Any) -> bool:
        return var in self.fgraph.variables

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.fgraph.variables)

    def __len__(self) -> int:
        return len(self.fgraph.variables)

    def __or__(self, other: Mapping[Variable, Any]) -> dict[Variable, Any]:
        return dict(self) | dict(other)

    def __repr__(self) -> str:
        return repr(dict(self))


class Elsewhere:
    """An attribute that is not here, and what to write. (A `__getattr__` of the graph's would make
    all others slower.)
    """

    def __init__(self, name: str, text: str) -> None:
        self.text = f"'FunctionGraph' object has no attribute {name!r}: {text}"

    def __get__(self, fgraph: Any, kind: Any = None) -> Any:
        raise AttributeError(self.text)


#: what keeps the books of a graph elsewhere, and what to write here
ELSEWHERE = {
    "add_client": "`replace` keeps the clients",
    "collect_callbacks": "features are in `features`, and are told by `replace`",
    "execute_callbacks": "features are told by `replace`",
    "freeze": "an op keeps its inner graph in an `OpFromGraph`; `clone` copies a graph",
    "import_node": "`replace` and `add_output` import what is new",
    "import_var": "`replace` and `add_output` import what is new",
    "remove_client": "`replace` keeps the clients",
    "remove_node": "a node leaves when nothing uses it: `replace`, `remove_output`",
}
