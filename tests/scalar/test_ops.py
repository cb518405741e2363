"""Scalar ops: dtypes, values, numbers among the operands, pickling."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import DTypeError, ForeignObjectError, NDimError, OptionError
from rewrite_engine.scalar import DTYPES, Cast, ScalarOp, ScalarType, ops
from rewrite_engine.scalar.dtype import DISCRETE, float_dtype, weak_dtype

UFUNCS = [op for op in vars(ops).values() if isinstance(op, ScalarOp) and op.function is not None]


def sample(dtype, n=5):
    return np.array([0.5, 1, 2, 3, 7][:n]).astype(dtype)


@pytest.mark.parametrize("op", UFUNCS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_those_of_the_ufunc(op, dtype):
    args = [sample(float_dtype(dtype) if op.inner is float_dtype else dtype)] * op.ufunc.nin
    try:
        with np.errstate(all="ignore"):
            wanted = op.ufunc(*args).dtype.name
    except TypeError:
        with pytest.raises(DTypeError, match=f"{op}: is not defined for dtype"):
            op.result_dtypes((dtype,) * len(args))
        return
    assert op.result_dtypes((dtype,) * len(args)) == (wanted,)


@pytest.mark.parametrize("op", [v for v in vars(ops).values() if isinstance(v, ScalarOp)], ids=str)
@pytest.mark.parametrize("dtype", sorted(DISCRETE))
def test_floats_made_of_integers_are_float32_or_float64(op, dtype):
    wide = "float64" if op is ops.true_div or np.dtype(dtype).itemsize > 2 else "float32"
    try:
        (found,) = op.result_dtypes((dtype,) * (op.nin or 2))
    except DTypeError:
        return
    if found.startswith("complex"):
        assert found == {"float32": "complex64", "float64": "complex128"}[wide]
        return
    assert found in DISCRETE or found == wide
    values = sample(dtype, 4)
    values = [values if dtype == "bool" else values + 1] * (op.nin or 2)
    with np.errstate(all="ignore"):
        got = op.impl(*values)
        wanted = op.impl(*[v.astype(found) for v in values]) if found == wide else got
    assert got.dtype == found
    np.testing.assert_array_equal(got, wanted)


def test_quotients_of_integers_follow_floatX():
    i, j = pt.bvector("i"), pt.lvector("j")
    for floatX in ("float64", "float32", "float64"):
        with config.change_flags(floatX=floatX):
            assert pt.true_div(i, j).dtype == pt.true_div(i, 3).dtype == floatX
            assert pt.true_div(i, pt.fvector()).dtype == "float32"
    for built, runs in (("float64", "float32"), ("float32", "float64")):
        with config.change_flags(floatX=built):
            third = i / 3
        with config.change_flags(floatX=runs):
            for mode in ("fast_run", "fast_compile"):
                found = rw.function([i], third, mode=mode)([1])
                assert found.dtype == built
                assert found == np.dtype(built).type(1) / np.dtype(built).type(3)
            assert third.eval({i: [1]}) == np.dtype(built).type(1) / np.dtype(built).type(3)


def test_importing_needs_no_scipy():
    code = "import rewrite_engine.scalar, rewrite_engine.tensor, sys; print('scipy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_importing_tensors_needs_no_graph():
    code = (
        "import sys, rewrite_engine.tensor; print('rewrite_engine.graph.fgraph' in sys.modules); "
        "from rewrite_engine.scalar import Composite; print(Composite.__name__)"
    )
    out = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert out.split() == ["False", "Composite"]


def test_variadic_ops_compute_in_the_dtype_of_the_result():
    a, b, c = np.array([100], "int8"), np.array([100], "int8"), np.array([1], "int64")
    assert ops.add.impl(a, b, c) == 201
    assert ops.add.result_dtypes(("int8", "int8", "int64")) == ("int64",)
    assert ops.mul.impl(a) == 100
    assert ops.maximum.impl(np.array([1.0, np.nan]), np.zeros(2), np.ones(2))[0] == 1.0


def test_variadic_ops_may_write_into_any_operand():
    for k in range(4):
        args = [np.full(3, float(i + 1)) for i in range(4)]
        out = args[k]
        assert ops.add.impl(*args, out=out) is out
        np.testing.assert_array_equal(out, [10.0] * 3)


@pytest.mark.parametrize(
    "op", [ops.switch, ops.clip, ops.second, ops.log1mexp, ops.softplus], ids=str
)
def test_computed_ops_may_write_into_any_operand(op):
    def args():
        return [np.array([-1.0, -2.0, -0.5]) * (i + 1) for i in range(op.nin)]

    wanted = op.impl(*args())
    for k in range(op.nin):
        given = args()
        result = op.impl(*given, out=given[k])
        np.testing.assert_array_equal(result, wanted)
        assert result is given[k]


@pytest.mark.parametrize(
    ("value", "beside", "dtype"),
    [
        (0.1, "float32", "float32"),
        (1, "int8", "int8"),
        (1, "float32", "float32"),
        (1, "bool", "int64"),
        (1, None, "int64"),
        (0.5, "int64", "float64"),
        (0.5, "complex64", "float32"),
        (True, "float32", "bool"),
        (1j, "float32", "complex64"),
        (1j, "int64", "complex128"),
        (1j, "complex64", "complex64"),
        (2.0, None, "float64"),
    ],
)
def test_weak_numbers(value, beside, dtype):
    assert weak_dtype(value, beside) == dtype
    if beside is not None:
        result = np.add(np.ones(1, beside), value).dtype
        assert ops.add.result_dtypes((beside, dtype)) == (result.name,)


def test_weak_numbers_that_do_not_fit():
    with pytest.raises(DTypeError, match="300 does not fit in int8"):
        weak_dtype(300, "int8")
    assert ops.lt.weak_dtypes(["int8", None], [None, 300]) == ["int8", "int64"]


def test_special_values():
    x = np.array([-800.0, -1e-10, -1.0])
    exact = [-math.exp(-800.0), math.log(-math.expm1(-1e-10)), math.log(-math.expm1(-1.0))]
    np.testing.assert_allclose(ops.log1mexp.impl(x), exact, rtol=1e-12)
    assert ops.softplus.impl(np.array(1000.0)) == 1000.0
    assert ops.softplus.impl(np.array(-1000.0)) == 0.0
    assert ops.sigmoid.impl(np.array(-800.0)) == pytest.approx(0.0)
    np.testing.assert_array_equal(ops.round.impl(np.array([0.5, 1.5, -2.5])), [0, 2, -2])


def test_casts():
    assert Cast("int8") is Cast(np.int8)
    assert Cast("int8").impl(np.array([1.9, -1.9])).tolist() == [1, -1]
    assert Cast("bool").result_dtypes(("float64",)) == ("bool",)
    assert str(Cast("float32")) == "Cast{float32}"
    with pytest.raises(DTypeError, match="complex"):
        Cast("float64").result_dtypes(("complex64",))


def test_ops_are_one_object_each():
    assert pickle.loads(pickle.dumps(ops.exp)) is ops.exp
    assert copy.deepcopy(ops.exp) is ops.exp
    assert pickle.loads(pickle.dumps(Cast("int8"))) is Cast("int8")
    assert str(ops.true_div) == "true_div"


def test_an_op_of_a_user_is_its_own_whatever_its_name():
    """What was said of an op tells it: a name may have been given before, by the library too."""
    x = pt.vector("x")
    twice, half = (ScalarOp("sin", 1, compute=fn, dtypes=lambda d: d) for fn in (_twice, _half))
    assert len({ops.sin, twice, half}) == 3
    assert not twice.listed
    out = [pt.Elemwise(op)(x) for op in (ops.sin, twice, half)]
    for linker in ("vm", "py"):
        values = rw.function([x], out, mode=rw.Mode(linker=linker))([1.0, 3.0])
        np.testing.assert_array_equal(values, [np.sin([1.0, 3.0]), [2.0, 6.0], [0.5, 1.5]])
    names = ["switch", "clip", "second", "identity"]
    mine = [ScalarOp(name, 1, compute=_twice, dtypes=float_dtype) for name in names]
    both = [pt.Elemwise(op)(v) for op in mine for v in (x, x[0])]
    assert all(np.all(v == 2.0) for v in rw.function([x], both)([1.0]))


def test_an_op_of_a_user_is_pickled():
    op, n = ScalarOp("sin", 1, compute=_twice, inner=float_dtype, dtypes=float_dtype), 7
    assert ScalarOp("sin", 1, compute=_twice, inner=float_dtype, dtypes=float_dtype) is op
    assert pickle.loads(pickle.dumps(op)) is op is copy.deepcopy(op)
    data = pickle.dumps(op)
    del op
    loaded = pickle.loads(data)  # nothing is left of the first one
    np.testing.assert_array_equal(loaded.impl(np.arange(n)), 2.0 * np.arange(n))


def _twice(x, out=None):
    return np.multiply(x, 2, out=out)


def _half(x, out=None):
    return np.divide(x, 2, out=out)


def test_algebra_is_declared():
    assert ops.add.associative
    assert ops.add.commutative
    assert ops.add.identity == 0
    assert ops.mul.absorbing == 0
    assert ops.maximum.idempotent
    assert not ops.sub.commutative
    assert ops.eq.commutative


def test_arity_is_checked():
    for args in [(), ("float64",), ("float64",) * 3]:
        with pytest.raises(TypeError, match="sub: takes 2 inputs"):
            ops.sub.result_dtypes(args)
    with pytest.raises(TypeError, match="at least 1"):
        ops.add.result_dtypes(())


# --- scalar variables -------------------------------------------------------------------------


@pytest.mark.parametrize("f", [
    lambda a, b: a // b, lambda a, b: a % b, lambda a, b: a**b, lambda a, b: 7 // b,
    lambda a, b: 7 % b, lambda a, b: 2**b, lambda a, b: a < b, lambda a, b: a <= 5,
    lambda a, b: b > 1, lambda a, b: a >= b, lambda a, b: a & b, lambda a, b: 6 | b,
    lambda a, b: a ^ 3, lambda a, b: ~a & b, lambda a, b: (a > 4) & (b < 3),
    lambda a, b: a.astype("float64") / b,
])  # fmt: skip
def test_operators_are_those_of_numbers(f):
    a, b = ScalarType("int64")("a"), ScalarType("int64")("b")
    got = f(a, b).eval({a: 5, b: 2}, on_unused_input="ignore")
    assert got == f(np.int64(5), np.int64(2))
    assert got.dtype == f(np.int64(5), np.int64(2)).dtype


def test_scalar_graphs():
    x = ScalarType("float32")("x")
    y = ops.exp(x * 2 + 1) / (1 - x) - abs(-x) ** 2
    assert y.type is ScalarType("float32")
    assert ops.lt(x, 1).type.dtype == "bool"
    assert ops.cast(x, "int8").type.dtype == "int8"
    assert ops.cast(x, "float32") is x
    with pytest.raises(ForeignObjectError, match="takes numbers and scalar variables, not "):
        ops.add(x, [1, 2])
    with pytest.raises(TypeError):
        bool(x)


def test_scalar_type_filters():
    t = ScalarType("float32")
    assert t is ScalarType("float32")
    assert t.filter(2).dtype == np.float32
    assert t.filter(0.1) == np.float32(0.1)
    for bad in (1j, "a", np.float64(0.1), None):
        with pytest.raises(DTypeError):
            t.filter(bad)
    with pytest.raises(NDimError):
        t.filter([1.0])
    with pytest.raises(DTypeError):
        ScalarType("int8").filter(1.5)
    assert t.make_constant(1.0).signature() != t.make_constant(-1.0).signature()
    assert t.values_eq(np.float32("nan"), np.float32("nan"))


def test_gradients_work_on_scalars():
    x = ScalarType("float64")("x")
    g = ScalarType("float64")("g")
    (dx,) = ops.sin.pullback(ops, [g], [ops.sin(x)], [x], [0])
    assert str(dx) == "mul(g, cos(x))" or dx.owner.op is ops.mul


@pytest.mark.parametrize(
    ("nin", "options", "what"),
    [
        (1, {"rnge": "(0, 1)"}, r"ScalarOp\('mine', …\) has no option 'rnge'; did you mean range"),
        (2, {"comutative": True}, "has no option 'comutative'; did you mean commutative"),
        (2, {"grad": (_twice,)}, "mine: grad must be a function for each of 2 inputs"),
        (1, {"grad": (_twice, _twice)}, "mine: grad must be a function for each of 1 inputs"),
        (2, {"grad": (None, _twice)}, "for each of 2 inputs, or one for all, not .None"),
        (1, {"range": "(1, 0)"}, r"'\(1, 0\)' is not an interval"),
        (1, {"range": "0..1"}, r"'0\.\.1' is not an interval"),
        (1, {"domain": "0, 1"}, "'0, 1' is not an interval"),
        (2, {"domain": ["(0, 1)", ""]}, "'' is not an interval"),
    ],
)
def test_what_is_said_of_an_op_has_to_make_sense(nin, options, what):
    with pytest.raises(OptionError, match=what):
        ScalarOp("mine", nin, compute=_twice, inner=float_dtype, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("linker", ["vm", "py", "native"])
def test_what_a_float_is_as_uint32_does_not_depend_on_its_place(linker: str, dtype: str) -> None:
    far = [-1.5, 2.0**32 + 512, -(2.0**31) - 512, 1e10, -1e10, 1e30, np.inf, -np.inf, np.nan]
    x = pt.vector(dtype=dtype)
    f = rw.function([x], [x.astype("uint32"), x[0].astype("uint32")], mode=rw.Mode(linker=linker))
    with np.errstate(invalid="ignore"):
        for value in far:
            for n in (1, 2, 3, 8, 33):
                found = {int(v) for one in f(np.full(n, value, dtype)) for v in np.ravel(one)}
                assert found == {int(np.asarray(value, dtype).astype("int64")) % 2**32}
