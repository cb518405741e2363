"""The pipeline: which rules a query leaves, in which phases, and that none of them is dead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import UnknownNameError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import Inexact, rewritten, rule
from rewrite_engine.match.claim import approx, backward, exact, refines
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import (
    PHASES,
    all_rules,
    equations,
    known_rules,
    on_demand,
    optimizer,
    rewrite_graph,
    wanted_packs,
)
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.inplace import InplaceOptimizer
from rewrite_engine.rewrite.trace import Trace, brief
from tests.tensor.evaluate import evaluate


def rules_of(query: Query) -> set[Any]:
    """All rules in the phases that a query leaves."""
    parts = [p for p in optimizer(query) if isinstance(p, EquilibriumOptimizer)]
    return {r for p in parts for r in p.rules}


def test_phases_in_order() -> None:
    import rewrite_engine.tensor.linalg  # noqa: F401  (the phase "factorize" is left out before)

    known = ["merge", "canonicalize", "stabilize", "specialize", "factorize", "inplace"]
    for names in ([p.name for p in PHASES], [p.name for p in optimizer()]):
        assert [n for n in names if n in known] == known
    assert optimizer() is optimizer()
    assert {r.phase for r in all_rules()} <= {p.name for p in PHASES}


def test_excluding_a_phase() -> None:
    parts = list(optimizer(Query().excluding("inplace")))
    assert not any(isinstance(p, InplaceOptimizer) for p in parts)
    assert len(parts) == len(list(optimizer())) - 1
    assert not any(r.phase == "stabilize" for r in rules_of(Query().excluding("stabilize")))


def test_factors_are_made_after_all_other_rules() -> None:
    a, b = pt.matrix("a"), pt.vector("b")
    outputs = [b @ pt.linalg.inv(a), pt.linalg.slogdet(a)[1]]

    def factors(mode: Any) -> int:
        f = rw.function([a, b], outputs, mode=mode)
        return sum([type(node.op).__name__ == "Factor" for node in f.fgraph.toposort()])

    assert factors(None) == 1
    assert factors("fast_compile") == factors(rw.Mode().excluding("factorize")) == 0
    assert [r.name for r in rules_of(Query()) if r.phase == "factorize"] == [
        "factors/one_factorisation"
    ]


def test_excluding_a_claim() -> None:
    left = rules_of(Query().excluding(approx))
    assert left == {r for r in rules_of(Query()) if r.promise.kind != "approx"}
    assert any(r.claim.kind == "approx" for r in rules_of(Query()))
    bitwise = rules_of(Query().excluding(approx, backward, refines))
    assert bitwise
    assert {r.promise for r in bitwise} == {exact}


def test_what_assumes_something_has_to_be_granted() -> None:
    default, granted = rules_of(Query()), rules_of(Query().including("fastmath"))
    every = all_rules() + on_demand(wanted_packs())
    fastmath = {r for r in every if r.claim.condition == "fastmath"}
    proved = {r for r in fastmath if r.needs_grant is None}
    assert proved
    assert default - granted == proved
    assert granted - default == {r.under({"fastmath"}) for r in fastmath}
    assert granted - default
    x = pt.vector("x")
    assert repr(rewritten(x - x)) == "x - x"
    assert repr(rewritten(x - x, including=["fastmath"])) == "second(x, 0.0)"


@pytest.mark.parametrize("name", ["log_of_one_plus", "exp_log/log_of_one_plus", "exp_log"])
def test_excluding_a_rule_or_a_pack(name: str) -> None:
    assert all_rules()["log_of_one_plus"] not in rules_of(Query().excluding(name))
    graph = FunctionGraph(None, [pt.log(1 + pt.vector("x"))])
    optimizer(Query().excluding(name)).rewrite(graph)
    assert graph.outputs[0].owner.op.scalar_op.name == "log"


X, Y = pt.vectors("x y")
SHOWN = [  # graphs at which much happens
    pt.log(1 + pt.exp(X)) * 1 + pt.exp(X) * Y + X - X,
    pt.exp(X) / pt.exp(X).sum() + Y * Y - pt.sqrt(pt.sqr(Y)),
    pt.reshape(X.sum() + pt.log(pt.exp(Y)), (-1,)) + pt.constant(2.0) * 3,
]


def printed_names(query: Query) -> set[str]:
    """Every name that what is done to `SHOWN` shows: of phases, rules and steps of drivers."""
    graph = FunctionGraph([X, Y], SHOWN, clone=True)
    trace = Trace()
    result = optimizer(query).rewrite(graph, trace)
    parts = {name for part in result.parts for name in (part.name, *part.fired)}
    return parts | {firing.rule_name for firing in trace} | {firing.phase for firing in trace}


def test_every_name_that_is_printed_can_be_excluded_under_it() -> None:
    printed = printed_names(Query())
    assert {"inplace/overwrite_dead_input", "merge", "inplace", "canonicalize"} <= printed
    assert len(printed) > 12
    for name in printed:
        assert name not in printed_names(Query().excluding(name)), name


def test_every_name_of_a_rule_switches_it_off() -> None:
    everything = Query(include=["fastmath", "saturate"])
    known = known_rules(everything)
    names = known.names | {r.name for e in equations() for r in e.directions}
    assert len(names) > 100
    for name in names:
        chosen = known.query(everything.excluding(name))
        assert not [r for r in chosen if name in r.names], name
        optimizer(everything.excluding(name))
        assert repr(Query().excluding(name)) == f"Query().excluding({name!r})"
    for phase in PHASES:
        for name in phase.names:
            assert phase.name not in [p.name for p in optimizer(Query().excluding(name))]


def test_requiring_tags() -> None:
    assert rules_of(Query().requiring("fold")) == {all_rules()["constant_folding"]}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("inplce", "inplace"),
        ("log_of_one_pluss", "log_of_one_plus"),
        ("fastmth", "fastmath"),
        ("canonicalise", "canonicalize"),
    ],
)
def test_a_name_that_nothing_has(name: str, meant: str) -> None:
    for query in (Query().excluding(name), Query().including(name), Query().requiring(name)):
        with pytest.raises(UnknownNameError) as info:
            optimizer(query)
        assert f"is called '{name}'" in str(info.value)
        assert "did you mean" in str(info.value)
        assert meant in str(info.value)
    with pytest.raises(UnknownNameError) as info:
        optimizer(Query().excluding("qqqqqqqq"))
    assert "did you mean" not in str(info.value)


@rule(phase="specialize")
def tan_of_arctan(x: Inexact):
    """A rule of a user."""
    return pt.tan(pt.arctan(x)) >> x


def test_rules_of_a_user() -> None:
    graph = FunctionGraph(None, [pt.tan(pt.arctan(pt.vector("x")))])
    optimizer(None, RuleSet([tan_of_arctan])).rewrite(graph)
    assert len(graph) == 0
    query = Query().excluding("tan_of_arctan")
    graph = FunctionGraph(None, [pt.tan(pt.arctan(pt.vector("x")))])
    optimizer(query, RuleSet([tan_of_arctan])).rewrite(graph)
    assert len(graph) == 2


def test_most_rules_are_data() -> None:
    rules = [r for r in all_rules() if r.fn.__module__.startswith("rewrite_engine.rules.")]
    rules = [r for r in rules if r.phase != "loops"]  # a loop has any number of parts
    data = [r for r in rules if isinstance(r, DataRule)]
    # of those in packs: fold and ac are for any op
    assert len(data) >= 0.75 * len(rules)
    assert len(data) >= 40


def test_a_second_run_finds_nothing() -> None:
    x, y = pt.matrix("x"), pt.matrix("y")
    p = pt.exp(x) / pt.exp(x).sum(axis=1, keepdims=True)
    outputs = [-(y * pt.log(p)).sum(), pt.log(1 + pt.exp(x - 0)), (-x).T.T @ (-y)]
    graph = FunctionGraph([x, y], outputs)
    driver = optimizer(Query().excluding("inplace"))
    assert driver.rewrite(graph).firings > 5
    assert driver.rewrite(graph).firings == 0
    graph.check_integrity()


def test_packs_load_when_they_are_needed() -> None:
    import subprocess
    import sys

    code = (
        "import sys, rewrite_engine, rewrite_engine.pipeline.phases; "
        "print([m for m in sys.modules if m.startswith('rewrite_engine.rules.') "
        "and m.rpartition('.')[2] in ('algebra', 'softmax')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


HEAVY = ("numpy.ma", "scipy", "fractions", "hashlib", "tempfile", "importlib.metadata")

COMPILED = f"""
import sys
import numpy as np
import rewrite_engine as rw
import rewrite_engine.tensor as pt
x, m = pt.tensor("x", dtype="float64", shape=(4,)), pt.dvector("m")
here = (x * m[0])[np.array([0, 1, 2, 3, 3])]
data = pt.constant(np.arange(5.0))
loss = (((data - pt.exp(here)) / 2) ** 2).sum() + pt.log(pt.exp(m).sum())
loss += m[np.array([1, 2])].sum()
rw.function([x, m], [loss, *rw.grad(loss, [x, m])])
print([name for name in {HEAVY} if name in sys.modules])
"""


@pytest.mark.on_vm
def test_compiling_loads_nothing_that_takes_longer() -> None:
    import subprocess
    import sys

    out = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True)
    assert out.stdout.strip() == "[]", out.stderr


def test_an_integer_graph_stays_exact() -> None:
    i, j = pt.vector("i", dtype="int16"), pt.vector("j", dtype="int8")
    given = {i: np.array([3, -4, 100], "int16"), j: np.array([-128, 127, 0], "int8")}
    for term in (i - (-j), pt.neg(-j), (j - j) + i, pt.abs(-j), j**2, j * j, i * 1 + 0, pt.sqr(-j)):
        graph = FunctionGraph([i, j], [term])
        trace = Trace()
        optimizer(Query().excluding("inplace")).rewrite(graph, trace)
        after = evaluate(graph.outputs[0], dict(zip(graph.inputs, given.values(), strict=True)))
        before = evaluate(term, given)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after, err_msg=str([f.rule_name for f in trace]))


def test_the_name_of_the_whole_chooses_nothing() -> None:
    assert optimizer().name == "pipeline"
    with pytest.raises(UnknownNameError, match="'pipeline' stands for all phases: choose among m"):
        optimizer(Query().excluding("pipeline"))


# --- a graph without compiling it -----------------------------------------------------------------


x, y = pt.dvector("x"), pt.dvector("y")


def test_the_result_is_in_terms_of_the_users_inputs() -> None:
    assert rewrite_graph(pt.log(pt.exp(x))) is x
    assert rw.rewrite_graph is rewrite_graph
    first, second = rewrite_graph([x + 0, pt.exp(y) * 1])
    assert first is x
    assert list(second.owner.inputs) == [y]


def test_phases_are_asked_for_by_name() -> None:
    term = pt.log(1 + pt.exp(x))
    assert brief(rewrite_graph(term)) == "log(1.0 + exp(x))"
    assert brief(rewrite_graph(term, include=("canonicalize", "stabilize"))) == "softplus(x)"
    assert (
        brief(rewrite_graph(term, include=("fast_run",), exclude=("stabilize",))) != "softplus(x)"
    )
    with pytest.raises(UnknownNameError, match="did you mean canonicalize"):
        rewrite_graph(term, include=("canonicalise",))


def test_a_function_graph_is_rewritten_itself() -> None:
    graph = FunctionGraph([x], [pt.log(pt.exp(x))])
    assert rewrite_graph(graph) is graph
    assert graph.outputs == graph.inputs


def test_the_users_graph_is_left_as_it_is() -> None:
    term = pt.exp(x + 0)
    rewrite_graph(term)
    assert str(term.owner.inputs[0].owner.op) == "add"
