"""Ctrl-C while compiling, at any line: nothing is left half done that anybody would notice."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.knowledge import current
from rewrite_engine.rewrite import driver
from rewrite_engine.rewrite.strategies import innermost, repeat, seq, topdown
from rewrite_engine.rules.pipeline import all_rules

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
        dying = {frame.f_code.co_name, frame.f_back and frame.f_back.f_code.co_name}
        if "__del__" in dying:  # Python lets nothing out of there
            return trace
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
        assert not driver._holders
        assert current.evaluation is None
    return found


def test_a_function_is_compiled_after_any_interrupt() -> None:
    expected = [v.tobytes() for v in compiled()(*VALUES)]
    before = [(v, v.owner, v.owner.inputs) for v in OUTPUTS]
    assert len(interrupted(compiled, 120)) > 100
    assert [(v, v.owner, v.owner.inputs) for v in OUTPUTS] == before
    assert [v.tobytes() for v in compiled()(*VALUES)] == expected


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


# (Python drops exceptions in finalizers)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
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
        assert not driver._holders


def test_gradients() -> None:
    assert len(interrupted(lambda: rw.grad(loss, w), 60)) > 40
