"""DebugMode holds C code against `perform`, and against old outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import BadDestroyMap, BadThunkOutput
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.c import COp
from tests.link.c.ops import Scale


class Twice(COp):
    """2 x, by both."""

    __props__ = ()
    itypes = otypes = [pt.dvector]
    make = "PyArray_EMPTY(1, PyArray_DIMS({x}), NPY_DOUBLE, 0)"
    step = "*(double*)PyArray_GETPTR1({z}, i) = 2 * *(double*)PyArray_GETPTR1({x}, i);"

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (x,), (z,) = inputs, outputs
        text = f"""
            Py_XDECREF({{z}});
            {{z}} = (PyArrayObject*){self.make};
            for (npy_intp i = 0; i < PyArray_DIM({{x}}, 0); i++) {{{{ {self.step} }}}}"""
        return text.format(x=x, z=z)

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = 2 * inputs[0]


class Thrice(Twice):
    """Whose C code is another function."""

    step = "*(double*)PyArray_GETPTR1({z}, i) = 3 * *(double*)PyArray_GETPTR1({x}, i);"


class Spoils(Twice):
    """Whose C code writes into its input."""

    step = Twice.step + " *(double*)PyArray_GETPTR1({x}, i) = 0;"


class AddsUp(Twice):
    """Whose C code takes an old output for one of zeros."""

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (x,), (z,) = inputs, outputs
        return f"""
            if ({z} == NULL || PyArray_DIM({z}, 0) != PyArray_DIM({x}, 0)) {{
                Py_XDECREF({z});
                {z} = (PyArrayObject*)PyArray_ZEROS(1, PyArray_DIMS({x}), NPY_DOUBLE, 0);
            }}
            for (npy_intp i = 0; i < PyArray_DIM({x}, 0); i++)
                *(double*)PyArray_GETPTR1({z}, i) += 2 * *(double*)PyArray_GETPTR1({x}, i);"""


GIVEN = [1.0, 2.0, 4.0]


def debugged(op: Any) -> Any:
    x = pt.dvector("x")
    return rw.function([x], op(pt.exp(x)), mode="DebugMode")


def test_what_is_right_passes() -> None:
    np.testing.assert_allclose(debugged(Twice())(GIVEN), 2 * np.exp(GIVEN))
    x, y = pt.dvector("x"), pt.dscalar("y")
    f = rw.function([x, y], Scale()(x, y), mode="DebugMode")
    np.testing.assert_array_equal(f(GIVEN, 3.0), 3 * np.array(GIVEN))


@pytest.mark.parametrize("op", [Thrice(), AddsUp()], ids=str)
def test_what_is_not_what_perform_gives(op: Any) -> None:
    with pytest.raises(BadThunkOutput, match=f"{op}: .*C code"):
        debugged(op)(GIVEN)


def test_an_input_that_is_overwritten() -> None:
    with pytest.raises(BadDestroyMap, match="Spoils: its C code overwrites input 0"):
        debugged(Spoils())(GIVEN)


def test_only_where_c_code_is_looked_at() -> None:
    with rw.config.change_flags(DebugMode__check_c=False):
        np.testing.assert_allclose(debugged(Thrice())(GIVEN), 2 * np.exp(GIVEN))
