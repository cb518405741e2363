"""Kernels that several threads share: the same bits for any number of them."""

from __future__ import annotations

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
from rewrite_engine.link.native import threads
from rewrite_engine.link.native.optimised import optimiser
from tests.test_disk import on_posix

ROOT = Path(__file__).resolve().parents[3]
x, y, m, k = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m"), pt.dtensor3("k")
small, f32 = pt.ivector("i"), pt.fmatrix("f")

#: what is computed, and what of it threads share
GRAPHS: dict[str, tuple[list[Any], Any]] = {
    "elements": ([x, y], pt.tanh(x) * y + pt.exp(-x) * 0.5),
    "rows": ([m], (pt.exp(m) * m).sum(axis=1)),
    "largest of rows": ([m], (m * m).max(axis=1)),
    "columns": ([m], (pt.exp(m) * m).sum(axis=0)),
    "all": ([x, y], (pt.exp(x) * y).sum()),
    "softmax of rows": ([m], pt.softmax(m, axis=1)),
    "softmax": ([x], pt.softmax(x)),
    "several results": ([x, y], [x + y, pt.sigmoid(x - y), x > y]),
    "broadcast": ([m], pt.sin(m) + pt.cos(m[0] * 2)),
    "transposed": ([m], pt.exp(m.T) * 2 + m.T),
    "three axes": ([k], pt.exp(k).sum(axis=(1, 2)) + pt.log1p(pt.sqr(k)).max(axis=(1, 2))),
    "integers": ([small], small * 3 + small // 7),
    "floats of 32 bits": ([f32], pt.exp(f32) - f32.sum(axis=1, keepdims=True)),
    "positions": ([x], x * pt.arange(x.shape[0]) + 0.5),
    "joined": ([x, y], pt.exp(pt.concatenate([x * 2, y - 1]))),
    "in a loop": ([m], rw.scan(lambda h, m: pt.tanh(h * m + 0.5).sum(axis=1)[:, None] * 1e-3 + m,
                               outputs_info=m, non_sequences=[m * 2], n_steps=3,
                               return_updates=False)[-1]),
}  # fmt: skip


def values(inputs: list[Any], n: int) -> list[Any]:
    rng, found = np.random.default_rng(7), []
    for v in inputs:
        shape = {1: (n,), 2: (n // 300, 300), 3: (n // 300, 20, 15)}[v.type.ndim]
        found.append((rng.normal(size=shape) * 3).astype(v.type.dtype))
    return found


@pytest.fixture(autouse=True)
def many() -> Iterator[None]:
    optimiser.settle()
    with config.change_flags(threads=1):
        yield


def as_bytes(found: Any) -> list[bytes]:
    return [a.tobytes() for a in (found if isinstance(found, list) else [found])]


@pytest.mark.parametrize("name", GRAPHS)
def test_the_bits_do_not_depend_on_the_threads(name: str) -> None:
    inputs, outputs = GRAPHS[name]
    f = rw.function(inputs, outputs, mode=rw.Mode("native", wait=True))
    plain = rw.function(inputs, outputs, mode="vm")
    for n in (300, 40_500, 180_300, 1_000_200):
        given = values(inputs, n)
        config.threads = 1
        alone = f(*given)
        for count in (2, 3, 7):
            config.threads = count
            assert threads.pool[threads.HELPERS] == count - 1
            for _ in range(3):
                assert as_bytes(f(*given)) == as_bytes(alone)
        for got, want in zip(
            *[r if isinstance(r, list) else [r] for r in (alone, plain(*given))], strict=True
        ):
            tolerance = 1e-4 if want.dtype == "float32" else 1e-11
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def test_calls_of_several_threads_at_once() -> None:
    """One has the pool, the others compute alone."""
    f = rw.function([x], pt.tanh(x) * x + 1, mode=rw.Mode("native", wait=True))
    given = values([x], 400_000)
    wanted, wrong = as_bytes(f(*given)), list[int]()
    config.threads = 3

    def call() -> None:
        for _ in range(40):
            if as_bytes(f(*given)) != wanted:
                wrong.append(1)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for one in callers:
        one.start()
    for one in callers:
        one.join()
    assert not wrong
    assert threads.pool[threads.BUSY] == 0


@pytest.mark.parametrize(
    ("set_to", "asked", "wanted"),
    [(0, None, "cores"), (0, "1", 1), (0, "2,1", "least"), (0, "many", "cores"), (5, "1", 5)],
)
def test_how_many_there_are(
    set_to: int, asked: str | None, wanted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if asked is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert cores is not None
    with config.change_flags(threads=set_to):
        found = {"cores": cores, "least": min(2, cores)}.get(wanted, wanted)
        assert threads.available() == found


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"cpu.max": "200000 100000"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "max 100000"}, 1 << 16),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1 << 16),
        ({}, 1 << 16),
    ],
)
def test_what_a_container_may_use(files: dict[str, str], wanted: int, tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert threads.quota(str(tmp_path)) == wanted


PROGRAM = """
import os
import numpy as np
import rewrite_engine as rw, rewrite_engine.tensor as pt
rw.config.threads = 3
x = pt.dvector("x")
f = rw.function([x], pt.tanh(x) * 2 + 1, mode=rw.Mode("native", wait=True))
at = np.linspace(-1, 1, 500_000)
first = f(at).tobytes()
child = os.fork()
same = all([f(at).tobytes() == first for _ in range(20)])
if child == 0:
    os._exit(0 if same else 1)
assert os.waitpid(child, 0)[1] == 0
print(same)
"""


@on_posix
def test_a_forked_process_has_threads_of_its_own(tmp_path: Path) -> None:
    flags = {"REWRITE_ENGINE_FLAGS": f"compiledir={tmp_path}", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | flags, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "True", "")


def test_small_arrays_are_not_shared() -> None:
    """Waking a thread takes as long as some 50,000 operations."""
    f = rw.function([x], pt.tanh(x) * 2 + 1, mode=rw.Mode("native", wait=True))
    config.threads = 2
    threads.pool[threads.UNITS] = -1
    f(np.ones(5000))
    assert threads.pool[threads.UNITS] == -1
    f(np.ones(500_000))
    assert threads.pool[threads.UNITS] == 500_000


IN_TWO_THREADS = """
import threading
from rewrite_engine.link.native.target import host
sums = "".join(f"  %v{i + 1} = fadd double %v{i}, 1.5\\n" for i in range(200))
text = "define double @f(double %v0) {\\n" + sums + "  ret double %v200\\n}\\n"
def compiled():
    for _ in range(50):
        host().compile(text)
threads = [threading.Thread(target=compiled) for _ in range(2)]
for thread in threads:
    thread.start()
lines = {host().assembly(text) for _ in range(50)}
for thread in threads:
    thread.join()
print(len(lines))
"""


def test_code_is_shown_while_other_code_is_generated() -> None:
    done = subprocess.run([sys.executable, "-c", IN_TWO_THREADS], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "1"), done.stderr[-1000:]
