"""Equality saturation: the better graph where greedy rules are stuck, by steps that are rules."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RuleError, RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.op import Op
from rewrite_engine.language import compute, equation, exact
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.pattern import Prop
from rewrite_engine.rewrite.cost import bytes_moved, flops
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rewrite.trace import Trace, brief
from rewrite_engine.rules.equations import (
    common_factor,
    common_left_matrix,
    matmul_assoc,
    sum_of_sums,
)
from tests.match import test_equation as toys
from tests.match.language import make as make_rule
from tests.match.language import x, y, z
from tests.rewrite.graphs import terms, total, values
from tests.toy import Overwrite, Scale, add, divmod_, mul, neg, num, sin, sub


def chain(sizes: list[int]) -> tuple[list[Any], Any]:
    """A product of matrices of these sizes, from left to right."""
    factors = [pt.matrix(f"m{i}", shape=pair) for i, pair in enumerate(pairwise(sizes))]
    product = factors[0]
    for m in factors[1:]:
        product = product @ m
    return factors, product


def best_order(sizes: list[int]) -> int:
    """The flops of the best order, by dynamic programming over intervals (the textbook's)."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j] = min(
                cost[i][k] + cost[k + 1][j] + 2 * sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            )
    return cost[0][-1]


def run(graph: FunctionGraph, rules: Any, **options: Any) -> tuple[Any, Trace]:
    trace = Trace(terms=True, depth=10)
    result = SaturationOptimizer(rules, **options).rewrite(graph, trace)
    graph.check_integrity()
    assert sum(result.fired.values()) == len(trace)
    return result, trace


def numbers(graph: FunctionGraph, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=[3 if n is None else n for n in v.type.shape]) for v in graph.inputs]


def computed(graph: FunctionGraph, given: list[np.ndarray]) -> list[np.ndarray]:
    plain = rw.Mode("py", optimizer=None)
    return rw.function(graph.inputs, graph.outputs, mode=plain, on_unused_input="ignore")(*given)


@settings(max_examples=25)
@given(st.lists(st.integers(1, 40), min_size=3, max_size=10))
def test_a_chain_of_products_gets_the_best_order(sizes: list[int]) -> None:
    factors, product = chain(sizes)
    graph = FunctionGraph(factors, [product])
    plain = computed(graph, numbers(graph))
    result, _ = run(graph, [matmul_assoc])
    assert result.stopped is StopReason.SATURATED
    assert sum(flops(node) for node in graph.apply_nodes) == best_order(sizes)
    assert len(graph) == len(sizes) - 2
    np.testing.assert_allclose(computed(graph, numbers(graph))[0], plain[0], rtol=1e-8, atol=1e-8)


def test_greedy_rules_cannot_find_it() -> None:
    """Each direction alone ends at one of the two extremes; both together do not end."""
    sizes = [2, 30, 3, 30, 4, 30, 2]
    for rule in matmul_assoc.directions:
        factors, product = chain(sizes)
        graph = FunctionGraph(factors, [product])
        EquilibriumOptimizer([rule]).rewrite(graph)
        assert sum(flops(node) for node in graph.apply_nodes) > best_order(sizes)
    with pytest.raises(RuleLoopError):
        EquilibriumOptimizer(matmul_assoc.directions).rewrite(FunctionGraph(factors, [product]))


def test_the_steps_are_firings_of_the_equation() -> None:
    factors, product = chain([1, 9, 1, 9, 1])
    graph = FunctionGraph(factors, [product])
    result, trace = run(graph, [matmul_assoc], name="chains")
    (firing,) = trace
    assert (firing.before, firing.after) == ("m0 @ m1 @ m2 @ m3", "m0 @ m1 @ (m2 @ m3)")
    assert firing.rule is matmul_assoc.forward
    assert firing.rule_name == "equations/matmul_assoc.forward"
    assert firing.phase == "chains"
    assert result.fired == {"equations/matmul_assoc.forward": 1}
    assert trace.phases == [result]


def test_a_product_with_a_vector_at_its_end() -> None:
    a, b, v = pt.matrix("a"), pt.matrix("b"), pt.vector("v")
    graph = FunctionGraph([a, b, v], [a @ b @ v])
    given = numbers(graph)
    plain = computed(graph, given)
    result, _ = run(graph, [matmul_assoc])
    assert brief(graph.outputs[0]) == "a @ (b @ v)"
    assert result.fired == {"equations/matmul_assoc.forward": 1}
    np.testing.assert_allclose(computed(graph, given)[0], plain[0])
    back = FunctionGraph([a, b, v], [v @ (a @ b)])
    assert run(back, [matmul_assoc])[0].fired == {"equations/matmul_assoc.backward": 1}
    assert brief(back.outputs[0]) == "v @ a @ b"


def test_what_is_needed_anyway_is_used_again() -> None:
    """a @ b is an output: with it at hand, (a @ b) @ c is the cheaper one."""
    sizes = [20, 20, 20, 4]
    (a, b, c), product = chain(sizes)
    alone = FunctionGraph([a, b, c], [product])
    shared = FunctionGraph([a, b, c], [product, a @ b])
    run(alone, [matmul_assoc])
    assert brief(alone.outputs[0]) == "m0 @ (m1 @ m2)"
    assert run(shared, [matmul_assoc])[0].firings == 0
    other = FunctionGraph([a, b, c], [a @ (b @ c), a @ b])
    run(other, [matmul_assoc])
    assert brief(other.outputs[0]) == "m0 @ m1 @ m2"
    assert len(other) == 2


FACTORED = {
    "some of many": (lambda k, a, b, c, d: pt.add(a, k * b, c, k * d), "k * (b + d) + a + c"),
    "in a sum in a sum": (lambda k, a, b, c, d: (k * a + b) + k * c, "k * (a + c) + b"),
    "apart": (lambda k, a, b, c, d: (k * a + b) + (c + k * d), "k * (a + d) + b + c"),
    "of many factors": (lambda k, a, b, c, d: pt.mul(k, a, b) + c * k, "k * (a * b + c)"),
}


def factor(case: str, **options: Any) -> Any:
    """Factor a case, check its form and values, and return the result of the run."""
    build, expected = FACTORED[case]
    inputs = pt.vectors("k a b c d")
    graph = FunctionGraph(inputs, [build(*inputs)])
    given = numbers(graph)
    plain = computed(graph, given)
    result, _ = run(graph, [common_factor], **options)
    assert brief(graph.outputs[0]) == expected
    np.testing.assert_allclose(computed(graph, given)[0], plain[0])
    return result


@pytest.mark.parametrize("case", FACTORED)
def test_operands_in_any_number_and_order(case: str) -> None:
    """No equation says that sums are commutative and associative; matching knows."""
    assert factor(case).stopped is StopReason.SATURATED


def test_an_exact_equation_regroups_no_floats() -> None:
    """Of three operands it may not take two; of integers it may."""

    @equation(claim=exact)
    def factored(k, x, y):
        """Exact for integers only, to be honest."""
        return k * x + k * y, k * (x + y)

    for make, nodes in ((pt.vector, 4), (pt.lvector, 2)):
        k, x, y, z = [make(name) for name in "kxyz"]
        graph = FunctionGraph([k, x, y, z], [pt.add(k * x, k * y, k * z)])
        run(graph, [factored])
        assert len(graph) == nodes


def test_a_parameter_may_be_none() -> None:
    """`Sum(axis=None)`: the guards are asked all the same."""
    x, y = [pt.vector(name, shape=(7,)) for name in "xy"]
    graph = FunctionGraph(None, [x.sum() + y.sum(), pt.exp((x + y).sum())])
    assert run(graph, [sum_of_sums])[0].firings == 1
    assert len(graph) == 3


def test_common_factors_across_a_sum() -> None:
    k, a, b, c, d = pt.vectors("k a b c d")
    graph = FunctionGraph([k, a, b, c, d], [k * a + b * k + k * c + d * k])
    given = numbers(graph)
    plain = computed(graph, given)
    run(graph, [common_factor])
    assert sorted(str(n.op) for n in graph.apply_nodes) == ["add", "mul"]
    np.testing.assert_allclose(computed(graph, given)[0], plain[0])


@pytest.mark.parametrize("needed_besides", [False, True])
def test_multiplying_out_pays_where_the_products_are_needed(needed_besides: bool) -> None:
    """k @ a + k @ b is two products, k @ (a + b) one; but if k @ a and k @ b are there anyway,
    adding them is cheaper. Either direction alone is wrong for one of the two graphs."""
    k, a, b = [pt.matrix(n, shape=(50, 50)) for n in "kab"]
    if needed_besides:
        graph = FunctionGraph([k, a, b], [k @ (a + b), k @ a, k @ b])
        wanted, dots, name = "k @ a + k @ b", 2, "backward"
    else:
        graph = FunctionGraph([k, a, b], [k @ a + k @ b])
        wanted, dots, name = "k @ (a + b)", 1, "forward"
    given = numbers(graph)
    plain = computed(graph, given)
    result, _ = run(graph, [common_left_matrix])
    assert result.fired == {f"equations/common_left_matrix.{name}": 1}
    assert brief(graph.outputs[0]) == wanted
    assert [str(node.op) for node in graph.apply_nodes].count("dot") == dots
    for found, expected in zip(computed(graph, given), plain, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_user_says_what_is_dear() -> None:
    a, b, v = pt.matrix("a"), pt.matrix("b"), pt.vector("v")

    def vectors_are_dear(node: Any) -> float:
        return 10.0 if node.outputs[0].type.ndim == 1 else 1.0

    graph = FunctionGraph([a, b, v], [a @ (b @ v)])
    run(graph, [matmul_assoc], cost=vectors_are_dear)
    assert brief(graph.outputs[0]) == "a @ b @ v"
    run(graph, [matmul_assoc], cost=bytes_moved)
    assert brief(graph.outputs[0]) == "a @ (b @ v)"
    with pytest.raises(ValueError, match="the cost of dot must be a number >= 0, not -1"):
        run(graph, [matmul_assoc], cost=lambda node: -1)


def test_on_a_tie_nothing_is_touched() -> None:
    factors, product = chain([5, 5, 5, 5, 5])
    graph = FunctionGraph(factors, [product])
    result, _ = run(graph, [matmul_assoc])
    assert result.firings == 0
    assert brief(graph.outputs[0]) == "m0 @ m1 @ m2 @ m3"


def test_budgets() -> None:
    sizes = [1 + (7 * i) % 11 for i in range(31)]
    for options in ({"node_budget": 300}, {"seconds": 0.0}):
        factors, product = chain(sizes)
        graph = FunctionGraph(factors, [product])
        before = total(graph.apply_nodes, flops)
        given = numbers(graph)
        plain = computed(graph, given)
        result, _ = run(graph, [matmul_assoc], **options)
        assert result.stopped is StopReason.BUDGET
        assert total(graph.apply_nodes, flops) <= before
        np.testing.assert_allclose(computed(graph, given)[0], plain[0], rtol=1e-8)


def test_what_no_equation_speaks_of_is_a_leaf() -> None:
    """Regions are apart: what is computed by other ops stays, and is shared."""
    a, b, v = pt.matrix("a"), pt.matrix("b"), pt.vector("v")
    e = pt.exp(a @ b @ v)
    graph = FunctionGraph([a, b, v], [b @ a @ e, pt.sin(e)])
    result, _ = run(graph, [matmul_assoc])
    assert brief(graph.outputs[0], 9) == "b @ (a @ exp(a @ (b @ v)))"
    assert result.firings == 2
    assert len(graph) == 6


def test_a_deep_graph() -> None:
    """A chain of 3,000 unary nodes on top of, and below, what is improved."""
    a, b, v = pt.matrix("a"), pt.matrix("b"), pt.vector("v")
    for _ in range(3_000):
        v = pt.sin(v)
    out = a @ b @ v
    for _ in range(3_000):
        out = pt.sin(out)
    graph = FunctionGraph(None, [out])
    assert run(graph, [matmul_assoc])[0].firings == 1
    deep = x
    for _ in range(3_000):
        deep = neg(deep)
    gone = make_rule(lambda a: neg(neg(a)) >> a)
    graph = FunctionGraph(None, [deep])
    result, _ = run(graph, [gone], node_budget=50_000)
    assert result.stopped is StopReason.SATURATED
    assert graph.outputs[0] is graph.inputs[0]


def test_ops_with_effects_and_those_that_no_equation_speaks_of_are_left_alone() -> None:
    pair = toys.make(lambda a, b: (add(a, b), mul(a, b)))
    graph = FunctionGraph(None, [*divmod_(add(x, y), z), Overwrite()(add(x, z))])
    result, _ = run(graph, [pair])
    assert result.firings == 0


def test_rules_with_one_direction_and_numbers() -> None:
    rules = [
        make_rule(lambda a: mul(1, a) >> a),
        make_rule(lambda a: sub(a, a) >> 0),
    ]
    rules[1].name = "test/nothing_left"
    graph = FunctionGraph(None, [add(mul(x, 1), sub(y, y))])
    result, _ = run(graph, rules)
    assert brief(graph.outputs[0]) in ("x + 0.0", "0.0 + x")
    assert result.firings == 2


def test_parameters_and_commuting_operands() -> None:
    def scaled(a, b, by: Prop) -> Any:
        return Scale(by=by)(a) + Scale(by=by)(b), Scale(by=by)(a + b)

    rules = [toys.make(scaled), toys.make(lambda a, b, c: (a * b + a * c, a * (b + c)))]
    rules[0].name, rules[0].forward.name = "test/scaled", "test/scaled.forward"
    graph = FunctionGraph([x, y, z], [add(Scale(3.0)(mul(x, y)), Scale(3.0)(mul(z, x)))])
    before = values(graph)
    run(graph, rules)
    assert len(graph) == 3
    assert values(graph) == pytest.approx(before)


def test_numbers_on_a_right_side() -> None:
    rule = toys.make(lambda a: (add(a, a), mul(2, a)))
    graph = FunctionGraph(None, [neg(mul(x, 2)), neg(add(x, x))])
    assert run(graph, [rule])[0].firings == 1
    assert len(graph) == 2


EQUATIONS = [
    toys.make(lambda a, b, c: (a * (b + c), a * b + a * c)),
    toys.make(lambda a, b: (neg(sub(a, b)), sub(b, a))),
    make_rule(lambda a: neg(neg(a)) >> a),
    toys.make(lambda a, b: (neg(a * b), neg(a) * b)),
    toys.make(lambda a, b: (sub(a, b), add(a, neg(b)))),
]
for i, made in enumerate(EQUATIONS):
    for directed in (made, *getattr(made, "directions", ())):
        directed.name += str(i)


@settings(max_examples=60)
@given(st.lists(terms(), min_size=1, max_size=3))
def test_random_graphs_keep_their_values(outputs: list[Any]) -> None:
    graph = FunctionGraph([x, y, z], outputs)
    before, size = values(graph), len(graph)
    result, _ = run(graph, EQUATIONS, node_budget=500, seconds=1)
    assert len(graph) <= size
    assert (len(graph) < size) == bool(result.firings)
    for found, expected in zip(values(graph), before, strict=True):
        assert num.values_eq_approx(found, expected) or abs(found - expected) < 1e-9


def test_a_step_that_the_graph_refuses_takes_everything_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rewrite_engine.errors import CycleError

    factors, product = chain([1, 9, 1, 9, 1, 9, 1])
    graph = FunctionGraph(factors, [product, pt.exp(product)])
    plain, original = str(graph.toposort()), FunctionGraph.replace
    calls: list[Any] = []

    def replace(self: FunctionGraph, *args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise CycleError("no")
        return original(self, *args, **options)

    monkeypatch.setattr(FunctionGraph, "replace", replace)
    result = SaturationOptimizer([matmul_assoc]).rewrite(graph)
    assert len(calls) == 2
    assert result.fired == {}
    assert str(graph.toposort()) == plain
    graph.check_integrity()


def test_what_is_given_must_be_data() -> None:
    @node_rewriter([sin])
    def opaque(fgraph: Any, node: Any) -> Any:
        """Nothing to look into."""

    with pytest.raises(TypeError, match="is neither an equation nor a data rule"):
        SaturationOptimizer([opaque])


def test_a_computed_side_is_refused() -> None:
    rule = make_rule(lambda a: neg(sin(a)) >> compute(lambda a: sin(neg(a))))
    with pytest.raises(
        RuleError,
        match="rule test_saturate/made.*\n.*a computed right side cannot be stored in an e-graph",
    ):
        SaturationOptimizer([rule])


def test_the_cost_that_equations_prefer() -> None:
    assert SaturationOptimizer([matmul_assoc]).cost is flops
    assert SaturationOptimizer([toys.factor]).cost is flops
    moved = toys.make(lambda a, b: (sub(a, b), add(a, neg(b))), prefer=bytes_moved)
    assert SaturationOptimizer([moved]).cost is bytes_moved
    assert SaturationOptimizer([moved], cost=flops).cost is flops


def test_an_op_without_flops_costs_its_call() -> None:
    assert Op.flops is type(sin).flops
    assert total([sin(x).owner, sin(y).owner], flops) == 2 * total([sin(x).owner], flops) > 0


def test_a_rule_with_one_direction_is_used_against_it() -> None:
    """Both terms are one sine: from there the way to the cheaper one is that of a rule, back."""

    def price(node: Any) -> float:
        return {neg: 1.0, sin: 9.0}.get(node.op, 5.0)

    def of_neg(a: Any) -> Any:
        return neg(a) >> sin(a)

    def of_scaled(a: Any) -> Any:
        return Scale(2.0)(a) >> sin(a)

    graph = FunctionGraph([x], [neg(x), Scale(2.0)(x)])
    _, trace = run(graph, [make_rule(of_neg), make_rule(of_scaled)], cost=price)
    assert [*map(brief, graph.outputs)] == ["-x", "-x"]
    assert [record.rule_name for record in trace] == [
        "test_saturate/of_scaled",
        "test_saturate/of_neg (backwards)",
    ]
