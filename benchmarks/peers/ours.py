"""This library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks import graphs, matching
from benchmarks.peers.theano_like import Library
from benchmarks.peers.work import LEVELS, Value, best, microseconds
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import all_rules, optimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer

VERSION = rw.__version__


def compiled(inputs: list[Any], outputs: list[Any], *excluded: str) -> Any:
    """Everything is there but fusion, which would be excluded."""
    names = [name for name in excluded if name != "fusion"]
    return rw.function(inputs, outputs, mode=rw.Mode("fast_run").excluding(*names))


def firings(driver: Any) -> float:
    """Rules fired a second."""

    def graph() -> FunctionGraph:
        x, out = graphs.log_exp(pt, LEVELS)
        return FunctionGraph([x], [out])

    seconds, result = best(driver.rewrite, graph, 15)
    assert result.firings == LEVELS
    return LEVELS / seconds


def work() -> dict[str, Callable[[], Value]]:
    """All figures."""
    canonicalize = {part.name: part for part in optimizer().parts}["canonicalize"]
    log_of_exp = EquilibriumOptimizer(
        RuleSet([rule for rule in all_rules() if rule.name.endswith("/log_of_exp")])
    )
    x = pt.vector("x")
    candidates = canonicalize.rules.dispatch.candidates
    xs = pt.vectors(*[f"x{i}" for i in range(16)])
    many = pt.add(*xs[:7], pt.log(xs[0]), *xs[7:13], pt.exp(xs[2]), xs[13]).owner
    eight = pt.add(*[(i + 2.0) * v for i, v in enumerate(xs[:8])]).owner
    hit = matching.try_rules(candidates, pt.log(pt.exp(x)))
    miss = matching.try_rules(candidates, pt.log(pt.sin(x)))
    assert hit() is not None
    assert miss() is None
    library = Library(pt, rw.grad, compiled, lambda f: len(f.fgraph.toposort()), turns=7)
    return library.work() | {
        "hit": lambda: microseconds(hit),
        "miss": lambda: microseconds(miss),
        "firings": lambda: firings(log_of_exp),
        "canonicalize": lambda: firings(canonicalize),
        "repeated": lambda: microseconds(lambda: matching.like_terms.apply(None, eight)),
        "rest": lambda: microseconds(lambda: matching.log_and_exp.apply(None, many)),
    }
