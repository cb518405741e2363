"""Native code that a user gives a scalar op: checks of a formula and of C texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewrite_engine.errors import OptionError, describe, message

#: the C types of numbers, by dtype
C_TYPES = {
    "float64": "double", "float32": "float",
    **{f"{sign}int{n}": f"{sign}int{n}_t" for sign in ("", "u") for n in (8, 16, 32, 64)},
}  # fmt: skip


def check_own_code(op: Any, formula: Any, c_source: Any) -> None:
    """Raise `OptionError` for a formula that is no function, or C code that is no text by dtype."""
    if formula is not None and not callable(formula):
        what = f"formula is a function (m, *inputs), not {describe(formula)}"
        raise OptionError(message(what, op=op))
    if c_source is None:
        return
    if not isinstance(c_source, Mapping):
        what = f"c_source is a dict of C texts by dtype, not {describe(c_source)}"
        raise OptionError(message(what, op=op))
    for dtype, text in c_source.items():
        if dtype not in C_TYPES:
            known = ", ".join(C_TYPES)
            raise OptionError(message(f"c_source takes the dtypes {known}; not {dtype!r}", op=op))
        if not isinstance(text, str):
            what = f"c_source[{dtype!r}] is a C text, not {describe(text)}"
            raise OptionError(message(what, op=op))
    if not op.nin or not op.name.isidentifier() or not op.name.isascii():
        what = "an op with c_source needs a fixed number of inputs and the name of a C function"
        raise OptionError(message(what, op=op))
