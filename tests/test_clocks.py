"""No test reads a clock: it would fail on a busy machine. Work is counted (`tests/growth.py`), and
times belong to `benchmarks/`.
"""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).parent
CLOCKS = frozenset(
    name + end
    for name in ("perf_counter", "process_time", "monotonic", "thread_time", "time")
    for end in ("", "_ns")
)
#: reports to a person how long programs take, and asserts nothing
REPORTS = {"compat/pymc/run.py"}


def clocks_in(text: str) -> set[str]:
    """The clocks that a program imports, or takes from `time`."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module in ("time", "timeit"):
            found |= {one.name for one in node.names if one.name in CLOCKS or node.module[4:]}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "time" and node.attr in CLOCKS:
                found.add(node.attr)
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names if one.name == "timeit"}
    return found


def test_clocks_are_seen() -> None:
    assert clocks_in("import time\nstart = time.perf_counter()") == {"perf_counter"}
    assert clocks_in("from time import process_time, sleep") == {"process_time"}
    assert clocks_in("import timeit") == {"timeit"}
    assert clocks_in("from time import sleep\nsleep(1)\nx.seconds") == set()


def test_no_test_reads_a_clock() -> None:
    found = {str(f.relative_to(FOLDER)): clocks_in(f.read_text()) for f in FOLDER.rglob("*.py")}
    assert len(found) > 300
    assert {name for name, clocks in found.items() if clocks} == REPORTS
