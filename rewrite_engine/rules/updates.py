"""Sums of a matrix and a product of others: the product need not be computed."""

from typing import Any, NamedTuple

from rewrite_engine.facts import diagonal
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rules.diagonals import is_read_once
from rewrite_engine.tensor import (
    CheckedLength,
    Dot,
    IncDiagonal,
    add,
    alloc,
    cast,
    constant,
    mul,
    sub,
)
from rewrite_engine.tensor.creation import Eye, filling


class Update(NamedTuple):
    """The matrix rest + u @ v. product: the term for u @ v, without its sign."""

    rest: Any
    u: Any
    v: Any
    product: Any


def split(x):
    """Return a sum of matrices as an `Update`; None if it has not one product."""
    terms = x.owner.inputs
    factors = [factors_of(v, x) for v in terms]
    products = [i for i, found in enumerate(factors) if found is not None]
    if len(products) != 1:
        return None
    (i,) = products
    if any([v.type.dtype != x.type.dtype for v in factors[i]]):
        return None
    if terms[i].type.ndim == 2 and terms[i].type.broadcastable != x.type.broadcastable:
        if False in terms[i].type.broadcastable:
            return None
    others = [v for k, v in enumerate(terms) if k != i]
    if any([v.type.ndim != 2 or v.type.broadcastable != x.type.broadcastable for v in others]):
        return None
    rest = others[0] if len(others) == 1 else add(*others)
    u, v = factors[i]
    if x.head is sub:
        u, rest = (-u, rest) if i else (u, -rest)
    return Update(rest, u, v, terms[i])


def factors_of(x, whole):
    """Return two matrices whose product a term of a sum is: a product, a column times a row, or a
    number added to all elements; None for other terms.
    """
    if isinstance(x.head, Dot) and x.type.ndim == 2:
        return tuple(x.owner.inputs)
    number = x.dimshuffle() if False not in x.type.broadcastable else filling(x)
    if number is not None and number.type.ndim == 0 and x.type.dtype == whole.type.dtype:
        one = constant(1, dtype=x.type.dtype)
        return alloc(number, whole.shape[0], 1), alloc(one, 1, whole.shape[1])
    if x.head is not mul or x.type.ndim != 2:
        return None
    return scaled_factors(x) or outer_factors(x)


def scaled_factors(x):
    """Return the factors of a number times a product of matrices; None for other terms."""
    products = [v for v in x.owner.inputs if isinstance(v.head, Dot) and v.type.ndim == 2]
    numbers = [v for v in x.owner.inputs if False not in v.type.broadcastable]
    if len(products) != 1 or len(numbers) + 1 < len(x.owner.inputs):
        return None
    u, v = products[0].owner.inputs
    return (mul(*numbers, u), v) if u.type.ndim == v.type.ndim == 2 else None


def outer_factors(x):
    """Return the column and the row of a product of such; None for other products."""
    factors = [v.dimshuffle("x", 0) if v.type.ndim == 1 else v for v in x.owner.inputs]
    across = [v for v in factors if v.type.broadcastable == (True, False)]
    columns = [v for v in factors if v.type.ndim == 0 or v.type.broadcastable[1]]
    if (
        len(across) != 1
        or len(columns) + 1 < len(factors)
        or x.type.broadcastable != (False, False)
    ):
        return None
    column = columns[0] if len(columns) == 1 else mul(*columns)
    return (column, across[0]) if column.type.ndim == 2 else None


@fact(depth=3)
def low_rank_update(x):
    """A diagonal matrix plus or minus a product of matrices, or of a column and a row: the evidence
    has the diagonal matrix and both factors, as `value`.
    """
    if x.head not in (add, sub) or x.type.ndim != 2 or x.type.kind not in "fc":
        return unknown("it is no sum of matrices", blame=x)
    found = split(x)
    if found is None:
        return unknown("it does not have one product of matrices", blame=x)
    known = diagonal(found.rest)
    if not known:
        return known
    return because("a product and a diagonal matrix", known, value=found[:3])


def is_beside_sum(op, seen, distinct):
    """Return whether an operand is a sum or a difference."""
    return any(head_of(s) in (add, sub) for s in seen)


@node_rewriter(
    [Dot], phase="canonicalize", claim=backward(64), depth=4, tags=["before_gradients"],
    when=is_beside_sum,
)  # fmt: skip
def product_with_update(fgraph, node):
    """Multiply a sum with a product term by term, where the product of matrices is not needed then:
    with a vector, or if the other terms are diagonal. Not data: sums of many terms, and uses.

    >>> a, u, v, x = matrix("a"), matrix("u"), matrix("v"), vector("x")
    >>> rewritten((a + u @ v) @ x, (eye(a.shape[0]) - v @ u) @ a)
    [a @ x + u @ (v @ x), a + -v @ (u @ a)]
    """
    a, b = node.inputs
    if a.head in (add, sub) and a.type.ndim == 2:
        found = term_by_term(fgraph, a, b)
        return found and node.op(found.rest, b) + node.op(found.u, node.op(found.v, b))
    if b.head in (add, sub) and b.type.ndim == 2:
        found = term_by_term(fgraph, b, a)
        return found and node.op(a, found.rest) + node.op(node.op(a, found.u), found.v)
    return None


def term_by_term(fgraph, whole, other):
    """Return the parts of a sum if they are multiplied one by one; None otherwise."""
    if whole.type.kind not in "fc" or other.type.dtype != whole.type.dtype:
        return None
    if not is_read_once(fgraph, whole):
        return None
    found = split(whole)
    if found is None or not is_read_once(fgraph, found.product):
        return None
    return found if other.type.ndim == 1 or diagonal.ask(fgraph, found.rest) else None


@node_rewriter([add], phase="specialize", claim=backward(2), depth=3)
def sum_with_unit_matrix(fgraph, node):
    """Add a number to the diagonal of the other terms, without a matrix of zeros. Not data: sums of
    many terms, and lengths that are compared.

    >>> a, c = matrix("a"), scalar("c")
    >>> rewritten(a + c * eye(a.shape[0]))
    IncDiagonal(a, Alloc(c, CheckedLength(...)))
    """
    for i, v in enumerate(node.inputs if node.outputs[0].type.ndim == 2 else ()):
        found = multiple_of_unit(v)
        others = [x for k, x in enumerate(node.inputs) if k != i]
        if found is None or not are_plain(others, node.outputs[0]):
            continue
        n, number = found
        whole = others[0] if len(others) == 1 else add(*others)
        rows = [n, whole.shape[0], n, whole.shape[1]]
        checked = CheckedLength((2, 2), add)(n, *map(as_int64, rows))
        return IncDiagonal()(whole, alloc(cast(number, whole.type.dtype), checked))
    return None


def multiple_of_unit(v):
    """Return the rows and the number of a unit matrix times a number; None for other terms."""
    factors = v.owner.inputs if v.head is mul else [v]
    units = [x for x in factors if isinstance(x.head, Eye)]
    numbers = [x for x in factors if False not in x.type.broadcastable]
    if len(units) != 1 or len(numbers) + 1 < len(factors):
        return None
    n, m, k = units[0].owner.inputs
    if n is not m or k.head is not CONSTANT or k.number != 0:
        return None
    one = constant(1, dtype=v.type.dtype)
    return as_int64(n), mul(one, *[x.dimshuffle() for x in numbers]) if numbers else one


def are_plain(others, whole):
    """Return whether terms are matrices in the form of their sum, and no products, with which a
    diagonal matrix has other uses (`low_rank_update`).
    """
    if not others or any([factors_of(x, whole) is not None for x in others]):
        return False
    return all([x.type.ndim == 2 and x.type.yields_to(whole.type) for x in others])


def as_int64(n):
    """Return a length in the dtype of lengths."""
    return cast(n, "int64")
