"""Reductions in registers: identity elements, and the accumulators of a loop.

A loop over full vectors has several accumulators, so that a vector does not wait for the one before
it. `loops.py` decides what is reduced, and over which axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Any

import numpy as np

from rewrite_engine.link.native.scalars import op_called, write
from rewrite_engine.link.native.text import (
    DTYPES,
    LLVM_SUFFIX,
    LLVM_TYPE,
    NUMBER_CLASS,
    UNSIGNED,
    Assembler,
    literal,
)
from rewrite_engine.link.native.values import Reduced

EXTREMA = ("maximum", "minimum")
IDENTITY_ELEMENTS: dict[str, Any] = {
    "add": -0.0, "mul": 1, "maximum": -inf, "minimum": inf, "and_": 1, "or_": 0,
}  # fmt: skip
_VECTOR_REDUCTIONS = {
    ("add", "d"): "fadd", ("mul", "d"): "fmul", ("maximum", "d"): "fmaximum",
    ("minimum", "d"): "fminimum", ("add", "i"): "add", ("mul", "i"): "mul",
    ("maximum", "i"): "smax", ("minimum", "i"): "smin", ("and_", "b"): "and", ("or_", "b"): "or",
    ("maximum", "b"): "or", ("minimum", "b"): "and", ("and_", "i"): "and", ("or_", "i"): "or",
}  # fmt: skip


def reduces(name: str, kind: str) -> bool:
    """Return whether there is code for a reduction with a scalar op, on a kind of numbers."""
    return (name, NUMBER_CLASS[kind]) in _VECTOR_REDUCTIONS and (kind != "f" or name in EXTREMA)


def identity(name: str, kind: str) -> float:
    """Return the identity element of a reduction."""
    if NUMBER_CLASS[kind] == "i":
        ends = np.iinfo(DTYPES[kind])
        whole = {"add": 0, "maximum": int(ends.min), "minimum": int(ends.max), "and_": -1}
        return whole.get(name, IDENTITY_ELEMENTS[name])
    if kind == "b":
        return {"maximum": 0, "minimum": 1}.get(name, IDENTITY_ELEMENTS[name])
    return float(IDENTITY_ELEMENTS[name])


def is_compensated(r: Reduced) -> bool:
    """Return whether a reduction is a sum that is added in parts, with what rounding lost."""
    return (r.name, r.value.kind) == ("add", "d")


def combine(t: Assembler, r: Reduced, a: str, b: str) -> str:
    """Write the scalar op of a reduction."""
    return write(op_called(r.name), t, r.value.kind, (a, b))


def accumulators(t: Assembler, r: Reduced, count: int = 1) -> Accumulators:
    """Return accumulators of a reduction; `count` chains of vectors do not wait for each other."""
    if NUMBER_CLASS[r.value.kind] == "d" and r.name in EXTREMA:
        return FloatExtremum(t, r, count)
    is_product = (r.name, NUMBER_CLASS[r.value.kind]) == ("mul", "d")
    return FloatProduct(t, r, 1) if is_product else Accumulators(t, r, count)


class Accumulators:
    """Accumulators of one reduction in a loop. types, first: their types and first values."""

    def __init__(self, t: Assembler, r: Reduced, count: int) -> None:
        self.t, self.r, self.kind, self.count = t, r, r.value.kind, count
        self.none = t.constant(identity(r.name, self.kind), self.kind)
        self.types, self.first = [t.type(self.kind)] * count, [self.none] * count

    def continued(self, kept: Sequence[str]) -> list[str]:
        """Return the first values after a loop with `count` 1."""
        return [kept[0], *[self.none] * (self.count - 1), *kept[1:]]

    def masked(self, x: str, mask: str) -> str:
        """Write a vector with the identity element in the lanes that do not count."""
        return self.t.select(mask, x, self.none, self.kind)

    def add(self, kept: Sequence[str], xs: Sequence[str]) -> list[str]:
        """Write the next values, for some vectors of elements."""
        found = list(kept)
        for k, x in enumerate(xs):
            found[k % self.count] = self.combine(found[k % self.count], x)
        return found

    def joined(self, kept: Sequence[str]) -> list[str]:
        """Write the values for `count` 1."""
        found = list(kept[: self.count])
        while len(found) > 1:
            found = self._pairs(found)
        return [*found, *kept[self.count :]]

    def across(self, kept: Sequence[str]) -> str:
        """Write the reduction of all lanes to one number, for `count` 1."""
        return across_lanes(self.t, self.r.name, self.kind, kept[0])

    def combine(self, a: str, b: str) -> str:
        """Write the reduction of two vectors."""
        return combine(self.t, self.r, a, b)

    def _pairs(self, xs: Sequence[str]) -> list[str]:
        return [self.combine(a, b) for a, b in zip(xs[::2], xs[1::2], strict=True)]


class FloatProduct(Accumulators):
    """Accumulator of a product of floats, which takes the elements in order: a product of some of
    them may overflow where that of all does not.
    """

    def __init__(self, t: Assembler, r: Reduced, count: int) -> None:
        super().__init__(t, r, count)
        self.types, self.first = [LLVM_TYPE[self.kind]], [literal(1.0, self.kind)]

    def add(self, kept: Sequence[str], xs: Sequence[str]) -> list[str]:
        """Write the product with the elements of some vectors."""
        (found,) = kept
        for x in xs:
            found = _call_across(self.t, "fmul", self.kind, x, found)
        return [found]

    def across(self, kept: Sequence[str]) -> str:
        """Return the product of all elements."""
        return kept[0]


class FloatExtremum(Accumulators):
    """Accumulators of a maximum or minimum of floats, which is NaN if an element is, and for which
    -0.0 is less than 0.0.

    LLVM's `maximum` takes five instructions of a processor. These accumulators take one, and ignore
    NaN and the sign of zeros. Two more are for both: one collects sign bits, as the result is
    negative if all elements of a maximum are, or one of a minimum; the other keeps NaN.
    """

    def __init__(self, t: Assembler, r: Reduced, count: int) -> None:
        super().__init__(t, r, count)
        self.bits = {"d": "i", "f": "i32"}[self.kind]
        self.test, self.collect, self.end, none = (
            ("ogt", "and", "fmax", -1) if r.name == "maximum" else ("olt", "or", "fmin", 0)
        )
        self.types += [t.type(self.bits), t.type(self.kind)]
        self.first += [t.constant(none, self.bits), t.constant(0.0, self.kind)]

    def combine(self, a: str, b: str) -> str:
        """Write the reduction of two vectors, for elements that are not NaN."""
        return self.t.select(self.t.compare(self.test, a, b, self.kind), a, b, self.kind)

    def add(self, kept: Sequence[str], xs: Sequence[str]) -> list[str]:
        """Write the next values, for some vectors of elements."""
        t, (*best, signs, none) = self.t, super().add(kept, xs)
        bits = [t.cast("bitcast", x, self.kind, self.bits) for x in xs]
        while len(bits) > 1:  # (they wait for the last iteration once, not for each other)
            bits = [t.bin(self.collect, *pair, self.bits) for pair in zip(bits[::2], bits[1::2])]
        signs = t.bin(self.collect, signs, bits[0], self.bits)
        for a, b in zip(xs[::2], xs[1::2] or xs, strict=True):  # one comparison for two vectors
            found = t.compare("uno", a, b, self.kind)
            none = t.select(found, t.constant(nan, self.kind), none, self.kind)
        return [*best, signs, none]

    def across(self, kept: Sequence[str]) -> str:
        """Write the reduction of all lanes to one number, for `count` 1."""
        t, kind, (best, signs, none) = self.t, self.kind, kept
        type_, suffix = LLVM_TYPE[kind], LLVM_SUFFIX[kind]
        minus = t.compare("slt", signs, t.constant(0, self.bits), self.bits)
        minus = across_lanes(t, f"{self.collect}_", "b", minus)
        none = across_lanes(t, "or_", "b", t.compare("uno", none, none, kind))
        found = _call_across(t, f"nnan nsz {self.end}", kind, best)
        t.declare(f"{type_} @llvm.fabs.{suffix}({type_})")
        found = t.new(f"call {type_} @llvm.fabs.{suffix}({type_} {found})")
        less = t.new(f"fneg {type_} {found}")
        found = t.new(f"select i1 {minus}, {type_} {less}, {type_} {found}")
        return t.new(f"select i1 {none}, {type_} {literal(nan, kind)}, {type_} {found}")


def across_lanes(t: Assembler, name: str, kind: str, x: str) -> str:
    """Write the reduction of all lanes of a vector to one number."""
    found = _VECTOR_REDUCTIONS[name, NUMBER_CLASS[kind]]
    if kind in UNSIGNED:
        found = found.replace("s", "u")
    first = literal(identity(name, kind), kind) if found in ("fadd", "fmul") else None
    return _call_across(t, found if first is None else f"reassoc {found}", kind, x, first)


def _call_across(t: Assembler, name: str, kind: str, x: str, first: str | None = None) -> str:
    """Write a call of one of LLVM's reductions. first: what floats are added to, or multiplied."""
    one, type_ = LLVM_TYPE[kind], t.type(kind)
    *flags, name = name.split()
    full = f"llvm.vector.reduce.{name}.v{t.width}{'i1' if kind == 'b' else LLVM_SUFFIX[kind]}"
    if first is None:
        t.declare(f"{one} @{full}({type_})")
        return t.new(f"{' '.join(['call', *flags])} {one} @{full}({type_} {x})")
    t.declare(f"{one} @{full}({one}, {type_})")
    return t.new(f"{' '.join(['call', *flags])} {one} @{full}({one} {first}, {type_} {x})")
