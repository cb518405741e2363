"""Reductions in native code: maximum and minimum with NaN and zeros, at all lengths around those of
vectors, also for processors with narrow vectors; how many accumulators a loop has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link.native import NativeLinker
from rewrite_engine.link.native.target import Machine
from tests.link.native.conftest import machine_called

LENGTHS = [*range(1, 20), 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 1500]
FLOATS, INTEGERS = ("float64", "float32"), ("int64", "int32", "int8", "uint64", "uint8", "bool")


@pytest.fixture(params=["host", "avx2", "sse2"])
def mode(request: Any) -> rw.Mode:
    if request.param == "avx2" and "+avx2" not in Machine().features.split(","):
        pytest.skip("no such processor")
    return rw.Mode(linker=NativeLinker(machine_called(request.param)))


def extremum(values: Any, least: bool) -> Any:
    """The maximum or minimum, NaN if there is one; -0.0 is less than 0.0."""
    if np.isnan(values).any():
        return np.nan
    order = np.lexsort((~np.signbit(values), values))
    return values[order[0 if least else -1]]


def same_bits(got: Any, want: Any) -> bool:
    return (np.isnan(got) and np.isnan(want)) or (
        got == want and np.signbit(got) == np.signbit(want)
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_extrema_of_special_floats(dtype: str, mode: rw.Mode) -> None:
    x = pt.vector("x", dtype=dtype)
    f = rw.function([x], [pt.max(x), pt.min(x)], mode=mode)
    rng = np.random.default_rng(0)
    zeros = [[0.0], [-0.0], [0.0, -0.0], [-1.0, -0.0], [-1.0, 0.0, -0.0], [1.0, -0.0, 0.0]]
    ends = [[np.inf], [-np.inf], [np.inf, -np.inf], [-np.inf, -0.0], [np.inf, 0.0]]
    for n in LENGTHS:
        for chosen in (*zeros, *ends, [-3.0, -2.0], [2.0, 3.0], rng.normal(size=9)):
            values = rng.choice(np.array(chosen, dtype), n)
            for got, least in zip(f(values), (False, True), strict=True):
                assert got.dtype == dtype
                assert same_bits(got, extremum(values, least)), (values, got)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("dtype", FLOATS)
def test_any_nan_is_the_extremum(dtype: str, sign: float, mode: rw.Mode) -> None:
    x, m = pt.vector("x", dtype=dtype), pt.matrix("m", dtype=dtype)
    f = rw.function([x, m], [pt.max(x), pt.min(x), pt.max(m, axis=1), pt.min(m, axis=0)], mode=mode)
    for n in (1, 7, 33, 129):
        for k in range(n):
            values = np.linspace(-3, 3, n).astype(dtype)
            values[k] = np.copysign(np.nan, sign)
            most, least, rows, columns = f(values, np.stack([values, np.ones(n, dtype)]))
            np.testing.assert_array_equal([most, least, *rows], [np.nan, np.nan, np.nan, 1.0])
            assert np.flatnonzero(np.isnan(columns)).tolist() == [k]


FUSED: dict[str, Callable[[Any], Any]] = {
    "abs": lambda x: abs(x).max(), "product": lambda x: (x * x[::-1]).max(),
    "both": lambda x: x.max() - x.min(), "with a sum": lambda x: x.sum() * x.max(),
    "function": lambda x: (abs(x) + 1).max() * (x * 2).min(),
}  # fmt: skip


@pytest.mark.parametrize("name", FUSED)
@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "int32"])
def test_reductions_of_formulas(dtype: str, name: str, mode: rw.Mode) -> None:
    x = pt.vector("x", dtype=dtype)
    f = rw.function([x], FUSED[name](x), mode=mode)
    for n in LENGTHS:
        values = (np.random.default_rng(n).normal(size=n) * 9).astype(dtype)
        np.testing.assert_allclose(f(values), FUSED[name](values), rtol=1e-5)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2)])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_extrema_along_axes(dtype: str, axis: Any, mode: rw.Mode) -> None:
    x = pt.tensor3("x", dtype=dtype)
    f = rw.function([x], [pt.max(x, axis), pt.min(x, axis), pt.max(x.T, axis)], mode=mode)
    for shape in ((2, 3, 5), (3, 1, 70), (70, 2, 3), (2, 40, 2)):
        values = (np.random.default_rng(1).normal(size=shape) * 50).astype(dtype)
        for got, want in zip(
            f(values), (values.max(axis), values.min(axis), values.T.max(axis)), strict=True
        ):
            np.testing.assert_array_equal(got, want)
            assert got.dtype == want.dtype
    for empty in ((0, 2, 3), (2, 0, 3), (2, 3, 0)):
        if axis is None or 0 in [empty[a] for a in np.atleast_1d(axis)]:
            with pytest.raises(rw.errors.ShapeError):
                f(np.zeros(empty, dtype))


@pytest.mark.parametrize("n", [5, 17, 20, 40, 70])
def test_lengths_that_are_known(n: int, mode: rw.Mode) -> None:
    x, m = pt.tensor("x", dtype="float64", shape=(n,)), pt.tensor("m", shape=(3, n), dtype="int16")
    outputs = [pt.max(x), pt.sum(x), pt.max(pt.exp(x)), pt.min(m, axis=1), pt.sum(pt.exp(x))]
    f = rw.function([x, m], outputs, mode=mode)
    values, whole = np.linspace(-1, 1, n), np.arange(3 * n, dtype="int16").reshape(3, n)
    wanted = [1.0, values.sum(), np.exp(1.0), whole.min(axis=1), np.exp(values).sum()]
    for got, want in zip(f(values, whole), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("dtype", [*FLOATS, "int64"])
@pytest.mark.parametrize("name", ["maximum", "minimum", "add", "mul"])
def test_a_loop_has_several_accumulators(name: str, dtype: str, texts: list[str]) -> None:
    x = pt.vector("x", dtype=dtype)
    reduction = {"maximum": pt.max, "minimum": pt.min, "add": pt.sum, "mul": pt.prod}[name]
    rw.function([x], reduction(x), mode="native")
    text = texts[0]  # (float32 has another for the last conversion)
    width = Machine().width * (2 if dtype == "float32" else 1)
    kind = {"float64": "double", "float32": "float", "int64": "i64"}[dtype]
    kind = "double" if (name, kind) == ("add", "float") else kind
    loops = [block.count(f"phi <{width} x {kind}>") for block in text.split("\nb")]
    marks = 1 if name in ("maximum", "minimum") and dtype != "int64" else 0  # (where NaN is kept)
    if name == "mul" and dtype != "int64":  # (in order)
        assert max(loops) == 0
        return
    assert max(loops) == 4 + marks
    vectors = f"@llvm.{name}.v{width}"
    assert vectors not in text  # it would be several instructions for each vector


def test_a_maximum_needs_no_parts(texts: list[str]) -> None:
    """Parts are for what rounding loses; blocks for what may be in any order."""
    x = pt.dvector("x")
    for reduction, ends in ((pt.max, 1), (pt.prod, 0), (pt.sum, 2)):
        texts.clear()
        rw.function([x], reduction(x), mode="native")
        assert texts[0].count("call i64 @llvm.smin.i64") == ends


def test_float32_is_not_widened_for_a_maximum(texts: list[str]) -> None:
    x = pt.fvector("x")
    rw.function([x], pt.max(x), mode="native")
    assert "double" not in texts[0]


def test_products_are_computed_in_order() -> None:
    """A product of some elements may overflow where that of all does not."""
    x, m = pt.dvector("x"), pt.dmatrix("m")
    f = rw.function([x, m], [x.prod(), m.prod(axis=1), (x * 2).prod()], mode="native")
    for n in LENGTHS:
        values = np.array([1e200, 1e-200] * n)[:n]
        rows = np.array([values, values[::-1]])
        found = f(values, rows)
        assert found[0] == np.cumprod(values)[-1]
        np.testing.assert_array_equal(found[1], np.cumprod(rows, axis=1)[:, -1])
        np.testing.assert_allclose(found[2], np.cumprod(values * 2)[-1], rtol=1e-12)
