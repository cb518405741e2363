"""`TensorType`: the type of arrays with a known dtype and number of dimensions, and a partly known
shape.

`filter` has the rules for accepting a value; `is_super` and `in_same_class` compare types.
Constructors such as `vector` are in `tensor/constructors.py`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    NDimError,
    NoTensorError,
    OptionError,
    RewriteEngineError,
    ShapeError,
    StaticShapeError,
    dimensions,
    message,
)
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.number import NO_NUMBER, rounded
from rewrite_engine.graph.type import Type
from rewrite_engine.scalar.dtype import all_dtypes as all_dtypes
from rewrite_engine.scalar.dtype import complex_dtypes as complex_dtypes
from rewrite_engine.scalar.dtype import continuous_dtypes as continuous_dtypes
from rewrite_engine.scalar.dtype import discrete_dtypes as discrete_dtypes
from rewrite_engine.scalar.dtype import dtype_name, normal_range, refuse_masked
from rewrite_engine.scalar.dtype import float_dtypes as float_dtypes
from rewrite_engine.scalar.dtype import int_dtypes as int_dtypes
from rewrite_engine.scalar.dtype import integer_dtypes as integer_dtypes
from rewrite_engine.scalar.dtype import uint_dtypes as uint_dtypes
from rewrite_engine.tensor.variable import TensorConstant, TensorVariable

Shape = tuple[int | None, ...]

#: (rtol, atol) of `values_eq_approx`; other dtypes compare exactly
TOLERANCE = {
    "float16": (5e-3, 1e-3),
    "float32": (1e-5, 1e-5),
    "complex64": (1e-5, 1e-5),
    "float64": (1e-5, 1e-8),
    "complex128": (1e-5, 1e-8),
}

#: kinds of dtypes, the wider the more: an operand of a wider kind makes the result one of it
WIDTH = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def static_dim(dim: Any) -> int | None:
    """Return one entry of a static shape: None, an integer >= 0, or a bool ("broadcastable": 1 or
    unknown).
    """
    if dim is None or dim is False:
        return None
    if dim is True:
        return 1
    try:
        size = operator.index(dim)
    except TypeError:
        raise ShapeError(f"a static dimension must be None or an integer, not {dim!r}") from None
    if size < 0:
        raise ShapeError(f"a static dimension cannot be negative: {size}")
    return size


class TensorType(Type):
    """Type of arrays of one dtype and number of dimensions.

    dtype: a dtype or its name. shape: one entry per dimension, an integer or None for unknown; a
    single number is the length of a vector. broadcastable: older form of the shape: True for 1,
    False for unknown. name: accepted and ignored, as equal types are one object. Raises
    `DTypeError`, `ShapeError`, `OptionError`.

    >>> TensorType("float64", (2, None))
    TensorType(float64, (2, None))
    """

    __props__: tuple[str, ...] | None = ("dtype", "shape")
    variable_type: ClassVar[type[Variable]] = TensorVariable
    constant_type: ClassVar[Any] = TensorConstant

    def __init__(
        self,
        dtype: Any,
        shape: Iterable[Any] | int | None = None,
        name: str | None = None,
        broadcastable: Iterable[bool] | None = None,
    ) -> None:
        if shape is not None and broadcastable is not None:
            raise OptionError("TensorType takes shape or broadcastable, not both")
        dims = broadcastable if shape is None else (shape,) if isinstance(shape, int) else shape
        if dims is None:
            raise OptionError("TensorType needs a shape, such as (None, 3), or () for a scalar")
        self.dtype: str = dtype_name(dtype)
        self.shape: Shape = tuple([static_dim(d) for d in dims])
        self.ndim: int = len(self.shape)
        self.broadcastable: tuple[bool, ...] = tuple([d == 1 for d in self.shape])
        self.numpy_dtype: np.dtype[Any] = np.dtype(self.dtype)
        self.kind: str = self.numpy_dtype.kind
        self.regroups_exactly: bool = self.kind not in "fc"

    def __str__(self) -> str:
        return f"TensorType({self.dtype}, {self.shape})"

    def clone(
        self, dtype: Any = None, shape: Iterable[Any] | None = None, **changes: Any
    ) -> TensorType:
        """Return a type with another dtype and/or shape."""
        dims = changes.pop("broadcastable", self.shape) if shape is None else shape
        if changes:
            raise TypeError(f"TensorType.clone takes dtype and shape, not {sorted(changes)}")
        return type(self)(self.dtype if dtype is None else dtype, dims)

    # --- values -----------------------------------------------------------------------------

    def filter(
        self, data: Any, strict: bool = False, allow_downcast: bool | None = None
    ) -> np.ndarray:
        """Return `data` as an array of this type.

        strict: accept only such an array. Otherwise lossless conversions are made: an upcast,
        integers to floats that represent them, and Python numbers and lists if every value
        survives. allow_downcast=True permits any loss; None (the default) also converts a Python
        float to a floatX scalar; False does not. Raises `DTypeError`, `NDimError`,
        `StaticShapeError` (`ForeignObjectError` for a variable); all are a `TypeError`.
        """
        if isinstance(data, np.ndarray) and data.dtype == self.numpy_dtype:
            array = data
            if data.__class__ is not np.ndarray:
                refuse_masked(data)
        elif strict:
            raise DTypeError(f"expected an array of dtype {self.dtype}, got {_name_value(data)}")
        else:
            array = self._convert(data, allow_downcast)
        if array.shape != self.shape:
            self._check_shape(array.shape)
        return array

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != self.ndim:
            raise NDimError(
                f"expected {dimensions(self.ndim)} for {self}, got {len(shape)}: shape {shape}"
            )
        for i, (want, got) in enumerate(zip(self.shape, shape, strict=True)):
            if want is not None and want != got:
                raise StaticShapeError(
                    f"expected shape {self.shape} for {self}, got {shape}: dimension {i} differs"
                )

    def _convert(self, value: Any, allow_downcast: bool | None) -> np.ndarray:
        """Convert a value that is not an array of this dtype, as `filter` describes."""
        if isinstance(value, Variable):
            raise ForeignObjectError(
                message(f"expected a value for {self}, got a variable", inputs=[value])
            )
        array = _as_array(value, self)
        if array.dtype == self.numpy_dtype:
            return array
        if self._accepts(value, array, allow_downcast):
            return array.astype(self.numpy_dtype)
        raise DTypeError(
            f"expected dtype {self.dtype} for {self}, got {_name_value(value)}, which cannot be "
            "converted without loss; convert it, or pass allow_downcast=True "
            "(allow_input_downcast=True for a function)"
        )

    def _accepts(self, value: Any, array: np.ndarray, allow_downcast: bool | None) -> bool:
        """Return whether the conversion is permitted."""
        if array.dtype.kind == "c" and self.kind != "c":
            return False
        if allow_downcast or np.can_cast(array.dtype, self.numpy_dtype, "safe"):
            return True
        if (
            allow_downcast is None
            and type(value) is float
            and self.ndim == 0
            and self.dtype == config.floatX
        ):
            return True
        whole_to_float = array.dtype.kind in "iub" and self.kind in "fc"
        return (whole_to_float or not isinstance(value, np.ndarray)) and _survives(array, self)

    def filter_inplace(
        self, value: Any, storage: Any, strict: bool = False, allow_downcast: bool | None = None
    ) -> np.ndarray:
        """Return `data` as an array of this type, written into `storage`, the old array, if that
        has the right shape and dtype.
        """
        array = self.filter(value, strict, allow_downcast)
        fits = (
            isinstance(storage, np.ndarray)
            and storage.shape == array.shape
            and storage.flags.writeable
        )
        if not fits or storage.dtype != array.dtype or storage is array:
            return array
        np.copyto(storage, array)
        return storage  # type: ignore[no-any-return]

    @staticmethod
    def values_eq(a: Any, b: Any) -> bool:
        """Return whether two arrays have the same dtype, shape and elements (NaN equals NaN)."""
        return _comparable(a, b) and bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))

    def values_eq_approx(
        self, a: Any, b: Any, rtol: float | None = None, atol: float | None = None
    ) -> bool:
        """Return whether two arrays agree up to rounding: |a - b| <= atol + rtol |b|, NaN equals
        NaN.

        The default tolerances depend on the dtype; integers and booleans must be equal.
        """
        if self.dtype not in TOLERANCE:
            return self.values_eq(a, b)
        default_rtol, default_atol = TOLERANCE[self.dtype]
        rtol, atol = default_rtol if rtol is None else rtol, default_atol if atol is None else atol
        return _comparable(a, b) and bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        """Return whether two arrays could share memory (False is certain, True is not)."""
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            return False
        return bool(np.may_share_memory(a, b))

    def get_shape_info(self, obj: Any) -> tuple[int, ...]:
        """Return the shape of a value."""
        return tuple(obj.shape)

    def get_size(self, shape_info: Any) -> int:
        """Return the number of bytes of an array with that shape."""
        return math.prod(shape_info) * self.numpy_dtype.itemsize

    # --- other types ------------------------------------------------------------------------

    def in_same_class(self, otype: Type) -> bool:
        """Return whether `otype` has the same dtype and is statically 1 in the same dimensions."""
        if not isinstance(otype, TensorType):
            return False
        return self.dtype == otype.dtype and self.broadcastable == otype.broadcastable

    def is_super(self, otype: Type) -> bool | None:
        """Return whether all arrays of `otype` have this type: same dtype and ndim, and no known
        dimension differs.
        """
        if otype is self:
            return True
        if not isinstance(otype, TensorType):
            return None
        if self.dtype != otype.dtype or self.ndim != otype.ndim:
            return False
        return all(s is None or s == o for s, o in zip(self.shape, otype.shape, strict=True))

    def yields_to(self, otype: Type) -> bool:
        """Return whether `is_super` holds and no unknown dimension becomes 1.

        Such a dimension would mean that the operand that broadcast it was dropped.
        """
        fits = bool(self.is_super(otype))
        return fits and self.broadcastable == otype.broadcastable  # type: ignore[attr-defined]

    def same_kind(self, otype: Type) -> bool:
        """Return whether both types have equal rank and are both booleans, integers, real or
        complex.
        """
        if not isinstance(otype, TensorType) or otype.ndim != self.ndim:
            return False
        return otype.kind == self.kind or {otype.kind, self.kind} == {"i", "u"}

    def widens(self, otype: Type) -> bool:
        """Return whether this type has at least the rank of `otype`, and a kind of number to which
        its kind is promoted.
        """
        if not isinstance(otype, TensorType) or otype.ndim > self.ndim:
            return False
        return WIDTH[otype.kind] <= WIDTH[self.kind]

    def computes_like(self, otype: Type) -> bool:
        """Return whether ops compute with both types in one dtype."""
        return isinstance(otype, TensorType) and otype.dtype == self.dtype

    def keeps_digits(self, number: Any) -> bool:
        """Return whether a float is a normal number in this dtype: not infinite, not 0 or
        subnormal. (A part of a complex number may be 0.)
        """
        if self.kind not in "fc":
            return True
        low, high = normal_range(self.dtype)
        parts = [abs(part) for part in (number.real, number.imag) if part]
        return bool(parts) and all(low <= part <= high for part in parts)

    def element_of(self, value: Any) -> Any:
        """Return the number that all elements equal, bit by bit; `NO_NUMBER` if there is none."""
        if not value.size:
            return NO_NUMBER
        first = value.flat[0].tobytes()
        same = value.flat[-1].tobytes() == first and value.tobytes() == first * value.size
        return value.flat[0].item() if same else NO_NUMBER

    def rounded(self, number: Any) -> Any:
        """Return the number rounded to the precision of a float dtype; for integers it must be
        equal.
        """
        if self.kind not in "fc" or isinstance(number, bool):
            return None
        try:
            return rounded(number, self.numpy_dtype.itemsize // (1 + (self.kind == "c")))
        except OverflowError:
            return None

    def convert_variable(self, var: Variable) -> Variable | None:
        """Return `var` itself if its type is as specific, `specify_shape(var, …)` if its shape may
        fit, else None.

        The result's static shape combines that of both types.
        """
        otype = var.type
        if self.is_super(otype):
            return var
        if (
            not isinstance(otype, TensorType)
            or self.dtype != otype.dtype
            or self.ndim != otype.ndim
        ):
            return None
        pairs = list(zip(self.shape, otype.shape, strict=True))
        if any(s is not None and o is not None and s != o for s, o in pairs):
            return None
        from rewrite_engine.tensor.shape import specify_shape

        known: Variable = specify_shape(var, tuple([o if s is None else s for s, o in pairs]))
        return known

    # --- variables --------------------------------------------------------------------------

    def __call__(
        self, name: str | None = None, shape: Iterable[Any] | None = None
    ) -> TensorVariable:
        """Return a new variable of this type, or of the subtype with this static shape.

        Raises `NDimError`, `ShapeError`.
        """
        if shape is None:
            return self.make_variable(name)
        narrow = self.clone(shape=shape)
        if narrow.ndim != self.ndim:
            raise NDimError(f"expected {dimensions(self.ndim)}, got shape {narrow.shape}")
        if not self.is_super(narrow):
            raise ShapeError(f"shape {narrow.shape} does not belong to {self}")
        return narrow.make_variable(name)

    def make_constant(self, value: Any, name: str | None = None) -> TensorConstant:
        """Return a read-only constant; its type has the value's own shape."""
        array = self.filter(value)
        type_ = self if array.shape == self.shape else self.clone(shape=array.shape)
        return TensorConstant(type_, read_only(array, value), name)


def read_only(array: np.ndarray, given: Any = None) -> np.ndarray:
    """Return an array that cannot be written: the array itself if there is no other reference to
    it, else a copy.
    """
    if array.flags.owndata and (array is not given or not array.flags.writeable):
        array.flags.writeable = False
        return array
    array = array.copy()
    array.flags.writeable = False
    return array


def common_shape(a: Sequence[int | None], b: Sequence[int | None]) -> Shape:
    """Return the most specific static shape that includes both (of equal length): their common
    entries, None elsewhere.
    """
    return tuple([x if x == y else None for x, y in zip(a, b, strict=True)])


def _as_array(value: Any, type_: TensorType) -> np.ndarray:
    """Convert a value by NumPy; raise `NoTensorError` if it is not an array of numbers."""
    refuse_masked(value)
    try:
        array = np.asarray(value)
    except RewriteEngineError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise NoTensorError(
            f"expected an array for {type_}, got {_name_value(value)}: {error}"
        ) from error
    if array.size == 0 and not isinstance(value, np.ndarray):
        return array.astype(type_.numpy_dtype)
    if array.dtype.kind not in "biufc":
        raise NoTensorError(f"expected dtype {type_.dtype} for {type_}, got {_name_value(value)}")
    return array


def _survives(array: np.ndarray, type_: TensorType) -> bool:
    """Return whether every element can be converted there and back."""
    with np.errstate(all="ignore"):
        there = array.astype(type_.numpy_dtype)
        back = there.astype(array.dtype)
    same_sign = array.dtype.kind not in "iu" or bool(np.all((array < 0) == (there < 0)))
    return same_sign and bool(np.array_equal(back, array, equal_nan=array.dtype.kind in "fc"))


def _comparable(a: Any, b: Any) -> bool:
    return bool(a.dtype == b.dtype and a.shape == b.shape)


def _name_value(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        return f"{type(value).__name__} of dtype {value.dtype} and shape {value.shape}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) < 60 else text[:57] + '...'}"
