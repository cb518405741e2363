"""Type annotations for arguments of functions on tensors.

They serve type checkers and editors, not tests at run time. The docstring and the errors of each
function say what it accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from rewrite_engine.graph.node import Variable

__all__ = ["TensorLike"]  # (the others are of this package)

if TYPE_CHECKING:
    from rewrite_engine.tensor.variable import TensorVariable

    #: one variable or several, where the result has the same form
    Form = TypeVar("Form", TensorVariable, list[TensorVariable], tuple[TensorVariable, ...])


class ArrayLike(Protocol):
    """Object that NumPy can convert to an array, such as a column of a data frame."""

    def __array__(self) -> np.ndarray[Any, Any]: ...


#: an operand: a variable, an array, a number, or a list of these
TensorLike: TypeAlias = Variable | ArrayLike | np.generic | complex | list[Any] | tuple[Any, ...]

#: dimensions to work along: one, several, or None for all
Axis: TypeAlias = int | Sequence[int] | None

#: a dtype: its name, a type of NumPy or Python, or None for the usual one
DTypeLike: TypeAlias = str | type[Any] | np.dtype[Any] | None


#: what `qr` computes: both factors
QRMode: TypeAlias = Literal["full", "complete", "economic", "reduced"]


# --- outputs with names, as `Op.output_names` has them ------------------------------------------


class Eigenpairs(NamedTuple):
    """Pair of eigenvalues, and eigenvectors as columns."""

    eigenvalues: TensorVariable
    eigenvectors: TensorVariable


class LUFactors(NamedTuple):
    """Triangular factors in one matrix, and the pivots."""

    LU: TensorVariable
    pivots: TensorVariable


class TridiagonalFactors(NamedTuple):
    """Factors of a tridiagonal matrix, as LAPACK's `gttrf` returns them."""

    dl: TensorVariable
    d: TensorVariable
    du: TensorVariable
    du2: TensorVariable
    ipiv: TensorVariable


class SchurFactors(NamedTuple):
    """Pair of a triangular matrix and an orthogonal matrix."""

    T: TensorVariable
    Z: TensorVariable


class SignAndLogDet(NamedTuple):
    """Signs of determinants, and logarithms of their absolute values."""

    sign: TensorVariable
    logabsdet: TensorVariable


class SingularFactors(NamedTuple):
    """Left singular vectors, singular values, and right singular vectors."""

    U: TensorVariable
    S: TensorVariable
    Vh: TensorVariable


class QRFactors(NamedTuple):
    """Pair of an orthogonal matrix and a triangular matrix."""

    Q: TensorVariable
    R: TensorVariable


class PivotedQRFactors(NamedTuple):
    """Orthogonal matrix, triangular matrix, and order of the columns."""

    Q: TensorVariable
    R: TensorVariable
    P: TensorVariable
