"""Tensors: `import rewrite_engine.tensor as pt`. Types, constructors, functions, and the ops as
classes.

One file per family: `math.py` (elementwise), `reduce.py`, `statistics.py`, `creation.py`,
`shape.py`, `dimshuffle.py`, `reshape.py`, `index.py`, `diagonal.py`, `join.py`, `dot.py`;
`elemwise.py` and `reduction.py` hold what a family shares. `elementwise.py` (made of others),
`padding.py`, `pieces.py`, `products.py`, `questions.py` (what is known of a variable), `ranges.py`
(numbers in order, grids), `rearrange.py`, `numbers.py` (single ones), `search.py`,
`selection.py`, `sets.py`, `sorting.py`, `descriptive.py`, `without_nan.py`, `fft.py`, `signal.py`,
`branches.py`, `raise_op.py`, `watch.py` and the folder `linalg/` are loaded when one of their names
is first used.
"""

from importlib import import_module
from sys import modules
from typing import Any

from numpy import e, euler_gamma, inf, nan, newaxis, pi

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.lazy import lookup
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

#: families that are loaded when one of their names is first used
_FAMILIES = {
    "elementwise": (
        "allclose ceil_intdiv chi2sf deg2rad degrees divmod fabs factorial float_power frexp "
        "gammal gammau iround isclose isneginf isposinf logical_and logical_not logical_or "
        "logical_xor logit modf nan_to_num positive rad2deg radians rint round sinc spacing"
    ),
    "padding": "pad",
    "pieces": "append argwhere array_split block delete diagflat dsplit extract hsplit ix_ "
    "row_stack unstack vsplit",
    "products": (
        "batched_dot batched_tensordot cross dense_dot einsum kron matvec polyval vander vecdot "
        "vecmat"
    ),
    "branches": "IfElse ifelse",
    "raise_op": "Assert CheckAndRaise CheckParameter assert_op",
    "questions": "get_scalar_constant_value get_underlying_scalar_constant_value "
    "register_transfer transfer",
    "ranges": "bartlett blackman geomspace hamming hanning indices kaiser linspace logspace "
    "meshgrid mgrid ogrid",
    "rearrange": (
        "RepeatedPositions broadcast_arrays broadcast_shape concat_with_broadcast flip fliplr "
        "flipud join_dims pack repeat roll rot90 split_dims stacklists tile "
        "unpack"
    ),
    "selection": (
        "Nonzero RavelMultiIndex UnravelIndex choose compress diag_indices diag_indices_from "
        "flatnonzero inverse_permutation nonzero nonzero_values permute_row_elements piecewise "
        "ravel_multi_index select take take_along_axis unravel_index where"
    ),
    "numbers": "ScalarFromTensor TensorFromScalar scalar_from_tensor tensor_from_scalar",
    "search": "BinCount SearchsortedOp Unique bincount digitize interp interpolate1d searchsorted "
    "unique",
    "sorting": "ArgSortOp SortOp argsort argtopk largest smallest sort topk topk_and_argtopk",
    "descriptive": "average corrcoef count_nonzero cov ediff1d median norm percentile quantile "
    "trapezoid",
    "sets": "array_equal histogram histogram_bin_edges intersect1d isin setdiff1d setxor1d union1d",
    "watch": "PdbBreakpoint Print",
    "without_nan": (
        "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd "
        "nansum nanvar"
    ),
}
_MODULES = ("fft", "linalg", "random", "signal")
_HOMES = {name: family for family, names in _FAMILIES.items() for name in names.split()}
_find = lookup(__name__, _HOMES)


def __dir__() -> list[str]:
    """All names, also of what is not loaded."""
    return [*globals(), *_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    """A family's name; a module, as `pt.linalg` and `pt.random`; `pt.grad` and its kin: gradients
    stand above this layer, and are asked for at the front door.
    """
    if name in _MODULES:
        return import_module(f"rewrite_engine.tensor.{name}")
    if name not in ("consider_constant", "grad", "hessian", "jacobian", "verify_grad"):
        return _find(name)
    import rewrite_engine

    return getattr(rewrite_engine.gradient, name)
