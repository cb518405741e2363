"""Inference of shapes in a graph, from the shape rules of its ops."""

from __future__ import annotations

from typing import Any

from rewrite_engine.errors import MethodNotDefined
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Lengths, checked_shapes
from rewrite_engine.graph.traverse import ancestors, toposort
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.constructors import scalar

InputDim = tuple[int, int]  # an input, and one of its dimensions


class ShapeInference:
    """Inference of shapes in a graph: `lengths` of all variables, in terms of those of the inputs.

    takes: variables for the unknown lengths of inputs. unknown: lengths that an op does not
    determine. fails: see `InferredShapes`.
    """

    def __init__(self, op: Any) -> None:
        self.lengths: dict[Variable, tuple[Any, ...]] = {}
        self.takes: dict[Variable, InputDim] = {}
        self.unknown: set[Variable] = set()
        self.fails: dict[Apply, list[Lengths] | None] = {}
        for i, v in enumerate(op.inner_inputs):
            self.lengths[v] = lengths_of(v)
            for k, n in enumerate(self.lengths[v]):
                if not isinstance(n, Constant):
                    self.takes[n] = i, k
        for v in (*op.inner_outputs, *[v for n in op.fgraph.apply_nodes for v in n.inputs]):
            if isinstance(v, Constant):
                self.lengths[v] = lengths_of(v)
        for node in toposort(op.inner_outputs):
            self.compare(node)
            self.infer(op.fgraph, node)

    def infer(self, fgraph: Any, node: Apply) -> None:
        """Infer the lengths of the outputs of one node."""
        try:
            told = node.op.infer_shape(fgraph, node, [self.lengths[v] for v in node.inputs])
            found = checked_shapes(node, told)
            found = [tuple([as_tensor_variable(n) for n in shape or ()]) for shape in found]
        except MethodNotDefined:
            found = [lengths_of(v) for v in node.outputs]
            self.unknown.update(n for shape in found for n in shape if n.owner is None)
        for v, shape in zip(node.outputs, found, strict=True):
            static = lengths_of(v)
            pairs = zip(static, shape, strict=True)
            self.lengths[v] = tuple([s if isinstance(s, Constant) else n for s, n in pairs])

    def compare(self, node: Apply) -> None:
        """Record the lengths that one node requires to be equal."""
        own = node.op.equal_lengths(node)
        groups: Any = [list(dict.fromkeys([self.member(node, m) for m in g])) for g in own or ()]
        if own is None or any([None in group for group in groups]):
            self.fails[node] = None
        elif several := [group for group in groups if len(group) > 1]:
            self.fails[node] = several

    def member(self, node: Apply, member: InputDim | int) -> InputDim | int | None:
        """Return a length of an inner graph in terms of the outer node; None if unknown."""
        if not isinstance(member, tuple):
            return member
        n = self.lengths[node.inputs[member[0]]][member[1]]
        return int(n.data) if isinstance(n, Constant) else self.takes.get(n)

    def told(self, v: Variable, absent: set[Variable]) -> list[Variable | None]:
        """Return the lengths of a variable that can be computed before the graph runs.

        They are computed from lengths of inputs and from integers, but not from values of absent
        inputs.
        """
        return [n if self._is_told(n, absent) else None for n in self.lengths[v]]

    def _is_told(self, n: Variable, absent: set[Variable]) -> bool:
        below = set(ancestors([n]))
        own = [v for v in below if v in self.lengths and v.owner is not None]
        integers = all([v.type.ndim == 0 and v.type.kind in "iub" for v in own])
        return integers and below.isdisjoint(self.unknown) and below.isdisjoint(absent)


def rank(v: Variable) -> int:
    """Return the number of dimensions."""
    return v.type.ndim or 0


def lengths_of(v: Variable) -> tuple[Any, ...]:
    """Return the lengths of a variable: constants if known, else new root variables."""
    shape = v.type.shape
    made = []
    for k, n in enumerate(shape):
        name = f"{v.name or 'n'}{k}"
        known = None if n is None else as_tensor_variable(n, dtype="int64")
        made.append(scalar(name, dtype="int64") if known is None else known)
    return tuple(made)
