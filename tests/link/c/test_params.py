"""Parameters of ops: one object, a struct of several, enumerations."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.c import (
    CEnumType,
    COp,
    EnumList,
    EnumType,
    Generic,
    Params,
    ParamsType,
    c_function,
    generic,
)
from rewrite_engine.link.c.source import c_source_of
from rewrite_engine.scalar import ScalarType

NUMBER, TABLE = ScalarType("float64"), pt.TensorType("float64", (None,))


class Polynomial(COp):
    """a x² + b x + c, of a number of float64."""

    params_type = ParamsType(a=pt.TensorType("float64", ()), b=NUMBER, c=generic)
    itypes = otypes = [NUMBER]

    def __init__(self, a: float, b: float, c: float) -> None:
        self.a, self.b, self.c = a, b, c

    def perform(self, node: Apply, inputs: Any, output_storage: Any, params: Any) -> None:
        (x,) = inputs
        output_storage[0][0] = params.a * x**2 + params.b * x + params.c

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (x,), (z,), p = inputs, outputs, sub["params"]
        return f"""double c = PyFloat_AsDouble({p}->c);
        double a = *(double*)PyArray_DATA({p}->a);
        {z} = a * {x} * {x} + {p}->b * {x} + c;"""

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


def test_a_struct_of_parameters() -> None:
    x = NUMBER("x")
    first, second = Polynomial(2, 3, -7)(x), Polynomial(0, 1, 0.5)(x)
    for mode in (None, rw.Mode(linker="py"), rw.Mode(linker="c")):
        assert rw.function([x], [first, second], mode=mode)(2.0) == [7.0, 2.5]
    assert c_source_of(first.owner) == c_source_of(second.owner)  # one module serves both
    node = first.owner
    cell: list[Any] = [None]
    node.op.perform(node, [np.float64(2)], [cell], Params(node.op.params_type, a=0, b=1, c=2))
    assert cell == [4.0]


def test_a_parameter_that_cannot_be_read_is_an_error_of_the_compilation() -> None:
    x = NUMBER("x")
    op = Polynomial(1, 2, 3)
    del op.c
    with pytest.raises(AttributeError, match="no value for the parameter 'c' of ParamsType"):
        rw.function([x], op(x))
    with pytest.raises(TypeError, match="text"):
        rw.function([x], Polynomial(2, "text", 1)(x))  # type: ignore[arg-type]

    class Refuses(Polynomial):
        """Whose struct cannot be started."""

        def c_init_code_struct(self, node: Apply, name: str, sub: Any) -> str:
            return f"""if (PyFloat_AsDouble({sub["params"]}->c) < 0) {{
                PyErr_SetString(PyExc_ValueError, "c is negative");
                {sub["fail"]}
            }}"""

    for c in (1, -1):
        op = Refuses(1, 2, c)
        if c > 0:
            assert rw.function([x], op(x))(1.0) == 4.0
            continue
        with pytest.raises(ValueError, match="c is negative") as caught:
            rw.function([x], op(x))
        assert "Refuses" in caught.value.__notes__[0]
        assert "test_params.py" in caught.value.__notes__[0]


class Weighted(COp):
    """alpha x + beta y; the weights are read once, into a struct."""

    __props__ = ("alpha", "beta")
    params_type = Generic()
    itypes, otypes = [NUMBER, NUMBER], [NUMBER]

    def __init__(self, alpha: float, beta: float) -> None:
        self.alpha, self.beta = alpha, beta

    def get_params(self, node: Apply) -> tuple[float, float]:
        return self.alpha, self.beta

    def c_support_code_struct(self, node: Apply, name: str) -> str:
        return f"double alpha_{name}, beta_{name};"

    def c_init_code_struct(self, node: Apply, name: str, sub: Any) -> str:
        read = f'PyArg_ParseTuple({sub["params"]}, "dd", &alpha_{name}, &beta_{name})'
        return f"if (!{read}) {sub['fail']}"

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        x, y = inputs
        return f"{outputs[0]} = alpha_{name} * {x} + beta_{name} * {y};"

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


def test_any_object_may_be_the_parameter() -> None:
    x, y = NUMBER("x"), NUMBER("y")
    f = rw.function([x, y], [Weighted(2.0, 3.0)(x, y), Weighted(1.0, -1.0)(x, y)])
    assert f(10.0, 1.0) == [23.0, 9.0]
    wrong = Weighted("a", 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be real number"):
        c_function(wrong(x, y).owner)


def test_params_are_values() -> None:
    kind = ParamsType(a=generic, table=TABLE, n=NUMBER)
    assert kind is ParamsType(n=NUMBER, table=TABLE, a=Generic())
    one, other = [Params(kind, a=1, table=np.arange(3.0), n=-4.5) for _ in range(2)]
    assert one == other
    assert hash(one) == hash(other)
    for change in ({"a": 2}, {"table": np.arange(3.0) + 1}, {"n": 0.0}, {"a": True}):
        assert Params(kind, **({"a": 1, "table": np.arange(3.0), "n": -4.5} | change)) != one
    assert pickle.loads(pickle.dumps(one)) == one
    assert (one.a, one["n"]) == (1, -4.5)
    with pytest.raises(AttributeError):
        one.a = 2
    with pytest.raises(AttributeError, match="no value for table"):
        Params(kind, a=1, n=1)


def test_a_struct_has_fields_with_types() -> None:
    kind = ParamsType(a=generic, table=TABLE, n=NUMBER)
    assert (kind.fields, kind.length) == (("a", "n", "table"), 3)
    assert kind.get_type("table") is TABLE
    assert (kind.get_field(NUMBER), kind.has_type(TABLE)) == ("n", True)
    assert kind.extended(n=generic, more=TABLE) == ParamsType(
        a=generic, table=TABLE, n=generic, more=TABLE
    )
    with pytest.raises(ValueError, match="at least one field"):
        ParamsType()
    with pytest.raises(AttributeError, match="a field cannot be called 'class' in C"):
        ParamsType(**{"class": NUMBER})
    with pytest.raises(TypeError, match="field 'a' must have a type, not int 3"):
        ParamsType(a=3)


def test_a_struct_filters_its_fields() -> None:
    kind = ParamsType(table=pt.TensorType("int32", (None, None)), n=NUMBER)
    wide = Params(kind, table=np.ones((2, 2), "int64"), n=np.float64(1))
    with pytest.raises(TypeError):
        kind.filter(wide, strict=True)
    with pytest.raises(TypeError):
        kind.filter({"n": 1}, strict=True)
    found = kind.filter(wide, allow_downcast=True)
    assert found.table.dtype == "int32"
    assert kind.filter(found, strict=True) is found
    assert kind.values_eq(found, kind.get_params(wide))
    near = Params(kind, table=found.table, n=np.float64(1 + 1e-9))
    assert (kind.values_eq(found, near), kind.values_eq_approx(found, near)) == (False, True)


class Chosen(COp):
    """Of two numbers, what is chosen by a name."""

    __props__ = ("how",)
    params_type = EnumList(("ADD", "+"), ("SUB", "-"), ctype="unsigned  long")
    itypes, otypes = [NUMBER, NUMBER], [NUMBER]

    def __init__(self, how: str) -> None:
        self.how = how

    def get_params(self, node: Apply) -> str:
        return self.how

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (x, y), (z,) = inputs, outputs
        return f"""switch ({sub["params"]}) {{
            case ADD: {z} = {x} + {y}; break;
            case SUB: {z} = {x} - {y}; break;
            default: {sub["fail"]}
        }}"""

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


def test_an_enumeration_as_parameter() -> None:
    x, y = NUMBER("x"), NUMBER("y")
    f = rw.function([x, y], [Chosen(how)(x, y) for how in ("+", "-", "SUB")])
    assert f(5.0, 3.0) == [8.0, 2.0, 2.0]
    with pytest.raises(DTypeError, match=r"expected one of ADD, SUB, got str '\*'"):
        rw.function([x, y], Chosen("*")(x, y))


def test_enumerations() -> None:
    kind = EnumType(ZERO=False, ONE=("one", 1), HALF=0.5, ctype="float")
    assert (kind.ZERO, kind.ONE, kind.HALF, kind.ctype, len(kind)) == (0, 1, 0.5, "float", 3)
    assert kind is EnumType(ZERO=0, ONE=("one", 1), HALF=0.5, ctype="float")
    assert kind is not EnumType(ZERO=0, ONE=("eins", 1), HALF=0.5, ctype="float")
    assert kind.fromalias("one") == kind.fromalias("ONE") == kind.filter("one") == 1
    assert (kind.has_alias("one"), kind.has_alias("ONE")) == (True, False)
    assert kind.get_aliases() == ("one",)
    assert pickle.loads(pickle.dumps(kind)) is kind
    for wrong in ("a", "_A", "0"):
        for make in (lambda name: EnumList(name), lambda name: EnumType(**{name: 0})):
            with pytest.raises(AttributeError, match="not a name in capital letters"):
                make(wrong)
    with pytest.raises(TypeError, match="must be a number"):
        EnumType(A="text")
    with pytest.raises(TypeError, match="'B' is the name of two constants"):
        EnumList(("A", "a"), ("B", "B"))
    with pytest.raises(TypeError, match="not the name of a C type"):
        EnumList("A", ctype="int;")
    with pytest.raises(TypeError):
        kind.filter(2)


def test_enumerations_in_a_struct() -> None:
    kind = ParamsType(one=EnumList("A", ("B", "beta")), two=EnumType(PI=3.14))
    assert (kind.A, kind.B, kind.PI) == (0, 1, 3.14)
    assert (kind.get_enum("B"), kind.enum_from_alias("beta"), kind.enum_from_alias("A")) == (
        1,
        1,
        0,
    )
    for wrong in (EnumList("A", "C"), EnumList(("C", "beta")), EnumList(("C", "A"))):
        with pytest.raises(AttributeError, match="two constants of a ParamsType"):
            ParamsType(one=EnumList("A", ("B", "beta")), two=wrong)


def test_constants_that_c_has() -> None:
    class Largest(COp):
        """A constant of a header."""

        __props__ = ("which",)
        params_type = CEnumType("INT_MAX", ("SHRT_MAX", "short"), ctype="long")
        itypes, otypes = [], [ScalarType("int64")]

        def __init__(self, which: str) -> None:
            self.which = which

        def get_params(self, node: Apply) -> Any:
            return self.which

        def c_headers(self, **kwargs: Any) -> list[str]:
            return ["<limits.h>"]

        def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
            return f"{outputs[0]} = {sub['params']};"

        def c_code_cache_version(self) -> tuple[int, ...]:
            return (1,)

    found = rw.function([], [Largest("INT_MAX")(), Largest("short")()])()
    assert found == [2**31 - 1, 2**15 - 1]
