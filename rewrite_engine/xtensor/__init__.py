"""Arrays with named dimensions: `import rewrite_engine.xtensor as px`.

A variable here is a tensor with a name for each dimension. Operands are aligned by names, not by
position; reductions, indices and `dot` name the dimensions they work on. The meaning is that of
`xarray` (without coordinates: there are only lengths and positions). Each function is built from
functions of `rewrite_engine.tensor` and names the dimensions of its result. So a graph has ordinary
ops between two ops that change only the type, `tensor_from_xtensor` and `xtensor_from_tensor`;
these cancel when the graph is compiled (`lowering.py`, decision 63).

Types: `type.py`. Variables: `variable.py`. Alignment of names: `alignment.py`.

>>> x = xtensor("x", dims=("city", "year"))
>>> w = xtensor("w", dims=("year",))
>>> (x * w).sum("year").dims
('city',)
"""

from rewrite_engine.xtensor import (
    indexing,
    linalg,
    lowering,
    math,
    random,
    reduction,
    shape,
    variable,
    vectorization,
)
from rewrite_engine.xtensor.alignment import as_xtensor
from rewrite_engine.xtensor.math import dot, where
from rewrite_engine.xtensor.shape import (
    broadcast,
    concat,
    full_like,
    ones_like,
    zeros_like,
)
from rewrite_engine.xtensor.shared import xtensor_shared
from rewrite_engine.xtensor.type import (
    XTensorType,
    tensor_from_xtensor,
    xtensor,
    xtensor_constant,
    xtensor_from_tensor,
)
from rewrite_engine.xtensor.variable import XTensorConstant, XTensorVariable

__all__ = [
    "XTensorConstant",
    "XTensorType",
    "XTensorVariable",
    "as_xtensor",
    "broadcast",
    "concat",
    "dot",
    "full_like",
    "linalg",
    "math",
    "ones_like",
    "random",
    "tensor_from_xtensor",
    "vectorization",
    "where",
    "xtensor",
    "xtensor_constant",
    "xtensor_from_tensor",
    "xtensor_shared",
    "zeros_like",
]

variable.px = variable.Functions(indexing, math, reduction, shape)
lowering.register()
