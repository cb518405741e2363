"""Facts about the matrices that elementwise functions return, for `Op.implied`."""

from __future__ import annotations

from typing import Any


def _matrices(xs: Any) -> list[Any]:
    """Return the operands that are not single numbers."""
    return [x for x in xs if not all(x.type.broadcastable)]


def symmetric(f: Any, *xs: Any) -> Any:
    """Prove symmetry for elementwise functions of symmetric matrices and numbers."""
    matrices = _matrices(xs)
    if not matrices:
        return f.unknown("it may not be square")
    return f.every("element by element, of", f.symmetric, matrices)


def symmetric_pair(f: Any, *xs: Any) -> Any:
    """Prove symmetry for commutative functions: of symmetric matrices and numbers, or of a matrix
    and its transpose.
    """
    matrices = _matrices(xs)
    if len(matrices) == 2 and f.transposes(*matrices):
        return f.because("combined with its transpose")
    return symmetric(f, *xs)


def diagonal(f: Any, *xs: Any) -> Any:
    """Prove that a sum or difference is diagonal: all operands are diagonal matrices."""
    if len(_matrices(xs)) < len(xs):
        return f.unknown("a number is added to every element")
    return f.every("made of", f.diagonal, xs)


def semidefinite_sum(f: Any, *xs: Any) -> Any:
    """Prove that a sum of positive semidefinite matrices is positive semidefinite."""
    return _added(f, xs) and f.every("a sum of", f.positive_semidefinite, xs)


def definite_sum(f: Any, *xs: Any) -> Any:
    """Prove that a sum is positive definite: one matrix is, and the others are positive
    semidefinite.
    """
    best = _added(f, xs) and f.any_of(f.positive_definite, xs)
    if not best:
        return best
    rest = [x for x in xs if not f.positive_definite(x)]
    return f.both("a sum", best, f.every("beside", f.positive_semidefinite, rest))


def _added(f: Any, xs: Any) -> Any:
    """Return whether matrices are added without wrapping around and without repeated elements."""
    if len(_matrices(xs)) < len(xs):
        return f.unknown("a number is added to every element")
    return _in_floats(f, xs)


def _in_floats(f: Any, xs: Any) -> Any:
    """Return whether the computation is in floats: results of integers and bools alone may wrap
    around.
    """
    if any(f.kind_of(x) == "f" for x in xs):
        return f.because("nothing wraps around")
    return f.unknown("a result of integers may wrap around", blame=xs[0])


def semidefinite_multiple(f: Any, *xs: Any) -> Any:
    """Prove that a positive semidefinite matrix times nonnegative numbers is positive
    semidefinite.
    """
    return _multiple(f, f.nonneg, f.positive_semidefinite, xs)


def definite_multiple(f: Any, *xs: Any) -> Any:
    """Prove that a positive definite matrix times positive numbers is positive definite."""
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
