"""The contract of `Op`, with the examples of the manuals."""

from __future__ import annotations

from functools import wraps
from typing import Any

import pytest

from rewrite_engine.errors import DTypeError, ForeignObjectError, MethodNotDefined, OptionError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import Type
from tests.toy import Scale, add, const, divmod_, exp, num, pos, sin


class Scalar(Type):
    __props__ = ("dtype",)

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return {"int64": int, "float64": float}[self.dtype](value)


int64, float64 = Scalar("int64"), Scalar("float64")


class Add(Op):
    """The example of "How to make ops": everything by hand, nothing inherited but `__call__`."""

    def make_node(self, x: Any, y: Any) -> Apply:
        if isinstance(x, int):
            x = Constant(int64, x)
        elif not isinstance(x, Variable) or x.type != int64:
            raise TypeError("expected an int64 ScalarType")
        if isinstance(y, int):
            y = Constant(int64, y)
        elif not isinstance(y, Variable) or y.type != int64:
            raise TypeError("expected an int64 ScalarType")
        return Apply(op=self, inputs=[x, y], outputs=[int64()])

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        x, y = inputs
        (z,) = output_storage
        z[0] = x + y

    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        (gz,) = output_gradients
        return gz, gz


iadd = Add()


def test_the_manuals_add() -> None:
    assert iadd.make_node(int64(), int64()).out.type == int64
    node = iadd.make_node(1, 2)
    assert [c.data for c in node.inputs] == [1, 2]
    iadd.make_node(int64(), 79)
    with pytest.raises(TypeError, match="expected an int64"):
        iadd.make_node(float64(), int64())
    storage = [None]
    iadd.perform(iadd.make_node(int64(), int64()), (3, 7), (storage,))
    assert storage == [10]


def test_call_returns_the_output_or_the_list_of_outputs() -> None:
    x = num("x")
    assert iadd(int64(), 1).owner.op is iadd
    assert isinstance(divmod_(x, x), list)
    assert len(divmod_(x, x)) == 2
    assert isinstance(sin(x, return_list=True), list)
    assert sin(x, name="s").name == "s"


def test_default_output_hides_the_others() -> None:
    class Hidden(type(divmod_)):  # type: ignore[misc]
        __props__ = ()
        default_output = 1

    x = num("x")
    out = Hidden()(x, x, name="r")
    assert (out.index, out.name, out.owner.outputs[0].name) == (1, "r", None)
    assert Hidden()(x, x, return_list=True)[0].index == 1
    assert out.owner.default_output() is out


def test_make_node_on_a_nodes_own_inputs_is_equivalent() -> None:
    x = num("x")
    for out in (sin(x), add(x, 2.0), iadd(int64(), 3), divmod_(x, x)[0]):
        node = out.owner
        again = node.op.make_node(*node.inputs)
        assert again.inputs == node.inputs
        assert [v.type for v in again.outputs] == [v.type for v in node.outputs]


def test_ops_without_props_are_not_merged_and_equal_ops_are() -> None:
    x = int64("x")
    merged = FunctionGraph([x], [iadd(x, 1), iadd(x, 1)])
    assert len(merged) == 1
    assert len(FunctionGraph([x], [iadd(x, 1), Add()(x, 1)])) == 2
    z = num("z")
    assert len(FunctionGraph([z], [Scale(2.0)(z), Scale(2.0)(z), Scale(3.0)(z)])) == 2


def test_an_op_may_compare_itself() -> None:
    class Mod(Add):
        def __init__(self, n: int) -> None:
            self.n = n

        def __eq__(self, other: object) -> bool:
            return type(self) is type(other) and self.n == other.n  # type: ignore[attr-defined]

        def __hash__(self) -> int:
            return hash((type(self), self.n))

    x = int64("x")
    assert len(FunctionGraph([x], [Mod(2)(x, 1), Mod(2)(x, 1), Mod(3)(x, 1)])) == 2


def test_itypes_and_otypes() -> None:
    assert Scale(2.0)(num("x")).type is num
    assert Scale(2.0)(pos("x")).type is num
    with pytest.raises(TypeError, match=r"Scale\{by=2.0\}: takes 1 inputs, not 2"):
        Scale(2.0)(num("x"), num("y"))
    with pytest.raises(DTypeError, match="input 0 must be of type Num, not Scalar"):
        Scale(2.0)(int64("i"))


def test_infer_types_is_asked_once_per_combination() -> None:
    asked = []

    class Counting(Op):
        __props__ = ()

        def infer_types(self, types: tuple[Any, ...]) -> Any:
            asked.append(types)
            return [types[0]]

    op = Counting()
    for v in (num("a"), num("b"), pos("c")):
        assert op(v).type is v.type
    assert asked == [(num,), (pos,)]


def test_an_op_has_to_define_something() -> None:
    class Nothing(Op):
        __props__ = ()

    x = num("x")
    op = Nothing()
    with pytest.raises(MethodNotDefined, match="make_node"):
        op(x)
    node = Apply(op, [x], [num()])
    for call in (
        lambda: op.perform(node, [1.0], [[None]]),
        lambda: op.grad([x], [x]),
        lambda: op.L_op([x], [x], [x]),
        lambda: op.R_op([x], [x]),
        lambda: op.infer_shape(None, node, [()]),
    ):
        with pytest.raises(NotImplementedError, match="Nothing defines no"):
            call()


def test_defaults_of_the_optional_attributes() -> None:
    assert sin.default_output is None
    assert sin.destroy_map == {}
    assert sin.view_map == {}
    assert sin.connection_pattern is None
    assert sin.do_constant_folding(None, sin(num()).owner)
    assert sin.flops([()], [()]) == 0
    assert sin.inplace_on_inputs([0]) is None
    assert not sin.associative
    assert add.associative
    assert add.commutative


def test_l_op_falls_back_on_grad() -> None:
    x, g = int64("x"), int64("g")
    assert iadd.L_op([x, x], [x], [g]) == (g, g)


def test_what_is_no_variable_is_refused_or_converted() -> None:
    assert isinstance(add(num("x"), 3).owner.inputs[1], Constant)
    with pytest.raises(ForeignObjectError, match=r"Scale\{by=2.0\}: not a variable: int 3"):
        Scale(2.0)(3)
    with pytest.raises(TypeError):
        Scale(2.0)(None)


def test_objects_that_take_over_a_call() -> None:
    class Pattern:
        @staticmethod
        def __apply_op__(op: Op, inputs: Any, kwargs: Any) -> Any:
            return op, inputs, kwargs

    p, x = Pattern(), num("x")
    assert add(x, p, axis=1) == (add, (x, p), {"axis": 1})


def test_make_thunk_runs_perform_on_the_cells() -> None:
    x = num("x")
    q, r = divmod_(x, const(3.0))
    storage: dict[Variable, list[Any]] = {v: [None] for v in (x, *q.owner.inputs, q, r)}
    done = {v: [False] for v in storage}
    thunk = divmod_.make_thunk(q.owner, storage, done, [])
    storage[x][0], storage[q.owner.inputs[1]][0] = 7.0, 3.0
    thunk()
    assert (storage[q], storage[r]) == ([2.0], [1.0])
    assert done[q] == done[r] == [True]


def test_make_thunk_does_not_recycle_what_it_must_not() -> None:
    seen = []

    class Looks(Op):
        itypes, otypes = [num], [num, num]

        def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
            seen.append([cell[0] for cell in output_storage])
            for cell in output_storage:
                cell[0] = inputs[0]

    x = num("x")
    a, b = Looks()(x)
    storage: dict[Variable, list[Any]] = {x: [1.0], a: [None], b: [None]}
    thunk = a.owner.op.make_thunk(a.owner, storage, None, [b])
    thunk()
    thunk()
    assert seen == [[None, None], [1.0, None]]


def test_an_op_with_its_own_thunk_needs_no_perform() -> None:
    class Own(Op):
        itypes, otypes = [num], [num]

        def make_thunk(self, node: Any, storage_map: Any, *rest: Any, impl: Any = None) -> Any:
            def thunk() -> None:
                storage_map[node.out][0] = 2 * storage_map[node.inputs[0]][0]

            return thunk

    x = num("x")
    y = Own()(x)
    storage = {x: [4.0], y: [None]}
    y.owner.op.make_thunk(y.owner, storage, None, [])()
    assert storage[y] == [8.0]


def test_prepare_node_is_called_before_the_first_run() -> None:
    class Prepared(Op):
        itypes, otypes = [num], [num]
        ready = False

        def prepare_node(self, node: Any, *rest: Any, **kwargs: Any) -> None:
            self.ready = True

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            assert self.ready
            output_storage[0][0] = inputs[0]

    x = num("x")
    y = Prepared()(x)
    storage = {x: [4.0], y: [None]}
    y.owner.op.make_thunk(y.owner, storage, None)()
    assert storage[y] == [4.0]


def test_errors_name_the_users_types() -> None:
    with pytest.raises(TypeError, match="sin takes 1 inputs, not 2"):
        sin(num("x"), num("y"))
    assert exp(num("x")).type is pos


def test_an_option_that_an_op_does_not_take_is_named_with_the_op() -> None:
    with pytest.raises(OptionError, match=r"sin: .*unexpected keyword argument 'to'[\s\S]*test_op"):
        sin(num("x"), to=1)


def test_older_forms_of_methods_given_later() -> None:
    """Without the graph, in the class or set on it afterwards."""

    class Own(Op):
        __props__ = ()
        itypes = otypes = (num,)

    Own.infer_shape = lambda self, node, shapes: [shapes[0]]  # type: ignore[assignment, misc]
    Own.do_constant_folding = lambda self, node: False  # type: ignore[assignment, misc]
    node = Own()(num()).owner
    assert Own().infer_shape(None, node, [(1,)]) == [(1,)]
    assert Own().do_constant_folding(None, node) is False
    Own.infer_shape = lambda self, fgraph, node, shapes: [(fgraph,)]  # type: ignore[method-assign]
    Own.do_constant_folding = lambda self, fgraph, node: fgraph  # type: ignore[method-assign]
    assert Own().infer_shape("graph", node, [(1,)]) == [("graph",)]
    assert Own().do_constant_folding("graph", node) == "graph"

    class Folded(Own):
        def do_constant_folding(self, node: Any) -> bool:  # type: ignore[override]
            return node.op is self

    assert Folded().do_constant_folding(None, Folded()(num()).owner)


def test_older_forms_of_methods_of_all_kinds() -> None:
    """Of a plain base, decorated, static, of the class; what overrides them counts."""

    class Mixin:
        def infer_shape(self, node: Any, shapes: Any) -> Any:
            return [*shapes, "mixin"]

    class Mixed(Mixin, Op):  # type: ignore[misc]
        __props__ = ()

    class Newer(Mixed):
        def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:
            return [*shapes, fgraph]

    class Static(Op):
        infer_shape: Any = staticmethod(lambda node, shapes: [*shapes, "static"])

    class OfClass(Op):
        @classmethod
        def infer_shape(cls, node: Any, shapes: Any) -> Any:  # type: ignore[override]
            return [*shapes, cls]

    class Decorated(Op):
        @wraps(Mixin.infer_shape)
        def infer_shape(self, *args: Any) -> Any:
            return Mixin.infer_shape(self, *args)  # type: ignore[arg-type]

    for cls, last in (
        (Mixed, "mixin"), (Newer, "graph"), (Static, "static"), (OfClass, OfClass),
        (Decorated, "mixin"),
    ):  # fmt: skip
        assert cls().infer_shape("graph", None, [(1,)]) == [(1,), last]  # type: ignore[arg-type]
    Static.infer_shape = Mixed.infer_shape  # (as it was read)
    assert Static().infer_shape("graph", None, []) == ["mixin"]
