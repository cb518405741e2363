"""Rewriting the graphs inside ops: once each, inner ones first, by the phases that fit."""

from __future__ import annotations

import inspect
import pickle
import sys
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import OpFromGraph
from rewrite_engine.errors import NestingError, RuleRaisedError
from rewrite_engine.gradient import Rop
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import HasInnerGraph, held, inner_ops
from rewrite_engine.graph.op import Op
from rewrite_engine.language import rule
from rewrite_engine.link import PyLinker
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import Fixpoint
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.inner import InnerGraphs
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.trace import Trace
from rewrite_engine.rewrite.trace.places import Past
from tests.growth import exponent

X, Y = pt.dvectors("x", "y")
A, B = pt.dvectors("a", "b")


def softplus(name: str | None = None, inline: bool = False) -> Any:
    return OpFromGraph([X], [pt.log(1 + pt.exp(X))], name=name, inline=inline)


def ops(graph: Any) -> list[str]:
    return sorted(str(node.op) for node in graph.apply_nodes)


def test_an_inner_graph_is_rewritten() -> None:
    f = rw.function([A], softplus("f")(A))
    (op,) = held(f.fgraph)
    assert ops(op.fgraph) == ["softplus"]
    np.testing.assert_array_equal(f([1000.0]), [1000.0])


def test_the_graph_of_the_user_is_left() -> None:
    op = softplus()
    rw.function([A], op(A))
    assert ops(op.fgraph) == ["add", "exp", "log"]


def test_once_for_each_distinct_graph_and_inner_ones_first() -> None:
    inner = softplus("inner")
    outer = OpFromGraph([X], [inner(inner(X)) * 1.0], name="outer")
    trace = Trace(terms=True)
    f = rw.function([A, B], [outer(A), outer(B) + inner(A), inner(outer(A))], trace=trace)
    count = Counter((firing.phase, firing.rule_name) for firing in trace)
    assert count["stabilize in inner", "exp_log/log1p_of_exp"] == 1
    assert count["canonicalize in outer", "ac/drop_identity"] == 1
    assert count["inner in outer", "inner/rewritten"] == 2
    assert count["inner", "inner/rewritten"] == 4
    phases = [phase.name for phase in trace.phases]
    assert phases.index("stabilize in inner") < phases.index("inner in outer")
    assert phases.count("canonicalize in inner") == phases.count("canonicalize in outer") == 1
    assert len(held(f.fgraph)) == 2


def test_nothing_is_left_to_do_afterwards() -> None:
    outer = OpFromGraph([X], [softplus()(X) + softplus()(X)])
    f = rw.function([A], outer(A))
    (op,) = held(f.fgraph)
    again = rw.function([A], op(A), mode=rw.Mode().excluding("inplace"))
    assert held(again.fgraph) == [op]


def test_what_becomes_equal_is_merged() -> None:
    f = OpFromGraph([X], [pt.log(pt.exp(X)) * 3.0])
    g = OpFromGraph([X], [3.0 * X])
    compiled = rw.function([A], f(A) - g(A))
    assert ops(compiled.fgraph).count("OpFromGraph") == 1


def test_an_op_that_is_inlined_gives_way_to_its_graph() -> None:
    f = rw.function([A], softplus(inline=True)(A))
    assert ops(f.fgraph) == ["softplus"]
    across = rw.function([A], pt.log(OpFromGraph([X], [pt.exp(X)], inline=True)(A)))
    assert len(across.fgraph) == 0
    kept = rw.function([A], softplus("f", inline=True)(A), mode=rw.Mode().excluding("inline"))
    assert ops(kept.fgraph) == ["f"]


def test_what_is_inlined_inside_and_what_comes_to_light() -> None:
    hidden = softplus("hidden")
    wrap = OpFromGraph([X], [hidden(X) * 1.0], inline=True, name="wrap")
    outer = OpFromGraph([X], [wrap(X) + 0.0], name="outer")
    f = rw.function([A], [outer(A), wrap(A)])
    assert ops(f.fgraph) == ["hidden", "outer"]
    outer_now = next(op for op in held(f.fgraph) if str(op) == "outer")
    assert ops(outer_now.fgraph) == ["hidden"]
    assert {ops(op.fgraph)[0] for op in inner_ops([outer_now]) if str(op) == "hidden"} == {
        "softplus"
    }


def test_excluding_what_happens_inside() -> None:
    mode = rw.Mode().excluding("inner")
    f = rw.function([A], softplus("f")(A), mode=mode)
    (op,) = held(f.fgraph)
    assert ops(op.fgraph) == ["add", "exp", "log"]
    mode = rw.Mode().excluding("canonicalize", "stabilize", "specialize", "inplace")
    (op,) = held(rw.function([A], softplus("f")(A), mode=mode).fgraph)
    assert ops(op.fgraph) == ["add", "exp", "log"]


def test_graphs_without_such_ops_hear_nothing_of_it() -> None:
    trace = Trace()
    rw.function([A], pt.exp(A), trace=trace)
    assert "inner" not in [phase.name for phase in trace.phases]


@pytest.mark.on_vm
def test_no_node_inside_overwrites_what_is_outside() -> None:
    f = rw.function([A], OpFromGraph([X], [pt.exp(X) + 1.0])(A * 2.0))
    (op,) = held(f.fgraph)  # it works in place, on what it makes itself
    overwritten = {v for n in op.fgraph.apply_nodes for i in n.op.destroys for v in [n.inputs[i]]}
    assert len(overwritten) == 1
    assert not overwritten & set(op.fgraph.inputs)


def test_an_error_of_a_rule_names_the_place() -> None:
    @node_rewriter([pt.exp], phase="canonicalize")
    def fails(fgraph: Any, node: Any) -> Any:
        """An example."""
        raise ZeroDivisionError

    with pytest.raises(RuleRaisedError) as info:
        rw.function([A], softplus("f")(A), mode=rw.Mode() + fails)
    assert "    in f" in info.value.__notes__


# --- modes and linkers ----------------------------------------------------------------------------


def works_in_place(graph: Any) -> list[bool]:
    """Whether the graph of each op, inner ones first, overwrites anything."""
    return [any(n.op.destroy_map for n in op.fgraph.apply_nodes) for op in inner_ops(held(graph))]


@pytest.mark.on_vm
def test_the_mode_decides_what_happens_inside() -> None:
    inner = OpFromGraph([X], [pt.log1p(pt.exp(X) * 2.0)], name="inner")
    y = OpFromGraph([X], [inner(X) * 2.0 + 1.0], name="outer")(A)
    for mode, inplace in (
        (rw.Mode(), True),
        (rw.Mode().excluding("inplace"), False),
        (rw.Mode("fast_compile"), False),
        (rw.Mode("py"), False),
        (rw.Mode("py").including("inplace"), True),
        (rw.Mode(optimizer=None), False),
        (rw.Mode().excluding("inner"), False),
    ):
        f = rw.function([A], y, mode=mode)
        assert works_in_place(f.fgraph) == [inplace, inplace], mode
        np.testing.assert_allclose(f([0.5]), 2 * np.log1p(2 * np.exp(0.5)) + 1)
    f = rw.function([A], softplus("f")(A), mode=rw.Mode("py").excluding("stabilize"))
    assert ops(held(f.fgraph)[0].fgraph) == ["add", "exp", "log"]


def test_the_linker_runs_what_is_inside(registered: Any) -> None:
    class Counting(PyLinker):
        name = "counting"

        def __init__(self) -> None:
            self.counts: Counter[str] = Counter()

        def runner(self, node: Any) -> Any:
            run = super().runner(node)

            def counted(*values: Any) -> Any:
                self.counts[str(node.op)] += 1
                return run(*values)

            return counted

    linker = registered(Counting())
    inner = OpFromGraph([X], [pt.tanh(X), X * 2.0], name="inner")
    outer = OpFromGraph([X], [inner(inner(X)[0])[1]], name="outer")
    f = rw.function([A], outer(A) + outer(B), givens={B: A + 1.0}, mode="counting")
    f([0.5])
    assert linker.counts == {"add": 2, "outer": 2, "inner": 4, "tanh": 2, "mul": 2}
    rw.function([A], outer(A))([0.5])
    assert linker.counts["tanh"] == 2  # another linker's is another function


@pytest.mark.parametrize("mode", ["py", None])
def test_values_inside_are_held_against_their_types(mode: str | None) -> None:
    class Wrong(Op):
        __props__ = ()

        def infer_types(self, types: Any) -> Any:
            return types

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = inputs[0].astype("float32")

    wrong = OpFromGraph([X], [pt.exp(Wrong()(X))], name="f")(A)
    with pytest.raises(TypeError, match="float32"):
        rw.function([A], wrong, mode=mode)([1.0])


def test_an_op_says_how_its_graph_runs() -> None:
    class Repeat(HasInnerGraph, Op):
        __props__ = ("structure", "times")

        def __init__(self, x: Any, y: Any, times: int) -> None:
            self.times = times
            self.hold([x], [y])

        def infer_types(self, types: Any) -> Any:
            return [self.inner_outputs[0].type]

        def runs(self, node: Any, body: Any) -> Any:
            def run(value: Any) -> Any:
                for _ in range(self.times):
                    value = body(value)
                return value

            return run

    class Silent(Repeat):
        runs = None

    op = Repeat(X, X * 2.0 + 1.0, 3)
    for mode in ("vm", "py"):
        assert rw.function([A], op(A), mode=mode)([1.0]).tolist() == [15.0]
        assert rw.function([A], Repeat(X, op(X) - 1.0, 2)(A), mode=mode)([1.0]).tolist() == [118.0]
    assert rw.function([], op(pt.constant([1.0]))).nodes == []  # folded
    with pytest.raises(NotImplementedError, match="defines neither runs nor perform"):
        rw.function([A], Silent(X, X + 1.0, 3)(A))([1.0])


class Steps(HasInnerGraph, Op):
    """Applies a graph several times to a state that it has for itself."""

    __props__ = ("structure", "times")
    given_away = (0,)

    def __init__(self, x: Any, y: Any, times: int) -> None:
        self.times = times
        self.hold([x], [y])

    def infer_types(self, types: Any) -> Any:
        return [self.inner_outputs[0].type]

    def runs(self, node: Any, body: Any) -> Any:
        def run(value: Any) -> Any:
            state = value.copy()
            for _ in range(self.times):
                state = body(state)
            return state

        return run


@pytest.mark.parametrize("mode", ["vm", "py"])
def test_what_is_given_to_a_graph_may_be_overwritten(mode: str) -> None:
    op = Steps(X, pt.exp(X) * 0.5, 3)
    f = rw.function([A], op(A), mode=mode)
    given = np.array([0.0, 0.5])
    wanted = given.copy()
    for _ in range(3):
        wanted = np.exp(wanted) * 0.5
    for one in f, pickle.loads(pickle.dumps(f)):
        np.testing.assert_allclose(one(given), wanted)
        assert given.tolist() == [0.0, 0.5]
    (now,) = held(f.fgraph)
    assert pickle.loads(pickle.dumps(now)) is now
    overwritten = {v for n in now.fgraph.apply_nodes for i in n.op.destroys for v in [n.inputs[i]]}
    assert (now.inner_inputs[0] in overwritten) == (mode == "vm")


class Times(HasInnerGraph, Op):
    """A graph applied n times to x, and all that came of it."""

    __props__ = ("structure",)
    nout = 2

    def __init__(self, x: Any, y: Any) -> None:
        self.hold([x], [y])

    def infer_types(self, types: Any) -> Any:
        return [types[1], pt.TensorType("float64", (None, None))]

    def runs(self, node: Any, body: Any) -> Any:
        def run(n: Any, x: Any) -> Any:
            found = [x]
            for _ in range(int(n)):
                found.append(body(found[-1]))
            return found[-1].copy(), np.array(found)

        return run


def test_a_graph_may_have_other_inputs_and_outputs_than_its_op() -> None:
    n = pt.lscalar("n")
    last, steps = Times(X, pt.log(pt.exp(X)) * 2.0)(n, A)
    for mode in ("vm", "py"):
        f = rw.function([n, A], [last, steps.sum()], mode=mode)
        assert [v.tolist() for v in f(3, [1.0])] == [[8.0], 15.0]
        assert ops(held(f.fgraph)[0].fgraph) == ["mul"]
    one = rw.function([n, A], Times(X, X * 1.0)(n, A)[0])
    assert one(2, [3.0]).tolist() == [3.0]


# --- nesting --------------------------------------------------------------------------------------


def tower(levels: int) -> Any:
    """Ops in ops, each used twice in the next."""
    f = OpFromGraph([X], [pt.tanh(X) * 0.5], name="f0")
    for i in range(1, levels):
        f = OpFromGraph([X], [f(f(X)) + 1.0 * X], name=f"f{i}")
    return f


def everything(levels: int) -> None:
    """Build, pickle, differentiate, print, rewrite and compile a tower."""
    f = tower(levels)
    text = pickle.dumps(f)
    assert pickle.loads(text) is f
    y = f(A)
    slope = rw.grad(y.sum(), A)
    curve = rw.grad(slope.sum(), A)
    forwards = Rop(y, A, B)
    printed = rw.dprint([slope, forwards], file="str")
    assert len(printed) < 2_000 * levels
    compiled = rw.function([A, B], [curve, forwards, slope])
    assert all("mul" not in ops(op.fgraph) or op for op in held(compiled.fgraph))
    assert len(pickle.dumps(compiled)) < 20_000 * levels


def test_a_deep_nest_is_no_recursion() -> None:
    everything(200)


def test_work_is_linear_in_the_levels() -> None:
    assert exponent(lambda levels: partial(everything, levels), 10, 40) < 1.5


def test_a_deep_nest_computes() -> None:
    f = OpFromGraph([X], [pt.tanh(X)], name="f0")
    for i in range(1, 60):
        f = OpFromGraph([X], [f(X) + 1.0 * X], name=f"f{i}")
    found = rw.function([A], [f(A), rw.grad(f(A).sum(), A)])([0.5])
    np.testing.assert_allclose(found[0], np.tanh(0.5) + 59 * 0.5)
    np.testing.assert_allclose(found[1], 1 / np.cosh(0.5) ** 2 + 59)


def test_a_gradient_alone_does_not_compute_the_value() -> None:
    f = OpFromGraph([X, Y], [pt.tanh(X) * Y], name="f")
    slope = rw.function([A, B], rw.grad(f(A, B).sum(), A))
    assert "f" not in ops(slope.fgraph)
    np.testing.assert_allclose(slope([0.0], [2.0]), [2.0])
    with pytest.raises(ValueError):
        slope([0.0, 1.0], [2.0])
    both = rw.function([A, B], [f(A, B), rw.grad(f(A, B).sum(), A)])
    assert ops(both.fgraph).count("f") == 1


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_trace_with_a_size_leaves_no_graph_watched(size: int) -> None:
    nest = OpFromGraph([X], [softplus("inner")(X) + softplus("inner")(2.0 * X)], name="outer")
    trace = Trace(size=size, terms=True)
    f = rw.function([A], nest(A) + softplus("inner")(A), trace=trace)
    assert len(list(trace)) == min(size, trace.count)
    assert not [feature for feature in f.fgraph.features if isinstance(feature, Past)]
    assert len(list(trace.lines())) >= len(list(trace))
    assert len(trace.oldest()) == 3


def test_a_repetition_has_one_budget_for_all_graphs() -> None:
    @rule
    def longer(x: Any) -> Any:
        """Never ends."""
        return pt.sin(x) >> pt.sin(pt.cos(x) + x)

    part = InnerGraphs(RuleSet())
    part.inside = [EquilibriumOptimizer(RuleSet().adding(longer))]
    graph = FunctionGraph([A], [OpFromGraph([X], [pt.sin(X)])(A)])
    result = Fixpoint(part, RunBudget(firings=7, on_budget="stop")).rewrite(graph)
    assert result.stopped is StopReason.BUDGET
    assert result.fired == {longer.name: 7, "inner/rewritten": 1}


@pytest.mark.parametrize("linker", ["vm", "py"])
def test_nests_deeper_than_calls_may_be_say_so(linker: str) -> None:
    op = OpFromGraph([X], [pt.exp(X)])
    for i in range(120):
        op = OpFromGraph([X], [op(X) + i], name=f"level{i}")
    f = rw.function([A], op(A), mode=rw.Mode(linker=linker))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        with pytest.raises(NestingError, match=r"inline=True[\s\S]*test_inner") as caught:
            f([0.0])
    finally:
        sys.setrecursionlimit(limit)
    assert isinstance(caught.value, RecursionError)
    assert f([0.0]).tolist() == [1.0 + sum(range(120))]


def test_what_is_only_inlined_inside_changes_the_op() -> None:
    part = OpFromGraph([X], [pt.sin(X) * pt.cos(X)], inline=True)
    whole = OpFromGraph([X], [pt.tanh(part(X))])
    f = rw.function([A], whole(A))
    (op,) = held(f.fgraph)
    assert held(op.fgraph) == []
    np.testing.assert_allclose(f([0.5]), np.tanh(np.sin([0.5]) * np.cos([0.5])))
