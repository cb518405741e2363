"""`explain --suggest`: better terms for small subterms of each function that a script compiled, as
`rewrite_engine/discover/suggest.py` finds them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from rewrite_engine.errors import InputError, MissingPackageError
from rewrite_engine.graph.html import browser_page, code

if TYPE_CHECKING:
    from rewrite_engine.discover.suggestion import Suggestions
    from rewrite_engine.explain.model import FunctionReport

SECONDS = 60.0  # time limit, of all functions


def suggestions_for(
    functions: Sequence[FunctionReport], seconds: float = SECONDS
) -> list[tuple[FunctionReport, Suggestions]]:
    """Return suggestions for the graphs of functions as written. seconds: time limit; what one
    function leaves is for the others. Raises `MissingPackageError` if mpmath is not installed,
    `InputError`.
    """
    if not seconds > 0:
        raise InputError(f"seconds must be a positive number, not {seconds!r}")
    if find_spec("mpmath") is None:
        raise MissingPackageError(
            "suggestions are checked with mpmath, which is missing: "
            'pip install "rewrite-engine[check]"'
        )
    from rewrite_engine.discover.suggest import suggestions  # few reports have suggestions

    end, found = perf_counter() + seconds, []
    for i, f in enumerate(functions):
        share = max((end - perf_counter()) / (len(functions) - i), 0.1)
        found.append((f, suggestions(f.record.before.outputs, share, f.record.mode.rules)))
    return found


def print_suggestions(functions: Sequence[FunctionReport], options: argparse.Namespace) -> None:
    """Print the suggestions for functions, or write them as the options say: --output as text,
    --json as a line for each function, --html as a page.
    """
    found = suggestions_for(functions, options.seconds)
    text = "\n\n".join([one.text(f.name) for f, one in found]) or "no function was compiled"
    if options.output is not None:
        Path(options.output).write_text(text + "\n", encoding="utf-8")
    elif options.json != "-":
        sys.stdout.write(text + "\n")
    if options.html is not None:
        html = browser_page("suggestions", code(text))
        Path(options.html).write_text(html, encoding="utf-8")
    lines = "".join([json.dumps({"name": f.name} | one.as_dict()) + "\n" for f, one in found])
    if options.json == "-":
        sys.stdout.write(lines)
    elif options.json is not None:
        Path(options.json).write_text(lines, encoding="utf-8")
