"""Tensors: types, constructors, functions and op classes. Use it as `import rewrite_engine.tensor
as pt`.

The files of this folder are loaded at once: types (`type.py`, `variable.py`, `constant.py`,
`constructors.py`, `operators.py`), the base class of ops (`op.py`), elementwise functions
(`elemwise.py`, `math.py`), reductions (`reduction.py`, `reduce.py`) and shapes (`shape.py`,
`dimshuffle.py`, `reshape.py`, `creation.py`). They import no family at module level. Other files
here are the common base of several families, such as `blockwise.py` and `running.py`, and the
modules that users import: `fft.py`, `random.py`, `signal.py`, `special.py`.

Families are folders: `flow/`, `index/`, `shaping/`, `order/`, `product/`, `statistics/`, `linalg/`.
Each is loaded at the first use of one of its names.
"""

import importlib
import sys
import types
import typing

from numpy import e, euler_gamma, inf, nan, newaxis, pi

from rewrite_engine import hooks, lazy
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.scalar.dtype import DTYPES, dtype_name
from rewrite_engine.tensor import operators
from rewrite_engine.tensor.constant import as_tensor, as_tensor_variable, constant
from rewrite_engine.tensor.constructors import *
from rewrite_engine.tensor.creation import *
from rewrite_engine.tensor.dimshuffle import *
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.math import *
from rewrite_engine.tensor.reduce import *
from rewrite_engine.tensor.reshape import *
from rewrite_engine.tensor.shape import *
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.tensor.variable import TensorConstant, TensorVariable

operators.pt = sys.modules[__name__]  # methods call the functions of this module

#: {module: names}; loaded when one of its names is first used
_FAMILIES = {
    # (files of this folder)
    "annotation": "TensorLike",
    "blockwise": "Blockwise vectorize vectorize_graph",
    "elementwise": (
        "allclose ceil_intdiv chi2sf deg2rad degrees divmod fabs factorial float_power frexp "
        "gammal gammau iround isclose isneginf isposinf logical_and logical_not logical_or "
        "logical_xor logit modf nan_to_num positive rad2deg radians rint round sinc spacing"
    ),
    "numbers": "ScalarFromTensor TensorFromScalar scalar_from_tensor tensor_from_scalar",
    "questions": (
        "get_scalar_constant_value get_underlying_scalar_constant_value register_transfer transfer"
    ),
    "running": "CumOp cumprod cumsum diff",
    "special": "LogSoftmax LogSumExp ScaledExp Softmax SoftmaxAndLog log_softmax logsumexp softmax",
    # (what runs, and what is seen of it)
    "flow.branches": "IfElse ifelse",
    "flow.raise_op": "Assert CheckAndRaise CheckParameter assert_op",
    "flow.watch": "PdbBreakpoint Print",
    # (parts of arrays)
    "index.diagonals": (
        "Diagonal IncDiagonal diag diagonal extract_diag fill_diagonal fill_diagonal_offset trace "
        "tri tril tril_indices tril_indices_from triu triu_indices triu_indices_from"
    ),
    "index.gather": "AdvancedIncSubtensor AdvancedSubtensor",
    "index.selection": (
        "Nonzero RavelMultiIndex UnravelIndex choose compress diag_indices diag_indices_from "
        "flatnonzero inverse_permutation nonzero nonzero_values permute_row_elements piecewise "
        "ravel_multi_index select take take_along_axis unravel_index where"
    ),
    "index.subtensor": "IncSubtensor Subtensor inc_subtensor set_subtensor subtensor",
    # (sorted, searched, counted)
    "order.search": (
        "BinCount SearchsortedOp Unique bincount digitize interp interpolate1d searchsorted unique"
    ),
    "order.sets": (
        "array_equal histogram histogram_bin_edges intersect1d isin setdiff1d setxor1d union1d"
    ),
    "order.sorting": "ArgSortOp SortOp argsort argtopk largest smallest sort topk topk_and_argtopk",
    # (made of sums of products)
    "product.dots": "Dot MatMul dot inner matmul outer tensordot vdot",
    "product.products": (
        "batched_dot batched_tensordot cross dense_dot einsum kron matvec polyval vander vecdot "
        "vecmat"
    ),
    # (put together, taken apart, laid out anew)
    "shaping.joins": (
        "Join MakeVector Split column_stack concatenate dstack horizontal_stack hstack join "
        "make_vector split stack vertical_stack vstack"
    ),
    "shaping.padding": "pad",
    "shaping.pieces": (
        "append argwhere array_split block delete diagflat dsplit extract hsplit ix_ row_stack "
        "unstack vsplit"
    ),
    "shaping.ranges": (
        "bartlett blackman geomspace hamming hanning indices kaiser linspace logspace meshgrid "
        "mgrid ogrid"
    ),
    "shaping.rearrange": (
        "RepeatedPositions broadcast_arrays broadcast_shape concat_with_broadcast flip fliplr "
        "flipud join_dims pack repeat roll rot90 split_dims stacklists tile unpack"
    ),
    # (what describes arrays)
    "statistics.descriptive": (
        "average corrcoef count_nonzero cov ediff1d median norm percentile quantile trapezoid"
    ),
    "statistics.moments": "Argmax Argmin argmax argmin max_and_argmax mean ptp size std var",
    "statistics.without_nan": (
        "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd "
        "nansum nanvar"
    ),
}
_MODULES = ("fft", "linalg", "random", "signal", "special")
_GRADIENTS = ["consider_constant", "grad", "hessian", "jacobian", "verify_grad"]
_HOMES = {name: family for family, names in _FAMILIES.items() for name in names.split()}
_find = lazy.lookup(__name__, _HOMES)


def _public() -> list[str]:
    """Return the public names that are not modules, including those not yet loaded."""
    loaded = {n for n, v in globals().items() if not isinstance(v, types.ModuleType)}
    return sorted([n for n in loaded | set(_HOMES) if not n.startswith("_")])


def __dir__() -> list[str]:
    """Return the public names, including those not yet loaded."""
    return sorted({*_public(), *_MODULES, *_GRADIENTS})


def __getattr__(name: str) -> typing.Any:
    """Load a name at its first use: a family's name, a module such as `pt.linalg` or `pt.random`, a
    function of an upper layer such as `pt.grad`, or the names for `import *`.
    """
    if name == "__all__":
        return _public()
    if name in _MODULES:
        return importlib.import_module(f"rewrite_engine.tensor.{name}")
    return getattr(hooks, name) if name in _GRADIENTS else _find(name)
