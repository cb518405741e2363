"""`clone_replace`, `graph_replace`, `equal_computations`, `is_same_graph`."""

from __future__ import annotations

from typing import Any

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import InputError, TypeMismatchError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import (
    clone_replace,
    equal_computations,
    graph_replace,
    is_same_graph,
)
from rewrite_engine.graph.traverse import graph_inputs, toposort
from tests.graph.test_traverse import DEEP, chain, lattice
from tests.toy import add, const, divmod_, exp, mul, neg, num, pos, sin, sub


def test_a_root_is_replaced() -> None:
    x, y = num("x"), num("y")
    out = add(sin(x), x)
    assert equal_computations([clone_replace(out, {x: y})], [add(sin(y), y)])
    assert equal_computations([clone_replace(out, [(x, exp(y))])], [add(sin(exp(y)), exp(y))])
    assert equal_computations([out], [add(sin(x), x)])


def test_a_subgraph_is_replaced() -> None:
    x = num("x")
    a = sin(x)
    assert equal_computations([clone_replace(mul(a, a, x), {a: x})], [mul(x, x, x)])
    assert clone_replace(a, {a: x}) is x


def test_outputs_may_be_one_several_or_named() -> None:
    x, y = num("x"), num("y")
    a, b = sin(x), exp(x)
    assert isinstance(clone_replace([a, b], {x: y}), list)
    named = clone_replace({"a": a, "b": b}, {x: y})
    assert list(named) == ["a", "b"]
    assert equal_computations(list(named.values()), [sin(y), exp(y)])


def test_sharing_is_kept() -> None:
    x, y = num("x"), num("y")
    a = sin(x)
    left, right = clone_replace([neg(a), exp(a)], {x: y})
    assert left.owner.inputs[0] is right.owner.inputs[0]


def test_what_is_not_above_a_replaced_variable_is_shared_or_copied() -> None:
    """Shared by `graph_replace`, copied by `clone_replace`; inputs are shared by both."""
    x, y, z = num("x"), num("y"), num("z")
    a = sin(x)
    assert graph_replace(add(a, y), {y: z}).owner.inputs[0] is a
    copy = clone_replace(add(a, y), {y: z}).owner.inputs[0]
    assert copy is not a
    assert copy.owner.inputs == (x,)


def test_a_copy_can_be_renamed() -> None:
    x = num("x")
    z = add(sin(x), x)
    for replace in (None, {}, {num("other"): x}):
        copy = clone_replace(z, replace)
        copy.name = "copy"
        copy.owner.inputs[0].name = "inner"
        assert (z.name, z.owner.inputs[0].name) == (None, None)
        assert equal_computations([copy], [z])


def test_all_replacements_happen_at_once() -> None:
    x, y = num("x"), num("y")
    assert equal_computations([clone_replace(sub(x, y), {x: y, y: x})], [sub(y, x)])
    a = sin(x)
    assert equal_computations([clone_replace(exp(a), {a: neg(x), x: y})], [exp(neg(x))])
    assert equal_computations([clone_replace(exp(a), {a: neg(a)})], [exp(neg(a))])


def test_one_of_several_outputs_is_replaced() -> None:
    x, y = num("x"), num("y")
    q, r = divmod_(x, y)
    out = clone_replace(add(q, r), {q: y})
    assert out.owner.inputs[0] is y
    assert equal_computations([out.owner.inputs[1]], [r])
    out = clone_replace(add(q, r), {q: x, y: x})
    assert equal_computations([out], [add(x, divmod_(x, x)[1])])


def test_values_become_constants() -> None:
    x = num("x")
    for replace in (clone_replace, graph_replace):
        assert replace(sin(x), {x: 2.0}).owner.inputs[0].data == 2.0


def test_types_are_converted_or_refused() -> None:
    x, p = num("x"), pos("p")
    out = add(p, p)
    for replace in (clone_replace, graph_replace):
        with pytest.raises(TypeMismatchError):
            replace(out, {p: x})
    assert clone_replace(add(x, p), {x: p}).type is pos


def test_without_strictness_what_is_above_is_typed_anew() -> None:
    x, p = num("x"), pos("p")
    out = clone_replace(mul(add(p, p), p), {p: x}, rebuild_strict=False)
    assert out.type is num
    assert out.owner.inputs[0].type is num


def test_inputs_can_be_copied_too() -> None:
    x, y, z = num("x"), num("y"), num("z")
    t = add(exp(x), y, const(1.0))
    for pairs, names in (({}, ["x", "y"]), ({y: z}, ["x", "z"]), ({x: y}, ["y"])):
        found = clone_replace(t, pairs, copy_inputs_over=False)
        roots = [v for v in graph_inputs([found]) if v.name]
        assert sorted(v.name or "" for v in roots) == names
        assert not {x, y, z}.intersection(roots)
        assert equal_computations(
            [found], [clone_replace(t, pairs)], roots, originals(roots, x, y, z)
        )
    same = clone_replace({"t": t}, copy_inputs_over=True)["t"]
    assert {x, y}.issubset(graph_inputs([same]))


def originals(roots: list[Variable], *known: Variable) -> list[Variable]:
    return [v for root in roots for v in known if v.name == root.name]


def test_graph_replace_wants_its_variables_found() -> None:
    x, y = num("x"), num("y")
    with pytest.raises(InputError, match="y is not in the graph"):
        graph_replace([sin(x)], {y: x})
    assert graph_replace([sin(x)], {y: x}, strict=False)[0].owner.inputs == (x,)
    assert graph_replace(sin(x), {x: y}).owner.inputs == (y,)
    assert graph_replace([x], {x: y}) == [y]


def test_names_and_lines_are_kept() -> None:
    x, y = num("x"), num("y")
    a = sin(x, name="a")
    b = clone_replace(a, {x: y})
    assert (b.name, b.owner.where()) == ("a", a.owner.where())


def test_no_replacement_changes_nothing() -> None:
    x = num("x")
    a = sin(x)
    assert equal_computations([clone_replace(a)], [a])
    assert graph_replace([a]) == [a]


def test_deep_and_shared_graphs_are_replaced() -> None:
    x, y = num("x"), num("y")
    out = clone_replace(chain(x, DEEP), {x: y})
    assert list(graph_inputs([out])) == [y]
    assert len(toposort([clone_replace(lattice(x, 500), {x: y})])) == 500


# --- comparison ----------------------------------------------------------------------------------


def test_equal_terms_are_equal() -> None:
    x, y = num("x"), num("y")
    assert equal_computations([add(sin(x), 2.0)], [add(sin(x), 2.0)])
    assert not equal_computations([add(sin(x), 2.0)], [add(sin(x), 3.0)])
    assert not equal_computations([add(sin(x), 2.0)], [add(2.0, sin(x))])
    assert not equal_computations([sin(x)], [sin(y)])
    assert not equal_computations([sin(x)], [exp(x)])
    assert not equal_computations([sin(x)], [x])
    assert equal_computations([], [])
    assert not equal_computations([x], [x, x])


def test_inputs_are_matched_by_position() -> None:
    x, y, p = num("x"), num("y"), pos("p")
    assert equal_computations([sub(x, y)], [sub(y, x)], [x, y], [y, x])
    assert not equal_computations([sub(x, y)], [sub(x, y)], [x, y], [y, x])
    assert not equal_computations([sin(x)], [sin(p)], [x], [p])
    assert not equal_computations([sin(x)], [sin(x)], [x], [])
    a = sin(x)
    assert equal_computations([exp(a)], [exp(y)], [a], [y])


def test_outputs_of_one_node_differ() -> None:
    x = num("x")
    assert equal_computations(divmod_(x, x), divmod_(x, x))
    assert not equal_computations(divmod_(x, x), divmod_(x, x)[::-1])


def test_values_may_be_compared_too() -> None:
    x = num("x")
    assert equal_computations([1, x], [1, x])
    assert not equal_computations([1, x], [2, x])
    assert not equal_computations([1], [const(1.0)])


@pytest.mark.parametrize("make", [lambda x: chain(x, DEEP), lambda x: lattice(x, 2_000)])
def test_comparison_is_linear_and_not_recursive(make: Any) -> None:
    x, y = num("x"), num("y")
    assert equal_computations([make(x)], [make(x)])
    assert equal_computations([make(x)], [make(y)], [x], [y])
    assert not equal_computations([make(x)], [make(y)])


def test_the_same_graph_under_replacements() -> None:
    x, y, z = num("x"), num("y"), num("z")
    assert is_same_graph(sin(x), sin(x))
    assert is_same_graph(x, x)
    assert not is_same_graph(sin(x), sin(y))
    assert not is_same_graph(x, y)
    assert is_same_graph(sin(x), sin(y), {x: y})
    assert is_same_graph(sin(x), sin(y), [(y, x)])
    assert not is_same_graph(mul(x, mul(y, z)), mul(mul(x, y), z))


def test_constants_of_other_dtypes() -> None:
    x = pt.dvector("x")
    a, b = [x * pt.constant(2, dtype=dtype) for dtype in ("float32", "int8")]
    assert not equal_computations([a], [b])
    assert equal_computations([a], [b], strict_dtype=False)
    assert not equal_computations([a], [x * 3], strict_dtype=False)
