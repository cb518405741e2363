"""One library in a process of its own: `python -m benchmarks.peers NAME` prints a line of JSON per
figure.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from benchmarks.peers.work import WORK, TooLong, at_most_seconds

LIMIT = 45.0  # seconds for one figure


def tell(**facts: Any) -> None:
    """Print a line for the parent."""
    print(json.dumps(facts), flush=True)


def main(name: str) -> int:
    """Take all figures of one library; a package that is missing is said, and no error."""
    try:
        library = import_module(f"benchmarks.peers.{name}")
        work = library.work()
    except ImportError as error:
        tell(missing=str(error))
        return 0
    tell(version=library.VERSION)
    for figure in WORK:
        measure = work.get(figure.key)
        if measure is None:
            continue
        try:
            with at_most_seconds(LIMIT):
                tell(key=figure.key, value=measure())
        except TooLong:
            tell(key=figure.key, failed=f"> {LIMIT:.0f} s")
        except Exception as error:
            tell(key=figure.key, failed=f"{type(error).__name__}: {error}"[:200])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
