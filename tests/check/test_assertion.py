"""What tests of rules are written with, and the plugin for pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import hypothesis
import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.check import (
    assert_keeps_claim,
    assert_rewrites,
    assert_same_values,
    rule_strategies,
)
from rewrite_engine.language import *
from rewrite_engine.pipeline.phases import all_rules
from tests.check.planted import HEADER, rule_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "half_angle"
x, y = pt.vectors("x y")


@rule(phase="canonicalize")
def to_square(x: Inexact):
    """(An example; a shipped rule is first.)"""
    return pt.log(pt.exp(x)) >> pt.sqr(x)


def test_in_the_pipeline_and_alone() -> None:
    term = pt.log(pt.exp(x))
    assert_rewrites(term, "x", rules=[to_square])
    assert_rewrites(term, "sqr(x)", only=[to_square])
    assert_rewrites(term, pt.sqr(x), rules=[to_square], excluding=["log_of_exp"])
    assert_rewrites(pt.log(x), None, only=[to_square])
    assert_rewrites(x - x, None)
    assert_rewrites(x - x, "second(x, 0.0)", including=["fastmath"])


def test_a_failure_shows_the_trace() -> None:
    with pytest.raises(AssertionError, match=r"becomes x, not y\n    exp_log/log_of_exp: .* → x"):
        assert_rewrites(pt.log(pt.exp(x)), "y")
    with pytest.raises(AssertionError, match="no rule fired"):
        assert_rewrites(pt.log(x), "x")


def test_rewritten_with_rules_alone() -> None:
    assert repr(rewritten(pt.log(pt.exp(x)), only=[to_square])) == "sqr(x)"
    assert repr(rewritten(pt.log(pt.exp(x)), excluding=["log_of_exp"])) == "log(exp(x))"


def test_values() -> None:
    assert_same_values(pt.log(1 + x), pt.log1p(x))
    assert_same_values(x + y, y + x, claim=exact)
    with pytest.raises(AssertionError, match="the terms, exact: other bits"):
        assert_same_values(x + 1.0 - 1.0, x, claim=exact)
    with pytest.raises(AssertionError, match="NaN becomes a number"):
        assert_same_values(x - x, pt.zeros_like(x))
    assert_same_values(x - x, pt.zeros_like(x), {x: np.array([1.0, 2.0])})


@hypothesis.settings(max_examples=15, deadline=None)
@hypothesis.given(rule_strategies(all_rules()["log_of_one_plus"]))
def test_a_strategy_of_both_sides(case: Any) -> None:
    two, values = case
    assert two.name == "exp_log/log_of_one_plus"
    assert values
    assert_keeps_claim(two, values)


def run_pytest(*given: str, path: str) -> tuple[int, str]:
    """Run pytest in a process of its own, away from the configuration of this project."""
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider", *given]
    environment = os.environ | {"PYTHONPATH": path}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return run.returncode, run.stdout + run.stderr


PLUGIN = ("-p", "rewrite_engine.check.plugin")


def test_a_test_for_each_rule_and_kind_of_check(tmp_path: Path) -> None:
    path = tmp_path / "pack.py"
    path.write_text(
        HEADER + rule_of("pt.invert(pt.lt(x, y)) >> pt.ge(x, y)", "x: Inexact, y: Inexact")
    )
    given = ("-v", "-rA", f"--rootdir={tmp_path}", f"--rewrite-rules={path}", str(tmp_path))
    installed = () if _is_installed() else PLUGIN
    status, told = run_pytest(*installed, *given, path=str(ROOT))
    assert status == 1, told
    assert "pack/right[claims] PASSED" in told
    assert "pack/wrong[claims] FAILED" in told
    assert "WRONG claim: pack/wrong" in told
    assert "LINT no example: pack/wrong" in told
    line = path.read_text().splitlines().index("def wrong(x: Inexact, y: Inexact):")
    assert f"pack.py:{line}: RuleWarning: LINT no example: pack/wrong" in told
    assert "1 failed, " in told


def _is_installed() -> bool:
    from importlib.metadata import entry_points

    return "rewrite_engine" in entry_points(group="pytest11").names


@pytest.mark.slow
def test_a_distribution_with_rules_is_installed_and_tested(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path)]
    site = tmp_path / "site"
    for folder in (ROOT, EXAMPLE):
        subprocess.run([*build, str(folder)], check=True, capture_output=True, cwd=tmp_path)
    for wheel in tmp_path.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(site)  # what installing a pure wheel does
    tests = str(EXAMPLE / "tests")
    given = ("-q", f"--rootdir={tmp_path}", "--rewrite-rules=half_angle", tests)
    status, told = run_pytest(*given, path=str(site))
    assert status == 0, told
    assert "failed" not in told
    assert "EXPLAINED" not in told
