"""Conversion of values to tensor variables: `constant`, `as_tensor_variable`, and weak Python
numbers.

A Python number alone becomes int64, floatX or bool. Among other tensors it is *weak*: it takes
their precision. `Elemwise.convert_inputs` decides that, with constants from `weak_constant` here.
If floatX is not float64, an integer alone stays weak among floats; otherwise it would promote them
to float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.errors import (
    ForeignObjectError,
    NDimError,
    NoTensorError,
    PatternError,
    describe,
    dimensions,
    message,
)
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.dtype import dtype_name, refuse_masked
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.type import TensorType, read_only
from rewrite_engine.tensor.variable import TensorConstant

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import DTypeLike
    from rewrite_engine.tensor.variable import TensorVariable

#: what to write instead of a Python bool
TRUTH = (
    "`x == 1` compares objects, as in Python; to compare elements use `pt.eq(x, 1)` or "
    "`pt.neq(x, 1)`; for a fixed truth value use `pt.constant(True)`"
)
_MAX_WEAK = 4096
_weak: dict[tuple[type, Any, str], TensorConstant] = {}


def constant(
    x: Any, name: str | None = None, ndim: int | None = None, dtype: DTypeLike = None
) -> TensorConstant:
    """Return a constant with the value, dtype and exact static shape of `x`.

    x: a number, (nested) list, array, or another constant. Python floats get dtype floatX. ndim:
    dimensions of length 1 are added or dropped on the left. Raises `NoTensorError` if `x` is not an
    array of numbers, `NDimError` if it cannot have `ndim` dimensions.
    """
    if isinstance(x, TensorConstant):
        x = x.data
    array = _value(x, None if dtype is None else dtype_name(dtype))
    if ndim is not None and array.ndim != ndim:
        spare = max(array.ndim - ndim, 0)
        if array.shape[:spare] != (1,) * spare:
            raise NDimError(f"expected at most {dimensions(ndim)}, got {array.ndim}: {describe(x)}")
        array = array.reshape((1,) * (ndim - array.ndim) + array.shape[spare:])
    type_ = TensorType(array.dtype, array.shape)
    found = TensorConstant(type_, read_only(array, x), name)
    if type(x) is int and dtype is None and config.floatX != "float64":
        found.weak = True
    return found


def _value(x: Any, dtype: str | None) -> np.ndarray:
    """Read a value as an array of numbers."""
    if isinstance(x, Variable):
        raise ForeignObjectError(
            message("a constant must be made from a value, not from a variable", inputs=[x])
        )
    refuse_masked(x)
    try:
        array = np.asarray(x, dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise NoTensorError(f"cannot make a constant from {describe(x)}: {error}") from error
    if array.dtype.kind not in "biufc":
        hint = "; use `rewrite_engine.sparse.constant`" if hasattr(x, "tocsr") else ""
        what = f"cannot make a constant from {describe(x)}: it is not an array of numbers"
        raise NoTensorError(what + hint)
    if dtype is None and array.dtype.kind == "f" and not isinstance(x, np.ndarray | np.generic):
        return array.astype(config.floatX, copy=False)
    return array.astype(dtype_name(array.dtype), copy=False)


def refuse_truth(x: Any, op: Any = None) -> None:
    """Raise `ForeignObjectError` for a Python bool, the result of `x == 1` for a variable."""
    if x.__class__ is not bool:
        return
    what = f"takes tensors, not the Python bool {x}"
    raise ForeignObjectError(located(what, op=op, hint=TRUTH))


def weak_constant(value: bool | int | float | complex, dtype: str) -> TensorConstant:
    """Return *the* 0-d constant for a Python number in a given dtype: equal arguments return one
    object.
    """
    if value == 0 and str(value)[0] == "-":
        return constant(value, dtype=dtype)
    key = (value.__class__, value, dtype)
    found = _weak.get(key)
    if found is None:
        if len(_weak) >= _MAX_WEAK:
            _weak.clear()
        found = _weak[key] = constant(value, dtype=dtype)
    return found


def is_weak(x: Any) -> bool:
    """Return whether something is a constant that takes the precision of other floats."""
    return x.__class__ is TensorConstant and x.weak


def as_tensor_variable(
    x: Any,
    name: str | None = None,
    ndim: int | None = None,
    dtype: DTypeLike = None,
    allow_xtensor_conversion: bool = False,
) -> TensorVariable:
    """Return `x` as a tensor variable: `x` itself if it is one, else a constant.

    A variable of a `ScalarType` becomes a 0-d tensor; a list or tuple that contains variables is
    stacked. dtype: the dtype to cast to. ndim: dimensions of length 1 are added, or dropped, on the
    left. allow_xtensor_conversion: whether to drop the dimension names of a variable that has them.
    A pattern (an object with `__apply_op__`) is returned unchanged. Raises `ForeignObjectError` for
    an object that cannot become a tensor, and for a Python bool, which is the result of `x == 1`
    for a variable (use `constant(True)`); `NDimError` if `x` cannot have `ndim` dimensions.
    """
    if hasattr(type(x), "__apply_op__"):
        return x
    refuse_truth(x)
    if isinstance(x, Apply):
        x = x.default_output()
    if isinstance(x, Variable):
        return _fit(x.type.array_of(x) if allow_xtensor_conversion else x, ndim, dtype)
    if isinstance(x, list | tuple) and _has_symbols(x):
        from rewrite_engine.tensor.shaping.joins import stack

        return _fit(stack([as_tensor_variable(item) for item in x]), ndim, dtype)
    return of_value(x, name, ndim, dtype)


@singledispatch
def of_value(x: Any, name: str | None = None, ndim: int | None = None, dtype: Any = None) -> Any:
    """Convert a value that contains no variable, for `as_tensor_variable`.

    Other classes of values are added by `register`.
    """
    return constant(x, name, ndim, dtype)


as_tensor = as_tensor_variable


def or_truth(x: Any) -> Any:
    """Return `x` as a tensor variable; a Python bool is allowed (to fill a shape, to assert it)."""
    return constant(x) if x.__class__ is bool else as_tensor_variable(x)


def _has_symbols(items: Any) -> bool:
    """Return whether a (nested) list has variables or patterns in it."""
    todo = list(items)
    while todo:
        item = todo.pop()
        if isinstance(item, Variable | Apply) or hasattr(type(item), "__apply_op__"):
            return True
        if isinstance(item, list | tuple):
            todo.extend(item)
    return False


def _fit(x: Variable, ndim: int | None, dtype: Any) -> Any:
    """Convert a variable to this dtype and number of dimensions."""
    if not isinstance(x.type, TensorType):
        if not isinstance(x.type, ScalarType):
            hint = x.type.instead_of_tensor
            error = NoTensorError if hint else ForeignObjectError
            raise error(message("the variable is not a tensor", inputs=[x], hint=hint))
        from rewrite_engine.tensor.numbers import tensor_from_scalar

        x = tensor_from_scalar(x)
    if ndim is not None and x.type.ndim != ndim:
        x = _with_ndim(x, ndim)
    if dtype is not None and x.type.dtype != dtype_name(dtype):
        from rewrite_engine.tensor.math import cast

        return cast(x, dtype)
    return x


def _with_ndim(x: Any, ndim: int) -> Any:
    """Add or drop dimensions of length 1 on the left."""
    spare = max(x.type.ndim - ndim, 0)
    if not all(x.type.broadcastable[:spare]):
        raise NDimError(message(f"expected at most {dimensions(ndim)}", inputs=[x]))
    return x.dimshuffle(*("x",) * (ndim - x.type.ndim), *range(spare, x.type.ndim))


# --- patterns --------------------------------------------------------------------------------


def has_pattern(items: Sequence[Any]) -> bool:
    """Return whether one of the items is a pattern (an object with `__apply_op__`)."""
    return any(hasattr(type(x), "__apply_op__") for x in items)


def is_plain(x: Any) -> bool:
    """Return whether something is not a pattern."""
    return not hasattr(type(x), "__apply_op__")


def all_differ(data: np.ndarray) -> bool:
    """Return whether no value occurs twice in an array; NaNs differ.

    (`numpy.unique` loads `numpy.ma`, which takes as long as compiling a graph.)
    """
    values = np.sort(data, axis=None)
    return bool((values[1:] != values[:-1]).all())


def have_ranks(items: Sequence[Any]) -> bool:
    """Return whether the ranks of all items are known. (The rank of a pattern is known if its sort
    fixes it.)
    """
    try:
        types = [getattr(x, "type", None) for x in items]
        ranks = [getattr(type_, "ndim", None) for type_ in types]
        return not any(rank is None or rank is NO_RANK for rank in ranks)
    except PatternError:
        return False
