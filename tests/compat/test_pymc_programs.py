"""The programs in `tests/compat/pymc/`, written as PyMC's users write them, run over this library.
Each holds values against SciPy, differences and moments itself; over PyTensor, `python run.py` does
the same.
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "pymc"
RUN = FOLDER / "run.py"
#: modules of programs that are run by one process
GROUPS = [
    ["choices", "looks", "mixtures"],
    ["fields", "series"],
    ["own", "recurrences"],
    ["regressions", "surgery"],
    ["samplers"],
]


def names() -> list[str]:
    """The functions of the modules, by their sources: what runs them needs PyMC."""
    found = []
    for path in sorted(FOLDER.glob("*.py")):
        if path.stem not in ("run", "checks"):
            lines = path.read_text(encoding="utf-8").splitlines()
            own = [line[4 : line.index("(")] for line in lines if line.startswith("def ")]
            found += [f"{path.stem}.{name}" for name in own if not name.startswith("_")]
    return found


PROGRAMS = names()


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What is said of the programs that have been run: {name: the line}."""
    return {}


def run(modules: list[str]) -> dict[str, Any]:
    """Run the programs of modules."""
    command = [sys.executable, "-m", "rewrite_engine.compat", str(RUN), *modules]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [json.loads(s) for s in done.stdout.splitlines() if s.startswith("{")]
    assert lines, done.stderr
    return {line["name"]: line for line in lines}


def test_each_program_is_run_by_one_process() -> None:
    modules = {name.partition(".")[0] for name in PROGRAMS}
    assert sorted(modules) == sorted([module for group in GROUPS for module in group])
    assert len(PROGRAMS) >= 60


@pytest.mark.skipif(
    find_spec("pymc") is None, reason='PyMC is not installed: pip install "rewrite-engine[pymc]"'
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, told: dict[str, Any]) -> None:
    if name not in told:
        module = name.partition(".")[0]
        told |= run(next(group for group in GROUPS if module in group))
    assert told[name]["ok"], told[name]
