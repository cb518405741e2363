"""Hooks: what stands above a layer is found when it is asked for, and not before."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine import graph, hooks

ROOT = Path(__file__).resolve().parent.parent


def fresh(code: str) -> str:
    """What a program prints in a process of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", hooks.HOMES)
def test_a_hook_is_the_thing_itself(name: str) -> None:
    home, is_other, there = hooks.HOMES[name].partition(":")
    value = import_module(f"rewrite_engine{home}")
    if there or not is_other:
        value = getattr(value, there or name)
    assert getattr(hooks, name) is value
    assert vars(hooks)[name] is value  # from then on


@pytest.mark.parametrize("name", ["evaluate", "get_mode", "rule_body"])
def test_a_hook_is_pickled_as_what_it_stands_for(name: str) -> None:
    value = getattr(hooks, name)
    assert pickle.loads(pickle.dumps(value)) is value


def test_a_hook_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match=r"'rewrite_engine\.hooks' has no attribute 'nothing'"):
        _ = hooks.nothing


def test_names_of_upper_layers_are_found_where_users_look() -> None:
    from rewrite_engine.gradient import grad
    from rewrite_engine.language import node_rewriter

    assert pt.grad is grad
    assert graph.node_rewriter is node_rewriter
    assert pt.random.normal is import_module("rewrite_engine.random").normal


def test_nothing_above_is_loaded_before_it_is_asked_for() -> None:
    code = """if True:
        import sys
        import rewrite_engine.tensor, rewrite_engine.tensor.random
        from rewrite_engine import hooks
        above = ("compile", "rules", "link", "loops", "gradient", "printing", "random", "match")
        print([m for m in sys.modules for name in above if m == f"rewrite_engine.{name}"])
        print(sorted(hooks.HOMES.keys() & vars(hooks)))
    """
    assert fresh(code) == "[]\n[]\n"


def test_threads_that_ask_first_get_the_same() -> None:
    code = """if True:
        from concurrent.futures import ThreadPoolExecutor
        from rewrite_engine import hooks
        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda name: (name, getattr(hooks, name)), [*hooks.HOMES] * 8))
        print(all(value is getattr(hooks, name) for name, value in found), len(found))
    """
    assert fresh(code) == f"True {8 * len(hooks.HOMES)}\n"


def test_lookup_takes_other_names_and_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "parcel_of_names"
    package.mkdir()
    homes = {"value": "inner", "other": "inner:value", "whole": "inner:", "no": "inner:none"}
    head = "from rewrite_engine.lazy import lookup\n"
    (package / "__init__.py").write_text(f"{head}__getattr__ = lookup(__name__, {homes})\n")
    (package / "inner.py").write_text("value = [1]\n")
    monkeypatch.syspath_prepend(tmp_path)
    parcel = import_module("parcel_of_names")
    assert parcel.value is parcel.other is parcel.whole.value
    with pytest.raises(AttributeError, match="none"):
        _ = parcel.no
