"""PyTensor's page on the methods of ops. It has no samples; here is what no other test holds.

Its five examples of gradients for integers, and both constraints on gradients, are held by
`tests/gradient/test_contract.py` and `test_reverse.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("peers")


def op_class(**methods: Any) -> Any:
    """A class of ops on one vector of floats with these methods."""
    import pytensor.tensor as pt
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    def make_node(self: Any, x: Any) -> Any:
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    return type("Own", (Op,), {"__props__": (), "make_node": make_node} | methods)


def doubled(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
    output_storage[0][0] = inputs[0] * 2


# --- perform and thunks -----------------------------------------------------------------------


@pytest.mark.parametrize("mode", [None, "py"])
def test_a_function_may_change_cells_but_not_their_lists(mode: Any) -> None:
    """What is not put into a cell is not there; what is of another type is an error."""
    import pytensor
    import pytensor.tensor as pt

    def appends(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0].append(inputs[0])

    def narrows(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0].astype("float32")

    x = pt.dvector("x")
    for perform, found in ((appends, "NoneType"), (narrows, "float32")):
        f = pytensor.function([x], op_class(perform=perform)()(x), mode=mode)
        with pytest.raises(TypeError, match=f"dtype float64.*got .*{found}"):
            f([1.0])


@pytest.mark.parametrize("mode", [None, "py", "DebugMode"])
def test_a_thunk_instead_of_perform(mode: Any) -> None:
    """It gets cells and flags by variable, and sets those of its outputs."""
    import pytensor
    import pytensor.tensor as pt

    flags: list[Any] = []

    def make_thunk(
        self: Any,
        node: Any,
        storage_map: Any,
        compute_map: Any,
        no_recycling: Any,
        impl: Any = None,
    ) -> Any:
        assert impl in (None, "c", "py")
        given, found = storage_map[node.inputs[0]], storage_map[node.outputs[0]]
        flags.append(compute_map[node.outputs[0]])

        def thunk() -> None:
            found[0] = given[0] + 1
            compute_map[node.outputs[0]][0] = True

        return thunk

    x = pt.dvector("x")
    own = op_class(make_thunk=make_thunk)()
    f = pytensor.function([x], own(own(x)), mode=mode)
    assert f([1.0, 2.0]).tolist() == [3, 4]
    assert f([3.0]).tolist() == [5]
    assert len(flags) == 2 or mode == "DebugMode"  # (which runs terms before they are rewritten)
    assert flags == [[True]] * len(flags)


# --- shapes, constants ------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [None, "py", "FAST_COMPILE"])
@pytest.mark.parametrize("older", [False, True])
def test_a_shape_is_found_without_the_output(mode: Any, older: bool) -> None:
    """By `infer_shape`, from the shapes of the inputs; of an output that is not computed."""
    import pytensor
    import pytensor.tensor as pt

    ran = []

    def twice(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        ran.append(node)
        output_storage[0][0] = np.concatenate([inputs[0]] * 2)

    new = lambda self, fgraph, node, shapes: [(shapes[0][0] * 2,)]
    old = lambda self, node, shapes: [(shapes[0][0] * 2,)]
    own = op_class(perform=twice, infer_shape=old if older else new)()
    x = pt.dvector("x")
    assert pytensor.function([x], own(x).shape, mode=mode)([1.0, 2.0]).tolist() == [4]
    assert pytensor.function([x], own(own(x)).shape[0], mode=mode)([1.0]) == 4
    assert ran == []
    assert pytensor.function([x], own(x), mode=mode)([1.0]).tolist() == [1, 1]


def test_constants_are_computed_in_advance_unless_the_op_refuses() -> None:
    """The op may look at the node to say so."""
    import pytensor

    ran = []

    def counts(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        ran.append(node)
        doubled(self, node, inputs, output_storage)

    def short(self: Any, fgraph: Any, node: Any) -> bool:
        return node.inputs[0].type.shape[0] < 3

    own = op_class(perform=counts, do_constant_folding=short)()
    folded = pytensor.function([], own(np.ones(2)))
    assert (len(ran), len(folded.maker.fgraph.apply_nodes)) == (1, 0)
    kept = pytensor.function([], own(np.ones(3)))
    assert (len(ran), len(kept.maker.fgraph.apply_nodes)) == (1, 1)
    assert kept().tolist() == kept().tolist() == [2, 2, 2]
    assert len(ran) == 3
    assert folded().tolist() == [2, 2]
    assert len(ran) == 3


def test_operations_are_counted_by_shapes() -> None:
    """What `flops` says of shapes is what a report of costs adds up."""
    import pytensor.tensor as pt

    from rewrite_engine.explain.cost import cost_of
    from rewrite_engine.explain.evaluate import SeenShapes
    from rewrite_engine.graph.fgraph import FunctionGraph

    own = op_class(flops=lambda self, inputs, outputs: 7 * inputs[0][0] + outputs[0][0])()
    x = pt.tensor("x", dtype="float64", shape=(5,))
    assert cost_of(FunctionGraph([x], [own(own(x))]), SeenShapes()).flops == 80


# --- what is returned is what is promised ---------------------------------------------------------


def test_methods_that_return_something_else_are_named() -> None:
    """With the op and the line where it was applied."""
    import pytensor
    import pytensor.tensor as pt
    from pytensor.graph.basic import Apply

    x = pt.dvector("x")
    made = lambda **methods: op_class(perform=doubled, **methods)()(x)
    with pytest.raises(TypeError, match=r"Own: its make_node must return an Apply, not NoneType"):
        made(make_node=lambda self, x: None)
    with pytest.raises(TypeError, match=r"Own: expected a list of variables \(input 0, …\), not x"):
        made(make_node=lambda self, x: Apply(self, x, [x.type()]))
    with pytest.raises(TypeError, match=r"Own: its make_thunk must .*[\s\S]*built at .*made = "):
        pytensor.function([x], made(make_thunk=lambda self, *rest, **options: None))
    with pytest.raises(
        TypeError, match=r"its connection_pattern must return 1 lists .*not \[True\]"
    ):
        pytensor.grad(made(connection_pattern=lambda self, node: [True]).sum(), x)
    for shapes in (lambda s: s[0], lambda s: [(*s[0], *s[0])], lambda s: [], lambda s: s[0][0]):
        out = made(infer_shape=lambda self, fgraph, node, s, shapes=shapes: shapes(s))
        with pytest.raises(Exception, match=r"its infer_shape must return .* \(1 for output 0\)"):
            pytensor.function([x], out.shape)
    unknown = made(infer_shape=lambda self, fgraph, node, s: [None])
    assert pytensor.function([x], unknown.shape)([1.0]).tolist() == [1]


# --- texts and equality -----------------------------------------------------------------------


def test_props_make_equality_hash_and_text() -> None:
    def init(self: Any, by: Any, note: Any = None) -> None:
        self.by, self.note = by, note

    Own = op_class(__props__=("by",), __init__=init)
    assert Own(2) == Own(2)
    assert len({hash(Own(2)) for _ in range(20)}) == 1  # (each gone before there is the next)
    assert Own(2) != Own(3)
    assert str(Own(2)) == "Own{by=2}"
    Told = op_class(__props__=("by",), __init__=init, __str__=lambda self: f"Own by {self.by}")
    assert str(Told(2)) == "Own by 2"


def test_debug_perform_is_used_instead() -> None:
    """Of `perform` and of C code, which may cause trouble there; other modes do not look at it."""
    import pytensor
    import pytensor.tensor as pt
    from pytensor.graph.basic import Apply
    from pytensor.link.c.op import COp

    def trouble(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        raise RuntimeError("no debugging here")

    methods: Any = {"perform": trouble, "debug_perform": doubled}
    code: Any = {"__props__": (), "c_code": lambda self, *_: "this is no C"}
    code["make_node"] = lambda self, x: Apply(self, [x], [x.type()])
    x = pt.dvector("x")
    for own in (op_class(**methods)(), type("InC", (COp,), code | methods)()):
        f = pytensor.function([x], own(own(x)) + 1, mode="DebugMode")
        assert f([1.0, 2.0]).tolist() == [5, 9]
    with pytest.raises(RuntimeError, match="no debugging here"):
        pytensor.function([x], op_class(**methods)()(x))([1.0])
    working = op_class(perform=doubled, debug_perform=trouble)()
    assert pytensor.function([x], working(x))([1.0]).tolist() == [2]


# --- gradients --------------------------------------------------------------------------------


def test_outputs_that_inputs_do_not_reach() -> None:
    """Two outputs f(x) and g(y): by `connection_pattern`; what is disconnected is told by its
    type, and what has no gradient says why.
    """
    import pytensor
    import pytensor.tensor as pt
    from pytensor.gradient import DisconnectedType, grad_not_implemented
    from pytensor.graph.basic import Apply

    def make_node(self: Any, x: Any, y: Any) -> Any:
        return Apply(self, [x, y], [x.type(), y.type()])

    def both(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0], output_storage[1][0] = 2 * inputs[0], 3 * inputs[1]

    def grad(self: Any, inputs: Any, output_gradients: Any) -> Any:
        gf, gg = output_gradients
        told.append([isinstance(g.type, DisconnectedType) for g in (gf, gg)])
        gy = DisconnectedType()() if told[-1][1] else gg * 3
        return [grad_not_implemented(self, 0, inputs[0], "nobody has needed it"), gy]

    told: list[Any] = []
    pattern = lambda self, node: [[True, False], [False, True]]
    own = op_class(make_node=make_node, perform=both, grad=grad, connection_pattern=pattern)()
    x, y = pt.dvectors("xy")
    f, g = own(x, y)
    slope = pytensor.grad(g.sum(), y)
    assert told == [[True, False]]
    with pytest.raises(TypeError, match="nobody has needed it"):
        pytensor.grad(f.sum(), x)
    for cost, wrt in ((f, y), (g, x)):
        with pytest.raises(ValueError, match="does not depend on the elements"):
            pytensor.grad(cost.sum(), wrt)
    f = pytensor.function([y], slope, givens={x: y})
    assert f([0.0, 1.0]).tolist() == [3, 3]


def test_a_vector_times_a_jacobian_both_ways() -> None:
    """`grad` gives Jᵀz, `R_op` J v, in the shapes of inputs and outputs; J here is a matrix."""
    import pytensor
    import pytensor.tensor as pt
    from pytensor.gradient import Lop, Rop

    J = np.array([[1.0, 2.0], [0.0, -1.0]])

    def linear(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = J @ inputs[0]

    own = op_class(
        perform=linear,
        grad=lambda self, inputs, gs: [pt.dot(J.T, gs[0])],
        R_op=lambda self, inputs, points: [None if points[0] is None else pt.dot(J, points[0])],
    )()
    x, v = pt.dvectors("xv")
    at, along = np.array([0.5, 1.5]), np.array([3.0, -2.0])
    back = pytensor.function([x, v], Lop(own(x), x, v), on_unused_input="ignore")
    forth = pytensor.function([x, v], Rop(own(x), x, v), on_unused_input="ignore")
    np.testing.assert_allclose(back(at, along), J.T @ along)
    np.testing.assert_allclose(forth(at, along), J @ along)
