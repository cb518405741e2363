"""Code is unoptimised first; a thread compiles it again, and replaces it: with the same bits."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.link.native import library
from rewrite_engine.link.native.library import Library
from rewrite_engine.link.native.linker import NativeLinker
from rewrite_engine.link.native.optimised import Module, Optimiser, Word, optimiser
from rewrite_engine.link.native.target import Machine
from tests.tensor.test_samples import CASES, apply
from tests.test_disk import on_posix

ROOT = Path(__file__).resolve().parents[3]
x, m = pt.dvector("x"), pt.dmatrix("m")


@pytest.fixture(autouse=True)
def new_folder(tmp_path: Path) -> Iterator[None]:
    """Nothing is on disk, and nothing waits."""
    optimiser.settle()
    with config.change_flags(compiledir=str(tmp_path)):
        yield
    optimiser.settle()


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The levels at which texts are compiled from here on."""
    found: list[int] = []
    compile_ = Machine.compile

    def noted(self: Machine, text: str, level: int = 2) -> bytes:
        found.append(level)
        return compile_(self, text, level)

    monkeypatch.setattr(Machine, "compile", noted)
    return found


def value(k: int, at: Any, functions: Any) -> Any:
    for _ in range(k):  # (constants are no part of a kernel's text)
        at = functions.tanh(at) * at + 0.125
    return at - 0.25


def settled_after(held: threading.Event) -> bool:
    """Let the thread go on, and wait for it."""
    held.set()
    return optimiser.settle(60)


def odd(k: int) -> Any:
    """A function whose kernel nobody has compiled yet."""
    return rw.function([x], value(k, x, pt), mode="native")


def addresses(f: Any) -> list[int]:
    """The addresses of the kernels of a function that is one region."""
    table = f.vm.call.__self__[0]
    (region,) = [node.op for node in f.vm.nodes]
    start = table[14]
    return [int(table[start + far]) for _, far in region.plan.kernels]


def test_the_first_call_need_not_wait(monkeypatch: pytest.MonkeyPatch, levels: list[int]) -> None:
    held = threading.Event()
    compile_ = Machine.compile

    def slow(self: Machine, text: str, level: int = 2) -> bytes:
        if level:
            assert held.wait(60)
        return compile_(self, text, level)

    monkeypatch.setattr(Machine, "compile", slow)
    f, at = odd(1), np.linspace(-2, 2, 37)
    first, before = f(at), addresses(f)
    held.set()
    assert optimiser.settle(60)
    after = addresses(f)
    assert before != after
    assert first.tobytes() == f(at).tobytes()
    assert sorted(set(levels)) == [0, 2]


def test_a_mode_that_waits(levels: list[int]) -> None:
    mode = rw.Mode("native", wait=True)
    assert mode != rw.Mode("native") == rw.Mode("native", wait=False)
    assert repr(mode) == "Mode(linker='native', wait=True)"
    rw.function([x], pt.sinh(x) * 3.0625 + pt.sqr(x + 11), mode=mode)
    assert not optimiser.modules
    assert levels == [0, 2] * (len(levels) // 2) or set(levels) == {0, 2}


def test_what_is_on_disk_is_not_compiled_at_all(
    monkeypatch: pytest.MonkeyPatch, levels: list[int]
) -> None:
    kernels, get = list[Any](), Library.get

    def noted(self: Library, new: Any, plan: Any = None) -> list[int]:
        kernels.extend(new := list(new))
        return get(self, new, plan)

    monkeypatch.setattr(Library, "get", noted)
    f = odd(2)
    optimiser.settle()
    assert 0 in levels
    (region,) = [node.op for node in f.vm.nodes]
    other = Library(region.plan.machine)  # as of another process
    other.get(kernels)
    assert kernels[0].name in other.addresses
    assert kernels[0].name not in other.pending


def test_what_nobody_needs_is_not_compiled_again(
    monkeypatch: pytest.MonkeyPatch, levels: list[int]
) -> None:
    held, compile_ = threading.Event(), Machine.compile

    def slow(self: Machine, text: str, level: int = 2) -> bytes:
        if level:
            assert held.wait(60)
        return compile_(self, text, level)

    monkeypatch.setattr(Machine, "compile", slow)
    kept, gone = odd(3), odd(4)
    del gone
    gc.collect()
    held.set()
    assert optimiser.settle(60)
    levels.clear()
    again = odd(4)  # (its first code is there)
    assert optimiser.settle(60)
    assert 0 not in levels
    at = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(again(at), value(4, at, np), rtol=1e-14)
    assert kept(at).shape == (9,)


def test_an_error_of_the_thread_leaves_the_first_code(monkeypatch: pytest.MonkeyPatch) -> None:
    held, compile_ = threading.Event(), Machine.compile

    def broken(self: Machine, text: str, level: int = 2) -> bytes:
        if level:
            assert held.wait(60)
            raise RuntimeError("no memory for this")
        return compile_(self, text, level)

    monkeypatch.setattr(Machine, "compile", broken)
    f = odd(5)
    with pytest.warns(RuntimeWarning, match="stays unoptimised: .*no memory for this"):
        settled_after(held)
    monkeypatch.undo()
    at = np.array([0.5])
    np.testing.assert_allclose(f(at), value(5, at, np), rtol=1e-14)
    g = odd(6)
    assert optimiser.settle(60)
    assert g(at).shape == (1,)


def test_modules_are_compiled_in_order_and_waiting_ends_in_time() -> None:
    own, seen, held = Optimiser(), list[str](), threading.Event()

    def module(name: str) -> Module:
        return Module([name], lambda: (held.wait(60), seen.append(name))[1], lambda: name != "b")

    for name in "abc":
        own.add(module(name))
    assert not own.settle(0.01)
    held.set()
    assert own.settle(60)
    assert seen == ["a", "c"]
    own.close()
    own.add(module("d"))
    assert seen == ["a", "c"]


def test_a_word_of_a_table_that_is_gone() -> None:
    table = np.zeros(3, np.int64)
    word = Word(table, 1)
    word.replace(7)
    assert table.tolist() == [0, 7, 0]
    assert word.is_needed()
    del table
    assert not word.is_needed()
    word.replace(8)


PROGRAM = """
import os, sys
import numpy as np
import rewrite_engine as rw, rewrite_engine.tensor as pt
x = pt.dvector("x")
f = rw.function([x], pt.tanh(x) * 3.03125 + pt.exp(-x), mode="native")
at = np.linspace(-1, 1, 11)
first = f(at)
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        g = rw.function([x], pt.tanh(x) * 5.03125 + pt.log1p(pt.sqr(x)), mode="native")
        ok = f(at).tobytes() == first.tobytes() and g(at).shape == (11,)
        from rewrite_engine.link.native.optimised import optimiser
        ok = ok and optimiser.settle(60) and f(at).tobytes() == first.tobytes()
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
print(f(at).tobytes() == first.tobytes())
"""


@pytest.mark.parametrize("how", ["exit", pytest.param("fork", marks=on_posix)])
def test_the_end_of_a_process_and_a_fork(how: str, tmp_path: Path) -> None:
    flags = {"REWRITE_ENGINE_FLAGS": f"compiledir={tmp_path}", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, how],
        env=os.environ | flags, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "True", "")
    assert list((tmp_path / "native").glob("*.o"))  # what was made is there for the next process


def test_threads_that_call_while_code_is_replaced() -> None:
    f, at = odd(8), np.linspace(-3, 3, 50)
    first, wrong = f(at).tobytes(), list[Any]()

    def call() -> None:
        for _ in range(3000):
            if f(at).tobytes() != first:
                wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert optimiser.settle(60)
    for thread in threads:
        thread.join()
    assert not wrong
    assert library.KERNEL_PREFIX


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_the_bits_of_all_samples_stay(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all ops with native code: before any code is optimised, and after."""
    held, compile_, computed = threading.Event(), Machine.compile, list[Any]()

    def slow(self: Machine, text: str, level: int = 2) -> bytes:
        if level:
            assert held.wait(300)
        return compile_(self, text, level)

    monkeypatch.setattr(Machine, "compile", slow)
    mode = rw.Mode(NativeLinker(Machine()))  # with a library of its own: nothing is there
    for case in [case for case in CASES if case.arrays or dtype == "float64"]:
        values = case.values(dtype)
        try:
            inputs, outputs = apply(case.op, values, False)
            f = rw.function(inputs, outputs, mode=mode)
            found = f(*values)
        except Exception:  # (other tests compare errors)
            continue
        if type(case.op) is not pt.AllocEmpty:
            computed.append((f, values, [np.asarray(one).tobytes() for one in found]))
    assert len(optimiser.modules) > 50
    held.set()
    optimiser.settle()
    assert len(computed) > 200
    for f, values, before in computed:
        assert [np.asarray(one).tobytes() for one in f(*values)] == before, str(f.nodes)
