"""Operators and methods shared by tensor variables and the pattern variables of rules.

Each method calls the function of `rewrite_engine.tensor` with the same meaning; that package is an
upper layer and passes itself in (`pt`). `==` is not an operator here: it compares identity, `eq`
compares elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, overload

from rewrite_engine.errors import NoTensorError

if TYPE_CHECKING:
    from rewrite_engine.match.lower import Compute, RuleBody
    from rewrite_engine.tensor.annotation import Axis, DTypeLike, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

pt: Any = None  #: `rewrite_engine.tensor`, once it is imported


def left_to(other: Any, method: str, error: NoTensorError) -> Any:
    """Return `NotImplemented` for an operand whose class has the reflected method, so that Python
    calls it; else raise the error.
    """
    package = type(other).__module__.partition(".")[0]
    if package in ("builtins", "numpy") or not hasattr(type(other), method):
        raise error
    return NotImplemented


class TensorOperators:
    """Mixin with the operators and methods of tensor variables."""

    __slots__ = ()

    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Apply a NumPy ufunc, as in `np.exp(x)` and `array + x` (see `tensor/numpy_calls.py`)."""
        from rewrite_engine.tensor.numpy_calls import call_ufunc

        return call_ufunc(pt, ufunc, method, inputs, options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Apply a NumPy function, as in `np.sum(x, axis=0)` (see `tensor/numpy_calls.py`)."""
        from rewrite_engine.tensor.numpy_calls import call_function

        return call_function(pt, func, args, kwargs)

    # --- arithmetic -------------------------------------------------------------------------

    def __add__(self, other: TensorLike) -> TensorVariable:
        try:
            return pt.add(self, other)
        except NoTensorError as error:
            return left_to(other, "__radd__", error)

    def __radd__(self, other: TensorLike) -> TensorVariable:
        return pt.add(other, self)

    def __sub__(self, other: TensorLike) -> TensorVariable:
        try:
            return pt.sub(self, other)
        except NoTensorError as error:
            return left_to(other, "__rsub__", error)

    def __rsub__(self, other: TensorLike) -> TensorVariable:
        return pt.sub(other, self)

    def __mul__(self, other: TensorLike) -> TensorVariable:
        try:
            return pt.mul(self, other)
        except NoTensorError as error:
            return left_to(other, "__rmul__", error)

    def __rmul__(self, other: TensorLike) -> TensorVariable:
        return pt.mul(other, self)

    def __truediv__(self, other: TensorLike) -> TensorVariable:
        try:
            return pt.true_div(self, other)
        except NoTensorError as error:
            return left_to(other, "__rtruediv__", error)

    def __rtruediv__(self, other: TensorLike) -> TensorVariable:
        return pt.true_div(other, self)

    def __floordiv__(self, other: TensorLike) -> TensorVariable:
        try:
            return pt.floor_div(self, other)
        except NoTensorError as error:
            return left_to(other, "__rfloordiv__", error)

    def __rfloordiv__(self, other: TensorLike) -> TensorVariable:
        return pt.floor_div(other, self)

    def __mod__(self, other: TensorLike) -> TensorVariable:
        try:
            return pt.mod(self, other)
        except NoTensorError as error:
            return left_to(other, "__rmod__", error)

    def __rmod__(self, other: TensorLike) -> TensorVariable:
        return pt.mod(other, self)

    def __divmod__(self, other: TensorLike) -> tuple[TensorVariable, TensorVariable]:
        return pt.floor_div(self, other), pt.mod(self, other)

    def __rdivmod__(self, other: TensorLike) -> tuple[TensorVariable, TensorVariable]:
        return pt.floor_div(other, self), pt.mod(other, self)

    def __pow__(self, other: TensorLike) -> TensorVariable:
        try:
            return pt.pow(self, other)
        except NoTensorError as error:
            return left_to(other, "__rpow__", error)

    def __rpow__(self, other: TensorLike) -> TensorVariable:
        return pt.pow(other, self)

    def __matmul__(self, other: TensorLike) -> TensorVariable:
        try:
            return pt.matmul(self, other)
        except NoTensorError as error:
            return left_to(other, "__rmatmul__", error)

    def __rmatmul__(self, other: TensorLike) -> TensorVariable:
        return pt.matmul(other, self)

    def __neg__(self) -> TensorVariable:
        return pt.neg(self)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> TensorVariable:
        return pt.abs(self)

    def __ceil__(self) -> TensorVariable:
        return pt.ceil(self)

    def __floor__(self) -> TensorVariable:
        return pt.floor(self)

    def __trunc__(self) -> TensorVariable:
        return pt.trunc(self)

    def __round__(self, ndigits: int = 0) -> TensorVariable:
        return pt.round(self, decimals=ndigits)

    # --- logic and comparison ---------------------------------------------------------------

    def __invert__(self) -> TensorVariable:
        return pt.invert(self)

    def __and__(self, other: TensorLike) -> TensorVariable:
        return pt.and_(self, other)

    def __rand__(self, other: TensorLike) -> TensorVariable:
        return pt.and_(other, self)

    def __or__(self, other: TensorLike) -> TensorVariable:
        return pt.or_(self, other)

    def __ror__(self, other: TensorLike) -> TensorVariable:
        return pt.or_(other, self)

    def __xor__(self, other: TensorLike) -> TensorVariable:
        return pt.xor(self, other)

    def __rxor__(self, other: TensorLike) -> TensorVariable:
        return pt.xor(other, self)

    def __lt__(self, other: TensorLike) -> TensorVariable:
        return pt.lt(self, other)

    def __le__(self, other: TensorLike) -> TensorVariable:
        return pt.le(self, other)

    def __gt__(self, other: TensorLike) -> TensorVariable:
        return pt.gt(self, other)

    def __ge__(self, other: TensorLike) -> TensorVariable:
        return pt.ge(self, other)

    # --- shape and indexing -----------------------------------------------------------------

    def __getitem__(self, index: Any) -> TensorVariable:
        return pt.subtensor(self, index)

    @property
    def T(self) -> TensorVariable:
        """The transpose, with all dimensions reversed."""
        return pt.transpose(self)

    @property
    def mT(self) -> TensorVariable:
        """The transpose of the last two dimensions."""
        return pt.matrix_transpose(self)

    @property
    def shape(self) -> TensorVariable:
        """The shape, as an int64 vector."""
        return pt.shape(self)

    @property
    def size(self) -> TensorVariable:
        """The number of elements, as an int64 scalar."""
        return pt.size(self)

    def transpose(self, *axes: Any) -> TensorVariable:
        """Permute the dimensions; reverse them if none are given."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], list | tuple)):
            return pt.transpose(self, axes[0])
        return pt.transpose(self, axes or None)

    def swapaxes(self, axis1: int, axis2: int) -> TensorVariable:
        """Exchange two dimensions of the array."""
        return pt.swapaxes(self, axis1, axis2)

    def dimshuffle(self, *pattern: Any) -> TensorVariable:
        """Permute, drop and add ("x") dimensions."""
        return pt.dimshuffle(self, *pattern)

    def reshape(self, *shape: Any, ndim: int | None = None) -> TensorVariable:
        """Return the elements in another shape; one length may be -1. ndim: the number of
        dimensions, if the shape is a variable of unknown length.
        """
        return pt.reshape(self, shape[0] if len(shape) == 1 else shape, ndim=ndim)

    def flatten(self, ndim: int = 1) -> TensorVariable:
        """Join the trailing dimensions until `ndim` are left."""
        return pt.flatten(self, ndim)

    def ravel(self) -> TensorVariable:
        """Return all elements as a vector."""
        return pt.flatten(self, 1)

    def squeeze(self, axis: Axis = None) -> TensorVariable:
        """Drop dimensions of length 1."""
        return pt.squeeze(self, axis)

    def join_dims(self, start_axis: int = 0, n_axes: int | None = None) -> TensorVariable:
        """Join `n_axes` dimensions from `start_axis` into one."""
        return pt.join_dims(self, start_axis, n_axes)

    def split_dims(self, shape: Any, axis: int = 0) -> TensorVariable:
        """Split one dimension into several."""
        return pt.split_dims(self, shape, axis)

    def repeat(self, repeats: Any, axis: int | None = None) -> TensorVariable:
        """Repeat each element several times."""
        return pt.repeat(self, repeats, axis)

    def take(self, indices: Any, axis: int | None = None, mode: str = "raise") -> TensorVariable:
        """Return the elements at integers along an axis."""
        return pt.take(self, indices, axis, mode)

    def choose(self, choices: Any, mode: str = "raise") -> TensorVariable:
        """Choose elements from the arrays `choices`; this array has the numbers of the arrays."""
        return pt.choose(self, choices, mode)

    def compress(self, a: Any, axis: int | None = None) -> TensorVariable:
        """Return the parts of `a` at which this vector is true."""
        return pt.compress(self, a, axis)

    @overload
    def nonzero(self, return_matrix: Literal[False] = False) -> tuple[TensorVariable, ...]: ...
    @overload
    def nonzero(self, return_matrix: Literal[True]) -> TensorVariable: ...
    def nonzero(self, return_matrix: bool = False) -> Any:
        """Return the positions of all nonzero elements."""
        return pt.nonzero(self, return_matrix)

    def nonzero_values(self) -> TensorVariable:
        """Return the nonzero elements."""
        return pt.nonzero_values(self)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
        """Return the diagonals of two dimensions."""
        return pt.diagonal(self, offset, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
        """Return the sum of a diagonal."""
        return pt.trace(self, offset, axis1, axis2)

    def set(self, y: Any, **options: Any) -> TensorVariable:
        """Return `x` with the part `x[index]` replaced by `y`: use as `x[index].set(y)`."""
        return pt.set_subtensor(self, y, **options)

    def inc(self, y: Any, **options: Any) -> TensorVariable:
        """Return `x` with the part `x[index]` increased by `y`: use as `x[index].inc(y)`."""
        return pt.inc_subtensor(self, y, **options)

    def dot(self, b: Any) -> TensorVariable:
        """Return the dot product with `b`."""
        return pt.dot(self, b)

    # --- reductions -------------------------------------------------------------------------

    def sum(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        keepdims: bool = False,
        acc_dtype: DTypeLike = None,
    ) -> TensorVariable:
        """Return sums along axes."""
        return pt.sum(self, axis, dtype, keepdims, acc_dtype)

    def prod(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        keepdims: bool = False,
        acc_dtype: DTypeLike = None,
    ) -> TensorVariable:
        """Return products along axes."""
        return pt.prod(self, axis, dtype, keepdims, acc_dtype)

    def mean(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        keepdims: bool = False,
        acc_dtype: DTypeLike = None,
    ) -> TensorVariable:
        """Return means along axes."""
        return pt.mean(self, axis, dtype, keepdims, acc_dtype)

    def var(
        self, axis: Axis = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False
    ) -> TensorVariable:
        """Return variances along axes."""
        return pt.var(self, axis, ddof, keepdims, corrected)

    def std(
        self, axis: Axis = None, ddof: int = 0, keepdims: bool = False, corrected: bool = False
    ) -> TensorVariable:
        """Return standard deviations along axes."""
        return pt.std(self, axis, ddof, keepdims, corrected)

    def max(self, axis: Axis = None, keepdims: bool = False, initial: Any = None) -> TensorVariable:
        """Return maxima along axes, of the elements and `initial`."""
        return pt.max(self, axis, keepdims, initial)

    def min(self, axis: Axis = None, keepdims: bool = False, initial: Any = None) -> TensorVariable:
        """Return minima along axes, of the elements and `initial`."""
        return pt.min(self, axis, keepdims, initial)

    def argmax(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return positions of the maxima along axes."""
        return pt.argmax(self, axis, keepdims)

    def argmin(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return positions of the minima along axes."""
        return pt.argmin(self, axis, keepdims)

    def all(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return whether all elements along axes are true."""
        return pt.all(self, axis, keepdims)

    def any(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return whether any element along axes is true."""
        return pt.any(self, axis, keepdims)

    def ptp(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return maximum minus minimum along axes."""
        return pt.ptp(self, axis, keepdims)

    def norm(self, L: Any = 2, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return the norm (sum |x|^L)^(1/L) along axes."""
        return pt.norm(self, L, axis, keepdims)

    def cumsum(self, axis: Axis = None) -> TensorVariable:
        """Return running sums along an axis."""
        return pt.cumsum(self, axis)

    def cumprod(self, axis: Axis = None) -> TensorVariable:
        """Return running products along an axis."""
        return pt.cumprod(self, axis)

    # --- order ------------------------------------------------------------------------------

    def sort(self, axis: Axis = -1, kind: str | None = None, order: Any = None) -> TensorVariable:
        """Return a copy sorted along an axis."""
        return pt.sort(self, axis, kind, order)

    def argsort(
        self, axis: Axis = -1, kind: str | None = None, order: Any = None
    ) -> TensorVariable:
        """Return the positions that sort along an axis."""
        return pt.argsort(self, axis, kind, order)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> TensorVariable:
        """Return the positions at which `v` keeps this sorted vector sorted."""
        return pt.searchsorted(self, v, side, sorter)

    # --- elements ---------------------------------------------------------------------------

    def astype(self, dtype: DTypeLike) -> TensorVariable:
        """Convert to another dtype."""
        return pt.cast(self, dtype)

    def clip(self, a_min: Any, a_max: Any) -> TensorVariable:
        """Return all elements limited to an interval; to a_max if a_min > a_max."""
        return pt.clip(self, a_min, a_max)

    def round(self, mode: str | None = None) -> TensorVariable:
        """Round to the nearest integer; mode: "half_to_even" (the default) or
        "half_away_from_zero".
        """
        return pt.round(self, mode)

    @property
    def real(self) -> TensorVariable:
        """The real part of each element."""
        return pt.real(self)

    @property
    def imag(self) -> TensorVariable:
        """The imaginary part of each element."""
        return pt.imag(self)

    def copy(self, name: str | None = None) -> TensorVariable:
        """Return a copy of the value."""
        return pt.identity(self) if name is None else pt.identity(self, name=name)

    def fill(self, value: Any) -> TensorVariable:
        """Return an array of this shape filled with `value`."""
        return pt.second(self, value)

    def zeros_like(self, dtype: DTypeLike = None) -> TensorVariable:
        """Return zeros in this shape."""
        return pt.zeros_like(self, dtype)

    def ones_like(self, dtype: DTypeLike = None) -> TensorVariable:
        """Return ones in this shape."""
        return pt.ones_like(self, dtype)

    def transfer(self, target: str) -> TensorVariable:
        """Return the tensor on a target, such as a device (see `transfer`)."""
        return pt.transfer(self, target)

    def get_underlying_scalar_constant(self, **options: Any) -> Any:
        """Return the number that all elements equal, if it is known."""
        return pt.get_underlying_scalar_constant_value(self, **options)

    if TYPE_CHECKING:  # what a checker knows of others: see `_BY_NAME`; `>>` is that of patterns

        def arccos(self) -> TensorVariable: ...
        def arccosh(self) -> TensorVariable: ...
        def arcsin(self) -> TensorVariable: ...
        def arcsinh(self) -> TensorVariable: ...
        def arctan(self) -> TensorVariable: ...
        def arctanh(self) -> TensorVariable: ...
        def ceil(self) -> TensorVariable: ...
        def conj(self) -> TensorVariable: ...
        def conjugate(self) -> TensorVariable: ...
        def cos(self) -> TensorVariable: ...
        def cosh(self) -> TensorVariable: ...
        def deg2rad(self) -> TensorVariable: ...
        def exp(self) -> TensorVariable: ...
        def exp2(self) -> TensorVariable: ...
        def expm1(self) -> TensorVariable: ...
        def floor(self) -> TensorVariable: ...
        def log(self) -> TensorVariable: ...
        def log10(self) -> TensorVariable: ...
        def log1p(self) -> TensorVariable: ...
        def log2(self) -> TensorVariable: ...
        def rad2deg(self) -> TensorVariable: ...
        def sin(self) -> TensorVariable: ...
        def sinh(self) -> TensorVariable: ...
        def sqrt(self) -> TensorVariable: ...
        def tan(self) -> TensorVariable: ...
        def tanh(self) -> TensorVariable: ...
        def trunc(self) -> TensorVariable: ...
        def __rshift__(self, other: TensorLike | Compute) -> RuleBody: ...


def _method(name: str) -> Any:
    def method(self: Any) -> Any:
        return getattr(pt, name)(self)

    method.__name__, method.__doc__ = name, f"Return `{name}(x)`, element by element."
    return method


#: methods that take nothing
_BY_NAME = (
    "arccos arccosh arcsin arcsinh arctan arctanh ceil conj conjugate cos cosh deg2rad exp exp2 "
    "expm1 floor log log10 log1p log2 rad2deg sin sinh sqrt tan tanh trunc"
)
for _name in _BY_NAME.split():
    setattr(TensorOperators, _name, _method(_name))
