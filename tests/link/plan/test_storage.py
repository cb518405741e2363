"""Who shares memory with whom."""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.plan import END, Storages, last_reads, plan_of, schedule
from rewrite_engine.link.vm import traits

x, y = pt.vector("x"), pt.vector("y")
m = pt.matrix("m")
s = pt.scalar("s")


def storages(outputs: list[Any], borrowed: Any = ()) -> Storages:
    return Storages(schedule(FunctionGraph(None, outputs, clone=False)), borrowed)


def test_a_view_shows_what_it_is_of() -> None:
    view, new = m.T[0], pt.exp(m)
    found = storages([view, new], {m})
    assert found.of(view) is found.of(m)
    assert found.of(new) is not found.of(m)
    assert (found.of(m).ours, found.of(m).borrowed) == (False, True)
    assert (found.of(new).ours, found.of(new).borrowed) == (True, False)
    assert not storages([view]).of(m).borrowed


def test_what_shows_one_or_the_other_is_ours_if_both_are() -> None:
    a, b = pt.exp(x), pt.sin(x)
    for given, ours in (((a, b), True), ((a, x), False)):
        out = pt.ifelse(s > 0, *given)
        found = storages([out])
        assert {id(found.of(v)) for v in given} == {id(found.of(out))}
        assert found.of(out).ours is ours


def test_the_last_reader_is_that_of_all_who_show_it() -> None:
    a = pt.exp(m)
    out = a.T.sum(axis=0) + 1
    nodes = schedule(FunctionGraph([m], [out], clone=False))
    found = Storages(nodes)
    found.end(last_reads(nodes, [out]))
    assert nodes[found.of(a).last] is out.owner.inputs[0].owner
    assert found.of(out).last == END


def test_a_copy_is_a_storage_of_its_own() -> None:
    nodes = schedule(FunctionGraph([m], [m.T], clone=False))
    (view,) = nodes[0].outputs
    assert not Storages(nodes).of(view).ours
    assert Storages(nodes, copies=nodes).of(view).ours


def test_what_ops_overwrite() -> None:
    a = pt.sin(x)
    out = pt.exp(a).owner.op.inplace_on_inputs([0], pt.exp(a).owner)(a)
    found = storages([out + y])
    assert found.destroyed() == {id(found.of(a))}
    assert found.of(out) is found.of(a)


def test_the_plan_joins_what_it_puts_into_memory_that_is_there() -> None:
    a = pt.exp(x)
    out = pt.sin(a)
    plan = plan_of(FunctionGraph([x], [out], clone=False), traits)
    assert plan.storages.of(out) is plan.storages.of(a)
    assert storages([out]).of(out) is not storages([out]).of(a)
    (first, second) = plan.steps
    assert (first.new, second.new) == ([a], [])
