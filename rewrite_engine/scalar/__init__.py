"""Scalar ops, which work on single elements. `ops.py` has the table of them; `tensor/` applies them
to arrays.
"""

from typing import TYPE_CHECKING

from rewrite_engine.lazy import lookup
from rewrite_engine.scalar.constructors import complex64 as complex64
from rewrite_engine.scalar.constructors import complex128 as complex128
from rewrite_engine.scalar.constructors import constant as constant
from rewrite_engine.scalar.constructors import float16 as float16
from rewrite_engine.scalar.constructors import float32 as float32
from rewrite_engine.scalar.constructors import float64 as float64
from rewrite_engine.scalar.constructors import int8 as int8
from rewrite_engine.scalar.constructors import int16 as int16
from rewrite_engine.scalar.constructors import int32 as int32
from rewrite_engine.scalar.constructors import int64 as int64
from rewrite_engine.scalar.constructors import uint8 as uint8
from rewrite_engine.scalar.constructors import uint16 as uint16
from rewrite_engine.scalar.constructors import uint32 as uint32
from rewrite_engine.scalar.constructors import uint64 as uint64
from rewrite_engine.scalar.dtype import DISCRETE as DISCRETE
from rewrite_engine.scalar.dtype import DTYPES as DTYPES
from rewrite_engine.scalar.dtype import dtype_name as dtype_name
from rewrite_engine.scalar.dtype import promote as promote
from rewrite_engine.scalar.op import Cast as Cast
from rewrite_engine.scalar.op import ScalarOp as ScalarOp
from rewrite_engine.scalar.ops import *
from rewrite_engine.scalar.type import ScalarConstant as ScalarConstant
from rewrite_engine.scalar.type import ScalarType as ScalarType
from rewrite_engine.scalar.type import ScalarVariable as ScalarVariable

if TYPE_CHECKING:
    from rewrite_engine.scalar.composite import Composite as Composite

if not TYPE_CHECKING:
    __getattr__ = lookup(__name__, {"Composite": "composite"})  # it holds a graph: few need that
