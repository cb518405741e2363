"""`In` and `Out`: variables with what a function should do with them."""

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
    """An argument of a function.

    variable: what it stands for; of one of which something is declared (`assume`), the variable
    itself. name: its keyword; by default the variable's name (autoname).
    value: the default; a `Cell` is used itself. update: an expression that becomes the new
    default after each call; without a value the first call has to give one. mutable: the function
    may overwrite the value, and return it. borrow: results that are `Out(…, borrow=True)` may show
    its memory (so may those of a mutable one).
    strict, allow_downcast: as in `Type.filter`. shared, implicit: the argument is a state: it
    cannot be given in a call, and needs a value (`InputError`). Raises `ForeignObjectError`,
    `ConstantInputError`, `UpdateTypeError`.
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
    """A result of a function. borrow: it may show memory that others see: that of a shared variable
    or of an argument that is `In(…, borrow=True)`.
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
    """Raise unless a variable can be an argument: it must be no constant, and not shared."""
    if not isinstance(variable, Variable):
        raise ForeignObjectError(f"an input must be a variable, not {describe(variable)}")
    if isinstance(variable, Constant):
        raise ConstantInputError(
            f"a constant cannot be an input: {describe(variable)}; use a variable such as "
            "vector('x') in its place"
        )
    if isinstance(variable, SharedVariable):
        raise ForeignObjectError(
            f"a shared variable cannot be an input: {describe(variable)}; it is one anyway. "
            "To give another value in its place use givens={shared: input}"
        )


def as_in(x: Any) -> In:
    """Read one entry of `inputs`: a variable or an `In`."""
    if isinstance(x, In):
        return x
    return In(x)


def as_out(x: Any) -> Out[Any]:
    """Read one entry of `outputs`: a variable or an `Out`."""
    return x if isinstance(x, Out) else Out(x)
