"""`assume`: what users declare of terms is known where it was declared, says so, and is checked."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    AssumptionError,
    FactError,
    ForeignObjectError,
    UnknownNameError,
)
from rewrite_engine.explain import explain
from rewrite_engine.facts import *
from rewrite_engine.facts.numbers import is_sorted
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import History
from rewrite_engine.graph.knowledge import knowledge_of
from rewrite_engine.language import (
    Inexact,
    because,
    equation,
    exact,
    fact,
    given,
    rewritten,
    unknown,
)
from rewrite_engine.pipeline.phases import optimizer
from rewrite_engine.rewrite.cost import flops
from rewrite_engine.rewrite.saturate import SaturationOptimizer
from rewrite_engine.rewrite.trace import Trace, brief

PLAIN = rw.Mode("py", optimizer=None)
x, y = pt.vectors("x y")
m, n = pt.matrices("m n")
i = pt.lvector("i")


@fact
def even(v: Any) -> Any:
    """A fact of a user that knows constants only."""
    if hasattr(v, "data"):
        return because("a constant") if not (v.data % 2).any() else unknown("it is odd", v)
    return unknown("it may be odd", v)


def ops(f: Any) -> list[str]:
    return [str(node.op) for node in f.fgraph.toposort()]


def known(fgraph: FunctionGraph, v: Any, one: Any = finite) -> bool:
    return bool(one.ask(fgraph, v))


# --- what it means -------------------------------------------------------------------------------


def test_rules_use_what_is_declared_and_the_values_are_the_same() -> None:
    a = rw.assume(x, finite, nonneg)
    f, g = rw.function([x], pt.abs(a) + (a - a)), rw.function([x], pt.abs(x) + (x - x))
    assert "abs" not in ops(f)
    assert "abs" in ops(g)
    np.testing.assert_array_equal(f([1.0, 2.5]), g([1.0, 2.5]))
    np.testing.assert_array_equal(rw.function([x], a, mode=PLAIN)([1.0, 2.0]), [1.0, 2.0])


def test_it_is_declared_of_the_value_in_the_graph_that_it_belongs_to() -> None:
    a = rw.assume(x, nonneg)
    one, other, far = rewritten(pt.abs(a) + 1, pt.abs(x) + 2, pt.abs(y))
    assert [str(v) for v in (one, other, far)] == ["x + 1.0", "x + 2.0", "abs(y)"]
    assert str(rewritten(pt.abs(x))) == "abs(x)"  # a graph without the mark knows nothing


def test_evidence_names_the_line() -> None:
    a = rw.assume(x, finite)
    said = finite(a)
    assert str(said).startswith("because declared by the user at test_assumptions.py:")
    assert str(finite(pt.sin(a))) != str(said)
    assert finite(pt.sin(a))
    assert not finite(x)
    assert not nonneg(a)


@pytest.mark.parametrize(
    ("v", "declared", "follows"),
    [
        (m, "positive_definite", [symmetric, positive_semidefinite]),
        (m, "positive_semidefinite", [symmetric]),
        (m, "diagonal", [symmetric]),
        (i, "unique_indices", [distinct]),
        (x, "positive", [nonneg]),
    ],
)
def test_what_follows_from_it_is_known_too(v: Any, declared: str, follows: list[Any]) -> None:
    a = rw.assume(v, **{declared: True})
    for one in follows:
        assert one(a), one
        assert not one(v), one
        fgraph = FunctionGraph(None, [pt.exp(a), a])
        optimizer(rw.Query(exclude="inplace")).rewrite(fgraph)
        assert known(fgraph, fgraph.inputs[0], one)


def test_facts_go_through_marks_that_are_still_there() -> None:
    a = rw.assume(m, finite)
    assert same_shape(m, a)
    assert symmetric(rw.assume(m + m.T, finite))
    assert bool(static_shape(rw.assume(pt.constant([[1.0, 2.0]]) * pt.dscalar("s"), finite)))


def test_bounds_have_values() -> None:
    a = rw.assume(x, bounded=(0.5, 2))
    assert bounded(a).value == (0.5, 2)
    assert bounded(rw.assume(x, bounded=(np.float32(0.5), 2))).value == (0.5, 2)
    assert positive(a)
    assert bounded(a + 1).value == pytest.approx((1.5, 3))
    assert rw.assume(x, (bounded, (0.5, 2))).owner.op is a.owner.op
    assert static_shape(rw.assume(x, static_shape=(3,))).value == (3,)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"bounded": 3}, "bounded is declared with two finite numbers, the lower one first, not 3"),
        ({"bounded": ("a", "b")}, "two finite numbers"),
        ({"bounded": (1, 2, 3)}, "two finite numbers"),
        ({"bounded": (0, np.inf)}, "two finite numbers"),
        ({"bounded": (1, 0)}, r"the lower number first, not \(1, 0\)"),
        ({"static_shape": 3}, "static_shape is declared with 1 lengths, as a tuple, not 3"),
        ({"static_shape": (2, 3)}, "1 lengths"),
        ({"static_shape": (-2,)}, "1 lengths"),
    ],
)
def test_values_that_make_no_sense(named: Any, words: str) -> None:
    with pytest.raises(FactError, match=words):
        rw.assume(x, **named)


def test_marks_are_terms() -> None:
    a = rw.assume(x, nonneg, finite)
    assert str(a.owner) == "Assume{finite, nonneg}(x)"
    assert rw.assume(x, finite, nonneg=True).owner.op is a.owner.op
    assert rw.assume(x, symmetric=None) is x
    np.testing.assert_allclose(
        rw.grad(pt.exp(a).sum(), x).eval({x: [0.0, 1.0]}), np.exp([0.0, 1.0])
    )
    assert pickle.loads(pickle.dumps(a.owner.op)) is a.owner.op
    assert copy.deepcopy(a.owner.op) is a.owner.op


def test_a_marked_variable_can_be_an_input() -> None:
    a = rw.assume(x, finite)
    f = rw.function([a], a - a)
    assert ops(f) == ["second"]
    assert f(x=[1.0]) == [0.0]
    assert (a + 1).eval({a: [1.0]}) == [2.0]
    assert (a + 1).eval({"x": [1.0]}) == [2.0]


# --- where it goes -------------------------------------------------------------------------------


def test_it_survives_givens_for_what_takes_the_place() -> None:
    f = rw.function([y], [pt.abs(rw.assume(x, nonneg)), pt.abs(y)], givens={x: y - 1})
    assert ops(f).count("abs") == 1
    assert f([3.0, -1.0])[1].tolist() == [3.0, 1.0]  # what is given is not negative, y may be


def test_it_survives_copies_and_pickles_of_a_graph() -> None:
    term = pt.exp(rw.assume(x, finite))
    fgraph = FunctionGraph(None, [term])
    copies = [fgraph.clone(), pickle.loads(pickle.dumps(fgraph)), copy.deepcopy(fgraph)]
    for g in (fgraph, *copies):
        assert known(g, g.outputs[0].owner.inputs[0])
        optimizer(rw.Query(exclude="inplace")).rewrite(g)
        assert str(g.outputs[0].owner) == "exp(x)"
        for h in (g, g.clone(), pickle.loads(pickle.dumps(g)), copy.deepcopy(g)):
            assert known(h, h.outputs[0].owner.inputs[0])
            assert not known(h, h.outputs[0])


def test_it_passes_on_to_what_a_rule_puts_in_the_place() -> None:
    a = rw.assume(pt.log(pt.exp(x)), nonneg)
    assert str(rewritten(pt.abs(a))) == "x"


def test_it_does_not_pass_on_to_what_a_user_puts_in_the_place() -> None:
    fgraph = FunctionGraph(None, [rw.assume(x, finite) * 2, y])
    optimizer(rw.Query(exclude="inplace")).rewrite(fgraph)
    u, v = fgraph.inputs
    assert known(fgraph, u)
    fgraph.replace(u, v)
    assert not known(fgraph, v)


def test_nothing_is_declared_of_constants_that_take_the_place() -> None:
    zero = pt.constant(0.0)
    fgraph = FunctionGraph([x], [x.sum() * 2, zero + x])
    fgraph_knowledge = knowledge_of(fgraph)
    total = fgraph.outputs[0].owner.inputs[0]
    fgraph_knowledge.declare(total, {positive: because("said so")})
    assert known(fgraph, total, positive)
    fgraph.replace(total, zero, "a rule")
    assert not known(fgraph, fgraph.outputs[0].owner.inputs[0], positive)


def test_merging_keeps_different_declarations_apart() -> None:
    a, b = rw.assume(x + 1, finite), rw.assume(x + 1, nonneg)
    fgraph = FunctionGraph(None, [a, b, rw.assume(x + 1, finite)])
    assert fgraph.outputs[0] is fgraph.outputs[2] is not fgraph.outputs[1]
    assert not known(fgraph, fgraph.outputs[0], nonneg)
    assert known(fgraph, fgraph.outputs[1], nonneg)


def test_going_back_in_history_keeps_it() -> None:
    history = History()
    fgraph = FunctionGraph(None, [pt.exp(rw.assume(x, finite))], features=[history])
    optimizer(rw.Query(exclude="inplace")).rewrite(fgraph)
    start = history.checkpoint()
    inner = fgraph.outputs[0].owner.inputs[0]
    fgraph.replace(fgraph.outputs[0], pt.sin(inner))
    history.revert(fgraph, start)
    assert known(fgraph, fgraph.outputs[0].owner.inputs[0])


def test_a_mark_drops_answers_given_before_it_was_met() -> None:
    fgraph = FunctionGraph(None, [pt.exp(x), rw.assume(x, finite)])
    inner = fgraph.inputs[0]
    assert not known(fgraph, inner)
    assert not known(fgraph, pt.tanh(inner).owner.inputs[0])
    optimizer(rw.Query(exclude="inplace")).rewrite(fgraph)
    assert known(fgraph, inner)


# --- what is shown -------------------------------------------------------------------------------


def test_traces_and_reports_show_it() -> None:
    trace = Trace(terms=True, attempts=True)
    term = pt.abs(rw.assume(x, nonneg))
    rw.function([x], term, trace=trace)
    assert [f.rule_name for f in trace] == ["assumptions/declared", "algebra/abs_of_nonneg"]
    (said,) = [a.evidence for a in trace.tries if a.verdict == "fired" and a.evidence]
    assert said[0].startswith("nonneg(x): because declared by the user at test_assumptions.py:")
    text = explain(term, values=[[1.0, 2.0]]).text(width=120)
    assert "given nonneg(x): because declared by the user at" in " ".join(text.split())
    assert "identical" in text
    wrong = explain(term, values=[[-1.0, 2.0]]).text(width=120)
    assert "x is not nonneg, as declared at" in " ".join(wrong.split())
    assert "a claim or declaration is UNTRUE" in " ".join(wrong.split())


def test_without_the_rule_marks_stay_and_do_nothing() -> None:
    mode = rw.Mode().excluding("assumptions")
    f = rw.function([x], pt.exp(rw.assume(x, finite)), mode=mode)
    assert ops(f)[0] == "Assume{finite}"
    np.testing.assert_allclose(f([1.0]), np.exp([1.0]))


# --- values --------------------------------------------------------------------------------------

GOOD_AND_BAD = [
    (x, {"finite": True}, [1.0], [np.inf]),
    (x, {"nonneg": True}, [0.0, 2.0], [-1.0]),
    (x, {"positive": True}, [np.nan, 1.0], [0.0]),
    (x, {"nonzero": True}, [1.0], [0.0]),
    (x, {"whole": True}, [3.0], [0.5]),
    (x, {"bounded": (0, 1)}, [0.0, 1.0], [np.nan]),
    (x, {"increasing": True}, [1.0, 1.0, 2.0], [1.0, 0.0]),
    (x, {"static_shape": (2,)}, [1.0, 2.0], [1.0]),
    (i, {"distinct": True}, [3, 1], [3, 3]),
    (i, {"unique_indices": True}, [3, 1], [-1, 1]),
    (m, {"symmetric": True}, [[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.0], [0.0, 1.0]]),
    (m, {"diagonal": True}, [[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]),
    (m, {"positive_semidefinite": True}, [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]),
    (m, {"positive_definite": True}, [[2.0, 1.0], [1.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]]),
]


@pytest.mark.parametrize(("v", "declared", "good", "bad"), GOOD_AND_BAD)
def test_checks(v: Any, declared: Any, good: Any, bad: Any) -> None:
    (name,) = declared
    f = rw.function([v], rw.assume(v, **declared) * 2, check=True)
    np.testing.assert_array_equal(f(good), np.multiply(good, 2))
    with pytest.raises(AssumptionError, match=rf"{v.name} is not {name}.* declared at .*:\d+"):
        f(bad)
    unchecked = rw.function([v], rw.assume(v, **declared) * 2)
    np.testing.assert_array_equal(unchecked(bad), np.multiply(bad, 2))
    with pytest.raises(AssumptionError, match=name):
        rw.assume(pt.constant(np.asarray(bad, v.type.dtype)), **declared)
    constant = pt.constant(np.asarray(good, v.type.dtype))
    assert rw.assume(constant, **declared) is constant


def test_products_are_symmetric_up_to_rounding() -> None:
    a = np.random.default_rng(0).standard_normal((30, 3)) @ np.diag([1e3, 1.0, 1e-3])
    gram = (a[:, :, None] * a[:, None, :]).sum(0) + 1e-13 * np.tri(3)
    f = rw.function([m], rw.assume(m, positive_semidefinite=True), check=True)
    f(gram)
    f(a @ a.T)
    assert not is_sorted(np.array([np.nan]))


def test_checks_know_computed_terms_defaults_states_and_users_facts() -> None:
    w = rw.shared(np.array([2.0]), "w")
    term = rw.assume(x * w, nonneg) + rw.assume(pt.cast(w, "int64"), even)
    f = rw.function([rw.In(x, value=[1.0])], term, updates={w: w + 1}, check=True)
    assert f() == [4.0]
    with pytest.raises(AssumptionError, match=r"Cast\{int64\}\(w\) is not even"):
        f()
    assert w.get_value() == [3.0]  # a call that fails changes nothing
    w.set_value([2.0])
    with pytest.raises(AssumptionError, match=r"x \* w is not nonneg"):
        f([-1.0])


def test_checks_are_copied_pickled_and_kept_without_checks_of_types() -> None:
    w, v = rw.shared(np.array([2.0]), "w"), rw.shared(np.array([-2.0]), "v")
    f = rw.function([x], x * rw.assume(w, nonneg), check=True)
    f.trust_input = True
    swapped = f.copy(swap={w: v})
    for g in (f, f.copy(), pickle.loads(pickle.dumps(f))):
        assert g(np.array([1.0])) == [2.0]
    with pytest.raises(AssumptionError):
        swapped(np.array([1.0]))


@pytest.mark.on_vm
def test_checks_can_be_switched_on_everywhere() -> None:
    term = rw.assume(x, nonneg) + 1
    with rw.config.change_flags(check=True):
        f, g = rw.function([x], term), rw.function([x], x)
    with pytest.raises(AssumptionError):
        f([-1.0])
    assert g([-1.0]) == [-1.0]
    plain = rw.function([x], term)
    assert plain([-1.0]) == [0.0]
    assert plain.func.__code__.co_filename.startswith("<")  # the generated code itself
    assert not isinstance(plain.outputs[0].owner.op, Assume)


# --- what cannot be declared ----------------------------------------------------------------------


def test_mistakes() -> None:
    with pytest.raises(UnknownNameError, match="did you mean symmetric"):
        rw.assume(m, symetric=True)
    with pytest.raises(ForeignObjectError, match="takes facts"):
        rw.assume(x, "finite")
    with pytest.raises(FactError, match="bounded has a value"):
        rw.assume(x, bounded)
    with pytest.raises(FactError, match="finite has no value: declare finite=True"):
        rw.assume(x, (finite, 3))
    with pytest.raises(FactError, match="it is not a fact about one variable"):
        rw.assume(x, same_shape)
    with pytest.raises(FactError, match="it is not a fact about one variable"):
        rw.assume(x, used_once)
    with pytest.raises(FactError, match="is no declaration: use finite=True, or leave it out"):
        rw.assume(x, finite=False)


def test_a_search_among_equations_knows_of_it() -> None:
    v = pt.vector("v", shape=(5,))

    @equation(claim=exact)
    def distance(x: Inexact) -> Any:
        """What is not negative is its own distance from 0."""
        return pt.abs(x * 1.5), x * 1.5, given(nonneg(x))

    def searched(term: Any) -> str:
        graph = FunctionGraph([v], [term])
        {part.name: part for part in optimizer()}["canonicalize"].rewrite(graph)
        SaturationOptimizer([distance], cost=flops).rewrite(graph)
        return brief(graph.outputs[0])

    assert searched(pt.sin(pt.abs(rw.assume(v, nonneg) * 1.5))) == "sin(v * 1.5)"
    assert searched(pt.sin(pt.abs(v * 1.5))) == "sin(abs(v * 1.5))"


@fact(implies=[positive_definite])
def covariance(v: Any) -> Any:
    """Implies what implies more."""
    return unknown("it is not declared")


def test_what_is_implied_implies_more() -> None:
    m = rw.assume(pt.matrix("m"), covariance)
    assert [bool(f(m)) for f in (covariance, positive_definite, symmetric)] == [True] * 3
    assert "covariance" in str(symmetric(m))
