"""What notebooks show: well-formed, small, complete, and without anything from a network."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check.finding import CheckReport, Finding, Kind
from rewrite_engine.explain.notebook import MAX_PAGE_BYTES
from rewrite_engine.language import Inexact, rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import all_rules

x, v, m = pt.dscalar("x"), pt.vector("v"), pt.matrix("M")
VOID = re.compile(r"<(br|hr)>")


def parsed(shown: Any) -> Any:
    """The HTML of an object as a tree: well-formed, and of nothing that has to be fetched."""
    html = shown._repr_html_()
    own = html.replace('xmlns="http://www.w3.org/2000/svg"', "")
    outside = re.sub(r'srcdoc="[^"]*"', 'srcdoc=""', own)  # (a page of its own, tested as such)
    assert not re.search(r"https?:|src=|href=|url\(|<script|<link", outside)
    return ElementTree.fromstring(VOID.sub(r"<\1/>", outside))


def texts(root: Any, tag: str) -> list[str]:
    return ["".join(one.itertext()) for one in root.iter(tag)]


def test_a_variable_is_a_formula_with_its_graph_folded_below() -> None:
    root = parsed(pt.log(1 + pt.exp(x)) / x)
    assert root.find(".//math") is not None
    assert root.find(".//mfrac") is not None
    assert root.find(".//annotation").text.startswith(r"\frac{\log\left(1 + e^{x}\right)}{x}")
    assert texts(root, "summary") == ["Graph: 4 nodes", "LaTeX"]
    folded = root.findall(".//details")
    assert folded[0].find(".//svg") is not None
    assert [one.get("open") for one in folded] == [None, None]
    assert folded[1].find(".//pre").text == root.find(".//annotation").text


def test_a_name_is_only_a_formula() -> None:
    assert texts(parsed(x), "summary") == ["LaTeX"]
    assert texts(parsed(x), "mi") == ["x"]


def test_a_function_shows_its_arguments_and_updates() -> None:
    w = rw.shared(1.0, name="w")
    f = rw.function([x], x * w, updates={w: w + 1}, name="f", mode="vm")
    html = f._repr_html_()
    assert "f(x) · 2 nodes · Mode(" in html
    assert "<mo>←</mo>" in html
    assert parsed(f.fgraph).find(".//mtable") is not None


@pytest.mark.parametrize("grow", [pt.sin, lambda y: y + pt.exp(y), lambda y: pt.add(*[y] * 50)])
def test_what_a_large_graph_shows_is_small(grow: Any) -> None:
    y = v
    for _ in range(3000):
        y = grow(y)
    root = parsed(y)
    assert len(y._repr_html_()) < 40_000
    (graph, _) = texts(root, "summary")
    assert re.fullmatch(r"Graph: the \d+ nodes? nearest to the outputs", graph)
    assert "…" in "".join(root.find(".//math").itertext())


def test_a_node_with_many_operands_has_no_picture() -> None:
    y = pt.add(*[pt.dscalar(f"x_{i}") for i in range(1000)])
    assert y._repr_svg_() is None
    assert parsed(y).find(".//svg") is None
    assert "see `svg`" in y._repr_html_()


def test_wide_formulas_scroll_and_colours_are_those_of_the_page() -> None:
    root = parsed(pt.exp(x) + 1)
    assert "overflow:auto" in root.find(".//math/..").get("style")
    styles = "".join([one.get("style") or "" for one in root.iter()])
    assert "color" not in styles.replace("background-color", "")


def test_rules_and_sets_of_rules() -> None:
    rules = all_rules()
    rule = rules["log_of_one_plus"]
    root = parsed(rule)
    assert "→" in "".join(root.find(".//math").itertext())
    assert "loses every digit" in rule._repr_html_()
    few = RuleSet(list(rules)[:4])
    assert len(texts(parsed(few), "tr")) == 4 + len({rule.phase for rule in few})
    every = parsed(rules)
    assert f"{len(rules)} rules" in rules._repr_html_()
    assert len(rules._repr_html_()) < 60_000
    assert sum(int(re.findall(r"(\d+) rules?$", s)[0]) for s in texts(every, "summary")) == len(
        rules
    )
    assert parsed(RuleSet()) is not None


@pytest.mark.parametrize(
    "mode",
    [rw.Mode("vm"), rw.Mode("fast_compile").excluding("log_of_exp"), rw.Mode(optimizer=None),
     rw.Mode("DebugMode"), rw.Mode(optimizer=rw.Mode("vm").optimizer)],
    ids=str,
)  # fmt: skip
def test_a_mode_shows_its_phases(mode: Any) -> None:
    root = parsed(mode)
    assert texts(root, "pre") == [repr(mode)]
    if mode.optimizer is not None:
        assert "canonicalize" in texts(root, "td")


def test_a_mode_that_cannot_be_used_says_why() -> None:
    html = rw.Mode("vm").excluding("log_of_exq")._repr_html_()
    assert "log_of_exq" in html
    assert "did you mean" in html


def test_a_profile_shows_its_tables() -> None:
    f = rw.function([v], pt.exp(v).sum() + v.max(), profile=True, name="f", mode="vm")
    f([1.0, 2.0])
    root = parsed(f.profile)
    assert "f: 1 call" in f.profile._repr_html_()
    assert texts(root, "summary")[:2] == ["by op class", "by op"]
    assert {"exp", "Sum"} <= set(texts(root, "td"))
    assert len({len(row) for row in root.find(".//table").iter("tr")}) == 1
    parsed(rw.function([v], v + 1, profile=True, mode="vm").profile)


def test_a_check_shows_findings_with_their_examples() -> None:
    wrong = Finding(Kind.WRONG, "claims", "claim", "a/b", ("f.py", 3), "1 < 2", "x = 1", "keep")
    report = CheckReport([wrong], [wrong], 3, {"claims": 0.1})
    root = parsed(report)
    assert texts(root, "summary") == ["example", "1 finding that a rule explains", "example"]
    assert "1 &lt; 2" in report._repr_html_()
    parsed(CheckReport())


# --- pictures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [rw.printing.svg, rw.printing.dot, rw.printing.mermaid])
def test_pictures_are_texts_that_notebooks_draw(draw: Any) -> None:
    class Printer:
        said = ""

        def text(self, text: str) -> None:
            self.said += text

    picture = draw(pt.exp(x) + 1)
    assert isinstance(picture, str)
    ElementTree.fromstring(picture._repr_svg_())
    printer = Printer()
    picture._repr_pretty_(printer, False)
    assert len(printer.said) < 100


# --- reports -------------------------------------------------------------------------------------


def test_a_report_is_one_output_with_everything_in_it() -> None:
    report = rw.explain(pt.log(1 + pt.exp(x)), name="f")
    root = parsed(report)
    assert len(root.findall(".//math")) == 2
    assert texts(root, "summary") == [
        "1. f", "as code", "as code", "The report as text",
        "Step by step: 2 firings, with the graph",
    ]  # fmt: skip
    assert "<code>log(1.0 + exp(x))</code>" in report._repr_html_()
    assert [one.text for one in root.findall(".//pre")] == [
        "result = log(1.0 + exp(x))", "result = softplus(x)", report.text(),
    ]  # fmt: skip
    page = unescape(re.search(r'srcdoc="([^"]*)"', report._repr_html_())[1])
    assert page == report.html()
    assert page.startswith("<!DOCTYPE html>")
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_a_loop_in_a_report_is_code() -> None:
    h, _ = rw.scan(lambda a, b: pt.log(1 + pt.exp(a + b)), v, pt.constant(0.0), name="sums")
    root = parsed(rw.explain(h, name="f"))
    code = [str(one.text) for one in root.findall(".//pre")]
    assert re.match(r"def sums\(\w\[t\], b: float64\):\n    a = log\(", code[0])
    assert "softplus" in code[1]
    assert texts(root, "summary")[1:3] == ["in mathematical notation"] * 2


def test_the_text_in_a_report_has_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in rw.explain(pt.exp(x) * 2).text()


def test_a_page_that_is_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    report = rw.explain(pt.exp(x) * 2)
    assert MAX_PAGE_BYTES > 1 << 20
    monkeypatch.setattr("rewrite_engine.explain.notebook.MAX_PAGE_BYTES", 1000)
    assert parsed(report).find(".//iframe") is None
    assert "report.html(file)" in unescape(report._repr_html_())


def test_a_report_is_written_as_a_page(tmp_path: Any) -> None:
    report = rw.explain(pt.exp(x) * 2)
    text = report.html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text


def test_reports_on_many_functions_and_on_none_are_short() -> None:
    with rw.explain.recording() as recorder:
        for k in range(30):
            rw.function([v], pt.exp(v * k).sum(), name=f"f{k}", mode="vm")
    report = rw.explain.Report(recorder.records)
    root = parsed(report)
    assert len(root.find(".//table").findall(".//tr")) == 1 + 20 + 1
    assert "… 10 more" in texts(root, "td")
    shown = [text for text in texts(root, "summary") if re.match(r"\d+\. f\d+$", text)]
    assert shown == ["1. f0", "2. f1", "3. f2", "4. f3"]
    assert any(
        text.startswith("--function NAME shows one of: 5 f4, ") for text in texts(root, "div")
    )
    assert "nothing to explain" in parsed(rw.explain.Report([])).find(".//b").text


def test_values_of_a_report_that_disagree_are_marked() -> None:
    @rule(phase="canonicalize")
    def sinh_is_cosh(x: Inexact) -> Any:
        """It is not."""
        return pt.sinh(x) >> pt.cosh(x)

    right = rw.explain(pt.sinh(v), mode="vm")
    wrong = rw.explain(pt.sinh(v), mode=rw.Mode("vm") + sinh_is_cosh)
    marked = [one.find(".//span[@style]") is not None for one in (parsed(right), parsed(wrong))]
    assert marked == [False, True]
