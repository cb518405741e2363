"""Loops of many kinds, which rules about loops are tried on: they are rewritten as a whole, and
each step that a rule does is a pair of terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.check.example import watched
from rewrite_engine.check.target import usable
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.gradient import grad
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.debug.record import RewriteStep
from rewrite_engine.loops import scan, until
from rewrite_engine.match.query import Query
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import optimizer
from rewrite_engine.rewrite.budget import RunBudget

DTYPES = ("float64", "float32", "int64")
ENOUGH = RunBudget(firings=500, on_budget="stop")  # for a loop of a few nodes


def programs(x: Any, y: Any, m: Any, s: Any) -> dict[str, Callable[[], Any]]:
    """Yield loops over two vectors and a matrix, from a start value."""
    return {
        "running sum": lambda: scan(lambda v, t: t + v, x, s)[0],
        "running product": lambda: scan(lambda v, t: t * v, x, s)[0],
        "sum at its end": lambda: scan(lambda v, t: pt.tanh(t) + v, x, s)[0][-1],
        "all and the last": lambda: (t := scan(lambda v, t: pt.tanh(t) + v, x, s)[0]) * t[-1],
        "map": lambda: scan(lambda v: pt.abs(v) * 2 + v, x)[0],
        "map of two": lambda: scan(lambda v, w, k: v * k - w, [x, y], non_sequences=[s])[0],
        "the sequence": lambda: scan(lambda v: v, x)[0],
        "what is the same": lambda: scan(lambda v, k: v * pt.abs(k) + 1, x, non_sequences=[s])[0],
        "of no sequence": lambda: scan(lambda t: pt.tanh(t) + 1, outputs_info=s, n_steps=5)[0],
        "one step": lambda: scan(lambda t: pt.tanh(t) + 1, outputs_info=s, n_steps=1)[0],
        "no step": lambda: scan(lambda t: pt.tanh(t) + 1, outputs_info=s, n_steps=0)[0],
        "unused": lambda: scan(lambda v, t: [pt.tanh(t) + v, v * t], x, [s, None])[0][0],
        "only the other": lambda: scan(lambda v, t: [pt.tanh(t) + v, v * t], x, [s, None])[0][1],
        "the last of it": lambda: scan(lambda v, t: [pt.tanh(t) + v, v * t], x, [s, None])[0][1][
            -1
        ],
        "computed after": lambda: scan(lambda v, t: [pt.tanh(t) + v, pt.abs(t)], x, [s, None])[0][
            1
        ],
        "doubles": lambda: pt.mul(
            *scan(lambda v, w, t, u: [pt.tanh(t) + v, pt.tanh(u) + w], [x, x], [s, s])[0]
        ),
        "two loops": lambda: (
            scan(lambda v, t: pt.tanh(t) + v, x, s)[0]
            - scan(lambda v, t: pt.maximum(t, v), x, s)[0]
        ),
    }


def more_programs(x: Any, y: Any, m: Any, s: Any) -> dict[str, Callable[[], Any]]:
    """Yield loops with several earlier values, conditions, rows, lengths and gradients."""
    return {
        "two values back": lambda: scan(
            lambda v, a, b: pt.tanh(a) + b + v, x, {"initial": pt.stack([s, s]), "taps": [-2, -1]}
        )[0],
        "until": lambda: scan(lambda v, t: (pt.abs(t) + v, until(t > 3)), x, s)[0],
        "rows": lambda: scan(lambda row: row.sum(), m)[0],
        "sum of rows": lambda: scan(lambda row, t: t + row, m, pt.zeros_like(m[0]))[0][-1],
        "products of rows": lambda: scan(
            lambda row, t: t + pt.outer(row, row), m, pt.zeros_like(pt.outer(m[0], m[0]))
        )[0][-1],
        "backwards": lambda: scan(lambda v, t: pt.tanh(t) + v, x, s, go_backwards=True)[0],
        "how many": lambda: scan(lambda v, t: pt.tanh(t) + v, x, s)[0].shape[0],
        "gradient": lambda: grad(scan(lambda v, t: pt.tanh(t) * v, x, s)[0].sum(), x),
        "gradient of the last": lambda: grad(scan(lambda v, t: pt.tanh(t) * v, x, s)[0][-1], x),
    }


@lru_cache(maxsize=8)
def loop_steps(added: RuleSet) -> tuple[RewriteStep, ...]:
    """Return the firings of rules on sample loops."""
    with watched() as found:
        for term in _terms():
            try:
                driver = optimizer(Query().excluding("inplace"), usable(added), ENOUGH)
                driver.rewrite(FunctionGraph(None, [term]))
            except RewriteEngineError:  # told by other checks
                continue
    return tuple([step for one in found for step in one.steps])


def _terms() -> Iterator[Any]:
    for dtype in DTYPES:
        for length in (None, 4):
            x, y = [pt.tensor(n, dtype=dtype, shape=(length,)) for n in "xy"]
            m, s = pt.tensor("m", dtype=dtype, shape=(length, None)), pt.scalar("s", dtype=dtype)
            for make in (programs(x, y, m, s) | more_programs(x, y, m, s)).values():
                try:
                    yield make()
                except (RewriteEngineError, TypeError, ValueError):
                    continue  # no such loop
