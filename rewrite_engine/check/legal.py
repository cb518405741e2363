"""What a graph may not have after a phase: left sides that its rules are there for, as patterns.

They hold from their phase on, as far as `UNTIL` says. With `config.check_phases` each graph is held
to them; the fuzzer does the same. A pattern has no guards: it is about terms that are rewritten
whatever their operands are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rewrite_engine.errors import IllegalGraphError
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.rules.language import Real, find
from rewrite_engine.tensor import abs as abs_
from rewrite_engine.tensor import exp, log, neg, sqr, sub

Pattern = Callable[..., Any]


def twice_negative(x: Real) -> Any:  # type: ignore[valid-type]
    """A sign that is undone."""
    return neg(neg(x))


def less_of_negative(x: Real, y: Real) -> Any:  # type: ignore[valid-type]
    """x - -y is x + y."""
    return sub(x, neg(y))


def logarithm_of_exponential(x: Real) -> Any:  # type: ignore[valid-type]
    """One is the inverse of the other."""
    return log(exp(x))


def size_of_size(x: Real) -> Any:  # type: ignore[valid-type]
    """The size of a size."""
    return abs_(abs_(x))


def size_of_square(x: Real) -> Any:  # type: ignore[valid-type]
    """A square has no sign."""
    return abs_(sqr(x))


def logarithm_beside_one(x: Real) -> Any:  # type: ignore[valid-type]
    """log1p keeps the digits of a small x."""
    return log(1 + x)


#: what no graph has after a phase
ILLEGAL: dict[str, tuple[Pattern, ...]] = {
    "canonicalize": (
        twice_negative,
        less_of_negative,
        logarithm_of_exponential,
        size_of_size,
        size_of_square,
    ),
    "stabilize": (logarithm_beside_one,),
}
#: the phases after which that still holds
UNTIL = {"canonicalize": ("canonicalize", "stabilize"), "stabilize": ("stabilize", "specialize")}


def check_legal(fgraph: FrozenGraph, phase: str) -> None:
    """Raise `IllegalGraphError` for a term that a graph may not have after a phase."""
    for first, patterns in ILLEGAL.items():
        if phase in UNTIL[first]:
            for pattern in patterns:
                for match in find(fgraph, pattern):
                    term = brief(match.node.outputs[0])
                    what = f"after the phase {phase!r} the graph has {term}, which {first!r}"
                    why = f"is to rewrite ({pattern.__name__}: {pattern.__doc__})"
                    raise IllegalGraphError(f"{what} {why}")
