"""`pp`: formulas."""

from __future__ import annotations

from typing import Any

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine import OpFromGraph
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.printing import pp, pprint
from tests.toy import Scale, add, const, divmod_, exp, log, mul, neg, num, sin, sub

x, y = num("x"), num("y")


@pytest.mark.parametrize(
    ("v", "text"),
    [
        (x, "x"),
        (const(-2.0), "-2.0"),
        (num(), "<Num>"),
        (log(add(1, exp(x))), "log(1.0 + exp(x))"),
        (mul(add(x, y), neg(y), -1.5), "(x + y) * -y * -1.5"),
        (sub(x, sub(y, add(x, y))), "x - (y - (x + y))"),
        (sub(sub(x, y), y), "x - y - y"),
        (neg(mul(x, y)), "-(x * y)"),
        (Scale(2.0)(add(x, y)), "Scale(x + y, by=2.0)"),
        (divmod_(x, y)[1], "DivMod(x, y)[1]"),
    ],
)
def test_notation(v: Any, text: str) -> None:
    assert pp(v) == text
    assert pprint(v) == text


def test_what_is_shared_is_defined_first() -> None:
    a = exp(x)
    b = add(a, y)
    assert pp(mul(b, log(b), a)) == "a = exp(x)\nb = a + y\nb * log(b) * a"


def test_definitions_take_the_names_of_variables() -> None:
    a, named = exp(x), sin(x)
    named.name = "s"
    assert pp(mul(named, a, named, a)) == "s = sin(x)\na = exp(x)\ns * a * s * a"
    clash = exp(x)
    clash.name = "x"
    assert pp(mul(clash, clash)) == "a = exp(x)\na * a"
    letter = num("a")
    assert pp(mul(b := exp(letter), b)) == "b = exp(a)\nb * b"


def test_both_outputs_of_a_node() -> None:
    q, r = divmod_(x, y)
    assert pp(add(q, r)) == "a = DivMod(x, y)\na[0] + a[1]"


def test_several_outputs() -> None:
    a = exp(x)
    text = "a = exp(x)\nlog(a)\nsin(a)"
    assert pp([log(a), sin(a)]) == text
    assert pp(FunctionGraph([x], [log(a), sin(a)])) == text
    assert pp(log(x).owner) == "log(x)"
    assert pp([a, a]) == "a = exp(x)\na\na"


def test_an_object_without_a_graph() -> None:
    with pytest.raises(TypeError, match="int is no variable"):
        pp(3)


def test_limit() -> None:
    v = x
    for _ in range(5):
        v = add(v, v)
    assert len(pp(v)) > 40
    assert pp(v, limit=20) == "a = x + x\nb = a + a\n…"
    assert pp(v, limit=1000) == pp(v)
    assert pp(log(x), limit=4) == "log(…"


def test_large_graphs_are_linear() -> None:
    v = x
    for _ in range(100_000):
        v = sin(v)
    assert pp(v) == "sin(" * 100_000 + "x" + ")" * 100_000
    v = x
    for _ in range(2_000):
        v = add(v, v)
    assert len(pp(v).splitlines()) == 2_000


def test_tensors() -> None:
    a, b, i = pt.matrix("A"), pt.matrix("B"), pt.lscalar("i")
    assert pp(pt.dot(a, b.T)) == "A @ B.T"
    assert pp(pt.exp(a)[i, 1:]) == "exp(A)[i, 1:]"
    assert pp(a[::2, i]) == "A[::2, i]"
    assert pp(a[:] + a[...]) == "A[...] + A[...]"
    assert pp((a + b).sum(axis=1)) == "Sum(A + B, axis=1)"
    assert pp(-(a**2) / 3) == "-A ** 2.0 / 3.0"


# --- ops that hold a graph ------------------------------------------------------------------------


def test_ops_that_hold_a_graph_are_defined_first() -> None:
    x, y = pt.dvectors("x", "y")
    inner = OpFromGraph([x], [pt.exp(x) + 1.0], name="inner")
    shared = pt.sin(x)
    outer = OpFromGraph([x, y], [inner(shared) * shared, y], name="outer")
    a = pt.dvector("a")
    assert pp(outer(a, a)[0] + inner(a)).splitlines() == [
        "inner(x) = exp(x) + 1.0",
        "outer(x, y) = inner(a) * a, y where a = sin(x)",
        "outer(a, a)[0] + inner(a)",
    ]


def test_different_ops_of_one_name_are_told_apart() -> None:
    x = pt.dvector("x")
    f, g = OpFromGraph([x], [x + 1.0]), OpFromGraph([x], [x + 2.0])
    assert pp(f(x) * g(x)).splitlines() == [
        "OpFromGraph(x) = x + 1.0",
        "OpFromGraph2(x) = x + 2.0",
        "OpFromGraph(x) * OpFromGraph2(x)",
    ]
