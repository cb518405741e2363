"""Shared variables: roots whose value lives between calls and can be updated by functions.

`shared(value)` makes one. Its class is chosen by `shared_constructor`, a `functools.singledispatch`
on the value, which can be extended to other types of values.
"""

from __future__ import annotations

from copy import deepcopy
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from rewrite_engine.errors import (
    ForeignObjectError,
    RewriteEngineError,
    UpdateTypeError,
    describe,
    refuse_options,
    refuse_unknown,
)
from rewrite_engine.graph.assigned import assigned_name
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.origin import Origin, user_origin
from rewrite_engine.graph.states import collect
from rewrite_engine.graph.type import Type, generic
from rewrite_engine.link.program import Cell, copied, plain
from rewrite_engine.random.type import (
    RandomGeneratorVariable,
    is_generator,
    random_generator_type,
)
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.tensor.variable import TensorVariable

if TYPE_CHECKING:
    from collections.abc import Sequence


class SharedVariable(Variable):
    """Root variable with a value of its own.

    container: the `Cell` with the value, which functions read and write. strict, allow_downcast:
    how a new value is converted, as in `Type.filter`. default_update: the update used by every
    function that reads the variable and has no other update for it. origin: where the program made
    it, if it has no name.
    """

    __slots__ = ("container", "strict", "allow_downcast", "_default_update", "origin")
    origin: Origin | None

    def __init__(
        self,
        type: Type,
        value: Any,
        strict: bool = False,
        allow_downcast: bool | None = None,
        container: Cell | None = None,
        name: str | None = None,
    ) -> None:
        Variable.__init__(self, type, None, None, name)
        self.strict: bool = strict
        self.allow_downcast: bool | None = allow_downcast
        self._default_update: Variable | None = None
        self.origin = None
        if container is None:
            value = plain(type.filter(value, strict=strict, allow_downcast=allow_downcast))
            container = Cell(type, value, name, strict, allow_downcast)
        self.container: Cell = container

    @property
    def assigned(self) -> str | None:
        """Name that the program assigned the new variable to; None if unknown."""
        return assigned_name(self.origin)

    def __str__(self) -> str:
        """Return its name; without one, the name it was assigned to, or its type."""
        return self.name or self.assigned or f"<{self.type}>"

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        """Return a copy of the value. borrow=True returns the value itself, which must not be
        changed.
        """
        return self.container.value if borrow else self.container.copied()

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Change the value. With borrow=True, an object of the right type is stored itself.

        Raises `DTypeError`, `NDimError` or `ShapeError` for a value that does not fit the
        variable's type.
        """
        if isinstance(new_value, Variable):
            raise ForeignObjectError(
                f"set_value of {self!r} needs a value, not {describe(new_value)}"
            )
        try:
            value = plain(
                self.type.filter(new_value, strict=self.strict, allow_downcast=self.allow_downcast)
            )
        except RewriteEngineError as error:
            error.add_note(f"in set_value of the shared variable {self!r}")
            raise
        self.container.value = (
            value if borrow or not _may_share(value, new_value) else copied(value)
        )

    @property
    def value(self) -> Any:
        """Value of the variable, not a copy."""
        return self.container.value

    @property
    def default_update(self) -> Variable | None:
        """Update that functions use by default."""
        return self._default_update

    @default_update.setter
    def default_update(self, value: Any) -> None:
        self._default_update = None if value is None else checked_update(self, value)
        collect(self)

    def clone(self, name: str | None = None) -> Self:
        """Return a shared variable with the same value: a change of one shows in the other."""
        copy = self.__class__.__new__(self.__class__)
        SharedVariable.__init__(
            copy,
            self.type,
            None,
            self.strict,
            self.allow_downcast,
            self.container,
            name or self.name,
        )
        copy.origin = self.origin
        if self._tag is not None:
            copy.tag = deepcopy(self._tag)
        return copy

    def __getstate__(self) -> Any:
        own = {s: getattr(self, s) for s in SharedVariable.__slots__}
        return Variable.__getstate__(self) | own | {"origin": None}


def _operator(name: str) -> Any:
    """The operator of the class that a shared variable has besides this one; where that has none,
    as for a list, an error that says what is a tensor.
    """

    def operator(self: SharedVariable, *others: Any) -> Any:
        inherited = getattr(super(SharedVariable, self), name, None)
        if inherited is not None:
            return inherited(*others)
        if not all(isinstance(other, OPERANDS) for other in others):
            return NotImplemented
        return getattr(as_tensor_variable(self), name)(*others)

    operator.__name__ = name
    return operator


#: what a tensor can be added to; other objects may have operators of their own
OPERANDS = (Variable, np.ndarray, np.generic, int, float, complex, list, tuple)
BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
for _name in ("neg", *BINARY, *[f"r{name}" for name in BINARY]):
    setattr(SharedVariable, f"__{_name}__", _operator(f"__{_name}__"))


def _may_share(value: Any, given: Any) -> bool:
    """Return whether a converted value may share the caller's memory."""
    if isinstance(value, np.ndarray) and isinstance(given, np.ndarray):
        return bool(np.may_share_memory(value, given))
    return value is given


class TensorSharedVariable(SharedVariable, TensorVariable):
    """Shared variable that holds an array."""

    __slots__ = ()

    if TYPE_CHECKING:

        def get_value(
            self, borrow: bool = False, return_internal_type: bool = False
        ) -> np.ndarray[Any, np.dtype[Any]]: ...

    def zero(self, borrow: bool = False) -> None:
        """Set all elements to 0. With borrow=True, in the existing memory."""
        if borrow:
            self.container.value[...] = 0
        else:
            self.container.value = np.zeros_like(self.container.value)


class RandomGeneratorSharedVariable(SharedVariable, RandomGeneratorVariable):
    """Shared variable that holds a random generator."""

    __slots__ = ()


def checked_update(variable: Any, new: Any) -> Variable:
    """Convert an update to a variable that fits its shared variable (or input).

    Raises `UpdateTypeError`, which names the variable and both types.
    """
    try:
        return variable.type.filter_variable(new)  # type: ignore[no-any-return]
    except TypeError as error:
        got = f"{new!r} of type {new.type}" if isinstance(new, Variable) else describe(new)
        hint = ""
        if isinstance(new, Variable) and getattr(new.type, "dtype", None) != getattr(
            variable.type, "dtype", None
        ):
            hint = f"\n    the dtypes differ; `cast(…, {variable.type.dtype!r})` converts"
        raise UpdateTypeError(
            f"the update of {variable!r} has another type: expected {variable.type}, "
            f"got {got}{hint}"
        ) from error


# --- making them ------------------------------------------------------------------------------


OPTIONS = ("name", "strict", "allow_downcast", "borrow", "shape", "broadcastable")


@singledispatch
def shared_constructor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = None,
    broadcastable: Any = None,
    **options: Any,
) -> SharedVariable:
    """Make the shared variable for a value; `register` adds other classes of values."""
    if type(value).__module__.startswith("scipy.sparse."):
        from rewrite_engine.compile.shared_sparse import shared_sparse

        return shared_sparse(
            value, name, strict, allow_downcast, borrow, shape, broadcastable, **options
        )
    refuse_unknown("shared", options, OPTIONS)
    why = f"{type(value).__name__} has none"
    refuse_options("shared", why, shape=shape, broadcastable=broadcastable)
    kept = value if borrow else deepcopy(value)
    if is_generator(value):
        return RandomGeneratorSharedVariable(
            random_generator_type, kept, strict, allow_downcast, name=name
        )
    return SharedVariable(generic, kept, strict, allow_downcast, name=name)


@shared_constructor.register(np.ndarray)
def _(
    value: np.ndarray,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = None,
    broadcastable: Any = None,
    **options: Any,
) -> TensorSharedVariable:
    refuse_unknown("shared", options, OPTIONS)
    if shape is None and broadcastable is None:
        shape = (None,) * value.ndim
    type_ = TensorType(value.dtype, shape, broadcastable=broadcastable)
    kept = value if borrow else value.copy()
    return TensorSharedVariable(type_, kept, strict, allow_downcast, name=name)


@shared_constructor.register(bool)
@shared_constructor.register(int)
@shared_constructor.register(float)
@shared_constructor.register(complex)
@shared_constructor.register(np.generic)
def _(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = (),
    broadcastable: Any = (),
    **options: Any,
) -> TensorSharedVariable:
    refuse_unknown("shared", options, OPTIONS)
    lengths = {"shape": shape or None, "broadcastable": broadcastable or None}
    refuse_options("shared", "a number has no dimensions", **lengths)
    array = np.array(value)
    return TensorSharedVariable(
        TensorType(array.dtype, ()), array, strict, allow_downcast, name=name
    )


@overload
def shared(
    value: np.ndarray[Any, Any] | np.generic | complex,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Sequence[int | None] | None = None,
    *,
    broadcastable: Sequence[bool] | None = None,
) -> TensorSharedVariable: ...
@overload
def shared(
    value: np.random.Generator,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
) -> RandomGeneratorSharedVariable: ...
@overload
def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Sequence[int | None] | None = None,
    *,
    broadcastable: Sequence[bool] | None = None,
    format: str | None = None,
) -> SharedVariable: ...
def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = None,
    **options: Any,
) -> Any:
    """Return a shared variable with this value.

    value: an array (its dimensions may change later, unless `shape` fixes some), a number (a float
    is float64, as in NumPy, whatever floatX is), or any other object, which is stored unchanged. A
    list is stored as a list, which tensor ops reject; pass `numpy.array(…)` instead. borrow: keep
    the object itself, not a copy. strict, allow_downcast: how new values are converted (see
    `Type.filter`). Raises `ForeignObjectError` for a variable.

    >>> import numpy as np
    >>> w = shared(np.zeros(2), name="w")
    >>> w.type
    TensorType(float64, (None,))
    >>> w.set_value(np.ones(2))
    >>> w.get_value()
    array([1., 1.])
    """
    if isinstance(value, Variable):
        kind = "constant" if isinstance(value, Constant) else "variable"
        raise ForeignObjectError(
            f"shared() needs a value, not a {kind}: {describe(value)}; "
            "`Variable.eval` computes its value"
        )
    if shape is not None:
        options["shape"] = shape
    made = shared_constructor(
        value, name=name, strict=strict, allow_downcast=allow_downcast, borrow=borrow, **options
    )
    if name is None:
        made.origin = user_origin()
    return made
