"""`scripts/english`: the faults that it finds in docstrings and pages, and what it accepts."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "english"
english: Any = SimpleNamespace(**runpy.run_path(str(SCRIPT)))

#: a sentence with each phrase of the table, in its order: {phrase found: sentence}
PLANTED = {
    "told": "The planner is told the lengths.",
    "telling": "There is no telling.",
    "held against": "Values are held against NumPy.",
    "holds what": "A rule holds what was declared.",
    "what it says": "The op does what it says.",
    "asked for": "The dtype that was asked for.",
    "nobody": "Results that nobody needs.",
    "whoever": "The error names whoever called it.",
    "beside": "Rules beside ops.",
    "Of which": "Of which one is enough.",
    "for that": "There is a rule for that.",
    "as it is": "The graph stays as it is.",
    "as it stands": "Read it as it stands.",
    "comes of": "This comes of rounding.",
    "goes": "The second copy goes.",
    "what there is": "This is what there is.",
    "is there": "The file is there.",
    "dearest": "The dearest node is first.",
    "spares": "The rule spares a copy.",
    "island": "It runs in an island of the VM.",
    "court": "A rule stands before the court.",
    "door": "The front door of the package.",
    "room": "There is room for one more.",
    "lawful": "The result is lawful.",
    "legal": "It is a legal term.",
    "doesn't": "It doesn't overflow.",
}


def phrases(text: str) -> list[str]:
    return [phrase for _, phrase, _ in english.page_faults("page.md", text)]


@pytest.mark.parametrize(("phrase", "sentence"), PLANTED.items())
def test_each_phrase_is_found(phrase: str, sentence: str) -> None:
    assert phrases(sentence) == [phrase]


def test_each_pattern_has_a_planted_sentence() -> None:
    found = [
        [bool(pattern.search(sentence)) for sentence in PLANTED.values()]
        for pattern, _ in english.phrase_patterns()
    ]
    assert [row.count(True) for row in found] == [1] * len(english.PHRASES)


@pytest.mark.parametrize(
    "text",
    [
        "Digits tell apart two names.",
        "Control goes to the VM.",
        "Read the graph as it is built.",
        "For that reason, it is slow.",
        "`told` and ``a `told` b`` are names.",
        "```python\ntold = 1  # nobody\n```",
        "~~~\nisland\n~~~",
        "- in a list:\n  ```\n  told\n  ```",
        "[page](docs/told.md)",
        "A broad islander courted a roommate.",
        "See `a\nroom` here.",
    ],
)
def test_valid_text_has_no_fault(text: str) -> None:
    assert phrases(text) == []


def test_a_phrase_of_a_page_has_its_line_and_a_suggestion() -> None:
    text = "# Title\n\n```\nasked for\n```\nThe dtype asked\nfor is `told`.\n"
    assert list(english.page_faults("page.md", text)) == [
        ("page.md:6", "asked for", "required, requested")
    ]


@pytest.mark.parametrize(
    ("docstring", "fault"),
    [
        ("Return.", "'Return.'"),
        ("Return one thing.", "'Return one thing.'"),
        ("Short one.\n\n    Longer than four words here.", "'Short one.'"),
        ("The same for a matrix of floats.", "begins with 'The same'"),
        ("That of the first operand of a node.", "begins with 'That of'"),
        ("Those of the first operand of a node.", "begins with 'Those of'"),
        ("Of two operands, return the first.", "begins with 'Of'"),
        ("With those, build the node again.", "begins with 'With those'"),
        ("Return the first operand.", None),
        ("Offer the operands to rules.", None),
        ("With one operand, return its shape.", None),
        ("Return `x` in\n    another shape.", None),
    ],
)
def test_docstrings(docstring: str, fault: str | None) -> None:
    found = english.docstring_fault(docstring)
    assert (found and found[0]) == fault


SOURCE = '''"""Public module."""
def first(): "Of it."
def _private(): "Of it."
async def later(): "Of it."
def no_docstring(): pass
if True:
    def guarded(): "Of it."
class Thing:
    """Name a thing in four words."""
    def method(self):
        """Of it."""
        def inner(): "Of it."
    @property
    def value(self): "Of it."
    def __len__(self): "Of it."
class _Hidden:
    def method(self): "Of it."
'''


def test_public_docstrings_of_a_file_are_found() -> None:
    faults = english.docstring_faults("a", SOURCE)
    found = {place: title.split(":")[0] for place, title, _ in faults}
    assert found == {
        "a:1": "(module)", "a:2": "first", "a:4": "later", "a:7": "guarded", "a:11": "method",
        "a:14": "value",
    }  # fmt: skip


def test_generated_docstrings_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Op:
        def __call__(self) -> None: ...

    module: Any = SimpleNamespace(__name__="fake", first=Op(), _hidden=Op(), plain=phrases)
    Op.__module__ = "rewrite_engine.fake"
    monkeypatch.setitem(sys.modules, "fake", module)
    found = list(english.generated_faults(["fake"], lambda thing: "Of it."))
    assert [(place, phrase) for place, phrase, _ in found] == [("fake.first", "begins with 'Of'")]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_only_given_paths_are_checked() -> None:
    """Only pages and modules of the package are checked: not this file, not LICENSE."""
    clean = run("README.md", "tests/test_english.py", "LICENSE")
    assert (clean.returncode, clean.stdout) == (0, "")
    missing = run("docs/no_such_page.md")
    assert (missing.returncode, missing.stderr) == (1, "no such file: docs/no_such_page.md\n")


def test_files_of_folders_are_found_and_links_are_not_entered() -> None:
    names = {path.as_posix() for path in english.files([ROOT])}
    root = ROOT.as_posix()
    assert {f"{root}/README.md", f"{root}/docs/glossary.md", f"{root}/docs/README.md"} <= names
    assert f"{root}/rewrite_engine/rules/README.md" in names
    assert not any(name.startswith(f"{root}/rules/") for name in names)
    assert f"{root}/CHANGELOG.md" not in names
