"""How pages are staged for the site, how docstrings become Markdown, and what a page fetches."""

from __future__ import annotations

import pkgutil
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

import rewrite_engine

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
stage, api, fetched = (
    SimpleNamespace(**runpy.run_path(str(SITE / file)))
    for file in ("stage.py", "api.py", "fetched.py")
)
#: packages whose names users reach through others, or that have none for users
INTERNAL = {"disk", "fork", "hooks", "judge", "lazy", "new_pack", "pipeline", "rules"}


def target(page: str, link: str, anchor: str = "") -> str:
    return stage.new_target(ROOT / page, link, anchor, stage.staged_names())


def test_links_between_pages() -> None:
    assert target("docs/loops.md", "phases.md", "#merge") == "phases.md#merge"
    assert target("docs/loops.md", "decisions/README.md") == "decisions/index.md"
    assert target("docs/loops.md", "decisions/") == "decisions/index.md"
    assert target("docs/reference/ops.md", "../loops.md") == "../loops.md"
    assert target("CHANGELOG.md", "docs/loops.md") == "loops.md"
    assert target("docs/loops.md", "../CONTRIBUTING.md") == "contributing.md"


def test_links_to_other_files_lead_to_the_repository() -> None:
    found = target("docs/reference/rules.md", "../../rewrite_engine/rules/algebra.py", "#L7")
    assert found == f"{stage.SOURCE_URL}/rewrite_engine/rules/algebra.py#L7"
    assert target("docs/loops.md", "https://example.org/x", "#y") == "https://example.org/x#y"
    assert target("docs/loops.md", "", "#derivatives") == "#derivatives"


def test_a_link_to_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"docs/loops.md: nothing.md does not exist"):
        target("docs/loops.md", "nothing.md")


def test_links_in_code_are_left() -> None:
    text = "a\n```python\n>>> d[0](nothing.md)\n\n```\nb\n"
    parts = list(stage.outside_fences(text))
    assert [is_prose for is_prose, _ in parts] == [True, False, True]
    assert "".join(part for _, part in parts) == text
    assert stage.without_end(parts[1][1]) == "```python\n>>> d[0](nothing.md)\n```"


def test_contents_are_the_links_of_an_index() -> None:
    found = stage.contents("howto/index.md", "[a](b.md) [again](b.md) [c](../c.md) [up](index.md)")
    assert found.split() == ["```{toctree}", ":hidden:", "/howto/b", "/c", "```"]
    captioned = stage.contents("guides.md", "[a](a.md)\n\n## More\n\n[b](b.md) [a](a.md)\n")
    assert captioned.count("toctree") == 2
    assert captioned.endswith(":caption: More\n\n/b\n```\n")
    root = stage.contents("index.md", "[t](tutorials/index.md) [one](tutorials/one.md)")
    assert "/tutorials/index\n" in root
    assert "one" not in root


def test_staging_removes_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_text("gone")
    stage.stage(tmp_path, {"api/generated.md": "# New\n"})
    assert not (tmp_path / "old.md").exists()
    assert (tmp_path / "api" / "generated.md").read_text() == "# New\n"
    before = (tmp_path / "index.md").stat().st_mtime_ns
    stage.stage(tmp_path, {"api/generated.md": "# New\n"})
    assert (tmp_path / "index.md").stat().st_mtime_ns == before


def test_parameters_in_a_docstring_become_a_list() -> None:
    text = api.as_markdown(
        "Return a*b.\n\na: one `x*y`. b, c: two.\nsee: no parameter. Raises `AxisError`.\n\n"
        ">>> 1\n1",
        ["a", "b", "c"],
    )
    assert text.split("\n\n") == [
        r"Return a\*b.",
        "* **`a`**: one `x*y`.\n* **`b, c`**: two. see: no parameter.",
        "Raises `AxisError`.",
        "```python\n>>> 1\n1\n```",
    ]


def test_signatures_are_short() -> None:
    def long(a, b=1, *, c=print, d=(1, 2)):
        """(An example.)"""

    assert api.call(long) == "(a, b=1, *, c=..., d=...)"
    assert api.call(rewrite_engine.function).startswith("(inputs, ")
    assert len(api.call(rewrite_engine.function)) <= api.MAX_SIGNATURE


def test_signatures_of_functions_of_elements() -> None:
    assert api.call(rewrite_engine.tensor.exp) == "(x)"
    assert api.call(rewrite_engine.tensor.arctan2).count(",") == 1
    assert api.call(rewrite_engine.tensor.add) == "(*operands)"


def test_every_public_package_has_a_page() -> None:
    packages = {m.name for m in pkgutil.iter_modules(rewrite_engine.__path__)} - INTERNAL
    assert {f"rewrite_engine.{name}" for name in packages} <= set(api.MODULES)


def test_every_public_name_has_an_entry() -> None:
    pages = "".join(api.module_pages("rewrite_engine.tensor").values())
    for name in rewrite_engine.tensor.__all__:
        thing = getattr(rewrite_engine.tensor, name)
        is_module = isinstance(thing, type(pytest))
        assert is_module or f"}} rewrite_engine.tensor.{name}" in pages


def test_what_a_browser_would_fetch(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://x.org"><script src="own.js"></script>')
    assert fetched.requests(tmp_path) == []
    (tmp_path / "a.html").write_text('<script src="https://x.org/a.js"></script>')
    (tmp_path / "a.css").write_text('@font-face { src: url("//x.org/f.woff2") }')
    assert len(fetched.requests(tmp_path)) == 2
