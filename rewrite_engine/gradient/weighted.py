"""Logarithms of weighted sums of exponentials, in a form that is stable to differentiate.

The chain rule divides the slope of log(sum(exp(log(w) + l))) for log(w) by w. For a weight of 0
both are 0, while the correct result is exp(l) over the sum. So the weights are differentiated
outside of the exponential: y + log(sum(w exp(l - y))) for the value y of the whole. Its logarithm
is 0, and its slopes are correct.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.gradient.stops import zero_grad
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.tensor.special import LogSumExp

#: functions of a weight w, of which exp(f(...)) is w, and what w is
WEIGHT_OF: dict[Any, Any] = {pt.log: lambda v: v, pt.log1p: lambda v: 1.0 + v}

MAX_ADDENDS = 8  # of an exponent, among which the logarithm of a weight is looked for

Term = tuple[Variable | None, Variable | None]  # a weight, and the logarithm of what it weighs


def with_weights_outside(
    outputs: Sequence[Variable], nodes: Iterable[Apply], varies: Collection[Variable]
) -> list[Variable]:
    """Return the outputs, equal in value, in a form for derivatives by weights that may be 0.

    nodes: those of the outputs, in order. varies: the variables to differentiate by, and their
    dependents.
    """
    pairs: dict[Variable, Variable] = {}
    for node in nodes:
        op, (y, *_) = node.op, node.outputs
        if op is not pt.logaddexp and not isinstance(op, LogSumExp):
            continue
        terms = [split(v, varies) for v in node.inputs]
        if any([weight is not None for weight, _ in terms]):
            pairs[y] = form(node, y, terms)
    return list(graph_replace(outputs, pairs, strict=False)) if pairs else list(outputs)


def split(v: Variable, varies: Collection[Variable]) -> Term:
    """Return a term log(w) + l as (w, l) if w varies; else (None, v)."""
    below: list[tuple[Variable, list[Any]]] = [(v, [])]
    while below:
        one, others = below.pop()
        weight = weight_of(one) if one in varies else None
        if weight is not None:
            return weight, sum(others[1:], others[0]) if others else None
        node = one.owner
        if node is None or len(others) > MAX_ADDENDS or node.op not in (pt.add, pt.sub):
            continue
        for i, part in enumerate(node.inputs if node.op is pt.add else node.inputs[:1]):
            rest = [*node.inputs[:i], *node.inputs[i + 1 :]]
            below.append((part, [*others, *(rest if node.op is pt.add else [-rest[0]])]))
    return None, v


def weight_of(v: Variable) -> Variable | None:
    """Return the weight whose logarithm a variable is, moved likewise; None for others."""
    moves: list[Any] = []
    while v.owner is not None and v.owner.op.moves_only and len(v.owner.inputs) == 1:
        moves.append(v.owner.op)
        (v,) = v.owner.inputs
    if v.owner is None or v.owner.op not in WEIGHT_OF or isinstance(v, Constant):
        return None
    weight = WEIGHT_OF[v.owner.op](v.owner.inputs[0])
    for op in reversed(moves):
        weight = op(weight)
    return weight  # type: ignore[no-any-return]


def form(node: Apply, y: Variable, terms: Sequence[Term]) -> Any:
    """Return the value of a node, with the slopes of its weighted terms."""
    value = zero_grad(y)
    spread = node.op.spread(node.inputs[0], value) if isinstance(node.op, LogSumExp) else value
    most = float(np.log(np.finfo(y.type.dtype).max)) - 1.0
    shares = []
    for weight, rest in terms:
        share = pt.exp(pt.minimum(-spread if rest is None else rest - spread, most))
        shares.append(share if weight is None else weight * share)
    whole = node.op.sum(shares[0]) if isinstance(node.op, LogSumExp) else pt.add(*shares)
    log_of_one = pt.log(whole)
    return value + (log_of_one - zero_grad(log_of_one))
