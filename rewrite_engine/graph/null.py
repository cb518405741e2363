"""Types of gradients that do not exist: `NullType` (undefined or not implemented) and
`DisconnectedType`.

They belong to layer 0 so that an op's `grad` can return them without importing `gradient/`, which
reads them.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.type import Type


class Valueless(Type):
    """Type without values: every `filter` raises a `TypeError` that states `why`."""

    why: str

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        raise TypeError(f"a {self} has no values{self.why}")

    def values_eq(self, a: Any, b: Any) -> bool:
        raise TypeError(f"values of a {self} cannot be compared: it has none")

    def is_super(self, otype: Type) -> bool | None:
        return isinstance(otype, type(self))

    def __str__(self) -> str:
        return type(self).__name__


class NullType(Valueless):
    """Type of a gradient that is undefined, or that an op does not implement; `why_null` says
    which. Gradients through such a variable raise `NullTypeGradError`.
    """

    __props__ = ("why_null",)

    def __init__(self, why_null: str = "(no reason given)") -> None:
        self.why_null = why_null
        self.why = f"; it is null because: {why_null}"


class DisconnectedType(Valueless):
    """Type of the gradient of a variable that the cost does not depend on.

    An op's `grad` receives it for outputs that the cost does not use, and returns it for inputs
    whose elements do not influence the outputs.
    """

    __props__ = ()
    why = ": it is the type of the gradient of a variable that the cost does not depend on"


null_type = NullType()
disconnected_type = DisconnectedType()


def is_null(variable: Any) -> bool:
    """Return whether a gradient is undefined or not implemented."""
    return isinstance(variable.type, NullType)


def is_disconnected(variable: Any) -> bool:
    """Return whether a gradient belongs to a variable that the cost does not depend on."""
    return isinstance(variable.type, DisconnectedType)


def disconnected() -> Variable:
    """Return a new variable of `DisconnectedType`."""
    return disconnected_type.make_variable()  # type: ignore[no-any-return]


def grad_undefined(op: Any, x_pos: int, x: Variable, comment: str = "") -> Variable:
    """Return the gradient of `op` for its input `x_pos`, the variable `x`, if it is mathematically
    undefined.

    For `Op.grad`. Using the result raises `NullTypeGradError` with the comment.
    """
    return _null("undefined", op, x_pos, x, comment)


def grad_not_implemented(op: Any, x_pos: int, x: Variable, comment: str = "") -> Variable:
    """Return the gradient of `op` for its input `x_pos`, the variable `x`, if it is not
    implemented.

    For `Op.grad`. Using the result raises `NullTypeGradError` with the comment.
    """
    return _null("not implemented", op, x_pos, x, comment)


def _null(how: str, op: Any, x_pos: int, x: Variable, comment: str) -> Variable:
    why = f"the gradient of {op} for its input {x_pos} ({x!r} of type {x.type}) is {how}"
    return NullType(f"{why}: {comment}" if comment else why)()  # type: ignore[no-any-return]
