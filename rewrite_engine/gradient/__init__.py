"""Gradients: `grad`, `Lop`, `Rop`, `jacobian`, `hessian`, functions that stop gradients, and
`verify_grad`.

An op only defines `grad` or `L_op` (and `connection_pattern`, `R_op`); the traversal of graphs is
here.
"""

from __future__ import annotations

from rewrite_engine.errors import DisconnectedInputError, GradientError, NullTypeGradError
from rewrite_engine.gradient.forward import Rop, pushforward
from rewrite_engine.gradient.jacobian import hessian, hessian_vector_product, jacobian
from rewrite_engine.gradient.reverse import Lop, grad, pullback, subgraph_grad
from rewrite_engine.gradient.stops import (
    disconnected_grad,
    grad_clip,
    grad_scale,
    undefined_grad,
    zero_grad,
)
from rewrite_engine.gradient.verify import numeric_grad, verify_grad
from rewrite_engine.graph.null import (
    DisconnectedType,
    NullType,
    disconnected_type,
    grad_not_implemented,
    grad_undefined,
)

consider_constant = zero_grad
pushforward_through_pullback = pushforward  # (which goes through it where an op has no rule)

__all__ = [
    "DisconnectedInputError",
    "DisconnectedType",
    "GradientError",
    "Lop",
    "NullType",
    "NullTypeGradError",
    "Rop",
    "consider_constant",
    "disconnected_grad",
    "disconnected_type",
    "grad",
    "grad_clip",
    "grad_not_implemented",
    "grad_scale",
    "grad_undefined",
    "hessian",
    "hessian_vector_product",
    "jacobian",
    "pullback",
    "numeric_grad",
    "pushforward",
    "pushforward_through_pullback",
    "subgraph_grad",
    "undefined_grad",
    "verify_grad",
    "zero_grad",
]
