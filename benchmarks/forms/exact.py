"""A namespace in which forms are computed exactly: arrays of mpmath numbers with many digits.

It has the functions that the forms of linear algebra and of special functions use, as
`rewrite_engine.tensor` has them. Matrices are inverted by elimination, so keep them small.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

DIGITS = 800  # log(1 + exp(-800)) needs 350 of them, its slope by a difference all the more


def exact(array: Any) -> Any:
    """Return an array of the same numbers with many digits; integers stay."""
    array = np.asarray(array)
    if array.dtype.kind != "f":
        return array
    return np.array([mp.mpf(float(v)) for v in array.ravel()] + [None])[:-1].reshape(array.shape)


def elementwise(f: Any) -> Any:
    """Return a function of numbers as one of arrays."""

    def apply(*arrays: Any) -> Any:
        return np.frompyfunc(f, len(arrays), 1)(*arrays)

    return apply


def _log(x: Any) -> Any:
    return mp.log(x) if x > 0 else mp.ninf if x == 0 else mp.nan


def _softplus(x: Any) -> Any:
    return mp.log(1 + mp.exp(x))


ELEMENTWISE = {
    "exp": mp.exp,
    "expm1": mp.expm1,
    "exp2": lambda x: mp.mpf(2) ** x,
    "log": _log,
    "log1p": mp.log1p,
    "log2": lambda x: _log(x) / mp.log(2),
    "log10": lambda x: _log(x) / mp.log(10),
    "sqrt": mp.sqrt,
    "sin": mp.sin,
    "cos": mp.cos,
    "tanh": mp.tanh,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "softplus": _softplus,
    "gamma": mp.gamma,
    "gammaln": mp.loggamma,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "iv": mp.besseli,
    "kv": mp.besselk,
    "abs": abs,
    "sign": mp.sign,
    "sqr": lambda x: x * x,
    "maximum": max,
    "minimum": min,
}
SHAPES = ("where", "dot", "outer", "tril", "triu", "concatenate", "stack", "einsum", "ones_like")


def eye(n: int) -> Any:
    """Return the identity, whose elements are exact."""
    return exact(np.eye(n))


def solve(a: Any, b: Any) -> Any:
    """Return the solution of equations, by elimination with pivots."""
    return _eliminated(a, b)[0]


def det(a: Any) -> Any:
    """Return the determinant, by elimination with pivots."""
    return _eliminated(a, eye(len(a)))[1]


def _eliminated(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the solution and the determinant."""
    a, b, result = a.copy(), b.copy() + mp.mpf(0), mp.mpf(1)
    for i in range(len(a)):
        pivot = i + max(range(len(a) - i), key=lambda k: abs(a[i + k, i]))
        if pivot != i:
            a[[i, pivot]], b[[i, pivot]], result = a[[pivot, i]], b[[pivot, i]], -result
        result = result * a[i, i]
        for j in [j for j in range(len(a)) if j != i]:
            factor = a[j, i] / a[i, i]
            a[j], b[j] = a[j] - factor * a[i], b[j] - factor * b[i]
    scale = a.diagonal()
    return b / (scale if b.ndim == 1 else scale[:, None]), result


def cholesky(a: Any) -> Any:
    """Return the lower Cholesky factor."""
    low = a * mp.mpf(0)
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j] - np.dot(low[i, :j], low[j, :j])
            low[i, j] = mp.sqrt(rest) if i == j else rest / low[j, j]
    return low


def block_diag(*blocks: Any) -> Any:
    """Return a matrix with blocks on its diagonal."""
    n = sum(len(b) for b in blocks)
    result, at = exact(np.zeros((n, n))), 0
    for b in blocks:
        result[at : at + len(b), at : at + len(b)] = b
        at += len(b)
    return result


def _with_exact_elements(name: str) -> Any:
    return lambda *args, **options: exact(getattr(np, name)(*args, **options))


linalg = SimpleNamespace(
    inv=lambda a: solve(a, eye(len(a))),
    solve=solve,
    det=det,
    cholesky=cholesky,
    trace=np.trace,
    kron=np.kron,
    block_diag=block_diag,
)
namespace = SimpleNamespace(
    **{name: elementwise(f) for name, f in ELEMENTWISE.items()},
    **{name: getattr(np, name) for name in SHAPES},
    eye=eye,
    zeros=_with_exact_elements("zeros"),
    ones=_with_exact_elements("ones"),
    sum=np.sum,
    prod=np.prod,
    mean=np.mean,
    diag=np.diag,
    trace=np.trace,
    linalg=linalg,
)


def with_digits(digits: int = DIGITS) -> Any:
    """Return the context in which forms are computed."""
    return mpmath.workdps(digits)
