"""Draws by JAX: NumPy's numbers by default, and laws of `jax.random` on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import UntraceableError
from rewrite_engine.link.jax import JaxLinker
from rewrite_engine.link.jax.draws import DRAWS
from rewrite_engine.loops import scan
from tests.random.cases import CASES, Case

BY_JAX = rw.Mode(linker=JaxLinker(draws="jax"))
of_all = pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)


def state(seed: int = 3) -> Any:
    return rw.shared(np.random.default_rng(seed), name="rng")


def drawn(case: Case, mode: Any, n: int) -> Any:
    with config.change_flags(floatX="float64"):
        return rw.function([], case.draw(size=(n,)), mode=mode)()


@of_all
def test_numbers_are_those_of_numpy(case: Case) -> None:
    want, found = drawn(case, "vm", 4), drawn(case, "jax", 4)
    assert (found.dtype, found.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(found, want)


@of_all
def test_laws_of_jax_random(case: Case) -> None:
    """Draws have the law, by tests with a probability of 1e-4 to fail."""
    found = drawn(case, BY_JAX, 5000)
    want = drawn(case, "vm", 2)
    assert (found.dtype, found.shape[1:]) == (want.dtype, want.shape[1:])
    x = np.asarray(case.numbers(found), float)
    if hasattr(case.law.dist if hasattr(case.law, "dist") else case.law, "pmf"):
        values, counts = np.unique(x, return_counts=True)
        expected = case.law.pmf(values) * len(x)
        often = expected > 5
        chi2 = ((counts - expected)[often] ** 2 / expected[often]).sum()
        assert stats.chi2.sf(chi2, max(often.sum() - 1, 1)) > 1e-4
        assert expected[often].sum() > 0.97 * len(x)
    else:
        assert stats.kstest(x, case.law.cdf).pvalue > 1e-4


def test_states_move_on_and_are_shared_with_other_linkers() -> None:
    rng, other = state(), state()
    draw, same = [pt.random.normal(0, 1, size=(3,), rng=r) for r in (rng, other)]
    f = rw.function([], draw, updates={rng: draw.owner.outputs[0]}, mode="jax")
    g = rw.function([], same, updates={other: same.owner.outputs[0]}, mode="vm")
    for _ in range(3):
        np.testing.assert_array_equal(f(), g())
    assert rng.get_value().bit_generator.state == other.get_value().bit_generator.state


def test_states_by_jax_random_move_on() -> None:
    rng = state()
    draw = pt.random.normal(0, 1, size=(2,), rng=rng)
    f = rw.function([], draw, updates={rng: draw.owner.outputs[0]}, mode=BY_JAX)
    assert len({x for _ in range(4) for x in f().tolist()}) == 8


def test_draws_in_loops() -> None:
    rng, s = state(), pt.dscalar("s")

    def step(t: Any, r: Any) -> Any:
        new, x = pt.random.normal(t, 1, rng=r, return_next_rng=True)
        return x, new

    out, _ = scan(step, outputs_info=[s, rng], n_steps=4)
    walks = [rw.function([s], out[0], mode=mode)(0.5) for mode in ("jax", "vm")]
    np.testing.assert_allclose(*walks, rtol=1e-14)


def test_other_generators_are_refused() -> None:
    rng = rw.shared(np.random.Generator(np.random.MT19937(1)))
    f = rw.function([], pt.random.normal(0, 1, rng=rng), mode="jax")
    with pytest.raises(UntraceableError, match="PCG64"):
        f()


def test_many_laws_are_drawn_on_the_device() -> None:
    assert len(DRAWS) >= 30
    with pytest.raises(ValueError, match='"numpy" or "jax"'):
        JaxLinker(draws="both")
