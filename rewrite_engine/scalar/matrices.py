"""Facts about the matrices that elementwise functions return, for `Op.implied`."""

from __future__ import annotations

from collections.abc import Callable
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


def square(f: Any, *xs: Any) -> Any:
    """Prove that a result is square: one of its matrices is, and is not repeated."""
    ndim = max([x.type.ndim for x in xs])
    whole = [x for x in xs if x.type.ndim == ndim and not any(x.type.broadcastable[-2:])]
    return f.any_of(f.square, whole)


#: of all functions
OF_ALL = {"symmetric": symmetric, "square": square}


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


def _triangular_sum(name: str) -> Callable[..., Any]:
    """Return the proof that a sum has the triangle that all its operands have."""

    def prove(f: Any, *xs: Any) -> Any:
        if any([x.type.ndim != 2 or any(x.type.broadcastable) for x in xs]):
            return f.unknown("an operand is repeated")
        return f.every("made of", getattr(f, name), xs)

    return prove


def _triangular_product(name: str) -> Callable[..., Any]:
    """Return the proof that a product of elements has the triangle of one of its factors."""

    def prove(f: Any, *xs: Any) -> Any:
        whole = [x for x in xs if x.type.ndim == 2 and not any(x.type.broadcastable)]
        return f.any_of(getattr(f, name), whole)

    return prove


def _triangular_quotient(name: str) -> Callable[..., Any]:
    """Return the proof that a quotient by numbers has the triangle of its numerator."""

    def prove(f: Any, x: Any, y: Any) -> Any:
        if _matrices((x, y)) != [x]:
            return f.unknown("0 / 0 is NaN")
        return getattr(f, name)(x)

    return prove


TRIANGLES = ("lower_triangular", "upper_triangular")
#: what the negative of a matrix has in common with it
OF_NEGATIVES = {name: name for name in (*TRIANGLES, "orthogonal", "invertible")}
OF_QUOTIENTS: dict[str, Any] = {name: _triangular_quotient(name) for name in TRIANGLES}
#: by the name of a fact, of sums, differences and products
OF_SUMS: dict[str, Any] = {
    "symmetric": symmetric_pair,
    "diagonal": diagonal,
    "positive_semidefinite": semidefinite_sum,
    "positive_definite": definite_sum,
    **{name: _triangular_sum(name) for name in TRIANGLES},
}
OF_DIFFERENCES: dict[str, Any] = {
    "diagonal": diagonal,
    **{name: _triangular_sum(name) for name in TRIANGLES},
}
OF_PRODUCTS: dict[str, Any] = {
    "symmetric": symmetric_pair,
    "positive_semidefinite": semidefinite_multiple,
    "positive_definite": definite_multiple,
    **{name: _triangular_product(name) for name in TRIANGLES},
}
