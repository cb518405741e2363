"""Descriptive statistics: `median`, `quantile`, `norm`, `average`, `cov`, `trapezoid`, …; built
from sorting and sums.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError, ShapeError
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.dtype import DISCRETE, float_dtype, is_number, promote
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import alloc
from rewrite_engine.tensor.dimshuffle import expand_dims, slice_at_axis
from rewrite_engine.tensor.index.diagonals import diagonal
from rewrite_engine.tensor.order.sorting import SortOp
from rewrite_engine.tensor.product.dots import dot
from rewrite_engine.tensor.reduce import Max, Min, Sum
from rewrite_engine.tensor.reduce import max as reduce_max
from rewrite_engine.tensor.reduction import normalize_axes, sorted_axes
from rewrite_engine.tensor.reshape import flatten
from rewrite_engine.tensor.running import diff, one_axis
from rewrite_engine.tensor.shape import larger, lengths, shape_i
from rewrite_engine.tensor.shaping.joins import concatenate
from rewrite_engine.tensor.statistics.moments import count, mean

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Axis, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "average", "corrcoef", "count_nonzero", "cov", "ediff1d", "median", "norm", "percentile",
    "quantile", "trapezoid",
]  # fmt: skip


# --- sums -------------------------------------------------------------------------------------


def count_nonzero(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return the number of nonzero elements along axes (int64)."""
    return Sum(axis, keepdims=keepdims)(m.neq(a, 0))


@overload
def average(
    a: TensorLike,
    axis: Axis = None,
    weights: TensorLike | None = None,
    returned: Literal[False] = False,
    keepdims: bool = False,
) -> TensorVariable: ...
@overload
def average(
    a: TensorLike,
    axis: Axis = None,
    weights: TensorLike | None = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> list[TensorVariable]: ...
def average(
    a: TensorLike,
    axis: Axis = None,
    weights: TensorLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Any:
    """Return the weighted mean along axes; float64 for integers.

    weights: in the shape of `a`, or a vector along the one axis. returned: return a list with the
    sum of weights, in its shape. Raises `AxisError`, `ShapeError`; `NDimError` for other weights.

    >>> from rewrite_engine.tensor import average
    >>> average([1.0, 2.0, 5.0], weights=[2, 1, 1]).eval()
    array(2.25)
    """
    x = as_tensor_variable(a)
    if weights is None:
        found = mean(x, axis, keepdims=keepdims)
        total: Any = m.cast(count(x, axis), found.type.dtype)
    else:
        w = as_tensor_variable(weights)
        if w.type.ndim == 1 < x.type.ndim and axis is not None:
            _, k = one_axis(x, axis)
            w = w.dimshuffle(*[0 if i == k else "x" for i in range(x.type.ndim)])
        elif w.type.ndim != x.type.ndim:
            raise NDimError(
                located(f"average: weights of type {w.type} do not fit an array of type {x.type}")
            )
        w = m.cast(m.second(x, w), float_dtype(w.type.dtype))
        of = Sum(axis, keepdims=keepdims)
        total = of(w)
        found = m.true_div(of(m.mul(x, w)), total)
    return [found, m.second(found, total)] if returned else found


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> TensorVariable:
    """Return the integral along an axis by the trapezoidal rule.

    x: the points, a vector or an array in the shape of y; by default points with distance dx.
    Raises `AxisError`.

    >>> from rewrite_engine.tensor import trapezoid
    >>> trapezoid([1.0, 2.0, 3.0], x=[0.0, 1.0, 3.0]).eval()
    array(6.5)
    """
    y, axis = one_axis(as_tensor_variable(y), axis)
    if x is not None:
        x = as_tensor_variable(x)
        dx = diff(x, axis=0 if x.type.ndim == 1 else axis)
        if x.type.ndim == 1:
            dx = dx.dimshuffle(*[0 if i == axis else "x" for i in range(y.type.ndim)])
    later, earlier = [y[slice_at_axis(part, axis)] for part in (slice(1, None), slice(None, -1))]
    pairs = m.add(later, earlier)
    return Sum(axis)(m.true_div(m.mul(dx, pairs), 2))


def norm(x: Any, ord: Any = 2, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Return the norm of vectors, along axes taken together: (sum |x|^ord)^(1/ord).

    ord: inf, -inf for the largest (0 without elements) or smallest |x|, 0 for the number of nonzero
    elements. (Matrix norms are in `pt.linalg`.) The result is a float, as from `sqrt`. For ord 2
    the gradient is NaN where all elements are 0, as the norm has no slope there.
    """
    x = as_tensor_variable(x)
    x = m.cast(x, float_dtype(x.type.dtype))
    size = m.abs(x)
    if ord == np.inf:
        return largest_size(size, axis, keepdims)
    if ord == -np.inf:
        return Min(axis, keepdims=keepdims)(size)
    total = Sum(axis, keepdims=keepdims)
    if ord == 0:
        return m.cast(total(m.neq(x, 0)), size.type.dtype)
    if ord == 1:
        return total(size)
    if ord == 2:
        return m.sqrt(total(m.sqr(size if x.type.kind == "c" else x)))
    return m.pow(total(m.pow(size, ord)), 1 / ord)


def largest_size(sizes: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the largest of nonnegative numbers; 0 if there are none."""
    op = Max(axis, keepdims=keepdims)
    known = all([sizes.type.shape[a] for a in op.canonical(sizes.type.ndim).axes(sizes.type.ndim)])
    return op(sizes) if known else reduce_max(sizes, axis, keepdims, initial=0)


def cov(
    m: TensorLike,
    y: TensorLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
) -> TensorVariable:
    """Return the covariance matrix of variables, as float64 or complex128 (0-d if there is
    statically one variable).

    m, y: each row of a matrix is a variable (rowvar=False: each column); a vector is one variable,
    and a number is one variable observed once. The divisor is n - ddof, by default n - 1 (bias: n).
    fweights: how often each observation counts; aweights: its weight. Raises `NDimError`.

    >>> from rewrite_engine.tensor import cov
    >>> cov([[1.0, 2.0, 3.0], [2.0, 0.0, 1.0]]).eval()
    array([[ 1. , -0.5],
           [-0.5,  1. ]])
    """
    x = concatenate([_rows(v, rowvar) for v in (m, y) if v is not None], axis=0)
    return _cov(x, int(not bias) if ddof is None else ddof, fweights, aweights)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> TensorVariable:
    """Return the correlation matrix of variables.

    Covariances (`cov`) are divided by the standard deviations of both variables, and clipped to -1
    and 1. Raises `NDimError`.

    >>> corrcoef([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).eval().round(12)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar)
    if not c.type.ndim:
        return c / c
    size = m.sqrt(m.real(diagonal(c)))
    found = c / size[:, None] / size[None, :]
    if c.type.kind == "c":
        return m.complex(*[m.clip(part(found), -1, 1) for part in (m.real, m.imag)])
    return m.clip(found, -1, 1)


def ediff1d(
    ary: TensorLike, to_end: TensorLike | None = None, to_begin: TensorLike | None = None
) -> TensorVariable:
    """Return the differences of neighbours in a flattened array, with values to put before and
    after them.

    >>> ediff1d([1, 4, 9], to_begin=[0]).eval()
    array([0, 3, 5])
    """
    x = as_tensor_variable(ary)
    parts = [flatten(as_tensor_variable(end)) for end in (to_begin, to_end) if end is not None]
    parts.insert(to_begin is not None, diff(flatten(x)))
    return concatenate([m.cast(part, x.type.dtype) for part in parts])


def _rows(v: Any, rowvar: bool) -> Any:
    """Return variables as the rows of a matrix, in double precision."""
    v = as_tensor_variable(v)
    if v.type.ndim > 2:
        raise NDimError(located(f"cov takes vectors and matrices, not type {v.type}"))
    v = m.cast(v, "complex128" if v.type.kind == "c" else "float64")
    return expand_dims(v, (*range(2 - v.type.ndim),)) if v.type.ndim < 2 else v if rowvar else v.T


def _cov(x: Any, ddof: int, fweights: Any, aweights: Any) -> Any:
    given = [
        m.cast(as_tensor_variable(w), "float64") for w in (fweights, aweights) if w is not None
    ]
    if given:
        w = reduce(m.mul, given)
        total = Sum()(w)
        centred = m.sub(x, m.true_div(Sum(1, keepdims=True)(m.mul(x, w)), total))
        lost = ddof if aweights is None else ddof * Sum()(m.mul(w, given[-1])) / total
        right, n = m.mul(centred, w), m.sub(total, lost)
    else:
        right = centred = m.sub(x, mean(x, 1, keepdims=True))
        n = count(x, 1) - ddof
    found = m.true_div(dot(centred, m.conjugated(right).T), m.maximum(n, 0))
    return found[0, 0] if x.type.shape[0] == 1 else found


# --- in the middle ----------------------------------------------------------------------------


def as_last(x: Any, axis: Any, else_nan: bool = False) -> tuple[Any, tuple[int, ...]]:
    """Return an array with axes joined as the last one, and the positions of these axes.

    else_nan: add a NaN if there are no elements along them.
    """
    ndim = x.type.ndim
    axes = normalize_axes(sorted_axes(axis), ndim)
    axes = tuple(range(ndim)) if axes is None else axes
    kept = [i for i in range(ndim) if i not in axes]
    flat = x.dimshuffle(*kept, *axes)
    flat = flat if len(axes) == 1 else flat.flatten(len(kept) + 1)
    *others, n = lengths(flat)
    if else_nan and (isinstance(n, Variable) or n == 0):
        missing = alloc(m.cast(np.nan, flat.type.dtype), *others, larger(m.sub(1, n), 0))
        return concatenate([flat, missing], -1), axes
    if isinstance(n, int) and n == 0:
        raise ShapeError(located("cannot reduce an empty array: a length is 0"))
    return flat, axes


def median(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return the median along axes: the middle element, or the mean of the two middle ones.

    NaN if an element is NaN, and without elements; float64 for integers and booleans. Raises
    `AxisError`.

    >>> from rewrite_engine.tensor import median
    >>> median([[3.0, 1, 2], [8, 7, 0]], axis=1).eval()
    array([2., 7.])
    """
    flat, axes = as_last(as_floats(as_tensor_variable(x)), axis, else_nan=True)
    last = flat.type.ndim - 1
    rising, n = SortOp(last)(flat), lengths(flat)[last]
    low, high = rising[..., (n - 1) // 2], rising[..., n // 2]
    found = m.switch(m.isnan(rising[..., -1]), rising[..., -1], mean_of_two(low, high))
    return expand_dims(found, axes) if keepdims and axes else found


def as_floats(x: Any) -> Any:
    """Return integers and booleans as float64; floats unchanged."""
    return m.cast(x, "float64") if x.type.dtype in DISCRETE else x


def mean_of_two(low: Any, high: Any) -> Any:
    """Return the mean of two numbers; equal numbers unchanged, however large.

    (`maximum` shares the gradient between both.)
    """
    dtype = low.type.dtype
    wide = "float32" if dtype == "float16" else dtype
    mean = m.true_div(m.add(m.cast(low, wide), m.cast(high, wide)), 2)
    return m.switch(m.eq(low, high), m.maximum(low, high), m.cast(mean, dtype))


#: where the quantile q of n elements is, by Hyndman & Fan: at n q + a + q (1 - a - b) - 1
_METHODS = {
    "interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0), "linear": (1, 1),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
    "lower": (1, 1), "higher": (1, 1), "midpoint": (1, 1), "nearest": (1, 1),
}  # fmt: skip
#: the share of the higher one of two elements, for the share t of the way from the lower, the i-th
_SHARES: dict[str, Callable[[Any, Any], Any]] = {
    "lower": lambda t, i: m.mul(t, 0),
    "higher": lambda t, i: m.ceil(t),
    "midpoint": lambda t, i: m.mul(m.ceil(t), 0.5),
    "nearest": lambda t, i: m.sub(m.round(m.add(i, t)), i),
}


def quantile(
    a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """Return quantiles of the elements along axes (None: all); NaN if an element is NaN.

    q: numbers from 0 to 1, in an array of any shape. The result has the shape of q, then the
    remaining shape of `a`. Its dtype is the promotion of `a` and q (unless q is a Python number),
    and float64 for integers; methods that select an element keep its dtype. method: NumPy's
    "linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased",
    "normal_unbiased", "interpolated_inverted_cdf". There are gradients for `a` and `q`. Raises
    `AxisError`; `ShapeError` or `AxisError` for an empty array; `ValueError` for another method,
    and for constants outside of 0 to 1.

    >>> from rewrite_engine.tensor import quantile
    >>> quantile([[1.0, 5.0, 2.0], [0.0, 1.0, 9.0]], [0.5, 0.75], axis=1).eval()
    array([[2. , 1. ],
           [3.5, 5. ]])
    """
    if method not in _METHODS:
        raise ValueError(located(f"method must be one of {[*_METHODS]}, not {method!r}"))
    x, weak, q = as_tensor_variable(a), is_number(q), as_tensor_variable(q)
    takes = method in ("lower", "higher", "nearest")
    if not takes:
        x = as_floats(x) if weak else m.cast(x, promote(x.type.dtype, as_floats(q).type.dtype))
    q = m.cast(q, "float64")
    if isinstance(q, Constant) and not ((q.data >= 0) & (q.data <= 1)).all():
        raise ValueError(located("quantiles must be from 0 to 1, percentiles from 0 to 100"))
    flat, axes = as_last(x, axis)
    last, dtype = flat.type.ndim - 1, flat.type.dtype
    rising, n = SortOp(last)(flat), shape_i(flat, last)
    before, behind = _METHODS[method]
    place = m.add(m.mul(n, q), before - 1, m.mul(q, 1 - before - behind))
    place = m.clip(place, 0, n - 1)
    whole = m.floor(place)
    share = m.sub(place, whole)
    if method in _SHARES:
        share = _SHARES[method](share, whole)
    i = m.cast(whole, "int64")
    low, high = rising[..., i], rising[..., m.minimum(i + 1, n - 1)]
    if not takes:
        between = m.add(low, m.mul(m.cast(share, dtype), m.sub(high, low)))
        high = m.switch(m.and_(m.eq(low, high), m.isinf(low)), low, between)
    found = m.switch(m.eq(share, 0), low, high)
    top = rising[..., -1].dimshuffle(*range(last), *["x"] * q.type.ndim)
    found = m.switch(m.isnan(top), top, found)
    found = found.dimshuffle(*range(last, found.type.ndim), *range(last))
    if not keepdims:
        return found
    return expand_dims(found, tuple([q.type.ndim + k for k in axes])) if axes else found


def percentile(
    a: TensorLike, q: Any, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """Return percentiles of the elements along axes; q from 0 to 100 (other arguments: see
    `quantile`).
    """
    if not is_number(q):
        q = as_tensor_variable(q)
        q = q.data if isinstance(q, Constant) else q
    return quantile(a, q / 100, axis, method, keepdims)
