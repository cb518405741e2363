"""`as_op` (`wrap_py`): a function on values as an op."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile.ops import FromFunctionOp, as_op
from rewrite_engine.errors import ForeignObjectError, GradientError, OptionError


@as_op(itypes=[pt.dvector], otypes=[pt.dvector, pt.lscalar])
def sorted_and_counted(x: Any) -> Any:
    return np.sort(x), x.size


def half(x: Any) -> Any:
    return x[: len(x) // 2]


half_of_vector = as_op(pt.dvector, pt.dvector)(half)


def test_several_outputs() -> None:
    x = pt.dvector("x")
    ordered, count = sorted_and_counted(x)
    f = rw.function([x], [ordered * 2, count + 1])
    got = f([3.0, 1.0])
    assert got[0].tolist() == [2, 6]
    assert got[1] == 3
    assert str(sorted_and_counted) == "sorted_and_counted"


def test_with_the_same_inputs_it_is_computed_once() -> None:
    calls = []

    @rw.wrap_py(itypes=[pt.dvector], otypes=[pt.dvector])
    def traced(x: Any) -> Any:
        calls.append(x)
        return x + 1

    x = pt.dvector("x")
    f = rw.function([x], traced(x) * traced(x))
    assert f([1.0]).tolist() == [4]
    assert len(calls) == 1
    assert rw.wrap_py is rw.as_op


def test_results_are_not_the_arguments() -> None:
    @as_op(pt.dvector, pt.dvector)
    def same(x: Any) -> Any:
        return x

    x = pt.dvector("x")
    f = rw.function([x], [same(x), x])
    at = np.ones(2)
    first, _ = f(at)
    first[0] = 7
    assert at.tolist() == [1, 1]
    assert half_of_vector(x).eval({x: [1.0, 2.0]}).tolist() == [1]


def test_lengths_by_a_function() -> None:
    calls = []

    @as_op([pt.dvector], [pt.dvector], infer_shape=lambda fgraph, node, shapes: [shapes[0]])
    def slow(x: Any) -> Any:
        calls.append(x)
        return x * 2

    x = pt.dvector("x")
    assert rw.function([x], slow(x).shape[0])([1.0, 2.0, 3.0]) == 3
    assert calls == []
    assert rw.function([x], half_of_vector(x).shape[0])([1.0, 2.0, 3.0, 4.0]) == 2


def test_pickling() -> None:
    for op in (sorted_and_counted, half_of_vector):
        assert pickle.loads(pickle.dumps(op)) is op
    x = pt.dvector("x")
    f = pickle.loads(pickle.dumps(rw.function([x], sorted_and_counted(x)[0])))
    assert f([2.0, 1.0]).tolist() == [1, 2]
    assert FromFunctionOp(half, [pt.dvector], [pt.dvector]) is half_of_vector


def test_what_is_wrong_is_told() -> None:
    x = pt.dvector("x")
    with pytest.raises(ForeignObjectError, match="itypes must be a type"):
        as_op(["float64"], [pt.dvector])(half)
    with pytest.raises(TypeError, match="sorted_and_counted"):
        sorted_and_counted(x, x)
    with pytest.raises(TypeError, match="half"):
        half_of_vector(pt.dmatrix("m"))
    with pytest.raises(GradientError, match="half: has no gradient"):
        rw.grad(half_of_vector(x).sum(), x)

    @as_op([pt.dvector], [pt.dvector, pt.dvector])
    def single(x: Any) -> Any:
        return x

    with pytest.raises(OptionError, match="single: returned 1 values, but otypes has 2"):
        rw.function([x], single(x))([1.0])

    @as_op([pt.dvector], [pt.dvector])
    def matrix(x: Any) -> Any:
        return x[None]

    with pytest.raises(TypeError, match="expected 1 dimension for .*, got 2"):
        rw.function([x], matrix(x))([1.0])
