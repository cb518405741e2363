"""Computes graphs node by node with `Op.perform`, so that tests of ops need no linker."""

from __future__ import annotations

from typing import Any

import numpy as np

from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.traverse import toposort


def evaluate(output: Any, given: dict[Any, Any] | None = None) -> Any:
    """The value of a variable, checked against its static type; inputs are filtered by theirs."""
    values = {x: x.type.filter(v) for x, v in (given or {}).items()}

    def value(x: Any) -> Any:
        return x.data if isinstance(x, Constant) else values[x]

    for node in toposort([output], list(values)):
        cells: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, [value(x) for x in node.inputs], cells)
        for out, (result,) in zip(node.outputs, cells, strict=True):
            values[out] = out.type.filter(np.asarray(result), strict=True)
    return value(output)


def numeric_gradient(f: Any, args: list[np.ndarray], weights: np.ndarray, eps: float = 1e-6) -> Any:
    """Central differences of sum(weights * f(*args)), for each argument."""
    result = []
    for k, arg in enumerate(args):
        slope = np.zeros_like(arg)
        for index in np.ndindex(arg.shape):
            moved = []
            for step in (eps, -eps):
                copy = arg.copy()
                copy[index] += step
                moved.append(np.sum(weights * f(*args[:k], copy, *args[k + 1 :])))
            slope[index] = (moved[0] - moved[1]) / (2 * eps)
        result.append(slope)
    return result
