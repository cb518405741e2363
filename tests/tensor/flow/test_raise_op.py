"""`Assert`, `CheckAndRaise`, `CheckParameter`: values that are there only where conditions hold."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import OptionError, ParameterError
from rewrite_engine.gradient import Rop, grad, verify_grad
from rewrite_engine.tensor.blockwise import vectorize_graph
from rewrite_engine.tensor.flow.raise_op import Assert, CheckAndRaise, assert_op

x, n = pt.dvector("x"), pt.lscalar("n")
positive = CheckAndRaise(ValueError, "x has to be positive")


@pytest.mark.parametrize("mode", ["vm", "py", "fast_compile"])
def test_a_function_raises_where_a_condition_does_not_hold(mode: str) -> None:
    f = rw.function([x, n], pt.exp(positive(x, x > 0, n > 1)), mode=mode)
    np.testing.assert_allclose(f([1.0, 2.0], 2), np.exp([1.0, 2.0]))
    assert f([], 2).shape == (0,)
    for bad in [([1.0, -1.0], 2), ([1.0], 1)]:
        with pytest.raises(ValueError, match="x has to be positive"):
            f(*bad)


@pytest.mark.parametrize("use", [lambda y: y.shape[0], lambda y: y * 0, lambda y: pt.zeros_like(y)])
def test_the_error_is_kept_where_the_value_is_not_needed(use) -> None:
    f = rw.function([x], use(assert_op(x, pt.eq(x.shape[0], 2))))
    f([1.0, 2.0])
    with pytest.raises(AssertionError, match="condition does not hold"):
        f([1.0])


def test_what_is_known_to_hold_is_left_out() -> None:
    assert assert_op(x, True, np.ones(3, bool)) is x
    assert assert_op(x) is x
    assert len(assert_op(x, True, n > 0).owner.inputs) == 2
    assert assert_op(x, False).owner is not None
    assert assert_op(1.5, n > 0).type == pt.dscalar


def test_derivatives() -> None:
    verify_grad(lambda v: pt.sqr(positive(v, v > 0)), [np.array([1.0, 2.0])])
    g = rw.function([x], grad(positive(x, x > 0).sum(), x))
    assert g([1.0]).tolist() == [1.0]
    with pytest.raises(ValueError, match="positive"):
        g([-1.0])
    assert Rop(pt.sqr(positive(x, x > 0)), x, x).eval({x: [2.0]}).tolist() == [8.0]


def test_parameters() -> None:
    sigma = pt.dscalar("sigma")
    checked = pt.CheckParameter("sigma > 0")(-x / sigma, sigma > 0)
    f = rw.function([x, sigma], [checked, grad(checked.sum(), sigma)])
    assert [v.tolist() for v in f([1.0, 2.0], 2.0)] == [[-0.5, -1.0], 0.75]
    with pytest.raises(ParameterError, match="sigma > 0"):
        f([1.0], -2.0)
    assert issubclass(ParameterError, ValueError)


def test_equality_and_pickling() -> None:
    assert Assert("no") is Assert("no") is pickle.loads(pickle.dumps(Assert("no")))
    assert Assert("no") != CheckAndRaise(AssertionError, "no")
    assert str(Assert("no")) == "Assert{raises=AssertionError, msg='no'}"


def test_bad_arguments() -> None:
    for bad in ("no", str, ValueError("no")):
        with pytest.raises(OptionError, match="takes an exception class, not"):
            CheckAndRaise(bad)  # type: ignore[arg-type]


def test_numbers_other_than_zero_hold() -> None:
    f = rw.function([x], assert_op(x, x))
    assert f([-0.5, np.nan])[0] == -0.5
    with pytest.raises(AssertionError):
        f([0.5, 0.0])


def test_batches_of_values_and_of_conditions() -> None:
    y = pt.dvector("y")
    out = assert_op(x, pt.all(y > 0))
    xs, ys = pt.matrix("xs", shape=(2, None)), pt.matrix("ys", shape=(2, None))
    at = {"x": np.arange(3.0), "y": np.arange(1.0, 5.0)}
    at |= {"xs": np.arange(6.0).reshape(2, 3), "ys": np.arange(1.0, 9.0).reshape(2, 4)}
    for v, c in [(xs, y), (x, ys), (xs, ys)]:
        many = vectorize_graph(out, {x: v, y: c})
        assert many.type.shape == (2, None)
        f = rw.function([v, c], many)
        expected = np.broadcast_to(at[v.name], (2, 3))
        np.testing.assert_array_equal(f(at[v.name], at[c.name]), expected)
        with pytest.raises(AssertionError):
            f(at[v.name], -at[c.name])
