"""Ops with several outputs in rules: patterns name one of them, or replace all."""

from __future__ import annotations

from typing import Any

import kanren
import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import language
from rewrite_engine.errors import (
    InconsistencyError,
    PatternError,
    RuleError,
    RuleLoopError,
    SeveralOutputsError,
)
from rewrite_engine.explain import explain, replay
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.language import Inexact, Matrix, compute, node_rewriter
from rewrite_engine.match.find import find
from rewrite_engine.match.interpret import match_root
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.expand import expand
from rewrite_engine.rewrite.strategies import first
from rewrite_engine.rewrite.trace import Trace
from rewrite_engine.terms import etuplize, from_term, nth
from tests.match.language import ToyVariable, ask, make, same, x, y, z
from tests.toy import Num, Scale, add, const, divmod_, exp, log, mul, neg, num, sin, sub


class Svd(Op):
    """Singular values and vectors, as three named outputs."""

    __props__ = ("scaled",)
    output_names = ("U", "S", "Vh")

    def __init__(self, scaled: float = 1.0) -> None:
        self.scaled = scaled

    def infer_types(self, types: Any) -> Any:
        (a,) = types
        if a.ndim != 2:
            raise TypeError("a matrix")
        return [pt.TensorType(a.dtype, (None,) * n) for n in (2, 1, 2)]

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        found = np.linalg.svd(inputs[0], full_matrices=False)
        for cell, value, scale in zip(output_storage, found, (1, self.scaled, 1), strict=True):
            cell[0] = value * scale


class Silent(Op):
    """Two outputs, and nothing that says so."""

    __props__ = ()

    def make_node(self, a: Any) -> Apply:
        a = pt.as_tensor(a)
        return Apply(self, [a], [a.type(), a.type()])


class Pair(Op):
    """Two outputs, of which `op(...)` returns the second."""

    __props__ = ()
    default_output = 1
    itypes = (num, num)
    otypes = (num, num)


class Scaled(Op):
    """Quotient and rest of a multiple."""

    __props__ = ("by",)
    itypes = (num, num)
    otypes = (num, num)
    output_names = ("quotient", "rest")

    def __init__(self, by: float) -> None:
        self.by = by


svd, silent, pair = Svd(), Silent(), Pair()
m = pt.dmatrix("m")


def rewritten(rule: Any, *outputs: Variable, trace: Any = None) -> list[Variable]:
    graph = FunctionGraph(None, list(outputs))
    EquilibriumOptimizer(RuleSet([rule])).rewrite(graph, trace=trace)
    return graph.outputs


# --- what an op says, and what it returns ---------------------------------------------------------


def test_named_outputs_of_a_term() -> None:
    found = svd(m)
    assert found.S is found[1]
    u, s, vh = found
    assert (u, s, vh) == (found.U, found.S, found.Vh)
    assert u.owner is s.owner
    assert (u.owner.op, s.index) == (svd, 1)
    assert isinstance(svd(m, return_list=True), list)


def test_patterns_have_outputs_by_number_name_and_unpacking() -> None:
    a = language.TensorLogicVariable("a")
    u, s, vh = svd(a)
    assert s == svd(a)[1] == svd(a).S == svd(a)[-2]
    assert (u, vh) == (svd(a)[0], svd(a)[2]) == svd(a)[::2]
    assert s.etuple == etuplize(nth(1, svd(a)))
    assert len(svd(a)) == 3
    assert str(s) == "Svd{scaled=1.0}(a).S"


# --- what can never match -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "what"),
    [
        (lambda a: exp(divmod_(a, a)) >> a, "DivMod(a, a)[0] or DivMod(a, a)[1]"),
        (lambda a: exp(a) >> divmod_(a, a), "the left side is one term, and the right side is 2"),
        (lambda a: exp(a) >> (a, a), "the left side is one term, and the right side is 2"),
        (lambda a: divmod_(a, a) >> a, "the right side is one term, and DivMod(a, a) has 2"),
        (lambda a: divmod_(a, a) >> (a, a, a), "or 2 terms for all"),
        (lambda a: divmod_(a, a) + 1 >> a, "has 2 outputs: write DivMod(a, a)[0]"),
        (lambda a: 1 + divmod_(a, a) >> a, "has 2 outputs: write DivMod(a, a)[0]"),
        (lambda a: divmod_(a, a)[2] >> a, "there is no DivMod(a, a)[2]"),
        (lambda a: divmod_(a, a).rest >> a, "there is no DivMod(a, a).rest"),
        (lambda a: nth(2, divmod_(a, a)) >> a, "has 2 outputs"),
        (lambda a: nth(0, Scale(2.0)(a)) >> a, "write it without a number"),
        (lambda a: divmod_(a, a) >> divmod_(a, a), "both sides are the same"),
        (lambda a: divmod_(a, a) >> (divmod_(a, a)[0], divmod_(a, a)[1]), "both sides"),
        (lambda a: divmod_(a, a)[1] >> divmod_(a, a)[1], "both sides are the same"),
    ],
)  # fmt: skip
def test_what_can_never_match_is_refused(fn: Any, what: str) -> None:
    with pytest.raises(PatternError) as info:
        make(fn)
    assert what in str(info.value)


def test_what_can_never_match_is_refused_on_tensors() -> None:
    def whole(a: Matrix) -> Any:
        """An op with several outputs is no term."""
        return pt.exp(svd(a)) >> pt.exp(a)

    with pytest.raises(SeveralOutputsError, match=r"\.U or Svd.*\.S or Svd.*\.Vh"):
        language.rule(whole)

    def transposed(a: Matrix) -> Any:
        """Names of outputs come before methods."""
        return svd(a).T >> a

    with pytest.raises(PatternError, match="there is no Svd"):
        language.rule(transposed)


def test_samples_show_how_many_outputs_there_are() -> None:
    def second(a: Inexact) -> Any:
        """An op that does not say how many outputs it has."""
        return pt.exp(Silent()(a)[1]) >> pt.exp(a)

    assert str(language.rule(second).left.args[0].index) == "1"

    def whole(a: Inexact) -> Any:
        """The same op taken for one with one output."""
        return pt.exp(Silent()(a)) >> pt.exp(a)

    with pytest.raises(PatternError, match="has 2 outputs: write"):
        language.rule(whole)


# --- matching -------------------------------------------------------------------------------------


def test_one_output_at_the_root() -> None:
    quotient, rest = divmod_(x, y)
    for i, made in enumerate([(exp(x), None), (None, exp(x))]):
        rule = _one(i)
        for v in quotient, rest:
            found = rule.transform(None, v.owner)
            again = rule.interpreted(None, v.owner)
            for one, other, wanted in zip(found, again, made, strict=True):
                assert same(one, wanted)
                assert same(other, wanted)
    assert _one(0).transform(None, exp(x).owner) is None


def _one(i: int) -> Any:
    return make(lambda a, b: divmod_(a, b)[i] >> exp(a))


@pytest.mark.parametrize("i", [0, 1])
def test_one_output_below_the_root(i: int) -> None:
    rule = make(lambda a, b: exp(divmod_(a, sin(b))[i]) >> sub(a, b))
    outputs = divmod_(x, sin(y))
    assert same(ask(rule, exp(outputs[i])), sub(x, y))
    assert ask(rule, exp(outputs[1 - i])) is None
    assert ask(rule, exp(divmod_(x, y)[i])) is None
    assert ask(rule, exp(x)) is None


def test_outputs_in_sums_and_pairs_in_both_orders() -> None:
    rule = make(lambda a, b: add(divmod_(a, b)[1], exp(a)) >> sub(a, b))
    rest = divmod_(x, y)[1]
    assert same(ask(rule, add(exp(x), rest)), sub(x, y))
    assert same(ask(rule, add(z, rest, exp(x))), add(sub(x, y), z))
    assert ask(rule, add(divmod_(x, y)[0], exp(x))) is None


def test_two_outputs_are_of_one_node() -> None:
    rule = make(lambda a, b: add(mul(divmod_(a, b)[0], b), divmod_(a, b)[1]) >> a)
    q, r = divmod_(x, y)
    assert ask(rule, add(mul(q, y), r)) is x
    assert ask(rule, add(r, mul(q, y))) is x
    assert ask(rule, add(mul(q, y), divmod_(x, y)[1])) is x  # will be one in a graph
    assert ask(rule, add(mul(r, y), q)) is None
    assert ask(rule, add(mul(q, y), divmod_(y, x)[1])) is None


def test_nodes_that_differ_by_their_constants_are_two() -> None:
    """The same pattern matches each of them alone."""
    rule = make(lambda a: sub(divmod_(a, 2)[0], divmod_(a, 2)[1]) >> a)
    one, other = Num().make_constant(2.0), const(2.0)
    assert one.type is not other.type
    q, r = divmod_(x, one)
    assert ask(rule, sub(q, r)) is x
    assert ask(rule, sub(q, divmod_(x, other)[1])) is None


def test_a_default_output() -> None:
    first = make(lambda a, b: nth(0, pair(a, b)) >> exp(a))
    second = make(lambda a, b: pair(a, b) >> exp(b))
    both = make(lambda a, b: sub(nth(0, pair(a, b)), pair(a, b)) >> neg(b))
    node = pair(x, y).owner
    assert str(first) == "test_outputs/made: Pair(a, b)[0] -> exp(a)"
    for rule, i, made in (first, 0, exp(x)), (second, 1, exp(y)):
        for found in rule.transform(None, node), rule.interpreted(None, node):
            assert same(found[i], made)
            assert found[1 - i] is None
    assert same(ask(both, sub(*node.outputs)), neg(y))
    assert ask(both, sub(*node.outputs[::-1])) is None
    assert same(ask(make(lambda a, b: exp(pair(a, b)) >> b), exp(pair(x, y))), y)


def test_parameters_of_classes_of_ops() -> None:
    def rule(i: int) -> Any:
        return make(lambda a, b, by: exp(Scaled(by)(a, b)[i]) >> Scaled(by)(b, a).quotient)

    for i in 0, 1:
        outputs = Scaled(2.0)(x, y)
        assert same(ask(rule(i), exp(outputs[i])), Scaled(2.0)(y, x)[0])
        assert ask(rule(i), exp(outputs[1 - i])) is None
    two = make(lambda a, b, by: sub(Scaled(by)(a, b).quotient, Scaled(by)(a, b).rest) >> a)
    assert ask(two, sub(Scaled(2.0)(x, y)[0], Scaled(2.0)(x, y)[1])) is x
    assert ask(two, sub(Scaled(2.0)(x, y)[0], Scaled(3.0)(x, y)[1])) is None
    root = make(lambda a, b, by: Scaled(by)(a, b).rest >> exp(a))
    assert same(root.transform(None, Scaled(2.0)(x, y)[0].owner)[1], exp(x))
    assert str(root) == "test_outputs/made: Scaled(by=by)(a, b).rest -> exp(a)"


def test_numbers_take_the_type_of_their_output() -> None:
    rule = make(lambda a: divmod_(a, a) >> (1, 0))
    for found in (
        rule.transform(None, divmod_(x, x)[0].owner),
        rule.interpreted(None, divmod_(x, x)[0].owner),
    ):
        assert [v.data for v in found] == [1.0, 0.0]


# --- replacing ------------------------------------------------------------------------------------


def test_one_output_is_replaced_and_the_others_stay() -> None:
    q, r = divmod_(x, y)
    assert [*map(etuplize, rewritten(_one(1), add(q, r), r))] == [
        etuplize(add(divmod_(x, y)[0], exp(x))),
        etuplize(exp(x)),
    ]


def test_what_nobody_uses_any_more_is_removed() -> None:
    q, r = divmod_(x, y)
    graph = FunctionGraph(None, [exp(r)])
    EquilibriumOptimizer(RuleSet([_one(1)])).rewrite(graph)
    assert [node.op for node in graph.toposort()] == [exp, exp]
    assert [node.op for node in FunctionGraph(None, rewritten(_one(1), q)).toposort()] == [divmod_]


def test_all_outputs_are_replaced() -> None:
    rule = make(lambda a, b: divmod_(a, b) >> (sub(a, b), neg(b)))
    assert str(rule) == "test_outputs/made: DivMod(a, b) -> (a - b, -b)"
    q, r = divmod_(x, y)
    found = rewritten(rule, exp(q), r)
    assert [*map(etuplize, found)] == [etuplize(exp(sub(x, y))), etuplize(neg(y))]


def test_all_outputs_by_those_of_another_op() -> None:
    rule = make(lambda a, b: divmod_(a, b) >> Scaled(1.0)(a, b))
    q, r = divmod_(x, y)
    found = rewritten(rule, q, exp(r))
    assert found[0].owner is found[1].owner.inputs[0].owner
    assert (found[0].owner.op, found[0].index, found[1].owner.inputs[0].index) == (
        Scaled(1.0),
        0,
        1,
    )


def test_all_outputs_computed() -> None:
    rule = make(lambda a, b: divmod_(a, b) >> compute(lambda a, b: None if a is b else [b, a]))
    q, r = divmod_(x, y)
    assert rewritten(rule, q, r) == [y, x]
    same_operands = divmod_(x, x)
    assert rewritten(rule, *same_operands)[0].owner.op is divmod_


def test_a_node_rewriter_says_which_outputs() -> None:
    @node_rewriter([divmod_])
    def second(fgraph: Any, node: Apply) -> Any:
        """The others stay."""
        return None, node.inputs[0]

    @node_rewriter([divmod_])
    def vague(fgraph: Any, node: Apply) -> Any:
        """Does not say which output it means."""
        return node.inputs[0]

    q, r = divmod_(x, y)
    found = rewritten(second, q, r)
    assert (found[0].owner.op, found[1]) == (divmod_, x)
    with pytest.raises(RuleError, match="returns one variable for the 2 outputs of DivMod"):
        rewritten(vague, q, r)


def test_a_single_variable_takes_the_place_of_the_default_output() -> None:
    @node_rewriter([pair])
    def second(fgraph: Any, node: Apply) -> Any:
        """One variable, for what `pair(...)` is."""
        return node.inputs[0]

    a, b = pair(x, y).owner.outputs
    for rule in second, first(second):
        assert rewritten(rule, a, exp(b))[0].owner.op is pair
        assert rewritten(rule, a, exp(b))[1].owner.inputs == (x,)


class NoNeg(Feature):
    """Refuses `neg`."""

    def on_validate(self, fgraph: FunctionGraph) -> None:
        if any(node.op is neg for node in fgraph.apply_nodes):
            raise InconsistencyError("there is neg")


@pytest.mark.parametrize("traced", [False, True])
def test_what_a_feature_refuses_is_taken_back(traced: bool) -> None:
    @node_rewriter([pair])
    def single(fgraph: Any, node: Apply) -> Any:
        """One variable, for what `pair(...)` is."""
        return neg(node.inputs[0])

    one = make(lambda a, b: divmod_(a, b)[1] >> neg(a))
    whole = make(lambda a, b: divmod_(a, b) >> (exp(a), neg(b)))
    (q, r), (s, t) = divmod_(x, y), pair(x, y).owner.outputs
    for rule in one, whole, single, first(one), first(whole), first(single):
        graph = FunctionGraph([x, y], [q, exp(r), s, exp(t)], [NoNeg()], memo={x: x, y: y})
        trace = Trace() if traced else None
        result = EquilibriumOptimizer([rule]).rewrite(graph, trace=trace)
        graph.check_integrity()
        assert result.refusals == {"NoNeg": 1}
        assert [*map(etuplize, graph.outputs)] == [*map(etuplize, [q, exp(r), s, exp(t)])]


# --- other uses of patterns -----------------------------------------------------------------------


def test_find() -> None:
    q, r = divmod_(x, y)
    graph = add(exp(q), sin(r))
    found = [*find(graph, lambda a, b: divmod_(a, b)[1], variable=ToyVariable)]
    assert [(one.variable, one["a"], one["b"]) for one in found] == [(r, x, y)]
    (inside,) = find(graph, lambda a, b: exp(divmod_(a, b)[0]), variable=ToyVariable, every=True)
    assert (inside.variable.owner.inputs, inside.bindings) == ((q,), {"a": x, "b": y})
    assert [*find(graph, lambda a, b: exp(divmod_(a, b)[1]), variable=ToyVariable)] == []
    (whole,) = find(graph, lambda a, b: divmod_(a, b), variable=ToyVariable)
    assert (whole.node, whole["a"]) == (q.owner, x)
    assert [one.node for one in find(graph, divmod_)] == [q.owner]


@pytest.mark.parametrize("i", [0, 1])
def test_the_relation_both_ways(i: int) -> None:
    unknown = kanren.var()
    outputs = divmod_(x, y)
    root, inner = _one(i), make(lambda a, b: exp(divmod_(a, b)[i]) >> sub(a, b))
    for rule, term, made in (root, outputs[i], exp(x)), (inner, exp(outputs[i]), sub(x, y)):
        (found,) = kanren.run(0, unknown, rule.goal(etuplize(term), unknown))
        assert same(from_term(found), made)
    assert kanren.run(0, unknown, root.goal(etuplize(outputs[1 - i]), unknown)) == ()
    (found,) = kanren.run(0, unknown, inner.goal(unknown, etuplize(sub(x, y))))
    assert same(from_term(found), exp(outputs[i]))


def test_the_relation_of_a_rule_for_all_outputs() -> None:
    unknown = kanren.var()
    rule = make(lambda a, b: divmod_(a, b) >> (sub(a, b), neg(b)))
    for v, made in zip(divmod_(x, y), (sub(x, y), neg(y)), strict=True):
        (found,) = kanren.run(0, unknown, rule.goal(etuplize(v), unknown))
        assert same(from_term(found), made)
    (found,) = kanren.run(0, unknown, rule.goal(unknown, etuplize(sub(x, y))))
    assert same(from_term(found), divmod_(x, y)[0])


def test_expand() -> None:
    rule = make(lambda a, b: divmod_(a, b) >> (sub(a, b), exp(b)))
    inner = make(lambda a, b: log(divmod_(a, b)[1]) >> sin(a))
    (found,) = expand(neg(sub(x, y)), rule, 2)
    assert same(found, neg(divmod_(x, y)[0]))
    assert expand(sin(x), inner, 1) == []  # the second operand is anything
    both = make(lambda a, b: log(divmod_(a, b)[1]) >> sub(a, b))
    assert same(expand(exp(sub(x, y)), both, 1)[0], exp(log(divmod_(x, y)[1])))


def test_equations() -> None:
    @language.equation
    def transposed(a: Matrix) -> Any:
        """A matrix has the singular values of its transpose."""
        return svd(a.T).S, svd(a).S

    there, back = transposed.forward, transposed.backward
    s = svd(m).S
    assert same(there.transform(None, svd(m.T).S.owner)[1], s)
    assert same(back.transform(None, s.owner)[1], svd(m.T).S)
    assert str(transposed.text).endswith(".S == Svd{scaled=1.0}(a).S")
    with pytest.raises(PatternError, match="are not outputs of one op"):

        @language.equation
        def never(a: Matrix) -> Any:
            """A tuple cannot be matched."""
            return svd(a), (a, pt.diagonal(a), a)


def test_traces_show_which_output() -> None:
    q, r = divmod_(x, y)
    trace = Trace(terms=True, attempts=True)
    rewritten(_one(1), add(q, r), trace=trace)
    (firing,) = trace.records
    assert (firing.before, firing.after) == ("DivMod(x, y)[1]", "exp(x)")
    tried = [one.term for one in trace.tries if one.verdict == "fired"]
    assert tried == ["DivMod(x, y)"]
    all_of_them = make(lambda a, b: divmod_(a, b) >> (sub(a, b), neg(b)))
    trace = Trace(terms=True)
    rewritten(all_of_them, add(q, r), trace=trace)
    assert [(one.before, one.after, one.part) for one in trace.records] == [
        ("DivMod(x, y)[0]", "x - y", 0),
        ("DivMod(x, y)[1]", "-y", 1),
    ]


def test_a_loop_tells_which_output() -> None:
    swapped = make(lambda a, b: divmod_(a, b)[1] >> divmod_(b, a)[1])
    with pytest.raises(RuleLoopError) as info:
        rewritten(swapped, exp(divmod_(x, y)[1]))
    assert "DivMod(x, y)[1] → DivMod(y, x)[1]" in str(info.value)


def test_a_graph_as_an_op() -> None:
    double = rw.OpFromGraph([m], [m + m, m * m])
    rule = language.rule(_of_second(double))
    assert rule.transform(None, double(m)[0].owner)[0] is None
    assert same(rule.transform(None, double(m)[0].owner)[1], m.T)


def _of_second(op: Any) -> Any:
    def second(a: Matrix) -> Any:
        """The second output only."""
        return op(a)[1] >> a.T

    return second


def test_why_not() -> None:
    from rewrite_engine.match.explain import diagnose

    inner = make(lambda a, b: sin(divmod_(a, b)[1]) >> sub(a, b))
    q, r = divmod_(x, y)
    assert diagnose(inner, sin(r).owner).applies
    said = diagnose(inner, sin(q).owner)
    assert not said.applies
    assert said.reason == "`DivMod(a, b)[1]`: DivMod(x, y)[0] is computed by DivMod"
    assert diagnose(_one(1), q.owner).applies
    both = make(lambda a, b: add(divmod_(a, b)[0], divmod_(a, b)[1]) >> a)
    said = diagnose(both, add(q, divmod_(x, const(2.0))[1]).owner)
    assert said.reason == "`DivMod(a, b)[1]`: it is an output of another node"


def test_terms_go_both_ways() -> None:
    for i, v in enumerate(svd(m)):
        term = etuplize(v)
        assert (term[0], term[1]) == (nth, i)
        assert term.evaled_obj is v
        assert same_value(from_term(etuplize(nth(i, svd(m)))), v)
    open_term = svd(language.TensorLogicVariable("a"))
    assert open_term.etuple.evaled_obj == open_term


def same_value(a: Variable, b: Variable) -> bool:
    return same(a, b) and a.index == b.index


def test_replays() -> None:
    one = _one(1)
    every = make(lambda a, b: sin(divmod_(a, b)[0]) >> a, doc="Another rule.")
    every.name = "test_outputs/every"
    whole = make(lambda a, b: divmod_(neg(a), b) >> (sub(a, b), neg(b)))
    whole.name = "test_outputs/whole"
    (q, r), (s, t) = divmod_(x, y), divmod_(neg(x), y)
    terms = [add(sin(q), r), s, t]
    for shown in False, True:
        trace, graph = Trace(terms=shown), FunctionGraph([x, y], terms)
        EquilibriumOptimizer([one, every, whole]).rewrite(graph, trace=trace)
        again = replay(trace.lines(), FunctionGraph([x, y], terms), [one, every, whole])
        assert len(trace) == 4
        assert equal_computations(again.outputs, graph.outputs, again.inputs, graph.inputs)


def test_what_is_dropped_must_not_hide_an_error() -> None:
    @language.rule
    def first(a: Matrix, b: Matrix) -> Any:
        """Drops an operand: sound only where the shapes are known to fit."""
        return svd(a + b).U >> svd(a).U

    @language.rule
    def whole(a: Matrix, b: Matrix) -> Any:
        """Drops it from all outputs."""
        return svd(a + b) >> (svd(a).U, svd(a).S, svd(b).Vh)

    @language.rule
    def each(a: Matrix, b: Matrix) -> Any:
        """What one output drops another one has."""
        return svd(a * b) >> (svd(a).U, svd(b).S, svd(a * b).Vh)

    n = pt.dmatrix("n")
    assert not first.transform(None, svd(m + n).U.owner)
    assert same(first.transform(None, svd(m + m).U.owner)[0], svd(m).U)
    assert whole.transform(None, svd(m + m).U.owner)
    assert [v.index for v in each.transform(None, svd(m * n).U.owner)] == [0, 1, 2]


def test_explain_tells_the_story() -> None:
    @language.rule(phase="canonicalize")
    def values_of_transpose(a: Matrix) -> Any:
        """A matrix has the singular values of its transpose."""
        return svd(a.T).S >> svd(a).S

    u, s, _ = svd(m.T)
    report = explain([u, pt.log(s)], mode=rw.Mode("fast_run") + values_of_transpose)
    told = [step.change.term for step in report.functions[0].record.steps]
    assert told[0] == "Svd(m.T, scaled=1.0).S → Svd(m, scaled=1.0).S"


# --- values ---------------------------------------------------------------------------------------


def test_values_in_a_compiled_function() -> None:
    @language.rule(phase="canonicalize", claim=language.refines)
    def values_of_transpose(a: Matrix) -> Any:
        """A matrix has the singular values of its transpose."""
        return svd(a.T).S >> svd(a).S

    a = np.arange(6.0).reshape(3, 2) ** 2
    u, s, vh = svd(m.T)
    f = rw.function([m], [pt.exp(s), (u * s) @ vh])
    np.testing.assert_allclose(f(a)[0], np.exp(np.linalg.svd(a)[1]))
    np.testing.assert_allclose(f(a)[1], a.T, atol=1e-12)
    graph = FunctionGraph(None, [pt.exp(s)])
    EquilibriumOptimizer(RuleSet([values_of_transpose])).rewrite(graph)
    (out,) = graph.outputs
    assert out.owner.inputs[0].owner.inputs == (m,)
    np.testing.assert_allclose(out.eval({m: a}), np.exp(np.linalg.svd(a)[1]))


def test_ways_of_a_pattern_without_names() -> None:
    """Bindings have the names of the rule's variables, and nothing else."""
    rule = make(lambda a, b: add(divmod_(a, b)[0], divmod_(a, b)[1]) >> a)
    q, r = divmod_(x, y)
    assert [*match_root(rule.left, add(q, r).owner)] == [{"a": x, "b": y}]
