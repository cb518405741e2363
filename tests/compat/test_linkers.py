"""PyTensor's linkers, asked for functions of graphs."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.scalar as ps
import rewrite_engine.tensor as pt
from rewrite_engine.compat.graphs import UnmergedGraph
from rewrite_engine.compat.linkers import Container, DualLinker, PerformLinker, VMLinkerOfOthers
from rewrite_engine.errors import NoTensorError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op

LINKERS = [PerformLinker, VMLinkerOfOthers, DualLinker]


@pytest.mark.parametrize("kind", LINKERS)
def test_a_linker_makes_a_function_of_a_graph(kind: Any) -> None:
    x, y = pt.vectors("x", "y")
    accepted = kind().accept(UnmergedGraph([x, y], [x + y, x * y]))
    thunk, inputs, outputs = accepted.make_thunk()
    inputs[0].data, inputs[1].data = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    thunk()
    np.testing.assert_array_equal([one.data for one in outputs], [[4.0, 7.0], [3.0, 10.0]])
    found = accepted.make_function()(np.array([1.0]), np.array([2.0]))
    np.testing.assert_array_equal(found, [[3.0], [2.0]])


def test_storage_is_shared_with_the_caller() -> None:
    x = pt.vector("x")
    given, found = [np.array([4.0])], [None]
    accepted = PerformLinker().accept(UnmergedGraph([x], [pt.sqrt(x)]))
    thunk, _, _ = accepted.make_thunk(input_storage=[given], output_storage=[found])
    thunk()
    np.testing.assert_array_equal(found[0], [2.0])
    with pytest.raises(ValueError, match="no graph"):
        PerformLinker().make_thunk()


def test_scalars_run_as_numbers() -> None:
    x, y = ps.float64("x"), ps.float64("y")
    f = DualLinker().accept(UnmergedGraph([x, y], [ps.mul(ps.add(x, y), y)])).make_function()
    assert f(2.0, 3.0) == 15.0


class Changing(Op):
    """Returns how often it was run."""

    __props__ = ()
    runs = 0

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        Changing.runs += 1
        output_storage[0][0] = inputs[0] + Changing.runs


@pytest.mark.parametrize("in_a_mode", [True, False])
def test_two_ways_of_running_are_compared(in_a_mode: bool) -> None:
    x = pt.vector("x")
    out, value = Changing()(x), np.array([1.0])
    seen: list[Any] = []
    linker = DualLinker(checker=lambda a, b: seen.append((a, b)))
    for one in (DualLinker(), linker):
        f: Any
        if in_a_mode:
            f = rw.function([x], out, mode=rw.Mode(linker=one, optimizer=None))
        else:
            f = one.accept(UnmergedGraph([x], [out])).make_function()
        if one is linker:
            f(value)
            continue
        with pytest.raises(ValueError, match="two ways of running"):
            f(value)
    ((a, b),) = seen
    np.testing.assert_array_equal(b - a, [1.0])


def test_a_container_holds_values_of_one_type() -> None:
    place = Container(pt.vector("x"), [np.zeros(2)], name="place")
    place.data = [1.0, 2.0]
    assert place.value.dtype == np.float64
    assert place.storage[0] is place.data
    with pytest.raises(NoTensorError):
        place.data = "text"
    fixed = Container(pt.scalar(), [np.array(1.0)], readonly=True)
    with pytest.raises(AttributeError, match="read-only"):
        fixed.data = 2.0


@pytest.mark.usefixtures("peers")
def test_they_have_their_names() -> None:
    from pytensor.link.basic import Container as Theirs
    from pytensor.link.c.basic import DualLinker as Dual
    from pytensor.utils import to_return_values

    assert (Theirs, Dual) == (Container, DualLinker)
    assert (to_return_values([1]), to_return_values([1, 2])) == (1, [1, 2])
