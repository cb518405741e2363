"""Jacobians, Hessians, products with them, and what is done with those."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import Lop, Rop, hessian_vector_product, jacobian
from rewrite_engine.gradient import hessian as hessian_of


def test_the_slope_of_a_square_and_of_the_logistic_function():
    x = pt.dscalar("x")
    slope = rw.grad(x**2, x)
    assert rw.function([x], slope)(94.2) == 188.4
    assert slope.eval({x: 4}) == 8
    m = pt.dmatrix("m")
    s = pt.sum(1 / (1 + pt.exp(-m)))
    found = rw.function([m], rw.grad(s, m))([[0, 1], [-1, -2]])
    e = np.exp([[0, 1], [1, 2]])
    np.testing.assert_allclose(found, e / (1 + e) ** 2, rtol=1e-14)
    np.testing.assert_array_equal(rw.function([m], rw.grad(s, m))([[-1e3, 1e3]]), [[0, 0]])


@pytest.mark.parametrize("vectorize", [False, True])
def test_a_jacobian(vectorize):
    x = pt.dvector("x")
    y = x**2
    J = jacobian(y, x, vectorize=vectorize)
    np.testing.assert_array_equal(rw.function([x], J)([4, 4]), [[8, 0], [0, 8]])
    np.testing.assert_array_equal(rw.function([x], J)([]), np.zeros((0, 0)))


def test_a_hessian():
    x = pt.dvector("x")
    H = hessian_of((x**2).sum(), x)
    np.testing.assert_array_equal(rw.function([x], H)([4, 4]), [[2, 0], [0, 2]])
    A = np.array([[2.0, 1.0], [0.0, 3.0]])
    H = hessian_of(pt.dot(x, pt.dot(A, x)), x)
    np.testing.assert_array_equal(rw.function([x], H)([1, 2]), A + A.T)


def test_products_with_a_jacobian():
    W, x = pt.dmatrix("W"), pt.dvector("x")
    V, v = pt.dmatrix("V"), pt.dvector("v")
    y = pt.dot(x, W)
    right = rw.function([W, V, x], Rop(y, W, V))
    np.testing.assert_array_equal(right([[1, 1], [1, 1]], [[2, 2], [2, 2]], [0, 1]), [2, 2])
    left = rw.function([v, x], Lop(y, W, v))  # W itself is not needed
    np.testing.assert_array_equal(left([2, 2], [0, 1]), [[0, 0], [2, 2]])


def test_products_with_a_hessian_in_three_ways():
    x, v = pt.dvectors("x", "v")
    cost = pt.sum(x**2) + pt.prod(x)
    slope = rw.grad(cost, x)
    ways = [rw.grad(pt.sum(slope * v), x), Rop(slope, x, v), hessian_vector_product(cost, x, v)]
    f = rw.function([x, v], ways)
    X, V = np.array([4.0, 3.0, 0.0]), np.array([2.0, 1.0, 5.0])
    H = np.array([[2.0, 0.0, 3.0], [0.0, 2.0, 4.0], [3.0, 4.0, 2.0]])
    for found in f(X, V):
        np.testing.assert_allclose(found, H @ V, rtol=1e-13)


def test_newtons_method_on_a_number():
    x = rw.shared(1.0, name="x")
    f = x**3 - 2
    step = rw.function([], f, updates=[(x, x - f / rw.grad(f, x))])
    for _ in range(8):
        last = step()
    assert abs(last) < 1e-14
    np.testing.assert_allclose(x.get_value(), np.cbrt(2), rtol=1e-15)


def test_newtons_method_on_two_numbers():
    """The least value of (1 - a)² + 100 (b - a²)², by a Hessian of two rows inverted by hand."""
    p = pt.dvector("p")
    cost = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
    g, H = rw.grad(cost, p), hessian_of(cost, p)
    determinant = H[0, 0] * H[1, 1] - H[0, 1] * H[1, 0]
    inverse = pt.stacklists([[H[1, 1], -H[0, 1]], [-H[1, 0], H[0, 0]]]) / determinant
    step = rw.function([p], p - inverse @ g)
    at = np.array([-1.2, 1.0])
    for _ in range(7):
        at = step(at)
    np.testing.assert_allclose(at, [1, 1], rtol=1e-10)


def test_how_well_conditioned_a_matrix_is():
    """The largest and the smallest eigenvalue of AᵀA + c, by repeated products."""
    A, c = pt.dmatrix("A"), pt.dscalar("c")
    n = A.shape[1]
    gram = A.T @ A + c * pt.eye(n)

    def largest(m):
        v = pt.ones((n,)) + 0.1 * pt.arange(n)
        for _ in range(150):
            v = m @ v
            v = v / v.norm(2)
        return v @ m @ v

    top = largest(gram)
    condition = top / (top - largest(top * pt.eye(n) - gram))
    values = np.array([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0]])
    f = rw.function([A, rw.In(c, value=0.0)], [condition, rw.grad(condition, c)])
    for shift in (0.0, 1.0):
        exact = values.T @ values + shift * np.eye(2)
        least, most = np.linalg.eigvalsh(exact)
        np.testing.assert_allclose(f(values, shift)[0], np.linalg.cond(exact), rtol=1e-9)
        np.testing.assert_allclose(f(values, shift)[1], (1 - most / least) / least, rtol=1e-6)


def test_what_does_not_depend_says_so():
    x, y = pt.dscalars("x", "y")
    with pytest.raises(ValueError, match="does not depend on the elements of y"):  # as in PyTensor
        rw.grad(x**2, y)
    none = rw.grad(x**2, y, disconnected_inputs="ignore")
    assert none.eval({y: 1.0}, on_unused_input="ignore") == 0
    assert rw.grad(x * y, x, consider_constant=[y]).eval({y: 3.0}) == 3
