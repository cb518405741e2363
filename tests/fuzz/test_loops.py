"""The fuzzer of loops finds what is wrong in native loops, and nothing in what is right."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("llvmlite")

from fuzz import loops
from fuzz.__main__ import main
from fuzz.loops import Loop, NotOrdinary, random_loop
from rewrite_engine.link.native import region

SUM = Loop(
    "loops:of:a test",
    (("a0", "pt.dvector('a0')", loops.np.array([1.0, 2.0, 4.0])),),
    "a0_1",
    (("s0", 0, "a0_1.sum()"), ("s1", 0, "s0 * 2"), ("v1", 1, "a0_1 + s0")),
    "[v1]",
    "outputs_info=[a0], n_steps=2",
    ("found[0]", "found[0][-1]"),
)


def joins_any_group(view: Any, space: Any) -> Any:
    """What computed the sum of what is carried before the first step."""
    group = view.value.group
    fits = group is not None and group.space == space and group.inside(view) is not None
    return group if fits else None


def test_random_loops_are_right() -> None:
    for number in range(40):
        with suppress(NotOrdinary):
            assert loops.try_one(random_loop(7, number)) is None


@pytest.mark.parametrize("checked", [False, True])
def test_a_sum_that_is_computed_once_is_found(
    checked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert loops.try_one(SUM) is None
    monkeypatch.setattr(region, "_group_of", joins_any_group)
    monkeypatch.setattr(loops.config, "check_regions", checked)
    found = loops.try_one(SUM)
    assert found is not None
    assert found.key[0] == ("native raises RegionError" if checked else "native: another value")
    assert "s1" not in found.text  # it is shrunk
    assert "out1" not in found.text


def test_a_finding_is_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(SUM.program("a sum"), "<a test>", "exec"), {})
    assert capsys.readouterr().out.count("36., 37., 39.") == 6
    assert main(["loops", "--replay", "loops:0:3"]) == 0
    assert "def step(" in capsys.readouterr().out
