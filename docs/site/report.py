#!/usr/bin/env python3
"""Draw the report on docs/examples/softmax.py as the picture that the README shows.

docs/site/report.py [FILE]
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import sys
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI

from rewrite_engine.explain import Report, recording
from rewrite_engine.explain.layout import TextLayout
from rewrite_engine.explain.show import ReportOptions, report_blocks

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "pictures" / "report.svg"
COLUMNS = 100
#: without the fonts that rich would have a browser fetch
FORMAT = re.sub(r" *@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def draw() -> str:
    """Return the report as SVG."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        markup=False,
        highlight=False,
        emoji=False,
    )
    console.print(Console().render_str("[bold]$ python -m rewrite_engine.explain softmax.py"))
    said = io.StringIO()
    with recording() as recorder, contextlib.redirect_stdout(said):
        runpy.run_path(str(ROOT / "docs" / "examples" / "softmax.py"), run_name="__main__")
    console.print(said.getvalue().rstrip())
    console.print()
    layout = TextLayout(console)
    layout.print(report_blocks(Report(recorder.records), ReportOptions(), layout))
    return console.export_svg(
        title="explain", theme=MONOKAI, code_format=FORMAT, unique_id="report"
    )


def main() -> None:
    """Write the picture."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    target.parent.mkdir(parents=True, exist_ok=True)
    draw()  # (rules are loaded; times are those of the second function)
    target.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
