"""Cache of compiled code on disk, shared by processes: machine code, C modules, byte code of rules.

A cache is a folder in `config.compiledir`, or in the user's cache. A file is named by the hash of
its key, which must contain everything that its content depends on, so no file is out of date. It
ends with a checksum of its name and content: a damaged file, or the content of another one, counts
as missing. A file is written under another name and renamed in one step, so processes never see
half a file. If the folder cannot be written, nothing is cached.

Code from these files is executed. A folder or file that another user owns or may change is not
used; a warning names it once. There are no locks here, so a fork at any moment is safe.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Callable
from contextlib import suppress
from time import time

from rewrite_engine.config import config

try:
    from _blake2 import blake2b  # without OpenSSL, which `hashlib` takes 2 ms to load
except ImportError:  # pragma: no cover
    from hashlib import blake2b

FORMAT = "1"  # version of the layout of files
CHECKSUM_BYTES = 32
MAX_BYTES = 64 << 20  # of the files in one folder; the least recently used are removed first
WRITES_PER_PRUNE = 64
USED_SECONDS = 86_400  # a file's time is renewed when it is read, at most so often
UNFINISHED_SECONDS = 3_600  # age at which the unfinished file of a killed process is removed
UNFINISHED = ".new"
NOBODY = 65_534  # owner of the folders of root, as a process without root's rights may see them


class UnsafeFolderWarning(UserWarning):
    """Compiled code is not cached, because another user may change the folder."""


class DiskCache:
    """Files of one kind. name: of the folder. suffix: of the files."""

    def __init__(self, name: str, suffix: str = "") -> None:
        self.name, self.suffix = name, suffix
        self._writes = 0

    def folder(self) -> str | None:
        """Return the folder, without symbolic links; None if the user has no folder for caches."""
        base = str(config.compiledir)
        if not base:
            home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
            if not os.path.isabs(home):
                return None
            base = os.path.join(home, "rewrite_engine")
        return os.path.realpath(os.path.join(base, self.name))

    def path(self, *key: str) -> str | None:
        """Return the path of the file for a key; None if its folder must not be used."""
        folder = self.folder()
        if folder is None or not is_safe(folder):
            return None
        digest = blake2b("\0".join([FORMAT, *key]).encode(), digest_size=20)
        return os.path.join(folder, digest.hexdigest() + self.suffix)

    def get(self, key: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
        """Return the content for a key: from its file, or made now and written."""
        path = self.path(*key)
        content = None if path is None else read(path)
        if content is None:
            content = make()
            self.write(path, content)
        return content

    def write(self, path: str | None, content: bytes) -> None:
        """Write a complete file in one step, if possible. path: None does nothing."""
        if path is None:
            return
        unfinished = f"{path}.{os.urandom(8).hex()}{UNFINISHED}"
        try:
            _make_private(os.path.dirname(path))
            handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(content + _checksum(path, content))
            os.replace(unfinished, path)
        except OSError:
            with suppress(OSError):
                os.unlink(unfinished)
            return
        self._writes += 1
        if self._writes % WRITES_PER_PRUNE == 1:
            prune(os.path.dirname(path))


def read(path: str) -> bytes | None:
    """Return the content of a file; None if it is missing, damaged, or not private."""
    try:
        with open(path, "rb", opener=_open) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not _is_private(path, found, path):
                return None
            data = file.read()
    except OSError:
        return None
    content = data[:-CHECKSUM_BYTES]
    if data[-CHECKSUM_BYTES:] != _checksum(path, content):
        return None
    if found.st_mtime + USED_SECONDS < time():
        with suppress(OSError):
            os.utime(path)
    return content


def prune(folder: str) -> None:
    """Remove the least recently used files if there are too many bytes, and unfinished files."""
    with suppress(OSError), os.scandir(folder) as entries:
        files = [(one.stat(), one.path) for one in entries if one.is_file(follow_symlinks=False)]
        size = sum([found.st_size for found, _ in files])
        for found, path in sorted(files, key=lambda file: file[0].st_mtime):
            age = time() - found.st_mtime
            if size > MAX_BYTES or (path.endswith(UNFINISHED) and age > UNFINISHED_SECONDS):
                size -= found.st_size
                with suppress(OSError):  # another process was faster
                    os.unlink(path)


_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_LINK)


def _checksum(path: str, content: bytes) -> bytes:
    """Return the checksum of the name of a file and its content."""
    name = os.path.basename(path).encode()
    return blake2b(content, digest_size=CHECKSUM_BYTES, key=name).digest()


def _make_private(folder: str) -> None:
    """Make a folder, and its missing parents, for the user alone."""
    parent = os.path.dirname(folder)
    if not os.path.isdir(parent):
        _make_private(parent)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)


# --- who may change a file --------------------------------------------------------------------


def is_safe(folder: str) -> bool:
    """Return whether only the user and root can change what a path without links leads to."""
    paths = [folder]
    while (parent := os.path.dirname(paths[-1])) != paths[-1]:
        paths.append(parent)
    for path in paths:
        with suppress(OSError):  # a missing folder will be the user's own
            if not _is_private(path, os.stat(path), folder):
                return False
    return True


def _is_private(path: str, found: os.stat_result, used: str) -> bool:
    """Return whether no other user can change a file or folder, or the names in a parent of it;
    else warn. used: the file or folder that is needed.
    """
    danger = _danger(found, is_parent=path != used)
    folder = used if stat.S_ISDIR(found.st_mode) else os.path.dirname(used)
    if danger and folder not in _warned:
        _warned.add(folder)
        text = f"compiled code in {used} is not used: {danger.format(path=path)}"
        own = "set config.compiledir to a folder of your own"
        warnings.warn(f"{text} {own}", UnsafeFolderWarning, stacklevel=2)
    return not danger


def _danger(found: os.stat_result, is_parent: bool) -> str:
    """Return how other users can change the file or folder {path}, and a remedy; "" if they
    cannot.
    """
    if not hasattr(os, "geteuid"):
        return ""  # Windows has no such owners
    user = os.geteuid()
    if found.st_uid not in (0, user, NOBODY if is_parent else user):
        return "{path} belongs to another user;"
    writers = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if is_parent and found.st_gid == user != 0:  # the group that systems make for each user
        writers &= stat.S_IWOTH
    if is_parent and found.st_mode & stat.S_ISVTX:  # in /tmp nobody can replace the folder
        return ""
    return "other users can change {path}; run `chmod go-w {path}`, or" if writers else ""


_warned: set[str] = set()  # folders
