"""What is known of matrices that elementwise functions make: for `Op.implied`."""

from __future__ import annotations

from typing import Any


def _matrices(xs: Any) -> list[Any]:
    """The operands that are not one number."""
    return [x for x in xs if not all(x.type.broadcastable)]


def symmetric(f: Any, *xs: Any) -> Any:
    """Element by element, of symmetric matrices and numbers."""
    matrices = _matrices(xs)
    if not matrices:
        return f.unknown("it may not be square")
    return f.every("element by element, of", f.symmetric, matrices)


def symmetric_pair(f: Any, *xs: Any) -> Any:
    """Of functions that commute: of symmetric matrices and numbers, or of a matrix and its
    transpose.
    """
    matrices = _matrices(xs)
    if len(matrices) == 2 and f.transposes(*matrices):
        return f.because("combined with its transpose")
    return symmetric(f, *xs)


def diagonal(f: Any, *xs: Any) -> Any:
    """A sum, a difference: of diagonal matrices alone."""
    if len(_matrices(xs)) < len(xs):
        return f.unknown("a number is added to every element")
    return f.every("made of", f.diagonal, xs)


def semidefinite_sum(f: Any, *xs: Any) -> Any:
    """A sum of matrices without an eigenvalue below 0."""
    return _added(f, xs) and f.every("a sum of", f.positive_semidefinite, xs)


def definite_sum(f: Any, *xs: Any) -> Any:
    """A sum of matrices without an eigenvalue below 0, one of them with all above 0."""
    best = _added(f, xs) and f.any_of(f.positive_definite, xs)
    if not best:
        return best
    rest = [x for x in xs if not f.positive_definite(x)]
    return f.both("a sum", best, f.every("beside", f.positive_semidefinite, rest))


def _added(f: Any, xs: Any) -> Any:
    """Return whether the values of matrices are added: nothing wraps around, nothing is
    repeated.
    """
    if len(_matrices(xs)) < len(xs):
        return f.unknown("a number is added to every element")
    return _in_floats(f, xs)


def _in_floats(f: Any, xs: Any) -> Any:
    """Return whether floats are computed: what is made of integers and bools alone wraps around."""
    if any(f.kind_of(x) == "f" for x in xs):
        return f.because("nothing wraps around")
    return f.unknown("what is made of integers may wrap around", blame=xs[0])


def semidefinite_multiple(f: Any, *xs: Any) -> Any:
    """A matrix without an eigenvalue below 0, times numbers that are not."""
    return _multiple(f, f.nonneg, f.positive_semidefinite, xs)


def definite_multiple(f: Any, *xs: Any) -> Any:
    """A matrix whose eigenvalues are above 0, times such numbers."""
    return _multiple(f, f.positive, f.positive_definite, xs)


def _multiple(f: Any, sign: Any, fact: Any, xs: Any) -> Any:
    matrices = _matrices(xs)
    if len(matrices) != 1:
        return f.unknown("its eigenvalues are not known")
    others = [x for x in xs if x is not matrices[0]]
    scales = _in_floats(f, xs) and f.every("scaled by", sign, others)
    return scales and f.both("scaled", scales, fact(matrices[0]))


#: by the name of a fact, of sums and of products
OF_SUMS = {
    "symmetric": symmetric_pair,
    "diagonal": diagonal,
    "positive_semidefinite": semidefinite_sum,
    "positive_definite": definite_sum,
}
OF_PRODUCTS = {
    "symmetric": symmetric_pair,
    "positive_semidefinite": semidefinite_multiple,
    "positive_definite": definite_multiple,
}
