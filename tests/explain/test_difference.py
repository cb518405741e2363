"""What differs between two reports: of two modes or sets of rules, and of saved ones."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import InputError, UnknownNameError
from rewrite_engine.explain.__main__ import main
from rewrite_engine.explain.difference import compared, differences
from rewrite_engine.explain.lines import json_lines
from rewrite_engine.explain.record import recording
from rewrite_engine.explain.report import Report, explain

PROGRAMS = Path(__file__).parent / "programs"
x, y = pt.vector("x"), pt.vector("y")


def saved(report, title="saved"):
    return Report.of_lines(json_lines(report), title)


def test_rules_that_are_left_out():
    found = differences(explain(pt.log(1 + pt.exp(x))), "stabilize")
    assert found.titles == ("as it is", "without stabilize")
    [one] = found.functions
    assert one.rules["exp_log/log1p_of_exp"] == (1, 0)
    assert one.lines[1:] == ("-result = softplus(x)", "+result = log(1.0 + exp(x))")
    assert one.outputs == ("result",)
    assert not one.alike


def test_the_same_mode_differs_in_nothing():
    [one] = differences(explain(pt.log(1 + pt.exp(x))), "fast_run").functions
    assert one.alike


def test_what_nobody_knows_is_told():
    with pytest.raises(UnknownNameError):
        differences(explain(x + 1), "no_such_rule")


def test_a_long_graph_differs_where_it_is_computed_differently_not_above():
    with recording() as recorder:
        runpy.run_path(str(PROGRAMS / "unrolled.py"))
    [one] = differences(Report(recorder.records), "sum_of_squares").functions
    assert one.rules["dot/sum_of_squares"] == (60, 0)
    assert one.outputs == ("output 0",)
    [place] = one.places
    assert place.line == "unrolled.py:15"
    assert place.less == {"dot": 60}
    assert place.more["Sum"] == 60


def test_what_differs_inside_of_a_loop_is_found_there():
    def step(a, b):
        return pt.log(1 + pt.exp(a + b))

    ys, _ = rw.scan(step, sequences=[x], outputs_info=[pt.constant(0.0)], name="sums")
    [one] = differences(explain(ys), "stabilize").functions
    assert one.outputs == ("result",)
    [place] = [p for p in one.places if p.line.endswith(", inside of sums")]
    assert place.less == {"softplus": 1}
    assert place.more["log"] == 1


@pytest.mark.on_vm
def test_where_ops_work_is_no_difference():
    report = explain(pt.exp(x * 2) * y)
    [one] = differences(report, "inplace").functions
    assert set(one.rules) == {"inplace/overwrite_dead_input"}
    assert not one.outputs
    assert not one.places


def test_saved_reports_are_compared_with_their_versions():
    lines = list(json_lines(explain(pt.log(1 + pt.exp(x)), name="f")))
    old = [line.replace('"rewrite_engine": "', '"rewrite_engine": "old ') for line in lines]
    mode = rw.Mode().excluding("stabilize")
    new = list(json_lines(explain(pt.log(1 + pt.exp(x)), name="f", mode=mode)))
    found = compared(Report.of_lines(old, "a"), Report.of_lines(new, "b"))
    assert found.titles[0].startswith("a (rewrite_engine old ")
    assert found.titles[1].startswith("b (rewrite_engine ")
    [one] = found.functions
    assert one.outputs == ("result",)
    assert compared(Report.of_lines(old, "a"), Report.of_lines(lines, "b")).functions[0].alike


def test_a_report_of_the_first_fields_is_read_printed_and_compared():
    first = Report.read(str(Path(__file__).parent / "reports" / "first.json"))
    text = str(first)
    assert "#2   log1p(exp(x)) → softplus(x)" in text
    assert "claims    kept by 2 firings, on random inputs" in text
    assert "  result = softplus(x)" in text
    [one] = compared(first, explain(pt.log(1 + pt.exp(x)), name="term")).functions
    assert not one.outputs
    assert not one.rules


def test_functions_that_only_one_report_has():
    a = saved(explain(x + 1, name="a"))
    b = saved(explain(x + 1, name="b"))
    one, other = compared(a, b).functions
    assert (one.name, one.new) == ("a", None)
    assert (other.name, other.old) == ("b", None)
    assert not one.alike


def test_constants_of_other_values_are_other_terms():
    [one] = compared(saved(explain(x + 1.5, name="f")), saved(explain(x + 2.5, name="f"))).functions
    assert one.outputs == ("result",)


def test_the_order_of_terms_of_a_sum_is_no_difference():
    mode = rw.Mode(optimizer=None)
    a, b = explain(x + y, mode=mode, inputs=[x, y]), explain(y + x, mode=mode, inputs=[x, y])
    [one] = compared(saved(a), saved(b)).functions
    assert one.alike


def test_the_command_compares_files(tmp_path, capsys):
    old, new = str(tmp_path / "old.json"), str(tmp_path / "new.json")
    term = ["--expr", "log(1 + exp(x))"]
    assert main(["--json", old, *term]) == 0
    assert main(["--json", new, "--exclude", "stabilize", "--expr", "log(1 + exp(x))"]) == 0
    rw.config.mode = "fast_run"
    capsys.readouterr()
    assert main(["--diff", old, new]) == 0
    text = capsys.readouterr().out
    assert "term: old.json → new.json" in text
    assert "fired only in old.json: exp_log/log1p_of_exp 1×" in text
    assert "+result = log(1.0 + exp(x))" in text
    assert main(["--diff", old, *term]) == 0
    assert "the same in old.json and as it is: term" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["{}", "no json", '{"kind": "firing"}', ""])
def test_a_file_that_is_no_report_is_refused(text):
    with pytest.raises(InputError):
        Report.of_lines(text.splitlines(), "file")


def test_a_report_of_another_schema_is_refused():
    lines = [json.dumps(json.loads(line) | {"version": 99}) for line in json_lines(explain(x))]
    with pytest.raises(InputError, match="version 99"):
        Report.of_lines(lines, "file")
