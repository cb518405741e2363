"""More products of arrays: `einsum`, `kron`, `matvec`, `vecmat`, `vecdot`, and products along a
batch.

All are built from `matmul` and `mul`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError, ShapeError, dimensions
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.tensor.blockwise import vectorize_graph
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import arange, zeros_like
from rewrite_engine.tensor.dimshuffle import expand_dims, moveaxis, shape_padleft, squeeze
from rewrite_engine.tensor.index.diagonals import diagonal
from rewrite_engine.tensor.product.dots import dot, matmul, tensordot
from rewrite_engine.tensor.reduce import Sum
from rewrite_engine.tensor.reshape import product, reshape
from rewrite_engine.tensor.shape import lengths, specify_shape
from rewrite_engine.tensor.shaping.joins import stack, upcast

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import DTypeLike, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "batched_dot", "batched_tensordot", "cross", "dense_dot", "einsum", "kron", "matvec", "polyval",
    "vander", "vecdot", "vecmat",
]  # fmt: skip

dense_dot = dot


def _ranked(name: str, x: Any, n: int) -> Any:
    """Return an operand with at least n dimensions. Raise `NDimError`."""
    x = as_tensor_variable(x)
    if x.type.ndim < n:
        what = f"{name}: takes an array with {dimensions(n)} or more here"
        raise NDimError(located(what, inputs=[x]))
    return x


def _as(x: Any, dtype: Any) -> Any:
    return x if dtype is None else m.cast(x, dtype)


def matvec(x1: TensorLike, x2: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return products of matrices and vectors: shapes (…, m, n) and (…, n) give (…, m).

    dtype: the dtype to cast the result to. Raises `NDimError`, `ShapeError`, `BroadcastError`.

    >>> from rewrite_engine.tensor import matvec
    >>> matvec([[1, 2], [3, 4]], [[1, 0], [0, 1]]).eval()
    array([[1, 3],
           [2, 4]])
    """
    a, v = _ranked("matvec", x1, 2), _ranked("matvec", x2, 1)
    out = matmul(a, v) if v.type.ndim == 1 else squeeze(matmul(a, expand_dims(v, -1)), -1)
    return _as(out, dtype)


def vecmat(x1: TensorLike, x2: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return products of vectors and matrices: shapes (…, m) and (…, m, n) give (…, n).

    The vectors are conjugated, as in NumPy. dtype: the dtype to cast the result to. Raises
    `NDimError`, `ShapeError`, `BroadcastError`.
    """
    v, a = m.conjugated(_ranked("vecmat", x1, 1)), _ranked("vecmat", x2, 2)
    out = matmul(v, a) if v.type.ndim == 1 else squeeze(matmul(expand_dims(v, -2), a), -2)
    return _as(out, dtype)


def vecdot(x1: TensorLike, x2: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return products of vectors: shapes (…, n) and (…, n) give (…).

    The first vectors are conjugated, as in NumPy. dtype: the dtype to cast the result to. Raises
    `NDimError`, `ShapeError`, `BroadcastError`.
    """
    v, w = m.conjugated(_ranked("vecdot", x1, 1)), _ranked("vecdot", x2, 1)
    if v.type.ndim == w.type.ndim == 1:
        return _as(dot(v, w), dtype)
    return _as(squeeze(matmul(expand_dims(v, -2), expand_dims(w, -1)), (-2, -1)), dtype)


def kron(a: TensorLike, b: TensorLike) -> TensorVariable:
    """Return the Kronecker product: each element of `a` times all of `b`, in blocks.

    An array with fewer dimensions gets dimensions of length 1 on the left.

    >>> from rewrite_engine.tensor import kron
    >>> kron([[1, 10]], [[1, 2], [3, 4]]).eval()
    array([[ 1,  2, 10, 20],
           [ 3,  4, 30, 40]])
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    n = max(a.type.ndim, b.type.ndim)
    a, b = [shape_padleft(x, n - x.type.ndim) for x in (a, b)]
    if not n:
        return m.mul(a, b)
    if n == 2:
        from rewrite_engine.tensor.product.blocks import Kron  # (its rules are loaded with it)

        return Kron()(a, b)
    apart = m.mul(
        a.dimshuffle(*[k for i in range(n) for k in (i, "x")]),
        b.dimshuffle(*[k for i in range(n) for k in ("x", i)]),
    )
    return reshape(apart, [product(pair) for pair in zip(lengths(a), lengths(b), strict=True)])


def batched_dot(a: TensorLike, b: TensorLike) -> TensorVariable:
    """Return `dot(a[i], b[i])` for every i. Raise `NDimError`, `ShapeError`, `BroadcastError`.

    >>> from rewrite_engine.tensor import batched_dot, tensor
    >>> batched_dot(tensor(shape=(5, 2, 3)), tensor(shape=(5, 3))).type
    TensorType(float64, (5, 2))
    """
    return _along_first("batched_dot", a, b, dot)


def batched_tensordot(x: TensorLike, y: TensorLike, axes: Any = 2) -> TensorVariable:
    """Return `tensordot(x[i], y[i])` for every i.

    axes: the number of last dimensions of `x` and first ones of `y` after the batch, or two
    sequences of dimensions, counted with the batch. Raises `NDimError`, `ShapeError`, `AxisError`.
    """
    if not isinstance(axes, int):
        axes = [[i - (i > 0) for i in np.atleast_1d(side).tolist()] for side in axes]
    return _along_first("batched_tensordot", x, y, lambda a, b: tensordot(a, b, axes))


def _along_first(name: str, a: Any, b: Any, f: Any) -> Any:
    """Apply a function of two arrays along the first dimension of both."""
    a, b = _ranked(name, a, 1), _ranked(name, b, 1)
    core = [x.type.clone(shape=x.type.shape[1:])() for x in (a, b)]
    return vectorize_graph([f(*core)], dict(zip(core, (a, b), strict=True)))[0]


# --- einsum -----------------------------------------------------------------------------------

#: the length that is assumed for the order of products, where types do not know it
_ASSUMED = 30


def einsum(subscripts: str, *operands: Any, optimize: Any = None) -> TensorVariable:
    """Return sums of products by Einstein's convention, as `numpy.einsum`.

    Each operand has a letter per dimension, "..." for any number of them; letters that are not in
    the output are summed over. Without "->", the output has the letters that occur once, in
    alphabetical order. Two operands at a time are multiplied, in the order of `opt_einsum` if that
    is installed, else of `numpy.einsum_path`. optimize: their argument (None: "greedy"; False: from
    left to right). The dtype is that of the operands, promoted. A dimension with static length 1
    broadcasts. Raises `ValueError` for invalid subscripts, `NDimError`, `ShapeError`.

    >>> from rewrite_engine.tensor import einsum
    >>> einsum("ij,kj->ik", [[1, 2], [3, 4]], [[1, 0]]).eval()
    array([[1],
           [3]])
    """
    given = [as_tensor_variable(x) for x in operands]
    terms, out = _labels(subscripts, given)
    dtype = upcast([x.type for x in given])
    parts = [_without_repeats(x, labels) for x, labels in zip(given, terms, strict=True)]
    parts = _stretched(parts, out)
    for pair in _order(parts, out, optimize):
        chosen = [parts[i] for i in pair]
        parts = [p for i, p in enumerate(parts) if i not in pair]
        while len(chosen) > 1:
            rest = [labels for _, labels in (*parts, *chosen[2:])]
            kept = set(out).union(*rest)
            chosen = [_product(chosen[0], chosen[1], kept), *chosen[2:]]
        parts.append(chosen[0])
    x, labels = _summed(*parts[0], set(out))
    return m.cast(x.dimshuffle(*[labels.index(k) for k in out]), dtype)


def _labels(subscripts: str, given: Sequence[Any]) -> tuple[list[list[Any]], list[Any]]:
    """Return the labels of the dimensions of operands and output.

    They are letters, and negative numbers, counted from the end, for "...". Raises `ValueError`,
    `NDimError`.
    """
    text = subscripts.replace(" ", "") if isinstance(subscripts, str) else "?"
    term = r"[A-Za-z]*(?:\.\.\.[A-Za-z]*)?"
    if not re.fullmatch(rf"{term}(?:,{term})*(?:->{term})?", text):
        raise ValueError(
            located(f"einsum: {subscripts!r} are not subscripts; write them as 'ij,jk->ik'")
        )
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(given):
        what = f"einsum: {subscripts!r} is about {len(inputs)} operands, not {len(given)}"
        raise ValueError(located(what))
    terms, most = [], 0
    for x, own in zip(given, inputs, strict=True):
        more = x.type.ndim - len(own.replace("...", ""))
        if more < 0 or (more and "..." not in own):
            what = f"einsum: {own!r} does not fit an array with {dimensions(x.type.ndim)}"
            raise NDimError(located(what, inputs=[x]))
        terms.append(_expanded(own, more))
        most = max(most, more)
    if not arrow:
        letters = left.replace(",", "").replace(".", "")
        right = "..." + "".join([k for k in sorted(set(letters)) if letters.count(k) == 1])
    out = _expanded(right, most)
    unknown = set(out).difference(*terms)
    if unknown or len(set(out)) < len(out):
        raise ValueError(
            located(f"einsum: the output of {subscripts!r} must use letters of inputs, each once")
        )
    if "..." not in right and most:
        raise ValueError(located(f"einsum: the output of {subscripts!r} needs '...'"))
    return terms, out


def _expanded(term: str, more: int) -> list[Any]:
    """Return the labels of a term, with "..." replaced by labels for `more` dimensions."""
    before, dots, behind = term.partition("...")
    return [*before, *(range(-more, 0) if dots else ()), *behind]


def _without_repeats(x: Any, labels: list[Any]) -> tuple[Any, list[Any]]:
    """Return an operand with the diagonal of dimensions that have one label."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            x = specify_shape(x, [lengths(x)[i] if k == j else None for k in range(len(labels))])
            x = diagonal(x, 0, i, j)
            labels = [*[k for n, k in enumerate(labels) if n not in (i, j)], label]
    return x, labels


def _stretched(parts: Sequence[Any], out: Sequence[Any]) -> list[Any]:
    """Return operands without dimensions of length 1 that broadcast against a longer one or are not
    needed. Raise `ShapeError`.
    """
    known: dict[Any, set[Any]] = {}
    for x, labels in parts:
        for n, label in zip(x.type.shape, labels, strict=True):
            known.setdefault(label, set()).add(n)
    for label, found in known.items():
        if len(found - {1, None}) > 1:
            what = f"einsum: dimensions {label!r} have lengths {sorted(found - {1, None})}"
            raise ShapeError(located(what, inputs=[x for x, _ in parts]))
    result = []
    for x, labels in parts:
        gone = [i for i, k in enumerate(labels) if x.type.shape[i] == 1 and known[k] != {1}]
        kept = [k for i, k in enumerate(labels) if i not in gone]
        result.append((squeeze(x, tuple(gone)) if gone else x, kept))
    return result


def _order(parts: Sequence[Any], out: Sequence[Any], optimize: Any) -> list[Any]:
    """Return the operands to multiply at each step; each product becomes the last operand."""
    if len(parts) < 3 or optimize is False:
        return [tuple(range(len(parts)))] if len(parts) > 1 else []
    names = list(dict.fromkeys([k for _, labels in parts for k in labels]))
    sizes: dict[Any, int] = {}
    for x, labels in parts:
        for n, k in zip(x.type.shape, labels, strict=True):
            sizes[k] = n or sizes.get(k, _ASSUMED)
    letters = {
        k: chr(ord("a") + i) if i < 26 else chr(ord("A") + i - 26) for i, k in enumerate(names)
    }
    text = ",".join(["".join([letters[k] for k in labels]) for _, labels in parts])
    text += "->" + "".join([letters[k] for k in out])
    arrays = [np.broadcast_to(0.0, [sizes[k] for k in labels]) for _, labels in parts]
    how = "greedy" if optimize in (None, True) else optimize
    try:
        from opt_einsum import contract_path
    except ImportError:
        return np.einsum_path(text, *arrays, optimize=how)[0][1:]
    return list(contract_path(text, *arrays, optimize=how)[0])


def _summed(x: Any, labels: list[Any], kept: set[Any]) -> tuple[Any, list[Any]]:
    """Return an operand summed over the dimensions that are not needed."""
    gone = tuple([i for i, k in enumerate(labels) if k not in kept])
    if not gone:
        return x, labels
    found = m.cast(Sum(gone)(x), x.type.dtype)
    return found, [k for k in labels if k in kept]


def _product(first: Any, second: Any, kept: set[Any]) -> tuple[Any, list[Any]]:
    """Return the product of two operands, summed over labels that only they have."""
    a, left = _summed(first[0], first[1], kept.union(second[1]))
    b, right = _summed(second[0], second[1], kept.union(left))
    both = [k for k in left if k in right]
    over = [k for k in both if k not in kept]
    batch = [k for k in both if k in kept]
    rows, columns = [k for k in left if k not in both], [k for k in right if k not in both]
    if not over:
        labels = [*batch, *rows, *columns]
        a, b = [
            x.dimshuffle(*[own.index(k) if k in own else "x" for k in labels])
            for x, own in ((a, left), (b, right))
        ]
        return m.mul(a, b), labels
    if len(over) > 1:  # joined, unequal lengths might have equal products
        of_a = lengths(a)
        b = specify_shape(b, [of_a[left.index(k)] if k in over else None for k in right])
    sizes = dict(zip([*left, *right], [*lengths(a), *lengths(b)], strict=True))
    a = _matrices(a, left, sizes, batch, rows, over)
    b = _matrices(b, right, sizes, batch, over, columns)
    labels = [*batch, *rows, *columns]
    return reshape(matmul(a, b), [sizes[k] for k in labels]), labels


def _matrices(x: Any, labels: Any, sizes: Any, batch: Any, rows: Any, columns: Any) -> Any:
    """Return an operand with all row dimensions joined, and all column dimensions joined, after the
    batch.
    """
    x = x.dimshuffle(*[labels.index(k) for k in (*batch, *rows, *columns)])
    if len(rows) == len(columns) == 1:
        return x
    joined = [product([sizes[k] for k in part]) for part in (rows, columns)]
    return reshape(x, [*[sizes[k] for k in batch], *joined])


# --- vectors of three, and powers --------------------------------------------------------------


def cross(
    a: TensorLike,
    b: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> TensorVariable:
    """Return the vector products of vectors of length 3.

    axisa, axisb, axisc: the axes of the vectors in `a`, `b` and the result (axis: of all three).
    The other dimensions broadcast. Raises `ShapeError` for other lengths, `NDimError`, `AxisError`.

    >>> cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).eval()
    array([0., 0., 1.])
    """
    axes = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    x, y = [moveaxis(_ranked("cross", v, 1), k, -1) for v, k in ((a, axes[0]), (b, axes[1]))]
    for v in (x, y):
        if v.type.shape[-1] not in (3, None):
            raise ShapeError(located("cross: the vectors must have length 3", inputs=[x, y]))
    (x0, x1, x2), (y0, y1, y2) = [
        [specify_shape(v, (*[None] * (v.type.ndim - 1), 3))[..., i] for i in range(3)]
        for v in (x, y)
    ]
    parts = [x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0]
    return moveaxis(stack(parts, axis=-1), -1, axes[2])


def vander(x: Any, N: Any = None, increasing: bool = False) -> TensorVariable:
    """Return a matrix with a row of powers for each element of a vector: from N - 1 down to 0
    (increasing: up).

    N: by default the length of the vector. The dtype is the promotion of int64 and that of the
    elements. Raises `NDimError`.

    >>> vander([2, 3], 3).eval()
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    x = as_tensor_variable(x)
    if x.type.ndim != 1:
        raise NDimError(located("vander: takes a vector", inputs=[x]))
    n = lengths(x)[0] if N is None else N
    x = m.cast(x, promote(x.type.dtype, "int64"))
    powers = arange(n) if increasing else n - 1 - arange(n)
    return m.cast(m.pow(x[:, None], powers), x.type.dtype)


def polyval(p: TensorLike, x: TensorLike) -> TensorVariable:
    """Return the values at `x` of the polynomial with coefficients `p`, highest power first.

    Computed by Horner's scheme. Raises `ShapeError` if the number of coefficients is unknown,
    `NDimError`.

    >>> polyval([1.0, 0.0, 2.0], 3.0).eval()
    array(11.)
    """
    p, x = as_tensor_variable(p), as_tensor_variable(x)
    if p.type.ndim != 1 or p.type.shape[0] is None:
        what = "polyval: the coefficients must be a vector of known length"
        raise (NDimError if p.type.ndim != 1 else ShapeError)(located(what, inputs=[p]))
    found = m.cast(zeros_like(x), upcast([p.type, x.type]))
    for k in range(p.type.shape[0]):
        found = found * x + p[k]
    return found
