"""Small functions and classes of PyTensor, built from this library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from rewrite_engine.compile.mode import Mode, get_mode
from rewrite_engine.compile.ops import view_op
from rewrite_engine.config import config
from rewrite_engine.errors import dimensions
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.postorder import postorder
from rewrite_engine.graph.traverse import graph_inputs
from rewrite_engine.graph.type import NoneConst
from rewrite_engine.pipeline import assumptions
from rewrite_engine.pipeline.assumptions import SHIPPED
from rewrite_engine.random.op import read_size
from rewrite_engine.scalar.dtype import all_dtypes
from rewrite_engine.tensor.blockwise import Blockwise
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import arange, zeros
from rewrite_engine.tensor.dimshuffle import broadcast_to, moveaxis, normalize_axis
from rewrite_engine.tensor.flow import raise_op
from rewrite_engine.tensor.index.diagonals import IncDiagonal
from rewrite_engine.tensor.index.subtensor import set_subtensor
from rewrite_engine.tensor.math import add, cast, ge, mul
from rewrite_engine.tensor.order import search
from rewrite_engine.tensor.product.dots import Dot
from rewrite_engine.tensor.reduce import all as all_
from rewrite_engine.tensor.shape import lengths
from rewrite_engine.tensor.shaping import rearrange

__all__ = [
    "AssertOnUse",
    "assert_op",
    "assume",
    "broadcast_arrays",
    "broadcast_params",
    "broadcasted_by",
    "general_toposort",
    "lazy_scipy_module",
    "normalize_size_param",
    "rewrite_inner_graph",
    "safe_signature",
    "to_one_hot",
    "variadic_add",
    "variadic_mul",
]


class AssertOnUse(raise_op.Assert):
    """Assertion that is checked only where its value is needed, as in PyTensor: reading other
    elements of a vector that contains it does not raise.
    """

    def equal_lengths(self, node: Any) -> Any:
        """Return no requirements: nothing must hold if the value is not needed."""
        return []


assert_op = AssertOnUse()
none_type_t = NoneConst.type
#: products of matrices, as PyTensor has them
_matmul = Blockwise(Dot(), "(m,k),(k,n)->(m,n)")
FAST_COMPILE, FAST_RUN = Mode("fast_compile"), Mode("fast_run")


#: bits of a number as arrays of whole numbers have it
PYTHON_INT_BITWIDTH = np.dtype("int64").itemsize * 8


def _asarray(a: Any, dtype: Any, order: Any = None) -> Any:
    """Return `a` as an array of a dtype; "floatX" is `config.floatX`."""
    return np.asarray(a, config.floatX if str(dtype) == "floatX" else dtype, order)


def _allclose(a: Any, b: Any, rtol: float | None = None, atol: float | None = None) -> bool:
    """Compare with `np.allclose`, with tolerances for single (or half) precision if one of the
    arrays has it.
    """
    narrow = {"float16": 1e-3, "float32": 1e-5, "complex64": 1e-5}
    given = [narrow.get(str(getattr(x, "dtype", "")), 0.0) for x in (a, b)]
    least = max(*given, 1e-5), max(*given, 1e-8)
    rtol, atol = [own if new is None else new for own, new in zip(least, (rtol, atol))]
    return bool(np.allclose(a, b, rtol=rtol, atol=atol))


def may_share_memory(a: Any, b: Any, raise_other_type: bool = True) -> bool:
    """Return whether two values may share memory. Raises `TypeError` for values without memory,
    unless raise_other_type is False.
    """
    known = [isinstance(x, np.ndarray | np.random.Generator) for x in (a, b)]
    if raise_other_type and not all(known):
        raise TypeError("may_share_memory takes arrays and generators")
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return bool(np.may_share_memory(a, b))
    return a is b and all(known)


def to_return_values(values: Sequence[Any]) -> Any:
    """Return the only value, or all of them."""
    return values[0] if len(values) == 1 else values


def get_test_value(v: Any) -> Any:
    """Return the value of a variable whose inputs have the values in their `tag.test_value`. Raises
    `MissingInputError`.
    """
    roots = [x for x in graph_inputs([as_tensor_variable(v)]) if not isinstance(x, Constant)]
    given = {x: x.tag.test_value for x in roots if hasattr(x.tag, "test_value")}
    return getattr(v, "data", None) if isinstance(v, Constant) else v.eval(given)


def supp_shape_from_ref_param_shape(
    *,
    ndim_supp: int,
    dist_params: Sequence[Any],
    param_shapes: Sequence[Any] | None = None,
    ref_param_idx: int,
) -> tuple[Any, ...]:
    """Return the last `ndim_supp` lengths of one of the parameters of a draw. param_shapes: the
    shapes of all, if they are not to be taken from the parameters. Raises `ValueError`.
    """
    if ndim_supp <= 0:
        raise ValueError(f"ndim_supp must be 1 or more, not {ndim_supp}")
    if param_shapes is not None:
        return tuple(param_shapes[ref_param_idx][-ndim_supp:])
    parameter = dist_params[ref_param_idx]
    if parameter.ndim < ndim_supp:
        what = f"{dimensions(parameter.ndim)}, and one draw has {ndim_supp}"
        raise ValueError(f"Reference parameter {ref_param_idx} has {what}")
    return tuple(parameter.shape[i] for i in range(-ndim_supp, 0))


def bincount(
    x: Any, weights: Any = None, minlength: Any = None, assert_nonneg: bool = False
) -> Any:
    """`bincount`. assert_nonneg: a number below 0 is an `AssertionError` when it runs."""
    if assert_nonneg:
        x = as_tensor_variable(x)
        x = raise_op.Assert("bincount: a number is below 0")(x, all_(ge(x, 0)))
    return search.bincount(x, weights, minlength)


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any:
    """`unique`, whose inverse is a vector."""
    found = search.unique(ar, return_index, return_inverse, return_counts, axis)
    if return_inverse:
        at = 1 + return_index
        found = [*found[:at], found[at].flatten(), *found[at + 1 :]]
    return found


def round_half_away_from_zero_vec(a: Any) -> Any:
    """Return an array with its elements rounded, halves away from zero."""
    return np.copysign(np.floor(np.abs(a) + 0.5), a)


def custom_rng_deepcopy(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator in the same state, which draws for itself and spawns the same children."""
    return deepcopy(rng)


class LazyModule:
    """Module that is loaded when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def lazy_scipy_module(submodule: str) -> LazyModule:
    """Return a module of SciPy that is loaded on first use."""
    return LazyModule(f"scipy.{submodule}")


def variadic_add(*args: Any) -> Any:
    """Return the sum of any number of terms."""
    return _folded(add, 0, args)


def variadic_mul(*args: Any) -> Any:
    """Return the product of any number of factors."""
    return _folded(mul, 1, args)


def _folded(op: Any, neutral: int, args: Sequence[Any]) -> Any:
    if len(args) > 1:
        return op(*args)
    return as_tensor_variable(args[0] if args else neutral)


def broadcast_arrays(*args: Any) -> list[Any]:
    """Broadcast arrays to their common shape. Each result is a new variable: PyMC replaces one
    without meaning the other.
    """
    given = [as_tensor_variable(x) for x in args]
    found = zip(given, rearrange.broadcast_arrays(*given), strict=True)
    return [view_op(new) if new is old else new for old, new in found]


def broadcast_params(params: Sequence[Any], ndims_params: Sequence[int]) -> list[Any]:
    """Broadcast parameters along a common batch. Their last dimensions (ndims_params of each) stay
    the same. If all are arrays, the results are arrays.
    """
    symbolic = any([isinstance(p, Variable) for p in params])
    given: list[Any] = [as_tensor_variable(p) if symbolic else np.asarray(p) for p in params]
    parts = [
        (tuple(p.shape[: p.ndim - n]), tuple(p.shape[p.ndim - n :]))
        for p, n in zip(given, ndims_params, strict=True)
    ]
    batches = [batch for batch, _ in parts]
    if not symbolic:
        long = np.broadcast_shapes(*batches)
        return [np.broadcast_to(p, (*long, *own)) for p, (_, own) in zip(given, parts)]
    wide = rearrange.broadcast_shape(*batches, arrays_are_shapes=True)
    return [broadcast_to(p, (*wide, *own)) for p, (_, own) in zip(given, parts)]


def safe_signature(core_inputs_ndim: Sequence[int], core_outputs_ndim: Sequence[int]) -> str:
    """Return a signature with these numbers of dimensions, of which no two must be equal.

    >>> safe_signature([0, 2], [1])
    '(),(i10,i11)->(o00)'
    """
    sides = [
        ",".join(
            [f"({','.join([f'{side}{k}{d}' for d in range(n)])})" for k, n in enumerate(ranks)]
        )
        for side, ranks in (("i", core_inputs_ndim), ("o", core_outputs_ndim))
    ]
    return "->".join(sides)


def normalize_size_param(size: Any) -> Any:
    """Return the size of a `RandomVariable` as an input of its nodes."""
    return read_size("size", size)[0]


def broadcasted_by(x: Any, y: Any) -> bool:
    """Return whether an elementwise op of both would broadcast `x`, as far as types tell."""
    own, other = x.type.broadcastable[::-1], y.type.broadcastable[::-1]
    return len(own) < len(other) or any([a and not b for a, b in zip(own, other)])


def rewrite_inner_graph(
    fgraph: FunctionGraph, match: Callable[[Any], bool], rewrite: Callable[..., Any]
) -> None:
    """Rewrite the graphs inside ops: `rewrite(linker, op, node, graph, mode=mode)` changes a copy
    of the graph of each op for which `match(op)` holds.
    """
    mode, made = get_mode(), dict[Any, Any]()
    for node in fgraph.toposort():
        op: Any = node.op
        if not match(op):
            continue
        if op not in made:
            inner = op.fgraph.clone()
            rewrite(mode.linker, op, node, inner, mode=mode)
            made[op] = op.clone(inner)
        if made[op] is not op:
            new = made[op].make_node(*node.inputs).outputs
            fgraph.replace_all(zip(node.outputs, new, strict=True), reason="rewrite_inner_graph")


def to_one_hot(y: Any, nb_class: int, dtype: Any = None) -> Any:
    """Return a matrix with a row for each integer of a vector: 1 in the column of that number, else
    0.
    """
    y = as_tensor_variable(y)
    rows = arange(y.shape[0])
    return set_subtensor(zeros((y.shape[0], nb_class), dtype)[rows, y], 1)


def alloc_diag(diag: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return matrices of zeros with the vectors in the last dimension of `diag` on a diagonal, in
    the dimensions `axis1` and `axis2` of the result.
    """
    v = as_tensor_variable(diag)
    *batch, n = lengths(v)
    axes = sorted([normalize_axis(axis, v.type.ndim + 1) for axis in (axis1, axis2)])
    blank = zeros((*batch, n + abs(offset), n + abs(offset)), v.type.dtype)
    made = IncDiagonal(offset, set_instead_of_inc=True)(blank, v)
    return moveaxis(made, (-2, -1), axes)


def old_np_unique(
    arr: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any:
    """Call `np.unique`, with a vector as the inverse, as before NumPy 2."""
    unique: Any = np.unique
    found = unique(arr, return_index, return_inverse, return_counts, axis)
    if not return_inverse:
        return found
    at = 1 + return_index
    return tuple([np.ravel(x) if i == at else x for i, x in enumerate(found)])


def general_toposort(outputs: Iterable[Any], deps: Callable[[Any], Any]) -> list[Any]:
    """Return objects and their dependencies, each after its own; dependencies of the last object
    come first. deps(x): the dependencies of x, or None.
    """
    return list(postorder(outputs, lambda x: [*reversed(list(deps(x) or ()))]))


def assume(x: Any, **facts: bool | None) -> Any:
    """Return `x` with declared facts (`diagonal=True`, …). Unknown facts, and facts declared False,
    have no effect.
    """
    return assumptions.assume(
        x, **{n: True for n, v in facts.items() if v and n in SHIPPED and SHIPPED[n].unary}
    )


globals().update({f"_convert_to_{name}": partial(cast, dtype=name) for name in all_dtypes})
