"""Scalar ops: what happens to one element. `ops.py` is the table; arrays come in with `tensor/`."""

from typing import TYPE_CHECKING

from rewrite_engine.lazy import lookup
from rewrite_engine.scalar.constructors import (
    complex64,
    complex128,
    constant,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from rewrite_engine.scalar.dtype import DISCRETE, DTYPES, dtype_name, promote
from rewrite_engine.scalar.op import Cast, ScalarOp
from rewrite_engine.scalar.ops import *
from rewrite_engine.scalar.type import ScalarConstant, ScalarType, ScalarVariable

if TYPE_CHECKING:
    from rewrite_engine.scalar.composite import Composite

__getattr__ = lookup(__name__, {"Composite": "composite"})  # it holds a graph: few need that
