"""Conversion between single numbers (`ScalarType`) and 0-d tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import ForeignObjectError, NDimError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.op import Shapes, TensorOp, Types

__all__ = ["ScalarFromTensor", "TensorFromScalar", "scalar_from_tensor", "tensor_from_scalar"]


class TensorFromScalar(TensorOp):
    """Conversion of a number to a 0-d tensor. Tensor ops apply it to variables of a `ScalarType`.

    Raises `ForeignObjectError` for other types.
    """

    __props__ = ()
    only_lengths = True

    def convert_input(self, x: Any) -> Variable:
        """Return a variable unchanged; convert other values to tensors, which the op then
        refuses.
        """
        return x if isinstance(x, Variable) else super().convert_input(x)

    def takes(self, types: Types) -> None:
        if not isinstance(types[0], ScalarType):
            raise ForeignObjectError(f"takes a variable of a ScalarType, not {types[0]}")

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([()])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = np.asarray(inputs[0])

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [scalar_from_tensor(output_gradients[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return [self(t) for t in eval_points]


class ScalarFromTensor(TensorOp):
    """Conversion of a 0-d tensor to a number. Raises `NDimError` for other dimensions."""

    __props__ = ()
    only_lengths = True

    def takes(self, types: Types) -> None:
        super().takes(types)
        if types[0].ndim:
            raise NDimError(f"takes a 0-d tensor, not type {types[0]}")

    def dtypes(self, *types: Any) -> list[ScalarType]:
        return [ScalarType(types[0].dtype)]

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([()])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = node.outputs[0].type.numpy_dtype.type(inputs[0])

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [tensor_from_scalar(output_gradients[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return [self(t) for t in eval_points]


tensor_from_scalar = TensorFromScalar()
scalar_from_tensor = ScalarFromTensor()
