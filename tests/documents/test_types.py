"""Aesara's page "Types": its samples, and what it says that no other test does.

`DoubleType` is `tests/graph/test_type.py`'s, as written there by that page; here it is used as a
user does, with ops and functions. (`false`, `none` and `typeerror` of the sample are Python's.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("peers")


# --- TensorType -------------------------------------------------------------------------------


def test_a_type_makes_variables_as_a_class_of_arrays_would_make_arrays() -> None:
    """What the page's imagined `NdarrayType` has: dtype and shape, and no values."""
    from aesara.graph.basic import Variable
    from aesara.graph.type import Type
    from aesara.tensor.type import TensorType

    of = TensorType("float64", (2, 3))
    assert (of.dtype, of.shape, of.ndim) == ("float64", (2, 3), 2)
    v = of()
    assert isinstance(v, Variable)
    assert isinstance(of, Type)
    assert not isinstance(of, type)
    assert (v.type, v.dtype, v.type.shape) == (of, "float64", (2, 3))
    assert TensorType(np.dtype("float64"), shape=(2, 3)) is of
    assert TensorType("float64", broadcastable=(False, True)).shape == (None, 1)


def test_partial_shapes() -> None:
    from aesara.tensor.type import TensorType

    of = TensorType("float64", (2, None))
    for n in (0, 1, 5):
        assert of.is_valid_value(np.zeros((2, n)))
    assert not of.is_valid_value(np.zeros((3, 1)))
    assert not of.is_valid_value(np.zeros(2))


def test_comparing_and_filtering(capsys: pytest.CaptureFixture[str]) -> None:
    """The session of the page. What was a `Rebroadcast` there is `SpecifyShape`; and the type of
    `v3` has both lengths, as the page's note wishes.
    """
    import aesara
    from aesara.tensor.type import TensorType

    v1 = TensorType("float64", (2, None))()
    assert repr(v1.type) == "TensorType(float64, (2, None))"
    v2 = TensorType("float64", (2, 1))()
    assert repr(v2.type) == "TensorType(float64, (2, 1))"
    assert v1.type.in_same_class(v2.type) is False
    assert v1.type.is_super(v2.type) is True
    assert repr(v1.type.filter_variable(v2)) == "<TensorType(float64, (2, 1))>"
    v3 = v2.type.filter_variable(v1)
    assert str(v3) == "SpecifyShape{2, 1}.0"
    assert (v3.type, v3.owner.inputs[0]) == (v2.type, v1)
    aesara.dprint(v3, print_type=True)
    assert capsys.readouterr().out == (
        "SpecifyShape{2, 1} [id A] <TensorType(float64, (2, 1))>\n"
        " └─ <TensorType(float64, (2, None))> [id B] <TensorType(float64, (2, None))>\n"
    )
    f = aesara.function([v1], v3)
    assert f(np.ones((2, 1))).shape == (2, 1)
    with pytest.raises(AssertionError):
        f(np.ones((2, 2)))


# --- a type of one's own ----------------------------------------------------------------------


def double_type() -> Any:
    """`DoubleType` of the page, put together."""
    from aesara.graph.type import Type

    class DoubleType(Type):
        def filter(self, x: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
            if strict:
                if isinstance(x, float):
                    return x
                raise TypeError("expected a float!")
            elif allow_downcast:
                return float(x)
            else:
                x_float = float(x)
                if x_float == x:
                    return x_float
                raise TypeError(
                    f"The double type cannot accurately represent value {x} (of type {type(x)})"
                )

        def values_eq_approx(self, x: Any, y: Any, tolerance: float = 1e-4) -> bool:
            return abs(x - y) / (abs(x) + abs(y)) < tolerance

    return DoubleType


def test_its_instances_are_other_types_until_they_say_that_they_are_equal() -> None:
    """Three remedies: `__eq__`, one instance by `__new__`, one instance that is shown."""
    DoubleType = double_type()
    double1 = DoubleType()
    double2 = DoubleType()
    assert (double1 == double2) is False

    class Equal(DoubleType):  # type: ignore[misc, valid-type]
        def __eq__(self, other: object) -> bool:
            return type(self) == type(other)  # noqa: E721 (as the sample)

    class Single(DoubleType):  # type: ignore[misc, valid-type]
        only: Any = None

        def __new__(cls) -> Any:
            cls.only = cls.only or super().__new__(cls)
            return cls.only

    for of in (Equal, Single, lambda: double1):
        assert of() == of()
        assert hash(of()) == hash(of())
        assert of().is_super(of())
        assert of().in_same_class(of())


def test_it_decides_which_values_it_takes() -> None:
    """The defaults follow from `filter`; `a + a + …` is 6 * a up to rounding."""
    double = double_type()()
    assert double.filter(2) == 2.0
    large = (1 << 60) + 1  # no float
    for downcast in (None, False):
        with pytest.raises(TypeError, match="cannot accurately represent"):
            double.filter(large, allow_downcast=downcast)
    assert double.filter(large, allow_downcast=True) == float(1 << 60)
    assert (double.is_valid_value(1.0), double.is_valid_value(1)) == (True, False)
    a = 0.1
    total = a + a + a + a + a + a
    assert not double.values_eq(total, 6 * a)
    assert double.values_eq_approx(total, 6 * a)


@pytest.mark.parametrize("mode", [None, "py", "FAST_COMPILE", "DebugMode"])
def test_it_is_used_as_any_other(mode: Any) -> None:
    """Arguments, options of inputs, ops on it, results."""
    import aesara
    from aesara.graph.basic import Apply
    from aesara.graph.op import Op

    double = double_type()()

    class Mul(Op):
        __props__ = ()

        def make_node(self, x: Any, y: Any) -> Any:
            for v in (x, y):
                if not double.is_super(v.type):
                    raise TypeError(f"expected a double, not {v.type}")
            return Apply(self, [x, y], [double()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = inputs[0] * inputs[1]

    mul = Mul()
    x, y = double("x"), double("y")
    with pytest.raises(TypeError, match="expected a double"):
        mul(x, aesara.tensor.dscalar())
    f = aesara.function([x, y], mul(mul(x, y), double.make_constant(2)), mode=mode)
    assert f(2, 3.0) == 12.0
    assert type(f(2, 3.0)) is float
    with pytest.raises(TypeError, match="cannot accurately represent"):
        f((1 << 60) + 1, 1.0)
    loose = aesara.function([aesara.In(x, allow_downcast=True), y], mul(x, y), mode=mode)
    assert loose((1 << 60) + 1, 1.0) == float(1 << 60)
    strict = aesara.function([aesara.In(x, strict=True), y], mul(x, y), mode=mode)
    with pytest.raises(TypeError, match="expected a float!"):
        strict(2, 1.0)
