"""Instructions of a processor, by the names of the scalar ops that they compute, and conversions.

Other ops are first lowered to these (`lowering.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rewrite_engine.link.native.text import NUMBER_CLASS, SIZE, UNSIGNED, Assembler
from rewrite_engine.scalar.machine import MAX_REDUCED_ANGLE

Write = Callable[[Assembler, str, Sequence[str]], str]  # (text, kind, operands)

COMPARISONS = {
    "eq": ("oeq", "eq"), "neq": ("une", "ne"), "lt": ("olt", "slt"), "le": ("ole", "sle"),
    "gt": ("ogt", "sgt"), "ge": ("oge", "sge"),
}  # fmt: skip
#: of a float, the integer of the same size, and the reverse
OTHER_KIND = {"d": "i", "f": "i32", "i": "d", "i32": "f"}


def _instruction(on_floats: str, on_integers: str = "", on_unsigned: str = "") -> Write:
    """An instruction with two operands, by LLVM's names of it."""

    def write(t: Assembler, kind: str, xs: Sequence[str]) -> str:
        name = on_floats if NUMBER_CLASS[kind] == "d" else on_integers
        name = on_unsigned if on_unsigned and kind in UNSIGNED else name
        return t.bin(name, xs[0], xs[1], kind)

    return write


def _intrinsic(name: str) -> Write:
    return lambda t, kind, xs: t.intrinsic(name, *xs, kind=kind)


def _test(name: str) -> Write:
    return lambda t, kind, xs: t.compare(test_of(name, kind), xs[0], xs[1], kind)


def test_of(name: str, kind: str) -> str:
    """Return LLVM's name of a comparison (`lt`, `eq`) for a kind of numbers."""
    on_floats, on_integers = COMPARISONS[name]
    if NUMBER_CLASS[kind] == "d":
        return on_floats
    return on_integers.replace("s", "u") if kind == "b" or kind in UNSIGNED else on_integers


def _sqr(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return _instruction("fmul", "mul")(t, kind, (xs[0], xs[0]))


def _invert(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.bin("xor", xs[0], t.constant(1 if kind == "b" else -1, kind), kind)


def _neg(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.new(f"fneg {t.type(kind)} {xs[0]}")


def _muladd(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    a, b, c = xs
    return t.muladd(a, b, c, kind)


def _reinterpret(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.cast("bitcast", xs[0], kind, OTHER_KIND[kind])


def _unless_far(name: str) -> Write:
    """A result, or NumPy's function for a whole vector if one of the numbers is far from 0."""

    def write(t: Assembler, kind: str, xs: Sequence[str]) -> str:
        x, found = xs
        far = t.compare("ogt", t.intrinsic("fabs", x), t.constant(MAX_REDUCED_ANGLE))
        if t.width > 1:
            masks = t.type("b")
            reducer = f"llvm.vector.reduce.or.v{t.width}i1"
            t.declare(f"i1 @{reducer}({masks})")
            far = t.new(f"call i1 @{reducer}({masks} {far})")
        near, slow, done = t.current_label, t.label(), t.label()
        t.do(f"br i1 {far}, label %{slow}, label %{done}")
        t.start(slow)
        other = t.unit(name, x)
        t.do(f"br label %{done}")
        t.start(done)
        return t.new(f"phi {t.type('d')} [{found}, %{near}], [{other}, %{slow}]")

    return write


#: by name: the classes of numbers on which it is an instruction, and how it is written
INSTRUCTIONS: dict[str, tuple[str, Write]] = {
    "add": ("di", _instruction("fadd", "add")), "sub": ("di", _instruction("fsub", "sub")),
    "mul": ("di", _instruction("fmul", "mul")), "true_div": ("d", _instruction("fdiv")),
    "sqr": ("di", _sqr),
    "quotient": ("i", _instruction("", "sdiv", "udiv")),
    "rest": ("i", _instruction("", "srem", "urem")),
    "and_": ("ib", _instruction("", "and")), "or_": ("ib", _instruction("", "or")),
    "xor": ("ib", _instruction("", "xor")), "invert": ("ib", _invert),
    "shift_up": ("i", _instruction("", "shl")), "shift_down": ("i", _instruction("", "ashr")),
    **{name: ("dib", _test(name)) for name in COMPARISONS},
    "neg": ("d", _neg), "abs": ("d", _intrinsic("fabs")), "muladd": ("d", _muladd),
    "maximum": ("d", _intrinsic("maximum")), "minimum": ("d", _intrinsic("minimum")),
    "fmax": ("d", _intrinsic("maxnum")), "fmin": ("d", _intrinsic("minnum")),
    "sqrt": ("d", _intrinsic("sqrt")), "floor": ("d", _intrinsic("floor")),
    "ceil": ("d", _intrinsic("ceil")), "trunc": ("d", _intrinsic("trunc")),
    "round": ("d", _intrinsic("rint")), "copysign": ("d", _intrinsic("copysign")),
    "reinterpret": ("di", _reinterpret),
    "sin_far": ("d", _unless_far("numpy_sin")), "cos_far": ("d", _unless_far("numpy_cos")),
}  # fmt: skip


def convert(t: Assembler, x: str, kind: str, to: str) -> str:
    """Convert a value to another kind, as NumPy's `astype` does."""
    if kind == to:
        return x
    have, want = NUMBER_CLASS[kind], NUMBER_CLASS[to]
    if want == "b":
        return t.compare("une" if have == "d" else "ne", x, t.constant(0, kind), kind)
    if have == want == "d":
        return t.cast("fpext" if SIZE[kind] < SIZE[to] else "fptrunc", x, kind, to)
    if have == "d":
        return _whole(t, x, kind, to)
    if have == "b" and want == "d":
        return t.select(x, t.constant(1.0, to), t.constant(0.0, to), to)
    signed = have == "i" and kind not in UNSIGNED
    if want == "d":
        return t.cast("sitofp" if signed else "uitofp", x, kind, to)
    if have == "i" and SIZE[kind] == SIZE[to]:
        return x
    if have == "i" and SIZE[kind] > SIZE[to]:
        return t.cast("trunc", x, kind, to)
    return t.cast("sext" if signed else "zext", x, kind, to)


def _whole(t: Assembler, x: str, kind: str, to: str) -> str:
    """A float as an integer. Out of range it is what NumPy's code gives for one number: the low
    bits of the smallest int32, or int64; on AArch64, of the nearest integer of that size.
    """
    if t.saturates:
        near = to if SIZE[to] >= 4 else ("u32" if to in UNSIGNED else "i32")
        name = "fptoui" if near in UNSIGNED else "fptosi"
        full = f"llvm.{name}.sat.{t.suffix(near)}.{t.suffix(kind)}"
        t.declare(f"{t.type(near)} @{full}({t.type(kind)})")
        found = t.new(f"call {t.type(near)} @{full}({t.type(kind)} {x})")
        return found if near == to else t.cast("trunc", found, near, to)
    if to == "u64":
        half = t.constant(2.0**63, kind)
        high = _truncate(t, t.bin("fsub", x, half, kind), kind, "i")
        high = t.bin("xor", high, t.constant(-(2**63), "i"), "i")
        return t.select(t.compare("oge", x, half, kind), high, _truncate(t, x, kind, "i"), "i")
    wide = "i" if to in ("i", "u32") else "i32"
    found = _truncate(t, x, kind, wide)
    return found if SIZE[to] == SIZE[wide] else t.cast("trunc", found, wide, to)


def _truncate(t: Assembler, x: str, kind: str, to: str) -> str:
    """A float as an int32 or int64, which is the smallest where it has no place. (LLVM says nothing
    of such a float, so it never sees one.)
    """
    end = 2.0 ** (8 * SIZE[to] - 1)
    inside = t.compare("olt", t.intrinsic("fabs", x, kind=kind), t.constant(end, kind), kind)
    return t.cast("fptosi", t.select(inside, x, t.constant(-end, kind), kind), kind, to)
