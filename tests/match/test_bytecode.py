"""Byte code of matchers is cached on disk: one file (`tests/test_disk.py` tests the files)."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from rewrite_engine.config import config
from rewrite_engine.disk import UnsafeFolderWarning
from rewrite_engine.match import bytecode
from rewrite_engine.match.bytecode import MAX_MATCHERS, MatcherCache
from tests.test_disk import on_posix

SOURCE = "def match(fgraph, node):\n    return node + 1\n"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Byte code is written, and nothing is left to be written when the tests end."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(bytecode.atexit, "register", lambda save: None)
    with config.change_flags(keep_matchers=True, compiledir=tmp_path):
        yield tmp_path / "matchers"


def result(code: CodeType) -> object:
    """Return the result of the matcher of a code for 1."""
    names: dict[str, object] = {}
    exec(code, names)
    return names["match"](None, 1)  # type: ignore[operator]


def save_one(source: str = SOURCE) -> None:
    matchers = MatcherCache()
    matchers.code(source, "<rule a>")
    matchers.save()


def test_code_is_cached(folder: Path) -> None:
    first = MatcherCache()
    assert result(first.code(SOURCE, "<rule a>")) == 2
    first.save()
    again = MatcherCache()
    code = again.code(SOURCE, "<rule a>")
    assert result(code) == 2
    assert code.co_filename == "<rule a>"
    assert not again.new
    assert len(list(folder.iterdir())) == 1


def test_another_text_or_name_is_another_matcher() -> None:
    save_one()
    again = MatcherCache()
    assert result(again.code(SOURCE.replace("1", "2"), "<rule a>")) == 3
    assert again.code(SOURCE, "<rule b>").co_filename == "<rule b>"
    assert len(again.new) == 2


def test_a_damaged_file_is_made_again(folder: Path) -> None:
    save_one()
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes().replace(b"match", b"hatch"))
    again = MatcherCache()
    assert result(again.code(SOURCE, "<rule a>")) == 2
    assert again.new
    again.save()
    assert len(MatcherCache().known) == 1


def test_another_python_has_another_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_one()
    monkeypatch.setattr(bytecode, "VERSION", ("another Python", "0"))
    assert MatcherCache().known == {}
    save_one()
    assert len(list(folder.iterdir())) == 2


def test_what_others_wrote_meanwhile_stays() -> None:
    one, other = MatcherCache(), MatcherCache()
    one.code(SOURCE, "<rule a>")
    other.code(SOURCE, "<rule b>")
    one.save()
    other.save()
    assert len(MatcherCache().known) == 2


WRITER = """
import sys
from rewrite_engine.config import config
from rewrite_engine.match.bytecode import MatcherCache
config.compiledir = sys.argv[1]
matchers = MatcherCache()
for i in range(40):
    matchers.code(f"def match(fgraph, node):\\n    return node + {i}\\n", f"<rule {sys.argv[2]}>")
    matchers.save()
"""


def test_processes_that_write_at_once_leave_a_whole_file(folder: Path) -> None:
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", WRITER, str(folder.parent)]
    running = [subprocess.Popen([*command, str(i)], env=env) for i in range(4)]
    while any(p.poll() is None for p in running):
        for key, code in MatcherCache().known.items():
            assert isinstance(marshal.loads(code), CodeType), key
    assert [p.returncode for p in running] == [0] * 4
    assert 40 <= len(MatcherCache().known) <= 160
    assert len(list(folder.iterdir())) == 1


def test_the_oldest_are_removed_first() -> None:
    matchers = MatcherCache()
    matchers.new = {f"<rule {i}>\n": b"" for i in range(MAX_MATCHERS)}
    matchers.save()
    save_one()
    codes = MatcherCache().known
    assert len(codes) == MAX_MATCHERS
    assert "<rule 0>\n" not in codes
    assert f"<rule a>\n{SOURCE}" in codes


def test_nothing_is_written_where_python_writes_no_byte_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    save_one()
    assert not folder.exists()


def test_it_can_be_switched_off(folder: Path) -> None:
    save_one()
    (file,) = folder.iterdir()
    file.unlink()
    with config.change_flags(keep_matchers=False):
        matchers = MatcherCache()
        assert result(matchers.code(SOURCE, "<rule a>")) == 2
        matchers.save()
    assert not matchers.new
    assert not file.exists()


@on_posix
def test_code_that_others_may_change_does_not_run(folder: Path) -> None:
    """A file of byte code can do anything."""
    matchers = MatcherCache()
    evil = compile("raise SystemExit", "<rule a>", "exec")
    matchers.new[f"<rule a>\n{SOURCE}"] = marshal.dumps(evil)
    matchers.save()
    folder.chmod(0o777)
    again = MatcherCache()
    with pytest.warns(UnsafeFolderWarning, match=f"{folder}.*chmod go-w"):
        assert result(again.code(SOURCE, "<rule a>")) == 2
    (file,) = folder.iterdir()
    before = file.read_bytes()
    again.save()
    assert file.read_bytes() == before


def test_text_that_is_no_python_is_an_error_each_time() -> None:
    matchers = MatcherCache()
    for _ in range(2):
        with pytest.raises(SyntaxError):
            matchers.code("def match(:", "<rule a>")
    assert not matchers.new
