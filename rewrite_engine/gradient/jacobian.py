"""`jacobian`, `hessian` and products with a Hessian, made of `grad`.

A Jacobian is written out row by row, so the length of the expression must be known while the
graph is built.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rewrite_engine.errors import DTypeError, GradientError, NDimError, message
from rewrite_engine.gradient.reverse import Lop, _like, _variables, grad
from rewrite_engine.graph.node import Variable
from rewrite_engine.tensor.join import stack
from rewrite_engine.tensor.type import TensorType


def jacobian(
    expression: Any,
    wrt: Any,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """Return d expression[i] / d wrt[...] as an array of shape (len(expression), *wrt.shape).

    expression: a 0-d (the result has then the shape of `wrt`) or 1-d float variable whose static
    length is known (`GradientError` if it is not). The other arguments are those of `grad`.
    Raises `NDimError`, `DTypeError`.
    """
    if not isinstance(expression, Variable) or not isinstance(expression.type, TensorType):
        raise DTypeError(f"jacobian: the expression must be a tensor variable, not {expression!r}")
    if expression.type.ndim > 1:
        what = "jacobian: the expression must have at most 1 dimension"
        raise NDimError(message(what, inputs=[expression], hint="flatten it first"))
    if expression.type.ndim == 0:
        return grad(expression, wrt, consider_constant, disconnected_inputs)
    length = expression.type.shape[0]
    if length is None:
        what = "jacobian: the length of the expression is not known while the graph is built"
        hint = "give it with specify_shape(expression, (n,))"
        raise GradientError(message(what, inputs=[expression], hint=hint))
    wanted = _variables(wrt, "wrt")
    rows = [
        grad(expression[i], wanted, consider_constant, disconnected_inputs)  # type: ignore[index]
        for i in range(length)
    ]
    return _like(wrt, [stack([row[k] for row in rows]) for k in range(len(wanted))])


def hessian(
    cost: Any,
    wrt: Any,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """Return the matrices of second derivatives of a 0-d cost, one for each vector in `wrt`.

    The static lengths of `wrt` must be known (`GradientError`). Raises `NDimError` if one is no
    vector.
    """
    wanted = _variables(wrt, "wrt")
    for v in wanted:
        if v.type.ndim != 1:
            raise NDimError(message("hessian: wrt must be vectors", inputs=[v]))
    gradients = grad(cost, wanted, consider_constant, disconnected_inputs)
    results = [
        jacobian(_with_length(g, v), v, consider_constant, "ignore")
        for g, v in zip(gradients, wanted, strict=True)
    ]
    return _like(wrt, results)


def _with_length(g: Any, v: Any) -> Any:
    """Tell a gradient the length of its variable."""
    from rewrite_engine.tensor.shape import specify_shape

    return specify_shape(g, v.type.shape)


def hessian_vector_product(cost: Any, wrt: Any, p: Any) -> Any:
    """Return H p for the Hessian H of a 0-d cost, without building H: the gradient of
    <grad(cost), p>.

    wrt: one variable or several; p: as many, with their shapes.
    """
    wanted = _variables(wrt, "wrt")
    points = list(p) if isinstance(p, list | tuple) else [p]
    gradients = grad(cost, wanted)
    return _like(wrt, Lop(gradients, wanted, points, disconnected_inputs="ignore"))
