"""Functions along axes that are made of others: in the words of NumPy and SciPy, one line a case.

Each at arrays of several dtypes and layouts: values, dtypes, what types know of shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    AxisError,
    AxisTypeError,
    DTypeError,
    ForeignObjectError,
    NDimError,
    ShapeError,
)
from rewrite_engine.gradient import Rop, grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.tensor.type import TensorType

RNG = np.random.default_rng(3)
A = RNG.permutation(24).reshape(2, 3, 4) - 9
REAL = ("float64", "float32", "int8", "uint16")
ALL = (*REAL, "bool", "complex128")
NAN = np.where(A % 5 == 0, np.nan, A)


def norm_of(ord: Any, axis: Any) -> Callable[[Any], Any]:
    """NumPy's norm of the elements along axes as one vector."""

    def of(x: Any) -> Any:
        y = x.astype(float_dtype(x.dtype.name))
        many = range(x.ndim) if axis is None else [a % x.ndim for a in np.atleast_1d(axis)]
        kept = [i for i in range(x.ndim) if i not in many]
        flat = y.transpose(*kept, *many).reshape(*[x.shape[i] for i in kept], -1)
        return np.linalg.norm(flat, ord, axis=-1).astype(np.abs(y).dtype)

    return of


def median_of(axis: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda x: np.asarray(np.median(x, axis, **options))


#: what it is, ours, NumPy's; the dtypes
CASES: list[tuple[str, Any, Any, Any]] = [
    *[
        (f"{f.__name__}{options}", lambda x, f=f, o=options: f(x, **o),
         lambda x, g=g, o=options: np.asarray(g(x, **o)), dtypes)
        for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, -1)},
                        {"axis": (-1, 0), "keepdims": True}, {"axis": ()})
        for f, g, dtypes in (
            (pt.sum, np.sum, ALL), (pt.prod, np.prod, ("float64", "float32", "complex128")),
            (pt.mean, np.mean, ALL), (pt.var, np.var, ALL), (pt.std, np.std, ALL),
            (pt.max, np.max, ALL), (pt.min, np.min, ALL), (pt.any, np.any, ALL),
            (pt.all, np.all, ALL), (pt.logsumexp, scipy.special.logsumexp, ("float64",)))
    ],
    *[
        (f"{f.__name__}{axis}", lambda x, f=f, a=axis: f(x, axis=a),
         lambda x, g=g, a=axis: np.asarray(g(x, axis=a)), dtypes)
        for axis in (None, 1, -1)
        for f, g, dtypes in (
            (pt.ptp, np.ptp, REAL), (pt.argmax, np.argmax, ALL), (pt.argmin, np.argmin, ALL),
            (pt.cumsum, np.cumsum, ALL), (pt.cumprod, np.cumprod, ("float64", "complex128")),
            (pt.sort, np.sort, ALL), (pt.median, np.median, ALL),
            (pt.nanmax, np.nanmax, REAL), (pt.nanmin, np.nanmin, REAL),
            (pt.softmax, scipy.special.softmax, ("float64",)),
            (pt.log_softmax, scipy.special.log_softmax, ("float64",)))
    ],
    ("ptp of two", lambda x: pt.ptp(x, (0, 2)), lambda x: np.ptp(x, (0, 2)), REAL),
    ("median of two", lambda x: pt.median(x, (0, -1)), median_of((0, -1)), ALL),
    ("median kept", lambda x: pt.median(x, 1, True), median_of(1, keepdims=True), ALL),
    ("median all kept", lambda x: pt.median(x, keepdims=True), median_of(None, keepdims=True), ALL),
    ("median odd", lambda x: pt.median(x[0, :, 1]), lambda x: median_of(None)(x[0, :, 1]), ALL),
    ("stable", lambda x: pt.argsort(x % 3, 1, "stable"),
     lambda x: np.argsort(x % 3, 1, "stable"), REAL),
    ("argsort", lambda x: pt.argsort(x, None), lambda x: np.argsort(x, None), REAL),
    *[
        (f"norm {ord} {axis}", lambda x, o=ord, a=axis: pt.norm(x, o, a), norm_of(ord, axis), ALL)
        for ord in (2, 1, 0, 3, 0.5, np.inf, -np.inf) for axis in (None, 1, (0, -1))
    ],
    ("diff", lambda x: pt.diff(x), lambda x: np.diff(x), ALL),
    ("diff 2", lambda x: pt.diff(x, 2, axis=1), lambda x: np.diff(x, 2, axis=1), ALL),
    ("diff 0", lambda x: pt.diff(x, 0, 0), lambda x: x, ALL),
    ("diff too many", lambda x: pt.diff(x, 3, 0), lambda x: np.diff(x, 3, axis=0), ALL),
    ("var ddof", lambda x: pt.var(x, 1, ddof=1), lambda x: np.var(x, 1, ddof=1), ALL),
    ("corrected", lambda x: pt.std(x, 1, 1, False, True), lambda x: np.std(x, 1, ddof=1), ALL),
    ("both", lambda x: pt.max_and_argmax(x, (0, 1))[1],
     lambda x: np.argmax(x.reshape(-1, x.shape[-1]), 0), ALL),
    ("topk", lambda x: pt.topk(x, 2), lambda x: -np.sort(-x)[..., :2], ("float64", "int8")),
    ("least", lambda x: pt.topk(x, -2, 1), lambda x: np.sort(x, 1)[:, :2], REAL),
    ("argtopk", lambda x: pt.argtopk(x, 3, None), lambda x: np.argsort(x, None)[:-4:-1], REAL),
    ("average", lambda x: pt.average(x, 1), lambda x: np.average(x, 1), ALL),
    ("weighted", lambda x: pt.average(x, 1, [1, 0.5, 2]),
     lambda x: np.average(x, 1, [1, 0.5, 2]), ("float64", "int8", "complex128")),
    ("weighted by all", lambda x: pt.average(x, (0, 2), A**2, keepdims=True),
     lambda x: np.average(x, (0, 2), A**2, keepdims=True), ("float64", "int8", "bool")),
    ("sum of weights", lambda x: pt.average(x, 1, [1, 0.5, 2], returned=True)[1],
     lambda x: np.average(x, 1, [1, 0.5, 2], returned=True)[1], ("float64", "int8")),
    ("not 0", lambda x: pt.count_nonzero(x % 3, (0, 1)),
     lambda x: np.count_nonzero(x % 3, (0, 1)), REAL),
    ("trapezoids", lambda x: pt.trapezoid(x, dx=0.5, axis=1),
     lambda x: np.trapezoid(x, dx=0.5, axis=1), ("float64", "float32", "int8", "complex128")),
    ("trapezoids at points", lambda x: pt.trapezoid(x, [1.0, 2, 4], axis=1),
     lambda x: np.trapezoid(x, [1.0, 2, 4], axis=1), ("float64", "int8", "complex128")),
    ("trapezoids at arrays", lambda x: pt.trapezoid(x, x**2, axis=0),
     lambda x: np.trapezoid(x, x**2, axis=0), ("float64",)),
    *[
        (f"quantile {method}", lambda x, k=method: pt.quantile(x, [[0.0, 0.3], [0.5, 1]], 1, k),
         lambda x, k=method: np.quantile(x, [[0.0, 0.3], [0.5, 1]], 1, method=k),
         ("float64", "float32", "int8"))
        for method in ("linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull",
                       "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf")
    ],
    ("percentiles", lambda x: pt.percentile(x, [20, 35.5], (0, 2), keepdims=True),
     lambda x: np.percentile(x, [20, 35.5], (0, 2), keepdims=True), ("float64", "int8", "uint16")),
    ("a quantile", lambda x: pt.quantile(x, 0.35), lambda x: np.quantile(x, 0.35), REAL),
    ("digitize", lambda x: pt.digitize(x, [-3, 0, 3, 5]),
     lambda x: np.digitize(x, [-3, 0, 3, 5]), REAL),
    ("falling", lambda x: pt.digitize(x, [5, 3, 0, -3]),
     lambda x: np.digitize(x, [5, 3, 0, -3]), REAL),
    ("falling right", lambda x: pt.digitize(x, x[0, 0][0] * 0 + [5, 3, 0, -3], True),
     lambda x: np.digitize(x, x[0, 0][0] * 0 + [5, 3, 0, -3], True), ("float64",)),
    ("digitize right", lambda x: pt.digitize(x, [-3, 0, 3, 5], right=True),
     lambda x: np.digitize(x, [-3, 0, 3, 5], right=True), REAL),
    ("searched", lambda x: pt.searchsorted(x[0, 0], x, "right", pt.argsort(x[0, 0])),
     lambda x: np.searchsorted(np.sort(x[0, 0]), x, "right"), REAL),
    ("unique", lambda x: pt.unique(x % 5), lambda x: np.unique(x % 5), REAL),
    ("parts", lambda x: pt.unique(x // 30, axis=-1), lambda x: np.unique(x // 30, axis=-1), REAL),
    ("counted", lambda x: pt.bincount(pt.cast(abs(x[0, 0]), "uint8"), minlength=9),
     lambda x: np.bincount(abs(x[0, 0]).astype("uint8"), minlength=9), ("float64", "int8")),
]  # fmt: skip

#: of which the values tell lengths
COUNTS = ("unique", "parts", "counted")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("name", "ours", "theirs", "dtypes"), CASES, ids=[c[0] for c in CASES])
def test_values_dtypes_and_shapes(
    name: str, ours: Any, theirs: Any, dtypes: Any, known: bool
) -> None:
    for dtype in dtypes:
        if dtype == "uint16":
            value = (A + 9).astype(dtype)
        else:
            value = A.astype(dtype) + (0.5j * A[::-1] if dtype == "complex128" else False)
        x = TensorType(value.dtype, value.shape if known else (None,) * 3)()
        out, wanted = ours(x), theirs(value)
        assert out.type.dtype == wanted.dtype, dtype
        assert len(out.type.shape) == wanted.ndim
        for n, m in zip(out.type.shape, wanted.shape, strict=True):
            assert n in (None, m)
        if known and name not in COUNTS:
            assert None not in out.type.shape
        f = rw.function([x], out)
        rtol = 1e-5 if dtype == "float32" or wanted.dtype == "float32" else 1e-10
        for given in (value, np.asarray(value, order="F"), np.repeat(value, 2, -1)[..., ::2]):
            for found in (evaluate([out], {x: given})[0], f(given)):
                np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-12)


# --- what is special: NaN, ties, nothing, numbers ----------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: pt.nansum(x, 1), lambda x: np.nansum(x, 1)),
        (lambda x: pt.nanprod(x, (0, 1)), lambda x: np.nanprod(x, (0, 1))),
        (lambda x: pt.nanmax(x, 0), lambda x: np.nanmax(x, 0)),
        (lambda x: pt.nanmin(x, keepdims=True), lambda x: np.nanmin(x, keepdims=True)),
        (lambda x: pt.nanmean(x, -1), lambda x: np.nanmean(x, -1)),
        (lambda x: pt.nanvar(x, 1), lambda x: np.nanvar(x, 1)),
        (
            lambda x: pt.nanstd(x, (0, 2), 1, True),
            lambda x: np.nanstd(x, (0, 2), None, None, 1, True),
        ),
        (lambda x: pt.nanmedian(x, 1), lambda x: np.nanmedian(x, 1)),
        (lambda x: pt.nanmedian(x, (0, 2), True), lambda x: np.nanmedian(x, (0, 2), keepdims=True)),
        (lambda x: pt.nanargmax(x, 0), lambda x: np.nanargmax(x, 0)),
        (lambda x: pt.nanargmin(x), lambda x: np.nanargmin(x)),
        (lambda x: pt.nancumsum(x, 1), lambda x: np.nancumsum(x, 1)),
        (lambda x: pt.nancumprod(x), lambda x: np.nancumprod(x)),
        (lambda x: pt.quantile(x, [0.2, 0.5], 1), lambda x: np.quantile(x, [0.2, 0.5], 1)),
        (lambda x: pt.median(x, 1), lambda x: np.median(x, 1)),
        (lambda x: pt.sort(x, 0), lambda x: np.sort(x, 0)),
        (lambda x: pt.argsort(x, 0, "stable"), lambda x: np.argsort(x, 0, "stable")),
        (lambda x: pt.max(x, 1), lambda x: np.max(x, 1)),
        (lambda x: pt.argmin(x, 1), lambda x: np.argmin(x, 1)),
        (lambda x: pt.unique(x), lambda x: np.unique(x)),
    ],
)
def test_nan(ours: Any, theirs: Any) -> None:
    x = pt.dtensor3("x")
    np.testing.assert_allclose(rw.function([x], ours(x))(NAN), theirs(NAN))


def test_nothing_but_nan() -> None:
    x = pt.dvector("x")
    outs = [pt.nansum(x), pt.nanprod(x), pt.nanmax(x), pt.nanmin(x), pt.nanmean(x), pt.median(x),
            pt.nanvar(x, ddof=1), pt.nanmedian(x), pt.quantile(x, 0.5)]  # fmt: skip
    found = rw.function([x], outs)([np.nan, np.nan])
    np.testing.assert_array_equal(found, [0, 1, *[np.nan] * 7])


def test_infinite_neighbours() -> None:
    x = pt.dvector("x")
    outs = [pt.median(x), pt.quantile(x, 0.5), pt.quantile(x, [0.25, 0.75, 0.1])]
    f = rw.function([x], outs)
    found = f([-np.inf, -np.inf, 2.0, np.inf, np.inf])
    assert found[0] == found[1] == 2
    np.testing.assert_array_equal(found[2], [-np.inf, np.inf, -np.inf])
    assert f([1.7e308] * 4)[:2] == [1.7e308] * 2
    assert f([np.inf] * 4)[:2] == [np.inf] * 2


def test_gradients_leave_nan_out() -> None:
    x, at = pt.dvector("x"), [2.0, np.nan, 5.0]
    wanted = {pt.nansum: [1, 0, 1], pt.nanprod: [5, 0, 2], pt.nanmax: [0, 0, 1],
              pt.nanmin: [1, 0, 0], pt.nanmean: [0.5, 0, 0.5],
              pt.nanvar: [-1.5, 0, 1.5], pt.nanmedian: [0.5, 0, 0.5]}  # fmt: skip
    for f, slope in wanted.items():
        np.testing.assert_array_equal(rw.function([x], grad(f(x), x))(at), slope)


def test_the_largest_of_equals_come_first() -> None:
    x = pt.dvector("x")
    at = [3.0, 5.0, 1.0, 5.0, np.nan, 1.0]
    f = rw.function([x], [*pt.topk_and_argtopk(x, 3), *pt.topk_and_argtopk(x, -3)])
    for found, wanted in zip(f(at), ([np.nan, 5, 5], [4, 1, 3], [1, 1, 3], [2, 5, 0]), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert pt.argtopk(x, 2, idx_dtype="int32").type.dtype == "int32"
    assert pt.topk(x, 2).type.shape == (2,)


def test_a_number_of_largest_that_is_a_variable() -> None:
    x, k = pt.dmatrix("x"), pt.lscalar("k")
    f = rw.function([x, k], pt.topk(x, k, axis=0))
    np.testing.assert_array_equal(f(A[0], 2), -np.sort(-A[0], 0)[:2])
    with pytest.raises(AxisError):
        f(A[0], 4)


@pytest.mark.parametrize("f", [pt.sum, pt.prod, pt.max, pt.mean, pt.var, pt.argmax, pt.logsumexp])
@pytest.mark.parametrize("axis", [None, 0, -1, (-1,), ()])
def test_numbers_have_a_first_and_a_last_axis(f: Any, axis: Any) -> None:
    s = pt.dscalar("s")
    out = f(s, axis=axis)
    assert out.type.ndim == 0
    wanted = 0 if f in (pt.var, pt.argmax) else 3
    assert rw.function([s], out)(3.0) == wanted
    with pytest.raises(AxisError):
        f(s, axis=1)


def test_nothing_at_all() -> None:
    x = pt.dmatrix("x")
    empty = np.zeros((0, 3))
    cases = [
        (pt.sort(x, 0), empty), (pt.argsort(x), np.zeros((0, 3))), (pt.sort(x, None), np.zeros(0)),
        (pt.unique(x), np.zeros(0)), (pt.diff(x, axis=0), empty), (pt.cumsum(x), np.zeros(0)),
        (pt.median(x, 1), np.zeros(0)), (pt.norm(x, axis=0), np.zeros(3)), (pt.nansum(x), 0),
        (pt.searchsorted(x[:, 0], [1.0, 2.0]), np.zeros(2)),
        (pt.bincount(pt.cast(x[:, 0], "int64"), minlength=2), np.zeros(2)),
        (pt.logsumexp(x, axis=0), np.full(3, -np.inf)),
        *[(f(v, axis), np.full(n, np.nan)) for f in (pt.median, pt.nanmedian)
          for v in (x, pt.cast(x, "int8"), x * 1j) for axis, n in ((0, 3), (None, ()))],
    ]  # fmt: skip
    for out, wanted in cases:
        found = rw.function([x], out)(empty)
        np.testing.assert_array_equal(found, wanted)
        assert found.shape == np.shape(wanted)
    assert np.isnan(pt.median(np.zeros((0, 3)), axis=0).eval()).tolist() == [True] * 3
    assert rw.function([x], grad(pt.median(x), x))(empty).shape == (0, 3)
    for f in (lambda v, axis: pt.quantile(v, 0.5, axis), pt.ptp, pt.max, pt.argmin):
        with pytest.raises(ShapeError):
            f(pt.dmatrix(shape=(0, 3)), axis=0)
        with pytest.raises((ShapeError, AxisError)):
            rw.function([x], f(x, axis=0))(empty)


def test_half_precision() -> None:
    x = pt.tensor("x", dtype="float16", shape=(None,))
    at = np.array([60000, 50000, 1, 65000], "float16")
    for f, theirs in ((pt.median, np.median), (pt.sum, np.sum), (pt.ptp, np.ptp)):
        found = rw.function([x], f(x))(at)
        assert found.dtype == "float16"
        np.testing.assert_allclose(found, theirs(at), rtol=1e-3)


def test_unique_tells_all() -> None:
    x, at = pt.lmatrix("x"), np.array([[3, 1, 3], [1, 1, 3]])
    for axis in (None, 0, 1):
        found = rw.function([x], pt.unique(x, True, True, True, axis))(at)
        for ours, theirs in zip(found, np.unique(at, True, True, True, axis), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "uint64", "bool"])
def test_bincount(dtype: str) -> None:
    x, w = pt.tensor("x", dtype=dtype, shape=(None,)), pt.fvector("w")
    at, weights = np.array([1, 0, 1], dtype), np.array([0.5, 2, 3], "float32")
    outs = [pt.bincount(x), pt.bincount(x, w), pt.bincount(x, minlength=4, assert_nonneg=True),
            pt.bincount(x, pt.cast(w, "int32"))]  # fmt: skip
    assert [v.type.dtype for v in outs] == ["int64", "float32", "int64", "float64"]
    for found, wanted in zip(
        rw.function([x, w], outs)(at, weights),
        ([1, 2], [2, 3.5], [1, 2, 0, 0], [2, 3]),
        strict=True,
    ):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(
        rw.function([x, w], grad((outs[1] ** 2).sum(), w))(at, weights), [7, 4, 7]
    )


@pytest.mark.parametrize("options", [{}, {"left": -7}, {"right": 8.5}, {"period": 4}])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_interp(options: Any, dtype: str) -> None:
    x, xp, fp = pt.dmatrix("x"), pt.tensor(dtype=dtype, shape=(None,)), pt.dvector("fp")
    points, heights = np.array([-1, 1, 2, 5], dtype), np.array([3.0, -1, 4, 2])
    at = np.array([[-9, -1, 0, 1, 1.25], [2, 4.75, 5, 6, np.nan]])
    f = rw.function([x, xp, fp], pt.interp(x, xp, fp, **options))
    np.testing.assert_allclose(f(at, points, heights), np.interp(at, points, heights, **options))
    np.testing.assert_allclose(
        f(at[:1], points[:1], heights[:1]), np.interp(at[:1], points[:1], heights[:1], **options)
    )
    with pytest.raises(ShapeError):
        f(at, points, heights[1:])
    assert pt.interp(pt.fscalar(), pt.fvector(), pt.fvector(), **options).type.dtype == "float32"
    assert pt.interp(pt.lscalar(), pt.lvector(), pt.lvector(), **options).type.dtype == "float64"


@pytest.mark.parametrize(
    "options",
    [
        {}, {"bias": True}, {"ddof": 0}, {"rowvar": False}, {"fweights": [1, 2, 0]},
        {"aweights": [0.5, 2, 1]}, {"fweights": [3, 1, 2], "aweights": [0.5, 2, 1]},
        {"fweights": [3, 1, 2], "ddof": 3}, {"aweights": [0.5, 2, 1], "ddof": 0},
    ],
)  # fmt: skip
def test_covariances(options: Any) -> None:
    x, y, square, line = pt.dmatrix("x"), pt.fmatrix("y"), A[0, :, :3] ** 2 % 17, A[0, :, 1]
    f = rw.function([x, y], [pt.cov(x, **options), pt.cov(x, y, **options)])
    for found, wanted in zip(
        f(square, square.T**2),
        [np.cov(square, **options), np.cov(square, square.T**2, **options)],
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted)
    i = pt.lvector("i")
    found = rw.function([i], [pt.cov(i, **options), pt.cov(i, [3, 2, 2], **options)])(line)
    np.testing.assert_allclose(found[0], np.cov(line, **options))
    np.testing.assert_allclose(found[1], np.cov(line, [3, 2, 2], **options))
    z, turned = pt.zmatrix("z"), square + 1j * square.T
    found = rw.function([z], pt.cov(z, **options))(turned)
    np.testing.assert_allclose(found, np.cov(turned, **options))


@pytest.mark.filterwarnings("ignore")  # NumPy's, of degrees of freedom
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64"])
def test_the_covariance_of_a_number(dtype: str) -> None:
    x, one = pt.scalar("x", dtype=dtype), np.ones((), dtype)
    for ddof in (None, 0):
        found, wanted = rw.function([x], pt.cov(x, ddof=ddof))(one), np.cov(one, ddof=ddof)
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int64"])
def test_dtypes_of_quantiles(dtype: str) -> None:
    x, a = pt.vector("x", dtype=dtype), np.array([1, 5, 2], dtype)
    shares = [0.5, [0.5], np.float32(0.5), np.float32([0.5, 0.25]), np.float64(0.5)]
    for q in [*shares, 1] if "float" in dtype else shares:
        for method in ("linear", "midpoint", "lower"):
            found, wanted = pt.quantile(x, q, method=method), np.quantile(a, q, method=method)
            assert found.type.dtype == wanted.dtype.name, (q, method)
            np.testing.assert_allclose(found.eval({x: a}), wanted)
    given = pt.fscalar("q")
    assert pt.quantile(x, given).dtype == np.quantile(a, np.float32(0.5)).dtype.name
    assert pt.percentile(x, 50).dtype == np.percentile(a, 50).dtype.name


def test_an_axis_that_is_a_variable() -> None:
    x, k = pt.tensor3("x", shape=(2, None, 5)), pt.iscalar("k")
    a = np.random.default_rng(2).permutation(np.arange(30.0)).reshape(2, 3, 5)
    outs = [pt.sort(x, k), pt.argsort(x, k, stable=True), x.sort(axis=k)]
    assert [out.type.shape for out in outs] == [(2, None, 5)] * 3
    f = rw.function([x, k], outs)
    for axis in range(-3, 3):
        wanted = [np.sort(a, axis), np.argsort(a, axis), np.sort(a, axis)]
        for got, want in zip(f(a, axis), wanted, strict=True):
            np.testing.assert_array_equal(got, want)
        given, known = [grad((pt.sort(x, j) * a).sum(), x) for j in (k, axis)]
        np.testing.assert_array_equal(given.eval({x: a, k: axis}), known.eval({x: a}))
    for axis in (3, -4):
        with pytest.raises(AxisError, match="out of range for 3 dimensions"):
            f(a, axis)
    for wrong in (pt.dscalar(), pt.lvector()):
        with pytest.raises(AxisError, match="must be a 0-d integer or None"):
            pt.sort(x, wrong)
    with pytest.raises(AxisError):
        pt.argsort(pt.dscalar(), k)


def test_largest_and_smallest() -> None:
    x, y = pt.dvector("x"), pt.dmatrix("y")
    found = rw.function([x, y], [pt.largest(x, y, 1), pt.smallest(x, y), pt.largest(x)])(
        [0.0, 3.0], [[2.0, 2.0]]
    )
    for got, wanted in zip(found, ([[2, 3]], [[0, 2]], [0, 3]), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("method", "inside", "outside"),
    [
        ("linear", [1, 2, 2.5, 3, 5, 7], [-1, 11]),
        ("nearest", [1, 1, 3, 3, 3, 7], [1, 7]),
        ("first", [1, 1, 1, 1, 3, 3], [1, 7]),
        ("last", [1, 3, 3, 3, 7, 7], [1, 7]),
        ("mean", [2, 2, 2, 2, 5, 5], [2, 5]),
    ],
)
def test_values_between_points(method: str, inside: Any, outside: Any) -> None:
    x, y, at = pt.dvector("x"), pt.dvector("y"), pt.dvector("at")
    f = rw.function([x, y, at], [
        pt.interpolate1d(x, y, method)(at),
        pt.interpolate1d(x, y, method, extrapolate=False)(at),
        pt.interpolate1d(x, y, method, -5, 9, False)(at),
    ])  # fmt: skip
    found = f([0, 1, 2], [1, 3, 7], [0, 0.5, 0.75, 1, 1.5, 2, -1, 3])
    np.testing.assert_allclose(found[0], inside + outside)
    np.testing.assert_allclose(found[1], [1, *inside[1:], 1, 7])
    np.testing.assert_allclose(found[2], [-5, *inside[1:], -5, 9])
    if method == "linear":
        verify_grad(lambda y: pt.interpolate1d([0.0, 1, 2], y)([0.3, 1.5]), [np.array([1.0, 2, 4])])


# --- derivatives -------------------------------------------------------------------------------

SMOOTH: list[tuple[str, Any]] = [
    ("sort", lambda x: pt.sort(x, 0)),
    ("sort all", lambda x: pt.sort(x, None)),
    ("topk", lambda x: pt.topk(x, 2)),
    ("least", lambda x: pt.topk(x, -2, 0)),
    ("median", lambda x: pt.median(x, 1)),
    ("median of all", lambda x: pt.median(x)),
    ("ptp", lambda x: pt.ptp(x, 1)),
    ("quantile", lambda x: pt.quantile(x, [0.1, 0.65], 1)),
    ("quantile of shares", lambda x: pt.quantile(x[0], pt.sqr(x[1]) / 4)),
    ("average", lambda x: pt.average(x, 0, pt.exp(x[:, 0]))),
    ("trapezoid", lambda x: pt.trapezoid(x, x[0], axis=1)),
    ("cov", lambda x: pt.cov(x)),
    ("nanmedian", lambda x: pt.nanmedian(pt.switch(x > 0, x, np.nan), 1)),
    ("diff", lambda x: pt.diff(x, 2, 1)),
    ("cumsum", lambda x: pt.cumsum(x, 1)),
    ("cumprod", lambda x: pt.cumprod(x, 1)),
    ("cumprod of zeros", lambda x: pt.cumprod(pt.set_subtensor(x[0, 1:3], 0), 1)),
    ("logsumexp", lambda x: pt.logsumexp(x, (0, 1))),
    ("var", lambda x: pt.var(x, 0, ddof=1, corrected=True)),
    ("std", lambda x: pt.std(x, 1)),
    ("norm", lambda x: pt.norm(x, 3, 1)),
    ("unique", lambda x: pt.unique(x)),
    ("interp", lambda x: pt.interp(x, [-1.0, 0.25, 1.75], [2.0, -1.0, 0.5])),
    ("interp of points", lambda x: pt.interp([-0.2, 0.3, 9.0], pt.sort(x[0]), x[1])),
    ("periodic", lambda x: pt.interp(x[0], x[1], x[2], period=1.4)),
    ("bincount", lambda x: pt.bincount([1, 0, 1, 3], x[1])),
]


@pytest.mark.parametrize("f", [f for _, f in SMOOTH], ids=[name for name, _ in SMOOTH])
def test_gradients_and_second_derivatives(f: Any) -> None:
    at = np.random.default_rng(5).permutation(np.linspace(-1.3, 1.9, 12)).reshape(3, 4)
    verify_grad(f, [at])
    verify_grad(lambda x: grad(pt.sqr(f(x)).sum(), x), [at])


def test_derivatives_forwards() -> None:
    x, v = pt.dvectors("x", "v")
    at, direction = [3.0, 1.0, 2.0], [1.0, 10.0, 100.0]
    for out, wanted in (
        (pt.sort(x), [10, 100, 1]),
        (pt.unique(x), [10, 100, 1]),
        (pt.median(x), 100),
        (pt.bincount([2, 0, 2], x), [10, 0, 101]),
        (pt.topk(x, 2), [1, 100]),
    ):
        np.testing.assert_array_equal(evaluate([Rop(out, x, v)], {x: at, v: direction})[0], wanted)


def test_equal_elements() -> None:
    """Each element of what is sorted comes from one place; an extremum has it from all that attain
    it; what is equal does not vary.
    """
    x, at = pt.dvector("x"), [2.0, 2.0, 1.0, 2.0]
    for out, wanted in (
        (pt.dot(pt.sort(x), [1.0, 10, 100, 1000]), [10, 100, 1, 1000]),
        (pt.topk(x, 2).sum(), [1, 1, 0, 0]),
        (pt.max(x), [1 / 3, 1 / 3, 0, 1 / 3]),
        (pt.var(x[:2]), [0, 0, 0, 0]),
        (pt.ptp(x[:2]), [0, 0, 0, 0]),
        (pt.norm(0 * x, 1), [0, 0, 0, 0]),
        (pt.median(x), [0.5, 0.5, 0, 0]),
        (pt.nanmedian(x), [0.5, 0.5, 0, 0]),
        (pt.quantile(x, 0.4), [0.8, 0.2, 0, 0]),
    ):
        np.testing.assert_allclose(rw.function([x], grad(out, x))(at), wanted)


@pytest.mark.parametrize("f", [pt.logsumexp, pt.prod, pt.sum, pt.max, pt.median, pt.std])
@pytest.mark.parametrize("keepdims", [False, True])
def test_rows_that_are_left_out_have_no_part_in_derivatives(f: Any, keepdims: bool) -> None:
    """A row without a slope does not count where its result does not."""
    x = pt.dmatrix("x")
    rows = f(x, axis=1, keepdims=keepdims)
    good = pt.sum(x, axis=1, keepdims=keepdims) > 0
    good = pt.cast(good, "float64") if keepdims else good
    at = np.array([[1.0, 3.0], [-np.inf, -np.inf], [np.nan, 0.0], [0.0, 2.0], [0.0, 0.0]])
    slopes = [grad(f(x[k], axis=0), x) for k in (0, 3)]
    first, last = [rw.function([x], g)(np.nan_to_num(at, neginf=0)) for g in slopes]
    for cost in (pt.switch(good, rows, 0), pt.switch(pt.eq(good, 0), 7, rows)):
        for mode in (None, rw.Mode(optimizer=None)):
            found = rw.function([x], grad(cost.sum(), x), mode=mode)(at)
            np.testing.assert_allclose(found, first + last)


def test_positions_have_the_gradient_zero() -> None:
    x, at = pt.dvector("x"), [2.0, 3.0, 1.0]
    for out in (pt.argsort(x), pt.searchsorted([0.0, 2.5], x), pt.argtopk(x, 2), pt.argmax(x),
                pt.unique(x, return_index=True)[1], pt.digitize(x, [0.0, 2.0])):  # fmt: skip
        np.testing.assert_array_equal(rw.function([x], grad(out.sum(), x))(at), [0, 0, 0])


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda x: pt.sort(x, 2), AxisError, "axis 2 is out of range for 2 dimensions"),
        (lambda x: pt.argsort(x, 1.5), AxisError, "axis must be None or an integer, not 1.5"),
        (lambda x: pt.cumsum(x, "a"), AxisError, "axis must be None or an integer, not 'a'"),
        (lambda x: pt.sort(x, kind="bubble"), ValueError, "kind must be one of"),
        (lambda x: pt.argsort(x, order="a"), ValueError, "have no fields"),
        (lambda x: pt.sort(True), ForeignObjectError, "not the Python bool True"),
        (lambda x: pt.topk(x, 0), ShapeError, "not 0"),
        (lambda x: pt.digitize(x, [1, 3, 2]), ValueError, "must rise or fall, not both"),
        (lambda x: pt.topk(x, 4), ShapeError, "at most the 3 elements along axis 1, not 4"),
        (lambda x: pt.topk(x, 1.5), ForeignObjectError, "takes an integer, not 1.5"),
        (lambda x: pt.median(x, (0, 0)), AxisError, "contains a number twice"),
        (lambda x: pt.diff(x, -1), ShapeError, "n must be an integer >= 0, not -1"),
        (lambda x: pt.diff(x[0, 0]), AxisError, "axis -1 is out of range for 0 dimensions"),
        (lambda x: pt.searchsorted(x, 1), ShapeError, "searches a vector, not type"),
        (lambda x: pt.searchsorted(x[0], 1, sorter=[1.5]), DTypeError, "integers or booleans"),
        (lambda x: pt.argsort(x, kind="stable", stable=True), ValueError, "pass only one of them"),
        (lambda x: pt.sum(x, acc_dtype="int32"), DTypeError, "float64 cannot be reduced as int32"),
        (lambda x: pt.sum(x + 1j, dtype="float64"), DTypeError, "complex128 cannot be reduced as"),
        (lambda x: pt.cov(x[None]), NDimError, "cov takes vectors and matrices"),
        (lambda x: pt.interpolate1d(x[0], x[0], "cubic"), ValueError, "method must be one of"),
        (lambda x: pt.searchsorted(x[0], 1, "middle"), ValueError, "'left' or 'right'"),
        (lambda x: pt.unique(x, axis=2), AxisError, "axis 2 is out of range"),
        (lambda x: pt.bincount(x[0]), DTypeError, "must be integers, not float64"),
        (lambda x: pt.bincount([[1]]), NDimError, "takes a vector"),
        (lambda x: pt.bincount([1, 2], x[0]), ShapeError, "BinCount"),
        (lambda x: pt.bincount([-1]).eval(), ShapeError, "BinCount"),
        (lambda x: pt.quantile(x, 1.5), ValueError, "from 0 to 1"),
        (lambda x: pt.quantile(x, 0.5, method="cubic"), ValueError, "method must be one of"),
        (lambda x: pt.average(x, 0, x[0, 0]), NDimError, "average: weights of type"),
        (lambda x: pt.interp(1, x, x), NDimError, "takes vectors of points"),
        (lambda x: pt.ptp(pt.neq(x, 0)), DTypeError, "sub"),
    ],
)
def test_errors(wrong: Any, error: Any, text: str) -> None:
    x = pt.dmatrix("x", shape=(None, 3))
    with pytest.raises(error, match=text):
        wrong(x)


def test_percentiles_beyond_100() -> None:
    with pytest.raises(ValueError, match="percentiles from 0 to 100"):
        pt.percentile(pt.vector(), 101)


@pytest.mark.parametrize("axis", [None, (0,), 0.5])
def test_the_op_of_running_sums_takes_one_axis(axis: Any) -> None:
    """(`cumsum` itself takes None, and flattens.)"""
    with pytest.raises(AxisTypeError, match=r"axis of CumOp must be an integer >= 0, not "):
        pt.CumOp(axis)
