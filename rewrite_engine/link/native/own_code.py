"""C functions of scalar ops (`ScalarOp(c_source=…)`) as units that kernels call."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, NamedTuple

from rewrite_engine.link.native.text import DTYPES, KINDS
from rewrite_engine.scalar.op import ScalarOp


class OwnLoop(NamedTuple):
    """Loop that computes an op on numbers of one kind. find: returns its address."""

    nin: int
    kind: str
    find: Callable[[], int]


#: loops by the name of their unit, which has the hash of the text
own_loops: dict[str, OwnLoop] = {}


def dtype_of_code(op: ScalarOp, result: str) -> str | None:
    """Return the dtype in which C code computes a result; None if the op has none for it."""
    if not op.c_source:
        return None
    if result in op.c_source:
        return result
    return "float64" if result == "float32" and "float64" in op.c_source else None


def missing_compiler(op: ScalarOp) -> bool:
    """Return whether C code of an op cannot be used, as there is no compiler."""
    if not op.c_source:
        return False
    from rewrite_engine.link.c.compiler import has_compiler  # few graphs have C code

    return not has_compiler()


def own_unit(op: ScalarOp, dtype: str) -> str:
    """Return the name of the unit that calls an op's C function of a dtype."""
    from rewrite_engine.link.c.loop import loop_address, loop_text

    assert op.c_source is not None
    assert op.nin is not None
    name, kind = op.name, KINDS[dtype]
    text = loop_text(name, op.c_source[dtype], dtype, op.nin)
    unit = "c_" + blake2b(text.encode(), digest_size=12).hexdigest()
    full = unit if kind == "d" else f"{unit}_{kind}"
    own_loops.setdefault(full, OwnLoop(op.nin, kind, lambda: loop_address(name, text)))
    return unit


def write_call(op: ScalarOp, t: Any, kind: str, xs: Any) -> str:
    """Write a call of an op's C function, on operands of the kind in which it computes."""
    return str(t.counted_unit(own_unit(op, DTYPES[kind]), *xs, kind=kind))
