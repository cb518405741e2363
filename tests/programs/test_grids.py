"""Programs that index, slice and shift: grids, filters, words, polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import verify_grad

RNG = np.random.default_rng(3)


def test_the_game_of_life():
    board = rw.shared(np.zeros((6, 6), "int8"), name="board")
    around = sum(
        pt.roll(pt.roll(board, i, axis=0), j, axis=1)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0)
    )
    alive = pt.eq(around, 3) | (pt.eq(around, 2) & pt.eq(board, 1))
    step = rw.function([], alive.sum(), updates=[(board, pt.cast(alive, "int8"))])
    glider = np.zeros((6, 6), "int8")
    glider[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    board.set_value(glider)
    for _ in range(4):
        assert step() == 5
    np.testing.assert_array_equal(board.get_value(), np.roll(glider, (1, 1), axis=(0, 1)))
    assert board.get_value().dtype == np.int8


def test_a_step_of_the_heat_equation():
    """One explicit step between edges that stay, and how the result depends on the start."""
    u, r = pt.dvector("u"), pt.dscalar("r")
    after = u[1:-1].inc(r * (u[2:] - 2 * u[1:-1] + u[:-2]))
    f = rw.function([u, r], after)
    n = 9
    x = np.linspace(0, 1, n)
    mode = np.sin(np.pi * x)
    factor = 1 - 4 * 0.25 * np.sin(np.pi / (2 * (n - 1))) ** 2
    found = mode
    for _ in range(3):
        found = f(found, 0.25)
    np.testing.assert_allclose(found, factor**3 * mode, rtol=1e-12, atol=1e-16)
    verify_grad(
        lambda a, b: a[1:-1].inc(b * (a[2:] - 2 * a[1:-1] + a[:-2])), [RNG.normal(size=5), 0.3]
    )


def waves(u: Any, before: Any, c: Any) -> Any:
    """One step of the wave equation on a torus."""
    laplacian = sum(pt.roll(u, s, axis=a) for a in (0, 1) for s in (1, -1)) - 4 * u
    return 2 * u - before + c**2 * laplacian


def test_a_step_of_the_wave_equation_keeps_its_energy_going():
    u, before, c = pt.dmatrix("u"), pt.dmatrix("before"), pt.dscalar("c")
    f = rw.function([u, before, c], waves(u, before, c))
    U, B = RNG.normal(size=(4, 5)), RNG.normal(size=(4, 5))
    moved = sum(np.roll(U, s, a) for a in (0, 1) for s in (1, -1))
    np.testing.assert_allclose(f(U, B, 0.5), 2 * U - B + 0.25 * (moved - 4 * U), rtol=1e-12)
    np.testing.assert_allclose(f(f(U, B, 0.5), U, 0.0) - f(U, B, 0.5), f(U, B, 0.5) - U, atol=1e-12)
    verify_grad(waves, [U, B, 0.5])


def correlate(x: Any, w: Any, rows: int, columns: int) -> Any:
    """Every part of x (n, m) of the size of w, times w, added up."""
    n, m = x.shape[0] - rows + 1, x.shape[1] - columns + 1
    return sum(w[i, j] * x[i : i + n, j : j + m] for i in range(rows) for j in range(columns))


def test_a_filter_by_slices():
    x, w = pt.dmatrices("x", "w")
    f = rw.function([x, w], [correlate(x, w, 2, 3), correlate(x, w[::-1, ::-1], 2, 3)])
    X, W = RNG.normal(size=(5, 6)), RNG.normal(size=(2, 3))
    found = f(X, W)
    np.testing.assert_allclose(found[0], scipy.signal.correlate2d(X, W, "valid"), rtol=1e-12)
    np.testing.assert_allclose(found[1], scipy.signal.convolve2d(X, W, "valid"), rtol=1e-12)
    verify_grad(lambda a, b: correlate(a, b, 2, 3), [X, W])


def test_the_largest_of_each_block():
    x = pt.dmatrix("x")
    n, m = x.shape
    blocks = x.reshape((n // 2, 2, m // 2, 2)).max(axis=(1, 3))
    f = rw.function([x], [blocks, rw.grad(blocks.sum(), x)])
    X = np.array([[1.0, 2, 5, 5], [4, 3, 0, 1]])
    value, slope = f(X)
    np.testing.assert_array_equal(value, [[4, 5]])
    np.testing.assert_array_equal(slope, [[0, 0, 0.5, 0.5], [1, 0, 0, 0]])  # what is equal shares


def test_a_polynomial_in_two_ways():
    coefficients, x = pt.dvector("coefficients"), pt.dscalar("x")
    powers = (coefficients * x ** pt.arange(coefficients.shape[0])).sum()
    by_hand = pt.dvector("c")
    nested = pt.zeros(())
    for i in reversed(range(3)):
        nested = nested * x + by_hand[i]
    f = rw.function([coefficients, x], [powers, rw.grad(powers, x)])
    c = np.array([1.0, 0.0, 2.0])
    for at in (3.0, 0.0, -1.5):
        assert f(c, at) == [1 + 2 * at**2, 4 * at]
        assert nested.eval({by_hand: c, x: at}) == 1 + 2 * at**2
    assert f([], 2.0) == [0, 0]


def test_masks():
    x = pt.dmatrix("x")
    positive = x > 0
    f = rw.function(
        [x],
        [
            x[positive].sum(),
            x[positive.nonzero()],
            x[positive].set(0),
            x[~positive].inc(10),
            pt.where(positive, x, np.nan),
            rw.grad((x[positive] ** 2).sum(), x),
        ],
    )
    X = np.array([[1.0, -2.0, 0.0], [-3.0, 4.0, 5.0]])
    total, elements, cut, lifted, marked, slope = f(X)
    assert total == 10
    np.testing.assert_array_equal(elements, [1, 4, 5])
    np.testing.assert_array_equal(cut, np.minimum(X, 0))
    np.testing.assert_array_equal(lifted, np.where(X > 0, X, X + 10))
    np.testing.assert_array_equal(marked, np.where(X > 0, X, np.nan))
    np.testing.assert_array_equal(slope, 2 * np.maximum(X, 0))
    assert f(np.zeros((2, 0)))[0] == 0


def test_indices_as_in_numpy():
    x, i = pt.dtensor3("x"), pt.lvector("i")
    take = [
        lambda a, k: a[..., 0],
        lambda a, k: a[:, None, ::-1, -1],
        lambda a, k: a[1, k],
        lambda a, k: a[k, :, k],
        lambda a, k: a[k, 1:, None],
        lambda a, k: a[k[:, None], k],
    ]
    X, K = RNG.normal(size=(3, 4, 3)), np.array([0, -1, 2, 0])
    found = rw.function([x, i], [t(x, i) for t in take])(X, K)
    for value, t in zip(found, take):
        np.testing.assert_array_equal(value, t(X, K))
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 1 with size 4"):
        rw.function([x, i], take[2](x, i))(X, [9])


def test_learning_vectors_of_words():
    """Each text is the sum of its words' vectors; only the rows that were looked up are changed."""
    words, target = pt.lvector("words"), pt.dvector("target")
    table = rw.shared(RNG.normal(size=(6, 3)), name="table")
    start = table.get_value()
    rows = table[words]
    cost = ((rows.sum(axis=0) - target) ** 2).sum()
    slope = rw.grad(cost, rows)
    train = rw.function(
        [words, target], cost, updates=[(table, pt.inc_subtensor(rows, -0.05 * slope))]
    )
    text, wanted = np.array([1, 4, 1]), np.array([1.0, 0.0, -1.0])
    away = start[text].sum(0) - wanted
    np.testing.assert_allclose(train(text, wanted), (away**2).sum(), rtol=1e-12)
    expected = start.copy()
    np.subtract.at(expected, text, 0.05 * 2 * away)  # a word that occurs twice learns twice
    np.testing.assert_allclose(table.get_value(), expected, rtol=1e-12)
    whole = rw.function([words, target], rw.grad(cost, table))(text, wanted)
    away = expected[text].sum(0) - wanted
    np.testing.assert_allclose(whole, np.array([0, 2, 0, 0, 1, 0])[:, None] * 2 * away, rtol=1e-9)


def test_counting_words():
    words = pt.lvector("words")
    counts = pt.zeros((5,), dtype="int64")[words].inc(1)
    f = rw.function([words], [counts, pt.bincount(words, minlength=5), counts.argmax()])
    for found in f([3, 1, 3, 3])[:2]:
        np.testing.assert_array_equal(found, [0, 1, 0, 3, 0])
    assert f([3, 1, 3, 3])[2] == 3


def test_one_hot_and_back():
    k = pt.lvector("k")
    one_hot = pt.eq(k[:, None], pt.arange(4))
    written = pt.set_subtensor(pt.zeros((k.shape[0], 4))[pt.arange(k.shape[0]), k], 1.0)
    f = rw.function([k], [one_hot, written, written.argmax(axis=1)])
    found = f([2, 0, 3])
    np.testing.assert_array_equal(found[0], np.eye(4)[[2, 0, 3]])
    np.testing.assert_array_equal(found[1], np.eye(4)[[2, 0, 3]])
    np.testing.assert_array_equal(found[2], [2, 0, 3])
    assert written.type.shape == (None, 4)
