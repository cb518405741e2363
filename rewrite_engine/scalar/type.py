"""`ScalarType`, and its variables and constants: single numbers, used in the inner graphs of
`Composite`.

The scalars of user code are 0-dimensional tensors; this type describes what happens to one element.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rewrite_engine.errors import DTypeError, NDimError, NotConstantError
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.type import Type
from rewrite_engine.scalar.dtype import KIND, dtype_name, refuse_masked


class ScalarVariable(Variable):
    """Variable for a single number. Operators build scalar ops; `==` compares objects."""

    __slots__ = ()

    @property
    def dtype(self) -> str:
        """The name of the dtype."""
        return self.type.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of dimensions, always 0."""
        return 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a number, ()."""
        return ()

    def __bool__(self) -> bool:
        raise NotConstantError(
            f"{self!r} of type {self.type} has no truth value before the graph runs; "
            "use `switch` to choose between terms"
        )

    def __neg__(self) -> Any:
        return _ops().neg(self)

    def __abs__(self) -> Any:
        return _ops().abs(self)

    def __add__(self, other: Any) -> Any:
        return _ops().add(self, other)

    def __radd__(self, other: Any) -> Any:
        return _ops().add(other, self)

    def __sub__(self, other: Any) -> Any:
        return _ops().sub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return _ops().sub(other, self)

    def __mul__(self, other: Any) -> Any:
        return _ops().mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return _ops().mul(other, self)

    def __truediv__(self, other: Any) -> Any:
        return _ops().true_div(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _ops().true_div(other, self)

    def __pow__(self, other: Any) -> Any:
        return _ops().pow(self, other)

    def __floordiv__(self, other: Any) -> Any:
        return _ops().floor_div(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _ops().floor_div(other, self)

    def __mod__(self, other: Any) -> Any:
        return _ops().mod(self, other)

    def __rmod__(self, other: Any) -> Any:
        return _ops().mod(other, self)

    def __rpow__(self, other: Any) -> Any:
        return _ops().pow(other, self)

    def __and__(self, other: Any) -> Any:
        return _ops().and_(self, other)

    def __rand__(self, other: Any) -> Any:
        return _ops().and_(other, self)

    def __or__(self, other: Any) -> Any:
        return _ops().or_(self, other)

    def __ror__(self, other: Any) -> Any:
        return _ops().or_(other, self)

    def __xor__(self, other: Any) -> Any:
        return _ops().xor(self, other)

    def __rxor__(self, other: Any) -> Any:
        return _ops().xor(other, self)

    def __invert__(self) -> Any:
        return _ops().invert(self)

    def __lt__(self, other: Any) -> Any:
        return _ops().lt(self, other)

    def __le__(self, other: Any) -> Any:
        return _ops().le(self, other)

    def __gt__(self, other: Any) -> Any:
        return _ops().gt(self, other)

    def __ge__(self, other: Any) -> Any:
        return _ops().ge(self, other)

    def astype(self, dtype: Any) -> Any:
        """Return the number converted to another dtype."""
        return _ops().cast(self, dtype)


class ScalarConstant(ScalarVariable, Constant):
    """Constant number of a scalar graph; `data` is a NumPy scalar."""

    __slots__ = ()

    def __init__(self, type: Any, data: Any, name: str | None = None) -> None:
        value = data if isinstance(data, np.generic) else type.filter(data)
        super().__init__(type, np.dtype(type.dtype).type(value), name)

    def as_number(self) -> Any:
        """Return the value as a Python number."""
        return self.data.item()

    def signature(self) -> Any:
        """Return a key that is equal for equal dtypes and bits (0.0 and -0.0 differ, all NaNs are
        equal).
        """
        return self.type, b"nan" if np.isnan(self.data) else self.data.tobytes()


def _ops() -> Any:
    from rewrite_engine.scalar import ops

    return ops


class ScalarType(Type):
    """Type of single numbers of one dtype. Equal types are one object. Raises `DTypeError`.

    >>> ScalarType("float64")
    ScalarType(float64)
    """

    __props__ = ("dtype",)
    variable_type: ClassVar[type[Variable]] = ScalarVariable
    constant_type: ClassVar[Any] = ScalarConstant
    ndim = 0
    shape = ()

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype_name(dtype)
        self.numpy_dtype: np.dtype[Any] = np.dtype(self.dtype)
        self.kind = KIND[self.dtype]

    def __str__(self) -> str:
        return f"ScalarType({self.dtype})"

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return `data` as a NumPy scalar of this dtype. A conversion must preserve the value
        unless `allow_downcast` is true.

        Raises `DTypeError`, `NDimError`.
        """
        if isinstance(data, np.generic) and data.dtype == self.numpy_dtype:
            return data
        if strict:
            raise DTypeError(f"expected a NumPy scalar of dtype {self.dtype}, got {data!r}")
        refuse_masked(data)
        array = np.asarray(data)
        if array.ndim:
            raise NDimError(
                f"expected a single number for {self}, got an array of shape {array.shape}"
            )
        if array.dtype.kind not in "biufc" or (array.dtype.kind == "c" and self.kind != "c"):
            raise DTypeError(f"expected dtype {self.dtype} for {self}, got {data!r}")
        result = array.astype(self.numpy_dtype)[()]
        rounded = type(data) is float and allow_downcast is None and self.kind in "fc"
        if not (
            allow_downcast or rounded or result == array or (result != result and array != array)
        ):
            raise DTypeError(
                f"{data!r} cannot be converted to {self.dtype} without loss; pass "
                "allow_downcast=True to round it"
            )
        return result

    def values_eq(self, a: Any, b: Any) -> bool:
        """Return whether two numbers are equal (NaN equals NaN)."""
        return bool(a.dtype == b.dtype and (a == b or (a != a and b != b)))

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        """Return whether two numbers agree up to rounding."""
        if self.kind not in "fc":
            return self.values_eq(a, b)
        rtol = max(1e-5, 8 * float(np.finfo(self.numpy_dtype).eps))
        return bool(np.isclose(a, b, rtol=rtol, equal_nan=True))

    def get_size(self, shape_info: Any) -> int:
        """Return the number of bytes of one number."""
        return self.numpy_dtype.itemsize
