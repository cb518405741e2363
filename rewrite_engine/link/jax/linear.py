"""Linear algebra. What is not here runs on the host, by LAPACK as on the VM."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import jax.scipy.linalg as scipy
import numpy as np
from jax import lax

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.jax.funcify import as_output, on_host, register
from rewrite_engine.link.jax.runtime_checks import require
from rewrite_engine.tensor.linalg.control import SolveSylvester
from rewrite_engine.tensor.linalg.decomposition import (
    Cholesky,
    CholeskyGradient,
    CovarianceGradient,
)
from rewrite_engine.tensor.linalg.elimination import LUFactor, PivotToPermutations, SolveLUFactor
from rewrite_engine.tensor.linalg.solvers import MatrixInverse, Solve
from rewrite_engine.tensor.linalg.spectral import QR, SVD, Eigh, Expm
from rewrite_engine.tensor.linalg.summary import Det, SLogDet
from rewrite_engine.tensor.linalg.triangular import SolveTriangular

_solve = partial(lax.linalg.triangular_solve, left_side=True)


def _dot(*matrices: Any) -> Any:
    """Return a product of matrices, in full precision."""
    found = matrices[0]
    for x in matrices[1:]:
        found = jnp.matmul(found, x, precision="highest")
    return found


def _finite(x: Any) -> None:
    """Require that there is a result: what a singular matrix gives is not finite."""
    require(lambda: jnp.isfinite(x))


@register(Cholesky)
def _(op: Any, node: Apply, a: Any) -> Any:
    a = as_output(node, a)
    below = jnp.tril(a if op.lower else a.mT.conj())
    whole = below + jnp.tril(below, -1).mT.conj()
    found = lax.linalg.cholesky(whole, symmetrize_input=False)
    if op.on_error == "raise":
        _finite(found)
    return found if op.lower else found.mT.conj()


@register(SolveTriangular)
def _(op: Any, node: Apply, a: Any, b: Any) -> Any:
    a = as_output(node, a)
    if not op.unit_diagonal:
        require(lambda: jnp.diagonal(a, axis1=-2, axis2=-1) != 0)
    return _solve(a, as_output(node, b), lower=op.lower, transpose_a=op.transpose,
                  unit_diagonal=op.unit_diagonal)  # fmt: skip


def _phi(x: Any) -> Any:
    """Return the lower triangle, with half of the diagonal."""
    return jnp.tril(x) - jnp.eye(x.shape[-1], dtype=x.dtype) * x / 2


@register(CholeskyGradient)
def _(op: Any, node: Apply, low: Any, g: Any) -> Any:
    """Compute Murray's formula (see `CholeskyGradient`)."""
    low, g = [jnp.tril(as_output(node, x)) for x in (low, g)]
    back = partial(_solve, low, lower=True, transpose_a=True, conjugate_a=True)
    half = back(_phi(_dot(low.mT.conj(), g)))
    s = back(half.mT.conj()).mT.conj()
    return _phi(s + s.mT.conj())


@register(CovarianceGradient)
def _(op: Any, node: Apply, low: Any, v: Any, a: Any, b: Any) -> Any:
    low, v, a, b = [as_output(node, x) for x in (low, v, a, b)]
    back = _solve(low, jnp.eye(low.shape[-1], dtype=low.dtype), lower=True)
    return _phi(a * _dot(v, v.mT) + b * _dot(back.mT, back))


@register(Solve)
def _(op: Any, node: Apply, a: Any, b: Any) -> Any:
    found = jnp.linalg.solve(as_output(node, a), as_output(node, b))
    _finite(found)
    return found


@register(MatrixInverse)
def _(op: Any, node: Apply, a: Any) -> Any:
    found = jnp.linalg.inv(as_output(node, a))
    _finite(found)
    return found


@register(Det)
def _(op: Any, node: Apply, a: Any) -> Any:
    return jnp.linalg.det(as_output(node, a))


@register(SLogDet)
def _(op: Any, node: Apply, a: Any) -> Any:
    return tuple(jnp.linalg.slogdet(as_output(node, a)))


@register(LUFactor)
def _(op: Any, node: Apply, a: Any) -> Any:
    return scipy.lu_factor(as_output(node, a))


@register(SolveLUFactor)
def _(op: Any, node: Apply, factors: Any, pivots: Any, b: Any) -> Any:
    factors = as_output(node, factors)
    require(lambda: jnp.diagonal(factors, axis1=-2, axis2=-1) != 0)
    both = factors, jnp.asarray(pivots, "int32")
    return scipy.lu_solve(both, as_output(node, b), trans=int(op.transposed))


@register(PivotToPermutations)
def _(op: Any, node: Apply, pivots: Any) -> Any:
    n = np.shape(pivots)[-1]
    order = lax.linalg.lu_pivots_to_permutation(jnp.asarray(pivots, "int32"), n)
    return order if op.inverse else jnp.argsort(order)


@register(Expm)
def _(op: Any, node: Apply, a: Any) -> Any:
    return scipy.expm(as_output(node, a))


@register(SolveSylvester)
def _(op: Any, node: Apply, a: Any, b: Any, c: Any) -> Any:
    return scipy.solve_sylvester(*[as_output(node, x) for x in (a, b, c)])


@register(Eigh)
def _(op: Any, node: Apply, a: Any) -> Any:
    a = as_output(node, a, 1)
    return tuple(jnp.linalg.eigh(a if op.lower else a.mT.conj(), symmetrize_input=False))


@register(SVD)
def _(op: Any, node: Apply, a: Any) -> Any:
    return tuple(jnp.linalg.svd(as_output(node, a), op.full_matrices))


@register(QR)
def _(op: Any, node: Apply, a: Any) -> Any:
    if op.pivoting:
        host: Callable[..., Any] = on_host(op, node)
        return host(a)
    return tuple(jnp.linalg.qr(as_output(node, a), "complete" if op.complete else "reduced"))
