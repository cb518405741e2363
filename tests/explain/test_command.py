"""`python -m rewrite_engine.explain`, from outside."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rewrite_engine.rewrite.trace.records import schema
from tests.rewrite.schema import problems

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
import rewrite_engine as rw
import rewrite_engine.tensor as pt
import beside

x = pt.vector("x")
f = rw.function([x], pt.log(1 + x) * 1, name="f")
never = rw.function([x], pt.exp(pt.log(x)) - 1, name="never")
print("value", f([0.0]), sys.argv[1:], __name__)
if "fail" in sys.argv:
    raise ValueError("on purpose")
if "exit" in sys.argv:
    sys.exit("bye")
"""
WRONG = """
import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.language import rule
from rewrite_engine.pipeline.phases import optimizer

@rule(phase="canonicalize")
def sine_is_cosine(x):
    '''Not true.'''
    return pt.sin(x) >> pt.cos(x)

x = pt.vector("x")
mode = rw.Mode(optimizer=optimizer(None, RuleSet([sine_is_cosine])))
rw.function([x], pt.sin(x), mode=mode, name="wrong")([0.0])
"""

USES = """
import rewrite_engine as rw
import rewrite_engine.tensor as pt
x = pt.vector("x")
rw.function([x], [pt.tan(pt.arctan(x)), pt.erfinv(pt.erf(x))], name="both")
"""
RULES = """
import rewrite_engine.tensor as pt
from rewrite_engine.language import *

@rule(phase="specialize")
def tangent_of_angle(x: Inexact):
    '''One is the inverse of the other.'''
    return pt.tan(pt.arctan(x)) >> x
"""
STEPS = (
    RULES.replace('phase="specialize"', "").replace(
        " import *",
        """ import *
from rewrite_engine.rewrite.strategies import *""",
    )
    + """
once = try_(tangent_of_angle, phase="specialize")
"""
)
OWN_MODE = (
    USES
    + """
rw.function([x], pt.tan(pt.arctan(x)), name="own", mode="fast_run")
import os
os.chdir("/")
"""
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "beside.py").write_text("")
    (folder / "script.py").write_text(SCRIPT)
    (folder / "wrong.py").write_text(WRONG)
    (folder / "uses.py").write_text(USES)
    (folder / "my_rules.py").write_text(RULES)
    two = RULES.replace("tangent_of_angle", "erfinv_of_erf").replace("Inexact", "Float")
    two = two.replace("pt.tan(pt.arctan(x))", "pt.erfinv(pt.erf(x))")
    (folder / "two.py").write_text(two)
    (folder / "broken_rules.py").write_text("import sys\n1 / 0\n")
    (folder / "idle_rules.py").write_text(RULES.replace('phase="specialize"', ""))
    (folder / "steps.py").write_text(STEPS)
    (folder / "own_mode.py").write_text(OWN_MODE)
    (folder / "typo_rules.py").write_text(RULES.replace("specialize", "specialise"))
    return folder


def run(folder, *args, columns=100):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": str(columns)}
    command = [sys.executable, "-m", "rewrite_engine.explain", *map(str, args)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8"
    )


def test_the_script_runs_and_the_story_follows(folder):
    done = run(folder, "script.py", "a", "b")
    assert done.returncode == 0, done.stderr
    first, _, story = done.stdout.partition("\n")
    assert first == "value [0.] ['a', 'b'] __main__"
    assert "2 functions compiled" in story
    assert "log(1.0 + x) → log1p(x)" in story
    assert "exp_log/log_of_one_plus rules/exp_log.py:" in story
    assert "script.py:8" in story
    assert "on the inputs of the first call" in story
    assert "on random inputs (the function was never called)" in " ".join(story.split())
    assert "\x1b" not in story
    assert max(map(len, story.splitlines())) <= 100


def test_options_select_and_json_is_written(folder):
    done = run(
        folder, "--function", "f", "--rule", "log_of_one_plus", "--no-graphs", "--json", "o.jsonl",
        "--exclude", "inplace", "script.py",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "drop_identity" not in done.stdout
    assert "inplace:" not in done.stdout
    records = [json.loads(line) for line in (folder / "o.jsonl").read_text().splitlines()]
    kinds = [(r["kind"], r["function"]) for r in records if r["kind"] != "phase"]
    assert kinds == [("report", None), ("firing", "f"), ("graph", "f"), ("function", "f")]


def test_attempts_are_listed_and_written(folder):
    done = run(
        folder, "--function", "f", "--attempts", "log_of_one_plus", "--json", "o.jsonl", "script.py"
    )
    assert done.returncode == 0, done.stderr
    assert "exp_log/log_of_one_plus fired: #" in done.stdout
    assert "What happened" not in done.stdout
    records = [json.loads(line) for line in (folder / "o.jsonl").read_text().splitlines()]
    tried = [r for r in records if r["kind"] == "attempt"]
    assert {r["rule"] for r in tried} == {"exp_log/log_of_one_plus"}
    assert [p for r in records for p in problems(r, schema())] == []
    unknown = run(folder, "--attempts", "no_such", "script.py")
    assert unknown.returncode == 2
    assert "no rule was tried that is called 'no_such'" in unknown.stderr


def test_why_and_why_not(folder):
    done = run(folder, "--why", "log1p", "--why-not", "exp_of_log", "script.py")
    assert "f: log1p(x)" in done.stdout
    assert "guard nonneg(x): its sign is not known: x" in done.stdout


def test_rule_files(folder):
    done = run(folder, "--rules", "my_rules.py", "--rules", "two.py", "uses.py")
    assert done.returncode == 0, done.stderr
    assert "my_rules/tangent_of_angle my_rules.py:5" in done.stdout
    assert "two/erfinv_of_erf two.py:5" in done.stdout
    left_out = run(
        folder, "--rules", "my_rules.py", "--exclude", "my_rules", "--why-not", "tangent_of_angle",
        "uses.py",
    )  # fmt: skip
    assert left_out.returncode == 0, left_out.stderr
    assert "my_rules/tangent_of_angle: tan(arctan(x)) -> x" in left_out.stdout
    assert "the mode leaves it out" in left_out.stdout


def test_strategies_of_rule_files(folder):
    done = run(folder, "--rules", "steps.py", "--why-not", "once", "uses.py")
    assert done.returncode == 0, done.stderr
    assert "steps/once: try_(steps/tangent_of_angle)" in done.stdout
    assert "it fired once: #" in done.stdout
    done = run(folder, "--rules", "steps.py", "--why-not", "tangent_of_angle", "uses.py")
    assert "it is only part of the strategy steps/once" in done.stdout
    assert "no phase" not in done.stdout


@pytest.mark.on_vm
def test_functions_with_a_mode_of_their_own_are_noted(folder):
    done = run(folder, "--rules", "my_rules.py", "--exclude", "inplace", "own_mode.py")
    assert done.returncode == 0, done.stderr
    note = "note: --rules and --exclude without effect on own, which has a mode of its own"
    assert note in " ".join(done.stdout.split())
    assert "note:" not in run(folder, "--rules", "my_rules.py", "uses.py").stdout
    assert "note:" not in run(folder, "own_mode.py").stdout
    asked = run(
        folder, "--rules", "my_rules.py", "--function", "own", "--why-not", "tangent_of_angle",
        "own_mode.py",
    )  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    assert "the mode does not know it: Mode('fast_run')" in asked.stdout
    assert "it matches here, but the mode does not know it" in asked.stdout


def test_values_that_disagree_fail_only_a_strict_run(folder):
    assert run(folder, "wrong.py").returncode == 0
    done = run(folder, "--strict", "wrong.py")
    assert done.returncode == 1
    assert "DISAGREE: 0.0 became 1.0" in done.stdout


@pytest.mark.parametrize(
    ("args", "status", "text"),
    [
        (["missing.py"], 2, "there is no script 'missing.py'"),
        ([], 2, "name a SCRIPT"),
        (["--why-not", "log_of_expp", "script.py"], 2, "did you mean"),
        (["--rule", "nonsense", "script.py"], 2, "no rule is called 'nonsense'"),
        (["--phase", "nonsense", "script.py"], 2, "no phase is called 'nonsense'"),
        (["--function", "g", "script.py"], 2, "there are: 1 f, 2 never"),
        (["--exclude", "nonsense", "script.py"], 2, "is called 'nonsense'"),
        (["--rules", "nowhere.py", "script.py"], 2, "No such file or directory"),
        (["--rules", "broken_rules.py", "script.py"], 2, "broken_rules.py:2: 1 / 0"),
        (["--rules", "idle_rules.py", "script.py"], 2, "belongs to no phase, so nothing uses it"),
        (["--rules", "typo_rules.py", "script.py"], 2, "the phase 'specialise', which does not"),
        (["script.py", "exit"], 3, "the script ended with exit status bye"),
        (
            ["script.py", "--full"],
            0,
            "--full comes after the script, so it is passed to",
        ),
    ],
)
def test_what_goes_wrong_is_said(folder, args, status, text):
    done = run(folder, *args)
    assert done.returncode == status
    assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--why", "--why-not", "--attempts", "--rule", "--phase"])
def test_names_are_checked_before_anything_is_said(folder, option):
    done = run(folder, option, "no_such", "script.py")
    assert done.returncode == 2
    assert "no_such" in done.stderr
    assert done.stdout == "value [0.] [] __main__\n"


def test_functions_without_what_was_asked_for_are_named_in_one_line(folder):
    done = run(folder, "--rule", "log_of_one_plus", "script.py")
    assert "1. f ──" in done.stdout
    assert "2. never ──" not in done.stdout
    assert "without any of the selected firings: 2 never\n" in done.stdout
    assert "0 of them shown" not in done.stdout


def test_a_script_that_fails_is_explained_as_far_as_it_came(folder):
    done = run(folder, "script.py", "fail")
    assert done.returncode == 3
    assert "ValueError: on purpose" in done.stderr
    assert "runpy" not in done.stderr
    assert "2 functions compiled" in done.stdout


def test_iris(folder):
    done = run(ROOT, "docs/examples/iris.py", columns=80)
    assert done.returncode == 0, done.stderr
    assert "3 functions compiled" in done.stdout
    assert "no values disagree" in done.stdout
    assert "→ LogSoftmax(" in done.stdout
    assert "result: repaired: nan became 0.693147" in done.stdout
    assert re.search(r" predict +3 .* identical", done.stdout)


def test_a_module_runs_with_its_arguments(folder):
    done = run(folder, "--function", "f", "-m", "script", "a", "b")
    assert done.returncode == 0, done.stderr
    first, _, story = done.stdout.partition("\n")
    assert first == "value [0.] ['a', 'b'] __main__"
    assert "what the rules did to -m script" in story
