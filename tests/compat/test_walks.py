"""Walks that only programs of others use."""

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.compat import lookup
from rewrite_engine.compat.graphs import UnmergedGraph
from rewrite_engine.compat.walks import (
    apply_depends_on,
    applys_between,
    depends_on,
    get_var_by_name,
    io_toposort,
    last_first,
    orphans_between,
    vars_between,
)
from rewrite_engine.graph.traverse import toposort
from tests.toy import add, exp, num, sin


def test_nodes_between() -> None:
    x = num("x")
    a = sin(x)
    out = add(exp(a), x)
    order = toposort([out], [a])
    assert [str(n.op) for n in order] == ["exp", "add"]
    assert set(vars_between([a], [out])) == {a, x, out, out.owner.inputs[0]}
    assert io_toposort([a], [out]) == order
    assert list(applys_between([a], [out])) == order[::-1]  # PyTensor's walk begins at the outputs


def test_variables_are_found_by_name() -> None:
    x, y = num("x"), num("y")
    a = exp(x)
    a.name = "x"
    assert set(get_var_by_name([add(a, y)], "x")) == {x, a}
    assert get_var_by_name([add(a, y)], "z") == ()


def test_nodes_that_a_node_needs() -> None:
    x, y = num("x"), num("y")
    a = exp(x)
    b, c = add(a, y), sin(a)
    assert apply_depends_on(b.owner, a.owner)
    assert apply_depends_on(a.owner, [a.owner, c.owner])
    assert not apply_depends_on(b.owner, [c.owner])
    deep = x
    for _ in range(100_000):
        deep = exp(deep)
    assert apply_depends_on(deep.owner, c.owner) is False
    assert depends_on(deep, [x])


def test_orphans() -> None:
    a, b = num("a"), num("b")
    assert list(orphans_between([a], [add(a, b)])) == [b]


def test_depends_on() -> None:
    x, y = num("x"), num("y")
    a = sin(x)
    assert depends_on(exp(a), [a])
    assert depends_on(a, [a])
    for module in ("graph", "graph.basic", "graph.traversal"):
        assert lookup(module, "variable_depends_on")(exp(a), a)
        assert list(lookup(module, "variable_ancestors")([a])) == [a, x]
    assert depends_on(exp(a), [y, x])
    assert not depends_on(a, [exp(a), y])


def test_nodes_in_the_order_of_others() -> None:
    x, y = num("x"), num("y")
    a, b = sin(x), exp(y)
    both = add(a, b)
    nodes = [both.owner, exp(a).owner]
    assert last_first([both]) == [b.owner, a.owner, both.owner]
    assert io_toposort([a], [both]) == [b.owner, both.owner]
    assert last_first([both, nodes[1].outputs[0]]) == [b.owner, a.owner, *nodes]
    graph = UnmergedGraph([x, y], [both], clone=False)
    assert graph.toposort() == [b.owner, a.owner, both.owner]


@pytest.mark.usefixtures("peers")
def test_walks_go_to_the_last_inputs_first() -> None:
    from pytensor.graph import traversal

    x, y, z = pt.vectors("x", "y", "z")
    a = pt.exp(x)
    b = pt.add(z, a, y)
    assert [*traversal.vars_between([x], [b])] == [b, y, a, x, z]
    assert [*traversal.orphans_between([x], [b])] == [y, z]
    assert [*traversal.applys_between([x], [b])] == [b.owner, a.owner]
    assert [*traversal.applys_between([a], [b])] == [b.owner]
    assert traversal.truncated_graph_inputs([b], [y]) == [y, a, z]
    assert traversal.truncated_graph_inputs([b], [x]) == [y, x, z]
    below = lambda v: v.owner.inputs if isinstance(v, pt.TensorVariable) and v.owner else None
    pairs = [*traversal.walk([a], below, return_children=True)]
    assert pairs == [(a, (x,)), (x, None)]
    needs = {"top": ["left", "right"], "left": ["base"], "right": ["base"]}
    found = traversal.general_toposort(["top"], needs.get)
    assert found == ["base", "right", "left", "top"]


def test_a_variable_is_found_by_its_automatic_name() -> None:
    x, y = pt.vectors("x", "y")
    name = x.auto_name
    assert get_var_by_name([x + y], name) == (x,)
    assert get_var_by_name([x + y], "y") == (y,)
    assert get_var_by_name([y], name) == ()
