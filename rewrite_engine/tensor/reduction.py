"""Base classes of reductions along axes: the argument `axis`, the shape of the result, the shape of
gradients.

`axis` is None (all of them) or a sorted tuple; the op of a node never has negative axes, nor lists
all axes one by one. The reductions are in `tensor/reduce.py`, `tensor/statistics/moments.py`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.errors import AxisError, AxisTypeError, ShapeError, dimensions
from rewrite_engine.graph.node import Apply, Variable, build_variable
from rewrite_engine.graph.origin import located, user_origin
from rewrite_engine.tensor.constant import refuse_truth
from rewrite_engine.tensor.op import Shapes, TensorOp, with_parameters
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.variable import TensorVariable

Axes = tuple[int, ...] | None

_NOTHING: dict[Any, Any] = {}


def sorted_axes(axis: Any) -> Axes:
    """Return an `axis` argument (None, an integer, or several) as None or a sorted tuple. Raise
    `AxisError` for a repeated axis.
    """
    if axis is None:
        return None
    if isinstance(axis, np.ndarray):
        axis = axis.tolist()
    many = axis if isinstance(axis, Sequence) else (axis,)
    try:
        axes = tuple(sorted([operator.index(a) for a in many]))
    except TypeError:
        raise AxisTypeError(located(f"axis must be None or integers, not {axis!r}")) from None
    if len(set(axes)) != len(axes):
        raise AxisError(located(f"axis {axis} contains a number twice"))
    return axes


def normalize_axes(axis: Axes, ndim: int, op: Any = None) -> Axes:
    """Return nonnegative axes; None for all axes of an array.

    The first or last axis of a 0-d array is None, too, as in NumPy. Raises `AxisError`.
    """
    if axis is None or (ndim == 0 and axis in [(0,), (-1,)]):
        return None
    for a in axis:
        if not -ndim <= a < ndim:
            what = f"axis {a} is out of range for {dimensions(ndim)}"
            raise AxisError(located(what, op=op))
    axes = sorted_axes(tuple([a % ndim for a in axis]))
    return None if ndim and axes == tuple(range(ndim)) else axes


class AlongAxes(TensorOp):
    """Base class of ops along axes of one tensor. The op of a node has normalized axes."""

    axis: Axes
    samples: Sequence[Any] = (
        ({}, (2, 3)),
        ({"axis": 1}, (2, 3)),
        ({"axis": (0, -1)}, (2, 3, 4)),
        ({"axis": 1}, (0, 3)),
    )

    def canonical(self, ndim: int) -> Any:
        """Return this op with normalized axes. Raise `AxisError`."""
        axis = normalize_axes(self.axis, ndim, self)
        return self if axis == self.axis else self.clone(axis=axis)

    def clone(self, **changes: Any) -> Any:
        """Return this op with other parameters."""
        return with_parameters(self, **changes)

    def convert_input(self, x: Any) -> Variable:
        """Convert the argument to a tensor."""
        refuse_truth(x, self)
        return super().convert_input(x)

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op to one tensor. Raise `AxisError`, `DTypeError`, `ShapeError`."""
        if len(inputs) != 1:
            raise TypeError(located(f"takes 1 input, not {len(inputs)}", op=self))
        (x,) = self.convert_inputs(inputs)
        return TensorOp.make_node(self.canonical(x.type.ndim), x)

    def axes(self, ndim: int) -> tuple[int, ...]:
        """Return the axes as a tuple of integers >= 0."""
        return tuple(range(ndim)) if self.axis is None else tuple([a % ndim for a in self.axis])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op along the corresponding axes, after the batch."""
        ndim = node.inputs[0].type.ndim
        more = inputs[0].type.ndim - ndim
        return self.clone(axis=[a + more for a in self.axes(ndim)])(*inputs, return_list=True)


class Reduction(AlongAxes):
    """Base class of reductions along axes: the axes, the static shape, the shape of the
    gradient.
    """

    keepdims: bool
    samples: Sequence[Any] = (*AlongAxes.samples, ({}, ()), ({"axis": 0, "keepdims": True}, (2, 3)))

    def __init__(self, axis: Any, keepdims: bool) -> None:
        self.axis = sorted_axes(axis)
        self.keepdims = bool(keepdims)

    def __call__(  # type: ignore[override]
        self, *inputs: Any, **options: Any
    ) -> TensorVariable:
        """Apply the op to one tensor, from a cache if the type is known already."""
        if len(inputs) == 1 and not options and isinstance(inputs[0], Variable):
            # the op that a user called is not the node's where its axes need normalising;
            # then its own memory stays empty
            found = self.__dict__.get("_memo", _NOTHING).get((inputs[0].type,))
            if found is not None:
                return build_variable(self, inputs, found[0], user_origin())
        return super().__call__(*inputs, **options)

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the input's dimensions without the reduced ones. Raise `ShapeError`."""
        (x,) = types
        axes = self.axes(x.ndim)
        if self.needs_elements and 0 in [x.shape[a] for a in axes]:
            raise ShapeError("cannot reduce an empty array: a length is 0")
        kept = [1 if i in axes else (0, i) for i in range(x.ndim) if self.keepdims or i not in axes]
        return Shapes([kept])

    def spread(self, x: Variable, reduced: Any) -> Any:
        """Insert the reduced dimensions into a reduced variable, with length 1."""
        if self.keepdims or not self.axes(x.type.ndim):
            return reduced
        kept = iter(range(reduced.type.ndim))
        axes = self.axes(x.type.ndim)
        return reduced.dimshuffle(*["x" if i in axes else next(kept) for i in range(x.type.ndim)])

    #: whether there is no result where a length is 0
    needs_elements = False

    def is_total(self, node: Apply) -> bool:
        """Return whether the reduction cannot fail: it fails only for an empty array."""
        x = node.inputs[0].type
        return not self.needs_elements or all([x.shape[a] for a in self.axes(x.ndim)])

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return one operation per element."""
        return math.prod(inputs[0])

    def __str__(self) -> str:
        parts = (
            []
            if self.axis is None
            else [f"axis={self.axis[0] if len(self.axis) == 1 else self.axis}"]
        )
        parts += ["keepdims"] * self.keepdims
        for name in ("dtype", "acc_dtype"):
            if getattr(self, name, None) is not None:
                parts.append(f"{name}={getattr(self, name)}")
        name = self._name()
        return f"{name}{{{', '.join(parts)}}}" if parts else name

    def _name(self) -> str:
        return type(self).__name__
