"""LaTeX as MathML."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any
from xml.etree import ElementTree

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.printing import mathematics
from rewrite_engine.printing.latex import LatexText, latex, rule_as_latex
from rewrite_engine.printing.mathml import OPERANDS, PIECE, mathml
from tests.tensor.test_samples import CASES, apply

latex_module = import_module("rewrite_engine.printing.latex")
mathml_module = import_module("rewrite_engine.printing.mathml")

x, mu, sigma = pt.dscalars("x", "mu", "sigma_a")
v, m = pt.vector("v"), pt.matrix("M")

#: what MathML's elements have inside of them
CHILDREN = {"mfrac": 2, "msup": 2, "msub": 2, "msubsup": 3, "mover": 2, "munder": 2}


def checked(text: str) -> Any:
    """The MathML of LaTeX as a tree: every element has the children that it needs, and no command
    was left as it is written.
    """
    root = ElementTree.fromstring(mathml(text, annotated=False))
    for element in root.iter():
        if element.tag in CHILDREN:
            assert len(element) == CHILDREN[element.tag], text
        if element.tag in ("mi", "mo", "mn", "mtext"):
            assert len(element) == 0
            assert "\\" not in (element.text or "")
        else:
            assert not (element.text or "").strip()
    return root


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.given}")
def test_every_op_is_written(case: Any) -> None:
    inputs, outputs = apply(case.op, case.values(), False)
    for i, one in enumerate(inputs):
        one.name = f"x_{i}"
    for one in outputs:
        text = "".join(checked(latex(one)).itertext())
        assert "left" not in text.replace("side=left", "").replace("'left'", "")


def test_every_rule_is_written() -> None:
    rules = [rule for rule in all_rules() if hasattr(rule, "_repr_latex_")]
    assert len(rules) > 100
    for rule in rules:
        assert "→" in "".join(checked(rule_as_latex(rule)).itertext())


def test_every_command_of_the_notations_is_known() -> None:
    sources = inspect.getsource(latex_module) + inspect.getsource(mathematics)
    known = {*mathml_module.OPERATORS, *mathml_module.VALUES, *mathml_module.FUNCTIONS, *OPERANDS}
    known |= {"left", "right", "begin", "end", "mathrm", "text", "operatorname", "mathrel"}
    known |= {"lfloor", "rfloor", "lceil", "rceil", *mathml_module.SPELLED}
    for escape in (r"\n", r"\d", r"\w"):  # of texts and regular expressions
        sources = re.sub(rf"{re.escape(escape)}(?![a-z])", "", sources)
    written = set(re.findall(r"(?<!\\)\\([A-Za-z]+)", sources))
    written |= {*mathematics.COMMANDS.values(), *latex_module.ABOVE.values(), "sum", "prod"}
    unknown = {name for name in written - known if mathml_module.letter_of(name) == name}
    assert unknown == set()
    for name in latex_module.GREEK:
        assert len(mathml_module.letter_of(name)) == 1


@pytest.mark.parametrize(
    ("term", "inside"),
    [
        ((x - mu) / sigma, ("<mfrac><mrow><mi>x</mi><mo>−</mo><mi>μ</mi></mrow>"
                           "<msub><mi>σ</mi><mi>a</mi></msub></mfrac>")),
        (x**2, "<msup><mi>x</mi><mn>2</mn></msup>"),
        (pt.sqrt(x), "<msqrt><mi>x</mi></msqrt>"),
        (pt.log(x), ('<mrow><mi>log</mi><mrow><mo stretchy="false">(</mo><mi>x</mi>'
                    '<mo stretchy="false">)</mo></mrow></mrow>')),
        (-x, '<mrow><mo form="prefix">−</mo><mi>x</mi></mrow>'),
        (pt.log(x / mu), ("<mrow><mi>log</mi><mrow><mo>(</mo><mfrac><mi>x</mi><mi>μ</mi></mfrac>"
                         "<mo>)</mo></mrow></mrow>")),
        (pt.sum(v), "<mrow><mo>∑</mo><mi>v</mi></mrow>"),
        (pt.max(m, axis=1), ("<munder><mi>max</mi><mrow><mtext>axis\N{NO-BREAK SPACE}</mtext>"
                            "<mn>1</mn></mrow></munder>")),
        (pt.inc_subtensor(v[2:4], x), "<mo>:</mo><mn>4</mn><mo>+=</mo><mi>x</mi>"),
        (pt.switch(x > 0, x, 0.0), "<mo>&gt;</mo><mn>0</mn>"),
        (pt.dscalar("theta_hat") + 1, '<mover accent="true"><mi>θ</mi><mo stretchy="false">^</mo>'),
        (pt.dscalar("log_rate"), "<mi>log_rate</mi>"),
        (pt.dscalar("x_1") ** 2, "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
        (pt.dscalar("a<b"), "<mi>a&lt;b</mi>"),
        (pt.dscalar("a\\b{c}"), "<mi>a\\b{c}</mi>"),
    ],
)  # fmt: skip
def test_terms(term: Any, inside: str) -> None:
    assert inside in mathml(latex(term), annotated=False)


def test_new_values_of_states_stand_behind_an_arrow() -> None:
    assert checked(r"w &\leftarrow w + 1").find(".//mo").text == "←"
    text = r"\begin{aligned}a &= 1 \\" + "\n" + r"w &\leftarrow w\end{aligned}"
    rows = checked(text).findall(".//mtr")
    assert [[len(cell) for cell in row] for row in rows] == [[1, 2], [1, 2]]


@pytest.mark.parametrize(
    "text", [r"\log\left(\frac{a}{b", r"x^", r"\begin{aligned}a &= \frac", "}"]
)
def test_what_was_cut_is_closed(text: str) -> None:
    checked(text)


def test_every_prefix_of_a_formula_is_well_formed() -> None:
    y = pt.exp(-0.5 * ((x - mu) / sigma) ** 2)
    text = latex(pt.switch(y > 1, y, pt.abs(v)[1:]) + pt.log(y))
    for n in range(len(text)):
        ElementTree.fromstring(mathml(text[:n]))


def test_the_latex_can_be_copied() -> None:
    found = ElementTree.fromstring(mathml(r"a < b"))
    assert found.find(".//annotation").text == "a < b"


def test_long_formulas_are_cut_at_nodes_not_in_the_middle_of_a_command() -> None:
    y = v
    for _ in range(2000):
        y = pt.sin(y) / 2
    text = latex(y)
    assert r"\ldots" in text
    assert len(text) <= latex_module.LIMIT
    assert text.count(r"\left(") == text.count(r"\right)") > 20
    assert text.count("{") == text.count("}")
    wide = latex(pt.add(*[pt.dscalar(f"x_{i}") for i in range(3000)]))
    assert wide.endswith(r"more}")
    assert wide.count("{") == wide.count("}")


def test_every_piece_of_text_is_read() -> None:
    text = latex(pt.switch(x > 0, pt.floor(x / mu), v[1:] + pt.mean(m)))
    assert re.sub(r"\s", "", "".join(p[0] for p in PIECE.finditer(text))) == re.sub(r"\s", "", text)


def test_latex_is_a_text_that_notebooks_show_as_a_formula() -> None:
    text = latex(x**2)
    assert isinstance(text, LatexText)
    assert text == "x^{2}"
    assert "<msup>" in text._repr_html_()
