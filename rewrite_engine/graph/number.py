"""When a constant is a number: what a literal in a pattern, or in a term, is compared by."""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import Any


class Leaf:
    """What is written as it is called. `Variable.head` is one where no op computes it: `CONSTANT`,
    or `None` for an input.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


CONSTANT = Leaf("CONSTANT")
NO_NUMBER = Leaf("NO_NUMBER")  # what a constant is filled with whose elements are not all one


def counts_as(constant: Any, number: Any) -> bool:
    """Whether all of a constant is a number, as its type rounds it. True is not 1, nor 0.0 -0.0; a
    NaN is a NaN; no number rounds to zero or infinity.
    """
    found = constant.element
    return same_number(found, number) or (
        found is not None and same_number(found, constant.type.rounded(number))
    )


def same_number(found: Any, wanted: Any) -> bool:
    """Equality of numbers that tells 0.0 from -0.0 and 1 from True, and finds NaNs equal."""
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
    """A number in the floats of so many bytes. None where that is another kind of number: infinite
    or zero, and the number is not. Raises `OverflowError` for integers beyond all floats.
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
    """All numbers that a number may be as a constant of some dtype; itself first."""
    if isinstance(number, bool) or number != number:
        return (number,)
    try:
        found = [number, *(rounded(number, size) for size in (8, 4, 2))]
    except OverflowError:  # an integer beyond all floats
        return (number,)
    return tuple(dict.fromkeys([n for n in found if n is not None]))


class NoRank(int):
    """The number of dimensions of what is no array: none, where programs count with it, but equal
    to no number.
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
