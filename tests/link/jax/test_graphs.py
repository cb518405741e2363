"""Graphs by JAX beside the reference: families of ops, random graphs, branches, loops, draws,
updates, errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, ShapeError, UntraceableError
from rewrite_engine.link.jax.compiled import MAX_VERSIONS, JaxFunction
from rewrite_engine.loops import scan, until
from rewrite_engine.tensor.linalg.op import SingularMatrixError
from rewrite_engine.tensor.op import TensorOp, same_shape
from tests.link.reference import link, random_graphs, reference, values_for
from tests.link.test_families import CASES, VALUES, roots

JAX = rw.Mode(linker="jax")


def same(got: Any, want: Any, rtol: float = 1e-11) -> None:
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    rtol = 1e-4 if want.dtype in ("float32", "complex64") else rtol
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


#: what has a length that depends on values
DYNAMIC = {"mask", "set mask", "nonzero"}


@pytest.mark.parametrize("name", CASES)
def test_families(name: str) -> None:
    out = CASES[name]()
    inputs = roots(out)
    values = [VALUES[v] for v in inputs]
    if name in DYNAMIC:
        with pytest.raises(UntraceableError):
            link(inputs, out, linker="jax").call(*values)
        return
    (want,) = reference([out], dict(zip(inputs, values, strict=True)))
    same(link(inputs, out, linker="jax").call(*values), want)


@settings(max_examples=60)
@given(random_graphs())
def test_random_graphs(graph: Any) -> None:
    inputs, outputs = graph
    linked = link(inputs, outputs, linker="jax")
    for seed in (0, 1):
        values = values_for(inputs, seed)
        kept = [v.copy() for v in values]
        found = linked.call(*values)
        for got, want in zip(found, reference(outputs, dict(zip(inputs, kept))), strict=True):
            same(got, want, 2e-6)  # (some values in between are float32)
        for value, before in zip(values, kept, strict=True):
            np.testing.assert_array_equal(value, before)


# --- lengths that depend on values ----------------------------------------------------------------

x, w, n, k = pt.dvector("x"), pt.dmatrix("w"), pt.lscalar("n"), pt.lvector("k")
X = np.linspace(-1.0, 1.5, 6)


def both(inputs: Any, outputs: Any, *values: Any, rtol: float = 1e-12) -> None:
    found = rw.function(inputs, outputs, mode=JAX)(*values)
    wanted = rw.function(inputs, outputs, mode="vm")(*values)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, list) else [(found, wanted)]
    for got, want in pairs:
        same(got, want, rtol)


@pytest.mark.parametrize("out", [
    x[:n] * 2, pt.arange(n) + x[0], x[n:].sum(), pt.zeros((n, 2)) + x[1], x.reshape((n, -1)),
    pt.split(x, [n, 6 - n], 2)[0], pt.eye(n), x[: x.shape[0] // n], pt.roll(x, n),
    pt.tile(x, 2)[: x.shape[0]], x[n] + 1, pt.concatenate([x, x[:n]]),
], ids=str)  # fmt: skip
def test_a_length_as_an_argument(out: Any) -> None:
    f = rw.function([x, n], out, mode=JAX, on_unused_input="ignore")
    g = rw.function([x, n], out, mode="vm", on_unused_input="ignore")
    for value in (2, 3, 2):
        same(f(X, value), g(X, value))


def test_each_length_has_code_of_its_own_up_to_a_number() -> None:
    f = rw.function([x, n], x[:n].sum(), mode=JAX)
    for value in range(5):
        f(X, value)
    run = next(v for v in f.vm.call.__globals__.values() if isinstance(v, JaxFunction))
    assert len(run.versions) == 5 < MAX_VERSIONS


@pytest.mark.parametrize("out", [
    x[x > 0] * 2, pt.arange(pt.cast(x.sum(), "int64")), pt.nonzero(x)[0], x[: pt.argmax(x)],
    scan(lambda a, s: (s + a, until(s > 1)), x, pt.constant(0.0))[0],
], ids=["mask", "arange", "nonzero", "slice", "until"])  # fmt: skip
def test_lengths_that_depend_on_values_are_an_error(out: Any) -> None:
    with pytest.raises(UntraceableError, match="cannot run this"):
        rw.function([x], out, mode=JAX)(X)


def test_reductions_over_what_a_mask_selects() -> None:
    """By rules of the phase "static", where the mask is known to be as long."""
    mask = (x > 0) | (pt.sin(x) < -0.5)
    chosen = [x[mask].sum(), x[mask].mean(), pt.var(x[mask]), pt.prod(x[mask] * 2)]
    written = [pt.set_subtensor(x[mask], pt.exp(x)[mask]), pt.inc_subtensor(x[mask], x[mask])]
    both([x], [*chosen, *written, (x[mask] > 1).any(), rw.grad(pt.sqr(x[mask]).sum(), x)], X)


def test_masks_that_only_write() -> None:
    both([x], [pt.set_subtensor(x[x > 0], 0.0), pt.inc_subtensor(x[x > 0], 1.0)], X)


# --- errors ---------------------------------------------------------------------------------------


def test_errors_are_those_of_the_reference() -> None:
    with pytest.raises(AxisError, match="index 9 is out of bounds"):
        rw.function([x, n], x[n], mode=JAX)(X, 9)
    with pytest.raises(AxisError, match="out of bounds"):
        rw.function([x, k], x[k], mode=JAX)(X, [0, 6])
    with pytest.raises(ShapeError, match="cannot broadcast"):
        rw.function([x, w], x + w[0], mode=JAX)(X, np.zeros((2, 5)))
    checked = pt.CheckAndRaise(AssertionError, "too small")(x, pt.all(x > 0))
    with pytest.raises(AssertionError, match="too small"):
        rw.function([x], checked, mode=JAX)(X)
    with pytest.raises(SingularMatrixError):
        rw.function([w], pt.linalg.inv(w), mode=JAX)(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="a failure") as told:
        rw.function([x], Fails()(x) + 1, mode=JAX)(X)
    assert "test_graphs.py" in str(told.value.__notes__)


class Fails(TensorOp):
    __props__ = ()

    def shapes(self, *types: Any) -> Any:
        return same_shape(types[0])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        raise TypeError("a failure")


def test_an_error_in_a_loop_or_a_branch() -> None:
    out, _ = scan(lambda i, v: v[i], k, non_sequences=[x])
    with pytest.raises(AxisError):
        rw.function([x, k], out, mode=JAX)(X, [0, 7])
    chosen = pt.ifelse(n > 0, x[n], x[0])
    f = rw.function([x, n], chosen, mode=JAX)
    assert (f(X, 3), f(X, -9)) == (X[3], X[0])
    with pytest.raises(AxisError):
        f(X, 9)


def test_a_branch_that_does_not_fit_is_an_error_only_if_it_is_taken() -> None:
    f = rw.function([x, w, n], pt.ifelse(n > 0, x.sum(), pt.dot(w, x).sum()), mode=JAX)
    assert f(X, np.zeros((2, 5)), 1) == X.sum()
    with pytest.raises(ShapeError):
        f(X, np.zeros((2, 5)), 0)


# --- branches and loops ---------------------------------------------------------------------------


def test_choices_by_one_condition_are_made_together() -> None:
    c = x.sum() > 0
    both([x], [pt.ifelse(c, pt.exp(x), x), pt.ifelse(c, x * 2, pt.exp(x) + 1)], X)
    jaxpr = str(_traced([x], [pt.ifelse(c, pt.exp(x), x), pt.ifelse(c, x * 2, x * 3)], X))
    assert jaxpr.count(" cond[") == 1


def _traced(inputs: Any, outputs: Any, *values: Any) -> Any:
    import jax

    with jax.enable_x64(True):
        return jax.make_jaxpr(rw.jax_function(inputs, outputs, gradient="jax"))(*values)


def test_branches_in_branches() -> None:
    for a in (-1.0, 0.3, 2.0):
        inner = pt.ifelse(x[0] > 1, pt.exp(x), pt.sin(x))
        both([x], [pt.ifelse(x[0] > 0, inner * 2, inner.sum() + x)], X + a)


def test_loops() -> None:
    s = pt.dscalar("s")
    out, _ = scan(lambda a, t: t * 0.9 + pt.sin(a), x, s)
    both([x, s], [out, out[-1], rw.grad(out.sum(), s), rw.grad(out.sum(), x)], X, 0.5)
    taps, _ = scan(lambda a, b: a + b, outputs_info=[{"initial": x, "taps": [-2, -1]}], n_steps=n)
    f, g = [rw.function([x, n], taps, mode=mode) for mode in (JAX, "vm")]
    for steps in (0, 1, 5):
        same(f(X[:2], steps), g(X[:2], steps))


def test_a_loop_until_a_value() -> None:
    s = pt.dscalar("s")
    out, _ = scan(lambda t: (t * 2, until(t > 50)), outputs_info=[s], n_steps=100)
    both([s], out[-1], 0.3)


def test_shared_variables_are_updated() -> None:
    total = rw.shared(np.zeros(6), name="total")
    f = rw.function([x], total.sum(), updates={total: total + pt.exp(x)}, mode=JAX)
    assert f(X) == 0.0
    np.testing.assert_allclose(f(X), np.exp(X).sum(), rtol=1e-14)
    np.testing.assert_allclose(total.get_value(), 2 * np.exp(X), rtol=1e-14)


def test_large_constants_are_arguments() -> None:
    table = pt.constant(np.arange(5000.0))
    f = rw.function([k], table[k], mode=JAX)
    run = next(v for v in f.vm.call.__globals__.values() if isinstance(v, JaxFunction))
    assert [v.type.shape for v in run.lifted] == [(5000,)]
    np.testing.assert_array_equal(f([3, 4999]), [3.0, 4999.0])


def test_single_precision_stays_single() -> None:
    v = pt.fvector("v")
    out = pt.log(pt.exp(v).sum()) + pt.sqr(v).mean()
    text = str(_traced([v], [out, rw.grad(out, v)], np.ones(3, "float32")))
    assert "f32[3]" in text
    assert "f64" not in text
    both([v], [out, rw.grad(out, v)], X.astype("float32"), rtol=1e-6)


def test_an_op_of_a_user() -> None:
    from rewrite_engine.link.jax import jax_funcify

    class Doubled(Fails):
        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = inputs[0] * 2

    both([x], Doubled()(x) + 1, X)  # on the host

    @jax_funcify.register(Doubled)
    def _(op: Any, node: Any = None, **options: Any) -> Any:
        return lambda value: value * 3

    assert rw.function([x], Doubled()(x), mode=JAX)([1.0]) == [3.0]
