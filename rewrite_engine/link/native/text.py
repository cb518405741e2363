"""Writer of LLVM's language: `Assembler` collects the lines of one function.

A value is a name (`%x7`) or a literal, and has a kind: "d" (float64), "i" (int64), "b" (bool), "f"
(float32), "i8" to "i32", "u8" to "u64". A kind has a sort: "d", "i" or "b", for floats, integers,
truth values. In a register a value is a vector of `width` numbers, or one number if the width is 1.
In memory a bool is a byte.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

KINDS = {
    "float64": "d", "float32": "f", "bool": "b", "int64": "i", "int32": "i32", "int16": "i16",
    "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8",
}  # fmt: skip
DTYPES = {kind: dtype for dtype, kind in KINDS.items()}
SIZE = {kind: np.dtype(dtype).itemsize for dtype, kind in KINDS.items()}
NUMBER_CLASS = {
    kind: {"f": "d", "b": "b"}.get(np.dtype(dtype).kind, "i") for dtype, kind in KINDS.items()
}
UNSIGNED = frozenset({kind for dtype, kind in KINDS.items() if np.dtype(dtype).kind == "u"})
LLVM_TYPE = {kind: f"i{8 * n}" for kind, n in SIZE.items()} | {
    "d": "double",
    "f": "float",
    "b": "i1",
}
LLVM_MEMORY_TYPE = LLVM_TYPE | {"b": "i8"}
#: how intrinsics name the type of a number
LLVM_SUFFIX = {
    kind: f"{'f' if NUMBER_CLASS[kind] == 'd' else 'i'}{8 * n}" for kind, n in SIZE.items()
}

#: attribute of functions that keep vectors in memory during calls; otherwise these may lie across
#: two cache lines, depending on the caller's stack, and a loop may take twice as long
ALIGNED_STACK = "alignstack(64)"


def literal(value: float, kind: str) -> str:
    """Return a number as a literal; floats by their bits."""
    if kind == "f":
        value = float(np.float32(value))
    if NUMBER_CLASS[kind] == "d":
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    return str(int(value))


class Assembler:
    """Lines of a function, in basic blocks with labels.

    declared: declarations of called functions. units: names of called library functions.
    current_label: of the basic block that is written. active: the mask of the lanes that count;
    None if all do. saturates: whether a float that is too large for an integer becomes the largest.
    """

    saturates = False

    def __init__(self, width: int = 1, fma: bool = False) -> None:
        self.width, self.fused = width, fma
        self.lines: list[str] = []
        self.count = 0
        self.declared: dict[str, None] = {}
        self.units: dict[str, None] = {}
        self.current_label = "entry"
        self.active: str | None = None

    # --- lines ----------------------------------------------------------------------------------

    def new(self, text: str) -> str:
        """Write an instruction that has a value, and return its name."""
        self.count += 1
        name = f"%x{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Write an instruction without a value."""
        self.lines.append("  " + text)

    def label(self) -> str:
        """Return a new label."""
        self.count += 1
        return f"b{self.count}"

    def start(self, label: str) -> None:
        """Begin the basic block of a label."""
        self.lines.append(f"{label}:")
        self.current_label = label

    def declare(self, text: str) -> None:
        """Declare a name that is defined elsewhere."""
        self.declared[f"declare {text}"] = None

    # --- types and constants --------------------------------------------------------------------

    def type(self, kind: str) -> str:
        """Return the type of values of a kind."""
        return self.vector(LLVM_TYPE[kind])

    def vector(self, text: str) -> str:
        """Return the type of a register of numbers."""
        return text if self.width == 1 else f"<{self.width} x {text}>"

    def suffix(self, kind: str) -> str:
        """Return the suffix of intrinsics for a kind."""
        return LLVM_SUFFIX[kind] if self.width == 1 else f"v{self.width}{LLVM_SUFFIX[kind]}"

    def constant(self, value: float, kind: str = "d") -> str:
        """Return a constant in all lanes."""
        return self.spread(literal(value, kind), kind)

    def spread(self, x: str, kind: str) -> str:
        """Copy one number to all lanes."""
        if self.width == 1:
            return x
        if not x.startswith("%"):
            return f"splat ({LLVM_TYPE[kind]} {x})"
        type_ = self.type(kind)
        first = self.new(f"insertelement {type_} poison, {LLVM_TYPE[kind]} {x}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.new(f"shufflevector {type_} {first}, {type_} poison, {zeros}")

    # --- arithmetic -----------------------------------------------------------------------------

    def bin(self, op: str, a: str, b: str, kind: str = "d") -> str:
        """Write an instruction with two operands of one kind."""
        return self.new(f"{op} {self.type(kind)} {a}, {b}")

    def intrinsic(self, name: str, *xs: str, kind: str = "d", more: str = "") -> str:
        """Write a call of an LLVM intrinsic on values of one kind."""
        return self._call(f"llvm.{name}.{self.suffix(kind)}", xs, kind, more)

    def unit(self, name: str, *xs: str, kind: str = "d") -> str:
        """Write a call of a library function (`units.py`) on floats."""
        full = f"{name}_w{self.width}" if kind == "d" else f"{name}_{kind}_w{self.width}"
        self.units[full] = None
        return self._call(full, xs, kind, "")

    def counted_unit(self, name: str, *xs: str, kind: str = "d") -> str:
        """Write a call of a unit that also takes the number of active lanes."""
        full = f"{name}_w{self.width}" if kind == "d" else f"{name}_{kind}_w{self.width}"
        self.units[full] = None
        count = str(self.width)
        if self.active is not None:
            bits = self.new(f"bitcast {self.type('b')} {self.active} to i{self.width}")
            self.declare(f"i{self.width} @llvm.ctpop.i{self.width}(i{self.width})")
            ones = f"call i{self.width} @llvm.ctpop.i{self.width}(i{self.width} {bits})"
            count = self.new(f"zext i{self.width} {self.new(ones)} to i64")
        return self._call(full, xs, kind, f"i64 {count}")

    def _call(self, name: str, xs: Sequence[str], kind: str, more: str) -> str:
        type_ = self.type(kind)
        extra = more.partition(" ")[0]
        types = ", ".join([type_] * len(xs) + [extra] * bool(more))
        self.declare(f"{type_} @{name}({types})")
        given = ", ".join([f"{type_} {x}" for x in xs] + [more] * bool(more))
        return self.new(f"call {type_} @{name}({given})")

    def muladd(self, a: str, b: str, c: str, kind: str = "d") -> str:
        """Write a * b + c, rounded once if the machine can."""
        if self.fused:
            return self.intrinsic("fma", a, b, c, kind=kind)
        return self.bin("fadd", self.bin("fmul", a, b, kind), c, kind)

    def compare(self, test: str, a: str, b: str, kind: str = "d") -> str:
        """Write a comparison of floats or integers, by LLVM's name (`olt`, `slt`)."""
        op = "fcmp" if NUMBER_CLASS[kind] == "d" else "icmp"
        return self.new(f"{op} {test} {self.type(kind)} {a}, {b}")

    def select(self, mask: str, a: str, b: str, kind: str = "d") -> str:
        """Write a selection: a where the mask holds, else b."""
        type_ = self.type(kind)
        return self.new(f"select {self.type('b')} {mask}, {type_} {a}, {type_} {b}")

    def cast(self, op: str, x: str, kind: str, to: str) -> str:
        """Write a conversion between kinds, by LLVM's name."""
        return self.new(f"{op} {self.type(kind)} {x} to {self.type(to)}")

    # --- memory ---------------------------------------------------------------------------------

    def at(self, pointer: str, index: str, kind: str) -> str:
        """Return the address of an element."""
        if index == "0":
            return pointer
        return self.new(f"getelementptr {LLVM_MEMORY_TYPE[kind]}, ptr {pointer}, i64 {index}")

    def load_one(self, pointer: str, kind: str) -> str:
        """Load the number at an address."""
        x = self.new(f"load {LLVM_MEMORY_TYPE[kind]}, ptr {pointer}")
        return self.new(f"icmp ne i8 {x}, 0") if kind == "b" else x

    def store_one(self, x: str, pointer: str, kind: str) -> None:
        """Store a number at an address."""
        if kind == "b":
            x = self.new(f"zext i1 {x} to i8")
        self.do(f"store {LLVM_MEMORY_TYPE[kind]} {x}, ptr {pointer}")

    def load(self, pointer: str, kind: str, mask: str | None = None) -> str:
        """Load consecutive numbers; masked-out lanes are 0."""
        if self.width == 1:
            return self.load_one(pointer, kind)
        type_ = self.vector(LLVM_MEMORY_TYPE[kind])
        if mask is None:
            x = self.new(f"load {type_}, ptr {pointer}, align {SIZE[kind]}")
        else:
            name = f"llvm.masked.load.v{self.width}{LLVM_SUFFIX[kind]}.p0"
            masks = self.type("b")
            self.declare(f"{type_} @{name}(ptr, i32, {masks}, {type_})")
            x = self.new(
                f"call {type_} @{name}(ptr {pointer}, i32 {SIZE[kind]}, {masks} {mask}, "
                f"{type_} zeroinitializer)"
            )
        return self.new(f"icmp ne {type_} {x}, zeroinitializer") if kind == "b" else x

    def store(self, x: str, pointer: str, kind: str, mask: str | None = None) -> None:
        """Store numbers at consecutive addresses, where the mask holds."""
        if self.width == 1:
            return self.store_one(x, pointer, kind)
        type_ = self.vector(LLVM_MEMORY_TYPE[kind])
        if kind == "b":
            x = self.new(f"zext {self.type('b')} {x} to {type_}")
        if mask is None:
            return self.do(f"store {type_} {x}, ptr {pointer}, align {SIZE[kind]}")
        name = f"llvm.masked.store.v{self.width}{LLVM_SUFFIX[kind]}.p0"
        masks = self.type("b")
        self.declare(f"void @{name}({type_}, ptr, i32, {masks})")
        given = f"{type_} {x}, ptr {pointer}, i32 {SIZE[kind]}, {masks} {mask}"
        return self.do(f"call void @{name}({given})")

    def gather(self, pointer: str, step: str, index: str, kind: str, mask: str | None) -> str:
        """Load numbers that lie `step` apart, from an index on."""
        if self.width == 1:
            at = self.new(f"mul i64 {index}, {step}")
            return self.load_one(self.at(pointer, at, kind), kind)
        pointers, type_ = f"<{self.width} x ptr>", self.vector(LLVM_MEMORY_TYPE[kind])
        at = self._places(pointer, step, index, kind)
        masks = self.type("b")
        name = f"llvm.masked.gather.v{self.width}{LLVM_SUFFIX[kind]}.v{self.width}p0"
        self.declare(f"{type_} @{name}({pointers}, i32, {masks}, {type_})")
        mask = mask or self.constant(1, "b")
        x = self.new(
            f"call {type_} @{name}({pointers} {at}, i32 {SIZE[kind]}, {masks} {mask}, "
            f"{type_} zeroinitializer)"
        )
        return self.new(f"icmp ne {type_} {x}, zeroinitializer") if kind == "b" else x

    def scatter(self, x: str, pointer: str, step: str, index: str, kind: str, mask: Any) -> None:
        """Store numbers `step` apart, from an index on."""
        if self.width == 1:
            at = self.new(f"mul i64 {index}, {step}")
            return self.store_one(x, self.at(pointer, at, kind), kind)
        at, type_ = self._places(pointer, step, index, kind), self.vector(LLVM_MEMORY_TYPE[kind])
        if kind == "b":
            x = self.new(f"zext {self.type('b')} {x} to {type_}")
        masks, pointers = self.type("b"), f"<{self.width} x ptr>"
        name = f"llvm.masked.scatter.v{self.width}{LLVM_SUFFIX[kind]}.v{self.width}p0"
        self.declare(f"void @{name}({type_}, {pointers}, i32, {masks})")
        given = f"{type_} {x}, {pointers} {at}, i32 {SIZE[kind]}"
        return self.do(f"call void @{name}({given}, {masks} {mask or self.constant(1, 'b')})")

    def _places(self, pointer: str, step: str, index: str, kind: str) -> str:
        """The addresses of elements `step` apart."""
        steps = self.spread(step, "i")
        places = self.bin("add", self.spread(index, "i"), self.lanes(), "i")
        places = self.bin("mul", places, steps, "i")
        return self.new(
            f"getelementptr {LLVM_MEMORY_TYPE[kind]}, ptr {pointer}, <{self.width} x i64> {places}"
        )

    def lanes(self) -> str:
        """Return the vector 0, 1, 2, …"""
        return "<" + ", ".join([f"i64 {k}" for k in range(self.width)]) + ">"

    def mask(self, i: str, n: str) -> str:
        """Return the mask of the lanes from index i on that are below n."""
        left = self.spread(self.new(f"sub i64 {n}, {i}"), "i")
        return self.compare("ult", self.lanes(), left, "i")

    # --- loops ----------------------------------------------------------------------------------

    def loop(
        self,
        start: str,
        end: str,
        step: str,
        body: Callable[[str, list[str]], Sequence[str]],
        kept: Sequence[tuple[str, str]] = (),
    ) -> list[str]:
        """Write `for i in range(start, end, step)`, for end >= 0. kept: (type, first value) of
        carried values; `body(i, values)` returns the next values. Return the last ones.
        """
        before, inside, behind = self.current_label, self.label(), self.label()
        some = self.new(f"icmp slt i64 {start}, {end}")
        self.do(f"br i1 {some}, label %{inside}, label %{behind}")
        self.start(inside)
        place = len(self.lines)
        self.count += 2
        i, more = f"%x{self.count - 1}", f"%x{self.count}"
        values = []
        for _ in kept:
            self.count += 1
            values.append(f"%x{self.count}")
        found = body(i, values)
        self.lines.append(f"  {more} = add i64 {i}, {step}")
        again = self.new(f"icmp slt i64 {more}, {end}")
        last = self.current_label
        self.do(f"br i1 {again}, label %{inside}, label %{behind}")
        phis = [f"  {i} = phi i64 [{start}, %{before}], [{more}, %{last}]"]
        for value, (type_, first), then in zip(values, kept, found, strict=True):
            phis.append(f"  {value} = phi {type_} [{first}, %{before}], [{then}, %{last}]")
        self.lines[place:place] = phis
        self.start(behind)
        return [
            self.new(f"phi {type_} [{first}, %{before}], [{then}, %{last}]")
            for (type_, first), then in zip(kept, found, strict=True)
        ]
