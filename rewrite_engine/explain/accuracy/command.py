"""`explain --digits`: the accuracy of each function that a script compiled."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rewrite_engine.errors import MissingPackageError, RewriteEngineError
from rewrite_engine.explain.accuracy.measure import report_of
from rewrite_engine.explain.accuracy.page import page
from rewrite_engine.explain.accuracy.report import AccuracyReport, finite

if TYPE_CHECKING:
    from rewrite_engine.explain.model import FunctionReport


def print_digits(functions: Sequence[FunctionReport], options: argparse.Namespace) -> None:
    """Print the accuracy of functions, or write it as the options say: --output as text, --json as
    a line for each function, --html as a page.
    """
    found = list(_measured(functions))
    reports = [one for one in found if isinstance(one, AccuracyReport)]
    text = "\n\n".join([str(one) for one in found]) + "\n"
    if options.output is not None:
        Path(options.output).write_text(text, encoding="utf-8")
    elif options.json != "-":
        sys.stdout.write(text)
    if options.html is not None:
        Path(options.html).write_text(page(reports), encoding="utf-8")
    lines = "".join([json.dumps(finite(one.as_dict())) + "\n" for one in reports])
    if options.json == "-":
        sys.stdout.write(lines)
    elif options.json is not None:
        Path(options.json).write_text(lines, encoding="utf-8")


def _measured(functions: Sequence[FunctionReport]) -> Iterator[AccuracyReport | str]:
    """Yield the report of each function, or why there is none."""
    if not functions:
        yield "no function was compiled"
    for f in functions:
        try:
            yield report_of(f)
        except MissingPackageError:
            raise
        except (RewriteEngineError, TypeError, ValueError, ArithmeticError) as error:
            yield f"{f.name}: not measured: {type(error).__name__}: {error}"
