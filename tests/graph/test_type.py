"""The contract of `Type`: filtering, comparison, conversion, making variables."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from rewrite_engine.errors import MethodNotDefined, TypeMismatchError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.graph.type import Generic, NoneType, SingletonType, Type, generic
from tests.toy import add, const, exp, num, pos, sin


class DoubleType(Type):
    """The example of the manuals: a type on Python's float, required methods only."""

    def filter(self, x: Any, strict: bool = False, allow_downcast: bool | None = None) -> float:
        if strict:
            if isinstance(x, float):
                return x
            raise TypeError("expected a float!")
        if allow_downcast:
            return float(x)
        x_float = float(x)
        if x_float == x:
            return x_float
        raise TypeError(
            f"The double type cannot accurately represent value {x} (of type {type(x)})"
        )

    def values_eq_approx(self, x: float, y: float, tolerance: float = 1e-4) -> bool:
        return abs(x - y) / (abs(x) + abs(y)) < tolerance


class ComparableDouble(DoubleType):
    """The first remedy of the manuals."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)


class OnlyDouble(DoubleType):
    """The second one: there is one instance. (The third is to show `double` alone.)"""

    only: Any = None

    def __new__(cls) -> Any:
        cls.only = cls.only or super().__new__(cls)
        return cls.only


class SingleDouble(DoubleType):
    """The remedy of this library."""

    __props__ = ()


double = DoubleType()


def test_two_instances_without_props_differ() -> None:
    assert DoubleType() != DoubleType()
    assert double == double
    assert not double.in_same_class(DoubleType())
    assert double.is_super(DoubleType()) is None


@pytest.mark.parametrize("of", [ComparableDouble, OnlyDouble, SingleDouble, lambda: double])
def test_the_remedies_make_instances_equal(of: Any) -> None:
    assert of() == of()
    assert of() != DoubleType()
    assert of().is_super(of())
    assert of().in_same_class(of())
    x = of()("x")
    assert of().filter_variable(x) is x
    assert FunctionGraph([x], [x, of().make_constant(2.0)]).outputs[1].data == 2.0


def test_types_without_parameters_are_one_object() -> None:
    class Single(SingletonType):
        def filter(self, value: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
            return value

    assert Single() is Single()
    assert Single() != Generic()
    assert isinstance(generic, SingletonType)


def test_types_that_compare_by_eq_work_in_graphs() -> None:
    x = ComparableDouble()("x")
    fgraph = FunctionGraph([x], [x, ComparableDouble().make_constant(2.0)])
    fgraph.replace(fgraph.outputs[1], ComparableDouble().make_constant(3.0))
    assert fgraph.outputs[1].data == 3.0


def test_filter_converts_only_without_loss() -> None:
    assert double.filter(2) == 2.0
    assert isinstance(double.filter(2), float)
    assert double.filter("0.5", allow_downcast=True) == 0.5
    with pytest.raises(TypeError, match="accurately"):
        double.filter((1 << 60) + 1)
    assert double.filter((1 << 60) + 1, allow_downcast=True) == float(1 << 60)


def test_strict_filter_returns_the_very_object() -> None:
    value = 2.5
    assert double.filter(value, strict=True) is value
    with pytest.raises(TypeError, match="expected a float"):
        double.filter(2, strict=True)


def test_defaults_that_follow_from_filter() -> None:
    assert double.is_valid_value(1.0)
    assert not double.is_valid_value(1)
    assert double.is_valid_value(1, strict=False)
    assert not double.is_valid_value("a", strict=False)
    assert double.value_validity_msg(1.0) == "value is valid"
    assert double.value_validity_msg(1) == "expected a float!"
    assert double.filter_inplace(3, storage=1.0) == 3.0
    with pytest.raises(TypeError):
        double.filter_inplace(3, 1.0, strict=True)


def test_comparison_of_values() -> None:
    assert double.values_eq(1.0, 1.0)
    assert not double.values_eq(1.0, 1.0 + 1e-9)
    assert double.values_eq_approx(1.0, 1.0 + 1e-9)
    assert double.values_eq_approx(1.0, 1.1, tolerance=0.5)
    assert generic.values_eq_approx("a", "a")
    assert not generic.values_eq_approx("a", "b")


def test_memory_questions_have_defaults() -> None:
    value = [1]
    assert double.may_share_memory(value, value)
    assert not double.may_share_memory(value, [1])
    assert double.get_size(double.get_shape_info(1.0)) == 0


def test_a_type_has_to_define_filter() -> None:
    class Empty(Type):
        pass

    with pytest.raises(MethodNotDefined, match="Empty does not define filter"):
        Empty().filter(1)
    with pytest.raises(NotImplementedError):
        Empty().filter(1)


def test_make_variable_and_call() -> None:
    x, y = double.make_variable("x"), double()
    assert (x.type, x.name, x.owner, x.index) == (double, "x", None, None)
    assert y.name is None
    assert double("z").name == "z"
    assert type(x) is Variable
    assert str(x) == "x"
    assert str(y) == "<DoubleType>"


def test_make_constant_filters() -> None:
    c = double.make_constant(2, name="two")
    assert isinstance(c, Constant)
    assert (c.data, c.value, c.name, c.type) == (2.0, 2.0, "two", double)
    with pytest.raises(ValueError, match="could not convert"):
        double.make_constant("no number")


def test_types_may_choose_the_classes_of_their_variables() -> None:
    class MyVariable(Variable):
        pass

    class MyConstant(Constant):
        pass

    class MyType(Generic):
        variable_type = MyVariable
        constant_type = MyConstant

    assert type(MyType()()) is MyVariable
    assert type(MyType().make_constant(1)) is MyConstant


def test_super_and_same_class() -> None:
    assert num.is_super(pos)
    assert not pos.is_super(num)
    assert num.is_super(num)
    assert num.in_same_class(pos)
    assert num.is_super(double) is None
    assert generic.is_super(num)


def test_filter_variable_lets_subtypes_pass_and_makes_constants() -> None:
    x, p = num("x"), pos("p")
    assert num.filter_variable(x) is x
    assert num.filter_variable(p) is p
    made = num.filter_variable(3)
    assert isinstance(made, Constant)
    assert made.data == 3.0
    assert num.filter_variable(p, allow_convert=False) is p


@pytest.mark.parametrize("allow_convert", [True, False])
def test_filter_variable_refuses_what_does_not_fit(allow_convert: bool) -> None:
    with pytest.raises(
        TypeMismatchError, match="cannot use x of type Num as a variable of type Pos"
    ):
        pos.filter_variable(num("x"), allow_convert=allow_convert)
    with pytest.raises(TypeError):
        double.filter_variable(num("x"), allow_convert=allow_convert)


def test_filter_variable_uses_the_types_conversion() -> None:
    class Converting(Generic):
        def is_super(self, otype: Type) -> bool | None:
            return otype is self

        def convert_variable(self, var: Variable) -> Variable | None:
            return exp(var) if var.type is num else None

    x = num("x")
    converting = Converting()
    assert converting.filter_variable(x).owner.inputs == (x,)
    with pytest.raises(TypeMismatchError):
        converting.filter_variable(x, allow_convert=False)


def test_clone_changes_props() -> None:
    assert num.clone(positive=True) is pos
    assert num.clone(True) is pos
    assert num.clone() is num


class Bounded(DoubleType):
    """A type without `__props__`: one parameter is kept by its name, one is not."""

    def __init__(self, low: float, high: float = 5.0, *, note: str = "") -> None:
        self.low, self.upper, self.note = low, high, note


def test_clone_makes_a_type_of_what_is_given() -> None:
    """By positions and names; what is not given is kept where the type has it by its name."""
    first = Bounded(1.0, 2.0, note="kept")
    for made, expected in (
        (first.clone(), (1.0, 5.0, "kept")),
        (first.clone(3.0), (3.0, 5.0, "kept")),
        (first.clone(3.0, 4.0, note="new"), (3.0, 4.0, "new")),
        (first.clone(high=7.0), (1.0, 7.0, "kept")),
    ):
        assert type(made) is Bounded
        assert (made.low, made.upper, made.note) == expected
    assert type(double.clone()) is DoubleType
    with pytest.raises(TypeError, match="unexpected keyword"):
        first.clone(k=1)

    class Open(DoubleType):
        def __init__(self, *parts: Any, **more: Any) -> None:
            self.parts, self.more = parts, more

    copy = Open(1).clone(2, 3, k=4)
    assert (copy.parts, copy.more) == ((2, 3), {"k": 4})


def test_older_names_of_arguments() -> None:
    """`data`, as of `filter`, and `a`, as Theano has it."""
    for name in ("value", "data", "a"):
        assert double.is_valid_value(**{name: 1.0})
        assert not double.is_valid_value(**{name: "x"})
        assert "float" in double.value_validity_msg(**{name: "x"})
    assert double.is_valid_value(a=1, strict=False)
    assert not double.is_valid_value(data=1)
    with pytest.raises(TypeError):
        double.is_valid_value(b=1.0)


class OwnVariable(Variable):
    note = "own"


class OwnConstant(Constant):
    note = "own"


def test_theanos_names_of_classes() -> None:
    """`Variable` and `Constant` of a type: read, and set in the class or later."""
    assert (Type.Variable, Type.Constant) == (Variable, Constant)

    class Inside(DoubleType):
        Variable = OwnVariable
        Constant = OwnConstant

    class Later(DoubleType):
        pass

    Later.Variable = OwnVariable
    for one in (Inside(), Later()):
        assert isinstance(one("x"), OwnVariable)
        assert one.Variable is type(one).Variable is one.variable_type is OwnVariable
    assert Inside().make_constant(2.0).note == "own"
    assert type(Inside.Variable(Inside(), name="y")) is OwnVariable
    assert DoubleType.Variable is Variable

    class Modern(Inside):
        variable_type = Variable

    assert type(Modern()()) is Modern.Variable is Variable


def test_generic_takes_anything() -> None:
    assert Generic() is generic
    assert generic.filter({1: 2}, strict=True) == {1: 2}
    assert generic.is_valid_value(None)


def test_types_print_themselves() -> None:
    assert str(num) == "Num"
    assert str(double) == "DoubleType"
    assert str(SingleDouble()) == "SingleDouble"


def test_interning_survives_copying_graphs() -> None:
    y = add(sin(num("x")), const(2.0))
    for other in (copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        assert other.type is num
        assert other.owner.inputs[1].type is pos


def test_what_is_no_array_has_no_rank() -> None:
    rank = NoneType().ndim
    assert rank is NO_RANK is pickle.loads(pickle.dumps(rank))
    assert not rank
    assert (None,) * rank == ()
    assert max(rank, 2) == 2
    assert rank != 0


def test_classes_take_parameters_in_annotations() -> None:
    class Own(Type[float]):  # type: ignore[type-arg, misc]
        def filter(self, data: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
            return float(data)

    assert Own.__mro__[1] is Type
    assert isinstance(Own()("x"), Variable)
    for cls in (Variable, Constant, Apply, Type):
        assert cls[Own, None].__origin__ is cls  # type: ignore[index, type-arg, attr-defined]
