"""Constants as numbers: how a literal in a pattern or a term is compared."""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import Any


class Leaf:
    """Named marker. `Variable.head` is one where no op computes the variable: `CONSTANT` for a
    constant (an input has `None`).
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


CONSTANT = Leaf("CONSTANT")
NO_NUMBER = Leaf("NO_NUMBER")  # what a constant is filled with whose elements are not all one


def counts_as(constant: Any, number: Any) -> bool:
    """Return whether all elements of a constant equal a number, as its type rounds it. True is not
    1, and 0.0 is not -0.0; a NaN equals a NaN; no number rounds to zero or infinity.
    """
    found = constant.element
    return same_number(found, number) or (
        found is not None and same_number(found, constant.type.rounded(number))
    )


def same_number(found: Any, wanted: Any) -> bool:
    """Compare two numbers; distinguishes 0.0 from -0.0 and 1 from True, and finds NaNs equal."""
    if found is None or isinstance(found, bool) != isinstance(wanted, bool):
        return False
    if wanted != wanted:
        return bool(found != found)
    if found != wanted:
        return False
    return bool(wanted != 0) or _signs(found) == _signs(wanted)


def _signs(x: Any) -> tuple[float, float]:
    if isinstance(x, complex):
        return math.copysign(1.0, x.real), math.copysign(1.0, x.imag)
    return math.copysign(1.0, x), 1.0


@lru_cache(4096)
def rounded(number: float | complex, size: int) -> Any:
    """Round a number to floats of `size` bytes. Returns None if the result is zero or infinite and
    the number is not. Raises `OverflowError` for integers beyond all floats.
    """
    if isinstance(number, complex):
        real, imag = rounded(number.real, size), rounded(number.imag, size)
        return None if real is None or imag is None else complex(real, imag)
    number = float(number)
    if size == 8 or not math.isfinite(number):
        return number
    code = {2: "e", 4: "f"}[size]
    try:
        found: float = struct.unpack(code, struct.pack(code, number))[0]
    except OverflowError:
        return None
    return None if math.isinf(found) or found == 0 != number else found


@lru_cache(4096)
def roundings(number: Any) -> tuple[Any, ...]:
    """Return all numbers that a number may be as a constant of some dtype; the number
    itself first.
    """
    if isinstance(number, bool) or number != number:
        return (number,)
    try:
        found = [number, *(rounded(number, size) for size in (8, 4, 2))]
    except OverflowError:  # an integer beyond all floats
        return (number,)
    return tuple(dict.fromkeys([n for n in found if n is not None]))


class NoRank(int):
    """Number of dimensions of a value that is not an array: an integer for programs that compute
    with it, but equal to no number.
    """

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "no rank"

    def __reduce__(self) -> str:
        return "NO_RANK"


NO_RANK = NoRank()
