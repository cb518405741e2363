"""Rules that bring in ops which overwrite: nobody's array is written to, whoever brings them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kanren import eq
from kanren.core import lall

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import In, Mode
from rewrite_engine.config import config
from rewrite_engine.errors import InconsistencyError, RuleError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import equation, rule
from rewrite_engine.link.linker import get_linker
from rewrite_engine.link.program import Argument, Program
from rewrite_engine.match.decorate import node_rewriter, relation
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.step import RuleWarning
from rewrite_engine.rewrite.strategies import (
    bottomup,
    innermost,
    outermost,
    repeat,
    seq,
    topdown,
    try_,
)
from rewrite_engine.rewrite.trace import Trace
from rewrite_engine.terms.logic import LogicVariable
from tests.toy import divmod_, neg, num, overwrite

fast = pt.exp.inplace_on_inputs([0])
x = pt.dvector("x")
VALUE = np.array([0.5, 1.0, 2.0])


@node_rewriter([pt.exp], phase="specialize")
def rewriter(fgraph, node):
    """Overwrites its operand."""
    return fast(node.inputs[0])


@node_rewriter([pt.exp], phase="specialize")
def as_list(fgraph, node):
    """The same as a list."""
    return [fast(node.inputs[0])]


@node_rewriter([pt.exp], phase="specialize")
def deep(fgraph, node):
    """The op that overwrites is inside of what is returned."""
    return pt.neg(pt.neg(fast(node.inputs[0])))


@node_rewriter([pt.exp], phase="specialize")
def through_a_view(fgraph, node):
    """It overwrites what it sees through a view."""
    return fast(node.inputs[0][::-1])[::-1]


@rule(phase="specialize")
def data(a):
    """A data rule."""
    return pt.exp(a) >> fast(a)


RULES = [rewriter, as_list, deep, through_a_view, data]
DRIVERS: dict[str, Callable[[Any], GraphRewriter]] = {
    "equilibrium": lambda r: EquilibriumOptimizer([r]),
    "walk": lambda r: WalkingOptimizer([r]),
    "backwards": lambda r: WalkingOptimizer([r], order="out_to_in"),
    "innermost": lambda r: innermost(r),
    "outermost": lambda r: outermost(r),
    "topdown": lambda r: topdown(r),
    "repeated": lambda r: repeat(topdown(r)),
    "try": lambda r: topdown(try_(r)),
    "seq": lambda r: bottomup(seq(try_(r), try_(r))),
}


def names(rules: list[Any]) -> list[str]:
    return [r.name.rsplit("/", 1)[-1] for r in rules]


def harmless(f: Callable[[], Any], value: Any = VALUE) -> None:
    """The value of a function of no arguments that reads this array, which stays as it is."""
    before = value.copy()
    f()
    np.testing.assert_array_equal(value, before)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("one", RULES, ids=names(RULES))
def test_the_callers_array_is_not_overwritten(one: Any, traced: bool) -> None:
    trace = Trace(attempts=True) if traced else None
    with pytest.raises(RuleError) as error:
        rw.function([x], pt.exp(x), mode=Mode() + one, trace=trace)
    text = str(error.value)
    assert one.name in text
    assert "exp{inplace" in text
    assert "x is an input that is not mutable" in text
    assert "test_overwriting_rules.py" in text


@pytest.mark.parametrize("one", RULES, ids=names(RULES))
def test_a_shared_variable_is_not_overwritten(one: Any) -> None:
    s = rw.shared(VALUE.copy(), name="s")
    for updates in ({}, {s: s + 1}):
        with pytest.raises(RuleError, match="s is an input that is not mutable"):
            rw.function([], [pt.exp(s), s * 2], updates=updates, mode=Mode() + one)
    np.testing.assert_array_equal(s.get_value(), VALUE)


@pytest.mark.on_vm
@pytest.mark.parametrize("one", RULES, ids=names(RULES))
def test_what_may_be_overwritten_is(one: Any) -> None:
    inner = pt.sin(x)
    for specs in ([x], [In(x, mutable=True)]):
        f = rw.function(specs, pt.exp(inner), mode=Mode().excluding("inplace") + one)
        assert any(node.op is fast for node in f.nodes)
        np.testing.assert_array_equal(f(VALUE.copy()), np.exp(np.sin(VALUE)))
    f = rw.function([In(x, mutable=True)], pt.exp(x), mode=Mode() + one)
    a = VALUE.copy()
    np.testing.assert_array_equal(f(a), np.exp(VALUE))
    np.testing.assert_array_equal(a, np.exp(VALUE))


@pytest.mark.parametrize("one", RULES, ids=names(RULES))
def test_values_read_later_constants_and_outputs(one: Any) -> None:
    inner = pt.sin(x)
    for outputs in (
        [pt.exp(inner), inner],
        [pt.exp(inner), inner[1:]],
        [pt.exp(inner) * inner],
        [pt.exp(pt.constant(VALUE)) * x],
    ):
        with pytest.raises(RuleError, match="cannot overwrite input 0"):
            rw.function([x], outputs, mode=Mode().excluding("fold", "constant_folding") + one)


def test_a_reader_that_can_run_before_does() -> None:
    inner = pt.sin(x)
    f = rw.function([x], [pt.exp(inner), pt.cos(inner)], mode=Mode() + rewriter)
    values = f(VALUE)
    np.testing.assert_array_equal(values[0], np.exp(np.sin(VALUE)))
    np.testing.assert_array_equal(values[1], np.cos(np.sin(VALUE)))


@pytest.mark.parametrize("one", RULES, ids=names(RULES))
@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
def test_every_driver_leaves_the_graph_as_it_was(driver: Any, one: Any) -> None:
    graph = FunctionGraph([x], [pt.exp(x), pt.exp(x) + 1])
    before = [(n, n.inputs) for n in graph.toposort()]
    with pytest.raises(RuleError, match="cannot overwrite"):
        driver(one).rewrite(graph)
    assert [(n, n.inputs) for n in graph.toposort()] == before
    graph.check_integrity()
    graph.validate()
    harmless(lambda: run(graph)(VALUE))


def run(graph: FunctionGraph) -> Any:
    arguments = tuple(Argument(v.type, v.name) for v in graph.inputs)
    program = Program(graph, arguments, n_results=len(graph.outputs))
    return get_linker("vm").link(program).call


@pytest.mark.on_vm
def test_as_a_warning_the_rest_is_rewritten() -> None:
    inner = pt.sin(x)
    with config.change_flags(on_rule_error="warn"), pytest.warns(RuleWarning, match="not mutable"):
        f = rw.function([x], [pt.exp(x), pt.exp(inner)], mode=Mode().excluding("inplace") + data)
    assert [node.op for node in f.nodes].count(fast) == 1
    harmless(lambda: f(VALUE))


@pytest.mark.on_vm
def test_who_accepts_in_place_work_has_refusals() -> None:
    """What rules want to overwrite in vain is then no error."""
    inner = pt.sin(x)
    mode = Mode().excluding("inplace") + data
    f = rw.function([x], [pt.exp(fast(inner)), pt.exp(x)], mode=mode, accept_inplace=True)
    assert [node.op for node in f.nodes].count(fast) == 2
    harmless(lambda: f(VALUE))


def test_an_innocent_rule_that_would_read_too_late_is_refused() -> None:
    @node_rewriter([pt.cos], phase="specialize")
    def rereads(fgraph, node):
        """Reads the sine of what it is applied to, after everything else."""
        owner = fgraph.outputs[0].owner
        if owner.op is not fast:
            return None
        return pt.add(owner.inputs[0], fgraph.outputs[0])

    inner = pt.sin(x)
    graph = FunctionGraph([x], [pt.exp(inner), pt.cos(x)])
    WalkingOptimizer([rewriter]).rewrite(graph)
    result = WalkingOptimizer([rereads]).rewrite(graph)
    assert result.refusals == {"DestroyHandler": 1}
    np.testing.assert_array_equal(run(graph)(VALUE)[1], np.cos(VALUE))


def test_a_rule_of_several_outputs_puts_in_all_or_none() -> None:
    @node_rewriter([divmod_.__class__])
    def both(fgraph, node):
        """The second one overwrites."""
        a, b = node.inputs
        return [neg(a), overwrite(b)]

    a, b = num("a"), num("b")
    graph = FunctionGraph([a, b], list(divmod_(a, b)))
    before = list(graph.outputs)
    with pytest.raises(RuleError, match="cannot overwrite"):
        EquilibriumOptimizer([both]).rewrite(graph)
    assert graph.outputs == before
    graph.check_integrity()


def test_equations_bring_in_nothing_that_overwrites() -> None:
    @equation
    def two(a):
        """One of the sides overwrites."""
        return pt.exp(a), fast(a)

    with pytest.raises(
        RuleError, match=r"test_overwriting_rules/two(?s:.)*an equation must be about values"
    ):
        rw.function([x], pt.exp(x), mode=Mode().including("saturate") + two)


@pytest.mark.on_vm
def test_relations() -> None:
    @relation(tracks=[pt.exp], phase="specialize")
    def related(term, result):
        """Overwrites its operand."""
        k = LogicVariable("k")
        return lall(eq(term, pt.exp(k)), eq(result, fast(k)))

    with pytest.raises(RuleError, match="x is an input that is not mutable"):
        rw.function([x], pt.exp(x), mode=Mode() + related)
    f = rw.function([x], pt.exp(pt.sin(x)), mode=Mode().excluding("inplace") + related)
    assert any(node.op is fast for node in f.nodes)


def test_the_users_graph() -> None:
    for build in (
        lambda v: fast(v),
        lambda v: fast(v[1:]),
        lambda v: pt.Elemwise(pt.add.scalar_op, {0: 1})(v * 2, v),
        lambda v: fast(v) + 1,
    ):
        for mode in (None, Mode(optimizer=None)):
            with pytest.raises(InconsistencyError):
                rw.function([x], build(x), mode=mode)
            with pytest.raises(InconsistencyError, match="not mutable"):
                rw.function([x], build(x), mode=mode, accept_inplace=True)
            rw.function([In(x, mutable=True)], build(x), mode=mode, accept_inplace=True)


def test_a_graph_made_by_hand() -> None:
    graph = FunctionGraph([x], [fast(x)])
    with pytest.raises(InconsistencyError, match="not mutable"):
        graph.validate()
    with pytest.raises(InconsistencyError, match="not mutable"):
        run(graph)
    for clone in (True, False):
        graph = FunctionGraph([x], [fast(pt.sin(x)), pt.cos(pt.sin(x))], clone=clone)
        a, b = run(graph)(VALUE)
        np.testing.assert_array_equal(a, np.exp(np.sin(VALUE)))
        np.testing.assert_array_equal(b, np.cos(np.sin(VALUE)))


def test_a_driver_of_ones_own() -> None:
    class Mine(GraphRewriter):
        def run(self, fgraph: Any, result: Any) -> None:
            for node in fgraph.toposort():
                if node.op is pt.exp:
                    fgraph.replace(node.outputs[0], fast(node.inputs[0]), "mine")

    with pytest.raises(InconsistencyError, match="x is an input that is not mutable"):
        rw.function([x], pt.exp(x), mode=Mode(optimizer=Mine("mine")))
    f = rw.function([x], pt.exp(pt.sin(x)), mode=Mode(optimizer=Mine("mine")))
    np.testing.assert_array_equal(f(VALUE), np.exp(np.sin(VALUE)))


def test_outputs_added_later_are_looked_at_too() -> None:
    graph = FunctionGraph([x], [pt.sin(x)])
    graph.add_output(fast(graph.inputs[0]))
    with pytest.raises(InconsistencyError, match="not mutable"):
        graph.validate()


def test_a_copy_without_updates_keeps_its_order() -> None:
    s = rw.shared(VALUE.copy(), name="s")
    inner = pt.sin(x)
    f = rw.function([x], [pt.exp(inner), pt.cos(inner)], updates={s: s + 1})
    g = f.copy(delete_updates=True)
    for a, b in zip(f(VALUE), g(VALUE), strict=True):
        np.testing.assert_array_equal(a, b)


def test_no_guard_where_nothing_is_overwritten() -> None:
    graph = FunctionGraph([x], [pt.exp(x)])

    @rule
    def other(a):
        """Overwrites nothing."""
        return pt.exp(a) >> pt.sin(a)

    EquilibriumOptimizer([other]).rewrite(graph)
    assert graph.destroy_handler is None
    assert not graph.features
