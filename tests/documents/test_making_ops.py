"""Aesara's page "How to make ops": its samples, and what it says that no other test does.

Its classes are completed by what a sample leaves out (`...`); parameters that are tuples, which
Python 3 has not, are unpacked in the method; `print storage[0]` is an assertion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("peers")


def scalar_add() -> Any:
    """An instance of the page's `Add`: its `make_node` and its `perform`."""
    from aesara.graph.basic import Apply, Variable
    from aesara.graph.op import Op
    from aesara.scalar import constant, int64

    class Add(Op):
        def make_node(self, x: Any, y: Any) -> Any:
            if isinstance(x, int):
                x = constant(x)
            elif not isinstance(x, Variable) or x.type != int64:
                raise TypeError("expected an int64 ScalarType")
            if isinstance(y, int):
                y = constant(y)
            elif not isinstance(y, Variable) or y.type != int64:
                raise TypeError("expected an int64 ScalarType")
            inputs = [x, y]
            outputs = [int64()]
            return Apply(op=self, inputs=inputs, outputs=outputs)

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            x, y = inputs
            (z,) = output_storage
            z[0] = x + y

    return Add()


# --- make_node, __call__, perform -------------------------------------------------------------


def test_make_node() -> None:
    from aesara.graph.basic import Constant, Variable
    from aesara.scalar import ScalarType, constant, float64, int64

    # notes 2 and 3 of the sample
    assert (constant(2).type, constant(2).data) == (int64, 2)
    assert int64().type == Variable(type=ScalarType(dtype="int64"), owner=None).type
    for same in (Constant(type=int64, data=2), Constant(int64, 2), int64.make_constant(2)):
        assert same.equals(constant(2))
    add = scalar_add()
    node1 = add.make_node(int64(), int64())
    node2 = add.make_node(1, 2)
    node3 = add.make_node(int64(), 79)
    with pytest.raises(TypeError, match="expected an int64"):
        add.make_node(float64(), int64())
    assert all(v.type == int64 for n in (node1, node2, node3) for v in (*n.inputs, *n.outputs))
    assert (node2.inputs[0].data, node3.inputs[1].data) == (1, 79)
    again = add.make_node(*node3.inputs)
    assert (again.op, again.inputs, again.out.type) == (add, node3.inputs, node3.out.type)


def test_call_gives_the_output_or_all_of_them() -> None:
    from aesara.graph.basic import Apply
    from aesara.graph.op import Op
    from aesara.scalar import int64

    class DivMod(Op):
        def make_node(self, x: Any, y: Any) -> Any:
            return Apply(self, [x, y], [x.type(), x.type()])

    one = scalar_add()(int64(), 3)
    assert (one.type, one.owner.outputs, one.index) == (int64, (one,), 0)
    quotient, rest = DivMod()(int64(), int64())
    assert [quotient.index, rest.index] == [0, 1]
    assert quotient.owner is rest.owner


@pytest.mark.parametrize("mode", [None, "py", "DebugMode"])
def test_perform(mode: Any) -> None:
    import aesara
    from aesara.scalar import int64

    add = scalar_add()
    node = add.make_node(int64(), int64())
    storage = [None]
    add.perform(node, (3, 7), (storage,))
    assert storage[0] == 10
    x, y = int64("x"), int64("y")
    assert aesara.function([x, y], add(add(x, y), 5), mode=mode)(3, 7) == 15


def test_ops_that_do_the_same_may_say_so() -> None:
    """By `__eq__` and `__hash__`; `!=` follows. Without them each instance is another op."""
    import aesara
    import aesara.tensor as at
    from aesara.graph.basic import Apply
    from aesara.graph.op import Op

    class Shift(Op):
        def __init__(self, by: float) -> None:
            self.by = by

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = inputs[0] + self.by

    class EqualShift(Shift):
        def __eq__(self, other: object) -> bool:
            return type(self) is type(other) and self.by == other.by  # type: ignore[attr-defined]

        def __hash__(self) -> int:
            return hash((type(self), self.by))

    assert Shift(1.0) != Shift(1.0)
    assert EqualShift(1.0) == EqualShift(1.0)
    assert EqualShift(1.0) != EqualShift(2.0)
    x = at.dvector("x")
    for cls, nodes in ((Shift, 2), (EqualShift, 1)):
        f = aesara.function([x], [cls(1.0)(x), cls(1.0)(x)])
        assert len(f.maker.fgraph.apply_nodes) == nodes
        assert [v.tolist() for v in f([1.0])] == [[2], [2]]


def test_parametrized_ops() -> None:
    """`Add(<output type inferrer>)` among the examples: "inferred from the input types"."""
    import aesara
    import aesara.tensor as at
    from aesara.scalar.basic import Add, float64, int32, same_out, upgrade_to_float
    from aesara.tensor.elemwise import Elemwise

    add = Add(upgrade_to_float, name="k")
    assert (str(add), add(int32(), int32()).type) == ("k", float64)
    assert add == Add(upgrade_to_float, name="k")
    assert add != Add(same_out, name="k")
    x, y = at.ivectors("xy")
    found = aesara.function([x, y], Elemwise(add)(x, y))([1, 2], [3, 4])
    assert (found.dtype, found.tolist()) == (np.dtype("float64"), [4, 6])


# --- grad -------------------------------------------------------------------------------------


def differentiable(compute: Any, slopes: Any, nin: int, nout: int) -> Any:
    """An op of the three forms of the page: compute(*values), and slopes(inputs, gradients)."""
    from aesara.graph.basic import Apply
    from aesara.graph.op import Op

    class Form(Op):
        def make_node(self, *inputs: Any) -> Any:
            assert len(inputs) == nin
            return Apply(self, list(inputs), [inputs[0].type() for _ in range(nout)])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            for cell, value in zip(output_storage, compute(*inputs)):
                cell[0] = value

        def grad(self, inputs: Any, output_gradients: Any) -> Any:
            return slopes(inputs, output_gradients)

    return Form()


def test_the_three_forms_of_grad() -> None:
    """One input and one output; two inputs; two outputs, whose slopes are added up."""
    import aesara.tensor as at
    from aesara.gradient import verify_grad

    square = differentiable(lambda x: [x * x], lambda ins, gs: [gs[0] * 2 * ins[0]], 1, 1)
    mul = differentiable(
        lambda x, y: [x * y],
        lambda ins, gs: (at.mul(gs[0], ins[1]), at.mul(gs[0], ins[0])),  # `Mul` of the page
        2,
        1,
    )
    both = differentiable(
        lambda x, y: [x * y, x + y],
        lambda ins, gs: [gs[0] * ins[1] + gs[1], gs[0] * ins[0] + gs[1]],
        2,
        2,
    )
    a, b = np.array([0.5, -1.5]), np.array([2.0, 3.0])
    verify_grad(square, [a], rng=np.random.default_rng(1))
    verify_grad(mul, [a, b], rng=np.random.default_rng(1))
    verify_grad(lambda x, y: at.exp(both(x, y)[0]) * both(x, y)[1], [a, b],
                rng=np.random.default_rng(1))  # fmt: skip


def test_what_grad_may_return() -> None:
    """A list or a tuple; not the gradient itself; None is no gradient, told when it is needed."""
    import aesara
    import aesara.tensor as at

    x, y = at.dvectors("xy")
    make = lambda found: differentiable(lambda x, y: [x * y], lambda ins, gs: found(gs[0]), 2, 1)
    for found in (lambda g: (g, g), lambda g: [g, g], lambda g: [g, None]):
        assert aesara.grad(make(found)(x, y).sum(), x).eval({x: [2.0], y: [3.0]}).tolist() == [1]
    with pytest.raises(TypeError, match="grad for input 1 must be a variable, not None"):
        aesara.grad(make(lambda g: [g, None])(x, y).sum(), y)
    with pytest.raises(TypeError, match="grad for input 0 must be a variable, not None"):
        aesara.grad(make(lambda g: [None] * 2)(x, y).sum(), x)
    with pytest.raises(ValueError, match="must return 2 gradients, one per input"):
        aesara.grad(make(lambda g: g)(x, y).sum(), x)
    with pytest.raises(NotImplementedError, match="has no gradient"):
        aesara.grad(hidden_add()(x, y).sum(), x)


# --- memory -----------------------------------------------------------------------------------


def test_destroy_map_and_view_map() -> None:
    """`add_inplace` and `transpose` of the page: what is read later is left alone."""
    import aesara
    import aesara.tensor as at
    from aesara.graph.basic import Apply
    from aesara.graph.op import Op

    class AddInplace(Op):
        destroy_map = {0: [0]}

        def make_node(self, x: Any, y: Any) -> Any:
            return Apply(self, [x, y], [x.type()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            x, y = inputs
            x += y
            output_storage[0][0] = x

    class Transpose(Op):
        view_map = {0: [0]}

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = inputs[0].T

    add_inplace, transpose = AddInplace(), Transpose()
    x, y = at.dmatrices("xy")
    grown = add_inplace(at.exp(x), y)
    f = aesara.function([x, y], [grown, x * 2], accept_inplace=True)
    assert [v.tolist() for v in f([[0.0]], [[2.0]])] == [[[3]], [[0]]]
    kept = at.exp(x)  # an output that a view shows: a copy of it is overwritten
    for outputs in ([add_inplace(kept, y), kept], [add_inplace(transpose(kept), y), kept]):
        f = aesara.function([x, y], outputs, accept_inplace=True)
        assert [v.tolist() for v in f([[0.0]], [[2.0]])] == [[[3]], [[1]]]
    value = np.array([[1.0, 2.0], [3.0, 4.0]])
    shown = aesara.function([x], transpose(x))(value)  # (a result is never the argument's memory)
    assert shown.tolist() == value.T.tolist()
    assert not np.may_share_memory(shown, value)


def test_an_input_that_is_overwritten_and_is_no_output() -> None:
    """A "private input", `destroy_map = {None: [1]}`: memory to compute in."""
    import aesara
    import aesara.tensor as at
    from aesara.graph.basic import Apply
    from aesara.graph.op import Op

    class Sorted(Op):
        destroy_map = {None: [1]}

        def make_node(self, x: Any, room: Any) -> Any:
            return Apply(self, [x, room], [x.type()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            x, room = inputs
            room[: x.size] = x
            room[: x.size].sort()
            output_storage[0][0] = room[: x.size].copy()

    x, room = at.dvectors("x", "room")
    f = aesara.function([x, aesara.In(room, mutable=True)], Sorted()(x, room), accept_inplace=True)
    memory = np.zeros(5)
    assert f([3.0, 1.0, 2.0], memory).tolist() == [1, 2, 3]
    assert memory.tolist() == [1, 2, 3, 0, 0]
    with pytest.raises(Exception, match="room is an input that is not mutable"):
        aesara.function([x, room], Sorted()(x, room), accept_inplace=True)


# --- outputs that are used again, and hidden ones ---------------------------------------------


def hidden_add() -> Any:
    """`Add` of the part on hidden outputs."""
    from aesara.graph.basic import Apply
    from aesara.graph.op import Op

    class Add(Op):
        """Keeps memory that is larger than needed in a second output."""

        default_output = 0

        def make_node(self, x: Any, y: Any) -> Any:
            return Apply(self, [x, y], [x.type.make_variable(), x.type.make_variable()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            (x, y), (z, stor) = inputs, output_storage
            if z[0] is None or stor[0] is None:
                stor[0] = np.ndarray(x.size * 2)
            else:
                if x.size > stor[0].size:
                    stor[0].resize(x.size * 2, refcheck=0)
            z[0] = stor[0][: x.size]
            np.add(x, y, z[0])

    return Add()


def test_a_hidden_output_keeps_memory() -> None:
    """`perform` finds what it left in the cells, and fills it again."""
    import aesara.tensor as at

    add = hidden_add()
    x, y = at.dvectors("xy")
    cells = [[None], [None]]
    node = add.make_node(x, y)
    add.perform(node, (np.ones(2), np.ones(2)), cells)
    memory = cells[1][0]
    add.perform(node, (np.arange(3.0), np.ones(3)), cells)
    assert cells[1][0] is memory
    assert cells[0][0].tolist() == [1, 2, 3]
    assert np.may_share_memory(cells[0][0], memory)


@pytest.mark.parametrize("mode", [None, "py", "FAST_COMPILE", "DebugMode"])
def test_a_hidden_output_in_functions(mode: Any) -> None:
    """The op returns the first output alone; what the caller has got is never written again."""
    import aesara
    import aesara.tensor as at

    add = hidden_add()
    x, y = at.dvectors("xy")
    total = add(x, y)
    assert (total.index, len(total.owner.outputs)) == (0, 2)
    f = aesara.function([x, y], [total, add(total, y) * 2], mode=mode)
    first = f([1.0, 2.0], [3.0, 4.0])
    second = f([5.0, 6.0, 7.0], [1.0, 1.0, 1.0])
    assert [v.tolist() for v in first] == [[4, 6], [14, 20]]
    assert [v.tolist() for v in second] == [[6, 7, 8], [14, 16, 18]]


def test_what_is_hidden_and_read_is_held_to_what_the_op_says() -> None:
    """Not the op's own affair any more: both outputs show the same memory."""
    import aesara
    import aesara.tensor as at

    x, y = at.dvectors("xy")
    f = aesara.function([x, y], hidden_add()(x, y).owner.outputs, mode="DebugMode")
    with pytest.raises(Exception, match="outputs 0 and 1 of its perform share memory"):
        f([1.0], [2.0])


def test_call_may_be_overridden() -> None:
    """To hide outputs by hand."""
    import aesara
    import aesara.tensor as at

    class Hiding(type(hidden_add())):  # type: ignore[misc]
        default_output = None

        def __call__(self, *inputs: Any, **options: Any) -> Any:
            return super().__call__(*inputs, **options)[0]

    x, y = at.dvectors("xy")
    assert aesara.function([x, y], Hiding()(x, y))([1.0], [2.0]).tolist() == [3]
