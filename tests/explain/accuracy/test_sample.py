"""Large arrays: a sample of elements, and 80-bit floats, in little time, with the same answers."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.accuracy.computed import Floats
from rewrite_engine.explain.accuracy.sample import (
    MAX_SAMPLE,
    Sampling,
    collapsed,
    cost,
    parts,
    planned,
    sampled,
    spread,
)
from rewrite_engine.judge import wide

needs_wide = pytest.mark.skipif(not wide.IS_WIDER, reason="the machine has no wider floats")


#: a mode without the rule that computes variances from deviations
BY_SQUARES = rw.Mode("fast_run").excluding("variance_by_squares")


def values_of(outputs, given):
    return Floats().evaluate(outputs, given)


def needed(outputs, given, mask):
    """The elements of inputs that chosen elements of the first output need."""
    values = values_of(outputs, given)
    plan = Sampling(masks={outputs[0]: mask})
    nodes = []
    todo = [outputs[0].owner]
    while todo:
        node = todo.pop()
        nodes.append(node)
        todo += [v.owner for v in node.inputs if v.owner is not None]
    for node in nodes:
        spread(node, values, plan)
    return [plan.masks.get(v) for v in given]


def test_elements_that_are_needed_behind_moves_and_broadcasts():
    x, y = pt.dmatrix("x"), pt.dvector("y")
    out = (x.T[::2] + pt.exp(y))[:, 1]
    given = {x: np.zeros((2, 4)), y: np.zeros(2)}
    mask_x, mask_y = needed([out], given, np.array([False, True]))
    assert np.argwhere(mask_x).tolist() == [[1, 2]]
    assert mask_y.tolist() == [False, True]


def test_sums_need_whole_rows():
    x = pt.dmatrix("x")
    (mask,) = needed([x.sum(axis=1)], {x: np.zeros((2, 3))}, np.array([False, True]))
    assert mask.tolist() == [[False] * 3, [True] * 3]


def test_joined_parts_and_everything():
    x, y = pt.dvector("x"), pt.dvector("y")
    out = pt.concatenate([x, y])
    mask = np.array([False, True, False])
    masks = needed([out], {x: np.zeros(2), y: np.zeros(1)}, mask)
    assert [m.tolist() for m in masks] == [[False, True], [False]]
    (whole,) = needed([pt.cumsum(x)], {x: np.zeros(2)}, np.array([True, False]))
    assert whole is None


def test_masks_of_operands():
    mask = np.array([[True, False], [False, False]])
    assert collapsed(mask, (2,)).tolist() == [True, False]
    assert collapsed(mask, (2, 1)).tolist() == [[True], [False]]
    assert collapsed(mask, ()).tolist() is True


def test_samples_have_the_suspects():
    mask = sampled(np.zeros((100, 50)), [7, 8, 4999])
    assert mask.shape == (100, 50)
    assert mask.ravel()[[7, 8, 4999]].all()
    assert MAX_SAMPLE // 2 < mask.sum() <= MAX_SAMPLE
    assert sampled(np.zeros(MAX_SAMPLE), []) is None


def test_small_graphs_are_evaluated_completely():
    x = pt.dvector("x")
    out = pt.exp(x).sum()
    plan = planned([out], values_of([out], {x: np.zeros(1000)}), {})
    assert (plan.masks, plan.wide) == ({}, set())


def test_costs_grow_with_what_is_evaluated():
    x = pt.dvector("x")
    out = pt.exp(x)
    small, large = [values_of([out], {x: np.zeros(n)}) for n in (10, 10_000)]
    whole = cost(out.owner, large, Sampling())
    assert cost(out.owner, small, Sampling()) < whole
    mask = np.zeros(10_000, bool)
    mask[:5] = True
    assert cost(out.owner, large, Sampling(masks={out: mask})) < whole


def test_sums_of_many_elements_do_not_disturb_samples():
    x = pt.dvector("x")
    outputs = [pt.exp(x) - 1, pt.exp(x).sum()]
    values = values_of(outputs, {x: np.zeros(1_000_000)})
    (large, plan), (small, other) = parts(outputs, values, {})
    assert (large, small) == (outputs[:1], outputs[1:])
    assert not plan.wide
    assert other.wide


def test_the_worst_of_a_million_elements_is_found():
    x = pt.dvector("x")
    given = np.full(1_000_000, 0.3)
    given[654_321] = 1e-9
    f = rw.function([x], pt.exp(x) - 1, mode=rw.Mode("vm").excluding("stabilize"))
    report = rw.accuracy(f, given)
    (output,) = report.outputs
    assert output.index == (654_321,)
    with mp.workdps(50):
        true = mp.expm1(mpf(1e-9))
        wanted = -mp.log10(abs(mpf(float(np.exp(1e-9) - 1)) - true) / true)
    assert output.compiled == pytest.approx(float(wanted), abs=0.01)
    assert output.measured <= MAX_SAMPLE
    assert any("of 1,000,000 elements" in note for note in report.notes)
    assert report.seconds < 60


@needs_wide
def test_large_sums_say_what_they_were_compared_with():
    x = pt.dvector("x")
    given = 1e6 + np.random.default_rng(0).normal(size=1_000_000)
    f = rw.function([x], pt.mean(x**2) - pt.mean(x) ** 2, mode=BY_SQUARES)
    report = rw.accuracy(f, given)
    (output,) = report.outputs
    assert "80-bit floats" in report.reference
    assert output.known < output.full
    whole = given.astype(np.longdouble)
    true = np.mean((whole - whole.mean()) ** 2)
    apart = abs(np.longdouble(output.value) - true) / true
    assert output.compiled == pytest.approx(-np.log10(float(apart)), abs=0.1)
    (one,) = report.suggestions
    assert one.at_least
    assert one.digits == pytest.approx(output.known, abs=0.1)
    assert report.seconds < 60


def test_large_matrices_are_taken_as_computed():
    a = pt.dmatrix("a")
    f = rw.function([a], pt.linalg.det(a))
    report = rw.accuracy(f, np.eye(400))
    assert any("Det (large arrays)" in note for note in report.notes)
