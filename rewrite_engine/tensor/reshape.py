"""`Reshape`: the elements of an array in another shape; `flatten` and `ravel`.

Dimensions of length 1 are added and dropped by `tensor/dimshuffle.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.errors import DTypeError, ShapeError
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.batch import batch_ranks
from rewrite_engine.tensor.constant import as_tensor_variable, weak_constant
from rewrite_engine.tensor.math import floor_div, mul
from rewrite_engine.tensor.op import Computed, Linear, Shapes
from rewrite_engine.tensor.shape import (
    check_dim_types,
    dim_template,
    shape_dims,
    shape_i,
    shape_tuple,
    template_lengths,
)
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["Reshape", "flatten", "is_flat", "ravel", "reshape"]


class Reshape(Linear):
    """Elements of an array, in C order, in another shape; a view if possible.

    shape: for each dimension of the result its length, -1 (at most once) for the remaining length,
    or "i" if the length is the next input after the array. Raises `ShapeError` if the numbers of
    elements differ: while building the graph if that is known, else at run time.
    """

    moves_only = True
    elements = slice(0, 1)
    may_fail = True
    __props__ = ("shape",)
    view_map = {0: [0]}
    nin = None
    samples: Sequence[Any] = (
        ({"shape": (3, 2)}, (2, 3)),
        ({"shape": (2, -1)}, (4, 3)),
        ({"shape": ("i", -1, "i")}, (2, 3), 3, 1),
        ({"shape": ()}, (1, 1)),
        ({"shape": (0, 4)}, (2, 0)),
    )

    def __init__(self, shape: Sequence[int | str]) -> None:
        self.shape = tuple(shape)
        self.implied = {"distinct": "distinct", "fits": partial(_fits, self.shape)}
        if self.shape.count(-1) > 1:
            raise ShapeError(located(f"Reshape: only one length in {self.shape} can be -1"))
        if any(not isinstance(s, str) and s < -1 for s in self.shape):
            raise ShapeError(located(f"Reshape: a length in {self.shape} is negative"))

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the lengths; the remaining length (-1) is a quotient of products."""
        type_, *dims = types
        check_dim_types(dims, self.shape.count("i"))
        wanted = [None if n == "i" else n for n in self.shape]
        if as_many(type_.shape, wanted) is False:
            what = (
                f"type {type_} cannot take the shape {self.shape}: the numbers of elements differ"
            )
            raise ShapeError(what)
        (have, more), (want, others) = _factors(type_.shape), _factors(wanted)
        lengths = template_lengths(self.shape)
        if others.total() == 1 and not more:
            lengths = [have // want if n in (None, -1) else n for n in wanted]
        elif -1 in lengths:
            parts = [*[(0, i) for i in range(type_.ndim)], *[n for n in lengths if n != -1]]
            lengths[lengths.index(-1)] = Computed(partial(_quotient, type_.ndim), parts)
        return Shapes([lengths])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Apply the op to a batch; a -1 becomes the length for one element of the batch, as the
        batch may be empty.
        """
        (n, *others), lengths = batch_ranks(node, inputs), iter(inputs[1:])
        if any(others):
            return None
        x, have = inputs[0], shape_tuple(inputs[0])
        wanted = [next(lengths) if k == "i" else k for k in self.shape]
        if -1 in self.shape:
            at = self.shape.index(-1)
            left = node.outputs[0].type.shape[at]
            if left is None:
                parts = [*have[n:], *wanted[:at], *wanted[at + 1 :]]
                left = _quotient(len(have) - n, *parts)
            wanted[at] = -1 if left is None else left
        return [reshape(x, [*have[:n], *wanted])]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        x, dims = inputs[0], iter(inputs[1:])
        want = tuple([int(next(dims)) if s == "i" else int(s) for s in self.shape])
        try:
            if any(w < 0 for w, s in zip(want, self.shape, strict=True) if s == "i"):
                raise ValueError("a length given by a variable is negative")
            output_storage[0][0] = np.reshape(x, want)
        except ValueError as error:
            what = f"an array of shape {np.shape(x)} cannot take the shape {want}: {error}"
            self.fail(node, what)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [reshape_like(output_gradients[0], inputs[0]), *[disconnected() for _ in inputs[1:]]]

    def __str__(self) -> str:
        return f"Reshape{{{', '.join(map(str, self.shape))}}}"


def _fits(shape: Sequence[Any], f: Any, x: Any, *sizes: Any) -> Any:
    """Return evidence that the numbers of elements are equal, whatever the lengths are."""
    given, want = iter(sizes), list[Any]()
    have = [f.length(x, i).value for i in range(x.type.ndim)]
    for n in shape:
        want += _factors_read(f, next(given)) if n == "i" else [n]
    if as_many(have, want):
        return f.because("there are as many elements")
    return f.unknown("Reshape may raise an error: the numbers of elements may differ", blame=x)


def _factors_read(f: Any, size: Any) -> list[Any]:
    """Return the lengths whose product a number is; None for a factor that is no length."""
    n = f.length_read(size)
    if n is None and size.owner is not None and size.owner.op is mul:
        return [n for factor in size.owner.inputs for n in _factors_read(f, factor)]
    return [None if isinstance(n, int) and n < 0 else n]


def as_many(have: Sequence[Any], want: Sequence[Any]) -> bool | None:
    """Return whether arrays of these shapes have equally many elements; None if unknown.

    Lengths: integers; None, which may be any; and other objects, which are equal if the lengths
    are. A -1 in `want` is the remaining length.

    >>> as_many((2, "n", 3), ("n", 6)), as_many((None, 3), (2, 5)), as_many((4, "n"), (2, -1))
    (True, False, True)
    """
    (h, more), (w, others) = _factors(have), _factors(want)
    if others.keys() == {-1} and h % w == 0:
        return True
    if not (more or others):
        return h == w and (-1 not in want or None)  # of nothing, what is left over is not known
    if more == others and None not in more:
        return h == w or None
    if more and others:
        return None
    return False if (h % w if others else w % h) else None


def _factors(lengths: Sequence[Any]) -> tuple[int, Counter[Any]]:
    """Return the product of the known lengths, and the list of the others; no others if a length is
    0.
    """
    known = math.prod([n for n in lengths if isinstance(n, int) and n != -1])
    return known, Counter([n for n in lengths if n == -1 or not isinstance(n, int)] * bool(known))


def _quotient(split: int, *lengths: Any) -> Any:
    """Return the product of the first lengths, divided by that of the others; None if that is 0."""
    if all(isinstance(n, int) for n in lengths):
        known = math.prod(lengths[split:])
        return math.prod(lengths[:split]) // known if known else None
    have, want = product(lengths[:split]), product(lengths[split:])
    return have if len(lengths) == split else floor_div(have, want)


def product(factors: Sequence[Any]) -> Any:
    """Return the product of lengths, as one variadic `mul`."""
    if all(isinstance(f, int | Constant) for f in factors):
        return weak_constant(math.prod([int(f) for f in factors]), "int64")
    return factors[0] if len(factors) == 1 else mul(*factors)


def reshape(x: TensorLike, newshape: TensorLike, ndim: int | None = None) -> TensorVariable:
    """Return the elements of `x`, in C order, in another shape.

    newshape: integers, at most one of them -1 (the remaining length), and 0-d integer variables; or
    a vector variable of known length (or of length `ndim`). Raises `ShapeError` if the numbers of
    elements differ.

    >>> from rewrite_engine.tensor import tensor
    >>> reshape(tensor(shape=(4, 3)), (2, -1)).type
    TensorType(float64, (2, 6))
    """
    x = as_tensor_variable(x)
    if ndim is not None and isinstance(newshape, Variable) and newshape.type.shape == (None,):
        newshape = [newshape[i] for i in range(ndim)]  # type: ignore[index]
    template, dims = dim_template(shape_dims(newshape))
    if ndim is not None and len(template) != ndim:
        raise ShapeError(located(f"reshape: newshape has {len(template)} lengths, but ndim={ndim}"))
    return Reshape(template)(x, *dims)


def reshape_like(x: Any, like: Any) -> Any:
    """Return `x` in the shape of `like`, which must have equally many elements."""
    known = like.type.shape
    if known.count(None) == 1 and 0 not in known:
        return Reshape([-1 if s is None else s for s in known])(x)
    return reshape(x, shape_tuple(like))


def flatten(x: TensorLike, ndim: int = 1) -> TensorVariable:
    """Return `x` with its last dimensions joined, so that `ndim` dimensions remain. Raise
    `ShapeError`, `DTypeError`.
    """
    x = as_tensor_variable(x)
    if not isinstance(ndim, int):
        raise DTypeError(located(f"flatten: ndim must be an integer, not {ndim!r}"))
    if not 1 <= ndim <= max(x.type.ndim, 1):
        raise ShapeError(
            located(
                f"flatten: ndim must be from 1 to the number of dimensions, not {ndim}", inputs=[x]
            )
        )
    if x.type.ndim == ndim:
        return x
    kept = [shape_i(x, i) for i in range(ndim - 1)]
    static = x.type.shape[: ndim - 1]
    last = -1 if 0 not in static and None not in static else product(shape_tuple(x)[ndim - 1 :])
    return reshape(x, [*kept, last])


def is_flat(var: TensorLike, ndim: int = 1) -> bool:
    """Return whether `var` has `ndim` dimensions, so that `flatten(var, ndim)` is `var`."""
    return bool(as_tensor_variable(var).type.ndim == ndim)


def ravel(x: TensorLike) -> TensorVariable:
    """Return the elements of `x` as a vector, in C order."""
    return flatten(x, 1)
