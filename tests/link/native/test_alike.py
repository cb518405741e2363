"""Texts of groups that are found again are those that would be written, for the same words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks import graphs
from rewrite_engine.link.native import alike, region
from rewrite_engine.link.native.alike import Found, group_kernel
from rewrite_engine.link.native.loops import write_group
from tests.link.reference import random_graphs

x, y = pt.dvectors("x", "y")


@contextmanager
def comparing() -> Iterator[list[bool]]:
    """For each group meanwhile, whether its text was known; it is compared with a new one."""
    seen: list[bool] = []

    def both(plan: Any, machine: Any, group: Any, stored: Any, live: Sequence[Any]) -> Any:
        found = group_kernel(plan, machine, group, stored, live)
        seen.append(isinstance(found, Found))
        if seen[-1]:
            before = len(plan.words)
            new = write_group(plan, machine, group, stored, live)
            (text, words), (wanted, own) = found.kernel(), new.kernel()
            assert text == wanted
            pairs = zip(words, own, strict=True)
            assert all([a == b or b >= before for a, b in pairs])  # (a room for results is new)
            assert found.touched == new.touched
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(region, "group_kernel", both)
        yield seen


@pytest.fixture
def compared() -> Iterator[list[bool]]:
    with comparing() as seen:
        yield seen


@pytest.mark.parametrize(("graph", "n"), [(graphs.deep, 20), (graphs.mlp, 4), (graphs.radon, 85)])
def test_a_graph_is_written_once(graph: Any, n: int, compared: list[bool]) -> None:
    for turn in range(2):
        compared.clear()
        inputs, outputs = graph(pt, rw.grad, n)
        rw.function(inputs, outputs, mode="native")
        if turn:
            assert sum(compared) > 0.8 * len(compared) > 0  # (some are written by closures)
    if graph is graphs.deep:  # its layers are alike
        alike._known.clear()
        compared.clear()
        rw.function(*graph(pt, rw.grad, n + 1), mode="native")
        assert sum(not known for known in compared) <= 4


def test_constants_that_are_equal_are_one_word(compared: list[bool]) -> None:
    """So a text for two words is not the one for one word."""
    alike._known.clear()
    for a, b in ((3.5, 7.25), (4.5, 4.5), (3.0, 5.5), (1.0, 2.5)):
        f = rw.function([x], [pt.exp(x * a) + b], mode="native")
        np.testing.assert_allclose(f([0.5, 1.0])[0], np.exp(np.array([0.5, 1.0]) * a) + b)
    assert compared == [False, False, True, False]


@pytest.mark.parametrize("n", [1, 2])
def test_lengths_that_are_equal_are_one_word(n: int, compared: list[bool]) -> None:
    m, k = pt.dmatrices("m", "k")
    for left, right in ((m, m * 2), (m, k), (m, k)):
        f = rw.function([m, k], [pt.tanh(left)[:, None, :] + pt.exp(right)[None]], mode="native",
                        on_unused_input="ignore")  # fmt: skip
        a, b = np.ones((2, 3)), np.ones((2, 3)) * n
        want = np.tanh(a)[:, None, :] + np.exp(b if right is k else a * 2)[None]
        np.testing.assert_allclose(f(a, b)[0], want)


@settings(max_examples=150, deadline=None)
@given(random_graphs())
def test_random_graphs(graph: Any) -> None:
    inputs, outputs = graph
    with comparing() as seen:
        for _ in range(2):
            rw.function(inputs, outputs, mode="native", on_unused_input="ignore")
    assert sum(seen) >= len(seen) // 2 - 2
