"""Positions of extrema: `argmax`, `argmin`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from rewrite_engine.errors import ShapeError, message
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.tensor.broadcast import build_site
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.reduction import Reduction
from rewrite_engine.tensor.type import TensorType


class Argmax(Reduction):
    """Position of the maximum along axes, counted in the reduced dimensions taken together; int64.

    Of several, the first; a NaN counts as the maximum. Raises `AxisError`, `ShapeError` for an
    empty array.
    """

    __props__ = ("axis", "keepdims")
    find: ClassVar[Any] = staticmethod(np.argmax)

    def __init__(self, axis: Any = None, keepdims: bool = False) -> None:
        super().__init__(axis, keepdims)

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        """int64, in the reduced static shape."""
        (x,) = types
        if 0 in [x.shape[a] for a in self.axes(x.ndim)]:
            raise ShapeError(
                message(
                    "nothing to search: a length is 0", op=self, inputs=types, where=build_site()
                )
            )
        return [TensorType("int64", self.reduced(x.shape))]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute with the reduced dimensions moved to the end and flattened."""
        x = np.asarray(inputs[0])
        axes = self.axes(x.ndim)
        kept = [i for i in range(x.ndim) if i not in axes]
        flat = x.transpose(*kept, *axes).reshape(
            [x.shape[i] for i in kept] + [math.prod(x.shape[a] for a in axes)]
        )
        try:
            value = self.find(flat, axis=-1)
        except ValueError as error:
            raise ShapeError(
                message(str(error), op=self, inputs=[x], where=node.where())
            ) from error
        output_storage[0][0] = np.asarray(value, np.int64).reshape(self.reduced(x.shape))

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Zero: the position does not change with small changes of the input."""
        from rewrite_engine.tensor.elemwise_grad import zero_gradient

        if is_disconnected(output_gradients[0]):
            return [disconnected()]
        return [zero_gradient(inputs[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Nothing moves."""
        return [None]


class Argmin(Argmax):
    """Position of the minimum; see `Argmax`."""

    find = staticmethod(np.argmin)


def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Position (int64) of the first maximum along axes."""
    return Argmax(axis, keepdims)(as_tensor_variable(x))


def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Position (int64) of the first minimum along axes."""
    return Argmin(axis, keepdims)(as_tensor_variable(x))
