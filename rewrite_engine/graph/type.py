"""`Type`: the static description of the values a variable may take.

Only the contract is here; `TensorType` and other types live with their ops. A type decides which
values are valid (`filter`), compares itself with others (`is_super`, `in_same_class`) and makes
variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import signature
from types import GenericAlias
from typing import Any, ClassVar

from rewrite_engine.errors import DTypeError, MethodNotDefined, TypeMismatchError, describe
from rewrite_engine.graph.intern import Record
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.number import NO_NUMBER, NO_RANK


def also_called(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a method to accept its first argument under the names that other libraries use."""

    def decorated(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def called(self: Any, *args: Any, **options: Any) -> Any:
            given = [options.pop(name) for name in names if name in options]
            return method(self, *given, *args, **options)

        return called

    return decorated


class OlderName:
    """Theano's name for an attribute of a class, readable on the class and on instances."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        return getattr(owner, self.name)


#: Theano's names of classes that a type keeps: `MyType.Variable = MyVariable`
OLDER_NAMES = {"Variable": "variable_type", "Constant": "constant_type"}


class Type(Record):
    """Base class of all types. A subclass must define `filter`; everything else has a sensible
    default.

    List the defining attributes in `__props__` to make equal types one object (see
    `graph/intern.py`); without it every instance is a type of its own.
    """

    #: whether sums and products of such values may be regrouped without changing a bit
    regroups_exactly: bool = True

    #: what to do where an op on dense arrays is given such a variable
    instead_of_tensor: str = ""

    #: what values are that are arrays: the kind of their numbers (as `numpy.dtype.kind`), how many
    #: dimensions they have, and the lengths of these (None: not known). Other types keep these
    #: defaults, and whoever asks (`ndim is NO_RANK`) sees that they are none. (What has lengths but
    #: is no array, as a sparse matrix, tells ndim and shape, and keeps the kind.)
    kind: str = "?"
    ndim: Any = NO_RANK
    shape: tuple[int | None, ...] = ()

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)  # `class MyType(Type[float])`
    variable_type: ClassVar[type[Variable]] = Variable
    constant_type: ClassVar[type[Constant]] = Constant

    # --- values ----------------------------------------------------------------------------------

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return `data`, or a version of it that conforms to this type.

        strict: the object itself must be valid; nothing is converted. allow_downcast: True permits
        loss of precision, False never does, None leaves it to the type. Raises `TypeError` for a
        value of another kind.
        """
        raise MethodNotDefined(f"{type(self).__name__} does not define filter")

    def filter_inplace(
        self, value: Any, storage: Any, strict: bool = False, allow_downcast: bool | None = None
    ) -> Any:
        """Filter a value like `filter`, but possibly into `storage`, the old value.

        Optional: the default is `filter`.
        """
        return self.filter(value, strict, allow_downcast)

    @also_called("data", "a")
    def is_valid_value(self, value: Any, strict: bool = True) -> bool:
        """Return whether `filter(value, strict=strict)` accepts the value."""
        try:
            self.filter(value, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    @also_called("data", "a")
    def value_validity_msg(self, value: Any) -> str:
        """Explain the result of `is_valid_value(value)`."""
        try:
            self.filter(value, strict=True)
        except (TypeError, ValueError) as error:
            return str(error)
        return "value is valid"

    def values_eq(self, a: Any, b: Any) -> bool:
        """Return whether two valid values are equal."""
        return bool(a == b)

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        """Return whether two valid values are equal up to rounding, as this type defines it."""
        return self.values_eq(a, b)

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Return whether two values may share memory. The default compares identity."""
        return a is b

    def get_shape_info(self, obj: Any) -> Any:
        """Return what `get_size` needs of a value. Keep it cheap: functions call it while
        they run.
        """
        return obj

    def get_size(self, shape_info: Any) -> int:
        """Return the bytes of data behind a `get_shape_info` result; 0 if unknown."""
        return 0

    # --- other types -----------------------------------------------------------------------------

    def in_same_class(self, otype: Type) -> bool | None:
        """Return whether `otype` is a subset of the same class of types.

        By default a class has one element.
        """
        return self == otype

    def is_super(self, otype: Type) -> bool | None:
        """Return whether every value of `otype` is valid for `self` (so `otype` can replace
        `self`).

        None if that is unknown.
        """
        if self == otype:
            return True
        return None

    def yields_to(self, otype: Type) -> bool:
        """Return whether a term of `otype` may replace one of this type as the right side of a
        rule.

        The default is `is_super`. A type refuses types that are more precise only because an
        operand was dropped.
        """
        return bool(self.is_super(otype))

    def same_kind(self, otype: Type) -> bool:
        """Return whether types differ only in properties that operands determine (precision,
        shape), not in the kind of value.

        A rule whose sides have types of the same kind that do not fit does not apply; with another
        kind the rule is wrong.
        """
        return type(self) is type(otype)

    def widens(self, otype: Type) -> bool:
        """Return whether a result may have this type only because of an operand without which it
        has `otype`. A rule that drops such an operand does not apply, and is not wrong.
        """
        return self.same_kind(otype)

    def computes_like(self, otype: Type) -> bool:
        """Return whether arithmetic rounds and overflows in the same way for values of
        both types.
        """
        return type(self) is type(otype)

    def keeps_digits(self, number: Any) -> bool:
        """Return whether the type represents a number with all its digits, so that it may be
        computed in advance without changing roundings. (Used for types for which the order of
        operands matters.)
        """
        return math.isfinite(abs(number))

    def element_of(self, value: Any) -> Any:
        """Return the number that all elements of a value (not itself a number) equal; else
        `NO_NUMBER`.
        """
        return NO_NUMBER

    def rounded(self, number: Any) -> Any:
        """Return a Python number as a constant of this type represents it; None if there
        is none.
        """
        return number

    def convert_variable(self, var: Variable) -> Variable | None:
        """Return a variable with the values of `var` and a type that fits both; None if there is
        none.
        """
        if self.is_super(var.type):
            return var
        return None

    def array_of(self, var: Variable) -> Variable:
        """Return the tensor with a variable's values, if they are arrays of another type
        (`xtensor/`); for other types the variable itself. Gradients are of these tensors.
        """
        return var

    def of_array(self, array: Variable) -> Variable:
        """Convert the result of `array_of` to a variable of this type."""
        return array

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable:
        """Return `other` as a variable that can be used where one of this type is expected.

        A value becomes a constant. Raises `TypeMismatchError` if the types are not compatible.
        """
        if not isinstance(other, Variable):
            other = self.make_constant(other)
        variable: Variable = other
        if variable.type is self or variable.type == self:
            return variable
        if allow_convert:
            result = self.convert_variable(variable)
        else:
            result = variable if self.is_super(variable.type) else None
        if result is None:
            raise TypeMismatchError(
                f"cannot use {other!r} of type {other.type} as a variable of type {self}"
            )
        return result

    # --- gradients -------------------------------------------------------------------------------

    def gradient_zeros(self, var: Variable) -> Variable:
        """Return a zero gradient for a variable of this type. (`gradient/` makes those of
        tensors.)
        """
        raise MethodNotDefined(f"{type(self).__name__} does not define gradient_zeros")

    def as_gradient(self, g: Any) -> Any:
        """Convert a gradient to the right form for a variable of this type; by default
        unchanged.
        """
        return g

    def sum_of_gradients(self, terms: Any) -> Any:
        """Return the sum of two or more gradients for a variable of this type."""
        raise MethodNotDefined(f"{type(self).__name__} does not define sum_of_gradients")

    # --- variables -------------------------------------------------------------------------------

    def make_variable(self, name: str | None = None) -> Any:
        """Return a new root variable of this type."""
        return self.variable_type(self, None, None, name)

    def make_constant(self, value: Any, name: str | None = None) -> Any:
        """Return a constant of this type, after filtering the value."""
        return self.constant_type(self, self.filter(value), name)

    def __call__(self, name: str | None = None) -> Any:
        """Call `make_variable`."""
        return self.make_variable(name)

    def clone(self, *args: Any, **changes: Any) -> Type:
        """Return a type of this class made with these arguments. A missing argument is taken from
        the attribute of this type with the parameter's name, else from the parameter's default.
        """
        made = signature(type(self).__init__)
        given = made.bind_partial(self, *args, **changes)
        for name, parameter in made.parameters.items():
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                if name not in given.arguments and hasattr(self, name):
                    given.arguments[name] = getattr(self, name)
        return type(self)(*given.args[1:], **given.kwargs)

    @classmethod
    def adapted(cls, name: str, value: Any) -> list[tuple[str, Any]]:
        """Read Theano's names for the classes of variables and constants."""
        older = isinstance(value, type) and OLDER_NAMES.get(name)
        return [(name, OlderName(older)), (older, value)] if older else [(name, value)]


for _older, _name in OLDER_NAMES.items():
    setattr(Type, _older, OlderName(_name))


class SingletonType(Type):
    """Base class of types without parameters: all instances of a subclass are one object."""

    __props__: tuple[str, ...] | None = ()


class Generic(SingletonType):
    """Type of any Python object."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data

    def is_super(self, otype: Type) -> bool | None:
        return True


generic = Generic()


class NoneType(SingletonType):
    """Type of None alone: the type of an omitted input of a node."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return None. Raises `DTypeError` for anything else."""
        if data is not None:
            raise DTypeError(f"expected None, got {describe(data)}")
        return data


NoneConst = NoneType().make_constant(None)
