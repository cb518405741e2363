"""MatchPy: many-to-one nets, associative-commutative matching. Its terms know no sharing, and it
walks them by recursion, so its chain is 100 levels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from matchpy import (
    Arity,
    ManyToOneMatcher,
    ManyToOneReplacer,
    Operation,
    Pattern,
    ReplacementRule,
    Symbol,
    Wildcard,
)

from benchmarks.peers.work import Value, best, microseconds, per_node

VERSION = version("matchpy")
LEVELS = 100
log, exp, sin = [Operation.new(name, Arity.unary) for name in ("log", "exp", "sin")]
add, mul = [
    Operation.new(name, Arity.variadic, name + "_", associative=True, commutative=True)
    for name in ("add", "mul")
]


def firings() -> float:
    rules = ManyToOneReplacer(ReplacementRule(Pattern(log(exp(Wildcard.dot("x")))), lambda x: x))

    def chain() -> Any:
        out = Symbol("x")
        for _ in range(LEVELS):
            out = sin(log(exp(out)))
        return out

    sys.setrecursionlimit(20_000)
    return LEVELS / best(rules.replace, chain, 3)[0]


def matched(pattern: Any, term: Any, matches: bool) -> float:
    """Microseconds to the first match, or to none."""
    matcher = ManyToOneMatcher(Pattern(pattern))
    assert (next(iter(matcher.match(term)), None) is not None) is matches
    return microseconds(lambda: next(iter(matcher.match(term)), None))


def work() -> dict[str, Callable[[], Value]]:
    """Building, matching and firing."""
    a, b, x, y = [Wildcard.dot(name) for name in "abxy"]
    rest = Wildcard.star("rest")
    xs = [Symbol(f"x{i}") for i in range(16)]
    many = add(*xs[:7], log(xs[0]), *xs[7:13], exp(xs[2]), xs[13])
    eight = add(*[mul(Symbol(f"c{i}"), v) for i, v in enumerate(xs[:8])])
    return {
        "unary": lambda: per_node(exp, lambda: xs[0], 100),
        "binary": lambda: microseconds(lambda: add(xs[0], xs[1])),
        "hit": lambda: matched(log(exp(x)), log(exp(xs[0])), True),
        "miss": lambda: matched(log(exp(x)), log(sin(xs[0])), False),
        "firings": firings,
        "repeated": lambda: matched(add(mul(a, x), mul(b, x), rest), eight, False),
        "rest": lambda: matched(add(log(x), exp(y), rest), many, True),
    }
