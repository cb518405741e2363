"""`function(..., profile=…)`: what is counted, and that the times add up."""

from __future__ import annotations

import gc
import io
import json
import pickle
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import In, Mode, ifelse
from rewrite_engine.compile import MonitorMode, NanGuardMode, ProfileStats
from rewrite_engine.config import config
from rewrite_engine.errors import OptionError
from rewrite_engine.graph.op import Op
from rewrite_engine.link import Linker, ticks
from rewrite_engine.rewrite.watched import Stopwatch
from tests.rewrite.schema import problems

x, y, c = pt.dvector("x"), pt.dvector("y"), pt.lscalar("c")
PLAIN = Mode("vm", optimizer=None)
OUT = pt.exp(x).sum() + pt.dot(x, y)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock that goes on by one second whenever it is read."""
    monkeypatch.setattr(ticks, "clock", count().__next__)
    monkeypatch.setattr(ticks.overhead, "lost", [0.0])  # (other tests lost fractions of a second)
    return


def summary(profile: Any, **options: Any) -> str:
    file = io.StringIO()
    profile.summary(file=file, **options)
    return file.getvalue()


def total(profile: Any, fgraph: Any) -> float:
    return sum([s for (graph, _), s in profile.apply_time.items() if graph is fgraph])


@pytest.mark.on_vm
@pytest.mark.parametrize("mode", ["vm", "py", "fast_compile", NanGuardMode(), MonitorMode()])
def test_each_node_has_a_row_and_times_add_up(mode: Any) -> None:
    f = rw.function([x, y], OUT, mode=mode, profile=True)
    plain = rw.function([x, y], OUT, mode=mode)
    for _ in range(3):
        np.testing.assert_array_equal(f([1.0, 2.0], [3.0, 4.0]), plain([1.0, 2.0], [3.0, 4.0]))
    p = f.profile
    assert p.fct_callcount == 3
    assert p.apply_callcount == {(f.fgraph, node): 3 for node in f.nodes}
    assert all(s > 0 for s in p.apply_time.values())
    assert 0 < total(p, f.fgraph) <= p.fct_call_time
    assert 0 < p.linker_time + p.rewriter_time <= p.compile_time
    assert plain.profile is None


def test_who_is_not_profiled_runs_what_it_did() -> None:
    sources = [rw.function([x, y], OUT, profile=p, name="f").source for p in (None, False, True)]
    assert "tick" not in sources[0]
    assert sources[0] == sources[1]
    stamps = [line for line in sources[2].splitlines() if "_tick" in line]
    assert len(stamps) == 2 + len(rw.function([x, y], OUT).nodes)  # its start, and that of the body
    assert [s for s in sources[2].splitlines() if s not in stamps] == sources[0].splitlines()


@pytest.mark.on_vm
def test_seconds_are_those_of_the_nodes(clock: None) -> None:
    f = rw.function([x, y], OUT, profile=True)
    f([1.0], [1.0])
    f([1.0], [1.0])
    assert set(f.profile.apply_time.values()) == {2}
    assert f.profile.fct_call_time == 2 * (len(f.nodes) + 3)


class Slow(Op):
    """An op that takes (by the clock of the tests) ten seconds."""

    __props__ = ()

    def make_node(self, v: Any) -> Any:
        from rewrite_engine.graph.node import Apply

        return Apply(self, [v], [v.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        for _ in range(10):
            ticks.clock()
        output_storage[0][0] = inputs[0].copy()


@pytest.mark.on_vm
def test_by_op_and_by_class(clock: None) -> None:
    f = rw.function([x], pt.exp(Slow()(pt.sin(Slow()(x)))), profile=True, mode=PLAIN)
    f([1.0])
    assert f.profile.op_time() == {Slow(): 22, pt.exp: 1, pt.sin: 1}
    assert f.profile.op_callcount() == {Slow(): 2, pt.exp: 1, pt.sin: 1}
    assert f.profile.class_time() == {Slow: 22, type(pt.exp): 2}
    assert f.profile.class_callcount() == {Slow: 2, type(pt.exp): 2}


@pytest.mark.parametrize("mode", ["vm", "py"])
def test_steps_of_loops(mode: str) -> None:
    steps = rw.scan(lambda v, t: pt.cos(t) + v, x, pt.constant(1.0), return_updates=False)
    f = rw.function([x], pt.exp(steps).sum(), mode=mode, profile=True)
    f(np.ones(4))
    f(np.ones(3))
    p = f.profile
    [loop] = [node for node in f.nodes if type(node.op).__name__ == "Scan"]
    inner = {node: n for (graph, node), n in p.apply_callcount.items() if graph is loop.op.fgraph}
    assert sorted([str(node.op) for node in inner]) == ["add", "cos"]
    assert set(inner.values()) == {7}
    inside = total(p, loop.op.fgraph)
    assert 0 < inside < p.apply_time[f.fgraph, loop]
    assert p.op_time()[loop.op] == pytest.approx(p.apply_time[f.fgraph, loop] - inside)
    assert sum(p.op_time().values()) == pytest.approx(total(p, f.fgraph))
    assert sum(p.class_time().values()) == pytest.approx(total(p, f.fgraph))


@pytest.mark.on_vm
def test_ops_that_hold_graphs_and_are_used_twice(clock: None) -> None:
    op = rw.OpFromGraph([x], [pt.sin(pt.exp(x))], inline=False)
    f = rw.function([x], op(x) + op(2 * x), profile=True, mode=PLAIN)
    f([1.0])
    counts = {str(node.op): n for (_, node), n in f.profile.apply_callcount.items()}
    assert (counts["exp"], counts["sin"], counts["add"]) == (2, 2, 1)
    times = f.profile.op_time()
    assert sum(times.values()) == total(f.profile, f.fgraph)
    assert times[pt.exp] == 2


def test_ops_do_not_keep_the_profiles_of_functions() -> None:
    op = rw.OpFromGraph([x], [pt.exp(x)], inline=False)
    f = rw.function([x], op(x), profile=True)
    f([1.0])
    kept = weakref.ref(f.profile)
    del f
    gc.collect()
    assert kept() is None


@pytest.mark.on_vm
def test_branches_not_taken_do_not_run() -> None:
    f = rw.function([c, x], ifelse(c, pt.exp(x), pt.sin(x)), profile=True)
    f(1, [1.0])
    f(1, [1.0])
    f(0, [1.0])
    counts = {str(node.op): n for (_, node), n in f.profile.apply_callcount.items()}
    assert (counts["exp"], counts["sin"]) == (2, 1)


@pytest.mark.on_vm
def test_many_nodes_and_large_arrays() -> None:
    out = x
    for _ in range(1300):
        out = pt.sin(out) * y
    f = rw.function([x, y], out, profile=True)
    for n in (3, 300_000, 3):
        f(np.ones(n), np.ones(n))
        if n > 3:
            break
    assert len(f.nodes) == 2600
    assert set(f.profile.apply_callcount.values()) == {2}
    assert total(f.profile, f.fgraph) <= f.profile.fct_call_time


@pytest.mark.on_vm
def test_failed_calls_are_calls() -> None:
    f = rw.function([x, y], pt.exp(x) + y, profile=True, mode=PLAIN)
    with pytest.raises(rw.errors.BroadcastError):
        f([1.0], [1.0, 2.0])
    assert f.profile.fct_callcount == 1
    assert {str(n.op): k for (_, n), k in f.profile.apply_callcount.items()} == {"exp": 1, "add": 0}


def test_threads() -> None:
    f = rw.function([x, y], OUT, profile=True)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: f([1.0], [2.0]), range(400)))
    assert f.profile.fct_callcount == 400
    assert set(f.profile.apply_callcount.values()) == {400}


def test_copies_have_their_own() -> None:
    f = rw.function([x], pt.exp(x), profile="mine")
    f([1.0])
    for g in (f.copy(), pickle.loads(pickle.dumps(f))):
        assert (g.profile.message, g.profile.fct_callcount) == ("mine", 0)
        g([1.0])
        assert (f.profile.fct_callcount, g.profile.fct_callcount) == (1, 1)
        assert set(g.profile.apply_callcount.values()) == {1}
        assert g.profile.linker_time > 0
    assert f.copy(profile=False).profile is None
    plain = rw.function([x], pt.exp(x))
    assert plain.copy().profile is None
    assert plain.copy(profile="other").profile.message == "other"
    assert pickle.loads(pickle.dumps(plain)).profile is None


@pytest.mark.on_vm
def test_trusted_functions_and_checked_ones_go_on_counting() -> None:
    f = rw.function([x, y], OUT, profile=True)
    f([1.0], [1.0])
    f.trust_input = True
    f(np.ones(1), np.ones(1))
    assert f.profile.fct_callcount == 2
    assert f.profile.apply_callcount == {(f.fgraph, node): 2 for node in f.nodes}
    f = rw.function([x], pt.sqrt(rw.assume(x, positive=True)), profile=True, check=True)
    with pytest.raises(rw.errors.AssumptionError):
        f([-1.0])
    assert f.profile.fct_callcount == 1


@pytest.mark.on_vm
def test_what_may_be_asked_for() -> None:
    shared = ProfileStats(message="both")
    f = rw.function([x], pt.exp(x), profile=shared)
    g = rw.function([x], pt.sin(x), profile=shared)
    f([1.0])
    g([1.0])
    assert f.profile is g.profile is shared
    assert shared.fct_callcount == 2
    assert len(shared.apply_time) == 2
    assert rw.function([x], x, profile=True, name="name").profile.message == "name"
    for wrong in (1, ["x"], object()):
        what = "profile must be True, False, a text or a ProfileStats"
        with pytest.raises(OptionError, match=what):
            rw.function([x], x, profile=wrong)
        with pytest.raises(OptionError, match="profile must be True"):
            f.copy(profile=wrong)


def test_the_setting() -> None:
    with config.change_flags(profile=True):
        f = rw.function([x], pt.exp(x))
        off = rw.function([x], pt.exp(x), profile=False)
    f([1.0])
    assert f.profile.fct_callcount == 1
    assert off.profile is None
    assert rw.function([x], pt.exp(x)).profile is None
    with pytest.raises(ValueError, match="profile must be of type bool"):
        config.profile = "yes"


def test_reset() -> None:
    f = rw.function([x], pt.exp(x), profile=True)
    f([1.0])
    f.profile.reset()
    assert (f.profile.fct_callcount, f.profile.fct_call_time) == (0, 0)
    assert set(f.profile.apply_callcount.values()) == {0}
    assert f.profile.compile_time > 0
    f([1.0])
    assert set(f.profile.apply_callcount.values()) == {1}


@pytest.mark.on_vm
def test_the_summary(clock: None, capsys: Any) -> None:
    steps = rw.scan(lambda v, t: pt.cos(t) + v, x, pt.constant(1.0), return_updates=False)
    slow = Slow()(x)
    f = rw.function([x], [slow, steps], profile="two things")
    f([1.0])
    text = summary(f.profile)
    assert text.startswith("two things: 1 call")
    for part in ("compiled in", "op class", "Slow", "test_profiling.py:", "in Scan", "cos("):
        assert part in text
    f.profile.summary()
    assert capsys.readouterr().out == text
    short = summary(f.profile, n_ops_to_print=1, n_apply_to_print=1)
    assert "more ops" in short
    assert "more nodes" in short
    assert "0 calls" in summary(rw.function([], [], profile=True).profile)
    assert "0 calls" in summary(ProfileStats())


def test_linkers_that_tell_no_times_of_nodes() -> None:
    class Silent(Linker):
        name = "silent"

        def compile(self, fgraph: Any) -> Any:
            return lambda v: [np.exp(v)]

    mode = Mode()
    mode.linker = Silent()
    f = rw.function([x], pt.exp(x), profile=True, mode=mode)
    assert f([0.0]).tolist() == [1.0]
    assert (f.profile.fct_callcount, f.profile.apply_time) == (1, {})
    assert "this linker does not time nodes" in summary(f.profile)


def test_deep_graphs_are_told_shortly() -> None:
    out = x
    for i in range(3000):
        out = pt.sin(out) if i % 2 else pt.exp(out)
    f = rw.function([In(x)], out, profile=True, mode=PLAIN)
    f([0.1])
    assert len(summary(f.profile).splitlines()) < 60


@pytest.mark.on_vm
def test_times_by_line_and_as_data():
    x = pt.dvector("x")
    y = pt.exp(x)
    f = rw.function([x], [y.sum(), rw.grad(y.sum(), x)], profile="both", mode="fast_compile")
    for _ in range(3):
        f([0.0, 1.0])
    lines = f.profile.line_time()
    exp_line = y.owner.where()
    assert exp_line in lines
    assert sum(lines.values()) <= f.profile.fct_call_time
    assert 0 < f.profile.first_call_time <= f.profile.fct_call_time
    data = json.loads(json.dumps(f.profile.as_dict()))
    assert data["calls"] == 3
    assert {row["op"] for row in data["ops"]} == {str(op) for op in f.profile.op_time()}
    flame = json.loads(json.dumps(f.profile.speedscope()))
    names = [frame["name"] for frame in flame["shared"]["frames"]]
    profile, _ = flame["profiles"]
    assert all(names[stack[0]] == "both" for stack in profile["samples"])
    assert abs(sum(profile["weights"]) - profile["endValue"]) < 1e-12
    assert any(name.startswith("test_profiling.py:") for name in names)
    f.profile.reset()
    assert f.profile.first_call_time is None


# --- memory, operations, compiling ---------------------------------------------------------------


@pytest.mark.on_vm
@pytest.mark.parametrize("mode", [PLAIN, Mode("py", optimizer=None)])
def test_the_peak_of_memory(mode: Any) -> None:
    wide = pt.exp(x)
    out = pt.outer(wide, pt.sin(x)).sum()
    f = rw.function([x], out, profile=True, mode=mode)
    assert f.profile.memory_peak() is None
    f(np.ones(100))
    peak = f.profile.memory_peak()
    assert str(peak.node.op) == "mul"
    assert peak.bytes == 100 * 100 * 8 + 3 * 100 * 8  # the product, x, and what is multiplied
    largest, n = peak.held[0]
    assert (largest.owner, n) == (peak.node, 80_000)
    text = summary(f.profile)
    assert "memory: at most 82.4 kB at once, while " in text
    assert " is in memory (" in text.partition("most of it: ")[0]
    assert "most of it: " in text
    assert "test_profiling.py:" in text.partition("most of it: ")[0]


@pytest.mark.on_vm
def test_memory_within_loops_counts_while_they_run() -> None:
    steps = rw.scan(lambda t: pt.sin(pt.outer(t, t)).sum(axis=0), outputs_info=[x], n_steps=3,
                    return_updates=False)  # fmt: skip
    f = rw.function([x], steps, profile=True)
    f(np.ones(100))
    peak = f.profile.memory_peak()
    assert type(peak.node.op).__name__ == "Scan"
    assert peak.bytes > 80_000


@pytest.mark.on_vm
def test_operations_are_those_of_all_runs() -> None:
    X = pt.dmatrix("X")
    f = rw.function([X, x], X @ x, profile=True)
    for _ in range(3):
        f(np.ones((10, 20)), np.ones(20))
    assert list(f.profile.apply_flops().values()) == [3 * 2 * 20 * 10]
    steps = rw.scan(lambda t, X: X @ t, outputs_info=[x], non_sequences=[X], n_steps=7,
                    return_updates=False)  # fmt: skip
    f = rw.function([X, x], steps, profile=True)
    f(np.ones((20, 20)), np.ones(20))
    assert sum(f.profile.apply_flops().values()) == 7 * 2 * 20 * 20
    assert "5.6 kflop a call" in summary(f.profile)


def test_what_compiling_was_spent_on() -> None:
    f = rw.function([x], pt.log(1 + pt.exp(x)), profile="mine")
    p = f.profile
    assert p.rule_stats()["exp_log/log1p_of_exp"].firings == 1
    assert p.rule_stats()["exp_log/log1p_of_exp"].calls >= 1
    assert p.phase_firings()["stabilize"] == 2
    inside = sum(p.phase_time().values()) + p.loading_time
    assert 0 < inside <= p.rewriter_time * 1.01
    text = summary(p)
    assert "exp_log/log1p_of_exp" in text
    assert "stabilize" in text
    assert not [one for one in f.fgraph.features if isinstance(one, Stopwatch)]
    plain = rw.function([x], pt.exp(x), profile="no rewriting", mode=PLAIN).profile
    assert (plain.rule_stats(), plain.phase_time(), plain.loading_time) == ({}, {}, 0.0)


def test_as_json_and_as_a_flame_graph(tmp_path: Path) -> None:
    steps = rw.scan(lambda v, t: pt.cos(t) + v, x, pt.constant(1.0), return_updates=False)
    f = rw.function([x], pt.exp(steps).sum(), profile="a loop")
    f([1.0, 2.0])
    data = json.loads(f.profile.to_json(tmp_path / "profile.json"))
    assert data == json.loads((tmp_path / "profile.json").read_text())
    assert data["memory"]["bytes"] > 0
    assert {"stabilize"} < {row["phase"] for row in data["compiling"]["phases"]}
    assert {"rule", "calls", "firings", "seconds", "loading"} < set(data["compiling"]["rules"][0])
    flame = f.profile.speedscope(tmp_path / "a.speedscope.json")
    assert flame == json.loads((tmp_path / "a.speedscope.json").read_text())
    schema = json.loads(Path(__file__).with_name("speedscope.schema.json").read_text())
    assert list(problems(flame, resolved(schema, schema))) == []
    calls, compiling = flame["profiles"]
    assert (calls["name"], compiling["name"]) == ("calls", "compiling")
    assert compiling["endValue"] == pytest.approx(f.profile.compile_time, rel=0.05)


def resolved(part: Any, schema: Any) -> Any:
    """A part of speedscope's schema with what it refers to in its place, in the words that the
    check knows.
    """
    if isinstance(part, list):
        return [resolved(one, schema) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return resolved(schema["definitions"][part["$ref"].rpartition("/")[2]], schema)
    names = {"anyOf": "oneOf"}
    left_out = {"definitions", "$schema"} if part is schema else set()
    return {names.get(k, k): resolved(v, schema) for k, v in part.items() if k not in left_out}
