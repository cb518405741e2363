"""Every op by JAX beside its meaning: at its declared samples, and scalar ops at special values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import UntraceableError
from rewrite_engine.scalar import ops as scalar
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise
from tests.link.reference import link
from tests.tensor.test_samples import CASES, REFUSED, Case, apply

DTYPES = ["float64", "float32", "int8"]
#: ops whose results have lengths that depend on values
DYNAMIC = {"Nonzero", "Unique", "BinCount", "RepeatedPositions"}
#: ops that no graph for JAX contains: rules of a phase that it leaves out make them
INTERNAL = {"Factor", "FactorSolve", "FactorInverse", "FactorSLogDet"}
#: results that are determined up to a sign or a factor, which cancels where they are used
FREE = {"ScaledExp", "QR", "SVD", "Eigh", "EighPair", "Eig", "QZ", "Schur", "AllocEmpty"}


def close(found: Any, wanted: Any, free: bool) -> None:
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        rtol = 1e-5 if want.dtype.itemsize == 4 or want.dtype.name == "complex64" else 1e-12
        if not free:
            np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.op}-{c.given}")
def test_samples(case: Case, dtype: str) -> None:
    """With lengths that no type tells."""
    if dtype in REFUSED.get(case.name, ()) or (not case.arrays and dtype != "float64"):
        return
    if case.name in INTERNAL:
        return
    values = case.values(dtype)
    inputs, outputs = apply(case.op, values, known=False)
    if case.name in DYNAMIC or any(v.type.dtype == "bool" and "Advanced" in case.name
                                   for v in inputs):  # fmt: skip
        with pytest.raises(UntraceableError):
            link(inputs, outputs, linker="jax").call(*values)
        return
    try:
        with np.errstate(all="ignore"):
            wanted = case.wanted(values)
    except np.linalg.LinAlgError:
        with pytest.raises(np.linalg.LinAlgError):
            link(inputs, outputs, linker="jax").call(*values)
        return
    with np.errstate(all="ignore"):
        close(link(inputs, outputs, linker="jax").call(*values), wanted, case.name in FREE)


#: numbers at which functions are compared: ordinary ones of several sizes, and those apart
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 0.3, -0.7, 2.0, 3.0, -2.5, 7.5, 30.0, 1e-9, np.inf, -np.inf,
           np.nan, 1e300, 710.0]  # fmt: skip
ALL = [op for op in vars(scalar).values() if isinstance(op, ScalarOp) and op.listed]


#: where functions are compared, if not everywhere: in their domain; where they have digits in JAX;
#: where SciPy needs no subnormal numbers, which are 0 in JAX
WHERE = {
    "betaln": lambda x: (x >= 0) & (x < 1e30),
    "betainc": lambda x: x < 100,
    "iv": lambda x: x < 700,
    "logdiffexp": lambda x: abs(x - 1e-9) > 1e-12,
}
#: functions of which JAX has fewer digits somewhere
LOOSER = {"gammaincc": 2e-6, "betaln": 1e-12, "betainc": 2e-5}
#: functions with a zero, near which JAX has fewer digits
NEAR_ZERO = {"logaddexp2": 1e-16, "gammaincc": 1e-16}


def numbers_of(dtype: str) -> Any:
    if dtype == "bool":
        return np.array([False, True])
    if np.dtype(dtype).kind in "iu":
        ends = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, 5, 7, *[-1, -2, -5] * (ends.min < 0)], dtype)
    with np.errstate(over="ignore"):
        return np.array(NUMBERS, dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("op", ALL, ids=str)
def test_scalar_ops(op: ScalarOp, dtype: str) -> None:
    """At all pairs of numbers, for two operands."""
    n, values = op.nin or 2, numbers_of(dtype)
    values = values[WHERE[op.name](values)] if op.name in WHERE else values
    if n > 2:
        rng = np.random.default_rng(0)
        given = [rng.choice(values, 200) for _ in range(n)]
    else:
        given = [x.ravel() for x in np.meshgrid(*[values] * n)]
    inputs = [pt.vector(dtype=dtype) for _ in range(n)]
    try:
        outputs = Elemwise(op).make_node(*inputs).outputs
    except TypeError:
        return  # it is not defined for the dtype
    if op.name == "pow" and dtype == "int64":
        given[1] = abs(given[1])  # (NumPy refuses negative exponents)
    with np.errstate(all="ignore"):
        wanted = link(inputs, outputs, linker="py").call(*given)
    found = link(inputs, outputs, linker="jax").call(*given)
    for got, want in zip(found, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        single = want.dtype.name in ("float32", "complex64")
        rtol, atol = (2e-6, 1e-37) if single else (3e-13, 1e-300)
        rtol = max(rtol, LOOSER.get(op.name, 0))
        atol = max(atol, NEAR_ZERO.get(op.name, 0) * (2e8 if single else 1))
        np.testing.assert_allclose(got, want, rtol=2e-3 if want.dtype == "float16" else rtol,
                                   atol=atol)  # fmt: skip
