#!/usr/bin/env python3
"""Run the Python examples of a page, as tests and pictures need them.

    docs/site/pages.py PAGE [FOLDER]      runs them in a folder, where pictures are saved

A block with prompts is a doctest; a block without prompts is executed. All blocks of a page share
their names.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\(pictures/([^)\s]+)\)")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
#: of matplotlib: the same bytes for the same values, text as text, one style
STYLE = {
    "svg.hashsalt": "rewrite_engine",
    "svg.fonttype": "none",
    "figure.facecolor": "white",
    "savefig.bbox": "tight",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
}


def name(page: Path) -> str:
    """Return the path of a page from the root of the repository."""
    return page.relative_to(ROOT).as_posix()


def examples(page: Path) -> list[tuple[int, str]]:
    """Return the Python blocks of a page with the lines that they start at."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start(1)), m.group(1)) for m in BLOCK.finditer(text)]


def pictures(page: Path) -> list[str]:
    """Return the file names of the pictures that a page shows."""
    return PICTURE.findall(page.read_text(encoding="utf-8"))


def run_doctest(source: str, names: dict[str, object], page: Path, line: int) -> None:
    """Run a block of prompts in the names of its page."""
    test = doctest.DocTestParser().get_doctest(source, names, name(page), str(page), line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(report)


def run_examples(page: Path) -> dict[str, object]:
    """Run all blocks of a page and return their names; an AssertionError reports what failed."""
    names: dict[str, object] = {"__name__": "__main__"}
    for line, source in examples(page):
        if ">>>" in source:
            run_doctest(source, names, page, line)
        else:
            exec(compile("\n" * line + source, str(page), "exec"), names)
    return names


@contextlib.contextmanager
def drawing(folder: Path) -> Iterator[None]:
    """Run the block in a folder, with matplotlib set to draw the same pictures everywhere."""
    import matplotlib

    matplotlib.use("Agg")
    before = Path.cwd()
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # pictures have no date
    with matplotlib.rc_context(STYLE):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


if __name__ == "__main__":
    page, folder = (Path(argument).resolve() for argument in [*sys.argv[1:], "."][:2])
    with drawing(folder):
        run_examples(page)
