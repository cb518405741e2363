"""What the tensor ops declare about memory is what happens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.gradient.stops import DisconnectedGrad
from rewrite_engine.graph.memory import check_memory
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.scalar import ops as scalar
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.shaping.joins import Split

SCALAR_OPS = {name: op for name, op in vars(scalar).items() if isinstance(op, ScalarOp)}


def check(outputs: list[Variable], values: dict[Variable, Any]) -> int:
    """Check every node on the values that reach it."""
    cells = dict(values)
    for node in toposort(outputs):
        inputs = [v.data if isinstance(v, Constant) else cells[v] for v in node.inputs]
        check_memory(node, inputs)
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, [np.array(x) for x in inputs], storage)
        cells.update(zip(node.outputs, [cell[0] for cell in storage], strict=True))
    return len(cells) - len(values)


@pytest.mark.parametrize("dtype", ["float64", "int64", "bool", "complex128"])
@pytest.mark.parametrize("name", SCALAR_OPS)
def test_elementwise(name: str, dtype: str) -> None:
    op = Elemwise(SCALAR_OPS[name])
    inputs = [pt.tensor(dtype=dtype, shape=(None,)) for _ in range(op.nin or 3)]
    try:
        node = op.make_node(*inputs)
    except TypeError:
        pytest.skip("not for this dtype")
    values = {v: np.array([1, 0, 1]).astype(dtype) for v in inputs}
    ops = [op.inplace_on_inputs([i], node) for i in range(len(inputs))]
    with np.errstate(all="ignore"):
        check(node.outputs, values)
        for fast in filter(None, ops):
            check(fast.make_node(*inputs).outputs, values)


def test_writing_into_a_part_in_place() -> None:
    v = pt.vector("v")
    for out in (pt.set_subtensor(v[1:], 0.0, inplace=True), pt.inc_subtensor(v[0], 2.0, True)):
        check([out], {v: np.arange(3.0)})
        assert out.owner.op.destroys == {0}
        assert out.owner.op.must_show() == 0


def test_a_view_is_certain_or_possible() -> None:
    m, v = pt.matrix("m"), pt.vector("v")
    certain = [m.T, m[1:], v[None], DisconnectedGrad()(v), pt.specify_shape(v, (3,))]
    for out in certain:
        assert out.owner.op.may_show() == (0,)
        assert out.owner.op.must_show() == 0
    for out in (m.reshape((-1,)), v[0]):
        assert out.owner.op.may_show() == (0,)
        assert out.owner.op.must_show() is None
    check([m.T.reshape((-1,)), v[0]], {m: np.ones((2, 3)), v: np.ones(3)})
    split = Split(0, (1, 2))
    assert [split.must_show(o) for o in (0, 1)] == [0, 0]
    assert pt.exp.may_show() == ()
