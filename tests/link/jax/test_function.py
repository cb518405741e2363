"""`jax_function`: graphs that JAX traces, maps and differentiates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import MissingInputError, UntraceableError

x, y, n = pt.dvector("x"), pt.dvector("y"), pt.lscalar("n")
X, Y = np.linspace(-1, 1, 5), np.linspace(2, 3, 5)


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def test_one_output_or_several() -> None:
    f = jax.jit(rw.jax_function([x, y], (x * y).sum()))
    np.testing.assert_allclose(f(X, Y), X @ Y, rtol=1e-14)
    a, b = jax.jit(rw.jax_function([x, y], [x + y, pt.exp(x)]))(X, Y)
    np.testing.assert_allclose(a, X + Y)
    np.testing.assert_allclose(b, np.exp(X), rtol=1e-14)


@pytest.mark.parametrize("gradient", ["library", "jax"])
def test_gradients(gradient: str) -> None:
    cost = (pt.tanh(x) * y).sum()
    f = rw.jax_function([x, y], cost, gradient=gradient)
    a, b = jax.jit(jax.grad(f, (0, 1)))(X, Y)
    np.testing.assert_allclose(a, (1 - np.tanh(X) ** 2) * Y, rtol=1e-13)
    np.testing.assert_allclose(b, np.tanh(X), rtol=1e-13)
    g = rw.jax_function([x, y], [x * y, pt.sin(x)], gradient=gradient)
    jacobian = jax.jacrev(lambda v: g(v, Y)[1])(X)
    np.testing.assert_allclose(jacobian, np.diag(np.cos(X)), atol=1e-14)
    hessian = jax.jacrev(jax.grad(f))(X, Y)
    wanted = rw.function([x, y], rw.gradient.hessian(cost, x))(X, Y)
    np.testing.assert_allclose(hessian, wanted, atol=1e-13)


def test_gradients_of_the_library_are_right_where_branches_overflow() -> None:
    cost = pt.switch(x > 0, x, pt.exp(-pt.sqr(x) * 1e4) * pt.sqrt(pt.abs(x))).sum()
    f = rw.jax_function([x], pt.log(pt.exp(x * 1000).sum()))
    assert np.isfinite(jax.grad(f)(X)).all()
    assert jax.grad(rw.jax_function([x], cost))(X).shape == (5,)


def test_maps_and_scans() -> None:
    f = rw.jax_function([x], pt.softmax(x))
    rows = np.stack([X, Y, X + Y])
    np.testing.assert_allclose(jax.vmap(f)(rows), np.stack([f(r) for r in rows]), rtol=1e-14)
    _, found = jax.lax.scan(lambda c, r: (c, f(r)), 0, rows)
    np.testing.assert_allclose(found, jax.vmap(f)(rows), rtol=1e-14)
    host = rw.jax_function([x], pt.j0(x), gradient="jax")
    np.testing.assert_allclose(jax.vmap(host)(rows), [host(r) for r in rows], rtol=1e-14)


def test_lengths_are_python_numbers() -> None:
    f = rw.jax_function([x, n], pt.exp(x[:n]).sum())
    found = jax.jit(jax.value_and_grad(f), static_argnums=1)(X, 2)
    np.testing.assert_allclose(found[0], np.exp(X[:2]).sum(), rtol=1e-14)
    np.testing.assert_allclose(found[1], [*np.exp(X[:2]), 0, 0, 0], rtol=1e-14)
    with pytest.raises(UntraceableError, match="end n of a slice"):
        jax.jit(f)(X, 2)


def test_shared_variables_are_inputs() -> None:
    w = rw.shared(Y, name="w")
    with pytest.raises(MissingInputError, match="w is none of the inputs"):
        rw.jax_function([x], pt.dot(x, w))
    f = rw.jax_function([x, w], pt.dot(x, w))
    np.testing.assert_allclose(f(X, w.get_value()), X @ Y, rtol=1e-14)


def test_single_precision_is_told() -> None:
    f = rw.jax_function([x], x + 1)
    with jax.enable_x64(False), pytest.raises(UntraceableError, match="single precision"):
        f(jnp.ones(3))
    v = pt.fvector("v")
    with jax.enable_x64(False):
        assert rw.jax_function([v], v + 1)(jnp.ones(3)).dtype == "float32"


def test_options() -> None:
    with pytest.raises(ValueError, match="gradient must be one of"):
        rw.jax_function([x], x, gradient="numeric")


def test_a_compiled_function_gives_its_own_to_clients() -> None:
    w = rw.shared(Y, name="w")
    f = rw.function([x], [pt.dot(x, w), x * 2], mode="jax")
    a, b = f.vm.jit_fn(jnp.asarray(X), *[v.get_value() for v in f.get_shared()])
    np.testing.assert_allclose(a, X @ Y, rtol=1e-14)
    np.testing.assert_allclose(b, X * 2)


def test_data_that_are_spread_over_devices() -> None:
    """The mesh has all devices of the machine; most machines have one."""
    devices = np.array(jax.devices())
    mesh = jax.sharding.Mesh(devices, ("rows",))
    place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
    values = jax.device_put(np.arange(8.0 * len(devices)), place)
    f = jax.jit(rw.jax_function([x], pt.sqr(x).sum()), in_shardings=place)
    np.testing.assert_allclose(f(values), np.sum(np.arange(8.0 * len(devices)) ** 2), rtol=1e-14)


def test_names_of_pytensor() -> None:
    from rewrite_engine.compat.jax import JAX, JAXLinker, jax_funcify, jax_typify

    graph: Any = rw.graph.FunctionGraph([x], [pt.log(pt.exp(x).sum())], clone=True)
    JAX.optimizer.rewrite(graph)
    run = jax_funcify(graph)
    (value,) = jax.jit(run)(X)
    np.testing.assert_allclose(value, np.log(np.exp(X).sum()), rtol=1e-14)
    assert isinstance(rw.function([x], x, mode=JAX).maker.linker, JAXLinker)
    assert jax_typify(X, "float32").dtype == "float32"
