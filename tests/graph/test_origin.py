"""Where nodes come from: the user's lines, and the rules that made them, without any trace."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import BroadcastError, InconsistencyError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import Provenance, calling_lines, forward_line, provenance
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from tests.rewrite.graphs import named
from tests.toy import add, const, exp, join, log, mul, neg, num, sin, sub

x, y = num("x"), num("y")
HERE = Path(__file__).name


def line_of(function: Any, offset: int) -> tuple[str, int]:
    return __file__, function.__code__.co_firstlineno + offset


def rewritten(term: Variable, *rules: Any) -> Variable:
    graph = FunctionGraph([x, y], [term])
    EquilibriumOptimizer(rules).rewrite(graph)
    return graph.outputs[0]


def test_as_written() -> None:
    term = sin(x)
    assert provenance(term) == Provenance((), (line_of(test_as_written, 1),))
    assert provenance(x) == provenance(const(1.0)) == Provenance()
    assert provenance(term.owner) == provenance(term)


def test_an_op_whose_make_node_is_written_by_hand() -> None:
    """Its nodes come from where it was applied, not all from the one line that makes them."""

    class Halved(Op):
        def make_node(self, *inputs: Any) -> Apply:
            return Apply(self, list(inputs), [num()])

    class Quartered(Halved):
        def make_node(self, *inputs: Any) -> Apply:
            return super().make_node(*inputs)

    name = test_an_op_whose_make_node_is_written_by_hand
    for op in (Halved(), Quartered()):
        called = op(x)
        direct = op.make_node(x)
        assert called.owner.where() == line_of(name, 13)
        assert direct.where() == line_of(name, 14)
    assert Apply(sin, [x], [num()]).where() == line_of(name, 17)


def test_a_firing_consumes_the_root_and_what_its_pattern_looks_at() -> None:
    rule = named("fused", lambda a: log(exp(a)) >> neg(a))
    inner = exp(sin(x))
    term = log(
        inner,
    )
    found = provenance(rewritten(term, rule))
    lines = [
        line_of(test_a_firing_consumes_the_root_and_what_its_pattern_looks_at, n) for n in (3, 2)
    ]
    assert found == Provenance((rule.name,), tuple(lines))
    assert term.owner.where() == lines[0]


def test_a_rewritten_node_keeps_the_line_of_what_it_replaced() -> None:
    rule = named("fused", lambda a: log(exp(a)) >> neg(a))
    term = log(exp(x))
    new = rewritten(term, rule)
    assert new.owner.op is neg
    assert new.owner.where() == term.owner.where()


def test_what_was_there_keeps_its_line_and_gains_a_rule() -> None:
    rule = named("undone", lambda a: neg(neg(a)) >> a)
    inner = sin(x)
    outer = neg(inner)
    found = provenance(rewritten(neg(outer), rule))
    name = test_what_was_there_keeps_its_line_and_gains_a_rule
    assert found.rules == (rule.name,)
    assert found.lines[0] == line_of(name, 2) == inner.owner.where()
    assert set(found.lines) == {line_of(name, n) for n in (2, 3, 4)}


def test_what_is_equal_to_what_a_rule_made_gains_it_too() -> None:
    rule = named("fused", lambda a: log(exp(a)) >> neg(a))
    there = neg(x)
    term = log(exp(x))
    both: Any = rewritten(join(there, term), rule).owner
    found = provenance(both.inputs[0])
    name = test_what_is_equal_to_what_a_rule_made_gains_it_too
    assert found.rules == (rule.name,)
    assert found.lines == (line_of(name, 2), line_of(name, 3))


def test_rules_one_after_the_other() -> None:
    one = named("one", lambda a: log(exp(a)) >> sin(a))
    two = named("two", lambda a: sin(a) >> neg(a))
    three = named("three", lambda a, b: sub(a, neg(b)) >> join(a, b))
    found = provenance(rewritten(sub(y, log(exp(x))), one, two, three))
    assert found.rules == (one.name, two.name, three.name)
    assert str(found).startswith(f"{one.name} then {two.name} then {three.name} ({HERE}:")


def test_operands_in_any_order() -> None:
    rule = named("twice", lambda a, b: add(mul(2, a), exp(b)) >> join(a, b))
    summand = exp(y)
    found = provenance(rewritten(add(summand, mul(x, 2)), rule))
    assert found.rules == (rule.name,)
    assert set(found.lines) == {line_of(test_operands_in_any_order, n) for n in (2, 3)}


def test_by_hand() -> None:
    graph = FunctionGraph([x], [sin(x)], clone=False)
    graph.replace(graph.outputs[0], neg(x), "by hand")
    assert provenance(graph.outputs[0]).rules == ("by hand",)
    graph.replace(graph.outputs[0], exp(x))
    assert provenance(graph.outputs[0]).rules == ("by hand",)


def test_of_a_compiled_function_and_after_pickling() -> None:
    v = pt.vector("v")
    f = rw.function([v], pt.log(1 + pt.exp(v)), mode=rw.Mode().excluding("inplace"))
    found = rw.provenance(f.fgraph.outputs[0])
    assert found.rules == ("exp_log/log_of_one_plus", "exp_log/log1p_of_exp")
    assert found.lines == (line_of(test_of_a_compiled_function_and_after_pickling, 2),)
    again = pickle.loads(pickle.dumps(f))
    assert rw.provenance(again.fgraph.outputs[0]) == found
    assert np.allclose(again([0.0]), np.log(2.0))


def test_what_is_refused_leaves_nothing() -> None:
    class NoNeg(Feature):
        """Wants none."""

        def on_validate(self, fgraph: Any) -> None:
            if any(node.op is neg for node in fgraph.apply_nodes):
                raise InconsistencyError("there is a neg")

    rule = named("fused", lambda a: log(exp(a)) >> neg(a))
    inner = exp(x)
    term = sin(log(inner))
    graph = FunctionGraph([x], [term], [NoNeg()])
    EquilibriumOptimizer([rule]).rewrite(graph)
    (again,) = graph.outputs[0].owner.inputs
    assert provenance(again) == provenance(term.owner.inputs[0])
    assert again.owner.inputs[0].owner.where() == inner.owner.where()


def test_copies_know_it_too() -> None:
    rule = named("fused", lambda a: log(exp(a)) >> neg(a))
    graph = FunctionGraph([x], [log(exp(x))])
    EquilibriumOptimizer([rule]).rewrite(graph)
    assert provenance(graph.clone().outputs[0]).rules == (rule.name,)


def test_a_long_derivation_needs_no_recursion() -> None:
    n = 50_000
    rule = named("undone", lambda a: neg(neg(a)) >> a)
    term = sin(x)
    for _ in range(2 * n):
        term = neg(term)
    graph = FunctionGraph([x], [term])
    EquilibriumOptimizer([rule]).rewrite(graph)
    found = provenance(graph.outputs[0])
    assert found.rules == (rule.name,) * n
    assert provenance(pickle.loads(pickle.dumps(graph)).outputs[0]).rules == found.rules
    assert graph.outputs[0].owner.where() == line_of(test_a_long_derivation_needs_no_recursion, 3)


# --- who called, and what was differentiated -----------------------------------------------------


def built(v: Variable) -> Variable:
    return pt.tanh(v)


def built_twice(v: Variable) -> list[Variable]:
    return [
        built(v),
        built(v),
    ]


def test_calls_are_noted_where_asked_and_each_one_has_its_own() -> None:
    u = pt.dvector("u")
    assert calling_lines(built(u).owner.origin) == []
    with config.change_flags(traceback__limit=3):
        one, two = built_twice(u)
        here = line_of(test_calls_are_noted_where_asked_and_each_one_has_its_own, 4)
        assert calling_lines(one.owner.origin) == [line_of(built_twice, 2), here]
        assert calling_lines(two.owner.origin) == [line_of(built_twice, 3), here]
        assert one.owner.where() == line_of(built, 1)
    assert calling_lines(built(u).owner.origin) == []


def test_errors_tell_the_calls_and_the_line_that_was_differentiated() -> None:
    u = pt.dvector("u")
    with config.change_flags(traceback__limit=2):
        f = rw.function([u], failing(u), mode="py")
    with pytest.raises(RuntimeError) as failed:
        f([1.0])
    assert f"called at {__file__}:" in "".join(failed.value.__notes__)
    w, y = pt.dvector("w"), pt.exp(u)
    g = rw.function([u, w], rw.grad(None, u, known_grads={y: w}))
    with pytest.raises(BroadcastError, match=f"the derivative of {__file__}:.*exp"):
        g([1.0, 2.0], [1.0, 2.0, 3.0])


def failing(v: Variable) -> Variable:
    return Failing()(v)


class Failing(Op):
    __props__ = ()

    def make_node(self, v: Any) -> Apply:
        return Apply(self, [v], [v.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        raise RuntimeError


def test_derivatives_end_with_their_walk() -> None:
    u = pt.dvector("u")

    class Raising(Failing):
        def L_op(self, inputs: Any, outputs: Any, gradients: Any) -> Any:
            raise RuntimeError

    class Nested(Failing):
        def L_op(self, inputs: Any, outputs: Any, gradients: Any) -> Any:
            v = pt.dvector("v")
            inner = rw.grad(pt.exp(v).sum(), v)
            return [rw.clone_replace(inner, {v: inputs[0]}) * gradients[0]]

    cost, wrong = Nested()(pt.sin(u)).sum(), Raising()(u).sum()
    for _ in range(2):  # one line: the same instruction each time
        g, after = rw.grad(cost, u), pt.exp(u)
        assert forward_line(g.owner.origin) == cost.owner.inputs[0].owner.inputs[0].owner.where()
        assert forward_line(after.owner.origin) is None
    for what in (cost, wrong):
        try:
            made = rw.grad(what, u)
        except RuntimeError:
            made = None
    assert made is None
    assert forward_line(pt.exp(u).owner.origin) is None
