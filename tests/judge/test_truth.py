"""Exact results of nodes: near to what each op computes in floats, at the samples of all ops."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

import rewrite_engine.tensor as pt
from rewrite_engine.judge import exact, truth, wide
from rewrite_engine.judge.exact import NotKnown
from rewrite_engine.judge.values import REFERENCE
from rewrite_engine.scalar import ScalarType, exp, gt, mul
from rewrite_engine.scalar.composite import Composite
from tests.tensor.test_samples import CASES, apply

#: ops on floats that have no exact meaning
WITHOUT = {
    "QR", "RFFTOp", "IRFFTOp", "LUFactorTridiagonal", "Convolve1d", "Convolve2d", "Unique",
    "EighPair", "QZ", "SVD", "Eig", "Schur", "MatrixPinv", "Lstsq", "SolveLUFactorTridiagonal",
    "SolveSylvester", "SolveDiscreteARE", "CAReduce", "Blockwise", "BinCount",
}  # fmt: skip


def sample(case, dtype="float64"):
    """A node with arrays for its inputs, exact ones, and its computed results."""
    values = case.values(dtype)
    node = apply(case.op, values, True)[1][0].owner
    given = [exact.exact(v) if v.dtype.kind in "fc" else v for v in values]
    return node, values, given, REFERENCE.plain(node, values)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.op}-{c.given}")
def test_results_are_near_to_computed_ones(case):
    node, _, given, found = sample(case)
    try:
        with mp.workdps(50):
            true = truth.results(node, given, found)
    except NotKnown:
        assert case.name in WITHOUT
        return
    for a, t, v in zip(found, true, node.outputs, strict=True):
        t = truth.narrowed(np.asarray(t), v)
        assert t.shape == a.shape
        np.testing.assert_allclose(t, a, rtol=1e-11, atol=1e-11)


@pytest.mark.skipif(not wide.IS_WIDER, reason="the machine has no wider floats")
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.op}-{c.given}")
def test_results_in_wider_floats_are_near_to_exact_ones(case):
    node, values, given, found = sample(case)
    floats = [a.astype(wide.WIDE) if a.dtype.kind == "f" else a for a in values]
    try:
        results = wide.results(node, floats)
    except NotKnown:
        return
    with mp.workdps(50):
        true = truth.results(node, given, found)
    for a, t in zip(results, true, strict=True):
        assert a.dtype in (wide.WIDE, bool) or a.dtype.kind in "iu"
        if a.dtype == wide.WIDE:
            apart = np.abs(wide.widened(np.asarray(t, object)) - a)
            assert (apart <= 1e-17 * (1 + np.abs(a))).all()


def test_conversions_to_wider_floats_and_back():
    with mp.workdps(50):
        numbers = np.array([mpf(1) / 3, mpf(10) ** 18 + 1, mpf("inf"), mpf("nan")], object)
        back = wide.as_exact(wide.widened(numbers))
        assert abs(back[0] * 3 - 1) < mpf(10) ** -19
        assert back[1] == numbers[1]
        assert mp.isinf(back[2])
        assert mp.isnan(back[3])


def test_what_ops_take_is_rounded_to_their_dtype():
    x = pt.fvector("x")
    node = pt.exp(x).owner
    (found,) = truth.taken(node, [np.array([mpf(1) / 3], object)])
    assert found[0] == mpf(float(np.exp(np.float32(1 / 3))))


def test_fused_functions_are_evaluated_step_by_step():
    x, y = ScalarType("float64")(), ScalarType("float64")()
    op = Composite([x, y], [mul(exp(x), y), gt(x, y)])
    with mp.workdps(50):
        given = [np.array([mpf(2)], object), np.array([mpf(3)], object)]
        product, larger = truth.scalar_values(op, ["f", "b"], given)
        assert product[0] == mp.exp(2) * 3
        assert not larger[0]


def test_scaled_exponentials_have_the_factor_of_the_computed_ones():
    x = np.array([1000.0, 999.0])
    node = pt.ScaledExp()(pt.dvector("x")).owner
    found = REFERENCE.plain(node, [x])
    with mp.workdps(50):
        (true,) = truth.results(node, [exact.exact(x)], found)
        assert true[0] == found[0][0]
        assert abs(true[1] / true[0] - mp.exp(-1)) < mpf(10) ** -48
