"""Convolutions in the words of NumPy and SciPy, Fourier transforms in those of NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.signal

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, NDimError, ShapeError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.type import TensorType

C1, C2 = pt.signal.convolve1d, pt.signal.convolve2d
DTYPES = ("float64", "float32", "int64", "int8", "bool", "complex128", "complex64")
MODES = ("full", "valid", "same")
BATCHES = [((), ()), ((3,), ()), ((), (2,)), ((2, 1), (3,)), ((0,), (1,))]


def array(shape: Any, dtype: str, seed: int = 0) -> Any:
    x = np.random.default_rng(seed).integers(-2, 3, shape)
    if dtype.startswith("complex"):
        x = x + 1j * np.roll(x, 1)
    return (x > 0 if dtype == "bool" else x).astype(dtype)


def each(run: Any, a: Any, b: Any, n: int) -> Any:
    """A function of arrays of n dimensions, along the batch."""
    batch = np.broadcast_shapes(a.shape[:-n], b.shape[:-n])
    a, b = [np.broadcast_to(x, (*batch, *x.shape[-n:])) for x in (a, b)]
    found = [run(a[i], b[i]) for i in np.ndindex(batch)]
    return np.reshape(found, (*batch, *found[0].shape)) if found else None


def agree(build: Any, values: Any, wanted: Any, compiled: bool = False) -> None:
    for known, layout in itertools.product((True, False), "CF"):
        given = [np.asarray(x, order=layout) for x in values]
        given = [np.repeat(x, 2, -1)[..., ::2] for x in given] if layout == "F" else given
        shapes = [x.shape if known else [1 if n == 1 else None for n in x.shape] for x in values]
        inputs = [TensorType(x.dtype, s)() for x, s in zip(values, shapes, strict=True)]
        out = build(*inputs)
        found = evaluate([out], dict(zip(inputs, given, strict=True)))
        found += [rw.function(inputs, out)(*given)] if compiled else []
        for got in found:
            assert got.dtype == out.type.dtype
            assert not known or out.type.shape == got.shape
            if wanted is not None:
                assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
                rtol = 1e-4 if got.dtype in ("float32", "complex64") else 1e-11
                np.testing.assert_allclose(got, wanted, rtol, rtol)


# --- convolutions ---------------------------------------------------------------------------------


def of_vectors(a: Any, b: Any, mode: str) -> Any:
    if mode != "same":
        return np.convolve(a, b, mode)
    start = (len(b) - 1) // 2
    return np.convolve(a, b)[start : start + len(a)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_vectors(batch: Any, mode: str) -> None:
    for dtype, (n, k) in itertools.product(DTYPES, [(5, 3), (2, 4), (3, 3), (1, 1), (4, 2)]):
        a, b = array((*batch[0], n), dtype), array((*batch[1], k), dtype, 1)
        wanted = each(lambda a, b: of_vectors(a, b, mode), a, b, 1)
        agree(lambda a, b: C1(a, b, mode), [a, b], wanted, dtype == "float32" and n == 5)


def of_matrices(a: Any, b: Any, mode: str, boundary: str, fillvalue: Any) -> Any:
    if a.dtype == bool:
        return of_matrices(a.astype(int), b.astype(int), mode, boundary, fillvalue) > 0
    found = scipy.signal.convolve2d(a, b, "full", boundary, fillvalue)
    if mode == "valid":
        return scipy.signal.convolve(a, b, "valid", "direct")
    if mode == "same":
        (n, m), (k, l) = a.shape, np.subtract(b.shape, 1) // 2
        found = found[k : k + n, l : l + m]
    return found.astype(a.dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("boundary", "fill"), [("fill", 0), ("fill", 2), ("wrap", 0), ("symm", 0)])
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_matrices(batch: Any, boundary: str, fill: int, mode: str) -> None:
    shapes = [((4, 5), (3, 2)), ((2, 2), (2, 2)), ((3, 4), (1, 4)), ((1, 1), (1, 1))]
    for dtype, (n, k) in itertools.product(("float64", "int64", "complex64"), shapes):
        a, b = array((*batch[0], *n), dtype), array((*batch[1], *k), dtype, 1)
        wanted = each(lambda a, b: of_matrices(a, b, mode, boundary, fill), a, b, 2)
        methods = ("auto", "direct", "fft") if boundary == "fill" and not fill else ("auto",)
        for method in methods:
            options = {"boundary": boundary, "fillvalue": fill, "method": method}
            agree(lambda a, b, o=options: C2(a, b, mode, **o), [a, b], wanted, n == (4, 5))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex128"])
def test_dtypes_of_matrices(dtype: str) -> None:
    a, b = array((3, 3), dtype), array((2, 2), dtype, 1)
    for mode in MODES:
        agree(lambda a, b, m=mode: C2(a, b, m), [a, b], of_matrices(a, b, mode, "fill", 0))


def test_dtypes_are_promoted() -> None:
    for ours, ndim in ((C1, 1), (C2, 2)):
        a, b = array((3,) * ndim, "int8"), array((2,) * ndim, "float32")
        assert ours(a, b).eval().dtype == "float32"
        assert ours(array((3,) * ndim, "bool"), a).eval().dtype == "int8"


@pytest.mark.parametrize("batch", BATCHES[:4], ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_gradients_of_convolutions(mode: str, batch: Any) -> None:
    rng = np.random.default_rng(2)
    for n, k in [(4, 2), (2, 3), (1, 1)]:
        at = [rng.normal(size=(*batch[0], n)), rng.normal(size=(*batch[1], k))]
        verify_grad(lambda a, b: C1(a, b, mode), at)
        verify_grad(lambda a, b: grad(pt.sin(C1(a, b, mode)).sum(), b), at)
    at = [rng.normal(size=(*batch[0], 3, 3)), rng.normal(size=(*batch[1], 2, 3))]
    for boundary in ("fill", "wrap", "symm"):
        verify_grad(lambda a, b, e=boundary: C2(a, b, mode, e), at)
    verify_grad(lambda a, b: grad(pt.sin(C2(a, b, mode)).sum(), a), at)


def test_gradients_of_complex_convolutions() -> None:
    rng = np.random.default_rng(2)
    other = rng.normal(size=3) + 1j * rng.normal(size=3)
    for mode in MODES:

        def of(x: Any, y: Any, mode: str = mode) -> Any:
            z = pt.complex(x, y)
            return pt.abs(C1(z, other, mode)) + pt.abs(C1(other, z, mode)).sum()

        verify_grad(of, [rng.normal(size=4), rng.normal(size=4)])


@pytest.mark.parametrize(("error", "what", "build"), [
    (ValueError, "mode is", lambda: C1([1], [1], "some")),
    (ValueError, "mode is", lambda: C2([[1]], [[1]], "some")),
    (ValueError, "boundary must be", lambda: C2([[1]], [[1]], boundary="none")),
    (ValueError, "method is", lambda: C2([[1]], [[1]], method="none")),
    (NDimError, "takes an array of 1 dimension,", lambda: C1(1, [1])),
    (NDimError, "takes an array of 2 dimensions", lambda: C2([1], [[1]])),
    (NDimError, "takes matrices", lambda: C2([1], [[1]], boundary="wrap")),
    (ShapeError, "with elements", lambda: C1(np.ones(0), [1])),
    (ShapeError, "one array that fits", lambda: C2(np.ones((2, 3)), np.ones((3, 2)), "valid")),
])  # fmt: skip
def test_bad_arguments(error: Any, what: str, build: Any) -> None:
    with pytest.raises(error, match=what):
        build()


@pytest.mark.parametrize("compiled", [False, True])
def test_bad_shapes_when_it_runs(compiled: bool) -> None:
    a, b = pt.matrix("a"), pt.matrix("b")
    x, y = np.ones((2, 3)), np.ones((3, 2))
    for out, what in (
        (C2(a, b, "valid"), "needs one array that fits"),
        (C1(a[:0].sum(0)[:0], b), "elements"),
    ):
        with pytest.raises(ShapeError, match=rf"{what}[\s\S]*test_signal\.py"):
            rw.function([a, b], out, on_unused_input="ignore")(x, y) if compiled else evaluate(
                [out], {a: x, b: y})  # fmt: skip


# --- Fourier transforms ---------------------------------------------------------------------------

FFT = pt.fft
SHAPES = [(1, 5), (3, 4), (2, 1), (2, 3, 4), (2, 2, 5), (1, 2, 3, 4), (0, 4)]
NORMS = {None: "backward", "ortho": "ortho", "no_norm": None}


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_transforms(shape: Any, norm: Any) -> None:
    axes = tuple(range(1, len(shape)))
    for dtype in ("float64", "float32", "int8", "bool"):
        x = array(shape, dtype)
        real = np.float64 if dtype == "int64" else pt.fft.rfft(x).type.numpy_dtype
        there = np.fft.rfftn(x.astype(real), axes=axes, norm="ortho" if norm == "ortho" else None)
        pairs = np.stack([there.real, there.imag], -1).astype(real)
        agree(lambda x: FFT.rfft(x, norm), [x], pairs, dtype == "float32")
        back = np.fft.irfftn(there, shape[1:], axes=axes, norm="forward").astype(real)
        n = int(np.prod(shape[1:]))
        back = back / {None: n, "ortho": np.sqrt(n), "no_norm": 1}[norm]
        agree(lambda p: FFT.irfft(p, norm, is_odd=bool(shape[-1] % 2)), [pairs],
              back.astype(real), dtype == "float32")  # fmt: skip


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES[:6], ids=str)
def test_gradients_of_transforms(shape: Any, norm: Any) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=shape)
    verify_grad(lambda x: FFT.rfft(x, norm), [x])
    verify_grad(lambda x: grad(pt.sin(FFT.rfft(x, norm)).sum(), x), [x])
    pairs, odd = rng.normal(size=(*shape[:-1], shape[-1] // 2 + 1, 2)), bool(shape[-1] % 2)
    verify_grad(lambda p: FFT.irfft(p, norm, odd), [pairs])
    verify_grad(lambda p: grad(pt.sin(FFT.irfft(p, norm, odd)).sum(), p), [pairs])


def test_transforms_along_a_batch() -> None:
    x, many = pt.matrix("x"), pt.tensor3("many")
    (found,) = pt.vectorize_graph([FFT.rfft(x)], {x: many})
    value = array((4, 2, 5), "float64")
    np.testing.assert_allclose(found.eval({many: value})[3], FFT.rfft(value[3]).eval())


@pytest.mark.parametrize(("error", "what", "build"), [
    (ValueError, "norm is", lambda: FFT.rfft([[1.0]], "forward")),
    (ValueError, "norm is", lambda: FFT.irfft([[[1.0, 0]]], "forward", True)),
    (ValueError, "is_odd must be", lambda: FFT.irfft([[[1.0, 0]]], is_odd=3)),
    (NDimError, "rfft: takes 2 dimensions", lambda: FFT.rfft([1.0])),
    (NDimError, "irfft: takes 3 dimensions", lambda: FFT.irfft([[1.0, 2.0]])),
    (DTypeError, "takes real numbers", lambda: FFT.rfft([[1j]])),
    (ShapeError, "do not fit|does not fit", lambda: FFT.irfft(np.ones((2, 3, 3)))),
    (ShapeError, "length 0", lambda: FFT.rfft(np.ones((2, 0))).eval()),
    (ShapeError, "length 0", lambda: FFT.irfft(np.ones((2, 1, 2))).eval()),
])  # fmt: skip
def test_bad_transforms(error: Any, what: str, build: Any) -> None:
    with pytest.raises(error, match=what):
        build()
