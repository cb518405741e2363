"""Modules are kept by text, version and compiler; processes do not disturb each other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.c import c_function, cache
from rewrite_engine.link.c.compiler import compile_module, identity
from rewrite_engine.link.c.source import CSource, asked
from tests.link.c.ops import Same

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
    cache._loaded.clear()
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

    monkeypatch.setattr(cache, "compile_module", counted)
    config.compiledir = tmp_path / "modules"
    return found


def kept() -> list[Path]:
    return sorted(config.compiledir.iterdir()) if config.compiledir.exists() else []


def test_the_module_of_another_text_is_compiled_anew(compiled: list[str]) -> None:
    """As where folders were copied."""
    value_of(Filled(3))
    (one,) = kept()
    value_of(Filled(4))
    (two,) = set(kept()) - {one}
    for name in ("node.so", "sum", "node.cpp"):
        (one / name).unlink()  # (it is loaded)
        (one / name).write_bytes((two / name).read_bytes())
    assert value_of(Filled(3)) == 3
    assert len(compiled) == 3


def test_what_is_compiled_is_kept(compiled: list[str]) -> None:
    assert [value_of(Filled(3)), value_of(Filled(3))] == [3, 3]
    assert len(compiled) == 1
    (folder,) = kept()
    assert sorted(one.name for one in folder.iterdir()) == ["node.cpp", "node.so", "sum"]
    assert value_of(Filled(4)) == 4  # another text
    assert value_of(Filled(3, (2,))) == 3  # another version
    assert (len(compiled), len(kept())) == (3, 3)
    with config.change_flags(gcc__cxxflags="-DOTHER"):
        assert value_of(Filled(3)) == 3  # another compiler
    assert (len(compiled), len(kept())) == (4, 4)


def test_in_one_process_a_text_is_compiled_once(compiled: list[str]) -> None:
    cache._loaded.clear()
    for _ in range(3):
        assert c_function(node_of(Filled(5))) is not None
        assert c_function(node_of(Filled(5, ()))) is not None
    assert len(compiled) == 2


def test_without_a_version_nothing_is_kept(compiled: list[str]) -> None:
    assert [value_of(Filled(3, ())), value_of(Filled(3, ()))] == [3, 3]
    assert (len(compiled), kept()) == (2, [])


@pytest.mark.parametrize("damage", ["node.so", "sum"])
def test_what_is_damaged_is_made_again(compiled: list[str], damage: str) -> None:
    assert value_of(Filled(6)) == 6
    (folder,) = kept()
    file = folder / damage
    file.unlink()  # (the module of this process is in the file)
    file.write_bytes(b"\xff nothing")
    assert value_of(Filled(6)) == 6
    assert len(compiled) == 2
    assert kept() == [folder]
    assert value_of(Filled(6)) == 6
    assert len(compiled) == 2


def test_a_folder_that_cannot_be_written(compiled: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    config.compiledir = tmp_path / "file" / "modules"
    assert value_of(Filled(7)) == 7
    assert len(compiled) == 1


def test_the_oldest_go(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST", 1)
    assert [value_of(Filled(8)), value_of(Filled(9))] == [8, 9]
    assert len(kept()) == 1
    assert value_of(Filled(9)) == 9
    assert len(compiled) == 2


def test_who_comes_second_uses_what_is_there(compiled: list[str]) -> None:
    assert value_of(Filled(10)) == 10
    (place,) = kept()
    own = place.parent / "new.mine"
    own.mkdir()
    (own / "node.so").write_bytes(b"another")
    assert cache.put(own, place) == place
    assert value_of(Filled(10)) == 10
    assert len(compiled) == 1


def test_a_module_for_this_processor_is_for_no_other() -> None:
    found = asked(node_of(Filled(11)))
    assert isinstance(found, CSource)
    with config.change_flags(gcc__cxxflags="-march=native"):
        assert len(identity(found)) > 0
        assert identity(found)[-1] != np.__version__
    assert identity(found)[-1] == np.__version__


PROGRAM = """
import numpy as np
from rewrite_engine.config import config
from rewrite_engine.link.c import c_function
from tests.link.c.test_cache import Filled, node_of
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
    assert len(list(tmp_path.iterdir())) == 2
    assert all(cache.is_whole(folder) for folder in tmp_path.iterdir())
