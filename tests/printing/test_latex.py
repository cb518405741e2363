"""Formulas in LaTeX."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.printing.latex import latex

x, mu, sigma = pt.dscalars("x", "mu", "sigma_a")
v, m = pt.vector("v"), pt.matrix("M")


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (x + mu * 2, r"x + \mu \cdot 2"),
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
        (pt.sum(v * 2), r"\sum v \cdot 2"),
        (pt.sum(m, axis=0) + 1, r"\sum_{\text{axis }0} M + 1"),
        (pt.switch(x > 0, x, 0.0),
         r"\begin{cases} x & \text{if } x > 0 \\ 0 & \text{else} \end{cases}"),
        (pt.gammaln(x), r"\log\Gamma\left(x\right)"),
        (v[1:], "{v}_{1:}"),
        (pt.inc_subtensor(v[2:4], x), r"v\left[2:4 \mathrel{+}= x\right]"),
        (pt.set_subtensor(v[0], x), r"v\left[0 \leftarrow x\right]"),
        (x - -mu, r"x - \left(-\mu\right)"),
        (x + -mu * 2, r"x - \mu \cdot 2"),
        (pt.neg(pt.neg(x)), r"-\left(-x\right)"),
        (x + -0.5 * mu, r"x - 0.5 \, \mu"),
        (pt.log1p(-pt.exp(x)), r"\log\left(1 - e^{x}\right)"),
        (pt.exp(-0.5 * ((x - mu) / 2) ** 2),
         r"\exp\left(-0.5 \, \left(\frac{x - \mu}{2}\right)^{2}\right)"),
        (x * 2.5e-8, r"x \cdot 2.5 \cdot 10^{-8}"),
        (x - 0.5 * np.log(2 * np.pi), r"x - \tfrac{1}{2} \log(2 \pi)"),
        (v * v, r"v \odot v"),
        (pt.dot(v, v), r"v^{\top} \, v"),
        (pt.mean(v), r"\operatorname{mean}\left(v\right)"),
        (pt.mean(m, axis=0), r"\operatorname{mean}_{\text{axis }0}\left(M\right)"),
        (pt.sum(m, axis=0) / m.shape[1],
         r"\frac{\sum_{\text{axis }0} M}{\operatorname{len}_{1}\left(M\right)}"),
        (pt.linalg.inv(m) @ v, r"M^{-1} \, v"),
        (pt.linalg.solve(m, v), r"M^{-1} \, v"),
        (pt.stack([v, v]), r"\operatorname{stack}_{\text{axis }0}\left(v, v\right)"),
        (pt.concatenate([v, v]), r"\operatorname{join}_{\text{axis }0}\left(v, v\right)"),
        (pt.cumsum(m, axis=1), r"\operatorname{cumsum}_{\text{axis }1}\left(M\right)"),
        (v[:, None] - v, r"{v}_{:, \mathrm{None}} - v"),
        (pt.outer(v, v), r"{v}_{:, \mathrm{None}} \odot v"),
        (pt.max(m, axis=1), r"\max_{\text{axis }1}\left(M\right)"),
        (pt.log(x) ** 2, r"\left(\log\left(x\right)\right)^{2}"),
        (pt.abs(x) ** 2, r"\left|x\right|^{2}"),
        (pt.floor(x / mu), r"\left\lfloor \frac{x}{\mu} \right\rfloor"),
        (pt.Assert("wrong")(x, x > 0) + 1, "x + 1"),
        (pt.alloc(x, 3), "x"),
        (pt.zeros(3), r"\operatorname{full}\left(0, 3\right)"),
        (x * np.sqrt(2 / np.pi), r"x \cdot \sqrt{\tfrac{2}{\pi}}"),
        (~(x > mu), r"\lnot \left(x > \mu\right)"),
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
    assert latex(y) == r"\mathrm{log\_rate\_12} + x_{1}"

    names = {
        "theta_hat": r"\hat{\theta}",
        "x_obs_2": r"x_{\mathrm{obs},2}",
        "value": r"\mathrm{value}",
    }
    for name, text in names.items():
        assert latex(pt.exp(pt.dscalar(name))) == f"e^{{{text}}}"


def test_ops_that_work_in_place_are_written_as_they_compute():
    term = pt.exp(pt.sin(v) + pt.cos(v)) - 1.5 * pt.cos(v)
    f = rw.function([v], term, mode="vm")
    assert any("inplace" in str(node.op) for node in f.nodes)
    plain = rw.Mode("vm").excluding("inplace")
    assert latex(f) == latex(rw.function([v], term, mode=plain))


def test_loops_are_defined():
    # (equal loops are one, with the names of the first: this one is nowhere else)
    steps = rw.scan(lambda a, s: s + a * 0.8125, v, pt.constant(0.0), return_updates=False)
    text = latex(steps)
    assert text.startswith("\\begin{aligned}\n\\operatorname{Scan}\\left(")
    assert r"v_{t}" in text


def test_rules_are_written():
    rules = {rule.short_name: rule for rule in rw.pipeline.phases.all_rules()}
    wanted = r"$\log\left(1 + x\right) \to \operatorname{log1p}\left(x\right)$"
    assert rules["log_of_one_plus"]._repr_latex_() == wanted
    wanted = r"$\log\left(\sqrt{x}\right) \to 0.5 \, \log\left(x\right)$"
    assert rules["log_of_sqrt"]._repr_latex_() == wanted
    assert "loses every digit" in rules["log_of_one_plus"]._repr_html_()


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
