"""Second derivatives, and derivatives where they are hard: ties, zeros, ends, branches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import grad, hessian, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.elemwise import Elemwise
from tests.tensor.test_elemwise_grad import DERIVED

WHOLE = {"and_", "or_", "xor", "left_shift", "right_shift", "gcd", "lcm"}  # numbers only
#: those that have second derivatives for their last input only
OF_PARAMETERS = ("betainc", "gammainc", "hyp2f1", "iv", "jv", "kv", "polygamma")
SMOOTH = [op for op in DERIVED if op.nout == 1 and op.name not in WHOLE]
SMOOTH = [op for op in SMOOTH if not op.name.startswith("complex")]


def point(op: Any, count: int) -> list[np.ndarray]:
    """Values inside of the domains of an op, apart from each other."""
    rng, found = np.random.default_rng(3), []
    for k in range(count):
        domain = op.domain[min(k, len(op.domain) - 1)]
        low = min(max(0.0, domain.low), domain.high - 1) + 0.15
        found.append(rng.uniform(low, low + 0.7, size=3))
    if op.name == "logdiffexp":  # the first is the larger one
        found[0] = found[1] + 0.5
    if op.name == "polygamma":  # the order is an integer
        found[0] = np.ones(3)
    return found


def slope_of(op: Any, k: int) -> Any:
    """The function that is the gradient of an op for its input k."""

    def slope(*xs: Any) -> Any:
        return grad(pt.sum(Elemwise(op)(*xs)), xs[k], disconnected_inputs="ignore")

    return slope


@pytest.mark.parametrize("op", SMOOTH, ids=str)
def test_second_derivatives(op: Any) -> None:
    """The slope of each slope, against differences of it."""
    at = point(op, op.nin or 2)
    if not op.name.startswith(OF_PARAMETERS):
        for k in range(len(at)):
            verify_grad(slope_of(op, k), at, n_tests=1, rel_tol=1e-4, abs_tol=1e-5)
        return
    *parameters, x = at

    def slope(x: Any) -> Any:
        return slope_of(op, len(parameters))(*parameters, x)

    verify_grad(slope, [x], n_tests=1, rel_tol=1e-4, abs_tol=1e-5)


# --- where it is hard ---------------------------------------------------------------------------

X = pt.dvector("x")
TIES = {
    "max": (pt.max(X), [1.0, 1.0, 0.0], [0.5, 0.5, 0]),
    "min": (pt.min(X), [1.0, 1.0, 1.0], [1 / 3, 1 / 3, 1 / 3]),
    "maximum": (pt.maximum(X[0], X[1]), [2.0, 2.0], [0.5, 0.5]),
    "minimum": (pt.minimum(X, 1.0).sum(), [1.0, 0.0, 2.0], [0.5, 1, 0]),
    "a branch not taken": (pt.switch(X >= 0, -pt.sqrt(X), 0).sum(), [-1.0, 4.0], [0, -0.25]),
    "another": (pt.switch(X > 0, X * pt.log(X), 0).sum(), [0.0, 1.0], [0, 1]),
    "a product with a zero": (pt.prod(X), [0.0, 2.0, 3.0], [6, 0, 0]),
    "a product with zeros": (pt.prod(X), [0.0, 0.0, 3.0], [0, 0, 0]),
    "an end": (pt.log1mexp(X).sum(), [0.0, -50.0], [-np.inf, -np.exp(-50)]),
    "an end of a power": (pt.sum(X**2.0), [0.0, 1.0], [0, 2]),
}


@pytest.mark.parametrize("name", TIES)
def test_where_it_is_hard(name: str) -> None:
    cost, at, want = TIES[name]
    g = grad(cost, X)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(evaluate([g], {X: at})[0], want)
        np.testing.assert_allclose(rw.function([X], g)(at), want)


@pytest.mark.parametrize("at", [[0.0, 0.0, 3.0], [0.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
def test_a_product_differentiated_twice(at: list[float]) -> None:
    a, b, c = at
    want = [[0, c, b], [c, 0, a], [b, a, 0]]
    second = hessian(pt.prod(X), X)
    assert evaluate([second], {X: at})[0].tolist() == want
    assert rw.function([X], second)(at).tolist() == want


@pytest.mark.parametrize(
    ("slope", "end", "limit"),
    [
        (grad(grad(pt.log1mexp(X).sum(), X).sum(), X), 0.0, -np.inf),
        (grad(grad(pt.log1mexp(X).sum(), X).sum(), X), -0.0, -np.inf),
        (grad(grad(pt.arccosh(X).sum(), X).sum(), X), 1.0, -np.inf),
        *[(grad(pt.kve(v, X).sum(), X), 0.0, -np.inf) for v in (0.0, 0.5, 1.0, 3.0)],
        *[(grad(pt.kve(v, X).sum(), X), 1e-200, -np.inf) for v in (2.5, 3.0)],
    ],
)
def test_slopes_at_one_sided_ends_are_their_limits(slope: Any, end: float, limit: float) -> None:
    with np.errstate(all="ignore"):
        assert evaluate([slope], {X: [end]})[0].tolist() == [limit]
        assert rw.function([X], slope)([end]).tolist() == [limit]
