"""Without mpmath the check of claims cannot run: that is a finding, and fails; it does not pass
silently. The other checks run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rewrite_engine.check.run import CHECKS, left_out
from tests.check.planted import HEADER, rule_of

ROOT = Path(__file__).resolve().parents[2]
HIDDEN = "import sys; sys.modules['mpmath'] = None\n"
COMMAND = 'pip install "rewrite-engine[check]"'
WRONG = HEADER + rule_of("pt.expm1(x) >> pt.exp(x) - 1")


def hidden(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in which mpmath cannot be imported."""
    path = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-c", HIDDEN + program],
        capture_output=True, text=True, cwd=ROOT, check=False,
        env=dict(os.environ, PYTHONPATH=path),
    )  # fmt: skip


def command(folder: Path, *options: str) -> tuple[int, str]:
    """Return the exit status and the output of the command about a wrong rule."""
    (folder / "pack.py").write_text(WRONG)
    given = [str(folder / "pack.py"), *options]
    program = f"from rewrite_engine.check.__main__ import main\nsys.exit(main({given}))"
    run = hidden(program, folder)
    assert not run.stderr, run.stderr
    return run.returncode, run.stdout


def test_the_check_of_claims_is_left_out(tmp_path: Path) -> None:
    status, told = command(tmp_path, "--json")
    report = json.loads(told)
    assert status == 2
    assert report["failed"]
    assert list(report["left_out"]) == ["claims"]
    assert list(report["seconds"]) == list(CHECKS)
    (missing,) = [f for f in report["findings"] if f["kind"] == "UNPROVED"]
    assert missing["subject"] == "the check claims"
    assert missing["fix"] == COMMAND
    assert "no example" in [f["name"] for f in report["findings"]]  # by another check


@pytest.mark.parametrize(("option", "status"), [("--fast", 0), ("--only=claims", 2)])
def test_of_some_checks_claims_alone_are_missed(tmp_path: Path, option: str, status: int) -> None:
    found, told = command(tmp_path, option)
    assert found == status
    assert ("UNPROVED left out: the check claims" in told) is (status == 2)
    assert (f"fix: {COMMAND}" in told) is (status == 2)


def test_rules_are_not_said_to_be_right(tmp_path: Path) -> None:
    (tmp_path / "pack.py").write_text(WRONG)
    program = (
        "import rewrite_engine as rw, pack\n"
        "report = rw.check(pack.wrong, only='claims')\n"
        "print(len(report.findings), report.failed, report.unproved)\n"
        "print('the check claims' in report._repr_html_())"
    )
    assert hidden(program, tmp_path).stdout.split() == ["1", "True", "True", "True"]


def test_the_plugin_fails_with_the_command(tmp_path: Path) -> None:
    (tmp_path / "pack.py").write_text(WRONG)
    given = ["-rA", "-p", "rewrite_engine.check.plugin", f"--rootdir={tmp_path}",
             f"--rewrite-rules={tmp_path / 'pack.py'}", "--rewrite-checks=claims",
             "-p", "no:cacheprovider", str(tmp_path)]  # fmt: skip
    program = (
        "from importlib.metadata import entry_points\n"
        "names = [e.value for e in entry_points(group='pytest11')]\n"
        "import pytest\n"
        f"given = {given}\n"
        "if 'rewrite_engine.check.plugin' in names: del given[1:3]\n"
        "sys.exit(pytest.main(given))"
    )
    run = hidden(program, tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    assert COMMAND in run.stdout
    assert "Traceback" not in run.stdout
    assert " passed" not in run.stdout


def test_another_missing_module_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match="no such"):
        left_out("claims", ModuleNotFoundError("no such", name="no_such"))
