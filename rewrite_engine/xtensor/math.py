"""Elementwise functions of arrays with named dimensions, and `dot`, `softmax`, `logsumexp`.

The elementwise functions are those of `rewrite_engine.tensor` with the same names, applied to
operands aligned by names; each is created at its first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import TYPE_CHECKING, Any

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DimsError
from rewrite_engine.graph.origin import located
from rewrite_engine.xtensor.alignment import (
    along,
    as_xtensor,
    dims_of,
    elementwise,
    in_order,
    joined,
)
from rewrite_engine.xtensor.type import named, xtensor_from_tensor

if TYPE_CHECKING:
    from rewrite_engine.xtensor.variable import XTensorVariable

_ELEMENTWISE = """
abs add and_ angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh betainc betaincinv
bitwise_and bitwise_invert bitwise_not bitwise_or bitwise_xor ceil clip complex conj conjugate cos
cosh deg2rad divmod eq equal erf erfc erfcinv erfcx erfinv exp exp2 expit expm1 floor floor_div
floor_divide gamma gammainc gammaincc gammainccinv gammaincinv gammal gammaln gammau ge greater
greater_equal gt hyp2f1 i0 i1 identity imag int_div invert isfinite isinf isnan iv ive j0 j1 jv kve
le less less_equal log log10 log1mexp log1p log2 logical_and logical_not logical_or logical_xor
logit lt maximum minimum mod mul multiply ndtri_exp neg negative neq not_equal or_ owens_t polygamma
pow power psi rad2deg real reciprocal round second sigmoid sign sin sinh softplus sqr sqrt square
sub subtract switch tan tanh tri_gamma true_div true_divide trunc where xlogy xor
""".split()  # noqa: SIM905

__all__ = ["cast", "dot", "logsumexp", "softmax", *_ELEMENTWISE]


def _by_name(name: str) -> Any:
    """Return the function of arrays with names for a function of tensors."""
    function = getattr(pt, name)

    def applied(*operands: Any, **options: Any) -> Any:
        return elementwise(function, *operands, **options)

    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = f"Return `{name}` of operands aligned by names, element by element."
    return applied


def __getattr__(name: str) -> Any:
    if name not in _ELEMENTWISE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = _by_name(name)
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def cast(x: Any, dtype: Any) -> XTensorVariable:
    """Convert to another dtype."""
    return elementwise(pt.cast, as_xtensor(x), dtype=dtype)


def softmax(x: Any, dim: Any = None) -> XTensorVariable:
    """Return exp(x) / sum(exp(x)), summed along dimensions (by default all). Raise `DimsError`."""
    x = as_xtensor(x)
    axes = tuple([x.type.dims.index(d) for d in dims_of(x, dim)])
    return xtensor_from_tensor(pt.softmax(x.values, axis=axes), x.type.dims)


def logsumexp(x: Any, dim: Any = None) -> XTensorVariable:
    """Return log(sum(exp(x))) along dimensions (by default all). Raise `DimsError`."""
    return along(pt.logsumexp, x, dim)


def dot(x: Any, y: Any, dim: str | Sequence[str] | Any = None) -> XTensorVariable:
    """Return the sum of products of two operands aligned by names.

    dim: the dimensions to sum over; by default those that both have; `...`: all. A named dimension
    that only one operand has is summed, too. Raises `DimsError` for a dimension that neither has,
    `BroadcastError` if lengths differ.

    >>> from rewrite_engine.xtensor import xtensor
    >>> x, w = xtensor("x", dims=("row", "a")), xtensor("w", dims=("a", "b"))
    >>> dot(x, w).dims, dot(x, w, dim="row").dims, dot(x, w, dim=...).dims
    (('row', 'b'), ('a', 'b'), ())
    """
    x, y = as_xtensor(x), as_xtensor(y)
    known = joined([x, y])
    if dim is None:
        summed: Any = [d for d in x.type.dims if d in y.type.dims]
    else:
        summed = tuple(known) if dim is ... else named(dim)
    for d in summed:
        if d not in known:
            what = f"neither operand has a dimension {d!r}; the dimensions are {tuple(known)}"
            raise DimsError(located(f"dot: {what}", inputs=[x, y]))
    own = x.type.dims, y.type.dims
    x, y = [in_order(z, z.type.dims, known) for z in (x, y)]
    dims = [d for d in known if d not in summed]
    return xtensor_from_tensor(_products(x, y, own, dims), dims)


def _products(x: Any, y: Any, own: tuple[tuple[str, ...], ...], dims: Sequence[str]) -> Any:
    """Return the sum of products of two tensors with dimensions `own`, over all except `dims`."""
    left, right = own
    if left[-1:] == right[:1] and (*left[:-1], *right[1:]) == (*dims,) and len(left + right) < 5:
        return pt.dot(x, y)
    letters = dict(zip(dict.fromkeys(left + right), ascii_letters, strict=False))
    terms = ["".join([letters[d] for d in some]) for some in (left, right, dims)]
    return pt.einsum(f"{terms[0]},{terms[1]}->{terms[2]}", x, y)
