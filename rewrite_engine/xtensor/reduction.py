"""Reductions and running sums along named dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rewrite_engine.tensor as pt
from rewrite_engine.xtensor.alignment import along, as_xtensor, dims_of
from rewrite_engine.xtensor.type import tensor_from_xtensor, xtensor_from_tensor

if TYPE_CHECKING:
    from rewrite_engine.xtensor.variable import XTensorVariable

__all__ = ["all", "any", "cumprod", "cumsum", "max", "mean", "min", "prod", "std", "sum", "var"]


def sum(x: Any, dim: Any = None) -> XTensorVariable:
    """Return sums along dimensions (by default all). Raise `DimsError`."""
    return along(pt.sum, x, dim)


def prod(x: Any, dim: Any = None) -> XTensorVariable:
    """Return products along dimensions (by default all). Raise `DimsError`."""
    return along(pt.prod, x, dim)


def mean(x: Any, dim: Any = None) -> XTensorVariable:
    """Return means along dimensions (by default all). Raise `DimsError`."""
    return along(pt.mean, x, dim)


def var(x: Any, dim: Any = None, *, ddof: int = 0) -> XTensorVariable:
    """Return variances along dimensions (by default all): squared deviations, divided by their
    number minus ddof. Raise `DimsError`.
    """
    return along(pt.var, x, dim, ddof=ddof)


def std(x: Any, dim: Any = None, *, ddof: int = 0) -> XTensorVariable:
    """Return standard deviations along dimensions (by default all): the square root of `var`. Raise
    `DimsError`.
    """
    return along(pt.std, x, dim, ddof=ddof)


def max(x: Any, dim: Any = None) -> XTensorVariable:
    """Return maxima along dimensions (by default all). Raise `DimsError`."""
    return along(pt.max, x, dim)


def min(x: Any, dim: Any = None) -> XTensorVariable:
    """Return minima along dimensions (by default all). Raise `DimsError`."""
    return along(pt.min, x, dim)


def all(x: Any, dim: Any = None) -> XTensorVariable:
    """Return whether all elements along dimensions are nonzero."""
    return along(pt.all, x, dim)


def any(x: Any, dim: Any = None) -> XTensorVariable:
    """Return whether any element along dimensions is nonzero."""
    return along(pt.any, x, dim)


def cumsum(x: Any, dim: Any = None) -> XTensorVariable:
    """Return running sums along a dimension; along several, one after the other."""
    return _running(pt.cumsum, x, dim)


def cumprod(x: Any, dim: Any = None) -> XTensorVariable:
    """Return running products along a dimension; along several, one after the other."""
    return _running(pt.cumprod, x, dim)


def _running(function: Any, x: Any, dim: Any) -> Any:
    x = as_xtensor(x)
    found = tensor_from_xtensor(x)
    for d in dims_of(x, dim):
        found = function(found, axis=x.type.dims.index(d))
    return xtensor_from_tensor(found, x.type.dims)
