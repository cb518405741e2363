"""Known values of variables while the graph is built, and the location of values: `transfer`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.errors import NotConstantError, describe
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import Alloc
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.elemwise import Elemwise

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "get_scalar_constant_value",
    "get_underlying_scalar_constant_value",
    "register_transfer",
    "transfer",
]


def get_underlying_scalar_constant_value(
    v: TensorLike,
    *,
    elemwise: bool = True,
    only_process_constants: bool = False,
    max_recur: int | None = None,
    raise_not_constant: bool = True,
) -> Any:
    """Return the number that all elements of `v` equal, as a 0-d array.

    The number is found in constants, in ops that fill or reshape them, and, with `elemwise`, in all
    terms computed from constants alone. Otherwise raises `NotConstantError`, or returns `v` itself
    if raise_not_constant is False. only_process_constants: look only at constants. max_recur:
    number of nodes to look through (None: any); a term computed from constants alone counts as one.

    >>> from rewrite_engine.tensor import alloc, vector
    >>> get_underlying_scalar_constant_value(alloc(3.0, vector("x").shape[0]))
    array(3.)
    """
    if v is None and raise_not_constant:
        raise NotConstantError("None is no number")
    found = v if isinstance(v, Variable) else as_tensor_variable(v)
    left = 0 if only_process_constants else math.inf if max_recur is None else max_recur
    while left > 0 and found.owner is not None:
        left, op, inputs = left - 1, found.owner.op, found.owner.inputs
        if isinstance(op, Alloc | DimShuffle):
            found = inputs[0]
        elif isinstance(op, Elemwise) and op.scalar_op.name in ("second", "identity"):
            found = inputs[-1]
        else:
            break
    if isinstance(found, Constant):
        if found.data is None:
            return None
        data = np.asarray(found.data)
    elif elemwise and left > 0 and not set(explicit_graph_inputs(found)):
        data = np.asarray(found.eval())
    else:
        data = np.empty(0)
    if data.size and (data == data.flat[0]).all():
        return np.array(data.flat[0])
    if raise_not_constant:
        raise NotConstantError(f"the elements of {describe(v)} are not known to equal one number")
    return v


def get_scalar_constant_value(v: TensorLike, elemwise: bool = True, **options: Any) -> Any:
    """Return the constant value of a 0-d variable (see `get_underlying_scalar_constant_value`);
    raise `NotConstantError` for others.
    """
    if getattr(v, "ndim", np.ndim(v) if not isinstance(v, Variable) else 0):
        raise NotConstantError(f"{describe(v)} is not a single number: it has dimensions")
    return get_underlying_scalar_constant_value(v, elemwise=elemwise, **options)


#: functions (variable, target) that return the variable at the target, or None
_transfers: list[Callable[[Any, str], Any]] = []


def register_transfer(fn: Callable[[Any, str], Any]) -> None:
    """Add a target for `transfer`: `fn(variable, target)` returns the variable on the target, or
    None for an unknown target.
    """
    _transfers.append(fn)


def transfer(var: TensorLike, target: str) -> TensorVariable:
    """Return `var` on a target: "cpu" means an array in memory. Raise `ValueError` for an unknown
    target.
    """
    if target == "cpu":
        return as_tensor_variable(var)
    for fn in _transfers:
        found = fn(var, target)
        if found is not None:
            return found
    raise ValueError(f"unknown target {target!r}: add it with register_transfer")
