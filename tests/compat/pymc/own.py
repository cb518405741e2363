"""Laws, likelihoods and functions of one's own; and densities that PyMC derives."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from checks import density, filled, logp, moments, near, positive, sample, slopes
from numpy.testing import assert_allclose, assert_raises_regex
from pytensor.compile.ops import as_op
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from scipy import special, stats

RNG = np.random.default_rng(26)
norm = stats.norm
X = np.linspace(0, 9, 10)
Y = 0.4 * X + 3 + 0.5 * RNG.normal(size=10)


def by_logp():
    """A law by its density and how it is drawn, with batches of parameters."""

    def triangle_logp(value, low, high):
        width = high - low
        middle = (low + high) / 2
        height = 2 / width - 4 * pt.abs(value - middle) / width**2
        return pm.logprob.utils.CheckParameterValue("low < high")(
            pt.switch((value < low) | (value > high), -np.inf, pt.log(height)), pt.all(low < high)
        )

    def triangle_random(low, high, rng=None, size=None):
        return rng.triangular(low, (low + high) / 2, high, size=size)

    seen = np.array([[0.5, 1.2, 2.0], [0.3, 1.0, 2.4]])
    high = np.array([1.0, 2.0, 3.0])
    with pm.Model() as model:
        low = pm.Normal("low", -1, 0.1, shape=3)
        pm.CustomDist(
            "y", low, high, logp=triangle_logp, random=triangle_random, observed=seen, shape=(2, 3)
        )

    def want(low):
        law = stats.triang(0.5, low, high - low)
        return norm.logpdf(low, -1, 0.1).sum() + law.logpdf(seen).sum()

    density(model, want, {"low": [-1.1, -0.9, -0.5]})
    with model:
        drawn = pm.sample_prior_predictive(100, random_seed=1)
    assert drawn.prior_predictive["y"].shape == (1, 100, 2, 3)
    moments(drawn.prior_predictive["y"].values[0, :, 0, 1], 0.5, np.sqrt(1.5 * 1.5 / 6))
    density_of = model.compile_logp()
    with assert_raises_regex(pm.logprob.utils.ParameterValueError, "low < high"):
        density_of({"low": np.array([0.0, 3.0, 0.0])})


def by_graph():
    """A law by a graph of what is drawn: its density is derived; in batches."""

    def folded(mu, sigma, size):
        return pt.exp(pm.Normal.dist(mu, sigma, size=size)) + 1.0

    def two(loc, scale, size):
        return loc + scale * pm.StudentT.dist(4, size=size)

    seen = np.array([1.5, 2.5, 4.0])
    with pm.Model(coords={"k": range(3)}) as model:
        mu = pm.Normal("mu", 0, 1, dims="k")
        x = pm.CustomDist("x", mu, 0.5, dist=folded, dims="k")
        pm.CustomDist("y", x, 2.0, dist=two, observed=seen, dims="k")

    def want(mu, x):
        found = norm.logpdf(mu).sum()
        found += (norm.logpdf(np.log(x - 1), mu, 0.5) - np.log(x - 1)).sum()
        return found + stats.t.logpdf(seen, 4, x, 2.0).sum()

    density(model, want, {"mu": [0.1, 0.2, 0.3], "x": [1.4, 2.0, 3.0]})
    drawn = pm.draw(model["x"], 200, random_seed=1)
    assert drawn.shape == (200, 3)
    assert drawn.min() > 1


def by_logcdf():
    """A censored law of one's own, by its distribution function; with a point to start from."""

    def logp_(value, rate):
        return pt.switch(value < 0, -np.inf, pt.log(rate) - rate * value)

    def logcdf(value, rate):
        return pt.log1mexp(-rate * value)

    def start(rv, size, rate):
        return pt.full(size, 1 / rate)

    with pm.Model() as model:
        rate = pm.Gamma("rate", 2, 2)
        own = pm.CustomDist.dist(rate, logp=logp_, logcdf=logcdf, class_name="own", size=4)
        pm.Censored("y", own, lower=None, upper=2.0, observed=[0.5, 1.0, 2.0, 2.0])
        pm.CustomDist(
            "z", 2.0, logp=logp_, support_point=start, size=2,
            transform=pm.distributions.transforms.log,
        )  # fmt: skip

    def want(rate_log__, z_log__):
        rate, z = np.exp(rate_log__), np.exp(z_log__)
        found = positive(stats.gamma(2, 0, 0.5), rate_log__) + (np.log(2) - 2 * z + z_log__).sum()
        return found + 2 * np.log(rate) - 1.5 * rate - 2 * 2.0 * rate

    density(model, want, {"rate_log__": 0.3, "z_log__": [0.1, -0.4]})
    assert_allclose(model.initial_point()["z_log__"], np.log([0.5, 0.5]))


class LogLike(Op):
    """A likelihood that is computed elsewhere, with its derivatives by another op."""

    def make_node(self, m, c, sigma, x, data):
        inputs = [pt.as_tensor(v) for v in (m, c, sigma, x, data)]
        return Apply(self, inputs, [inputs[-1].type()])

    def perform(self, node, inputs, outputs):
        m, c, sigma, x, data = inputs
        outputs[0][0] = np.asarray(norm.logpdf(data, m * x + c, sigma))

    def pullback(self, inputs, outputs, cotangents):
        return self.grad(inputs, cotangents)

    def grad(self, inputs, g):
        m, c, sigma, x, data = inputs
        wrt_m, wrt_c = LogLikeGrad()(m, c, sigma, x, data)
        none = pytensor.gradient.grad_not_implemented
        others = [none(self, i, v) for i, v in enumerate(inputs[2:], start=2)]
        return [pt.sum(g[0] * wrt_m), pt.sum(g[0] * wrt_c), *others]


class LogLikeGrad(Op):
    """Its derivatives by m and c."""

    def make_node(self, m, c, sigma, x, data):
        inputs = [pt.as_tensor(v) for v in (m, c, sigma, x, data)]
        return Apply(self, inputs, [inputs[-1].type(), inputs[-1].type()])

    def perform(self, node, inputs, outputs):
        m, c, sigma, x, data = inputs
        error = (data - m * x - c) / sigma**2
        outputs[0][0], outputs[1][0] = error * x, error


def black_box():
    with pm.Model() as model:
        m = pm.Uniform("m", -10, 10, initval=0.0)
        c = pm.Normal("c", 0, 10)
        pm.Potential("likelihood", LogLike()(m, c, 0.5, X, Y).sum())

    def want(m_interval__, c):
        p = special.expit(m_interval__)
        found = np.log(p * (1 - p)) + norm.logpdf(c, 0, 10)
        return found + norm.logpdf(Y, (20 * p - 10) * X + c, 0.5).sum()

    density(model, want, {"m_interval__": 0.1, "c": 2.8})
    trace = sample(model, 50, 100)
    near(trace.posterior["m"], np.polyfit(X, Y, 1)[0], 0.1)


def black_box_without_slopes():
    """A function of Python, as an op; sampled by slices."""

    @as_op(itypes=[pt.dscalar, pt.dscalar], otypes=[pt.dvector])
    def line(m, c):
        return m * X + c

    with pm.Model() as model:
        m, c = pm.Normal("m", 0, 1), pm.Normal("c", 0, 5)
        pm.Normal("y", line(m, c), 0.5, observed=Y)
    want = norm.logpdf(0.3) + norm.logpdf(2.0, 0, 5) + norm.logpdf(Y, 0.3 * X + 2, 0.5).sum()
    assert_allclose(logp(model, {"m": 0.3, "c": 2.0}), want, rtol=1e-6)
    with model:
        step = pm.Slice([m, c])
    trace = sample(model, 80, 100, step=step)
    near(trace.posterior["m"], np.polyfit(X, Y, 1)[0], 0.1)


def simulated():
    """What can only be simulated, by sequential Monte Carlo with a distance."""
    data = norm.rvs(1.5, 1.0, size=50, random_state=RNG)

    def draw(rng, mu, sigma, size=None):
        return rng.normal(mu, sigma, size=50)

    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 3)
        sigma = pm.HalfNormal("sigma", 2)
        pm.Simulator("s", draw, mu, sigma, sum_stat="sort", epsilon=1.0, observed=data)
        trace = pm.sample_smc(
            200,
            chains=1,
            cores=1,
            progressbar=False,
            random_seed=5,
            compute_convergence_checks=False,
        )
    assert trace.posterior["mu"].shape == (1, 200)
    near(trace.posterior["mu"], data.mean(), 0.15)
    with model:
        drawn = pm.sample_posterior_predictive(trace, progressbar=False, random_seed=1)
    assert drawn.posterior_predictive["s"].shape == (1, 200, 50)


def interpolated():
    """A posterior that becomes the next prior."""
    points = np.linspace(-4, 6, 200)
    with pm.Model() as model:
        a = pm.Interpolated("a", points, norm.pdf(points, 1.0, 0.8))
        pm.Normal("y", a, 1.0, observed=[0.5, 1.5])
    ((name, value),) = model.initial_point().items()
    start = model.rvs_to_transforms[a].backward(value, *a.owner.inputs).eval()
    assert_allclose(start, 1.0, atol=0.05)
    slopes(model, {name: value + 0.1}, rtol=1e-2)
    found = pm.logp(
        pm.Interpolated.dist(points, norm.pdf(points, 1.0, 0.8)), [0.3, 2.0, 10.0]
    ).eval()
    assert_allclose(found[:2], norm.logpdf([0.3, 2.0], 1, 0.8), atol=2e-3)
    assert found[2] == -np.inf
    drawn = pm.draw(a, 400, random_seed=1)
    moments(drawn, 1.0, 0.8)
    trace = sample(model, 60, 80)
    near(trace.posterior["a"], 1.0, 0.2)


def derived():
    """Densities of functions of what is drawn."""
    n, u = pm.Normal.dist(0.5, 2.0), pm.Uniform.dist(0, 1)
    x = 0.7
    pairs = [
        (pt.exp(n), stats.lognorm(2.0, 0, np.exp(0.5)), x),
        (3 * n - 1, norm(0.5, 2.0), None),
        (-pt.log(u), stats.expon(), x),
        (pt.sigmoid(n), None, None),
        (1 / pm.Gamma.dist(2.0, 1.0), stats.invgamma(2.0), x),
        (pt.sqr(pm.Normal.dist(0, 1)), stats.chi2(1), x),
        (pt.sqrt(pm.ChiSquared.dist(3)), stats.chi(3), x),
        (pt.abs(pm.Normal.dist(0, 1)), stats.halfnorm(), x),
        (pt.log(pm.Exponential.dist(1.0)), stats.gumbel_l(), x),
    ]
    for graph, law, at in pairs:
        if at is not None:
            assert_allclose(pm.logp(graph, at).eval(), law.logpdf(at), rtol=1e-6)
    assert_allclose(pm.logp(pairs[1][0], x).eval(), norm.logpdf((x + 1) / 3, 0.5, 2) - np.log(3))
    z = special.logit(x)
    assert_allclose(pm.logp(pairs[3][0], x).eval(), norm.logpdf(z, 0.5, 2) - np.log(x * (1 - x)))
    assert_allclose(pm.icdf(n, 0.3).eval(), norm.ppf(0.3, 0.5, 2))


def derived_of_several():
    """Greatest and least, sums along an axis, joined, compared, moved by a matrix."""
    draws = pm.Normal.dist(0, 1, size=4)
    x = 0.7
    most = pm.logp(pt.max(draws), x).eval()
    assert_allclose(most, np.log(4) + 3 * norm.logcdf(x) + norm.logpdf(x), rtol=1e-6)
    least = pm.logp(pt.min(pm.Exponential.dist(2.0, size=3)), x).eval()
    assert_allclose(least, np.log(6) - 6 * x, rtol=1e-6)
    path = pm.logp(pt.cumsum(draws), [0.1, 0.5, 0.2, 1.0]).eval()
    assert_allclose(path, norm.logpdf([0.1, 0.4, -0.3, 0.8]), rtol=1e-6)
    joined = pt.concatenate([pm.Normal.dist(0, 1, size=2), pm.Exponential.dist(1.0, size=1)])
    assert_allclose(
        pm.logp(joined, [0.1, 0.2, 0.3]).eval(), [*norm.logpdf([0.1, 0.2]), -0.3], rtol=1e-6
    )
    assert_allclose(
        pm.logp(pm.Normal.dist(0, 1) > 0.5, np.array(True)).eval(), norm.logsf(0.5), rtol=1e-6
    )
    M = np.array([[2.0, 1.0], [0.0, 1.5]])
    at = np.array([[0.5], [0.7]])
    z = np.linalg.solve(M, at)
    found = pm.logp(pt.matmul(M, pm.Normal.dist(0, 1, size=(2, 1))), at).eval()
    assert_allclose(found, norm.logpdf(z).sum() - np.log(3), rtol=1e-6)
    for apply, matrix in ((lambda x: M @ x, M), (lambda x: x @ M, M.T)):
        found = pm.logp(apply(pm.Normal.dist(0, 1, size=2)), at[:, 0]).eval()
        z = np.linalg.solve(matrix, at[:, 0])
        assert_allclose(found, norm.logpdf(z).sum() - np.log(3), rtol=1e-6)


def potentials():
    """Constraints, penalties, and what is observed of a sum."""
    with pm.Model() as model:
        x = pm.Normal("x", 0, 1, shape=3)
        pm.Potential("order", pt.switch(pt.all(x[1:] >= x[:-1]), 0.0, -np.inf))
        pm.Potential("ridge", -0.5 * pt.sum(x**2))
        pm.Normal("total", pt.sum(x), 0.1, observed=1.0)
    at = np.array([0.1, 0.2, 0.6])
    want = norm.logpdf(at).sum() - 0.5 * (at**2).sum() + norm.logpdf(1.0, at.sum(), 0.1)
    assert_allclose(logp(model, {"x": at}), want, rtol=1e-6)
    assert logp(model, {"x": at[::-1]}) == -np.inf
    slopes(model, {"x": at})
    parts = model.point_logps(filled(model, {"x": at}), round_vals=6)
    assert_allclose(parts["ridge"], -0.5 * (at**2).sum(), atol=1e-6)


def single_precision():
    """Densities of float32 are float32, whatever numbers they are made of."""
    with pytensor.config.change_flags(floatX="float32"):
        with pm.Model() as model:
            mu = pm.Normal("mu", 0, 2)
            s = pm.HalfNormal("s", 2)
            g = pm.Gamma("g", 2, 1)
            pm.StudentT("t", nu=3, mu=mu, sigma=g)
            pm.Normal("y", mu, s, observed=np.array([1.0, 2.0, 3.0], "float32"))
        parts = model.logp(sum=False)
        assert {v.dtype for v in [model.logp(), *parts, model.dlogp()]} == {"float32"}
        start = model.initial_point()
        found = model.compile_logp()(start)
    assert found.dtype == "float32"
    at = {"mu": 0.0, "s": start["s_log__"], "g": start["g_log__"], "t": start["t"]}
    s, g = np.exp(at["s"]), np.exp(at["g"])
    want = norm.logpdf(0, 0, 2) + stats.halfnorm.logpdf(s, 0, 2) + at["s"]
    want += stats.gamma.logpdf(g, 2) + at["g"] + stats.t.logpdf(at["t"], 3, 0, g)
    assert_allclose(found, want + norm.logpdf([1, 2, 3], 0, s).sum(), rtol=1e-5)
