"""Base class of the ops of linear algebra, `_MatrixOp`, and functions for their arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError, RewriteEngineError, dimensions
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.null import is_disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.tensor.blockwise import Blockwise, of_arrays, parse, store
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import eye, zeros_like
from rewrite_engine.tensor.dimshuffle import expand_dims, shape_padleft
from rewrite_engine.tensor.index.diagonals import tril, triu
from rewrite_engine.tensor.index.selection import take_along_axis
from rewrite_engine.tensor.linalg.counts import count
from rewrite_engine.tensor.op import Computed, Shapes, TensorOp
from rewrite_engine.tensor.shape import smaller
from rewrite_engine.tensor.type import TensorType

__all__ = ["SingularMatrixError"]


class SingularMatrixError(RewriteEngineError, np.linalg.LinAlgError):
    """A matrix has no inverse, is not positive definite, or its decomposition was not found.

    It is also a `numpy.linalg.LinAlgError`.
    """


class _MatrixOp(TensorOp):
    """Base class of ops on matrices of floats; `Blockwise` lifts each to arrays of matrices.

    A subclass declares its dimensions in `signature` (k: the shorter of the first two; `lengths`
    gives other ones), and computes values along batches in `batched(*arrays)`, which raises short
    errors. Integers are converted to floats; the result is never float16.
    """

    signature: str
    lengths: Mapping[str, Computed] = {"k": Computed(smaller, [(0, 0), (0, 1)])}

    def lifted(self, *inputs: Any) -> Any:
        """Apply the op to matrices, or arrays of them."""
        ranks = self.ranks
        for x, n in zip(inputs, ranks, strict=True):
            if x.type.ndim < n:
                what = f"takes an array of {dimensions(n)} or more, not type {x.type}"
                raise NDimError(located(what, op=self, inputs=inputs))
        if [x.type.ndim for x in inputs] == ranks:
            return self(*inputs)
        return Blockwise(self, self.signature)(*inputs)

    @property
    def gufunc_signature(self) -> str:
        """The signature, under the name that `Blockwise` reads."""
        return self.signature

    @property
    def core_op(self) -> _MatrixOp:
        """This op: `Blockwise` has the op on single matrices under that name."""
        return self

    @property
    def ranks(self) -> list[int]:
        """The number of dimensions of each input."""
        return [len(names) for names in parse(self.signature)[0]]

    def check_ranks(self, types: Sequence[TensorType]) -> None:
        """Raise `NDimError` for tensors of other ranks."""
        if [t.ndim for t in types] != self.ranks:
            each = " and ".join([("a number", "a vector", "a matrix")[n] for n in self.ranks])
            what = "matrices" if len(types) > 1 and {*self.ranks} == {2} else each
            raise NDimError(f"takes {what}, not {' and '.join([f'type {t}' for t in types])}")

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape rule of the signature: dimensions with one name have one length."""
        self.check_ranks(types)
        named: dict[str, list[Any]] = {}
        ins, outs = parse(self.signature)
        for i, names in enumerate(ins):
            for axis, name in enumerate(names):
                named.setdefault(name, []).append((i, axis))
        known = {**self.lengths, **{name: members[-1] for name, members in named.items()}}
        equal = [members for members in named.values() if len(members) > 1]
        return Shapes([[known[name] for name in names] for names in outs], equal)

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return the operations of the usual algorithm (`counts.py`)."""
        ins, _ = parse(self.signature)
        lengths = {name: n for names, s in zip(ins, inputs) for name, n in zip(names, s)}
        return count(self, lengths)

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op along a batch, by `Blockwise`."""
        return Blockwise(self, self.signature).make_node(*inputs).outputs

    def dtypes(self, *types: TensorType) -> list[str]:
        """Return float dtypes, of at least single precision."""
        return [working_dtype(*[t.dtype for t in types])] * len(parse(self.signature)[1])

    def batched(self, *arrays: Any) -> Any:
        """Return the output for arrays of matrices; a tuple of several outputs."""
        raise NotImplementedError

    def single(self, dtype: Any) -> Callable[..., Any] | None:
        """Return a fast function for single non-empty matrices whose lengths fit, or None.

        The function returns the results of `batched`, or None if `batched` should compute (and
        report errors). It calls LAPACK, whose routines are looked up here, once for each node.
        dtype: a dtype of LAPACK, that of all float inputs.
        """
        return None

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the outputs for single matrices. Raise `ShapeError`, and the errors of
        `batched`.
        """
        store(output_storage, self.make_function(node)(*inputs))

    def make_function(self, node: Apply) -> Callable[..., Any]:
        """Return a function that checks the inputs and calls `single` or `batched`."""
        own = {v.type.dtype for v in node.inputs if v.type.kind in "fc"}
        dtype = np.dtype(own.pop()) if len(own) == 1 else None
        one = None
        if dtype is not None and dtype.char in _LETTERS:
            one = self.single(dtype) if LINALG in sys.modules else self._later(dtype)
        return of_arrays(self, self.batched, node, one)

    def _later(self, dtype: Any) -> Callable[..., Any] | None:
        """Return `single`, built at the first call, as importing SciPy takes longer than compiling
        a graph.
        """
        if type(self).single is _MatrixOp.single:
            return None
        run: Callable[..., Any] | None = None

        def one(*arrays: Any) -> Any:
            nonlocal run
            if run is None:
                run = self.single(dtype) or (lambda *arrays: None)
            return run(*arrays)

        return one


class _Structured(_MatrixOp):
    """Base class of ops that rules compute in other ways, by what is known of the matrix.

    as_written: whether rules leave the op as it is, where they have decided that it is best.
    """

    __props__: tuple[str, ...] = ("as_written",)
    has_structure = True

    def __init__(self, as_written: bool = False) -> None:
        self.as_written = as_written

    def __str__(self) -> str:
        return f"{type(self).__name__}{{as_written}}" if self.as_written else type(self).__name__


class _Symmetric(_MatrixOp):
    """Base class of ops that return real eigenvalues, and eigenvectors; one triangle of the
    matrices is read.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ("lower",)
    output_names = ("eigenvalues", "eigenvectors")

    def __init__(self, lower: bool = True) -> None:
        self.lower = lower

    def dtypes(self, *types: TensorType) -> list[str]:
        values, vectors = super().dtypes(*types)
        return [real_dtype(values), vectors]


def working_dtype(*dtypes: str) -> str:
    """Return the float dtype in which LAPACK computes for these dtypes."""
    found = float_dtype(*dtypes)
    return "float32" if found == "float16" else found


def real_dtype(dtype: str) -> str:
    """Return the dtype of the real part."""
    return np.empty(0, dtype).real.dtype.name


def complex_dtype(dtype: str) -> str:
    """Return the complex dtype of the same precision."""
    return np.result_type(dtype, "complex64").name


def found(run: Any, *arrays: Any, **options: Any) -> Any:
    """Return the result of a function of NumPy or SciPy. Raise `SingularMatrixError` if it
    fails.
    """
    try:
        return run(*arrays, **options)
    except np.linalg.LinAlgError as error:
        raise SingularMatrixError(f"{error} (shape {arrays[0].shape})") from None


def of_finite(run: Any, a: Any, **options: Any) -> Any:
    """Return the result of a function that uses singular values.

    LAPACK may not terminate for numbers that are not finite. Raises `SingularMatrixError`.
    """
    if not np.isfinite(a).all():
        raise SingularMatrixError(f"the matrix has numbers that are not finite (shape {a.shape})")
    return found(run, a, **options)


def floats(*xs: Any) -> list[Any]:
    """Return the operands as floats of one dtype in which LAPACK computes."""
    tensors = [as_tensor_variable(x) for x in xs]
    dtype = working_dtype(*[x.type.dtype for x in tensors])
    return [x if x.type.dtype == dtype else m.cast(x, dtype) for x in tensors]


def of_dtype(*arrays: Any) -> Sequence[Any]:
    """Return values in the dtype that `floats` chooses for their variables."""
    dtype = working_dtype(*[x.dtype.name for x in arrays])
    return [np.asarray(x, dtype) for x in arrays]


@cache
def _routine(name: str) -> Any:
    from scipy.linalg import blas, lapack

    return getattr(lapack, name, None) or getattr(blas, name)


LINALG = "scipy.linalg"

#: rows up to which LAPACK needs no blocks, and what surrounds it counts
FEW = 64
#: what the names of LAPACK's routines begin with, by dtype
_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}


def lapack(name: str, dtype: Any) -> Any:
    """Return a routine of LAPACK or BLAS from SciPy.

    NumPy's routines use threads of their own, and alternating between both is slow.
    """
    return _routine(_LETTERS[dtype.char] + name)


#: rows of a matrix that are compared with columns at a time
BLOCK_ROWS = 64


def is_symmetric(a: Any) -> bool:
    """Return whether a square matrix of numbers equals its transpose, without NaN."""
    n = len(a)
    if not np.array_equal(a[:1, :BLOCK_ROWS], a[:BLOCK_ROWS, :1].T):  # by far the most
        return False
    return all(
        np.array_equal(a[i : i + BLOCK_ROWS, i:], a[i:, i : i + BLOCK_ROWS].T)
        for i in range(0, n, BLOCK_ROWS)
    )


def may_be_definite(a: Any) -> bool:
    """Return whether a real matrix is symmetric and has a positive diagonal."""
    return a.dtype.kind == "f" and bool((a.diagonal() > 0).all()) and is_symmetric(a)


def double(dtype: Any) -> Any:
    """Return the dtype in which NumPy computes single precision numbers: double precision."""
    return np.result_type(dtype, "float64")


def along(batch: Sequence[int], *arrays: Any) -> Any:
    """Return, for each batch index in turn, the elements of the arrays."""
    return zip(*[x.reshape(-1, *x.shape[len(batch) :]) for x in arrays], strict=True)


def rows_of(x: Any, order: Any) -> Any:
    """Return the rows of matrices in another order."""
    if order.type.ndim == 1:
        return x[..., order, :]
    at = expand_dims(order, -1)
    ndim = max(x.type.ndim, at.type.ndim)
    x, at = [shape_padleft(v, ndim - v.type.ndim) for v in (x, at)]
    return take_along_axis(x, at, axis=-2)


def adjoint(x: Any) -> Any:
    """Return the conjugate transposes of matrices, by which gradients propagate backwards."""
    return m.conjugated(x).mT


def connected(outputs: Sequence[Any], gs: Sequence[Any]) -> list[Any]:
    """Return the gradients, with zeros if the cost does not depend on an output."""
    return [zeros_like(z) if is_disconnected(g) else g for z, g in zip(outputs, gs, strict=True)]


def in_triangle(g: Any, lower: bool) -> Any:
    """Return the gradient of one triangle of symmetric matrices, from the gradient of all
    elements.
    """
    both = m.add(g, adjoint(g))
    return m.sub(tril(both) if lower else triu(both), m.mul(m.mul(0.5, unit(both)), both))


def unit(x: Any) -> Any:
    """Return the unit matrix in the shape and dtype of square matrices."""
    n = x.type.shape[-1]
    return eye(x.shape[-1] if n is None else n, dtype=x.type.dtype)


def singular(a: Any, index: Any = None) -> str:
    """Return the error text for an array with a singular matrix."""
    if a.ndim == 2:
        return f"the matrix of shape {a.shape} is singular"
    if index is None:
        apart = np.linalg.slogdet(a)[0] == 0
        if not apart.any():
            return f"one of the matrices in the array of shape {a.shape} is singular"
        index = tuple([int(i) for i in np.argwhere(apart)[0]])
    return f"matrix {index} of the array of shape {a.shape} is singular"


def solved(a: Any, b: Any) -> Any:
    """Return the x of a @ x = b, by `numpy.linalg.solve`. Raise `SingularMatrixError`."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise SingularMatrixError(singular(a)) from None


def check_order(output: str, sort: str | None) -> None:
    """Raise `ValueError` for values of `output` and `sort` that `schur` and `qz` do not accept."""
    if output not in ("real", "complex"):
        raise ValueError(located(f'output must be "real" or "complex", not {output!r}'))
    if sort not in (None, "lhp", "rhp", "iuc", "ouc"):
        raise ValueError(located(f'sort must be "lhp", "rhp", "iuc", "ouc" or None, not {sort!r}'))
