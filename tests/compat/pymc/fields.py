"""Gaussian processes and fields over neighbours; covariances and factors."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from checks import density, filled, logp, moments, near, positive, sample, slopes
from numpy.testing import assert_allclose
from scipy import stats

RNG = np.random.default_rng(25)
norm, mvn = stats.norm, stats.multivariate_normal
X = np.linspace(0, 3, 10)[:, None]
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=10)


def _squares(x, z, length, size=1.0):
    """The covariance of an exponential of squares."""
    return size**2 * np.exp(-0.5 * ((x[:, None, 0] - z[None, :, 0]) / length) ** 2)


def marginal_process():
    with pm.Model() as model:
        length = pm.Gamma("length", 2, 2)
        eta = pm.HalfNormal("eta", 2)
        sigma = pm.HalfNormal("sigma", 1)
        gp = pm.gp.Marginal(cov_func=eta**2 * pm.gp.cov.ExpQuad(1, length))
        gp.marginal_likelihood("y", X=X, y=Y, sigma=sigma)

    def want(length_log__, eta_log__, sigma_log__):
        found = positive(stats.gamma(2, 0, 0.5), length_log__)
        found += positive(stats.halfnorm(0, 2), eta_log__) + positive(stats.halfnorm(), sigma_log__)
        K = _squares(X, X, np.exp(length_log__), np.exp(eta_log__))
        return found + mvn.logpdf(
            Y, np.zeros(10), K + (np.exp(2 * sigma_log__) + 1e-6) * np.eye(10)
        )

    density(model, want, {"length_log__": -0.5, "eta_log__": 0.1, "sigma_log__": -1.5}, rtol=1e-5)
    new = np.array([[0.25], [1.1]])
    point = {"length": np.array(0.7), "eta": np.array(1.0), "sigma": np.array(0.1)}
    mean, variance = gp.predict(new, point=point, diag=True, model=model)
    K = _squares(X, X, 0.7) + (0.01 + 1e-6) * np.eye(10)
    k = _squares(new, X, 0.7)
    assert_allclose(mean, k @ np.linalg.solve(K, Y), rtol=1e-4)
    assert_allclose(variance, 1 - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T)), atol=1e-4)
    found = pm.find_MAP(model=model, progressbar=False)
    with model:
        gp.conditional("new", new)
        drawn = pm.sample_posterior_predictive(
            [found], var_names=["new"], progressbar=False, random_seed=1
        )
    assert_allclose(
        drawn.posterior_predictive["new"].values.ravel(), np.sin(2 * new[:, 0]), atol=0.6
    )


def latent_process():
    """Counts whose logarithmic rate is a process; and what it is elsewhere."""
    counts = np.array([1, 2, 4, 6, 7, 5, 4, 2, 1, 0])
    with pm.Model() as model:
        length = pm.InverseGamma("length", 5, 5)
        cov = pm.gp.cov.Matern52(1, ls=length) + pm.gp.cov.WhiteNoise(1e-3)
        gp = pm.gp.Latent(mean_func=pm.gp.mean.Constant(1.0), cov_func=cov)
        f = gp.prior("f", X=X)
        pm.Poisson("n", pm.math.exp(f), observed=counts)

    def want(length_log__, f_rotated_):
        l = np.exp(length_log__)
        r = np.sqrt(5) * np.abs(X - X.T) / l
        K = (1 + r + r**2 / 3) * np.exp(-r) + (1e-3**2 + 1e-6) * np.eye(10)
        f = 1.0 + np.linalg.cholesky(K) @ f_rotated_
        found = positive(stats.invgamma(5, 0, 5), length_log__) + norm.logpdf(f_rotated_).sum()
        return found + stats.poisson.logpmf(counts, np.exp(f)).sum()

    at = {"length_log__": -0.2, "f_rotated_": np.linspace(-1, 1, 10)}
    density(model, want, at, rtol=1e-5)
    trace = sample(model, 20, 30)
    with model:
        gp.conditional("f_new", np.array([[0.5], [5.0]]))
        drawn = pm.sample_posterior_predictive(
            trace, var_names=["f_new"], progressbar=False, random_seed=1
        )
    assert drawn.posterior_predictive["f_new"].shape == (1, 20, 2)


def hilbert_space_process():
    """A process by basis functions, and its values at other points by `set_data`."""
    with pm.Model() as model:
        x = pm.Data("x", X)
        eta = pm.Exponential("eta", 1)
        cov = eta**2 * pm.gp.cov.ExpQuad(1, ls=0.8)
        gp = pm.gp.HSGP(m=[12], c=2.0, cov_func=cov)
        phi, sqrt_psd = gp.prior_linearized(x)
        beta = pm.Normal("beta", 0, 1, shape=gp.n_basis_vectors)
        f = pm.Deterministic("f", phi @ (beta * sqrt_psd))
        pm.Normal("y", f, 0.2, observed=Y, shape=f.shape)
    center, half = 1.5, 3.0
    roots = np.pi * np.arange(1, 13) / (2 * half)

    def want(eta_log__, beta):
        spectrum = (
            np.exp(2 * eta_log__) * np.sqrt(2 * np.pi) * 0.8 * np.exp(-0.5 * (0.8 * roots) ** 2)
        )
        phi = np.sin(roots * (X - center + half)) / np.sqrt(half)
        found = positive(stats.expon(), eta_log__) + norm.logpdf(beta).sum()
        return found + norm.logpdf(Y, phi @ (beta * np.sqrt(spectrum)), 0.2).sum()

    density(model, want, {"eta_log__": 0.2, "beta": np.linspace(-1, 1, 12)}, rtol=1e-5)
    trace = sample(model, 20, 40)
    with model:
        pm.set_data({"x": np.array([[0.1], [0.2], [0.3]])})
        drawn = pm.sample_posterior_predictive(
            trace, var_names=["f", "y"], predictions=True, progressbar=False, random_seed=1
        )
    assert drawn.predictions["f"].shape == (1, 20, 3)


def processes_of_products():
    """Grids by Kronecker products, and a sparse approximation."""
    xs = [np.linspace(0, 1, 3)[:, None], np.linspace(0, 2, 4)[:, None]]
    y = RNG.normal(size=12)
    with pm.Model() as kron:
        lengths = pm.Gamma("lengths", 2, 1, shape=2)
        covs = [pm.gp.cov.ExpQuad(1, lengths[i]) for i in range(2)]
        pm.gp.MarginalKron(cov_funcs=covs).marginal_likelihood("y", xs, y, sigma=0.5)

    def want(lengths_log__):
        l = np.exp(lengths_log__)
        K = np.kron(_squares(xs[0], xs[0], l[0]), _squares(xs[1], xs[1], l[1]))
        prior = positive(stats.gamma(2), lengths_log__).sum()
        return prior + mvn.logpdf(y, np.zeros(12), K + 0.25 * np.eye(12))

    density(kron, want, {"lengths_log__": [-0.3, 0.2]}, rtol=1e-5)
    with pm.Model() as sparse:
        length = pm.Gamma("length", 2, 2)
        gp = pm.gp.MarginalApprox(approx="FITC", cov_func=pm.gp.cov.ExpQuad(1, length))
        gp.marginal_likelihood("y", X=X, Xu=X[::3], y=Y, sigma=0.3)
    U = X[::3]
    K = _squares(X, U, 0.8) @ np.linalg.solve(
        _squares(U, U, 0.8) + 1e-6 * np.eye(4), _squares(U, X, 0.8)
    )
    K += np.diag(1 - np.diag(K)) + 0.09 * np.eye(10)
    found = logp(sparse, {"length_log__": np.log(0.8)})
    prior = positive(stats.gamma(2, 0, 0.5), np.log(0.8))
    assert_allclose(found, prior + mvn.logpdf(Y, np.zeros(10), K), rtol=1e-4)
    slopes(sparse)


def periodic_and_summed():
    """Sums of processes, of which parts are predicted."""
    with pm.Model() as model:
        trend = pm.gp.Marginal(cov_func=pm.gp.cov.Linear(1, c=0.5))
        wave = pm.gp.Marginal(cov_func=pm.gp.cov.Periodic(1, period=np.pi, ls=1.0))
        both = trend + wave
        both.marginal_likelihood("y", X=X, y=Y, sigma=0.2)
    new = np.array([[0.3], [3.5]])
    given = {"X": X, "y": Y, "sigma": 0.2, "gp": both}
    with model:
        mean, _ = wave.predict(new, given=given, diag=True, point={})

    def periodic(a, b):
        return np.exp(-0.5 * (np.sin(a - b.T) / 1.0) ** 2)

    K = (X - 0.5) @ (X - 0.5).T + periodic(X, X) + (0.04 + 1e-6) * np.eye(10)
    assert_allclose(mean, periodic(new, X) @ np.linalg.solve(K, Y), rtol=1e-3, atol=1e-4)


def neighbours():
    """Conditional and intrinsic autoregressions, and both kinds of effects together."""
    W = np.zeros((6, 6), int)
    for i in range(5):
        W[i, i + 1] = W[i + 1, i] = 1
    W[0, 5] = W[5, 0] = W[1, 4] = W[4, 1] = 1
    cases, at_risk = np.array([3, 5, 2, 8, 6, 4]), np.array([4.0, 4.5, 3.0, 6.0, 5.5, 4.0])
    with pm.Model(coords={"area": list("abcdef")}) as car:
        alpha = pm.Beta("alpha", 1, 1)
        tau = pm.Gamma("tau", 2, 2)
        phi = pm.CAR("phi", mu=np.zeros(6), tau=tau, alpha=alpha, W=W, dims="area")
        pm.Poisson("cases", at_risk * pt.exp(phi), observed=cases, dims="area")

    def want(alpha_logodds__, tau_log__, phi):
        alpha = 1 / (1 + np.exp(-alpha_logodds__))
        found = np.log(alpha * (1 - alpha)) + positive(stats.gamma(2, 0, 0.5), tau_log__)
        Q = np.exp(tau_log__) * (np.diag(W.sum(1)) - alpha * W)
        found += 0.5 * np.linalg.slogdet(Q)[1] - 0.5 * phi @ Q @ phi - 3 * np.log(2 * np.pi)
        return found + stats.poisson.logpmf(cases, at_risk * np.exp(phi)).sum()

    at = {"alpha_logodds__": 0.3, "tau_log__": 0.4, "phi": [0.1, 0.3, -0.2, 0.2, 0.0, -0.1]}
    slopes(car, at)
    other = {**at, "phi": [0.3, 0.0, 0.1, -0.4, 0.2, 0.1], "alpha_logodds__": -0.5}
    both = [want(**{k: np.asarray(v) for k, v in p.items()}) for p in (at, other)]
    assert_allclose(logp(car, at) - logp(car, other), both[0] - both[1], rtol=1e-5)
    with pm.Model(coords={"area": list("abcdef")}) as mixed:
        rho, sigma = pm.Beta("rho", 2, 2), pm.HalfNormal("sigma", 1)
        theta = pm.Normal("theta", 0, 1, dims="area")
        phi = pm.ICAR("phi", W=W, dims="area")
        effect = pm.Deterministic("effect", pt.sqrt(1 - rho) * theta + pt.sqrt(rho) * phi)
        pm.Poisson("cases", at_risk * pt.exp(sigma * effect), observed=cases, dims="area")
    slopes(mixed, {"phi": at["phi"]})
    first, second = np.nonzero(np.triu(W))
    point = {"phi": np.array(at["phi"])}
    with mixed:
        part = mixed.compile_fn(mixed.logp(vars=[phi], sum=True), point_fn=True)
        found = [part(p) for p in (point, {"phi": 2 * point["phi"]})]
    steps = ((point["phi"][first] - point["phi"][second]) ** 2).sum()
    ends = [norm.logpdf(c * point["phi"].sum(), 0, 0.001 * 6) for c in (1, 2)]
    assert_allclose(found[0] - found[1], 1.5 * steps + ends[0] - ends[1], rtol=1e-5)


def correlations():
    """A covariance by its Cholesky factor, of Lewandowski, Kurowicka and Joe."""
    y = RNG.multivariate_normal([1, -1, 0], [[1, 0.6, 0], [0.6, 1, 0.2], [0, 0.2, 2]], size=30)
    with pm.Model(coords={"axis": ["x", "y", "z"]}) as model:
        chol, corr, sd = pm.LKJCholeskyCov(
            "chol", n=3, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=3)
        )
        pm.Deterministic("cov", chol @ chol.T)
        mu = pm.Normal("mu", 0, 2, dims="axis")
        pm.MvNormal("y", mu, chol=chol, observed=y)
    assert (corr.ndim, sd.ndim) == (2, 1)
    packed = np.array([0.1, 0.5, -0.2, 0.1, 0.2, 0.3])
    at = {"chol_cholesky-cov-packed__": packed, "mu": [0.9, -0.8, 0.1]}
    slopes(model, at)
    L = np.zeros((3, 3))
    L[np.tril_indices(3)] = packed
    np.fill_diagonal(L, np.exp(np.diag(L)))
    with model:
        parts = model.point_logps(filled(model, at), round_vals=8)
    assert_allclose(parts["y"], mvn.logpdf(y, at["mu"], L @ L.T).sum(), rtol=1e-6)
    trace = sample(model, 30, 60)
    assert_allclose(np.diagonal(trace.posterior["chol_corr"].values, axis1=-2, axis2=-1), 1)
    near(trace.posterior["chol_corr"].values[..., 0, 1], np.corrcoef(y.T)[0, 1], 0.15)
    drawn = pm.draw(pm.LKJCorr.dist(n=2, eta=3.0), 300, random_seed=1)
    assert_allclose(drawn.shape[0], 300)


def matrices():
    """Wishart, matrix normal and Kronecker normal laws, and a multivariate t."""
    S = np.array([[2.0, 0.3], [0.3, 1.0]])
    V = np.array([[1.5, 0.2], [0.2, 0.8]])
    A = np.array([[1.0, 0.2, 0.0], [0.2, 2.0, 0.1], [0.0, 0.1, 1.5]])
    M = RNG.normal(size=(2, 3))
    found = pm.logp(pm.Wishart.dist(nu=5, V=S), V).eval()
    assert_allclose(found, stats.wishart.logpdf(V, 5, S), rtol=1e-6)
    found = pm.logp(pm.MatrixNormal.dist(np.zeros((2, 3)), rowcov=S, colcov=A), M).eval()
    assert_allclose(found, stats.matrix_normal.logpdf(M, np.zeros((2, 3)), S, A), rtol=1e-6)
    K = np.kron(S, A)
    found = pm.logp(pm.KroneckerNormal.dist(np.zeros(6), covs=[S, A]), M.ravel()).eval()
    assert_allclose(found, mvn.logpdf(M.ravel(), np.zeros(6), K), rtol=1e-6)
    found = pm.logp(pm.MvStudentT.dist(4, mu=[0, 1], scale=S), M.T).eval()
    assert_allclose(found, stats.multivariate_t.logpdf(M.T, [0, 1], S, 4), rtol=1e-6)
    counts = np.array([2, 0, 3])
    found = pm.logp(pm.DirichletMultinomial.dist(n=5, a=[1.0, 2.0, 3.0]), counts).eval()
    assert_allclose(found, stats.dirichlet_multinomial.logpmf(counts, [1, 2, 3], 5), rtol=1e-6)
    drawn = pm.draw(pm.MatrixNormal.dist(M, rowcov=S, colcov=A), 300, random_seed=2)
    moments(drawn[:, 1, 2], M[1, 2], np.sqrt(S[1, 1] * A[2, 2]))
    moments(pm.draw(pm.MvNormal.dist(M[0], A), 300, random_seed=2), M[0], np.sqrt(np.diag(A)))


def factors():
    """Factors whose loadings are lower triangular with a positive diagonal."""
    y = RNG.normal(size=(20, 2)) @ RNG.normal(size=(2, 4)) + 0.1 * RNG.normal(size=(20, 4))
    rows, columns = np.tril_indices(4, -1, 2)
    with pm.Model(coords={"column": range(4), "factor": range(2), "row": range(20)}) as model:
        diagonal = pm.HalfNormal("diagonal", 1, dims="factor")
        below = pm.Normal("below", 0, 1, shape=len(rows))
        loads = pt.zeros((4, 2))
        loads = pt.set_subtensor(loads[np.arange(2), np.arange(2)], diagonal)
        loads = pm.Deterministic(
            "loads", pt.set_subtensor(loads[rows, columns], below), dims=("column", "factor")
        )
        F = pm.Normal("F", 0, 1, dims=("row", "factor"))
        pm.Normal("y", F @ loads.T, 0.5, observed=y, dims=("row", "column"))

    def want(diagonal_log__, below, F):
        L = np.zeros((4, 2))
        L[[0, 1], [0, 1]] = np.exp(diagonal_log__)
        L[rows, columns] = below
        found = positive(stats.halfnorm(), diagonal_log__).sum() + norm.logpdf(below).sum()
        return found + norm.logpdf(F).sum() + norm.logpdf(y, F @ L.T, 0.5).sum()

    at = {
        "diagonal_log__": [0.1, 0.2],
        "below": np.linspace(-1, 1, 5),
        "F": RNG.normal(size=(20, 2)),
    }
    density(model, want, at)
    with pm.Model() as marginal:
        W = pm.Normal("W", 0, 1, shape=(4, 2))
        pm.MvNormal("y", 0.0, cov=W @ W.T + 0.25 * pt.eye(4), observed=y)
    W = RNG.normal(size=(4, 2))
    seen = mvn.logpdf(y, np.zeros(4), W @ W.T + 0.25 * np.eye(4)).sum()
    assert_allclose(logp(marginal, {"W": W}), norm.logpdf(W).sum() + seen, rtol=1e-6)
    slopes(marginal, {"W": W})
