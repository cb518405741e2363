"""A function called from several threads at once gives every caller its own right answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.link.vm.workspace import LARGE_BYTES
from tests.link.reference import link
from tests.threads import in_threads


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def run(f: Any, want: Any, sizes: list[int], calls: int) -> list[str]:
    """Call from four threads, with values and sizes of their own; return what went wrong."""
    wrong: list[str] = []

    def work(k: int) -> None:
        for c in range(calls):
            a = np.full(sizes[(c + k) % len(sizes)], float(k + 1))
            try:
                np.testing.assert_allclose(f(a), want(a))
            except Exception as error:
                wrong.append(repr(error))
                return

    in_threads(work)
    return wrong


@pytest.mark.parametrize(
    "sizes", [[3, 5], [LARGE_BYTES // 8 + 1, LARGE_BYTES // 8 + 2], [3, LARGE_BYTES // 8 + 1]]
)
def test_one_function_in_four_threads(sizes: list[int]) -> None:
    x = pt.vector("x")
    t = pt.sqr(x - 1) * x
    f = link([x], [(t + 1).sum(), pt.exp(-t)])
    wrong = run(
        lambda a: f.call(a)[0],
        lambda a: ((a - 1) ** 2 * a + 1).sum(),
        sizes,
        60 if max(sizes) > 100 else 500,
    )
    assert not wrong
