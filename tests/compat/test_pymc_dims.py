"""Models of `pymc.dims`, where PyMC is installed: the same as those without names."""

import json
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.compat.test_programs import PROGRAMS, compat

pytestmark = pytest.mark.skipif(
    find_spec("pymc") is None, reason='PyMC is not installed: pip install "rewrite-engine[pymc]"'
)
MODELS = [
    "regression", "hierarchy", "zero_sum", "categorical", "mixture", "censored", "in_both_ways",
    "vectors",
]  # fmt: skip


@pytest.fixture(scope="module")
def told() -> Any:
    """What the program prints."""
    done = compat(PROGRAMS / "pymc_dims.py")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", MODELS)
def test_densities_and_gradients_are_those_without_names(told: Any, name: str) -> None:
    (named, slopes), (plain, plain_slopes) = told["models"][name]
    np.testing.assert_allclose(named, plain, rtol=1e-10)
    # (PyMC's transforms of zero sums and simplices have names of their own)
    assert len(slopes) == len(plain_slopes)
    for own, other in zip(slopes.values(), plain_slopes.values(), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-8, atol=1e-10)


def test_data_of_another_length(told: Any) -> None:
    found = told["data"]
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    for n, logp in zip((9, 4), found["logp"], strict=True):
        prior = 2 * stats.norm.logpdf(1) + stats.halfnorm.logpdf(1)
        want = prior + stats.norm.logpdf(y[:n], x[:n].sum(1)).sum()
        np.testing.assert_allclose(logp, want, rtol=1e-10)
    assert found["seen"] == [1, 20, 9]
    assert found["other"] == [1, 20, 4]
    np.testing.assert_allclose(found["done"], x[:4] @ [1, 2])


def test_names_are_known_to_the_model(told: Any) -> None:
    found = told["data"]
    assert found["b"] == ["chain", "draw", "f"]
    want = {"x": ["obs", "f"], "b": ["f"], "s": [], "mu": ["obs"], "seen": ["obs"], "y": ["obs"]}
    assert found["dims"] == want
    assert "b ~ Normal(0, 1)" in found["text"]
    assert "y ~ Normal(mu, s)" in found["text"]
