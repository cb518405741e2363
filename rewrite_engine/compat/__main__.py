"""Run a program written for PyTensor, Aesara or Theano:
`python -m rewrite_engine.compat [--missing] SCRIPT [ARG …]`.

Exit status: the status of the program; 1 if it fails or uses a missing name (one line says which,
and where); 2 for a wrong argument.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType

from rewrite_engine.compat import PeerModule, install
from rewrite_engine.compat.missing import missing
from rewrite_engine.errors import NotHereError


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="python -m rewrite_engine.compat",
        description="Run a program written for PyTensor, Aesara or Theano with rewrite_engine.",
        epilog="Arguments after SCRIPT are passed to the program. See docs/compat.md.",
        allow_abbrev=False,
    )
    p.add_argument(
        "--missing",
        action="store_true",
        help="list the names that rewrite_engine lacks, without running the program",
    )
    p.add_argument("script", metavar="SCRIPT", type=Path)
    p.add_argument("arguments", metavar="ARG", nargs=argparse.REMAINDER)
    return p


def list_missing(script: Path) -> int:
    """Print the missing names; return 1 if there are any."""
    try:
        found = list(missing(script.read_text(encoding="utf-8")))
    except SyntaxError as error:
        print(f"{script}:{error.lineno}: {error.msg}", file=sys.stderr)
        return 2
    for line, name in found:
        print(f"{script}:{line}: {name}")
    if not found:
        print(f"{script}: no missing names")
    return 1 if found else 0


def run(script: Path, arguments: list[str]) -> int:
    """Run a program as `__main__`, with the same names for the Python processes that it starts."""
    install()
    startup = Path(__file__).with_name("startup")
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(startup), *([path] if path else [])])
    sys.argv = [str(script), *arguments]
    sys.path[0] = str(script.resolve().parent)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except (NotHereError, AttributeError, ModuleNotFoundError) as error:
        if not is_about_names(error):
            raise
        print(f"{place_of(error.__traceback__, script)}: {error}", file=sys.stderr)
        return 1
    return 0


def is_about_names(error: Exception) -> bool:
    """Return whether an error is about a missing name of another library."""
    if isinstance(error, ModuleNotFoundError):
        return (error.name or "").partition(".")[0] in ("pytensor", "aesara", "theano")
    return isinstance(error, NotHereError) or isinstance(getattr(error, "obj", None), PeerModule)


def place_of(tb: TracebackType | None, script: Path) -> str:
    """Return `file:line` of the innermost line of the program."""
    own = [f for f in traceback.extract_tb(tb) if not f.filename.startswith(("<", sys.prefix))]
    package = os.path.dirname(__file__)
    last = [f for f in own if not f.filename.startswith(os.path.dirname(package))]
    return f"{last[-1].filename}:{last[-1].lineno}" if last else str(script)


def main(given: list[str] | None = None) -> int:
    options = parser().parse_args(given)
    if not options.script.is_file():
        parser().error(f"there is no file {options.script}")
    if options.missing:
        return list_missing(options.script)
    return run(options.script, options.arguments)


if __name__ == "__main__":
    sys.exit(main())
