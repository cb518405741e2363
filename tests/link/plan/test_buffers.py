"""Which results may lie in memory that is kept between calls, and where their shapes are read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link import ExecutionPlan, plan_of
from rewrite_engine.link.plan import Buffer, deciders
from rewrite_engine.link.plan.buffers import Lifetime, Reader, can_overwrite, share_buffers
from rewrite_engine.link.vm import traits

x, y = pt.vector("x"), pt.vector("y")
m, n = pt.matrix("m"), pt.matrix("n")


def plan(*outputs: Any) -> ExecutionPlan:
    return plan_of(FunctionGraph(None, outputs, clone=False), traits)


def buffers(*outputs: Any) -> list[Buffer | None]:
    return [step.buffer for step in plan(*outputs).steps]


def test_temporaries_are_kept_and_results_are_not() -> None:
    assert buffers(pt.exp(x).sum()) == [Buffer(0, ((0, None),)), None]
    assert buffers(pt.exp(x)) == [None]
    assert buffers(pt.exp(m).sum(), pt.exp(m)[0]) == [None] * 3


def test_one_buffer_for_those_whose_lives_are_apart() -> None:
    first, second = pt.exp(x).sum(), pt.sin(x)
    assert len(plan(first, second.sum()).slots) == 1
    assert len(plan((pt.exp(x) * pt.sin(x)).sum() + pt.cos(x).sum()).slots) == 2
    assert len(plan(first, pt.sin(y).sum()).slots) == 2  # another length
    assert len(plan(first, pt.sin(pt.cast(x, "float32")).sum()).slots) == 2


def test_a_shape_of_several_operands() -> None:
    assert buffers(pt.dot(m, n).sum())[0] == Buffer(0, ((0, 0), (1, 1)))


def test_what_code_of_others_may_hold_is_not_kept() -> None:
    assert buffers(pt.sort(pt.exp(x)).sum())[0] is None


def test_the_inputs_that_tell_how_large_buffers_are() -> None:
    assert deciders(plan(pt.exp(x).sum() + y)) == [x]
    assert deciders(plan(pt.dot(m, n).sum())) == [m, n]
    assert deciders(plan(pt.exp(x))) == []


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(0, 6)), max_size=20)
)
def test_values_share_a_buffer_only_if_one_dies_before_the_other(
    values: list[tuple[str, int, int]],
) -> None:
    lives = sorted([Lifetime(size, at, at + n) for size, at, n in values], key=lambda v: v.first)
    buffers = share_buffers(lives)
    by_buffer: dict[int, list[Lifetime]] = {}
    for life, buffer in zip(lives, buffers, strict=True):
        by_buffer.setdefault(buffer, []).append(life)
    for users in by_buffer.values():
        assert len({user.size for user in users}) == 1
        assert all(one.last < two.first for one, two in pairwise(users))
    for size in "ab":  # no more buffers than values that are alive at once
        alive = [sum(v.size == size and v.first <= t <= v.last for v in lives) for t in range(20)]
        assert sum(users[0].size == size for users in by_buffer.values()) == max(alive)
    assert list(dict.fromkeys(buffers)) == list(range(len(by_buffer)))


@pytest.mark.parametrize(
    ("readers", "yes"),
    [([], True), ([Reader(2)], True), ([Reader(3)], False), ([Reader(4)], False),
     ([Reader(3, in_place=True)], True), ([Reader(4, in_place=True)], False),
     ([Reader(1), Reader(3, in_place=True)], True), ([Reader(3), Reader(3, True)], False)],
)  # fmt: skip
def test_a_value_is_overwritten_only_after_its_readers(readers: list[Reader], yes: bool) -> None:
    assert can_overwrite(readers, 3) == yes
