"""Diagonals against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, BroadcastError, DTypeError, NDimError
from rewrite_engine.gradient.verify import evaluate, verify_grad
from rewrite_engine.tensor.blockwise import vectorize_graph

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
    with pytest.raises(AxisError, match="axis1 and axis2 must differ, but both are 1"):
        pt.diagonal(pt.matrix("m"), 0, 1, -1)
    with pytest.raises(NDimError, match="a vector or a matrix"):
        pt.diag(pt.tensor3("t"))


def written(x, y, offset, inc):
    """What is written, element by element."""
    out = np.array(x)
    index = np.arange(np.diagonal(x, offset, -2, -1).shape[-1])
    at = (..., index + max(-offset, 0), index + max(offset, 0))
    out[at] = out[at] + y if inc else y
    return out


@given(shapes, st.integers(-5, 5), st.booleans(), st.booleans())
def test_writing(shape, offset, inc, number):
    x = np.arange(float(np.prod(shape))).reshape(shape)
    y = np.array(7.0) if number else -np.diagonal(x, offset, -2, -1) - 2
    v, w = pt.tensor("v", shape=(None,) * x.ndim), pt.tensor("w", shape=(None,) * y.ndim)
    out = pt.IncDiagonal(offset, not inc)(v, w)
    for mode in ("fast_run", "py"):
        given_x = x.copy()
        got = rw.function([v, w], out, mode=mode if mode != "py" else rw.Mode(linker="py"))
        np.testing.assert_array_equal(got(given_x, y), written(x, y, offset, inc))
        np.testing.assert_array_equal(given_x, x)


@pytest.mark.parametrize("inc", [True, False])
@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_gradients_of_writing(inc, offset):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3, 4))
    write = pt.IncDiagonal(offset, not inc)
    for y in (rng.normal(size=np.diagonal(x, offset, 1, 2).shape[1:]), np.array(0.5)):
        verify_grad(lambda x, y: pt.sin(write(x, y)), [x, y])


def test_writing_of_a_batch():
    rng = np.random.default_rng(0)
    x, y = pt.matrix("x"), pt.vector("y")
    out = pt.IncDiagonal()(x, y)
    one, many = rng.normal(size=(3, 3)), rng.normal(size=(2, 3, 3))
    for a, b in ((many, rng.normal(size=3)), (one, rng.normal(size=(2, 3)))):
        wide = [pt.tensor("v", shape=(None,) * n.ndim) for n in (a, b)]
        batched = vectorize_graph(out, dict(zip((x, y), wide, strict=True)))
        (got,) = evaluate([batched], dict(zip(wide, (a, b), strict=True)))
        np.testing.assert_array_equal(got, written(np.broadcast_to(a, (2, 3, 3)), b, 0, True))


@pytest.mark.on_vm
def test_what_is_written_in_place():
    x, y = pt.matrix("x"), pt.vector("y")
    f = rw.function([x, y], pt.IncDiagonal()(pt.exp(x), y))
    assert [str(node.op) for node in f.fgraph.toposort()] == ["exp", "IncDiagonal{inplace}"]


def test_what_is_added_to_a_diagonal_of_zeros():
    """The term is gone; where lengths differ, there is an error as before."""
    x, y = pt.matrix("x"), pt.vector("y")
    square = x @ x.T
    out = square + pt.IncDiagonal()(pt.zeros_like(square), y)
    f, plain = rw.function([x, y], out), rw.function([x, y], out, mode=rw.Mode(optimizer=None))
    assert not any("second" in str(node.op) for node in f.fgraph.toposort())
    value = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(f(value, [1.0, 2.0]), value @ value.T + np.diag([1.0, 2.0]))
    for g in (f, plain):
        with pytest.raises(BroadcastError, match=r"not broadcast to diagonals of shape \(2,\)"):
            g(value, [1.0])


@pytest.mark.parametrize(("rows", "length"), [((1, 1), (3,)), ((3, 3), ()), ((3, 3), (1,))])
def test_what_is_stretched_is_not_added_to_a_diagonal(rows, length):
    x, y, z = pt.tensor("x", shape=rows), pt.tensor("y", shape=length), pt.matrix("z")
    square = z @ z.T
    out = x + pt.IncDiagonal()(pt.zeros_like(square), y)
    given = np.full(rows, 5.0), np.full(length, 2.0), np.ones((3, 2))
    np.testing.assert_array_equal(rw.function([x, y, z], out)(*given), 5 + 2 * np.eye(3))
    if rows == (3, 3):
        with pytest.raises(BroadcastError):
            rw.function([x, y, z], out)(*given[:2], np.ones((2, 2)))


def test_errors_of_writing():
    with pytest.raises(NDimError, match="at least two dimensions"):
        pt.IncDiagonal()(pt.vector("v"), 1.0)
    with pytest.raises(NDimError, match="by type"):
        pt.IncDiagonal()(pt.matrix("m"), pt.matrix("y"))
    with pytest.raises(BroadcastError, match=r"of shape \(2,\) does not broadcast to diagonals"):
        pt.IncDiagonal()(np.zeros((3, 4)), np.ones(2))
    with pytest.raises(DTypeError, match="complex128 does not fit into float32"):
        pt.IncDiagonal()(np.zeros((2, 2), "float32"), 1j * np.ones(2))
