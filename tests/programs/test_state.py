"""Programs that keep state, take defaults, put one thing in the place of another, or choose."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt

EXPIT = np.array([[0.5, 0.7310585786300049], [0.2689414213699951, 0.11920292202211755]])


def test_adding_numbers_and_matrices():
    x, y = pt.dscalars("x", "y")
    assert rw.function([x, y], x + y)(2, 3) == 5
    a, b = pt.dmatrices("a", "b")
    np.testing.assert_array_equal(rw.function([a, b], a + b)([[1, 2]], [[10, 20]]), [[11, 22]])


def test_the_logistic_function_in_two_ways():
    x = pt.dmatrix("x")
    both = rw.function([x], [1 / (1 + pt.exp(-x)), (1 + pt.tanh(x / 2)) / 2])
    for values in both([[0, 1], [-1, -2]]):
        np.testing.assert_allclose(values, EXPIT, rtol=1e-14)
    first, second = both([[-800.0, 800.0]])
    np.testing.assert_allclose(first, [[0, 1]], atol=1e-300)
    np.testing.assert_allclose(second, [[0, 1]], atol=1e-300)


def test_several_results_of_two_matrices():
    a, b = pt.dmatrices("a", "b")
    difference = a - b
    f = rw.function([a, b], [difference, abs(difference), difference**2])
    found = f([[1, 1], [1, 1]], [[0, 1], [2, 3]])
    np.testing.assert_array_equal(found[0], [[1, 0], [-1, -2]])
    np.testing.assert_array_equal(found[1], [[1, 0], [1, 2]])
    np.testing.assert_array_equal(found[2], [[1, 0], [1, 4]])


def test_arguments_with_defaults_and_names():
    x, y, w = pt.dscalars("x", "y", "w")
    f = rw.function([x, rw.In(y, value=1), rw.In(w, value=2, name="weight")], (x + y) * w)
    assert f(33) == 68
    assert f(33, 2) == 70
    assert f(33, weight=1) == 34
    assert f(33, weight=1, y=0) == 33


def test_an_accumulator():
    total = rw.shared(0, name="total")
    step = pt.lscalar("step")
    more = rw.function([step], total, updates=[(total, total + step)])
    less = rw.function([step], total, updates={total: total - step})
    assert (more(1), total.get_value()) == (0, 1)  # what it was is returned
    assert (more(300), total.get_value()) == (1, 301)
    assert (less(2), total.get_value()) == (301, 299)
    total.set_value(-1)
    assert (more(3), total.get_value()) == (-1, 2)


def test_givens_put_another_thing_in_the_place_of_a_shared_variable():
    total = rw.shared(7, name="total")
    step, other = pt.lscalar("step"), pt.scalar("other", dtype=total.type.dtype)
    formula = 2 * total + step
    f = rw.function([step, other], formula, givens=[(total, other)])
    assert f(1, 3) == 7
    assert total.get_value() == 7


def test_a_copy_of_a_function_has_state_of_its_own():
    count, other = rw.shared(0, name="count"), rw.shared(10, name="other")
    step = pt.lscalar("step")
    f = rw.function([step], count, updates=[(count, count + step)])
    g = f.copy(swap={count: other})
    f(5)
    assert g(2) == 10
    assert (count.get_value(), other.get_value()) == (5, 12)


def test_what_is_set_in_a_shared_matrix_stays():
    table = rw.shared(np.zeros((3, 2)), name="table")
    row, value = pt.lscalar("row"), pt.dvector("value")
    write = rw.function([row, value], updates=[(table, table[row].set(value))])
    write(1, [5.0, 6.0])
    write(-1, [7.0, 8.0])
    np.testing.assert_array_equal(table.get_value(), [[0, 0], [5, 6], [7, 8]])


def test_a_choice_by_elements_and_its_gradient():
    a, b = pt.dvectors("a", "b")
    chosen = pt.switch(pt.lt(a, b), a**2, -b)
    f = rw.function([a, b], [chosen, *rw.grad(chosen.sum(), [a, b])])
    value, da, db = f([1.0, 3.0, np.nan], [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(value, [1, -2, -2])
    np.testing.assert_array_equal(da, [2, 0, 0])
    np.testing.assert_array_equal(db, [0, -1, -1])


def test_a_square_root_where_there_is_one():
    x = pt.dvector("x")
    root = pt.switch(x > 0, pt.sqrt(x), 0.0)
    value, slope = rw.function([x], [root, rw.grad(root.sum(), x)])([4.0, 0.0, -9.0])
    np.testing.assert_array_equal(value, [2, 0, 0])
    np.testing.assert_array_equal(slope, [0.25, 0, 0])


def test_a_lazy_looking_choice_of_whole_matrices():
    a, b, x = pt.scalars("a", "b", "x")
    m, n = pt.matrices("m", "n")
    z = pt.switch(pt.lt(a, b), pt.mean(m), pt.mean(n))
    f = rw.function([a, b, m, n], z)
    assert f(1, 2, np.full((20, 20), 3.0), np.zeros((2, 2))) == 3
    assert np.isnan(f(2, 1, np.ones((2, 2)), np.ones((0, 2))))
    with pytest.raises(rw.errors.RewriteEngineError, match="input 4, x of type"):
        rw.function([a, b, m, n, x], z)
