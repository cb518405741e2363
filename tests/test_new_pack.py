"""The skeleton of a distribution with rules: it installs, its checks and tests pass."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import rewrite_engine as rw
from rewrite_engine.new_pack import FILES, main, names_of, write_pack

ROOT = Path(__file__).resolve().parent.parent


def test_what_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["Half-Life", "--into", str(tmp_path)]) == 0
    folder = tmp_path / "half-life"
    assert "pip install" in capsys.readouterr().out
    written = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert written == {file.format(module="half_life") for file in FILES}
    assert 'half_life = "half_life"' in (folder / "pyproject.toml").read_text()
    assert "{" not in (folder / "half_life.py").read_text()


def test_the_rule_of_the_skeleton_is_right(tmp_path: Path) -> None:
    folder = write_pack("decay", tmp_path)
    rules = rw.load_rules(folder / "decay.py")
    assert rw.check(rules).findings == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("two words", "is not a valid module name: use letters"),
        ("class", "is not a valid module name: use letters"),
        ("json", "already exists: choose another name"),
        ("rules", "already exists: choose another name"),
        ("numpy", "a module named 'numpy' already exists"),
        ("Rewrite-Engine", "a module named 'rewrite_engine' already exists"),
        ("rich", "a module named 'rich' already exists"),
    ],
)
def test_names_that_are_refused(
    name: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--into", str(tmp_path)]) == 2
    assert why in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_name_is_refused_only_if_it_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module on the path takes its name; a folder without code does not."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "of_mine.py").write_text("raise AssertionError('not to be imported')")
    (tmp_path / "of_data").mkdir()
    with pytest.raises(ValueError, match="a module named 'of_mine' already exists"):
        names_of("of-mine")
    assert names_of("of-data") == ("of-data", "of_data")


def test_a_folder_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_pack("decay", tmp_path)
    (folder / "decay.py").write_text("mine")
    assert main(["decay", "--into", str(tmp_path)]) == 2
    assert "decay" in capsys.readouterr().err
    assert (folder / "decay.py").read_text() == "mine"


@pytest.mark.slow
def test_the_skeleton_installs_and_its_tests_pass(tmp_path: Path) -> None:
    folder = write_pack("decay", tmp_path)
    site = tmp_path / "site"
    for source in (ROOT, folder):
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(source)]
        subprocess.run(build, check=True, capture_output=True, cwd=tmp_path)
    for wheel in tmp_path.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(site)  # what installing a pure wheel does
    (folder / "decay.py").unlink()  # (the installed one is tested)
    environment = os.environ | {"PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
    assert "failed" not in done.stdout
    check = [sys.executable, "-m", "rewrite_engine.check", "decay"]
    checked = subprocess.run(check, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
