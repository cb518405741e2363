"""Missionaries and cannibals: all ways across the river without coming to a position twice, and
the shortest of them.

Integers are zero, s(s(… zero)) and p(p(… zero)). A position is the bank of the boat and how many
of either are on the west and on the east bank; a move is a name and what it adds to these.
"""

from __future__ import annotations

from typing import Any

from benchmarks.rec.language import (
    Program,
    cons,
    constants,
    false,
    ground,
    listed,
    nil,
    rules,
    s,
    symbols,
    true,
    zero,
)
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.fact import given

west, east, fail, moves = constants("west east fail moves")
p, valid = symbols(1, "p valid")
either, both, plus, ge, eq, member, as_long, then, better = symbols(
    2, "either both plus ge eq member as_long then better"
)
solve, better_by = symbols(3, "solve better_by")
tried, applied, checked = symbols(4, "tried applied checked")
(position,) = symbols(5, "position")
checked_by, move = symbols(6, "checked_by move")

#: missionaries and cannibals in the boat, in the order in which they are tried
BOATS = ((1, 0), (2, 0), (1, 1), (0, 1), (0, 2))
TO_THE_EAST = tuple(constants("m_east mm_east mc_east c_east cc_east"))
TO_THE_WEST = tuple(constants("m_west mm_west mc_west c_west cc_west"))


@rules
def integers(x, y, b):
    """Sums and order."""
    return (
        both(b, true) >> b,
        both(b, false) >> false,
        either(b, true) >> true,
        either(b, false) >> b,
        plus(x, zero) >> x,
        plus(zero, y) >> y,
        plus(s(x), s(y)) >> s(s(plus(x, y))),
        plus(p(x), p(y)) >> p(p(plus(x, y))),
        plus(s(x), p(y)) >> plus(x, y),
        plus(p(x), s(y)) >> plus(x, y),
        ge(zero, zero) >> true,
        ge(zero, s(y)) >> false,
        ge(zero, p(y)) >> true,
        ge(s(x), zero) >> true,
        ge(s(x), s(y)) >> ge(x, y),
        ge(s(x), p(y)) >> true,
        ge(p(x), zero) >> false,
        ge(p(x), s(y)) >> false,
        ge(p(x), p(y)) >> ge(x, y),
        eq(x, y) >> both(ge(x, y), ge(y, x)),
    )


@rules
def ways(x, y, xs, ys, b):
    """Lists of moves, or `fail`: one more move, and the shorter of two (the second, of equal
    ones).
    """
    return (
        member(x, nil) >> false,
        member(x, cons(x, xs)) >> true,
        (member(x, cons(y, xs)) >> member(x, xs), given(lambda x, y: x is not y)),
        then(x, fail) >> fail,
        (then(x, xs) >> cons(x, xs), given(lambda xs: xs.owner.op is not fail.op)),
        as_long(xs, nil) >> true,
        as_long(nil, cons(x, xs)) >> false,
        as_long(cons(x, xs), cons(y, ys)) >> as_long(xs, ys),
        better(fail, xs) >> xs,
        better(xs, fail) >> xs,
        (
            better(xs, ys) >> better_by(as_long(xs, ys), xs, ys),
            given(lambda xs, ys: fail.op not in (xs.owner.op, ys.owner.op)),
        ),
        better_by(true, xs, ys) >> ys,
        better_by(false, xs, ys) >> xs,
    )


def unary(n: int) -> Any:
    """The integer n."""
    term = zero
    for _ in range(abs(n)):
        term = s(term) if n > 0 else p(term)
    return term


def all_moves() -> Any:
    """The ten moves."""
    term = nil
    for sign, names, bank in ((1, TO_THE_WEST, west), (-1, TO_THE_EAST, east)):
        for (m, c), name in reversed(list(zip(BOATS, names, strict=True))):
            change = [unary(sign * n) for n in (m, c, -m, -c)]
            term = cons(move(name, *change, bank), term)
    return term


@rules
def searching(x, xs, here, there, other, end, before, a, b, c, d, e, f, g, h):
    """All moves from a position that lead to one that is new and where nobody is eaten."""
    return (
        moves >> all_moves(),
        solve(here, here, before) >> nil,
        (
            solve(here, end, before) >> tried(moves, here, end, before),
            given(lambda here, end: here is not end),
        ),
        tried(nil, here, end, before) >> fail,
        tried(cons(x, xs), here, end, before)
        >> better(applied(x, here, end, before), tried(xs, here, end, before)),
        (
            applied(move(x, a, b, c, d, other), position(there, e, f, g, h), end, before)
            >> checked(
                x, position(other, plus(e, a), plus(f, b), plus(g, c), plus(h, d)), end, before
            ),
            given(lambda other, there: other is not there),
        ),
        applied(move(x, a, b, c, d, there), position(there, e, f, g, h), end, before) >> fail,
        checked(x, here, end, before)
        >> checked_by(member(here, before), valid(here), x, here, end, before),
        checked_by(false, true, x, here, end, before)
        >> then(x, solve(here, end, cons(here, before))),
        checked_by(true, a, x, here, end, before) >> fail,
        checked_by(a, false, x, here, end, before) >> fail,
    )


@rules
def safety(there, a, b, c, d):
    """No number is below zero, and the missionaries of a bank are none or enough."""
    west_bank, east_bank = (either(eq(m, zero), ge(m, n)) for m, n in ((a, b), (c, d)))
    safe_there = both(ge(c, zero), both(ge(d, zero), both(west_bank, east_bank)))
    return (valid(position(there, a, b, c, d)) >> both(ge(a, zero), both(ge(b, zero), safe_there)),)


Position = tuple[bool, int, int, int, int]


def shortest(here: Position, end: Position, before: list[Position]) -> list[int] | None:
    """The moves, numbered, of the shortest way that comes to no position twice; of several the one
    that is tried last. None if there is no way.
    """
    if here == end:
        return []
    boat_west, mw, cw, me, ce = here
    best: list[int] | None = None
    for i in reversed(range(len(BOATS))):  # the later move wins where ways are equally long
        m, c = BOATS[i] if not boat_west else (-BOATS[i][0], -BOATS[i][1])
        there = (not boat_west, mw + m, cw + c, me - m, ce - c)
        if there in before or not safe(*there[1:]):
            continue
        way = shortest(there, end, [there, *before])
        if way is not None and (best is None or len(way) + 1 < len(best)):
            best = [i if boat_west else i + len(BOATS), *way]
    return best


def safe(mw: int, cw: int, me: int, ce: int) -> bool:
    """Whether nobody is eaten on either bank."""
    return min(mw, cw, me, ce) >= 0 and (mw == 0 or mw >= cw) and (me == 0 or me >= ce)


def across(n: int) -> Variable:
    """The best way of n of either."""
    way = shortest((True, n, n, 0, 0), (False, 0, 0, n, n), [])
    names = TO_THE_EAST + TO_THE_WEST
    return ground(fail) if way is None else listed([ground(names[i]) for i in way])


PROGRAMS = (
    Program(
        "missionaries",
        integers + ways + searching + safety,
        size=3,
        small=1,
        ask=lambda n: ground(
            solve(
                position(west, unary(n), unary(n), zero, zero),
                position(east, zero, zero, unary(n), unary(n)),
                nil,
            )
        ),
        answer=across,
    ),
)
