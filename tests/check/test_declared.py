"""Rules that facts about matrices guard are checked on matrices that have the facts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check.declared import declarations, drawn_facts, having
from rewrite_engine.check.finding import Kind
from rewrite_engine.facts import lower_triangular, positive_definite, symmetric
from rewrite_engine.match.fact import Fact
from tests.check.planted import HEADER, rule_of

TRIANGLE = "pt.linalg.SolveTriangular"
REAL = "lambda a, b: a.type.kind == b.type.kind == 'f'"
MORE = "low_of, diagonal_of = pt.linalg.Cholesky(), Diagonal(0, 0, 1)\n"
#: sides, guards: right ones, and such that are wrong where the fact holds
RIGHT = {
    "triangle": (f"solve(a, b) >> {TRIANGLE}(lower=True)(a, b)", "lower_triangular(a)"),
    "unit triangle": (f"solve(a, b) >> {TRIANGLE}(unit_diagonal=True)(a, b)",
                      "upper_triangular(a), unit_diagonal(a)"),
    "orthogonal": ("solve(a, b) >> a.T @ b", f"orthogonal(a), {REAL}"),
    "symmetric": ("solve(a.T, b) >> solve(a, b)", "symmetric(a)"),
    "square factor": ("solve(a @ b, c) >> solve(b, solve(a, c))", "square(a)"),
    "definite": ("pt.linalg.SLogDet()(a)[1] >> 2 * pt.log(diagonal_of(low_of(a))).sum()",
                 "positive_definite(a)"),
    "diagonal": ("inv(a) @ b >> compute(lambda a, b: solve(pt.diag(pt.diagonal(a)), b))",
                 "diagonal(a)"),
    "by a function": (f"solve(a, b) >> {TRIANGLE}(lower=True)(a, b)",
                      "lambda a: square(a) and lower_triangular(a)"),
}  # fmt: skip
WRONG = {
    "other triangle": (f"solve(a, b) >> {TRIANGLE}(lower=False)(a, b)", "lower_triangular(a)"),
    "no unit diagonal": (f"solve(a, b) >> {TRIANGLE}(lower=True, unit_diagonal=True)(a, b)",
                         "lower_triangular(a)"),
    "not its own inverse": ("solve(a, b) >> a @ b", f"orthogonal(a), {REAL}"),
    "not symmetric": ("solve(a.T, b) >> solve(a, b)", "square(a)"),
    "order of factors": ("solve(a @ b, c) >> solve(a, solve(b, c))", "square(a)"),
    "half a determinant": ("pt.linalg.SLogDet()(a)[1] >> pt.log(diagonal_of(low_of(a))).sum()",
                           "positive_definite(a)"),
    "no diagonal": ("inv(a) @ b >> compute(lambda a, b: solve(pt.diag(pt.diagonal(a)), b))",
                    "lower_triangular(a)"),
}  # fmt: skip


def findings(folder: Path, sides: str, guards: str, more: str = MORE) -> list[rw.check.Finding]:
    path = folder / "pack.py"
    names = [v for v in "abc" if f"{v})" in sides or f"{v}," in sides or f"({v}" in sides]
    variables = ", ".join([f"{v}: Matrix" for v in names])
    path.write_text(
        HEADER + more + rule_of(f"{sides}, given({guards})", variables, "claim=backward(16)")
    )
    return [f for f in rw.check(path, only="claims") if f.subject == "pack/wrong"]


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_for_the_fact_is_not_accused(name: str, tmp_path: Path) -> None:
    assert findings(tmp_path, *RIGHT[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_for_the_fact_is_found(name: str, tmp_path: Path) -> None:
    found = findings(tmp_path, *WRONG[name])
    assert Kind.WRONG in [f.kind for f in found], found
    assert {f.name for f in found} <= {"claim", "error", "type"}
    assert any(["Assume" in f.example for f in found if f.name != "type"])


def test_your_own_fact_makes_its_values(tmp_path: Path) -> None:
    more = """
@fact
def stochastic(x):
    "Rows whose sums are 1."
    return unknown("it is not known")

@stochastic.test
def sums_of_rows(value):
    return bool(np.allclose(value.sum(-1), 1))

@stochastic.draw
def normalized(value):
    whole = np.abs(value) + 1
    return whole / whole.sum(-1, keepdims=True)

"""
    guards = "stochastic(a), lambda a: a.type.kind == 'f'"
    good, bad = [
        f"pt.exp(Sum(1)(a)) >> compute(lambda a: pt.exp(pt.second(Sum(1)(a), {number})))"
        for number in (1.0, 2.0)
    ]
    assert findings(tmp_path, good, guards, more) == []
    assert [f.name for f in findings(tmp_path, bad, guards, more)] == ["claim"]
    (found,) = findings(tmp_path, bad, guards, more.replace("@stochastic.draw", ""))
    assert (found.kind, found.name) == (Kind.UNPROVED, "no term")


@pytest.mark.parametrize("fact", drawn_facts(), ids=lambda fact: fact.name)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_values_have_the_fact(fact: Fact, dtype: str, n: int) -> None:
    a = pt.tensor("a", dtype=dtype, shape=(None, None))
    value = np.random.default_rng(n).uniform(-3, 3, (n, n)).astype(dtype)
    made = having({a: value}, {a: [fact]})
    if made is None:
        assert dtype == "int64"  # (of whole numbers there may be none)
        return
    assert made[a].dtype == dtype
    assert made[a].shape == (n, n)
    assert fact.of_value(a.type, made[a])
    assert having({a: np.ones((2, 3), dtype)}, {a: [symmetric, fact]}) is None


def test_what_terms_declare_is_read() -> None:
    a, b = pt.dmatrices("a b")
    marked = rw.assume(a, symmetric=True), rw.assume(a @ b, lower_triangular=True)
    assert declarations(marked) == {a: [symmetric]}
    both = rw.assume(b, lower_triangular, positive_definite)
    assert declarations([both]) == {b: [lower_triangular, positive_definite]}
