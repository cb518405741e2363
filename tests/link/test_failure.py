"""Errors while running: they name op, shapes and the user's line, and keep their class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, BroadcastError, NoTensorError, ShapeError
from rewrite_engine.graph.op import Op
from rewrite_engine.link.vm import emit
from tests.link.reference import link


def test_shapes_that_do_not_fit() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    linked = link([x, y], pt.exp(x * y))  # built here
    with pytest.raises(BroadcastError) as caught:
        linked.call(np.ones(3), np.ones(2))
    text = str(caught.value)
    for part in (
        "mul",
        "x of type",
        "(3,)",
        "(2,)",
        "strides (8,)",
        "test_failure.py",
        "# built here",
    ):
        assert part in text


def test_a_length_that_happens_to_be_1_is_not_stretched() -> None:
    x, y = pt.matrix("x"), pt.matrix("y")
    linked = link([x, y], x + y)
    for shapes in [((3, 4), (1, 4)), ((3, 1), (3, 4)), ((1, 1), (0, 1)), ((1, 3), (3, 1))]:
        with pytest.raises(BroadcastError, match=r"statically|known to be 1"):
            linked.call(*[np.ones(s) for s in shapes])


def test_a_static_length_of_1_is_stretched() -> None:
    x, y = pt.matrix("x"), pt.tensor(dtype="float64", shape=(1, None), name="y")
    linked = link([x, y], x + y)
    assert linked.call(np.ones((3, 2)), np.ones((1, 2))).shape == (3, 2)
    with pytest.raises(BroadcastError):
        linked.call(np.ones((3, 2)), np.ones((1, 3)))


@pytest.mark.parametrize("keep", [True, False])
def test_every_equality_is_checked_once(keep: bool) -> None:
    x, y, z = pt.vector("x"), pt.vector("y"), pt.vector("z")
    out = pt.exp(x + y) * y + x
    linked = link([x, y, z], [out, out + z] if keep else [out * z])
    assert linked.source.count("mismatch()") == 2
    assert linked.call(*[np.ones(2)] * 3) is not None
    for bad in range(3):
        values = [np.ones(2)] * 3
        values[bad] = np.ones(1)
        with pytest.raises(BroadcastError):
            linked.call(*values)


def test_a_check_against_a_known_length() -> None:
    x = pt.vector("x")
    y = pt.tensor(dtype="float64", shape=(4,), name="y")
    linked = link([x, y], x + y)
    assert linked.call(np.ones(4), np.ones(4)).shape == (4,)
    with pytest.raises(BroadcastError):
        linked.call(np.ones(1), np.ones(4))


def test_products_and_joins() -> None:
    x, y = pt.matrix("x"), pt.matrix("y")
    with pytest.raises(ShapeError, match=r"dot: .*\n.*\(2, 3\)"):
        link([x, y], pt.dot(x, y)).call(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ShapeError, match="Join"):
        link([x, y], pt.join(0, x, y)).call(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(ShapeError, match="Reshape"):
        link([x], x.reshape((4, 2))).call(np.ones((2, 3)))
    with pytest.raises(ShapeError, match="Max"):
        link([x], pt.max(x, axis=0)).call(np.ones((0, 3)))


@pytest.mark.parametrize(("m", "n"), [(2, 1), (1, 2)])
def test_a_length_that_a_product_wants_is_not_taken_for_granted(m: int, n: int) -> None:
    x, y = pt.vector("x"), pt.vector("y")
    one = pt.tensor("one", dtype="float64", shape=(1,))
    with pytest.raises((ShapeError, BroadcastError)):
        link([x, y, one], pt.dot(pt.second(x, y), one)).call(np.ones(m), np.ones(n), np.ones(1))
    with pytest.raises(ShapeError):
        link([x, one], pt.dot(pt.second(x, one), one)).call(np.ones(2), np.ones(1))


def test_indices() -> None:
    x, i = pt.vector("x"), pt.lscalar("i")
    with pytest.raises(AxisError, match=r"index 3 is out of bounds[\s\S]*test_failure.py"):
        link([x, i], x[i]).call(np.ones(3), np.array(3))
    with pytest.raises(AxisError, match=r"index 3 is out of bounds[\s\S]*test_failure.py"):
        link([x], x[3]).call(np.ones(3))
    with pytest.raises((AxisError, BroadcastError)):
        link([x], x[1:].set(x)).call(np.ones(3))


def test_what_is_no_matter_of_shapes_is_not_called_one() -> None:
    i = pt.lvector("i")
    with pytest.raises(ValueError, match="negative integer powers") as caught:
        link([i], i**-1).call(np.arange(1, 4))
    assert not isinstance(caught.value, ShapeError)
    assert "test_failure.py" in "".join(caught.value.__notes__)


class Fails(Op):
    """Raises what it is told to."""

    __props__ = None

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def infer_types(self, types: tuple[Any, ...]) -> Any:
        return [types[0]]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        raise self.error


@pytest.mark.parametrize("error", [KeyError("k"), ZeroDivisionError("z"), MemoryError()])
def test_foreign_errors_keep_their_class_and_get_a_note(error: Exception) -> None:
    x = pt.vector("x")
    linked = link([x], pt.exp(Fails(error)(x + 1)))  # the line
    with pytest.raises(type(error)) as caught:
        linked.call(np.ones(3))
    assert caught.value is error
    note = "\n".join(error.__notes__)
    assert "Fails" in note
    assert "shape (3,)" in note
    assert "# the line" in note


class Forgets(Op):
    """Fills only the first of its outputs."""

    __props__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = n

    def infer_types(self, types: Any) -> Any:
        return types * self.n

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        if self.n > 1:
            output_storage[0][0] = inputs[0]


@pytest.mark.parametrize("n", [1, 2])
def test_an_output_that_perform_left_empty(n: int) -> None:
    x = pt.vector("x")
    out = Forgets(n)(x, return_list=True)[-1]
    state = rw.shared(np.ones(2))
    for f in (rw.function([x], out), rw.function([x], [], updates=[(state, out)])):
        with pytest.raises(NoTensorError, match="got NoneType None") as caught:
            f(np.ones(2))
        assert "Forgets" in "\n".join(caught.value.__notes__)
    assert (state.get_value() == 1).all()


def test_an_interrupt_is_left_alone() -> None:
    x = pt.vector("x")
    error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        link([x], Fails(error)(x)).call(np.ones(3))
    assert not hasattr(error, "__notes__")


def test_the_right_node_of_many_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit, "MAX_CHUNK_NODES", 5)
    x = pt.vector("x")
    error = KeyError()
    out = x
    for i in range(33):
        out = Fails(error)(out) if i == 17 else pt.sin(out)
    with pytest.raises(KeyError):
        link([x], out).call(np.ones(3))
    assert error.__notes__[0].startswith("Fails")


def test_traceback_shows_the_generated_line() -> None:
    import traceback

    x = pt.vector("x")
    with pytest.raises(KeyError) as caught:
        link([x], Fails(KeyError())(x)).call(np.ones(3))
    shown = "".join(traceback.format_exception(caught.value))
    assert "r0 = Fails(x)" in shown
