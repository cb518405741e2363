"""Giving arrays another shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, ShapeError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.node import Constant
from rewrite_engine.tensor.reshape import Reshape, as_many
from rewrite_engine.tensor.type import TensorType


@st.composite
def reshapes(draw):
    """A shape, a shape with as many elements, and which lengths of the first are known."""
    factors = draw(st.lists(st.integers(0, 4), max_size=5))

    def group():
        shape = [1] * draw(st.integers(0 if not factors else 1, 4))
        for f in factors:
            shape[draw(st.integers(0, len(shape) - 1))] *= f
        return shape

    old, new = group(), group()
    known = [n if draw(st.booleans()) else None for n in old]
    hole = draw(st.integers(-1, len(new) - 1))
    if hole >= 0 and 0 not in new[:hole] + new[hole + 1 :]:
        return old, known, new, [-1 if i == hole else n for i, n in enumerate(new)]
    return old, known, new, new


@given(reshapes())
def test_reshape_agrees_with_numpy(case):
    old, known, new, asked = case
    x = TensorType("float64", known)("x")
    array = np.arange(float(np.prod(old))).reshape(old)
    y = pt.reshape(x, asked)
    (got,) = evaluate([y], {x: array})
    np.testing.assert_array_equal(got, array.reshape(new))
    assert all(s is None or s == n for s, n in zip(y.type.shape, new, strict=True))
    if None not in known:
        assert y.type.shape == tuple(new)


@given(reshapes())
def test_infer_shape_agrees_with_the_value(case):
    old, known, new, asked = case
    x = TensorType("float64", known)("x")
    y = pt.reshape(x, asked)
    (shape,) = y.owner.op.infer_shape(None, y.owner, [pt.shape_tuple(x)])
    got = evaluate(list(shape), {x: np.zeros(old)})
    if 0 in new and -1 in asked:
        return
    assert [int(n) for n in got] == list(new)


def test_symbolic_lengths():
    x, n = pt.dvector("x"), pt.lscalar("n")
    y = pt.reshape(x, (n, 3))
    assert y.type.shape == (None, 3)
    assert y.owner.op is Reshape(("i", 3))
    assert evaluate([y], {x: np.arange(6.0), n: 2})[0].shape == (2, 3)
    with pytest.raises(ShapeError, match=r"\(6,\) cannot take the shape \(4, 3\)[\s\S]*test_resh"):
        evaluate([y], {x: np.arange(6.0), n: 4})
    with pytest.raises(ShapeError, match="negative"):
        evaluate([y], {x: np.arange(6.0), n: -1})


def test_shape_given_as_a_vector():
    x, s = pt.dvector("x"), TensorType("int64", (2,))("s")
    for y in (pt.reshape(x, s), x.reshape(s), pt.reshape(x, pt.lvector(), ndim=2)):
        assert y.type.ndim == 2
    assert evaluate([pt.reshape(x, s)], {x: np.arange(6.0), s: [3, 2]})[0].shape == (3, 2)
    other = pt.dmatrix("m")
    assert evaluate([x.reshape(other.shape)], {x: np.arange(6.0), other: np.ones((2, 3))})[
        0
    ].shape == (2, 3)


def test_errors_while_building():
    x = TensorType("float64", (4,))("x")
    with pytest.raises(ShapeError, match=r"Reshape\{3, -1\}: type TensorType\(float64, \(4,\)\)"):
        pt.reshape(x, (3, -1))
    with pytest.raises(ShapeError, match="numbers of elements differ"):
        pt.reshape(x, 5)
    with pytest.raises(ShapeError, match="numbers of elements differ"):
        pt.reshape(TensorType("float64", (None, 3))(), (2, 5))
    with pytest.raises(ShapeError, match="only one length in .* can be -1"):
        pt.reshape(x, (-1, -1))
    with pytest.raises(ShapeError, match="negative"):
        pt.reshape(x, (-2, 2))
    with pytest.raises(DTypeError, match="must be an integer"):
        pt.reshape(x, (2.0, 2))
    with pytest.raises(ShapeError, match="2 lengths, but ndim=1"):
        pt.reshape(x, (2, 2), ndim=1)


def test_flatten_and_ravel():
    array = np.arange(24.0).reshape(2, 3, 4)
    x = pt.tensor3("x", dtype="float64")
    got = evaluate([x.flatten(), x.ravel(), x.flatten(2), x.flatten(3)], {x: array})
    assert [a.shape for a in got] == [(24,), (24,), (2, 12), (2, 3, 4)]
    empty = evaluate([x.flatten(2)], {x: np.zeros((0, 3, 4))})
    assert empty[0].shape == (0, 12)
    assert pt.flatten(pt.dscalar()).type.shape == (1,)
    assert pt.flatten(pt.tensor(dtype="float64", shape=(2, 3))).type.shape == (6,)
    with pytest.raises(ShapeError, match="ndim must be from 1 to the number of dimensions, not 4"):
        pt.flatten(x, 4)


@pytest.mark.parametrize("shape", [(2, 3), (None, 3), (None, None)])
def test_gradient(shape):
    rng = np.random.default_rng(0)

    def f(x):
        x = pt.specify_shape(x, shape)
        return pt.reshape(x, (3, 2)) ** 2

    verify_grad(f, [rng.normal(size=(2, 3))])
    verify_grad(lambda x: pt.flatten(pt.specify_shape(x, shape)) ** 2, [rng.normal(size=(2, 3))])


def test_gradient_takes_no_shape_where_one_length_is_unknown():
    x = TensorType("float64", (None, 3))("x")
    node = pt.flatten(x).owner
    (g,) = node.op.grad(node.inputs, [pt.dvector()])
    assert g.type.shape == (None, 3)
    assert g.owner.op is Reshape((-1, 3))


def test_product_of_constants_is_a_constant():
    x = TensorType("float64", (None, 3, 4))("x")
    assert not any(isinstance(v, Constant) for v in pt.flatten(x, 2).owner.inputs)
    assert pt.flatten(x, 2).type.shape == (None, 12)


@pytest.mark.parametrize(
    ("have", "want", "answer"),
    [
        ((2, 3), (3, 2), True), ((2, 3), (4, 2), False), ((), (1, 1), True), ((0, 3), (5, 0), True),
        (("n", 6), (2, 3, "n"), True), (("n", 6), (5, "n"), None), (("n", "n"), ("n",), None),
        (("n", None), ("n", None), None), (("n", None), ("m", 2), None), (("n", 0), (0, "m"), True),
        ((None, 3), (6,), None), ((None, 3), (5,), False), ((None, 3), (0,), None),
        ((6,), (None, 2), None), ((6,), (None, 4), False), ((0,), (None, 4), None),
        ((6,), (-1, 2), True), ((6,), (-1, 4), False), (("n", 4), (2, -1), True),
        (("n", 4), (3, -1), None), (("n", 4), ("n", -1), None), ((6,), (-1, None, 4), False),
        ((0, 3), (0, -1), None), ((6,), (0, -1), False), (("n", 3), (0, -1), None),
    ],
)  # fmt: skip
def test_shapes_with_as_many_elements(have, want, answer):
    assert as_many(have, want) is answer


def test_what_is_left_over_of_nothing_is_not_known():
    x = TensorType("float64", (0, 3))("x")
    y = pt.reshape(x, (0, -1))
    assert y.type.shape == (0, None)
    with pytest.raises(ShapeError, match="cannot take the shape"):
        evaluate([y], {x: np.ones((0, 3))})
