"""Ordinary programs, whose reports may not call anything untrue (`explain --strict`)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rewrite_engine.explain.__main__ import is_strictly_right
from rewrite_engine.explain.record import recording
from rewrite_engine.explain.report import Report

FOLDER = Path(__file__).parent / "corpus"


def programs() -> dict[str, Callable[[np.random.Generator], None]]:
    """Return all programs: {module.function: the function}."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        module = import_module(f"tests.explain.corpus.{path.stem}")
        own = {name: value for name, value in vars(module).items() if not name.startswith("_")}
        found |= {
            f"{path.stem}.{name}": value
            for name, value in own.items()
            if getattr(value, "__module__", None) == module.__name__
        }
    return found


PROGRAMS = programs()


def complaints(report: Report) -> list[Any]:
    """Return all that is not right: functions that failed, values, and untrue statements."""
    found: list[Any] = list(report.failed)
    for f in report.functions:
        if f.about.verdict == "unknown":
            found.append((f.name, f.check.problem))
        found += [(f.name, name, one.text) for name, one in f.check.outputs if one.verdict > 2]
        found += [(f.name, one) for one in f.check.claims.untrue]
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_alarm_is_raised(name: str) -> None:
    with recording() as recorder:
        PROGRAMS[name](np.random.default_rng(0))
    report = Report(recorder.records, recorder.failed)
    assert is_strictly_right(report), complaints(report)
