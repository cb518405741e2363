"""Watching functions: what is kept, and that nothing changes for the program."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import observe
from rewrite_engine.errors import MissingInputError
from rewrite_engine.explain import capture, explain
from rewrite_engine.explain.phrase import time_line
from rewrite_engine.explain.record import record_of, recording
from rewrite_engine.language import given, node_rewriter, rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import optimizer
from tests.threads import in_threads


def compiled(*args, **kwargs):
    with recording() as recorder:
        f = rw.function(*args, **kwargs)
    return f, recorder.records[0]


x, m = pt.vector("x"), pt.matrix("m")


def test_a_record_has_both_graphs_and_the_place():
    f, record = compiled([x], pt.log(1 + x), name="f")
    assert [str(n.op) for n in record.before.toposort()] == ["add", "log"]
    assert [str(n.op) for n in record.after.toposort()] == ["log1p"]
    assert record.name == "f"
    assert record.place[0] == __file__
    assert record_of(f) is record


def test_a_function_without_a_name_is_called_by_its_line():
    _, record = compiled([x], x + 1)
    assert record.name == f"function at test_record.py:{record.place[1]}"


def test_a_firing_knows_its_rule_its_terms_and_the_users_line():
    _, record = compiled([x], pt.log(1 + x))
    step = record.steps[0]
    assert (step.number, step.phase, step.rule_name) == (
        1,
        "stabilize",
        "exp_log/log_of_one_plus",
    )
    assert step.change.term == "log(1.0 + x) → log1p(x)"
    assert step.origin[0] == __file__
    assert [str(node.op) for node in step.made] == ["log1p"]
    assert step.new is record.after.outputs[0]


def test_facts_that_guards_asked_are_kept():
    _, record = compiled([x], pt.abs(pt.exp(x)))
    assert record.steps[0].evidence == ("nonneg(x): because positive (a result of exp)",)


def test_the_assumption_of_a_rule_is_kept():
    _, record = compiled([x], x - x, mode=rw.Mode().including("fastmath"))
    assert record.steps[0].assumes == "fastmath"


def test_merged_nodes_are_counted_where_they_were_merged():
    _, record = compiled([x], pt.exp(x) + pt.exp(x))
    assert record.merged_at_build == 1
    _, record = compiled([x], pt.sin(x * 1) + pt.sin(x))
    assert record.merged_at_build == 0
    assert {p.name: p.merged for p in record.trace.phases}["canonicalize"] == 1


def test_nothing_is_recorded_outside():
    with recording() as recorder:
        pass
    f = rw.function([x], x + 1)
    assert recorder.records == []
    assert record_of(f) is None
    assert observe == []


def test_the_first_call_is_kept_as_a_copy():
    f, record = compiled([x, m], m @ x)
    value = np.ones(2)
    assert f(value, np.eye(2)).tolist() == [1, 1]
    value[0] = 5
    f(x=[7.0], m=[[1.0]])
    assert record.called.values[0].tolist() == [1, 1]
    assert record.called.seconds > 0


def test_the_state_is_kept_as_it_was_before_the_call():
    s = rw.shared(np.array([1.0, 2.0]), name="s")
    f, record = compiled([], s.sum(), updates=[(s, s * 2)])
    f()
    f()
    assert record.called.values[0].tolist() == [1, 2]
    assert s.get_value().tolist() == [4, 8]


def test_defaults_are_kept_too():
    f, record = compiled([rw.In(x, value=np.ones(3))], x + 1)
    assert f().tolist() == [2, 2, 2]
    assert record.called.values[0].tolist() == [1, 1, 1]


def test_the_first_calls_are_kept_and_then_ever_fewer():
    f, record = compiled([x], x + 1)
    for k in range(1, 20):
        f([float(k)])
    assert record.called.count == 19
    assert [call.number for call in record.called.kept] == [1, 2, 3, 4, 8, 16]
    assert [call.values[0].item() for call in record.called.kept] == [1, 2, 3, 4, 8, 16]
    assert f.name is None
    assert f.fgraph is record.after


def test_a_call_that_fails_fails_as_before():
    f, record = compiled([x, m], m @ x)
    with pytest.raises(MissingInputError, match="m"):
        f([1.0])
    assert "not valid" in record.called.problem
    assert "MissingArgumentError" in record.called.error
    assert f([1.0], [[2.0]]).tolist() == [2]


def test_a_failure_inside_is_noted_with_its_inputs():
    f, record = compiled([x, m], m @ x)
    with pytest.raises(ValueError, match="not"):
        f([1.0, 2.0], np.ones((3, 3)))
    assert record.called.error.startswith("ShapeError")
    assert record.called.values[1].shape == (3, 3)


def test_large_inputs_are_not_copied(monkeypatch):
    monkeypatch.setattr(capture, "LIMIT", 100)
    f, record = compiled([x], x + 1)
    f(np.ones(1000))
    assert record.called.values is None
    assert "too large" in record.called.problem


def test_functions_can_be_copied_pickled_and_called_from_threads():
    f, record = compiled([x], x + 1)
    other = pickle.loads(pickle.dumps(f))
    assert other([1.0]).tolist() == [2]
    assert f.copy()([1.0]).tolist() == [2]
    assert record.called.seconds is None
    results = []
    in_threads(lambda k: results.append(f([1.0]).tolist()), 8)
    assert results == [[2.0]] * 8


def test_trusting_inputs_before_the_first_call_ends_the_watch():
    f, record = compiled([x], x + 1)
    f.trust_input = True
    assert f(np.ones(1)).tolist() == [2]
    assert record.called.values is None


def test_recording_leaves_no_feature_on_the_graph():
    _, record = compiled([x], pt.log(1 + x))
    assert not [f for f in record.after.features if type(f).__name__ == "Arrivals"]


def test_trouble_in_telling_does_not_stop_the_program(monkeypatch):
    def broken(*of):
        raise RuntimeError("no words")

    monkeypatch.setattr("rewrite_engine.explain.record.describe_change", broken)
    f, record = compiled([x], pt.log(1 + x))
    assert f([0.0]).tolist() == [0]
    assert "no words" in record.steps[0].change.after


def test_a_predicate_is_a_condition_and_no_evidence():
    def anything(x):
        return True

    @rule(phase="canonicalize")
    def sine_is_sine(x):
        """For a test."""
        return pt.sin(pt.sin(x)) >> pt.sin(x), given(anything)

    mode = rw.Mode(optimizer=optimizer(None, RuleSet([sine_is_sine])))
    _, record = compiled([x], pt.sin(pt.sin(x)), mode=mode)
    step = record.steps[0]
    assert (step.evidence, step.conditions) == ((), ("anything(x)",))
    assert not step.proved


def test_an_assumption_that_facts_prove():
    n = pt.ivector("n")
    with recording() as recorder:
        rw.function([n], pt.sin(n) - pt.sin(n), mode=rw.Mode("fast_run").excluding("inplace"))
    (record,) = recorder.records
    (step,) = [s for s in record.steps if s.rule_name == "algebra/difference_with_itself"]
    assert step.assumes is None
    assert step.proved == "fastmath"
    assert step.evidence == (
        "finite(x): because bounded (within -1 and 1, sin of (its dtype is int32))",
    )


def test_modules_that_a_rule_loads_are_not_charged_to_its_phase(
    tmp_path: Any, monkeypatch: Any
) -> None:
    (tmp_path / "slow_to_load.py").write_text("import time\ntime.sleep(0.2)\n")
    monkeypatch.syspath_prepend(tmp_path)

    @node_rewriter([pt.sin], phase="stabilize")
    def loads_a_module(fgraph: Any, node: Any) -> Any:
        """Load a module at first use, and change nothing."""
        import_module("slow_to_load")
        return None

    v = pt.vector("v")
    mode = rw.Mode() + loads_a_module
    (first,) = explain(pt.sin(v), mode=mode).functions
    (run,) = [result for result in first.phases if result.phase == "stabilize"]
    loading = sum(counts.loading for counts in run.rules.values())
    assert loading >= 0.2
    assert run.seconds >= loading
    seconds = first.about.seconds
    assert seconds["stabilize"] == pytest.approx(run.seconds - loading)
    assert seconds["rewrite"] - sum(seconds[one.phase] for one in first.phases) >= 0.2
    assert " · loading " in time_line(first)
    (again,) = explain(pt.sin(v), mode=mode).functions
    assert [
        counts.loading for one in again.phases for counts in one.rules.values() if counts.loading
    ] == []
