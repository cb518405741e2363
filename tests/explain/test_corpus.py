"""Ordinary programs, whose reports may not call anything untrue (`explain --strict`)."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.explain.__main__ import is_strictly_right
from rewrite_engine.explain.record import recording
from rewrite_engine.explain.report import Report
from rewrite_engine.judge.compare import Agreement
from rewrite_engine.language import Inexact, rule

ROOT = Path(__file__).resolve().parents[2]
PAGES = runpy.run_path(str(ROOT / "docs" / "site" / "pages.py"))
#: (the Kalman filter and the Gaussian process are programs of the corpus, with less data)
TUTORIALS = ["first_model", "training_loop", "what_happened"]
PYMC = ROOT / "tests" / "compat" / "pymc" / "run.py"
PYMC_PROGRAMS = ["regressions.linear", "series.volatility", "mixtures.slopes_at_bounds"]


@rule(phase="stabilize")
def exponential_by_two_terms(a: Inexact):
    """(Wrong.)"""
    return pt.exp(a) >> 1 + a


def programs() -> dict[str, Callable[[np.random.Generator], None]]:
    """Return all programs: {module.function: the function}."""
    found = {}
    for path in sorted((ROOT / "tests" / "explain" / "corpus").glob("*.py")):
        module = import_module(f"tests.explain.corpus.{path.stem}")
        for name, value in vars(module).items():
            own = getattr(value, "__module__", None) == module.__name__
            if own and not name.startswith("_"):
                found[f"{path.stem}.{name}"] = value
    return found


PROGRAMS = programs()


def reported(run: Callable[[], object]) -> Report:
    """Return the report on the functions that a program compiles."""
    with recording() as recorder:
        run()
    return Report(recorder.records, recorder.failed)


def complaints(report: Report) -> list[Any]:
    """Return all that is not right: functions that failed, values, and untrue statements."""
    found: list[Any] = list(report.failed)
    for f in report.functions:
        outputs = [
            (name, one.text) for name, one in f.check.outputs if one.verdict > Agreement.AGREE
        ]
        found += [f.check.problem, f.check.claims.problem, *outputs, *f.check.claims.untrue]
    return [one for one in found if one is not None]


def check(report: Report) -> None:
    """Assert that everything was judged and nothing is untrue."""
    assert is_strictly_right(report), complaints(report)
    assert report.functions
    for f in report.functions:
        assert f.check.outputs
        assert f.check.claims.calls > 0 or not f.steps


def test_there_are_many_programs() -> None:
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_alarm_is_raised(name: str) -> None:
    check(reported(lambda: PROGRAMS[name](np.random.default_rng(0))))


@pytest.mark.parametrize("name", TUTORIALS)
def test_no_alarm_is_raised_of_tutorials(name: str) -> None:
    """Without their pictures."""
    page, names = ROOT / "docs" / "tutorials" / f"{name}.md", {"__name__": "__main__"}

    def run() -> None:
        for line, source in PAGES["examples"](page):
            if "plt." not in source:
                PAGES["run_doctest"](source, names, page, line)

    check(reported(run))


@pytest.mark.skipif(
    find_spec("pymc") is None, reason='PyMC is not installed: pip install "rewrite-engine[pymc]"'
)
def test_no_alarm_is_raised_of_models(tmp_path: Path) -> None:
    options = ["--compat", "--strict", "--no-graphs", "-o", str(tmp_path / "report.txt")]
    command = [sys.executable, "-m", "rewrite_engine.explain", *options, str(PYMC), *PYMC_PROGRAMS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    text = (tmp_path / "report.txt").read_text(encoding="utf-8")
    assert done.returncode == 0, text + done.stderr
    assert "functions compiled" in text


def test_an_alarm_is_raised_of_a_wrong_rule() -> None:
    with config.change_flags(mode=rw.Mode() + exponential_by_two_terms):
        report = reported(lambda: PROGRAMS["series.random_walk"](np.random.default_rng(0)))
    assert not is_strictly_right(report)
    rules = {one.rule for f in report.functions for one in f.check.claims.untrue}
    assert any(name.endswith("exponential_by_two_terms") for name in rules if name is not None)
