"""`python -m rewrite_engine.discover SUBJECT…`: rules that are missing, as lines or as a pack."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from rewrite_engine import hooks
from rewrite_engine.discover import Discovery, discover
from rewrite_engine.discover.corpus import corpus_of
from rewrite_engine.discover.grow import silent
from rewrite_engine.discover.space import Space, maker
from rewrite_engine.discover.subjects import SUBJECTS, named, numbers
from rewrite_engine.errors import RewriteEngineError, UnknownNameError, did_you_mean

#: functions that terms of an author's op have besides
FUNCTIONS = "exp log log1p expm1 neg reciprocal add sub mul"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    p = argparse.ArgumentParser(prog="python -m rewrite_engine.discover", description=__doc__)
    subjects = ", ".join(SUBJECTS)
    what = f"{subjects}; or an elementwise op or function of yours, as module:name"
    p.add_argument("subjects", nargs="+", metavar="SUBJECT", help=what)
    p.add_argument("--functions", default=FUNCTIONS, help="that an op of yours goes with")
    p.add_argument("--size", type=int, help="the largest number of ops of a term")
    p.add_argument("--seconds", type=float, default=60.0, help="time limit of each space")
    equations = "list equations between terms that are as good as each other, too"
    p.add_argument("--equations", action="store_true", help=equations)
    corpus = "scripts, or folders of them, in whose functions left sides are counted"
    p.add_argument("--corpus", type=Path, nargs="+", default=[], metavar="PATH", help=corpus)
    p.add_argument("--compat", action="store_true", help="scripts are written for PyTensor or PyMC")
    keep = "keep finished spaces in this folder, and go on where a search was interrupted"
    p.add_argument("--keep", type=Path, metavar="FOLDER", help=keep)
    p.add_argument("--refused", action="store_true", help="print what makes no rule, and why")
    p.add_argument("--out", type=Path, metavar="FILE", help="write a pack with the rules")
    p.add_argument("--json", type=Path, metavar="FILE", help="write all that is known")
    p.add_argument("--html", type=Path, metavar="FILE", help="write a page with formulas")
    return p


def main(arguments: list[str] | None = None) -> None:
    """Print the rules that are found, and write a pack of them."""
    p = parser()
    options = p.parse_args(arguments)
    try:
        with progress() as told:
            found = run(options, told)
    except (RewriteEngineError, ImportError, OSError) as error:
        p.exit(2, f"{error}\n")
    print(found)
    if options.refused:
        print("\n".join([f"refused: {r}" for one in found.spaces for r in one.refused]))
    for path, text in (
        (options.out, found.source),
        (options.json, found.json),
        (options.html, found.html),
    ):
        if path is not None:
            path.write_text(text())
    if found.stopped:
        p.exit(130)


def run(options: argparse.Namespace, told: Callable[[str], Any]) -> Discovery:
    """Return what the options ask for."""
    if options.compat:
        hooks.install()
    spaces = [space_of(name, options.functions) for name in options.subjects]
    corpus = corpus_of(options.corpus, told) if options.corpus else None
    for path, why in corpus.failed.items() if corpus else ():
        print(f"{path}: {why}", file=sys.stderr)
    return discover(
        *spaces,
        size=options.size,
        seconds=options.seconds,
        equations=options.equations,
        corpus=corpus,
        keep=options.keep,
        told=told,
    )


@contextmanager
def progress() -> Iterator[Callable[[str], Any]]:
    """Provide a function that shows a line on how far it is, in place of the last one; none where
    the error output is no terminal.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield silent
        return
    with console.status("") as status:
        yield status.update


def space_of(text: str, functions: str) -> str | Space:
    """Return the name of a subject, or the space of an author's op. Raises `UnknownNameError`."""
    module, colon, name = text.partition(":")
    if not colon:
        return text
    sys.path.insert(0, "")
    try:
        fn: Any = getattr(import_module(module), name, None)
    finally:
        sys.path.remove("")
    if fn is None:
        hint = did_you_mean(name, dir(sys.modules[module]))
        raise UnknownNameError(f"the module {module} has no {name}{hint}")
    own = maker(fn, name)
    variables = "xyz"[: max(own.arity, 1)]
    return numbers(name, [own, *named(functions)], variables, constants=(1.0,), about=(name,))


if __name__ == "__main__":
    main()
