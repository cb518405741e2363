"""`scripts/arrows`: it sees every way to look upwards, and lets the hooks."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
arrows: Any = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts" / "arrows")))

PROJECT = """
[tool.importlinter]
root_package = "house"

[[tool.importlinter.contracts]]
id = "layers"
layers = ["(roof) | (tower)", "(hall)", "ground", "hooks", "lazy"]
"""
HOUSE = {
    "__init__": "from house.lazy import lookup\n__getattr__ = lookup(__name__, {'tile': 'roof'})\n",
    "lazy": "def lookup(*_): ...\n",
    "hooks": "HOMES = {'tile': '.roof', 'flag': '.tower:flag'}\n",
    "ground/__init__": "def get():\n    return hooks.tile\nfrom house import hooks\n",
    "ground/stone": "below = 1\n",
    "hall": "import house.ground.stone\n\ndef get():\n    return getattr(hooks, 'flag')\n"
    "from house import hooks as hooks\n",
    "roof": "from house.hall import *\ntile = 1\n",
    "tower": "flag = 1\n",
}


def planted(folder: Path, **added: str) -> Path:
    """A project of a few modules, to some of which lines are added."""
    (folder / "pyproject.toml").write_text(PROJECT)
    for name, text in HOUSE.items():
        path = folder / "house" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + added.pop(name.replace("/", "_"), ""))
    assert not added
    return folder


def found(folder: Path, capsys: pytest.CaptureFixture[str], **added: str) -> list[str]:
    """What the check says is wrong."""
    status = arrows.main(planted(folder, **added))
    wrong = capsys.readouterr().out.partition("\nwrong\n")[2].splitlines()
    assert status == (wrong != ["nothing"])
    return wrong if status else []


def test_the_project_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert arrows.main() == 0, capsys.readouterr().out


def test_what_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert arrows.main(planted(tmp_path, ground_stone="def f():\n    import house.lazy\n")) == 0
    text = capsys.readouterr().out
    assert "hall       → ground 1, hooks 1\nground     → hooks 1, lazy 0+1\n" in text
    assert "tile                 → .roof                      house/ground/__init__.py:2\n" in text
    assert "flag                 → .tower:flag                house/hall.py:4\n" in text


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("import house.roof", "house.roof"),
        ("def f():\n    import house.roof as r", "house.roof"),
        ("def f():\n    from house import roof", "house.roof"),
        ("def f():\n    from ..roof import tile", "house.roof"),
        ("def f():\n    from .. import tower", "house.tower"),
        ("def f():\n    import house as h; h.tile", "house"),
        ("def f():\n    from house import tile", "house"),
        ("import house.lazy\ndef f():\n    house.tile", "house"),
        ("import house.lazy\ndef f():\n    house.roof", "house.roof"),
        ("def f():\n    import_module('house.roof')", "house.roof"),
        ("def f():\n    __import__('house.roof')", "house.roof"),
        ("def f():\n    __import__('house')", "house"),
        ("def f(x):\n    import_module(f'house.roof.{x}')", "house.roof"),
        ("def f(x):\n    import_module(f'house.{x}')", "house"),
        ("def f(x):\n    import_module('house.%s' % x)", "house"),
        ("def f(x):\n    import_module('house.' + x)", "house"),
        ("def f(x):\n    import_module('house.roof.{}'.format(x))", "house.roof"),
        ("def f(x):\n    import_module('..roof', __package__)", "house.roof"),
        ("T = {'tile': 'house.roof:tile'}", "house.roof"),
        ("__getattr__ = lookup(__name__, {'tile': '.roof'})", "house.roof"),
        ("__getattr__ = lookup(__name__, {'tile': '.roof:tile'})", "house.roof"),
        ("if TYPE_CHECKING:\n    a = 1\nelse:\n    import house.roof", "house.roof"),
    ],
)
def test_ways_upwards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, target: str
) -> None:
    wrong = found(tmp_path, capsys, ground___init__=line)
    assert any([w.endswith(f"house.ground looks upwards at {target}") for w in wrong]), wrong
    assert wrong[0].startswith("house/ground/__init__.py:")


@pytest.mark.parametrize(
    "line",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import house.roof",
        "import typing\nif typing.TYPE_CHECKING:\n    import house.roof",
        "text = 'house.roof stands above'",
        "text = 'see house.roof'",
        "if name.startswith('house.roof.'): ...",
        "from house.ground import stone",
        "from .stone import below",
        "__getattr__ = lookup(__name__, {'below': 'stone'})",
        "import housekeeping.roof",
    ],
)
def test_ways_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    assert found(tmp_path, capsys, ground___init__=line) == []


def test_who_fills_what_is_below_is_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "from house.ground import stone\nstone.below = 2\nstone.below.x: int = 2\n"
    place = "house/roof.py:{} (sets an attribute)"
    text = "house.ground.stone looks upwards at house.roof"
    wrong = found(tmp_path, capsys, roof=line)
    assert [f"{place.format(n)}: {text}" for n in (4, 5)] == wrong[:2]
    assert found(tmp_path, capsys, roof="from house.ground import stone\nown = stone.below") == []


def test_layers_side_by_side_do_not_know_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = found(tmp_path, capsys, roof="import house.tower\n")
    assert wrong == ["house/roof.py:3: house.roof looks upwards at house.tower"]


def test_circles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = "def f():\n    import house.ground\n"
    assert (
        found(tmp_path, capsys, ground___init__="import house.ground.stone", ground_stone=inside)
        == []
    )
    wrong = found(tmp_path, capsys, ground_stone="def f():\n    import house.hall")
    assert wrong[1:] == ["a circle crosses layers: house.ground.stone, house.hall"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("hooks.door()", "no hook is called door"),
        ("hooks.tile", "the hook tile is asked for while modules are imported"),
        ("from house.hooks import tile", "the hook tile is asked for while modules are imported"),
    ],
)
def test_hooks_are_asked_for_when_they_are_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, text: str
) -> None:
    (wrong,) = found(tmp_path, capsys, ground___init__=line)
    assert wrong == f"house/ground/__init__.py:4: {text}"


def test_a_hook_has_somebody_who_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(HOUSE, "hooks", HOUSE["hooks"].replace("{", "{'bell': '.tower', "))
    assert found(tmp_path, capsys) == ["hooks.py: nobody asks for bell"]


def test_a_module_outside_all_layers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted(tmp_path)
    (tmp_path / "house" / "shed.py").write_text("")
    assert arrows.main(tmp_path) == 1
    assert "house.shed stands in no layer" in capsys.readouterr().out
