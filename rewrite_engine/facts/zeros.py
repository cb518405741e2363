"""Facts about the nonzero elements of matrices: `band`, of any matrix; `same_pattern`, of sparse
ones. Import them from `rewrite_engine.facts`.

Ops declare what they preserve, as for all facts (`Op.implied`). Nothing of `rewrite_engine.sparse`
is loaded for this: an op whose vectors have one element for each stored element of a matrix
declares the input with the matrix (`entries_of`).
"""

from functools import wraps
from math import inf

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.facts.arrays import length
from rewrite_engine.facts.numbers import FACTS, finite, from_operands
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.match.fact import because, both, fact, unknown

__all__ = ["band", "one_for_each", "same_pattern", "stored_once"]

#: no element is nonzero
NOWHERE = (inf, -inf)

# --- bands --------------------------------------------------------------------------------------


@fact(depth=2)
def band(x):
    """Every element of a matrix is 0 unless lower <= column - row <= upper: the evidence has both,
    as `value`; -inf and inf if there is no bound.
    """
    if x.type.ndim != 2:
        return unknown("it is not a matrix", blame=x)
    if x.head is CONSTANT:
        return because("a constant", value=band_of(x.data))
    return from_operands(band, x, "any element may be nonzero")


def band_of(value):
    """Return the band of a matrix, dense or sparse; NaN is not 0."""
    rows, columns = value.nonzero()
    off = columns.astype("int64") - rows
    return (int(off.min()), int(off.max())) if len(off) else NOWHERE


@band.test
def is_in_band(value, ends):
    """Return whether a matrix has only zeros outside a band."""
    lower, upper = band_of(value)
    return ends[0] <= lower and upper <= ends[1]


def of_matrices(*ops):
    """Add a case of `band`: a function of a matrix that one of these ops computes."""

    def register(fn):
        @band.case(*ops)
        @wraps(fn)
        def case(x):
            return fn(x) if x.type.ndim == 2 else unknown("it is not a matrix", blame=x)

        return case

    return register


def is_zero(x):
    """Return whether a term is the constant 0, or filled with it."""
    if x.head is CONSTANT:
        return isinstance(x.data, np.ndarray) and not x.data.any()
    filling = pt.creation.filling(x)
    return filling is not None and filling.head is CONSTANT and not filling.data.any()


def _band(x, whole):
    """Return the `band` of an operand, also if it is filled with 0. whole: the result; an operand
    that is stretched to its shape has no known band.
    """
    if is_zero(x):
        return because("it is 0", value=NOWHERE)
    if x.type.broadcastable != whole.type.broadcastable:
        return unknown("it may be stretched", blame=x)
    return band(x)


def in_all(*answers):
    """Return the evidence for a result that is 0 where a known operand is."""
    known = [a for a in answers if a]
    if not known:
        return answers[-1]
    ends = [a.value for a in known]
    inner = (max(e[0] for e in ends), min(e[1] for e in ends))
    return because("nonzero where all operands are", *known, value=inner)


def in_any(*answers):
    """Return the evidence for a result that is 0 where all operands are."""
    together = both("nonzero where any operand is", *answers)
    if not together:
        return together
    ends = [a.value for a in answers]
    outer = (min(e[0] for e in ends), max(e[1] for e in ends))
    return because("nonzero where any operand is", *answers, value=outer)


def across(answer):
    """Return the evidence for the transpose of a matrix."""
    if not answer:
        return answer
    lower, upper = answer.value
    return because("the transpose of", answer, value=(-upper, -lower))


def along(a, b):
    """Return the evidence for the product of two matrices."""
    if not (a and b):
        return b if a else a
    ends = (a.value[0] + b.value[0], a.value[1] + b.value[1])
    nothing = NOWHERE in (a.value, b.value)
    return because("a product of", a, b, value=NOWHERE if nothing else ends)


@of_matrices(pt.add, pt.sub)
def band_of_sum(x):
    """Return the band that covers the bands of all terms."""
    return in_any(*[_band(v, x) for v in x.owner.inputs])


@of_matrices(pt.neg, pt.abs, pt.sqr, pt.sign, pt.sqrt, pt.sin, pt.tan, pt.arctan, pt.sinh, pt.tanh)
def band_of_odd(x):
    """Return the band of the operand, as the op maps 0 to 0."""
    return _band(x.owner.inputs[0], x)


@of_matrices(pt.mul)
def band_of_product(x):
    """Return the band that all factors share, if the others are finite."""
    factors, answers = x.owner.inputs, []
    for i, v in enumerate(factors):
        found = _band(v, x)
        others = [finite(y) for k, y in enumerate(factors) if k != i]
        answers.append(found if all(others) or not found else unknown("0 * inf is NaN", blame=v))
    return in_all(*answers)


@of_matrices(pt.switch)
def band_of_choice(chosen):
    """Return the band of a choice between matrices, or of a triangle."""
    condition, x, y = chosen.owner.inputs
    if is_zero(y):
        return in_all(_band(condition, chosen), _band(x, chosen))
    if is_zero(x):
        return in_all(_other_side(condition, chosen), _band(y, chosen))
    return in_any(_band(x, chosen), _band(y, chosen))


def _other_side(condition, chosen):
    """Return the band in which a condition may be false: above the diagonals of a triangle."""
    if condition.type.broadcastable != chosen.type.broadcastable:
        return unknown("it may be stretched", blame=condition)
    if condition.head is CONSTANT:
        return because("a constant", value=band_of(condition.data == 0))
    k = _diagonal_of(condition, pt.creation.Tri)
    if k is None:
        return unknown("the condition is not a triangle", blame=condition)
    return because("above a triangle", value=(k + 1, inf))


def _diagonal_of(x, op):
    """Return the number of the diagonal that builds a triangle or identity, if it is known."""
    known = isinstance(x.head, op) and x.owner.inputs[2].head is CONSTANT
    return int(x.owner.inputs[2].number) if known else None


@of_matrices(pt.creation.Eye)
def band_of_eye(x):
    """Return the single diagonal of `eye`."""
    k = x.owner.inputs[2]
    if k.head is not CONSTANT:
        return unknown("the diagonal is not known", blame=k)
    return because("one diagonal", value=(k.number, k.number))


@of_matrices(pt.creation.Tri)
def band_of_triangle(x):
    """Return the band of all diagonals up to that of the triangle."""
    k = x.owner.inputs[2]
    if k.head is not CONSTANT:
        return unknown("the diagonal is not known", blame=k)
    return because("a triangle", value=(-inf, k.number))


# --- what a sparse matrix stores ------------------------------------------------------------------


def pattern(x):
    """Return the matrix furthest down that stores its elements at the same places as x, in the same
    order, and whether x is its transpose. (A vector stands for the stored elements of a matrix.)
    """
    turned = False
    while x.owner is not None:
        op = x.owner.op
        entries, keeps = getattr(op, "entries_of", None), op.implied.get("same_pattern")
        if keeps is not None and keeps(FACTS, *x.owner.inputs):
            entries = 0
        if entries is None:
            break
        turned ^= type(op).__name__ == "SparseTranspose"
        x = x.owner.inputs[entries]
    return x, turned


@fact
def same_pattern(x, y):
    """Two sparse matrices store elements at the same places, in the same order."""
    if pattern(x) == pattern(y) and x.type.format == y.type.format:
        return because("both have one pattern")
    return unknown("elements may be stored at other places", blame=y)


@fact
def one_for_each(data, x):
    """A vector has one element for each stored element of a sparse matrix."""
    found = length(data, 0).value
    node = found[0].owner if isinstance(found, tuple) else None
    entries = getattr(node.op, "entries_of", None) if node is not None else None
    if entries is None or found[0].index > 1:
        return unknown("its length is not known", blame=data)
    if pattern(node.inputs[entries])[0] is pattern(x)[0]:
        return because("its length is the number of stored elements")
    return unknown("its length is that of another pattern", blame=data)


@fact
def stored_once(x):
    """The indices of a sparse matrix are sorted, and each place is stored once."""
    if x.head is CONSTANT:
        good = getattr(x.data, "has_canonical_format", False)
        return because("a constant") if good else unknown("it is not canonical", blame=x)
    return from_operands(stored_once, x, "a place may be stored several times")


def on_diagonal(i, j):
    """Return the evidence for a matrix with elements at rows i and columns j, if both count up from
    0.
    """
    if i is j or (_counts(i) and _counts(j)):
        return because("on the diagonal", value=(0, 0))
    return unknown("its elements may be anywhere", blame=i)


def _counts(i):
    """Return whether a vector is 0, 1, 2, …"""
    if i.head is CONSTANT:
        return i.data.ndim == 1 and bool((i.data == np.arange(len(i.data))).all())
    if not isinstance(i.head, pt.creation.ARange):
        return False
    start, _, step = i.owner.inputs
    return (start.number, step.number) == (0, 1) if start.head is step.head is CONSTANT else False


def one_diagonal(x, k):
    """Return the evidence for the matrix x with elements added on diagonal k."""
    return in_any(_band(x, x), because("one diagonal", value=(k, k)))


vars(FACTS).update({name: globals()[name] for name in __all__}, in_all=in_all, in_any=in_any,
                   across=across, along=along, one_diagonal=one_diagonal,
                   on_diagonal=on_diagonal)  # fmt: skip
