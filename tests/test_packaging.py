"""Archives contain the rule packs once, and install no name except `rewrite_engine`."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKS = sorted(p.name for p in (ROOT / "rewrite_engine" / "rules").glob("*.py"))

pytestmark = pytest.mark.slow


def python(*arguments: str, cwd: Path) -> str:
    """Run this Python; return what it prints."""
    command = [sys.executable, *arguments]
    run = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel built from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    python("-m", "build", "--outdir", str(folder), str(ROOT), cwd=folder)
    return folder


def wheel_files(archives: Path) -> list[zipfile.ZipInfo]:
    (wheel,) = archives.glob("*.whl")
    return zipfile.ZipFile(wheel).infolist()


def test_the_wheel_has_the_packs_as_files(archives: Path) -> None:
    files = {f.filename: f for f in wheel_files(archives)}
    for pack in PACKS:
        file = files[f"rewrite_engine/rules/{pack}"]
        assert file.file_size == (ROOT / "rewrite_engine" / "rules" / pack).stat().st_size
        assert (file.external_attr >> 16) & 0o170000 in (0, 0o100000)  # a regular file, no link
    assert len(files) == len(wheel_files(archives))  # nothing twice
    assert "rewrite_engine/py.typed" in files
    assert "rewrite_engine/tensor/__init__.pyi" in files
    assert "rewrite_engine/random/__init__.pyi" in files


def test_the_wheel_installs_no_other_top_level_name(archives: Path) -> None:
    tops = {f.filename.split("/")[0] for f in wheel_files(archives)}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"rewrite_engine"}


def test_the_sdist_is_complete(archives: Path) -> None:
    (sdist,) = archives.glob("*.tar.gz")
    with tarfile.open(sdist) as tar:
        members = {m.name.partition("/")[2]: m for m in tar.getmembers()}
    wanted = ["LICENSE", "README.md", "pyproject.toml", "scripts/test", "docs/examples/iris.csv"]
    for name in [*wanted, *(f"rewrite_engine/rules/{p}" for p in PACKS)]:
        assert members[name].isfile()
    assert not [name for name in members if name.startswith("rules")]  # the link


def test_a_wheel_of_the_checkout_is_the_same(archives: Path, tmp_path: Path) -> None:
    python("-m", "build", "--wheel", "--outdir", str(tmp_path), str(ROOT), cwd=tmp_path)
    ours, theirs = wheel_files(tmp_path), wheel_files(archives)
    assert {(f.filename, f.CRC) for f in ours} == {(f.filename, f.CRC) for f in theirs}


def test_it_installs_beside_another_package_named_rules(archives: Path, tmp_path: Path) -> None:
    (wheel,) = archives.glob("*.whl")
    home = tmp_path / "env"
    venv.create(home, symlinks=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "rules").mkdir()
    (site / "rules" / "__init__.py").write_text("owner = 'somebody else'\n")
    zipfile.ZipFile(wheel).extractall(site)  # what installing a pure wheel does
    code = """if True:
        import importlib.util, rewrite_engine, rules
        assert rules.owner == "somebody else"
        print(importlib.util.find_spec("rewrite_engine.rules").origin, rewrite_engine.__version__)
    """
    done = subprocess.run(
        [home / "bin" / "python", "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    origin, version = done.stdout.split()
    assert Path(origin) == site / "rewrite_engine" / "rules" / "__init__.py"
    assert version[0].isdigit()
