"""`explain --suggest`, and `Report.suggestions`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import InputError
from rewrite_engine.explain import Report, explain

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import numpy as np
import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.graph.op import Op
from rewrite_engine.tensor.type import TensorType


class Cascade(Op):
    __props__ = ()
    itypes = otypes = (TensorType("float64", (None,)),)

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = -np.expm1(-np.exp(inputs[0]))


x = pt.vector("x")
rate = Cascade()(x)
gap = pt.expm1(-pt.exp(2 * x))
rw.function([x], [rate, gap], name="rates")
rw.function([x], pt.log(1 + pt.exp(x)), name="mended")
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def command(*arguments: Any) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "rewrite_engine.explain", "--suggest", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)


def test_text(script: Path) -> None:
    done = command("--seconds", 10, script)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split("\n\nmended: ")
    assert first.startswith("rates: 1 suggestion\n\n1.  ")
    assert f"{script}:19: pt.expm1(-pt.exp(a))\n    write  -Cascade()(a)" in first
    assert "where  a = 2.0 * x" in first
    assert "Nothing is applied." in first
    assert second.startswith("nothing to suggest\n")


def test_files(script: Path, tmp_path: Path) -> None:
    page, lines, text = [tmp_path / name for name in ("page.html", "lines", "text")]
    done = command("--seconds", 4, "--html", page, "--json", lines, "-o", text, script)
    assert done.returncode == 0, done.stderr
    assert not done.stdout
    found = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [one["name"] for one in found] == ["rates", "mended"]
    assert found[0]["kind"] == "suggestions"
    assert found[0]["found"][0]["write"] == "-Cascade()(a)"
    assert "-Cascade()(a)" in page.read_text()
    assert text.read_text().startswith("rates: 1 suggestion")


def test_bad_input(script: Path, tmp_path: Path) -> None:
    done = command("--seconds", 0, script)
    assert (done.returncode, done.stdout) == (2, "")
    assert "seconds must be a positive number, not 0.0" in done.stderr
    empty = tmp_path / "empty.py"
    empty.write_text("1 + 1\n")
    assert command(empty).stdout == "no function was compiled\n"


def test_in_a_program() -> None:
    x = pt.vector("x")
    ((f, found),) = explain(pt.log(1 + pt.exp(x)), name="f").suggestions(seconds=3)
    assert f.name == "f"
    assert not found.found
    assert found.looked_at == found.subterms
    saved = Report.read(str(Path(__file__).parent / "reports" / "first.json"))
    with pytest.raises(InputError, match="saved report"):
        saved.suggestions()


def test_discover_is_loaded_when_it_is_used() -> None:
    code = (
        "import sys, rewrite_engine.explain.__main__; "
        "assert not [name for name in sys.modules if name.startswith('rewrite_engine.discover')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
