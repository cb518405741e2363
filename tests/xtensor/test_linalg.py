"""Linear algebra along named dimensions."""

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
import rewrite_engine.xtensor as px
from rewrite_engine.errors import DimsError
from rewrite_engine.xtensor.linalg import apply_core, cholesky, solve

RNG = np.random.default_rng(3)
ROOTS = RNG.uniform(0.5, 1, (4, 3, 3)) + 2 * np.eye(3)
POSITIVE = ROOTS @ ROOTS.transpose(0, 2, 1)


@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(lower: bool) -> None:
    x = px.xtensor("x", dims=("row", "batch", "column"))
    found = cholesky(x, lower, dims=("row", "column"))
    assert found.dims == ("batch", "row", "column")
    value = found.eval({x: POSITIVE.transpose(1, 0, 2)})
    want = np.linalg.cholesky(POSITIVE)
    np.testing.assert_allclose(value, want if lower else want.transpose(0, 2, 1))
    root = found.rename(row="row", column="k")
    again = root.dot(root.rename(row="column"), dim="k") if lower else None
    if again is not None:
        value = again.eval({x: POSITIVE.transpose(1, 0, 2)})
        np.testing.assert_allclose(value, POSITIVE)


@pytest.mark.parametrize("more", [(), ("side",)])
def test_the_product_with_a_solution_is_the_right_side(more: tuple[str, ...]) -> None:
    a = px.xtensor("a", dims=("i", "batch", "j"))
    b = px.xtensor("b", dims=(*more, "j"))
    x = solve(a, b, dims=("i", "j", *more))
    assert x.dims == ("batch", "i", *more)
    given = {a: ROOTS.transpose(1, 0, 2), b: RNG.uniform(size=(2, 3) if more else 3)}
    product = a.dot(x, dim="i").transpose("batch", *more, "j").eval(given)
    np.testing.assert_allclose(product, np.broadcast_to(given[b], product.shape))


def test_wrong_names() -> None:
    a, b = px.xtensor("a", dims=("i", "j")), px.xtensor("b", dims=("j",))
    for use in (
        lambda: cholesky(a, dims=("i",)),
        lambda: cholesky(a, dims=("i", "q")),
        lambda: solve(a, b, dims=("i",)),
        lambda: solve(a, px.xtensor(dims="q"), dims=("i", "j")),
        lambda: apply_core(pt.matmul, [a, a], [("i", "j"), ("j", "k")], ("i", "k")),
    ):
        with pytest.raises(DimsError):
            use()


def test_gradients_of_solutions() -> None:
    def cost(a: object, b: object) -> object:
        left, right = px.as_xtensor(a, dims=("i", "j")), px.as_xtensor(b, dims="j")
        return (solve(left, right, dims=("i", "j")) ** 2).sum().values

    rw.gradient.verify_grad(cost, [ROOTS[0], RNG.uniform(size=3)], rng=RNG)
