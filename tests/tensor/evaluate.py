"""What graphs compute, by the reference linker: node by node with `Op.perform`, every value held
against its static type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link import get_linker


def evaluate(output: Any, given: Mapping[Any, Any] | None = None) -> Any:
    """The value of a variable; values for inputs are filtered by their types."""
    values = {x: x.type.filter(v) for x, v in (given or {}).items()}
    return evaluate_all([output], values)[0]


def evaluate_all(outputs: Sequence[Any], given: Mapping[Any, Any]) -> Sequence[Any]:
    """The values of variables, from values that are of the right types."""
    graph = FunctionGraph(list(given), outputs, merging=False)
    return get_linker("py").compile(graph)(*given.values())


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
