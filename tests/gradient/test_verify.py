"""`verify_grad`: that it finds errors, and that the gradients of all ops are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, GradientError
from rewrite_engine.gradient import grad_scale, numeric_grad, verify_grad
from rewrite_engine.graph.op import Op
from rewrite_engine.tensor.elemwise import Elemwise

RNG = np.random.default_rng(0)


class Square(Op):
    """x² with a gradient that is wrong by a factor."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def infer_types(self, types: Any) -> Any:
        return types

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.asarray(inputs[0] ** 2)

    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        return [self.factor * 2 * inputs[0] * output_gradients[0]]


def test_right_and_wrong_gradients():
    verify_grad(Square(1.0), [np.array([1.0, 2.0])])
    text = r"argument 0 is wrong at index \(1,\): symbolic .*numeric .*2 of 2 differ"
    with pytest.raises(GradientError, match=text):
        verify_grad(Square(1.01), [np.array([1.0, 2.0])])
    verify_grad(Square(1.01), [np.array([1.0, 2.0])], rel_tol=0.1)


def test_the_point_is_not_changed():
    point = np.array([1.0, 2.0])
    verify_grad(lambda x: x**2, [point])
    assert point.tolist() == [1, 2]


def test_ops_that_overwrite_their_inputs():
    overwriting = Elemwise(pt.exp.scalar_op, {0: 0})
    verify_grad(overwriting, [np.array([1.5, -2.0])])
    verify_grad(lambda x: pt.cos(x) * overwriting(x) + x**2, [np.array([1.5, -2.0])])
    with pytest.raises(GradientError):
        verify_grad(lambda x: Square(1.01)(x) + overwriting(x), [np.array([1.5, -2.0])])


def test_other_precisions():
    for cast in (False, True):
        at = np.array([0.5, 1.0], dtype="float32")
        verify_grad(lambda x: pt.exp(x), [at], cast_to_output_type=cast)


def test_differences():
    x, y = np.array([1.0, 2.0]), np.float32(3)
    one = numeric_grad(lambda x: (x**3).sum(), x)
    np.testing.assert_allclose(one.gf, [3, 12], rtol=1e-8)
    both = numeric_grad(lambda x, y: (x * y).sum(), [x, y]).gf
    np.testing.assert_allclose(both[0], [3, 3], rtol=1e-3)
    np.testing.assert_allclose(both[1], 3, rtol=1e-3)
    assert (both[0].dtype, both[1].dtype) == ("float64", "float32")
    assert numeric_grad.abs_rel_err(1.0, 3.0) == (2, 0.5)
    with pytest.raises(DTypeError, match="numeric_grad: argument 0"):
        numeric_grad(lambda x: x, [np.array([1])])


def test_what_is_refused():
    with pytest.raises(DTypeError, match="argument 0 must be a float array"):
        verify_grad(lambda x: x, [np.array([1, 2])])
    with pytest.raises(DTypeError, match="must have a real dtype"):
        verify_grad(lambda x: pt.cast(x, "complex128"), [np.ones(2)])
    with pytest.raises(DTypeError, match="one tensor variable"):
        verify_grad(lambda x: [x], [np.ones(2)])


def test_integers_and_bools_have_the_gradient_zero():
    x = np.array([0.3, 2.6, -1.2])
    for fun in (pt.argmax, lambda x: x > 0, lambda x: pt.cast(x, "int8"), pt.argsort):
        verify_grad(fun, [x])
    with pytest.raises(GradientError, match="wrong at index"):  # between two numbers
        verify_grad(lambda x: pt.cast(x, "int64"), [np.ones(2)])


# --- every op that there is -------------------------------------------------------------------

ANY = RNG.normal(size=(2, 3))
POSITIVE = RNG.uniform(0.3, 3.0, size=(2, 3))
UNIT = RNG.uniform(-0.9, 0.9, size=(2, 3))
ABOVE_ONE = RNG.uniform(1.1, 3.0, size=(2, 3))

UNARY = {
    ANY.tobytes(): (
        "neg abs sqr exp exp2 expm1 softplus sigmoid erf erfc sin cos tan arctan sinh cosh tanh "
        "arcsinh identity sign floor ceil trunc round"
    ),
    POSITIVE.tobytes(): "sqrt reciprocal log log2 log10 log1p gammaln",
    UNIT.tobytes(): "arcsin arccos arctanh",
    ABOVE_ONE.tobytes(): "arccosh",
}
POINTS = {p.tobytes(): p for p in (ANY, POSITIVE, UNIT, ABOVE_ONE)}


@pytest.mark.parametrize(
    ("name", "key"), [(name, key) for key, names in UNARY.items() for name in names.split()],
    ids=[name for names in UNARY.values() for name in names.split()],
)  # fmt: skip
def test_unary(name, key):
    verify_grad(getattr(pt, name), [POINTS[key]])


@pytest.mark.parametrize("name", ["log1mexp"])
def test_unary_on_negative_numbers(name):
    verify_grad(getattr(pt, name), [-POSITIVE])


def test_logit():
    verify_grad(pt.logit, [np.abs(UNIT)])


BINARY = "add sub mul true_div pow maximum minimum arctan2 logaddexp mod floor_div"
SHAPES = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((2, 3), (1, 1))]


@pytest.mark.parametrize("name", BINARY.split())
@pytest.mark.parametrize("shapes", SHAPES)
def test_binary_with_broadcasting(name, shapes):
    points = [RNG.uniform(0.6, 2.9, size=s) for s in shapes]
    verify_grad(getattr(pt, name), points)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("name", ["add", "mul", "maximum", "minimum"])
def test_variadic(name, n):
    points = [RNG.normal(size=s) for s in [(2, 3), (3,), (), (2, 1), (1, 3), (2, 3), (1,)][:n]]
    verify_grad(lambda *xs: getattr(pt, name)(*xs), points)


def test_choices():
    verify_grad(lambda x, y: pt.switch(x > 0, x * y, y**2), [ANY, ANY[0]])
    verify_grad(lambda x: pt.clip(x, -0.5, 0.5), [ANY])
    verify_grad(lambda x, y: pt.second(x, y) * x, [ANY, ANY[0]])
    verify_grad(lambda x: pt.cast(pt.cast(x, "float64"), "float64") ** 2, [ANY])
    verify_grad(lambda x: x * (x > 0), [ANY])


REDUCTIONS = "sum prod max min mean var std logsumexp"


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
@pytest.mark.parametrize("name", REDUCTIONS.split())
def test_reductions(name, axis):
    if not hasattr(pt, name):
        pytest.skip(f"{name} does not exist")
    if axis == () and name in ("var", "std"):
        return  # the variance of one element is 0, where std has no derivative
    verify_grad(lambda x: getattr(pt, name)(x, axis=axis), [RNG.normal(size=(2, 3, 2))])


def test_reductions_that_keep_dimensions():
    verify_grad(lambda x: x / x.sum(axis=1, keepdims=True), [POSITIVE])


def test_product_with_zeros():
    verify_grad(lambda x: pt.prod(x, axis=1), [np.array([[0.0, 2, 3], [0, 0, 3], [1, 2, 3]])])


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_softmax(name, axis):
    verify_grad(lambda x: getattr(pt, name)(x, axis=axis), [ANY])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_cumulative(axis):
    verify_grad(lambda x: pt.cumsum(x, axis=axis), [ANY])
    verify_grad(lambda x: pt.cumprod(x, axis=axis), [POSITIVE])


def test_creation():
    verify_grad(lambda x: pt.alloc(x, 4, 3) ** 2, [ANY[0]])
    verify_grad(lambda x: pt.full((2, 2), x) ** 2, [np.array(1.5)])
    verify_grad(lambda x: pt.ones_like(x) * x, [ANY])
    verify_grad(lambda a, b: pt.arange(a, 5.0, b), [np.array(0.5), np.array(0.7)])


def test_a_whole_network():
    points = [RNG.normal(size=s) for s in [(4, 3), (3, 5), (5,), (5, 2), (2,)]]

    def loss(x, w1, b1, w2, b2):
        h = pt.tanh(x @ w1 + b1)
        z = h @ w2 + b2
        return -pt.log(pt.exp(z) / pt.exp(z).sum(axis=1, keepdims=True))[:, 0].mean()

    verify_grad(loss, points)


def test_second_derivatives():
    from rewrite_engine.gradient import grad

    def slope(x):
        return grad((pt.tanh(x) * x[0]).sum(), x)

    verify_grad(slope, [RNG.normal(size=3)])


# --- random graphs ----------------------------------------------------------------------------

STEPS = [
    lambda a, b: pt.tanh(a),
    lambda a, b: a * b,
    lambda a, b: a - b,
    lambda a, b: a + b[0],
    lambda a, b: pt.sigmoid(a) / (1.5 + pt.cos(b)),
    lambda a, b: a.sum(axis=0) * b,
    lambda a, b: pt.exp(-(a**2)),
    lambda a, b: pt.softmax(a, axis=1),
    lambda a, b: pt.dot(a, a.T) @ b / 10,
    lambda a, b: pt.switch(a > b, a, b**2),
    lambda a, b: pt.join(0, a[:1], b[1:]),
    lambda a, b: a[:, ::-1],
    lambda a, b: a[0].set(b[1]),
    lambda a, b: a[[0, 1, 1]][1:].inc(b)[1:],
    lambda a, b: a.T.reshape((2, 3)),
    lambda a, b: a.max(axis=1, keepdims=True) + b,
    lambda a, b: pt.stack([a[0], b[1]]),
    lambda a, b: pt.specify_shape(a, (2, 3)).mean() * b,
]


@given(st.lists(st.tuples(*[st.integers(0, 99)] * 3), min_size=1, max_size=12))
@settings(max_examples=40)
def test_random_graphs(steps):
    def f(x, y):
        values = [x, y]
        for step, i, j in steps:
            a, b = values[-1 - i % min(3, len(values))], values[j % len(values)]
            values.append(STEPS[step % len(STEPS)](a, b))
        return pt.tanh(values[-1])

    verify_grad(f, [ANY, POSITIVE], n_tests=1, abs_tol=1e-4)


def test_steps_beside_huge_numbers_count() -> None:
    verify_grad(lambda a: a * 2, [np.array(1e300)])
    with pytest.raises(GradientError):
        verify_grad(lambda a: grad_scale(a, 2.0) * 2, [np.array(1e300)])
