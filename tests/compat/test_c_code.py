"""Programs with C code, written for PyTensor, Aesara and Theano."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import CompileError, NoCompilerError
from rewrite_engine.graph.type import Generic
from rewrite_engine.link import c
from rewrite_engine.scalar import ScalarType

pytestmark = pytest.mark.usefixtures("peers")
needs_compiler = pytest.mark.skipif(not config.cxx, reason="there is no C++ compiler")

SAME = [
    ("pytensor.link.c.op", "COp", c.COp),
    ("pytensor.link.c.op", "ExternalCOp", c.ExternalCOp),
    ("pytensor.link.c.op", "OpenMPOp", c.OpenMPOp),
    ("pytensor.link.c.interface", "CLinkerOp", c.CLinkerOp),
    ("pytensor.link.c.interface", "CLinkerType", c.CLinkerType),
    ("pytensor.link.c.params_type", "ParamsType", c.ParamsType),
    ("pytensor.link.c.params_type", "Params", c.Params),
    ("pytensor.link.c.type", "Generic", Generic),
    ("pytensor.link.c.type", "EnumList", c.EnumList),
    ("pytensor.link.c.type", "CDataType", c.CDataType),
    ("pytensor.link.c.exceptions", "CompileError", CompileError),
    ("pytensor.link.c.exceptions", "MissingGXX", NoCompilerError),
    ("aesara.link.c.op", "COp", c.COp),
    ("aesara.graph.op", "COp", c.COp),
    ("aesara.graph.params_type", "ParamsType", c.ParamsType),
    ("theano.gof", "COp", c.ExternalCOp),
    ("theano.gof", "OpenMPOp", c.OpenMPOp),
    ("theano.gof.op", "OpenMPOp", c.OpenMPOp),
    ("theano.gof.type", "CLinkerType", c.CLinkerType),
    ("theano.gof.type", "EnumList", c.EnumList),
    ("theano.gof.params_type", "ParamsType", c.ParamsType),
]


@pytest.mark.parametrize(("module", "name", "ours"), SAME)
def test_names_lead_here(module: str, name: str, ours: object) -> None:
    assert getattr(import_module(module), name) is ours


def test_all_types_are_c_types_there() -> None:
    from pytensor.link.c.type import CType  # type: ignore[import-not-found]

    class Own(CType):  # type: ignore[misc]
        """One of the program's."""

        def filter(self, value: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
            return value

    assert isinstance(pt.dvector, CType)
    assert isinstance(Own(), CType)
    assert isinstance(Own(), Own)
    assert not isinstance(pt.dvector, Own)
    assert not isinstance(3, CType)
    assert not isinstance(pt.dvector, c.CType)


def test_types_of_arrays_tell_their_names_in_c() -> None:
    assert import_module("pytensor.link.c.op").COp
    for kind in (pt.TensorType("float32", (None, 3)), ScalarType("float32")):
        specs = kind.dtype_specs()  # type: ignore[union-attr]
        assert specs == (np.float32, "npy_float32", "NPY_FLOAT32")
        assert kind.c_element_type() == "npy_float32"  # type: ignore[union-attr]


PROGRAM = """
from pytensor import config, function
from pytensor.graph.basic import Apply
from pytensor.link.c.op import COp
from pytensor.link.c.params_type import ParamsType
from pytensor.scalar import float64
from pytensor.tensor import as_tensor_variable, matrix

class Affine(COp):
    __props__ = ("slope", "shift")
    params_type = ParamsType(slope=float64, shift=float64)

    def __init__(self, slope, shift):
        self.slope, self.shift = slope, shift

    def make_node(self, x):
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs, params):
        outputs[0][0] = params.slope * inputs[0] + params.shift

    def c_code(self, node, name, inp, out, sub):
        x, = inp
        z, = out
        p, fail = sub["params"], sub["fail"]
        element = node.inputs[0].type.c_element_type()
        return '''
        Py_XDECREF(%(z)s);
        %(z)s = (PyArrayObject*)PyArray_NewCopy(%(x)s, NPY_CORDER);
        if (!%(z)s) { %(fail)s; }
        %(element)s* at = (%(element)s*)PyArray_DATA(%(z)s);
        for (npy_intp i = 0; i < PyArray_SIZE(%(z)s); i++)
            at[i] = %(p)s->slope * at[i] + %(p)s->shift;
        ''' % locals()

    def c_code_cache_version(self):
        return (1, 0)

x = matrix("x")
functions = [function([x], Affine(2, 1)(x), mode=mode) for mode in (None, "c", "c|py", "py")]
with config.change_flags(cxx=""):
    without = function([x], Affine(2, 1)(x))
"""


@needs_compiler
def test_a_program_in_the_way_of_the_documents() -> None:
    space: dict[str, Any] = {"__name__": "program"}
    exec(PROGRAM, space)
    assert space["config"].cxx
    for f in (*space["functions"], space["without"]):
        np.testing.assert_array_equal(f(np.eye(2)), 2 * np.eye(2) + 1)
