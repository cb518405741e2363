"""PyTensor's functions that compute the output type of a scalar op from its input types, the first
argument of its classes: `Add(upgrade_to_float, name="add")`.

Each takes the types and returns a tuple of one type; it raises `DTypeError`, a `TypeError`, for
types that it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rewrite_engine.errors import DTypeError
from rewrite_engine.graph.intern import Record
from rewrite_engine.scalar.dtype import float_dtype, promote
from rewrite_engine.scalar.type import ScalarType

__all__ = [
    "float_out",
    "float_out_nocomplex",
    "int_out",
    "int_out_nocomplex",
    "same_out",
    "same_out_float_only",
    "same_out_min8",
    "same_out_nobool",
    "same_out_nocomplex",
    "specific_out",
    "transfer_type",
    "unary_out_lookup",
    "upcast_out",
    "upcast_out_min8",
    "upcast_out_no_complex",
    "upcast_out_nobool",
    "upgrade_to_float",
    "upgrade_to_float64",
    "upgrade_to_float_no_complex",
]

Types = tuple[Any, ...]


def _refuse(kinds: str, what: str, types: Types) -> None:
    """Raise `DTypeError` if a type is of one of these kinds."""
    if any([t.kind in kinds for t in types]):
        raise DTypeError(f"{what} not supported: {', '.join(map(str, types))}")


def same_out(type_: Any) -> Types:
    """Return the type of the input."""
    return (type_,)


def same_out_nocomplex(type_: Any) -> Types:
    """Return the type of the input; no complex numbers."""
    _refuse("c", "complex argument", (type_,))
    return (type_,)


def same_out_nobool(type_: Any) -> Types:
    """Return the type of the input; no truth values."""
    _refuse("b", "bool input", (type_,))
    return (type_,)


def same_out_float_only(type_: Any) -> Types:
    """Return the type of the input, a float."""
    _refuse("biuc", "an argument other than a float is", (type_,))
    return (type_,)


def same_out_min8(type_: Any) -> Types:
    """Return the type of the input; int8 for truth values."""
    return (ScalarType("int8") if type_.kind == "b" else type_,)


def upcast_out(*types: Any) -> Types:
    """Return the type to which NumPy promotes the types of the inputs."""
    return (ScalarType(promote(*[t.dtype for t in types])),)


def upcast_out_nobool(*types: Any) -> Types:
    """Return the promoted type; not truth values alone."""
    found = upcast_out(*types)
    _refuse("b", "bool output", found)
    return found


def upcast_out_min8(*types: Any) -> Types:
    """Return the promoted type; int8 for truth values alone."""
    return same_out_min8(*upcast_out(*types))


def upcast_out_no_complex(*types: Any) -> Types:
    """Return the promoted type; no complex numbers."""
    _refuse("c", "complex argument", types)
    return upcast_out(*types)


def upgrade_to_float(*types: Any) -> Types:
    """Return the type of a float made of these: float32 of integers of up to 16 bits and truth
    values, float64 of wider ones.
    """
    return (ScalarType(float_dtype(*[t.dtype for t in types])),)


def upgrade_to_float_no_complex(*types: Any) -> Types:
    """Return the type of a float made of these; no complex numbers."""
    _refuse("c", "complex argument", types)
    return upgrade_to_float(*types)


def upgrade_to_float64(*types: Any) -> Types:
    """Return float64; complex numbers stay complex."""
    return upcast_out(ScalarType("float64"), *types)


def int_out(*types: Any) -> Types:
    """Return int64 for all inputs."""
    return (ScalarType("int64"),)


def int_out_nocomplex(*types: Any) -> Types:
    """Return int64; no complex numbers."""
    _refuse("c", "complex argument", types)
    return int_out()


def float_out(*types: Any) -> Types:
    """Return float64 for all inputs."""
    return (ScalarType("float64"),)


def float_out_nocomplex(*types: Any) -> Types:
    """Return float64; no complex numbers."""
    _refuse("c", "complex argument", types)
    return float_out()


class TransferType(Record):
    """Function that takes types from inputs: `transfer_type(1)` gives the type of input 1, None the
    promoted one.
    """

    __props__ = ("transfer",)

    def __init__(self, *transfer: int | None) -> None:
        self.transfer = transfer

    def __call__(self, *types: Any) -> Types:
        """Return a type for each number."""
        return tuple([upcast_out(*types)[0] if i is None else types[i] for i in self.transfer])


class SpecificOut(Record):
    """Function that returns the same types for all inputs: `specific_out(float64)`."""

    __props__ = ("spec",)

    def __init__(self, *spec: Any) -> None:
        self.spec = spec

    def __call__(self, *types: Any) -> Types:
        """Return the fixed output types."""
        return self.spec


class UnaryOutLookup(Record):
    """Function that looks the type up: `unary_out_lookup({int8: int32, int32: int64})`."""

    __props__ = ("pairs",)

    def __init__(self, type_table: Any) -> None:
        self.pairs = tuple(dict(type_table).items())

    def __call__(self, *types: Any) -> Types:
        """Return the type in the table. Raises `DTypeError` for a type that is not in it."""
        key = types[0] if len(types) == 1 else types
        found = dict(self.pairs).get(key)
        if found is None:
            raise DTypeError(f"there is no output type for {', '.join(map(str, types))}")
        return tuple(found) if isinstance(found, list | tuple) else (found,)


transfer_type, specific_out, unary_out_lookup = TransferType, SpecificOut, UnaryOutLookup
#: what is computed as a function of NumPy with floats is
AS_FLOATS: tuple[Callable[..., Types], ...] = (upgrade_to_float, upgrade_to_float_no_complex)
