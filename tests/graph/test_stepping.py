"""`FullHistory`: each state is the graph as it was when its step was made, in any order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

from rewrite_engine.errors import CycleError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import FullHistory, History
from rewrite_engine.graph.journal import Journal
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import equal_computations, substitute
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.trace import brief
from tests.rewrite.graphs import SOUND, graphs, named, values
from tests.toy import add, exp, log, neg, num, pos, sin, sub

x, y = num("x"), num("y")
DRIVERS = [EquilibriumOptimizer(SOUND), WalkingOptimizer(SOUND, "out_to_in")]


def seen(fgraph: FunctionGraph) -> list[Variable]:
    """The outputs as they are now, also where clients are not settled: copies of the terms."""
    copies: dict[Variable, Variable] = {}
    todo = list(fgraph.outputs)
    while todo:
        v = todo[-1]
        if v in copies or v.owner is None:
            copies.setdefault(v, v)
            todo.pop()
            continue
        pending = fgraph.dirty.get(v.owner)
        inputs = v.owner.inputs if pending is None else substitute(v.owner.inputs, pending)
        missing = [i for i in inputs if i not in copies]
        if missing:
            todo += missing
            continue
        copies[v] = v.owner.op.make_node(*[copies[i] for i in inputs]).outputs[v.index]
        todo.pop()
    return [copies[v] for v in fgraph.outputs]


class Watcher(Feature):
    """Copies the graph as it is when the next step begins, or when asked."""

    def __init__(self) -> None:
        self.states: list[list[Variable]] = []

    def on_redirect(self, fgraph: Any, old: Any, new: Any, clients: Any, reason: Any) -> None:
        if reason != "merge":
            self.states.append(seen(fgraph))


def same(fgraph: FunctionGraph, outputs: list[Variable]) -> bool:
    return equal_computations(fgraph.outputs, outputs, fgraph.inputs, fgraph.inputs)


@settings(max_examples=100)
@over(graphs(), st.sampled_from(DRIVERS), st.lists(st.integers(0, 30), max_size=6))
def test_every_state_is_what_it_was(graph: FunctionGraph, driver: Any, jumps: list[int]) -> None:
    history, watcher = FullHistory(), Watcher()
    graph.attach_feature(history)
    graph.attach_feature(watcher)
    expected = values(graph)
    result = driver.rewrite(graph)
    states = [*watcher.states, seen(graph)]
    graph.remove_feature(watcher)
    assert len(history) == result.firings == len(states) - 1
    for n in [j % len(states) for j in jumps] + [0, len(states) - 1]:
        assert history.goto(n) is graph
        assert history.position == n
        assert same(graph, states[n])
        assert values(graph) == pytest.approx(expected, nan_ok=True)
    graph.check_integrity()


def test_one_step_after_the_other() -> None:
    undone = named("undone", lambda a: neg(neg(a)) >> a)
    history = FullHistory(text=brief)
    graph = FunctionGraph([x, y], [sub(neg(neg(x)), sin(neg(neg(y))))], [history])
    EquilibriumOptimizer([undone]).rewrite(graph)
    assert [str(step) for step in history] == [
        f"1. --x → x  ({undone.name})",
        f"2. --y → y  ({undone.name})",
    ]
    assert history[0].reason is undone
    assert brief(graph.outputs[0]) == "x - sin(y)"
    assert brief(history.back().outputs[0]) == "x - sin(--y)"
    assert brief(history.back().outputs[0]) == "--x - sin(--y)"
    assert brief(history.forward(2).outputs[0]) == "x - sin(y)"


def test_steps_that_do_not_exist() -> None:
    history = FullHistory()
    FunctionGraph([x], [sin(x)], [history])
    for go in (history.back, history.forward, lambda: history.goto(3)):
        with pytest.raises(IndexError, match="the states are 0 to 0"):
            go()


def test_a_change_in_an_earlier_state_forgets_what_came_after() -> None:
    history = FullHistory(text=brief)
    graph = FunctionGraph([x, y], [sin(neg(x))], [history], clone=False)
    inner = graph.outputs[0].owner.inputs[0]
    graph.replace(inner, log(x), "one")
    graph.replace(graph.outputs[0], neg(y), "two")
    history.goto(1)
    graph.replace(graph.outputs[0], log(y), "other")
    assert [step.reason for step in history] == ["one", "other"]
    for n, text in ((0, "sin(-x)"), (2, "log(y)"), (1, "sin(log(x))")):
        assert brief(history.goto(n).outputs[0]) == text
        graph.check_integrity()


def test_nodes_that_come_back_changed() -> None:
    history = FullHistory(text=brief)
    b, c = log(sin(x)), sin(y)
    graph = FunctionGraph([x, y], [b, neg(c)], [history], clone=False)
    graph.replace(b, y)
    graph.replace(c, log(x))
    b.owner.inputs = (y,)  # somebody built on it anew
    graph.replace(graph.outputs[1], b)
    texts = [[brief(v) for v in history.goto(n).outputs] for n in range(4)]
    assert texts == [
        ["log(sin(x))", "-sin(y)"],
        ["y", "-sin(y)"],
        ["y", "-log(x)"],
        ["y", "log(y)"],
    ]


def test_types_go_back_and_forth() -> None:
    history = FullHistory()
    p = pos("p")
    total = add(x, p)
    graph = FunctionGraph([x, p], [sin(total)], [history], clone=False)
    graph.replace(x, exp(x))
    assert total.type is pos
    assert history.goto(0) is graph
    assert total.type is num
    history.goto(1)
    assert total.type is pos


def test_what_fails_is_no_step_and_what_is_undone_is_one() -> None:
    history, undo = FullHistory(), History()
    graph = FunctionGraph([x, y], [exp(sin(x))], [history, undo], clone=False)
    inner = graph.outputs[0].owner.inputs[0]
    with pytest.raises(CycleError):
        graph.replace(x, graph.outputs[0])
    assert len(history) == 0
    graph.replace(inner, log(y), "one")
    undo.revert(graph, 0)
    assert [step.reason for step in history] == ["one", "restore"]
    for n, text in ((1, "exp(log(y))"), (2, "exp(sin(x))"), (0, "exp(sin(x))")):
        assert brief(history.goto(n).outputs[0]) == text


def test_each_state_has_its_names() -> None:
    term, other = sin(x), neg(x)
    term.name = "t"
    history = FullHistory()
    graph = FunctionGraph([x], [exp(term), log(other)], clone=True)
    graph.attach_feature(history)
    was, now = [v.owner.inputs[0] for v in graph.outputs]
    graph.replace(was, now, "one")
    graph.replace(graph.outputs[1], graph.outputs[0], "two")
    assert [(history.goto(n), was.name, now.name)[1:] for n in (2, 0, 1)] == [
        ("t", "t"), ("t", None), ("t", "t"),
    ]  # fmt: skip


def test_a_journal_moves_to_and_fro_and_forgets() -> None:
    journal = Journal()
    fgraph = FunctionGraph([x, y], [sin(sin(x))], [journal], clone=False)
    marks, texts = [journal.checkpoint(fgraph)], [brief(fgraph.outputs[0])]
    for new in (log(x), neg(y), sin(y)):
        fgraph.replace(fgraph.outputs[0].owner.inputs[0], new, "by hand")
        marks.append(journal.checkpoint(fgraph))
        texts.append(brief(fgraph.outputs[0]))
    for n in (0, 3, 1, 2):
        journal.move(fgraph, marks[n])
        assert brief(fgraph.outputs[0]) == texts[n]
        assert journal.checkpoint(fgraph) == marks[n]
        fgraph.check_integrity()
    journal.revert(fgraph, marks[1])  # (what came after the second state is forgotten, too)
    assert (brief(fgraph.outputs[0]), journal.end) == (texts[1], marks[1])
    assert {entry.reason for entry in journal.entries} == {"by hand"}
    fgraph.replace(fgraph.outputs[0], y)
    journal.forget(marks[1])
    journal.revert(fgraph, marks[1])
    assert brief(fgraph.outputs[0]) == texts[1]
    assert (journal.entries, journal.end) == ([], marks[1])
    for go in (journal.move, journal.revert):
        why = f"no state 0; the states are {marks[1]} to {marks[1]}"
        with pytest.raises(IndexError, match=why):
            go(fgraph, 0)


def test_a_history_goes_back_for_good() -> None:
    history = FullHistory(text=brief)
    fgraph = FunctionGraph([x, y], [sin(neg(x))], [history], clone=False)
    for new in (log(x), neg(y), sin(y)):
        fgraph.replace(fgraph.outputs[0], new)
    history.goto(2)
    history.revert(fgraph, history[1].at)
    assert [step.after for step in history] == ["log(x)"]
    assert (history.position, brief(fgraph.outputs[0])) == (1, "log(x)")
