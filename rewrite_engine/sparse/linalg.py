"""Linear algebra of sparse matrices, by `scipy.sparse.linalg` (SuperLU): `spsolve`, `slogdet`,
`splu`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy.sparse import linalg

from rewrite_engine.errors import DTypeError, NDimError, message
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.null import disconnected, grad_not_implemented, is_disconnected
from rewrite_engine.sparse.constant import as_sparse_variable
from rewrite_engine.sparse.convert import transpose
from rewrite_engine.sparse.join import block_diag
from rewrite_engine.sparse.op import DENSE, SPARSE, SparseOp, result
from rewrite_engine.sparse.parts import as_structured
from rewrite_engine.sparse.product import CHUNK, DotAt, conj
from rewrite_engine.sparse.type import coordinates, deduplicated
from rewrite_engine.tensor.linalg.op import SingularMatrixError
from rewrite_engine.tensor.math import as_gradient_of
from rewrite_engine.tensor.op import Shapes

__all__ = ["InverseAt", "SPLU", "SpLogDet", "SpSolve", "block_diag", "slogdet", "splu", "spsolve"]


class Factored(NamedTuple):
    """Factors that SuperLU computed for a matrix, or its transpose. trans, back: options that solve
    with the matrix, and with its transpose.
    """

    lu: Any
    trans: str
    back: str


def factored(op: Any, node: Apply, x: Any, dtype: Any) -> Factored:
    """Factor a square matrix; a csr matrix by its transpose, which is csc without conversion. Raise
    `SingularMatrixError` if it is singular.
    """
    turned = x.format == "csr"
    x = deduplicated(x.T if turned else x)
    try:
        lu = linalg.splu(x.astype(dtype, copy=False))
    except RuntimeError as error:
        singular(op, node, str(error))
    return Factored(lu, "T", "N") if turned else Factored(lu, "N", "T")


def singular(op: Any, node: Apply, why: str) -> NoReturn:
    """Raise `SingularMatrixError` for a node, with the reason."""
    what = f"the matrix is singular: {why}"
    raise SingularMatrixError(message(what, op=op, inputs=node.inputs, where=node.where()))


class OfSquare(SparseOp):
    """Base class of ops on a square sparse matrix, and perhaps dense arrays."""

    __props__: tuple[str, ...] | None = ()
    may_fail = True

    def formats(self, *types: Any) -> Sequence[str | None]:
        return [None]

    def real_or_complex(self, types: Sequence[Any]) -> str:
        """Return the dtype of the computation: double precision for integers."""
        found = result(types)
        return found if np.dtype(found).kind in "fc" else "float64"


SQUARE = [(0, 0), (0, 1)]


class SpSolve(OfSquare):
    """Solution x of A @ x = b: A sparse and square, b a dense vector or matrix.

    _Structured gradient of A. Raises `SingularMatrixError` if A is singular.
    """

    nin = 2
    kinds = (SPARSE, DENSE)
    samples: Sequence[Any] = (
        ({}, ("square", 4, 4), ("dense", 4)),
        ({}, ("square", 4, 4), ("dense", 4, 2)),
    )

    def __str__(self) -> str:
        return "spsolve"

    def dtypes(self, *types: Any) -> list[str]:
        return [self.real_or_complex(types)]

    def shapes(self, *types: Any) -> Shapes:
        b = types[1]
        if b.ndim not in (1, 2):
            raise NDimError(f"takes a vector or a matrix, not type {b}")
        return Shapes([[(1, i) for i in range(b.ndim)]], [[*SQUARE, (1, 0)]])

    def function(self, node: Apply) -> Callable[..., Any]:
        dtype = node.outputs[0].type.numpy_dtype

        def run(a: Any, b: Any) -> Any:
            if not b.size:
                return np.zeros(b.shape, dtype)
            lu, trans, _ = factored(self, node, a, dtype)
            return lu.solve(b.astype(dtype, copy=False), trans)

        return run

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], gs: Sequence[Any]) -> list[Any]:
        """Return gradients: that of b solves with the transpose; that of A is -gb @ x.T at the
        stored elements.
        """
        (a, b), (x,), (g,) = inputs, outputs, gs
        gb = self(transpose(conj(a)), g)
        columns = (gb[:, None], x[:, None]) if b.type.ndim == 1 else (gb, x)
        ga = as_structured(a, lambda at: -DotAt()(columns[0], conj(columns[1]), at))
        return [ga, as_gradient_of(b, gb)]


def spsolve(A: Any, b: Any) -> Any:
    """Return the x of A @ x = b, dense, in the shape of b.

    A: sparse and square; b: a dense vector or matrix. For integers x is float64. The gradient of A
    is structured. Raises `SingularMatrixError` if A is singular, `ShapeError`, `NDimError`.
    """
    return SpSolve()(as_sparse_variable(A), b)


class SpLogDet(OfSquare):
    """Sign of the determinant of a sparse matrix, and logarithm of its absolute value.

    _Structured gradient. A singular matrix has the sign 0, and -inf.
    """

    output_names = ("sign", "logabsdet")
    nout = 2
    samples: Sequence[Any] = (({}, ("square", 4, 4)), ({}, (0, 0)))

    def __str__(self) -> str:
        return "sparse_slogdet"

    def formats(self, *types: Any) -> Sequence[str | None]:
        return [None, None]

    def dtypes(self, *types: Any) -> list[str]:
        dtype = self.real_or_complex(types)
        if np.dtype(dtype).kind == "c":
            raise DTypeError("takes a matrix of a real dtype")
        return [dtype] * 2

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[], []], [SQUARE])

    def function(self, node: Apply) -> Callable[..., Any]:
        dtype = node.outputs[0].type.numpy_dtype

        def run(a: Any) -> Any:
            if not a.shape[0]:
                return np.ones((), dtype), np.zeros((), dtype)
            try:
                lu = factored(self, node, a, dtype).lu
            except np.linalg.LinAlgError:
                return np.zeros((), dtype), np.array(-np.inf, dtype)
            pivots = lu.U.diagonal()
            odd = (parity(lu.perm_r) + parity(lu.perm_c) + int((pivots < 0).sum())) % 2
            return np.array(1 - 2 * odd, dtype), np.asarray(np.log(np.abs(pivots)).sum(), dtype)

        return run

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the logarithm only."""
        return [[False, True]]

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        """Return the transposed inverse at the stored elements, times the gradient."""
        (a,), g = inputs, output_gradients[1]
        if is_disconnected(g):
            return [disconnected()]
        return [as_structured(a, lambda at: g * InverseAt()(at))]


def parity(permutation: np.ndarray) -> int:
    """Return 1 if a permutation is odd, else 0."""
    seen = np.zeros(len(permutation), bool)
    cycles = 0
    for i in range(len(permutation)):
        if seen[i]:
            continue
        cycles += 1
        while not seen[i]:
            seen[i] = True
            i = permutation[i]
    return (len(permutation) - cycles) % 2


class InverseAt(OfSquare):
    """Elements of the transposed inverse of a sparse matrix at its stored elements, in the order of
    `csm_data`: a vector.

    Several columns are solved at a time.
    """

    entries_of = 0
    samples: Sequence[Any] = (({}, ("square", 4, 4)),)

    def __str__(self) -> str:
        return "inverse_at"

    def dtypes(self, *types: Any) -> list[str]:
        return [self.real_or_complex(types)]

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[None]], [SQUARE])

    def function(self, node: Apply) -> Callable[..., Any]:
        dtype = node.outputs[0].type.numpy_dtype

        def run(a: Any) -> Any:
            n = a.shape[0]
            found = np.empty(len(a.data), dtype)
            if not n:
                return found
            lu, _, back = factored(self, node, a, dtype)
            rows, columns = coordinates(a)
            order = np.argsort(columns, kind="stable")
            step = max(1, CHUNK // (n * dtype.itemsize))
            for first in range(0, n, step):
                wanted = np.arange(first, min(first + step, n))
                unit = np.zeros((n, len(wanted)), dtype)
                unit[wanted, wanted - first] = 1
                ends = np.searchsorted(columns[order], (first, first + len(wanted)))
                some = order[slice(*ends)]
                found[some] = lu.solve(unit, back)[rows[some], columns[some] - first]
            return found

        return run

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        why = "second derivatives of determinants of sparse matrices are not available"
        return [grad_not_implemented(self, 0, inputs[0], why)]


def slogdet(A: Any) -> Any:
    """Return the sign of the determinant of a square, sparse, real matrix, and the logarithm of its
    absolute value: two 0-d tensors, `sign` and `logabsdet`.

    Computed by the LU decomposition. The gradient of the logarithm is structured: the transposed
    inverse at the stored elements. A singular matrix has the sign 0 and -inf. Raises `ShapeError`,
    `DTypeError` for complex numbers.
    """
    return SpLogDet()(as_sparse_variable(A))


class SPLU(OfSquare):
    """LU decomposition of a sparse matrix: csc matrices L and U and permutations of rows and
    columns.

    They satisfy A[argsort(perm_r)][:, perm_c] = L @ U. No gradient.
    """

    output_names = ("L", "U", "perm_r", "perm_c")
    nout = 4
    samples: Sequence[Any] = (({}, ("square", 4, 4)),)

    def __str__(self) -> str:
        return "splu"

    def formats(self, *types: Any) -> Sequence[str | None]:
        return ["csc", "csc", None, None]

    def dtypes(self, *types: Any) -> list[str]:
        return [self.real_or_complex(types)] * 2 + ["int32"] * 2

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([SQUARE, SQUARE, [(0, 0)], [(0, 0)]], [SQUARE])

    def function(self, node: Apply) -> Callable[..., Any]:
        dtype = node.outputs[0].type.numpy_dtype

        def run(a: Any) -> Any:
            a = deduplicated(a.tocsc()).astype(dtype, copy=False)
            try:
                lu = linalg.splu(a)
            except RuntimeError as error:
                singular(self, node, str(error))
            return lu.L, lu.U, lu.perm_r.copy(), lu.perm_c.copy()

        return run


def splu(A: Any) -> Any:
    """Return the LU decomposition of a square sparse matrix: csc matrices `L` and `U`, and
    permutations `perm_r` and `perm_c`.

    As in `scipy.sparse.linalg.splu`, row i of A is row perm_r[i] of L @ U, and column i is column
    perm_c[i]. No gradient. Raises `SingularMatrixError` if A is singular, `ShapeError`.
    """
    return SPLU()(as_sparse_variable(A))
