"""Scalar ops as instructions: `kind_of` says in which kind of number an op computes, `write` writes
it. What is not in the table goes through the inner loop of its ufunc, if that has one on float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import Any

import numpy as np

from rewrite_engine.link.native.mathematics import FUNCTIONS
from rewrite_engine.link.native.text import KINDS, Assembler
from rewrite_engine.link.native.units import unit_of_ufunc
from rewrite_engine.scalar import special
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.scalar.op import Cast, ScalarOp

Write = Callable[[Assembler, str, Sequence[str]], str]  # (text, kind, operands)

_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "true_div": "fdiv"}
_WHOLE = {"add": "add", "sub": "sub", "mul": "mul"}
_BITS = {"and_": "and", "or_": "or", "xor": "xor"}
_TESTS = {"eq": ("oeq", "eq"), "neq": ("une", "ne"), "lt": ("olt", "slt"), "le": ("ole", "sle"),
          "gt": ("ogt", "sgt"), "ge": ("oge", "sge")}  # fmt: skip
_INTRINSICS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
               "round": "rint", "fmax": "maxnum", "fmin": "minnum"}  # fmt: skip


def _arithmetic(name: str) -> Write:
    def write(t: Assembler, kind: str, xs: Sequence[str]) -> str:
        if kind == "b":  # of truth values: or, and
            return t.bin("or" if name == "add" else "and", xs[0], xs[1], kind)
        return t.bin(_FLOAT[name] if kind == "d" else _WHOLE[name], xs[0], xs[1], kind)

    return write


def _test(name: str) -> Write:
    on_floats, on_integers = _TESTS[name]

    def write(t: Assembler, kind: str, xs: Sequence[str]) -> str:
        test = on_floats if kind == "d" else on_integers
        return t.compare(test.replace("s", "u") if kind == "b" else test, xs[0], xs[1], kind)

    return write


def _extremum(name: str, above: str) -> Write:
    def write(t: Assembler, kind: str, xs: Sequence[str]) -> str:
        if kind == "d":
            return t.intrinsic(name, *xs)
        if kind == "b":
            return t.bin("or" if name == "maximum" else "and", xs[0], xs[1], kind)
        return t.select(t.compare(above, xs[0], xs[1], "i"), xs[0], xs[1], "i")

    return write


def _bits(name: str) -> Write:
    return lambda t, kind, xs: t.bin(_BITS[name], xs[0], xs[1], kind)


def _invert(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.bin("xor", xs[0], t.constant(1 if kind == "b" else -1, kind), kind)


def _neg(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    if kind == "d":
        return t.new(f"fneg {t.type(kind)} {xs[0]}")
    return t.bin("sub", t.constant(0, kind), xs[0], kind)


def _abs(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    if kind == "d":
        return t.intrinsic("fabs", xs[0])
    if kind == "b":
        return xs[0]
    low = t.compare("slt", xs[0], t.constant(0, kind), kind)
    return t.select(low, _neg(t, kind, xs), xs[0], kind)


def _sqr(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return _arithmetic("mul")(t, kind, (xs[0], xs[0]))


def _sign(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    (x,), zero = xs, t.constant(0, kind)
    up, down = ("ogt", "olt") if kind == "d" else ("sgt", "slt")
    found = t.select(t.compare(down, x, zero, kind), t.constant(-1, kind), zero, kind)
    found = t.select(t.compare(up, x, zero, kind), t.constant(1, kind), found, kind)
    return found if kind == "i" else t.select(t.compare("uno", x, x), x, found)


def _clip(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    low = _extremum("maximum", "sge")(t, kind, xs[:2])
    return _extremum("minimum", "sle")(t, kind, (low, xs[2]))


def _nan(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.compare("uno", xs[0], xs[0])


def _infinite(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.compare("oeq", t.intrinsic("fabs", xs[0]), t.constant(np.inf))


def _finite(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.compare("olt", t.intrinsic("fabs", xs[0]), t.constant(np.inf))


def _sign_bit(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.compare("slt", t.cast("bitcast", xs[0], "d", "i"), t.constant(0, "i"), "i")


def _divided(t: Assembler, xs: Sequence[str]) -> tuple[str, str, str]:
    """(quotient, remainder, where there is none) of integers, rounded towards negative infinity.
    The processor traps on divisors of 0, and on the least number over -1.
    """
    x, y = xs
    none = t.compare("eq", y, t.constant(0, "i"), "i")
    back = t.compare("eq", y, t.constant(-1, "i"), "i")
    safe = t.select(t.bin("or", none, back, "b"), t.constant(1, "i"), y, "i")
    q, r = t.bin("sdiv", x, safe, "i"), t.bin("srem", x, safe, "i")
    apart = t.compare("slt", t.bin("xor", r, safe, "i"), t.constant(0, "i"), "i")
    low = t.bin("and", apart, t.compare("ne", r, t.constant(0, "i"), "i"), "b")
    q = t.select(low, t.bin("sub", q, t.constant(1, "i"), "i"), q, "i")
    r = t.select(low, t.bin("add", r, safe, "i"), r, "i")
    return t.select(back, t.bin("sub", t.constant(0, "i"), x, "i"), q, "i"), r, none


def _floor_div(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    found, _, none = _divided(t, xs)
    return t.select(none, t.constant(0, "i"), found, "i")


def _mod(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    _, found, none = _divided(t, xs)
    return t.select(none, t.constant(0, "i"), found, "i")


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


def _reciprocal(t: Assembler, kind: str, xs: Sequence[str]) -> str:
    return t.bin("fdiv", t.constant(1.0), xs[0])


def _intrinsic(name: str) -> Write:
    return lambda t, kind, xs: t.intrinsic(name, *xs)


def _unit(name: str) -> Write:
    return lambda t, kind, xs: t.unit(name, *xs)


WRITERS: dict[str, tuple[str, Write]] = {
    # by name: the kinds on which it is written, and how
    **{name: ("dib" if name != "sub" else "di", _arithmetic(name)) for name in _WHOLE},
    "true_div": ("d", _arithmetic("true_div")),
    **{name: ("dib", _test(name)) for name in _TESTS},
    **{name: ("ib", _bits(name)) for name in _BITS},
    **{name: ("d", _intrinsic(called)) for name, called in _INTRINSICS.items()},
    **{name: ("d", _unit(name)) for name in FUNCTIONS},
    "maximum": ("dib", _extremum("maximum", "sge")),
    "minimum": ("dib", _extremum("minimum", "sle")),
    "invert": ("ib", _invert), "neg": ("di", _neg), "abs": ("dib", _abs), "sqr": ("dib", _sqr),
    "sign": ("di", _sign), "clip": ("di", _clip), "isnan": ("d", _nan), "isinf": ("d", _infinite),
    "reciprocal": ("d", _reciprocal), "isfinite": ("d", _finite), "signbit": ("d", _sign_bit),
    "floor_div": ("i", _floor_div), "mod": ("i", _mod), "log1mexp": ("d", _log1mexp),
    "logdiffexp": ("d", _logdiffexp), "logerfc": ("d", _logerfc),
}  # fmt: skip
#: those that take the kind of their operands together, whatever the result is
_OF_FLOATS = ("isnan", "isinf", "isfinite", "signbit")
_ANY_RESULT = frozenset({*_TESTS, *_OF_FLOATS})
#: those of two operands that are written for any number of them, from left to right
_FOLDS = frozenset({"add", "mul", "maximum", "minimum", "and_", "or_", "xor", "logaddexp"})
_HEAVY = frozenset({*FUNCTIONS, "log1mexp", "logdiffexp", "logerfc"})  # they call functions
WITHOUT_CODE = ("switch", "second", "identity")  # written by whoever knows the operands


def kind_of(op: ScalarOp, dtypes: Sequence[str], result: str) -> str | None:
    """The kind of number in which an op computes on operands of these dtypes; None where nothing is
    written for it.
    """
    if result not in KINDS or not set(dtypes) <= KINDS.keys() or isinstance(op, Composite):
        return None
    if isinstance(op, Cast) or (op.listed and op.name in WITHOUT_CODE):
        return KINDS[result]
    if not op.listed:
        return _loop_kind(op, dtypes, result)
    kind = KINDS[result]
    if op.name in _ANY_RESULT:
        common = {KINDS[d] for d in dtypes}
        kind = "d" if "d" in common else "i" if "i" in common else "b"
        if common == {"d", "i"} or (op.name in _OF_FLOATS and kind != "d"):
            return None  # integers that are no float64 would be compared otherwise
    kinds, _ = WRITERS.get(op.name, ("", None))
    if op.name == "round" and set(dtypes) != {"float64"}:
        return None
    return kind if kind in kinds else _loop_kind(op, dtypes, result)


def is_heavy(op: ScalarOp, kind: str) -> bool:
    """Whether an op is a call of a function."""
    if isinstance(op, Cast) or (op.listed and op.name in WITHOUT_CODE):
        return False
    kinds, _ = WRITERS.get(op.name, ("", None))
    return not op.listed or op.name in _HEAVY or kind not in kinds


def is_own(op: ScalarOp, dtype: str, result: str) -> bool:
    """Whether instructions are written for an op on operands of a dtype; else it calls a loop."""
    kind = kind_of(op, [dtype] * (op.nin or 2), result)
    return op.name in WITHOUT_CODE or str(kind) in WRITERS.get(op.name, ("", None))[0]


def _loop_kind(op: ScalarOp, dtypes: Sequence[str], result: str) -> str | None:
    """Float64, where the op is a ufunc with a loop on that, and nothing else."""
    if op.compute is not None or op.ufunc is None or result != "float64":
        return None
    inner = op.inner_dtype(tuple(dtypes))
    if inner not in (None, "float64") or (inner is None and set(dtypes) != {"float64"}):
        return None
    if op.nin is None and op.name not in _FOLDS:
        return None
    return "d" if unit_of_ufunc(op.ufunc) is not None else None


def convert(t: Assembler, x: str, kind: str, to: str) -> str:
    """A value as another kind, as NumPy's `astype` does."""
    if kind == to:
        return x
    if to == "b":
        return t.compare("une" if kind == "d" else "ne", x, t.constant(0, kind), kind)
    if kind == "b":
        return t.cast("uitofp" if to == "d" else "zext", x, kind, to)
    return t.cast("sitofp" if to == "d" else "fptosi", x, kind, to)


def write(op: Any, t: Assembler, kind: str, xs: Sequence[str]) -> str:
    """Write an op on values of its kind (see `kind_of`)."""
    if op.listed and op.name in WRITERS and kind in WRITERS[op.name][0]:
        do: Write = WRITERS[op.name][1]
    else:
        do = _unit(unit_of_ufunc(op.ufunc) or "")
    if op.nin is not None:
        return do(t, kind, xs)
    found = xs[0]
    for x in xs[1:]:
        found = do(t, kind, (found, x))
    return found
