"""tinygrad: the terms and the pattern matcher under its compiler. Equal terms are one object."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from itertools import count
from typing import Any

from tinygrad import dtypes
from tinygrad.uop.ops import Ops, PatternMatcher, UOp, UPat, graph_rewrite

from benchmarks.peers.work import LEVELS, Value, best, microseconds, per_node

VERSION = version("tinygrad")
RULES = PatternMatcher([(UPat(Ops.LOG2, src=(UPat(Ops.EXP2, src=(UPat.var("x"),)),)), lambda x: x)])


def term(op: Any, *inputs: UOp) -> UOp:
    return UOp(op, dtypes.float, inputs)


def chain(leaf: UOp) -> UOp:
    out = leaf
    for _ in range(LEVELS):
        out = term(Ops.SIN, term(Ops.LOG2, term(Ops.EXP2, out)))
    return out


def firings() -> float:
    names = count()
    seconds, result = best(
        lambda out: graph_rewrite(out, RULES),
        lambda: chain(UOp(Ops.NOOP, dtypes.float, (), next(names))),
        5,
    )
    assert len(result.toposort()) == LEVELS + 1
    return LEVELS / seconds


def work() -> dict[str, Callable[[], Value]]:
    """Building, matching and firing."""
    names = count()

    def leaf() -> UOp:
        return UOp(Ops.NOOP, dtypes.float, (), next(names))

    x, y = leaf(), leaf()
    hit = term(Ops.LOG2, term(Ops.EXP2, x))
    miss = term(Ops.LOG2, term(Ops.SIN, x))
    assert RULES.rewrite(hit) is x
    assert RULES.rewrite(miss) is None
    return {
        "unary": lambda: per_node(lambda out: term(Ops.EXP2, out), leaf),
        "binary": lambda: per_node(lambda out: term(Ops.ADD, out, y), leaf),
        "hit": lambda: microseconds(lambda: RULES.rewrite(hit)),
        "miss": lambda: microseconds(lambda: RULES.rewrite(miss)),
        "firings": firings,
    }
