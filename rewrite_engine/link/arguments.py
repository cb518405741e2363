"""Arguments of generated functions: a cheap test inline, everything else in a slow function.

The test is a condition under which the value is good as it is. A value that fails it is converted
by the type's `filter`, or raises an error that names the function, the argument and both types.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import singledispatch
from typing import Any

import numpy as np

from rewrite_engine.errors import (
    DTypeError,
    MissingArgumentError,
    NDimError,
    NoTensorError,
    RewriteEngineError,
    ShapeError,
    StaticShapeError,
    describe,
)
from rewrite_engine.graph.type import Type
from rewrite_engine.link.names import Names
from rewrite_engine.link.program import MISSING, Argument, plain
from rewrite_engine.tensor.type import TensorType


@singledispatch
def refusal(type_: Type, name: str, names: Names) -> str | None:
    """Return the text of a condition under which the slow function must check the value; None:
    always.
    """
    return None


@refusal.register(TensorType)
def _(type_: TensorType, name: str, names: Names) -> str:
    array, dtype = names.add(np.ndarray, "ndarray"), names.add(type_.numpy_dtype, type_.dtype)
    parts = [f"type({name}) is not {array}", f"{name}.dtype is not {dtype}"]
    if type_.ndim and None not in type_.shape:
        parts.append(f"{name}.shape != {type_.shape}")
    else:
        parts.append(f"{name}.ndim != {type_.ndim}")
        known = [(i, n) for i, n in enumerate(type_.shape) if n is not None]
        parts += [f"{name}.shape[{i}] != {n}" for i, n in known]
    return " or ".join(parts)


def accept(function: str, position: int, argument: Argument) -> Callable[[Any], Any]:
    """Return the slow function for one argument."""
    type_, default = argument.type, argument.default
    what = f"argument {position}" + (f" ({argument.name!r})" if argument.name else "")

    def convert(value: Any) -> Any:
        if value is MISSING:
            if default is None or default.value is MISSING:
                raise MissingArgumentError(f"{function}: {what} of type {type_} is missing")
            return deepcopy(default.value) if argument.mutable else default.value
        try:
            return plain(
                type_.filter(value, strict=argument.strict, allow_downcast=argument.allow_downcast)
            )
        except (TypeError, ValueError) as error:
            raise _refused(error)(
                f"{function}: {what} must be of type {type_}, got {describe(value)}\n    {error}"
            ) from error

    return convert


def unknown_argument(function: str, named: dict[str, Any]) -> None:
    """Raise Python's error for keyword arguments with unknown names."""
    raise TypeError(f"{function}() got an unexpected keyword argument {next(iter(named))!r}")


def own(value: Any, *others: Any) -> Any:
    """Return an array that may be overwritten: the caller's own, or a copy if it is read-only, if
    two elements may share memory, or if another argument or a shared variable may share it.
    """
    if not isinstance(value, np.ndarray):
        return value
    shown = [o for o in others if isinstance(o, np.ndarray) and np.may_share_memory(value, o)]
    if shown or not value.flags.writeable or _overlaps_itself(value):
        return value.copy()
    return value


def _overlaps_itself(value: np.ndarray) -> bool:
    """Return whether two elements may share memory: they may, unless the steps along each axis
    leave space for the extent of all axes with smaller steps.
    """
    if value.flags.forc or value.size < 2:
        return False
    span = value.itemsize
    for step, length in sorted([(abs(s), n) for s, n in zip(value.strides, value.shape)]):
        if length > 1 and step < span:
            return True
        span += step * (length - 1)
    return False


def _refused(error: Exception) -> type[Exception]:
    """Return the class in which an error of `filter` is raised to the caller."""
    for cls in (NoTensorError, DTypeError, NDimError, StaticShapeError, ShapeError):
        if isinstance(error, cls):
            return cls
    if isinstance(error, RewriteEngineError):
        return DTypeError
    return DTypeError if isinstance(error, TypeError) else ValueError
