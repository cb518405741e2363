"""`DestroyHandler`: every kind of refusal, edges that follow replacements, and random graphs run on real memory."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewrite_engine.errors import CycleError, InconsistencyError
from rewrite_engine.graph.destroyhandler import DestroyHandler, view_root
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
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
    refused(graph([x], [view(y), overwrite(y)]), "an output shows its memory")


def test_a_value_is_overwritten_once() -> None:
    x = num("x")
    y = sin(x)
    a, b = overwrite(y), drain(y)
    refused(graph([x], [add(a, b)]), "overwritten by .* already")


def test_a_node_does_not_overwrite_what_it_reads_through_another_input() -> None:
    x = num("x")
    y = sin(x)
    refused(graph([x], [overwrite(y, y)]), "reads the memory of input 0 through input 1")
    y = sin(x)
    refused(graph([x], [overwrite(y, view(y))]), "reads the memory of input 0 through input 1")


def test_a_reader_that_needs_the_result_cannot_run_before() -> None:
    x = num("x")
    y = sin(x)
    refused(graph([x], [add(y, overwrite(y))]), "another reader .* has to run after")
    y = sin(x)
    refused(graph([x], [add(view(view(y)), overwrite(y))]), "another reader .* has to run after")


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


def test_view_root_follows_views_down_to_memory() -> None:
    x = num("x")
    y = sin(x)
    assert view_root(view(view(y))) is y
    assert view_root(overwrite(y)) is not y


def test_a_view_of_a_destroyed_value_is_destroyed_too() -> None:
    x = num("x")
    y = sin(x)
    refused(graph([x], [add(view(y), overwrite(view(y)))]), "has to run after")


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
    refused(fgraph, "has to run after")
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
    fgraph = graph([x], [overwrite(sin(x)), overwrite(sin(x))])
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
    guard = fgraph.guard
    fgraph.attach_feature(DestroyHandler())
    assert fgraph.guard is guard
    assert len(fgraph.features) == 1


def test_a_detached_handler_leaves_no_edges() -> None:
    x = num("x")
    y = sin(x)
    fgraph = graph([x], [overwrite(y), neg(y)])
    fgraph.remove_feature(fgraph.guard)
    assert fgraph.guard is None
    assert not fgraph.order.extra
    assert fgraph.orderings() == {}


def test_questions_can_be_asked_before_replacing() -> None:
    x = num("x")
    y = sin(x)
    z = add(y, exp(neg(y)))
    fgraph = graph([x], [z])
    guard = fgraph.guard
    assert guard.refusal(fgraph, z.owner, 0) is None
    assert guard.refusal(fgraph, z.owner, 1) is None
    assert "has to run after" in guard.refusal(fgraph, neg_client(fgraph, y), 0)
    assert "not mutable" in guard.refusal(fgraph, y.owner, 0)


def neg_client(fgraph: FunctionGraph, v: Variable) -> Apply:
    return next(node for node in fgraph.clients[v] if node.op is neg)


# --- random graphs, run on real memory ---------------------------------------------------------------------


class Cell(Op):
    """`a + 1` or `a + 2*b` on one-element lists; `into`: the input whose list holds the result."""

    __props__ = ("nin", "into")

    def __init__(self, nin: int, into: int | None = None) -> None:
        self.nin, self.into = nin, into
        if into is not None:
            self.destroy_map = {0: [into]}

    def infer_types(self, types: tuple[Any, ...]) -> tuple[Type]:
        return (num,)

    def run(self, cells: list[list[int]]) -> list[int]:
        value = cells[0][0] + 1 if self.nin == 1 else cells[0][0] + 2 * cells[1][0]
        if self.into is None:
            return [value]
        cells[self.into][0] = value
        return cells[self.into]


def random_graph(rng: random.Random) -> FunctionGraph:
    roots: list[Variable] = [num("x"), num("m")]
    pool = [*roots, const(5.0)]
    for _ in range(rng.randrange(2, 14)):
        kind = rng.randrange(4)
        new = pool[-rng.randrange(1, min(5, len(pool)) + 1)]
        if kind == 0:
            pool.append(view(new))
        elif kind == 1:
            pool.append(Cell(1)(new))
        else:
            pool.append(Cell(2)(new, rng.choice(pool)))
    return graph(roots, [pool[-1], rng.choice(pool)], [roots[1]])


def run(fgraph: FunctionGraph, in_place: bool) -> list[int]:
    """Execute in the graph's order; with `in_place`, on shared memory as the ops declare it."""
    cells: dict[Variable, list[int]] = {v: [i + 1] for i, v in enumerate(fgraph.inputs)}
    cells.update({v: [int(v.data)] for v in fgraph.clients if isinstance(v, Constant)})
    for node in fgraph.toposort():
        given = [cells[v] if in_place else list(cells[v]) for v in node.inputs]
        cells[node.outputs[0]] = given[0] if node.op is view else node.op.run(given)
    return [cells[v][0] for v in fgraph.outputs]


def legal(fgraph: FunctionGraph, ops: dict[Apply, Any], mutable: set[Variable]) -> bool:
    """Brute force: collect all constraints, sort them topologically."""
    nodes = list(fgraph.apply_nodes)
    owners: dict[Variable, Apply] = {}
    before: dict[Apply, set[Apply]] = {n: {v.owner for v in n.inputs if v.owner} for n in nodes}
    for node in nodes:
        into = getattr(ops[node], "into", None)
        if into is None:
            continue
        root = view_root(node.inputs[into])
        if isinstance(root, Constant) or (root.owner is None and root not in mutable):
            return False
        if root in owners or any(view_root(v) is root for v in fgraph.outputs):
            return False
        if sum(view_root(v) is root for v in node.inputs) > 1:
            return False
        owners[root] = node
        before[node] |= {n for n in nodes if any(view_root(v) is root for v in n.inputs)} - {node}
    done: set[Apply] = set()
    while len(done) < len(nodes):
        ready = [n for n in nodes if n not in done and before[n] <= done]
        if not ready:
            return False
        done.update(ready)
    return True


def try_in_place(seed: int) -> int:
    """Let random nodes work in place, one after the other; return how many may."""
    rng = random.Random(seed)
    fgraph = random_graph(rng)
    want, accepted = run(fgraph, in_place=False), 0
    for _ in range(12):
        pure = [n for n in fgraph.toposort() if isinstance(n.op, Cell) and n.op.into is None]
        if not pure:
            break
        node = rng.choice(pure)
        op = Cell(node.op.nin, rng.randrange(node.op.nin))
        ops = {n: n.op for n in fgraph.apply_nodes} | {node: op}
        allowed = legal(fgraph, ops, fgraph.guard.mutable)
        try:
            fgraph.replace_validate(node.outputs[0], op(*node.inputs))
        except InconsistencyError:
            assert not allowed
        else:
            assert allowed
            accepted += 1
        fgraph.check_integrity()
        fgraph.validate()
        assert run(fgraph, in_place=True) == want
    return accepted


@given(st.integers(0, 1 << 30))
def test_random_in_place_work_is_refused_exactly_where_it_would_be_wrong(seed: int) -> None:
    try_in_place(seed)


def try_changes(seed: int) -> None:
    """Let nodes work in place and replace values, in turns: what is accepted computes the right thing."""
    rng = random.Random(seed)
    fgraph = random_graph(rng)
    for _ in range(15):
        node = rng.choice(fgraph.toposort())
        old, live = node.outputs[0], list(fgraph.clients)
        kind = rng.randrange(4)
        if kind == 0 and isinstance(node.op, Cell):
            new = Cell(node.op.nin, rng.choice([None, *range(node.op.nin)]))(*node.inputs)
        elif kind == 1:
            new = rng.choice(live)
        elif kind == 2:
            new = view(rng.choice(live))
        else:
            new = Cell(2, rng.choice([None, None, 0, 1]))(rng.choice(live), rng.choice(live))
        state = {n: n.inputs for n in fgraph.apply_nodes}, list(fgraph.outputs)
        try:
            fgraph.replace_validate(old, new)
        except (InconsistencyError, CycleError):
            assert state == ({n: n.inputs for n in fgraph.apply_nodes}, fgraph.outputs)
        fgraph.check_integrity()
        fgraph.validate()
        assert legal(fgraph, {n: n.op for n in fgraph.apply_nodes}, fgraph.guard.mutable)
        assert run(fgraph, in_place=True) == run(fgraph, in_place=False)
        if not len(fgraph):
            return


@given(st.integers(0, 1 << 30))
def test_random_changes_of_graphs_that_work_in_place(seed: int) -> None:
    try_changes(seed)
