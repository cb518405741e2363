"""The check of native regions finds plans that read memory before or after its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import RegionError
from rewrite_engine.link.native import region
from rewrite_engine.link.native.lifetimes import END, Lifetimes
from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.values import Group, View

x = pt.tensor("x", dtype="float64", shape=(3,))
m = pt.tensor("m", dtype="float64", shape=(3, 3))
VALUES = np.array([1.0, 2.0, 4.0]), np.array([[1.0, 0.5, 0.25], [0.5, 2.0, 0.0], [1.0, 0.0, 1.0]])


def compiled() -> Any:
    """A loop whose step reads temporaries made outside, sums, and products one after another."""
    scaled = pt.dot(m, pt.exp(x))

    def step(row: Any, a: Any, b: Any) -> Any:
        c = pt.dot(m, scaled * a)
        d = pt.dot(m, pt.dot(m, c / c.max() + a.sum()) + row)
        return [d / d.sum(), pt.sqrt(abs(a)) + b]

    a, b = rw.scan(step, sequences=[m], outputs_info=[x, x])[0]
    return rw.function([x, m], [a[-1].sum(), b], mode="native")


def test_it_finds_nothing_in_what_is_made() -> None:
    assert config.check_regions
    found = compiled()(*VALUES)
    with config.change_flags(check_regions=False):
        again = compiled()(*VALUES)
    for a, b in zip(found, again, strict=True):
        np.testing.assert_array_equal(a, b)


def joins_any_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of what a loop carries is computed with the values of the start."""

    def group_of(view: View, space: Any) -> Group | None:
        group = view.value.group
        fits = group is not None and group.space == space and group.inside(view) is not None
        return group if fits else None

    monkeypatch.setattr(region, "_group_of", group_of)


def forgets_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that a later step reads is given to others."""

    def lifetimes(statements: Any, loops: Any, *given: Any) -> Lifetimes:
        return Lifetimes(statements, (), *given)

    monkeypatch.setattr(region, "Lifetimes", lifetimes)


def frees_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is given to others one statement before its last reader runs."""

    def lifetimes(*given: Any) -> Lifetimes:
        found = Lifetimes(*given)
        found.last = {v: at if at == END else max(v.at, at - 1) for v, at in found.last.items()}
        return found

    monkeypatch.setattr(region, "Lifetimes", lifetimes)


def hides_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls do not declare the last thing they read."""
    call = RegionPlan.call

    def hidden(
        self: RegionPlan, shape: Any, kind: str, reads: Any, *given: Any, **named: Any
    ) -> Any:
        return call(self, shape, kind, reads[: len(reads) - (len(reads) == 2)], *given, **named)

    monkeypatch.setattr(RegionPlan, "call", hidden)


@pytest.mark.parametrize("mistake", [joins_any_group, forgets_loops, frees_early, hides_reads])
def test_it_finds_mistakes(
    mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(monkeypatch)
    with pytest.raises(RegionError, match="a bug of the library"):
        compiled()
