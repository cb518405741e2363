"""Copy the pages into one folder for Sphinx: links rewritten, contents added, API pages generated.

The sources stay plain Markdown that reads well on GitHub. Here a `README.md` becomes `index.md`, a
link to a file that is no page leads to the repository, and an index page gets a table of contents:
the pages that it links to, in the order of its links.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
SOURCE_URL = f"{REPOSITORY['Homepage']}/blob/main"
#: pages that stand outside docs/
OTHERS = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
#: pages whose links are the table of contents; the first is the root
INDEXES = (
    "index.md",
    "tutorials/index.md",
    "howto/index.md",
    "guides.md",
    "reference/index.md",
    "api/index.md",
    "decisions/index.md",
)
PICTURES = (".svg", ".png")
FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")


class LinkError(ValueError):
    """A link of a page leads nowhere."""


def staged_names() -> dict[Path, str]:
    """Return, for each page, its name in the site."""
    pages = {
        page: page.relative_to(DOCS).as_posix().replace("README.md", "index.md")
        for page in sorted(DOCS.rglob("*.md"))
    }
    return pages | {ROOT / source: name for source, name in OTHERS.items()}


def outside_fences(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a page in order: whether a part is prose, and its text."""
    parts = re.split(r"(^```.*?^```[ ]*$)", text, flags=re.MULTILINE | re.DOTALL)
    for i, part in enumerate(parts):
        yield i % 2 == 0, part


def new_target(page: Path, target: str, anchor: str, names: dict[Path, str]) -> str:
    """Return where a link of a page leads in the site."""
    if not target or "://" in target or target.startswith("mailto:"):
        return target + anchor
    file = (page.parent / target).resolve()
    if file.is_dir() and file / "README.md" in names:
        file = file / "README.md"
    if file in names:
        here = os.path.dirname(names[page])
        return os.path.relpath(names[file], here or ".") + anchor
    if not file.exists():
        raise LinkError(f"{page.relative_to(ROOT)}: {target} does not exist")
    if file.suffix in PICTURES and DOCS in file.parents:
        return target
    return f"{SOURCE_URL}/{file.relative_to(ROOT).as_posix()}{anchor}"


def with_new_links(page: Path, names: dict[Path, str]) -> str:
    """Return the text of a page whose links lead to pages of the site, or to the repository."""

    def replaced(found: re.Match[str]) -> str:
        start, target, anchor, end = found.groups()
        return start + new_target(page, target, anchor or "", names) + end

    parts = outside_fences(page.read_text(encoding="utf-8"))
    return "".join(LINK.sub(replaced, t) if is_prose else without_end(t) for is_prose, t in parts)


def without_end(fence: str) -> str:
    """Return a fenced block without empty lines at its end, which doctest needs and no reader."""
    return re.sub(r"\n\s*\n```", "\n```", fence)


def contents(name: str, text: str) -> str:
    """Return the table of contents of an index page, by its sections, as directives that show
    nothing on the page.
    """
    here, entries, tables = os.path.dirname(name), set[str](), []
    prose = "".join(part for is_prose, part in outside_fences(text) if is_prose)
    sections = re.split(r"^## (.*)$", f"## \n{prose}", flags=re.MULTILINE)
    for caption, section in zip(sections[1::2], sections[2::2], strict=True):
        links = [os.path.normpath(os.path.join(here, m[1])) for m in LINK.findall(section)]
        pages = [p for p in dict.fromkeys(links) if is_entry(p, name) and p not in entries]
        entries |= set(pages)
        lines = "\n".join(f"/{page.removesuffix('.md')}" for page in pages)
        option = f":caption: {caption}\n" if caption else ""
        tables += [f"```{{toctree}}\n:hidden:\n{option}\n{lines}\n```\n"] if pages else []
    return "\n\n" + "\n".join(tables)


def is_entry(page: str, index: str) -> bool:
    """Return whether the table of contents of an index has a page: the root has the indexes."""
    if not page.endswith(".md") or ":" in page or page == index:
        return False
    return page in {*INDEXES, *OTHERS.values()} if index == INDEXES[0] else page not in INDEXES


def write(path: Path, text: str) -> None:
    """Write a file unless it has this text, so that Sphinx reads again only what has changed."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def stage(target: Path, generated: dict[str, str]) -> None:
    """Write all pages and pictures to a folder, and remove what is no longer there."""
    names = staged_names()
    texts = {name: with_new_links(page, names) for page, name in names.items()}
    for name, text in generated.items():  # (a page that exists is continued)
        texts[name] = texts.get(name, "") + text
    for name in INDEXES:
        texts[name] += contents(name, texts[name])
    pictures = [p for p in DOCS.rglob("*") if p.suffix in PICTURES]
    wanted = {target / name for name in texts} | {target / p.relative_to(DOCS) for p in pictures}
    for old in target.rglob("*"):
        if old.is_file() and old not in wanted:
            old.unlink()
    for name, text in texts.items():
        write(target / name, text)
    for picture in pictures:
        copy = target / picture.relative_to(DOCS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(picture, copy)
