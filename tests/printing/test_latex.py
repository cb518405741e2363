"""Formulas in LaTeX."""

from __future__ import annotations

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.printing.latex import latex

x, mu, sigma = pt.dscalars("x", "mu", "sigma_a")
v, m = pt.vector("v"), pt.matrix("M")


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (x + mu * 2, r"x + \mu \, 2"),
        (-(x + mu), r"-\left(x + \mu\right)"),
        ((x - mu) / sigma, r"\frac{x - \mu}{\sigma_{a}}"),
        (((x - mu) / sigma) ** 2, r"\left(\frac{x - \mu}{\sigma_{a}}\right)^{2}"),
        (x**2, "x^{2}"),
        (pt.exp(-x), "e^{-x}"),
        (pt.log(pt.abs(x)), r"\log\left(\left|x\right|\right)"),
        (pt.sqrt(1 + x), r"\sqrt{1 + x}"),
        (x * (mu - sigma), r"x \, \left(\mu - \sigma_{a}\right)"),
        (x - (mu - sigma), r"x - \left(\mu - \sigma_{a}\right)"),
        (x * -2.0, r"x \cdot \left(-2\right)"),
        (m.T @ v, r"M^{\top} \, v"),
        (pt.sum(v * 2), r"\sum v \, 2"),
        (pt.sum(m, axis=0) + 1, r"\sum_{0} M + 1"),
        (pt.switch(x > 0, x, 0.0),
         r"\begin{cases} x & \text{if } x > 0 \\ 0 & \text{else} \end{cases}"),
        (pt.gammaln(x), r"\operatorname{gammaln}\left(x\right)"),
        (v[1:], "v[1:]"),
    ],
)  # fmt: skip
def test_terms_are_written_as_in_books(term, text):
    assert latex(term).replace(r"\left(1\right)", "1") == text


def test_what_is_shared_is_defined_first():
    y = pt.exp(x)
    assert latex(y * pt.log(y)) == (
        "\\begin{aligned}\na &= e^{x} \\\\\n&a \\, \\log\\left(a\\right)\n\\end{aligned}"
    )


def test_a_gradient_is_short_after_rewriting():
    logp = -0.5 * ((x - mu) / sigma) ** 2
    f = rw.function([x, mu, sigma], rw.grad(logp, mu))
    assert latex(f).count("frac") <= 2


def test_names_of_several_words():
    y = pt.dscalar("log_rate_12") + pt.dscalar("x1")
    assert latex(y) == r"\mathrm{log}_{\mathrm{rate},12} + x_{1}"


def test_a_deep_graph_is_cut():
    y = v
    for _ in range(20_000):
        y = pt.sin(y)
    assert len(latex(y)) < 5000


def test_notebooks_show_variables_and_functions():
    y = pt.exp(x)
    assert y._repr_latex_() == "$e^{x}$"
    assert y._repr_svg_().startswith("<svg")
    assert "exp" in y._repr_html_()
    f = rw.function([x], y)
    assert "exp" in f._repr_html_()
    assert f.fgraph._repr_svg_().startswith("<svg")


def test_ipython_prints_the_term():
    class Printer:
        def text(self, text):
            self.said = text

    printer = Printer()
    (pt.exp(x) + 1)._repr_pretty_(printer, cycle=False)
    assert printer.said == "exp(x) + 1.0"
