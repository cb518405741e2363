"""Values that have the shipped facts about matrices, for `check`: each function makes one of any
matrix. Loaded by `rewrite_engine/check/`; your own fact gets such a function by `@my_fact.draw`.
"""

from typing import Any

import numpy as np

from rewrite_engine.facts.matrices import (
    diagonal,
    invertible,
    lower_triangular,
    orthogonal,
    positive_definite,
    positive_semidefinite,
    square,
    symmetric,
    unit_diagonal,
    upper_triangular,
)

SHIFT = 1e-3  # of the eigenvalues of a definite matrix, in its largest element


@square.draw
def of_square(value: Any) -> Any:
    """Return a square matrix unchanged."""
    return value


@symmetric.draw
def with_mirror_image(value: Any) -> Any:
    """Return a matrix with its lower triangle mirrored."""
    return np.tril(value) + np.tril(value, -1).T


@positive_semidefinite.draw
def times_transpose(value: Any) -> Any:
    """Return the product of a matrix with its transpose."""
    return with_mirror_image(value @ value.T)


@positive_definite.draw
def with_shift(value: Any) -> Any:
    """Return the product of a matrix with its transpose, and more on the diagonal."""
    whole = times_transpose(value)
    finite = np.abs(whole, where=np.isfinite(whole), out=np.zeros(whole.shape))
    shift = max(float(finite.max(initial=0)) * SHIFT, 1e-3)
    return (whole + np.eye(len(whole)) * shift).astype(value.dtype)


@lower_triangular.draw
def below(value: Any) -> Any:
    """Return the lower triangle of a matrix."""
    return np.tril(value)


@upper_triangular.draw
def above(value: Any) -> Any:
    """Return the upper triangle of a matrix."""
    return np.triu(value)


@diagonal.draw
def on_diagonal(value: Any) -> Any:
    """Return the diagonal of a matrix, with zeros around it."""
    return np.diag(np.diag(value))


@unit_diagonal.draw
def with_ones(value: Any) -> Any:
    """Return a matrix with ones on its diagonal."""
    found = np.array(value)
    np.fill_diagonal(found, 1)
    return found


@orthogonal.draw
def orthogonalized(value: Any) -> Any:
    """Return an orthogonal matrix (complex: a unitary one) from the columns of a matrix."""
    wide = value.astype(np.result_type(value, "float64"))
    return np.linalg.qr(wide + 2 * np.eye(len(wide)))[0].astype(value.dtype)


@invertible.draw
def with_inverse(value: Any) -> Any:
    """Return a matrix with a large diagonal."""
    finite = np.abs(value, where=np.isfinite(value), out=np.zeros(value.shape))
    shift = 2 * len(value) * float(finite.max(initial=1))
    return value + (np.eye(len(value)) * shift).astype(value.dtype)
