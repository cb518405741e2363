"""`explain --digits`: text, JSON lines, a page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import numpy as np
import rewrite_engine as rw
import rewrite_engine.tensor as pt

x = pt.vector("x")
mode = rw.Mode("fast_run").excluding("variance_by_squares")
variance = rw.function([x], pt.mean(x**2) - pt.mean(x) ** 2, name="variance", mode=mode)
variance(1e6 + np.arange(5.0) / 3)
never = rw.function([x], pt.exp(x) / pt.exp(x).sum(), name="never")
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def explain(*arguments):
    command = [sys.executable, "-m", "rewrite_engine.explain", "--digits", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_text(script):
    done = explain(script)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split("\n\nnever: ")
    assert "variance: " in first
    assert "on the inputs of the first call" in first
    assert "Write mean((x - mean(x))**2) for mean(x**2) - mean(x)**2 (script.py:8)" in first
    assert "on random inputs (the function was never called)" in second


def test_only_one_function(script):
    assert "variance: " not in explain("--function", "never", script).stdout


def test_json_lines_and_a_page(script, tmp_path):
    done = explain("--html", tmp_path / "page.html", "--json", "-", script)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["name"] for line in lines] == ["variance", "never"]
    assert lines[0]["basis"] == "the inputs of the first call"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<section>") == 2


def test_files(script, tmp_path):
    done = explain("-o", tmp_path / "text", "--json", tmp_path / "lines", script)
    assert "digits are right" not in done.stdout
    assert (tmp_path / "text").read_text(encoding="utf-8").count("digits are right") == 2
    assert len((tmp_path / "lines").read_text(encoding="utf-8").splitlines()) == 2


def test_no_functions(tmp_path):
    path = tmp_path / "empty.py"
    path.write_text("1 + 1\n")
    assert explain(path).stdout == "no function was compiled\n"


def test_a_function_that_cannot_be_measured(tmp_path):
    """There are no random generators to draw from; others are measured."""
    path = tmp_path / "script.py"
    path.write_text(
        "import rewrite_engine as rw, rewrite_engine.tensor as pt\n"
        "from rewrite_engine.random.type import random_generator_type\n"
        "rng, x = random_generator_type('rng'), pt.dscalar('x')\n"
        "rw.function([rng], pt.random.normal(rng=rng), name='draw', on_unused_input='ignore')\n"
        "rw.function([x], x + 1, name='plain')\n"
    )
    out = explain(path).stdout
    assert "draw: not measured: TypeError" in out
    assert "plain: 16.0 digits" in out
