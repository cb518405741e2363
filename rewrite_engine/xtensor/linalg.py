"""Linear algebra along named dimensions. All other dimensions are a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewrite_engine.errors import DimsError, dimensions
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor import linalg
from rewrite_engine.xtensor.alignment import as_xtensor, in_order, joined, refuse_missing
from rewrite_engine.xtensor.type import named, xtensor_from_tensor

__all__ = ["apply_core", "cholesky", "solve"]


def apply_core(
    function: Callable[..., Any],
    operands: Sequence[Any],
    core_dims: Sequence[Sequence[str]],
    out_dims: Sequence[str],
) -> Any:
    """Apply a function of tensors that works on the last dimensions of each operand, along all
    others.

    core_dims: for each operand the names of the dimensions it works on, in order. out_dims: those
    of the result, after all others. Raises `DimsError` for missing names, and for a name that is a
    core dimension of one operand and another dimension of a second one.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.xtensor import xtensor
    >>> a, b = xtensor("a", dims=("i", "city", "j")), xtensor("b", dims=("j", "k"))
    >>> apply_core(pt.matmul, [a, b], [("i", "j"), ("j", "k")], ("i", "k")).dims
    ('city', 'i', 'k')
    """
    given = [as_xtensor(x) for x in operands]
    core = {d for dims in core_dims for d in dims}
    for x, dims in zip(given, core_dims, strict=True):
        refuse_missing(x, dims)
        if wrong := [d for d in x.type.dims if d in core and d not in dims]:
            what = f"dimension {wrong[0]!r} must be among the core dimensions {tuple(dims)}"
            raise DimsError(located(what, inputs=[x]))
    lengths = joined(given)
    batch = [d for d in lengths if d not in core]
    tensors = [in_order(x, [*batch, *d], lengths) for x, d in zip(given, core_dims, strict=True)]
    return xtensor_from_tensor(function(*tensors), [*batch, *out_dims])


def cholesky(x: Any, lower: bool = True, *, check_finite: bool = True, dims: Sequence[str]) -> Any:
    """Return the Cholesky factors of matrices along two dimensions (rows, then columns).

    lower: lower triangular factors, else upper ones. Raises `DimsError`.
    """
    rows, columns = _several("cholesky", dims, 2)
    core = (rows, columns)

    def function(a: Any) -> Any:
        return linalg.cholesky(a, lower=lower, check_finite=check_finite)

    return apply_core(function, [x], [core], core)


def solve(
    a: Any,
    b: Any,
    dims: Sequence[str],
    assume_a: str = "gen",
    lower: bool = False,
    check_finite: bool = True,
) -> Any:
    """Return the x of a · x = b, where the product sums over the dimension that is new in x.

    dims: the two dimensions of the matrices `a` (`b` has one of them, x the other); and, for
    several right sides, a third that only `b` has. assume_a, lower, check_finite: see
    `linalg.solve`. Raises `DimsError`.

    >>> from rewrite_engine.xtensor import xtensor
    >>> a, b = xtensor("a", dims=("i", "j")), xtensor("b", dims=("j",))
    >>> solve(a, b, dims=("i", "j")).dims
    ('i',)
    """
    a, b = as_xtensor(a), as_xtensor(b)
    given = named(dims)
    of_a = [d for d in given if d in a.type.dims]
    both, more = [d for d in of_a if d in b.type.dims], [d for d in given if d not in of_a]
    if len(of_a) != 2 or len(both) != 1 or len(more) > 1:
        what = "takes two dimensions of a (b has one of them), and optionally one that only b has"
        raise DimsError(located(f"solve: {what}; got {given}", inputs=[a, b]))
    (rows,), (columns,) = both, [d for d in of_a if d not in both]

    def function(a: Any, b: Any) -> Any:
        options: Any = {"assume_a": assume_a, "lower": lower, "check_finite": check_finite}
        return linalg.solve(a, b, b_ndim=1 + len(more), **options)

    return apply_core(function, [a, b], [(rows, columns), (rows, *more)], (columns, *more))


def _several(function: str, dims: Any, n: int) -> tuple[str, ...]:
    names = named(dims)
    if len(names) != n:
        raise DimsError(located(f"{function}: takes {dimensions(n)}, got {names}"))
    return names
