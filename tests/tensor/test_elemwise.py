"""Elemwise: typing, broadcasting, numbers, in-place, values against NumPy, gradients."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import BroadcastError, DTypeError, ForeignObjectError, ShapeError
from rewrite_engine.scalar import DTYPES, ScalarOp, ScalarType, ops
from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.tensor.elemwise import Elemwise
from tests.tensor.evaluate import evaluate

TABLE = [v for v in vars(ops).values() if isinstance(v, ScalarOp)]
BINARY = {op.name: op.ufunc for op in TABLE if op.nin in (2, None) and op.ufunc}
dims = st.integers(0, 3)


@st.composite
def broadcastable(draw, count=2):
    """Shapes that broadcast, and static shapes that say some of it (all 1s that broadcast)."""
    full = draw(st.lists(dims, max_size=3))
    result = []
    for _ in range(count):
        cut = draw(st.integers(0, len(full)))
        ones = draw(st.lists(st.booleans(), min_size=len(full) - cut, max_size=len(full) - cut))
        shape = tuple(1 if one else n for n, one in zip(full[cut:], ones))
        hide = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
        static = tuple(None if h and n != 1 else n for n, h in zip(shape, hide))
        result.append((shape, static))
    return result


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(BINARY)),
    st.sampled_from(DTYPES),
    st.sampled_from(DTYPES),
    broadcastable(),
    st.integers(0, 2**31),
)
def test_static_types_agree_with_numpy(name, d1, d2, shapes, seed):
    rng = np.random.default_rng(seed)
    values = [(rng.integers(1, 5, size=s)).astype(d) for (s, _), d in zip(shapes, (d1, d2))]
    inputs = [pt.TensorType(d, static)() for (_, static), d in zip(shapes, (d1, d2))]
    op = getattr(pt, name)
    arrays = values
    if op.scalar_op.inner is float_dtype:
        wide = float_dtype(
            d1, d2
        )  # (of mixed dtypes SciPy takes the first loop that is wide enough)
        arrays = [v.astype(wide) for v in values]
    try:
        with np.errstate(all="ignore"):
            wanted = np.asarray(BINARY[name](*arrays))
    except TypeError:
        with pytest.raises(DTypeError, match=name):
            op(*inputs)
        return
    out = op(*inputs)
    assert out.type.dtype == wanted.dtype.name
    got = evaluate(out, dict(zip(inputs, values)))
    assert out.type.is_valid_value(got)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("op", [op for op in TABLE if op.nin == 1 and op.ufunc], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unary_values_everywhere(op, dtype):
    x = pt.tensor("x", dtype=dtype, shape=(None,))
    a = np.array([-2.5, -0.5, 0, 0.3, 0.9, 1, 4]).astype(dtype)
    try:
        wanted = op.ufunc(a if op.inner is not float_dtype else a.astype(float_dtype(dtype)))
    except TypeError:
        with pytest.raises(DTypeError):
            getattr(pt, op.name)(x)
        return
    out = getattr(pt, op.name)(x)
    assert out.type.dtype == wanted.dtype.name
    np.testing.assert_allclose(evaluate(out, {x: a}), wanted, rtol=1e-5)


def test_ternary_values():
    c, x, y = pt.bvector("c"), pt.vector("x"), pt.vector("y")
    a, b = np.array([1.0, 2, 3]), np.array([9.0, 8, 7])
    got = evaluate(pt.switch(c, x, y), {c: np.array([0, 1, 0], "int8"), x: a, y: b})
    np.testing.assert_array_equal(got, [9, 2, 7])
    assert pt.where(c, x, y).owner.op is pt.switch
    np.testing.assert_array_equal(evaluate(pt.where(c)[0], {c: np.array([0, 1, 0], "int8")}), [1])
    assert pt.switch(c, pt.fvector(), 0.5).dtype == "float32"
    np.testing.assert_array_equal(evaluate(pt.clip(x, 1.5, 2.5), {x: a}), [1.5, 2, 2.5])
    np.testing.assert_array_equal(evaluate(pt.second(x, 5), {x: a}), [5, 5, 5])
    assert pt.second(x, np.int8(5)).dtype == "int8"


# --- static shapes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ((None,), (3,), (3,)),
        ((None,), (1,), (None,)),
        ((1,), (3,), (3,)),
        ((None, None), (3,), (None, 3)),
        ((2, 1), (1, 3), (2, 3)),
        ((), (None,), (None,)),
        ((0,), (1,), (0,)),
    ],
)
def test_static_shapes(a, b, wanted):
    x, y = pt.TensorType("float64", a)(), pt.TensorType("float64", b)()
    assert (x + y).type.shape == wanted
    assert (y + x).type.shape == wanted
    assert len((x + y).owner.inputs) == 2


def test_static_mismatch_names_op_types_and_line():
    x, y = pt.matrix("x", shape=(2, 3)), pt.vector("y", shape=(4,))
    with pytest.raises(BroadcastError) as info:
        x + y  # the user's line
    text = str(info.value)
    assert text.startswith("add: cannot broadcast shapes (2, 3) and (4,)")
    assert "float64" in text
    assert "test_elemwise.py" in text
    assert "x + y  # the user's line" in text


def test_a_one_that_is_not_static_does_not_broadcast():
    x, y = pt.vector("x"), pt.vector("y")
    z = x * y
    with pytest.raises(BroadcastError, match="declare it"):
        evaluate(z, {x: np.ones(1), y: np.ones(3)})
    with pytest.raises(BroadcastError, match=r"dimension 0 .* 2, dimension 0 .* 3\n"):
        evaluate(z, {x: np.ones(2), y: np.ones(3)})
    one = pt.vector("one", shape=(1,))
    assert evaluate(one * y, {one: [2.0], y: np.ones(3)}).tolist() == [2, 2, 2]
    assert evaluate(z, {x: np.ones(1), y: np.ones(1)}).tolist() == [1]


def test_infer_shape():
    x, r, v = pt.matrix("x"), pt.row("r"), pt.vector("v", shape=(5,))
    node = pt.add(r, x, v).owner
    rows, columns = object(), object()
    ((first, second),) = pt.add.infer_shape(None, node, [(1, None), (rows, columns), (None,)])
    assert first is rows
    assert second.number == 5


# --- numbers among the operands ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [2, 0.5, 1j])
@pytest.mark.parametrize("name", ["add", "mul", "true_div", "lt"])
def test_python_numbers_are_weak(dtype, number, name):
    x = pt.TensorType(dtype, (None,))()
    a = np.ones(2, dtype)
    wanted = BINARY[name](a, number)
    for _ in range(2):  # the second time it is remembered
        out = getattr(pt, name)(x, number)
        assert out.dtype == wanted.dtype.name
    np.testing.assert_allclose(evaluate(out, {x: a}), wanted)


def test_equal_numbers_are_one_constant():
    x, y = pt.vectors("x y")
    assert (x + 1).owner.inputs[1] is (y * 1).owner.inputs[1]
    assert (x + 1).owner.inputs[1] is not (x + 2).owner.inputs[1]
    assert (1 - x).owner.inputs[0].number == 1.0
    assert (x + 1).owner.inputs[1].dtype == "float64"
    assert np.signbit((x + -0.0).owner.inputs[1].data)
    assert not np.signbit((x + 0.0).owner.inputs[1].data)
    assert pt.second(x, True).owner.inputs[1].dtype == "bool"
    assert (x + 1).owner.inputs[1].dtype == "float64"


@pytest.mark.parametrize(
    ("term", "dtype"),
    [
        (lambda f, two: f - two, "float32"),
        (lambda f, two: two * f, "float32"),
        (lambda f, two: pt.log(two), "float32"),
        (lambda f, two: f * (two + two - 1), "float32"),
        (lambda f, two: pt.switch(f > two, f, two), "float32"),
        (lambda f, two: f * pt.lvector(), "float64"),
        (lambda f, two: two * pt.lvector(), "int64"),
        (lambda f, two: two * pt.dvector(), "float64"),
        (lambda f, two: two * pt.bvector(), "int64"),
        (lambda f, two: f * pt.constant(np.int64(2)), "float64"),
        (lambda f, two: f * pt.constant([2]), "float64"),
        (lambda f, two: pt.eq(two, f), "bool"),
    ],
)
def test_integers_stay_weak_as_constants_where_floats_are_narrow(term, dtype):
    with rw.config.change_flags(floatX="float32"):
        made = term(pt.vector("f"), pt.as_tensor_variable(2))
        assert made.type.dtype == dtype
        again = term(pt.vector("f"), pt.as_tensor_variable(2))  # types are remembered
        assert again.type.dtype == dtype
    strong = pt.fvector("f") * pt.as_tensor_variable(2)
    assert strong.type.dtype == "float64"


def test_integers_alone_make_floats_of_floatx():
    with rw.config.change_flags(floatX="float32"):
        made = [pt.log(2), pt.sqrt(3), pt.switch(pt.scalar(dtype="bool"), -np.inf, 0), pt.abs(-2)]
        kinds = [v.type.dtype for v in made]
        assert kinds == ["float32", "float32", "float32", "int64"]
        two = pt.as_tensor_variable(2)
        assert (two**2).data == 4
        assert not two.equals(pt.constant(np.int64(2)))
    assert [pt.log(2).type.dtype, pt.sqrt(3).type.dtype] == ["float64", "float64"]


def test_numpy_scalars_and_arrays_are_not_weak():
    x = pt.fvector("x")
    assert (x + np.float64(1)).dtype == "float64"
    assert (np.float64(1) + x).dtype == "float64"
    assert (np.ones(3) + x).type.shape == (3,)
    assert (x + [1.0, 2.0]).type is pt.TensorType("float64", (2,))
    assert (np.ones(3) < x).owner.op is pt.lt


def test_numbers_that_do_not_fit():
    x = pt.bvector("x")
    with pytest.raises(DTypeError, match=r"add: .*300 does not fit in int8"):
        x + 300
    assert evaluate(x < 300, {x: np.array([1], "int8")}).tolist() == [True]


def test_floatx_decides_about_floats_beside_integers(monkeypatch):
    x = pt.bvector("x")
    assert (x + 0.25).dtype == "float64"
    monkeypatch.setattr(config, "floatX", "float32")
    assert (x + 0.25).dtype == "float32"


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize("thing", ["abc", None, object(), {1: 2}])
def test_foreign_objects(thing):
    x = pt.vector("x")
    with pytest.raises(ForeignObjectError, match="add: takes tensors, not"):
        x + thing


def test_scalar_variables_are_numbers():
    x = ScalarType("float64")()
    assert rw.function([x], pt.exp(x))(2.0) == np.exp(2.0)


def test_unsupported_dtypes_name_the_op_and_the_line():
    x = pt.tensor("x", dtype="bool", shape=(None,))
    with pytest.raises(DTypeError, match="sub: is not defined for dtypes bool, bool") as info:
        x - x
    assert "test_elemwise.py" in str(info.value)
    with pytest.raises(DTypeError, match="floor"):
        pt.floor(pt.cvector())
    with pytest.raises(DTypeError, match="and_"):
        pt.vector() & pt.vector()
    assert pt.exp(pt.cvector()).dtype == "complex64"


def test_wrong_number_of_inputs():
    x = pt.vector("x")
    for args in [(), (x,), (x, x, x)]:
        with pytest.raises(TypeError, match="sub: takes 2 inputs"):
            pt.sub(*args)
    with pytest.raises(TypeError, match="at least 1"):
        pt.add()
    with pytest.raises(TypeError, match="exp: takes 1 input,"):
        pt.exp(x, x)


# --- the op itself ----------------------------------------------------------------------------


def test_identity_and_pickling():
    assert Elemwise(ops.exp) is pt.exp
    assert str(pt.exp) == "exp"
    assert pickle.loads(pickle.dumps(pt.exp)) is pt.exp
    assert pt.add.associative
    assert pt.add.commutative
    assert pt.mul.identity == 1
    assert pt.exp(pt.vector("x")).head is pt.exp


def test_call_options():
    x = pt.vector("x")
    assert pt.exp(x, name="e").name == "e"
    assert pt.exp(x, return_list=True)[0].owner.op is pt.exp
    assert pt.add(x).type is x.type
    node = pt.exp.make_node(x)
    assert pt.exp.make_node(*node.inputs).outputs[0].type is node.outputs[0].type


def test_provenance():
    x = pt.vector("x")
    y = pt.exp(x)
    z = x + 1
    where = [v.owner.where() for v in (y, z)]
    assert where[0][0].endswith("test_elemwise.py")
    assert where[1][1] == where[0][1] + 1


def test_inplace():
    x, y = pt.matrix("x"), pt.row("y")
    node = pt.add(x, y).owner
    op = pt.add.inplace_on_inputs([0, 1], node)
    assert op.destroy_map == {0: [0]}
    assert pt.add.inplace_on_inputs([1], node) is None
    assert pt.add.inplace_on_inputs([0], pt.add(pt.fmatrix(), x).owner) is None
    assert pt.add.inplace_on_inputs([0], pt.add(pt.vector(), x).owner) is None
    assert pt.lt.inplace_on_inputs([0], pt.lt(x, x).owner) is None
    assert op.inplace_on_inputs([0], node) is None
    assert Elemwise(ops.add, {0: 0}) is op
    assert pickle.loads(pickle.dumps(op)) is op
    with pytest.raises(ShapeError, match="does not fit"):
        Elemwise(ops.add, {0: 1})(x, y)
    a, cells = np.ones((2, 2)), [[None]]
    op.perform(op.make_node(x, y), [a, np.ones((1, 2))], cells)
    assert cells[0][0] is a
    assert a.tolist() == [[2, 2], [2, 2]]


def test_flops():
    assert pt.add.flops([(2, 3), (2, 3), (3,)], [(2, 3)]) == 12
    assert pt.neg.flops([(4,)], [(4,)]) == 4


# --- functions that are not ops ---------------------------------------------------------------


def test_cast():
    x = pt.vector("x")
    assert pt.cast(x, "float64") is x
    assert x.astype("int8").dtype == "int8"
    assert pt.cast(3, "float32").dtype == "float32"
    with pytest.raises(DTypeError):
        pt.cast(x, "strange")
    with pytest.raises(DTypeError, match="complex"):
        pt.cast(pt.cvector(), "float32")


def test_isclose():
    x, y = pt.vectors("x y")
    a, b = np.array([1.0, np.inf, np.nan, 1, np.inf]), np.array([1 + 1e-9, np.inf, np.nan, 2, 0.0])
    with np.errstate(all="ignore"):
        for equal_nan in (False, True):
            got = evaluate(pt.isclose(x, y, equal_nan=equal_nan), {x: a, y: b})
            np.testing.assert_array_equal(got, np.isclose(a, b, equal_nan=equal_nan))
