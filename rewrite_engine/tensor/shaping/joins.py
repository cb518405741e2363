"""`Join` and `MakeVector`, which join arrays, and `Split`, which splits one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.errors import DTypeError, NDimError, ShapeError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.batch import all_stretched, batch_ranks
from rewrite_engine.tensor.constant import (
    as_tensor_variable,
    has_pattern,
    have_ranks,
    is_plain,
)
from rewrite_engine.tensor.creation import filling_number
from rewrite_engine.tensor.dimshuffle import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    expand_dims,
    normalize_axis,
)
from rewrite_engine.tensor.index.subtensor import gradient_zeros
from rewrite_engine.tensor.math import add, cast, second
from rewrite_engine.tensor.op import Computed, Linear, Shapes, TensorOp
from rewrite_engine.tensor.reshape import flatten
from rewrite_engine.tensor.shape import (
    check_dim_types,
    dim_template,
    shape_dims,
    shape_tuple,
    template_lengths,
)
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "Join",
    "MakeVector",
    "Split",
    "column_stack",
    "concatenate",
    "dstack",
    "horizontal_stack",
    "hstack",
    "join",
    "make_vector",
    "split",
    "stack",
    "vertical_stack",
    "vstack",
]


def upcast(types: Sequence[TensorType]) -> str:
    """Return the dtype that holds the values of all types (NumPy's promotion)."""
    return np.result_type(*[t.numpy_dtype for t in types]).name


class Join(TensorOp):
    """Concatenation of arrays along an existing dimension.

    axis: the dimension, counted from 0. The inputs have equally many dimensions (`NDimError`) and
    equal lengths except along `axis` (`ShapeError`); the dtype is promoted.
    """

    moves_only = True
    elements = slice(None)
    __props__ = ("axis",)
    nin = None
    only_lengths = True
    samples: Sequence[Any] = (
        ({"axis": 1}, (2, 3), (2, 1), (2, 0)),
        ({"axis": 0}, (3,)),
        ({"axis": 0}, (2, 3), (4, 3)),
    )

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def dtypes(self, *types: TensorType) -> list[str]:
        return [upcast(types)]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape rule: lengths add up along the axis, and are equal otherwise."""
        if not types:
            raise ShapeError("takes at least one array")
        ndim, axis = types[0].ndim, self.axis
        if any(t.ndim != ndim for t in types) or not 0 <= axis < ndim:
            what = f"cannot join {_list(types)} along dimension {axis}: wrong numbers of dimensions"
            raise NDimError(what)
        columns = [[(i, k) for i in range(len(types))] for k in range(ndim)]
        out = [Computed(_total, c) if k == axis else c[0] for k, c in enumerate(columns)]
        return Shapes([out], [c for k, c in enumerate(columns) if k != axis])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a batch, with all inputs broadcast to it."""
        n, wide = all_stretched(node, inputs)
        return [Join(self.axis + n)(*wide)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        self.check(node, inputs)
        output_storage[0][0] = np.concatenate(inputs, axis=self.axis)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        shared = filling_number(output_gradients[0])
        if shared is not None:
            return [second(x, shared) for x in inputs]
        sizes = [shape_tuple(x)[self.axis] for x in inputs]
        template, dims = dim_template(sizes)
        return Split(self.axis, template)(output_gradients[0], *dims, return_list=True)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        if all(t is None for t in eval_points):
            return [None]
        pairs = zip(inputs, eval_points, strict=True)
        return [self(*[gradient_zeros(x) if t is None else t for x, t in pairs])]


def _total(*lengths: Any) -> Any:
    """Return the sum of lengths."""
    if any(isinstance(n, Variable) for n in lengths):
        return lengths[0] if len(lengths) == 1 else add(*lengths)
    return sum(lengths)


def _list(types: Sequence[Any]) -> str:
    shown = ", ".join(map(str, types[:6]))
    return shown if len(types) <= 6 else f"{shown}, … ({len(types)} in all)"


class Split(Linear):
    """Splitting of an array into pieces along a dimension; the pieces are views.

    axis: the dimension, counted from 0. sizes: the length of each piece, or "i" if it is the next
    input after the array. Raises `ShapeError` unless the lengths add up to that of the dimension.
    """

    __call__: Callable[..., Any]  # (several outputs)
    moves_only = True
    elements = slice(0, 1)
    may_fail = True
    __props__ = ("axis", "sizes")
    nin = None
    samples: Sequence[Any] = (
        ({"axis": 1, "sizes": (1, 2, 0)}, (2, 3)),
        ({"axis": 0, "sizes": ("i", "i")}, (5,), 2, 3),
    )

    def __init__(self, axis: int, sizes: Sequence[int | str]) -> None:
        self.axis = axis
        self.sizes = tuple(sizes)
        self.nout = len(self.sizes)
        self.view_map = {i: [0] for i in range(len(self.sizes))}
        self.must_view_map = dict.fromkeys(range(len(self.sizes)), 0)
        if any(not isinstance(s, str) and s < 0 for s in self.sizes):
            raise ShapeError(located(f"Split: sizes {self.sizes} contain a negative number"))

    @property
    def len_splits(self) -> int:
        """How many pieces there are: PyTensor's name."""
        return len(self.sizes)

    def dtypes(self, *types: TensorType) -> list[str]:
        return [types[0].dtype] * len(self.sizes)

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the lengths of the pieces, which must add up."""
        type_, *dims = types
        check_dim_types(dims, self.sizes.count("i"))
        if not 0 <= self.axis < type_.ndim:
            raise NDimError(f"type {type_} has no dimension {self.axis}")
        length, known = type_.shape[self.axis], sum([s for s in self.sizes if isinstance(s, int)])
        if length is not None and known > length:
            what = f"pieces of lengths {self.sizes} do not add up to dimension {self.axis}"
            raise ShapeError(f"{what} of type {type_}")
        whole = [(0, i) for i in range(type_.ndim)]
        before, after = whole[: self.axis], whole[self.axis + 1 :]
        lengths = template_lengths(self.sizes)
        every = Computed(_total, lengths)
        return Shapes([(*before, n, *after) for n in lengths], [[whole[self.axis], every]])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Apply the op to an array with a batch; each piece has one length in the whole batch."""
        n, *others = batch_ranks(node, inputs)
        return None if any(others) else Split(self.axis + n, self.sizes).make_node(*inputs).outputs

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        x, dims = inputs[0], iter(inputs[1:])
        sizes = [int(next(dims)) if s == "i" else int(s) for s in self.sizes]
        self.check(node, inputs)
        if min(sizes, default=0) < 0:
            self.fail(node, f"a length is negative: {sizes}")
        start, before = 0, (slice(None),) * self.axis
        for cell, size in zip(output_storage, sizes, strict=True):
            cell[0] = x[(*before, slice(start, start + size))]
            start += size

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        pairs = zip(outputs, output_gradients, strict=True)
        pieces = [gradient_zeros(out) if is_disconnected(g) else g for out, g in pairs]
        return [Join(self.axis)(*pieces), *[disconnected() for _ in inputs[1:]]]


class MakeVector(TensorOp):
    """Vector of 0-d inputs, all converted to `dtype`."""

    moves_only = True
    elements = slice(None)
    __props__ = ("dtype",)
    nin = None
    only_lengths = True
    samples: Sequence[Any] = (({"dtype": "float64"}, (), ()), ({}, 3, 1), ({},))

    def __init__(self, dtype: str = "int64") -> None:
        self.dtype = dtype

    def dtypes(self, *types: TensorType) -> list[str]:
        for t in types:
            if np.result_type(t.numpy_dtype, self.dtype) != self.dtype:
                raise DTypeError(f"type {t} does not fit into a vector of dtype {self.dtype}")
        return [self.dtype]

    def shapes(self, *types: TensorType) -> Shapes:
        for t in types:
            if t.ndim != 0:
                raise NDimError(f"takes 0-d inputs, not type {t}")
        return Shapes([[len(types)]])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return a vector for each element of the batch."""
        n, wide = all_stretched(node, inputs)
        return [join(n, *[expand_dims(cast(x, self.dtype), n) for x in wide])]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = np.array(inputs, dtype=self.dtype)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Any]) -> list[Any]:
        g = output_gradients[0]
        shared = filling_number(g)
        if shared is not None:
            return [shared for _ in inputs]
        return [g[i] for i in range(len(inputs))]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        if all(t is None for t in eval_points):
            return [None]
        pairs = zip(inputs, eval_points, strict=True)
        return [make_vector(*[gradient_zeros(x) if t is None else t for x, t in pairs])]

    def __str__(self) -> str:
        return "MakeVector" if self.dtype == "int64" else f"MakeVector{{{self.dtype}}}"


# --- functions ------------------------------------------------------------------------------


def make_vector(*scalars: Any) -> TensorVariable:
    """Return a vector of 0-d variables or numbers; the dtype is promoted.

    >>> from rewrite_engine.tensor import dscalar
    >>> x = dscalar("x")
    >>> make_vector(x, 2 * x).eval({x: 1.0})
    array([1., 2.])
    """
    variables = [as_tensor_variable(s) for s in scalars]
    dtype = upcast([v.type for v in variables]) if variables else "int64"
    return MakeVector(dtype)(*variables)


def join(axis: Any, *tensors: Any) -> TensorVariable:
    """Join arrays along an existing dimension. A single array is returned unchanged.

    axis: an integer (or a constant); negative ones count from the end. Raises `NDimError` if the
    numbers of dimensions differ, `ShapeError` if other lengths do (while building the graph if they
    are known, else at run time), `AxisError`.

    >>> from rewrite_engine.tensor import tensor
    >>> join(1, tensor(shape=(2, 3)), tensor(shape=(None, 4))).type
    TensorType(float64, (2, 7))
    """
    xs = (
        list(tensors[0])
        if len(tensors) == 1 and isinstance(tensors[0], (list, tuple))
        else list(tensors)
    )
    xs = [as_tensor_variable(x) for x in xs]
    plain = is_plain(axis)
    if has_pattern([axis, *xs]) and not (plain and xs and have_ranks(xs)):
        if plain and axis < 0:
            normalize_axis(axis, xs[0].type.ndim)  # says that the rank is not known
        return Join(axis)(*xs)
    if not xs:
        raise ShapeError(located("join: takes at least one array"))
    ndim = xs[0].type.ndim
    if ndim == 0:
        what = "0-d arrays cannot be joined"
        raise NDimError(located(what, inputs=xs[:4], hint="use stack"))
    number = normalize_axis(axis, ndim)
    return xs[0] if len(xs) == 1 else Join(number)(*xs)


def concatenate(tensor_list: Sequence[Any], axis: int | None = 0) -> TensorVariable:
    """Join arrays along an existing dimension, as `numpy.concatenate`; axis=None flattens them
    first.

    Raises `NDimError`, `ShapeError`, `AxisError`.
    """
    if axis is None:
        return join(0, *[flatten(x) for x in tensor_list])
    return join(axis, *tensor_list)


def stack(tensors: Sequence[Any], axis: int = 0) -> TensorVariable:
    """Join arrays of one shape along a new dimension. Raise `NDimError`, `ShapeError`, `AxisError`.

    >>> from rewrite_engine.tensor import tensor
    >>> stack([tensor(shape=(3,)), tensor(shape=(3,))], axis=1).type
    TensorType(float64, (3, 2))
    """
    xs = [as_tensor_variable(x) for x in tensors]
    if not xs:
        raise ShapeError(located("stack: takes at least one array"))
    ndim = xs[0].ndim
    if any(x.ndim != ndim for x in xs):
        what = f"stack: the numbers of dimensions differ: {_list([x.type for x in xs])}"
        raise NDimError(located(what))
    number = normalize_axis(axis, ndim + 1)
    if ndim == 0:
        return make_vector(*xs)
    return join(number, *[expand_dims(x, number) for x in xs])


def split(
    x: TensorLike, splits_size: TensorLike, n_splits: int | None = None, axis: int = 0
) -> list[TensorVariable]:
    """Split `x` along a dimension into pieces of these lengths; return the list of pieces.

    splits_size: integers and 0-d integer variables, or a vector variable (of length `n_splits` if
    that is unknown). Raises `ShapeError` unless they add up to the length of the dimension.
    """
    x = as_tensor_variable(x)
    number = normalize_axis(axis, x.type.ndim)
    if (
        n_splits is not None
        and isinstance(splits_size, Variable)
        and splits_size.type.shape == (None,)
    ):
        splits_size = [splits_size[i] for i in range(n_splits)]  # type: ignore[index]
    sizes = shape_dims(splits_size)
    if n_splits is not None and len(sizes) != n_splits:
        raise ShapeError(located(f"split: {len(sizes)} lengths, but {n_splits} pieces"))
    template, dims = dim_template(sizes)
    return Split(number, template)(x, *dims, return_list=True)


def vstack(tensors: Sequence[Any]) -> TensorVariable:
    """Stack arrays by rows, as `numpy.vstack`; a vector is one row."""
    return join(0, *[atleast_2d(x) for x in tensors])


def hstack(tensors: Sequence[Any]) -> TensorVariable:
    """Stack arrays by columns, as `numpy.hstack`; vectors are concatenated."""
    xs = [atleast_1d(x) for x in tensors]
    return join(0 if xs[0].type.ndim == 1 else 1, *xs)


def dstack(tensors: Sequence[Any]) -> TensorVariable:
    """Stack arrays along a third dimension, as `numpy.dstack`; a vector is one row."""
    rows = [atleast_2d(x) for x in tensors]
    return join(2, *[atleast_3d(x, left=False) for x in rows])


def column_stack(tensors: Sequence[Any]) -> TensorVariable:
    """Stack arrays by columns, as `numpy.column_stack`; a vector is one column."""
    return join(1, *[atleast_2d(x, left=False) for x in tensors])


def vertical_stack(*args: Any) -> TensorVariable:
    """Stack two or more matrices by rows."""
    return vstack(args)


def horizontal_stack(*args: Any) -> TensorVariable:
    """Stack two or more matrices by columns."""
    return hstack(args)
