"""Every scalar op: values, gradients, dtypes and static shapes, at samples of the domain that it
declares, against what `references.py` says of it. Names and aliases are where users find them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError
from rewrite_engine.gradient import grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.scalar import ScalarOp, ops
from rewrite_engine.scalar.bounds import Interval
from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.tensor.elemwise import Elemwise
from tests.scalar.references import MEANS

TABLE = [v for v in vars(ops).values() if isinstance(v, ScalarOp)]
REAL = [op for op in TABLE if op.name not in ("complex", "complex_from_polar")]
#: ops on integers alone, and inputs that have to be whole
OF_INTEGERS = {"and_", "or_", "xor", "invert", "left_shift", "right_shift", "bitwise_count"}
OF_INTEGERS |= {"gcd", "lcm"}
WHOLE = {"ldexp": 1, "polygamma": 0}
EVERYWHERE = [-7.3, -2.6, -0.9, -0.3, 0.2, 0.8, 1.7, 6.1]
ABOVE = [0.05, 0.3, 0.9, 1.6, 4.2, 11.0]
BETWEEN = [0.04, 0.2, 0.37, 0.61, 0.83, 0.97]
SMOOTH = [op for op in REAL if op.gradient not in (None, ops._step)]


def points(domain: Interval, k: int) -> list[float]:
    """Numbers in a domain; k: which input they are for (no two get the same)."""
    low, high, *_ = domain
    if domain.limited:
        return [low + (high - low) * (v + 0.003 * k) for v in BETWEEN]
    scale = 1 + 0.07 * k
    if low > -np.inf:
        return [low + v * scale for v in ABOVE]
    return [high - v * scale for v in ABOVE] if high < np.inf else [v * scale for v in EVERYWHERE]


def samples(op: ScalarOp, dtype: str) -> list[Any]:
    """An array per input."""
    count = op.nin or 3
    domains = op.domain if len(op.domain) == count else op.domain * count
    columns = [points(d, k) for k, d in enumerate(domains)]
    if count > 2 or op.cost >= 100:  # not all against all
        columns = [np.roll(c, k) for k, c in enumerate(columns)]
    else:
        columns = [a.ravel() for a in np.meshgrid(*columns)]
    whole = WHOLE.get(op.name)
    return [np.asarray(c).astype("int64" if k == whole else dtype) for k, c in enumerate(columns)]


def applied(op: ScalarOp, dtype: str) -> tuple[Any, list[Any], list[Any]]:
    arrays = samples(op, dtype)
    inputs = [pt.vector(dtype=a.dtype) for a in arrays]
    return getattr(pt, op.name)(*inputs), inputs, arrays


def within(op: ScalarOp, at: Any) -> bool:
    """Whether numbers, which may have been made whole, are inside of the domain."""
    domains = op.domain if len(op.domain) == len(at) else op.domain * len(at)
    return all(
        [
            d.low < x < d.high
            or (x == d.low and not d.open_low)
            or (x == d.high and not d.open_high)
            for d, x in zip(domains, at, strict=True)
        ]
    )


def truth(fn: Any, at: Any) -> Any:
    """A true value, None where it is not real."""
    try:
        found = fn(*[mp.mpf(float(x)) for x in at])
    except (ZeroDivisionError, ValueError):
        return None
    if isinstance(found, mp.mpc):
        return None
    return found if isinstance(found, bool | int) or mp.isfinite(found) else None


def slope(name: str, at: Any, k: int) -> Any:
    """A true partial derivative."""
    mine = [0] * len(at)
    mine[k] = 1
    return truth(lambda *xs: mp.diff(MEANS[name], xs, tuple(mine)), at)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("op", REAL, ids=str)
def test_values(op: ScalarOp, dtype: str) -> None:
    """As accurate as the rounding of the operands, or of the result, leaves them."""
    try:
        out, inputs, arrays = applied(op, dtype)
    except DTypeError:
        assert dtype != "int64"
        assert op.name in OF_INTEGERS
        return
    with np.errstate(all="ignore"):
        (found,) = evaluate([out], dict(zip(inputs, arrays, strict=True)))
    assert out.type.dtype == found.dtype.name
    eps = mp.mpf(float(np.finfo(dtype).eps)) if dtype != "int64" else mp.mpf(2) ** -52
    compared, units = 0, 256 if op.cost >= 100 else 64 if op.cost >= 60 else 16
    least = float(np.finfo(found.dtype).smallest_subnormal) if found.dtype.kind == "f" else 0
    with mp.workdps(40):
        for got, *at in zip(found, *arrays, strict=True):
            wanted = truth(MEANS[op.name], at) if within(op, at) else None
            if wanted is None or (dtype == "int64" and abs(wanted) > 2**62):
                continue
            compared += 1
            if found.dtype.kind in "biu":
                assert got == (wanted if found.dtype.kind == "b" else int(wanted)), at
                continue
            slopes = [slope(op.name, at, k) or 0 for k in range(len(at))]
            spread = mp.fsum([abs(s * x) for s, x in zip(slopes, map(float, at), strict=True)])
            assert abs(float(got) - wanted) <= units * eps * (abs(wanted) + spread) + least, at
    assert compared >= 2 or dtype == "int64"


@pytest.mark.parametrize("op", SMOOTH, ids=str)
def test_gradients(op: ScalarOp) -> None:
    out, inputs, arrays = applied(op, "float64")
    rules = op.gradient if isinstance(op.gradient, tuple) else (None,) * len(inputs)
    wanted = [k for k in range(len(inputs)) if k not in op.free and not hasattr(rules[k], "why")]
    gs = grad(out.sum(), [inputs[k] for k in wanted], disconnected_inputs="ignore")
    with np.errstate(all="ignore"):
        found = evaluate(gs, dict(zip(inputs, arrays, strict=True)))
    compared = 0
    with mp.workdps(40):
        for k, column in zip(wanted, found, strict=True):
            for got, *at in zip(column, *arrays, strict=True):
                true = slope(op.name, at, k)
                if true is not None:
                    compared += 1
                    np.testing.assert_allclose(got, float(true), rtol=1e-9, atol=1e-12)
    assert compared >= 4


@pytest.mark.parametrize("op", TABLE, ids=str)
def test_names_and_shapes(op: ScalarOp) -> None:
    lifted = getattr(pt, "round_half_to_even" if op.name == "round" else op.name)
    assert lifted is Elemwise(op)
    assert all(getattr(pt, alias) is lifted for alias in op.aliases)
    dtype = "int64" if op.name in OF_INTEGERS else "float64"
    shapes = [(None, 3), (1, 1), (None, 1), (3,)][: op.nin or 3]
    xs = [pt.tensor(dtype=a.dtype, shape=s) for a, s in zip(samples(op, dtype), shapes)]
    assert lifted(*xs).type.shape == (None, 3)


@pytest.mark.parametrize("op", TABLE, ids=str)
def test_integers_are_taken_as_floats_where_values_are_floats(op: ScalarOp) -> None:
    if op.inner is not float_dtype:
        return
    for dtype in ("bool", "int8", "uint16", "int64"):
        wide = float_dtype(dtype)
        assert op.result_dtypes((dtype,) * (op.nin or 2)) == op.result_dtypes(
            (wide,) * (op.nin or 2)
        )


def test_every_op_has_a_reference() -> None:
    assert {op.name for op in TABLE} == set(MEANS)
