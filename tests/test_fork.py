"""A process that forks while another thread compiles has a child that can compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Lock, RLock
from typing import Any

import pytest

from rewrite_engine.config import config
from rewrite_engine.fork import cached_property, free_after_fork, hold_at_fork

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

START = """
import os, signal, sys, time
from itertools import count
from threading import Event, Thread
import numpy as np
import rewrite_engine as rw
import rewrite_engine.tensor as pt
rw.config.compiledir = sys.argv[1]
numbers = count(1)
"""
FORK = """
def ends(run):
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # (a child that hangs is killed)
        status = 1
        try:
            run()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
"""
#: `compile_one()` compiles code that no process has compiled before
KINDS = {
    "native": """
def compile_one():
    bits = int.from_bytes(os.urandom(3), "little") | 1 << 24
    x = y = pt.dvector("x")
    value = np.zeros(1)
    for k in range(24):
        way = "sin" if bits >> k & 1 else "cos"
        y, value = getattr(pt, way)(y), getattr(np, way)(value)
    f = rw.function([x], y, mode=rw.Mode(linker="native"))
    assert np.allclose(f([0.0]), value, rtol=1e-12)
from rewrite_engine.link.native.target import Machine as place
name = "compile"
""",
    "c": """
from rewrite_engine.link.c import module as place
from tests.link.c.test_module import Filled, node_of
from rewrite_engine.link.c import c_function
def compile_one():
    n = os.getpid() * 100 + next(numbers)
    assert c_function(node_of(Filled(n)))(np.zeros(1)).tolist() == [n]
name = "compile_module"
""",
    "matcher": """
from rewrite_engine.match.bytecode import MatcherCache as place
from rewrite_engine.language import rule
def compile_one():
    def own(x):
        "They are inverse functions."
        return pt.log2(pt.exp2(x)) >> x
    own.__name__ = f"own_{os.getpid()}_{next(numbers)}"
    y = pt.dscalar("y")
    mode = rw.Mode("vm", "fast_compile") + rule(phase="canonicalize")(own)
    assert rw.function([y], pt.log2(pt.exp2(y)), mode=mode)(2.0) == 2.0
name = "code"
""",
    "cached matchers": """
from rewrite_engine.match.bytecode import MatcherCache as place
def compile_one():
    assert place().known == {}
name = "read"
""",
}
#: a fork at the worst moment: when the other thread is in the middle of compiling
PAUSED = """
compile_one()
inside, go_on, compiled = Event(), Event(), getattr(place, name)
def paused(*args):
    setattr(place, name, compiled)
    inside.set()
    go_on.wait()
    return compiled(*args)
setattr(place, name, paused)
thread = Thread(target=compile_one, daemon=True)
thread.start()
assert inside.wait(60)
ends(compile_one)
go_on.set()
thread.join()
compile_one()
"""
#: forks at any moment
OFTEN = """
compile_one()
running = True
def compile_many():
    while running:
        compile_one()
thread = Thread(target=compile_many, daemon=True)
thread.start()
for k in range(int(sys.argv[2])):
    time.sleep(0.001 * (7 * k % 11))
    ends(compile_one)
running = False
thread.join()
"""


def run(kind: str, program: str, folder: Path) -> None:
    """Run a program, whose forked processes must end well."""
    text = START + FORK + KINDS[kind] + program
    command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", text]
    forks = "3" if kind == "c" else "12"
    subprocess.run([*command, str(folder), forks], cwd=ROOT, check=True, timeout=300)


def kinds() -> list[Any]:
    from rewrite_engine.compile.mode import is_native_usual

    needs = {"native": is_native_usual(), "c": bool(config.cxx)}
    skips = {kind: pytest.mark.skipif(not there, reason=kind) for kind, there in needs.items()}
    return [pytest.param(kind, marks=skips.get(kind, ())) for kind in KINDS]


@pytest.mark.parametrize("kind", kinds())
def test_a_fork_in_the_middle_of_compiling(kind: str, tmp_path: Path) -> None:
    run(kind, PAUSED, tmp_path)


@pytest.mark.parametrize("kind", kinds())
def test_forks_at_any_moment(kind: str, tmp_path: Path) -> None:
    run(kind, OFTEN, tmp_path)


def child_of(check: Any) -> int:
    """Return the exit status of a child that runs a check: 0 if it is true."""
    child = os.fork()
    if child == 0:
        os._exit(not check())
    return os.waitpid(child, 0)[1]


@pytest.mark.parametrize("make", [Lock, RLock])
def test_a_lock_is_free_in_a_child(make: Any) -> None:
    lock = free_after_fork(make())
    with lock:
        assert child_of(lambda: lock.acquire(blocking=False)) == 0
        assert child_of(lambda: lock.acquire(blocking=False)) == 0
    assert lock.acquire(blocking=False)
    lock.release()


def test_a_fork_waits_for_a_lock_that_is_held_meanwhile() -> None:
    events = list[str]()

    class Noted:
        def __enter__(self) -> None:
            events.append("held")

        def __exit__(self, *about: Any) -> None:
            events.append("free")

    hold_at_fork(Noted())
    assert child_of(lambda: events == ["held", "free"]) == 0
    assert events == ["held", "free"]


def test_a_cached_property_has_no_lock() -> None:
    """An instance may need the property of another one in another thread."""
    from threading import Thread

    class Number:
        def __init__(self, inner: Number | None = None) -> None:
            self.inner = inner

        @cached_property
        def value(self) -> int:
            if self.inner is not None:
                thread = Thread(target=lambda: self.inner.value, daemon=True)  # type: ignore
                thread.start()
                thread.join(20)
                assert not thread.is_alive()
                return self.inner.value + 1
            return 1

    number = Number(Number())
    assert number.value == 2
    assert vars(number)["value"] == 2
