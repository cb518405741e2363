"""What is read and written at indices natively, beside NumPy; what is out of bounds is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link.native.op import NativeRegion

x = pt.dvector("x")
m = pt.dmatrix("m")
t = pt.dtensor3("t")
i, j = pt.lscalars("i", "j")
k, l = pt.lvectors("k", "l")
kk = pt.lmatrix("kk")
M = np.arange(1.0, 31.0).reshape(5, 6)
T = np.arange(60.0).reshape(3, 4, 5)


def native(inputs: Any, outputs: Any) -> Any:
    """A function all of which is native."""
    f = rw.function(inputs, outputs, mode="native", on_unused_input="ignore")
    assert all(isinstance(node.op, NativeRegion) for node in f.nodes), f.nodes
    return f


@pytest.mark.parametrize("a", [-9, -6, -2, 0, 1, 3, 6, 9])
@pytest.mark.parametrize("b", [-9, -1, 0, 2, 6, 9])
def test_slices_with_computed_ends(a: int, b: int) -> None:
    cuts = [slice(i, j), slice(None, j), slice(i, None, 2), slice(i, j, -1), slice(i, j, -3),
            slice(-2, j, 3), slice(None, None, -2)]  # fmt: skip
    f = native([m, i, j], [pt.exp(m)[:, cut] for cut in cuts])
    real = {id(i): a, id(j): b}
    for got, cut in zip(f(M, a, b), cuts, strict=True):
        ends = [real.get(id(p), p) for p in (cut.start, cut.stop, cut.step)]
        np.testing.assert_allclose(got, np.exp(M)[:, slice(*ends)], rtol=1e-14)


def test_computed_indices() -> None:
    f = native([m, i, j], [pt.exp(m)[i, j], pt.exp(m)[i], pt.exp(m)[:, j].sum()])
    for a, b in [(0, 0), (-1, -6), (4, 5)]:
        wanted = [np.exp(M)[a, b], np.exp(M)[a], np.exp(M)[:, b].sum()]
        for got, want in zip(f(M, a, b), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-14)
    for a, b in [(5, 0), (-6, 0), (0, 6), (0, -7)]:
        with pytest.raises(rw.errors.AxisError):
            f(M, a, b)


def test_an_index_out_of_an_array_of_indices() -> None:
    f = native([x, k], pt.exp(x)[k[1]] * 2)
    np.testing.assert_allclose(f([0.0, 1.0, 2.0], [0, 2]), 2 * np.exp(2.0))
    with pytest.raises(rw.errors.AxisError):
        f([0.0, 1.0], [0])


def test_writing_into_parts() -> None:
    e, y = pt.exp(m), pt.dvector("y")
    f = native([m, y, i], [
        e[i].set(y), e[:, ::2].inc(1), e[1:4, i].set(2), e[::-2, 1:].inc(y[1:]), e[i:].set(k_of(y)),
    ])  # fmt: skip
    values = np.arange(6.0)
    for a in (0, 3, -1):
        wanted = [np.exp(M) for _ in range(5)]
        wanted[0][a] = values
        wanted[1][:, ::2] += 1
        wanted[2][1:4, a] = 2
        wanted[3][::-2, 1:] += values[1:]
        wanted[4][a:] = values.astype("int64")
        for got, want in zip(f(M, values, a), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-14)


def k_of(y: Any) -> Any:
    return pt.cast(y, "int64")


def test_several_arrays_of_indices() -> None:
    f = native([t, k, l, kk], [
        t[k, l], t[:, k, l], t[k, :, l], t[kk, l], t[k, 1:3, l], t[k, 1], t[::-1, k],
        pt.exp(t)[:, :, kk],
    ])  # fmt: skip
    a, b, c = np.array([0, 2, -1]), np.array([1, 3, 0]), np.array([[0, 1, 2], [2, -3, 1]])
    wanted = [T[a, b], T[:, a, b], T[a, :, b], T[c, b], T[a, 1:3, b], T[a, 1], T[::-1, a],
              np.exp(T)[:, :, c]]  # fmt: skip
    for got, want in zip(f(T, a, b, c), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)
    with pytest.raises(rw.errors.AxisError):
        f(T, a, np.array([1, 4, 0]) * 9, c)
    with pytest.raises(rw.errors.RewriteEngineError):
        f(T, a, b[:2], c)


def test_writing_at_several_arrays_of_indices() -> None:
    y = pt.dvector("y")
    f = native([t, k, l, y], [
        t[k, 1, l].inc(y), t[k, 1, l].set(y), t[:, k, l].inc(1.0), t[k].inc(y[:1][None, :, None]),
        t[k, :, l].set(2),
    ])  # fmt: skip
    a, b, v = np.array([0, 0, 2]), np.array([1, 1, 3]), np.array([1.0, 2.0, 3.0])
    wanted = [T.copy() for _ in range(5)]
    np.add.at(wanted[0], (a, 1, b), v)
    wanted[1][a, 1, b] = v
    np.add.at(wanted[2], (slice(None), a, b), 1.0)
    np.add.at(wanted[3], a, v[:1][None, :, None])
    wanted[4][a, :, b] = 2
    for got, want in zip(f(T, a, b, v), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)


def test_a_number_where_a_mask_holds() -> None:
    mask = pt.tensor(dtype="bool", shape=(None, None))
    f = native([m, mask], pt.exp(m)[mask].set(0))
    where = M > 7
    np.testing.assert_allclose(f(M, where), np.where(where, 0, np.exp(M)))
    with pytest.raises(rw.errors.RewriteEngineError):
        f(M, where[:2])


@pytest.mark.parametrize("offset", [-7, -2, 0, 1, 3, 7])
def test_diagonals(offset: int) -> None:
    f = native([m, t], [
        pt.diagonal(pt.exp(m), offset), pt.diagonal(t, offset, 2, 0) * 2,
        pt.diag(m[0], offset),
    ])  # fmt: skip
    wanted = [
        np.diagonal(np.exp(M), offset),
        np.diagonal(T, offset, 2, 0) * 2,
        np.diag(M[0], offset),
    ]
    for got, want in zip(f(M, T), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_arrays_of_a_computed_length(n: int) -> None:
    f = native([i, j], [
        pt.arange(i), pt.arange(i, j, 3) + 1, pt.arange(j, i, -2), pt.eye(i, j, 1), pt.tri(j, i),
        pt.zeros((i, j)), pt.arange(x_of(i).shape[0]),
    ])  # fmt: skip
    wanted = [np.arange(n), np.arange(n, 7, 3) + 1, np.arange(7, n, -2), np.eye(n, 7, 1),
              np.tri(7, n), np.zeros((n, 7)), np.arange(n)]  # fmt: skip
    for got, want in zip(f(n, 7), wanted, strict=True):
        np.testing.assert_array_equal(got, want)
    with pytest.raises(rw.errors.ShapeError):
        f(-1, 7)


def x_of(n: Any) -> Any:
    return pt.ones((n,)) * 2


def test_indices_that_are_computed_here() -> None:
    at = pt.argmax(m[0])
    f = native([m, i], [
        pt.exp(m)[:, at], pt.exp(m)[at - 2, 1:3] * 2, m[i * 2 - 1].sum(), m[:, at].inc(1.0),
        m[at - 1].set(m[0]), m[i + 1, at].set(0.0),
    ])  # fmt: skip
    values = np.where(M == 3, 40.0, M)
    column = 2
    wanted = [np.exp(values)[:, column], np.exp(values)[0, 1:3] * 2, values[1].sum()]
    wanted += [values.copy() for _ in range(3)]
    wanted[3][:, column] += 1
    wanted[4][1] = values[0]
    wanted[5][2, column] = 0
    for got, want in zip(f(values, 1), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)
    with pytest.raises(rw.errors.AxisError):
        f(values, 4)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
@pytest.mark.parametrize("columns", [0, 1, 15, 16, 17, 100])
def test_rows_that_are_gathered(columns: int, dtype: str) -> None:
    """Long rows whose elements lie side by side are copied by one call."""
    a, k = pt.matrix("a", dtype=dtype), pt.lvector("k")
    f = rw.function([a, k], [a[k], a[:, ::2][k], a.T[:, k], a[k, :-1]], mode="native")
    values = np.arange(5 * columns).reshape(5, columns).astype(dtype)
    places = np.array([4, 0, -1, -5, 2])
    for given in (values, np.asfortranarray(values), values[::-1], np.repeat(values, 2, 1)[:, ::2]):
        wanted = given[places], given[:, ::2][places], given.T[:, places], given[places, :-1]
        for found, want in zip(f(given, places), wanted, strict=True):
            np.testing.assert_array_equal(found, want)
    with pytest.raises(rw.errors.AxisError):
        f(values, np.array([5]))
