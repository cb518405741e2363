"""One factorisation of a matrix for several uses: `Factor`, and what is computed from it.

Rules use these ops where a matrix has its equations solved, its inverse or its determinant taken
more than once (`rules/linalg/factors.py`). They stand in graphs that are differentiated no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.null import grad_not_implemented
from rewrite_engine.tensor.linalg.op import (
    BLOCK_ROWS,
    SingularMatrixError,
    _MatrixOp,
    along,
    lapack,
    may_be_definite,
    of_dtype,
    real_dtype,
    singular,
    working_dtype,
)
from rewrite_engine.tensor.type import TensorType

__all__ = ["Factor", "FactorInverse", "FactorSLogDet", "FactorSolve"]

#: first pivot of a Cholesky factor; those of LU factors are rows
NO_PIVOT = -1


class _Internal(_MatrixOp):
    """Base class of ops that rules make after gradients are taken."""

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients that say that there is none."""
        why = "gradients are taken of the ops that this factorisation replaces"
        return [grad_not_implemented(self, i, x, why) for i, x in enumerate(inputs)]


class Factor(_Internal):
    """Factors of a square matrix, and their pivots: the Cholesky factor of a positive definite
    matrix, with -1 as first pivot; otherwise LU factors of the transpose, as by LAPACK.

    A singular matrix has factors, too: a 0 on the diagonal.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ()
    signature = "(m,m)->(m,m),(m)"
    output_names = ("factor", "pivots")
    only_lengths = True
    samples: Sequence[Any] = (
        ({}, (3, 3)), ({}, [[4.0, 1.0], [1.0, 3.0]]), ({}, [[1.0, 2.0], [2.0, 1.0]]), ({}, (0, 0)),
    )  # fmt: skip

    def dtypes(self, *types: TensorType) -> list[str]:
        return [super().dtypes(*types)[0], "int32"]

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by LAPACK's `potrf` or `getrf`, on the transpose, as
        LAPACK stores columns.
        """
        getrf, potrf = lapack("getrf", dtype), lapack("potrf", dtype)

        def run(a: Any) -> Any:
            if may_be_definite(a):
                factor, info = potrf(a.T, True, False)
                if not info:
                    return factor, np.full(len(a), NO_PIVOT, "int32")
            return getrf(a.T)[:2]

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute the factors matrix by matrix."""
        (a,) = of_dtype(*arrays)
        out, pivots = np.empty_like(a), np.empty(a.shape[:-1], "int32")
        one = self.single(a.dtype)
        for index in np.ndindex(a.shape[:-2] if a.size else (0,)):
            out[index], pivots[index] = one(a[index])
        return out, pivots


#: samples of factors: of a general matrix, of a positive definite one
_LU = ([[4.0, 1.0, 2.0], [0.5, 3.0, 1.0], [-0.25, 0.5, 2.0]], [1, 2, 2])
_CHOLESKY = ([[2.0, 0.0], [0.5, 1.5]], [NO_PIVOT, NO_PIVOT])


def check_pivots(factor: Any) -> None:
    """Raise `SingularMatrixError` if a pivot is 0."""
    if np.count_nonzero(factor.diagonal()) < len(factor):
        raise SingularMatrixError(singular(factor))


def is_cholesky(pivots: Any) -> bool:
    """Return whether pivots say that the factor of a matrix with rows is a Cholesky factor."""
    return bool(pivots[0] == NO_PIVOT)


class _OfFactor(_Internal):
    """Base class of ops on the outputs of `Factor`, computed by `one` for one matrix with rows."""

    __props__: tuple[str, ...] = ()

    def dtypes(self, *types: TensorType) -> list[str]:
        factor, _, *others = types
        return [working_dtype(*[t.dtype for t in (factor, *others)])]

    def one(self, dtype: Any) -> Callable[..., Any]:
        """Return a function of the factor and pivots of one matrix, and other arrays."""
        raise NotImplementedError

    def single(self, dtype: Any) -> Callable[..., Any]:
        return self.one(dtype)

    def spread(self, arrays: Sequence[Any]) -> tuple[tuple[int, ...], list[Any]]:
        """Return the shape of the batch, and the arrays in one dtype, broadcast to it."""
        factor, *others = of_dtype(arrays[0], *arrays[2:])
        ranked = [*zip([factor, arrays[1], *others], self.ranks, strict=True)]
        batch = np.broadcast_shapes(*[x.shape[: x.ndim - n] for x, n in ranked])
        return batch, [np.broadcast_to(x, (*batch, *x.shape[x.ndim - n :])) for x, n in ranked]


class FactorSolve(_OfFactor):
    """Solution x of a @ x = b, from the outputs of `Factor` of `a`. transposed: solve with the
    transpose of `a`. Raises `SingularMatrixError`.
    """

    __props__ = ("transposed",)
    nin = 3
    signature = "(m,m),(m),(m,n)->(m,n)"
    samples: Sequence[Any] = (
        ({}, *_LU, (3, 2)), ({"transposed": True}, *_LU, (3, 1)), ({}, *_CHOLESKY, (2, 3)),
    )  # fmt: skip

    def __init__(self, transposed: bool = False) -> None:
        self.transposed = transposed

    def one(self, dtype: Any) -> Callable[..., Any]:
        getrs, potrs = lapack("getrs", dtype), lapack("potrs", dtype)
        as_stored = int(not self.transposed)  # the factors are those of the transpose

        def run(factor: Any, pivots: Any, b: Any) -> Any:
            if is_cholesky(pivots):
                return potrs(factor, b, True)[0]
            check_pivots(factor)
            return getrs(factor, pivots, b, as_stored)[0]

        return run

    def batched(self, *arrays: Any) -> Any:
        """Solve matrix by matrix."""
        batch, values = self.spread(arrays)
        out = np.empty(values[2].shape, values[2].dtype)
        if out.size:
            one = self.one(out.dtype)
            for x, *given in along(batch, out, *values):
                x[...] = one(*given)
        return out


class FactorInverse(_OfFactor):
    """Inverse of a matrix, from the outputs of its `Factor`. Raises `SingularMatrixError`."""

    nin = 2
    signature = "(m,m),(m)->(m,m)"
    samples: Sequence[Any] = (({}, *_LU), ({}, *_CHOLESKY))

    def one(self, dtype: Any) -> Callable[..., Any]:
        getri, potri = lapack("getri", dtype), lapack("potri", dtype)

        def run(factor: Any, pivots: Any) -> Any:
            if not is_cholesky(pivots):
                check_pivots(factor)
                return getri(factor, pivots, BLOCK_ROWS * len(factor))[0].T
            half = potri(factor, True)[0]
            return np.tril(half) + np.tril(half, -1).T

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute the inverses matrix by matrix."""
        batch, values = self.spread(arrays)
        out = np.empty(values[0].shape, values[0].dtype)
        if out.size:
            one = self.one(out.dtype)
            for x, *given in along(batch, out, *values):
                x[...] = one(*given)
        return out


class FactorSLogDet(_OfFactor):
    """Sign of a determinant, and logarithm of its absolute value, from the outputs of the `Factor`
    of the matrix.
    """

    __call__: Callable[..., Any]  # (several outputs)
    nin = 2
    signature = "(m,m),(m)->(),()"
    output_names = ("sign", "logabsdet")
    only_lengths = True
    samples: Sequence[Any] = (({}, *_LU), ({}, *_CHOLESKY))

    def dtypes(self, *types: TensorType) -> list[str]:
        (found,) = super().dtypes(*types)
        return [found, real_dtype(found)]

    def one(self, dtype: Any) -> Callable[..., Any]:
        real = np.dtype(real_dtype(dtype.name))

        def run(factor: Any, pivots: Any) -> Any:
            diagonal = factor.diagonal()
            with np.errstate(all="ignore"):
                size = np.log(np.abs(diagonal)).sum()
                if is_cholesky(pivots):
                    return np.ones((), dtype), np.asarray(2 * size, real)
                swaps = np.count_nonzero(pivots != np.arange(len(pivots)))
                sign = np.prod(np.sign(diagonal)) * (-1) ** (swaps % 2)
            sign = np.nan if np.isnan(size) else sign
            return np.asarray(sign, dtype), np.asarray(size, real)

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute both outputs matrix by matrix."""
        batch, values = self.spread(arrays)
        dtype = values[0].dtype
        signs, sizes = np.ones(batch, dtype), np.zeros(batch, real_dtype(dtype.name))
        if values[0].size:
            one = self.one(dtype)
            for index, given in zip(np.ndindex(batch), along(batch, *values), strict=True):
                signs[index], sizes[index] = one(*given)
        return signs, sizes
