"""Modules are cached by text, version and compiler (`tests/test_disk.py` tests the files)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.disk import UnsafeFolderWarning, read
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.c import c_function, module
from rewrite_engine.link.c.compiler import compile_module, identity
from rewrite_engine.link.c.source import CSource, c_source_of
from tests.link.c.ops import Same
from tests.test_disk import on_posix

ROOT = Path(__file__).resolve().parents[3]


class Filled(Same):
    """A vector like the first, full of a number. version: of its code."""

    __props__ = ("number", "version")

    def __init__(self, number: int, version: tuple[Any, ...] = (1,)) -> None:
        self.number, self.version = number, version

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (x,), (z,) = inputs, outputs
        return f"""Py_XDECREF({z});
        {z} = (PyArrayObject*)PyArray_ZEROS(1, PyArray_DIMS({x}), PyArray_TYPE({x}), 0);
        if ({z} == NULL || PyArray_FillWithScalar({z}, the_number()) != 0) {sub["fail"]}"""

    def c_support_code(self, **kwargs: Any) -> str:
        return f"PyObject* the_number() {{ return PyLong_FromLong({self.number}); }}"

    def c_code_cache_version(self) -> tuple[Any, ...]:
        return self.version


def node_of(op: Any) -> Apply:
    node: Apply = op(pt.dvector("x")).owner
    return node


def value_of(op: Any) -> float:
    """What a new process would compute."""
    module._loaded.clear()
    run = c_function(node_of(op))
    assert run is not None
    return float(run(np.zeros(1))[0])


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The texts that are compiled from here on, into an empty folder."""
    found: list[str] = []

    def counted(source: CSource, folder: Path) -> Path:
        found.append(source.text)
        return compile_module(source, folder)

    monkeypatch.setattr(module, "compile_module", counted)
    config.compiledir = tmp_path
    return found


def cached() -> list[Path]:
    return sorted((config.compiledir / "c").glob("*"))


def test_what_is_compiled_is_cached(compiled: list[str]) -> None:
    assert [value_of(Filled(3)), value_of(Filled(3))] == [3, 3]
    assert len(compiled) == 1
    (file,) = cached()
    assert file.suffix == ".so"
    assert value_of(Filled(4)) == 4  # another text
    assert value_of(Filled(3, (2,))) == 3  # another version
    assert (len(compiled), len(cached())) == (3, 3)
    with config.change_flags(gcc__cxxflags="-DOTHER"):
        assert value_of(Filled(3)) == 3  # another compiler
    assert (len(compiled), len(cached())) == (4, 4)


def test_in_one_process_a_text_is_compiled_once(compiled: list[str]) -> None:
    module._loaded.clear()
    for _ in range(3):
        assert c_function(node_of(Filled(5))) is not None
        assert c_function(node_of(Filled(5, ()))) is not None
    assert len(compiled) == 2


def test_without_a_version_nothing_is_cached(compiled: list[str]) -> None:
    assert [value_of(Filled(3, ())), value_of(Filled(3, ()))] == [3, 3]
    assert (len(compiled), cached()) == (2, [])


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"", None])
def test_what_is_damaged_is_compiled_again(compiled: list[str], damage: Any) -> None:
    """None: it is whole, but cannot be loaded."""
    assert value_of(Filled(6)) == 6
    (file,) = cached()
    data = file.read_bytes()
    file.unlink()  # (the module of this process may be in the file)
    if damage is None:
        module.disk.write(str(file), b"not a module")
    else:
        file.write_bytes(damage(data))
    assert value_of(Filled(6)) == 6
    assert len(compiled) == 2
    assert cached() == [file]
    assert value_of(Filled(6)) == 6
    assert len(compiled) == 2


def test_a_folder_that_cannot_be_written(compiled: list[str], tmp_path: Path) -> None:
    (tmp_path / "c").write_text("")
    assert value_of(Filled(7)) == 7
    assert len(compiled) == 1


@on_posix
def test_modules_that_others_may_change_are_not_loaded(compiled: list[str], tmp_path: Path) -> None:
    assert value_of(Filled(8)) == 8
    (tmp_path / "c").chmod(0o777)
    with pytest.warns(UnsafeFolderWarning, match=f"{tmp_path}.*chmod go-w"):
        assert value_of(Filled(8)) == 8
    assert value_of(Filled(8)) == 8
    assert len(compiled) == 3


def test_a_module_for_this_processor_is_for_no_other() -> None:
    found = c_source_of(node_of(Filled(11)))
    assert isinstance(found, CSource)
    with config.change_flags(gcc__cxxflags="-march=native"):
        assert len(identity(found)) > 0
        assert identity(found)[-1] != np.__version__
    assert identity(found)[-1] == np.__version__


PROGRAM = """
import numpy as np
from rewrite_engine.config import config
from rewrite_engine.link.c import c_function
from tests.link.c.test_module import Filled, node_of
config.compiledir = {folder!r}
for number in (21, 22):
    print(int(c_function(node_of(Filled(number)))(np.zeros(1))[0]))
"""


def test_processes_at_once(tmp_path: Path) -> None:
    program = PROGRAM.format(folder=str(tmp_path))
    command = [sys.executable, "-c", program]
    running = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    assert [process.communicate()[0] for process in running] == ["21\n22\n"] * 4
    assert [process.returncode for process in running] == [0] * 4
    files = list((tmp_path / "c").iterdir())
    assert len(files) == 2
    assert all(read(str(file)) for file in files)
