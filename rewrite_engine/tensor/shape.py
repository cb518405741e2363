"""Shapes as values (`Shape`, `Shape_i`), and claims about them (`SpecifyShape`).

Changing the shape of an array is in `tensor/reshape.py`; rules on shapes are in the rule packs.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rewrite_engine.errors import (
    AxisError,
    BroadcastError,
    DTypeError,
    NDimError,
    ShapeError,
    SpecifiedShapeError,
    dimensions,
    message,
)
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.graph.op import ATOM, Op
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.bounds import LONGEST
from rewrite_engine.tensor.constant import as_tensor_variable, weak_constant
from rewrite_engine.tensor.dimshuffle import normalize_axes, normalize_axis
from rewrite_engine.tensor.math import cast, maximum, minimum
from rewrite_engine.tensor.op import Group, Linear, NoGradient, Shapes, Types, Value, same_shape
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "CheckedIndex",
    "CheckedLength",
    "Shape",
    "Shape_i",
    "SpecifyShape",
    "Unbroadcast",
    "addbroadcast",
    "get_vector_length",
    "patternbroadcast",
    "shape",
    "shape_i",
    "shape_tuple",
    "specify_broadcastable",
    "specify_shape",
    "unbroadcast",
]


class Shape(NoGradient):
    """Shape of an array, as an int64 vector."""

    __props__ = ()
    limits = (0, LONGEST)
    only_lengths = True
    samples: Sequence[Any] = (({}, (2, 3)), ({}, ()))

    def notation(self, args: Sequence[Any]) -> Any:
        """Return the term as formulas write it, `x.shape`."""
        return [(args[0], ATOM), ".shape"]

    def dtypes(self, *types: TensorType) -> list[str]:
        return ["int64"]

    def shapes(self, *types: TensorType) -> Shapes:
        return Shapes([[types[0].ndim]])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return the shape of each element of a batch: that of the whole without the batch
        dimensions.
        """
        return [self(inputs[0])[inputs[0].type.ndim - node.inputs[0].type.ndim :]]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = np.array(np.shape(inputs[0]), dtype=np.int64)


class Shape_i(NoGradient):  # noqa: N801 (the name of the field)
    """Length of dimension `i` of an array, as a 0-d int64."""

    __props__ = ("i",)
    limits = (0, LONGEST)
    only_lengths = True
    measures = True
    samples: Sequence[Any] = (({"i": 1}, (2, 3)),)

    def __init__(self, i: int) -> None:
        self.i = i

    def notation(self, args: Sequence[Any]) -> Any:
        """Return the term as formulas write it, such as `x.shape[0]`."""
        return [(args[0], ATOM), f".shape[{self.i}]"]

    def dtypes(self, *types: TensorType) -> list[str]:
        return ["int64"]

    def shapes(self, *types: TensorType) -> Shapes:
        if not 0 <= self.i < types[0].ndim:
            raise AxisError(f"type {types[0]} has no dimension {self.i}")
        return Shapes([()])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return the length of the corresponding dimension, after the batch."""
        return [shape_i(inputs[0], self.i + inputs[0].type.ndim - node.inputs[0].type.ndim)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = np.array(np.shape(inputs[0])[self.i], dtype=np.int64)


class CheckedLength(NoGradient):
    """Length that requires other lengths to be equal.

    It replaces the length of a term that is not computed and would have compared them. groups: how
    many of the inputs after the length must be equal to each other, in turn. compared: the op that
    would have compared them, for the message. Raises `BroadcastError` for an elementwise op, else
    `ShapeError`.
    """

    __props__ = ("groups", "compared")
    limits = (0, LONGEST)
    may_fail = True
    nin = None
    samples: Sequence[Any] = (({"groups": (2, 3), "compared": None}, 4, 3, 3, 5, 5, 5),)

    def __init__(self, groups: Sequence[int], compared: Op | None) -> None:
        self.groups = tuple(groups)
        self.compared = compared

    def dtypes(self, *types: TensorType) -> list[str]:
        check_dim_types(types, 1 + sum(self.groups))
        return ["int64"]

    def shapes(self, *types: TensorType) -> Shapes:
        return Shapes([()])

    def __str__(self) -> str:
        return "CheckedLength"

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of inputs to compare."""
        found, first = [], 1
        for size in self.groups:
            found += [(first, i) for i in range(first + 1, first + size)]
            first += size
        return found

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        if any(inputs[i] != inputs[j] for i, j in self.pairs()):
            self.refuse(node, inputs)
        output_storage[0][0] = np.array(inputs[0], dtype=np.int64)

    def refuse(self, node: Apply, inputs: Sequence[Any]) -> NoReturn:
        """Raise the error for lengths that differ."""
        i, j = next((i, j) for i, j in self.pairs() if inputs[i] != inputs[j])
        elementwise = getattr(self.compared, "scalar_op", None) is not None
        what = f"the shapes do not fit: lengths {int(inputs[i])} and {int(inputs[j])} differ"
        raise (BroadcastError if elementwise else ShapeError)(
            message(what, op=self.compared, where=node.where())
        )


class CheckedIndex(NoGradient):
    """Position of an index in a dimension: `CheckedIndex()(i, n)` is i, or n + i if i is negative.

    It replaces an index of a term that is not computed. Raises `AxisError` for an index that is out
    of range.
    """

    __props__ = ()
    limits = (0, LONGEST)
    may_fail = True
    nin = 2
    samples: Sequence[Any] = (({}, 2, 5), ({}, -5, 5))

    def dtypes(self, *types: TensorType) -> list[str]:
        check_dim_types(types, 2)
        return ["int64"]

    def shapes(self, *types: TensorType) -> Shapes:
        return Shapes([()])

    def is_total(self, node: Apply) -> bool:
        """Return whether the index is a number in the range of a known length."""
        i, n = [getattr(v, "number", None) for v in node.inputs]
        return i is not None and n is not None and bool(-n <= i < n)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        i, n = inputs
        if not -n <= i < n:
            self.refuse(node, inputs)
        output_storage[0][0] = np.array(i if i >= 0 else i + n, dtype=np.int64)

    def refuse(self, node: Apply, inputs: Sequence[Any]) -> NoReturn:
        """Raise the error for an index that is out of range."""
        i, n = inputs
        what = f"index {int(i)} is out of range for a dimension of length {int(n)}"
        raise AxisError(message(what, op=self, where=node.where()))


class SpecifyShape(Linear):
    """Array with a claim about its shape that is checked at run time; a view.

    shape: for each dimension the length, None for no claim, or "i" if the length is the next input
    after the array. The static shape of the result combines the claim and the type of the array.
    Raises `SpecifiedShapeError` if the claim is false.
    """

    moves_only = True
    elements = slice(0, 1)
    implied = {"distinct": "distinct"}
    may_fail = True
    __props__ = ("shape",)
    view_map = {0: [0]}
    must_view_map = {0: 0}
    nin = None
    samples: Sequence[Any] = (({"shape": (2, None)}, (2, 3)), ({"shape": ("i", 3)}, (2, 3), 2))

    def __init__(self, shape: Sequence[int | str | None]) -> None:
        self.shape = tuple(shape)

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape rule: the claimed lengths must equal those of the array."""
        x, *dims = types
        if x.ndim != len(self.shape):
            what = f"type {x} cannot have the shape {self.shape}: it has {dimensions(x.ndim)}"
            raise NDimError(what)
        check_dim_types(dims, self.shape.count("i"))
        lengths = template_lengths(self.shape)
        equal = [[(0, i), n] for i, n in enumerate(lengths) if n is not None]
        return Shapes([[(0, i) if n is None else n for i, n in enumerate(lengths)]], equal)

    def misfit(self, types: Types, group: Group) -> type[ShapeError]:
        return SpecifiedShapeError

    def is_total(self, node: Apply) -> bool:
        """Return whether no claimed length is a variable."""
        return "i" not in self.shape

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Apply the op to a batch, without a claim about the batch dimensions."""
        x, *lengths = inputs
        if any(n.type.ndim for n in lengths):
            return None
        return [SpecifyShape((None,) * (x.type.ndim - len(self.shape)) + self.shape)(*inputs)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        if np.ndim(inputs[0]) != len(self.shape):
            what = f"the shape is {np.shape(inputs[0])}, but {self.shape} was specified"
            self.fail(node, what, SpecifiedShapeError)
        self.check(node, inputs)
        output_storage[0][0] = inputs[0]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [self(output_gradients[0], *inputs[1:]), *[disconnected() for _ in inputs[1:]]]

    def __str__(self) -> str:
        return f"SpecifyShape{{{', '.join(map(str, self.shape))}}}"


class Unbroadcast(Linear):
    """Array whose type does not state the lengths of `axes`, so that they do not broadcast; a
    view.
    """

    __props__ = ("axes",)
    view_map = {0: [0]}
    must_view_map = {0: 0}
    moves_only = True
    elements = slice(0, 1)
    only_lengths = True
    samples: Sequence[Any] = (({"axes": (0,)}, (1, 3)),)

    def __init__(self, axes: Sequence[int]) -> None:
        self.axes = tuple(axes)

    def infer_types(self, types: Types, numbers: Sequence[Any] = ()) -> Sequence[Any]:
        (found,) = super().infer_types(types)
        known = [None if i in self.axes else n for i, n in enumerate(found.shape)]
        return [TensorType(found.dtype, known)]

    def shapes(self, *types: TensorType) -> Shapes:
        return same_shape(types[0])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a batch, with the corresponding axes after the batch."""
        more = inputs[0].type.ndim - node.inputs[0].type.ndim
        return [Unbroadcast([i + more for i in self.axes])(*inputs)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = inputs[0]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        (x,), (g,) = inputs, output_gradients
        return [
            specify_shape(
                g, [x.type.shape[i] if i in self.axes else None for i in range(x.type.ndim)]
            )
        ]


_shape = Shape()


def shape(x: TensorLike) -> TensorVariable:
    """Return the shape of `x` as an int64 vector. `shape(x)[i]` reads one length."""
    return _shape(as_tensor_variable(x))


def _measured(x: Any) -> Any:
    """Return a variable that has lengths, such as a sparse matrix, unchanged; others as tensors."""
    is_other = isinstance(x, Variable) and x.type.ndim is not NO_RANK
    return x if is_other else as_tensor_variable(x)


def shape_i(x: Any, i: int) -> TensorVariable:
    """Return the length of dimension `i` as a 0-d int64: a constant if it is known."""
    x = _measured(x)
    axis = normalize_axis(i, x.type.ndim, "dimension")
    known = x.type.shape[axis]
    return Shape_i(axis)(x) if known is None else weak_constant(known, "int64")


def shape_tuple(x: Any) -> tuple[TensorVariable, ...]:
    """Return the lengths of all dimensions as 0-d int64 variables, constants if known."""
    x = _measured(x)
    return tuple([shape_i(x, i) for i in range(x.type.ndim)])


def lengths(x: Any) -> list[Any]:
    """Return the lengths of all dimensions: integers if known, else 0-d int64 variables."""
    return [shape_i(x, i) if n is None else n for i, n in enumerate(x.type.shape)]


def specify_shape(x: TensorLike, shape: TensorLike) -> TensorVariable:
    """Return `x` with a claim about its shape, checked at run time.

    shape: one entry per dimension: an integer, None for no claim, or a 0-d integer variable; an
    Ellipsis stands for dimensions without claim. Or a vector variable of known length. Returns `x`
    itself if the claim adds nothing. Raises `ShapeError` or `NDimError` if the claim contradicts
    the type.

    >>> from rewrite_engine.tensor import matrix
    >>> specify_shape(matrix("x"), (2, None)).type
    TensorType(float64, (2, None))
    """
    x = as_tensor_variable(x)
    given = shape_dims(shape)
    rest = [i for i, n in enumerate(given) if n is ...]
    for i in rest[:1]:
        given[i : i + 1] = [None] * (x.type.ndim - len(given) + 1)
    template, dims = dim_template(given, allow_none=True)
    if hasattr(type(x), "__apply_op__"):
        return SpecifyShape(template)(x, *dims)
    same = [t is None or t == s for t, s in zip(template, x.type.shape, strict=False)]
    if all(same) and len(template) == x.type.ndim:
        return x
    return SpecifyShape(template)(x, *dims)


def get_vector_length(v: TensorLike) -> int:
    """Return the number of elements of a vector (or a sequence). Raise `NDimError`, and
    `ShapeError` if it is unknown.

    >>> from rewrite_engine.tensor import matrix
    >>> get_vector_length(matrix("x").shape)
    2
    """
    x = as_tensor_variable(v)
    if x.type.ndim != 1:
        raise NDimError(located("get_vector_length: takes a vector", inputs=[x]))
    length: int | None = x.type.shape[0]
    if length is None:
        what = "get_vector_length: the length is unknown"
        raise ShapeError(located(what, inputs=[x], hint="use x.shape[0]"))
    return length


def specify_broadcastable(x: TensorLike, *axes: int) -> TensorVariable:
    """Return `x` with the claim that these dimensions have length 1. Raise `AxisError`, and
    `ShapeError` if one has another known length.
    """
    x = as_tensor_variable(x)
    ones = normalize_axes(axes, x.type.ndim)
    return specify_shape(x, tuple([1 if i in ones else None for i in range(x.type.ndim)]))


addbroadcast = specify_broadcastable  # as Theano calls it


def unbroadcast(x: TensorLike, *axes: int) -> TensorVariable:
    """Return `x` with a type that does not state the lengths of these dimensions, so they do not
    broadcast. Raise `AxisError`.

    >>> from rewrite_engine.tensor import row
    >>> unbroadcast(row("x"), 0).type
    TensorType(float64, (None, None))
    """
    x = as_tensor_variable(x)
    ones = [i for i in normalize_axes(axes, x.type.ndim) if x.type.shape[i] == 1]
    return Unbroadcast(ones)(x) if ones else x


def patternbroadcast(x: TensorLike, broadcastable: Sequence[bool]) -> TensorVariable:
    """Return `x` with a type that states for each dimension whether it has length 1.

    It applies `unbroadcast` where an entry is False, `specify_broadcastable` where it is True.
    Raises `NDimError` for another number of dimensions.
    """
    x = as_tensor_variable(x)
    if len(broadcastable) != x.type.ndim:
        what = f"patternbroadcast: takes one bool for each of {dimensions(x.type.ndim)}"
        raise NDimError(located(what, inputs=[x]))
    claimed = specify_broadcastable(x, *[i for i, one in enumerate(broadcastable) if one])
    return unbroadcast(claimed, *[i for i, one in enumerate(broadcastable) if not one])


# --- lengths, in shape rules -----------------------------------------------------------------


def larger(a: Any, b: Any) -> Any:
    """The larger of two lengths, integers or variables."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else maximum(a, b)


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two lengths, integers or variables."""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else minimum(a, b)


def as_length(n: Any) -> Any:
    """Return a number as an integer if known, else as a 0-d int64 variable. Raise `DTypeError`."""
    (known,), dims = dim_template([n])
    return dims[0] if dims else known


# --- shapes as arguments --------------------------------------------------------------------


def shape_dims(shape: Any) -> list[Any]:
    """Return a shape argument (one length, a sequence, or a vector variable) as a list of
    lengths.
    """
    if isinstance(shape, (tuple, list)):
        return [static_length(n) if isinstance(n, Variable) else n for n in shape]
    if isinstance(shape, np.ndarray):
        return [int(n) for n in np.atleast_1d(shape)]
    if not isinstance(shape, Variable):
        return [shape]
    shape = as_tensor_variable(shape)
    if shape.type.shape == (0,):
        return []
    if shape.type.ndim > 1 or shape.type.kind not in "iu":
        raise DTypeError(located("a shape must have an integer dtype", inputs=[shape]))
    if shape.type.ndim == 0:
        return [static_length(shape)]
    if isinstance(shape, Constant):
        return [int(n) for n in shape.data]
    length = shape.type.shape[0]
    if length is None:
        what = "the number of dimensions is unknown: a shape vector needs a known length"
        raise NDimError(located(what, inputs=[shape], hint="use specify_shape, or a tuple"))
    return [static_length(shape[i]) for i in range(length)]  # type: ignore[index]


def static_length(n: Any) -> Any:
    """Return a length such as `x.shape[i]` or `x.shape[1:][i]` as an integer if the type of x knows
    it; other lengths unchanged.
    """
    if not isinstance(n.type, TensorType):
        n = as_tensor_variable(n)
    rows: list[Any] = []  # of an index, or of slices around it
    node = n.owner
    while node is not None and len(node.inputs) == 1 and hasattr(node.op, "idx_list"):
        if len(node.op.idx_list) != 1 or isinstance(node.op.idx_list[0], str):
            return n
        rows.append(node.op.idx_list[0])
        node = node.inputs[0].owner
    if node is None or not isinstance(node.op, Shape) or not rows:
        return n
    known: Any = node.inputs[0].type.shape
    for at in reversed(rows):
        known = known[slice(*at) if isinstance(at, tuple) else at]
    return known if type(known) is int else n


def dim_template(
    dims: Sequence[Any], allow_none: bool = False
) -> tuple[tuple[Any, ...], list[Any]]:
    """Split lengths into a template (known integers, None, "i" for an input) and the inputs.

    Raises `DTypeError` for a length that is not an integer.
    """
    template: list[Any] = []
    inputs: list[Any] = []
    for d in dims:
        if d is None and allow_none:
            template.append(None)
            continue
        if isinstance(d, Variable) and not isinstance(d, Constant):
            check_dim_types([d.type], 1)
            template.append("i")
            inputs.append(cast(d, "int64"))
        elif hasattr(type(d), "__apply_op__"):
            template.append("i")
            inputs.append(d)
        else:
            template.append(_static_length(d))
    return tuple(template), inputs


def _static_length(d: Any) -> int:
    """Return a known length as a Python integer."""
    value = d.data if isinstance(d, Constant) else d
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise DTypeError(located(f"a length must be an integer, not {d!r}"))
    return int(value.__index__())


def template_lengths(template: Sequence[Any], first: int = 1) -> list[Any]:
    """Return the lengths of a template for a shape rule (`tensor/op.py`). first: the input for the
    first "i".
    """
    inputs = itertools.count(first)
    return [Value(next(inputs)) if n == "i" else n for n in template]


def check_dim_types(types: Sequence[Any], number: int) -> None:
    """Raise `DTypeError` unless there are `number` types, all of 0-d integers."""
    if len(types) != number:
        raise DTypeError(f"takes {number} lengths, not {len(types)}")
    for t in types:
        if not isinstance(t, TensorType) or t.ndim != 0 or t.kind not in "iu":
            raise DTypeError(located(f"a length must be a 0-d integer, not type {t}"))
