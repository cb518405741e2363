"""miniKanren on etuples: unification as the only means of matching."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from etuples import etuple
from kanren import eq, fact, run, var
from kanren.assoccomm import associative, commutative, eq_assoccomm
from kanren.core import lall

from benchmarks.peers.work import Value, microseconds, once, per_node

VERSION = version("miniKanren")


class Symbol:
    """An operator that is nothing but its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any) -> Any:
        return (self.name, *args)


log, exp, sin, add, mul = [Symbol(name) for name in ("log", "exp", "sin", "add", "mul")]


def log_of_exp(term: Any, result: Any) -> Any:
    """The goal: log(exp(x)) is x."""
    x = var()
    return lall(eq(term, etuple(log, etuple(exp, x))), eq(result, x))


def asked(term: Any, matches: bool) -> float:
    answer = var()
    assert bool(run(1, answer, log_of_exp(term, answer))) is matches
    return microseconds(lambda: run(1, answer, log_of_exp(term, answer)))


def repeated() -> float:
    """Five operands instead of eight: the time grows tenfold with each."""
    fact(commutative, add)
    fact(associative, add)
    term = etuple(add, *[etuple(mul, f"c{i}", f"x{i}") for i in range(5)])
    a, b, x, rest = var(), var(), var(), var()
    pattern = etuple(add, etuple(mul, a, x), etuple(mul, b, x), rest)
    seconds, found = once(lambda: run(1, x, eq_assoccomm(term, pattern)))
    assert not found
    return seconds * 1e6


def work() -> dict[str, Callable[[], Value]]:
    """Building and matching."""
    return {
        "unary": lambda: per_node(lambda out: etuple(exp, out), lambda: "x", 100),
        "binary": lambda: per_node(lambda out: etuple(add, out, "y"), lambda: "x", 100),
        "hit": lambda: asked(etuple(log, etuple(exp, "x")), True),
        "miss": lambda: asked(etuple(log, etuple(sin, "x")), False),
        "repeated": repeated,
    }
