"""Arrays as sets, windows, polynomials, correlations: as NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import NDimError, OptionError, ShapeError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.tensor.type import TensorType

NAN = np.nan
PAIRS = [
    ([3, 1, 2, 1], [1, 5, 3]),
    ([3.0, NAN, 1.0], [1.0, NAN]),
    ([], [1.0]),
    ([[1, 2], [2, 7]], [[2, 2]]),
    ([True, False], [True]),
    ([1, 2], []),
]
SETS: dict[str, Callable[..., Any]] = {
    "isin": lambda o, x, y: o.isin(x, y),
    "not in": lambda o, x, y: o.isin(x, y, invert=True),
    "union": lambda o, x, y: o.union1d(x, y),
    "intersection": lambda o, x, y: o.intersect1d(x, y),
    "difference": lambda o, x, y: o.setdiff1d(x, y),
    "exclusive": lambda o, x, y: o.setxor1d(x, y),
    "equal": lambda o, x, y: o.array_equal(x, y),
    "equal to itself": lambda o, x, y: o.array_equal(x, x, equal_nan=True),
}


def variable(a: np.ndarray) -> Any:
    return TensorType(a.dtype.name, (None,) * a.ndim)()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("pair", PAIRS)
def test_sets(name: str, pair: Any) -> None:
    a, b = map(np.array, pair)
    if name != "isin" and "nan" in str(pair) and "e" in name and "equal" not in name:
        a, b = a[a == a], b[b == b]  # NumPy's own functions differ about NaN
    x, y = variable(a), variable(b)
    got = rw.function([x, y], SETS[name](pt, x, y), on_unused_input="ignore")(a, b)
    wanted = np.asarray(SETS[name](np, a, b))
    np.testing.assert_array_equal(got, wanted)
    assert got.dtype == wanted.dtype


def test_shapes_that_differ_are_not_equal() -> None:
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    f = rw.function([x, y], pt.array_equal(x, y))
    assert f(np.ones((2, 3)), np.ones((2, 3)))
    assert not f(np.ones((2, 3)), np.ones((3, 2)))
    assert not f(np.ones((2, 3)), np.ones((2, 2)))
    assert not pt.array_equal(x, pt.dvector()).eval()


@pytest.mark.parametrize("options", [
    {}, {"bins": 3}, {"bins": [-1.0, 0.0, 0.5, 3.0]}, {"bins": 4, "range": (-1.0, 1.0)},
    {"bins": 5, "density": True}, {"bins": 3, "weights": np.arange(6.0)},
])  # fmt: skip
@pytest.mark.parametrize("values", [
    [[0.1, -2.0, 3.0], [0.5, 0.5, -1.0]], [2.0] * 6, [1, 2, 3, 1, 2, 3], [],
])  # fmt: skip
def test_histograms(options: Any, values: Any) -> None:
    a = np.array(values)
    if "weights" in options:
        options = {**options, "weights": options["weights"][: a.size].reshape(a.shape)}
    x = variable(a)
    f = rw.function([x], list(pt.histogram(x, **options)))
    for got, wanted in zip(f(a), np.histogram(a, **options), strict=True):
        np.testing.assert_allclose(got, wanted)
        assert got.dtype == wanted.dtype


@pytest.mark.parametrize("n", [0, 1, 2, 5, 12])
@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning", "kaiser"])
def test_windows(name: str, n: int) -> None:
    more = (8.6,) if name == "kaiser" else ()
    wanted = getattr(np, name)(n, *more)
    length = pt.lscalar("n")
    np.testing.assert_allclose(getattr(pt, name)(n, *more).eval(), wanted, atol=1e-15)
    given = rw.function([length], getattr(pt, name)(length, *more))(n)
    np.testing.assert_allclose(given, wanted, atol=1e-15)


def test_powers_and_polynomials() -> None:
    x, p = np.array([0.5, -2.0, 3.0]), np.array([2.0, 0.0, -1.0, 4.0])
    for options in ({}, {"N": 2}, {"N": 5, "increasing": True}):
        np.testing.assert_allclose(pt.vander(x, **options).eval(), np.vander(x, **options))
    for dtype in ("bool", "int8", "uint64", "int64", "float16", "float32", "complex64"):
        a = np.array([1, 3], dtype)
        got, wanted = pt.vander(a, 3).eval(), np.vander(a, 3)
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype
    np.testing.assert_allclose(pt.polyval(p, x).eval(), np.polyval(p, x))
    verify_grad(
        lambda c, v: pt.polyval(pt.specify_shape(c, 4), v), [p, x], rng=np.random.default_rng(0)
    )
    verify_grad(lambda v: pt.vander(v, 4), [x], rng=np.random.default_rng(0))
    with pytest.raises(ShapeError, match="a vector of known length"):
        pt.polyval(pt.dvector(), x)


def test_correlations() -> None:
    a = np.random.default_rng(0).normal(size=(3, 7))
    a[2] = a[0]
    np.testing.assert_allclose(pt.corrcoef(a).eval(), np.corrcoef(a))
    np.testing.assert_allclose(pt.corrcoef(a[0], a[1]).eval(), np.corrcoef(a[0], a[1]))
    np.testing.assert_allclose(pt.corrcoef(a.T, rowvar=False).eval(), np.corrcoef(a))
    z = a + 1j * a[::-1]
    np.testing.assert_allclose(pt.corrcoef(z).eval(), np.corrcoef(z))


def test_taking_apart() -> None:
    m = pt.dmatrix("m")
    a = np.array([[0.0, 2.0], [3.0, 0.0]])
    np.testing.assert_array_equal(pt.argwhere(m).eval({m: a}), np.argwhere(a))
    np.testing.assert_array_equal(pt.extract(m > 1, m).eval({m: a}), np.extract(a > 1, a))
    parts = pt.unstack(pt.specify_shape(m, (None, 2)), axis=1)
    assert [p.eval({m: a}).tolist() for p in parts] == a.T.tolist()
    assert [i.eval().tolist() for i in pt.diag_indices(3)] == [[0, 1, 2]] * 2
    k = pt.lscalar("k")
    for shape in [(None, 2), (2, 2)]:
        some = pt.tensor("some", dtype="float64", shape=shape)
        f = rw.function([some, k], pt.delete(some, k, axis=0))
        np.testing.assert_array_equal(f(a, 0), np.delete(a, 0, axis=0))
    with pytest.raises(NDimError, match="bins must be a number .not a variable."):
        pt.histogram(m, k)
    with pytest.raises(ShapeError, match="the length along the axis is unknown"):
        pt.unstack(m)
    with pytest.raises(ShapeError, match="a length of 3 is not a multiple of 2"):
        pt.hsplit(np.ones((2, 3)), 2)
    with pytest.raises(ShapeError, match="the lists have different depths"):
        pt.block([[m], m])
    with pytest.raises(NDimError, match="takes vectors"):
        pt.ix_(m)
    with pytest.raises(OptionError, match="return_indices is not supported"):
        pt.intersect1d(m, m, return_indices=True)
    with pytest.raises(ShapeError, match="vectors must have length 3"):
        pt.cross([1.0, 2.0], [3.0, 4.0])
