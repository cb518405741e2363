"""`In` and `Out`: variables with options for a function."""

from __future__ import annotations

from inspect import signature
from typing import Any, Generic, Never, TypeVar

from rewrite_engine.compile.shared import SharedVariable, checked_update
from rewrite_engine.errors import (
    ConstantInputError,
    ForeignObjectError,
    InputError,
    describe,
    refuse_unknown,
)
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.link.program import MISSING, Cell, plain
from rewrite_engine.match.fact import unmarked

V = TypeVar("V", bound=Variable)


class In:
    """Argument of a function.

    variable: the variable that the argument stands for; a variable with a declaration (`assume`)
    counts as the underlying variable. name: its keyword; by default the variable's name (autoname).
    value: the default; a `Cell` is used directly. update: an expression that becomes the new
    default after each call; without a value, the first call must pass one. mutable: the function
    may overwrite the value, and return it. borrow: results declared `Out(…, borrow=True)` may share
    its memory (as may those of a mutable argument). strict, allow_downcast: as in `Type.filter`.
    shared, implicit: the argument is a state: callers cannot pass it, and it needs a value
    (`InputError`). Raises `ForeignObjectError`, `ConstantInputError`, `UpdateTypeError`.
    """

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        value: Any = None,
        update: Any = None,
        mutable: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
        autoname: bool = True,
        borrow: bool | None = None,
        implicit: bool | None = None,
        shared: bool = False,
        **unknown: Never,
    ) -> None:
        if unknown:
            refuse_unknown("In", unknown, signature(In).parameters)
        check_argument(variable)
        variable = unmarked(variable)
        self.variable = variable
        self.name = name or (variable.name if autoname else None)
        self.update = None if update is None else checked_update(variable, update)
        self.mutable = bool(mutable)
        self.strict = strict
        self.allow_downcast = allow_downcast
        self.borrow = self.mutable if borrow is None else borrow
        self.implicit = self.shared = bool(shared or implicit)
        self.value = self._default(value)
        if self.value is None and self.shared:
            raise InputError(f"the input {variable!r} is a state, so it needs a value")
        if self.value is None and self.update is not None:
            self.value = Cell(variable.type, MISSING, self.name)

    def _default(self, value: Any) -> Cell | None:
        if value is None or isinstance(value, Cell):
            return value
        if isinstance(value, SharedVariable):
            return value.container
        converted = plain(
            self.variable.type.filter(value, strict=self.strict, allow_downcast=self.allow_downcast)
        )
        if converted is value and hasattr(value, "copy") and not self.borrow:
            converted = value.copy()
        return Cell(self.variable.type, converted, self.name)

    def __repr__(self) -> str:
        return f"In({self.variable!r})"


class Out(Generic[V]):
    """Result of a function. borrow: it may share memory that others see: with a shared variable or
    with an argument that is `In(…, borrow=True)`.
    """

    def __init__(self, variable: V, borrow: bool = False, **unknown: Never) -> None:
        refuse_unknown("Out", unknown, ("borrow",))
        if not isinstance(variable, Variable):
            raise ForeignObjectError(f"an output must be a variable, not {describe(variable)}")
        self.variable = variable
        self.borrow = borrow

    def __repr__(self) -> str:
        return f"Out({self.variable!r})"


def check_argument(variable: Any) -> None:
    """Raise an error unless a variable can be an argument, that is, neither constant nor shared."""
    if not isinstance(variable, Variable):
        raise ForeignObjectError(f"an input must be a variable, not {describe(variable)}")
    if isinstance(variable, Constant):
        raise ConstantInputError(
            f"a constant cannot be an input: {describe(variable)}; use a variable such as "
            "vector('x') in its place"
        )
    if isinstance(variable, SharedVariable):
        raise ForeignObjectError(
            f"a shared variable cannot be an input: {describe(variable)}; "
            "it is an implicit input. To pass another value, use givens={shared: input}"
        )


def as_in(x: Any) -> In:
    """Convert an entry of `inputs`, a variable or an `In`, to an `In`."""
    if isinstance(x, In):
        return x
    return In(x)


def as_out(x: Any) -> Out[Any]:
    """Convert an entry of `outputs`, a variable or an `Out`, to an `Out`."""
    return x if isinstance(x, Out) else Out(x)
