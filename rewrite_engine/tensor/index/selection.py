"""Selection of elements by numbers and conditions: `take`, `take_along_axis`, `choose`, `compress`,
`nonzero`, `ravel_multi_index`, …

Reading elements is indexing (`tensor/index/gather.py`), which has the gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import (
    AxisError,
    DTypeError,
    NDimError,
    OptionError,
    ShapeError,
    dimensions,
)
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.broadcast import broadcast
from rewrite_engine.tensor.constant import as_tensor_variable, constant
from rewrite_engine.tensor.creation import arange, zeros_like
from rewrite_engine.tensor.dimshuffle import shape_padleft, slice_at_axis
from rewrite_engine.tensor.index.template import as_indices
from rewrite_engine.tensor.op import NoGradient, Shapes, behind_batch
from rewrite_engine.tensor.reshape import flatten
from rewrite_engine.tensor.running import one_axis
from rewrite_engine.tensor.shape import lengths, shape_dims, specify_shape
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "Nonzero", "RavelMultiIndex", "UnravelIndex", "choose", "compress", "diag_indices",
    "diag_indices_from", "flatnonzero", "inverse_permutation", "nonzero", "nonzero_values",
    "permute_row_elements", "piecewise", "ravel_multi_index", "select", "take",
    "take_along_axis", "unravel_index", "where",
]  # fmt: skip

_MODES = ("raise", "wrap", "clip")


# --- positions --------------------------------------------------------------------------------


class Nonzero(NoGradient):
    """Positions of all nonzero elements: one vector of int64 per dimension, in C order.

    ndim: the number of dimensions, at least 1. Raises `NDimError`.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ("ndim",)
    only_lengths = True
    samples: Sequence[Any] = (({"ndim": 2}, [[0, 1], [2, 0]]), ({"ndim": 1}, [0, 3, 0]))

    def __init__(self, ndim: int) -> None:
        self.ndim = self.nout = ndim

    def dtypes(self, *types: TensorType) -> list[str]:
        return ["int64"] * self.ndim

    def shapes(self, *types: TensorType) -> Shapes:
        """Return one unknown length, which depends on the values."""
        if types[0].ndim != self.ndim:
            raise NDimError(f"takes an array with {dimensions(self.ndim)}, not type {types[0]}")
        return Shapes([[None]] * self.ndim)

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return one comparison per element."""
        return math.prod(inputs[0])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        for cell, found in zip(output_storage, np.nonzero(inputs[0]), strict=True):
            cell[0] = found.copy()  # they are columns of one array


@overload
def nonzero(a: TensorLike, return_matrix: Literal[False] = False) -> tuple[TensorVariable, ...]: ...
@overload
def nonzero(a: TensorLike, return_matrix: Literal[True]) -> TensorVariable: ...
def nonzero(a: TensorLike, return_matrix: bool = False) -> Any:
    """Return the positions of all nonzero elements, one vector per dimension.

    return_matrix: return them as the rows of one matrix. Raises `NDimError` for a 0-d array.

    >>> [i.eval().tolist() for i in nonzero([[0, 1], [2, 0]])]
    [[0, 1], [1, 0]]
    """
    x = as_tensor_variable(a)
    if not x.type.ndim:
        what = "nonzero: takes an array with at least one dimension"
        raise NDimError(located(what, inputs=[x], hint="use atleast_1d"))
    if isinstance(x, Constant):
        found = [constant(i) for i in np.nonzero(x.data)]
    else:
        found = Nonzero(x.type.ndim)(x, return_list=True)
    if not return_matrix:
        return tuple(found)
    from rewrite_engine.tensor.shaping.joins import stack

    return stack(found)


def flatnonzero(a: TensorLike) -> TensorVariable:
    """Return the positions of all nonzero elements in the flattened array (C order).

    >>> flatnonzero([[0, 1], [2, 0]]).eval()
    array([1, 2])
    """
    return nonzero(_flat(a))[0]


def _flat(x: Any) -> Any:
    """Return all elements as a vector; a constant remains a constant."""
    x = as_tensor_variable(x)
    return constant(x.data.reshape(-1)) if isinstance(x, Constant) else flatten(x)


@overload
def where(cond: TensorLike, ift: None = None, iff: None = None) -> tuple[TensorVariable, ...]: ...
@overload
def where(cond: TensorLike, ift: TensorLike, iff: TensorLike) -> TensorVariable: ...
def where(cond: Any, ift: Any = None, iff: Any = None) -> Any:
    """Return `ift` where the condition is not 0, else `iff`; with a condition alone, its `nonzero`.

    >>> where([True, False], [1, 2], 0).eval(), where([0, 3])[0].eval()
    (array([1, 0]), array([1]))
    """
    return nonzero(cond) if ift is None and iff is None else m.switch(cond, ift, iff)


def nonzero_values(a: Any) -> TensorVariable:
    """Return the nonzero elements as a vector in C order.

    >>> nonzero_values([[0, 1], [2, 0]]).eval()
    array([1, 2])
    """
    return flatten(a)[flatnonzero(a)]


# --- elements ---------------------------------------------------------------------------------


def _in_range(indices: Any, n: Any, mode: str) -> Any:
    """Return indices that `x[...]` accepts, as `mode` says. Raise `OptionError` for an unknown
    mode.
    """
    if mode not in _MODES:
        raise OptionError(f"mode must be one of {_MODES}, not {mode!r}")
    i = as_indices(indices)
    if i.type.kind == "b":
        i = m.cast(i, "int64")
    if i.type.kind not in "iu":
        raise DTypeError(located(f"indices must be integers, not {i.type.dtype}", inputs=[i]))
    return i if mode == "raise" else m.mod(i, n) if mode == "wrap" else m.clip(i, 0, n - 1)


def take(
    a: TensorLike, indices: Any, axis: int | None = None, mode: str = "raise"
) -> TensorVariable:
    """Return the elements of `a` at integers along `axis`; by default of the flattened array (C
    order).

    The shape of `indices` replaces that dimension. mode: treatment of integers out of range:
    "raise" an error (negative ones count from the end), "wrap" around, "clip". Raises `AxisError`,
    `DTypeError`, `OptionError`.

    >>> take([[1, 2, 3], [4, 5, 6]], [2, 0], axis=1).eval()
    array([[3, 1],
           [6, 4]])
    """
    x, axis = one_axis(as_tensor_variable(a), axis)
    return x[slice_at_axis(_in_range(indices, lengths(x)[axis], mode), axis)]


def take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None = 0) -> TensorVariable:
    """Return, for each line of `arr` along `axis`, the elements at the integers in the same line of
    `indices`.

    Both have equally many dimensions; those other than `axis` broadcast. axis=None: the flattened
    array (C order). Raises `NDimError`, `AxisError`, `DTypeError`.

    >>> take_along_axis([[1, 2], [3, 4]], [[0], [1]], axis=1).eval()
    array([[1],
           [4]])
    """
    i = _in_range(indices, None, "raise")
    x, axis = one_axis(as_tensor_variable(arr), axis)
    if i.type.ndim != x.type.ndim:
        what = f"take_along_axis: indices have {dimensions(i.type.ndim)}, the array {x.type.ndim}"
        raise NDimError(located(what, inputs=[x, i]))
    return x[_along(x, i, axis)]


def _along(x: Any, at: Any, axis: int) -> tuple[Any, ...]:
    """Return an index with `at` along one axis, and 0, 1, … along each of the others."""
    ndim = x.type.ndim
    places: list[Any] = []
    for k, n in enumerate(lengths(x)):
        order = [*["x"] * k, 0, *["x"] * (ndim - k - 1)]
        places.append(at if k == axis else arange(n).dimshuffle(*order))
    return tuple(places)


def choose(a: Any, choices: TensorLike, mode: str = "raise") -> TensorVariable:
    """Return an array whose elements are those of `choices[k]` at the same position, where k is the
    element of `a`.

    All arrays broadcast. choices: a list of arrays, or one array with one choice per element of its
    first dimension. mode: treatment of integers out of range: "raise" an error (also for negative
    ones), "wrap" around, "clip". Raises `AxisError`, `DTypeError`, `OptionError`.

    >>> choose([0, 1, 1], [[1, 2, 3], 10]).eval()
    array([ 1, 10, 10])
    """
    if isinstance(choices, (list, tuple)):
        from rewrite_engine.tensor.shaping.joins import stack

        arrays = [as_tensor_variable(c) for c in choices]
        ndim = max([c.type.ndim for c in arrays], default=0)
        arrays = [shape_padleft(c, ndim - c.type.ndim) for c in arrays]
        if len({c.type.broadcastable for c in arrays}) > 1:
            from rewrite_engine.tensor.shaping.rearrange import broadcast_arrays

            arrays = list(broadcast_arrays(*arrays))
        x = stack(arrays)
    else:
        x = as_tensor_variable(choices)
    n = lengths(x)[0]
    k = _in_range(a, n, mode)
    if mode == "raise":
        k = m.switch(m.lt(k, 0), n, k)  # which is out of range
    ndim = max(k.type.ndim, x.type.ndim - 1)
    x = x.dimshuffle(0, *["x"] * (ndim + 1 - x.type.ndim), *range(1, x.type.ndim))
    return take_along_axis(x, shape_padleft(k, ndim + 1 - k.type.ndim), 0)[0]


def compress(condition: Any, x: TensorLike, axis: int | None = None) -> TensorVariable:
    """Return the parts of `x` along `axis` at which the vector `condition` is true.

    axis: by default the flattened array. The condition may be shorter than the axis. Raises
    `NDimError`, `AxisError`.

    >>> compress([0, 1], [[1, 2], [3, 4]], axis=0).eval()
    array([[3, 4]])
    """
    condition = as_tensor_variable(condition)
    if condition.type.ndim != 1:
        raise NDimError(located("compress: the condition must be a vector", inputs=[condition]))
    return take(x, flatnonzero(condition), axis)


def inverse_permutation(perm: Any) -> TensorVariable:
    """Return the inverses of permutations of 0, …, n - 1 (along the last dimension).

    >>> inverse_permutation([2, 0, 1]).eval()
    array([1, 2, 0])
    """
    p = as_indices(perm)
    if not p.type.ndim or p.type.kind not in "iu":
        raise DTypeError(located("inverse_permutation: takes arrays of integers", inputs=[p]))
    numbers = m.cast(arange(lengths(p)[-1]), p.type.dtype)
    part = zeros_like(p)[_along(p, p, p.type.ndim - 1)]
    return part.set(numbers)


def permute_row_elements(x: Any, y: Any, inverse: bool = False) -> TensorVariable:
    """Return `x` with its elements along the last dimension in the order of `y`, which broadcasts.

    inverse: apply the inverse order.
    """
    x, y = as_tensor_variable(x), as_indices(y)
    if inverse:
        y = inverse_permutation(y)
    ndim = max(x.type.ndim, y.type.ndim)
    x, y = [shape_padleft(v, ndim - v.type.ndim) for v in (x, y)]
    return take_along_axis(x, y, ndim - 1)


# --- several indices as one number ------------------------------------------------------------


class UnravelIndex(NoGradient):
    """Indices, per dimension, of elements of an array that are given by number (int64).

    Inputs: the numbers, and the shape as a vector of known length. order: "C", or "F" where the
    first index changes fastest. Raises `DTypeError`, `NDimError`, `AxisError` for a number that is
    out of range.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ("ndim", "order")
    nin = 2
    may_fail = True
    samples: Sequence[Any] = (
        ({"ndim": 2}, [[5, 0]], [2, 3]),
        ({"ndim": 2, "order": "F"}, [5, 1], [2, 3]),
        ({"ndim": 1}, 3, [4]),
    )

    def __init__(self, ndim: int, order: str = "C") -> None:
        self.ndim = self.nout = ndim
        self.order: Any = _order(order)

    def dtypes(self, *types: TensorType) -> list[str]:
        check_integers(types)
        return ["int64"] * self.ndim

    def shapes(self, *types: TensorType) -> Shapes:
        numbers, sizes = types
        if sizes.ndim != 1:
            raise NDimError(f"the shape must be a vector, not type {sizes}")
        same = [(0, i) for i in range(numbers.ndim)]
        return Shapes([same] * self.ndim, [[(1, 0), self.ndim]])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Apply the op to a batch of numbers; one by one if the shape has a batch."""
        return None if inputs[1].type.ndim > 1 else self.make_node(*inputs).outputs

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return one division (4) for each index."""
        return 4 * self.ndim * math.prod(inputs[0])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        self.check(node, inputs)
        try:
            found = np.unravel_index(inputs[0], tuple(inputs[1].tolist()), order=self.order)
        except ValueError as error:
            self.fail(node, str(error), AxisError)
        for cell, value in zip(output_storage, found, strict=True):
            cell[0] = np.array(value, "int64")


class RavelMultiIndex(NoGradient):
    """Numbers of elements of an array, given by their indices (int64).

    Inputs: one array of indices per dimension (they broadcast), and the shape as a vector. mode,
    order: see `ravel_multi_index`. Raises `DTypeError`, `NDimError`, `AxisError`.
    """

    __props__ = ("mode", "order")
    nin = None
    may_fail = True
    samples: Sequence[Any] = (
        ({}, [1, 0], [2, 1], [2, 3]),
        ({"mode": "wrap", "order": "F"}, [3, 0], [[2], [-1]], [2, 3]),
        ({"mode": ("clip", "wrap")}, 5, -1, [2, 3]),
    )

    def __init__(self, mode: Any = "raise", order: str = "C") -> None:
        self.mode: Any = tuple(mode) if isinstance(mode, list) else mode
        self.order: Any = _order(order)
        for each in self.mode if isinstance(self.mode, tuple) else [self.mode]:
            if each not in _MODES:
                raise OptionError(f"mode must be one of {_MODES}, not {each!r}")

    def dtypes(self, *types: TensorType) -> list[str]:
        check_integers(types)
        return ["int64"]

    def shapes(self, *types: TensorType) -> Shapes:
        *given, sizes = types
        if sizes.ndim != 1:
            raise NDimError(f"the shape must be a vector, not type {sizes}")
        wanted, equal = broadcast([t.shape for t in given])
        return Shapes([wanted], [*equal, [(len(given), 0), len(given)]])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Apply the op to a batch, as elementwise ops do; one by one if the shape has a batch."""
        if inputs[-1].type.ndim > 1:
            return None
        ndim = max([v.type.ndim for v in node.inputs[:-1]], default=0)
        missing = [*[ndim - v.type.ndim for v in node.inputs[:-1]], 0]
        return [self(*behind_batch(node.inputs, inputs, missing))]

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return a product and a sum for each index."""
        return 2 * (len(inputs) - 1) * math.prod(outputs[0])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        self.check(node, inputs)
        *given, sizes = inputs
        try:
            found = np.ravel_multi_index(
                tuple(given), tuple(sizes.tolist()), mode=self.mode, order=self.order
            )
        except ValueError as error:
            self.fail(node, str(error), AxisError)
        output_storage[0][0] = np.array(found, "int64")


def check_integers(types: Sequence[TensorType]) -> None:
    """Raise `DTypeError` unless all types are integers."""
    for t in types:
        if t.kind not in "iu":
            raise DTypeError(f"takes integers, not {t.dtype}")


def _order(order: str) -> str:
    if order not in ("C", "F"):
        raise OptionError(f"order must be 'C' or 'F', not {order!r}")
    return order


def unravel_index(indices: TensorLike, dims: Any, order: str = "C") -> tuple[TensorVariable, ...]:
    """Return the indices, one array per dimension, of elements of an array of shape `dims` given by
    number.

    dims: integers and 0-d variables, or a vector variable of known length. order: "C", or "F" where
    the first index changes fastest. Raises `DTypeError`, `OptionError`, `AxisError` for a number
    that is out of range.

    >>> [i.eval().tolist() for i in unravel_index([5, 1], (2, 3))]
    [[1, 0], [2, 1]]
    """
    sizes = as_indices(shape_dims(dims))
    op = UnravelIndex(sizes.type.shape[0], order)
    return tuple(op(as_indices(indices), sizes, return_list=True))


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C"
) -> TensorVariable:
    """Return the numbers of elements of an array of shape `dims` from their indices: the inverse of
    `unravel_index`.

    multi_index: one array per dimension. mode: treatment of an index out of range: "raise" an
    error, "wrap" around, "clip"; or one mode per dimension. Raises `DTypeError`, `OptionError`,
    `AxisError`, `BroadcastError`.

    >>> ravel_multi_index(([1, 0], [2, 1]), (2, 3)).eval()
    array([5, 1])
    """
    if not isinstance(multi_index, (tuple, list)):
        x = as_tensor_variable(multi_index)
        if not x.type.ndim or x.type.shape[0] is None:
            what = "ravel_multi_index: the number of dimensions is unknown"
            raise ShapeError(located(what, inputs=[x], hint="pass a tuple"))
        multi_index = [x[i] for i in range(x.type.shape[0])]
    given = [as_indices(i) for i in multi_index]
    if isinstance(dims, Variable) and dims.type.ndim == 1:
        dims = specify_shape(dims, (len(given),))
    return RavelMultiIndex(mode, order)(*given, as_indices(shape_dims(dims)))


# --- choices ----------------------------------------------------------------------------------


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> TensorVariable:
    """Return the elements of the first choice whose condition is true, else of `default`. All
    broadcast.

    Raises `ValueError` for empty lists, or lists of different lengths.

    >>> select([[True, False, False], [True, True, False]], [1, 2], 3).eval()
    array([1, 2, 3])
    """
    if len(condlist) != len(choicelist) or not condlist:
        what = f"{len(condlist)} conditions and {len(choicelist)} choices"
        raise ValueError(located(f"select: takes equally many conditions and choices, not {what}"))
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = m.switch(as_tensor_variable(condition), choice, found)
    return found


def piecewise(
    x: TensorLike, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any
) -> TensorVariable:
    """Return an array in the dtype of `x` with the values of the last function whose condition is
    true.

    One more function than conditions is the default for elements without a true condition
    (otherwise 0). Functions may be numbers; args and kw are further arguments for them. Raises
    `ValueError`.

    >>> piecewise([-2.0, 3.0], [as_tensor_variable([-2.0, 3.0]) < 0], [lambda v: -v, 1.0]).eval()
    array([2., 1.])
    """
    x = as_tensor_variable(x)
    conditions = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    if not len(conditions) <= len(funclist) <= len(conditions) + 1:
        what = f"{len(conditions)} conditions and {len(funclist)} functions"
        raise ValueError(located(f"piecewise: {what} do not fit"))
    values = [
        m.cast(as_tensor_variable(f(x, *args, **kw) if callable(f) else f), x.type.dtype)
        for f in funclist
    ]
    found = values.pop() if len(values) > len(conditions) else zeros_like(x)
    for condition, value in zip(conditions, values, strict=True):
        found = m.switch(as_tensor_variable(condition), value, found)
    return found


def diag_indices(n: Any, ndim: int = 2) -> tuple[TensorVariable, ...]:
    """Return the indices of the diagonal of an array with `ndim` dimensions of length n."""
    return (arange(n),) * ndim


def diag_indices_from(arr: TensorLike) -> tuple[TensorVariable, ...]:
    """Return the indices of the diagonal of an array with at least two dimensions of equal length.

    Raises `NDimError`; `ShapeError` if the lengths are known to differ.
    """
    x = as_tensor_variable(arr)
    if x.type.ndim < 2:
        raise NDimError(
            located("diag_indices_from: takes an array with two dimensions or more", inputs=[x])
        )
    if len({n for n in x.type.shape if n is not None}) > 1:
        raise ShapeError(
            located("diag_indices_from: all dimensions must have equal lengths", inputs=[x])
        )
    return diag_indices(lengths(x)[0], x.type.ndim)
