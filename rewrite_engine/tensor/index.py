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
    describe,
    message,
)
from rewrite_engine.graph.node import Apply, Variable, build_node
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.op import Lengths, Op
from rewrite_engine.graph.origin import user_origin
from rewrite_engine.tensor.broadcast import build_site
from rewrite_engine.tensor.constant import as_tensor_variable, constant, have_ranks, is_plain
from rewrite_engine.tensor.index_template import (
    NEWAXIS,
    REVERSED,
    WHOLE,
    Slice,
    Template,
    fill,
    inputs_of,
    is_in_range,
    parse,
    show,
    static_shape,
    symbolic_shape,
    whole_axes,
)
from rewrite_engine.tensor.reduce import sum_to
from rewrite_engine.tensor.type import TensorType

__all__ = ["IncSubtensor", "Subtensor", "inc_subtensor", "set_subtensor", "subtensor"]


class IndexOp(Op):
    """What the indexing ops share: a template as a parameter, and its inputs after the arrays."""

    moves_only = True
    __props__: tuple[str, ...] | None = ("idx_list",)
    idx_list: Template
    #: where the inputs of the template start
    first_index = 1

    def convert_input(self, x: Any) -> Variable:
        return as_tensor_variable(x)  # type: ignore[no-any-return]

    def check_indices(self, types: Sequence[Any]) -> None:
        """Raise `DTypeError` unless there is one 0-d integer per input of the template."""
        wanted = inputs_of(self.idx_list)
        if len(types) != wanted:
            raise DTypeError(
                message(f"takes {wanted} indices, not {len(types)}", op=self, where=build_site())
            )
        for t in types:
            if t.ndim != 0 or t.kind not in "iu":
                what = f"an index must be a 0-d integer, not a {t}"
                raise DTypeError(message(what, op=self, where=build_site()))

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        first = self.first_index
        return [[i < first] for i in range(len(node.inputs))]

    def index(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The index for NumPy."""
        return fill(self.idx_list, inputs[self.first_index :])

    def failed(self, node: Apply, inputs: Sequence[Any], error: Exception) -> AxisError:
        """The error for an index that NumPy refuses."""
        text = message(f"{error}", op=self, inputs=inputs, where=node.where())
        return AxisError(text)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{show(self.idx_list) or ':'}}}"


class Take(IndexOp):
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

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return [None if eval_points[0] is None else self(eval_points[0], *inputs[1:])]


class Subtensor(Take):
    """`x[...]` with integers, slices and newaxis; a view.

    idx_list: the template (see `tensor/index_template.py`). Inputs: the array, then a 0-d integer
    for each `INPUT` in the template. Raises `AxisError` for too many indices or one that is out
    of range.
    """

    implied = {"distinct": "distinct"}
    view_map = {0: [0]}

    def __init__(self, idx_list: Template) -> None:
        super().__init__(idx_list)
        if any(isinstance(e, Slice) or e == NEWAXIS for e in self.idx_list):
            self.must_view_map = {0: 0}  # by integers alone, a single number is copied

    def infer_types(self, types: tuple[Any, ...]) -> list[TensorType]:
        self.check_indices(types[1:])
        return [types[0].clone(shape=static_shape(self.idx_list, types[0], self))]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        try:
            output_storage[0][0] = np.asarray(inputs[0][self.index(inputs)])
        except IndexError as error:
            raise self.failed(node, inputs, error) from error

    def equal_lengths(self, node: Apply) -> list[Lengths] | None:
        """Integers have to be in range."""
        return [] if is_in_range(self.idx_list, node.inputs[0].type) else None

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[tuple[Any, ...]]) -> list[Any]:
        result = symbolic_shape(self.idx_list, node, shapes[0], 1)
        if result is None:
            raise MethodNotDefined(f"{self}: the shape depends on a step that is not known")
        return [result]

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

    def make_node(self, *inputs: Any) -> Apply:
        x = as_tensor_variable(inputs[0])
        y = inputs[1]
        if isinstance(y, (int, float, complex)) and not isinstance(y, bool):
            dtype = np.result_type(x.type.numpy_dtype, y).name
            y = constant(y, dtype=dtype)
        variables = (x, *[as_tensor_variable(v) for v in (y, *inputs[2:])])
        types = self.output_types(tuple([v.type for v in variables]))
        return build_node(self, variables, types, user_origin())

    def check_value(self, x: TensorType, y: TensorType, target: Sequence[int | None]) -> None:
        """Raise an error unless `y` can be written into a part of `x` of shape `target`."""
        verb = "set" if self.set_instead_of_inc else "increment"
        if np.result_type(x.numpy_dtype, y.numpy_dtype) != x.numpy_dtype:
            what = f"cannot {verb} a part of a {x} by a {y}: {y.dtype} does not fit into {x.dtype}"
            raise DTypeError(message(what, op=self, where=build_site(), hint="cast one of them"))
        if y.ndim > len(target):
            what = f"cannot {verb} a part with {len(target)} dimensions of a {x} by a {y}"
            raise NDimError(message(what, op=self, where=build_site()))
        for want, got in zip(target[len(target) - y.ndim :], y.shape, strict=True):
            if got not in (None, 1) and want is not None and want != got:
                what = f"cannot {verb} a part of shape {tuple(target)} of a {x} by a {y}"
                raise BroadcastError(message(what, op=self, where=build_site()))

    def check_broadcast(self, node: Apply, y: Any, target: tuple[int, ...]) -> None:
        """Only a dimension of `y` that is known to be 1 may be broadcast: its gradient is then
        right.
        """
        static = node.inputs[1].type.shape
        shape = np.shape(y)
        for want, got, known in zip(target[len(target) - len(shape) :], shape, static, strict=True):
            if got != want and known != 1:
                what = f"a value of shape {shape} does not fit a part of shape {target}"
                raise BroadcastError(
                    message(what, op=self, inputs=node.inputs[:2], where=node.where())
                )

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [shapes[0]]

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

    def infer_types(self, types: tuple[Any, ...]) -> list[TensorType]:
        x, y, *indices = types
        self.check_indices(indices)
        self.check_value(x, y, static_shape(self.idx_list, x, self))
        return [x]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        x, y = inputs[:2]
        out = x if self.inplace and isinstance(x, np.ndarray) else np.array(x)
        index = self.index(inputs)
        try:
            part = out[(*index, ...)]
        except IndexError as error:
            raise self.failed(node, inputs, error) from error
        self.check_broadcast(node, y, part.shape)
        if self.set_instead_of_inc:
            part[...] = y
        else:
            np.add(part, y, out=part)
        output_storage[0][0] = out

    def equal_lengths(self, node: Apply) -> list[Lengths] | None:
        """Integers have to be in range, and what is written has to fit."""
        x, y = [v.type for v in node.inputs[:2]]
        if not is_in_range(self.idx_list, x):
            return None
        axes, known = whole_axes(self.idx_list, x.ndim), static_shape(self.idx_list, x, self)
        first = len(axes) - y.ndim
        groups: list[Lengths] = []
        for k, (axis, length) in enumerate(zip(axes[first:], known[first:], strict=True)):
            if y.shape[k] == 1:
                continue
            if length is not None:
                groups.append([(1, k), length])
            elif axis is not None:
                groups.append([(1, k), (0, axis)])
            else:
                return None
        return groups

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
    inputs = [as_tensor_variable(i) for i in inputs]
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
            message(
                f"not of the form x[index]: {describe(x)}",
                where=build_site(),
                hint="write x[index].set(y)",
            )
        )
    cls = IncSubtensor if isinstance(op, Subtensor) else AdvancedIncSubtensor
    writing, operands = cls(op.idx_list, set_instead_of_inc, inplace), (inputs[0], y, *inputs[1:])
    return writing(*operands) if is_plain(x) else type(x).__apply_op__(writing, operands, {})
