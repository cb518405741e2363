"""Draws by names: values are those of `rewrite_engine.random` for the same state."""

import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.random as r
import rewrite_engine.tensor as pt
import rewrite_engine.xtensor as px
from rewrite_engine.errors import (
    DimsError,
    DTypeError,
    ForeignObjectError,
    OptionError,
)
from rewrite_engine.xtensor.random import XRV, as_xrv
from tests.xtensor.arrays import array, variables


def state() -> Any:
    return rw.shared(np.random.default_rng(5))


def test_draws_for_all_dimensions_of_the_parameters() -> None:
    m, s = variables("ab", "cb")
    draw = px.random.normal(m, s**2, rng=state())
    assert draw.dims == ("a", "b", "c")
    assert type(draw.owner.op) is XRV
    mean, deviation = array("ab"), array("cb", seed=1) ** 2
    value = draw.eval({m: mean, s: array("cb", seed=1)})
    want = np.random.default_rng(5).normal(mean[:, :, None], deviation.T)
    np.testing.assert_array_equal(value, want)


def test_more_dimensions() -> None:
    m, n = variables("a")[0], pt.lscalar("n")
    draw = px.random.poisson(m**2, extra_dims={"row": n, "column": 3}, rng=state())
    assert draw.dims == ("row", "column", "a")
    assert draw.type.shape == (None, 3, None)
    value = draw.eval({m: array("a"), n: 4})
    np.testing.assert_array_equal(
        value, np.random.default_rng(5).poisson(array("a") ** 2, (4, 3, 2))
    )
    alone = px.random.standard_normal(extra_dims={"a": 2}, rng=state())
    np.testing.assert_array_equal(alone.eval(), np.random.default_rng(5).normal(size=2))


def test_vectors() -> None:
    a = px.as_xtensor(np.array([[1.0, 5.0], [2.0, 2.0], [9.0, 1.0]]), dims=("k", "city"))
    draw = px.random.dirichlet(a, core_dims="k", extra_dims={"row": 2}, rng=state())
    assert draw.dims == ("row", "city", "k")
    assert draw.type.shape == (2, 2, 3)
    want = r.dirichlet(a.data.T, size=(2, 2), rng=state()).eval()
    np.testing.assert_array_equal(draw.eval(), want)
    kind = px.random.categorical(draw, core_dims="k", rng=state())
    assert kind.dims == ("row", "city")
    assert kind.dtype == "int64"


@pytest.mark.parametrize("core", [("i", "j"), ("j", "i")])
def test_vectors_with_a_covariance(core: tuple[str, str]) -> None:
    mean = px.as_xtensor(np.array([[0.0, 1.0]] * 3), dims=("city", "i"))
    cov = px.as_xtensor(np.array([[2.0, 0.5], [0.5, 1.0]]), dims=("i", "j"))
    draw = px.random.multivariate_normal(mean, cov, core_dims=core, rng=state())
    assert draw.dims == ("city", "i")
    want = r.multivariate_normal(mean.data, cov.data, rng=state()).eval()
    np.testing.assert_allclose(draw.eval(), want)


def test_every_distribution_is_there() -> None:
    drawing = {name for name in r.__all__ if name == name.lower()}
    others = {"choice", "permutation", "default_rng", "random_generator_type"}
    assert drawing - others == {*px.random.__all__} - {"as_xrv"}
    rng = px.random.shared_rng(seed=1)
    two = px.as_xtensor([2.0, 3.0], dims="a")
    for draw in (rng.chisquare(two)[1], rng.rayleigh(two)[1], rng.gamma(two, 1.0)[1]):
        assert draw.dims == ("a",)
        assert (draw.eval() > 0).all()


def test_states_are_followed() -> None:
    rng = px.random.shared_rng(seed=5)
    after, x = rng.normal(0.0, 1.0, extra_dims={"a": 2})
    last, y = after.normal(x, 1.0)
    assert y.dims == ("a",)
    f = rw.function([], [x, y], updates={rng: last})
    reference = np.random.default_rng(5)
    for _ in range(2):
        first = reference.normal(size=2)
        np.testing.assert_array_equal(f(), [first, reference.normal(first)])
    given = px.random.rng("given")
    g = rw.function([given], given.uniform(0.0, 1.0)[1])
    assert g(np.random.default_rng(5)) == np.random.default_rng(5).uniform()
    with pytest.raises(AttributeError):
        rng.as_xrv
    with pytest.raises(OptionError):
        px.random.shared_rng(np.random.default_rng(1), seed=2)


def test_an_op_of_a_program() -> None:
    class Angle(r.RandomVariable):
        name, signature, dtype = "angle", "(n)->(n)", "floatX"

        def rng_fn(self, rng: Any, *args: Any) -> Any:
            largest, size = args
            return rng.uniform(0.0, np.broadcast_to(largest, (*(size or ()), *largest.shape[-1:])))

    angle = as_xrv(Angle(), [(0,)], (0,))
    draw = angle(px.as_xtensor([1.0, 2.0], dims="a"), core_dims="a", rng=state())
    assert draw.dims == ("a",)
    want = np.random.default_rng(5).uniform(0.0, [1.0, 2.0])
    np.testing.assert_array_equal(draw.eval(), want)


def test_without_rules() -> None:
    """Where no rule writes it in ops of tensors, it computes what these do."""
    (m,) = variables("ab")
    draw = px.random.normal(m.T, 1.0, rng=state())
    mode = rw.Mode(linker="py", optimizer=None)
    value = rw.function([m], draw, mode=mode)(array("ab"))
    np.testing.assert_array_equal(value, np.random.default_rng(5).normal(array("ab").T))


def test_ops_are_told_apart_and_pickled() -> None:
    op = px.random.normal(0.0, 1.0, extra_dims={"a": 2}, rng=state()).owner.op
    assert op is XRV(op.core_op, op.core_dims, ("a",)) is not XRV(op.core_op, op.core_dims, ("b",))
    assert op._props_dict()["extra_dims"] == ("a",)
    draw = px.random.normal(0.0, 1.0, extra_dims={"a": 2}, rng=state())
    again = pickle.loads(pickle.dumps(draw))
    assert again.owner.op is draw.owner.op
    assert again.type is draw.type
    np.testing.assert_array_equal(again.eval(), draw.eval())
    node = draw.owner
    assert (op.update(node), op.rng_param(node)) == (
        {node.inputs[0]: node.outputs[0]},
        node.inputs[0],
    )
    assert (len(op.size_params(node)), len(op.dist_params(node))) == (1, 2)


def test_wrong_arguments() -> None:
    m, s = variables("ab", "b")
    n, normal, dirichlet = pt.scalar("n"), px.random.normal, px.random.dirichlet
    for use, error in [
        (lambda: normal(m, s, extra_dims={"a": 2}), DimsError),
        (lambda: normal(m, s, extra_dims={"z": n}), DTypeError),
        (lambda: normal(m, s, core_dims="a"), DimsError),
        (lambda: normal(m, s, rng=m), ForeignObjectError),
        (lambda: normal(m), OptionError),
        (lambda: dirichlet(m), DimsError),
        (lambda: dirichlet(m, core_dims="q"), DimsError),
        (
            lambda: px.random.multivariate_normal(s, m, core_dims=("a", "a")),
            DimsError,
        ),
    ]:
        with pytest.raises(error):
            use()
