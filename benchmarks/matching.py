"""Finding the rule for a node, with all shipped rules of the phase loaded: hits and misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import rewrite_engine.tensor as pt
from benchmarks.measure import Row, at_most, medians
from rewrite_engine.rules.pipeline import optimizer


def try_rules(candidates: Callable[[Any], Any], variable: Any) -> Callable[[], Any]:
    """What a driver does at a node: ask for candidates, apply them until one gives something."""
    node = variable.owner

    def once() -> Any:
        for rule in candidates(node):
            new = rule.apply(None, node)
            if new is not None:
                return new
        return None

    return once


def main() -> Iterator[Row]:
    phases = {part.name: part for part in optimizer().parts}
    canonicalize = phases["canonicalize"].rules.dispatch.candidates
    stabilize = phases["stabilize"].rules.dispatch.candidates
    x, y = pt.vectors("x y")
    hits = {
        "log(exp(x)) -> x": try_rules(canonicalize, pt.log(pt.exp(x))),
        "sqrt(sqr(x)) -> abs(x)": try_rules(canonicalize, pt.sqrt(pt.sqr(x))),
        "log(1 + x) -> log1p(x)": try_rules(stabilize, pt.log(1 + x)),
    }
    misses = {
        "sin(x)": try_rules(canonicalize, pt.sin(x)),
        "log(sin(x))": try_rules(canonicalize, pt.log(pt.sin(x))),
        "x + y": try_rules(canonicalize, x + y),
        "exp(x) * y": try_rules(canonicalize, pt.exp(x) * y),
        "x ** 3.3": try_rules(canonicalize, x**3.3),
    }
    assert all(once() is not None for once in hits.values())
    assert all(once() is None for once in misses.values())
    times = medians(hits | misses)
    for name in hits:
        yield at_most(f"hit   {name}", times[name] * 1e6, 1.0, "µs")
    for name in misses:
        yield at_most(f"miss  {name}", times[name] * 1e6, 0.5, "µs")
