"""A program at a size of one's own: `python -m benchmarks.rec tak 18`."""

from __future__ import annotations

import sys

from benchmarks.rec import PROGRAMS, row


def main(name: str, size: str) -> None:
    (program,) = [p for p in PROGRAMS if p.name == name]
    print(row(program, int(size)).figure)


if __name__ == "__main__":
    main(*sys.argv[1:])
