"""Complex numbers: parts, what is made of them, and gradients: the derivative by the real part,
plus i times that by the imaginary part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, NullTypeGradError
from rewrite_engine.gradient import Rop, grad
from rewrite_engine.scalar import ScalarType
from rewrite_engine.scalar.composite import Composite

Z = np.array([1 + 2j, -3 + 0.5j, 0.2 - 1.5j, -0.7 - 0.1j])
W = np.array([0.3, -1.2, 2.0, 0.9])


@pytest.mark.parametrize("name", ["real", "imag", "angle", "conj"])
@pytest.mark.parametrize(
    "dtype", ["complex64", "complex128", "float32", "float64", "int8", "int64"]
)
def test_parts(name: str, dtype: str) -> None:
    x = pt.tensor("x", dtype=dtype, shape=(None,))
    at = Z.astype(dtype) if dtype.startswith("complex") else Z.real.astype(dtype)
    wanted = getattr(np, name)(at)
    out = getattr(pt, name)(x)
    got = rw.function([x], out)(at)
    small = name == "angle" and dtype == "int8"  # NumPy: float16
    np.testing.assert_allclose(got, wanted, rtol=1e-3 if small else 1e-6)
    assert got.dtype == ("float32" if small else wanted.dtype)
    assert out.type.is_valid_value(got)
    assert pt.conjugate is pt.conj


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("float64", "float64", "complex128"), ("float32", "float32", "complex64"),
        ("float32", "int64", "complex128"), ("int8", "bool", "complex64"),
    ],
)  # fmt: skip
def test_numbers_put_together(first: str, second: str, wanted: str) -> None:
    x, y = pt.tensor(dtype=first, shape=(None,)), pt.tensor(dtype=second, shape=(None,))
    a, b = np.array([1, 0, 3]).astype(first), np.array([1, 1, 0]).astype(second)
    f = rw.function([x, y], [pt.complex(x, y), pt.complex_from_polar(x, y)])
    made, polar = f(a, b)
    assert made.dtype == polar.dtype == wanted
    np.testing.assert_array_equal(made, a + 1j * b)
    np.testing.assert_allclose(polar, a * np.exp(1j * b), rtol=1e-6)
    with pytest.raises(DTypeError, match="complex"):
        pt.complex(x, pt.zvector())


def differences(cost: Any, at: Any) -> Any:
    """By the real part, plus i times that by the imaginary part."""
    found = np.zeros_like(at)
    for i in range(at.size):
        for unit in (1, 1j) if at.dtype.kind == "c" else (1,):
            step = np.zeros_like(at)
            step[i] = 1e-6 * unit
            found[i] += unit * (cost(at + step) - cost(at - step)) / 2e-6
    return found


HOLOMORPHIC = [
    pt.exp, pt.log, pt.sqrt, pt.sqr, pt.reciprocal, pt.neg, pt.sin, pt.cos, pt.tan, pt.sinh,
    pt.cosh, pt.tanh, pt.arcsin, pt.arctan, pt.arcsinh, pt.expm1, pt.log1p,
]  # fmt: skip
MIXED = [
    lambda z: z * z, lambda z: z / (z + 3), lambda z: z - 2 * pt.conj(z), lambda z: z**3,
    lambda z: pt.real(z) * z, lambda z: pt.abs(z) + 1j * pt.angle(z), lambda z: pt.imag(z) * 1j,
    lambda z: pt.complex(pt.imag(z), pt.real(z)), lambda z: pt.switch(pt.real(z) > 0, z, 1j * z),
    lambda z: pt.complex_from_polar(pt.abs(z), pt.angle(z)),
    lambda z: z * W + pt.cast(W, "complex128"),
]  # fmt: skip


M = pt.constant(np.array([[1j, 2, 0.5, 1], [1, -1j, 2, 0.3]]))
PRODUCTS = [
    lambda z: pt.dot(M, z), lambda z: pt.dot(z, z)[None], lambda z: pt.dot(z, M.T),
    lambda z: pt.dot(pt.outer(z, z), M.T).sum(0), lambda z: pt.prod(z)[None], pt.cumprod, pt.cumsum,
    lambda z: M @ z, lambda z: (M[None] @ z.reshape((1, 4, 1)))[0, :, 0],
]  # fmt: skip


@pytest.mark.parametrize("fn", PRODUCTS)
def test_gradients_of_products_of_complex_numbers(fn: Any) -> None:
    z, x = pt.zvector("z"), pt.dvector("x")
    for v, at in ((z, Z), (x, W)):
        out = fn(v + 0.5 * v**2)
        cost = pt.real(out).sum() + pt.sqr(pt.imag(out)).sum()
        g = rw.function([v], grad(cost, v))(at)
        np.testing.assert_allclose(g, differences(rw.function([v], cost), at), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", HOLOMORPHIC + MIXED)
def test_gradients_of_complex_numbers(fn: Any) -> None:
    z = pt.zvector("z")
    out = fn(z)
    cost = (W * pt.real(out)).sum() + (pt.sqr(pt.imag(out))).sum()
    f, g = rw.function([z], cost), rw.function([z], grad(cost, z))
    np.testing.assert_allclose(g(Z), differences(f, Z), rtol=1e-6, atol=1e-8)
    plain = rw.function([z], grad(cost, z), mode=rw.Mode(optimizer=None))(Z)
    np.testing.assert_allclose(plain, g(Z), rtol=1e-12)
    v = np.array([1j, 0.3, -1 + 1j, 2.0])
    pushed = rw.function([z], Rop(out, z, pt.constant(v)))(Z)
    values = rw.function([z], out)
    along = (values(Z + 1e-6 * v) - values(Z - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(pushed, along, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: pt.complex(x, 2 * x), lambda x: pt.complex_from_polar(x, x), lambda x: x * Z,
        lambda x: pt.exp(1j * x), lambda x: pt.cast(x, "complex128") ** 2, lambda x: Z / x,
    ],
)  # fmt: skip
def test_gradients_of_real_numbers_through_complex_ones(fn: Any) -> None:
    x = pt.dvector("x")
    out = fn(x)
    cost = (W * pt.real(out)).sum() + pt.sqr(pt.imag(out)).sum() + pt.abs(out).sum()
    f, g = rw.function([x], cost), rw.function([x], grad(cost, x))
    assert grad(cost, x).dtype == "float64"
    np.testing.assert_allclose(g(W), differences(f, W), rtol=1e-6, atol=1e-8)
    pushed = rw.function([x], Rop(out, x, pt.ones_like(x)))(W)
    values = rw.function([x], out)
    np.testing.assert_allclose(pushed, (values(W + 1e-6) - values(W - 1e-6)) / 2e-6, rtol=1e-6)


def test_steps_of_complex_numbers_have_no_gradient() -> None:
    z = pt.zvector("z")
    with pytest.raises(NullTypeGradError, match="step function has no gradient for complex"):
        grad(pt.real(pt.sign(z)).sum(), z)


def test_composites_of_complex_numbers() -> None:
    from rewrite_engine.scalar import ops

    z, x = ScalarType("complex128")("z"), ScalarType("float64")("x")
    op = pt.Elemwise(Composite([z, x], [ops.exp(z) * x]))
    a, b = pt.zvector("a"), pt.dvector("b")
    for given, plain in ((op(a, b), pt.exp(a) * b),):
        costs = [pt.real(v).sum() + pt.sqr(pt.imag(v)).sum() for v in (given, plain)]
        found = rw.function([a, b], [*grad(costs[0], [a, b]), *grad(costs[1], [a, b])])(Z, W)
        np.testing.assert_allclose(found[0], found[2], rtol=1e-12)
        np.testing.assert_allclose(found[1], found[3], rtol=1e-12)
