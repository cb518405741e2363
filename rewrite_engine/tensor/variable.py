"""`TensorVariable` and `TensorConstant`: variables whose type is a `TensorType`.

Their operators and methods are in `tensor/operators.py`; making constants from values is in
`tensor/constant.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.errors import ItemAssignmentError, NotConstantError, describe
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.operators import TensorOperators

if TYPE_CHECKING:
    from rewrite_engine.tensor.type import TensorType

#: constants of more bytes than this are compared by digest
DIGEST_ABOVE = 64


class TensorVariable(TensorOperators, Variable):
    """Variable that represents an array. `==` compares identity; use `eq` for elements."""

    __slots__ = ()

    if TYPE_CHECKING:
        type: TensorType

        def eval(
            self, inputs_to_values: Mapping[Any, Any] | None = None, **options: Any
        ) -> np.ndarray[Any, np.dtype[Any]]: ...

    @property
    def dtype(self) -> str:
        """The name of the dtype."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.type.ndim

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each dimension, whether its static length is 1."""
        return self.type.broadcastable

    def __bool__(self) -> bool:
        raise NotConstantError(
            f"{describe(self)} has no truth value before the graph runs; use `switch` for a "
            "choice, `and_`, `or_` for logic, and `eq`, `neq` to compare (== is identity)"
        )

    def __len__(self) -> int:
        if self.type.ndim == 0:
            raise NotConstantError(f"{describe(self)} has no length, as it has 0 dimensions")
        length: int | None = self.type.shape[0]
        if length is None:
            raise NotConstantError(
                f"the length of {describe(self)} is unknown before the graph runs; use `.shape[0]`"
            )
        return length

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    if not TYPE_CHECKING:  # a checker is to refuse what raises, and `array + x` is a variable

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            caller = sys._getframe(1).f_code
            if "numpy" in caller.co_filename:
                if self.type.ndim == 0 and caller.co_name in ("ndim", "shape", "size"):
                    return np.empty((), object)  # `np.ndim((5, n))` counts, and reads no value
                from rewrite_engine.tensor.numpy_calls import AS_OBJECTS, as_object

                if caller.co_name in AS_OBJECTS:  # `np.atleast_1d((5, n))` of other libraries
                    return as_object(self)
            raise NotConstantError(
                f"{describe(self)} has no values before the graph runs and cannot become a NumPy "
                "array; compute them by `.eval({input: value})` or a `function`, or build a "
                "tensor of "
                "variables by `pt.stack`"
            )

        def __setitem__(self, index: Any, value: Any) -> None:
            x = self.name or "x"
            raise ItemAssignmentError(
                located(
                    f"{describe(self)} cannot be changed",
                    hint=f"write {x} = pt.set_subtensor({x}[…], value) or {x} = {x}[…].set(value); "
                    "inc_subtensor and .inc add a value",
                )
            )

        def __index__(self) -> int:
            raise NotConstantError(
                f"{describe(self)} is not a constant and cannot be used as a Python integer"
            )

        def __int__(self) -> int:
            raise NotConstantError(_no_number(self, "int64"))

        def __float__(self) -> float:
            raise NotConstantError(_no_number(self, "float64"))

        def __complex__(self) -> complex:
            raise NotConstantError(_no_number(self, "complex128"))


def _no_number(x: Any, dtype: str) -> str:
    return (
        f"{describe(x)} is not a constant and cannot become a Python number; "
        f'use `.astype("{dtype}")` to convert it in the graph'
    )


class TensorConstant(TensorVariable, Constant):
    """Array that is part of the graph. `data` is read-only.

    weak: whether it is a Python integer, made while `config.floatX` was not float64, which takes
    the precision of other floats.
    """

    __slots__ = ()
    weak: bool = False

    def __init__(self, type: Any, data: Any, name: str | None = None) -> None:
        """Create a constant.

        type: its unknown lengths become those of the data, except that 1 stays unknown, as it would
        broadcast. data: converted and copied if it is writable.
        """
        if not isinstance(data, np.ndarray) or data.flags.writeable:
            data = type.make_constant(data).data
        if None in type.shape:
            lengths = zip(type.shape, data.shape, strict=True)
            shape = [n if n is not None or m == 1 else m for n, m in lengths]
            type = type.clone(shape=shape)
        super().__init__(type, data, name)

    def as_number(self) -> Any:
        """Return the value as a Python number if it has 0 dimensions, else None."""
        data = self.data
        return None if data.ndim else data.item()

    def signature(self) -> Any:
        """Return a key that is equal for equal types, bits and weakness: 0.0 and -0.0 differ, all
        NaNs are equal, dtypes differ.
        """
        if self._signature is None:
            own = self.type, self.data.shape, _content(self.data)
            self._signature = (*own, True) if self.weak else own
        return self._signature

    if not TYPE_CHECKING:  # (`array + x` is a variable)

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return np.array(self.data, dtype, copy=copy)

    def __index__(self) -> int:
        if self.data.ndim or self.data.dtype.kind not in "iu":
            raise NotConstantError(f"{describe(self)} cannot be used as a Python integer")
        return int(self.data)

    def __int__(self) -> int:
        return int(self.data)

    def __float__(self) -> float:
        return float(self.data)

    def __complex__(self) -> complex:
        return complex(self.data)

    def __setstate__(self, state: dict[str, Any]) -> None:
        Constant.__setstate__(self, state)
        self.data.flags.writeable = False

    def exact_text(self) -> str | None:
        data = self.data
        if data.dtype.hasobject or not data.ndim:
            return str(data)
        if not 0 < data.size <= 10:
            return None
        text = np.array2string(data, floatmode="unique", max_line_width=10_000)
        return text.replace("\n", "")

    def summary(self) -> str:
        """Return the dtype and the shape as text."""
        return f"{self.data.dtype}[{', '.join(map(str, self.data.shape))}]"

    def value_text(self) -> str:
        return Constant.value_text(self) if self.data.size else self.summary()


def _content(data: np.ndarray) -> bytes:
    """Return the bytes of an array, with one kind of NaN; the digest of the bytes if there are
    many.
    """
    if data.dtype.kind in "fc":
        nan = np.isnan(data)
        if nan.any():
            data = np.where(nan, np.array(np.nan, data.dtype), data)
    if data.nbytes <= DIGEST_ABOVE:
        return data.tobytes()
    try:
        from _blake2 import blake2b  # without OpenSSL, which `hashlib` takes 2 ms to load
    except ImportError:
        from hashlib import blake2b

    return blake2b(np.ascontiguousarray(data).data, digest_size=20).digest()
