"""`suggestions`: better terms for subterms of a graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.discover.subterms import subterms
from rewrite_engine.discover.suggest import NOT_CHEAPER, suggestions
from rewrite_engine.errors import InputError
from rewrite_engine.graph.op import Op
from rewrite_engine.language import rewritten
from rewrite_engine.tensor.type import TensorType

SECONDS = 8.0


class Own(Op):
    """An author's elementwise op that no rule knows."""

    __props__ = ("name",)
    itypes = otypes = (TensorType("float64", (None,)),)

    def __init__(self, name: str) -> None:
        self.name = name

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = FUNCTIONS[self.name][0](inputs[0])

    def flops(self, inputs: Any, outputs: Any) -> int:
        return FUNCTIONS[self.name][1] * int(np.prod(outputs[0]))

    def __str__(self) -> str:
        return self.name


@np.vectorize
def _gap(x: float) -> float:
    with mpmath.workdps(60):
        return float(mpmath.atan(x) - mpmath.tanh(x))


#: by name: the function, and its flops for each element
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "cascade": (lambda x: -np.expm1(-np.exp(x)), 0),
    "cascade_of_size": (lambda x: -np.expm1(-np.exp(np.abs(x))), 0),
    "gap": (_gap, 50),
    "first": (lambda x: np.arctan(x**3 + 1.7), 10),
    "second_of": (lambda x: np.exp(-x / 3) + x, 10),
    "both": (lambda x: np.exp(-np.arctan(x**3 + 1.7) / 3) + np.arctan(x**3 + 1.7), 12),
    "bell": (lambda x: np.exp(-np.square(x)), 0),
}
CASCADE, CASCADE_OF_SIZE, GAP, FIRST, SECOND, BOTH, BELL = map(Own, FUNCTIONS)


def test_an_own_op_is_suggested_where_its_formula_is_written_out() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    found = suggestions([CASCADE(x), pt.sum(-pt.expm1(-pt.exp(y * 3)))], SECONDS)
    (one,) = found.found
    assert one.found == "pt.expm1(-pt.exp(a))"
    assert one.write == "-Own(name='cascade')(a)"
    assert one.letters == {"a": "y * 3.0"}
    assert one.lines[0][0] == __file__
    assert one.digits_before is not None
    assert one.digits_before > 15
    assert one.flops_before > 1.25 * one.flops_after
    assert not one.assume
    assert found.looked_at == found.subterms > 0


def test_digits_are_those_of_many_digits() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    (one,) = suggestions([GAP(x), pt.arctan(y) - pt.tanh(y)], SECONDS).found
    assert one.mended >= 2
    (value,) = one.point.values()
    assert abs(value) <= 1e-6
    with mpmath.workdps(60):
        true = mpmath.atan(value) - mpmath.tanh(value)
        assert abs(mpmath.mpf(one.true) - true) <= 1e-15 * abs(true)
        today = np.arctan(value) - np.tanh(value)
        lost = float(-mpmath.log10(abs(today - true) / abs(true))) if today else 0.0
    assert one.digits_before == pytest.approx(max(lost, 0.0), abs=0.5)
    assert one.digits_after is not None
    assert one.digits_after > 15


def test_equal_at_other_points() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    for one in suggestions([CASCADE(x), pt.expm1(-pt.exp(y)), GAP(x)], SECONDS).found:
        c = one.candidate
        (v,) = c.subterm.leaves
        points = np.random.default_rng(5).uniform(-6, 3, 500)
        left, right = [t.variable.eval({v: points}) for t in (c.left, c.right)]
        np.testing.assert_allclose(left, right, rtol=1e-12)


def test_other_dtypes_and_declared_signs() -> None:
    x, n = pt.fmatrix("x"), pt.lvector("n")
    found = subterms([pt.exp(pt.log(x)) * 2, pt.sin(n)]).found
    assert {str(rw.pp(s.term)) for s in found if s.size == 3} == {"exp(log(x)) * 2.0"}
    assert {s.term.type.dtype for s in found} == {"float64"}
    y = rw.assume(x, positive=True)
    (one,) = [s for s in subterms([pt.log(x), y + 1]).found if str(rw.pp(s.term)) == "log(x)"]
    assert [fact.name for fact in one.facts[0]] == ["positive"]  # (of the whole graph)


def test_a_condition_is_told_or_known() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    own = CASCADE_OF_SIZE(x)
    (one,) = suggestions([own, pt.expm1(-pt.exp(y))], SECONDS).found
    assert one.assume == ("rw.assume(y, nonneg=True)",)
    assert "if     no element is negative; declare it: rw.assume(y, nonneg=True)" in str(one)
    (one,) = suggestions([own, pt.expm1(-pt.exp(pt.sqr(y)))], SECONDS).found
    assert (one.assume, one.known) == ((), ("nonneg(a)",))
    (one,) = suggestions([own, pt.expm1(-pt.exp(rw.assume(y, positive=True)))], SECONDS).found
    assert (one.assume, one.known) == ((), ("positive(y)",))


def test_a_suggestion_is_a_rule() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    (one,) = suggestions([CASCADE_OF_SIZE(x), pt.expm1(-pt.exp(y))], SECONDS).found
    rule = one.rule()
    assert "given nonneg(x)" in rule.text
    known = rw.assume(y, nonneg=True)
    assert str(rewritten(pt.expm1(-pt.exp(known)), rules=[rule])) == "-cascade_of_size(y)"
    assert "cascade" not in str(rewritten(pt.expm1(-pt.exp(y)), rules=[rule]))
    assert not suggestions(
        [CASCADE_OF_SIZE(x), pt.expm1(-pt.exp(known))], SECONDS, rules=[rule]
    ).found


def test_what_is_shared_counts_once() -> None:
    x = pt.vector("x")
    alone = suggestions([BOTH(pt.vector("z")), SECOND(FIRST(x))], SECONDS)
    assert len(alone.found) == 1
    assert alone.found[0].digits_before is None
    assert "digits not measured" in str(alone)
    shared = suggestions([BOTH(pt.vector("z")), FIRST(x), SECOND(FIRST(x))], SECONDS)
    assert not shared.found
    assert shared.left_out == {NOT_CHEAPER: 1}


def test_what_the_rules_mend_is_no_suggestion() -> None:
    x = pt.matrix("x")
    found = suggestions(pt.log(1 + pt.exp(x)).sum(), SECONDS)
    assert not found.found
    assert str(found).startswith("nothing to suggest\n\n3 of 3 subterms were compared with ")


def test_what_makes_no_difference_to_the_graph() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    found = suggestions([CASCADE(x), pt.expm1(-pt.exp(y)).shape[0]], SECONDS)
    assert not found.found
    assert sum(found.left_out.values()) == 1  # (the length of an author's op is not known)
    assert "Left out: 1 better term, " in str(found)


def test_one_subterm_at_several_lines() -> None:
    x, y, z = [pt.vector(name) for name in "xyz"]
    first: Any = pt.expm1(-pt.exp(y))
    second: Any = pt.expm1(-pt.exp(z))
    (one,) = suggestions([CASCADE(x), first + second], SECONDS).found
    assert [line for _, line in one.lines] == [first.owner.where()[1], second.owner.where()[1]]


def test_a_gradient_names_the_line_that_it_differentiates() -> None:
    x, z = pt.vector("x"), pt.vector("z")
    cost: Any = pt.erf(z)
    (one,) = suggestions([BELL(x), rw.grad(cost.sum(), z)], SECONDS).found
    assert one.found == "pt.exp(-pt.sqr(z))"
    assert one.in_gradient
    assert one.lines == (cost.owner.where(),)
    assert str(one).startswith("in the gradient of ")


def test_subterms_of_a_graph() -> None:
    x, y = pt.matrix("x"), pt.vector("y")
    found = {str(rw.pp(s.term)) for s in subterms([pt.log(x * 2 + y).sum(axis=0) + 1]).found}
    assert found == {
        "x * 2.0", "x + y", "log(x)", "x * 2.0 + y", "log(x + y)", "log(x * 2.0 + y)", "x + 1.0",
    }  # fmt: skip


def test_loops_are_counted() -> None:
    n = pt.scalar("n")
    total, _ = rw.scan(lambda t: pt.exp(pt.log(t + 1)), outputs_info=[n], n_steps=3)
    found = suggestions(total, 5.0)
    assert found.inside == 1
    assert "graphs inside 1 op, such as loops" in str(found)


def test_time_is_limited() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    names = ("exp", "log", "sin", "cos", "tanh", "arctan", "erf", "sqrt", "gammaln", "expm1")
    functions = [getattr(pt, name) for name in names]
    outputs = [f(g(x) * k + y) for k, f in enumerate(functions, 2) for g in functions]
    suggestions(outputs[:1], 1.0)  # (the rules are loaded)
    found = suggestions(outputs, 2.0)
    assert found.looked_at < found.subterms
    assert f"Not looked at: {found.subterms - found.looked_at} subterms" in str(found)


def test_time_is_limited_on_a_large_graph() -> None:
    x = pt.vector("x")
    outputs, v = [], x
    for i in range(600):
        v = pt.arctan(v) * float(i % 7) + (x if i % 3 else 1.5)
        outputs.append(v)
    found = suggestions(outputs, 2.0)
    assert found.looked_at < found.subterms


def test_json() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    found = suggestions([CASCADE(x), pt.expm1(-pt.exp(y))], SECONDS)
    data = json.loads(found.to_json())
    assert (data["kind"], data["version"]) == ("suggestions", 1)
    assert data["found"][0]["found"] == "pt.expm1(-pt.exp(y))"
    assert data["found"][0]["lines"][0][0] == __file__


def test_bad_input() -> None:
    with pytest.raises(InputError, match="takes variables of a graph"):
        suggestions([1.0])  # type: ignore[list-item]
    with pytest.raises(InputError, match="seconds must be a positive number, not 0"):
        suggestions(pt.exp(pt.vector("x")), 0)
    assert not suggestions(pt.vector("x"), 1.0).found
    assert not suggestions([], 1.0).found
