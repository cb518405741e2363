"""Scalar types by name, and constants of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
from rewrite_engine import scalar
from rewrite_engine.errors import DTypeError, NDimError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op


@pytest.mark.parametrize("name", ["int8", "int64", "uint16", "float16", "float64", "complex64"])
def test_a_type_by_its_name(name: str) -> None:
    assert getattr(scalar, name) is scalar.ScalarType(name)
    assert getattr(scalar, name)("x").dtype == name


def test_constants() -> None:
    assert scalar.constant(2).type is scalar.int64
    assert scalar.constant(0.5).type is scalar.float64
    assert scalar.constant(np.float32(0.5), "half").type is scalar.float32
    assert scalar.constant(True).type is scalar.ScalarType("bool")
    assert scalar.constant(2, dtype="int8").data == np.int8(2)
    assert scalar.constant(2, "two").name == "two"
    with pytest.raises(NDimError):
        scalar.constant(np.ones(2))
    with pytest.raises(DTypeError):
        scalar.constant("two")


class Add(Op):
    """The op that the guide to making ops begins with."""

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(op=self, inputs=[self.number(x) for x in inputs], outputs=[scalar.int64()])

    def number(self, x: Any) -> Variable:
        if isinstance(x, int):
            return scalar.constant(x)
        if not isinstance(x, Variable) or not x.type == scalar.int64:
            raise TypeError("expected an int64 ScalarType")
        return x

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        (x, y), (z,) = inputs, output_storage
        z[0] = x + y


def test_an_op_on_numbers() -> None:
    add = Add()
    node = add.make_node(scalar.int64(), scalar.int64())
    storage = [None]
    add.perform(node, (3, 7), (storage,))
    assert storage == [10]
    assert add.make_node(1, 2).inputs[1].data == 2
    assert add.make_node(scalar.int64(), 79).outputs[0].type is scalar.int64
    with pytest.raises(TypeError, match="expected an int64"):
        add.make_node(scalar.float64(), scalar.int64())
    x = scalar.int64("x")
    assert rw.function([x], add(x, 4))(3) == 7
    assert rw.function([], add(1, 2))() == 3
