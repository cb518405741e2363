"""Functions made of reductions: means, variances, softmax and its logarithm.

They are written as in a textbook; the stabilising rules (`rules/stabilize.py`) turn them into
forms that neither overflow nor lose digits.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.config import config
from rewrite_engine.scalar.dtype import DISCRETE, dtype_name
from rewrite_engine.tensor import math as m
from rewrite_engine.tensor.constant import as_tensor_variable, weak_constant
from rewrite_engine.tensor.reduce import Sum
from rewrite_engine.tensor.reduction import normalize_axes, sorted_axes
from rewrite_engine.tensor.shape import shape_i


def count(x: Any, axis: Any = None) -> Any:
    """Number of elements along axes: an int if the type tells, else an int64 scalar variable.

    Raises `AxisError`.
    """
    x = as_tensor_variable(x)
    axes = normalize_axes(sorted_axes(axis), x.type.ndim)
    known, rest = 1, []
    for i in range(x.type.ndim) if axes is None else axes:
        if x.type.shape[i] is None:
            rest.append(shape_i(x, i))
        else:
            known *= x.type.shape[i]
    if not rest:
        return known
    factors = rest if known == 1 else [known, *rest]
    return factors[0] if len(factors) == 1 else m.mul(*factors)


def size(x: Any) -> Any:
    """Number of elements, as an int64 scalar variable."""
    n = count(x)
    return weak_constant(n, "int64") if isinstance(n, int) else n


def mean(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Mean along axes; floatX for integers. float16 is added up in float32."""
    x = as_tensor_variable(x)
    own = config.floatX if x.type.dtype in DISCRETE else x.type.dtype
    result = own if dtype is None else dtype_name(dtype)
    inner = "float32" if result == "float16" else result
    total = Sum(axis, dtype=None if inner == x.type.dtype else inner, keepdims=keepdims)(x)
    n = count(x, axis)
    real = {"complex64": "float32", "complex128": "float64"}.get(inner, inner)
    return m.cast(m.true_div(total, n if isinstance(n, int) else m.cast(n, real)), result)


def var(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Variance along axes: the mean of |x - mean|², divided by n - ddof instead of n."""
    x = as_tensor_variable(x)
    centred = m.sub(x, mean(x, axis, keepdims=True))
    squares = m.sqr(m.abs(centred) if x.type.kind == "c" else centred)
    if not ddof:
        return mean(squares, axis, keepdims=keepdims)
    n = m.sub(count(x, axis), ddof)
    return m.true_div(Sum(axis, keepdims=keepdims)(squares), m.cast(n, squares.type.dtype))


def std(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Standard deviation along axes: the square root of `var`."""
    return m.sqrt(var(x, axis, ddof, keepdims))


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))) along axes."""
    return m.log(Sum(axis, keepdims=keepdims)(m.exp(as_tensor_variable(x))))


def softmax(x: Any, axis: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along axes (None: all)."""
    e = m.exp(as_tensor_variable(x))
    return m.true_div(e, Sum(axis, keepdims=True)(e))


def log_softmax(x: Any, axis: Any = None) -> Any:
    """log(softmax(x)) along axes (None: all)."""
    return m.log(softmax(x, axis))
