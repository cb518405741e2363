"""Scalar ops as instructions: `kind_of` says in which kind of number an op computes, `write` writes
it. What is not in the table goes through the inner loop of its ufunc, if that has one on float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rewrite_engine.link.native.mathematics import FUNCTIONS
from rewrite_engine.link.native.text import KINDS, Assembler
from rewrite_engine.link.native.units import unit_of_ufunc
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
    "reciprocal": ("d", _reciprocal),
}  # fmt: skip
#: those that take the kind of their operands together, whatever the result is
_ANY_RESULT = frozenset({*_TESTS, "isnan", "isinf"})
#: those of two operands that are written for any number of them, from left to right
_FOLDS = frozenset({"add", "mul", "maximum", "minimum", "and_", "or_", "xor", "logaddexp"})
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
        if common == {"d", "i"} or (op.name in ("isnan", "isinf") and kind != "d"):
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
    return not op.listed or op.name in FUNCTIONS or kind not in kinds


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
