"""The fuzzers of formulas and of loops that are written out: they find what is wrong, and slow."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz import ordinary, unrolled
from fuzz.__main__ import main
from fuzz.bounds import NotOrdinary, truth_of
from fuzz.deviation import Deviation
from fuzz.formulas import WEIGHTS, Formula, Term, random_formula, written
from fuzz.limit import TooLong, limit
from fuzz.recurrences import MODELS, random_recurrence
from rewrite_engine.compile.mode import Mode
from rewrite_engine.language import node_rewriter, rule
from rewrite_engine.match.claim import exact

AS_BUILT = Mode(linker="py", optimizer=None)
A, B, T = (Term("input", value=name) for name in "abt")


def call(op: str, *args: Any, value: Any = None) -> Term:
    return Term(op, args, value)


def sample(term: Term, dtype: str = "float64", **point: Any) -> ordinary.Sample | None:
    return ordinary.with_truths("ordinary:0:0", Formula(term, dtype, (point,)), [point])


@pytest.mark.parametrize("name", [*WEIGHTS, "add", "sub", "mul", "div", "power", "sum"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tensors_and_numbers_agree(name: str, dtype: str) -> None:
    """As the graph is built, without rules."""
    binary = name in ("add", "sub", "mul", "div")
    args = (A, call("exp", B)) if binary else (A,)
    term = call("mul", call(name, *args, value=3 if name == "power" else None), B)
    one = sample(term, dtype, a=[0.5, 2.0], b=1.25)
    assert one is not None
    assert one.truths[0].slopes is not None
    assert ordinary.check(one, AS_BUILT) is None


def test_random_formulas_agree_with_the_graph_as_it_was_built() -> None:
    for number in range(60):
        assert ordinary.check(ordinary.sample(1, number), AS_BUILT) is None


def test_a_formula_is_written_as_python() -> None:
    for number in range(30):
        formula = random_formula(Random(number))
        variables = formula.variables()
        again = eval(written(formula.term), {"pt": pt, **variables})
        assert again.type.ndim == ordinary.built(formula.term, variables).type.ndim


@pytest.mark.parametrize("term", [
    call("log", A), call("reciprocal", call("sub", A, A)), call("exp", call("exp", B)),
    call("sqrt", call("sub", call("log", call("exp", B)), B)),
])  # fmt: skip
def test_points_that_are_not_ordinary(term: Term) -> None:
    point = {"a": -1.0, "b": 3.0}
    with pytest.raises(NotOrdinary):
        truth_of(Formula(term, "float64", (point,)), point)


def test_an_absolute_value_has_no_slope_at_0() -> None:
    one = sample(call("abs", A), a=0.0)
    assert one is not None
    assert one.truths[0].slopes is None


def quotient() -> Term:
    """A quotient by a difference."""
    return call("div", call("exp", T), call("sub", call("exp", A), call("exp", B)))


def test_what_cancels_has_a_wider_bound() -> None:
    point = {"a": 0.3, "b": 0.3 + 2.0**-10, "t": 1.0}
    near = truth_of(Formula(quotient(), "float64", (point,)), point).values[0]
    wide = truth_of(Formula(quotient(), "float64", (point,)), point | {"b": 0.9}).values[0]
    assert near.error / near.size > 300 * wide.error / wide.size


@rule(phase="canonicalize", claim=exact)
def wrong_tangent(x):
    """A rule that is wrong."""
    return pt.tanh(x) >> pt.sin(x)


@node_rewriter([pt.tanh], phase="specialize", claim=exact)
def slightly_wrong(fgraph, node):
    """A rule that loses the last few digits."""
    return pt.sinh(node.inputs[0]) / pt.cosh(node.inputs[0]) * np.float64(1 + 1e-12)


def test_a_wrong_rule_is_found_among_others_and_blamed() -> None:
    outcome = ordinary.chunk(0, 0, 80, Mode("fast_run") + wrong_tangent)
    told = [one for one in outcome.reports if wrong_tangent.name in one.key]
    assert told
    assert told[0].key[0].endswith("wrong")
    exec(told[0].text, {})


def test_a_few_digits_are_enough() -> None:
    one = sample(call("tanh", A), a=0.75)
    assert one is not None
    assert ordinary.check(one) is None
    found = ordinary.check(one, Mode("fast_run") + slightly_wrong)
    assert found is not None
    assert found[1].kind == "value wrong"


@node_rewriter([pt.true_div], phase="specialize", claim=exact)
def by_logarithms(fgraph, node):
    """exp(x) / y as exp(x - log(y)): there is no logarithm below 0."""
    x, y = node.inputs
    if x.owner is None or x.owner.op != pt.exp:
        return None
    return pt.exp(x.owner.inputs[0] - pt.log(y))


def test_a_quotient_by_what_is_below_0_is_told() -> None:
    """The class of a defect that there was: NaN, where the formula is -9.0954."""
    one = sample(quotient(), a=0.3, b=0.5, t=1.0)
    assert one is not None
    assert abs(one.truths[0].values[0].size - 9.0954) < 1e-4
    mode = Mode("fast_run") + by_logarithms
    wrong, finding = ordinary.suspicious([ordinary.sample(0, 0), one], mode)
    assert one in wrong
    assert finding is not None
    found = ordinary.check(one, mode)
    assert found is not None
    assert found[1].kind in ("value not finite", "gradient not finite")


@node_rewriter([pt.tanh], phase="specialize", claim=exact)
def endless(fgraph, node):
    """A rule that never ends."""
    while True:
        pass


def test_what_takes_too_long_is_told() -> None:
    one = sample(call("tanh", call("exp", A)), a=0.5)
    assert one is not None
    found = ordinary.check(one, Mode("fast_run") + endless, seconds=0.05)
    assert found is not None
    assert found[1].kind == "too long"


def test_what_is_wrong_only_beside_others_is_told(monkeypatch: Any) -> None:
    monkeypatch.setattr(ordinary, "suspicious", lambda some, mode: (some[:1], Deviation("x", "y")))
    outcome = ordinary.chunk(0, 0, 8)
    assert [one.key for one in outcome.reports] == [("only together", "x")]


def test_a_finding_is_made_smaller() -> None:
    term = call("add", call("mul", quotient(), call("sigmoid", A)), call("exp", T))
    one = sample(term, a=0.3125, b=0.517, t=1.0)
    assert one is not None
    mode = Mode("fast_run") + by_logarithms
    found = ordinary.check(one, mode)
    assert found is not None
    less, finding = ordinary.shrink(*found, mode)
    assert finding.kind == found[1].kind
    assert len(written(less.formula.term)) < len(written(term)) / 2


def test_formulas_of_a_seed_are_the_same() -> None:
    texts = [ordinary.snippet(ordinary.sample(3, 5)) for _ in range(2)]
    assert texts[0] == texts[1]
    exec(texts[0], {})


def test_commands_tell_what_they_did(capsys: Any) -> None:
    status = main(["ordinary", "--formulas", "8", "--processes", "1", "--seed", "2"])
    assert status in (0, 1)
    assert "8 formulas in" in capsys.readouterr().out


def test_a_limit_stops_what_takes_too_long() -> None:
    with pytest.raises(TooLong), limit(0.05):
        endless.fn(None, None)


# --- loops that are written out -------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_recurrences_are_built_and_differentiated(number: int) -> None:
    one = random_recurrence(0, number).of(3)
    inputs, outputs = one.graph()
    f = rw.function(inputs, outputs, mode=AS_BUILT, on_unused_input="ignore")
    assert np.isfinite(np.asarray(f(*one.arguments())[0]))
    text = one.snippet("a comment").replace("on_unused", "mode=rw.Mode(optimizer=None), on_unused")
    exec(text, {})


def test_without_the_rules_that_stabilise() -> None:
    x = pt.vector("x")
    f = rw.function([x], pt.log(1 + pt.exp(x)), mode=unrolled.unstable())
    assert "softplus" not in str([node.op for node in f.maker.fgraph.toposort()])


def test_what_is_slow_is_told(capsys: Any) -> None:
    limits = unrolled.Limits(ratio=0.001, floor=0.0)
    one = random_recurrence(0, 8).of(2)
    finding = unrolled.check(one, limits=limits)
    assert finding is not None
    assert finding.kind == "slow"
    told = unrolled.report(one, finding, unrolled.DEFAULT, limits)
    assert told.key == ("slow", "network")
    assert "without the rules" in told.text


def test_what_is_not_linear_is_told() -> None:
    limits = unrolled.Limits(ratio=1e6, double=0.01, noise=0.0)
    finding = unrolled.check(random_recurrence(0, 8).of(8), limits=limits)
    assert finding is not None
    assert finding.kind == "not linear"


def test_wrong_values_of_loops_are_told() -> None:
    one = next(r for k in range(8, 500, 10) if "pt.tanh(w" in (r := random_recurrence(0, k)).source)
    assert unrolled.wrong(one.of(2), unrolled.unstable()) is None
    finding = unrolled.wrong(one.of(2), unrolled.unstable() + wrong_tangent)
    assert finding is not None
    assert finding.kind == "another value"
