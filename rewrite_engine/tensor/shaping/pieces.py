"""Splitting and assembling arrays as NumPy does: `array_split`, `unstack`, `block`, `append`,
`delete`, `extract`, `argwhere`, `ix_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import AxisError, DTypeError, NDimError, ShapeError, dimensions
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import ones
from rewrite_engine.tensor.dimshuffle import atleast_Nd, normalize_axis, slice_at_axis
from rewrite_engine.tensor.index.diagonals import diag
from rewrite_engine.tensor.index.selection import nonzero
from rewrite_engine.tensor.index.template import as_indices
from rewrite_engine.tensor.reshape import flatten
from rewrite_engine.tensor.shape import lengths
from rewrite_engine.tensor.shaping.joins import concatenate, split, stack, vstack

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "append", "argwhere", "array_split", "block", "delete", "diagflat", "dsplit", "extract",
    "hsplit", "ix_", "row_stack", "unstack", "vsplit",
]  # fmt: skip

row_stack = vstack


def append(arr: TensorLike, values: TensorLike, axis: int | None = None) -> TensorVariable:
    """Return `arr` with `values` appended along an axis; axis=None flattens both.

    >>> append([1, 2], [[3], [4]]).eval()
    array([1, 2, 3, 4])
    """
    return concatenate([as_tensor_variable(arr), as_tensor_variable(values)], axis=axis)


def array_split(ary: TensorLike, indices_or_sections: Any, axis: int = 0) -> list[TensorVariable]:
    """Return the pieces of an array along an axis.

    indices_or_sections: the number of pieces (the first ones are longer by one if the length is not
    a multiple); or a list of positions to split at. Raises `ShapeError` for a number below 1,
    `AxisError`.

    >>> [x.eval().tolist() for x in array_split([1, 2, 3, 4, 5], 2)]
    [[1, 2, 3], [4, 5]]
    """
    x = as_tensor_variable(ary)
    number = normalize_axis(axis, x.type.ndim)
    if not isinstance(indices_or_sections, int | np.integer):
        ends = [0, *indices_or_sections, None]
        cuts = [slice(a, b) for a, b in pairwise(ends)]
        return [x[slice_at_axis(cut, number)] for cut in cuts]
    n, whole = _sections(indices_or_sections), lengths(x)[number]
    ends = [_end(whole, n, i) for i in range(n + 1)]
    return [x[slice_at_axis(slice(a, b), number)] for a, b in pairwise(ends)]


def _end(whole: Any, n: int, i: int) -> Any:
    """Return the position at which the first i of n pieces end."""
    short, longer = whole // n, whole % n
    return i * short + (min(i, longer) if isinstance(longer, int) else m.minimum(i, longer))


def _sections(n: Any) -> int:
    if n < 1:
        raise ShapeError(located(f"the number of pieces must be at least 1, not {n}"))
    return int(n)


def _split(name: str, ary: Any, how: Any, axis: int, ndim: int) -> list[Any]:
    """Return pieces of equal lengths, or between positions. Raise `NDimError`; `ShapeError` if
    lengths cannot be equal.
    """
    x = as_tensor_variable(ary)
    if x.type.ndim < ndim:
        raise NDimError(
            located(f"{name}: takes an array with {dimensions(ndim)} or more", inputs=[x])
        )
    if not isinstance(how, int | np.integer):
        return array_split(x, how, axis)
    n, whole = _sections(how), lengths(x)[axis]
    if isinstance(whole, int) and whole % n:
        what = f"{name}: a length of {whole} is not a multiple of {n}"
        raise ShapeError(located(what, inputs=[x]))
    return split(x, [whole // n] * n, n, axis)


def hsplit(ary: TensorLike, indices_or_sections: Any) -> list[TensorVariable]:
    """Return pieces along the second dimension (of a vector: the first), of equal lengths or
    between positions.

    Raises `NDimError`, `ShapeError`.
    """
    x = as_tensor_variable(ary)
    return _split("hsplit", x, indices_or_sections, min(1, x.type.ndim - 1), 1)


def vsplit(ary: TensorLike, indices_or_sections: Any) -> list[TensorVariable]:
    """Return pieces along the first dimension of an array with at least two, of equal lengths or
    between positions.

    Raises `NDimError`, `ShapeError`.
    """
    return _split("vsplit", ary, indices_or_sections, 0, 2)


def dsplit(ary: TensorLike, indices_or_sections: Any) -> list[TensorVariable]:
    """Return pieces along the third dimension, of equal lengths or between positions.

    Raises `NDimError`, `ShapeError`.
    """
    return _split("dsplit", ary, indices_or_sections, 2, 3)


def unstack(x: TensorLike, /, *, axis: int = 0) -> tuple[TensorVariable, ...]:
    """Return the parts of an array along an axis, without that axis.

    Raises `ShapeError` if its length is unknown, `NDimError`, `AxisError`.

    >>> [part.eval().tolist() for part in unstack([[1, 2], [3, 4]], axis=1)]
    [[1, 3], [2, 4]]
    """
    x = as_tensor_variable(x)
    if not x.type.ndim:
        raise NDimError(located("unstack: takes an array with at least one dimension", inputs=[x]))
    number = normalize_axis(axis, x.type.ndim)
    n = x.type.shape[number]
    if n is None:
        hint = "declare it with specify_shape"
        raise ShapeError(
            located("unstack: the length along the axis is unknown", inputs=[x], hint=hint)
        )
    return tuple([x[slice_at_axis(i, number)] for i in range(n)])


def block(arrays: TensorLike) -> TensorVariable:
    """Return an array assembled from nested lists of blocks.

    The innermost lists are joined along the last dimension, the next ones along the dimension
    before it. Raises `ShapeError` for lists of unequal depth, or empty ones.

    >>> block([[1, 2], [3, 4]]).eval()
    array([[1, 2],
           [3, 4]])
    """
    depth, leaves = _nested(arrays)
    ndim = max([depth, *[as_tensor_variable(x).type.ndim for x in leaves]])

    def built(part: Any, level: int) -> Any:
        if level == depth:
            return atleast_Nd(as_tensor_variable(part), n=ndim, left=True)
        return concatenate([built(one, level + 1) for one in part], axis=ndim - depth + level)

    return built(arrays, 0)


def _nested(arrays: Any) -> tuple[int, list[Any]]:
    """Return the depth of nested lists, and the elements of the innermost. Raise `ShapeError`."""
    level, depth = [arrays], 0
    while any([isinstance(one, list) for one in level]):
        if not all([isinstance(one, list) and one for one in level]):
            raise ShapeError(located("block: the lists have different depths, or one is empty"))
        level, depth = [part for one in level for part in one], depth + 1
    return depth, level


def delete(arr: TensorLike, obj: Any, axis: int | None = None) -> TensorVariable:
    """Return an array without some of its parts along an axis (axis=None: of the flattened array).

    obj: an integer, several, a slice, or a mask. Raises `AxisError` if an integer is out of range,
    `DTypeError`.

    >>> delete([[1, 2, 3], [4, 5, 6]], 1, axis=1).eval()
    array([[1, 3],
           [4, 6]])
    """
    x = as_tensor_variable(arr)
    x, axis = (flatten(x), 0) if axis is None else (x, axis)
    number = normalize_axis(axis, x.type.ndim)
    n = x.type.shape[number]
    if n is not None and not isinstance(obj, Variable):
        try:
            kept = np.delete(np.arange(n), obj)
        except IndexError as error:
            raise AxisError(located(f"delete: {error}", inputs=[x])) from None
        return x[slice_at_axis(kept, number)]
    gone = obj if isinstance(obj, slice) else as_indices(obj)
    mask = ones(lengths(x)[number], dtype="bool")[gone].set(False)
    return x[slice_at_axis(mask, number)]


def extract(condition: TensorLike, arr: TensorLike) -> TensorVariable:
    """Return the elements where a condition is true, as a vector.

    >>> extract([[True, False], [False, True]], [[1, 2], [3, 4]]).eval()
    array([1, 4])
    """
    return flatten(as_tensor_variable(arr))[m.neq(flatten(as_tensor_variable(condition)), 0)]


def argwhere(a: TensorLike) -> TensorVariable:
    """Return the positions of the nonzero elements, one in each row (int64). Raise `NDimError` for
    a 0-d array.
    """
    return stack(nonzero(a), axis=1)


def diagflat(v: TensorLike, k: int = 0) -> TensorVariable:
    """Return a matrix with the elements of an array on its diagonal `k`, and 0 elsewhere."""
    return diag(flatten(as_tensor_variable(v)), k)


def ix_(*args: Any) -> tuple[TensorVariable, ...]:
    """Return index vectors in shapes that select all of their combinations: `x[ix_(i, j)]`.

    A mask selects the positions where it is true. Raises `NDimError`, `DTypeError`.

    >>> from rewrite_engine.tensor import as_tensor_variable
    >>> as_tensor_variable([[1, 2, 3], [4, 5, 6]])[ix_([1, 0], [2, 0])].eval()
    array([[6, 4],
           [3, 1]])
    """
    vectors = []
    for k, arg in enumerate(args):
        x = as_tensor_variable(as_indices(arg) if isinstance(arg, Sequence) else arg)
        if x.type.ndim != 1:
            raise NDimError(located("ix_: takes vectors", inputs=[x]))
        if x.type.kind not in "iub":
            raise DTypeError(located("ix_: takes integers or booleans", inputs=[x]))
        x = nonzero(x)[0] if x.type.kind == "b" else x
        vectors.append(x.dimshuffle(*["x"] * k, 0, *["x"] * (len(args) - k - 1)))
    return tuple(vectors)
