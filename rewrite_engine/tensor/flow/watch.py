"""Ops that show values while a function runs: `Print`, `PdbBreakpoint`.

No rule removes them or their inputs; gradients pass through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import NDimError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.op import Shapes, TensorOp

if TYPE_CHECKING:
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["PdbBreakpoint", "Print"]

_number = count()


class PassesOn(TensorOp):
    """Base class of ops whose outputs are their last inputs, unchanged."""

    nin: int | None = None
    nout: int | None = None
    moves_only = True
    may_fail = True
    #: how many inputs there are before those
    first = 0

    def convert_input(self, x: Any) -> Variable:
        return x if isinstance(x, Variable) else as_tensor_variable(x)

    def takes(self, types: tuple[Any, ...]) -> None:
        """Accept inputs of any types."""

    def infer_types(self, types: tuple[Any, ...], numbers: Sequence[Any] = ()) -> Sequence[Any]:
        """Return the types of the inputs."""
        return types[self.first :]

    def shapes(self, *types: Any) -> Shapes:
        pairs = enumerate(types[self.first :], self.first)
        return Shapes([[(i, k) for k in range(getattr(t, "ndim", None) or 0)] for i, t in pairs])

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Return False: the effect belongs to the run of the function."""
        return False

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        outs = range(len(node.outputs))
        return [[i - self.first == j for j in outs] for i in range(len(node.inputs))]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        return [*[disconnected()] * self.first, *output_gradients]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return list(eval_points[self.first :])


def show(op: Print, value: Any) -> None:
    """Print the attributes that `op.attrs` names, or the results of methods."""
    for name in op.attrs:
        found = getattr(value, name)
        print(f"{op.message} {name} = {found() if callable(found) else found}")  # noqa: T201


class Print(PassesOn):
    """Op that prints a value and returns it: `Print("x is")(x)`.

    Each time x is computed, the function prints `x is __str__ = [1. 2.]`. message: the text before
    the value. attrs: names of attributes and methods of the value (`"shape"`, `"mean"`). global_fn:
    a function `(op, value)` to call instead of printing. Every application prints separately,
    though equal nodes are otherwise merged.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.dvector("x")
    >>> y = Print("x:", attrs=["min", "shape"])(x)
    >>> y.eval({x: [1.0, 2.0]})
    x: min = 1.0
    x: shape = (2,)
    array([1., 2.])
    """

    __props__: tuple[str, ...] | None = ("message", "attrs", "global_fn", "number")
    nin = 1
    samples: Sequence[Any] = (({"message": "x"}, (2, 3)), ({"attrs": ("shape",)}, ()))
    view_map = {0: [0]}
    must_view_map = {0: 0}

    def __init__(
        self,
        message: str = "",
        attrs: Sequence[str] = ("__str__",),
        global_fn: Callable[[Any, Any], None] = show,
        number: int | None = None,
    ) -> None:
        self.message, self.attrs, self.global_fn = message, tuple(attrs), global_fn
        self.number = number

    def __call__(  # type: ignore[override]
        self, *inputs: Any, **options: Any
    ) -> TensorVariable:
        """Apply the op; each application is a separate node."""
        own = type(self)(self.message, self.attrs, self.global_fn, next(_number))
        return super(Print, own).__call__(*inputs, **options)

    def __str__(self) -> str:
        return f"Print{{{self.message!r}}}"

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        self.global_fn(self, inputs[0])
        output_storage[0][0] = inputs[0]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Print the whole batch at once."""
        return [self(*inputs)]


class PdbBreakpoint(PassesOn):
    """Op that returns its values and opens Python's debugger if a condition is not 0.

    `PdbBreakpoint("name")(condition, *values)` returns the values; the condition is a number. In
    the debugger (`breakpoint()`) the list `values` can be read and changed.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.dvector("x")
    >>> y, total = PdbBreakpoint("too large")(x.sum() > 100, x, x.sum())
    >>> (y * total).eval({x: [1.0, 2.0]})
    array([3., 6.])
    """

    __props__: tuple[str, ...] | None = ("name",)
    first = 1
    samples: Sequence[Any] = (({"name": "never"}, 0, (2, 3), (2,)),)

    def __init__(self, name: str = "") -> None:
        self.name = name

    def infer_types(self, types: tuple[Any, ...], numbers: Sequence[Any] = ()) -> Sequence[Any]:
        """Return the types of the values. Raise `NDimError`."""
        if types and types[0].ndim:
            raise NDimError("the condition must be a single number")
        return types[1:]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        condition, *values = inputs
        values = [v.type.filter(_copy(x)) for v, x in zip(node.outputs, values, strict=True)]
        if condition:
            print(f"breakpoint {self.name!r}: the list `values` has {len(values)}")  # noqa: T201
            breakpoint()
        for cell, v, value in zip(output_storage, node.outputs, values, strict=True):
            cell[0] = v.type.filter(value)


def _copy(value: Any) -> Any:
    return value.copy() if hasattr(value, "copy") else value
