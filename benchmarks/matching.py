"""Finding the rule for a node, with all shipped rules of the phase loaded: hits and misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import rewrite_engine.tensor as pt
from benchmarks.measure import Row, at_most, medians
from rewrite_engine.language import Const, Rest, approx, rule
from rewrite_engine.pipeline.phases import optimizer


def try_rules(candidates: Callable[[Any], Any], variable: Any) -> Callable[[], Any]:
    """What a driver does at a node: ask for candidates, apply them until one gives something."""
    node = variable.owner

    def once() -> Any:
        for candidate in candidates(node):
            new = candidate.apply(None, node)
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
    yield from any_order()


@rule(claim=approx(ulps=4))
def log_and_exp(x, y, rest: Rest = ()):
    """Two operands among many, for measuring."""
    return pt.log(x) + pt.exp(y) + rest >> x - y + rest


@rule(claim=approx(ulps=4))
def like_terms(x, a: Const = 1, b: Const = 1, rest: Rest = ()):
    """The same variable twice, for measuring."""
    return a * x + b * x + rest >> (a + b) * x + rest


def any_order() -> Iterator[Row]:
    """Patterns on operands in any order."""
    xs = pt.vectors(*[f"x{i}" for i in range(16)])
    many = pt.add(*xs[:7], pt.log(xs[0]), *xs[7:13], pt.exp(xs[2]), xs[13]).owner
    eight = pt.add(*[(i + 2.0) * x for i, x in enumerate(xs[:8])]).owner
    assert log_and_exp.apply(None, many) is not None
    assert like_terms.apply(None, eight) is None
    times = medians(
        {
            "hit   two ops and a rest among 16 operands": lambda: log_and_exp.apply(None, many),
            "miss  a repeated variable among 8 operands": lambda: like_terms.apply(None, eight),
        }
    )
    for (name, seconds), target in zip(times.items(), (5.0, 20.0), strict=True):
        yield at_most(name, seconds * 1e6, target, "µs")
