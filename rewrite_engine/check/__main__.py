"""Check rules, facts and ops: `python -m rewrite_engine.check [PACK | FILE | DISTRIBUTION ...]`.

Without a name, check the shipped packs. Exit status 1 for WRONG, LOOPS, DEAD, with --strict also
for UNPROVED; 2 if something could not be loaded, or a package that a check needs is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rewrite_engine.check.run import CHECKS, check
from rewrite_engine.errors import RewriteEngineError


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m rewrite_engine.check", description=__doc__)
    parser.add_argument("what", nargs="*", help="packs, rule files, distributions, modules")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--fast", action="store_true", help="run only checks that take about a second"
    )
    parser.add_argument("--strict", action="store_true", help="also fail for UNPROVED findings")
    parser.add_argument(
        "--only", action="append", default=[], choices=list(CHECKS), help="run only this check"
    )
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Check, print, and return the exit status."""
    options = arguments(given)
    try:
        report = check(*options.what, only=options.only, fast=options.fast)
    except (RewriteEngineError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(report.json() if options.json else report)
    if report.left_out:
        return 2
    return int(report.failed or (options.strict and report.unproved))


if __name__ == "__main__":
    sys.exit(main())
