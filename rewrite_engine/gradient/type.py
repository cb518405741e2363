"""Types of the gradients of variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.gradient.partial import Partial
from rewrite_engine.graph.node import Variable
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.creation import zeros_like
from rewrite_engine.tensor.math import cast
from rewrite_engine.tensor.numbers import scalar_from_tensor
from rewrite_engine.tensor.shape import specify_shape
from rewrite_engine.tensor.type import TensorType


def gradient_dtype(v: Variable) -> str:
    """Return the dtype of a gradient for `v`: its own dtype if that is continuous, else
    `config.floatX`.
    """
    return v.type.dtype if v.type.kind in "fc" else config.floatX


def is_discrete(v: Variable) -> bool:
    """Return whether the values are integers or booleans, so that gradients through them are
    zero.
    """
    if isinstance(v.type, TensorType):
        return v.type.kind not in "fc"
    return not getattr(v.type, "is_continuous", True)


def float_zeros(v: Variable) -> Variable:
    """Return zeros with the shape of `v` and the dtype of its gradient."""
    v = v.type.array_of(v)
    if not isinstance(v.type, TensorType):
        return v.type.gradient_zeros(v)  # type: ignore[no-any-return]
    return zeros_like(v, dtype=gradient_dtype(v))


def fit(v: Variable, g: Any) -> Any:
    """Return a gradient (or `Partial`) with the dtype of its variable, and the static 1s of its
    shape.
    """
    if not isinstance(v.type, TensorType):
        added = isinstance(v.type, ScalarType) and isinstance(g.type, TensorType)
        return scalar_from_tensor(g) if added else v.type.as_gradient(g)
    if isinstance(g, Partial):
        value = fit(v, g.value)
        return g if value is g.value else replace(g, value=value)
    dtype = gradient_dtype(v)
    if g.type.dtype != dtype and not (g.type.kind == "c" and v.type.kind != "c"):
        g = cast(g, dtype)
    if any(s == 1 and t is None for s, t in zip(v.type.shape, g.type.shape, strict=True)):
        g = specify_shape(g, tuple([s if s == 1 else None for s in v.type.shape]))
    return g
