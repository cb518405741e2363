"""Factors and equations by LAPACK without Python between, beside the VM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
import rewrite_engine.tensor.linalg as linalg
from rewrite_engine.tensor.linalg.decomposition import CholeskyGradient, CovarianceGradient
from rewrite_engine.tensor.linalg.factor import Factor, FactorSolve
from tests.link.native.test_indexing import native

a, b = pt.dmatrices("a", "b")
t, u = pt.dtensor3("t"), pt.dtensor3("u")
RNG = np.random.default_rng(3)


def positive(*shape: int) -> Any:
    x = RNG.normal(size=shape)
    return x @ x.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])


def same(inputs: Any, outputs: Any, *values: Any) -> None:
    got = native(inputs, outputs)(*values)
    want = rw.function(inputs, outputs, mode="vm", on_unused_input="ignore")(*values)
    for x, y in zip(got, want, strict=True):
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 70])
@pytest.mark.parametrize("lower", [True, False])
def test_one_matrix(n: int, lower: bool) -> None:
    factor = linalg.cholesky(a, lower=lower)
    outputs = [factor, rw.grad((factor * b).sum(), a), linalg.solve(a, b), linalg.solve(a.T, b)]
    outputs += [
        linalg.solve_triangular(x, b, lower=lower, trans=trans, unit_diagonal=ones)
        for trans in (0, 1) for ones in (False, True) for x in (a, a.T, pt.exp(a * 0.01))
    ]  # fmt: skip
    same([a, b], outputs, positive(n, n), RNG.normal(size=(n, n)))


BATCHES = [
    ((4, 3, 3), (4, 3, 2)), ((1, 3, 3), (4, 3, 1)), ((1, 3, 3), (0, 3, 1)), ((4, 3, 3), (1, 3, 1)),
    ((0, 3, 3), (0, 3, 2)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", BATCHES)
def test_batches(shapes: Any) -> None:
    x, y = [pt.tensor(dtype="float64", shape=[1 if n == 1 else None for n in s]) for s in shapes]
    factor = linalg.cholesky(x)
    solved = linalg.solve_triangular(factor, y, lower=True, b_ndim=2)
    outputs = [factor, solved, rw.grad((solved**2).sum(), x), linalg.solve(x, y, b_ndim=2),
               linalg.solve_triangular(x.mT, y, b_ndim=2)]  # fmt: skip
    same([x, y], outputs, positive(*shapes[0]), RNG.normal(size=shapes[1]))


@pytest.mark.parametrize("columns", [0, 1, 4])
def test_the_gradient_for_a_covariance(columns: int) -> None:
    p, q = pt.dscalars("p", "q")
    out = CovarianceGradient()(linalg.cholesky(a), b, p, q)
    same([a, b, p, q], [out], positive(5, 5), RNG.normal(size=(5, columns)), 0.5, -2.0)


def test_what_has_no_factor() -> None:
    factor = linalg.cholesky(a)
    f = native([a, b], [factor, CholeskyGradient()(factor, b)])
    none = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert np.isnan(f(none, none)[0]).all()
    assert f(none, none)[1][0, 1] == 0
    strict = native([t], linalg.cholesky(t, on_error="raise"))
    with pytest.raises(linalg.SingularMatrixError, match=r"\(1,\)"):
        strict(np.array([np.eye(2), none]))


def test_equations_without_a_solution() -> None:
    singular = np.array([[1.0, 0.0], [1.0, 0.0]])
    f = native([a, b], linalg.solve_triangular(a, b, lower=True))
    g = native([a, b], linalg.solve(a, b))
    for run in (f, g):
        with pytest.raises(linalg.SingularMatrixError):
            run(singular, np.ones((2, 2)))
    assert f(singular, np.ones((2, 0))).shape == (2, 0)
    ones = native([a, b], linalg.solve_triangular(a, b, lower=True, unit_diagonal=True))
    np.testing.assert_allclose(ones(singular, np.ones((2, 1))), [[1.0], [0.0]])


def test_parts_of_matrices() -> None:
    same([a, b], [linalg.cholesky(pt.exp(a)[1:4, 1:4] + 60 * pt.eye(3)),
                  linalg.solve_triangular(a[1:4, 2:5], b[::-1, :2], lower=True),
                  linalg.solve_triangular(a[::2, ::2], b, lower=True)],
         positive(6, 6), RNG.normal(size=(3, 3)))  # fmt: skip


@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("lower", [True, False])
def test_one_matrix_for_a_batch_of_vectors(trans: int, lower: bool) -> None:
    out = linalg.solve_triangular(a, t, trans=trans, lower=lower, b_ndim=1)
    turned = linalg.solve_triangular(a, t.T, trans=trans, lower=lower, b_ndim=1)
    same([a, t], [out, turned], positive(3, 3), RNG.normal(size=(3, 2, 3)))


def test_errors_where_only_lengths_are_needed() -> None:
    x, k = pt.dvector("x"), pt.lvector("k")
    singular = np.array([[1.0, 0.0], [1.0, 0.0]])
    f = rw.function([x, k], x[k].shape[0] + pt.exp(x).sum(), mode="native")
    g = rw.function([a, b], linalg.solve(a, b).shape[0] + a.sum(), mode="native")
    h = rw.function([x, k], [x[k].inc(1.0).shape[0] + pt.exp(x).sum()], mode="native")
    assert f([0.0], [0, 0]) == 3
    assert h([0.0], [0, 0]) == [2]
    with pytest.raises(rw.errors.AxisError):
        f([0.0], [0, 1])
    with pytest.raises(linalg.SingularMatrixError):
        g(singular, np.ones((2, 2)))


def factored(x: Any, y: Any) -> list[Any]:
    """Return the outputs of a factor, and solutions by it."""
    factor = Factor().lifted(x)
    return [*factor, *[FactorSolve(turned).lifted(*factor, y) for turned in (False, True)]]


@pytest.mark.parametrize("kind", ["general", "definite", "indefinite", "triangular"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 70])
def test_one_factor_for_several_uses(n: int, kind: str) -> None:
    x = RNG.normal(size=(n, n)) + n * np.eye(n)
    flipped = np.diag((-1.0) ** np.arange(n))
    x = {"general": x, "definite": positive(n, n), "triangular": np.tril(x),
         "indefinite": x * abs(flipped) + flipped @ positive(n, n) @ flipped - n * np.eye(n),
         }[kind]  # fmt: skip
    x = (x + x.T) / 2 if kind == "indefinite" else x
    for columns in (0, 1, 3):
        same([a, b], factored(a, b), x, RNG.normal(size=(n, columns)))
    same([a, b], factored(a.T, pt.exp(b).T), x, RNG.normal(size=(2, n)))
    same([a], [Factor()(a)[1]], x)


@pytest.mark.parametrize("shapes", BATCHES)
def test_factors_of_batches(shapes: Any) -> None:
    x, y = [pt.tensor(dtype="float64", shape=[1 if n == 1 else None for n in s]) for s in shapes]
    values = RNG.normal(size=shapes[0]) + 3 * np.eye(3)
    values[:1] = positive(*shapes[0])[:1]
    same([x, y], factored(x, y), values, RNG.normal(size=shapes[1]))


def test_a_factor_in_a_loop() -> None:
    def step(v: Any, x: Any) -> Any:
        return linalg.solve(x, v) + linalg.solve(x.T, v)

    v = pt.dvector("v")
    outputs, _ = rw.scan(step, outputs_info=[v], non_sequences=[a], n_steps=4)
    f = native([v, a], outputs)
    x, start = RNG.normal(size=(3, 3)) + 5 * np.eye(3), np.ones(3)
    wanted = []
    for _ in range(4):
        start = np.linalg.solve(x, start) + np.linalg.solve(x.T, start)
        wanted.append(start)
    np.testing.assert_allclose(f(np.ones(3), x), wanted, rtol=1e-12)


def test_a_singular_factor() -> None:
    f = native([a, b], factored(a, b))
    for x in (np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 0, 2])):
        with pytest.raises(linalg.SingularMatrixError):
            f(x, np.ones((3, 1)))
    good = positive(3, 3)
    np.testing.assert_allclose(f(good, np.ones((3, 1)))[2], np.linalg.solve(good, np.ones((3, 1))))
    bad = np.eye(3)
    bad[0, 1] = np.nan
    assert np.isnan(f(bad, np.ones((3, 1)))[2]).any()
