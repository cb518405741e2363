"""Text of a kernel: a function of the frame, which holds lengths, addresses and constants."""

from __future__ import annotations

from typing import Any

from rewrite_engine.link.native.library import Kernel
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.native.text import LLVM_TYPE, NUMBER_CLASS, Assembler, literal
from rewrite_engine.link.native.threads import MIN_ELEMENTS, MIN_OPERATIONS, PART_OPERATIONS
from rewrite_engine.link.native.units import SPLIT_UNIT
from rewrite_engine.link.native.values import Length, NativeValue, Number

_INLINE_CONSTANTS = (0.0, 1.0, -1.0, 2.0, 0.5)


class KernelText(Assembler):
    """Text of a kernel, which reads everything from outside out of the frame.

    words: positions in the frame, in the order of the kernel's places.
    """

    def __init__(self, region: Any, machine: Machine, width: int | None = None) -> None:
        super().__init__(machine.width if width is None else width, machine.fma)
        self.region, self.machine, self.saturates = region, machine, machine.saturates
        self.words: list[int] = []
        self.roles: dict[int, set[Any]] = {}  # what each word is for, as far as it is told
        self.touched: set[Any] = set()  # values whose addresses are taken
        self.around: KernelText | None = None  # if this is a part with a range: what calls it
        self.known: dict[tuple[int, str], str] = {}
        self.head: list[str] = []

    def beside(self) -> KernelText:
        """Return the text of another function of the same kernel, which reads the same words."""
        other = KernelText(self.region, self.machine, 1)
        other.words, other.roles, other.touched = self.words, self.roles, self.touched
        other.declared, other.units, other.current_label = self.declared, self.units, "go"
        return other

    def word(self, word: int, type_: str = "i64") -> str:
        """Return a word of the frame."""
        found = self.known.get((word, type_))
        if found is None:
            k = self.words.index(word) if word in self.words else len(self.words)
            self.words += [word] * (k == len(self.words))
            found = self.known[word, type_] = f"%a{k}" + ("" if type_ == "i64" else f"_{type_}")
            self.head += [
                f"  {found}p = getelementptr i64, ptr %places, i64 {k}",
                f"  {found}w = load i64, ptr {found}p",
                f"  {found}f = getelementptr i64, ptr %frame, i64 {found}w",
                f"  {found} = load {type_}, ptr {found}f",
            ]
        return found

    def put(self, word: int, x: str, type_: str = "i64") -> None:
        """Change a word of the frame, for kernels that run later."""
        name = self.word(word, type_)
        self.do(f"store {type_} {x}, ptr {name}f")

    def room(self, type_: str) -> str:
        """Return memory on the stack."""
        self.count += 1
        self.head.append(f"  %x{self.count} = alloca {type_}")
        return f"%x{self.count}"

    def word_for(self, word: int, name: str, what: Any, type_: str = "i64") -> str:
        """Return a word of the frame that has a role."""
        self.roles.setdefault(word, set()).add((name, what))
        return self.word(word, type_)

    def length(self, n: Length) -> str:
        """Return a length as a value."""
        return self.word_for(self.region.word_of(n), "length", n)

    def number(self, x: Number) -> str:
        """Return a constant in one lane. Most constants are not part of the text, so that kernels
        are found again.
        """
        if is_inline(x):
            return literal(x.value, x.kind)
        word = self.region.constant_word(x.value)
        found = self.word_for(word, "number", x.value, "double")
        return (
            found if x.kind == "d" else self.new(f"fptrunc double {found} to {LLVM_TYPE[x.kind]}")
        )

    def address(self, value: NativeValue, offset: int | None = None) -> str:
        """Return the address of a value, or of the element at an offset."""
        self.touched.add(value)
        if value.part_of is not None:
            whole, _, own = value.part_of
            pointer = self.address(whole, own)
        else:
            pointer = self.word_for(self.region.place_of(value), "value", value, "ptr")
        if offset is None:
            return pointer
        return self.at(pointer, self.word_for(offset, "word", offset), value.kind)

    def whole(self) -> str:
        """Return the lines of the function."""
        return "\n".join(
            ["entry:", *self.head, "  br label %go", "go:", *self.lines, "  ret i64 0", ""]
        )

    def call_part(self, units: str, elements: str, operations: int, grain: int) -> None:
        """Call the part with a range: for all of it, or by several threads if there is much to do.
        units: of the range. operations: for an element. grain: how many units belong together; 0:
        as many as are worth a thread.
        """
        least = least_elements(operations)
        self.declare(f"i64 @{SPLIT_UNIT}(ptr, ptr, ptr, i64, i64)")
        self.units[SPLIT_UNIT] = None
        much = self.new(f"icmp sgt i64 {elements}, {least}")
        several, one, behind = self.label(), self.label(), self.label()
        self.do(f"br i1 {much}, label %{several}, label %{one}")
        self.start(one)
        self.new(f"call i64 @part(ptr %frame, ptr %places, i64 0, i64 {units})")
        self.do(f"br label %{behind}")
        self.start(several)
        size: Any = grain
        if not grain:
            number = self.new(f"udiv i64 {elements}, {units}")
            self.declare("i64 @llvm.umax.i64(i64, i64)")
            size = self.new(f"udiv i64 {PART_OPERATIONS // operations}, {number}")
            size = self.new(f"call i64 @llvm.umax.i64(i64 {size}, i64 1)")
        given = "ptr @part, ptr %frame, ptr %places"
        self.new(f"call i64 @{SPLIT_UNIT}({given}, i64 {units}, i64 {size})")
        self.do(f"br label %{behind}")
        self.start(behind)

    def kernel(self) -> tuple[Kernel, list[int]]:
        """Return the kernel and the words that it takes."""
        around = "" if self.around is None else self.around.whole()
        return Kernel(self.whole(), tuple(self.declared), tuple(self.units), around), self.words


def least_elements(operations: int) -> int:
    """Return from how many elements on threads share them. operations: for an element."""
    return max(MIN_ELEMENTS, MIN_OPERATIONS // operations)


def is_inline(x: Number) -> bool:
    """Return whether a constant is part of the text."""
    inline = (x.value in _INLINE_CONSTANTS and str(x.value)[0] != "-") or x.value == -1.0
    return NUMBER_CLASS[x.kind] != "d" or inline
