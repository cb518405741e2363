"""The moves of the towers of Hanoi."""

from __future__ import annotations

from itertools import pairwise, permutations

from benchmarks.rec.language import (
    Program,
    cons,
    constants,
    ground,
    listed,
    nil,
    rules,
    symbols,
)
from benchmarks.rec.sorting import append
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.fact import given

(smaller,) = symbols(1, "smaller")
(third,) = symbols(2, "third")
moved, hanoi = symbols(3, "moved hanoi")
DISCS = tuple(constants(" ".join(f"disc_{i}" for i in range(21))))
PEGS = a, b, c = tuple(constants("a b c"))


@rules
def tower(start, end, disc, x, xs, ys):
    """All above the disc away, the disc over, all above it onto it."""
    less = [smaller(big) >> small for small, big in pairwise(DISCS)]
    away = hanoi(start, third(start, end), smaller(disc))
    back = hanoi(third(start, end), end, smaller(disc))
    return (
        *less,
        *[third(p, q) >> r for p, q, r in permutations(PEGS)],
        append(nil, ys) >> ys,
        append(xs, nil) >> xs,
        append(cons(x, xs), ys) >> cons(x, append(xs, ys)),
        hanoi(start, end, DISCS[0]) >> nil,
        (
            hanoi(start, end, disc) >> append(away, cons(moved(disc, start, end), back)),
            given(lambda disc: disc.owner.op is not DISCS[0].op),
        ),
    )


def moves(n: int, start: Variable, end: Variable, over: Variable) -> list[Variable]:
    """The moves of n discs."""
    if not n:
        return []
    move = moved(ground(DISCS[n]), start, end)
    return [*moves(n - 1, start, over, end), move, *moves(n - 1, over, end, start)]


PROGRAMS = (
    Program(
        "hanoi",
        tower,
        size=12,
        small=4,
        ask=lambda n: hanoi(ground(a), ground(b), ground(DISCS[n])),
        answer=lambda n: listed(moves(n, *map(ground, PEGS))),
    ),
)
