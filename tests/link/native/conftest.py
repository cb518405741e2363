"""Tests of native code: left out where llvmlite is not installed."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rewrite_engine.link.linker import has_llvmlite
from rewrite_engine.link.native.library import Kernel, Library

collect_ignore_glob = [] if has_llvmlite() else ["test_*.py"]


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the kernels of all functions from here on."""
    found: list[str] = []
    get = Library.get

    def noted(self: Library, kernels: Iterable[Kernel]) -> list[int]:
        kernels = list(kernels)
        found.extend([kernel.text for kernel in kernels])
        return get(self, kernels)

    monkeypatch.setattr(Library, "get", noted)
    return found
