"""Flat columns for graphs, and flat rows for variables and nodes: pickling and deep copying without
recursion over depth.

`to_columns(fgraph)` writes one row per node in topological order; `from_columns(columns)` builds an
equal graph. A variable is a number: roots first, then the nodes' outputs in order.
`FrozenGraph.__reduce__` uses both, so `pickle` and `copy.deepcopy` work on graphs of any depth with
the default recursion limit. The pickle of a function contains its `FunctionGraph` and finds inputs
and outputs by position. Roots (shared variables too) are pickled as objects: the same root
elsewhere in the pickle stays the same.

A single variable is written as the row of its node and an index, after the rows of all nodes below,
so that the operands of each row are written first. A node has one row during a whole pickle or deep
copy: common parts of several variables stay common.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from rewrite_engine.graph.knowledge import knowledge_of
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node, mark
from rewrite_engine.graph.origin import Row, origin_rows, origins_of
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.graph.weak import WeakValues

if TYPE_CHECKING:
    from rewrite_engine.graph.frozen import FrozenGraph


class Columns(NamedTuple):
    """Contents of a graph, without its order and indexes, which are rebuilt."""

    kind: type[FrozenGraph]
    roots: list[Variable]  # the inputs, then constants
    ops: list[Any]
    fan_in: array[int]  # inputs per node
    operands: array[int]  # all nodes' inputs, as numbers of variables
    fan_out: array[int]
    types: list[Any]  # of all nodes' outputs
    origin_rows: list[Row]  # where nodes come from: the user's lines, and what rules made
    origins: array[int]  # numbers of rows, per node
    marks: dict[int, tuple[Any, Any, Any]]  # names, scratch pads of outputs and of their nodes
    inputs: int  # how many of the roots are inputs
    outputs: list[int]
    updates: dict[int, int]
    features: list[Any]
    reorders: bool
    declared: dict[int, dict[Any, Any]]  # what the user said of variables


def to_columns(fgraph: FrozenGraph) -> Columns:
    """Write a graph as columns, in linear time. The features are cloned."""
    nodes = fgraph.toposort()
    roots = [*fgraph.inputs, *[v for v in fgraph.users if isinstance(v, Constant)]]
    number: dict[Variable, int] = {v: i for i, v in enumerate(roots)}
    made = [v for node in nodes for v in node.outputs]
    number.update((v, i) for i, v in enumerate(made, len(roots)))
    rows, origins = origin_rows([node.origin for node in nodes])
    return Columns(
        kind=type(fgraph),
        roots=roots,
        ops=[node.op for node in nodes],
        fan_in=array("l", [len(node.inputs) for node in nodes]),
        operands=array("l", [number[v] for node in nodes for v in node.inputs]),
        fan_out=array("l", [len(node.outputs) for node in nodes]),
        types=[v.type for v in made],
        origin_rows=rows,
        origins=array("l", origins),
        marks={
            number[v]: (v.name, v._tag, v._node_tag)
            for v in made
            if not (v.name is v._tag is v._node_tag is None)
        },
        inputs=len(fgraph.inputs),
        outputs=[number[v] for v in fgraph.outputs],
        updates=dict(fgraph.updates),
        features=[feature.clone() for feature in fgraph.features],
        reorders=fgraph.reorders,
        declared={} if fgraph.facts is None else fgraph.facts.declared_by(number),
    )


def from_columns(columns: Columns) -> Any:
    """Build the graph that `to_columns` wrote.

    The new graph shares only the roots with other graphs.
    """
    variables: list[Variable] = list(columns.roots)
    for node in _nodes(columns, variables):
        variables.extend(node.outputs)
    for i, marks in columns.marks.items():
        mark(variables[i], *marks)
    fgraph = columns.kind(
        columns.roots[: columns.inputs],
        [variables[i] for i in columns.outputs],
        columns.features,
        clone=False,
        merging=False,
    )
    fgraph.updates, fgraph.reorders = columns.updates, columns.reorders
    for i, said in columns.declared.items():
        knowledge_of(fgraph).declare(variables[i], said)
    return fgraph


def _nodes(columns: Columns, variables: list[Variable]) -> Iterator[Apply]:
    """Build the nodes one after the other, appending their outputs to `variables`."""
    operands, types = iter(columns.operands), iter(columns.types)
    origins = origins_of(columns.origin_rows, columns.origins)
    rows = zip(columns.ops, columns.fan_in, columns.fan_out, origins, strict=True)
    for op, fan_in, fan_out, origin in rows:
        inputs = tuple([variables[i] for i in islice(operands, fan_in)])
        yield build_node(op, inputs, tuple(islice(types, fan_out)), origin)


# --- variables and nodes alone --------------------------------------------------------------------


class Written:
    """Object to be written after the objects that it needs; reading it back gives the object
    itself.
    """

    __slots__ = ("thing", "write", "__weakref__")

    def __init__(self, thing: Any, write: Callable[[Any], Any]) -> None:
        self.thing, self.write = thing, write

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.write(self.thing)


class Rows:
    """Table with one row for each object. Calling it with an object returns the row, which keeps
    the object alive, so that its `id` stays unique. Rows live while somebody holds them, as a
    pickler or `deepcopy` does until it is done. write: returns the `__reduce_ex__` result for an
    object.
    """

    def __init__(self, write: Callable[[Any], Any]) -> None:
        self.write = write
        self.known: WeakValues[int, Written] = WeakValues()

    def __call__(self, thing: Any) -> Written:
        row = self.known.get(id(thing))
        if row is None:
            row = self.known[id(thing)] = Written(thing, self.write)
        return row


def _written(node: Apply) -> Any:
    inputs = [v if v.owner is None else (row_of(v.owner), v.index) for v in node.inputs]
    marks = [(v.name, v._tag, v._node_tag) for v in node.outputs]  # may refer to the node itself
    return _node, (node.op, inputs, [v.type for v in node.outputs]), (node.where(), marks)


row_of = Rows(_written)


def flat(node: Apply, index: int | None = None) -> Any:
    """Return the `__reduce_ex__` result for a node, or for one of its outputs."""
    below = toposort(node.outputs[:1] or node.inputs)
    return _read, ([row_of(n) for n in below], row_of(node), index)


def _read(rows: Sequence[Apply], node: Apply, index: int | None) -> Any:
    return node if index is None else node.outputs[index]


def _node(op: Any, inputs: Sequence[Any], types: Sequence[Any]) -> Apply:
    found = [v if isinstance(v, Variable) else v[0].outputs[v[1]] for v in inputs]
    return build_node(op, tuple(found), tuple(types))
