"""Tensors: `import rewrite_engine.tensor as pt`. Types, constructors, functions, and the ops as
classes.

One file per family: `math.py` (elementwise), `reduce.py`, `statistics.py`, `creation.py`,
`shape.py`, `dimshuffle.py`, `reshape.py`, `index.py`, `diagonal.py`, `join.py`, `dot.py`;
`elemwise.py` and `reduction.py` hold what a family shares.
"""

from sys import modules
from typing import Any

from rewrite_engine.scalar.dtype import DTYPES, dtype_name
from rewrite_engine.tensor import operators
from rewrite_engine.tensor.blockwise import *
from rewrite_engine.tensor.constant import as_tensor, as_tensor_variable, constant
from rewrite_engine.tensor.constructors import *
from rewrite_engine.tensor.creation import *
from rewrite_engine.tensor.diagonal import *
from rewrite_engine.tensor.dimshuffle import *
from rewrite_engine.tensor.dot import *
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.gather import *
from rewrite_engine.tensor.index import *
from rewrite_engine.tensor.join import *
from rewrite_engine.tensor.math import *
from rewrite_engine.tensor.reduce import *
from rewrite_engine.tensor.reshape import *
from rewrite_engine.tensor.running import *
from rewrite_engine.tensor.shape import *
from rewrite_engine.tensor.special import *
from rewrite_engine.tensor.statistics import *
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.tensor.variable import TensorConstant, TensorVariable

operators.pt = modules[__name__]  # methods call the functions of this module


def __getattr__(name: str) -> Any:
    """`pt.grad` and its kin: gradients stand above this layer, and are asked for at the front
    door.
    """
    if name not in ("grad", "hessian", "jacobian"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import rewrite_engine

    return getattr(rewrite_engine.gradient, name)
