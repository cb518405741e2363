"""Functions of arrays that terms are made of, each for operands of some ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.discover.space import TermMaker


def fn(
    name: str, form: str, build: Callable[..., Any], *ranks: str, commutative: bool = False
) -> TermMaker:
    """Return a maker. form: how a person writes the term. ranks: the numbers of dimensions that
    each operand may have, as digits.
    """

    def made(*operands: Any) -> Any:
        for v, digits in zip(operands, ranks, strict=True):
            if str(v.type.ndim) not in digits:
                raise TypeError(f"{name} takes no operand of {v.type.ndim} dimensions here")
        return build(*operands)

    return TermMaker(name, made, len(ranks), commutative, form)


def on(names: str, ranks: str) -> list[TermMaker]:
    """Return makers of functions of `rewrite_engine.tensor` of one operand, for some ranks."""
    return [
        fn(name, "-{}" if name == "neg" else f"pt.{name}({{}})", getattr(pt, name), ranks)
        for name in names.split()
    ]


def times(left: str, right: str) -> TermMaker:
    """Return the maker of elementwise products of operands of some ranks."""
    name = f"mul{left}{right}"
    return fn(name, "{} * {}", lambda a, b: a * b, left, right, commutative=left == right)


def plus(ranks: str) -> TermMaker:
    """Return the maker of elementwise sums of operands of some ranks."""
    return fn("add", "{} + {}", lambda a, b: a + b, ranks, ranks, commutative=True)


# --- products and diagonals -----------------------------------------------------------------------

T = fn("T", "{}.T", lambda a: a.T, "2")
#: products of matrices and vectors; of two vectors, whose order does not matter
DOTS = (
    fn("matmul", "{} @ {}", lambda a, b: a @ b, "2", "12"),
    fn("vecmat", "{} @ {}", lambda u, a: u @ a, "1", "2"),
    fn("inner", "{} @ {}", lambda u, v: u @ v, "1", "1", commutative=True),
)
OUTER = fn("outer", "pt.outer({}, {})", pt.outer, "1", "1")
ROWS = fn("rows", "{}[:, None] * {}", lambda u, a: u[:, None] * a, "1", "2")
COLUMNS = times("2", "1")
TRACE = fn("trace", "pt.trace({})", pt.trace, "2")
DIAG = fn("diag", "pt.diag({})", pt.diag, "12")
DIAGONAL = fn("diagonal", "pt.diag({})", pt.diag, "2")

# --- reductions and order -------------------------------------------------------------------------


def sum_of(ranks: str) -> TermMaker:
    """Return the maker of sums of all elements."""
    return fn("sum", "{}.sum()", lambda a: a.sum(), ranks)


def product_of(ranks: str) -> TermMaker:
    """Return the maker of products of all elements."""
    return fn("prod", "{}.prod()", lambda a: a.prod(), ranks)


MAX = fn("max", "{}.max()", lambda a: a.max(), "12")
MIN = fn("min", "{}.min()", lambda a: a.min(), "12")
SUM0 = fn("sum0", "{}.sum(axis=0)", lambda a: a.sum(axis=0), "2")
SUM1 = fn("sum1", "{}.sum(axis=1)", lambda a: a.sum(axis=1), "2")
CUMSUM = fn("cumsum", "pt.cumsum({})", pt.cumsum, "1")
SORT = fn("sort", "pt.sort({})", pt.sort, "1")

# --- indices --------------------------------------------------------------------------------------

FIRST = fn("first", "{}[0]", lambda a: a[0], "12")
LAST = fn("last", "{}[-1]", lambda a: a[-1], "12")
COLUMN = fn("column", "{}[:, 0]", lambda a: a[:, 0], "2")
REVERSED = fn("reversed", "{}[::-1]", lambda a: a[::-1], "12")

# --- linear algebra -------------------------------------------------------------------------------

INV = fn("inv", "pt.linalg.inv({})", pt.linalg.inv, "2")
DET = fn("det", "pt.linalg.det({})", pt.linalg.det, "2")
LOGABSDET = fn("logabsdet", "pt.linalg.slogdet({})[1]", lambda a: pt.linalg.slogdet(a)[1], "2")
SOLVE = fn("solve", "pt.linalg.solve({}, {})", pt.linalg.solve, "2", "12")
CHOLESKY = fn("cholesky", "pt.linalg.cholesky({})", pt.linalg.cholesky, "2")
TRIANGULAR = fn(
    "solve_triangular",
    "pt.linalg.solve_triangular({}, {}, lower=True)",
    lambda l, u: pt.linalg.solve_triangular(l, u, lower=True),
    "2",
    "12",
)
