"""Scalar ops as PyTensor's programs write them: with a function that types outputs."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat import scalar_outputs as outputs
from rewrite_engine.compat import scalars
from rewrite_engine.errors import DTypeError, ForeignObjectError, OptionError
from rewrite_engine.scalar import ScalarType, ops, special

made: Any = scalars
KINDS = {n: ScalarType(n) for n in ("bool", "int8", "int32", "float32", "float64", "complex64")}
bool_, int8, int32, float32, float64, complex64 = KINDS.values()

CASES: list[tuple[Any, tuple[Any, ...], Any]] = [
    (outputs.same_out, (int32,), int32),
    (outputs.same_out_nocomplex, (int32,), int32),
    (outputs.same_out_nocomplex, (complex64,), DTypeError),
    (outputs.same_out_nobool, (bool_,), DTypeError),
    (outputs.same_out_float_only, (float32,), float32),
    (outputs.same_out_float_only, (int8,), DTypeError),
    (outputs.same_out_min8, (bool_,), int8),
    (outputs.upcast_out, (int32, float32), float64),
    (outputs.upcast_out, (bool_, int8), int8),
    (outputs.upcast_out_nobool, (bool_, bool_), DTypeError),
    (outputs.upcast_out_nobool, (bool_, int8), int8),
    (outputs.upcast_out_min8, (bool_, bool_), int8),
    (outputs.upcast_out_no_complex, (complex64, int8), DTypeError),
    (outputs.upgrade_to_float, (int32,), float64),
    (outputs.upgrade_to_float, (int8, bool_), float32),
    (outputs.upgrade_to_float, (complex64,), complex64),
    (outputs.upgrade_to_float_no_complex, (complex64,), DTypeError),
    (outputs.upgrade_to_float64, (float32,), float64),
    (outputs.int_out, (float32,), ScalarType("int64")),
    (outputs.int_out_nocomplex, (complex64,), DTypeError),
    (outputs.float_out, (int8, int8), float64),
    (outputs.float_out_nocomplex, (complex64,), DTypeError),
    (outputs.specific_out(float32), (int8, complex64), float32),
    (outputs.transfer_type(1), (int32, float32), float32),
    (outputs.transfer_type(None), (int32, float32), float64),
    (outputs.unary_out_lookup({int8: int32}), (int8,), int32),
    (outputs.unary_out_lookup({int8: int32}), (int32,), DTypeError),
]


@pytest.mark.parametrize(("function", "types", "expected"), CASES)
def test_types_of_outputs(function: Any, types: Any, expected: Any) -> None:
    if expected is DTypeError:
        with pytest.raises(TypeError):
            function(*types)
    else:
        assert tuple(function(*types)) == (expected,)


def test_functions_with_arguments_compare_by_these() -> None:
    assert outputs.transfer_type(1) == outputs.transfer_type(1)
    assert outputs.transfer_type(1) != outputs.transfer_type(0)
    assert outputs.transfer_type(1, 0)(int32, float32) == (float32, int32)
    assert outputs.specific_out(int8) == outputs.specific_out(int8)


def values_of(op: Any, *arrays: Any) -> Any:
    variables = [pt.as_tensor_variable(a).type() for a in arrays]
    return rw.function(variables, pt.Elemwise(op)(*variables))(*arrays)


def test_ops_of_the_library_with_other_outputs() -> None:
    """`Add(upgrade_to_float, name="k")`: values are those of the op in the type of the output."""
    add = made.Add(outputs.upgrade_to_float, name="k")
    assert (str(add), add.name, add(int32(), int32()).type) == ("k", "k", float64)
    assert isinstance(add, made.Add)
    a, b = np.array([100, 2], "int8"), np.array([100, 3], "int8")
    found = values_of(add, a, b)
    assert (found.dtype, found.tolist()) == (np.dtype("float32"), [200, 5])
    narrow = values_of(made.Exp(outputs.same_out, name="e"), np.array([0, 1, 2], "int32"))
    assert (narrow.dtype, narrow.tolist()) == (np.dtype("int32"), [1, 2, 7])
    second = made.Second(outputs.transfer_type(0), name="s")
    assert values_of(second, np.zeros(2, "float32"), np.ones(2)).dtype == np.dtype("float32")
    with pytest.raises(TypeError, match="not defined"):
        made.Mul(outputs.same_out)(int32(), int32())
    x = pt.dvector("x")
    slope = rw.grad(pt.Elemwise(made.Exp(outputs.float_out, name="e"))(x).sum(), x)
    np.testing.assert_allclose(slope.eval({x: [0.0, 1.0]}), np.exp([0.0, 1.0]))


def test_what_an_op_of_the_library_is_already_is_that_op() -> None:
    """So rules know it: without arguments, and with those that say what it is."""
    assert made.Add() is ops.add
    assert made.Add(outputs.upcast_out, name="add") is ops.add
    assert made.Exp(outputs.upgrade_to_float) is ops.exp
    assert made.Gamma() is special.gamma
    again = made.Add(outputs.float_out), made.Add(outputs.float_out)
    assert again[0] is again[1] is not ops.add
    assert hash(again[0]) == hash(again[1])
    assert pickle.loads(pickle.dumps(ops.add)) is ops.add
    assert pickle.loads(pickle.dumps(again[0])) is again[0]


class Weighted(made.ScalarOpOfOthers):  # type: ignore[misc]
    nin = 2

    def impl(self, x: Any, y: Any) -> Any:
        return 2 * x + y

    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        (g,) = output_gradients
        return [g * 2, g]


class Larger(made.BinaryScalarOp):  # type: ignore[misc]
    """Of single numbers: `if` is not for arrays."""

    def impl(self, x: Any, y: Any) -> Any:
        return math.floor(x) if x > y else y

    def output_types(self, types: Any) -> Any:
        return [types[1]]


class Halved(made.UnaryScalarOp):  # type: ignore[misc]
    """Its type is said by an attribute, its gradient by `L_op`."""

    output_types_preference = staticmethod(outputs.upgrade_to_float)

    def impl(self, x: Any) -> Any:
        return x / 2

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        return [output_gradients[0] * outputs[0] / inputs[0]]


def test_an_op_of_ones_own() -> None:
    assert (Weighted.nin, Weighted().nin) == (2, 2)
    weighted = Weighted(outputs.upgrade_to_float, name="weighted")
    assert Weighted(outputs.upgrade_to_float, name="weighted") is weighted
    assert weighted(int32(), 3).type == float64
    assert Weighted(outputs.upcast_out)(int32(), int32()).type == int32
    assert Weighted(lambda *types: [types[1]])(int32(), float32()).type == float32
    assert pickle.loads(pickle.dumps(weighted)) is weighted
    a, b = np.array([1, 2], "int32"), np.array([3.0, 4.0])
    assert values_of(weighted, a, b).tolist() == [5, 8]
    rw.gradient.verify_grad(pt.Elemwise(weighted), [b, b + 1], rng=np.random.default_rng(0))
    with pytest.raises(TypeError, match="takes 2 inputs, not 1"):
        weighted(int32())


def test_ops_that_say_their_types_otherwise() -> None:
    assert Larger()(float64(), int32()).type == int32
    got = values_of(Larger(), np.array([1.5, -2.0, 7.9]), np.array([1, 2, 3], "int32"))
    assert (got.dtype, got.tolist()) == (np.dtype("int32"), [1, 2, 7])
    assert Halved()(int8()).type == float32
    assert values_of(Halved(), np.array([1, 2], "int8")).tolist() == [0.5, 1]
    x = np.array([0.5, 1.5])
    rw.gradient.verify_grad(pt.Elemwise(Halved()), [x], rng=np.random.default_rng(0))


def test_a_function_of_types_in_the_class() -> None:
    """As an attribute, a method, or a static one; what an instance is given comes first."""

    def second(self: Any, *types: Any) -> Any:
        return [types[1]]

    for own in (outputs.upgrade_to_float, second, staticmethod(lambda x, y: [y])):
        made_here = type(Weighted)("Own", (Weighted,), {"output_types_preference": own})
        assert made_here()(int32(), float64()).type == float64
        assert made_here() is made_here()
        assert made_here(outputs.int_out)(int32(), float64()).type == ScalarType("int64")
        assert values_of(made_here(), np.array([1], "int8"), np.array([2.0])).tolist() == [4]


def test_wrong_functions_are_told() -> None:
    with pytest.raises(ForeignObjectError, match="function of types, not int 3"):
        made.Add(3)
    for wrong in (lambda *types: "float64", lambda *types: [], lambda *types: [pt.dvector]):
        with pytest.raises(OptionError, match="list of one scalar type"):
            Weighted(wrong)(int32(), int32())


def test_which_ops_are_scalar_ops_of_others() -> None:
    every, unary, binary = made.ScalarOpOfOthers, made.UnaryScalarOp, made.BinaryScalarOp
    x = ScalarType("float64")("x")
    composite = rw.scalar.Composite([x], [ops.exp(x) + 1])
    assert all(isinstance(op, every) for op in (ops.exp, ops.add, composite, Weighted()))
    assert [isinstance(ops.exp, one) for one in (unary, binary)] == [True, False]
    assert [isinstance(ops.sub, one) for one in (unary, binary)] == [False, True]
    assert not isinstance(pt.exp, every)
    assert issubclass(type(ops.exp), every)
    assert issubclass(type(composite), every)
    assert not isinstance(ops.exp, Weighted)
