"""Constructors of root variables: `vector("x")`, `dmatrix()`, `scalars("abc")`, `tensor(dtype=…)`.

A prefix fixes the dtype: b int8, w int16, i int32, l int64, f float32, d float64, c complex64, z
complex128. `dmatrix` and the like are types (usable in `itypes`), and can be called like the
others. Without prefix the dtype is `config.floatX`, or the argument `dtype`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.config import config
from rewrite_engine.errors import OptionError, describe, dimensions
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.tensor.variable import TensorVariable

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import DTypeLike

PREFIXES = {
    "b": "int8",
    "w": "int16",
    "i": "int32",
    "l": "int64",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
    "z": "complex128",
}
KINDS: dict[str, tuple[int | None, ...]] = {
    "scalar": (),
    "vector": (None,),
    "row": (1, None),
    "col": (None, 1),
    "matrix": (None, None),
    "tensor3": (None,) * 3,
    "tensor4": (None,) * 4,
    "tensor5": (None,) * 5,
    "tensor6": (None,) * 6,
    "tensor7": (None,) * 7,
}
_PLURALS = {"matrix": "matrices"}
_DTYPES = frozenset(PREFIXES.values()) | {"bool", "float16", "uint8", "uint16", "uint32", "uint64"}


def _constructor(kind: str) -> Callable[..., TensorVariable]:
    """Make the constructor of one kind, with any dtype."""

    def construct(
        name: str | None = None, *, dtype: Any = None, shape: Sequence[Any] | None = None
    ) -> TensorVariable:
        return TensorType(dtype or config.floatX, KINDS[kind])(name, shape)

    construct.__name__ = construct.__qualname__ = kind
    construct.__doc__ = (
        f"Return a new variable with {dimensions(len(KINDS[kind]))}, of dtype floatX or "
        "`dtype`.\n\nshape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`."
    )
    return construct


def _several(one: Callable[..., TensorVariable]) -> Callable[..., list[TensorVariable]]:
    """Return the plural form of a constructor."""

    def construct(*names: Any, **options: Any) -> list[TensorVariable]:
        """Return several variables.

        Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
        letter of a single text without spaces is a name.
        """
        if len(names) == 1 and isinstance(names[0], int):
            return [one(**options) for _ in range(names[0])]
        if len(names) == 1 and names[0] is not None:
            text = names[0]
            names = tuple(text.split() if isinstance(text, str) and " " in text.strip() else text)
        for name in names:
            if not isinstance(name, str | None):
                raise OptionError(f"names of variables must be strings, not {describe(name)}")
        flat = [n for text in names for n in ([None] if text is None else text.split())]
        return [one(name, **options) for name in flat]

    return construct


scalar, vector = _constructor("scalar"), _constructor("vector")
row, col, matrix = _constructor("row"), _constructor("col"), _constructor("matrix")
tensor3, tensor4, tensor5 = map(_constructor, ("tensor3", "tensor4", "tensor5"))
tensor6, tensor7 = map(_constructor, ("tensor6", "tensor7"))
scalars, vectors = _several(scalar), _several(vector)
rows, cols, matrices = _several(row), _several(col), _several(matrix)
tensor3s, tensor4s, tensor5s = map(_several, (tensor3, tensor4, tensor5))
tensor6s, tensor7s = map(_several, (tensor6, tensor7))


def tensor(
    name: str | None = None,
    dtype: DTypeLike = None,
    shape: Sequence[Any] | None = None,
    **legacy: Any,
) -> TensorVariable:
    """Return a new variable: `tensor("x", dtype="float32", shape=(None, 3))`.

    dtype is floatX by default. The older order `tensor("float64", shape)` and the argument
    `broadcastable=` are also accepted. Raises `DTypeError`, `ShapeError`.
    """
    if shape is None and isinstance(dtype, tuple | list):
        name, dtype, shape = None, name, dtype
    elif shape is not None and dtype is None and (name in _DTYPES or isinstance(name, type)):
        name, dtype = None, name
    return TensorType(dtype or config.floatX, shape, **legacy)(name)


def _with_prefixes() -> dict[str, Any]:
    """Return `dvector`, `dvectors` and so on, by name."""
    made: dict[str, Any] = {}
    for kind, shape in KINDS.items():
        for prefix, dtype in PREFIXES.items():
            type_ = made[prefix + kind] = TensorType(dtype, shape)
            made[prefix + _PLURALS.get(kind, kind + "s")] = _several(type_)
    return made


def _lists() -> dict[str, Any]:
    """Return `float_types`, `int_vector_types` and so on: types of one kind, in order of
    precision.
    """
    letters = {"int": "bwil", "float": "fd", "complex": "cz"}
    return {
        f"{family}{'_' * bool(kind)}{kind}_types": tuple(
            [PREFIXED[prefix + (kind or "scalar")] for prefix in prefixes]
        )
        for family, prefixes in letters.items()
        for kind in ("", "scalar", "vector", "matrix")
    }


PREFIXED = _with_prefixes()
LISTS = _lists()
globals().update(PREFIXED | LISTS)
__all__ = [*LISTS, "tensor", *KINDS, *[_PLURALS.get(k, k + "s") for k in KINDS], *PREFIXED]
