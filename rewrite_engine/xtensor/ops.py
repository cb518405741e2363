"""`XOp`: base class of ops on arrays with named dimensions that stay in a graph until it is
compiled.

There are two, `Transpose` and `XRV` (`random.py`), as programs look for them; all other functions
build ops of tensors at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.compile.evaluate import evaluate
from rewrite_engine.errors import DimsError, MethodNotDefined
from rewrite_engine.graph.node import Apply, Variable, build_node
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import located, user_origin
from rewrite_engine.xtensor.type import is_named, named, tensor_from_xtensor, xtensor_from_tensor


class XOp(Op):
    """Base class of ops on arrays with named dimensions that stay in the graph until it is
    compiled.

    A subclass defines `lowered`, its form in ops of tensors, from which the types and values of its
    outputs follow.
    """

    def lowered(self, *inputs: Any) -> list[Any]:
        """Return the outputs, computed by ops of tensors."""
        raise MethodNotDefined(f"{type(self).__name__} does not define lowered")

    def make_node(self, *inputs: Any) -> Apply:
        """Return the node. Raise the errors of `lowered`."""
        variables = self.convert_inputs(inputs)
        types = tuple([v.type for v in self.lowered(*variables)])
        return build_node(self, variables, types, user_origin())

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the lowered form, if no rule has replaced the op."""
        roots = [v.type() for v in node.inputs]
        found = self.lowered(*roots)
        for cell, v in zip(output_storage, found, strict=True):
            cell[0] = evaluate(v, dict(zip(roots, inputs, strict=True)))

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Return False: the lowered form is folded instead."""
        return False


class Transpose(XOp):
    """Array with its dimensions in another order."""

    __props__ = ("dims",)
    moves_only = True

    def __init__(self, dims: Sequence[str]) -> None:
        self.dims = named(dims)

    def lowered(self, *inputs: Any) -> list[Any]:
        """Return a tensor with reordered dimensions."""
        (x,) = inputs
        if not is_named(x) or {*x.type.dims} != {*self.dims}:
            raise DimsError(
                located(f"the array must have the dimensions {self.dims}", op=self, inputs=inputs)
            )
        order = [x.type.dims.index(dim) for dim in self.dims]
        return [xtensor_from_tensor(tensor_from_xtensor(x).dimshuffle(order), self.dims)]

    def equal_lengths(self, node: Apply) -> list[Any]:
        """Return no lengths: the op never fails."""
        return []

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return the output gradient (a tensor) in the order of the input."""
        dims = inputs[0].type.dims
        g: Any = output_gradients[0].type.array_of(output_gradients[0])
        return [g.dimshuffle([self.dims.index(dim) for dim in dims])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the input tangent in the order of the output."""
        dims = inputs[0].type.dims
        return [
            None if t is None else t.dimshuffle([dims.index(dim) for dim in self.dims])
            for t in eval_points
        ]

    def vectorize_named(self, inputs: Sequence[Any], batch: tuple[str, ...]) -> Sequence[Any]:
        """Apply the op to a batch, with the batch dimensions first."""
        first = [d for d in inputs[0].type.dims if d not in self.dims]
        return Transpose((*first, *self.dims)).make_node(*inputs).outputs
