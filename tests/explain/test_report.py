"""Reports: as objects, as text at any width, and as JSON lines."""

from __future__ import annotations

import gc
import json
import pickle
import re
import weakref
from io import StringIO

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import Mode, OpFromGraph, function
from rewrite_engine.errors import InputError, OptionError, UnknownNameError
from rewrite_engine.explain import Report, explain, model, recording, replay
from rewrite_engine.explain.layout import console_for, rule_times
from rewrite_engine.explain.lines import json_lines
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import held
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.judge.compare import Agreement
from rewrite_engine.language import rule
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import all_rules, optimizer
from rewrite_engine.rewrite.strategies import innermost, seq, try_
from rewrite_engine.rewrite.trace import Trace
from rewrite_engine.rewrite.trace.records import schema
from tests.rewrite.schema import problems

x, m = pt.vector("x"), pt.matrix("m")


def naive_log_softmax(z):
    return pt.log(pt.exp(z) / pt.exp(z).sum(axis=1, keepdims=True))


@rule(phase="canonicalize")
def sine_is_cosine(x):
    """Not true: a rule for tests."""
    return pt.sin(x) >> pt.cos(x)


WRONG = rw.Mode(optimizer=optimizer(None, RuleSet([sine_is_cosine])))


def test_a_variable_on_random_inputs():
    report = explain(pt.log(pt.exp(x) * 1))
    f = report.functions[0]
    assert report.ok
    assert "random inputs" in f.check.basis
    assert f.check.verdict is Agreement.IDENTICAL or f.check.ulps < 64


def test_random_inputs_fit_each_other_and_the_state():
    w = rw.shared(np.ones((4, 3)), name="w")
    f = explain((m @ w + x).sum(axis=0) * 1).functions[0]
    assert f.check.problem is None
    assert {f.check.shapes_before[v] for v in f.record.before.inputs} == {(4, 4), (4, 3), (3,)}


def test_random_inputs_of_every_kind():
    i, b, z = pt.ivector("i"), pt.tensor("b", dtype="bool", shape=(2,)), pt.zvector("z")
    assert explain([x[i], b & b, z * 1]).ok


def test_values_that_are_given_are_used():
    f = explain(naive_log_softmax(m), values=[[[1000.0, -1000.0]]]).functions[0]
    assert f.check.basis == "the inputs of the first call"
    assert f.check.verdict is Agreement.REPAIRED
    assert "nan became 0 in " in f.check.outputs[0][1].text


def test_a_wrong_rule_is_found_and_blamed():
    report = explain(pt.sin(x), mode=WRONG, values=[[0.0]])
    check = report.functions[0].check
    assert not report.ok
    assert check.outputs[0][1].text == "0.0 became 1.0"
    assert "a rule is to blame: " in check.blame
    assert "firing #1, test_report/sine_is_cosine (" in check.blame
    assert "test_report.py:" in check.blame
    assert "DISAGREE: 0.0 became 1.0" in str(report)


def test_a_wrong_rule_among_others_is_looked_for():
    blame = explain(pt.sin(x) + x * 1, mode=WRONG, values=[[0.0]]).functions[0].check.blame
    assert "a rule is to blame: firing #" in blame
    assert blame.endswith("sin(x) → cos(x)")


def test_a_compiled_function_that_was_recorded():
    with recording():
        f = rw.function([x], x * 1, name="f")
    assert explain(f).functions[0].name == "f"


def test_a_compiled_function_that_was_not_recorded_is_compiled_again():
    def build():
        y = pt.dvector("y")  # which nobody else keeps
        return rw.function([y], pt.log(1 + pt.exp(y)) * 1, name="f", mode="vm")

    f = build()
    gc.collect()
    (found,) = explain(f).functions
    assert found.name == "f"
    assert {"exp_log/log_of_one_plus", "ac/drop_identity"} <= {s.rule_name for s in found.steps}
    assert (len(found.record.before), len(found.record.after)) == (4, len(f.fgraph))
    assert found.record.mode == f.mode
    assert "pt.log(1 + pt.exp(y))" in str(explain(f))  # the line on which it was compiled
    assert found.check.verdict is Agreement.AGREE
    assert explain(f, mode="fast_compile").functions[0].record.mode == rw.Mode("fast_compile")
    assert explain(f, values=[[1.0]]).functions[0].record.called.count == 1
    assert explain(f, attempts=True).attempts("log")


def test_a_function_with_states_is_explained_without_changing_them():
    w, other = rw.shared(np.ones(2)), rw.shared(np.zeros(2))
    y = pt.dvector("y")
    s = rw.In(pt.dscalar("s"), value=2.0, update=y.sum())
    f = rw.function([y, s], y * w * s.variable, updates={w: w + 1.0}, givens={}, name="f")
    f([1.0, 2.0])
    (found,) = explain(f, values=[[1.0, 2.0]]).functions
    assert found.outputs == ("result", "new s", "new w")
    assert [v.shape for v in found.about.inputs] == [[2], [], [2]]
    assert np.array_equal(w.get_value(), [2.0, 2.0])
    assert np.array_equal(f([1.0, 1.0]), [6.0, 6.0])  # s was 3
    explain(y, updates={w: w + 1.0}, values=[[0.0, 0.0]])
    assert np.array_equal(w.get_value(), [3.0, 3.0])

    copy = f.copy(swap={w: other})
    (found,) = explain(copy, values=[[1.0, 2.0]]).functions
    assert found.record.called.values[-1].tolist() == [0.0, 0.0]
    assert np.array_equal(other.get_value(), [0.0, 0.0])
    back = copy.copy(swap={other: w}, name="g")
    (found,) = explain(back, values=[[1.0, 2.0]]).functions
    assert found.record.called.values[-1].tolist() == [3.0, 3.0]
    assert found.name == "g"
    assert explain(f.copy(delete_updates=True)).functions[0].outputs == ("result",)


def test_a_function_whose_input_is_trusted_or_checked_is_explained():
    y = pt.dvector("y")
    f = rw.function([y], pt.sqrt(rw.assume(y, nonneg=True)) * 1, check=True, name="f")
    f.trust_input = True
    assert explain(f).functions[0].steps


def test_what_cannot_be_explained_says_why():
    f = rw.function([x], x * 1, name="f")
    with pytest.raises(InputError, match="was unpickled"):
        explain(pickle.loads(pickle.dumps(f)))
    with pytest.raises(OptionError, match="no option 'updates'"):
        explain(f, updates={})
    with pytest.raises(OptionError, match="no option 'inputs'"):
        explain(f, [x])


def test_states_without_a_name_are_called_after_their_variables_or_numbered():
    bias = rw.shared(np.zeros(2))
    others = [rw.shared(np.ones(2)) for _ in range(2)]
    y = pt.dvector("y")
    updates = [(v, v * 1 + y) for v in (bias, *others)]
    (found,) = explain((y + bias) * others[0] * others[1], updates=updates).functions
    vector = "<TensorType(float64, (None,))"
    assert [v.name for v in found.about.inputs] == ["y", "bias", f"{vector}>", f"{vector}_2>"]
    assert found.outputs[1:] == ("new bias", f"new {vector}>", f"new {vector}_2>")
    assert "bias * 1" in str(Report.of([found]))


def test_a_function_and_what_it_was_written_as_go_together():
    y = pt.dvector("y")
    out = pt.exp(y)
    f = rw.function([y], out, mode="vm")
    graph, own = weakref.ref(out), weakref.ref(f)
    del out, y
    gc.collect()
    assert graph() is not None
    del f
    gc.collect()
    assert (graph(), own()) == (None, None)


def test_inputs_are_found_also_those_of_updates():
    s = rw.shared(0.0, name="s")
    report = explain(x.sum(), updates={s: s + m.sum()})
    assert [str(v) for v in report.functions[0].record.before.inputs] == ["x", "m", "s"]


def test_selecting_functions():
    with recording() as recorder:
        rw.function([x], x * 1, name="f")
        rw.function([x], x + 0, name="g")
    report = Report(recorder.records)
    assert [f.name for f in report.select("g").functions] == ["g"]
    assert [f.name for f in report.select("1").functions] == ["f"]
    with pytest.raises(UnknownNameError, match="there are: 1 f, 2 g"):
        report.select("h")


# --- what is known of a function -----------------------------------------------------------------


def test_text_and_json_say_the_same():
    s = rw.shared(np.ones((4, 3)), name="s")
    z = m @ s
    cost = -(naive_log_softmax(z) * z).sum(axis=1).mean()
    (f,) = explain(cost, updates=[(s, s - rw.grad(cost, s))], name="train").functions
    *_, line = map(json.loads, json_lines(Report([f.record])))
    assert line["seconds"].keys() >= {
        "build",
        "rewrite",
        "link",
        "first call",
        *[p.phase for p in f.phases],
    }
    assert line["merged"] == f.about.merged
    assert [one["name"] for one in line["outputs"]] == [*f.outputs] == ["result", "new s"]
    assert [(v.name, v.state) for v in f.about.inputs] == [("m", False), ("s", True)]
    assert f.about.inputs[1].shape == [4, 3]
    assert [firing for one in f.stretches for firing in one.firings] == [*f.firings]
    assert all({firing.phase for firing in one.firings} == {one.phase} for one in f.stretches)
    with pytest.raises(AttributeError):
        f.check.basis = "another"


def test_a_phase_that_runs_twice_is_added_up():
    rules = all_rules()
    twice = [innermost(rules[name], name="twice") for name in ("log_of_exp", "exp_of_log")]
    mode = rw.Mode(optimizer=seq(*twice))
    (f,) = explain(pt.log(pt.exp(x)) + x, mode=mode).functions
    assert f.about.seconds["twice"] == sum(phase.seconds for phase in f.phases)
    assert [one.result for one in f.stretches] == [f.phases[0]]


def test_values_are_compared_once(monkeypatch):
    seen = []
    compare = model.check_values
    monkeypatch.setattr(model, "check_values", lambda record: (seen.append(1), compare(record))[1])
    report = explain(pt.log(1 + x), name="f")
    assert report.select("f").ok
    assert report.ok
    assert "f" in str(report)
    assert seen == [1]


# --- text --------------------------------------------------------------------------------------


def test_the_text_tells_everything():
    text = str(explain(naive_log_softmax(m), name="f", values=[[[1000.0, -1000.0]]]))
    for part in (
        "1 function compiled; ",
        "The graph as built: 4 nodes",
        "a = exp(m)",
        "result = log(a / Sum(a, axis=1, keepdims))",
        "exp(m) / Sum(exp(m), axis=1, keepdims) → Softmax(m",
        "softmax/softmax_from_exp rules/softmax.py:",
        "test_report.py:",
        "The graph rewritten: 1 node",
        "cost      nodes 4 → 1",
        "time      build",
        "assumes   nothing",
        "repaired: nan became",
    ):
        assert part in text


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_lines_keep_to_the_width(width):
    s = rw.shared(np.ones((4, 3)), name="s")
    z = m @ s
    cost = -(naive_log_softmax(z) * z).sum(axis=1).mean()
    text = explain(cost, updates=[(s, s - rw.grad(cost, s))], name="train").text(width)
    long = [line for line in text.splitlines() if len(line) > max(width, 60)]
    assert long == []


def test_the_text_has_no_colours():
    assert "\x1b" not in str(explain(x * 1))


def test_graphs_can_be_trees_or_left_out():
    report = explain(pt.log(1 + x))
    assert " └─ add [id B]" in report.text(tree=True)
    assert "The graph" not in report.text(graphs=False)


def test_firings_can_be_selected():
    report = explain(pt.log(1 + pt.exp(x)) * 1)
    text = report.text(rule="log1p_of_exp")
    assert "(1 of them shown)" in text
    assert "drop_identity" not in text
    assert "drop_identity" in report.text(phase="canonicalize")


def test_long_graphs_and_many_firings_are_cut():
    y = x
    for _ in range(150):
        y = pt.sin(pt.log(pt.exp(y)))
    report = explain(y, mode=rw.Mode().excluding("inplace"))
    text = report.text()
    assert "150× log(exp(x)) → x" in text
    assert "50 more, --full shows them: exp_log/log_of_exp 50×" in report.text(firings=True)
    assert "…" in text
    assert "more, --full" not in report.text(full=True)
    assert "rules, by time: 150 firings" in report.text(full=True)


def test_no_functions():
    assert str(Report([])) == "No function was compiled: nothing to explain.\n"


def test_a_function_that_cannot_be_run_says_so():
    with recording() as recorder:
        g = rw.function([x, m], m @ x, name="g")
    with pytest.raises(ValueError, match="not"):
        g([1.0], np.ones((2, 2)))
    text = " ".join(str(Report(recorder.records)).split())
    assert "values were not compared: the graph as it was built raises ShapeError" in text
    assert "the first call raised ShapeError" in text


# --- JSON --------------------------------------------------------------------------------------


def test_one_line_per_firing_and_one_per_function():
    report = explain(pt.log(1 + pt.exp(x)), name="f", mode=rw.Mode().excluding("inplace"))
    records = [json.loads(line) for line in json_lines(report)]
    kinds = [r["kind"] for r in records]
    assert kinds[:3] + kinds[-1:] == ["report", "firing", "firing", "function"]
    assert set(kinds[3:-1]) == {"phase", "graph"}
    first, last = records[1], records[-1]
    assert first["rule"] == "exp_log/log_of_one_plus"
    assert (first["before"], first["after"]) == ("log(1.0 + exp(x))", "log1p(exp(x))")
    assert first["rule_file"].endswith("exp_log.py")
    assert first["user_file"] == __file__
    assert first["claim"] == "refines"
    assert (last["nodes_before"], last["nodes_after"], last["firings"]) == (3, 1, 2)
    assert last["verdict"] in ("identical", "agree")
    assert last["outputs"][0]["name"] == "result"


def test_every_line_is_as_the_schema_says():
    report = explain([naive_log_softmax(m), m.sum() * 1], attempts=True)
    records = [json.loads(line) for line in json_lines(report)]
    kinds = {"report", "firing", "attempt", "phase", "graph", "function"}
    assert {r["kind"] for r in records} == kinds
    assert [p for r in records for p in problems(r, schema())] == []


def test_attempts_of_a_rule_and_at_an_op():
    report = explain([pt.log(1 + pt.exp(x)), pt.log(2 + x)], attempts=True)
    [(_, tries)] = report.attempts("log_of_one_plus")
    assert {(a.term, a.verdict) for a in tries} >= {
        ("log(1.0 + exp(x))", "fired"),
        ("log(2.0 + x)", "failed"),
    }
    [(_, tries)] = report.attempts("log1p")
    assert {str(a.node.op) for a in tries} == {"log1p"}
    with pytest.raises(UnknownNameError, match="no rule was tried that is called 'nope'"):
        report.attempts("nope")
    with pytest.raises(UnknownNameError):
        explain(pt.log(1 + x)).attempts("log_of_one_plus")


def test_what_is_taken_back_is_told_as_that():
    """Values, too, are those of the graph that is there."""

    @node_rewriter([pt.softplus])
    def breaks(fgraph, node):
        """Raises."""
        raise ZeroDivisionError

    rules = all_rules()
    one, two = rules["log_of_one_plus"], rules["log1p_of_exp"]
    bad = try_(seq(innermost(one, two, name="good"), innermost(breaks, name="bad")))
    both = seq(one, two)
    for parts, fired in (([bad], 0), ([bad, innermost(both, name="last")], 2)):
        mode = rw.Mode(optimizer=seq(*parts))
        values = [[-800.0, 0.0, 800.0]]
        report = explain(pt.log(1 + pt.exp(x)), mode=mode, attempts=True, values=values)
        [f] = report.functions
        assert [step.rule for step in f.steps] == [one, two][:fired]
        assert report.ok
        text = " ".join(report.text(100).split())
        assert f"What happened: {fired} firing" in text
        by = "taken back by try_(seq(good, bad)), as if they had never been"
        assert f"good: 2 firings {by}: {one.name} 1×, {two.name} 1×" in text
        assert text.count(f"in {both.name}") == fired
        assert "nothing to do for: bad" in text
        [(_, tries)] = report.attempts("log1p_of_exp")
        assert [a.verdict for a in tries if a.bindings] == ["taken back", "fired"][: 1 + fired]
        assert {step.strategy for step in f.steps} <= {both.name}
        records = [json.loads(line) for line in json_lines(report)]
        assert [p for r in records for p in problems(r, schema())] == []
        again = FunctionGraph([x], [pt.log(1 + pt.exp(x))])
        replay(json_lines(report), again, rules)
        after = f.record.after
        assert equal_computations(again.outputs, after.outputs, again.inputs, after.inputs)


def test_json_lines_of_some_firings():
    report = explain(pt.log(1 + pt.exp(x)))
    lines = list(json_lines(report, lambda step: step.number == 2))
    firings = [one for one in map(json.loads, lines) if one["kind"] == "firing"]
    assert [record["number"] for record in firings] == [2]


# --- what a rewriting rests on -------------------------------------------------------------------


def text_of(target, width=100, **options):
    return explain(target, **options).text(width, graphs=False)


def test_a_plain_guard_is_a_condition_and_assumes_nothing():
    text = text_of(pt.exp(x) / pt.exp(x).sum())
    assert "if stands_beside(x, axis, keepdims)" in " ".join(text.split())
    assert "given" not in text
    assert "assumes   nothing\n" in text


def test_a_fact_of_a_rule_that_assumes_nothing_is_no_assumption():
    text = text_of(pt.abs(pt.exp(x)))
    assert "given nonneg(x): because positive" in " ".join(text.split())
    assert "assumes   nothing\n" in text


def test_assumptions_are_granted_or_proved():
    n = pt.ivector("n")
    proved = text_of(pt.sin(n) - pt.sin(n))
    assert "assumes   nothing; facts proved fastmath (#1)\n" in proved
    granted = text_of(x - x, mode=rw.Mode().including("fastmath"))
    assert "assumes   fastmath (granted by the mode: #1)\n" in granted


def test_no_shipped_rule_has_a_guard_without_a_name():
    guards = [g.text for r in all_rules() for g in getattr(r, "guards", ())]
    assert guards
    assert [g for g in guards if "lambda" in g or g.startswith("condition")] == []


# --- how a firing is written ---------------------------------------------------------------------


def firing_lines(text, number):
    """The lines of one firing."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"#{number} "))
    after = range(first + 1, len(lines))
    return lines[first : next(i for i in after if not lines[i].startswith("    "))]


@pytest.mark.on_vm
def test_each_letter_has_its_line_where_they_fill_more_than_one():
    t = pt.tanh(x)
    b = pt.arctan(pt.cos(t)) * (1 - pt.sqr(t))
    report = explain(b + pt.exp(x) * b.sum())
    last = report.functions[0].steps[-1].number
    shown = [line.partition("   test_report")[0] for line in firing_lines(report.text(80), last)]
    assert [line.strip() for line in shown] == [
        f"#{last}   A + B, written into B",
        "A = arctan(cos(tanh(x))) * sech2(x), B = exp(x) * Sum(A)",
    ]
    assert [line.strip() for line in firing_lines(report.text(60), last)[1:]] == [
        "A = arctan(cos(tanh(x))) * sech2(x)",
        "B = exp(x) * Sum(A)",
    ]


def test_a_long_change_is_broken_at_its_arrow():
    p = pt.log(pt.exp(m) / pt.exp(m).sum(axis=1, keepdims=True))
    report = explain(p, mode=rw.Mode().excluding("inplace"))
    lines = firing_lines(report.text(60), 1)
    assert lines[0] == "#1   exp(m) / Sum(exp(m), axis=1, keepdims)"
    assert lines[1] == "     → Softmax(m, axis=(1,))"


def test_a_narrow_table_drops_columns_and_keeps_names_whole():
    phases = explain(pt.sin(x) - pt.sin(x) + pt.log(1 + pt.exp(x))).functions[0].phases
    for phase in phases:
        for stats in (phase, *phase.rules.values()):
            stats.seconds = 0.0  # (the column is as wide as the longest time)

    def lines(width):
        text = StringIO()
        console_for(text, width).print(rule_times(phases, width))
        return [" ".join(line.split()) for line in text.getvalue().splitlines()]

    for width, columns in [
        (100, "calls matches fired new gone"),
        (62, "calls fired"),
        (56, "fired"),
    ]:
        found = lines(width)
        assert f"rule {columns} ms" in found
        names = [line.partition(" ")[0] for line in found]
        assert "algebra/difference_with_itself_integer" in names
        assert "exp_log/log_of_one_plus" in names


def test_rules_are_printed_without_what_may_be_left_out():
    rules = all_rules()
    assert rules["softmax_from_exp"].text == (
        "exp(x) / Sum(axis=axis, keepdims=keepdims)(exp(x)) -> Softmax(axis=axis)(x), "
        "given stands_beside(x, axis, keepdims)"
    )
    assert "Sum(axis=axis)(exp(x))" in rules["sum_put_back"].text


def test_attempts_of_equations_are_those_that_saturation_used():
    a, b, v = pt.matrix("a"), pt.matrix("b"), pt.vector("v")
    mode = rw.Mode().including("saturate", "fastmath")
    report = explain(a @ b @ v, mode=mode, attempts=True)
    [(_, tries)] = report.attempts("matmul_assoc")
    assert [str(t) for t in tries] == ["a @ b @ v: equations/matmul_assoc.forward fired"]
    assert (tries[0].phase, tries[0].firing) == ("saturate", 1)
    with pytest.raises(UnknownNameError, match="saturation matches equations at all places"):
        explain(a @ (b @ v), mode=mode, attempts=True).attempts("matmul_assoc")


def test_inner_graphs_are_shown_and_their_firings_have_a_place() -> None:
    x, a = pt.dvectors("x", "a")
    f = OpFromGraph([x], [pt.log(1 + pt.exp(x))], name="f")
    report = explain(f(a) + f(2 * a))
    text = str(report)
    assert "f(x: float64[?]) = log(1.0 + exp(x))" in text
    assert "stabilize in f: 2 firings" in text
    assert "f(x: float64[?]) = softplus(x)" in text
    assert "f(a), with its graph rewritten" in text
    assert "inside f " in text
    assert "stabilize in f" in report.text(phase="stabilize")
    assert "Inner graphs:" in report.text(tree=True)
    assert report.ok


def test_calls_that_give_way_to_an_argument_are_told() -> None:
    x, a = pt.dvectors("x", "a")
    f = OpFromGraph([x], [pt.log(pt.exp(x)), pt.tanh(x)], name="f")
    report = explain(f(pt.sin(a)))
    changes = [(s.before, s.after) for s in report.functions[0].steps if s.phase == "inner"]
    assert changes == [
        ("f(sin(a))[0]", "sin(a)"),
        ("f(sin(a))", "f(sin(a)), with its graph rewritten"),
    ]
    assert report.ok


def test_the_lines_of_a_trace_replay_in_each_graph() -> None:
    x, a = pt.dvectors("x", "a")
    f = OpFromGraph([x], [pt.log(1 + pt.exp(x))], name="f")
    trace, mode = Trace(terms=True), Mode().excluding("inplace")
    compiled = function([a], pt.log(pt.exp(f(a))), mode=mode, trace=trace)
    lines = [json.loads(line) for line in trace.lines()]
    graphs = dict.fromkeys(line["graph"] for line in lines if line["kind"] == "firing")
    inner, outer = graphs
    (op,) = held(compiled.fgraph)
    for number, expected in (inner, op.fgraph), (outer, compiled.fgraph):
        chosen = [line for line in lines if line.get("graph") == number]
        graph = replay(chosen, trace.oldest(number), mode.rules, mode.optimizer)
        assert equal_computations(graph.outputs, expected.outputs, graph.inputs, expected.inputs)


@pytest.mark.on_vm
def test_a_phase_that_runs_twice_is_counted_each_time():
    """Graphs inside ops are worked on before the outer one, and again in place."""
    op = rw.OpFromGraph([x], [pt.log(1 + pt.exp(x)), pt.exp(x) * 2])
    a, b = op(pt.sqr(x))
    text = explain(rw.grad(a.sum(), x) + b, [x]).text(100)
    found = [
        line.split(",")[0].strip() for line in text.splitlines() if line.startswith("  inner:")
    ]
    counted = [int(line.split()[1]) for line in found]
    lines = [line for line in text.splitlines() if "with its graph rewritten" in line]
    ranges = [re.match(r"#(\d+)(?:–(\d+))? ", line).groups() for line in lines]
    shown = sum(int(last or first) - int(first) + 1 for first, last in ranges)
    assert len(found) > 1
    assert sum(counted) == shown
