"""Functions with a removable singularity at 0, such as sin(x) / x, or whose terms cancel there,
such as exp(x) - 1 - x; and their derivatives of all orders.

Each is described once, as a quotient or difference of power series (`scalar/series.py`). Near 0 it
is computed by its series at 0, elsewhere by its series at x; so the derivative of an op is the next
one of the family, and all keep their digits. `rules/removable.py` finds such terms.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.scalar.fold import copy_into
from rewrite_engine.scalar.op import ScalarOp

MAX_TERMS = 80  # of a series at 0
NEGLIGIBLE = 1e-19  # a term of a series, compared with the first


class FunctionKind(NamedTuple):
    """A function of `scalar/series.py`. radius: distance from 0 up to which the series at
    0 is used. even: whether f(-x) is f(x). cancels: whether the function itself loses digits near
    0, apart from 0. grows: whether it overflows. range: see `ScalarOp`.
    """

    radius: float
    even: bool = False
    cancels: bool = False
    grows: bool = False
    range: str | None = None


KINDS: dict[str, FunctionKind] = {
    "sin_by_x": FunctionKind(2.0, even=True, range="[-0.2173, 1]"),
    "sinh_by_x": FunctionKind(2.0, even=True, grows=True, range="[1, inf)"),
    "tan_by_x": FunctionKind(0.5, even=True),
    "tanh_by_x": FunctionKind(0.5, even=True, range="[0, 1]"),
    "arcsin_by_x": FunctionKind(0.5, even=True, range="[1, 1.5708]"),
    "arcsinh_by_x": FunctionKind(0.5, even=True, range="[0, 1]"),
    "arctan_by_x": FunctionKind(0.5, even=True, range="[0, 1]"),
    "arctanh_by_x": FunctionKind(0.5, even=True, range="[1, inf)"),
    "log1p_by_x": FunctionKind(0.4, range="[0, inf)"),
    "expm1_by_x": FunctionKind(1.5, grows=True, range="[0, inf)"),
    "x_by_sin": FunctionKind(1.0, even=True),
    "x_by_sinh": FunctionKind(1.0, even=True, range="[0, 1]"),
    "x_by_tanh": FunctionKind(1.0, even=True, range="[1, inf)"),
    "x_by_expm1": FunctionKind(1.5, range="[0, inf)"),
    "exp_rest": FunctionKind(1.0, cancels=True, range="[0, inf)"),
    "exp_rest_by_x2": FunctionKind(1.5, cancels=True, grows=True, range="[0, inf)"),
    "sin_rest": FunctionKind(1.0, cancels=True),
    "sin_rest_by_x3": FunctionKind(1.5, even=True, cancels=True),
    "log1p_rest": FunctionKind(0.4, cancels=True, range="[0, inf)"),
    "tan_rest": FunctionKind(0.5, cancels=True),
    "langevin": FunctionKind(1.0, cancels=True, range="[-1, 1]"),
}  # fmt: skip


@cache
def coefficients(kind: str, order: int) -> tuple[float, ...]:
    """Return the series at 0 of a derivative, up to terms that do not matter within the radius."""
    from rewrite_engine.scalar.series import at_zero  # few programs have such functions

    radius = KINDS[kind].radius
    whole = enumerate(at_zero(kind, MAX_TERMS))
    found = [float(c * math.perm(j, order)) for j, c in whole if j >= order]
    sizes = [abs(c) * radius**j for j, c in enumerate(found)]
    most = next(s for s in sizes if s)
    last = max(j for j, s in enumerate(sizes) if s > NEGLIGIBLE * most)
    return tuple(found[: last + 1])


def near(m: Any, x: Any, series: tuple[float, ...]) -> Any:
    """Return a polynomial; only the even, or the odd powers, if the others are missing."""
    first = next(j for j, c in enumerate(series) if c)
    step = 2 if not any(series[first + 1 :: 2]) else 1
    z = m.sqr(x) if step == 2 else x
    parts = series[first::step]
    found: Any = parts[-1]
    for c in reversed(parts[:-1]):
        found = found * z + c
    for _ in range(first // 2):
        found = found * m.sqr(x)
    return found * x if first % 2 else found


def far(m: Any, x: Any, kind: str, order: int) -> Any:
    """Return a derivative away from 0, by the series at x."""
    from rewrite_engine.scalar.series import at_point  # few programs have such functions

    own = KINDS[kind]
    first, value = at_point(m, m.abs(x) if own.even else x, kind, order)
    if order and own.grows:
        value = m.switch(m.isinf(first), first, value)  # not a difference of infinities
    return value * m.sign(x) if own.even and order % 2 else value


class Removable(ScalarOp):
    """A derivative of a function of `KINDS`: `Removable("sin_by_x", 0)` is sin(x) / x, and 1 at
    0.
    """

    __props__ = ("kind", "order")

    def __init__(self, kind: str, order: int = 0) -> None:
        self.kind, self.order = kind, order
        super().__init__(
            kind if not order else f"{kind}_d{order}",
            1,
            grad=(self._slope,),
            compute=self._compute,
            dtypes=_real_dtype,
            inner=float_dtype,
            range=None if order else KINDS[kind].range,
            cost=30,
            formula=self._formula,
        )

    def __reduce__(self) -> Any:
        return Removable, (self.kind, self.order)

    def is_total(self, inputs: Any) -> bool:
        """Return True: every number has a value, or NaN."""
        return True

    def _slope(self, m: Any, g: Any, z: Any, x: Any) -> Any:
        return g * m.lift(Removable(self.kind, self.order + 1))(x)

    def _formula(self, m: Any, x: Any) -> Any:
        series = coefficients(self.kind, self.order)
        if self.order or KINDS[self.kind].cancels:
            close = m.lt(m.abs(x), KINDS[self.kind].radius)
            return m.switch(close, near(m, x, series), far(m, x, self.kind, self.order))
        return m.switch(m.eq(x, 0.0), series[0], far(m, x, self.kind, 0))

    def _compute(self, x: Any, out: Any = None) -> Any:
        x = np.asarray(x)
        with np.errstate(all="ignore"):
            found = self._formula(_ArrayFunctions, x)
        return copy_into(np.asarray(found, x.dtype), out)


def _real_dtype(dtype: str) -> str:
    """Return the dtype of a function of real numbers."""
    found = float_dtype(dtype)
    if found.startswith("complex"):
        raise TypeError("it is defined for real numbers")
    return found


class _ArrayFunctions:
    """The functions of formulas, on arrays."""

    abs, sign, gt, lt, eq, switch = np.abs, np.sign, np.greater, np.less, np.equal, np.where
    isinf = np.isinf
    sqr, sqrt, hypot = np.square, np.sqrt, np.hypot
    exp, expm1, log1p, sin, cos, tan = np.exp, np.expm1, np.log1p, np.sin, np.cos, np.tan
    sinh, cosh, tanh, arcsin = np.sinh, np.cosh, np.tanh, np.arcsin
    arcsinh, arctan, arctanh = np.arcsinh, np.arctan, np.arctanh
