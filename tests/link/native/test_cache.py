"""Machine code is kept on disk by text and processor; what is damaged is made again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rewrite_engine.config import config
from rewrite_engine.link.native import cache
from rewrite_engine.link.native.target import Machine, host

TEXT = "define i64 @f() {\n  ret i64 7\n}\n"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def place(tmp_path: Path) -> Any:
    with config.change_flags(compiledir=str(tmp_path)):
        yield tmp_path / "native"


def files(place: Path) -> list[Path]:
    return sorted(place.glob("*.o"))


def test_a_text_is_compiled_once(place: Path, monkeypatch: Any) -> None:
    machine = host()
    first = cache.kept(TEXT, machine)
    assert len(files(place)) == 1
    monkeypatch.setattr(Machine, "compile", lambda self, text: pytest.fail("compiled again"))
    assert cache.kept(TEXT, machine) == first


def test_another_text_or_machine_is_another_file(place: Path) -> None:
    cache.kept(TEXT, host())
    cache.kept(TEXT.replace("7", "8"), host())
    cache.kept(TEXT, Machine("x86-64", ""))
    assert len(files(place)) == 3


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-1], lambda d: d[:40] + b"x" + d[41:], lambda d: b""]
)
def test_what_is_damaged_is_made_again(place: Path, damage: Any) -> None:
    code = cache.kept(TEXT, host())
    (file,) = files(place)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert cache.kept(TEXT, host()) == code
    assert file.read_bytes() == whole


def test_the_code_of_another_text_is_made_again(place: Path) -> None:
    """As where files were copied, or a disk mixed them up."""
    code = cache.kept(TEXT, host())
    (file,) = files(place)
    other = TEXT.replace("7", "8")
    cache.kept(other, host())
    (more,) = set(files(place)) - {file}
    one, two = file.read_bytes(), more.read_bytes()
    file.write_bytes(two)
    more.write_bytes(one)
    assert cache.kept(TEXT, host()) == code
    assert cache.kept(other, host()) != code
    assert (file.read_bytes(), more.read_bytes()) == (one, two)


def test_there_is_a_limit(place: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(cache, "MOST", 2000)
    for k in range(6):
        cache.kept(TEXT.replace("7", str(k)), host())
    cache.prune(place)
    assert sum(f.stat().st_size for f in files(place)) <= 2000


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with config.change_flags(compiledir=str(blocked)):
        assert cache.kept(TEXT, host())


def test_processes_at_once(tmp_path: Path) -> None:
    program = (
        "import rewrite_engine as rw, rewrite_engine.tensor as pt\n"
        "x = pt.dvector()\n"
        "f = rw.function([x], pt.tanh(x).sum() + x[0], mode='native')\n"
        "print(float(f([0.0, 0.0])))"
    )
    flags = {"REWRITE_ENGINE_FLAGS": f"compiledir={tmp_path}", "PYTHONPATH": str(ROOT)}
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | flags,
            cwd=ROOT,
        )
        for _ in range(3)
    ]
    assert [run.communicate(timeout=120)[0].strip() for run in runs] == ["0.0"] * 3
    assert files(tmp_path / "native")
    assert not list((tmp_path / "native").glob("new.*"))
