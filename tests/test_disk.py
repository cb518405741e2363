"""Compiled code on disk: whole files, found by their key, that nobody else can change."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewrite_engine import disk
from rewrite_engine.config import config
from rewrite_engine.disk import DiskCache, UnsafeFolderWarning, prune, read

ROOT = Path(__file__).resolve().parent.parent
KEY, OTHER = ("a text", "version 1"), ("another text", "version 1")
on_posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such rights")
as_root = pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() != 0, reason="only root can give a file away"
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DiskCache]:
    """A cache in `tmp_path`/shared/code."""
    monkeypatch.setattr(disk, "_warned", set())
    with config.change_flags(compiledir=tmp_path / "shared"):
        yield DiskCache("code", ".bin")


def content(cache: DiskCache, key: tuple[str, ...] = KEY) -> tuple[bytes, bool]:
    """Return the content of a key, and whether it was made for this call."""
    made: list[bytes] = []

    def make() -> bytes:
        made.append(("of " + key[0]).encode())
        return made[0]

    return cache.get(key, make), bool(made)


def files(cache: DiskCache) -> list[Path]:
    folder = cache.folder()
    assert folder is not None
    return sorted(Path(folder).iterdir())


def test_content_is_made_once(cache: DiskCache) -> None:
    assert content(cache) == (b"of a text", True)
    assert content(cache) == (b"of a text", False)
    assert content(DiskCache("code", ".bin")) == (b"of a text", False)
    (file,) = files(cache)
    assert file.suffix == ".bin"
    assert file.parent.parent.name == "shared"


def test_another_key_or_cache_is_another_file(cache: DiskCache) -> None:
    content(cache)
    assert content(cache, OTHER) == (b"of another text", True)
    assert content(cache, (KEY[0], "version 2"))[1]
    assert content(cache, ("a text\0version", " 1"))[1]
    assert len(files(cache)) == 4
    assert content(DiskCache("more"))[1]


@pytest.mark.parametrize(
    "damage",
    [lambda d: d[:-1], lambda d: b"x" + d[1:], lambda d: d + b"x", lambda d: b"",
     lambda d: d[: len(d) // 2] + bytes(len(d) - len(d) // 2)],
)  # fmt: skip
def test_a_damaged_file_is_made_again(cache: DiskCache, damage: Any) -> None:
    content(cache)
    (file,) = files(cache)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert content(cache) == (b"of a text", True)
    assert file.read_bytes() == whole
    assert content(cache) == (b"of a text", False)


def test_the_content_of_another_key_is_made_again(cache: DiskCache) -> None:
    """Files were copied, or a disk mixed them up."""
    content(cache)
    content(cache, OTHER)
    one, two = files(cache)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert content(cache) == (b"of a text", True)
    assert content(cache, OTHER) == (b"of another text", True)
    assert (one.read_bytes(), two.read_bytes()) == (first, second)


# --- how much is kept -------------------------------------------------------------------------


def test_the_least_recently_used_files_are_removed(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    for k in range(6):
        content(cache, (f"text {k}",))
        os.utime(str(cache.path(f"text {k}")), (k + 1, k + 1))
    size = files(cache)[0].stat().st_size
    assert not content(cache, ("text 1",))[1]  # its time is renewed
    monkeypatch.setattr(disk, "MAX_BYTES", 3 * size)
    prune(str(cache.folder()))
    assert {str(f) for f in files(cache)} == {cache.path(f"text {k}") for k in (1, 4, 5)}


def test_pruning_is_part_of_writing(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "MAX_BYTES", 500)
    for k in range(2 * disk.WRITES_PER_PRUNE + 1):
        content(cache, (str(k),))
    assert sum(f.stat().st_size for f in files(cache)) <= 500


def test_unfinished_files_are_removed_when_they_are_old(cache: DiskCache) -> None:
    content(cache)
    (file,) = files(cache)
    old, new = [Path(f"{file}.{k}{disk.UNFINISHED}") for k in range(2)]
    for one in (old, new):
        one.write_bytes(b"half")
    os.utime(old, (1, 1))
    prune(str(cache.folder()))
    assert files(cache) == [file, new]


# --- disks that do not help -------------------------------------------------------------------


def test_a_folder_that_cannot_be_made(cache: DiskCache, tmp_path: Path) -> None:
    (tmp_path / "shared").write_text("a file")
    assert content(cache) == content(cache) == (b"of a text", True)


@on_posix
@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(cache: DiskCache) -> None:
    content(cache)
    folder = files(cache)[0].parent
    folder.chmod(0o500)
    try:
        assert content(cache) == (b"of a text", False)
        assert content(cache, OTHER) == content(cache, OTHER) == (b"of another text", True)
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("step", ["open", "replace", "mkdir"])
def test_a_disk_that_is_full_or_cannot_be_written(
    cache: DiskCache, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.os, step, fail)
    assert content(cache) == content(cache) == (b"of a text", True)
    monkeypatch.undo()
    assert not os.path.exists(str(cache.folder())) or files(cache) == []


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(disk.os.path, "expanduser", lambda path: path)
    with config.change_flags(compiledir=""):
        assert DiskCache("code").folder() is None
        assert content(DiskCache("code"))[1]


def test_the_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with config.change_flags(compiledir=""):
        content(DiskCache("code"))
    assert len(list((tmp_path / "rewrite_engine" / "code").iterdir())) == 1


# --- who may change it ------------------------------------------------------------------------


def refused(cache: DiskCache, path: Path, remedy: str) -> None:
    """Check that content in the folder is not used, and that this is said once."""
    folder = str(cache.folder())
    before = {file: file.read_bytes() for file in files(cache)}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert [content(cache)[1] for _ in range(3)] == [True] * 3
        assert content(cache, OTHER)[1]
    assert [one.category for one in found] == [UnsafeFolderWarning]
    text = str(found[0].message)
    assert folder in text
    assert str(path) in text
    assert remedy in text
    assert "set config.compiledir" in text
    assert before == {file: file.read_bytes() for file in files(cache)}


@on_posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777, 0o720])
def test_a_folder_that_others_may_write(cache: DiskCache, mode: int) -> None:
    content(cache)
    folder = files(cache)[0].parent
    folder.chmod(mode)
    refused(cache, folder, f"chmod go-w {folder}")
    folder.chmod(0o755)
    assert not content(cache)[1]


@on_posix
@pytest.mark.parametrize("mode", [0o777, 0o703])
def test_a_parent_in_which_others_may_replace_the_folder(cache: DiskCache, mode: int) -> None:
    content(cache)
    parent = files(cache)[0].parent.parent
    parent.chmod(mode)
    refused(cache, parent, f"chmod go-w {parent}")
    parent.chmod(0o1777)  # as /tmp is
    assert not content(cache)[1]


@on_posix
def test_the_group_of_a_parent(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else is in the group that many systems make for each user, with the same number."""
    content(cache)
    parent = files(cache)[0].parent.parent
    parent.chmod(0o770)
    found = os.stat(parent)
    values = [*found]
    for group, danger in ((1000, False), (1001, True), (0, True)):
        values[4:6] = 1000, group
        monkeypatch.setattr(disk.os, "geteuid", lambda: 1000)
        assert bool(disk._danger(os.stat_result(values), is_parent=True)) == danger
        assert disk._danger(os.stat_result(values), is_parent=False)
    values[4:6] = 0, 0
    monkeypatch.setattr(disk.os, "geteuid", lambda: 0)
    assert disk._danger(os.stat_result(values), is_parent=True)


@as_root
def test_a_folder_of_another_user(cache: DiskCache) -> None:
    content(cache)
    folder = files(cache)[0].parent
    os.chown(folder, 4242, 4242)
    refused(cache, folder, "belongs to another user")


@as_root
def test_a_parent_of_another_user(cache: DiskCache) -> None:
    content(cache)
    parent = files(cache)[0].parent.parent
    os.chown(parent, 4242, 4242)
    refused(cache, parent, "belongs to another user")
    os.chown(parent, disk.NOBODY, disk.NOBODY)  # root's, seen without root's rights
    assert not content(cache)[1]
    os.chown(files(cache)[0].parent, disk.NOBODY, disk.NOBODY)
    assert content(cache)[1]


@on_posix
@pytest.mark.parametrize("change", [
    lambda file: file.chmod(0o660),
    lambda file: file.chmod(0o602),
    pytest.param(lambda file: os.chown(file, 4242, 4242), marks=as_root),
])  # fmt: skip
def test_a_file_of_others_is_replaced(cache: DiskCache, change: Any) -> None:
    content(cache)
    (file,) = files(cache)
    change(file)
    with pytest.warns(UnsafeFolderWarning, match="other user") as found:
        assert content(cache) == (b"of a text", True)
    assert str(file) in str(found[0].message)
    assert (file.stat().st_uid, file.stat().st_mode & 0o777) == (os.geteuid(), 0o600)
    assert content(cache) == (b"of a text", False)


@on_posix
def test_what_is_made_is_private_whatever_the_umask(cache: DiskCache) -> None:
    before = os.umask(0)
    try:
        content(cache)
    finally:
        os.umask(before)
    (file,) = files(cache)
    modes = [path.stat().st_mode & 0o777 for path in (file, file.parent, file.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]


@on_posix
def test_links_to_folders_are_followed_before_they_are_judged(
    cache: DiskCache, tmp_path: Path
) -> None:
    own, others = tmp_path / "own", tmp_path / "others"
    own.mkdir(0o700)
    others.mkdir()
    others.chmod(0o777)
    link = tmp_path / "shared"
    link.symlink_to(own)
    assert content(cache)[1]
    assert not content(cache)[1]
    link.unlink()
    link.symlink_to(others)
    with pytest.warns(UnsafeFolderWarning, match=str(others)):
        assert content(cache)[1]
    assert list(others.iterdir()) == []


@on_posix
def test_a_file_that_is_a_link_is_replaced(cache: DiskCache, tmp_path: Path) -> None:
    content(cache)
    (file,) = files(cache)
    moved = tmp_path / file.name
    file.rename(moved)
    file.symlink_to(moved)
    assert content(cache)[1]
    assert not file.is_symlink()
    assert read(str(file)) == b"of a text"


# --- processes --------------------------------------------------------------------------------

WRITER = """
import sys
from rewrite_engine.config import config
from rewrite_engine.disk import DiskCache
config.compiledir = sys.argv[1]
cache = DiskCache("code", ".bin")
for _ in range(20):
    for k in range(5):
        data = bytes([k]) * 100_000
        assert cache.get((str(k),), lambda: data) == data
        cache.write(cache.path("the same"), bytes([k]) * 100_000)
"""


def test_processes_at_once(cache: DiskCache) -> None:
    command = [sys.executable, "-c", WRITER, str(config.compiledir)]
    running = [subprocess.Popen(command, cwd=ROOT) for _ in range(3)]
    path = str(cache.path("the same"))
    while any(process.poll() is None for process in running):
        found = read(path)
        assert found is None or found in [bytes([k]) * 100_000 for k in range(5)]
    assert [process.returncode for process in running] == [0] * 3
    assert len(files(cache)) == 6
