"""Reductions and running sums that ignore NaN: `nansum`, `nanmean`, `nanmedian`, …

They are built from the functions without `nan`; for integers and booleans both are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.scalar.dtype import DISCRETE, dtype_name
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.dimshuffle import expand_dims
from rewrite_engine.tensor.index.selection import take_along_axis
from rewrite_engine.tensor.order.sorting import SortOp
from rewrite_engine.tensor.reduce import All, Max, Min, Prod, Sum
from rewrite_engine.tensor.running import cumprod, cumsum
from rewrite_engine.tensor.statistics.descriptive import as_floats, as_last, mean_of_two
from rewrite_engine.tensor.statistics.moments import argmax, argmin, divided, mean, var

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Axis, DTypeLike, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian",
    "nanmin", "nanprod", "nanstd", "nansum", "nanvar",
]  # fmt: skip


def _instead(x: Any, value: float) -> Any:
    """Return x with each NaN replaced by another value."""
    return x if x.type.dtype in DISCRETE else m.switch(m.isnan(x), value, x)


def _present(x: Any, axis: Any, keepdims: bool) -> Any:
    """Return the number of elements other than NaN."""
    return Sum(axis, keepdims=keepdims)(m.eq(x, x))


def nansum(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False
) -> TensorVariable:
    """Return sums along axes, ignoring NaN (arguments: see `sum`)."""
    return Sum(axis, dtype, keepdims=keepdims)(_instead(as_tensor_variable(x), 0))


def nanprod(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False
) -> TensorVariable:
    """Return products along axes, ignoring NaN (arguments: see `prod`)."""
    return Prod(axis, dtype, keepdims=keepdims)(_instead(as_tensor_variable(x), 1))


def nanmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return maxima along axes, ignoring NaN; NaN if all elements are NaN."""
    return _extremum(Max(axis, keepdims=keepdims), as_tensor_variable(x), -np.inf)


def nanmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return minima along axes, ignoring NaN; NaN if all elements are NaN."""
    return _extremum(Min(axis, keepdims=keepdims), as_tensor_variable(x), np.inf)


def _extremum(of: Any, x: Any, least: float) -> Any:
    if x.type.dtype in DISCRETE:
        return of(x)
    missing = All(of.axis, keepdims=of.keepdims)(m.isnan(x))
    return m.switch(missing, np.nan, of(_instead(x, least)))


def nanmean(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False
) -> TensorVariable:
    """Return means along axes, ignoring NaN (arguments: see `mean`)."""
    x = as_tensor_variable(x)
    if x.type.dtype in DISCRETE:
        return mean(x, axis, dtype, keepdims)
    dtype = x.type.dtype if dtype is None else dtype_name(dtype)
    return divided(_instead(x, 0), axis, dtype, keepdims, _present(x, axis, keepdims))


def nanvar(
    x: TensorLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False
) -> TensorVariable:
    """Return variances along axes, ignoring NaN (see `var`); NaN if at most ddof elements
    remain.
    """
    x = as_tensor_variable(x)
    if x.type.dtype in DISCRETE:
        return var(x, axis, ddof, keepdims)
    centred = m.sub(x, nanmean(x, axis, keepdims=True))
    squares = _instead(m.sqr(m.abs(centred)), 0)
    n = m.maximum(m.sub(_present(x, axis, keepdims), ddof), 0)
    return divided(squares, axis, squares.type.dtype, keepdims, n)


def nanstd(
    x: TensorLike, axis: Axis = None, ddof: int = 0, keepdims: bool = False
) -> TensorVariable:
    """Return standard deviations along axes, ignoring NaN: the square root of `nanvar`."""
    return m.sqrt(nanvar(x, axis, ddof, keepdims))


def nanmedian(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return medians along axes, ignoring NaN (see `median`); NaN if all elements are NaN."""
    flat, axes = as_last(as_floats(as_tensor_variable(x)), axis, else_nan=True)
    last = flat.type.ndim - 1
    rising, n = SortOp(last)(flat), _present(flat, last, True)
    low, high = [take_along_axis(rising, i, last) for i in ((n - 1) // 2, n // 2)]
    found = mean_of_two(low, high).dimshuffle(*range(last))
    return expand_dims(found, axes) if keepdims and axes else found


def nanargmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return the position of the first maximum along axes, ignoring NaN; 0 if all elements are
    NaN.
    """
    return argmax(_instead(as_tensor_variable(x), -np.inf), axis, keepdims)


def nanargmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return the position of the first minimum along axes, ignoring NaN; 0 if all elements are
    NaN.
    """
    return argmin(_instead(as_tensor_variable(x), np.inf), axis, keepdims)


def nancumsum(x: TensorLike, axis: int | None = None) -> TensorVariable:
    """Return running sums along an axis, with NaN as 0 (arguments: see `cumsum`)."""
    return cumsum(_instead(as_tensor_variable(x), 0), axis)


def nancumprod(x: TensorLike, axis: int | None = None) -> TensorVariable:
    """Return running products along an axis, with NaN as 1 (arguments: see `cumprod`)."""
    return cumprod(_instead(as_tensor_variable(x), 1), axis)
