"""Tests of native code: left out where llvmlite is not installed."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from typing import Any

import pytest

from rewrite_engine.link.linker import has_llvmlite
from rewrite_engine.link.native.library import Kernel, Library
from rewrite_engine.link.native.target import Machine

collect_ignore_glob = [] if has_llvmlite() else ["test_*.py"]


def machine_called(name: str) -> Machine | None:
    """A processor that this one can stand for: "host" (None), or one with fewer instructions."""
    features = {"avx2": "+avx,+avx2", "sse2": ""}
    if name == "host":
        return None
    if platform.machine() != "x86_64":
        pytest.skip("another kind of processor")
    return Machine("x86-64", features[name])


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the kernels of all functions from here on."""
    found: list[str] = []
    get = Library.get

    def noted(self: Library, kernels: Iterable[Kernel], plan: Any = None) -> list[int]:
        kernels = list(kernels)
        found.extend([kernel.text for kernel in kernels])
        return get(self, kernels, plan)

    monkeypatch.setattr(Library, "get", noted)
    return found
