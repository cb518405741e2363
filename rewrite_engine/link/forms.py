"""Forms of a node: all ways in which it can be run alone, which must compute equal values.

`perform` is one; `make_function` and `make_thunk` are others if an op defines them; the line that
the VM writes is another. An op that defines `debug_perform` has only that form. A way of running
with code of its own for some ops registers a function of a node, which returns a `Form`, or None if
there is none:

    @register_form
    def native_code(node):
        return Form("native", compiled(node), written=True) if can_be_compiled(node) else None

Only `DebugMode` uses and compares them (`link/debug`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import HasInnerGraph, inner_ops
from rewrite_engine.graph.node import Apply, Constant, copied
from rewrite_engine.graph.op import Op
from rewrite_engine.link.formula import formula_of
from rewrite_engine.link.linker import Linker, get_linker
from rewrite_engine.link.perform import call_thunk
from rewrite_engine.link.program import Argument, Program

#: `(inputs, cells)`: reads the values of a node's inputs, and puts those of its outputs into cells
Run = Callable[[Sequence[Any], Sequence[list[Any]]], None]


class Form(NamedTuple):
    """Way to run one node.

    name: its name in messages. run: a function like `Op.perform`, without the node. reuses: whether
    it may reuse the contents of the cells. written: whether it is generated or compiled code
    (otherwise it is the op's own Python).
    """

    name: str
    run: Run
    reuses: bool = False
    written: bool = False


_registered: list[Callable[[Apply], Form | None]] = []


def register_form(make: Callable[[Apply], Form | None]) -> Callable[[Apply], Form | None]:
    """Add a way to run nodes: a function of a node that returns a `Form`, or None."""
    _registered.append(make)
    return make


def forms_of(node: Apply, linker: Linker) -> list[Form]:
    """Return every form of a node, the op's own Python first; `debug_perform` replaces all others.

    linker: runs the graph inside an op.
    """
    op, found = node.op, list[Form]()
    op.prepare_node(node, None, None, "py")
    if op.debug_perform is not None:
        return [Form("debug_perform", _of_node(node, op.debug_perform), reuses=True)]
    if isinstance(op, HasInnerGraph) and op.runs is not None:
        found.append(Form("perform", into_cells(linker.runner(node))))
    elif type(op).perform is not Op.perform:
        found.append(Form("perform", _of_node(node, op.perform), reuses=True))
    if type(op).make_thunk is not Op.make_thunk:
        found.append(Form("make_thunk", into_cells(call_thunk(node))))
    elif not op.native and (function := op.make_function(node)) is not None:
        found.append(Form("make_function", into_cells(function)))
    made = [form for make in _registered if (form := make(node)) is not None]
    return found if is_replaced(op) else found + made


def is_replaced(op: Op) -> bool:
    """Return whether `debug_perform` replaces the op, or an op in the graph that it holds, at any
    depth: generated code does not call it.
    """
    if op.debug_perform is not None:
        return True
    graphs = [one.fgraph for one in inner_ops([op])] if isinstance(op, HasInnerGraph) else []
    nodes = [node for fgraph in graphs for node in fgraph.apply_nodes]
    return any([node.op.debug_perform is not None for node in nodes])


def _of_node(node: Apply, perform: Callable[..., None]) -> Run:
    def run(inputs: Sequence[Any], cells: Sequence[list[Any]]) -> None:
        perform(node, list(inputs), cells)

    return run


def into_cells(function: Callable[..., Any]) -> Run:
    """Adapt a function of the values of the inputs, which returns the value of the output (or
    several), to store its results in cells.
    """

    def run(inputs: Sequence[Any], cells: Sequence[list[Any]]) -> None:
        found = function(*inputs)
        values = (found,) if len(cells) == 1 else found
        for cell, value in zip(cells, values, strict=True):
            cell[0] = value

    return run


@register_form
def vm_code(node: Apply) -> Form | None:
    """Return the VM's code for the node as a form, made when it first runs."""
    if node.op.read_if is not None or node.op.native:  # (what is not read is not there)
        return None

    def run(inputs: Sequence[Any], cells: Sequence[list[Any]]) -> None:
        _vm_code(node)(inputs, cells)

    return Form("vm", run, written=True)


@register_form
def formula_code(node: Apply) -> Form | None:
    """The formula of the op as a graph that the VM runs; None if the op has no formula."""
    graph = formula_of(node)
    if graph is None:
        return None
    inputs, outputs = graph
    fgraph = FunctionGraph(inputs, outputs, clone=False)
    arguments = tuple([Argument(v.type) for v in fgraph.inputs])
    packing = "single" if len(outputs) == 1 else "list"
    program = Program(fgraph, arguments, f"formula of {node.op}", len(outputs), packing)
    return Form("formula", into_cells(get_linker("vm").link(program, trust=True).call))


_made: dict[Any, Run] = {}  # code for nodes of one op that have the same types
MANY = 1000


def _vm_code(node: Apply) -> Run:
    """Return the VM's code for a node, made once for all nodes like it."""
    own = [v.signature() if isinstance(v, Constant) else v.type for v in node.inputs]
    key = node.op, tuple(own), tuple([v.type for v in node.outputs])
    found = _made.get(key)
    if found is None:
        if len(_made) >= MANY:
            _made.clear()
        found = _made[key] = linked_alone(node, get_linker("vm"))
    return found


def whole_graph(fgraph: FunctionGraph, linker: Linker) -> Callable[..., Any]:
    """Return a graph as a linker runs it: a function of the values of its inputs, which it may
    overwrite, that returns a list of the values of its outputs.
    """
    arguments = tuple([Argument(v.type, mutable=True) for v in fgraph.inputs])
    program = Program(fgraph, arguments, "debugged", len(fgraph.outputs), "list")
    return linker.link(program, trust=True).call


def linked_alone(node: Apply, linker: Linker) -> Run:
    """Return a single node as a linker runs it. Constant operands stay constant."""
    own = [v if isinstance(v, Constant) else v.type.make_variable() for v in node.inputs]
    places = [i for i, v in enumerate(own) if not isinstance(v, Constant)]
    outputs = copied(node, tuple(own)).outputs
    destroyed = [i for i in places if i in node.op.destroys]
    features = [DestroyHandler([own[i] for i in destroyed])] if destroyed else []
    fgraph = FunctionGraph([own[i] for i in places], list(outputs), features, clone=False)
    arguments = tuple([Argument(own[i].type, mutable=i in destroyed) for i in places])
    program = Program(fgraph, arguments, str(node.op), len(outputs), "list")
    call = linker.link(program, trust=True).call

    def run(inputs: Sequence[Any], cells: Sequence[list[Any]]) -> None:
        for cell, value in zip(cells, call(*[inputs[i] for i in places]), strict=True):
            cell[0] = value

    return run
