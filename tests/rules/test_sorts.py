"""Sorts of tensors: rank, lengths, names for lengths, facts."""

from typing import Any

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import PatternError
from rewrite_engine.rules.facts import nonneg, same_length
from rewrite_engine.rules.language import *

turn = pt.DimShuffle(2, (1, 0))


@rule(claim=exact)
def same_columns(a: Tensor["n", "m"], b: Tensor["k", "m"]):
    """Two matrices of as many columns."""
    return pt.dot(a, turn(b)) >> pt.dot(pt.identity(a), turn(b))


@rule(claim=exact)
def square_of_three(a: Tensor["n", "n"], v: Tensor[3]):
    """A square matrix and a vector of length 3."""
    return pt.dot(a, v) >> pt.dot(pt.identity(a), v)


@rule(claim=exact)
def root(x: nonneg):
    """A fact as a sort."""
    return pt.sqrt(x) >> pt.identity(x)


asked: list[str] = []


def some_sort(v: Any) -> bool:
    """A predicate as a sort."""
    asked.append("sort")
    return True


A, B, x, y = pt.matrix("A"), pt.matrix("B"), pt.vector("x"), pt.vector("y")


def fires(made: Any, term: Any) -> bool:
    compiled, interpreted = made.transform(None, term.owner), made.interpreted(None, term.owner)
    assert (compiled is None) == (interpreted is None)
    return compiled is not None


def test_names_stand_for_one_length() -> None:
    assert "given same_length(a, 1, b, 1)" in repr(same_columns)
    assert fires(same_columns, pt.dot(A, pt.exp(A).T))
    assert fires(same_columns, pt.dot(A[:2], A.T))
    assert not fires(same_columns, pt.dot(A, B.T))
    known = pt.matrix(shape=(None, 4)), pt.matrix(shape=(5, 4))
    assert fires(same_columns, pt.dot(known[0], known[1].T))


def test_numbers_are_static_lengths() -> None:
    three, square = pt.vector(shape=(3,)), pt.matrix(shape=(3, 3))
    assert fires(square_of_three, pt.dot(square, three))
    assert not fires(square_of_three, pt.dot(A, three))
    assert fires(square_of_three, pt.dot(pt.dot(A, A.T), three))
    assert not fires(square_of_three, pt.dot(square, x))


def test_what_a_sort_is() -> None:
    assert Tensor["n", 3] is Tensor["n", 3]
    assert repr(Tensor["n", None, 2]) == "Tensor['n', None, 2]"
    assert Tensor["n", 2](pt.matrix(shape=(None, 2)))
    assert not Tensor["n", 2](A)
    assert not Tensor["n"](A)
    assert Tensor["n"].tie is same_length
    with pytest.raises(PatternError, match="takes names, lengths and None"):
        Tensor[1.5]


def test_a_fact_as_a_sort() -> None:
    assert repr(root).endswith("sqrt(x) -> identity(x), given nonneg(x)")
    assert fires(root, pt.sqrt(pt.exp(x)))
    assert not fires(root, pt.sqrt(x))


def test_guards_are_asked_cheap_ones_first() -> None:
    asked.clear()

    @fact
    def dear(v: Any) -> Any:
        asked.append("dear")
        return because("it is")

    @fact(cost=2)
    def fair(v: Any) -> Any:
        asked.append("fair")
        return because("it is")

    def free(x: Any) -> bool:
        asked.append("free")
        return x.name == "x"

    @rule
    def ordered(x: some_sort, y: Float):
        """Guards of all kinds."""
        return pt.maximum(x, pt.exp(y)) >> x, given(dear(x), fair(x), free)

    for apply in (ordered.apply, ordered.interpreted):
        asked.clear()
        assert apply(None, pt.maximum(x, pt.exp(y)).owner) is x
        assert asked == ["sort", "free", "fair", "dear"]
        asked.clear()
        assert apply(None, pt.maximum(y, pt.exp(x)).owner) is None
        assert asked == ["sort", "free"]
    ordered.apply(None, pt.maximum(x, pt.sin(y)).owner)
    assert "dear" not in asked  # the shape is wrong: no fact is asked
