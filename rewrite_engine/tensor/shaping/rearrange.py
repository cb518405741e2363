"""Repeating, flipping and regrouping arrays: `tile`, `repeat`, `roll`, `flip`, `broadcast_arrays`,
`join_dims`, `pack`, …

All are built from other ops, except `RepeatedPositions`, for `repeat` with a number per element.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import (
    AxisError,
    BroadcastError,
    DTypeError,
    NDimError,
    ShapeError,
    dimensions,
)
from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable, constant, weak_constant
from rewrite_engine.tensor.creation import alloc
from rewrite_engine.tensor.dimshuffle import (
    normalize_axes,
    normalize_axis,
    shape_padleft,
    slice_at_axis,
    transpose,
)
from rewrite_engine.tensor.index.subtensor import as_indices
from rewrite_engine.tensor.op import NoGradient, Shapes, Value
from rewrite_engine.tensor.reshape import flatten, product, reshape, reshape_like
from rewrite_engine.tensor.running import one_axis
from rewrite_engine.tensor.shape import (
    CheckedLength,
    as_length,
    larger,
    lengths,
    shape_dims,
    specify_shape,
)
from rewrite_engine.tensor.shaping.joins import join, make_vector, split, stack
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Axis, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "RepeatedPositions", "broadcast_arrays", "broadcast_shape", "concat_with_broadcast", "flip",
    "fliplr", "flipud", "join_dims", "pack", "repeat", "roll", "rot90", "split_dims", "stacklists",
    "tile", "unpack",
]  # fmt: skip


# --- repeating --------------------------------------------------------------------------------


class RepeatedPositions(NoGradient):
    """Numbers 0 to n - 1, each repeated as often as a vector of n integers says (int64).

    Inputs: n, and the vector. Raises `DTypeError`, `NDimError`, and `ShapeError` if the vector does
    not have length n or has negative numbers.
    """

    __props__ = ()
    nin = 2
    may_fail = True
    samples: Sequence[Any] = (({}, 3, [2, 0, 3]), ({}, 1, [4]))

    def dtypes(self, *types: TensorType) -> list[str]:
        for t in types:
            if t.kind not in "iub":
                raise DTypeError(f"takes integers, not {t.dtype}")
        return ["int64"]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return a length that is the sum of the numbers."""
        if [t.ndim for t in types] != [0, 1]:
            raise NDimError(f"takes a number and a vector, not types {types[0]} and {types[1]}")
        return Shapes([[None]], [[(1, 0), Value(0)]])

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return one sum per number of repetitions."""
        return math.prod(inputs[1])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        self.check(node, inputs)
        n, times = inputs
        if times.min(initial=0) < 0:
            self.fail(node, "a number of repetitions is negative")
        output_storage[0][0] = np.repeat(np.arange(n), times.astype("int64"))


def tile(A: TensorLike, reps: Any) -> TensorVariable:
    """Return copies of `A` joined: `reps[i]` of them along dimension i, as `numpy.tile`.

    reps: a number (along the last dimension), or one per dimension; 0-d variables are allowed, as
    is a vector variable of known length. Raises `DTypeError`, `ShapeError`.

    >>> from rewrite_engine.tensor import tensor
    >>> tile(tensor(shape=(2, 3)), (2, 1, 2)).type
    TensorType(float64, (2, 2, 6))
    """
    x = as_tensor_variable(A)
    times = [as_length(n) for n in shape_dims(reps)]
    ndim = max(len(times), x.type.ndim)
    x = shape_padleft(x, ndim - x.type.ndim)
    return _multiplied(x, [1] * (ndim - len(times)) + times, inner=False)


def _multiplied(x: Any, times: Sequence[Any], inner: bool) -> Any:
    """Return x with each dimension `times` as long. inner: put each element next to its copies."""
    order: list[Any] = []
    wide: list[Any] = []
    final: list[Any] = []
    for i, (n, t) in enumerate(zip(lengths(x), times, strict=True)):
        if t == 1 or n == 1:
            order.append(i)
            wide.append(n if t == 1 else t)
            final.append(wide[-1])
        else:
            order += [i, "x"] if inner else ["x", i]
            wide += [n, t] if inner else [t, n]
            final.append(product([n, t]))
    if all([t == 1 for t in times]):
        return x
    out = alloc(x.dimshuffle(*order), *wide)
    return out if len(wide) == len(final) else reshape(out, final)


def repeat(a: TensorLike, repeats: TensorLike, axis: int | None = None) -> TensorVariable:
    """Return `a` with each element along `axis` repeated; by default of the flattened array.

    repeats: a number, or a vector with one per element. Raises `DTypeError`, `NDimError`,
    `AxisError`, and `ShapeError` if the vector has another length or negative numbers.

    >>> repeat([1, 2], [2, 3]).eval()
    array([1, 1, 2, 2, 2])
    """
    x, axis = one_axis(as_tensor_variable(a), axis)
    times = as_indices(repeats)
    if times.type.ndim > 1:
        what = f"repeat: takes a number or a vector of them, not type {times.type}"
        raise NDimError(located(what, inputs=[x]))
    if times.type.shape == (1,):
        times = constant(times.data[0]) if isinstance(times, Constant) else times[0]
    if times.type.ndim:
        return x[slice_at_axis(_repeated_positions(lengths(x)[axis], times), axis)]
    every: list[Any] = [1] * x.type.ndim
    every[axis] = as_length(times)
    return _multiplied(x, every, inner=True)


def _repeated_positions(n: Any, times: Any) -> Any:
    """Return the repeated positions, as a constant if everything is known."""
    if not isinstance(times, Constant) or not isinstance(n, int) or times.type.kind not in "iub":
        return RepeatedPositions()(n, times)
    if times.data.size != n or times.data.min(initial=0) < 0:
        what = f"repeat: takes {n} numbers, none of them negative"
        raise ShapeError(located(what, inputs=[times]))
    return constant(np.repeat(np.arange(n), times.data))


# --- turning ----------------------------------------------------------------------------------


def roll(x: Any, shift: Any, axis: Any = None) -> TensorVariable:
    """Return `x` with its elements shifted by `shift` places; elements shifted past the end come
    first.

    axis: one dimension, or several; by default the flattened array (C order). shift: an integer, a
    0-d variable, or one per axis. Raises `AxisError`.

    >>> roll([1, 2, 3, 4], 1).eval()
    array([4, 1, 2, 3])
    """
    x = as_tensor_variable(x)
    if axis is None:
        return reshape_like(roll(flatten(x), shift, 0), x)
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    shifts = shape_dims(shift)
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        what = f"roll: {len(shifts)} shifts for {dimensions(len(axes))}"
        raise BroadcastError(located(what, inputs=[x]))
    longest = max(len(axes), len(shifts)) if axes and shifts else 0
    for k in range(longest):
        a, by = axes[k if len(axes) > 1 else 0], shifts[k if len(shifts) > 1 else 0]
        x = _rolled(x, as_length(by), normalize_axis(a, x.type.ndim))
    return x


def _rolled(x: Any, shift: Any, axis: int) -> Any:
    n = lengths(x)[axis]
    by = shift % larger(n, 1)
    first = n - by
    if isinstance(first, int) and by == 0:
        return x
    parts = [x[slice_at_axis(part, axis)] for part in (slice(first, None), slice(first))]
    out = join(axis, *parts)
    return specify_shape(out, x.type.shape) if isinstance(n, int) and out.type != x.type else out


def flip(arr: TensorLike, axis: Axis = None) -> TensorVariable:
    """Return `arr` reversed along one dimension, several, or (by default) all; a view. Raise
    `AxisError`.

    >>> flip([1, 2, 3]).eval()
    array([3, 2, 1])
    """
    x = as_tensor_variable(arr)
    axes = range(x.type.ndim) if axis is None else normalize_axes(axis, x.type.ndim)
    back = slice(None, None, -1)
    return x[tuple([back if i in axes else slice(None) for i in range(x.type.ndim)])]


def flipud(m: TensorLike) -> TensorVariable:
    """Return `m` with its rows in reverse order."""
    return flip(m, 0)


def fliplr(m: TensorLike) -> TensorVariable:
    """Return `m` with its columns in reverse order."""
    return flip(m, 1)


def rot90(m: TensorLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> TensorVariable:
    """Return `m` rotated by 90 degrees `k` times, from the first of two axes to the second. Raise
    `AxisError`.
    """
    x = as_tensor_variable(m)
    a, b = normalize_axes(axes, x.type.ndim, "axes")
    order = list(range(x.type.ndim))
    order[a], order[b] = b, a
    k %= 4
    if k % 2 == 0:
        return flip(x, (a, b)) if k else x
    return transpose(flip(x, b), order) if k == 1 else flip(transpose(x, order), b)


# --- broadcasting -----------------------------------------------------------------------------


def broadcast_shape(*arrays: Any, arrays_are_shapes: bool = False) -> tuple[TensorVariable, ...]:
    """Return the lengths to which arrays (or shapes) broadcast, as 0-d int64 variables.

    Only static lengths of 1 broadcast; others are compared at run time. Raises `BroadcastError`.

    >>> broadcast_shape((3, 1), (4,), arrays_are_shapes=True)
    (TensorConstant{3}, TensorConstant{4})
    """
    read = _given_lengths if arrays_are_shapes else _lengths_of
    return tuple([_compared(long) for long in _long([read(a) for a in arrays])])


def _given_lengths(shape: Any) -> list[Any]:
    return [as_length(n) for n in shape_dims(shape)]


def _lengths_of(x: Any) -> list[Any]:
    return lengths(as_tensor_variable(x))


def _long(shapes: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return, for each dimension of the result, the distinct lengths not known to be 1, an integer
    first. Raise `BroadcastError` for two integers.
    """
    result = []
    for axis in range(-max([len(s) for s in shapes], default=0), 0):
        here = [s[axis] for s in shapes if len(s) >= -axis and s[axis] != 1]
        known = {n for n in here if isinstance(n, int)}
        if len(known) > 1:
            what = f"cannot broadcast: dimension {axis} has the lengths {sorted(known)}"
            raise BroadcastError(located(what))
        result.append([*known, *dict.fromkeys([n for n in here if n not in known])] or [1])
    return result


def _compared(long: Sequence[Any]) -> Any:
    first = weak_constant(long[0], "int64") if isinstance(long[0], int) else long[0]
    return (
        first if len(long) == 1 else CheckedLength([len(long)], m.second)(first, first, *long[1:])
    )


def broadcast_arrays(*args: Any) -> tuple[TensorVariable, ...]:
    """Return the arrays broadcast to their common shape. Raise `BroadcastError`.

    >>> from rewrite_engine.tensor import tensor
    >>> [x.type.shape for x in broadcast_arrays(tensor(shape=(3, None)), tensor(shape=(2,)))]
    [(3, 2), (3, 2)]
    """
    xs = [as_tensor_variable(x) for x in args]
    compared = _long([lengths(x) for x in xs])
    shape = [_compared(long) for long in compared]
    known = tuple([long[0] if isinstance(long[0], int) else None for long in compared])
    if all([len(long) == 1 for long in compared]) and all([x.type.shape == known for x in xs]):
        return tuple(xs)
    out = [alloc(x, *shape) for x in xs]
    return tuple([specify_shape(x, known) if any(known) else x for x in out])


def concat_with_broadcast(tensor_list: Sequence[Any], axis: int = 0) -> TensorVariable:
    """Join arrays along `axis`; along the other dimensions they broadcast. Raise `NDimError`,
    `AxisError`, `BroadcastError`.
    """
    xs = [as_tensor_variable(x) for x in tensor_list]
    ndims = {x.type.ndim for x in xs}
    if len(ndims) != 1:
        raise NDimError(located("concat_with_broadcast: takes arrays with equally many dimensions"))
    at = normalize_axis(axis, ndims.pop())
    shapes = [lengths(x) for x in xs]
    shape = [long[0] for long in _long([[*s[:at], 1, *s[at + 1 :]] for s in shapes])]
    parts = zip(xs, shapes, strict=True)
    return join(at, *[alloc(x, *shape[:at], s[at], *shape[at + 1 :]) for x, s in parts])


def stacklists(arg: TensorLike) -> TensorVariable:
    """Return nested lists of variables and numbers as one array, with a dimension per level.

    >>> from rewrite_engine.tensor import scalar
    >>> stacklists([[scalar(), 1.0], [2.0, scalar()]]).type
    TensorType(float64, (2, 2))
    """
    if isinstance(arg, (tuple, list)):
        return stack([stacklists(item) for item in arg])
    return as_tensor_variable(arg)


# --- dimensions -------------------------------------------------------------------------------


def join_dims(x: TensorLike, start_axis: int = 0, n_axes: int | None = None) -> TensorVariable:
    """Return `x` with `n_axes` dimensions (by default: all) from `start_axis` on joined into one.

    n_axes=0 inserts a dimension of length 1. Raises `AxisError`.

    >>> from rewrite_engine.tensor import tensor
    >>> join_dims(tensor(shape=(2, 3, 4)), 1, 2).type
    TensorType(float64, (2, 12))
    """
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    start = ndim if start_axis == ndim else normalize_axis(start_axis, ndim)
    stop = ndim if n_axes is None else start + n_axes
    if not start <= stop <= ndim:
        what = f"join_dims: the array does not have {dimensions(stop - start)} from {start} on"
        raise AxisError(located(what, inputs=[x]))
    if stop == start + 1:
        return x
    sizes = lengths(x)
    joined = product(sizes[start:stop]) if stop > start else 1
    return reshape(x, [*sizes[:start], joined, *sizes[stop:]])


def split_dims(x: TensorLike, shape: Any, axis: int = 0) -> TensorVariable:
    """Return `x` with dimension `axis` split into dimensions of these lengths.

    shape: lengths; one may be -1 (the remaining length). Raises `AxisError`, `ShapeError`.

    >>> from rewrite_engine.tensor import tensor
    >>> split_dims(tensor(shape=(2, 12)), (3, -1), axis=1).type
    TensorType(float64, (2, 3, 4))
    """
    x = as_tensor_variable(x)
    at = normalize_axis(axis, x.type.ndim)
    sizes = lengths(x)
    parts = [as_length(n) for n in shape_dims(shape)]
    given = [n for n in parts if n != -1]
    if parts.count(-1) == 1 and all([isinstance(n, int) and n for n in (*given, sizes[at])]):
        parts[parts.index(-1)] = sizes[at] // math.prod(given)
    return reshape(x, [*sizes[:at], *parts, *sizes[at + 1 :]])


def pack(*tensors: Any, keep_axes: Any = None) -> tuple[TensorVariable, list[Any]]:
    """Return arrays joined along one dimension, and the shapes from which `unpack` restores them.

    keep_axes: common dimensions of all arrays, the first ones as 0, 1, … and the last ones as …,
    -2, -1; all others are flattened into one. Raises `AxisError`, `NDimError`, `ShapeError`.

    >>> from rewrite_engine.tensor import tensor
    >>> joined, shapes = pack(tensor(shape=(2, 3)), tensor(shape=(4,)))
    >>> joined.type, [x.type.shape for x in unpack(joined, shapes)]
    (TensorType(float64, (10,)), [(2, 3), (4,)])
    """
    first, last = _kept(keep_axes)
    flat, shapes = [], []
    for x in map(as_tensor_variable, tensors):
        joined = x.type.ndim - first - last
        if joined < 0:
            what = f"pack: keep_axes={keep_axes} requires at least {dimensions(first + last)}"
            raise NDimError(located(what, inputs=[x]))
        sizes = lengths(x)[first : first + joined]
        known = all([isinstance(n, int) for n in sizes])
        shapes.append(constant(np.array(sizes, "int64")) if known else make_vector(*sizes))
        flat.append(join_dims(x, first, joined))
    return join(first, *flat), shapes


def unpack(
    packed_input: TensorLike, packed_shapes: Sequence[Any], keep_axes: Any = None
) -> list[TensorVariable]:
    """Return the arrays that `pack` joined, from their shapes and the same `keep_axes`. Raise
    `AxisError`, `ShapeError`.
    """
    first, _ = _kept(keep_axes)
    shapes = [[as_length(n) for n in shape_dims(s)] for s in packed_shapes]
    pieces = split(packed_input, [product(s) for s in shapes], axis=first)
    return [split_dims(x, s, first) for x, s in zip(pieces, shapes, strict=True)]


def _kept(axes: Any) -> tuple[int, int]:
    """Return how many first and last dimensions are kept."""
    kept = [] if axes is None else [axes] if isinstance(axes, int) else list(axes)
    front, back = [a for a in kept if a >= 0], [a for a in kept if a < 0]
    if sorted(front) != [*range(len(front))] or sorted(back) != [*range(-len(back), 0)]:
        what = (
            f"keep_axes={axes}: write the first dimensions as 0, 1, …, the last ones as …, -2, -1"
        )
        raise AxisError(located(what))
    return len(front), len(back)
