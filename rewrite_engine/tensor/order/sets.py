"""Arrays as sets, and counts of values: `isin`, `union1d` and related functions, `histogram`,
`array_equal`.

All are built from sorting and searching.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError, OptionError, ShapeError
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable, constant
from rewrite_engine.tensor.creation import ones
from rewrite_engine.tensor.order.search import bincount, searchsorted, unique
from rewrite_engine.tensor.order.sorting import sort
from rewrite_engine.tensor.reduce import all as reduce_all
from rewrite_engine.tensor.reduce import max as largest
from rewrite_engine.tensor.reduce import min as least
from rewrite_engine.tensor.reshape import flatten
from rewrite_engine.tensor.running import diff
from rewrite_engine.tensor.shape import shape, shape_i
from rewrite_engine.tensor.shaping.joins import concatenate, upcast
from rewrite_engine.tensor.shaping.ranges import linspace

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "array_equal", "histogram", "histogram_bin_edges", "intersect1d", "isin", "setdiff1d",
    "setxor1d", "union1d",
]  # fmt: skip


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> TensorVariable:
    """Return whether two arrays have equal shapes and elements, as a 0-d bool.

    equal_nan: whether NaN equals NaN.

    >>> array_equal([1, 2], [1.0, 2.0]).eval(), array_equal([1, 2], [1, 2, 3]).eval()
    (array(True), array(False))
    """
    a, b = as_tensor_variable(a1), as_tensor_variable(a2)
    known = zip(a.type.shape, b.type.shape, strict=False)
    if a.type.ndim != b.type.ndim or any(None not in (n, k) and n != k for n, k in known):
        return as_tensor_variable(np.array(False))
    same, (x, y) = reduce_all(m.eq(shape(a), shape(b))), (flatten(a), flatten(b))
    n = m.minimum(x.shape[0], y.shape[0])
    x, y = x[:n], y[:n]
    equal = m.eq(x, y)
    if equal_nan and a.type.kind in "fc" and b.type.kind in "fc":
        equal = m.or_(equal, m.and_(m.isnan(x), m.isnan(y)))
    return m.and_(same, reduce_all(equal))


def _of_one_dtype(*xs: Any) -> list[Any]:
    """Return the operands in one dtype, booleans as numbers."""
    tensors = [as_tensor_variable(x) for x in xs]
    dtype = upcast([x.type for x in tensors])
    return [m.cast(x, "uint8" if dtype == "bool" else dtype) for x in tensors]


def isin(
    element: TensorLike,
    test_elements: TensorLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> TensorVariable:
    """Return whether each element is among `test_elements`: a bool array in the shape of `element`.

    NaN is not equal to any element. invert: return whether it is not among them. assume_unique and
    kind have no effect. Raises `OptionError` for another kind.

    >>> isin([[1, 2], [3, 4]], [2, 4, 6]).eval()
    array([[False,  True],
           [False,  True]])
    """
    if kind not in (None, "sort", "table"):
        raise OptionError(located(f"kind must be None, 'sort' or 'table', not {kind!r}"))
    x, tests = _of_one_dtype(element, test_elements)
    tests = sort(flatten(tests))
    found = m.lt(searchsorted(tests, x, "left"), searchsorted(tests, x, "right"))
    found = m.and_(found, m.eq(x, x))
    return m.invert(found) if invert else found


def union1d(ar1: TensorLike, ar2: TensorLike) -> TensorVariable:
    """Return the distinct elements of two arrays, in order, as a vector.

    >>> union1d([3, 1], [[2, 1]]).eval()
    array([1, 2, 3])
    """
    return unique(concatenate([flatten(as_tensor_variable(ar1)), flatten(as_tensor_variable(ar2))]))


def intersect1d(
    ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False, return_indices: bool = False
) -> TensorVariable:
    """Return the distinct elements that are in both arrays, in order, as a vector.

    assume_unique has no effect. Raises `OptionError` for return_indices.
    """
    if return_indices:
        raise OptionError(
            located("intersect1d: return_indices is not supported; use isin for the positions")
        )
    both = sort(concatenate([unique(as_tensor_variable(ar1)), unique(as_tensor_variable(ar2))]))
    return both[1:][m.eq(both[1:], both[:-1])]


def setdiff1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> TensorVariable:
    """Return the distinct elements of the first array that are not in the second, in order, as a
    vector.

    assume_unique: keep the order and the repetitions of the first array.
    """
    x = flatten(as_tensor_variable(ar1)) if assume_unique else unique(as_tensor_variable(ar1))
    return x[isin(x, ar2, invert=True)]


def setxor1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> TensorVariable:
    """Return the distinct elements that are in exactly one of two arrays, in order, as a vector.
    assume_unique has no effect.
    """
    every = sort(concatenate([unique(as_tensor_variable(ar1)), unique(as_tensor_variable(ar2))]))
    edge = ones(1, dtype="bool")
    apart = concatenate([edge, m.neq(every[1:], every[:-1]), edge])
    return every[m.and_(apart[1:], apart[:-1])[: every.shape[0]]]


# --- how often --------------------------------------------------------------------------------


def histogram_bin_edges(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None
) -> TensorVariable:
    """Return the ends of the intervals of `histogram` (float64; explicit ends unchanged)."""
    if isinstance(bins, str):
        raise OptionError(
            located("bins must be a number or the ends of the intervals, not the name of a rule")
        )
    if not isinstance(bins, int | np.integer):
        edges = as_tensor_variable(bins)
        if edges.type.ndim != 1:
            what = (
                "bins must be a number (not a variable), or a vector with the ends of the intervals"
            )
            raise NDimError(located(what, inputs=[edges]))
        return edges
    if bins < 1:
        raise ShapeError(located(f"the number of intervals must be at least 1, not {bins}"))
    if range is None:
        x = flatten(as_tensor_variable(a))
        if not x.type.shape[0]:  # of nothing there are those from 0 to 1
            spare = constant([0, 1], dtype=x.type.dtype)
            x = concatenate([x, spare[: m.switch(m.eq(shape_i(x, 0), 0), 2, 0)]])
        low, high = m.cast(least(x), "float64"), m.cast(largest(x), "float64")
    else:
        low, high = [m.cast(as_tensor_variable(end), "float64") for end in range]
    half = m.switch(m.eq(low, high), 0.5, 0.0)
    return linspace(low - half, high + half, int(bins) + 1)


def histogram(
    a: TensorLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[TensorVariable, TensorVariable]:
    """Return the number of elements in each interval, and the ends of the intervals.

    The last interval includes both of its ends, the others only the left one. bins: the number of
    intervals, between the smallest and the largest element (or the two numbers of `range`), or
    their ends. weights: the weight of each element in the counts. density: divide by the total and
    by the lengths. Raises `ShapeError`, `OptionError`.

    >>> [x.eval().tolist() for x in histogram([1, 2, 1], bins=[0, 1, 2, 3])]
    [[0, 2, 1], [0, 1, 2, 3]]
    """
    x, edges = flatten(as_tensor_variable(a)), histogram_bin_edges(a, bins, range, weights)
    n = edges.shape[0] - 1
    last = edges[-1]
    where = m.minimum(searchsorted(edges, x, "right") - 1, n - 1)
    inside = m.and_(m.ge(x, edges[0]), m.le(x, last))
    counted = None if weights is None else flatten(as_tensor_variable(weights))[inside]
    counts = bincount(where[inside], counted, minlength=n)
    if density:
        counts = counts / diff(edges) / counts.sum()
    return counts, edges
