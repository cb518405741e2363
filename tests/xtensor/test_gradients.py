"""Gradients of, and by, arrays with names."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
import rewrite_engine.xtensor as px
from rewrite_engine.errors import DisconnectedInputError, NDimError, NullTypeGradError
from rewrite_engine.gradient import Lop, Rop, grad, subgraph_grad
from tests.xtensor.arrays import array, variables

FORMULAS: Any = {
    "products": lambda x, y: (x * y).sum("b"),
    "dot": lambda x, y: x.dot(y),
    "quotient": lambda x, y: px.math.exp(x / (y**2 + 1)).mean(),
    "parts": lambda x, y: x.isel(b=px.as_xtensor([0, 0, 2], dims="p")).sum("p") * y.isel(b=1),
    "written": lambda x, y: x.isel(b=[0, 2]).set(y.isel(b=0)) ** 2,
    "increased": lambda x, y: x.isel(a=0).inc(y) * x,
    "softmax": lambda x, y: px.math.softmax(x * y, "b").isel(b=0),
    "logsumexp": lambda x, y: px.math.logsumexp(x + y, "a"),
    "order": lambda x, y: (x.T.cumsum("a").stack(z=("b", "a")) ** 2).sum("z") * y,
    "joined": lambda x, y: px.concat([x, y], dim="a").diff("a") ** 3,
    "choice": lambda x, y: px.where(x > 0, x**2, y),
    "stretched": lambda x, y: px.broadcast(y, x)[0].expand_dims(u=2) ** 2 * x,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients(name: str) -> None:
    def cost(x: Any, y: Any) -> Any:
        found = FORMULAS[name](px.as_xtensor(x, dims=("a", "b")), px.as_xtensor(y, dims=("b",)))
        return (found * 1.5).sum().values

    rng = np.random.default_rng(1)
    rw.gradient.verify_grad(cost, [array("ab"), array("b", seed=1)], rng=rng)


def test_a_gradient_has_the_names_of_its_variable() -> None:
    x, y = variables("ab", "cb")
    cost = (x * y).sum() + (x.T**2).sum()
    of_x, of_y = grad(cost, [x, y])
    assert (of_x.type.dims, of_y.type.dims) == (x.type.dims, y.type.dims)
    given = {x: array("ab"), y: array("cb", seed=1)}
    np.testing.assert_allclose(of_x.eval(given), given[y].sum(0) + 2 * given[x])
    np.testing.assert_allclose(of_y.eval(given), np.broadcast_to(given[x].sum(0), (4, 3)))


def test_of_a_cost_without_names() -> None:
    (x,) = variables("a")
    t = pt.vector("t")
    of_x, of_t = grad((x.values * t).sum(), [x, t])
    assert of_x.type.dims == ("a",)
    assert of_t.type == pt.vector().type
    np.testing.assert_array_equal(of_x.eval({t: [1.0, 2.0], x: np.zeros(2)}), [1, 2])


def test_what_the_cost_does_not_depend_on() -> None:
    x, y = variables("a", "b")
    cost = (x**2).sum()
    with pytest.raises(DisconnectedInputError, match="x1"):
        grad(cost, y)
    zero = grad(cost, y, disconnected_inputs="ignore")
    assert zero.type.dims == ("b",)
    assert not zero.eval({y: np.ones(3)}).any()
    flat = grad(px.math.sign(x).sum(), x)
    assert flat.type.dims == ("a",)
    assert not flat.eval({x: np.ones(3)}).any()
    whole = grad((x > 0).sum("a").astype("float64"), x, disconnected_inputs="ignore")
    assert not whole.eval({x: np.ones(3)}).any()


def test_costs_with_dimensions_are_refused() -> None:
    (x,) = variables("a")
    with pytest.raises(NDimError, match="must be a single number"):
        grad(x * 2.0, x)


def test_draws_have_none() -> None:
    (x,) = variables("a")
    draw = px.random.normal(x, 1.0, rng=px.random.shared_rng(seed=1))
    with pytest.raises(NullTypeGradError, match="random"):
        grad(draw.sum(), x)
    scaled = grad((draw * x).sum(), draw)
    np.testing.assert_array_equal(scaled.eval({x: [1.0, 2.0]}), [1, 2])


def test_products_with_jacobians() -> None:
    x, y = variables("ab", "b")
    z = (x * y).sum("a")
    given = {x: array("ab"), y: array("b", seed=1)}
    for point in (z * 0 + 2.0, 2 * pt.ones_like(z.values)):
        (back,) = Lop([z], [x], [point])
        assert back.type.dims == ("a", "b")
        np.testing.assert_allclose(back.eval(given), 2 * np.broadcast_to(given[y], (2, 3)))
    forth = Rop(z, y, y * 0 + 1.0)
    assert forth.type.dims == ("b",)
    np.testing.assert_allclose(forth.eval(given), given[x].sum(0))


def test_known_gradients_and_parts_of_graphs() -> None:
    (x,) = variables("a")
    y = x**2
    found = grad(None, x, known_grads={y: np.array([1.0, 3.0])})
    np.testing.assert_array_equal(found.eval({x: np.array([1.0, 2.0])}), [2, 12])
    (inner,), (outer,) = subgraph_grad([x], [y], cost=(y * x).sum())
    assert inner.type.dims == outer.type.dims == ("a",)


def test_second_derivatives() -> None:
    (x,) = variables("a")
    first = grad((x**3).sum(), x)
    second = grad((first * px.as_xtensor([1.0, 2.0], dims="a")).sum(), x)
    np.testing.assert_allclose(second.eval({x: [1.0, 3.0]}), [6, 36])


def test_stable_forms_are_found_across_names() -> None:
    """The derivative of log(sigmoid(x)) far out, as of tensors."""
    (x,) = variables("a")
    slope = grad(px.math.log(px.math.sigmoid(x)).sum(), x)
    np.testing.assert_allclose(slope.eval({x: [-800.0, 0.0]}), [1.0, 0.5])


def test_branches() -> None:
    (x,) = variables("a")
    chosen = rw.ifelse(x.sum().values > 0, (x**2).values, x.values)
    slope = grad((px.as_xtensor(chosen, dims="a") * x).sum(), x)
    np.testing.assert_allclose(slope.eval({x: [1.0, 2.0]}), [3, 12])
    np.testing.assert_allclose(slope.eval({x: [-1.0, -2.0]}), [-2, -4])


def test_graphs_inside_ops() -> None:
    """An `OpFromGraph` of named arrays, and its gradient."""
    x, y = variables("a", "ab")
    op = rw.OpFromGraph([x, y], [(x * y).sum("a").T])
    z = op(x, y)
    assert z.dims == ("b",)
    slope = grad((z**2).sum(), x)
    given = {x: array("a"), y: array("ab", seed=1)}
    want = 2 * given[y] @ (given[x] @ given[y])
    np.testing.assert_allclose(slope.eval(given), want)
