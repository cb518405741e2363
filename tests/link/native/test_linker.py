"""The native linker cuts graphs into regions; a VM runs what is between them, also inside loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link import get_linker
from rewrite_engine.link.linker import bodies
from rewrite_engine.link.native.op import NativeRegion
from rewrite_engine.link.vm.linker import VMLinker

x = pt.dvector("x")


def sorting_loop() -> Any:
    """Return a loop whose step has native code, and `sort`, which has none."""
    return rw.scan(lambda s: pt.sort(pt.tanh(s) * 2) + 1, outputs_info=[x], n_steps=3)[0][-1]


def test_the_linker_is_no_vm() -> None:
    linker = get_linker("native")
    assert not isinstance(linker, VMLinker)
    assert linker.phases == rw.link.Linker.phases


@pytest.mark.parametrize("profile", [False, True])
def test_the_vm_runs_loops_whose_steps_have_regions(profile: bool) -> None:
    f = rw.function([x], sorting_loop(), mode="native", profile=profile)
    value = given = np.array([0.5, -2.0])
    for _ in range(3):
        value = np.sort(np.tanh(value) * 2) + 1
    np.testing.assert_allclose(f(given), value, rtol=1e-14)
    loops = [node.op for node in f.nodes if getattr(node.op, "stepwise", False)]
    assert len(loops) == 1
    if profile:
        assert "Sort" in str(f.profile.op_callcount())
        assert any(isinstance(op, NativeRegion) or "Kernel" in str(op)
                   for op in f.profile.op_callcount())  # fmt: skip
        return
    (linker,) = bodies(loops[0])
    assert linker is get_linker("native")
    inside = [type(node.op).__name__ for node in bodies(loops[0])[linker].nodes]
    assert inside.count("NativeRegion") == 2
    assert len(inside) == 3
