"""Ctrl-C while compiling, at any line: it is raised, and nothing is left half done."""

from __future__ import annotations

import gc
import os
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from random import Random
from threading import Thread
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.knowledge import current
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.rewrite import driver
from rewrite_engine.rewrite.strategies import innermost, repeat, seq, topdown
from rewrite_engine.terms import etuplize

pytestmark = pytest.mark.usefixtures("linker")

x, w = pt.dvector("x"), pt.dmatrix("w")
p = 1 / (1 + pt.exp(-(w @ x)))
loss = -(pt.sin(x) * pt.log(p) + (1 - pt.sin(x)) * pt.log(1 - p)).sum()
OUTPUTS = [loss, pt.exp(x) / pt.exp(x).sum() + p.sum()]
VALUES = [np.array([0.25, 0.5]), np.array([[1.0, 2.0], [3.0, 4.0]])]


def compiled() -> Any:
    return rw.function([x, w], OUTPUTS)


def lines(action: Callable[[], Any], at: int | None = None) -> int:
    """Run something; how many lines that took. at: raise at the line with this number."""
    count = 0

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        if event == "line":  # frames that a traceback kept for later are closed with other events
            count += 1
            if count == at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def interrupted(action: Callable[[], Any], times: int) -> list[int]:
    """At so many places; those at which it ended so."""
    action()  # so that what is done once is done
    found = []
    last = lines(action)
    for i in range(times):
        at = 1 + i * last // times
        try:
            lines(action, at)
        except KeyboardInterrupt:
            found.append(at)
        assert gc.isenabled()
        assert current.evaluation is None
    return found


def test_a_function_is_compiled_after_any_interrupt() -> None:
    expected = [v.tobytes() for v in compiled()(*VALUES)]
    before = [(v, v.owner, v.owner.inputs) for v in OUTPUTS]
    assert len(interrupted(compiled, 120)) > 100
    assert [(v, v.owner, v.owner.inputs) for v in OUTPUTS] == before
    assert [v.tobytes() for v in compiled()(*VALUES)] == expected


state, _ = rw.scan(lambda a: pt.tanh(w @ a + x), outputs_info=[x], n_steps=3)


@pytest.mark.parametrize("linker", ["vm", "native"])
def test_each_of_300_interrupts_is_raised(linker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a loop, its gradient, and a library that takes part in it. (None is lost in a callback
    of a weak reference or a finalizer, and no error hides one.)
    """
    lost: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    outputs = [*OUTPUTS, state[-1], rw.grad(state[-1].sum(), x), rw.grad(loss, w)]

    def compiled() -> Any:
        return rw.function([x, w], outputs, mode=rw.Mode(linker=linker))

    expected = [v.tobytes() for v in compiled()(*VALUES)]
    last, draw = lines(compiled), Random(0)
    for number in range(300):
        with pytest.raises(KeyboardInterrupt):
            lines(compiled, draw.randint(1, last * 9 // 10))
        assert gc.isenabled()
        if number % 10 == 0:
            assert [v.tobytes() for v in compiled()(*VALUES)] == expected
    assert lost == []


@pytest.mark.parametrize("linker", ["vm", "native"])
def test_the_collector_runs_no_line_of_the_library(linker: str) -> None:
    """A signal that comes while garbage is collected is handled by the first Python code that runs
    then. In a finalizer or a callback of a weak reference, Python would drop it.
    """
    ours = os.path.dirname(rw.__file__)
    seen: list[str] = []

    def profile(frame: Any, event: str, arg: Any) -> None:
        code = frame.f_code
        if code.co_filename.startswith(ours) or code.co_filename == weakref.__file__:
            seen.append(f"{code.co_filename}: {code.co_name}")

    gc.collect()
    a = pt.dvector("a")
    b = (pt.sin(a) * np.arange(3.0)).sum()
    garbage = [a, b, rw.grad(b, a), etuplize(b), pt.TensorType("float64", (17, 23))]
    garbage.append(rw.function([a], [b, garbage[2]], mode=rw.Mode(linker=linker)))
    garbage[-1](np.ones(3))
    garbage.append(b.eval({a: [1.0, 2.0, 3.0]}))
    garbage.append(garbage)
    alive = weakref.ref(garbage[-3])
    sys.setprofile(profile)
    try:
        del a, b, garbage
        gc.collect()
    finally:
        sys.setprofile(None)
    assert alive() is None
    assert seen == []


DRIVERS = {
    "pipeline": lambda: rw.Mode().optimizer,
    "innermost": lambda: innermost(all_rules().phase("specialize")),
    "repeat": lambda: repeat(topdown(all_rules().phase("specialize"))),
    "seq": lambda: seq(innermost(all_rules().phase("canonicalize")), rw.Mode().optimizer),
}


@pytest.mark.parametrize("make", DRIVERS.values(), ids=DRIVERS)
def test_a_graph_stays_whole(make: Any) -> None:
    graphs: list[Any] = []
    optimizer = make()

    def rewrite() -> None:
        graphs[:] = [FunctionGraph([x, w], OUTPUTS)]
        optimizer.rewrite(graphs[0])

    def check() -> None:
        if graphs:
            graph = graphs[0]
            graph.check_integrity()
            assert graph.worklist is None
            assert graph.on_change_type in ([], [graph.facts and graph.facts.on_change_type])
            assert all(feature is graph.destroy_handler for feature in graph.features)
            make().rewrite(graph)

    rewrite()
    last = lines(rewrite)
    for i in range(60):
        graphs.clear()
        try:
            lines(rewrite, 1 + i * last // 60)
        except KeyboardInterrupt:
            check()


def test_other_threads_go_on() -> None:
    """No line of what all threads share leaves a lock behind."""

    def work() -> None:
        made.append(pt.TensorType("float64", shape=(len(made), 12345)))
        with driver.paused_collector():
            made.append(pt.exp(x))

    def other() -> None:
        work()
        ended.append(True)

    made: list[Any] = []
    work()
    for at in range(1, 1 + lines(work)):
        ended: list[bool] = []
        with suppress(KeyboardInterrupt):
            lines(work, at)
        thread = Thread(target=other, daemon=True)
        thread.start()
        thread.join(20)
        assert ended
        assert gc.isenabled()


def test_gradients() -> None:
    assert len(interrupted(lambda: rw.grad(loss, w), 60)) > 40
