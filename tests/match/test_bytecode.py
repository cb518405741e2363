"""Byte code of matchers is kept on disk: one file, whole or as none."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from pathlib import Path
from types import CodeType

import pytest

from rewrite_engine.config import config
from rewrite_engine.match import bytecode
from rewrite_engine.match.bytecode import MOST, Kept, file_beside, read, write

SOURCE = "def match(fgraph, node):\n    return node + 1\n"


@pytest.fixture(autouse=True)
def writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte code is written, and nothing is left to be written when the tests end."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(bytecode.atexit, "register", lambda save: None)
    monkeypatch.setattr(config, "keep_matchers", True)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "__pycache__" / "matchers.bin")


def result(code: CodeType) -> object:
    """What the matcher of a code makes of 1."""
    names: dict[str, object] = {}
    exec(code, names)
    return names["match"](None, 1)  # type: ignore[operator]


def kept_in(path: str, source: str = SOURCE) -> None:
    kept = Kept(path)
    kept.code(source, "<rule a>")
    kept.save()


def test_code_is_kept(path: str) -> None:
    first = Kept(path)
    assert result(first.code(SOURCE, "<rule a>")) == 2
    first.save()
    again = Kept(path)
    code = again.code(SOURCE, "<rule a>")
    assert result(code) == 2
    assert code.co_filename == "<rule a>"
    assert not again.new
    assert os.listdir(os.path.dirname(path)) == ["matchers.bin"]


def test_another_text_or_name_is_another_matcher(path: str) -> None:
    kept_in(path)
    again = Kept(path)
    assert result(again.code(SOURCE.replace("1", "2"), "<rule a>")) == 3
    assert again.code(SOURCE, "<rule b>").co_filename == "<rule b>"
    assert len(again.new) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-10],
        lambda data: data[:-10] + bytes(10),
        lambda data: data.replace(b"match", b"hatch"),
        lambda data: b"matchers of another Python\n" + data[len(bytecode.HEAD) :],
        lambda data: data[: len(bytecode.HEAD) + 2],
    ],
)
def test_what_is_damaged_or_of_another_python_is_made_anew(path: str, damage: object) -> None:
    kept_in(path)
    file = Path(path)
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]
    again = Kept(path)
    assert result(again.code(SOURCE, "<rule a>")) == 2
    assert again.new
    again.save()
    assert len(read(path)) == 1


def test_what_others_wrote_meanwhile_stays(path: str) -> None:
    one, other = Kept(path), Kept(path)
    one.code(SOURCE, "<rule a>")
    other.code(SOURCE, "<rule b>")
    one.save()
    other.save()
    assert len(read(path)) == 2


WRITER = """
import sys
from rewrite_engine.match.bytecode import Kept
kept = Kept(sys.argv[1])
for i in range(40):
    kept.code(f"def match(fgraph, node):\\n    return node + {i}\\n", f"<rule {sys.argv[2]}>")
    kept.save()
"""


def test_processes_that_write_at_once_leave_a_whole_file(path: str) -> None:
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", WRITER, path]
    running = [subprocess.Popen([*command, str(i)], env=env) for i in range(4)]
    seen = 0
    while any(p.poll() is None for p in running):
        codes = read(path)
        seen = max(seen, len(codes))
        for key, code in codes.items():
            assert isinstance(marshal.loads(code), CodeType), key
    assert [p.returncode for p in running] == [0] * 4
    assert 40 <= len(read(path)) <= 160
    assert os.listdir(os.path.dirname(path)) == ["matchers.bin"]


def test_the_oldest_go_first(path: str) -> None:
    write(path, {f"<rule {i}>\n": b"" for i in range(MOST)})
    kept_in(path)
    codes = read(path)
    assert len(codes) == MOST
    assert "<rule 0>\n" not in codes
    assert f"<rule a>\n{SOURCE}" in codes


def test_nothing_is_written_where_python_writes_no_byte_code(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept_in(path)
    assert not os.path.exists(path)


def test_it_can_be_switched_off(path: str) -> None:
    kept_in(path)
    os.unlink(path)
    with config.change_flags(keep_matchers=False):
        kept = Kept(path)
        assert result(kept.code(SOURCE, "<rule a>")) == 2
        kept.save()
    assert not kept.new
    assert not os.path.exists(path)


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept_in(str(tmp_path / "file" / "matchers.bin"))
    assert os.listdir(tmp_path) == ["file"]


def test_nothing_is_kept_of_modules_without_byte_code() -> None:
    assert file_beside(None) is None
    assert result(Kept(None).code(SOURCE, "<rule a>")) == 2
    assert file_beside("a/__pycache__/bytecode.cpython-311.opt-1.pyc") == os.path.join(
        "a/__pycache__", "matchers.cpython-311.opt-1.bin"
    )


def test_text_that_is_no_python_is_an_error_each_time(path: str) -> None:
    kept = Kept(path)
    for _ in range(2):
        with pytest.raises(SyntaxError):
            kept.code("def match(:", "<rule a>")
    assert not kept.new
