"""`FunctionGraph`: building, reading, merging at import, copying (replacing: `test_store.py`)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rewrite_engine.errors import (
    ConstantInputError,
    CycleError,
    DuplicateInputError,
    ForeignObjectError,
    InconsistencyError,
    InputError,
    MissingInputError,
)
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import History
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Output
from rewrite_engine.graph.replace import equal_computations
from tests.graph.test_traverse import DEEP, chain, lattice
from tests.growth import exponent
from tests.toy import add, const, divmod_, exp, mul, neg, num, pos, sin, sub

# --- building ------------------------------------------------------------------------------------


def test_a_graph_works_on_a_copy() -> None:
    x = num("x")
    y = add(sin(x), sin(x))
    fgraph = FunctionGraph([x], [y])
    fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])
    assert fgraph.inputs[0] is not x
    assert fgraph.inputs[0].name == "x"
    assert equal_computations([y], [add(sin(x), sin(x))])
    assert y.owner.inputs[0] is not y.owner.inputs[1]


def test_the_memo_maps_the_users_variables() -> None:
    x = num("x")
    a, b = sin(x), sin(x)
    fgraph = FunctionGraph([x], [exp(a), b])
    assert fgraph.memo[x] is fgraph.inputs[0]
    assert fgraph.memo[a] is fgraph.memo[b] is fgraph.outputs[1]
    memo: dict[Variable, Variable] = {}
    assert FunctionGraph([x], [a], memo=memo).outputs == [memo[a]]


def test_a_graph_may_take_over_the_users_nodes() -> None:
    x = num("x")
    y = sin(x)
    fgraph = FunctionGraph([x], [y], clone=False)
    assert fgraph.inputs == [x]
    assert fgraph.outputs == [y]
    assert y.owner in fgraph


def test_taking_over_changes_only_nodes_above_merged_ones() -> None:
    x = num("x")
    a, b = sin(x), sin(x)
    above, other = exp(b), neg(a)
    inputs = other.owner.inputs
    FunctionGraph([x], [a, above, other], clone=False)
    assert above.owner.inputs == (a,)
    assert other.owner.inputs == inputs
    assert b.owner.inputs == (x,)


def test_inputs_may_be_kept_while_nodes_are_copied() -> None:
    x = num("x")
    y = sin(x)
    for fgraph in (FunctionGraph(None, [y]), FunctionGraph([x], [y], memo={x: x})):
        assert fgraph.inputs == [x]
        assert fgraph.outputs[0] is not y


def test_all_roots_that_are_not_constants_are_inputs_by_default() -> None:
    x, y = num("x"), num("y")
    fgraph = FunctionGraph(outputs=[add(y, sin(x), 2.0)])
    assert [v.name for v in fgraph.inputs] == ["y", "x"]


def test_computed_variables_may_be_inputs_of_a_copy() -> None:
    x = num("x")
    a = sin(x)
    fgraph = FunctionGraph([a], [exp(a), a])
    assert len(fgraph) == 1
    assert fgraph.inputs[0].owner is None
    assert fgraph.outputs[1] is fgraph.inputs[0]
    with pytest.raises(InputError, match="only a copy of it can be an input"):
        FunctionGraph([a], [exp(a)], clone=False)


def test_missing_inputs_are_named_with_the_line_that_uses_them() -> None:
    x, y = num("x"), num("y")
    out = add(x, y)
    with pytest.raises(
        MissingInputError, match=r"add: its input y of type Num(?s:.*)test_fgraph\.py"
    ):
        FunctionGraph([x], [out])
    with pytest.raises(MissingInputError, match="y of type Num is neither"):
        FunctionGraph([x], [y])


def test_wrong_inputs_and_outputs() -> None:
    x = num("x")
    with pytest.raises(DuplicateInputError, match="x is an input of the graph twice"):
        FunctionGraph([x, x], [x])
    with pytest.raises(ForeignObjectError, match="input 1 of the graph is not a variable: str 'y'"):
        FunctionGraph([x, "y"], [x])  # type: ignore[list-item]
    with pytest.raises(ForeignObjectError, match=r"output 0 .* is not a variable: int 3"):
        FunctionGraph([x], [3])  # type: ignore[list-item]
    with pytest.raises(ConstantInputError, match="is a constant"):
        FunctionGraph([const(1.0)], [x])


def test_a_graph_with_a_cycle_is_refused() -> None:
    x = num("x")
    a = sin(x)
    b = exp(a)
    a.owner.inputs = (b,)
    with pytest.raises(CycleError):
        FunctionGraph([x], [b])


def test_tags_and_names_and_lines_are_copied() -> None:
    x = num("x")
    y = sin(x, name="y")
    y.tag.note = 1
    own = FunctionGraph([x], [y]).outputs[0]
    own.tag.note = 2
    assert (own.name, y.tag.note, own.owner.where()) == ("y", 1, y.owner.where())


def test_inputs_and_outputs_can_be_added() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [sin(x)], clone=False)
    y = num("y")
    fgraph.add_input(y)
    fgraph.add_output(add(y, sin(x)))
    assert fgraph.outputs[1].owner.inputs == (y, fgraph.outputs[0])
    fgraph.check_integrity()
    with pytest.raises(DuplicateInputError):
        fgraph.add_input(y)
    with pytest.raises(MissingInputError):
        fgraph.add_output(sin(num("z")))
    with pytest.raises(ConstantInputError):
        fgraph.add_input(const(2.0))
    fgraph.check_integrity()


def test_an_output_may_be_added_by_the_name_it_had_before_merging() -> None:
    x = num("x")
    a, b = sin(x), sin(x)
    fgraph = FunctionGraph([x], [exp(a), exp(b)])
    fgraph.add_output(b)
    assert fgraph.outputs[2] is fgraph.outputs[0].owner.inputs[0]
    fgraph.check_integrity()


# --- merging at import ---------------------------------------------------------------------------


def test_equal_nodes_are_merged_whatever_their_depth() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [exp(sin(neg(x))), exp(sin(neg(x)))])
    assert len(fgraph) == 3
    assert fgraph.merged == 3
    assert fgraph.outputs[0] is fgraph.outputs[1]


def test_equal_constants_are_merged_and_different_ones_are_not() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [add(x, 2.0), add(x, const(2.0)), add(x, 0.0), add(x, -0.0)])
    assert len(fgraph) == 3
    assert len(fgraph.constants) == 3


def test_what_differs_in_op_order_or_output_is_not_merged() -> None:
    x, y = num("x"), num("y")
    outs = [sub(x, y), sub(y, x), sin(x), exp(x), *divmod_(x, y), add(x, y), add(x, y, y)]
    fgraph = FunctionGraph([x, y], outs)
    assert len(fgraph) == 7
    assert len(set(fgraph.outputs)) == 8


def test_all_outputs_of_a_node_are_merged() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [*divmod_(x, x), *divmod_(x, x)])
    assert len(fgraph) == 1
    assert fgraph.outputs[:2] == fgraph.outputs[2:]


def test_a_name_is_found_again_on_the_node_that_stays() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [sin(x), sin(x, name="s")])
    assert fgraph.outputs[0].name == "s"


def test_merging_at_import_can_be_left_out() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [sin(x), sin(x)], merging=False)
    assert len(fgraph) == 2


# --- reading -------------------------------------------------------------------------------------


def test_clients_tell_where_a_variable_is_used() -> None:
    x, y = num("x"), num("y")
    a = add(x, y, x)
    fgraph = FunctionGraph([x, y], [a, x, a], clone=False)
    assert said(fgraph.get_clients(x)) == ["add(x, y, x) 0", "add(x, y, x) 2", "output[1](x) 0"]
    assert said(fgraph.get_clients(a)) == ["output[0](add.0) 0", "output[2](add.0) 0"]
    assert list(fgraph.users[y]) == [a.owner]
    assert fgraph.clients[y] == [(a.owner, 1)]
    assert dict(fgraph.clients).keys() == fgraph.variables
    assert num("z") not in fgraph.clients
    (use,) = [c for c, _ in fgraph.clients[x] if isinstance(c.op, Output)]
    assert (use.op.idx, use.inputs, use.op) == (1, (x,), Output(1))
    assert use not in fgraph.apply_nodes
    with pytest.raises(KeyError):
        fgraph.clients[num("z")]


def said(uses: list[tuple[Apply, int]]) -> list[str]:
    return [f"{node} {i}" for node, i in uses]


def test_one_input_of_a_node_is_changed() -> None:
    x, y = num("x"), num("y")
    a = add(x, x)
    fgraph = FunctionGraph([x, y], [neg(a), a], clone=False)
    fgraph.change_node_input(a.owner, 1, y)
    fgraph.check_integrity()
    assert list(map(str, fgraph.toposort())) == ["add(x, y)", "neg(add.0)"]
    with pytest.raises(MissingInputError):
        fgraph.change_node_input(fgraph.outputs[1].owner, 0, num("z"))
    z = num("z")
    fgraph.change_node_input(fgraph.outputs[1].owner, 0, sin(z), import_missing=True)
    assert fgraph.inputs == [x, y, z]
    assert list(map(str, fgraph.toposort())) == ["sin(z)", "add(sin.0, y)", "neg(add.0)"]
    fgraph.check_integrity()


def test_one_output_is_changed() -> None:
    x = num("x")
    a = sin(x)
    fgraph = FunctionGraph([x], [a, a, neg(a)], clone=False)
    history = History()
    fgraph.attach_feature(history)
    before = history.checkpoint()
    fgraph.change_node_input(*fgraph.get_output_client(1), exp(x))
    fgraph.check_integrity()
    assert list(map(str, fgraph.outputs)) == ["sin.0", "exp.0", "neg.0"]
    assert said(fgraph.clients[a]) == ["neg(sin.0) 0", "output[0](sin.0) 0"]
    history.revert(fgraph, before)
    fgraph.check_integrity()
    assert fgraph.outputs[:2] == [a, a]
    fgraph.change_node_input(*fgraph.get_output_client(2), x)
    assert fgraph.outputs == [a, a, x]
    assert list(map(str, fgraph.toposort())) == ["sin(x)"]
    fgraph.check_integrity()


def test_an_output_is_removed() -> None:
    x, y = num("x"), num("y")
    a = sin(x)
    fgraph = FunctionGraph([x, y], [a, neg(a), a], clone=False, updates={1: 0, 2: 1})
    fgraph.remove_output(1)
    fgraph.check_integrity()
    assert fgraph.outputs == [a, a]
    assert fgraph.updates == {1: 1}
    assert list(map(str, fgraph.toposort())) == ["sin(x)"]
    fgraph.remove_output(-1)
    fgraph.remove_output(0)
    assert len(fgraph) == 0
    fgraph.check_integrity()
    with pytest.raises(IndexError):
        fgraph.remove_output(0)


def test_an_input_is_removed() -> None:
    x, y, z = num("x"), num("y"), num("z")
    fgraph = FunctionGraph([x, y, z], [sin(y), z], clone=False, updates={1: 2})
    with pytest.raises(InputError, match="y is used by the graph"):
        fgraph.remove_input(1)
    with pytest.raises(InputError, match="z is used"):
        fgraph.remove_input(-1)
    fgraph.remove_input(0)
    fgraph.check_integrity()
    assert (fgraph.inputs, fgraph.updates) == ([y, z], {1: 1})
    assert x not in fgraph
    fgraph.replace(fgraph.outputs[0], neg(z))
    with pytest.raises(MissingInputError):
        fgraph.replace(fgraph.outputs[0], x)
    fgraph.remove_input(0)
    assert (fgraph.inputs, fgraph.updates) == ([z], {1: 0})
    fgraph.check_integrity()
    with pytest.raises(IndexError):
        fgraph.remove_input(1)


def test_roots_come_in_with_replacements() -> None:
    x, y = num("x"), num("y")
    a, b = sin(x), neg(x)
    fgraph = FunctionGraph([x], [a, b], clone=False)
    with pytest.raises(MissingInputError):
        fgraph.replace_all([(a, neg(y))])
    fgraph.replace_all({a: neg(y), b: y}, import_missing=True)
    assert fgraph.inputs == [x, y]
    assert list(map(str, fgraph.outputs)) == ["neg.0", "y"]


def test_a_graph_prints_itself(capsys: pytest.CaptureFixture[str]) -> None:
    x = num("x")
    FunctionGraph([x], [sin(x)]).dprint()
    assert capsys.readouterr().out.split() == ["sin", "[id", "A]", "0", "└─", "x", "[id", "B]"]


def test_copies_of_nodes_are_told() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [sin(x)])
    copy, memo = fgraph.clone_get_equiv()
    (node,) = fgraph.apply_nodes
    assert memo[node] is copy.outputs[0].owner


def test_toposort_is_a_topological_order_and_reproducible() -> None:
    x = num("x")

    def build() -> FunctionGraph:
        a = sin(x)
        q, r = divmod_(a, exp(x))
        return FunctionGraph([x], [mul(r, a), add(q, a)])

    order = build().toposort()
    assert [str(n.op) for n in order] == [str(n.op) for n in build().toposort()]
    place = {node: i for i, node in enumerate(order)}
    assert all(place[v.owner] < place[n] for n in order for v in n.inputs if v.owner)


def test_sizes_and_membership() -> None:
    x = num("x")
    y = sin(x)
    fgraph = FunctionGraph([x], [y], clone=False)
    assert len(fgraph) == len(fgraph.apply_nodes) == 1
    assert fgraph.variables == {x, y}
    assert x in fgraph
    assert y.owner in fgraph
    assert num("z") not in fgraph
    assert str(fgraph) == "FunctionGraph(sin.0)"
    assert repr(fgraph) == "<FunctionGraph with 1 input, 1 node: sin(x)>"


def test_unused_inputs_and_constant_outputs_are_fine() -> None:
    x, y = num("x"), num("y")
    fgraph = FunctionGraph([x, y], [const(2.0), x, x])
    fgraph.check_integrity()
    assert fgraph.toposort() == []
    assert fgraph.get_clients(fgraph.inputs[1]) == []
    assert said(fgraph.get_clients(fgraph.inputs[0])) == ["output[1](x) 0", "output[2](x) 0"]


def test_integrity_notices_damage() -> None:
    x = num("x")
    y = add(sin(x), 2.0)
    damages = [
        lambda g: g.users[g.inputs[0]].clear(),
        lambda g: g.table.clear(),
        lambda g: g.order.level.update({g.outputs[0].owner: 0}),
        lambda g: g.constants.clear(),
        lambda g: g.users.update({num("z"): {}}),
        lambda g: setattr(g.outputs[0].owner, "inputs", g.outputs[0].owner.inputs[:1]),
        lambda g: g.outputs.append(exp(g.inputs[0])),
    ]
    for damage in damages:
        fgraph = FunctionGraph([x], [y])
        fgraph.check_integrity()
        damage(fgraph)
        with pytest.raises(InconsistencyError):
            fgraph.check_integrity()


def test_operands_that_commute_are_merged_in_either_order() -> None:
    x, y = num("x"), num("y")
    fgraph = FunctionGraph([x, y], [add(x, y), sin(add(y, x)), sub(x, y), sub(y, x), add(x, x)])
    assert fgraph.outputs[0] is fgraph.outputs[1].owner.inputs[0]
    assert fgraph.outputs[2] is not fgraph.outputs[3]
    assert len(fgraph) == 5
    fgraph.check_integrity()
    fgraph.replace(fgraph.inputs[1], fgraph.inputs[0])
    fgraph.check_integrity()
    assert fgraph.outputs[0] is fgraph.outputs[4]


# --- copying -------------------------------------------------------------------------------------


def test_a_clone_is_independent() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [sin(x), exp(sin(x))], updates={0: 0})
    copy, memo = fgraph.clone_get_equiv()
    copy.check_integrity()
    assert copy.updates == {0: 0}
    assert not set(copy.variables) & set(fgraph.variables)
    assert [memo[v] for v in fgraph.outputs] == copy.outputs
    copy.replace(copy.outputs[0], copy.inputs[0])
    fgraph.check_integrity()
    assert equal_computations(fgraph.outputs, [sin(x), exp(sin(x))], fgraph.inputs, [x])


def test_a_clone_has_clones_of_the_features() -> None:
    class Watcher(Feature):
        pass

    x = num("x")
    fgraph = FunctionGraph([x], [sin(x)], [Watcher()])
    (feature,) = fgraph.clone().features
    assert isinstance(feature, Watcher)
    assert feature is not fgraph.features[0]
    assert fgraph.clone_get_equiv(attach_feature=False)[0].features == []


# --- size ----------------------------------------------------------------------------------------


def test_depth_and_sharing_are_no_problem() -> None:
    x = num("x")
    deep = FunctionGraph([x], [chain(x, DEEP)])
    assert len(deep) == len(deep.toposort()) == DEEP
    deep.replace(deep.outputs[0], deep.inputs[0])
    assert len(deep) == 0
    assert len(FunctionGraph([x], [lattice(x, 1_000)]).clone()) == 1_000


def test_building_is_linear() -> None:
    sizes = set()

    def building(n: int) -> Callable[[], None]:
        x, c = num("x"), pos("c")
        y: Variable = x
        for _ in range(n // 2):
            y = add(sin(y), c)
        return lambda: sizes.add(len(FunctionGraph([x, c], [y])))

    assert exponent(building, 1_000, 100_000) < 1.24  # three times per node
    assert sizes == {1_000, 100_000}


def test_attributes_are_looked_up_without_a_hook() -> None:
    """With a `__getattr__`, CPython looks up each attribute of each graph in the slow way."""
    assert not hasattr(FunctionGraph, "__getattr__")
    assert FunctionGraph.__getattribute__ is object.__getattribute__
