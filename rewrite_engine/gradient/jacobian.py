"""`jacobian`, `hessian` and products with a Hessian, built from `pullback`.

All rows of a Jacobian are one gradient along a batch: that of a generic element (decision 32). So
the graph is as large as that of a gradient, and no length must be known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from rewrite_engine.errors import ComplexCostError, DTypeError, message
from rewrite_engine.gradient.reverse import _like, _variables, grad, pullback
from rewrite_engine.gradient.sources import with_sources
from rewrite_engine.gradient.type import gradient_dtype
from rewrite_engine.graph.node import Variable
from rewrite_engine.tensor.blockwise import vectorize_graph
from rewrite_engine.tensor.creation import alloc, eye, ones_like
from rewrite_engine.tensor.math import switch
from rewrite_engine.tensor.reshape import reshape
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rewrite_engine.tensor.annotation import Form, TensorLike


@overload
def jacobian(
    expression: Variable,
    wrt: Form,
    consider_constant: Variable | Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
    vectorize: bool = False,
) -> Form: ...
@overload
def jacobian(
    expression: Variable,
    wrt: Variable | Sequence[Variable],
    consider_constant: Variable | Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
    vectorize: bool = False,
) -> Any: ...
def jacobian(
    expression: Any,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: Any = "raise",
    vectorize: bool = False,
) -> Any:
    """Return d expression[...] / d wrt[...]: an array of shape (*expression.shape, *wrt.shape), or
    one for each of `wrt`.

    expression: a tensor variable of any shape (`DTypeError` for other types and for complex
    numbers). vectorize has no effect: all elements are differentiated at once. The other arguments
    are described in `grad`.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.dvector("x")
    >>> pt.jacobian(x**2 + x[0], x).eval({x: [1.0, 3.0]})
    array([[3., 0.],
           [1., 6.]])
    """
    if not isinstance(expression, Variable) or not isinstance(expression.type, TensorType):
        raise DTypeError(f"jacobian: the expression must be a tensor variable, not {expression!r}")
    if expression.type.kind == "c":
        raise ComplexCostError(
            message("jacobian: the expression must be real, not complex", inputs=[expression])
        )
    if expression.type.ndim == 0:
        return grad(expression, wrt, consider_constant, disconnected_inputs=disconnected_inputs)
    wanted = _variables(wrt, "wrt")
    element = expression.type.clone(dtype="bool").make_variable()
    one = switch(element, ones_like(expression, dtype=gradient_dtype(expression)), 0)
    gradients = pullback(expression, wanted, one, consider_constant, disconnected_inputs)
    shape: Any = tuple(expression.shape)  # type: ignore[attr-defined]
    each = eye(expression.size, dtype="bool")  # type: ignore[attr-defined]
    if len(shape) > 1:
        each = reshape(each, (each.shape[0], *shape))
    rows = vectorize_graph(gradients, {element: each})
    results = [_unfolded(g, v, shape) for g, v in zip(rows, wanted, strict=True)]
    return _like(wrt, with_sources(results, [expression, *wanted]))


def _unfolded(rows: Any, v: Any, shape: Any) -> Any:
    """Return the gradients for `v` of all elements of an expression, in its shape."""
    if rows.type.ndim == v.type.ndim:  # that of each is the same
        return alloc(rows, *shape, *v.shape)
    return rows if len(shape) == 1 else reshape(rows, (*shape, *v.shape))


@overload
def hessian(
    cost: Variable,
    wrt: Form,
    consider_constant: Variable | Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
) -> Form: ...
@overload
def hessian(
    cost: Variable,
    wrt: Variable | Sequence[Variable],
    consider_constant: Variable | Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
) -> Any: ...
def hessian(
    cost: Any,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: Any = "raise",
) -> Any:
    """Return the second derivatives of a 0-d cost, of shape (*wrt.shape, *wrt.shape): a matrix for
    a vector.

    wrt: one variable, or several (then a list is returned). The other arguments are described in
    `grad`.
    """
    wanted = _variables(wrt, "wrt")
    gradients = grad(cost, wanted, consider_constant, disconnected_inputs=disconnected_inputs)
    results = [
        jacobian(g, v, consider_constant, "ignore") for g, v in zip(gradients, wanted, strict=True)
    ]
    return _like(wrt, results)


@overload
def hessian_vector_product(
    cost: Variable, wrt: Form, p: TensorLike, **grad_kwargs: Any
) -> Form: ...
@overload
def hessian_vector_product(
    cost: Variable, wrt: Variable | Sequence[Variable], p: TensorLike, **grad_kwargs: Any
) -> Any: ...
def hessian_vector_product(cost: Any, wrt: Any, p: Any, **grad_kwargs: Any) -> Any:
    """Return H p for the Hessian H of a 0-d cost, without building H: the gradient of <grad(cost),
    p>.

    wrt: one variable or several; p: as many, with their shapes. grad_kwargs: options of `grad`.
    """
    wanted = _variables(wrt, "wrt")
    points = list(p) if isinstance(p, list | tuple) else [p]
    gradients = grad(cost, wanted, **grad_kwargs)
    constants = grad_kwargs.get("consider_constant")
    return _like(wrt, pullback(gradients, wanted, points, constants, "ignore"))
