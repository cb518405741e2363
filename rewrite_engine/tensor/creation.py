"""Arrays from a shape: `alloc`, `zeros`, `ones`, `full`, `empty`, their `*_like`, `arange`,
`eye`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.errors import (
    BroadcastError,
    DTypeError,
    MethodNotDefined,
    NDimError,
    ShapeError,
    StepError,
    describe,
    dimensions,
)
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.origin import user_origin
from rewrite_engine.scalar.dtype import DISCRETE, dtype_name, is_number, promote
from rewrite_engine.tensor import math as m
from rewrite_engine.tensor.batch import batch_ranks
from rewrite_engine.tensor.constant import (
    as_tensor_variable,
    constant,
    is_plain,
    or_truth,
    weak_constant,
)
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.elemwise_grad import zero_gradient
from rewrite_engine.tensor.op import (
    Computed,
    Group,
    Linear,
    NoGradient,
    Shapes,
    TensorOp,
    Types,
    Value,
    behind_batch,
)
from rewrite_engine.tensor.reduce import Sum, sum_to
from rewrite_engine.tensor.shape import lengths, shape_dims, shape_tuple, static_length
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import DTypeLike, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "Alloc", "AllocEmpty", "ARange", "Eye", "Tri", "alloc", "arange", "empty", "empty_like", "eye",
    "full", "full_like", "identity_like", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip

#: results of more bytes than this are not computed while compiling: the op is cheaper than
#: the memory
_FOLD_BYTES = 1024


def check_integers(dims: Sequence[TensorType]) -> None:
    """Raise `DTypeError` or `NDimError` unless all variables are 0-d integers."""
    for d in dims:
        if d.kind not in "iu":
            raise DTypeError(f"a length must be an integer, not {d.dtype}")
        if d.ndim:
            raise NDimError(
                f"a length must be a single number, not an array with {dimensions(d.ndim)}"
            )


class _Allocating(TensorOp):
    """Base class of ops whose static output shape comes from the values of constant inputs."""

    nin = None
    dtype: str

    def dtypes(self, *types: TensorType) -> list[str]:
        return [self.dtype]

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op to tensors and numbers."""
        known = [static_length(v) if isinstance(v, Variable) else v for v in inputs]
        variables = self.convert_inputs(known)
        numbers = tuple([getattr(v, "number", None) for v in variables])
        types = self.output_types(tuple([v.type for v in variables]), numbers)
        return build_node(self, variables, types, user_origin())

    def sizes(self, node: Apply, values: Sequence[Any]) -> tuple[int, ...]:
        """Return the lengths as integers. Raise `ShapeError` for a negative one."""
        sizes = tuple([int(n) for n in values])
        if min(sizes, default=0) < 0:
            self.fail(node, f"a length is negative: {sizes}")
        return sizes

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Return whether the result is small; a large one costs more memory than it saves time."""
        out = node.outputs[0].type
        return None not in out.shape and out.get_size(out.shape) <= _FOLD_BYTES


def _not_negative(f: Any, *lengths: Any) -> Any:
    return f.every("lengths", f.nonneg, lengths)


def _holds_value(f: Any, value: Any, *lengths: Any) -> Any:
    """Return evidence that a value fits: its lengths are those of the result, or 1."""
    more = len(lengths) - value.type.ndim
    for i, one in enumerate(value.type.broadcastable):
        if not one and f.length(value, i).value != f.length_read(lengths[more + i]):
            return f.unknown("Alloc may raise an error: the value may not fit", blame=value)
    return _not_negative(f, *lengths)


class Alloc(_Allocating, Linear):
    """Array of a given shape filled with a value that broadcasts: `Alloc()(value, *shape)`.

    Raises `BroadcastError` if the value does not fit (while building the graph if that is known),
    `DTypeError`, `NDimError`.
    """

    moves_only = True
    elements = slice(0, 1)
    __props__ = ()
    may_fail = True
    implied = {"fits": _holds_value}
    samples: Sequence[Any] = (({}, (), 2, 3), ({}, (3,), 2, 3), ({}, (2, 1), 2, 0), ({}, ()))

    def dtypes(self, *types: TensorType) -> list[str]:
        return [types[0].dtype]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape rule: a length of the value that is not 1 must equal that of the
        result.
        """
        value, *dims = types
        check_integers(dims)
        if value.ndim > len(dims):
            raise NDimError(f"the value has more than {dimensions(len(dims))}")
        lengths = [Value(i) for i in range(1, len(types))]
        pairs = zip(range(value.ndim), value.shape, lengths[len(dims) - value.ndim :], strict=True)
        return Shapes([lengths], [[(0, i), want] for i, have, want in pairs if have != 1])

    def misfit(self, types: Types, group: Group) -> type[ShapeError]:
        return BroadcastError

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Apply the op to a value with a batch; one by one if the lengths have a batch."""
        n, *others = batch_ranks(node, inputs)
        if any(others):
            return None
        missing = len(others) - node.inputs[0].type.ndim
        (value,) = behind_batch(node.inputs, inputs, [missing, *others])[:1]
        return [Alloc()(value, *shape_tuple(inputs[0])[:n], *inputs[1:])]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Fill a new array with the value."""
        value = np.asarray(inputs[0])
        self.check(node, inputs)
        out = np.empty(self.sizes(node, inputs[1:]), value.dtype)
        out[...] = value
        output_storage[0][0] = out

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Sum the gradient over broadcast dimensions."""
        value, (g,) = inputs[0], output_gradients
        lengths = [disconnected() for _ in inputs[1:]]
        if is_disconnected(g):
            return [disconnected(), *lengths]
        if value.type.dtype in DISCRETE:
            return [zero_gradient(value), *lengths]
        return [sum_to(g, value.type), *lengths]


class AllocEmpty(_Allocating, NoGradient):
    """Array of a given shape with arbitrary elements: `AllocEmpty("float64")(*shape)`."""

    __props__ = ("dtype",)
    may_fail = True
    determined = False
    implied = {"fits": _not_negative}
    samples: Sequence[Any] = (({"dtype": "float64"}, 2, 3), ({"dtype": "int8"},))

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype_name(dtype)

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the input lengths as output shape."""
        check_integers(types)
        return Shapes([[Value(i) for i in range(len(types))]])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Allocate an array without filling it."""
        output_storage[0][0] = np.empty(self.sizes(node, inputs), self.dtype)

    def debug_perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Fill the array with one unlikely number, to expose reads of it."""
        output_storage[0][0] = np.full(self.sizes(node, inputs), 77, self.dtype)

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Return False: two calls need not agree."""
        return False


def _counted(f: Any, start: Any, stop: Any, step: Any) -> Any:
    if step.type.kind not in "iu" or not getattr(step, "number", 0):
        return f.unknown("the step may be 0", blame=step)
    return f.because("counted")


def _counted_up(f: Any, start: Any, stop: Any, step: Any) -> Any:
    return f.every("counted up", f.positive, [step])


def _ends(f: Any, start: Any, stop: Any, step: Any) -> Any:
    whole = all(v.type.kind in "iub" for v in (start, stop, step))
    if whole and getattr(step, "number", None):
        return f.because("counted")
    return f.unknown("ARange may raise an error: the step may be 0", blame=step)


class ARange(_Allocating):
    """Numbers from start up to (not including) stop by step: `ARange("int64")(start, stop,
    step)`.
    """

    __props__ = ("dtype",)
    implied: dict[str, Any] = {"fits": _ends}
    samples: Sequence[Any] = (
        ({"dtype": "int64"}, 1, 8, 3),
        ({"dtype": "int64"}, 5, 0, -2),
        ({"dtype": "float64"}, 0.5, 3.2, 0.75),
        ({"dtype": "int64"}, 3, 1, 1),
    )

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype_name(dtype)
        if self.dtype == "int64":
            self.implied = ARange.implied | {"distinct": _counted, "increasing": _counted_up}

    def shapes(self, *types: TensorType) -> Shapes:
        """Return one computed length. Raise `NDimError`."""
        if any(t.ndim for t in types):
            raise NDimError("start, stop and step must be single numbers")
        return Shapes([[Computed(self.length, [Value(0), Value(1), Value(2)])]])

    def length(self, start: Any, stop: Any, step: Any) -> Any:
        """Return ceil((stop - start) / step), at least 0; None if step is 0, which is an error."""
        parts = start, stop, step
        if not isinstance(start, Variable):
            if not step:
                return None
            if any([isinstance(x, float | np.floating) for x in parts]):
                return len(np.arange(*parts, dtype=self.dtype))
            return max(0, -((int(start) - int(stop)) // int(step)))
        whole = all(x.type.dtype in DISCRETE for x in parts)
        if whole and getattr(step, "number", None) == 1:
            zero = getattr(start, "number", None) == 0
            span = stop if zero else m.sub(m.cast(stop, "int64"), m.cast(start, "int64"))
        else:
            first, last, by = [m.cast(x, "float64") for x in parts]
            span = m.ceil(m.true_div(m.sub(last, first), by))
        return m.maximum(m.cast(span, "int64"), 0)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the numbers. Raise `StepError`, `ShapeError`."""
        if not inputs[2]:
            self.fail(node, "the step is 0", StepError)
        start, stop, step = [x.item() for x in inputs]
        found = output_storage[0][0] = np.arange(start, stop, step, dtype=self.dtype)
        if not len(found) and (stop - start) / step >= 1:  # NumPy gives none for nearly 2 ** 63
            self.fail(
                node, f"the range from {start} to {stop} has more numbers than an array can hold"
            )

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return two operations per element: a product and a sum."""
        return 2 * outputs[0][0]

    def bounds(self, node: Apply, of: Callable[[Variable], Any]) -> Any:
        """Return bounds of start, start + step, … below stop, for integers."""
        ends = [of(v) for v in node.inputs]
        if None in ends or any(v.type.kind not in "iu" for v in node.inputs):
            return None
        start, stop, step = ends
        if step[0] > 0:
            return start[0], max(start[0], stop[1] - 1)
        return (min(start[1], stop[0] + 1), start[1]) if step[1] < 0 else None

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Disconnect stop, which determines only the length."""
        return [[True], [False], [True]]

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """Return gradients for start and step: element k is start + k * step. Integers get
        zeros.
        """
        (start, _, step), (g,) = inputs, output_gradients
        z: Any = outputs[0]
        if is_disconnected(g):
            return [disconnected() for _ in inputs]
        if z.type.dtype in DISCRETE:
            return [zero_gradient(start), disconnected(), zero_gradient(step)]
        steps = m.cast(arange(z.shape[0]), g.type.dtype)
        parts = [Sum()(g), Sum()(m.mul(g, steps))]
        kept = [config.floatX if x.type.dtype in DISCRETE else x.type.dtype for x in (start, step)]
        return [m.cast(parts[0], kept[0]), disconnected(), m.cast(parts[1], kept[1])]


def _unit(f: Any, rows: Any, columns: Any, k: Any) -> Any:
    numbers = [getattr(v, "number", None) for v in (rows, columns, k)]
    square = rows is columns or numbers[0] == numbers[1] is not None
    if square and numbers[2] == 0:
        return f.because("a unit matrix")
    return f.unknown("it may be no unit matrix", blame=k)


class _Diagonal(_Allocating, NoGradient):
    """Base class of matrices defined by one diagonal: `op(rows, columns, k)`; k counts diagonals
    above the main one.
    """

    implied: Any = {"fits": lambda f, rows, columns, k: _not_negative(f, rows, columns)}

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the first two inputs as lengths."""
        check_integers(types)
        return Shapes([[Value(0), Value(1)]])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Build the matrix from rows, columns and k."""
        rows, columns = self.sizes(node, inputs[:2])
        output_storage[0][0] = self.made(rows, columns, int(inputs[2]))

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Return the default answer: reading a stored matrix is faster than building it in each
        call.
        """
        out = node.outputs[0].type
        return None not in out.shape and out.get_size(out.shape) <= config.fold_limit

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return one comparison per element: that of a row with a column."""
        return math.prod(outputs[0])

    def made(self, rows: int, columns: int, k: int) -> Any:
        """Return the matrix."""
        raise MethodNotDefined(f"{self} defines no made")


class Eye(_Diagonal):
    """Matrix with ones on a diagonal: `Eye("float64")(rows, columns, k)`."""

    __props__ = ("dtype",)
    limits = (0, 1)
    implied = {
        **_Diagonal.implied,
        "symmetric": _unit,
        "diagonal": _unit,
        "positive_semidefinite": _unit,
        "positive_definite": _unit,
        "orthogonal": _unit,
        "unit_diagonal": _unit,
    }
    samples: Sequence[Any] = (({"dtype": "float64"}, 3, 3, 0), ({"dtype": "int8"}, 2, 4, 1))

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype_name(dtype)

    def made(self, rows: int, columns: int, k: int) -> Any:
        return np.eye(rows, columns, k, dtype=self.dtype)


_SIDE = 512


@cache
def _lower_triangle() -> Any:
    return np.tri(_SIDE, dtype=bool)


def triangle(rows: int, columns: int, k: int) -> Any:
    """Return `numpy.tri` of booleans, from a cached copy if possible. Raise `ValueError` for a
    negative length.
    """
    if rows < 0 or columns < 0:
        raise ValueError("negative dimensions are not allowed")
    top, left = max(k, 0), max(-k, 0)
    bottom, right = top + rows, left + columns
    if bottom > _SIDE or right > _SIDE:
        return np.tri(rows, columns, k, bool)
    return _lower_triangle()[top:bottom, left:right].copy()


class Tri(_Diagonal):
    """Matrix that is true on a diagonal and below it, else false: `Tri()(rows, columns, k)`."""

    __props__ = ()
    dtype = "bool"
    samples: Sequence[Any] = (({}, 3, 3, 0), ({}, 2, 4, 1), ({}, 600, 3, -2), ({}, 0, 2, 0))

    def made(self, rows: int, columns: int, k: int) -> Any:
        return triangle(rows, columns, k)


# --- for users ------------------------------------------------------------------------------

_alloc = Alloc()


def alloc(value: TensorLike, *shape: Any) -> TensorVariable:
    """Return an array of shape `shape` filled with `value` (broadcast). Raise `BroadcastError`."""
    return _alloc(as_tensor_variable(value), *_lengths(shape))


def filling(v: Any) -> Any:
    """Return the value that fills a variable, without dimensions if possible; None if no value
    does.
    """
    if v.head is not m.second and not isinstance(v.head, Alloc):
        return None
    y = v.owner.inputs[v.head is m.second]
    return y.owner.inputs[0] if y.head == DimShuffle(0, ["x"] * y.type.ndim) else y


def filling_number(v: Any) -> Any:
    """Return the 0-d variable that fills another; None if there is none."""
    found = filling(v)
    return found if found is not None and found.type.ndim == 0 else None


def _lengths(shape: Sequence[Any]) -> list[Any]:
    """Return the lengths of a shape given as separate arguments or as one tuple."""
    only = shape[0] if len(shape) == 1 else shape
    return [weak_constant(d, "int64") if type(d) is int else d for d in shape_dims(only)]


def full(shape: Any, fill_value: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return an array of shape `shape` filled with `fill_value` (broadcast).

    dtype: by default the dtype of `fill_value`. Raises `BroadcastError`.
    """
    value = or_truth(fill_value)
    return alloc(value if dtype is None else _cast_value(value, dtype), *shape_dims(shape))


def _cast_value(value: Any, dtype: Any) -> Any:
    if isinstance(value, Constant):
        return constant(value.data.astype(dtype_name(dtype)))
    return m.cast(value, dtype)


def zeros(shape: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return an array of zeros of shape `shape` (dtype floatX by default)."""
    return full(shape, weak_constant(0, dtype_name(dtype or config.floatX)))


def ones(shape: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return an array of ones of shape `shape` (dtype floatX by default)."""
    return full(shape, weak_constant(1, dtype_name(dtype or config.floatX)))


def empty(shape: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return an array of shape `shape` with arbitrary elements (dtype floatX by default)."""
    return AllocEmpty(dtype or config.floatX)(*_lengths((shape,)))


def full_like(a: TensorLike, fill_value: Any, dtype: DTypeLike = None) -> TensorVariable:
    """Return an array in the shape of `a` filled with `fill_value` (dtype of `a` by default)."""
    if hasattr(type(a), "__apply_op__"):
        return m.second(a, fill_value)
    a = as_tensor_variable(a)
    return m.second(a, _cast_value(or_truth(fill_value), dtype or a.type.dtype))


def zeros_like(a: TensorLike, dtype: DTypeLike = None, opt: bool = False) -> TensorVariable:
    """Return zeros in the shape of `a` (dtype of `a` by default).

    opt: whether to return a constant if `a` has 0 dimensions and this dtype.
    """
    return _filled(a, 0, dtype, opt)


def ones_like(a: TensorLike, dtype: DTypeLike = None, opt: bool = False) -> TensorVariable:
    """Return ones in the shape of `a` (dtype of `a` by default).

    opt: whether to return a constant if `a` has 0 dimensions and this dtype.
    """
    return _filled(a, 1, dtype, opt)


def _filled(a: Any, number: int, dtype: Any, opt: bool) -> Any:
    result = full_like(a, number, dtype)
    alone = opt and is_plain(result) and result.type == as_tensor_variable(a).type
    return weak_constant(number, result.type.dtype) if alone and not result.type.ndim else result


def empty_like(prototype: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return an array in the shape of `prototype` with arbitrary elements (dtype of `prototype` by
    default).
    """
    prototype = as_tensor_variable(prototype)
    return AllocEmpty(dtype or prototype.type.dtype)(
        *[prototype.shape[i] for i in range(prototype.type.ndim)]
    )


def arange(
    start: Any, stop: TensorLike | None = None, step: TensorLike = 1, dtype: DTypeLike = None
) -> TensorVariable:
    """Return numbers from `start` (0 if only one argument is given) up to (not including) `stop`.

    dtype: by default that of the arguments by promotion, int64 for integers, and floatX for Python
    floats alone. Raises `NDimError`, `DTypeError`; `StepError` for a step of 0.
    """
    if stop is None:
        start, stop = 0, start
    parts = [as_tensor_variable(x) for x in (start, stop, step)]
    if dtype is None:
        dtype = promote(*[x.type.dtype for x in parts])
        dtype = "int64" if dtype in DISCRETE else dtype
        if dtype == "float64" and all(map(is_number, (start, stop, step))):
            dtype = config.floatX
    return ARange(dtype)(*parts)


def eye(
    n: TensorLike, m: TensorLike | None = None, k: TensorLike = 0, dtype: DTypeLike = None
) -> TensorVariable:
    """Return an n × m matrix (m = n by default) with ones on diagonal k (k > 0: above the main
    one).
    """
    return Eye(dtype or config.floatX)(n, n if m is None else m, k)


def identity_like(x: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return a matrix of the shape of `x` with ones on the main diagonal. Raise `NDimError`."""
    x = as_tensor_variable(x)
    if x.type.ndim != 2:
        raise NDimError(f"identity_like takes a matrix, not {describe(x)}")
    rows, columns = lengths(x)
    return eye(rows, columns, dtype=dtype or x.type.dtype)
