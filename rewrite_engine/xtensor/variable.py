"""`XTensorVariable`: operators and methods of arrays with named dimensions, under the names of
`xarray.DataArray`; and constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rewrite_engine.errors import ItemAssignmentError, NotConstantError, OptionError, describe
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.variable import TensorConstant, TensorVariable


class Functions(NamedTuple):
    """Modules whose functions implement the methods."""

    indexing: Any
    math: Any
    reduction: Any
    shape: Any


px: Any = None  #: `Functions`, once the package is imported


class XTensorVariable(Variable):
    """Variable that represents an array with named dimensions. `==` compares identity; use
    `math.eq` for elements.
    """

    __slots__ = ()
    __array_ufunc__ = None  # (an array of NumPy has no names: its operators leave it to ours)

    # --- what is known ----------------------------------------------------------------------------

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dimensions, in their order."""
        return self.type.dims  # type: ignore[no-any-return]

    @property
    def dtype(self) -> str:
        """The name of the dtype."""
        return self.type.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.type.ndim  # type: ignore[no-any-return]

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """False for each dimension: named dimensions never broadcast by their length."""
        return self.type.broadcastable  # type: ignore[no-any-return]

    @property
    def values(self) -> TensorVariable:
        """The array as a tensor, without names."""
        return self.type.array_of(self)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The lengths, as 0-d int64 tensors."""
        array = self.values
        return tuple([array.shape[k] for k in range(self.ndim)])

    @property
    def sizes(self) -> dict[str, Any]:
        """The length of each dimension, by its name, as a 0-d int64 tensor."""
        return dict(zip(self.dims, self.shape, strict=True))

    @property
    def size(self) -> TensorVariable:
        """The number of elements, as a 0-d int64 tensor."""
        return self.values.size

    def _no_value(self, *args: Any, **options: Any) -> Any:
        raise NotConstantError(
            f"{describe(self)} has no value before the graph runs; compute it by "
            "`.eval({input: value})` or a `function`, or convert it in the graph by `.astype(…)`"
        )

    __bool__ = __index__ = __int__ = __float__ = __complex__ = _no_value
    __iter__ = None  # (as of `__getitem__`, it would not end)

    # --- operators --------------------------------------------------------------------------------

    def __add__(self, other: Any) -> XTensorVariable:
        return px.math.add(self, other)

    def __radd__(self, other: Any) -> XTensorVariable:
        return px.math.add(other, self)

    def __sub__(self, other: Any) -> XTensorVariable:
        return px.math.sub(self, other)

    def __rsub__(self, other: Any) -> XTensorVariable:
        return px.math.sub(other, self)

    def __mul__(self, other: Any) -> XTensorVariable:
        return px.math.mul(self, other)

    def __rmul__(self, other: Any) -> XTensorVariable:
        return px.math.mul(other, self)

    def __truediv__(self, other: Any) -> XTensorVariable:
        return px.math.true_div(self, other)

    def __rtruediv__(self, other: Any) -> XTensorVariable:
        return px.math.true_div(other, self)

    def __floordiv__(self, other: Any) -> XTensorVariable:
        return px.math.floor_div(self, other)

    def __rfloordiv__(self, other: Any) -> XTensorVariable:
        return px.math.floor_div(other, self)

    def __mod__(self, other: Any) -> XTensorVariable:
        return px.math.mod(self, other)

    def __rmod__(self, other: Any) -> XTensorVariable:
        return px.math.mod(other, self)

    def __divmod__(self, other: Any) -> tuple[XTensorVariable, XTensorVariable]:
        return px.math.divmod(self, other)

    def __rdivmod__(self, other: Any) -> tuple[XTensorVariable, XTensorVariable]:
        return px.math.divmod(other, self)

    def __pow__(self, other: Any) -> XTensorVariable:
        return px.math.pow(self, other)

    def __rpow__(self, other: Any) -> XTensorVariable:
        return px.math.pow(other, self)

    def __matmul__(self, other: Any) -> XTensorVariable:
        return px.math.dot(self, other)

    def __rmatmul__(self, other: Any) -> XTensorVariable:
        return px.math.dot(other, self)

    def __neg__(self) -> XTensorVariable:
        return px.math.neg(self)

    def __pos__(self) -> XTensorVariable:
        return self

    def __abs__(self) -> XTensorVariable:
        return px.math.abs(self)

    def __ceil__(self) -> XTensorVariable:
        return px.math.ceil(self)

    def __floor__(self) -> XTensorVariable:
        return px.math.floor(self)

    def __trunc__(self) -> XTensorVariable:
        return px.math.trunc(self)

    def __invert__(self) -> XTensorVariable:
        return px.math.invert(self)

    def __and__(self, other: Any) -> XTensorVariable:
        return px.math.and_(self, other)

    def __rand__(self, other: Any) -> XTensorVariable:
        return px.math.and_(other, self)

    def __or__(self, other: Any) -> XTensorVariable:
        return px.math.or_(self, other)

    def __ror__(self, other: Any) -> XTensorVariable:
        return px.math.or_(other, self)

    def __xor__(self, other: Any) -> XTensorVariable:
        return px.math.xor(self, other)

    def __rxor__(self, other: Any) -> XTensorVariable:
        return px.math.xor(other, self)

    def __lt__(self, other: Any) -> XTensorVariable:
        return px.math.lt(self, other)

    def __le__(self, other: Any) -> XTensorVariable:
        return px.math.le(self, other)

    def __gt__(self, other: Any) -> XTensorVariable:
        return px.math.gt(self, other)

    def __ge__(self, other: Any) -> XTensorVariable:
        return px.math.ge(self, other)

    # --- elements ---------------------------------------------------------------------------------

    def astype(self, dtype: Any) -> XTensorVariable:
        """Convert to another dtype."""
        return px.math.cast(self, dtype)

    def copy(self, name: str | None = None) -> XTensorVariable:
        """Return another variable with the same values."""
        found = px.math.identity(self)
        found.name = name
        return found

    def clip(self, min: Any = None, max: Any = None) -> XTensorVariable:
        """Return all elements limited to an interval; None means no limit."""
        if min is not None and max is not None:
            return px.math.clip(self, min, max)
        found = self if min is None else px.math.maximum(self, min)
        return found if max is None else px.math.minimum(found, max)

    def where(self, cond: Any, other: Any = None, drop: bool = False) -> XTensorVariable:
        """Return the elements where a condition is true, and those of `other` (NaN by default)
        elsewhere.
        """
        if drop:
            raise OptionError(
                located("where: drop=True is not supported, as there are no coordinates")
            )
        found = px.math.where(cond, self, float("nan") if other is None else other)
        return found.transpose(*self.dims, ...)

    def fillna(self, value: Any) -> XTensorVariable:
        """Return the elements, with `value` in place of NaN."""
        return px.math.where(px.math.isnan(self), value, self).transpose(*self.dims, ...)

    def conj(self) -> XTensorVariable:
        """Return the complex conjugate."""
        return px.math.conj(self)

    def round(self) -> XTensorVariable:
        """Round to the nearest integer; halves to the even one."""
        return px.math.round(self)

    @property
    def real(self) -> XTensorVariable:
        """The real part of each element."""
        return px.math.real(self)

    @property
    def imag(self) -> XTensorVariable:
        """The imaginary part of each element."""
        return px.math.imag(self)

    # --- parts ------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> XTensorVariable:
        """Return parts by position, or, with a dict, by name (see `indexing.index`)."""
        if isinstance(index, Mapping):
            return px.indexing.isel(self, index)
        return px.indexing.index(self, *(index if isinstance(index, tuple) else (index,)))

    def isel(
        self,
        indexers: Mapping[str, Any] | None = None,
        drop: bool = False,
        missing_dims: str = "raise",
        **more: Any,
    ) -> XTensorVariable:
        """Return parts by positions along named dimensions: `x.isel(year=slice(1, None))`.

        missing_dims: "ignore" or "warn" omits names without dimension. drop: without effect, as
        there are no coordinates.
        """
        return px.indexing.isel(self, _one_of("isel", indexers, more), missing_dims)

    def tail(self, indexers: Any = None, **more: Any) -> XTensorVariable:
        """Return the last 5 elements along each dimension, or as many as requested:
        `x.tail(year=2)`.

        (For the first ones use `indexing.head(x, {"year": 2})`; `x.head` is the op of a variable.)
        """
        return px.indexing.tail(self, self._counts("tail", indexers, more))

    def thin(self, indexers: Any = None, **more: Any) -> XTensorVariable:
        """Return every n-th element along dimensions: `x.thin(year=2)`, or along all:
        `x.thin(2)`.
        """
        if indexers is None and not more:
            raise OptionError(located("thin: takes a step, or one for each dimension"))
        return px.indexing.thin(self, self._counts("thin", indexers, more))

    def _counts(self, method: str, given: Any, more: dict[str, Any]) -> Any:
        if isinstance(given, Mapping) or more:
            return _one_of(method, given, more)
        return dict.fromkeys(self.dims, 5 if given is None else given)

    if not TYPE_CHECKING:  # a checker is to refuse what raises

        def __setitem__(self, index: Any, value: Any) -> None:
            x = self.name or "x"
            hint = f"write {x} = {x}[…].set(value); .inc adds a value"
            raise ItemAssignmentError(located(f"{describe(self)} cannot be changed", hint=hint))

    def set(self, value: Any) -> XTensorVariable:
        """Return `x` with the part `x[index]` replaced: use as `x[index].set(value)`."""
        return px.indexing.written(self, value, "set")

    def inc(self, value: Any) -> XTensorVariable:
        """Return `x` with the part `x[index]` increased: use as `x[index].inc(value)`."""
        return px.indexing.written(self, value, "inc")

    def diff(self, dim: str, n: int = 1) -> XTensorVariable:
        """Return differences of neighbours along a dimension, n times."""
        found = self
        for _ in range(n):
            found = found[{dim: slice(1, None)}] - found[{dim: slice(None, -1)}]
        return found

    # --- dimensions -------------------------------------------------------------------------------

    def transpose(self, *dim: Any, missing_dims: str = "raise") -> XTensorVariable:
        """Return the dimensions in another order (see `shape.transpose`)."""
        return px.shape.transpose(self, *dim, missing_dims=missing_dims)

    @property
    def T(self) -> XTensorVariable:
        """The array with its dimensions in reversed order."""
        return px.shape.transpose(self)

    def rename(self, new_name_or_name_dict: Any = None, **names: str) -> XTensorVariable:
        """Rename dimensions: `x.rename(year="time")`; with a string: name the variable."""
        if isinstance(new_name_or_name_dict, str):
            found = px.shape.rename(self, names)
            found.name = new_name_or_name_dict
            return found
        return px.shape.rename(self, _one_of("rename", new_name_or_name_dict, names))

    def expand_dims(
        self, dim: Any = None, create_index_for_new_dim: Any = None, axis: Any = None, **more: Any
    ) -> XTensorVariable:
        """Insert new dimensions, first or at an axis (see `shape.expand_dims`)."""
        return px.shape.expand_dims(self, dim, axis=axis, **more)

    def squeeze(self, dim: Any = None, drop: Any = None, axis: Any = None) -> XTensorVariable:
        """Remove dimensions of length 1: those named, or all known ones."""
        if axis is not None:
            if dim is not None:
                raise OptionError(located("squeeze: takes dim or axis, not both"))
            dim = [self.dims[k] for k in (axis if isinstance(axis, Sequence) else [axis])]
        return px.shape.squeeze(self, dim)

    def stack(self, dim: Any = None, **more: Any) -> XTensorVariable:
        """Join several dimensions into one: `x.stack(cell=("city", "year"))`."""
        return px.shape.stack(self, _one_of("stack", dim, more))

    def unstack(self, dim: Any = None, **more: Any) -> XTensorVariable:
        """Split a dimension into several: `x.unstack(cell={"city": 2, "year": 3})`."""
        return px.shape.unstack(self, _one_of("unstack", dim, more))

    def broadcast_like(self, other: Any, exclude: Any = None) -> XTensorVariable:
        """Broadcast along the dimensions of another array."""
        return px.shape.broadcast(other, self, exclude=exclude)[1]

    def dot(self, other: Any, dim: Any = None) -> XTensorVariable:
        """Return the sum of products along dimensions (see `math.dot`)."""
        return px.math.dot(self, other, dim)

    # --- reductions -------------------------------------------------------------------------------

    def sum(self, dim: Any = None) -> XTensorVariable:
        """Return sums along dimensions, by default all."""
        return px.reduction.sum(self, dim)

    def prod(self, dim: Any = None) -> XTensorVariable:
        """Return products along dimensions, by default all."""
        return px.reduction.prod(self, dim)

    def mean(self, dim: Any = None) -> XTensorVariable:
        """Return means along dimensions, by default all."""
        return px.reduction.mean(self, dim)

    def var(self, dim: Any = None, ddof: int = 0) -> XTensorVariable:
        """Return variances along dimensions, by default all."""
        return px.reduction.var(self, dim, ddof=ddof)

    def std(self, dim: Any = None, ddof: int = 0) -> XTensorVariable:
        """Return standard deviations along dimensions, by default all."""
        return px.reduction.std(self, dim, ddof=ddof)

    def max(self, dim: Any = None) -> XTensorVariable:
        """Return maxima along dimensions, by default all."""
        return px.reduction.max(self, dim)

    def min(self, dim: Any = None) -> XTensorVariable:
        """Return minima along dimensions, by default all."""
        return px.reduction.min(self, dim)

    def all(self, dim: Any = None) -> XTensorVariable:
        """Return whether all elements along dimensions are true."""
        return px.reduction.all(self, dim)

    def any(self, dim: Any = None) -> XTensorVariable:
        """Return whether any element along dimensions is true."""
        return px.reduction.any(self, dim)

    def cumsum(self, dim: Any = None) -> XTensorVariable:
        """Return running sums along dimensions."""
        return px.reduction.cumsum(self, dim)

    def cumprod(self, dim: Any = None) -> XTensorVariable:
        """Return running products along dimensions."""
        return px.reduction.cumprod(self, dim)


def _one_of(method: str, given: Any, more: dict[str, Any]) -> dict[str, Any]:
    """Return the argument of a method, passed as a dict or as keywords, not both."""
    if given is not None and more:
        raise OptionError(located(f"{method}: takes a dict or keywords, not both"))
    return more if given is None else dict(given)


class XTensorConstant(XTensorVariable, Constant):
    """Array with named dimensions that is part of the graph. `data` is read-only."""

    __slots__ = ()

    weak = TensorConstant.weak
    signature = TensorConstant.signature
    __setstate__ = TensorConstant.__setstate__
    value_text = TensorConstant.value_text
    exact_text = TensorConstant.exact_text
    summary = TensorConstant.summary
