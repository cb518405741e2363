"""Where llvmlite is not installed, native code is a clear error, and nothing else changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import rewrite_engine as rw
import rewrite_engine.tensor as pt
assert "rewrite_engine.link.native" not in sys.modules
sys.modules["llvmlite"] = sys.modules["llvmlite.binding"] = None
rw.config.linker = "auto"
assert rw.Mode().linker == "vm"
x = pt.dvector("x")
assert rw.function([x], x * 2)([1.0]).tolist() == [2.0]
try:
    rw.function([x], x * 2, mode="native")
except rw.errors.NoCompilerError as error:
    assert "rewrite-engine[native]" in str(error)
else:
    raise AssertionError
from rewrite_engine.compile.debug import DebugMode
f = rw.function([x], pt.exp(x), mode=DebugMode())
assert f([0.0]).tolist() == [1.0]
print("good")
"""


def test_it_is_an_error_only_where_it_is_asked_for() -> None:
    root = Path(__file__).resolve().parents[3]
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=root,
                         check=False)  # fmt: skip
    assert run.stdout.strip() == "good", run.stderr
