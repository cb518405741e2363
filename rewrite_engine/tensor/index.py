"""Basic indexing: `x[1, ::2, None]` (`Subtensor`) and its `set` and `inc` (`IncSubtensor`).

How an index is read is in `tensor/index_template.py`; arrays as indices are in `tensor/gather.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
)
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable, constant, have_ranks, is_plain
from rewrite_engine.tensor.index_template import (
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
from rewrite_engine.tensor.op import Group, Linear, Shapes, TensorOp, Types, same_shape
from rewrite_engine.tensor.reduce import sum_to
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.terms.print import ATOM

__all__ = ["IncSubtensor", "Subtensor", "inc_subtensor", "set_subtensor", "subtensor"]


class IndexOp(TensorOp):
    """What the indexing ops share: a template as a parameter, and its inputs after the arrays."""

    moves_only = True
    may_fail = True
    __props__: tuple[str, ...] | None = ("idx_list",)
    idx_list: Template
    nin = None
    #: where the inputs of the template start
    first_index = 1

    def check_indices(self, types: Sequence[Any]) -> None:
        """Raise `DTypeError` unless there is one 0-d integer per input of the template."""
        wanted = inputs_of(self.idx_list)
        if len(types) != wanted:
            raise DTypeError(f"takes {wanted} indices, not {len(types)}")
        for t in types:
            if t.ndim != 0 or t.kind not in "iu":
                raise DTypeError(f"an index must be a 0-d integer, not a {t}")

    def index(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The index for NumPy."""
        return fill(self.idx_list, inputs[self.first_index :])

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{show(self.idx_list) or ':'}}}"


class Take(IndexOp, Linear):
    """What `Subtensor` and its sibling for arrays of indices share: template and derivatives."""

    elements = slice(0, 1)

    def __init__(self, idx_list: Template) -> None:
        self.idx_list = tuple(idx_list)

    def increment(self) -> Op:
        """The op that adds to what this one takes."""
        raise NotImplementedError

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        gx = self.increment()(gradient_zeros(inputs[0]), output_gradients[0], *inputs[1:])
        return [gx, *[disconnected() for _ in inputs[1:]]]


class Subtensor(Take):
    """`x[...]` with integers, slices and newaxis; a view.

    idx_list: the template (see `tensor/index_template.py`). Inputs: the array, then a 0-d integer
    for each `INPUT` in the template. Raises `AxisError` for too many indices or one that is out
    of range.
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

    def notation(self, args: Sequence[Any]) -> Any:
        """`x[i, 1:, None]`."""
        return [(args[0], ATOM), "[", *tokens_of(self.idx_list, args[1:]), "]"]

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
        """Integers have to be in range."""
        return is_in_range(self.idx_list, node.inputs[0].type)

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """All of the batch is taken; one by one where indices have a batch."""
        if any(i.type.ndim for i in inputs[1:]):
            return None
        more = inputs[0].type.ndim - node.inputs[0].type.ndim
        return [Subtensor((WHOLE,) * more + self.idx_list)(*inputs)]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Where all of the array is taken, its gradient only loses the new dimensions, and is
        turned round where the array was.
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
    """What `IncSubtensor` and its sibling for arrays of indices share."""

    __props__ = ("idx_list", "set_instead_of_inc", "inplace")
    first_index = 2

    def __init__(
        self, idx_list: Template, set_instead_of_inc: bool = False, inplace: bool = False
    ) -> None:
        self.idx_list = tuple(idx_list)
        self.set_instead_of_inc = set_instead_of_inc
        self.inplace = inplace
        self.elements = slice(0, 2) if set_instead_of_inc else None
        if inplace:
            self.destroy_map = {0: [0]}

    def inplace_on_inputs(self, allowed: Sequence[int], node: Apply | None = None) -> Op | None:
        if self.inplace or 0 not in allowed:
            return None
        return type(self)(self.idx_list, self.set_instead_of_inc, inplace=True)

    def convert_inputs(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """A Python number that is written takes the precision of `x`."""
        x, y, *indices = inputs
        x = as_tensor_variable(x)
        if isinstance(y, (int, float, complex)) and not isinstance(y, bool):
            y = constant(y, dtype=np.result_type(x.type.numpy_dtype, y).name)
        return super().convert_inputs((x, y, *indices))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Indices do not count."""
        return [[i < 2] for i in range(len(node.inputs))]

    def part(self, x: TensorType, indices: Sequence[TensorType]) -> list[Any]:
        """The lengths of `x[...]`, which is written into."""
        raise MethodNotDefined(f"{type(self).__name__} defines no part")

    def dtypes(self, *types: TensorType) -> list[str]:
        """That of `x`, into which that of `y` has to fit."""
        x, y, *_ = types
        if np.result_type(x.numpy_dtype, y.numpy_dtype) != x.numpy_dtype:
            verb = "set" if self.set_instead_of_inc else "increment"
            what = f"cannot {verb} a part of a {x} by a {y}: {y.dtype} does not fit into {x.dtype}"
            raise DTypeError(f"{what}; cast one of them")
        return [x.dtype]

    def shapes(self, *types: TensorType) -> Shapes:
        """Lengths of `y` that are not known to be 1 are those of the part."""
        x, y, *indices = types
        part = self.part(x, indices)
        if y.ndim > len(part):
            verb = "set" if self.set_instead_of_inc else "increment"
            raise NDimError(f"cannot {verb} a part with {len(part)} dimensions of a {x} by a {y}")
        pairs = zip(range(y.ndim), y.shape, part[len(part) - y.ndim :], strict=True)
        equal = [[(1, i), want] for i, have, want in pairs if have != 1]
        return Shapes(same_shape(x).outputs, equal)

    def misfit(self, types: Types, group: Group) -> type[ShapeError]:
        return BroadcastError

    def take(self, g: Any, indices: Sequence[Variable]) -> Any:
        """`g[...]` with this op's index."""
        raise MethodNotDefined(f"{type(self).__name__} defines no take")

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        (x, y, *indices), (gz,) = inputs, output_gradients
        gx, gy = gz, self.take(gz, indices)
        if self.set_instead_of_inc:
            gx = type(self)(self.idx_list, set_instead_of_inc=True)(gz, 0, *indices)
            gy = self.remaining(gy, x, indices)
        return [gx, sum_to(gy, y.type), *[disconnected() for _ in indices]]

    def remaining(self, gy: Any, x: Any, indices: Sequence[Variable]) -> Any:
        """The gradient of the values that were set, 0 for those that were overwritten again."""
        return gy

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        tx, ty = eval_points[:2]
        if tx is None and ty is None:
            return [None]
        from rewrite_engine.tensor.math import cast

        tx = gradient_zeros(inputs[0]) if tx is None else tx
        ty = cast(gradient_zeros(inputs[1]) if ty is None else ty, tx.type.dtype)
        return [type(self)(self.idx_list, self.set_instead_of_inc)(tx, ty, *inputs[2:])]

    def __str__(self) -> str:
        name = "Set" if self.set_instead_of_inc else "Inc"
        name = type(self).__name__.replace("Inc", name)
        parts = "inplace; " if self.inplace else ""
        return f"{name}{{{parts}{show(self.idx_list) or ':'}}}"


class IncSubtensor(BaseInc):
    """A copy of `x` with `y` added to `x[...]`, or put there.

    idx_list: the template. set_instead_of_inc: put, not add. inplace: write into `x` itself.
    Inputs: x, y, then a 0-d integer for each `INPUT`. `y` must fit `x[...]`; only its dimensions
    known to be 1 are broadcast, and its dtype must fit into that of `x`. Raises `DTypeError`,
    `NDimError`, `BroadcastError`, `AxisError`.
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
        if self.set_instead_of_inc:
            part[...] = y
        else:
            np.add(part, y, out=part)
        output_storage[0][0] = out

    def is_total(self, node: Apply) -> bool:
        """Integers have to be in range."""
        return is_in_range(self.idx_list, node.inputs[0].type)

    def take(self, g: Any, indices: Sequence[Variable]) -> Any:
        return Subtensor(self.idx_list)(g, *indices)


def gradient_zeros(x: Any) -> Any:
    """Zeros with the shape of `x`, and a dtype that a gradient can have."""
    from rewrite_engine.config import config
    from rewrite_engine.tensor.creation import zeros_like

    return zeros_like(x, dtype=x.type.dtype if x.type.kind in "fc" else config.floatX)


# --- functions ------------------------------------------------------------------------------


def subtensor(x: Any, index: Any) -> Any:
    """Return `x[index]`: integers, slices, None, Ellipsis, and arrays of integers or booleans, as
    in NumPy.

    Raises `AxisError` for too many indices or one known to be out of range, `DTypeError` for
    other objects.

    >>> from rewrite_engine.tensor import tensor
    >>> subtensor(tensor(shape=(4, 3)), (0, slice(None, None, -1))).type
    TensorType(float64, (3,))
    """
    from rewrite_engine.tensor.gather import AdvancedSubtensor, is_advanced

    x = as_tensor_variable(x)
    known = is_plain(x) or have_ranks([x])
    template, inputs = parse(index, x.type.ndim if known else None)
    inputs = [as_indices(i) for i in inputs]
    if any(map(is_advanced, inputs)):
        return AdvancedSubtensor(template)(x, *inputs)
    return Subtensor(template)(x, *inputs)


def set_subtensor(x: Any, y: Any, inplace: bool = False) -> Any:
    """Return a copy of `a` in which `a[index]` is `y`; `x` is the expression `a[index]`.

    `a[index].set(y)` is the same. Raises `ForeignObjectError` if `x` is no indexing.

    >>> from rewrite_engine.tensor import dvector
    >>> a = dvector("a")
    >>> set_subtensor(a[1:], 0).eval({a: [1.0, 2.0]})
    array([1., 0.])
    """
    return _write(x, y, set_instead_of_inc=True, inplace=inplace)


def inc_subtensor(x: Any, y: Any, inplace: bool = False) -> Any:
    """Return a copy of `a` in which `y` is added to `a[index]`; `x` is the expression `a[index]`.

    `a[index].inc(y)` is the same. An element that is indexed several times is increased several
    times. Raises `ForeignObjectError` if `x` is no indexing.
    """
    return _write(x, y, set_instead_of_inc=False, inplace=inplace)


def _write(x: Any, y: Any, set_instead_of_inc: bool, inplace: bool) -> Any:
    from rewrite_engine.tensor.gather import AdvancedIncSubtensor, AdvancedSubtensor

    if is_plain(x):
        node = x.owner if isinstance(x, Variable) else None
        op, inputs = (None, ()) if node is None else (node.op, node.inputs)
    else:
        op, inputs = getattr(x, "op", None), getattr(x, "args", ())
    if not isinstance(op, (Subtensor, AdvancedSubtensor)):
        raise ForeignObjectError(
            located(
                f"not of the form x[index]: {describe(x)}",
                hint="write x[index].set(y)",
            )
        )
    cls = IncSubtensor if isinstance(op, Subtensor) else AdvancedIncSubtensor
    writing, operands = cls(op.idx_list, set_instead_of_inc, inplace), (inputs[0], y, *inputs[1:])
    return writing(*operands) if is_plain(x) else type(x).__apply_op__(writing, operands, {})
