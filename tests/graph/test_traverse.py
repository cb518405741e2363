"""Walks: order, stops, depth without recursion, sharing without repetition."""

from __future__ import annotations

import pytest

from rewrite_engine.errors import CycleError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import (
    ancestors,
    apply_ancestors,
    clone,
    clone_get_equiv,
    explicit_graph_inputs,
    graph_inputs,
    toposort,
    truncated_graph_inputs,
)
from tests.toy import add, const, divmod_, exp, mul, num, sin

DEEP = 100_000


def chain(x: Variable, n: int) -> Variable:
    for _ in range(n):
        x = sin(x)
    return x


def lattice(x: Variable, n: int) -> Variable:
    """2**n paths over n nodes."""
    for _ in range(n):
        x = add(x, x)
    return x


def test_ancestors_come_once_outputs_first() -> None:
    x, y = num("x"), num("y")
    a, b = sin(x), exp(y)
    c = add(a, b, a)
    assert list(ancestors([c])) == [c, a, x, b, y]
    assert list(ancestors([a, c])) == [a, x, c, b, y]
    assert list(ancestors([])) == []


def test_walks_stop_at_blockers() -> None:
    x = num("x")
    a = sin(x)
    b = exp(a)
    assert list(ancestors([b], [a])) == [b, a]
    assert list(graph_inputs([b], [a])) == []


def test_roots() -> None:
    x, c = num("x"), const(2.0)
    y = add(sin(x), c)
    assert list(graph_inputs([y, x])) == [x, c]
    assert list(explicit_graph_inputs([y])) == [x]
    assert list(explicit_graph_inputs(y)) == [x]


def test_toposort_puts_a_node_after_those_it_needs() -> None:
    x = num("x")
    a = sin(x)
    q, r = divmod_(a, exp(x))
    out = mul(r, q, a)
    order = toposort([out])
    assert [str(n.op) for n in order] == ["sin", "exp", "DivMod", "mul"]
    assert toposort([r, q]) == order[:3]
    assert toposort([out], [r, q]) == [a.owner, out.owner]
    assert toposort([out], [out]) == []
    assert toposort([x]) == []


def test_toposort_is_the_same_each_time() -> None:
    def build() -> list[str]:
        x, y = num("x"), num("y")
        a, b, c = sin(x), exp(y), mul(x, y)
        return [str(n) for n in toposort([add(b, a), mul(c, add(a, b))])]

    assert build() == build()


def test_a_cycle_is_an_error() -> None:
    x = num("x")
    a = sin(x)
    b = exp(a)
    a.owner.inputs = (b,)
    with pytest.raises(CycleError, match="has a cycle"):
        toposort([b])
    with pytest.raises(ValueError, match="cycle"):
        toposort([sin(a)])


def test_truncated_inputs() -> None:
    n, c = num("n"), num("c")
    k = exp(n)
    top = add(exp(c), k)
    assert set(truncated_graph_inputs([top])) == {top}
    assert set(truncated_graph_inputs([top], [c])) == {c, k}
    assert set(truncated_graph_inputs([top], [c, k])) == {c, k}
    assert set(truncated_graph_inputs([top], [c, exp(n)])) == {c, k}
    between = add(top, c)
    assert set(truncated_graph_inputs([between, n], [top, c])) == {top, c, k, n}
    assert set(truncated_graph_inputs([top], [top])) == {top}
    deep = c
    for _ in range(100_000):
        deep = exp(deep)
    assert truncated_graph_inputs([deep], [c]) == [c]


def test_nodes_that_variables_need() -> None:
    x, y = num("x"), num("y")
    a = exp(x)
    b, c = add(a, y), sin(a)
    assert list(apply_ancestors([c, b])) == [c.owner, a.owner, b.owner]
    assert list(apply_ancestors([b, c], [a])) == [b.owner, c.owner]


def test_copies_have_nothing_in_common_but_what_was_asked_for() -> None:
    x, c = num("x"), const(2.0)
    y = add(sin(x), c)
    (x2,), (y2,) = clone([x], [y])
    assert y2 is not y
    assert list(graph_inputs([y2])) == [x2, c]
    (x3,), (y3,) = clone([x], [y], copy_inputs=False, copy_orphans=True)
    roots = list(graph_inputs([y3]))
    assert x3 is x
    assert roots[0] is x
    assert roots[1] is not c
    assert roots[1].equals(c)


def test_copying_tells_what_became_of_everything() -> None:
    x = num("x")
    q, r = divmod_(sin(x), x)
    memo = clone_get_equiv([x], [r])
    assert memo[q].owner is memo[q.owner] is memo[r].owner
    assert memo[r.owner].inputs == (memo[q.owner.inputs[0]], memo[x])
    given = num("given")
    assert clone_get_equiv([x], [r], memo={x: given})[r].owner.inputs[1] is given


def test_copies_of_roots_and_of_intermediate_inputs() -> None:
    x = num("x")
    a = sin(x)
    (a2,), (y2, same) = clone([a], [exp(a), x])
    assert a2.owner is None
    assert y2.owner.inputs == (a2,)
    assert same is x


def test_depth_is_no_problem() -> None:
    x = num("x")
    y = chain(x, DEEP)
    assert sum(1 for _ in ancestors([y])) == DEEP + 1
    assert list(graph_inputs([y])) == [x]
    order = toposort([y])
    assert order[0].inputs == (x,)
    assert order[-1].outputs == (y,)
    assert len(order) == DEEP
    _, (y2,) = clone([x], [y])
    assert len(toposort([y2])) == DEEP


def test_sharing_is_no_problem() -> None:
    x = num("x")
    y = lattice(x, 1_000)
    assert len(toposort([y])) == 1_000
    assert sum(1 for _ in ancestors([y])) == 1_001
    _, (y2,) = clone([x], [y])
    assert len(toposort([y2])) == 1_000
