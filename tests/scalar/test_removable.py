"""Functions with removable singularities: values and derivatives of several orders."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import DTypeError
from rewrite_engine.gradient import grad
from rewrite_engine.scalar.removable import KINDS, Removable, coefficients

MEANS: dict[str, Any] = {
    "sin_by_x": lambda x: mp.sin(x) / x,
    "sinh_by_x": lambda x: mp.sinh(x) / x,
    "tan_by_x": lambda x: mp.tan(x) / x,
    "tanh_by_x": lambda x: mp.tanh(x) / x,
    "arcsin_by_x": lambda x: mp.asin(x) / x,
    "arcsinh_by_x": lambda x: mp.asinh(x) / x,
    "arctan_by_x": lambda x: mp.atan(x) / x,
    "arctanh_by_x": lambda x: mp.atanh(x) / x,
    "log1p_by_x": lambda x: mp.log(1 + x) / x,
    "expm1_by_x": lambda x: (mp.exp(x) - 1) / x,
    "x_by_sin": lambda x: x / mp.sin(x),
    "x_by_sinh": lambda x: x / mp.sinh(x),
    "x_by_tanh": lambda x: x / mp.tanh(x),
    "x_by_expm1": lambda x: x / (mp.exp(x) - 1),
    "exp_rest": lambda x: mp.exp(x) - 1 - x,
    "exp_rest_by_x2": lambda x: (mp.exp(x) - 1 - x) / x**2,
    "sin_rest": lambda x: x - mp.sin(x),
    "sin_rest_by_x3": lambda x: (x - mp.sin(x)) / x**3,
    "log1p_rest": lambda x: x - mp.log(1 + x),
    "tan_rest": lambda x: mp.tan(x) - mp.sin(x),
    "langevin": lambda x: mp.coth(x) - 1 / x,
}
POINTS = [1e-12, 1e-3, 0.05, 0.3, 0.39, 0.45, 0.7, 0.95, 1.3, 1.6, 2.5, 20.0, 300.0, 1e5]
AT = np.array([s * x for x in POINTS for s in (1, -1)])


def derivative(kind: str, order: int, x: float) -> Any:
    """Return a derivative from a polynomial through near points, with many digits."""
    with mp.workdps(300):
        try:
            found = mp.diff(MEANS[kind], mpf(x), order, h=mpf(10) ** -40 * min(1, abs(x)))
        except (ValueError, ZeroDivisionError):
            return None
        return found if isinstance(found, mpf) and mp.isfinite(found) else None


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_values(kind: str, order: int) -> None:
    found = Removable(kind, order).impl(AT)
    tolerance = mpf("1e-12") * 10**order
    for x, value in zip(AT, found, strict=True):
        true = derivative(kind, order, x)
        if true is not None and 1e-290 < abs(true) < 1e300:
            assert abs(mpf(float(value)) - true) <= tolerance * abs(true), (x, value)


@pytest.mark.parametrize("kind", KINDS)
def test_at_zero(kind: str) -> None:
    """The value at 0 is the limit, exactly; so are the derivatives."""
    values = [float(Removable(kind, order).impl(np.array(0.0))) for order in range(3)]
    assert values == [coefficients(kind, order)[0] for order in range(3)]
    with mp.workdps(60):
        limits = [MEANS[kind](mpf(s) / 10**15) for s in (1, -1)]
        limit = (limits[0] + limits[1]) / 2
        assert abs(limit - values[0]) <= 2.0**-53 * abs(limit) + mpf(10) ** -20


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["sin_by_x", "x_by_expm1", "log1p_rest"])
def test_compiled(kind: str, dtype: str) -> None:
    """Value and slope in a function are those of the op."""
    x = pt.vector("x", dtype=dtype)
    y = pt.Elemwise(Removable(kind))(x)
    f = rw.function([x], [y, grad(y.sum(), x)], mode=rw.Mode(linker=config.linker))
    at = AT[np.abs(AT) < 0.9].astype(dtype)
    for found, order in zip(f(at), range(2), strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(
            found, Removable(kind, order).impl(at), rtol=64 * np.finfo(dtype).eps
        )


def test_identity() -> None:
    op = Removable("sin_by_x", 1)
    assert pickle.loads(pickle.dumps(op)) is op
    assert op is not Removable("sin_by_x")
    with pytest.raises(DTypeError):
        op.result_dtypes(("complex128",))
