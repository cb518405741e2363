"""Module `pytensor.tensor.inplace`: elementwise ops that overwrite their first operand,
`exp_inplace` for each `exp`; and `transpose_inplace`, which is a view in any case.
"""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.tensor.elemwise import Elemwise

#: what is called otherwise here
OTHERWISE = {
    "gammal": "gammainc", "gammau": "gammaincc", "round_half_to_even": "round", "sgn": "sign",
    "true_divide": "true_div", "floor_divide": "floor_div", "int_div": "floor_div", "inv":
    "reciprocal", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
}  # fmt: skip

transpose_inplace = pt.transpose


def __getattr__(name: str) -> Any:
    base = name.removesuffix("_inplace")
    op = getattr(pt, OTHERWISE.get(base, base), None)
    if base == name or not isinstance(op, Elemwise):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Elemwise(op.scalar_op, {0: 0})
