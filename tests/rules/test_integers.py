"""Rules that turn a sign around do so in floats: integers would wrap around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError
from rewrite_engine.tensor.elemwise import Elemwise

FORMS: dict[str, Callable[[Any], Any]] = {
    "1 + erf": lambda x: 1 + pt.erf(x),
    "log1p(erf)": lambda x: pt.log1p(pt.erf(x)),
    "log1p(-erf)": lambda x: pt.log1p(-pt.erf(x)),
    "log(1 + erf)": lambda x: pt.log(1 + pt.erf(x)),
    "log(erfc)": lambda x: pt.log(pt.erfc(x)),
    "2 - erfc": lambda x: 2 - pt.erfc(x),
    "1 / (1 + exp)": lambda x: 1 / (1 + pt.exp(x)),
    "exp / (1 + exp)": lambda x: pt.exp(x) / (1 + pt.exp(x)),
    "1 - sigmoid": lambda x: 1 - pt.sigmoid(x),
    "log(1 - sigmoid)": lambda x: pt.log(1 - pt.sigmoid(x)),
    "log1p(-sigmoid)": lambda x: pt.log1p(-pt.sigmoid(x)),
    "sigmoid * (1 - sigmoid)": lambda x: pt.sigmoid(x) * (1 - pt.sigmoid(x)),
    "sigmoid / exp": lambda x: pt.sigmoid(x) / pt.exp(x),
    "1 / exp": lambda x: 1 / pt.exp(x),
    "log(1 - exp)": lambda x: pt.log(1 - pt.exp(x)),
    "log(expm1)": lambda x: pt.log(pt.expm1(x)),
    "log1p(-tanh)": lambda x: pt.log1p(-pt.tanh(x)),
    "softplus - x": lambda x: pt.softplus(x) - x,
    "log(exp - exp)": lambda x: pt.log(pt.exp(x) - pt.exp(x // 2)),
    "x - 2x": lambda x: (x - 2 * x) / 3.0,
}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int64"])
@pytest.mark.parametrize("name", FORMS)
def test_functions_of_integers(name: str, dtype: str) -> None:
    x = pt.tensor("x", dtype=dtype, shape=(None,))
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = np.array(sorted({v for v in (low, -20, -1, 0, 1, 2, 20, high) if v >= low}), dtype)
    term = FORMS[name](x)
    found = rw.function([x], term)(values)
    wanted = rw.function([x], term, mode=rw.Mode("py", optimizer=None))(values)
    assert found.dtype == wanted.dtype
    finite = np.isfinite(wanted)  # elsewhere a rule may have mended it
    np.testing.assert_allclose(found[finite], wanted[finite], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_exponentials_of_integers_and_of_floats(dtype: str) -> None:
    """Exponents are compared with exponents, none with the logarithm of what underflowed."""
    x, n = pt.vector("x"), pt.tensor("n", dtype=dtype, shape=(None,))
    low = np.float64(max(-1000, np.iinfo(dtype).min))
    f = rw.function([x, n], [pt.log(pt.exp(x) - pt.exp(n)), pt.log(pt.exp(x) + pt.exp(n))])
    difference, total = f([low, low + 1], np.array([low, low], dtype))
    assert difference[0] == -np.inf
    if dtype not in ("int8", "int64"):  # exponentials of float16; not all are floats
        np.testing.assert_allclose(difference[1], low + np.log(np.expm1(1)), rtol=1e-3)
        np.testing.assert_allclose(total, [low + np.log(2), low + np.log1p(np.e)], rtol=1e-3)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32"])
def test_exponentials_of_integers_cancel_whatever_the_float(dtype: str) -> None:
    """exp(n) of a short one is float32: taken together in float64 only in part, it would keep the
    digits of float32.
    """
    n, v = pt.tensor("n", dtype=dtype, shape=(1, 1)), pt.tensor("v", shape=(3, 1))
    w = pt.constant([[1.0], [2.0], [3.0]])
    first = rw.grad((pt.log(v / pt.exp(n)) * w).sum(), v)
    f = rw.function([n, v], rw.grad((first * w).sum(), v))
    at = np.array([[4.7], [4.0], [0.0625]])
    wanted = -(w.data**2) / at**2
    np.testing.assert_allclose(f(np.ones((1, 1), dtype), at), wanted, rtol=1e-15)
    g = rw.function([n], pt.log(pt.exp(n) * pt.exp(n) * pt.exp(n)))
    assert g(np.array([[1]], dtype)).item() == pytest.approx(3.0)
    if dtype != "bool":
        assert g(np.array([[120]], dtype)).item() == pytest.approx(360.0)  # (int8 has no 240)


@pytest.mark.parametrize("power", [lambda n: n**n, lambda n: n**2, pt.sqr])
def test_powers_of_integers_wrap_around(power: Any) -> None:
    """1000 ** 1000 is 0 in 32 bits, and so it stays in a logarithm."""
    n, x = pt.vector("n", dtype="uint32"), pt.dvector("x")
    terms = [pt.log(x * power(n)), pt.log(power(n)), pt.log(pt.exp(x) * power(n) + pt.exp(x))]
    given = np.array([3, 70_000, 2**16], "uint32"), np.array([1.0, 2.0, 3.0])
    plain = rw.function([n, x], terms, mode=rw.Mode(optimizer=None))(*given)
    for found, wanted in zip(rw.function([n, x], terms)(*given), plain, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


#: functions of one operand
UNARY = sorted(
    {op.scalar_op.name: op for op in vars(pt).values() if isinstance(op, Elemwise)
     and op.scalar_op.nin == 1}.items()
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64"])
@pytest.mark.parametrize(("name", "op"), UNARY)
def test_rules_look_at_no_sign_of_what_has_none(name: str, op: Any, dtype: str) -> None:
    """Of operands that only move elements, or fill with one, of any dtype."""
    x = pt.tensor("x", dtype=dtype, shape=(2, 2))
    at = np.array([[0, 1], [1, 1]], dtype)
    moved = [x.T, x[0], pt.second(x, pt.constant(np.array(1, dtype))), pt.switch(x > 0, x, x.T)]
    try:
        terms = [op(v) for v in moved]
        terms = [*terms, *(pt.log1p(t) if t.type.kind in "fiu" else t for t in terms)]
    except DTypeError:
        pytest.skip("is not defined")
    with np.errstate(all="ignore"):
        found = rw.function([x], terms)(at)
        wanted = rw.function([x], terms, mode=rw.Mode("py", optimizer=None))(at)
    for f, w in zip(found, wanted, strict=True):
        assert f.dtype == w.dtype
        np.testing.assert_allclose(f, w, rtol=1e-5, atol=1e-7)
