"""`save` and `load`: what comes back, and clear errors where it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile.saving import read_header
from rewrite_engine.errors import LoadError, SaveError

ROOT = Path(__file__).resolve().parents[2]
x = pt.vector("x")


def test_a_function_comes_back(tmp_path: Path) -> None:
    w = rw.shared(np.array([1.0, 2.0]), name="w")
    f = rw.function([x], pt.exp(x * w).sum(), name="total")
    rw.save(f, tmp_path / "f.rw")
    again = rw.load(str(tmp_path / "f.rw"))
    np.testing.assert_array_equal(again([0.5, 1.0]), f([0.5, 1.0]))
    header = read_header(tmp_path / "f.rw")
    assert (header.functions, header.format, header.needs) == (("total",), 1, {})


def test_functions_that_share_a_variable_still_do(tmp_path: Path) -> None:
    w = rw.shared(1.0, name="w")
    both = {"step": rw.function([], w, updates={w: w * 2}), "read": rw.function([], w)}
    rw.save(both, tmp_path / "f.rw")
    again = rw.load(tmp_path / "f.rw")
    again["step"]()
    assert (float(again["read"]()), float(both["read"]())) == (2.0, 1.0)
    assert [type(again), len(rw_list(tmp_path, list(both.values())))] == [dict, 2]


def rw_list(tmp_path: Path, functions: Any) -> Any:
    rw.save(functions, tmp_path / "list.rw")
    return rw.load(tmp_path / "list.rw")


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rw.save(rw.function([x], x + 1), tmp_path / "f.rw")
    before = (tmp_path / "f.rw").read_bytes()

    def fails(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(KeyboardInterrupt):
        rw.save(rw.function([x], x + 2), tmp_path / "f.rw")
    assert (tmp_path / "f.rw").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["f.rw"]


@pytest.mark.parametrize("given", [3, x, [], [x], {}])
def test_other_things_are_not_saved(given: Any, tmp_path: Path) -> None:
    with pytest.raises(SaveError, match="takes compiled functions"):
        rw.save(given, tmp_path / "f.rw")
    assert not list(tmp_path.iterdir())


def test_an_op_of_a_lambda_is_named(tmp_path: Path) -> None:
    op = rw.as_op([pt.dvector], [pt.dvector])(lambda a: a + 1)
    f = rw.function([x], op(x), name="mine")
    with pytest.raises(SaveError, match=r"mine cannot be saved.*a function defined in a module"):
        rw.save(f, tmp_path / "f.rw")


def test_what_a_script_defines_is_refused(tmp_path: Path) -> None:
    code = (
        MODULE
        + """
x = pt.dvector("x")
f = rw.function([x], twice(x), name="mine")
try:
    rw.save(f, "f.rw")
except rw.errors.SaveError as error:
    print(error)
"""
    )
    assert run(code, tmp_path).strip() == (
        "mine cannot be saved: these names are defined in the module __main__, which other "
        "programs cannot import; define them in a module: twice"
    )
    assert not (tmp_path / "f.rw").exists()


def test_an_error_of_the_disk_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a_file").touch()
    f = rw.function([x], x + 1)
    cases = {
        "none/f.rw": FileNotFoundError,
        "a_file/f.rw": NotADirectoryError,
        "folder": IsADirectoryError,
    }
    for name, kind in cases.items():
        with pytest.raises(kind) as info:
            rw.save(f, tmp_path / name)
        assert info.value.filename == str(tmp_path / name)
        assert str(info.value).endswith(f": {str(tmp_path / name)!r}")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a_file", "folder"]


def changed(path: Path, **fields: Any) -> Path:
    line, content = path.read_bytes().split(b"\n", 1)
    path.write_bytes(json.dumps({**json.loads(line), **fields}).encode() + b"\n" + content)
    return path


def test_what_cannot_be_loaded_says_why_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "f.rw"
    rw.save(rw.function([x], x + 1), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(LoadError, match="is damaged"):
        rw.load(path)
    path.write_bytes(whole)
    changed(path, format=99, version="9.0")
    with pytest.raises(LoadError, match=r"saved by rewrite_engine 9\.0 in format 99; .* up to"):
        rw.load(path)
    changed(path, format=1, needs={"my_models.ops": ["Huber"]})
    with pytest.raises(LoadError, match=r"not installed here: my_models\.ops \(Huber\)"):
        rw.load(path)
    for other in (b"", b"[1]\n", b"\x80\x05", b"{}\n"):
        path.write_bytes(other)
        with pytest.raises(LoadError, match=r"was not written by rewrite_engine\.save"):
            rw.load(path)
    with pytest.raises(FileNotFoundError):
        rw.load(tmp_path / "none.rw")


MODULE = """
import rewrite_engine as rw, rewrite_engine.tensor as pt
@rw.as_op([pt.dvector], [pt.dvector])
def twice(a):
    return a * 2
"""


def run(code: str, folder: Path) -> str:
    """What a program prints that is run in a folder, with the library to be imported."""
    head = f"import sys; sys.path[:0] = [{str(ROOT)!r}]\n"
    done = subprocess.run([sys.executable, "-c", head + code], cwd=folder, capture_output=True,
                          text=True, check=False)  # fmt: skip
    return done.stdout + done.stderr


def test_modules_of_ops_are_named(tmp_path: Path) -> None:
    (tmp_path / "ops_of_mine.py").write_text(MODULE)
    code = """if True:
        sys.path.insert(0, "")
        import rewrite_engine as rw, rewrite_engine.tensor as pt
        from ops_of_mine import twice
        x = pt.dvector("x")
        rw.save(rw.function([x], twice(x)), "f.rw")
    """
    assert run(code, tmp_path) == ""
    assert set(read_header(tmp_path / "f.rw").needs) == {"ops_of_mine"}
    load = "import rewrite_engine as rw; print(rw.load('f.rw')([1.0, 2.0]))"
    assert "[2. 4.]" in run("sys.path.insert(0, '')\n" + load, tmp_path)
    (tmp_path / "ops_of_mine.py").unlink()
    assert "LoadError: f.rw needs modules that are not installed here: ops_of_mine (" in run(
        "sys.path.insert(0, '')\n" + load, tmp_path
    )
    (tmp_path / "ops_of_mine.py").write_text("")
    assert "LoadError: f.rw cannot be loaded: AttributeError" in run(
        "sys.path.insert(0, '')\n" + load, tmp_path
    )


def test_it_loads_where_llvmlite_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REWRITE_ENGINE_FLAGS", raising=False)  # (the tests may run on native code)
    with rw.config.change_flags(linker="auto"):
        rw.save(rw.function([x], pt.tanh(x).sum()), tmp_path / "f.rw")
    code = """if True:
        sys.modules["llvmlite"] = sys.modules["llvmlite.binding"] = None
        import rewrite_engine as rw
        f = rw.load("f.rw")
        print(f.mode.linker, f([0.0]))
    """
    assert run(code, tmp_path).strip() == "vm 0.0"
