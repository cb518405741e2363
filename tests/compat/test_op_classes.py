"""Classes of ops with PyTensor's arguments, and the functions that go with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat import extras, inplace
from rewrite_engine.compat.op_classes import (
    AdvancedIncSubtensor1,
    AdvancedSubtensor1,
    CholeskySolve,
    Repeat,
    Solve,
    SolveTriangular,
    advanced_inc_subtensor,
    advanced_inc_subtensor1,
    advanced_set_subtensor1,
    advanced_subtensor,
    advanced_subtensor1,
)
from rewrite_engine.tensor.elemwise import Elemwise

A = np.array([[4.0, 1.0], [1.0, 3.0]])
b = np.array([1.0, 2.0])
x, i, j = pt.dmatrix("x"), pt.lvector("i"), pt.lvector("j")


@pytest.mark.parametrize("assume_a", ["gen", "sym", "pos"])
def test_equations(assume_a: str) -> None:
    got = Solve(assume_a=assume_a, b_ndim=1)(x, b).eval({x: A})
    np.testing.assert_allclose(got, scipy.linalg.solve(A, b, assume_a=assume_a))


@pytest.mark.parametrize("lower", [False, True])
def test_triangular_equations(lower: bool) -> None:
    got = SolveTriangular(lower=lower, b_ndim=1)(x, b).eval({x: A})
    np.testing.assert_allclose(got, scipy.linalg.solve_triangular(A, b, lower=lower))
    factor = np.linalg.cholesky(A) if lower else np.linalg.cholesky(A).T
    got = CholeskySolve(lower=lower, b_ndim=1)(x, b).eval({x: factor})
    np.testing.assert_allclose(got, np.linalg.solve(A, b))


def test_repeat_by_its_class() -> None:
    np.testing.assert_array_equal(Repeat(axis=0)(x, 2).eval({x: A}), np.repeat(A, 2, 0))
    np.testing.assert_array_equal(Repeat()(x, 2).eval({x: A}), np.repeat(A, 2))


@pytest.mark.parametrize(("axis1", "axis2"), [(0, 1), (1, 0), (0, 2), (-2, -1)])
@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_vectors_on_diagonals(offset: int, axis1: int, axis2: int) -> None:
    v = np.arange(6.0).reshape(2, 3)
    made = extras.alloc_diag(v, offset, axis1, axis2).eval()
    assert made.ndim == 3
    first, second = sorted([axis1 % 3, axis2 % 3])
    np.testing.assert_array_equal(np.diagonal(made, offset, first, second), v)
    assert made.sum() == v.sum()


@pytest.mark.parametrize("axis", [None, 1])
def test_unique_as_before_numpy_2(axis: int | None) -> None:
    values = np.array([[1, 2, 2], [3, 3, 3]])
    found, at, inverse, counts = extras.old_np_unique(values, True, True, True, axis)
    assert inverse.ndim == 1
    assert at.size == counts.size == found.shape[-1]
    again = found[:, inverse] if axis else found[inverse].reshape(values.shape)
    np.testing.assert_array_equal(again, values)


def ops(v: Any) -> list[Any]:
    found = []
    while v.owner is not None:
        found.append(v.owner.op)
        v = v.owner.inputs[0]
    return found


def test_what_ops_are() -> None:
    assert any(isinstance(op, Solve) for op in ops(pt.linalg.solve(x, b)))
    assert not any(isinstance(op, SolveTriangular) for op in ops(pt.linalg.solve(x, b)))
    assert any(isinstance(op, SolveTriangular) for op in ops(pt.linalg.solve_triangular(x, b)))
    assert isinstance(x[i].owner.op, AdvancedSubtensor1)
    assert isinstance(pt.inc_subtensor(x[i], 1.0).owner.op, AdvancedIncSubtensor1)
    for other in (x[i, j], x[:, i], x[0]):
        assert not isinstance(other.owner.op, AdvancedSubtensor1)


def test_elements_at_indices() -> None:
    at = {x: A, i: [1, 1], j: [0, 1]}
    for rows in (advanced_subtensor1(x, i), AdvancedSubtensor1()(x, i)):
        np.testing.assert_array_equal(rows.eval({x: A, i: [1, 1]}), A[[1, 1]])
    np.testing.assert_array_equal(advanced_subtensor(x, i, j).eval(at), A[[1, 1], [0, 1]])
    expected = A.copy()
    np.add.at(expected, [1, 1], 2.0)
    for more in (advanced_inc_subtensor1(x, 2.0, i), AdvancedIncSubtensor1()(x, 2.0, i)):
        np.testing.assert_array_equal(more.eval({x: A, i: [1, 1]}), expected)
    expected = A.copy()
    np.add.at(expected, ([1, 1], [0, 1]), 2.0)
    np.testing.assert_array_equal(advanced_inc_subtensor(x, 2.0, i, j).eval(at), expected)
    put = AdvancedIncSubtensor1(set_instead_of_inc=True)(x, 0.0, i)
    for new in (put, advanced_set_subtensor1(x, 0.0, i)):
        np.testing.assert_array_equal(new.eval({x: A, i: [1, 1]}), [A[0], [0.0, 0.0]])


def test_ops_that_overwrite() -> None:
    for name in ("exp", "add", "true_divide", "sgn"):
        op = getattr(inplace, f"{name}_inplace")
        assert isinstance(op, Elemwise)
        assert op.destroy_map == {0: [0]}
    f = rw.function([x], inplace.exp_inplace(2.0 * x), accept_inplace=True)
    np.testing.assert_allclose(f(A), np.exp(2.0 * A))
    with pytest.raises(AttributeError):
        _ = inplace.nothing_inplace
    with pytest.raises(AttributeError):
        _ = inplace.exp


def test_what_stands_for_a_class_may_be_inherited_from() -> None:
    from abc import ABC

    from rewrite_engine.compat.op_classes import IfElse
    from rewrite_engine.tensor.flow import branches

    class Marked(ABC):  # noqa: B024
        """PyMC's classes of ops have such a base."""

    class Mine(Marked, IfElse):
        """An op of a program."""

    assert Mine.__mro__[3] is branches.IfElse
    assert issubclass(Mine, IfElse)
    x, y = pt.dscalars("x", "y")
    assert isinstance(Mine()(x > 0, x, y).owner.op, Mine)


@pytest.mark.parametrize("change", [np.add.at, np.put])
def test_rows_are_changed_by_options(change: Any) -> None:
    put = change is np.put
    want = A[0].copy()
    change(want, [0, 0, 1], [5.0, 6.0, 7.0])
    v = pt.dvector("v")
    got = advanced_inc_subtensor(v, [5.0, 6.0, 7.0], [0, 0, 1], set_instead_of_inc=put)
    np.testing.assert_array_equal(got.eval({v: A[0]}), want)
    once = advanced_inc_subtensor(v, [5.0, 6.0], [0, 0], ignore_duplicates=True).eval({v: A[0]})
    np.testing.assert_array_equal(once, [A[0][0] + 6.0, A[0][1]])
