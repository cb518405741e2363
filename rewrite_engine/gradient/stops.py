"""Functions that return their argument, and change or stop its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import OptionError
from rewrite_engine.gradient.type import float_zeros
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, grad_undefined
from rewrite_engine.tensor.math import clip, mul
from rewrite_engine.tensor.op import Shapes, TensorOp, same_shape

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable


class GradientView(TensorOp):
    """Base class of ops that return their input and change its gradient."""

    marks_gradients = True  # so that a rule can take it out
    __props__: tuple[str, ...] | None = ()
    view_map = {0: [0]}
    must_view_map = {0: 0}
    only_lengths = True
    samples: Sequence[Any] = (({}, (2, 3)),)

    def infer_types(self, types: tuple[Any, ...], numbers: Sequence[Any] = ()) -> Sequence[Any]:
        """Return the types of the inputs."""
        return types

    def shapes(self, *types: Any) -> Shapes:
        return same_shape(types[0])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a batch."""
        return [self(*inputs)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = inputs[0]


class DisconnectedGrad(GradientView):
    """Op that returns its input and disconnects its gradient."""

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        return [[False]]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [disconnected()]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return [None]


class ZeroGrad(GradientView):
    """Op that returns its input, with gradient zero."""

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [float_zeros(inputs[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return [disconnected()]


class UndefinedGrad(GradientView):
    """Op that returns its input; using its gradient is an error."""

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [grad_undefined(self, 0, inputs[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return [grad_undefined(self, 0, inputs[0])]


class GradClip(GradientView):
    """Op that returns its input and clips its gradient to [clip_lower_bound, clip_upper_bound].

    The forward derivative is that of the clipping at 0: the identity if 0 is within the bounds,
    else 0.
    """

    __props__ = ("clip_lower_bound", "clip_upper_bound")
    samples = (({"clip_lower_bound": -1.0, "clip_upper_bound": 1.0}, (2, 3)),)

    def __init__(self, clip_lower_bound: float, clip_upper_bound: float) -> None:
        if not clip_lower_bound <= clip_upper_bound:
            raise OptionError(
                f"grad_clip: the lower bound {clip_lower_bound} must be below the upper bound "
                f"{clip_upper_bound}"
            )
        self.clip_lower_bound = clip_lower_bound
        self.clip_upper_bound = clip_upper_bound

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [clip(output_gradients[0], self.clip_lower_bound, self.clip_upper_bound)]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        through = self.clip_lower_bound <= 0 <= self.clip_upper_bound
        return [eval_points[0] if through else disconnected()]


class GradScale(GradientView):
    """Op that returns its input and multiplies its gradient by a number."""

    __props__ = ("multiplier",)
    samples = (({"multiplier": 2.0}, (2, 3)),)

    def __init__(self, multiplier: float) -> None:
        self.multiplier = multiplier

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [mul(self.multiplier, output_gradients[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return [mul(self.multiplier, eval_points[0])]


disconnected_grad_ = DisconnectedGrad()
zero_grad_ = ZeroGrad()
undefined_grad_ = UndefinedGrad()


def disconnected_grad(x: TensorLike) -> TensorVariable:
    """Return `x`; gradients treat it as a constant, and variables it depends on as disconnected."""
    return disconnected_grad_(x)


def zero_grad(x: TensorLike) -> TensorVariable:
    """Return `x`; gradients through it are zero (and so not disconnected)."""
    return zero_grad_(x)


def undefined_grad(x: TensorLike) -> TensorVariable:
    """Return `x`; a gradient through it raises `NullTypeGradError`."""
    return undefined_grad_(x)


def grad_clip(x: TensorLike, lower_bound: float, upper_bound: float) -> TensorVariable:
    """Return `x`; gradients through it are clipped to [lower_bound, upper_bound] elementwise."""
    return GradClip(lower_bound, upper_bound)(x)


def grad_scale(x: TensorLike, multiplier: float) -> TensorVariable:
    """Return `x`; gradients through it are multiplied by a number."""
    return GradScale(multiplier)(x)
