"""Gradients of `ifelse`: of the branch that is taken, and computed only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import ifelse
from rewrite_engine.gradient import Rop, grad, verify_grad
from tests.tensor.flow.test_branches import MODES, STEPS, c, d, drawn, noted, ops, ran, x, y


def test_gradients_of_both_branches() -> None:
    for i in (0, 1):
        verify_grad(lambda a, b, i=i: ifelse(pt.constant(i), pt.sin(a) * b, a * b**2),
                    [np.array([0.5, 1.0]), np.array([2.0, 3.0])])  # fmt: skip
    out = ifelse(c, [pt.sin(x), x * 2], [x**2, y])
    slopes = grad((out[0] * out[1]).sum(), [x, y])
    f = rw.function([c, x, y], slopes)
    a, b = np.array([0.5, 1.0]), np.array([2.0, 3.0])
    got = f(1, a, b)
    np.testing.assert_allclose(got, [np.cos(a) * 2 * a + np.sin(a) * 2, [0, 0]])
    np.testing.assert_allclose(f(0, a, b), [2 * a * b, a**2])


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_gradients_are_computed_for_the_branch_that_is_taken(mode: Any) -> None:
    h = noted("h", x)
    inner = ifelse(d, noted("a", h) * h, noted("b", pt.maximum(x, 0)) ** 2)
    out = ifelse(c, inner, noted("e", x) ** 2).sum() + (x**3).sum()
    f = rw.function([c, d, x], grad(out, x), mode=mode)
    assert ran(f, 1, 1, [1.0]) == ["a", "a'", "h", "h'"]
    assert ran(f, 1, 0, [1.0]) == ["b", "b'"]
    assert ran(f, 0, 1, [1.0]) == ["e", "e'"]


def test_the_gradient_of_a_branch_not_taken_is_zero() -> None:
    f = rw.function([x], grad(ifelse(pt.all(x > 0), pt.log(x).sum(), x.sum() * 2), x))
    assert f([0.0, 2.0]).tolist() == [2.0, 2.0]
    assert f([1.0, 2.0]).tolist() == [1.0, 0.5]
    out = ifelse(c, pt.sqrt(x), x)
    f = rw.function([c, x], [grad(out.sum(), x), grad(out.sum(), c)])
    assert f(0, [0.0])[0].tolist() == [1.0]
    assert f(0, [0.0])[1] == 0
    f = rw.function([c, x], rw.gradient.jacobian(out, x))
    np.testing.assert_allclose(f(0, [0.0, 4.0]), np.eye(2))


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_gradients_of_a_choice_that_are_zero_in_places(mode: Any) -> None:
    """The mask goes behind the gate, to what is multiplied."""
    h = noted("h", x)
    a, b = np.array([0.0, 1.0, 4.0]), np.array([1.0, 2.0, 3.0])
    root = 0.5 / np.sqrt(a[1:])
    for part, wanted in [
        (lambda v: v[1], [0, root[0], 0]),
        (lambda v: v[1:].sum(), [0, *root]),
        (lambda v: v[[2, 2]].sum(), [0, 0, 2 * root[1]]),
        (lambda v: pt.switch(x > 0, v, 3.0).sum(), [0, *root]),
    ]:
        out = part(ifelse(c, h + y, pt.sqrt(x)))
        f = rw.function([c, x, y], grad(out, x), mode=mode, on_unused_input="ignore")
        np.testing.assert_allclose(f(0, a, b), wanted)
        assert ran(f, 0, a, b) == []
        assert ran(f, 1, a, b)[-1] == "h'"
    t = pt.dscalar("t")  # a mask of one number
    out = pt.switch(t > 0, ifelse(c, t, pt.sqrt(t) + pt.sin(t)), 1.0)
    f = rw.function([c, t], grad(out, t), mode=mode)
    np.testing.assert_allclose([f(0, 4.0), f(0, 0.0), f(1, 4.0), f(1, 0.0)], [
        0.25 + np.cos(4), 0, 1, 0])  # fmt: skip


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize(
    "part",
    [
        lambda v: v[5],
        lambda v: pt.sin(v[5]) * v[0],
        lambda v: v[[5, 5]].sum(),
        lambda v: v.reshape((3, 2)).sum(),
        lambda v: pt.exp(v.reshape((3, 2))[2, 1]),
        lambda v: pt.join(0, v, v)[11],
        lambda v: pt.split(v, [2, 4], 2)[1][3],
        lambda v: pt.specify_shape(v, (6,))[5] ** 2,
    ],
)
def test_the_gradient_of_a_branch_not_taken_raises_nothing(mode: Any, part: Any) -> None:
    out = ifelse(x.shape[0] > 5, part(x), x[0])
    f = rw.function([x], grad(out, x), mode=mode)
    assert f([1.0, 2.0]).tolist() == [1.0, 0.0]
    at = np.arange(6) / 4
    np.testing.assert_allclose(f(at), rw.function([x], grad(part(x), x))(at))


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_the_gradient_of_a_branch_not_taken_raises_nothing_in_a_loop(mode: Any) -> None:
    step = lambda i: ifelse(i < x.shape[0], x[i] ** 2, 0.0)
    out = rw.scan(step, pt.arange(4), return_updates=False)
    f = rw.function([x], grad(out.sum(), x), mode=mode)
    assert f([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert f(np.arange(5.0)).tolist() == [0.0, 2.0, 4.0, 6.0, 0.0]


def test_gradients_of_both_branches_are_one_choice() -> None:
    f = rw.function([c, x], grad(ifelse(c, pt.sin(x), pt.exp(x)).sum(), x))
    assert sorted(ops(f)) == ["cos", "exp", "ifelse"]
    out: Any = x
    for i in range(30):
        out = ifelse(pt.eq(c, i), pt.sin(x * (i + 1)), out)
    f = rw.function([c, x], grad(out.sum(), x))
    assert ops(f).count("ifelse") == 30
    a = np.array([0.5, 1.0])
    np.testing.assert_allclose([f(7, a), f(99, a)], [8 * np.cos(8 * a), np.ones(2)])


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_gradients_of_what_a_branch_shares_stay_in_it(mode: Any) -> None:
    """What both inner branches need is there only for the outer one, and infinite elsewhere."""
    h = pt.sqrt(x)
    out = ifelse(c, ifelse(d, noted("a", h), noted("b", h) * 2), x).sum()
    f = rw.function([c, d, x], grad(out, x), mode=mode)
    assert f(0, 1, [0.0, 4.0]).tolist() == [1.0, 1.0]
    np.testing.assert_allclose(f(1, 0, [1.0, 4.0]), [1.0, 2.0])
    assert [name for name in ran(f, 1, 1, [1.0]) if "'" in name] == ["a'"]
    assert ran(f, 0, 1, [1.0]) == []


def test_gradients_that_are_given_with_a_choice() -> None:
    h = pt.sqrt(x)
    given_as = {pt.switch(x > 0, h, 0.0): ifelse(c, y, pt.zeros_like(y))}
    f = rw.function([c, x, y], grad(None, x, known_grads=given_as))
    np.testing.assert_allclose(f(1, [0.0, 4.0], [1.0, 2.0]), [0, 0.5])
    np.testing.assert_allclose(f(0, [0.0, 4.0], [1.0, 2.0]), [0, 0])


def test_gradients_of_other_precision() -> None:
    z = pt.fvector("z")
    out = ifelse(c, ifelse(d, pt.cast(z, "float64"), x), pt.cast(pt.sqr(z), "float64"))
    out = (out * x).sum() + ifelse(c, z, pt.exp(z)).sum()
    f = rw.function([c, d, x, z], grad(out, z))
    a, b = np.array([0.5, 1.0]), np.array([2.0, 3.0], "float32")
    for i, j, wanted in ((1, 1, a + 1), (1, 0, [1, 1]), (0, 1, 2 * a * b + np.exp(b))):
        got = f(i, j, a, b)
        assert got.dtype == "float32"
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_gradients_of_what_is_inside_of_a_branch() -> None:
    h = pt.exp(x)
    f = rw.function([c, x], grad(ifelse(c, (h**2).sum(), x.sum()), h))
    np.testing.assert_allclose(f(1, [1.0]), [2 * np.e])
    assert f(0, [1.0]).tolist() == [0.0]


def test_second_and_forward_derivatives() -> None:
    a = pt.dscalar("a")
    out = ifelse(c, a**3, pt.sin(a))
    first = grad(out, a)
    f = rw.function([c, a], [first, grad(first, a), Rop(out, a, pt.constant(2.0))])
    np.testing.assert_allclose(f(1, 2.0), [12, 12, 24])
    np.testing.assert_allclose(f(0, 2.0), [np.cos(2), -np.sin(2), 2 * np.cos(2)])


@settings(max_examples=25, deadline=None)
@given(STEPS, st.integers(0, 1), st.integers(0, 1))
def test_gradients_of_any_graphs(steps: Any, i: int, j: int) -> None:
    """Beside the graph in which the conditions c and d are constants."""
    steps = [s for s in steps if s[0] not in "e~"]
    made = drawn(steps, [x, y], [c, d], ifelse, pt)
    plain = drawn(steps, [x, y], [i, j], lambda c, a, b: a if c else b, pt)
    at = [np.array([0.3, -1.2, 2.0]), np.array([1.5, 0.2, -0.7])]
    got, wanted = (
        rw.function([c, d, x, y],
                    grad(pt.sin(values[-1]).sum(), [x, y], disconnected_inputs="ignore"),
                    on_unused_input="ignore")(i, j, *at)
        for values in (made, plain)
    )  # fmt: skip
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
