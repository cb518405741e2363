"""Minima and roots as terms, and how they change with their parameters."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import optimize
from rewrite_engine.errors import DTypeError, InputError, NDimError, OptionError
from rewrite_engine.gradient import Rop, verify_grad

A = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, 0.0], [0.5, 0.0, 1.5]])


def quadratic(x: Any, a: Any, b: Any) -> Any:
    """Smallest where a @ x = b."""
    return 0.5 * pt.dot(x, pt.dot(a, x)) - pt.dot(b, x)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"jac": False},
        {"method": "Newton-CG", "hess": True},
        {"method": "Nelder-Mead", "jac": False, "optimizer_kwargs": {"tol": 1e-10}},
        {"optimizer_kwargs": {"options": {"gtol": 1e-9}}},
    ],
)
def test_a_minimum(options: Any) -> None:
    x, a, b = pt.dvector("x"), pt.dmatrix("a"), pt.dvector("b")
    solution, success = optimize.minimize(quadratic(x, a, b), x, **options)
    f = rw.function([x, a, b], [solution, success])
    found, ok = f(np.zeros(3), A, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found, np.linalg.solve(A, [1.0, 2.0, 3.0]), atol=1e-4)
    assert ok.dtype == bool
    assert ok.ndim == 0


def test_the_gradient_of_a_minimum() -> None:
    x, a, b = pt.dvector("x"), pt.dmatrix("a"), pt.dvector("b")
    solution, _ = optimize.minimize(
        quadratic(x, a, b), x, optimizer_kwargs={"options": {"gtol": 1e-12}}
    )
    cost = (solution**2).sum()
    f = rw.function([x, a, b], rw.grad(cost, [b, a]))
    b0 = np.array([1.0, 2.0, 3.0])
    gb, ga = f(np.zeros(3), A, b0)
    at = np.linalg.solve(A, b0)
    back = np.linalg.solve(A, 2 * at)
    np.testing.assert_allclose(gb, back, rtol=1e-6)
    np.testing.assert_allclose(ga, -np.outer(back, at) / 2 - np.outer(at, back) / 2, rtol=1e-6)


def test_directions_and_second_derivatives() -> None:
    x, a = pt.dscalars("x", "a")
    solution, _ = optimize.root_scalar(x**3 - a, x, method="newton", jac=True, hess=True)
    first = rw.grad(solution, a)
    second = rw.grad(first, a)
    forward = Rop(solution, a, pt.constant(2.0))
    got = rw.function([x, a], [solution, first, second, forward])(1.5, 8.0)
    np.testing.assert_allclose(got, [2.0, 1 / 12, -2 / 9 * 8 ** (-5 / 3), 2 / 12], rtol=1e-6)


def test_roots_of_several_equations() -> None:
    x, c = pt.dvector("x"), pt.dscalar("c")
    equations = pt.stack([x[0] ** 2 + x[1] ** 2 - c, x[0] - 2 * x[1]])
    for jac in (True, False):
        solution, success = optimize.root(equations, x, jac=jac)
        found, ok, slope = rw.function([x, c], [solution, success, rw.grad(solution[0], c)])(
            [1.0, 1.0], 5.0
        )
        np.testing.assert_allclose(found, [2.0, 1.0], rtol=1e-8)
        assert ok
        np.testing.assert_allclose(slope, 2 / (2 * 5.0), rtol=1e-6)  # x = 2 sqrt(c / 5)


def test_several_variables_of_several_shapes() -> None:
    m, s, y = pt.dmatrix("m"), pt.dscalar("s"), pt.dmatrix("y")
    cost = ((m - y) ** 2).sum() + (s - m.sum()) ** 4
    (at_m, at_s), success = optimize.minimize(cost, [m, s])
    assert (at_m.type.ndim, at_s.type.ndim, success.type.dtype) == (2, 0, "bool")
    y0 = np.arange(6.0).reshape(2, 3)
    got = rw.function([m, s, y], [at_m, at_s])(np.zeros((2, 3)), 0.0, y0)
    np.testing.assert_allclose(got[0], y0, atol=1e-3)
    np.testing.assert_allclose(got[1], 15.0, atol=0.1)


def test_a_matrix_keeps_its_shape_and_dtype() -> None:
    m, y = pt.fmatrix("m"), pt.fmatrix("y")
    solution, _ = optimize.minimize(((m - y) ** 2).sum(), m)
    assert solution.type.dtype == "float32"
    y0 = np.ones((2, 2), "float32")
    got = rw.function([m, y], solution)(np.zeros((2, 2), "float32"), y0)
    np.testing.assert_allclose(got, y0, atol=1e-3)


def test_gradients_agree_with_differences() -> None:
    start = pt.constant(np.array([0.3, 0.1]))

    def solution(p: Any, q: Any) -> Any:
        x = pt.dvector("x")
        f = pt.stack([pt.exp(x[0]) + x[1] - p[0], x[1] * (1 + x[1] ** 2) - p[1] * q])
        return rw.graph_replace(optimize.root(f, x)[0], {x: start})

    verify_grad(solution, [np.array([2.0, 0.7]), np.array(1.3)], rng=np.random.default_rng(0))


def test_parameters_that_are_computed_from_each_other() -> None:
    """What depends on `a` twice, by itself and by `2 * a`, counts once for each."""
    x, y, a = pt.dscalars("x", "y", "a")
    cost = (x - a) ** 2 + (y - 2 * a) ** 2 + 0.1 * x * y
    (at_x, at_y), _ = optimize.minimize(cost, [x, y])
    found = [at_x, at_y, *[rw.grad(v, a) for v in (at_x, at_y)], Rop(at_x, a, pt.constant(1.0))]
    wanted = np.linalg.solve([[2, 0.1], [0.1, 2]], [2, 4])  # (a minimum that is linear in a)
    got = rw.function([x, y, a], found)(0.0, 0.0, 1.0)
    np.testing.assert_allclose(got, [*wanted, *wanted, wanted[0]], rtol=1e-5)


def test_what_does_not_depend_on_the_variable_is_a_parameter() -> None:
    x, a = pt.dscalars("x", "a")
    solution, _ = optimize.minimize_scalar((x - pt.exp(a)) ** 2, x)
    node = next(v for v in [solution] if v.owner is not None).owner
    assert [str(v) for v in node.inputs[1:]] == ["exp.0"]
    f = rw.function([x, a], [solution, rw.grad(solution, a)])
    np.testing.assert_allclose(f(0.0, 0.5), [np.exp(0.5)] * 2, rtol=1e-5)


def test_equal_searches_are_one() -> None:
    x, a = pt.dscalars("x", "a")
    options = {"bracket": [0.0, 5.0], "options": {"xtol": 1e-10}}
    first = optimize.minimize_scalar((x - a) ** 2, x, optimizer_kwargs=options)[0]
    second = optimize.minimize_scalar((x - a) ** 2, x, optimizer_kwargs=dict(options))[0]
    assert first.owner.op is second.owner.op
    assert pickle.loads(pickle.dumps(first.owner.op)) is first.owner.op
    other = optimize.minimize_scalar((x - a) ** 2, x, method="golden")[0]
    assert other.owner.op is not first.owner.op
    assert len(first.owner.inputs) == 2  # numbers stay inside
    f = rw.function([x, a], first + second)
    assert sum("MinimizeScalar" in str(n.op) for n in f.fgraph.apply_nodes) == 1
    np.testing.assert_allclose(f(0.0, 2.0), 4.0, rtol=1e-6)


def test_searches_that_fail_say_so() -> None:
    x = pt.dvector("x")
    solution, success = optimize.root(x**2 + 1, x)
    _, ok = rw.function([x], [solution, success])([1.0, 2.0])
    assert not ok


def test_the_reference_linker_searches_too() -> None:
    x, a = pt.dscalars("x", "a")
    out = optimize.root_scalar(pt.exp(x) - a, x, method="newton", jac=True)[0]
    f = rw.function([x, a], [out, rw.grad(out, a)], mode=rw.Mode(linker="py", optimizer=None))
    np.testing.assert_allclose(f(0.5, 3.0), [np.log(3.0), 1 / 3], rtol=1e-8)


def test_along_a_batch() -> None:
    x, a, many = pt.dscalar("x"), pt.dscalar("a"), pt.dvector("many")
    out = optimize.root_scalar(x**2 - a, x, method="newton", jac=True)[0]
    wide = pt.vectorize_graph(out, {a: many})
    got = rw.function([x, many], wide)(1.0, [1.0, 4.0, 9.0])
    np.testing.assert_allclose(got, [1.0, 2.0, 3.0], rtol=1e-8)


@pytest.mark.parametrize("linker", ["vm", "py"])
def test_where_it_searches_may_be_computed(linker: str) -> None:
    x, a, ends = pt.dscalar("x"), pt.dscalar("a"), pt.dvector("ends")
    found = [
        optimize.minimize_scalar((x - a) ** 2, x, method="bounded", bounds=ends),
        optimize.minimize_scalar((x - a) ** 2, x, "brent", (ends[0], ends[1])),
        optimize.minimize_scalar((x - a) ** 2, x, method="golden", bracket=[-9, 0, a + 9]),
        optimize.root_scalar(x**2 - a**2, x, method="brentq", bracket=ends),
        optimize.root_scalar(x**3 - a**3, x, method="bisect", bracket=[-4.0, a + ends[1]]),
    ]
    solutions, flags = zip(*found, strict=True)
    slopes = [rw.grad(v, a) for v in solutions]
    f = rw.function([x, a, ends], [*solutions, *slopes], mode=rw.Mode(linker=linker))
    np.testing.assert_allclose(f(0.0, 1.5, [0.25, 4.0]), [1.5] * 5 + [1.0] * 5, rtol=1e-5)
    flags_are = rw.function([x, a, ends], [*flags])
    assert all(flags_are(0.0, 1.5, [0.25, 4.0]))
    with pytest.raises(ValueError, match="different signs"):
        f(0.0, 1.5, [2.0, 4.0])
    assert rw.function([x, a, ends], found[0][0])(0.0, 1.5, [2.0, 4.0]) == pytest.approx(2, 1e-4)
    assert rw.grad(solutions[0], ends, disconnected_inputs="ignore").eval({ends: [1, 2]}).any() == 0


def test_where_it_searches_along_a_batch() -> None:
    x, a, many = pt.fscalar("x"), pt.fscalar("a"), pt.fvector("many")
    out = optimize.root_scalar(pt.cos(x), x, method="brentq", bracket=(a, a + 3))[0]
    wide = pt.vectorize_graph(out, {a: many})
    got = rw.function([x, many], wide)(0.0, np.float32([0, 3, 6]))
    assert got.dtype == "float32"
    np.testing.assert_allclose(got, np.pi * np.array([0.5, 1.5, 2.5]), rtol=1e-6)


def test_wrong_arguments() -> None:
    x, y, n = pt.dvector("x"), pt.dscalar("y"), pt.lvector("n")
    with pytest.raises(NDimError, match="the objective must have 0 dimensions"):
        optimize.minimize(x, x)
    with pytest.raises(InputError, match="does not depend on"):
        optimize.minimize_scalar(y**2, pt.dscalar("z"))
    with pytest.raises(DTypeError, match="the variables must have a float dtype"):
        optimize.minimize((n**2).sum() + y, n)
    with pytest.raises(NDimError, match="the variable must have 0 dimensions"):
        optimize.root_scalar(y, x)
    with pytest.raises(OptionError, match="hess=True requires jac=True"):
        optimize.minimize((x**2).sum(), x, jac=False, hess=True)
    with pytest.raises(
        OptionError, match="bracket is an argument and also a key of optimizer_kwargs"
    ):
        optimize.root_scalar(y**2 - 1, y, bracket=(0, 2), optimizer_kwargs={"bracket": (0.0, 3.0)})
    with pytest.raises(NDimError, match="bounds must have two or three numbers"):
        optimize.minimize_scalar(y**2, y, bounds=1.0)
    f = rw.function([x], optimize.minimize((x**2).sum(), x, method="no such")[0])
    with pytest.raises(ValueError, match="Unknown solver"):
        f([1.0])
