"""Making root variables: `vector("x")`, `dmatrix()`, `scalars("a b c")`, `tensor(dtype=…,
shape=…)`.

A prefix fixes the dtype: b int8, w int16, i int32, l int64, f float32, d float64, c complex64,
z complex128; `bscalar` is an int8. Without prefix the dtype is `config.floatX`, or the argument
`dtype`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.errors import NDimError, ShapeError
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.tensor.variable import TensorVariable

_PREFIXES = {
    "b": "int8",
    "w": "int16",
    "i": "int32",
    "l": "int64",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
    "z": "complex128",
}
_SHAPES: dict[str, tuple[int | None, ...]] = {
    "scalar": (),
    "vector": (None,),
    "row": (1, None),
    "col": (None, 1),
    "matrix": (None, None),
    "tensor3": (None,) * 3,
    "tensor4": (None,) * 4,
    "tensor5": (None,) * 5,
}


class Constructor:
    """Makes variables of one number of dimensions; with a fixed dtype also usable as the type
    itself.
    """

    def __init__(self, name: str, shape: tuple[int | None, ...], dtype: str | None) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = (
            f"Return a new {len(shape)}-dimensional variable, dtype {dtype or 'floatX'}. "
            "shape: static lengths, None where not known."
        )
        self.base = shape
        self.dtype = dtype

    def type(self, dtype: Any = None, shape: Sequence[Any] | None = None) -> TensorType:
        """Return the type of the variables. Raises `NDimError`, `ShapeError`, `DTypeError`."""
        dims = self.base if shape is None else tuple(shape)
        if len(dims) != len(self.base):
            raise NDimError(
                f"{self.__name__} has {len(self.base)} dimensions, not {len(dims)}: shape {shape}"
            )
        for want, got in zip(self.base, dims):
            if want is not None and want != got:
                raise ShapeError(f"{self.__name__} has shape {self.base}, not {shape}")
        return TensorType(self.dtype or dtype or config.floatX, dims)

    def __call__(
        self, name: str | None = None, *, dtype: Any = None, shape: Sequence[Any] | None = None
    ) -> TensorVariable:
        if dtype is not None and self.dtype is not None:
            raise TypeError(f"{self.__name__} has dtype {self.dtype}; it takes no dtype")
        return self.type(dtype, shape)(name)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<{self.__name__}: {self.dtype or 'floatX'} {self.base}>"


def _many(one: Callable[..., TensorVariable]) -> Callable[..., list[TensorVariable]]:
    """Make the plural of a constructor."""

    def several(*names: Any, **options: Any) -> list[TensorVariable]:
        """Return several variables: from names (`"x y z"` or `"x", "y", "z"`), or so many without
        name.
        """
        if len(names) == 1 and isinstance(names[0], int):
            return [one(**options) for _ in range(names[0])]
        flat = [n for text in names for n in ([None] if text is None else text.split())]
        return [one(name, **options) for name in flat]

    return several


def tensor(
    name: str | None = None, dtype: Any = None, shape: Sequence[Any] | None = None, **legacy: Any
) -> TensorVariable:
    """Return a new variable: `tensor("x", dtype="float32", shape=(None, 3))`.

    dtype is floatX by default. The older order `tensor("float64", shape)` and `broadcastable=`
    are understood. Raises `DTypeError`, `ShapeError`.
    """
    if shape is None and isinstance(dtype, tuple | list):
        name, dtype, shape = None, name, dtype
    elif shape is not None and dtype is None and name in _DTYPES:
        name, dtype = None, name
    return TensorType(dtype or config.floatX, shape, **legacy)(name)  # type: ignore[no-any-return]


_DTYPES = frozenset(_PREFIXES.values()) | {"bool", "float16", "uint8", "uint16", "uint32", "uint64"}


def _constructors() -> dict[str, Any]:
    """All constructors by name: {prefix}{kind} and the plurals."""
    plural = {"matrix": "matrices", "col": "cols", "row": "rows"}
    made: dict[str, Any] = {}
    for kind, shape in _SHAPES.items():
        for prefix, dtype in [("", None), *_PREFIXES.items()]:
            name = prefix + kind
            made[name] = Constructor(name, shape, dtype)
            made[prefix + plural.get(kind, kind + "s")] = _many(made[name])
    return made


CONSTRUCTORS = _constructors()
globals().update(CONSTRUCTORS)
__all__ = ["CONSTRUCTORS", "Constructor", "tensor"]
__all__ += CONSTRUCTORS
