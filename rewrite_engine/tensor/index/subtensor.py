"""Basic indexing: `x[1, ::2, None]` (`Subtensor`), and its `set` and `inc` (`IncSubtensor`).

`tensor/index/template.py` reads an index; arrays as indices are in `tensor/index/gather.py`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.errors import (
    AxisError,
    BroadcastError,
    DTypeError,
    ForeignObjectError,
    MethodNotDefined,
    NDimError,
    ShapeError,
    describe,
    dimensions,
    refuse_options,
)
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.op import ATOM, LOWEST, Op
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable, constant, have_ranks, is_plain
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.index.template import (
    APART,
    INPUT,
    NEWAXIS,
    REVERSED,
    WHOLE,
    Slice,
    Template,
    as_indices,
    fill,
    inputs_of,
    is_in_range,
    lengths_of,
    parse,
    show,
    tokens_of,
)
from rewrite_engine.tensor.op import (
    Group,
    Linear,
    Shapes,
    TensorOp,
    Types,
    is_dimension,
    resolve,
    same_shape,
    with_parameters,
)
from rewrite_engine.tensor.reduce import sum_to
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["IncSubtensor", "Subtensor", "inc_subtensor", "set_subtensor", "subtensor"]


#: how many terms are asked where a length comes from
_FAR = 50


class IndexOp(TensorOp):
    """Base class of indexing ops: a template as parameter, and its inputs after the arrays."""

    moves_only = True
    may_fail = True
    __props__: tuple[str, ...] | None = ("idx_list",)
    idx_list: Template
    nin: int | None = None
    #: where the inputs of the template start
    first_index = 1

    def check_indices(self, types: Sequence[Any]) -> None:
        """Raise `DTypeError` unless there is one 0-d integer per input of the template."""
        wanted = inputs_of(self.idx_list)
        if len(types) != wanted:
            raise DTypeError(f"takes {wanted} indices, not {len(types)}")
        for t in types:
            if t.ndim != 0 or t.kind not in "iu":
                raise DTypeError(f"an index must be a 0-d integer, not type {t}")

    def index(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Return the index for NumPy."""
        return fill(self.idx_list, inputs[self.first_index :])

    def inside(self, args: Sequence[Any]) -> list[Any]:
        """Return the index as formulas write it, such as `[i, 1:, None]`."""
        return ["[", *(tokens_of(self.idx_list, args[self.first_index :]) or ["..."]), "]"]

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{show(self.idx_list) or ':'}}}"


class Take(IndexOp, Linear):
    """Base class of `Subtensor` and `AdvancedSubtensor`: their template and derivatives."""

    elements = slice(0, 1)

    def __init__(self, idx_list: Template) -> None:
        self.idx_list = tuple(idx_list)

    def notation(self, args: Sequence[Any]) -> Any:
        """Return the term as formulas write it, such as `x[i, 1:, None]`."""
        return [(args[0], ATOM), *self.inside(args)]

    def increment(self) -> Op:
        """Return the op that adds to the part that this op reads."""
        raise NotImplementedError

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Read from the whole batch at once, unless slices or masks differ along it."""
        from rewrite_engine.tensor.index.batch import take_along

        return take_along(self, node, inputs)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        gx = self.increment()(gradient_zeros(inputs[0]), output_gradients[0], *inputs[1:])
        return [gx, *[disconnected() for _ in inputs[1:]]]


class Subtensor(Take):
    """Op `x[...]` with integers, slices and newaxis; a view.

    idx_list: the template (see `tensor/index/template.py`). Inputs: the array, then a 0-d integer
    for each `INPUT` in the template. Raises `AxisError` for too many indices or one that is out of
    range.
    """

    implied = {"distinct": "distinct"}
    view_map = {0: [0]}
    samples: Sequence[Any] = (
        ({"idx_list": (-1, Slice(None, None, -2))}, (3, 5)),
        ({"idx_list": (Slice(INPUT, 7), NEWAXIS, INPUT)}, (4, 3), 1, 2),
        ({"idx_list": (INPUT,)}, (4,), -3),
        ({"idx_list": (Slice(4, 1, -1),)}, (0, 2)),
        ({"idx_list": (Slice(INPUT, INPUT), 1)}, (5, 3), -4, 3),
        ({"idx_list": (Slice(None, None, INPUT),)}, (5,), 2),
    )

    def __init__(self, idx_list: Template) -> None:
        super().__init__(idx_list)
        step = self.idx_list[0].step if list(map(type, self.idx_list)) == [Slice] else 0
        if step is None or (type(step) is int and step > 0):
            self.implied = {"distinct": "distinct", "increasing": "increasing"}
        if any(isinstance(e, Slice) or e == NEWAXIS for e in self.idx_list):
            self.must_view_map = {0: 0}  # by integers alone, a single number is copied

    def shapes(self, *types: TensorType) -> Shapes:
        self.check_indices(types[1:])
        return Shapes([lengths_of(self.idx_list, types[0])])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        try:
            output_storage[0][0] = np.asarray(inputs[0][self.index(inputs)])
        except IndexError as error:
            self.fail(node, str(error), AxisError)

    def is_total(self, node: Apply) -> bool:
        """Return whether all integers are known to be in range."""
        return is_in_range(self.idx_list, node.inputs[0].type)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return the gradient of the array. If the whole array is read, it is the output gradient
        without new dimensions, reversed where the array was.
        """
        g: Any = output_gradients[0]
        x = inputs[0]
        if not set(self.idx_list) <= {WHOLE, NEWAXIS, REVERSED} or x.type.kind not in "fc":
            return super().grad(inputs, output_gradients)
        new = [i for i, entry in enumerate(self.idx_list) if entry == NEWAXIS]
        g = g.dimshuffle(*[i for i in range(g.type.ndim) if i not in new])
        old = [entry for entry in self.idx_list if entry != NEWAXIS]
        return [Subtensor(tuple(old))(g) if REVERSED in old else g]

    def increment(self) -> Op:
        return IncSubtensor(self.idx_list)


class BaseInc(IndexOp):
    """Base class of `IncSubtensor` and `AdvancedIncSubtensor`.

    broadcasts: whether lengths of `y` that its type does not know may be 1 at run time.
    """

    __props__: tuple[str, ...] = ("idx_list", "set_instead_of_inc", "inplace", "broadcasts")
    first_index = 2

    def __init__(
        self,
        idx_list: Template,
        set_instead_of_inc: bool = False,
        inplace: bool = False,
        broadcasts: bool = False,
    ) -> None:
        self.idx_list = tuple(idx_list)
        self.set_instead_of_inc = set_instead_of_inc
        self.inplace = inplace
        self.broadcasts = broadcasts
        self.elements = slice(0, 2) if set_instead_of_inc else None
        if inplace:
            self.destroy_map = {0: [0]}

    def inplace_on_inputs(self, allowed: Sequence[int], node: Apply | None = None) -> Op | None:
        if self.inplace or 0 not in allowed:
            return None
        return with_parameters(self, inplace=True)

    def convert_inputs(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Convert `y` to the dtype of `x`, as NumPy does.

        Any real value may be set; an added value must have the same kind (`DTypeError`). A Python
        bool is accepted for bools only.
        """
        x, y, *indices = inputs
        x = as_tensor_variable(x)
        if isinstance(y, (int, float, complex)) and (
            y.__class__ is not bool or x.type.dtype == "bool"
        ):
            y = constant(y, dtype=np.result_type(x.type.numpy_dtype, y).name)
        x, y, *indices = super().convert_inputs((x, y, *indices))
        return (x, self._in_dtype(y, x.type), *indices)

    def _in_dtype(self, y: Any, type_: Any) -> Any:
        """Return `y` in the dtype of a type, if that is allowed."""
        if not isinstance(type_, TensorType) or not isinstance(y.type, TensorType):
            return y
        have, wanted = y.type.numpy_dtype, type_.numpy_dtype
        as_set = self.set_instead_of_inc and "c" not in (have.kind, wanted.kind)
        if have == wanted or not (as_set or np.can_cast(have, wanted, "same_kind")):
            return y
        from rewrite_engine.tensor.math import cast

        return cast(y, wanted)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect all inputs but the indices."""
        return [[i < 2] for i in range(len(node.inputs))]

    def notation(self, args: Sequence[Any]) -> Any:
        """Return the term as formulas write it, `(x[1:] += y)`: x after the change."""
        sign = " := " if self.set_instead_of_inc else " += "
        return ["(", (args[0], ATOM), *self.inside(args), sign, (args[1], LOWEST), ")"]

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return one sum per element of what is added; setting elements takes none."""
        return 0 if self.set_instead_of_inc else math.prod(inputs[1])

    def part(self, x: TensorType, indices: Sequence[TensorType]) -> list[Any]:
        """Return the lengths of the part `x[...]`."""
        raise MethodNotDefined(f"{type(self).__name__} defines no part")

    def dtypes(self, *types: TensorType) -> list[str]:
        """Return the dtype of `x`, which must be able to hold that of `y`."""
        x, y, *_ = types
        if np.result_type(x.numpy_dtype, y.numpy_dtype) != x.numpy_dtype:
            verb = "set" if self.set_instead_of_inc else "increment"
            what = f"cannot {verb} a part of type {x} by type {y}"
            hint = f"{y.dtype} does not fit into {x.dtype}; cast one of the two"
            raise DTypeError(f"{what}: {hint}")
        return [x.dtype]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape rule: lengths of `y` that are not 1, now or at run time, must equal
        those of the part.
        """
        x, y, *indices = types
        part = self.part(x, indices)
        if y.ndim > len(part):
            verb = "set" if self.set_instead_of_inc else "increment"
            raise NDimError(
                f"cannot {verb} a part with {dimensions(len(part))} of type {x} by type {y}"
            )
        pairs = zip(range(y.ndim), y.shape, part[len(part) - y.ndim :], strict=True)
        open_ = (1, None) if self.broadcasts else (1,)
        equal = [[(1, i), want] for i, have, want in pairs if have not in open_]
        return Shapes(same_shape(x).outputs, equal)

    def misfit(self, types: Types, group: Group) -> type[ShapeError]:
        return BroadcastError

    def unequal(self, types: Types, shapes: Sequence[Any], group: Group, of: Any) -> ShapeError:
        part = [resolve(n, of) for n in self.part(types[0], types[2:])]
        return BroadcastError(self.does_not_fit(shapes[1], tuple(part)))

    def does_not_fit(self, shape: Any, part: Any) -> str:
        """Return the message for a value and a part of different shapes."""
        where = show(self.idx_list) or "..."
        return f"a value of shape {shape} does not broadcast to the part [{where}] of shape {part}"

    def misfit_of(self, values: Sequence[Any]) -> str:
        """Return the message for input values that do not fit."""
        part = values[0][self.index(values)]
        return self.does_not_fit(np.shape(values[1]), np.shape(part))

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Write to the whole batch at once, unless slices or masks differ along it."""
        from rewrite_engine.tensor.index.batch import write_along

        return write_along(self, node, inputs)

    def take(self, g: Any, indices: Sequence[Variable]) -> Any:
        """Return `g[...]` with the index of this op."""
        raise MethodNotDefined(f"{type(self).__name__} defines no take")

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        (x, y, *indices), (gz,) = inputs, output_gradients
        gx, gy = gz, self.take(gz, indices)
        if self.set_instead_of_inc:
            gx = type(self)(self.idx_list, set_instead_of_inc=True)(gz, 0, *indices)
        if self.set_instead_of_inc or getattr(self, "ignore_duplicates", False):
            gy = self.remaining(gy, x, indices)
        gy = sum_to(gy, y.type)
        if self.broadcasts:
            gy = _sum_to_lengths(gy, y, self.take(x, indices))
        return [gx, gy, *[disconnected() for _ in indices]]

    def remaining(self, gy: Any, x: Any, indices: Sequence[Variable]) -> Any:
        """Return the gradient of the values that were set; 0 for those overwritten again."""
        return gy

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        tx, ty = eval_points[:2]
        if tx is None and ty is None:
            return [None]
        from rewrite_engine.tensor.math import cast

        tx = gradient_zeros(inputs[0]) if tx is None else tx
        ty = cast(gradient_zeros(inputs[1]) if ty is None else ty, tx.type.dtype)
        return [with_parameters(self, inplace=False)(tx, ty, *inputs[2:])]

    def __str__(self) -> str:
        name = "Set" if self.set_instead_of_inc else "Inc"
        name = type(self).__name__.replace("Inc", name)
        parts = "".join([f"{name}; " for name in self.__props__[2:] if getattr(self, name)])
        return f"{name}{{{parts}{show(self.idx_list) or ':'}}}"


class IncSubtensor(BaseInc):
    """Copy of `x` with `y` added to `x[...]`, or set there.

    idx_list: the template. set_instead_of_inc: set instead of add. inplace: write into `x` itself.
    broadcasts: whether lengths of `y` that its type does not know may be 1 at run time. Inputs: x,
    y, then a 0-d integer for each `INPUT`. `y` must fit `x[...]`; it is converted to the dtype of
    `x`. Raises `DTypeError`, `NDimError`, `BroadcastError`, `AxisError`.
    """

    samples: Sequence[Any] = (
        ({"idx_list": (Slice(1),)}, (4, 3), (1, 3)),
        ({"idx_list": (Slice(1), INPUT)}, (4, 3), (3,), 2),
        ({"idx_list": (INPUT,), "set_instead_of_inc": True}, (3, 2), (2,), 1),
        ({"idx_list": (1, 1), "set_instead_of_inc": True}, (3, 2), ()),
    )

    def part(self, x: TensorType, indices: Sequence[TensorType]) -> list[Any]:
        self.check_indices(indices)
        return lengths_of(self.idx_list, x, 2)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        x, y = inputs[:2]
        out = x if self.inplace and isinstance(x, np.ndarray) else np.array(x)
        index = self.index(inputs)
        try:
            part = out[(*index, ...)]
        except IndexError as error:
            self.fail(node, str(error), AxisError)
        self.check(node, inputs)
        try:
            if self.set_instead_of_inc:
                part[...] = y
            else:
                np.add(part, y, out=part)
        except ValueError:
            self.fail(node, self.misfit_of(inputs), BroadcastError)
        output_storage[0][0] = out

    def is_total(self, node: Apply) -> bool:
        """Return whether all integers are known to be in range."""
        return not self.broadcasts and is_in_range(self.idx_list, node.inputs[0].type)

    def take(self, g: Any, indices: Sequence[Variable]) -> Any:
        return Subtensor(self.idx_list)(g, *indices)


def _sum_to_lengths(g: Any, y: Any, part: Any) -> Any:
    """Return the sum of a gradient along dimensions that were broadcast at run time: each unknown
    length of `y` is 1, or that of the part.
    """
    from rewrite_engine.tensor.math import eq, switch
    from rewrite_engine.tensor.reshape import reshape
    from rewrite_engine.tensor.shape import lengths

    first = part.type.ndim - y.type.ndim
    for i, (have, wanted) in enumerate(zip(lengths(g), lengths(y), strict=True)):
        if y.type.shape[i] is not None or _sources(y, i) & _sources(part, first + i):
            continue
        times, sizes = switch(eq(wanted, have), 1, have), lengths(g)
        g = reshape(g, [*sizes[:i], times, wanted, *sizes[i + 1 :]]).sum(axis=i)
    return g


def gradient_zeros(x: Any) -> Any:
    """Return zeros with the shape of `x`, in a dtype that a gradient can have."""
    from rewrite_engine.config import config
    from rewrite_engine.tensor.creation import zeros_like

    return zeros_like(x, dtype=x.type.dtype if x.type.kind in "fc" else config.floatX)


# --- functions ------------------------------------------------------------------------------

SHARED = (
    "an overwritten array cannot be read afterwards; omit inplace=True: the function works in "
    "place if that is safe"
)


def subtensor(x: TensorLike, index: Any) -> TensorVariable:
    """Return `x[index]`: integers, slices, None, Ellipsis, and arrays of integers or booleans, as
    in NumPy.

    An index of new dimensions only builds a `DimShuffle`. Raises `AxisError` for too many indices
    or one known to be out of range, `DTypeError` for other objects.

    >>> from rewrite_engine.tensor import tensor
    >>> subtensor(tensor(shape=(4, 3)), (0, slice(None, None, -1))).type
    TensorType(float64, (3,))
    """
    from rewrite_engine.tensor.index.gather import AdvancedSubtensor, is_advanced, without_apart

    x = as_tensor_variable(x)
    known = is_plain(x) or have_ranks([x])
    template, inputs = parse(index, x.type.ndim if known else None)
    inputs = [as_indices(i) for i in inputs]
    if any(map(is_advanced, inputs)):
        return AdvancedSubtensor(without_apart(template))(x, *inputs)
    template = tuple([e for e in template if e != APART])
    if known and (order := order_of(template, x.type.ndim)):
        return DimShuffle(x.type.ndim, order)(x)
    return Subtensor(template)(x, *inputs)


def order_of(template: Template, ndim: int) -> list[Any] | None:
    """Return the order of dimensions made by an index of new dimensions only; None for another
    index.
    """
    if NEWAXIS not in template or not {NEWAXIS, WHOLE} >= {*template}:
        return None
    kept = iter(range(ndim))
    order = [NEWAXIS if entry == NEWAXIS else next(kept) for entry in template]
    return [*order, *kept]


def set_subtensor(
    x: TensorLike, y: TensorLike, inplace: bool = False, tolerate_inplace_aliasing: bool = False
) -> TensorVariable:
    """Return a copy of `a` in which `a[index]` is `y`; `x` is the expression `a[index]`.

    `a[index].set(y)` is equivalent. y: broadcasts to the part, and is converted to its dtype.
    Raises `ForeignObjectError` if `x` is not an indexing, `DTypeError` for complex numbers in an
    array of real ones, `NDimError`, `BroadcastError`, `OptionError` for tolerate_inplace_aliasing.

    >>> from rewrite_engine.tensor import dvector
    >>> a = dvector("a")
    >>> set_subtensor(a[1:], 0).eval({a: [1.0, 2.0]})
    array([1., 0.])
    """
    refuse_options("set_subtensor", SHARED, tolerate_inplace_aliasing=tolerate_inplace_aliasing)
    return _write(x, y, {"set_instead_of_inc": True, "inplace": inplace})


def inc_subtensor(
    x: TensorLike,
    y: TensorLike,
    inplace: bool = False,
    set_instead_of_inc: bool = False,
    tolerate_inplace_aliasing: bool = False,
    ignore_duplicates: bool = False,
) -> TensorVariable:
    """Return a copy of `a` in which `y` is added to `a[index]`; `x` is the expression `a[index]`.

    `a[index].inc(y)` is equivalent. An element that is indexed several times is increased several
    times; ignore_duplicates: only by the last value, as in NumPy's `a[index] += y`. y: broadcasts
    to the part, and is converted to its dtype, which must have the same kind (`DTypeError`). Raises
    `ForeignObjectError` if `x` is not an indexing, `NDimError`, `BroadcastError`, `OptionError` for
    tolerate_inplace_aliasing.

    >>> inc_subtensor(as_tensor_variable([0, 0])[[1, 1]], 1).eval()
    array([0, 2])
    """
    refuse_options("inc_subtensor", SHARED, tolerate_inplace_aliasing=tolerate_inplace_aliasing)
    parameters = {"set_instead_of_inc": set_instead_of_inc, "inplace": inplace}
    return _write(x, y, parameters, ignore_duplicates)


def _write(x: Any, y: Any, parameters: dict[str, Any], ignore_duplicates: bool = False) -> Any:
    from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor, AdvancedSubtensor

    if is_plain(x):
        node = x.owner if isinstance(x, Variable) else None
        op, inputs = (None, ()) if node is None else (node.op, node.inputs)
    else:
        op, inputs = getattr(x, "op", None), getattr(x, "args", ())
    if isinstance(op, DimShuffle) and op.shuffle == (*range(op.input_ndim),):  # x[:, None]
        op = Subtensor(tuple([NEWAXIS if d == NEWAXIS else WHOLE for d in op.new_order]))
    if not isinstance(op, (Subtensor, AdvancedSubtensor)):
        raise ForeignObjectError(
            located(
                f"expected an expression x[index], got {describe(x)}",
                hint="write x[index].set(y)",
            )
        )
    cls: Any = IncSubtensor
    if not isinstance(op, Subtensor):
        cls, parameters = (
            AdvancedIncSubtensor,
            parameters | {"ignore_duplicates": ignore_duplicates},
        )
    y = as_tensor_variable(y) if isinstance(y, Variable) else y
    if (isinstance(y, Variable) or not is_plain(y)) and _may_broadcast(x, y):
        parameters = parameters | {"broadcasts": True}
    writing, operands = cls(op.idx_list, **parameters), (inputs[0], y, *inputs[1:])
    return writing(*operands) if is_plain(x) else type(x).__apply_op__(writing, operands, {})


def _may_broadcast(part: Any, y: Any) -> bool:
    """Return whether a length of `y` that its type does not know may be 1 while the part is
    longer.
    """
    shape, whole = [v.type.shape if have_ranks([v]) else () for v in (y, part)]
    pairs = itertools.zip_longest(reversed(shape), reversed(whole[-len(shape) :] if shape else ()))
    return any([have is None and wanted != 1 for have, wanted in pairs])


def _sources(x: Any, i: int) -> set[tuple[Any, ...]]:
    """Return the known origins of the length of dimension i, by a few steps of shape rules."""
    found: set[tuple[Any, ...]] = set()
    todo = [(x, i)]
    while todo and len(found) < _FAR:
        x, i = todo.pop()
        node = x.owner
        if (x, i) in found:
            continue
        found.add((x, i))
        if node is None or not isinstance(node.op, TensorOp):
            continue
        rule = node.op.shapes_of(node)
        length = rule.outputs[x.index or 0][i]
        same = [length, *[n for group in rule.equal if length in group for n in group]]
        todo += [(node.inputs[n[0]], n[1]) for n in same if is_dimension(n)]
        if not is_dimension(length):
            found.add((node.op, *node.inputs, x.index, i))
    return found
