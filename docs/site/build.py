#!/usr/bin/env python3
"""Build the documentation site in build/site: stage the pages, run Sphinx, look for requests.

Warnings of Sphinx are errors, so a link to a page or heading that does not exist ends the build.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from api import api_pages
from fetched import requests
from sphinx.cmd.build import main as sphinx
from stage import ROOT, stage

BUILD = ROOT / "build" / "site"


def main(arguments: list[str]) -> int:
    """Build the site, and return the status for the shell."""
    source, site = BUILD / "source", BUILD / "html"
    stage(source, api_pages())
    options = ["-W", "--keep-going", "-q", "-j", "2", "-c", str(Path(__file__).parent)]
    status = sphinx(
        [*options, "-d", str(BUILD / "doctrees"), *arguments, "-b", "html", str(source), str(site)]
    )
    fetched = requests(site)
    print(*fetched, sep="\n", end="\n" if fetched else "", file=sys.stderr)
    if status or fetched:
        return 1
    print(site / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
