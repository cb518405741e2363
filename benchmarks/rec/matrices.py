"""The transitive closure of a relation: a matrix of bits, squared until that changes nothing."""

from __future__ import annotations

import numpy as np

from benchmarks.rec.language import Program, constants, ground, rules, symbols
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.fact import given

none, one, no_bits, no_rows = constants("none one no_bits no_rows")
(closure, without_first) = symbols(1, "closure without_first")
either, both, bits, rows, inner, row_of, product, closed = symbols(
    2, "either both bits rows inner row_of product closed"
)


@rules
def closing(x, y, u, v, m, n):
    """Rows times columns, the columns one after the other."""
    return (
        both(none, x) >> none,
        both(one, x) >> x,
        either(none, x) >> x,
        either(one, x) >> one,
        without_first(rows(bits(x, u), m)) >> rows(u, without_first(m)),
        without_first(no_rows) >> no_rows,
        inner(bits(x, u), rows(bits(y, v), m)) >> either(both(x, y), inner(u, m)),
        inner(no_bits, no_rows) >> none,
        row_of(u, rows(bits(y, v), m))
        >> bits(inner(u, rows(bits(y, v), m)), row_of(u, without_first(rows(bits(y, v), m)))),
        row_of(u, rows(no_bits, m)) >> no_bits,
        product(rows(u, n), m) >> rows(row_of(u, m), product(n, m)),
        product(no_rows, m) >> no_rows,
        closure(m) >> closed(m, product(m, m)),
        closed(m, m) >> m,
        (closed(m, n) >> closure(product(m, m)), given(lambda m, n: m is not n)),
    )


#: the first of the published relations, a row each
TEN = """
1010100000
0000100100
1010101001
0001000101
0100010100
0001010001
0000001001
0000001100
0010101000
0001100100
"""


def relation(n: int) -> np.ndarray:
    """The published relation, between the first n."""
    return np.array([[int(bit) for bit in row] for row in TEN.split()], dtype=int)[:n, :n]


def matrix(m: np.ndarray) -> Variable:
    """A matrix of bits."""
    term = ground(no_rows)
    for row in m[::-1]:
        line = ground(no_bits)
        for bit in row[::-1]:
            line = bits(ground(one if bit else none), line)
        term = rows(line, term)
    return term


def squared(m: np.ndarray) -> np.ndarray:
    """The relation, squared until that changes nothing."""
    while True:
        twice = (m @ m > 0).astype(int)
        if (twice == m).all():
            return m
        m = twice


PROGRAMS = (
    Program(
        "closure",
        closing,
        size=10,
        small=5,
        ask=lambda n: closure(matrix(relation(n))),
        answer=lambda n: matrix(squared(relation(n))),
    ),
)
