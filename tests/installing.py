"""A distribution with rules that is installed into a folder on the path, for tests."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rewrite_engine.pipeline import packs, phases

Install = Callable[[str, str, str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution with one module, whose path is returned."""
    forgotten = (packs.installed, packs._load, phases.known_rules, phases.optimizer)
    modules = []

    def put(name: str, source: str, entry: str) -> Path:
        module = f"{name}_{tmp_path.name}".replace("-", "_")
        path = tmp_path / f"{module}.py"
        path.write_text(textwrap.dedent(source))
        info = tmp_path / f"{name}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        text = f"[rewrite_engine.rules]\n{entry.format(module=module)}\n"
        (info / "entry_points.txt").write_text(text)
        modules.append(module)
        forget()
        return path

    def forget() -> None:
        for function in forgotten:
            function.cache_clear()

    monkeypatch.syspath_prepend(str(tmp_path))
    yield put
    monkeypatch.undo()
    forget()
    for module in modules:
        sys.modules.pop(module, None)
