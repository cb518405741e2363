"""`rule_of`: rules of two terms of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import PatternError
from rewrite_engine.facts import nonneg, square
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.language import exact, rewritten, rule_of
from rewrite_engine.rewrite.trace import brief

Build = Callable[..., Any]

RULES: list[tuple[Build, Build, str]] = [
    (lambda x: pt.log(x + 1), pt.log1p, "log(x + 1.0) -> log1p(x)"),
    (
        lambda x: pt.log(pt.exp2(x)),
        lambda x: x * np.log(2),
        "log(exp2(x)) -> x * 0.6931471805599453",
    ),
    (
        lambda x: pt.exp(x)[0],
        lambda x: pt.exp(x[0]),
        "Subtensor{0}(exp(x)) -> exp(Subtensor{0}(x))",
    ),
    (
        lambda x: pt.cumsum(x)[-1],
        lambda x: x.sum(),
        "Subtensor{-1}(CumOp{axis=0, mode='add'}(x)) -> Sum(x)",
    ),
    (
        lambda x, a: (a * x).sum(axis=0),
        lambda x, a: x * a.sum(axis=0),
        "Sum{axis=0}(a * x) -> x * Sum{axis=0}(a)",
    ),
    (
        lambda a: pt.linalg.det(a @ a),
        lambda a: pt.linalg.det(a) ** 2,
        "Det(a @ a) -> sqr(Det(a))",
    ),
]


def leaves(dtype: str, n: int | None, names: tuple[str, ...]) -> list[Any]:
    return [pt.tensor(k, dtype=dtype, shape=(n,) * (2 if k == "a" else 1)) for k in names]


def made(left: Build, right: Build) -> Any:
    """Return the rule of two terms of double precision and unknown lengths."""
    operands = leaves("float64", None, left.__code__.co_varnames)
    given = dict(zip(left.__code__.co_varnames, operands, strict=True))
    names = left.__code__.co_varnames if right is pt.log1p else right.__code__.co_varnames
    return rule_of(left(*operands), right(*[given[n] for n in names]))


def by(rule: Any, term: Any) -> Any:
    """Return a term in normal form after the rule alone."""
    return rewritten(rw.rewrite_graph(term), only=[rule]).variable


@pytest.mark.parametrize(("left", "right", "text"), RULES, ids=lambda x: str(x)[:20])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [None, 3])
def test_a_rule_fires_for_all_dtypes_and_lengths(
    left: Build, right: Build, text: str, dtype: str, n: int | None
) -> None:
    rule = made(left, right)
    assert rule.text == text
    operands = leaves(dtype, n, left.__code__.co_varnames)
    old = left(*operands)
    new = by(rule, old)
    assert brief(new) != brief(rw.rewrite_graph(old))
    rng = np.random.default_rng(0)
    given = {v: rng.uniform(0.1, 0.9, (3,) * v.type.ndim).astype(dtype) for v in operands}
    one, two = old.eval(given), new.eval(given)
    assert one.dtype == two.dtype == dtype
    assert np.allclose(one, two, rtol=1e-5)


def test_elementwise_rules_hold_for_all_ranks() -> None:
    x = pt.vector("x")
    rule = rule_of(pt.log(x + 1), pt.log1p(x))
    for v in (pt.scalar("v"), pt.vector("v"), pt.matrix("v"), pt.tensor3("v")):
        assert brief(by(rule, pt.log(v + 1))) == "log1p(v)"
    summed = rule_of(pt.exp(x).max(), pt.exp(x.max()))
    m = pt.matrix("m")
    assert brief(by(summed, pt.exp(m).max())) == "Max(exp(m))"  # of vectors alone


def test_a_length_of_one_counts() -> None:
    row = pt.tensor("row", shape=(1, None))
    rule = rule_of(pt.sort(pt.exp(row), axis=0), pt.exp(row))
    assert brief(by(rule, pt.sort(pt.exp(pt.tensor("r", shape=(1, 4))), axis=0))) == "exp(r)"
    assert brief(by(rule, pt.sort(pt.exp(pt.matrix("m")), axis=0))).startswith("Sort")


def test_facts_become_guards() -> None:
    x, m = pt.vector("x"), pt.matrix("m")
    positive = rw.assume(x, nonneg=True)
    rule = rule_of(pt.log(1 / positive), -pt.log(positive))
    assert rule.text == "log(1.0 / x) -> -log(x), given nonneg(x)"
    v = pt.vector("v")
    assert brief(by(rule, pt.log(1 / pt.exp(v)))) == "-log(exp(v))"
    assert brief(by(rule, pt.log(1 / v))) == "log(1.0 / v)"

    more = rule_of(pt.linalg.det(m @ m), pt.linalg.det(m) ** 2, where=lambda m: square(m))
    assert more.text == "Det(m @ m) -> sqr(Det(m)), given square(m)"
    both = rule_of(
        pt.log(1 / positive), -pt.log(positive), where=lambda x: (nonneg(x), lambda x: x.ndim == 1)
    )
    assert both.text.endswith("given nonneg(x) and nonneg(x) and condition(x)")


def test_options_and_names() -> None:
    x, odd, also = pt.vector("x"), pt.vector("a b"), pt.vector("x")
    rule = rule_of(
        pt.log(x + 1), pt.log1p(x), name="mine", reason="Why.", phase="stabilize", claim=exact
    )
    assert (rule.short_name, rule.doc, rule.phase, rule.claim) == (
        "mine", "Why.", "stabilize", exact
    )  # fmt: skip
    assert rule.pack == "test_rule_of"
    assert rule.where[0] == __file__
    named = rule_of(pt.exp(x) * pt.exp(odd) * pt.exp(also), pt.exp(x + odd + also))
    assert named.text == "exp(x) * exp(x0) * exp(x1) -> exp(x + x0 + x1)"
    assert named.short_name == "mul_of_mul_of_exp_of_exp"


def test_terms_that_make_no_rule() -> None:
    x, y = pt.vectors("x y")
    positive = rw.assume(x, nonneg=True)
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        (pt.exp(x), pt.exp(y), {}, "the right side has the variable y"),
        (pt.exp(x) * pt.constant([1.0, 2.0]), x, {}, "an array of constants"),
        (pt.log(pt.exp(x)), x, {}, r"make a variable of log\(exp\(x\)\): x"),
        (pt.exp(x + y), pt.exp(y + x), {}, "make one term of"),
        (rw.assume(pt.exp(x) - 1, nonneg=True) ** 0.5, x, {}, "nonneg is declared of the term"),
        (pt.log(1 / rw.assume(x, bounded=(1, 2))), x, {}, "cannot become a guard"),
        (pt.log(1 / positive), x, {"where": lambda z: nonneg(z)}, "where= has a parameter z"),
        (pt.log(x + 1), pt.log1p(x), {"name": "for"}, "named like a function"),
    ]
    for left, right, options, message in cases:
        with pytest.raises(PatternError, match=message):
            rule_of(left, right, **options)


def test_the_error_of_a_rule_names_the_line_that_made_it() -> None:
    x = pt.vector("x")
    with pytest.raises(PatternError, match="test_rule_of.py:.*: rule_of"):
        rule_of(pt.log(x + 1), pt.log1p(x), where=lambda x: True)  # (no guard)


def test_inputs_are_unchanged() -> None:
    x = pt.vector("x")
    left = pt.log(x + 1)
    rule_of(left, pt.log1p(x))
    assert list(explicit_graph_inputs([left])) == [x]
