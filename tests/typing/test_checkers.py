"""What type checkers say of programs that use the library: mypy, and pyright where it is installed
(as `pyright`, or as `basedpyright` from the extra `test`).
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rewrite_engine import language
from rewrite_engine.match.pattern import Sort

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAMS = ("user_program.py", "rule_pack.py")
SORTS = [name for name in language.__all__ if isinstance(getattr(language, name), Sort)]

Errors = dict[str, dict[int, set[str]]]  # {file: {line: codes}}


def pack_of_all_sorts() -> str:
    """A pack with a rule for each sort, used as an annotation."""
    lines = ["import rewrite_engine.tensor as pt", "from rewrite_engine.language import *"]
    for name in SORTS:
        lines += [f"@rule\ndef of_{name}(x: {name}) -> Body:", "    return pt.exp(x) >> pt.exp(x)"]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all programs; one of them made here."""
    folder = tmp_path_factory.mktemp("programs")
    for name in (*PROGRAMS, "mistakes.py", "pyrightconfig.json"):
        shutil.copy(HERE / name, folder)
    (folder / "sorts.py").write_text(pack_of_all_sorts(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def mypy(programs: Path) -> Errors:
    """What mypy says in its strictest setting. Of the library, as if it were installed: nothing."""
    options = (
        "--strict --follow-imports=silent --no-error-summary --show-error-codes --config-file="
    )
    files = sorted(map(str, programs.glob("*.py")))
    command = [sys.executable, "-m", "mypy", *options.split(), *files]
    environment = {"MYPYPATH": str(ROOT), "PATH": ""}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    found: Errors = {}
    for line in run.stdout.splitlines():
        match = re.fullmatch(r"(.*):(\d+): error: .*\[([\w-]+)\]", line)
        assert match or ": note: " in line, line + run.stderr
        if match:
            lines = found.setdefault(Path(match[1]).name, {})
            lines.setdefault(int(match[2]), set()).add(match[3])
    return found


def checker() -> str | None:
    """The command of pyright, or of a package that has all it needs."""
    beside = Path(sys.executable).parent / "basedpyright"
    return shutil.which("pyright") or shutil.which(str(beside)) or shutil.which("basedpyright")


@pytest.fixture(scope="module")
def pyright(programs: Path) -> Errors:
    """What pyright says in its strict setting."""
    command = checker()
    if command is None:
        pytest.skip("neither pyright nor basedpyright is installed")
    config = json.loads((programs / "pyrightconfig.json").read_text())
    config |= {"extraPaths": [str(ROOT)], "include": ["."]}
    (programs / "pyrightconfig.json").write_text(json.dumps(config))
    options = ["--outputjson", "-p", str(programs), "--pythonpath", sys.executable]
    run = subprocess.run([command, *options], capture_output=True, text=True)
    report = json.loads(run.stdout)
    assert report["summary"]["filesAnalyzed"] >= 4, run.stdout + run.stderr
    found: Errors = {}
    for one in report["generalDiagnostics"]:
        if one["severity"] == "error":
            lines = found.setdefault(Path(one["file"]).name, {})
            lines.setdefault(one["range"]["start"]["line"] + 1, set()).add(one.get("rule", ""))
    return found


def expected() -> dict[int, str]:
    """The lines of mistakes, and the code of mypy that is expected there."""
    lines = (HERE / "mistakes.py").read_text(encoding="utf-8").splitlines()
    marked = [(i, line.partition("# expect: ")[2]) for i, line in enumerate(lines, 1)]
    return {i: code for i, code in marked if code and "`" not in code}


def test_mypy_passes_correct_programs(mypy: Errors) -> None:
    assert {name: found for name, found in mypy.items() if name != "mistakes.py"} == {}


def test_mypy_finds_each_mistake_on_its_line(mypy: Errors) -> None:
    found = mypy["mistakes.py"]
    assert found.keys() == expected().keys()
    assert {i: code for i, code in expected().items() if code not in found[i]} == {}
    assert len(found) >= 8


def test_pyright_passes_correct_programs(pyright: Errors) -> None:
    assert {name: found for name, found in pyright.items() if name != "mistakes.py"} == {}


def test_pyright_finds_each_mistake_on_its_line(pyright: Errors) -> None:
    assert pyright["mistakes.py"].keys() == expected().keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_run(name: str) -> None:
    run = subprocess.run([sys.executable, str(HERE / name)], capture_output=True, cwd=ROOT,
                         env={"PYTHONPATH": str(ROOT), "PATH": ""}, text=True)  # fmt: skip
    assert run.returncode == 0, run.stderr


def test_there_is_a_program_for_each_sort() -> None:
    assert {"Float", "Matrix", "Const", "Prop", "Rest"} <= {*SORTS}
    assert importlib.util.find_spec("mypy") is not None
