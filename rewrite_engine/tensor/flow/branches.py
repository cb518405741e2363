"""Branches that compute only one side: `ifelse`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from rewrite_engine.errors import DTypeError, InputError, NDimError, TypeMismatchError
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.op import Lengths, Op
from rewrite_engine.graph.origin import located, user_origin
from rewrite_engine.tensor.batch import all_stretched, batch_ranks
from rewrite_engine.tensor.constant import as_tensor_variable, constant, refuse_truth, weak_constant
from rewrite_engine.tensor.creation import zeros
from rewrite_engine.tensor.elemwise_grad import zero_gradient
from rewrite_engine.tensor.math import switch
from rewrite_engine.tensor.shape import shape_tuple
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    import numpy as np

    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["IfElse", "ifelse"]


class IfElse(Op):
    """Op `if_else(condition, x, y)`: x if the condition, a number, is not 0, else y.

    Values that only one branch needs are computed only if it is taken; several choices by one
    condition are separate nodes. Both branches have one type; the lengths of tensors may differ.
    Raises `NDimError`, `DTypeError`, `TypeMismatchError`.
    """

    __props__ = ()
    moves_only = True
    elements = slice(1, None)
    view_map = {0: [1, 2]}

    def __str__(self) -> str:
        return "ifelse"

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op to a condition and two values."""
        refuse_truth(inputs[0], self)
        condition = as_tensor_variable(inputs[0])
        if condition.type.ndim:
            hint = "use switch(condition, x, y) to choose element by element"
            what = "the condition must be a single number"
            raise NDimError(located(what, op=self, inputs=[condition], hint=hint))
        if isinstance(condition, Constant):
            condition = constant(bool(condition.data))
        x, y = _both(*inputs[1:])
        return build_node(self, (condition, x, y), (self.common(x, y),), user_origin())

    def common(self, x: Variable, y: Variable) -> Any:
        """Return the type that includes both values."""
        a: Any = x.type
        b: Any = y.type
        if a is b or a.is_super(b):
            return a
        if b.is_super(a):
            return b
        error: type[Exception]
        if not (isinstance(a, TensorType) and isinstance(b, TensorType)):
            error, what = TypeMismatchError, f"types: {a} and {b}"
        elif a.dtype != b.dtype:
            error, what = DTypeError, f"dtypes: {a.dtype} and {b.dtype}"
        elif a.ndim != b.ndim:
            error, what = NDimError, f"numbers of dimensions: {a.ndim} and {b.ndim}"
        else:
            shape = [m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)]
            return a.clone(shape=shape)
        raise error(located(f"the branches have different {what}", op=self, inputs=[x, y]))

    def read_if(self, node: Apply) -> list[Any]:
        """Return the values of the branches, as chosen by the condition."""
        return [None, (0, True), (0, False)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        condition, x, y = inputs
        output_storage[0][0] = x if condition else y

    # --- what is known ------------------------------------------------------------------------

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Choose lengths that differ by the condition."""
        lengths = []
        for k, (m, n) in enumerate(zip(shapes[1], shapes[2], strict=True)):
            known = node.outputs[0].type.shape[k]
            if known is not None:
                lengths.append(weak_constant(known, "int64"))
            else:
                both = [as_tensor_variable(i, dtype="int64") for i in (m, n)]
                lengths.append(m if m is n else self(node.inputs[0], *both))
        return [tuple(lengths)]

    def equal_lengths(self, node: Apply) -> list[Lengths]:
        """Return no lengths: the op never fails."""
        return []

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a batch: one condition for the whole batch chooses all of it, a batch of
        conditions becomes `switch`.
        """
        n, (condition, x, y) = all_stretched(node, inputs)
        if not batch_ranks(node, inputs)[0]:
            return [self(inputs[0], x, y)]
        return [switch(condition.dimshuffle(*range(n), *["x"] * (x.type.ndim - n)), x, y)]

    # --- derivatives --------------------------------------------------------------------------

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the output gradient for the branch taken, 0 for the other, which is not computed
        (see `gradient/partial.py`).
        """
        condition, *values = inputs
        (g,) = output_gradients
        if is_disconnected(g) or not isinstance(outputs[0].type, TensorType):
            return [zero_gradient(condition), disconnected(), disconnected()]
        x, y = [zeros(shape_tuple(v), dtype=g.type.dtype) for v in values]
        return [zero_gradient(condition), self(condition, g, x), self(condition, y, g)]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent of the branch taken."""
        condition, *values = inputs
        moves = eval_points[1:]
        known = [t for t in moves if t is not None]
        if not known:
            return [None]
        dtype = known[0].type.dtype
        pairs = zip(values, moves, strict=True)
        both = [zeros(shape_tuple(v), dtype=dtype) if t is None else t for v, t in pairs]
        return [self(condition, *both)]


def _both(x: Any, y: Any) -> list[Any]:
    """Return two values as variables; a Python number takes the dtype of the other value."""
    dtypes = [getattr(v.type, "dtype", None) if isinstance(v, Variable) else None for v in (x, y)]
    found: list[Any] = []
    for v, dtype in zip((x, y), reversed(dtypes), strict=True):
        if isinstance(v, bool | int | float) and dtype is not None:
            found.append(weak_constant(v, dtype))
        else:
            found.append(v if isinstance(v, Variable) else as_tensor_variable(v))
    return found


if_else = IfElse()


@overload
def ifelse(
    condition: TensorLike,
    then_branch: list[Any],
    else_branch: Sequence[Any],
    name: str | None = None,
) -> list[TensorVariable]: ...
@overload
def ifelse(
    condition: TensorLike,
    then_branch: tuple[Any, ...],
    else_branch: Sequence[Any],
    name: str | None = None,
) -> tuple[TensorVariable, ...]: ...
@overload
def ifelse(
    condition: TensorLike,
    then_branch: TensorVariable | np.ndarray[Any, Any] | complex,
    else_branch: TensorVariable | np.ndarray[Any, Any] | complex,
    name: str | None = None,
) -> TensorVariable: ...
@overload
def ifelse(
    condition: TensorLike, then_branch: Any, else_branch: Any, name: str | None = None
) -> Any: ...
def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """Return `then_branch` if a condition (a number) is not 0, else `else_branch`.

    The branches are values, or lists or tuples of equal length (then so is the result). Values that
    only one branch needs are computed only if it is taken; so are their gradients. The two values
    of an output have one type, but their lengths may differ. name: name of the result (several
    results get numbers appended). Raises `InputError` for lists of different lengths, `NDimError`,
    `DTypeError` and `TypeMismatchError` for branches of different types, `NDimError` for a
    condition that is not a single number.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.dvector("x")
    >>> mean = ifelse(pt.eq(x.shape[0], 0), 0.0, x.sum() / x.shape[0])
    >>> mean.eval({x: [1.0, 2.0]}), mean.eval({x: []})
    (array(1.5), array(0.))
    """
    if not isinstance(then_branch, list | tuple):
        (otherwise,) = else_branch if isinstance(else_branch, list | tuple) else [else_branch]
        return if_else(condition, then_branch, otherwise, name=name)
    others = list(else_branch) if isinstance(else_branch, list | tuple) else [else_branch]
    if len(then_branch) != len(others):
        what = f"{len(then_branch)} and {len(others)}"
        raise InputError(located(f"ifelse: the branches must have equally many values, not {what}"))
    pairs = enumerate(zip(then_branch, others, strict=True))
    found = [if_else(condition, x, y, name=name and f"{name}_{i}") for i, (x, y) in pairs]
    return type(then_branch)(found)
