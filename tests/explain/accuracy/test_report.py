"""The report as text, JSON and HTML."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.accuracy.report import finite
from rewrite_engine.explain.accuracy.show import MAX_OUTPUTS


@pytest.fixture(scope="module")
def report():
    x = pt.vector("x")
    mode = rw.Mode("fast_run").excluding("variance_by_squares")
    f = rw.function([x], [pt.mean(x**2) - pt.mean(x) ** 2, pt.exp(x)], name="f", mode=mode)
    return rw.accuracy(f, 1e6 + np.arange(9.0) / 7)


def test_text(report):
    lines = str(report).splitlines()
    assert lines[0].startswith("f: ")
    assert "digits are right as written" in lines[0]
    assert lines[2].split()[:4] == ["as", "written", "compiled", "of"]
    assert any(line.startswith("Steps that lose digits, as written ──") for line in lines)
    (step,) = [line for line in lines if "cancels" in line][:1]
    assert "test_report.py:" in step
    assert any(line.startswith("Write mean((x - mean(x))**2) for mean(x**2)") for line in lines)
    assert lines[-1].startswith("on the given arguments, compared with 100 digits")
    assert max(map(len, lines)) <= 100


def test_infinite_results_are_right_where_numbers_are_too_large(report):
    _, powers = report.outputs
    assert (powers.value, powers.compiled) == ("inf", powers.full)


def test_repr(report):
    assert (
        repr(report)
        == f"<AccuracyReport of f: {report.written:.1f} → {report.compiled:.1f} digits>"
    )


def test_json(report, tmp_path):
    data = json.loads(report.to_json(tmp_path / "report.json"))
    assert data == json.loads((tmp_path / "report.json").read_text())
    assert (data["kind"], data["version"], data["name"]) == ("accuracy", 1, "f")
    assert data["outputs"][0]["compiled"] == report.outputs[0].compiled
    (loss,) = data["losses"]
    assert loss["lost"] == pytest.approx(loss["before"] - loss["after"])
    assert loss["line"][1] > 0
    assert data["suggestions"][0]["name"] == "variance by squares"


def test_json_has_only_numbers_that_json_knows():
    assert finite({"a": [math.inf, 1.0, (math.nan,)]}) == {"a": ["inf", 1.0, ["nan"]]}


def test_html(report, tmp_path):
    page = report.html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    shown = report._repr_html_()
    assert shown in page
    assert "Steps that lose digits, as written" in shown
    assert shown.count("<td") > 20
    assert "mean((x - mean(x))**2)" in shown


def test_names_are_escaped():
    x = pt.vector("<b>x")
    shown = rw.accuracy(rw.function([x], pt.exp(x), name="<i>f"), [1.0])._repr_html_()
    assert "<i>" not in shown
    assert "&lt;i&gt;f" in shown


def test_many_outputs_are_cut_to_the_worst():
    x = pt.vector("x")
    outputs = [pt.exp(x * k) for k in range(MAX_OUTPUTS + 5)]
    text = str(rw.accuracy(rw.function([x], outputs), [1.1]))
    assert "… 5 more outputs" in text


def test_shares_of_the_error():
    """Two steps that lose digits: only one matters for the result."""
    x = pt.vector("x")
    tiny = (x + 1e8) - 1e8
    f = rw.function([x], tiny * 1e-30 + pt.sqr(x) - pt.sqr(x + 1e-9), mode="fast_compile")
    report = rw.accuracy(f, [1.2345])
    assert all(loss.share > 0.5 for loss in report.losses)
    assert not any("+ 1e+08" in loss.step for loss in report.losses)


def test_an_output_that_no_formula_helps():
    """The sine of a large angle is another one if the angle changes in its last digit."""
    x = pt.vector("x")
    report = rw.accuracy(rw.function([x], pt.sin(x * 1e12)), [1.1])
    assert report.compiled < 6
    assert report.suggestions == ()
    said = " ".join(str(report).split())
    assert "no formula has more right digits if inputs are rounded" in said
    assert "No rule" not in said
