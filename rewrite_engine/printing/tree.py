"""`debugprint`: a graph as a tree of text, each node once.

    log [id A]
     └─ add [id B]
        ├─ 1.0 [id C]
        └─ x [id D]

A node that was printed before is shown with its identifier only (`···` replaces its inputs). The
text is linear in the size of the graph: from depth 40 on, every 40 levels the indentation starts
again at the left margin, after the depth (`40⋮ └─ sin [id AO]`). Formulas are in `formula.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

from rewrite_engine.errors import refuse_options
from rewrite_engine.graph.node import Apply, Variable, output_name
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.printing.identifier import Identifiers
from rewrite_engine.terms.print import leaf_text

BLOCK = 40  # levels after which indentation starts anew
MORE = "···"
FACTS = "query facts about a variable directly: `rewrite_engine.facts.symmetric(x)`"


@dataclass(slots=True)
class Options:
    """Options of `debugprint`, such as the depth."""

    depth: int
    print_type: bool
    print_shape: bool
    stop_on_name: bool
    print_storage: bool
    print_op_info: bool
    print_destroy_map: bool
    print_view_map: bool
    print_fgraph_inputs: bool
    print_topo_order: bool
    print_inner_graphs: bool


@dataclass(slots=True)
class PrintedGraph:
    """Outputs to print, with information about them that is not in their graph."""

    outputs: list[Any]
    inputs: list[Any]
    order: dict[Any, int]
    notes: dict[int, str]
    storage: dict[Any, list[Any]]
    told: dict[Any, str] = field(default_factory=dict)  # what an op tells of the graph inside
    updates: dict[int, Any] = field(default_factory=dict)  # {output: state}


@singledispatch
def op_debug_information(op: Any, node: Any) -> dict[Any, str]:
    """Return what `print_op_info` shows for a node: `{variable: text}` for its outputs, for its
    inputs where they are printed below it, and for variables of the inner graph. The default is the
    op's `debug_information(node)`, if it has one; register a function per class of op for others.
    """
    own = getattr(op, "debug_information", None)
    return {} if own is None else own(node)


def debugprint(
    graph_like: Any,
    depth: int = -1,
    print_type: bool = False,
    print_shape: bool = False,
    file: Any = None,
    id_type: str = "CHAR",
    stop_on_name: bool = False,
    done: dict[Any, str] | None = None,
    print_storage: bool = False,
    used_ids: dict[Any, str] | None = None,
    print_op_info: bool = False,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
    print_memory_map: bool = False,
    print_inner_graphs: bool | str = "auto",
    print_fgraph_inputs: bool = False,
    print_assumptions: bool = False,
    print_topo_order: bool = True,
    ids: str | None = None,
) -> str | None:
    """Print a graph as text, one line per variable, indented by depth.

    graph_like: a variable, a node, a `FunctionGraph`, a compiled function, or a list of these. A
    line shows the op or name, the identifier, with `print_type` the type, the variable's name in
    quotes, and for function graphs the position in the order of execution. An output of a node with
    several has its index after a dot. Nodes that were already printed are not repeated.

    depth: how many levels (-1: all). file: the destination (None: standard output; "str": return
    the text). id_type (also `ids`): "CHAR", "int", "id", "auto" or "". stop_on_name: print nothing
    below a variable that has a name. done, used_ids: the nodes and identifiers printed so far; pass
    the same dicts again to continue. print_shape, print_storage, print_op_info, print_destroy_map,
    print_view_map (print_memory_map: both), print_fgraph_inputs, print_topo_order: also print
    these; print_inner_graphs: False omits the graphs inside ops.

    Returns the text if `file` is "str", else `file`. Raises `TypeError` for an object that has no
    graph, `ValueError` for an unknown `id_type`, `OptionError` for print_assumptions.

    >>> from tests.toy import num, log, add
    >>> debugprint(log(add(num("x"), num("y"))))
    log [id A]
     └─ add [id B]
        ├─ x [id C]
        └─ y [id D]
    """
    refuse_options("debugprint", FACTS, print_assumptions=print_assumptions)
    options = Options(
        depth, print_type, print_shape, stop_on_name, print_storage, print_op_info,
        print_destroy_map or print_memory_map, print_view_map or print_memory_map,
        print_fgraph_inputs, print_topo_order, bool(print_inner_graphs),
    )  # fmt: skip
    tree = Tree(options, Identifiers(id_type if ids is None else ids, used_ids), done)
    lines = tree.lines(sources(graph_like))
    if isinstance(file, str) and file == "str":
        return "\n".join(lines)
    stream = sys.stdout if file is None else file
    stream.writelines(line + "\n" for line in lines)
    stream.flush()
    return file


def sources(obj: Any) -> list[PrintedGraph]:
    """Find the outputs to print in a variable, a node, a graph, a function, or lists of them."""
    if isinstance(obj, Variable):
        return [PrintedGraph([obj], [], {}, {}, {})]
    if isinstance(obj, Apply):
        return [PrintedGraph(list(obj.outputs), [], {}, {}, {})]
    if isinstance(obj, (list, tuple)):
        return [source for item in obj for source in sources(item)]
    fgraph = getattr(obj, "fgraph", obj)
    if hasattr(fgraph, "toposort") and hasattr(fgraph, "outputs"):
        return [graph_source(fgraph, getattr(obj, "storage_map", None))]
    raise TypeError(
        f"{type(obj).__name__} is no variable, node, graph, function or list of these: {obj!r}"
    )


def graph_source(fgraph: Any, storage: dict[Any, list[Any]] | None) -> PrintedGraph:
    """Return the outputs of a function graph, with the order of execution and the variables they
    update.
    """
    order = {node: i for i, node in enumerate(fgraph.toposort())}
    updates = {k: fgraph.inputs[i] for k, i in (getattr(fgraph, "updates", None) or {}).items()}
    notes = {out: f"  (new value of {state})" for out, state in updates.items()}
    found = PrintedGraph(list(fgraph.outputs), list(fgraph.inputs), order, notes, storage or {})
    found.updates = updates
    return found


class Tree:
    """Writer of the lines. `done`: the nodes whose inputs were shown."""

    def __init__(self, options: Options, ids: Identifiers, done: dict[Any, str] | None) -> None:
        self.options = options
        self.ids = ids
        self.done = {} if done is None else done
        self.inner: list[Any] = []  # nodes whose op contains a graph
        self.known: dict[Any, dict[Any, str]] = {}  # what ops tell of nodes

    def lines(self, found: list[PrintedGraph]) -> Iterator[str]:
        """Yield all lines: the inputs if requested, the outputs, the graphs inside ops."""
        for source in found:
            if self.options.print_fgraph_inputs and source.inputs:
                yield "Inputs:"
                yield from (" " + self.text(v, source) for v in source.inputs)
                yield ""
                yield "Outputs:"
            for i, out in enumerate(source.outputs):
                yield from self.below(out, source, source.notes.get(i, ""))
        if self.options.print_inner_graphs:
            yield from self.inner_graphs()

    def below(
        self, root: Any, source: PrintedGraph, note: str = "", margin: str = ""
    ) -> Iterator[str]:
        """Yield the lines of a variable and everything it depends on, depth first."""
        if self.options.depth == 0:
            return
        stack: list[tuple[Any, int, str, str, Any]] = [(root, 0, margin, "", None)]
        while stack:
            v, depth, indent, branch, user = stack.pop()
            if v is MORE:
                yield indent + branch + MORE
                continue
            yield indent + branch + self.text(v, source) + self.told(v, source, user) + note
            note = ""
            children = () if depth + 1 == self.options.depth else self.children(v)
            indent = deeper(indent, branch, depth + 1, margin)
            last = len(children) - 1
            for i in range(last, -1, -1):
                branch = " └─ " if i == last else " ├─ "
                stack.append((children[i], depth + 1, indent, branch, v.owner))

    def children(self, v: Any) -> Sequence[Any]:
        """Return the variables shown below a variable."""
        node = v.owner
        if node is None or not node.inputs or (self.options.stop_on_name and v.name is not None):
            return ()
        if node in self.done:
            return (MORE,)
        self.done[node] = self.ids.of(node)
        if inner_graph(node.op) is not None:
            self.inner.append(node)
        return tuple(node.inputs)

    def text(self, v: Any, source: PrintedGraph) -> str:
        """Return the text of one variable."""
        node = v.owner
        if node is None:
            return leaf_text(v) + self.ids.of(v) + self.extras(v, source)
        which = ""
        if len(node.outputs) > 1:
            name = output_name(node.op, v.index)
            which = f".{v.index if name is None else name}"
        text = str(node.op) + which + self.ids.of(node) + self.extras(v, source)
        if v.name is not None:
            text += f" {v.name!r}"
        if self.options.print_destroy_map and node.op.destroy_map:
            text += f" d={node.op.destroy_map}"
        if self.options.print_view_map and node.op.view_map:
            text += f" v={node.op.view_map}"
        if self.options.print_topo_order and node in source.order:
            text += f" {source.order[node]}"
        return text

    def told(self, v: Any, source: PrintedGraph, user: Any) -> str:
        """Return the information that ops give about a variable: its own node, the node below which
        it is printed, and the op whose graph contains it.
        """
        if not self.options.print_op_info:
            return ""
        found = [source.told.get(v)]
        for node in (v.owner, user):
            if node is not None:
                if node not in self.known:
                    self.known[node] = op_debug_information(node.op, node)
                found.append(self.known[node].get(v))
        texts = [text for text in found if text is not None]
        return f" ({', '.join(texts)})" if texts else ""

    def extras(self, v: Any, source: PrintedGraph) -> str:
        """Return type, shape and stored value, if requested."""
        text = f" <{v.type}>" if self.options.print_type else ""
        if self.options.print_shape and v.type.ndim is not NO_RANK:
            lengths = ", ".join("?" if n is None else str(n) for n in v.type.shape)
            text += f" shape=({lengths}{',' * (v.type.ndim == 1)})"
        if self.options.print_storage and v in source.storage:
            text += f" {source.storage[v]}"
        return text

    def inner_graphs(self) -> Iterator[str]:
        """Yield the graphs inside ops, each op once; those nested inside follow."""
        shown: set[Any] = set()
        if self.inner:
            yield ""
            yield "Inner graphs:"
        for node in self.inner:  # grows while we are here
            if node.op in shown:
                continue
            shown.add(node.op)
            yield ""
            yield f"{node.op}{self.ids.of(node)}"
            source = graph_source(inner_graph(node.op), None)
            if self.options.print_op_info:
                source.told = op_debug_information(node.op, node)
            for out in source.outputs:
                first, *rest = self.below(out, source, margin="   ")
                yield " ← " + first.removeprefix("   ")
                yield from rest


def deeper(indent: str, branch: str, depth: int, margin: str) -> str:
    """Return the indentation one level down."""
    if depth % BLOCK == 0:
        return f"{margin}{depth}⋮"
    return indent + {"": "", " ├─ ": " │ ", " └─ ": "   "}[branch]


def inner_graph(op: Any) -> Any:
    """Return the function graph inside an op (or inside the scalar op of an elementwise one), or
    None.
    """
    fgraph = getattr(op, "fgraph", None)
    return fgraph if fgraph is not None else getattr(getattr(op, "scalar_op", None), "fgraph", None)


dprint = debugprint
