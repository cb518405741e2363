"""Models with loops of their own, by `scan`: epidemics, prey, hidden states, filters, learning."""

from itertools import pairwise

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from checks import density, moments, near, positive, sample, slopes
from numpy.testing import assert_allclose
from pymc.pytensorf import collect_default_updates
from scipy import special, stats

RNG = np.random.default_rng(24)
norm = stats.norm


def epidemic():
    """Susceptible, infected, recovered, by Euler's method."""
    seen = np.array([2, 3, 5, 6, 10, 12, 15, 14, 13, 10])

    def numpy_model(beta, gamma):
        s, i, new = 0.98, 0.02, []
        for _ in range(10):
            infections, gone = beta * s * i, gamma * i
            s, i = s - infections, i + infections - gone
            new.append(100 * infections)
        return np.array(new)

    def step(s, i, beta, gamma):
        infections = beta * s * i
        return [s - infections, i + infections - gamma * i, infections]

    with pm.Model(coords={"day": range(10)}) as model:
        beta = pm.LogNormal("beta", np.log(0.8), 0.5)
        gamma = pm.LogNormal("gamma", np.log(0.3), 0.5)
        (_, infected, new), _ = pytensor.scan(
            step, outputs_info=[pt.constant(0.98), pt.constant(0.02), None],
            non_sequences=[beta, gamma], n_steps=10,
        )  # fmt: skip
        pm.Deterministic("infected", infected, dims="day")
        alpha = pm.Exponential("alpha", 0.1)
        pm.NegativeBinomial("seen", mu=100 * new, alpha=alpha, observed=seen, dims="day")

    def want(beta_log__, gamma_log__, alpha_log__):
        found = norm.logpdf([beta_log__, gamma_log__], np.log([0.8, 0.3]), 0.5).sum()
        found += positive(stats.expon(0, 10), alpha_log__)
        mu, a = numpy_model(np.exp(beta_log__), np.exp(gamma_log__)), np.exp(alpha_log__)
        return found + stats.nbinom.logpmf(seen, a, a / (a + mu)).sum()

    density(model, want, {"beta_log__": -0.1, "gamma_log__": -1.0, "alpha_log__": 1.0})
    trace = sample(model, 25, 40)
    assert trace.posterior["infected"].sizes["day"] == 10
    with model:
        drawn = pm.sample_posterior_predictive(trace, progressbar=False, random_seed=1)
    assert drawn.posterior_predictive["seen"].shape == (1, 25, 10)


def prey_and_predators():
    """Lotka and Volterra, by Runge and Kutta's method, fitted by maximum a posteriori."""
    start, dt = np.array([1.0, 0.5]), 0.2

    def slope(y, theta, stack):
        return stack([theta[0] * y[0] - y[0] * y[1], theta[1] * y[0] * y[1] - y[1]])

    def rk4(y, theta, stack):
        k1 = slope(y, theta, stack)
        k2 = slope(y + dt / 2 * k1, theta, stack)
        k3 = slope(y + dt / 2 * k2, theta, stack)
        k4 = slope(y + dt * k3, theta, stack)
        return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def path(theta):
        found = [start]
        for _ in range(20):
            found.append(rk4(found[-1], theta, np.stack))
        return np.array(found[1:])

    seen = path([1.1, 0.8]) * np.exp(0.02 * RNG.normal(size=(20, 2)))
    with pm.Model() as model:
        theta = pm.TruncatedNormal("theta", mu=[1.0, 1.0], sigma=0.3, lower=0, initval=[1.0, 1.0])
        found = pytensor.scan(
            lambda y, theta: rk4(y, theta, pt.stack), outputs_info=[pt.as_tensor(start)],
            non_sequences=[theta], n_steps=20, return_updates=False,
        )  # fmt: skip
        pm.LogNormal("y", pt.log(found), 0.05, observed=seen)

    def want(theta_interval__):
        theta = np.exp(theta_interval__)
        found = (
            norm.logpdf(theta, 1, 0.3).sum() - norm.logsf(0, 1, 0.3) * 2 + theta_interval__.sum()
        )
        return found + (norm.logpdf(np.log(seen), np.log(path(theta)), 0.05) - np.log(seen)).sum()

    density(model, want, {"theta_interval__": [0.1, -0.1]})
    found = pm.find_MAP(model=model, progressbar=False)
    assert_allclose(found["theta"], [1.1, 0.8], atol=0.1)


def hidden_markov():
    """The likelihood of a chain of hidden states, by the forward algorithm in a potential."""
    y = np.array([0.1, -0.2, 2.1, 1.8, 2.2, 0.3, -0.1])

    def forward(logp, alpha, log_moves):
        return pt.logsumexp(alpha[:, None] + log_moves, axis=0) + logp

    with pm.Model() as model:
        moves = pm.Dirichlet("moves", np.array([[4.0, 1.0], [1.0, 4.0]]))
        mu = pm.Normal("mu", [0, 2], 1)
        each = pm.logp(pm.Normal.dist(mu, 0.5), y[:, None])
        alphas, _ = pytensor.scan(
            forward, sequences=[each[1:]], outputs_info=[np.log(0.5) + each[0]],
            non_sequences=[pt.log(moves)],
        )  # fmt: skip
        pm.Potential("chain", pt.logsumexp(alphas[-1]))

    def want(moves_simplex__, mu):
        w = special.softmax(np.column_stack([moves_simplex__, -moves_simplex__]), 1)
        found = sum(stats.dirichlet.logpdf(p, a) for p, a in zip(w, ([4, 1], [1, 4]), strict=True))
        found += np.log(w).sum() + 2 * np.log(2) + norm.logpdf(mu, [0, 2]).sum()
        p = norm.pdf(y[:, None], mu, 0.5)
        alpha = 0.5 * p[0]
        for row in p[1:]:
            alpha = (alpha @ w) * row
        return found + np.log(alpha.sum())

    density(model, want, {"moves_simplex__": [[0.6], [-0.5]], "mu": [0.1, 1.9]})
    trace = sample(model, 25, 40)
    near(trace.posterior["mu"].isel(mu_dim_0=1), 2.0, 0.2)


def kalman():
    """A local level and slope, seen with noise: the filter's likelihood as a `CustomDist`."""
    y = np.cumsum(0.3 + 0.2 * RNG.normal(size=12)) + 0.3 * RNG.normal(size=12)
    F, H = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([1.0, 0.0])

    def step(y, m, P, q, r):
        m, P = pt.dot(F, m), F @ P @ F.T + pt.diag(q)
        s = H @ P @ H + r
        gain = (P @ H) / s
        error = y - pt.dot(H, m)
        ll = -0.5 * (pt.log(2 * np.pi * s) + error**2 / s)
        return m + gain * error, P - pt.outer(gain, gain) * s, ll

    def loglike(value, q, r, time):
        (_, _, each), _ = pytensor.scan(
            step, sequences=[value], outputs_info=[pt.zeros(2), pt.eye(2) * 10.0, None],
            non_sequences=[q, r],
        )  # fmt: skip
        return pt.sum(each)

    with pm.Model() as model:
        q = pm.Gamma("q", 2, 20, shape=2)
        r = pm.Gamma("r", 2, 20)
        pm.CustomDist(
            "y", q, r, np.zeros(12), logp=loglike, signature="(q),(),(t)->(t)", observed=y
        )

    def want(q_log__, r_log__):
        law = stats.gamma(2, 0, 1 / 20)
        found = positive(law, q_log__).sum() + positive(law, r_log__)
        m, P, q, r = np.zeros(2), np.eye(2) * 10, np.exp(q_log__), np.exp(r_log__)
        for value in y:
            m, P = F @ m, F @ P @ F.T + np.diag(q)
            s, error = P[0, 0] + r, value - m[0]
            found += norm.logpdf(error, 0, np.sqrt(s))
            gain = P[:, 0] / s
            m, P = m + gain * error, P - np.outer(gain, gain) * s
        return found

    density(model, want, {"q_log__": [-2.5, -3.0], "r_log__": -2.2})


def generated_series():
    """An own series by what is drawn in a loop: prior draws, and the density PyMC derives."""
    y = np.array([0.3, 0.1, 0.5, 0.2, 0.4, 0.6])

    def series(start, rho, sigma, size):
        def step(before, last, rho, sigma):
            new = pm.Normal.dist(mu=rho[0] * last + rho[1] * before, sigma=sigma)
            return new, collect_default_updates(outputs=[new])

        values, _ = pytensor.scan(
            fn=step, outputs_info=[{"initial": start, "taps": [-2, -1]}],
            non_sequences=[rho, sigma], n_steps=6, strict=True,
        )  # fmt: skip
        return values

    with pm.Model(coords={"lag": [-2, -1], "step": range(6)}) as model:
        rho = pm.Normal("rho", [0.3, 0.1], 0.2)
        sigma = pm.HalfNormal("sigma", 0.2)
        start = pm.Normal("start", 0, 0.5, dims="lag")
        pm.CustomDist("y", start, rho, sigma, dist=series, observed=y, dims="step")

    def want(rho, sigma_log__, start):
        found = norm.logpdf(rho, [0.3, 0.1], 0.2).sum() + norm.logpdf(start, 0, 0.5).sum()
        found += positive(stats.halfnorm(0, 0.2), sigma_log__)
        past = np.concatenate([start, y])
        mu = rho[0] * past[1:-1] + rho[1] * past[:-2]
        return found + norm.logpdf(y, mu, np.exp(sigma_log__)).sum()

    density(model, want, {"rho": [0.4, 0.0], "sigma_log__": -1.6, "start": [0.1, 0.2]})
    with model:
        drawn = pm.sample_prior_predictive(300, random_seed=3)
    assert drawn.prior_predictive["y"].shape == (1, 300, 6)
    moments(drawn.prior["start"].values[0], 0.0, 0.5)
    first = drawn.prior_predictive["y"].values[0, :, 0]
    parts = drawn.prior["rho"].values[0] * drawn.prior["start"].values[0, :, ::-1]
    errors = (first - parts.sum(-1)) / drawn.prior["sigma"].values[0]
    moments(errors, 0.0, 1.0)
    trace = sample(model, 20, 30)
    with model:
        later = pm.sample_posterior_predictive(trace, progressbar=False, random_seed=1)
    assert later.posterior_predictive["y"].shape == (1, 20, 6)


def drawn_walk():
    """A walk in two dimensions by `scan`, as a law of matrices."""

    def walk(sigma, size):
        def step(last, sigma):
            new = last + pm.Normal.dist(0, sigma, shape=(2,))
            return new, collect_default_updates([new])

        steps, _ = pytensor.scan(step, outputs_info=[pt.zeros(2)], non_sequences=[sigma], n_steps=5)
        return steps

    at = np.arange(10.0).reshape(5, 2) / 5
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma", 1.0)
        pm.CustomDist("x", sigma, dist=walk, signature="()->(t,k)", observed=at)

    def want(sigma_log__):
        found = positive(stats.halfnorm(), sigma_log__)
        steps = np.diff(at, axis=0, prepend=0)
        return found + norm.logpdf(steps, 0, np.exp(sigma_log__)).sum()

    density(model, want, {"sigma_log__": -0.7})


def learning():
    """Values that are learnt from rewards; choices by a softmax of them."""
    acts = np.array([0, 1, 1, 0, 1, 1, 1, 0, 1, 1])
    rewards = np.array([0, 1, 1, 0, 1, 0, 1, 0, 1, 1])

    def update(act, reward, q, rate):
        return pt.set_subtensor(q[act], q[act] + rate * (reward - q[act]))

    with pm.Model() as model:
        rate = pm.Beta("rate", 1, 1)
        heat = pm.HalfNormal("heat", 5)
        start = pt.fill(pt.zeros(2), 0.5)
        values, _ = pytensor.scan(
            update, sequences=[pt.as_tensor(acts), pt.as_tensor(rewards)], outputs_info=[start],
            non_sequences=[rate],
        )  # fmt: skip
        values = pt.concatenate([start[None], values[:-1]])
        logits = heat * values
        pm.Bernoulli("act", logit_p=logits[:, 1] - logits[:, 0], observed=acts)

    def want(rate_logodds__, heat_log__):
        rate, q = special.expit(rate_logodds__), np.full(2, 0.5)
        found = np.log(rate * (1 - rate)) + positive(stats.halfnorm(0, 5), heat_log__)
        for act, reward in zip(acts, rewards, strict=True):
            found += np.log(special.softmax(np.exp(heat_log__) * q)[act])
            q[act] += rate * (reward - q[act])
        return found

    density(model, want, {"rate_logodds__": -0.5, "heat_log__": 0.8}, step=1e-3)


def moving_average():
    """An error that depends on the one before, with a shared length of data."""
    y = RNG.normal(size=15)

    def step(now, before, error, mu, phi, theta):
        return now - mu - phi * before - theta * error

    with pm.Model() as model:
        data = pm.Data("data", y)
        mu, phi, theta = (pm.Normal(n, 0, 1) for n in ("mu", "phi", "theta"))
        errors, _ = pytensor.scan(
            step, sequences={"input": data, "taps": [0, -1]}, outputs_info=[data[0] - mu],
            non_sequences=[mu, phi, theta],
        )  # fmt: skip
        pm.Potential("seen", pm.logp(pm.Normal.dist(0, 0.8), errors).sum())

    def want(mu, phi, theta, y=y):
        found, error = norm.logpdf([mu, phi, theta]).sum(), y[0] - mu
        for before, now in pairwise(y):
            error = now - mu - phi * before - theta * error
            found += norm.logpdf(error, 0, 0.8)
        return found

    at = {"mu": 0.1, "phi": 0.3, "theta": -0.4}
    density(model, want, at)
    with model:
        pm.set_data({"data": y[:9]})
    density(model, lambda **values: want(**values, y=y[:9]), at)
    slopes(model, at)
