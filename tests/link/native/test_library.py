"""Machine code is cached on disk by text and processor (`tests/test_disk.py` tests the files)."""

from __future__ import annotations

import gc
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.disk import UnsafeFolderWarning
from rewrite_engine.link.native import library, region
from rewrite_engine.link.native.library import Kernel, Library
from rewrite_engine.link.native.optimised import optimiser
from rewrite_engine.link.native.target import Machine, host
from rewrite_engine.link.native.units import Unit
from tests.test_disk import on_posix

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with config.change_flags(compiledir=str(tmp_path)):
        yield tmp_path / "native"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of `value` that are compiled with optimisation from here on. (A thread may still
    optimise kernels of tests before.)
    """
    texts: list[str] = []
    compile_ = Machine.compile

    def counted(self: Machine, text: str, level: int = 2) -> bytes:
        if level and "define i64 @f()" in text:
            texts.append(text)
        return compile_(self, text, level)

    monkeypatch.setattr(Machine, "compile", counted)
    return texts


def value(number: int, machine: Machine | None = None) -> int:
    """Return what a function that returns a number returns, compiled as in a new process."""
    import ctypes

    library = Library(machine or host())
    text = f"define i64 @f() {{\n  ret i64 {number}\n}}\n"
    library.add({"f": Unit(text, (), ())})
    optimiser.settle()
    function: Any = ctypes.CFUNCTYPE(ctypes.c_int64)(library.addresses["f"])
    return int(function())


def test_a_text_is_compiled_once_for_a_machine(folder: Path, compiled: list[str]) -> None:
    assert [value(7), value(7), value(8), value(7)] == [7, 7, 8, 7]
    assert len(compiled) == len(list(folder.glob("*.o"))) == 2
    assert value(7, Machine("x86-64", "")) == 7
    assert len(compiled) == len(list(folder.glob("*.o"))) == 3


def test_damaged_code_is_compiled_again(folder: Path, compiled: list[str]) -> None:
    value(7)
    (file,) = folder.glob("*.o")
    data = file.read_bytes()
    file.write_bytes(data[:200] + bytes([data[200] ^ 1]) + data[201:])
    assert [value(7), value(7)] == [7, 7]
    assert len(compiled) == 2


@on_posix
def test_code_that_others_may_change_does_not_run(folder: Path, compiled: list[str]) -> None:
    value(7)
    folder.chmod(0o777)
    with pytest.warns(UnsafeFolderWarning, match=f"{folder}.*chmod go-w"):
        assert value(7) == 7
    assert value(7) == 7
    assert len(compiled) == 3


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
    found = list((tmp_path / "native").iterdir())
    assert found
    assert {file.suffix for file in found} == {".o", ".text"}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="its registers")
@pytest.mark.parametrize("width", [4, 8])
def test_vectors_are_kept_in_whole_cache_lines(width: int) -> None:
    """During a call all vectors are in memory; across two cache lines they take longer."""
    machine = Machine("skylake-avx512", "+avx2" + ",+avx512f" * (width == 8))
    assert machine.width == width
    type_ = f"<{width} x double>"
    body = [
        "entry:", f"  %x = load {type_}, ptr %frame",
        *[f"  %y{k} = call {type_} @f({type_} %{f'y{k - 1}' if k else 'x'})" for k in range(3)],
        f"  %z = fadd {type_} %x, %y1", f"  %w = fadd {type_} %z, %y2",
        f"  store {type_} %w, ptr %frame", "  ret i64 0", "",
    ]  # fmt: skip
    kernel = Kernel("\n".join(body), (f"declare {type_} @f({type_})",), ("f",)).unit()
    attributes = f"attributes #0 = {{ {machine.attributes} }}\n"
    text = "\n".join([*kernel.declared, kernel.text, attributes])
    lines = machine.assembly(text).splitlines()
    places = [line for line in lines if "mm" in line and "(%rsp)" in line]
    assert len(places) >= 3
    assert not [line for line in places if "movu" in line]
    offsets = [int(n or 0) for line in places for n in re.findall(r"(\d*)\(%rsp\)", line)]
    assert {n % (8 * width) for n in offsets} == {0}


def test_kernels_that_nobody_has_are_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that makes ever new functions does not run out of memory maps."""
    monkeypatch.setattr(library, "MODULES_PER_RELEASE", 5)
    own = Library(host())
    monkeypatch.setattr(region, "library_of", lambda machine: own)
    own.due = 5
    x = pt.vector("x")

    def made(n: int) -> Any:
        return rw.function([x], _formula(x, n), mode="native")

    kept = made(3)
    want = kept([0.5, 2.0])
    for n in range(4, 40):
        made(n)([0.5, 2.0])
        gc.collect()
    optimiser.settle()
    assert len(own.alive) < 30
    np.testing.assert_array_equal(kept([0.5, 2.0]), want)
    again = rw.function([x], _formula(x, 5), mode="vm")([0.5, 2.0])
    np.testing.assert_allclose(made(5)([0.5, 2.0]), again, rtol=1e-14)


def _formula(x: Any, n: int) -> Any:
    out = x
    for k in range(n):
        out = (out + 1.0) * x if k % 2 else pt.sqrt(out * out + x)
    return out
