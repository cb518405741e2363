"""Facts about matrices: squares, symmetry, triangles, inverses. Import them from
`rewrite_engine.facts`.

Numbers that are NaN or infinite may be anywhere in a product of matrices, so that a matrix with
such a number need not have the zeros that its facts say. Where each element is 0, also then, is
said by `band`.
"""

import numpy as np

from rewrite_engine.facts.arrays import same_length
from rewrite_engine.facts.numbers import FACTS, from_operands
from rewrite_engine.facts.zeros import band
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.match.fact import because, both, fact, unknown
from rewrite_engine.tensor.dimshuffle import transposes

__all__ = [
    "diagonal", "invertible", "lower_triangular", "orthogonal", "positive_definite",
    "positive_semidefinite", "square", "symmetric", "unit_diagonal", "upper_triangular",
]  # fmt: skip


@fact(depth=2)
def square(x):
    """Matrices, in the last two dimensions, with as many rows as columns."""
    if x.type.ndim < 2:
        return unknown("it is not a matrix", blame=x)
    found = same_length(x, x.type.ndim - 2, x, x.type.ndim - 1)
    if found:
        return because("as many rows as columns", found)
    return from_operands(square, x, "it may have more rows than columns, or fewer")


@square.test
def is_square(value):
    """Return whether matrices have as many rows as columns."""
    return value.ndim >= 2 and value.shape[-2] == value.shape[-1]


# --- symmetry -------------------------------------------------------------------------------------


@fact(depth=2, implies=[square])
def symmetric(x):
    """A square matrix that equals its transpose: exactly, except for the rounding of products. The
    mirror image of a NaN is a NaN.
    """
    if x.type.ndim != 2:
        return unknown("it is not a matrix", blame=x)
    if x.head is CONSTANT:
        same = x.data.shape[0] == x.data.shape[1] and _equal(x.data, x.data.T)
        return because("a constant") if same else unknown("the constant is not symmetric", blame=x)
    if x.type.shape == (1, 1):
        return because("a single number")
    found = from_operands(symmetric, x, "it is not known to be symmetric")
    if found:
        return found
    zeros = band(x)  # (a matrix that is diagonal if it is finite may have a NaN on one side)
    if not zeros or zeros.value[0] < 0 or zeros.value[1] > 0:
        return found
    return both("square, with zeros beside its diagonal", square(x), zeros)


def _equal(a, b):
    """Return whether arrays are equal, including the signs of zeros, so that their results are
    equal, too.
    """
    if a.dtype.kind == "c":
        return _equal(a.real, b.real) and _equal(a.imag, b.imag)
    signs = a.dtype.kind != "f" or (np.signbit(a) == np.signbit(b)).all()
    return np.array_equal(a, b) and bool(signs)


@symmetric.test
def is_symmetric(value):
    """Return whether a matrix equals its transpose, up to the rounding of a product."""
    square = value.ndim == 2 and value.shape[0] == value.shape[1]
    return square and np.allclose(value, value.T, 0, _slack(value), equal_nan=True)


def _slack(value):
    """Return a bound for the rounding errors in a matrix that was computed as a product."""
    if value.dtype.kind not in "fc" or not value.size:
        return 0
    largest = np.abs(value, where=np.isfinite(value), out=np.zeros(value.shape)).max()
    return 4 * len(value) * np.finfo(value.dtype).eps * float(largest)


@fact(depth=2, implies=[symmetric])
def positive_semidefinite(x):
    """A symmetric real matrix with no eigenvalue below 0, up to rounding, if it is finite."""
    even = symmetric(x)
    if not even:
        return even
    if x.head is CONSTANT:
        good = _eigenvalues(x.data) >= 0
        return because("a constant") if good.all() else unknown("an eigenvalue is below 0", blame=x)
    return from_operands(positive_semidefinite, x, "an eigenvalue may be below 0")


@positive_semidefinite.test
def has_no_negative_eigenvalue(value):
    """Return whether a real matrix is symmetric without an eigenvalue below 0, up to rounding, if
    it is finite.
    """
    if value.dtype.kind == "c" or not is_symmetric(value):
        return False
    return not _is_finite(value) or bool((_eigenvalues(value) >= -_slack(value)).all())


def _is_finite(value):
    return bool(np.isfinite(value).all())


def _eigenvalues(value):
    """Return the eigenvalues of a symmetric matrix; NaN if it is not finite or not real."""
    if value.dtype.kind == "c" or not _is_finite(value):
        return np.array([np.nan])
    return np.linalg.eigvalsh(value.astype("float64"))


@fact(implies=[symmetric, positive_semidefinite])
def positive_definite(x):
    """A symmetric real matrix whose eigenvalues are above 0, up to rounding, if it is finite."""
    even = symmetric(x)
    if not even:
        return even
    if x.head is CONSTANT:
        good = _eigenvalues(x.data) > 0
        return (
            because("a constant") if good.all() else unknown("an eigenvalue is 0 or below", blame=x)
        )
    return from_operands(positive_definite, x, "an eigenvalue may be 0")


# --- zeros ----------------------------------------------------------------------------------------


def _triangle(triangle, x, is_in, why):
    """Return the answer of a fact about the half of a matrix outside of a band. is_in: whether a
    band, lower and upper end, is in the half.
    """
    if x.type.ndim != 2:
        return unknown("it is not a matrix", blame=x)
    if x.type.shape == (1, 1):
        return because("a single number")
    if x.head is CONSTANT and x.data.size and not is_in(*_band_of_ends(x.data)):  # by far most
        return unknown(why, blame=x)
    found = band(x)
    if found and is_in(*found.value):
        return because("its band", found)
    return from_operands(triangle, x, why)


def _band_of_ends(value):
    """Return the band of the first row and the first column of a matrix."""
    below, beside = value[:, 0].nonzero()[0], value[0].nonzero()[0]
    ends = [-int(i) for i in below] + [int(i) for i in beside]
    return (min(ends), max(ends)) if ends else (0, 0)


@fact
def lower_triangular(x):
    """A matrix with zeros above its main diagonal, if it is finite."""
    why = "an element above the diagonal may be nonzero"
    return _triangle(lower_triangular, x, lambda lower, upper: upper <= 0, why)


@lower_triangular.test
def has_no_upper_part(value):
    """Return whether a matrix has zeros above its main diagonal, if it is finite."""
    return value.ndim == 2 and not (np.triu(value, 1).any() and _is_finite(value))


@fact
def upper_triangular(x):
    """A matrix with zeros below its main diagonal, if it is finite."""
    why = "an element below the diagonal may be nonzero"
    return _triangle(upper_triangular, x, lambda lower, upper: lower >= 0, why)


@upper_triangular.test
def has_no_lower_part(value):
    """Return whether a matrix has zeros below its main diagonal, if it is finite."""
    return value.ndim == 2 and not (np.tril(value, -1).any() and _is_finite(value))


@fact(implies=[symmetric, lower_triangular, upper_triangular])
def diagonal(x):
    """A square matrix with zeros everywhere except on its diagonal, if it is finite."""
    if x.type.ndim != 2:
        return unknown("it is not a matrix", blame=x)
    if x.type.shape == (1, 1):
        return because("a single number")
    if x.head is CONSTANT and (not is_square(x.data) or (x.data[:1, 1:] != 0).any()):  # by far most
        return unknown("the constant is not diagonal", blame=x)
    found = from_operands(diagonal, x, "it is not known to be diagonal")
    if found:
        return found
    if not lower_triangular(x):
        return found
    zeros = both("zeros elsewhere", lower_triangular(x), upper_triangular(x))
    return both("square, with", square(x), zeros) if zeros else found


@fact(depth=2)
def unit_diagonal(x):
    """A matrix whose main diagonal consists of ones."""
    if x.type.ndim != 2:
        return unknown("it is not a matrix", blame=x)
    if x.head is CONSTANT:
        good = (x.data.diagonal() == 1).all()
        return because("a constant") if good else unknown("the constant has others", blame=x)
    return from_operands(unit_diagonal, x, "another number may be on the diagonal")


# --- inverses -------------------------------------------------------------------------------------


@fact(depth=2)
def orthogonal(x):
    """A square matrix whose transpose is its inverse, up to rounding, if it is finite (complex: its
    conjugate transpose).
    """
    if x.type.ndim != 2:
        return unknown("it is not a matrix", blame=x)
    if x.head is CONSTANT:
        good = is_orthogonal(x.data)
        return because("a constant") if good else unknown("the constant is not", blame=x)
    return from_operands(orthogonal, x, "it is not known to be orthogonal")


@orthogonal.test
def is_orthogonal(value):
    """Return whether the transpose of a matrix is its inverse, up to rounding."""
    if not is_square(value) or value.ndim != 2 or not np.isfinite(value).all():
        return False
    value = value if value.dtype.kind in "fc" else value.astype("float64")
    apart = value @ value.conj().T - np.eye(len(value))
    return bool((np.abs(apart) <= 16 * max(len(value), 1) * np.finfo(value.dtype).eps).all())


@fact
def invertible(x):
    """A square matrix of floats that has an inverse: computing it raises no error, if it is
    finite.
    """
    if x.type.ndim != 2 or x.type.kind not in "fc":
        return unknown("it is not a matrix of floats", blame=x)
    for reason in (positive_definite, orthogonal):
        found = reason(x)
        if found:
            return because(reason.name.replace("_", " "), found)
    return from_operands(invertible, x, "it may be singular")


@invertible.test
def has_an_inverse(value):
    """Return whether the inverse of a matrix has a correct digit."""
    if value.ndim != 2 or not is_square(value) or value.dtype.kind not in "fc":
        return False
    if not np.isfinite(value).all():
        return False
    wide = value.astype(np.result_type(value, "float64"))
    with np.errstate(all="ignore"):
        return not value.size or bool(np.linalg.cond(wide) < 1 / np.finfo(value.dtype).eps)


vars(FACTS).update(globals(), transposes=transposes)
