"""Matrices as products: `cholesky`.

Gradients: I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527 (2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.diagonal import tril
from rewrite_engine.tensor.dot import matmul
from rewrite_engine.tensor.linalg.core import (
    SingularMatrixError,
    _MatrixOp,
    adjoint,
    floats,
    of_dtype,
    square,
    unit,
)
from rewrite_engine.tensor.linalg.triangular import SolveTriangular
from rewrite_engine.tensor.op import Shapes
from rewrite_engine.tensor.type import TensorType

__all__ = ["Cholesky", "cholesky"]


class Cholesky(_MatrixOp):
    """The triangular factor L of a positive definite matrix L @ L.T, of which one triangle is read;
    lower=False: U of U.T @ U (complex: conjugate transposes).

    on_error: "nan" for a matrix that is not positive definite gives one of NaN, "raise"
    `SingularMatrixError`.
    """

    __props__ = ("lower", "on_error")
    signature = "(m,m)->(m,m)"
    samples: Sequence[Any] = (
        ({}, [[4.0, 0.0], [1.0, 3.0]]),
        ({"lower": False, "on_error": "raise"}, [[4.0, 1, 0.5], [0, 3.0, -1], [0, 0, 2.0]]),
    )

    def __init__(self, lower: bool = True, on_error: str = "nan") -> None:
        self.lower = lower
        self.on_error = on_error
        self.only_lengths = on_error == "nan"

    def shapes(self, *types: TensorType) -> Shapes:
        return square(types[0], [(0, 0), (0, 1)])

    def batched(self, *arrays: Any) -> Any:
        """By `numpy.linalg.cholesky`; one by one only where one of them has no factor."""
        (a,) = of_dtype(*arrays)
        try:
            return np.linalg.cholesky(a, upper=not self.lower)
        except np.linalg.LinAlgError:
            pass
        out = np.empty_like(a)
        for index in np.ndindex(a.shape[:-2]):
            try:
                out[index] = np.linalg.cholesky(a[index], upper=not self.lower)
            except np.linalg.LinAlgError:
                if self.on_error == "raise":
                    where = f"matrix {index} of the array" if index else "the matrix"
                    what = f"{where} of shape {a.shape} is not positive definite"
                    raise SingularMatrixError(what) from None
                out[index] = np.nan
        return out

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Of the triangle that is read (Murray, section 3.1, equation 10)."""
        (x,), (factor,), (g,) = inputs, outputs, output_gradients
        low, g = (factor, g) if self.lower else (adjoint(factor), adjoint(g))
        back = SolveTriangular(lower=True, transpose=True)
        inner, turned = halved(matmul(adjoint(low), g)), m.conjugated(low)
        half = back(turned, adjoint(back(turned, adjoint(inner))))
        found = tril(m.add(half, adjoint(half)))
        found = m.sub(found, m.mul(found, unit(x), 0.5))
        return [found if self.lower else adjoint(found)]


def halved(x: Any) -> Any:
    """Murray's Φ: the lower triangle, with half of the diagonal."""
    return m.sub(tril(x), m.mul(x, unit(x), 0.5))


def cholesky(
    x: Any,
    lower: bool = True,
    *,
    check_finite: bool = True,
    overwrite_a: bool = False,
    on_error: str = "nan",
) -> Any:
    """The triangular factors L of positive definite matrices L @ L.T, the last two dimensions, of
    which the lower triangle is read; lower=False: U of U.T @ U, and the upper one. Floats.

    on_error: "nan": a matrix that is not positive definite gives one of NaN; "raise":
    `SingularMatrixError`. check_finite and overwrite_a have no effect. Raises `ValueError`,
    `NDimError`, `ShapeError`.

    >>> from rewrite_engine.tensor.linalg import cholesky
    >>> cholesky([[4.0, 2.0], [2.0, 5.0]]).eval()
    array([[2., 0.],
           [1., 2.]])
    """
    if on_error not in ("nan", "raise"):
        raise ValueError(located(f'on_error is "nan" or "raise", not {on_error!r}'))
    return Cholesky(bool(lower), on_error).lifted(*floats(x))
