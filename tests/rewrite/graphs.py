"""Toy graphs with values, and rules that keep values, for the tests of drivers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.match.decorate import compute
from rewrite_engine.match.pattern import Prop, Rest
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.cost import CostModel, price
from rewrite_engine.rewrite.trace import brief
from tests.match.language import make, x, y, z
from tests.toy import Scale, ToyOp, add, const, join, mul, neg, num, sin, sub

f, g, h, k = (ToyOp(name, 1) for name in "fghk")  # free: no rules but those below
pair = ToyOp("pair", 2)

VALUES = {"x": 0.75, "y": -1.25, "z": 2.0, "p": 0.5}


def total(nodes: Iterable[Apply], model: CostModel) -> float:
    """The cost of some nodes together."""
    return sum(price(node, model) for node in nodes)


def named(name: str, fn: Any, **options: Any) -> DataRule:
    """A rule with a name."""
    fn.__name__ = name
    return make(fn, **options)


f_g = named("f_g", lambda a: f(a) >> g(a))
g_h = named("g_h", lambda a: g(a) >> h(a))
h_k = named("h_k", lambda a: h(a) >> k(a))
g_f = named("g_f", lambda a: g(a) >> f(a))  # with f_g: a loop
swap = named("swap", lambda a, b: pair(a, b) >> pair(b, a))
grow = named("grow", lambda a: f(a) >> f(g(h(a))))
wrap = named("wrap", lambda a: f(a) >> g(f(a)))
double = named("double", lambda a: f(a) >> pair(f(g(a)), f(h(a))))


def shape(graph: FunctionGraph) -> Any:
    """All that a graph is: its nodes themselves, their inputs, names, types, outputs, order."""
    nodes = graph.toposort()
    return (
        [(node, node.inputs, node.outputs) for node in sorted(nodes, key=id)],
        [(v.name, v.type, v.owner) for node in sorted(nodes, key=id) for v in node.outputs],
        list(graph.inputs),
        list(graph.outputs),
    )


def shown(graph: FunctionGraph) -> str:
    """The outputs, as text."""
    return "; ".join(brief(v, 30) for v in graph.outputs)


def values(graph: FunctionGraph, given: dict[str, Any] = VALUES) -> list[Any]:
    """The outputs, computed node by node in the graph's own order."""
    cells: dict[Variable, Any] = {v: given[v.name] for v in graph.inputs}

    def value(v: Variable) -> Any:
        return v.data if isinstance(v, Constant) else cells[v]

    for node in graph.toposort():
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, [value(v) for v in node.inputs], storage)
        for out, (result,) in zip(node.outputs, storage, strict=True):
            cells[out] = result
    return [value(v) for v in graph.outputs]


def flat(xs: Rest, ys: Rest, zs: Rest):
    return join(*xs, join(*ys), *zs) >> join(*xs, *ys, *zs)


def scaled(a, f: Prop, g: Prop):
    return Scale(f)(Scale(g)(a)) >> compute(lambda a, f, g: Scale(f * g)(a))


#: each keeps values (up to rounding), and any of them together come to an end
SOUND = [
    named("neg_neg", lambda a: neg(neg(a)) >> a),
    named("neg_sub", lambda a, b: neg(sub(a, b)) >> sub(b, a)),
    named("sub_neg", lambda a, b: sub(a, neg(b)) >> add(a, b)),
    named("sub_same", lambda a: sub(a, a) >> 0),
    named("mul_one", lambda a: mul(1, a) >> a),
    named("add_zero", lambda a: add(0, a) >> a),
    named("mul_neg", lambda a, b: mul(neg(a), b) >> neg(mul(a, b))),
    named("sin_neg", lambda a: sin(neg(a)) >> neg(sin(a))),
    named("distribute", lambda a, b, c: mul(a, add(b, c)) >> add(mul(a, b), mul(a, c))),
    named("scale_one", lambda a: Scale(1.0)(a) >> a),
    make(flat),
    make(scaled),
    named("scale_neg", lambda a: Scale(2.0)(neg(a)) >> Scale(-2.0)(a)),
]

LEAVES = [x, y, z, const(1.0), num.make_constant(0.0), const(2.0)]
UNARY = [neg, sin, Scale(2.0), Scale(1.0)]


def terms(max_leaves: int = 8) -> st.SearchStrategy[Variable]:
    """Random terms on which every op is defined everywhere."""
    return st.recursive(
        st.sampled_from(LEAVES),
        lambda inner: (
            st.builds(lambda f, a: f(a), st.sampled_from(UNARY), inner)
            | st.builds(lambda f, a, b: f(a, b), st.sampled_from([sub, add, mul]), inner, inner)
            | st.lists(inner, min_size=1, max_size=4).map(lambda xs: join(*xs))
        ),
        max_leaves=max_leaves,
    )


def graphs() -> st.SearchStrategy[FunctionGraph]:
    """Random graphs with one to three outputs that share parts."""
    return st.lists(terms(), min_size=1, max_size=3).map(
        lambda outs: FunctionGraph([x, y, z], [*outs, sub(outs[0], outs[-1])])
    )
