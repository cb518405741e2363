"""Scalar ops: what happens to one element. `ops.py` is the table; arrays come in with `tensor/`."""

from rewrite_engine.scalar.composite import Composite
from rewrite_engine.scalar.dtype import DISCRETE, DTYPES, dtype_name, promote
from rewrite_engine.scalar.op import Cast, ScalarOp
from rewrite_engine.scalar.ops import *
from rewrite_engine.scalar.type import ScalarConstant, ScalarType, ScalarVariable
