"""Diagonals against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, NDimError
from rewrite_engine.gradient.verify import evaluate, verify_grad

shapes = st.lists(st.integers(0, 4), min_size=2, max_size=4).map(tuple)


@given(shapes, st.integers(-5, 5), st.data())
def test_values_and_static_shape(shape, offset, data):
    a, b = data.draw(st.permutations(range(-len(shape), 0)))[:2]
    value = np.arange(float(np.prod(shape))).reshape(shape)
    want = np.diagonal(value, offset, a, b)
    for known in (shape, (None,) * len(shape)):
        x = pt.tensor("x", shape=known)
        y = pt.diagonal(x, offset, a, b)
        got, length = evaluate([y, y.shape], {x: value})
        np.testing.assert_array_equal(got, want)
        assert tuple(length) == want.shape
        if None not in known:
            assert y.type.shape == want.shape


@given(st.integers(0, 4), st.integers(-3, 3))
def test_diag_of_a_vector(n, k):
    value = np.arange(1.0, n + 1)
    v = pt.vector("v")
    got, back = evaluate([pt.diag(v, k), pt.diag(pt.diag(v, k), k)], {v: value})
    np.testing.assert_array_equal(got, np.diag(value, k))
    np.testing.assert_array_equal(back, value)


@pytest.mark.parametrize("offset", [-1, 0, 2])
@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_gradient(offset, axes):
    value = np.random.default_rng(0).normal(size=(3, 4, 5))
    verify_grad(lambda x: pt.diagonal(x, offset, *axes), [value])
    verify_grad(lambda x: pt.sqr(pt.diag(x[0, 0], offset)), [value])


def test_trace():
    value = np.random.default_rng(0).normal(size=(3, 4, 5))
    x = pt.tensor3("x")
    (got,) = evaluate([pt.trace(x, 1, 2, 0)], {x: value})
    np.testing.assert_allclose(got, np.trace(value, 1, 2, 0))


def test_nothing_is_written_through_the_view():
    x = pt.matrix("x")
    value = np.ones((2, 2))
    f = rw.function([x], [pt.exp(pt.diagonal(x)) * 2, pt.diagonal(x + 1)[:1].set(5.0)])
    np.testing.assert_allclose(f(value)[0], np.full(2, 2 * np.e))
    np.testing.assert_array_equal(f(value)[1], [5.0, 2.0])
    np.testing.assert_array_equal(value, np.ones((2, 2)))


def test_errors():
    with pytest.raises(NDimError, match="at least two dimensions"):
        pt.diagonal(pt.vector("v"))
    with pytest.raises(AxisError, match="both axes are 1"):
        pt.diagonal(pt.matrix("m"), 0, 1, -1)
    with pytest.raises(NDimError, match="a vector or a matrix"):
        pt.diag(pt.tensor3("t"))
