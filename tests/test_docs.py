"""Every Python example of the pages runs and prints what it says; every link leads somewhere."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rewrite_engine.check import Kind, check
from rewrite_engine.config import DEFAULTS, config
from rewrite_engine.pipeline.phases import PHASES, all_rules, equations, on_demand

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "rewrite_engine").rglob("*.md")]
)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
HEADING_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)#([^)\s]+)\)")
RUNNER = ROOT / "docs" / "site" / "pages.py"
run = SimpleNamespace(**runpy.run_path(str(RUNNER)))
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials" and run.examples(page)]
#: pages that need a package which is not always there
NEEDS = {
    "native.md": "llvmlite", "pymc_model.md": "pymc", "jax.md": "jax", "clusters.md": "distributed",
    "call_from_c.md": "llvmlite",
}  # fmt: skip

#: wrong rules that a page shows on purpose, and calls wrong
WRONG_ON_PURPOSE = {
    "not_less", "of_erf", "sine_is_linear", "sine_of_sum", "first_of_two", "always_in_place",
    "breaks", "countless", "by_normal_equations",
}  # fmt: skip
HOMES = (
    "https://github.com/rewrite-engine/rewrite-engine/blob/main/",
    "https://raw.githubusercontent.com/rewrite-engine/rewrite-engine/main/",
)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def skip_what_is_missing(page: Path) -> None:
    """Skip a page whose compiler or package is not installed."""
    if page.name == "c_interface.md" and not config.cxx:
        pytest.skip("there is no C++ compiler")
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])


@pytest.mark.parametrize(
    "page", [p for p in PAGES if run.examples(p) and p not in TUTORIALS], ids=name
)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_what_is_missing(page)
    monkeypatch.chdir(tmp_path)
    run.run_examples(page)


@pytest.mark.parametrize("page", TUTORIALS, ids=name)
def test_tutorials_run_and_draw_their_pictures(page: Path, tmp_path: Path) -> None:
    """In a process of its own: a tutorial may change what is imported, and saves pictures."""
    skip_what_is_missing(page)
    pytest.importorskip("matplotlib")
    command = [sys.executable, str(RUNNER), str(page), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for picture in run.pictures(page):
        drawn, committed = tmp_path / picture, page.parent / "pictures" / picture
        assert texts(drawn) == texts(committed), f"run scripts/pictures ({picture})"


def texts(picture: Path) -> list[str]:
    """The labels of an SVG picture in order: titles, axes, ticks, legends."""
    return re.findall(r"<text [^>]*>([^<]+)</text>", picture.read_text(encoding="utf-8"))


def rule_names(page: Path) -> list[str]:
    """The names of the rules, tables of rules and loaded files of rules that a page defines."""
    sources = "".join(source for _, source in run.examples(page))
    prompt = r"(?:>>> |\.\.\. )?"
    rules = re.findall(
        rf"@(?:rule|node_rewriter|equation|relation)\b.*\n{prompt}def (\w+)", sources
    )
    return rules + re.findall(rf"^{prompt}(\w+) = (?:table|rw\.load_rules)\(", sources, re.M)


def wrong(rule: Any) -> list[str]:
    """Return the WRONG findings of the checker on a rule, or on the rules of a table."""
    findings = check(rule, only="claims").findings
    return [str(finding) for finding in findings if finding.kind is Kind.WRONG]


@pytest.mark.parametrize("page", [p for p in PAGES if rule_names(p)], ids=name)
def test_rules_of_pages_are_right(page: Path) -> None:
    """Check each rule that a reader may copy, except those that a page calls wrong."""
    names = run.run_examples(page)
    for rule_name in [rule_name for rule_name in rule_names(page) if rule_name in names]:
        found = wrong(names[rule_name])
        if rule_name in WRONG_ON_PURPOSE:
            assert found, f"{rule_name} is right: take it off the list"
        else:
            assert found == [], "\n".join(found)


def test_pages_call_wrong_rules_wrong() -> None:
    """In the docstring, or in the text before the rule."""
    pages = {page: page.read_text(encoding="utf-8") for page in PAGES if rule_names(page)}
    for rule_name in WRONG_ON_PURPOSE:
        places = [
            text[max(0, text.index(f"def {rule_name}(") - 600) :][:1200]
            for text in pages.values()
            if f"def {rule_name}(" in text
        ]
        assert places, f"no page defines {rule_name}"
        assert [p for p in places if not re.search(r"(?i)\bwrong\b|\bfalse\b", p)] == []


def test_the_readme_is_short_and_its_links_work_elsewhere() -> None:
    """On an index page, relative links and pictures lead nowhere."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 80
    targets = re.findall(r"\]\(([^)#\s]+)", text)
    assert [t for t in targets if not t.startswith(HOMES)] == []
    files = [re.sub(rf"^(?:{'|'.join(HOMES)})", "", target) for target in targets]
    assert [file for file in files if not (ROOT / file).is_file()] == []
    assert all(f"]({HOMES[0]}docs/{folder}" in text for folder in ("tutorials", "howto"))


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "howto").glob("*.md")), ids=name)
def test_how_to_guides_are_short(page: Path) -> None:
    assert page.read_text(encoding="utf-8").count("\n") < 80


def test_the_picture_of_the_report_is_drawn_by_the_report(tmp_path: Path) -> None:
    target = tmp_path / "report.svg"
    subprocess.run([sys.executable, RUNNER.with_name("report.py"), target], check=True, cwd=ROOT)
    now, committed = (
        re.findall(r"softmax/\w+|repaired: nan became [\d.]+", picture.read_text(encoding="utf-8"))
        for picture in (target, ROOT / "docs" / "pictures" / "report.svg")
    )
    assert "softmax/softmax_from_exp" in now
    assert now == committed, "run scripts/pictures"


def test_the_demo_ends_in_five_lines() -> None:
    command = [sys.executable, str(ROOT / "docs" / "examples" / "demo.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) <= 72  # a screen and a half
    assert lines[-6] == ""
    starts = [
        "NumPy gives   nan",
        "here you get  0.693147",
        "the reason    the rules softmax_from_exp",
    ]
    assert [line[: len(s)] for line, s in zip(lines[-5:], starts)] == starts
    assert re.match(r"operations    [\d,]+ → [\d,]+ flops .*% fewer$", lines[-2])
    assert re.match(r"time          \d+ → \d+ µs", lines[-1])


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [t for t in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in t]
    assert [t for t in targets if not (page.parent / t).exists()] == []


def headings(page: Path) -> set[str]:
    """What links to headings of a page are called: as GitHub does."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    links = HEADING_LINK.findall(page.read_text(encoding="utf-8"))
    links = [(file.removeprefix(HOMES[0]), heading) for file, heading in links]
    links = [(file, heading) for file, heading in links if file.endswith(".md") or not file]
    missing = [
        (file, heading)
        for file, heading in links
        if heading not in headings(page.parent / file if file else page)
    ]
    assert missing == []


def test_files_named_in_the_architecture_exist() -> None:
    """From the root, from the package, or beside what its line names before (`ac.py`)."""
    missing, count = [], 0
    for line in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines():
        folders = [ROOT, ROOT / "rewrite_engine"]
        for named in re.findall(r"`([\w./]+(?:\.py|/\w*))`", line):
            there = next((f / named for f in folders if (f / named).exists()), None)
            if there is None:
                missing.append(named)
            else:
                folders.append(there if there.is_dir() else there.parent)
            count += 1
    assert missing == []
    assert count > 80


def test_the_table_of_ops_is_what_ops_declare() -> None:
    page = runpy.run_path(str(ROOT / "scripts" / "ops_table"))["page"]()
    written = (ROOT / "docs" / "reference" / "ops.md").read_text(encoding="utf-8")
    assert written == page, "run scripts/ops_table"


def test_the_table_of_verdicts_is_what_the_code_declares() -> None:
    page = runpy.run_path(str(ROOT / "scripts" / "verdicts_table"))["page"]()
    written = (ROOT / "docs" / "reference" / "verdicts.md").read_text(encoding="utf-8")
    assert written == page, "run scripts/verdicts_table"


def test_the_table_of_native_ops_is_up_to_date() -> None:
    page = runpy.run_path(str(ROOT / "scripts" / "native_table"))["page"]()
    written = (ROOT / "docs" / "reference" / "native.md").read_text(encoding="utf-8")
    assert written == page, "run scripts/native_table"


def test_the_page_of_forms_is_up_to_date() -> None:
    """Compare terms and programs with the page; its times are those of the last measurement."""
    names = runpy.run_path(str(ROOT / "scripts" / "forms_table"))
    assert names["PAGE"].read_text(encoding="utf-8") == names["page"](), "run scripts/forms_table"


def test_all_settings_are_told_as_they_are() -> None:
    names = runpy.run_path(str(ROOT / "scripts" / "settings_table"))
    written = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    assert written == names["page"](), "run scripts/settings_table"
    assert names["described"]().keys() - {"others"} == DEFAULTS.keys()
    read = r"environ(?:\.get)?[(\[]\"(\w+)\""
    files = (ROOT / "rewrite_engine").rglob("*.py")
    found = {name for path in files for name in re.findall(read, path.read_text(encoding="utf-8"))}
    told = set(", ".join(names["VARIABLES"]).split(", "))
    assert found - told == {"PYTHONPATH"}  # (which compat hands on)


def test_tables_of_rules_and_reports_are_what_the_code_declares() -> None:
    for path, page in runpy.run_path(str(ROOT / "scripts" / "rules_table"))["pages"]().items():
        written = path.read_text(encoding="utf-8")
        assert written == page, f"run scripts/rules_table ({path.name})"


def test_every_phase_and_rule_is_in_the_table_of_rules() -> None:
    page = (ROOT / "docs" / "reference" / "rules.md").read_text(encoding="utf-8")
    phases = page.split("## Phases", 1)[1].split("\n## ", 1)[0]
    assert [phase.name for phase in PHASES if phase.name not in phases] == []
    rules = [*all_rules(), *on_demand(), *equations()]
    assert [rule.name for rule in rules if f"| [`{rule.short_name}`](" not in page] == []


def test_every_decision_is_listed_by_its_title() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\d+)\]\((.*)\) \| (.*) \|$", index, re.MULTILINE)
    pages = {p.name: p.read_text(encoding="utf-8").split("\n", 1)[0] for p in folder.glob("0*.md")}
    assert pages == {page: f"# {int(number)}. {title}" for number, page, title in rows}


def test_iris_learns_and_survives_extreme_logits(capsys: pytest.CaptureFixture[str]) -> None:
    iris = runpy.run_path(str(ROOT / "docs" / "examples" / "iris.py"))
    assert iris["main"]() >= 0.95
    likely, unlikely = iris["check_extremes"]()
    assert likely == pytest.approx(0.6931471805599453, rel=1e-15)
    assert unlikely == pytest.approx(2000.6931471805599, rel=1e-15)
    assert "accuracy" in capsys.readouterr().out


def test_iris_data_is_fishers() -> None:
    iris = runpy.run_path(str(ROOT / "docs" / "examples" / "iris.py"))
    lines = iris["DATA"].read_text().split()
    _, species, names = iris["read_iris"]()
    assert names == ["setosa", "versicolor", "virginica"]
    assert [int((species == k).sum()) for k in range(3)] == [50, 50, 50]
    assert lines[35] == "4.9,3.1,1.5,0.2,setosa"  # the two rows that a known copy has wrong
    assert lines[38] == "4.9,3.6,1.4,0.1,setosa"
