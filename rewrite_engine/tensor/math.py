"""Elementwise functions on tensors: every scalar op of `scalar/ops.py`, lifted to arrays.

Each is an `Elemwise` instance, so rules can compare and match them. To add one, write an entry
there, nothing here. Functions built from several are in `tensor/elementwise.py`, reductions in
`tensor/reduce.py`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rewrite_engine.scalar import ops as _scalar
from rewrite_engine.scalar.dtype import dtype_name
from rewrite_engine.scalar.op import Cast, ScalarOp
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.elemwise import Elemwise

if TYPE_CHECKING:
    from rewrite_engine.tensor.variable import TensorVariable

if TYPE_CHECKING:  # the same names, and aliases, stand for the lifted ops here
    from rewrite_engine.scalar.ops import *  # noqa: F403

lift = Elemwise  # type: ignore[assignment]
_m: Any = sys.modules[__name__]
_names: list[str] = []
for _op in [v for v in vars(_scalar).values() if isinstance(v, ScalarOp)]:
    _lifted = lift(_op)
    for _name in (_op.name, *_op.aliases):
        setattr(_m, _name, _lifted)
        _names.append(_name)
_names.remove("round")  # which `elementwise.py` has with a mode
_m.__all__ = ["cast", *_names]
_m.add.undone_by = (_m.sub, _m.neg)
_m.mul.undone_by = (_m.true_div, _m.reciprocal)


def cast(x: Any, dtype: Any) -> TensorVariable:  # type: ignore[no-redef]
    """Return `x` converted to another dtype, or itself if it has that dtype.

    Raises `DTypeError` for an unknown dtype, and from complex to real.
    """
    name = dtype_name(dtype)
    x = as_tensor_variable(x)
    if getattr(getattr(x, "type", None), "dtype", None) == name:
        return x
    return lift(Cast(name))(x)


def conjugated(x: Any) -> Any:
    """Return the conjugate of a complex variable, a real one unchanged, for use in gradients."""
    return _m.conj(x) if x.type.kind == "c" else x


def as_gradient_of(x: Any, g: Any) -> Any:
    """Return the real part of a complex gradient if `x` is real, else `g`."""
    return _m.real(g) if g.type.kind == "c" and x.type.kind != "c" else g
