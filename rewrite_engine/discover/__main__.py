"""`python -m rewrite_engine.discover SUBJECT…`: rules that are missing, as lines or as a pack."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rewrite_engine.discover import discover
from rewrite_engine.discover.space import Space, maker
from rewrite_engine.discover.subjects import SUBJECTS, named, numbers
from rewrite_engine.errors import RewriteEngineError, UnknownNameError, did_you_mean

#: functions that terms of an author's op have besides
FUNCTIONS = "exp log log1p expm1 neg reciprocal add sub mul"


def main(arguments: list[str] | None = None) -> None:
    """Print the rules that are found, and write a pack of them."""
    parser = argparse.ArgumentParser(prog="python -m rewrite_engine.discover", description=__doc__)
    subjects = ", ".join(SUBJECTS)
    what = f"{subjects}; or an elementwise op or function of yours, as module:name"
    parser.add_argument("subjects", nargs="+", metavar="SUBJECT", help=what)
    parser.add_argument("--functions", default=FUNCTIONS, help="that an op of yours goes with")
    parser.add_argument("--size", type=int, help="the largest number of ops of a term")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of each space")
    parser.add_argument("--out", type=Path, help="write a pack with the rules to this file")
    options = parser.parse_args(arguments)
    try:
        spaces = [space_of(name, options.functions) for name in options.subjects]
        found = discover(*spaces, size=options.size, seconds=options.seconds)
    except (RewriteEngineError, ImportError) as error:
        parser.exit(2, f"{error}\n")
    print(found)
    if options.out is not None:
        options.out.write_text(found.source())


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
    return numbers(name, [own, *named(functions)], variables, constants=(1.0,))


if __name__ == "__main__":
    main()
