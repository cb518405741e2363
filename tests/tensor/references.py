"""What ops on tensors mean, in the words of NumPy and SciPy: one line per class. `test_samples.py`
holds everything about them against it. A function of the op and the values of its inputs.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.signal
import scipy.special

from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.tensor.index.template import fill

MEANS: dict[str, Callable[..., Any]] = {
    "Elemwise": lambda op, *xs: op.scalar_op.impl(*xs),
    "CAReduce": lambda op, x: op.scalar_op.ufunc.reduce(x, op.axis, keepdims=op.keepdims),
    "Sum": lambda op, x: np.sum(x, op.axis, keepdims=op.keepdims),
    "Prod": lambda op, x: np.prod(x, op.axis, keepdims=op.keepdims),
    "Max": lambda op, x: np.max(x, op.axis, keepdims=op.keepdims),
    "Min": lambda op, x: np.min(x, op.axis, keepdims=op.keepdims),
    "All": lambda op, x: np.all(x, op.axis, keepdims=op.keepdims),
    "Any_": lambda op, x: np.any(x, op.axis, keepdims=op.keepdims),
    "Argmax": lambda op, x: _position(np.argmax, op, x),
    "Argmin": lambda op, x: _position(np.argmin, op, x),
    "Softmax": lambda op, x: scipy.special.softmax(_float(x), op.axis),
    "LogSoftmax": lambda op, x: scipy.special.log_softmax(_float(x), op.axis),
    "SoftmaxAndLog": lambda op, x: [
        scipy.special.softmax(_float(x), op.axis),
        scipy.special.log_softmax(_float(x), op.axis)
        if op.whole
        else scipy.special.logsumexp(_float(x), op.axis, keepdims=True),
    ],
    "ScaledExp": lambda op, x: np.exp(_float(x)),
    "LogSumExp": lambda op, x: np.log(np.sum(np.exp(_float(x)), op.axis, keepdims=op.keepdims)),
    "CumOp": lambda op, x: {"add": np.cumsum, "mul": np.cumprod}[op.mode](x, op.axis),
    "SortOp": lambda op, x: np.sort(x, op.axis),
    "ArgSortOp": lambda op, x: np.argsort(x, op.axis, kind=op.kind),
    "SearchsortedOp": lambda op, x, v: np.asarray(np.searchsorted(x, v, op.side)),
    "Unique": lambda op, x: _several(np.unique(
        x, op.return_index, op.return_inverse, op.return_counts, op.axis)),
    "BinCount": lambda op, x, n, *w: _real(np.bincount(x, *w, minlength=int(n)), *w),
    "Recurrence": lambda op, a, b: _recurrence(op.axis, a, b),
    "Dot": lambda op, a, b: np.dot(a, b),
    "MatMul": lambda op, a, b: np.matmul(a, b),
    "Blockwise": lambda op, x: np.sum(x, -1 if op.core_op.axis is None else -2),
    "DimShuffle": lambda op, x: np.reshape(x.transpose(op.shuffle + op.drop), [
        1 if o == "x" else x.shape[o] for o in op.new_order]),
    "Reshape": lambda op, x, *sizes: np.reshape(x, _filled(op.shape, sizes)),
    "Shape": lambda op, x: np.array(x.shape, "int64"),
    "Shape_i": lambda op, x: np.array(x.shape[op.i]),
    "CheckedIndex": lambda op, i, n: i % n,
    "CheckedLength": lambda op, n, *others: n,
    "SpecifyShape": lambda op, x, *sizes: x,
    "Unbroadcast": lambda op, x: x,
    **dict.fromkeys(["Assert", "CheckAndRaise", "CheckParameter"], lambda op, x, *conditions: x),
    **dict.fromkeys(
        ["GradientView", "DisconnectedGrad", "ZeroGrad", "UndefinedGrad", "GradClip", "GradScale",
         "ViewOp"],
        lambda op, x: x),
    "Join": lambda op, *xs: np.concatenate(xs, op.axis),
    "Split": lambda op, x, *n: np.split(x, np.cumsum(_filled(op.sizes, n))[:-1], op.axis),
    "MakeVector": lambda op, *xs: np.array(xs, op.dtype),
    "Subtensor": lambda op, x, *i: x[fill(op.idx_list, i)],
    "AdvancedSubtensor": lambda op, x, *i: x[fill(op.idx_list, i)],
    "IncSubtensor": lambda op, x, y, *i: _written(op, x, y, i),
    "AdvancedIncSubtensor": lambda op, x, y, *i: _written(op, x, y, i),
    "RepeatedPositions": lambda op, n, times: np.repeat(np.arange(n), times),
    "Nonzero": lambda op, x: list(np.nonzero(x)),
    "UnravelIndex": lambda op, i, sizes: list(np.unravel_index(i, sizes, op.order)),
    "RavelMultiIndex": lambda op, *i: np.ravel_multi_index(i[:-1], i[-1], op.mode, op.order),
    "Diagonal": lambda op, x: np.diagonal(x, op.offset, op.axis1, op.axis2),
    "IncDiagonal": lambda op, x, y: _on_diagonal(op, x, y),
    "Alloc": lambda op, x, *sizes: np.broadcast_to(x, list(map(int, sizes))),
    "AllocEmpty": lambda op, *sizes: np.empty(list(map(int, sizes)), op.dtype),
    "ARange": lambda op, *ends: np.arange(*ends, dtype=op.dtype),
    "Cholesky": lambda op, a: scipy.linalg.cholesky(a, op.lower),
    "CholeskyGradient": lambda op, low, g: _of_cholesky(*_floats(low, g)),
    "CovarianceGradient": lambda op, *xs: _of_covariance(*_floats(*xs)),
    "Solve": lambda op, a, b: np.linalg.solve(*_floats(a, b)),
    "SolveTriangular": lambda op, a, b: _triangular(op, *_floats(a, b)),
    "MatrixInverse": lambda op, a: np.linalg.inv(_float(a)),
    "SolveTridiagonal": lambda op, a, b: np.linalg.solve(*_floats(np.triu(np.tril(a, 1), -1), b)),
    "LUFactorTridiagonal": lambda op, a: _three_diagonals(_float(a)),
    "SolveLUFactorTridiagonal": lambda op, *xs: _swept(op, *xs),
    "Det": lambda op, a: np.linalg.det(_float(a)),
    "Cofactors": lambda op, a: _cofactors(_float(a)),
    "SLogDet": lambda op, a: list(np.linalg.slogdet(_float(a))),
    "SVD": lambda op, a: list(np.linalg.svd(_float(a), op.full_matrices)),
    "Eigh": lambda op, a: list(np.linalg.eigh(_float(a), "L" if op.lower else "U")),
    "EighPair": lambda op, a, b: list(scipy.linalg.eigh(*_floats(a, b), lower=op.lower)),
    "QR": lambda op, a: list(
        scipy.linalg.qr(_float(a), mode="full" if op.complete else "economic", pivoting=op.pivoting)
    ),
    "MatrixPinv": lambda op, a: np.linalg.pinv(_float(a), hermitian=op.hermitian),
    "Expm": lambda op, a: scipy.linalg.expm(_float(a)),
    "Factor": lambda op, a: _factored(_float(a)),
    "FactorSolve": lambda op, *xs: np.linalg.solve(
        _whole(*xs[:2]).T if op.transposed else _whole(*xs[:2]), _float(xs[2])),
    "FactorInverse": lambda op, *xs: np.linalg.inv(_whole(*xs)),
    "FactorSLogDet": lambda op, *xs: list(np.linalg.slogdet(_whole(*xs))),
    "Kron": lambda op, a, b: np.kron(a, b),
    "BlockDiag": lambda op, *xs: scipy.linalg.block_diag(*xs),
    "LUFactor": lambda op, a: _eliminated(_float(a)),
    "SolveLUFactor": lambda op, lu, p, b: _from_factors(op, *_floats(lu, b), p),
    "PivotToPermutations": lambda op, p: _swapped(op.inverse, p),
    "Eig": lambda op, a: [x + 0j for x in np.linalg.eig(_float(a))],
    "Schur": lambda op, a: list(scipy.linalg.schur(_float(a), op.output, sort=op.sort)[:2]),
    "QZ": lambda op, a, b: _pencil(op, *_floats(a, b)),
    "Lstsq": lambda op, a, b, part: _least(*_floats(a, b), part),
    "SolveSylvester": lambda op, *abq: scipy.linalg.solve_sylvester(*_floats(*abq)),
    "SolveDiscreteARE": lambda op, a, b, q, r: scipy.linalg.solve_discrete_are(
        *_floats(a, b, (q + q.conj().T) / 2, (r + r.conj().T) / 2)),
    "Convolve1d": lambda op, a, b: np.convolve(a, b, op.mode),
    "Convolve2d": lambda op, a, b: _convolved(a, b, op.mode),
    "RFFTOp": lambda op, x: _pairs(np.fft.rfftn(_float(x), axes=op.axes)),
    "IRFFTOp": lambda op, x, n: _transformed(op, _float(x), int(n)),
    "Tri": lambda op, rows, columns, k: np.tri(int(rows), int(columns), int(k), bool),
    "Eye": lambda op, rows, columns, k: np.eye(int(rows), int(columns), int(k), op.dtype),
}  # fmt: skip


def _factored(a: Any) -> list[Any]:
    """Return a Cholesky factor, below what the matrix has above it; or LU factors of the transpose,
    with their pivots.
    """
    definite = a.dtype.kind == "f" and (a == a.T).all() and (np.linalg.eigvalsh(a) > 0).all()
    if len(a) and definite:
        return [np.linalg.cholesky(a) + np.triu(a, 1), np.full(len(a), -1, "int32")]
    return [*scipy.linalg.lu_factor(a.T)] if len(a) else [a, np.zeros(0, "int32")]


def _whole(factor: Any, pivots: Any) -> Any:
    """Return the matrix of these factors."""
    factor = _float(factor)
    low = np.tril(factor)
    if len(factor) and pivots[0] < 0:
        return low @ low.T
    np.fill_diagonal(low, 1)
    turned = low @ np.triu(factor)
    for k, p in reversed([*enumerate(pivots)]):
        turned[[k, p]] = turned[[p, k]]
    return turned.T


def _several(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def _real(x: Any, weights: Any = None) -> Any:
    return x if weights is None or weights.dtype.kind != "f" else x.astype(weights.dtype)


def _float(x: Any) -> Any:
    return x.astype(float_dtype(x.dtype.name))


def _floats(*xs: Any) -> list[Any]:
    return [x.astype(float_dtype(*[x.dtype.name for x in xs])) for x in xs]


def _eliminated(a: Any) -> list[Any]:
    with warnings.catch_warnings(action="ignore"):  # of a singular matrix
        return list(scipy.linalg.lu_factor(a))


def _three_diagonals(a: Any) -> list[Any]:
    """Row by row, each swapped with the next where that is larger."""
    n, a = len(a), np.triu(np.tril(a, 1), -1)
    low, pivots = np.zeros(max(n - 1, 0), a.dtype), np.arange(1, n + 1, dtype="int32")
    for i in range(n - 1):
        if abs(a[i, i]) < abs(a[i + 1, i]):
            a[[i, i + 1]], pivots[i] = a[[i + 1, i]], i + 2
        low[i] = a[i + 1, i] / a[i, i] if a[i, i] else 0
        a[i + 1] -= low[i] * a[i]
    return [low, *[np.diagonal(a, k) for k in range(3)], pivots]


def _swept(op: Any, low: Any, d: Any, du: Any, du2: Any, pivots: Any, b: Any) -> Any:
    """By the product of the factors."""
    a = np.diag(d) + np.diag(du, 1) + np.diag(du2, 2)
    for i in range(len(d) - 2, -1, -1):
        a[i + 1] += low[i] * a[i]
        if pivots[i] != i + 1:
            a[[i, i + 1]] = a[[i + 1, i]]
    return np.linalg.solve(a.T if op.transposed else a, b)


def _least(a: Any, b: Any, part: Any) -> list[Any]:
    x, _, rank, s = np.linalg.lstsq(a, b, float(part))
    return [x, np.int32(rank), s]


def _cofactors(a: Any) -> Any:
    """By determinants of what is left without a row and a column."""
    out = np.empty_like(a)
    for i, k in np.ndindex(a.shape):
        out[i, k] = (-1) ** (i + k) * np.linalg.det(np.delete(np.delete(a, i, 0), k, 1))
    return out


def _pencil(op: Any, a: Any, b: Any) -> list[Any]:
    if op.sort:
        return list(scipy.linalg.ordqz(a, b, op.sort, op.output))
    aa, bb, q, z = scipy.linalg.qz(a, b, op.output)
    return [aa, bb, np.diag(aa), np.diag(bb), q, z]


def _convolved(a: Any, b: Any, mode: str) -> Any:
    if a.dtype == b.dtype == bool:
        return _convolved(a.astype(int), b.astype(int), mode) > 0
    return scipy.signal.convolve(a, b, mode, "direct")


def _pairs(z: Any) -> Any:
    return np.stack([z.real, z.imag], -1)


def _transformed(op: Any, x: Any, n: int) -> Any:
    shape = (*x.shape[-1 - op.ndim : -2], n)
    return (np.fft.irfftn(x[..., 0] + 1j * x[..., 1], shape, op.axes) * math.prod(shape)).astype(
        x.dtype
    )


def _swapped(inverse: bool, pivots: Any) -> Any:
    """One swap after the other."""
    order = np.arange(len(pivots))
    for i, k in enumerate(pivots):
        order[[i, k]] = order[[k, i]]
    return order if inverse else np.argsort(order)


def _from_factors(op: Any, both: Any, b: Any, pivots: Any) -> Any:
    whole = np.tril(both, -1) @ np.triu(both) + np.triu(both)
    a = whole[_swapped(False, pivots)]
    return np.linalg.solve(a.T if op.transposed else a, b)


def _of_cholesky(low: Any, g: Any) -> Any:
    low, g = np.tril(low), np.tril(g)
    phi = np.tri(len(low)) - 0.5 * np.eye(len(low))
    back = np.linalg.inv(low).mT.conj()
    found = back @ (phi * (low.mT.conj() @ g)) @ back.mT.conj()
    return (phi * (found + found.mT.conj())).astype(g.dtype)


def _of_covariance(low: Any, v: Any, a: Any, b: Any) -> Any:
    phi = np.tri(len(low)) - 0.5 * np.eye(len(low))
    return (phi * (a * v @ v.T + b * np.linalg.inv(low @ low.T))).astype(low.dtype)


def _triangular(op: Any, a: Any, b: Any) -> Any:
    a = np.tril(a) if op.lower else np.triu(a)
    if op.unit_diagonal:
        a = a - np.diag(np.diag(a)) + np.eye(len(a), dtype=a.dtype)
    return np.linalg.solve(a.T if op.transpose else a, b)


def _position(find: Any, op: Any, x: Any) -> Any:
    axes = [a % x.ndim for a in (range(x.ndim) if op.axis is None else sorted(op.axis))]
    ends = range(x.ndim - len(axes), x.ndim)
    turned = np.moveaxis(x, sorted(axes), ends)
    kept = turned.shape[: x.ndim - len(axes)]
    found = find(turned.reshape(*kept, math.prod(turned.shape[len(kept) :])), axis=-1)
    return np.expand_dims(found, axes) if op.keepdims else found


def _recurrence(axis: int, a: Any, b: Any) -> Any:
    out = b.copy()
    h, factor = np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0)
    for i in range(1, len(h)):
        h[i] += factor[i] * h[i - 1]
    return out


def _filled(template: Any, numbers: Any) -> list[int]:
    given = iter(numbers)
    return [int(next(given)) if n == "i" else n for n in template]


def _on_diagonal(op: Any, x: Any, y: Any) -> Any:
    """Written element by element."""
    out = x.copy()
    i = np.arange(np.diagonal(x, op.offset, -2, -1).shape[-1])
    at = (..., i + max(-op.offset, 0), i + max(op.offset, 0))
    out[at] = y if op.set_instead_of_inc else out[at] + y
    return out


def _written(op: Any, x: Any, y: Any, indices: Any) -> Any:
    out, index = x.copy(), fill(op.idx_list, indices)
    if op.set_instead_of_inc:
        out[index] = y
    else:
        np.add.at(out, index, y)
    return out
