"""Arrays of positions in native code: ranges, identity matrices and triangles, computed in the
loops that read them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link.native import NativeLinker
from tests.link.native.conftest import machine_called
from tests.link.native.test_indexing import native

x = pt.dvector("x")
m = pt.dmatrix("m")
t = pt.dtensor3("t")
k, n = pt.lscalars("k", "n")


@pytest.fixture(params=["host", "sse2"])
def mode(request: Any) -> rw.Mode:
    return rw.Mode(linker=NativeLinker(machine_called(request.param)))


@pytest.mark.parametrize("by", [1, 2, -1, -3])
def test_ranges(by: int, mode: rw.Mode) -> None:
    f = rw.function([k, n], [pt.arange(k, n, by), pt.arange(k, n, by) * 0.5], mode=mode)
    for a, b in ((0, 5), (3, 3), (-7, 30), (30, -7), (5, 100), (100, 5)):
        want = np.arange(a, b, by)
        for got, scaled in zip(f(a, b), (want, want * 0.5), strict=True):
            assert got.dtype == scaled.dtype
            np.testing.assert_array_equal(got, scaled)


def test_a_range_is_not_stored(texts: list[str]) -> None:
    places = pt.arange(x.shape[0])
    f = native([x, k], pt.sum(pt.switch(pt.lt(places * places, k), x, 0.0)))
    assert len(texts) == 1
    assert "store <" not in texts[0]
    for length in (0, 1, 9, 300):
        values = np.linspace(1, 2, length)
        for end in (0, 17, 100000):
            want = values[np.arange(length) ** 2 < end].sum()
            np.testing.assert_allclose(f(values, end), want, rtol=1e-14)


def test_ranges_along_several_axes(mode: rw.Mode) -> None:
    i, j, l = [pt.arange(t.shape[a]) for a in range(3)]
    inside = pt.le(i[:, None, None] + 2 * j[:, None], l)
    outputs = [pt.switch(inside, t, 0.0), (t * i[:, None, None]).sum(), (t * l).sum(axis=2),
               (t.transpose(2, 0, 1) * j).sum(axis=1)]  # fmt: skip
    f = rw.function([t], outputs, mode=mode)
    for shape in ((3, 4, 5), (1, 4, 40), (2, 1, 9), (3, 2, 1), (0, 2, 3), (17, 18, 19)):
        values = np.random.default_rng(0).normal(size=shape)
        a, b, c = np.indices(shape)
        wanted = [np.where(a + 2 * b <= c, values, 0.0), (values * a).sum()]
        wanted += [(values * c).sum(axis=2), (values * b).transpose(2, 0, 1).sum(axis=1)]
        for got, want in zip(f(values), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


def test_a_range_in_other_loops() -> None:
    """Values that calls and other loops read are in memory."""
    places = pt.arange(x.shape[0])
    f = native([x, m], [x[places[::-1]], pt.dot(places * 1.0, x), places[::2] + 1,
                        (m + places).sum(axis=0), places[:, None] - places, pt.cumsum(places),
                        places])  # fmt: skip
    values, matrix = np.linspace(0, 1, 21), np.ones((2, 21))
    where = np.arange(21)
    wanted = [values[::-1], where @ values, where[::2] + 1, (matrix + where).sum(axis=0),
              where[:, None] - where, where.cumsum(), where]  # fmt: skip
    for got, want in zip(f(values, matrix), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "bool"])
@pytest.mark.parametrize("above", [0, 1, -2])
def test_identity_matrices_and_triangles(dtype: str, above: int, mode: rw.Mode) -> None:
    f = rw.function([k, n], [pt.eye(k, n, above, dtype=dtype), pt.tri(k, n, above, dtype=dtype),
                             pt.eye(1, n, above, dtype=dtype)], mode=mode)  # fmt: skip
    for a, b in ((3, 4), (20, 1), (1, 20), (0, 3), (33, 35)):
        wanted = [np.eye(a, b, above, dtype=dtype), np.tri(a, b, above, dtype=dtype),
                  np.eye(1, b, above, dtype=dtype)]  # fmt: skip
        for got, want in zip(f(a, b), wanted, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


def test_an_identity_matrix_is_not_stored(texts: list[str]) -> None:
    f = native([m], (m + pt.eye(m.shape[0], m.shape[1])).max(axis=1))
    assert len(texts) == 1
    values = np.random.default_rng(0).normal(size=(20, 30))
    np.testing.assert_array_equal(f(values), (values + np.eye(20, 30)).max(axis=1))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_truth_values_as_factors(dtype: str, mode: rw.Mode) -> None:
    v, where = pt.vector("v", dtype=dtype), pt.vector("where", dtype="bool")
    f = rw.function(
        [v, where], [(where * v).sum(), pt.mean(where), pt.cast(where, dtype)], mode=mode
    )
    for length in (1, 7, 64, 301):
        values = np.linspace(-1, 2, length).astype(dtype)
        for got, want in zip(
            f(values, values > 0),
            (values[values > 0].sum(), np.mean(values > 0), (values > 0).astype(dtype)),
            strict=True,
        ):
            np.testing.assert_allclose(got, want, rtol=1e-5)
            assert got.dtype == want.dtype
