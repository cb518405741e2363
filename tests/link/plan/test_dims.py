"""Which lengths are known to be equal, and which have to be compared."""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.plan import Dims, LengthCheck, axes, plan_of
from rewrite_engine.tensor.op import Shapes, TensorOp
from rewrite_engine.tensor.shape import Shape_i

x, y = pt.vector("x"), pt.vector("y")
m, n = pt.matrix("m"), pt.matrix("n")


def checks(*outputs: Any) -> list[LengthCheck]:
    return [
        c for step in plan_of(FunctionGraph(None, outputs, clone=False)).steps for c in step.checks
    ]


def test_dims() -> None:
    dims = Dims()
    a, b, three, four = dims.new(), dims.new(), dims.new(3), dims.new(4)
    assert dims.new(3) == three
    assert dims.join(a, b)
    assert not dims.join(b, a)
    assert dims.join(a, three)
    assert dims.length_of(b) == 3
    assert dims.join(three, four)  # they stay apart
    assert dims.length_of(three) == 3
    assert dims.length_of(four) == 4


def test_equal_axes_have_one_representative() -> None:
    dims = plan_of(FunctionGraph([m, n], [pt.dot(m, n)], clone=False)).dims
    assert dims.roots(m)[1] == dims.roots(n)[0]
    assert len({*dims.roots(m), *dims.roots(n)}) == 3


def test_each_equality_is_compared_once() -> None:
    total = x + y
    assert checks(total) == [LengthCheck(0, 0, 1, 0)]
    assert checks(pt.exp(x) + x) == []
    assert checks(total, x * y, pt.exp(total) + y) == checks(total)
    assert checks(m + n) == [LengthCheck(0, 0, 1, 0), LengthCheck(0, 1, 1, 1)]


def test_what_the_op_would_compare_itself_is_told_too() -> None:
    assert checks(pt.dot(m, n)) == [LengthCheck(0, 1, 1, 0)]
    assert checks(pt.dot(m, m.T)) == []


class Three(TensorOp):
    """The sum of a vector with three elements."""

    __props__ = ()
    nin = 1

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[]], [[3, (0, 0)]])


def test_lengths_that_are_known() -> None:
    three = pt.tensor(dtype="float64", shape=(3,))
    assert checks(Three()(x)) == [LengthCheck(0, 0, None, 0, 3)]
    assert checks(Three()(three), three * 2) == []
    node = Three().make_node(x)
    dims = Dims()
    axes(node.op, node, dims)
    assert dims.length_of(dims.of(x)[0]) == 3


def test_lengths_as_values_stand_for_dimensions() -> None:
    out = pt.zeros(Shape_i(0)(x))
    dims = plan_of(FunctionGraph([x], [out], clone=False)).dims
    assert dims.roots(out) == dims.roots(x)


def test_what_a_branch_compares_holds_nowhere_else() -> None:
    s = pt.scalar("s")
    for way in (pt.ifelse(s, x + y, x), x + y):
        dims = plan_of(FunctionGraph([s, x, y], [way], clone=False)).dims
        assert (dims.roots(x) == dims.roots(y)) is (way.owner.op == pt.add)
