"""A pack of rules that strict type checkers pass."""

from __future__ import annotations

from typing import Annotated, Any

import rewrite_engine.tensor as pt
from rewrite_engine.facts import finite, nonneg, positive
from rewrite_engine.graph.node import Apply
from rewrite_engine.language import *
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.tensor import TensorVariable


@rule(phase="canonicalize", claim=refines)
def log_of_product_with_exp(x: Float, y: Float) -> Body:
    """The exponential need not be computed.

    >>> rewritten(log(exp(vector("x")) * 1.0))
    x
    """
    return pt.log(pt.exp(x) * pt.exp(y)) >> x + y


@rule
def abs_of_what_is_not_negative(x: Annotated[Float, nonneg]) -> Body:
    """A fact as a part of a sort."""
    return pt.abs(x) >> x


@rule(claim=exact)
def sqrt_squared(x: Float) -> Body:
    """Guards stand behind a comma."""
    return pt.sqr(pt.sqrt(x)) >> x, given(positive(x), finite(x))


@rule(claim=approx(2))
def trace_of_product(
    a: Annotated[Matrix, Tensor["n", "m"]], b: Annotated[Matrix, Tensor["m", "n"]]
) -> Body:
    """Lengths of two operands that have to be equal."""
    return pt.trace(pt.dot(a, b)) >> pt.sum(a * b.T)


@rule
def scaled_sum(x: Float, c: FloatConstant, axis: Prop, keepdims: Prop) -> Body:
    """Parameters of an op as variables."""
    total = pt.Sum(axis=axis, keepdims=keepdims)
    return total(c * x) >> c * total(x)


@rule
def square_of_root(x: Float, c: ConstantNumber) -> Body:
    """A right side that Python computes."""
    return pt.pow(pt.sqrt(x), c) >> compute(lambda x, c: pt.pow(x, c.number / 2))


@equation(prefer=flops)
def products(a: Float, b: Matrix, c: Float) -> Sides:
    """Products of matrices in either order."""
    return (a @ b) @ c, a @ (b @ c)


@node_rewriter([pt.exp, pt.Sum])
def never(fgraph: Any, node: Apply) -> list[TensorVariable] | None:
    """A rule in Python: (an example.)"""
    return None


@fact
def is_small(x: TensorVariable) -> Any:
    """A fact of one's own."""
    return because("it is a number") if x.type.ndim == 0 else unknown("it is an array")


@is_small.case(pt.neg)
def negated(x: TensorVariable) -> Any:
    """What is known of an op's results."""
    assert x.owner is not None
    return is_small(x.owner.inputs[0])


TRIG = table(
    "trig",
    ("sin_of_neg", lambda x: pt.sin(-x) >> -pt.sin(x), refines, "An odd function."),
    x=Float,
)

RULES = RuleSet([log_of_product_with_exp, sqrt_squared, scaled_sum]) + TRIG
