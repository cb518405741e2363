"""Rules fired per second: a chain of `sin(log(exp(·)))`, untraced and traced; growth with the
graph's size.

Only rewriting is timed: building the chain and importing it into a FunctionGraph are not.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

import rewrite_engine.tensor as pt
from benchmarks.graphs import large_fuseable
from benchmarks.measure import Row, at_least, at_most, once
from rewrite_engine import grad
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.pipeline.phases import optimizer
from rewrite_engine.rewrite.trace import Trace

SIZES = (1_000, 10_000, 100_000)


def chain(levels: int) -> FunctionGraph:
    """`levels` times sin(log(exp(·))) above one input."""
    x = out = pt.vector("x")
    for _ in range(levels):
        out = pt.sin(pt.log(pt.exp(out)))
    return FunctionGraph([x], [out])


def seconds(driver: Any, levels: int, turns: int, traced: bool = False) -> float:
    """The median time to rewrite such a chain, in which every level fires once."""
    times = []
    for _ in range(turns):
        fgraph = chain(levels)
        trace = Trace(size=1000) if traced else None
        time, result = once(lambda: driver.rewrite(fgraph, trace))  # noqa: B023
        assert result.firings == levels
        times.append(time)
    return statistics.median(times)


def model(driver: Any, turns: int) -> float:
    """Firings a second on the graph of a log-density with its gradient: the median."""
    rates = []
    for _ in range(turns):
        fgraph = FunctionGraph(*large_fuseable(pt, grad, 25))
        time, result = once(lambda: driver.rewrite(fgraph))  # noqa: B023
        assert result.firings > 100
        rates.append(result.firings / time)
    return statistics.median(rates)


def main() -> Iterator[Row]:
    driver = {part.name: part for part in optimizer().parts}["canonicalize"]
    seconds(driver, 1_000, 3)
    plain = seconds(driver, 1_000, 15)
    yield at_least("firings a second, 1,000 levels", 1_000 / plain, 120_000, "/s")
    traced = seconds(driver, 1_000, 15, traced=True)
    yield at_least("the same, traced", 1_000 / traced, 100_000, "/s")
    model(driver, 3)
    yield at_least("firings a second, large_fuseable(25)", model(driver, 25), 50_000, "/s")
    for levels in SIZES[1:]:
        ratio = seconds(driver, levels, 3) / levels / (plain / 1_000)
        yield at_most(f"time per level, {levels:,} over 1,000", ratio, 1.5, "×")
