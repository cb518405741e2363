"""Tests of remedies of WRONG findings (`fix:`), and of limits that a rule may give for NaN."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check.finding import Kind
from rewrite_engine.check.remedy import REMEDIES, remedy_of_claim
from rewrite_engine.judge.difference import BothSides
from rewrite_engine.judge.limits import limit_at
from rewrite_engine.judge.verdict import Broken, Verdict
from rewrite_engine.match.claim import Claim, approx, backward, exact, refines
from tests.check.planted import HEADER, rule_of

CHECK = Path(rw.__file__).parent / "check"


def findings(folder: Path, *given: str) -> list[rw.check.Finding]:
    path = folder / "pack.py"
    path.write_text(HEADER + rule_of(*given))
    return [f for f in rw.check(path, only="claims") if f.subject == "pack/wrong"]


def test_each_kind_of_wrong_finding_has_a_remedy() -> None:
    named = set()
    for path in CHECK.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "wrong":
                first = [a.value if isinstance(a, ast.Constant) else None for a in node.args[:2]]
                named.add(tuple(first))
            is_kind = isinstance(node, ast.Attribute) and node.attr == "WRONG"
            used = is_kind and getattr(node.value, "id", "") == "Kind"
            assert not used or path.name in ("finding.py", "remedy.py"), path
    assert {pair for pair in named if None not in pair} <= REMEDIES.keys()
    assert all(REMEDIES.values())


def verdict(broken: Broken, units: float | None = None) -> Verdict:
    return Verdict(broken, str(broken), units=units)


F, C, U = pt.dscalar("x"), pt.zscalar("x"), pt.tensor("x", dtype="uint8", shape=())


@pytest.mark.parametrize(
    ("x", "found", "claim", "fix"),
    [
        (F, verdict(Broken.ACCURACY, 24.3), refines, "claim=approx(ulps=25), if that is near"),
        (F, verdict(Broken.ACCURACY, 1.41e16), approx(2), "a narrower sort, or a guard"),
        (F, verdict(Broken.BITS), exact, "claim refines, or approx(ulps=n)"),
        (F, verdict(Broken.LIMIT), refines, 'phase="stabilize"'),
        (F, verdict(Broken.NAN_LOST), refines, "given(nonneg(x))"),
        (C, verdict(Broken.ACCURACY, 1e20), refines, "x: Float, which exclude"),
        (U, verdict(Broken.VALUES), refines, "x: Float, which excludes integers"),
        (F, verdict(Broken.ERROR_NEW), refines, "given(fits(y))"),
        (F, verdict(Broken.ERROR_LOST), refines, ""),
    ],
)
def test_the_remedy_of_a_claim(x: Any, found: Verdict, claim: Claim, fix: str) -> None:
    text = remedy_of_claim(BothSides("wrong", claim, pt.abs(x), x), found, claim)
    assert fix in text if fix else text == ""


def test_the_remedy_of_shapes() -> None:
    two = BothSides("wrong", refines, F, F)
    for dtypes, fix in ((("float64", "float64"), ""), (("float32", "float64"), "same_dtype(a, b)")):
        left, right = [(np.dtype(dtype), (4,)) for dtype in dtypes]
        found = Verdict(Broken.SHAPE, str(Broken.SHAPE), left=left, right=right)
        text = remedy_of_claim(two, found, refines)
        assert fix in text if fix else text == ""
    assert 'Tensor["n", "m"]' in REMEDIES["claims", "shape"]
    assert 'Tensor["n", "m"]' in REMEDIES["claims", "error"]


#: a wrong rule, and what the remedy makes of it: sides, variables, options
MENDED = [
    (("pt.sin(x) / pt.cos(x) >> pt.tan(x)", "x: Float", "claim=exact"), "approx(ulps=n)",
     ("pt.sin(x) / pt.cos(x) >> pt.tan(x)", "x: Float", "claim=approx(4)")),
    (("x * pt.log(x) >> pt.xlogy(x, x)", "x: Float", 'phase="specialize"'), 'phase="stabilize"',
     ("x * pt.log(x) >> pt.xlogy(x, x)", "x: Float", 'phase="stabilize"')),
    (("pt.sin(x) / pt.cos(x) >> pt.tan(x)", "x: Inexact", "claim=approx(4)"), "x: Float",
     ("pt.sin(x) / pt.cos(x) >> pt.tan(x)", "x: Float", "claim=approx(4)")),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "fix", "right"), MENDED)
def test_what_the_remedy_says_mends_the_rule(
    wrong: tuple[str, ...], fix: str, right: tuple[str, ...], tmp_path: Path
) -> None:
    (found,) = findings(tmp_path, *wrong)
    assert found.kind is Kind.WRONG
    assert fix in found.fix
    assert findings(tmp_path, *right) == []


A = pt.dmatrix("a")
POOR = {A: np.array([[1.0, 2], [3, 6.0001]])}
INVERSE = pt.linalg.inv(A)


@pytest.mark.parametrize(
    ("claim", "new", "growth", "fix"),
    [
        (refines, pt.linalg.inv(A.T).T, 0, "claim=backward(4)"),
        (refines, -INVERSE, 0, "claim=approx(ulps=101)"),
        (backward(1), pt.linalg.inv(A.T).T, 2.5, "claim=backward(3)"),
        (backward(1), -INVERSE, 1e5, "squares the condition"),
        (backward(1), -INVERSE, 1e15, "a guard that excludes"),
    ],
)
def test_the_remedy_of_linear_algebra(claim: Claim, new: Any, growth: float, fix: str) -> None:
    found = Verdict(Broken.ACCURACY, units=100.0, growth=growth, given=POOR)
    assert fix in remedy_of_claim(BothSides("wrong", claim, INVERSE, new), found, claim)


# --- limits ---------------------------------------------------------------------------------------

LIMITS = [
    ("x * pt.log(x)", "pt.xlogy(x, x)", True),
    ("pt.sum(x * pt.log(x))", "pt.sum(pt.xlogy(x, x))", True),
    ("pt.sinh(x) / x", "pt.switch(pt.eq(x, 0), 1.0, pt.sinh(x) / x)", True),
    ("pt.arctan(x) / x", "pt.switch(pt.eq(x, 0), 0.0, pt.arctan(x) / x)", False),
    ("pt.sqrt(x * x) / x", "pt.switch(pt.eq(x, 0), 1.0, pt.sqrt(x * x) / x)", False),  # two sides
    ("pt.arccosh(x)", "pt.arccosh(pt.abs(x))", False),  # no point near -2 has a value
]


@pytest.mark.parametrize(("left", "right", "allowed"), LIMITS)
def test_functions_made_stable_give_limits_at_finite_points(
    left: str, right: str, allowed: bool, tmp_path: Path
) -> None:
    variables = "x: Vector" if "sum" in left else "x: Float"
    found = findings(tmp_path, f"{left} >> {right}", variables, 'phase="stabilize"')
    assert (found == []) is allowed, found
    assert all("NaN becomes a number" in f.why for f in found)


def test_limits_by_value() -> None:
    x, y = pt.dscalars("x y")
    zero = np.asarray(0.0)
    at_zero = {x: zero, y: zero}
    assert limit_at(x * pt.log(x), {x: zero}, (), zero) is True
    assert limit_at(x * pt.log(x), {x: zero}, (), np.asarray(1.0)) is False
    assert limit_at((1 - pt.cos(x)) / x**2, {x: zero}, (), np.asarray(0.5)) is True
    assert limit_at((1 - pt.cos(x)) / x**2, {x: zero}, (), zero) is False
    assert limit_at(pt.log(x) / (x - 1), {x: np.asarray(1.0)}, (), np.asarray(1.0)) is True
    assert limit_at(x / y, at_zero, (), np.asarray(1.0)) is False  # it depends on the way
    assert limit_at(x * pt.log(y), at_zero, (), zero) is False  # y may be exp(-1 / x)
    assert limit_at(pt.log(x), {x: np.asarray(-2.0)}, (), zero) is None
    z = pt.zscalar("z")
    origin = np.asarray(0j)
    assert limit_at(z * pt.log(z), {z: origin}, (), origin) is True


def test_a_limit_in_another_phase_names_the_phase(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, "x * pt.log(x) >> pt.xlogy(x, x)", "x: Float")
    assert found.why == "NaN becomes a number, which is the limit"
    assert found.fix == 'phase="stabilize", whose functions may give the limit'


# --- what an author cannot mend -------------------------------------------------------------------

DECOMPOSITIONS = ["pt.linalg.Eigh()({})[0]", "pt.linalg.Eig()({})[0]", "pt.linalg.SVD()({})[1]"]


@pytest.mark.parametrize("of", DECOMPOSITIONS)
def test_decompositions_that_fail_on_extreme_numbers_accuse_no_rule(
    of: str, tmp_path: Path
) -> None:
    sides = f"{of.format('2 * a')} >> 2 * {of.format('a')}, given(lambda a: a.type.kind == 'f')"
    assert findings(tmp_path, sides, 'a: Tensor["n", "n"]', "claim=approx(1 << 40)") == []


def test_an_error_on_ordinary_numbers_still_does(tmp_path: Path) -> None:
    sides = "pt.linalg.Cholesky(on_error='raise')(a) >> pt.linalg.Cholesky(on_error='nan')(a)"
    (found,) = findings(tmp_path, sides, "a: pt.dmatrix")
    assert (found.kind, found.name) == (Kind.WRONG, "error")
    assert found.fix
