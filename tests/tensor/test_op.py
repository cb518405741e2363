"""The base of ops on tensors: lengths, errors, what may fail. (`test_samples.py` has all ops.)"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    BroadcastError,
    DTypeError,
    ForeignObjectError,
    InconsistencyError,
    NDimError,
    PatternError,
    ShapeError,
)
from rewrite_engine.graph.op import Op
from rewrite_engine.language import Matrix, Vector, rule
from rewrite_engine.tensor.op import Computed, Shapes, TensorOp, Value, resolve


def test_lengths_are_resolved() -> None:
    twice = Computed(lambda a, b: 2 * a + b, [(0, 1), Value(1)])
    given = {(0, 1): 4, Value(1): 3}
    assert resolve(twice, given.get) == 11
    assert resolve(twice, {(0, 1): 4}.get) is None
    assert [resolve(m, given.get) for m in (5, None, (0, 1), Value(1))] == [5, None, 4, 3]


class Paired(TensorOp):
    """Two vectors of one length."""

    __props__ = ()
    nin = 2

    def dtypes(self, *types: Any) -> list[str]:
        if types[0].kind != "f":
            raise DTypeError("takes floats")
        return [types[0].dtype]

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[(0, 0)]], [[(0, 0), (1, 0)]])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        self.checked(node, inputs)
        output_storage[0][0] = inputs[0] * inputs[1]


def test_errors_tell_the_op_the_types_and_the_line() -> None:
    v = pt.vector("v", dtype="float64", shape=(3,))
    for make, error, text in (
        (lambda: Paired()(v), TypeError, "Paired: takes 2 inputs, not 1"),
        (lambda: Paired()(v, np.ones(4)), ShapeError, r"shapes \(3,\) and \(4,\) do not fit: dim"),
        (lambda: Paired()(pt.lvector(), v), DTypeError, "Paired: takes floats"),
        (lambda: Paired()(v, object()), ForeignObjectError, "object"),
    ):
        with pytest.raises(error, match=text) as caught:
            make()
        if error in (ShapeError, DTypeError, TypeError):
            assert "test_op.py" in str(caught.value)
    assert Paired()(pt.dvector(), v).type.shape == (3,)
    x, y = pt.dvector("x"), pt.dvector("y")
    out = Paired()(x, y)
    with pytest.raises(ShapeError, match=r"length 2, .* length 3[\s\S]*x of type[\s\S]*test_op.py"):
        rw.function([x, y], out)(np.ones(2), np.ones(3))


class Halves(TensorOp):
    """Both halves of the rows of a matrix; says what it is told of dtypes and lengths."""

    __props__ = ("told", "lengths")
    nout = 2

    def __init__(self, told: tuple[str, ...], lengths: tuple[Any, ...]) -> None:
        self.told, self.lengths = told, lengths

    def dtypes(self, *types: Any) -> list[str]:
        return list(self.told)

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[n] for n in self.lengths])


@pytest.mark.parametrize(
    ("told", "lengths", "error", "what"),
    [
        (["int8"], [1, 1], InconsistencyError, "dtypes` has 1 outputs, .* `shapes` has 2"),
        (["int8"] * 3, [1, 1], InconsistencyError, "dtypes` has 3 outputs, .* `shapes` has 2"),
        (["int8"] * 2, [1], InconsistencyError, "declares 2 outputs .* its `shapes` has 1"),
        (["int8"] * 2, [(0, 1), 1], NDimError, r"dimension 1 of input 0, which has type Tensor"),
        (["int8"] * 2, [(0, -1), 1], NDimError, "dimension -1 of input 0"),
    ],
)
def test_what_an_op_says_of_its_outputs_has_to_fit(
    told: list[str], lengths: list[Any], error: type[Exception], what: str
) -> None:
    op = Halves(tuple(told), tuple(lengths))
    with pytest.raises(error, match=rf"Halves.*: .*{what}[\s\S]*test_op.py"):
        op(pt.dvector())


def test_a_pattern_of_an_op_on_a_dimension_that_a_sort_lacks_is_refused() -> None:
    op = Halves(("float64", "float64"), ((0, 1), (0, 0)))

    def second(a: Vector) -> Any:
        """(For tests.)"""
        return op(a)[0] >> op(a)[1]

    with pytest.raises(
        PatternError, match="no such term can be built .*: Halves.*dimension 1 of inp"
    ):
        rule(second)
    second.__annotations__["a"] = Matrix
    assert rule(second)


def test_an_op_may_fail_unless_it_says_that_only_lengths_do() -> None:
    class Sure(Paired):
        only_lengths = True

    x, y = pt.dvectors("x y")
    assert Paired()(x, y).owner.op.equal_lengths(Paired()(x, y).owner) is None
    assert Sure()(x, y).owner.op.equal_lengths(Sure()(x, y).owner) == [[(0, 0), (1, 0)]]
    f = rw.function([x, y], Sure()(x, y).shape[0])
    assert f(np.ones(2), np.ones(2)) == 2
    with pytest.raises(ShapeError):
        f(np.ones(2), np.ones(3))


def test_a_plain_op_names_the_line_too() -> None:
    class Picky(Op):
        __props__ = ()

        def infer_types(self, types: Any) -> Any:
            raise BroadcastError("never")

    with pytest.raises(BroadcastError, match=r"^Picky: never\n    input 0: .*\n.*test_op.py"):
        Picky()(pt.dscalar())


def test_an_op_has_as_many_outputs_as_it_says() -> None:
    """Rules and patterns are built on that before there is any node."""

    class Two(TensorOp):
        __props__ = ()

        def dtypes(self, *types: Any) -> list[str]:
            return [types[0].dtype] * 2

        def shapes(self, *types: Any) -> Shapes:
            return Shapes([[(0, 0)], []])

    with pytest.raises(
        InconsistencyError, match="the op declares 1 outputs .* its `shapes` has 2"
    ) as e:
        Two()(pt.vector("x"))
    assert "test_op.py" in str(e.value)
    assert "Two" in str(e.value)
