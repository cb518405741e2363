"""Settings of Sphinx for the site; `scripts/docs` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from stage import INDEXES, OTHERS, REPOSITORY

import rewrite_engine

project = "rewrite_engine"
author = "the authors of rewrite_engine"
release = version = rewrite_engine.__version__
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 5
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # a page may begin a section at a lower level
trim_doctest_flags = True
smartquotes = False  # quotes in docstrings are code
toc_object_entries_show_parents = "hide"
copybutton_exclude = ".linenos, .gp, .go"  # prompts and outputs are not copied

html_theme = "pydata_sphinx_theme"
html_title = f"rewrite_engine {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {
    "github_url": REPOSITORY["Homepage"],
    "use_edit_page_button": True,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "logo": {"text": f"rewrite_engine {release}"},
}
html_context = {
    "default_mode": "auto",
    "edit_page_provider_name": "GitHub",
    "edit_page_url_template": f"{REPOSITORY['Homepage']}/edit/main/{{{{ source_file_name }}}}",
}
html_show_sourcelink = False


def source_of(page: str) -> str | None:
    """Return the file of the repository that a page is made from; None for a generated page."""
    name = f"{page}.md"
    if page.startswith("api/"):
        return None
    for source, staged in OTHERS.items():
        if staged == name:
            return source
    if name.endswith("index.md"):
        name = name.removesuffix("index.md") + "README.md"
    return f"docs/{name}"


def add_edit_link(app, page, template, context, doctree):
    """Give a page the address at which its source is edited."""
    source = source_of(page) if doctree is not None else None
    if source is None:
        context["theme_use_edit_page_button"] = False
        return
    context["source_file_name"] = source


def setup(app):
    """Connect the edit links."""
    app.connect("html-page-context", add_edit_link, priority=100)  # before the theme's own
    assert INDEXES[0] == "index.md"
