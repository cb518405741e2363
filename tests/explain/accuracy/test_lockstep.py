"""Exact values next to computed ones: of graphs, loops, and of ops without exact meaning."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.accuracy.computed import Floats
from rewrite_engine.explain.accuracy.lockstep import Lockstep
from rewrite_engine.explain.accuracy.sample import Sampling, everything_wide
from rewrite_engine.judge import wide
from rewrite_engine.loops import until

x = pt.dvector("x")


def run(out, given, digits=50, plan=None, **options):
    """The exact value of a variable, and the evaluation that computed it."""
    given = {v: np.asarray(a) if isinstance(a, list) else a for v, a in given.items()}
    values = Floats().evaluate([out], given)
    lockstep = Lockstep(plan or Sampling(), digits)
    return lockstep.run([out], values, **options)[out].true, lockstep


@pytest.mark.parametrize("digits", [30, 50, 200])
def test_values_have_as_many_digits_as_asked_for(digits):
    (found,), _ = run(pt.exp(x), {x: [0.1]}, digits)
    with mp.workdps(digits + 20):
        assert abs(found / mp.exp(mpf(0.1)) - 1) < mpf(10) ** (2 - digits)


def test_nodes_are_watched_with_both_values():
    seen = []
    out = pt.exp(x) + 1
    values = Floats().evaluate([out], {x: np.array([0.1])})

    def watch(node, inputs, results, path):
        seen.append((str(node.op), results[0].computed.tolist(), float(results[0].true[0]), path))

    Lockstep(Sampling(), 50, watch).run([out], values)
    assert [one[0] for one in seen] == ["exp", "add"]
    assert [one[1][0] == pytest.approx(one[2], rel=1e-15) for one in seen] == [True, True]
    assert {one[3] for one in seen} == {()}


def test_loops_with_sequences_states_and_results():
    total, rows = rw.scan(
        lambda a, s: [s + a, s * a], sequences=[x], outputs_info=[pt.as_tensor(0.1), None],
        return_updates=False,
    )  # fmt: skip
    with mp.workdps(50):
        state = products = mpf(0)
        state += mpf(0.1)
        for a in map(mpf, (0.2, 0.3, 0.7)):
            products += state * a
            state += a
        for out, wanted in ((total[-1], state), (rows.sum(), products)):
            found, lockstep = run(out, {x: [0.2, 0.3, 0.7]})
            assert abs(np.asarray(found).item() - wanted) < mpf(10) ** -45
            assert not lockstep.taken


def test_loops_with_a_condition_run_as_many_steps_as_in_floats():
    """0.1 is added ten times: in floats this is less than 1."""
    path = rw.scan(
        lambda s: (s + 0.1, until(s + 0.1 >= 1)), outputs_info=[pt.as_tensor(0.0)], n_steps=20,
        return_updates=False,
    )  # fmt: skip
    found, lockstep = run(path[-1], {})
    with mp.workdps(50):
        assert abs(np.asarray(found).item() - 11 * mpf(0.1)) < mpf(10) ** -40
    assert sum(lockstep.diverged.values()) == 1


def test_graphs_of_ops_are_entered():
    a = pt.dvector("a")
    op = rw.OpFromGraph([a], [pt.exp(a), a + 1])
    found, lockstep = run(op(x)[0], {x: [0.1]})
    with mp.workdps(50):
        assert abs(found[0] - mp.exp(mpf(0.1))) < mpf(10) ** -45
    assert not lockstep.taken


def test_ops_without_exact_meaning_are_counted():
    out = pt.linalg.svd(pt.as_tensor(np.eye(2)) * x[0], compute_uv=False)
    found, lockstep = run(out, {x: [2.0]})
    assert [float(v) for v in found] == [2, 2]
    ((name, why),) = lockstep.taken
    assert ("SVD" in name, why) == (True, "no exact meaning")


def test_inputs_can_be_moved():
    (found,), _ = run(pt.exp(x), {x: [0.0]}, moved={x: lambda pair: pair.true + mpf(1)})
    assert float(found) == pytest.approx(np.e)


def test_masked_elements_are_not_evaluated():
    out = pt.exp(x)
    plan = Sampling(masks={out: np.array([True, False]), x: np.array([True, False])})
    found, _ = run(out, {x: [0.1, 0.2]}, plan=plan)
    assert float(found[0]) == pytest.approx(np.exp(0.1))
    assert mp.isnan(found[1])


@pytest.mark.skipif(not wide.IS_WIDER, reason="the machine has no wider floats")
def test_wide_nodes_are_evaluated_in_wider_floats():
    out = pt.exp(x).sum()
    found, _ = run(out, {x: [0.1, 0.2]}, plan=everything_wide([out]))
    assert found.dtype == wide.WIDE
    with mp.workdps(30):
        true = mp.exp(mpf(0.1)) + mp.exp(mpf(0.2))
        assert abs(wide.as_exact(np.asarray(found)).item() - true) < mpf(10) ** -17


def test_values_that_are_no_arrays_stay_as_they_are():
    rng = pt.random.RandomStream(1)
    draw = rng.normal(size=2)
    state = draw.owner.inputs[0]
    value = np.random.default_rng(1)
    found, lockstep = run(pt.exp(draw), {state: value})
    assert len(found) == 2
    assert any("normal" in name for name, _ in lockstep.taken)
