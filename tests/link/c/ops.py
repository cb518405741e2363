"""Ops and a type with C code that several tests use."""

from __future__ import annotations

from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.c import COp, CType

ALLOCATE = """
if ({z} == NULL || PyArray_DIM({z}, 0) != PyArray_DIM({x}, 0)) {{
    Py_XDECREF({z});
    {z} = (PyArrayObject*)PyArray_EMPTY(1, PyArray_DIMS({x}), PyArray_TYPE({x}), 0);
    if ({z} == NULL) {fail}
}}
"""
LOOP = """
for (npy_intp i = 0; i < PyArray_DIM({x}, 0); i++)
    *(dtype_{z}*)PyArray_GETPTR1({z}, i) = {term};
"""
AT = "(*(dtype_{x}*)PyArray_GETPTR1({x}, i))"


class Same(COp):
    """Base: of vectors, one that is like the first."""

    __props__: tuple[str, ...] = ()

    def infer_types(self, types: Any) -> Any:
        return types[:1]

    def c_code_cache_version(self) -> tuple[Any, ...]:
        return (1,)


class Scale(Same):
    """A vector times a number of its dtype; 13 is refused."""

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (x, y), (z,) = inputs, outputs
        names = {"x": x, "z": z, "fail": sub["fail"]}
        number = f"dtype_{y} number = *(dtype_{y}*)PyArray_DATA({y});"
        refuse = f"""if (number == 13) {{
            PyErr_Format(PyExc_ValueError, "%s is unlucky", "13");
            {sub["fail"]}
        }}"""
        term = AT.format(x=x) + " * number"
        return number + refuse + ALLOCATE.format(**names) + LOOP.format(term=term, **names)


class ScaleBoth(Scale):
    """The same in Python, too."""

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        x, y = inputs
        output_storage[0][0] = x * y


class InPlace(Same):
    """Adds 1 to a vector of float64; overwrites it, or not."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
        self.destroy_map = {0: [0]} if inplace else {}

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (x,), (z,) = inputs, outputs
        names = {"x": x, "z": z, "fail": sub["fail"]}
        here = f"Py_XDECREF({z}); {z} = {x}; Py_INCREF({z});"
        begin = here if self.inplace else ALLOCATE.format(**names)
        return begin + LOOP.format(term=AT.format(x=x) + " + 1", **names)

    def inplace_on_inputs(self, allowed: Any, node: Apply | None = None) -> Any:
        return InPlace(True) if 0 in allowed and not self.inplace else None


class Ends(COp):
    """Of two vectors: the first, overwritten by its double, and a view of the second's first two
    elements, and the sum of both.
    """

    __props__ = ()
    output_names = ("doubled", "begin", "total")
    destroy_map = {0: [0]}
    view_map = {1: [1]}

    def infer_types(self, types: Any) -> Any:
        return [types[0], pt.TensorType("float64", (2,)), pt.TensorType("float64", ())]

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        x, y = inputs
        total = x.sum() + y.sum()
        x *= 2
        for cell, value in zip(output_storage, (x, y[:2], np.asarray(total)), strict=True):
            cell[0] = value

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (x, y), (doubled, begin, total) = inputs, outputs
        return f"""
        double sum = 0;
        for (npy_intp i = 0; i < PyArray_DIM({y}, 0); i++) sum += *(double*)PyArray_GETPTR1({y}, i);
        for (npy_intp i = 0; i < PyArray_DIM({x}, 0); i++) {{
            double* at = (double*)PyArray_GETPTR1({x}, i);
            sum += *at;
            *at *= 2;
        }}
        Py_XDECREF({doubled});
        {doubled} = {x};
        Py_INCREF({doubled});
        Py_XDECREF({begin});
        npy_intp two = 2;
        PyArray_Descr* dtype = PyArray_DESCR({y});
        Py_INCREF(dtype);
        {begin} = (PyArrayObject*)PyArray_NewFromDescr(
            &PyArray_Type, dtype, 1, &two, PyArray_STRIDES({y}), PyArray_DATA({y}),
            PyArray_FLAGS({y}), NULL);
        if ({begin} == NULL) {sub["fail"]}
        Py_INCREF({y});
        if (PyArray_SetBaseObject({begin}, (PyObject*){y}) != 0) {sub["fail"]}
        if ({total} == NULL) {{
            {total} = (PyArrayObject*)PyArray_EMPTY(0, NULL, NPY_DOUBLE, 0);
            if ({total} == NULL) {sub["fail"]}
        }}
        *(double*)PyArray_DATA({total}) = sum;
        """


class Fraction(CType):
    """Pairs of Python integers, a numerator and a denominator; in C a struct of two numbers."""

    __props__ = ()

    def filter(self, value: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
        if not (isinstance(value, tuple) and len(value) == 2 and value[1]):
            raise TypeError(f"expected a fraction, got {value!r}")
        return value

    def c_support_code(self, **kwargs: Any) -> str:
        return "struct fraction { long top, bottom; };"

    def c_declare(self, name: str, sub: Any, check_input: bool = True) -> str:
        return f"fraction {name};"

    def c_init(self, name: str, sub: Any) -> str:
        return f"{name}.top = 0; {name}.bottom = 1;"

    def c_extract(self, name: str, sub: Any, check_input: bool = True, **kwargs: Any) -> str:
        read = f'PyArg_ParseTuple(py_{name}, "ll", &{name}.top, &{name}.bottom)'
        return f"if (!{read}) {sub['fail']}"

    def c_sync(self, name: str, sub: Any) -> str:
        return f"""Py_XDECREF(py_{name});
        py_{name} = Py_BuildValue("(ll)", {name}.top, {name}.bottom);
        if (py_{name} == NULL) {{ py_{name} = Py_None; Py_INCREF(Py_None); {sub["fail"]} }}"""

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


fraction = Fraction()


class OfFractions(COp):
    """One of two fractions, by statements; no perform."""

    __props__ = ("statements",)
    itypes = otypes = [fraction]

    def __init__(self, statements: str, nin: int = 2) -> None:
        self.statements = statements
        self.itypes = [fraction] * nin

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        names = dict(zip("xy", inputs)) | {"z": outputs[0], "fail": sub["fail"]}
        return self.statements % names

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


times = OfFractions(
    "%(z)s.top = %(x)s.top * %(y)s.top; %(z)s.bottom = %(x)s.bottom * %(y)s.bottom;"
)
inverse = OfFractions(
    """if (%(x)s.top == 0) { PyErr_SetString(PyExc_ZeroDivisionError, "1/0"); %(fail)s }
    %(z)s.top = %(x)s.bottom; %(z)s.bottom = %(x)s.top;""",
    1,
)
