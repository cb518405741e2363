"""`FunctionGraph.replace` in all situations: settling, merging, typing, pruning, refusals."""

from __future__ import annotations

import pytest

from rewrite_engine.errors import CycleError, MissingInputError, TypeMismatchError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.order import Worklist
from rewrite_engine.graph.replace import equal_computations
from tests.growth import lines
from tests.toy import add, const, divmod_, exp, log, mul, neg, num, pos, sin, sub

x, y, p = num("x"), num("y"), pos("p")


def graph(*outputs: Variable) -> FunctionGraph:
    return FunctionGraph([x, y, p], outputs, clone=False)


def computes(fgraph: FunctionGraph, *outputs: Variable) -> bool:
    """Whether the graph is sound and computes these terms."""
    fgraph.check_integrity()
    return equal_computations(fgraph.outputs, outputs)


def unchanged(fgraph: FunctionGraph, nodes: set[object], *outputs: Variable) -> bool:
    return set(fgraph.apply_nodes) == nodes and fgraph.outputs == list(outputs)


# --- what is replaced by what --------------------------------------------------------------------


def test_every_use_is_replaced_outputs_too() -> None:
    a = sin(x)
    fgraph = graph(a, exp(a), add(a, y, a))
    own = fgraph.replace(a, neg(y), reason="test")
    assert computes(fgraph, neg(y), exp(neg(y)), add(neg(y), y, neg(y)))
    assert fgraph.outputs[0] is own
    assert a not in fgraph


def test_an_input_is_replaced_and_stays_an_input() -> None:
    fgraph = graph(sin(x), x)
    fgraph.replace(x, add(y, y))
    assert computes(fgraph, sin(add(y, y)), add(y, y))
    assert fgraph.inputs == [x, y, p]


def test_a_constant_is_replaced_and_forgotten() -> None:
    fgraph = graph(add(x, 2.0), mul(x, 2.0))
    two = next(iter(fgraph.constants.values()))
    fgraph.replace(two, const(3.0))
    assert computes(fgraph, add(x, 3.0), mul(x, 3.0))
    assert [c.data for c in fgraph.constants.values()] == [3.0]


def test_a_value_that_is_no_variable_becomes_a_constant() -> None:
    fgraph = graph(sin(add(x, y)))
    fgraph.replace(fgraph.outputs[0].owner.inputs[0], 2.0)  # type: ignore[arg-type]
    assert computes(fgraph, sin(num.make_constant(2.0)))


def test_equal_constants_stay_one() -> None:
    fgraph = graph(add(x, 2.0))
    own = fgraph.replace(x, const(2.0))
    assert own is fgraph.outputs[0].owner.inputs[1]
    assert fgraph.replace(own, const(2.0)) is own
    assert computes(fgraph, add(2.0, 2.0))


def test_one_of_several_outputs_is_replaced() -> None:
    q, r = divmod_(x, y)
    fgraph = graph(add(q, r), q)
    fgraph.replace(q, x)
    assert computes(fgraph, add(x, divmod_(x, y)[1]), x)
    fgraph.replace(r, x)
    assert len(fgraph) == 1


def test_what_is_not_in_the_graph_or_not_used_is_not_replaced() -> None:
    fgraph = graph(sin(x))
    nodes, outputs = set(fgraph.apply_nodes), list(fgraph.outputs)
    assert fgraph.replace(num("z"), x) is x
    new = exp(x)
    assert fgraph.replace(y, new) is new
    assert unchanged(fgraph, nodes, *outputs)
    assert fgraph.replace(x, x) is x
    fgraph.check_integrity()


def test_an_output_may_take_the_place_of_another() -> None:
    a, b = sin(x), log(x)
    fgraph = graph(a, b, a)
    fgraph.replace(a, b)
    assert computes(fgraph, b, b, b)
    assert sorted(fgraph.out_uses[b]) == [0, 1, 2]
    fgraph.replace(b, x)
    assert computes(fgraph, x, x, x)
    assert fgraph.out_uses == {x: fgraph.out_uses[x]}


def test_a_replacement_may_contain_what_it_replaces() -> None:
    a = sin(x)
    fgraph = graph(exp(a), a, neg(a))
    fgraph.replace(a, add(a, 1.0))
    b = add(sin(x), 1.0)
    assert computes(fgraph, exp(b), b, neg(b))


def test_a_replacement_that_exists_already_as_a_client() -> None:
    """neg(a) is there: it computes the replacement, so it is let alone and the others move."""
    a = sin(x)
    fgraph = graph(neg(a), exp(a))
    fgraph.replace(a, neg(a))
    assert computes(fgraph, neg(sin(x)), exp(neg(sin(x))))


def test_replacing_all_is_one_after_the_other() -> None:
    fgraph = graph(sub(x, y))
    fgraph.replace_all([(x, y), (y, sin(p))])
    assert computes(fgraph, sub(sin(p), sin(p)))
    fgraph = graph(sub(x, y))
    fgraph.replace_all({x: p})
    assert computes(fgraph, sub(p, y))


def test_missing_roots_may_be_imported_as_inputs() -> None:
    z = num("z")
    fgraph = graph(sin(x))
    fgraph.replace(x, add(z, y), import_missing=True)
    assert computes(fgraph, sin(add(z, y)))
    assert fgraph.inputs[-1] is z
    w = num("w")
    fgraph.replace(z, w, import_missing=True)
    assert computes(fgraph, sin(add(w, y)))


def test_names_and_lines_pass_on_to_what_is_new() -> None:
    a = sin(x, name="a")
    fgraph = graph(exp(a))
    new = fgraph.replace(a, neg(x))
    assert new.name == "a"
    assert new.owner.where() == a.owner.where()


def test_constants_and_inputs_keep_their_names() -> None:
    """A constant may be shared by everybody: it must not be called after one replaced variable."""
    z = num()
    fgraph = FunctionGraph([x, z], [sin(x, name="a"), log(x, name="b")], clone=False)
    one = num.make_constant(1.0)
    fgraph.replace(fgraph.outputs[0], one)
    fgraph.replace(fgraph.outputs[1], z)
    assert one.name is None
    assert z.name is None


# --- refusals ------------------------------------------------------------------------------------


def test_a_cycle_is_refused_and_leaves_the_graph_as_it_was() -> None:
    a = sin(x)
    b = exp(a)
    fgraph = graph(b, neg(b))
    nodes, outputs = set(fgraph.apply_nodes), list(fgraph.outputs)
    with pytest.raises(CycleError, match=r"log: the replacement(?s:.*)test_store\.py"):
        fgraph.replace(a, log(b))
    assert unchanged(fgraph, nodes, *outputs)
    with pytest.raises(ValueError, match="cycle"):
        fgraph.replace(x, add(neg(y), 7.0, b))
    assert unchanged(fgraph, nodes, *outputs)
    fgraph.check_integrity()


def test_a_missing_input_is_refused_and_leaves_nothing_behind() -> None:
    fgraph = graph(sin(x))
    with pytest.raises(MissingInputError):
        fgraph.replace(fgraph.outputs[0], add(exp(y), add(7.0, exp(x), num("z"))))
    with pytest.raises(MissingInputError):
        fgraph.replace(fgraph.outputs[0], num("z"))
    assert computes(fgraph, sin(x))
    assert fgraph.constants == {}


def test_a_wrong_type_is_refused_before_anything_happens() -> None:
    fgraph = graph(exp(x), add(p, p))
    nodes, outputs = set(fgraph.apply_nodes), list(fgraph.outputs)
    with pytest.raises(TypeMismatchError, match="of type Num as a variable of type Pos"):
        fgraph.replace(p, sin(x))
    with pytest.raises(TypeMismatchError):
        fgraph.replace_all([(x, y), (p, y)])
    assert unchanged(fgraph, nodes, *outputs)
    fgraph.check_integrity()


# --- settling ------------------------------------------------------------------------------------


def test_merges_cascade_upwards() -> None:
    fgraph = graph(exp(neg(sin(x))), exp(neg(sin(y))), exp(neg(log(y))))
    fgraph.replace(x, y)
    assert computes(fgraph, exp(neg(sin(y))), exp(neg(sin(y))), exp(neg(log(y))))
    assert len(fgraph) == 6
    fgraph.replace(next(n for n in fgraph.toposort() if n.op is log).out, sin(y))
    assert len(fgraph) == 3


def test_merging_with_a_node_that_stands_higher() -> None:
    high = neg(add(exp(exp(exp(x))), y))
    low = neg(add(p, y))
    top = sin(log(low))
    fgraph = graph(high, top)
    fgraph.replace(p, exp(exp(exp(x))))
    assert computes(fgraph, high, sin(log(high)))


def test_nodes_with_several_outputs_are_merged() -> None:
    a, b = divmod_(x, y), divmod_(p, y)
    fgraph = graph(*a, sin(b[0]), b[1])
    fgraph.replace(x, p)
    q, r = divmod_(p, y)
    assert computes(fgraph, q, r, sin(q), r)
    assert len(fgraph) == 2


def test_precise_types_rise_through_the_nodes_above() -> None:
    a = sin(x)
    b = mul(add(a, p), p)
    fgraph = graph(b, neg(b), sub(b, b))
    fgraph.replace(a, exp(x))
    assert [v.type for v in fgraph.outputs] == [pos, num, num]
    assert fgraph.outputs[0].owner.inputs[0].type is pos
    fgraph.check_integrity()


def test_precise_types_rise_through_merges() -> None:
    a, b = add(sin(x), p), add(log(y), p)
    fgraph = graph(mul(a, a), mul(b, p))
    fgraph.replace_all([(a.owner.inputs[0], exp(x)), (b.owner.inputs[0], exp(x))])
    assert [v.type for v in fgraph.outputs] == [pos, pos]
    assert computes(fgraph, mul(a, a), mul(a, p))


def test_types_rise_along_long_chains() -> None:
    a = x
    for _ in range(20_000):
        a = add(a, p)
    fgraph = graph(a)
    fgraph.replace(x, p)
    assert fgraph.outputs[0].type is pos
    fgraph.check_integrity()


def test_pruning_stops_at_what_is_still_used() -> None:
    a = sin(x)
    b, c = exp(a), log(a)
    fgraph = graph(sub(b, 5.0), neg(c), c)
    fgraph.replace(fgraph.outputs[0], x)
    assert computes(fgraph, x, neg(c), c)
    assert b not in fgraph
    assert a in fgraph
    assert fgraph.constants == {}
    fgraph.replace(fgraph.outputs[1], c)
    assert c in fgraph


def test_what_was_pruned_may_come_back() -> None:
    a = sin(x)
    b = exp(a)
    fgraph = graph(b)
    fgraph.replace(b, p)
    assert len(fgraph) == 0
    fgraph.replace(p, b)
    assert computes(fgraph, exp(sin(x)))


@pytest.mark.parametrize("eager", [True, False])
def test_a_wide_node_is_rebuilt_once_with_a_driver(eager: bool) -> None:
    n = 1_000 if eager else 10_000
    xs = [num() for _ in range(n)]
    fgraph = FunctionGraph(xs, [add(*[sin(v) for v in xs])], clone=False)
    if not eager:
        fgraph.worklist = Worklist()

    def replace() -> None:
        for a in fgraph.outputs[0].owner.inputs:
            fgraph.replace(a, neg(a.owner.inputs[0]))
        fgraph.flush()

    assert lines(replace) < (2 * n if eager else 400) * n
    assert computes(fgraph, add(*[neg(v) for v in xs]))


def test_a_wide_node_above_chains_of_all_lengths_is_settled_last() -> None:
    """Each chain merges at its own depth; the node above must wait for all of them."""
    n = 300

    def outputs(root: Variable) -> Variable:
        tops = []
        for i in range(n):
            a = add(root, float(i))
            for _ in range(i):
                a = sin(a)
            tops.append(a)
        return add(*tops)

    fgraph = graph(outputs(x), outputs(y))
    settled = []
    settle = fgraph.settle
    fgraph.settle = lambda node: settled.append(node) or settle(node)  # type: ignore[method-assign]
    wide = fgraph.outputs[0].owner
    fgraph.replace(x, y)
    assert settled.count(wide) == 1
    assert fgraph.outputs[0] is fgraph.outputs[1]
    fgraph.check_integrity()
