"""`DestroyHandler`: every kind of refusal, and edges that follow replacements."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.memory import view_roots
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import Type
from tests.toy import add, const, exp, join, log, neg, num, overwrite, sin, view


class Drain(Op):
    """Overwrites its input and returns something else."""

    __props__ = ()
    destroy_map = {None: [0]}

    def infer_types(self, types: tuple[Any, ...]) -> tuple[Type]:
        return (num,)


class OverwriteBoth(Op):
    __props__ = ()
    destroy_map = {0: [0], 1: [1]}
    itypes = (num, num)
    otypes = (num, num)


drain, overwrite_both = Drain(), OverwriteBoth()


def graph(
    inputs: list[Variable], outputs: list[Variable], mutable: list[Variable] | None = None
) -> FunctionGraph:
    """A graph on the user's own variables, with a handler."""
    return FunctionGraph(inputs, outputs, [DestroyHandler(mutable or [])], clone=False)


def refused(fgraph: FunctionGraph, match: str) -> None:
    with pytest.raises(InconsistencyError, match=match):
        fgraph.validate()


def test_overwriting_a_value_that_nobody_else_reads_is_valid() -> None:
    x = num("x")
    fgraph = graph([x], [overwrite(sin(x))])
    fgraph.validate()
    fgraph.check_integrity()


def test_an_input_is_overwritten_only_if_it_is_mutable() -> None:
    x = num("x")
    refused(graph([x], [overwrite(x)]), "input that is not mutable")
    graph([x], [overwrite(x)], [x]).validate()


def test_mutable_inputs_may_be_named_by_the_variables_they_are_copies_of() -> None:
    x = num("x")
    FunctionGraph([x], [overwrite(x)], [DestroyHandler([x])]).validate()


def test_a_constant_is_never_overwritten() -> None:
    refused(graph([], [overwrite(const(1.0))]), "is a constant")


def test_an_output_is_never_overwritten() -> None:
    x = num("x")
    y = sin(x)
    refused(graph([x], [y, overwrite(y)]), "is an output of the graph")
    y = sin(x)
    refused(graph([x], [view(y), overwrite(y)]), "an output shares its memory")


def test_a_value_is_overwritten_once() -> None:
    x = num("x")
    y = sin(x)
    a, b = overwrite(y), drain(y)
    refused(graph([x], [add(a, b)]), "already overwritten by")


def test_a_node_does_not_overwrite_what_it_reads_through_another_input() -> None:
    x = num("x")
    y = sin(x)
    refused(graph([x], [overwrite(y, y)]), "reads the memory of input 0 through input 1")
    y = sin(x)
    refused(graph([x], [overwrite(y, view(y))]), "reads the memory of input 0 through input 1")


def test_a_reader_that_needs_the_result_cannot_run_before() -> None:
    x = num("x")
    y = sin(x)
    refused(graph([x], [add(y, overwrite(y))]), "another reader .* must run after")
    y = sin(x)
    refused(graph([x], [add(view(view(y)), overwrite(y))]), "another reader .* must run after")


def test_messages_name_the_op_and_the_users_line() -> None:
    x = num("x")
    refused(graph([x], [overwrite(x)]), r"Overwrite.*(?s:.*)test_destroyhandler\.py")


def test_readers_run_before_who_overwrites() -> None:
    x = num("x")
    y = sin(x)
    w = overwrite(y)
    readers = [neg(y), exp(view(y)), add(view(view(y)), x)]
    fgraph = graph([x], [w, *readers])
    fgraph.validate()
    order = fgraph.toposort()
    assert all(order.index(r.owner) < order.index(w.owner) for r in readers)
    assert readers[0].owner in fgraph.orderings()[w.owner]
    fgraph.check_integrity()


def test_view_roots_follow_views_down_to_memory() -> None:
    x = num("x")
    y = sin(x)
    assert view_roots(view(view(y))) == (y,)
    w = overwrite(y)
    assert view_roots(w) == (w,)


def test_a_view_of_a_destroyed_value_is_destroyed_too() -> None:
    x = num("x")
    y = sin(x)
    refused(graph([x], [add(view(y), overwrite(view(y)))]), "must run after")


def test_destroyers_form_chains() -> None:
    x = num("x")
    y = sin(x)
    first = overwrite(y)
    reader = neg(first)
    second = overwrite(view(first))
    other = neg(y)
    fgraph = graph([x], [second, other, reader])
    fgraph.validate()
    order = fgraph.toposort()
    place = {node.outputs[0]: i for i, node in enumerate(order)}
    assert place[other] < place[first] < place[reader] < place[second]


def test_two_outputs_may_overwrite_two_inputs() -> None:
    x = num("x")
    graph([x], list(overwrite_both(sin(x), neg(x)))).validate()
    y = sin(x)
    refused(graph([x], list(overwrite_both(y, y))), "reads the memory")


def test_edges_follow_a_replacement_of_the_destroyed_value() -> None:
    x = num("x")
    y, z = sin(x), log(x)
    w, reader = overwrite(y), neg(y)
    fgraph = graph([x], [w, reader, join(z, x)])
    fgraph.replace(y, z)
    fgraph.validate()
    fgraph.check_integrity()
    assert set(fgraph.orderings()[w.owner]) == {reader.owner, fgraph.outputs[2].owner}
    order = fgraph.toposort()
    assert order[-1] is w.owner


def test_a_replacement_that_adds_a_late_reader_is_refused_and_undone() -> None:
    x = num("x")
    y = sin(x)
    w = overwrite(y)
    late = log(w)
    fgraph = graph([x], [late])
    with pytest.raises(InconsistencyError):
        fgraph.replace_validate(late, add(late, y))
    assert fgraph.outputs == [late]
    fgraph.validate()
    fgraph.check_integrity()


def test_what_was_refused_becomes_valid_when_the_reader_leaves() -> None:
    x = num("x")
    y = sin(x)
    w = overwrite(y)
    fgraph = graph([x], [w, add(y, w)])
    refused(fgraph, "must run after")
    fgraph.replace(fgraph.outputs[1], neg(w))
    fgraph.validate()
    assert fgraph.orderings() == {}


def test_a_new_output_is_seen() -> None:
    x = num("x")
    y = sin(x)
    fgraph = graph([x], [overwrite(y)])
    fgraph.validate()
    fgraph.add_output(y)
    refused(fgraph, "is an output of the graph")


def test_an_output_that_moves_is_seen() -> None:
    x = num("x")
    y, z = sin(x), log(x)
    fgraph = graph([x], [overwrite(y), z])
    with pytest.raises(InconsistencyError):
        fgraph.replace_validate(z, y)
    assert fgraph.outputs[1] is z
    fgraph.validate()


def test_destroyers_are_not_merged() -> None:
    x = num("x")
    value = sin(x)
    fgraph = graph([x], [overwrite(value), overwrite(value)])
    assert len(fgraph) == 3
    refused(fgraph, "already")


def test_an_equal_value_that_will_be_overwritten_is_not_merged_with() -> None:
    x = num("x")
    y = sin(x)
    w = overwrite(y)
    fgraph = graph([x], [w])
    fgraph.replace_validate(w, add(w, sin(x)))
    assert [node.op for node in fgraph.toposort()].count(sin) == 2
    fgraph.check_integrity()


def test_a_copy_keeps_what_is_apart_apart_and_knows_the_mutable_inputs() -> None:
    x, m = num("x"), num("m")
    w = overwrite(sin(x))
    fgraph = graph([x, m], [w, overwrite(view(m))], [m])
    fgraph.replace_validate(w, add(w, sin(x)))
    copy = fgraph.clone()
    assert len(copy) == len(fgraph) == 6
    copy.validate()
    copy.check_integrity()


def test_only_one_handler_is_attached() -> None:
    x = num("x")
    fgraph = graph([x], [overwrite(sin(x))])
    handler = fgraph.destroy_handler
    fgraph.attach_feature(DestroyHandler())
    assert fgraph.destroy_handler is handler
    assert len(fgraph.features) == 1


def test_a_detached_handler_leaves_no_edges() -> None:
    x = num("x")
    y = sin(x)
    fgraph = graph([x], [overwrite(y), neg(y)])
    fgraph.remove_feature(fgraph.destroy_handler)
    assert fgraph.destroy_handler is None
    assert not fgraph.order.extra
    assert fgraph.orderings() == {}


def test_questions_can_be_asked_before_replacing() -> None:
    x = num("x")
    y = sin(x)
    z = add(y, exp(neg(y)))
    fgraph = graph([x], [z])
    handler = fgraph.destroy_handler
    assert handler.refusal(fgraph, z.owner, 0) is None
    assert handler.refusal(fgraph, z.owner, 1) is None
    assert "must run after" in handler.refusal(fgraph, neg_client(fgraph, y), 0)
    assert "not mutable" in handler.refusal(fgraph, y.owner, 0)


def neg_client(fgraph: FunctionGraph, v: Variable) -> Apply:
    return next(node for node in fgraph.users[v] if node.op is neg)


def test_equal_values_that_are_overwritten_are_not_merged_when_a_graph_is_built() -> None:
    x = num("x")
    first, second = overwrite(sin(x)), overwrite(view(sin(x)))
    fgraph = FunctionGraph([x], [first, second, exp(sin(x))], [DestroyHandler()])
    fgraph.validate()
    assert sum(node.op is sin for node in fgraph.apply_nodes) == 2
    read = fgraph.outputs[2].owner.inputs[0]
    destroyer = next(iter(n for n in fgraph.users[read] if n.op is overwrite))
    order = fgraph.toposort()
    assert order.index(fgraph.outputs[2].owner) < order.index(destroyer)


def test_an_output_that_is_changed_to_what_overwrites_is_watched() -> None:
    x = num("x")
    fgraph = FunctionGraph([x], [sin(x)])
    fgraph.change_node_input(*fgraph.get_output_client(0), overwrite(exp(fgraph.inputs[0])))
    assert fgraph.destroy_handler is not None
    fgraph.validate()
    fgraph.check_integrity()
