"""How models are printed, drawn as graphs, checked."""

import io
from contextlib import redirect_stdout

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from numpy.testing import assert_allclose
from pytensor.graph.replace import vectorize_graph
from scipy import stats


def _hierarchy():
    with pm.Model(coords={"group": ["a", "b"], "obs": range(4)}, name="") as model:
        index = pm.Data("index", [0, 0, 1, 1], dims="obs")
        mu = pm.Normal("mu", 0, 1)
        tau = pm.HalfNormal("tau", 2)
        alpha = pm.Normal("alpha", mu, tau, dims="group")
        mean = pm.Deterministic("mean", alpha[index], dims="obs")
        pm.Potential("pull", -pt.sqr(mu))
        pm.Poisson("y", pt.exp(mean), observed=[1, 2, 3, 4], dims="obs")
    return model


def printed():
    model = _hierarchy()
    lines = [line.partition(" ~ ") for line in model.str_repr().splitlines()]
    laws = {name.strip(): law.strip() for name, _, law in lines}
    assert laws["mu"] == "Normal(0, 1)"
    assert laws["tau"] == "HalfNormal(0, 2)"
    assert laws["alpha"] == "Normal(mu, tau)"
    assert laws["y"] == "Poisson(f(mean))"
    assert laws["pull"] == "Potential(f(mu))"
    assert "mean = Deterministic(f(index, alpha))" in model.str_repr()
    assert "\\operatorname{Normal}" in model.str_repr(formatting="latex")
    assert "Normal" in model["mu"].str_repr()
    assert str(pm.Normal.dist(0, 1).owner.op)


def drawn_as_graphs():
    model = _hierarchy()
    dot = pm.model_to_graphviz(model)
    for name in ("mu", "tau", "alpha", "mean", "y", "pull"):
        assert name in dot.source, name
    assert "mu -> alpha" in dot.source
    assert "group (2)" in dot.source
    text = pm.model_to_mermaid(model)
    assert "alpha" in text
    assert "mean --> y" in text


def checked():
    """Points that are impossible are found, and said."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 1)
        pm.Poisson("y", pt.exp(mu), observed=[1, 2])
    point = model.initial_point()
    model.check_start_vals(point)
    told = io.StringIO()
    with redirect_stdout(told):
        model.debug()
    assert "No problems found" in told.getvalue()
    with pm.Model() as wrong:
        p = pm.Normal("p", 0, 1)
        pm.Bernoulli("y", p=p + 2, observed=[0, 1])
    told = io.StringIO()
    with redirect_stdout(told):
        wrong.debug(verbose=True)
    assert "0 <= p <= 1" in told.getvalue()
    logps = model.point_logps(point)
    assert_allclose(logps["mu"], round(stats.norm.logpdf(0), 2))
    assert wrong.compile_logp()({"p": np.array(0.0)}) == -np.inf
    shapes = _hierarchy().eval_rv_shapes()
    assert shapes["alpha"] == (2,)


def nested():
    """Models in models, with names that begin with theirs, and variables by themselves."""
    with pm.Model() as outer:
        a = pm.Normal("a")
        with pm.Model(name="inner") as inner:
            b = pm.Normal("b", a, 1)
            pm.Deterministic("d", a + b)
        pm.Normal("y", b, 1, observed=0.5)
    assert set(outer.named_vars) == {"a", "inner::b", "inner::d", "y"}
    assert inner["b"] is outer["inner::b"]
    f = outer.compile_fn(outer["inner::d"], inputs=[a, b], point_fn=False)
    assert f(1.0, 2.0) == 3.0
    value = outer.compile_logp()({"a": np.array(0.1), "inner::b": np.array(0.3)})
    want = stats.norm.logpdf([0.1, 0.2, 0.2]).sum()
    assert_allclose(value, want)


def hand_made_likelihood():
    """PyMC's parts by themselves: densities with gradients, drawn numbers with seeds."""
    mu = pt.scalar("mu")
    data = np.array([0.1, 0.5])
    total = pm.logp(pm.Normal.dist(mu, 1.0), data).sum()
    f = pytensor.function([mu], [total, pt.grad(total, mu)])
    value, slope = f(0.2)
    assert_allclose(value, stats.norm.logpdf(data, 0.2).sum())
    assert_allclose(slope, (data - 0.2).sum())
    x = pm.Normal.dist(0, 1, size=3)
    y = x + pm.Normal.dist(0, 0.1, size=3)
    assert_allclose(pm.draw(y, random_seed=1), pm.draw(y, random_seed=1))
    assert not np.allclose(pm.draw(y, random_seed=1), pm.draw(y, random_seed=2))
    x_drawn, y_drawn = pm.draw([x, y], 100, random_seed=1)
    assert np.abs(y_drawn - x_drawn).max() < 0.6
    wide = vectorize_graph(total, {mu: pt.constant([0.0, 0.2])})
    assert_allclose(wide.eval(), [stats.norm.logpdf(data, m).sum() for m in (0.0, 0.2)])
