"""Reports of programs of real size: one screen, what mattered first, nothing that prints alike."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile.from_graph import OpFromGraph
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.explain import Report, explain, recording
from rewrite_engine.graph.origin import forward_line
from rewrite_engine.printing import pp

PROGRAMS = Path(__file__).parent / "programs"
x, m = pt.vector("x"), pt.matrix("m")


@pytest.fixture(scope="module", params=["layers", "density", "kalman", "unrolled"])
def report(request):
    with recording() as recorder:
        runpy.run_path(str(PROGRAMS / f"{request.param}.py"))
    return Report(recorder.records)


@pytest.mark.parametrize("width", [80, 100])
def test_a_report_has_no_more_than_120_lines(report, width):
    assert report.text(width).count("\n") <= 120
    assert report.ok


def test_every_firing_belongs_to_one_family(report):
    (f,) = report.functions
    steps = [firing.number for family in f.families for firing in family.firings]
    assert sorted(steps) == [step.number for step in f.steps]
    assert len({(family.phase, family.rule) for family in f.families}) == len(f.families)


def test_what_is_spared_is_what_left_less_what_came(report):
    (f,) = report.functions
    spared = sum(family.saved.nodes for family in f.families)
    own = [step for step in f.steps if " in " not in step.phase]
    if len(own) == len(f.steps):  # (what is merged is nobody's firing)
        merged = sum(n for name, n in f.about.merged.items() if name != "build")
        assert abs(f.about.nodes_before - f.about.nodes_after - spared) <= merged + len(own)
    assert all(n >= 0 for n in f.about.merged.values())


def test_no_variable_of_a_loop_prints_as_its_type(report):
    assert "TensorType" not in report.text(200)


def test_all_outputs_of_a_loop_are_there_and_one_op_is_one_firing():
    with recording() as recorder:
        runpy.run_path(str(PROGRAMS / "kalman.py"))
    report = Report(recorder.records)
    for graph in report.text(80, full=True).split("The graph ")[1:]:
        for k in range(4):
            assert f"  output {k}: " in graph
    text = report.text(80, phase="loops", graphs=False)
    first, last = map(int, re.search(r"#(\d+)–(\d+) gradient of Scan", text).groups())
    assert last - first == 2
    assert "  2× gradient of Scan" in report.text(80)


def test_the_story_says_what_a_rule_went_by():
    with recording() as recorder:
        runpy.run_path(str(PROGRAMS / "density.py"))
    text = Report(recorder.records).text(80)
    place = text.index("log(A) → softplus(")
    assert "A = 15.707963267948966 * (1.0 + sqr(exp(ls_a) / 5.0))" in text[place : place + 200]
    assert "saves 12…" not in text


def test_functions_of_which_the_same_is_told_are_one_row():
    with recording() as recorder:
        for _ in range(7):
            rw.function([x], pt.exp(x))
        rw.function([x], pt.sin(x), name="other")
    text = Report(recorder.records).text(100)
    assert "1–7  function at test_story.py:" in text
    assert "(7×)" in text


def test_inputs_without_a_name_inside_of_ops_are_told_apart():
    with recording() as recorder:
        runpy.run_path(str(PROGRAMS / "kalman.py"))
    report = Report(recorder.records)
    terms = [answer.term for _, answer in report.why("kalman.py:19")]
    assert any("FactorSolve(?5, ?6" in term for term in terms)
    (f,) = report.functions
    letters = [text for step in f.steps for _, text in step.change.letters]
    assert any(text.startswith("an input, float64[") for text in letters)
    assert not [text for text in letters if "TensorType" in text]


def test_many_functions_are_a_table_and_the_rest_by_name():
    with recording() as recorder:
        for k in range(40):
            rw.function([x], pt.log(1 + pt.exp(x)) * (k + 2), name=f"f{k}")
    text = Report(recorder.records).text(80)
    assert text.count("\n") <= 120
    assert "--function NAME shows one of: " in text
    assert "… " in text


@pytest.mark.on_vm
def test_a_rule_that_stabilises_comes_before_one_that_spares_more():
    y = m
    for _ in range(21):
        y = pt.sin(y * 1.0)
    z = pt.log(pt.exp(y) / pt.exp(y).sum(axis=1, keepdims=True)) + y**2
    text = explain(z, values=[np.ones((3, 2))]).text(100)
    assert text.index("softmax/log_of_softmax") < text.index("pow_two")
    assert "· stabilizes" in text
    assert "in place: " in text


def test_firings_are_listed_one_by_one_where_asked():
    y = x
    for _ in range(30):
        y = pt.sin(y * 1.0)
    report = explain(y)
    assert "30× " in report.text()
    assert "#30 " in report.text(firings=True)


def test_a_function_that_failed_to_compile_is_told():
    with recording() as recorder, pytest.raises(RewriteEngineError):
        rw.function([x, x], x + 1, name="lost")
    (failed,) = Report(recorder.records, recorder.failed).failed
    assert failed.name == "lost"
    assert failed.file.endswith("test_story.py")
    text = Report(recorder.records, recorder.failed).text()
    assert "FAILED to compile: lost" in text


def test_a_node_of_a_gradient_knows_the_line_that_was_differentiated():
    y = pt.sin(x) ** 3
    line = y.owner.where()[1]
    g = rw.grad(y.sum(), x)
    lines = {forward_line(node.origin) for node in g.owner.inputs[0].owner and [g.owner]}
    assert {found[1] for found in lines if found} == {line}
    assert forward_line(y.owner.origin) is None


def test_a_declaration_that_is_not_true_is_told():
    y = rw.assume(x, positive=True)
    report = explain(pt.abs(y), values=[[-1.0]])
    assert not report.ok
    text = " ".join(report.text().split())
    assert "UNTRUE call 1: x is not positive, as declared at" in text
    assert "assumes Assume(x, positive), as it is declared (#1)" in text
    assert explain(pt.abs(y), values=[[1.0]]).ok


def test_a_module_can_be_called():
    assert rw.explain(pt.log(1 + x)).ok


# --- loops ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filtered() -> Report:
    """The report on a Kalman filter with its gradient."""
    with recording() as recorder:
        runpy.run_path(str(PROGRAMS / "kalman.py"))
    return Report(recorder.records)


def test_rules_of_loops_come_before_those_inside(filtered: Report) -> None:
    (f,) = filtered.functions
    ranked = sorted(f.families, key=lambda one: one.weight, reverse=True)
    ranked = [one for one in ranked if one.kind == "rule" and not one.is_safety]
    about = [one.is_about_loops for one in ranked]
    assert any(about)
    assert about == sorted(about, reverse=True)
    text = filtered.text(80).partition("What happened")[2].partition("The graph")[0]
    assert "drop_unused" in text
    assert "drop_unused" not in text.partition("of other rules")[2]


def test_a_rule_that_fires_in_two_graphs_has_one_line() -> None:
    ys, w = pt.vector("ys"), pt.scalar("w")
    step = lambda y, h, w: pt.tanh(w * (y - h) ** 2)
    h, _ = rw.scan(step, sequences=[ys], outputs_info=[pt.constant(0.0)], non_sequences=[w])
    loss = (h**2).sum()
    (f,) = explain([loss, rw.grad(loss, w)]).functions
    rules = [one.rule for one in f.families if one.rule == "algebra/pow_two"]
    phases = {step.phase for step in f.steps if step.rule_name == "algebra/pow_two"}
    assert len(phases) > 1  # in the loop, in that of the gradient, and outside
    assert len(rules) == 1


def test_what_a_firing_in_a_loop_saves_counts_for_each_step() -> None:
    ys, w = pt.dvector("ys"), pt.dscalar("w")
    h, _ = rw.scan(
        lambda y, h, w: pt.tanh(w * (y - h) ** 2),
        sequences=[ys], outputs_info=[pt.constant(0.0)], non_sequences=[w],
    )  # fmt: skip
    saved = []
    for n in (10, 1000):
        mode = rw.Mode().including("canonicalize").excluding("loops", "inplace")
        (f,) = explain(h, [ys, w], mode=mode, values=[[1.0] * n, 1.0]).functions
        (one,) = [one for one in f.families if one.rule == "algebra/pow_two"]
        saved.append(one.saved)
    assert saved[0].flops > 0
    assert saved[1].flops == 100 * saved[0].flops
    assert saved[1].nodes == saved[0].nodes == 0


def test_a_change_of_a_loop_is_told_in_sizes() -> None:
    ys, w = pt.vector("ys"), pt.scalar("w")
    (a, b), _ = rw.scan(
        lambda y, s, w: (s + y, s * y * pt.exp(w)),
        sequences=[ys], outputs_info=[pt.constant(0.0), None], non_sequences=[w],
    )  # fmt: skip
    last, total = explain(a[-1] + 0 * w), explain(b.sum())
    (dropped,) = [s for s in last.functions[0].steps if s.rule_name == "loops/drop_unused"]
    assert dropped.change.of_graph == "Scan: 3 → 1 nodes inside, 4 → 3 inputs, 3 → 2 outputs"
    (after,) = [s for s in total.functions[0].steps if s.rule_name == "loops/compute_after"]
    assert after.change.of_graph.startswith("Scan → steps of Scan: 2 → 1 nodes inside, ")
    assert after.change.of_graph.endswith("1 node moved to Scan")
    assert after.change.of_graph in " ".join(total.text(100).split())
    assert [s.change.of_graph for s in explain(pt.log(pt.exp(ys))).functions[0].steps] == [""]


def test_a_loop_is_shown_as_a_function_with_the_names_of_the_program(filtered: Report) -> None:
    text = filtered.text(100)
    built = text.partition("The graph as built")[2].partition("What happened")[0]
    types = "ys[t]: float64[?], m: float64[2], P: float64[2, 2], A: float64[?, ?], Q: float64[2, 2]"
    assert f"def Scan({types}, C: float64[?, ?], R: float64[1, 1]):" in " ".join(built.split())
    assert "      mp = A @ m   float64[?]\n" in built
    for line in ("Pp = A @ P @ A.T + Q   float64[2, 2]", "r = ys[t] - C @ mp   float64[?]"):
        assert f"\n      {line}\n" in built
    assert "\n      return " in built
    assert "UNTRUE" not in text
    full = filtered.text(100, full=True)
    assert "more line" not in full


def test_names_of_a_gradient_are_not_those_of_its_line() -> None:
    ys, w = pt.vector("ys"), pt.scalar("w")
    h, _ = rw.scan(
        lambda y, h, w: pt.tanh(w * y + h),
        sequences=[ys], outputs_info=[pt.constant(0.0)], non_sequences=[w],
    )  # fmt: skip
    slope = rw.grad((h**2).sum(), w)
    built = explain(slope).text(100, full=True).partition("The graph as built")[2]
    assert "def gradient of Scan" in built
    assert "    slope = " not in built


def test_names_of_steps_are_not_taken_twice() -> None:
    ys, w = pt.vector("ys"), pt.scalar("w")

    def step(y, h, w):
        t = pt.tanh(w * y + h)  # (the step is called t in ys[t])
        t = t * t + 1
        exp = pt.exp(t)
        w = exp * exp + t
        return w + w

    h, _ = rw.scan(step, sequences=[ys], outputs_info=[pt.constant(0.0)], non_sequences=[w])
    text = explain(h, mode=rw.Mode(optimizer=None)).text(100).partition("as built")[2]
    defined = re.findall(r"^      (\w+) = ", text.partition("return")[0], re.MULTILINE)
    assert len(defined) == len({*defined}) > 3
    assert not {*defined} & {"t", "exp", "w", "ys"}


def test_arrays_without_elements_are_counted() -> None:
    empty = [pt.constant(np.empty((0, k))) for k in range(2, 5)]
    f = OpFromGraph([(v := pt.matrix()) for _ in empty], [v * 1.0], name="f")
    assert pp(f(*empty)).endswith("f(… 3 arrays without elements)")
    assert pp(f(*empty[:2], m)).endswith("f(float64[0, 2], float64[0, 3], m)")


def test_second_is_said_in_words_where_it_is_left() -> None:
    means = "second(a, b) is b in the shape of a"
    assert means in explain(pt.second(x, m[0, 0])).text(100)
    assert means not in explain(pt.exp(x)).text(100)
