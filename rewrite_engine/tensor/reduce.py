"""Reductions: `CAReduce` (a commutative, associative scalar op along axes) and its subclasses
`Sum`, `Prod`, `Max`, `Min`, `All`, `Any_`.

Means and variances, which are built from these, and `argmax` are in `tensor/statistics/moments.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rewrite_engine.errors import DTypeError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.scalar import ops as scalar
from rewrite_engine.scalar.dtype import DISCRETE, accumulator, dtype_name
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor import math as m
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.reduction import Reduction
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Axis, DTypeLike, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "All", "Any_", "CAReduce", "Max", "Min", "Prod", "Sum", "all", "amax", "amin", "any", "max",
    "min", "prod", "sum",
]  # fmt: skip


class CAReduce(Reduction):
    """Reduction along axes by a commutative, associative scalar op.

    axis: None, an integer or several. dtype: dtype of the result; by default NumPy's (sums of small
    integers and booleans are int64 or uint64). acc_dtype: dtype of intermediate results; by default
    that of the result, but sums and products of float16 and float32 accumulate in float64
    (complex64: complex128). keepdims: keep reduced dimensions with length 1. Raises `AxisError`;
    `ShapeError` for an empty maximum or minimum; `DTypeError`, also for floats that would
    accumulate as integers, and for complex numbers in a real dtype.
    """

    __props__: tuple[str, ...] = ("scalar_op", "axis", "dtype", "acc_dtype", "keepdims")
    samples: Sequence[Any] = (({"scalar_op": scalar.maximum, "axis": 0}, (2, 3)),)

    def __init__(
        self,
        scalar_op: ScalarOp,
        axis: Any = None,
        dtype: Any = None,
        acc_dtype: Any = None,
        keepdims: bool = False,
    ) -> None:
        super().__init__(axis, keepdims)
        self.scalar_op = scalar_op
        self.dtype = None if dtype is None else dtype_name(dtype)
        self.acc_dtype = None if acc_dtype is None else dtype_name(acc_dtype)

    def reducer(self) -> np.ufunc:
        """Return the ufunc whose `reduce` computes this."""
        ufunc = self.scalar_op.ufunc
        if ufunc is None or ufunc.nin != 2 or not self.scalar_op.associative:
            raise DTypeError(
                f"{self}: {self.scalar_op} is not an associative ufunc of two operands"
            )
        return ufunc

    def accumulator(self, dtype: str) -> str:
        """Return the dtype of intermediate results for this dtype of the result."""
        if self.acc_dtype is not None:
            return self.acc_dtype
        return accumulator(dtype) if self.scalar_op in (scalar.add, scalar.mul) else dtype

    @property
    def needs_elements(self) -> bool:  # type: ignore[override]
        """Whether the reduction of an empty array is an error, as for a maximum."""
        return self.reducer().identity is None

    def dtypes(self, *types: TensorType) -> list[str]:
        """Return the declared dtype, or NumPy's."""
        (x,), ufunc = types, self.reducer()
        wide = {"f": "fc", "c": "c"}.get(x.kind)
        for asked in (self.acc_dtype, self.dtype if wide == "c" else None):
            if wide and asked is not None and np.dtype(asked).kind not in wide:
                raise DTypeError(f"numbers of dtype {x.dtype} cannot be reduced as {asked}")
        try:
            return [self.dtype or ufunc.reduce(np.ones(1, x.numpy_dtype)).dtype.name]
        except TypeError as error:
            raise DTypeError(f"is not defined for dtype {x.dtype}") from error

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the reduction. Raise `ShapeError` for the maximum or minimum of an empty
        array.
        """
        x, wanted = inputs[0], node.outputs[0].type.numpy_dtype
        dtype = np.dtype(self.accumulator(wanted.name))
        try:
            value = self.reducer().reduce(x, self.axis, dtype, keepdims=self.keepdims)
        except ValueError as error:
            self.fail(node, str(error))
        output_storage[0][0] = np.asarray(value).astype(wanted, copy=False)

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """Return the gradient of the input, in its shape; zeros if the output is an integer."""
        from rewrite_engine.tensor.elemwise_grad import gradient_dtype, zero_gradient

        (x,), (z,), (g,) = inputs, outputs, output_gradients
        if is_disconnected(g):
            return [disconnected()]
        if z.type.dtype in DISCRETE:
            return [zero_gradient(x)]
        part = self.input_gradient(x, z, g)
        return [m.cast(part, gradient_dtype(x.type.dtype))]

    def input_gradient(self, x: Any, z: Any, g: Any) -> Any:
        """Return the gradient for the scalar op: sum, product, maximum or minimum."""
        if self.scalar_op is scalar.add:
            wide = g if g.type.ndim == 0 else self.spread(x, g)
            one = wide.type.broadcastable == x.type.broadcastable == (True,) * x.type.ndim
            return wide if one else m.second(x, wide)
        wide = self.spread(x, g)
        if self.scalar_op is scalar.mul:
            return m.as_gradient_of(x, m.mul(wide, m.conjugated(self._of_others(x))))
        if self.scalar_op in (scalar.maximum, scalar.minimum):
            missed, count = self._attained(x, z, g.type.dtype)
            return m.switch(missed, 0.0, self.spread(x, m.true_div(g, count)))
        raise NotImplementedError(f"{self} has no gradient")

    def _attained(self, x: Any, z: Any, dtype: str) -> tuple[Any, Any]:
        """Return where the extremum is not attained, and how many elements attain it (all for a
        NaN).
        """
        wide = self.spread(x, z)
        missed = m.lt(x, wide) if self.scalar_op is scalar.maximum else m.gt(x, wide)
        return missed, m.cast(Sum(self.axis, keepdims=self.keepdims)(m.invert(missed)), dtype)

    def _of_others(self, x: Any) -> Any:
        """Return, for each element, the product of all others, computed as the reduction computes
        products.
        """
        from rewrite_engine.tensor.elemwise_grad import gradient_dtype
        from rewrite_engine.tensor.running import product_of_others

        wide = m.cast(x, self.accumulator(gradient_dtype(x.type.dtype)))
        return product_of_others(wide, self.axes(x.type.ndim))

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the Jacobian-vector product: the gradient's weights times the tangent, summed."""
        (x,), (v,) = inputs, eval_points
        if v is None:
            return [None]
        total = Sum(axis=self.axis, keepdims=self.keepdims)
        if self.scalar_op is scalar.add:
            return [total(v)]
        if self.scalar_op is scalar.mul:
            return [total(m.mul(self._of_others(x), v))]
        if self.scalar_op not in (scalar.maximum, scalar.minimum):
            raise NotImplementedError(f"{self} has no derivative")
        missed, count = self._attained(x, self(x), v.type.dtype)
        return [m.true_div(total(m.switch(missed, 0.0, v)), count)]

    def _name(self) -> str:
        name = type(self).__name__
        return f"CAReduce{{{self.scalar_op}}}" if name == "CAReduce" else name


class LeavesOut:
    """Mixin for reductions that multiply the output gradient by a factor.

    Results that a `Partial` gradient excludes contribute nothing, whatever the factor
    (`gradient/partial.py`).
    """

    takes_partial = True

    def input_gradients(
        self: Any,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        gs: Sequence[Any],
        wanted: Sequence[int],
        kept: Sequence[int] = (),
    ) -> Sequence[Any]:
        """Return the gradients of `L_op`, also for a `Partial` output gradient."""
        (g,) = gs
        if not hasattr(g, "where"):
            return self.L_op(inputs, outputs, gs)  # type: ignore[no-any-return]
        (part,) = self.L_op(inputs, outputs, [g.value])
        where = self.spread(inputs[0], m.second(outputs[0], g.where))
        return [m.switch(where, part, 0.0) if g.taken else m.switch(where, 0.0, part)]


class _Fixed(CAReduce):
    """Base class of reductions whose scalar op is fixed by the class."""

    __props__ = ("axis", "dtype", "acc_dtype", "keepdims")
    samples: Sequence[Any] = Reduction.samples
    op: ClassVar[ScalarOp]

    def __init__(
        self, axis: Any = None, dtype: Any = None, acc_dtype: Any = None, keepdims: bool = False
    ) -> None:
        super().__init__(self.op, axis, dtype, acc_dtype, keepdims)


class Sum(_Fixed):
    """Sum along axes: `Sum(axis=0)(x)`. Parameters: see `CAReduce`."""

    moves_only = True
    implied = {"nonneg": "nonneg"}
    samples: Sequence[Any] = (*Reduction.samples, ({"axis": 0}, (0, 3)))
    op = scalar.add


class Prod(LeavesOut, _Fixed):
    """Product along axes: `Prod(axis=0)(x)`. Parameters: see `CAReduce`."""

    implied = {"positive": "positive", "nonneg": "nonneg"}
    samples: Sequence[Any] = (*Reduction.samples, ({"axis": 0}, (0, 3)))
    op = scalar.mul


class Max(_Fixed):
    """Maximum along axes (NaN wins). The elements that attain it share the gradient equally."""

    moves_only = True
    elements = slice(0, 1)
    may_fail = True
    op = scalar.maximum


class Min(_Fixed):
    """Minimum along axes (NaN wins). The elements that attain it share the gradient equally."""

    moves_only = True
    elements = slice(0, 1)
    may_fail = True
    op = scalar.minimum


class All(_Fixed):
    """Reduction that returns whether all elements along axes are nonzero, as bool."""

    op = scalar.and_

    def reducer(self) -> np.ufunc:
        """Return the logical ufunc, not the bitwise one."""
        return np.logical_and


class Any_(_Fixed):  # noqa: N801
    """Reduction that returns whether any element along axes is nonzero, as bool."""

    op = scalar.or_

    def reducer(self) -> np.ufunc:
        """Return the logical ufunc, not the bitwise one."""
        return np.logical_or

    def _name(self) -> str:
        return "Any"


def sum_to(x: Any, type_: Any, kind: type[_Fixed] = Sum) -> Any:
    """Sum `x` over the dimensions along which it broadcasts type `type_`.

    kind: another reduction instead of the sum. Dimensions that `x` itself lacks are not added.
    """
    extra = x.type.ndim - type_.ndim
    if extra > 0:
        x = kind(axis=tuple(range(extra)))(x)
    pairs = enumerate(zip(x.type.shape, type_.shape[-extra if extra < 0 else 0 :], strict=True))
    ones = tuple([i for i, (have, want) in pairs if want == 1 and have != 1])
    return kind(axis=ones, keepdims=True)(x) if ones else x


# --- for users ------------------------------------------------------------------------------


def sum(
    input: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    keepdims: bool = False,
    acc_dtype: Any = None,
) -> TensorVariable:
    """Return sums along axes (None: all).

    Small integers and booleans are summed as int64 (unsigned: uint64). float16 and float32
    accumulate in float64, complex64 in complex128, unless `acc_dtype` says otherwise; the result
    has the dtype of the input, or `dtype`. keepdims: keep reduced dimensions with length 1. Raises
    `AxisError`.
    """
    return Sum(axis, dtype, acc_dtype, keepdims)(input)


def prod(
    input: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    keepdims: bool = False,
    acc_dtype: Any = None,
    no_zeros_in_input: bool = False,
) -> TensorVariable:
    """Return products along axes (None: all), with the dtypes of `sum`.

    no_zeros_in_input: accepted for compatibility, without effect: gradients are correct with zeros,
    too. Raises `AxisError`.
    """
    return Prod(axis, dtype, acc_dtype, keepdims)(input)


def max(
    x: TensorLike, axis: Axis = None, keepdims: bool = False, initial: Any = None
) -> TensorVariable:
    """Return maxima along axes (None: all); NaN if an element is NaN.

    initial: a number to include, so that there may be no elements (-inf: for integers, their
    smallest number). Raises `AxisError`; `ShapeError` without elements and without `initial`.
    """
    op = Max(axis, keepdims=keepdims)
    return op(x) if initial is None else _with_initial(op, m.maximum, x, initial)


def min(
    x: TensorLike, axis: Axis = None, keepdims: bool = False, initial: Any = None
) -> TensorVariable:
    """Return minima along axes (None: all); NaN if an element is NaN.

    initial: a number to include, so that there may be no elements (inf: for integers, their largest
    number). Raises `AxisError`; `ShapeError` without elements and without `initial`.
    """
    op = Min(axis, keepdims=keepdims)
    return op(x) if initial is None else _with_initial(op, m.minimum, x, initial)


def _with_initial(op: _Fixed, of_two: Any, x: Any, initial: Any) -> Any:
    """Return the extremum of elements and a number.

    If there may be no elements, the number is joined to them; else it is compared with their
    extremum.
    """
    from rewrite_engine.tensor.shaping.padding import pad

    x = as_tensor_variable(x)
    op = op.canonical(x.type.ndim)
    if x.type.dtype in DISCRETE and isinstance(initial, float) and np.isinf(initial):
        ends = np.iinfo(x.type.dtype) if x.type.kind != "b" else None
        low, high = (ends.min, ends.max) if ends else (0, 1)
        initial = low if initial < 0 else high
    first = m.cast(initial, x.type.dtype)
    axes = op.axes(x.type.ndim)
    if 0 in [x.type.shape[a] or 0 for a in axes]:
        widths = [(int(a in axes), 0) for a in range(x.type.ndim)]
        return op(pad(x, widths, constant_values=first))
    return of_two(op(x), first)


def all(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return whether all elements along axes are true."""
    return All(axis, keepdims=keepdims)(x)


def any(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return whether any element along axes is true."""
    return Any_(axis, keepdims=keepdims)(x)


amax, amin = max, min
