"""Scalar ops as instructions. `kind_of` returns the kind of number in which an op computes, `write`
writes it.

Ops outside the table use the inner loop of their ufunc, if it has one on float64; float32 is then
computed in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import log, sqrt
from typing import Any

import numpy as np

from rewrite_engine.link.native.mathematics import FUNCTIONS, SINGLE_FUNCTIONS
from rewrite_engine.link.native.own_code import dtype_of_code, missing_compiler, write_call
from rewrite_engine.link.native.text import DTYPES, KINDS, NUMBER_CLASS, SIZE, UNSIGNED, Assembler
from rewrite_engine.link.native.units import unit_of_ufunc
from rewrite_engine.scalar import special
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.scalar.op import Cast, ScalarOp

Write = Callable[[Assembler, str, Sequence[str]], str]  # (text, kind, operands)

_FLOAT_INSTRUCTIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "true_div": "fdiv"}
_INTEGER_INSTRUCTIONS = {"add": "add", "sub": "sub", "mul": "mul"}
_BIT_INSTRUCTIONS = {"and_": "and", "or_": "or", "xor": "xor"}
_COMPARISONS = {
    "eq": ("oeq", "eq"), "neq": ("une", "ne"), "lt": ("olt", "slt"), "le": ("ole", "sle"),
    "gt": ("ogt", "sgt"), "ge": ("oge", "sge"),
}  # fmt: skip
_INTRINSICS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
               "round": "rint", "fmax": "maxnum", "fmin": "minnum"}  # fmt: skip


def _arithmetic(name: str) -> Write:
    def write(t: Assembler, kind: str, xs: Sequence[str]) -> str:
        if kind == "b":  # of truth values: or, and
            return t.bin("or" if name == "add" else "and", xs[0], xs[1], kind)
        return t.bin(
            (_FLOAT_INSTRUCTIONS if NUMBER_CLASS[kind] == "d" else _INTEGER_INSTRUCTIONS)[name],
            xs[0],
            xs[1],
            kind,
        )

    return write


def _test(name: str) -> Write:
    return lambda t, kind, xs: t.compare(test_of(name, kind), xs[0], xs[1], kind)


def test_of(name: str, kind: str) -> str:
    """Return LLVM's name of a comparison (`lt`, `eq`) for a kind of numbers."""
    on_floats, on_integers = _COMPARISONS[name]
    if NUMBER_CLASS[kind] == "d":
        return on_floats
    return on_integers.replace("s", "u") if kind == "b" or kind in UNSIGNED else on_integers


def _extremum(name: str, above: str) -> Write:
    def write(t: Assembler, kind: str, xs: Sequence[str]) -> str:
        if NUMBER_CLASS[kind] == "d":
            return t.intrinsic(name, *xs, kind=kind)
        if kind == "b":
            return t.bin("or" if name == "maximum" else "and", xs[0], xs[1], kind)
        return t.select(_test(above)(t, kind, xs), xs[0], xs[1], kind)

    return write


def _bits(name: str) -> Write:
    return lambda t, kind, xs: t.bin(_BIT_INSTRUCTIONS[name], xs[0], xs[1], kind)


def _invert(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.bin("xor", xs[0], t.constant(1 if kind == "b" else -1, kind), kind)


def _neg(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    if NUMBER_CLASS[kind] == "d":
        return t.new(f"fneg {t.type(kind)} {xs[0]}")
    return t.bin("sub", t.constant(0, kind), xs[0], kind)


def _abs(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    if NUMBER_CLASS[kind] == "d":
        return t.intrinsic("fabs", xs[0], kind=kind)
    if kind == "b" or kind in UNSIGNED:
        return xs[0]
    low = t.compare("slt", xs[0], t.constant(0, kind), kind)
    return t.select(low, _neg(t, kind, xs), xs[0], kind)


def _sqr(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return _arithmetic("mul")(t, kind, (xs[0], xs[0]))


def _sign(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    (x,), zero = xs, t.constant(0, kind)
    found = zero
    if kind not in UNSIGNED:
        found = t.select(_test("lt")(t, kind, (x, zero)), t.constant(-1, kind), zero, kind)
    found = t.select(_test("gt")(t, kind, (x, zero)), t.constant(1, kind), found, kind)
    if NUMBER_CLASS[kind] == "i":
        return found
    return t.select(t.compare("uno", x, x, kind), x, found, kind)


def _clip(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    low = _extremum("maximum", "ge")(t, kind, xs[:2])
    return _extremum("minimum", "le")(t, kind, (low, xs[2]))


def _nan(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.compare("uno", xs[0], xs[0], kind)


def _infinite(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.compare("oeq", _abs(t, kind, xs), t.constant(np.inf, kind), kind)


def _finite(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.compare("olt", _abs(t, kind, xs), t.constant(np.inf, kind), kind)


def _sign_bit(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    whole = {"d": "i", "f": "i32"}[kind]
    return t.compare("slt", t.cast("bitcast", xs[0], kind, whole), t.constant(0, whole), whole)


def _divide(t: Assembler, kind: str, xs: Sequence[str]) -> tuple[str, str, str]:
    """(quotient, remainder, where there is none) of integers, rounded towards negative infinity.
    The processor traps on divisors of 0, and on the least number over -1.
    """
    (x, y), zero, one = xs, t.constant(0, kind), t.constant(1, kind)
    none = t.compare("eq", y, zero, kind)
    if kind in UNSIGNED:
        safe = t.select(none, one, y, kind)
        return t.bin("udiv", x, safe, kind), t.bin("urem", x, safe, kind), none
    back = t.compare("eq", y, t.constant(-1, kind), kind)
    safe = t.select(t.bin("or", none, back, "b"), one, y, kind)
    q, r = t.bin("sdiv", x, safe, kind), t.bin("srem", x, safe, kind)
    apart = t.compare("slt", t.bin("xor", r, safe, kind), zero, kind)
    low = t.bin("and", apart, t.compare("ne", r, zero, kind), "b")
    q = t.select(low, t.bin("sub", q, one, kind), q, kind)
    r = t.select(low, t.bin("add", r, safe, kind), r, kind)
    return t.select(back, t.bin("sub", zero, x, kind), q, kind), r, none


def _floor_div(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    found, _, none = _divide(t, kind, xs)
    return t.select(none, t.constant(0, kind), found, kind)


def _mod(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    _, found, none = _divide(t, kind, xs)
    return t.select(none, t.constant(0, kind), found, kind)


def _log1mexp(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    """log(1 - exp(x)), by the branch that keeps the digits (Mächler 2012)."""
    (x,) = xs
    near = t.unit("log", _neg(t, "d", [t.unit("expm1", x)]))
    far = t.unit("log1p", _neg(t, "d", [t.unit("exp", x)]))
    return t.select(t.compare("ogt", x, t.constant(-log(2))), near, far)


def _logdiffexp(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    """log(exp(x) - exp(y)); -inf where exponentials that are not told apart come to 0."""
    x, y = xs
    found = t.bin("fadd", x, _log1mexp(t, kind, [t.bin("fsub", y, x)]))
    apart = t.bin("fsub", t.unit("exp", x), t.unit("exp", y))
    none = t.compare("oeq", apart, t.constant(0.0))
    lost = t.bin("and", t.compare("uno", found, found), none, "b")
    return t.select(lost, t.constant(-np.inf), found)


def _logerfc(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    """log(erfc(x)), of a large x by erfcx, which does not underflow."""
    (x,) = xs
    erf, erfcx = [unit_of_ufunc(op.ufunc) or "" for op in (special.erf, special.erfcx) if op.ufunc]
    below = t.unit("log1p", _neg(t, "d", [t.unit(erf, x)]))
    scaled = t.unit("log", t.unit(erfcx, x))
    above = t.bin("fsub", scaled, t.bin("fmul", x, x))
    return t.select(t.compare("ogt", x, t.constant(0.5)), above, below)


def _log_ndtr(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    """log(erfc(-x / sqrt(2)) / 2), of an x far below 0 by erfcx, which does not underflow."""
    u, ops = t.bin("fmul", xs[0], t.constant(sqrt(0.5))), (special.erfc, special.erfcx)
    erfc, erfcx = [unit_of_ufunc(op.ufunc) or "" for op in ops if op.ufunc]
    minus = _neg(t, "d", [u])
    rest = t.bin("fmul", t.unit(erfc, u), t.constant(-0.5))
    near = t.unit("log1p", rest)
    scaled = t.unit("log", t.bin("fmul", t.unit(erfcx, minus), t.constant(0.5)))
    far = t.bin("fsub", scaled, t.bin("fmul", u, u))
    return t.select(t.compare("olt", xs[0], t.constant(-1.0)), far, near)


def _reciprocal(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.bin("fdiv", t.constant(1.0, kind), xs[0], kind)


def _intrinsic(name: str) -> Write:
    return lambda t, kind, xs: t.intrinsic(name, *xs, kind=kind)


def _in_double(do: Write) -> Write:
    """A function that is written on float64, which others are converted to and from."""

    def write(t: Assembler, kind: str, xs: Sequence[str]) -> str:
        return convert(t, do(t, "d", [convert(t, x, kind, "d") for x in xs]), "d", kind)

    return write


def _unit(name: str) -> Write:
    double = _in_double(lambda t, kind, xs: t.unit(name, *xs))
    if name not in SINGLE_FUNCTIONS:
        return double
    return lambda t, kind, xs: t.unit(name, *xs, kind=kind)


WRITERS: dict[str, tuple[str, Write]] = {
    # by name: the classes of numbers on which it is written, and how
    "add": ("dib", _arithmetic("add")), "mul": ("dib", _arithmetic("mul")),
    "sub": ("di", _arithmetic("sub")),
    "true_div": ("d", _arithmetic("true_div")),
    **{name: ("dib", _test(name)) for name in _COMPARISONS},
    **{name: ("ib", _bits(name)) for name in _BIT_INSTRUCTIONS},
    **{name: ("d", _intrinsic(called)) for name, called in _INTRINSICS.items()},
    **{name: ("d", _unit(name)) for name in FUNCTIONS},
    "maximum": ("dib", _extremum("maximum", "ge")),
    "minimum": ("dib", _extremum("minimum", "le")),
    "invert": ("ib", _invert), "neg": ("di", _neg), "abs": ("dib", _abs), "sqr": ("dib", _sqr),
    "sign": ("di", _sign), "clip": ("di", _clip), "isnan": ("d", _nan), "isinf": ("d", _infinite),
    "reciprocal": ("d", _reciprocal), "isfinite": ("d", _finite), "signbit": ("d", _sign_bit),
    "floor_div": ("i", _floor_div), "mod": ("i", _mod), "log1mexp": ("d", _in_double(_log1mexp)),
    "logdiffexp": ("d", _in_double(_logdiffexp)), "logerfc": ("d", _in_double(_logerfc)),
    "log_ndtr": ("d", _in_double(_log_ndtr)),
}  # fmt: skip
#: those that take the kind of their operands together, whatever the result is
_FLOAT_TESTS = ("isnan", "isinf", "isfinite", "signbit")
_BY_OPERANDS = frozenset({*_COMPARISONS, *_FLOAT_TESTS})
#: those of two operands that are written for any number of them, from left to right
_FOLDED_OPS = frozenset({"add", "mul", "maximum", "minimum", "and_", "or_", "xor", "logaddexp"})
_CALLING_OPS = frozenset(
    {*FUNCTIONS, "log1mexp", "logdiffexp", "logerfc", "log_ndtr"}
)  # they call functions
_EXACT_DTYPE_OPS = ("nextafter",)  # in float64 they are not the same
SPECIAL_OPS = ("switch", "second", "identity")  # written by whoever knows the operands


def kind_of(op: ScalarOp, dtypes: Sequence[str], result: str) -> str | None:
    """Return the kind of number in which an op computes on operands of these dtypes; None if there
    is no code.
    """
    if result not in KINDS or not set(dtypes) <= KINDS.keys() or isinstance(op, Composite):
        return None
    if isinstance(op, Cast) or (op.listed and op.name in SPECIAL_OPS):
        return KINDS[result]
    if not op.listed:
        return _loop_kind(op, dtypes, result)
    kind = KINDS[result]
    if op.name in _BY_OPERANDS:
        common = np.result_type(*dtypes).name
        if common not in KINDS:
            return None
        kind = KINDS[common]
        if op.name in _FLOAT_TESTS and NUMBER_CLASS[kind] != "d":
            return None
        if NUMBER_CLASS[kind] == "d" and not {"int64", "uint64"}.isdisjoint(dtypes):
            return None  # integers that are no float64 would be compared otherwise
    classes, _ = WRITERS.get(op.name, ("", None))
    if op.name == "round" and len({*dtypes, result}) > 1:
        return None
    return kind if NUMBER_CLASS[kind] in classes else _loop_kind(op, dtypes, result)


def calls_function(op: ScalarOp, kind: str) -> bool:
    """Return whether an op calls a function."""
    if isinstance(op, Cast) or (op.listed and op.name in SPECIAL_OPS):
        return False
    classes, _ = WRITERS.get(op.name, ("", None))
    return not op.listed or op.name in _CALLING_OPS or NUMBER_CLASS[kind] not in classes


def is_own(op: ScalarOp, dtype: str, result: str) -> bool:
    """Return whether an op has instructions of its own for a dtype, not a call of an inner loop."""
    kind = kind_of(op, [dtype] * (op.nin or 2), result)
    return (
        op.name in SPECIAL_OPS
        or NUMBER_CLASS.get(str(kind), "?") in WRITERS.get(op.name, ("", None))[0]
    )


def _loop_kind(op: ScalarOp, dtypes: Sequence[str], result: str) -> str | None:
    """Return the kind of the result if the op has C code for it, or is a ufunc with a loop on
    float64 and the result is a float.
    """
    inner = op.inner_dtype(tuple(dtypes))
    if inner not in (None, result) or (inner is None and set(dtypes) != {result}):
        return None
    if dtype_of_code(op, result) is not None:
        return None if missing_compiler(op) else KINDS[result]
    if op.compute is not None or op.ufunc is None or NUMBER_CLASS[KINDS[result]] != "d":
        return None
    if (op.nin is None and op.name not in _FOLDED_OPS) or (
        op.name in _EXACT_DTYPE_OPS and result != "float64"
    ):
        return None
    return KINDS[result] if unit_of_ufunc(op.ufunc) is not None else None


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


def write(op: Any, t: Assembler, kind: str, xs: Sequence[str]) -> str:
    """Write an op on values of its kind (see `kind_of`)."""
    own = dtype_of_code(op, DTYPES[kind])
    if op.listed and op.name in WRITERS and NUMBER_CLASS[kind] in WRITERS[op.name][0]:
        do: Write = WRITERS[op.name][1]
    elif own is not None:
        call: Write = partial(write_call, op)
        do = call if own == DTYPES[kind] else _in_double(call)
    else:
        do = _unit(unit_of_ufunc(op.ufunc) or "")
    if op.nin is not None:
        return do(t, kind, xs)
    found = xs[0]
    for x in xs[1:]:
        found = do(t, kind, (found, x))
    return found
