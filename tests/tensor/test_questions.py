"""What is known of a variable while the graph is built; transfer; constructors of other
libraries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import NDimError, NotConstantError
from rewrite_engine.tensor import questions

x, m = pt.dvector("x"), pt.dmatrix("m")


@pytest.mark.parametrize(
    ("v", "expected"),
    [
        (3, 3),
        (pt.constant(2.5), 2.5),
        (pt.constant(np.full((2, 3), 7)), 7),
        (pt.alloc(3.0, x.shape[0]), 3.0),
        (pt.zeros_like(m), 0.0),
        (pt.constant(1.0).dimshuffle("x", "x"), 1.0),
        (pt.constant(1.0) + 2, 3.0),
    ],
)
def test_the_number_everywhere(v: Any, expected: float) -> None:
    found = pt.get_underlying_scalar_constant_value(v)
    assert found.shape == ()
    assert found == expected


@pytest.mark.parametrize("v", [x, pt.constant([1, 2]), pt.constant(np.ones(0)), x.shape[0]])
def test_no_number_everywhere(v: Any) -> None:
    with pytest.raises(NotConstantError):
        pt.get_underlying_scalar_constant_value(v)
    assert v.get_underlying_scalar_constant(raise_not_constant=False) is v


def test_how_far_is_looked() -> None:
    total = pt.constant(1.0) + 2
    with pytest.raises(NotConstantError):
        pt.get_underlying_scalar_constant_value(total, elemwise=False)
    with pytest.raises(NotConstantError):
        pt.get_underlying_scalar_constant_value(pt.zeros_like(m), only_process_constants=True)
    assert pt.get_scalar_constant_value(total) == 3
    with pytest.raises(NotConstantError, match="dimensions"):
        pt.get_scalar_constant_value(pt.constant([1, 1]))


def test_transfer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "_transfers", [])
    assert pt.transfer(x, "cpu") is x
    with pytest.raises(ValueError, match="unknown target 'moon'"):
        x.transfer("moon")
    pt.register_transfer(lambda v, target: pt.exp(v) if target == "moon" else None)
    assert x.transfer("moon").owner.op is pt.exp
    with pytest.raises(ValueError, match="unknown target 'mars'"):
        x.transfer("mars")


def test_dprint(capsys: pytest.CaptureFixture[str]) -> None:
    pt.exp(x).dprint()
    assert capsys.readouterr().out == "exp [id A]\n └─ x [id B]\n"


# --- constructors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (("xyz",), ["x", "y", "z"]),
        (("x y z",), ["x", "y", "z"]),
        (("x1 y1",), ["x1", "y1"]),
        (("x1", "y1"), ["x1", "y1"]),
        ((["x1", "y"],), ["x1", "y"]),
        ((2,), [None, None]),
        ((None,), [None]),
        ((" x ",), ["x"]),
    ],
)
def test_several_names(given: Any, names: list[Any]) -> None:
    assert [v.name for v in pt.scalars(*given)] == names
    assert [v.type for v in pt.ivectors(*given)] == [pt.ivector] * len(names)
    assert [v.dtype for v in pt.matrices(*given, dtype="int8")] == ["int8"] * len(names)


def test_lists_of_types() -> None:
    assert pt.float_types == pt.float_scalar_types == (pt.fscalar, pt.dscalar)
    assert pt.int_vector_types == (pt.bvector, pt.wvector, pt.ivector, pt.lvector)
    assert pt.complex_matrix_types == (pt.cmatrix, pt.zmatrix)


def test_a_number_as_a_shape() -> None:
    assert pt.TensorType("float64", 3) is pt.TensorType("float64", (3,))


@pytest.mark.parametrize("v", [pt.drow("r"), np.ones((1, 3)), pt.dtensor3("t")[:1, :1]])
def test_dimensions_of_length_1_are_dropped_on_the_left(v: Any) -> None:
    if not isinstance(v, np.ndarray):
        v = pt.specify_shape(v, (1,) * (v.ndim - 1) + (None,))
    assert pt.as_tensor_variable(v, ndim=1).type.ndim == 1


@pytest.mark.parametrize("v", [m, pt.dcol("c"), np.ones((3, 1))])
def test_no_others_are_dropped(v: Any) -> None:
    with pytest.raises(NDimError, match="at most 1"):
        pt.as_tensor_variable(v, ndim=1)


def test_dropped_values() -> None:
    r = pt.drow("r")
    np.testing.assert_array_equal(pt.as_tensor_variable(r, ndim=1).eval({r: [[1, 2.0]]}), [1, 2])


def test_axes_are_integers() -> None:
    with pytest.raises(TypeError):
        pt.tensordot(m, m, axes=[["a"], [0]])
    with pytest.raises(ValueError, match="do not fit"):
        pt.tensordot(m, m, axes=3)


def test_how_far_a_number_is_looked_for():
    inside = pt.alloc(pt.alloc(3.0, 2), 2, 2)
    assert pt.get_underlying_scalar_constant_value(inside, max_recur=2) == 3
    assert pt.get_underlying_scalar_constant_value(pt.constant(3.0), max_recur=0) == 3
    with pytest.raises(NotConstantError):
        pt.get_underlying_scalar_constant_value(inside, max_recur=1, elemwise=False)
    with pytest.raises(NotConstantError):
        pt.get_underlying_scalar_constant_value(pt.exp(pt.constant(0.0)), max_recur=0)
