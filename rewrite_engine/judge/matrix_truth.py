"""True values of terms of linear algebra, by many digits: node by node, with the exact meanings of
`truth.py`. Requires mpmath.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from mpmath import mp

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge import exact
from rewrite_engine.judge.exact import NotKnown
from rewrite_engine.judge.truth import results

DIGITS = 60  # of numbers of any size: enough for matrices of a moderate condition


@mp.workdps(DIGITS)
def true_values(term: Variable, given: Mapping[Variable, Any]) -> Any:
    """Return the true value of a term, an array of numbers with many digits; None if an op has no
    exact meaning.
    """
    values: dict[Variable, Any] = {}
    for v, a in given.items():
        values[v] = exact.exact(a) if v.type.kind in "fc" else np.asarray(a)
    try:
        for node in toposort([term], list(given)):
            inputs = [values[v] if v in values else exact.constant(v) for v in node.inputs]
            values.update(zip(node.outputs, results(node, inputs), strict=True))
        found = exact.constant(term) if isinstance(term, Constant) else values[term]
    except (NotKnown, ArithmeticError, ValueError, TypeError, IndexError):
        return None
    return np.asarray(found, object)


def are_numbers(true: Any) -> Any:
    """Return where a true value is finite."""
    return np.asarray(np.frompyfunc(lambda t: t - t == 0, 1, 1)(true), bool)


@mp.workdps(DIGITS)
def apart(x: Any, true: Any) -> Any:
    """Return the distances of floats from true values; infinity from none."""

    def distance(f: Any, t: Any) -> float:
        if t - t != 0:
            return float("inf")
        return float(abs(mp.mpmathify(complex(f) if isinstance(f, complex) else float(f)) - t))

    off = np.frompyfunc(lambda f, t: distance(f, t) if np.isfinite(f) else np.inf, 2, 1)
    return np.asarray(off(np.asarray(x), true), float)
