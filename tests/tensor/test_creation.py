"""Arrays made from shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import BroadcastError, DTypeError, NDimError, ShapeError
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.null import is_disconnected
from tests.tensor.evaluate import evaluate


def test_alloc():
    n, v = pt.lscalar("n"), pt.vector("v")
    out = pt.alloc(v, 2, n)
    assert out.type.shape == (2, None)
    np.testing.assert_array_equal(evaluate(out, {n: 3, v: [1, 2, 3]}), [[1, 2, 3]] * 2)
    assert pt.alloc(v, (2, n)).type is out.type
    assert pt.alloc(pt.vector(shape=(4,)), n, n).type.shape == (None, 4)
    assert pt.alloc(1.5, 2, 2).type.shape == (2, 2)
    assert pt.alloc(pt.constant(1, dtype="int8"), 2).dtype == "int8"


def test_alloc_refuses_what_does_not_fit():
    n, v = pt.lscalar("n"), pt.vector("v")
    with pytest.raises(BroadcastError, match=r"shapes \(3,\): .* length 3, it must be 2"):
        pt.alloc(np.ones(3), 2)
    with pytest.raises(BroadcastError):
        evaluate(pt.alloc(v, n), {n: 3, v: [1, 2]})
    with pytest.raises(BroadcastError):
        evaluate(pt.alloc(v, n), {n: 3, v: [1]})
    with pytest.raises(NDimError):
        pt.alloc(v)
    with pytest.raises(DTypeError, match="must be an integer"):
        pt.alloc(0.0, 1.5)
    with pytest.raises(NDimError):
        pt.alloc(0.0, pt.lmatrix(), 1)
    with pytest.raises(ShapeError, match="negative"):
        pt.zeros((-1, 2))
    for make in (pt.zeros, pt.eye, pt.empty):
        with pytest.raises(ShapeError, match="a length is negative"):
            evaluate(make(n), {n: -1})
        with pytest.raises(ShapeError, match="negative"):
            rw.function([n], make(n))(-1)
    with pytest.raises(ShapeError, match="the step is 0"):
        evaluate(pt.arange(0, 5, n), {n: 0})


def test_alloc_gradient_and_shape():
    v, n, g = pt.vector("v"), pt.lscalar("n"), pt.matrix("g")
    node = pt.alloc(v, 2, n).owner
    dv, *rest = node.op.L_op(node.inputs, node.outputs, [g])
    assert all(map(is_disconnected, rest))
    assert evaluate(dv, {g: [[1, 2], [3, 4]]}).tolist() == [4, 6]
    assert node.op.connection_pattern(node) == [[True], [False], [False]]
    assert node.op.infer_shape(None, node, [(), (), ()])[0][1] is n
    (jv,) = node.op.R_op(node.inputs, [v, None, None])
    assert jv.owner.op is node.op


def test_folding_stays_small():
    assert pt.Alloc().do_constant_folding(None, pt.zeros((2, 3)).owner)
    assert not pt.Alloc().do_constant_folding(None, pt.zeros((200, 300)).owner)
    assert not pt.AllocEmpty("int8").do_constant_folding(None, pt.empty((1,)).owner)


def test_zeros_ones_full_empty():
    n = pt.lscalar("n")
    for f, value in ((pt.zeros, 0), (pt.ones, 1)):
        out = f((n, 2), dtype="int8")
        assert out.type is pt.TensorType("int8", (None, 2))
        np.testing.assert_array_equal(evaluate(out, {n: 3}), np.full((3, 2), value))
        assert f(3).dtype == config.floatX
        assert f(()).type.ndim == 0
    s = pt.vector("s", shape=(2,), dtype="int64")
    assert pt.zeros(s).type.shape == (None, None)
    assert evaluate(pt.full((2,), 7, dtype="float32")).tolist() == [7, 7]
    assert pt.full((2,), 7).dtype == "int64"
    assert pt.empty((n, 3), dtype="int8").type is pt.TensorType("int8", (None, 3))
    assert evaluate(pt.empty((n, 3)), {n: 2}).shape == (2, 3)


def test_like():
    x = pt.fmatrix("x")
    a = np.ones((2, 3), "float32")
    assert evaluate(pt.zeros_like(x), {x: a}).tolist() == [[0] * 3] * 2
    assert pt.ones_like(x).type is x.type
    assert pt.ones_like(x, dtype="int8").dtype == "int8"
    assert evaluate(pt.full_like(x, 2.5), {x: a})[0, 0] == 2.5
    assert pt.empty_like(x).dtype == "float32"
    assert x.zeros_like().type is x.type
    assert pt.zeros_like(np.ones(3)).type.shape == (3,)
    assert evaluate(pt.identity_like(x), {x: a}).tolist() == np.eye(2, 3).tolist()
    assert pt.identity_like(pt.matrix(shape=(2, None))).type.shape == (2, None)


numbers = st.integers(-5, 5) | st.floats(-5, 5).map(lambda f: round(f, 2))


@settings(max_examples=80, deadline=None)
@given(numbers, numbers, numbers.filter(lambda n: abs(n) > 0.1))
def test_arange_agrees_with_numpy(start, stop, step):
    wanted = np.arange(start, stop, step)
    constant = pt.arange(start, stop, step)
    assert constant.type.shape == wanted.shape
    assert constant.dtype == wanted.dtype.name
    np.testing.assert_array_equal(evaluate(constant), wanted)
    inputs = [pt.constant(v).type(n) for v, n in zip((start, stop, step), "abc")]
    given = dict(zip(inputs, (start, stop, step)))
    out = pt.arange(*inputs)
    np.testing.assert_array_equal(evaluate(out, given), wanted)
    ((length,),) = out.owner.op.infer_shape(None, out.owner, [()] * 3)
    assert evaluate(length, given) == len(wanted)


def test_arange_details():
    n = pt.lscalar("n")
    assert evaluate(pt.arange(n), {n: 3}).tolist() == [0, 1, 2]
    assert pt.arange(3, dtype="float32").dtype == "float32"
    with config.change_flags(floatX="float32"):
        assert [pt.arange(3.0).dtype, pt.arange(0, 3, 0.5).dtype] == ["float32", "float32"]
        assert [pt.arange(3).dtype, pt.arange(pt.dscalar()).dtype] == ["int64", "float64"]
    with pytest.raises(NDimError):
        pt.arange(pt.lvector())
    a, s, g = pt.scalar("a"), pt.scalar("s"), pt.vector("g")
    out = pt.arange(a, 3.0, s)
    da, dstop, ds = out.owner.op.L_op(out.owner.inputs, [out], [g])
    given = {a: 0.0, s: 1.0, g: [1.0, 10.0, 100.0]}
    assert evaluate(da, given) == 111
    assert evaluate(ds, given) == 210
    assert is_disconnected(dstop)
    (dn, _, _) = pt.arange(n).owner.op.L_op([n, n, n], [pt.arange(n)], [g])
    assert dn.dtype == "float64"


@pytest.mark.parametrize(("n", "m", "k"), [(3, None, 0), (2, 4, 1), (4, 2, -1)])
def test_eye(n, m, k):
    wanted = np.eye(n, m, k)
    assert pt.eye(n, m, k).type.shape == wanted.shape
    np.testing.assert_array_equal(evaluate(pt.eye(n, m, k)), wanted)
    s = pt.lscalar("s")
    assert evaluate(pt.eye(s, dtype="int8"), {s: 2}).dtype == "int8"
    with pytest.raises(DTypeError):
        pt.eye(1.5)


@pytest.mark.parametrize("make", [pt.eye, pt.tri])
def test_matrices_that_a_diagonal_tells_are_made_once(make):
    """Those that are not large."""
    a = pt.dmatrix("a")
    for n, is_made in ((50, True), (1200, False)):
        f = rw.function([a], a * make(n))
        assert any(isinstance(v, Constant) and v.ndim == 2 for v in f.fgraph.variables) is is_made
        np.testing.assert_array_equal(f(np.full((n, n), 2.0)), 2 * make(n).eval())
    with config.change_flags(fold_limit=8 * 1200**2):
        f = rw.function([a], a * make(1200))
    assert [str(node.op) for node in f.fgraph.toposort()] == ["mul"]


@pytest.mark.parametrize(("like", "number"), [(pt.zeros_like, 0), (pt.ones_like, 1)])
def test_in_the_shape_of_a_number_opt_asks_for_a_constant(like, number):
    x = pt.fscalar("x")
    found = like(x, opt=True)
    assert isinstance(found, pt.TensorConstant)
    assert (found.type, found.data) == (x.type, number)
    for other in (like(x), like(x, dtype="float64", opt=True), like(pt.vector("v"), opt=True)):
        assert other.owner is not None


row, any_vector = pt.row("row"), pt.vector("v")


@pytest.mark.parametrize(
    ("made", "shape"),
    [
        (pt.eye(row.shape[0]), (1, 1)),
        (pt.eye(row.shape[0], 3), (1, 3)),
        (pt.eye(any_vector[None].shape[0]), (1, 1)),
        (pt.eye(row.shape[1]), (None, None)),
        (pt.arange(row.shape[0]), (1,)),
        (pt.zeros(row.shape[0]), (1,)),
        (pt.zeros(row.shape[:1]), (1,)),
        (pt.zeros(row.T.shape[1:]), (1,)),
        (pt.zeros(row.shape[::-1]), (None, 1)),
        (pt.zeros((row.shape[:1][0], any_vector.shape[0])), (1, None)),
        (pt.zeros((row * 2).shape[0]), (1,)),
    ],
)
def test_lengths_that_types_know(made: Any, shape: Any) -> None:
    """So that what is made broadcasts."""
    assert made.type.shape == shape
    value = evaluate(made, {row: np.ones((1, 2)), any_vector: np.ones(2)})
    assert made.type.is_super(pt.constant(value).type)
    if 1 in shape:
        wide = pt.zeros([5 if n == 1 else n for n in value.shape])
        assert evaluate(made + wide, {row: np.ones((1, 2)), any_vector: np.ones(2)}).max() <= 2


NUMBERS = {  # of one integer: what is computed of as many numbers
    "all": lambda n: pt.arange(n),
    "sum": lambda n: pt.exp(pt.arange(n)).sum(),
    "below": lambda n: pt.arange(-1, -n, -1),
    "grid": lambda n: (pt.arange(n)[:, None] * pt.arange(n)[None, :]).max(),
}


@pytest.mark.parametrize("linker", ["vm", "py", "native"])
@pytest.mark.parametrize("name", NUMBERS)
def test_more_numbers_than_an_array_can_have_are_an_error(name: str, linker: str) -> None:
    """Also where their bytes, counted in 64 bits, would be few."""
    n = pt.lscalar("n")
    f = rw.function([n], NUMBERS[name](n), mode=rw.Mode(linker=linker))
    for number in (2**63 - 1, 2**63 - 300, 2**62, 2**61 + 1, 2**60):
        with pytest.raises((ValueError, MemoryError)):
            f(number)
    f(3)


@pytest.mark.parametrize("linker", ["vm", "native"])
def test_few_of_many_numbers_are_computed_alone(linker: str) -> None:
    n = pt.lscalar("n")
    terms = [pt.arange(n)[:3] + 1, pt.arange(-n, 0)[-2:], pt.arange(n)[5::-3]]
    for term, want in zip(terms, ([1, 2, 3], [-2, -1], [5, 2]), strict=True):
        f = rw.function([n], term, mode=rw.Mode(linker=linker))
        for number in (2**63 - 1, 2**60, 7):
            assert f(number).tolist() == want


def test_numbers_near_the_ends_of_int64() -> None:
    a, b, c = pt.lscalars("a", "b", "c")
    f = rw.function([a, b, c], pt.arange(a, b, c))
    assert f(2**63 - 5, 2**63 - 1, 2).tolist() == [2**63 - 5, 2**63 - 3]
    assert f(-(2**63), 2**63 - 1, 2**62).tolist() == [-(2**63), -(2**62), 0, 2**62]
    assert pt.arange(2**63 - 5, 2**63 - 1).type.shape == (4,)
    assert pt.arange(2**63 - 1).type.shape == (2**63 - 1,)
    assert pt.arange(0.0, 1e-300, 1e300).eval().tolist() == np.arange(0.0, 1e-300, 1e300).tolist()
    with pytest.raises(ShapeError, match="more numbers than an array can hold"):
        pt.arange(b).eval({b: 2**63 - 1})
