"""`python -m rewrite_engine.discover SUBJECT…`: rules that are missing, as lines or as a pack."""

from __future__ import annotations

import argparse
from pathlib import Path

from rewrite_engine.discover import discover
from rewrite_engine.discover.subjects import SUBJECTS


def main(arguments: list[str] | None = None) -> None:
    """Print the rules that are found, and write a pack of them."""
    parser = argparse.ArgumentParser(prog="python -m rewrite_engine.discover", description=__doc__)
    parser.add_argument("subjects", nargs="+", metavar="SUBJECT", choices=[*SUBJECTS])
    parser.add_argument("--size", type=int, help="the largest number of ops of a term")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of each space")
    parser.add_argument("--out", type=Path, help="write a pack with the rules to this file")
    options = parser.parse_args(arguments)
    found = discover(*options.subjects, size=options.size, seconds=options.seconds)
    print(found)
    if options.out is not None:
        options.out.write_text(found.source())


if __name__ == "__main__":
    main()
