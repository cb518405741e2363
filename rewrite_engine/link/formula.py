"""Formulas of ops (`Op.formula`) as graphs, checked against the types of a node and rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    ShapeError,
    describe,
    dimensions,
    message,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import graph_inputs, toposort
from rewrite_engine.link.linker import Linker
from rewrite_engine.scalar import ops as scalars
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.math import cast
from rewrite_engine.tensor.op import Shapes, TensorOp, is_dimension
from rewrite_engine.tensor.shape import specify_shape
from rewrite_engine.tensor.type import TensorType

MAX_FORMULAS = 1000  # graphs that are cached


class _FormulaOutput(TensorOp):
    """View of an output of a formula, whose lengths must be those that the op declares.

    Inputs: the output, and the inputs of the op. of: the op; output: the number of the output.
    Raises `ShapeError`. (No program applies it, so it has no samples.)
    """

    __props__ = ("of", "output")
    nin = None
    view_map = {0: [0]}
    must_view_map = {0: 0}

    def __init__(self, of: TensorOp, output: int) -> None:
        self.of, self.output = of, output

    def __str__(self) -> str:
        return f"formula of {self.of}"

    def dtypes(self, *types: TensorType) -> list[str]:
        return [types[0].dtype]

    def shapes(self, *types: TensorType) -> Shapes:
        """Compare lengths that the op declares as lengths of its inputs."""
        declared = self.of.shape_rule(types[1:]).outputs[self.output]
        pairs = [(d, n) for d, n in enumerate(declared) if is_dimension(n)]
        equal = [[(0, d), (i + 1, axis)] for d, (i, axis) in pairs]
        return Shapes([[(0, d) for d in range(types[0].ndim)]], equal)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Return the output. Raises `ShapeError`."""
        self.check(node, inputs)
        output_storage[0][0] = inputs[0]


_identity = Elemwise(scalars.identity)
_formulas: dict[Any, tuple[list[Variable], list[Variable]] | None] = {}


def formula_of(node: Apply) -> tuple[list[Variable], list[Variable]] | None:
    """Return the inputs and outputs of the graph that an op's formula gives for a node's types.

    Raises `DTypeError`, `ShapeError` or `ForeignObjectError` for a formula that does not have the
    op's types.
    """
    op: Any = node.op
    if type(op).formula is Op.formula or isinstance(op, ScalarOp) or op.destroy_map:
        return None
    if isinstance(op, Elemwise) and op.scalar_op.formula is None:
        return None
    types = tuple([v.type for v in node.inputs]), tuple([v.type for v in node.outputs])
    if not all([isinstance(type_, TensorType) for type_ in (*types[0], *types[1])]):
        return None
    key = op, type(op).formula, config.floatX, types
    if key not in _formulas:
        if len(_formulas) >= MAX_FORMULAS:
            _formulas.clear()
        _formulas[key] = _built(node)
    graph = _formulas[key]
    return None if graph is None else _fresh(*graph)


def _fresh(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Any:
    """Return a copy of a graph, so that no two nodes share variables."""
    copy = FunctionGraph(list(inputs), list(outputs), clone=True, merging=False)
    return list(copy.inputs), list(copy.outputs)


def _built(node: Apply) -> tuple[list[Variable], list[Variable]] | None:
    """Return the graph of a formula, checked and rewritten; None if the op declines."""
    op: Any = node.op
    inputs = [v.type.make_variable(v.name) for v in node.inputs]
    try:
        returned = op.formula(*_in_own_dtype(node, inputs))
    except Exception as error:
        error.add_note(message("raised by its formula", op=op, where=node.where()))
        raise
    if returned is None:
        return None
    found = list(returned) if isinstance(returned, list | tuple) else [returned]
    if len(found) != len(node.outputs):
        what = f"its formula returns {len(found)} outputs, and the op has {len(node.outputs)}"
        raise ForeignObjectError(message(what, op=op, inputs=node.inputs, where=node.where()))
    pairs = enumerate(zip(found, node.outputs, strict=True))
    checked = [_checked(node, i, v, out.type) for i, (v, out) in pairs]
    others = [v for v in graph_inputs(checked) if v not in inputs and not isinstance(v, Constant)]
    if others:
        what = f"its formula depends on {others[0]!r}, which is none of its inputs"
        raise ForeignObjectError(message(what, op=op, where=node.where()))
    written = _rewritten(op, inputs, checked)
    outputs = list[Variable]()
    for i, (v, out) in enumerate(zip(written, node.outputs, strict=True)):
        if isinstance(op, TensorOp) and not isinstance(op, Elemwise):
            v = _FormulaOutput(op, i)(v, *inputs)
        if v.owner is None or v in outputs or v.type != out.type:
            v = build_node(_identity, (v,), (out.type,), None).outputs[0]
        outputs.append(v)
    return inputs, outputs


def _in_own_dtype(node: Apply, inputs: list[Variable]) -> list[Variable]:
    """Return float16 inputs in the dtype in which a function of the library computes."""
    op, (out, *_) = node.op, node.outputs
    if not isinstance(op, Elemwise) or not op.scalar_op.listed or out.type.dtype == "float16":
        return inputs
    narrow = [v.type.dtype == "float16" for v in inputs]  # type: ignore[attr-defined]
    return [cast(v, out.type.dtype) if n else v for v, n in zip(inputs, narrow, strict=True)]


def _rewritten(op: Op, inputs: list[Variable], outputs: list[Variable]) -> Sequence[Variable]:
    """Return outputs as rules rewrite them; unchanged if a rule makes the op of its formula."""
    from rewrite_engine.pipeline.phases import rewrite_graph  # few graphs have a formula

    found = rewrite_graph(outputs, Linker.phases)
    return outputs if any([n.op == op for n in toposort(found, inputs)]) else found


def _checked(node: Apply, i: int, v: Any, wanted: TensorType) -> Variable:
    """Return an output of a formula that has the declared type."""
    op: Any = node.op

    def refuse(error: type[Exception], what: str) -> Exception:
        text = f"output {i} of its formula {what}; the op declares {wanted}"
        return error(message(text, op=op, inputs=node.inputs, where=node.where()))

    try:
        v = as_tensor_variable(v)
    except (TypeError, ValueError) as error:
        raise refuse(ForeignObjectError, f"is {describe(v)}") from error
    if v.type.dtype != wanted.dtype:
        raise refuse(DTypeError, f"has dtype {v.type.dtype}")
    if v.type.ndim != wanted.ndim:
        raise refuse(ShapeError, f"has {dimensions(v.type.ndim)}")
    lengths = list(zip(v.type.shape, wanted.shape, strict=True))
    if any([None not in pair and pair[0] != pair[1] for pair in lengths]):
        raise refuse(ShapeError, f"has shape {v.type.shape}".replace("None", "?"))
    if any([n is None and k is not None for n, k in lengths]):
        v = specify_shape(v, wanted.shape)
    return v
