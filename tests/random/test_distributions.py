"""Every distribution, from one table: its stream is that of NumPy (or SciPy), and the draws are as
its law says.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import BroadcastError, DTypeError, NDimError, OptionError, ShapeError
from rewrite_engine.random import ParameterError, functions
from rewrite_engine.random.distributions import DISTRIBUTIONS
from tests.random.cases import CASES, COV, MEAN, WEIGHTS, Case

r = pt.random
N = 20_000
CORES = {"categorical", "dirichlet", "multinomial", "multivariate_normal", "permutation"}
of_all = pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
of_numbers = pytest.mark.parametrize(
    "case", [c for c in CASES if c.name not in CORES and c.params], ids=lambda c: c.name
)
MODES = ["fast_run", "fast_compile", rw.Mode(linker="py")]


def test_every_distribution_has_a_case() -> None:
    made_of_others = {"choice", "nbinom"}  # (see below)
    assert {c.name for c in CASES} == set(functions.__all__) - made_of_others
    ops = {getattr(r, name).name for name in functions.__all__ if hasattr(getattr(r, name), "name")}
    inner = {"choice_without_replacement", "weighted_choice_without_replacement", "gamma",
             "integers", "multivariate_normal", "permutation"}  # fmt: skip
    assert ops | inner == set(DISTRIBUTIONS)
    assert set(functions.__all__) <= set(dir(r))
    assert r.nbinom is r.negative_binomial


def test_it_is_loaded_when_it_is_used() -> None:
    code = """
import sys
import rewrite_engine as rw, rewrite_engine.tensor as pt
rw.function([], pt.zeros(3))()
assert "rewrite_engine.random.op" not in sys.modules and "numpy.random" not in sys.modules
import rewrite_engine.tensor.random as r
from rewrite_engine.tensor.random import normal
import rewrite_engine.random
assert r is pt.random and normal is pt.random.normal is rewrite_engine.random.normal
r.uniform(size=(3,)).eval()
assert "scipy.stats" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, (), 4, (2, 3), (0, 2)], ids=str)
@of_all
def test_the_stream_is_numpys(case: Case, size: Any) -> None:
    x = case.draw(size=size)
    want = np.asarray(case.wanted(size=size))
    for mode in MODES:
        found = rw.function([], x, mode=mode)()
        assert found.dtype == x.type.dtype == want.dtype
        assert found.shape == x.type.shape == want.shape
        np.testing.assert_array_equal(found, want)


@of_all
def test_the_law(case: Case) -> None:
    """Moments within five standard errors; Kolmogorov-Smirnov, or chi-square where values are
    whole.
    """
    drawn = case.numbers(case.draw(size=(N,)).eval())
    mean, variance, kurtosis = [float(v) for v in case.law.stats(moments="mvk")]
    if np.isfinite([mean, variance]).all() and case.name != "vonmises":
        assert abs(drawn.mean() - mean) < 5 * (variance / N) ** 0.5
    if np.isfinite([variance, kurtosis]).all() and case.name != "vonmises":
        assert abs(drawn.var() - variance) < 5 * variance * ((kurtosis + 2) / N) ** 0.5
    if drawn.dtype.kind == "f":
        assert stats.kstest(drawn, case.law.cdf).pvalue > 1e-3
        return
    values, counts = np.unique(drawn, return_counts=True)
    expected = case.law.pmf(values) * N
    often = expected > 5
    rest = [N - counts[often].sum()], [N - expected[often].sum()]
    seen, true = [np.append(a, b) for a, b in zip((counts[often], expected[often]), rest)]
    kept = true > 1e-6
    assert not seen[~kept].any()
    assert stats.chisquare(seen[kept], true[kept] * seen.sum() / true[kept].sum()).pvalue > 1e-3


@of_all
def test_dtypes(case: Case) -> None:
    if case.name in ("chisquare", "permutation"):
        return  # (no dtype in the field's signature)
    x = case.draw(size=(5,))
    for dtype in ("float32", "int32", "bool", "complex128"):
        if np.dtype(dtype).kind.replace("b", "i") != x.type.kind:
            with pytest.raises(DTypeError, match="cannot have dtype"):
                case.draw(size=(5,), dtype=dtype)
            continue
        narrow = case.draw(size=(5,), dtype=dtype)
        assert narrow.type.dtype == dtype
        np.testing.assert_array_equal(narrow.eval(), x.eval().astype(dtype))


@of_numbers
def test_parameters_and_sizes_broadcast(case: Case) -> None:
    """The first parameter as a column, the last one as a row."""
    params = [np.asarray(p) for p in case.params]
    params[-1] = np.stack([params[-1]] * 2)
    params[0] = np.stack([params[0]] * 3)[:, None] if len(params) > 1 else params[0]
    shape = np.broadcast_shapes(*[p.shape for p in params])
    kinds = [pt.TensorType(p.dtype, [1 if n == 1 else None for n in p.shape]) for p in params]
    inputs = [kind() for kind in kinds]
    for size in (None, (4, *shape), (*[1] * (3 - len(shape)), *shape)):
        want = case.wanted(params, size)
        known = case.draw(params, size=size)
        assert known.type.shape == want.shape
        unknown = case.draw(inputs, size=size)
        assert len(unknown.type.shape) == want.ndim
        f = rw.function(inputs, [unknown, unknown.shape])
        found, lengths = f(*params)
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(lengths, want.shape)
        np.testing.assert_array_equal(known.eval(), want)


@of_numbers
@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 3), (1, 0)], ids=str)
def test_leading_lengths_of_one_stay(case: Case, shape: tuple[int, ...]) -> None:
    params = [np.full(shape, p) for p in case.params]
    for given in (params, [params[0], *case.params[1:]]):
        assert case.draw(given).eval().shape == shape


@of_numbers
def test_lengths_that_do_not_fit(case: Case) -> None:
    two = [np.stack([np.asarray(p)] * 2) for p in case.params]
    with pytest.raises(BroadcastError, match="is 2"):
        case.draw(two, size=(3,)).eval()
    with pytest.raises((NDimError, BroadcastError)):
        case.draw(two, size=())
    if len(two) > 1:
        three = [np.stack([np.asarray(case.params[0])] * 3), *two[1:]]
        with pytest.raises(BroadcastError, match="lengths do not fit: dimension 0 of"):
            case.draw(three)


# --- vectors --------------------------------------------------------------------------------------


def test_batches_of_vectors() -> None:
    rng, a, p = np.random.default_rng(7), np.array([[1.0, 2, 3], [4, 5, 6]]), np.array(WEIGHTS)
    state = r.shared_rng(rng)
    want = np.stack([rng.dirichlet(a[k % 2]) for k in range(8)]).reshape(4, 2, 3)
    found = r.dirichlet(a, size=(4, 2), rng=state)
    assert found.type.shape == want.shape
    np.testing.assert_array_equal(found.eval(), want)

    rng = np.random.default_rng(7)
    want = rng.multinomial([5, 6], np.stack([p, p[::-1]]))
    np.testing.assert_array_equal(
        r.multinomial([5, 6], np.stack([p, p[::-1]]), rng=state).eval(), want
    )
    rng = np.random.default_rng(7)
    many = np.stack([p, p[::-1]])
    want = np.reshape([rng.choice(3, p=many[k % 2]) for k in range(10)], (5, 2))
    np.testing.assert_array_equal(r.categorical(many, size=(5, 2), rng=state).eval(), want)


@pytest.mark.parametrize("n", [1, 3, 9, 200])
@pytest.mark.parametrize("scale", [1e-3, 0.09, 0.5, 20.0])
def test_dirichlet_of_many(n: int, scale: float) -> None:
    """Of each vector as NumPy draws it, in any of its ways."""
    a = np.random.default_rng(1).uniform(0.5, 1.0, (6, n)) * scale
    rng = np.random.default_rng(7)
    want = np.stack([rng.dirichlet(a[k]) for k in range(6)])
    np.testing.assert_array_equal(r.dirichlet(a, rng=r.shared_rng(seed=7)).eval(), want)
    assert r.dirichlet(np.ones((2, n)), size=(0, 2)).eval().shape == (0, 2, n)


@pytest.mark.parametrize("method", ["cholesky", "svd", "eigh"])
def test_multivariate_normal(method: str) -> None:
    for dtype in ("float32", "float64", "int64"):  # a line: the covariance is singular
        line = np.full((3, 3), 2).astype(dtype)
        state = r.shared_rng(seed=7)
        x = r.multivariate_normal(np.zeros(3, dtype), line, (5,), method, rng=state)
        if method != "cholesky":
            found = x.eval()
            np.testing.assert_allclose(found, found[:, [0]] * np.ones(3), atol=1e-6)
    means, covs = np.arange(6.0).reshape(3, 2), np.stack([COV, 2 * np.array(COV), np.eye(2)])
    state = r.shared_rng(seed=7)
    rng = np.random.default_rng(7)
    want = [rng.multivariate_normal(m, c, method=method) for m, c in zip(means, covs, strict=True)]
    found = r.multivariate_normal(means, covs, method=method, rng=state)
    assert found.type.shape == (3, 2)
    np.testing.assert_allclose(found.eval(), want)
    many = r.multivariate_normal(MEAN, COV, size=(N,), method=method, rng=state).eval()
    np.testing.assert_allclose(np.cov(many.T), COV, atol=0.1)
    np.testing.assert_allclose(many.mean(0), MEAN, atol=0.05)


def test_permutation() -> None:
    x = np.arange(6.0).reshape(3, 2)
    for given in (x, x[:, 0], 5):
        want = np.random.default_rng(7).permutation(given)
        found = r.permutation(given, rng=r.shared_rng(seed=7))
        assert found.type.shape == want.shape
        np.testing.assert_array_equal(found.eval(), want)
    rng = np.random.default_rng(7)
    want = np.stack([rng.permutation(x) for _ in range(4)]).reshape(2, 2, 3, 2)
    np.testing.assert_array_equal(
        r.permutation(x, size=(2, 2), rng=r.shared_rng(seed=7)).eval(), want
    )
    assert r.permutation(np.zeros((0, 2))).eval().shape == (0, 2)
    v = pt.vector("v")
    slope = rw.grad(r.permutation(v, rng=r.shared_rng(seed=7))[0], v).eval({v: [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(slope, np.random.default_rng(7).permutation(3)[0] == np.arange(3))


@pytest.mark.parametrize("things", [5, np.arange(5.0), np.arange(10.0).reshape(5, 2)], ids=np.ndim)
@pytest.mark.parametrize("size", [None, 3, (2, 2), 0])
@pytest.mark.parametrize("p", [None, [0.1, 0.2, 0.3, 0.2, 0.2]], ids=["even", "weighed"])
@pytest.mark.parametrize("replace", [True, False])
def test_choice(things: Any, size: Any, p: Any, replace: bool) -> None:
    again = replace or size is None  # (one draw is one with replacement)
    want = np.random.default_rng(7).choice(things, size, replace=again, p=p)
    found = r.choice(things, size, replace=replace, p=p, rng=r.shared_rng(seed=7))
    assert found.type.shape == np.shape(want)
    np.testing.assert_array_equal(found.eval(), want)


# --- errors ---------------------------------------------------------------------------------------

i, n = pt.lscalar("i"), pt.lscalar("n")
AT_BUILDING = {
    "rng is no variable": (lambda: r.normal(rng=np.random.default_rng(3)), TypeError, "rng is a"),
    "rng is a tensor": (lambda: r.normal(rng=i), TypeError, "rng must be a variable"),
    "None as a length": (lambda: r.normal(size=(3, None)), DTypeError, "must consist of integers"),
    "a float as the size": (lambda: r.normal(size=2.0), DTypeError, "consist of integers, not 2.0"),
    "a bool as the size": (lambda: r.normal(size=True), DTypeError, "must consist of integers"),
    "a text as the size": (lambda: r.normal(size="a"), DTypeError, "must consist of integers"),
    "an array of floats": (lambda: r.normal(size=np.array([2.5])), DTypeError, "not 2.5"),
    "a float variable": (lambda: r.normal(size=pt.dscalar()), DTypeError, "must be integers"),
    "a size of unknown length": (lambda: r.normal(size=pt.lvector()), NDimError, "not known"),
    "a negative size": (lambda: r.normal(size=-1), ShapeError, "negative"),
    "too many arguments": (lambda: r.normal(1, 2, 3, 4), OptionError, "normal: too many"),
    "an unknown argument": (lambda: r.normal(mu=1), OptionError, "normal: .*'mu'"),
    "a missing parameter": (lambda: r.bernoulli(), OptionError, "bernoulli: missing.*'p'"),
    "a complex parameter": (lambda: r.normal(1j), DTypeError, "normal: parameters must be real"),
    "a text as a parameter": (lambda: r.normal("a"), TypeError, "str 'a'"),
    "a mean of 0 dimensions": (
        lambda: r.multivariate_normal(0.0, np.eye(3)), NDimError, "mean has 1 dimension or more"),
    "a mean of another length": (
        lambda: r.multivariate_normal(np.zeros(3), np.eye(2)), ShapeError, "dimension 0 of mean"),
    "an unknown method": (
        lambda: r.multivariate_normal(MEAN, COV, method="lu"), OptionError, "'cholesky'"),
    "neither rate nor scale": (lambda: r.gamma(2.0), ParameterError, "pass either scale or rate"),
    "rate and scale": (lambda: r.gamma(2.0, 3.0, 4.0), ParameterError, "pass either scale or rate"),
    "an unknown dtype": (lambda: r.normal(dtype="real"), DTypeError, "'real'"),
    "a part of a thing": (lambda: r.choice(2.5), DTypeError, "choice: a number of things"),
    "a part of an order": (lambda: r.permutation(2.5), DTypeError, "permutation: a number"),
    "weights of two dimensions": (lambda: r.choice(2, p=np.eye(2)), NDimError, "p must be a vect"),
    "weights of others": (lambda: r.choice(3, p=[0.5, 0.5]), ShapeError, "has to be 3"),
    "a seed that is no integer": (lambda: r.default_rng(1.5), DTypeError, "seed must be an integ"),
}  # fmt: skip
AT_RUNNING = {
    "a negative scale": (lambda: r.normal(0.0, -1.0), ParameterError, "normal: scale < 0"),
    "a scale below 0 of SciPy": (lambda: r.cauchy(0.0, -1.0), ParameterError, "cauchy: Domain"),
    "no Student distribution": (lambda: r.t(3.0, 0.0, 0.0), ParameterError, "t: scale <= 0"),
    "p above 1": (lambda: r.bernoulli(1.5), ParameterError, "bernoulli: p < 0, p > 1"),
    "half a trial": (lambda: r.binomial(2.5, 0.5), DTypeError, "binomial: Cannot cast"),
    "nothing between": (lambda: r.integers(5, 5), ParameterError, "integers: low >= high"),
    "weights of more than 1": (lambda: r.categorical([0.9, 0.9]), ParameterError, "add up to 1"),
    "weights below 0": (lambda: r.categorical([-0.5, 1.5]), ParameterError, "p < 0"),
    "a weight that is NaN": (lambda: r.categorical([np.nan, 1.0]), ParameterError, "NaN"),
    "an indefinite covariance": (
        lambda: r.multivariate_normal(MEAN, -np.eye(2)), ParameterError, "not positive definite"),
    "a negative eigenvalue": (
        lambda: r.multivariate_normal(MEAN, -np.eye(2), method="eigh"), ParameterError, "negative"),
    "a covariance below 0": (
        lambda: r.multivariate_normal(MEAN, -np.eye(2), method="svd"), ParameterError, "negative"),
    "no symmetry": (
        lambda: r.multivariate_normal(MEAN, [[1.0, 0.5], [0.0, 1.0]], method="svd"),
        ParameterError, "not symmetric"),
    "an alpha below 0": (lambda: r.dirichlet([[1.0, -1.0]] * 2), ParameterError, "alpha < 0"),
    "an alpha that is NaN": (lambda: r.dirichlet([[1.0, np.nan]]), ParameterError, "alpha"),
    "too many of few": (
        lambda: r.choice(3, 5, replace=False), ParameterError, "larger sample than population"),
    "things of none": (lambda: r.choice(np.zeros(0)), ParameterError, "integers: high <= 0"),
    "a size below 0": (lambda: r.normal(size=(-1 * pt.ones((), "int64"),)), ShapeError, "negative"),
}  # fmt: skip


@pytest.mark.parametrize("what", AT_BUILDING)
def test_errors_when_built(what: str) -> None:
    build, error, text = AT_BUILDING[what]
    with pytest.raises(error, match=text):
        build()


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("what", AT_RUNNING)
def test_errors_when_run(what: str, mode: Any) -> None:
    build, error, text = AT_RUNNING[what]
    f = rw.function([], build(), mode=mode)
    with pytest.raises(error, match=text) as caught:
        f()
    assert isinstance(caught.value, ValueError | TypeError)
    assert __file__ in str(caught.value)  # the user's line


def test_a_length_that_is_found_when_run() -> None:
    v = pt.vector("v")
    for size, given in [((3,), [1.0]), ((n,), [1.0, 2.0])]:
        f = rw.function([v, n], r.normal(v, 1.0, size=size), on_unused_input="ignore")
        assert f([1.0, 2.0, 3.0], 3).shape == (3,)
        with pytest.raises(BroadcastError, match="dimension 0 of loc.*the size is 3"):
            f(given, 3)


def test_a_draw_of_which_only_the_shape_is_used() -> None:
    mean, number = pt.dvector("mean"), pt.dscalar("number")
    filled = pt.second(r.normal(mean, 1.0), number)
    f = rw.function([mean, number], filled)
    assert f([1.0, 2.0], 3.0).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (functions.normal, "Normal"),
        (functions.multivariate_normal, "MultivariateNormal"),
        (functions.invgamma, "InverseGamma"),
        (functions.nbinom, "NegativeBinomial"),
    ],
)
def test_names_as_clients_print_them(op: Any, name: str) -> None:
    assert op._print_name == (name, f"\\operatorname{{{name}}}")
