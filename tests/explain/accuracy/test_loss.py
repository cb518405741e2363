"""Losses of steps: where they are worst, condition numbers against formulas, own rounding."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.accuracy.computed import Floats
from rewrite_engine.explain.accuracy.lockstep import Lockstep
from rewrite_engine.explain.accuracy.loss import Losses, condition, own_share, repaired, strange
from rewrite_engine.explain.accuracy.sample import Sampling

x, y = pt.dvectors("x y")
a, b = pt.dmatrices("a b")


def losses(out, given):
    """The losses of a graph, by the names of ops."""
    values = Floats().evaluate([out], {v: np.asarray(value, float) for v, value in given.items()})
    found = Losses()
    Lockstep(Sampling(), 60, found).run([out], values)
    return {str(one.node.op): one for one in found.ranked()}


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(60):
        yield


def test_a_difference_loses_digits_where_numbers_are_near():
    given = {x: [3.0, 1.0, 2.0], y: [0.1, 1e-10, 0.2]}
    found = losses(pt.exp(y) * x - x, given)
    assert [*found] == ["sub"]
    one = found["sub"]
    assert one.index == (1,)
    assert condition(one) == pytest.approx((np.exp(1e-10) + 1) / np.expm1(1e-10), rel=1e-6)
    assert own_share(one) == 0
    assert one.lost == pytest.approx(10, abs=1.5)
    assert strange(one, 0.0) == ""


def test_sums_that_cancel():
    one = losses((x * 0.1).sum(), {x: [1e9, 1.0, -1e9]})["Sum"]
    assert condition(one) == pytest.approx(2e9, rel=1e-6)


def test_an_element_without_digits_does_not_hide_a_sum_that_cancels():
    """The error of a tiny difference is nothing beside the numbers that are added up."""
    terms = pt.stack([x[0] * 1e8, (x[1] + 1e8) - 1e8, -x[2] * 1e8])
    found = losses(terms.sum(), {x: [1.1, 1e-7, 1.1 + 1e-9]})
    assert "Sum" in found


def test_products_of_vectors():
    one = losses(pt.dot(x, pt.exp(y)), {x: [1.0, -1.0], y: [0.3, 0.3 + 1e-9]})["dot"]
    assert condition(one) == pytest.approx(2e9, rel=1e-5)


def test_products_of_matrices():
    given = {a: [[1.0, -1.0], [1.0, 2.0]], b: [[0.3, 0.5], [0.3 + 1e-9, 0.5]]}
    one = losses(a @ pt.exp(b), given)["dot"]
    assert one.index == (0, 0)
    assert condition(one) == pytest.approx(2e9, rel=1e-5)


def test_what_is_added_at_an_index():
    i = pt.as_tensor([0, 0])
    out = pt.inc_subtensor(pt.zeros(2)[i], pt.exp(x) * [1, -1])
    (one,) = losses(out, {x: [0.3, 0.3 + 1e-9]}).values()
    assert one.index == (0,)
    assert condition(one) == pytest.approx(2e9, rel=1e-5)


def test_matrices_as_a_whole():
    hilbert = np.array([[1 / (i + j + 1) for i in range(8)] for j in range(8)])
    (one,) = losses(pt.linalg.inv(a), {a: hilbert}).values()
    assert one.index is None
    assert condition(one) == pytest.approx(np.linalg.cond(hilbert))
    assert own_share(one) > 0.9


def test_moves_lose_nothing():
    out = pt.concatenate([x[::-1], y]).reshape((2, 2)).T[0]
    assert losses(out, {x: [1.0, 2.0], y: [3.0, 4.0]}) == {}


def test_overflow_of_an_input_and_of_the_step():
    found = losses(pt.log(pt.exp(x)), {x: [1000.0]})
    assert strange(found["log"], own_share(found["log"])) == "exp(x) overflows"
    found = losses(x * 1e300 - y * 1e300, {x: [1e9], y: [1e9 - 1]})
    assert strange(found["sub"], own_share(found["sub"])) == "x * 1e+300 overflows"


def test_underflow():
    found = losses(pt.log(x * 1e-300), {x: [1e-300]})
    assert strange(found["log"], own_share(found["log"])) == "x * 1e-300 underflows"


def test_conversions_to_narrower_floats_lose_digits():
    found = losses(x.astype("float32").astype("float64"), {x: [0.1]})
    assert [*found] == ["Cast{float32}"]
    assert found["Cast{float32}"].lost == pytest.approx(16 - 7.5, abs=1)


def test_float32_graphs_lose_nothing_by_being_float32():
    v = pt.fvector("v")
    values = Floats().evaluate([pt.exp(v)], {v: np.array([0.1], "float32")})
    out = next(w for w in values if w.owner is not None)
    found = Losses()
    Lockstep(Sampling(), 60, found).run([out], values)
    assert found.ranked() == []


def test_exact_results_of_a_step():
    out = x * 0.1
    values = Floats().evaluate([out], {x: np.array([3.0])})
    found = Losses()
    both = Lockstep(Sampling(), 60, found).run([out], values)
    (fixed,) = repaired(out.owner, [both[out]]).values()
    assert fixed == [0.1 * 3]
    assert fixed.dtype == "float64"


def test_steps_of_loops_are_known_with_their_loop():
    out = rw.scan(
        lambda s: (s + 1) - 1, outputs_info=[x[0]], n_steps=3, return_updates=False
    )[-1]  # fmt: skip
    values = Floats().evaluate([out], {x: np.array([1e-9])})
    found = Losses()
    Lockstep(Sampling(), 60, found).run([out], values)
    inside = [one for one in found.ranked() if one.path]
    assert [str(one.node.op) for one in inside] == ["sub"]
    assert inside[0].path[0] in found.holders
