"""Evaluation of a graph: op by op (`walk`), which also returns all shapes, or compiled (`run`).

The walk is the linker `py` (`link/py.py`), which also looks at the values. It uses no rules and no
generated code, so it is the reference for what a graph means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rewrite_engine.compile.profile_cost import operations
from rewrite_engine.explain.capture import copied
from rewrite_engine.graph.destroyhandler import named
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import inner_ops
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.link.linker import get_linker
from rewrite_engine.link.perform import call_perform
from rewrite_engine.link.plan import plan_of, schedule
from rewrite_engine.link.program import Argument, Program
from rewrite_engine.link.py import PyLinker
from rewrite_engine.link.ticks import Ticks
from rewrite_engine.scalar.op import Cast

LENGTH = 4  # of a dimension of which nothing is known


class SeenShapes(dict[Variable, tuple[int, ...]]):
    """Shapes of arrays, and inside: the floating-point operations of ops that run a graph, in one
    call of each.
    """

    def __init__(self) -> None:
        self.inside: dict[Any, int] = {}


class Watching(PyLinker):
    """Runs a graph op by op, and looks at all values. shapes: of the arrays. strange: what is not
    finite first: inputs and constants, else a result; inside: of an op that runs its graph on them,
    that and the values. checks: whether what is declared of values is checked (`assume`).
    """

    def __init__(self, checks: bool = True) -> None:
        self.checks = checks
        self.shapes = SeenShapes()
        self.strange: list[str] = []
        self.inside: tuple[FunctionGraph, Sequence[Any]] | None = None
        self.graphs: dict[Any, Ticks] = {}
        self.counting = get_linker("py").profiled(self.count)  # of graphs inside of ops

    def count(self, fgraph: FunctionGraph, nodes: Sequence[Apply]) -> Ticks:
        """Where it is noted how often each node of a graph inside of an op runs, and on what."""
        found = self.graphs[fgraph] = Ticks(nodes)
        return found

    def counted(self, fgraph: FunctionGraph) -> None:
        """Note the operations of ops of a graph, which has run once."""
        amounts = Counter[Any]()
        for (graph, _), n in operations(self.graphs).items():
            amounts[graph] += n
        uses = Counter([node.op for node in fgraph.apply_nodes if node.op in self.own_ops])
        for op, n in uses.items():
            graphs = {one.fgraph for one in inner_ops([op])}
            self.shapes.inside[op] = sum(amounts[graph] for graph in graphs) // n

    @property
    def own_ops(self) -> set[Any]:
        """The ops whose graphs were run with an eye on them."""
        return {op for op in self.counting.own if op.fgraph in self.graphs}

    def runner(self, node: Apply) -> Callable[..., Any]:
        debug = node.op.debug_perform if self.checks else None
        run = self.counting.runner(node) if debug is None else call_perform(node, debug)

        def watched(*values: Any) -> Any:
            found = run(*values)
            fine = not self.strange
            for v, value in zip(node.outputs, (found,) if len(node.outputs) == 1 else found):
                self.look(v, value)
            if fine and self.strange and getattr(node.op, "runs_once", False):
                self.inside = node.op.fgraph, values
            return found

        return watched

    def look(self, v: Variable, value: Any, what: str = "") -> None:
        """Note a value; what: how to call it, if no node computes it."""
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple):
            self.shapes[v] = shape
        if (v.owner is None or not self.strange) and (kinds := not_finite(value)):
            first = f"{named(v.owner)} is the first to give" if v.owner is not None else what
            self.strange.append(f"{first} {kinds}")


def walk(
    fgraph: FunctionGraph, values: Sequence[Any], checks: bool = True
) -> tuple[list[Any], SeenShapes, list[str]]:
    """Evaluate a graph op by op; return its outputs, the shape of every array met, and what is not
    finite first. The values are copied.

    Raises whatever an op raises, and (checks) `AssumptionError` where something declared is not
    true.
    """
    linker, given = Watching(checks), [copied(value) for value in values]
    for v in ancestors(fgraph.outputs):
        if isinstance(v, Constant):
            linker.look(v, v.data, f"the constant {v} has")
    for v, value in zip(fgraph.inputs, given, strict=True):
        linker.look(v, value, f"the input {v} has")
    with np.errstate(all="ignore"):
        outputs = linker.compile(fgraph)(*given)
    linker.counted(fgraph)
    return list(outputs), linker.shapes, [*linker.strange, *_strange_inside(linker)]


def _strange_inside(linker: Watching) -> list[str]:
    """Where an op that holds a graph gives what is not finite first: the innermost node."""
    found: list[str] = []
    with np.errstate(all="ignore"):
        while linker.inside is not None:
            graph, values = linker.inside
            linker = Watching()
            linker.compile(graph)(*values)
            found = [f"inside of it {text}" for text in linker.strange] or found
    return found


def not_finite(value: Any) -> str:
    """`nan`, `inf`, `nan and inf`, or nothing: what an array has of them."""
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        return ""
    kinds = {"nan": np.isnan(array).any(), "inf": np.isinf(array).any()}
    return " and ".join([kind for kind, there in kinds.items() if there])


WIDER = {"float16": "float64", "float32": "float64", "complex64": "complex128"}


def walk_wide(fgraph: FunctionGraph, values: Sequence[Any]) -> list[Any] | None:
    """The outputs with every float in twice the precision or more; None where nothing is narrower
    than that, or it cannot be done. What a graph means, but for its rounding.
    """
    wide: dict[Variable, Variable] = {}

    def of(v: Variable) -> Variable:
        if v not in wide:
            dtype = WIDER.get(getattr(v.type, "dtype", ""))
            kind = v.type if dtype is None else v.type.clone(dtype=dtype)
            if isinstance(v, Constant):
                wide[v] = v if dtype is None else kind.make_constant(v.data.astype(dtype))
            else:
                wide[v] = kind()
        return wide[v]

    try:
        inputs = [of(v) for v in fgraph.inputs]
        if not any(getattr(v.type, "dtype", "") in WIDER for v in fgraph.outputs):
            return None
        for node in schedule(fgraph):
            made = _wide_op(node).make_node(*[of(v) for v in node.inputs])
            wide.update(zip(node.outputs, made.outputs, strict=True))
        graph = FunctionGraph(inputs, [of(v) for v in fgraph.outputs])
        given = [
            np.asarray(value).astype(v.type.dtype) if v.type is not old.type else value
            for v, old, value in zip(inputs, fgraph.inputs, values, strict=True)
        ]
        return walk(graph, given)[0]
    except Exception:  # an op that is for certain dtypes only: there is no reference then
        return None


def _wide_op(node: Apply) -> Any:
    """The op that computes the same in wider floats."""
    op = node.op
    for name in ("dtype", "acc_dtype"):
        if getattr(op, name, None) in WIDER and name in (op.__props__ or ()):
            params = {p: getattr(op, p) for p in op.__props__}
            op = type(op)(**(params | {name: WIDER[getattr(op, name)]}))
    scalar = getattr(op, "scalar_op", None)
    if isinstance(scalar, Cast) and scalar.dtype in WIDER:
        op = type(op)(type(scalar)(WIDER[scalar.dtype]))
    return op


def run(
    fgraph: FunctionGraph, values: Sequence[Any], inputs: Sequence[Any], mode: Any
) -> list[Any]:
    """Evaluate a graph as a function runs it, without its state: compiled by the mode's linker. The
    values are copied.
    """
    arguments = tuple([_as_argument(spec) for spec in inputs])
    program = Program(fgraph, arguments, "explained", len(fgraph.outputs), "list")
    return list(get_linker(mode.linker).link(program).call(*[copied(v) for v in values]))


def _as_argument(spec: Any) -> Argument:
    if isinstance(spec, Argument):
        return spec._replace(name=None, default=None, strict=False)
    return Argument(spec.type)


def random_values(fgraph: FunctionGraph, inputs: Sequence[Any], seed: int = 0) -> list[Any]:
    """Values of the right types for the inputs of a graph: those that state has, else random ones.

    Dimensions that the graph needs to be equal get one length. Raises `TypeError` for a type that
    has no dtype.
    """
    dims, lengths = plan_of(fgraph).dims, dict[int, int]()
    known = [None if isinstance(spec, Argument) else spec.value for spec in inputs]
    for v, value in zip(fgraph.inputs, known, strict=True):
        if isinstance(value, np.ndarray):
            lengths.update(zip(dims.roots(v), value.shape, strict=True))
    rng = np.random.default_rng(seed)
    result = []
    for v, value in zip(fgraph.inputs, known, strict=True):
        if value is None:
            shape = [lengths.get(i, dims.length_of(i) or LENGTH) for i in dims.roots(v)]
            value = _random(v.type, shape, rng)
        result.append(value)
    return result


def _random(type_: Any, shape: Sequence[int], rng: Any) -> Any:
    kind = type_.kind
    if kind == "?":
        raise TypeError(f"there are no random values of type {type_}")
    own = [n if known is None else known for n, known in zip(shape, type_.shape, strict=True)]
    if kind in "iu":
        return rng.integers(0, 3, own).astype(type_.numpy_dtype)
    if kind == "b":
        return np.asarray(rng.integers(0, 2, own), dtype=bool)
    values = rng.standard_normal(own)
    return np.asarray(
        values if kind == "f" else values + 1j * rng.standard_normal(own), type_.numpy_dtype
    )
