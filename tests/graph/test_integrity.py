"""The invariants of a graph: what breaks one is found, at once where changes are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rewrite_engine.config import config
from rewrite_engine.errors import CycleError, InconsistencyError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.integrity import check_store
from rewrite_engine.graph.order import Worklist
from rewrite_engine.rewrite.driver import MergeOptimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from tests.rewrite.graphs import named
from tests.toy import add, const, exp, log, mul, neg, num, sin, sub

x, y = num("x"), num("y")
log_exp = named("log_exp", lambda a: log(exp(a)) >> a)


def graph() -> FunctionGraph:
    """exp(sin(x) + 2), neg(sin(x) + 2), cos(y): all invariants have something to say."""
    a = add(sin(x), 2.0)
    return FunctionGraph([x, y], [exp(a), neg(a), log(y)], clone=False)


def node(fgraph: FunctionGraph, name: str) -> Any:
    return next(n for n in fgraph.apply_nodes if str(n.op) == name)


def forget_a_client(fgraph: FunctionGraph) -> None:
    del fgraph.users[node(fgraph, "sin").out][node(fgraph, "add")]


def change_an_input(fgraph: FunctionGraph) -> None:
    node(fgraph, "log").inputs = (fgraph.inputs[0],)


def keep_what_left(fgraph: FunctionGraph) -> None:
    gone = sin(fgraph.inputs[1]).owner
    fgraph.table[fgraph.key_of(gone, gone.inputs)] = gone


def file_under_another_key(fgraph: FunctionGraph) -> None:
    a, b = node(fgraph, "exp"), node(fgraph, "neg")
    key = fgraph.key_of(a, a.inputs)
    fgraph.table[key] = b


def lose_a_node(fgraph: FunctionGraph) -> None:
    one = node(fgraph, "log")
    del fgraph.table[fgraph.key_of(one, one.inputs)]


def add_a_twin(fgraph: FunctionGraph) -> None:
    fgraph.merging = False
    fgraph.add_output(log(fgraph.inputs[1]))
    fgraph.merging = True


def sink(fgraph: FunctionGraph) -> None:
    fgraph.order.level[node(fgraph, "exp")] = 0


def keep_a_node(fgraph: FunctionGraph) -> None:
    fgraph._enter([sin(fgraph.inputs[1]).owner], {})


def move_an_output(fgraph: FunctionGraph) -> None:
    fgraph.out_uses[node(fgraph, "log").out] = [1]


def lose_a_constant(fgraph: FunctionGraph) -> None:
    fgraph.constants.clear()


def settle_what_is_gone(fgraph: FunctionGraph) -> None:
    fgraph.dirty[sin(fgraph.inputs[1]).owner] = [(None, None)]


@pytest.mark.parametrize(
    ("breaks", "said"),
    [
        (forget_a_client, "clients of sin"),
        (change_an_input, "another key"),
        (keep_what_left, r"sin\(y\) is in the table but not in the graph"),
        (file_under_another_key, "neg.* is in the table under another key"),
        (lose_a_node, r"equal to another term: log\(y\)"),
        (add_a_twin, r"equal to another term: log\(y\)"),
        (sink, r"exp.* is not above its input"),
        (keep_a_node, r"nodes: too many \['sin\(y\)'\]"),
        (move_an_output, "outputs: too many"),
        (lose_a_constant, "equal to another term"),
        (settle_what_is_gone, "nodes to be settled"),
    ],
)
def test_what_does_not_hold_is_found(breaks: Callable[[FunctionGraph], None], said: str) -> None:
    fgraph = graph()
    assert check_store(fgraph) == 0
    breaks(fgraph)
    with pytest.raises(InconsistencyError, match=said):
        check_store(fgraph)


def test_a_graph_is_sound_while_replacements_wait() -> None:
    fgraph = graph()
    fgraph.worklist = Worklist()
    fgraph.replace(node(fgraph, "sin").out, fgraph.inputs[1])
    assert fgraph.dirty
    check_store(fgraph)
    fgraph.replace(fgraph.inputs[1], fgraph.inputs[0])
    check_store(fgraph)
    assert fgraph.dirty


# --- after every change ---------------------------------------------------------------------------


class Breaks(Feature):
    """Forgets a client when a node leaves, as a mistake in the graph might."""

    def on_prune(self, fgraph: FunctionGraph, node: Any, reason: Any) -> None:
        forget_a_client(fgraph)


def test_a_change_that_breaks_something_is_found_at_once() -> None:
    for checked in (False, True):
        config.check_graphs = checked
        fgraph = graph()
        fgraph.attach_feature(Breaks())
        log_of_y = fgraph.outputs[2]
        if not checked:
            fgraph.replace(log_of_y, fgraph.inputs[0])
            continue
        with pytest.raises(InconsistencyError, match="clients of sin"):
            fgraph.replace(log_of_y, fgraph.inputs[0])


@pytest.mark.usefixtures("checked_graphs")
def test_changes_that_are_checked_are_the_same() -> None:
    fgraph = graph()
    with pytest.raises(CycleError):
        fgraph.replace(node(fgraph, "sin").out, exp(fgraph.outputs[1]))
    fgraph.replace(fgraph.inputs[1], exp(fgraph.inputs[0]))
    EquilibriumOptimizer([log_exp]).rewrite(fgraph)
    assert fgraph.outputs[2] is fgraph.inputs[0]


@pytest.mark.usefixtures("checked_graphs")
def test_what_is_still_to_be_merged_may_be_equal() -> None:
    fgraph = FunctionGraph([x], [sub(sin(log(x)), sin(log(x))), log(x)], merging=False)
    fgraph.replace(fgraph.outputs[1], fgraph.inputs[0])
    assert len(fgraph) == 5
    MergeOptimizer().rewrite(fgraph)
    assert len(fgraph) == 3
    assert check_store(fgraph) == 0


# --- a node that several graphs have --------------------------------------------------------------


def unmerged(*outputs: Any) -> FunctionGraph:
    fgraph = FunctionGraph([x, y], outputs, clone=False, merging=False)
    fgraph.merging = False
    return fgraph


@pytest.mark.usefixtures("checked_graphs")
def test_a_graph_changes_no_node_that_another_one_has() -> None:
    """The other one has an equal constant, and found the node by a key of its own."""
    two = const(2.0)
    a = exp(two)
    one = unmerged(add(x, a))
    other = unmerged(mul(y, const(2.0)), exp(const(2.0)))
    other.replace(y, one.outputs[0])
    assert a.owner.inputs[0] is two
    one.check_integrity()
    other.check_integrity()
    one.replace(a, const(7.0))
    one.check_integrity()
    assert str(one.outputs[0].owner.op) == "add"
    assert [v.data for v in one.variables if v.owner is None and v not in (x, y)] == [7.0]


@pytest.mark.usefixtures("checked_graphs")
def test_equal_constants_stay_apart_until_a_graph_merges() -> None:
    fgraph = unmerged(add(x, const(2.0)), mul(x, const(2.0)))
    assert len(fgraph.variables) == 6
    MergeOptimizer().rewrite(fgraph)
    assert len(fgraph.variables) == 5
    (two,) = fgraph.constants.values()
    assert [v.owner.inputs[1] for v in fgraph.outputs] == [two, two]
    assert check_store(fgraph) == 0


def test_a_term_that_was_put_in_stays_its_makers() -> None:
    """Rules that drop its nodes do not take them apart."""
    fgraph = FunctionGraph([x], [sin(x)])
    new = log(exp(fgraph.inputs[0]))
    below = new.owner.inputs[0]
    fgraph.replace(fgraph.outputs[0], new)
    EquilibriumOptimizer([log_exp]).rewrite(fgraph)
    assert fgraph.outputs == fgraph.inputs
    assert (new.owner.op, below.owner.op) == (log, exp)
