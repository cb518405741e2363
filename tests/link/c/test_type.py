"""Types between C and Python: of the library, and of programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, MethodNotDefined, NoCCodeError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.type import SingletonType, Type
from rewrite_engine.link.c import (
    CDataType,
    COp,
    CType,
    Generic,
    c_form,
    c_function,
    c_side,
    generic,
)
from rewrite_engine.link.c.source import CSource, c_source_of
from rewrite_engine.scalar import ScalarType
from tests.link.c.ops import fraction, inverse, times


def source_of(variable: Any) -> CSource:
    """The text of the node that computes a variable."""
    found = c_source_of(variable.owner)
    assert isinstance(found, CSource), found
    return found


class Code(COp):
    """Statements over inputs `%(x)s`, `%(y)s` and outputs `%(z)s`, `%(w)s`."""

    __props__ = ("statements", "itypes", "otypes")

    def __init__(self, statements: str, itypes: Any, otypes: Any) -> None:
        self.statements, self.itypes, self.otypes = statements, tuple(itypes), tuple(otypes)

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        names = dict(zip("xy", inputs)) | dict(zip("zw", outputs))
        return self.statements % (names | {"fail": sub["fail"]})

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


def test_a_type_of_the_users_own_between_two_c_ops() -> None:
    a, b = fraction("a"), fraction("b")
    f = rw.function([a, b], inverse(times(inverse(a), b)))
    assert f((2, 3), (5, 7)) == (14, 15)
    assert [str(node.op)[:4] for node in f.nodes] == ["OfFr"] * 3
    with pytest.raises(ZeroDivisionError, match="1/0") as caught:
        f((0, 1), (1, 1))
    assert "inverse(times(inverse(a), b))" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match="expected a fraction"):
        f(0.5, (1, 1))
    with pytest.raises(OverflowError):
        f((2**70, 3), (5, 7))


def test_what_a_type_gives_is_held_to_its_filter() -> None:
    bad = Code("%(z)s.top = 1; %(z)s.bottom = 0;", [], [fraction])
    with pytest.raises(TypeError, match=r"expected a fraction, got \(1, 0\)"):
        rw.function([], bad())()


class DoubleType(CType):
    """Python's floats, as the field's documents have them."""

    def filter(self, value: Any, strict: bool = False, allow_downcast: Any = None) -> float:
        if strict and not isinstance(value, float):
            raise TypeError("expected a float")
        if not allow_downcast and float(value) != value:
            raise TypeError(f"{value!r} is no double")
        return float(value)

    def values_eq_approx(self, x: Any, y: Any, tolerance: float = 1e-4) -> bool:
        return bool(abs(x - y) <= tolerance * (abs(x) + abs(y)))

    def c_declare(self, name: str, sub: Any, check_input: bool = True) -> str:
        return f"double {name};"

    def c_init(self, name: str, sub: Any) -> str:
        return f"{name} = 0.0;"

    def c_extract(self, name: str, sub: Any, check_input: bool = True, **kwargs: Any) -> str:
        return f"""if (!PyFloat_Check(py_{name})) {{
            PyErr_SetString(PyExc_TypeError, "expected a float");
            {sub["fail"]}
        }}
        double value = PyFloat_AsDouble(py_{name});
        {name} = value;"""

    def c_sync(self, name: str, sub: Any) -> str:
        return f"""Py_XDECREF(py_{name});
        py_{name} = PyFloat_FromDouble({name});
        if (!py_{name}) {{ py_{name} = Py_None; Py_INCREF(Py_None); {sub["fail"]} }}"""

    def c_literal(self, data: Any) -> str:
        return repr(data)

    def c_is_simple(self) -> bool:
        return True


double = DoubleType()
mul = Code("%(z)s = %(x)s * %(y)s;", [double, double], [double])


def test_the_double_of_the_documents() -> None:
    x, y, z = double("x"), double("y"), double("z")
    f = rw.function([x, y, z], mul(mul(x, y), z))
    assert f(1.5, 2.0, 3) == 9.0
    assert type(f(1.5, 2.0, 3)) is float
    with pytest.raises(TypeError):
        f("1.5", 2.0, 3.0)
    run = c_function(mul(x, y).owner)
    assert run is not None
    with pytest.raises(TypeError, match="expected a float"):
        run(1, 2.0)
    assert source_of(mul(x, y)).version is None


def test_a_constant_of_a_simple_type_is_a_literal() -> None:
    x = double("x")
    out = mul(x, double.make_constant(4.12345678))
    source = source_of(out)
    assert "* (4.12345678);" in source.text
    assert "i1" not in source.text
    assert rw.function([x], out)(2.0) == 8.24691356


class Pointed(CType):
    """None, or nothing: what is in C is where the object is."""

    def filter(self, value: Any, strict: bool = False, allow_downcast: Any = None) -> None:
        if value is not None:
            raise TypeError("expected None")

    def c_declare(self, name: str, sub: Any, check_input: bool = True) -> str:
        return f"PyObject** addr_of_{name};"

    def c_init(self, name: str, sub: Any) -> str:
        return f"addr_of_{name} = NULL;"

    def c_extract(self, name: str, sub: Any, check_input: bool = True, **kwargs: Any) -> str:
        return f"""if (py_{name} == Py_None) addr_of_{name} = &py_{name};
        else {{ PyErr_SetString(PyExc_ValueError, "was expecting None"); {sub["fail"]} }}"""

    def c_sync(self, name: str, sub: Any) -> str:
        return ""


def test_a_type_whose_code_has_no_variable_of_its_name() -> None:
    kind = Pointed()
    is_there = Code(
        "%(z)s = PyBool_FromLong(addr_of_%(x)s != NULL && *addr_of_%(x)s == Py_None);",
        [kind],
        [generic],
    )
    x = kind("x")
    assert rw.function([x], is_there(x))(None) is True
    run = c_function(is_there(x).owner)
    assert run is not None
    with pytest.raises(ValueError, match="was expecting None"):
        run(3)


def test_a_type_may_only_have_the_methods() -> None:
    class Plain(SingletonType):
        """Knows nothing of `CType`."""

        filter = DoubleType.filter
        c_declare, c_init, c_extract = (
            DoubleType.c_declare,
            DoubleType.c_init,
            DoubleType.c_extract,
        )
        c_sync = DoubleType.c_sync

    class OnGeneric(Generic):
        """Over that of any object, with its cleanup and without its version."""

        c_declare, c_init = DoubleType.c_declare, DoubleType.c_init
        c_extract, c_sync = DoubleType.c_extract, DoubleType.c_sync

        def c_cleanup(self, name: str, sub: Any) -> str:
            return ""

    for kind in (Plain(), OnGeneric()):
        x = kind("x")
        twice = Code("%(z)s = 2 * %(x)s;", [kind], [kind])
        assert rw.function([x], twice(x))(1.5) == 3.0
        assert c_side(kind).c_code_cache_version() == ()
        assert source_of(twice(x)).version is None


def test_a_type_that_says_nothing_of_c() -> None:
    class Text(SingletonType):
        """Python's strings."""

        def filter(self, value: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
            return str(value)

    class Length(Code):
        """Of a text; in Python, too."""

        def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = np.asarray(len(inputs[0]))

    text = Text()
    with pytest.raises(MethodNotDefined, match="Text has no C interface"):
        c_side(text)
    t = text("t")
    out = Length("", [text], [pt.lscalar])(t)
    assert c_form(out.owner) is None
    assert rw.function([t], out)("abc") == 3
    with pytest.raises(NoCCodeError, match="Length.*: has no C code: type Text has no C interface"):
        rw.function([t], out, mode=rw.Mode(linker="c"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "complex128"])
def test_numbers(dtype: str) -> None:
    kind, array = ScalarType(dtype), pt.TensorType(dtype, ())
    both = Code(
        """%(z)s = %(x)s;
        %(w)s = (PyArrayObject*)PyArray_ZEROS(0, NULL, PyArray_TYPE(%(y)s), 0);
        *(dtype_%(w)s*)PyArray_DATA(%(w)s) = *(dtype_%(y)s*)PyArray_DATA(%(y)s);""",
        [kind, array],
        [kind, array],
    )
    x, y = kind("x"), array("y")
    f = rw.function([x, y], list(both(x, y)))
    run = c_function(both(x, y)[0].owner)
    assert run is not None
    one, zero = np.asarray(1, dtype), np.asarray(0, dtype)
    number, copied = f(one[()], zero)
    assert (number, number.dtype, copied, copied.dtype) == (1, dtype, 0, dtype)
    for given in (one, one[()]):
        assert run(given, given) == (1, 1)
    for wrong in (1, one.reshape(1), np.asarray(1, "float16"), None):
        with pytest.raises(TypeError, match="expected an array"):
            run(one, wrong)
    assert c_side(kind).c_element_type() == c_side(array).c_element_type() == f"npy_{dtype}"


def test_numbers_are_not_confused() -> None:
    kind = ScalarType("int32")
    run = c_function(Code("%(z)s = %(x)s; ", [kind], [kind])(kind("x")).owner)
    assert run is not None
    assert run(np.asarray(7, "int32")) == 7
    for wrong in (np.int64(7), 7, np.float32(7), np.asarray([7], "int32")):
        with pytest.raises(TypeError, match="expected"):
            run(wrong)


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        ("float64", -0.1, "((npy_float64)(-0.1))"),
        ("int8", -3, "((npy_int8)(-3))"),
        ("bool", True, "((npy_bool)(1))"),
        ("float64", np.inf, None),
        ("float32", np.nan, None),
        ("uint64", 2**63, None),
        ("complex128", 1j, None),
    ],
)
def test_numbers_as_literals(dtype: str, value: Any, text: str | None) -> None:
    kind = ScalarType(dtype)
    constant = kind.make_constant(np.asarray(value, dtype)[()])
    out = Code("%(z)s = %(x)s; ", [kind], [kind])(constant)
    source = source_of(out)
    assert (text or "o0 = i0") in source.text
    np.testing.assert_array_equal(rw.function([], out)(), np.asarray(value, dtype))


def test_any_object() -> None:
    give = '%(z)s = PyObject_GetAttrString(%(x)s, "real"); if (%(z)s == NULL) %(fail)s'
    real = Code(give, [generic], [generic])
    x = generic("x")
    f = rw.function([x], real(x))
    assert f(2.5 + 1j) == 2.5
    with pytest.raises(AttributeError, match="'str' object has no attribute 'real'"):
        f("text")
    nothing = Code("", [], [generic])
    assert rw.function([], nothing())() is None


def test_static_lengths_are_checked() -> None:
    kind = pt.TensorType("float64", (2, None))
    text = """npy_intp lengths[2] = {(npy_intp)PyArray_SIZE(%(x)s), 3};
    Py_XDECREF(%(z)s);
    %(z)s = (PyArrayObject*)PyArray_ZEROS(2, lengths, NPY_DOUBLE, 0);"""
    x = pt.dvector("x")
    f = rw.function([x], Code(text, [x.type], [kind])(x))
    assert f([1.0, 2.0]).shape == (2, 3)
    with pytest.raises(TypeError, match=r"expected shape \(2, None\)"):
        f([1.0])


def test_pointers_from_one_op_to_another() -> None:
    kind = CDataType("double*", "free_it", extra_support_code="static int freed;", version=1)
    free = "static void free_it(void* p) { freed++; free(p); }"

    class Pointer(Code):
        """With the function that frees a pointer."""

        def c_support_code(self, **kwargs: Any) -> str:
            return free

    make = Pointer(
        "%(z)s = (double*)malloc(8); *%(z)s = *(double*)PyArray_DATA(%(x)s);", [pt.dscalar], [kind]
    )
    read = Pointer(
        """%(z)s = (PyArrayObject*)PyArray_ZEROS(0, NULL, NPY_DOUBLE, 0);
        *(double*)PyArray_DATA(%(z)s) = 2 * *%(x)s;""",
        [kind],
        [pt.dscalar],
    )
    x = pt.dscalar("x")
    assert rw.function([x], read(make(x)))(1.5) == 3.0
    with pytest.raises(DTypeError, match=r"expected a capsule with a double\*, got int 3"):
        kind.filter(3)
    assert kind is CDataType(
        "double*", "free_it", extra_support_code="static int freed;", version=1
    )


def test_checks_can_be_left_out() -> None:
    class Trusting(Code):
        """Believes in its inputs."""

        check_input = False

    x = pt.dvector("x")
    copy = "%(z)s = %(x)s; Py_INCREF(%(z)s);"
    source = source_of(Trusting(copy, [x.type], [x.type])(x))
    assert "rw_array(py_i0" not in source.text
    assert "rw_array(py_i0" in source_of(Code(copy, [x.type], [x.type])(x)).text


def test_types_of_the_core_know_nothing_of_c() -> None:
    assert not [name for name in dir(Type) if name.startswith("c_")]
    assert not [name for name in dir(rw.Op) if name.startswith("c_")]
